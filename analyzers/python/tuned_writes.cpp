#include "analyzers/python/tuned_writes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr SyntaxIndex max_nodes = 100'000;
constexpr int max_depth = 64;
// One bit for each.
constexpr std::size_t max_parameters = 64;
// Above an expression, blocks that are looked at.
constexpr int max_blocks = 64;

// Their result may be one of what they are given, so that a second run changes nothing.
constexpr std::array<std::string_view, 10> keeping{
    "where", "maximum", "minimum", "clamp", "abs", "to", "cast", "broadcast_to", "reshape", "view"};
// They hand on the pointer that they are given first.
constexpr std::array<std::string_view, 5> pointing{"make_block_ptr", "advance", "multiple_of",
                                                   "max_contiguous", "cast"};

// Parameters, one bit each.
struct Value {
  // Whose memory it was loaded from.
  std::uint64_t loaded = 0;
  // The same where something was computed with it.
  std::uint64_t computed = 0;
};

class TunedWrites {
 public:
  TunedWrites(const PythonSyntax& syntax, const PythonScopes& scopes, const PythonFunction& kernel)
      : syntax_(syntax), scopes_(scopes), definition_(kernel.node) {
    for (const PythonParameter& parameter : kernel.parameters) {
      if (parameter.name.empty() || names_.size() >= max_parameters) continue;
      pointers_[parameter.name] = static_cast<int>(names_.size());
      names_.push_back(parameter.name);
    }
  }

  std::vector<PythonKeyPart> run() {
    const SyntaxIndex body = syntax_.child(definition_, SyntaxField::body);
    if (body == no_syntax || syntax_[body].next - body > max_nodes) return {};
    for (SyntaxIndex at = body; at < syntax_[body].next; ++at) {
      switch (syntax_[at].kind) {
        case SyntaxKind::function_definition:
        case SyntaxKind::lambda:
          at = syntax_[at].next - 1;
          break;
        case SyntaxKind::assignment:
          assign(syntax_.child(at, SyntaxField::left), syntax_.child(at, SyntaxField::right));
          break;
        case SyntaxKind::augmented_assignment:
          augment(at);
          break;
        case SyntaxKind::for_statement:
          assign(syntax_.child(at, SyntaxField::left), no_syntax);
          break;
        case SyntaxKind::call:
          look_at_call(at);
          break;
        default:
          break;
      }
    }
    return std::move(found_);
  }

 private:
  static constexpr int nothing = -1;

  bool is_conditional(SyntaxIndex at) const {
    for (int steps = 0; steps < max_blocks && at != no_syntax && at != definition_; ++steps) {
      switch (syntax_[at].kind) {
        case SyntaxKind::if_statement:
        case SyntaxKind::elif_clause:
        case SyntaxKind::else_clause:
        case SyntaxKind::conditional_expression:
        case SyntaxKind::while_statement:
        case SyntaxKind::match_statement:
          return true;
        default:
          break;
      }
      at = syntax_[at].parent;
    }
    return at != definition_;
  }

  // `load` for `tl.load`; empty for what isn't Triton's.
  std::string triton_name(SyntaxIndex call) const {
    constexpr std::string_view language = "triton.language.";
    const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
    if (function == no_syntax) return {};
    for (const std::string& name : scopes_.full_names(function)) {
      if (name.starts_with(language)) return name.substr(language.size());
    }
    return {};
  }

  std::vector<SyntaxIndex> arguments(SyntaxIndex call) const {
    const SyntaxIndex list = syntax_.child(call, SyntaxField::arguments);
    if (!syntax_.is(list, SyntaxKind::argument_list)) return {};
    return syntax_.children(list);
  }

  SyntaxIndex argument(SyntaxIndex call, std::size_t position, std::string_view name) const {
    std::size_t passed = 0;
    for (const SyntaxIndex given : arguments(call)) {
      if (syntax_.is(given, SyntaxKind::keyword_argument)) {
        const SyntaxIndex key = syntax_.child(given, SyntaxField::name);
        if (key != no_syntax && syntax_.text_of(key) == name) {
          return syntax_.child(given, SyntaxField::value);
        }
      } else if (passed++ == position) {
        return given;
      }
    }
    return no_syntax;
  }

  // The parameter that an address is counted from.
  int root(SyntaxIndex address, int depth = 0) const {
    address = address == no_syntax ? address : syntax_.unwrapped(address);
    if (address == no_syntax || depth > max_depth) return nothing;
    if (syntax_.is(address, SyntaxKind::identifier)) {
      const auto known = pointers_.find(syntax_.text_of(address));
      return known == pointers_.end() ? nothing : known->second;
    }
    if (syntax_.is(address, SyntaxKind::binary_operator)) {
      const SyntaxIndex sign = syntax_.child(address, SyntaxField::operator_sign);
      if (sign == no_syntax || (syntax_.text_of(sign) != "+" && syntax_.text_of(sign) != "-")) {
        return nothing;
      }
      const int left = root(syntax_.child(address, SyntaxField::left), depth + 1);
      return left != nothing ? left : root(syntax_.child(address, SyntaxField::right), depth + 1);
    }
    if (syntax_.is(address, SyntaxKind::call)) {
      if (is_one_of(triton_name(address), pointing)) {
        return root(argument(address, 0, "base"), depth + 1);
      }
      const SyntaxIndex function = syntax_.child(address, SyntaxField::function);
      if (!syntax_.is(function, SyntaxKind::attribute)) return nothing;
      const SyntaxIndex name = syntax_.child(function, SyntaxField::attribute);
      if (name == no_syntax || syntax_.text_of(name) != "to") return nothing;
      return root(syntax_.child(function, SyntaxField::object), depth + 1);
    }
    return nothing;
  }

  // The same text means the same address as long as its names do.
  std::string key_of(SyntaxIndex address) const {
    std::string key;
    for (const char byte : syntax_.text_of(address)) {
      if (!is_blank(byte)) key += byte;
    }
    for (SyntaxIndex at = address; at < syntax_[address].next; ++at) {
      if (!syntax_.is(at, SyntaxKind::identifier)) continue;
      const auto version = versions_.find(syntax_.text_of(at));
      key += ' ' + std::to_string(version == versions_.end() ? 0 : version->second);
    }
    return key;
  }

  static bool is_blank(char byte) { return byte == ' ' || byte == '\n' || byte == '\t'; }

  Value value_of(SyntaxIndex expression, int depth = 0) {
    if (expression == no_syntax || depth > max_depth) return {};
    Value value;
    switch (syntax_[expression].kind) {
      case SyntaxKind::identifier: {
        const auto known = values_.find(syntax_.text_of(expression));
        return known == values_.end() ? Value{} : known->second;
      }
      case SyntaxKind::parenthesized_expression:
      case SyntaxKind::unary_operator:
      case SyntaxKind::subscript:
      case SyntaxKind::tuple: {
        const bool first_alone = syntax_.is(expression, SyntaxKind::subscript);
        for (const SyntaxIndex child : syntax_.children(expression)) {
          value = joined(value, value_of(child, depth + 1));
          if (first_alone) break;
        }
        return value;
      }
      case SyntaxKind::binary_operator:
        for (const SyntaxField side : {SyntaxField::left, SyntaxField::right}) {
          value = joined(value, value_of(syntax_.child(expression, side), depth + 1));
        }
        value.computed |= value.loaded;
        return value;
      case SyntaxKind::call:
        return value_of_call(expression, depth);
      default:
        return {};
    }
  }

  Value value_of_call(SyntaxIndex call, int depth) {
    std::string name = triton_name(call);
    Value value;
    if (name == "load") {
      const SyntaxIndex address = argument(call, 0, "pointer");
      const int from = root(address);
      if (from == nothing) return {};
      looked_at_.insert(from);
      if (!is_conditional(call)) loads_.insert({from, key_of(address)});
      value.loaded = bit(from);
      return value;
    }
    const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
    if (name.empty() && syntax_.is(function, SyntaxKind::attribute)) {
      // `x.to(tl.float32)`
      value = value_of(syntax_.child(function, SyntaxField::object), depth + 1);
      const SyntaxIndex method = syntax_.child(function, SyntaxField::attribute);
      if (method != no_syntax) name = syntax_.text_of(method);
    }
    for (SyntaxIndex given : arguments(call)) {
      if (syntax_.is(given, SyntaxKind::keyword_argument)) {
        given = syntax_.child(given, SyntaxField::value);
      }
      value = joined(value, value_of(given, depth + 1));
    }
    if (!is_one_of(name, keeping)) value.computed |= value.loaded;
    return value;
  }

  static Value joined(const Value& one, const Value& other) {
    return {one.loaded | other.loaded, one.computed | other.computed};
  }

  static std::uint64_t bit(int parameter) {
    return std::uint64_t{1} << static_cast<unsigned>(parameter);
  }

  void assign(SyntaxIndex target, SyntaxIndex from) {
    if (target == no_syntax) return;
    const Value value = value_of(from);
    if (!syntax_.is(target, SyntaxKind::identifier)) {
      for (SyntaxIndex at = target; at < syntax_[target].next; ++at) {
        if (syntax_.is(at, SyntaxKind::identifier)) set(syntax_.text_of(at), {}, nothing);
      }
      return;
    }
    // Two ways to come by a pointer are none, and a value that only one way computes isn't sure.
    const bool sure = !is_conditional(target);
    set(syntax_.text_of(target), sure ? value : Value{}, sure ? root(from) : nothing);
  }

  void augment(SyntaxIndex at) {
    const SyntaxIndex target = syntax_.child(at, SyntaxField::left);
    if (!syntax_.is(target, SyntaxKind::identifier)) return;
    const std::string_view name = syntax_.text_of(target);
    const auto known = pointers_.find(name);
    const int pointer = known == pointers_.end() ? nothing : known->second;
    Value value = value_of(target);
    if (!is_conditional(target)) {
      value = joined(value, value_of(syntax_.child(at, SyntaxField::right)));
      value.computed |= value.loaded;
    }
    set(name, value, pointer);
  }

  void set(std::string_view name, const Value& value, int pointer) {
    values_[name] = value;
    pointers_[name] = pointer;
    ++versions_[name];
  }

  void look_at_call(SyntaxIndex call) {
    const std::string name = triton_name(call);
    if (name != "store" && name != "atomic_add") return;
    const SyntaxIndex address = argument(call, 0, "pointer");
    const int to = root(address);
    if (to == nothing) return;
    const Value value = name == "store" ? value_of(argument(call, 1, "value")) : Value{};
    // What it fills before it looks at it begins anew with each run.
    if (name == "store" && !looked_at_.contains(to)) made_here_.insert(to);
    if (made_here_.contains(to) || is_conditional(call)) return;
    if (name == "store" &&
        ((value.computed & bit(to)) == 0 || !loads_.contains({to, key_of(address)}))) {
      return;
    }
    const std::string& parameter = names_[static_cast<std::size_t>(to)];
    const bool known = std::any_of(found_.begin(), found_.end(), [&](const PythonKeyPart& part) {
      return part.name == parameter;
    });
    if (known) return;
    PythonKeyPart part;
    part.name = parameter;
    part.place = syntax_.place_of(call);
    found_.push_back(std::move(part));
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  const SyntaxIndex definition_;
  std::vector<std::string> names_;
  // Of names: the parameter that they point into, what they hold, how often they were set.
  std::map<std::string_view, int> pointers_;
  std::map<std::string_view, Value> values_;
  std::map<std::string_view, unsigned> versions_;
  // Addresses that were loaded from, each with its parameter.
  std::set<std::pair<int, std::string>> loads_;
  // Parameters that were loaded from, and those that were stored to before that.
  std::set<int> looked_at_;
  std::set<int> made_here_;
  std::vector<PythonKeyPart> found_;
};

}  // namespace

std::vector<PythonKeyPart> tuned_writes(const PythonSyntax& syntax, const PythonScopes& scopes,
                                        const PythonFunction& kernel) {
  if (kernel.node == no_syntax) return {};
  return TunedWrites(syntax, scopes, kernel).run();
}

}  // namespace opseal
