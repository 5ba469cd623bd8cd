#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/clang/headers_cache.h"
#include "analyzers/clang/library.h"
#include "analyzers/clang/typed_records.h"

namespace opseal {

// A parsed file, with what the readers ask of its cursors. Needs: the functions outlive it.
class ClangUnit {
 public:
  explicit ClangUnit(const ClangFunctions& clang)
      : clang_(clang), index_(clang.createIndex(1, 0)) {}
  ClangUnit(const ClangUnit&) = delete;
  ClangUnit& operator=(const ClangUnit&) = delete;
  ~ClangUnit();

  // Parses the file as it is compiled, with precompiled headers where there are `headers`, or else
  // the text of the question by itself. Empty, or why there is no unit.
  std::string parse(const TypedQuestion& question, HeadersCache* headers);

  const ClangFunctions& clang() const { return clang_; }
  CXCursor root() const { return clang_.getTranslationUnitCursor(unit_); }
  // The headers were read, too.
  bool is_full() const { return full_; }

  CXCursor none() const { return clang_.getNullCursor(); }
  bool is_none(CXCursor cursor) const { return clang_.Cursor_isNull(cursor) != 0; }
  std::vector<CXCursor> children(CXCursor cursor) const;
  std::string text(CXString string) const;
  std::string spelling(CXCursor cursor) const { return text(clang_.getCursorSpelling(cursor)); }
  CXCursorKind kind(CXCursor cursor) const { return clang_.getCursorKind(cursor); }
  // Whether a cursor is there for a conversion alone, which no text says. What clang couldn't make
  // sense of has the same kind, and spans more than what is left of it.
  bool is_conversion(CXCursor cursor, CXCursor child) const;
  // What stands within brackets, the conversions that the compiler adds, and casts of the kinds
  // that are asked for; of a cast the last child is the value.
  CXCursor without_casts(CXCursor cursor, bool (*is_cast)(CXCursorKind kind)) const;
  // Without the names that a type has in the source.
  CXType canonical_type(CXCursor cursor) const {
    return clang_.getCanonicalType(clang_.getCursorType(cursor));
  }
  // `a::b::C`, without inline namespaces; unnamed ones are `(unnamed)`.
  std::string qualified_name(CXCursor cursor) const;

  // Where a cursor has its name, and all that it spans: in bytes of the file itself.
  bool is_in_file(CXCursor cursor) const;
  TypedPlace name_place(CXCursor cursor) const;
  TypedPlace extent(CXCursor cursor) const;
  // The source that a cursor spans, wherever it is; empty where that is several files.
  std::string_view source(CXCursor cursor) const;
  // The project declares it, and no header of another one.
  bool is_of_project(CXCursor cursor) const;

  // Whether the body of a function can be looked at: a precompiled header has none. Whoever asks in
  // vain gets another unit.
  bool has_body(CXCursor definition) const;
  bool wanted_bodies() const { return wanted_bodies_; }
  // As `source`; of a function with the body that only its file has.
  std::string text_with_body(CXCursor definition) const;
  // The text of a constructor is `A() {}` and nothing more. Needs no body.
  bool does_nothing(CXCursor constructor) const;

 private:
  struct Spot {
    CXFile file = nullptr;
    unsigned offset = 0;
  };
  Spot spot(CXSourceLocation location) const;
  bool parse_full(const TypedQuestion& question, HeadersCache* headers);
  bool parse_with(const CudaParse& parse, const std::string& precompiled, const std::string& path);
  void close();
  bool headers_are_missing() const;

  const ClangFunctions& clang_;
  CXIndex index_;
  CXTranslationUnit unit_ = nullptr;
  CXFile file_ = nullptr;
  std::string root_;
  unsigned prelude_ = 0;
  unsigned prefix_ = 0;
  bool full_ = false;
  bool is_precompiled_ = false;
  mutable bool wanted_bodies_ = false;
};

}  // namespace opseal
