#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/dtypes.h"
#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/unread.h"

namespace opseal {

// Calls `visit(dispatch)` for each dispatch record of each manifest.
template <typename Visit>
void for_each_dispatch(const Facts& facts, Visit visit) {
  for (const Document& document : facts.documents) {
    for (const Fact dispatch : facts.root(document)[Key::dispatch].items()) {
      if (dispatch.is_object()) visit(dispatch);
    }
  }
}

// `matvec on metal`.
inline std::string dispatch_subject(const Fact& dispatch) {
  std::string subject(dispatch[Key::operator_].text());
  if (dispatch[Key::backend].is_text()) {
    subject += " on ";
    subject += dispatch[Key::backend].text();
  }
  return subject;
}

// " (`launch_matvec` at `dispatch.rs:88`)" for a predicate or a table, as far as it is said.
inline std::string part_site(const Fact& part) {
  std::string site;
  if (part[Key::name].is_text()) site = quote(part[Key::name].text());
  const std::string place = place_text(part[Key::location]);
  if (!site.empty() && !place.empty()) site += " at ";
  site += place;
  return site.empty() ? site : " (" + site + ")";
}

// Lower case without the separators that projects set as they like: `Q4_K` and `q4k` are one kind.
inline std::string compact_kind(std::string_view kind) {
  std::string out;
  for (const char byte : lower(kind)) {
    if (byte != '_' && byte != '-' && byte != ' ') out += byte;
  }
  return out;
}

// One form for all spellings of a kind: predicate and table may be written in two languages.
// `GGML_TYPE_Q4_0`, `QuantKind::Q4_0` and `q4_0` are equal.
inline std::string canonical_kind(std::string_view kind, const Dtype* dtype) {
  if (dtype != nullptr) return std::string(dtype->name);
  const std::size_t colons = kind.rfind("::");
  if (colons != kind.npos) kind.remove_prefix(colons + 2);
  return compact_kind(kind);
}

inline std::string canonical_kind(std::string_view kind) {
  return canonical_kind(kind, find_dtype(kind));
}

class KindSet {
 public:
  void add(std::string_view kind) {
    const Dtype* dtype = find_dtype(kind);
    kinds_.push_back(canonical_kind(kind, dtype));
    if (!has_two_meanings(dtype)) return;
    kinds_.emplace_back(dtype->first);
    kinds_.emplace_back(dtype->second);
  }
  void add_all(const Fact& list) {
    if (is_partly_unread(list)) whole_ = false;
    for (const Fact kind : list.items()) {
      if (kind.is_text()) add(kind.text());
    }
  }
  // The `kind` member of each element.
  void add_members(const Fact& list) {
    if (is_unread(list)) whole_ = false;
    for (const Fact item : list.items()) {
      if (item[Key::kind].is_text()) {
        add(item[Key::kind].text());
      } else {
        whole_ = false;
      }
    }
  }
  // To be called once, after everything was added.
  void seal() { std::sort(kinds_.begin(), kinds_.end()); }
  bool has(std::string_view kind) const {
    if (kinds_.empty()) return false;
    const Dtype* dtype = find_dtype(kind);
    if (holds(canonical_kind(kind, dtype))) return true;
    return has_two_meanings(dtype) && (holds(dtype->first) || holds(dtype->second));
  }
  // Everything that was added could be read.
  bool whole() const { return whole_; }
  // For lists of what is excused: a kind may stand where something couldn't be read.
  bool may_have(std::string_view kind) const { return !whole_ || has(kind); }

 private:
  // A word of two meanings (`float`, `int`) may be either.
  static bool has_two_meanings(const Dtype* dtype) {
    return dtype != nullptr && !dtype->first.empty();
  }
  bool holds(std::string_view canonical) const {
    return std::binary_search(kinds_.begin(), kinds_.end(), canonical);
  }

  std::vector<std::string> kinds_;
  bool whole_ = true;
};

// Every element names its kind: what isn't found in such a table isn't there.
inline bool all_kinds_read(const Fact& entries) {
  for (const Fact entry : entries.items()) {
    if (!entry[Key::kind].is_text()) return false;
  }
  return entries.is_list();
}

// The kinds that kernels are named after. Finds them in names as whole words, the longest first, so
// that `gemv_q4_0_4_4` is after `q4_0_4_4` and not after `q4_0`, and `mv_iq4_xs` not after `q4`.
class KindNames {
 public:
  void add(std::string_view kind) {
    std::string compact = compact_kind(kind);
    if (compact.empty()) return;
    // `GGML_TYPE_Q8_0` stands as `q8_0` in the names of kernels.
    const Dtype* dtype = find_dtype(kind);
    std::string short_form = dtype == nullptr ? std::string() : compact_kind(dtype->name);
    if (!short_form.empty() && short_form != compact) {
      kinds_.push_back({std::move(short_form), kind});
    }
    kinds_.push_back({std::move(compact), kind});
  }
  void seal() {
    std::stable_sort(kinds_.begin(), kinds_.end(),
                     [](const Kind& a, const Kind& b) { return a.compact < b.compact; });
  }
  // Empty for names longer than any kernel's.
  std::vector<std::string_view> found_in(std::string_view name) const {
    if (name.size() > longest_name) return {};
    const std::vector<std::string> words = words_of(name);
    std::vector<std::string_view> found;
    for (std::size_t at = 0; at < words.size() && found.size() < most_found;) {
      std::string run;
      std::size_t taken = 0;
      std::string_view kind;
      for (std::size_t end = at; end < words.size() && end < at + most_words; ++end) {
        run += words[end];
        const auto place = std::lower_bound(kinds_.begin(), kinds_.end(), run,
                                            [](const Kind& candidate, const std::string& wanted) {
                                              return candidate.compact < wanted;
                                            });
        if (place == kinds_.end() || place->compact != run) continue;
        taken = end + 1 - at;
        kind = place->kind;
      }
      if (taken > 0) found.push_back(kind);
      at += taken > 0 ? taken : 1;
    }
    return found;
  }

 private:
  struct Kind {
    std::string compact;
    std::string_view kind;
  };

  static constexpr std::size_t most_words = 5;
  static constexpr std::size_t most_found = 8;
  static constexpr std::size_t longest_name = 500;

  // `matVecQ8_0<float>` is mat, vec, q8, 0, float.
  static std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    char before = 0;
    for (const char byte : name) {
      const bool upper = byte >= 'A' && byte <= 'Z';
      const bool letter = upper || (byte >= 'a' && byte <= 'z');
      const bool digit = byte >= '0' && byte <= '9';
      const bool begins = upper && before >= 'a' && before <= 'z';
      if ((!letter && !digit) || begins) words.emplace_back();
      if (letter || digit) words.back() += upper ? static_cast<char>(byte + 32) : byte;
      before = byte;
    }
    std::erase_if(words, [](const std::string& word) { return word.empty(); });
    return words;
  }

  std::vector<Kind> kinds_;
};

// Every kind that the record knows of.
inline KindNames kind_names(const Fact& dispatch) {
  KindNames names;
  const auto add_all = [&names](const Fact& list) {
    for (const Fact kind : list.items()) {
      if (kind.is_text()) names.add(kind.text());
    }
  };
  add_all(dispatch[Key::kinds]);
  add_all(dispatch[Key::predicate][Key::kinds]);
  add_all(dispatch[Key::predicate][Key::refused]);
  for (const EntryRange::Entry entry : dispatch[Key::predicate][Key::names].entries()) {
    names.add(entry.name.text());
  }
  for (const Fact entry : dispatch[Key::table][Key::entries].items()) {
    if (entry[Key::kind].is_text()) names.add(entry[Key::kind].text());
  }
  for (const Fact exception : dispatch[Key::exceptions].items()) {
    if (exception[Key::kind].is_text()) names.add(exception[Key::kind].text());
  }
  names.seal();
  return names;
}

// A kind that only its own kernel can read. Kernels for f16, f32 or i32 are lent to other kinds by
// right: values are converted on the way, or only moved.
inline bool is_storage_kind(std::string_view kind) {
  const DtypeWord word = read_dtype(kind);
  if (word.dtype != nullptr) return is_storage_format(*word.dtype);
  return word.reading == DtypeReading::well_formed && compact_kind(kind).find('q') != kind.npos;
}

// Whether a kernel that is named after `found` may be meant for `kind` all the same: it has both in
// its name, in any spelling, or it is named after the family (`q4_0` serves `q4_0_4_4`).
// Needs: `compact_kernel` is the kernel's name by `compact_kind`.
inline bool is_own_name(std::string_view compact_kernel, std::string_view kind,
                        std::string_view found) {
  const Dtype* dtype = find_dtype(kind);
  if (dtype != nullptr && compact_kernel.find(compact_kind(dtype->name)) != compact_kernel.npos) {
    return true;
  }
  const std::string own = compact_kind(kind);
  return compact_kernel.find(own) != compact_kernel.npos || own.starts_with(compact_kind(found));
}

}  // namespace opseal
