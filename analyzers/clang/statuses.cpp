#include "analyzers/clang/statuses.h"

#include <algorithm>
#include <array>

#include "analyzers/words.h"

namespace opseal {
namespace {

// Memory, callbacks and signals are registered too, which is another thing.
constexpr std::array<std::string_view, 12> others{"cuda", "cu",      "hip", "nccl", "MPI_", "ucp_",
                                                  "ibv_", "pthread", "Py",  "nvtx", "acl",  "sycl"};

constexpr std::array<std::string_view, 6> adding{"Add", "add", "Insert", "insert", "Put", "Set"};

bool is_small(char byte) { return byte >= 'a' && byte <= 'z'; }

// `Register`, `register_op`, `TryRegisterKernel`; not `Unregister`, `registered`, `registry_size`.
bool says_register(std::string_view name) {
  for (const std::string_view word : {"Register", "register"}) {
    const std::size_t at = name.find(word);
    if (at == name.npos) continue;
    const std::string_view before = name.substr(0, at);
    const std::string_view behind = name.substr(at + word.size());
    if (before.ends_with("Un") || before.ends_with("un") || before.ends_with("De") ||
        before.ends_with("de") || before.ends_with("un_") || before.starts_with("Is") ||
        before.starts_with("is_")) {
      continue;
    }
    if (word == "register" && !before.empty() && before.back() != '_') continue;
    if (!behind.empty() && is_small(behind.front())) continue;
    return true;
  }
  return false;
}

bool is_named_for_it(std::string_view type) {
  return type.ends_with("Status") || type.ends_with("Error") || type.ends_with("Result") ||
         type.ends_with("StatusOr") || type.ends_with("ErrorOr") || type.ends_with("Expected") ||
         type == "expected" || type == "error_code";
}

}  // namespace

bool StatusReader::answers(CXCursor function) const {
  const ClangFunctions& clang = unit_.clang();
  for (const CXCursor child : unit_.children(function)) {
    if (unit_.kind(child) == CXCursor_WarnUnusedResultAttr) return true;
  }
  const CXType type = clang.getCanonicalType(clang.getCursorResultType(function));
  if (type.kind == CXType_Enum) return true;
  if (type.kind != CXType_Record) return false;
  const CXCursor record = clang.getTypeDeclaration(type);
  if (is_named_for_it(unit_.spelling(record))) return true;
  const std::vector<CXCursor> members = unit_.children(record);
  return std::any_of(members.begin(), members.end(), [this](CXCursor child) {
    return unit_.kind(child) == CXCursor_WarnUnusedResultAttr;
  });
}

// What a statement comes to is read by nobody. `(void)f()` is a cast, by which somebody says so.
bool StatusReader::is_statement(CXCursor call, CXCursor parent) const {
  switch (unit_.kind(parent)) {
    case CXCursor_CompoundStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_LabelStmt:
      return true;
    case CXCursor_IfStmt:
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_CXXForRangeStmt: {
      // The condition is not what is done.
      const TypedPlace place = unit_.extent(call);
      const std::vector<CXCursor> parts = unit_.children(parent);
      if (parts.size() < 2) return false;
      const std::size_t first = unit_.kind(parent) == CXCursor_IfStmt ? 1 : parts.size() - 1;
      for (std::size_t at = first; at < parts.size(); ++at) {
        if (unit_.extent(parts[at]).offset == place.offset) return true;
      }
      return false;
    }
    default:
      return false;
  }
}

void StatusReader::read(CXCursor call, CXCursor parent) {
  const ClangFunctions& clang = unit_.clang();
  const CXCursor function = clang.getCursorReferenced(call);
  const CXCursorKind kind = unit_.kind(function);
  if (kind != CXCursor_FunctionDecl && kind != CXCursor_CXXMethod) return;
  const std::string name = unit_.spelling(function);
  const auto is_prefix = [&name](std::string_view prefix) { return name.starts_with(prefix); };
  if (std::any_of(others.begin(), others.end(), is_prefix)) return;
  bool registers = says_register(name);
  if (!registers && kind == CXCursor_CXXMethod) {
    const std::string owner = unit_.spelling(clang.getCursorSemanticParent(function));
    registers = owner.ends_with("Registry") && std::any_of(adding.begin(), adding.end(), is_prefix);
  }
  if (!registers || !answers(function)) return;
  file_.statuses.push_back({unit_.extent(call), name, is_statement(call, parent)});
}

}  // namespace opseal
