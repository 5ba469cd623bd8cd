// What the host asks of a device's capability before it starts a kernel. Whatever may be such a
// question counts as one: a name is enough, so that silence means that nobody asks.

#include "analyzers/sources/device_conditions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <unordered_map>

#include "analyzers/source/needles.h"

namespace opseal {
namespace {

constexpr std::size_t most_text = 160;
constexpr std::size_t most_conditions = 8;
// Callers of callers, and the names on the way, that are looked at.
constexpr int most_callers = 16;
constexpr std::size_t most_names = 256;
// Of all ways together.
constexpr std::size_t most_steps = 100'000;
// Shorter names, and those that more functions use, are those of many functions.
constexpr std::size_t least_name = 3;
constexpr std::size_t most_uses = 48;

constexpr std::array<std::string_view, 23> parts{
    "capability", "major",   "smversion",  "smarch",   "cudaarch",  "computecap",
    "deviceprop", "gpuarch", "getarch",    "archlist", "hopper",    "ampere",
    "blackwell",  "volta",   "turing",     "isarch",   "supported", "supports",
    "tensorcore", "archtag", "versionnum", "minarch",  "devicearch"};

// `sm90`, `sm_80`, `SM100`.
bool names_architecture(std::string_view lower) {
  for (std::size_t at = lower.find("sm"); at != lower.npos; at = lower.find("sm", at + 1)) {
    const std::size_t digits = at + 2;
    if (digits + 1 < lower.size() && std::isdigit(static_cast<unsigned char>(lower[digits])) != 0 &&
        std::isdigit(static_cast<unsigned char>(lower[digits + 1])) != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool asks_capability(std::string_view word) {
  // What a build says is the same for all devices.
  if (word == "__CUDA_ARCH__") return false;
  if (word == "cc" || word == "arch" || word == "sm") return true;
  if (word.size() < 4) return false;
  std::string lower;
  for (const char byte : word) {
    if (byte != '_') {
      lower += static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
    }
  }
  // Layouts of matrices.
  if (lower.find("rowmajor") != lower.npos || lower.find("colmajor") != lower.npos ||
      lower.find("columnmajor") != lower.npos) {
    return false;
  }
  return names_architecture(lower) ||
         std::any_of(parts.begin(), parts.end(),
                     [&lower](std::string_view part) { return lower.find(part) != lower.npos; });
}

namespace {

// The condition of an `if` around a token; else the token.
std::string condition_around(Tokens tokens, std::size_t at) {
  constexpr std::size_t most_tokens = 64;
  std::size_t depth = 0;
  for (std::size_t open = at, steps = 0; open > 0 && steps < most_tokens; ++steps) {
    --open;
    if (tokens[open].is(';') || tokens[open].is('{') || tokens[open].is('}')) break;
    if (tokens[open].is(')')) ++depth;
    if (!tokens[open].is('(')) continue;
    if (depth > 0) {
      --depth;
      continue;
    }
    const bool after_if =
        open > 0 && (tokens[open - 1].is("if") || tokens[open - 1].is("constexpr"));
    if (!after_if) continue;
    const Tokens rest = tokens.subspan(open, std::min(2 * most_tokens, tokens.size() - open));
    const std::size_t close = closing_bracket(rest, 0);
    if (close < rest.size()) return text_of(rest.subspan(1, close - 1));
  }
  return std::string(tokens[at].text);
}

using Hashes = std::unordered_set<std::uint32_t>;

// The way to a launch: all functions and macros that lead there.
struct Way {
  bool unknown = false;
  std::vector<std::string> conditions;
  std::set<std::string> names;
};

class ConditionJoin {
 public:
  explicit ConditionJoin(const std::vector<LaunchCode*>& codes) : codes_(codes) {
    for (const LaunchCode* code : codes_) {
      for (const auto* list : {&code->functions, &code->macros}) {
        for (const NamingCode& one : *list) {
          names_.insert(one.hash);
          if (one.owner != 0) names_.insert(one.owner);
          if (one.conditions.empty()) continue;
          asking_.try_emplace(one.hash, &one);
          asking_files_.insert(code);
        }
      }
    }
    find_uses();
  }

  std::vector<std::string> run(const Hashes& kernels) {
    std::set<std::string> open;
    for (LaunchCode* code : codes_) {
      for (KernelLaunch& launch : code->launches) {
        launch.conditions.reset();
        if (launch.kernel.empty() || !kernels.contains(hash_of(launch.kernel))) continue;
        const Way& way = way_to(*code, code->functions[launch.function]);
        if (way.conditions.empty() && way.unknown) continue;
        launch.conditions = way.conditions;
        if (way.conditions.empty()) open.insert(way.names.begin(), way.names.end());
      }
    }
    return {open.begin(), open.end()};
  }

 private:
  const Way& way_to(const LaunchCode& code, const NamingCode& function) {
    const auto [found, is_new] = ways_.try_emplace(&function);
    if (is_new) found->second = find(code, function);
    return found->second;
  }

  Way find(const LaunchCode& home, const NamingCode& function) {
    Way way;
    add(function, home, way);
    Hashes known{function.hash};
    std::vector<Step> level{{&function, home.is_header}};
    for (int depth = 0; !level.empty(); ++depth) {
      if (depth > most_callers || known.size() > most_names) way.unknown = true;
      std::vector<Step> next;
      for (const Step& step : level) {
        if (++steps_ > most_steps) way.unknown = true;
        if (way.unknown || !way.conditions.empty()) return way;
        climb(step, known, next, way);
      }
      level = std::move(next);
    }
    return way;
  }

  // Who names a function, a macro or a class.
  struct User {
    std::uint32_t name = 0;
    const NamingCode* code = nullptr;
    const LaunchCode* file = nullptr;
  };

  void find_uses() {
    for (const LaunchCode* code : codes_) {
      for (const auto* list : {&code->functions, &code->macros}) {
        for (const NamingCode& one : *list) {
          for (const NameUse& use : one.uses) {
            if (names_.contains(use.hash)) users_.push_back({use.hash, &one, code});
          }
        }
      }
    }
    std::stable_sort(users_.begin(), users_.end(),
                     [](const User& a, const User& b) { return a.name < b.name; });
  }

  struct Step {
    const NamingCode* code = nullptr;
    bool is_header = false;
  };

  // To those that name it, and to what its class is named by.
  void climb(const Step& step, Hashes& known, std::vector<Step>& next, Way& way) {
    Hashes names{step.code->hash};
    if (step.code->owner != 0) names.insert(step.code->owner);
    std::size_t uses = 0;
    for (const std::uint32_t name : names) {
      auto use =
          std::lower_bound(users_.begin(), users_.end(), name,
                           [](const User& user, std::uint32_t hash) { return user.name < hash; });
      for (; use != users_.end() && use->name == name && uses <= most_uses; ++use) {
        if (use->code->hash == step.code->hash) continue;
        ++uses;
        if (!known.insert(use->code->hash).second) continue;
        add(*use->code, *use->file, way);
        next.push_back({use->code, use->file->is_header});
      }
    }
    // Who calls that is not in the tree, or can't be told from others.
    if (uses == 0 && step.is_header) way.unknown = true;
    if (uses > most_uses) way.unknown = true;
  }

  void add(const NamingCode& code, const LaunchCode& file, Way& way) {
    // A predicate beside it may be what callers elsewhere ask first.
    if (code.name.size() < least_name || asking_files_.contains(&file)) way.unknown = true;
    if (!code.is_macro) way.names.insert(code.name);
    add_texts(asked_by(code), way.conditions);
  }

  // By itself, and by what it names.
  const std::vector<std::string>& asked_by(const NamingCode& code) {
    const auto [asked, is_new] = asked_.try_emplace(&code, code.conditions);
    if (!is_new) return asked->second;
    for (const NameUse& use : code.uses) {
      const auto found = asking_.find(use.hash);
      if (found != asking_.end()) add_texts(found->second->conditions, asked->second);
    }
    return asked->second;
  }

  static void add_texts(const std::vector<std::string>& more, std::vector<std::string>& texts) {
    for (const std::string& text : more) {
      if (texts.size() >= most_conditions) return;
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
    }
  }

  const std::vector<LaunchCode*>& codes_;
  std::unordered_map<std::uint32_t, const NamingCode*> asking_;
  // Some function or macro of theirs asks.
  std::unordered_set<const LaunchCode*> asking_files_;
  // Of functions, macros and classes.
  Hashes names_;
  // Sorted by name.
  std::vector<User> users_;
  std::unordered_map<const NamingCode*, std::vector<std::string>> asked_;
  std::map<const NamingCode*, Way> ways_;
  std::size_t steps_ = 0;
};

}  // namespace

bool python_asks_capability(std::string_view bytes) {
  static const Needles needles({"apability", "compute_cap", "sm_version", "is_sm", "sm_arch"});
  return needles.occur_in(bytes);
}

void ConditionReader::read(Tokens tokens, std::uint32_t first, NamingCode& code) {
  for (const NameUse& use : code.uses) {
    const Token& token = tokens[use.first - first];
    const auto [known, is_new] = asks_.try_emplace(use.hash, false);
    if (is_new) known->second = asks_capability(token.text);
    if (!known->second) continue;
    if (code.conditions.size() >= most_conditions) return;
    std::string text = condition_around(tokens, use.first - first);
    text.resize(std::min(text.size(), most_text));
    if (std::find(code.conditions.begin(), code.conditions.end(), text) == code.conditions.end()) {
      code.conditions.push_back(std::move(text));
    }
  }
}

std::vector<std::string> join_conditions(const std::vector<LaunchCode*>& codes,
                                         const std::unordered_set<std::uint32_t>& kernels) {
  return ConditionJoin(codes).run(kernels);
}

}  // namespace opseal
