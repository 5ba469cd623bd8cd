#include "analyzers/sources/torch_python.h"

#include <algorithm>
#include <string>

#include "analyzers/sources/torch_cpp.h"

namespace opseal {
namespace {

// Where torch puts the kernel of an operator that names no device.
constexpr std::string_view every_device = "CompositeExplicitAutograd";

SourcePlace place_at(const PythonPlace& place, std::uint32_t file) {
  return {file, place.offset, place.length};
}

// The parts of `cpu,cuda`.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

class PythonReader {
 public:
  PythonReader(std::string_view text, std::uint32_t file, std::vector<TorchRecord>& records)
      : text_(text), file_(file), records_(records) {}

  void read(const PythonRegistration& from) {
    switch (from.kind) {
      case PythonKind::torch_library: {
        TorchRecord record = start(from, TorchUse::own);
        const bool owns = std::any_of(
            from.arguments.begin(), from.arguments.end(), [](const PythonArgument& argument) {
              return argument.name == "kind" && argument.value.text == "DEF";
            });
        TorchRecord holder = record;
        if (owns && !record.space.open) add(std::move(record));
        if (from.within.empty() && !from.holder.empty() && !holder.space.open) {
          holder.use = TorchUse::holder;
          holder.name.text = from.holder;
          if (from.key.decided()) holder.key = from.key.text;
          add(std::move(holder));
        }
        break;
      }
      case PythonKind::torch_define:
        add(start(from, TorchUse::define));
        break;
      case PythonKind::torch_impl:
        add_kernels(from, "CompositeImplicitAutograd");
        break;
      case PythonKind::torch_kernel:
        add_kernels(from, every_device);
        break;
      case PythonKind::torch_custom_op:
      case PythonKind::torch_triton_op:
        add(definition_of(from));
        add_kernels(from, every_device);
        break;
      case PythonKind::torch_direct:
        add(definition_of(from));
        // For what, where the call does not say it, is up to the project's own copy of the
        // function: some take CUDA, others the platform that runs.
        add_kernels(from, {});
        add_fake(from, from.fake);
        break;
      case PythonKind::torch_fake:
        add_fake(from, from.functions.empty() ? PythonFunction() : from.functions.front());
        break;
      case PythonKind::torch_autograd:
        add_gradient(from);
        break;
      case PythonKind::torch_lookup: {
        TorchRecord record = start(from, TorchUse::lookup);
        // Who asks whether it is there can do without.
        record.asks_whether = from.how == "hasattr" || from.how == "assigned";
        record.at_import = from.at_import;
        for (const PythonArgument& argument : from.arguments) {
          if (argument.name == "*") record.function.parameters.push_back(argument.value.text);
        }
        add(std::move(record));
        break;
      }
      default:
        break;
    }
  }

 private:
  // The project's own function around what torch has.
  static std::string wrapper_of(const PythonRegistration& from) {
    const std::string name = from.how.substr(from.how.rfind('.') + 1);
    const bool custom = from.kind == PythonKind::torch_custom_op && name != "custom_op";
    const bool fake =
        from.kind == PythonKind::torch_fake && name != "register_fake" && name != "impl_abstract";
    return custom || fake || name == "torch_compile_guard" ? name : std::string();
  }

  std::string_view quoted(const PythonPlace& place) const {
    return place.offset < text_.size() ? text_.substr(place.offset, place.length)
                                       : std::string_view();
  }

  TorchRecord start(const PythonRegistration& from, TorchUse use) const {
    TorchRecord record;
    record.use = use;
    record.python = true;
    record.place = place_at(from.place, file_);
    record.when = condition_of(from);
    record.macro = wrapper_of(from);
    record.scope = from.within;
    record.library_path = from.library_path;
    record.name.place = from.name.decided() ? place_at(from.name.place, file_) : record.place;
    record.written = quoted(from.name.place.length > 0 ? from.name.place : from.place);
    if (from.name_space.decided()) {
      record.space = {from.name_space.text, false};
    } else {
      record.space = {std::string(quoted(from.name_space.place)), true};
      if (record.space.text.empty()) record.space.text = from.object;
      if (record.space.text.empty()) record.space.text = from.how.substr(from.how.rfind('.') + 1);
    }
    if (!from.name.decided()) return record;
    record.name.text = from.name.text;
    if (use != TorchUse::define || !from.schema.decided()) return record;
    // The schema may have the name too, and then the overload.
    const TorchSpace space = record.space;
    const bool unnamed = from.schema.text.find_first_not_of(" \t\n") == from.schema.text.find('(');
    set_torch_name((unnamed ? from.name.text : std::string()) + from.schema.text, record);
    if (record.name.text.empty()) record.name.text = from.name.text;
    if (!space.open) record.space = space;
    return record;
  }

  TorchRecord definition_of(const PythonRegistration& from) const {
    TorchRecord record = start(from, TorchUse::define);
    for (const PythonArgument& argument : from.arguments) {
      if (argument.name != "mutates_args") continue;
      record.says_mutates = argument.list;
      for (const PythonText& item : argument.items) {
        if (!item.decided()) record.says_mutates = false;
        record.mutates.push_back(item.text);
      }
      if (!argument.list && argument.value.decided()) {
        record.mutates_text = argument.value.text;
        record.says_mutates_text = true;
      }
    }
    return record;
  }

  void add_gradient(const PythonRegistration& from) {
    TorchRecord record = start(from, TorchUse::gradient);
    record.schema.clear();
    for (const PythonFunction& function : from.functions) {
      if (function.role != "setup_context") {
        record.function = source_function(function, file_);
      } else if (!function.null) {
        RuleCall& call = record.calls.emplace_back();
        call.function = source_function(function, file_);
        call.kind = function.role;
      }
    }
    for (const PythonReturn& given : from.returns) {
      record.returns.push_back({place_at(given.place, file_), given.values, given.without_nones});
    }
    add(std::move(record));
  }

  void add_kernels(const PythonRegistration& from, std::string_view otherwise) {
    TorchRecord record = start(from, TorchUse::implement);
    // `fn.register_kernel`, `custom_op` without a body of its own and the like.
    if (!from.functions.empty()) record.function = source_function(from.functions[0], file_);
    for (const std::string& written : from.writes) {
      record.writes.push_back({written, record.function.place});
    }
    record.returned_views = from.returned_views;
    record.refuses_second =
        from.kind == PythonKind::torch_impl && !from.open_ended && !from.expanded &&
        std::none_of(from.arguments.begin(), from.arguments.end(),
                     [](const PythonArgument& one) { return one.name == "allow_override"; });
    record.function.results = from.results;
    if (from.key.state == PythonText::State::undecided) {
      add(std::move(record));
      return;
    }
    std::vector<std::string> keys = parts_of(from.key.text);
    if (keys.empty()) keys.emplace_back(otherwise);
    for (std::string& key : keys) {
      TorchRecord one = record;
      one.key = std::move(key);
      add(std::move(one));
    }
  }

  void add_fake(const PythonRegistration& from, const PythonFunction& function) {
    if (from.kind == PythonKind::torch_direct && function.name.empty()) return;
    TorchRecord record = start(from, TorchUse::fake);
    record.function = source_function(function, file_);
    record.function.results =
        from.kind == PythonKind::torch_direct ? from.fake_results : from.results;
    if (record.function.place.length == 0) record.function.place = record.place;
    add(std::move(record));
  }

  void add(TorchRecord record) { records_.push_back(std::move(record)); }

  std::string_view text_;
  std::uint32_t file_;
  std::vector<TorchRecord>& records_;
};

}  // namespace

BuildCondition condition_of(const PythonRegistration& registration) {
  BuildCondition when;
  for (const std::string& condition : registration.conditions) {
    const bool negated = condition.starts_with("not ");
    const BuildCondition one = BuildCondition::of(negated ? condition.substr(4) : condition);
    when = when && (negated ? !one : one);
  }
  return when;
}

SourceFunction source_function(const PythonFunction& function, std::uint32_t file) {
  SourceFunction out;
  out.name = function.null ? std::string() : function.name;
  out.place = place_at(function.found ? function.definition : function.place, file);
  out.declared = function.found;
  out.positional = function.positional;
  out.required = function.required;
  out.variadic = function.variadic;
  for (const PythonParameter& parameter : function.parameters) {
    if (parameter.keyword_only) {
      out.names.push_back(parameter.name);
    } else if (out.parameters.size() < out.positional) {
      out.parameters.push_back(parameter.name);
    }
  }
  if (function.any_name) out.names.emplace_back("**");
  out.choices = function.choices;
  out.ranks = function.ranks;
  out.reads = function.reads;
  out.reads_known = function.reads_known;
  return out;
}

void read_torch_python(const std::vector<PythonRegistration>& registrations, std::string_view text,
                       std::uint32_t file, std::vector<TorchRecord>& records) {
  PythonReader reader(text, file, records);
  for (const PythonRegistration& registration : registrations) reader.read(registration);
}

}  // namespace opseal
