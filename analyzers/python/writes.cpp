#include "analyzers/python/writes.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

namespace opseal {
namespace {

// Nodes of one function that are looked at.
constexpr SyntaxIndex max_nodes = 200'000;
constexpr std::size_t max_depth = 8;
constexpr std::size_t max_steps = 2'000'000;

// Methods that end in `_` and leave the memory as it is.
bool writes_memory(std::string_view method) {
  constexpr std::array<std::string_view, 9> others = {
      "requires_grad_", "share_memory_", "rename_",    "detach_",    "retain_grad_",
      "squeeze_",       "unsqueeze_",    "transpose_", "as_strided_"};
  return method.size() > 2 && method.ends_with('_') && !method.ends_with("__") &&
         std::find(others.begin(), others.end(), method) == others.end();
}

// `Tensor`, `Optional[torch.Tensor]`, `torch.Tensor | None`; no list of them.
bool is_tensor(std::string_view annotation) {
  return annotation.find("Tensor") != annotation.npos &&
         annotation.find("ist[") == annotation.npos &&
         annotation.find("uple[") == annotation.npos &&
         annotation.find("equence[") == annotation.npos;
}

class WriteReader {
 public:
  WriteReader(const PythonSyntax& syntax, const PythonScopes& scopes,
              const PythonFunction& function)
      : syntax_(syntax), scopes_(scopes) {
    for (const PythonParameter& parameter : function.parameters) {
      // Of one without an annotation the schema tells whether it is a tensor.
      if (parameter.annotation.empty() || is_tensor(parameter.annotation)) {
        open_.insert(parameter.name);
      }
    }
  }

  std::vector<std::string> run(SyntaxIndex body) {
    for (const SyntaxIndex index : syntax_.own_nodes(body, max_nodes)) {
      switch (syntax_[index].kind) {
        case SyntaxKind::assignment:
          look_at_assignment(index);
          break;
        case SyntaxKind::augmented_assignment:
          write_to(syntax_.child(index, SyntaxField::left), true);
          break;
        case SyntaxKind::named_expression:
          rebind(syntax_.child(index, SyntaxField::name), 0);
          break;
        case SyntaxKind::for_statement:
        case SyntaxKind::for_in_clause:
          rebind(syntax_.child(index, SyntaxField::left), 0);
          break;
        case SyntaxKind::as_pattern_target:
        case SyntaxKind::delete_statement:
          for (const SyntaxIndex part : syntax_.children(index)) rebind(part, 0);
          break;
        case SyntaxKind::call:
          look_at_call(index);
          break;
        default:
          break;
      }
    }
    std::vector<std::string> written;
    for (const std::string& name : order_) {
      const Writes& writes = written_[name];
      if (writes.whole || !writes.parts.empty()) written.push_back(name);
    }
    return written;
  }

 private:
  // What is written of one tensor.
  struct Writes {
    // Something that isn't put back.
    bool whole = false;
    // Parts that are set, as written: `x[0]`.
    std::set<std::string_view> parts;
  };

  void look_at_assignment(SyntaxIndex assignment) {
    const SyntaxIndex target = syntax_.child(assignment, SyntaxField::left);
    const SyntaxIndex value = syntax_.child(assignment, SyntaxField::right);
    if (syntax_.is(target, SyntaxKind::subscript) && !puts_back(target, value)) {
      write_to(target, true);
    }
    // The value is worked out before the name is another's: `x = x.add_(1)` writes.
    if (value != no_syntax && steps_ < max_steps) {
      const SyntaxIndex end = std::min(syntax_[value].next, value + max_nodes);
      // `a = b = c` are assignments within each other.
      steps_ += end - value;
      for (SyntaxIndex index = value; index < end; ++index) {
        if (syntax_.is(index, SyntaxKind::lambda)) {
          index = syntax_[index].next - 1;
        } else if (syntax_.is(index, SyntaxKind::call)) {
          look_at_call(index);
        }
      }
    }
    const std::string viewed = value == no_syntax ? std::string() : root_of(value, false, false);
    rebind(target, 0);
    name_parts(target, value);
    if (syntax_.is(target, SyntaxKind::identifier)) {
      kept_.erase(syntax_.text_of(target));
      if (open_.contains(viewed)) views_[std::string(syntax_.text_of(target))] = viewed;
    }
    keep_copy(target, value);
  }

  // `k, v = cache.unbind(0)`: parts of one memory.
  void name_parts(SyntaxIndex target, SyntaxIndex value) {
    if (!syntax_.is(target, SyntaxKind::pattern_list) &&
        !syntax_.is(target, SyntaxKind::tuple_pattern)) {
      return;
    }
    const SyntaxIndex call = value == no_syntax ? no_syntax : syntax_.unwrapped(value);
    if (!syntax_.is(call, SyntaxKind::call)) return;
    const SyntaxIndex called = syntax_.child(call, SyntaxField::function);
    if (!syntax_.is(called, SyntaxKind::attribute)) return;
    const SyntaxIndex name = syntax_.child(called, SyntaxField::attribute);
    const std::string_view method = name == no_syntax ? std::string_view() : syntax_.text_of(name);
    if (method != "unbind" && method != "chunk" && method != "split") return;
    const std::string whole = root_of(syntax_.child(called, SyntaxField::object), false, false);
    if (!open_.contains(whole)) return;
    for (const SyntaxIndex part : syntax_.children(target)) {
      if (syntax_.is(part, SyntaxKind::identifier)) {
        views_[std::string(syntax_.text_of(part))] = whole;
      }
    }
  }

  // `kept = x[part].clone()`; then `x[part] = kept` puts back what was there.
  void keep_copy(SyntaxIndex target, SyntaxIndex value) {
    if (!syntax_.is(target, SyntaxKind::identifier) || value == no_syntax) return;
    SyntaxIndex index = value;
    for (std::size_t depth = 0; depth < max_depth && index != no_syntax; ++depth) {
      index = syntax_.unwrapped(index);
      if (syntax_.is(index, SyntaxKind::call)) {
        index = syntax_.child(index, SyntaxField::function);
      } else if (syntax_.is(index, SyntaxKind::attribute)) {
        index = syntax_.child(index, SyntaxField::object);
      } else if (syntax_.is(index, SyntaxKind::subscript)) {
        index = syntax_.child(index, SyntaxField::value);
      } else {
        break;
      }
    }
    if (syntax_.is(index, SyntaxKind::identifier)) {
      kept_[syntax_.text_of(target)] = syntax_.text_of(index);
    }
  }

  bool puts_back(SyntaxIndex target, SyntaxIndex value) {
    const SyntaxIndex kept = syntax_.unwrapped(value);
    const SyntaxIndex holder = syntax_.unwrapped(syntax_.child(target, SyntaxField::value));
    if (!syntax_.is(kept, SyntaxKind::identifier) || !syntax_.is(holder, SyntaxKind::identifier)) {
      return false;
    }
    const auto found = kept_.find(syntax_.text_of(kept));
    if (found == kept_.end() || found->second != syntax_.text_of(holder)) return false;
    const auto writes = written_.find(std::string(found->second));
    if (writes == written_.end()) return true;
    const std::string_view part = syntax_.text_of(target);
    // All of it, or that part.
    if (part.ends_with("[:]") || part.ends_with("[...]")) writes->second.parts.clear();
    writes->second.parts.erase(part);
    return true;
  }

  void look_at_call(SyntaxIndex call) {
    const SyntaxIndex called = syntax_.child(call, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
    if (!syntax_.is(called, SyntaxKind::attribute)) return;
    const SyntaxIndex name = syntax_.child(called, SyntaxField::attribute);
    if (name == no_syntax) return;
    if (writes_memory(syntax_.text_of(name))) {
      // A statement of its own is only there for the sake of what it writes.
      const bool bare = syntax_.is(syntax_[call].parent, SyntaxKind::expression_statement);
      write_to(syntax_.child(called, SyntaxField::object), false, bare);
    }
    if (!syntax_.is(arguments, SyntaxKind::argument_list)) return;
    const std::vector<std::string> names = scopes_.full_names(called);
    if (names.empty() || !names.front().starts_with("torch.")) return;
    for (const SyntaxIndex argument : syntax_.children(arguments)) {
      if (!syntax_.is(argument, SyntaxKind::keyword_argument)) continue;
      const SyntaxIndex keyword = syntax_.child(argument, SyntaxField::name);
      if (keyword != no_syntax && syntax_.text_of(keyword) == "out") {
        write_to(syntax_.child(argument, SyntaxField::value), false);
      }
    }
  }

  // A part of a tensor by numbers and slices (`x[0]`) has its memory; by anything else it may be a
  // copy, though assigning to such a part writes all the same (`set_item`), and who writes to it in
  // a statement of its own (`bare`) means the tensor.
  void write_to(SyntaxIndex target, bool set_item, bool bare = false) {
    const std::string name = root_of(target, set_item, bare);
    if (name.empty() || !open_.contains(name)) return;
    const auto [writes, added] = written_.try_emplace(name);
    if (added) order_.push_back(name);
    if (set_item) {
      writes->second.parts.insert(syntax_.text_of(syntax_.unwrapped(target)));
    } else {
      writes->second.whole = true;
    }
  }

  // The parameter whose memory an expression has, through views of it and names of them.
  std::string root_of(SyntaxIndex expression, bool set_item, bool bare) const {
    SyntaxIndex index = syntax_.unwrapped(expression);
    for (std::size_t depth = 0; depth < max_depth && index != no_syntax; ++depth) {
      if (syntax_.is(index, SyntaxKind::identifier)) {
        const std::string name(syntax_.text_of(index));
        const auto view = views_.find(name);
        return view == views_.end() ? name : view->second;
      }
      if (syntax_.is(index, SyntaxKind::subscript)) {
        if ((depth > 0 || !set_item) && !is_view(index, bare)) return {};
        index = syntax_.child(index, SyntaxField::value);
      } else if (syntax_.is(index, SyntaxKind::call)) {
        const SyntaxIndex called = syntax_.child(index, SyntaxField::function);
        if (!syntax_.is(called, SyntaxKind::attribute)) return {};
        const SyntaxIndex name = syntax_.child(called, SyntaxField::attribute);
        if (name == no_syntax || !makes_view(syntax_.text_of(name))) return {};
        index = syntax_.child(called, SyntaxField::object);
        const std::vector<std::string> full = scopes_.full_names(called);
        if (!full.empty() && full.front().starts_with("torch.")) return {};
      } else {
        return {};
      }
      if (index != no_syntax) index = syntax_.unwrapped(index);
    }
    return {};
  }

  // Methods of a tensor whose result has its memory.
  static bool makes_view(std::string_view method) {
    constexpr std::array<std::string_view, 13> views = {
        "view",   "narrow",   "select",    "transpose", "permute", "t",       "squeeze",
        "detach", "swapaxes", "unsqueeze", "view_as",   "movedim", "diagonal"};
    return std::find(views.begin(), views.end(), method) != views.end();
  }

  bool is_view(SyntaxIndex subscript, bool bare) const {
    const SyntaxIndex value = syntax_.child(subscript, SyntaxField::value);
    for (const SyntaxIndex part : syntax_.children(subscript)) {
      if (part == value || syntax_.is(part, SyntaxKind::integer)) continue;
      if (bare && syntax_.is(part, SyntaxKind::identifier)) continue;
      const std::string_view text = syntax_.text_of(part);
      const bool slice =
          syntax_.is(part, SyntaxKind::other) && (text.find(':') != text.npos || text == "...");
      if (!slice) return false;
    }
    return true;
  }

  void rebind(SyntaxIndex target, std::size_t depth) {
    const SyntaxIndex index = syntax_.unwrapped(target);
    if (index == no_syntax || depth == max_depth) return;
    if (syntax_.is(index, SyntaxKind::identifier)) {
      open_.erase(std::string(syntax_.text_of(index)));
      views_.erase(std::string(syntax_.text_of(index)));
    } else if (syntax_.is(index, SyntaxKind::pattern_list) ||
               syntax_.is(index, SyntaxKind::tuple_pattern) ||
               syntax_.is(index, SyntaxKind::list_pattern) ||
               syntax_.is(index, SyntaxKind::list_splat_pattern) ||
               syntax_.is(index, SyntaxKind::expression_list)) {
      for (const SyntaxIndex part : syntax_.children(index)) rebind(part, depth + 1);
    }
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  // Parameters that still are what was handed over.
  std::set<std::string> open_;
  std::map<std::string, Writes> written_;
  std::vector<std::string> order_;
  // Names of views -> the parameter whose memory they have.
  std::map<std::string, std::string> views_;
  // Names of copies of parts -> what they are parts of.
  std::map<std::string_view, std::string_view> kept_;
  std::size_t steps_ = 0;
};

}  // namespace

std::vector<std::string> python_writes(const PythonSyntax& syntax, const PythonScopes& scopes,
                                       const PythonFunction& function) {
  if (!function.found || function.node == no_syntax) return {};
  const SyntaxIndex body = syntax.child(function.node, SyntaxField::body);
  if (!syntax.is(body, SyntaxKind::block)) return {};
  return WriteReader(syntax, scopes, function).run(body);
}

}  // namespace opseal
