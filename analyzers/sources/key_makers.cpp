#include "analyzers/sources/key_makers.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

#include "analyzers/source/needles.h"
#include "analyzers/sources/plain_code.h"
#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Each is looked for in the whole file.
constexpr std::size_t max_makers = 16;
constexpr std::uint32_t max_body = 400;
constexpr std::size_t max_parameters = 32;

bool makes_key(std::string_view name) {
  const std::string word = lower(name);
  return word.ends_with("key") || word.ends_with("cachename") || word.ends_with("cache_name") ||
         word.ends_with("cachepath") || word.ends_with("cache_path");
}

// By one of its words it says what a kernel is made for.
bool tells_kernels_apart(std::string_view name) {
  const std::vector<std::string> words = words_in_name(name);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return is_one_of(word, {"device", "backend", "platform", "arch", "architecture", "capability",
                            "dtype", "dtypes", "precision", "layout", "flags", "options"});
  });
}

struct Parameter {
  // Of its name, or of its type where it has none.
  std::uint32_t token = no_token;
  bool named = false;
};

class MakerReader : PlainCode {
 public:
  explicit MakerReader(const PlainSource& source) : PlainCode(source) {}

  std::vector<PythonCache> read() {
    std::map<std::string_view, std::vector<const Scope*>> makers;
    for (const Scope& scope : source_.shape.scopes) {
      if (scope.kind != ScopeKind::function || scope.name_token == no_token) continue;
      const std::string_view name = token(scope.name_token).text;
      if (makes_key(name)) makers[name].push_back(&scope);
    }
    std::size_t looked = 0;
    for (const auto& [name, scopes] : makers) {
      // Overloads may choose by a type alone.
      if (scopes.size() != 1 || ++looked > max_makers) continue;
      look_at(*scopes.front());
    }
    return std::move(found_);
  }

 private:
  Parameter parameter_of(Tokens part) const {
    Parameter one;
    const Token* before = nullptr;
    for (const Token& word : part) {
      if (word.is('=')) break;
      if (word.is_identifier() && !is_one_of(word.text, {"const", "struct", "enum", "typename"})) {
        const bool scoped = before != nullptr && before->is("::");
        one.named = one.token != no_token && !scoped;
        one.token = static_cast<std::uint32_t>(&word - tokens_.data());
      }
      // A type that isn't read here, or something that is said to go unused.
      if (word.is('<') || word.is('[') || word.is("...")) one.token = no_token;
      before = &word;
    }
    return one;
  }

  // It takes the place of another's function, with its parameters.
  bool is_prescribed(const Scope& scope) const {
    for (std::uint32_t at = scope.parameters.end; at < scope.body.begin; ++at) {
      if (token(at).is("override") || token(at).is("final")) return true;
    }
    constexpr std::uint32_t behind = 10;
    for (std::uint32_t at = scope.name_token, step = 0; at > 0 && step < behind; --at, ++step) {
      if (token(at).is(';') || token(at).is('}') || token(at).is('{')) break;
      if (token(at).is("virtual") || token(at).is("template")) return true;
    }
    return false;
  }

  bool is_used(std::string_view name, TokenRange body) const {
    for (std::uint32_t at = body.begin; at < body.end; ++at) {
      if (token(at).is(name)) return true;
    }
    return false;
  }

  void look_at(const Scope& scope) {
    if (scope.body.end - scope.body.begin > max_body || is_prescribed(scope)) return;
    if (!is_used("return", scope.body)) return;
    maker_ = token(scope.name_token).text;
    const Tokens inside(tokens_.data() + scope.parameters.begin,
                        scope.parameters.end - scope.parameters.begin);
    const std::vector<Tokens> parts = split_call_arguments(inside);
    if (parts.size() > max_parameters) return;
    PythonCache cache;
    cache.name = scope.name;
    cache.kind = "memory";
    cache.place = place_of(scope.name_token);
    for (std::size_t at = 0; at < parts.size(); ++at) {
      const Parameter one = parameter_of(parts[at]);
      if (one.token == no_token) continue;
      const std::string_view name = token(one.token).text;
      if (one.named && is_used(name, scope.body)) {
        cache.parts.push_back({std::string(name), {}, "value", place_of(one.token)});
      } else if (tells_kernels_apart(name) && is_looked_up(scope, parts.size(), at)) {
        cache.reads.push_back({std::string(name), {}, "value", place_of(one.token)});
      }
    }
    if (cache.parts.empty()) return;
    cache.parts_known = true;
    cache.reads_known = true;
    found_.push_back(std::move(cache));
  }

  // Whether the file finds things by what the function makes, of arguments that vary.
  bool is_looked_up(const Scope& scope, std::size_t count, std::size_t which) const {
    const std::string_view name = token(scope.name_token).text;
    for (std::uint32_t at = 1; at + 1 < tokens_.size(); ++at) {
      if (!token(at).is(name) || at == scope.name_token || !token(at + 1).is('(')) continue;
      const std::uint32_t close = partners_[at + 1];
      if (close == no_token || close <= at || close > at + max_body) continue;
      const Tokens inside(tokens_.data() + at + 2, close - at - 2);
      const std::vector<Tokens> given = split_call_arguments(inside);
      if (given.size() != count || given[which].empty()) continue;
      const char first = given[which].front().text.front();
      if (first < 'a' || first > 'z' || given[which].front().is("false")) continue;
      if (is_key_of_search(at)) return true;
    }
    return false;
  }

  // `map.find(Key(…))`, `map[Key(…)]`, and the same with `key = Key(…)`
  bool is_key_of_search(std::uint32_t at) const {
    while (at >= 2 && (token(at - 1).is("::") || is_dot(at - 1))) at -= 2;
    if (at < 3) return false;
    if (finds(at)) return true;
    if (!token(at - 1).is('=') || !token(at - 2).is_identifier()) return false;
    const std::string_view variable = token(at - 2).text;
    const std::uint32_t end =
        static_cast<std::uint32_t>(std::min<std::size_t>(tokens_.size(), at + max_body));
    for (std::uint32_t next = at; next < end; ++next) {
      if (token(next).is(variable) && finds(next)) return true;
    }
    return false;
  }

  // What is found by what stands at `at`, in a container that isn't one of several.
  bool finds(std::uint32_t at) const {
    if (at < 4) return false;
    if (token(at - 1).is('[')) return token(at - 2).is_identifier() && keeps(at - 2);
    if (!token(at - 1).is('(') || !is_dot(at - 3)) return false;
    if (!is_one_of(token(at - 2).text, {"find", "count", "contains", "at"})) return false;
    if (token(at - 4).is_identifier()) return keeps(at - 4);
    return at > 5 && token(at - 4).is(')') && token(at - 5).is('(') && keeps(at - 6);
  }

  // Kernels, or what is known of them, by its name or that of the function.
  bool keeps(std::uint32_t container) const {
    for (const std::string_view name : {token(container).text, maker_}) {
      const std::string word = lower(name);
      for (const std::string_view part : {"cache", "kernel", "plan", "module", "pipeline",
                                          "program", "compiled", "executable", "tun", "algo"}) {
        if (word.find(part) != word.npos) return true;
      }
    }
    return false;
  }

  std::vector<PythonCache> found_;
  // The function that is looked at.
  std::string_view maker_;
};

}  // namespace

bool may_hold_key_makers(std::string_view bytes) {
  static const Needles makes(
      {"Key(", "_key(", "acheName(", "ache_name(", "achePath(", "ache_path("});
  static const Needles made({"ernel", "rogram", "ompile", "ache"});
  static const Needles asks({".find(", ".count(", ".at("});
  return makes.occur_in(bytes) && made.occur_in(bytes) &&
         (bytes.find('[') != bytes.npos || asks.occur_in(bytes));
}

std::vector<PythonCache> read_key_makers(const PlainSource& source) {
  return MakerReader(source).read();
}

}  // namespace opseal
