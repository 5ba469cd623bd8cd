// The shapes are those of ATen/Dispatch.h (`AT_DISPATCH_FLOATING_TYPES_AND2(Half, BFloat16, tested,
// name, body)`, `AT_DISPATCH_SWITCH(tested, name, cases)`, `AT_DISPATCH_V2`), macros of projects
// that lead to these, and what people write by hand: a `switch`, a chain of `if`.

#include "analyzers/sources/dispatches.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/dtype_conversions.h"
#include "analyzers/sources/scalar_types.h"

namespace opseal {
namespace {

using enum WordUse;

constexpr VocabularyWord words[] = {
    {.text = "AT_DISPATCH_SWITCH"},
    {.text = "AT_DISPATCH_CASE"},
    {.text = "AT_DISPATCH_V2"},
    {.text = "AT_DISPATCH_", .is_prefix = true, .use = terminal_unless_defined},
    {.text = "THO_DISPATCH_SWITCH"},
    {.text = "THO_DISPATCH_CASE"},
    {.text = "THO_DISPATCH_V2"},
    {.text = "THO_DISPATCH_", .is_prefix = true, .use = terminal_unless_defined},
    {.text = "ScalarType", .use = seed},
    {.text = "kHalf", .use = seed},
    {.text = "kFloat", .use = seed},
    {.text = "kBFloat16", .use = seed},
    {.text = "kFloat16", .use = seed},
    {.text = "kFloat32", .use = seed},
};

constexpr std::string_view needles[] = {"DISPATCH_", "ScalarType", "scalar_type", "kHalf",
                                        "kBFloat16"};

// Tokens of an expression, and of the calls around a comparison.
constexpr std::size_t longest_expression = 64;
constexpr std::size_t longest_text = 120;
// Scopes around a function that its name may have.
constexpr int most_classes = 16;
// Tokens of the bodies of one file, where functions may stand within functions.
constexpr std::uint64_t most_steps = 20'000'000;

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [text](std::string_view part) { return text.find(part) != text.npos; });
}

bool is_check(std::string_view name) { return contains_any(name, {"CHECK", "ASSERT", "ENFORCE"}); }

bool is_dispatch_macro(std::string_view name) {
  return contains_any(name, {"DISPATCH", "Dispatch", "dispatch"});
}

// What stands in a `default:` that refuses.
bool refuses(std::string_view word) {
  return word == "throw" || word == "abort" ||
         contains_any(word, {"CHECK", "ASSERT", "ENFORCE", "ERROR", "UNREACHABLE", "Unreachable"});
}

// Followed by brackets, and no call.
bool is_keyword(std::string_view word) {
  constexpr std::string_view keywords[] = {"if",      "for",      "while",       "switch",
                                           "return",  "sizeof",   "catch",       "decltype",
                                           "alignof", "noexcept", "static_cast", "constexpr"};
  return std::find(std::begin(keywords), std::end(keywords), word) != std::end(keywords);
}

bool is_foreign(std::string_view space) {
  constexpr std::string_view spaces[] = {"std", "at", "torch", "c10", "cub", "thrust"};
  return std::find(std::begin(spaces), std::end(spaces), space) != std::end(spaces);
}

void add_dtype(DispatchSite& site, std::string_view dtype) {
  if (dtype.empty()) {
    site.known = false;
    return;
  }
  const auto at = std::lower_bound(site.dtypes.begin(), site.dtypes.end(), dtype);
  if (at == site.dtypes.end() || *at != dtype) site.dtypes.insert(at, std::string(dtype));
}

class BodyReader {
 public:
  BodyReader(const SourceUnit& unit, const Invocations& found, CalledNames& names,
             std::vector<FunctionBody>& out)
      : unit_(unit), found_(found), tokens_(unit.tokens), names_(names), out_(out) {}

  void run() {
    by_scope_.assign(found_.scopes.size(), none);
    for (std::uint32_t scope = 0; scope < found_.scopes.size(); ++scope) {
      if (found_.scopes[scope].kind != ScopeKind::function) continue;
      by_scope_[scope] = bodies_.size();
      bodies_.push_back(body_of(scope));
    }
    read_macros();
    for (std::uint32_t scope = 0; scope < found_.scopes.size(); ++scope) {
      if (by_scope_[scope] == none) continue;
      body_ = &bodies_[by_scope_[scope]];
      steps_ += found_.scopes[scope].body.end - found_.scopes[scope].body.begin;
      if (steps_ > most_steps) break;
      body_->calls = names_.keep(calls_in(found_.scopes[scope].body));
      read_by_hand(found_.scopes[scope].body);
      note_conversions(unit_, found_.scopes[scope].body, *body_);
    }
    for (FunctionBody& body : bodies_) {
      if (!body.calls.empty() || !body.sites.empty()) out_.push_back(std::move(body));
    }
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  FunctionBody body_of(std::uint32_t index) const {
    const Scope& scope = found_.scopes[index];
    FunctionBody body;
    body.file = unit_.file;
    body.name = scope.name;
    // Of a class within a function nobody outside knows the name.
    int classes = 0;
    for (std::uint32_t at = scope.parent; at != no_scope; at = found_.scopes[at].parent) {
      const Scope& outer = found_.scopes[at];
      if (outer.kind == ScopeKind::function || ++classes > most_classes) break;
      if (outer.kind == ScopeKind::type && !outer.name.empty()) {
        body.name = outer.name + "::" + body.name;
      }
    }
    return body;
  }

  FunctionBody* body_around(std::uint32_t scope) {
    for (; scope != no_scope; scope = found_.scopes[scope].parent) {
      if (by_scope_[scope] != none) return &bodies_[by_scope_[scope]];
    }
    return nullptr;
  }

  static std::string short_text(Tokens tokens) {
    return text_of(tokens.first(std::min(tokens.size(), longest_expression)))
        .substr(0, longest_text);
  }

  // Dispatch macros
  // ---------------

  static std::string_view group_name(std::string_view name) {
    constexpr std::string_view starts[] = {"AT_DISPATCH_CASE_", "THO_DISPATCH_CASE_",
                                           "AT_DISPATCH_", "THO_DISPATCH_"};
    for (const std::string_view start : starts) {
      if (name.starts_with(start)) return name.substr(start.size());
    }
    return {};
  }

  void read_macros() {
    // The switch that a case belongs to is the innermost around it.
    struct Open {
      std::uint32_t name = 0;
      std::uint32_t close = 0;
      FunctionBody* body = nullptr;
      std::size_t site = 0;
    };
    std::vector<Open> open;
    std::uint32_t last = no_token;
    for (const Invocation& invocation : found_.list) {
      while (!open.empty() && open.back().close < invocation.open) open.pop_back();
      const std::string_view name = group_name(invocation.name);
      if (name.empty() || invocation.form != InvocationForm::call) continue;
      const bool is_case = invocation.name.find("_DISPATCH_CASE") != std::string_view::npos;
      if (is_case) {
        if (!open.empty()) {
          read_case(invocation, open.back().body->sites[open.back().site]);
        }
        continue;
      }
      // The same in another build.
      if (invocation.name_token == last) continue;
      last = invocation.name_token;
      FunctionBody* body = body_around(invocation.scope);
      if (body == nullptr || invocation.arguments.empty()) continue;
      DispatchSite site;
      site.macro = std::string(invocation.through_macro.empty() ? invocation.name
                                                                : invocation.through_macro);
      site.place = {unit_.file, invocation.offset, name_length(invocation)};
      if (name == "SWITCH") {
        site.expression = short_text(invocation.arguments.front());
        body->sites.push_back(std::move(site));
        open.push_back({invocation.name_token, invocation.close, body, body->sites.size() - 1});
        continue;
      }
      if (name == "V2") {
        read_v2(invocation, site);
      } else if (!read_group(name, invocation, site)) {
        continue;
      }
      body->sites.push_back(std::move(site));
    }
  }

  // A dispatch is as long as what it dispatches to; its name shows the place.
  std::uint32_t name_length(const Invocation& invocation) const {
    const Token& name = tokens_[invocation.name_token];
    if (name.expansion == 0) return name.length;
    return static_cast<std::uint32_t>(unit_.macro_of(name).size());
  }

  // False where it chooses by something else, as macros of projects do that are named alike.
  static bool read_group(std::string_view name, const Invocation& invocation, DispatchSite& site) {
    const std::optional<DispatchGroup> group = dispatch_group(name);
    if (!group) {
      site.known = false;
      site.expression = short_text(invocation.arguments.front());
      return contains_any(site.expression, {"type", "Type", "TYPE"});
    }
    add_group(*group, invocation, site);
    if (invocation.arguments.size() > group->further) {
      site.expression = short_text(invocation.arguments[group->further]);
    }
    return true;
  }

  static void add_group(const DispatchGroup& group, const Invocation& invocation,
                        DispatchSite& site) {
    for (const std::string_view dtype : group.dtypes) add_dtype(site, dtype);
    for (std::size_t at = 0; at < group.further; ++at) {
      const bool there = at < invocation.arguments.size();
      add_dtype(site, there ? scalar_type_of(invocation.arguments[at]) : std::string_view());
    }
  }

  // AT_DISPATCH_V2(tested, name, AT_WRAP(body), types…), a type being an enumerator or
  // AT_EXPAND(AT_FLOATING_TYPES).
  void read_v2(const Invocation& invocation, DispatchSite& site) {
    site.expression = short_text(invocation.arguments.front());
    for (std::size_t at = 3; at < invocation.arguments.size(); ++at) {
      Tokens type = invocation.arguments[at];
      const std::string_view one = scalar_type_of(type);
      if (!one.empty()) {
        add_dtype(site, one);
        continue;
      }
      std::optional<DispatchGroup> group;
      if (type.size() == 4 && type[1].is('(') && type[0].text.ends_with("_EXPAND")) {
        std::string_view name = type[2].text;
        if (name.starts_with("AT_")) name.remove_prefix(3);
        group = dispatch_group(name);
      }
      if (!group) {
        site.known = false;
        continue;
      }
      for (const std::string_view dtype : group->dtypes) add_dtype(site, dtype);
    }
  }

  static void read_case(const Invocation& invocation, DispatchSite& site) {
    if (invocation.name.ends_with("_DISPATCH_CASE")) {
      add_group({{}, 1}, invocation, site);
      return;
    }
    const std::optional<DispatchGroup> group = dispatch_group(group_name(invocation.name));
    if (!group) {
      site.known = false;
    } else {
      add_group(*group, invocation, site);
    }
  }

  // Calls
  // -----

  // The name before the template arguments that end at `at`, or `at` itself.
  std::uint32_t before_angles(std::uint32_t at) const {
    if (!tokens_[at].is('>')) return at;
    std::size_t depth = 0;
    const std::uint32_t stop = at - std::min<std::uint32_t>(at, longest_expression);
    for (std::uint32_t open = at; open > stop; --open) {
      if (tokens_[open].is('>')) ++depth;
      if (tokens_[open].is('<') && --depth == 0) return open - 1;
    }
    return at;
  }

  // Each once, sorted.
  std::vector<std::string> calls_in(const TokenRange& range) const {
    std::vector<std::string> calls;
    for (std::uint32_t at = range.begin; at + 1 < range.end; ++at) {
      if (!tokens_[at].is_identifier()) continue;
      const Token& next = tokens_[at + 1];
      if (!next.is('(') && !next.text.starts_with('<')) continue;
      if (is_keyword(tokens_[at].text)) continue;
      if (at > range.begin && (tokens_[at - 1].is('.') || tokens_[at - 1].is("->"))) continue;
      std::string name(tokens_[at].text);
      bool foreign = false;
      for (std::uint32_t part = at; part >= 2 && tokens_[part - 1].is("::");) {
        const std::uint32_t outer = before_angles(part - 2);
        if (!tokens_[outer].is_identifier()) break;
        foreign = is_foreign(tokens_[outer].text);
        name = std::string(tokens_[outer].text) + "::" + name;
        part = outer;
      }
      if (!foreign) calls.push_back(std::move(name));
    }
    std::sort(calls.begin(), calls.end());
    calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
    return calls;
  }

  // By hand
  // -------

  // The index of the first token of the operand that ends before `end`.
  std::uint32_t operand_start(std::uint32_t begin, std::uint32_t end) const {
    std::uint32_t at = end;
    for (std::size_t steps = 0; at > begin && steps < longest_expression; ++steps) {
      const Token& token = tokens_[at - 1];
      if (token.is(')') || token.is(']')) {
        const std::uint32_t open = found_.partners[at - 1];
        if (open == no_token || open >= at || open < begin) return at;
        at = open;
        continue;
      }
      const bool part = token.is_identifier() || token.is("::") || token.is('.') || token.is("->");
      if (!part || token.is("return")) return at;
      --at;
    }
    return at;
  }

  void read_by_hand(const TokenRange& range) {
    // Comparisons that belong together: those of one assertion, or of one use of a macro.
    std::map<std::tuple<DispatchKind, std::uint32_t, std::string>, DispatchSite> sites;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> checks;
    const Tokens all = tokens_;
    for (std::uint32_t at = range.begin; at < range.end; ++at) {
      while (!checks.empty() && checks.back().second < at) checks.pop_back();
      const Token& token = tokens_[at];
      if (token.is("switch")) read_switch(at, range.end);
      if (token.is('(') && at > range.begin && is_check(tokens_[at - 1].text) &&
          found_.partners[at] != no_token) {
        checks.emplace_back(at, found_.partners[at]);
      }
      if (!token.is("==")) continue;
      std::uint32_t end = at + 1;
      while (end < range.end && (tokens_[end].is_identifier() || tokens_[end].is("::"))) ++end;
      const std::string_view dtype = scalar_type_of(all.subspan(at + 1, end - at - 1));
      if (dtype.empty()) continue;
      const std::uint32_t start = operand_start(range.begin, at);
      const std::string expression = short_text(all.subspan(start, at - start));
      DispatchKind kind = DispatchKind::test;
      std::uint32_t group = 0;
      const MacroExpansion& expansion = unit_.expansions[token.expansion];
      if (!checks.empty()) {
        kind = DispatchKind::check;
        group = checks.back().first;
      } else if (token.expansion != 0 && is_dispatch_macro(expansion.macro)) {
        kind = DispatchKind::choice;
        group = token.expansion;
      }
      DispatchSite& site = sites[{kind, group, expression}];
      if (site.dtypes.empty()) {
        site.kind = kind;
        site.expression = expression;
        if (kind == DispatchKind::check) {
          site.macro = std::string(tokens_[checks.back().first - 1].text);
        }
        if (kind == DispatchKind::choice) site.macro = std::string(expansion.macro);
        site.place = place_at(start);
      }
      add_dtype(site, dtype);
    }
    for (auto& [key, site] : sites) body_->sites.push_back(std::move(site));
  }

  SourcePlace place_at(std::uint32_t token) const {
    const Token& first = tokens_[token];
    if (first.expansion == 0) return {unit_.file, first.offset, first.length};
    const MacroExpansion& expansion = unit_.expansions[first.expansion];
    return {unit_.file, expansion.offset, static_cast<std::uint32_t>(expansion.macro.size())};
  }

  // `at::ScalarType::Undefined`, and dtypes that aren't known here.
  static bool is_enumerator_of_torch(Tokens label) {
    return std::any_of(label.begin(), label.end(), [](const Token& token) {
      return token.is("ScalarType") || token.is("NumOptions");
    });
  }

  void read_switch(std::uint32_t at, std::uint32_t end) {
    const std::uint32_t open = at + 1;
    if (open >= end || !tokens_[open].is('(') || found_.partners[open] == no_token) return;
    const std::uint32_t close = found_.partners[open];
    const std::uint32_t brace = close + 1;
    if (brace >= end || !tokens_[brace].is('{') || found_.partners[brace] == no_token) return;
    const Tokens all = tokens_;
    DispatchSite site;
    const std::string_view macro = unit_.macro_of(tokens_[at]);
    site.macro = std::string(macro);
    site.expression = short_text(all.subspan(open + 1, close - open - 1));
    site.place = place_at(at);
    bool has_default = false;
    bool default_refuses = false;
    const std::uint32_t stop = std::min(found_.partners[brace], end);
    for (std::uint32_t i = brace + 1; i < stop; ++i) {
      if (tokens_[i].is("switch") && tokens_[i + 1].is('(')) {
        // Its cases are its own.
        std::uint32_t skip = found_.partners[i + 1];
        if (skip != no_token && skip + 1 < stop && tokens_[skip + 1].is('{')) {
          skip = found_.partners[skip + 1];
        }
        if (skip != no_token && skip > i) i = skip;
      } else if (tokens_[i].is("case")) {
        std::uint32_t label = i + 1;
        while (label < stop && (tokens_[label].is_identifier() || tokens_[label].is("::"))) {
          ++label;
        }
        const std::string_view dtype = scalar_type_of(all.subspan(i + 1, label - i - 1));
        if (!dtype.empty()) {
          add_dtype(site, dtype);
        } else if (!is_enumerator_of_torch(all.subspan(i + 1, label - i - 1))) {
          // A constant of the project: a dtype by another name.
          site.known = false;
          site.unknown.push_back(place_at(i + 1));
        }
      } else if (tokens_[i].is("default")) {
        has_default = true;
      } else if (has_default && tokens_[i].is_identifier() && refuses(tokens_[i].text)) {
        default_refuses = true;
      }
    }
    if (site.dtypes.empty()) return;
    if (has_default && !default_refuses) site.kind = DispatchKind::test;
    body_->sites.push_back(std::move(site));
  }

  const SourceUnit& unit_;
  const Invocations& found_;
  const std::vector<Token>& tokens_;
  CalledNames& names_;
  std::vector<FunctionBody>& out_;
  std::vector<FunctionBody> bodies_;
  // By scope: index into `bodies_`, or `none`.
  std::vector<std::size_t> by_scope_;
  FunctionBody* body_ = nullptr;
  std::uint64_t steps_ = 0;
};

}  // namespace

const Vocabulary& dispatch_vocabulary() {
  static constexpr Vocabulary vocabulary{words, {}, {}, needles, {}, {}};
  return vocabulary;
}

void read_bodies(const SourceUnit& unit, const Invocations& found, CalledNames& names,
                 std::vector<FunctionBody>& out) {
  BodyReader(unit, found, names, out).run();
}

}  // namespace opseal
