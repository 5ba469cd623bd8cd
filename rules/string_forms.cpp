#include "rules/string_forms.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "opseal/paths.h"
#include "opseal/text.h"
#include "rules/libraries_by_name.h"
#include "rules/symbol_abi.h"

namespace opseal {
namespace {

// Symbols of one library that are reported; more of them have the same cause.
constexpr std::size_t most_reported = 16;
// Libraries of one name, and functions of one name, that are looked at.
constexpr std::size_t most_providers = 64;
constexpr std::size_t most_overloads = 256;

std::string without_tags(std::string_view symbol) {
  std::string text(symbol);
  for (std::size_t at = text.find("B5cxx11"); at != text.npos; at = text.find("B5cxx11", at)) {
    text.erase(at, 7);
  }
  return text;
}

void report(const PlacedLibrary& one, const PlacedLibrary& provider, const Fact& import,
            const Fact& symbol, Sink& sink) {
  const bool newer = has_new_string(import[Key::name].text());
  Finding& finding = sink.add("library " + std::string(one.path()),
                              "needs " + quote(import[Key::name].text()) + ", " +
                                  quote(file_name_of(provider.path())) + " has it with the " +
                                  (newer ? "old" : "new") +
                                  " form of `std::string`: " + quote(symbol[Key::name].text()),
                              evidence(import, "undefined here"));
  finding.related.push_back(evidence(symbol, "exported here"));
  finding.fix = "build both with one value of `_GLIBCXX_USE_CXX11_ABI`";
}

bool forms_differ(std::string_view import, std::string_view exported) {
  if (has_new_string(exported) == has_new_string(import)) return false;
  const std::string_view newer = has_new_string(import) ? import : exported;
  const std::string_view older = has_new_string(import) ? exported : import;
  return has_old_string(older) || without_tags(newer) == older;
}

class StringForms {
 public:
  StringForms(const LibraryGroup& group, Sink& sink)
      : group_(group), together_(group), sink_(sink) {}

  void run() {
    for (const PlacedLibrary& one : group_) {
      if (!one.content[Key::imports].is_list()) continue;
      std::vector<const PlacedLibrary*> providers;
      for (const Fact need : one.content[Key::needed].items()) {
        for (const PlacedLibrary* provider : together_.named(need.text())) {
          if (provider == &one || !provider->content[Key::exports].is_list()) continue;
          if (providers.size() < most_providers) providers.push_back(provider);
        }
      }
      if (providers.empty()) continue;
      sink_.inspected();
      judge(one, providers);
    }
  }

 private:
  using Functions = std::unordered_multimap<std::string, Fact>;

  void judge(const PlacedLibrary& one, const std::vector<const PlacedLibrary*>& providers) {
    if (exported_.empty()) collect_exports();
    std::size_t reported = 0;
    for (const Fact symbol : one.content[Key::imports].items()) {
      const Fact name = symbol[Key::name];
      if (!name.is_text() || symbol[Key::weak].truth() || exported_.contains(name.name())) continue;
      const std::string part = function_part(name.text());
      if (part.empty()) continue;
      for (const PlacedLibrary* provider : providers) {
        const Fact other = other_form(functions_of(*provider), part, name.text());
        if (!other.said()) continue;
        report(one, *provider, symbol, other, sink_);
        if (++reported == most_reported) return;
        break;
      }
    }
  }

  static Fact other_form(const Functions& functions, const std::string& part,
                         std::string_view import) {
    const auto [first, end] = functions.equal_range(part);
    std::size_t seen = 0;
    for (auto at = first; at != end && ++seen <= most_overloads; ++at) {
      if (forms_differ(import, at->second[Key::name].text())) return at->second;
    }
    return {};
  }

  void collect_exports() {
    for (const PlacedLibrary& any : group_) {
      for (const Fact symbol : any.content[Key::exports].items()) {
        exported_.insert(symbol[Key::name].name());
      }
    }
  }

  // Each library's functions are taken apart once.
  const Functions& functions_of(const PlacedLibrary& provider) {
    const auto [place, fresh] = functions_.try_emplace(&provider);
    if (!fresh) return place->second;
    for (const Fact symbol : provider.content[Key::exports].items()) {
      std::string part = function_part(symbol[Key::name].text());
      if (!part.empty()) place->second.emplace(std::move(part), symbol);
    }
    return place->second;
  }

  const LibraryGroup& group_;
  LibrariesByName together_;
  Sink& sink_;
  std::unordered_set<Name> exported_;
  std::unordered_map<const PlacedLibrary*, Functions> functions_;
};

// A package may name the form of strings that it was built with: `+cu12torch2.3cxx11abiFALSE`.
void check_promised_form(const LibraryGroup& group, Sink& sink) {
  const Fact distribution = group.front().manifest[Key::distribution];
  const Fact version = distribution[Key::version];
  const std::string text = lower(version.text());
  const bool promised_old = text.find("cxx11abifalse") != text.npos;
  const bool promised_new = text.find("cxx11abitrue") != text.npos;
  if (promised_old == promised_new) return;
  for (const PlacedLibrary& one : group) {
    if (!one.content[Key::imports].is_list()) continue;
    sink.inspected();
    Fact other;
    bool kept = false;
    for (const Fact symbol : one.content[Key::imports].items()) {
      const std::string_view name = symbol[Key::name].text();
      if (!is_torch_symbol(name)) continue;
      const bool newer = has_new_string(name);
      if (!newer && !has_old_string(name)) continue;
      if (newer == promised_new) {
        kept = true;
      } else if (!other.said()) {
        other = symbol;
      }
    }
    if (!other.said() || kept) continue;
    Finding& finding =
        sink.add("library " + std::string(one.path()),
                 "needs " + quote(other[Key::name].text()) + ", which has the " +
                     (promised_new ? "old" : "new") + " form of `std::string`; the package says " +
                     (promised_new ? "`cxx11abiTRUE`" : "`cxx11abiFALSE`"),
                 evidence(other, "undefined here"));
    finding.related.push_back(evidence(version, "said here"));
    finding.fix = "build it against the torch that the package is named after";
  }
}

}  // namespace

void check_string_forms(const LibraryGroup& group, Sink& sink) {
  StringForms(group, sink).run();
  check_promised_form(group, sink);
}

}  // namespace opseal
