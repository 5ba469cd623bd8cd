#include <algorithm>
#include <string_view>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// More parameters or kernels than any operator has: an input made to cost time.
constexpr std::size_t most_parameters = 64;
constexpr std::size_t most_kernels = 64;

struct Parameters {
  std::vector<std::string_view> names;
  // Those that must be given come first.
  std::size_t required = 0;
  Fact place;
  Fact kernel;
};

// `float const* seq = nullptr` gives `seq`; empty where a parameter has no name.
std::string_view parameter_name(std::string_view text) {
  text = text.substr(0, text.find('='));
  while (!text.empty() && (text.back() == ' ' || text.back() == ']' || text.back() == '[')) {
    text.remove_suffix(1);
  }
  std::size_t begin = text.size();
  while (begin > 0 && is_word_byte(text[begin - 1])) --begin;
  const std::string_view name = text.substr(begin);
  std::string_view type = text.substr(0, begin);
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  // A lone word is the type, and so is the end of a qualified one.
  if (name.empty() || type.empty() || type.back() == ':' || type == "const") return {};
  for (const std::string_view word : {"const", "int", "long", "short", "char", "double", "float"}) {
    if (name == word) return {};
  }
  return name;
}

// The names in the parentheses of C++ text; empty where one of them has none.
std::vector<std::string_view> native_names(std::string_view signature) {
  std::vector<std::string_view> names;
  const std::size_t close = signature.rfind(')');
  const std::size_t open = signature.find('(');
  if (open == signature.npos || close == signature.npos || close < open) return names;
  std::string_view rest = signature.substr(open + 1, close - open - 1);
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= rest.size(); ++at) {
    const char byte = at < rest.size() ? rest[at] : ',';
    depth += byte == '<' || byte == '(' ? 1 : byte == '>' || byte == ')' ? -1 : 0;
    if (byte != ',' || (depth != 0 && at < rest.size())) continue;
    const std::string_view name = parameter_name(rest.substr(begin, at - begin));
    if (name.empty() || names.size() == most_parameters) return {};
    names.push_back(name);
    begin = at + 1;
  }
  return names;
}

// False where the kernel doesn't say all that it takes.
bool read_parameters(const Fact& kernel, Parameters& parameters) {
  parameters = {};
  parameters.kernel = kernel;
  const Fact function = kernel[Key::function];
  const Fact list = function[Key::parameters];
  if (list.is_list()) {
    if (!all_read(list) || function[Key::variadic].truth() || list.size() > most_parameters) {
      return false;
    }
    for (const Fact name : list.items()) parameters.names.push_back(name.text());
    parameters.required = function[Key::required].is_count() ? function[Key::required].count() : 0;
    parameters.place = list;
  } else {
    parameters.names = native_names(kernel[Key::native_signature].text());
    parameters.required = parameters.names.size();
    parameters.place = kernel[Key::native_signature];
  }
  return !parameters.names.empty();
}

bool holds(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What the operator calls its own operands and attributes. Anything else that a kernel takes is its
// own affair: block sizes, streams, work space.
std::vector<std::string_view> argument_names(const Fact& op) {
  std::vector<std::string_view> names;
  for (const Key key : {Key::inputs, Key::attributes}) {
    for (const Fact item : op[key].items()) {
      if (item[Key::name].is_text() && names.size() < most_parameters) {
        names.push_back(item[Key::name].text());
      }
    }
  }
  return names;
}

// The arguments of the operator that `full` takes and `poor` doesn't. Where `poor` has a name that
// `full` lacks, it may be the same argument under another name.
std::vector<std::string> dropped(const Parameters& full, const Parameters& poor,
                                 const std::vector<std::string_view>& arguments) {
  for (const std::string_view name : poor.names) {
    if (!holds(full.names, name)) return {};
  }
  std::vector<std::string> names;
  for (std::size_t at = 0; at < full.names.size(); ++at) {
    const std::string_view name = full.names[at];
    if (holds(poor.names, name)) continue;
    const bool counts = arguments.empty() ? at < full.required : holds(arguments, name);
    if (counts) names.emplace_back(name);
  }
  return names;
}

void judge(const Fact& manifest, const Fact& op, std::vector<Parameters>& alternatives,
           Sink& sink) {
  alternatives.clear();
  Parameters parameters;
  for (const Fact kernel : op[Key::kernels].items()) {
    if (!is_active_kernel(kernel) || kernel[Key::stub].truth()) continue;
    if (alternatives.size() == most_kernels) break;
    if (read_parameters(kernel, parameters)) alternatives.push_back(parameters);
  }
  if (alternatives.size() < 2) return;
  sink.inspected();
  const auto full = std::max_element(
      alternatives.begin(), alternatives.end(),
      [](const Parameters& a, const Parameters& b) { return a.names.size() < b.names.size(); });
  const std::vector<std::string_view> arguments = argument_names(op);
  for (const Parameters& poor : alternatives) {
    // A dispatcher holds one kernel for each key: two are of two builds, each with its own callers.
    const bool one_key = decision_text(poor.kernel) == decision_text(full->kernel);
    if (one_key && manifest[Key::system].is("torch")) continue;
    const std::vector<std::string> names = dropped(*full, poor, arguments);
    if (names.empty()) continue;
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 "kernel " + decision_text(poor.kernel) + " takes no " + quote_list(names) +
                     ", kernel " + decision_text(full->kernel) + " does",
                 evidence(poor.place, "parameters listed here" + site_of(poor.kernel)));
    finding.related.push_back(
        evidence(full->place, "parameters of the other" + site_of(full->kernel)));
    if (arguments.empty()) finding.severity = Severity::warning;
  }
}

void check(const Facts& facts, Sink& sink) {
  std::vector<Parameters> alternatives;
  for_each_operator(facts, [&](const Fact& manifest, const Fact& op) {
    // There a kernel's function is a lowering rule or a generator, which is handed everything by
    // keyword and takes what it wants.
    if (registers_with_xla(manifest)) return;
    if (op[Key::kernels].size() > 1) judge(manifest, op, alternatives, sink);
  });
}

}  // namespace

extern constinit const Rule fallback_ignores_argument{
    .id = "fallback-ignores-argument",
    .title = "alternative of an operator that does not take an argument that another takes",
    .rationale =
        "Which alternative runs depends on what is installed. If one of them has no parameter for "
        "an argument, the argument is dropped on the way to it: the same call computes one thing "
        "where the fast kernel is there and another where it isn't, and nothing raises.",
    .example = R"({"name": "scan", "inputs": [{"name": "x"}, {"name": "seq"}], "kernels": [)"
               R"({"platform": "gpu", "function": {"name": "fast", "parameters": ["x", "seq"]}},)"
               R"( {"platform": "cpu", "function": {"name": "slow", "parameters": ["x"]}}]})",
    .fix = "let every alternative take the argument, and honour or refuse it",
    .severity = Severity::error,
    .inspects = "operator with two or more kernels that name their parameters",
    .needs = {Key::operators, Key::kernels},
    .check = check,
};

}  // namespace opseal
