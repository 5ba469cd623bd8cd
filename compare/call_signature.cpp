#include "compare/call_signature.h"

#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace opseal {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

int depth_change(char byte) {
  if (byte == '(' || byte == '[') return 1;
  return byte == ')' || byte == ']' ? -1 : 0;
}

// At commas outside brackets and quotation marks.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  char quote = 0;
  std::size_t from = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at == text.size() || (text[at] == ',' && depth == 0 && quote == 0)) {
      const std::string_view part = trimmed(text.substr(from, at - from));
      if (!part.empty()) parts.push_back(part);
      from = at + 1;
    } else if (quote != 0) {
      if (text[at] == quote) quote = 0;
    } else if (text[at] == '"' || text[at] == '\'') {
      quote = text[at];
    } else {
      depth += depth_change(text[at]);
    }
  }
  return parts;
}

// `[1, 1]` as `1`.
std::string plain_default(std::string_view text) {
  text = trimmed(text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::string(text);
  const std::vector<std::string_view> elements = split(text.substr(1, text.size() - 2));
  for (const std::string_view element : elements) {
    if (element != elements.front()) return std::string(text);
  }
  return elements.empty() ? "[]" : std::string(elements.front());
}

void set_type(std::string_view text, CallArgument& argument) {
  const bool symbolic = text.starts_with("Sym");
  if (symbolic) text.remove_prefix(3);
  std::string type(text);
  if (symbolic && !type.empty()) type.front() = static_cast<char>(type.front() - 'A' + 'a');
  for (std::size_t at = 0; at < type.size(); ++at) {
    if (type[at] == '(') {
      const std::size_t close = type.find(')', at);
      if (close == type.npos) break;
      argument.alias = type.substr(at + 1, close - at - 1);
      type.erase(at, close - at + 1);
    }
  }
  argument.type = type;
}

CallArgument read_argument(std::string_view text) {
  CallArgument argument;
  const std::size_t equals = text.find('=');
  if (equals != text.npos) {
    argument.fallback = plain_default(text.substr(equals + 1));
    text = trimmed(text.substr(0, equals));
  }
  // The name is behind the last space outside the alias mark: `Tensor(a -> *) self`.
  const std::size_t space = text.rfind(' ');
  const std::size_t close = text.rfind(')');
  if (space != text.npos && (close == text.npos || close < space)) {
    argument.name = text.substr(space + 1);
    text = trimmed(text.substr(0, space));
  }
  set_type(text, argument);
  return argument;
}

// The place of the bracket that closes the one at `open`, or npos.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    depth += depth_change(text[at]);
    if (depth == 0) return at;
  }
  return text.npos;
}

// The text between quotation marks; where there are none, the text itself.
std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.front() == text.back();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::optional<double> number_of(std::string_view text) {
  if (text == "True" || text == "true") return 1;
  if (text == "False" || text == "false") return 0;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

CallSignature read_call_signature(std::string_view text) {
  CallSignature schema;
  const std::size_t open = text.find('(');
  if (open == text.npos || text.starts_with('{')) return schema;
  const std::size_t close = closing(text, open);
  if (close == text.npos) return schema;
  const std::size_t arrow = text.find("->", close);
  if (arrow == text.npos) return schema;
  bool keyword_only = false;
  for (const std::string_view part : split(text.substr(open + 1, close - open - 1))) {
    if (part == "*") {
      keyword_only = true;
      continue;
    }
    if (part == "...") {
      schema.more_arguments = true;
      continue;
    }
    CallArgument argument = read_argument(part);
    argument.keyword_only = keyword_only;
    if (argument.name.empty()) argument.name = '_' + std::to_string(schema.arguments.size());
    schema.arguments.push_back(std::move(argument));
  }
  std::string_view results = trimmed(text.substr(arrow + 2));
  if (results.starts_with('(') && results.ends_with(')'))
    results = results.substr(1, results.size() - 2);
  for (const std::string_view part : split(results)) {
    if (part == "...") {
      schema.more_results = true;
    } else {
      schema.results.push_back(read_argument(part));
      std::string& name = schema.results.back().name;
      // What torch calls results of functions that give them none.
      if (name == '_' + std::to_string(schema.results.size() - 1)) name.clear();
    }
  }
  schema.readable = true;
  return schema;
}

bool same_default(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const std::string_view left = unquoted(a);
  const std::string_view right = unquoted(b);
  if (left != a && right != b) return left == right;
  const std::optional<double> first = number_of(a);
  return first.has_value() && first == number_of(b);
}

}  // namespace opseal
