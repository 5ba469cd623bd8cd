#include "rules/version_match.h"

#include <tuple>

#include "opseal/platforms.h"
#include "opseal/registration.h"

namespace opseal {
namespace {

constexpr std::uint32_t no_end = std::numeric_limits<std::uint32_t>::max();

struct Entry {
  std::uint64_t key = 0;
  Fact op;
};

bool says_versions(const Fact& op) {
  if (op[Key::versions][Key::since].is_count()) return true;
  for (const Fact kernel : op[Key::kernels].items()) {
    if (kernel[Key::versions][Key::since].is_count()) return true;
  }
  return false;
}

// Newest released version of the operator's domain; ONNX writes its own domain in two ways.
std::uint32_t newest_release(const Fact& manifest, const Fact& op) {
  const std::string_view domain = op[Key::namespace_].text();
  const Fact opsets = manifest[Key::opsets];
  Fact newest = opsets.at(domain);
  if (!newest.said() && domain == "ai.onnx") newest = opsets.at("");
  if (!newest.said() && domain.empty()) newest = opsets.at("ai.onnx");
  return newest.count(no_end);
}

class GroupBuilder {
 public:
  void start(const Fact& manifest, PlatformNames& names) {
    names_ = &names;
    group_.manifest = manifest;
    group_.match = version_match(manifest);
    group_.schemas.clear();
    group_.ranges.clear();
    group_.everywhere.clear();
    group_.whole = true;
  }

  void add(const Fact& op) {
    const Fact kernels = op[Key::kernels];
    const Fact since = op[Key::versions][Key::since];
    if (since.is_count()) {
      const bool expected = all_read(kernels) && !op[Key::deprecated].truth() &&
                            !op[Key::experimental].truth() &&
                            since.count() <= newest_release(group_.manifest, op);
      group_.schemas.push_back({since.count(), op, expected, op[Key::function_body].truth()});
    }
    for (const Fact kernel : kernels.items()) {
      if (!kernel.said() || !kernel[Key::platform].is_text()) {
        group_.whole = false;
      } else if (is_active_kernel(kernel)) {
        add_kernel(op, kernel);
      }
    }
  }

  const VersionGroup& finish() {
    std::vector<SchemaVersion>& schemas = group_.schemas;
    std::sort(schemas.begin(), schemas.end(), [](const SchemaVersion& a, const SchemaVersion& b) {
      return std::tuple(a.version, !a.expected, a.op.index()) <
             std::tuple(b.version, !b.expected, b.op.index());
    });
    schemas.erase(std::unique(schemas.begin(), schemas.end(),
                              [](const SchemaVersion& a, const SchemaVersion& b) {
                                return a.version == b.version;
                              }),
                  schemas.end());
    order(group_.ranges);
    for (ServedRange& range : group_.everywhere) range.platform = {};
    order(group_.everywhere);
    return group_;
  }

 private:
  static void order(std::vector<ServedRange>& ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const ServedRange& a, const ServedRange& b) {
      return std::tuple(a.platform, a.since, a.kernel.index()) <
             std::tuple(b.platform, b.since, b.kernel.index());
    });
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      ranges[i].reach = ranges[i].until;
      if (i > 0 && ranges[i].platform == ranges[i - 1].platform) {
        ranges[i].reach = std::max(ranges[i].until, ranges[i - 1].reach);
      }
    }
  }

  void add_kernel(const Fact& op, const Fact& kernel) {
    const Platform platform = names_->of(kernel[Key::platform]);
    ServedRange range{op, kernel, platform.name, 0, no_end, 0, false};
    Fact versions = kernel[Key::versions];
    if (!versions[Key::since].is_count()) {
      // It serves at least the entry that it stands in.
      versions = op[Key::versions];
      range.assumed = true;
    }
    if (const Fact since = versions[Key::since]; since.is_count()) range.since = since.count();
    const Fact until = versions[Key::until];
    if (until.is_count()) {
      range.until = std::max(range.since, until.count());
    } else if (until.is_null() && !range.assumed) {
      if (group_.match.open_end_is_exact) range.until = range.since;
    } else {
      range.assumed = true;
    }
    (platform.role == PlatformRole::every ? group_.everywhere : group_.ranges).push_back(range);
  }

  VersionGroup group_;
  PlatformNames* names_ = nullptr;
};

}  // namespace

const VersionMatch& version_match(const Fact& manifest) {
  for (const VersionMatch& match : version_matches) {
    if (manifest[Key::system].is(match.system)) return match;
  }
  return plain_version_match;
}

void for_each_version_group(const Facts& facts, void (*visit)(const VersionGroup&, void*),
                            void* context) {
  GroupBuilder builder;
  std::vector<Entry> entries;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    PlatformNames names(manifest);
    entries.clear();
    for (const Fact op : manifest[Key::operators].items()) {
      if (!op[Key::name].is_text() || !says_versions(op)) continue;
      const std::uint64_t space = op[Key::namespace_].name();
      entries.push_back({space << 32 | op[Key::name].name(), op});
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tuple(a.key, a.op.index()) < std::tuple(b.key, b.op.index());
    });
    for (std::size_t first = 0; first < entries.size();) {
      builder.start(manifest, names);
      std::size_t end = first;
      for (; end < entries.size() && entries[end].key == entries[first].key; ++end) {
        builder.add(entries[end].op);
      }
      visit(builder.finish(), context);
      first = end;
    }
  }
}

}  // namespace opseal
