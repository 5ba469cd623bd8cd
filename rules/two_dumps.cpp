#include "rules/two_dumps.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace opseal {
namespace {

struct Row {
  Name system = 0;
  Name space = 0;
  std::string_view name;
  std::string_view platform;
  std::uint32_t since = 0;
  Name identity = 0;
  // Which one of those that are equal otherwise.
  std::uint32_t repeat = 0;
  Registered registered;

  auto key() const { return std::tie(system, space, name, platform, since, identity, repeat); }
};

// One dump's side of a list.
struct Half {
  std::vector<Row> rows;
  // The list is said, and every element of it was read.
  bool complete = true;
  bool said = false;
};

void number_repeats(std::vector<Row>& rows) {
  const auto before = [](const Row& a, const Row& b) { return a.key() < b.key(); };
  std::stable_sort(rows.begin(), rows.end(), before);
  for (std::size_t at = 1; at < rows.size(); ++at) {
    Row first = rows[at - 1];
    first.repeat = 0;
    if (first.key() == rows[at].key()) rows[at].repeat = rows[at - 1].repeat + 1;
  }
}

template <typename MakeRow>
Half half_of(const Facts& facts, Side side, Key list, MakeRow make) {
  Half half;
  for (const Document& document : facts.documents) {
    if (document.side != side || document.settings) continue;
    const Fact manifest = facts.root(document);
    const Fact items = manifest[list];
    if (!items.is_list()) continue;
    half.said = true;
    PlatformNames names(manifest);
    for (const Fact item : items.items()) {
      if (item.said() && item[Key::name].is_text()) {
        Row row = make(manifest, item, names);
        row.system = manifest[Key::system].name();
        row.registered = {manifest, item};
        half.rows.push_back(row);
      } else {
        half.complete = false;
      }
    }
  }
  half.complete = half.complete && half.said;
  number_repeats(half.rows);
  return half;
}

// A row that only one half has; the first of its identity may have met its like.
void put_alone(const Row& row, bool paired, bool other_is_complete, std::vector<Registered>& to,
               std::vector<Registered>& repeats, std::uint64_t& unsaid) {
  if (other_is_complete) {
    (paired ? repeats : to).push_back(row.registered);
  } else {
    ++unsaid;
  }
}

Paired join(const Half& before, const Half& after) {
  Paired joined;
  auto left = before.rows.begin();
  auto right = after.rows.begin();
  // The last row that was paired.
  const Row* last = nullptr;
  const auto is_paired = [&last](Row row) {
    if (last == nullptr || row.repeat == 0) return false;
    row.repeat = last->repeat;
    return row.key() == last->key();
  };
  while (left != before.rows.end() || right != after.rows.end()) {
    const bool only_left =
        right == after.rows.end() || (left != before.rows.end() && left->key() < right->key());
    const bool only_right =
        left == before.rows.end() || (right != after.rows.end() && right->key() < left->key());
    if (only_left) {
      put_alone(*left, is_paired(*left), after.complete, joined.removed, joined.fewer,
                joined.unsaid);
      ++left;
    } else if (only_right) {
      put_alone(*right, is_paired(*right), before.complete, joined.added, joined.more,
                joined.unsaid);
      ++right;
    } else {
      last = &*left;
      joined.pairs.push_back({left++->registered, right++->registered});
    }
  }
  const auto in_order = [](const Registered& a, const Registered& b) {
    return a.item.index() < b.item.index();
  };
  for (std::vector<Registered>* list :
       {&joined.removed, &joined.added, &joined.fewer, &joined.more}) {
    std::sort(list->begin(), list->end(), in_order);
  }
  std::sort(joined.pairs.begin(), joined.pairs.end(),
            [&in_order](const RegisteredPair& a, const RegisteredPair& b) {
              return in_order(a.before, b.before);
            });
  return joined;
}

Row operator_row(const Fact&, const Fact& op, PlatformNames&) {
  Row row;
  row.space = op[Key::namespace_].name();
  row.name = op[Key::name].text();
  // Behind every version, so that version 0 is not the same as none.
  row.since = op[Key::versions][Key::since].count(0xffffffff);
  row.identity = op[Key::identity].name();
  return row;
}

Row target_row(const Fact&, const Fact& target, PlatformNames& names) {
  Row row;
  row.name = target[Key::name].text();
  row.platform = names.of(target[Key::platform]).name;
  return row;
}

// Targets that came and went under one name, for a family of devices (`gpu`) and for a member of it
// (`CUDA`): calls find the one where they found the other.
void pair_families(Paired& paired) {
  std::map<std::string_view, std::vector<const Registered*>> come;
  for (const Registered& one : paired.added) {
    std::vector<const Registered*>& list = come[one.item[Key::name].text()];
    if (list.size() < most_platforms) list.push_back(&one);
  }
  NamesByManifest names;
  const auto platform_of = [&names](const Registered& one) {
    return names.of(one.manifest).of(one.item[Key::platform]);
  };
  std::set<std::uint32_t> met;
  std::vector<RegisteredPair> pairs;
  const auto finds = [&](const Registered& gone) {
    const auto found = come.find(gone.item[Key::name].text());
    if (found == come.end() || !gone.item[Key::platform].is_text()) return false;
    const Platform platform = platform_of(gone);
    bool any = false;
    for (const Registered* one : found->second) {
      if (!one->item[Key::platform].is_text()) continue;
      const Platform other = platform_of(*one);
      const bool family =
          platform.role == PlatformRole::family || other.role == PlatformRole::family;
      if (!family || !platform_reaches(platform, other)) continue;
      met.insert(one->item.index());
      if (!any) pairs.push_back({gone, *one});
      any = true;
    }
    return any;
  };
  std::erase_if(paired.removed, finds);
  std::erase_if(paired.added,
                [&met](const Registered& one) { return met.contains(one.item.index()); });
  paired.pairs.insert(paired.pairs.end(), pairs.begin(), pairs.end());
}

Paired pair_list(const Facts& facts, Key list,
                 Row (*make)(const Fact&, const Fact&, PlatformNames&)) {
  return join(half_of(facts, Side::before, list, make), half_of(facts, Side::after, list, make));
}

}  // namespace

Paired pair_operators(const Facts& facts) { return pair_list(facts, Key::operators, operator_row); }

Paired pair_targets(const Facts& facts) {
  Paired paired = pair_list(facts, Key::targets, target_row);
  pair_families(paired);
  return paired;
}

std::vector<std::pair<Fact, Fact>> pair_manifests(const Facts& facts) {
  std::map<std::pair<std::string_view, std::size_t>, Fact> before;
  std::map<std::string_view, std::size_t> seen_before;
  std::map<std::string_view, std::size_t> seen_after;
  for (const Document& document : facts.documents) {
    if (document.side != Side::before) continue;
    const Fact manifest = facts.root(document);
    const std::string_view system = manifest[Key::system].text();
    before[{system, seen_before[system]++}] = manifest;
  }
  std::vector<std::pair<Fact, Fact>> pairs;
  for (const Document& document : facts.documents) {
    if (document.side != Side::after) continue;
    const Fact manifest = facts.root(document);
    const std::string_view system = manifest[Key::system].text();
    const auto found = before.find({system, seen_after[system]++});
    if (found != before.end()) pairs.emplace_back(found->second, manifest);
  }
  return pairs;
}

Release compare_releases(const Fact& before, const Fact& after) {
  const Fact left = before[Key::producer][Key::packages];
  const Fact right = after[Key::producer][Key::packages];
  if (!left.is_map() || !right.is_map() || left.size() == 0 || right.size() == 0)
    return Release::unknown;
  std::map<std::string_view, std::string_view> versions;
  for (const EntryRange::Entry entry : left.entries()) {
    versions[entry.name.text()] = entry.value.text();
  }
  std::size_t equal = 0;
  for (const EntryRange::Entry entry : right.entries()) {
    const auto found = versions.find(entry.name.text());
    if (found == versions.end() || found->second != entry.value.text()) return Release::other;
    ++equal;
  }
  return equal == versions.size() ? Release::same : Release::other;
}

std::string_view python_minor(const Fact& manifest) {
  const std::string_view version = manifest[Key::producer][Key::python].text();
  const std::size_t first = version.find('.');
  if (first == version.npos) return {};
  return version.substr(0, version.find('.', first + 1));
}

std::string_view own_name(std::string_view qualified) {
  const std::size_t dot = qualified.rfind('.');
  return dot == qualified.npos ? qualified : qualified.substr(dot + 1);
}

std::vector<ServingKernel> serving_kernels(const Fact& op, PlatformNames& names) {
  std::vector<std::string_view> stubs;
  for (const Fact platform : op[Key::stub_platforms].items()) {
    if (platform.is_text()) stubs.push_back(names.of(platform).name);
  }
  std::sort(stubs.begin(), stubs.end());
  std::vector<ServingKernel> rows;
  for (const Fact kernel : op[Key::kernels].items()) {
    if (!is_active_kernel(kernel) || !kernel[Key::platform].is_text()) continue;
    const Platform platform = names.of(kernel[Key::platform]);
    const bool stub =
        kernel[Key::stub].truth() || std::binary_search(stubs.begin(), stubs.end(), platform.name);
    rows.push_back({platform, kernel[Key::backend].text(), kernel, stub});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ServingKernel& a, const ServingKernel& b) {
    return std::tie(a.platform.name, a.backend) < std::tie(b.platform.name, b.backend);
  });
  return rows;
}

std::vector<Platform> platforms_of(const std::vector<ServingKernel>& kernels) {
  std::vector<Platform> platforms;
  for (const ServingKernel& row : kernels) {
    if (platforms.empty() || platforms.back().name != row.platform.name)
      platforms.push_back(row.platform);
  }
  return platforms;
}

std::vector<ServingKernel> kernels_reached(const std::vector<ServingKernel>& kernels,
                                           const Platform& platform) {
  std::vector<ServingKernel> reached;
  for (const ServingKernel& row : kernels) {
    if (!row.stub && row.platform.role != PlatformRole::wrapper &&
        platform_reaches(platform, row.platform)) {
      reached.push_back(row);
    }
  }
  return reached;
}

}  // namespace opseal
