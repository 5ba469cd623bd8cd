#pragma once

#include <algorithm>
#include <vector>

#include "opseal/dtypes.h"
#include "opseal/registration.h"
#include "rules/dtype_words.h"

namespace opseal {

// What the code of some kernels says by the places where it chooses by dtype (`dispatches`). Each
// such place may be about another operand, and not every call comes by each, so there are two
// answers: what passes all of them, and what passes any.
class DtypeChoices {
 public:
  explicit DtypeChoices(DtypeWords& words) : words_(&words) {}

  void add(const Fact& kernel) {
    const Fact list = kernel[Key::dispatches];
    if (!list.said()) return;
    if (!all_read(list)) known_ = false;
    for (const Fact choice : list.items()) add_choice(choice);
  }

  // All places are known, and one of them refuses floats of other dtypes.
  bool known() const { return known_ && !choices_.empty(); }
  // Taken wherever floats are told apart.
  const std::vector<const Dtype*>& always() const { return always_; }
  // Mentioned at all.
  bool ever(const Dtype& dtype) const { return has(ever_, dtype); }
  // The first choice that has, or lacks, a dtype. Needs: one does.
  Fact choice(const Dtype& dtype, bool having) {
    for (const Fact& one : choices_) {
      if (has(read(one), dtype) == having) return one;
    }
    return choices_.front();
  }

  static bool is_float(const Dtype& dtype) {
    return dtype.kind == DtypeKind::floating || dtype.kind == DtypeKind::complex;
  }

 private:
  static bool has(const std::vector<const Dtype*>& some, const Dtype& dtype) {
    return std::find(some.begin(), some.end(), &dtype) != some.end();
  }

  std::vector<const Dtype*> read(const Fact& choice) {
    std::vector<const Dtype*> dtypes;
    for (const Fact word : choice[Key::dtypes].items()) {
      const Dtype* dtype = word.is_text() ? words_->read(word).dtype : nullptr;
      if (dtype != nullptr && !has(dtypes, *dtype)) dtypes.push_back(dtype);
    }
    return dtypes;
  }

  void add_choice(const Fact& choice) {
    if (!choice[Key::dtypes].is_list() || !all_read(choice[Key::dtypes])) {
      known_ = false;
      return;
    }
    const std::vector<const Dtype*> dtypes = read(choice);
    for (const Dtype* dtype : dtypes) {
      if (!has(ever_, *dtype)) ever_.push_back(dtype);
    }
    const bool floats = std::any_of(dtypes.begin(), dtypes.end(),
                                    [](const Dtype* dtype) { return is_float(*dtype); });
    if (choice[Key::tested].truth() || !floats) return;
    if (narrowed_) {
      std::erase_if(always_, [&dtypes](const Dtype* one) { return !has(dtypes, *one); });
    } else {
      always_ = dtypes;
      narrowed_ = true;
    }
    // An assertion is there on purpose; it narrows what a kernel takes and proves no slip.
    if (!choice[Key::checked].truth()) choices_.push_back(choice);
  }

  DtypeWords* words_;
  bool known_ = true;
  bool narrowed_ = false;
  std::vector<const Dtype*> always_;
  std::vector<const Dtype*> ever_;
  std::vector<Fact> choices_;
};

}  // namespace opseal
