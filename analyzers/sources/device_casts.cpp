// A number of one floating type that is handed over as one of another size: `(half*)&one`.

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzers/sources/device_pointers.h"
#include "analyzers/sources/device_sides.h"

namespace opseal {
namespace {

struct FloatType {
  std::string_view name;
  int size = 0;
};

constexpr std::array<FloatType, 12> float_types{{{"half", 2},
                                                 {"__half", 2},
                                                 {"nv_bfloat16", 2},
                                                 {"__nv_bfloat16", 2},
                                                 {"hip_bfloat16", 2},
                                                 {"__hip_bfloat16", 2},
                                                 {"Half", 2},
                                                 {"BFloat16", 2},
                                                 {"half_t", 2},
                                                 {"bfloat16_t", 2},
                                                 {"float", 4},
                                                 {"double", 8}}};

const FloatType* float_type(const Token& token) {
  if (!token.is_identifier()) return nullptr;
  const auto found = std::find_if(float_types.begin(), float_types.end(),
                                  [&token](const FloatType& type) { return token.is(type.name); });
  return found == float_types.end() ? nullptr : &*found;
}

// A 0 is what two values are packed into afterwards.
bool is_number(const Token& token) {
  return token.kind == TokenKind::number &&
         token.text.find_first_of("123456789") != token.text.npos;
}

class CastReader {
 public:
  CastReader(const PlainSource& source, std::vector<KeptPointer>& pointers)
      : source_(source), tokens_(source.unit.tokens), pointers_(pointers) {}

  void run() {
    std::uint32_t end = 0;
    for (std::uint32_t number = 0; number < source_.shape.scopes.size(); ++number) {
      const Scope& scope = source_.shape.scopes[number];
      if (scope.kind != ScopeKind::function || scope.body.begin < end) continue;
      end = std::max(end, scope.body.end);
      numbers_.clear();
      changes_.clear();
      const CodeSide side = side_of_function(source_, number);
      // In code for devices a number may be two values, packed.
      if (side == CodeSide::host) note_parameters(scope);
      std::vector<std::size_t> blocks;
      for (std::uint32_t at = scope.body.begin; at < scope.body.end; ++at) {
        if (tokens_[at].is('{')) blocks.push_back(changes_.size());
        if (tokens_[at].is('}') && !blocks.empty()) {
          leave_block(blocks.back());
          blocks.pop_back();
        }
        note_declaration(at);
        read_cast(at, scope);
      }
    }
  }

 private:
  struct Number {
    // Null where the name is that of something else.
    const FloatType* type = nullptr;
    std::uint32_t at = 0;
    // It begins as the literal behind its name.
    bool has_value = false;
  };

  bool is(std::uint32_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].is(text);
  }

  // `float one = 1.0f;`. Another declaration of the name takes its place.
  void note_declaration(std::uint32_t at) {
    const Token& name = tokens_[at];
    if (!name.is_identifier() || at == 0) return;
    const Token& before = tokens_[at - 1];
    if (!before.is_identifier() && !before.is('*') && !before.is('&')) return;
    const FloatType* const type = float_type(before);
    const bool begins = is(at + 1, "=") || is(at + 1, "{");
    const bool ends = is(at + 3, ";") || is(at + 3, ",") || is(at + 3, "}");
    if (type != nullptr && begins && ends && is_number(tokens_[at + 2])) {
      change(name.hash, {type, at, true});
    } else if (!before.is('&')) {
      change(name.hash, {});
    }
  }

  // `float alpha`, by value.
  void note_parameters(const Scope& function) {
    const TokenRange range = function.parameters;
    for (std::uint32_t at = range.begin + 1; at < range.end; ++at) {
      const FloatType* const type = float_type(tokens_[at - 1]);
      if (type == nullptr || !tokens_[at].is_identifier()) continue;
      if (tokens_[at].text.find("pack") != std::string_view::npos) continue;
      if (at + 1 == range.end || is(at + 1, ",") || is(at + 1, "=")) {
        change(tokens_[at].hash, {type, at, false});
      }
    }
  }

  void change(std::uint32_t name, const Number& to) {
    Number& number = numbers_[name];
    if (number.type == nullptr && to.type == nullptr) return;
    changes_.emplace_back(name, number);
    number = to;
  }

  // What the names meant before it.
  void leave_block(std::size_t changes) {
    for (; changes_.size() > changes; changes_.pop_back()) {
      numbers_[changes_.back().first] = changes_.back().second;
    }
  }

  // `(half*)&x`, `reinterpret_cast<const half*>(&x)`, from the type on.
  void read_cast(std::uint32_t at, const Scope& function) {
    const FloatType* const to = float_type(tokens_[at]);
    if (to == nullptr) return;
    std::uint32_t end = at + 1;
    if (is(end, "const")) ++end;
    if (!is(end, "*")) return;
    ++end;
    const bool named = is(end, ">") && is(end + 1, "(");
    if (!named && !is(end, ")")) return;
    end += named ? 2 : 1;
    if (!is(end, "&") || end + 1 >= tokens_.size()) return;
    const std::uint32_t variable = end + 1;
    for (const std::string_view part : {".", "->", "[", "(", "::"}) {
      if (is(variable + 1, part)) return;
    }
    const auto found = numbers_.find(tokens_[variable].hash);
    if (!tokens_[variable].is_identifier() || found == numbers_.end()) return;
    if (found->second.type == nullptr || is(variable + 1, "=")) return;
    KeptPointer pointer;
    pointer.expression = text_of(Tokens(tokens_).subspan(end, 2));
    pointer.function = function.name;
    pointer.type = found->second.type->name;
    if (found->second.has_value) pointer.value = tokens_[found->second.at + 2].text;
    pointer.cast = to->name;
    pointer.when = source_.unit.conditions[tokens_[at].condition];
    const Token& last = tokens_[variable];
    pointer.place = {source_.unit.file, tokens_[at].offset,
                     last.offset + last.length - tokens_[at].offset};
    if (pointer.type != pointer.cast) pointers_.push_back(std::move(pointer));
  }

  const PlainSource& source_;
  const std::vector<Token>& tokens_;
  std::vector<KeptPointer>& pointers_;
  // Variables that begin as a literal, and parameters, by hash of the name.
  std::unordered_map<std::uint32_t, Number> numbers_;
  // What names meant before, for the end of their block.
  std::vector<std::pair<std::uint32_t, Number>> changes_;
};

}  // namespace

void read_casts(const PlainSource& source, std::vector<KeptPointer>& pointers) {
  CastReader(source, pointers).run();
}

}  // namespace opseal
