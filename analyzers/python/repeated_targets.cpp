#include "analyzers/python/repeated_targets.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "analyzers/python/functions.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::size_t max_found = 256;
// Blocks, and conditions, within each other.
constexpr int max_depth = 32;
// Calls that are looked at.
constexpr std::size_t max_looked = 512;
// Of one function.
constexpr std::size_t max_statements = 4096;
constexpr std::size_t max_condition = 512;

bool asks_replacement(std::string_view name) {
  constexpr std::array<std::string_view, 11> words{
      "replace",       "force",        "overwrite",  "override",      "reload",        "rebuild",
      "force_rebuild", "force_reload", "reregister", "force_replace", "allow_override"};
  return std::find(words.begin(), words.end(), name) != words.end();
}

// Whether a name of the framework's functions that take a target.
bool is_register_name(std::string_view name) {
  return name == "register_ffi_target" || name == "register_custom_call_target";
}

enum class Truth { no, yes, unknown };

Truth negated(Truth one) {
  return one == Truth::unknown ? one : one == Truth::yes ? Truth::no : Truth::yes;
}

// What is taken to be so while a function runs.
struct Case {
  bool known = false;
  bool replace = false;
};

// Decides a condition, as far as it asks whether the name is registered and for the parameter.
class Condition {
 public:
  Condition(std::string_view text, std::string_view name, std::string_view parameter,
            const std::set<std::string_view>& entries, const Case& now)
      : text_(text), name_(name), parameter_(parameter), entries_(entries), now_(now) {}

  Truth decide() {
    if (text_.size() > max_condition) return Truth::unknown;
    const Truth all = either(0);
    return at_ == text_.size() ? all : Truth::unknown;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  bool take(std::string_view word) {
    skip_space();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(word)) return false;
    if (rest.size() > word.size() && is_word(rest[word.size()])) return false;
    at_ += word.size();
    return true;
  }

  static bool is_word(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
           (byte >= '0' && byte <= '9');
  }

  Truth either(int depth) {
    Truth all = both(depth);
    while (take("or")) {
      const Truth next = both(depth);
      if (all == Truth::yes || next == Truth::yes) {
        all = Truth::yes;
      } else if (next == Truth::unknown) {
        all = next;
      }
    }
    return all;
  }

  Truth both(int depth) {
    Truth all = one(depth);
    while (take("and")) {
      const Truth next = one(depth);
      if (all == Truth::no || next == Truth::no) {
        all = Truth::no;
      } else if (next == Truth::unknown) {
        all = next;
      }
    }
    return all;
  }

  Truth one(int depth) {
    if (depth > max_depth) return Truth::unknown;
    if (take("not")) return negated(one(depth + 1));
    skip_space();
    if (at_ < text_.size() && text_[at_] == '(') {
      const std::size_t back = at_;
      ++at_;
      const Truth inner = either(depth + 1);
      skip_space();
      if (at_ < text_.size() && text_[at_] == ')') {
        ++at_;
        skip_space();
        if (at_ == text_.size() || text_[at_] == ')' || starts_joint()) return inner;
      }
      at_ = back;
    }
    return question();
  }

  bool starts_joint() const {
    const std::string_view rest = text_.substr(at_);
    return rest.starts_with("and ") || rest.starts_with("or ");
  }

  // Up to `and`, `or` or the bracket that closes.
  Truth question() {
    const std::size_t begin = at_;
    int open = 0;
    while (at_ < text_.size()) {
      const char byte = text_[at_];
      if (byte == '(' || byte == '[' || byte == '{') ++open;
      if (byte == ')' || byte == ']' || byte == '}') {
        if (open == 0) break;
        --open;
      }
      const bool starts_word = at_ > begin && !is_word(text_[at_ - 1]);
      if (open == 0 && starts_word && starts_joint()) break;
      ++at_;
    }
    return answer(trimmed(text_.substr(begin, at_ - begin)));
  }

  Truth answer(std::string_view asked) const {
    const auto truth = [](bool yes) { return yes ? Truth::yes : Truth::no; };
    if (asked == parameter_) return truth(now_.replace);
    bool opposite = false;
    if (asked.ends_with(" is None")) {
      opposite = true;
      asked = trimmed(asked.substr(0, asked.size() - 8));
    } else if (asked.ends_with(" is not None")) {
      asked = trimmed(asked.substr(0, asked.size() - 12));
    } else if (const std::size_t in = asked.find(" not in "); in != asked.npos) {
      return trimmed(asked.substr(0, in)) == name_ ? truth(!now_.known) : Truth::unknown;
    } else if (const std::size_t within = asked.find(" in "); within != asked.npos) {
      return trimmed(asked.substr(0, within)) == name_ ? truth(now_.known) : Truth::unknown;
    }
    const bool looks = entries_.contains(asked) || asked.ends_with(get_call());
    return looks ? truth(now_.known != opposite) : Truth::unknown;
  }

  std::string get_call() const { return ".get(" + std::string(name_) + ")"; }

  std::string_view text_;
  std::string_view name_;
  std::string_view parameter_;
  const std::set<std::string_view>& entries_;
  const Case& now_;
  std::size_t at_ = 0;
};

class RepeatReader {
 public:
  explicit RepeatReader(const ParsedPython& file) : syntax_(file.syntax), scopes_(file.scopes) {}

  std::vector<PythonRepeatedTarget> run() {
    for (SyntaxIndex at = 0; at < syntax_.nodes.size(); ++at) {
      if (syntax_.is(at, SyntaxKind::call)) look_at_call(at);
    }
    // What hands on its own parameter is a registration where it is called.
    const std::vector<Handed> direct = std::move(handed_);
    for (const Handed& one : direct) look_at_function(one);
    for (const Handed& one : direct) look_at_callers(one);
    return std::move(found_);
  }

 private:
  struct Handed {
    SyntaxIndex call = no_syntax;
    // The name of the target.
    SyntaxIndex name = no_syntax;
    std::string how;
  };

  void look_at_call(SyntaxIndex call) {
    const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
    if (function == no_syntax || !syntax_.is(arguments, SyntaxKind::argument_list)) return;
    const std::string_view written = syntax_.text_of(function);
    if (!is_register_name(written.substr(written.rfind('.') + 1))) return;
    const std::vector<std::string> names = scopes_.full_names(function);
    if (names.size() != 1) return;
    const std::string_view first = std::string_view(names[0]).substr(0, names[0].find('.'));
    if (first == "brainevent") {
      if (found_.size() < max_found && is_said(arguments, "replace")) {
        found_.push_back({names[0], {}, "replace", true, syntax_.place_of(call)});
      }
      return;
    }
    if (first != "jax" && first != "jaxlib" && first != "xla_client") return;
    const SyntaxIndex name = first_argument(arguments, "name");
    if (name != no_syntax && handed_.size() < max_found) handed_.push_back({call, name, names[0]});
  }

  // `replace=True`
  bool is_said(SyntaxIndex arguments, std::string_view keyword) const {
    for (const SyntaxIndex one : syntax_.children(arguments)) {
      if (!syntax_.is(one, SyntaxKind::keyword_argument)) continue;
      const SyntaxIndex name = syntax_.child(one, SyntaxField::name);
      if (name == no_syntax || syntax_.text_of(name) != keyword) continue;
      return syntax_.is(syntax_.child(one, SyntaxField::value), SyntaxKind::true_value);
    }
    return false;
  }

  SyntaxIndex first_argument(SyntaxIndex arguments, std::string_view keyword) const {
    const std::vector<SyntaxIndex> all = syntax_.children(arguments);
    for (const SyntaxIndex one : all) {
      if (!syntax_.is(one, SyntaxKind::keyword_argument)) continue;
      const SyntaxIndex name = syntax_.child(one, SyntaxField::name);
      if (name != no_syntax && syntax_.text_of(name) == keyword) {
        return syntax_.unwrapped(syntax_.child(one, SyntaxField::value));
      }
    }
    if (all.empty() || syntax_.is(all[0], SyntaxKind::keyword_argument) ||
        syntax_.is(all[0], SyntaxKind::list_splat)) {
      return no_syntax;
    }
    return syntax_.unwrapped(all[0]);
  }

  SyntaxIndex function_of(SyntaxIndex node) const {
    const SyntaxIndex scope = scopes_.scope_of(node);
    return syntax_.is(scope, SyntaxKind::function_definition) ? scope : no_syntax;
  }

  void look_at_function(const Handed& one) {
    const SyntaxIndex function = function_of(one.call);
    if (function == no_syntax || found_.size() >= max_found || ++looked_ > max_looked) return;
    // A name that changes on the way is another one.
    if (syntax_.is(one.name, SyntaxKind::identifier)) {
      if (scopes_.only(syntax_.text_of(one.name), one.name) == nullptr) return;
    } else if (!syntax_.is(one.name, SyntaxKind::string)) {
      return;
    }
    const PythonFunction made = python_definition(syntax_, function);
    for (const PythonParameter& parameter : made.parameters) {
      if (!asks_replacement(parameter.name)) continue;
      PythonRepeatedTarget target;
      target.how = one.how;
      target.within = syntax_.text_of(syntax_.child(function, SyntaxField::name));
      target.parameter = parameter.name;
      target.place = syntax_.place_of(one.call);
      target.repeats = repeats(function, one, parameter.name);
      found_.push_back(std::move(target));
      return;
    }
  }

  // Functions of the file that are handed the name and hand it on.
  void look_at_callers(const Handed& one) {
    const SyntaxIndex function = function_of(one.call);
    if (function == no_syntax || !syntax_.is(one.name, SyntaxKind::identifier)) return;
    const PythonBinding* bound = scopes_.only(syntax_.text_of(one.name), one.name);
    if (bound == nullptr || bound->kind != PythonBinding::Kind::parameter) return;
    const SyntaxIndex parameters = syntax_.child(function, SyntaxField::parameters);
    if (parameters == no_syntax || syntax_.first(parameters) != bound->value) return;
    const SyntaxIndex defined = syntax_.child(function, SyntaxField::name);
    const std::string_view name = syntax_.text_of(defined);
    for (SyntaxIndex at = 0; at < syntax_.nodes.size(); ++at) {
      if (!syntax_.is(at, SyntaxKind::call)) continue;
      const SyntaxIndex called = syntax_.child(at, SyntaxField::function);
      const SyntaxIndex arguments = syntax_.child(at, SyntaxField::arguments);
      if (!syntax_.is(called, SyntaxKind::identifier) || syntax_.text_of(called) != name ||
          !syntax_.is(arguments, SyntaxKind::argument_list)) {
        continue;
      }
      const PythonBinding* meant = scopes_.only(name, called);
      if (meant == nullptr || meant->value != function) continue;
      const SyntaxIndex given = first_argument(arguments, syntax_.text_of(one.name));
      if (given != no_syntax) look_at_function({at, given, one.how});
    }
  }

  bool repeats(SyntaxIndex function, const Handed& one, std::string_view parameter) {
    target_ = one.call;
    name_ = syntax_.text_of(one.name);
    parameter_ = parameter;
    find_entries(function);
    const SyntaxIndex body = syntax_.child(function, SyntaxField::body);
    return body != no_syntax && reaches(body, {true, true}) && !reaches(body, {true, false}) &&
           reaches(body, {false, false});
  }

  // Names for what is registered: `known = _TARGETS.get(name)`, `known = name in _TARGETS`, and a
  // mark of the module for a target that has one name: `global _done`.
  void find_entries(SyntaxIndex function) {
    entries_.clear();
    for (SyntaxIndex at = function; at < syntax_[function].next; ++at) {
      if (syntax_.is(at, SyntaxKind::assignment)) {
        const SyntaxIndex left = syntax_.child(at, SyntaxField::left);
        const SyntaxIndex right = syntax_.child(at, SyntaxField::right);
        if (!syntax_.is(left, SyntaxKind::identifier) || right == no_syntax) continue;
        const std::string_view value = syntax_.text_of(right);
        const std::string get = ".get(" + std::string(name_) + ")";
        const std::string in = std::string(name_) + " in ";
        if (value.ends_with(get) || value.starts_with(in)) entries_.insert(syntax_.text_of(left));
      } else if (syntax_.is(at, SyntaxKind::global_statement)) {
        if (name_.starts_with('"') || name_.starts_with('\'')) {
          for (const SyntaxIndex mark : syntax_.children(at)) {
            entries_.insert(syntax_.text_of(mark));
          }
        }
      }
    }
  }

  bool reaches(SyntaxIndex body, Case now) {
    reached_ = false;
    steps_ = 0;
    run(body, now, 0);
    return reached_;
  }

  bool holds_target(SyntaxIndex node) const {
    return node <= target_ && target_ < syntax_[node].next;
  }

  // Whether what stands behind the block may run.
  bool run(SyntaxIndex block, Case& now, int depth) {
    if (depth > max_depth) return true;
    for (const SyntaxIndex statement : syntax_.children(block)) {
      if (reached_ || ++steps_ > max_statements) return false;
      if (!run_statement(statement, now, depth)) return false;
    }
    return true;
  }

  bool run_statement(SyntaxIndex statement, Case& now, int depth) {
    switch (syntax_[statement].kind) {
      case SyntaxKind::if_statement:
        return run_if(statement, now, depth);
      case SyntaxKind::return_statement:
        reached_ = reached_ || holds_target(statement);
        return false;
      case SyntaxKind::try_statement:
      case SyntaxKind::with_statement:
      case SyntaxKind::for_statement:
      case SyntaxKind::while_statement: {
        bool goes_on = true;
        const SyntaxIndex body = syntax_.child(statement, SyntaxField::body);
        if (body != no_syntax) goes_on = run(body, now, depth + 1);
        // A loop may be left in ways that are not followed here.
        const bool loop = syntax_.is(statement, SyntaxKind::for_statement) ||
                          syntax_.is(statement, SyntaxKind::while_statement);
        return goes_on || loop;
      }
      case SyntaxKind::function_definition:
      case SyntaxKind::class_definition:
        return true;
      default:
        break;
    }
    if (holds_target(statement)) {
      reached_ = true;
      return false;
    }
    const std::string_view text = syntax_.text_of(statement).substr(0, max_condition);
    if (forgets(text)) now.known = false;
    return !text.starts_with("raise") && !text.starts_with("continue") &&
           !text.starts_with("break");
  }

  bool run_if(SyntaxIndex statement, Case& now, int depth) {
    bool goes_on = false;
    bool decided = false;
    const auto branch = [&](SyntaxIndex holder) {
      const Truth holds = condition_of(holder, now);
      if (holds == Truth::no) return;
      const SyntaxIndex body = syntax_.child(holder, SyntaxField::consequence);
      // Of what a branch that may not run forgets nothing is known behind it.
      Case inside = now;
      const bool behind = body == no_syntax || run(body, inside, depth + 1);
      goes_on = goes_on || behind;
      if (holds == Truth::yes) {
        now = inside;
        decided = true;
      }
    };
    branch(statement);
    for (const SyntaxIndex part : syntax_.children(statement)) {
      if (decided || reached_) break;
      if (syntax_.is(part, SyntaxKind::elif_clause)) branch(part);
      if (syntax_.is(part, SyntaxKind::else_clause)) {
        const SyntaxIndex body = syntax_.child(part, SyntaxField::body);
        goes_on = (body == no_syntax || run(body, now, depth + 1)) || goes_on;
        decided = true;
      }
    }
    return goes_on || !decided;
  }

  Truth condition_of(SyntaxIndex holder, const Case& now) const {
    const SyntaxIndex asked = syntax_.child(holder, SyntaxField::condition);
    if (asked == no_syntax) return Truth::unknown;
    return Condition(syntax_.text_of(asked), name_, parameter_, entries_, now).decide();
  }

  // `del _TARGETS[name]`, `_TARGETS.pop(name, None)`, `_TARGETS.discard(name)`
  bool forgets(std::string_view text) const {
    const std::string name(name_);
    if (text.starts_with("del ") && text.find("[" + name + "]") != text.npos) return true;
    for (const std::string_view method : {".pop(", ".discard(", ".remove("}) {
      if (text.find(std::string(method) + name) != text.npos) return true;
    }
    return false;
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  std::vector<Handed> handed_;
  std::vector<PythonRepeatedTarget> found_;
  // Of the function that is looked at.
  SyntaxIndex target_ = no_syntax;
  std::string_view name_;
  std::string_view parameter_;
  std::set<std::string_view> entries_;
  bool reached_ = false;
  std::size_t steps_ = 0;
  std::size_t looked_ = 0;
};

}  // namespace

std::vector<PythonRepeatedTarget> find_repeated_targets(const ParsedPython& file) {
  return RepeatReader(file).run();
}

}  // namespace opseal
