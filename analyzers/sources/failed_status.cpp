// OpKernelContext::SetStatus (op_kernel.h) keeps the error and gives control back to its caller.

#include "analyzers/sources/failed_status.h"

#include <string_view>

namespace opseal {
namespace {

constexpr std::size_t most_records = 512;

// What follows on a failure.
enum class Follows : std::uint8_t { nothing, work, unclear, leaves };

class FailureReader {
 public:
  FailureReader(const CodeFunctions& code, std::uint32_t number,
                std::vector<RegistrarRecord>& records)
      : code_(code), unit_(code.files().front()->unit), number_(number), records_(records) {}

  void run() {
    for (const auto& function : code_.functions()) {
      function_ = function.get();
      context_ = context_of(*function);
      if (!context_.empty()) visit(function->statements, Follows::nothing);
    }
  }

 private:
  const Token& at(std::uint32_t index) const { return unit_.tokens[index]; }

  // The parameter of type `OpKernelContext*`.
  std::string_view context_of(const CodeFunction& function) const {
    for (std::uint32_t index = function.name_token; index + 2 < function.body.begin; ++index) {
      if (!at(index).is("OpKernelContext") || !at(index + 1).is('*')) continue;
      const std::uint32_t name = index + (at(index + 2).is("const") ? 3 : 2);
      if (name < function.body.begin && at(name).is_identifier()) return at(name).text;
    }
    return {};
  }

  bool mentions(TokenRange range, std::string_view word) const {
    for (std::uint32_t index = range.begin; index < range.end; ++index) {
      if (at(index).is_identifier() && at(index).text == word) return true;
    }
    return false;
  }

  // Index of the name in `ctx->SetStatus(`, or no_token.
  std::uint32_t failure_in(TokenRange range) const {
    if (range.end < range.begin + 5 || at(range.begin).text != context_) return no_token;
    if (!at(range.begin + 1).is("->") || !at(range.begin + 3).is('(')) return no_token;
    const std::uint32_t name = range.begin + 2;
    if (at(name).is("CtxFailure") || at(name).is("CtxFailureWithWarning")) return name;
    return at(name).is("SetStatus") ? name : no_token;
  }

  // `errors::Internal(…)`, or what a test found not to be fine.
  bool is_error(TokenRange statement, TokenRange condition) const {
    bool fine = false;
    for (std::uint32_t index = statement.begin + 4; index < statement.end; ++index) {
      const Token& token = at(index);
      if (!token.is_identifier()) continue;
      if (token.is("errors") || token.is("error") || token.text.ends_with("Error")) return true;
      fine = fine || token.is("OK") || token.is("OkStatus");
    }
    if (fine) return false;
    for (std::uint32_t index = condition.begin; index + 2 < condition.end; ++index) {
      if (at(index).is('!') && mentions(condition, "ok")) return true;
    }
    return false;
  }

  void visit(const std::vector<Statement>& block, Follows after) {
    for (std::size_t index = 0; index < block.size(); ++index) {
      const Statement& statement = block[index];
      switch (statement.kind) {
        case StatementKind::if_: {
          const Follows next = follows(block, index + 1, after);
          if (statement.otherwise.empty()) look_at(statement, next);
          visit(statement.body, next);
          visit(statement.otherwise, next);
          break;
        }
        case StatementKind::block:
          visit(statement.body, follows(block, index + 1, after));
          break;
        case StatementKind::switch_:
        case StatementKind::loop:
        case StatementKind::do_loop:
          // What comes next is another round or another case.
          visit(statement.body, Follows::unclear);
          break;
        default:
          break;
      }
    }
  }

  void look_at(const Statement& decision, Follows after) {
    const std::vector<Statement>* branch = &decision.body;
    if (branch->size() == 1 && branch->front().kind == StatementKind::block) {
      branch = &branch->front().body;
    }
    for (std::size_t index = 0; index < branch->size(); ++index) {
      const Statement& statement = (*branch)[index];
      if (statement.kind != StatementKind::expression) continue;
      const std::uint32_t name = failure_in(statement.tokens);
      if (name == no_token || !is_error(statement.tokens, decision.tokens)) continue;
      const Follows next = follows(*branch, index + 1, after);
      if (next != Follows::work && next != Follows::leaves) continue;
      if (records_.size() >= most_records) return;
      RegistrarRecord record;
      record.type = at(name).text;
      record.name = function_->name;
      record.status = next == Follows::work ? "continued" : "returned";
      record.place = {number_, at(name).offset, at(name).length};
      records_.push_back(std::move(record));
    }
  }

  // Of the statements from one on, and what comes behind their block.
  Follows follows(const std::vector<Statement>& block, std::size_t from, Follows after) const {
    for (std::size_t index = from; index < block.size(); ++index) {
      const Statement& statement = block[index];
      switch (statement.kind) {
        case StatementKind::returns:
        case StatementKind::throws:
          return Follows::leaves;
        case StatementKind::expression: {
          if (mentions(statement.tokens, "status")) return Follows::unclear;
          if (!mentions(statement.tokens, context_)) break;
          // Another failure, or a test of its own.
          if (failure_in(statement.tokens) != no_token) break;
          if (at(statement.tokens.begin).is("OP_REQUIRES")) return Follows::unclear;
          return Follows::work;
        }
        case StatementKind::branch_if:
        case StatementKind::branch_else:
        case StatementKind::branch_end:
          break;
        default:
          return Follows::unclear;
      }
    }
    return after;
  }

  const CodeFunctions& code_;
  const SourceUnit& unit_;
  std::uint32_t number_;
  std::vector<RegistrarRecord>& records_;
  const CodeFunction* function_ = nullptr;
  std::string_view context_;
};

}  // namespace

void read_failed_statuses(const CodeFunctions& code, std::uint32_t number,
                          std::vector<RegistrarRecord>& records) {
  FailureReader(code, number, records).run();
}

}  // namespace opseal
