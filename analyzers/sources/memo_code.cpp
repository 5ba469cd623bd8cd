#include "analyzers/sources/memo_code.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analyzers/python/key_words.h"
#include "analyzers/source/needles.h"
#include "analyzers/sources/plain_code.h"
#include "analyzers/sources/statements.h"
#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// One file holds some few; each reads its whole function.
constexpr std::size_t max_caches = 32;
constexpr std::size_t max_candidates = 128;
constexpr std::uint32_t max_body = 40'000;
// With the body of a lambda in it.
constexpr std::uint32_t max_call = 2'000;
// Of a function; each may be looked for in all of it.
constexpr std::size_t max_parameters = 128;
// Of one parameter.
constexpr std::size_t max_fields = 256;

// What keeps built things, by its name.
bool names_built(std::string_view name) {
  return has_any(lower(name), {"cache", "plan", "kernel", "module", "pipeline", "program", "graph",
                               "executable", "compiled"});
}

bool says_count(std::string_view name) {
  const std::string word = lower(name);
  return word.starts_with("n") || has_any(word, {"num", "count", "size", "len"});
}

// What is given back where nothing could be made.
bool stands_in(std::string_view name) {
  return has_any(lower(name),
                 {"fallback", "default", "force", "refresh", "iter", "warmup", "repeat", "bytes"});
}

// What only says whether all is well.
bool is_check(std::string_view name) {
  if (name == "throw" || name == "assert") return true;
  const std::string word = lower(name);
  return has_any(word, {"check", "assert", "enforce", "require", "expect", "throw", "log", "print",
                        "trace", "warn", "debug", "error"});
}

struct Given {
  std::string_view name;
  std::uint32_t token = no_token;
  // It says what is built: a number, an enumerator, a text, a list of them, a description.
  bool setting = false;
};

// Where a cache is asked, or filled.
struct Use {
  std::string_view cache;
  std::string_view key;
  std::uint32_t token = no_token;
  // Of what is stored.
  TokenRange value;
  // `cache_get(cache, &key)` of C.
  bool free = false;
  // `get_module(key, [&] { return code; })`
  bool lazy = false;
};

class MemoReader : PlainCode {
 public:
  explicit MemoReader(const PlainSource& source) : PlainCode(source) {}

  std::vector<PythonCache> read() {
    for (std::uint32_t at = 0; at + 4 < tokens_.size(); ++at) {
      std::optional<Use> asked;
      if (is_question(at)) {
        asked = Use{tokens_[at - 2].text, tokens_[at + 2].text, at - 2, {}};
      } else {
        asked = free_question(at);
        if (!asked) asked = lazy_question(at);
      }
      if (!asked) continue;
      if (++looked_ > max_candidates || found_.size() >= max_caches) break;
      look_at(*asked);
    }
    return std::move(found_);
  }

 private:
  // `cache.find(key)`
  bool is_question(std::uint32_t at) const {
    if (at < 2 || at + 3 >= tokens_.size()) return false;
    const Token& word = token(at);
    if (!word.is("find") && !word.is("count") && !word.is("contains")) return false;
    return is_dot(at - 1) && token(at - 2).is_identifier() && token(at + 1).is('(') &&
           token(at + 2).is_identifier() && token(at + 3).is(')');
  }

  // The arguments of the call at `at`, of a function that keeps things and does one of these.
  std::vector<Tokens> arguments_of(std::uint32_t at,
                                   std::initializer_list<std::string_view> does) const {
    if (!token(at).is_identifier() || !token(at + 1).is('(')) return {};
    const std::uint32_t close = partners_[at + 1];
    if (close == no_token || close > at + 64) return {};
    if (at > 0 && (is_dot(at - 1) || token(at - 1).is("::"))) return {};
    const std::string name = lower(token(at).text);
    if (!has_any(name, {"cache", "hash", "map", "table"}) || !has_any(name, does)) return {};
    return split_call_arguments(Tokens(tokens_.data() + at + 2, close - at - 2));
  }

  // `cache_get(context->cache, &key)`
  std::optional<Use> free_question(std::uint32_t at) const {
    const std::vector<Tokens> given = arguments_of(at, {"get", "find", "lookup", "search"});
    if (given.size() != 2 || given[0].empty() || given[1].empty() || given[1].size() > 2) return {};
    const Token& cache = given[0].back();
    const Token& key = given[1].back();
    if (!cache.is_identifier() || !key.is_identifier()) return {};
    if (given[1].size() == 2 && !given[1].front().is('&')) return {};
    return Use{cache.text, key.text, at, {}, true};
  }

  // `cache_add(context->cache, memdup(&key, sizeof(key)), value)`
  std::optional<Use> free_store(const Use& asked, const Scope& function) const {
    for (std::uint32_t at = asked.token + 1; at + 4 < function.body.end; ++at) {
      const std::vector<Tokens> given = arguments_of(at, {"add", "put", "insert", "set", "store"});
      if (given.size() != 3 || given[0].empty() || !given[0].back().is(asked.cache)) continue;
      const bool same = std::any_of(given[1].begin(), given[1].end(),
                                    [&asked](const Token& one) { return one.is(asked.key); });
      if (!same || given[2].empty()) continue;
      Use use{asked.cache, asked.key, at, {}, true};
      use.value.begin = static_cast<std::uint32_t>(given[2].data() - tokens_.data());
      use.value.end = use.value.begin + static_cast<std::uint32_t>(given[2].size());
      return use;
    }
    return {};
  }

  // `get_module(key, [&] { return code; })`, also with the name of such a function.
  std::optional<Use> lazy_question(std::uint32_t at) const {
    if (!token(at).is_identifier() || !token(at + 1).is('(')) return {};
    const std::string name = lower(token(at).text);
    if (!has_any(name, {"get", "find", "lookup", "fetch"})) return {};
    if (!has_any(name, {"module", "library", "kernel", "program", "pipeline", "create", "build",
                        "compile"})) {
      return {};
    }
    const std::uint32_t close = partners_[at + 1];
    if (close == no_token || close <= at || close > at + max_call) return {};
    const Tokens inside(tokens_.data() + at + 2, close - at - 2);
    const std::vector<Tokens> given = split_call_arguments(inside);
    for (std::size_t next = 1; next < given.size(); ++next) {
      const Tokens key = given[next - 1];
      const Tokens maker = given[next];
      if (key.size() != 1 || !key[0].is_identifier() || maker.empty()) continue;
      const auto begin = static_cast<std::uint32_t>(maker.data() - tokens_.data());
      const bool written = maker[0].is('[');
      if (!written && (maker.size() != 1 || !is_maker(maker[0].text, at))) continue;
      Use use{token(at).text, key[0].text, at, {}};
      use.value = {begin, begin + static_cast<std::uint32_t>(maker.size())};
      use.lazy = true;
      return use;
    }
    return {};
  }

  // A little above it is made: `auto builder = [&]() { … };`
  bool is_maker(std::string_view name, std::uint32_t before) const {
    constexpr std::uint32_t farthest = 400;
    for (std::uint32_t at = before; at > 0 && before - at < farthest; --at) {
      if (token(at).is(name)) return token(at + 1).is('=') && token(at + 2).is('[');
    }
    return false;
  }

  // What is handed to the innermost of them comes later than all around it.
  const Scope* handed_last(std::uint32_t at) const {
    const std::vector<Scope>& scopes = source_.shape.scopes;
    std::size_t depth = 0;
    constexpr std::size_t deepest = 64;
    for (std::uint32_t scope = source_.scope_of(at); scope != no_scope && depth < deepest;
         scope = scopes[scope].parent, ++depth) {
      if (scopes[scope].kind == ScopeKind::function) return &scopes[scope];
      const TokenRange given = scopes[scope].parameters;
      if (scopes[scope].kind == ScopeKind::lambda && given.begin < given.end) return &scopes[scope];
    }
    return nullptr;
  }

  // The outermost function around a token.
  const Scope* function_around(std::uint32_t at) const {
    const std::vector<Scope>& scopes = source_.shape.scopes;
    const Scope* function = nullptr;
    std::size_t depth = 0;
    constexpr std::size_t deepest = 64;
    for (std::uint32_t scope = source_.scope_of(at); scope != no_scope && depth < deepest;
         scope = scopes[scope].parent, ++depth) {
      if (scopes[scope].kind == ScopeKind::function) function = &scopes[scope];
    }
    return function;
  }

  // `cache.insert({key, value})`, `cache.emplace(key, value)`, `cache[key] = value`
  std::optional<Use> stored(const Use& asked, const Scope& function) const {
    if (asked.lazy) return asked;
    if (asked.free) return free_store(asked, function);
    for (std::uint32_t at = asked.token; at + 4 < function.body.end; ++at) {
      if (!token(at).is(asked.cache)) continue;
      Use use{asked.cache, asked.key, at, {}};
      if (token(at + 1).is('[') && token(at + 2).is(asked.key) && token(at + 3).is(']') &&
          token(at + 4).is('=')) {
        use.value = {at + 5, end_of_statement(at + 5, function.body.end)};
        return use;
      }
      if (!is_dot(at + 1) || !token(at + 3).is('(')) continue;
      const std::string_view method = token(at + 2).text;
      if (method != "insert" && method != "emplace" && method != "try_emplace" &&
          method != "insert_or_assign") {
        continue;
      }
      const std::uint32_t close = partners_[at + 3];
      if (close == no_token || close > function.body.end) continue;
      std::uint32_t key = at + 4;
      // `{key, value}`, `std::make_pair(key, value)`
      for (std::uint32_t step = 0; step < 8 && key + 1 < close; ++step, ++key) {
        if (token(key).is(asked.key) && token(key + 1).is(',')) break;
      }
      if (key + 1 >= close || !token(key).is(asked.key) || !token(key + 1).is(',')) continue;
      use.value = {key + 2, close};
      return use;
    }
    return {};
  }

  std::uint32_t end_of_statement(std::uint32_t at, std::uint32_t end) const {
    while (at < end && !token(at).is(';')) {
      const bool opens = token(at).is('(') || token(at).is('{') || token(at).is('[');
      const bool closed = opens && partners_[at] != no_token && partners_[at] > at;
      at = closed ? partners_[at] + 1 : at + 1;
    }
    return std::min(at, end);
  }

  // Whether what is found is used, and not only replaced.
  bool serves(const Use& asked, const Scope& function) const {
    if (asked.free || asked.lazy) return true;
    // Behind the body stands at least its brace; tokens further on are nobody's.
    const auto is = [&](std::uint32_t at, std::string_view word) {
      return at < function.body.end && token(at).is(word);
    };
    for (std::uint32_t at = asked.token; at < function.body.end; ++at) {
      if (token(at).is("second") && is_dot(at - 1)) {
        if (!is(at + 1, "=")) return true;
      } else if (token(at).is(asked.cache)) {
        if ((is(at + 1, ".") || is(at + 1, "->")) && is(at + 2, "at")) return true;
        const bool element = is(at + 1, "[") && is(at + 2, asked.key) && is(at + 3, "]");
        if (element && !is(at + 4, "=")) return true;
      }
    }
    return false;
  }

  std::vector<Given> parameters_of(const Scope& function) const {
    std::vector<Given> all;
    bool after_pointer = false;
    const Tokens inside(tokens_.data() + function.parameters.begin,
                        function.parameters.end - function.parameters.begin);
    for (const Tokens part : split_call_arguments(inside)) {
      Given one;
      bool pointer = false;
      bool fixed = false;
      bool reference = false;
      bool object = false;
      // A text, as C has them.
      const bool text = part.size() == 4 && part[0].is("const") && part[1].is("char") &&
                        part[2].is('*') && part[3].is_identifier();
      for (std::size_t at = 0; at < part.size() && !part[at].is('='); ++at) {
        const Token& word = part[at];
        // `int rows [[maybe_unused]]`
        if (word.is('[') && !one.name.empty()) break;
        pointer = pointer || word.is('*') || word.is("&&");
        reference = reference || word.is('&');
        fixed = fixed || word.is("const");
        if (!word.is_identifier()) continue;
        if (!one.name.empty()) object = object || is_object(one.name);
        one.name = word.text;
        one.token = function.parameters.begin + static_cast<std::uint32_t>(&word - inside.data());
      }
      // How many there are of what is pointed to.
      const bool counts = after_pointer && says_count(one.name);
      after_pointer = pointer;
      one.setting =
          (!pointer || text) && !object && !counts && (fixed || !reference) && !stands_in(one.name);
      if (one.token != no_token) all.push_back(one);
    }
    return all;
  }

  // Of a type: what is worked on or with, not what is built.
  static bool is_object(std::string_view type) {
    return has_any(lower(type),
                   {"stream", "handle",    "context", "tensor",  "alloc",    "executor", "function",
                    "client", "queue",     "array",   "buffer",  "device",   "session",  "logger",
                    "pool",   "workspace", "ptr",     "builder", "callback", "node",     "span"});
  }

  void look_at(const Use& asked) {
    const Scope* function = asked.lazy ? handed_last(asked.token) : function_around(asked.token);
    if (function == nullptr || function->body.end - function->body.begin > max_body) return;
    if (!asked.lazy && !names_built(asked.cache)) return;
    if (!told_.insert({function, asked.cache}).second) return;
    const std::optional<Use> store = stored(asked, *function);
    if (!store || !serves(asked, *function)) return;
    const std::vector<Given> given = parameters_of(*function);
    if (given.size() > max_parameters) return;
    const auto is_given = [&given](std::string_view name) {
      return std::any_of(given.begin(), given.end(),
                         [name](const Given& one) { return one.name == name; });
    };
    // What the caller made of all that counts, or keeps and empties.
    if (is_given(asked.key) || is_given(asked.cache) || is_emptied(asked, *function)) return;
    const Statements statements(source_, function->body, asked.token);
    if (!statements.defines(asked.key)) return;
    const Statements::Origins key =
        statements.origins({asked.key}, begin_of_statement(statements, asked.token), {asked.cache});
    std::vector<std::string_view> stop = key.names;
    stop.push_back(asked.cache);
    const std::vector<std::string_view> value = statements.names_in(store->value);
    // What is kept came from the caller as it is.
    if (value.empty() || (value.size() <= 2 && is_given(value.back()))) return;
    Statements::Origins built =
        statements.origins(value, begin_of_statement(statements, store->token), stop);
    built.read.push_back(store->value);
    add(asked, *function, given, key, built);
  }

  // The function judges before it asks: `if (changed) cache.clear();`
  bool is_emptied(const Use& asked, const Scope& function) const {
    for (std::uint32_t at = function.body.begin; at + 2 < asked.token; ++at) {
      if (token(at).is(asked.cache) && is_dot(at + 1) && token(at + 2).is("clear")) return true;
    }
    return false;
  }

  static std::uint32_t begin_of_statement(const Statements& statements, std::uint32_t at) {
    for (const Statements::Statement& one : statements.all()) {
      if (one.tokens.begin <= at && at < one.tokens.end) return one.tokens.begin;
    }
    return at;
  }

  // A function that the caller hands over.
  bool is_called(std::string_view name, const Scope& function) const {
    for (std::uint32_t at = function.body.begin; at + 1 < function.body.end; ++at) {
      if (token(at).is(name) && token(at + 1).is('(') && !is_dot(at - 1)) return true;
    }
    return false;
  }

  // Whether a check of the function names it: two values may be held against each other there.
  bool is_checked(std::string_view name, const Scope& function) const {
    for (std::uint32_t at = function.body.begin; at + 1 < function.body.end; ++at) {
      if (!token(at).is_identifier() || !is_check(token(at).text)) continue;
      std::uint32_t end = at + 1;
      if (token(end).is('(') && partners_[end] != no_token) end = partners_[end];
      bool named = false;
      bool equal = false;
      for (std::uint32_t word = at + 1; word < end; ++word) {
        named = named || token(word).is(name);
        equal = equal || token(word).is("==");
      }
      if (named && equal) return true;
      at = std::max(at, end - 1);
    }
    return false;
  }

  // What of a parameter is used in some places.
  struct Fields {
    std::vector<std::string_view> names;
    // All of it, or what a method tells.
    bool whole = false;
  };

  Fields fields_of(std::string_view name, const std::vector<TokenRange>& ranges) const {
    Fields fields;
    for (const TokenRange range : ranges) {
      for (std::uint32_t at = range.begin; at < range.end; ++at) {
        if (!token(at).is(name) || (at > 0 && (is_dot(at - 1) || token(at - 1).is("::")))) continue;
        const bool field = at + 2 < range.end && is_dot(at + 1) && token(at + 2).is_identifier();
        if (!field || token(at + 3).is('(')) {
          fields.whole = true;
        } else if (fields.names.size() < max_fields) {
          fields.names.push_back(token(at + 2).text);
        }
      }
    }
    std::sort(fields.names.begin(), fields.names.end());
    fields.names.erase(std::unique(fields.names.begin(), fields.names.end()), fields.names.end());
    return fields;
  }

  static bool tells_all(std::string_view field) {
    return has_any(lower(field), {"key", "hash", "name", "id", "digest", "version", "signature"});
  }

  void add(const Use& asked, const Scope& function, const std::vector<Given>& given,
           const Statements::Origins& key, const Statements::Origins& built) {
    PythonCache cache;
    cache.name = name_of(asked.cache, function);
    cache.kind = "memory";
    cache.place = place_of(asked.token);
    cache.parts_known = true;
    cache.reads_known = true;
    for (const Given& one : given) {
      if (std::binary_search(key.names.begin(), key.names.end(), one.name)) {
        add_part(one, key, built, cache);
      } else if (one.setting &&
                 std::binary_search(built.names.begin(), built.names.end(), one.name) &&
                 (counts(one.name) || chooses(one.name, built)) && !is_called(one.name, function) &&
                 !is_checked(one.name, function)) {
        cache.reads.push_back({std::string(one.name), {}, "value", place_of(one.token)});
      }
    }
    const auto told = [&cache](auto tells) {
      return std::any_of(cache.parts.begin(), cache.parts.end(),
                         [tells](const PythonKeyPart& part) { return tells(lower(part.name)); });
    };
    // A key that the caller makes may tell all, and a name all of a source.
    if (told([](std::string_view name) {
          return has_any(name, {"key", "label", "hash", "digest", "signature"}) || name == "id";
        })) {
      return;
    }
    if (is_named_by_caller(cache)) return;
    if (told([](std::string_view name) { return has_any(name, {"name", "_id"}); })) {
      if (asked.lazy) return;
      std::erase_if(cache.reads, [](const PythonKeyPart& read) {
        FlowRoot root;
        root.name = read.name;
        return input_word(root) == "source" || input_word(root) == "headers";
      });
    }
    if (!cache.parts.empty()) found_.push_back(std::move(cache));
  }

  // The name of a function that is generated for all that counts, and no name of a source.
  static bool is_named_by_caller(const PythonCache& cache) {
    const auto names_function = [](const PythonKeyPart& part) {
      const std::string name = lower(part.name);
      return has_any(name, {"func", "kernel"}) && name.ends_with("name");
    };
    // What a function works on tells nothing of what it does.
    const auto is_device = [](const PythonKeyPart& part) {
      return has_any(lower(part.name), {"dev", "context", "ctx", "queue", "stream"});
    };
    const auto is_source = [](const PythonKeyPart& read) {
      return has_any(lower(read.name), {"source", "src", "code"});
    };
    bool named = false;
    for (const PythonKeyPart& part : cache.parts) {
      if (names_function(part)) {
        named = true;
      } else if (!is_device(part)) {
        return false;
      }
    }
    return named && std::none_of(cache.reads.begin(), cache.reads.end(), is_source);
  }

  static bool counts(std::string_view name) {
    FlowRoot root;
    root.name = name;
    return input_word(root) == "dtypes" || !leaves_build_alone(root);
  }

  // Which function of a module it is that is kept: `cuModuleGetFunction(&kernel, module, name)`.
  bool chooses(std::string_view name, const Statements::Origins& built) const {
    for (const TokenRange range : built.read) {
      for (std::uint32_t at = range.begin; at + 1 < range.end; ++at) {
        if (!token(at).is_identifier() || !token(at + 1).is('(')) continue;
        const std::string called = lower(token(at).text);
        if (!has_any(called, {"getfunction", "get_function", "createkernel", "dlsym",
                              "getprocaddress", "getkernel"})) {
          continue;
        }
        const std::uint32_t close = partners_[at + 1];
        if (close == no_token || close < at || close > range.end) continue;
        for (std::uint32_t word = at + 2; word < close; ++word) {
          if (token(word).is(name) && !is_dot(word - 1)) return true;
        }
      }
    }
    return false;
  }

  // The parameter, or its fields one by one where nothing else of it is in the key.
  void add_part(const Given& one, const Statements::Origins& key, const Statements::Origins& built,
                PythonCache& cache) const {
    const Fields in_key = fields_of(one.name, key.read);
    const PythonPlace place = place_of(one.token);
    const bool apart = !in_key.whole && !in_key.names.empty() &&
                       std::none_of(in_key.names.begin(), in_key.names.end(), tells_all);
    if (!apart || !one.setting) {
      cache.parts.push_back({std::string(one.name), {}, "value", place});
      return;
    }
    const std::string prefix = std::string(one.name) + ".";
    for (const std::string_view field : in_key.names) {
      cache.parts.push_back({prefix + std::string(field), {}, "value", place});
    }
    for (const std::string_view field : fields_of(one.name, built.read).names) {
      const bool known = std::binary_search(in_key.names.begin(), in_key.names.end(), field);
      if (known || tells_all(field) || !counts(field)) continue;
      cache.reads.push_back({prefix + std::string(field), {}, "value", place});
    }
  }

  // One that is called `cache` is told by its function.
  std::string name_of(std::string_view variable, const Scope& function) const {
    std::string name = plain_name(variable);
    while (name.size() > 1 && name.back() == '_') name.pop_back();
    const bool told = lower(name) != "cache" || function.name_token == no_token;
    return told ? name : std::string(token(function.name_token).text);
  }

  std::set<std::pair<const Scope*, std::string_view>> told_;
  std::vector<PythonCache> found_;
  std::size_t looked_ = 0;
};

}  // namespace

bool may_hold_memos(std::string_view bytes) {
  const auto has = [bytes](std::string_view word) { return bytes.find(word) != bytes.npos; };
  static const Needles asking({"find(", "count(", "contains(", "_get(", "_lookup(", "_search("});
  static const Needles making({"_module(", "_library(", "_kernel(", "_program(", "_pipeline(",
                               "Module(", "Library(", "Kernel(", "Program(", "Pipeline(",
                               "OrCreate(", "or_create(", "OrBuild", "or_build", "OrCompile",
                               "or_compile"});
  static const Needles kept({"ache", "plan", "kernel", "odule", "ipeline", "rogram"});
  static const Needles keeping({"map", "emplace(", "insert(", "_add(", "_put("});
  // A function that is handed what makes the thing.
  const bool lazy = has("[&") || has("[=") || has("[this");
  if (lazy && making.occur_in(bytes)) return true;
  return asking.occur_in(bytes) && kept.occur_in(bytes) && keeping.occur_in(bytes);
}

std::vector<PythonCache> read_memos(const PlainSource& source) { return MemoReader(source).read(); }

}  // namespace opseal
