#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/library_exports.h"

namespace opseal {

// How the names of declared functions become names of symbols: `f` is exported as `be_f` where the
// prefix is `be_`. Where no prefix is said it may be any, as in `be_f`. Known only where the
// library itself bears it out, since a manifest may list names that are no symbols.
class FunctionNames {
 public:
  // `functions`: names; `prefix`: may be absent.
  FunctionNames(const Fact& functions, const Fact& prefix, const LibraryExports& exports)
      : exports_(&exports), prefix_(prefix.text()) {
    if (prefix_.empty()) find_by_end(functions);
    // Who exports nothing exports none of them, whatever they would be called.
    known_ = exports.empty() || (!prefix_.empty() && exports.find_prefixed(prefix_).said());
    for (const Fact function : functions.items()) {
      if (known_) break;
      known_ = function.is_text() && is_exported(function.text());
    }
  }

  bool known() const { return known_; }
  bool is_exported(std::string_view function) const {
    return exports_->has(function) || found_.contains(function) ||
           exports_->has(symbol_of(function));
  }
  // The name may have been written with its prefix.
  std::string symbol_of(std::string_view function) const {
    if (function.starts_with(prefix_)) return std::string(function);
    return std::string(prefix_) + std::string(function);
  }

 private:
  void find_by_end(const Fact& functions) {
    for (const Fact function : functions.items()) {
      if (function.is_text()) found_.emplace(function.text(), false);
    }
    exports_->for_each_name([this](std::string_view name) {
      for (std::size_t at = name.find('_'); at != name.npos; at = name.find('_', at + 1)) {
        const auto function = found_.find(name.substr(at + 1));
        if (function == found_.end()) continue;
        function->second = true;
        if (prefix_.empty()) prefix_ = name.substr(0, at + 1);
      }
    });
    std::erase_if(found_, [](const auto& function) { return !function.second; });
  }

  const LibraryExports* exports_;
  std::string_view prefix_;
  std::unordered_map<std::string_view, bool> found_;
  bool known_ = false;
};

}  // namespace opseal
