// Code objects of several AMD architectures in one piece, from the "Clang Offload Bundler" page of
// LLVM's documentation. Plain: a text of 24 bytes, u64 count, then for each object u64 offset, u64
// size, u64 length of its target, and the target. Compressed: `CCOB`, u16 version, u16 method (0
// zlib, 1 zstd), then by version 1: u32 plain size; 2: u32 whole size, u32 plain size; 3: the same
// as u64; then u64 hash, and the compressed plain form.

#include "analyzers/native/hip_bundle.h"

#include <algorithm>
#include <string>

#include "analyzers/native/decompress.h"

namespace opseal {
namespace {

constexpr std::string_view plain_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view compressed_magic = "CCOB";
constexpr std::uint16_t zstd_method = 1;
// More than any list of targets takes; the code objects behind it aren't wanted.
constexpr std::uint64_t head_size = std::uint64_t{1} << 16;

std::vector<BundleEntry> read_plain(const Bytes& bundle) {
  std::vector<BundleEntry> entries;
  std::uint64_t at = plain_magic.size();
  const std::uint64_t count = bundle.u64(at);
  at += 8;
  for (std::uint64_t i = 0; i < count; ++i) {
    BundleEntry entry;
    entry.offset = bundle.u64(at);
    entry.length = bundle.u64(at + 8);
    const std::uint64_t length = bundle.u64(at + 16);
    entry.target = bundle.part(at + 24, length, "the target of a code object").view();
    entries.push_back(std::move(entry));
    at += 24 + length;
  }
  return entries;
}

// Adds the entries; returns how many bytes the bundle takes at least.
std::uint64_t add_plain(const Bytes& bundle, DeviceImages& images) {
  std::uint64_t end = plain_magic.size();
  for (BundleEntry& entry : read_plain(bundle)) {
    end = std::max(end,
                   entry.offset + bundle.part(entry.offset, entry.length, "a code object").size());
    entry.offset += bundle.offset();
    images.bundles.push_back(std::move(entry));
  }
  return end;
}

std::uint64_t add_compressed(const Bytes& bundle, DeviceImages& images) {
  const std::uint16_t version = bundle.u16(4);
  const std::uint16_t method = bundle.u16(6);
  if (version < 1 || version > 3) {
    throw InputError(
        bundle.offset(), 8,
        "a compressed HIP bundle of version " + std::to_string(version) + ", 1 to 3 are expected");
  }
  const std::uint64_t header = version == 1 ? 20 : version == 2 ? 24 : 32;
  const std::uint64_t size = version == 1   ? bundle.size()
                             : version == 2 ? bundle.u32(8)
                                            : bundle.u64(8);
  const Bytes whole = bundle.part(0, size, "a compressed HIP bundle");
  const Bytes compressed = whole.from(header, "the header of a compressed HIP bundle");
  if (method != zstd_method) {
    throw InputError(bundle.offset(), header,
                     "a HIP bundle compressed by method " + std::to_string(method) +
                         " is not read, only zstd (1)");
  }
  Decompressor decompressor;
  const Bytes head = decompressor.zstd_head(compressed, head_size);
  if (!head.view().starts_with(plain_magic)) {
    throw InputError(bundle.offset(), header, "a compressed HIP bundle holds something else");
  }
  for (BundleEntry& entry : read_plain(head)) {
    entry.offset = bundle.offset();
    entry.length = size;
    images.bundles.push_back(std::move(entry));
  }
  // Version 1 doesn't tell where it ends.
  return version == 1 ? header : size;
}

}  // namespace

bool is_bundle(std::string_view head) {
  return head.starts_with(plain_magic) || head.starts_with(compressed_magic);
}

void list_bundles(const Bytes& bytes, std::uint32_t file, DeviceImages& images) {
  std::uint64_t at = 0;
  while (at < bytes.size()) {
    const std::string_view view = bytes.view();
    // Bundles follow each other with zeros between them; only what is lost has to be searched for.
    at = std::min(view.find_first_not_of('\0', at), view.size());
    if (!is_bundle(view.substr(at))) {
      at = std::min(view.find(plain_magic, at), view.find(compressed_magic, at));
    }
    if (at >= view.size()) return;
    const Bytes bundle = bytes.from(at, "a bundle");
    try {
      at += bundle.view().starts_with(plain_magic) ? add_plain(bundle, images)
                                                   : add_compressed(bundle, images);
    } catch (const InputError& error) {
      Problem problem;
      problem.where = {
          file,
          static_cast<std::uint32_t>(std::min<std::uint64_t>(error.length, Location::max_length)),
          error.offset};
      problem.message = error.what();
      images.problems.push_back(std::move(problem));
      at += compressed_magic.size();
    }
  }
}

}  // namespace opseal
