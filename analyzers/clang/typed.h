#pragma once

#include <string>
#include <vector>

#include "analyzers/clang/typed_records.h"

namespace opseal {

struct TypedAnswer {
  TypedFile file;
  // Headers were read, too: there is a command of a build for it.
  bool full = false;
  // Why there is none; empty where there is one.
  std::string problem;
};

struct TypedAnswers {
  // Empty, or why nobody could be asked.
  std::string missing;
  // Of libclang; 0 where nothing was asked.
  int version = 0;
  // By question.
  std::vector<TypedAnswer> answers;
};

// Asks children of this program, one on each thread, what libclang says. `program` is run with
// `typed_child_argument` alone. A child that ends early, whatever the reason, costs the answer to
// the question that it was looking at; another one goes on behind it.
TypedAnswers ask_clang(const std::string& program, const std::vector<TypedQuestion>& questions,
                       unsigned threads);

}  // namespace opseal
