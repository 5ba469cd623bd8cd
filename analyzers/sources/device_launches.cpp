// Launches of kernels, and who reads the error of one: `k<<<grid, block>>>(x)` says nothing itself.

#include "analyzers/sources/device_launches.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/device_conditions.h"
#include "analyzers/sources/device_current.h"
#include "analyzers/sources/device_errors.h"
#include "analyzers/sources/device_sides.h"
#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Launches whose status is what the call gives.
constexpr std::array<std::string_view, 15> status_launches{"cudaLaunchKernel",
                                                           "cudaLaunchKernelEx",
                                                           "cudaLaunchKernelExC",
                                                           "cudaLaunchKernelEXC",
                                                           "cuLaunchKernel",
                                                           "cuLaunchKernelEx",
                                                           "cuLaunchCooperativeKernel",
                                                           "cudaLaunchCooperativeKernel",
                                                           "hipLaunchKernel",
                                                           "hipLaunchKernelExC",
                                                           "hipLaunchCooperativeKernel",
                                                           "hipModuleLaunchKernel",
                                                           "hipExtModuleLaunchKernel",
                                                           "GpuLaunchKernel",
                                                           "CudaLaunchKernel"};

// `<<<`, which older formatters part.
bool opens_launch(Tokens tokens, std::size_t at) {
  if (at == 0) return false;
  const bool parted = tokens[at].is("<<") && at + 1 < tokens.size() && tokens[at + 1].is('<');
  if (!parted && !tokens[at].is("<<<")) return false;
  return tokens[at - 1].is_identifier() ? !tokens[at - 1].is("operator") : tokens[at - 1].is('>');
}

// Where the name in front of `<<<` stands, without template arguments; `at` where there is none.
std::size_t name_before(Tokens tokens, std::size_t at) {
  constexpr int most_tokens = 256;
  if (!tokens[at - 1].is('>')) return at - 1;
  int depth = 0;
  std::size_t name = at;
  for (int steps = 0; name > 0 && steps < most_tokens; ++steps) {
    const Token& before = tokens[--name];
    if (before.is('>')) ++depth;
    if (before.is('<') && --depth == 0) {
      return name > 0 && tokens[name - 1].is_identifier() ? name - 1 : at;
    }
  }
  return at;
}

// The last name of a call's argument: `k` of `(void*)&a::k<float>`.
std::string kernel_in(Tokens argument) {
  std::string name;
  for (const Token& token : argument) {
    if (token.is('<') && !name.empty()) break;
    if (token.is_identifier()) name = token.text;
  }
  return name;
}

struct FoundLaunch {
  bool found = false;
  bool checked = false;
  std::string kernel;
  // Index of the token that shows it.
  std::size_t shown = 0;
};

FoundLaunch launch_at(Tokens tokens, std::size_t at, bool is_cuda) {
  if (is_cuda && opens_launch(tokens, at)) {
    const std::size_t name = name_before(tokens, at);
    return {true, false, name == at ? std::string() : std::string(tokens[name].text), name};
  }
  if (!tokens[at].is_identifier() || at + 1 >= tokens.size() || !tokens[at + 1].is('(')) return {};
  const std::string_view word = tokens[at].text;
  const bool by_macro = word == "hipLaunchKernelGGL";
  if (!by_macro && !is_one_of(word, status_launches)) return {};
  // Where the call is looked at from a place that ends early, nothing is known of its arguments.
  constexpr std::size_t most_tokens = 4096;
  const Tokens rest = tokens.subspan(at + 1, std::min(most_tokens, tokens.size() - at - 1));
  const std::size_t close = closing_bracket(rest, 0);
  if (close >= rest.size()) return {true, !by_macro && is_used_call(tokens, at), {}, at};
  const std::vector<Tokens> arguments = split_call_arguments(rest.subspan(1, close - 1));
  const bool configured = word.find("KernelE") != word.npos;
  const std::size_t which = configured ? 1 : 0;
  return {true, !by_macro && is_used_call(tokens, at),
          which < arguments.size() ? kernel_in(arguments[which]) : std::string(), at};
}

void sort_uses(std::vector<NameUse>& uses) {
  std::sort(uses.begin(), uses.end(), [](const NameUse& a, const NameUse& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.first < b.first;
  });
  std::size_t kept = 0;
  for (std::size_t at = 0; at < uses.size(); ++at) {
    if (kept > 0 && uses[kept - 1].hash == uses[at].hash) {
      uses[kept - 1].last = uses[at].last;
      uses[kept - 1].last_call = std::max(uses[kept - 1].last_call, uses[at].last_call);
      uses[kept - 1].call_end = std::max(uses[kept - 1].call_end, uses[at].call_end);
    } else {
      uses[kept++] = uses[at];
    }
  }
  uses.resize(kept);
}

// `OnExit check{[] { CUDA_CHECK(cudaGetLastError()); }}`: it is read at the end of the block.
bool stands_in_cleanup(Tokens tokens, std::size_t begin, std::size_t at) {
  constexpr std::size_t most_tokens = 32;
  constexpr std::array<std::string_view, 6> words{"exit",      "cleanup", "finally",
                                                  "finalizer", "defer",   "guard"};
  bool in_lambda = false;
  for (std::size_t steps = 0; at > begin && steps < most_tokens; ++steps) {
    const Token& token = tokens[--at];
    if (token.is(';') || token.is('}')) return false;
    in_lambda = in_lambda || token.is('{');
    if (!in_lambda || !token.is_identifier()) continue;
    const std::string word = lower(token.text);
    for (const std::string_view one : words) {
      if (word.find(one) != word.npos) return true;
    }
  }
  return false;
}

class LaunchReader {
 public:
  LaunchReader(const PlainSource& source, bool is_cuda, LaunchCode& code)
      : source_(source), is_cuda_(is_cuda), code_(code) {}

  void run() {
    for (const SourceDefinition& definition : source_.definitions) read_macro(definition);
    const std::vector<Scope>& scopes = source_.shape.scopes;
    std::uint32_t end = 0;
    for (std::uint32_t at = 0; at < scopes.size(); ++at) {
      // What stands in a function belongs to it.
      if (scopes[at].kind != ScopeKind::function || scopes[at].body.begin < end) continue;
      end = std::max(end, scopes[at].body.end);
      read_function(at);
    }
  }

 private:
  void read_macro(const SourceDefinition& definition) {
    const Tokens body = source_.directive(definition.body);
    NamingCode made;
    made.is_macro = true;
    made.name = definition.name;
    made.hash = hash_of(definition.name);
    for (std::size_t at = 0; at < body.size(); ++at) {
      made.reads_error = made.reads_error || reads_launch_error(body, at);
      FoundLaunch launch = launch_at(body, at, is_cuda_);
      if (launch.found && !made.launches) {
        made.launches = true;
        made.reads_error = made.reads_error || launch.checked;
        made.kernel = std::move(launch.kernel);
      }
      add_use(body, at, no_token, made);
    }
    if (made.uses.empty()) return;
    sort_uses(made.uses);
    conditions_.read(body, 0, made);
    code_.macros.push_back(std::move(made));
  }

  // `close`: of the bracket behind it, as far as that is known.
  static void add_use(Tokens tokens, std::size_t at, std::uint32_t close, NamingCode& code) {
    const Token& token = tokens[at];
    // Of the short names, those that mean a capability.
    const bool counts = token.text.size() > 2 || token.is("cc") || token.is("sm");
    if (!token.is_identifier() || !counts) return;
    code.guards_device = code.guards_device || guards_device(token.text);
    const bool is_call =
        at + 1 < tokens.size() && (tokens[at + 1].is('(') || tokens[at + 1].is('<'));
    const auto place = static_cast<std::uint32_t>(at);
    const bool has_end = is_call && close != no_token && close > place;
    code.uses.push_back({token.hash, place, place, is_call ? place : 0,
                         has_end ? close : (is_call ? place : 0), token.offset, token.length});
  }

  void read_function(std::uint32_t scope) {
    const Scope& function = source_.shape.scopes[scope];
    const Tokens tokens = source_.unit.tokens;
    NamingCode made;
    made.name = base_of(function_name(source_, scope));
    made.hash = hash_of(made.name);
    const Scope* const type = source_.shape.enclosing(function.parent, ScopeKind::type);
    if (type != nullptr) made.owner = hash_of(base_of(type->name));
    made.is_destructor = function.name_token > 0 && tokens[function.name_token - 1].is('~');
    const TokenRange given = function.parameters;
    made.takes_tensors = takes_tensors(tokens.subspan(given.begin, given.end - given.begin));
    if (made.is_destructor) made.hash = tokens[function.name_token].hash;
    const CodeSide side = side_of_function(source_, scope);
    // What devices run neither checks nor is asked for here.
    if (side == CodeSide::device || side == CodeSide::kernel) return;
    for (std::uint32_t at = function.body.begin; at < function.body.end; ++at) {
      const std::uint32_t close =
          at + 1 < tokens.size() ? source_.shape.partners[at + 1] : no_token;
      add_use(tokens, at, close, made);
      if (reads_launch_error(tokens, at)) {
        made.reads_error = true;
        made.last_read = stands_in_cleanup(tokens, function.body.begin, at) ? function.body.end
                         : close != no_token && close > at                  ? close
                                                                            : at;
      } else if (declares_check(tokens, at)) {
        made.reads_error = true;
        made.last_read = function.body.end;
      }
      FoundLaunch found = launch_at(tokens, at, is_cuda_);
      if (!found.found) continue;
      // Whoever calls what is handed back reads the error, and nobody sees who that is.
      found.checked = found.checked || is_handed_back(function.body.begin, at);
      add_launch(at, std::move(found));
    }
    sort_uses(made.uses);
    conditions_.read(tokens.subspan(function.body.begin, function.body.end - function.body.begin),
                     function.body.begin, made);
    code_.functions.push_back(std::move(made));
  }

  // It stands in `return [=](stream s) { ... };`.
  bool is_handed_back(std::uint32_t begin, std::uint32_t at) const {
    const std::vector<std::uint32_t>& partners = source_.shape.partners;
    const Tokens tokens = source_.unit.tokens;
    std::uint32_t open = at;
    while (open > begin && !tokens[open].is('{')) {
      const std::uint32_t partner = partners[open];
      const bool closes = tokens[open].is('}') || tokens[open].is(')') || tokens[open].is(']');
      open = closes && partner < open ? partner : open;
      --open;
    }
    if (open <= begin) return false;
    // `mutable`, `-> type`.
    constexpr std::uint32_t most_words = 8;
    std::uint32_t last = open - 1;
    while (last > begin && open - last < most_words && !tokens[last].is(')') &&
           !tokens[last].is(']')) {
      --last;
    }
    if (tokens[last].is(')') && partners[last] < last && partners[last] > begin) {
      last = partners[last] - 1;
    }
    if (!tokens[last].is(']') || partners[last] >= last || partners[last] <= begin) return false;
    return tokens[partners[last] - 1].is("return");
  }

  void add_launch(std::uint32_t at, FoundLaunch found) {
    const Token& token = source_.unit.tokens[found.shown];
    KernelLaunch launch;
    launch.kernel = std::move(found.kernel);
    launch.function = static_cast<std::uint32_t>(code_.functions.size());
    launch.at = at;
    launch.checked = found.checked;
    launch.when = source_.unit.conditions[token.condition];
    launch.place = {source_.unit.file, token.offset, token.length};
    code_.launches.push_back(std::move(launch));
  }

  const PlainSource& source_;
  bool is_cuda_;
  LaunchCode& code_;
  ConditionReader conditions_;
};

}  // namespace

void read_launches(const PlainSource& source, bool is_cuda, LaunchCode& code) {
  LaunchReader(source, is_cuda, code).run();
}

bool LaunchCode::accepts(const KernelLaunch& launch) const {
  return std::any_of(accepted.begin(), accepted.end(), [&launch](const TextRange& lines) {
    return lines.begin <= launch.place.offset && launch.place.offset < lines.end;
  });
}

}  // namespace opseal
