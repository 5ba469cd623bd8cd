#include "analyzers/python/table_keys.h"

#include <algorithm>
#include <array>
#include <utility>

namespace opseal {

namespace {

using Constant = PythonConstant::Kind;
using Binding = PythonBinding::Kind;

// `Device.CUDA` of `enums.Device.CUDA`: files reach one thing through different modules.
std::string_view last_parts(std::string_view full, std::size_t parts) {
  std::size_t dot = full.size();
  for (std::size_t i = 0; i < parts && dot != full.npos; ++i) {
    dot = dot == 0 ? full.npos : full.rfind('.', dot - 1);
  }
  return dot == full.npos ? full : full.substr(dot + 1);
}

// Dtypes of torch that have two names, of which the second is printed (torch/_C, `torch.half is
// torch.float16`).
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> torch_names{{
    {"half", "float16"},
    {"float", "float32"},
    {"double", "float64"},
    {"short", "int16"},
    {"int", "int32"},
    {"long", "int64"},
    {"chalf", "complex32"},
    {"cfloat", "complex64"},
    {"cdouble", "complex128"},
}};

// A name that stands for one thing in the whole program: imported, a class or function, a builtin.
bool is_fixed_name(const PythonSyntax& syntax, const PythonScopes& scopes, SyntaxIndex head) {
  const std::vector<PythonBinding>& found = scopes.find(syntax.text_of(head), head);
  return std::all_of(found.begin(), found.end(), [](const PythonBinding& binding) {
    return binding.kind == Binding::import || binding.kind == Binding::definition;
  });
}

PythonKeyValue value_of_name(const PythonSyntax& syntax, const PythonScopes& scopes,
                             SyntaxIndex expression) {
  SyntaxIndex head = expression;
  for (std::size_t depth = 0; syntax.is(head, SyntaxKind::attribute) && depth < 8; ++depth) {
    head = syntax.child(head, SyntaxField::object);
  }
  if (!syntax.is(head, SyntaxKind::identifier) || !is_fixed_name(syntax, scopes, head)) return {};
  const std::vector<std::string> names = scopes.full_names(expression);
  if (names.size() != 1) return {};
  const std::string& full = names.front();
  if (syntax.is(expression, SyntaxKind::identifier)) {
    return {".", std::string(last_parts(full, 1)), full};
  }
  // More than an enumerator of a module: `torch.ops.aten.add.Scalar`.
  const std::string_view written = syntax.text_of(expression);
  const auto dots = static_cast<std::size_t>(std::count(written.begin(), written.end(), '.'));
  const bool of_value = full.ends_with(".value") || full.ends_with(".name");
  const std::size_t parts = of_value ? 3 : 2;
  std::string text(last_parts(full, dots > parts ? dots + 1 : parts));
  if (text.starts_with("torch.")) {
    const auto same = std::find_if(torch_names.begin(), torch_names.end(),
                                   [&](const auto& pair) { return text.substr(6) == pair.first; });
    if (same != torch_names.end()) {
      text = "torch." + std::string(same->second);
      return {"torch.", text, text};
    }
  }
  return {text.substr(0, text.find('.') + 1), text, full};
}

PythonKeyValue value_of(const PythonSyntax& syntax, const PythonScopes& scopes,
                        const PythonConstant& constant) {
  switch (constant.kind) {
    case Constant::text:
      return {"t", constant.text};
    case Constant::number:
      return {"n", constant.text};
    case Constant::truth:
      return {"b", constant.text};
    case Constant::none:
      return {"0", "None"};
    case Constant::reference:
      return constant.node == no_syntax ? PythonKeyValue()
                                        : value_of_name(syntax, scopes, constant.node);
    case Constant::list: {
      PythonKeyValue whole{"(", "("};
      for (const PythonConstant& item : constant.items) {
        const bool nested = item.kind == Constant::list;
        const PythonKeyValue one = nested ? PythonKeyValue() : value_of(syntax, scopes, item);
        if (!one.decided()) return {};
        whole.kind += one.kind;
        if (whole.text.size() > 1) whole.text += ", ";
        whole.text += one.text;
        whole.full += (one.full.empty() ? one.text : one.full) + ", ";
      }
      whole.text += ')';
      return whole;
    }
    default:
      return {};
  }
}

class KeyReader {
 public:
  KeyReader(const PythonSyntax& syntax, const PythonScopes& scopes, PythonConstants& constants,
            SyntaxIndex function, const std::vector<PythonTableParameter>& parameters)
      : syntax_(syntax),
        scopes_(scopes),
        constants_(constants),
        function_(function),
        parameters_(parameters) {}

  bool add_parts(SyntaxIndex expression, std::vector<PythonTableKeyPart>& parts,
                 std::size_t depth) {
    expression = syntax_.unwrapped(expression);
    if (expression == no_syntax || depth > 4 || parts.size() > most_parts) return false;
    if (syntax_.is(expression, SyntaxKind::tuple) ||
        syntax_.is(expression, SyntaxKind::expression_list)) {
      const std::vector<SyntaxIndex> items = syntax_.children(expression);
      return !items.empty() && std::all_of(items.begin(), items.end(), [&](SyntaxIndex item) {
        return add_part(item, parts, depth);
      });
    }
    // `key = (op, device)` before it.
    if (const PythonBinding* local = local_of(expression)) {
      return add_parts(local->value, parts, depth + 1);
    }
    return add_part(expression, parts, depth);
  }

 private:
  static constexpr std::size_t most_parts = 8;

  const PythonBinding* local_of(SyntaxIndex expression) const {
    if (!syntax_.is(expression, SyntaxKind::identifier)) return nullptr;
    const PythonBinding* binding = scopes_.only(syntax_.text_of(expression), expression);
    const bool local = binding != nullptr && binding->kind == Binding::value &&
                       binding->value != no_syntax && scopes_.within(binding->name, function_);
    return local ? binding : nullptr;
  }

  bool add_part(SyntaxIndex expression, std::vector<PythonTableKeyPart>& parts, std::size_t depth) {
    PythonTableKeyPart part;
    if (!add_pieces(expression, part, depth)) return false;
    parts.push_back(std::move(part));
    return true;
  }

  bool add_pieces(SyntaxIndex expression, PythonTableKeyPart& part, std::size_t depth) {
    expression = syntax_.unwrapped(expression);
    if (expression == no_syntax || depth > 6) return false;
    switch (syntax_[expression].kind) {
      case SyntaxKind::identifier:
        if (add_parameter(expression, false, part)) return true;
        if (const PythonBinding* local = local_of(expression)) {
          return add_pieces(local->value, part, depth + 1);
        }
        return add_constant(expression, part);
      case SyntaxKind::attribute: {
        const SyntaxIndex name = syntax_.child(expression, SyntaxField::attribute);
        const SyntaxIndex object = syntax_.child(expression, SyntaxField::object);
        const bool named = name != no_syntax && syntax_.text_of(name) == "__name__";
        if (named && syntax_.is(object, SyntaxKind::identifier)) {
          return add_parameter(object, true, part);
        }
        return add_constant(expression, part);
      }
      case SyntaxKind::string:
        return add_string(expression, part, depth);
      default:
        return add_constant(expression, part);
    }
  }

  bool add_string(SyntaxIndex string, PythonTableKeyPart& part, std::size_t depth) {
    bool made = false;
    for (SyntaxIndex inner = string + 1; inner < syntax_[string].next;
         inner = syntax_[inner].next) {
      if (syntax_.is(inner, SyntaxKind::interpolation)) made = true;
    }
    if (!made) return add_constant(string, part);
    for (SyntaxIndex inner = string + 1; inner < syntax_[string].next;
         inner = syntax_[inner].next) {
      if (part.pieces.size() > 2 * most_parts) return false;
      if (syntax_.is(inner, SyntaxKind::string_content)) {
        const std::string_view text = syntax_.text_of(inner);
        if (text.find_first_of("\\{}") != text.npos) return false;
        part.pieces.push_back({std::string(text)});
      } else if (syntax_.is(inner, SyntaxKind::interpolation)) {
        const std::vector<SyntaxIndex> held = syntax_.children(inner);
        if (held.size() != 1 || syntax_.text_of(inner).ends_with("=}")) return false;
        if (!syntax_.is(held[0], SyntaxKind::identifier)) return false;
        if (!add_pieces(held[0], part, depth + 1)) return false;
      }
    }
    return true;
  }

  bool add_constant(SyntaxIndex expression, PythonTableKeyPart& part) {
    PythonKeyValue value = python_key_value(syntax_, scopes_, constants_, expression);
    if (!value.decided() || !part.pieces.empty()) return false;
    part.constant = value;
    part.pieces.push_back({std::move(value.text)});
    return true;
  }

  bool add_parameter(SyntaxIndex name, bool name_of, PythonTableKeyPart& part) const {
    const std::string_view text = syntax_.text_of(name);
    const PythonBinding* binding = scopes_.only(text, name);
    if (binding == nullptr || binding->kind != Binding::parameter) return false;
    const SyntaxIndex owner = syntax_[syntax_[binding->value].parent].parent;
    PythonTableKeyPiece piece;
    piece.name_of = name_of;
    if (owner == function_) {
      const auto found = std::find_if(
          parameters_.begin(), parameters_.end(),
          [&](const PythonTableParameter& parameter) { return parameter.name == text; });
      if (found == parameters_.end()) return false;
      piece.parameter = static_cast<int>(found - parameters_.begin());
    } else if (name_of && scopes_.within(owner, function_)) {
      piece.decorated = true;
    } else {
      return false;
    }
    part.pieces.push_back(std::move(piece));
    return true;
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  PythonConstants& constants_;
  SyntaxIndex function_;
  const std::vector<PythonTableParameter>& parameters_;
};

}  // namespace

PythonKeyValue python_key_value(const PythonSyntax& syntax, const PythonScopes& scopes,
                                PythonConstants& constants, SyntaxIndex expression) {
  return value_of(syntax, scopes, constants.of(expression));
}

std::vector<PythonKeyValue> python_key(const PythonSyntax& syntax, const PythonScopes& scopes,
                                       PythonConstants& constants, SyntaxIndex expression) {
  std::vector<PythonKeyValue> key;
  const PythonConstant whole = constants.of(expression);
  if (whole.kind != Constant::list) {
    key.push_back(value_of(syntax, scopes, whole));
    return key;
  }
  constexpr std::size_t most_parts = 16;
  for (const PythonConstant& item : whole.items) {
    if (key.size() == most_parts) return {PythonKeyValue()};
    key.push_back(value_of(syntax, scopes, item));
  }
  return key;
}

bool is_decided(const std::vector<PythonKeyValue>& key) {
  return !key.empty() && std::all_of(key.begin(), key.end(),
                                     [](const PythonKeyValue& part) { return part.decided(); });
}

std::string python_key_text(const std::vector<PythonKeyValue>& key) {
  std::string text;
  for (const PythonKeyValue& part : key) {
    if (!text.empty()) text += ", ";
    text += part.text;
  }
  return text;
}

bool table_parameters(const PythonSyntax& syntax, const PythonScopes& scopes,
                      PythonConstants& constants, SyntaxIndex function, bool method,
                      std::vector<PythonTableParameter>& parameters) {
  constexpr std::size_t most = 32;
  const SyntaxIndex list = syntax.child(function, SyntaxField::parameters);
  if (list == no_syntax) return false;
  bool first = method;
  for (const SyntaxIndex index : syntax.children(list)) {
    SyntaxIndex name = index;
    if (!syntax.is(index, SyntaxKind::identifier)) {
      if (syntax.is(index, SyntaxKind::keyword_separator) ||
          syntax.is(index, SyntaxKind::positional_separator)) {
        continue;
      }
      name = syntax.child(index, SyntaxField::name);
      if (name == no_syntax) name = syntax.first(index);
    }
    if (!syntax.is(name, SyntaxKind::identifier) || parameters.size() == most) return false;
    if (std::exchange(first, false)) continue;
    PythonTableParameter parameter;
    parameter.name = syntax.text_of(name);
    const SyntaxIndex standard = syntax.child(index, SyntaxField::value);
    if (standard != no_syntax && index != name) {
      parameter.has_default = true;
      parameter.standard = python_key_value(syntax, scopes, constants, standard);
    }
    parameters.push_back(std::move(parameter));
  }
  return true;
}

bool add_key_parts(const PythonSyntax& syntax, const PythonScopes& scopes,
                   PythonConstants& constants, SyntaxIndex function,
                   const std::vector<PythonTableParameter>& parameters, SyntaxIndex expression,
                   std::vector<PythonTableKeyPart>& parts) {
  return KeyReader(syntax, scopes, constants, function, parameters).add_parts(expression, parts, 0);
}

}  // namespace opseal
