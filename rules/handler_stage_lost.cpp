#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/lost_stages.h"

namespace opseal {
namespace {

// XLA knows four; a list that is longer than this is no list of stages.
constexpr std::uint32_t most_stages = 32;
// Rows of one name that are looked through; a log that repeats a name more often is no log of
// stages.
constexpr std::size_t most_rows = 64;

bool is_stage_list(const Fact& stages) { return all_read(stages) && stages.size() <= most_stages; }

bool has_stage(const Fact& stages, const Fact& wanted) {
  for (const Fact stage : stages.items()) {
    if (stage.name() == wanted.name() || lower(stage.text()) == lower(wanted.text())) return true;
  }
  return false;
}

// The log may register the stages of one bundle in separate rows.
class Rows {
 public:
  explicit Rows(const Fact& manifest) : platforms_(manifest) {
    for (const Fact target : manifest[Key::targets].items()) {
      if (target[Key::name].is_text()) rows_.emplace_back(target[Key::name].name(), target);
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.first < b.first; });
  }

  // Whether another row registers the stage, or could, as far as was said.
  bool may_register(const Fact& target, const Fact& stage) {
    const Name name = target[Key::name].name();
    auto row = std::lower_bound(rows_.begin(), rows_.end(), name,
                                [](const Row& a, Name wanted) { return a.first < wanted; });
    for (std::size_t seen = 0; row != rows_.end() && row->first == name; ++row) {
      if (++seen > most_rows) return true;
      const Fact& other = row->second;
      if (other == target || !same_platform_said(other, target)) continue;
      const Fact stages = other[Key::stages];
      if (!is_stage_list(stages) || has_stage(stages, stage)) return true;
    }
    return false;
  }

 private:
  using Row = std::pair<Name, Fact>;

  bool same_platform_said(const Fact& a, const Fact& b) {
    const Fact first = a[Key::platform];
    const Fact second = b[Key::platform];
    return !first.is_text() || !second.is_text() || platforms_.same(first, second);
  }

  PlatformNames platforms_;
  std::vector<Row> rows_;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    // Made at the first stage that a row lacks: mostly never.
    std::vector<Rows> rows;
    for (const Fact target : manifest[Key::targets].items()) {
      const Fact declared = target[Key::declared_stages];
      const Fact registered = target[Key::stages];
      if (!is_stage_list(declared) || !is_stage_list(registered)) continue;
      sink.inspected();
      std::vector<std::string> lost;
      for (const Fact stage : declared.items()) {
        if (has_stage(registered, stage)) continue;
        if (rows.empty()) rows.emplace_back(manifest);
        if (!rows.front().may_register(target, stage)) lost.emplace_back(stage.text());
      }
      if (lost.empty()) continue;
      std::string message = "stage " + quote_list(lost) + " of the handler is not registered";
      if (lost.size() > 1)
        message = "stages " + quote_list(lost) + " of the handler are not registered";
      Finding& finding = sink.add(std::string(target[Key::name].text()), std::move(message),
                                  evidence(registered, "stages registered here" + site_of(target)));
      finding.related.push_back(evidence(declared, "stages that the handler has"));
    }
  }
  check_stages_in_libraries(facts, sink);
}

}  // namespace

extern constinit const Rule handler_stage_lost{
    .id = "handler-stage-lost",
    .title = "stage of a handler that was not registered",
    .rationale =
        "A handler can come as a bundle: one function makes its state, another prepares memory, "
        "another initializes the device, and the last one runs. If only the last one reaches the "
        "framework, nothing fails at registration. The call then runs without its state and "
        "crashes, or does at each call what was meant to be done once.",
    .example = R"({"name": "lib.f", "platform": "CUDA", "stages": ["execute"],)"
               R"( "declared_stages": ["instantiate", "execute"]})",
    .fix = "register the whole bundle: hand the framework one function for each stage",
    .severity = Severity::error,
    .inspects =
        "target of which it is said which stages were registered, and which ones it has, by the "
        "manifest or by the library that holds its symbol",
    .needs = {Key::targets, Key::stages},
    .reads = {Key::handlers},
    .check = check,
};

}  // namespace opseal
