#include "analyzers/clang/lost_errors.h"

#include <algorithm>
#include <array>

#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr int most_casts = 8;

constexpr std::array<std::string_view, 3> errors{"cudaError", "cudaError_t", "hipError_t"};
// What takes the error away, so that nobody behind finds it.
constexpr std::array<std::string_view, 2> taking{"cudaGetLastError", "hipGetLastError"};
// Whoever does one of these acts on the error himself, or tells of it.
constexpr std::array<std::string_view, 12> acting{"check",  "assert",      "throw",     "abort",
                                                  "exit",   "printf",      "cerr",      "log",
                                                  "report", "errorstring", "errorname", "require"};

std::size_t count_of(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++count;
  return count;
}

}  // namespace

bool LostErrorReader::gives_error(CXCursor function) const {
  const ClangFunctions& clang = unit_.clang();
  const CXType type = clang.getCanonicalType(clang.getCursorResultType(function));
  return type.kind == CXType_Enum &&
         is_one_of(unit_.spelling(clang.getTypeDeclaration(type)), errors);
}

void LostErrorReader::read_function(CXCursor function) {
  const ClangFunctions& clang = unit_.clang();
  if (clang.isCursorDefinition(function) == 0 || !gives_error(function)) return;
  const std::string_view text = unit_.source(function);
  std::size_t returned = 0;
  std::size_t taken = 0;
  for (const std::string_view word : taking) {
    returned += count_of(text, "return " + std::string(word) + "()");
    taken += count_of(text, word);
  }
  const std::string small = lower(text);
  const auto acts = [&small](std::string_view word) { return small.find(word) != small.npos; };
  const bool plain = text.find("<<<") != text.npos && returned > 0 && returned == taken &&
                     std::none_of(acting.begin(), acting.end(), acts);
  file_.launchers.push_back({unit_.name_place(function), unit_.qualified_name(function), plain});
}

void LostErrorReader::read_call(CXCursor call, bool dropped, CXCursor function) {
  const ClangFunctions& clang = unit_.clang();
  if (!dropped || unit_.is_none(function)) return;
  const CXCursor called = clang.getCursorReferenced(call);
  const CXCursorKind kind = unit_.kind(called);
  if (kind != CXCursor_FunctionDecl && kind != CXCursor_CXXMethod) return;
  if (!unit_.is_of_project(called) || !gives_error(called) || !unit_.is_in_file(call)) return;
  const std::vector<CXCursor> parts = unit_.children(call);
  if (parts.empty()) return;
  CXCursor name = parts.front();
  for (int casts = 0; casts < most_casts && unit_.kind(name) == CXCursor_UnexposedExpr; ++casts) {
    const std::vector<CXCursor> inner = unit_.children(name);
    if (inner.size() != 1) break;
    name = inner.front();
  }
  // A launch itself has another call before its arguments.
  file_.lost_errors.push_back({unit_.name_place(name), unit_.qualified_name(called),
                               unit_.spelling(called), unit_.qualified_name(function)});
}

}  // namespace opseal
