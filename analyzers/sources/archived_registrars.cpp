#include "analyzers/sources/archived_registrars.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "analyzers/source/plain_source.h"
#include "analyzers/source/source_tree.h"

namespace opseal {
namespace {

using Names = std::set<std::string, std::less<>>;

// Files that are read for the sake of one library; a larger one is left alone.
constexpr std::size_t most_files = 400;

// What a file gives to others, and what it names.
struct FileNames {
  Names given;
  Names named;
  // More than once, so that it isn't declared alone; or in a macro.
  Names used;
  // Without folders.
  Names includes;
};

bool at_namespace(const PlainSource& source, std::uint32_t scope) {
  const std::vector<Scope>& scopes = source.shape.scopes;
  for (; scope != no_scope; scope = scopes[scope].parent) {
    const bool is_space =
        scopes[scope].kind == ScopeKind::name_space || scopes[scope].kind == ScopeKind::linkage;
    if (!is_space) return false;
  }
  return true;
}

class NameReader {
 public:
  NameReader(const std::vector<std::string>& paths, const SourceTexts& texts)
      : paths_(paths), texts_(texts) {}

  // Null where it can't be read, or is no source of C++.
  const FileNames* of(std::uint32_t file) {
    const auto [place, fresh] = known_.try_emplace(file);
    if (!fresh) return place->second ? &*place->second : nullptr;
    if (known_.size() > most_files || !is_source_path(paths_[file])) return nullptr;
    std::string bytes;
    if (!texts_.read(file, bytes)) return nullptr;
    read_plain(file, bytes, plain_);
    FileNames names;
    read(names);
    place->second = std::move(names);
    return &*place->second;
  }

 private:
  void read(FileNames& names) const {
    const std::vector<Token>& tokens = plain_.unit.tokens;
    std::map<std::string_view, std::size_t> counts;
    for (const Token& token : tokens) {
      if (token.is_identifier()) ++counts[token.text];
    }
    for (const auto& [text, count] : counts) {
      names.named.emplace(text);
      if (count > 1) names.used.emplace(text);
    }
    for (const Token& token : plain_.directive_tokens) {
      if (!token.is_identifier()) continue;
      names.named.emplace(token.text);
      names.used.emplace(token.text);
    }
    for (const std::string_view include : plain_.includes) {
      names.includes.emplace(include.substr(include.rfind('/') + 1));
    }
    for (const Scope& scope : plain_.shape.scopes) {
      if (scope.kind != ScopeKind::function) continue;
      // Of `A::run` the class, too: whoever makes an object of it names it alone.
      std::string_view rest = scope.name;
      while (!rest.empty()) {
        const std::size_t colons = rest.find("::");
        names.given.emplace(rest.substr(0, colons));
        rest = colons == rest.npos ? std::string_view() : rest.substr(colons + 2);
      }
    }
    // Variables of a namespace: `int table[4];`, `Registry registry{…};`, `T* here = …`.
    for (std::uint32_t at = 1; at + 1 < tokens.size(); ++at) {
      if (!tokens[at].is_identifier()) continue;
      const Token& before = tokens[at - 1];
      const Token& behind = tokens[at + 1];
      const bool typed =
          before.is_identifier() || before.is('>') || before.is('*') || before.is('&');
      const bool ends = behind.is(';') || behind.is('=') || behind.is('{') || behind.is('[');
      if (typed && ends && at_namespace(plain_, plain_.scope_of(at))) {
        names.given.emplace(tokens[at].text);
      }
    }
  }

  const std::vector<std::string>& paths_;
  const SourceTexts& texts_;
  PlainSource plain_;
  std::map<std::uint32_t, std::optional<FileNames>> known_;
};

class Finder {
 public:
  Finder(const CmakeTargets& cmake, const std::vector<std::string>& paths,
         const std::vector<std::uint32_t>& registering, const SourceTexts& texts)
      : cmake_(cmake), paths_(paths), registering_(registering), names_(paths, texts) {}

  std::vector<ArchivedRegistrar> run() {
    std::vector<ArchivedRegistrar> found;
    for (const auto& [name, target] : cmake_.targets()) {
      if (target.kind == CmakeKind::archive && target.whole) read_archive(name, target, found);
    }
    return found;
  }

 private:
  std::optional<std::uint32_t> file_at(const std::string& path) const {
    const auto place = std::lower_bound(paths_.begin(), paths_.end(), path);
    if (place == paths_.end() || *place != path) return {};
    return static_cast<std::uint32_t>(place - paths_.begin());
  }

  // Whether a path is one of a pattern with one star: of a name, or `**` of a path.
  static bool fits(const std::string& path, const std::string& pattern, std::size_t star) {
    const bool deep = pattern.find("**") == star;
    const std::string_view behind = std::string_view(pattern).substr(star + (deep ? 2 : 1));
    if (path.size() < star + behind.size() || !path.ends_with(behind)) return false;
    if (path.compare(0, star, pattern, 0, star) != 0) return false;
    return deep || path.substr(star, path.size() - star - behind.size()).find('/') == path.npos;
  }

  // All of them; nothing where one isn't in the tree.
  std::optional<std::vector<std::uint32_t>> files_of(const CmakeTarget& target) const {
    if (!target.whole || target.sources.empty()) return {};
    std::vector<std::uint32_t> files;
    for (const std::string& path : target.sources) {
      const std::size_t star = path.find('*');
      if (star != path.npos) {
        const std::size_t before = files.size();
        for (std::uint32_t at = 0; at < paths_.size(); ++at) {
          if (fits(paths_[at], path, star)) files.push_back(at);
        }
        if (files.size() == before || files.size() > most_files) return {};
        continue;
      }
      const std::optional<std::uint32_t> file = file_at(path);
      if (!file) return {};
      files.push_back(*file);
    }
    return files;
  }

  bool registers(std::uint32_t file) const {
    return std::binary_search(registering_.begin(), registering_.end(), file);
  }

  void read_archive(const std::string& name, const CmakeTarget& archive,
                    std::vector<ArchivedRegistrar>& found) {
    const std::optional<std::vector<std::uint32_t>> members = files_of(archive);
    if (!members || std::none_of(members->begin(), members->end(),
                                 [this](std::uint32_t file) { return registers(file); })) {
      return;
    }
    std::map<std::uint32_t, ArchivedRegistrar> dropped;
    std::size_t consumers = 0;
    for (const auto& [consumer, target] : cmake_.targets()) {
      const auto link = std::find_if(target.links.begin(), target.links.end(),
                                     [&name](const CmakeWord& one) { return one.text == name; });
      if (std::find(target.whole_links.begin(), target.whole_links.end(), name) !=
          target.whole_links.end()) {
        ++consumers;
        continue;
      }
      if (link == target.links.end()) continue;
      // Who links this one gets the archive, too, and isn't followed.
      if (target.kind != CmakeKind::linked) return;
      const std::optional<Names> pulled = names_of(target);
      if (!pulled) return;
      ++consumers;
      for (const std::uint32_t file : unnamed(*members, *pulled)) {
        ArchivedRegistrar& one = dropped[file];
        one.file = file;
        one.library = name;
        one.targets.push_back(consumer);
        one.links.push_back(*link);
      }
    }
    if (consumers == 0) return;
    for (const std::uint32_t file : *members) {
      if (!registers(file)) continue;
      ArchivedRegistrar& one = dropped[file];
      one.file = file;
      one.library = name;
      // A program may well do without what another takes.
      if (one.targets.empty() || one.targets.size() == consumers) found.push_back(std::move(one));
    }
  }

  // Everything that the sources of a target, and of what else it is linked with, name.
  std::optional<Names> names_of(const CmakeTarget& target) {
    const std::optional<std::vector<std::uint32_t>> files = files_of(target);
    if (!files) return {};
    Names names;
    for (const std::uint32_t file : *files) {
      if (!add_names(file, names)) return {};
    }
    for (const CmakeWord& link : target.links) {
      const auto other = cmake_.targets().find(link.text);
      if (other == cmake_.targets().end()) continue;
      for (const std::string& path : other->second.sources) {
        const std::optional<std::uint32_t> file = file_at(path);
        // Those of the archive itself are followed one by one.
        if (!file || registers(*file) || other->second.kind == CmakeKind::archive) continue;
        if (!add_names(*file, names)) return {};
      }
    }
    return names;
  }

  bool add_names(std::uint32_t file, Names& names) {
    const FileNames* own = names_.of(file);
    if (own == nullptr) return false;
    names.insert(own->named.begin(), own->named.end());
    for (const std::string& include : own->includes) add_header(include, names);
    return true;
  }

  // Functions within headers, and macros, may name what the file itself doesn't.
  void add_header(const std::string& include, Names& names) {
    for (const std::uint32_t file : headers_named(include)) {
      if (const FileNames* own = names_.of(file)) names.insert(own->used.begin(), own->used.end());
    }
  }

  const std::vector<std::uint32_t>& headers_named(const std::string& include) {
    if (headers_.empty()) {
      for (std::uint32_t file = 0; file < paths_.size(); ++file) {
        const std::string& path = paths_[file];
        if (is_header_path(path)) headers_[path.substr(path.rfind('/') + 1)].push_back(file);
      }
    }
    return headers_[include];
  }

  static bool share(const Names& given, const Names& named) {
    return std::any_of(given.begin(), given.end(),
                       [&named](const std::string& name) { return named.contains(name); });
  }

  // Files that register and of which nothing is named, by members either that come in.
  std::vector<std::uint32_t> unnamed(const std::vector<std::uint32_t>& members, Names named) {
    std::set<std::uint32_t> left(members.begin(), members.end());
    for (bool changed = true; changed;) {
      changed = false;
      for (auto it = left.begin(); it != left.end();) {
        const FileNames* own = names_.of(*it);
        if (own == nullptr) return {};
        if (!share(own->given, named)) {
          ++it;
          continue;
        }
        named.insert(own->named.begin(), own->named.end());
        it = left.erase(it);
        changed = true;
      }
    }
    std::vector<std::uint32_t> dropped;
    for (const std::uint32_t file : left) {
      if (registers(file)) dropped.push_back(file);
    }
    return dropped;
  }

  const CmakeTargets& cmake_;
  const std::vector<std::string>& paths_;
  const std::vector<std::uint32_t>& registering_;
  NameReader names_;
  std::map<std::string, std::vector<std::uint32_t>> headers_;
};

}  // namespace

std::vector<ArchivedRegistrar> find_archived_registrars(
    const CmakeTargets& cmake, const std::vector<std::string>& paths,
    const std::vector<std::uint32_t>& registering, const SourceTexts& texts) {
  if (cmake.keeps_whole()) return {};
  return Finder(cmake, paths, registering, texts).run();
}

}  // namespace opseal
