// Who calls a function with a tensor whose untyped pointer it casts, and what is known there.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/device_sides.h"
#include "analyzers/sources/untyped_pointers.h"
#include "analyzers/sources/untyped_reader.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// Tokens of a call's arguments.
constexpr std::uint32_t most_arguments = 4096;
// Functions that hand one tensor on.
constexpr std::size_t most_holders = 16;

}  // namespace

std::vector<std::string> untyped_holders(std::vector<UntypedPointer*>& pointers) {
  std::vector<std::string> names;
  for (UntypedPointer* pointer : pointers) {
    if (pointer->checked != std::optional(false)) continue;
    if (pointer->holders.size() > most_holders) {
      pointer->checked.reset();
      continue;
    }
    for (std::size_t at = pointer->asked; at < pointer->holders.size(); ++at) {
      names.push_back(pointer->holders[at].function);
    }
  }
  return names;
}

void end_untyped_round(std::vector<UntypedPointer*>& pointers) {
  for (UntypedPointer* pointer : pointers) {
    pointer->asked = pointer->ending;
    pointer->ending = pointer->holders.size();
  }
}

namespace {

class CallerReader {
 public:
  CallerReader(const PlainSource& source, std::vector<UntypedPointer*>& pointers)
      : source_(source), tokens_(source.unit.tokens), reader_(source) {
    for (UntypedPointer* pointer : pointers) {
      if (pointer->checked != std::optional(false)) continue;
      for (std::size_t at = 0; at < pointer->holders.size(); ++at) {
        // Its own name is stable: holders are added to a list of their own.
        reader_.add_neutral(pointer->holders[at].function);
        if (at >= pointer->asked && at < pointer->ending) {
          by_name_[pointer->holders[at].function].push_back({pointer, at});
        }
      }
    }
  }

  void run() {
    const std::vector<Scope>& scopes = source_.shape.scopes;
    std::uint32_t end = 0;
    for (std::uint32_t number = 0; number < scopes.size(); ++number) {
      const Scope& scope = scopes[number];
      if (scope.kind != ScopeKind::function || scope.body.begin < end) continue;
      end = std::max(end, scope.body.end);
      read_function(number);
    }
    for (auto& [pointer, holder] : found_) add_holder(*pointer, std::move(holder));
  }

 private:
  using Asked = std::pair<UntypedPointer*, std::size_t>;

  static void add_holder(UntypedPointer& pointer, UntypedPointer::Holder holder) {
    const bool known = std::any_of(pointer.holders.begin(), pointer.holders.end(), [&](auto& one) {
      return one.function == holder.function && one.position == holder.position;
    });
    // Beyond that many it isn't known, which needs no more of them.
    if (!known && pointer.holders.size() <= most_holders) {
      pointer.holders.push_back(std::move(holder));
    }
  }

  void read_function(std::uint32_t number) {
    const Scope& scope = source_.shape.scopes[number];
    std::vector<UntypedParameter> parameters;
    bool known = false;
    for (std::uint32_t at = scope.body.begin; at + 1 < scope.body.end; ++at) {
      if (!tokens_[at].is_identifier()) continue;
      const auto found = by_name_.find(tokens_[at].text);
      if (found == by_name_.end()) continue;
      // `f<T>(x)`
      const std::uint32_t open = behind_angles(tokens_, at + 1, most_arguments);
      const std::uint32_t close =
          open < tokens_.size() && tokens_[open].is('(') ? source_.shape.partners[open] : no_token;
      // A mere name may be called with anything.
      if (close == no_token || close < open) continue;
      if (!known) parameters = reader_.read(number);
      known = true;
      const std::vector<Tokens> given =
          close - open < most_arguments
              ? split_call_arguments(Tokens(tokens_).subspan(open + 1, close - open - 1))
              : std::vector<Tokens>();
      for (const Asked& asked : found->second) ask(asked, given, parameters, number);
    }
  }

  void ask(const Asked& asked, const std::vector<Tokens>& given,
           const std::vector<UntypedParameter>& parameters, std::uint32_t number) {
    UntypedPointer& pointer = *asked.first;
    const std::size_t position = pointer.holders[asked.second].position;
    if (pointer.checked != std::optional(false)) return;
    // Its own tensor, as it was given, of which it knows nothing either.
    const UntypedParameter* own = nullptr;
    if (position < given.size() && given[position].size() == 1) {
      const auto same = std::find_if(parameters.begin(), parameters.end(), [&](const auto& one) {
        return one.name->hash == given[position].front().hash;
      });
      if (same != parameters.end() && !same->asked && !same->unknown) own = &*same;
    }
    if (own == nullptr) {
      pointer.checked.reset();
      return;
    }
    found_.push_back(
        {&pointer, {std::string(base_of(function_name(source_, number))), own->position}});
  }

  const PlainSource& source_;
  const std::vector<Token>& tokens_;
  UntypedReader reader_;
  std::unordered_map<std::string_view, std::vector<Asked>> by_name_;
  std::vector<std::pair<UntypedPointer*, UntypedPointer::Holder>> found_;
};

}  // namespace

void read_untyped_callers(const PlainSource& source, std::vector<UntypedPointer*>& pointers) {
  CallerReader(source, pointers).run();
}

void read_untyped_python(std::string_view bytes, std::vector<UntypedPointer*>& pointers) {
  bool speaks = false;
  for (const std::string_view word : {"int32", ".int()", "IntTensor", "torch.int)", "torch.int,"}) {
    speaks = speaks || bytes.find(word) != bytes.npos;
  }
  if (!speaks) return;
  std::unordered_set<std::string_view> words;
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t end = at;
    while (end < bytes.size() && is_word_byte(bytes[end])) ++end;
    if (end > at) words.insert(bytes.substr(at, end - at));
    at = end + 1;
  }
  for (UntypedPointer* pointer : pointers) {
    bool names = words.contains(pointer->name);
    for (const UntypedPointer::Holder& one : pointer->holders) {
      names = names || words.contains(one.function);
    }
    if (names && pointer->checked == std::optional(false)) pointer->checked.reset();
  }
}

}  // namespace opseal
