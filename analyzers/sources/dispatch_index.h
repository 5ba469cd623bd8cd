#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzers/sources/dispatches.h"
#include "analyzers/sources/records.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// Base names of functions that some code hands a tensor which it converted to another dtype.
using ConvertedFor = std::set<std::string, std::less<>>;

// Which functions of a tree lead to a choice by dtype, told by names: a call means the function of
// that name in the same file, else in the folders nearest to it.
class DispatchIndex {
 public:
  // `paths`: of the files, by number; they outlive the index.
  explicit DispatchIndex(const std::vector<std::string>& paths) : paths_(paths) {}

  void add(std::vector<FunctionBody>&& bodies);

  ConvertedFor converted_for() const;

  // Base names of all functions from which a choice can be reached, as far as bodies were added.
  std::vector<std::string> leading_names() const;

  // The choices that are reached from a function, in the order of their places. Nothing where
  // names don't tell: the function isn't there, means too many, or leads too far.
  std::optional<std::vector<DispatchSite>> reached(const TorchRecord& kernel) const;

 private:
  std::vector<std::uint32_t> resolve(std::string_view name, std::uint32_t file,
                                     std::string_view key) const;

  // Functions that names were held against; only a tree made to be slow has so many.
  static constexpr std::uint64_t most_steps = 50'000'000;

  const std::vector<std::string>& paths_;
  mutable std::uint64_t steps_ = 0;
  std::vector<FunctionBody> bodies_;
  // By base name.
  std::unordered_map<std::string, std::vector<std::uint32_t>> by_name_;
};

// Fills in `TorchRecord::dispatches`. `numbers`: the C++ sources among the paths; `may_start`:
// whether a file, by its number, may have a needle of the vocabulary or call what registers.
ConvertedFor find_dispatches(const std::vector<std::string>& paths,
                             const std::vector<std::size_t>& numbers, const SourceTexts& texts,
                             const std::function<bool(std::size_t)>& may_start, unsigned threads,
                             std::vector<TorchRecord>& records);

}  // namespace opseal
