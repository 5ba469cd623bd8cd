#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/arg_spec.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Registrations of one name that a call is held against; more are a log, not variants.
constexpr std::size_t most_variants = 32;
// Names of a call or a spec.
constexpr std::uint32_t most_attributes = 128;

struct Bound {
  CountRange arguments;
  std::vector<std::pair<std::string_view, std::string_view>> attributes;
  // Takes any attributes.
  bool any = false;
  bool any_arguments = false;
  bool readable = true;
};

Bound read_bound(const Fact& spec) {
  Bound bound;
  for_each_spec_token(spec, [&bound](const Fact&, const SpecToken& token) {
    if (token.kind == SpecKind::bad) bound.readable = false;
    if (token.kind == SpecKind::argument) {
      bound.any_arguments = bound.any_arguments || token.rest;
      if (!token.optional && !token.rest) ++bound.arguments.min;
      if (!token.rest) ++bound.arguments.max;
    }
    if (token.kind != SpecKind::attribute) return;
    if (token.rest) {
      bound.any = true;
    } else {
      bound.attributes.emplace_back(token.name, token.type);
    }
  });
  return bound;
}

// Types that XLA itself makes of a value, so that two different ones are two different things. Of
// an enumeration or a struct the project says how it is read.
bool is_plain_type(std::string_view type) {
  for (const std::string_view word :
       {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
        "float32", "float64", "string"}) {
    if (type == word) return true;
  }
  return type.starts_with("span<") && type.ends_with('>') &&
         is_plain_type(type.substr(5, type.size() - 6));
}

struct Difference {
  std::string message;
  Fact where;
};

// The first attribute that arrives as another type than the one bound under its name.
Difference type_difference(const Fact& given, const Bound& bound) {
  for (const Fact attribute : given.items()) {
    const std::string_view type = attribute[Key::type].text();
    const std::string_view name = attribute[Key::name].text();
    for (const auto& [bound_name, bound_type] : bound.attributes) {
      if (bound_name != name || type == bound_type) continue;
      if (type == "sequence" && is_plain_type(bound_type)) {
        return {"hands over attribute " + quote(name) +
                    " as a list or tuple, which XLA has no form for; the handler binds " +
                    quote(bound_type) + ", expected an array of numpy",
                attribute};
      }
      if (!is_plain_type(type) || !is_plain_type(bound_type)) continue;
      return {"hands over attribute " + quote(name) + " as " + quote(type) +
                  ", the handler binds " + quote(bound_type),
              attribute};
    }
  }
  return {};
}

Difference name_difference(const Fact& call, const Bound& bound) {
  const Fact given = call[Key::attributes];
  std::vector<std::string> surplus;
  std::vector<std::string> lacking;
  std::vector<std::string_view> names;
  Fact first;
  for (const Fact attribute : given.items()) {
    const std::string_view name = attribute[Key::name].text();
    names.push_back(name);
    const bool known = std::any_of(bound.attributes.begin(), bound.attributes.end(),
                                   [name](const auto& one) { return one.first == name; });
    if (known) continue;
    if (surplus.empty()) first = attribute;
    surplus.emplace_back(name);
  }
  for (const auto& [name, type] : bound.attributes) {
    if (type.find("optional") != type.npos) continue;
    if (std::find(names.begin(), names.end(), name) == names.end()) lacking.emplace_back(name);
  }
  if (!surplus.empty()) {
    return {"hands over attribute " + quote_list(surplus) +
                (lacking.empty() ? ", which the handler doesn't bind"
                                 : ", the handler binds " + quote_list(lacking)),
            first};
  }
  if (!lacking.empty()) {
    return {"hands over no attribute " + quote_list(lacking) + ", which the handler binds", given};
  }
  return {};
}

// Who mends the first of two mistakes should know of the second.
Difference attribute_difference(const Fact& call, const Bound& bound) {
  Difference names = name_difference(call, bound);
  Difference types = type_difference(call[Key::attributes], bound);
  if (names.message.empty()) return types;
  if (!types.message.empty()) names.message += "; " + types.message;
  return names;
}

Difference difference(const Fact& call, const Bound& bound) {
  if (!bound.any && all_read(call[Key::attributes])) {
    Difference found = attribute_difference(call, bound);
    if (!found.message.empty()) return found;
  }
  const Fact inputs = call[Key::inputs];
  if (!inputs.is_count() || (bound.any_arguments && inputs.count() >= bound.arguments.min)) {
    return {};
  }
  if (!bound.any_arguments && bound.arguments.has(inputs.count())) return {};
  return {"hands over " + plural(inputs.count(), "operand") + ", the handler binds " +
              (bound.any_arguments ? "at least " + std::to_string(bound.arguments.min)
                                   : to_text(bound.arguments, "argument")),
          inputs};
}

void judge(const Fact& call, const std::vector<Fact>& targets, Sink& sink) {
  if (targets.empty() || targets.size() > most_variants) return;
  if (call[Key::attributes].size() > most_attributes) return;
  Difference first;
  Fact spec;
  Fact target;
  for (const Fact& one : targets) {
    // Of one that doesn't say what it binds, nobody knows.
    if (!all_read(one[Key::spec]) || one[Key::spec].size() > 4 * most_attributes) return;
    const Bound bound = read_bound(one[Key::spec]);
    if (!bound.readable) return;
    Difference found = difference(call, bound);
    if (found.message.empty()) {
      sink.inspected();
      return;
    }
    if (spec.said()) continue;
    first = std::move(found);
    spec = one[Key::spec];
    target = one;
  }
  sink.inspected();
  Finding& finding = sink.add(std::string(call[Key::operator_].text()), std::move(first.message),
                              evidence(first.where, "handed over here" + site_of(call)));
  finding.related.push_back(evidence(spec, "bound here" + site_of(target)));
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (!manifest[Key::dispatch].is_list() || !manifest[Key::targets].is_list()) continue;
    std::unordered_map<Name, std::vector<Fact>> targets;
    for (const Fact target : manifest[Key::targets].items()) {
      std::vector<Fact>& known = targets[target[Key::name].name()];
      if (known.size() <= most_variants) known.push_back(target);
    }
    for (const Fact dispatch : manifest[Key::dispatch].items()) {
      for (const Fact call : dispatch[Key::lookups].items()) {
        if (!call[Key::attributes].is_list() && !call[Key::inputs].is_count()) continue;
        const auto found = targets.find(call[Key::operator_].name());
        if (found != targets.end()) judge(call, found->second, sink);
      }
    }
  }
}

}  // namespace

extern constinit const Rule spec_call_mismatch{
    .id = "spec-call-mismatch",
    .title = "call that hands a handler other operands or attributes than it binds",
    .rationale =
        "A handler counts and decodes what it is given each time it is called: an attribute under "
        "another name, of another width, or one too many is refused then, as is another number of "
        "operands. Nothing looks at this earlier, so the mistake shows on the machine of the "
        "first user who takes that path. A plain number of Python arrives with 64 bits.",
    .example =
        R"-({"opseal_manifest": 1, "system": "jax", "targets": [{"name": "norm",)-"
        R"-( "spec": ["arg", "ret", "attr.eps:float32"]}], "dispatch": [{"operator": "norm",)-"
        R"-( "lookups": [{"operator": "norm", "inputs": 1, "attributes": [{"name": "eps",)-"
        R"-( "type": "float64"}]}]}]})-",
    .fix =
        "hand over exactly the attributes that the handler binds, with a type of their own where "
        "it matters (`np.float32(eps)`)",
    .severity = Severity::error,
    .inspects = "call of a registered target that says what it binds",
    .needs = {Key::targets, Key::spec, Key::lookups},
    .check = check,
};

}  // namespace opseal
