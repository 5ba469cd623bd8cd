#include "analyzers/python/constants.h"

#include <algorithm>
#include <utility>

#include "opseal/ascii.h"
#include "opseal/utf8.h"

namespace opseal {

namespace {

using Kind = PythonConstant::Kind;

// Reads up to `most` digits from `at` on, and moves it behind them.
std::uint32_t read_code(std::string_view written, std::size_t& at, std::size_t most,
                        unsigned base) {
  std::uint32_t code = 0;
  for (std::size_t i = 0; i < most && at < written.size() && hex_value(written[at]) < base; ++i) {
    code = code * base + hex_value(written[at++]);
  }
  return code;
}

}  // namespace

bool unescape_python(std::string_view written, bool raw, std::string& text) {
  constexpr std::string_view letters = "abfnrtv\\'\"";
  constexpr std::string_view meanings = "\a\b\f\n\r\t\v\\'\"";
  for (std::size_t at = 0; at < written.size();) {
    const char c = written[at++];
    if (raw || c != '\\' || at == written.size()) {
      text += c;
      continue;
    }
    const char escape = written[at++];
    const std::size_t letter = letters.find(escape);
    if (letter != std::string_view::npos) {
      text += meanings[letter];
    } else if (escape == '\n') {
      continue;
    } else if (escape == '\r') {
      if (at < written.size() && written[at] == '\n') ++at;
    } else if (hex_value(escape) < 8) {
      --at;
      append_utf8(text, read_code(written, at, 3, 8));
    } else if (escape == 'x' || escape == 'u' || escape == 'U') {
      const std::size_t digits = escape == 'x' ? 2 : escape == 'u' ? 4 : 8;
      const std::size_t begin = at;
      const std::uint32_t code = read_code(written, at, digits, 16);
      if (at - begin != digits || code > 0x10ffff) return false;
      append_utf8(text, code);
    } else if (escape == 'N') {
      return false;
    } else {
      text += '\\';
      text += escape;
    }
  }
  return true;
}

PythonConstant PythonConstants::of(SyntaxIndex expression) { return of(expression, 0); }

PythonConstant PythonConstants::of(SyntaxIndex expression, std::size_t depth) {
  const SyntaxIndex index = syntax_.unwrapped(expression);
  PythonConstant constant;
  constant.node = index;
  if (index == no_syntax || depth >= max_depth || ++steps_ > max_steps) return constant;
  switch (syntax_[index].kind) {
    case SyntaxKind::none:
      constant.kind = Kind::none;
      return constant;
    case SyntaxKind::true_value:
    case SyntaxKind::false_value:
    case SyntaxKind::integer:
    case SyntaxKind::floating:
      constant.kind =
          syntax_.is(index, SyntaxKind::integer) || syntax_.is(index, SyntaxKind::floating)
              ? Kind::number
              : Kind::truth;
      constant.text = syntax_.text_of(index);
      return constant;
    case SyntaxKind::unary_operator: {
      const SyntaxIndex first = syntax_.first(index);
      if (syntax_[index].next - index > 3 || first == no_syntax) return constant;
      const SyntaxIndex last = syntax_[index].next - 1;
      if (!syntax_.is(last, SyntaxKind::integer) && !syntax_.is(last, SyntaxKind::floating)) {
        return constant;
      }
      constant.kind = Kind::number;
      constant.text = syntax_.text_of(index);
      return constant;
    }
    case SyntaxKind::string:
    case SyntaxKind::concatenated_string:
      return of_string(index, depth);
    case SyntaxKind::list:
    case SyntaxKind::tuple:
    case SyntaxKind::set:
    case SyntaxKind::expression_list:
      return of_sequence(index, depth);
    case SyntaxKind::dictionary:
      return of_dictionary(index, depth);
    case SyntaxKind::binary_operator:
      return of_sum(index, depth);
    case SyntaxKind::identifier:
      return of_name(index, depth);
    case SyntaxKind::attribute:
      return of_attribute(index, depth);
    case SyntaxKind::call:
      return of_call(index, depth);
    case SyntaxKind::subscript:
      return of_subscript(index, depth);
    default:
      return constant;
  }
}

PythonConstant PythonConstants::of_string(SyntaxIndex string, std::size_t depth) {
  PythonConstant constant;
  constant.node = string;
  if (syntax_.is(string, SyntaxKind::concatenated_string)) {
    for (SyntaxIndex part = string + 1; part < syntax_[string].next; part = syntax_[part].next) {
      if (++steps_ > max_steps) return constant;
      PythonConstant inner = of_string(part, depth);
      if (!inner.is_text() || constant.text.size() + inner.text.size() > max_text) return constant;
      constant.text += inner.text;
    }
    constant.kind = Kind::text;
    return constant;
  }
  bool raw = false;
  for (SyntaxIndex part = string + 1; part < syntax_[string].next; part = syntax_[part].next) {
    const std::string_view written = syntax_.text_of(part);
    if (++steps_ > max_steps || constant.text.size() + written.size() > max_text) return constant;
    switch (syntax_[part].kind) {
      case SyntaxKind::string_start:
        if (written.find_first_of("bB") != std::string_view::npos) return constant;
        raw = written.find_first_of("rR") != std::string_view::npos;
        break;
      case SyntaxKind::string_content: {
        if (!unescape_python(written, raw, constant.text)) return constant;
        break;
      }
      case SyntaxKind::interpolation:
        if (!append_interpolation(part, depth, constant.text)) return constant;
        break;
      case SyntaxKind::string_end:
        constant.kind = Kind::text;
        break;
      default:
        return constant;
    }
  }
  return constant;
}

bool PythonConstants::append_interpolation(SyntaxIndex interpolation, std::size_t depth,
                                           std::string& text) {
  const std::vector<SyntaxIndex> parts = syntax_.children(interpolation);
  // More than the expression is a conversion or a format.
  if (parts.size() != 1) return false;
  // `{x=}` writes the expression too.
  const std::string_view written = syntax_.text_of(interpolation);
  if (written.ends_with("=}")) return false;
  const PythonConstant value = of(parts[0], depth + 1);
  if (value.kind != Kind::text && value.kind != Kind::number && value.kind != Kind::truth) {
    return false;
  }
  if (text.size() + value.text.size() > max_text) return false;
  text += value.text;
  return true;
}

PythonConstant PythonConstants::of_sequence(SyntaxIndex sequence, std::size_t depth) {
  PythonConstant constant;
  constant.node = sequence;
  for (SyntaxIndex part = sequence + 1; part < syntax_[sequence].next; part = syntax_[part].next) {
    if (syntax_.is(part, SyntaxKind::list_splat)) {
      const SyntaxIndex inner = syntax_.first(part);
      PythonConstant items = of(inner, depth + 1);
      if (items.kind != Kind::list) return {Kind::undecided, {}, {}, sequence};
      std::move(items.items.begin(), items.items.end(), std::back_inserter(constant.items));
      continue;
    }
    constant.items.push_back(of(part, depth + 1));
    if (steps_ > max_steps) return {Kind::undecided, {}, {}, sequence};
  }
  constant.kind = Kind::list;
  return constant;
}

PythonConstant PythonConstants::of_dictionary(SyntaxIndex dictionary, std::size_t depth) {
  PythonConstant constant;
  constant.node = dictionary;
  for (SyntaxIndex part = dictionary + 1; part < syntax_[dictionary].next;
       part = syntax_[part].next) {
    if (!syntax_.is(part, SyntaxKind::pair)) return {Kind::undecided, {}, {}, dictionary};
    constant.items.push_back(of(syntax_.child(part, SyntaxField::key), depth + 1));
    constant.items.push_back(of(syntax_.child(part, SyntaxField::value), depth + 1));
    if (steps_ > max_steps) return {Kind::undecided, {}, {}, dictionary};
  }
  constant.kind = Kind::dictionary;
  return constant;
}

PythonConstant PythonConstants::of_sum(SyntaxIndex sum, std::size_t depth) {
  PythonConstant constant;
  constant.node = sum;
  const SyntaxIndex sign = syntax_.child(sum, SyntaxField::operator_sign);
  if (sign == no_syntax || syntax_.text_of(sign) != "+") return constant;
  PythonConstant left = of(syntax_.child(sum, SyntaxField::left), depth + 1);
  if (left.kind != Kind::text && left.kind != Kind::list) return constant;
  PythonConstant right = of(syntax_.child(sum, SyntaxField::right), depth + 1);
  if (left.kind != right.kind || left.text.size() + right.text.size() > max_text ||
      left.items.size() + right.items.size() > max_steps) {
    return constant;
  }
  constant.kind = left.kind;
  constant.text = left.text + right.text;
  constant.items = std::move(left.items);
  std::move(right.items.begin(), right.items.end(), std::back_inserter(constant.items));
  return constant;
}

PythonConstant PythonConstants::of_name(SyntaxIndex name, std::size_t depth) {
  const std::string_view text = syntax_.text_of(name);
  PythonConstant constant{Kind::reference, std::string(text.substr(0, 256)), {}, name};
  const PythonBinding* binding = scopes_.only(text, name);
  if (binding == nullptr) return constant;
  if (binding->kind == PythonBinding::Kind::loop) {
    const auto round = std::find_if(rounds.begin(), rounds.end(), [&](const PythonRound& one) {
      return one.loop == binding->value && one.name == text;
    });
    if (round != rounds.end()) {
      // Copies of a long text or list cost too.
      steps_ += round->value.items.size() + round->value.text.size() / 16;
      return round->value;
    }
    if (std::find(open_loops.begin(), open_loops.end(), binding->value) == open_loops.end()) {
      open_loops.push_back(binding->value);
    }
    return constant;
  }
  if (binding->kind == PythonBinding::Kind::parameter && follows_calls) {
    return of_parameter(*binding, std::move(constant));
  }
  if (binding->kind != PythonBinding::Kind::value) return constant;
  PythonConstant value = of(binding->value, depth + 1);
  steps_ += value.text.size() / 16;
  return value.kind == Kind::undecided ? constant : value;
}

// `Class.name`, which the class binds once to a text: classes that register themselves keep their
// names so.
PythonConstant PythonConstants::of_attribute(SyntaxIndex attribute, std::size_t depth) {
  PythonConstant constant{
      Kind::reference, std::string(syntax_.text_of(attribute).substr(0, 256)), {}, attribute};
  const SyntaxIndex object = syntax_.unwrapped(syntax_.child(attribute, SyntaxField::object));
  const SyntaxIndex name = syntax_.child(attribute, SyntaxField::attribute);
  if (!syntax_.is(object, SyntaxKind::identifier) || name == no_syntax) return constant;
  const PythonBinding* owner = scopes_.only(syntax_.text_of(object), object);
  if (owner == nullptr || owner->kind != PythonBinding::Kind::definition) return constant;
  if (!syntax_.is(owner->value, SyntaxKind::class_definition)) return constant;
  const SyntaxIndex body = syntax_.child(owner->value, SyntaxField::body);
  const SyntaxIndex first = body == no_syntax ? no_syntax : syntax_.first(body);
  if (first == no_syntax) return constant;
  const PythonBinding* binding = scopes_.only(syntax_.text_of(name), body);
  const bool own = binding != nullptr && binding->kind == PythonBinding::Kind::value &&
                   binding->name >= body && binding->name < syntax_[body].next;
  if (!own) return constant;
  PythonConstant value = of(binding->value, depth + 1);
  steps_ += value.text.size() / 16;
  return value.is_text() ? value : constant;
}

PythonConstant PythonConstants::of_call(SyntaxIndex call, std::size_t depth) {
  const PythonConstant undecided{Kind::undecided, {}, {}, call};
  const SyntaxIndex function = syntax_.unwrapped(syntax_.child(call, SyntaxField::function));
  const SyntaxIndex list = syntax_.child(call, SyntaxField::arguments);
  if (function == no_syntax || !syntax_.is(list, SyntaxKind::argument_list)) return undecided;
  // Cheap to look at, and by far most calls are others.
  const bool method = syntax_.is(function, SyntaxKind::attribute);
  const SyntaxIndex called = method ? syntax_.child(function, SyntaxField::attribute) : function;
  if (!syntax_.is(called, SyntaxKind::identifier)) return undecided;
  const std::string_view name = syntax_.text_of(called);
  const SyntaxIndex first = syntax_.first(list);
  PythonConstant result = undecided;
  if (method && first == no_syntax && (name == "items" || name == "keys" || name == "values")) {
    const PythonConstant whole = of(syntax_.child(function, SyntaxField::object), depth + 1);
    if (whole.kind != Kind::dictionary) return undecided;
    result.kind = Kind::list;
    for (std::size_t i = 0; i + 1 < whole.items.size(); i += 2) {
      if (name == "items") {
        result.items.push_back({Kind::list, {}, {whole.items[i], whole.items[i + 1]}, call});
      } else {
        result.items.push_back(whole.items[name == "keys" ? i : i + 1]);
      }
    }
    return result;
  }
  if (method || first == no_syntax || syntax_.is(first, SyntaxKind::keyword_argument)) {
    return undecided;
  }
  const bool alone = syntax_[first].next == syntax_[list].next;
  const bool plain = name == "list" || name == "tuple" || name == "set" || name == "sorted";
  if (!plain && name != "enumerate" && name != "zip" && !(name == "str" && alone)) {
    return undecided;
  }
  // Somebody's own function of that name.
  if (!scopes_.find(name, call).empty()) return undecided;
  if (name == "zip") {
    std::vector<PythonConstant> columns;
    for (const SyntaxIndex argument : syntax_.children(list)) {
      columns.push_back(of(argument, depth + 1));
      if (columns.back().kind != Kind::list) return undecided;
    }
    result.kind = Kind::list;
    for (std::size_t row = 0; row < columns.front().items.size(); ++row) {
      PythonConstant items{Kind::list, {}, {}, call};
      for (const PythonConstant& column : columns) {
        if (row >= column.items.size()) return result;
        items.items.push_back(column.items[row]);
      }
      result.items.push_back(std::move(items));
    }
    return result;
  }
  if (!alone) return undecided;
  PythonConstant inner = of(first, depth + 1);
  if (name == "str") return inner.is_text() ? inner : undecided;
  if (inner.kind != Kind::list) return undecided;
  if (plain) return inner;
  result.kind = Kind::list;
  for (std::size_t i = 0; i < inner.items.size(); ++i) {
    result.items.push_back(
        {Kind::list, {}, {{Kind::number, std::to_string(i), {}, call}, inner.items[i]}, call});
  }
  return result;
}

PythonConstant PythonConstants::of_subscript(SyntaxIndex subscript, std::size_t depth) {
  const PythonConstant undecided{Kind::undecided, {}, {}, subscript};
  const PythonConstant whole = of(syntax_.child(subscript, SyntaxField::value), depth + 1);
  if (whole.kind != Kind::dictionary && whole.kind != Kind::list) return undecided;
  const PythonConstant key = of(syntax_.child(subscript, SyntaxField::subscript), depth + 1);
  if (whole.kind == Kind::dictionary && key.is_text()) {
    for (std::size_t i = 0; i + 1 < whole.items.size(); i += 2) {
      if (whole.items[i].is_text() && whole.items[i].text == key.text) return whole.items[i + 1];
    }
  }
  if (whole.kind == Kind::list && key.kind == Kind::number && key.text.size() < 5) {
    std::size_t at = 0;
    for (const char c : key.text) {
      if (!is_digit(c)) return undecided;
      at = at * 10 + hex_value(c);
    }
    if (at < whole.items.size()) return whole.items[at];
  }
  return undecided;
}

PythonConstant PythonConstants::items_of(SyntaxIndex loop) {
  if (syntax_.is(loop, SyntaxKind::function_definition)) return calls_of(loop);
  PythonConstant items = of(syntax_.child(loop, SyntaxField::right), 0);
  if (items.kind == Kind::dictionary) {
    PythonConstant keys{Kind::list, {}, {}, items.node};
    for (std::size_t i = 0; i < items.items.size(); i += 2) keys.items.push_back(items.items[i]);
    return keys;
  }
  if (items.kind != Kind::list) items.kind = Kind::undecided;
  return items;
}

}  // namespace opseal
