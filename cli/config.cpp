// `opseal.toml`. The only file that knows toml++.

#include "cli/config.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string_view>

// Errors are values here, so that no exception of another library leaves this file.
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "analyzers/byte_source.h"
#include "cli/settings.h"
#include "opseal/ascii.h"
#include "opseal/text.h"
#include "rules/fleet_words.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

constexpr std::string_view config_keys[] = {
    "profile",  "select",  "ignore", "fail-on", "exclude", "platforms", "architectures",
    "severity", "silence", "join",   "cache",   "macros",  "pair",      "tier"};
constexpr std::string_view cache_keys[] = {"name",  "directory", "entry",  "library",
                                           "match", "hash",      "digits", "parts"};
constexpr std::string_view cache_matches[] = {"exact", "prefix"};
constexpr std::string_view cache_hashes[] = {"sha256", "xxh128"};
constexpr std::string_view pair_keys[] = {"name", "predicate", "dispatch", "noop", "noreturn"};
constexpr std::string_view part_keys[] = {"text", "file", "digest_of"};
constexpr std::string_view silence_keys[] = {"rule", "subject", "reason"};
constexpr std::string_view tiers[] = {"lexed", "typed"};
constexpr std::string_view profiles[] = {"default", "strict", "audit"};
constexpr std::string_view severities[] = {"error", "warning", "note"};
constexpr std::string_view fail_words[] = {"error", "warning", "note", "never"};

class ConfigReader {
 public:
  ConfigReader(std::string path, std::string bytes) {
    config_.file.path = std::move(path);
    config_.file.bytes = std::move(bytes);
    config_.file.size = config_.file.bytes.size();
  }

  Config read() {
    const toml::parse_result parsed =
        toml::parse(std::string_view(config_.file.bytes), std::string_view(config_.file.path));
    if (!parsed) fail(parsed.error().source().begin, std::string(parsed.error().description()));
    const toml::table& table = parsed.table();
    for (const auto& [key, node] : table) read_key(key.str(), key.source().begin, node);
    return std::move(config_);
  }

 private:
  void read_key(std::string_view key, const toml::source_position& where, const toml::node& node) {
    if (key == "profile") {
      config_.profile = word(node, key, profiles);
    } else if (key == "fail-on") {
      config_.fail_on = word(node, key, fail_words);
    } else if (key == "tier") {
      config_.tier = word(node, key, tiers);
    } else if (key == "select") {
      config_.select = texts(node, key);
    } else if (key == "ignore") {
      config_.ignore = texts(node, key);
    } else if (key == "exclude") {
      config_.exclude = texts(node, key);
    } else if (key == "platforms") {
      config_.platforms = texts(node, key);
    } else if (key == "architectures") {
      config_.architectures = texts(node, key);
      check_fleet(*node.as_array());
    } else if (key == "severity") {
      read_severity(node);
    } else if (key == "silence") {
      read_silence(node);
    } else if (key == "join") {
      read_join(node);
    } else if (key == "cache") {
      read_caches(node);
    } else if (key == "macros") {
      read_macros(node);
    } else if (key == "pair") {
      read_pairs(node);
    } else {
      fail(where, "unknown key " + quote(key) + did_you_mean(key, config_keys));
    }
  }

  // A fleet that isn't understood must not pass for one that is served.
  void check_fleet(const toml::array& texts) const {
    for (const toml::node& text : texts) {
      const std::string mistake = fleet_mistake(text.as_string()->get());
      if (!mistake.empty()) fail(text.source().begin, mistake);
    }
  }

  void read_severity(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) fail(node.source().begin, "`severity` is a table of rule = severity");
    for (const auto& [rule, value] : *table) {
      config_.severity.emplace_back(place(std::string(rule.str()), rule.source()),
                                    word(value, rule.str(), severities));
    }
  }

  void read_silence(const toml::node& node) {
    const toml::array* array = node.as_array();
    if (array == nullptr || !array->is_array_of_tables()) {
      fail(node.source().begin, "`silence` is a list of tables: [[silence]]");
    }
    for (const toml::node& item : *array) {
      Silence silence;
      for (const auto& [key, value] : *item.as_table()) {
        if (key == "rule") {
          silence.rule = text(value, key.str());
        } else if (key == "subject") {
          silence.subject = text(value, key.str()).value;
        } else if (key == "reason") {
          silence.reason = text(value, key.str()).value;
        } else {
          fail(key.source().begin, "unknown key " + quote(key.str()) + " in `silence`" +
                                       did_you_mean(key.str(), silence_keys));
        }
      }
      // A finding that is kept quiet for a reason nobody wrote down is found again by nobody.
      if (silence.rule.value.empty() || silence.reason.empty()) {
        fail(item.source().begin, "`silence` needs `rule` and `reason`");
      }
      config_.silence.push_back(std::move(silence));
    }
  }

  void read_join(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr)
      fail(node.source().begin, "`join` is a table of name = names of the same operator");
    for (const auto& [name, others] : *table) {
      std::vector<ConfigText> names{place(std::string(name.str()), name.source())};
      if (others.is_string()) {
        names.push_back(text(others, name.str()));
      } else {
        for (ConfigText& other : texts(others, name.str())) names.push_back(std::move(other));
      }
      if (names.size() < 2)
        fail(others.source().begin, quote(name.str()) + " is joined to nothing");
      config_.joins.push_back(std::move(names));
    }
    // toml++ sorts by name; what is stated later in the file stands later.
    std::sort(config_.joins.begin(), config_.joins.end(),
              [](const auto& a, const auto& b) { return a.front().offset < b.front().offset; });
  }

  void read_macros(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) fail(node.source().begin, "`macros` is a table of macro = what it means");
    for (const auto& [key, value] : *table) {
      const std::string head(key.str());
      if (!is_macro_head(head)) {
        fail(key.source().begin,
             quote(head) + " is no macro, expected `NAME` or `NAME(parameters)`");
      }
      std::string body = text(value, key.str()).value;
      // A definition ends with its line.
      std::replace(body.begin(), body.end(), '\n', ' ');
      std::replace(body.begin(), body.end(), '\r', ' ');
      config_.macros.emplace_back(place(head, key.source()), std::move(body));
    }
  }

  // `NAME`, `NAME(a, b)`, `NAME(...)`.
  static bool is_macro_head(std::string_view head) {
    std::size_t end = 0;
    const auto is_word = [](char c) {
      return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    while (end < head.size() && is_word(head[end])) ++end;
    if (end == 0 || is_digit(head[0])) return false;
    if (end == head.size()) return true;
    return head[end] == '(' && head.ends_with(')') &&
           std::all_of(
               head.begin() + static_cast<std::ptrdiff_t>(end) + 1, head.end() - 1,
               [&is_word](char c) { return is_word(c) || c == ',' || c == ' ' || c == '.'; });
  }

  void read_caches(const toml::node& node) {
    const toml::array* array = node.as_array();
    if (array == nullptr || !array->is_array_of_tables()) {
      fail(node.source().begin, "`cache` is a list of tables: [[cache]]");
    }
    for (const toml::node& item : *array) {
      CacheDescription cache;
      for (const auto& [key, value] : *item.as_table()) {
        read_cache_key(key.str(), key.source().begin, value, cache);
      }
      check_cache(item.source().begin, cache);
      config_.caches.push_back(std::move(cache));
    }
  }

  void read_pairs(const toml::node& node) {
    const toml::array* array = node.as_array();
    if (array == nullptr || !array->is_array_of_tables()) {
      fail(node.source().begin, "`pair` is a list of tables: [[pair]]");
    }
    for (const toml::node& item : *array) {
      PairDescription pair;
      for (const auto& [key, value] : *item.as_table()) {
        read_pair_key(key.str(), key.source().begin, value, pair);
      }
      if (pair.name.empty() || pair.predicate.empty() || pair.dispatch.empty()) {
        fail(item.source().begin, "`pair` needs `name`, `predicate` and `dispatch`");
      }
      config_.pairs.push_back(std::move(pair));
    }
  }

  void read_pair_key(std::string_view key, const toml::source_position& where,
                     const toml::node& value, PairDescription& pair) {
    if (key == "name") {
      pair.name = text(value, key).value;
    } else if (key == "predicate") {
      pair.predicate = text(value, key).value;
    } else if (key == "dispatch") {
      for (ConfigText& one : texts(value, key)) pair.dispatch.push_back(std::move(one.value));
    } else if (key == "noop") {
      for (ConfigText& one : texts(value, key)) pair.noop.push_back(std::move(one.value));
    } else if (key == "noreturn") {
      for (ConfigText& one : texts(value, key)) pair.never_return.push_back(std::move(one.value));
    } else {
      fail(where, "unknown key " + quote(key) + " in `pair`" + did_you_mean(key, pair_keys));
    }
  }

  void read_cache_key(std::string_view key, const toml::source_position& where,
                      const toml::node& value, CacheDescription& cache) {
    if (key == "name") {
      cache.name = text(value, key).value;
    } else if (key == "directory") {
      cache.directory = text(value, key).value;
    } else if (key == "entry") {
      cache.entry = text(value, key).value;
    } else if (key == "library") {
      cache.library = text(value, key).value;
    } else if (key == "match") {
      cache.match = word(value, key, cache_matches);
    } else if (key == "hash") {
      cache.hash = word(value, key, cache_hashes);
    } else if (key == "digits") {
      const auto digits = value.value_exact<std::int64_t>().value_or(0);
      if (digits < 8 || digits > 64)
        fail(value.source().begin, "`digits` is a number from 8 to 64");
      cache.digits = static_cast<std::size_t>(digits);
    } else if (key == "parts") {
      read_cache_parts(value, cache);
    } else {
      fail(where, "unknown key " + quote(key) + " in `cache`" + did_you_mean(key, cache_keys));
    }
  }

  void read_cache_parts(const toml::node& node, CacheDescription& cache) {
    const toml::array* array = node.as_array();
    if (array == nullptr || !array->is_array_of_tables()) {
      fail(node.source().begin, "`parts` is a list of tables");
    }
    for (const toml::node& item : *array) {
      const toml::table& table = *item.as_table();
      if (table.size() != 1) {
        fail(item.source().begin, "a part has one key, `text`, `file` or `digest_of`");
      }
      // The pair is kept in the iterator.
      const auto only = table.begin();
      const auto& [key, value] = *only;
      CachePart part;
      if (key == "file") {
        part.kind = CachePart::Kind::file;
      } else if (key == "digest_of") {
        part.kind = CachePart::Kind::digest_of;
      } else if (key != "text") {
        fail(key.source().begin, "unknown key " + quote(key.str()) + " in `parts`" +
                                     did_you_mean(key.str(), part_keys));
      }
      part.value = text(value, key.str()).value;
      cache.parts.push_back(std::move(part));
    }
  }

  void check_cache(const toml::source_position& where, CacheDescription& cache) const {
    if (cache.name.empty() || cache.directory.empty() || cache.entry.empty()) {
      fail(where, "`cache` needs `name`, `directory` and `entry`");
    }
    for (const std::string_view mark : {"{name}", "{key}"}) {
      if (cache.entry.find(mark) != cache.entry.rfind(mark)) {
        fail(where, "`entry` has " + quote(mark) + " twice, expected once at most");
      }
    }
    const bool keyed = cache.entry.find("{key}") != std::string::npos;
    if (!keyed && cache.entry.find("{name}") == std::string::npos) {
      fail(where, "`entry` has neither `{name}` nor `{key}`");
    }
    if (!keyed && !cache.parts.empty()) fail(where, "`parts` without `{key}` in `entry`");
    const std::size_t most = full_digits(cache.hash);
    if (cache.digits > most) {
      fail(where, "`digits` is " + std::to_string(cache.digits) + ", and " + quote(cache.hash) +
                      " has " + std::to_string(most));
    }
    if (cache.digits == 0) cache.digits = most;
  }

  ConfigText text(const toml::node& node, std::string_view key) {
    if (!node.is_string()) fail(node.source().begin, quote(key) + " is a text");
    return place(node.as_string()->get(), node.source());
  }

  std::string word(const toml::node& node, std::string_view key,
                   std::span<const std::string_view> words) {
    const ConfigText given = text(node, key);
    for (const std::string_view known : words) {
      if (known == given.value) return given.value;
    }
    std::vector<std::string> all(words.begin(), words.end());
    fail(node.source().begin, quote(given.value) + " is no value of " + quote(key) +
                                  ", expected one of " + quote_list(all, all.size()));
  }

  std::vector<ConfigText> texts(const toml::node& node, std::string_view key) {
    const toml::array* array = node.as_array();
    if (array == nullptr) fail(node.source().begin, quote(key) + " is a list of texts");
    std::vector<ConfigText> out;
    for (const toml::node& item : *array) out.push_back(text(item, key));
    return out;
  }

  ConfigText place(std::string value, const toml::source_region& region) const {
    ConfigText text;
    text.value = std::move(value);
    text.offset = offset_of(region.begin);
    const std::uint64_t end = offset_of(region.end);
    text.length = end > text.offset ? end - text.offset : 0;
    return text;
  }

  // toml++ counts lines and code points from 1.
  std::uint64_t offset_of(const toml::source_position& where) const {
    const std::string_view bytes = config_.file.bytes;
    std::size_t at = 0;
    for (std::uint32_t line = 1; line < where.line; ++line) {
      const std::size_t end = bytes.find('\n', at);
      if (end == bytes.npos) return bytes.size();
      at = end + 1;
    }
    for (std::uint32_t column = 1; column < where.column && at < bytes.size(); ++column) {
      at += std::max<std::size_t>(1, utf8_length(bytes, at));
    }
    return at;
  }

  [[noreturn]] void fail(const toml::source_position& where, const std::string& message) const {
    std::ostringstream out;
    out << config_.file.path << ':' << where.line << ':' << where.column << ": " << message;
    throw UsageError(out.str());
  }

  Config config_;
};

}  // namespace

std::span<const std::string_view> config_key_names() { return config_keys; }

std::string find_config(const std::string& directory) {
  for (fs::path folder = directory; !folder.empty(); folder = folder.parent_path()) {
    const fs::path candidate = folder / "opseal.toml";
    std::error_code error;
    if (fs::is_regular_file(candidate, error)) return candidate.string();
    if (folder == folder.root_path()) break;
  }
  return {};
}

Config read_config(const std::string& path) {
  // More than this is no configuration; it must not fill the memory.
  constexpr std::size_t most_bytes = 4 << 20;
  ByteSource source = ByteSource::file(path);
  std::string bytes;
  std::array<char, 65536> buffer;
  for (std::size_t got = 0; (got = source.read(buffer.data(), buffer.size())) > 0;) {
    bytes.append(buffer.data(), got);
    if (bytes.size() > most_bytes) throw UsageError(path + ": larger than 4 MiB, no configuration");
  }
  if (!source.error().empty())
    throw UsageError("can't read the configuration " + quote(path) + ": " + source.error());
  return ConfigReader(path, std::move(bytes)).read();
}

}  // namespace opseal
