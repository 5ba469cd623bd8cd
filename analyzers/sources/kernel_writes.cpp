#include "analyzers/sources/kernel_writes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analyzers/source/word_set.h"
#include "analyzers/sources/code_functions.h"
#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/returned_parameters.h"
#include "analyzers/sources/written_parameters.h"

namespace opseal {
namespace {

// A function that kernels are registered with, where a file has its body.
struct Body {
  std::uint32_t file = 0;
  std::size_t parameters = 0;
  // Parameters, and where they are written.
  std::vector<std::pair<std::size_t, SourcePlace>> written;
  // Those that some `return` hands back as they came.
  std::vector<std::size_t> returned;
};

using Bodies = std::map<std::string, std::vector<Body>, std::less<>>;

bool is_kernel(const TorchRecord& record) {
  return record.use == TorchUse::implement && !record.python && !record.function.name.empty() &&
         record.function.parameters.size() == record.function.positional &&
         record.function.positional > 0;
}

// What the functions that a file declares or defines do with the tensors that they are handed.
class Takers {
 public:
  explicit Takers(Tokens tokens) : tokens_(tokens) {}

  // A reference that is not constant; also of a function that the file says nothing of.
  bool may_replace(const HandedParameter& handed) {
    if (!read_) read();
    const auto found = heads_.find(handed.function);
    if (found == heads_.end()) return true;
    for (const std::size_t open : found->second) {
      const std::size_t close = closing_bracket(tokens_, open);
      if (close >= tokens_.size()) return true;
      const Tokens inside = tokens_.subspan(open + 1, close - open - 1);
      for (const NamedParameter& one : named_parameters(inside, most_parameters)) {
        if (one.position == handed.position && one.by_reference && !one.is_const) return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t most_parameters = 256;
  // Of one name.
  static constexpr std::size_t most_heads = 16;

  // `Tensor f(`, `void f(`: a type in front, as no call has it.
  void read() {
    read_ = true;
    for (std::size_t at = 1; at + 1 < tokens_.size(); ++at) {
      if (!tokens_[at].is_identifier() || !tokens_[at + 1].is('(')) continue;
      const Token& before = tokens_[at - 1];
      const bool typed = (before.is_identifier() && !before.is("return") && !before.is("else")) ||
                         before.is('>') || before.is('&') || before.is('*');
      if (!typed) continue;
      std::vector<std::size_t>& heads = heads_[tokens_[at].text];
      if (heads.size() < most_heads) heads.push_back(at + 1);
    }
  }

  Tokens tokens_;
  bool read_ = false;
  std::map<std::string_view, std::vector<std::size_t>> heads_;
};

bool is_constant(Tokens tokens, std::size_t name, std::size_t parameter) {
  if (name + 1 >= tokens.size() || !tokens[name + 1].is('(')) return false;
  const std::size_t close = closing_bracket(tokens, name + 1);
  if (close >= tokens.size()) return false;
  constexpr std::size_t most_parameters = 256;
  const Tokens inside = tokens.subspan(name + 2, close - name - 2);
  for (const NamedParameter& one : named_parameters(inside, most_parameters)) {
    if (one.position == parameter) return one.is_const;
  }
  return false;
}

void read_file(const std::string& bytes, std::uint32_t number,
               const std::set<std::string, std::less<>>& names, Bodies& bodies) {
  CodeFunctions code;
  code.add(number, {}, bytes);
  WrittenParameters writes(code);
  std::optional<Takers> takers;
  for (const auto& function : code.functions()) {
    const auto name = names.find(base_of(function->name));
    if (name == names.end()) continue;
    Body body{number, function->parameters.size(), {}, {}};
    const WrittenParameters::Written& written = writes.of(*function);
    const Tokens tokens = code.tokens_of(*function);
    for (std::size_t at = 0; at < written.size(); ++at) {
      if (written[at])
        body.written.emplace_back(at, place_of(tokens.subspan(*written[at], 1), number));
    }
    if (!takers) takers.emplace(tokens);
    for (const ReturnedParameter& one : returned_parameters(
             tokens.subspan(function->body.begin, function->body.end - function->body.begin),
             function->parameters)) {
      const bool replaced =
          !is_constant(tokens, function->name_token, one.index) &&
          std::any_of(one.handed.begin(), one.handed.end(),
                      [&](const HandedParameter& to) { return takers->may_replace(to); });
      if (!replaced) body.returned.push_back(one.index);
    }
    bodies[*name].push_back(std::move(body));
  }
}

// The body in the file that declares the function or registers it, else the only one.
const Body* meant_by(const TorchRecord& record, const std::vector<Body>& bodies) {
  for (const std::uint32_t file : {record.function.place.file, record.place.file}) {
    const Body* found = nullptr;
    std::size_t count = 0;
    for (const Body& body : bodies) {
      if (body.file != file) continue;
      found = &body;
      ++count;
    }
    if (count == 1) return found;
    if (count > 1) return nullptr;
  }
  return bodies.size() == 1 ? &bodies.front() : nullptr;
}

}  // namespace

void find_kernel_writes(const std::vector<std::size_t>& numbers, const SourceTexts& texts,
                        std::vector<TorchRecord>& records) {
  std::set<std::string, std::less<>> names;
  for (const TorchRecord& record : records) {
    if (is_kernel(record)) names.emplace(base_of(record.function.name));
  }
  if (names.empty()) return;
  const WordQuery any_name(names);
  Bodies bodies;
  std::string bytes;
  for (const std::size_t number : numbers) {
    if (!texts.read_holding(any_name, number, bytes)) continue;
    if (bytes.find("Tensor") == bytes.npos) continue;
    read_file(bytes, static_cast<std::uint32_t>(number), names, bodies);
  }
  for (TorchRecord& record : records) {
    if (!is_kernel(record)) continue;
    const auto found = bodies.find(base_of(record.function.name));
    if (found == bodies.end()) continue;
    const Body* body = meant_by(record, found->second);
    if (body == nullptr || body->parameters != record.function.positional) continue;
    for (const auto& [parameter, place] : body->written) {
      if (record.function.types[parameter] != "Tensor") continue;
      record.writes.push_back({record.function.parameters[parameter], place});
    }
    for (const std::size_t parameter : body->returned) {
      if (record.function.types[parameter] != "Tensor") continue;
      record.returned_views.push_back(record.function.parameters[parameter]);
    }
  }
}

}  // namespace opseal
