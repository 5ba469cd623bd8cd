#include <algorithm>
#include <map>
#include <tuple>

#include "analyzers/sources/tensorflow.h"
#include "opseal/one_slip.h"

namespace opseal {
namespace {

// All that is said under one name.
struct Group {
  const TensorflowRecord* definition = nullptr;
  // Another definition says otherwise, in another build.
  bool ambiguous = false;
  // Of the definition: in which builds there is one.
  BuildCondition when;
  std::vector<const TensorflowRecord*> kernels;
  const TensorflowRecord* gradient = nullptr;
  // Those that every import of their file registers.
  std::vector<const TensorflowRecord*> gradients;
  // Of the gradients with the count of values that they hand back.
  bool several_gradients = false;
  const TensorflowRecord* no_gradient = nullptr;

  const TensorflowRecord& first() const {
    if (definition != nullptr) return *definition;
    if (!kernels.empty()) return *kernels.front();
    return gradient != nullptr ? *gradient : *no_gradient;
  }
};

// In which builds one of the two holds.
BuildCondition either(const BuildCondition& one, const BuildCondition& other) {
  const BuildCondition neither = !one && !other;
  return neither.never() ? BuildCondition() : !neither;
}

// One call that makes several names, each of its own builds: `REGISTER_OP(NAMED(Scale))`, where a
// release decides what `NAMED` puts in front. The operator goes by the first.
class NamesOfBuilds {
 public:
  explicit NamesOfBuilds(const std::vector<TensorflowRecord>& records) {
    std::map<Place, std::vector<const TensorflowRecord*>> by_place;
    std::map<std::string_view, std::size_t> definitions;
    for (const TensorflowRecord& record : records) {
      if (record.use != TensorflowUse::define || record.name.text.empty()) continue;
      by_place[{record.place.file, record.place.offset}].push_back(&record);
      ++definitions[record.name.text];
    }
    for (const auto& [place, same] : by_place) {
      if (same.size() < 2 || same.size() > most_names || !are_apart(same)) continue;
      const bool only = std::all_of(same.begin(), same.end(), [&](const TensorflowRecord* one) {
        return definitions[one->name.text] == 1;
      });
      if (!only) continue;
      for (const TensorflowRecord* one : same) first_.emplace(one->name.text, same[0]->name.text);
    }
  }

  const std::string& of(const std::string& name) const {
    const auto found = first_.find(name);
    return found == first_.end() ? name : found->second;
  }

 private:
  using Place = std::pair<std::uint32_t, std::uint32_t>;
  static constexpr std::size_t most_names = 8;

  static bool are_apart(const std::vector<const TensorflowRecord*>& records) {
    for (std::size_t i = 0; i < records.size(); ++i) {
      for (std::size_t k = i + 1; k < records.size(); ++k) {
        if (!records[i]->when.excludes(records[k]->when)) return false;
      }
    }
    return true;
  }

  std::map<std::string, std::string, std::less<>> first_;
};

class TensorflowWriter {
 public:
  TensorflowWriter(const std::vector<TensorflowRecord>& records, bool partial, PlacedWriter& writer)
      : writer_(writer), names_(records), whole_(!partial) {
    for (const TensorflowRecord& record : records) add(record);
  }

  void run() {
    const std::uint32_t list = writer_.open_list(Key::operators);
    for (const auto& [name, group] : groups_) write(name, group);
    writer_.close_list(list);
    write_log();
  }

 private:
  // Gradients have a registry of their own: those of one name that any run has.
  void write_log() {
    const bool several = std::any_of(groups_.begin(), groups_.end(), [](const auto& group) {
      return group.second.gradients.size() > 1;
    });
    if (!several) return;
    const std::uint32_t log = writer_.open_list(Key::registrations);
    for (const auto& [name, group] : groups_) {
      if (group.gradients.size() < 2) continue;
      for (const TensorflowRecord* gradient : group.gradients) {
        const std::uint32_t row = writer_.open(Key::none, NodeType::object, gradient->place);
        writer_.text(Key::name, "gradient of " + name, gradient->place);
        writer_.close(row);
      }
    }
    writer_.close_list(log);
  }

  void add(const TensorflowRecord& record) {
    if (record.name.text.empty()) {
      if (record.use == TensorflowUse::kernel) all_kernels_ = false;
      if (record.use == TensorflowUse::define) all_definitions_ = false;
      return;
    }
    Group& group = groups_[names_.of(record.name.text)];
    switch (record.use) {
      case TensorflowUse::define:
        add_definition(record, group);
        // Of two with one name in Python, which is called isn't known.
        if (const auto [known, added] =
                by_python_name_.try_emplace(python_name(record.name.text), &record);
            !added) {
          known->second = nullptr;
        }
        break;
      case TensorflowUse::kernel:
        add_kernel(record, group);
        break;
      case TensorflowUse::gradient:
        group.several_gradients = group.gradient != nullptr;
        if (group.gradient == nullptr) group.gradient = &record;
        if (record.always) group.gradients.push_back(&record);
        break;
      case TensorflowUse::not_differentiable:
        group.no_gradient = &record;
        break;
    }
  }

  void add_definition(const TensorflowRecord& record, Group& group) {
    if (group.definition == nullptr) {
      group.definition = &record;
      group.when = record.when;
    } else if (group.definition->name.text != record.name.text) {
      group.when = either(group.when, record.when);
    } else {
      group.ambiguous = true;
    }
  }

  // One that is registered under each name of its operator is one kernel.
  void add_kernel(const TensorflowRecord& record, Group& group) {
    const Registered key{record.place.file, record.place.offset, record.function.text,
                         record.platform,   record.label,        record.types};
    const auto [known, is_new] = registered_.try_emplace(key, &record);
    const bool again = !is_new && known->second->name.text != record.name.text &&
                       names_.of(known->second->name.text) == names_.of(record.name.text);
    if (!again) {
      group.kernels.push_back(&record);
      return;
    }
    const auto [when, first] = kernel_when_.try_emplace(known->second, known->second->when);
    when->second = either(when->second, record.when);
  }

  const BuildCondition& when_of(const TensorflowRecord& kernel) const {
    const auto found = kernel_when_.find(&kernel);
    return found == kernel_when_.end() ? kernel.when : found->second;
  }

  void write(const std::string& name, const Group& group) {
    const TensorflowRecord& first = group.first();
    const std::uint32_t object = writer_.open(Key::none, NodeType::object, first.place);
    writer_.text(Key::name, name, first.name.place);
    if (group.definition != nullptr) {
      if (!group.ambiguous) write_definition(*group.definition);
    } else if (!group.kernels.empty() && is_slip(name)) {
      // Kernels for operators of TensorFlow itself are no mistake; a name beside one that the tree
      // defines is.
      writer_.null(Key::schema, first.name.place);
    }
    write_gradient(group);
    if (!group.kernels.empty() || (group.definition != nullptr && whole_ && all_kernels_)) {
      const SourcePlace& place = group.kernels.empty() ? first.place : group.kernels.front()->place;
      const std::uint32_t kernels = writer_.open(Key::kernels, NodeType::list, place);
      for (const TensorflowRecord* kernel : group.kernels) write_kernel(*kernel);
      writer_.close(kernels);
    }
    const bool defined = group.definition != nullptr;
    writer_.text_if(Key::when, (defined ? group.when : first.when).text(), first.place);
    writer_.text_if(Key::macro, first.macro, first.place);
    writer_.close(object);
  }

  // A defined operator without a kernel is one slip away.
  bool is_slip(const std::string& name) const {
    if (!whole_ || !all_definitions_ || compared_ > most_compared) return false;
    compared_ += groups_.size();
    return std::any_of(groups_.begin(), groups_.end(), [&name](const auto& other) {
      return other.second.definition != nullptr && one_slip_apart(other.first, name);
    });
  }

  void write_definition(const TensorflowRecord& definition) {
    const SourcePlace& place = definition.place;
    writer_.text(Key::defined_in, "native", place);
    if (!definition.says_operands) return;
    writer_.text(Key::schema, signature(definition), place);
    writer_.text(Key::arity_source, "schema", place);
    write_operands(Key::inputs, definition.inputs, place);
    write_operands(Key::outputs, definition.outputs, place);
    write_types(definition);
  }

  // As TensorFlow sums up an operator.
  static std::string signature(const TensorflowRecord& definition) {
    std::string text = "Op<name=" + definition.name.text + "; signature=";
    const auto add = [&text](const std::vector<TensorflowOperand>& operands) {
      for (std::size_t at = 0; at < operands.size(); ++at) {
        text += (at == 0 ? "" : ", ") + operands[at].name + ":" + operands[at].type;
      }
    };
    add(definition.inputs);
    text += " -> ";
    add(definition.outputs);
    return text + ">";
  }

  void write_operands(Key key, const std::vector<TensorflowOperand>& operands,
                      const SourcePlace& place) {
    const std::uint32_t list = writer_.open(key, NodeType::list, place);
    for (const TensorflowOperand& operand : operands) {
      const std::uint32_t object = writer_.open(Key::none, NodeType::object, place);
      writer_.text(Key::name, operand.name, place);
      writer_.text(Key::type, operand.type, place);
      if (operand.variadic) writer_.truth(Key::variadic, true, place);
      writer_.close(object);
    }
    writer_.close(list);
  }

  void write_types(const TensorflowRecord& record) {
    if (!record.says_types) return;
    const std::uint32_t map = writer_.open(Key::type_constraints, NodeType::map, record.place);
    for (const auto& [variable, types] : record.types) writer_.entry(variable, types, record.place);
    writer_.close(map);
  }

  void write_gradient(const Group& group) {
    if (group.gradient == nullptr) {
      if (group.no_gradient == nullptr) return;
      writer_.truth(Key::differentiable, false, group.no_gradient->place);
      writer_.null(Key::gradient, group.no_gradient->place);
      return;
    }
    const TensorflowRecord& from = *group.gradient;
    const std::uint32_t gradient = writer_.open(Key::gradient, NodeType::object, from.place);
    const std::optional<std::uint32_t> returns = returns_of(from);
    if (returns && !group.several_gradients && from.when.always()) {
      writer_.count(Key::returns, *returns, from.returns_place);
    }
    const std::uint32_t function =
        writer_.open(Key::function, NodeType::object, from.function.place);
    writer_.text(Key::name, from.function.text, from.function.place);
    writer_.close(function);
    writer_.close(gradient);
  }

  std::optional<std::uint32_t> returns_of(const TensorflowRecord& gradient) const {
    if (gradient.returns_outputs_of.empty()) return gradient.returns;
    const auto found = by_python_name_.find(gradient.returns_outputs_of);
    if (found == by_python_name_.end() || found->second == nullptr) return {};
    const std::vector<TensorflowOperand>& outputs = found->second->outputs;
    const bool fixed = found->second->says_operands && found->second->when.always() &&
                       std::none_of(outputs.begin(), outputs.end(),
                                    [](const TensorflowOperand& one) { return one.variadic; });
    if (!fixed) return {};
    return static_cast<std::uint32_t>(outputs.size());
  }

  // How TensorFlow names the function of an operator: `ScaleGrad` -> `scale_grad`, `NMSv2` ->
  // `nm_sv2`, `Addons>Warp` -> `addons_warp`.
  static std::string python_name(std::string_view name) {
    std::string made;
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    for (std::size_t at = 0; at < name.size(); ++at) {
      const char c = name[at];
      const bool follows = at > 0 && name[at - 1] != '_' && name[at - 1] != '>';
      const bool starts =
          follows && (is_lower(name[at - 1]) || (at + 1 < name.size() && is_lower(name[at + 1])));
      if (is_upper(c) && starts) made += '_';
      made += c == '>' ? '_' : is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return made;
  }

  void write_kernel(const TensorflowRecord& kernel) {
    const std::uint32_t object = writer_.open(Key::none, NodeType::object, kernel.place);
    writer_.text_if(Key::platform, kernel.platform, kernel.place);
    writer_.text_if(Key::backend, kernel.label, kernel.place);
    write_types(kernel);
    if (!kernel.function.text.empty()) {
      const SourcePlace& at = kernel.function.place;
      const std::uint32_t function = writer_.open(Key::function, NodeType::object, at);
      writer_.text(Key::name, kernel.function.text, at);
      writer_.close(function);
    }
    writer_.text_if(Key::when, when_of(kernel).text(), kernel.place);
    writer_.text_if(Key::macro, kernel.macro, kernel.place);
    writer_.close(object);
  }

  static constexpr std::size_t most_compared = 20'000'000;

  // What makes a kernel another one, but for the name of its operator.
  using Registered =
      std::tuple<std::uint32_t, std::uint32_t, std::string, std::string, std::string, TypeLists>;

  PlacedWriter& writer_;
  NamesOfBuilds names_;
  std::map<Registered, const TensorflowRecord*> registered_;
  std::map<const TensorflowRecord*, BuildCondition> kernel_when_;
  bool whole_;
  bool all_kernels_ = true;
  bool all_definitions_ = true;
  mutable std::size_t compared_ = 0;
  std::map<std::string, Group> groups_;
  std::map<std::string, const TensorflowRecord*, std::less<>> by_python_name_;
};

}  // namespace

void read_tensorflow_python(const std::vector<PythonGradient>& gradients, std::uint32_t file,
                            std::vector<TensorflowRecord>& records) {
  const auto place_in = [file](const PythonPlace& place) {
    return SourcePlace{file, place.offset, place.length};
  };
  for (const PythonGradient& gradient : gradients) {
    TensorflowRecord record;
    record.use = gradient.none ? TensorflowUse::not_differentiable : TensorflowUse::gradient;
    record.name = {gradient.name, place_in(gradient.place)};
    record.place = place_in(gradient.place);
    record.always = gradient.always;
    record.function = {gradient.function, place_in(gradient.function_place)};
    // Which of several counts is meant depends on the run.
    if (!gradient.returns.empty()) {
      const PythonReturn& first = gradient.returns.front();
      const bool same =
          std::all_of(gradient.returns.begin(), gradient.returns.end(),
                      [&first](const PythonReturn& one) { return one.values == first.values; });
      const bool same_call =
          std::all_of(gradient.returns.begin(), gradient.returns.end(),
                      [&first](const PythonReturn& one) { return one.called == first.called; });
      if (same_call && !first.called.empty()) {
        record.returns_outputs_of = first.called.substr(first.called.rfind('.') + 1);
      } else if (same && same_call) {
        record.returns = first.values;
      }
      record.returns_place = place_in(first.place);
    }
    records.push_back(std::move(record));
  }
}

void write_tensorflow(const std::vector<TensorflowRecord>& records, bool partial,
                      PlacedWriter& writer) {
  TensorflowWriter(records, partial, writer).run();
}

}  // namespace opseal
