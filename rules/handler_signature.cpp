#include "rules/handler_signature.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opseal/arg_spec.h"
#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/library_handlers.h"

namespace opseal {
namespace {

struct Spec {
  std::uint32_t arguments = 0;
  std::uint32_t results = 0;
  std::uint32_t streams = 0;
  std::vector<std::string> attributes;
  // Every attribute says its type.
  bool typed = true;
  bool readable = true;
};

Spec read_spec(const Fact& words) {
  Spec spec;
  for_each_spec_token(words, [&spec](const Fact&, const SpecToken& token) {
    // Nothing is counted where any number may come.
    spec.readable = spec.readable && !token.rest && !token.optional;
    switch (token.kind) {
      case SpecKind::argument:
        ++spec.arguments;
        break;
      case SpecKind::result:
        ++spec.results;
        break;
      case SpecKind::stream:
        ++spec.streams;
        break;
      case SpecKind::attribute:
        spec.attributes.emplace_back(token.type);
        spec.typed = spec.typed && token.has_type;
        break;
      case SpecKind::context:
        break;
      case SpecKind::bad:
        // Another rule's finding.
        spec.readable = false;
        break;
    }
  });
  return spec;
}

bool binds_stream(const Fact& contexts) {
  for (const Fact context : contexts.items()) {
    if (context.is("stream") || context.text().starts_with("stream<")) return true;
  }
  return false;
}

// How many of which attributes differ, or empty. Names decide which is which, and types are all
// that a binary shows, so the order is of no account.
std::string attribute_difference(const Spec& spec, const Fact& bound) {
  for (const Fact type : bound.items()) {
    // A handler that takes them all in one: it may take any.
    if (type.is("dictionary")) return {};
  }
  if (spec.attributes.size() != bound.size()) {
    return plural(spec.attributes.size(), "attribute") + ", the handler binds " +
           std::to_string(bound.size());
  }
  if (!spec.typed) return {};
  std::vector<std::string> declared = spec.attributes;
  std::vector<std::string> found = texts_of(bound);
  std::sort(declared.begin(), declared.end());
  std::sort(found.begin(), found.end());
  std::vector<std::string> surplus;
  std::vector<std::string> lacking;
  std::set_difference(declared.begin(), declared.end(), found.begin(), found.end(),
                      std::back_inserter(surplus));
  std::set_difference(found.begin(), found.end(), declared.begin(), declared.end(),
                      std::back_inserter(lacking));
  if (surplus.empty()) return {};
  return "attributes of type " + quote_list(surplus) + ", the handler binds " + quote_list(lacking);
}

std::string count_difference(std::string_view what, std::uint32_t declared, const Fact& bound) {
  // Missing: none are bound, or nobody could tell.
  if (!bound.said()) return {};
  const Stated<CountRange> count = operand_count(bound);
  if (!count || count->has(declared)) return {};
  return plural(declared, what) + ", the handler binds " +
         (count->exact() ? std::to_string(count->min) : to_text(*count, what));
}

std::string difference(const Spec& spec, const Fact& handler) {
  std::string text = count_difference("argument", spec.arguments, handler[Key::arguments]);
  if (text.empty()) text = count_difference("result", spec.results, handler[Key::results]);
  const Fact attributes = handler[Key::attributes];
  if (text.empty() && all_read(attributes)) text = attribute_difference(spec, attributes);
  const Fact contexts = handler[Key::contexts];
  if (!text.empty() || !all_read(contexts)) return text;
  const bool stream = binds_stream(contexts);
  if (stream == (spec.streams > 0)) return {};
  return stream ? "no `stream`, the handler binds one" : "a `stream`, the handler binds none";
}

}  // namespace

void check_handler_signatures(const Facts& facts, Sink& sink) {
  if (!facts.said[static_cast<std::size_t>(Key::handlers)]) return;
  const LibraryFacts libraries(facts);
  const LibraryHandlers handlers(libraries);
  if (handlers.empty()) return;
  for_each_spec(facts, [&](const Fact& manifest, const Fact& target, const Fact& words) {
    const Fact handler = handlers.of(manifest, target);
    if (!handler.said() || handler[Key::ambiguous].truth()) return;
    // Only the last stage gets the operands.
    if (handler[Key::stage].said() && !handler[Key::stage].is("execute")) return;
    const Spec spec = read_spec(words);
    if (!spec.readable) return;
    sink.inspected();
    const std::string what = difference(spec, handler);
    if (what.empty()) return;
    Finding& finding = sink.add(std::string(target[Key::name].text()), "spec has " + what,
                                evidence(words, "spec of the target" + site_of(target)));
    finding.related.push_back(
        evidence(handler, "handler " + quote(handler[Key::symbol].text()) + " in the library"));
    finding.fix = "let the spec say what the handler binds, or build the library again";
  });
}

}  // namespace opseal
