#include <map>
#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/framework_rows.h"
#include "rules/probe_facts.h"

namespace opseal {
namespace {

// The strides of one tensor are told apart by a last digit: `nb01`, `nb02`; `stride_x_0`.
// Empty where a name is none of a stride.
std::string_view tensor_of(std::string_view parameter) {
  if (parameter.size() < 2 || parameter.back() < '0' || parameter.back() > '9') return {};
  const std::string_view tensor = parameter.substr(0, parameter.size() - 1);
  const bool bytes = tensor == "nb" || (tensor.size() == 3 && tensor.starts_with("nb"));
  return bytes || tensor.find("stride") != tensor.npos ? tensor : std::string_view();
}

struct Strides {
  std::vector<std::string> all;
  std::size_t unread = 0;
};

// The operand that is a view: `argument 0`, and its name, with which an identity ends:
// `.../x=reversed`.
std::string viewed_operand(const Fact& probe) {
  std::string_view name = probe[Key::identity].text();
  name.remove_prefix(name.rfind('/') + 1);
  name = name.substr(0, name.find('='));
  const std::string shown = name.empty() ? std::string() : " (" + std::string(name) + ')';
  for (const Key side : {Key::arguments, Key::results}) {
    std::size_t at = 0;
    for (const Fact operand : probe[side].items()) {
      const std::string number = std::to_string(at++);
      if (!operand[Key::strides].is_list()) continue;
      return (side == Key::arguments ? "argument " : "result ") + number + shown;
    }
  }
  return "an operand";
}

// What a kernel that a dense call doesn't trouble did with a view. Empty: nothing wrong.
std::string misdeed(const Fact& probe) {
  for (const Fact deviation : probe[Key::deviations].items()) {
    const std::string name(deviation[Key::name].text("a buffer"));
    const auto index = static_cast<std::int64_t>(deviation[Key::index].number());
    if (deviation[Key::kind].is("value")) {
      const std::uint64_t elements = deviation[Key::elements].count(1);
      return "gives other values in " + plural(elements, "element") + " of " + name +
             " than for dense operands";
    }
    if (deviation[Key::kind].is("out_of_bounds")) {
      return std::string(deviation[Key::seen].is("read") ? "reads" : "writes") + " at byte " +
             std::to_string(index) + " of " + name + ", where none of its elements lies";
    }
    if (deviation[Key::kind].is("input_written")) return "writes to " + name;
  }
  if (!has_no_end(probe)) return {};
  return (probe[Key::status].is("timed_out") ? "hangs: " : "ends the process: ") +
         std::string(probe[Key::reason].text("no answer"));
}

void check_calls(const Facts& facts, Sink& sink) {
  ProbeFindings findings(sink);
  for_every_probe(facts, [&](const Fact& probe) {
    if (!is_view(probe) || !has_verdict(probe)) return;
    sink.inspected();
    const std::string what = misdeed(probe);
    if (what.empty()) return;
    const std::string operand = viewed_operand(probe);
    findings.add(probe, operand,
                 kernel_text(probe) + " takes the strides of " + operand + " and " + what +
                     ", in a call " + call_text(probe),
                 Severity::error);
  });
  findings.tell();
  constexpr FrameworkFault faults[] = {
      {"layout", "gives other values for operands that are not contiguous"},
  };
  judge_operator_rows(facts, faults, sink);
}

void check(const Facts& facts, Sink& sink) {
  check_calls(facts, sink);
  for (const Document& document : facts.documents) {
    for (const Fact function : facts.root(document)[Key::device_functions].items()) {
      const Fact unread = function[Key::unread];
      if (!all_read(unread) || !all_read(function[Key::parameters])) continue;
      // Of a manifest that doesn't say it, nobody does.
      const bool asked = function[Key::contiguous].is_truth() && function[Key::contiguous].truth();
      std::map<std::string, Strides> tensors;
      for (const std::string& name : texts_of(function[Key::parameters])) {
        const std::string_view tensor = tensor_of(name);
        if (tensor.empty()) continue;
        Strides& strides = tensors[std::string(tensor)];
        strides.all.push_back(name);
        if (list_has(unread, name)) ++strides.unread;
      }
      if (tensors.empty()) continue;
      sink.inspected();
      std::vector<std::string> lost;
      for (const auto& [tensor, strides] : tensors) {
        // One stride alone is often that of elements that lie side by side.
        if (strides.unread < 2 || strides.unread < strides.all.size()) continue;
        lost.insert(lost.end(), strides.all.begin(), strides.all.end());
      }
      // Who starts it may see to dense tensors.
      if (lost.empty() || asked) continue;
      sink.add(std::string(function[Key::name].text()),
               "kernel takes the strides " + quote_list(lost) + " and reads none of them",
               evidence(function, "kernel defined here" + site_of(function)));
    }
  }
}

}  // namespace

extern constinit const Rule layout_stride_unread{
    .id = "layout-stride-unread",
    .title = "kernel takes the strides of a tensor and reads none of them",
    .rationale =
        "A kernel that is handed strides and finds its elements by sizes alone is right for a "
        "dense tensor and silently wrong for a view, a slice or a transposed one. Where every "
        "caller makes sure that the tensor is dense the parameters are only left over, so that "
        "nothing is told where anything in the file of the kernel asks for it. A kernel that was "
        "called with views is told of where it did otherwise than for dense operands.",
    .example =
        R"({"opseal_manifest": 1, "device_functions": [{"name": "roll", "parameters": ["ne0", "ne1", "nb0", "nb1"], "unread": ["nb0", "nb1"]}]})",
    .fix =
        "find elements by the strides, or take the parameters away and refuse tensors that are "
        "not dense",
    .severity = Severity::warning,
    .tier = Tier::lexed,
    .inspects =
        "kernel with strides among its parameters of which it is said what it reads, or call of "
        "one with a view",
    .needs = {},
    .check = check,
};

}  // namespace opseal
