#include <algorithm>
#include <tuple>
#include <vector>

#include "opseal/digest.h"
#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"
#include "rules/repeats.h"

namespace opseal {
namespace {

struct Entry {
  std::string_view platform;
  Name name = Names::missing;
  // Typed and untyped handlers are kept in tables of their own.
  std::uint64_t table = 0;
  Fact target;

  auto key() const { return std::tie(platform, name, table); }
};

bool both_said(const Fact& a, const Fact& b) { return a.is_text() && b.is_text(); }

// Which stated fact proves that the code behind two targets differs, or `Key::none`. A content id
// decides alone; without one, two functions or two symbols of one library are two things. Two paths
// prove nothing: a library may be found under both.
Key difference(const Fact& a, const Fact& b) {
  if (both_said(a[Key::content], b[Key::content])) {
    return a[Key::content].name() == b[Key::content].name() ? Key::none : Key::content;
  }
  if (both_said(a[Key::symbol], b[Key::symbol]) && a[Key::symbol].name() != b[Key::symbol].name()) {
    return Key::symbol;
  }
  const Fact first = a[Key::function][Key::name];
  const Fact second = b[Key::function][Key::name];
  if (both_said(first, second) && first.name() != second.name()) return Key::function;
  if (both_said(a[Key::library], b[Key::library]) &&
      a[Key::library].name() != b[Key::library].name()) {
    const auto file = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
    if (file(a[Key::library].text()) != file(b[Key::library].text())) return Key::library;
  }
  return Key::none;
}

// Some fact was said on both sides, so that "no difference" means something.
bool comparable(const Fact& a, const Fact& b) {
  return both_said(a[Key::content], b[Key::content]) || both_said(a[Key::symbol], b[Key::symbol]) ||
         both_said(a[Key::library], b[Key::library]) ||
         both_said(a[Key::function][Key::name], b[Key::function][Key::name]);
}

// A bundle may be registered stage by stage.
bool share_a_stage(const Fact& a, const Fact& b) {
  const Fact first = a[Key::stages];
  const Fact second = b[Key::stages];
  if (!first.is_list() && !second.is_list()) return true;
  for (const Fact stage : first.items()) {
    // There are four stages; a longer list is hostile.
    if (first.size() > 16 || second.size() > 16) return false;
    if (stage.is_text() && list_has(second, stage.text())) return true;
  }
  return false;
}

std::string value_text(const Fact& target, Key key) {
  return quote(key == Key::function ? target[key][Key::name].text() : target[key].text());
}

void compare(const Fact& manifest, const Fact& a, const Fact& b, Sink& sink) {
  if (!comparable(a, b) || !share_a_stage(a, b) || may_be_alternatives(manifest, a, b)) return;
  const Key key = difference(a, b);
  if (key == Key::none) return;
  std::string message = "registered twice";
  if (b[Key::platform].is_text()) message += " on " + quote(b[Key::platform].text());
  message += " with different " + std::string(to_text(key)) + ": " + value_text(a, key) +
             ", then " + value_text(b, key);
  Finding& finding = sink.add(subject_of(manifest, b), std::move(message),
                              evidence(b, "registered again here" + site_of(b)));
  finding.related.push_back(evidence(a, "the first one" + site_of(a)));
  if (b[Key::replace].truth()) {
    finding.fix =
        "use a new name: `replace` doesn't reach a framework that keeps the first handler";
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    const bool xla = registers_with_xla(manifest);
    PlatformNames names(manifest);
    std::vector<Entry> entries;
    std::vector<std::uint64_t> hashes;
    for (const Fact target : manifest[Key::targets].items()) {
      if (!target[Key::name].is_text()) continue;
      std::string_view platform = names.of(target[Key::platform]).name;
      // XLA's Python side writes `gpu` to the table of `CUDA`.
      if (xla && platform == "gpu") platform = "cuda";
      const Fact version = target[Key::api_version];
      // XLA keeps typed (1) and untyped (0) handlers apart.
      entries.push_back(
          {platform, target[Key::name].name(), version.is_count() ? version.count() : 2, target});
      hashes.push_back(hash_text(platform) + target[Key::name].name());
    }
    sink.inspected(entries.size());
    std::vector<Entry> again;
    for (const std::uint32_t index : repeated(hashes)) again.push_back(entries[index]);
    std::sort(again.begin(), again.end(), [](const Entry& a, const Entry& b) {
      return std::tuple(a.platform, a.name, a.table, a.target.index()) <
             std::tuple(b.platform, b.name, b.table, b.target.index());
    });
    // Stages of one bundle may lie between two that compare, so a few are looked at.
    constexpr std::size_t reach = 4;
    for (std::size_t i = 1; i < again.size(); ++i) {
      for (std::size_t back = 1; back <= std::min(i, reach); ++back) {
        const Entry& before = again[i - back];
        if (before.key() != again[i].key()) break;
        const std::size_t found = sink.findings().size();
        compare(manifest, before.target, again[i].target, sink);
        if (sink.findings().size() > found) break;
      }
    }
  }
}

}  // namespace

extern constinit const Rule target_duplicate{
    .id = "target-duplicate",
    .title = "one target name, two contents",
    .rationale =
        "The framework keeps one handler for a name on a platform. Host registries refuse the "
        "second "
        "one; others accept the call and keep the first, so that a rebuilt kernel, or the kernel "
        "of "
        "another module with the same name, never runs and the old code answers in its place.",
    .example =
        R"({"opseal_manifest": 1, "system": "jax", "targets": [{"name": "mv", "platform": "cpu", "content": "key:1"}, {"name": "mv", "platform": "cpu", "content": "key:2"}]})",
    .fix =
        "register the second one under a name of its own, for example with a prefix of its module",
    .severity = Severity::error,
    .inspects = "registered target",
    .needs = {Key::targets},
    .check = check,
};

}  // namespace opseal
