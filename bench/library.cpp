// How long the device code of a library takes to list: architectures alone, and every kernel with
// registers, each on one thread and on two; what of that is zstd and LZ4 alone, below which no
// reader of kernels can come, since what tells of them stands at an image's end; beside NVIDIA's
// `cuobjdump` on the same file, which needs
// `-res-usage` and `-ptx` to tell the same. Each run is a process of its own; the program starts
// itself again as `bench_library --run THREADS WHAT FILE`, WHAT being `architectures`, `kernels` or
// `decompression`. Arguments are libraries; `--cuobjdump PATH` where it isn't on PATH, `--runs N`
// for the least of N runs.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "analyzers/mapped_file.h"
#include "analyzers/native/container_search.h"
#include "analyzers/native/decompress.h"
#include "analyzers/native/device_images.h"
#include "analyzers/native/elf.h"
#include "bench/program.h"

namespace opseal::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Bytes of this process that are no file's.
double anonymous_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::strtod(line.c_str() + 8, nullptr) * 1024;
  }
  return 0;
}

// Looks every few milliseconds how much memory is in use, since the kernel keeps no such peak.
class MemoryWatch {
 public:
  MemoryWatch() : thread_([this](const std::stop_token& stop) { watch(stop); }) {}
  double stop() {
    thread_.request_stop();
    thread_.join();
    return peak_;
  }

 private:
  void watch(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      peak_ = std::max(peak_, anonymous_memory());
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    peak_ = std::max(peak_, anonymous_memory());
  }

  double peak_ = 0;
  std::jthread thread_;
};

// The images of a file, decompressed one after the other and looked at no further.
DeviceImages decompress_all(const Elf& elf) {
  DeviceImages images;
  std::vector<FatEntry> entries;
  search_containers(elf, {}, images, entries);
  Decompressor decompressor;
  for (const FatEntry& entry : entries) {
    if (entry.kind != ImageKind::ptx && entry.kind != ImageKind::sass) continue;
    if (entry.compression == Compression::zstd) decompressor.zstd(entry.stored, entry.plain_size);
    if (entry.compression == Compression::lz4) decompressor.lz4(entry.stored, entry.plain_size);
  }
  return images;
}

int run_child(unsigned threads, const std::string& what, const std::string& path) {
  MemoryWatch watch;
  const Clock::time_point start = Clock::now();
  const MappedFile file(path);
  const Elf elf{Bytes(file.bytes())};
  const DeviceImages images =
      what == "decompression"
          ? decompress_all(elf)
          : read_device_images(elf, {.threads = threads, .kernels = what == "kernels", .file = 0});
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::size_t kernels = 0;
  for (const DeviceImage& image : images.images) kernels += image.kernels.size();
  std::printf("%.6f %.0f %zu %zu %zu\n", seconds, watch.stop(), images.images.size(), kernels,
              images.problems.size());
  return 0;
}

struct Reading {
  double seconds = 1e9;
  double processor = 1e9;
  // Bytes beyond the mapped file.
  double memory = 0;
  std::size_t images = 0;
  std::size_t kernels = 0;
  std::size_t problems = 0;
};

Reading read_often(const std::string& path, unsigned threads, const char* what, int runs) {
  Reading least;
  for (int i = 0; i < runs; ++i) {
    const Cost cost =
        run_program({own_path(), "--run", std::to_string(threads), what, path}, Output::kept)
            .value();
    std::istringstream words(cost.output);
    double seconds = 0;
    double memory = 0;
    words >> seconds >> memory >> least.images >> least.kernels >> least.problems;
    least.seconds = std::min(least.seconds, seconds);
    least.processor = std::min(least.processor, cost.processor);
    least.memory = std::max(least.memory, memory);
  }
  return least;
}

struct Sums {
  double one_thread = 0;
  double two_threads = 0;
  double peer = 0;
};

void compare(const std::string& path, const std::string& cuobjdump, int runs, Sums& sums) {
  const Reading architectures = read_often(path, 1, "architectures", runs);
  const Reading architectures_of_two = read_often(path, 2, "architectures", runs);
  const Reading decompression = read_often(path, 1, "decompression", runs);
  const Reading one = read_often(path, 1, "kernels", runs);
  const Reading two = read_often(path, 2, "kernels", runs);
  std::printf("%s: %zu images, %zu kernels, %zu problems\n", path.c_str(), one.images, one.kernels,
              one.problems);
  std::printf("  architectures %9.2f ms, on two threads %.2f ms\n", architectures.seconds * 1e3,
              architectures_of_two.seconds * 1e3);
  std::printf("  decompression %9.2f ms alone\n", decompression.seconds * 1e3);
  std::printf("  one thread    %9.2f ms, processor %9.2f ms, %6.1f MiB\n", one.seconds * 1e3,
              one.processor * 1e3, one.memory / 1048576);
  std::printf("  two threads   %9.2f ms, processor %9.2f ms, %6.1f MiB\n", two.seconds * 1e3,
              two.processor * 1e3, two.memory / 1048576);
  const std::optional<Cost> registers = run_program_often({cuobjdump, "-res-usage", path}, 1);
  if (!registers) {
    std::printf("  cuobjdump     not here\n");
    return;
  }
  const Cost ptx = run_program_often({cuobjdump, "-ptx", path}, 1).value();
  const double peer = registers->wall + ptx.wall;
  std::printf("  cuobjdump     %9.2f ms, processor %9.2f ms, %6.1f MiB; %.1f and %.1f times\n",
              peer * 1e3, (registers->processor + ptx.processor) * 1e3,
              std::max(registers->peak, ptx.peak) / 1048576, peer / one.seconds,
              peer / two.seconds);
  sums.one_thread += one.seconds;
  sums.two_threads += two.seconds;
  sums.peer += peer;
}

int run_all(const std::vector<std::string>& words) {
  // Children print, too.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::string cuobjdump = "cuobjdump";
  int runs = 3;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--cuobjdump" && i + 1 < words.size()) {
      cuobjdump = words[++i];
    } else if (words[i] == "--runs" && i + 1 < words.size()) {
      runs = std::max(1, std::atoi(words[++i].c_str()));
    } else {
      paths.push_back(words[i]);
    }
  }
  std::printf(
      "aims: architectures of 500 MB in 10 ms; every kernel 10 times as fast as cuobjdump "
      "on one thread, 15 times on two\n");
  Sums sums;
  for (const std::string& path : paths) compare(path, cuobjdump, runs, sums);
  if (sums.peer > 0) {
    std::printf("all: cuobjdump takes %.1f and %.1f times as long\n", sums.peer / sums.one_thread,
                sums.peer / sums.two_threads);
  }
  return paths.empty() ? 2 : 0;
}

}  // namespace
}  // namespace opseal::bench

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  try {
    if (words.size() == 4 && words[0] == "--run") {
      const auto threads = static_cast<unsigned>(std::max(1, std::atoi(words[1].c_str())));
      return opseal::bench::run_child(threads, words[2], words[3]);
    }
    return opseal::bench::run_all(words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_library: %s\n", error.what());
    return 1;
  }
}
