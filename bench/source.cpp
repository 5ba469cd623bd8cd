// How long reading the sources of a folder takes: the walk, the macros of its headers, and each
// file that mentions a word of the vocabulary, on one thread or more. Arguments: `[--threads N]
// [--list] [--synthetic MEGABYTES] FOLDER...`; `--list` prints each invocation, for comparison with
// other readers. `--synthetic` first fills the folder with so much C++ of registrations.

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "analyzers/byte_source.h"
#include "analyzers/source/invocations.h"
#include "analyzers/source/preprocessor.h"
#include "analyzers/source/source_tree.h"

namespace opseal::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Options {
  unsigned threads = 1;
  bool list = false;
  std::size_t synthetic_megabytes = 0;
  std::vector<std::string> folders;
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

bool read_whole(const std::string& path, std::string& bytes) {
  ByteSource source = ByteSource::file(path);
  if (!source.error().empty()) return false;
  bytes.resize(source.size());
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t got = source.read(bytes.data() + at, bytes.size() - at);
    if (got == 0) break;
    at += got;
  }
  bytes.resize(at);
  return true;
}

std::vector<std::string> walk(const std::string& folder) {
  std::vector<std::string> paths;
  for (auto at =
           fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied);
       at != fs::recursive_directory_iterator(); ++at) {
    if (!is_source_path(at->path().native())) continue;
    if (at->is_regular_file() && !at->is_symlink()) paths.push_back(at->path().string());
  }
  return paths;
}

// Files of 100 kB with a block of registrations, a macro and ordinary code each.
void write_synthetic(const std::string& folder, std::size_t megabytes) {
  fs::create_directories(folder);
  for (std::size_t file = 0; file < megabytes * 10; ++file) {
    std::string text = "#include <torch/library.h>\n#define REG(n, f) m.impl(#n, TORCH_FN(f))\n";
    text += "#ifdef USE_CUDA\n";
    for (int function = 0; text.size() < 95'000; ++function) {
      const std::string name = "op_" + std::to_string(file) + "_" + std::to_string(function);
      text +=
          "// Computes one element of the result for each thread.\nvoid " + name +
          "(const float* __restrict__ input, float* __restrict__ output, int64_t size) {\n"
          "  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += 256) {\n"
          "    output[i] = input[i] > 0.0f ? input[i] * 1.0507f : alpha * (expf(input[i]) - 1);\n"
          "  }\n}\n";
    }
    text += "TORCH_LIBRARY_IMPL(bench, CUDA, m) {\n";
    for (int i = 0; text.size() < 100'000; ++i) {
      text += "  REG(op_" + std::to_string(i) + ", op_" + std::to_string(i) + ");\n";
    }
    std::ofstream(folder + "/file_" + std::to_string(file) + ".cu") << text << "}\n#endif\n";
  }
}

struct Count {
  std::size_t read_files = 0;
  std::size_t read_bytes = 0;
  std::size_t bytes = 0;
  std::size_t tokens = 0;
  std::size_t invocations = 0;
  std::size_t expanded = 0;
  std::size_t truncated = 0;
};

std::size_t line_of(std::string_view bytes, std::size_t offset) {
  std::size_t line = 1;
  for (const char byte : bytes.substr(0, offset)) line += byte == '\n' ? 1 : 0;
  return line;
}

void print(const SourceTree& tree, const SourceUnit& unit, const Invocations& found) {
  for (const Invocation& invocation : found.list) {
    std::string line =
        tree.path(unit.file) + ":" + std::to_string(line_of(unit.bytes, invocation.offset)) + ": ";
    if (invocation.form == InvocationForm::member) line += ".";
    line += std::string(invocation.name) + "(";
    for (const Tokens argument : invocation.arguments) line += " [" + text_of(argument) + "]";
    line += " )";
    if (invocation.has_body) line += " {}";
    if (!invocation.through_macro.empty()) line += " via " + std::string(invocation.through_macro);
    const Scope* const block = found.enclosing(invocation.scope, ScopeKind::macro_block);
    if (block != nullptr) line += " in " + block->name;
    if (invocation.condition != 0) line += " if " + unit.conditions[invocation.condition].text();
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::printf("%s\n", line.c_str());
  }
}

void measure(const std::string& folder, const Options& options) {
  const Clock::time_point start = Clock::now();
  SourceTree tree(walk(folder), registration_vocabulary(), read_whole);
  const double walked = milliseconds_since(start);
  tree.discover();
  const double discovered = milliseconds_since(start);
  std::atomic<FileId> next{0};
  std::mutex mutex;
  Count total;
  const auto work = [&] {
    Preprocessor preprocessor(tree);
    SourceUnit unit;
    Invocations found;
    std::string bytes;
    Count count;
    for (FileId file = next++; file < tree.size(); file = next++) {
      if (!tree.read(file, bytes)) continue;
      count.bytes += bytes.size();
      if (!tree.has_needle(bytes)) continue;
      ++count.read_files;
      count.read_bytes += bytes.size();
      preprocessor.run(file, bytes, unit);
      find_invocations(unit, tree.vocabulary(), found);
      count.tokens += unit.tokens.size();
      count.invocations += found.list.size();
      for (const Invocation& one : found.list) count.expanded += one.through_macro.empty() ? 0 : 1;
      count.truncated += unit.truncated ? 1 : 0;
      if (!options.list) continue;
      const std::lock_guard<std::mutex> lock(mutex);
      print(tree, unit, found);
    }
    const std::lock_guard<std::mutex> lock(mutex);
    total.read_files += count.read_files;
    total.read_bytes += count.read_bytes;
    total.bytes += count.bytes;
    total.tokens += count.tokens;
    total.invocations += count.invocations;
    total.expanded += count.expanded;
    total.truncated += count.truncated;
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < options.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  const double all = milliseconds_since(start);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::fprintf(
      stderr,
      "%s: %zu files, %.1f MB; read %zu, %.1f MB, %zu tokens; %zu invocations, %zu through "
      "macros, %zu macros of the project, %zu files cut short\n"
      "  walk %.0f ms, headers %.0f ms, files %.0f ms, in all %.0f ms; peak %.1f MiB\n",
      folder.c_str(), tree.size(), static_cast<double>(total.bytes) * 1e-6, total.read_files,
      static_cast<double>(total.read_bytes) * 1e-6, total.tokens, total.invocations, total.expanded,
      tree.project_macros().size(), total.truncated, walked, discovered - walked, all - discovered,
      all, static_cast<double>(usage.ru_maxrss) / 1024);
}

}  // namespace
}  // namespace opseal::bench

int main(int count, char** arguments) {
  opseal::bench::Options options;
  const std::vector<std::string> words(arguments + 1, arguments + count);
  try {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == "--list") {
        options.list = true;
      } else if (words[i] == "--threads" && i + 1 < words.size()) {
        options.threads = static_cast<unsigned>(std::stoul(words[++i]));
      } else if (words[i] == "--synthetic" && i + 1 < words.size()) {
        options.synthetic_megabytes = std::stoul(words[++i]);
      } else {
        options.folders.push_back(words[i]);
      }
    }
    for (const std::string& folder : options.folders) {
      if (options.synthetic_megabytes > 0) {
        opseal::bench::write_synthetic(folder, options.synthetic_megabytes);
      }
      opseal::bench::measure(folder, options);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_source: %s\n", error.what());
    return 1;
  }
  return options.folders.empty() ? 2 : 0;
}
