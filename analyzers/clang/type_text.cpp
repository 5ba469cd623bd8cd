#include "analyzers/clang/type_text.h"

#include <algorithm>
#include <array>

#include "analyzers/words.h"

namespace opseal {
namespace {

// Types within types; real ones have four.
constexpr int most_depth = 16;

// Of these the first argument says what they hold; the others have defaults.
constexpr std::array<std::string_view, 6> with_one_argument{
    "std::vector", "std::unique_ptr", "std::set", "std::unordered_set", "std::deque", "std::list"};

constexpr std::array<std::string_view, 4> known_spaces{"std::", "at::", "c10::", "torch::"};

const char* builtin_text(CXTypeKind kind) {
  switch (kind) {
    case CXType_Void:
      return "void";
    case CXType_Bool:
      return "bool";
    case CXType_Char_S:
    case CXType_Char_U:
      return "char";
    case CXType_UChar:
      return "uint8_t";
    case CXType_SChar:
      return "int8_t";
    case CXType_Short:
      return "int16_t";
    case CXType_UShort:
      return "uint16_t";
    case CXType_Int:
      return "int";
    case CXType_UInt:
      return "unsigned int";
    // What `int64_t` is where opseal runs.
    case CXType_Long:
      return "int64_t";
    case CXType_ULong:
      return "uint64_t";
    case CXType_LongLong:
      return "long long";
    case CXType_ULongLong:
      return "unsigned long long";
    case CXType_Float:
      return "float";
    case CXType_Double:
      return "double";
    default:
      return nullptr;
  }
}

// A registry knows it by this name. Other libraries have names of their own for what it knows.
bool is_well_known(std::string_view name) {
  if (name.find("::") == name.npos) return true;
  return std::any_of(known_spaces.begin(), known_spaces.end(),
                     [name](std::string_view space) { return name.starts_with(space); });
}

bool is_scope(CXCursorKind kind) {
  return kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
         kind == CXCursor_UnexposedDecl || kind == CXCursor_StructDecl ||
         kind == CXCursor_ClassDecl;
}

}  // namespace

// All branches of an `#if` are parsed, and the first definition of a name is taken.
void TypeTexts::find_ambiguous(CXCursor scope, int depth) {
  if (depth > most_depth) return;
  for (const CXCursor child : unit_.children(scope)) {
    const CXCursorKind kind = unit_.kind(child);
    if (is_scope(kind)) {
      if (unit_.is_of_project(child) || kind == CXCursor_Namespace) {
        find_ambiguous(child, depth + 1);
      }
      continue;
    }
    if (kind != CXCursor_TypedefDecl && kind != CXCursor_TypeAliasDecl) continue;
    if (!unit_.is_of_project(child)) continue;
    const ClangFunctions& clang = unit_.clang();
    const CXType meant = clang.getCanonicalType(clang.getTypedefDeclUnderlyingType(child));
    std::string text = unit_.text(clang.getTypeSpelling(meant));
    // A type that isn't known is taken for `int`.
    if (clang.isInvalidDeclaration(child) != 0) text.clear();
    const auto [known, is_new] = aliases_.try_emplace(unit_.qualified_name(child), text);
    if (!is_new && known->second != text) known->second.clear();
  }
}

TypeTexts::Text TypeTexts::text_of(CXType type) const {
  Text text;
  if (!write(type, 0, text)) text.text.clear();
  return text;
}

bool TypeTexts::write(CXType type, int depth, Text& text) const {
  const ClangFunctions& clang = unit_.clang();
  if (depth > most_depth) return false;
  const bool is_reference =
      type.kind == CXType_LValueReference || type.kind == CXType_RValueReference;
  if (is_reference || type.kind == CXType_Pointer) {
    if (!write(clang.getPointeeType(type), depth + 1, text)) return false;
    text.text += type.kind == CXType_Pointer           ? " *"
                 : type.kind == CXType_LValueReference ? " &"
                                                       : " &&";
    return true;
  }
  if (clang.isConstQualifiedType(type) != 0 && !text.text.ends_with("const ")) {
    text.text += "const ";
  }
  if (const char* builtin = builtin_text(type.kind); builtin != nullptr) {
    text.text += builtin;
    return true;
  }
  switch (type.kind) {
    case CXType_Elaborated:
      return write(clang.Type_getNamedType(type), depth + 1, text);
    case CXType_Typedef:
      return write_named(type, depth, text);
    case CXType_Record:
      return write_record(type, depth, text);
    case CXType_Enum:
      text.text += unit_.qualified_name(clang.getTypeDeclaration(type));
      return true;
    case CXType_Auto:
    case CXType_Unexposed: {
      // `Box<T>` is a template of the source here, which may be an alias for something else.
      const CXType meant = clang.getCanonicalType(type);
      if (meant.kind == type.kind || meant.kind == CXType_Invalid) return false;
      if (type.kind == CXType_Auto) text.resolved = true;
      const CXCursorKind declared = unit_.kind(clang.getTypeDeclaration(type));
      if (declared == CXCursor_TypeAliasTemplateDecl) text.resolved = true;
      // The arguments as they are written have the names that are known; what `using a::b` brings
      // has none.
      if (meant.kind == CXType_Record && clang.Type_getNumTemplateArguments(type) > 0 &&
          declared != CXCursor_TypeAliasTemplateDecl && type.kind == CXType_Unexposed) {
        return write_record(type, depth, text);
      }
      return write(meant, depth + 1, text);
    }
    default:
      return false;
  }
}

bool TypeTexts::write_named(CXType type, int depth, Text& text) const {
  const ClangFunctions& clang = unit_.clang();
  const CXCursor declaration = clang.getTypeDeclaration(type);
  const std::string name = unit_.qualified_name(declaration);
  if (!unit_.is_of_project(declaration) && is_well_known(name)) {
    text.text += name;
    return true;
  }
  const auto known = aliases_.find(name);
  if (known != aliases_.end() && known->second.empty()) return false;
  if (clang.isInvalidDeclaration(declaration) != 0) return false;
  text.resolved = true;
  return write(clang.getTypedefDeclUnderlyingType(declaration), depth + 1, text);
}

bool TypeTexts::write_record(CXType type, int depth, Text& text) const {
  const ClangFunctions& clang = unit_.clang();
  CXCursor declaration = clang.getTypeDeclaration(type);
  if (unit_.spelling(declaration).empty()) {
    declaration = clang.getTypeDeclaration(clang.getCanonicalType(type));
  }
  if (unit_.spelling(declaration).empty()) return false;
  const std::string name = unit_.qualified_name(declaration);
  if (name == "std::basic_string" || name == "std::basic_string_view") {
    text.text += name == "std::basic_string" ? "std::string" : "std::string_view";
    return true;
  }
  text.text += name;
  int count = clang.Type_getNumTemplateArguments(type);
  if (count <= 0) return true;
  if (is_one_of(name, with_one_argument)) count = 1;
  text.text += '<';
  for (int at = 0; at < count; ++at) {
    if (at > 0) text.text += ", ";
    const CXType argument = clang.Type_getTemplateArgumentAsType(type, static_cast<unsigned>(at));
    if (argument.kind == CXType_Invalid) {
      // A number: what stands there is as good as any other.
      text.text += "0";
    } else if (!write(argument, depth + 1, text)) {
      return false;
    }
  }
  text.text += '>';
  return true;
}

}  // namespace opseal
