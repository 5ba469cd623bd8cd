#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/audit.h"

namespace opseal::test {

// The root of the sources. Tests run there, so that reports name paths from it.
std::filesystem::path source_dir();

std::string read_file(const std::filesystem::path& path);

// Compares a text with a committed file, or writes the file when OPSEAL_BLESS is set.
void check_or_bless(const std::filesystem::path& path, const std::string& actual);

// Sorted names of the folders in a folder.
std::vector<std::string> folders_in(const std::filesystem::path& path);

// Facts of a manifest given as text, under the name `ops.json`.
Facts read_text(std::string_view manifest);

// The audit of some paths with some rules, as the command line would make it, without a
// configuration file.
Audit audit_paths(const std::vector<std::string>& paths, const std::vector<std::string>& select);

// The comparison of two dumps with some rules, all that the profile has where none is named.
Audit diff_paths(const std::string& before, const std::string& after,
                 const std::vector<std::string>& select = {}, const std::string& fail_on = {});

// Facts of two manifests given as texts, as a comparison holds them: `before.json`, `after.json`.
Facts read_two(std::string_view before, std::string_view after);

// Things counted, by name.
using Counts = std::map<std::string, int>;
// "name 1, other 2, ".
std::string show(const Counts& counts);
// Findings that are not silenced, by `rule severity`.
Counts count_findings(const Audit& audit);

std::string text_report(const Audit& audit);

// What the given rules, or all, say about a manifest given as text; nothing is settled or counted.
Audit audit_text(std::string_view manifest, const std::vector<const Rule*>& rules = {});

// An audit in one of the formats.
std::string report(const Audit& audit, std::string_view format);

}  // namespace opseal::test
