#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/declared_functions.h"

namespace opseal {
namespace {

// Of so many names each is looked for in all symbols.
constexpr std::size_t most_unproven = 64;

// Names that a loader can look up. A C++ name as people write it is none.
bool is_symbol(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char byte : text) {
    const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    if (!letter && !(byte >= '0' && byte <= '9') && byte != '_' && byte != '$' && byte != '.') {
      return false;
    }
  }
  return true;
}

// A library whose functions are found by other means than their names: a module of Python, one that
// registers what it has when it is loaded, or one with an entry point that hands out the rest.
bool registers_itself(const LibraryExports& exports) {
  const Fact content = exports.content();
  if (content[Key::registrars].size() > 0 || content[Key::handlers].size() > 0) return true;
  bool entry = false;
  exports.for_each_name([&entry](std::string_view name) {
    if (entry || name.starts_with("_Z") || name == "_init") return;
    const std::string word = lower(name);
    for (const std::string_view part : {"init", "register", "plugin", "entry", "load"}) {
      entry = entry || word.find(part) != word.npos;
    }
  });
  return entry;
}

// Names that a library bears out in no way are a claim that it breaks where nothing shows that they
// may be called otherwise: all can be symbols, and none is a part of a symbol's name.
bool are_claims(const Fact& functions, const LibraryExports& exports) {
  if (registers_itself(exports)) return false;
  std::vector<std::string_view> names;
  for (const Fact function : functions.items()) {
    if (!function.is_text() || !is_symbol(function.text())) return false;
    names.push_back(function.text());
  }
  if (names.empty() || names.size() > most_unproven) return false;
  bool kin = false;
  exports.for_each_name([&names, &kin](std::string_view symbol) {
    if (kin || symbol.starts_with("_Z")) return;
    kin = std::any_of(names.begin(), names.end(), [symbol](std::string_view name) {
      return symbol.find(name) != symbol.npos || name.find(symbol) != name.npos;
    });
  });
  return !kin;
}

class ExportCheck {
 public:
  ExportCheck(const Facts& facts, Sink& sink)
      : facts_(facts), sink_(sink), libraries_(facts), named_(libraries_) {}

  void run() {
    if (named_.empty()) return;
    for (const Document& document : facts_.documents) {
      if (document.settings || document.named) continue;
      const Fact manifest = facts_.root(document);
      proven_.clear();
      for (const Fact library : manifest[Key::libraries].items()) functions(manifest, library);
      for (const Fact target : manifest[Key::targets].items()) judge_target(manifest, target);
      judge_kernels(manifest);
    }
  }

 private:
  // The exports of the library that `item` names, or nullptr.
  LibraryExports* exports_of(const Fact& manifest, const Fact& path) {
    if (!path.is_text()) return nullptr;
    if (path.name() == last_path_ && manifest == last_manifest_) return last_;
    last_path_ = path.name();
    last_manifest_ = manifest;
    const Fact content = named_.find(manifest, path.text());
    last_ = content.said() ? &tables_.of(content) : nullptr;
    if (last_ != nullptr && !last_->known()) last_ = nullptr;
    return last_;
  }

  void functions(const Fact& manifest, const Fact& library) {
    const Fact functions = library[Key::functions];
    // A cache's library is judged by `cache-superset-hit`.
    if (!functions.is_list() || library[Key::cache].said()) return;
    const Fact own = libraries_.content(library);
    LibraryExports* exports = own[Key::exports].said() || own[Key::images].said()
                                  ? &tables_.of(own)
                                  : exports_of(manifest, library[Key::path]);
    if (exports == nullptr || !exports->known()) return;
    const FunctionNames names(functions, library[Key::symbols_prefix], *exports);
    if (!names.known() && !are_claims(functions, *exports)) return;
    // By what is to be done about them.
    Missing other;
    Missing mangled;
    Missing undefined;
    for (const Fact function : functions.items()) {
      if (!function.is_text() || !is_symbol(function.text())) continue;
      sink_.inspected();
      if (names.is_exported(function.text())) {
        if (exports->has(function.text())) proven_.insert(exports);
        continue;
      }
      const std::string symbol = names.symbol_of(function.text());
      Missing& missing = exports->find_import(symbol)    ? undefined
                         : exports->find_mangled(symbol) ? mangled
                                                         : other;
      if (missing.symbols.empty()) missing.first = function;
      missing.symbols.push_back(symbol);
    }
    tell(library, undefined, "; they are undefined there", *exports);
    tell(library, mangled, "; there are C++ functions of these names", *exports);
    tell(library, other, {}, *exports);
  }

  // Functions of one library that it lacks for one reason.
  struct Missing {
    Fact first;
    std::vector<std::string> symbols;
  };

  void tell(const Fact& library, const Missing& missing, std::string_view why_of_many,
            LibraryExports& exports) {
    if (missing.symbols.empty()) return;
    const std::string& first = missing.symbols.front();
    std::string message = "declared as " + quote_list(missing.symbols) + ", not exported";
    const std::string why = exports.explain(first);
    message += missing.symbols.size() == 1 ? why : std::string(why_of_many);
    add("library " + std::string(library[Key::path].text()), std::move(message), missing.first,
        "declared here", exports, first);
  }

  void judge_target(const Fact& manifest, const Fact& target) {
    const Fact symbol = target[Key::symbol];
    if (!symbol.is_text() || !is_symbol(symbol.text())) return;
    LibraryExports* exports = exports_of(manifest, target[Key::library]);
    if (exports == nullptr) return;
    sink_.inspected();
    const Fact found = exports->find(symbol.text());
    if (found.said()) proven_.insert(exports);
    if (!found.said()) {
      add("target " + std::string(target[Key::name].text()),
          not_exported(target) + exports->explain(symbol.text()), symbol,
          "symbol of the target" + site_of(target), *exports, symbol.text());
      return;
    }
    const Fact kind = found[Key::kind];
    if (!kind.is("object") && !kind.is("tls") && !kind.is("common")) return;
    Finding& finding =
        sink_.add("target " + std::string(target[Key::name].text()),
                  "symbol " + quote(symbol.text()) + " of " + quote(target[Key::library].text()) +
                      " is data, expected a function",
                  evidence(symbol, "symbol of the target" + site_of(target)));
    finding.related.push_back(evidence(found, "exported here"));
  }

  void judge_kernels(const Fact& manifest) {
    struct MissingKernel {
      Fact op;
      Fact kernel;
      LibraryExports* exports = nullptr;
    };
    std::vector<MissingKernel> missing;
    for (const Fact op : manifest[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        const Fact symbol = kernel[Key::symbol];
        if (!symbol.is_text() || !is_symbol(symbol.text())) continue;
        LibraryExports* exports = exports_of(manifest, kernel[Key::library]);
        if (exports == nullptr) continue;
        sink_.inspected();
        if (exports->has(symbol.text())) {
          proven_.insert(exports);
        } else {
          missing.push_back({op, kernel, exports});
        }
      }
    }
    for (const MissingKernel& one : missing) {
      const Fact symbol = one.kernel[Key::symbol];
      const bool exact = proven_.contains(one.exports);
      // Some write down the name in the source, and some that of a function inside the library.
      if (!exact && one.exports->find_mangled(symbol.text())) continue;
      std::string why = one.exports->explain(symbol.text());
      if (!exact && why.empty()) continue;
      add(subject_of(manifest, one.op), not_exported(one.kernel) + why, symbol,
          "symbol of the kernel" + site_of(one.kernel), *one.exports, symbol.text());
    }
  }

  static std::string not_exported(const Fact& item) {
    return "symbol " + quote(item[Key::symbol].text()) + " is not exported by " +
           quote(item[Key::library].text());
  }

  void add(std::string subject, std::string message, const Fact& where, std::string label,
           const LibraryExports& exports, std::string_view symbol) {
    Finding& finding =
        sink_.add(std::move(subject), std::move(message), evidence(where, std::move(label)));
    const Fact content = exports.content();
    const Fact other = exports.find_import(symbol);
    if (other.said()) {
      finding.related.push_back(evidence(other, "undefined here"));
    } else {
      finding.related.push_back(
          evidence(content[Key::exports].said() ? content[Key::exports] : content,
                   "what the library exports"));
    }
    finding.fix = exports.advise(symbol);
  }

  const Facts& facts_;
  Sink& sink_;
  LibraryFacts libraries_;
  NamedLibraries named_;
  ExportTables tables_;
  // Neighbours mostly name the same library.
  Fact last_manifest_;
  // Libraries that export what some function, target or kernel of the manifest names.
  std::unordered_set<const LibraryExports*> proven_;
  Name last_path_ = Names::missing;
  LibraryExports* last_ = nullptr;
};

void check(const Facts& facts, Sink& sink) { ExportCheck(facts, sink).run(); }

}  // namespace

extern constinit const Rule export_missing{
    .id = "export-missing",
    .title = "declared symbol that the library doesn't export",
    .rationale =
        "The registration names a function, and the loader looks it up by that name in the built "
        "file. If it was renamed, compiled out, hidden by a visibility flag or given a C++ name, "
        "the registration is accepted and the first call, or the import, fails on the user's "
        "machine with a symbol that can't be found.",
    .example = R"({"path": "libops.so", "functions": ["f", "g"], "symbols_prefix": "be_",)"
               R"( "exports": [{"name": "be_f", "kind": "function"}]})",
    .fix = "export the function under the declared name, or correct the declaration",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects = "declared function or symbol that can be held against the exports of its library",
    .needs = {Key::libraries},
    .reads = {Key::exports, Key::registrars},
    .check = check,
};

}  // namespace opseal
