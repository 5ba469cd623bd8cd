#include "analyzers/probe/call_plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analyzers/probe/declaration.h"
#include "opseal/dtypes.h"
#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::size_t most_signatures = 64;
// Elements of one operand.
constexpr std::uint64_t most_elements = std::uint64_t{1} << 22;

// Combinations of dtypes, and which operands change with the choice.
struct Combinations {
  std::vector<std::vector<std::string>> declared;
  // Results whose dtype is stated for each of them.
  std::vector<bool> stated;
  std::vector<bool> varies;
  std::string skipped;
};

bool is_in(const std::vector<std::string>& words, std::string_view word) {
  const Dtype* dtype = find_dtype(word);
  return std::any_of(words.begin(), words.end(), [&](const std::string& one) {
    const Dtype* other = find_dtype(one);
    return one == word || (dtype != nullptr && other != nullptr && same_dtype(*dtype, *other));
  });
}

// One dtype for all operands that take it; an operand that takes a single one always has that.
// `asked`: operands from there on are what the callee makes of the others.
std::optional<std::vector<std::string>> uniform(const std::vector<Operand>& operands,
                                                const std::string& dtype, std::size_t asked) {
  std::vector<std::string> words;
  for (const Operand& operand : operands) {
    if (operand.dtypes.empty() || is_in(operand.dtypes, dtype)) {
      words.push_back(dtype);
    } else if (operand.dtypes.size() == 1 || words.size() >= asked) {
      words.push_back(operand.dtypes.front());
    } else {
      return {};
    }
  }
  return words;
}

// `results_follow`: the callee chooses dtypes of results.
Combinations find_combinations(const Declaration& declaration, const Fact& kernel,
                               bool results_follow) {
  Combinations found;
  const std::vector<Operand>& operands = declaration.operands;
  const std::size_t asked = results_follow ? declaration.arguments : operands.size();
  found.varies.assign(operands.size(), false);
  for (std::size_t at = declaration.arguments; at < operands.size(); ++at) {
    found.stated.push_back(operands[at].dtypes.size() == 1);
  }
  const Fact signatures = kernel[Key::signatures];
  if (signatures.is_list() && all_read(signatures)) {
    for (const Fact signature : signatures.items()) {
      std::vector<std::string> words = texts_of(signature);
      if (words.size() == operands.size()) found.declared.push_back(std::move(words));
    }
    found.stated.assign(found.stated.size(), true);
    for (const std::vector<std::string>& words : found.declared) {
      for (std::size_t at = 0; at < words.size(); ++at) {
        found.varies[at] = found.varies[at] || words[at] != found.declared.front()[at];
      }
    }
  } else {
    std::vector<std::string> choices = texts_of(kernel[Key::dtypes]);
    if (choices.empty()) {
      for (std::size_t at = 0; at < asked; ++at) {
        for (const std::string& dtype : operands[at].dtypes) {
          if (operands[at].dtypes.size() > 1 && !is_in(choices, dtype)) choices.push_back(dtype);
        }
      }
    }
    if (choices.empty() && !operands.empty()) choices = operands.front().dtypes;
    for (const std::string& choice : choices) {
      const auto words = uniform(operands, choice, asked);
      if (words) found.declared.push_back(*words);
    }
    for (std::size_t at = 0; at < operands.size(); ++at) {
      found.varies[at] = operands[at].dtypes.size() != 1 || choices.size() == 1;
    }
  }
  std::sort(found.declared.begin(), found.declared.end());
  found.declared.erase(std::unique(found.declared.begin(), found.declared.end()),
                       found.declared.end());
  if (found.declared.empty()) {
    found.skipped = "no dtypes are stated that fit all of its operands together";
  }
  if (found.declared.size() > most_signatures) {
    found.skipped =
        "only the first " + std::to_string(most_signatures) + " combinations of dtypes are called";
    found.declared.resize(most_signatures);
  }
  // Where nothing varies between combinations, what equals the first operand would.
  if (std::none_of(found.varies.begin(), found.varies.end(), [](bool varies) { return varies; }) &&
      !found.declared.empty()) {
    const std::vector<std::string>& words = found.declared.front();
    for (std::size_t at = 0; at < words.size(); ++at) found.varies[at] = words[at] == words[0];
  }
  return found;
}

using Sizes = std::vector<std::int64_t>;

// Whether all operands have one dtype and one shape: what is done there is done to each element.
bool is_elementwise(const Declaration& declaration, const std::vector<std::string>& dtypes) {
  const std::vector<Operand>& operands = declaration.operands;
  for (std::size_t at = 1; at < operands.size(); ++at) {
    const auto same = [](const Extent& a, const Extent& b) {
      return a.number == b.number && a.name == b.name;
    };
    if (dtypes[at] != dtypes[0] ||
        !std::equal(operands[at].shape.begin(), operands[at].shape.end(), operands[0].shape.begin(),
                    operands[0].shape.end(), same)) {
      return false;
    }
  }
  return true;
}

// Arguments whose integers may be places in other operands, or lengths.
std::vector<bool> find_indexes(const Declaration& declaration,
                               const std::vector<std::string>& dtypes) {
  std::vector<bool> indexes(declaration.operands.size(), false);
  if (is_elementwise(declaration, dtypes)) return indexes;
  for (std::size_t at = 0; at < declaration.arguments; ++at) {
    const Dtype* dtype = find_dtype(dtypes[at]);
    indexes[at] = dtype != nullptr && (dtype->kind == DtypeKind::signed_integer ||
                                       dtype->kind == DtypeKind::unsigned_integer);
  }
  return indexes;
}

// What a kernel asks of a call beyond shapes and dtypes, in words that nothing can follow.
std::string why_not(const Declaration& declaration, const Fact& kernel) {
  const Fact capabilities = kernel[Key::capabilities];
  if (capabilities[Key::constraints].size() > 0) {
    return "its constraints are words: " + join(texts_of(capabilities[Key::constraints]), "; ");
  }
  constexpr std::uint32_t most_alignment = 64;
  if (capabilities[Key::alignment_bytes].count() > most_alignment) {
    return "it wants buffers at multiples of " +
           std::to_string(capabilities[Key::alignment_bytes].count()) + " bytes";
  }
  const bool shares =
      std::any_of(declaration.operands.begin(), declaration.operands.end(),
                  [](const Operand& operand) { return operand.written || !operand.alias.empty(); });
  if (capabilities[Key::in_place].truth() && !shares) {
    return "it works in place, and no operand says where";
  }
  return {};
}

// Of the operand with the most, those whose extents have names; at least 1.
std::size_t most_axes(const Declaration& declaration) {
  std::size_t most = 1;
  for (const Operand& operand : declaration.operands) {
    const auto named = std::count_if(operand.shape.begin(), operand.shape.end(),
                                     [](const Extent& extent) { return extent.name.has_value(); });
    most = std::max(most, static_cast<std::size_t>(named));
  }
  return most;
}

// Odd and different ones, so that rows taken for columns show.
Sizes odd_sizes(const Declaration& declaration) {
  Sizes sizes(declaration.extents.size());
  for (std::size_t at = 0; at < sizes.size(); ++at)
    sizes[at] = static_cast<std::int64_t>(3 + 2 * at);
  return sizes;
}

// Odd ones beyond a block of many kernels, as far as several axes leave that few elements; the
// first of them is the largest.
Sizes larger_sizes(const Declaration& declaration) {
  Sizes sizes = odd_sizes(declaration);
  std::reverse(sizes.begin(), sizes.end());
  const std::size_t axes = most_axes(declaration);
  for (std::int64_t& size : sizes) size += axes <= 2 ? 30 : axes == 3 ? 14 : 6;
  return sizes;
}

Sizes even_sizes(const Declaration& declaration) {
  Sizes sizes(declaration.extents.size());
  for (std::size_t at = 0; at < sizes.size(); ++at) sizes[at] = std::int64_t{16} << (at % 3);
  return sizes;
}

// Extents for the names: odd ones first, then nothing at all, one, powers of two, many, and of
// several names each as nothing.
std::vector<Sizes> choose_sizes(const Declaration& declaration, bool with_large) {
  const std::size_t count = declaration.extents.size();
  const Sizes first = odd_sizes(declaration);
  if (count == 0) return {first};
  const std::size_t axes = most_axes(declaration);
  const std::int64_t large = axes == 1 ? 1031 : axes == 2 ? 67 : axes == 3 ? 17 : 4;
  std::vector<Sizes> sizes = {first, Sizes(count, 0), Sizes(count, 1), even_sizes(declaration)};
  if (with_large) sizes.push_back(Sizes(count, large));
  constexpr std::size_t most_single = 8;
  for (std::size_t at = 0; count > 1 && at < std::min(count, most_single); ++at) {
    sizes.push_back(first);
    sizes.back()[at] = 0;
  }
  return sizes;
}

std::string text_of(const Declaration& declaration, const Sizes& sizes) {
  std::string text;
  for (std::size_t at = 0; at < sizes.size(); ++at) {
    if (at > 0) text += ',';
    text += declaration.extents[at] + '=' + std::to_string(sizes[at]);
  }
  return text;
}

class Planner {
 public:
  // `in_framework`: the operator is called by its framework, whatever its kernels are.
  Planner(const ProbeSubject& subject, std::uint32_t seed, bool in_framework)
      : subject_(subject),
        seed_(seed),
        in_framework_(in_framework),
        declaration_(in_framework         ? read_framework_declaration(subject.op)
                     : subject.is_plain() ? read_plain_declaration(subject.op)
                                          : read_handler_declaration(subject.op)) {}

  CallPlan plan() {
    if (!prepare()) return std::move(plan_);
    const Combinations combinations =
        find_combinations(declaration_, subject_.kernel, in_framework_);
    plan_.skipped = combinations.skipped;
    for (std::size_t at = declaration_.arguments; at < declaration_.operands.size(); ++at) {
      plan_.stated.push_back(declaration_.operands[at].shaped &&
                             combinations.stated[at - declaration_.arguments]);
    }
    const std::vector<Sizes> sizes = choose_sizes(declaration_, !in_framework_);
    for (const std::vector<std::string>& dtypes : combinations.declared) {
      for (const Sizes& one : sizes) add(dtypes, one, true);
    }
    // A C function isn't told of dtypes, and can't refuse any.
    const bool asks_others = !plain_ && !in_framework_;
    if (!combinations.declared.empty() && asks_others) add_undeclared(combinations, sizes.front());
    if (in_framework_) add_absent();
    return std::move(plan_);
  }

  CallChoices choices() {
    CallChoices choices;
    if (prepare()) {
      Combinations combinations = find_combinations(declaration_, subject_.kernel, in_framework_);
      plan_.skipped = combinations.skipped;
      choices.dtypes = std::move(combinations.declared);
      choices.sizes.push_back(odd_sizes(declaration_));
      if (!declaration_.extents.empty()) {
        choices.sizes.push_back(even_sizes(declaration_));
        choices.sizes.push_back(larger_sizes(declaration_));
      }
    }
    choices.declaration = std::move(declaration_);
    choices.skipped = std::move(plan_.skipped);
    return choices;
  }

  CallPlan single(const std::vector<std::string>& dtypes, const Sizes& sizes) {
    if (prepare()) add(dtypes, sizes, true);
    return std::move(plan_);
  }

 private:
  // False: no call can be made.
  bool prepare() {
    for (const Operand& operand : declaration_.operands) plan_.names.push_back(operand.name);
    plan_.skipped = declaration_.skipped;
    if (plan_.skipped.empty()) plan_.skipped = why_not(declaration_, subject_.kernel);
    if (plan_.skipped.empty() && subject_.is_plain() && !in_framework_) {
      plain_.emplace(subject_.op, subject_.kernel, plan_.names, declaration_.extents);
      plan_.skipped = plain_->skipped();
    }
    if (plan_.skipped.empty() && !in_framework_) read_early();
    return plan_.skipped.empty();
  }

  // The first call once more, without what may be left out.
  void add_absent() {
    if (plan_.calls.empty()) return;
    PlannedCall call = plan_.calls.front();
    std::string names;
    for (std::size_t at = 0; at < declaration_.arguments; ++at) {
      if (!declaration_.operands[at].optional) continue;
      call.absent.push_back(at);
      names += (names.empty() ? "" : ",") + declaration_.operands[at].name;
    }
    if (call.absent.empty()) return;
    call.identity += "/without=" + names;
    plan_.calls.push_back(std::move(call));
  }

  // Handlers of the stages before execution, as the kernel states them, or else its target.
  void read_early() {
    Fact handlers = subject_.kernel[Key::handlers];
    if (!handlers.is_list()) handlers = subject_.target[Key::handlers];
    if (!handlers.is_list()) {
      early_ = subject_.early;
      return;
    }
    constexpr std::array<std::string_view, 3> stages{"instantiate", "prepare", "initialize"};
    std::size_t read = 0;
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      for (const Fact handler : handlers.items()) {
        if (!handler[Key::stage].is(stages[stage]) || !handler[Key::symbol].is_text()) continue;
        ++read;
        const auto number = static_cast<std::int32_t>(stage);
        if (!early_.empty() && early_.back().stage == number) {
          plan_.skipped = "two handlers are stated for its stage " + quote(stages[stage]);
        }
        early_.push_back({number, std::string(handler[Key::symbol].text())});
      }
    }
    if (read != handlers.size()) plan_.skipped = "not all of its `handlers` can be read";
  }

  void add_undeclared(const Combinations& combinations, const Sizes& sizes) {
    for (const std::string_view dtype :
         {"bool", "i8", "u8", "i32", "i64", "f16", "bf16", "f32", "f64", "c64"}) {
      std::vector<std::string> words = combinations.declared.front();
      bool changed = false;
      for (std::size_t at = 0; at < words.size(); ++at) {
        if (!combinations.varies[at]) continue;
        words[at] = dtype;
        changed = true;
      }
      const bool known = std::any_of(
          combinations.declared.begin(), combinations.declared.end(),
          [&words](const std::vector<std::string>& one) {
            return std::equal(
                one.begin(), one.end(), words.begin(), words.end(),
                [](const std::string& a, const std::string& b) { return is_in({a}, b); });
          });
      if (changed && !known) add(words, sizes, false);
    }
  }

  void add(const std::vector<std::string>& dtypes, const Sizes& sizes, bool declared) {
    PlannedCall call;
    call.declared = declared;
    call.dtypes = dtypes;
    call.sizes = text_of(declaration_, sizes);
    call.identity = join(dtypes, ",") + (call.sizes.empty() ? "" : "/" + call.sizes);
    call.question.kind = ffi::QuestionKind::call;
    call.question.library = subject_.library;
    call.question.symbol = subject_.symbol;
    call.question.handed = subject_.handed;
    call.question.attributes = declaration_.attributes;
    call.question.early = early_;
    call.question.seed = seed_;
    const std::vector<bool> indexes = find_indexes(declaration_, dtypes);
    const bool any_index = std::find(indexes.begin(), indexes.end(), true) != indexes.end();
    // An empty operand has no place that an index could name.
    if (any_index && std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
    for (std::size_t at = 0; at < declaration_.arguments; ++at) {
      const std::vector<Extent>& shape = declaration_.operands[at].shape;
      const bool named = std::any_of(shape.begin(), shape.end(),
                                     [](const Extent& extent) { return extent.name.has_value(); });
      if (!indexes[at] || named) continue;
      // Calls that nobody declared are not missed.
      if (!declared) return;
      plan_.skipped = "nobody says which number " +
                      name_of(declaration_.operands[at], at, declaration_.arguments) +
                      " may be: integers of a fixed number";
      return;
    }
    for (std::size_t at = 0; at < dtypes.size(); ++at) {
      const Operand& operand = declaration_.operands[at];
      const ffi::DtypeInfo* dtype = ffi_dtype(dtypes[at]);
      if (dtype == nullptr) {
        plan_.skipped = "XLA has no dtype " + quote(dtypes[at]);
        return;
      }
      call.dtypes[at] = dtype->word;
      ffi::QuestionOperand given;
      given.dtype = dtype->number;
      std::uint64_t elements = 1;
      for (const Extent& extent : operand.shape) {
        const std::int64_t number = extent.name ? sizes[*extent.name] : extent.number;
        given.dims.push_back(number);
        elements *= static_cast<std::uint64_t>(number);
        if (elements > most_elements) {
          plan_.skipped = "calls with more than 4194304 elements in one operand are not made";
          return;
        }
      }
      given.written = operand.written;
      given.indexes = indexes[at];
      if (at >= declaration_.arguments && !operand.alias.empty()) {
        for (std::size_t other = 0; other < declaration_.arguments; ++other) {
          if (declaration_.operands[other].alias != operand.alias) continue;
          given.shares = static_cast<std::int32_t>(other);
        }
      }
      if (given.shares >= 0) {
        const ffi::QuestionOperand& shared =
            call.question.arguments[static_cast<std::size_t>(given.shares)];
        if (shared.dims != given.dims || shared.dtype != given.dtype) {
          plan_.skipped = name_of(operand, at, declaration_.arguments) +
                          " shares memory with an argument of another shape or dtype";
          return;
        }
      }
      auto& side = at < declaration_.arguments ? call.question.arguments : call.question.results;
      side.push_back(std::move(given));
    }
    if (plain_) {
      call.question.plain = plain_->bind(call.question, sizes);
      if (!call.question.plain) {
        plan_.skipped = "one of its `arguments` can't hold the number of a call with " + call.sizes;
        return;
      }
      call.views = plain_->views(call.question);
    }
    plan_.calls.push_back(std::move(call));
  }

  const ProbeSubject& subject_;
  std::uint32_t seed_;
  bool in_framework_;
  Declaration declaration_;
  std::vector<ffi::EarlyHandler> early_;
  std::optional<PlainPlan> plain_;
  CallPlan plan_;
};

}  // namespace

CallPlan plan_calls(const ProbeSubject& subject, std::uint32_t seed) {
  return Planner(subject, seed, false).plan();
}

CallChoices call_choices(const ProbeSubject& subject) {
  return Planner(subject, 0, false).choices();
}

CallPlan plan_call(const ProbeSubject& subject, const std::vector<std::string>& dtypes,
                   const std::vector<std::int64_t>& sizes) {
  return Planner(subject, 0, false).single(dtypes, sizes);
}

CallPlan plan_framework_calls(const Fact& op, std::uint32_t seed) {
  ProbeSubject subject;
  subject.op = op;
  for (const Fact kernel : op[Key::kernels].items()) {
    const Fact platform = kernel[Key::platform];
    const bool here = !platform.is_text() || platform_reaches(canonical_platform(platform.text()),
                                                              canonical_platform("cpu"));
    const bool says = here && (kernel[Key::signatures].is_list() || kernel[Key::dtypes].is_list());
    if (!subject.kernel.said() && says) subject.kernel = kernel;
    // Whichever kernel the framework takes, the conditions of one may be those of all.
    if (kernel[Key::capabilities][Key::constraints].size() > 0) {
      subject.kernel = kernel;
      break;
    }
  }
  return Planner(subject, seed, true).plan();
}

}  // namespace opseal
