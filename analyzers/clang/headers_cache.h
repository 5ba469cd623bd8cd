#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/clang/cuda_toolkit.h"
#include "analyzers/clang/headers_key.h"
#include "analyzers/clang/headers_store.h"
#include "analyzers/clang/library.h"
#include "analyzers/clang/typed_records.h"

namespace opseal {

// The headers from outside of a tree with which its sources begin, precompiled: reading torch's
// takes seconds, and looking into what is known of them takes a tenth. Their functions have no
// bodies there, unless clang needs them to go on.
class HeadersCache {
 public:
  // `renew` gives more time to this process: making one takes as long as the parse that it saves.
  HeadersCache(const ClangFunctions& clang, std::function<void()> renew)
      : clang_(clang), renew_(std::move(renew)) {}

  // The precompiled header that a parse may start from; made where it isn't there yet. Empty where
  // there is none.
  std::string find(const TypedQuestion& question, const CudaParse& parse);

 private:
  struct Toolchain {
    std::string target;
    // Paths and digests.
    std::vector<std::pair<std::string, std::string>> headers;
  };
  HeadersKey key_of(const CudaParse& parse, const std::string& block);
  const Toolchain& toolchain_of(const CudaParse& parse);
  // `asked`: macros of which the lines of the key ask.
  std::string make(const HeadersKey& key, const std::set<std::string>& asked,
                   const TypedQuestion& question, const CudaParse& parse);

  const ClangFunctions& clang_;
  std::function<void()> renew_;
  std::optional<HeadersStore> store_;
  // By name of the entry; empty where it can't be made.
  std::map<std::string, std::string> known_;
  std::map<std::vector<std::string>, Toolchain> toolchains_;
};

}  // namespace opseal
