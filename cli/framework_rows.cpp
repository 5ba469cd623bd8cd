#include "cli/framework_rows.h"

#include <algorithm>
#include <ostream>
#include <string>
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

}  // namespace

void write_framework_rows(const Facts& facts, std::ostream& out) {
  std::string shown;
  for (const Document& document : facts.documents) {
    if (!document.settings) continue;
    std::size_t width = 0;
    for (const Fact row : facts.root(document)[Key::probes].items()) {
      if (row[Key::kind].is("framework")) width = std::max(width, row[Key::name].text().size());
    }
    for (const Fact row : facts.root(document)[Key::probes].items()) {
      if (!row[Key::kind].is("framework")) continue;
      std::string framework(row[Key::system].text());
      if (row[Key::version].is_text()) framework += ' ' + std::string(row[Key::version].text());
      if (framework != shown) out << escape(framework) << ":\n";
      shown = framework;
      out << "  " << padded(std::string(row[Key::status].text()), 9) << "  "
          << padded(std::string(row[Key::name].text()), width) << "  " << row_text(row) << '\n';
    }
  }
}

}  // namespace opseal
