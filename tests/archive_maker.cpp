#include "tests/archive_maker.h"

#include <archive.h>
#include <archive_entry.h>
#include <doctest/doctest.h>

namespace opseal::test {
namespace {

void add_filter(archive* out, std::string_view compression) {
  int result = ARCHIVE_FATAL;
  if (compression == "none") result = ::archive_write_add_filter_none(out);
  if (compression == "gzip") result = ::archive_write_add_filter_gzip(out);
  if (compression == "bzip2") result = ::archive_write_add_filter_bzip2(out);
  if (compression == "xz") result = ::archive_write_add_filter_xz(out);
  if (compression == "zstd") result = ::archive_write_add_filter_zstd(out);
  if (compression == "lz4") result = ::archive_write_add_filter_lz4(out);
  REQUIRE(result == ARCHIVE_OK);
}

void add_member(archive* out, const Member& member) {
  archive_entry* entry = ::archive_entry_new();
  ::archive_entry_set_pathname(entry, member.path.c_str());
  ::archive_entry_set_perm(entry, 0644);
  const auto kind = member.path.ends_with('/') ? AE_IFDIR : AE_IFREG;
  ::archive_entry_set_filetype(entry, member.symbolic_link.empty() ? kind : AE_IFLNK);
  ::archive_entry_set_size(entry, static_cast<la_int64_t>(member.bytes.size()));
  if (!member.symbolic_link.empty())
    ::archive_entry_set_symlink(entry, member.symbolic_link.c_str());
  if (!member.hard_link.empty()) {
    ::archive_entry_set_hardlink(entry, member.hard_link.c_str());
    ::archive_entry_unset_size(entry);
  }
  // A warning: the name is not in the locale of the test, and is written as it stands.
  REQUIRE(::archive_write_header(out, entry) >= ARCHIVE_WARN);
  REQUIRE(::archive_write_data(out, member.bytes.data(), member.bytes.size()) ==
          static_cast<la_ssize_t>(member.bytes.size()));
  ::archive_entry_free(entry);
}

}  // namespace

std::string make_archive(const std::vector<Member>& members, std::string_view format,
                         std::string_view compression, const std::string& options,
                         const std::string& password) {
  archive* out = ::archive_write_new();
  if (format == "zip") ::archive_write_set_format_zip(out);
  if (format == "tar") ::archive_write_set_format_pax_restricted(out);
  if (format == "ar") ::archive_write_set_format_ar_svr4(out);
  add_filter(out, compression);
  // No padding behind the end, so that a small archive is small.
  ::archive_write_set_bytes_in_last_block(out, 1);
  if (!options.empty()) REQUIRE(::archive_write_set_options(out, options.c_str()) == ARCHIVE_OK);
  if (!password.empty()) ::archive_write_set_passphrase(out, password.c_str());
  std::string bytes;
  ::archive_write_open(
      out, &bytes, nullptr,
      [](archive*, void* to, const void* from, std::size_t size) -> la_ssize_t {
        static_cast<std::string*>(to)->append(static_cast<const char*>(from), size);
        return static_cast<la_ssize_t>(size);
      },
      nullptr);
  for (const Member& member : members) add_member(out, member);
  REQUIRE(::archive_write_close(out) == ARCHIVE_OK);
  ::archive_write_free(out);
  return bytes;
}

std::string ptx_module(std::string_view kernel) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry " + std::string(kernel) +
         "()\n{\n  ret;\n}\n";
}

}  // namespace opseal::test
