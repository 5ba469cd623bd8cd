#include "analyzers/sources/typed_keys.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analyzers/sources/key_types.h"

namespace opseal {
namespace {

constexpr std::size_t most_bases = 8;

struct Told {
  KeyFunction* function = nullptr;
  const TypedKey* key = nullptr;
  std::uint32_t file = 0;
};

class KeySettler {
 public:
  explicit KeySettler(std::vector<FileRecords>& files) : files_(files) {
    for (FileRecords& file : files) {
      for (KeyType& type : file.keys.types) types_[type.name].push_back(&type);
    }
  }

  void settle(const std::vector<TypedFile>& answers) {
    std::map<std::string, std::vector<Told>> told;
    for (std::size_t file = 0; file < answers.size(); ++file) {
      for (KeyFunction& function : files_[file].keys.functions) {
        for (const TypedKey& key : answers[file].keys) {
          if (key.place.offset != function.place.offset) continue;
          told[key.type].push_back({&function, &key, static_cast<std::uint32_t>(file)});
          break;
        }
      }
    }
    for (const auto& [name, functions] : told) {
      const auto found = types_.find(name);
      if (found == types_.end() || found->second.size() != 1) continue;
      KeyType& type = *found->second.front();
      if (type.partial) continue;
      add_inherited(type, functions.front());
      add_nested(type, functions);
    }
  }

 private:
  std::set<std::string> known_fields(const KeyType& type) const {
    std::set<std::string> names;
    std::vector<const KeyType*> waiting{&type};
    for (std::size_t at = 0; at < waiting.size() && at < most_bases; ++at) {
      for (const KeyField& field : waiting[at]->fields) names.insert(field.name);
      for (const std::string& base : waiting[at]->bases) {
        const auto found = types_.find(base);
        if (found == types_.end()) continue;
        waiting.insert(waiting.end(), found->second.begin(), found->second.end());
      }
    }
    return names;
  }

  void add_inherited(KeyType& type, const Told& told) const {
    const std::set<std::string> known = known_fields(type);
    for (const TypedKeyField& field : told.key->fields) {
      if (field.name.find('.') != field.name.npos || known.contains(field.name)) continue;
      const SourcePlace place =
          field.place.length == 0 ? type.place
                                  : SourcePlace{told.file, field.place.offset, field.place.length};
      type.fields.push_back({field.name, place, field.exempt || is_exempt_key_field(field.name)});
      type.typed = true;
    }
  }

  // One of which no function uses more than its members.
  static bool is_read_by_members(const std::string& field, const std::vector<Told>& functions) {
    const std::string inside = field + '.';
    bool reads = false;
    for (const Told& told : functions) {
      for (const std::string& read : told.key->reads) {
        if (read == field) return false;
        reads = reads || read.starts_with(inside);
      }
    }
    return reads;
  }

  void add_nested(KeyType& type, const std::vector<Told>& functions) {
    const std::vector<KeyField> fields = type.fields;
    for (const KeyField& field : fields) {
      if (field.exempt || !is_read_by_members(field.name, functions)) continue;
      const std::string inside = field.name + '.';
      std::vector<KeyField> members;
      for (const TypedKeyField& one : functions.front().key->fields) {
        if (!one.name.starts_with(inside)) continue;
        const std::string name = one.name.substr(inside.size());
        if (name.find('.') != name.npos) continue;
        members.push_back({one.name, field.place, one.exempt || is_exempt_key_field(name)});
      }
      if (members.size() < 2) continue;
      std::erase_if(type.fields, [&](const KeyField& one) { return one.name == field.name; });
      for (const KeyField& member : members) type.fields.push_back(member);
      type.typed = true;
      for (FileRecords& file : files_) {
        for (KeyFunction& function : file.keys.functions) {
          if (function.type == type.name) add_words(function, field.name, members, functions);
        }
      }
    }
  }

  // A member counts as read where the text has its name, too: of a statement that libclang doesn't
  // understand it tells nothing.
  static void add_words(KeyFunction& function, const std::string& field,
                        const std::vector<KeyField>& members, const std::vector<Told>& functions) {
    const auto told = std::find_if(functions.begin(), functions.end(),
                                   [&](const Told& one) { return one.function == &function; });
    for (const KeyField& member : members) {
      const std::string name = member.name.substr(field.size() + 1);
      const bool is_told = told != functions.end();
      if (is_told ? function.words.contains(name) : function.words.contains(field)) {
        function.words.insert(member.name);
      }
    }
  }

  std::vector<FileRecords>& files_;
  std::map<std::string, std::vector<KeyType*>, std::less<>> types_;
};

}  // namespace

void settle_keys(const std::vector<TypedFile>& answers, std::vector<FileRecords>& files) {
  KeySettler(files).settle(answers);
}

}  // namespace opseal
