#include "analyzers/clang/headers_key.h"

#include "opseal/digest.h"

namespace opseal {

// opseal: cache-key(covers=HeadersKey)
std::string name_of(const HeadersKey& key) {
  Digest digest;
  digest.add("program", key.program);
  digest.add("libclang", key.libclang);
  digest.add("target", key.target);
  digest.add("directory", key.directory);
  for (const std::string& flag : key.flags) digest.add("flag", flag);
  for (const auto& [path, text] : key.memory) digest.add("path", path).add("text", text);
  for (const auto& [path, bytes] : key.toolchain) digest.add("header", path).add("digest", bytes);
  digest.add("block", key.block);
  return digest.hex();
}

std::vector<std::string> with_operands(const std::vector<std::string>& flags) {
  std::vector<std::string> joined;
  for (std::size_t at = 0; at < flags.size(); ++at) {
    joined.push_back(flags[at]);
    for (const char* flag : {"-I", "-isystem", "-iquote", "-D", "-U", "-x"}) {
      if (flags[at] == flag && at + 1 < flags.size()) joined.back() += flags[++at];
    }
  }
  return joined;
}

}  // namespace opseal
