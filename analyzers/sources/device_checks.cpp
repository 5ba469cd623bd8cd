// Whose launches are checked, by the names that functions and macros of the whole tree use.

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzers/sources/device_launches.h"

namespace opseal {
namespace {

// Callers of callers that may check.
constexpr int most_callers = 12;
// Names that are called more often, or are shorter, are those of many functions.
constexpr std::size_t most_calls = 40;
constexpr std::size_t least_name = 6;
// A check so many calls above launches, of so many functions, is one for everything that the
// project computes, by ways that names don't always tell.
constexpr int afar = 3;
constexpr std::size_t many = 10;

using Hashes = std::unordered_set<std::uint32_t>;

class LaunchJoin {
 public:
  explicit LaunchJoin(const std::vector<LaunchCode*>& codes) : codes_(codes) {}

  std::vector<std::string> run() {
    find_macros();
    std::vector<std::uint32_t> reading;
    for (const LaunchCode* code : codes_) {
      for (const NamingCode& function : code->functions) {
        if (!reads(function)) continue;
        if (function.is_destructor) {
          guards_.insert(function.hash);
        } else {
          reading.push_back(function.hash);
        }
      }
    }
    reading_functions_.insert(reading.begin(), reading.end());
    for (std::uint32_t file = 0; file < codes_.size(); ++file) {
      LaunchCode* const code = codes_[file];
      for (std::uint32_t at = 0; !code->joined && at < code->functions.size(); ++at) {
        add_by_macros(file, at);
      }
      if (!code->joined) {
        std::stable_sort(code->launches.begin(), code->launches.end(),
                         [](const KernelLaunch& a, const KernelLaunch& b) {
                           return a.place.offset < b.place.offset;
                         });
      }
      code->joined = true;
      for (KernelLaunch& launch : code->launches) {
        const NamingCode& function = code->functions[launch.function];
        launch.checked = launch.checked || last_read(function, true) > launch.at;
      }
    }
    ask_callers();
    for (LaunchCode* code : codes_) code->checked_from_afar = checked_from_afar_;
    return open_names();
  }

 private:
  // Macros that lead to a read of the error, and to a launch, through others too.
  void find_macros() {
    std::unordered_multimap<std::uint32_t, const NamingCode*> used_by;
    std::vector<const NamingCode*> reading;
    std::vector<const NamingCode*> launching;
    Hashes macros;
    for (const LaunchCode* code : codes_) {
      for (const NamingCode& macro : code->macros) macros.insert(macro.hash);
    }
    for (const LaunchCode* code : codes_) {
      for (const NamingCode& macro : code->macros) {
        for (const NameUse& use : macro.uses) {
          if (macros.contains(use.hash)) used_by.emplace(use.hash, &macro);
        }
        if (macro.reads_error) reading.push_back(&macro);
        if (macro.launches) launching.push_back(&macro);
      }
    }
    while (!reading.empty()) {
      const std::uint32_t hash = reading.back()->hash;
      reading.pop_back();
      if (!readers_.insert(hash).second) continue;
      const auto [first, end] = used_by.equal_range(hash);
      for (auto at = first; at != end; ++at) reading.push_back(at->second);
    }
    while (!launching.empty()) {
      const NamingCode* const macro = launching.back();
      launching.pop_back();
      if (!launchers_.try_emplace(macro->hash, macro).second) continue;
      const auto [first, end] = used_by.equal_range(macro->hash);
      for (auto at = first; at != end; ++at) launching.push_back(at->second);
    }
  }

  bool reads(const NamingCode& function) const {
    return function.reads_error ||
           std::any_of(function.uses.begin(), function.uses.end(),
                       [&](const NameUse& use) { return readers_.contains(use.hash); });
  }

  // Index of the last token by which a function reads the error of a launch. What a reading
  // function gets as arguments comes before it reads (`within`); a call of one says of itself
  // nothing.
  std::uint32_t last_read(const NamingCode& function, bool within) const {
    std::uint32_t last = function.last_read;
    for (const NameUse& use : function.uses) {
      if (use.hash == function.hash) continue;
      if (readers_.contains(use.hash))
        last = std::max(last, within ? std::max(use.last, use.call_end) : use.last);
      if (reading_functions_.contains(use.hash))
        last = std::max(last, within ? use.call_end : use.last_call);
      if (guards_.contains(use.hash)) last = no_token;
    }
    return last;
  }

  void add_by_macros(std::uint32_t file, std::uint32_t at) {
    LaunchCode& code = *codes_[file];
    const NamingCode& function = code.functions[at];
    for (const NameUse& use : function.uses) {
      const auto found = launchers_.find(use.hash);
      if (found == launchers_.end()) continue;
      KernelLaunch launch;
      launch.kernel = found->second->kernel;
      launch.macro = found->second->name;
      launch.function = at;
      launch.at = use.first;
      launch.checked = readers_.contains(use.hash);
      launch.place = {file, use.offset, use.length};
      code.launches.push_back(std::move(launch));
    }
  }

  // Where a name of a function stands in another one.
  struct Call {
    std::uint32_t caller = 0;
    // An error is read after it.
    bool checked = false;
  };

  void find_calls() {
    Hashes names;
    for (const LaunchCode* code : codes_) {
      for (const NamingCode& function : code->functions) {
        names.insert(function.hash);
        if (function.owner != 0) names.insert(function.owner);
        ++definitions_[function.hash];
      }
    }
    for (const LaunchCode* code : codes_) {
      for (const NamingCode& function : code->functions) {
        const std::uint32_t last = last_read(function, false);
        for (const NameUse& use : function.uses) {
          if (use.hash == function.hash || !names.contains(use.hash)) continue;
          calls_[use.hash].push_back({function.hash, last > use.first});
        }
      }
    }
  }

  // The callers of functions with a launch that isn't checked there, theirs, and so on.
  void ask_callers() {
    find_calls();
    Hashes known;
    std::vector<std::uint32_t> level;
    for (const std::uint32_t name : unchecked()) {
      if (known.insert(name).second) level.push_back(name);
    }
    std::vector<std::uint32_t> covered;
    for (int depth = 1; depth <= most_callers && !level.empty(); ++depth) {
      std::vector<std::uint32_t> next;
      for (const std::uint32_t name : level) {
        bool checked = false;
        for (const Call& call : calls_[name]) {
          checked = checked || call.checked;
          if (!known.insert(call.caller).second) continue;
          if (is_single(call.caller)) next.push_back(call.caller);
        }
        if (checked) covered.push_back(name);
        if (checked && depth >= afar && is_single(name)) note_far_check(name);
      }
      level = std::move(next);
    }
    // Down again, to all that those call whose callers check.
    Hashes served(covered.begin(), covered.end());
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::uint32_t name : known) {
        if (served.contains(name)) continue;
        const std::vector<Call>& calls = calls_[name];
        if (std::any_of(calls.begin(), calls.end(),
                        [&](const Call& call) { return served.contains(call.caller); })) {
          served.insert(name);
          changed = true;
        }
      }
    }
    for (LaunchCode* code : codes_) {
      for (KernelLaunch& launch : code->launches) {
        const NamingCode& function = code->functions[launch.function];
        launch.checked =
            launch.checked || served.contains(function.hash) || is_owner_checked(function);
      }
    }
  }

  // A class handed to a template that calls its member: `dispatch<Functor>(…)`.
  bool is_owner_checked(const NamingCode& function) const {
    const auto calls = calls_.find(function.owner);
    return function.owner != 0 && calls != calls_.end() &&
           std::any_of(calls->second.begin(), calls->second.end(),
                       [](const Call& call) { return call.checked; });
  }

  // Who checks for so many functions does it for everything that the project computes.
  void note_far_check(std::uint32_t name) {
    for (const Call& call : calls_[name]) {
      if (!call.checked) continue;
      std::size_t& served = served_by_[call.caller];
      served += definitions_[name];
      checked_from_afar_ = checked_from_afar_ || served >= many;
    }
  }

  // A name that is called like that of one function.
  bool is_single(std::uint32_t name) { return calls_[name].size() <= most_calls; }

  std::vector<std::uint32_t> unchecked() const {
    std::vector<std::uint32_t> names;
    for (const LaunchCode* code : codes_) {
      for (const KernelLaunch& launch : code->launches) {
        if (!launch.checked) names.push_back(code->functions[launch.function].hash);
      }
    }
    return names;
  }

  // Of functions with a launch that nobody checks, and of all that call them.
  std::vector<std::string> open_names() {
    // More files would change nothing.
    if (checked_from_afar_) return {};
    Hashes open;
    std::vector<std::uint32_t> waiting = unchecked();
    while (!waiting.empty()) {
      const std::uint32_t name = waiting.back();
      waiting.pop_back();
      if (!is_single(name) || !open.insert(name).second) continue;
      for (const Call& call : calls_[name]) waiting.push_back(call.caller);
    }
    std::set<std::string> names;
    for (const LaunchCode* code : codes_) {
      for (const NamingCode& function : code->functions) {
        if (function.name.size() >= least_name && open.contains(function.hash)) {
          names.insert(function.name);
        }
      }
    }
    return {names.begin(), names.end()};
  }

  const std::vector<LaunchCode*>& codes_;
  // By the name that is called.
  std::unordered_map<std::uint32_t, std::vector<Call>> calls_;
  // How many functions have a name, and for how many a far caller reads the error.
  std::unordered_map<std::uint32_t, std::size_t> definitions_;
  std::unordered_map<std::uint32_t, std::size_t> served_by_;
  bool checked_from_afar_ = false;
  // Names of macros and of functions that read the error.
  Hashes readers_;
  Hashes reading_functions_;
  // Classes whose destructor does, so that a function with an object of one reads it at its end.
  Hashes guards_;
  // Macros that start a kernel.
  std::unordered_map<std::uint32_t, const NamingCode*> launchers_;
};

}  // namespace

std::vector<std::string> join_launches(const std::vector<LaunchCode*>& codes) {
  return LaunchJoin(codes).run();
}

}  // namespace opseal
