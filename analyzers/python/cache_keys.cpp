#include "analyzers/python/cache_keys.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "analyzers/python/cache_comment.h"
#include "analyzers/python/key_words.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"
#include "analyzers/python/value_flow.h"

namespace opseal {
namespace {

// One file holds some few.
constexpr std::size_t max_caches = 64;
// Builds that one function starts, by itself and through others.
constexpr std::size_t max_builds = 64;
constexpr std::uint32_t max_helpers = 3;
// Digests that go into digests.
constexpr std::size_t max_digests = 8;

enum class Build : std::uint8_t {
  none,
  // A compiler is started, and nothing looks whether it has to.
  compiler,
  // Something that judges by itself what is out of date.
  judged,
};

Build build_by(const std::set<std::string_view>& words) {
  Build found = Build::none;
  for (const std::string_view word : words) {
    if (word.find("-version") != word.npos || word == "-dumpversion") return Build::none;
    std::size_t begin = 0;
    while (begin <= word.size()) {
      const std::size_t end = std::min(word.find_first_of(" /\\\n", begin), word.size());
      const std::string_view name = word.substr(begin, end - begin);
      begin = end + 1;
      for (const std::string_view judge : {"ninja", "cmake", "make"}) {
        if (name == judge) return Build::judged;
      }
      for (const std::string_view compiler :
           {"nvcc", "hipcc", "g++", "gcc", "c++", "cc", "clang", "clang++", "icpx", "cl.exe"}) {
        if (name == compiler) found = Build::compiler;
      }
    }
    std::string name(word);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char byte) { return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte; });
    const bool plain = name.find_first_of(" -/.") == name.npos;
    for (const std::string_view part : {"nvcc", "hipcc", "cxx", "compiler"}) {
      if (plain && name.find(part) != name.npos) found = Build::compiler;
    }
  }
  return found;
}

std::string_view form_word(FlowForm form) {
  switch (form) {
    case FlowForm::content:
      return "content";
    case FlowForm::mtime:
      return "mtime";
    case FlowForm::identity:
      return "identity";
    case FlowForm::value:
      break;
  }
  return "value";
}

// What a build was found to be handed, and by which way it was reached.
struct Started {
  SyntaxIndex call = no_syntax;
  const FlowFrame* frame = nullptr;
};

class CacheKeyReader {
 public:
  explicit CacheKeyReader(std::string_view text)
      : text_(text), syntax_(text), scopes_(syntax_), flow_(syntax_, scopes_) {
    for (SyntaxIndex at = 0; at < syntax_.nodes.size(); ++at) {
      if (syntax_.is(at, SyntaxKind::function_definition)) functions_.push_back(at);
      if (syntax_.is(at, SyntaxKind::call)) calls_[function_of(at)].push_back(at);
    }
  }

  std::vector<PythonCache> run() {
    for (std::uint32_t depth = 0; depth <= max_helpers; ++depth) {
      for (const SyntaxIndex function : functions_) {
        std::vector<Started> builds;
        find_builds(function, nullptr, depth, builds);
        for (const Started& build : builds) look_at(function, build);
      }
    }
    for (const SyntaxIndex function : functions_) designate(function);
    return std::move(found_);
  }

 private:
  PythonPlace place_of(SyntaxIndex index) const {
    return {syntax_[index].begin, syntax_[index].end - syntax_[index].begin};
  }

  SyntaxIndex function_of(SyntaxIndex node) const {
    SyntaxIndex scope = scopes_.scope_of(node);
    for (std::size_t up = 0; up < PythonScopes::max_scopes && scope != no_syntax && scope != 0;
         ++up) {
      if (syntax_.is(scope, SyntaxKind::function_definition)) return scope;
      scope = scopes_.scope_of(scope);
    }
    return no_syntax;
  }

  // CUDA's compiler as a library, by whatever function the project calls it.
  static bool compiles_in_process(std::string_view name) {
    return name.find("nvrtc") != name.npos && name.find("compile") != name.npos;
  }

  bool starts(SyntaxIndex call) const {
    const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
    const std::string_view name = flow_.called(call);
    if (name == "run" || name == "check_call" || name == "check_output" || name == "Popen" ||
        name == "call") {
      return flow_.is_named(function, "subprocess.");
    }
    if (compiles_in_process(name)) return true;
    if (name == "system") return flow_.is_named(function, "os.system");
    return name == "load" || name == "load_inline"
               ? flow_.is_named(function, "torch.utils.cpp_extension.")
               : false;
  }

  // The builds that a function starts through so many others.
  void find_builds(SyntaxIndex function, const FlowFrame* frame, std::uint32_t depth,
                   std::vector<Started>& builds) {
    const auto calls = calls_.find(function);
    if (calls == calls_.end()) return;
    for (const SyntaxIndex call : calls->second) {
      if (builds.size() >= max_builds) return;
      if (depth == 0) {
        if (starts(call)) builds.push_back({call, frame});
        continue;
      }
      const SyntaxIndex helper = flow_.function_of(call);
      if (helper == no_syntax || !may_start(helper, depth - 1)) continue;
      const FlowFrame* inner = flow_.enter(helper, call, frame);
      if (inner != nullptr) find_builds(helper, inner, depth - 1, builds);
    }
  }

  // Asked before a frame is made for it: most helpers start nothing.
  bool may_start(SyntaxIndex function, std::uint32_t depth) {
    const auto known = starters_.find({function, depth});
    if (known != starters_.end()) return known->second;
    bool& answer = starters_[{function, depth}];
    answer = false;
    const auto calls = calls_.find(function);
    if (calls == calls_.end()) return false;
    bool found = false;
    for (const SyntaxIndex call : calls->second) {
      if (depth == 0) {
        found = found || starts(call);
      } else if (const SyntaxIndex helper = flow_.function_of(call); helper != no_syntax) {
        found = found || may_start(helper, depth - 1);
      }
    }
    starters_[{function, depth}] = found;
    return found;
  }

  static const FlowRoot* digest_of(const FlowTrace& trace) {
    const auto found =
        std::find_if(trace.roots.begin(), trace.roots.end(),
                     [](const FlowRoot& root) { return root.kind == FlowRoot::Kind::digest; });
    return found == trace.roots.end() ? nullptr : &*found;
  }

  void look_at(SyntaxIndex function, const Started& start) {
    const std::vector<SyntaxIndex> given = flow_.arguments(start.call);
    if (given.empty() || found_.size() >= max_caches) return;
    const bool by_torch = flow_.called(start.call).starts_with("load");
    const bool in_process = compiles_in_process(flow_.called(start.call));
    FlowTrace command = flow_.of_command(given.front(), start.frame);
    for (std::size_t at = 1; (by_torch || in_process) && at < given.size(); ++at) {
      FlowTrace one = flow_.of(given[at], start.frame);
      command.take(one, one.has_digest());
    }
    const Build build = by_torch     ? Build::judged
                        : in_process ? Build::compiler
                                     : build_by(command.words);
    if (build == Build::none) return;
    FlowTrace path;
    const std::optional<FlowRoot> digest = guard_of(function, command, path);
    // One that is made once and for all tells processes apart, not builds.
    if (!digest || function_of(digest->node) == no_syntax) {
      if (build == Build::compiler) look_at_times(function);
      return;
    }
    if (!told_.insert(digest->node).second) return;
    PythonCache cache;
    read_key(*digest, path, cache);
    if (build == Build::compiler) {
      read_build(function, command, *digest, cache);
    } else {
      cache.inputs_known = false;
    }
    makers_.push_back(function_of(digest->node));
    found_.push_back(std::move(cache));
  }

  // The digest by which a function looks whether there is something to build: the one that names
  // what its build is handed, or any where that names nothing after one. A file that is merely
  // named after a digest is written each time.
  // `path` is what the output is named after.
  std::optional<FlowRoot> guard_of(SyntaxIndex function, const FlowTrace& command,
                                   FlowTrace& path) {
    if (const FlowRoot* named = digest_of(command)) {
      for (const FlowRoot& root : command.roots) {
        if (root.kind == FlowRoot::Kind::digest) path.roots.push_back(root);
      }
      path.beside = command.beside;
      if (is_asked_for(function, nullptr, *named)) return *named;
      for (const SyntaxIndex call : calls_[function]) {
        const SyntaxIndex helper = flow_.function_of(call);
        if (helper == no_syntax || !asks(helper)) continue;
        const FlowFrame* frame = flow_.enter(helper, call, nullptr);
        if (frame != nullptr && is_asked_for(helper, frame, *named)) return *named;
      }
      for (const SyntaxIndex other : functions_) {
        if (other != function && asks(other) && is_asked_for(other, nullptr, *named)) return *named;
      }
      return {};
    }
    for (const SyntaxIndex call : calls_[function]) {
      if (!is_question(call)) continue;
      const FlowTrace asked = flow_.of(call, nullptr);
      if (const FlowRoot* digest = digest_of(asked)) {
        path.take(asked, true);
        return *digest;
      }
    }
    return {};
  }

  bool is_question(SyntaxIndex call) const {
    const std::string_view name = flow_.called(call);
    return name == "exists" || name == "isfile" || name == "is_file" || name == "isdir" ||
           name == "is_dir";
  }

  bool asks(SyntaxIndex function) {
    const std::vector<SyntaxIndex>& calls = calls_[function];
    return std::any_of(calls.begin(), calls.end(),
                       [this](SyntaxIndex call) { return is_question(call); });
  }

  bool is_asked_for(SyntaxIndex function, const FlowFrame* frame, const FlowRoot& digest) {
    for (const SyntaxIndex call : calls_[function]) {
      if (!is_question(call)) continue;
      const FlowTrace asked = flow_.of(call, frame);
      const bool same =
          std::any_of(asked.roots.begin(), asked.roots.end(), [&digest](const FlowRoot& root) {
            return root.kind == FlowRoot::Kind::digest && root.node == digest.node;
          });
      if (same) return true;
    }
    return false;
  }

  // `getmtime(source) > getmtime(library)` in a function that builds.
  void look_at_times(SyntaxIndex function) {
    std::vector<SyntaxIndex> times;
    for (const SyntaxIndex call : calls_[function]) {
      if (flow_.called(call) == "getmtime") times.push_back(call);
    }
    for (SyntaxIndex at = function; at < syntax_[function].next; ++at) {
      if (!syntax_.is(at, SyntaxKind::attribute)) continue;
      if (syntax_.text_of(at).ends_with(".st_mtime")) times.push_back(at);
    }
    if (times.size() < 2 || !told_.insert(function).second) return;
    PythonCache cache;
    set_name(function, cache);
    cache.by_time = place_of(times.front());
    makers_.push_back(function);
    found_.push_back(std::move(cache));
  }

  void set_name(SyntaxIndex function, PythonCache& cache) const {
    const SyntaxIndex name =
        function == no_syntax ? no_syntax : syntax_.child(function, SyntaxField::name);
    if (name == no_syntax) {
      cache.name = "module";
      return;
    }
    cache.name = syntax_.text_of(name);
    cache.place = place_of(name);
  }

  void read_key(const FlowRoot& digest, const FlowTrace& path, PythonCache& cache) {
    set_name(function_of(digest.node), cache);
    if (cache.place.length == 0) cache.place = place_of(digest.node);
    cache.hash = digest.name.substr(digest.name.rfind('.') + 1);
    cache.hash_place = place_of(digest.node);
    FlowTrace key;
    std::vector<FlowRoot> waiting = path.roots;
    waiting.push_back(digest);
    std::set<SyntaxIndex> done;
    while (!waiting.empty()) {
      const FlowRoot one = waiting.back();
      waiting.pop_back();
      if (!done.insert(one.node).second) continue;
      if (done.size() > max_digests) {
        key.limited = true;
        break;
      }
      const FlowTrace parts = parts_of(one);
      for (const FlowRoot& root : parts.roots) {
        if (root.kind == FlowRoot::Kind::digest) waiting.push_back(root);
      }
      key.take(parts, false);
    }
    cache.parts_known = !key.limited;
    add_parts(key, cache);
    for (const FlowRoot& root : path.beside) {
      // The folder above the outputs is no part of a key.
      const bool told = root.kind == FlowRoot::Kind::parameter || !input_word(root).empty();
      if (has_part(cache, plain_name(root.name))) continue;
      if (!told || (leaves_build_alone(root) && input_word(root).empty())) continue;
      cache.parts.push_back(
          {plain_name(root.name), std::string(input_word(root)), "name", place_of(root.node)});
    }
    if (follows_includes(function_of(digest.node))) {
      cache.parts.push_back({"#include", "headers", "content", cache.hash_place});
    }
    find_unseparated(digest.node, cache);
    judge_inputs(cache);
  }

  void add_parts(const FlowTrace& key, PythonCache& cache) const {
    for (const FlowRoot& root : key.roots) {
      if (root.kind == FlowRoot::Kind::digest) continue;
      cache.parts.push_back({plain_name(root.name.empty() ? "environ" : root.name),
                             std::string(input_word(root)), form_word(root.form),
                             place_of(root.node)});
    }
  }

  // What goes into one digest: what it is made with, and what it is handed later.
  FlowTrace parts_of(const FlowRoot& digest) {
    FlowTrace parts;
    for (const SyntaxIndex given : flow_.arguments(digest.node)) {
      if (syntax_.is(given, SyntaxKind::keyword_argument)) continue;
      parts.take(flow_.of(given, digest.frame), false);
    }
    const SyntaxIndex name = name_of(digest.node);
    if (name == no_syntax) return parts;
    for (const SyntaxIndex given : flow_.handed_to(name)) {
      parts.take(flow_.of(given, digest.frame), false);
    }
    if (is_passed_on(name)) parts.limited = true;
    return parts;
  }

  // `digest` of `digest = hashlib.sha256()`.
  SyntaxIndex name_of(SyntaxIndex made) const {
    const SyntaxIndex above = syntax_[made].parent;
    if (!syntax_.is(above, SyntaxKind::assignment)) return no_syntax;
    const SyntaxIndex left = syntax_.child(above, SyntaxField::left);
    return syntax_.is(left, SyntaxKind::identifier) ? flow_.first_binding(left) : no_syntax;
  }

  // Others may add to it, or it goes by another name.
  bool is_passed_on(SyntaxIndex name) const {
    const SyntaxIndex function = function_of(name);
    const SyntaxIndex begin = function == no_syntax ? 0 : function;
    const std::string_view text = syntax_.text_of(name);
    for (SyntaxIndex at = begin; at < syntax_[begin].next; ++at) {
      if (!syntax_.is(at, SyntaxKind::identifier) || syntax_.text_of(at) != text) continue;
      const SyntaxNode& node = syntax_[at];
      if (syntax_.is(node.parent, SyntaxKind::attribute)) continue;
      if (syntax_.is(node.parent, SyntaxKind::assignment) && node.field == SyntaxField::left) {
        continue;
      }
      return true;
    }
    return false;
  }

  // Whether the function, or one that it calls, goes through the includes of a source.
  bool follows_includes(SyntaxIndex function) {
    std::vector<SyntaxIndex> waiting = {function};
    std::set<SyntaxIndex> done;
    while (!waiting.empty() && done.size() < max_builds) {
      const SyntaxIndex one = waiting.back();
      waiting.pop_back();
      if (one == no_syntax || !done.insert(one).second) continue;
      const std::string_view body = syntax_.text_of(one);
      for (std::size_t at = body.find("include"); at != body.npos;
           at = body.find("include", at + 1)) {
        const std::string_view before =
            body.substr(at < 8 ? 0 : at - 8, std::min<std::size_t>(at, 8));
        if (before.find('#') != before.npos) return true;
      }
      for (const std::string_view word : {"INCLUDE_RE", "INCLUDE_PATTERN", "include_re"}) {
        if (body.find(word) != body.npos) return true;
      }
      for (const SyntaxIndex call : calls_[one]) waiting.push_back(flow_.function_of(call));
    }
    return false;
  }

  // The text or the bytes as they are, of any length.
  bool is_bare(SyntaxIndex given) const {
    given = syntax_.unwrapped(given);
    if (syntax_.is(given, SyntaxKind::identifier)) return true;
    if (!syntax_.is(given, SyntaxKind::call)) return false;
    const SyntaxIndex function = syntax_.child(given, SyntaxField::function);
    if (!syntax_.is(function, SyntaxKind::attribute)) return false;
    const SyntaxIndex object = syntax_.child(function, SyntaxField::object);
    return flow_.called(given) == "encode" && syntax_.is(object, SyntaxKind::identifier);
  }

  // A parameter that is nobody's digest and no number.
  bool is_any_text(SyntaxIndex given) {
    if (!is_bare(given)) return false;
    const FlowTrace trace = flow_.of(given, nullptr);
    return trace.roots.size() == 1 && trace.roots.front().kind == FlowRoot::Kind::parameter;
  }

  void find_unseparated(SyntaxIndex digest, PythonCache& cache) {
    const SyntaxIndex name = name_of(digest);
    if (name == no_syntax) return;
    SyntaxIndex last = no_syntax;
    bool marked = false;
    for (const SyntaxIndex given : flow_.handed_to(name)) {
      // `digest.update(x)` as a statement.
      const SyntaxIndex statement = syntax_[syntax_[syntax_[given].parent].parent].parent;
      if (!syntax_.is(statement, SyntaxKind::expression_statement)) return;
      const bool follows = last != no_syntax && syntax_[last].next == statement &&
                           syntax_[last].parent == syntax_[statement].parent;
      if (!is_any_text(given)) {
        marked = marked || (last != no_syntax && syntax_.is(given, SyntaxKind::string));
        last = no_syntax;
        continue;
      }
      if (follows) {
        cache.unseparated = place_of(given);
        return;
      }
      last = statement;
    }
    if (marked) cache.separated = place_of(digest);
  }

  void read_build(SyntaxIndex function, const FlowTrace& command, const FlowRoot& digest,
                  PythonCache& cache) {
    FlowTrace build = command;
    for (const SyntaxIndex call : calls_[function]) {
      const std::string_view name = flow_.called(call);
      if (name != "write_text" && name != "write_bytes" && name != "write") continue;
      const SyntaxIndex called = syntax_.child(call, SyntaxField::function);
      if (!syntax_.is(called, SyntaxKind::attribute)) continue;
      const FlowTrace into = flow_.of(syntax_.child(called, SyntaxField::object), nullptr);
      const FlowRoot* same = digest_of(into);
      if (same == nullptr || same->node != digest.node) continue;
      for (const SyntaxIndex given : flow_.arguments(call)) {
        build.take(flow_.of(given, nullptr), true);
        build.take(flow_.of(given, nullptr), false);
      }
    }
    if (!cache.parts_known || build.limited) return;
    cache.reads_known = true;
    const bool open_call =
        std::any_of(cache.parts.begin(), cache.parts.end(),
                    [](const PythonKeyPart& part) { return part.input.empty(); });
    for (const FlowRoot& root : build.roots) {
      const bool asked = root.kind == FlowRoot::Kind::call && input_word(root) == "architecture";
      const bool handed =
          root.kind == FlowRoot::Kind::parameter || root.kind == FlowRoot::Kind::attribute ||
          root.kind == FlowRoot::Kind::environment || root.kind == FlowRoot::Kind::global;
      if (!handed && !asked) continue;
      if ((asked || root.kind == FlowRoot::Kind::environment) && open_call) continue;
      if (leaves_build_alone(root) || is_made_of_parts(root, cache)) continue;
      cache.reads.push_back({plain_name(root.name), std::string(input_word(root)),
                             form_word(root.form), place_of(root.node)});
    }
  }

  // `self.options = flags`, where the key has `flags`.
  bool is_made_of_parts(const FlowRoot& root, const PythonCache& cache) {
    const std::vector<std::string> names = flow_.made_of(root);
    return !names.empty() &&
           std::all_of(names.begin(), names.end(), [&cache](const std::string& name) {
             return has_part(cache, plain_name(name));
           });
  }

  static bool has_part(const PythonCache& cache, std::string_view name) {
    return std::any_of(cache.parts.begin(), cache.parts.end(),
                       [name](const PythonKeyPart& part) { return part.name == name; });
  }

  std::optional<CacheComment> comment_above(SyntaxIndex function) const {
    const SyntaxIndex above = syntax_[function].parent;
    const bool decorated = syntax_.is(above, SyntaxKind::decorated_definition);
    return cache_comment_above(text_, syntax_[decorated ? above : function].begin);
  }

  void designate(SyntaxIndex function) {
    const std::optional<CacheComment> said = comment_above(function);
    if (!said || found_.size() >= max_caches) return;
    auto at = std::find(makers_.begin(), makers_.end(), function);
    if (at == makers_.end()) {
      PythonCache cache;
      set_name(function, cache);
      read_returned(function, cache);
      makers_.push_back(function);
      found_.push_back(std::move(cache));
      at = std::prev(makers_.end());
    }
    PythonCache& cache = found_[static_cast<std::size_t>(at - makers_.begin())];
    if (!said->name.empty()) cache.name = said->name;
    if (!said->kind.empty()) cache.kind = said->kind;
    cache.backs = said->backs;
    cache.required = said->required;
    cache.unknown_words = said->unknown_words;
    std::erase_if(cache.reads, [&said](const PythonKeyPart& part) {
      return std::find(said->except.begin(), said->except.end(), part.name) != said->except.end();
    });
  }

  // The key is what the function gives back: a digest, or the parts themselves.
  void read_returned(SyntaxIndex function, PythonCache& cache) {
    FlowTrace key;
    for (const SyntaxIndex value : flow_.returned_by(function)) {
      key.take(flow_.of(value, nullptr), false);
    }
    if (const FlowRoot* digest = digest_of(key)) {
      const FlowRoot made = *digest;
      read_key(made, {}, cache);
      set_name(function, cache);
      return;
    }
    cache.parts_known = !key.limited && !key.roots.empty();
    add_parts(key, cache);
    judge_inputs(cache);
  }

  static void judge_inputs(PythonCache& cache) {
    cache.inputs_known = cache.parts_known && !cache.parts.empty() &&
                         std::all_of(cache.parts.begin(), cache.parts.end(),
                                     [](const PythonKeyPart& part) { return !part.input.empty(); });
  }

  std::string_view text_;
  PythonSyntax syntax_;
  PythonScopes scopes_;
  ValueFlow flow_;
  std::vector<SyntaxIndex> functions_;
  std::map<SyntaxIndex, std::vector<SyntaxIndex>> calls_;
  std::map<std::pair<SyntaxIndex, std::uint32_t>, bool> starters_;
  // Digests, and functions that go by times.
  std::set<SyntaxIndex> told_;
  std::vector<PythonCache> found_;
  // The function that makes the key of each.
  std::vector<SyntaxIndex> makers_;
};

}  // namespace

bool may_hold_caches(std::string_view text) {
  const auto has = [text](std::string_view word) { return text.find(word) != text.npos; };
  if (has(cache_key_mark)) return true;
  const bool judges = has("hashlib") || has("xxhash") || has("zlib") || has("mtime");
  return judges && (has("subprocess") || has("os.system") || has("cpp_extension"));
}

std::vector<PythonCache> find_python_caches(std::string_view text) {
  return CacheKeyReader(text).run();
}

}  // namespace opseal
