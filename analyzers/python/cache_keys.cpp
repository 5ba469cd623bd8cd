#include "analyzers/python/cache_keys.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "analyzers/python/argument_keys.h"
#include "analyzers/python/build_guards.h"
#include "analyzers/python/build_starts.h"
#include "analyzers/python/cache_comment.h"
#include "analyzers/python/key_parts.h"
#include "analyzers/python/key_words.h"
#include "analyzers/python/memo_caches.h"
#include "analyzers/python/python_code.h"
#include "analyzers/source/needles.h"

namespace opseal {
namespace {

// One file holds some few.
constexpr std::size_t max_caches = 64;

class CacheKeyReader {
 public:
  explicit CacheKeyReader(PythonCode& code)
      : code_(code), starts_(code), guards_(code), parts_(code) {}

  std::vector<PythonCache> run() {
    for (std::uint32_t depth = 0; depth <= BuildStarts::max_helpers; ++depth) {
      for (const SyntaxIndex function : code_.functions) {
        for (const Started& build : starts_.of(function, depth)) look_at(function, build);
      }
    }
    for (const SyntaxIndex function : code_.functions) look_at_entries(function);
    for (const SyntaxIndex function : code_.functions) designate(function);
    return std::move(found_);
  }

 private:
  void look_at(SyntaxIndex function, const Started& start) {
    const std::vector<SyntaxIndex> given = code_.flow.arguments(start.call);
    if (given.empty() || found_.size() >= max_caches) return;
    const Build loader = starts_.loader(start.call);
    const bool in_process = compiles_in_process(code_.flow.called(start.call));
    FlowTrace command = code_.flow.of_command(given.front(), start.frame);
    for (std::size_t at = 1; (loader != Build::none || in_process) && at < given.size(); ++at) {
      FlowTrace one = code_.flow.of(given[at], start.frame);
      command.take(one, one.has_digest());
    }
    const Build build = loader != Build::none ? loader
                        : in_process          ? Build::compiler
                                              : build_by(command.words);
    if (build == Build::none) return;
    if (loader != Build::none && look_at_folder(function, start, loader)) return;
    if (build == Build::folder) return;
    FlowTrace path;
    const std::optional<FlowRoot> digest = guards_.guard_of(function, command, path);
    // One that is made once and for all tells processes apart, not builds.
    if (!digest || code_.function_of(digest->node) == no_syntax) {
      if (build == Build::compiler && look_at_times(function)) return;
      look_at_presence(function, start, command, loader != Build::none);
      return;
    }
    if (!told_.insert(digest->node).second) return;
    PythonCache cache;
    parts_.read_key(*digest, path, cache);
    if (build == Build::compiler) {
      read_build(function, command, *digest, cache);
    } else {
      cache.inputs_known = false;
    }
    makers_.push_back(code_.function_of(digest->node));
    found_.push_back(std::move(cache));
  }

  // A loader in a folder that is named after a digest: what the digest doesn't know shares the
  // folder, whatever the loader judges. True where it is one.
  bool look_at_folder(SyntaxIndex function, const Started& start, Build loader) {
    const SyntaxIndex folder = build_folder_of(code_, start.call);
    if (folder == no_syntax) return false;
    const FlowTrace named = code_.flow.of(folder, start.frame);
    const FlowRoot* digest = named.digest();
    if (digest == nullptr || code_.function_of(digest->node) == no_syntax) return false;
    // `build_directory or f"{name}_{digest}"`: all of it tells folders apart.
    FlowTrace path;
    path.beside = named.beside;
    for (const FlowRoot& root : named.roots) {
      (root.kind == FlowRoot::Kind::digest ? path.roots : path.beside).push_back(root);
    }
    PythonCache cache;
    parts_.read_key(*digest, path, cache);
    // PyTorch's loader tells two builds of one folder apart by itself; a key that goes through the
    // includes of its sources is meant to do without that.
    const bool by_itself = has_part(cache, "#include");
    if (loader == Build::judged && !by_itself) return false;
    if (!told_.insert(digest->node).second) return true;
    // What the loader judges is no fault of the key.
    cache.inputs_known = false;
    read_build(function, handed_beside_name(start), *digest, cache);
    if (by_itself && cache.reads_known) add_toolchain(start.call, cache);
    makers_.push_back(code_.function_of(digest->node));
    found_.push_back(std::move(cache));
    return true;
  }

  // Two names in one folder are two libraries.
  FlowTrace handed_beside_name(const Started& start) {
    FlowTrace handed;
    bool first = true;
    for (const SyntaxIndex given : code_.flow.arguments(start.call)) {
      const bool keyword = code_.syntax.is(given, SyntaxKind::keyword_argument);
      const SyntaxIndex name = keyword ? code_.syntax.child(given, SyntaxField::name) : no_syntax;
      const bool names =
          keyword ? name != no_syntax && code_.syntax.text_of(name) == "name" : first;
      first = false;
      if (names) continue;
      const FlowTrace one = code_.flow.of(given, start.frame);
      handed.take(one, one.has_digest());
    }
    return handed;
  }

  // What a loader puts into each build without being told.
  void add_toolchain(SyntaxIndex call, PythonCache& cache) const {
    struct Given {
      std::string_view name;
      std::string_view input;
      // Any of these in a key stands for it.
      std::string_view served_by[3];
    };
    constexpr Given all[] = {
        {"architecture of the device", "architecture", {"architecture"}},
        {"compiler version", "compiler_version", {"compiler_version", "compiler"}},
        {"headers of the toolchain",
         "headers",
         {"compiler_version", "framework_version", "package_version"}},
    };
    for (const Given& given : all) {
      const bool known =
          std::any_of(cache.parts.begin(), cache.parts.end(), [&given](const PythonKeyPart& part) {
            return !part.input.empty() &&
                   std::find(std::begin(given.served_by), std::end(given.served_by), part.input) !=
                       std::end(given.served_by);
          });
      const bool told =
          std::any_of(cache.reads.begin(), cache.reads.end(),
                      [&given](const PythonKeyPart& read) { return read.input == given.input; });
      if (known || told) continue;
      cache.reads.push_back(
          {std::string(given.name), std::string(given.input), "value", code_.place_of(call)});
    }
  }

  // Files named after a digest that keep what some compiler of the project makes: what its builds
  // read isn't followed.
  void look_at_entries(SyntaxIndex function) {
    const std::vector<SyntaxIndex>& calls = code_.calls_in(function);
    const bool compiles = std::any_of(calls.begin(), calls.end(), [this](SyntaxIndex call) {
      const std::string_view name = code_.flow.called(call);
      return name.starts_with("compile_") || name.starts_with("_compile_");
    });
    if (!compiles || found_.size() >= max_caches) return;
    FlowTrace path;
    const std::optional<FlowRoot> digest = guards_.guard_of(function, {}, path);
    if (!digest || code_.function_of(digest->node) == no_syntax) return;
    if (!told_.insert(digest->node).second) return;
    PythonCache cache;
    parts_.read_key(*digest, path, cache);
    cache.inputs_known = false;
    makers_.push_back(code_.function_of(digest->node));
    found_.push_back(std::move(cache));
  }

  // An entry that is held against its sources by time.
  bool look_at_times(SyntaxIndex function) {
    const std::optional<PythonPlace> times = guards_.times_in(function);
    if (!times) return false;
    if (!told_.insert(function).second) return true;
    PythonCache cache;
    set_name(code_, function, cache);
    cache.by_time = times;
    makers_.push_back(function);
    found_.push_back(std::move(cache));
    return true;
  }

  // A library that is taken where it is there, and built where it isn't.
  void look_at_presence(SyntaxIndex function, const Started& start, const FlowTrace& command,
                        bool loads) {
    const std::optional<PythonPlace> asked =
        guards_.presence_in(function, start.call, start.frame, loads ? nullptr : &command);
    if (!asked || !told_.insert(function).second) return;
    PythonCache cache;
    set_name(code_, function, cache);
    cache.by_presence = asked;
    makers_.push_back(function);
    found_.push_back(std::move(cache));
  }

  void read_build(SyntaxIndex function, const FlowTrace& command, const FlowRoot& digest,
                  PythonCache& cache) {
    FlowTrace build = command;
    for (const SyntaxIndex call : code_.calls_in(function)) {
      const std::string_view name = code_.flow.called(call);
      if (name != "write_text" && name != "write_bytes" && name != "write") continue;
      const SyntaxIndex called = code_.syntax.child(call, SyntaxField::function);
      if (!code_.syntax.is(called, SyntaxKind::attribute)) continue;
      const FlowTrace into =
          code_.flow.of(code_.syntax.child(called, SyntaxField::object), nullptr);
      const FlowRoot* same = into.digest();
      if (same == nullptr || same->node != digest.node) continue;
      for (const SyntaxIndex given : code_.flow.arguments(call)) {
        build.take(code_.flow.of(given, nullptr), true);
        build.take(code_.flow.of(given, nullptr), false);
      }
    }
    if (!cache.parts_known || build.limited) return;
    cache.reads_known = true;
    const bool open_call = std::any_of(cache.parts.begin(), cache.parts.end(),
                                       [](const PythonKeyPart& part) { return part.open; });
    for (const FlowRoot& root : build.roots) {
      const bool asked = root.kind == FlowRoot::Kind::call && input_word(root) == "architecture";
      const bool handed =
          root.kind == FlowRoot::Kind::parameter || root.kind == FlowRoot::Kind::attribute ||
          root.kind == FlowRoot::Kind::environment || root.kind == FlowRoot::Kind::global;
      if (!handed && !asked) continue;
      if ((asked || root.kind == FlowRoot::Kind::environment) && open_call) continue;
      if (leaves_build_alone(root) || is_made_of_parts(root, cache)) continue;
      add_read(root, cache);
    }
  }

  // Of one thing that is read twice the most counts.
  void add_read(const FlowRoot& root, PythonCache& cache) const {
    const std::string name = plain_name(root.name);
    const auto same =
        std::find_if(cache.reads.begin(), cache.reads.end(),
                     [&name](const PythonKeyPart& read) { return read.name == name; });
    if (same == cache.reads.end()) {
      cache.reads.push_back(
          {name, std::string(input_word(root)), form_word(root.form), code_.place_of(root.node)});
    } else if (same->form == form_word(FlowForm::major)) {
      same->form = form_word(root.form);
    }
  }

  // `self.options = flags`, where the key has `flags`.
  bool is_made_of_parts(const FlowRoot& root, const PythonCache& cache) {
    const std::vector<std::string> names = code_.flow.made_of(root);
    return !names.empty() &&
           std::all_of(names.begin(), names.end(), [&cache](const std::string& name) {
             return has_part(cache, plain_name(name));
           });
  }

  std::optional<CacheComment> comment_above(SyntaxIndex function) const {
    const SyntaxIndex above = code_.syntax[function].parent;
    const bool decorated = code_.syntax.is(above, SyntaxKind::decorated_definition);
    return cache_comment_above(code_.text, code_.syntax[decorated ? above : function].begin);
  }

  void designate(SyntaxIndex function) {
    const std::optional<CacheComment> said = comment_above(function);
    if (!said || found_.size() >= max_caches) return;
    auto at = std::find(makers_.begin(), makers_.end(), function);
    if (at == makers_.end()) {
      PythonCache cache;
      set_name(code_, function, cache);
      parts_.read_returned(function, cache);
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

  PythonCode& code_;
  BuildStarts starts_;
  BuildGuards guards_;
  KeyParts parts_;
  // Digests, and functions that go by times.
  std::set<SyntaxIndex> told_;
  std::vector<PythonCache> found_;
  // The function that makes the key of each.
  std::vector<SyntaxIndex> makers_;
};

}  // namespace

// Built code that a file itself keeps.
static bool may_hold_builds(std::string_view text) {
  const auto has = [text](std::string_view word) { return text.find(word) != text.npos; };
  if (has(cache_key_mark)) return true;
  static const Needles looking({"not in ", "KeyError", ".get(", " in self.", " in _", "ache:"});
  static const Needles making(
      {".compile(",         "compile_",        "RawKernel",     "RawModule",       "SourceModule",
       "ElementwiseKernel", "ReductionKernel", "load_inline",   "build_kernel",    "build_module",
       "build_program",     "make_kernel",     "create_kernel", "generate_kernel", "jit_kernel",
       "jit_compile",       "create_program",  "tune(",         "tune_",           "search(",
       "search_",           "find_best"});
  static const Needles asking({"exists(", "is_file(", "isfile("});
  static const Needles library({".so", "_SUFFIX", ".cubin", ".hsaco"});
  static const Needles building({"subprocess", "os.system", "cpp_extension"});
  static const Needles judging({"hashlib", "xxhash", "zlib", "mtime", "hash("});
  const bool tunes = has("search") && (has("tuning") || has("uner"));
  if ((tunes || making.occur_in(text)) && looking.occur_in(text)) return true;
  const bool builds = building.occur_in(text);
  const bool asks = asking.occur_in(text);
  if (asks && builds && library.occur_in(text)) return true;
  if (!judging.occur_in(text)) return false;
  return builds || (has("tvm_ffi") && has("build_directory")) || (asks && has("compile_"));
}

bool may_hold_caches(std::string_view text) {
  return may_hold_builds(text) || may_hold_argument_keys(text);
}

std::vector<PythonCache> find_python_caches(const ParsedPython& file) {
  std::vector<PythonCache> caches;
  if (may_hold_builds(file.syntax.text)) {
    PythonCode code(file);
    caches = CacheKeyReader(code).run();
    for (PythonCache& memo : find_memo_caches(code)) caches.push_back(std::move(memo));
  }
  if (may_hold_argument_keys(file.syntax.text)) {
    for (PythonCache& one : find_argument_keys(file)) caches.push_back(std::move(one));
  }
  return caches;
}

}  // namespace opseal
