#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// What an expression is, as far as the text alone decides it.
struct PythonConstant {
  enum class Kind : std::uint8_t {
    undecided,
    none,
    truth,
    number,
    text,
    // A list, tuple or set.
    list,
    // `items` are keys and values by turns.
    dictionary,
    // A name of something that is no constant: a function, an object.
    reference,
  };

  Kind kind = Kind::undecided;
  // A text's content; a number, truth or name as written.
  std::string text;
  std::vector<PythonConstant> items;
  // The expression that says it.
  SyntaxIndex node = no_syntax;

  bool is_text() const { return kind == Kind::text; }
};

// What the names of a loop are in one of its rounds.
struct PythonRound {
  SyntaxIndex loop = no_syntax;
  std::string_view name;
  PythonConstant value;
};

// Works out expressions. Bounded in depth, steps and size: beyond those an expression is undecided.
class PythonConstants {
 public:
  PythonConstants(const PythonSyntax& syntax, const PythonScopes& scopes)
      : syntax_(syntax), scopes_(scopes) {}

  PythonConstant of(SyntaxIndex expression);
  // The items that a loop goes through, or undecided. Of a function of the file's own: what each
  // call hands over, in the order of its parameters.
  PythonConstant items_of(SyntaxIndex loop);

  // Parameters of functions that only this file can call (`_make(name)`) are told like names of
  // loops, a call being a round.
  bool follows_calls = false;

  // In force from now on.
  std::vector<PythonRound> rounds;
  // Loops whose names were asked for and have no round, since this was last cleared.
  std::vector<SyntaxIndex> open_loops;
  // Gives the steps of one registration back, as long as the file has any left.
  void restart() {
    all_steps_ += steps_;
    steps_ = all_steps_ > max_all_steps ? max_steps : 0;
  }

  static constexpr std::size_t max_depth = 48;
  static constexpr std::size_t max_steps = 8192;
  // Of all registrations of a file: those behind are undecided.
  static constexpr std::size_t max_all_steps = std::size_t{1} << 22;
  static constexpr std::size_t max_text = 1 << 12;

 private:
  PythonConstant of(SyntaxIndex expression, std::size_t depth);
  PythonConstant of_string(SyntaxIndex string, std::size_t depth);
  PythonConstant of_sequence(SyntaxIndex sequence, std::size_t depth);
  PythonConstant of_dictionary(SyntaxIndex dictionary, std::size_t depth);
  PythonConstant of_sum(SyntaxIndex sum, std::size_t depth);
  PythonConstant of_name(SyntaxIndex name, std::size_t depth);
  PythonConstant of_attribute(SyntaxIndex attribute, std::size_t depth);
  PythonConstant of_call(SyntaxIndex call, std::size_t depth);
  PythonConstant of_subscript(SyntaxIndex subscript, std::size_t depth);
  PythonConstant of_parameter(const PythonBinding& binding, PythonConstant constant);
  PythonConstant calls_of(SyntaxIndex function);
  PythonConstant call_of(SyntaxIndex call, SyntaxIndex parameters);
  bool append_interpolation(SyntaxIndex interpolation, std::size_t depth, std::string& text);

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  std::size_t steps_ = 0;
  std::size_t all_steps_ = 0;
  // Uses of names that are those of functions of the file's own, once asked for.
  std::map<std::string_view, std::vector<SyntaxIndex>> private_uses_;
  bool private_uses_read_ = false;
};

// A function that no other file calls, by its name, defined at the top of the module without a
// decorator; `parameter` is one of its parameters. None for any other.
SyntaxIndex private_function_of(const PythonSyntax& syntax, SyntaxIndex parameter);

// The content of a `string_content`, escapes resolved. False for one that isn't known here (`\N`).
bool unescape_python(std::string_view written, bool raw, std::string& text);

}  // namespace opseal
