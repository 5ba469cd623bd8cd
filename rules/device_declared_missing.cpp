#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/library_facts.h"
#include "rules/package_platform.h"

namespace opseal {
namespace {

// More platforms than any registry has.
constexpr std::size_t most_platforms = 64;

// Each word once.
std::vector<Fact> distinct(const Fact& list) {
  std::vector<Fact> words;
  for (const Fact word : list.items()) {
    if (!word.is_text() || words.size() > most_platforms) continue;
    const bool known = std::any_of(words.begin(), words.end(),
                                   [&](const Fact& other) { return other.name() == word.name(); });
    if (!known) words.push_back(word);
  }
  return words;
}

class ManifestCheck {
 public:
  ManifestCheck(const Fact& manifest, Sink& sink)
      : manifest_(manifest), sink_(sink), names_(manifest) {}

  // Strikes what a registration reaches off the list of declared platforms.
  void run(const Facts& facts) {
    waiting_ = distinct(manifest_[Key::platforms]);
    if (waiting_.empty() || waiting_.size() > most_platforms) return;
    const std::vector<Fact> declared = waiting_;
    bool any = false;
    for (const Fact op : manifest_[Key::operators].items()) {
      if (!all_read(op[Key::kernels])) return;
      for (const Fact kernel : op[Key::kernels].items()) {
        if (!kernel[Key::platform].is_text()) return;
        any = true;
        strike(kernel[Key::platform]);
        strike_word(kernel[Key::backend]);
      }
      for (const Fact platform : op[Key::stub_platforms].items()) strike(platform);
    }
    for (const Fact target : manifest_[Key::targets].items()) {
      if (!target[Key::platform].is_text()) return;
      any = true;
      strike(target[Key::platform]);
    }
    if (!any) return;
    for (const Fact dispatch : manifest_[Key::dispatch].items()) strike(dispatch[Key::backend]);
    for (const Fact platform : manifest_[Key::backend_fallbacks].items()) strike(platform);
    // Then `platform-empty` tells it, operator by operator.
    for (const Fact platform : required_platforms(facts, manifest_, names_)) strike(platform);
    std::erase_if(waiting_, [this](const Fact& platform) {
      return !platform_was_visible(manifest_, platform, names_);
    });
    sink_.inspected(declared.size());
    for (const Fact platform : waiting_) {
      Finding& finding = sink_.add(std::string(platform.text()),
                                   "declared platform " + quote(platform.text()) +
                                       " has 0 kernels and 0 targets in the whole manifest",
                                   evidence(platform, "declared here"));
      const Fact list = manifest_[Key::operators].size() > 0 ? manifest_[Key::operators]
                                                             : manifest_[Key::targets];
      finding.related.push_back(evidence(list, "registrations listed here"));
    }
  }

 private:
  void strike(const Fact& registered) {
    // Millions of registrations say a dozen words.
    if (waiting_.empty() || !registered.is_text() || registered.name() == last_) return;
    last_ = registered.name();
    std::erase_if(waiting_, [&](const Fact& asked) {
      return asked.name() == registered.name() || names_.reaches(asked, registered);
    });
  }
  void strike_word(const Fact& backend) {
    if (!waiting_.empty() && backend.is_text()) {
      std::erase_if(waiting_, [&](const Fact& asked) { return asked.name() == backend.name(); });
    }
  }

  Fact manifest_;
  Sink& sink_;
  PlatformNames names_;
  std::vector<Fact> waiting_;
  Name last_ = Names::missing;
};

bool is_gpu(const Platform& platform) {
  return platform.name == "gpu" || platform.hardware == "cuda" || platform.hardware == "rocm";
}

// Beginnings of the names of libraries through which host code reaches a device: runtimes and
// drivers, and frameworks that launch in its stead.
constexpr std::array<std::string_view, 15> device_libraries = {
    "libcu",  "libnv",  "libnccl", "libamd",    "libhip", "libroc",        "libmiopen", "librccl",
    "libtor", "libc10", "libjax",  "libtensor", "libonn", "libexecutorch", "libtvm"};

// The file holds no device code and nothing by which its code could get at any: it neither needs
// nor opens a library that could, imports nothing from one, and shows no framework's mark.
bool is_host_only(const Fact& content) {
  const Fact images = content[Key::images];
  const Fact needed = content[Key::needed];
  const Fact imports = content[Key::imports];
  if (!images.is_list() || images.size() > 0 || content[Key::bundles].size() > 0) return false;
  if (!all_read(needed) || !needed.is_list() || !imports.is_list()) return false;
  if (content[Key::registrars].size() > 0) return false;
  for (const Fact soname : needed.items()) {
    const std::string name = lower(soname.text());
    for (const std::string_view beginning : device_libraries) {
      if (name.starts_with(beginning)) return false;
    }
  }
  for (const Fact symbol : imports.items()) {
    const std::string_view name = symbol[Key::name].text();
    if (!symbol[Key::name].is_text() || name.starts_with("dlopen") || name.starts_with("cu") ||
        name.starts_with("hip") || name.starts_with("nv")) {
      return false;
    }
  }
  return true;
}

// Kernels for a GPU that name a library of host code alone: one finding for each library and
// platform.
class LibraryCheck {
 public:
  LibraryCheck(const LibraryFacts& libraries, const Fact& manifest, Sink& sink)
      : libraries_(libraries), manifest_(manifest), sink_(sink), names_(manifest) {}

  void run() {
    for (const Fact library : manifest_[Key::libraries].items()) {
      if (library[Key::path].is_text()) by_path_.emplace(library[Key::path].name(), library);
    }
    if (by_path_.empty()) return;
    for (const Fact op : manifest_[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        if (is_active_kernel(kernel) && !kernel[Key::stub].truth()) look(op, kernel);
      }
    }
    for (const auto& [place, told] : told_) tell(told);
  }

 private:
  struct Told {
    Fact content;
    Fact kernel;
    std::vector<std::string> operators;
  };

  void look(const Fact& op, const Fact& kernel) {
    const Fact library = kernel[Key::library];
    const Fact platform = kernel[Key::platform];
    if (!library.is_text() || !platform.is_text() || !is_gpu(names_.of(platform))) return;
    const auto found = by_path_.find(library.name());
    if (found == by_path_.end()) return;
    const Fact content = libraries_.content(found->second);
    if (!content[Key::images].is_list()) return;
    sink_.inspected();
    const auto [known, fresh] = host_only_.try_emplace(library.name(), false);
    if (fresh) known->second = is_host_only(content);
    if (!known->second) return;
    Told& told = told_[{library.name(), platform.name()}];
    if (told.operators.empty()) {
      told.content = content;
      told.kernel = kernel;
    }
    told.operators.push_back(subject_of(manifest_, op));
  }

  void tell(const Told& told) {
    const Fact library = told.kernel[Key::library];
    Finding& finding =
        sink_.add("library " + std::string(library.text()),
                  plural(told.operators.size(), "kernel") + " for " +
                      quote(told.kernel[Key::platform].text()) + " in " + quote(library.text()) +
                      ", which holds 0 device images and reaches no device library: " +
                      quote_list(told.operators, 3),
                  evidence(library, "named here for " + quote(told.kernel[Key::platform].text())));
    finding.related.push_back(
        evidence(told.content[Key::images], "device code of the file listed here"));
  }

  const LibraryFacts& libraries_;
  Fact manifest_;
  Sink& sink_;
  PlatformNames names_;
  std::unordered_map<Name, Fact> by_path_;
  std::unordered_map<Name, bool> host_only_;
  std::map<std::pair<Name, Name>, Told> told_;
};

void check(const Facts& facts, Sink& sink) {
  const LibraryFacts libraries(facts);
  for (const Document& document : facts.documents) {
    if (document.settings) continue;
    ManifestCheck(facts.root(document), sink).run(facts);
    LibraryCheck(libraries, facts.root(document), sink).run();
  }
  check_package_platform(facts, sink);
}

}  // namespace

extern constinit const Rule device_declared_missing{
    .id = "device-declared-missing",
    .title = "declared platform for which nothing is registered, or no code is in the file",
    .rationale =
        "The package says that it serves the device, and not one of its operators has a kernel "
        "there: the part that registers them was left out of the build, or its registrar never "
        "ran. Or kernels are registered for it from a file that holds no device code and no way to "
        "get at any. Or the package bears the device in its name (`ops-cu12`, `1.0+cu121`), and "
        "was "
        "built where no compiler for it was found, so that all of its libraries hold host code. "
        "Every call on that device fails, although the package was installed for it.",
    .example =
        R"({"opseal_manifest": 1, "system": "engine", "platforms": ["cpu", "cuda"],
 "operators": [{"name": "nms", "kernels": [{"platform": "cpu"}]}]})",
    .fix = "install or build the part for that platform, or do not declare it",
    .severity = Severity::error,
    .profile = Profile::strict,
    .inspects =
        "declared platform of a manifest whose registrations all say theirs, or kernel for a GPU "
        "from a library whose device code was looked for, or package that is named after a GPU and "
        "whose libraries were read",
    .reads = {Key::images, Key::needed, Key::imports, Key::registrars},
    .check = check,
};

}  // namespace opseal
