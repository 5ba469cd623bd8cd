#include <algorithm>
#include <array>
#include <functional>
#include <unordered_set>
#include <utility>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/engines_cpp.h"

namespace opseal {
namespace {

constexpr std::size_t most_tables = 1024;
constexpr std::size_t most_accessors = 4096;
// Tokens of the arguments of a template.
constexpr std::uint32_t most_angles = 200;
// Of one function, looking for what its names were given.
constexpr std::size_t most_steps = std::size_t{4} << 20;

// Words by which a function gives up where a key isn't there, or is there already.
bool gives_up(std::string_view word) {
  static constexpr std::array<std::string_view, 7> words{"throw",   "abort",     "CHECK", "FATAL",
                                                         "ENFORCE", "terminate", "assert"};
  return std::any_of(words.begin(), words.end(),
                     [word](std::string_view one) { return word.find(one) != word.npos; });
}

bool is_map(const Token& token) {
  return token.is_identifier() &&
         (token.is("map") || token.is("unordered_map") || token.is("flat_hash_map"));
}

// The words of a parameter's name and default.
struct Parameter {
  std::string_view name;
  std::string standard;
};

std::vector<Parameter> parameters_of(Tokens tokens, TokenRange range) {
  std::vector<Parameter> parameters;
  if (range.empty()) return parameters;
  for (const Tokens one :
       split_call_arguments(tokens.subspan(range.begin, range.end - range.begin))) {
    Parameter parameter;
    std::size_t end = one.size();
    for (std::size_t i = 0; i < one.size(); ++i) {
      if (!one[i].is('=')) continue;
      end = i;
      parameter.standard = text_of(one.subspan(i + 1));
      break;
    }
    if (end > 0 && one[end - 1].is_identifier()) parameter.name = one[end - 1].text;
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

class FunctionReader {
 public:
  FunctionReader(const PlainSource& source, const Scope& function, std::string_view owner,
                 CppEngineShape& shape)
      : source_(source),
        tokens_(source.unit.tokens),
        function_(function),
        owner_(owner),
        shape_(shape),
        parameters_(parameters_of(tokens_, function.parameters)) {
    const std::size_t colon = function.name.rfind("::");
    name_ = colon == function.name.npos ? function.name : function.name.substr(colon + 2);
    is_constructor_ = name_ == owner_;
  }

  void read_table(std::size_t index) {
    const CppTable& table = shape_.tables[index];
    const bool of_class = !table.member.empty();
    if (of_class && table.owner != owner_) return;
    const std::string& word = of_class ? table.member : table.owner;
    for (std::uint32_t at = function_.body.begin; at < function_.body.end; ++at) {
      if (!tokens_[at].is_identifier() || !tokens_[at].is(word)) continue;
      std::uint32_t behind = at + 1;
      if (!of_class) {
        if (!is(at + 1, '(') || !is(at + 2, ')')) continue;
        behind = at + 3;
      } else if (at > 0 && (tokens_[at - 1].is('.') || tokens_[at - 1].is("->")) &&
                 !tokens_[at - 2].is("this")) {
        continue;
      }
      read_access(index, at, behind);
    }
    finish_lookups(index);
  }

  // Calls of accessors with the function's own parameters.
  void read_forwards(const std::multimap<std::string, std::size_t, std::less<>>& known) {
    for (std::uint32_t at = function_.body.begin; at < function_.body.end; ++at) {
      if (!tokens_[at].is_identifier() || !is(at + 1, '(')) continue;
      const auto [first, last] = known.equal_range(tokens_[at].text);
      for (auto one = first; one != last; ++one) {
        const CppAccessor accessor = shape_.accessors[one->second];
        if (!accessor.stores || accessor.name == name_) continue;
        const std::string_view named = class_called(at);
        const bool other = !named.empty() && named != shape_.tables[accessor.table].owner;
        if (!accessor.is_member || !other) forward(accessor, at);
      }
    }
  }

 private:
  bool is(std::uint32_t at, char c) const { return at < tokens_.size() && tokens_[at].is(c); }

  Tokens inside(std::uint32_t open) const {
    const std::uint32_t close = source_.shape.partners[open];
    if (close == no_token || close <= open) return {};
    return Tokens(tokens_).subspan(open + 1, close - open - 1);
  }

  // The class that a call at `at` names: `Registry::instance().add(`, `Registry::add(`. Empty:
  // none.
  std::string_view class_called(std::uint32_t at) const {
    if (at < 2) return {};
    if (tokens_[at - 1].is("::")) return tokens_[at - 2].text;
    if (!tokens_[at - 1].is('.') && !tokens_[at - 1].is("->")) return {};
    if (!tokens_[at - 2].is(')')) return {};
    const std::uint32_t open = source_.shape.partners[at - 2];
    if (open == no_token || open < 3 || open > at || !tokens_[open - 2].is("::")) return {};
    return tokens_[open - 3].is_identifier() ? tokens_[open - 3].text : std::string_view();
  }

  int parameter_of(Tokens expression) const {
    // `std::move(op)`, `std::string(op)`
    while (expression.size() > 3 && expression.back().is(')')) {
      const auto open = std::find_if(expression.begin(), expression.end(),
                                     [](const Token& token) { return token.is('('); });
      if (open == expression.end()) return -1;
      expression = Tokens(open + 1, expression.end() - 1);
    }
    if (expression.size() != 1 || !expression[0].is_identifier()) return -1;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i].name == expression[0].text) return static_cast<int>(i);
    }
    return -1;
  }

  // `key`, `{a, b}`, `Key{a, b}`, `std::make_tuple(a, b)`, or a local that was made so.
  bool add_key(Tokens expression, std::vector<std::size_t>& key, bool local = true) const {
    if (expression.empty()) return false;
    if (const int one = parameter_of(expression); one >= 0) {
      key.push_back(static_cast<std::size_t>(one));
      return true;
    }
    if (expression.size() == 1) {
      return local && expression[0].is_identifier() && add_local(expression[0].text, key);
    }
    const auto open = std::find_if(expression.begin(), expression.end(), [](const Token& token) {
      return token.is('{') || token.is('(');
    });
    if (open == expression.end() || !(expression.back().is('}') || expression.back().is(')'))) {
      return false;
    }
    const std::vector<Tokens> parts = split_call_arguments(Tokens(open + 1, expression.end() - 1));
    return !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](Tokens part) {
      const int one = parameter_of(part);
      if (one >= 0) key.push_back(static_cast<std::size_t>(one));
      return one >= 0;
    });
  }

  bool add_local(std::string_view name, std::vector<std::size_t>& key) const {
    for (std::uint32_t at = function_.body.begin + 1; at + 1 < function_.body.end; ++at) {
      if (++steps_ > most_steps) return false;
      if (!tokens_[at].is_identifier() || !tokens_[at].is(name)) continue;
      const Token& before = tokens_[at - 1];
      const bool declared = before.is_identifier() || before.is('>') || before.is('&');
      if (!declared) return false;
      std::uint32_t begin = at + 1;
      std::uint32_t end = begin;
      while (end < function_.body.end && !tokens_[end].is(';')) ++end;
      if (is(begin, '=')) ++begin;
      return add_key(Tokens(tokens_).subspan(begin, end - begin), key, false);
    }
    return false;
  }

  void read_access(std::size_t index, std::uint32_t at, std::uint32_t behind) {
    CppTable& table = shape_.tables[index];
    if (is(behind, '[')) {
      const std::uint32_t close = source_.shape.partners[behind];
      if (close == no_token) return;
      if (is(close + 1, '=')) {
        add_store(index, inside(behind), CppSecond::replaces);
      } else {
        // Makes an entry of its own where there is none; a vector of alternatives takes all.
        looked_ = true;
        followed_ = false;
        if (is(close + 1, '.')) table.open = table.open || !is_reading(close + 2);
      }
      return;
    }
    if (!(is(behind, '.') || (behind < tokens_.size() && tokens_[behind].is("->"))) ||
        !is(behind + 2, '(')) {
      // `for (auto& row : map_)`, `return map_;`
      const bool ranged = at > 0 && tokens_[at - 1].is(':') && is(behind, ')');
      if (!ranged) table.open = true;
      return;
    }
    const std::string_view method = tokens_[behind + 1].text;
    const Tokens list = inside(behind + 2);
    if (method == "emplace" || method == "try_emplace" || method == "insert_or_assign" ||
        method == "insert") {
      std::vector<Tokens> arguments = split_call_arguments(list);
      // `insert({key, fn})`, `insert(std::make_pair(key, fn))`
      if (arguments.size() == 1) {
        const auto open = std::find_if(list.begin(), list.end(), [](const Token& token) {
          return token.is('{') || token.is('(');
        });
        if (open != list.end()) arguments = split_call_arguments(Tokens(open + 1, list.end() - 1));
      }
      const bool replaces = method == "insert_or_assign";
      if (arguments.size() < 2) {
        table.open = true;
      } else {
        add_store(index, arguments[0], replaces ? CppSecond::replaces : CppSecond::ignored);
      }
      return;
    }
    if (method == "at" || method == "find" || method == "count" || method == "contains") {
      looked_ = true;
      std::vector<std::size_t> key;
      const bool read = add_key(list, key);
      if (!read || (!key_.empty() && key_ != key)) followed_ = false;
      key_ = std::move(key);
      throws_ = throws_ || method == "at";
      return;
    }
    if (!is_reading(behind + 1)) table.open = true;
  }

  bool is_reading(std::uint32_t at) const {
    if (at >= tokens_.size()) return false;
    static constexpr std::array<std::string_view, 8> words{"end",  "begin",  "size",    "empty",
                                                           "cend", "cbegin", "reserve", "clear"};
    return std::find(words.begin(), words.end(), tokens_[at].text) != words.end();
  }

  bool body_gives_up() const {
    for (std::uint32_t at = function_.body.begin; at < function_.body.end; ++at) {
      if (tokens_[at].is_identifier() && gives_up(tokens_[at].text)) return true;
    }
    return false;
  }

  void add_store(std::size_t index, Tokens key, CppSecond second) {
    stores_ = true;
    CppAccessor accessor;
    if (!add_key(key, accessor.key) || shape_.accessors.size() >= most_accessors) {
      shape_.tables[index].open = true;
      return;
    }
    accessor.name = name_;
    accessor.table = index;
    accessor.stores = true;
    accessor.is_member = !owner_.empty() && !is_constructor_;
    accessor.second = second;
    // It looks whether the key is there, or says so when it is.
    for (std::uint32_t at = function_.body.begin; at < function_.body.end; ++at) {
      const std::string_view word = tokens_[at].text;
      if (word == "find" || word == "count" || word == "contains" || word == "second" ||
          word == "if" || (tokens_[at].is_identifier() && gives_up(word))) {
        accessor.second = CppSecond::unknown;
      }
    }
    add(std::move(accessor));
  }

  void add(CppAccessor accessor) {
    for (const Parameter& parameter : parameters_) accessor.defaults.push_back(parameter.standard);
    shape_.inner.insert(name_);
    shape_.accessors.push_back(std::move(accessor));
  }

  void finish_lookups(std::size_t index) {
    if (looked_ && followed_ && !stores_ && !key_.empty() && (throws_ || body_gives_up())) {
      std::size_t returns = 0;
      for (std::uint32_t at = function_.body.begin; at < function_.body.end; ++at) {
        if (tokens_[at].is("return")) ++returns;
      }
      if (returns <= 1 && shape_.accessors.size() < most_accessors) {
        CppAccessor accessor;
        accessor.name = name_;
        accessor.table = index;
        accessor.raises = true;
        accessor.is_member = !owner_.empty() && !is_constructor_;
        accessor.key = key_;
        add(std::move(accessor));
      }
    }
    looked_ = stores_ = throws_ = false;
    followed_ = true;
    key_.clear();
  }

  void forward(const CppAccessor& accessor, std::uint32_t at) {
    const std::vector<Tokens> arguments = split_call_arguments(inside(at + 1));
    CppAccessor own;
    for (const std::size_t part : accessor.key) {
      const int parameter = part < arguments.size() ? parameter_of(arguments[part]) : -1;
      if (parameter < 0) return;
      own.key.push_back(static_cast<std::size_t>(parameter));
    }
    // A method of another class would need an object.
    if (!owner_.empty() && !is_constructor_) return;
    if (shape_.accessors.size() >= most_accessors) return;
    own.name = name_;
    own.table = accessor.table;
    own.stores = true;
    own.second = accessor.second;
    add(std::move(own));
  }

  const PlainSource& source_;
  const std::vector<Token>& tokens_;
  const Scope& function_;
  std::string_view owner_;
  CppEngineShape& shape_;
  std::vector<Parameter> parameters_;
  std::string name_;
  bool is_constructor_ = false;
  mutable std::size_t steps_ = 0;
  // Of one table.
  bool looked_ = false;
  bool followed_ = true;
  bool stores_ = false;
  bool throws_ = false;
  std::vector<std::size_t> key_;
};

// The class of a function: of `A::run`, or around it; empty for a free one.
std::string owner_of(const PlainSource& source, const Scope& function) {
  const std::size_t colon = function.name.rfind("::");
  if (colon != function.name.npos) {
    const std::string before = function.name.substr(0, colon);
    const std::size_t other = before.rfind("::");
    return other == before.npos ? before : before.substr(other + 2);
  }
  if (function.parent == no_scope) return {};
  const Scope& parent = source.shape.scopes[function.parent];
  return parent.kind == ScopeKind::type ? parent.name : std::string();
}

}  // namespace

void find_cpp_tables(const PlainSource& source, std::uint32_t file, std::vector<CppTable>& tables) {
  const Tokens tokens = source.unit.tokens;
  for (std::uint32_t at = 0; at + 3 < tokens.size() && tables.size() < most_tables; ++at) {
    if (!is_map(tokens[at]) || !tokens[at + 1].is('<')) continue;
    const std::uint32_t behind = behind_angles(tokens, at + 1, most_angles);
    if (behind + 1 >= tokens.size() || !tokens[behind].is_identifier()) continue;
    const Token& after = tokens[behind + 1];
    if (!after.is(';') && !after.is('{') && !after.is('=')) continue;
    const std::uint32_t scope = source.scope_of(at);
    if (scope == no_scope) continue;
    const Scope& around = source.shape.scopes[scope];
    CppTable table;
    table.place = {file, tokens[behind].offset, tokens[behind].length};
    if (around.kind == ScopeKind::type && !around.name.empty()) {
      table.owner = around.name;
      table.member = tokens[behind].text;
    } else if (around.kind == ScopeKind::function && around.parameters.empty()) {
      // `auto& table() { static std::map<…> rows; return rows; }`
      bool is_static = false;
      for (std::uint32_t back = at; back > around.body.begin && !tokens[back - 1].is(';'); --back) {
        is_static = is_static || tokens[back - 1].is("static");
      }
      bool is_given = false;
      for (std::uint32_t on = behind; on + 1 < around.body.end; ++on) {
        is_given =
            is_given || (tokens[on].is("return") && tokens[on + 1].text == tokens[behind].text);
      }
      if (!is_static || !is_given) continue;
      const std::size_t colon = around.name.rfind("::");
      table.owner = colon == around.name.npos ? around.name : around.name.substr(colon + 2);
    } else {
      continue;
    }
    tables.push_back(std::move(table));
  }
}

void find_cpp_accessors(const PlainSource& source, bool forwards, CppEngineShape& shape) {
  std::multimap<std::string, std::size_t, std::less<>> known;
  for (std::size_t i = 0; forwards && i < shape.accessors.size(); ++i) {
    known.emplace(shape.accessors[i].name, i);
  }
  std::unordered_set<std::string_view> words;
  for (const Scope& scope : source.shape.scopes) {
    if (scope.kind != ScopeKind::function) continue;
    const std::string owner = owner_of(source, scope);
    FunctionReader reader(source, scope, owner, shape);
    if (forwards) {
      reader.read_forwards(known);
      continue;
    }
    if (!owner.empty()) ++shape.bodies[owner + "::" + std::string(base_of(scope.name))];
    words.clear();
    for (std::uint32_t at = scope.body.begin; at < scope.body.end; ++at) {
      if (source.unit.tokens[at].is_identifier()) words.insert(source.unit.tokens[at].text);
    }
    for (std::size_t table = 0; table < shape.tables.size(); ++table) {
      const CppTable& one = shape.tables[table];
      if (!words.contains(one.member.empty() ? one.owner : one.member)) continue;
      const bool itself = one.member.empty() && scope.name.ends_with(one.owner);
      if (!itself) reader.read_table(table);
    }
  }
}

}  // namespace opseal
