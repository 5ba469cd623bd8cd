#include "analyzers/sources/launch_guards.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analyzers/source/statements.h"
#include "analyzers/sources/device_conditions.h"

namespace opseal {
namespace {

constexpr std::size_t most_text = 200;
constexpr std::size_t most_conditions = 8;

class GuardFinder {
 public:
  GuardFinder(Tokens tokens, const std::vector<std::uint32_t>& partners,
              std::vector<KernelLaunch>& launches)
      : tokens_(tokens), partners_(partners), launches_(launches) {
    std::sort(launches_.begin(), launches_.end(),
              [](const KernelLaunch& a, const KernelLaunch& b) { return a.at < b.at; });
  }

  bool launches_in(TokenRange range) const {
    const auto first = first_from(range.begin);
    return first != launches_.end() && first->at < range.end;
  }

  void visit(const std::vector<Statement>& block) {
    const std::size_t before = conditions_.size();
    for (const Statement& statement : block) {
      note_launches(statement.tokens);
      const bool asks = asks_capability_in(statement.tokens);
      if (statement.kind == StatementKind::if_) {
        visit_if(statement, asks);
        continue;
      }
      const std::size_t outer = conditions_.size();
      // Which of its values it is isn't followed.
      if (statement.kind == StatementKind::switch_ && asks) add("switch", statement.tokens);
      visit(statement.body);
      visit(statement.otherwise);
      conditions_.resize(outer);
      if (statement.kind == StatementKind::expression && asks) note_check(statement.tokens);
    }
    conditions_.resize(before);
  }

 private:
  std::vector<KernelLaunch>::iterator first_from(std::uint32_t at) const {
    return std::lower_bound(
        launches_.begin(), launches_.end(), at,
        [](const KernelLaunch& launch, std::uint32_t token) { return launch.at < token; });
  }

  bool asks_capability_in(TokenRange range) const {
    return std::any_of(
        tokens_.begin() + range.begin, tokens_.begin() + range.end,
        [](const Token& token) { return token.is_identifier() && asks_capability(token.text); });
  }

  void add(std::string_view before, TokenRange range) {
    conditions_.push_back(std::string(before) + "(" +
                          text_of(tokens_.subspan(range.begin, range.end - range.begin)) + ")");
  }

  void visit_if(const Statement& statement, bool asks) {
    const std::size_t outer = conditions_.size();
    if (asks) add("", statement.tokens);
    visit(statement.body);
    conditions_.resize(outer);
    if (asks) add("!", statement.tokens);
    visit(statement.otherwise);
    // Behind it only what it lets through is left.
    if (!asks || !statement.otherwise.empty() || !leaves(statement.body)) {
      conditions_.resize(outer);
    }
  }

  static bool leaves(const std::vector<Statement>& body) {
    if (body.empty()) return false;
    const Statement& last = body.back();
    if (last.kind == StatementKind::block) return leaves(last.body);
    return last.kind == StatementKind::returns || last.kind == StatementKind::throws;
  }

  // `TORCH_CHECK(sm >= 90, "…");`
  void note_check(TokenRange range) {
    if (range.begin + 2 >= range.end || !tokens_[range.begin + 1].is('(')) return;
    const std::string_view word = tokens_[range.begin].text;
    const bool is_check = word.find("CHECK") != word.npos || word.find("ASSERT") != word.npos ||
                          word.find("ENFORCE") != word.npos;
    const std::uint32_t close = partners_[range.begin + 1];
    if (!is_check || close == no_token || close >= range.end) return;
    const std::uint32_t first = range.begin + 2;
    const std::vector<Tokens> arguments =
        split_call_arguments(tokens_.subspan(first, close - first));
    if (arguments.empty()) return;
    const auto size = static_cast<std::uint32_t>(arguments.front().size());
    if (asks_capability_in({first, first + size})) add("", {first, first + size});
  }

  void note_launches(TokenRange range) {
    if (conditions_.empty() || conditions_.size() > most_conditions) return;
    for (auto launch = first_from(range.begin); launch != launches_.end() && launch->at < range.end;
         ++launch) {
      std::string text;
      for (const std::string& one : conditions_) text += (text.empty() ? "" : " && ") + one;
      if (text.size() <= most_text) launch->guard = text;
    }
  }

  Tokens tokens_;
  const std::vector<std::uint32_t>& partners_;
  std::vector<KernelLaunch>& launches_;
  std::vector<std::string> conditions_;
};

}  // namespace

void read_launch_guards(const PlainSource& source, LaunchCode& code) {
  if (code.launches.empty()) return;
  GuardFinder finder(source.unit.tokens, source.shape.partners, code.launches);
  std::uint32_t end = 0;
  for (const Scope& scope : source.shape.scopes) {
    if (scope.kind != ScopeKind::function || scope.body.begin < end) continue;
    end = std::max(end, scope.body.end);
    if (!finder.launches_in(scope.body)) continue;
    finder.visit(read_statements(source.unit.tokens, source.shape.partners, scope.body));
  }
}

}  // namespace opseal
