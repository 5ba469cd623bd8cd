#include "analyzers/native/device_images.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "analyzers/native/container_search.h"
#include "analyzers/native/cubin.h"
#include "analyzers/native/decompress.h"
#include "analyzers/native/elf.h"
#include "analyzers/native/fat_binary.h"
#include "analyzers/native/hip_bundle.h"
#include "analyzers/native/large_image.h"
#include "analyzers/native/name_pool.h"
#include "analyzers/native/ptx.h"

namespace opseal {
namespace {

// No image is near to this: the largest of the CUDA toolkit has 134 MB.
constexpr std::uint64_t most_plain_bytes = std::uint64_t{512} << 20;
// Of all images of a file together; a damaged file shall not keep a machine busy for hours.
constexpr std::uint64_t most_plain_bytes_of_all = std::uint64_t{64} << 30;
// Beyond this a few stored bytes may not become any number of plain ones: of one image, and of all.
constexpr std::uint64_t freely_plain_bytes = std::uint64_t{16} << 20;
constexpr std::uint64_t freely_plain_bytes_of_all = std::uint64_t{256} << 20;
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

// Images of which several threads don't hold one each.
constexpr std::uint64_t large_image = std::uint64_t{16} << 20;

// Memory for the few images that are much larger than others, which one thread reads one after the
// other, so that a machine with many cores doesn't need as many times the memory for them.
struct LargeImages {
  Decompressor decompressor;
  ImageBytes image;
};

// Reads images one after the other. Each thread has its own.
class ImageReader {
 public:
  explicit ImageReader(std::uint64_t most) : most_(most) {}

  // Needs: `entry.plain_size` is bounded.
  void read(const FatEntry& entry, DeviceImage& image) { read_whole(entry, decompressor_, image); }
  void read(const FatEntry& entry, LargeImages& large, DeviceImage& image) {
    const bool parts =
        entry.kind == ImageKind::sass && entry.compression == Compression::zstd &&
        decompress_partly(entry.stored, entry.plain_size, large.decompressor, large.image) &&
        cubins_.read_partly(large.image, image, most_);
    if (parts) {
      keep_names(image);
    } else {
      read_whole(entry, large.decompressor, image);
    }
  }
  std::vector<std::unique_ptr<char[]>> release_names() { return names_.release(); }

 private:
  void read_whole(const FatEntry& entry, Decompressor& decompressor, DeviceImage& image) {
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
    if (entry.compression != Compression::none) keep_names(image);
  }

  void keep_names(DeviceImage& image) {
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

  std::uint64_t most_;
  Decompressor decompressor_;
  CubinReader cubins_;
  NamePool names_;
};

// Reads the kernels of all images, in whatever order; each thread takes the next image that nobody
// has taken, and writes to that image alone, so that the outcome doesn't depend on their number.
// One thread takes the large ones while others take the rest.
class KernelPool {
 public:
  KernelPool(const std::vector<FatEntry>& entries, const ImageOptions& options,
             DeviceImages& images)
      : entries_(entries), options_(options), images_(images), failures_(entries.size()) {}

  void run() {
    bound_sizes();
    const std::size_t count =
        std::min<std::size_t>(std::max(options_.threads, 1U), 1 + todo_.size());
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
      } else if (all + entry.plain_size > freely_plain_bytes_of_all &&
                 (all + entry.plain_size) / most_plain_per_stored > stored) {
        failures_[i] = "the images up to here have " + std::to_string(all + entry.plain_size) +
                       " bytes after decompression of " + std::to_string(stored) + ", at most " +
                       std::to_string(most_plain_per_stored) + " times as many are read";
      } else if (all + entry.plain_size > most_plain_bytes_of_all) {
        failures_[i] = "the images up to here have more than " +
                       std::to_string(most_plain_bytes_of_all) + " bytes after decompression";
      } else {
        all += entry.plain_size;
        (entry.plain_size < large_image ? todo_ : large_todo_).push_back(i);
      }
    }
    most_ = most_kernels + stored / bytes_of_kernel;
  }

  void work() {
    try {
      ImageReader reader(most_);
      if (!large_taken_.exchange(true)) {
        LargeImages large;
        for (const std::size_t i : large_todo_) {
          read(i, [&](DeviceImage& image) { reader.read(entries_[i], large, image); });
        }
      }
      for (std::size_t turn = next_++; turn < todo_.size(); turn = next_++) {
        const std::size_t i = todo_[turn];
        read(i, [&](DeviceImage& image) { reader.read(entries_[i], image); });
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

  template <typename Read>
  void read(std::size_t i, Read with) {
    if (kernels_ > most_) return;
    DeviceImage& image = images_.images[i];
    try {
      with(image);
      kernels_ += image.kernels.size();
    } catch (const InputError& error) {
      image.kernels = {};
      failures_[i] = error.what();
    }
  }

  const std::vector<FatEntry>& entries_;
  const ImageOptions& options_;
  DeviceImages& images_;
  // What is wrong with each; empty: nothing.
  std::vector<std::string> failures_;
  std::vector<std::size_t> todo_;
  std::vector<std::size_t> large_todo_;
  std::atomic<std::size_t> next_ = 0;
  // Of all images, and how many they may be.
  std::atomic<std::uint64_t> kernels_ = 0;
  std::uint64_t most_ = 0;
  std::atomic<bool> large_taken_ = false;
  std::mutex mutex_;
  std::exception_ptr defect_;
};

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
  search_containers(elf, options, images, entries);
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
