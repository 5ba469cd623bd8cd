#include "analyzers/rows.h"

#include <charconv>
#include <limits>

#include "opseal/ascii.h"

namespace opseal {

std::string_view RowReader::text() {
  std::uint64_t length = 0;
  std::size_t at = at_;
  for (; at < bytes_.size() && is_digit(bytes_[at]); ++at) {
    length = length * 10 + static_cast<std::uint64_t>(bytes_[at] - '0');
    if (length > bytes_.size()) break;
  }
  if (broken_ || at == at_ || at >= bytes_.size() || bytes_[at] != ':' ||
      length > bytes_.size() - at - 1) {
    broken_ = true;
    return {};
  }
  at_ = at + 1 + static_cast<std::size_t>(length);
  return bytes_.substr(at + 1, static_cast<std::size_t>(length));
}

std::uint32_t RowReader::count() {
  const std::string_view digits = text();
  std::uint64_t value = 0;
  for (const char digit : digits) {
    if (!is_digit(digit)) broken_ = true;
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
    if (value > std::numeric_limits<std::uint32_t>::max()) broken_ = true;
    if (broken_) return 0;
  }
  if (digits.empty()) broken_ = true;
  return static_cast<std::uint32_t>(value);
}

std::int64_t RowReader::integer() {
  const std::string_view digits = text();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) broken_ = true;
  return broken_ ? 0 : value;
}

std::size_t RowReader::size() {
  const std::size_t size = count();
  if (size > bytes_.size() - at_) broken_ = true;
  return broken_ ? 0 : size;
}

void write_texts(const std::vector<std::string>& texts, RowWriter& writer) {
  writer.count(texts.size());
  for (const std::string& text : texts) writer.text(text);
}

std::vector<std::string> read_texts(RowReader& reader) {
  return read_list<std::string>(reader, [&reader](std::string& text) { text = reader.text(); });
}

}  // namespace opseal
