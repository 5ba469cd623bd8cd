#include "analyzers/python/key_parts.h"

#include <algorithm>
#include <set>

#include "analyzers/python/key_words.h"

namespace opseal {
namespace {

// Digests that go into digests.
constexpr std::size_t max_digests = 8;
// Functions that make one key together.
constexpr std::size_t max_functions = 64;
// A longer text is a source, not a pattern.
constexpr std::size_t max_pattern = 400;

void judge_inputs(PythonCache& cache) {
  cache.inputs_known = cache.parts_known && !cache.parts.empty() &&
                       std::all_of(cache.parts.begin(), cache.parts.end(),
                                   [](const PythonKeyPart& part) { return !part.input.empty(); });
}

// `#include`, or `#\s*include` of a pattern; a comment that includes something is none.
bool names_includes(std::string_view text) {
  constexpr std::size_t most_between = 8;
  for (std::size_t at = text.find("include"); at != text.npos; at = text.find("include", at + 1)) {
    const std::string_view before = text.substr(at < most_between ? 0 : at - most_between,
                                                std::min<std::size_t>(at, most_between));
    const std::size_t mark = before.rfind('#');
    if (mark == before.npos) continue;
    if (before.find_first_not_of(" \\s*+?t[](:", mark + 1) == before.npos) return true;
  }
  return false;
}

}  // namespace

std::string_view form_word(FlowForm form) {
  switch (form) {
    case FlowForm::content:
      return "content";
    case FlowForm::mtime:
      return "mtime";
    case FlowForm::identity:
      return "identity";
    case FlowForm::major:
      return "major";
    case FlowForm::value:
      break;
  }
  return "value";
}

bool has_part(const PythonCache& cache, std::string_view name) {
  return std::any_of(cache.parts.begin(), cache.parts.end(),
                     [name](const PythonKeyPart& part) { return part.name == name; });
}

void set_name(const PythonCode& code, SyntaxIndex function, PythonCache& cache) {
  const SyntaxIndex name =
      function == no_syntax ? no_syntax : code.syntax.child(function, SyntaxField::name);
  if (name == no_syntax) {
    cache.name = "module";
    return;
  }
  cache.name = code.syntax.text_of(name);
  cache.place = code.place_of(name);
}

void KeyParts::read_key(const FlowRoot& digest, const FlowTrace& path, PythonCache& cache) {
  set_name(code_, code_.function_of(digest.node), cache);
  if (cache.place.length == 0) cache.place = code_.place_of(digest.node);
  cache.hash = digest.name.substr(digest.name.rfind('.') + 1);
  cache.hash_place = code_.place_of(digest.node);
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
        {plain_name(root.name), std::string(input_word(root)), "name", code_.place_of(root.node)});
  }
  if (follows_includes(code_.function_of(digest.node))) {
    cache.parts.push_back({"#include", "headers", "content", cache.hash_place});
  }
  find_unseparated(digest.node, cache);
  judge_inputs(cache);
}

void KeyParts::add_parts(const FlowTrace& key, PythonCache& cache) const {
  for (const FlowRoot& root : key.roots) {
    if (root.kind == FlowRoot::Kind::digest) continue;
    const bool open = input_word(root).empty() && root.kind != FlowRoot::Kind::constant &&
                      !leaves_build_alone(root);
    cache.parts.push_back({plain_name(root.name.empty() ? "environ" : root.name),
                           std::string(input_word(root)), form_word(root.form),
                           code_.place_of(root.node), open});
  }
}

// What goes into one digest: what it is made with, and what it is handed later.
FlowTrace KeyParts::parts_of(const FlowRoot& digest) {
  FlowTrace parts;
  for (const SyntaxIndex given : code_.flow.arguments(digest.node)) {
    if (code_.syntax.is(given, SyntaxKind::keyword_argument)) continue;
    parts.take(code_.flow.of(given, digest.frame), false);
  }
  const SyntaxIndex name = name_of(digest.node);
  if (name != no_syntax) {
    for (const SyntaxIndex given : code_.flow.handed_to(name)) {
      parts.take(code_.flow.of(given, digest.frame), false);
    }
    if (is_passed_on(name)) parts.limited = true;
  }
  // In a text that is digested, what stands beside another digest counts as that does.
  for (FlowRoot& root : parts.beside) parts.roots.push_back(std::move(root));
  parts.beside.clear();
  return parts;
}

// `digest` of `digest = hashlib.sha256()`.
SyntaxIndex KeyParts::name_of(SyntaxIndex made) const {
  const SyntaxIndex above = code_.syntax[made].parent;
  if (!code_.syntax.is(above, SyntaxKind::assignment)) return no_syntax;
  const SyntaxIndex left = code_.syntax.child(above, SyntaxField::left);
  return code_.syntax.is(left, SyntaxKind::identifier) ? code_.flow.first_binding(left) : no_syntax;
}

// Others may add to it, or it goes by another name.
bool KeyParts::is_passed_on(SyntaxIndex name) const {
  const SyntaxIndex function = code_.function_of(name);
  const SyntaxIndex begin = function == no_syntax ? 0 : function;
  const std::string_view text = code_.syntax.text_of(name);
  for (SyntaxIndex at = begin; at < code_.syntax[begin].next; ++at) {
    if (!code_.syntax.is(at, SyntaxKind::identifier) || code_.syntax.text_of(at) != text) continue;
    const SyntaxNode& node = code_.syntax[at];
    if (code_.syntax.is(node.parent, SyntaxKind::attribute)) continue;
    if (code_.syntax.is(node.parent, SyntaxKind::assignment) && node.field == SyntaxField::left) {
      continue;
    }
    return true;
  }
  return false;
}

// Whether the function uses a pattern of the module that finds includes.
bool KeyParts::uses_include_pattern(SyntaxIndex function) const {
  std::set<std::string_view> done;
  for (SyntaxIndex at = function; at < code_.syntax[function].next; ++at) {
    if (!code_.syntax.is(at, SyntaxKind::identifier)) continue;
    const std::string_view name = code_.syntax.text_of(at);
    if (!done.insert(name).second) continue;
    const PythonBinding* bound = code_.scopes.only(name, at);
    if (bound == nullptr || bound->kind != PythonBinding::Kind::value) continue;
    if (bound->value == no_syntax || code_.function_of(bound->name) != no_syntax) continue;
    const std::string_view value = code_.syntax.text_of(bound->value);
    if (value.size() <= max_pattern && names_includes(value)) return true;
  }
  return false;
}

// A function of the file by its name alone: a method of whatever object.
SyntaxIndex KeyParts::named_as(std::string_view name) {
  if (by_name_.empty()) {
    for (const SyntaxIndex function : code_.functions) {
      const SyntaxIndex named = code_.syntax.child(function, SyntaxField::name);
      if (named != no_syntax) by_name_.try_emplace(code_.syntax.text_of(named), function);
    }
  }
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? no_syntax : found->second;
}

// Whether the function, or one that it calls, goes through the includes of a source.
bool KeyParts::follows_includes(SyntaxIndex function) {
  std::vector<SyntaxIndex> waiting = {function};
  std::set<SyntaxIndex> done;
  while (!waiting.empty() && done.size() < max_functions) {
    const SyntaxIndex one = waiting.back();
    waiting.pop_back();
    if (one == no_syntax || !done.insert(one).second) continue;
    const std::string_view body = code_.syntax.text_of(one);
    if (names_includes(body) || uses_include_pattern(one)) return true;
    for (const std::string_view word : {"INCLUDE_RE", "INCLUDE_PATTERN", "include_re"}) {
      if (body.find(word) != body.npos) return true;
    }
    for (const SyntaxIndex call : code_.calls_in(one)) {
      const SyntaxIndex entered = code_.flow.function_of(call);
      waiting.push_back(entered != no_syntax ? entered : named_as(code_.flow.called(call)));
    }
  }
  return false;
}

// The text or the bytes as they are, of any length.
bool KeyParts::is_bare(SyntaxIndex given) const {
  given = code_.syntax.unwrapped(given);
  if (code_.syntax.is(given, SyntaxKind::identifier)) return true;
  if (!code_.syntax.is(given, SyntaxKind::call)) return false;
  const SyntaxIndex function = code_.syntax.child(given, SyntaxField::function);
  if (!code_.syntax.is(function, SyntaxKind::attribute)) return false;
  const SyntaxIndex object = code_.syntax.child(function, SyntaxField::object);
  return code_.flow.called(given) == "encode" && code_.syntax.is(object, SyntaxKind::identifier);
}

// A parameter that is nobody's digest and no number.
bool KeyParts::is_any_text(SyntaxIndex given) {
  if (!is_bare(given)) return false;
  const FlowTrace trace = code_.flow.of(given, nullptr);
  return trace.roots.size() == 1 && trace.roots.front().kind == FlowRoot::Kind::parameter;
}

void KeyParts::find_unseparated(SyntaxIndex digest, PythonCache& cache) {
  const SyntaxIndex name = name_of(digest);
  if (name == no_syntax) return;
  SyntaxIndex last = no_syntax;
  bool marked = false;
  for (const SyntaxIndex given : code_.flow.handed_to(name)) {
    // `digest.update(x)` as a statement.
    const SyntaxIndex statement =
        code_.syntax[code_.syntax[code_.syntax[given].parent].parent].parent;
    if (!code_.syntax.is(statement, SyntaxKind::expression_statement)) return;
    const bool follows = last != no_syntax && code_.syntax[last].next == statement &&
                         code_.syntax[last].parent == code_.syntax[statement].parent;
    if (!is_any_text(given)) {
      marked = marked || (last != no_syntax && code_.syntax.is(given, SyntaxKind::string));
      last = no_syntax;
      continue;
    }
    if (follows) {
      cache.unseparated = code_.place_of(given);
      return;
    }
    last = statement;
  }
  if (marked) cache.separated = code_.place_of(digest);
}

void KeyParts::read_returned(SyntaxIndex function, PythonCache& cache) {
  FlowTrace key;
  for (const SyntaxIndex value : code_.flow.returned_by(function)) {
    key.take(code_.flow.of(value, nullptr), false);
  }
  if (const FlowRoot* digest = key.digest()) {
    const FlowRoot made = *digest;
    read_key(made, {}, cache);
    set_name(code_, function, cache);
    return;
  }
  cache.parts_known = !key.limited && !key.roots.empty();
  add_parts(key, cache);
  judge_inputs(cache);
}

}  // namespace opseal
