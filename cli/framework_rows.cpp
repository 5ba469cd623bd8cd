#include "cli/framework_rows.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "opseal/text.h"

namespace opseal {
namespace {

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string row_text(const Fact& row) {
  const std::string_view seen = row[Key::seen].text(row[Key::reason].text());
  std::string text(seen);
  if (row[Key::status].is("differs"))
    text += "; expected " + std::string(row[Key::expected].text());
  return escape(text);
}

// Rows of one operator that say the same.
struct Alike {
  std::string name;
  std::string status;
  std::string text;
  std::size_t calls = 0;
};

// What goes wrong is told once for each check, by what was seen first.
bool is_alike(const Alike& a, const Alike& b) {
  return a.name == b.name && a.status == b.status && (a.text == b.text || a.status == "differs");
}

// Of an operator: what passed by how many calls, and all else by what was seen first.
void write_operator(const std::string& name, const std::vector<Fact>& rows, std::ostream& out) {
  std::vector<Alike> alike;
  for (const Fact& row : rows) {
    const bool passed = row[Key::status].is("passed");
    Alike one;
    one.name = row[Key::name].text();
    one.status = row[Key::status].text();
    if (row[Key::input].is_text()) one.name += ' ' + std::string(row[Key::input].text());
    if (!passed) one.text = row_text(row);
    std::size_t at = 0;
    while (at < alike.size() && !is_alike(alike[at], one)) ++at;
    if (at == alike.size()) alike.push_back(std::move(one));
    ++alike[at].calls;
  }
  std::size_t width = 0;
  for (const Alike& one : alike) width = std::max(width, one.name.size());
  out << "  " << escape(name) << ":\n";
  for (const Alike& one : alike) {
    out << "    " << padded(one.status, 9) << "  " << padded(escape(one.name), width) << "  "
        << plural(one.calls, "call");
    if (!one.text.empty()) out << ": " << one.text;
    out << '\n';
  }
}

}  // namespace

void write_framework_rows(const Facts& facts, std::ostream& out) {
  std::string shown;
  for (const Document& document : facts.documents) {
    if (!document.settings) continue;
    std::size_t width = 0;
    // In the order of their first rows.
    std::vector<std::pair<std::string, std::vector<Fact>>> operators;
    const auto tell_operators = [&] {
      for (const auto& [name, rows] : operators) write_operator(name, rows, out);
      operators.clear();
    };
    for (const Fact row : facts.root(document)[Key::probes].items()) {
      const bool whole = !row[Key::operator_].is_text();
      if (row[Key::kind].is("framework") && whole) {
        width = std::max(width, row[Key::name].text().size());
      }
    }
    for (const Fact row : facts.root(document)[Key::probes].items()) {
      if (!row[Key::kind].is("framework")) continue;
      std::string framework(row[Key::system].text());
      if (row[Key::version].is_text()) framework += ' ' + std::string(row[Key::version].text());
      if (framework != shown) {
        tell_operators();
        out << escape(framework) << ":\n";
      }
      shown = framework;
      if (row[Key::operator_].is_text()) {
        const std::string name(row[Key::operator_].text());
        if (operators.empty() || operators.back().first != name) operators.push_back({name, {}});
        operators.back().second.push_back(row);
        continue;
      }
      out << "  " << padded(std::string(row[Key::status].text()), 9) << "  "
          << padded(std::string(row[Key::name].text()), width) << "  " << row_text(row) << '\n';
    }
    tell_operators();
  }
}

}  // namespace opseal
