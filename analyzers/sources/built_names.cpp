#include "analyzers/sources/built_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::array<std::string_view, 12> lookups{
    "newFunctionWithName", "newFunction",         "get_kernel",           "getKernel",
    "GetKernel",           "cuModuleGetFunction", "hipModuleGetFunction", "cuLibraryGetKernel",
    "clCreateKernel",      "get_function",        "getFunction",          "load_kernel"};

constexpr std::size_t most_values = 64;
constexpr std::size_t most_parts = 32;
constexpr std::size_t most_names = 256;
constexpr std::uint32_t longest_expression = 300;
constexpr std::uint64_t most_steps = 10'000'000;
constexpr int most_depth = 8;

using Values = std::vector<PlacedName>;

bool refuses(const Token& token) {
  if (!token.is_identifier()) return false;
  const std::string_view text = token.text;
  return text == "throw" || text == "abort" ||
         has_any(text, {"CHECK", "ABORT", "ASSERT", "nreachable", "NREACHABLE", "THROW", "FATAL"});
}

class NameReader {
 public:
  NameReader(const PlainSource& source, std::uint32_t number, std::vector<BuiltName>& names)
      : source_(source),
        number_(number),
        tokens_(source.unit.tokens),
        partners_(source.shape.partners),
        names_(names) {}

  void run() {
    if (asks_for_types()) return;
    for (const Scope& scope : source_.shape.scopes) {
      if (scope.kind == ScopeKind::function) read_texts(scope);
    }
    for (const Scope& scope : source_.shape.scopes) {
      if (scope.kind != ScopeKind::function && scope.kind != ScopeKind::lambda) continue;
      if (!may_read(scope.body.end - scope.body.begin)) return;
      read_function(scope);
    }
  }

 private:
  // `TORCH_CHECK(x.scalar_type() == kHalf …)`: what a text is there for may not come.
  bool asks_for_types() const {
    for (std::uint32_t at = 0; at + 1 < tokens_.size(); ++at) {
      if (!refuses(tokens_[at]) || !tokens_[at + 1].is('(')) continue;
      const std::uint32_t close = partners_[at + 1];
      if (close == no_token || close <= at) continue;
      for (std::uint32_t in = at + 2; in + 1 < close; ++in) {
        if (!tokens_[in].is("==") && !tokens_[in].is("!=")) continue;
        std::uint32_t last = in + 1;
        while (last + 2 < close && tokens_[last + 1].is("::")) last += 2;
        const std::string_view right = tokens_[last].text;
        const bool constant =
            right.size() > 2 && ((right[0] == 'k' && is_upper_byte(right[1])) || last > in + 1);
        if (constant) return true;
      }
      at = close;
    }
    return false;
  }

  static bool is_upper_byte(char byte) { return byte >= 'A' && byte <= 'Z'; }

  SourcePlace place(TokenRange range) const {
    const Token& first = tokens_[range.begin];
    const Token& last = tokens_[range.end - 1];
    const std::uint32_t end = last.offset + last.length;
    return {number_, first.offset, end > first.offset ? end - first.offset : first.length};
  }

  // A function all of whose results are texts, and that refuses what it has none for.
  void read_texts(const Scope& scope) {
    if (scope.body.end - scope.body.begin > longest_expression * 8) return;
    Values values;
    bool refusing = false;
    std::size_t returns = 0;
    for (std::uint32_t at = scope.body.begin; at < scope.body.end; ++at) {
      refusing = refusing || refuses(tokens_[at]);
      if (!tokens_[at].is("return")) continue;
      const std::uint32_t end = end_of({at + 1, scope.body.end});
      ++returns;
      if (end == at + 2 && (tokens_[at + 1].is("nullptr") || tokens_[at + 1].is("nil"))) {
        refusing = true;
        continue;
      }
      if (!texts_of({at + 1, end}, values, 0)) return;
    }
    const std::string name(scope.name.substr(scope.name.rfind(':') + 1));
    if (returns == 0 || values.empty()) return;
    const bool one_of_two = returns == 1 && values.size() > 1;
    auto [known, fresh] = texts_.try_emplace(name);
    if (fresh && (refusing || one_of_two)) {
      for (const PlacedName& value : values) givers_.emplace(value.place.offset, known->first);
      known->second = std::move(values);
    }
    if (!fresh) known->second.clear();
  }

  // Behind the expression that begins there: at `;`, or a comma or bracket of those around it.
  std::uint32_t end_of(TokenRange range) const {
    for (std::uint32_t at = range.begin; at < range.end; ++at) {
      const Token& token = tokens_[at];
      if (token.is(';') || token.is(',') || token.is(')') || token.is('}') || token.is(']')) {
        return at;
      }
      const bool opens = token.is('(') || token.is('[') || token.is('{');
      if (opens && partners_[at] != no_token && partners_[at] > at) at = partners_[at];
    }
    return range.end;
  }

  // Without brackets around all of it, `std::string(…)` and `.c_str()`.
  TokenRange bare(TokenRange range) const {
    for (int round = 0; round < most_depth && !range.empty(); ++round) {
      const std::uint32_t last = range.end - 1;
      if (tokens_[range.begin].is('(') && partners_[range.begin] == last) {
        range = {range.begin + 1, last};
      } else if (range.end - range.begin > 4 && tokens_[last].is(')') &&
                 tokens_[last - 1].is('(') &&
                 (tokens_[last - 2].is("c_str") || tokens_[last - 2].is("str")) &&
                 tokens_[last - 3].is('.')) {
        range.end = last - 3;
      } else if (range.end - range.begin > 5 && tokens_[range.begin].is("std") &&
                 tokens_[range.begin + 2].is("string") && tokens_[range.begin + 3].is('(') &&
                 partners_[range.begin + 3] == last) {
        range = {range.begin + 4, last};
      } else if (tokens_[range.begin].is('@')) {
        ++range.begin;
      } else {
        break;
      }
    }
    return range;
  }

  std::uint32_t find_in(TokenRange range, std::string_view text) const {
    for (std::uint32_t at = range.begin; at < range.end; ++at) {
      if (tokens_[at].is(text)) return at;
      const bool opens = tokens_[at].is('(') || tokens_[at].is('[') || tokens_[at].is('{');
      if (opens && partners_[at] != no_token && partners_[at] > at) at = partners_[at];
    }
    return range.end;
  }

  // The texts that an expression may be; false where it may be another.
  bool texts_of(TokenRange range, Values& values, int depth) const {
    range = bare(range);
    if (range.empty() || depth > most_depth || values.size() >= most_values) return false;
    const std::uint32_t question = find_in(range, "?");
    if (question < range.end) {
      const std::uint32_t colon = find_in({question + 1, range.end}, ":");
      if (colon == range.end) return false;
      return texts_of({question + 1, colon}, values, depth + 1) &&
             texts_of({colon + 1, range.end}, values, depth + 1);
    }
    bool only_strings = false;
    const Tokens part = tokens_.subspan(range.begin, range.end - range.begin);
    std::string text = string_value(part, &only_strings);
    if (only_strings) {
      values.push_back({std::move(text), place(range)});
      return true;
    }
    const auto call = called(range);
    if (call == texts_.end() || call->second.empty()) return false;
    values.insert(values.end(), call->second.begin(), call->second.end());
    return values.size() < most_values;
  }

  // `f(…)`, `ns::f(…)` and nothing else.
  std::map<std::string, Values, std::less<>>::const_iterator called(TokenRange range) const {
    const std::uint32_t open = find_in(range, "(");
    if (open == range.end || open == range.begin || partners_[open] != range.end - 1) {
      return texts_.end();
    }
    for (std::uint32_t at = range.begin; at < open; ++at) {
      if (!tokens_[at].is_identifier() && !tokens_[at].is("::")) return texts_.end();
    }
    return texts_.find(tokens_[open - 1].text);
  }

  // What a variable of the function may hold; nothing where it may be anything.
  Values texts_of_variable(std::string_view name, const Scope& scope) const {
    Values values;
    if (!may_read(scope.body.end - scope.body.begin)) return {};
    for (std::uint32_t at = scope.body.begin + 1; at + 2 < scope.body.end; ++at) {
      if (!tokens_[at].is(name) || tokens_[at - 1].is('.') || tokens_[at - 1].is("->")) continue;
      const Token& behind = tokens_[at + 1];
      if (behind.is("+=") || tokens_[at - 1].is('&') || behind.is("<<")) return {};
      const bool set = behind.is('=');
      const bool made = (behind.is('(') || behind.is('{')) &&
                        (tokens_[at - 1].is_identifier() || tokens_[at - 1].is('*')) &&
                        !tokens_[at - 1].is("return");
      if (!set && !made) continue;
      const std::uint32_t end = end_of({at + 2, scope.body.end});
      const Token& first = tokens_[at + 2];
      if (end == at + 3 && (first.is("nullptr") || first.is("NULL") || first.is("nil"))) continue;
      Values some;
      if (!texts_of({at + 2, end}, some, 0)) return {};
      // A text that is there before the real one.
      if (some.size() == 1 && some.front().text.empty()) continue;
      values.insert(values.end(), some.begin(), some.end());
      if (values.size() > most_values) return {};
    }
    return values;
  }

  NamePart part_of(TokenRange range, const Scope& scope) const {
    NamePart part;
    range = bare(range);
    if (!range.empty() && !texts_of(range, part.values, 0)) part.values.clear();
    if (part.values.empty() && range.end == range.begin + 1 &&
        tokens_[range.begin].is_identifier()) {
      part.values = texts_of_variable(tokens_[range.begin].text, scope);
    }
    part.open = part.values.empty();
    for (const PlacedName& value : part.values) {
      const auto giver = givers_.find(value.place.offset);
      if (giver != givers_.end()) part.calls = std::max(part.calls, calls_of(giver->second));
    }
    return part;
  }

  // Whether so many tokens may be looked at once more.
  bool may_read(std::size_t tokens) const {
    steps_ += tokens;
    return steps_ <= most_steps;
  }

  std::size_t calls_of(std::string_view name) const {
    if (!may_read(tokens_.size())) return most_names;
    std::size_t calls = 0;
    for (std::uint32_t at = 0; at + 1 < tokens_.size(); ++at) {
      // Handed on by its name it may be called for anything.
      if (tokens_[at].is(name)) calls += tokens_[at + 1].is('(') ? 1 : most_names;
    }
    // Its definition.
    return calls > 0 ? calls - 1 : 0;
  }

  void read_function(const Scope& scope) {
    for (std::uint32_t at = scope.body.begin; at + 2 < scope.body.end; ++at) {
      const Token& token = tokens_[at];
      const bool begins = token.is('=') || token.is("return") || token.is('(') || token.is(',');
      if (!begins || names_.size() >= most_names) continue;
      const std::uint32_t end = end_of({at + 1, scope.body.end});
      if (end - at > longest_expression) continue;
      read_joined({at + 1, end}, at, scope);
    }
  }

  void read_joined(TokenRange range, std::uint32_t before, const Scope& scope) {
    const TokenRange inside = bare(range);
    if (inside.empty() || find_in(inside, "?") < inside.end) return;
    BuiltName name;
    bool joins = find_in(inside, "+") < inside.end;
    if (!joins && !(tokens_[before].is('=') && tokens_[inside.begin].is_string())) return;
    if (!add_parts(inside, scope, name)) return;
    // `name = …; name += …;`
    if (tokens_[before].is('=') && before > 0 && tokens_[before - 1].is_identifier()) {
      joins = add_rest(range.end, tokens_[before - 1].text, scope, name) || joins;
    }
    const bool chooses = std::any_of(name.parts.begin(), name.parts.end(),
                                     [](const NamePart& part) { return part.values.size() > 1; });
    if (!joins || !chooses) return;
    name.place = place(inside);
    // An argument is also what stands behind the bracket of its call.
    if (!names_.empty() && names_.back().place == name.place) return;
    name.written = text_of(tokens_.subspan(inside.begin, inside.end - inside.begin));
    name.function = scope.name;
    names_.push_back(std::move(name));
  }

  bool add_parts(TokenRange range, const Scope& scope, BuiltName& name) const {
    for (std::uint32_t at = range.begin; at < range.end; ++at) {
      const std::uint32_t end = find_in({at, range.end}, "+");
      if (end == at || name.parts.size() >= most_parts) return false;
      name.parts.push_back(part_of({at, end}, scope));
      at = end;
    }
    return !range.empty();
  }

  // What the same block adds to a variable; within another block it may be added or not.
  bool add_rest(std::uint32_t from, std::string_view variable, const Scope& scope,
                BuiltName& name) const {
    std::size_t depth = 0;
    bool added = false;
    if (!may_read(scope.body.end - from)) {
      name.parts.push_back({{}, true, 0});
      return true;
    }
    for (std::uint32_t at = from; at + 2 < scope.body.end; ++at) {
      if (tokens_[at].is('{')) ++depth;
      if (tokens_[at].is('}') && depth-- == 0) break;
      if (!tokens_[at].is(variable)) continue;
      const Token& behind = tokens_[at + 1];
      if (behind.is('=')) break;
      if (!behind.is("+=") && !behind.is('+')) continue;
      added = true;
      // `if (x) name += …;`
      const bool conditional = depth > 0 || !(tokens_[at - 1].is(';') || tokens_[at - 1].is('}'));
      const TokenRange value{at + 2, end_of({at + 2, scope.body.end})};
      if (name.parts.size() >= most_parts) break;
      if (conditional || behind.is('+')) {
        name.parts.push_back({{}, true, 0});
      } else if (!add_parts(bare(value), scope, name)) {
        name.parts.push_back({{}, true, 0});
        break;
      }
    }
    return added;
  }

  const PlainSource& source_;
  std::uint32_t number_;
  Tokens tokens_;
  const std::vector<std::uint32_t>& partners_;
  std::vector<BuiltName>& names_;
  std::map<std::string, Values, std::less<>> texts_;
  // By the place of a text: the function that gives it.
  std::map<std::uint32_t, std::string_view> givers_;
  mutable std::uint64_t steps_ = 0;
};

}  // namespace

bool may_build_names(std::string_view bytes) {
  return std::any_of(lookups.begin(), lookups.end(),
                     [bytes](std::string_view word) { return bytes.find(word) != bytes.npos; });
}

void read_built_names(const PlainSource& source, std::uint32_t number,
                      std::vector<BuiltName>& names) {
  NameReader(source, number, names).run();
}

}  // namespace opseal
