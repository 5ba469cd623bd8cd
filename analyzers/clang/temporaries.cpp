#include "analyzers/clang/temporaries.h"

#include <array>

#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr int most_members = 8;
constexpr std::size_t longest_expression = 200;

// Their memory goes with them. A counted pointer may have another owner.
constexpr std::array<std::string_view, 5> owning_types{
    "std::vector", "std::string", "std::basic_string", "std::unique_ptr", "std::deque"};
// Of those, and of functions whose body isn't seen.
constexpr std::array<std::string_view, 12> giving{
    "data",     "mutable_data", "c_str", "get",     "begin", "ptr",
    "data_ptr", "mutable_ptr",  "raw",   "pointer", "buf",   "untyped_data"};

constexpr std::array<std::string_view, 4> freeing{"free", "dealloc", "release_memory", "munmap"};

bool is_cast(CXCursorKind kind) {
  return kind == CXCursor_CStyleCastExpr || kind == CXCursor_CXXStaticCastExpr ||
         kind == CXCursor_CXXReinterpretCastExpr || kind == CXCursor_CXXConstCastExpr ||
         kind == CXCursor_CXXFunctionalCastExpr;
}

}  // namespace

// The expression whose value outlives the statement; a null cursor where there is none.
CXCursor TemporaryReader::kept_value(CXCursor cursor, CXCursor function) const {
  const ClangFunctions& clang = unit_.clang();
  const CXCursor none = unit_.none();
  switch (unit_.kind(cursor)) {
    case CXCursor_VarDecl: {
      if (!is_pointer(clang.getCursorType(cursor))) return none;
      const CXCursor value = clang.Cursor_getVarDeclInitializer(cursor);
      return unit_.is_none(value) ? none : value;
    }
    case CXCursor_BinaryOperator: {
      if (clang.getCursorBinaryOperatorKind(cursor) != CXBinaryOperator_Assign) return none;
      const std::vector<CXCursor> sides = unit_.children(cursor);
      if (sides.size() != 2 || !is_pointer(clang.getCursorType(sides[0]))) return none;
      return sides[1];
    }
    case CXCursor_ReturnStmt: {
      if (unit_.is_none(function) || !is_pointer(clang.getCursorResultType(function))) {
        return none;
      }
      const std::vector<CXCursor> parts = unit_.children(cursor);
      return parts.size() == 1 ? parts.front() : none;
    }
    default:
      return none;
  }
}

// The result of a function that gives an object and no reference to one, or a new object.
bool TemporaryReader::is_temporary(CXCursor object) const {
  const ClangFunctions& clang = unit_.clang();
  if (unit_.kind(object) != CXCursor_CallExpr) return false;
  const CXCursor called = clang.getCursorReferenced(object);
  if (unit_.is_none(called)) return false;
  if (unit_.kind(called) == CXCursor_Constructor) return true;
  const CXType result = clang.getCanonicalType(clang.getCursorResultType(called));
  return result.kind == CXType_Record;
}

void TemporaryReader::read(CXCursor cursor, CXCursor function) {
  const CXCursor value = kept_value(cursor, function);
  if (!unit_.is_none(value)) read_value(value, function);
}

void TemporaryReader::read_members(CXCursor constructor) {
  const std::vector<CXCursor> parts = unit_.children(constructor);
  for (std::size_t at = 0; at + 1 < parts.size(); ++at) {
    if (unit_.kind(parts[at]) != CXCursor_MemberRef) continue;
    const CXCursor field = unit_.clang().getCursorReferenced(parts[at]);
    if (is_pointer(unit_.clang().getCursorType(field))) read_value(parts[at + 1], constructor);
  }
}

void TemporaryReader::read_list(CXCursor list, CXCursor function) {
  for (const CXCursor value : unit_.children(list)) {
    if (is_pointer(unit_.clang().getCursorType(value))) read_value(value, function);
  }
}

void TemporaryReader::read_value(CXCursor value, CXCursor function) {
  const ClangFunctions& clang = unit_.clang();
  const CXCursor call = unit_.without_casts(value, is_cast);
  if (unit_.kind(call) != CXCursor_CallExpr) return;
  const std::vector<CXCursor> parts = unit_.children(call);
  if (parts.empty()) return;
  const CXCursor member = unit_.without_casts(parts.front(), is_cast);
  if (unit_.kind(member) != CXCursor_MemberRefExpr) return;
  const CXCursor method = clang.getCursorReferenced(call);
  if (unit_.kind(method) != CXCursor_CXXMethod || clang.CXXMethod_isStatic(method) != 0) return;
  if (clang.getCanonicalType(clang.getCursorResultType(method)).kind != CXType_Pointer) return;
  const std::vector<CXCursor> objects = unit_.children(member);
  if (objects.empty()) return;
  const CXCursor object = unit_.without_casts(objects.front(), is_cast);
  if (!is_temporary(object)) return;
  const CXType type = unit_.canonical_type(object);
  if (type.kind != CXType_Record) return;
  const CXCursor record = clang.getTypeDeclaration(type);
  if (!owns(record, 0) || !gives_own_memory(method)) return;
  TypedPointer pointer;
  pointer.place = unit_.extent(call);
  pointer.expression = unit_.source(call).substr(0, longest_expression);
  pointer.type = unit_.spelling(record);
  pointer.function = unit_.spelling(function);
  file_.pointers.push_back(std::move(pointer));
}

// What a body that is seen gives back is a member, or what a member gives; otherwise the name says
// it. One that gives up what it holds is another thing.
bool TemporaryReader::gives_own_memory(CXCursor method) const {
  const ClangFunctions& clang = unit_.clang();
  const std::string name = unit_.spelling(method);
  if (name.find("release") != name.npos || name.find("detach") != name.npos) return false;
  // Of those of the standard library it is known.
  if (is_one_of(unit_.qualified_name(clang.getCursorSemanticParent(method)), owning_types)) {
    return is_one_of(name, giving);
  }
  // What a template makes may have no body yet.
  const CXCursor pattern = clang.getSpecializedCursorTemplate(method);
  const CXCursor definition = clang.getCursorDefinition(unit_.is_none(pattern) ? method : pattern);
  if (unit_.is_none(definition) || !unit_.has_body(definition)) return is_one_of(name, giving);
  const std::string_view text = unit_.source(definition);
  const std::size_t body = text.find('{');
  if (body == text.npos) return is_one_of(name, giving);
  for (const CXCursor child : unit_.children(definition)) {
    if (unit_.kind(child) != CXCursor_CompoundStmt) continue;
    const std::vector<CXCursor> statements = unit_.children(child);
    if (statements.size() != 1 || unit_.kind(statements[0]) != CXCursor_ReturnStmt) return false;
    const std::vector<CXCursor> values = unit_.children(statements[0]);
    if (values.size() != 1) return false;
    CXCursor value = unit_.without_casts(values[0], is_cast);
    if (unit_.kind(value) == CXCursor_CallExpr) {
      const std::vector<CXCursor> parts = unit_.children(value);
      if (parts.size() != 1 || !is_one_of(unit_.spelling(value), giving)) return false;
      const std::vector<CXCursor> objects = unit_.children(unit_.without_casts(parts[0], is_cast));
      if (objects.size() != 1) return false;
      value = unit_.without_casts(objects[0], is_cast);
    }
    return unit_.kind(value) == CXCursor_MemberRefExpr;
  }
  return false;
}

bool TemporaryReader::owns(CXCursor record, int depth) {
  const std::string name = unit_.qualified_name(record);
  if (is_one_of(name, owning_types)) return true;
  if (name.starts_with("std::") || depth > most_members) return false;
  const auto known = owning_.find(name);
  if (known != owning_.end()) return known->second;
  // A type that holds itself owns nothing by that.
  owning_[name] = false;
  return owning_[name] = look_at(record, depth);
}

// Its destructor frees something, or it has none and a member owns something.
bool TemporaryReader::look_at(CXCursor record, int depth) {
  const ClangFunctions& clang = unit_.clang();
  const CXCursor definition = clang.getCursorDefinition(record);
  if (unit_.is_none(definition)) return false;
  bool owns_member = false;
  for (const CXCursor child : unit_.children(definition)) {
    const CXCursorKind kind = unit_.kind(child);
    if (kind == CXCursor_Destructor && clang.CXXMethod_isDefaulted(child) == 0) {
      return frees(child);
    }
    if (kind != CXCursor_FieldDecl && kind != CXCursor_CXXBaseSpecifier) continue;
    const CXType type = unit_.canonical_type(child);
    if (type.kind == CXType_Record && owns(clang.getTypeDeclaration(type), depth + 1)) {
      owns_member = true;
    }
  }
  return owns_member;
}

bool TemporaryReader::frees(CXCursor destructor) const {
  const ClangFunctions& clang = unit_.clang();
  CXCursor definition = clang.getCursorDefinition(destructor);
  if (unit_.is_none(definition)) {
    // What a template makes may have no body yet.
    const CXCursor pattern = clang.getSpecializedCursorTemplate(destructor);
    if (!unit_.is_none(pattern)) definition = clang.getCursorDefinition(pattern);
  }
  if (unit_.is_none(definition)) return false;
  const std::string body = lower(unit_.text_with_body(definition));
  // Others may hold a counted one.
  for (const std::string_view count : {"--", "-=", "fetch_sub", "count", "ref", "share"}) {
    if (body.find(count) != body.npos) return false;
  }
  if (body.find("delete") != body.npos) return true;
  for (const std::string_view word : freeing) {
    if (body.find(word) != body.npos) return true;
  }
  return false;
}

}  // namespace opseal
