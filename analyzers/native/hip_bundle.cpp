// Code objects of several AMD architectures in one piece, from the "Clang Offload Bundler" page of
// LLVM's documentation. Plain: a text of 24 bytes, u64 count, then for each object u64 offset, u64
// size, u64 length of its target, and the target. Compressed: `CCOB`, u16 version, u16 method (0
// zlib, 1 zstd), then by version 1: u32 plain size; 2: u32 whole size, u32 plain size; 3: the same
// as u64; then u64 hash, and the compressed plain form.

#include "analyzers/native/hip_bundle.h"

#include <algorithm>
#include <string>

#include "analyzers/native/budget.h"
#include "analyzers/native/decompress.h"

namespace opseal {
namespace {

constexpr std::string_view plain_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view compressed_magic = "CCOB";
constexpr std::uint16_t zstd_method = 1;
// More than any list of targets takes; the code objects behind it aren't wanted.
constexpr std::uint64_t head_size = std::uint64_t{1} << 16;

std::vector<BundleEntry> read_plain(const Bytes& bundle, Budget& budget) {
  std::vector<BundleEntry> entries;
  std::uint64_t at = plain_magic.size();
  const std::uint64_t count = bundle.u64(at);
  at += 8;
  for (std::uint64_t i = 0; i < count; ++i) {
    BundleEntry entry;
    entry.offset = bundle.u64(at);
    entry.length = bundle.u64(at + 8);
    const std::uint64_t length = bundle.u64(at + 16);
    budget.take(24, bundle.offset());
    budget.take(length, bundle.offset());
    entry.target = bundle.part(at + 24, length, "the target of a code object").view();
    entries.push_back(std::move(entry));
    at += 24 + length;
  }
  return entries;
}

// Adds the entries; returns how many bytes the bundle takes at least.
std::uint64_t add_plain(const Bytes& bundle, Budget& budget, DeviceImages& images) {
  std::uint64_t end = plain_magic.size();
  for (BundleEntry& entry : read_plain(bundle, budget)) {
    end = std::max(end,
                   entry.offset + bundle.part(entry.offset, entry.length, "a code object").size());
    entry.offset += bundle.offset();
    images.bundles.push_back(std::move(entry));
  }
  return end;
}

struct CompressedBundle {
  std::uint16_t method = 0;
  Bytes whole;
  Bytes compressed;
};

CompressedBundle read_compressed_header(const Bytes& rest) {
  const std::uint16_t version = rest.u16(4);
  if (version < 1 || version > 3) {
    throw InputError(
        rest.offset(), 8,
        "a compressed HIP bundle of version " + std::to_string(version) + ", 1 to 3 are expected");
  }
  CompressedBundle bundle;
  bundle.method = rest.u16(6);
  const std::uint64_t header = version == 1 ? 20 : version == 2 ? 24 : 32;
  std::uint64_t size = version == 3 ? rest.u64(8) : rest.u32(8);
  if (version == 1) {
    // Only what is compressed tells where it ends.
    const Bytes frame = rest.from(header, "the header of a compressed HIP bundle");
    size = header + zstd_frame_size(frame);
  }
  bundle.whole = rest.part(0, size, "a compressed HIP bundle");
  bundle.compressed = bundle.whole.from(header, "the header of a compressed HIP bundle");
  return bundle;
}

void add_compressed(const CompressedBundle& bundle, Budget& budget, DeviceImages& images) {
  if (bundle.method != zstd_method) {
    throw InputError(bundle.whole.offset(), bundle.whole.size(),
                     "a HIP bundle compressed by method " + std::to_string(bundle.method) +
                         " is not read, only zstd (1)");
  }
  Decompressor decompressor;
  const Bytes head = decompressor.zstd_head(bundle.compressed, head_size);
  if (!head.view().starts_with(plain_magic)) {
    throw InputError(bundle.whole.offset(), bundle.whole.size(),
                     "a compressed HIP bundle holds something else");
  }
  for (BundleEntry& entry : read_plain(head, budget)) {
    entry.offset = bundle.whole.offset();
    entry.length = bundle.whole.size();
    images.bundles.push_back(std::move(entry));
  }
}

}  // namespace

bool is_bundle(std::string_view head) {
  return head.starts_with(plain_magic) || head.starts_with(compressed_magic);
}

void list_bundles(const Bytes& bytes, std::uint32_t file, DeviceImages& images) {
  constexpr std::size_t most_told = 20;
  const std::string_view view = bytes.view();
  Budget budget(bytes, "HIP bundles", 4);
  std::size_t told = 0;
  // Where each was found last: a search that met the end is not done again.
  std::size_t next_plain = 0;
  std::size_t next_compressed = 0;
  const auto find = [view](std::string_view magic, std::uint64_t from, std::size_t& next) {
    if (next < from || from == 0) next = view.find(magic, from);
  };
  std::uint64_t at = 0;
  while (at < bytes.size()) {
    // Bundles follow each other with zeros between them; only what is lost has to be searched for.
    at = std::min(view.find_first_not_of('\0', at), view.size());
    if (!is_bundle(view.substr(at))) {
      find(plain_magic, at, next_plain);
      find(compressed_magic, at, next_compressed);
      at = std::min(next_plain, next_compressed);
    }
    if (at >= view.size()) return;
    const Bytes rest = bytes.from(at, "a bundle");
    std::uint64_t length = compressed_magic.size();
    try {
      if (rest.view().starts_with(plain_magic)) {
        length = add_plain(rest, budget, images);
      } else {
        const CompressedBundle bundle = read_compressed_header(rest);
        // Also where it can't be read: the beginning of the plain form often stands within it.
        length = bundle.whole.size();
        add_compressed(bundle, budget, images);
      }
    } catch (const InputError& error) {
      Problem problem;
      problem.where = {
          file,
          static_cast<std::uint32_t>(std::min<std::uint64_t>(error.length, Location::max_length)),
          error.offset};
      problem.message = error.what();
      const bool enough = ++told >= most_told;
      if (enough) problem.message += "; too much is damaged here, the rest is not read";
      images.problems.push_back(std::move(problem));
      if (enough) return;
    }
    at += length;
  }
}

}  // namespace opseal
