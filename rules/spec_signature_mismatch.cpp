#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opseal/arg_spec.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/binding_signature.h"
#include "rules/handler_signature.h"
#include "rules/target_specs.h"

namespace opseal {
namespace {

struct Parameter {
  std::string_view text;
  // `bad` where the type alone doesn't tell.
  SpecKind kind = SpecKind::bad;
};

bool has(std::string_view text, std::string_view word) { return text.find(word) != text.npos; }

// Buffers arrive as objects of the bridge, which passes exactly what the spec lists. A function
// that takes plain pointers is called by hand-written code, which may add extents and the like.
bool is_buffer(std::string_view parameter) {
  return has(parameter, "Tensor") || has(parameter, "Buffer");
}

SpecKind kind_of(std::string_view parameter) {
  const bool pointer = has(parameter, "*");
  if (has(parameter, "ResultBuffer") || has(parameter, "Result<")) return SpecKind::result;
  if (has(parameter, "BE::Tensor")) {
    return has(parameter, "const ") ? SpecKind::argument : SpecKind::result;
  }
  if (has(parameter, "AnyBuffer") || has(parameter, "Buffer<")) return SpecKind::argument;
  if (is_buffer(parameter) || pointer) return SpecKind::bad;
  if (has(parameter, "Stream") || has(parameter, " stream")) return SpecKind::stream;
  return SpecKind::attribute;
}

// Parameters between the outermost parentheses; false where they can't be told apart.
bool read_parameters(std::string_view signature, std::vector<Parameter>& parameters) {
  const std::size_t open = signature.find('(');
  const std::size_t close = signature.rfind(')');
  if (open == signature.npos || close == signature.npos || close < open) return false;
  std::string_view rest = signature.substr(open + 1, close - open - 1);
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at <= rest.size(); ++at) {
    const char byte = at < rest.size() ? rest[at] : ',';
    if (byte == '<' || byte == '(' || byte == '[' || byte == '{') ++depth;
    if (byte == '>' || byte == ')' || byte == ']' || byte == '}') --depth;
    if (byte != ',' || (depth != 0 && at < rest.size())) continue;
    const std::string_view text = trim_spec(rest.substr(start, at - start));
    start = at + 1;
    if (text.empty() || text == "void") continue;
    // A pack, or what a framework hands over beside the spec.
    if (has(text, "...") || has(text, "Remaining") || has(text, "Context") ||
        has(text, "Dictionary")) {
      return false;
    }
    parameters.push_back({text, kind_of(text)});
  }
  return depth == 0;
}

std::string_view in_words(SpecKind kind) {
  switch (kind) {
    case SpecKind::argument:
      return "`arg`";
    case SpecKind::result:
      return "`ret`";
    case SpecKind::stream:
      return "`stream`";
    case SpecKind::attribute:
      return "an attribute";
    case SpecKind::context:
      return "a context";
    case SpecKind::bad:
      break;
  }
  return "nothing";
}

struct Difference {
  std::string message;
  Fact token;
};

// The first place where the two lists part ways.
Difference compare(const Fact& spec, const std::vector<Parameter>& parameters) {
  std::vector<std::pair<Fact, SpecToken>> tokens;
  bool readable = true;
  for_each_spec_token(spec, [&](const Fact& word, const SpecToken& token) {
    tokens.emplace_back(word, token);
    readable = readable && token.kind != SpecKind::bad;
  });
  // A bad token is another rule's finding.
  if (!readable) return {};
  if (tokens.size() != parameters.size()) {
    std::string message = "spec has " + plural(tokens.size(), "token") + ", the function " +
                          plural(parameters.size(), "parameter");
    if (parameters.size() > tokens.size()) {
      const auto pointer = std::find_if(
          parameters.begin(), parameters.end(),
          [](const Parameter& one) { return has(one.text, "*") && !is_buffer(one.text); });
      if (pointer != parameters.end()) message += "; nothing stands for " + quote(pointer->text);
    }
    return {std::move(message), spec};
  }
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const Parameter& parameter = parameters[at];
    const SpecToken& token = tokens[at].second;
    if (parameter.kind == SpecKind::bad || parameter.kind == token.kind) continue;
    // An integer may carry the stream.
    if (token.kind == SpecKind::stream && parameter.kind == SpecKind::attribute) continue;
    return {"token " + quote(token.text) + " stands for the parameter " + quote(parameter.text) +
                ", expected " + std::string(in_words(parameter.kind)),
            tokens[at].first};
  }
  return {};
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    // XLA binds contexts and user data that the language of specs has no words for.
    if (is_plain_xla(manifest)) continue;
    const TargetSpecs specs(manifest);
    if (specs.empty()) continue;
    for (const Fact op : manifest[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        const Fact signature = kernel[Key::native_signature];
        if (!signature.is_text() || !kernel[Key::target].is_text()) continue;
        const Fact spec = specs.of(kernel[Key::target].name());
        std::vector<Parameter> parameters;
        if (!spec || !read_parameters(signature.text(), parameters)) continue;
        if (std::none_of(parameters.begin(), parameters.end(),
                         [](const Parameter& one) { return is_buffer(one.text); })) {
          continue;
        }
        sink.inspected();
        Difference difference = compare(spec, parameters);
        if (difference.message.empty()) continue;
        Finding& finding =
            sink.add(std::string(kernel[Key::target].text()), std::move(difference.message),
                     evidence(difference.token, "spec of the target"));
        finding.related.push_back(evidence(signature, "function behind it" + site_of(kernel)));
      }
    }
  }
  check_handler_signatures(facts, sink);
  check_bindings(facts, sink);
}

}  // namespace

extern constinit const Rule spec_signature_mismatch{
    .id = "spec-signature-mismatch",
    .title = "argument spec that does not fit the function behind it",
    .rationale =
        "The wrapper around a native function is generated from the spec and passes what it lists, "
        "in that order. A parameter that the spec leaves out, as a plain pointer is left out where "
        "specs are guessed from signatures, gets no value: the build fails in generated code, or "
        "the function reads an argument that was meant for its neighbour.",
    .example =
        R"-({"opseal_manifest": 1, "system": "engine", "operators": [{"name": "f", "kernels":)-"
        R"-( [{"platform": "cpu", "target": "lib.f",)-"
        R"-( "native_signature": "void f(const BE::Tensor x, float* scale, BE::Tensor y)"}]}],)-"
        R"-( "targets": [{"name": "lib.f", "spec": ["arg", "ret"]}]})-",
    .fix =
        "write one token for each parameter of the function, in its order; hand buffers over as "
        "tensors, not as plain pointers",
    .severity = Severity::error,
    .inspects =
        "target with a spec, whose kernel has a native signature that takes buffers of a bridge, "
        "or whose handler was read from its library; handler or annotation in sources whose "
        "function is known",
    .needs = {Key::spec},
    .reads = {Key::handlers},
    .check = check,
};

}  // namespace opseal
