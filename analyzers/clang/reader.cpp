#include "analyzers/clang/reader.h"

#include "analyzers/clang/enumerators.h"
#include "analyzers/clang/key_fields.h"
#include "analyzers/clang/lost_errors.h"
#include "analyzers/clang/signatures.h"
#include "analyzers/clang/static_order.h"
#include "analyzers/clang/statuses.h"
#include "analyzers/clang/temporaries.h"

namespace opseal {
namespace {

// Statements within statements and expressions within expressions. Clang itself gives up at 256
// brackets.
constexpr std::size_t most_depth = 600;

bool is_class(CXCursorKind kind) {
  return kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl || kind == CXCursor_UnionDecl;
}

class Walk {
 public:
  Walk(const ClangUnit& unit, const TypedQuestion& question, TypedFile& file)
      : unit_(unit),
        signatures_(unit, question, file),
        temporaries_(unit, file),
        statuses_(unit, file),
        static_order_(unit, file),
        enumerators_(unit, file),
        keys_(unit, question, file),
        lost_errors_(unit, file),
        function_(unit.none()) {}

  void run() {
    signatures_.read_named();
    enumerators_.find_shared(unit_.root(), 0);
    for (const CXCursor child : unit_.children(unit_.root())) {
      if (unit_.is_in_file(child)) walk(child);
    }
  }

 private:
  void walk(CXCursor cursor) {
    if (above_.size() >= most_depth) return;
    const CXCursor function = function_;
    switch (unit_.kind(cursor)) {
      case CXCursor_FunctionDecl:
      case CXCursor_CXXMethod:
        function_ = cursor;
        signatures_.read(cursor);
        keys_.read(cursor);
        lost_errors_.read_function(cursor);
        break;
      case CXCursor_Constructor:
        function_ = cursor;
        temporaries_.read_members(cursor);
        break;
      case CXCursor_Destructor:
      case CXCursor_FunctionTemplate:
        function_ = cursor;
        keys_.read(cursor);
        break;
      case CXCursor_LambdaExpr:
        // A `return` in it is not the function's.
        function_ = unit_.none();
        signatures_.read(cursor);
        break;
      case CXCursor_VarDecl:
        static_order_.read(cursor);
        temporaries_.read(cursor, function_);
        break;
      case CXCursor_BinaryOperator:
        enumerators_.read_comparison(cursor);
        temporaries_.read(cursor, function_);
        break;
      case CXCursor_SwitchStmt:
        enumerators_.read_switch(cursor);
        break;
      case CXCursor_DeclRefExpr:
        enumerators_.read_reference(cursor);
        break;
      case CXCursor_ReturnStmt:
        temporaries_.read(cursor, function_);
        break;
      case CXCursor_InitListExpr:
        // Of a variable; what is made for a call ends with the call.
        if (unit_.kind(parent_of(cursor)) == CXCursor_VarDecl) {
          temporaries_.read_list(cursor, function_);
        }
        break;
      case CXCursor_CallExpr:
        statuses_.read(cursor, parent_of(cursor));
        lost_errors_.read_call(cursor, statuses_.is_statement(cursor, parent_of(cursor)),
                               function_);
        break;
      default:
        break;
    }
    above_.push_back(cursor);
    const bool declares = unit_.kind(cursor) == CXCursor_VarDecl;
    for (const CXCursor child : unit_.children(cursor)) {
      // `struct A { … } a;` has the class twice.
      if (!declares || !is_class(unit_.kind(child))) walk(child);
    }
    above_.pop_back();
    function_ = function;
  }

  // What a call stands in, past the conversions of its result.
  CXCursor parent_of(CXCursor call) const {
    for (std::size_t at = above_.size(); at > 0; --at) {
      if (!unit_.is_conversion(above_[at - 1], call)) return above_[at - 1];
    }
    return unit_.none();
  }

  const ClangUnit& unit_;
  SignatureReader signatures_;
  TemporaryReader temporaries_;
  StatusReader statuses_;
  StaticOrderReader static_order_;
  EnumeratorReader enumerators_;
  KeyFieldReader keys_;
  LostErrorReader lost_errors_;
  std::vector<CXCursor> above_;
  CXCursor function_;
};

}  // namespace

TypedFile read_with_types(const ClangUnit& unit, const TypedQuestion& question) {
  TypedFile file;
  Walk(unit, question, file).run();
  return file;
}

}  // namespace opseal
