#include "analyzers/python/result_shapes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr SyntaxIndex max_nodes = 100'000;
// Values of one name.
constexpr std::size_t most_values = 8;
// Names of names, and methods of what methods give.
constexpr std::size_t max_depth = 8;

// What a call that makes a tensor says of it.
struct MadeTensor {
  // The dimensions as written; those of a name are what it is bound to.
  std::vector<SyntaxIndex> shape;
  SyntaxIndex dtype = no_syntax;
  // The one expression that stands for the whole shape, where it is a name or a choice.
  SyntaxIndex whole = no_syntax;
};

// A value that a name gets, or that is handed back, and the choice that it is one side of.
struct PlacedValue {
  SyntaxIndex value = no_syntax;
  SyntaxIndex choice = no_syntax;
};

class ShapeReader {
 public:
  ShapeReader(const PythonSyntax& syntax, const PythonScopes& scopes,
              const PythonFunction& function, SyntaxIndex body)
      : syntax_(syntax),
        scopes_(scopes),
        function_(function),
        body_(body),
        nodes_(syntax.own_nodes(body, max_nodes)) {
    read_changes();
  }

  std::vector<std::string> run() {
    read_returned();
    for (const std::string_view name : returned_) {
      // Another `return` may undo the choice: `return y.transpose(0, 1)`.
      if (!derived_.contains(name)) look_at_name(name);
    }
    if (returned_values_.size() <= most_values) compare_all(returned_values_);
    return {found_.begin(), found_.end()};
  }

  std::vector<std::optional<std::uint32_t>> ranks() const {
    std::vector<std::optional<std::uint32_t>> all;
    bool first = true;
    for (const SyntaxIndex index : nodes_) {
      if (!syntax_.is(index, SyntaxKind::return_statement)) continue;
      const SyntaxIndex value = syntax_.unwrapped(syntax_.first(index));
      std::vector<SyntaxIndex> parts = {value};
      if (syntax_.is(value, SyntaxKind::tuple) || syntax_.is(value, SyntaxKind::expression_list)) {
        parts = syntax_.children(value);
      }
      std::vector<std::optional<std::uint32_t>> one;
      for (const SyntaxIndex part : parts) {
        if (syntax_.is(part, SyntaxKind::list_splat)) return {};
        one.push_back(rank_of(part, 0));
      }
      if (!first && one != all) return {};
      all = std::move(one);
      first = false;
    }
    return all;
  }

 private:
  // Names whose value gets another shape where it stands: `shape.append(n)`, `y.unsqueeze_(0)`,
  // `shape[1:] = …`, `del shape[0]`; and tensors that an operator writes to, `out=y`.
  void read_changes() {
    for (const SyntaxIndex index : nodes_) {
      if (syntax_.is(index, SyntaxKind::call)) {
        const SyntaxIndex called = syntax_.child(index, SyntaxField::function);
        if (syntax_.is(called, SyntaxKind::attribute)) read_method(called);
      } else if (syntax_.is(index, SyntaxKind::keyword_argument)) {
        const SyntaxIndex keyword = syntax_.child(index, SyntaxField::name);
        if (keyword != no_syntax && syntax_.text_of(keyword) == "out") {
          note_written(syntax_.child(index, SyntaxField::value));
        }
      } else if (syntax_.is(index, SyntaxKind::delete_statement)) {
        note_names(index, reshaped_);
      } else if (syntax_.is(index, SyntaxKind::assignment)) {
        // Also `y.data = …`.
        const SyntaxIndex target = syntax_.child(index, SyntaxField::left);
        const bool sliced = syntax_.is(target, SyntaxKind::subscript) &&
                            syntax_.text_of(target).find(':') != std::string_view::npos;
        const bool data =
            syntax_.is(target, SyntaxKind::attribute) && syntax_.text_of(target).ends_with(".data");
        if (sliced || data) note_names(syntax_.first(target), sliced ? sliced_ : reshaped_);
      }
    }
  }

  void read_method(SyntaxIndex called) {
    const SyntaxIndex name = syntax_.child(called, SyntaxField::attribute);
    const SyntaxIndex object = syntax_.unwrapped(syntax_.child(called, SyntaxField::object));
    if (name == no_syntax || !syntax_.is(object, SyntaxKind::identifier)) return;
    constexpr std::array<std::string_view, 19> change{
        "append",     "extend",    "insert",         "pop",        "remove",
        "clear",      "reverse",   "unsqueeze_",     "squeeze_",   "resize_",
        "resize_as_", "set_",      "as_strided_",    "transpose_", "t_",
        "swapaxes_",  "swapdims_", "sparse_resize_", "sort"};
    if (is_one_of(syntax_.text_of(name), change)) reshaped_.insert(syntax_.text_of(object));
  }

  // `y`, `(y, z)`
  void note_written(SyntaxIndex value) {
    value = syntax_.unwrapped(value);
    if (syntax_.is(value, SyntaxKind::identifier)) {
      written_.insert(syntax_.text_of(value));
    } else if (syntax_.is(value, SyntaxKind::tuple)) {
      for (const SyntaxIndex part : syntax_.children(value)) {
        if (syntax_.is(part, SyntaxKind::identifier)) written_.insert(syntax_.text_of(part));
      }
    }
  }

  void note_names(SyntaxIndex expression, std::set<std::string_view>& names) const {
    if (expression == no_syntax) return;
    for (const std::string_view name : names_in(expression)) names.insert(name);
  }

  // What an operator writes to gets the shape that the operator makes where it is a mere place.
  bool is_place(const MadeTensor& made) const {
    return std::all_of(made.shape.begin(), made.shape.end(), [this](SyntaxIndex dimension) {
      return syntax_.is(syntax_.unwrapped(dimension), SyntaxKind::integer);
    });
  }

  std::optional<std::uint32_t> rank_of(SyntaxIndex expression, std::size_t depth) const {
    const SyntaxIndex value = syntax_.unwrapped(expression);
    if (value == no_syntax || depth > max_depth) return {};
    if (syntax_.is(value, SyntaxKind::identifier)) {
      const std::vector<PlacedValue> values = values_of(syntax_.text_of(value));
      if (values.size() != 1) return {};
      if (written_.contains(syntax_.text_of(value))) {
        const std::optional<MadeTensor> made = made_by(values[0].value);
        if (!made || (made->shape.empty() ? !syntax_.is(made->whole, SyntaxKind::identifier)
                                          : is_place(*made))) {
          return {};
        }
      }
      return rank_of(values[0].value, depth + 1);
    }
    if (const std::optional<MadeTensor> made = made_by(value)) return rank_of_shape(*made);
    if (!syntax_.is(value, SyntaxKind::call)) return {};
    const SyntaxIndex called = syntax_.child(value, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(value, SyntaxField::arguments);
    if (!syntax_.is(called, SyntaxKind::attribute) ||
        !syntax_.is(arguments, SyntaxKind::argument_list)) {
      return {};
    }
    const SyntaxIndex name = syntax_.child(called, SyntaxField::attribute);
    const SyntaxIndex object = syntax_.child(called, SyntaxField::object);
    if (name == no_syntax || object == no_syntax || syntax_.text_of(object) == "torch") return {};
    const std::string_view word = syntax_.text_of(name);
    constexpr std::array<std::string_view, 9> keep{
        "contiguous", "clone", "detach", "to", "half", "float", "bfloat16", "t", "transpose"};
    if (is_one_of(word, keep)) return rank_of(object, depth + 1);
    if (word != "view" && word != "reshape") return {};
    MadeTensor formed;
    for (const SyntaxIndex argument : syntax_.children(arguments)) {
      if (syntax_.is(argument, SyntaxKind::keyword_argument) ||
          syntax_.is(argument, SyntaxKind::list_splat)) {
        return {};
      }
      formed.shape.push_back(syntax_.unwrapped(argument));
    }
    if (formed.shape.empty()) return {};
    if (formed.shape.size() == 1) {
      formed.whole = formed.shape.front();
      formed.shape = dimensions_of(formed.whole);
      // `y.view(torch.uint8)`, `y.view(-1)`.
      if (formed.shape.empty() && !syntax_.is(formed.whole, SyntaxKind::identifier)) return {};
    }
    return rank_of_shape(formed);
  }

  // A name may stand for the whole shape, or for its one dimension.
  std::optional<std::uint32_t> rank_of_shape(const MadeTensor& made) const {
    if (!made.shape.empty()) return static_cast<std::uint32_t>(made.shape.size());
    if (!syntax_.is(made.whole, SyntaxKind::identifier)) return {};
    const std::vector<PlacedValue> values = values_of(syntax_.text_of(made.whole));
    if (values.size() != 1) return {};
    if (sliced_.contains(syntax_.text_of(made.whole))) return {};
    const std::vector<SyntaxIndex> dimensions = dimensions_of(values[0].value);
    if (dimensions.empty()) return {};
    return static_cast<std::uint32_t>(dimensions.size());
  }

  // Names, and tensors made on the spot, that are handed back as they are.
  void read_returned() {
    for (const SyntaxIndex index : nodes_) {
      if (!syntax_.is(index, SyntaxKind::return_statement)) continue;
      const SyntaxIndex value = syntax_.unwrapped(syntax_.first(index));
      if (value == no_syntax) continue;
      std::vector<SyntaxIndex> parts = {value};
      const bool several = syntax_.is(value, SyntaxKind::tuple) ||
                           syntax_.is(value, SyntaxKind::expression_list) ||
                           syntax_.is(value, SyntaxKind::list);
      if (several) parts = syntax_.children(value);
      for (const SyntaxIndex part : parts) {
        const SyntaxIndex one = syntax_.unwrapped(part);
        if (syntax_.is(one, SyntaxKind::identifier)) {
          returned_.insert(syntax_.text_of(one));
          continue;
        }
        note_names(one, derived_);
        if (made_by(one)) {
          look_at_made(one);
          if (!several) returned_values_.push_back({one, index});
        }
      }
      if (!several && syntax_.is(value, SyntaxKind::conditional_expression)) look_at_choice(value);
    }
  }

  // Each value that a name of the function gets; empty where it is bound otherwise too.
  std::vector<PlacedValue> values_of(std::string_view name) const {
    if (reshaped_.contains(name)) return {};
    std::vector<PlacedValue> values;
    for (const PythonBinding& binding : scopes_.find(name, body_)) {
      if (binding.kind != PythonBinding::Kind::value || !scopes_.within(binding.value, body_) ||
          values.size() == most_values) {
        return {};
      }
      // `a, b = …` gives it a part of something.
      const SyntaxIndex statement = syntax_[binding.name].parent;
      if (!syntax_.is(statement, SyntaxKind::assignment)) return {};
      values.push_back({syntax_.unwrapped(binding.value), statement});
    }
    return values;
  }

  void look_at_name(std::string_view name) {
    const std::vector<PlacedValue> values = values_of(name);
    // What is made of it afterwards may have another shape again.
    const bool all_made = std::all_of(values.begin(), values.end(), [this](const PlacedValue& one) {
      return syntax_.is(one.value, SyntaxKind::conditional_expression) ||
             made_by(one.value).has_value();
    });
    if (!all_made) return;
    for (const PlacedValue& one : values) {
      if (syntax_.is(one.value, SyntaxKind::conditional_expression)) {
        look_at_choice(one.value);
      } else {
        look_at_made(one.value);
      }
    }
    compare_all(values);
  }

  // The shape, or the dtype, is a choice itself, here or where its name is bound.
  void look_at_made(SyntaxIndex value) {
    const std::optional<MadeTensor> made = made_by(value);
    if (!made) return;
    for (const SyntaxIndex part : {made->whole, made->dtype}) {
      if (part == no_syntax) continue;
      look_at_part(part, part == made->dtype);
    }
    for (const SyntaxIndex dimension : made->shape) {
      if (syntax_.is(syntax_.unwrapped(dimension), SyntaxKind::conditional_expression)) {
        look_at_part(syntax_.unwrapped(dimension), false);
      }
    }
  }

  void look_at_part(SyntaxIndex part, bool dtype) {
    if (syntax_.is(part, SyntaxKind::conditional_expression)) {
      const std::vector<SyntaxIndex> sides = syntax_.children(part);
      if (sides.size() == 3 && differ_in(sides[0], sides[2], dtype)) add_condition(sides[1]);
      return;
    }
    if (!syntax_.is(part, SyntaxKind::identifier)) return;
    const std::vector<PlacedValue> values = values_of(syntax_.text_of(part));
    for (const PlacedValue& one : values) {
      if (syntax_.is(one.value, SyntaxKind::conditional_expression)) {
        look_at_part(one.value, dtype);
      }
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t k = i + 1; k < values.size(); ++k) {
        if (differ_in(values[i].value, values[k].value, dtype)) {
          add_between(values[i].choice, values[k].choice);
        }
      }
    }
  }

  // `a if flag else b` of two tensors.
  void look_at_choice(SyntaxIndex choice) {
    const std::vector<SyntaxIndex> sides = syntax_.children(choice);
    if (sides.size() != 3) return;
    const std::optional<MadeTensor> one = made_by(syntax_.unwrapped(sides[0]));
    const std::optional<MadeTensor> other = made_by(syntax_.unwrapped(sides[2]));
    if (one && other && differ(*one, *other)) add_condition(sides[1]);
    for (const std::size_t side : {std::size_t{0}, std::size_t{2}})
      look_at_made(syntax_.unwrapped(sides[side]));
  }

  void compare_all(const std::vector<PlacedValue>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::optional<MadeTensor> one = made_by(values[i].value);
      for (std::size_t k = i + 1; one && k < values.size(); ++k) {
        const std::optional<MadeTensor> other = made_by(values[k].value);
        if (other && differ(*one, *other)) add_between(values[i].choice, values[k].choice);
      }
    }
  }

  // `torch.empty((m, n), dtype=d)`, `x.new_zeros(m, n)`.
  std::optional<MadeTensor> made_by(SyntaxIndex call) const {
    if (!syntax_.is(call, SyntaxKind::call)) return {};
    const SyntaxIndex called = syntax_.child(call, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
    if (!syntax_.is(called, SyntaxKind::attribute) ||
        !syntax_.is(arguments, SyntaxKind::argument_list)) {
      return {};
    }
    const SyntaxIndex name = syntax_.child(called, SyntaxField::attribute);
    const SyntaxIndex object = syntax_.child(called, SyntaxField::object);
    if (name == no_syntax || object == no_syntax) return {};
    constexpr std::array<std::string_view, 4> makers{"empty", "zeros", "ones", "full"};
    constexpr std::array<std::string_view, 4> news{"new_empty", "new_zeros", "new_ones",
                                                   "new_full"};
    const std::string_view word = syntax_.text_of(name);
    const bool of_torch = syntax_.text_of(object) == "torch";
    if (!(of_torch && is_one_of(word, makers)) && !(!of_torch && is_one_of(word, news))) return {};
    MadeTensor made;
    std::vector<SyntaxIndex> given;
    for (const SyntaxIndex argument : syntax_.children(arguments)) {
      if (syntax_.is(argument, SyntaxKind::list_splat) ||
          syntax_.is(argument, SyntaxKind::dictionary_splat)) {
        return {};
      }
      if (!syntax_.is(argument, SyntaxKind::keyword_argument)) {
        given.push_back(syntax_.unwrapped(argument));
        continue;
      }
      const SyntaxIndex keyword = syntax_.child(argument, SyntaxField::name);
      const SyntaxIndex value = syntax_.unwrapped(syntax_.child(argument, SyntaxField::value));
      if (keyword == no_syntax || value == no_syntax) return {};
      if (syntax_.text_of(keyword) == "dtype") made.dtype = value;
      if (syntax_.text_of(keyword) == "size") given.insert(given.begin(), value);
    }
    if (word == "full" || word == "new_full") given.resize(std::min<std::size_t>(given.size(), 1));
    if (given.empty()) return {};
    if (given.size() == 1) {
      made.whole = given.front();
      made.shape = dimensions_of(given.front());
    } else {
      made.shape = std::move(given);
    }
    return made;
  }

  // Of a tuple or list; empty for anything else, and where a part is unpacked.
  std::vector<SyntaxIndex> dimensions_of(SyntaxIndex shape) const {
    if (!syntax_.is(shape, SyntaxKind::tuple) && !syntax_.is(shape, SyntaxKind::list)) return {};
    std::vector<SyntaxIndex> dimensions = syntax_.children(shape);
    for (const SyntaxIndex one : dimensions) {
      if (syntax_.is(one, SyntaxKind::list_splat)) return {};
    }
    return dimensions;
  }

  bool differ(const MadeTensor& one, const MadeTensor& other) const {
    if (differ_in_shape(one.shape, other.shape)) return true;
    return one.dtype != no_syntax && other.dtype != no_syntax &&
           differ_in(one.dtype, other.dtype, true);
  }

  bool differ_in(SyntaxIndex one, SyntaxIndex other, bool dtype) const {
    one = syntax_.unwrapped(one);
    other = syntax_.unwrapped(other);
    if (one == no_syntax || other == no_syntax) return false;
    if (dtype) {
      // Two names may stand for one dtype.
      const std::string_view a = syntax_.text_of(one);
      const std::string_view b = syntax_.text_of(other);
      return a != b && a.starts_with("torch.") && b.starts_with("torch.");
    }
    const std::vector<SyntaxIndex> a = dimensions_of(one);
    const std::vector<SyntaxIndex> b = dimensions_of(other);
    if (!a.empty() || !b.empty()) return differ_in_shape(a, b);
    return differ_in_dimension(one, other);
  }

  // Surely: numbers that have other names may be the same.
  bool differ_in_shape(const std::vector<SyntaxIndex>& one,
                       const std::vector<SyntaxIndex>& other) const {
    if (one.empty() || other.empty()) return false;
    if (one.size() != other.size()) return true;
    std::vector<std::string> texts;
    std::vector<std::string> others;
    bool same = true;
    for (std::size_t i = 0; i < one.size(); ++i) {
      texts.push_back(plain(one[i]));
      others.push_back(plain(other[i]));
      same = same && texts[i] == others[i];
      if (differ_in_dimension(one[i], other[i])) return true;
    }
    if (same) return false;
    std::sort(texts.begin(), texts.end());
    std::sort(others.begin(), others.end());
    return texts == others;
  }

  // A number and something else, or something else of the same names: `n` and `n // 2`.
  bool differ_in_dimension(SyntaxIndex one, SyntaxIndex other) const {
    one = syntax_.unwrapped(one);
    other = syntax_.unwrapped(other);
    if (plain(one) == plain(other)) return false;
    const bool number = syntax_.is(one, SyntaxKind::integer);
    if (number != syntax_.is(other, SyntaxKind::integer)) return true;
    if (number) return true;
    const bool computed = syntax_.is(one, SyntaxKind::binary_operator) !=
                          syntax_.is(other, SyntaxKind::binary_operator);
    return computed && names_in(one) == names_in(other) && !names_in(one).empty();
  }

  std::string plain(SyntaxIndex expression) const {
    std::string text(syntax_.text_of(expression));
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\t'; });
    return text;
  }

  std::set<std::string_view> names_in(SyntaxIndex expression) const {
    std::set<std::string_view> names;
    for (SyntaxIndex index = expression; index < syntax_[expression].next; ++index) {
      if (syntax_.is(index, SyntaxKind::identifier)) names.insert(syntax_.text_of(index));
    }
    return names;
  }

  // The condition that decides which of two statements runs: both are sides of one `if`, or one
  // is and the other stands in the block around it: before it, or behind it where a side returns.
  void add_between(SyntaxIndex one, SyntaxIndex other) {
    if (one > other) std::swap(one, other);
    const SyntaxIndex first = block_of(one);
    const SyntaxIndex second = block_of(other);
    if (first == no_syntax || second == no_syntax || first == second) return;
    const SyntaxIndex around_first = if_of(first);
    const SyntaxIndex around_second = if_of(second);
    SyntaxIndex decides = no_syntax;
    if (around_second != no_syntax &&
        (around_first == around_second || syntax_[around_second].parent == first)) {
      decides = around_second;
    } else if (around_first != no_syntax && syntax_[around_first].parent == second &&
               syntax_.is(one, SyntaxKind::return_statement)) {
      decides = around_first;
    }
    if (decides != no_syntax) add_condition(syntax_.child(decides, SyntaxField::condition));
  }

  // The `if` of which a block is what is done, or what is done otherwise.
  SyntaxIndex if_of(SyntaxIndex block) const {
    SyntaxIndex above = syntax_[block].parent;
    if (syntax_.is(above, SyntaxKind::else_clause)) above = syntax_[above].parent;
    return syntax_.is(above, SyntaxKind::if_statement) ? above : no_syntax;
  }

  SyntaxIndex block_of(SyntaxIndex statement) const {
    SyntaxIndex above = syntax_[statement].parent;
    if (syntax_.is(above, SyntaxKind::expression_statement)) above = syntax_[above].parent;
    return syntax_.is(above, SyntaxKind::block) ? above : no_syntax;
  }

  // Parameters that alone decide the condition: a flag, one that may be absent.
  void add_condition(SyntaxIndex condition) {
    if (condition == no_syntax) return;
    std::set<std::string_view> names;
    for (SyntaxIndex index = condition; index < syntax_[condition].next; ++index) {
      if (!syntax_.is(index, SyntaxKind::identifier)) {
        // What a call makes of it, and a part of something, may follow from other parameters.
        if (syntax_.is(index, SyntaxKind::call) || syntax_.is(index, SyntaxKind::attribute) ||
            syntax_.is(index, SyntaxKind::subscript)) {
          return;
        }
        continue;
      }
      names.insert(syntax_.text_of(index));
    }
    if (names.size() != 1) return;
    const std::string_view name = *names.begin();
    // A parameter that the body replaces is another thing.
    const std::vector<PythonBinding>& bound = scopes_.find(name, body_);
    if (bound.size() != 1 || bound[0].kind != PythonBinding::Kind::parameter) return;
    const bool own =
        std::any_of(function_.parameters.begin(), function_.parameters.end(),
                    [name](const PythonParameter& parameter) { return parameter.name == name; });
    if (own) found_.emplace(name);
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  const PythonFunction& function_;
  SyntaxIndex body_;
  std::vector<SyntaxIndex> nodes_;
  std::set<std::string_view> returned_;
  // Names that something else is made of by a `return`.
  std::set<std::string_view> derived_;
  std::set<std::string_view> reshaped_;
  std::set<std::string_view> sliced_;
  std::set<std::string_view> written_;
  std::vector<PlacedValue> returned_values_;
  std::set<std::string> found_;
};

}  // namespace

std::vector<std::string> python_shape_choices(const PythonSyntax& syntax,
                                              const PythonScopes& scopes,
                                              const PythonFunction& function) {
  if (!function.found || function.node == no_syntax) return {};
  const SyntaxIndex body = syntax.child(function.node, SyntaxField::body);
  if (!syntax.is(body, SyntaxKind::block)) return {};
  return ShapeReader(syntax, scopes, function, body).run();
}

std::vector<std::optional<std::uint32_t>> python_result_ranks(const PythonSyntax& syntax,
                                                              const PythonScopes& scopes,
                                                              const PythonFunction& function) {
  if (!function.found || function.node == no_syntax) return {};
  const SyntaxIndex body = syntax.child(function.node, SyntaxField::body);
  if (!syntax.is(body, SyntaxKind::block)) return {};
  return ShapeReader(syntax, scopes, function, body).ranks();
}

void read_parameter_reads(const PythonSyntax& syntax, PythonFunction& function) {
  if (!function.found || function.node == no_syntax || function.any_name) return;
  const SyntaxIndex body = syntax.child(function.node, SyntaxField::body);
  if (body == no_syntax || syntax[body].next - body > max_nodes) return;
  std::set<std::string_view> named;
  std::set<std::string_view> dtypes;
  bool hands_back = !syntax.is(body, SyntaxKind::block);
  for (SyntaxIndex index = body; index < syntax[body].next; ++index) {
    if (syntax.is(index, SyntaxKind::return_statement)) hands_back = true;
    if (!syntax.is(index, SyntaxKind::identifier)) continue;
    const std::string_view name = syntax.text_of(index);
    if (name == "locals" || name == "inspect") return;
    named.insert(name);
    // `dtype=x.dtype`
    const SyntaxIndex attribute = syntax[index].parent;
    const SyntaxIndex keyword = syntax[attribute].parent;
    if (!syntax.is(keyword, SyntaxKind::keyword_argument)) continue;
    const SyntaxIndex called = syntax.child(keyword, SyntaxField::name);
    if (called == no_syntax || syntax.text_of(called) != "dtype") continue;
    if (syntax.text_of(attribute).ends_with(".dtype") && syntax.first(attribute) == index) {
      dtypes.insert(name);
    }
  }
  // One that only raises says nothing of shapes.
  if (!hands_back) return;
  function.reads_known = true;
  for (const PythonParameter& parameter : function.parameters) {
    // As `*args` it may hold any of them.
    if (parameter.name.starts_with('*')) {
      function.reads.clear();
      function.reads_known = false;
      return;
    }
    if (named.contains(parameter.name)) function.reads.push_back(parameter.name);
  }
  for (const PythonParameter& parameter : function.parameters) {
    if (dtypes.contains(parameter.name)) function.reads.push_back(parameter.name + ".dtype");
  }
}

}  // namespace opseal
