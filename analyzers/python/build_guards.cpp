#include "analyzers/python/build_guards.h"

#include <algorithm>

#include "opseal/text.h"

namespace opseal {
namespace {

// What a library of code is called at its end.
bool ends_as_library(std::string_view word) {
  for (const std::string_view end : {".so", ".pyd", ".dll", ".dylib", ".cubin", ".ptx", ".hsaco"}) {
    if (word.ends_with(end)) return true;
  }
  return word == "EXT_SUFFIX" || word == "SHLIB_SUFFIX";
}

// Somebody decides by more than presence, or lets the user decide.
bool asks_more(std::string_view text) {
  for (const std::string_view word :
       {"mtime", "version", "force", "rebuild", "recompile", "clean", "stamp", "checksum", "hash",
        "digest", "md5", "sha1", "sha2", "overwrite", "newer", "stale", "date"}) {
    if (text.find(word) != text.npos) return true;
  }
  return false;
}

}  // namespace

std::optional<FlowRoot> BuildGuards::guard_of(SyntaxIndex function, const FlowTrace& command,
                                              FlowTrace& path) {
  if (const FlowRoot* named = command.digest()) {
    for (const FlowRoot& root : command.roots) {
      if (root.kind == FlowRoot::Kind::digest) path.roots.push_back(root);
    }
    path.beside = command.beside;
    if (is_asked_for(function, nullptr, *named)) return *named;
    for (const SyntaxIndex call : code_.calls_in(function)) {
      const SyntaxIndex helper = code_.flow.function_of(call);
      if (helper == no_syntax || !asks(helper)) continue;
      const FlowFrame* frame = code_.flow.enter(helper, call, nullptr);
      if (frame != nullptr && is_asked_for(helper, frame, *named)) return *named;
    }
    for (const SyntaxIndex other : code_.functions) {
      if (other != function && asks(other) && is_asked_for(other, nullptr, *named)) return *named;
    }
    return {};
  }
  for (const SyntaxIndex call : code_.calls_in(function)) {
    if (!is_question(call)) continue;
    const FlowTrace asked = code_.flow.of(call, nullptr);
    if (const FlowRoot* digest = asked.digest()) {
      path.take(asked, true);
      return *digest;
    }
  }
  return {};
}

bool BuildGuards::is_question(SyntaxIndex call) const {
  const std::string_view name = code_.flow.called(call);
  return name == "exists" || name == "isfile" || name == "is_file" || name == "isdir" ||
         name == "is_dir";
}

bool BuildGuards::asks(SyntaxIndex function) const {
  const std::vector<SyntaxIndex>& calls = code_.calls_in(function);
  return std::any_of(calls.begin(), calls.end(),
                     [this](SyntaxIndex call) { return is_question(call); });
}

bool BuildGuards::is_asked_for(SyntaxIndex function, const FlowFrame* frame,
                               const FlowRoot& digest) {
  for (const SyntaxIndex call : code_.calls_in(function)) {
    if (!is_question(call)) continue;
    const FlowTrace asked = code_.flow.of(call, frame);
    const bool same =
        std::any_of(asked.roots.begin(), asked.roots.end(), [&digest](const FlowRoot& root) {
          return root.kind == FlowRoot::Kind::digest && root.node == digest.node;
        });
    if (same) return true;
  }
  return false;
}

std::optional<PythonPlace> BuildGuards::times_in(SyntaxIndex function) const {
  if (const auto own = own_times(function)) return own;
  // `if is_stale(library, sources):`
  for (const SyntaxIndex call : code_.calls_in(function)) {
    const SyntaxIndex helper = code_.flow.function_of(call);
    if (helper == no_syntax || !decides(call)) continue;
    if (const auto times = own_times(helper)) return times;
  }
  return {};
}

// Whether what a call gives back is asked for by an `if`, as it is or by a name.
bool BuildGuards::decides(SyntaxIndex call) const {
  constexpr int most_steps = 8;
  SyntaxIndex at = call;
  for (int steps = 0; steps < most_steps && at != no_syntax; ++steps) {
    const SyntaxNode& node = code_.syntax[at];
    if (node.field == SyntaxField::condition) return true;
    if (code_.syntax.is(node.parent, SyntaxKind::block) ||
        code_.syntax.is(node.parent, SyntaxKind::argument_list)) {
      return false;
    }
    if (code_.syntax.is(node.parent, SyntaxKind::assignment)) return true;
    at = node.parent;
  }
  return false;
}

std::optional<PythonPlace> BuildGuards::own_times(SyntaxIndex function) const {
  std::vector<SyntaxIndex> times;
  for (const SyntaxIndex call : code_.calls_in(function)) {
    if (code_.flow.called(call) == "getmtime") times.push_back(call);
  }
  for (SyntaxIndex at = function; at < code_.syntax[function].next; ++at) {
    if (!code_.syntax.is(at, SyntaxKind::attribute)) continue;
    if (code_.syntax.text_of(at).ends_with(".st_mtime")) times.push_back(at);
  }
  if (times.size() < 2) return {};
  return code_.place_of(times.front());
}

std::optional<PythonPlace> BuildGuards::presence_in(SyntaxIndex function, SyntaxIndex build,
                                                    const FlowFrame* frame,
                                                    const FlowTrace* command) {
  // The call of this function's own behind which the build is.
  for (; frame != nullptr; frame = frame->caller) build = frame->call;
  if (asks_more(lower(code_.syntax.text_of(function)))) return {};
  for (const SyntaxIndex call : code_.calls_in(function)) {
    if (!is_question(call) || call > build || !leaves_out(call, build)) continue;
    const FlowTrace asked = code_.flow.of(call, nullptr);
    const bool varies =
        asked.limited || !asked.beside.empty() ||
        std::any_of(asked.roots.begin(), asked.roots.end(), [](const FlowRoot& root) {
          return root.kind != FlowRoot::Kind::constant && root.kind != FlowRoot::Kind::imported;
        });
    if (varies) continue;
    bool library = false;
    bool same = command == nullptr;
    bool more = false;
    for (const std::string_view word : asked.words) {
      more = more || asks_more(lower(word));
      if (!ends_as_library(word)) continue;
      library = true;
      same = same || command->words.contains(word);
    }
    if (library && same && !more) return code_.place_of(call);
  }
  return {};
}

// Whether the build is within the `if` that asks, or behind one that returns.
bool BuildGuards::leaves_out(SyntaxIndex question, SyntaxIndex build) const {
  constexpr int most_steps = 8;
  SyntaxIndex at = question;
  for (int steps = 0; steps < most_steps && at != no_syntax; ++steps) {
    if (code_.syntax.is(at, SyntaxKind::if_statement)) break;
    at = code_.syntax[at].parent;
  }
  if (!code_.syntax.is(at, SyntaxKind::if_statement)) return false;
  const SyntaxIndex condition = code_.syntax.child(at, SyntaxField::condition);
  if (condition == no_syntax || question < condition || question >= code_.syntax[condition].next) {
    return false;
  }
  if (build < code_.syntax[at].next) return true;
  const SyntaxIndex block = code_.syntax.child(at, SyntaxField::consequence);
  if (block == no_syntax) return false;
  const std::vector<SyntaxIndex> all = code_.syntax.children(block);
  return !all.empty() && code_.syntax.is(all.back(), SyntaxKind::return_statement);
}

}  // namespace opseal
