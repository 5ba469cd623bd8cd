#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/schema_text.h"
#include "opseal/text.h"
#include "rules/framework_rows.h"
#include "rules/odd_one_out.h"
#include "rules/probe_facts.h"
#include "rules/torch_names.h"

namespace opseal {
namespace {

// What is said about writing to arguments.
struct Marks {
  bool said = false;
  bool any = false;
  Fact source;
};

Marks marks_in_schema(const Fact& op) {
  const std::optional<OperatorSchema> schema = read_schema(op[Key::schema]);
  if (!schema || !schema->says_mutation || schema->more_inputs) return {};
  Marks marks{true, false, op[Key::schema]};
  for (const SchemaOperand& input : schema->inputs) marks.any = marks.any || input.mutated();
  return marks;
}

// An inferred schema, from which its arguments were read, has no marks and says nothing by it.
bool schema_is_silent(const Fact& op) {
  const Fact text = op[Key::schema];
  if (!text.said()) return false;
  const std::optional<OperatorSchema> schema = read_schema(text);
  return !schema || !schema->says_mutation || schema->more_inputs;
}

Marks marks_of(const Fact& op) {
  const Fact inputs = op[Key::inputs];
  if (!inputs.is_list() || inputs.size() == 0) return marks_in_schema(op);
  Marks marks{true, false, inputs};
  for (const Fact input : inputs.items()) {
    marks.said = marks.said && input[Key::mutated].is_truth();
    marks.any = marks.any || input[Key::mutated].truth();
  }
  if (!marks.said) return marks_in_schema(op);
  if (!marks.any && schema_is_silent(op)) marks.said = false;
  return marks;
}

bool is_lower_or_digit(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
}

// `add_`: by convention the operator writes to its first argument.
bool is_in_place_name(std::string_view base) {
  return base.size() > 1 && base.back() == '_' && is_lower_or_digit(base[base.size() - 2]);
}

bool is_out_overload(std::string_view overload) {
  return overload == "out" || overload.ends_with("_out");
}

class MutationCheck {
 public:
  explicit MutationCheck(Sink& sink) : sink_(&sink) {}

  void look_at(const Fact& manifest, const Fact& op) {
    compare_with_schema(manifest, op);
    compare_with_list(manifest, op);
    compare_with_bodies(manifest, op);
    const std::string_view name = op[Key::name].text();
    const bool out = is_out_overload(overload_name(name));
    if (!out && !is_in_place_name(base_name(name))) return;
    const Marks marks = marks_of(op);
    if (!marks.said) return;
    if (out) {
      sink_->inspected();
      if (!marks.any) {
        add(manifest, op, marks,
            "an overload called " + quote(overload_name(name)) + " marks no argument as written");
      }
      return;
    }
    const std::uint64_t space = op[Key::namespace_].name();
    Group& group = groups_[std::uint64_t{manifest.index()} << 32 | space];
    ++group.members;
    if (marks.any) {
      ++group.marking;
    } else {
      unmarked_.push_back({manifest, op, marks, &group});
    }
  }

  void judge_names() {
    for (const auto& [key, group] : groups_) {
      if (group.members > OddOneOut::fewest_peers) sink_->inspected(group.members);
    }
    for (const Unmarked& row : unmarked_) {
      const std::uint32_t peers = row.group->members - 1;
      if (peers < OddOneOut::fewest_peers || std::uint64_t{row.group->marking} * 100 <
                                                 std::uint64_t{peers} * OddOneOut::least_keeping) {
        continue;
      }
      add(row.manifest, row.op, row.marks,
          "no argument is marked as written, where " + std::to_string(row.group->marking) + " of " +
              plural(peers, "operator") + " of the namespace whose names end in `_` mark one");
    }
  }

 private:
  struct Group {
    std::uint32_t members = 0;
    std::uint32_t marking = 0;
  };
  struct Unmarked {
    Fact manifest;
    Fact op;
    Marks marks;
    // Elements of an unordered_map stay where they are.
    const Group* group = nullptr;
  };

  // The operands that people or a dump state beside the schema text.
  void compare_with_schema(const Fact& manifest, const Fact& op) {
    const Fact inputs = op[Key::inputs];
    if (!op[Key::schema].is_text() || !inputs.is_list()) return;
    bool states = false;
    bool writes_any = false;
    for (const Fact input : inputs.items()) {
      states = states || (input[Key::name].is_text() && input[Key::mutated].is_truth());
      writes_any = writes_any || input[Key::mutated].truth();
    }
    if (!states) return;
    const std::optional<OperatorSchema> schema = read_schema(op[Key::schema]);
    if (!schema || !schema->says_mutation) return;
    sink_->inspected();
    // Nearly every operator: no mark on either side.
    if (!writes_any && op[Key::schema].text().find('!') == std::string_view::npos) return;
    // Both stand in the order of the arguments.
    auto argument = schema->inputs.begin();
    for (const Fact input : inputs.items()) {
      const std::string_view name = input[Key::name].text();
      if (name.empty() || !input[Key::mutated].is_truth()) continue;
      auto found = argument;
      while (found != schema->inputs.end() && found->name != name) ++found;
      if (found == schema->inputs.end()) return;
      argument = found + 1;
      if (found->mutated() == input[Key::mutated].truth()) continue;
      const bool writes = input[Key::mutated].truth();
      Finding& finding = sink_->add(subject_of(manifest, op),
                                    "argument " + quote(name) +
                                        (writes ? " is written, and its schema has no mark for it"
                                                : " is not written, and its schema marks it"),
                                    evidence(op[Key::schema], "schema" + site_of(op)));
      finding.related.push_back(
          evidence(input[Key::mutated], writes ? "said to be written" : "said not to be written"));
      if (!writes) finding.severity = Severity::warning;
      return;
    }
  }

  // The names that were handed to the registry as those of written arguments.
  void compare_with_list(const Fact& manifest, const Fact& op) {
    const Fact written = op[Key::mutates_args];
    if (!op[Key::schema].is_text() || written.size() == 0) return;
    const std::optional<OperatorSchema> schema = read_schema(op[Key::schema]);
    if (!schema || !schema->says_mutation) return;
    sink_->inspected();
    for (const Fact name : written.items()) {
      const auto found =
          std::find_if(schema->inputs.begin(), schema->inputs.end(),
                       [&](const SchemaOperand& input) { return name.is(input.name); });
      // A name that no argument has is `mutates-args-malformed`.
      if (found == schema->inputs.end() || found->mutated()) continue;
      Finding& finding = sink_->add(
          subject_of(manifest, op),
          "argument " + quote(name.text()) + " is written, and its schema has no mark for it",
          evidence(op[Key::schema], "schema" + site_of(op)));
      finding.related.push_back(evidence(name, "said to be written"));
      return;
    }
  }

  // What the bodies of kernels write to; their parameters stand in the order of the arguments.
  void compare_with_bodies(const Fact& manifest, const Fact& op) {
    const std::optional<OperatorSchema> schema = read_schema(op[Key::schema]);
    if (!schema || !schema->says_mutation || schema->more_inputs) return;
    for (const Fact kernel : op[Key::kernels].items()) {
      const Fact writes = kernel[Key::writes];
      const Fact parameters = kernel[Key::function][Key::parameters];
      if (!all_read(parameters) || parameters.size() > schema->inputs.size()) continue;
      sink_->inspected();
      for (const Fact written : writes.items()) {
        std::size_t place = 0;
        for (const Fact parameter : parameters.items()) {
          if (parameter.name() == written.name()) break;
          ++place;
        }
        auto argument = schema->inputs.begin() + static_cast<std::ptrdiff_t>(place);
        if (place == parameters.size()) {
          // One that is given by name alone.
          argument = std::find_if(schema->inputs.begin(), schema->inputs.end(),
                                  [&](const SchemaOperand& one) { return written.is(one.name); });
        }
        if (argument == schema->inputs.end() || argument->mutated() || !argument->is_tensor()) {
          continue;
        }
        // A list of the run's own may be filled.
        if (argument->lists > 0) continue;
        Finding& finding =
            sink_->add(subject_of(manifest, op),
                       function_text(kernel[Key::function]) + " writes to " +
                           quote(written.text()) + ", which the schema does not mark as written",
                       evidence(op[Key::schema], "schema" + site_of(op)));
        finding.related.push_back(evidence(written, kernel[Key::native_signature].is_text()
                                                        ? "written here"
                                                        : "written in this function"));
        finding.fix =
            op[Key::mutates_args].said()
                ? "name " + quote(argument->name) + " in `mutates_args`, or write to a copy"
                : "write `Tensor(a!) " + std::string(argument->name) +
                      "` in the schema, or write to a copy";
        return;
      }
    }
  }

  void add(const Fact& manifest, const Fact& op, const Marks& marks, std::string message) {
    Finding& finding = sink_->add(subject_of(manifest, op), std::move(message),
                                  evidence(marks.source, "arguments" + site_of(op)));
    finding.related.push_back(evidence(op[Key::name], "the name promises a write"));
    finding.severity = Severity::warning;
  }

  Sink* sink_;
  std::unordered_map<std::uint64_t, Group> groups_;
  std::vector<Unmarked> unmarked_;
};

void check(const Facts& facts, Sink& sink) {
  MutationCheck mutation(sink);
  for_each_operator(
      facts, [&mutation](const Fact& manifest, const Fact& op) { mutation.look_at(manifest, op); });
  mutation.judge_names();
  // What was seen when kernels ran.
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!is_ended_call(probe) || is_undeclared(probe)) return;
    sink.inspected();
    for_each_deviation(probe, "input_written", [&](const Fact&, const std::string& name) {
      findings.add(probe, name,
                   kernel_text(probe) + " writes to " + name +
                       ", which its declaration calls read-only, in a call " + call_text(probe),
                   Severity::error);
    });
  });
  findings.tell();
  constexpr FrameworkFault faults[] = {
      {"mutation", "writes to an argument that its declaration calls read-only"},
  };
  judge_operator_rows(facts, faults, sink);
}

}  // namespace

extern constinit const Rule mutation_unmarked{
    .id = "mutation-unmarked",
    .title = "operator writes an argument that its schema doesn't mark as written",
    .rationale =
        "Compilers, autograd and graph passes reorder and drop calls by what the schema says. An "
        "operator that writes to an argument and doesn't say so is taken for a pure function: its "
        "write is moved behind a read, done on a copy, or removed as dead code. Eager runs are "
        "right and compiled ones are wrong. A mark too many costs copies instead.",
    .example =
        R"({"name": "lib::scale.out", "schema": "lib::scale.out(Tensor x, *, Tensor out) -> Tensor"})",
    .fix = "mark the argument in the schema, as in `Tensor(a!) out`",
    .severity = Severity::error,
    .inspects = "operator whose name or operands say that it writes and whose marks are stated",
    .needs = {},
    .check = check,
};

}  // namespace opseal
