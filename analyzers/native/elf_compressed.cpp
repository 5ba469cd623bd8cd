// SHF_COMPRESSED: a header of 24 bytes (form at 0, size of what comes out at 8), then a stream.

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "analyzers/native/elf.h"

namespace opseal {
namespace {

constexpr std::uint32_t zlib_form = 1;
constexpr std::uint32_t zstd_form = 2;
constexpr std::uint64_t header_size = 24;
// Bytes that one step may add: memory grows with what really comes out and not with what the header
// claims.
constexpr std::size_t step = std::size_t{1} << 20;

[[noreturn]] void refuse(const Bytes& stream, const std::string& message) {
  throw InputError(stream.offset(), 0, message);
}

// Lengthens `storage` by up to `step` bytes towards `size`; the new part.
std::size_t grow(std::string& storage, std::uint64_t size) {
  const std::size_t before = storage.size();
  const std::size_t added = static_cast<std::size_t>(std::min<std::uint64_t>(step, size - before));
  // Not by steps: copying what is there each time would cost the square of the size.
  if (storage.capacity() < before + added) storage.reserve(std::max(before + added, before * 2));
  storage.resize(before + added);
  return added;
}

void inflate_into(const Bytes& stream, std::uint64_t size, std::string& storage) {
  z_stream state{};
  if (inflateInit(&state) != Z_OK) refuse(stream, "zlib can't begin a stream");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ended(&state, inflateEnd);
  std::string_view left = stream.view();
  int result = Z_OK;
  while (result == Z_OK && storage.size() < size) {
    const std::size_t before = storage.size();
    const std::size_t added = grow(storage, size);
    const std::size_t given = std::min(left.size(), step);
    // The interface is older than `const`; it only reads there.
    state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left.data()));
    state.avail_in = static_cast<uInt>(given);
    state.next_out = reinterpret_cast<Bytef*>(storage.data() + before);
    state.avail_out = static_cast<uInt>(added);
    result = inflate(&state, Z_NO_FLUSH);
    left.remove_prefix(given - state.avail_in);
    storage.resize(before + added - state.avail_out);
  }
  if (result != Z_OK && result != Z_STREAM_END) refuse(stream, "damaged zlib stream in a section");
}

void unzstd_into(const Bytes& stream, std::uint64_t size, std::string& storage) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> state(ZSTD_createDStream(),
                                                                            ZSTD_freeDStream);
  if (!state) refuse(stream, "zstd can't begin a stream");
  ZSTD_inBuffer in{stream.data(), stream.size(), 0};
  while (storage.size() < size) {
    const std::size_t before = storage.size();
    const std::size_t added = grow(storage, size);
    ZSTD_outBuffer out{storage.data() + before, added, 0};
    const std::size_t in_before = in.pos;
    const std::size_t result = ZSTD_decompressStream(state.get(), &out, &in);
    storage.resize(before + out.pos);
    if (ZSTD_isError(result) != 0) refuse(stream, "damaged zstd stream in a section");
    if (out.pos == 0 && in.pos == in_before) break;
  }
}

}  // namespace

Bytes Elf::plain_data(const ElfSection& section, std::string& storage, std::uint64_t most) const {
  const Bytes bytes = data(section);
  if (!section.is_compressed()) {
    if (bytes.size() > most) {
      refuse(bytes, "a section of " + std::to_string(bytes.size()) + " bytes, expected at most " +
                        std::to_string(most));
    }
    return bytes;
  }
  const std::uint32_t form = bytes.u32(0);
  const std::uint64_t size = bytes.u64(8);
  const Bytes stream = bytes.from(header_size, "a compressed section");
  if (size > most) {
    refuse(bytes, "a compressed section of " + std::to_string(size) + " bytes, expected at most " +
                      std::to_string(most));
  }
  storage.clear();
  if (form == zlib_form) {
    inflate_into(stream, size, storage);
  } else if (form == zstd_form) {
    unzstd_into(stream, size, storage);
  } else {
    refuse(bytes, "a section compressed in form " + std::to_string(form) +
                      ", expected 1 (zlib) or 2 (zstd)");
  }
  if (storage.size() != size) {
    refuse(bytes, "a compressed section of " + std::to_string(storage.size()) +
                      " bytes, where its header says " + std::to_string(size));
  }
  return Bytes(storage, bytes.offset());
}

}  // namespace opseal
