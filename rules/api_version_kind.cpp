#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

enum class HandlerKind { unknown, typed, untyped };

struct Told {
  HandlerKind kind = HandlerKind::unknown;
  // What tells it.
  Fact by;
};

// By the C++ text of the function. A typed handler takes one call frame; an untyped one takes its
// result and a table of operands (`void*, const void**`), or a stream, one table and a text of
// options.
HandlerKind kind_of_signature(std::string_view signature) {
  if (signature.find("CallFrame") != signature.npos) return HandlerKind::typed;
  if (signature.find("CustomCallStatus") != signature.npos) return HandlerKind::untyped;
  const std::size_t open = signature.find('(');
  const std::size_t close = signature.rfind(')');
  if (open == signature.npos || close == signature.npos || close < open) {
    return HandlerKind::unknown;
  }
  std::string parameters;
  for (const char byte : signature.substr(open + 1, close - open - 1)) {
    if (byte != ' ') parameters += byte;
  }
  const std::size_t commas =
      static_cast<std::size_t>(std::count(parameters.begin(), parameters.end(), ','));
  const std::size_t second = parameters.find(',') + 1;
  const std::string_view rest = std::string_view(parameters).substr(second);
  if (commas == 1 && parameters.starts_with("void*") && rest.starts_with("constvoid**")) {
    return HandlerKind::untyped;
  }
  if (commas == 3 && rest.starts_with("void**") &&
      rest.find(",constchar*") != std::string_view::npos) {
    return HandlerKind::untyped;
  }
  return HandlerKind::unknown;
}

// Signatures of kernels by the target that they call, for one manifest.
class Signatures {
 public:
  explicit Signatures(const Fact& manifest) {
    const Facts& facts = manifest.facts();
    if (!facts.said[static_cast<std::size_t>(Key::native_signature)]) return;
    for (const Fact op : manifest[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        const Fact signature = kernel[Key::native_signature];
        const Name target = kernel[Key::target].name();
        if (target != Names::missing && signature.is_text()) rows_.emplace_back(target, signature);
      }
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.first < b.first; });
  }

  // The first that somebody said.
  Fact of(Name target) const {
    const auto row = std::lower_bound(rows_.begin(), rows_.end(), target,
                                      [](const Row& a, Name wanted) { return a.first < wanted; });
    return row != rows_.end() && row->first == target ? row->second : Fact();
  }

 private:
  using Row = std::pair<Name, Fact>;
  std::vector<Row> rows_;
};

// Only bundles of typed handlers have another stage than the call itself.
bool has_further_stage(const Fact& stages) {
  for (const Fact stage : stages.items()) {
    if (stage.is_text() && !stage.is("execute")) return true;
  }
  return false;
}

Told told_kind(const Fact& target, const Signatures& signatures) {
  if (const Fact kind = target[Key::handler_kind]; kind.is_text()) {
    return {kind.is("typed") ? HandlerKind::typed : HandlerKind::untyped, kind};
  }
  if (const Fact version = target[Key::ffi_version]; version.present()) {
    return {HandlerKind::typed, version};
  }
  for (const Key key : {Key::spec, Key::traits}) {
    if (target[key].is_list() && target[key].size() > 0) return {HandlerKind::typed, target[key]};
  }
  for (const Key key : {Key::stages, Key::declared_stages}) {
    if (has_further_stage(target[key])) return {HandlerKind::typed, target[key]};
  }
  const Fact signature = signatures.of(target[Key::name].name());
  return {kind_of_signature(signature.text()), signature};
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (!manifest[Key::targets].is_list()) continue;
    const Signatures signatures(manifest);
    for (const Fact target : manifest[Key::targets].items()) {
      const Fact version = target[Key::api_version];
      if (!version.is_count()) continue;
      const Told told = told_kind(target, signatures);
      if (told.kind == HandlerKind::unknown) continue;
      sink.inspected();
      const bool typed = told.kind == HandlerKind::typed;
      if (typed == (version.count() > 0)) continue;
      Finding& finding = sink.add(
          std::string(target[Key::name].text()),
          std::string(typed ? "typed" : "untyped") + " handler registered under `api_version` " +
              std::to_string(version.count()) + ", expected " + (typed ? "1" : "0"),
          evidence(version, "registered under this version" + site_of(target)));
      const std::string kind = typed ? "typed" : "untyped";
      finding.related.push_back(evidence(
          told.by, told.by.key() == Key::handler_kind
                       ? "said to be " + kind + " here"
                       : "only " + std::string(typed ? "a " : "an ") + kind + " handler has this"));
    }
  }
}

}  // namespace

extern constinit const Rule api_version_kind{
    .id = "api-version-kind",
    .title = "handler registered under the version number of the other kind of handler",
    .rationale =
        "A framework keeps typed and untyped handlers in separate tables and calls them with "
        "different arguments; the version number of a registration says which table it is for. A "
        "typed handler under the untyped number is accepted without a word, and the call then "
        "finds no handler of that name, or calls it with arguments that it reads as something "
        "else.",
    .example = R"({"name": "lib.f", "platform": "cpu", "api_version": 0, "spec": ["arg", "ret"]})",
    .fix = "register typed handlers with `api_version` 1, untyped ones with 0",
    .severity = Severity::error,
    .inspects = "target with a stated version whose kind of handler is known",
    .needs = {Key::targets, Key::api_version},
    .check = check,
};

}  // namespace opseal
