#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// A name without what conventions add to it: `OpParams::SoftmaxParams`, `softmax` and `soft_max`
// are one.
std::string bare(std::string_view name) {
  const std::size_t scope = name.find_last_of(":.");
  if (scope != name.npos) name.remove_prefix(scope + 1);
  std::string out;
  for (const char byte : lower(name)) {
    if (byte != '_' && byte != '-' && byte != ' ') out += byte;
  }
  for (const std::string_view suffix : {"parameters", "params", "args", "op"}) {
    if (out.size() > suffix.size() && out.ends_with(suffix)) {
      out.resize(out.size() - suffix.size());
      break;
    }
  }
  return out;
}

// `softmax_backward` may well take the parameters of `softmax`.
bool related(std::string_view a, std::string_view b) {
  return a.find(b) != a.npos || b.find(a) != b.npos;
}

// Which operator a variant belongs to, for one manifest.
class Owners {
 public:
  explicit Owners(const Fact& manifest) {
    for (const Fact op : manifest[Key::operators].items()) {
      if (!op[Key::name].is_text()) continue;
      for (const Fact variant : op[Key::params_variants].items()) {
        if (variant.is_text()) listed_.emplace(variant.name(), op);
      }
      named_.emplace(bare(op[Key::name].text()), op);
      for (const Fact kernel : op[Key::kernels].items()) {
        if (!kernel[Key::params].is_text()) continue;
        Takers& takers = takers_[kernel[Key::params].name()];
        if (takers.operators == 0 || !(takers.last == op)) ++takers.operators;
        takers.last = op;
      }
    }
  }

  // The first that lists it.
  Fact listing(Name variant) const {
    const auto found = listed_.find(variant);
    return found == listed_.end() ? Fact() : found->second;
  }
  // The first that it is named after.
  Fact named(Name variant, std::string_view text) {
    const auto [found, fresh] = by_name_.try_emplace(variant);
    if (fresh) {
      const auto owner = named_.find(bare(text));
      if (owner != named_.end()) found->second = owner->second;
    }
    return found->second;
  }
  // Operators with a kernel that takes it.
  std::uint32_t takers(Name variant) const {
    const auto found = takers_.find(variant);
    return found == takers_.end() ? 0 : found->second.operators;
  }

 private:
  struct Takers {
    std::uint32_t operators = 0;
    Fact last;
  };

  std::unordered_map<Name, Fact> listed_;
  std::unordered_map<std::string, Fact> named_;
  std::unordered_map<Name, Fact> by_name_;
  std::unordered_map<Name, Takers> takers_;
};

void against_list(const Fact& manifest, const Fact& op, const Owners& owners, Sink& sink) {
  const Fact variants = op[Key::params_variants];
  std::vector<Name> own;
  for (const Fact variant : variants.items()) own.push_back(variant.name());
  std::sort(own.begin(), own.end());
  for (const Fact kernel : op[Key::kernels].items()) {
    const Fact params = kernel[Key::params];
    if (!params.is_text()) continue;
    sink.inspected();
    if (std::binary_search(own.begin(), own.end(), params.name())) continue;
    const Fact owner = owners.listing(params.name());
    Finding& finding = sink.add(
        subject_of(manifest, op),
        "kernel for " + decision_text(kernel) + " takes the parameters " + quote(params.text()) +
            (owner ? ", which belong to " + quote(owner[Key::name].text()) : std::string()) +
            "; the operator's are " + quote_list(texts_of(variants)),
        evidence(params, "parameters of the kernel" + site_of(kernel)));
    finding.related.push_back(evidence(variants, "parameters of the operator" + site_of(op)));
    if (owner) {
      finding.related.push_back(
          evidence(owner[Key::params_variants], "listed by the other operator here"));
    }
  }
}

bool takes(const Fact& op, Name variant) {
  for (const Fact kernel : op[Key::kernels].items()) {
    if (kernel[Key::params].name() == variant) return true;
  }
  return false;
}

// Without a list: only where variants are named after operators, and this one after another. A
// guess, since an engine may well share what two operators need alike.
void against_names(const Fact& manifest, const Fact& op, Owners& owners, Sink& sink) {
  Fact home;
  std::vector<Fact> astray;
  for (const Fact kernel : op[Key::kernels].items()) {
    const Fact params = kernel[Key::params];
    if (!params.is_text()) continue;
    const Fact owner = owners.named(params.name(), params.text());
    if (!owner) continue;
    const std::string owner_name = bare(owner[Key::name].text());
    const std::string own_name = bare(op[Key::name].text());
    if (owner_name == own_name) {
      if (!home) home = params;
      sink.inspected();
    } else if (!related(owner_name, own_name)) {
      astray.push_back(kernel);
    }
  }
  for (const Fact& kernel : astray) {
    const Fact params = kernel[Key::params];
    const Fact owner = owners.named(params.name(), params.text());
    // Where no other kernel shows what this operator takes, the owner must take it, and nobody else
    // may share it.
    if (!home && (owners.takers(params.name()) != 2 || !takes(owner, params.name()))) continue;
    sink.inspected();
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 "kernel for " + decision_text(kernel) + " takes the parameters " +
                     quote(params.text()) + " of the operator " + quote(owner[Key::name].text()) +
                     (home ? ", another one takes " + quote(home.text()) : std::string()),
                 evidence(params, "parameters of the kernel" + site_of(kernel)));
    finding.severity = Severity::warning;
    if (home) {
      finding.related.push_back(evidence(home, "parameters of another kernel of this operator"));
    }
    finding.related.push_back(evidence(owner[Key::name], "operator of that name" + site_of(owner)));
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    // Made at the first kernel that names a variant: mostly never.
    std::vector<Owners> owners;
    for (const Fact op : manifest[Key::operators].items()) {
      const Fact kernels = op[Key::kernels];
      bool names_variant = false;
      for (const Fact kernel : kernels.items()) {
        names_variant = names_variant || kernel[Key::params].is_text();
      }
      if (!names_variant) continue;
      if (owners.empty()) owners.emplace_back(manifest);
      if (op[Key::params_variants].said()) {
        if (all_read(op[Key::params_variants])) against_list(manifest, op, owners.front(), sink);
      } else {
        against_names(manifest, op, owners.front(), sink);
      }
    }
  }
}

}  // namespace

extern constinit const Rule params_op_pairing{
    .id = "params-op-pairing",
    .title = "kernel registered with the parameters of another operator",
    .rationale =
        "In a registry that keeps parameters as variants of one type, which variant goes with "
        "which "
        "operator is a convention that no compiler checks. A kernel that is registered with the "
        "variant of another operator reads fields that the caller never set: it fails at its first "
        "call, or takes an axis for an epsilon.",
    .example = R"({"name": "softmax", "params_variants": ["Softmax"],)"
               R"( "kernels": [{"platform": "cpu", "params": "Rope"}]})",
    .fix =
        "register the kernel with a variant of its own operator, or list the variant in "
        "`params_variants`",
    .severity = Severity::error,
    .inspects = "kernel with named parameters, of an operator whose own parameters are known",
    .needs = {Key::operators, Key::kernels, Key::params},
    .check = check,
};

}  // namespace opseal
