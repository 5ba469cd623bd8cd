#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzers/sources/plugin_classes.h"

namespace opseal {
namespace {

// Pieces of names; more are no project's.
constexpr std::size_t most_fragments = 4096;

class PluginWriter {
 public:
  PluginWriter(const PluginRecords& records, PluginKind kind, bool partial, PlacedWriter& writer)
      : records_(records), kind_(kind), writer_(writer) {
    for (const PluginMethod& method : records.methods) {
      const auto [at, is_new] = methods_.try_emplace({method.owner, method.name}, &method);
      // Two classes of one name: nobody knows which is meant.
      if (!is_new && at->second != nullptr && at->second->value != method.value) {
        at->second = nullptr;
      }
    }
    for (const PluginStorage& one : records.storage) {
      const auto [at, is_new] = storage_.try_emplace({one.owner, one.method}, &one);
      if (!is_new && at->second != nullptr && at->second->names != one.names) at->second = nullptr;
    }
    for (const PluginMade& one : records.made) {
      const auto [at, is_new] = made_.try_emplace(one.maker, &one);
      // Which of several is stored under the name isn't known.
      if (!is_new && at->second != nullptr && at->second->name != one.name) at->second = nullptr;
    }
    for (const PluginFields& one : records.fields) {
      const auto [at, is_new] = fields_.try_emplace(one.owner, &one);
      if (!is_new) at->second = nullptr;
    }
    for (const PluginClass& one : records.classes) {
      ++count_[one.name];
      if (one.kind == kind && one.used && sibling_ == nullptr) sibling_ = &one;
    }
    if (partial || records.fragments.size() > most_fragments) sibling_ = nullptr;
    alone_ = !partial && records.fragments.size() <= most_fragments && sibling_ == nullptr;
  }

  void run() {
    // The classes of one name, in the order in which they were read.
    std::map<std::string, std::vector<const PluginClass*>> operators;
    for (const PluginClass& one : records_.classes) {
      // Without a name it is what others derive from.
      if (one.kind != kind_ || count_[one.name] > 1 || name_method(one) == nullptr) continue;
      operators[name_of(one)].push_back(&one);
    }
    const std::uint32_t list = writer_.open_list(Key::operators);
    for (const auto& [name, classes] : operators) {
      const PluginClass& first = *classes.front();
      const std::uint32_t object = writer_.open(Key::none, NodeType::object, first.place);
      writer_.text(Key::name, name, first.place);
      const std::uint32_t rows = writer_.open(Key::kernels, NodeType::list, first.place);
      for (const PluginClass* one : classes) write(*one);
      writer_.close(rows);
      writer_.close(object);
    }
    writer_.close_list(list);
  }

 private:
  const PluginMethod* method_of(const std::string& owner, std::string_view name) const {
    const auto found = methods_.find({owner, std::string(name)});
    return found == methods_.end() ? nullptr : found->second;
  }
  const PluginMethod* method(const PluginClass& of, std::string_view name) const {
    return method_of(of.name, name);
  }

  const PluginStorage* storage(const std::string& of, std::string_view name) const {
    const auto found = storage_.find({of, std::string(name)});
    return found == storage_.end() ? nullptr : found->second;
  }

  bool is_plugin(const std::string& name) const {
    return methods_.count({name, "getPluginType"}) + methods_.count({name, "getPluginName"}) +
               storage_.count({name, "serialize"}) >
           0;
  }

  // The class of the plugins that a creator makes: as its code says or, where that isn't in the
  // tree, as its name does. Empty where nobody knows.
  std::string plugin_of(const PluginClass& creator) const {
    const auto found = made_.find(creator.name);
    if (found != made_.end()) {
      const bool known = found->second != nullptr && is_plugin(found->second->name);
      return known ? found->second->name : std::string();
    }
    for (const std::string_view suffix : {"PluginCreator", "Creator"}) {
      if (!creator.name.ends_with(suffix)) continue;
      const std::string stem = creator.name.substr(0, creator.name.size() - suffix.size());
      for (const std::string& name : {stem + "Plugin", stem}) {
        if (is_plugin(name)) return name;
      }
    }
    return {};
  }

  void write_built(const PluginClass& creator) {
    // Under another name than the registry's there is nothing to compare.
    if (kind_ != PluginKind::tensorrt || name_of(creator) != name_method(creator)->value) return;
    const std::string plugin = plugin_of(creator);
    if (plugin.empty()) return;
    const PluginMethod* name = method_of(plugin, "getPluginType");
    if (methods_.count({plugin, "getPluginType"}) == 0) name = method_of(plugin, "getPluginName");
    const PluginMethod* version = method_of(plugin, "getPluginVersion");
    const std::uint32_t built = writer_.open(Key::built, NodeType::object, creator.place);
    if (name != nullptr) writer_.text_if(Key::name, name->value, name->place);
    if (version != nullptr) writer_.text_if(Key::version, version->value, version->place);
    const std::uint32_t function = writer_.open(Key::function, NodeType::object, creator.place);
    writer_.text(Key::name, plugin, creator.place);
    writer_.close(function);
    const std::pair<Key, std::string_view> lists[] = {{Key::fields, "getSerializationSize"},
                                                      {Key::writes, "serialize"},
                                                      {Key::reads, "deserialize"}};
    for (const auto& [key, of] : lists) {
      const PluginStorage* names = storage(plugin, of);
      if (names != nullptr) writer_.texts(key, *names->names, names->place);
    }
    writer_.close(built);
  }

  void write_fields(const PluginClass& creator) {
    const auto found = fields_.find(creator.name);
    if (kind_ != PluginKind::tensorrt || found == fields_.end() || found->second == nullptr) return;
    const PluginFields& fields = *found->second;
    if (fields.declared) {
      const std::uint32_t list =
          writer_.open(Key::attributes, NodeType::list, fields.declared_place);
      for (const PlacedName& name : *fields.declared) {
        const std::uint32_t item = writer_.open(Key::none, NodeType::object, name.place);
        writer_.text(Key::name, name.text, name.place);
        const auto type = fields.declared_types.find(name.text);
        if (type != fields.declared_types.end()) {
          writer_.text_if(Key::type, type->second, name.place);
        }
        writer_.close(item);
      }
      writer_.close(list);
    }
    if (fields.open_ended) writer_.truth(Key::variadic, true, fields.declared_place);
    const std::uint32_t list = writer_.open(Key::reads, NodeType::list, fields.place);
    for (const PlacedName& name : fields.read) writer_.text(Key::none, name.text, name.place);
    writer_.close(list);
    write_read_types(fields);
  }

  void write_read_types(const PluginFields& fields) {
    std::uint32_t map = 0;
    bool any = false;
    for (const auto& [name, type] : fields.read_types) {
      if (type.text.empty()) continue;
      if (!any) map = writer_.open(Key::values, NodeType::map, fields.place);
      any = true;
      writer_.text(Key::entry_name, name, type.place);
      writer_.text(Key::entry_value, type.text, type.place);
    }
    if (any) writer_.close(map);
  }

  static std::optional<std::uint32_t> number_of(const std::string& text) {
    std::uint32_t number = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    if (text.empty() || error != std::errc() || at != end) return {};
    return number;
  }

  // Nobody names any class of its kind, and no other project can name this one: it stands in a
  // source, or its methods do in a tree that registers nothing.
  bool is_unreachable(const PluginClass& one) const {
    if (!one.in_header) return true;
    const PluginMethod* name = name_method(one);
    return kind_ == PluginKind::tensorrt && !records_.registers &&
           name->place.file != one.place.file;
  }

  // A macro may make its name.
  bool may_be_pasted(const std::string& name) const {
    return std::any_of(
        records_.fragments.begin(), records_.fragments.end(),
        [&](const std::string& part) { return name.starts_with(part) || name.ends_with(part); });
  }

  const PluginMethod* name_method(const PluginClass& one) const {
    return method(one, kind_ == PluginKind::tensorrt ? "getPluginName" : "GetName");
  }

  // The version of a plugin's creator, by which a registry tells those of one name apart.
  std::optional<std::uint32_t> version_of(const PluginClass& one) const {
    const PluginMethod* version =
        kind_ == PluginKind::tensorrt ? method(one, "getPluginVersion") : nullptr;
    return version == nullptr ? std::nullopt : number_of(version->value);
  }

  // Empty where it isn't known.
  std::string platform_of(const PluginClass& one) const {
    if (kind_ == PluginKind::tensorrt) return version_of(one) ? "any" : "";
    const PluginMethod* provider = method(one, "GetExecutionProviderType");
    return provider == nullptr ? "CPUExecutionProvider" : provider->value;
  }

  // That of the class, where it isn't known by which name and key the runtime has it.
  std::string name_of(const PluginClass& one) const {
    const std::string& name = name_method(one)->value;
    return name.empty() || platform_of(one).empty() ? one.name : name;
  }

  void write(const PluginClass& one) {
    const std::optional<std::uint32_t> number = version_of(one);
    const std::uint32_t kernel = writer_.open(Key::none, NodeType::object, one.place);
    const std::string platform = platform_of(one);
    writer_.text(Key::platform, platform.empty() ? "any" : platform, one.place);
    if (number) {
      const std::uint32_t versions = writer_.open(Key::versions, NodeType::object, one.place);
      writer_.count(Key::since, *number, one.place);
      writer_.close(versions);
    }
    const std::uint32_t function = writer_.open(Key::function, NodeType::object, one.place);
    writer_.text(Key::name, one.name, one.place);
    writer_.close(function);
    if (one.used) {
      writer_.truth(Key::listed, true, one.use);
    } else if (sibling_ != nullptr && one.seen && !may_be_pasted(one.name)) {
      writer_.truth(Key::listed, false, sibling_->use);
      writer_.texts(Key::witnesses, {"declared"}, one.place);
    } else if (alone_ && is_unreachable(one) && !may_be_pasted(one.name)) {
      writer_.truth(Key::listed, false, one.place);
      writer_.texts(Key::witnesses, {"declared"}, one.place);
    }
    write_fields(one);
    write_built(one);
    writer_.text_if(Key::when, one.when.text(), one.place);
    writer_.close(kernel);
  }

  const PluginRecords& records_;
  PluginKind kind_;
  PlacedWriter& writer_;
  std::map<std::pair<std::string, std::string>, const PluginMethod*> methods_;
  std::map<std::pair<std::string, std::string>, const PluginStorage*> storage_;
  std::map<std::string, const PluginMade*> made_;
  std::map<std::string, const PluginFields*> fields_;
  std::map<std::string, std::size_t> count_;
  // One that is named somewhere.
  const PluginClass* sibling_ = nullptr;
  // None is, in a tree that is read as a whole.
  bool alone_ = false;
};

}  // namespace

void write_plugins(const PluginRecords& records, PluginKind kind, bool partial,
                   PlacedWriter& writer) {
  PluginWriter(records, kind, partial, writer).run();
}

}  // namespace opseal
