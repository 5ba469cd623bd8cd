#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/operator_index.h"

namespace opseal {
namespace {

// Names looked at for suggestions in one run. Inputs are hostile: comparing each of a million
// unknown names with a million known ones would take hours.
constexpr std::size_t suggestion_budget = 50'000;

bool defines_operator(const Fact& op) {
  for (const Key key : {Key::inputs, Key::outputs, Key::schema, Key::abstract, Key::jvp}) {
    if (op[key].present()) return true;
  }
  return op[Key::kernels].size() > 0;
}

// Every operator name, in letter case that doesn't count and then as written.
class NameTable {
 public:
  explicit NameTable(const Facts& facts) {
    for_each_operator(facts, [this](const Fact&, const Fact& op) {
      names_.push_back(op[Key::name].text());
      folded_.push_back({lower(op[Key::name].text()), op});
    });
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    std::sort(folded_.begin(), folded_.end(),
              [](const Folded& a, const Folded& b) { return a.name < b.name; });
  }

  // `aten::foo` stands for its overloads `aten::foo.out` and so on.
  bool has_overload_of(std::string_view name) const {
    // A dot names an overload where the name has a namespace before it, and a module elsewhere.
    const std::size_t colons = name.rfind("::");
    if (colons != name.npos) name = name.substr(0, name.find('.', colons));
    const std::string stem = std::string(name) + '.';
    const auto found = std::lower_bound(names_.begin(), names_.end(), stem);
    if (found != names_.end() && found->starts_with(stem)) return true;
    return std::binary_search(names_.begin(), names_.end(), name);
  }

  // An operator whose name differs in letter case only, or not said.
  template <typename Accept>
  Fact same_but_case(std::string_view name, Accept accept) const {
    const std::string wanted = lower(name);
    std::size_t looked_at = 0;
    for (auto at = std::lower_bound(folded_.begin(), folded_.end(), wanted,
                                    [](const Folded&a, const std::string&b) { return a.name < b; });
         at != folded_.end() && at->name == wanted && looked_at < 64; ++at, ++looked_at) {
      if (at->op[Key::name].text() != name && accept(at->op)) return at->op;
    }
    return {};
  }

  std::string_view nearest(std::string_view name) {
    if (names_.size() > budget_) return {};
    budget_ -= names_.size();
    return nearest_name(name, names_);
  }

 private:
  struct Folded {
    std::string name;
    Fact op;
  };
  std::vector<std::string_view> names_;
  std::vector<Folded> folded_;
  std::size_t budget_ = suggestion_budget;
};

class Orphans {
 public:
  Orphans(const Facts& facts, Sink& sink) : facts_(&facts), sink_(&sink) {}

  void check(const Fact& manifest, const Fact& op) {
    const Fact gradient = op[Key::gradient];
    if (!gradient) return;
    // What could not be read may be the very operator.
    if (!whole_registry(manifest)) return;
    if (!defines_operator(op)) check_forward(manifest, op, gradient);
    if (gradient[Key::operator_].is_text()) check_backward(manifest, op, gradient[Key::operator_]);
  }

 private:
  // An entry that says nothing but a gradient is a row of a gradient table: the operator that it is
  // for must be there under that very name.
  void check_forward(const Fact& manifest, const Fact& op, const Fact& gradient) {
    const Fact twin = names().same_but_case(op[Key::name].text(), [&op](const Fact& other) {
      return other[Key::namespace_].name() == op[Key::namespace_].name() &&
             !other[Key::gradient].present() && defines_operator(other);
    });
    if (!twin.said()) return;
    sink_->inspected();
    Finding& finding =
        sink_->add(subject_of(manifest, op),
                   "gradient for " + quote(op[Key::name].text()) + ", which nothing defines; " +
                       quote(twin[Key::name].text()) + " is defined and has no gradient",
                   evidence(gradient, "gradient registered here" + site_of(op)));
    finding.related.push_back(
        evidence(twin[Key::name], "differs in letter case only" + site_of(twin)));
    finding.fix = "register the gradient for " + quote(twin[Key::name].text());
  }

  void check_backward(const Fact& manifest, const Fact& op, const Fact& name) {
    if (!index_) index_.emplace(*facts_);
    const std::string_view spelled = name.text();
    if (index_->has_name(name.name()) || !index_->find(manifest, op, spelled).empty()) {
      sink_->inspected();
      return;
    }
    // A namespace of which nothing is in the inputs belongs to a registry that nobody showed.
    const std::size_t colons = spelled.rfind("::");
    if (colons != spelled.npos && !index_->has_namespace(spelled.substr(0, colons))) return;
    sink_->inspected();
    if (names().has_overload_of(spelled)) return;
    Finding& finding = sink_->add(subject_of(manifest, op),
                                  "gradient operator " + quote(spelled) + " is registered nowhere",
                                  evidence(name, "named here" + site_of(op)));
    const Fact twin = names().same_but_case(spelled, [](const Fact&) { return true; });
    if (twin.said()) {
      finding.related.push_back(
          evidence(twin[Key::name], "differs in letter case only" + site_of(twin)));
      finding.fix = "name " + quote(twin[Key::name].text()) + ", which differs in letter case only";
    } else if (const std::string_view near = names().nearest(spelled); !near.empty()) {
      finding.fix = "register it, or name what is registered; the nearest name is " + quote(near);
    }
  }

  bool whole_registry(const Fact& manifest) {
    if (manifest.index() != last_manifest_) {
      last_manifest_ = manifest.index();
      last_whole_ = all_read(manifest[Key::operators]);
    }
    return last_whole_;
  }

  NameTable& names() {
    if (!names_) names_.emplace(*facts_);
    return *names_;
  }

  const Facts* facts_;
  Sink* sink_;
  std::optional<OperatorIndex> index_;
  std::optional<NameTable> names_;
  std::uint32_t last_manifest_ = 0xffffffff;
  bool last_whole_ = false;
};

void check(const Facts& facts, Sink& sink) {
  Orphans orphans(facts, sink);
  for_each_operator(
      facts, [&orphans](const Fact& manifest, const Fact& op) { orphans.check(manifest, op); });
}

}  // namespace

extern constinit const Rule grad_orphan{
    .id = "grad-orphan",
    .title = "gradient that names an operator which does not exist",
    .rationale =
        "Gradients are joined with operators by name. After a renaming, or a slip in letter case, "
        "the two sides no longer meet: the forward pass runs as before, and training stops with "
        "\"no gradient defined\", or passes no gradient at all.",
    .example = R"({"name": "Push", "inputs": 1, "gradient": {"operator": "PUSHGrad"}})",
    .fix = "register the gradient operator, or name the one that is registered",
    .severity = Severity::error,
    .inspects = "gradient that names an operator of a namespace in the inputs",
    .needs = {Key::gradient, Key::operators},
    .check = check,
};

}  // namespace opseal
