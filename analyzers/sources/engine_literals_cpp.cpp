// `const std::unordered_map<std::string, Fn> table = {{"add", add}, …}` and what the file asks of
// it.

#include <algorithm>
#include <map>

#include "analyzers/sources/engines_cpp.h"

namespace opseal {
namespace {

constexpr std::size_t most_rows = 20000;
// Tables of tables within each other.
constexpr std::size_t most_nested = 8;

bool is_map_word(const Token& token) {
  return token.is_identifier() && (token.is("map") || token.is("unordered_map"));
}

// The brace that opens the rows of a constant map, behind its name; no_token where it isn't one.
std::uint32_t rows_of(Tokens tokens, std::uint32_t map, std::uint32_t& name) {
  constexpr std::uint32_t most = 200;
  bool constant = false;
  for (std::uint32_t back = map; back > 0 && map - back < 8; --back) {
    const Token& before = tokens[back - 1];
    if (before.is(';') || before.is('}') || before.is('{')) break;
    constant = constant || before.is("const");
  }
  std::uint32_t depth = 0;
  std::uint32_t at = map + 1;
  for (; at < tokens.size() && at < map + most; ++at) {
    if (tokens[at].is('<')) ++depth;
    if (tokens[at].is('>') && --depth == 0) break;
    if (tokens[at].is(';') || tokens[at].is('{')) return no_token;
  }
  name = at + 1;
  if (!constant || name + 2 >= tokens.size() || !tokens[name].is_identifier()) return no_token;
  const std::uint32_t open = tokens[name + 1].is('=') ? name + 2 : name + 1;
  return tokens[open].is('{') ? open : no_token;
}

// `{"add", add}` as an entry; false where the key isn't a literal.
bool read_row(Tokens row, EngineEntry& entry) {
  if (row.size() < 5 || !row.front().is('{') || !row.back().is('}')) return false;
  const std::vector<Tokens> parts = split_call_arguments(row.subspan(1, row.size() - 2));
  if (parts.size() != 2) return false;
  const EngineKeyPart key = engine_key_part(parts[0]);
  if (key.sort.empty()) return false;
  entry.key = key.text;
  entry.exact = key.text;
  entry.sort = key.sort;
  entry.parts = {key.text};
  const bool named = std::all_of(parts[1].begin(), parts[1].end(), [](const Token& token) {
    return token.is_identifier() || token.is("::") || token.is('&');
  });
  if (named) entry.function = text_of(parts[1]).substr(0, 120);
  return true;
}

}  // namespace

void find_cpp_literals(const PlainSource& source, std::uint32_t file,
                       std::vector<Engine>& engines) {
  const Tokens tokens = source.unit.tokens;
  std::map<std::string_view, std::size_t> known;
  std::map<std::string_view, std::size_t> times;
  const std::size_t first = engines.size();
  // Tables within tables are part of each around them.
  std::size_t left = tokens.size() * most_nested;
  for (std::uint32_t at = 0; at + 3 < tokens.size(); ++at) {
    if (!is_map_word(tokens[at]) || !tokens[at + 1].is('<')) continue;
    std::uint32_t name = 0;
    const std::uint32_t open = rows_of(tokens, at, name);
    const std::uint32_t close = open == no_token ? no_token : source.shape.partners[open];
    if (close == no_token || close < open || close - open > left) continue;
    left -= close - open;
    ++times[tokens[name].text];
    Engine engine;
    engine.name = tokens[name].text;
    engine.place = {file, tokens[name].offset, tokens[name].length};
    engine.on_duplicate = "ignore";
    std::map<std::string, std::size_t> rows;
    for (const Tokens row : split_call_arguments(tokens.subspan(open + 1, close - open - 1))) {
      EngineEntry entry;
      // Behind the last comma.
      if (row.empty()) continue;
      if (engine.entries.size() > most_rows || !read_row(row, entry)) {
        engine.known = false;
        continue;
      }
      // Rows that a condition chooses are no rows of one build.
      if (row.front().condition != tokens[name].condition) engine.known = false;
      entry.when = source.unit.condition_of(row.front());
      entry.place = {file, row[1].offset, row[1].length};
      ++rows[entry.key];
      engine.entries.push_back(std::move(entry));
    }
    std::size_t functions = 0;
    for (EngineEntry& entry : engine.entries) {
      if (!entry.function.empty()) ++functions;
      entry.logged = rows[entry.key] > 1 && !entry.function.empty();
    }
    if (functions * 2 < engine.entries.size()) continue;
    known[tokens[name].text] = engines.size();
    engines.push_back(std::move(engine));
  }
  for (std::uint32_t at = 0; at + 3 < tokens.size() && engines.size() > first; ++at) {
    const bool asks = tokens[at].is_identifier() && tokens[at + 1].is('.') &&
                      tokens[at + 2].is("at") && tokens[at + 3].is('(');
    if (!asks) continue;
    const auto found = known.find(tokens[at].text);
    const std::uint32_t close = source.shape.partners[at + 3];
    if (found == known.end() || times[tokens[at].text] > 1 || close == no_token) continue;
    const EngineKeyPart key = engine_key_part(tokens.subspan(at + 4, close - at - 4));
    if (key.sort.empty() || is_in_try(source.unit, source.shape, source.scope_of(at))) continue;
    const std::uint32_t length = tokens[close].offset + tokens[close].length - tokens[at].offset;
    engines[found->second].lookups.push_back(
        {key.text, key.sort, {file, tokens[at].offset, length}});
  }
}

}  // namespace opseal
