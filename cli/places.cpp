#include "cli/places.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "opseal/text.h"

namespace opseal {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !continues(byte); }));
}

// What a terminal may be shown: what it would obey and broken UTF-8 become one replacement
// character each, so that columns stay right and a hostile file can't drive the terminal.
std::string shown(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (text[at] == '\t') {
      out += ' ';
    } else if (printable_length(text, at) > 0) {
      out += text.substr(at, length);
    } else if (length > 0 || !continues(text[at])) {
      out += "\ufffd";
    }
    at += std::max<std::size_t>(1, length);
  }
  return out;
}

// The first so many code points.
std::string_view first_points(std::string_view text, std::size_t points) {
  std::size_t at = 0;
  while (at < text.size() && (continues(text[at]) || points-- > 0)) ++at;
  return text.substr(0, at);
}

// The last so many code points.
std::string_view last_points(std::string_view text, std::size_t points) {
  std::size_t at = text.size();
  while (at > 0 && points > 0) {
    if (!continues(text[--at])) --points;
  }
  return text.substr(at);
}

}  // namespace

Places::~Places() { close_all(); }

void Places::close_all() {
  for (auto& [number, file] : files_) {
    if (file.descriptor >= 0) ::close(file.descriptor);
    file.descriptor = -1;
  }
  open_files_ = 0;
}

// True when the file is there and as large as it was when it was read: one that changed since would
// put every place somewhere else.
bool Places::open(File& file, std::uint32_t number) {
  if (file.descriptor >= 0) return true;
  if (open_files_ >= most_open) close_all();
  const InputFile& input = facts_.files[number];
  file.descriptor = ::open(input.open_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.descriptor < 0) return false;
  ++open_files_;
  struct stat status {};
  return ::fstat(file.descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
         static_cast<std::uint64_t>(status.st_size) == input.size;
}

Places::File& Places::file(std::uint32_t number) {
  File& file = files_[number];
  const InputFile& input = facts_.files[number];
  const bool first = !file.ready;
  file.ready = true;
  file.size = input.size;
  if (first || file.readable) {
    file.readable = !input.binary && (input.open_path.empty() || open(file, number));
  }
  if (first && file.readable) index(file, number);
  return file;
}

void Places::index(File& file, std::uint32_t number) {
  file.lines.push_back(0);
  std::uint64_t continuations = 0;
  constexpr std::uint64_t stride = 256 * block_size;
  for (std::uint64_t at = 0; at < file.size; at += stride) {
    const std::string bytes = read(file, number, at, stride);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (i % block_size == 0) file.continuations.push_back(continuations);
      if (bytes[i] == '\n') file.lines.push_back(at + i + 1);
      if (continues(bytes[i])) ++continuations;
    }
  }
}

std::string Places::read(const File& file, std::uint32_t number, std::uint64_t from,
                         std::uint64_t size) const {
  if (from >= file.size) return {};
  size = std::min(size, file.size - from);
  if (file.descriptor < 0) return facts_.files[number].bytes.substr(from, size);
  std::string bytes(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::pread(file.descriptor, bytes.data() + filled, size - filled,
                                static_cast<off_t>(from + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

std::uint64_t Places::continuations_before(const File& file, std::uint32_t number,
                                           std::uint64_t offset) const {
  const std::uint64_t block = offset / block_size;
  if (block >= file.continuations.size())
    return file.continuations.empty() ? 0 : file.continuations.back();
  const std::string bytes = read(file, number, block * block_size, offset - block * block_size);
  return file.continuations[block] +
         static_cast<std::uint64_t>(std::count_if(bytes.begin(), bytes.end(), continues));
}

void Places::set_line(const File& file, std::uint32_t number, std::uint64_t offset,
                      std::uint64_t& line, std::uint64_t& column) const {
  offset = std::min(offset, file.size);
  const auto after = std::upper_bound(file.lines.begin(), file.lines.end(), offset);
  line = static_cast<std::uint64_t>(after - file.lines.begin());
  const std::uint64_t start = *std::prev(after);
  column = offset - start + 1 -
           (continuations_before(file, number, offset) - continuations_before(file, number, start));
}

Position Places::position(const Location& where) {
  Position position;
  if (!where.known()) return position;
  const File& of = file(where.file);
  if (!of.readable) return position;
  set_line(of, where.file, where.offset, position.line, position.column);
  set_line(of, where.file, where.offset + where.length, position.end_line, position.end_column);
  return position;
}

Places::Excerpt Places::excerpt(const Location& where, std::size_t width) {
  Excerpt excerpt;
  if (!where.known()) return excerpt;
  const File& of = file(where.file);
  if (!of.readable) return excerpt;
  const std::uint64_t offset = std::min(where.offset, of.size);
  const auto after = std::upper_bound(of.lines.begin(), of.lines.end(), offset);
  const std::uint64_t line_start = *std::prev(after);
  const std::uint64_t line_end = after == of.lines.end() ? of.size : *after - 1;
  // Four bytes a code point at most.
  const std::uint64_t before = std::min<std::uint64_t>(offset - line_start, width * 4);
  const std::uint64_t behind = std::min<std::uint64_t>(line_end - offset, width * 4);
  const std::string front = read(of, where.file, offset - before, before);
  std::string back = read(of, where.file, offset, behind);
  if (!back.empty() && back.back() == '\r') back.pop_back();
  // A third of the width goes in front of the place, more where less follows.
  const std::size_t room = std::max(width / 3, width - std::min(width, code_points(back)));
  const std::string_view kept_front = last_points(front, room);
  const std::string_view kept_back = first_points(back, width - code_points(kept_front));
  const bool cut_front = kept_front.size() < offset - line_start;
  const bool cut_back = kept_back.size() < back.size() || behind < line_end - offset;
  const std::string shown_front = (cut_front ? "\u2026" : "") + shown(kept_front);
  excerpt.caret = code_points(shown_front);
  const std::string marked = shown(kept_back.substr(0, where.length));
  excerpt.carets = std::max<std::size_t>(1, code_points(marked));
  excerpt.text = shown_front + shown(kept_back) + (cut_back ? "\u2026" : "");
  return excerpt;
}

}  // namespace opseal
