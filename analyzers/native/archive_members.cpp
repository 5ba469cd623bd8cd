// An `ar` archive: `!<arch>\n`, or `!<thin>\n` with members that are files of their own; then
// headers of 60 bytes, all text: name (16 bytes), time, owner, group, mode, size at 48 (10 bytes),
// and "`\n". Members begin at even places. GNU ends a name with `/`; longer ones stand in the
// member
// `//`, and `/N` gives their place there. BSD writes `#1/N` and puts N bytes of name before the
// content. From ar(5) and the documentation of GNU binutils.

#include "analyzers/native/archive_members.h"

#include <algorithm>
#include <optional>

#include "analyzers/native/budget.h"

namespace opseal {
namespace {

constexpr std::string_view plain_magic = "!<arch>\n";
constexpr std::string_view thin_magic = "!<thin>\n";
constexpr std::uint64_t header_size = 60;

std::string_view without_spaces(std::string_view text) {
  const std::size_t last = text.find_last_not_of(' ');
  return text.substr(0, last == text.npos ? 0 : last + 1);
}

// Decimal digits and nothing else; few enough, so that it can't overflow.
std::optional<std::uint64_t> number_in(std::string_view text) {
  text = without_spaces(text);
  if (text.empty() || text.size() > 13) return std::nullopt;
  std::uint64_t number = 0;
  for (const char byte : text) {
    if (byte < '0' || byte > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(byte - '0');
  }
  return number;
}

// Of GNU's table: each ends with `/` and a line feed.
std::string_view long_name(const Bytes& names, std::uint64_t at, std::uint64_t header) {
  if (at >= names.size()) {
    throw InputError(header, 16,
                     "a name at " + std::to_string(at) + " of a table of " +
                         std::to_string(names.size()) + " bytes");
  }
  std::string_view name = names.view().substr(at);
  name = name.substr(0, name.find('\n'));
  if (name.ends_with('/')) name.remove_suffix(1);
  return name;
}

bool is_symbol_index(std::string_view name) {
  return name == "/" || name == "/SYM64/" || name.starts_with("__.SYMDEF");
}

}  // namespace

ArchiveListing list_archive(const Bytes& file) {
  ArchiveListing listing;
  listing.thin = file.view().starts_with(thin_magic);
  if (!listing.thin && !file.view().starts_with(plain_magic)) {
    throw InputError(file.offset(), 0, "no `ar` archive: it begins otherwise");
  }
  Bytes names;
  // Each is kept, and any number of members may have one long name.
  Budget budget(file, "names of members");
  std::uint64_t at = plain_magic.size();
  while (at < file.size()) {
    const Bytes header = file.part(at, header_size, "the header of an archive's member");
    const std::uint64_t header_at = header.offset();
    const std::string_view name = without_spaces(header.view().substr(0, 16));
    const std::optional<std::uint64_t> size = number_in(header.view().substr(48, 10));
    if (header.view().substr(58) != "`\n" || !size) {
      throw InputError(header_at, header_size, "damaged header of an archive's member");
    }
    // A thin archive holds its own tables and no content.
    const bool is_table = is_symbol_index(name) || name == "//";
    const std::uint64_t held = listing.thin && !is_table ? 0 : *size;
    Bytes content = file.part(at + header_size, held, "an archive's member");
    at += header_size + held + held % 2;

    ArchiveMember member;
    member.offset = header_at;
    if (name == "//") {
      names = content;
      continue;
    }
    if (is_table) continue;
    if (name.starts_with("#1/")) {
      const std::uint64_t length = number_in(name.substr(3)).value_or(UINT64_MAX);
      const std::string_view padded = content.part(0, length, "a member's name").view();
      member.name = padded.substr(0, padded.find('\0'));
      content = content.from(length, "an archive's member");
      if (is_symbol_index(member.name)) continue;
    } else if (name.starts_with('/')) {
      const std::optional<std::uint64_t> place = number_in(name.substr(1));
      if (!place) {
        throw InputError(header_at, 16,
                         "a member's name `" + std::string(name) + "`, expected `/` and a number");
      }
      member.name = budget.take(long_name(names, *place, header_at), header_at);
    } else {
      member.name = name.ends_with('/') ? name.substr(0, name.size() - 1) : name;
    }
    member.bytes = content;
    listing.members.push_back(std::move(member));
  }
  return listing;
}

}  // namespace opseal
