// Calls: those of which it is known what of a thing goes on, and those of the file.

#include <algorithm>

#include "analyzers/python/value_flow.h"

namespace opseal {
namespace {

// A dotted name within dotted names.
constexpr std::size_t max_dots = 64;

}  // namespace

// A module, or what one has.
bool ValueFlow::is_import(SyntaxIndex object) const {
  for (std::size_t up = 0; up < max_dots && syntax_.is(object, SyntaxKind::attribute); ++up) {
    object = syntax_.child(object, SyntaxField::object);
  }
  if (!syntax_.is(object, SyntaxKind::identifier)) return false;
  const PythonBinding* bound = scopes_.only(syntax_.text_of(object), object);
  return bound != nullptr && bound->kind == PythonBinding::Kind::import;
}

bool ValueFlow::walk_environment(SyntaxIndex node, SyntaxIndex named, const FlowFrame* frame,
                                 Walk& into) {
  if (!syntax_.is(named, SyntaxKind::string)) return false;
  std::string name;
  for (const SyntaxIndex part : syntax_.children(named)) {
    if (syntax_.is(part, SyntaxKind::string_content)) name += syntax_.text_of(part);
  }
  add(FlowRoot::Kind::environment, name, node, frame, FlowForm::value, into);
  return true;
}

bool ValueFlow::hashes_text(SyntaxIndex call) const {
  const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
  if (!syntax_.is(function, SyntaxKind::identifier) || syntax_.text_of(function) != "hash") {
    return false;
  }
  if (!scopes_.find("hash", function).empty()) return false;
  for (SyntaxIndex at = call + 1; at < syntax_[call].next; ++at) {
    if (syntax_.is(at, SyntaxKind::string)) return true;
    if (!syntax_.is(at, SyntaxKind::call)) {
      // What is called a source is a text.
      if (!syntax_.is(at, SyntaxKind::identifier)) continue;
      for (const std::string_view text : {"source", "src", "code", "flags", "options"}) {
        if (syntax_.text_of(at).ends_with(text)) return true;
      }
      continue;
    }
    for (const std::string_view text :
         {"str", "repr", "read", "read_text", "join", "getsource", "format", "dumps"}) {
      if (called(at) == text) return true;
    }
  }
  return false;
}

// Calls that say what of a thing goes on. True where nothing more is to be done.
bool ValueFlow::walk_known_call(SyntaxIndex call, const FlowFrame* frame, FlowForm form,
                                std::size_t depth, Walk& into) {
  const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
  const std::string_view name = called(call);
  const std::vector<SyntaxIndex> given = arguments(call);
  if (is_named(function, "hashlib.") || is_named(function, "xxhash.") ||
      is_named(function, "zlib.crc32") || is_named(function, "zlib.adler32")) {
    add(FlowRoot::Kind::digest, syntax_.text_of(function), call, frame, FlowForm::value, into);
    return true;
  }
  if (hashes_text(call)) {
    add(FlowRoot::Kind::digest, "hash", call, frame, FlowForm::value, into);
    return true;
  }
  if (is_named(function, "os.getenv") || is_named(function, "os.environ.get")) {
    if (given.empty()) return false;
    for (std::size_t at = 1; at < given.size(); ++at) walk(given[at], frame, form, depth + 1, into);
    return walk_environment(call, given.front(), frame, into);
  }
  if (is_named(function, "shutil.which") && given.size() == 1) {
    const std::string_view program = syntax_.text_of(given.front());
    if (syntax_.is(given.front(), SyntaxKind::string)) {
      into.trace.words.insert(program);
      add(FlowRoot::Kind::call, program, call, frame, form, into);
      return true;
    }
  }
  if (name == "get_device_capability" || name == "get_device_properties" ||
      name == "get_arch_list" || name == "compute_capability") {
    add(FlowRoot::Kind::call, name, call, frame, form, into);
    return true;
  }
  if (is_named(function, "subprocess.")) {
    FlowTrace part;
    Walk within{part, into.seen};
    for (const SyntaxIndex one : given) walk(one, frame, form, depth + 1, within);
    const bool version =
        std::any_of(part.words.begin(), part.words.end(), [](std::string_view word) {
          return word.find("-version") != word.npos || word == "-V" || word == "-dumpversion";
        });
    if (version) {
      add(FlowRoot::Kind::compiler_version, "compiler version", call, frame, form, into);
    } else {
      into.trace.take(part, false);
    }
    return true;
  }
  const bool plain = syntax_.is(function, SyntaxKind::identifier);
  // `config.get("block", 128)`, `getattr(config, "block")`
  const bool gets = !plain && name == "get" && !given.empty();
  const bool attribute = plain && name == "getattr" && given.size() >= 2;
  if (gets || attribute) {
    const SyntaxIndex object = gets ? syntax_.child(function, SyntaxField::object) : given.front();
    const std::string_view field = written_text(given[gets ? 0 : 1]);
    if (fields_told_ && object != no_syntax && !field.empty()) {
      Walk made{into.trace, into.seen, false};
      for (std::size_t at = gets ? 1 : 2; at < given.size(); ++at) {
        walk(given[at], frame, form, depth + 1, made);
      }
      into.trace.words.insert(field);
      walk_field(object, field, frame, form, depth, into);
      return true;
    }
  }
  // Everything that there is, whatever its names.
  const bool everything = (plain && (name == "locals" || name == "vars")) ||
                          name == "getargvalues" || name == "bind" || name == "bind_partial";
  if (everything) {
    into.trace.limited = true;
    return true;
  }
  FlowForm kept = form;
  if (plain && name == "id") kept = FlowForm::identity;
  if (name == "getmtime") kept = FlowForm::mtime;
  if (name == "read_bytes" || name == "read_text" || (plain && name == "open")) {
    kept = FlowForm::content;
  }
  if (kept == form) return false;
  const std::size_t before = into.trace.roots.size();
  for (const SyntaxIndex one : given) walk(one, frame, kept, depth + 1, into);
  if (syntax_.is(function, SyntaxKind::attribute) && name != "getmtime") {
    walk(syntax_.child(function, SyntaxField::object), frame, kept, depth + 1, into);
  }
  // A file of the project's own.
  if (kept == FlowForm::content && into.trace.roots.size() == before) {
    add(FlowRoot::Kind::call, syntax_.text_of(call), call, frame, kept, into);
  }
  return true;
}

void ValueFlow::walk_call(SyntaxIndex call, const FlowFrame* frame, FlowForm form,
                          std::size_t depth, Walk& into) {
  if (walk_known_call(call, frame, form, depth, into)) return;
  const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
  if (function == no_syntax) return;
  into.trace.words.insert(called(call));
  const SyntaxIndex entered = function_of(call);
  const auto returned = returns_.find(entered);
  if (entered != no_syntax && returned != returns_.end()) {
    const FlowFrame* inner = enter(entered, call, frame);
    if (inner == nullptr) {
      // A function that calls itself: its other ways say what it makes.
      for (const SyntaxIndex one : arguments(call)) walk_part(one, frame, form, depth, into);
      return;
    }
    for (const SyntaxIndex value : returned->second) walk(value, inner, form, depth + 1, into);
    return;
  }
  const std::size_t before = into.trace.roots.size();
  Walk made{into.trace, into.seen, false};
  for (const SyntaxIndex one : arguments(call)) walk(one, frame, form, depth + 1, made);
  if (syntax_.is(function, SyntaxKind::attribute)) {
    const SyntaxIndex object = syntax_.child(function, SyntaxField::object);
    const std::vector<std::string> names = scopes_.full_names(function);
    const bool module =
        (!names.empty() && names.front() != syntax_.text_of(function)) || is_import(object);
    if (!module) walk(object, frame, form, depth + 1, made);
    if (module && into.trace.roots.size() == before && arguments(call).empty()) {
      add(FlowRoot::Kind::call, syntax_.text_of(function), call, frame, form, into);
    }
    return;
  }
  const PythonBinding* bound = scopes_.only(syntax_.text_of(function), function);
  const bool foreign = bound != nullptr && bound->kind == PythonBinding::Kind::import;
  if (foreign && into.trace.roots.size() == before && arguments(call).empty()) {
    add(FlowRoot::Kind::call, syntax_.text_of(function), call, frame, form, into);
  }
}

}  // namespace opseal
