#include "analyzers/sources/annotations.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/handler_binding.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::string_view mark = "@BE";
// Tokens of one annotation; nobody has more.
constexpr std::size_t most_tokens = 256;
// Tokens between an annotation and the brackets of the function that it stands above.
constexpr std::uint32_t head_tokens = 24;

// A tensor of the bridge that may be written is a result.
std::string bridge_word(Tokens parameter) {
  const bool tensor = std::any_of(parameter.begin(), parameter.end(),
                                  [](const Token& token) { return token.is("Tensor"); });
  if (tensor) {
    const auto named = std::find_if(parameter.begin(), parameter.end(),
                                    [](const Token& token) { return token.is("Tensor"); });
    const bool constant =
        std::any_of(parameter.begin(), named, [](const Token& token) { return token.is("const"); });
    return constant ? "arg" : "ret";
  }
  if (parameter.size() == 2 && parameter[0].is("int64_t") && parameter[1].is("stream")) {
    return "stream";
  }
  const std::vector<std::string> words = parameter_words(parameter);
  const bool scalar = words.size() == 1 && words[0].starts_with("attr.") &&
                      words[0].find("string") == std::string::npos &&
                      words[0].find("dictionary") == std::string::npos &&
                      words[0].find("span") == std::string::npos;
  return scalar ? words[0] : "?";
}

using Functions = std::unordered_map<std::string_view, const Scope*>;

Functions functions_of(const Invocations& found) {
  Functions functions;
  for (const Scope& scope : found.scopes) {
    if (scope.kind == ScopeKind::function) functions.try_emplace(base_of(scope.name), &scope);
  }
  return functions;
}

class AnnotationReader {
 public:
  AnnotationReader(const SourceUnit& unit, const Invocations& found)
      : unit_(unit), functions_(functions_of(found)) {
    for (const Scope& scope : found.scopes) {
      if (scope.kind == ScopeKind::function) names_.insert(scope.name_token);
    }
  }

  bool read(const SourceComment& comment, AnnotationRecord& record) const {
    std::string_view rest = comment.text;
    if (!rest.starts_with(mark)) return false;
    const std::size_t line = rest.find('\n');
    std::vector<PlacedName> words = words_of(comment, rest.substr(mark.size(), line - mark.size()));
    if (words.empty()) return false;
    record.name = std::move(words.front());
    // What follows the name without a blank is the first token.
    const auto end =
        std::find_if_not(record.name.text.begin(), record.name.text.end(), is_word_byte);
    if (end == record.name.text.begin()) return false;
    const auto length = static_cast<std::size_t>(end - record.name.text.begin());
    if (length < record.name.text.size()) {
      PlacedName token{record.name.text.substr(length), record.name.place};
      record.spec.push_back(std::move(token));
      record.name.text.resize(length);
    }
    record.spec.insert(record.spec.end(), std::make_move_iterator(words.begin() + 1),
                       std::make_move_iterator(words.end()));
    record.place = {unit_.file, comment.offset, comment.length};
    if (comment.next_token < unit_.tokens.size()) {
      record.when = unit_.condition_of(unit_.tokens[comment.next_token]);
    }
    find_function(comment, record);
    return true;
  }

 private:
  std::vector<PlacedName> words_of(const SourceComment& comment, std::string_view text) const {
    std::vector<PlacedName> words;
    if (text.empty() || (text[0] != ' ' && text[0] != '\t')) return words;
    // Where the text stands in the file: the mark is somewhere behind the slashes.
    const std::string_view whole = unit_.bytes.substr(comment.offset, comment.length);
    const std::size_t at_mark = whole.find(mark);
    for (std::size_t at = 0; at < text.size() && words.size() < most_tokens;) {
      const std::size_t begin = text.find_first_not_of(" \t\r", at);
      if (begin == text.npos) break;
      const std::size_t end = std::min(text.find_first_of(" \t\r", begin), text.size());
      PlacedName word{std::string(text.substr(begin, end - begin)),
                      {unit_.file, comment.offset, comment.length}};
      if (at_mark != whole.npos) {
        word.place.offset += static_cast<std::uint32_t>(at_mark + mark.size() + begin);
        word.place.length = static_cast<std::uint32_t>(end - begin);
      }
      words.push_back(std::move(word));
      at = end;
    }
    return words;
  }

  void find_function(const SourceComment& comment, AnnotationRecord& record) const {
    const auto found = functions_.find(record.name.text);
    if (found == functions_.end()) {
      // Nothing is missing behind a macro that isn't known.
      const bool known = !unit_.truncated && is_function_below(comment.next_token);
      if (known) record.state = AnnotationRecord::Function::missing;
      return;
    }
    const Scope& scope = *found->second;
    record.state = AnnotationRecord::Function::found;
    record.function.name = record.name.text;
    const Tokens all = unit_.tokens;
    record.function.place = scope.name_token == no_token
                                ? record.place
                                : place_of(all.subspan(scope.name_token, 1), unit_.file);
    const Tokens inside =
        all.subspan(scope.parameters.begin, scope.parameters.end - scope.parameters.begin);
    record.function.declared = read_parameters(inside, record.function);
    if (!record.function.declared) return;
    const std::vector<Tokens> parameters = split_typed(inside);
    if (parameters.size() > most_tokens) return;
    for (const Tokens parameter : parameters) {
      if (parameter.size() == 1 && parameter[0].is("void")) continue;
      record.parameters.push_back(bridge_word(parameter));
    }
  }

  // A function is defined right below, be it by a macro of the project: the first brackets are
  // those of its parameters, and not of a macro that isn't known.
  bool is_function_below(std::uint32_t token) const {
    const auto end = std::min<std::size_t>(unit_.tokens.size(), std::size_t{token} + head_tokens);
    std::uint32_t open = token;
    while (open < end && !unit_.tokens[open].is('(')) ++open;
    if (open >= end || open == token) return false;
    return names_.contains(open - 1);
  }

  const SourceUnit& unit_;
  Functions functions_;
  // Tokens that are names of functions where they are defined.
  std::unordered_set<std::uint32_t> names_;
};

}  // namespace

void read_annotations(const SourceUnit& unit, const Invocations& found,
                      std::vector<AnnotationRecord>& records) {
  if (unit.comments.empty()) return;
  const AnnotationReader reader(unit, found);
  for (const SourceComment& comment : unit.comments) {
    AnnotationRecord record;
    if (reader.read(comment, record)) records.push_back(std::move(record));
  }
}

void write_annotations(const std::vector<AnnotationRecord>& records, PlacedWriter& writer) {
  const std::uint32_t list = writer.open_list(Key::annotations);
  for (const AnnotationRecord& record : records) {
    const std::uint32_t object = writer.open(Key::none, NodeType::object, record.place);
    writer.text(Key::name, record.name.text, record.name.place);
    if (record.state == AnnotationRecord::Function::missing) {
      writer.null(Key::function, record.place);
    } else if (record.state == AnnotationRecord::Function::found) {
      writer.function(Key::function, record.function);
      if (record.function.declared) {
        writer.texts(Key::parameters, record.parameters, record.function.place);
        writer.text_if(Key::native_signature, record.function.signature, record.function.place);
      }
    }
    if (!record.spec.empty()) {
      SourcePlace place = record.spec.front().place;
      const SourcePlace& last = record.spec.back().place;
      place.length = last.offset + last.length - place.offset;
      const std::uint32_t spec = writer.open(Key::spec, NodeType::list, place);
      for (const PlacedName& token : record.spec) writer.text(Key::none, token.text, token.place);
      writer.close(spec);
    }
    writer.text_if(Key::when, record.when.text(), record.place);
    writer.close(object);
  }
  writer.close_list(list);
}

}  // namespace opseal
