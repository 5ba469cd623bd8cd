#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/digest.h"
#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"
#include "rules/repeats.h"
#include "rules/unread.h"

namespace opseal {
namespace {

std::uint64_t pair_hash(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15;
  return a ^ (a >> 31);
}

// A file and a line; 0 where the line isn't said.
using Site = std::pair<Name, std::uint32_t>;

Site site(const Fact& item) {
  const Fact location = item[Key::location];
  return {location[Key::file].name(), location[Key::line].count()};
}

// One line of the log.
struct Entry {
  Name name = Names::missing;
  std::string_view platform;
  Site site;
  Fact fact;

  auto key() const { return std::tie(name, platform); }
};

using NamedFacts = std::vector<std::pair<Name, Fact>>;

NamedFacts by_name(const Fact& list) {
  NamedFacts named;
  for (const Fact item : list.items()) {
    if (item[Key::name].is_text()) named.emplace_back(item[Key::name].name(), item);
  }
  std::sort(named.begin(), named.end(), [](const auto& a, const auto& b) {
    return std::make_pair(a.first, a.second.index()) < std::make_pair(b.first, b.second.index());
  });
  return named;
}

std::pair<NamedFacts::const_iterator, NamedFacts::const_iterator> range(const NamedFacts& named,
                                                                        Name name) {
  struct Before {
    bool operator()(const std::pair<Name, Fact>& a, Name b) const { return a.first < b; }
    bool operator()(Name a, const std::pair<Name, Fact>& b) const { return a < b.first; }
  };
  return std::equal_range(named.begin(), named.end(), name, Before{});
}

using Counts = std::unordered_map<std::string_view, std::size_t>;

std::size_t count_on(const Counts& counts, std::string_view platform) {
  const auto found = counts.find(platform);
  return found == counts.end() ? 0 : found->second;
}

// What the table holds under one name.
struct Shown {
  Name name = Names::missing;
  std::size_t operators = 0;
  std::size_t kernels = 0;
  Counts kernels_on;
  std::size_t targets = 0;
  Counts targets_on;
  bool sites_said = false;
  // Sorted.
  std::vector<Site> kernel_sites;
};

// Log against table: more places registered the name than the table still holds, so one was lost.
class LogCheck {
 public:
  LogCheck(const Fact& manifest, Sink& sink) : manifest_(manifest), names_(manifest), sink_(sink) {}

  void run() {
    std::vector<Entry> entries;
    std::vector<std::uint64_t> hashes;
    for (const Fact item : manifest_[Key::registrations].items()) {
      if (!item[Key::name].is_text() || !item[Key::location][Key::file].is_text()) continue;
      const std::string_view platform = names_.of(item[Key::platform]).name;
      entries.push_back({item[Key::name].name(), platform, site(item), item});
      hashes.push_back(pair_hash(item[Key::name].name(), hash_text(platform)));
    }
    sink_.inspected(entries.size());
    std::vector<Entry> again;
    for (const std::uint32_t index : repeated(hashes)) again.push_back(entries[index]);
    if (again.empty()) return;
    operators_ = by_name(manifest_[Key::operators]);
    targets_ = by_name(manifest_[Key::targets]);
    std::sort(again.begin(), again.end(), [](const Entry& a, const Entry& b) {
      return std::tuple(a.name, a.platform, a.fact.index()) <
             std::tuple(b.name, b.platform, b.fact.index());
    });
    for (auto first = again.begin(); first != again.end();) {
      auto end = first;
      while (end != again.end() && end->key() == first->key()) ++end;
      judge({first, end});
      first = end;
    }
  }

 private:
  void judge(const std::vector<Entry>& group) {
    look_at(group.front().name);
    // In order of registration, each place once: a loop or a second import meets a place again.
    std::vector<Entry> places;
    std::vector<Entry> sorted = group;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Entry& a, const Entry& b) { return a.site < b.site; });
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const Entry& entry = sorted[i];
      if (i > 0 &&
          (entry.site == sorted[i - 1].site ||
           (entry.site.first == sorted[i - 1].site.first && sorted[i - 1].site.second == 0))) {
        continue;
      }
      if (!is_of_kernel(entry)) places.push_back(entry);
    }
    std::sort(places.begin(), places.end(),
              [](const Entry& a, const Entry& b) { return a.fact.index() < b.fact.index(); });
    if (places.size() < 2 || places.size() <= kept(group.front(), places.size())) return;
    report(places);
  }

  // Looks once at all that the table holds under a name, which may be asked for on many platforms.
  void look_at(Name name) {
    if (shown_.name == name) return;
    shown_ = Shown();
    shown_.name = name;
    const auto [first, end] = range(operators_, name);
    for (auto op = first; op != end; ++op) {
      ++shown_.operators;
      shown_.sites_said = shown_.sites_said || op->second[Key::location];
      for (const Fact kernel : op->second[Key::kernels].items()) {
        ++shown_.kernels;
        ++shown_.kernels_on[names_.of(kernel[Key::platform]).name];
        if (!kernel[Key::location]) continue;
        shown_.sites_said = true;
        shown_.kernel_sites.push_back(site(kernel));
      }
    }
    std::sort(shown_.kernel_sites.begin(), shown_.kernel_sites.end());
    const auto [first_target, end_target] = range(targets_, name);
    for (auto target = first_target; target != end_target; ++target) {
      ++shown_.targets;
      ++shown_.targets_on[names_.of(target->second[Key::platform]).name];
    }
  }

  // Where kernels of the operator were registered: those lines of the log are no definition.
  bool is_of_kernel(const Entry& entry) const {
    return entry.platform.empty() &&
           std::binary_search(shown_.kernel_sites.begin(), shown_.kernel_sites.end(), entry.site);
  }

  // How many of the registrations the table still shows: overloads, versions, kernels, targets.
  std::size_t kept(const Entry& entry, std::size_t places) const {
    if (!entry.platform.empty()) {
      return std::max(count_on(shown_.kernels_on, entry.platform),
                      count_on(shown_.targets_on, entry.platform));
    }
    // Without a platform and without any place in the table, the lines may be those of kernels.
    if (!shown_.sites_said && shown_.kernels >= places) {
      return std::max(shown_.kernels, shown_.targets);
    }
    return shown_.operators + shown_.targets;
  }

  void report(const std::vector<Entry>& places) {
    const Entry& first = places.front();
    const Entry& last = places.back();
    const auto [op, end] = range(operators_, first.name);
    const Fact named = op != end ? op->second : first.fact;
    std::string message = "registered at " + place_text(first.fact[Key::location]) +
                          " and again at " + place_text(last.fact[Key::location]);
    if (places.size() > 2) {
      message += " (" + std::to_string(places.size()) + " places)";
    }
    Finding& finding = sink_.add(subject_of(manifest_, named), std::move(message),
                                 evidence(last.fact, "the last registration"));
    finding.related.push_back(evidence(first.fact, "the first one"));
  }

  const Fact manifest_;
  PlatformNames names_;
  Sink& sink_;
  NamedFacts operators_;
  NamedFacts targets_;
  Shown shown_;
};

// The log of a registry that sources write to: two lines of one key in one file, of which a build
// or a run has both.
void check_source_log(const Fact& manifest, Sink& sink) {
  std::unordered_map<Name, Fact> first_of;
  Fact registry;
  for (const Fact dispatch : manifest[Key::dispatch].items()) {
    if (!registry.said()) registry = dispatch[Key::operator_];
  }
  for (const Fact item : manifest[Key::registrations].items()) {
    if (!item[Key::name].is_text()) continue;
    sink.inspected();
    const auto [known, is_new] = first_of.emplace(item[Key::name].name(), item);
    const Fact first = known->second;
    // What Python modules register meets wherever both are imported, and TensorFlow refuses it.
    const bool refused = manifest[Key::system].is("tensorflow");
    if (is_new || (!refused && may_be_alternatives(manifest, first, item))) continue;
    // A loop, or a macro, comes by one place several times.
    if (first.where().offset == item.where().offset) continue;
    std::string message = quote(item[Key::name].text()) + " registered twice";
    const bool apart = refused && source_of(first) != source_of(item);
    if (apart) {
      message += ": importing both modules raises";
    } else if (refused) {
      message += ": the second raises";
    }
    if (manifest[Key::on_duplicate].is("replace")) message += ": the second replaces the first";
    if (manifest[Key::on_duplicate].is("ignore")) message += ": the second is ignored";
    Finding& finding = sink.add(std::string(registry.text(item[Key::name].text())),
                                std::move(message), evidence(item, "registered again here"));
    finding.related.push_back(evidence(first, "the first one"));
    finding.fix = "remove one of the two, or give it the key that was meant";
    // Perhaps nobody imports the one and the other.
    if (apart) finding.severity = Severity::warning;
  }
}

// `namespace`, `name`, `since`, `identity`.
using Identity = std::tuple<Name, Name, std::uint64_t, Name>;

Identity identity_of(const Fact& op) {
  const Fact since = op[Key::versions][Key::since];
  return {op[Key::namespace_].name(), op[Key::name].name(),
          since.is_count() ? since.count() : std::uint64_t{1} << 32, op[Key::identity].name()};
}

bool identity_read(const Fact& op) {
  return !is_unread(op[Key::namespace_]) && !is_unread(op[Key::identity]) &&
         !is_unread(op[Key::versions]) && !is_unread(op[Key::versions][Key::since]);
}

std::vector<std::uint64_t> kernel_keys(const Fact& op, PlatformNames& names) {
  std::vector<std::uint64_t> keys;
  for (const Fact kernel : op[Key::kernels].items()) {
    if (is_active_kernel(kernel)) keys.push_back(kernel_key(kernel, names));
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

bool may_differ(const Fact& a, const Fact& b, Key key) {
  if (is_unread(a[key]) || is_unread(b[key])) return true;
  return a[key].said() && b[key].said() && hash_of(a[key]) != hash_of(b[key]);
}

// One registration described in two rows, overloads, or what two providers bring: nothing is lost.
bool is_innocent(const Fact& manifest, const Fact& a, const Fact& b, PlatformNames& names) {
  if (same_site(a, b)) return true;
  for (const Key key : {Key::inputs, Key::outputs, Key::schema, Key::type_constraints}) {
    if (may_differ(a, b, key)) return true;
  }
  // A package description names one operator in each list of a build; only one list is taken.
  // Sources tell such operators apart by their identity.
  if (manifest[Key::system].is("executorch") && !is_of_sources(manifest) &&
      may_differ(a[Key::location], b[Key::location], Key::file)) {
    return true;
  }
  const std::vector<std::uint64_t> first = kernel_keys(a, names);
  const std::vector<std::uint64_t> second = kernel_keys(b, names);
  const bool unread = is_partly_unread(a[Key::kernels]) || is_partly_unread(b[Key::kernels]);
  if (!unread && (first.empty() || second.empty())) return false;
  return std::none_of(first.begin(), first.end(), [&](std::uint64_t key) {
    return std::binary_search(second.begin(), second.end(), key);
  });
}

void check_operators(const Fact& manifest, Sink& sink) {
  std::vector<Fact> operators;
  std::vector<std::uint64_t> hashes;
  for (const Fact op : manifest[Key::operators].items()) {
    if (!op[Key::name].is_text() || !identity_read(op)) continue;
    const auto [space, name, since, identity] = identity_of(op);
    operators.push_back(op);
    hashes.push_back(pair_hash(pair_hash(space, name), pair_hash(since, identity)));
  }
  sink.inspected(operators.size());
  std::vector<std::pair<Identity, Fact>> again;
  for (const std::uint32_t index : repeated(hashes)) {
    again.emplace_back(identity_of(operators[index]), operators[index]);
  }
  if (again.empty()) return;
  std::sort(again.begin(), again.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second.index() < b.second.index();
  });
  PlatformNames names(manifest);
  for (std::size_t i = 1; i < again.size(); ++i) {
    if (again[i - 1].first != again[i].first) continue;
    const Fact first = again[i - 1].second;
    const Fact second = again[i].second;
    if (is_innocent(manifest, first, second, names)) continue;
    Finding& finding =
        sink.add(subject_of(manifest, second), "registered twice under one identity",
                 evidence(second[Key::name], "registered again here" + site_of(second)));
    finding.related.push_back(evidence(first[Key::name], "the first one" + site_of(first)));
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (is_of_sources(manifest)) {
      check_source_log(manifest, sink);
    } else {
      LogCheck(manifest, sink).run();
    }
    check_operators(manifest, sink);
  }
}

}  // namespace

extern constinit const Rule name_duplicate{
    .id = "name-duplicate",
    .title = "one name registered twice",
    .rationale =
        "Two places register the same name, and the registry keeps one of them: usually the last, "
        "so that which code runs depends on the order of imports. Nothing in the registry shows "
        "that the other was there; its rules, kernels and gradients are gone for everybody in the "
        "process.",
    .example =
        R"({"opseal_manifest": 1, "system": "engine", "registrations": [{"name": "a", "location": {"file": "x.py", "line": 3}}, {"name": "a", "location": {"file": "y.py", "line": 8}}], "operators": [{"name": "a"}]})",
    .fix = "rename one of the two, or put one in another namespace",
    .severity = Severity::error,
    .inspects = "operator, or line of the registration log with a place",
    .check = check,
};

}  // namespace opseal
