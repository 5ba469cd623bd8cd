#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "opseal/rule.h"
#include "rules/device_kernels.h"
#include "rules/fleet_words.h"
#include "rules/library_groups.h"

namespace opseal {

// A set of members of the fleet: bits are indices into the fleet that `FleetCoverage` was given.
using FleetMembers = std::uint64_t;

inline bool has_member(FleetMembers members, std::size_t at) { return (members >> at & 1) != 0; }

// The members on which a kernel, or a library, runs.
struct Served {
  // By machine code.
  FleetMembers runs = 0;
  // By PTX that the driver compiles, if nothing else.
  FleetMembers compiles = 0;

  FleetMembers all() const { return runs | compiles; }
  void add(const Served& other) {
    runs |= other.runs;
    compiles |= other.compiles;
  }
};

// The libraries that lie together.
struct FleetPackage {
  // Members that any of them serves.
  FleetMembers served = 0;
  // There is one.
  bool single = false;
};

// One library, held against the fleet, kernel by kernel.
class FleetCoverage {
 public:
  // What is handed over must outlive it. The fleet has one to 64 members.
  FleetCoverage(const PlacedLibrary& library, const DeviceKernels& kernels,
                const std::vector<FleetMember>& fleet, Sink& sink);

  const DeviceKernels& kernels() const { return kernels_; }
  // Members that some kernel of the library serves.
  FleetMembers any() const { return any_; }
  // Those that a kernel with these rows serves.
  Served served(std::span<const KernelRow> rows) const;

  // Tells what is lacking. `others`: what variants of the library serve, by kernel; `variants`:
  // members that they serve.
  void tell(const std::unordered_map<Name, Served>& others, FleetMembers variants,
            const FleetPackage& package);

 private:
  // What the library lacks for one member.
  struct Lack {
    std::vector<Name> kernels;
    // Made for the features of other devices (`a`, `f`), or named after another architecture: it is
    // for those on purpose.
    std::vector<Name> specific;
  };
  struct Candidate {
    Name name;
    FleetMembers lacks;
  };

  std::vector<Candidate> find_candidates(const std::unordered_map<Name, Served>& others);
  void find_serving();
  void sort_in(Name name, std::size_t at, Lack& lack) const;
  std::vector<Architecture> architectures_of(const std::vector<Name>& names,
                                             bool machine_code) const;
  void tell_kernels(std::size_t at, const Lack& lack);
  void tell_library(std::size_t at, const Lack& lack, const FleetPackage& package);
  std::string there_text(std::size_t at, const std::vector<Name>& names) const;
  std::string compiled_text(std::size_t at) const;
  Finding& add(std::size_t at, Name example, std::string message);

  const PlacedLibrary& placed_;
  const DeviceKernels& kernels_;
  const std::vector<FleetMember>& fleet_;
  Sink& sink_;
  std::unordered_set<Name> unregistered_;
  // By image.
  std::vector<Served> by_image_;
  FleetMembers any_ = 0;
  // Member -> kernels that it gets only from PTX.
  std::map<std::size_t, std::uint64_t> compiled_;
  std::uint64_t names_ = 0;
  Functions functions_;
  // For each member, those of the library's devices whose code serves it.
  std::vector<DeviceSet> serving_;
};

}  // namespace opseal
