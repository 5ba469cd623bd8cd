// `opseal init`: a configuration to begin with, and what it might say of the code that is there.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/sources/pair_proposals.h"
#include "cli/audit.h"
#include "cli/commands.h"
#include "cli/discover.h"
#include "opseal/text.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

constexpr std::string_view file_name = "opseal.toml";

// Larger sources are generated.
constexpr std::size_t most_bytes = std::size_t{16} << 20;

constexpr std::string_view keys =
    R"toml(# Configuration of opseal. Every key may be left out; paths and patterns are relative to this file.

# profile = "default"               # default, strict, audit
# select = ["jvp-*", "target-*"]    # these rules instead of the profile's
# ignore = ["name-alias"]           # rules to leave out
# fail-on = "error"                 # lowest severity that fails: error, warning, note, never
# exclude = ["third_party", "old/*"]
# platforms = ["cpu", "gpu"]        # every operator must serve these
# architectures = ["sm_80", "sm_90a"]   # devices that built libraries have to serve
# tier = "lexed"                    # typed: ask libclang for types of C++ sources

# [severity]
# "jvp-without-transpose" = "error"

# A finding that is known and accepted.
# [[silence]]
# rule = "cache-key-env"
# subject = "cache kernix"
# reason = "our images pin the compiler's environment"

# What macros of C++ sources stand for, where the sources don't show it.
# [macros]
# "MY_KERNEL(op, key, fn)" = "TORCH_LIBRARY_IMPL(mylib, key, m) { m.impl(#op, fn); }"

# One operator under several names.
# [join]
# "torch::mylib::rope" = ["jax::mylib_rope_fwd"]

# A cache of built libraries.
# [[cache]]
# name = "kernels"
# directory = "build/cache"
# entry = "{name}_{key}"

# A support predicate with the functions that it speaks for.
# [[pair]]
# name = "gpu"
# predicate = "src/gpu.cpp:supports"
# dispatch = ["forward", "forward_fused"]
)toml";

std::string read_file(const InputFile& file) {
  std::ifstream stream(file.open_path, std::ios::binary);
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file.open_path, error);
  if (error || size > most_bytes) return {};
  std::string text(static_cast<std::size_t>(size), '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, stream.gcount())));
  return text;
}

// It may stand in a text of TOML, and in a comment, as it is.
bool is_plain(std::string_view path) {
  return std::none_of(path.begin(), path.end(), [](char byte) {
    return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f || byte == '"' || byte == '\\';
  });
}

std::string place_of(const std::vector<std::string>& paths, const ProposedFunction& function) {
  return paths[function.file] + ":" + std::to_string(function.line);
}

void write_proposal(const std::vector<std::string>& paths, const PairProposal& proposal,
                    std::string& out) {
  const ProposedFunction& predicate = proposal.predicate;
  const auto& dispatches = proposal.dispatches;
  const bool plain =
      is_plain(paths[predicate.file]) &&
      std::all_of(dispatches.begin(), dispatches.end(),
                  [&](const ProposedFunction& one) { return is_plain(paths[one.file]); });
  if (!plain) return;
  out += "\n# [[pair]]\n# name = \"" + predicate.name + "\"\n# predicate = \"" +
         paths[predicate.file] + ":" + predicate.name + "\"  # " + place_of(paths, predicate) +
         "\n# dispatch = [\n";
  for (const ProposedFunction& one : dispatches) {
    out += "#   \"" + paths[one.file] + ":" + one.name + "\",  # " + place_of(paths, one) + "\n";
  }
  out += "# ]\n";
}

std::string proposed_pairs(const Options& options, const fs::path& directory) {
  Options reading;
  reading.command = Command::dump;
  reading.no_config = true;
  reading.paths = {options.paths.front()};
  const Discovered found = discover(reading, make_settings(reading));
  std::string out;
  for (const Discovered::Input& input : found.inputs) {
    const std::vector<InputFile>& files = input.sources.files;
    if (files.empty()) continue;
    std::vector<std::string> paths;
    for (const InputFile& file : files) {
      std::error_code error;
      paths.push_back(fs::relative(file.open_path, directory, error).generic_string());
      if (error) paths.back() = file.path;
    }
    const auto read = [&files](std::size_t number, std::string& bytes) {
      bytes = read_file(files[number]);
      return !bytes.empty();
    };
    for (const PairProposal& proposal : propose_pairs(paths, SourceTexts(read))) {
      write_proposal(paths, proposal, out);
    }
  }
  if (out.empty()) return out;
  return "\n# Functions that sound like support predicates and that opseal found no certain "
         "dispatch "
         "for.\n# What is proposed decides by the same enumeration: keep what runs the values that "
         "the\n# predicate accepts.\n" +
         out;
}

}  // namespace

int init(const Options& options) {
  const fs::path directory = options.paths.front();
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    throw UsageError(quote(directory.string()) + " is no directory");
  }
  const fs::path target = directory / file_name;
  // Whatever lies there, be it a link that leads nowhere.
  if (!options.print && fs::symlink_status(target, error).type() != fs::file_type::not_found) {
    throw UsageError(quote(target.string()) +
                     " is there already; `--print` writes to standard output");
  }
  const std::string text = std::string(keys) + proposed_pairs(options, directory);
  if (options.print) {
    std::cout << text;
    std::cout.flush();
    return exit_code::clean;
  }
  std::ofstream file(target, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw UsageError("can't write " + quote(target.string()));
  std::cout << "wrote " << target.string() << '\n';
  return exit_code::clean;
}

}  // namespace opseal
