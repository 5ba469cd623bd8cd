#include "analyzers/sources/key_python.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::size_t max_classes = 256;
// Methods that one comparison is made of.
constexpr std::size_t max_followed = 8;
// Nodes of one method.
constexpr SyntaxIndex max_method = 20'000;

class ClassReader {
 public:
  ClassReader(const PythonSyntax& syntax, SyntaxIndex definition, std::uint32_t file)
      : syntax_(syntax), definition_(definition), file_(file) {}

  void read(KeyCode& code) {
    find_methods();
    const auto equality = methods_.find("__eq__");
    const auto hash = methods_.find("__hash__");
    const auto made = methods_.find("__init__");
    const SyntaxIndex name = syntax_.child(definition_, SyntaxField::name);
    if (equality == methods_.end() || hash == methods_.end() || made == methods_.end()) return;
    // What a base class compares isn't seen.
    if (name == no_syntax || has_bases()) return;
    KeyType type;
    type.name = syntax_.text_of(name);
    type.place = place_of(name);
    for (const auto& [method, at] : methods_) type.methods.insert(std::string(method));
    read_fields(made->second, type);
    code.functions.push_back(function_of(equality->second, "equality", type.name));
    code.functions.push_back(function_of(hash->second, "hash", type.name));
    code.types.push_back(std::move(type));
  }

 private:
  SourcePlace place_of(SyntaxIndex index) const {
    const SyntaxNode& node = syntax_[index];
    return {file_, node.begin, node.end - node.begin};
  }

  bool has_bases() const {
    const SyntaxIndex bases = syntax_.child(definition_, SyntaxField::superclasses);
    if (bases == no_syntax) return false;
    const std::vector<SyntaxIndex> all = syntax_.children(bases);
    return std::any_of(all.begin(), all.end(),
                       [this](SyntaxIndex base) { return syntax_.text_of(base) != "object"; });
  }

  void find_methods() {
    const SyntaxIndex body = syntax_.child(definition_, SyntaxField::body);
    if (body == no_syntax) return;
    for (SyntaxIndex child : syntax_.children(body)) {
      if (syntax_.is(child, SyntaxKind::decorated_definition)) {
        child = syntax_.child(child, SyntaxField::definition);
      }
      if (!syntax_.is(child, SyntaxKind::function_definition)) continue;
      const SyntaxIndex name = syntax_.child(child, SyntaxField::name);
      if (name != no_syntax) methods_[syntax_.text_of(name)] = child;
    }
  }

  // `self.layout = layout`
  void read_fields(SyntaxIndex method, KeyType& type) const {
    if (syntax_[method].next - method > max_method) return;
    for (SyntaxIndex at = method; at < syntax_[method].next; ++at) {
      if (!syntax_.is(at, SyntaxKind::assignment)) continue;
      const SyntaxIndex left = syntax_.child(at, SyntaxField::left);
      const SyntaxIndex right = syntax_.child(at, SyntaxField::right);
      if (!syntax_.is(left, SyntaxKind::attribute) || !syntax_.is(right, SyntaxKind::identifier)) {
        continue;
      }
      if (syntax_.text_of(syntax_.child(left, SyntaxField::object)) != "self") continue;
      const SyntaxIndex name = syntax_.child(left, SyntaxField::attribute);
      const std::string_view field = syntax_.text_of(name);
      const bool known =
          std::any_of(type.fields.begin(), type.fields.end(),
                      [field](const KeyField& other) { return other.name == field; });
      if (known || type.fields.size() >= max_followed * 8) continue;
      const bool exempt = lower(field).find("hash") != std::string::npos;
      type.fields.push_back({std::string(field), place_of(name), exempt});
    }
  }

  KeyFunction function_of(SyntaxIndex method, std::string_view kind,
                          const std::string& type) const {
    KeyFunction function;
    const SyntaxIndex name = syntax_.child(method, SyntaxField::name);
    function.name = syntax_.text_of(name);
    function.kind = kind;
    function.type = type;
    function.place = place_of(name);
    std::vector<SyntaxIndex> waiting = {method};
    for (std::size_t next = 0; next < waiting.size(); ++next) {
      const SyntaxIndex one = waiting[next];
      if (next >= max_followed || syntax_[one].next - one > max_method) {
        function.whole = true;
        break;
      }
      read_body(one, function, waiting);
    }
    return function;
  }

  void read_body(SyntaxIndex method, KeyFunction& function,
                 std::vector<SyntaxIndex>& waiting) const {
    const SyntaxIndex body = syntax_.child(method, SyntaxField::body);
    if (body == no_syntax) return;
    for (SyntaxIndex at = body; at < syntax_[body].next; ++at) {
      if (!syntax_.is(at, SyntaxKind::identifier)) continue;
      const std::string_view word = syntax_.text_of(at);
      const bool of_object = syntax_[at].field == SyntaxField::attribute;
      if (of_object) {
        function.words.insert(std::string(word));
        if (word == "__dict__" || word == "__slots__") function.whole = true;
        const auto method_of = methods_.find(word);
        const bool entered =
            method_of != methods_.end() &&
            std::find(waiting.begin(), waiting.end(), method_of->second) == waiting.end();
        if (entered && waiting.size() <= max_followed) waiting.push_back(method_of->second);
        continue;
      }
      // The object as a whole, but for a question for its identity or class.
      if ((word == "self" || word == "other") && !is_looked_into(at)) function.whole = true;
      // `getattr(self, name)`
      if (word == "getattr" || word == "vars" || word == "super") function.whole = true;
    }
  }

  bool is_looked_into(SyntaxIndex at) const {
    const SyntaxIndex above = syntax_[at].parent;
    if (syntax_.is(above, SyntaxKind::attribute)) return true;
    const std::string_view text = syntax_.text_of(above);
    if (text == "self is other" || text == "other is self" || text == "self is not other") {
      return true;
    }
    // `isinstance(other, Key)`, `type(self)`
    const SyntaxIndex call = syntax_[above].parent;
    if (!syntax_.is(above, SyntaxKind::argument_list) || !syntax_.is(call, SyntaxKind::call)) {
      return false;
    }
    const std::string_view called = syntax_.text_of(syntax_.child(call, SyntaxField::function));
    return called == "isinstance" || called == "type" || called == "hasattr";
  }

  const PythonSyntax& syntax_;
  SyntaxIndex definition_;
  std::uint32_t file_;
  std::map<std::string_view, SyntaxIndex> methods_;
};

}  // namespace

bool may_hold_key_classes(std::string_view text) {
  return text.find("def __hash__") != text.npos && text.find("def __eq__") != text.npos;
}

KeyCode read_key_classes(const ParsedPython& file, std::uint32_t number) {
  KeyCode code;
  for (SyntaxIndex at = 0; at < file.syntax.nodes.size(); ++at) {
    if (!file.syntax.is(at, SyntaxKind::class_definition)) continue;
    if (code.types.size() >= max_classes) break;
    ClassReader(file.syntax, at, number).read(code);
  }
  return code;
}

}  // namespace opseal
