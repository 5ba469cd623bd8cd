#include <algorithm>
#include <initializer_list>

#include "analyzers/sources/extensions.h"
#include "analyzers/sources/torch_facts.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

bool is_open_type(const std::string& type) { return type == "args" || type == "kwargs"; }

// A macro may stand for several parameters.
bool is_macro(const std::string& type) {
  return type.size() > 3 && type.find('_') != type.npos &&
         std::none_of(type.begin(), type.end(),
                      [](char byte) { return (byte >= 'a' && byte <= 'z') || byte == '<'; });
}

// `Class::method` takes an object before its parameters.
bool may_be_method(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  if (colons == name.npos || colons == 0) return false;
  const std::string_view outer = name.substr(0, colons);
  const std::size_t before = outer.rfind("::");
  const std::string_view owner = before == outer.npos ? outer : outer.substr(before + 2);
  return !owner.empty() && owner[0] >= 'A' && owner[0] <= 'Z';
}

void write_function(const std::string& module, const ExtensionFunction& row, PlacedWriter& writer) {
  const BoundFunction& bound = *row.bound;
  const std::uint32_t object = writer.open(Key::none, NodeType::object, bound.place);
  writer.text(Key::name, row.name, bound.name.place);
  writer.text(Key::namespace_, module, bound.place);
  const SourceFunction& function = bound.function;
  const bool open = std::any_of(function.types.begin(), function.types.end(), is_open_type);
  // Each parameter has its `py::arg`, where there are any.
  const bool agrees = !bound.says_arguments || bound.arguments.size() == function.positional;
  const bool macros = std::any_of(function.types.begin(), function.types.end(), is_macro);
  const bool counted = function.declared && !bound.unclear && !macros && (open || agrees) &&
                       !may_be_method(function.name);
  if (counted && open) {
    writer.truth(Key::variadic, true, function.place);
  } else if (counted) {
    writer.count(Key::positional, function.positional, function.place);
    writer.count(Key::required, function.positional - bound.defaults, function.place);
    const bool named = std::none_of(bound.arguments.begin(), bound.arguments.end(),
                                    [](const std::string& name) { return name.empty(); });
    if (named) writer.texts(Key::parameters, bound.arguments, bound.place);
  }
  write_dispatches(bound.dispatches, bound.place, writer);
  writer.text_if(Key::when, bound.when.text(), bound.place);
  writer.text_if(Key::macro, bound.macro, bound.place);
  writer.close(object);
}

}  // namespace

std::vector<BoundFunction*> gradient_functions(std::vector<ExtensionBlock>& blocks) {
  std::vector<BoundFunction*> found;
  bool forward = false;
  bool backward = false;
  for (ExtensionBlock& block : blocks) {
    for (BoundFunction& bound : block.functions) {
      const std::string& name = bound.name.text;
      const bool forwards = has_any(name, {"forward", "Forward", "fwd"});
      const bool backwards = has_any(name, {"backward", "Backward", "bwd", "grad"});
      if ((!forwards && !backwards) || bound.function.name.empty()) continue;
      forward = forward || forwards;
      backward = backward || backwards;
      found.push_back(&bound);
    }
  }
  if (!forward || !backward) found.clear();
  return found;
}

void write_extensions(const ExtensionTree& tree, PlacedWriter& writer) {
  const std::uint32_t functions = writer.open_list(Key::functions);
  for (const ExtensionModule& module : tree.modules) {
    for (const ExtensionFunction& function : module.functions) {
      write_function(module.name, function, writer);
    }
  }
  writer.close_list(functions);
  if (tree.uses.empty()) return;
  const std::uint32_t uses = writer.open_list(Key::uses);
  for (const ExtensionUse& use : tree.uses) {
    const std::uint32_t object = writer.open(Key::none, NodeType::object, use.place);
    writer.text(Key::name, use.name.text, use.name.place);
    writer.text(Key::namespace_, use.module, use.place);
    if (use.called && !use.open_ended) {
      writer.count(Key::arguments, use.positional, use.place);
      if (!use.names.empty()) writer.texts(Key::names, use.names, use.place);
    }
    writer.close(object);
  }
  writer.close_list(uses);
}

}  // namespace opseal
