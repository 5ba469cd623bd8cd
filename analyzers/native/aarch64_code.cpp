// The code of a host library for AArch64; what its instructions do stands in aarch64_walk.h.

#include <algorithm>
#include <cstring>

#include "analyzers/native/aarch64_walk.h"
#include "analyzers/native/budget.h"
#include "analyzers/native/code_targets.h"
#include "analyzers/native/host_links.h"

namespace opseal {
namespace {

constexpr std::uint64_t word = 4;

std::uint32_t word_at(std::string_view code, std::size_t at) {
  std::uint32_t number;
  std::memcpy(&number, code.data() + at, sizeof number);
  return number;
}

}  // namespace

// A PLT entry: `adrp x16`, `ldr x17, [x16]`, `add x16`, `br x17`, maybe behind a `bti`.
std::uint64_t HostCode::behind_plt_aarch64(std::uint64_t address) const {
  constexpr std::uint32_t branch_by_x17 = 0xD61F0220;
  constexpr std::size_t most = 5;
  const std::string_view code = code_at(address, most * word);
  Aarch64Walk walk;
  std::uint64_t place = 0;
  for (std::size_t at = 0; at + word <= code.size(); at += word) {
    const std::uint32_t instruction = word_at(code, at);
    if (instruction == branch_by_x17) return place == 0 ? address : pointer_at(place);
    const Aarch64Step step = walk.next(instruction, address + at);
    if (step.kind == Aarch64Step::Kind::call || step.kind == Aarch64Step::Kind::jump) break;
    if (step.kind == Aarch64Step::Kind::pointer && step.to_register == 17) place = step.target;
  }
  return address;
}

void HostCode::references_aarch64(const CodeTargets& targets,
                                  std::vector<CodeReference>& references) const {
  Budget budget(elf_.file(), "code");
  for (const auto& [first, end] : elf_.code()) {
    const std::string_view code = code_at(first, end - first);
    budget.take(code.size(), elf_.file().offset());
    auto function =
        std::lower_bound(functions_.begin(), functions_.end(), first,
                         [](const auto& row, std::uint64_t wanted) { return row.first < wanted; });
    Aarch64Walk walk;
    for (std::size_t at = 0; at + word <= code.size(); at += word) {
      const std::uint64_t from = first + at;
      for (; function != functions_.end() && function->first <= from; ++function) walk.restart();
      const Aarch64Step step = walk.next(word_at(code, at), from);
      std::uint64_t to = 0;
      if (step.kind == Aarch64Step::Kind::address) to = targets.direct(step.target);
      if (step.kind == Aarch64Step::Kind::pointer) to = targets.indirect(step.target);
      if (to != 0) references.push_back({from, to, step.to_register});
    }
  }
}

CodeEdges HostCode::edges_aarch64(std::uint64_t function, std::string_view code) const {
  CodeEdges edges;
  Aarch64Walk walk;
  for (std::size_t at = 0; at + word <= code.size(); at += word) {
    const Aarch64Step step = walk.next(word_at(code, at), function + at);
    if (step.kind == Aarch64Step::Kind::none) continue;
    std::uint64_t target = step.target;
    if (step.kind == Aarch64Step::Kind::pointer) target = pointer_at(target);
    if (target != 0 && step.kind != Aarch64Step::Kind::jump) target = behind_plt_aarch64(target);
    if (step.kind == Aarch64Step::Kind::jump) {
      const std::uint64_t behind = behind_plt_aarch64(target);
      target = behind == target ? function_of(target) : behind;
    }
    if (target == 0 || target == function || !is_function(target)) continue;
    const bool called =
        step.kind == Aarch64Step::Kind::call || step.kind == Aarch64Step::Kind::jump;
    (called ? edges.calls : edges.loads).push_back(target);
  }
  return edges;
}

}  // namespace opseal
