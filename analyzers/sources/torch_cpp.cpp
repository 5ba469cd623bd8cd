// The shapes are those of torch/library.h: blocks `TORCH_LIBRARY(ns, m) { m.def("x(Tensor y) ->
// Tensor"); m.impl("x", torch::kCUDA, &fn); }`, `TORCH_LIBRARY_IMPL(ns, CUDA, m) {…}`, functions
// that such a block calls with its library, and the older `torch::RegisterOperators().op(…)`.

#include "analyzers/sources/torch_cpp.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/cpp_record.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

bool is_word(Tokens tokens, std::string_view word) {
  return tokens.size() == 1 && tokens.front().is(word);
}

// `torch::kCUDA`, `c10::DispatchKey::CUDA` -> `CUDA`; empty for anything but a name.
std::string key_of(Tokens tokens) {
  if (tokens.empty() || !tokens.back().is_identifier()) return {};
  for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
    if (!tokens[at].is_identifier() && !tokens[at].is("::")) return {};
  }
  std::string_view key = tokens.back().text;
  if (key.size() > 1 && key[0] == 'k' && key[1] >= 'A' && key[1] <= 'Z') key.remove_prefix(1);
  // A variable.
  if (key.empty() || key[0] < 'A' || key[0] > 'Z') return {};
  return std::string(key);
}

// What a code generator fills in.
bool is_template(std::string_view text) {
  return text.find("{{") != text.npos || text.find("{%") != text.npos;
}

struct Block {
  // Set for a function's parameter.
  std::string function;
  TorchTarget target;
  std::string_view variable;
  // A code generator fills in the namespace.
  bool generated = false;
  // The namespace is a word of the build that torch's macro made a text of.
  bool unexpanded = false;
};

class TorchReader {
 public:
  TorchReader(const SourceUnit& unit, const Invocations& found, TorchCpp& out)
      : unit_(unit), found_(found), out_(out) {}

  void run() {
    for (std::uint32_t scope = 0; scope < found_.scopes.size(); ++scope) {
      if (std::optional<Block> block = block_of(scope)) {
        read_calls(found_.scopes[scope], *block);
        blocks_.emplace(scope, std::move(*block));
      }
    }
    // Of each call the one that its chain begins with, which stands before it.
    std::vector<std::uint32_t> roots(found_.list.size(), no_token);
    for (std::uint32_t at = 0; at < found_.list.size(); ++at) {
      const Invocation& invocation = found_.list[at];
      const std::uint32_t previous = invocation.previous;
      // The methods of a class are no operators.
      const bool of_class = previous != no_token && found_.list[previous].name == "class_";
      if (previous == no_token) roots[at] = at;
      if (previous < at && !of_class) roots[at] = roots[previous];
      if (invocation.name.ends_with("TORCH_LIBRARY") || invocation.name == "TORCH_LIBRARY_EXPAND") {
        read_owner(invocation);
      } else if (invocation.form == InvocationForm::member) {
        if (roots[at] != no_token) read_member(invocation, found_.list[roots[at]]);
      } else if (invocation.name == "RegisterOperators") {
        read_operators_object(invocation);
      }
    }
  }

 private:
  static bool is_torch_block(std::string_view name) {
    return name.starts_with("TORCH_LIBRARY") || name.starts_with("STABLE_TORCH_LIBRARY");
  }

  std::optional<Block> block_of(std::uint32_t index) const {
    const Scope& scope = found_.scopes[index];
    if (scope.kind == ScopeKind::macro_block && scope.invocation != no_token) {
      return library_block(found_.list[scope.invocation]);
    }
    if (scope.kind != ScopeKind::function || scope.parameters.empty()) return {};
    const Tokens all = unit_.tokens;
    const Tokens parameters =
        all.subspan(scope.parameters.begin, scope.parameters.end - scope.parameters.begin);
    for (const Tokens parameter : split_typed(parameters)) {
      const bool library = std::any_of(parameter.begin(), parameter.end(), [](const Token& token) {
        return token.is("Library") || token.is("StableLibrary");
      });
      if (!library || parameter.size() < 2 || !parameter.back().is_identifier()) continue;
      Block block;
      block.variable = parameter.back().text;
      if (!read_project_library(scope, block)) block.function = std::string(base_of(scope.name));
      return block;
    }
    return {};
  }

  // A project's own `MY_TORCH_LIBRARY_IMPL(ns, CUDA, m) {`, which ends in a function that takes the
  // library: the arguments are those that torch's macro of that name would have.
  bool read_project_library(const Scope& scope, Block& block) const {
    if (scope.name_token == no_token) return false;
    const Token& name = unit_.tokens[scope.name_token];
    const MacroExpansion& expansion = unit_.expansions[name.expansion];
    if (expansion.macro.find("LIBRARY") == expansion.macro.npos) return false;
    if (expansion.offset + expansion.length > unit_.bytes.size()) return false;
    TextArena arena;
    Lexer lexer(unit_.bytes.substr(expansion.offset, expansion.length), arena);
    std::vector<Token> row;
    for (Token token; lexer.next(token);) row.push_back(token);
    const Tokens tokens = row;
    if (tokens.size() < 4 || !tokens[1].is('(') || !tokens.back().is(')')) return false;
    const std::vector<Tokens> arguments = split_arguments(tokens.subspan(2, tokens.size() - 3));
    const bool implementation = expansion.macro.find("_IMPL") != expansion.macro.npos;
    if (arguments.size() != (implementation ? 3 : 2)) return false;
    if (!is_word(arguments.back(), block.variable) || arguments.front().size() != 1) return false;
    block.target.space.text = text_of(arguments.front());
    block.target.space.open = is_upper(block.target.space.text);
    if (implementation) block.target.key = key_of(arguments[1]);
    block.target.when = unit_.condition_of(name);
    return true;
  }

  std::optional<Block> library_block(const Invocation& invocation) const {
    if (!is_torch_block(invocation.name)) return {};
    const bool implementation = invocation.name.find("_IMPL") != invocation.name.npos;
    const std::size_t count = implementation ? 3 : 2;
    if (invocation.arguments.size() != count) return {};
    const Tokens variable = invocation.arguments.back();
    if (variable.size() != 1 || !variable.front().is_identifier()) return {};
    Block block;
    block.variable = variable.front().text;
    const Tokens space = invocation.arguments.front();
    block.target.space.text = text_of(space);
    // `{{ name }}`
    block.generated = !space.empty() && space.front().is('{');
    // The plain macros take the word as it is written; what came through another may have been
    // expanded by the build first.
    const bool expands = !invocation.through_macro.empty() || invocation.name.ends_with("_EXPAND");
    const bool named_by_build = is_word(space, "TORCH_EXTENSION_NAME");
    block.target.space.open =
        space.size() != 1 || named_by_build || (expands && is_upper(space.front().text));
    // The blocks of kernels and of fragments hand the word on to another macro, which gets what it
    // stands for.
    block.unexpanded = named_by_build && !expands && invocation.name.ends_with("TORCH_LIBRARY");
    if (implementation) block.target.key = key_of(invocation.arguments[1]);
    block.target.when = unit_.conditions[invocation.condition];
    return block;
  }

  void read_owner(const Invocation& invocation) {
    const std::optional<Block> block = library_block(invocation);
    if (!block || block->target.space.open) return;
    TorchRecord record = record_at<TorchRecord>(unit_, invocation);
    record.use = TorchUse::own;
    record.space = block->target.space;
    out_.records.push_back(std::move(record));
  }

  // The block or function whose library `object` is.
  const Block* block_for(std::uint32_t scope, std::string_view object) const {
    for (; scope != no_scope; scope = found_.scopes[scope].parent) {
      const auto block = blocks_.find(scope);
      if (block == blocks_.end()) continue;
      if (block->second.variable == object) return &block->second;
    }
    return nullptr;
  }

  // Calls `f(m)` within a block.
  void read_calls(const Scope& scope, const Block& block) {
    const Tokens all = unit_.tokens;
    for (std::uint32_t at = scope.body.begin; at + 2 < scope.body.end; ++at) {
      if (!all[at].is_identifier() || !all[at + 1].is('(')) continue;
      if (at > 0 && (all[at - 1].is('.') || all[at - 1].is("->"))) continue;
      const std::uint32_t close = found_.partners[at + 1];
      if (close == no_token || close <= at + 1 || close > scope.body.end) continue;
      const std::vector<Tokens> arguments = split_arguments(all.subspan(at + 2, close - at - 2));
      const bool hands_on = std::any_of(arguments.begin(), arguments.end(),
                                        [&](Tokens one) { return is_word(one, block.variable); });
      if (!hands_on) continue;
      TorchCpp::Call call{std::string(all[at].text), block.function, block.target};
      call.target.when = call.target.when && unit_.condition_of(all[at]);
      out_.calls.push_back(std::move(call));
    }
  }

  void read_member(const Invocation& invocation, const Invocation& root) {
    if (invocation.name == "op") {
      if (root.name == "RegisterOperators") read_op(invocation);
      return;
    }
    const bool fallback = invocation.name == "fallback";
    if (invocation.name != "def" && invocation.name != "impl" && !fallback) return;
    if (root.form != InvocationForm::member || root.object.empty()) return;
    const Block* block = block_for(invocation.scope, root.object);
    if (block == nullptr || invocation.arguments.empty()) return;
    TorchRecord record = record_at<TorchRecord>(unit_, invocation);
    record.space = block->target.space;
    record.key = block->target.key;
    record.when = block->target.when && record.when;
    if (block->unexpanded) record.unexpanded = block->target.space.text;
    if (block->generated) {
      record.use = invocation.name == "def" ? TorchUse::define : TorchUse::implement;
      record.written = text_of(invocation.arguments.front());
      out_.records.push_back(std::move(record));
      return;
    }
    const std::size_t first = out_.records.size();
    if (fallback) {
      read_fallback(invocation, std::move(record));
    } else if (invocation.name == "def") {
      read_def(invocation.arguments, std::move(record));
    } else {
      read_impl(invocation.arguments, std::move(record));
    }
    if (block->function.empty()) return;
    for (std::size_t at = first; at < out_.records.size(); ++at) {
      out_.delegated.push_back({block->function, std::move(out_.records[at])});
    }
    out_.records.resize(first);
  }

  // `m.fallback(CppFunction::makeFromBoxedFunction<&fallback>())` in a block for every namespace.
  void read_fallback(const Invocation& invocation, TorchRecord record) {
    if (record.space.text != "_" || record.key.empty()) return;
    const Tokens function = invocation.arguments.front();
    record.use = TorchUse::backend_fallback;
    // Passes on and serves nothing.
    record.fallthrough = std::any_of(function.begin(), function.end(), [](const Token& token) {
      return token.is("makeFallthrough");
    });
    out_.records.push_back(std::move(record));
  }

  // The text that an argument is, also within `torch::schema(…)` and TORCH_SELECTIVE_SCHEMA(…).
  bool read_text(Tokens argument, TorchRecord& record) const {
    record.name.place = place_of(argument, unit_.file);
    record.written = text_of(argument);
    while (argument.size() > 3 && argument.back().is(')')) {
      std::size_t open = 0;
      while (open < argument.size() && (argument[open].is_identifier() || argument[open].is("::")))
        ++open;
      if (open == 0 || !argument[open].is('(')) break;
      if (closing_bracket(argument, open) + 1 != argument.size()) break;
      const std::string_view name = argument[open - 1].text;
      if (name != "schema" && !name.starts_with("TORCH_SELECTIVE_")) return false;
      const std::vector<Tokens> inner =
          split_arguments(argument.subspan(open + 1, argument.size() - open - 2));
      if (inner.empty()) return false;
      argument = inner.front();
    }
    bool only_strings = false;
    const std::string text = string_value(argument, &only_strings);
    if (argument.empty() || !argument.front().is_string()) return false;
    if (only_strings) {
      if (is_template(text)) return false;
      set_torch_name(text, record);
      return !record.name.text.empty();
    }
    // A default that a macro names: `"x(Tensor y, int size=" STRING(SIZE) ") -> Tensor"`. The name
    // is known, and the schema isn't.
    const std::string start = string_value(argument.first(1));
    if (start.find('(') == start.npos || is_template(start)) return false;
    set_torch_name(start, record);
    record.schema.clear();
    return !record.name.text.empty();
  }

  void undecided(TorchRecord record) {
    record.name.text.clear();
    record.schema.clear();
    out_.records.push_back(std::move(record));
  }

  void read_def(const std::vector<Tokens>& arguments, TorchRecord record) {
    record.use = TorchUse::define;
    record.key.clear();
    if (!read_text(arguments.front(), record)) return undecided(std::move(record));
    // What follows are tags in braces, or a function.
    TorchRecord kernel = record;
    for (std::size_t at = 1; at < arguments.size(); ++at) {
      if (arguments[at].empty() || arguments[at].front().is('{')) continue;
      const KernelArgument read = read_kernel_argument(arguments[at], unit_.file);
      if (read.function.name.empty() && !read.function.declared) continue;
      kernel.use = TorchUse::implement;
      kernel.schema.clear();
      kernel.function = read.function;
      kernel.key = read.key.empty() ? "CompositeImplicitAutograd" : key_of(read.key);
    }
    out_.records.push_back(std::move(record));
    if (kernel.use == TorchUse::implement) out_.records.push_back(std::move(kernel));
  }

  void read_impl(const std::vector<Tokens>& arguments, TorchRecord record) {
    record.use = TorchUse::implement;
    const bool named = read_text(arguments.front(), record);
    record.schema.clear();
    if (arguments.size() > 1) {
      // Two commas may be those of a key, or of template arguments.
      const Tokens rest{arguments[1].data(),
                        static_cast<std::size_t>(arguments.back().data() + arguments.back().size() -
                                                 arguments[1].data())};
      const std::string key = arguments.size() > 2 ? key_of(arguments[1]) : std::string();
      const bool has_key = !key.empty() && looks_like_key(arguments[1]);
      const Tokens last =
          has_key ? rest.subspan(arguments[1].size() + 1) : without_allow_mode(rest, arguments);
      const KernelArgument read = read_kernel_argument(last, unit_.file);
      if (has_key) record.key = key;
      if (!read.key.empty()) record.key = key_of(read.key);
      record.function = read.function;
      record.fallthrough = read.fallthrough;
    }
    // A definition without a key of its own serves every device.
    if (record.key.empty() && arguments.size() == 2) record.key = "CompositeImplicitAutograd";
    if (!named) return undecided(std::move(record));
    out_.records.push_back(std::move(record));
  }

  // `torch::kCUDA` and not a function: all but the last word are `torch`, `c10`, `at`,
  // `DispatchKey`.
  static bool looks_like_key(Tokens tokens) {
    return std::all_of(tokens.begin(), tokens.end() - 1, [](const Token& token) {
      return token.is("::") || token.is("torch") || token.is("c10") || token.is("at") ||
             token.is("DispatchKey") || token.is("DeviceType") || token.is("headeronly") ||
             token.is("aoti_torch");
    });
  }

  // `m.impl("x", fn, torch::_RegisterOrVerify::REGISTER)`
  static Tokens without_allow_mode(Tokens rest, const std::vector<Tokens>& arguments) {
    const Tokens last = arguments.back();
    const bool mode = std::any_of(last.begin(), last.end(),
                                  [](const Token& token) { return token.is("_RegisterOrVerify"); });
    return mode && arguments.size() == 3 ? arguments[1] : rest;
  }

  // `torch::RegisterOperators reg("ns::x(…)", &fn)`
  void read_operators_object(const Invocation& invocation) {
    if (!invocation.arguments.empty()) read_op(invocation);
  }

  void read_op(const Invocation& invocation) {
    if (invocation.arguments.empty()) return;
    TorchRecord record = record_at<TorchRecord>(unit_, invocation);
    record.use = TorchUse::define;
    // Options in place of a text keep the name for themselves.
    if (!read_text(invocation.arguments.front(), record)) return undecided(std::move(record));
    TorchRecord kernel = record;
    out_.records.push_back(std::move(record));
    if (invocation.arguments.size() < 2) return;
    const KernelArgument read = read_kernel_argument(invocation.arguments[1], unit_.file);
    if (read.function.name.empty() && !read.function.declared) return;
    kernel.use = TorchUse::implement;
    kernel.schema.clear();
    kernel.function = read.function;
    kernel.key = "CompositeImplicitAutograd";
    out_.records.push_back(std::move(kernel));
  }

  const SourceUnit& unit_;
  const Invocations& found_;
  TorchCpp& out_;
  std::map<std::uint32_t, Block> blocks_;
};

}  // namespace

void read_torch_cpp(const SourceUnit& unit, const Invocations& found, TorchCpp& out) {
  TorchReader(unit, found, out).run();
}

}  // namespace opseal
