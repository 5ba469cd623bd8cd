#include "analyzers/native/container_search.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "analyzers/native/budget.h"
#include "analyzers/native/elf.h"
#include "analyzers/native/hip_bundle.h"
#include "opseal/side_by_side.h"

namespace opseal {
namespace {

// Bytes that are searched sooner than a thread begins.
constexpr std::uint64_t worth_a_thread = std::uint64_t{1} << 20;

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

// What one section holds.
struct Found {
  DeviceImages images;
  std::vector<FatEntry> entries;
};

void tell(const InputError& error, std::uint32_t file, DeviceImages& images) {
  Problem problem;
  problem.where = {file, 0, error.offset};
  problem.message = error.what();
  images.problems.push_back(std::move(problem));
}

void search_section(const Elf& elf, const ElfSection& section, std::uint32_t file, Found& found) {
  try {
    const Bytes bytes = elf.data(section);
    if (section.name.find("hip_fatbin") != std::string_view::npos) {
      list_bundles(bytes, file, found.images);
    } else {
      list_containers({bytes, section.name, is_dedicated(section.name), elf.file().offset()}, file,
                      found.images, found.entries);
    }
  } catch (const InputError& error) {
    tell(error, file, found.images);
  }
}

template <typename Row>
void move_behind(std::vector<Row>& all, std::vector<Row>& more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

void append(Found& more, DeviceImages& images, std::vector<FatEntry>& entries) {
  const auto shift = static_cast<std::uint32_t>(images.containers.size());
  for (DeviceImage& image : more.images.images) image.container += shift;
  move_behind(images.containers, more.images.containers);
  move_behind(images.images, more.images.images);
  move_behind(images.bundles, more.images.bundles);
  move_behind(images.problems, more.images.problems);
  move_behind(entries, more.entries);
}

}  // namespace

void search_containers(const Elf& elf, const ImageOptions& options, DeviceImages& images,
                       std::vector<FatEntry>& entries) {
  if (elf.sections().empty()) {
    list_containers({elf.file(), {}, false, elf.file().offset()}, options.file, images, entries);
    return;
  }
  std::vector<const ElfSection*> sections;
  Budget budget(elf.file(), "sections");
  std::uint64_t all = 0;
  for (const ElfSection& section : elf.sections()) {
    if (!may_hold_containers(section)) continue;
    try {
      const std::uint64_t size = std::min(section.size, elf.file().size());
      budget.take(size, section.offset);
      all += size;
    } catch (const InputError& error) {
      tell(error, options.file, images);
      break;
    }
    sections.push_back(&section);
  }
  // Few of them hold nearly all bytes. The largest come first, so that no thread begins with one
  // when the others are done.
  std::vector<std::size_t> turns(sections.size());
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  std::stable_sort(turns.begin(), turns.end(), [&sections](std::size_t a, std::size_t b) {
    return sections[a]->size > sections[b]->size;
  });
  std::vector<Found> found(sections.size());
  const unsigned threads = all < worth_a_thread ? 1 : options.threads;
  side_by_side(threads, turns.size(), [&](std::size_t turn) {
    const std::size_t at = turns[turn];
    search_section(elf, *sections[at], options.file, found[at]);
  });
  for (Found& one : found) append(one, images, entries);
}

}  // namespace opseal
