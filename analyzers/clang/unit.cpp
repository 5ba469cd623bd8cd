#include "analyzers/clang/unit.h"

#include <algorithm>

#include "analyzers/clang/compile_flags.h"
#include "analyzers/clang/cuda_toolkit.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// A name within names; real ones have five.
constexpr int most_scopes = 32;

// Bytes of a function that is looked at.
constexpr std::size_t most_body = std::size_t{64} << 10;

// Of what stands behind the head of a function, the first byte behind its body; 0 where it has
// none.
std::size_t end_of_body(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("//") || rest.starts_with("/*")) {
      const std::size_t end = rest[1] == '/' ? text.find('\n', at) : text.find("*/", at + 2);
      if (end == text.npos) return 0;
      at = end;
    } else if (byte == '"' || (byte == '\'' && (at == 0 || !is_word_byte(text[at - 1])))) {
      for (++at; at < text.size() && text[at] != byte; ++at) at += text[at] == '\\' ? 1 : 0;
    } else if (byte == '{') {
      ++depth;
    } else if (byte == '}') {
      if (depth <= 1) return depth == 0 ? 0 : at + 1;
      --depth;
    } else if (byte == ';' && depth == 0) {
      return 0;
    }
  }
  return 0;
}

}  // namespace

ClangUnit::~ClangUnit() {
  close();
  clang_.disposeIndex(index_);
}

void ClangUnit::close() {
  if (unit_ != nullptr) clang_.disposeTranslationUnit(unit_);
  unit_ = nullptr;
}

std::string ClangUnit::parse(const TypedQuestion& question, HeadersCache* headers) {
  close();
  wanted_bodies_ = false;
  full_ = false;
  root_ = question.root;
  if (parse_full(question, headers)) return {};
  prelude_ = question.prelude;
  prefix_ = question.prefix;
  std::vector<const char*> flags;
  const std::vector<std::string> own = flags_without_headers(question.path);
  for (const std::string& flag : own) flags.push_back(flag.c_str());
  CXUnsavedFile file{question.path.c_str(), question.text.c_str(),
                     static_cast<unsigned long>(question.text.size())};
  const CXErrorCode error = clang_.parseTranslationUnit2(
      index_, question.path.c_str(), flags.data(), static_cast<int>(flags.size()), &file, 1,
      CXTranslationUnit_SingleFileParse | CXTranslationUnit_KeepGoing, &unit_);
  if (error == CXError_Crashed) return "libclang crashed";
  if (error != CXError_Success || unit_ == nullptr) return "libclang can't parse it";
  file_ = clang_.getFile(unit_, question.path.c_str());
  return {};
}

bool ClangUnit::parse_full(const TypedQuestion& question, HeadersCache* headers) {
  if (question.flags.empty()) return false;
  const CudaParse parse = is_cuda_path(question.open_path) ? parse_with_toolkit(question.flags)
                                                           : CudaParse{question.flags, {}};
  const std::string precompiled =
      headers == nullptr ? std::string() : headers->find(question, parse);
  is_precompiled_ = !precompiled.empty() && parse_with(parse, precompiled, question.open_path);
  // What is wrong with a precompiled header is fatal, too.
  if (!is_precompiled_ && !parse_with(parse, {}, question.open_path)) return false;
  file_ = clang_.getFile(unit_, question.open_path.c_str());
  full_ = true;
  return true;
}

// `precompiled`: the path of what its first headers are taken from; empty: from themselves.
bool ClangUnit::parse_with(const CudaParse& parse, const std::string& precompiled,
                           const std::string& path) {
  std::vector<const char*> flags;
  for (const std::string& flag : parse.flags) flags.push_back(flag.c_str());
  if (!precompiled.empty()) flags.insert(flags.end(), {"-include-pch", precompiled.c_str()});
  std::vector<CXUnsavedFile> files;
  for (const ToolkitHeader& file : parse.files) {
    files.push_back(
        {file.path.c_str(), file.text.data(), static_cast<unsigned long>(file.text.size())});
  }
  const CXErrorCode error = clang_.parseTranslationUnit2(
      index_, path.c_str(), flags.data(), static_cast<int>(flags.size()), files.data(),
      static_cast<unsigned>(files.size()), CXTranslationUnit_KeepGoing, &unit_);
  if (error == CXError_Success && unit_ != nullptr && !headers_are_missing()) return true;
  close();
  return false;
}

// A header that isn't there is fatal to libclang. The set of diagnostics is asked for once: each
// `clang_getDiagnostic` makes it anew.
bool ClangUnit::headers_are_missing() const {
  const CXDiagnosticSet set = clang_.getDiagnosticSetFromTU(unit_);
  bool fatal = false;
  for (unsigned at = 0; at < clang_.getNumDiagnosticsInSet(set) && !fatal; ++at) {
    const CXDiagnostic one = clang_.getDiagnosticInSet(set, at);
    fatal = clang_.getDiagnosticSeverity(one) == CXDiagnostic_Fatal;
    clang_.disposeDiagnostic(one);
  }
  clang_.disposeDiagnosticSet(set);
  return fatal;
}

std::vector<CXCursor> ClangUnit::children(CXCursor cursor) const {
  std::vector<CXCursor> found;
  clang_.visitChildren(
      cursor,
      [](CXCursor child, CXCursor, CXClientData list) {
        static_cast<std::vector<CXCursor>*>(list)->push_back(child);
        return CXChildVisit_Continue;
      },
      &found);
  return found;
}

std::string ClangUnit::text(CXString string) const {
  const char* bytes = clang_.getCString(string);
  std::string copy = bytes == nullptr ? "" : bytes;
  clang_.disposeString(string);
  return copy;
}

std::string ClangUnit::qualified_name(CXCursor cursor) const {
  std::string name = spelling(cursor);
  CXCursor scope = clang_.getCursorSemanticParent(cursor);
  for (int steps = 0; steps < most_scopes; ++steps) {
    const CXCursorKind what = kind(scope);
    if (what == CXCursor_TranslationUnit || is_none(scope)) break;
    const bool names = what == CXCursor_Namespace || what == CXCursor_StructDecl ||
                       what == CXCursor_ClassDecl || what == CXCursor_ClassTemplate;
    if (names && !(what == CXCursor_Namespace && clang_.Cursor_isInlineNamespace(scope) != 0)) {
      const std::string outer = spelling(scope);
      const bool is_unnamed = outer.empty() || outer.find('(') != outer.npos;
      name = (is_unnamed ? std::string("(unnamed)") : outer) + "::" + name;
    }
    scope = clang_.getCursorSemanticParent(scope);
  }
  return name;
}

// The place in the file where a macro is used counts, not the place in the macro: what is pasted
// together is spelled nowhere.
ClangUnit::Spot ClangUnit::spot(CXSourceLocation location) const {
  Spot spot;
  clang_.getExpansionLocation(location, &spot.file, nullptr, nullptr, &spot.offset);
  return spot;
}

bool ClangUnit::is_in_file(CXCursor cursor) const {
  const Spot at = spot(clang_.getCursorLocation(cursor));
  return at.file != nullptr && clang_.File_isEqual(at.file, file_) != 0 && at.offset >= prefix_;
}

TypedPlace ClangUnit::name_place(CXCursor cursor) const {
  const Spot at = spot(clang_.getCursorLocation(cursor));
  const std::size_t length = spelling(cursor).size();
  return {at.offset - std::min(at.offset, prefix_), static_cast<std::uint32_t>(length)};
}

TypedPlace ClangUnit::extent(CXCursor cursor) const {
  const CXSourceRange range = clang_.getCursorExtent(cursor);
  const Spot start = spot(clang_.getRangeStart(range));
  const Spot end = spot(clang_.getRangeEnd(range));
  return {start.offset - std::min(start.offset, prefix_),
          end.offset - std::min(end.offset, start.offset)};
}

bool ClangUnit::is_conversion(CXCursor cursor, CXCursor child) const {
  if (kind(cursor) != CXCursor_UnexposedExpr) return false;
  const TypedPlace outer = extent(cursor);
  const TypedPlace inner = extent(child);
  return outer.offset == inner.offset && outer.length == inner.length;
}

CXCursor ClangUnit::without_casts(CXCursor cursor, bool (*is_cast)(CXCursorKind kind)) const {
  constexpr int most_casts = 16;
  for (int casts = 0; casts < most_casts; ++casts) {
    const CXCursorKind own = kind(cursor);
    const std::vector<CXCursor> parts = children(cursor);
    if (parts.size() == 1 && (own == CXCursor_ParenExpr || is_conversion(cursor, parts[0]))) {
      cursor = parts.front();
    } else if (is_cast(own) && !parts.empty()) {
      cursor = parts.back();
    } else {
      break;
    }
  }
  return cursor;
}

std::string_view ClangUnit::source(CXCursor cursor) const {
  const CXSourceRange range = clang_.getCursorExtent(cursor);
  const Spot start = spot(clang_.getRangeStart(range));
  const Spot end = spot(clang_.getRangeEnd(range));
  if (start.file == nullptr || end.file == nullptr ||
      clang_.File_isEqual(start.file, end.file) == 0 || end.offset < start.offset) {
    return {};
  }
  std::size_t size = 0;
  const char* bytes = clang_.getFileContents(unit_, start.file, &size);
  if (bytes == nullptr || end.offset > size) return {};
  return std::string_view(bytes, size).substr(start.offset, end.offset - start.offset);
}

bool ClangUnit::is_of_project(CXCursor cursor) const {
  const CXSourceLocation location = clang_.getCursorLocation(cursor);
  const Spot at = spot(location);
  if (at.file == nullptr) return false;
  if (!full_) return at.offset >= prelude_;
  if (clang_.Location_isInSystemHeader(location) != 0) return false;
  if (root_.empty()) return false;
  const std::string path = text(clang_.getFileName(at.file));
  return path.starts_with(root_) && path.size() > root_.size() &&
         (root_.ends_with('/') || path[root_.size()] == '/');
}

bool ClangUnit::has_body(CXCursor definition) const {
  if (!is_precompiled_ || is_of_project(definition) || is_in_file(definition)) return true;
  wanted_bodies_ = true;
  return false;
}

std::string ClangUnit::text_with_body(CXCursor definition) const {
  std::string text(source(definition));
  if (!is_precompiled_ || text.empty() || text.ends_with('}')) return text;
  std::size_t size = 0;
  const Spot start = spot(clang_.getRangeStart(clang_.getCursorExtent(definition)));
  const char* bytes = clang_.getFileContents(unit_, start.file, &size);
  const std::string_view rest =
      std::string_view(bytes, size).substr(start.offset + text.size(), most_body);
  text += rest.substr(0, end_of_body(rest));
  return text;
}

bool ClangUnit::does_nothing(CXCursor constructor) const {
  const std::string text = text_with_body(constructor);
  return text.ends_with("{}") && text.find(':') == text.npos;
}

}  // namespace opseal
