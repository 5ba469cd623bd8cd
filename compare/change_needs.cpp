// What the libraries of two sides ask of the system and of others. Told once for all libraries of a
// side: it is the system of the user that has to bring it, whichever of them asks.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compare/change_list.h"
#include "opseal/paths.h"
#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/glibc_versions.h"
#include "rules/system_libraries.h"

namespace opseal {
namespace {

using enum Impact;

// `GLIBCXX_3.4.30`: what stands in front of the numbers, and the numbers. Without any, all of it is
// the front.
struct SymbolVersion {
  std::string_view front;
  std::vector<unsigned> numbers;
};

SymbolVersion read_version(std::string_view text) {
  const std::size_t line = text.rfind('_');
  if (line == text.npos) return {text, {}};
  std::vector<unsigned> numbers;
  unsigned number = 0;
  bool digits = false;
  for (const char byte : text.substr(line + 1)) {
    if (byte >= '0' && byte <= '9' && number < 100'000'000) {
      number = number * 10 + static_cast<unsigned>(byte - '0');
      digits = true;
    } else if (byte == '.' && digits) {
      numbers.push_back(number);
      number = 0;
      digits = false;
    } else {
      return {text, {}};
    }
  }
  if (!digits) return {text, {}};
  numbers.push_back(number);
  return {text.substr(0, line + 1), std::move(numbers)};
}

struct Newest {
  std::vector<unsigned> numbers;
  Fact stated;
};

struct Needs {
  // Sonames that nothing of the side provides, each with a fact to point at.
  std::map<std::string_view, Fact> outside;
  // Soname and front -> the newest version that is asked for.
  std::map<std::pair<std::string_view, std::string_view>, Newest> versions;
  std::optional<GlibcNeed> glibc;
  // Some library says what it needs, and each does that was read.
  bool said = false;
  bool known = true;
};

void add_versions(const Fact& library, const std::set<std::string_view>& own, Needs& needs) {
  for (const EntryRange::Entry entry : library[Key::version_needs].entries()) {
    const std::string_view soname = entry.name.text();
    if (own.contains(soname)) continue;
    for (const Fact stated : entry.value.items()) {
      // Of the C library, all of whose parts are one release, the newest counts, below.
      if (!stated.is_text() || stated.text().starts_with("GLIBC_")) continue;
      const SymbolVersion version = read_version(stated.text());
      Newest& newest = needs.versions[{soname, version.front}];
      if (newest.stated.said() && version.numbers <= newest.numbers) continue;
      newest = {version.numbers, stated};
    }
  }
  const std::optional<GlibcNeed> glibc = glibc_need(library);
  if (glibc && (!needs.glibc || needs.glibc->version < glibc->version)) needs.glibc = glibc;
}

Needs needs_of(const LibrarySet& set) {
  std::set<std::string_view> own;
  for (const Fact library : set.libraries) {
    own.insert(library[Key::soname].text());
    own.insert(file_name_of(library[Key::path].text()));
    for (const Fact alias : library[Key::aliases].items()) own.insert(file_name_of(alias.text()));
  }
  Needs needs;
  for (const Fact library : set.libraries) {
    const Fact list = library[Key::needed];
    // Object files need nothing by name.
    if (library[Key::type].is("relocatable")) continue;
    add_versions(library, own, needs);
    if (!list.said() && !library[Key::format].is("elf")) continue;
    needs.said = needs.said || list.said();
    needs.known = needs.known && all_read(list);
    for (const Fact need : list.items()) {
      const std::string_view soname = need.text();
      // Each system of the platform has those.
      if (!need.is_text() || own.contains(soname) ||
          is_base_library(PlatformBase::manylinux, soname)) {
        continue;
      }
      needs.outside.emplace(soname, need);
    }
  }
  return needs;
}

class NeedChanges {
 public:
  NeedChanges(ChangeList& list, const LibrarySet& before, const LibrarySet& after)
      : list_(list),
        before_(before),
        after_(after),
        subject_(subject_of(after)),
        then_(needs_of(before)),
        now_(needs_of(after)) {}

  void compare() {
    if (then_.said != now_.said) list_.count_unsaid(Key::needed);
    if (then_.said && now_.said) compare_libraries();
    compare_glibc();
    // What a platform tag promises limits the others, too; `wheel-tag-glibc` judges by it.
    if (!lowest_glibc_promise(after_.distribution()[Key::tags])) compare_versions();
  }

 private:
  bool is_brought(std::string_view soname) const {
    for (const Fact requirement : after_.distribution()[Key::requires_].items()) {
      if (may_bring(requirement.text(), soname)) return true;
    }
    return false;
  }

  // By the family of the soname, what `from` asks for and `without` doesn't: the needs that took
  // the place of one, `libcudart.so.13` of `libcudart.so.12`.
  using Versions = std::map<std::string_view, Fact>;
  static Versions versions_of(const Needs& from, const Needs& without) {
    Versions versions;
    for (const auto& [soname, need] : from.outside) {
      if (!without.outside.contains(soname)) versions.emplace(soname_family(soname), need);
    }
    return versions;
  }

  void compare_libraries() {
    const Versions lost = versions_of(then_, now_);
    const Versions gained = versions_of(now_, then_);
    for (const auto& [soname, need] : now_.outside) {
      if (!then_.known || then_.outside.contains(soname)) continue;
      const auto found = lost.find(soname_family(soname));
      const Fact was = found == lost.end() ? Fact() : found->second;
      std::string message = "needs " + quote(soname);
      message += was.said() ? ", before " + quote(was.text()) : ", and did not before";
      const bool brought = !was.said() && is_brought(soname);
      list_.add(brought ? additive : breaking, "needed", subject_, std::move(message),
                brought ? "a package that it asks for brings it"
                        : "where it isn't installed, loading fails",
                was, need);
    }
    for (const auto& [soname, need] : then_.outside) {
      if (!now_.known || now_.outside.contains(soname)) continue;
      if (gained.contains(soname_family(soname))) continue;
      list_.add(additive, "needed", subject_, "no longer needs " + quote(soname),
                "less has to be installed", need, Fact());
    }
  }

  // What the tag promises is asked of the system in any case.
  void compare_glibc() {
    if (!now_.glibc || !then_.said) return;
    const auto promised = lowest_glibc_promise(after_.distribution()[Key::tags]);
    if (promised && now_.glibc->version <= promised->version) return;
    if (!then_.glibc) return;
    GlibcVersion was = then_.glibc->version;
    const auto was_promised = lowest_glibc_promise(before_.distribution()[Key::tags]);
    if (was_promised) was = std::max(was, was_promised->version);
    if (was == now_.glibc->version) return;
    const bool newer = was < now_.glibc->version;
    list_.add(newer ? breaking : additive, "version_needs", subject_,
              "needs glibc " + to_text(now_.glibc->version) + ", before " + to_text(was),
              newer ? "loading fails on older systems" : "older systems are served, too",
              then_.glibc->stated, now_.glibc->stated);
  }

  void compare_versions() {
    std::set<std::string_view> sonames;
    for (const auto& [place, newest] : then_.versions) sonames.insert(place.first);
    for (const auto& [place, is] : now_.versions) {
      const auto found = then_.versions.find(place);
      const std::string front = "asks " + quote(place.first) + " for " + quote(is.stated.text());
      if (found == then_.versions.end()) {
        // That a library is needed at all is told above.
        if (!sonames.contains(place.first)) continue;
        list_.add(breaking, "version_needs", subject_, front + ", and did not before",
                  "loading fails with an older one", Fact(), is.stated);
      } else if (is.numbers != found->second.numbers) {
        const bool newer = is.numbers > found->second.numbers;
        list_.add(newer ? breaking : additive, "version_needs", subject_,
                  front + ", before for " + quote(found->second.stated.text()),
                  newer ? "loading fails with an older one" : "older ones serve, too",
                  found->second.stated, is.stated);
      }
    }
  }

  ChangeList& list_;
  const LibrarySet& before_;
  const LibrarySet& after_;
  const std::string subject_;
  const Needs then_;
  const Needs now_;
};

}  // namespace

void compare_needs(ChangeList& list, const LibrarySet& before, const LibrarySet& after) {
  NeedChanges(list, before, after).compare();
}

}  // namespace opseal
