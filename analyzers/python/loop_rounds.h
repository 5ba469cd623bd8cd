#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "analyzers/python/constants.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// Repeats what is read of one place for the rounds of the loops around it, as far as those go
// through literals.
class PythonLoopRounds {
 public:
  // Of one place in all rounds of its loops.
  static constexpr std::size_t max_rounds = 512;

  // Needs: both outlive this.
  PythonLoopRounds(const PythonSyntax& syntax, PythonConstants& constants)
      : syntax_(syntax), constants_(constants) {}

  // What `make` makes, once for each round of the loops whose names it asks for. Too many rounds,
  // or one that isn't known: once, undecided.
  template <typename Made, typename Make>
  std::vector<Made> all(const Make& make) {
    constants_.rounds.clear();
    std::vector<Made> made;
    std::vector<SyntaxIndex> closed;
    if (!expand(make, closed, made)) {
      constants_.rounds.clear();
      constants_.restart();
      made.clear();
      made.push_back(make());
    }
    constants_.rounds.clear();
    return made;
  }

 private:
  // `closed`: loops whose items aren't known, and which are left as they are.
  template <typename Made, typename Make>
  bool expand(const Make& make, std::vector<SyntaxIndex>& closed, std::vector<Made>& made) {
    constants_.restart();
    constants_.open_loops.clear();
    Made one = make();
    std::vector<SyntaxIndex> open = constants_.open_loops;
    // An outer loop first, since what an inner one goes through may depend on it.
    std::sort(open.begin(), open.end());
    for (const SyntaxIndex loop : open) {
      if (std::find(closed.begin(), closed.end(), loop) != closed.end()) continue;
      constants_.open_loops.clear();
      const PythonConstant items = constants_.items_of(loop);
      const std::vector<SyntaxIndex> around = constants_.open_loops;
      for (const SyntaxIndex outer : around) {
        if (outer != loop && std::find(closed.begin(), closed.end(), outer) == closed.end()) {
          return expand_loop(make, outer, closed, made);
        }
      }
      if (items.kind == PythonConstant::Kind::list) return expand_loop(make, loop, closed, made);
      closed.push_back(loop);
    }
    made.push_back(std::move(one));
    return made.size() <= max_rounds;
  }

  template <typename Made, typename Make>
  bool expand_loop(const Make& make, SyntaxIndex loop, std::vector<SyntaxIndex>& closed,
                   std::vector<Made>& made) {
    // Loops within each other; a name of a loop may be that of another one too.
    constexpr std::size_t max_loops = 8;
    const PythonConstant items = constants_.items_of(loop);
    if (items.kind != PythonConstant::Kind::list) {
      closed.push_back(loop);
      return expand(make, closed, made);
    }
    const std::size_t before = constants_.rounds.size();
    if (before > max_loops || items.items.size() > max_rounds) return false;
    for (const PythonConstant& item : items.items) {
      set_round(loop, item);
      if (constants_.rounds.size() == before) {
        closed.push_back(loop);
        return expand(make, closed, made);
      }
      std::vector<SyntaxIndex> inner = closed;
      const bool whole = expand(make, inner, made);
      constants_.rounds.resize(before);
      if (!whole) return false;
    }
    return true;
  }

  // The parameters that a call gives; a name that takes several arguments, or none, has none.
  void set_call(SyntaxIndex function, const PythonConstant& item) {
    std::size_t place = 0;
    const SyntaxIndex parameters = syntax_.child(function, SyntaxField::parameters);
    for (const SyntaxIndex parameter : syntax_.children(parameters)) {
      if (place == item.items.size()) break;
      const SyntaxIndex named = syntax_.is(parameter, SyntaxKind::identifier) ? parameter
                                : syntax_.is(parameter, SyntaxKind::typed_parameter)
                                    ? syntax_.first(parameter)
                                    : syntax_.child(parameter, SyntaxField::name);
      if (named != no_syntax) {
        constants_.rounds.push_back({function, syntax_.text_of(named), item.items[place]});
      }
      ++place;
    }
  }

  void set_round(SyntaxIndex loop, const PythonConstant& item) {
    if (syntax_.is(loop, SyntaxKind::function_definition)) {
      set_call(loop, item);
      return;
    }
    const SyntaxIndex target = syntax_.child(loop, SyntaxField::left);
    if (target == no_syntax) return;
    if (syntax_.is(target, SyntaxKind::identifier)) {
      constants_.rounds.push_back({loop, syntax_.text_of(target), item});
      return;
    }
    const std::vector<SyntaxIndex> names = syntax_.children(target);
    const bool fits = item.kind == PythonConstant::Kind::list && names.size() == item.items.size();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!syntax_.is(names[i], SyntaxKind::identifier)) continue;
      constants_.rounds.push_back(
          {loop, syntax_.text_of(names[i]), fits ? item.items[i] : PythonConstant()});
    }
  }

  const PythonSyntax& syntax_;
  PythonConstants& constants_;
};

}  // namespace opseal
