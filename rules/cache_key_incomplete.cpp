#include <algorithm>

#include "opseal/platforms.h"
#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {
namespace {

// What decides the bytes of a compiled library, where a cache doesn't say itself what its key must
// hold. A cache whose entries don't depend on one of these (an interpreter's bytecode needs no
// architecture, a language without includes no headers) says so by `required_inputs`.
constexpr std::string_view usual_inputs[] = {"source",           "specs", "headers", "architecture",
                                             "compiler_version", "flags"};

// A build that reads headers, as C, C++ and CUDA do.
bool includes_headers(const Fact& cache) {
  if (cache[Key::headers].present()) return true;
  for (const std::string_view word : {"headers", "include_paths", "compiler", "flags"}) {
    if (list_has(cache[Key::inputs], word)) return true;
  }
  return false;
}

// Functions whose arguments are specified beside the source, as XLA's FFI wants it.
bool has_specs(const Fact& manifest) {
  if (registers_with_xla(manifest)) return true;
  for (const Fact target : manifest[Key::targets].items()) {
    if (target[Key::spec].present()) return true;
  }
  return false;
}

// What of `usual_inputs` a key that was read in a source is held against. Flags and architectures
// that the code fixes can't differ between two builds; of those that do, `cache-key-builder-reads`
// knows the names.
bool is_judged_in_source(const Fact& cache, std::string_view word) {
  if (word == "headers") {
    for (const Fact read : cache[Key::reads].items()) {
      if (read[Key::input].is("include_paths")) return true;
    }
    return list_has(cache[Key::inputs], "headers");
  }
  return word == "source" || word == "compiler_version";
}

// The word as a message shows it; `specs` is nobody's everyday word.
std::string in_words(std::string_view word) {
  if (word != "specs") return quote(word);
  return "`specs` (the argument specifications of the functions)";
}

// Whether callers can name include directories of their own.
bool takes_include_paths(const Fact& cache) {
  if (list_has(cache[Key::inputs], "include_paths")) return true;
  if (!cache[Key::parameters].is_list()) return true;
  for (const Fact parameter : cache[Key::parameters].items()) {
    if (!parameter.said() || lower(parameter.text()).find("include") != std::string::npos) {
      return true;
    }
  }
  return false;
}

// Headers that the key should cover and doesn't, in words.
std::vector<std::string> uncovered_headers(const Fact& cache) {
  std::vector<std::string> missing;
  const Fact covered = cache[Key::headers][Key::covered];
  if (cache[Key::headers][Key::method].is("none")) {
    missing.emplace_back("the content of headers (`method` is `none`)");
    return missing;
  }
  // Headers found by following the includes are all that a build can read from these directories.
  if (!all_read(covered) || list_has(covered, "transitive")) return missing;
  if (!list_has(covered, "injected")) missing.emplace_back("headers that the builder injects");
  if (!list_has(covered, "extra_include_paths") && takes_include_paths(cache)) {
    missing.emplace_back("headers in extra include paths");
  }
  return missing;
}

// "a, b and c".
std::string listing(const std::vector<std::string>& parts) {
  std::string out;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    if (at > 0) out += at + 1 == parts.size() ? " and " : ", ";
    out += parts[at];
  }
  return out;
}

void check(const Facts& facts, Sink& sink) {
  Fact entered;
  bool specs = false;
  for_each_cache(facts, [&](const Fact& manifest, const Fact& cache) {
    if (!entered.said() || entered.index() != manifest.index()) {
      entered = manifest;
      specs = has_specs(manifest);
    }
    const Fact inputs = cache[Key::inputs];
    const Fact required = cache[Key::required_inputs];
    if (!all_read(inputs) || (required.said() && !all_read(required))) return;
    if (!required.said() && (!outlives_process(cache) || !holds_built_code(cache))) return;
    sink.inspected();
    std::vector<std::string> missing;
    const auto want = [&](std::string_view word) {
      // `cache-key-env` judges the environment.
      if (word == "environment") return;
      if (!has_key_input(inputs, word)) {
        missing.push_back(in_words(word));
      } else if (word == "headers") {
        for (std::string& words : uncovered_headers(cache)) missing.push_back(std::move(words));
      }
    };
    if (required.is_list()) {
      for (const Fact word : required.items()) want(word.text());
    } else {
      for (const std::string_view word : usual_inputs) {
        if (word == "specs" && !specs) continue;
        if (word == "headers" && !includes_headers(cache)) continue;
        if (manifest[Key::tree].present() && !is_judged_in_source(cache, word)) continue;
        want(word);
      }
    }
    if (missing.empty()) return;
    Finding& finding = sink.add(cache_subject(cache), "key lacks " + listing(missing),
                                evidence(inputs, "parts of the key listed here" + key_site(cache)));
    // Nobody stated this key: what it lacks may be in the name of the directory above it.
    if (manifest[Key::tree].present() && !required.said()) finding.severity = Severity::warning;
    if (required.is_list()) finding.related.push_back(evidence(required, "required here"));
    if (const Fact headers = cache[Key::headers]; headers.present()) {
      finding.related.push_back(evidence(headers, "covered headers listed here"));
    }
  });
}

}  // namespace

extern constinit const Rule cache_key_incomplete{
    .id = "cache-key-incomplete",
    .title = "cache key that lacks something its entries depend on",
    .rationale =
        "A cache finds a built library by its key. Where something that changes the library is not "
        "in the key, the change is not seen: after an edit of a header, a new compiler or another "
        "set of functions the old library is loaded. It lacks a symbol, or it runs the old code "
        "and says nothing.",
    .example = R"({"name": "kernels", "kind": "disk", "inputs": ["source", "architecture",)"
               R"( "compiler_version", "flags"]})",
    .fix =
        "put the missing parts in the key; where entries cannot depend on one of them, list "
        "those that count in `required_inputs`",
    .severity = Severity::error,
    .inspects = "cache of built code with stated key inputs",
    .needs = {Key::caches, Key::inputs},
    .check = check,
};

}  // namespace opseal
