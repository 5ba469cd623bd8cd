#include "analyzers/sources/accepted_labels.h"

#include <string>

#include "analyzers/sources/enumerator_mentions.h"

namespace opseal {
namespace {

class LabelFinder {
 public:
  LabelFinder(const CodeFunctions& code, const Enumerations& enumerations,
              const CodeFunction& predicate, const CodeEnumeration* asked)
      : code_(code), enumerations_(enumerations), predicate_(predicate), asked_(asked) {}

  void visit(const std::vector<Statement>& block, std::vector<AcceptedLabels>& found) {
    for (const Statement& statement : block) {
      if (statement.kind == StatementKind::switch_) add(statement, found);
      visit(statement.body, found);
      visit(statement.otherwise, found);
    }
  }

 private:
  // Only `return false`, or anything else: an arm that goes on may say yes.
  bool says_no(const std::vector<Statement>& body, std::size_t at) const {
    for (; at < body.size(); ++at) {
      const Statement& statement = body[at];
      if (statement.kind == StatementKind::case_label ||
          statement.kind == StatementKind::default_label) {
        continue;
      }
      if (statement.kind == StatementKind::block) return says_no(statement.body, 0);
      return statement.kind == StatementKind::returns &&
             statement.tokens.end == statement.tokens.begin + 1 &&
             tokens()[statement.tokens.begin].is("false");
    }
    return true;
  }

  Tokens tokens() const { return code_.tokens_of(predicate_); }

  void add(const Statement& statement, std::vector<AcceptedLabels>& found) {
    AcceptedLabels labels;
    const CodeFile& file = *code_.files()[predicate_.file];
    const auto place = [&](std::uint32_t at) {
      return SourcePlace{file.number, tokens()[at].offset, tokens()[at].length};
    };
    if (statement.tokens.empty()) return;
    for (std::size_t at = 0; at < statement.body.size(); ++at) {
      const Statement& label = statement.body[at];
      if (label.kind != StatementKind::case_label || label.tokens.empty()) continue;
      const std::uint32_t last = code_.value_in(predicate_.file, label.tokens).end - 1;
      const Token& name = tokens()[last];
      const CodeEnumeration* enumeration =
          name.is_identifier() ? enumerations_.of(name.text) : nullptr;
      if (enumeration == nullptr || enumeration == asked_) return;
      if (says_no(statement.body, at)) continue;
      labels.labels.push_back({std::string(name.text), place(last), 0});
    }
    if (labels.labels.empty()) return;
    labels.expression = text_of(
        tokens().subspan(statement.tokens.begin, statement.tokens.end - statement.tokens.begin));
    labels.place = place(statement.tokens.begin);
    found.push_back(std::move(labels));
  }

  const CodeFunctions& code_;
  const Enumerations& enumerations_;
  const CodeFunction& predicate_;
  const CodeEnumeration* asked_;
};

// `text + type_name(x)`: kernels are found by names that are put together, so that code needs no
// value by name.
bool builds_names(Tokens tokens) {
  for (std::size_t at = 1; at + 1 < tokens.size(); ++at) {
    if (tokens[at + 1].is('(') && tokens[at].is_identifier() &&
        tokens[at].text.ends_with("_name") && (tokens[at - 1].is('+') || tokens[at - 1].is("+="))) {
      return true;
    }
  }
  return false;
}

// Names that a predicate or what it hands the question on to has are no use of a kind.
bool asks(const CodeFunction& function, const CodeFunction& predicate) {
  return &function == &predicate || function.name.find("support") != std::string::npos;
}

}  // namespace

void find_accepted_labels(const CodeFunctions& code, const Enumerations& enumerations,
                          const CodeFunction& predicate, const CodeEnumeration* enumeration,
                          std::vector<AcceptedLabels>& found) {
  LabelFinder(code, enumerations, predicate, enumeration).visit(predicate.statements, found);
  EnumeratorMentions mentions;
  for (const AcceptedLabels& labels : found) {
    for (const AcceptedLabel& label : labels.labels) mentions[label.name] = 0;
  }
  if (mentions.empty()) return;
  for (const auto& file : code.files()) {
    if (builds_names(file->unit.tokens)) {
      found.clear();
      return;
    }
  }
  std::unordered_map<std::string_view, std::string> meant;
  const CodeFile& file = *code.files()[predicate.file];
  for (const AcceptedLabels& labels : found) {
    for (const AcceptedLabel& label : labels.labels) {
      Token name;
      name.offset = label.place.offset;
      const std::string_view known = meant_at(file, name);
      if (!known.empty()) meant[label.name] = known;
    }
  }
  count_mentions(
      code, [&](const CodeFunction& function) { return asks(function, predicate); }, mentions,
      meant);
  for (AcceptedLabels& labels : found) {
    for (AcceptedLabel& label : labels.labels) label.mentions = mentions[label.name];
  }
}

}  // namespace opseal
