#include "rules/library_reach.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "opseal/text.h"
#include "rules/libraries_by_name.h"
#include "rules/search_paths.h"

namespace opseal {
namespace {

struct Needer {
  const PlacedLibrary* library = nullptr;
  Fact need;
};

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(path.substr(0, slash == path.npos ? 0 : slash));
}

// Python imports it, or names its file.
bool is_imported(const PlacedLibrary& one) {
  return (one.content[Key::imported_by].size() > 0 || one.content[Key::loaded_by].size() > 0) &&
         !one.content[Key::type].is("program");
}

bool reaches(const LibrariesByName& together, const PlacedLibrary& one, std::string_view soname) {
  for (const PlacedLibrary* provider : together.named(soname)) {
    for (const Key key : {Key::rpath, Key::run_path}) {
      for (const Fact entry : one.content[key].items()) {
        if (!entry.text().starts_with('$')) continue;
        const std::string folder = search_folder(one.path(), entry.text());
        if (folder == folder_of(provider->path())) return true;
        for (const Fact alias : provider->content[Key::aliases].items()) {
          if (folder == folder_of(alias.text())) return true;
        }
      }
    }
  }
  return false;
}

}  // namespace

void check_reach(const LibraryGroup& group, const MayComeFromElsewhere& may_come_from_elsewhere,
                 Sink& sink) {
  if (!group.front().manifest[Key::distribution][Key::kind].is("wheel")) return;
  const LibrariesByName together(group);
  // Folders that `DT_RPATH` of any library leads to, and needs that some library's paths meet.
  std::set<std::string> inherited;
  std::set<std::string_view> reached;
  std::size_t loads = 0;
  for (const PlacedLibrary& one : group) {
    if (one.content[Key::loaded_by].size() > 0) ++loads;
    for (const Fact entry : one.content[Key::rpath].items()) {
      inherited.insert(search_folder(one.path(), entry.text()));
    }
    for (const Fact need : one.content[Key::needed].items()) {
      if (reaches(together, one, need.text())) reached.insert(need.text());
    }
  }
  std::map<std::string_view, std::vector<Needer>> unreachable;
  for (const PlacedLibrary& one : group) {
    if (!is_imported(one)) continue;
    for (const Fact need : one.content[Key::needed].items()) {
      const std::vector<const PlacedLibrary*>& providers = together.named(need.text());
      if (providers.empty() || reached.contains(need.text())) continue;
      if (may_come_from_elsewhere(one, need.text())) continue;
      const bool found = std::any_of(
          providers.begin(), providers.end(), [&inherited](const PlacedLibrary* provider) {
            return is_imported(*provider) || inherited.contains(folder_of(provider->path()));
          });
      if (!found) unreachable[need.text()].push_back({&one, need});
    }
  }
  for (const auto& [soname, needers] : unreachable) {
    const Needer& first = needers.front();
    const PlacedLibrary& provider = *together.named(soname).front();
    std::string message = "needs " + quote(soname) + ", which is packed as " +
                          quote(provider.path()) + ", and no run path leads there";
    if (needers.size() == 2) message += "; so does another library";
    if (needers.size() > 2) {
      message += "; so do " + std::to_string(needers.size() - 1) + " other libraries";
    }
    Finding& finding = sink.add("library " + std::string(first.library->path()), std::move(message),
                                evidence(first.need, "needed here"));
    finding.related.push_back(evidence(provider.library[Key::path], "it lies here"));
    // Python may put together the name of a file that it loads first.
    if (loads > needers.size()) finding.severity = Severity::warning;
    finding.fix = "add its folder to the run path, relative to `$ORIGIN`, or load it first";
  }
}

}  // namespace opseal
