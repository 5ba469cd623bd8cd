#include "cli/discover.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <system_error>

#include "analyzers/native/library_stand_in.h"
#include "cli/process.h"
#include "opseal/text.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

bool inside(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  (void)rest;
  return end == folder.end();
}

class Discovery {
 public:
  Discovery(const Options& options, const Settings& settings)
      : options_(options),
        settings_(settings),
        root_(find_root(fs::current_path().string())),
        exclude_used_(settings.exclude.size()) {
    pairs_ = settings.pairs;
    for (const CacheDescription& description : settings.caches) {
      std::error_code error;
      const auto [place, fresh] = described_.emplace(
          fs::weakly_canonical(description.directory, error).string(), &description);
      if (fresh) continue;
      throw UsageError("`cache`: " + quote(place->second->name) + " and " +
                       quote(description.name) + " describe one directory, " +
                       quote(description.directory));
    }
  }

  Discovered run() {
    std::vector<std::string> paths = options_.paths;
    if (paths.empty()) paths.push_back(".");
    if (!options_.output.empty()) {
      // What an earlier run left there is no input of this one.
      std::error_code error;
      seen_.insert(fs::weakly_canonical(options_.output, error).string());
    }
    for (const std::string& path : paths) {
      group_ = group_of(path);
      if (path == "-") {
        add_standard_input();
      } else {
        add_given(path);
      }
    }
    for (auto& [group, folder] : sources_) add_sources(group, std::move(folder));
    // A run over single files, as hooks make them, rarely meets every pattern.
    if (walked_) {
      remark_unused_excludes();
      remark_unread_caches();
      remark_foreign_files();
      tell_stand_ins();
    }
    std::sort(found_.inputs.begin(), found_.inputs.end(),
              [](const auto& a, const auto& b) { return a.file.path < b.file.path; });
    return std::move(found_);
  }

 private:
  // What lies together may be loaded together, whether the folder was given or its files by name.
  std::uint32_t group_of(const std::string& path) {
    std::error_code error;
    if (path == "-" || fs::is_directory(path, error)) return ++groups_;
    const std::string folder =
        fs::weakly_canonical(fs::absolute(path, error), error).parent_path().string();
    const auto [known, fresh] = folders_of_named_.try_emplace(folder, groups_ + 1);
    if (fresh) ++groups_;
    return known->second;
  }

  void add_given(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
      throw UsageError(quote(path) + ": " +
                       (error ? error.message() : "No such file or directory"));
    }
    if (fs::is_directory(status)) {
      walked_ = true;
      top_ = shown_path(path, root_);
      if (top_.size() > 1 && top_.ends_with('/')) top_.pop_back();
      add_directory(path, true);
    } else {
      add_file(path, true);
    }
  }

  void add_standard_input() {
    InputFile file;
    file.path = "-";
    file.bytes = read_all(STDIN_FILENO);
    file.size = file.bytes.size();
    std::string error;
    const Analyzer* analyzer = find_analyzer(file, error);
    if (analyzer == nullptr) {
      not_recognised(std::move(file));
    } else {
      found_.inputs.push_back({std::move(file), analyzer, {}, {}, group_});
    }
  }

  void add_directory(const std::string& directory, bool given) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(directory, error);
    // git lists a submodule that isn't checked out as a directory that holds itself.
    if (error || !seen_.insert(real.string()).second) return;
    if (options_.no_ignore || !add_by_git(directory, given)) walk(directory, real);
    if (given) add_described(real);
  }

  // What reads the directory as a cache, which is an input then; nothing for most directories.
  const CacheReader& cache_at(const fs::path& directory) {
    const auto [known, is_new] = caches_.try_emplace(directory.string());
    CacheReader& reader = known->second;
    if (!is_new) return reader;
    std::error_code error;
    const std::string real = fs::weakly_canonical(directory, error).string();
    const auto described = described_.find(real);
    reader = described != described_.end() ? CacheReader{.description = described->second}
                                           : find_cache(directory.string());
    if (reader && excluded(directory.string())) reader = {};
    if (!reader || !seen_caches_.insert(real).second) return reader;
    InputFile input;
    input.path = shown_path(directory.string(), root_);
    if (input.path.size() > 1 && input.path.ends_with('/')) input.path.pop_back();
    input.open_path = directory.string();
    found_.inputs.push_back({std::move(input), nullptr, reader, {}, group_});
    return reader;
  }

  // Caches that the configuration names stand where git ignores them, and are wanted all the same.
  void add_described(const fs::path& base) {
    for (const auto& [real, description] : described_) {
      if (!inside(real, base)) continue;
      met_.insert(real);
      std::error_code error;
      if (fs::is_directory(real, error)) {
        cache_at(description->directory);
      } else {
        found_.remarks.push_back("`cache`: no directory " + quote(description->directory));
      }
    }
  }

  // Whether an entry of a cache at or below `directory` holds this file.
  bool in_cache(fs::path folder, const fs::path& relative) {
    for (const fs::path& part : relative) {
      const CacheReader& cache = cache_at(folder);
      if (cache && is_cache_entry(cache, folder.string(), part.string())) return true;
      folder /= part;
    }
    return false;
  }

  static ProcessResult git(const std::string& directory, const std::vector<std::string>& words) {
    // Nothing that the tree's own configuration names may run, and what a hook that called opseal
    // set about its repository doesn't hold for another one.
    std::vector<std::string> command = {"env",
                                        "-u",
                                        "GIT_DIR",
                                        "-u",
                                        "GIT_WORK_TREE",
                                        "-u",
                                        "GIT_INDEX_FILE",
                                        "LC_ALL=C",
                                        "git",
                                        "-C",
                                        directory,
                                        "-c",
                                        "core.fsmonitor=false",
                                        "-c",
                                        "core.hooksPath=/dev/null"};
    command.insert(command.end(), words.begin(), words.end());
    return run_process(command);
  }

  // The files of a directory as git lists them: tracked ones and those that it doesn't ignore.
  // False when git can't tell, which is no reason to look at less.
  bool add_by_git(const std::string& directory, bool given) {
    const ProcessResult top = git(directory, {"rev-parse", "--is-inside-work-tree"});
    if (!top.started || top.status != 0) {
      // 127: there is no git, so nothing is ignored by it.
      if (top.started && top.status != 127 &&
          top.errors.find("not a git repository") == std::string::npos) {
        found_.remarks.push_back("git could not say what it ignores in " + quote(directory) +
                                 ", so everything there is read: " + first_line(top.errors));
      }
      return false;
    }
    // Who names a directory that git ignores, such as a build's, wants to see what is in it.
    if (given && git(directory, {"check-ignore", "-q", "."}).status == 0) return false;
    const ProcessResult list =
        git(directory, {"ls-files", "-z", "--cached", "--others", "--exclude-standard"});
    if (list.status != 0) {
      found_.remarks.push_back("git could not list " + quote(directory) +
                               ", so everything there is read: " + first_line(list.errors));
      return false;
    }
    if (!list.errors.empty()) not_walked(directory, first_line(list.errors));
    const fs::path base = fs::weakly_canonical(directory);
    for (std::size_t at = 0; at < list.output.size();) {
      const std::size_t end = std::min(list.output.find('\0', at), list.output.size());
      const fs::path relative = list.output.substr(at, end - at);
      const fs::path path = directory / relative;
      at = end + 1;
      std::error_code error;
      // A submodule or a repository inside the repository: it has rules of its own.
      if (fs::is_directory(fs::symlink_status(path, error))) {
        add_directory(path.string(), false);
      } else if (!in_cache(directory, relative)) {
        add_walked(path, base);
      }
    }
    return true;
  }

  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

  void walk(const fs::path& directory, const fs::path& base) {
    const CacheReader cache = cache_at(directory);
    std::error_code error;
    fs::directory_iterator it(directory, error);
    for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
      const fs::path path = it->path();
      if (path.filename() == ".git") continue;
      if (cache && is_cache_entry(cache, directory.string(), path.filename().string())) continue;
      std::error_code ignored;
      if (fs::is_directory(it->symlink_status(ignored))) {
        walk(path, base);
      } else {
        add_walked(path, base);
      }
    }
    if (error) not_walked(directory.string(), error.message());
  }

  void not_walked(const std::string& directory, const std::string& reason) {
    InputFile folder;
    folder.path = shown_path(directory, root_);
    add_problem(std::move(folder), "not everything in this directory can be read: " + reason);
  }

  void add_walked(const fs::path& path, const fs::path& base) {
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(path, error))) {
      const fs::path real = fs::canonical(path, error);
      if (error || !inside(real, base)) return;
    }
    if (fs::is_regular_file(path, error) && !error) add_file(path.string(), false);
  }

  void add_file(const std::string& path, bool given) {
    InputFile file;
    file.path = shown_path(path, root_);
    file.open_path = path;
    std::error_code error;
    file.size = static_cast<std::uint64_t>(fs::file_size(path, error));
    if (error) file.size = 0;
    if (excluded(path)) {
      ++found_.excluded_files;
      return;
    }
    if (!seen_.insert(fs::weakly_canonical(path, error).string()).second) return;
    if (is_source(path)) {
      add_source(std::move(file), given);
      return;
    }
    std::string problem;
    const Analyzer* analyzer = find_analyzer(file, problem);
    if (!problem.empty()) {
      add_problem(std::move(file), "can't be read: " + problem);
      return;
    }
    if (analyzer != nullptr && !given && is_foreign_input(*analyzer, file)) {
      ++found_.other_files;
      if (foreign_++ == 0) first_foreign_ = file.path;
    } else if (analyzer != nullptr) {
      found_.inputs.push_back({std::move(file), analyzer, {}, {}, group_});
    } else if (given) {
      not_recognised(std::move(file));
    } else {
      ++found_.other_files;
      note_stand_in(std::move(file));
    }
  }

  static StandIn stand_in_at(const InputFile& file) {
    constexpr std::size_t shown = 4096;
    std::string head = file.bytes.substr(0, shown);
    if (!file.open_path.empty()) {
      std::ifstream stream(file.open_path, std::ios::binary);
      head.resize(shown);
      stream.read(head.data(), static_cast<std::streamsize>(shown));
      // What can't be read isn't empty.
      if (stream.bad() || (!stream && !stream.eof())) return StandIn::none;
      head.resize(static_cast<std::size_t>(stream.gcount()));
    }
    return stand_in_of(head);
  }

  void note_stand_in(InputFile file) {
    if (!is_loadable_name(file.path)) return;
    const StandIn kind = stand_in_at(file);
    // Text may be anybody's, under whatever name.
    if (kind == StandIn::none || kind == StandIn::text) return;
    if (stand_ins_[kind].count++ == 0) stand_ins_[kind].first = std::move(file);
  }

  void tell_stand_ins() {
    for (auto& [kind, met] : stand_ins_) {
      std::string text(to_text(kind));
      if (met.count > 1)
        text += "; so " + std::string(met.count == 2 ? "is " : "are ") +
                plural(met.count - 1, "other file") + " of a library's name";
      if (kind == StandIn::linker_script) {
        found_.remarks.push_back("not looked at: " + quote(met.first.path) + ' ' + text);
        continue;
      }
      add_problem(std::move(met.first), "named like a library, and " + text);
      found_.problems.back().severity = Severity::warning;
    }
  }

  // Files that are given by name, as hooks do, are one partial tree.
  void add_source(InputFile file, bool given) {
    if (!given && is_aside(below(file.path, top_))) {
      ++found_.aside_sources;
      return;
    }
    SourceFolder& folder = sources_[given ? 0 : group_];
    folder.partial = given;
    if (folder.place.path.empty()) folder.place.path = given ? file.path : top_;
    folder.files.push_back(std::move(file));
  }

  static std::string_view below(std::string_view path, std::string_view top) {
    if (top == "." || !path.starts_with(top)) return path;
    path.remove_prefix(top.size());
    while (path.starts_with('/')) path.remove_prefix(1);
    return path;
  }

  void add_sources(std::uint32_t group, SourceFolder folder) {
    std::sort(folder.files.begin(), folder.files.end(),
              [](const InputFile& a, const InputFile& b) { return a.path < b.path; });
    InputFile shown = folder.place;
    folder.pairs = pairs_;
    found_.inputs.push_back({std::move(shown), nullptr, {}, std::move(folder), group});
  }

  void not_recognised(InputFile file) {
    if (options_.allow_empty) {
      ++found_.other_files;
      return;
    }
    const StandIn stand_in = stand_in_at(file);
    if (stand_in != StandIn::none && stand_in != StandIn::text) {
      add_problem(std::move(file), std::string(to_text(stand_in)));
      return;
    }
    std::string kinds;
    for (const Analyzer& analyzer : all_analyzers()) {
      kinds += kinds.empty() ? "" : ", ";
      kinds += analyzer.describes;
    }
    add_problem(std::move(file), "of no kind that opseal reads, which is: " + kinds);
  }

  void add_problem(InputFile file, std::string message) {
    const auto number = static_cast<std::uint32_t>(found_.problem_files.size());
    found_.problem_files.push_back(std::move(file));
    found_.problems.push_back({Location{number, 0, 0}, std::move(message), {}, Severity::error});
  }

  // A pattern names a file or a directory, from where it is written or, without a `/`, anywhere.
  static bool matches(const Exclusion& exclusion, const std::string& path) {
    const std::string from_base = shown_path(path, exclusion.base);
    if (glob_match(exclusion.pattern, from_base)) return true;
    if (glob_match(exclusion.pattern + "/*", from_base)) return true;
    if (exclusion.pattern.find('/') != exclusion.pattern.npos) return false;
    const fs::path parts = from_base;
    return std::any_of(parts.begin(), parts.end(), [&exclusion](const fs::path& part) {
      return glob_match(exclusion.pattern, part.string());
    });
  }

  bool excluded(const std::string& path) {
    bool matched = false;
    for (std::size_t i = 0; i < settings_.exclude.size(); ++i) {
      if (!matches(settings_.exclude[i], path)) continue;
      exclude_used_[i] = true;
      matched = true;
    }
    return matched;
  }

  void remark_unused_excludes() {
    for (std::size_t i = 0; i < exclude_used_.size(); ++i) {
      if (exclude_used_[i]) continue;
      found_.remarks.push_back("`exclude`: no file matches " + quote(settings_.exclude[i].pattern));
    }
  }

  // Each side of a comparison would say it, and neither is expected to hold a cache.
  void remark_unread_caches() {
    if (options_.command == Command::diff) return;
    for (const auto& [real, description] : described_) {
      if (met_.contains(real)) continue;
      found_.remarks.push_back("`cache`: " + quote(description->name) +
                               " is not read, since no given path holds its directory " +
                               quote(description->directory));
    }
  }

  // They lie in most environments of Python, and say nothing of the libraries beside them.
  void remark_foreign_files() {
    if (foreign_ == 0) return;
    std::string remark = quote(first_foreign_);
    if (foreign_ > 1) remark += " and " + plural(foreign_ - 1, "other library", "other libraries");
    found_.remarks.push_back(remark + (foreign_ > 1 ? " are" : " is") + " for " +
                             std::string(foreign_systems) + ", which opseal does not read");
  }

  const Options& options_;
  const Settings& settings_;
  std::string root_;
  // A directory was given.
  bool walked_ = false;
  // Libraries below given directories whose kind isn't read.
  std::uint64_t foreign_ = 0;
  std::string first_foreign_;
  struct Met {
    std::uint64_t count = 0;
    InputFile first;
  };
  // Below given directories, files that are named like libraries and are none.
  std::map<StandIn, Met> stand_ins_;
  // Number of the given path.
  // Of the path that is being looked at, and how many there are.
  std::uint32_t group_ = 0;
  std::uint32_t groups_ = 0;
  std::map<std::string, std::uint32_t> folders_of_named_;
  // The given directory that is walked, as reports name it.
  std::string top_;
  // By group; 0: given by name.
  std::map<std::uint32_t, SourceFolder> sources_;
  std::vector<bool> exclude_used_;
  Discovered found_;
  std::set<std::string> seen_;
  // Of each directory that was looked at, by the path that led there.
  std::map<std::string, CacheReader> caches_;
  // Real paths of those that are inputs.
  std::set<std::string> seen_caches_;
  // Those of the configuration.
  std::vector<PairDescription> pairs_;
  // Caches of the configuration, by real path.
  std::map<std::string, const CacheDescription*> described_;
  // Real paths of those that lie in a given directory.
  std::set<std::string> met_;
};

}  // namespace

std::string shown_path(const std::string& path, const std::string& root) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (!inside(absolute, root)) return absolute.generic_string();
  return absolute.lexically_relative(root).generic_string();
}

std::string find_root(const std::string& directory) {
  for (fs::path folder = directory; !folder.empty(); folder = folder.parent_path()) {
    std::error_code error;
    if (fs::exists(folder / ".git", error)) return folder.string();
    if (folder == folder.root_path()) break;
  }
  return directory;
}

Discovered discover(const Options& options, const Settings& settings) {
  return Discovery(options, settings).run();
}

}  // namespace opseal
