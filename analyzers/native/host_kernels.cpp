#include <algorithm>
#include <unordered_set>

#include "analyzers/native/host_links.h"
#include "analyzers/native/read_only_data.h"

namespace opseal {
namespace {

// For each kernel a static initializer calls
//
//   __cudaRegisterFunction(handle, stub, name, name, -1, 0, 0, 0, 0, 0)
//
// The loads of stub (second argument: rsi) and name stand within a few instructions of each other,
// in either order, and before the call.
constexpr std::uint64_t nearby = 64;
constexpr std::uint8_t second_argument = 6;
constexpr std::uint64_t load_length = 7;

// Without optimization the stub goes through another register, which is second best.
struct Nearest {
  std::uint64_t stub = 0;
  bool in_place = false;

  void offer(const CodeReference& load) {
    if (load.to == 0 || in_place) return;
    if (load.to_register == second_argument) {
      in_place = true;
      stub = load.to;
    } else if (stub == 0) {
      stub = load.to;
    }
  }
};

std::uint64_t stub_near(const HostCode& code, std::uint64_t name_load) {
  Nearest nearest;
  for (std::uint64_t at = name_load + load_length; at < name_load + nearby; ++at) {
    if (code.is_call_at(at)) break;
    nearest.offer(code.code_load_at(at));
  }
  if (nearest.in_place) return nearest.stub;
  const std::uint64_t first = name_load > nearby ? name_load - nearby : 0;
  for (std::uint64_t at = name_load; at-- > first;) {
    if (code.is_call_at(at)) break;
    nearest.offer(code.code_load_at(at));
  }
  return nearest.stub;
}

}  // namespace

std::vector<HostKernel> find_host_kernels(const HostCode& code,
                                          const std::vector<std::string_view>& names) {
  const std::vector<NamePlace> places = locate_names(code.elf(), names);
  std::vector<std::uint64_t> addresses;
  for (const NamePlace& place : places) addresses.push_back(place.address);
  std::vector<bool> there(names.size());
  std::vector<std::uint64_t> stubs(names.size());
  for (const NamePlace& place : places) there[place.name] = true;
  for (const CodeReference& reference : code.references_to(addresses)) {
    auto place = std::lower_bound(
        places.begin(), places.end(), reference.to,
        [](const NamePlace& row, std::uint64_t address) { return row.address < address; });
    for (; place != places.end() && place->address == reference.to; ++place) {
      std::uint64_t& stub = stubs[place->name];
      if (stub == 0) stub = stub_near(code, reference.from);
    }
  }
  std::vector<HostKernel> kernels;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (there[i]) kernels.push_back({names[i], stubs[i]});
  }
  return kernels;
}

std::vector<std::string_view> reachable_kernels(HostCode& code,
                                                const std::vector<HostKernel>& kernels,
                                                std::uint64_t address) {
  std::unordered_set<std::uint64_t> seen;
  std::vector<std::uint64_t> waiting;
  const auto visit = [&](std::uint64_t function) {
    if (function != 0 && seen.insert(function).second) waiting.push_back(function);
  };
  visit(code.function_of(address));
  while (!waiting.empty()) {
    const std::uint64_t function = waiting.back();
    waiting.pop_back();
    const CodeEdges& edges = code.edges(function);
    for (const std::uint64_t next : edges.calls) visit(next);
    for (const std::uint64_t next : edges.loads) visit(next);
  }
  std::vector<std::string_view> reached;
  for (const HostKernel& kernel : kernels) {
    if (kernel.stub != 0 && seen.contains(code.function_of(kernel.stub))) {
      reached.push_back(kernel.name);
    }
  }
  return reached;
}

}  // namespace opseal
