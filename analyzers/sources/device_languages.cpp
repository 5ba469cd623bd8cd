#include "analyzers/sources/device_languages.h"

#include <algorithm>
#include <array>

#include "analyzers/source/source_tree.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// What the kernels of other devices name: Ascend, Cambricon, Enflame, Moore Threads, SDAA.
constexpr std::array<std::string_view, 9> foreign_words{
    "__aicore__",          "AscendC",      "__mlu_global__",
    "__mlu_entry__",       "__mlu_func__", "__valigned__",
    "ACLRT_LAUNCH_KERNEL", "tops",         "sdaaStream_t"};
constexpr std::array<std::string_view, 7> foreign_headers{
    "tops", "acl/", "kernel_operator", "bang", "mlu", "musa", "sdaa"};

bool has_suffix_of_cuda(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (std::string_view suffix : {".cu", ".cuh", ".hip"}) {
    if (name.ends_with(suffix)) return true;
  }
  // `add.cu.cc`, `add.cu.h`.
  return name.find(".cu.") != name.npos || name.find(".hip.") != name.npos;
}

bool is_foreign_header(std::string_view name) {
  name.remove_prefix(std::min(name.size(), name.find_first_not_of("<\" ")));
  return std::any_of(foreign_headers.begin(), foreign_headers.end(),
                     [name](std::string_view header) { return name.starts_with(header); });
}

bool names_cuda(std::string_view word) {
  for (std::string_view part : {"cuda", "CUDA", "Cuda", "threadIdx"}) {
    if (word.find(part) != word.npos) return true;
  }
  return word.starts_with("hip") || word.starts_with("HIP_");
}

}  // namespace

bool is_cuda_source(const PlainSource& source, std::string_view path) {
  if (has_suffix_of_cuda(path)) return true;
  if (std::any_of(source.includes.begin(), source.includes.end(), is_foreign_header)) return false;
  // A header is what those that include it are.
  bool is_cuda = is_header_path(path);
  for (const std::string_view name : source.includes) {
    is_cuda =
        is_cuda || names_cuda(name.substr(std::min(name.size(), name.find_first_not_of("<\" "))));
  }
  for (const Token& token : source.unit.tokens) {
    if (!token.is_identifier()) continue;
    if (is_one_of(token.text, foreign_words)) return false;
    is_cuda = is_cuda || names_cuda(token.text);
  }
  return is_cuda || std::any_of(source.directive_tokens.begin(), source.directive_tokens.end(),
                                [](const Token& token) { return names_cuda(token.text); });
}

}  // namespace opseal
