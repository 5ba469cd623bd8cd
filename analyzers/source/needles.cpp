#include "analyzers/source/needles.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace opseal {
namespace {

// Each bucket is compared word by word, and the more words there are, the more places look like
// one.
constexpr std::size_t most_words = 48;
// Which of them hold others is found out by comparing all with all.
constexpr std::size_t most_compared = 4096;

// Without those that hold another one.
std::vector<std::string> without_covered(std::vector<std::string> words) {
  std::sort(words.begin(), words.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  std::vector<std::string> kept;
  for (std::string& word : words) {
    const bool covered = std::any_of(kept.begin(), kept.end(), [&word](const std::string& other) {
      return word.find(other) != word.npos;
    });
    if (!covered) kept.push_back(std::move(word));
  }
  return kept;
}

unsigned lower_half(char byte) { return static_cast<unsigned char>(byte) & 15U; }
unsigned upper_half(char byte) { return static_cast<unsigned char>(byte) >> 4U; }

}  // namespace

Needles::Needles(std::vector<std::string> words) {
  std::erase_if(words, [](const std::string& word) { return word.size() < depth; });
  if (words.size() > most_compared) {
    for (std::string& word : words) word.resize(std::min<std::size_t>(word.size(), 6));
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    always_ = words.size() > most_compared;
    if (always_) return;
  }
  words = without_covered(std::move(words));
  for (std::size_t length = 12; words.size() > most_words && length >= 6; length -= 2) {
    for (std::string& word : words) word.resize(std::min(word.size(), length));
    words = without_covered(std::move(words));
  }
  // Neighbours share a bucket, so that few bits are set.
  std::sort(words.begin(), words.end());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t bucket = i * buckets / words.size();
    for (std::size_t place = 0; place < depth; ++place) {
      const auto bit = static_cast<std::uint8_t>(1U << bucket);
      low_[place][lower_half(words[i][place])] |= bit;
      high_[place][upper_half(words[i][place])] |= bit;
    }
    words_[bucket].push_back(std::move(words[i]));
  }
}

bool Needles::is_at(std::string_view text, std::size_t at, unsigned which) const {
  const std::string_view rest = text.substr(at);
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    if ((which >> bucket & 1U) == 0) continue;
    for (const std::string& word : words_[bucket]) {
      if (rest.starts_with(word)) return true;
    }
  }
  return false;
}

bool Needles::occur_in_slowly(std::string_view text) const {
  for (std::size_t at = 0; at + depth <= text.size(); ++at) {
    unsigned which = low_[0][lower_half(text[at])] & high_[0][upper_half(text[at])];
    if (which == 0) continue;
    for (std::size_t place = 1; place < depth; ++place) {
      const char byte = text[at + place];
      which &= low_[place][lower_half(byte)] & high_[place][upper_half(byte)];
    }
    if (which != 0 && is_at(text, at, which)) return true;
  }
  return false;
}

#if defined(__x86_64__)

namespace {

__attribute__((target("avx2"))) __m256i twice(const std::array<std::uint8_t, 16>& table) {
  return _mm256_broadcastsi128_si256(
      _mm_load_si128(reinterpret_cast<const __m128i*>(table.data())));
}

}  // namespace

__attribute__((target("avx2"))) bool Needles::occur_in_widely(std::string_view text) const {
  constexpr std::size_t width = 32;
  const __m256i half = _mm256_set1_epi8(15);
  __m256i low[depth];
  __m256i high[depth];
  for (std::size_t place = 0; place < depth; ++place) {
    low[place] = twice(low_[place]);
    high[place] = twice(high_[place]);
  }
  std::size_t at = 0;
  for (; at + width + depth - 1 <= text.size(); at += width) {
    __m256i which = _mm256_set1_epi8(-1);
    for (std::size_t place = 0; place < depth; ++place) {
      const __m256i bytes =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + at + place));
      const __m256i by_low = _mm256_shuffle_epi8(low[place], _mm256_and_si256(bytes, half));
      const __m256i by_high =
          _mm256_shuffle_epi8(high[place], _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half));
      which = _mm256_and_si256(which, _mm256_and_si256(by_low, by_high));
    }
    const __m256i none = _mm256_cmpeq_epi8(which, _mm256_setzero_si256());
    auto places = ~static_cast<unsigned>(_mm256_movemask_epi8(none));
    if (places == 0) continue;
    alignas(32) std::uint8_t found[width];
    _mm256_store_si256(reinterpret_cast<__m256i*>(found), which);
    for (; places != 0; places &= places - 1) {
      const auto place = static_cast<std::size_t>(__builtin_ctz(places));
      if (is_at(text, at + place, found[place])) return true;
    }
  }
  return occur_in_slowly(text.substr(at));
}

bool Needles::occur_in(std::string_view text) const {
  if (always_) return true;
  static const bool is_wide = __builtin_cpu_supports("avx2") != 0;
  return is_wide ? occur_in_widely(text) : occur_in_slowly(text);
}

#else

bool Needles::occur_in(std::string_view text) const { return always_ || occur_in_slowly(text); }

#endif

}  // namespace opseal
