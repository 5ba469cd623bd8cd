#include "rules/kernel_coverage.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/declared_dtypes.h"
#include "rules/device_kernels.h"
#include "rules/kernel_dtypes.h"
#include "rules/library_handlers.h"
#include "rules/named_targets.h"
#include "rules/system_libraries.h"

namespace opseal {
namespace {

// Device kernels that are looked at behind all registrations together; behind a handler stand a few
// hundred.
constexpr std::size_t most_looked_at = 2000000;
// Dtypes that one registration declares.
constexpr std::uint32_t most_declared = 64;

bool is_gpu(const Platform& platform) {
  return platform.name == "gpu" || platform.hardware == "cuda";
}

// Nothing but the CUDA runtime and what every system has: no library of kernels (cuBLAS, torch)
// that may serve what its own kernels don't.
bool has_all_kernels(const Fact& content) {
  const Fact needed = content[Key::needed];
  if (!needed.is_list() || !all_read(needed) || content[Key::bundles].size() > 0) return false;
  for (const Fact soname : needed.items()) {
    const std::string_view name = soname.text();
    const bool runtime = name.starts_with("libcudart.so") || name.starts_with("libcuda.so");
    if (!runtime && !is_base_library(PlatformBase::manylinux, name)) return false;
  }
  return true;
}

std::string_view last_part(std::string_view path) {
  const std::size_t colons = path.rfind("::");
  return colons == path.npos ? path : path.substr(colons + 2);
}

// The device kernels of one library, by function, with the dtypes of their names.
class NamedKernels {
 public:
  explicit NamedKernels(const Fact& content) : kernels_(content) {
    if (!kernels_.whole()) return;
    kernels_.for_each_name([this](std::span<const KernelRow> rows) {
      const Name name = rows.front().name;
      const std::string_view text = kernels_.text(name);
      const std::uint64_t function = read_function_name(text).hash;
      functions_[function].push_back(name);
      function_of_.emplace(name, function);
      by_word_[std::string(last_part(function_path(text)))].push_back(name);
      all_.push_back(name);
    });
  }

  bool whole() const { return kernels_.whole() && !all_.empty(); }
  const std::vector<Name>& all() const { return all_; }
  std::string list(const std::vector<Name>& names) const { return kernel_list(kernels_, names); }
  // Equal for all instantiations of one function. Needs: an image holds the kernel.
  std::uint64_t function_of(Name name) const { return function_of_.at(name); }

  // Those whose function has that name, in whatever namespace.
  std::vector<Name> called(std::string_view function) const {
    const auto found = by_word_.find(std::string(last_part(function)));
    return found == by_word_.end() ? std::vector<Name>() : found->second;
  }
  // All instantiations of the functions of `some`.
  std::vector<Name> instantiations(const std::vector<Name>& some) const {
    std::vector<Name> names;
    std::unordered_set<std::uint64_t> seen;
    for (const Name name : some) {
      const auto function = function_of_.find(name);
      // A name that the file lists and no image holds.
      if (function == function_of_.end()) return {};
      if (!seen.insert(function->second).second) continue;
      const std::vector<Name>& found = functions_.at(function->second);
      names.insert(names.end(), found.begin(), found.end());
    }
    return names;
  }
  const KernelDtypes& dtypes(Name name) {
    const auto [place, fresh] = dtypes_.try_emplace(name);
    if (fresh) place->second = read_kernel_dtypes(kernels_.text(name));
    return place->second;
  }

 private:
  DeviceKernels kernels_;
  std::vector<Name> all_;
  std::unordered_map<std::uint64_t, std::vector<Name>> functions_;
  std::unordered_map<Name, std::uint64_t> function_of_;
  std::unordered_map<std::string, std::vector<Name>> by_word_;
  std::unordered_map<Name, KernelDtypes> dtypes_;
};

// The kernels that serve one registration.
struct Served {
  std::vector<Name> names;
  // How they were found, for the message.
  std::string by;
  // Where it is said.
  Fact where;
  // Nothing tells which of the library's kernels they are.
  bool whole_library = false;
};

class CoverageCheck {
 public:
  CoverageCheck(const Facts& facts, Sink& sink)
      : sink_(sink), libraries_(facts), named_(libraries_), handlers_(libraries_), words_(facts) {}

  bool can_judge() const { return !named_.empty(); }

  void judge(const Fact& manifest) {
    targets_ = NamedTargets(manifest);
    PlatformNames platforms(manifest);
    for (const Fact op : manifest[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        if (!is_active_kernel(kernel) || kernel[Key::stub].truth()) continue;
        if (!kernel[Key::platform].is_text() || !is_gpu(platforms.of(kernel[Key::platform])))
          continue;
        judge(manifest, op, kernel);
      }
    }
  }

 private:
  NamedKernels* kernels_of(const Fact& content) {
    const auto [place, fresh] = kernels_.try_emplace(content.index());
    if (fresh && has_all_kernels(content)) place->second = std::make_unique<NamedKernels>(content);
    NamedKernels* kernels = place->second.get();
    return kernels != nullptr && kernels->whole() ? kernels : nullptr;
  }

  // What the kernel says it takes, or its operator for all kernels. Empty where it is not whole.
  static std::vector<Fact> declared(const Fact& op, const Fact& kernel) {
    std::vector<Fact> words;
    if (kernel[Key::dtypes].said() || kernel[Key::signatures].said()) {
      if (!for_each_first_dtype(kernel, [&words](const Fact& text) { words.push_back(text); })) {
        return {};
      }
    } else {
      for (const Fact text : declared_dtypes(op).items()) words.push_back(text);
    }
    if (words.size() > most_declared) return {};
    return words;
  }

  Served served_by(const Fact& manifest, const Fact& site, const Fact& content,
                   const NamedKernels& kernels) const {
    const Fact handler = handlers_.of(manifest, site);
    const Fact reaches = handler[Key::reaches];
    if (reaches.size() > 0 && all_read(reaches) && !handler[Key::ambiguous].truth()) {
      Served served{{}, "that " + quote(handler[Key::symbol].text()) + " reaches", reaches, false};
      for (const Fact name : reaches.items()) served.names.push_back(name.name());
      served.names = kernels.instantiations(served.names);
      return served;
    }
    // A handler that leads to none by any way that can be seen: it calls through a table.
    for (const Fact name : {site[Key::symbol], site[Key::function][Key::name]}) {
      if (!name.is_text()) continue;
      std::vector<Name> names = kernels.called(name.text());
      if (!names.empty()) {
        return {std::move(names), "named " + quote(name.text()), content[Key::images], false};
      }
    }
    return {kernels.all(), {}, content[Key::images], true};
  }

  void judge(const Fact& manifest, const Fact& op, const Fact& kernel) {
    const Fact at = targets_.site(kernel);
    if (!at[Key::library].is_text()) return;
    const Fact content = named_.find(manifest, at[Key::library].text());
    if (!content.said()) return;
    const std::vector<Fact> words = declared(op, kernel);
    if (words.size() < 2) return;
    NamedKernels* kernels = kernels_of(content);
    if (kernels == nullptr) return;
    const Served served = served_by(manifest, at, content, *kernels);
    looked_at_ += served.names.size();
    if (served.names.empty() || looked_at_ > most_looked_at) return;
    std::vector<Fact> found;
    std::vector<Fact> missing;
    for (const Fact word : words) {
      const Dtype* dtype = words_.read(word).dtype;
      if (dtype == nullptr || !is_comparable(*dtype)) continue;
      (is_taken(*kernels, served, *dtype) ? found : missing).push_back(word);
    }
    std::vector<Fact> moved;
    for (const Fact word : missing) {
      if (may_be_moved(*kernels, served, *words_.read(word).dtype)) moved.push_back(word);
    }
    const std::size_t shown = instantiated_for(*kernels, served, found);
    if (shown == 0 || (served.whole_library && shown < 2)) return;
    for (const Name name : served.names) {
      const KernelDtypes& dtypes = kernels->dtypes(name);
      // In the whole library, those that say nothing serve something else.
      if (served.whole_library ? dtypes.unclear : !dtypes.clear) return;
    }
    sink_.inspected();
    if (missing.empty()) return;
    // What is sure is told alone.
    const bool sure = moved.size() < missing.size();
    if (sure) {
      std::erase_if(missing, [&moved](const Fact& word) {
        return std::any_of(moved.begin(), moved.end(),
                           [&word](const Fact& other) { return other.name() == word.name(); });
      });
    }
    tell(manifest, op, kernel, served, missing, *kernels,
         sure && shown > 1 && !served.whole_library);
  }

  // One dtype in all systems, of which a kernel computes with whole elements.
  static bool is_comparable(const Dtype& dtype) {
    return dtype.first.empty() && dtype.bits >= 8 && dtype.kind != DtypeKind::opaque &&
           dtype.kind != DtypeKind::block && !dtype.name.starts_with('q');
  }

  static bool is_taken(NamedKernels& kernels, const Served& served, const Dtype& dtype) {
    return std::any_of(served.names.begin(), served.names.end(),
                       [&](Name name) { return kernels.dtypes(name).may_take(dtype); });
  }

  // A kernel that only moves elements (a gather, a transpose) serves others of their width, too:
  // whole numbers by one for floats, and floats by one for whole numbers. Two floating formats of
  // one width aren't mixed up so; each has its own instantiation.
  static bool may_be_moved(NamedKernels& kernels, const Served& served, const Dtype& dtype) {
    return std::any_of(served.names.begin(), served.names.end(), [&](Name name) {
      const std::vector<const Dtype*>& all = kernels.dtypes(name).all;
      return std::any_of(all.begin(), all.end(), [&dtype](const Dtype* said) {
        return said->bits == dtype.bits && said->kind != dtype.kind;
      });
    });
  }

  // How many of these dtypes one function is instantiated for, at one place of its template
  // arguments; 1 counts only where a parameter points to elements of it. That is what shows that
  // the place is that of the data's type.
  std::size_t instantiated_for(NamedKernels& kernels, const Served& served,
                               const std::vector<Fact>& found) {
    std::map<std::pair<std::uint64_t, std::size_t>, std::vector<const Dtype*>> places;
    std::size_t most = 0;
    for (const Name name : served.names) {
      const KernelDtypes& dtypes = kernels.dtypes(name);
      const std::uint64_t function = kernels.function_of(name);
      for (std::size_t at = 0; at < dtypes.arguments.size(); ++at) {
        const Dtype* dtype = dtypes.arguments[at];
        if (dtype == nullptr) continue;
        const auto is_same = [&](const Fact& word) {
          return same_dtype(*words_.read(word).dtype, *dtype);
        };
        if (std::none_of(found.begin(), found.end(), is_same)) continue;
        const auto& pointees = dtypes.pointees;
        if (std::find(pointees.begin(), pointees.end(), dtype) == pointees.end()) continue;
        std::vector<const Dtype*>& seen = places[{function, at}];
        if (std::find(seen.begin(), seen.end(), dtype) == seen.end()) seen.push_back(dtype);
        most = std::max(most, seen.size());
      }
    }
    return most;
  }

  void tell(const Fact& manifest, const Fact& op, const Fact& kernel, const Served& served,
            const std::vector<Fact>& missing, const NamedKernels& kernels, bool certain) {
    std::vector<std::string> names;
    for (const Fact text : missing) names.emplace_back(text.text());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::string message = "declares " + quote_list(names) + " for " +
                          quote(kernel[Key::platform].text()) + "; of the " +
                          plural(served.names.size(), "device kernel");
    message += served.by.empty() ? " of its library" : ' ' + served.by;
    message += " none is for " + std::string(names.size() == 1 ? "it" : "these") + ": " +
               kernels.list(served.names);
    Finding& finding = sink_.add(subject_of(manifest, op), std::move(message),
                                 evidence(missing.front(), "declared here" + site_of(op)));
    finding.related.push_back(evidence(served.where, "kernels in the library"));
    // Values may be converted before the call, where it is one function that is for one dtype only.
    if (certain) return;
    finding.severity = Severity::warning;
  }

  Sink& sink_;
  LibraryFacts libraries_;
  NamedLibraries named_;
  LibraryHandlers handlers_;
  DtypeWords words_;
  NamedTargets targets_;
  // By content.
  std::unordered_map<std::uint32_t, std::unique_ptr<NamedKernels>> kernels_;
  std::size_t looked_at_ = 0;
};

}  // namespace

void check_kernel_coverage(const Facts& facts, Sink& sink) {
  CoverageCheck check(facts, sink);
  if (!check.can_judge()) return;
  for (const Document& document : facts.documents) {
    if (!document.settings && !document.named) check.judge(facts.root(document));
  }
}

}  // namespace opseal
