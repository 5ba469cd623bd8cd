// The texts of rules, for people: `opseal explain RULE` and `opseal rules`.

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/settings.h"
#include "opseal/text.h"
#include "rules/rules.h"

namespace opseal {
namespace {

constexpr std::size_t line_width = 80;

// Breaks a paragraph at spaces.
std::string wrapped(std::string_view text) {
  std::string out;
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (column > 0 && column + 1 + word.size() > line_width) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    at = end + 1;
  }
  return out + '\n';
}

std::string needs_text(const Rule& rule) {
  std::vector<std::string> needs;
  for (const Key key : rule.needs) {
    if (key != Key::none) needs.push_back(quote(to_text(key)));
  }
  return join(needs, ", ");
}

// What stands in a cell of a Markdown table as it is.
std::string cell(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (byte == '|') out += '\\';
    out += byte;
  }
  return out;
}

void list_aligned(std::ostream& out) {
  std::size_t widest = 0;
  for (const Rule* rule : all_rules()) widest = std::max(widest, rule->id.size());
  const auto column = [](std::string_view text, std::size_t width) {
    return std::string(text) + std::string(width - std::min(width, text.size()) + 2, ' ');
  };
  constexpr std::size_t severity_width = 7;
  for (const Rule* rule : all_rules()) {
    out << column(rule->id, widest) << column(to_text(rule->severity), severity_width)
        << column(to_text(rule->profile), severity_width) << rule->title << '\n';
  }
}

void list_markdown(std::ostream& out) {
  out << "| rule | severity | profile | what it finds |\n|---|---|---|---|\n";
  for (const Rule* rule : all_rules()) {
    out << "| `" << rule->id << "` | " << to_text(rule->severity) << " | " << to_text(rule->profile)
        << " | " << cell(rule->title) << " |\n";
  }
}

}  // namespace

int explain(const Options& options) {
  const Rule* rule = find_rule(options.name);
  if (rule == nullptr) {
    std::vector<std::string_view> ids;
    for (const Rule* candidate : all_rules()) ids.push_back(candidate->id);
    const std::string nearest = did_you_mean(options.name, ids);
    throw UsageError("no rule " + quote(options.name) +
                     (nearest.empty() ? "; `opseal rules` lists them" : nearest));
  }
  std::cout << rule->id << ": " << rule->title << '\n'
            << to_text(rule->severity) << ", profile " << to_text(rule->profile) << ", since "
            << rule->since << "\n\n"
            << wrapped(rule->rationale) << "\nExample:\n  " << rule->example << "\n\n"
            << wrapped("Fix: " + std::string(rule->fix)) << '\n'
            << wrapped("Inspects: " + std::string(rule->inspects));
  if (rule->two_dumps) std::cout << "Compares two dumps: run by `opseal diff`\n";
  if (const std::string needs = needs_text(*rule); !needs.empty()) {
    std::cout << wrapped("Needs: " + needs + " in some input, else it is skipped");
  }
  return 0;
}

int list_rules(const Options& options) {
  if (options.markdown) {
    list_markdown(std::cout);
  } else {
    list_aligned(std::cout);
  }
  return 0;
}

}  // namespace opseal
