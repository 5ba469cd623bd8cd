#include "analyzers/package/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <clocale>
#include <string_view>

#include "analyzers/input_error.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::size_t block_size = std::size_t{1} << 18;

// libarchive turns names into those of the thread's locale and loses what that can't hold, while
// names in reports are UTF-8 wherever opseal runs.
class NamesAsUtf8 {
 public:
  NamesAsUtf8() {
    static const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (utf8 != nullptr) before_ = ::uselocale(utf8);
  }
  NamesAsUtf8(const NamesAsUtf8&) = delete;
  NamesAsUtf8& operator=(const NamesAsUtf8&) = delete;
  ~NamesAsUtf8() {
    if (before_ != nullptr) ::uselocale(before_);
  }

 private:
  locale_t before_ = nullptr;
};

// One layer and no more: libarchive itself would go on through any number of them, and each can
// make a thousandfold of the one before.
int compression_of(std::string_view head) {
  if (head.starts_with("\x1f\x8b")) return ARCHIVE_FILTER_GZIP;
  if (head.starts_with("BZh")) return ARCHIVE_FILTER_BZIP2;
  if (head.starts_with(std::string_view("\xfd"
                                        "7zXZ\0",
                                        6))) {
    return ARCHIVE_FILTER_XZ;
  }
  if (head.starts_with("\x28\xb5\x2f\xfd")) return ARCHIVE_FILTER_ZSTD;
  if (head.starts_with("\x04\x22\x4d\x18")) return ARCHIVE_FILTER_LZ4;
  return ARCHIVE_FILTER_NONE;
}

std::string plain_path(const char* path) {
  std::string_view text = path == nullptr ? std::string_view() : path;
  while (text.starts_with("./")) text.remove_prefix(2);
  return std::string(text);
}

// Either spelling may be missing where libarchive couldn't make it out of the other.
std::string either(const char* utf8, const char* bytes) {
  return plain_path(utf8 != nullptr ? utf8 : bytes);
}

}  // namespace

struct ArchiveReader::State {
  struct Totals {
    std::uint64_t members = 0;
    // Bytes.
    std::uint64_t unpacked = 0;
    std::uint64_t names = 0;
  };

  explicit State(const ArchiveLimits& given) : limits(given), handle(::archive_read_new()) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { ::archive_read_free(handle); }

  void open(ArchiveShape shape);
  void open_tar();
  la_ssize_t fill(const void** bytes);
  // Throws InputError, with what was wrong further out if anything was.
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail_as_libarchive() const;
  void check(int result) const;
  void count(std::uint64_t bytes);
  void count_content(std::uint64_t bytes);
  void count_header(const ArchiveEntry& entry);
  void check_end() const;
  void drain();

  ArchiveLimits limits;
  archive* handle;
  ByteSource* source = nullptr;
  State* outer = nullptr;
  Totals own;
  Totals* totals = &own;
  // Bytes of the file on disk.
  std::uint64_t packed = 0;
  // Bytes of the member that came so far.
  std::uint64_t member_size = 0;
  // Unpacked bytes of the archive in front of the member.
  std::uint64_t member_at = 0;
  // Bytes of the member as they lie in the archive, where that is known.
  std::uint64_t stored_size = 0;
  bool in_member = false;
  bool is_tar = false;
  // What is passed over has to be unpacked, and so counts.
  bool unpacks_all = false;
  std::string block;
  // Read and not handed to libarchive yet.
  bool pending = false;
  // Of the source or of the archive further out.
  std::string failure;
};

void ArchiveReader::State::fail(const std::string& message) const {
  const la_int64_t at = ::archive_filter_bytes(handle, -1);
  throw InputError(outer == nullptr && at > 0 ? static_cast<std::uint64_t>(at) : 0, 0, message);
}

void ArchiveReader::State::fail_as_libarchive() const {
  if (!failure.empty()) fail(failure);
  const char* reason = ::archive_error_string(handle);
  fail("can't be read as an archive: " + escape(reason == nullptr ? "no reason given" : reason));
}

// A warning is about one attribute, such as a name in an unknown encoding.
void ArchiveReader::State::check(int result) const {
  if (result != ARCHIVE_OK && result != ARCHIVE_WARN) fail_as_libarchive();
}

void ArchiveReader::State::count(std::uint64_t bytes) {
  totals->unpacked += bytes;
  if (totals->unpacked > limits.total_size) {
    fail("unpacks to more than " + plural(limits.total_size, "byte"));
  }
  if (totals->unpacked > limits.always_allowed && totals->unpacked / limits.ratio > packed) {
    fail("unpacks to more than " + std::to_string(limits.ratio) + " times its own " +
         plural(packed, "byte"));
  }
}

void ArchiveReader::State::count_content(std::uint64_t bytes) {
  member_size += bytes;
  if (member_size > limits.member_size) {
    fail("a member unpacks to more than " + plural(limits.member_size, "byte"));
  }
  count(bytes);
}

// What stands between members is unpacked too, and a header may hold a megabyte.
void ArchiveReader::State::count_header(const ArchiveEntry& entry) {
  if (++totals->members > limits.members) {
    fail("holds more than " + plural(limits.members, "member"));
  }
  totals->names += entry.path.size() + entry.target.size();
  if (totals->names > limits.names) {
    fail("holds names of more than " + plural(limits.names, "byte"));
  }
  const auto at =
      static_cast<std::uint64_t>(std::max<la_int64_t>(::archive_filter_bytes(handle, 0), 0));
  if (unpacks_all && at > member_at + member_size) count(at - member_at - member_size);
  member_at = at;
}

// To libarchive a tar archive that is cut behind a member is whole, though the blocks of zeros that
// end it are missing. Of a compressed one the decompression tells.
void ArchiveReader::State::check_end() const {
  constexpr std::uint64_t tar_block = 512;
  if (!is_tar || unpacks_all || source == nullptr) return;
  const std::uint64_t end = member_at + (stored_size + tar_block - 1) / tar_block * tar_block;
  if (source->size() < end + tar_block) fail("ends without the mark of its end");
}

// The next bytes of the archive itself; 0 at the end, negative on an error.
la_ssize_t ArchiveReader::State::fill(const void** bytes) {
  if (outer != nullptr) {
    la_int64_t offset = 0;
    std::size_t size = 0;
    const int result = ::archive_read_data_block(outer->handle, bytes, &size, &offset);
    if (result == ARCHIVE_EOF) return 0;
    if (result == ARCHIVE_OK) return static_cast<la_ssize_t>(size);
    const char* reason = ::archive_error_string(outer->handle);
    failure = "can't be read as an archive: " + escape(reason == nullptr ? "" : reason);
    return -1;
  }
  block.resize(block_size);
  const std::size_t size = source->read(block.data(), block.size());
  failure = source->error();
  *bytes = block.data();
  return failure.empty() ? static_cast<la_ssize_t>(size) : -1;
}

void ArchiveReader::State::open_tar() {
  const void* bytes = nullptr;
  const la_ssize_t size = fill(&bytes);
  if (size < 0) fail(failure);
  if (outer != nullptr) {
    block.assign(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
  } else {
    block.resize(static_cast<std::size_t>(size));
  }
  pending = true;
  const int compression = compression_of(block);
  is_tar = true;
  unpacks_all = compression != ARCHIVE_FILTER_NONE;
  check(::archive_read_support_format_tar(handle));
  // What libarchive was built without it would hand to another program.
  if (::archive_read_append_filter(handle, compression) != ARCHIVE_OK) fail_as_libarchive();
}

void ArchiveReader::State::open(ArchiveShape shape) {
  if (handle == nullptr) throw InputError(0, 0, "no memory to read an archive with");
  switch (shape) {
    case ArchiveShape::zip:
      check(::archive_read_support_format_zip_seekable(handle));
      break;
    case ArchiveShape::zip_from_start:
      unpacks_all = true;
      check(::archive_read_support_format_zip_streamable(handle));
      break;
    case ArchiveShape::tar:
      open_tar();
      break;
    case ArchiveShape::ar:
      check(::archive_read_support_format_ar(handle));
      break;
  }
  ::archive_read_set_callback_data(handle, this);
  ::archive_read_set_read_callback(handle,
                                   [](archive*, void* state, const void** bytes) -> la_ssize_t {
                                     auto* self = static_cast<ArchiveReader::State*>(state);
                                     if (!self->pending) return self->fill(bytes);
                                     self->pending = false;
                                     *bytes = self->block.data();
                                     return static_cast<la_ssize_t>(self->block.size());
                                   });
  if (source != nullptr) {
    ::archive_read_set_skip_callback(
        handle, [](archive*, void* state, la_int64_t wanted) -> la_int64_t {
          ByteSource& bytes = *static_cast<ArchiveReader::State*>(state)->source;
          const std::uint64_t before = bytes.position();
          if (wanted <= 0 || !bytes.move_to(before + static_cast<std::uint64_t>(wanted))) return 0;
          return static_cast<la_int64_t>(bytes.position() - before);
        });
    ::archive_read_set_seek_callback(
        handle, [](archive*, void* state, la_int64_t to, int from) -> la_int64_t {
          ByteSource& bytes = *static_cast<ArchiveReader::State*>(state)->source;
          const std::uint64_t base = from == SEEK_SET   ? 0
                                     : from == SEEK_CUR ? bytes.position()
                                                        : bytes.size();
          // Both are far below 2^63.
          const la_int64_t target = static_cast<la_int64_t>(base) + to;
          if (target < 0 || !bytes.move_to(static_cast<std::uint64_t>(target))) {
            return ARCHIVE_FATAL;
          }
          return static_cast<la_int64_t>(bytes.position());
        });
  }
  check(::archive_read_open1(handle));
}

// Moves to the end of the member by unpacking it, so that the limits hold for it too.
void ArchiveReader::State::drain() {
  for (;;) {
    const void* bytes = nullptr;
    la_int64_t offset = 0;
    std::size_t size = 0;
    const int result = ::archive_read_data_block(handle, &bytes, &size, &offset);
    if (result == ARCHIVE_EOF) return;
    check(result);
    count_content(size);
  }
}

ArchiveReader::ArchiveReader(ByteSource& source, ArchiveShape shape, const ArchiveLimits& limits)
    : state_(std::make_unique<State>(limits)) {
  state_->source = &source;
  state_->packed = source.size();
  state_->open(shape);
}

ArchiveReader::ArchiveReader(ArchiveReader& outer, ArchiveShape shape)
    : state_(std::make_unique<State>(outer.state_->limits)) {
  state_->outer = outer.state_.get();
  state_->packed = outer.state_->packed;
  state_->totals = outer.state_->totals;
  state_->open(shape);
}

ArchiveReader::ArchiveReader(ArchiveReader&&) noexcept = default;
ArchiveReader::~ArchiveReader() = default;

bool ArchiveReader::next(ArchiveEntry& entry) {
  State& state = *state_;
  const NamesAsUtf8 names;
  if (state.in_member && state.unpacks_all) state.drain();
  state.in_member = false;
  archive_entry* header = nullptr;
  const int result = ::archive_read_next_header(state.handle, &header);
  if (result == ARCHIVE_EOF) {
    state.check_end();
    return false;
  }
  state.check(result);
  state.in_member = true;
  entry.path = either(::archive_entry_pathname_utf8(header), ::archive_entry_pathname(header));
  entry.target.clear();
  entry.kind = ArchiveEntry::Kind::other;
  if (::archive_entry_hardlink_utf8(header) != nullptr ||
      ::archive_entry_hardlink(header) != nullptr) {
    entry.kind = ArchiveEntry::Kind::hard_link;
    entry.target = either(::archive_entry_hardlink_utf8(header), ::archive_entry_hardlink(header));
  } else if (::archive_entry_filetype(header) == AE_IFLNK) {
    entry.kind = ArchiveEntry::Kind::symbolic_link;
    entry.target = either(::archive_entry_symlink_utf8(header), ::archive_entry_symlink(header));
  } else if (::archive_entry_filetype(header) == AE_IFREG) {
    entry.kind = ArchiveEntry::Kind::file;
  }
  entry.size.reset();
  if (::archive_entry_size_is_set(header) != 0 && ::archive_entry_size(header) >= 0) {
    entry.size = static_cast<std::uint64_t>(::archive_entry_size(header));
  }
  entry.encrypted = ::archive_entry_is_encrypted(header) != 0;
  state.count_header(entry);
  const bool sparse = ::archive_entry_sparse_count(header) > 0;
  state.stored_size = sparse ? 0 : entry.size.value_or(0);
  state.member_size = 0;
  return true;
}

std::size_t ArchiveReader::read(char* to, std::size_t size) {
  State& state = *state_;
  const la_ssize_t got = ::archive_read_data(state.handle, to, size);
  if (got < 0) state.fail_as_libarchive();
  state.count_content(static_cast<std::uint64_t>(got));
  return static_cast<std::size_t>(got);
}

}  // namespace opseal
