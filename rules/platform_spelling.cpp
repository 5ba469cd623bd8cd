#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"

namespace opseal {
namespace {

// Nobody has more platforms; keeps hostile input from costing the square of its size.
constexpr std::size_t most_words = 64;

// Longer words are no platforms.
constexpr std::size_t longest_word = 64;

// "CpuExecutionProvider" and "CPU_ExecutionProvider" are one.
std::string letters_and_digits(std::string_view word) {
  std::string kept = lower(word.substr(0, longest_word));
  std::erase_if(kept, [](char c) { return c == '_' || c == '-' || c == ' ' || c == '.'; });
  return kept;
}

// Without the number of one device: `cuda:0` and `CUDA0` ask for what is registered for all of
// them.
std::string_view without_index(std::string_view word) {
  const std::size_t last = word.find_last_not_of("0123456789");
  if (last == word.npos) return word;
  return word.substr(0, word[last] == ':' ? last : last + 1);
}

// Words in the place of a platform, each once, with the first fact that says it.
class Words {
 public:
  // The word may stand in a fact of its own or be a member of `item`. Is it new?
  bool add(const Fact& word, const Fact& item) {
    if (!word.is_text() || words_.size() >= most_words) return false;
    for (const auto& [known, said_by] : words_) {
      if (known.name() == word.name()) return false;
    }
    words_.emplace_back(word, item);
    return true;
  }
  void clear() { words_.clear(); }
  const std::vector<std::pair<Fact, Fact>>& all() const { return words_; }

 private:
  std::vector<std::pair<Fact, Fact>> words_;
};

class Check {
 public:
  Check(const Fact& manifest, Sink& sink)
      : manifest_(manifest),
        names_(manifest),
        sink_(sink),
        xla_(registers_with_xla(manifest)),
        two_cases_(manifest[Key::system].is("torch") || manifest[Key::system].is("executorch")) {}

  void run() {
    Words everywhere;
    Words own;
    for (const Fact op : manifest_[Key::operators].items()) {
      own.clear();
      for (const Fact kernel : op[Key::kernels].items()) own.add(kernel[Key::platform], kernel);
      for (const auto& [word, kernel] : own.all()) {
        if (everywhere.add(word, kernel)) hold_against_list(word, kernel, op);
      }
      if (!kernels_known(op)) continue;
      std::size_t seen = 0;
      for (const auto& [platform, backend] : op[Key::defaults].entries()) {
        if (++seen > most_words) break;
        look_up(platform, own, "default looked up here", [&] { return subject_of(manifest_, op); });
      }
    }
    for (const auto& [platform, backend] : manifest_[Key::global_backends].entries()) {
      look_up(platform, everywhere, "backend looked up here",
              [&platform = platform] { return std::string(platform.text()); });
    }
    check_lookups();
  }

 private:
  // Finds the same registration under the framework's own rule.
  bool matches(const Fact& asked, const Fact& registered) {
    const Name wanted = names_.resolve(asked.name());
    const Name known = names_.resolve(registered.name());
    if (wanted == known) return true;
    const std::string_view device = without_index(manifest_.facts().names.text(wanted));
    const std::string_view key = without_index(manifest_.facts().names.text(known));
    if (two_cases_ ? lower(device) == lower(key) : device == key) return true;
    const Platform a = names_.of(asked);
    const Platform b = names_.of(registered);
    if (b.role == PlatformRole::every || a.role == PlatformRole::every) return true;
    // JAX expands `gpu` to its members by itself.
    const bool family = a.role == PlatformRole::family || b.role == PlatformRole::family;
    return xla_ && family && names_.reaches(asked, registered);
  }

  // `subject()` is called for a finding only: nearly every look-up is innocent.
  template <typename Subject>
  void look_up(const Fact& asked, const Words& registered, std::string_view label,
               Subject subject) {
    if (!asked.is_text() || registered.all().empty()) return;
    Fact word;
    Fact item;
    std::size_t near = 0;
    for (const auto& [candidate, said_by] : registered.all()) {
      if (matches(asked, candidate)) {
        sink_.inspected();
        return;
      }
      if (!names_.reaches(asked, candidate)) continue;
      word = candidate;
      item = said_by;
      ++near;
    }
    sink_.inspected();
    // Several members of a family: the word is meant as one.
    if (near != 1) return;
    Finding& finding = sink_.add(
        subject(), "looked up as " + quote(asked.text()) + ", registered as " + quote(word.text()),
        evidence(asked, std::string(label)));
    finding.related.push_back(evidence(word, "registered under this spelling" + site_of(item)));
  }

  // A list of the platforms that the registry knows may speak of families (`gpu`) or kinds of
  // machine (`cpu` for `x86`), so only the writing of one word is held against it.
  void hold_against_list(const Fact& word, const Fact& kernel, const Fact& op) {
    const Fact list = manifest_[Key::platforms];
    if (list.size() == 0 || list.size() > most_words) return;
    sink_.inspected();
    Fact near;
    const std::string plain = letters_and_digits(word.text());
    for (const Fact platform : list.items()) {
      if (!platform.is_text()) return;
      if (matches(platform, word)) return;
      if (letters_and_digits(platform.text()) == plain) near = platform;
    }
    if (!near.said()) return;
    Finding& finding = sink_.add(
        subject_of(manifest_, op),
        "registered as " + quote(word.text()) + ", known to the registry as " + quote(near.text()),
        evidence(word, "registered under this spelling" + site_of(kernel)));
    finding.related.push_back(evidence(near, "registry's own word"));
  }

  void check_lookups() {
    std::vector<std::pair<Name, Fact>> registered;
    std::size_t asked = 0;
    for (const Fact dispatch : manifest_[Key::dispatch].items()) {
      asked += dispatch[Key::lookups].size();
    }
    if (asked == 0) return;
    for (const Fact op : manifest_[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        registered.emplace_back(op[Key::name].name(), kernel);
      }
    }
    for (const Fact target : manifest_[Key::targets].items()) {
      // XLA's table knows more than one spelling; `platform-string` judges those.
      if (!xla_) registered.emplace_back(target[Key::name].name(), target);
    }
    std::stable_sort(registered.begin(), registered.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::unordered_map<Name, Words> words;
    for (const auto& [name, item] : registered) words[name].add(item[Key::platform], item);
    for (const Fact dispatch : manifest_[Key::dispatch].items()) {
      for (const Fact lookup : dispatch[Key::lookups].items()) {
        const auto found = words.find(lookup[Key::operator_].name());
        if (found == words.end()) continue;
        look_up(lookup[Key::platform], found->second, "looked up here",
                [&] { return std::string(lookup[Key::operator_].text()); });
      }
    }
  }

  const Fact manifest_;
  PlatformNames names_;
  Sink& sink_;
  // XLA's Python side, with its own equal words.
  const bool xla_;
  // There a device type is in lower case and the dispatch key of the device in upper case: `cuda`
  // is looked up under `CUDA` by right.
  const bool two_cases_;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) Check(facts.root(document), sink).run();
}

}  // namespace

extern constinit const Rule platform_spelling{
    .id = "platform-spelling",
    .title = "one platform spelled differently where it is registered and where it is looked up",
    .rationale =
        "Tables of kernels are keyed by the platform's name as text. `CUDA`, `cuda` and `gpu` mean "
        "one device to a person and three keys to the table: the look-up misses what is "
        "registered, "
        "and the caller gets an error, a slow fallback, or a default that is never applied.",
    .example =
        R"({"name": "mv", "defaults": {"gpu": "raw"}, "kernels": [{"platform": "CUDA", "backend": "raw"}]})",
    .fix =
        "use one spelling on both sides; a manifest may state the alias under `platform_aliases`",
    .severity = Severity::error,
    .inspects = "look-up by platform beside a stated registration",
    .needs = {Key::platform},
    .check = check,
};

}  // namespace opseal
