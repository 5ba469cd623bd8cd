#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/cpp_record.h"
#include "analyzers/sources/targets.h"

namespace opseal {
namespace {

// The stages of a bundle in the order of its fields (`XLA_FFI_Handler_Bundle`).
constexpr std::string_view bundle_stages[] = {"instantiate", "prepare", "initialize", "execute"};
constexpr std::string_view last_stage = "execute";

// Tokens that are looked through for the bracket around an entry.
constexpr std::uint32_t most_steps = 1024;
// Texts that the build may choose from for one name.
constexpr std::size_t most_choices = 8;

bool is_stage(std::string_view text) {
  return std::find(std::begin(bundle_stages), std::end(bundle_stages), text) !=
         std::end(bundle_stages);
}

bool is_null(Tokens tokens) {
  return tokens.empty() ||
         (tokens.size() == 1 && (tokens[0].is("nullptr") || tokens[0].is("NULL")));
}

// What a capsule is made of: `(void*)H`, `reinterpret_cast<void*>(&H)`.
SourceFunction read_cast(Tokens tokens, std::uint32_t file) {
  SourceFunction function;
  std::size_t end = tokens.size();
  while (end > 0 && tokens[end - 1].is(')')) --end;
  if (end == 0 || !tokens[end - 1].is_identifier()) return function;
  std::size_t begin = end - 1;
  while (begin >= 2 && tokens[begin - 1].is("::") && tokens[begin - 2].is_identifier()) begin -= 2;
  const Tokens name = tokens.subspan(begin, end - begin);
  function.name = text_of(name);
  function.place = place_of(name, file);
  return function;
}

// Where an entry stands: `table["key"] = value`.
struct Entry {
  Tokens key;
  std::string_view table;
  std::uint32_t scope = no_scope;
};

class TargetReader {
 public:
  TargetReader(const SourceUnit& unit, const Invocations& found, std::vector<TargetRecord>& out)
      : unit_(unit), found_(found), out_(out) {}

  void run() {
    for (const Invocation& invocation : found_.list) {
      if (invocation.name == "XLA_FFI_REGISTER_HANDLER") {
        read_registration(invocation);
      } else if (invocation.form == InvocationForm::call &&
                 (invocation.name.starts_with("Encapsulate") || invocation.name == "capsule")) {
        read_value(invocation);
      }
    }
    for (Bundle& bundle : bundles_) {
      add(bundle.record, bundle.entry);
    }
    read_aliases();
  }

 private:
  // Stages of one target, entry by entry.
  struct Bundle {
    TargetRecord record;
    Entry entry;
  };

  // `XLA_FFI_REGISTER_HANDLER(api, "name", "CUDA", Handler, traits)`
  void read_registration(const Invocation& invocation) {
    const std::vector<Tokens>& arguments = invocation.arguments;
    if (arguments.size() < 4) return;
    TargetRecord record = record_at<TargetRecord>(unit_, invocation);
    bool only_strings = false;
    record.name.text = string_value(arguments[1], &only_strings);
    if (!only_strings) record.name.text.clear();
    record.name.place = place_of(arguments[1], unit_.file);
    record.written = text_of(arguments[1]);
    record.platform.text = string_value(arguments[2], &only_strings);
    if (!only_strings) record.platform.text.clear();
    record.platform.place = place_of(arguments[2], unit_.file);
    record.api_version = 1;
    record.handler_kind = "typed";
    if (!arguments[3].empty() && arguments[3].front().is('{')) {
      // The commas in braces divide nothing.
      const std::size_t close = closing_bracket(arguments[3], 0);
      const std::vector<Tokens> parts =
          split_arguments(arguments[3].subspan(1, std::max<std::size_t>(close, 1) - 1));
      for (std::size_t at = 0; at < parts.size() && at < std::size(bundle_stages); ++at) {
        if (is_null(parts[at])) continue;
        add_stage(record, bundle_stages[at], read_kernel_argument(parts[at], unit_.file).function);
      }
    } else {
      set_function(record, read_kernel_argument(arguments[3], unit_.file).function);
    }
    if (arguments.size() > 4) {
      for (const Token& token : arguments[4]) {
        if (token.text.starts_with("XLA_FFI_HANDLER_TRAITS_"))
          record.traits.emplace_back(token.text);
      }
    }
    out_.push_back(std::move(record));
  }

  static void set_function(TargetRecord& record, SourceFunction function) {
    record.symbol = {std::string(base_of(function.name)), function.place};
    record.function = std::move(function);
  }

  static void add_stage(TargetRecord& record, std::string_view stage, SourceFunction function) {
    record.stages.push_back({std::string(stage), std::string(base_of(function.name))});
    if (stage == last_stage) set_function(record, std::move(function));
  }

  // The value of an entry, or of a stage within one.
  void read_value(const Invocation& invocation) {
    if (invocation.arguments.empty()) return;
    TargetRecord record = record_at<TargetRecord>(unit_, invocation);
    SourceFunction function;
    if (invocation.name == "capsule") {
      // Capsules hold all kinds of things.
      record.if_handler = true;
      function = read_cast(invocation.arguments.front(), unit_.file);
      if (function.name.empty()) return;
    } else {
      function = read_kernel_argument(invocation.arguments.front(), unit_.file).function;
    }
    if (invocation.name == "EncapsulateFfiHandler" || invocation.name == "EncapsulateFFI") {
      record.handler_kind = "typed";
    } else if (invocation.name == "EncapsulateFunction") {
      record.handler_kind = "untyped";
    }
    const std::uint32_t value = start_of_name(invocation.name_token);
    if (read_stage_argument(value, function, record)) return;
    Entry entry;
    if (!read_entry(value, invocation.scope, entry)) return;
    if (const std::string stage = string_value(entry.key); is_stage(stage)) {
      Bundle& bundle = stages_[{std::string(entry.table), entry.scope}];
      if (bundle.record.stages.empty()) bundle = {std::move(record), entry};
      add_stage(bundle.record, stage, std::move(function));
      return;
    }
    set_function(record, std::move(function));
    add(record, entry);
  }

  // `dict["x"] = dict(arg("prepare") = Encapsulate(A), arg("execute") = Encapsulate(B))`
  bool read_stage_argument(std::uint32_t value, SourceFunction& function, TargetRecord& record) {
    const std::vector<Token>& all = unit_.tokens;
    if (value < 4 || !all[value - 1].is('=') || !all[value - 2].is(')')) return false;
    const std::uint32_t open = found_.partners[value - 2];
    if (open == no_token || open < 1 || open >= value || !all[open - 1].is("arg")) return false;
    const std::string stage = string_value(Tokens(all).subspan(open + 1, value - open - 3));
    if (!is_stage(stage)) return false;
    const std::uint32_t around = bracket_around(open - 1);
    if (around == no_token || around < 1) return false;
    const auto [known, is_new] = by_bracket_.try_emplace(around, bundles_.size());
    if (is_new) {
      Entry entry;
      const std::uint32_t name = start_of_name(around - 1);
      if (!read_entry(name, no_scope, entry)) {
        by_bracket_.erase(known);
        return false;
      }
      bundles_.push_back({std::move(record), entry});
    }
    add_stage(bundles_[known->second].record, stage, std::move(function));
    return true;
  }

  // The opening bracket around a token.
  std::uint32_t bracket_around(std::uint32_t at) const {
    for (std::uint32_t steps = 0; at > 0 && steps < most_steps; ++steps) {
      --at;
      const Token& token = unit_.tokens[at];
      if (token.is(';') || token.is('{') || token.is('}')) return no_token;
      if (token.is('(')) return at;
      if (token.is(')') || token.is(']')) {
        const std::uint32_t open = found_.partners[at];
        if (open == no_token || open >= at) return no_token;
        at = open;
      }
    }
    return no_token;
  }

  // The value may be qualified.
  std::uint32_t start_of_name(std::uint32_t at) const {
    const std::vector<Token>& all = unit_.tokens;
    while (at >= 2 && all[at - 1].is("::") && all[at - 2].is_identifier()) at -= 2;
    if (at >= 1 && all[at - 1].is("::")) --at;
    return at;
  }

  // `d["x"] = …` and `d[PREFIX "x"] = …` in front of the value.
  bool read_entry(std::uint32_t value, std::uint32_t scope, Entry& entry) const {
    const std::vector<Token>& all = unit_.tokens;
    if (value < 2 || !all[value - 1].is('=') || !all[value - 2].is(']')) return false;
    const std::uint32_t close = value - 2;
    const std::uint32_t open = found_.partners[close];
    if (open == no_token || open >= close) return false;
    entry.key = Tokens(all).subspan(open + 1, close - open - 1);
    entry.scope = scope;
    if (open > 0 && all[open - 1].is_identifier()) entry.table = all[open - 1].text;
    return true;
  }

  // The texts that builds make of a key: macros may have a definition for each.
  std::vector<std::pair<std::vector<Token>, std::uint32_t>> choices_of(Tokens key) const {
    std::vector<std::uint32_t> conditions;
    const std::uint32_t base = key.empty() ? 0 : key.back().condition;
    for (const Token& token : key) {
      const bool known =
          std::find(conditions.begin(), conditions.end(), token.condition) != conditions.end();
      if (token.condition != base && !known && conditions.size() < most_choices) {
        conditions.push_back(token.condition);
      }
    }
    std::vector<std::pair<std::vector<Token>, std::uint32_t>> choices;
    if (conditions.empty()) conditions.push_back(base);
    for (const std::uint32_t condition : conditions) {
      std::vector<Token> tokens;
      for (const Token& token : key) {
        if (token.condition == base || token.condition == condition) tokens.push_back(token);
      }
      choices.emplace_back(std::move(tokens), condition);
    }
    return choices;
  }

  void add(const TargetRecord& record, const Entry& entry) {
    for (const auto& [tokens, condition] : choices_of(entry.key)) {
      TargetRecord one = record;
      bool only_strings = false;
      one.name.text = string_value(tokens, &only_strings);
      if (!only_strings || tokens.empty()) one.name.text.clear();
      one.written = text_of(entry.key);
      one.name.place = place_of(entry.key, unit_.file);
      if (!entry.key.empty() && condition != entry.key.back().condition) {
        one.when = unit_.conditions[condition];
      }
      out_.push_back(std::move(one));
    }
  }

  // `outer["x"] = inner;` where `inner` is a table of stages.
  void read_aliases() {
    if (stages_.empty()) return;
    const std::vector<Token>& all = unit_.tokens;
    for (std::uint32_t at = 2; at + 1 < all.size(); ++at) {
      if (!all[at].is_identifier() || !all[at - 1].is('=') || !all[at + 1].is(';')) continue;
      Entry entry;
      auto inner = stages_.lower_bound({std::string(all[at].text), 0});
      if (inner == stages_.end() || inner->first.first != all[at].text) continue;
      if (!read_entry(at, no_scope, entry)) continue;
      for (; inner != stages_.end() && inner->first.first == all[at].text; ++inner) {
        const Bundle& bundle = inner->second;
        if (!same_function(bundle.entry.scope, at)) continue;
        TargetRecord record = bundle.record;
        record.place = place_of(Tokens(all).subspan(at, 1), unit_.file);
        record.when = unit_.conditions[all[at].condition];
        add(record, entry);
      }
    }
  }

  bool same_function(std::uint32_t scope, std::uint32_t token) const {
    if (scope == no_scope) return true;
    const TokenRange& body = found_.scopes[scope].body;
    return token >= body.begin && token < body.end;
  }

  const SourceUnit& unit_;
  const Invocations& found_;
  std::vector<TargetRecord>& out_;
  std::vector<Bundle> bundles_;
  // By the bracket of the inner table.
  std::map<std::uint32_t, std::size_t> by_bracket_;
  // By the variable that holds the table, and the scope in which it is filled.
  std::map<std::pair<std::string, std::uint32_t>, Bundle> stages_;
};

}  // namespace

void read_targets_cpp(const SourceUnit& unit, const Invocations& found,
                      std::vector<TargetRecord>& records) {
  TargetReader(unit, found, records).run();
}

}  // namespace opseal
