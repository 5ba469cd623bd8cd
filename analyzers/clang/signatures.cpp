#include "analyzers/clang/signatures.h"

#include <algorithm>

namespace opseal {
namespace {

constexpr int most_depth = 16;
constexpr int most_parameters = 256;

bool is_function(CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod;
}

}  // namespace

// Adds a parameter to the signature, which is left open. False where its type isn't known.
bool SignatureReader::add_parameter(CXType type, const std::string& name,
                                    TypedFunction& function) const {
  const TypeTexts::Text text = types_.text_of(type);
  if (text.text.empty()) return false;
  // torch fills it in by itself.
  if (text.text.find("DispatchKeySet") != text.text.npos) return true;
  function.resolved = function.resolved || text.resolved;
  if (function.positional > 0) function.signature += ", ";
  function.signature += text.text;
  if (!name.empty()) function.signature += ' ' + name;
  function.parameters.push_back(name);
  ++function.positional;
  return true;
}

std::optional<TypedFunction> SignatureReader::signature_of(CXCursor cursor, bool with_names) const {
  const ClangFunctions& clang = unit_.clang();
  TypedFunction function;
  CXType result{};
  std::vector<CXCursor> parameters;
  if (unit_.kind(cursor) == CXCursor_LambdaExpr) {
    for (const CXCursor child : unit_.children(cursor)) {
      if (unit_.kind(child) == CXCursor_ParmDecl) parameters.push_back(child);
    }
  } else {
    if (clang.isInvalidDeclaration(cursor) != 0) return {};
    if (clang.isFunctionTypeVariadic(clang.getCursorType(cursor)) != 0) return {};
    const int count = clang.Cursor_getNumArguments(cursor);
    if (count < 0 || count > most_parameters) return {};
    for (int at = 0; at < count; ++at) {
      parameters.push_back(clang.Cursor_getArgument(cursor, static_cast<unsigned>(at)));
    }
    result = clang.getCursorResultType(cursor);
  }
  function.signature = "(";
  for (const CXCursor parameter : parameters) {
    // A type that isn't known is taken for `int`.
    if (clang.isInvalidDeclaration(parameter) != 0) return {};
    const std::string name = with_names ? unit_.spelling(parameter) : std::string();
    if (!add_parameter(clang.getCursorType(parameter), name, function)) return {};
  }
  function.signature += ')';
  if (result.kind != CXType_Invalid) {
    const TypeTexts::Text text = types_.text_of(result);
    function.resolved = function.resolved || text.resolved;
    if (!text.text.empty()) function.signature = text.text + ' ' + function.signature;
  }
  return function;
}

// Of a pointer or reference to a function, or of a function whose type has a name.
std::optional<TypedFunction> SignatureReader::signature_of_type(CXType type) const {
  const ClangFunctions& clang = unit_.clang();
  type = clang.getCanonicalType(type);
  if (type.kind == CXType_Pointer || type.kind == CXType_LValueReference) {
    type = clang.getPointeeType(type);
  }
  if (type.kind != CXType_FunctionProto || clang.isFunctionTypeVariadic(type) != 0) return {};
  TypedFunction function;
  function.signature = "(";
  const int count = clang.getNumArgTypes(type);
  if (count < 0 || count > most_parameters) return {};
  for (int at = 0; at < count; ++at) {
    if (!add_parameter(clang.getArgType(type, static_cast<unsigned>(at)), {}, function)) return {};
  }
  function.signature += ')';
  const TypeTexts::Text text = types_.text_of(clang.getResultType(type));
  if (!text.text.empty()) function.signature = text.text + ' ' + function.signature;
  function.resolved = true;
  return function;
}

void SignatureReader::read(CXCursor cursor) {
  if (question_.functions.empty()) return;
  const CXCursorKind kind = unit_.kind(cursor);
  const bool is_lambda = kind == CXCursor_LambdaExpr;
  if (!is_lambda && !is_function(kind)) return;
  const TypedPlace place = is_lambda ? unit_.extent(cursor) : unit_.name_place(cursor);
  if (!std::binary_search(question_.functions.begin(), question_.functions.end(), place.offset)) {
    return;
  }
  std::optional<TypedFunction> function = signature_of(cursor, true);
  if (!function) return;
  function->place = place;
  file_.functions.push_back(std::move(*function));
}

void SignatureReader::read_named() {
  if (question_.names.empty()) return;
  find_named(unit_.root(), 0);
  for (const std::string& name : question_.names) {
    const TypedFunction* first = nullptr;
    bool agree = true;
    for (const TypedFunction& one : named_) {
      if (one.name != name) continue;
      if (first == nullptr) first = &one;
      agree = agree && one.signature == first->signature;
    }
    if (first != nullptr && agree && first->signature != "?") file_.functions.push_back(*first);
  }
}

void SignatureReader::find_named(CXCursor scope, int depth) {
  if (depth > most_depth) return;
  const ClangFunctions& clang = unit_.clang();
  for (const CXCursor child : unit_.children(scope)) {
    const CXCursorKind kind = unit_.kind(child);
    if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
        kind == CXCursor_UnexposedDecl || kind == CXCursor_StructDecl ||
        kind == CXCursor_ClassDecl) {
      find_named(child, depth + 1);
      continue;
    }
    const bool is_template = kind == CXCursor_FunctionTemplate;
    if (!is_function(kind) && !is_template && kind != CXCursor_VarDecl) continue;
    const std::string name = unit_.spelling(child);
    if (std::find(question_.names.begin(), question_.names.end(), name) == question_.names.end() ||
        !unit_.is_of_project(child)) {
      continue;
    }
    TypedFunction unknown;
    unknown.name = name;
    std::optional<TypedFunction> function;
    if (clang.isInvalidDeclaration(child) == 0 && !is_template) {
      // A declaration and a definition may call a parameter differently.
      function = kind == CXCursor_VarDecl ? signature_of_type(clang.getCursorType(child))
                                          : signature_of(child, false);
    }
    if (!function) {
      // Not to be taken for its namesake.
      named_.push_back(std::move(unknown));
      named_.back().signature = "?";
      continue;
    }
    function->name = name;
    named_.push_back(std::move(*function));
  }
}

}  // namespace opseal
