#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/declared_functions.h"

namespace opseal {
namespace {

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

class ExportCheck {
 public:
  ExportCheck(const Facts& facts, Sink& sink)
      : facts_(facts), sink_(sink), libraries_(facts), named_(libraries_) {}

  void run() {
    if (named_.empty()) return;
    for (const Document& document : facts_.documents) {
      if (document.settings || document.of_library != 0) continue;
      const Fact manifest = facts_.root(document);
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
    if (!names.known()) return;
    std::vector<std::string> missing;
    Fact first;
    for (const Fact function : functions.items()) {
      if (!function.is_text() || !is_symbol(function.text())) continue;
      sink_.inspected();
      if (names.is_exported(function.text())) continue;
      if (missing.empty()) first = function;
      missing.push_back(names.symbol_of(function.text()));
    }
    if (missing.empty()) return;
    std::string message = "declared as " + quote_list(missing) + ", not exported";
    if (missing.size() == 1) message += exports->explain(missing.front());
    add("library " + std::string(library[Key::path].text()), std::move(message), first,
        "declared here", *exports, missing.front());
  }

  void judge_target(const Fact& manifest, const Fact& target) {
    const Fact symbol = target[Key::symbol];
    if (!symbol.is_text() || !is_symbol(symbol.text())) return;
    LibraryExports* exports = exports_of(manifest, target[Key::library]);
    if (exports == nullptr) return;
    sink_.inspected();
    const Fact found = exports->find(symbol.text());
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
    struct Missing {
      Fact op;
      Fact kernel;
      LibraryExports* exports = nullptr;
    };
    std::vector<Missing> missing;
    // Libraries that export the symbol of some kernel.
    std::unordered_map<const LibraryExports*, bool> proven;
    for (const Fact op : manifest[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        const Fact symbol = kernel[Key::symbol];
        if (!symbol.is_text() || !is_symbol(symbol.text())) continue;
        LibraryExports* exports = exports_of(manifest, kernel[Key::library]);
        if (exports == nullptr) continue;
        sink_.inspected();
        if (exports->has(symbol.text())) {
          proven[exports] = true;
        } else {
          missing.push_back({op, kernel, exports});
        }
      }
    }
    for (const Missing& one : missing) {
      const Fact symbol = one.kernel[Key::symbol];
      const bool exact = proven.contains(one.exports);
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
    .inspects = "declared function or symbol of a library whose exports were read",
    .needs = {Key::libraries},
    .check = check,
};

}  // namespace opseal
