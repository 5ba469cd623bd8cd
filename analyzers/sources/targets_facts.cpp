#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzers/sources/targets.h"

namespace opseal {
namespace {

// Targets that XLA and jaxlib register themselves, under names that begin so.
constexpr std::array<std::string_view, 14> built_in{
    "lapack_", "cusolver_", "hipsolver_", "cublas_",   "hipblas_",      "cusparse_", "hipsparse_",
    "cu_",     "hip_",      "cuda_",      "cudnn_rnn", "triton_kernel", "xla_",      "mosaic_"};

bool is_built_in(std::string_view name) {
  // Also `__cublas$gemm`, `Sharding`, `TopK`.
  if (name.starts_with("__") || (name[0] >= 'A' && name[0] <= 'Z')) return true;
  return std::any_of(built_in.begin(), built_in.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string in_lower_case(std::string_view name) {
  std::string out(name);
  for (char& byte : out) {
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
  }
  return out;
}

// Handlers by their names. Of equal ones, of which a build takes one, that of a target's own file
// is meant, or each if they bind the same.
class HandlerIndex {
 public:
  explicit HandlerIndex(const std::vector<HandlerRecord>& handlers) {
    for (const HandlerRecord& handler : handlers) {
      rows_[handler.symbol.text].push_back(&handler);
    }
  }

  bool has(const std::string& symbol) const { return rows_.contains(symbol); }

  // Some wrappers around a registry take the handler's own name for the target's.
  const std::string& symbol_of(const TargetRecord& target) const {
    const bool by_name = target.symbol.text.empty() && has(target.name.text);
    return by_name ? target.name.text : target.symbol.text;
  }

  const HandlerRecord* of(const TargetRecord& target) const {
    const auto found = rows_.find(symbol_of(target));
    if (found == rows_.end() || found->second.size() > most_equal) return nullptr;
    const HandlerRecord* first = found->second.front();
    bool same = true;
    for (const HandlerRecord* handler : found->second) {
      if (handler->place.file == target.symbol.place.file) return handler;
      same = same && handler->bound == first->bound && handler->spec == first->spec;
    }
    return same ? first : nullptr;
  }

 private:
  static constexpr std::size_t most_equal = 16;

  std::unordered_map<std::string, std::vector<const HandlerRecord*>> rows_;
};

void write_condition(const BuildCondition& when, const std::string& macro, const SourcePlace& place,
                     PlacedWriter& writer) {
  writer.text_if(Key::when, when.text(), place);
  writer.text_if(Key::macro, macro, place);
}

void write_handler(const HandlerRecord& handler, PlacedWriter& writer) {
  const std::uint32_t object = writer.open(Key::none, NodeType::object, handler.place);
  writer.text(Key::symbol, handler.symbol.text, handler.symbol.place);
  if (handler.function.declared || !handler.function.name.empty()) {
    writer.function(Key::function, handler.function);
  }
  writer.text_if(Key::stage, handler.stage, handler.place);
  if (handler.bound) writer.texts(Key::spec, handler.spec, handler.place);
  if (handler.function.declared) {
    writer.texts(Key::parameters, handler.parameters, handler.function.place);
  }
  if (!handler.traits.empty()) writer.texts(Key::traits, handler.traits, handler.place);
  write_condition(handler.when, handler.macro, handler.place, writer);
  writer.close(object);
}

// Where Python registers what tables hold, the first such place if all of them say one version.
const TargetRecord* table_registration(const std::vector<TargetRecord>& records, bool partial) {
  const TargetRecord* found = nullptr;
  for (const TargetRecord& record : records) {
    if (!record.from_table) continue;
    if (partial || record.api_version < 0) return nullptr;
    if (found != nullptr && found->api_version != record.api_version) return nullptr;
    if (found == nullptr) found = &record;
  }
  return found;
}

void write_target(const TargetRecord& target, const HandlerIndex& handlers,
                  const TargetRecord* by_table, PlacedWriter& writer) {
  const std::uint32_t object = writer.open(Key::none, NodeType::object, target.place);
  writer.text(Key::name, target.name.text, target.name.place);
  writer.text_if(Key::platform, target.platform.text, target.platform.place);
  if (!target.function.name.empty()) writer.function(Key::function, target.function);
  writer.text_if(Key::symbol, handlers.symbol_of(target),
                 target.symbol.text.empty() ? target.name.place : target.symbol.place);
  // What neither says its version nor its platform is an entry of a table.
  const bool in_table =
      target.api_version < 0 && target.platform.text.empty() && !target.from_table;
  const TargetRecord* says = in_table ? by_table : &target;
  if (says != nullptr && says->api_version >= 0) {
    writer.count(Key::api_version, static_cast<std::uint32_t>(says->api_version), says->place);
  }
  const HandlerRecord* handler = handlers.of(target);
  if (!target.handler_kind.empty()) {
    writer.text(Key::handler_kind, target.handler_kind, target.place);
  } else if (handler != nullptr) {
    writer.text(Key::handler_kind, "typed", handler->place);
  }
  if (!target.stages.empty()) {
    std::vector<std::string> stages;
    for (const StageHandler& one : target.stages) stages.push_back(one.stage);
    writer.texts(Key::stages, stages, target.place);
  } else if (handler != nullptr && !handler->stage.empty()) {
    // Handed over alone.
    writer.texts(Key::stages, {handler->stage}, target.place);
  }
  if (!target.traits.empty()) writer.texts(Key::traits, target.traits, target.place);
  if (handler != nullptr && handler->bound) {
    writer.texts(Key::spec, handler->spec, handler->place);
  }
  write_condition(target.when, target.macro, target.place, writer);
  writer.close(object);
}

bool is_target(const TargetRecord& record, const HandlerIndex& handlers) {
  if (record.lookup || record.name.text.empty()) return false;
  return !record.if_handler || handlers.has(record.symbol.text);
}

// The names that are asked for: all, if everything that could be registered is known, else those
// that are registered.
std::vector<const TargetRecord*> answerable(const std::vector<TargetRecord>& records,
                                            const HandlerIndex& handlers, bool partial) {
  std::set<std::string_view> registered;
  std::set<std::string> folded;
  bool known = !partial;
  for (const TargetRecord& record : records) {
    if (is_target(record, handlers)) {
      registered.insert(record.name.text);
      folded.insert(in_lower_case(record.name.text));
    }
    if (!record.lookup && !record.if_handler && record.name.text.empty()) known = false;
  }
  std::vector<const TargetRecord*> lookups;
  if (registered.empty()) return lookups;
  for (const TargetRecord& record : records) {
    if (!record.lookup || record.name.text.empty()) continue;
    // One that differs in letter case alone from a target of the tree is hardly XLA's own.
    const bool asked = known && (!is_built_in(record.name.text) ||
                                 folded.contains(in_lower_case(record.name.text)));
    if (asked || registered.contains(record.name.text)) lookups.push_back(&record);
  }
  return lookups;
}

void write_call(const TargetCall& call, PlacedWriter& writer) {
  if (!call.known) return;
  writer.count(Key::inputs, call.arguments, call.place);
  const std::uint32_t list = writer.open(Key::attributes, NodeType::list, call.place);
  for (const CallAttribute& attribute : call.attributes) {
    const std::uint32_t item = writer.open(Key::none, NodeType::object, attribute.place);
    writer.text(Key::name, attribute.name, attribute.place);
    writer.text_if(Key::type, attribute.type, attribute.place);
    writer.close(item);
  }
  writer.close(list);
}

void write_lookup(const TargetRecord& lookup, PlacedWriter& writer) {
  const std::uint32_t row = writer.open(Key::none, NodeType::object, lookup.place);
  writer.text(Key::operator_, lookup.name.text, lookup.name.place);
  const std::uint32_t list = writer.open(Key::lookups, NodeType::list, lookup.place);
  const std::uint32_t item = writer.open(Key::none, NodeType::object, lookup.place);
  writer.text(Key::operator_, lookup.name.text, lookup.name.place);
  write_call(lookup.call, writer);
  writer.close(item);
  writer.close(list);
  writer.close(row);
}

}  // namespace

void write_targets(const std::vector<TargetRecord>& records,
                   const std::vector<HandlerRecord>& handlers, bool partial, PlacedWriter& writer) {
  const HandlerIndex index(handlers);
  if (!handlers.empty()) {
    const std::uint32_t list = writer.open_list(Key::handlers);
    for (const HandlerRecord& handler : handlers) write_handler(handler, writer);
    writer.close_list(list);
  }
  const TargetRecord* by_table = table_registration(records, partial);
  const std::uint32_t targets = writer.open_list(Key::targets);
  for (const TargetRecord& record : records) {
    if (is_target(record, index)) write_target(record, index, by_table, writer);
  }
  writer.close_list(targets);
  const std::vector<const TargetRecord*> lookups = answerable(records, index, partial);
  if (lookups.empty()) return;
  const std::uint32_t dispatch = writer.open_list(Key::dispatch);
  for (const TargetRecord* lookup : lookups) write_lookup(*lookup, writer);
  writer.close_list(dispatch);
}

}  // namespace opseal
