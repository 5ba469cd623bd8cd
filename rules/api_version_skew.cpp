#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/async_slots.h"
#include "rules/jax_requirements.h"
#include "rules/library_handlers.h"
#include "rules/xla_versions.h"

namespace opseal {
namespace {

// Requirements of a package, or packages of an environment, that are looked through.
constexpr std::uint32_t most_packages = 4096;

// A runtime that shall take the handlers.
struct Runtime {
  Release release{};
  ApiVersion api{};
  Fact where;
  // The package as its input names it.
  std::string name;
  // The oldest one that a package allows, rather than the one that is there.
  bool floor = false;
};

std::optional<Runtime> installed(const Fact& manifest) {
  const Fact packages = manifest[Key::producer][Key::packages];
  if (packages.size() > most_packages) return std::nullopt;
  for (const std::string_view name : {"jaxlib", "jax"}) {
    const Fact version = packages.at(name);
    const std::optional<Release> release = read_release(version.text());
    if (!release) continue;
    const std::optional<ApiVersion> api = api_of_jaxlib(*release);
    if (!api || *release > newest_known_jaxlib) continue;
    return Runtime{*release, *api, version, std::string(name), false};
  }
  return std::nullopt;
}

// The oldest release that a requirement lets in.
std::optional<Runtime> required(const Fact& requirement) {
  const std::optional<JaxRequirement> read = read_jax_requirement(requirement.text());
  const std::optional<ApiVersion> api = read ? api_of_jaxlib(read->oldest) : std::nullopt;
  if (!api || read->oldest > newest_known_jaxlib) return std::nullopt;
  return Runtime{read->oldest, *api, requirement, std::string(read->name), !read->exact};
}

// Versions of the headers that make such a handler; without `max`, any from `min` on.
struct ApiRange {
  std::optional<ApiVersion> min;
  std::optional<ApiVersion> max;
};

ApiRange versions_of(const Fact& handler) {
  const Fact versions = handler[Key::api_versions];
  return {read_api_version(versions[Key::min].text()), read_api_version(versions[Key::max].text())};
}

bool keeps_state(const Fact& handler) {
  for (const Fact context : handler[Key::contexts].items()) {
    if (context.text().starts_with("state<")) return true;
  }
  return false;
}

std::string handler_text(const Fact& handler) {
  return handler[Key::symbol].is_text() ? quote(handler[Key::symbol].text()) : "a handler";
}

class SkewCheck {
 public:
  SkewCheck(const Facts& facts, Sink& sink)
      : facts_(facts), sink_(sink), libraries_(facts), handlers_(libraries_) {}

  void run() {
    for (const Document& document : facts_.documents) {
      if (document.settings || document.named) continue;
      targets(facts_.root(document));
    }
    if (handlers_in_libraries()) {
      for (const LibraryGroup& group : library_groups(libraries_)) {
        judge_group(group);
        check_async_slots(group, sink_);
      }
    }
  }

 private:
  bool handlers_in_libraries() const {
    return facts_.said[static_cast<std::size_t>(Key::handlers)];
  }

  // What a target says of itself, against the runtime it was registered with and the file.
  void targets(const Fact& manifest) {
    if (!facts_.said[static_cast<std::size_t>(Key::ffi_version)]) return;
    const std::optional<Runtime> runtime = installed(manifest);
    for (const Fact target : manifest[Key::targets].items()) {
      const Fact said = target[Key::ffi_version];
      if (!said[Key::major].is_count() || !said[Key::minor].is_count()) continue;
      const ApiVersion version = {said[Key::major].count(), said[Key::minor].count()};
      const std::string subject = "target " + std::string(target[Key::name].text());
      if (runtime) {
        sink_.inspected();
        if (version > runtime->api) {
          Finding& finding =
              sink_.add(subject,
                        "API version " + to_text(version) + ", " + runtime_text(*runtime) +
                            " takes none above " + to_text(runtime->api),
                        evidence(said, "version of the handler" + site_of(target)));
          finding.related.push_back(evidence(runtime->where, "runtime"));
        }
      }
      const Fact handler = handlers_.of(manifest, target);
      const ApiRange range = versions_of(handler);
      if (!range.min) continue;
      sink_.inspected();
      if (version >= *range.min && (!range.max || version <= *range.max)) continue;
      Finding& finding = sink_.add(subject,
                                   "registered with API version " + to_text(version) +
                                       ", the library holds a handler of " + range_text(range),
                                   evidence(said, "version at registration" + site_of(target)));
      finding.related.push_back(evidence(handler, "handler in the library"));
      finding.fix = "register the library again: the file is not the one that was registered";
    }
  }

  static std::string range_text(const ApiRange& range) {
    if (!range.max) return to_text(*range.min) + " or newer";
    if (range.min == range.max) return to_text(*range.min);
    return to_text(*range.min) + " to " + to_text(*range.max);
  }

  static std::string runtime_text(const Runtime& runtime) {
    return quote(runtime.name + ' ' + to_text(runtime.release));
  }

  void judge_group(const LibraryGroup& group) {
    std::vector<Runtime> runtimes;
    std::uint32_t last = 0;
    for (const PlacedLibrary& one : group) {
      if (one.manifest.index() == last && !runtimes.empty()) continue;
      last = one.manifest.index();
      if (std::optional<Runtime> runtime = installed(one.manifest)) runtimes.push_back(*runtime);
      const Fact requirements = one.manifest[Key::distribution][Key::requires_];
      if (requirements.size() > most_packages) continue;
      for (const Fact requirement : requirements.items()) {
        if (std::optional<Runtime> runtime = required(requirement)) runtimes.push_back(*runtime);
      }
      if (runtimes.size() > 16) break;
    }
    // A package may ask for both `jax` and `jaxlib`; then the newer floor holds.
    drop_lower_floors(runtimes);
    for (const Runtime& runtime : runtimes) {
      for (const PlacedLibrary& one : group) judge_library(one, runtime);
    }
  }

  static void drop_lower_floors(std::vector<Runtime>& runtimes) {
    Release highest{};
    for (const Runtime& runtime : runtimes) {
      if (runtime.floor) highest = std::max(highest, runtime.release);
    }
    bool kept = false;
    std::erase_if(runtimes, [&](const Runtime& runtime) {
      if (!runtime.floor) return false;
      if (runtime.release < highest || kept) return true;
      kept = true;
      return false;
    });
  }

  void judge_library(const PlacedLibrary& one, const Runtime& runtime) {
    Fact newer;
    Fact stateful;
    std::uint64_t count = 0;
    ApiVersion needed{};
    for (const Fact handler : one.content[Key::handlers].items()) {
      const ApiRange range = versions_of(handler);
      if (!range.min || handler[Key::ambiguous].truth()) continue;
      sink_.inspected();
      if (*range.min > runtime.api) {
        if (!newer.said() || *range.min > needed) {
          newer = handler;
          needed = *range.min;
        }
        ++count;
      }
      // Before 0.3 state was kept for the whole handler, and set by a call of the size that now
      // means another layout.
      if (range.max && *range.max <= ApiVersion{0, 1} && runtime.api >= ApiVersion{0, 3} &&
          keeps_state(handler) && !stateful.said()) {
        stateful = handler;
      }
    }
    const std::string subject = "library " + std::string(one.path());
    if (newer.said()) {
      std::string message = handler_text(newer) + " needs API version " + to_text(needed) + ", " +
                            runtime_text(runtime) + (runtime.floor ? ", which is allowed," : "") +
                            " has " + to_text(runtime.api);
      if (count == 2) message += "; so does another handler";
      if (count > 2) message += "; so do " + std::to_string(count - 1) + " other handlers";
      Finding& finding = sink_.add(subject, std::move(message), evidence(newer, "handler"));
      finding.related.push_back(
          evidence(runtime.where, runtime.floor ? "oldest runtime that is allowed" : "runtime"));
      const std::string_view first = first_jaxlib(needed);
      if (!first.empty()) {
        finding.fix =
            "build it with the headers of the oldest runtime that it shall run under, or "
            "ask for " +
            quote(runtime.name + ">=" + std::string(first));
      }
    }
    if (stateful.said()) {
      Finding& finding = sink_.add(
          subject,
          handler_text(stateful) + " keeps state and has API version 0.1, " +
              runtime_text(runtime) + " reads the state of 0.3 and later in another layout",
          evidence(stateful, "handler"));
      finding.severity = Severity::warning;
      finding.related.push_back(evidence(runtime.where, "runtime"));
      finding.fix = "build it again with the headers of that runtime";
    }
  }

  const Facts& facts_;
  Sink& sink_;
  LibraryFacts libraries_;
  LibraryHandlers handlers_;
};

void check(const Facts& facts, Sink& sink) { SkewCheck(facts, sink).run(); }

}  // namespace

extern constinit const Rule api_version_skew{
    .id = "api-version-skew",
    .title = "handler of a newer interface than the runtime that shall call it",
    .rationale =
        "A handler carries the version of the headers that it was compiled with, and a runtime "
        "takes only those that are not newer than itself. Registration with a newer one looks as "
        "if it had worked, and every call says that no such handler is registered. A package that "
        "was built with the newest headers and allows older runtimes works on the machine of its "
        "author and for nobody who has one of those. Handlers that return a future have a second "
        "trap: jaxlib 0.4.38 moved what they call and left the version as it was.",
    .example = R"({"opseal_manifest": 1, "distribution": {"kind": "wheel", "name": "ops",)"
               R"( "requires": ["jax>=0.8.1"]}, "libraries": [{"path": "ops.so", "handlers":)"
               R"( [{"symbol": "f", "api_versions": {"min": "0.3", "max": "0.4"}}]}]})",
    .fix = "build the handler with the headers of the oldest runtime that it shall run under",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects =
        "handler or target with a stated API version, beside a stated or required version of the "
        "runtime",
    .reads = {Key::handlers},
    .check = check,
};

}  // namespace opseal
