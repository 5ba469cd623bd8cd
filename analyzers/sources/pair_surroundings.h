#pragma once

#include <functional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzers/sources/code_functions.h"
#include "analyzers/sources/switch_subject.h"

namespace opseal {

// What code around a predicate and a dispatch does with the values, where no name but their own
// tells that they belong together.
class PairSurroundings {
 public:
  explicit PairSurroundings(const CodeFunctions& code) : code_(code) {}

  // A caller asks something of the thing by which some values never come to the dispatch:
  // `if (is_integer(type)) return other(type);`
  bool is_narrowed(const SwitchSubject& dispatch);

  // Whether code other than that of `left_out`, and other than what gives values a name, has one of
  // the values: it may serve it in a way of its own.
  bool has_one_of(const std::set<std::string_view>& values,
                  const std::function<bool(const CodeFunction&)>& left_out) const;

 private:
  // A call: who calls, and the token of the name.
  using Call = std::pair<const CodeFunction*, std::uint32_t>;

  void find_calls();
  bool narrows(const std::vector<Statement>& block, const CodeFunction& caller,
               std::string_view root, std::string_view dispatch) const;
  bool asks_of(TokenRange condition, const CodeFunction& caller, std::string_view root) const;
  bool hands_on(const std::vector<Statement>& block, const CodeFunction& caller,
                std::string_view root, std::string_view dispatch) const;

  const CodeFunctions& code_;
  bool has_calls_ = false;
  // By the name that is called.
  std::unordered_map<std::string_view, std::vector<Call>> calls_;
};

}  // namespace opseal
