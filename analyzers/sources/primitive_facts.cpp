#include <algorithm>
#include <map>
#include <optional>

#include "analyzers/sources/primitives.h"
#include "analyzers/sources/torch_python.h"

namespace opseal {
namespace {

class PrimitiveWriter {
 public:
  PrimitiveWriter(const Primitive& primitive, const PrimitivesKnown& whole, PlacedWriter& writer)
      : primitive_(primitive), whole_(whole), writer_(writer) {}

  void write() {
    const PrimitiveRecord* maker = only(PythonKind::primitive);
    const PrimitiveRecord& first = maker != nullptr ? *maker : *primitive_.records.front();
    const std::uint32_t object = writer_.open(Key::none, NodeType::object, first.place);
    writer_.text(Key::name, primitive_.name, first.place);
    if (maker != nullptr && !maker->said.holder.empty()) {
      writer_.texts(Key::aliases, {maker->said.holder}, maker->place);
    }
    if (maker != nullptr && maker->said.multiple_results) {
      writer_.truth(Key::multiple_results, *maker->said.multiple_results, maker->place);
    }
    write_inputs();
    write_attributes();
    write_jvp();
    write_transpose(first);
    write_rule(PythonKind::primitive_abstract, Key::abstract);
    write_batching();
    write_kernels();
    write_trace_rules();
    writer_.close(object);
  }

 private:
  // Where one thing is said in two ways, which one holds depends on what runs.
  const PrimitiveRecord* only(PythonKind kind) const {
    const PrimitiveRecord* found = nullptr;
    for (const PrimitiveRecord* record : primitive_.records) {
      if (record->said.kind != kind) continue;
      if (found != nullptr) return nullptr;
      found = record;
    }
    return found;
  }

  bool has(PythonKind kind) const {
    return std::any_of(primitive_.records.begin(), primitive_.records.end(),
                       [kind](const PrimitiveRecord* record) { return record->said.kind == kind; });
  }

  // As many as every call gives.
  void write_inputs() {
    const PrimitiveRecord* first = nullptr;
    for (const PrimitiveRecord* record : primitive_.records) {
      if (record->said.kind != PythonKind::primitive_use) continue;
      if (record->said.open_ended) return;
      if (first != nullptr && first->said.positional != record->said.positional) return;
      if (first == nullptr) first = record;
    }
    if (first == nullptr) return;
    writer_.count(Key::inputs, first->said.positional, first->place);
    writer_.text(Key::arity_source, "calls", first->place);
  }

  // What every call gives by name, where all names are known.
  void write_attributes() {
    // Of two primitives of one name, the calls may be of either.
    if (only(PythonKind::primitive) == nullptr) return;
    std::map<std::string_view, const PrimitiveRecord*> named;
    for (const PrimitiveRecord* record : primitive_.records) {
      if (record->said.kind != PythonKind::primitive_use) continue;
      if (record->said.call.open_ended) return;
      for (const PythonArgument& argument : record->said.arguments) {
        named.emplace(argument.name, record);
      }
    }
    if (named.empty()) return;
    const std::uint32_t list =
        writer_.open(Key::attributes, NodeType::list, named.begin()->second->place);
    for (const auto& [name, record] : named) {
      const std::uint32_t item = writer_.open(Key::none, NodeType::object, record->place);
      writer_.text(Key::name, name, record->place);
      writer_.close(item);
    }
    writer_.close(list);
  }

  void write_transpose(const PrimitiveRecord& first) {
    const bool registers = std::any_of(
        primitive_.records.begin(), primitive_.records.end(), [](const PrimitiveRecord* record) {
          return record->said.kind == PythonKind::primitive_transpose ||
                 record->said.how.ends_with("defbilinear");
        });
    if (registers) {
      write_rule(PythonKind::primitive_transpose, Key::transpose);
    } else if (whole_.transposes && only(PythonKind::primitive) != nullptr) {
      writer_.null(Key::transpose, first.place);
    }
  }

  void write_function(Key key, const PrimitiveRecord& record, const PythonFunction& function) {
    SourceFunction shown = source_function(function, record.file);
    if (shown.place.length == 0) shown.place = record.place;
    if (function.null) {
      writer_.null(key, shown.place);
    } else {
      writer_.function(key, shown);
    }
  }

  void write_jvp() {
    const PrimitiveRecord* jvp = only(PythonKind::primitive_jvp);
    if (jvp == nullptr || jvp->said.functions.empty() || jvp->said.open_ended) return;
    if (!jvp->said.conditions.empty()) return;
    const std::string_view how = jvp->said.how;
    const bool brainevent = how.ends_with("def_jvp_rule2");
    const bool each = brainevent || how.ends_with("defjvp") || how.ends_with("defjvp2");
    if (!each && !how.starts_with("primitive_jvps") && !how.ends_with("def_jvp_rule")) return;
    const std::uint32_t object = writer_.open(Key::jvp, NodeType::object, jvp->place);
    writer_.text(Key::kind, each ? "per_input" : "custom", jvp->place);
    if (each) {
      const std::uint32_t rules = writer_.open(Key::rules, NodeType::list, jvp->place);
      for (const PythonFunction& rule : jvp->said.functions) write_function(Key::none, *jvp, rule);
      writer_.close(rules);
      // `defjvp2` hands over the result too.
      writer_.count(Key::leading, how.ends_with("defjvp2") ? 2 : 1, jvp->place);
    } else {
      write_function(Key::function, *jvp, jvp->said.functions.front());
    }
    write_tangents(*jvp);
    write_sequences(*jvp);
    writer_.close(object);
  }

  // For the results of the primitive, where it has several: a rule of one is read as if it had.
  void write_sequences(const PrimitiveRecord& rule) {
    const PythonSequence& said = rule.said.sequences;
    const PrimitiveRecord* maker = only(PythonKind::primitive);
    if (maker == nullptr || !maker->said.multiple_results.value_or(false)) return;
    if (said.kind == PythonSequence::Kind::unknown || !rule.said.conditions.empty()) return;
    writer_.text(Key::results, said.kind == PythonSequence::Kind::one ? "one" : "sequence",
                 {rule.file, said.place.offset, said.place.length});
  }

  void write_tangents(const PrimitiveRecord& jvp) {
    const auto& tangents = jvp.said.tangents;
    const bool any = std::any_of(tangents.begin(), tangents.end(),
                                 [](const std::vector<std::string>& one) { return !one.empty(); });
    if (!any) return;
    const std::uint32_t list = writer_.open(Key::tangent_operators, NodeType::list, jvp.place);
    for (std::size_t i = 0; i < tangents.size(); ++i) {
      const SourcePlace place = source_function(jvp.said.functions[i], jvp.file).place;
      if (tangents[i].empty()) {
        writer_.null(Key::none, place);
      } else {
        writer_.texts(Key::none, tangents[i], place);
      }
    }
    writer_.close(list);
  }

  void write_rule(PythonKind kind, Key key) {
    const PrimitiveRecord* rule = only(kind);
    if (rule == nullptr || rule->said.functions.empty()) return;
    write_function(key, *rule, rule->said.functions.front());
  }

  void write_batching() {
    const PrimitiveRecord* rule = only(PythonKind::primitive_batching);
    if (rule == nullptr) {
      if (whole_.batching && !has(PythonKind::primitive_batching) &&
          only(PythonKind::primitive) != nullptr) {
        writer_.null(Key::batching, only(PythonKind::primitive)->place);
      }
      return;
    }
    const bool general = rule->said.how.ends_with("register_general_batching");
    const std::uint32_t object = writer_.open(Key::batching, NodeType::object, rule->place);
    writer_.text(Key::kind, general ? "general" : "custom", rule->place);
    if (!general && !rule->said.functions.empty()) {
      write_function(Key::function, *rule, rule->said.functions.front());
    }
    if (rule->said.axes_use != PythonAxesUse::unknown && rule->said.conditions.empty()) {
      writer_.truth(Key::checked, false,
                    {rule->file, rule->said.axes_place.offset, rule->said.axes_place.length});
    }
    if (rule->said.axes_returned.length > 0) {
      const PythonPlace& place = rule->said.axes_returned;
      writer_.text(Key::results, "inputs", {rule->file, place.offset, place.length});
    } else {
      write_sequences(*rule);
    }
    writer_.close(object);
  }

  void write_kernels() {
    std::optional<std::uint32_t> list;
    for (const PrimitiveRecord* record : primitive_.records) {
      const PythonRegistration& said = record->said;
      const bool lowering = said.kind == PythonKind::primitive_lowering;
      if (!lowering && said.kind != PythonKind::primitive_kernel) continue;
      if (!list) list = writer_.open(Key::kernels, NodeType::list, record->place);
      const std::uint32_t kernel = writer_.open(Key::none, NodeType::object, record->place);
      if (said.key.decided()) {
        writer_.text(Key::platform, said.key.text, record->place);
      } else if (lowering && said.key.state == PythonText::State::absent) {
        writer_.text(Key::platform, "any", record->place);
      }
      if (said.backend.decided()) writer_.text(Key::backend, said.backend.text, record->place);
      if (!said.functions.empty() && !said.functions.front().null) {
        write_function(Key::function, *record, said.functions.front());
      }
      if (said.layouts != PythonLayouts::unknown) {
        writer_.text(Key::layout, said.layouts == PythonLayouts::fixed ? "fixed" : "open",
                     {record->file, said.layouts_place.offset, said.layouts_place.length});
      }
      writer_.text_if(Key::when, condition_of(said).text(), record->place);
      writer_.close(kernel);
    }
    if (list) writer_.close(*list);
  }

  // The rules of eligibility traces that are handed over by name.
  void write_trace_rules() {
    constexpr Key keys[] = {Key::dt_to_t, Key::xy_to_dw, Key::init_drtrl, Key::init_pp};
    const PrimitiveRecord* rules = only(PythonKind::etp_rules);
    if (rules == nullptr || rules->said.functions.empty()) return;
    const std::uint32_t etp = writer_.open(Key::etp, NodeType::object, rules->place);
    const std::uint32_t object = writer_.open(Key::rules, NodeType::object, rules->place);
    for (const PythonFunction& function : rules->said.functions) {
      const auto key = std::find_if(std::begin(keys), std::end(keys),
                                    [&](Key one) { return to_text(one) == function.role; });
      if (key != std::end(keys)) write_function(*key, *rules, function);
    }
    writer_.close(object);
    writer_.close(etp);
  }

  const Primitive& primitive_;
  // What is not registered here is registered nowhere.
  PrimitivesKnown whole_;
  PlacedWriter& writer_;
};

}  // namespace

void write_primitives(const std::vector<Primitive>& primitives, const PrimitivesKnown& whole,
                      PlacedWriter& writer) {
  const std::uint32_t operators = writer.open_list(Key::operators);
  for (const Primitive& primitive : primitives) PrimitiveWriter(primitive, whole, writer).write();
  writer.close_list(operators);
}

}  // namespace opseal
