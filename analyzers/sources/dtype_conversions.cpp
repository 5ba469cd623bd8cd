// `x = x.to(at::kFloat);` before a choice by the dtype of `x`, in C++ and in Python.

#include "analyzers/sources/dtype_conversions.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// Arguments of a conversion, and tokens of a statement before it.
constexpr std::uint32_t most_tokens = 64;
// Brackets of calls around a token.
constexpr std::size_t most_depth = 32;
// Shorter names are those of much else.
constexpr std::size_t shortest_name = 3;
constexpr std::size_t longest_name = 256;

constexpr std::array<std::string_view, 14> dtype_words{
    "dtype",  "scalar_type", "options",  "ScalarType", "Float",    "Half",    "BFloat16",
    "Double", "kFloat",      "kFloat32", "kHalf",      "kFloat16", "kDouble", "kBFloat16"};

bool names_dtype(const Token& token) {
  return std::find(dtype_words.begin(), dtype_words.end(), token.text) != dtype_words.end() ||
         token.text.find("dtype") != token.text.npos || token.text.ends_with("ScalarType");
}

class ConversionReader {
 public:
  ConversionReader(const SourceUnit& unit, const TokenRange& range, FunctionBody& body)
      : tokens_(unit.tokens), range_(range), body_(body) {}

  void run() {
    std::vector<std::uint32_t> open;
    for (std::uint32_t at = range_.begin; at < range_.end; ++at) {
      const Token& token = tokens_[at];
      if (token.is('(')) open.push_back(at);
      if (token.is(')') && !open.empty()) open.pop_back();
      if (!token.is_identifier()) continue;
      const bool converts = is_conversion(at);
      if (converts) note_name(at);
      if (converts || converted_.contains(token.hash)) note_calls(open);
    }
    std::sort(body_.converting.begin(), body_.converting.end());
    body_.converting.erase(std::unique(body_.converting.begin(), body_.converting.end()),
                           body_.converting.end());
    for (DispatchSite& site : body_.sites) {
      const std::size_t end =
          std::min(site.expression.find_first_of(" .-([:"), site.expression.size());
      const auto found = converted_.find(hash_of(site.expression.substr(0, end)));
      if (found != converted_.end() && found->second < site.place.offset) site.known = false;
    }
  }

 private:
  // `.to(at::kFloat)`, `.toType(…)`, `.type_as(…)`, `cached_cast(at::kFloat, x)`.
  bool is_conversion(std::uint32_t at) const {
    if (at == range_.begin || at + 1 >= range_.end || !tokens_[at + 1].is('(')) return false;
    const Token& token = tokens_[at];
    if (token.is("cached_cast")) return true;
    const bool is_member = tokens_[at - 1].is('.') || tokens_[at - 1].is("->");
    if (!is_member) return false;
    if (token.is("toType") || token.is("type_as")) return true;
    if (!token.is("to")) return false;
    int depth = 0;
    for (std::uint32_t next = at + 1; next < range_.end && next - at < most_tokens; ++next) {
      if (tokens_[next].is('(')) ++depth;
      if (tokens_[next].is(')') && --depth == 0) return false;
      if (tokens_[next].is_identifier() && names_dtype(tokens_[next])) return true;
    }
    return false;
  }

  // The variable that the statement gives a value.
  void note_name(std::uint32_t at) {
    for (std::uint32_t before = at; before > range_.begin && at - before < most_tokens; --before) {
      const Token& token = tokens_[before - 1];
      if (token.is(';') || token.is('{') || token.is('}')) return;
      if (!token.is('=') || before < 2 || !tokens_[before - 2].is_identifier()) continue;
      converted_.try_emplace(tokens_[before - 2].hash, tokens_[at].offset);
    }
  }

  void note_calls(const std::vector<std::uint32_t>& open) {
    const std::size_t first = open.size() - std::min(open.size(), most_depth);
    for (std::size_t at = first; at < open.size(); ++at) {
      const std::uint32_t bracket = open[at];
      if (bracket <= range_.begin) continue;
      std::uint32_t name = bracket - 1;
      // `run<float>(…)`
      std::size_t depth = 0;
      for (std::uint32_t steps = 0; tokens_[name].is('>') || depth > 0; --name, ++steps) {
        if (tokens_[name].is('>')) ++depth;
        if (tokens_[name].is('<')) --depth;
        if (name <= range_.begin || steps > most_tokens) break;
      }
      if (tokens_[name].is_identifier()) body_.converting.emplace_back(tokens_[name].text);
    }
  }

  const std::vector<Token>& tokens_;
  TokenRange range_;
  FunctionBody& body_;
  // Variables that hold what was converted, by hash of the name: where it was.
  std::map<std::uint32_t, std::uint32_t> converted_;
};

std::size_t line_start(std::string_view bytes, std::size_t at) {
  const std::size_t newline = at == 0 ? bytes.npos : bytes.rfind('\n', at - 1);
  return newline == bytes.npos ? 0 : newline + 1;
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

// From the decorators of the innermost `def` around a place up to the place.
std::string_view function_before(std::string_view bytes, std::size_t at) {
  constexpr int most_lines = 400;
  std::size_t line = line_start(bytes, at);
  std::size_t indent = indent_of(bytes.substr(line, at - line));
  bool inside = false;
  for (int lines = 0; line > 0 && lines < most_lines; ++lines) {
    const std::size_t before = line_start(bytes, line - 1);
    const std::string_view text = bytes.substr(before, line - 1 - before);
    const std::size_t here = indent_of(text);
    const std::string_view code = text.substr(here);
    if (inside) {
      if (!code.starts_with('@')) break;
    } else if (here < indent && !code.empty()) {
      inside = code.starts_with("def ");
      // The lines of a head that is broken are indented like a body.
      indent = here;
    }
    line = before;
  }
  return inside ? bytes.substr(line, at - line) : std::string_view();
}

// Within the brackets of a call.
std::string_view arguments_at(std::string_view bytes, std::size_t open) {
  constexpr std::size_t most_bytes = 4096;
  const std::string_view rest = bytes.substr(open, most_bytes);
  int depth = 0;
  for (std::size_t at = 0; at < rest.size(); ++at) {
    if (rest[at] == '(') ++depth;
    if (rest[at] == ')' && --depth == 0) return rest.substr(0, at);
  }
  return rest;
}

bool converts(std::string_view code) {
  for (const std::string_view mark :
       {".float()", ".double()", ".half()", ".bfloat16()", ".type_as(", "cast_inputs",
        ".to(torch.float", ".to(torch.half", ".to(torch.bfloat"}) {
    if (code.find(mark) != code.npos) return true;
  }
  constexpr std::string_view to = ".to(";
  for (std::size_t at = code.find(to); at != code.npos; at = code.find(to, at + 1)) {
    const std::string_view rest = code.substr(at, std::min(code.find(')', at), code.size()) - at);
    if (rest.find("dtype") != rest.npos) return true;
  }
  return false;
}

}  // namespace

void note_conversions(const SourceUnit& unit, const TokenRange& range, FunctionBody& body) {
  ConversionReader(unit, range, body).run();
}

std::set<std::string, std::less<>> python_converts_for(
    std::string_view bytes, const std::set<std::string, std::less<>>& names) {
  constexpr int most_calls = 256;
  constexpr std::size_t most_before = std::size_t{1} << 16;
  constexpr std::string_view overload = ".default";
  std::set<std::string, std::less<>> found;
  int calls = 0;
  for (std::size_t at = bytes.find('('); at != bytes.npos; at = bytes.find('(', at + 1)) {
    std::string_view before = bytes.substr(0, at);
    if (before.ends_with(overload)) before.remove_suffix(overload.size());
    std::size_t length = 0;
    while (length < before.size() && length < longest_name &&
           is_word_byte(before[before.size() - 1 - length])) {
      ++length;
    }
    const std::string_view name = before.substr(before.size() - length);
    before.remove_suffix(length);
    if (!before.ends_with('.') || !names.contains(name) || found.contains(name)) continue;
    if (++calls > most_calls) break;
    const std::size_t start = at - std::min(at, most_before);
    if (converts(function_before(bytes.substr(start), at - start)) ||
        converts(arguments_at(bytes, at))) {
      found.emplace(name);
    }
  }
  return found;
}

void forget_converted(const std::vector<std::string>& paths, const SourceTexts& texts,
                      std::vector<TorchRecord>& records) {
  std::map<std::string, std::vector<TorchRecord*>> by_name;
  for (TorchRecord& record : records) {
    const std::string name = record.name.text.substr(0, record.name.text.find('.'));
    if (!record.dispatches.empty() && name.size() >= shortest_name) {
      by_name[name].push_back(&record);
    }
  }
  if (by_name.empty()) return;
  std::set<std::string, std::less<>> names;
  for (const auto& [name, some] : by_name) names.insert(name);
  const WordQuery any_name(names);
  std::string bytes;
  for (std::size_t at = 0; at < paths.size(); ++at) {
    if (!paths[at].ends_with(".py") || !texts.read_holding(any_name, at, bytes)) continue;
    for (const std::string& name : python_converts_for(bytes, names)) {
      for (TorchRecord* record : by_name.at(name)) {
        for (DispatchSite& site : record->dispatches) site.known = false;
      }
    }
  }
}

}  // namespace opseal
