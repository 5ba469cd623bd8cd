#include "analyzers/native/device_images.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "analyzers/native/cubin.h"
#include "analyzers/native/decompress.h"
#include "analyzers/native/elf.h"
#include "analyzers/native/fat_binary.h"
#include "analyzers/native/hip_bundle.h"
#include "analyzers/native/name_pool.h"
#include "analyzers/native/ptx.h"

namespace opseal {
namespace {

// No image is near to this: the largest of the CUDA toolkit has 134 MB.
constexpr std::uint64_t most_plain_bytes = std::uint64_t{512} << 20;
// Of all images of a file together; a damaged file shall not keep a machine busy for hours.
constexpr std::uint64_t most_plain_bytes_of_all = std::uint64_t{64} << 30;
// Beyond this a few stored bytes may not become any number of plain ones.
constexpr std::uint64_t freely_plain_bytes = std::uint64_t{16} << 20;
constexpr std::uint64_t most_plain_per_stored = 1024;
// No kernel takes fewer stored bytes.
constexpr std::uint64_t bytes_of_kernel = 16;

Problem problem_of(const FatEntry& entry, std::uint32_t file, const std::string& message) {
  Problem problem;
  problem.where.file = file;
  problem.where.offset = entry.offset;
  problem.where.length =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(entry.length, Location::max_length));
  problem.message = "an image for `" + entry.architecture + "`: " + message;
  return problem;
}

// Memory for the few images that are much larger than others, one after the other, so that a
// machine with many cores doesn't need as many times the memory for them.
struct LargeImages {
  static constexpr std::uint64_t least_size = std::uint64_t{16} << 20;
  std::mutex mutex;
  Decompressor decompressor;
};

// Reads images one after the other. Each thread has its own.
class ImageReader {
 public:
  ImageReader(LargeImages& large, std::uint64_t most) : large_(large), most_(most) {}

  // Needs: `entry.plain_size` is bounded.
  void read(const FatEntry& entry, DeviceImage& image) {
    if (entry.plain_size < LargeImages::least_size) {
      read(entry, decompressor_, image);
    } else {
      const std::lock_guard lock(large_.mutex);
      read(entry, large_.decompressor, image);
    }
  }
  std::vector<std::unique_ptr<char[]>> release_names() { return names_.release(); }

 private:
  void read(const FatEntry& entry, Decompressor& decompressor, DeviceImage& image) {
    const Bytes plain = plain_bytes(entry, decompressor);
    if (entry.kind == ImageKind::ptx) {
      std::string_view text = plain.view();
      // Ends with a zero, and maybe with padding. From the end: a search from the start would read
      // it all once more.
      text = text.substr(0, text.find_last_not_of('\0') + 1);
      image.kernels = read_ptx_entries(text, most_);
    } else {
      cubins_.read(plain, image, most_);
    }
    if (entry.compression == Compression::none) return;
    for (DeviceKernel& kernel : image.kernels) kernel.name = names_.keep(kernel.name);
  }

  static Bytes plain_bytes(const FatEntry& entry, Decompressor& decompressor) {
    switch (entry.compression) {
      case Compression::none:
        return entry.stored;
      case Compression::zstd:
        return decompressor.zstd(entry.stored, entry.plain_size);
      case Compression::lz4:
        return decompressor.lz4(entry.stored, entry.plain_size);
    }
    return {};
  }

  LargeImages& large_;
  std::uint64_t most_;
  Decompressor decompressor_;
  CubinReader cubins_;
  NamePool names_;
};

// Reads the kernels of all images, in whatever order; each thread takes the next image that nobody
// has taken, and writes to that image alone, so that the outcome doesn't depend on their number.
class KernelPool {
 public:
  KernelPool(const std::vector<FatEntry>& entries, const ImageOptions& options,
             DeviceImages& images)
      : entries_(entries), options_(options), images_(images), failures_(entries.size()) {}

  void run() {
    bound_sizes();
    const std::size_t count = std::min<std::size_t>(std::max(options_.threads, 1U),
                                                    std::max<std::size_t>(1, todo_.size()));
    {
      std::vector<std::jthread> helpers;
      for (std::size_t i = 1; i < count; ++i) helpers.emplace_back([this] { work(); });
      work();
    }
    if (defect_ != nullptr) std::rethrow_exception(defect_);
    if (kernels_ > most_) {
      // The same whichever image was read last.
      for (DeviceImage& image : images_.images) image.kernels = {};
      failures_.assign(entries_.size(), {});
      failures_.front() = "the file's images have more than " + std::to_string(most_) +
                          " kernels, which is more than fit into their bytes";
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (failures_[i].empty()) continue;
      images_.problems.push_back(problem_of(entries_[i], options_.file, failures_[i]));
    }
  }

 private:
  // What an entry states is believed up to a point.
  void bound_sizes() {
    std::uint64_t all = 0;
    std::uint64_t stored = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const FatEntry& entry = entries_[i];
      // An LTO image is scrambled, and shows no kernels before it is linked.
      if (entry.kind != ImageKind::ptx && entry.kind != ImageKind::sass) continue;
      stored += entry.stored.size();
      if (entry.plain_size > most_plain_bytes) {
        failures_[i] = std::to_string(entry.plain_size) + " bytes after decompression, at most " +
                       std::to_string(most_plain_bytes) + " are read";
      } else if (entry.plain_size > freely_plain_bytes &&
                 entry.plain_size / most_plain_per_stored > entry.stored.size()) {
        failures_[i] = std::to_string(entry.plain_size) + " bytes after decompression of " +
                       std::to_string(entry.stored.size()) + ", at most " +
                       std::to_string(most_plain_per_stored) + " times as many are read";
      } else if (all + entry.plain_size > most_plain_bytes_of_all) {
        failures_[i] = "the images up to here have more than " +
                       std::to_string(most_plain_bytes_of_all) + " bytes after decompression";
      } else {
        all += entry.plain_size;
        todo_.push_back(i);
      }
    }
    most_ = most_kernels + stored / bytes_of_kernel;
  }

  void work() {
    try {
      ImageReader reader(large_, most_);
      while (kernels_ <= most_) {
        const std::size_t turn = next_.fetch_add(1);
        if (turn >= todo_.size()) break;
        const std::size_t i = todo_[turn];
        try {
          reader.read(entries_[i], images_.images[i]);
          kernels_ += images_.images[i].kernels.size();
        } catch (const InputError& error) {
          images_.images[i].kernels = {};
          failures_[i] = error.what();
        }
      }
      const std::lock_guard lock(mutex_);
      for (std::unique_ptr<char[]>& block : reader.release_names()) {
        images_.names.push_back(std::move(block));
      }
    } catch (...) {
      // Not ours to judge here: no memory, for example. It goes on in the thread that asked.
      const std::lock_guard lock(mutex_);
      defect_ = std::current_exception();
    }
  }

  const std::vector<FatEntry>& entries_;
  const ImageOptions& options_;
  DeviceImages& images_;
  // What is wrong with each; empty: nothing.
  std::vector<std::string> failures_;
  std::vector<std::size_t> todo_;
  std::atomic<std::size_t> next_ = 0;
  // Of all images, and how many they may be.
  std::atomic<std::uint64_t> kernels_ = 0;
  std::uint64_t most_ = 0;
  LargeImages large_;
  std::mutex mutex_;
  std::exception_ptr defect_;
};

bool may_hold_containers(const ElfSection& section) {
  constexpr std::uint32_t program_bits = 1;
  if (section.type != program_bits || section.is_executable() || section.is_compressed()) {
    return false;
  }
  // Large ones, of which every byte has another meaning.
  for (const std::string_view prefix : {".debug", ".eh_frame", ".gcc_except_table"}) {
    if (section.name.starts_with(prefix)) return false;
  }
  return true;
}

bool is_dedicated(std::string_view section) {
  return section == ".nv_fatbin" || section == "__nv_relfatbin";
}

void list_section(const Elf& elf, const ElfSection& section, std::uint32_t file,
                  DeviceImages& images, std::vector<FatEntry>& entries) {
  try {
    const Bytes bytes = elf.data(section);
    if (section.name.find("hip_fatbin") != std::string_view::npos) {
      list_bundles(bytes, file, images);
    } else {
      list_containers({bytes, section.name, is_dedicated(section.name), elf.file().offset()}, file,
                      images, entries);
    }
  } catch (const InputError& error) {
    Problem problem;
    problem.where = {file, 0, error.offset};
    problem.message = error.what();
    images.problems.push_back(std::move(problem));
  }
}

void read_kernels(const std::vector<FatEntry>& entries, const ImageOptions& options,
                  DeviceImages& images) {
  if (options.kernels) KernelPool(entries, options, images).run();
}

// What was built to be linked says so in its machine code alone; the PTX beside it, which is the
// same part for other architectures, doesn't.
void mark_relocatable_ptx(DeviceImages& images) {
  std::vector<bool> parts;
  for (const DeviceContainer& container : images.containers) {
    parts.push_back(container.section == "__nv_relfatbin");
  }
  for (const DeviceImage& image : images.images) {
    if (image.relocatable) parts[image.container] = true;
  }
  for (DeviceImage& image : images.images) {
    if (image.kind == ImageKind::ptx && parts[image.container]) image.relocatable = true;
  }
}

// Around a cubin or a PTX text that no container holds.
void add_bare(const Bytes& file, FatEntry entry, const ImageOptions& options,
              DeviceImages& images) {
  entry.stored = file;
  entry.offset = file.offset();
  entry.length = file.size();
  DeviceImage image;
  image.kind = entry.kind;
  image.architecture = entry.architecture;
  image.version = entry.version;
  image.offset = entry.offset;
  image.length = entry.length;
  images.containers.push_back({{}, file.offset(), file.size()});
  images.images.push_back(std::move(image));
  read_kernels({std::move(entry)}, options, images);
}

FatEntry bare_ptx(std::string_view text) {
  const PtxHeader header = read_ptx_header(text);
  FatEntry entry;
  entry.kind = ImageKind::ptx;
  entry.version = header.version;
  entry.architecture = header.target;
  return entry;
}

}  // namespace

DeviceImages read_device_images(const Elf& elf, const ImageOptions& options) {
  DeviceImages images;
  std::vector<FatEntry> entries;
  for (const ElfSection& section : elf.sections()) {
    if (may_hold_containers(section)) list_section(elf, section, options.file, images, entries);
  }
  if (elf.sections().empty()) {
    list_containers({elf.file(), {}, false, elf.file().offset()}, options.file, images, entries);
  }
  read_kernels(entries, options, images);
  mark_relocatable_ptx(images);
  return images;
}

DeviceImages read_bare_image(const Bytes& file, const ImageOptions& options) {
  DeviceImages images;
  const std::string_view view = file.view();
  if (is_fat_binary(view)) {
    std::vector<FatEntry> entries;
    list_containers({file, {}, true, file.offset()}, options.file, images, entries);
    read_kernels(entries, options, images);
    mark_relocatable_ptx(images);
  } else if (is_cubin(view)) {
    FatEntry entry;
    entry.kind = ImageKind::sass;
    try {
      entry.architecture = cubin_architecture(file);
    } catch (const InputError&) {
      // Whatever is wrong is wrong for the kernels as well, and told there.
      entry.architecture = cubin_architecture_number(file);
    }
    add_bare(file, std::move(entry), options, images);
  } else if (is_bundle(view)) {
    list_bundles(file, options.file, images);
  } else if (is_ptx(view)) {
    add_bare(file, bare_ptx(view), options, images);
  }
  return images;
}

void refuse_kernels(std::uint64_t offset, std::uint64_t most) {
  throw InputError(offset, 0, "more than " + std::to_string(most) + " kernels");
}

bool is_fat_binary(std::string_view head) { return head.starts_with("\x50\xED\x55\xBA"); }

bool is_ptx(std::string_view head) {
  const PtxHeader header = read_ptx_header(head);
  return !header.version.empty() && !header.target.empty();
}

}  // namespace opseal
