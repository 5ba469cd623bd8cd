#include "analyzers/sources/typed_tier.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_set>
#include <utility>

#include "analyzers/clang/prelude.h"
#include "analyzers/source/needles.h"
#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/scalar_types.h"
#include "analyzers/sources/typed_keys.h"
#include "analyzers/words.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

// Headers of the project that are put before a file; beyond it names stay unknown.
constexpr std::size_t most_header_bytes = std::size_t{256} << 10;
constexpr std::size_t most_headers = 200;

// How much longer a file may take with all its headers.
constexpr std::uint32_t times_as_built = 6;

constexpr std::size_t most_blanks = 128;

bool is_blank(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

SourcePlace place_in(std::size_t file, const TypedPlace& place) {
  return {static_cast<std::uint32_t>(file), place.offset, place.length};
}

bool is_within(const SourcePlace& inner, const SourcePlace& outer) {
  return inner.offset >= outer.offset &&
         inner.offset + inner.length <= std::uint64_t{outer.offset} + outer.length;
}

}  // namespace

std::string root_of_tree(const std::string& place, const std::string& path,
                         const std::string& opened) {
  std::string below = path;
  if (place != "." && !place.empty()) {
    if (!path.starts_with(place + '/')) return {};
    below = path.substr(place.size() + 1);
  }
  if (opened == below) return ".";
  if (!opened.ends_with('/' + below)) return {};
  return opened.substr(0, opened.size() - below.size() - 1);
}

bool keeps_from_call(std::string_view bytes) {
  for (std::size_t at = bytes.find(')'); at != bytes.npos; at = bytes.find(')', at + 1)) {
    std::size_t next = at + 1;
    const auto skip_blanks = [&] {
      for (std::size_t steps = 0;
           steps < most_blanks && next < bytes.size() && is_blank(bytes[next]); ++steps) {
        ++next;
      }
    };
    skip_blanks();
    if (next >= bytes.size() || bytes[next] != '.') continue;
    ++next;
    skip_blanks();
    const std::size_t word = next;
    while (next < bytes.size() && is_word_byte(bytes[next])) ++next;
    if (next == word || !bytes.substr(next).starts_with("()")) continue;
    next += 2;
    while (next < bytes.size() && (is_blank(bytes[next]) || bytes[next] == ')') &&
           next - word < most_blanks) {
      ++next;
    }
    if (next < bytes.size() && bytes[next] == ';') return true;
  }
  return false;
}

TypedTier::TypedTier(const SourceTree& tree, const std::vector<std::string>& paths,
                     const std::vector<std::size_t>& cpp_files, std::vector<std::string> opened,
                     std::string root, SourceTexts texts)
    : tree_(tree),
      paths_(paths),
      cpp_files_(cpp_files),
      opened_(std::move(opened)),
      root_(std::move(root)),
      texts_(std::move(texts)),
      of_tree_(paths.size(), no_file),
      wanted_(paths.size()),
      answers_(paths.size()) {
  if (!root_.empty()) commands_.read_folder(root_);
  for (FileId at = 0; at < tree_.size(); ++at) {
    const auto found = std::lower_bound(paths_.begin(), paths_.end(), tree_.path(at));
    if (found != paths_.end() && *found == tree_.path(at)) {
      of_tree_[static_cast<std::size_t>(found - paths_.begin())] = at;
    }
  }
}

void TypedTier::run(const TypedOptions& options, unsigned threads, TreeRecords& records) {
  want_functions(records.torch);
  want_keys(records.files);
  want_launchers(records.devices);
  want_dtypes(records.torch);
  want_words();
  const auto ask_all = [&] {
    while (ask(options, threads, records)) {
    }
  };
  ask_all();
  if (want_definitions(records)) ask_all();
  settle_functions(records.torch);
  settle_uses(records);
  settle_keys(answers_, records.files);
  settle_launches(records.devices);
  settle_dtypes(records.torch);
}

// Files that choose by dtype with labels of which the text doesn't say what they are.
void TypedTier::want_dtypes(const std::vector<TorchRecord>& records) {
  for (const TorchRecord& record : records) {
    for (const DispatchSite& site : record.dispatches) {
      for (const SourcePlace& label : site.unknown) wanted_[label.file].asked = true;
    }
  }
}

void TypedTier::settle_dtypes(std::vector<TorchRecord>& records) const {
  std::map<std::pair<std::size_t, std::uint32_t>, std::string_view> dtypes_at;
  for (std::size_t file = 0; file < answers_.size(); ++file) {
    for (const TypedEnumerator& value : answers_[file].values) {
      dtypes_at.try_emplace({file, value.place.offset}, dtype_of_enumerator(value.name));
    }
  }
  const auto dtype_at = [&dtypes_at](const SourcePlace& label) {
    const auto found = dtypes_at.find({label.file, label.offset});
    return found == dtypes_at.end() ? std::string_view() : found->second;
  };
  for (TorchRecord& record : records) {
    for (DispatchSite& site : record.dispatches) {
      if (site.unknown.empty()) continue;
      std::set<std::string> dtypes(site.dtypes.begin(), site.dtypes.end());
      for (const SourcePlace& label : site.unknown) dtypes.emplace(dtype_at(label));
      // One is still not known.
      if (dtypes.contains("")) continue;
      site.dtypes.assign(dtypes.begin(), dtypes.end());
      site.known = true;
      site.typed = true;
    }
  }
}

// Files of functions that give back the error of a launch, and those that name one of these.
void TypedTier::want_launchers(const std::vector<DeviceCode>& devices) {
  const Needles returned({"return cudaGetLastError", "return hipGetLastError"});
  std::set<std::string> names;
  std::string bytes;
  for (const std::size_t file : cpp_files_) {
    const LaunchCode& code = devices[file].launches;
    if (code.launches.empty() || is_header_path(paths_[file]) || !texts_.read(file, bytes))
      continue;
    if (!returned.occur_in(bytes)) continue;
    wanted_[file].asked = true;
    for (const KernelLaunch& launch : code.launches) {
      const std::string name(base_of(code.functions[launch.function].name));
      if (launch.checked && name.size() >= 3) names.insert(name);
    }
  }
  if (names.empty()) return;
  const Needles needles({names.begin(), names.end()});
  for (const std::size_t file : cpp_files_) {
    Wanted& wanted = wanted_[file];
    if (wanted.asked || is_header_path(paths_[file]) || !texts_.read(file, bytes)) continue;
    wanted.asked = needles.occur_in(bytes);
  }
}

// A call that drops the error which a function took from its launch is a launch that nobody checks.
void TypedTier::settle_launches(std::vector<DeviceCode>& devices) const {
  std::map<std::string_view, bool> plain;
  for (const TypedFile& answer : answers_) {
    for (const TypedLauncher& launcher : answer.launchers) {
      const auto [known, is_new] = plain.try_emplace(launcher.name, launcher.plain);
      known->second = known->second && launcher.plain;
    }
  }
  for (std::size_t file = 0; file < answers_.size(); ++file) {
    for (const TypedLostError& lost : answers_[file].lost_errors) {
      const auto known = plain.find(lost.callee);
      if (known == plain.end() || !known->second) continue;
      LaunchCode& code = devices[file].launches;
      NamingCode function;
      function.name = lost.function;
      code.functions.push_back(std::move(function));
      KernelLaunch launch;
      launch.kernel = lost.name;
      launch.function = static_cast<std::uint32_t>(code.functions.size() - 1);
      launch.typed = true;
      launch.place = place_in(file, lost.place);
      code.launches.push_back(std::move(launch));
    }
  }
}

// Functions that tell keys apart; those of headers, too.
void TypedTier::want_keys(const std::vector<FileRecords>& files) {
  for (const std::size_t file : cpp_files_) {
    Wanted& wanted = wanted_[file];
    for (const KeyFunction& function : files[file].keys.functions) {
      if (!function.whole && !function.type.empty()) wanted.keys.push_back(function.place.offset);
    }
    std::sort(wanted.keys.begin(), wanted.keys.end());
    wanted.asked = wanted.asked || !wanted.keys.empty();
  }
}

// The functions that are handed to torch: those with a place are asked for by it, others by name.
void TypedTier::want_functions(const std::vector<TorchRecord>& records) {
  for (const TorchRecord& record : records) {
    const SourceFunction& function = record.function;
    if (record.python || record.fallthrough) continue;
    if (function.declared) {
      wanted_[function.place.file].functions.push_back(function.place.offset);
    } else if (!function.name.empty()) {
      wanted_[record.place.file].names.emplace_back(base_of(function.name));
    }
  }
  for (Wanted& wanted : wanted_) {
    std::sort(wanted.functions.begin(), wanted.functions.end());
    std::sort(wanted.names.begin(), wanted.names.end());
    wanted.names.erase(std::unique(wanted.names.begin(), wanted.names.end()), wanted.names.end());
  }
}

void TypedTier::want_enumerators(const std::vector<std::size_t>& files) {
  const Needles words({"case ", "==", "!="});
  std::string bytes;
  for (const std::size_t file : files) {
    if (texts_.read(file, bytes) && words.occur_in(bytes)) wanted_[file].asked = true;
  }
}

std::map<std::size_t, StatedEnumerators> TypedTier::enumerators() const {
  std::map<std::size_t, StatedEnumerators> found;
  const auto sorted = [](const std::vector<TypedEnumerator>& list) {
    std::vector<StatedValue> values;
    for (const TypedEnumerator& one : list) {
      values.push_back({one.place.offset, one.place.length, one.name});
    }
    std::sort(values.begin(), values.end(), [](const StatedValue& one, const StatedValue& other) {
      return one.offset < other.offset;
    });
    // A macro may bring several to one place.
    const auto same = std::unique(values.begin(), values.end(),
                                  [](const StatedValue& one, const StatedValue& other) {
                                    return other.offset < one.offset + one.length;
                                  });
    values.erase(same, values.end());
    return values;
  };
  for (std::size_t file = 0; file < answers_.size(); ++file) {
    StatedEnumerators stated{sorted(answers_[file].values), sorted(answers_[file].enumerators)};
    if (!stated.empty()) found.emplace(file, std::move(stated));
  }
  return found;
}

// Files that register by what they define, and those that keep what a call gives.
void TypedTier::want_words() {
  const Needles words({"egister", "egistr"});
  std::string bytes;
  for (const std::size_t file : cpp_files_) {
    Wanted& wanted = wanted_[file];
    wanted.asked = wanted.asked || !wanted.functions.empty() || !wanted.names.empty();
    // What a header says is read with the files that include it.
    if (wanted.asked || is_header_path(paths_[file]) || !texts_.read(file, bytes)) continue;
    wanted.asked = words.occur_in(bytes) || keeps_from_call(bytes);
  }
}

// Files that may define what an initialization reads. False where there are none.
bool TypedTier::want_definitions(const TreeRecords& records) {
  std::set<std::string> names;
  for (const FileRecords& file : records.files) {
    for (const RegistrarRecord& registrar : file.registrars) {
      for (const RegistrarUse& use : registrar.uses) names.emplace(base_of(use.name.text));
    }
  }
  std::erase_if(names, [](const std::string& name) { return name.size() < 3; });
  if (names.empty()) return false;
  const Needles needles({names.begin(), names.end()});
  bool found = false;
  std::string bytes;
  for (const std::size_t file : cpp_files_) {
    Wanted& wanted = wanted_[file];
    if (wanted.asked || is_header_path(paths_[file]) || !texts_.read(file, bytes)) continue;
    if (!needles.occur_in(bytes)) continue;
    wanted.asked = true;
    found = true;
  }
  return found;
}

// The headers of the project that a file includes, each once and before those that include it.
void TypedTier::add_headers(FileId file, std::string& text) const {
  std::unordered_set<FileId> seen{file};
  struct Level {
    FileId file;
    std::size_t next;
  };
  std::vector<Level> stack{{file, 0}};
  const std::size_t limit = text.size() + most_header_bytes;
  std::string bytes;
  while (!stack.empty()) {
    Level& level = stack.back();
    const std::vector<HeaderDirective>& directives = tree_.header(level.file).directives;
    if (level.next < directives.size()) {
      const HeaderDirective& directive = directives[level.next++];
      if (directive.kind != DirectiveKind::include || directive.index == no_file) continue;
      if (seen.size() < most_headers && seen.insert(directive.index).second) {
        stack.push_back({directive.index, 0});
      }
      continue;
    }
    const FileId done = level.file;
    stack.pop_back();
    if (done == file || !is_header_path(tree_.path(done)) || !tree_.read(done, bytes)) continue;
    if (text.size() + bytes.size() > limit || bytes.find('\0') != bytes.npos) continue;
    text += bytes;
    text += '\n';
  }
}

TypedQuestion TypedTier::question_for(std::size_t file) const {
  TypedQuestion question;
  question.path = paths_[file];
  question.text = clang_prelude(paths_[file]);
  question.prelude = static_cast<std::uint32_t>(question.text.size());
  if (of_tree_[file] != no_file) add_headers(of_tree_[file], question.text);
  question.prefix = static_cast<std::uint32_t>(question.text.size());
  std::string bytes;
  if (texts_.read(file, bytes)) question.text += bytes;
  question.functions = wanted_[file].functions;
  question.names = wanted_[file].names;
  question.keys = wanted_[file].keys;
  if (commands_.empty() || opened_[file].empty()) return question;
  std::error_code error;
  question.open_path = fs::absolute(opened_[file], error).lexically_normal().string();
  question.root = fs::absolute(root_, error).lexically_normal().string();
  question.flags = commands_.flags_of(question.open_path);
  return question;
}

bool TypedTier::ask(const TypedOptions& options, unsigned threads, TreeRecords& records) {
  // Texts of one round, which are held at once.
  constexpr std::size_t most_asked = std::size_t{64} << 20;
  std::size_t asked = 0;
  bool more = false;
  std::vector<std::size_t> files;
  std::vector<TypedQuestion> questions;
  for (const std::size_t file : cpp_files_) {
    Wanted& wanted = wanted_[file];
    if (!wanted.asked || wanted.answered) continue;
    wanted.answered = true;
    files.push_back(file);
    questions.push_back(question_for(file));
    questions.back().seconds =
        questions.back().flags.empty() ? options.seconds : options.seconds * times_as_built;
    if (!questions.back().flags.empty()) questions.back().cache = options.cache;
    // The rest is asked in a round of its own.
    asked += questions.back().text.size();
    more = asked > most_asked;
    if (more) break;
  }
  if (questions.empty()) return false;
  TypedAnswers answers = ask_clang(options.program, questions, threads);
  if (!answers.missing.empty()) {
    if (options.outcome != nullptr) options.outcome->skipped(answers.missing);
    return false;
  }
  for (std::size_t at = 0; at < files.size(); ++at) {
    TypedAnswer& answer = answers.answers[at];
    if (answer.problem.empty()) {
      add_answer(files[at], answer.file, records);
      continue;
    }
    records.files[files[at]].problems.push_back(
        {Location{static_cast<std::uint32_t>(files[at]), 0, 0},
         "not read with types: " + answer.problem,
         {},
         Severity::note});
  }
  return more;
}

void TypedTier::add_answer(std::size_t file, TypedFile& answer, TreeRecords& records) {
  // What else a header says is read with the files that include it.
  if (is_header_path(paths_[file])) {
    answers_[file].keys = std::move(answer.keys);
    return;
  }
  std::vector<RegistrarRecord>& registrars = records.files[file].registrars;
  const std::size_t read_as_text = registrars.size();
  for (const TypedStatus& status : answer.statuses) {
    RegistrarRecord record;
    record.type = status.callee;
    record.status = status.dropped ? "dropped" : "checked";
    record.place = place_in(file, status.place);
    record.typed = true;
    const auto known = std::any_of(
        registrars.begin(), registrars.begin() + static_cast<std::ptrdiff_t>(read_as_text),
        [&record](const RegistrarRecord& other) {
          return other.type == record.type && is_within(other.place, record.place);
        });
    if (!known) registrars.push_back(std::move(record));
  }
  for (TypedRegistrar& registrar : answer.registrars) {
    RegistrarRecord record;
    record.type = std::move(registrar.type);
    record.name = std::move(registrar.name);
    record.place = place_in(file, registrar.place);
    record.says_uses = true;
    record.typed = true;
    for (TypedUse& use : registrar.uses) {
      // One in a header is told where the object is made.
      const SourcePlace place = use.place.length == 0 ? record.place : place_in(file, use.place);
      record.uses.push_back({{std::move(use.name), place}, {}});
    }
    registrars.push_back(std::move(record));
  }
  std::vector<KeptPointer>& pointers = records.devices[file].pointers;
  for (TypedPointer& pointer : answer.pointers) {
    KeptPointer kept;
    kept.expression = std::move(pointer.expression);
    kept.holder = "temporary";
    kept.type = std::move(pointer.type);
    kept.function = std::move(pointer.function);
    kept.place = place_in(file, pointer.place);
    kept.typed = true;
    const bool known =
        std::any_of(pointers.begin(), pointers.end(), [&kept](const KeptPointer& other) {
          return is_within(other.place, kept.place) || is_within(kept.place, other.place);
        });
    if (!known) pointers.push_back(std::move(kept));
  }
  answers_[file] = std::move(answer);
}

void TypedTier::settle_functions(std::vector<TorchRecord>& records) const {
  for (TorchRecord& record : records) {
    SourceFunction& function = record.function;
    if (record.python) continue;
    const bool by_place = function.declared;
    const std::string name(base_of(function.name));
    const std::size_t file = by_place ? function.place.file : record.place.file;
    for (const TypedFunction& one : answers_[file].functions) {
      const bool is_it = by_place ? one.name.empty() && one.place.offset == function.place.offset
                                  : !name.empty() && one.name == name;
      if (!is_it || !one.resolved) continue;
      // Overloads of which the text doesn't say which is meant, or what a macro hides.
      if (by_place && (function.signature == "(...)" || one.positional != function.positional)) {
        continue;
      }
      function.signature = one.signature;
      function.typed = true;
      if (by_place) break;
      function.declared = true;
      function.positional = one.positional;
      function.required = one.positional;
      break;
    }
  }
}

// Of what is read those count that a unit of the tree defines, by code that runs at the start.
void TypedTier::settle_uses(TreeRecords& records) const {
  for (FileRecords& file : records.files) {
    for (RegistrarRecord& registrar : file.registrars) {
      std::vector<RegistrarUse> kept;
      bool all_known = true;
      for (RegistrarUse& use : registrar.uses) {
        const TypedGlobal* only = nullptr;
        std::size_t definitions = 0;
        for (std::size_t at = 0; at < answers_.size(); ++at) {
          for (const TypedGlobal& global : answers_[at].globals) {
            if (global.name != use.name.text) continue;
            ++definitions;
            only = &global;
            use.definition = place_in(at, global.place);
          }
        }
        // Builds may take one of several files.
        if (definitions != 1) {
          all_known = false;
        } else if (only->dynamic) {
          kept.push_back(std::move(use));
        }
      }
      registrar.uses = std::move(kept);
      registrar.says_uses = registrar.says_uses && (all_known || !registrar.uses.empty());
    }
  }
}

}  // namespace opseal
