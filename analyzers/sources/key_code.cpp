#include "analyzers/sources/key_code.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analyzers/python/cache_comment.h"
#include "analyzers/source/needles.h"
#include "analyzers/sources/key_types.h"
#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Of a function that a comment names: real ones have 70, and many comments may name one.
constexpr std::size_t most_covered = 512;

// Functions that are followed from one function of a key.
constexpr std::size_t max_followed = 16;
constexpr std::size_t max_types = 256;
constexpr std::size_t max_functions = 512;
constexpr std::size_t max_comments = 256;
// Tokens of one function that is looked at.
constexpr std::uint32_t max_body = 20'000;

// A parameter as `const a::Key<T>& key`.
struct Parameter {
  std::string_view type;
  std::string_view name;
};

std::string_view last_part(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == name.npos ? name : name.substr(colon + 1);
}

bool names_hash(std::string_view name) { return lower(name).find("hash") != std::string::npos; }

class KeyReader {
 public:
  explicit KeyReader(const PlainSource& source)
      : source_(source), unit_(source.unit), partners_(source.shape.partners) {
    for (const Scope& scope : source.shape.scopes) {
      if (scope.kind == ScopeKind::function && scope.name_token != no_token) {
        functions_.emplace(last_part(scope.name), &scope);
      }
    }
  }

  KeyCode read() {
    for (const Scope& scope : source_.shape.scopes) {
      if (scope.name_token == no_token) continue;
      if (scope.kind == ScopeKind::type && !scope.name.empty() && code_.types.size() < max_types) {
        code_.types.push_back(read_key_type(source_, scope));
      }
      if (scope.kind == ScopeKind::function) look_at(scope);
    }
    read_containers();
    read_comments();
    return std::move(code_);
  }

 private:
  const Token& token(std::uint32_t at) const { return unit_.tokens[at]; }
  SourcePlace place_of(std::uint32_t at) const {
    return {unit_.file, token(at).offset, token(at).length};
  }

  std::vector<Parameter> parameters_of(const Scope& scope) const {
    std::vector<Parameter> found;
    if (scope.parameters.empty()) return found;
    const Tokens inside(unit_.tokens.data() + scope.parameters.begin,
                        scope.parameters.end - scope.parameters.begin);
    for (const Tokens part : split_call_arguments(inside)) {
      Parameter one;
      std::size_t angles = 0;
      bool qualified = true;
      for (const Token& word : part) {
        if (word.is('=')) break;
        if (word.is('<')) ++angles;
        if (word.is('>') && angles > 0) --angles;
        if (angles > 0) continue;
        if (word.is("::")) qualified = true;
        if (!word.is_identifier() || word.is("const") || word.is("struct") || word.is("class") ||
            word.is("typename")) {
          continue;
        }
        if (qualified) {
          one.type = word.text;
        } else {
          one.name = word.text;
        }
        qualified = false;
      }
      found.push_back(one);
    }
    return found;
  }

  // The class that a function is a member of, or empty.
  std::string_view class_of(const Scope& scope) const {
    std::string_view name = scope.name;
    const std::size_t own = name.find("operator");
    const std::size_t colon = name.rfind("::", own == name.npos ? name.size() : own);
    if (colon != name.npos) return last_part(name.substr(0, colon));
    const std::uint32_t parent = scope.parent;
    if (parent == no_scope || source_.shape.scopes[parent].kind != ScopeKind::type) return {};
    return last_part(source_.shape.scopes[parent].name);
  }

  bool is_friend(const Scope& scope) const {
    // `friend bool operator==(…)`: a few words before the name.
    constexpr std::uint32_t longest = 6;
    for (std::uint32_t back = 1; back <= longest && back <= scope.name_token; ++back) {
      const Token& before = token(scope.name_token - back);
      if (before.is(';') || before.is('{') || before.is('}')) return false;
      if (before.is("friend")) return true;
    }
    return false;
  }

  void look_at(const Scope& scope) {
    if (scope.body.end - scope.body.begin > max_body) return;
    const std::string_view name = last_part(scope.name);
    const std::vector<Parameter> given = parameters_of(scope);
    const std::string_view owner = is_friend(scope) ? std::string_view() : class_of(scope);
    if (name == "operator==" || name == "operator<") {
      const std::string_view kind = name == "operator==" ? "equality" : "order";
      if (!owner.empty() && given.size() == 1 && given[0].type == owner) {
        add(scope, kind, owner, {given[0].name}, true);
      } else if (given.size() == 2 && given[0].type == given[1].type) {
        add(scope, kind, given[0].type, {given[0].name, given[1].name}, false);
      }
      return;
    }
    if (name == "operator()") {
      if (names_hash(owner) && given.size() == 1) {
        add(scope, "hash", given[0].type, {given[0].name}, false);
      } else if (given.size() == 2 && given[0].type == given[1].type &&
                 lower(owner).find("eq") != std::string::npos) {
        add(scope, "equality", given[0].type, {given[0].name, given[1].name}, false);
      }
      return;
    }
    if (!names_hash(name)) return;
    if (!owner.empty() && given.empty()) {
      add(scope, "hash", owner, {}, true);
    } else if (owner.empty() && (given.size() == 1 || given.size() == 2)) {
      add(scope, "hash", given.back().type, {given.back().name}, false);
    }
  }

  void add(const Scope& scope, std::string_view kind, std::string_view type,
           const std::set<std::string_view>& objects, bool member) {
    if (type.empty() || code_.functions.size() >= max_functions) return;
    KeyFunction function;
    function.name = last_part(scope.name);
    function.kind = kind;
    function.type = type;
    function.place = place_of(scope.name_token);
    follow(scope, objects, member, function);
    read_[&scope] = code_.functions.size();
    code_.functions.push_back(std::move(function));
  }

  struct Waiting {
    const Scope* scope;
    std::set<std::string_view> objects;
    bool member;
  };

  void follow(const Scope& scope, const std::set<std::string_view>& objects, bool member,
              KeyFunction& function) {
    std::vector<Waiting> waiting = {{&scope, objects, member}};
    std::set<const Scope*> seen = {&scope};
    for (std::size_t next = 0; next < waiting.size(); ++next) {
      const Waiting one = waiting[next];
      if (next >= max_followed || one.scope->body.end - one.scope->body.begin > max_body) {
        function.whole = true;
        return;
      }
      read_body(one, function, waiting, seen);
    }
  }

  bool is_call(std::uint32_t at, std::uint32_t end) const {
    return at + 1 < end && token(at + 1).is('(');
  }

  void read_body(const Waiting& one, KeyFunction& function, std::vector<Waiting>& waiting,
                 std::set<const Scope*>& seen) {
    const std::uint32_t end = one.scope->body.end;
    std::uint32_t passed_until = 0;
    for (std::uint32_t at = one.scope->body.begin; at < end; ++at) {
      const Token& word = token(at);
      if (!word.is_identifier()) continue;
      function.words.insert(std::string(word.text));
      const bool behind_dot = token(at - 1).is('.') || token(at - 1).is("->");
      const bool is_this = word.is("this");
      const bool is_object = is_this || (!behind_dot && one.objects.contains(word.text));
      if (is_object) {
        const bool goes_on = token(at + 1).is('.') || token(at + 1).is("->");
        if (goes_on) {
          if (is_call(at + 2, end)) call_method(at + 2, function, waiting, seen);
        } else if (at >= passed_until && !asks_identity(at)) {
          function.whole = true;
        }
        continue;
      }
      if (behind_dot || token(at - 1).is("::") || !is_call(at, end)) continue;
      // A function of the file that is handed the object, or one of the object itself.
      const Scope* called = find(word.text, function.type);
      const std::uint32_t close = partners_[at + 1];
      if (called == nullptr || close == no_token) {
        if (one.member && called == nullptr) function.opaque.insert(std::string(word.text));
        continue;
      }
      // What has the name of the function that calls it is another one, of other parameters, and
      // may be written elsewhere.
      if (called == one.scope) function.whole = true;
      enter(*called, function.type, waiting, seen);
      passed_until = std::max(passed_until, close);
    }
  }

  // `this == &other`
  bool asks_identity(std::uint32_t at) const {
    const bool left = token(at + 1).is("==") || token(at + 1).is("!=");
    const bool right = token(at - 1).is("==") || token(at - 1).is("!=");
    if (token(at).is("this")) {
      return (left && token(at + 2).is('&')) || (right && !token(at - 2).is('*'));
    }
    if (!token(at - 1).is('&')) return false;
    const Token& before = token(at - 2);
    const bool compared = before.is("==") || before.is("!=");
    return (compared && token(at - 3).is("this")) || (left && token(at + 2).is("this"));
  }

  void call_method(std::uint32_t at, KeyFunction& function, std::vector<Waiting>& waiting,
                   std::set<const Scope*>& seen) {
    const Scope* called = find(token(at).text, function.type);
    if (called == nullptr) {
      function.opaque.insert(std::string(token(at).text));
    } else {
      enter(*called, function.type, waiting, seen);
    }
  }

  void enter(const Scope& called, std::string_view type, std::vector<Waiting>& waiting,
             std::set<const Scope*>& seen) const {
    if (!seen.insert(&called).second) return;
    Waiting next{&called, {}, class_of(called) == type};
    for (const Parameter& parameter : parameters_of(called)) {
      if (parameter.type == type) next.objects.insert(parameter.name);
    }
    waiting.push_back(std::move(next));
  }

  // The function of the name that is a member of the type, or of none.
  const Scope* find(std::string_view name, std::string_view type) const {
    const auto [first, last] = functions_.equal_range(name);
    std::size_t steps = 0;
    for (auto at = first; at != last && steps < max_followed; ++at, ++steps) {
      const std::string_view owner = class_of(*at->second);
      if (owner.empty() || owner == type) return at->second;
    }
    return nullptr;
  }

  // `std::map<a::Key, …>`, `LruCache<Key, …>`
  void read_containers() {
    for (std::uint32_t at = 0; at + 2 < unit_.tokens.size(); ++at) {
      if (!token(at).is_identifier() || !token(at + 1).is('<')) continue;
      const std::string word = lower(token(at).text);
      if (!word.ends_with("map") && !word.ends_with("set") && !word.ends_with("cache")) continue;
      std::uint32_t last = at + 2;
      if (token(last).is("const")) ++last;
      while (last + 2 < unit_.tokens.size() && token(last + 1).is("::")) last += 2;
      if (!token(last).is_identifier()) continue;
      if (code_.looked_up.size() < max_types) code_.looked_up.insert(std::string(token(last).text));
    }
  }

  void read_comments() {
    const std::string_view bytes = unit_.bytes;
    std::size_t count = 0;
    for (std::size_t at = bytes.find(cache_key_mark); at != bytes.npos && count < max_comments;
         at = bytes.find(cache_key_mark, at + 1), ++count) {
      std::size_t line = bytes.rfind('\n', at);
      line = line == bytes.npos ? 0 : line + 1;
      const std::string_view before = trimmed(bytes.substr(line, at - line));
      if (before != "//" && before != "///" && before != "/*" && before != "*") continue;
      const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
      const std::size_t begin = at + cache_key_mark.size();
      const std::string_view said = bytes.substr(begin, end - begin);
      const std::size_t close = said.rfind(')');
      if (close == said.npos) continue;
      const bool used = designate(read_cache_comment(said.substr(0, close)), end);
      const auto offset = static_cast<std::uint32_t>(at);
      if (!used) code_.idle.push_back({unit_.file, offset, static_cast<std::uint32_t>(close)});
    }
  }

  // True where something stands below the comment that can be judged, or needs no judgement.
  bool designate(const CacheComment& said, std::size_t behind) {
    const auto next =
        std::lower_bound(unit_.tokens.begin(), unit_.tokens.end(), behind,
                         [](const Token& one, std::size_t offset) { return one.offset < offset; });
    const auto first = static_cast<std::uint32_t>(next - unit_.tokens.begin());
    const Scope* below = nullptr;
    for (const Scope& scope : source_.shape.scopes) {
      if (scope.kind != ScopeKind::function || scope.name_token == no_token) continue;
      if (scope.name_token < first) continue;
      if (below == nullptr || scope.name_token < below->name_token) below = &scope;
    }
    const std::uint32_t until =
        below == nullptr ? static_cast<std::uint32_t>(unit_.tokens.size()) : below->name_token;
    for (std::uint32_t at = first; at < until; ++at) {
      // `= default;` uses everything.
      if (token(at).is(';')) return at > first && token(at - 1).is("default");
      if (token(at).is('}')) return false;
    }
    if (below == nullptr) return false;
    KeyFunction& function = designated(*below);
    function.designated = true;
    function.label = said.name;
    function.except = said.except;
    return take_covers(said.covers, function);
  }

  KeyFunction& designated(const Scope& scope) {
    const auto known = read_.find(&scope);
    if (known != read_.end()) return code_.functions[known->second];
    std::set<std::string_view> objects;
    std::string_view type = class_of(scope);
    for (const Parameter& parameter : parameters_of(scope)) {
      objects.insert(parameter.name);
      if (type.empty()) type = parameter.type;
    }
    objects.erase(std::string_view());
    KeyFunction function;
    function.name = last_part(scope.name);
    function.kind = "key";
    function.type = type;
    function.place = place_of(scope.name_token);
    follow(scope, objects, !class_of(scope).empty(), function);
    code_.functions.push_back(std::move(function));
    return code_.functions.back();
  }

  bool take_covers(std::string_view covers, KeyFunction& function) {
    if (!covers.starts_with("params(")) {
      function.covers = last_part(covers);
      return true;
    }
    covers.remove_prefix(7);
    const std::string_view name = last_part(trimmed(covers.substr(0, covers.find(')'))));
    const auto builder = functions_.find(name);
    if (builder == functions_.end()) return false;
    // Both in the order of the text.
    const Scope& scope = *builder->second;
    std::uint32_t at = scope.parameters.begin;
    for (const Parameter& parameter : parameters_of(scope)) {
      if (parameter.name.empty()) continue;
      if (function.covered.size() == most_covered) return false;
      while (at < scope.parameters.end && token(at).text.data() != parameter.name.data()) ++at;
      if (at >= scope.parameters.end) break;
      function.covered.push_back({std::string(parameter.name), place_of(at), false});
    }
    // Parameters are named in what makes the key: handing one on is using it.
    function.whole = false;
    return !function.covered.empty();
  }

  const PlainSource& source_;
  const SourceUnit& unit_;
  const std::vector<std::uint32_t>& partners_;
  std::multimap<std::string_view, const Scope*> functions_;
  std::map<const Scope*, std::size_t> read_;
  KeyCode code_;
};

}  // namespace

bool may_hold_keys(std::string_view bytes) {
  const auto has = [bytes](std::string_view word) { return bytes.find(word) != bytes.npos; };
  if (has(cache_key_mark)) return true;
  if (has("map<") && has("ache")) return true;
  static const Needles compares({"operator==", "operator ==", "operator<(", "hash_value",
                                 "std::hash<", "struct hash<", "Hash"});
  return compares.occur_in(bytes);
}

KeyCode read_keys(const PlainSource& source) { return KeyReader(source).read(); }

}  // namespace opseal
