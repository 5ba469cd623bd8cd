#include "rules/symbol_needs.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "opseal/paths.h"
#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/libraries_by_name.h"
#include "rules/rules.h"
#include "rules/system_libraries.h"

namespace opseal {
namespace {

// Symbols of one library that are reported; more of them have the same cause.
constexpr std::size_t most_reported = 16;
constexpr std::size_t most_providers = 64;
// Libraries that one has loaded, directly or not.
constexpr std::size_t most_in_scope = 256;

class SymbolNeeds {
 public:
  SymbolNeeds(const LibraryFacts& libraries, const LibraryGroup& group, Sink& sink)
      : libraries_(libraries), group_(group), together_(group), sink_(sink) {}

  void run() {
    const bool any = std::any_of(group_.begin(), group_.end(), [this](const PlacedLibrary& one) {
      return libraries_.hidden(one.content).size() > 0 ||
             one.content[Key::version_definitions].size() > 0;
    });
    if (!any) return;
    for (const PlacedLibrary& one : group_) {
      if (one.content[Key::imports].is_list()) judge(one);
    }
  }

 private:
  using Symbols = std::unordered_map<Name, Fact>;

  struct Provider {
    const PlacedLibrary* library = nullptr;
    // What it keeps to itself, and what it exports under a version that isn't the default one.
    const Symbols* kept = nullptr;
    const Symbols* versioned = nullptr;
  };

  // What a library needs by itself.
  struct Needs {
    std::vector<const PlacedLibrary*> providers;
    // Everything needed is here and says what it exports, or has no package's symbols.
    bool complete = true;
  };

  const Needs& needs_of(const PlacedLibrary& one) {
    const auto [place, fresh] = needs_.try_emplace(&one);
    Needs& needs = place->second;
    if (!fresh) return needs;
    needs.complete = all_read(one.content[Key::needed]);
    for (const Fact need : one.content[Key::needed].items()) {
      const std::vector<const PlacedLibrary*>& named = together_.named(need.text());
      if (named.empty() && !has_no_package_symbols(need.text())) needs.complete = false;
      for (const PlacedLibrary* library : named) {
        if (library == &one) continue;
        if (needs.providers.size() == most_providers) {
          needs.complete = false;
          break;
        }
        needs.complete = needs.complete && all_read(library->content[Key::exports]);
        needs.providers.push_back(library);
      }
    }
    return needs;
  }

  // The loader looks in what the needed libraries need, too.
  bool is_complete(const PlacedLibrary& one) {
    std::vector<const PlacedLibrary*> open{&one};
    std::unordered_set<const PlacedLibrary*> seen{&one};
    while (!open.empty()) {
      const Needs& needs = needs_of(*open.back());
      open.pop_back();
      if (!needs.complete) return false;
      for (const PlacedLibrary* library : needs.providers) {
        if (!seen.insert(library).second) continue;
        if (seen.size() > most_in_scope) return false;
        open.push_back(library);
      }
    }
    return true;
  }

  std::vector<Provider> providers_of(const PlacedLibrary& one) {
    std::vector<Provider> providers;
    for (const PlacedLibrary* library : needs_of(one).providers) {
      providers.push_back({library, &kept_by(*library), &versioned_by(*library)});
    }
    return providers;
  }

  void judge(const PlacedLibrary& one) {
    if (!is_complete(one)) return;
    const std::vector<Provider> providers = providers_of(one);
    const bool any = std::any_of(providers.begin(), providers.end(), [](const Provider& provider) {
      return !provider.kept->empty() || !provider.versioned->empty();
    });
    if (!any) return;
    sink_.inspected();
    std::size_t reported = 0;
    for (const Fact symbol : one.content[Key::imports].items()) {
      const Fact name = symbol[Key::name];
      if (!name.is_text() || symbol[Key::weak].truth() || symbol[Key::version].said()) continue;
      if (is_exported(name.name())) continue;
      for (const Provider& provider : providers) {
        if (!tell(one, *provider.library, symbol, *provider.kept, *provider.versioned)) continue;
        ++reported;
        break;
      }
      if (reported == most_reported) return;
    }
  }

  bool tell(const PlacedLibrary& one, const PlacedLibrary& provider, const Fact& symbol,
            const Symbols& kept, const Symbols& versioned) {
    const Name name = symbol[Key::name].name();
    const std::string needs = "needs " + quote(symbol[Key::name].text()) + ", which ";
    const std::string there = quote(file_name_of(provider.path()));
    const std::string subject = "library " + std::string(one.path());
    if (const auto found = versioned.find(name); found != versioned.end()) {
      const std::string version(found->second[Key::version].text());
      Finding& finding =
          sink_.add(subject,
                    needs + there + " exports as " +
                        quote(std::string(symbol[Key::name].text()) + '@' + version) +
                        " only: what was linked without a version doesn't bind to it",
                    evidence(symbol, "undefined here, without a version"));
      finding.related.push_back(evidence(found->second, "exported here, not as the default"));
      finding.fix = "link against the library that is shipped, so that the version is asked for";
      return true;
    }
    const auto found = kept.find(name);
    if (found == kept.end()) return false;
    Finding& finding = sink_.add(subject,
                                 needs + there +
                                     " defines and keeps to itself, and no library beside it "
                                     "exports",
                                 evidence(symbol, "undefined here"));
    finding.related.push_back(
        evidence(found->second, "defined here, hidden or left out of a version script"));
    finding.fix = "give it default visibility, or list it in the version script";
    return true;
  }

  bool is_exported(Name name) {
    if (!exported_) {
      exported_.emplace();
      for (const PlacedLibrary& any : group_) {
        for (const Fact symbol : any.content[Key::exports].items()) {
          if (is_default(any, symbol)) exported_->insert(symbol[Key::name].name());
        }
      }
    }
    return exported_->contains(name);
  }

  // What asks for no version binds to it: the loader takes the first version that a file defines,
  // too, whatever is its default (`do_lookup_x` of the GNU C library).
  static bool is_default(const PlacedLibrary& one, const Fact& symbol) {
    if (symbol[Key::default_].truth(true)) return true;
    for (const Fact first : one.content[Key::version_definitions].items()) {
      return !first.is_text() || symbol[Key::version].is(first.text());
    }
    return true;
  }

  const Symbols& kept_by(const PlacedLibrary& one) {
    const auto [place, fresh] = kept_.try_emplace(&one);
    if (!fresh) return place->second;
    for (const Fact symbol : libraries_.hidden(one.content).items()) {
      if (symbol[Key::name].is_text()) place->second.emplace(symbol[Key::name].name(), symbol);
    }
    return place->second;
  }

  const Symbols& versioned_by(const PlacedLibrary& one) {
    const auto [place, fresh] = versioned_.try_emplace(&one);
    if (!fresh || one.content[Key::version_definitions].size() == 0) return place->second;
    for (const Fact symbol : one.content[Key::exports].items()) {
      if (symbol[Key::name].is_text() && !is_default(one, symbol)) {
        place->second.emplace(symbol[Key::name].name(), symbol);
      }
    }
    return place->second;
  }

  const LibraryFacts& libraries_;
  const LibraryGroup& group_;
  LibrariesByName together_;
  Sink& sink_;
  std::optional<std::unordered_set<Name>> exported_;
  std::unordered_map<const PlacedLibrary*, Needs> needs_;
  std::unordered_map<const PlacedLibrary*, Symbols> kept_;
  std::unordered_map<const PlacedLibrary*, Symbols> versioned_;
};

}  // namespace

bool has_no_package_symbols(std::string_view soname) {
  return is_base_library(PlatformBase::manylinux, soname) || soname.starts_with("libcudart.");
}

void check_symbol_needs(const LibraryFacts& libraries, const LibraryGroup& group, Sink& sink) {
  SymbolNeeds(libraries, group, sink).run();
}

}  // namespace opseal
