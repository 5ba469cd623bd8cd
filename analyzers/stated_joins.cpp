#include "opseal/stated_joins.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "opseal/text.h"

namespace opseal {
namespace {

// One way to read a text.
struct Reading {
  std::uint32_t text = 0;
  // Whose registry; `missing` is any.
  Name system = Names::missing;
  // First version served; 0 is any.
  std::uint32_t since = 0;
};

struct JoinText {
  std::uint32_t entry = 0;
  Fact text;
  // The system that the text begins with, or `missing`.
  Name system = Names::missing;
  bool found = false;
};

// Beyond these, a lost name is told without advice: each suggestion looks through all names.
constexpr std::size_t most_suggestions = 8;
constexpr std::size_t most_candidates = 20000;
// Of one name: an operator that stands in more entries is in none of them on purpose.
constexpr std::size_t most_readings = 16;

class JoinReader {
 public:
  explicit JoinReader(const Facts& facts) : facts_(facts) {}

  StatedJoins read() {
    for (const Document& document : facts_.documents) {
      const Fact root = facts_.root(document);
      if (root[Key::system].is_text()) systems_.push_back(root[Key::system].name());
    }
    for (const Document& document : facts_.documents) {
      for (const Fact entry : facts_.root(document)[Key::joins].items()) add_entry(entry);
    }
    if (texts_.empty()) return {};
    for (const Document& document : facts_.documents) {
      const Fact root = facts_.root(document);
      for (const Fact op : root[Key::operators].items()) match(root, op, false);
      for (const Fact target : root[Key::targets].items()) match(root, target, true);
    }
    find_lost();
    return std::move(joins_);
  }

 private:
  void add_entry(const Fact& entry) {
    const auto number = static_cast<std::uint32_t>(joins_.joins.size());
    for (const Fact text : entry.items()) {
      if (!text.is_text()) continue;
      texts_.push_back({number, text});
      read_text(static_cast<std::uint32_t>(texts_.size() - 1), text.text());
    }
    joins_.joins.emplace_back();
  }

  void read_text(std::uint32_t text, std::string_view written) {
    read_qualified(text, written, Names::missing);
    const std::size_t colons = written.find("::");
    if (colons == written.npos) return;
    const Name system = facts_.names.find(written.substr(0, colons));
    if (std::find(systems_.begin(), systems_.end(), system) == systems_.end()) return;
    texts_[text].system = system;
    read_qualified(text, written.substr(colons + 2), system);
  }

  void read_qualified(std::uint32_t text, std::string_view written, Name system) {
    read_parts(text, written, system, 0);
    const std::size_t at = written.rfind('@');
    if (at == written.npos) return;
    std::uint32_t since = 0;
    const char* end = written.data() + written.size();
    const auto [stop, error] = std::from_chars(written.data() + at + 1, end, since);
    if (error == std::errc() && stop == end && since > 0)
      read_parts(text, written.substr(0, at), system, since);
  }

  // The name alone, and each way to part a namespace from it.
  void read_parts(std::uint32_t text, std::string_view written, Name system, std::uint32_t since) {
    add_reading({text, system, since}, written, Names::missing);
    std::size_t at = written.find("::");
    // A name with more parts is none.
    for (int part = 0; at != written.npos && part < 4; ++part) {
      const Name space = facts_.names.find(written.substr(0, at));
      if (space != Names::missing)
        add_reading({text, system, since}, written.substr(at + 2), space);
      at = written.find("::", at + 2);
    }
  }

  static std::uint64_t key_of(Name name, Name space) { return std::uint64_t{name} << 32 | space; }

  void add_reading(const Reading& reading, std::string_view written, Name space) {
    const Name name = facts_.names.find(written);
    if (name == Names::missing) return;
    std::vector<Reading>& readings = readings_[key_of(name, space)];
    if (readings.size() < most_readings) readings.push_back(reading);
  }

  void match(const Fact& manifest, const Fact& item, bool target) {
    const Name name = item[Key::name].name();
    if (name == Names::missing) return;
    match_readings(manifest, item, target, key_of(name, Names::missing));
    const Name space = item[Key::namespace_].name();
    if (space != Names::missing) match_readings(manifest, item, target, key_of(name, space));
  }

  void match_readings(const Fact& manifest, const Fact& item, bool target, std::uint64_t key) {
    const auto found = readings_.find(key);
    if (found == readings_.end()) return;
    for (const Reading& reading : found->second) {
      if (reading.system != Names::missing && reading.system != manifest[Key::system].name())
        continue;
      if (reading.since != 0 && item[Key::versions][Key::since].count() != reading.since) continue;
      JoinText& text = texts_[reading.text];
      text.found = true;
      std::vector<JoinedItem>& items = joins_.joins[text.entry].items;
      // Two readings of one text, or two texts of one entry.
      if (items.empty() || !(items.back().item == item))
        items.push_back({manifest, item, target, text.text});
    }
  }

  void find_lost() {
    for (const JoinText& text : texts_) {
      // Where no registry of that system was given, nobody can say.
      if (text.found || (text.system == Names::missing && begins_with_system(text.text.text())))
        continue;
      LostJoin lost{text.text, {}};
      if (joins_.lost.size() < most_suggestions) lost.nearest = nearest(text);
      joins_.lost.push_back(lost);
    }
  }

  static bool begins_with_system(std::string_view written) {
    for (const std::string_view system :
         {"brainevent", "jax", "braintrace", "torch", "onnxruntime", "tensorflow", "tflite",
          "tensorrt", "ggml", "tvm-ffi", "executorch", "fuel", "paddle", "engine"}) {
      if (written.starts_with(system) && written.substr(system.size()).starts_with("::"))
        return true;
    }
    return false;
  }

  std::string_view nearest(const JoinText& text) const {
    std::string_view wanted = text.text.text();
    if (text.system != Names::missing) wanted = wanted.substr(wanted.find("::") + 2);
    const std::size_t colons = wanted.rfind("::");
    const std::string_view base = colons == wanted.npos ? wanted : wanted.substr(colons + 2);
    std::vector<std::string_view> whole;
    for (const Document& document : facts_.documents) {
      const Fact root = facts_.root(document);
      if (text.system != Names::missing && root[Key::system].name() != text.system) continue;
      for (const Key list : {Key::operators, Key::targets}) {
        for (const Fact item : root[list].items()) {
          if (whole.size() == most_candidates) break;
          if (item[Key::name].is_text()) whole.push_back(item[Key::name].text());
        }
      }
    }
    const std::string_view near = nearest_name(wanted, whole);
    return near.empty() ? nearest_name(base, whole) : near;
  }

  const Facts& facts_;
  StatedJoins joins_;
  std::vector<Name> systems_;
  std::vector<JoinText> texts_;
  // By name and namespace; a namespace that is `missing` is any.
  std::unordered_map<std::uint64_t, std::vector<Reading>> readings_;
};

}  // namespace

StatedJoins read_stated_joins(const Facts& facts) {
  if (!facts.said[static_cast<std::size_t>(Key::joins)]) return {};
  return JoinReader(facts).read();
}

}  // namespace opseal
