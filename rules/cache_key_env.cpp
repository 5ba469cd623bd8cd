#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact& manifest, const Fact& cache) {
    const Fact inputs = cache[Key::inputs];
    const Fact variables = cache[Key::environment];
    const Fact required = cache[Key::required_inputs];
    // A source that was read tells what a key has; what of the environment counts its author says.
    if (manifest[Key::tree].present() && !variables.said() && !required.said()) return;
    if (!all_read(inputs) || !outlives_process(cache) || !holds_built_code(cache)) return;
    sink.inspected();
    if (list_has(inputs, "environment")) return;
    // `"environment": []` says that nothing of it reaches the build, `required_inputs` without the
    // word that its author doesn't count it; variables that are named do reach it.
    if (variables.said() && variables.size() == 0) return;
    if (!variables.said() && all_read(required) && !list_has(required, "environment")) return;
    std::string message = "key lacks the environment";
    if (const std::vector<std::string> names = texts_of(variables); !names.empty()) {
      message += ", which reaches the build through " + quote_list(names);
    }
    Finding& finding = sink.add(cache_subject(cache), std::move(message),
                                evidence(inputs, "parts of the key listed here" + key_site(cache)));
    if (variables.present()) finding.related.push_back(evidence(variables, "variables named here"));
    if (required.present()) finding.related.push_back(evidence(required, "required here"));
  });
}

extern constinit const Rule cache_key_env{
    .id = "cache-key-env",
    .title = "cache key that ignores the environment of the compiler",
    .rationale =
        "Compilers read the environment: CPATH and CPLUS_INCLUDE_PATH choose headers, "
        "NVCC_PREPEND_FLAGS and CL add options, CC and CXX choose the compiler. With none of it in "
        "the key, a build under other settings is answered with the library of the first.",
    .example =
        R"({"name": "kernels", "kind": "disk", "inputs": ["source", "flags", "compiler_version"]})",
    .fix =
        "hash the variables that the compiler reads, or run it in a cleared environment and say "
        "`\"environment\": []`",
    .severity = Severity::warning,
    .inspects = "cache of built code on disk with stated key inputs",
    .needs = {Key::caches, Key::inputs},
    .check = check,
};

}  // namespace opseal
