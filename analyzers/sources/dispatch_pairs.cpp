#include "analyzers/sources/dispatch_pairs.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/pair_comparison.h"
#include "analyzers/sources/pair_surroundings.h"
#include "analyzers/sources/predicate_names.h"
#include "analyzers/sources/switch_subject.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// A function with fewer arms that do something is no dispatch.
constexpr std::size_t fewest_arms = 2;
// A dispatch that nobody names shares at least so many of a hundred values with its predicate: a
// function that only sets parameters for some of them is none.
constexpr std::size_t least_alike = 70;

// Values that a predicate of no assignment accepts at least.
constexpr std::size_t fewest_named = 3;
// Values that two share that were written for each other.
constexpr std::size_t fewest_shared = 2;

constexpr std::array<std::string_view, 2> predicate_fields{"supports_op", "is_supported"};

bool names_predicate(std::string_view field) {
  return std::any_of(predicate_fields.begin(), predicate_fields.end(),
                     [&](std::string_view word) { return field.find(word) != field.npos; });
}

// `A::B` of `A::B::name`.
std::string_view scope_of(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  return colons == name.npos ? std::string_view() : name.substr(0, colons);
}

class PairReader {
 public:
  PairReader(const CodeFunctions& code, const CodeFunctions& others, const PairOptions& options)
      : code_(code),
        enumerations_(code, others, options.most_labels),
        options_(options),
        surroundings_(code) {}

  std::vector<DispatchPair> read() {
    for (const PairDescription& described : options_.described) read_described(described);
    read_directives();
    find_assigned();
    for (const CodeFunction* predicate : assigned_) {
      if (!done_.contains(predicate)) read_assigned(*predicate);
    }
    for (const auto& function : code_.functions()) {
      if (sounds_like_predicate(function->name) && !done_.contains(function.get()) &&
          !followed_.contains(function.get())) {
        read_named(*function);
      }
    }
    return std::move(pairs_);
  }

 private:
  // `path:function` or `function`.
  const CodeFunction* named(std::string_view text) const {
    // `path:A::function`
    std::size_t colon = text.rfind(':');
    while (colon != text.npos && colon > 1 && text[colon - 1] == ':') {
      colon = text.rfind(':', colon - 2);
    }
    const bool has_path = colon != text.npos && colon > 0;
    const std::string_view name = has_path ? text.substr(colon + 1) : text;
    const std::string_view path = has_path ? text.substr(0, colon) : std::string_view();
    for (const auto& function : code_.functions()) {
      if (function->name != name && base_of(function->name) != name) continue;
      if (code_.files()[function->file]->path.ends_with(path)) return function.get();
    }
    return nullptr;
  }

  void read_described(const PairDescription& described) {
    const CodeFunction* predicate = named(described.predicate);
    std::vector<const CodeFunction*> dispatches;
    for (const std::string& text : described.dispatch) {
      if (const CodeFunction* dispatch = named(text)) dispatches.push_back(dispatch);
    }
    if (predicate == nullptr || dispatches.size() != described.dispatch.size()) return;
    compare(*predicate, dispatches, described.name, &described);
  }

  void read_directives() {
    std::map<std::string, std::vector<const CodeFunction*>> dispatches;
    for (const auto& function : code_.functions()) {
      for (const std::string& name : function->dispatch_of) {
        dispatches[name].push_back(function.get());
      }
    }
    for (const auto& function : code_.functions()) {
      for (const std::string& name : function->predicate_of) {
        const auto found = dispatches.find(name);
        if (found != dispatches.end()) compare(*function, found->second, name);
      }
    }
  }

  // `.supports_op = name`, also where the field is a comment: `/* .supports_op = */ name`.
  void find_assigned() {
    for (std::uint32_t number = 0; number < code_.files().size(); ++number) {
      const CodeFile& file = *code_.files()[number];
      const std::vector<Token>& tokens = file.unit.tokens;
      for (std::size_t at = 0; at + 4 < tokens.size(); ++at) {
        if ((tokens[at].is('.') || tokens[at].is("->")) && tokens[at + 1].is_identifier() &&
            tokens[at + 2].is('=') && names_predicate(tokens[at + 1].text)) {
          add_assigned(tokens, at + 3, number);
        }
      }
      for (const SourceComment& comment : file.unit.comments) {
        if (names_predicate(comment.text) && comment.text.ends_with('=')) {
          add_assigned(tokens, comment.next_token, number);
        }
      }
    }
  }

  void add_assigned(const std::vector<Token>& tokens, std::size_t at, std::uint32_t file) {
    if (at + 1 < tokens.size() && tokens[at].is('&')) ++at;
    if (at + 1 >= tokens.size() || !tokens[at].is_identifier()) return;
    const Token& next = tokens[at + 1];
    if (!next.is(',') && !next.is(';') && !next.is('}')) return;
    const CodeFunction* function = code_.find(tokens[at].text, file);
    if (function != nullptr && is_assigned_.insert(function).second) assigned_.push_back(function);
  }

  // Next to the function whose arms do something for nearly those values that it accepts.
  void read_assigned(const CodeFunction& predicate) {
    const SwitchSubject asked = find_predicate_subject(code_, enumerations_, predicate);
    if (asked.enumeration == nullptr) return;
    std::set<const CodeFunction*> asking;
    const PairComparison comparison(code_, enumerations_, {});
    const std::set<std::string_view> accepted = comparison.accepted_by(asked, asking);
    followed_.insert(asking.begin(), asking.end());
    if (accepted.size() < fewest_arms) return;
    const CodeFunction* best = nullptr;
    std::size_t most = 0;
    for (const auto& function : code_.functions()) {
      if (!enumerations_.spend_on_function()) return;
      if (asking.contains(function.get()) || is_predicate(*function)) continue;
      const std::size_t alike = likeness(accepted, arms_of(*function, asked.enumeration));
      // Of two that are as like, the one of the same file.
      if (alike > most || (alike == most && best != nullptr && best->file != predicate.file &&
                           function->file == predicate.file)) {
        most = alike;
        best = function.get();
      }
    }
    if (best != nullptr && most < least_alike) best = only_dispatch(asked, accepted, asking);
    if (best != nullptr) compare(predicate, {best}, backend_of(predicate));
  }

  // The only function of the backend that has arms for the enumeration and turns away the rest, if
  // no other code knows the values that it lacks. Null where it isn't sure.
  const CodeFunction* only_dispatch(const SwitchSubject& asked,
                                    const std::set<std::string_view>& accepted,
                                    const std::set<const CodeFunction*>& asking) {
    const CodeFunction* only = nullptr;
    for (const auto& function : code_.functions()) {
      if (asking.contains(function.get()) || is_predicate(*function)) continue;
      if (arms_of(*function, asked.enumeration).empty()) continue;
      if (only != nullptr) return nullptr;
      only = function.get();
    }
    if (only == nullptr) return nullptr;
    const SwitchSubject served = find_subject(code_, enumerations_, *only, asked.enumeration);
    const PairComparison comparison(code_, enumerations_, {});
    if (!is_part(accepted, served, comparison, asking)) return nullptr;
    const bool sure = comparison.rejects_the_rest(served) && !surroundings_.is_narrowed(served);
    return sure ? only : nullptr;
  }

  // Most of what a dispatch has arms for is accepted, and no code besides knows the others that
  // are: it may serve only a few of them.
  bool is_part(const std::set<std::string_view>& accepted, const SwitchSubject& dispatch,
               const PairComparison& comparison, const std::set<const CodeFunction*>& asking) {
    const std::set<std::string_view> arms = comparison.arms_of(dispatch);
    std::set<std::string_view> lacking;
    for (const std::string_view value : accepted) {
      if (!arms.contains(value)) lacking.insert(value);
    }
    const std::size_t shared = accepted.size() - lacking.size();
    if (shared < fewest_shared || shared * 3 < arms.size() * 2) return false;
    for (const std::string_view value : comparison.named_by(dispatch)) lacking.erase(value);
    return !surroundings_.has_one_of(
        lacking, [&](const CodeFunction& function) { return asking.contains(&function); });
  }

  bool is_predicate(const CodeFunction& function) const {
    return is_assigned_.contains(&function) || sounds_like_predicate(function.name);
  }

  // A predicate by its name alone speaks for a function beside it, of the same file and class, that
  // turns away what it has no arm for. Where several functions of the file ask or dispatch by the
  // enumeration, it isn't clear which for which.
  void read_named(const CodeFunction& predicate) {
    if (!enumerations_.spend_on_function()) return;
    const SwitchSubject asked = find_predicate_subject(code_, enumerations_, predicate);
    if (asked.enumeration == nullptr || asked.labels < fewest_arms) return;
    std::set<const CodeFunction*> asking;
    PairComparison comparison(code_, enumerations_, {});
    const std::set<std::string_view> accepted = comparison.accepted_by(asked, asking);
    if (accepted.size() < fewest_named || !comparison.rejects_the_rest(asked)) return;
    std::vector<const CodeFunction*> beside;
    for (const auto& function : code_.functions()) {
      if (!enumerations_.spend_on_function()) return;
      if (function->file != predicate.file || asking.contains(function.get())) continue;
      if (!is_predicate(*function)) {
        beside.push_back(function.get());
        continue;
      }
      const SwitchSubject other = find_subject(code_, enumerations_, *function, asked.enumeration);
      if (other.enumeration != nullptr) return;
    }
    std::vector<const CodeFunction*> dispatches;
    for (const CodeFunction* function : beside) {
      if (arms_of(*function, asked.enumeration).size() >= fewest_arms) {
        dispatches.push_back(function);
      }
    }
    const bool by_constants = dispatches.empty();
    if (by_constants) {
      comparison.count_constants();
      for (const CodeFunction* function : beside) {
        if (chooses_constant(*function, asked.enumeration, comparison)) {
          dispatches.push_back(function);
        }
      }
    }
    if (dispatches.size() != 1) return;
    const CodeFunction& dispatch = *dispatches.front();
    if (scope_of(dispatch.name) != scope_of(predicate.name)) return;
    if (!speaks_for(predicate.name, dispatch.name, asked.enumeration->name)) return;
    const SwitchSubject served = find_subject(code_, enumerations_, dispatch, asked.enumeration);
    if (!are_alike(accepted, comparison.arms_of(served)) &&
        !is_part(accepted, served, comparison, asking)) {
      return;
    }
    if (!comparison.rejects_the_rest(served) || surroundings_.is_narrowed(served)) return;
    const std::size_t before = pairs_.size();
    compare(predicate, {&dispatch}, backend_of(predicate), nullptr, by_constants);
    // Who calls it may serve what it refuses in another way.
    if (pairs_.size() > before) pairs_.back().says_refused = false;
  }

  // Names of kernels, or functions, one for each value, and an end for the rest.
  bool chooses_constant(const CodeFunction& function, const CodeEnumeration* enumeration,
                        const PairComparison& comparison) const {
    if (names_values(function.name)) return false;
    const SwitchSubject subject = find_subject(code_, enumerations_, function, enumeration);
    return subject.enumeration != nullptr && subject.labels >= fewest_arms &&
           comparison.rejects_the_rest(subject) &&
           comparison.arms_of(subject).size() >= fewest_arms;
  }

  // Of two that were written for each other and turn away the rest, one may have forgotten a value
  // and the other one too, where there are few.
  static bool are_alike(const std::set<std::string_view>& accepted,
                        const std::set<std::string_view>& arms) {
    constexpr std::size_t least_alike_of_few = 50;
    std::size_t shared = 0;
    for (const std::string_view value : accepted) shared += arms.contains(value) ? 1 : 0;
    return shared >= fewest_shared && likeness(accepted, arms) >= least_alike_of_few;
  }

  // Values whose arm calls something; computed once, since a folder may have many predicates.
  const std::set<std::string_view>& arms_of(const CodeFunction& function,
                                            const CodeEnumeration* enumeration) {
    const auto [place, fresh] = arms_.try_emplace({&function, enumeration});
    if (!fresh) return place->second;
    const SwitchSubject subject = find_subject(code_, enumerations_, function, enumeration);
    if (subject.enumeration != nullptr && subject.labels >= fewest_arms) {
      place->second = PairComparison(code_, enumerations_, {}).arms_of(subject);
    }
    return place->second;
  }

  // How many of a hundred two sets share.
  static std::size_t likeness(const std::set<std::string_view>& left,
                              const std::set<std::string_view>& right) {
    if (left.empty() || right.empty()) return 0;
    std::size_t shared = 0;
    for (const std::string_view value : left) shared += right.contains(value) ? 1 : 0;
    return shared * 200 / (left.size() + right.size());
  }

  // The folder, unless it is one that many share; then the file.
  std::string backend_of(const CodeFunction& predicate) const {
    const std::string_view path = code_.files()[predicate.file]->path;
    const std::string_view folder = folder_of(path);
    std::size_t here = 0;
    for (const CodeFunction* other : assigned_) {
      if (folder_of(code_.files()[other->file]->path) == folder) ++here;
    }
    std::string_view name = here > 1 || folder.empty() ? path : folder;
    name.remove_prefix(name.rfind('/') == name.npos ? 0 : name.rfind('/') + 1);
    if (here > 1 || folder.empty()) name = name.substr(0, name.find('.'));
    return std::string(name);
  }

  void compare(const CodeFunction& predicate, const std::vector<const CodeFunction*>& dispatches,
               const std::string& backend, const PairDescription* described = nullptr,
               bool by_constants = false) {
    done_.insert(&predicate);
    PairComparison comparison(code_, enumerations_, options_.removed_label);
    if (by_constants) comparison.count_constants();
    if (described != nullptr) comparison.heed(*described);
    if (std::optional<DispatchPair> pair = comparison.compare(predicate, dispatches, backend)) {
      pairs_.push_back(std::move(*pair));
    }
  }

  const CodeFunctions& code_;
  const Enumerations enumerations_;
  const PairOptions& options_;
  PairSurroundings surroundings_;
  // In the order of the text, and to be asked.
  std::vector<const CodeFunction*> assigned_;
  std::set<const CodeFunction*> is_assigned_;
  std::map<std::pair<const CodeFunction*, const CodeEnumeration*>, std::set<std::string_view>>
      arms_;
  std::set<const CodeFunction*> done_;
  // Those that assigned predicates hand the question on to.
  std::set<const CodeFunction*> followed_;
  std::vector<DispatchPair> pairs_;
};

}  // namespace

std::vector<DispatchPair> find_dispatch_pairs(const CodeFunctions& code,
                                              const CodeFunctions& enumerations,
                                              const PairOptions& options) {
  return PairReader(code, enumerations, options).read();
}

std::vector<std::string> predicate_needles(const std::vector<PairDescription>& described) {
  std::vector<std::string> needles{"supports_op", "is_supported", "opseal: predicate",
                                   "opseal: dispatch"};
  for (const PairDescription& pair : described) {
    const std::size_t colon = pair.predicate.rfind(':');
    needles.push_back(colon == std::string::npos ? pair.predicate
                                                 : pair.predicate.substr(colon + 1));
  }
  return needles;
}

bool may_name_predicate(std::string_view bytes) {
  constexpr std::string_view word = "upport";
  bool defines = false;
  for (std::size_t at = bytes.find(word); at != bytes.npos && !defines;
       at = bytes.find(word, at + word.size())) {
    std::size_t end = at;
    while (end < bytes.size() && is_word_byte(bytes[end])) ++end;
    if (end >= bytes.size() || bytes[end] != '(') continue;
    std::size_t begin = at;
    while (begin > 0 && (is_word_byte(bytes[begin - 1]) || bytes[begin - 1] == ':')) --begin;
    while (begin > 0 && bytes[begin - 1] == ' ') --begin;
    defines = bytes.substr(0, begin).ends_with("bool");
  }
  if (!defines) return false;
  for (const std::string_view form : {"switch", "==", "!=", "find(", ".count(", ".contains("}) {
    if (bytes.find(form) != bytes.npos) return true;
  }
  return false;
}

}  // namespace opseal
