// [basic.start.dynamic]: objects of different units are initialized in an order that nobody knows.

#include "analyzers/clang/static_order.h"

#include <algorithm>
#include <array>

#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr int most_depth = 64;
constexpr int most_members = 8;
constexpr std::size_t most_uses = 16;
// A registrar's constructor, the function that it calls, and what that asks for its table.
constexpr int most_calls = 3;
constexpr std::size_t most_functions = 64;

// Made by code that runs, whatever they are made of. `std::vector` and `std::string` are not among
// them: empty ones are made by the compiler.
constexpr std::array<std::string_view, 6> always_dynamic{"std::map",           "std::multimap",
                                                         "std::unordered_map", "std::set",
                                                         "std::unordered_set", "std::deque"};

bool says_register(std::string_view name) { return name.find("egist") != name.npos; }

bool is_scope_of_names(CXCursorKind kind) {
  return kind == CXCursor_Namespace || kind == CXCursor_TranslationUnit ||
         kind == CXCursor_LinkageSpec;
}

}  // namespace

bool StaticOrderReader::is_constant_by_word(CXCursor cursor) const {
  std::string_view text = unit_.source(cursor);
  text = text.substr(0, text.find_first_of("({="));
  return text.find("constexpr") != text.npos || text.find("constinit") != text.npos ||
         text.find("consteval") != text.npos;
}

void StaticOrderReader::read(CXCursor variable) {
  const ClangFunctions& clang = unit_.clang();
  if (clang.Cursor_hasVarDeclGlobalStorage(variable) != 1) return;
  if (clang.isCursorDefinition(variable) == 0 || clang.isInvalidDeclaration(variable) != 0) return;
  const CXCursorKind scope = unit_.kind(clang.getCursorSemanticParent(variable));
  const bool is_member = scope == CXCursor_ClassDecl || scope == CXCursor_StructDecl;
  if (!is_member && !is_scope_of_names(scope)) return;
  // Somebody says when it is made.
  if (unit_.source(variable).find("init_priority") != std::string_view::npos) return;
  const CXCursor value = clang.Cursor_getVarDeclInitializer(variable);
  const bool dynamic = is_dynamic(variable);
  if (clang.getCursorLinkage(variable) == CXLinkage_External) {
    file_.globals.push_back({unit_.name_place(variable), unit_.qualified_name(variable), dynamic});
  }
  if (!dynamic || unit_.is_none(value)) return;
  Reads reads;
  std::string type = unit_.text(clang.getTypeSpelling(clang.getCursorType(variable)));
  for (const std::string_view word : {"struct ", "class "}) {
    if (type.starts_with(word)) type.erase(0, word.size());
  }
  // Of a class without a name clang tells where it stands.
  if (type.find(" at ") != type.npos) type = "(unnamed)";
  reads.registers = says_register(type) || says_register(unit_.spelling(variable));
  read_expression(value, most_calls, 0, reads);
  if (!reads.registers) return;
  file_.registrars.push_back(
      {unit_.name_place(variable), type, unit_.spelling(variable), std::move(reads.uses)});
}

// `calls`: how many calls within calls are still looked into.
void StaticOrderReader::read_expression(CXCursor expression, int calls, int depth,
                                        Reads& reads) const {
  if (depth > most_depth) return;
  const ClangFunctions& clang = unit_.clang();
  switch (unit_.kind(expression)) {
    case CXCursor_LambdaExpr:
      // Its body runs when it is called.
      return;
    case CXCursor_UnaryOperator:
      // An address is known before anything is initialized.
      if (clang.getCursorUnaryOperatorKind(expression) == CXUnaryOperator_AddrOf) return;
      break;
    case CXCursor_DeclRefExpr:
      read_reference(expression, reads);
      return;
    case CXCursor_VarDecl:
      // One that a function keeps is made when it is first used.
      if (clang.Cursor_hasVarDeclGlobalStorage(expression) == 1) return;
      break;
    case CXCursor_CallExpr:
      if (calls > 0) read_call(expression, calls - 1, depth, reads);
      break;
    default:
      break;
  }
  for (const CXCursor child : unit_.children(expression)) {
    read_expression(child, calls, depth + 1, reads);
  }
}

void StaticOrderReader::read_call(CXCursor call, int calls, int depth, Reads& reads) const {
  const ClangFunctions& clang = unit_.clang();
  const CXCursor called = clang.getCursorReferenced(call);
  if (unit_.is_none(called)) return;
  const std::string name = unit_.spelling(called);
  if (says_register(name)) reads.registers = true;
  // `[] { … }()`
  if (name == "operator()") {
    for (const CXCursor child : unit_.children(call)) {
      CXCursor object = child;
      for (int steps = 0; steps < most_members; ++steps) {
        const std::vector<CXCursor> parts = unit_.children(object);
        if (unit_.kind(object) == CXCursor_LambdaExpr || parts.size() != 1) break;
        object = parts[0];
      }
      if (unit_.kind(object) != CXCursor_LambdaExpr) continue;
      for (const CXCursor part : unit_.children(object)) {
        if (unit_.kind(part) == CXCursor_CompoundStmt) {
          read_expression(part, calls, depth + 1, reads);
        }
      }
    }
    return;
  }
  const CXCursor definition = clang.getCursorDefinition(called);
  if (unit_.is_none(definition) || !unit_.is_of_project(definition)) return;
  const std::string full_name = unit_.qualified_name(definition);
  if (reads.functions.size() >= most_functions || !reads.functions.insert(full_name).second) return;
  for (const CXCursor part : unit_.children(definition)) {
    const CXCursorKind kind = unit_.kind(part);
    // The body, and what a constructor makes its members of.
    if (kind == CXCursor_ParmDecl) continue;
    read_expression(part, calls, depth + 1, reads);
  }
}

void StaticOrderReader::read_reference(CXCursor reference, Reads& reads) const {
  const ClangFunctions& clang = unit_.clang();
  const CXCursor variable = clang.getCursorReferenced(reference);
  if (unit_.kind(variable) != CXCursor_VarDecl) {
    if (says_register(unit_.spelling(variable))) reads.registers = true;
    return;
  }
  if (clang.Cursor_hasVarDeclGlobalStorage(variable) != 1) return;
  if (!unit_.is_of_project(variable) || clang.isInvalidDeclaration(variable) != 0) return;
  // This unit's own come in the order in which they stand there.
  const CXCursor definition = clang.getCursorDefinition(variable);
  if (!unit_.is_none(definition)) return;
  const std::string name = unit_.qualified_name(variable);
  if (reads.uses.size() >= most_uses || !reads.names.insert(name).second) return;
  reads.uses.push_back(
      {unit_.is_in_file(reference) ? unit_.name_place(reference) : TypedPlace{}, name});
}

bool StaticOrderReader::is_dynamic(CXCursor variable) const {
  const ClangFunctions& clang = unit_.clang();
  if (is_constant_by_word(variable)) return false;
  return is_made_by_code(clang.getCanonicalType(clang.getCursorType(variable)),
                         clang.Cursor_getVarDeclInitializer(variable), 0);
}

bool StaticOrderReader::is_made_by_code(CXType type, CXCursor value, int depth) const {
  const ClangFunctions& clang = unit_.clang();
  const bool has_value = !unit_.is_none(value);
  if (type.kind != CXType_Record) return has_value && calls_code(value, 0);
  const CXCursor record = clang.getTypeDeclaration(type);
  const std::string name = unit_.qualified_name(record);
  if (is_one_of(name, always_dynamic)) return true;
  if (has_value && calls_code(value, 0)) return true;
  if (name.starts_with("std::") || depth > most_members) return false;
  // Its constructor may be the compiler's own, and call those of its members.
  const CXCursor definition = clang.getCursorDefinition(record);
  if (unit_.is_none(definition)) return false;
  const CXCursor none = unit_.none();
  for (const CXCursor child : unit_.children(definition)) {
    const CXCursorKind kind = unit_.kind(child);
    if (kind != CXCursor_FieldDecl && kind != CXCursor_CXXBaseSpecifier) continue;
    const CXType member = unit_.canonical_type(child);
    if (member.kind == CXType_Record && is_made_by_code(member, none, depth + 1)) return true;
  }
  return false;
}

// A function that isn't `constexpr`, or a constructor that somebody wrote and that does something.
bool StaticOrderReader::calls_code(CXCursor expression, int depth) const {
  if (depth > most_depth) return false;
  const ClangFunctions& clang = unit_.clang();
  const CXCursorKind kind = unit_.kind(expression);
  if (kind == CXCursor_LambdaExpr) return false;
  if (kind == CXCursor_CXXNewExpr) return true;
  const std::vector<CXCursor> parts = unit_.children(expression);
  if (kind == CXCursor_CallExpr) {
    const CXCursor called = clang.getCursorReferenced(expression);
    const CXCursorKind what = unit_.kind(called);
    if (what == CXCursor_FunctionDecl || what == CXCursor_CXXMethod) {
      if (!is_constant_by_word(called)) return true;
    } else if (what == CXCursor_Constructor && clang.CXXMethod_isDefaulted(called) == 0) {
      const bool is_std = unit_.qualified_name(called).starts_with("std::");
      // Empty strings and lists are made by the compiler.
      if (!is_constant_by_word(called) && !(is_std && parts.empty())) {
        const CXCursor definition = clang.getCursorDefinition(called);
        if (unit_.is_none(definition) || !unit_.does_nothing(definition)) return true;
      }
    }
  }
  return std::any_of(parts.begin(), parts.end(),
                     [this, depth](CXCursor part) { return calls_code(part, depth + 1); });
}

}  // namespace opseal
