#include "rules/probe_facts.h"

namespace opseal {
namespace {

std::string operands_text(const Fact& operands) {
  std::string text;
  for (const Fact operand : operands.items()) {
    if (!text.empty()) text += ", ";
    text += operand[Key::dtypes].size() == 1 ? join(texts_of(operand[Key::dtypes]), "") : "?";
    text += '[';
    const char* separator = "";
    for (const Fact extent : operand[Key::shape].items()) {
      text += separator + std::to_string(extent.count());
      separator = ",";
    }
    text += ']';
    if (!operand[Key::strides].is_list()) continue;
    text += " with strides [";
    separator = "";
    for (const Fact stride : operand[Key::strides].items()) {
      text += separator + std::to_string(static_cast<std::int64_t>(stride.number()));
      separator = ",";
    }
    text += ']';
  }
  return text;
}

}  // namespace

bool is_view(const Fact& probe) {
  for (const Key side : {Key::arguments, Key::results}) {
    for (const Fact operand : probe[side].items()) {
      if (operand[Key::strides].is_list()) return true;
    }
  }
  return false;
}

bool has_no_end(const Fact& probe) {
  const Fact status = probe[Key::status];
  return status.is("crashed") || status.is("timed_out") || status.is("no_answer");
}

bool has_compared_results(const Fact& probe) {
  if (!is_ended_call(probe) || probe[Key::status].is("refused")) return false;
  for (const Fact deviation : probe[Key::deviations].items()) {
    if (deviation[Key::kind].is("out_of_bounds") || deviation[Key::kind].is("refused_again"))
      return false;
  }
  return true;
}

std::string kernel_key(const Fact& probe) {
  std::string key;
  for (const Key part : {Key::operator_, Key::library, Key::symbol}) {
    key += probe[part].text();
    key += '\0';
  }
  return key;
}

bool is_about_dtypes(std::string_view reason) {
  const std::string text = lower(reason);
  // `Wrong attribute type`, `Wrong scalar data type: expected F32 but got F64`: of attributes.
  for (const std::string_view word : {"attribute", "scalar data type", "array data type"}) {
    if (text.find(word) != text.npos) return false;
  }
  for (const std::string_view word : {"dtype", "data type", "element type", "datatype"}) {
    if (text.find(word) != text.npos) return true;
  }
  return false;
}

std::string call_text(const Fact& probe) {
  const std::string arguments = '(' + operands_text(probe[Key::arguments]) + ')';
  if (!probe[Key::results].is_list()) return arguments;
  return arguments + " -> " +
         (probe[Key::results].size() == 1 ? operands_text(probe[Key::results])
                                          : '(' + operands_text(probe[Key::results]) + ')');
}

std::string kernel_text(const Fact& probe) {
  const std::string_view symbol = probe[Key::symbol].text();
  std::string text = symbol.empty() ? std::string("the kernel") : quote(symbol);
  if (probe[Key::library].is_text()) text += " of " + quote(probe[Key::library].text());
  return text;
}

std::string value_text(const Fact& probe, const Fact& deviation, const std::string& name,
                       std::string_view words, std::string_view otherwise) {
  return kernel_text(probe) + " gives " + std::string(deviation[Key::seen].text("another value")) +
         " at element " +
         std::to_string(static_cast<std::int64_t>(deviation[Key::index].number())) + " of " + name +
         ", " + std::string(words) + ' ' + std::string(deviation[Key::expected].text(otherwise)) +
         "; in a call " + call_text(probe);
}

void ProbeFindings::add(const Fact& probe, std::string what, std::string message,
                        Severity severity) {
  std::string key = kernel_key(probe) + std::move(what);
  const auto [place, fresh] = places_.try_emplace(std::move(key), groups_.size());
  if (fresh) {
    groups_.push_back({probe, std::move(message), severity, 0});
  } else {
    ++groups_[place->second].others;
  }
}

void ProbeFindings::tell() {
  for (Group& group : groups_) {
    if (group.others > 0) {
      group.message += "; so does " + plural(group.others, "further call");
      if (group.others > 1) group.message.replace(group.message.rfind("so does"), 7, "so do");
    }
    const Fact& probe = group.probe;
    std::string label = "what was called";
    if (probe[Key::identity].is_text()) label = "probe " + quote(probe[Key::identity].text());
    const std::string_view subject =
        probe[Key::operator_].is_text() ? probe[Key::operator_].text() : probe[Key::symbol].text();
    sink_->add(std::string(subject), std::move(group.message), evidence(probe, std::move(label)))
        .severity = group.severity;
  }
}

void judge_derivatives(const Facts& facts, std::string_view kind, const std::string& what,
                       Sink& sink) {
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!probe[Key::kind].is(kind)) return;
    const bool differs = probe[Key::status].is("differs");
    if (!differs && !probe[Key::status].is("passed")) return;
    sink.inspected();
    if (!differs) return;
    for (const Fact deviation : probe[Key::deviations].items()) {
      const bool repeated = deviation[Key::kind].is("repeated");
      if (!repeated && !deviation[Key::kind].is(kind)) continue;
      const std::string name(deviation[Key::name].text(repeated ? "a result" : "an input"));
      const std::string function = probe[Key::counterpart].is_text()
                                       ? quote(probe[Key::counterpart].text())
                                       : std::string("its operator");
      std::string message = kernel_text(probe) + ' ';
      message += repeated ? "gives another " + quote(name) + " than " + function
                          : what + " of " + function + " along " + quote(name);
      message += ": " + std::string(deviation[Key::seen].text("?")) + "; expected " +
                 std::string(deviation[Key::expected].text("another one")) + "; in a call " +
                 call_text(probe);
      findings.add(probe, std::string(deviation[Key::kind].text()) + '\0' + name,
                   std::move(message), repeated ? Severity::warning : Severity::error);
    }
  });
  findings.tell();
}

}  // namespace opseal
