#include "analyzers/clang/enumerators.h"

#include <algorithm>

namespace opseal {
namespace {

constexpr int most_depth = 16;
constexpr int most_statements = 256;

bool is_cast(CXCursorKind kind) {
  return kind == CXCursor_CStyleCastExpr || kind == CXCursor_CXXStaticCastExpr ||
         kind == CXCursor_CXXFunctionalCastExpr;
}

bool is_scope(CXCursorKind kind) {
  return kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
         kind == CXCursor_UnexposedDecl || kind == CXCursor_StructDecl ||
         kind == CXCursor_ClassDecl || kind == CXCursor_ClassTemplate;
}

}  // namespace

void EnumeratorReader::find_shared(CXCursor scope, int depth) {
  if (depth > most_depth) return;
  for (const CXCursor child : unit_.children(scope)) {
    const CXCursorKind kind = unit_.kind(child);
    if (is_scope(kind) && (kind == CXCursor_Namespace || unit_.is_of_project(child))) {
      find_shared(child, depth + 1);
    }
    if (kind != CXCursor_EnumDecl || !unit_.is_of_project(child)) continue;
    const std::string name = unit_.qualified_name(child);
    for (const CXCursor one : unit_.children(child)) {
      if (unit_.kind(one) != CXCursor_EnumConstantDecl) continue;
      const auto [known, is_new] = enumerators_.try_emplace(unit_.spelling(one), name);
      if (!is_new && known->second != name) known->second.clear();
    }
  }
}

// That of what stands within the casts; a null cursor where it is none.
CXCursor EnumeratorReader::enumeration_of(CXCursor expression) const {
  const CXType type = unit_.canonical_type(unit_.without_casts(expression, is_cast));
  return type.kind == CXType_Enum ? unit_.clang().getTypeDeclaration(type) : unit_.none();
}

std::optional<long long> EnumeratorReader::value_of(CXCursor expression) const {
  const ClangFunctions& clang = unit_.clang();
  const CXEvalResult result = clang.Cursor_Evaluate(expression);
  if (result == nullptr) return {};
  std::optional<long long> value;
  if (clang.EvalResult_getKind(result) == CXEval_Int) {
    value = clang.EvalResult_getAsLongLong(result);
  }
  clang.EvalResult_dispose(result);
  return value;
}

void EnumeratorReader::read_value(CXCursor expression, CXCursor enumeration) {
  const ClangFunctions& clang = unit_.clang();
  const CXCursor inner = unit_.without_casts(expression, is_cast);
  // What the text says by itself.
  const bool is_name = unit_.kind(inner) == CXCursor_DeclRefExpr;
  if (is_name) {
    const CXCursor named = clang.getCursorReferenced(inner);
    const CXCursor parent = clang.getCursorSemanticParent(named);
    if (unit_.kind(named) == CXCursor_EnumConstantDecl && clang.equalCursors(parent, enumeration))
      return;
  }
  const std::optional<long long> value = value_of(expression);
  if (!value) return;
  for (const CXCursor one : unit_.children(enumeration)) {
    if (unit_.kind(one) != CXCursor_EnumConstantDecl) continue;
    if (clang.getEnumConstantDeclValue(one) != *value) continue;
    const TypedPlace place = unit_.extent(expression);
    if (place.length > 0) file_.values.push_back({place, unit_.spelling(one)});
    return;
  }
}

void EnumeratorReader::read_switch(CXCursor statement) {
  const std::vector<CXCursor> parts = unit_.children(statement);
  if (parts.size() < 2) return;
  const CXCursor enumeration = enumeration_of(parts[parts.size() - 2]);
  if (!unit_.is_none(enumeration)) read_labels(parts.back(), enumeration, 0);
}

// Those of the switch itself: labels that follow each other are within each other.
void EnumeratorReader::read_labels(CXCursor statement, CXCursor enumeration, int depth) {
  if (depth > most_statements || unit_.kind(statement) == CXCursor_SwitchStmt) return;
  const std::vector<CXCursor> parts = unit_.children(statement);
  const CXCursorKind kind = unit_.kind(statement);
  if (kind == CXCursor_CaseStmt && parts.size() == 2) {
    if (unit_.is_in_file(parts[0])) read_value(parts[0], enumeration);
    read_labels(parts[1], enumeration, depth + 1);
  } else if (kind == CXCursor_DefaultStmt || kind == CXCursor_CompoundStmt) {
    for (const CXCursor part : parts) read_labels(part, enumeration, depth + 1);
  }
}

void EnumeratorReader::read_comparison(CXCursor comparison) {
  const CXBinaryOperatorKind kind = unit_.clang().getCursorBinaryOperatorKind(comparison);
  if (kind != CXBinaryOperator_EQ && kind != CXBinaryOperator_NE) return;
  const std::vector<CXCursor> sides = unit_.children(comparison);
  if (sides.size() != 2) return;
  for (std::size_t side = 0; side < 2; ++side) {
    const CXCursor enumeration = enumeration_of(sides[1 - side]);
    if (unit_.is_none(enumeration) || !unit_.is_in_file(sides[side])) continue;
    if (!value_of(sides[1 - side])) read_value(sides[side], enumeration);
  }
}

void EnumeratorReader::read_reference(CXCursor reference) {
  const ClangFunctions& clang = unit_.clang();
  const CXCursor named = clang.getCursorReferenced(reference);
  if (unit_.kind(named) != CXCursor_EnumConstantDecl || !unit_.is_in_file(reference)) return;
  const auto known = enumerators_.find(unit_.spelling(named));
  if (known == enumerators_.end() || !known->second.empty()) return;
  const TypedPlace place = unit_.name_place(reference);
  file_.enumerators.push_back({place, unit_.qualified_name(clang.getCursorSemanticParent(named))});
}

}  // namespace opseal
