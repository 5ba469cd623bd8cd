#include "rules/undefined_kernels.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "opseal/one_slip.h"
#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/definitions.h"
#include "rules/torch_names.h"

namespace opseal {
namespace {

// Names that are held against each other in a run: enough for every real registry, and an end for
// a hostile one.
constexpr std::size_t most_comparisons = 20'000'000;
constexpr std::size_t shortest_near_name = 5;
// Shorter words are near to many others, and need more than the letters: see `is_left_alone`.
constexpr std::size_t shortest_name = 2;
// Words of three letters become other words by one of them: `sin` and `min`.
constexpr std::size_t shortest_changed_name = 4;

Fact first_active(const Fact& kernels) {
  for (const Fact kernel : kernels.items()) {
    if (is_active_kernel(kernel)) return kernel;
  }
  return {};
}

// A defined operator that an undefined name may stand for, and what speaks for it.
struct Near {
  Fact defined;
  std::string_view how;
};

constexpr std::string_view joined_how = "with `.` or `_` in the other's place";

class Definitions {
 public:
  explicit Definitions(const Facts& facts) {
    for (const Document& document : facts.documents) {
      const Fact manifest = facts.root(document);
      for (const Fact op : manifest[Key::operators].items()) {
        // What could not be read may be any definition.
        if (!op.said()) whole_ = false;
        if (!op[Key::schema].is_text()) continue;
        spaces_[space_of(op)].push_back(op);
        named_[base_name(op[Key::name].text())].push_back(op);
        joined_[joined_name(op)].push_back(op);
      }
    }
  }

  bool whole() const { return whole_; }
  bool has_namespace(const Fact& op) const { return spaces_.contains(space_of(op)); }

  // A defined operator of the namespace that has no kernel where this one has its first, and whose
  // name is one slip apart or in that of the function.
  Near meant_by(const Fact& op, const Fact& kernel, PlatformNames& names) {
    const auto joined = joined_.find(joined_name(op));
    if (joined != joined_.end() && joined->second.size() == 1 &&
        lacks(joined->second.front(), kernel, names)) {
      return {joined->second.front(), joined_how};
    }
    const Fact near = near_name(op, kernel, names);
    if (near.said()) return {near, "one letter apart"};
    return {named_by_function(op, kernel, names), "with the name of the function"};
  }

  // A defined operator of the namespace, one slip apart, that lacks this part too.
  Near near_without(const Fact& op, Key part) {
    const auto joined = joined_.find(joined_name(op));
    if (joined != joined_.end() && joined->second.size() == 1 &&
        !joined->second.front()[part].present()) {
      return {joined->second.front(), joined_how};
    }
    const std::string_view base = base_name(op[Key::name].text());
    const auto space = spaces_.find(space_of(op));
    if (base.size() < shortest_near_name || space == spaces_.end()) return {};
    if (comparisons_ + space->second.size() > most_comparisons) return {};
    comparisons_ += space->second.size();
    for (const Fact defined : space->second) {
      if (one_slip_apart(base_name(defined[Key::name].text()), base) && !defined[part].present()) {
        return {defined, "one letter apart"};
      }
    }
    return {};
  }

  // The defined operator of that very name in another namespace, if it is the only one and has no
  // kernel where this one has its first.
  Fact elsewhere(const Fact& op, const Fact& kernel, PlatformNames& names) const {
    const auto same = named_.find(base_name(op[Key::name].text()));
    if (same == named_.end() || same->second.size() != 1) return {};
    return lacks(same->second.front(), kernel, names) ? same->second.front() : Fact{};
  }

 private:
  // One slip apart.
  Fact near_name(const Fact& op, const Fact& kernel, PlatformNames& names) {
    const std::string_view base = base_name(op[Key::name].text());
    const auto space = spaces_.find(space_of(op));
    if (base.size() < shortest_name || space == spaces_.end()) return {};
    if (comparisons_ + space->second.size() > most_comparisons) return {};
    comparisons_ += space->second.size();
    Fact near;
    for (const Fact defined : space->second) {
      const std::string_view meant = base_name(defined[Key::name].text());
      if (!one_slip_apart(meant, base) || !lacks(defined, kernel, names)) continue;
      if (base.size() >= shortest_near_name) return defined;
      if (meant.size() < shortest_name) continue;
      if (!is_named_in(kernel, meant, base) && !is_left_alone(defined, meant, base)) continue;
      // Of two that may be meant, neither is sure.
      if (near.said()) return {};
      near = defined;
    }
    return near;
  }

  // The defined operator that the function of the kernel is named after, and not after what is
  // written, and that has no kernel where this one has its first: `m.impl("scale_v2",
  // &scale_rows_cuda)`.
  Fact named_by_function(const Fact& op, const Fact& kernel, PlatformNames& names) const {
    const std::string_view function = base_name(kernel[Key::function][Key::name].text());
    if (function.empty() || function.find(base_name(op[Key::name].text())) != function.npos) {
      return {};
    }
    const auto named = named_.find(without_device(function));
    if (named == named_.end() || named->second.size() != 1) return {};
    const Fact defined = named->second.front();
    return space_of(defined) == space_of(op) && lacks(defined, kernel, names) ? defined : Fact{};
  }

  // `scale_rows` of `scale_rows_cuda`.
  static std::string_view without_device(std::string_view function) {
    constexpr std::array<std::string_view, 11> endings = {"_cpu",  "_cuda", "_gpu",   "_hip",
                                                          "_xpu",  "_npu",  "_mps",   "_meta",
                                                          "_fake", "_impl", "_kernel"};
    for (const std::string_view ending : endings) {
      if (function.ends_with(ending)) return function.substr(0, function.size() - ending.size());
    }
    return function;
  }

  // The function of the kernel has the defined name in its own, and not the one that is written:
  // `m.impl("srot", sort_cpu)`.
  static bool is_named_in(const Fact& kernel, std::string_view meant, std::string_view written) {
    const std::string_view function = base_name(kernel[Key::function][Key::name].text());
    if (function.find(meant) == function.npos) return false;
    return meant.find(written) != meant.npos || function.find(written) == function.npos;
  }

  // A definition without any kernel beside a kernel without any definition.
  static bool is_left_alone(const Fact& defined, std::string_view meant, std::string_view written) {
    if (meant.size() == written.size() && written.size() < shortest_changed_name) return false;
    return all_read(defined[Key::kernels]) && !first_active(defined[Key::kernels]).said();
  }

  static bool lacks(const Fact& defined, const Fact& kernel, PlatformNames& names) {
    const Fact kernels = defined[Key::kernels];
    if (!all_read(kernels)) return false;
    for (const Fact other : kernels.items()) {
      if (names.same(other[Key::platform], kernel[Key::platform])) return false;
    }
    return true;
  }

  // `lib::pool_out` of both `lib::pool.out` and `lib::pool_out`: an overload stands behind a dot,
  // and the function that serves it can have none in its name.
  static std::string joined_name(const Fact& op) {
    const std::string_view name = op[Key::name].text();
    const std::size_t colons = name.rfind("::");
    std::string joined(space_of(op));
    joined += "::";
    joined += colons == name.npos ? name : name.substr(colons + 2);
    std::replace(joined.begin(), joined.end(), '.', '_');
    return joined;
  }

  static std::string_view space_of(const Fact& op) {
    const Fact space = op[Key::namespace_];
    return space.is_text() ? space.text() : namespace_in(op[Key::name].text());
  }

  std::unordered_map<std::string_view, std::vector<Fact>> spaces_;
  std::unordered_map<std::string_view, std::vector<Fact>> named_;
  std::unordered_map<std::string, std::vector<Fact>> joined_;
  std::size_t comparisons_ = 0;
  bool whole_ = true;
};

// A shape function or a gradient of an operator without kernels: reported only where its name is a
// slip, since another package may define the operator.
void check_part(const Fact& manifest, const Fact& op, Key part, std::string_view what,
                Definitions& definitions, Sink& sink) {
  if (!op[part].present() || !definitions.whole()) return;
  sink.inspected();
  const Near near = definitions.near_without(op, part);
  const Fact meant = near.defined;
  if (!meant.said()) return;
  Finding& finding =
      sink.add(subject_of(manifest, op), std::string(what) + " for an operator that nobody defines",
               evidence(op[part], "registered here" + site_of(op)));
  finding.related.push_back(evidence(meant[Key::name], "defined, " + std::string(near.how) +
                                                           ", and without one" + site_of(meant)));
  finding.fix = "register it for " + quote(meant[Key::name].text());
}

}  // namespace

void check_undefined_kernels(const Facts& facts, Undefined kind, Sink& sink) {
  // Built for the first undefined operator: most registries have none.
  std::optional<Definitions> definitions;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    const bool by_walk = walk_states_schemas(manifest);
    PlatformNames names(manifest);
    for (const Fact op : manifest[Key::operators].items()) {
      const Definition definition = definition_of(op, by_walk);
      const Fact kernel = first_active(op[Key::kernels]);
      if (definition == Definition::not_said) continue;
      if (!kernel && op[Key::schema].is_null() && kind == Undefined::certain) {
        if (!definitions) definitions.emplace(facts);
        check_part(manifest, op, Key::abstract, "shape function", *definitions, sink);
        check_part(manifest, op, Key::gradient, "gradient", *definitions, sink);
      }
      if (!kernel) continue;
      if (definition == Definition::undefined && !definitions) definitions.emplace(facts);
      if (definition == Definition::undefined && !definitions->whole()) continue;
      sink.inspected();
      if (definition == Definition::defined) continue;
      const Near near = definitions->meant_by(op, kernel, names);
      const bool space = definitions->has_namespace(op);
      const bool certain = near.defined.said() || !space;
      if (certain != (kind == Undefined::certain)) continue;
      std::string message = "kernel on " + decision_text(kernel) +
                            " for an operator that nobody "
                            "defines";
      if (!space) message += ", in a namespace of which nothing is defined";
      Finding& finding = sink.add(subject_of(manifest, op), std::move(message),
                                  evidence(kernel, "the kernel" + site_of(kernel)));
      const Near meant = near.defined.said() ? near
                                             : Near{definitions->elsewhere(op, kernel, names),
                                                    "in another namespace"};
      if (meant.defined.said()) {
        finding.related.push_back(evidence(
            meant.defined[Key::name], "defined, " + std::string(meant.how) +
                                          ", and without such a kernel" + site_of(meant.defined)));
        finding.fix = "register the kernel for " + quote(meant.defined[Key::name].text());
      } else {
        // Another package may define the namespace, and be left out here.
        finding.severity = Severity::warning;
      }
    }
  }
}

}  // namespace opseal
