#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/paths.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/library_exports.h"
#include "rules/library_variants.h"
#include "rules/torch_owners.h"

namespace opseal {
namespace {

// Definers of one namespace that are held against each other; more are builds of one another.
constexpr std::size_t most_definers = 64;

struct Definer {
  const PlacedLibrary* library = nullptr;
  Fact registrar;
  // The schema that both have, or the registrar's namespace.
  Fact what;
};

// `ns::add` of `ns::add(Tensor a) -> Tensor` and, in the namespace `ns`, of `add(Tensor a) -> ...`.
std::string operator_of(std::string_view space, std::string_view schema) {
  std::string_view name = schema.substr(0, schema.find('('));
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  if (name.empty()) return {};
  if (name.find("::") != name.npos) return std::string(name);
  return space.empty() ? std::string() : std::string(space) + "::" + std::string(name);
}

std::string_view parent(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

std::string_view top_folder(std::string_view path) { return path.substr(0, path.find('/')); }

// A program loads what it needs and nothing that a module of Python does.
bool is_apart(const PlacedLibrary& program, const PlacedLibrary& other) {
  if (!program.content[Key::type].is("program")) return false;
  const Fact needed = program.content[Key::needed];
  if (other.content[Key::type].is("program")) return true;
  const Fact soname = other.content[Key::soname];
  return needed.is_list() && !list_has(needed, file_name_of(other.path())) &&
         (!soname.is_text() || !list_has(needed, soname.text()));
}

// One module that was built, or installed, twice: equal to the end but for the folder that holds
// the package (`build/lib.linux-x86_64/ops/_C.so` and `ops/_C.so`).
bool are_copies(const PlacedLibrary& a, const PlacedLibrary& b) {
  const std::string_view shorter = a.path().size() < b.path().size() ? a.path() : b.path();
  const std::string_view longer = a.path().size() < b.path().size() ? b.path() : a.path();
  if (shorter.find('/') == shorter.npos) return false;
  if (longer.ends_with(shorter) && longer != shorter) return true;
  return file_name_of(parent(a.path())) == file_name_of(parent(b.path())) &&
         file_name_of(a.path()) == file_name_of(b.path());
}

// `libops.so` and `libops_runtime.so`: a smaller edition in the same folder, of which one is
// loaded.
bool are_editions(const PlacedLibrary& a, const PlacedLibrary& b) {
  const PlacedLibrary& plain = a.path().size() < b.path().size() ? a : b;
  const PlacedLibrary& other = &plain == &a ? b : a;
  const std::string_view stem = plain.path().substr(0, plain.path().rfind('.'));
  if (parent(a.path()) != parent(b.path()) || !other.path().starts_with(stem)) return false;
  if (list_has(other.content[Key::needed], file_name_of(plain.path())) ||
      list_has(plain.content[Key::needed], file_name_of(other.path()))) {
    return false;
  }
  const std::string_view rest = other.path().substr(stem.size());
  for (const std::string_view edition : {"runtime", "lite", "mini", "minimal", "full"}) {
    const bool named = rest.size() > edition.size() && rest.substr(1).starts_with(edition) &&
                       (rest[0] == '_' || rest[0] == '-');
    if (named && rest.substr(1 + edition.size()).starts_with('.')) return true;
  }
  return false;
}

// Two packages of one name are two releases, of which one is installed, and two that fill one
// folder replace each other.
bool may_meet(const PlacedLibrary& a, const PlacedLibrary& b) {
  if (is_apart(a, b) || is_apart(b, a) || are_editions(a, b)) return false;
  if (a.manifest == b.manifest) return true;
  const Fact first = a.manifest[Key::distribution];
  const Fact second = b.manifest[Key::distribution];
  if (!first.is_object() && !second.is_object()) return !are_copies(a, b);
  return first[Key::name].is_text() && second[Key::name].is_text() &&
         first[Key::name].name() != second[Key::name].name() &&
         top_folder(a.path()) != top_folder(b.path());
}

bool is_program(const PlacedLibrary& one) { return one.content[Key::type].is("program"); }

bool needs(const PlacedLibrary& user, const PlacedLibrary& library) {
  const std::string_view soname = library.content[Key::soname].text();
  const std::string_view name = library.path().substr(library.path().rfind('/') + 1);
  for (const Fact needed : user.content[Key::needed].items()) {
    if (needed.text() == name || (!soname.empty() && needed.text() == soname)) return true;
  }
  return false;
}

// A process runs one program, with the libraries that this one needs: a tool of the package that
// carries the code itself is no second definer to those who import the library.
bool share_process(const PlacedLibrary& a, const PlacedLibrary& b) {
  if (is_program(a) && is_program(b)) return false;
  if (is_program(a)) return needs(a, b);
  return !is_program(b) || needs(b, a);
}

class DefinerCheck {
 public:
  explicit DefinerCheck(Sink& sink) : sink_(sink) {}

  void add(const LibraryGroup& group) {
    for_each_torch_registrar(group, [this](const PlacedLibrary& one, const Fact& registrar) {
      const Fact space = registrar[Key::namespace_];
      const bool owner = registrar[Key::kind].is("definition");
      if (!owner && !registrar[Key::kind].is("fragment")) return;
      if (owner && space.is_text()) {
        sink_.inspected();
        owners_[space.text()].push_back({&one, registrar, space});
      }
      for (const Fact schema : registrar[Key::schemas].items()) {
        std::string name = operator_of(space.text(), schema.text());
        if (name.empty()) continue;
        sink_.inspected();
        operators_[std::move(name)].push_back({&one, registrar, schema});
      }
    });
  }

  void judge() {
    for (const auto& [space, definers] : owners_) {
      const auto [a, b] = two_of(definers);
      if (a == nullptr) continue;
      // Then each operator is only one more sign of the same.
      told_.emplace_back(a->library, b->library);
      Finding& finding =
          sink_.add("namespace " + std::string(space),
                    quote(b->library->path()) + " defines namespace " + quote(space) + ", " +
                        quote(a->library->path()) + " defines it, too",
                    evidence(b->what, "defined here"));
      finding.related.push_back(evidence(a->what, "defined here, too"));
    }
    for (const auto& [name, definers] : operators_) {
      const auto [a, b] = two_of(definers);
      if (a == nullptr || was_told(*a->library, *b->library)) continue;
      Finding& finding = sink_.add(name,
                                   quote(b->library->path()) + " defines " + quote(name) + ", " +
                                       quote(a->library->path()) + " defines it, too",
                                   evidence(b->what, "defined here"));
      finding.related.push_back(evidence(a->what, "defined here, too"));
      finding.fix = "define the operator in one library, and only register kernels in the other";
    }
  }

 private:
  std::pair<const Definer*, const Definer*> two_of(const std::vector<Definer>& definers) {
    if (definers.size() > most_definers) return {};
    for (std::size_t j = 1; j < definers.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        const PlacedLibrary& a = *definers[i].library;
        const PlacedLibrary& b = *definers[j].library;
        if (&a == &b || !may_meet(a, b) || !share_process(a, b)) continue;
        if (variants_.alternatives(a.content, a.path(), b.content, b.path())) continue;
        return {&definers[i], &definers[j]};
      }
    }
    return {};
  }

  bool was_told(const PlacedLibrary& a, const PlacedLibrary& b) const {
    for (const auto& [first, second] : told_) {
      if (first == &a && second == &b) return true;
    }
    return false;
  }

  Sink& sink_;
  LibraryVariants variants_;
  std::map<std::string_view, std::vector<Definer>> owners_;
  std::map<std::string, std::vector<Definer>> operators_;
  std::vector<std::pair<const PlacedLibrary*, const PlacedLibrary*>> told_;
};

void check(const Facts& facts, Sink& sink) {
  if (!facts.said[static_cast<std::size_t>(Key::registrars)]) return;
  const LibraryFacts libraries(facts);
  const std::vector<LibraryGroup> groups = library_groups(libraries);
  DefinerCheck definers(sink);
  for (const LibraryGroup& group : groups) definers.add(group);
  definers.judge();
}

}  // namespace

extern constinit const Rule registrar_duplicate_definer{
    .id = "registrar-duplicate-definer",
    .title = "one namespace or operator defined by two libraries",
    .rationale =
        "A namespace of operators has one owner, and an operator one definition. Where two "
        "libraries that a process loads both define it, the second one throws while it is being "
        "loaded: the import fails, or the process ends, and which of the two works depends on the "
        "order of imports.",
    .example =
        R"({"opseal_manifest": 1, "libraries": [{"path": "liba.so", "registrars":)"
        R"( [{"system": "torch", "kind": "definition", "namespace": "ops"}]}, {"path": "libb.so",)"
        R"( "registrars": [{"system": "torch", "kind": "definition", "namespace": "ops"}]}]})",
    .fix = "keep one definition, and make the others fragments (`TORCH_LIBRARY_FRAGMENT`)",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects = "definition of a namespace or operator in a library",
    .needs = {Key::libraries, Key::registrars},
    .check = check,
};

}  // namespace opseal
