#include "analyzers/sources/key_records.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "analyzers/sources/placed_writer.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Classes above each other.
constexpr std::size_t max_bases = 8;

// One name for a field, what reads it and what it was made of: `m_data_type`, `getDataType`.
std::string plain_field(std::string_view name) {
  if (name.starts_with("m_")) name.remove_prefix(2);
  std::string plain;
  for (const char byte : lower(name)) {
    if (byte != '_') plain += byte;
  }
  const bool getter = plain.starts_with("get") && plain.size() > 3;
  return getter ? plain.substr(3) : plain;
}

bool is_key_name(std::string_view name) {
  const std::string word = lower(name);
  for (const std::string_view end : {"key", "desc", "descriptor", "params", "param", "config",
                                     "info", "options", "args", "signature", "attrs", "spec"}) {
    if (word.ends_with(end) || word.ends_with(std::string(end) + "_t")) return true;
  }
  return false;
}

class KeyJoiner {
 public:
  explicit KeyJoiner(const std::vector<const KeyCode*>& files) {
    for (const KeyCode* file : files) {
      for (const KeyType& type : file->types) types_[type.name].push_back(&type);
      looked_up_.insert(file->looked_up.begin(), file->looked_up.end());
    }
    for (const KeyCode* file : files) {
      for (const KeyFunction& function : file->functions) {
        if (const KeyType* type = type_of(function)) of_type_[type].push_back(&function);
        if (function.designated) designated_.push_back(&function);
      }
    }
  }

  std::vector<KeyRecord> join() {
    for (const KeyFunction* function : designated_) add_designated(*function);
    for (const auto& [name, types] : types_) {
      for (const KeyType* type : types) {
        if (is_key_name(name)) add_type(*type);
      }
    }
    return std::move(records_);
  }

 private:
  // The one of the function's own file, else the only one of the name.
  const KeyType* find(std::string_view name, std::uint32_t file) const {
    const auto found = types_.find(name);
    if (found == types_.end()) return nullptr;
    const KeyType* own = nullptr;
    std::size_t count = 0;
    for (const KeyType* type : found->second) {
      if (type->place.file != file) continue;
      own = type;
      ++count;
    }
    if (count == 1) return own;
    return count == 0 && found->second.size() == 1 ? found->second.front() : nullptr;
  }
  const KeyType* type_of(const KeyFunction& function) const {
    return find(function.type, function.place.file);
  }

  std::vector<KeyField> fields_of(const KeyType& type) const {
    std::vector<KeyField> fields;
    std::vector<const KeyType*> waiting = {&type};
    for (std::size_t at = 0; at < waiting.size() && at < max_bases; ++at) {
      const KeyType& one = *waiting[at];
      fields.insert(fields.end(), one.fields.begin(), one.fields.end());
      for (const std::string& base : one.bases) {
        const KeyType* above = find(base, one.place.file);
        const bool fresh = std::find(waiting.begin(), waiting.end(), above) == waiting.end();
        if (above != nullptr && fresh) waiting.push_back(above);
      }
    }
    return fields;
  }

  // Whether something that isn't seen may use any field.
  static bool uses_all(const KeyFunction& function, const KeyType* type,
                       const std::set<std::string>& names) {
    if (function.whole) return true;
    return std::any_of(
        function.opaque.begin(), function.opaque.end(), [&](const std::string& called) {
          if (names.contains(plain_field(called))) return false;
          // What is called without an object may be any function there is.
          return type == nullptr || type->methods.contains(called) || !type->bases.empty();
        });
  }

  static KeyRecord::Function used_by(const KeyFunction& function, const KeyType* type,
                                     const std::vector<KeyField>& fields) {
    KeyRecord::Function made{function.name, function.kind, function.place, {}};
    std::set<std::string> names;
    for (const KeyField& field : fields) names.insert(plain_field(field.name));
    const bool all = function.covered.empty() && uses_all(function, type, names);
    std::set<std::string> words;
    for (const std::string& word : function.words) words.insert(plain_field(word));
    for (const KeyField& field : fields) {
      if (all || words.contains(plain_field(field.name))) made.uses.push_back(field.name);
    }
    return made;
  }

  void add_designated(const KeyFunction& function) {
    KeyRecord record;
    const KeyType* own = type_of(function);
    const KeyType* type =
        function.covers.empty() ? own : find(function.covers, function.place.file);
    record.designated = true;
    record.fields = function.covered;
    if (record.fields.empty() && type != nullptr) {
      record.fields = fields_of(*type);
      record.typed = type->typed;
    }
    record.name = function.label;
    if (record.name.empty())
      record.name = function.covers.empty() ? function.type : function.covers;
    if (record.name.empty()) record.name = function.name;
    record.place = function.place;
    record.exempt = function.except;
    if (record.fields.empty()) return;
    record.functions.push_back(used_by(function, own, record.fields));
    records_.push_back(std::move(record));
    judged_.insert(&function);
  }

  void add_type(const KeyType& type) {
    const auto found = of_type_.find(&type);
    if (found == of_type_.end()) return;
    KeyRecord record;
    record.name = type.name;
    record.place = type.place;
    record.fields = fields_of(type);
    record.typed = type.typed;
    if (record.fields.size() < 2 || type.partial) return;
    for (const KeyFunction* function : found->second) {
      const bool known = function->kind == "key" || judged_.contains(function);
      if (!known) record.functions.push_back(used_by(*function, &type, record.fields));
    }
    const auto has = [&record](std::string_view kind) {
      return std::any_of(record.functions.begin(), record.functions.end(),
                         [kind](const KeyRecord::Function& one) { return one.kind == kind; });
    };
    // A class that is merely sorted or compared somewhere is no key.
    const bool sought = looked_up_.contains(type.name);
    if (!(has("equality") && (sought || has("hash"))) && !(sought && has("order"))) return;
    records_.push_back(std::move(record));
  }

  std::map<std::string, std::vector<const KeyType*>, std::less<>> types_;
  std::map<const KeyType*, std::vector<const KeyFunction*>> of_type_;
  std::vector<const KeyFunction*> designated_;
  std::set<const KeyFunction*> judged_;
  std::set<std::string, std::less<>> looked_up_;
  std::vector<KeyRecord> records_;
};

}  // namespace

std::vector<KeyRecord> join_keys(const std::vector<const KeyCode*>& files) {
  return KeyJoiner(files).join();
}

void write_keys(const std::vector<KeyRecord>& records, PlacedWriter& writer) {
  for (const KeyRecord& record : records) {
    const std::uint32_t item = writer.open(Key::none, NodeType::object, record.place);
    writer.text(Key::name, record.name, record.place);
    writer.text(Key::kind, "memory", record.place);
    if (record.typed) writer.text(Key::tier, "typed", record.place);
    if (record.designated) writer.truth(Key::required, true, record.place);
    const std::uint32_t fields = writer.open(Key::fields, NodeType::list, record.place);
    for (const KeyField& field : record.fields) writer.text(Key::none, field.name, field.place);
    writer.close(fields);
    std::vector<std::string> exempt = record.exempt;
    for (const KeyField& field : record.fields) {
      if (field.exempt) exempt.push_back(field.name);
    }
    if (!exempt.empty()) writer.texts(Key::exempt, exempt, record.place);
    const std::uint32_t functions = writer.open(Key::functions, NodeType::list, record.place);
    for (const KeyRecord::Function& function : record.functions) {
      const std::uint32_t one = writer.open(Key::none, NodeType::object, function.place);
      writer.text(Key::name, function.name, function.place);
      writer.text(Key::kind, function.kind, function.place);
      writer.texts(Key::uses, function.uses, function.place);
      writer.close(one);
    }
    writer.close(functions);
    writer.close(item);
  }
}

}  // namespace opseal
