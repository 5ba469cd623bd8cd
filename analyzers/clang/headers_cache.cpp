#include "analyzers/clang/headers_cache.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "analyzers/clang/leading_includes.h"
#include "analyzers/words.h"
#include "opseal/digest.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

// Of the files that exist in memory alone; nothing is ever looked for there on disk.
constexpr const char* block_path = "/opseal-headers/block.h";
constexpr const char* toolchain_path = "/opseal-headers/toolchain.h";
constexpr std::string_view toolchain_text = "#include <cstddef>\n#include <stddef.h>\n";

std::string text_of(const ClangFunctions& clang, CXString string) {
  const char* bytes = clang.getCString(string);
  std::string copy = bytes == nullptr ? "" : bytes;
  clang.disposeString(string);
  return copy;
}

// A text in memory, parsed; closed at the end.
struct MemoryUnit {
  MemoryUnit(const ClangFunctions& functions, const CudaParse& parse, const char* path,
             std::string_view own, const std::vector<const char*>& more, unsigned options)
      : clang(functions), index(functions.createIndex(0, 0)) {
    std::vector<const char*> flags;
    for (const std::string& flag : parse.flags) flags.push_back(flag.c_str());
    flags.insert(flags.end(), more.begin(), more.end());
    std::vector<CXUnsavedFile> files{{path, own.data(), static_cast<unsigned long>(own.size())}};
    for (const ToolkitHeader& file : parse.files) {
      files.push_back(
          {file.path.c_str(), file.text.data(), static_cast<unsigned long>(file.text.size())});
    }
    const CXErrorCode error = clang.parseTranslationUnit2(
        index, path, flags.data(), static_cast<int>(flags.size()), files.data(),
        static_cast<unsigned>(files.size()), options, &unit);
    if (error != CXError_Success && unit != nullptr) clang.disposeTranslationUnit(unit);
    if (error != CXError_Success) unit = nullptr;
  }
  MemoryUnit(const MemoryUnit&) = delete;
  MemoryUnit& operator=(const MemoryUnit&) = delete;
  ~MemoryUnit() {
    if (unit != nullptr) clang.disposeTranslationUnit(unit);
    clang.disposeIndex(index);
  }

  bool has_errors() const {
    const CXDiagnosticSet set = clang.getDiagnosticSetFromTU(unit);
    bool found = false;
    for (unsigned at = 0; at < clang.getNumDiagnosticsInSet(set) && !found; ++at) {
      const CXDiagnostic one = clang.getDiagnosticInSet(set, at);
      found = clang.getDiagnosticSeverity(one) >= CXDiagnostic_Error;
      clang.disposeDiagnostic(one);
    }
    clang.disposeDiagnosticSet(set);
    return found;
  }

  // All files but the text itself.
  std::vector<CXFile> files() const {
    std::vector<CXFile> found;
    clang.getInclusions(
        unit,
        [](CXFile file, CXSourceLocation*, unsigned depth, CXClientData list) {
          if (depth > 0) static_cast<std::vector<CXFile>*>(list)->push_back(file);
        },
        &found);
    return found;
  }

  std::string path_of(CXFile file) const { return text_of(clang, clang.getFileName(file)); }

  // As they were read; without a place where nobody knows.
  std::string_view bytes_of(CXFile file) const {
    std::size_t size = 0;
    const char* bytes = clang.getFileContents(unit, file, &size);
    return bytes == nullptr ? std::string_view() : std::string_view(bytes, size);
  }

  const ClangFunctions& clang;
  CXIndex index;
  CXTranslationUnit unit = nullptr;
};

std::string digest_of(std::string_view bytes) {
  ContentDigest digest;
  digest.add(bytes);
  return digest.hex();
}

// `#define A` or `#undef A`, in a comment too.
bool says_of(std::string_view bytes, std::string_view name) {
  for (std::size_t at = bytes.find(name); at != bytes.npos; at = bytes.find(name, at + 1)) {
    if (at + name.size() < bytes.size() && is_word_byte(bytes[at + name.size()])) continue;
    std::string_view before = bytes.substr(0, at);
    while (before.ends_with(' ') || before.ends_with('\t')) before.remove_suffix(1);
    if (before.size() == at) continue;
    if (before.ends_with("define") || before.ends_with("undef")) return true;
  }
  return false;
}

// Those on disk; nothing where one of the tree is among them, one whose bytes aren't known, or one
// that answers what the lines themselves ask.
std::optional<std::vector<HeaderDigest>> headers_of(const MemoryUnit& unit, const HeadersKey& key,
                                                    const std::set<std::string>& asked,
                                                    const std::string& root) {
  std::map<std::string, std::string> digests;
  for (const CXFile file : unit.files()) {
    const std::string name = unit.path_of(file);
    const auto is_it = [&name](const auto& one) { return one.first == name; };
    if (std::any_of(key.memory.begin(), key.memory.end(), is_it)) continue;
    const fs::path path = fs::path(key.directory) / name;
    if (is_below(name, root) || is_below(path.lexically_normal().string(), root)) return {};
    const std::string_view bytes = unit.bytes_of(file);
    if (bytes.data() == nullptr) return {};
    const auto answers = [bytes](const std::string& macro) { return says_of(bytes, macro); };
    if (std::any_of(asked.begin(), asked.end(), answers)) return {};
    digests[path.string()] = digest_of(bytes);
  }
  std::vector<HeaderDigest> headers;
  for (auto& [path, digest] : digests) headers.push_back({path, digest});
  return headers;
}

}  // namespace

// What the compiler takes when nothing says which: environment variables and what is installed
// decide it.
const HeadersCache::Toolchain& HeadersCache::toolchain_of(const CudaParse& parse) {
  const auto [known, is_new] = toolchains_.try_emplace(parse.flags);
  Toolchain& toolchain = known->second;
  if (!is_new) return toolchain;
  const MemoryUnit unit(clang_, parse, toolchain_path, toolchain_text, {}, CXTranslationUnit_None);
  if (unit.unit == nullptr) return toolchain;
  const CXTargetInfo target = clang_.getTranslationUnitTargetInfo(unit.unit);
  toolchain.target = text_of(clang_, clang_.TargetInfo_getTriple(target));
  clang_.TargetInfo_dispose(target);
  for (const CXFile file : unit.files()) {
    toolchain.headers.emplace_back(unit.path_of(file), digest_of(unit.bytes_of(file)));
  }
  return toolchain;
}

HeadersKey HeadersCache::key_of(const CudaParse& parse, const std::string& block) {
  const Toolchain& toolchain = toolchain_of(parse);
  HeadersKey key;
  key.program = "opseal " OPSEAL_VERSION ", headers 1";
  key.libclang = text_of(clang_, clang_.getClangVersion());
  key.target = toolchain.target;
  key.directory = working_directory(parse.flags);
  key.flags = with_operands(parse.flags);
  for (const ToolkitHeader& file : parse.files) key.memory.emplace_back(file.path, file.text);
  key.toolchain = toolchain.headers;
  key.block = block;
  return key;
}

std::string HeadersCache::find(const TypedQuestion& question, const CudaParse& parse) {
  if (question.cache.empty()) return {};
  if (!store_) store_.emplace(question.cache);
  if (!store_->usable()) return {};
  const LeadingIncludes leading = leading_includes(question.open_path, question.root, parse.flags);
  if (leading.text.empty()) return {};
  const HeadersKey key = key_of(parse, leading.text);
  const std::string name = name_of(key);
  const auto known = known_.find(name);
  if (known != known_.end()) return known->second;
  std::string path = store_->find(name);
  if (path.empty()) path = make(key, leading.asked, question, parse);
  return known_[name] = path;
}

std::string HeadersCache::make(const HeadersKey& key, const std::set<std::string>& asked,
                               const TypedQuestion& question, const CudaParse& parse) {
  // Without times of change: digests are what tells whether a header is the same.
  const MemoryUnit unit(clang_, parse, block_path, key.block, {"-Xclang", "-fno-pch-timestamp"},
                        CXTranslationUnit_ForSerialization | CXTranslationUnit_Incomplete |
                            CXTranslationUnit_SkipFunctionBodies);
  std::string path;
  // Of headers that aren't all there, or that clang doesn't understand, nothing is kept.
  if (unit.unit != nullptr && !unit.has_errors()) {
    const std::optional<std::vector<HeaderDigest>> headers =
        headers_of(unit, key, asked, question.root);
    const std::string file = headers ? store_->new_file() : std::string();
    if (!file.empty() &&
        clang_.saveTranslationUnit(unit.unit, file.c_str(), CXSaveTranslationUnit_None) == 0) {
      path = store_->add(name_of(key), file, *headers);
    } else if (!file.empty()) {
      std::error_code error;
      fs::remove(file, error);
    }
  }
  renew_();
  return path;
}

}  // namespace opseal
