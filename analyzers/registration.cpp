#include "opseal/registration.h"

#include <utility>

#include "opseal/text.h"

namespace opseal {

Stated<CountRange> operand_count(const Fact& operands) {
  Stated<CountRange> counted;
  counted.where = operands.where();
  if (operands.is_count()) {
    counted.value = {operands.count(), operands.count()};
    counted.said = true;
  } else if (operands.is_object()) {
    const Fact least = operands[Key::min];
    const Fact most = operands[Key::max];
    if (!least.is_count() || !most.is_count() || least.count() > most.count()) return counted;
    counted.value = {least.count(), most.count()};
    counted.said = true;
  } else if (operands.is_list()) {
    for (const Fact operand : operands.items()) {
      if (!operand.said()) return counted;
      const bool variadic = operand[Key::variadic].truth();
      if (!variadic && !operand[Key::optional].truth()) ++counted.value.min;
      if (variadic) counted.value.max = CountRange::unbounded;
      if (counted.value.max != CountRange::unbounded) ++counted.value.max;
    }
    counted.said = true;
  }
  return counted;
}

std::string to_text(const CountRange& range, std::string_view noun) {
  if (range.exact()) return plural(range.min, noun);
  if (range.max == CountRange::unbounded) return "at least " + plural(range.min, noun);
  return std::to_string(range.min) + " to " + plural(range.max, noun);
}

std::string subject_of(const Fact& manifest, const Fact& op) {
  std::string subject;
  if (op[Key::namespace_].is_text()) {
    subject = op[Key::namespace_].text();
  } else if (!manifest[Key::system].is("engine")) {
    subject = manifest[Key::system].text();
  }
  if (!subject.empty()) subject += "::";
  const std::string_view name = op[Key::name].text();
  // torch's own names carry the namespace already.
  if (name.starts_with(subject)) subject.clear();
  subject += name;
  if (const Fact since = op[Key::versions][Key::since]; since.is_count()) {
    subject += '@' + std::to_string(since.count());
  }
  if (const Fact identity = op[Key::identity]; identity.is_text()) {
    subject += '#';
    subject += identity.text();
  }
  return subject;
}

std::string place_text(const Fact& location) {
  if (!location[Key::file].is_text()) return {};
  std::string place(location[Key::file].text());
  if (location[Key::line].is_count()) place += ':' + std::to_string(location[Key::line].count());
  return quote(place);
}

std::string site_of(const Fact& item) {
  const std::string place = place_text(item[Key::location]);
  return place.empty() ? place : " (registered at " + place + ")";
}

std::string function_text(const Fact& function) {
  const std::string place = place_text(function[Key::location]);
  return quote(function[Key::name].text()) + (place.empty() ? place : " (" + place + ")");
}

bool is_active_kernel(const Fact& kernel) {
  return kernel.said() && kernel[Key::active].truth(true) && kernel[Key::listed].truth(true) &&
         !kernel[Key::fallthrough].truth();
}

std::string decision_text(const Fact& kernel) {
  std::string out(kernel[Key::platform].text());
  if (kernel[Key::backend].is_text()) {
    out += ' ';
    out += kernel[Key::backend].text();
  }
  return quote(out);
}

std::vector<std::string> texts_of(const Fact& list) {
  std::vector<std::string> texts;
  for (const Fact item : list.items()) {
    if (item.is_text()) texts.emplace_back(item.text());
  }
  return texts;
}

bool list_has(const Fact& list, std::string_view word) {
  for (const Fact item : list.items()) {
    if (item.is(word)) return true;
  }
  return false;
}

bool all_read(const Fact& list) {
  for (const Fact item : list.items()) {
    if (!item.said()) return false;
  }
  return list.is_list();
}

Evidence evidence(const Fact& fact, std::string label) { return {fact.where(), std::move(label)}; }

}  // namespace opseal
