#include "rules/kind_siblings.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "opseal/ascii.h"
#include "opseal/registration.h"
#include "rules/mangled_names.h"
#include "rules/named_targets.h"

namespace opseal {
namespace {

// Calls `visit(word)` for each spelling of a dtype, or for the kind itself where it is none. Words
// of two meanings are no name's kind.
template <typename Visit>
void for_each_spelling(std::string_view kind, Visit visit) {
  const Dtype* dtype = find_dtype(kind);
  if (dtype == nullptr) {
    visit(kind);
    return;
  }
  if (!dtype->first.empty() || dtype->kind == DtypeKind::opaque) return;
  std::string_view rest = dtype->spellings;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    visit(word);
  }
}

// The name that people gave a function or kernel, without namespaces and template arguments.
std::string plain_name(std::string_view symbol) {
  std::string path = function_path(symbol);
  const std::size_t colons = path.rfind("::");
  return colons == path.npos ? path : path.substr(colons + 2);
}

// Libraries of one manifest that are searched for the kernel of a row.
constexpr std::size_t most_libraries = 64;

bool is_storage(std::string_view kind) { return is_storage_kind(kind); }

}  // namespace

KindSiblings::KindSiblings(const Facts& facts) : facts_(facts), named_(facts_), handlers_(facts_) {}

void KindSiblings::add(std::string_view kind) {
  if (!added_.insert(kind).second) return;
  // Words without a digit (`half`, `index`, `long`) are words of a language, too.
  for_each_spelling(kind, [this](std::string_view word) {
    if (std::any_of(word.begin(), word.end(), is_digit)) kinds_.add(word);
  });
}

const KindSiblings::Compact& KindSiblings::names_of(const Fact& content) {
  const auto [place, fresh] = names_.try_emplace(content.index());
  if (!fresh) return place->second;
  const auto add = [names = &place->second](const Fact& item) {
    const Fact name = item[Key::name];
    if (name.is_text()) names->try_emplace(compact_kind(plain_name(name.text())), item);
  };
  for (const Fact symbol : content[Key::exports].items()) add(symbol);
  for (const Fact image : content[Key::images].items()) {
    for (const Fact kernel : image[Key::kernels].items()) add(kernel);
  }
  return place->second;
}

bool KindSiblings::has(const Fact& content, std::string_view name) {
  return names_of(content).contains(compact_kind(plain_name(name)));
}

KindSiblings::Sibling KindSiblings::of(const Fact& content, std::string_view name,
                                       std::string_view kind) {
  const std::string plain = plain_name(name);
  const std::string compact = compact_kind(plain);
  const std::string own = canonical_kind(kind);
  Sibling sibling;
  for (const std::string_view found : kinds_.found_in(plain)) {
    if (canonical_kind(found) == own || is_own_name(compact, kind, found)) return {};
    if (sibling.found.empty()) sibling.found = found;
  }
  if (sibling.found.empty()) return {};
  const std::string replaced = compact_kind(sibling.found);
  const std::size_t at = compact.find(replaced);
  if (at == compact.npos) return {};
  bool is_own = false;
  for_each_spelling(kind, [&](std::string_view word) {
    is_own = is_own || is_own_name(compact, word, sibling.found);
    if (sibling.fact.said()) return;
    std::string wanted = compact;
    wanted.replace(at, replaced.size(), compact_kind(word));
    const Compact& names = names_of(content);
    const auto there = names.find(wanted);
    if (there == names.end()) return;
    sibling.fact = there->second;
    sibling.name = plain_name(there->second[Key::name].text());
  });
  return is_own ? Sibling() : sibling;
}

namespace {

class SymbolCheck {
 public:
  SymbolCheck(const Facts& facts, Sink& sink) : siblings_(facts), sink_(sink) {}

  void judge(const Fact& manifest) {
    if (siblings_.empty()) return;
    targets_ = NamedTargets(manifest);
    named_.clear();
    for (const Fact target : manifest[Key::targets].items()) {
      if (target[Key::symbol].is_text()) named_.insert(target[Key::symbol].text());
    }
    for (const Fact op : manifest[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        if (kernel[Key::symbol].is_text()) named_.insert(kernel[Key::symbol].text());
        for (const Fact word : kernel[Key::dtypes].items()) {
          if (word.is_text()) siblings_.add(word.text());
        }
      }
    }
    for_each_row(manifest, [this](const Fact&, const Fact& kind, const Fact& kernel) {
      if (kind.is_text()) siblings_.add(kind.text());
      if (kernel.is_text()) named_.insert(kernel.text());
    });
    siblings_.seal();
    for_each_row(manifest, [&](const Fact& dispatch, const Fact& kind, const Fact& kernel) {
      if (kind.is_text() && kernel.is_text()) judge_row(manifest, dispatch, kind, kernel);
    });
    for (const Fact op : manifest[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        const Fact kind = kernel[Key::dtypes].size() == 1 ? only(kernel[Key::dtypes]) : Fact();
        if (!kind.is_text() || !is_active_kernel(kernel)) continue;
        judge(manifest, op, kernel, kind);
      }
    }
  }

 private:
  static Fact only(const Fact& list) {
    for (const Fact item : list.items()) return item;
    return {};
  }

  template <typename Visit>
  static void for_each_row(const Fact& manifest, Visit visit) {
    for (const Fact dispatch : manifest[Key::dispatch].items()) {
      for (const Fact entry : dispatch[Key::table][Key::entries].items()) {
        visit(dispatch, entry[Key::kind], entry[Key::kernel]);
      }
    }
  }

  static bool is_format(const Fact& kind) {
    const Dtype* dtype = find_dtype(kind.text());
    if (dtype == nullptr) return is_storage(kind.text());
    return dtype->first.empty() && dtype->kind != DtypeKind::opaque;
  }

  // A row of a table names no library: any of the manifest's that has the kernel. What is named
  // after a storage format is told without one, by the names alone.
  void judge_row(const Fact& manifest, const Fact& dispatch, const Fact& kind, const Fact& kernel) {
    if (!is_format(kind)) return;
    std::size_t looked_at = 0;
    for (const Fact library : manifest[Key::libraries].items()) {
      if (++looked_at > most_libraries) return;
      const Fact content = siblings_.content(library);
      if (!siblings_.has(content, kernel.text())) continue;
      sink_.inspected();
      const KindSiblings::Sibling sibling = siblings_.of(content, kernel.text(), kind.text());
      if (!sibling.fact.said() || is_storage(sibling.found) || !is_slip(kind, sibling)) continue;
      Finding& finding =
          sink_.add(dispatch_subject(dispatch),
                    "kernel for " + quote(kind.text()) + " is " + quote(kernel.text()) +
                        ", the library has " + quote(sibling.name) + ", too",
                    evidence(kernel, "kernel named here" + part_site(dispatch[Key::table])));
      finding.related.push_back(evidence(kind, "kind stated here"));
      finding.related.push_back(evidence(sibling.fact, "the one of its own kind"));
      return;
    }
  }

  void judge(const Fact& manifest, const Fact& op, const Fact& kernel, const Fact& kind) {
    if (!is_format(kind)) return;
    const Fact at = targets_.site(kernel);
    const Fact symbol = at[Key::symbol];
    if (!symbol.is_text() || !at[Key::library].is_text()) return;
    const Fact content = siblings_.libraries().find(manifest, at[Key::library].text());
    if (!content.said()) return;
    sink_.inspected();
    const KindSiblings::Sibling sibling = siblings_.of(content, symbol.text(), kind.text());
    if (sibling.fact.said() && is_slip(kind, sibling)) {
      tell(manifest, op, kernel, kind,
           "symbol for " + quote(kind.text()) + " is " + quote(symbol.text()) +
               ", the library has " + quote(sibling.name) + ", too",
           symbol, "symbol named here" + site_of(at), sibling);
      return;
    }
    if (sibling.found.empty()) judge_reached(manifest, op, kernel, at, kind, content);
  }

  // A scalar's kernel may be lent to another dtype on purpose; then the other's own is used by
  // somebody else.
  bool is_slip(const Fact& kind, const KindSiblings::Sibling& sibling) const {
    return is_storage(kind.text()) || is_storage(sibling.found) ||
           !named_.contains(sibling.fact[Key::name].text());
  }

  // A kernel that a handler reaches and that is named after another kind than the asked.
  struct Reached {
    Fact name;
    KindSiblings::Sibling sibling;
  };

  // The handler's name is right, or of no kind: what it launches may be the neighbour's.
  void judge_reached(const Fact& manifest, const Fact& op, const Fact& kernel, const Fact& at,
                     const Fact& kind, const Fact& content) {
    const Fact handler = siblings_.handlers().of(manifest, at);
    if (!handler.said()) return;
    // Many registrations may name one handler, which may reach as many kernels.
    const auto [place, fresh] = reached_.try_emplace({handler.index(), kind.name()});
    if (fresh) place->second = reached_by(handler, kind, content);
    const auto& [name, sibling] = place->second;
    if (!sibling.fact.said() || !(is_storage(kind.text()) || is_storage(sibling.found))) return;
    tell(manifest, op, kernel, kind,
         "kernel for " + quote(kind.text()) + " reaches " + quote(short_kernel(name.text())) +
             " and none that is named after its kind; the library has " + quote(sibling.name),
         name, "reached from " + quote(at[Key::symbol].text()), sibling);
  }

  // The first of them that has a sibling of its own kind; nothing where one may do the work.
  Reached reached_by(const Fact& handler, const Fact& kind, const Fact& content) {
    const Fact reaches = handler[Key::reaches];
    if (reaches.size() == 0 || !all_read(reaches) || handler[Key::ambiguous].truth()) return {};
    Reached first;
    for (const Fact name : reaches.items()) {
      KindSiblings::Sibling other = siblings_.of(content, name.text(), kind.text());
      // One that is of no kind may do the work, as the own does.
      if (other.found.empty()) return {};
      if (other.fact.said() && !first.sibling.fact.said()) first = {name, std::move(other)};
    }
    return first;
  }

  void tell(const Fact& manifest, const Fact& op, const Fact& kernel, const Fact& kind,
            std::string message, const Fact& where, std::string label,
            const KindSiblings::Sibling& sibling) {
    Finding& finding =
        sink_.add(subject_of(manifest, op), std::move(message), evidence(where, std::move(label)));
    finding.related.push_back(evidence(kind, "kind stated here" + site_of(kernel)));
    finding.related.push_back(evidence(sibling.fact, "the one of its own kind"));
  }

  KindSiblings siblings_;
  Sink& sink_;
  NamedTargets targets_;
  // Symbols that the manifest names.
  std::unordered_set<std::string_view> named_;
  // By handler and kind.
  std::map<std::pair<std::uint32_t, Name>, Reached> reached_;
};

}  // namespace

void check_kind_siblings(const Facts& facts, Sink& sink) {
  SymbolCheck check(facts, sink);
  for (const Document& document : facts.documents) {
    if (!document.settings && !document.named) check.judge(facts.root(document));
  }
}

}  // namespace opseal
