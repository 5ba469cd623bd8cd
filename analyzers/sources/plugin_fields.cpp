// IPluginCreator of NvInferRuntimePlugin.h: whoever builds a network asks getFieldNames() which
// fields there are, and hands these alone to createPlugin(name, fields).

#include "analyzers/sources/plugin_fields.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/plugin_field_types.h"
#include "analyzers/sources/plugin_source.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::array<std::string_view, 8> harmless_calls{
    "PluginField", "clear", "data", "emplace_back", "push_back", "reserve", "size", "static_cast"};
constexpr std::array<std::string_view, 4> compares{"strcmp", "strncmp", "strcasecmp", "memcmp"};
// Of a creator; more than a few constructors are no class.
constexpr std::size_t most_parts = 16;

bool is_field_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char byte) {
    return is_word_byte(byte) || byte == '-' || byte == '.';
  });
}

class FieldReader {
 public:
  FieldReader(const PlainSource& source, std::vector<PluginFields>& out)
      : source_(source), all_(source.unit.tokens), out_(out), constants_(source) {}

  void run() {
    std::map<std::string, Creator> creators;
    for (const Scope& scope : source_.shape.scopes) {
      if (scope.kind != ScopeKind::function) continue;
      const std::string_view name = base_of(scope.name);
      const std::string owner = class_of(source_, scope);
      if (owner.empty()) continue;
      if (name == "createPlugin") {
        Creator& creator = creators[owner];
        creator.several = creator.makes != nullptr;
        creator.makes = &scope;
      } else if (name == owner) {
        creators[owner].constructors.push_back(&scope);
      } else if (name == "getFieldNames") {
        creators[owner].asked.push_back(&scope);
      }
    }
    for (const auto& [owner, creator] : creators) {
      if (creator.makes == nullptr || creator.several) continue;
      read(owner, creator);
    }
  }

 private:
  struct Creator {
    const Scope* makes = nullptr;
    bool several = false;
    std::vector<const Scope*> constructors;
    std::vector<const Scope*> asked;
  };
  using Names = std::vector<PlacedName>;

  PlacedName placed(const Token& token, std::string text) const {
    return {std::move(text), {source_.unit.file, token.offset, token.length}};
  }

  // `"x"`, `"x"sv`, `std::string("x")`, `kX`; nothing where it is no text that is known.
  std::optional<PlacedName> text_in(Tokens tokens) {
    const Token* word = nullptr;
    for (const Token& token : tokens) {
      if (token.is_string()) {
        return placed(token, string_value(Tokens(&token, 1)));
      }
      if (token.is_identifier()) word = &token;
    }
    if (word == nullptr) return {};
    const std::string& text = constants_.of(word->text);
    if (text.empty()) return {};
    return placed(*word, text);
  }

  Tokens body_of(const Scope& scope) const {
    return all_.subspan(scope.body.begin, scope.body.end - scope.body.begin);
  }

  void read(const std::string& owner, const Creator& creator) {
    if (creator.constructors.size() + creator.asked.size() > most_parts) return;
    PluginFields fields;
    fields.owner = owner;
    const Token& name = all_[creator.makes->name_token];
    fields.place = {source_.unit.file, name.offset, name.length};
    read_.clear();
    fields.read = names_read(*creator.makes);
    fields.read_types = std::move(read_);
    if (fields.read.empty()) return;
    read_declared(owner, creator, fields);
    out_.push_back(std::move(fields));
  }

  void read_declared(const std::string& owner, const Creator& creator, PluginFields& fields) {
    if (creator.constructors.empty()) return;
    const Token& name = all_[creator.constructors.front()->name_token];
    fields.declared_place = {source_.unit.file, name.offset, name.length};
    Names names;
    declared_.clear();
    bool fills = false;
    bool known = true;
    for (const std::vector<const Scope*>& list : {creator.constructors, creator.asked}) {
      for (const Scope* scope : list) {
        // What initializes members stands between the parameters and the body.
        const std::uint32_t begin = std::min(scope->parameters.end, scope->body.begin);
        known = known && add_declared(all_.subspan(begin, scope->body.end - begin), fills, names);
      }
    }
    // A class that it derives from may say them.
    if (!fills) return;
    add_static(owner, names);
    fields.declared_types = std::move(declared_);
    const std::size_t own = names.size();
    known = known && add_stored(*creator.makes, names);
    // Others may be declared: what is known of these still says of what type they are.
    fields.open_ended = !known;
    if (!known) names.resize(own);
    if (known || !fields.declared_types.empty()) fields.declared = std::move(names);
  }

  // False where something is declared whose name isn't known. `fills`: the fields are set here.
  bool add_declared(Tokens tokens, bool& fills, Names& names) {
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      const Token& token = tokens[at];
      if (token.is_string()) {
        names.push_back(placed(token, string_value(tokens.subspan(at, 1))));
        note_type(names.back().text, tokens.subspan(at + 1));
      }
      if (token.condition != tokens.front().condition) return false;
      if (!token.is_identifier()) continue;
      if (token.is("nbFields") || token.is("PluginField")) fills = true;
      const bool called =
          at + 1 < tokens.size() && (tokens[at + 1].is('(') || tokens[at + 1].is('{'));
      // `std::lock_guard<std::mutex> lock(mutex);`
      const bool variable = at > 0 && (tokens[at - 1].is_identifier() || tokens[at - 1].is('>'));
      if (!called || variable) continue;
      const bool loud =
          std::ranges::none_of(token.text, [](char byte) { return byte >= 'a' && byte <= 'z'; });
      const std::size_t close = closing_bracket(tokens, at + 1);
      // `noexcept {`: the body itself.
      if (close == tokens.size()) continue;
      const Tokens inside = tokens.subspan(at + 2, close - at - 2);
      if (is_one_of(token.text,
                    std::array<std::string_view, 3>{"PluginField", "emplace_back", "push_back"})) {
        if (!names_field(inside, names)) return false;
      } else if (!loud && !is_one_of(token.text, harmless_calls) && tokens[at + 1].is('(') &&
                 !inside.empty()) {
        return false;
      }
    }
    return true;
  }

  // The first argument of what declares a field, which may be the field itself.
  bool names_field(Tokens inside, Names& names) {
    const std::vector<Tokens> arguments = split_typed(inside);
    if (arguments.empty()) return true;
    const Tokens first = arguments.front();
    const bool whole = std::ranges::any_of(
        first, [](const Token& token) { return token.is('{') || token.is("PluginField"); });
    if (whole) return true;
    std::optional<PlacedName> name = text_in(first);
    if (!name) return false;
    // A literal was met as such.
    if (!first.back().is_string()) note_type(name->text, inside.subspan(first.size()));
    names.push_back(std::move(*name));
    return true;
  }

  // `behind`: what follows the name. A field that is declared twice, or as two types, has none.
  void note_type(const std::string& name, Tokens behind) {
    const std::string type = declared_field_type(behind);
    const auto [known, is_new] = declared_.emplace(name, type);
    if (!is_new && known->second != type) known->second.clear();
  }

  // `std::vector<PluginField> X::attributes{PluginField("x", …)};`
  void add_static(const std::string& owner, Names& names) {
    for (std::size_t at = 0; at + 3 < all_.size(); ++at) {
      if (!all_[at].is(owner) || !all_[at + 1].is("::") || !all_[at + 2].is_identifier()) continue;
      if (!all_[at + 3].is('{') && !all_[at + 3].is('=')) continue;
      for (std::size_t next = at + 3; next < all_.size() && !all_[next].is(';'); ++next) {
        if (all_[next].is_string()) {
          names.push_back(placed(all_[next], string_value(all_.subspan(next, 1))));
          note_type(names.back().text, all_.subspan(next + 1));
        }
      }
    }
  }

  Names names_read(const Scope& scope) {
    const Tokens body = body_of(scope);
    const std::string_view handed = fields_parameter(scope);
    const std::set<std::string_view> variables = name_variables(body);
    const std::set<std::string_view> parsers = made_of_fields(body, handed);
    Names names;
    // Where a name is compared.
    std::size_t compared = 0;
    const auto is_name = [&](Tokens tokens) {
      for (std::size_t at = 0; at < tokens.size(); ++at) {
        if (!tokens[at].is_identifier()) continue;
        if (variables.contains(tokens[at].text)) return true;
        if (at > 0 && tokens[at].is("name") && (tokens[at - 1].is('.') || tokens[at - 1].is("->")))
          return true;
      }
      return false;
    };
    const std::set<std::string_view> objects = field_objects(body);
    const auto add = [&](Tokens tokens) {
      std::optional<PlacedName> name = text_in(tokens);
      if (!name || !is_field_name(name->text)) return;
      note_read(name->text, body, compared, objects);
      names.push_back(std::move(*name));
    };
    for (std::size_t at = 0; at + 1 < body.size(); ++at) {
      compared = at;
      if (body[at].is("==")) {
        const Tokens left = operand_before(body, at);
        const Tokens right = operand_after(body, at);
        if (is_name(left) && !is_name(right)) add(right);
        if (is_name(right) && !is_name(left)) add(left);
        continue;
      }
      if (!body[at].is_identifier()) continue;
      std::size_t open = at + 1;
      // `get<int>(`
      if (body[open].is('<')) {
        while (open < body.size() && open - at < 12 && !body[open].is('(')) ++open;
      }
      if (open >= body.size() || !body[open].is('(')) continue;
      const std::size_t close = closing_bracket(body, open);
      if (close == body.size()) continue;
      const Tokens inside = body.subspan(open + 1, close - open - 1);
      const std::vector<Tokens> arguments = split_call_arguments(inside);
      const bool member = at >= 2 && (body[at - 1].is('.') || body[at - 1].is("->"));
      if (is_one_of(body[at].text, compares) && arguments.size() >= 2) {
        if (is_name(arguments[0]) && !is_name(arguments[1])) add(arguments[1]);
        if (is_name(arguments[1]) && !is_name(arguments[0])) add(arguments[0]);
      } else if (member && body[at].is("compare") && variables.contains(body[at - 2].text)) {
        add(inside);
      } else if (member && parsers.contains(body[at - 2].text) && arguments.size() == 1 &&
                 inside.size() == 1) {
        add(inside);
      }
    }
    return names;
  }

  // A field that is looked for at several places, and read as several types, has none.
  void note_read(const std::string& name, Tokens body, std::size_t compared,
                 const std::set<std::string_view>& objects) {
    const FieldRead read = read_field_type(body, compared, objects);
    if (read.type.empty()) return;
    PlacedName type = placed(body[read.at], read.type);
    const auto [known, is_new] = read_.emplace(name, type);
    if (!is_new && known->second.text != type.text) known->second.text.clear();
  }

  Tokens parameters_of(const Scope& scope) const {
    return all_.subspan(scope.parameters.begin, scope.parameters.end - scope.parameters.begin);
  }

  // `PluginFieldCollection const* fields`
  std::string_view fields_parameter(const Scope& scope) const {
    bool typed = false;
    for (const Token& token : parameters_of(scope)) {
      if (token.is(',')) typed = false;
      if (typed && token.is_identifier() && !token.is("const")) return token.text;
      if (token.is("PluginFieldCollection")) typed = true;
    }
    return {};
  }

  // Since TensorRT 10 the plugin itself says which fields it hands to its creator when a network is
  // read from storage: what the rest of the file names may be one of these. False where that isn't
  // said there.
  bool add_stored(const Scope& makes, Names& names) const {
    const bool by_phase = std::ranges::any_of(
        parameters_of(makes), [](const Token& token) { return token.is("TensorRTPhase"); });
    if (!by_phase) return true;
    bool stores = false;
    for (std::size_t at = 0; at < all_.size(); ++at) {
      if (at == makes.body.begin && at < makes.body.end) at = makes.body.end;
      if (at >= all_.size()) break;
      if (all_[at].is("getFieldsToSerialize")) stores = true;
      if (all_[at].is_string()) {
        names.push_back(placed(all_[at], string_value(all_.subspan(at, 1))));
      }
    }
    return stores;
  }

  // `const char* attribute = fields[i].name;`, `std::string name(field.name);`
  static std::set<std::string_view> name_variables(Tokens body) {
    std::set<std::string_view> variables;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < body.size(); ++at) {
      if (body[at].is(';') || body[at].is('{') || body[at].is('}')) {
        if (!body[at].is('{') || at == 0 || !body[at - 1].is_identifier()) begin = at + 1;
        continue;
      }
      if (!body[at].is("name") || at == 0 || (!body[at - 1].is('.') && !body[at - 1].is("->"))) {
        continue;
      }
      for (std::size_t set = begin + 1; set < at; ++set) {
        const bool gives = body[set].is('=') || body[set].is('(') || body[set].is('{');
        if (!gives || !body[set - 1].is_identifier()) continue;
        // A type or a first `=` stands before it; a call has nothing there.
        if (set - 1 > begin || body[set].is('=')) variables.insert(body[set - 1].text);
        break;
      }
    }
    return variables;
  }

  // `Parser p{fc->nbFields, fc->fields};`, `Parser p(fc);`
  static std::set<std::string_view> made_of_fields(Tokens body, std::string_view handed) {
    std::set<std::string_view> made;
    if (handed.empty()) return made;
    for (std::size_t at = 1; at + 1 < body.size(); ++at) {
      if (!body[at].is_identifier() || !(body[at - 1].is_identifier() || body[at - 1].is('>'))) {
        continue;
      }
      if (!body[at + 1].is('{') && !body[at + 1].is('(')) continue;
      const std::size_t close = closing_bracket(body, at + 1);
      if (close == body.size()) continue;
      const Tokens inside = body.subspan(at + 2, close - at - 2);
      if (std::ranges::any_of(inside, [&](const Token& token) { return token.is(handed); }) &&
          !body[at - 1].is("return") && !body[at - 1].is("new") && !body[at - 1].is("else")) {
        made.insert(body[at].text);
      }
    }
    return made;
  }

  static bool ends_operand(const Token& token) {
    return token.is(';') || token.is('{') || token.is('}') || token.is("&&") || token.is("||") ||
           token.is('?') || token.is(',') || token.is("if") || token.is("return") || token.is('=');
  }
  static Tokens operand_before(Tokens body, std::size_t at) {
    std::size_t begin = at;
    while (begin > 0 && !ends_operand(body[begin - 1])) --begin;
    return body.subspan(begin, at - begin);
  }
  static Tokens operand_after(Tokens body, std::size_t at) {
    std::size_t end = at + 1;
    while (end < body.size() && !ends_operand(body[end])) ++end;
    return body.subspan(at + 1, end - at - 1);
  }

  const PlainSource& source_;
  Tokens all_;
  std::vector<PluginFields>& out_;
  TextConstants constants_;
  // Types of the creator's fields; empty where it isn't told.
  std::map<std::string, std::string> declared_;
  // As what fields are read, likewise.
  std::map<std::string, PlacedName> read_;
};

}  // namespace

void read_plugin_fields(const PlainSource& source, std::vector<PluginFields>& fields) {
  FieldReader(source, fields).run();
}

}  // namespace opseal
