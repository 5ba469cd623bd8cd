#include "rules/undefined_namespaces.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/one_slip.h"
#include "opseal/text.h"
#include "rules/library_variants.h"
#include "rules/torch_owners.h"

namespace opseal {
namespace {

// Shorter words are near to everything.
constexpr std::size_t shortest = 5;
constexpr std::size_t most_namespaces = 512;
constexpr std::size_t most_owners = 64;

struct Owner {
  const PlacedLibrary* library = nullptr;
  Fact registrar;
};

using Owners = std::map<std::string_view, std::vector<Owner>>;

void judge_implementations(const LibraryGroup& group, const Owners& defined, Sink& sink) {
  if (defined.size() > most_namespaces) return;
  std::map<std::string_view, bool> judged;
  for_each_torch_registrar(group, [&](const PlacedLibrary& one, const Fact& registrar) {
    const Fact space = registrar[Key::namespace_];
    if (!registrar[Key::kind].is("implementation") || !space.is_text()) return;
    if (is_torch_namespace(space.text()) || !judged.try_emplace(space.text(), true).second) return;
    sink.inspected();
    if (defined.contains(space.text()) || space.text().size() < shortest) return;
    for (const auto& [name, owners] : defined) {
      if (name.size() < shortest || !one_slip_apart(name, space.text())) continue;
      Finding& finding = sink.add(
          "library " + std::string(one.path()),
          "kernels for namespace " + quote(space.text()) + ", which nobody here defines; " +
              quote(owners.front().library->path()) + " defines " + quote(name),
          evidence(space, "kernels registered here"));
      finding.related.push_back(
          evidence(owners.front().registrar[Key::namespace_], "near namespace"));
      finding.fix = "register them in " + quote(name);
      return;
    }
  });
}

// `v1`, `v2`: versions that somebody keeps side by side, rather than builds for other machines.
// The number, or empty.
std::string version_in(std::string_view path) {
  for (std::size_t at = path.find('v'); at != path.npos; at = path.find('v', at + 1)) {
    const bool begins = at == 0 || path[at - 1] == '/' || path[at - 1] == '_' ||
                        path[at - 1] == '-' || path[at - 1] == '.';
    std::size_t end = at + 1;
    while (end < path.size() && path[end] >= '0' && path[end] <= '9') ++end;
    const bool ends = end == path.size() || path[end] == '/' || path[end] == '_' ||
                      path[end] == '-' || path[end] == '.';
    if (begins && ends && end > at + 1) return std::string(path.substr(at, end - at));
  }
  return {};
}

// One path is the other with another version in it, and nothing else.
bool differs_by_version(std::string_view a, std::string_view b) {
  const std::string first = version_in(a);
  const std::string second = version_in(b);
  if (first.empty() || second.empty() || first == second) return false;
  std::string other(a);
  other.replace(a.find(first), first.size(), second);
  return other == b;
}

void judge_versions(const Owners& defined, Sink& sink) {
  for (const auto& [space, owners] : defined) {
    if (owners.size() < 2 || owners.size() > most_owners) continue;
    for (std::size_t i = 1; i < owners.size(); ++i) {
      const Owner& a = owners[i - 1];
      const Owner& b = owners[i];
      // Only where both are said to be registered, or lie below one directory.
      if (a.library->manifest[Key::distribution].is_object()) continue;
      sink.inspected();
      if (!differs_by_version(a.library->path(), b.library->path())) continue;
      Finding& finding = sink.add("namespace " + std::string(space),
                                  quote(a.library->path()) + " and " + quote(b.library->path()) +
                                      " both define namespace " + quote(space) +
                                      ", so that a process can load only one",
                                  evidence(b.registrar[Key::namespace_], "one version"));
      finding.severity = Severity::warning;
      finding.related.push_back(evidence(a.registrar[Key::namespace_], "another version"));
      finding.fix = "put the version, or a digest of the sources, into the namespace";
      break;
    }
  }
}

}  // namespace

void check_namespaces_in_libraries(const Facts& facts, Sink& sink) {
  if (!facts.said[static_cast<std::size_t>(Key::registrars)]) return;
  const LibraryFacts libraries(facts);
  for (const LibraryGroup& group : library_groups(libraries)) {
    Owners defined;
    Owners owned;
    for_each_torch_registrar(group, [&](const PlacedLibrary& one, const Fact& registrar) {
      const Fact space = registrar[Key::namespace_];
      const bool owner = registrar[Key::kind].is("definition");
      if (!space.is_text() || (!owner && !registrar[Key::kind].is("fragment"))) return;
      defined[space.text()].push_back({&one, registrar});
      if (owner) owned[space.text()].push_back({&one, registrar});
    });
    judge_implementations(group, defined, sink);
    judge_versions(owned, sink);
  }
}

}  // namespace opseal
