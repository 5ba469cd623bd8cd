#include "analyzers/sources/path_code.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analyzers/source/needles.h"
#include "analyzers/sources/plain_code.h"
#include "analyzers/sources/statements.h"
#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// One file holds some few; each reads its whole function.
constexpr std::size_t max_caches = 16;
constexpr std::size_t max_candidates = 64;
constexpr std::uint32_t max_body = 20'000;
// Of a function, each looked for in all of it.
constexpr std::size_t max_questions = 32;
// Of helpers of the file, one after the other.
constexpr std::size_t max_helpers = 16;
constexpr std::uint32_t max_helper = 2'000;

bool begins_with(std::string_view word, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [word](std::string_view part) { return word.starts_with(part); });
}

bool is_build(std::string_view name) {
  const std::string word = lower(name);
  if (has_any(word, {"error", "log", "check", "message"})) return false;
  return word == "compile" ||
         begins_with(word, {"compile_", "compileto", "compilek", "compilep", "compilem", "compiles",
                            "compilec"}) ||
         has_any(word, {"buildprogram", "compileprogram", "build_program", "compile_program",
                        "jitcompile", "jit_compile", "run_nvcc", "runnvcc", "run_hipcc"});
}

bool asks_file(std::string_view name) {
  const std::string word = lower(name);
  return word == "access" || word == "stat" || word == "fopen" || word == "ifstream" ||
         has_any(word, {"exists", "exist", "isfile", "is_regular_file"}) ||
         begins_with(word, {"load", "read", "try_load", "tryload", "restore", "open"});
}

bool reads_file(std::string_view name) {
  const std::string word = lower(name);
  return word == "ifstream" || has_any(word, {"load", "read", "open", "from_file", "fromfile",
                                              "restore", "import", "map_file", "mmap"});
}

bool writes_file(std::string_view name) {
  const std::string word = lower(name);
  return word == "fopen" || word == "ofstream" || word == "rename" ||
         begins_with(word, {"save", "write", "store", "dump", "persist"});
}

// opseal's word for a setting of a compiler; empty for all else.
std::string_view setting_word(std::string_view name) {
  for (const std::string& word : words_in_name(name)) {
    if (is_one_of(word, {"arch", "archs", "architecture", "sm", "capability", "cc", "gfx"})) {
      return "architecture";
    }
    if (is_one_of(word, {"flag", "flags", "cflags", "cxxflags", "opt", "opts", "option", "options",
                         "defines"}))
      return "flags";
    if (is_one_of(word, {"dtype", "dtypes"})) return "dtypes";
  }
  return {};
}

// Whether a word of a path may stand for such a setting.
bool may_tell(std::string_view setting, std::string_view word) {
  const std::string plain = lower(word);
  if (has_any(plain, {"command", "cmd", "config", "signature", "fingerprint"})) return true;
  if (setting == "flags") {
    return has_any(plain, {"flag", "opt", "define", "macro", "arg", "param", "setting"});
  }
  if (setting == "dtypes") return has_any(plain, {"type", "precision"});
  return has_any(plain, {"arch", "sm_", "capab", "gfx", "major", "dev", "gpu", "target", "isa",
                         "cc", "prop", "compute"}) ||
         plain == "sm";
}

// Gives what it is called on in another form, or the code that it has.
bool is_form(std::string_view method) {
  constexpr std::string_view all[] = {"str",   "string", "c_str", "data", "size",   "length",
                                      "empty", "begin",  "end",   "lock", "native", "get"};
  return std::find(std::begin(all), std::end(all), method) != std::end(all) ||
         has_any(lower(method), {"binary", "source", "code", "name", "text", "content"});
}

bool names_folder(std::string_view name) {
  return has_any(lower(name), {"dir", "folder", "home", "root", "temp"});
}

class PathReader : PlainCode {
 public:
  explicit PathReader(const PlainSource& source) : PlainCode(source) {
    for (const Scope& scope : source.shape.scopes) {
      if (scope.kind != ScopeKind::function || scope.name_token == no_token) continue;
      functions_.emplace(token(scope.name_token).text, &scope);
    }
  }

  std::vector<PythonCache> read() {
    for (const Scope& scope : source_.shape.scopes) {
      if (scope.kind != ScopeKind::function) continue;
      if (scope.body.end - scope.body.begin > max_body) continue;
      for (std::uint32_t at = scope.body.begin; at + 1 < scope.body.end; ++at) {
        if (!is_call(at) || !is_build(token(at).text)) continue;
        if (++looked_ > max_candidates || found_.size() >= max_caches) return std::move(found_);
        if (look_at(scope, at)) break;
      }
    }
    return std::move(found_);
  }

 private:
  bool is_call(std::uint32_t at) const {
    return at + 1 < tokens_.size() && token(at).is_identifier() && token(at + 1).is('(') &&
           partners_[at + 1] != no_token && partners_[at + 1] > at;
  }

  // The brackets behind `load(`, `std::ifstream in(`.
  TokenRange handed(std::uint32_t at, std::uint32_t end) const {
    if (!token(at).is_identifier()) return {};
    std::uint32_t open = at + 1;
    const bool stream = token(at).is("ifstream") || token(at).is("ofstream");
    if (stream && open < end && token(open).is_identifier()) ++open;
    if (open >= end || (!token(open).is('(') && !(stream && token(open).is('{')))) return {};
    const std::uint32_t close = partners_[open];
    if (close == no_token || close <= open || close > end) return {};
    return {open + 1, close};
  }

  bool look_at(const Scope& function, std::uint32_t build) {
    const Statements statements(source_, function.body, build);
    const TokenRange body = function.body;
    std::size_t questions = 0;
    for (std::uint32_t at = body.begin; at < build; ++at) {
      const TokenRange given = handed(at, body.end);
      if (given.begin == given.end || given.end > build || !asks_file(token(at).text)) continue;
      const Token& path = token(given.begin);
      const bool alone = path.is_identifier() &&
                         !(given.begin + 1 < given.end &&
                           (token(given.begin + 1).is("::") || token(given.begin + 1).is('(')));
      if (!alone || !statements.defines(path.text)) continue;
      if (++questions > max_questions) return false;
      if (!is_written(path.text, build, body.end) || !is_served(path.text, body)) continue;
      if (add(function, statements, build, given.begin)) return true;
    }
    return false;
  }

  bool is_written(std::string_view path, std::uint32_t from, std::uint32_t end) const {
    for (std::uint32_t at = from; at < end; ++at) {
      const TokenRange given = handed(at, end);
      if (given.begin == given.end || !writes_file(token(at).text)) continue;
      for (std::uint32_t word = given.begin; word < given.end; ++word) {
        if (token(word).is(path)) return true;
      }
    }
    return false;
  }

  // Whether the file is read, or its path given back: a log is only written.
  bool is_served(std::string_view path, TokenRange body) const {
    for (std::uint32_t at = body.begin; at < body.end; ++at) {
      if (token(at).is("return") && at + 1 < body.end && token(at + 1).is(path)) return true;
      const TokenRange given = handed(at, body.end);
      if (given.begin == given.end || !reads_file(token(at).text)) continue;
      for (std::uint32_t word = given.begin; word < given.end; ++word) {
        if (token(word).is(path)) return true;
      }
    }
    return false;
  }

  std::uint32_t begin_of_statement(const Statements& statements, std::uint32_t at) const {
    for (const Statements::Statement& one : statements.all()) {
      if (one.tokens.begin <= at && at < one.tokens.end) return one.tokens.begin;
    }
    return at;
  }

  struct Path {
    // Names, and texts.
    std::set<std::string_view> words;
    // Something of it is told elsewhere.
    bool open = false;
    // Its folder is told elsewhere.
    bool open_folder = false;
  };

  // What the path is made of, with the helpers of this file.
  Path path_of(const Statements::Origins& key) const {
    Path path;
    std::vector<TokenRange> ranges = key.read;
    std::set<const Scope*> seen;
    for (std::size_t next = 0; next < ranges.size() && !path.open; ++next) {
      for (std::uint32_t at = ranges[next].begin; at < ranges[next].end; ++at) {
        if (token(at).is_string()) path.words.insert(token(at).text);
        if (!token(at).is_identifier()) continue;
        path.words.insert(token(at).text);
        if (is_call(at)) enter(at, seen, ranges, path);
      }
    }
    return path;
  }

  void enter(std::uint32_t at, std::set<const Scope*>& seen, std::vector<TokenRange>& ranges,
             Path& path) const {
    const std::string_view name = token(at).text;
    const auto [first, last] = functions_.equal_range(name);
    if (first != last) {
      for (auto one = first; one != last; ++one) {
        if (!seen.insert(one->second).second) continue;
        const TokenRange body = one->second->body;
        path.open = path.open || seen.size() > max_helpers || body.end - body.begin > max_helper;
        ranges.push_back(body);
      }
      return;
    }
    const bool handed_nothing = partners_[at + 1] == at + 2;
    const std::string word = lower(name);
    if (handed_nothing && names_folder(name)) {
      path.open_folder = true;
    } else if (handed_nothing) {
      path.open = path.open || !is_form(name);
    } else if (has_any(word, {"key", "cache", "path", "hash_of", "digest"}) && !is_std(at)) {
      path.open = true;
    }
  }

  // `std::filesystem::path(…)`, `fs::path(…)`
  bool is_std(std::uint32_t at) const { return at > 0 && token(at - 1).is("::"); }

  bool add(const Scope& function, const Statements& statements, std::uint32_t build,
           std::uint32_t asked) {
    const std::uint32_t until = begin_of_statement(statements, build);
    const std::string_view name = token(asked).text;
    const std::uint32_t asked_at = begin_of_statement(statements, asked);
    const Statements::Origins key = statements.origins({name}, asked_at, {});
    const std::set<std::string_view> given = parameters_of(function);
    const auto varies = [&](std::string_view one) {
      return given.contains(one) || statements.defines(one);
    };
    PythonCache cache;
    cache.name = std::string(name);
    cache.kind = "disk";
    cache.place = place_of(asked);
    for (const std::string_view one : key.names) {
      if (one != name && varies(one)) {
        cache.parts.push_back({std::string(one), {}, "value", cache.place});
      }
    }
    if (cache.parts.empty()) return false;
    const Path path = path_of(key);
    if (path.open) return false;
    cache.parts_known = true;
    cache.reads_known = true;
    const TokenRange arguments{build + 2, partners_[build + 1]};
    std::set<std::string_view> told;
    for (std::uint32_t at = arguments.begin; at < arguments.end; ++at) {
      const Token& one = token(at);
      if (!one.is_identifier() || is_dot(at - 1) || token(at - 1).is("::")) continue;
      const std::string_view setting = setting_word(one.text);
      if (setting.empty() || !varies(one.text) || one.is(name)) continue;
      if (std::binary_search(key.names.begin(), key.names.end(), one.text)) continue;
      if (path.open_folder && setting == "architecture") continue;
      if (std::any_of(path.words.begin(), path.words.end(),
                      [setting](std::string_view word) { return may_tell(setting, word); })) {
        continue;
      }
      const Statements::Origins from = statements.origins({one.text}, until, {});
      const bool follows = std::any_of(from.names.begin(), from.names.end(), [&](auto origin) {
        return varies(origin) && std::binary_search(key.names.begin(), key.names.end(), origin);
      });
      if (follows || !differs(from, given, statements, setting)) continue;
      if (told.insert(one.text).second) {
        cache.reads.push_back({std::string(one.text), std::string(setting), "value", place_of(at)});
      }
    }
    found_.push_back(std::move(cache));
    return true;
  }

  // Whether two calls may have two values: it comes from the caller, from an object or a device.
  bool differs(const Statements::Origins& from, const std::set<std::string_view>& given,
               const Statements& statements, std::string_view setting) const {
    if (std::any_of(from.names.begin(), from.names.end(),
                    [&given](std::string_view one) { return given.contains(one); })) {
      return true;
    }
    for (const TokenRange range : from.read) {
      for (std::uint32_t at = range.begin; at < range.end; ++at) {
        if (!is_call(at)) continue;
        const bool method = at >= 2 && is_dot(at - 1) && token(at - 2).is_identifier();
        if (method && !is_form(token(at).text) && !statements.defines(token(at - 2).text)) {
          return true;
        }
        if (token(at).is("getenv")) return true;
        if (setting == "architecture" && may_tell(setting, token(at).text)) return true;
      }
    }
    return false;
  }

  std::set<std::string_view> parameters_of(const Scope& function) const {
    std::set<std::string_view> names;
    const Tokens inside(tokens_.data() + function.parameters.begin,
                        function.parameters.end - function.parameters.begin);
    for (const Tokens part : split_call_arguments(inside)) {
      std::string_view name;
      for (const Token& word : part) {
        if (word.is('=') || (word.is('[') && !name.empty())) break;
        if (word.is_identifier()) name = word.text;
      }
      if (!name.empty()) names.insert(name);
    }
    return names;
  }

  std::multimap<std::string_view, const Scope*> functions_;
  std::vector<PythonCache> found_;
  std::size_t looked_ = 0;
};

}  // namespace

bool may_hold_path_caches(std::string_view bytes) {
  static const Needles builds({"ompile", "uildProgram", "build_program", "nvcc"});
  static const Needles asks({"ache", "exists("});
  static const Needles stores(
      {"ofstream", "fopen(", "save", "rename(", "write", "Save", "Write", "tore"});
  return builds.occur_in(bytes) && asks.occur_in(bytes) && stores.occur_in(bytes);
}

std::vector<PythonCache> read_path_caches(const PlainSource& source) {
  return PathReader(source).read();
}

}  // namespace opseal
