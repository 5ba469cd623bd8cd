#include "analyzers/sources/native_gradients.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/result_dtypes.h"
#include "analyzers/sources/torch_facts.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// Of one file; only one made to be slow has more.
constexpr std::size_t most_functions = 512;

// `x_cuda` and `x_forward_cuda` of `x_backward_cuda`; nothing where it is no backward.
std::vector<std::string> forwards_of(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [back, forth] :
       {std::pair<std::string_view, std::string_view>{"_backward", "_forward"},
        {"_backward", ""},
        {"Backward", "Forward"},
        {"backward_", "forward_"}}) {
    const std::size_t at = name.find(back);
    if (at == name.npos) continue;
    std::string other(name);
    other.replace(at, back.size(), forth);
    if (!other.empty()) names.push_back(std::move(other));
  }
  return names;
}

// The names of its parameters, and what it hands back.
void read_function(const PlainSource& source, const Scope& scope, SourceFunction& function) {
  constexpr std::size_t most_parameters = 128;
  const Tokens tokens = source.unit.tokens;
  const auto part = [&tokens](TokenRange range) {
    return tokens.subspan(range.begin, range.end - range.begin);
  };
  std::vector<std::string_view> names;
  for (const NamedParameter& one : named_parameters(part(scope.parameters), most_parameters)) {
    names.push_back(one.name->text);
    function.parameters.emplace_back(one.name->text);
  }
  function.results = result_dtypes_of(part(scope.body), names);
}

}  // namespace

bool may_hold_native_gradients(std::string_view bytes) {
  return bytes.find("AT_DISPATCH_") != bytes.npos && bytes.find("ackward") != bytes.npos;
}

void read_native_gradients(const PlainSource& source, std::vector<TorchRecord>& functions) {
  // Of several of one name it isn't known which is called.
  std::map<std::string, const Scope*, std::less<>> by_name;
  for (const Scope& scope : source.shape.scopes) {
    if (scope.kind != ScopeKind::function || scope.name_token == no_token) continue;
    const auto [known, is_new] = by_name.emplace(std::string(base_of(scope.name)), &scope);
    if (!is_new) known->second = nullptr;
    if (by_name.size() > most_functions) return;
  }
  std::set<std::string_view> taken;
  const auto add = [&](const std::string& name, const Scope& scope) {
    if (!taken.insert(name).second) return;
    const Token& token = source.unit.tokens[scope.name_token];
    TorchRecord record;
    record.use = TorchUse::implement;
    record.place = {source.unit.file, token.offset, token.length};
    record.name = {name, record.place};
    record.function.name = name;
    record.function.place = record.place;
    read_function(source, scope, record.function);
    record.when = source.unit.conditions[token.condition];
    functions.push_back(std::move(record));
  };
  for (const auto& [name, backward] : by_name) {
    if (backward == nullptr) continue;
    for (const std::string& other : forwards_of(name)) {
      const auto forward = by_name.find(other);
      if (forward == by_name.end() || forward->second == nullptr) continue;
      add(forward->first, *forward->second);
      add(name, *backward);
      break;
    }
  }
}

void drop_registered(const std::vector<TorchRecord>& kernels, std::vector<TorchRecord>& functions) {
  std::set<std::string_view> names;
  for (const TorchRecord& kernel : kernels) names.insert(base_of(kernel.function.name));
  std::erase_if(functions,
                [&names](const TorchRecord& one) { return names.contains(one.function.name); });
}

void forget_handed_converted(const ConvertedFor& converted, std::vector<TorchRecord>& functions,
                             std::size_t first) {
  for (std::size_t at = first; at < functions.size(); ++at) {
    if (!converted.contains(functions[at].function.name)) continue;
    for (DispatchSite& site : functions[at].dispatches) site.known = false;
  }
}

void write_native_gradients(const std::vector<TorchRecord>& functions,
                            const std::vector<std::string>& paths, PlacedWriter& writer) {
  const std::uint32_t list = writer.open_list(Key::functions);
  for (const TorchRecord& function : functions) {
    if (function.dispatches.empty()) continue;
    const std::uint32_t object = writer.open(Key::none, NodeType::object, function.place);
    writer.text(Key::name, function.name.text, function.place);
    writer.text(Key::namespace_, paths[function.place.file], function.place);
    const SourceFunction& said = function.function;
    if (!said.parameters.empty()) writer.texts(Key::parameters, said.parameters, said.place);
    if (!said.results.empty()) writer.texts(Key::results, said.results, said.place);
    write_dispatches(function.dispatches, function.place, writer);
    writer.text_if(Key::when, function.when.text(), function.place);
    writer.close(object);
  }
  writer.close_list(list);
}

}  // namespace opseal
