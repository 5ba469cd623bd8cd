#include "analyzers/python/library_suffixes.h"

#include <algorithm>
#include <array>

#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::string_view suffix = ".so";
constexpr std::array<std::string_view, 3> other_suffixes{"dll", "dylib", "pyd"};
constexpr std::size_t max_choosers = 64;
constexpr std::size_t max_uses = 4096;
// Nodes and bytes of what is looked at for one thing.
constexpr SyntaxIndex max_nodes = 4096;
constexpr std::size_t max_text = 16384;
// Nodes above one.
constexpr int max_above = 512;

bool mentions_any(std::string_view text, const auto& words) {
  return std::any_of(words.begin(), words.end(),
                     [text](std::string_view word) { return text.find(word) != text.npos; });
}

// Code that knows of several systems.
bool asks_system(std::string_view text) {
  constexpr std::array<std::string_view, 13> words{
      "platform", "os.name", "win32",  "Windows", "WINDOWS", "windows", "Linux",
      "linux",    "LINUX",   "Darwin", "darwin",  "macos",   "posix"};
  return mentions_any(text, words) || mentions_any(text, other_suffixes);
}

class SuffixReader {
 public:
  explicit SuffixReader(const ParsedPython& file) : syntax_(file.syntax), scopes_(file.scopes) {}

  std::vector<PythonSuffixChooser> choosers() const {
    std::vector<PythonSuffixChooser> found;
    for (SyntaxIndex at = 0; at < syntax_.nodes.size() && found.size() < max_choosers; ++at) {
      SyntaxIndex name = no_syntax;
      if (syntax_.is(at, SyntaxKind::function_definition)) {
        if (returns_suffixes(at)) name = syntax_.child(at, SyntaxField::name);
      } else if (syntax_.is(at, SyntaxKind::assignment)) {
        if (assigns_suffixes(at)) name = syntax_.child(at, SyntaxField::left);
      }
      if (name == no_syntax) continue;
      const std::string_view written = syntax_.text_of(name);
      const bool known =
          std::any_of(found.begin(), found.end(),
                      [&](const PythonSuffixChooser& one) { return one.name == written; });
      if (!known) found.push_back({std::string(written), syntax_.place_of(name)});
    }
    return found;
  }

  PythonLibrarySuffixes uses(const std::set<std::string, std::less<>>& choosers) const {
    PythonLibrarySuffixes found;
    found.asks = asks_system(syntax_.text);
    SyntaxIndex last_around = no_syntax;
    bool last_asks = false;
    for (SyntaxIndex at = 0; at < syntax_.nodes.size() && found.uses.size() < max_uses; ++at) {
      PythonSuffixUse use;
      if (syntax_.is(at, SyntaxKind::string)) {
        if (!read_string(at, use)) continue;
      } else if (syntax_.is(at, SyntaxKind::identifier)) {
        if (!choosers.contains(syntax_.text_of(at)) || !read_chooser(at, use)) continue;
      } else {
        continue;
      }
      use.place = syntax_.place_of(at);
      const SyntaxIndex around = surroundings_of(at);
      use.around = syntax_.place_of(around);
      // Most uses stand in one function.
      if (around != last_around) {
        last_around = around;
        last_asks = asks_system(syntax_.text_of(around).substr(0, max_text));
      }
      use.asks = last_asks || around == 0 || in_class_of_system(at);
      found.uses.push_back(std::move(use));
    }
    return found;
  }

 private:
  // What stands between the quotes.
  std::string_view content_of(SyntaxIndex string) const {
    const std::vector<SyntaxIndex> parts = syntax_.children(string);
    if (parts.size() < 2 || !syntax_.is(parts.front(), SyntaxKind::string_start) ||
        !syntax_.is(parts.back(), SyntaxKind::string_end)) {
      return {};
    }
    const std::uint32_t begin = syntax_[parts.front()].end;
    return syntax_.text.substr(begin, syntax_[parts.back()].begin - begin);
  }

  // Texts that are suffixes, with or without the dot: whether there are `so` and another one.
  bool has_both(SyntaxIndex root) const {
    bool shared = false;
    bool other = false;
    if (syntax_[root].next - root > max_nodes) return false;
    for (SyntaxIndex at = root; at < syntax_[root].next; ++at) {
      if (!syntax_.is(at, SyntaxKind::string)) continue;
      std::string_view text = content_of(at);
      if (text.starts_with('.')) text.remove_prefix(1);
      shared = shared || text == "so";
      other = other ||
              std::find(other_suffixes.begin(), other_suffixes.end(), text) != other_suffixes.end();
    }
    return shared && other;
  }

  // `return` by `return`, each of them one suffix.
  bool returns_suffixes(SyntaxIndex function) const {
    const SyntaxIndex body = syntax_.child(function, SyntaxField::body);
    if (body == no_syntax || syntax_[body].next - body > max_nodes) return false;
    bool shared = false;
    bool other = false;
    for (const SyntaxIndex at : syntax_.own_nodes(body)) {
      if (!syntax_.is(at, SyntaxKind::return_statement)) continue;
      const SyntaxIndex value = syntax_.unwrapped(syntax_.first(at));
      if (value == no_syntax) return false;
      if (is_choice(value) && has_both(value)) return true;
      if (!syntax_.is(value, SyntaxKind::string)) return false;
      std::string_view text = content_of(value);
      if (text.starts_with('.')) text.remove_prefix(1);
      const bool is_other =
          std::find(other_suffixes.begin(), other_suffixes.end(), text) != other_suffixes.end();
      if (text != "so" && !is_other) return false;
      shared = shared || text == "so";
      other = other || is_other;
    }
    return shared && other;
  }

  // One of several, for each system: `a if b else c`, `{…}[sys.platform]`, `{…}.get(…)`.
  bool is_choice(SyntaxIndex value) const {
    if (syntax_.is(value, SyntaxKind::conditional_expression)) return true;
    const SyntaxIndex first = syntax_.first(value);
    if (syntax_.is(value, SyntaxKind::subscript)) {
      return syntax_.is(first, SyntaxKind::dictionary);
    }
    return syntax_.is(value, SyntaxKind::call) && syntax_.is(first, SyntaxKind::attribute) &&
           syntax_.is(syntax_.first(first), SyntaxKind::dictionary);
  }

  // `EXT = ".dll" if os.name == "nt" else ".so"` of a module or function.
  bool assigns_suffixes(SyntaxIndex assignment) const {
    const SyntaxIndex name = syntax_.child(assignment, SyntaxField::left);
    const SyntaxIndex value = syntax_.unwrapped(syntax_.child(assignment, SyntaxField::right));
    if (!syntax_.is(name, SyntaxKind::identifier) || value == no_syntax) return false;
    if (is_choice(value)) return has_both(value);
    // One in each branch.
    if (!syntax_.is(value, SyntaxKind::string)) return false;
    const std::vector<PythonBinding>& bindings = scopes_.find(syntax_.text_of(name), name);
    bool shared = false;
    bool other = false;
    for (const PythonBinding& binding : bindings) {
      if (binding.kind != PythonBinding::Kind::value) return false;
      const SyntaxIndex one = syntax_.unwrapped(binding.value);
      if (!syntax_.is(one, SyntaxKind::string)) return false;
      std::string_view text = content_of(one);
      if (!text.starts_with('.')) return false;
      text.remove_prefix(1);
      shared = shared || text == "so";
      other = other ||
              std::find(other_suffixes.begin(), other_suffixes.end(), text) != other_suffixes.end();
    }
    return shared && other;
  }

  // A text that ends with `.so`.
  bool read_string(SyntaxIndex string, PythonSuffixUse& use) const {
    const std::string_view content = content_of(string);
    if (!content.ends_with(suffix)) return false;
    const std::string_view before = content.substr(0, content.size() - suffix.size());
    if (picks_files(string, before)) {
      use.picks = true;
      return true;
    }
    use.stem = before.empty() ? std::string(operand_before(string)) : plain_stem(before);
    return true;
  }

  // The name of a chooser, or its call, at the end of a text.
  bool read_chooser(SyntaxIndex name, PythonSuffixUse& use) const {
    const SyntaxIndex parent = syntax_[name].parent;
    const SyntaxField field = syntax_[name].field;
    if (syntax_.is(parent, SyntaxKind::function_definition) ||
        (syntax_.is(parent, SyntaxKind::assignment) && field == SyntaxField::left) ||
        syntax_.is(parent, SyntaxKind::dotted_name) ||
        syntax_.is(parent, SyntaxKind::keyword_argument)) {
      return false;
    }
    use.chooser = syntax_.text_of(name);
    SyntaxIndex value = name;
    if (syntax_.is(parent, SyntaxKind::attribute) && field == SyntaxField::attribute) {
      value = parent;
    }
    if (syntax_.is(syntax_[value].parent, SyntaxKind::call) &&
        syntax_[value].field == SyntaxField::function) {
      value = syntax_[value].parent;
    }
    const SyntaxIndex holder = syntax_[value].parent;
    if (syntax_.is(holder, SyntaxKind::interpolation)) {
      const SyntaxIndex string = syntax_[holder].parent;
      const std::string_view content = content_of(string);
      const std::uint32_t end = syntax_[holder].end;
      const std::uint32_t begin = syntax_[syntax_.first(string)].end;
      if (syntax_.is(string, SyntaxKind::string) && begin + content.size() == end) {
        use.stem = plain_stem(syntax_.text.substr(begin, syntax_[holder].begin - begin));
      }
    } else {
      use.stem = operand_before(value);
    }
    return true;
  }

  // The left side of `name + ".so"`; what `with_suffix` is asked of.
  std::string operand_before(SyntaxIndex value) const {
    const SyntaxIndex parent = syntax_[value].parent;
    if (syntax_.is(parent, SyntaxKind::binary_operator) &&
        syntax_[value].field == SyntaxField::right) {
      const SyntaxIndex sign = syntax_.child(parent, SyntaxField::operator_sign);
      if (sign == no_syntax || syntax_.text_of(sign) != "+") return {};
      const SyntaxIndex left = syntax_.unwrapped(syntax_.child(parent, SyntaxField::left));
      if (left == no_syntax) return {};
      if (syntax_.is(left, SyntaxKind::string)) return plain_stem(content_of(left));
      return std::string(syntax_.text_of(left).substr(0, 256));
    }
    const SyntaxIndex call =
        syntax_.is(parent, SyntaxKind::argument_list) ? syntax_[parent].parent : no_syntax;
    if (!syntax_.is(call, SyntaxKind::call)) return {};
    const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
    if (!syntax_.is(function, SyntaxKind::attribute)) return {};
    const std::string_view written = syntax_.text_of(function);
    if (!written.ends_with(".with_suffix")) return {};
    return std::string(written.substr(0, 256));
  }

  // `{name}` of an f-string is `name`.
  static std::string plain_stem(std::string_view text) {
    if (text.size() > 2 && text.front() == '{' && text.find('}') == text.size() - 1) {
      text = text.substr(1, text.size() - 2);
    }
    return std::string(text.substr(0, 256));
  }

  bool picks_files(SyntaxIndex string, std::string_view before) const {
    const SyntaxIndex parent = syntax_[string].parent;
    if (syntax_.is(parent, SyntaxKind::argument_list)) {
      const SyntaxIndex call = syntax_[parent].parent;
      if (!syntax_.is(call, SyntaxKind::call)) return false;
      const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
      if (!syntax_.is(function, SyntaxKind::attribute)) return false;
      const SyntaxIndex method = syntax_.child(function, SyntaxField::attribute);
      if (method == no_syntax) return false;
      const std::string_view name = syntax_.text_of(method);
      if (name == "endswith") {
        return before.empty() && is_listed(syntax_.child(function, SyntaxField::object));
      }
      return (name == "glob" || name == "rglob" || name == "iglob") &&
             (before == "*" || before == "**/*");
    }
    // `entry.suffix == ".so"`
    if (!before.empty() || !syntax_.is(parent, SyntaxKind::other)) return false;
    const std::vector<SyntaxIndex> sides = syntax_.children(parent);
    if (sides.size() < 2 || !syntax_.is(sides[0], SyntaxKind::attribute)) return false;
    const std::string_view text = syntax_.text_of(parent);
    if (text.find("==") == text.npos && text.find("!=") == text.npos) return false;
    return syntax_.text_of(sides[0]).ends_with(".suffix") &&
           is_listed(syntax_.child(sides[0], SyntaxField::object));
  }

  // A name of what a folder holds: `for f in os.listdir(d)`, `for f in files` of `os.walk`.
  bool is_listed(SyntaxIndex expression) const {
    SyntaxIndex value = syntax_.unwrapped(expression);
    if (syntax_.is(value, SyntaxKind::attribute)) value = syntax_.first(value);
    for (int depth = 0; depth < 3; ++depth) {
      if (!syntax_.is(value, SyntaxKind::identifier)) return false;
      const PythonBinding* binding = scopes_.only(syntax_.text_of(value), value);
      if (binding == nullptr) return false;
      SyntaxIndex from = binding->value;
      if (binding->kind == PythonBinding::Kind::loop) {
        from = syntax_.child(from, SyntaxField::right);
      } else if (binding->kind != PythonBinding::Kind::value) {
        return false;
      }
      from = syntax_.unwrapped(from);
      if (from == no_syntax) return false;
      constexpr std::array<std::string_view, 5> lists{"listdir(", "iterdir(", "scandir(", "walk(",
                                                      "glob("};
      if (mentions_any(syntax_.text_of(from).substr(0, 256), lists)) return true;
      value = from;
    }
    return false;
  }

  // The function around it; in a module its statement. The module where neither is near.
  SyntaxIndex surroundings_of(SyntaxIndex at) const {
    SyntaxIndex below = at;
    int above = 0;
    for (SyntaxIndex up = at; up != no_syntax && up != 0; up = syntax_[up].parent) {
      if (syntax_.is(up, SyntaxKind::function_definition)) return up;
      if (++above > max_above) return 0;
      below = up;
    }
    return below;
  }

  bool in_class_of_system(SyntaxIndex at) const {
    int above = 0;
    for (SyntaxIndex up = at; up != no_syntax && up != 0; up = syntax_[up].parent) {
      if (++above > max_above) return true;
      if (!syntax_.is(up, SyntaxKind::class_definition)) continue;
      const SyntaxIndex name = syntax_.child(up, SyntaxField::name);
      if (name != no_syntax && asks_system(syntax_.text_of(name))) return true;
    }
    return false;
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
};

}  // namespace

std::vector<PythonSuffixChooser> find_suffix_choosers(const ParsedPython& file) {
  return SuffixReader(file).choosers();
}

PythonLibrarySuffixes find_library_suffixes(const ParsedPython& file,
                                            const std::set<std::string, std::less<>>& choosers) {
  return SuffixReader(file).uses(choosers);
}

}  // namespace opseal
