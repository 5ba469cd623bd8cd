#include "analyzers/clang/key_fields.h"

#include <algorithm>

namespace opseal {
namespace {

constexpr int most_bases = 8;
constexpr int most_nested = 3;
constexpr int most_depth = 256;
constexpr std::size_t most_fields = 512;

bool is_class(CXCursorKind kind) {
  return kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl;
}

}  // namespace

void KeyFieldReader::read(CXCursor function) {
  if (question_.keys.empty()) return;
  const TypedPlace place = unit_.name_place(function);
  // The text has an operator by its sign.
  const auto asked = std::lower_bound(question_.keys.begin(), question_.keys.end(), place.offset);
  if (asked == question_.keys.end() || *asked > place.offset + place.length) return;
  const CXCursor record = object_of(function);
  if (unit_.is_none(record)) return;
  TypedKey key;
  key.place = {*asked, place.length};
  key.type = unit_.spelling(record);
  add_fields(record, {}, 0, key);
  std::set<std::string> reads;
  for (const CXCursor part : unit_.children(function)) add_reads(part, 0, reads);
  key.reads.assign(reads.begin(), reads.end());
  file_.keys.push_back(std::move(key));
}

// The definition of the project's structure that a type is; a null cursor where it is none. What a
// template makes has the members of the template.
CXCursor KeyFieldReader::record_of(CXType type) const {
  const ClangFunctions& clang = unit_.clang();
  type = clang.getCanonicalType(type);
  if (type.kind == CXType_LValueReference || type.kind == CXType_Pointer) {
    type = clang.getCanonicalType(clang.getPointeeType(type));
  }
  if (type.kind != CXType_Record) return unit_.none();
  const CXCursor declared = clang.getTypeDeclaration(type);
  const CXCursor pattern = clang.getSpecializedCursorTemplate(declared);
  const CXCursor definition = clang.getCursorDefinition(declared);
  if (!unit_.is_none(definition) && unit_.is_of_project(definition) &&
      !members_of(definition).empty()) {
    return definition;
  }
  if (unit_.is_none(pattern)) return unit_.none();
  const CXCursor written = clang.getCursorDefinition(pattern);
  return !unit_.is_none(written) && unit_.is_of_project(written) ? written : unit_.none();
}

// Of a method its class; of a functor and of a free function what it takes first.
CXCursor KeyFieldReader::object_of(CXCursor function) const {
  const ClangFunctions& clang = unit_.clang();
  const bool is_functor = unit_.spelling(function) == "operator()";
  const CXCursor parent = clang.getCursorSemanticParent(function);
  if (unit_.kind(function) == CXCursor_CXXMethod && !is_functor) {
    return clang.getCursorDefinition(parent);
  }
  for (const CXCursor parameter : unit_.children(function)) {
    if (unit_.kind(parameter) != CXCursor_ParmDecl) continue;
    const CXCursor record = record_of(clang.getCursorType(parameter));
    if (!unit_.is_none(record)) return record;
  }
  return unit_.none();
}

std::vector<CXCursor> KeyFieldReader::members_of(CXCursor record) const {
  std::vector<CXCursor> members;
  for (const CXCursor child : unit_.children(record)) {
    const CXCursorKind kind = unit_.kind(child);
    if (kind == CXCursor_FieldDecl || kind == CXCursor_CXXBaseSpecifier) members.push_back(child);
  }
  return members;
}

void KeyFieldReader::add_fields(CXCursor record, const std::string& before, int depth,
                                TypedKey& key) const {
  const ClangFunctions& clang = unit_.clang();
  if (depth > most_bases) return;
  for (const CXCursor member : members_of(record)) {
    if (key.fields.size() >= most_fields) return;
    const CXType type = clang.getCursorType(member);
    if (unit_.kind(member) == CXCursor_CXXBaseSpecifier) {
      const CXCursor base = record_of(type);
      if (!unit_.is_none(base)) add_fields(base, before, depth + 1, key);
      continue;
    }
    // What an unnamed structure holds is reached by its own names.
    if (unit_.spelling(member).empty() || clang.isInvalidDeclaration(member) != 0) continue;
    TypedKeyField field;
    field.name = before + unit_.spelling(member);
    field.place = unit_.is_in_file(member) ? unit_.name_place(member) : TypedPlace{};
    const CXType plain = clang.getCanonicalType(type);
    field.exempt = clang.CXXField_isMutable(member) != 0 || plain.kind == CXType_Pointer ||
                   plain.kind == CXType_LValueReference;
    const std::string name = field.name;
    key.fields.push_back(std::move(field));
    const CXCursor nested = plain.kind == CXType_Record ? record_of(type) : unit_.none();
    const auto dots = static_cast<int>(std::count(name.begin(), name.end(), '.'));
    if (!unit_.is_none(nested) && is_class(unit_.kind(nested)) && dots < most_nested) {
      add_fields(nested, name + '.', depth + 1, key);
    }
  }
}

// `shape.rows` of `key.shape.rows` and of `this->shape.rows`; empty where it is a member of
// something else.
std::string KeyFieldReader::path_of(CXCursor member) const {
  std::string path;
  for (int steps = 0; steps < most_nested + most_bases; ++steps) {
    const CXCursorKind kind = unit_.kind(member);
    const std::vector<CXCursor> parts = unit_.children(member);
    if (kind == CXCursor_MemberRefExpr) {
      const CXCursor named = unit_.clang().getCursorReferenced(member);
      if (unit_.kind(named) != CXCursor_FieldDecl) return {};
      path = unit_.spelling(member) + (path.empty() ? "" : '.' + path);
      // `rows` of the object itself.
      if (parts.empty()) return path;
      member = parts.front();
    } else if (kind == CXCursor_DeclRefExpr) {
      const CXCursor named = unit_.clang().getCursorReferenced(member);
      return unit_.kind(named) == CXCursor_ParmDecl ? path : std::string();
    } else if (kind == CXCursor_CXXThisExpr) {
      return path;
    } else if (parts.size() == 1) {
      member = parts.front();
    } else {
      return {};
    }
  }
  return {};
}

void KeyFieldReader::add_reads(CXCursor expression, int depth, std::set<std::string>& reads) const {
  if (depth > most_depth) return;
  if (unit_.kind(expression) == CXCursor_MemberRefExpr) {
    std::string path = path_of(expression);
    if (!path.empty()) {
      reads.insert(std::move(path));
      return;
    }
  }
  for (const CXCursor part : unit_.children(expression)) add_reads(part, depth + 1, reads);
}

}  // namespace opseal
