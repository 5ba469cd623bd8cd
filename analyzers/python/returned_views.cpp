#include "analyzers/python/returned_views.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace opseal {
namespace {

// Blocks, and calls, within each other.
constexpr std::size_t max_depth = 32;
constexpr std::size_t max_steps = 200'000;
// Names of one function that are followed.
constexpr std::size_t max_names = 256;

// Methods of a tensor, and functions of torch, whose result has the tensor's memory.
bool makes_view(std::string_view name) {
  constexpr std::array<std::string_view, 22> views = {
      "view",    "view_as",      "narrow",          "select",   "transpose",  "permute",
      "t",       "squeeze",      "unsqueeze",       "expand",   "expand_as",  "detach",
      "movedim", "moveaxis",     "swapaxes",        "swapdims", "as_strided", "diagonal",
      "alias",   "view_as_real", "view_as_complex", "adjoint"};
  return std::find(views.begin(), views.end(), name) != views.end();
}

bool may_be_tensor(std::string_view annotation) {
  return annotation.empty() || (annotation.find("Tensor") != annotation.npos &&
                                annotation.find("ist[") == annotation.npos &&
                                annotation.find("uple[") == annotation.npos &&
                                annotation.find("equence[") == annotation.npos);
}

class ViewReader {
 public:
  // Name -> the parameters that it may be.
  using Names = std::map<std::string_view, std::set<std::string_view>>;

  ViewReader(const PythonSyntax& syntax, const PythonScopes& scopes, const PythonFunction& function)
      : syntax_(syntax), scopes_(scopes), function_(function) {}

  std::vector<std::string> run(SyntaxIndex body) {
    Names names;
    for (const PythonParameter& parameter : function_.parameters) {
      if (!may_be_tensor(parameter.annotation) || parameter.name.starts_with('*')) continue;
      names[parameter.name].insert(parameter.name);
    }
    read_block(body, names, 0);
    for (const std::string& name : copied_) returned_.erase(name);
    return {returned_.begin(), returned_.end()};
  }

 private:
  // Whether the block leaves the function or its loop, so that nothing behind it sees its names.
  bool read_block(SyntaxIndex block, Names& names, std::size_t depth) {
    if (block == no_syntax || depth > max_depth) return false;
    for (const SyntaxIndex statement : syntax_.children(block)) {
      if (++steps_ > max_steps) return true;
      if (read_statement(statement, names, depth)) return true;
    }
    return false;
  }

  bool read_statement(SyntaxIndex statement, Names& names, std::size_t depth) {
    switch (syntax_[statement].kind) {
      case SyntaxKind::return_statement:
        read_return(syntax_.first(statement), names);
        return true;
      case SyntaxKind::expression_statement:
        read_expressions(statement, names);
        return false;
      case SyntaxKind::if_statement:
        return read_if(statement, names, depth);
      case SyntaxKind::for_statement:
      case SyntaxKind::while_statement:
        forget(syntax_.child(statement, SyntaxField::left), names);
        read_block(syntax_.child(statement, SyntaxField::body), names, depth + 1);
        return false;
      case SyntaxKind::with_statement:
        return read_block(syntax_.child(statement, SyntaxField::body), names, depth + 1);
      case SyntaxKind::function_definition:
      case SyntaxKind::class_definition:
      case SyntaxKind::decorated_definition:
        return false;
      case SyntaxKind::try_statement:
      case SyntaxKind::match_statement:
        // What comes of them depends on what happens: nothing is known behind them.
        names.clear();
        return false;
      default:
        // `raise`, `continue` and `break` have no kinds of their own.
        return syntax_.text_of(statement).starts_with("raise");
    }
  }

  bool read_if(SyntaxIndex statement, Names& names, std::size_t depth) {
    std::vector<Names> ways;
    bool covers_all = false;
    bool all_leave = true;
    const Names before = names;
    const auto read_way = [&](SyntaxIndex block) {
      Names way = before;
      if (read_block(block, way, depth + 1)) return;
      all_leave = false;
      ways.push_back(std::move(way));
    };
    read_way(syntax_.child(statement, SyntaxField::consequence));
    for (const SyntaxIndex part : syntax_.children(statement)) {
      if (syntax_.is(part, SyntaxKind::elif_clause)) {
        read_way(syntax_.child(part, SyntaxField::consequence));
      } else if (syntax_.is(part, SyntaxKind::else_clause)) {
        covers_all = true;
        read_way(syntax_.child(part, SyntaxField::body));
      }
    }
    if (covers_all && all_leave) return true;
    if (!covers_all && ways.empty()) return false;
    // `if x is None: x = …` replaces what a call may not have given: without an `else`, a name that
    // one way replaces is no longer followed.
    Names joined;
    if (covers_all) {
      for (const Names& way : ways) {
        for (const auto& [name, roots] : way) joined[name].insert(roots.begin(), roots.end());
      }
    } else {
      joined = before;
      for (const Names& way : ways) {
        std::erase_if(joined, [&](const auto& one) { return !way.contains(one.first); });
      }
      for (const Names& way : ways) {
        for (const auto& [name, roots] : way) {
          if (!before.contains(name)) joined[name].insert(roots.begin(), roots.end());
        }
      }
    }
    names = std::move(joined);
    return false;
  }

  void read_expressions(SyntaxIndex statement, Names& names) {
    for (const SyntaxIndex part : syntax_.children(statement)) {
      if (syntax_.is(part, SyntaxKind::augmented_assignment)) {
        // `x += 1` keeps a tensor's memory and `n -= 1` is none.
        continue;
      }
      if (!syntax_.is(part, SyntaxKind::assignment)) continue;
      const SyntaxIndex target = syntax_.child(part, SyntaxField::left);
      const SyntaxIndex value = syntax_.child(part, SyntaxField::right);
      if (target == no_syntax || value == no_syntax) continue;
      if (!syntax_.is(target, SyntaxKind::identifier)) {
        if (!syntax_.is(target, SyntaxKind::subscript) &&
            !syntax_.is(target, SyntaxKind::attribute)) {
          forget(target, names);
        }
        continue;
      }
      std::set<std::string_view> roots = roots_of(value, names, 0);
      const std::string_view name = syntax_.text_of(target);
      names.erase(name);
      if (!roots.empty() && names.size() < max_names) names[name] = std::move(roots);
    }
  }

  // Every name within a target becomes something else.
  void forget(SyntaxIndex target, Names& names) {
    if (target == no_syntax) return;
    for (SyntaxIndex index = target; index < syntax_[target].next && ++steps_ < max_steps;
         ++index) {
      if (syntax_.is(index, SyntaxKind::identifier)) names.erase(syntax_.text_of(index));
    }
  }

  void read_return(SyntaxIndex expression, const Names& names) {
    const SyntaxIndex value = syntax_.unwrapped(expression);
    if (value == no_syntax) return;
    std::vector<SyntaxIndex> parts{value};
    if (syntax_.is(value, SyntaxKind::tuple) || syntax_.is(value, SyntaxKind::expression_list) ||
        syntax_.is(value, SyntaxKind::list)) {
      parts = syntax_.children(value);
    }
    for (const SyntaxIndex part : parts) {
      if (parts.size() == 1) note_copy(part, names);
      for (const std::string_view root : roots_of(part, names, 0)) returned_.emplace(root);
    }
  }

  // `return out.clone()` on one way: whoever wrote it knows what must be copied when.
  void note_copy(SyntaxIndex expression, const Names& names) {
    const SyntaxIndex value = syntax_.unwrapped(expression);
    if (!syntax_.is(value, SyntaxKind::call)) return;
    const SyntaxIndex called = syntax_.child(value, SyntaxField::function);
    if (!syntax_.is(called, SyntaxKind::attribute)) return;
    const SyntaxIndex name = syntax_.child(called, SyntaxField::attribute);
    if (name == no_syntax || syntax_.text_of(name) != "clone") return;
    for (const std::string_view root :
         roots_of(syntax_.child(called, SyntaxField::object), names, 0)) {
      copied_.emplace(root);
    }
  }

  std::set<std::string_view> roots_of(SyntaxIndex expression, const Names& names,
                                      std::size_t depth) {
    const SyntaxIndex value = syntax_.unwrapped(expression);
    if (value == no_syntax || depth > max_depth || ++steps_ > max_steps) return {};
    switch (syntax_[value].kind) {
      case SyntaxKind::identifier: {
        const auto found = names.find(syntax_.text_of(value));
        return found == names.end() ? std::set<std::string_view>() : found->second;
      }
      case SyntaxKind::subscript:
        if (!is_part(value)) return {};
        return roots_of(syntax_.child(value, SyntaxField::value), names, depth + 1);
      case SyntaxKind::attribute: {
        const SyntaxIndex name = syntax_.child(value, SyntaxField::attribute);
        const std::string_view text =
            name == no_syntax ? std::string_view() : syntax_.text_of(name);
        if (text != "T" && text != "mT" && text != "data") return {};
        return roots_of(syntax_.child(value, SyntaxField::object), names, depth + 1);
      }
      case SyntaxKind::conditional_expression: {
        const std::vector<SyntaxIndex> parts = syntax_.children(value);
        if (parts.size() != 3) return {};
        std::set<std::string_view> roots = roots_of(parts[0], names, depth + 1);
        std::set<std::string_view> others = roots_of(parts[2], names, depth + 1);
        // One way that makes a new tensor may be the one that is needed.
        if (roots.empty() || others.empty()) return {};
        roots.merge(others);
        return roots;
      }
      case SyntaxKind::call:
        return roots_of_call(value, names, depth);
      default:
        return {};
    }
  }

  std::set<std::string_view> roots_of_call(SyntaxIndex call, const Names& names,
                                           std::size_t depth) {
    const SyntaxIndex called = syntax_.child(call, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
    if (!syntax_.is(called, SyntaxKind::attribute)) return {};
    const SyntaxIndex name = syntax_.child(called, SyntaxField::attribute);
    if (name == no_syntax || !makes_view(syntax_.text_of(name))) return {};
    const std::vector<std::string> full = scopes_.full_names(called);
    if (!full.empty() && full.front().starts_with("torch.")) {
      if (!syntax_.is(arguments, SyntaxKind::argument_list)) return {};
      const SyntaxIndex first = syntax_.first(arguments);
      return first == no_syntax ? std::set<std::string_view>() : roots_of(first, names, depth + 1);
    }
    // `x.view(torch.uint8)` too has the memory of `x`.
    return roots_of(syntax_.child(called, SyntaxField::object), names, depth + 1);
  }

  // `x[0]`, `x[:, a:b]`: by anything else it may be a copy.
  bool is_part(SyntaxIndex subscript) const {
    const SyntaxIndex value = syntax_.child(subscript, SyntaxField::value);
    for (const SyntaxIndex part : syntax_.children(subscript)) {
      if (part == value || syntax_.is(part, SyntaxKind::integer)) continue;
      const std::string_view text = syntax_.text_of(part);
      const bool slice =
          syntax_.is(part, SyntaxKind::other) && (text.find(':') != text.npos || text == "...");
      if (!slice) return false;
    }
    return true;
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  const PythonFunction& function_;
  std::set<std::string> returned_;
  // Those of which some `return` hands back a copy.
  std::set<std::string> copied_;
  std::size_t steps_ = 0;
};

}  // namespace

std::vector<std::string> python_returned_views(const PythonSyntax& syntax,
                                               const PythonScopes& scopes,
                                               const PythonFunction& function) {
  if (!function.found || function.node == no_syntax) return {};
  const SyntaxIndex body = syntax.child(function.node, SyntaxField::body);
  if (!syntax.is(body, SyntaxKind::block)) return {};
  return ViewReader(syntax, scopes, function).run(body);
}

}  // namespace opseal
