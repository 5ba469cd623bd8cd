// mlx/primitives.h: a Primitive has its parameters as members, and `vmap` and `jvp` call the
// function of the operation again, which has to be given all of them.

#include "analyzers/sources/mlx.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::size_t most_primitives = 4096;
constexpr std::size_t most_members = 64;

using Words = std::set<std::string_view>;

class Reader {
 public:
  Reader(const PlainSource& source, std::vector<MlxPrimitive>& out)
      : source_(source), tokens_(source.unit.tokens), out_(out) {}

  void run() {
    std::map<std::string_view, Methods> classes;
    for (const Scope& scope : source_.shape.scopes) {
      if (scope.kind != ScopeKind::function) continue;
      const std::string_view name = base_of(scope.name);
      const std::size_t colons = scope.name.rfind("::");
      if (colons == std::string::npos) continue;
      const std::string_view owner = base_of(std::string_view(scope.name).substr(0, colons));
      const auto [method, is_new] = classes[owner].emplace(name, &scope);
      // Which of several is called can't be told.
      if (!is_new) method->second = nullptr;
    }
    for (const auto& [owner, methods] : classes) {
      if (out_.size() < most_primitives) read(owner, methods);
    }
  }

 private:
  using Methods = std::map<std::string_view, const Scope*>;

  static const Scope* find(const Methods& methods, std::string_view name) {
    const auto found = methods.find(name);
    return found == methods.end() ? nullptr : found->second;
  }

  SourcePlace place_of_token(std::uint32_t at) const {
    return {source_.unit.file, tokens_[at].offset, tokens_[at].length};
  }

  void read(std::string_view owner, const Methods& methods) {
    const Scope* same = find(methods, "is_equivalent");
    if (same == nullptr) return;
    MlxPrimitive primitive;
    primitive.name = owner;
    primitive.place = place_of_token(same->name_token);
    // `axis_ == other.axis_`: a name that stands alone is a local one.
    Words others;
    for (std::uint32_t at = same->body.begin; at < same->body.end; ++at) {
      if (is_of_another(at)) others.insert(tokens_[at].text);
    }
    Words known;
    for (std::uint32_t at = same->body.begin; at < same->body.end; ++at) {
      const Token& token = tokens_[at];
      if (!token.is_identifier() || !token.text.ends_with('_') || is_of_another(at)) continue;
      if (others.contains(token.text) && known.insert(token.text).second) {
        primitive.members.push_back({std::string(token.text), place_of_token(at)});
      }
    }
    if (primitive.members.empty() || primitive.members.size() > most_members) return;
    add_method(find(methods, "vmap"), methods, primitive, primitive.batching);
    if (const Scope* jvp = find(methods, "jvp"); jvp != nullptr && !is_zero(*jvp)) {
      add_method(jvp, methods, primitive, primitive.jvp);
    }
    if (!primitive.batching.empty() || !primitive.jvp.empty()) out_.push_back(std::move(primitive));
  }

  bool is_of_another(std::uint32_t at) const {
    return tokens_[at - 1].is('.') || tokens_[at - 1].is("->");
  }

  // What is refused or has no derivative needs no parameter: `zeros_like(x)`, `array(0.0f)`.
  bool is_zero(const Scope& scope) const {
    for (std::uint32_t at = scope.body.begin; at + 2 < scope.body.end; ++at) {
      if (!tokens_[at].is_identifier()) continue;
      if (tokens_[at].text.starts_with("zeros")) return true;
      if (tokens_[at].is("array") && tokens_[at + 2].text.starts_with('0')) return true;
    }
    return false;
  }

  void add_method(const Scope* scope, const Methods& methods, const MlxPrimitive& primitive,
                  std::vector<MlxPrimitive::Method>& found) const {
    if (scope == nullptr) return;
    Words words;
    bool computes = false;
    for (std::uint32_t at = scope->body.begin; at < scope->body.end; ++at) {
      const Token& token = tokens_[at];
      if (!token.is_identifier()) continue;
      // The whole object goes on, or only the compiler knows what a macro does.
      if (token.is("this") || token.is("throw") || token.is("state")) return;
      if (is_upper(token.text) && token.text.size() > 2) return;
      words.insert(token.text);
      computes = computes || token.is("stream");
    }
    if (!computes) return;
    // Another method of the class may see to it.
    for (const auto& [name, method] : methods) {
      if (words.contains(name) && method != scope) return;
    }
    MlxPrimitive::Method method;
    method.name = scope->name;
    method.place = place_of_token(scope->name_token);
    for (const PlacedName& member : primitive.members) {
      // `axis()` gives `axis_`.
      const std::string_view name(member.text);
      const bool is_read = words.contains(name) || words.contains(name.substr(0, name.size() - 1));
      if (is_read) method.uses.push_back(member.text);
    }
    // A derivative need not have all: that of `scale * x + bias` has no bias.
    if (&found == &primitive.jvp && !method.uses.empty()) return;
    found.push_back(std::move(method));
  }

  const PlainSource& source_;
  const Tokens tokens_;
  std::vector<MlxPrimitive>& out_;
};

}  // namespace

bool may_hold_mlx(std::string_view bytes) {
  return bytes.find("::is_equivalent(") != bytes.npos && has_any(bytes, {"::vmap(", "::jvp("});
}

void read_mlx(const PlainSource& source, std::vector<MlxPrimitive>& primitives) {
  Reader(source, primitives).run();
}

void write_mlx(const std::vector<MlxPrimitive>& primitives, PlacedWriter& writer) {
  const auto write_method = [&writer](Key key, std::string_view kind,
                                      const std::vector<MlxPrimitive::Method>& methods) {
    for (const MlxPrimitive::Method& method : methods) {
      const std::uint32_t object = writer.open(key, NodeType::object, method.place);
      writer.text(Key::kind, kind, method.place);
      const std::uint32_t function = writer.open(Key::function, NodeType::object, method.place);
      writer.text(Key::name, method.name, method.place);
      writer.close(function);
      writer.texts(Key::uses, method.uses, method.place);
      writer.close(object);
    }
  };
  const std::uint32_t list = writer.open_list(Key::operators);
  for (const MlxPrimitive& primitive : primitives) {
    const std::uint32_t object = writer.open(Key::none, NodeType::object, primitive.place);
    writer.text(Key::name, primitive.name, primitive.place);
    const std::uint32_t attributes =
        writer.open(Key::attributes, NodeType::list, primitive.members.front().place);
    for (const PlacedName& member : primitive.members) {
      const std::uint32_t one = writer.open(Key::none, NodeType::object, member.place);
      writer.text(Key::name, member.text, member.place);
      writer.close(one);
    }
    writer.close(attributes);
    write_method(Key::jvp, "custom", primitive.jvp);
    write_method(Key::batching, "general", primitive.batching);
    writer.close(object);
  }
  writer.close_list(list);
}

}  // namespace opseal
