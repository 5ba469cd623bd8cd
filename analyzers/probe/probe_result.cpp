#include "analyzers/probe/probe_result.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <sstream>
#include <string_view>

#include "opseal/arg_spec.h"
#include "opseal/ascii.h"
#include "opseal/dtypes.h"
#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// The name of a signal for people: `SIGSEGV`.
std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
}

// A message of several lines, and of several diagnostics without anything between them.
std::string on_one_line(std::string_view message) {
  std::string line;
  for (std::size_t at = 0; at < message.size(); ++at) {
    const bool blank = message[at] == '\n' || message[at] == ' ' || message[at] == '\t';
    if (blank && (line.empty() || line.back() == ' ')) continue;
    if (at > 0 && message.substr(at).starts_with("Wrong ") && line.back() != ' ') line += "; ";
    line += blank ? ' ' : message[at];
  }
  return line;
}

// `argument_0` of a child's last words as reports say it.
std::string buffer_name(std::string_view word) {
  std::string name(word);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

// The last words of `tell_of_faults`, as a sentence and, beside a buffer, as a deviation.
std::string read_last_words(const std::string& words, ProbeResult& result) {
  std::istringstream in(words);
  std::string kind;
  in >> kind;
  if (kind == "guard") {
    std::string buffer;
    std::int64_t offset = 0;
    std::string access;
    in >> buffer >> offset >> access;
    ProbeDeviation deviation;
    deviation.kind = "out_of_bounds";
    deviation.name = buffer_name(buffer);
    deviation.index = offset;
    deviation.elements = 1;
    deviation.seen = access == "write" ? "written" : access == "read" ? "read" : "touched";
    result.deviations.push_back(deviation);
    return access + " at byte " + std::to_string(offset) + " of " + deviation.name;
  }
  std::string value;
  std::string access;
  in >> value >> access;
  if (kind == "fault") return access + " at address 0x" + value;
  return {};
}

std::string with_output(std::string reason, const PoolOutcome& outcome) {
  const std::string line = last_line(outcome);
  if (!line.empty()) reason += "; it printed last: " + line;
  return reason;
}

// `ARG` and `RET` operands of what bytes, or a manifest, say.
std::string operand_text(const ffi::RecoveredOperand& operand) {
  std::string text = operand.dtype.empty() ? "any" : operand.dtype;
  if (operand.rank >= 0) text += " of rank " + std::to_string(operand.rank);
  return text;
}

void differ(ProbeResult& result, std::string kind, std::string name, std::string expected,
            std::string seen) {
  ProbeDeviation deviation;
  deviation.kind = std::move(kind);
  deviation.name = std::move(name);
  deviation.expected = std::move(expected);
  deviation.seen = std::move(seen);
  result.deviations.push_back(std::move(deviation));
  result.status = "differs";
}

void compare_operands(const std::vector<ffi::RecoveredOperand>& recovered, bool more,
                      const Fact& stated, const char* noun, ProbeResult& result) {
  if (!stated.is_list() || !all_read(stated)) return;
  std::size_t at = 0;
  bool open = false;
  for (const Fact operand : stated.items()) {
    if (operand[Key::variadic].truth() || operand[Key::optional].truth()) {
      open = true;
      continue;
    }
    if (at >= recovered.size()) break;
    const std::string name = std::string(noun) + ' ' + std::to_string(at);
    const ffi::RecoveredOperand& found = recovered[at++];
    const std::vector<std::string> dtypes = texts_of(operand[Key::dtypes]);
    if (dtypes.size() == 1 && !found.dtype.empty() && dtypes[0] != found.dtype) {
      differ(result, "signature", name, dtypes[0], operand_text(found));
    } else if (operand[Key::rank].is_count() && found.rank >= 0 &&
               operand[Key::rank].count() != static_cast<std::uint32_t>(found.rank)) {
      differ(result, "signature", name, "rank " + std::to_string(operand[Key::rank].count()),
             operand_text(found));
    }
  }
  if (open || more) return;
  if (stated.size() != recovered.size()) {
    differ(result, "signature", std::string(noun) + "s", plural(stated.size(), noun),
           std::to_string(recovered.size()));
  }
}

// True: they are known, and those that are expected.
bool compare_attribute_names(const ffi::RecoveredSignature& recovered,
                             std::vector<std::string> expected, ProbeResult& result) {
  if (recovered.attributes_unnamed) return false;
  std::vector<std::string> found;
  for (const ffi::RecoveredAttribute& attribute : recovered.attributes) {
    if (attribute.name.empty()) return false;
    found.push_back(attribute.name);
  }
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  if (found == expected) return true;
  differ(result, "signature", "attributes", quote_list(expected, 16), quote_list(found, 16));
  return false;
}

// What a target's spec binds: how many operands, and the names of attributes.
void compare_spec(const ffi::RecoveredSignature& recovered, const Fact& spec, ProbeResult& result) {
  if (!spec.is_list() || !all_read(spec)) return;
  std::size_t arguments = 0;
  std::size_t results = 0;
  std::vector<std::string> attributes;
  bool exact = true;
  for_each_spec_token(spec, [&](const Fact&, const SpecToken& token) {
    exact = exact && !token.optional && !token.rest && token.kind != SpecKind::bad;
    if (token.kind == SpecKind::argument) ++arguments;
    if (token.kind == SpecKind::result) ++results;
    if (token.kind == SpecKind::attribute) attributes.emplace_back(token.name);
  });
  if (!exact) return;
  if (!recovered.more_arguments && arguments != recovered.arguments.size()) {
    differ(result, "signature", "arguments", plural(arguments, "argument"),
           std::to_string(recovered.arguments.size()));
  }
  if (!recovered.more_results && results != recovered.results.size()) {
    differ(result, "signature", "results", plural(results, "result"),
           std::to_string(recovered.results.size()));
  }
  compare_attribute_names(recovered, std::move(attributes), result);
}

// What calls by the operator's declaration would hand over: counts, and names and types of
// attributes, where it says enough to make such calls.
void compare_operator(const ffi::RecoveredSignature& recovered, const ProbeSubject& subject,
                      ProbeResult& result) {
  if (recovered.stage != "execute" || !subject.op.said() || subject.is_plain()) return;
  const auto count = [&](Key side, std::size_t found, bool more, const char* noun) {
    const Fact operands = subject.op[side];
    if (more || !operands.is_list() || !all_read(operands)) return;
    for (const Fact operand : operands.items()) {
      const bool open = operand[Key::variadic].truth() || operand[Key::optional].truth();
      if (open || !operand[Key::shape].is_list()) return;
    }
    // Who binds none of a kind doesn't look how many there are.
    if (operands.size() == found || found == 0) return;
    differ(result, "signature", std::string(noun) + "s", plural(operands.size(), noun),
           std::to_string(found));
  };
  count(Key::inputs, recovered.arguments.size(), recovered.more_arguments, "argument");
  count(Key::outputs, recovered.results.size(), recovered.more_results, "result");
  std::map<std::string, Fact> stated;
  for (const Fact attribute : subject.op[Key::attributes].items()) {
    // One that no call hands over is of the operator alone.
    if (!attribute[Key::value].said()) return;
    stated.emplace(attribute[Key::name].text(), attribute);
  }
  if (recovered.attributes.empty()) return;
  std::vector<std::string> expected;
  for (const auto& [name, attribute] : stated) expected.push_back(name);
  if (!compare_attribute_names(recovered, std::move(expected), result)) return;
  for (const ffi::RecoveredAttribute& attribute : recovered.attributes) {
    const Fact& one = stated.at(attribute.name);
    const Dtype* dtype = find_dtype(one[Key::type].text());
    const Dtype* seen = find_dtype(attribute.dtype);
    if (dtype == nullptr || seen == nullptr || same_dtype(*dtype, *seen)) continue;
    differ(result, "signature", "attribute " + quote(attribute.name),
           std::string(one[Key::type].text()), attribute.kind + " of " + attribute.dtype);
  }
}

void add_damage(const std::vector<ffi::BufferDamage>& list, const char* kind, ProbeResult& result,
                const char* expected = "") {
  for (const ffi::BufferDamage& damage : list) {
    ProbeDeviation deviation;
    deviation.kind = kind;
    deviation.name = damage.buffer;
    deviation.index = damage.index;
    deviation.elements = damage.elements;
    deviation.expected = expected;
    result.deviations.push_back(std::move(deviation));
    result.status = "differs";
  }
}

// Where the handler asked for what there is none of, the call is skipped. True: it was made, and
// passed, or was refused.
bool was_made(const ffi::Answer& answer, ProbeResult& result) {
  if (!answer.lacked.empty()) {
    result.status = "skipped";
    result.reason = "needs " + answer.lacked;
    return false;
  }
  result.status = "passed";
  if (answer.end.how == ffi::CallEnd::How::returned) return true;
  result.status = "refused";
  const bool threw = answer.end.how == ffi::CallEnd::How::threw;
  result.reason = (threw ? "throws: " : "") + on_one_line(answer.end.message);
  return true;
}

}  // namespace

bool read_outcome(const PoolOutcome& outcome, ffi::Answer& answer, ProbeResult& result) {
  result.seconds = outcome.seconds;
  switch (outcome.end) {
    case PoolEnd::answered:
      if (ffi::read_answer(outcome.answer, answer) && ffi::fits(answer, result.question)) {
        return true;
      }
      result.status = "no_answer";
      result.reason = "the child answered something else than what it was asked";
      return false;
    case PoolEnd::signalled: {
      // An assertion of XLA's headers: the type gets its number when an earlier stage keeps state.
      if (outcome.output_tail.find("type must be registered with XLA FFI") != std::string::npos) {
        result.status = "skipped";
        result.reason =
            "asks for state of an earlier stage that nobody names, or for user data: its type is "
            "not registered, and its assertions end the process";
        return false;
      }
      result.status = "crashed";
      const std::string words = read_last_words(outcome.last_words, result);
      result.reason = "ended by " + signal_name(outcome.code);
      if (!words.empty()) result.reason += ": " + words;
      result.reason = with_output(std::move(result.reason), outcome);
      return false;
    }
    case PoolEnd::exited:
      result.status = "crashed";
      // What was printed then may be the answer's own bytes.
      result.reason =
          outcome.code == no_exit_status
              ? std::string("wrote into the answer of its process, or closed it")
              : with_output("ended the process with status " + std::to_string(outcome.code),
                            outcome);
      return false;
    case PoolEnd::timed_out:
      result.status = "timed_out";
      result.reason = with_output("no end within the time limit", outcome);
      return false;
    case PoolEnd::output_too_long:
      result.status = "no_answer";
      result.reason = with_output("printed more than 1 MiB", outcome);
      return false;
    case PoolEnd::answer_too_long:
      result.status = "no_answer";
      result.reason = "gave an answer of more than 16 MiB";
      return false;
    case PoolEnd::not_started:
      result.status = "skipped";
      result.reason = outcome.code == 0
                          ? std::string("its process ended before it was asked")
                          : std::string("no process was started: ") + std::strerror(outcome.code);
      return false;
  }
  return false;
}

bool was_loaded(const ffi::Answer& answer, ProbeResult& result) {
  if (answer.not_loaded.empty()) return true;
  result.status = "skipped";
  result.reason = answer.not_loaded;
  return false;
}

void judge_metadata(const ffi::Answer& answer, const ProbeSubject& subject, ProbeResult& result) {
  const ffi::MetadataAnswer& metadata = answer.metadata;
  result.status = "passed";
  if (!metadata.answered) {
    // What a stateful handler says of a type that nobody registered yet is an answer, too.
    if (metadata.end.how == ffi::CallEnd::How::failed &&
        metadata.end.code == ffi::failed_precondition) {
      result.reason = "its state has no registered type: " + metadata.end.message;
      return;
    }
    result.status = "refused";
    result.reason = metadata.end.message.empty() ? std::string("it filled nothing in")
                                                 : on_one_line(metadata.end.message);
    return;
  }
  result.reason = "API " + std::to_string(metadata.major) + '.' + std::to_string(metadata.minor);
  const Fact traits = subject.target[Key::traits];
  if (traits.is_list() && all_read(traits)) {
    bool declared = false;
    for (const std::string& word : texts_of(traits)) {
      declared =
          declared || word.find("ommand") != word.npos || word.find("CmdBuffer") != word.npos;
    }
    const bool has = (metadata.traits & ffi::trait_command_buffer) != 0;
    if (declared != has) {
      differ(result, "traits", "command buffer", declared ? "compatible" : "not compatible",
             has ? "compatible" : "not compatible");
    }
  }
  const Fact version = subject.target[Key::ffi_version];
  if (version[Key::major].is_count() && version[Key::minor].is_count()) {
    const auto text = [](long long major, long long minor) {
      return std::to_string(major) + '.' + std::to_string(minor);
    };
    const std::string stated = text(version[Key::major].count(), version[Key::minor].count());
    const std::string told = text(metadata.major, metadata.minor);
    if (stated != told) differ(result, "traits", "API version", stated, told);
  }
}

void judge_signature(const ffi::Answer& answer, const ProbeSubject& subject, ProbeResult& result) {
  const ffi::RecoveredSignature& recovered = answer.signature;
  result.status = "passed";
  if (recovered.ran) {
    // Nothing of what it takes is wrong in a call that is wrong in everything.
    const Fact arguments = subject.handler[Key::arguments];
    const Fact results = subject.handler[Key::results];
    if (arguments.size() + results.size() > 0) {
      differ(result, "unrefused", "arguments", "a refusal of -1 arguments and -1 results",
             "it ran");
    } else {
      result.reason = "takes nothing, so that nothing could be refused";
    }
    return;
  }
  if (!recovered.unread.empty()) {
    result.status = "refused";
    result.reason = on_one_line(recovered.unread);
    return;
  }
  std::vector<std::string> arguments;
  std::vector<std::string> results;
  for (const auto& operand : recovered.arguments) arguments.push_back(operand_text(operand));
  for (const auto& operand : recovered.results) results.push_back(operand_text(operand));
  result.reason = recovered.stage + " (" + join(arguments, ", ") +
                  (recovered.more_arguments ? ", ..." : "") + ") -> (" + join(results, ", ") +
                  (recovered.more_results ? ", ..." : "") + ')';
  for (const ffi::RecoveredAttribute& attribute : recovered.attributes) {
    result.reason += ' ' + attribute.name + ':' + attribute.kind;
    if (!attribute.dtype.empty()) result.reason += '<' + attribute.dtype + '>';
  }
  if (!subject.handler[Key::ambiguous].truth()) {
    compare_operands(recovered.arguments, recovered.more_arguments, subject.handler[Key::arguments],
                     "argument", result);
    compare_operands(recovered.results, recovered.more_results, subject.handler[Key::results],
                     "result", result);
    const std::string_view stage = subject.handler[Key::stage].text();
    if (!stage.empty() && !recovered.stage.empty() && stage != recovered.stage) {
      differ(result, "signature", "stage", std::string(stage), recovered.stage);
    }
  }
  compare_spec(recovered, subject.target[Key::spec], result);
  if (result.deviations.empty()) compare_operator(recovered, subject, result);
}

void judge_call(const ffi::Answer& answer, ProbeResult& result) {
  if (!was_made(answer, result)) return;
  add_damage(answer.trespasses, "out_of_bounds", result);
  add_damage(answer.written_arguments, "input_written", result);
  add_damage(answer.unwritten_arguments, "in_place", result);
  add_damage(answer.unwritten_results, "unwritten", result);
  // Who doesn't promise equal bits may give others.
  if (result.bit_stable) add_damage(answer.unstable_results, "unstable", result);
  if (!answer.refused_again.empty()) {
    differ(result, "refused_again", "call", "served, as the first one",
           on_one_line(answer.refused_again));
  }
  add_damage(answer.view_results, "value", result, "as in the dense call");
  // Of calls that nobody declared the digits are promised by nobody.
  if (!result.declared) return;
  for (const ffi::BufferDamage& narrow : answer.narrow_results) {
    ProbeDeviation deviation;
    deviation.kind = "narrow";
    deviation.name = narrow.buffer;
    deviation.elements = narrow.elements;
    const bool single = narrow.index > 11;
    deviation.expected = single ? "53 binary digits" : "24 binary digits";
    deviation.seen = std::to_string(narrow.index) + ", as numbers of " +
                     (single ? "single precision" : "half precision or TF32") + " have";
    result.deviations.push_back(std::move(deviation));
    result.status = "differs";
  }
}

void judge_threads(const ffi::Answer& answer, ProbeResult& result) {
  if (!was_made(answer, result) || result.status == "refused") return;
  // Who doesn't promise equal bits may add in another order, and may be too busy.
  const std::vector<ffi::BufferDamage>& calls =
      result.bit_stable ? answer.thread_results : answer.thread_values;
  if (calls.empty() || result.varies) return;
  ProbeDeviation deviation;
  deviation.kind = "threads";
  deviation.name = "call";
  deviation.index = calls.front().index;
  deviation.elements = static_cast<std::uint32_t>(calls.size());
  deviation.expected = "what it gives alone";
  result.deviations.push_back(std::move(deviation));
  result.status = "differs";
}

void name_buffers(const std::vector<std::string>& names, ProbeResult& result) {
  for (ProbeDeviation& deviation : result.deviations) {
    const bool argument = deviation.name.starts_with("argument ");
    if (!argument && !deviation.name.starts_with("result ")) continue;
    if (deviation.name.find('(') != deviation.name.npos) continue;
    std::size_t at = 0;
    for (const char letter : deviation.name.substr(deviation.name.find(' ') + 1)) {
      if (is_digit(letter)) at = at * 10 + static_cast<std::size_t>(letter - '0');
    }
    if (!argument) at += result.question.arguments.size();
    if (at < names.size() && !names[at].empty()) deviation.name += " (" + names[at] + ')';
  }
}

}  // namespace opseal
