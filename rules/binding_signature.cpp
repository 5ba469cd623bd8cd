#include "rules/binding_signature.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/arg_spec.h"
#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Numbers by kind and bits.
struct Number {
  std::string_view word;
  char kind = 0;
  int bits = 0;
};
constexpr Number numbers[] = {
    {"bool", 'b', 1},    {"int8", 'i', 8},     {"int16", 'i', 16},   {"int32", 'i', 32},
    {"int64", 'i', 64},  {"uint8", 'u', 8},    {"uint16", 'u', 16},  {"uint32", 'u', 32},
    {"uint64", 'u', 64}, {"float32", 'f', 32}, {"float64", 'f', 64}, {"float16", 'f', 16},
};

const Number* number_of(std::string_view word) {
  const auto* found = std::find_if(std::begin(numbers), std::end(numbers),
                                   [word](const Number& one) { return one.word == word; });
  return found == std::end(numbers) ? nullptr : found;
}

// Values of one get lost on the way to the other, as C++ converts them without a word. Signed and
// unsigned ones of equal size are taken for the same: counts fit in both.
bool narrows(std::string_view from, std::string_view to) {
  const Number* a = number_of(from);
  const Number* b = number_of(to);
  if (a == nullptr || b == nullptr) return false;
  if (a->kind == 'f' && b->kind != 'f') return true;
  if (b->kind == 'f' && a->kind != 'f') return false;
  return a->bits > b->bits;
}

std::string_view in_words(const SpecToken& token) {
  switch (token.kind) {
    case SpecKind::argument:
      return "an argument";
    case SpecKind::result:
      return "a result";
    case SpecKind::stream:
      return "the stream";
    case SpecKind::attribute:
      return "an attribute";
    case SpecKind::context:
      return "a context";
    case SpecKind::bad:
      break;
  }
  return "nothing";
}

// Whether what is bound can't be what is taken. A context may arrive as a plain number or pointer.
// What the comment above a function of brainevent does.
constexpr std::string_view announces = "announces";

bool differ(const SpecToken& bound, const SpecToken& taken, bool announced) {
  if (taken.kind == SpecKind::bad || bound.kind == SpecKind::bad) return false;
  if (bound.kind == taken.kind) return false;
  // A tensor without `const` is a guess for a result; who writes the tokens out knows better.
  if (announced && bound.kind == SpecKind::argument && taken.kind == SpecKind::result) return false;
  const bool plain = taken.kind == SpecKind::attribute || taken.kind == SpecKind::stream;
  return bound.kind != SpecKind::context || !plain;
}

std::string name_of_parameter(const Fact& item, std::uint32_t at, std::uint32_t count) {
  const Fact names = item[Key::function][Key::parameters];
  if (!names.is_list() || names.size() != count) return {};
  std::uint32_t index = 0;
  for (const Fact name : names.items()) {
    if (index++ == at && name.is_text()) return " " + quote(name.text());
  }
  return {};
}

struct Words {
  std::vector<Fact> facts;
  std::vector<SpecToken> tokens;

  explicit Words(const Fact& list) {
    for (const Fact word : list.items()) {
      facts.push_back(word);
      tokens.push_back(read_spec_token(word.text()));
    }
  }
};

// `subject`: of a message; `item` has `spec` and `parameters`.
void judge(const Fact& item, const Fact& name, std::string_view bind, Sink& sink) {
  const Fact spec = item[Key::spec];
  const Fact parameters = item[Key::parameters];
  if (!all_read(spec) || !all_read(parameters)) return;
  sink.inspected();
  const Words bound(spec);
  const Words taken(parameters);
  if (bound.tokens.size() != taken.tokens.size()) {
    Finding& finding = sink.add(std::string(name.text()),
                                std::string(bind) + " " + plural(bound.tokens.size(), "parameter") +
                                    ", the function takes " + std::to_string(taken.tokens.size()),
                                evidence(spec, "bound here" + site_of(item)));
    finding.related.push_back(evidence(parameters, "parameters of the function"));
    return;
  }
  const auto count = static_cast<std::uint32_t>(bound.tokens.size());
  for (std::uint32_t at = 0; at < count; ++at) {
    const SpecToken& from = bound.tokens[at];
    const SpecToken& to = taken.tokens[at];
    const bool lossy = from.kind == SpecKind::attribute && to.kind == SpecKind::attribute &&
                       narrows(from.type, to.type);
    if (!lossy && !differ(from, to, bind == announces)) continue;
    const std::string parameter =
        "parameter " + std::to_string(at + 1) + name_of_parameter(item, at, count);
    std::string message;
    if (lossy) {
      message = std::string(bind) + " " + quote(from.type) + " for " + parameter + ", which is " +
                quote(to.type);
    } else {
      message = std::string(bind) + " " + quote(from.text) + " for " + parameter + ", which is " +
                std::string(in_words(to));
    }
    Finding& finding = sink.add(std::string(name.text()), std::move(message),
                                evidence(bound.facts[at], "bound here" + site_of(item)));
    finding.related.push_back(evidence(taken.facts[at], "taken here"));
    if (lossy) {
      finding.severity = Severity::warning;
      finding.fix = "let the function take what is bound, or bind what it takes";
    }
    return;
  }
}

// Where the tokens are left to be guessed, a parameter whose type has no token is passed over.
void judge_guess(const Fact& annotation, Sink& sink) {
  const Fact parameters = annotation[Key::parameters];
  if (annotation[Key::spec].said() || !all_read(parameters)) return;
  sink.inspected();
  std::uint32_t at = 0;
  for (const Fact word : parameters.items()) {
    ++at;
    if (!word.is("?")) continue;
    Finding& finding =
        sink.add(std::string(annotation[Key::name].text()),
                 "no spec is written, and parameter " + std::to_string(at) +
                     name_of_parameter(annotation, at - 1, parameters.size()) +
                     " is left out of the one that is guessed, since its type has no token",
                 evidence(annotation[Key::name], "announced here" + site_of(annotation)));
    finding.related.push_back(evidence(word, "parameter of the function"));
    return;
  }
}

}  // namespace

void check_bindings(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    for (const Fact handler : manifest[Key::handlers].items()) {
      judge(handler, handler[Key::symbol], "binds", sink);
    }
    for (const Fact annotation : manifest[Key::annotations].items()) {
      judge(annotation, annotation[Key::name], announces, sink);
      judge_guess(annotation, sink);
    }
  }
}

}  // namespace opseal
