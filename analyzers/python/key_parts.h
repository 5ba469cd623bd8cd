#pragma once

#include <map>
#include <string_view>

#include "analyzers/python/cache_keys.h"
#include "analyzers/python/python_code.h"

namespace opseal {

// As a manifest says how much of a thing is in a key.
std::string_view form_word(FlowForm form);
bool has_part(const PythonCache& cache, std::string_view name);
void set_name(const PythonCode& code, SyntaxIndex function, PythonCache& cache);

// What a key is made of.
class KeyParts {
 public:
  // Needs: the code outlives this.
  explicit KeyParts(PythonCode& code) : code_(code) {}

  // The key is a digest; what stands beside it in `path` belongs to the key too.
  void read_key(const FlowRoot& digest, const FlowTrace& path, PythonCache& cache);
  // The key is what the function gives back: a digest, or the parts themselves.
  void read_returned(SyntaxIndex function, PythonCache& cache);

 private:
  void add_parts(const FlowTrace& key, PythonCache& cache) const;
  FlowTrace parts_of(const FlowRoot& digest);
  SyntaxIndex name_of(SyntaxIndex made) const;
  bool is_passed_on(SyntaxIndex name) const;
  bool follows_includes(SyntaxIndex function);
  SyntaxIndex named_as(std::string_view name);
  bool uses_include_pattern(SyntaxIndex function) const;
  bool is_bare(SyntaxIndex given) const;
  bool is_any_text(SyntaxIndex given);
  void find_unseparated(SyntaxIndex digest, PythonCache& cache);

  PythonCode& code_;
  std::map<std::string_view, SyntaxIndex> by_name_;
};

}  // namespace opseal
