#pragma once

#include <string>
#include <vector>

#include "analyzers/python/parsed.h"
#include "analyzers/python/registrations.h"

namespace opseal {

// What the decorators of a function say of it as a kernel of Triton.
struct TritonTuning {
  // `triton.jit` is among them.
  bool compiled = false;
  // None is there whose meaning isn't known.
  bool known = true;
  // Something gives constants whose names don't stand there.
  bool gives_constants = false;
  // Something may give any parameter.
  bool gives_any = false;
  // Parameters that are given, by heuristics or a tuner.
  std::vector<std::string> given;
  // What every launch that gives it too fails over.
  std::vector<std::string> tuned;

  bool may_give(const PythonParameter& parameter) const;
};

class TritonTuners {
 public:
  // Needs: the file outlives this.
  explicit TritonTuners(const ParsedPython& file) : syntax_(file.syntax), scopes_(file.scopes) {}

  TritonTuning of(SyntaxIndex decorated) const;

 private:
  void add_tuner(SyntaxIndex arguments, TritonTuning& tuning) const;
  void add_heuristics(SyntaxIndex arguments, TritonTuning& tuning) const;
  // Names of the constants of all `Config`s that an expression writes out; false where there are
  // others.
  bool add_configs(SyntaxIndex expression, std::vector<std::string>& names) const;
  bool add_keys(SyntaxIndex dictionary, std::vector<std::string>& names) const;
  bool is_name(SyntaxIndex expression, std::string_view name) const;

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
};

}  // namespace opseal
