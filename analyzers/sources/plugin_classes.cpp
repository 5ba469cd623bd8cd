// The classes are those of NvInferRuntime.h (IPluginCreator, IPluginCreatorV3One and what a project
// derives from them) and of onnxruntime_cxx_api.h (CustomOpBase).

#include "analyzers/sources/plugin_classes.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analyzers/source/needles.h"
#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/plugin_source.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::array<std::string_view, 5> asked_methods{
    "getPluginName", "getPluginType", "getPluginVersion", "GetName", "GetExecutionProviderType"};
constexpr std::array<std::string_view, 2> making_methods{"createPlugin", "deserializePlugin"};
// Pieces of names that are shorter fit everything.
constexpr std::size_t shortest_fragment = 4;
// Namespaces and classes around a name.
constexpr std::size_t most_depth = 64;
// Tokens between the name of a class and its braces.
constexpr std::uint32_t longest_head = 400;

bool is_creator(std::string_view base) {
  return base.find("PluginCreator") != base.npos || base.ends_with("BaseCreator");
}

class PluginReader {
 public:
  PluginReader(const PlainSource& source, PluginRecords& out)
      : source_(source), out_(out), constants_(source) {}

  void run() {
    for (const Scope& scope : source_.shape.scopes) {
      if (scope.kind == ScopeKind::type) read_class(scope);
      if (scope.kind == ScopeKind::function) read_method(scope);
    }
  }

 private:
  const std::vector<Token>& tokens() const { return source_.unit.tokens; }

  void read_class(const Scope& scope) {
    if (scope.name_token == no_token || scope.name.empty() || scope.body.begin == 0) return;
    const std::uint32_t open = scope.body.begin - 1;
    if (open <= scope.name_token || open - scope.name_token > longest_head) return;
    bool bases = false;
    for (std::uint32_t at = scope.name_token + 1; at < open; ++at) {
      const Token& token = tokens()[at];
      if (token.is(':')) bases = true;
      if (!bases || !token.is_identifier()) continue;
      const bool onnx = token.is("CustomOpBase");
      if (!onnx && !is_creator(token.text)) continue;
      // A template is no class yet.
      if (is_template(scope.name_token)) return;
      PluginClass found;
      found.kind = onnx ? PluginKind::onnxruntime : PluginKind::tensorrt;
      found.name = base_of(scope.name);
      const Token& name = tokens()[scope.name_token];
      found.when = source_.unit.conditions[name.condition];
      found.place = {source_.unit.file, name.offset, name.length};
      out_.classes.push_back(std::move(found));
      return;
    }
  }

  // `template <…> class NAME`
  bool is_template(std::uint32_t name) const {
    if (name < 2) return false;
    std::uint32_t at = name - 1;
    // Words of declarations between `class` and the name.
    while (at > 0 && tokens()[at].is_identifier() && !tokens()[at].is("class") &&
           !tokens()[at].is("struct") && name - at < 4) {
      --at;
    }
    return at > 0 && tokens()[at - 1].is('>');
  }

  // `new Foo(…)`, `new ns::Foo(…)`, `std::make_unique<Foo>(…)`
  void read_made(const Scope& scope) {
    const std::string maker = class_of(source_, scope);
    if (maker.empty()) return;
    for (std::uint32_t at = scope.body.begin; at + 1 < scope.body.end; ++at) {
      std::uint32_t name = at + 1;
      if (tokens()[at].text.starts_with("make_") && tokens()[name].is('<')) {
        ++name;
      } else if (!tokens()[at].is("new")) {
        continue;
      }
      while (name + 2 < scope.body.end && tokens()[name].is_identifier() &&
             tokens()[name + 1].is("::")) {
        name += 2;
      }
      const Token& token = tokens()[name];
      if (!token.is_identifier()) continue;
      out_.made.push_back(
          {maker, std::string(token.text), {source_.unit.file, token.offset, token.length}});
    }
  }

  void read_method(const Scope& scope) {
    const std::string_view base = base_of(scope.name);
    if (is_one_of(base, making_methods)) read_made(scope);
    if (!is_one_of(base, asked_methods)) return;
    PluginMethod method;
    method.name = base;
    method.owner = class_of(source_, scope);
    if (method.owner.empty()) return;
    for (std::uint32_t at = scope.body.begin; at + 1 < scope.body.end; ++at) {
      if (!tokens()[at].is("return")) continue;
      const Token& value = tokens()[at + 1];
      method.place = {source_.unit.file, value.offset, value.length};
      std::uint32_t last = at + 1;
      while (last < scope.body.end && !tokens()[last].is(';')) ++last;
      const Tokens given = Tokens(tokens()).subspan(at + 1, last - at - 1);
      method.value = text_of_constant(given);
      break;
    }
    out_.methods.push_back(std::move(method));
  }

  // `"x"`, `kNAME`, `Class::kNAME`, `kNAME.c_str()`
  std::string text_of_constant(Tokens given) {
    if (given.size() == 1 && given[0].is_string()) return string_value(given);
    std::string_view name;
    for (const Token& token : given) {
      if (token.is('.') || token.is('(')) break;
      if (token.is_identifier()) name = token.text;
    }
    if (name.empty()) return {};
    return constants_.of(name);
  }

  const PlainSource& source_;
  PluginRecords& out_;
  TextConstants constants_;
};

}  // namespace

bool may_hold_plugins(std::string_view bytes) {
  static const Needles words(
      {"CustomOpBase", "PluginCreator", "BaseCreator", "getPlugin", "getSerializationSize"});
  return words.occur_in(bytes);
}

void read_plugins(const PlainSource& source, PluginRecords& records) {
  PluginReader(source, records).run();
  read_plugin_storage(source, records.storage);
  read_plugin_fields(source, records.fields);
}

void add_unseen_classes(PluginRecords& records) {
  std::set<std::string_view> known;
  for (const PluginClass& one : records.classes) known.insert(one.name);
  std::vector<PluginClass> unseen;
  for (const PluginFields& one : records.fields) {
    if (!known.insert(one.owner).second) continue;
    unseen.push_back({.name = one.owner, .when = {}, .place = one.place, .use = {}, .seen = false});
  }
  for (PluginClass& one : unseen) records.classes.push_back(std::move(one));
}

bool registers_plugins(std::string_view bytes) {
  static const Needles words({"REGISTER_TENSORRT_PLUGIN", "registerCreator", "getPluginCreators",
                              "getCreators", "setLoggerFinder", "initializePlugin"});
  return words.occur_in(bytes);
}

void read_fragments(std::string_view bytes, std::set<std::string>& fragments) {
  if (bytes.find("##") == bytes.npos) return;
  TextArena arena;
  Lexer lexer(bytes, arena);
  Token before;
  bool pastes = false;
  for (Token token; lexer.next(token);) {
    const bool paste = token.is("##");
    for (const Token* one : {&before, &token}) {
      const bool beside = one == &before ? paste : pastes;
      if (beside && one->is_identifier() && one->text.size() >= shortest_fragment) {
        fragments.emplace(one->text);
      }
    }
    pastes = paste;
    before = token;
  }
}

void mark_used(const PlainSource& source, std::vector<PluginClass>& classes) {
  std::unordered_map<std::string_view, std::vector<PluginClass*>> named;
  for (PluginClass& one : classes) {
    if (!one.used) named[one.name].push_back(&one);
  }
  const std::vector<Token>& all = source.unit.tokens;
  // How often a variable of such a class is named.
  std::unordered_map<std::string_view, std::uint32_t> counts;
  for (const Token& token : all) {
    if (token.is_identifier()) ++counts[token.text];
  }
  const auto mark = [&](const Token& token, std::vector<PluginClass*>& some) {
    if (some.front()->used) return;
    for (PluginClass* one : some) {
      one->used = true;
      one->use = {source.unit.file, token.offset, token.length};
    }
  };
  for (const Token& token : source.directive_tokens) {
    const auto found = named.find(token.text);
    if (found != named.end()) mark(token, found->second);
  }
  for (std::uint32_t at = 0; at < all.size(); ++at) {
    if (!all[at].is_identifier()) continue;
    const auto found = named.find(all[at].text);
    if (found == named.end()) continue;
    const bool declares = at > 0 && (all[at - 1].is("class") || all[at - 1].is("struct"));
    if (declares) {
      // Its own head names it again: `struct A : CustomOpBase<A, Kernel> {`.
      std::uint32_t open = at;
      while (open < all.size() && open - at < longest_head && !all[open].is('{') &&
             !all[open].is(';') && !all[open].is(')')) {
        ++open;
      }
      if (open < all.size() && all[open].is('{')) {
        const std::uint32_t close = source.shape.partners[open];
        if (close != no_token && close > open) {
          // What it derives from may be one of them.
          for (std::uint32_t base = at + 1; base < open; ++base) {
            const auto other = named.find(all[base].text);
            if (other != named.end() && other != found) mark(all[base], other->second);
          }
          // Others are used within, itself is not.
          for (std::uint32_t inner = open; inner < close; ++inner) {
            const auto other = named.find(all[inner].text);
            if (other != named.end() && other != found) mark(all[inner], other->second);
          }
          at = close;
        }
      }
      continue;
    }
    // A destructor.
    if (at > 0 && all[at - 1].is('~')) continue;
    const bool qualifies = at + 1 < all.size() && all[at + 1].is("::");
    if (qualifies) {
      bool within = false;
      std::size_t depth = 0;
      for (std::uint32_t scope = source.scope_of(at);
           scope != no_scope && !within && depth < most_depth;
           scope = source.shape.scopes[scope].parent, ++depth) {
        const ScopeKind kind = source.shape.scopes[scope].kind;
        within = kind == ScopeKind::function || kind == ScopeKind::lambda;
      }
      if (!within) {
        // `A::A(` names it twice.
        if (at + 2 < all.size() && all[at + 2].text == all[at].text) at += 2;
        continue;
      }
    }
    // `static const A op;` that nobody names again.
    const bool variable = found->second.front()->kind == PluginKind::onnxruntime &&
                          at + 2 < all.size() && all[at + 1].is_identifier() &&
                          (all[at + 2].is(';') || all[at + 2].is('{') || all[at + 2].is('='));
    if (variable && counts[all[at + 1].text] == 1) continue;
    mark(all[at], found->second);
  }
}

}  // namespace opseal
