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
#include "rules/mangled_names.h"
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
    if (providers.empty()) return;
    sink_.inspected();
    std::size_t reported = 0;
    std::optional<Offers> offers;
    for (const Fact symbol : one.content[Key::imports].items()) {
      const Fact name = symbol[Key::name];
      if (!name.is_text() || symbol[Key::weak].truth() || symbol[Key::version].said()) continue;
      if (is_exported(name.name())) continue;
      bool told = std::any_of(providers.begin(), providers.end(), [&](const Provider& provider) {
        return tell(one, *provider.library, symbol, *provider.kept, *provider.versioned);
      });
      if (!told && name.text().starts_with("_Z")) {
        if (!offers) offers = offers_of(providers);
        told = tell_gone(one, symbol, *offers);
      }
      if (told) ++reported;
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

  // What the needed libraries export in C++: by function whatever its parameters, and by outermost
  // namespace or class.
  struct Offer {
    const PlacedLibrary* library = nullptr;
    Fact symbol;
  };
  struct Offers {
    std::unordered_map<std::uint64_t, Offer> functions;
    std::unordered_map<std::string, Offer> scopes;
  };

  static Offers offers_of(const std::vector<Provider>& providers) {
    Offers offers;
    for (const Provider& provider : providers) {
      for (const Fact symbol : provider.library->content[Key::exports].items()) {
        const std::string_view name = symbol[Key::name].text();
        if (!name.starts_with("_Z")) continue;
        const std::string path = function_path(name);
        if (is_anybodys(name, path)) continue;
        offers.functions.try_emplace(read_function_name(name).hash,
                                     Offer{provider.library, symbol});
        const std::string scope = outermost_scope(path);
        if (!scope.empty()) offers.scopes.try_emplace(scope, Offer{provider.library, symbol});
      }
    }
    return offers;
  }

  // Many libraries have functions of the standard library (which mangled names shorten to `S`), of
  // the compiler and of the language.
  static bool is_anybodys(std::string_view mangled, std::string_view path) {
    std::string_view rest = mangled.substr(2);
    if (rest.starts_with('N')) rest.remove_prefix(1);
    while (!rest.empty() && std::string_view("rVKRO").find(rest.front()) != rest.npos) {
      rest.remove_prefix(1);
    }
    return rest.starts_with('S') || path.starts_with("__") || path.starts_with("operator");
  }

  // `a` of `a::b::f`; empty for what stands in no namespace.
  static std::string outermost_scope(std::string_view path) {
    const std::size_t end = path.find("::");
    return std::string(path.substr(0, end == path.npos ? 0 : end));
  }

  // Nobody here has it, and whose it is can be seen: of a library that has the function with other
  // parameters, or, less surely, its namespace.
  bool tell_gone(const PlacedLibrary& one, const Fact& symbol, const Offers& offers) {
    const std::string_view name = symbol[Key::name].text();
    const std::string path = function_path(name);
    if (is_anybodys(name, path)) return false;
    const auto function = offers.functions.find(read_function_name(name).hash);
    const bool other_parameters = function != offers.functions.end();
    const auto scope = offers.scopes.find(outermost_scope(path));
    if (!other_parameters && scope == offers.scopes.end()) return false;
    const Offer& offer = other_parameters ? function->second : scope->second;
    const std::string there = quote(file_name_of(offer.library->path()));
    std::string readable = demangled_name(name);
    if (readable.empty()) readable = name;
    Finding& finding =
        sink_.add("library " + std::string(one.path()),
                  "needs " + quote(readable) +
                      (other_parameters ? ", of which " + there + " exports only other forms"
                                        : ", which no library beside it exports; " + there +
                                              " has others of " + quote(scope->first)),
                  evidence(symbol, "undefined here"));
    finding.related.push_back(
        evidence(offer.symbol, other_parameters ? "another form of it" : "one of its namespace"));
    if (!other_parameters) finding.severity = Severity::warning;
    finding.fix = "build both from one state of the sources, and ship what was built together";
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
