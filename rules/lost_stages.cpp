#include "rules/lost_stages.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/library_handlers.h"

namespace opseal {
namespace {

// XLA knows five.
constexpr std::uint32_t most_stages = 32;

bool is_early(std::string_view stage) {
  return stage == "instantiate" || stage == "prepare" || stage == "initialize";
}

// The name of a handler without the words that name its stage: `foo` for `FooInitialize`,
// `foo_execute`, `foo`.
std::string name_without_stage(std::string_view symbol) {
  // Longer words first: `instantiate` before `init`.
  constexpr std::array<std::string_view, 10> words = {
      "instantiate", "initialize", "initialise", "prepare", "execute",
      "exec",        "init",       "handler",    "stage",   "bundle"};
  std::string name = lower(symbol);
  for (const std::string_view word : words) {
    if (const std::size_t at = name.find(word); at != name.npos) name.erase(at, word.size());
  }
  std::erase(name, '_');
  return name;
}

// `state<T>` of what a handler binds; empty without.
std::string_view state_of(const Fact& handler) {
  for (const Fact word : handler[Key::spec].items()) {
    if (word.text().starts_with("ctx.state<")) return word.text().substr(4);
  }
  for (const Fact context : handler[Key::contexts].items()) {
    if (context.text().starts_with("state<")) return context.text();
  }
  return {};
}

// Early stages of one library by name. Handlers whose names don't tell them apart say nothing.
class EarlyStages {
 public:
  explicit EarlyStages(const Fact& content) {
    for (const Fact handler : content[Key::handlers].items()) {
      if (!handler[Key::symbol].is_text() || handler[Key::ambiguous].truth()) continue;
      if (!is_early(handler[Key::stage].text())) continue;
      std::string name = name_without_stage(handler[Key::symbol].text());
      if (!name.empty()) by_name_.emplace(std::move(name), handler);
    }
  }

  template <typename Visit>
  void for_each_sibling(const Fact& symbol, Visit visit) const {
    const auto [first, end] = by_name_.equal_range(name_without_stage(symbol.text()));
    for (auto at = first; at != end; ++at) visit(at->second);
  }

 private:
  std::unordered_multimap<std::string, Fact> by_name_;
};

class StageCheck {
 public:
  StageCheck(const Facts& facts, Sink& sink)
      : facts_(facts), sink_(sink), libraries_(facts), handlers_(libraries_) {}

  void run() {
    if (!facts_.said[static_cast<std::size_t>(Key::handlers)]) return;
    for (const Document& document : facts_.documents) {
      if (document.settings || document.named) continue;
      const Fact manifest = facts_.root(document);
      const bool of_sources = manifest[Key::handlers].size() > 0;
      if (handlers_.empty() && !of_sources) continue;
      collect(manifest);
      collect_sources(manifest);
      for (const Fact target : manifest[Key::targets].items()) judge(manifest, target);
    }
  }

 private:
  // A log may register the stages of one name in separate rows, and platforms have one each.
  void collect(const Fact& manifest) {
    registered_.clear();
    unclear_.clear();
    for (const Fact target : manifest[Key::targets].items()) {
      const Fact stages = target[Key::stages];
      if (!all_read(stages) || stages.size() > most_stages) {
        ++unclear_[target[Key::name].name()];
        continue;
      }
      for (const Fact stage : stages.items()) {
        registered_[target[Key::name].name()].push_back(lower(stage.text()));
      }
    }
  }

  // The handlers that the manifest itself lists, as sources do. Of equal names, which are
  // alternatives of one build, none.
  void collect_sources(const Fact& manifest) {
    own_.clear();
    for (const Fact handler : manifest[Key::handlers].items()) {
      const Fact symbol = handler[Key::symbol];
      if (!symbol.is_text()) continue;
      const auto [known, is_new] = own_.try_emplace(symbol.name(), handler);
      if (!is_new) known->second = {};
    }
  }

  void judge(const Fact& manifest, const Fact& target) {
    const Fact stages = target[Key::stages];
    const Fact name = target[Key::name];
    if (!all_read(stages) || stages.size() > most_stages || unclear_.contains(name.name())) return;
    Fact handler = handlers_.of(manifest, target);
    Fact content = handlers_.content_of(manifest, target);
    const auto own = own_.find(target[Key::symbol].name());
    const bool in_sources = !handler.said() && own != own_.end();
    if (in_sources) {
      handler = own->second;
      content = manifest;
    }
    if (!handler[Key::stage].is("execute") || handler[Key::ambiguous].truth()) return;
    sink_.inspected();
    // What is said in the manifest itself was judged already.
    if (target[Key::declared_stages].said()) return;
    const std::vector<std::string>& there = registered_[name.name()];
    const auto early = early_.try_emplace(content.index(), content).first;
    Fact lost;
    std::vector<std::string> words;
    early->second.for_each_sibling(target[Key::symbol], [&](const Fact& sibling) {
      const std::string stage = lower(sibling[Key::stage].text());
      const bool known = std::find(there.begin(), there.end(), stage) != there.end() ||
                         std::find(words.begin(), words.end(), stage) != words.end();
      if (known || words.size() > most_stages) return;
      if (!lost.said()) lost = sibling;
      words.push_back(stage);
    });
    const std::string_view state = state_of(handler);
    const bool made = std::any_of(there.begin(), there.end(),
                                  [](const std::string& stage) { return is_early(stage); });
    if (lost.said()) {
      std::sort(words.begin(), words.end());
      Finding& finding =
          sink_.add(std::string(name.text()),
                    std::string(words.size() == 1 ? "stage " : "stages ") + quote_list(words) +
                        " of the handler " + (words.size() == 1 ? "is" : "are") +
                        (in_sources ? " in the sources and not registered"
                                    : " in the library and not registered"),
                    evidence(stages, "stages registered here" + site_of(target)));
      finding.related.push_back(evidence(lost, "handler of the stage"));
    } else if (!state.empty() && !made) {
      Finding& finding = sink_.add(
          std::string(name.text()),
          "handler asks for " + quote(state) + ", and no stage that makes it is registered",
          evidence(stages, "stages registered here" + site_of(target)));
      finding.related.push_back(evidence(handler, "handler that asks for it"));
    }
  }

  const Facts& facts_;
  Sink& sink_;
  LibraryFacts libraries_;
  LibraryHandlers handlers_;
  std::unordered_map<std::uint32_t, EarlyStages> early_;
  std::unordered_map<Name, Fact> own_;
  std::unordered_map<Name, std::vector<std::string>> registered_;
  // Names of which some row doesn't say its stages.
  std::unordered_map<Name, int> unclear_;
};

}  // namespace

void check_stages_in_libraries(const Facts& facts, Sink& sink) { StageCheck(facts, sink).run(); }

}  // namespace opseal
