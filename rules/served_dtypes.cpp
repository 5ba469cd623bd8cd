#include "rules/served_dtypes.h"

#include <algorithm>
#include <map>

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
      served.entries.push_back({'(' + join(words, ", ") + ')', row, {}});
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
    served.entries.push_back({text + std::string(dtype), word, variable});
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

// A word of two meanings (`int`), or a combination with one.
bool is_ambiguous(const Fact& where) {
  if (where.is_list()) {
    for (const Fact word : where.items()) {
      if (is_ambiguous(word)) return true;
    }
    return false;
  }
  const Dtype* dtype = where.is_text() ? find_dtype(where.text()) : nullptr;
  return dtype != nullptr && !dtype->first.empty();
}

bool may_be_same(const Fact& a, const Fact& b) {
  if (a.is_text() && b.is_text()) {
    const Dtype* left = find_dtype(a.text());
    const Dtype* right = find_dtype(b.text());
    if (left == nullptr || right == nullptr) return a.text() == b.text();
    return same_dtype(*left, *right);
  }
  if (!a.is_list() || !b.is_list() || a.size() != b.size()) return false;
  const FactRange left = a.items();
  const FactRange right = b.items();
  auto other = right.begin();
  for (const Fact word : left) {
    if (!may_be_same(word, *other)) return false;
    ++other;
  }
  return true;
}

using Variables = std::map<std::string_view, std::vector<std::string_view>>;

// The dtypes of each type variable, sorted.
Variables variables_of(const ServedDtypes& served) {
  Variables variables;
  for (const ServedDtypes::Entry& entry : served.entries) {
    if (entry.variable.empty()) continue;
    variables[entry.variable].push_back(canonical_dtype(entry.where.text()));
  }
  for (auto& [name, dtypes] : variables) std::sort(dtypes.begin(), dtypes.end());
  return variables;
}

// Variables of `in` that `from` knows under another name -> that name.
std::map<std::string_view, std::string_view> renamed_variables(const ServedDtypes& from,
                                                               const ServedDtypes& in) {
  Variables gone = variables_of(from);
  Variables come = variables_of(in);
  std::erase_if(gone, [&come](const auto& one) { return come.erase(one.first) > 0; });
  std::map<std::string_view, std::string_view> renamed;
  const auto pair_off = [&](const auto& are_one) {
    for (auto old = gone.begin(); old != gone.end();) {
      const auto found = std::find_if(come.begin(), come.end(),
                                      [&](const auto& one) { return are_one(*old, one); });
      if (found == come.end()) {
        ++old;
        continue;
      }
      renamed[found->first] = old->first;
      come.erase(found);
      old = gone.erase(old);
    }
  };
  pair_off([](const auto& a, const auto& b) { return a.second == b.second; });
  if (gone.size() == 1 && come.size() == 1) pair_off([](const auto&, const auto&) { return true; });
  return renamed;
}

std::string text_under(const ServedDtypes::Entry& entry,
                       const std::map<std::string_view, std::string_view>& renamed) {
  const auto found = renamed.find(entry.variable);
  if (found == renamed.end()) return entry.text;
  return std::string(found->second) + entry.text.substr(entry.variable.size());
}

// Whatever a word of two meanings stands for is there. Needs: sorted texts.
bool has_both_meanings(const ServedDtypes::Entry& entry, const std::vector<std::string>& texts) {
  const Dtype* dtype = entry.where.is_text() ? find_dtype(entry.where.text()) : nullptr;
  if (dtype == nullptr || dtype->first.empty()) return false;
  const std::string front = entry.text.substr(0, entry.text.size() - dtype->name.size());
  const auto has = [&](std::string_view meaning) {
    return std::binary_search(texts.begin(), texts.end(), front + std::string(meaning));
  };
  return has(dtype->first) && has(dtype->second);
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
  const std::map<std::string_view, std::string_view> renamed = renamed_variables(from, in);
  std::vector<ServedDtypes::Entry> missing;
  std::vector<std::string> texts;
  std::vector<const ServedDtypes::Entry*> ambiguous;
  for (const ServedDtypes::Entry& entry : in.entries) {
    texts.push_back(text_under(entry, renamed));
    if (is_ambiguous(entry.where)) ambiguous.push_back(&entry);
  }
  std::sort(texts.begin(), texts.end());
  // A word that both have is no other spelling of something else: who lists `float` beside `double`
  // means two dtypes.
  std::vector<std::string_view> own;
  for (const ServedDtypes::Entry& entry : from.entries) own.push_back(entry.text);
  std::sort(own.begin(), own.end());
  for (const ServedDtypes::Entry& entry : from.entries) {
    if (std::binary_search(texts.begin(), texts.end(), entry.text)) continue;
    const auto same = [&](const ServedDtypes::Entry& other) {
      const auto found = renamed.find(other.variable);
      const std::string_view variable = found == renamed.end() ? other.variable : found->second;
      return variable == entry.variable && may_be_same(entry.where, other.where) &&
             !std::binary_search(own.begin(), own.end(), text_under(other, renamed));
    };
    const bool respelled =
        is_ambiguous(entry.where)
            ? has_both_meanings(entry, texts) ||
                  std::any_of(in.entries.begin(), in.entries.end(), same)
            : std::any_of(ambiguous.begin(), ambiguous.end(),
                          [&same](const ServedDtypes::Entry* other) { return same(*other); });
    if (!respelled) missing.push_back(entry);
  }
  return missing;
}

}  // namespace opseal
