#include "analyzers/sources/agreeing_tables.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Smaller ones are no tables.
constexpr std::size_t fewest_entries = 4;
constexpr std::size_t most_entries = 1024;
// Of one that says by its length what it is a table of.
constexpr std::size_t fewest_by_position = 2;
// Enumerations that share a name.
constexpr std::size_t most_of_a_name = 16;

// What a text token holds between its quotes; empty where it is no plain text.
std::string_view content_of(const Token& token) {
  const std::string_view text = token.text;
  if (!token.is_string() || text.size() < 2 || text.front() != '"' || text.back() != '"') return {};
  return text.substr(1, text.size() - 2);
}

// Stands for none of the values, or for how many there are.
bool is_outside(std::string_view enumerator) {
  static constexpr std::array<std::string_view, 31> words{
      "not",     "uninitialized", "null",        "illegal",  "count",   "max",   "min",
      "num",     "last",          "first",       "end",      "begin",   "none",  "unknown",
      "invalid", "undefined",     "unspecified", "unset",    "default", "auto",  "any",
      "all",     "reserved",      "deprecated",  "sentinel", "size",    "total", "custom",
      "removed", "unknow",        "unsupported"};
  // The last word of `GGML_OP_COUNT` and `kInvalidType`, and the whole of `NumKinds`.
  std::string word;
  std::vector<std::string> found;
  for (std::size_t at = 0; at < enumerator.size(); ++at) {
    const char byte = enumerator[at];
    const bool upper = byte >= 'A' && byte <= 'Z';
    const bool after_lower = at > 0 && enumerator[at - 1] >= 'a' && enumerator[at - 1] <= 'z';
    if (byte == '_' || (upper && after_lower)) {
      if (!word.empty()) found.push_back(lower(word));
      word.clear();
    }
    if (byte != '_') word += byte;
  }
  if (!word.empty()) found.push_back(lower(word));
  return std::any_of(found.begin(), found.end(), [](const std::string& one) {
    return std::find(words.begin(), words.end(), one) != words.end();
  });
}

struct FoundTable {
  KindTable table;
  std::vector<std::string_view> enumerators;
  // `A` of `A::b` where all are qualified by it.
  std::string_view qualifier;
};

class TableReader {
 public:
  explicit TableReader(const CodeFunctions& code) : code_(code) {}

  std::vector<FoundTable> read() {
    for (const auto& file : code_.files()) {
      for (const EnumeratorTable& table : file->tables) add_table(table);
    }
    for (const auto& function : code_.functions()) {
      tokens_ = code_.tokens_of(*function);
      read_switches(*function);
      read_comparisons(*function);
    }
    return std::move(found_);
  }

 private:
  SourcePlace place(std::uint32_t file, std::uint32_t token) const {
    const CodeFile& of = *code_.files()[file];
    return {of.number, of.unit.tokens[token].offset, of.unit.tokens[token].length};
  }

  void add_entry(FoundTable& found, std::uint32_t file, std::uint32_t token,
                 std::string_view text) const {
    const std::vector<Token>& tokens = code_.files()[file]->unit.tokens;
    std::string_view qualifier;
    if (token >= 2 && tokens[token - 1].is("::")) qualifier = tokens[token - 2].text;
    if (found.enumerators.empty()) found.qualifier = qualifier;
    if (found.qualifier != qualifier) found.qualifier = {};
    found.enumerators.push_back(tokens[token].text);
    found.table.entries.push_back(
        {{std::string(tokens[token].text), place(file, token)}, std::string(text)});
  }

  void add_table(const EnumeratorTable& table) {
    FoundTable found;
    found.table.name = {std::string(table.name), place(table.file, table.name_token)};
    for (const EnumeratorRow& row : table.rows) {
      if (row.text.size() < 2 || row.text.front() != '"') return;
      add_entry(found, table.file, row.token, row.text.substr(1, row.text.size() - 2));
    }
    // A map may be of what a device has, unless it is called names.
    const bool has_names = lower(table.name).find("name") != std::string::npos;
    found.table.parses = table.reversed;
    found.table.partial = table.reversed || (!table.designated && !has_names);
    if (found.enumerators.size() >= fewest_entries) found_.push_back(std::move(found));
  }

  // The one text that is given back.
  std::string_view returned_text(const Statement& statement) const {
    const TokenRange range = statement.tokens;
    if (statement.kind == StatementKind::block && !statement.body.empty()) {
      return returned_text(statement.body.front());
    }
    if (statement.kind != StatementKind::returns || range.end != range.begin + 1) return {};
    return content_of(tokens_[range.begin]);
  }

  void read_switches(const CodeFunction& function) {
    for (const Statement& statement : function.statements) {
      if (statement.kind != StatementKind::switch_) continue;
      FoundTable found;
      found.table.name = {function.name, place(function.file, function.name_token)};
      std::vector<std::uint32_t> labels;
      bool is_table = true;
      for (const Statement& part : statement.body) {
        if (part.kind == StatementKind::case_label) {
          if (part.tokens.empty()) return;
          labels.push_back(part.tokens.end - 1);
          continue;
        }
        if (part.kind == StatementKind::default_label) {
          // What the rest is called is no name of one; labels above it fall into it.
          labels.clear();
          labels.push_back(no_token);
          continue;
        }
        if (part.kind == StatementKind::breaks || labels.empty()) continue;
        const std::string_view text = returned_text(part);
        for (const std::uint32_t label : labels) {
          if (label == no_token) continue;
          if (text.empty()) is_table = false;
          if (found.enumerators.size() == most_entries) return;
          add_entry(found, function.file, label, text);
        }
        labels.clear();
      }
      if (is_table && found.enumerators.size() >= fewest_entries) {
        found_.push_back(std::move(found));
      }
    }
  }

  // `if (text == "a") return A;`, `else if (!strcmp(text, "a")) return A;`
  void read_comparisons(const CodeFunction& function) {
    FoundTable found;
    found.table.name = {function.name, place(function.file, function.name_token)};
    for (const Statement& first : function.statements) {
      const Statement* statement = &first;
      while (statement != nullptr && statement->kind == StatementKind::if_) {
        add_comparison(*statement, function.file, found);
        statement = statement->otherwise.size() == 1 ? &statement->otherwise.front() : nullptr;
      }
    }
    found.table.partial = true;
    found.table.parses = true;
    if (found.enumerators.size() >= fewest_entries) found_.push_back(std::move(found));
  }

  void add_comparison(const Statement& statement, std::uint32_t file, FoundTable& found) const {
    const Statement* body = statement.body.empty() ? nullptr : &statement.body.front();
    if (body != nullptr && body->kind == StatementKind::block && body->body.size() == 1) {
      body = &body->body.front();
    }
    if (body == nullptr || body->kind != StatementKind::returns || body->tokens.empty()) return;
    const std::uint32_t last = body->tokens.end - 1;
    for (std::uint32_t at = body->tokens.begin; at <= last; ++at) {
      if (!tokens_[at].is_identifier() && !tokens_[at].is("::")) return;
    }
    if (found.enumerators.size() >= most_entries) return;
    for (std::uint32_t at = statement.tokens.begin; at < statement.tokens.end; ++at) {
      const std::string_view text = content_of(tokens_[at]);
      if (!text.empty()) add_entry(found, file, last, text);
    }
  }

  const CodeFunctions& code_;
  Tokens tokens_;
  std::vector<FoundTable> found_;
};

// Enumerations by one of their enumerators.
class EnumerationIndex {
 public:
  void add(const CodeFunctions& code) {
    for (const auto& one : code.enumerations()) {
      for (const std::string_view name : one->enumerators) {
        std::vector<const CodeEnumeration*>& same = by_name_[name];
        if (same.size() < most_of_a_name) same.push_back(one.get());
      }
    }
  }
  bool knows(std::string_view enumerator) const { return by_name_.contains(enumerator); }

  // The one that has all of them; null where there is none, or several that differ.
  const CodeEnumeration* of(const FoundTable& found) const {
    const auto same = by_name_.find(found.enumerators.front());
    if (same == by_name_.end()) return nullptr;
    const CodeEnumeration* only = nullptr;
    for (const CodeEnumeration* one : same->second) {
      if (!found.qualifier.empty() && !one->name.empty() && one->name != found.qualifier) continue;
      const std::set<std::string_view>& names = names_of(*one);
      const bool has_all = std::all_of(found.enumerators.begin(), found.enumerators.end(),
                                       [&](std::string_view name) { return names.contains(name); });
      if (!has_all) continue;
      if (only != nullptr && only->enumerators != one->enumerators) return nullptr;
      if (only == nullptr) only = one;
    }
    return only;
  }

 private:
  const std::set<std::string_view>& names_of(const CodeEnumeration& one) const {
    const auto [place, is_new] = names_.try_emplace(&one);
    if (is_new) place->second.insert(one.enumerators.begin(), one.enumerators.end());
    return place->second;
  }

  mutable std::map<const CodeEnumeration*, std::set<std::string_view>> names_;
  std::map<std::string_view, std::vector<const CodeEnumeration*>> by_name_;
};

// `const char* names[COUNT] = {"a", "b"}`: texts by position.
struct PositionalReader {
  const CodeFunctions& code;
  const EnumerationIndex& index;

  // `counters` gets the values that are lengths of tables.
  void read(std::map<const CodeEnumeration*, std::vector<KindTable>>& tables,
            std::map<const CodeEnumeration*, std::set<std::string_view>>& counters) const {
    for (const auto& file : code.files()) {
      const std::vector<Token>& tokens = file->unit.tokens;
      for (std::uint32_t open = 4; open < tokens.size(); ++open) {
        if (!tokens[open].is('{') || !tokens[open - 1].is('=') || !tokens[open - 2].is(']')) {
          continue;
        }
        const std::uint32_t bracket = file->partners[open - 2];
        const std::uint32_t close = file->partners[open];
        if (bracket == no_token || bracket == 0 || bracket >= open || close == no_token) continue;
        read_one(*file, bracket, open, close, tables, counters);
      }
    }
  }

  void read_one(const CodeFile& file, std::uint32_t bracket, std::uint32_t open,
                std::uint32_t close,
                std::map<const CodeEnumeration*, std::vector<KindTable>>& tables,
                std::map<const CodeEnumeration*, std::set<std::string_view>>& counters) const {
    const std::vector<Token>& tokens = file.unit.tokens;
    // The length is a value of the enumeration, cast or not, and nothing else.
    FoundTable length;
    for (std::uint32_t at = bracket + 1; at + 2 < open; ++at) {
      if (tokens[at].is('+') || tokens[at].is('-') || tokens[at].kind == TokenKind::number) return;
      if (!tokens[at].is_identifier() || !index.knows(tokens[at].text)) continue;
      length.enumerators.push_back(tokens[at].text);
      if (at >= 2 && tokens[at - 1].is("::")) length.qualifier = tokens[at - 2].text;
    }
    if (length.enumerators.size() != 1) return;
    const CodeEnumeration* enumeration = index.of(length);
    if (enumeration == nullptr || !enumeration->sequential) return;
    const auto counter = std::find(enumeration->enumerators.begin(), enumeration->enumerators.end(),
                                   length.enumerators.front());
    if (counter == enumeration->enumerators.end()) return;
    KindTable table;
    const Token& name = tokens[bracket - 1];
    table.name = {std::string(name.text), {file.number, name.offset, name.length}};
    table.positional = true;
    auto kind = enumeration->enumerators.begin();
    bool expects_text = true;
    for (std::uint32_t at = open + 1; at < close; ++at) {
      if (tokens[at].is(',')) {
        expects_text = true;
        continue;
      }
      // Texts side by side are one; anything else than texts is another kind of table.
      if (!tokens[at].is_string()) return;
      if (!expects_text) continue;
      expects_text = false;
      if (kind == counter) return;
      table.entries.push_back(
          {{std::string(*kind++), {file.number, tokens[at].offset, tokens[at].length}},
           std::string(content_of(tokens[at]))});
    }
    if (table.entries.size() >= fewest_by_position) {
      tables[enumeration].push_back(std::move(table));
      // The last of them counts those before it, whatever it is called.
      if (counter + 1 == enumeration->enumerators.end()) counters[enumeration].insert(*counter);
    }
  }
};

// `names[COUNT] = {"a"`, where `at` is that of the closing bracket.
bool begins_texts_by_position(std::string_view bytes, std::size_t at) {
  if (at == 0) return false;
  const char last = bytes[at - 1];
  const bool is_word = (last >= 'a' && last <= 'z') || (last >= 'A' && last <= 'Z');
  const std::size_t first = bytes.find_first_not_of(" \t\r\n", bytes.find('{', at) + 1);
  return is_word && first != bytes.npos && bytes[first] == '"';
}

// Beside its texts a line has a word: `{"f32", F32},`, and not `"a long text "`.
bool has_word_beside_texts(std::string_view line) {
  bool in_text = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (in_text && line[at] == '\\') {
      ++at;
    } else if (line[at] == '"') {
      in_text = !in_text;
    } else if (!in_text && line.substr(at).starts_with("//")) {
      return false;
    } else if (!in_text && at + 1 < line.size() && is_word_byte(line[at]) &&
               is_word_byte(line[at + 1]) && (line[at] < '0' || line[at] > '9')) {
      return true;
    }
  }
  return false;
}

// `kind & ~GUESSED`: a bit beside the values.
std::set<std::string_view> masked_names(const CodeFunctions& code) {
  std::set<std::string_view> names;
  for (const auto& file : code.files()) {
    const std::vector<Token>& tokens = file->unit.tokens;
    for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
      if (tokens[at].is('~') && tokens[at + 1].is_identifier()) names.insert(tokens[at + 1].text);
    }
  }
  return names;
}

}  // namespace

bool may_hold_agreeing_tables(std::string_view bytes) {
  constexpr std::size_t fewest_lines = fewest_entries;
  constexpr std::string_view row = "] = {";
  for (std::size_t at = bytes.find(row); at != bytes.npos; at = bytes.find(row, at + 1)) {
    if (begins_texts_by_position(bytes, at)) return true;
  }
  std::size_t lines = 0;
  for (std::size_t quote_at = bytes.find('"'); quote_at != bytes.npos;) {
    const std::size_t before = bytes.rfind('\n', quote_at);
    std::size_t begin = before == bytes.npos ? 0 : before + 1;
    std::size_t end = bytes.find('\n', quote_at);
    if (end == bytes.npos) end = bytes.size();
    while (begin < end && (bytes[begin] == ' ' || bytes[begin] == '\t')) ++begin;
    const std::string_view line = bytes.substr(begin, end - begin);
    if (line.find("] = {") != line.npos) {
      lines += static_cast<std::size_t>(std::count(line.begin(), line.end(), '"')) / 2;
      if (lines >= fewest_lines) return true;
    } else if (((line.starts_with('[') || line.starts_with('{') || line.starts_with('"')) &&
                has_word_beside_texts(line)) ||
               line.starts_with("case ") || line.starts_with("return \"") ||
               line.find("== \"") != line.npos || line.find("strcmp") != line.npos) {
      if (++lines >= fewest_lines) return true;
    }
    quote_at = bytes.find('"', end);
  }
  return false;
}

std::vector<std::string> unknown_enumerators(const CodeFunctions& code) {
  EnumerationIndex index;
  index.add(code);
  std::set<std::string> names;
  for (const FoundTable& found : TableReader(code).read()) {
    // One is enough to find the enumeration.
    if (!index.knows(found.enumerators.front())) names.emplace(found.enumerators.front());
  }
  for (const auto& file : code.files()) {
    const std::vector<Token>& tokens = file->unit.tokens;
    for (std::uint32_t open = 4; open + 1 < tokens.size(); ++open) {
      const bool is_row = tokens[open].is('{') && tokens[open - 1].is('=') &&
                          tokens[open - 2].is(']') && tokens[open + 1].is_string();
      if (is_row && tokens[open - 3].is_identifier() && !index.knows(tokens[open - 3].text)) {
        names.emplace(tokens[open - 3].text);
      }
    }
  }
  return {names.begin(), names.end()};
}

std::vector<AgreeingTables> find_agreeing_tables(const CodeFunctions& code,
                                                 const CodeFunctions& headers) {
  EnumerationIndex index;
  index.add(code);
  index.add(headers);
  std::map<const CodeEnumeration*, std::vector<KindTable>> tables;
  for (FoundTable& found : TableReader(code).read()) {
    const CodeEnumeration* enumeration = index.of(found);
    if (enumeration != nullptr) tables[enumeration].push_back(std::move(found.table));
  }
  std::map<const CodeEnumeration*, std::set<std::string_view>> counters;
  PositionalReader{code, index}.read(tables, counters);
  const std::set<std::string_view> masked = masked_names(code);
  std::vector<AgreeingTables> all;
  for (auto& [enumeration, some] : tables) {
    AgreeingTables one;
    one.enumeration = enumeration->name;
    const SourcePlace place = some.front().name.place;
    std::size_t at = 0;
    for (const std::string_view name : enumeration->enumerators) {
      const KindName kind{std::string(name), place};
      one.kinds.push_back(kind);
      if (enumeration->is_alias[at++]) {
        one.exceptions.emplace_back(kind, "another name for a value before it");
      } else if (is_outside(name) || masked.contains(name) ||
                 counters[enumeration].contains(name)) {
        one.exceptions.emplace_back(kind, "stands for no value of its own");
      }
    }
    // Whether the build has all of them isn't known.
    if (!enumeration->sequential && enumeration->enumerators.size() > most_entries) continue;
    one.tables = std::move(some);
    all.push_back(std::move(one));
  }
  std::sort(all.begin(), all.end(), [](const AgreeingTables& a, const AgreeingTables& b) {
    const SourcePlace& left = a.tables.front().name.place;
    const SourcePlace& right = b.tables.front().name.place;
    if (left.file != right.file) return left.file < right.file;
    return left.offset < right.offset;
  });
  return all;
}

void write_agreeing_tables(const std::vector<AgreeingTables>& all, PlacedWriter& writer) {
  for (const AgreeingTables& one : all) {
    const SourcePlace& place = one.tables.front().name.place;
    const std::uint32_t row = writer.open(Key::none, NodeType::object, place);
    writer.text(Key::operator_, one.enumeration.empty() ? "enum" : one.enumeration, place);
    const std::uint32_t agree = writer.open(Key::agree, NodeType::list, place);
    for (const KindTable& table : one.tables) {
      const std::uint32_t item = writer.open(Key::none, NodeType::object, table.name.place);
      writer.text(Key::name, table.name.name, table.name.place);
      writer.text(Key::match,
                  table.rows         ? "row"
                  : table.joined     ? "joined"
                  : table.defined    ? "defined"
                  : table.positional ? "position"
                  : table.parses     ? "text"
                  : table.partial    ? "some"
                                     : "name",
                  table.name.place);
      const std::uint32_t entries = writer.open(Key::entries, NodeType::list, table.name.place);
      for (const NamedKind& entry : table.entries) {
        const std::uint32_t part = writer.open(Key::none, NodeType::object, entry.kind.place);
        writer.text(Key::kind, entry.kind.name, entry.kind.place);
        writer.text(Key::kernel, entry.text, entry.kind.place);
        writer.close(part);
      }
      writer.close(entries);
      writer.close(item);
    }
    writer.close(agree);
    if (one.kinds.empty()) {
      writer.close(row);
      continue;
    }
    const std::uint32_t exceptions = writer.open(Key::exceptions, NodeType::list, place);
    for (const auto& [kind, reason] : one.exceptions) {
      const std::uint32_t item = writer.open(Key::none, NodeType::object, kind.place);
      writer.text(Key::kind, kind.name, kind.place);
      writer.text(Key::reason, reason, kind.place);
      writer.close(item);
    }
    writer.close(exceptions);
    const std::uint32_t kinds = writer.open(Key::kinds, NodeType::list, place);
    for (const KindName& kind : one.kinds) writer.text(Key::none, kind.name, kind.place);
    writer.close(kinds);
    writer.close(row);
  }
}

}  // namespace opseal
