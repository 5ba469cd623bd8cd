#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {
namespace {

// A build has one source and one architecture: by whatever name the key knows them, it has them.
bool is_one_thing(std::string_view input) { return input == "source" || input == "architecture"; }

bool names_compiler(std::string_view name) {
  for (const std::string_view word : {"cc", "cxx", "nvcc", "hipcc", "compiler"}) {
    if (name == word) return true;
  }
  return false;
}

class KeyNames {
 public:
  explicit KeyNames(const Fact& parts) {
    for (const Fact part : parts.items()) {
      // The name of a function is not the function.
      const std::string_view name = part[Key::name].text();
      const bool called = name.ends_with(".__name__") || name.ends_with(".__qualname__");
      if (!called || !part[Key::form].is("name")) names_.push_back(name);
      if (part[Key::input].is_text()) inputs_.push_back(part[Key::input].text());
      // All of it at once.
      whole_environment_ = whole_environment_ ||
                           (part[Key::input].is("environment") && part[Key::name].is("environ"));
    }
    std::sort(names_.begin(), names_.end());
  }

  bool cover(const Fact& read) const {
    const std::string_view name = read[Key::name].text();
    if (has_name(name) || has_above(name) || has_below(name)) return true;
    const Fact input = read[Key::input];
    if (input.is("environment")) return whole_environment_;
    // What a compiler decides is told by its version.
    if ((input.is("compiler") || names_compiler(name)) && has_input("compiler_version"))
      return true;
    if (!input.is_text() || !is_one_thing(input.text())) return false;
    return has_input(input.text());
  }

 private:
  bool has_name(std::string_view name) const {
    return std::binary_search(names_.begin(), names_.end(), name);
  }

  // All of what it is a field of: `config` for `config.block`.
  bool has_above(std::string_view name) const {
    // Deeper paths are none of a program's.
    constexpr int deepest = 8;
    std::size_t dot = name.rfind('.');
    for (int depth = 0; depth < deepest && dot != name.npos && dot > 0; ++depth) {
      if (has_name(name.substr(0, dot))) return true;
      dot = name.rfind('.', dot - 1);
    }
    return false;
  }

  // Some field of it: which of them count isn't said.
  bool has_below(std::string_view name) const {
    const std::string below = std::string(name) + ".";
    const auto next = std::lower_bound(names_.begin(), names_.end(), std::string_view(below));
    return next != names_.end() && next->starts_with(below);
  }

  bool has_input(std::string_view input) const {
    return std::find(inputs_.begin(), inputs_.end(), input) != inputs_.end();
  }

  std::vector<std::string_view> names_;
  std::vector<std::string_view> inputs_;
  bool whole_environment_ = false;
};

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    const Fact reads = cache[Key::reads];
    const Fact parts = cache[Key::key_parts];
    if (!all_read(reads) || !all_read(parts)) return;
    sink.inspected();
    const KeyNames key(parts);
    std::vector<std::string> missing;
    std::vector<Fact> places;
    for (const Fact read : reads.items()) {
      if (!read[Key::name].is_text() || key.cover(read)) continue;
      missing.emplace_back(read[Key::name].text());
      places.push_back(read[Key::name]);
    }
    if (missing.empty()) return;
    Finding& finding = sink.add(cache_subject(cache),
                                "build depends on " + quote_list(missing) + ", which the key lacks",
                                evidence(places.front(), "handed to the build"));
    for (std::size_t at = 1; at < places.size() && at < 8; ++at) {
      Evidence too = evidence(places[at], "handed to the build too");
      // What one call brings along stands at the call.
      const bool shown = finding.evidence.where == too.where ||
                         (!finding.related.empty() && finding.related.back().where == too.where);
      if (!shown) finding.related.push_back(std::move(too));
    }
    finding.related.push_back(evidence(cache[Key::name], "the key" + key_site(cache)));
  });
}

}  // namespace

extern constinit const Rule cache_key_builder_reads{
    .id = "cache-key-builder-reads",
    .title = "cache key that lacks what its build is handed",
    .rationale =
        "Two calls that differ in flags, in a dtype or in a variable of the environment compile "
        "two different libraries. Where the key doesn't tell them apart, the second call is served "
        "the library of the first, and what it asked for is silently ignored.",
    .example = R"({"name": "kernels", "key_parts": [{"name": "source", "form": "content"}],)"
               R"( "reads": [{"name": "source"}, {"name": "cuda_flags", "input": "flags"}]})",
    .fix = "hash it with the rest; where it can't change the library, leave it out of the command",
    .severity = Severity::warning,
    .inspects = "cache of which it is said what its key holds and what its builds are handed",
    .needs = {Key::caches, Key::reads},
    .check = check,
};

}  // namespace opseal
