#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// Under which `#if` conditions something is compiled, as far as their texts tell: nobody knows the
// values, so that `A > 2` is a word that is true or not. It is kept as a conjunction of clauses,
// each a disjunction of words and negated words. `defined X` and `#ifdef X` are the same word, and
// `A < 2` is `A >= 2` negated.
class BuildCondition {
 public:
  // In every build.
  BuildCondition() = default;
  // Of an `#if` expression. What is too large to be taken apart is one word.
  static BuildCondition of(std::string_view expression);

  BuildCondition operator!() const;
  // What the right one says already is not said twice.
  BuildCondition operator&&(const BuildCondition& other) const;

  bool always() const { return clauses_.empty(); }
  // How many conditions are joined in it.
  std::size_t size() const { return clauses_.size(); }
  // Contradicts itself, by words alone: `#if 0`, or `#ifdef A` within `#ifndef A`.
  bool never() const;
  // No build has both.
  bool excludes(const BuildCondition& other) const { return (*this && other).never(); }
  // Every build that has this has the other.
  bool implies(const BuildCondition& other) const;

  // `defined(USE_ROCM) && !defined(X)`, which `of` reads again; empty where `always()`.
  std::string text() const;

  friend bool operator==(const BuildCondition&, const BuildCondition&) = default;

 private:
  friend class BuildConditionReader;

  struct Word {
    std::string text;
    bool negated = false;
    friend bool operator==(const Word&, const Word&) = default;
  };
  using Clause = std::vector<Word>;

  static std::string text_of(const Word& word);
  void add(const Clause& clause);

  std::vector<Clause> clauses_;
};

}  // namespace opseal
