#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "opseal/one_slip.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Names that are compared in one manifest; a tree has some hundred handlers.
constexpr std::uint64_t most_steps = 1'000'000;
// Shorter names are near to everything.
constexpr std::size_t shortest_name = 4;

class Check {
 public:
  explicit Check(const Fact& manifest) : manifest_(manifest) {
    for (const Fact handler : manifest[Key::handlers].items()) {
      if (!handler[Key::symbol].is_text()) continue;
      defined_.insert(handler[Key::symbol].name());
    }
    for (const Fact target : manifest[Key::targets].items()) {
      if (target[Key::symbol].is_text()) named_.insert(target[Key::symbol].name());
    }
  }

  void run(Sink& sink) {
    for (const Fact target : manifest_[Key::targets].items()) {
      const Fact symbol = target[Key::symbol];
      // The library that holds it may be another project's.
      if (!symbol.is_text() || target[Key::library].said()) continue;
      if (defined_.contains(symbol.name())) {
        sink.inspected();
        continue;
      }
      const Fact near = misspelt(symbol.text());
      if (!near.said()) continue;
      sink.inspected();
      Finding& finding =
          sink.add(std::string(target[Key::name].text()),
                   "symbol " + quote(symbol.text()) + " is defined nowhere in the sources, " +
                       quote(near[Key::symbol].text()) + " is and nobody registers it",
                   evidence(symbol, "symbol of the target" + site_of(target)));
      finding.related.push_back(evidence(near, "handler of a name like it" + site_of(near)));
    }
  }

 private:
  // A handler of nearly that name that no target names.
  Fact misspelt(std::string_view symbol) {
    if (symbol.size() < shortest_name) return {};
    for (const Fact handler : manifest_[Key::handlers].items()) {
      if (++steps_ > most_steps) return {};
      const Fact name = handler[Key::symbol];
      if (!name.is_text() || named_.contains(name.name())) continue;
      if (one_slip_apart(name.text(), symbol) || lower(name.text()) == lower(symbol)) {
        return handler;
      }
    }
    return {};
  }

  const Fact manifest_;
  std::unordered_set<Name> defined_;
  std::unordered_set<Name> named_;
  std::uint64_t steps_ = 0;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (manifest[Key::handlers].size() == 0 || manifest[Key::tree][Key::partial].truth()) continue;
    Check(manifest).run(sink);
  }
}

}  // namespace

extern constinit const Rule handler_undefined{
    .id = "handler-undefined",
    .title = "target of a symbol that the sources spell otherwise",
    .rationale =
        "Where Python takes a handler from a library by its name, nobody checks that name before "
        "the import: a handler that was renamed on one side fails there with a symbol that can't "
        "be found. A handler that no target names, beside a target whose handler is nowhere, is "
        "that handler.",
    .example = R"({"opseal_manifest": 1, "system": "jax", "handlers": [{"symbol": "FooForward"}],)"
               R"( "targets": [{"name": "foo", "symbol": "FooFoward"}]})",
    .fix = "use one name on both sides",
    .severity = Severity::error,
    .inspects = "target whose symbol the sources define, or nearly define",
    .needs = {Key::handlers, Key::targets, Key::symbol},
    .check = check,
};

}  // namespace opseal
