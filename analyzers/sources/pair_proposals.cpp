#include "analyzers/sources/pair_proposals.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzers/source/source_tree.h"
#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/dispatch_pairs.h"
#include "analyzers/sources/predicate_names.h"
#include "analyzers/sources/switch_subject.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// Functions are followed in memory.
constexpr std::size_t most_folder_bytes = std::size_t{32} << 20;
constexpr std::size_t most_header_bytes = std::size_t{2} << 20;
// Of a folder; each is held against all functions there.
constexpr std::size_t most_predicates = 64;
constexpr std::size_t most_dispatches = 3;
constexpr std::uint32_t fewest_labels = 2;

class FolderReader {
 public:
  FolderReader(const CodeFunctions& code, const CodeFunctions& headers)
      : code_(code), headers_(headers), enumerations_(code, headers) {}

  void read(std::vector<PairProposal>& out) const {
    std::set<std::string> paired;
    for (const DispatchPair& pair : find_dispatch_pairs(code_, headers_, {})) {
      paired.insert(pair.predicate.name);
    }
    std::size_t asked = 0;
    for (const auto& function : code_.functions()) {
      if (!sounds_like_predicate(function->name) || paired.contains(function->name)) continue;
      const SwitchSubject subject = find_predicate_subject(code_, enumerations_, *function);
      if (subject.enumeration == nullptr || subject.labels < fewest_labels) continue;
      if (++asked > most_predicates) return;
      PairProposal proposal{subject.enumeration->name, told(*function), {}};
      for (const CodeFunction* dispatch : deciding_by(subject.enumeration)) {
        proposal.dispatches.push_back(told(*dispatch));
      }
      if (!proposal.dispatches.empty()) out.push_back(std::move(proposal));
    }
  }

 private:
  // Those with most labels first.
  std::vector<const CodeFunction*> deciding_by(const CodeEnumeration* enumeration) const {
    std::vector<std::pair<std::uint32_t, const CodeFunction*>> found;
    for (const auto& function : code_.functions()) {
      if (sounds_like_predicate(function->name) || names_values(function->name)) continue;
      const SwitchSubject subject = find_subject(code_, enumerations_, *function, enumeration);
      if (subject.enumeration == nullptr || subject.labels < fewest_labels) continue;
      found.emplace_back(subject.labels, function.get());
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    if (found.size() > most_dispatches) found.resize(most_dispatches);
    std::vector<const CodeFunction*> functions;
    for (const auto& [labels, function] : found) functions.push_back(function);
    return functions;
  }

  ProposedFunction told(const CodeFunction& function) const {
    const CodeFile& file = *code_.files()[function.file];
    const std::uint32_t offset = file.unit.tokens[function.name_token].offset;
    const std::string_view before =
        std::string_view(file.bytes).substr(0, std::min<std::size_t>(offset, file.bytes.size()));
    const auto lines = std::count(before.begin(), before.end(), '\n');
    return {function.name, file.number, static_cast<std::uint32_t>(lines) + 1};
  }

  const CodeFunctions& code_;
  const CodeFunctions& headers_;
  const Enumerations enumerations_;
};

}  // namespace

std::vector<PairProposal> propose_pairs(const std::vector<std::string>& paths,
                                        const SourceTexts& texts) {
  std::map<std::string_view, std::vector<std::size_t>> folders;
  std::set<std::string_view> naming;
  CodeFunctions headers;
  std::string bytes;
  for (std::size_t file = 0; file < paths.size(); ++file) {
    if (!is_source_path(paths[file]) || !texts.read(file, bytes)) continue;
    folders[folder_of(paths[file])].push_back(file);
    if (may_name_predicate(bytes)) naming.insert(folder_of(paths[file]));
    if (is_header_path(paths[file]) && bytes.size() <= most_header_bytes &&
        bytes.find("enum") != bytes.npos) {
      headers.add_enumerations(bytes);
    }
  }
  std::vector<PairProposal> proposals;
  for (const std::string_view folder : naming) {
    CodeFunctions code;
    std::size_t total = 0;
    for (const std::size_t file : folders[folder]) {
      std::string text;
      if (!texts.read(file, text)) continue;
      total += text.size();
      if (total > most_folder_bytes) break;
      code.add(static_cast<std::uint32_t>(file), paths[file], std::move(text));
    }
    if (total <= most_folder_bytes) FolderReader(code, headers).read(proposals);
  }
  return proposals;
}

}  // namespace opseal
