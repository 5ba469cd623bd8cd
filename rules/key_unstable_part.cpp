#include <cctype>
#include <string>
#include <utility>

#include "opseal/rule.h"
#include "rules/cache_keys.h"
#include "rules/key_texts.h"

namespace opseal {
namespace {

// `id(function)`: where a Python object lies.
bool is_object_id(std::string_view parameter) {
  for (std::size_t at = parameter.find("id("); at != parameter.npos;
       at = parameter.find("id(", at + 3)) {
    if (at == 0) return true;
    const char before = parameter[at - 1];
    if (std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_' && before != '.') {
      return true;
    }
  }
  return false;
}

std::string part_name(const Fact& part) {
  if (part[Key::name].is_text()) return quote(part[Key::name].text());
  if (part[Key::input].is_text()) return quote(part[Key::input].text());
  return "a part";
}

class CacheCheck {
 public:
  CacheCheck(const Fact& cache, Sink& sink) : cache_(cache), sink_(sink) {}

  void run() {
    for (const Fact part : cache_[Key::key_parts].items()) look_at_part(part);
    for (const Fact parameter : cache_[Key::parameters].items()) {
      if (!parameter.is_text()) continue;
      looked_ = true;
      if (is_object_id(parameter.text())) {
        add("key holds " + quote(parameter.text()) + ", the address of an object",
            evidence(parameter, "part of the key" + key_site(cache_)));
      }
    }
    if (cache_[Key::hash].is("hash")) {
      looked_ = true;
      add("key is made by Python's `hash`, which gives another number for a text in each process",
          evidence(cache_[Key::hash], "made here" + key_site(cache_)));
    }
    look_at_entries();
    if (looked_) sink_.inspected();
    if (finding_.empty()) return;
    sink_.add(cache_subject(cache_), std::move(finding_), std::move(where_));
  }

 private:
  void add(std::string message, Evidence where) {
    // The first of a cache; the others have the same cause, and often the same line of code.
    if (!finding_.empty()) return;
    finding_ = std::move(message);
    where_ = std::move(where);
  }

  void look_at_part(const Fact& part) {
    const Fact form = part[Key::form];
    const Fact value = part[Key::value];
    const Fact name = part[Key::name];
    if (!form.is_text() && !value.is_text() && !name.is_text()) return;
    looked_ = true;
    if (is_object_id(name.text())) {
      add("key holds " + quote(name.text()) + ", the address of an object",
          evidence(name, "part of the key" + key_site(cache_)));
    } else if (form.is("address") || form.is("identity")) {
      add("key holds the " + std::string(form.text()) + " of " + part_name(part),
          evidence(form, "said here" + key_site(cache_)));
    } else if (const std::string_view address = address_in(value.text()); !address.empty()) {
      add("key holds an address (" + quote(address) + ") in " + part_name(part),
          evidence(value, "what stands in the key" + key_site(cache_)));
    }
  }

  void look_at_entries() {
    std::uint64_t count = 0;
    Fact first;
    for (const Fact entry : cache_[Key::entries].items()) {
      const Fact key = entry[Key::key];
      if (!key.is_text()) continue;
      looked_ = true;
      if (address_in(key.text()).empty()) continue;
      if (count++ == 0) first = key;
    }
    if (count == 0) return;
    add(plural(count, "entry", "entries") + " with an address in the key, first " +
            quote(address_in(first.text())),
        evidence(first, "key of an entry" + key_site(cache_)));
  }

  const Fact& cache_;
  Sink& sink_;
  bool looked_ = false;
  std::string finding_;
  Evidence where_;
};

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    // Within one process an address names its object as long as that lives.
    if (outlives_process(cache)) CacheCheck(cache, sink).run();
  });
}

}  // namespace

extern constinit const Rule key_unstable_part{
    .id = "key-unstable-part",
    .title = "key of a lasting cache that holds an address or the identity of an object",
    .rationale =
        "An address is another one in each process. A cache that outlives the process and has one "
        "in its key never finds what it stored: everything is built again at each start, and the "
        "directory grows. Now and then another object lies at an old address, and its entry is "
        "taken for that of the first.",
    .example = R"-({"name": "kernels", "kind": "disk", "parameters": ["source", "id(function)"]})-",
    .fix =
        "put into the key what the object consists of: its source, its name and version, a digest "
        "of its values",
    .severity = Severity::warning,
    .inspects = "cache that outlives its process and whose parts of the key are known",
    .needs = {Key::caches},
    .check = check,
};

}  // namespace opseal
