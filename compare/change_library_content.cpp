// What two builds of one library hold. Kernels and C++ names are left aside: they are what a
// compiler made of the code, and no user names them.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compare/change_members.h"
#include "compare/library_names.h"
#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using enum Impact;

constexpr Judged soname_rows[] = {
    {.key = Key::soname, .worse = {breaking, "who was linked against the old name doesn't load"}},
};

constexpr Judged rows[] = {
    {.key = Key::machine, .worse = {breaking, "it runs on other processors"}},
    {.key = Key::type, .worse = {breaking, "it is loaded in another way, or not at all"}},
    {.key = Key::version_definitions,
     .worse_if = Worse::lost,
     .worse = {breaking, "who was linked against the old version doesn't load"},
     .better = {additive, "there is more to link against"}},
};

constexpr Judged handler_rows[] = {
    {.key = Key::stage, .worse = {breaking, "it is called at another time"}},
    {.key = Key::arguments, .worse = {breaking, "stored programs pass it other buffers"}},
    {.key = Key::results, .worse = {breaking, "stored programs pass it other buffers"}},
    {.key = Key::attributes, .worse = {breaking, "stored programs pass it other attributes"}},
};

// Where only the digest differs that `auditwheel` put into it, nothing outside of the package was
// linked against it.
bool is_same_soname(const Fact& before, const Fact& after) {
  return before.is_text() && after.is_text() &&
         lasting_name(before.text()) == lasting_name(after.text());
}

// Texts that stand for the elements of a list, each with the fact to point at.
using Elements = std::map<std::string, Fact>;

struct Meaning {
  std::string_view kind;
  std::string_view noun;
  std::string_view nouns;
  Judgement lost;
  std::string_view gained;
};

void compare_elements(ChangeList& list, const std::string& subject, const Meaning& meaning,
                      const Elements& then, const Elements& now, const Fact& before,
                      const Fact& after) {
  const auto only_in = [](const Elements& from, const Elements& other) {
    std::vector<std::string> names;
    for (const auto& [name, fact] : from) {
      if (!other.contains(name)) names.push_back(name);
    }
    return names;
  };
  const auto text = [&meaning](const std::vector<std::string>& names) {
    return plural(names.size(), std::string(meaning.noun), std::string(meaning.nouns)) + ": " +
           quote_list(names);
  };
  if (const auto lost = only_in(then, now); !lost.empty()) {
    list.add(meaning.lost.impact, meaning.kind, subject, "lost " + text(lost), meaning.lost.meaning,
             then.at(lost.front()), after);
  }
  if (const auto gained = only_in(now, then); !gained.empty()) {
    list.add(additive, meaning.kind, subject, "gained " + text(gained), meaning.gained, before,
             now.at(gained.front()));
  }
}

// Those that people name: not what C++ makes of a name.
Elements exports_of(const Fact& library) {
  Elements names;
  for (const Fact symbol : library[Key::exports].items()) {
    const std::string_view name = symbol[Key::name].text();
    if (!name.empty() && !name.starts_with("_Z")) names.emplace(name, symbol);
  }
  return names;
}

Elements registrars_of(const Fact& library) {
  Elements names;
  for (const Fact registrar : library[Key::registrars].items()) {
    std::string name(registrar[Key::system].text());
    for (const Key key : {Key::kind, Key::namespace_, Key::platform}) {
      if (registrar[key].is_text()) name += ' ' + std::string(registrar[key].text());
    }
    // An entry is nothing but its symbol.
    if (registrar[Key::kind].is("entry")) name += ' ' + std::string(registrar[Key::symbol].text());
    names.emplace(std::move(name), registrar);
  }
  return names;
}

Elements schemas_of(const Fact& library) {
  Elements schemas;
  for (const Fact registrar : library[Key::registrars].items()) {
    const std::string front = std::string(registrar[Key::namespace_].text()) + "::";
    for (const Fact schema : registrar[Key::schemas].items()) {
      if (!schema.is_text()) continue;
      std::string text(schema.text());
      if (front.size() > 2 && !text.starts_with(front)) text.insert(0, front);
      schemas.emplace(std::move(text), schema);
    }
  }
  return schemas;
}

void compare_handlers(ChangeList& list, const std::string& subject, const Fact& before,
                      const Fact& after) {
  const auto then = by_text(before[Key::handlers], Key::symbol);
  const auto now = by_text(after[Key::handlers], Key::symbol);
  for (const auto& [symbol, handler] : then) {
    const auto other = now.find(symbol);
    if (other == now.end() || handler[Key::ambiguous].truth() ||
        other->second[Key::ambiguous].truth()) {
      continue;
    }
    compare_members({list, subject, "handler", {}, " of the handler " + quote(symbol)},
                    handler_rows, handler, other->second);
  }
}

}  // namespace

void compare_library_content(ChangeList& list, const std::string& subject, const Fact& before,
                             const Fact& after) {
  if (!is_same_soname(before[Key::soname], after[Key::soname])) {
    compare_members({list, subject, "library", {}, {}}, soname_rows, before, after);
  }
  compare_members({list, subject, "library", {}, {}}, rows, before, after);
  if (list.both(before, after, Key::exports)) {
    compare_elements(list, subject,
                     {"exports",
                      "exported symbol",
                      "exported symbols",
                      {breaking, "who looks it up or links against it fails"},
                      "there is more to call"},
                     exports_of(before), exports_of(after), before[Key::exports],
                     after[Key::exports]);
  }
  if (list.both(before, after, Key::images)) {
    compare_device_code(list, subject, before, after);
    compare_bodies(list, subject, before, after);
  }
  if (list.both(before, after, Key::registrars)) {
    compare_elements(list, subject,
                     {"registrars",
                      "registration",
                      "registrations",
                      {breaking, "what it registered is there no more"},
                      "more is registered"},
                     registrars_of(before), registrars_of(after), before[Key::registrars],
                     after[Key::registrars]);
    compare_elements(list, subject,
                     {"registrars",
                      "schema",
                      "schemas",
                      {breaking, "callers and stored programs find another operator, or none"},
                      "there is more to call"},
                     schemas_of(before), schemas_of(after), before[Key::registrars],
                     after[Key::registrars]);
  }
  if (list.both(before, after, Key::handlers)) compare_handlers(list, subject, before, after);
}

}  // namespace opseal
