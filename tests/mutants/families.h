#pragma once

#include <utility>
#include <vector>

#include "tests/mutants/mistake.h"

namespace opseal::test {

// Gradients and batching.
std::vector<Mistake> gradient_mistakes();
// Eligibility-trace rules.
std::vector<Mistake> etp_mistakes();
// Names, platforms, backends and what is registered under them.
std::vector<Mistake> registration_mistakes();
// Targets handed to a framework, and their argument specs.
std::vector<Mistake> target_mistakes();
// Dtypes, predicates and dispatch tables.
std::vector<Mistake> dispatch_mistakes();
std::vector<Mistake> cache_mistakes();
// What the key of a cache is made of, and what stands in a cache.
std::vector<Mistake> key_mistakes();
// Versions of operators.
std::vector<Mistake> version_mistakes();
// Schemas, shape functions, marks of writes: how operators are defined.
std::vector<Mistake> definition_mistakes();
// Backward operators, gradient keys, batching.
std::vector<Mistake> autograd_mistakes();
// Support predicates, tables over an enumeration, look-ups by name.
std::vector<Mistake> predicate_mistakes();
std::vector<Mistake> dtype_mistakes();
// What is said of single kernels.
std::vector<Mistake> kernel_mistakes();
// Handlers and libraries behind targets.
std::vector<Mistake> native_mistakes();
// What built libraries hold for the host, and what packages say of them.
std::vector<Mistake> library_mistakes();
// Handlers and registrations that stand in built libraries.
std::vector<Mistake> handler_mistakes();
// Device code of built libraries.
std::vector<Mistake> image_mistakes();
// Registrars and predicates of code.
std::vector<Mistake> code_mistakes();
// What sources say of code for devices.
std::vector<Mistake> device_mistakes();
// What kernels did when they were called.
std::vector<Mistake> probe_mistakes();
// What frameworks did when they were asked.
std::vector<Mistake> framework_mistakes();
// One operator in two registries.
std::vector<Mistake> cross_mistakes();
// One registry in two dumps.
std::vector<Mistake> diff_mistakes();

inline std::vector<Mistake> all_mistakes() {
  std::vector<Mistake> all;
  for (const auto family :
       {gradient_mistakes,   etp_mistakes,      registration_mistakes, target_mistakes,
        dispatch_mistakes,   cache_mistakes,    key_mistakes,          version_mistakes,
        definition_mistakes, autograd_mistakes, predicate_mistakes,    dtype_mistakes,
        kernel_mistakes,     native_mistakes,   library_mistakes,      handler_mistakes,
        image_mistakes,      code_mistakes,     device_mistakes,       cross_mistakes,
        diff_mistakes,       probe_mistakes,    framework_mistakes}) {
    for (Mistake& mistake : family()) all.push_back(std::move(mistake));
  }
  return all;
}

}  // namespace opseal::test
