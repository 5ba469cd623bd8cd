#include "analyzers/native/large_image.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "analyzers/native/cubin.h"
#include "analyzers/native/sass.h"

namespace opseal {
namespace {

// What compilers put in front of the code (names, symbols, properties), and the table of sections
// behind it: the largest image of the CUDA toolkit has 1.5 MB and 0.2 MB of them.
constexpr std::uint64_t kept_front = std::uint64_t{16} << 20;
constexpr std::uint64_t most_kept_end = std::uint64_t{16} << 20;
// Of an ELF header: the whole of it, and where it tells the place of the table of sections.
constexpr std::uint64_t header_size = 64;
constexpr std::uint64_t table_place = 40;

class Keeper {
 public:
  Keeper(char* memory, std::uint64_t size, ImageBytes& image)
      : memory_(memory), size_(size), image_(image) {
    image_.bytes = Bytes(std::string_view(memory, size));
    image_.effects.resize(size / instruction_size);
  }

  bool take(std::string_view piece) {
    if (at_ == 0 && !begin(piece)) return false;
    keep(piece, 0, std::min(kept_front, size_));
    keep(piece, image_.gap_end, size_);
    std::uint8_t* effect = image_.effects.data() + at_ / instruction_size;
    for (std::size_t i = 0; i + instruction_size <= piece.size(); i += instruction_size) {
      *effect++ = sass_effect(piece.data() + i);
    }
    at_ += piece.size();
    return true;
  }

 private:
  bool begin(std::string_view piece) {
    if (piece.size() < header_size || !is_cubin(piece)) return false;
    const std::uint64_t table = Bytes(piece).u64(table_place);
    if (table > size_ || size_ - table > most_kept_end) return false;
    image_.gap = std::min(kept_front, table);
    image_.gap_end = table;
    return true;
  }

  void keep(std::string_view piece, std::uint64_t first, std::uint64_t end) {
    const std::uint64_t from = std::max(first, at_);
    const std::uint64_t to = std::min(end, at_ + piece.size());
    if (from < to) std::memcpy(memory_ + from, piece.data() + (from - at_), to - from);
  }

  char* memory_;
  std::uint64_t size_;
  ImageBytes& image_;
  std::uint64_t at_ = 0;
};

}  // namespace

bool decompress_partly(const Bytes& stored, std::uint64_t size, Decompressor& decompressor,
                       ImageBytes& image) {
  static_assert(Decompressor::piece_size % instruction_size == 0);
  Keeper keeper(decompressor.room(size), size, image);
  return decompressor.zstd_pieces(stored, size,
                                  [&](std::string_view piece) { return keeper.take(piece); });
}

}  // namespace opseal
