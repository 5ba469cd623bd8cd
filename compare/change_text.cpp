// Facts, and what differs between two of them, in few words.

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

#include "compare/change_list.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Parts of one message, at most.
constexpr std::size_t most_parts = 4;

void sort_names(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

bool is_text_list(const Fact& list) { return texts_of(list).size() == list.size(); }

std::string number_text(const Fact& fact) {
  std::ostringstream out;
  out << fact.number();
  return out.str();
}

std::string join_parts(std::vector<std::string> parts) {
  if (parts.size() > most_parts) {
    const std::size_t more = parts.size() - most_parts;
    parts.resize(most_parts);
    parts.push_back(std::to_string(more) + " more");
  }
  return join(parts, "; ");
}

std::string list_text(const Fact& before, const Fact& after) {
  if (is_text_list(before) && is_text_list(after)) {
    const std::string difference = list_difference(before, after);
    if (!difference.empty()) return difference;
  }
  const FactRange left = before.items();
  const FactRange right = after.items();
  auto then = left.begin();
  auto now = right.begin();
  for (std::size_t at = 0; then != left.end() && now != right.end(); ++then, ++now, ++at) {
    if (!same_meaning(*then, *now))
      return "at place " + std::to_string(at) + ' ' + difference_text(*then, *now);
  }
  return "has " + plural(after.size(), "element") + ", before " + std::to_string(before.size());
}

std::string entries_text(const Fact& before, const Fact& after) {
  std::map<std::string_view, std::pair<Fact, Fact>> entries;
  for (const EntryRange::Entry entry : before.entries())
    entries[entry.name.text()].first = entry.value;
  for (const EntryRange::Entry entry : after.entries())
    entries[entry.name.text()].second = entry.value;
  std::vector<std::string> parts;
  for (const auto& [name, values] : entries) {
    const auto& [then, now] = values;
    if (!now.said()) {
      parts.push_back("lost " + quote(name));
    } else if (!then.said()) {
      parts.push_back("gained " + quote(name));
    } else if (!same_meaning(then, now)) {
      parts.push_back("at " + quote(name) + ' ' + difference_text(then, now));
    }
  }
  return join_parts(std::move(parts));
}

std::string members_text(const Fact& before, const Fact& after) {
  std::vector<std::string> parts;
  for (const Fact then : before.items()) {
    const Fact now = after[then.key()];
    if (then.key() == Key::location || then.key() == Key::extension || same_meaning(then, now))
      continue;
    // `difference_text` has told of another name; what is left is another module.
    if (then.key() == Key::name) continue;
    parts.push_back("at " + quote(to_text(then.key())) + ' ' + difference_text(then, now));
  }
  return join_parts(std::move(parts));
}

// Two long texts from the byte on in which they differ, since messages cut the rest.
std::string long_text(std::string_view then, std::string_view now) {
  const auto differing = std::mismatch(then.begin(), then.end(), now.begin(), now.end());
  auto at = static_cast<std::size_t>(differing.first - then.begin());
  const auto inside = [](std::string_view text, std::size_t byte) {
    return byte < text.size() && (static_cast<unsigned char>(text[byte]) & 0xC0) == 0x80;
  };
  while (at > 0 && (inside(then, at) || inside(now, at))) --at;
  return "from byte " + std::to_string(at) + " on is " + quote(now.substr(at)) + ", before " +
         quote(then.substr(at));
}

}  // namespace

std::string end_text(const Fact& versions, bool exact) {
  const Fact until = versions[Key::until];
  if (until.is_count()) return "until " + value_text(until);
  const Fact since = versions[Key::since];
  return exact && since.is_count() ? "until " + value_text(since) : "without an end";
}

std::string value_text(const Fact& fact) {
  if (fact.is_null()) return "`null`";
  if (fact.is_truth()) return fact.truth() ? "`true`" : "`false`";
  if (fact.is_number()) return number_text(fact);
  if (fact.is_text()) return quote(fact.text());
  if (fact[Key::name].is_text()) return quote(fact[Key::name].text());
  if (fact.is_list()) {
    if (fact.size() == 0) return "nothing";
    if (is_text_list(fact)) return quote_list(texts_of(fact));
    return plural(fact.size(), "element");
  }
  if (fact.is_map()) return plural(fact.size(), "entry", "entries");
  std::vector<std::string> parts;
  for (const Fact member : fact.items()) {
    if (member.is_truth() || member.is_number() || member.is_text() || member.is_null())
      parts.push_back(std::string(to_text(member.key())) + ' ' + value_text(member));
  }
  return parts.empty() ? plural(fact.size(), "member") : join(parts, ", ");
}

std::string list_difference(const Fact& before, const Fact& after) {
  std::vector<std::string> then = texts_of(before);
  std::vector<std::string> now = texts_of(after);
  sort_names(then);
  sort_names(now);
  std::vector<std::string> gained;
  std::vector<std::string> lost;
  std::set_difference(now.begin(), now.end(), then.begin(), then.end(), std::back_inserter(gained));
  std::set_difference(then.begin(), then.end(), now.begin(), now.end(), std::back_inserter(lost));
  std::string text;
  if (!gained.empty()) text = "gained " + quote_list(gained);
  if (!lost.empty()) text += (text.empty() ? "lost " : "; lost ") + quote_list(lost);
  return text;
}

std::string difference_text(const Fact& before, const Fact& after) {
  std::string text;
  if (before.is_list() && after.is_list()) {
    text = list_text(before, after);
  } else if (before.is_map() && after.is_map()) {
    text = entries_text(before, after);
  } else if (before.is_object() && after.is_object() &&
             own_name(before[Key::name].text()) == own_name(after[Key::name].text())) {
    text = members_text(before, after);
  }
  if (!text.empty()) return text;
  const std::string then = value_text(before);
  const std::string now = value_text(after);
  if (then == now && before.is_text() && after.is_text())
    return long_text(before.text(), after.text());
  return "is " + now + ", before " + then;
}

}  // namespace opseal
