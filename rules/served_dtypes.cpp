#include "rules/served_dtypes.h"

#include <algorithm>

#include "opseal/dtypes.h"
#include "opseal/text.h"

namespace opseal {
namespace {

class Collector {
 public:
  // Dtypes not to be counted.
  std::vector<std::string_view> except{};

  void add_words(const Fact& words, std::string_view variable) {
    if (!words.is_list()) served.complete = false;
    for (const Fact word : words.items()) add_word(word, variable);
  }

  void add_combinations(const Fact& rows) {
    if (!rows.is_list()) served.complete = false;
    for (const Fact row : rows.items()) {
      std::vector<std::string> words;
      for (const Fact word : row.items()) {
        if (!word.is_text()) served.complete = false;
        words.emplace_back(canonical_dtype(word.text()));
      }
      if (!row.is_list()) served.complete = false;
      served.entries.push_back({'(' + join(words, ", ") + ')', row});
    }
  }

  void add_map(const Fact& map) {
    if (!map.is_map()) served.complete = false;
    for (const EntryRange::Entry entry : map.entries()) add_words(entry.value, entry.name.text());
  }

  ServedDtypes take() {
    const auto text_of = [](const ServedDtypes::Entry& entry) {
      return std::string_view(entry.text);
    };
    std::stable_sort(served.entries.begin(), served.entries.end(),
                     [&](const auto& a, const auto& b) { return text_of(a) < text_of(b); });
    served.entries.erase(
        std::unique(served.entries.begin(), served.entries.end(),
                    [&](const auto& a, const auto& b) { return text_of(a) == text_of(b); }),
        served.entries.end());
    return std::move(served);
  }

  ServedDtypes served{};

 private:
  void add_word(const Fact& word, std::string_view variable) {
    if (!word.is_text()) {
      served.complete = false;
      return;
    }
    const std::string_view dtype = canonical_dtype(word.text());
    if (std::binary_search(except.begin(), except.end(), dtype)) return;
    std::string text(variable);
    if (!text.empty()) text += ": ";
    served.entries.push_back({text + std::string(dtype), word});
  }
};

std::vector<std::string_view> exceptions_of(const Fact& kernel) {
  std::vector<std::string_view> except;
  for (const Key key : {Key::failed, Key::refused}) {
    for (const Fact word : kernel[key].items()) {
      if (word.is_text()) except.push_back(canonical_dtype(word.text()));
    }
  }
  std::sort(except.begin(), except.end());
  return except;
}

}  // namespace

std::string_view canonical_dtype(std::string_view word) {
  const Dtype* dtype = find_dtype(word);
  return dtype == nullptr ? word : dtype->name;
}

ServedDtypes served_dtypes(const std::vector<ServingKernel>& kernels, Key key,
                           bool without_failed) {
  Collector collector;
  for (const ServingKernel& row : kernels) {
    const Fact words = row.kernel[key];
    collector.except.clear();
    if (without_failed) collector.except = exceptions_of(row.kernel);
    if (key == Key::signatures) {
      collector.add_combinations(words);
    } else if (key == Key::type_constraints) {
      collector.add_map(words);
    } else {
      collector.add_words(words, {});
    }
  }
  return collector.take();
}

ServedDtypes dtypes_of(const Fact& words) {
  Collector collector;
  if (words.is_map()) {
    collector.add_map(words);
  } else {
    collector.add_words(words, {});
  }
  return collector.take();
}

std::vector<ServedDtypes::Entry> lacking(const ServedDtypes& from, const ServedDtypes& in) {
  std::vector<ServedDtypes::Entry> missing;
  auto other = in.entries.begin();
  for (const ServedDtypes::Entry& entry : from.entries) {
    while (other != in.entries.end() && other->text < entry.text) ++other;
    if (other == in.entries.end() || other->text != entry.text) missing.push_back(entry);
  }
  return missing;
}

}  // namespace opseal
