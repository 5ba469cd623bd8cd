#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "rules/dispatch_kinds.h"
#include "rules/dtype_words.h"

namespace opseal {

// Calls `visit(text)` for each dtype that a kernel says it takes, in any of its three forms.
template <typename Visit>
void for_each_taken(const Fact& kernel, Visit visit) {
  for (const Key key : {Key::dtypes, Key::signatures, Key::type_constraints}) {
    for_each_dtype(kernel[key], visit);
  }
}

// The kernel says what it takes, and all of that was read.
inline bool says_what_it_takes(const Fact& kernel) {
  bool said = false;
  for (const Key key : {Key::dtypes, Key::signatures, Key::type_constraints}) {
    if (!kernel[key].present()) continue;
    if (!all_dtypes_read(kernel[key])) return false;
    said = true;
  }
  return said;
}

// What the kernel says itself that it refuses or fails on: a claim beside it is `dtype-rejected`.
inline KindSet disowned_by(const Fact& kernel) {
  KindSet disowned;
  disowned.add_all(kernel[Key::refused]);
  disowned.add_all(kernel[Key::failed]);
  disowned.seal();
  return disowned;
}

// What the kernels of the operators of one manifest take, for the operator and the backend of a
// dispatch record: the table of an engine whose predicate stands beside its registry.
class DispatchKernels {
 public:
  struct Taken {
    // One of the operators that bear the name.
    Fact op;
    // Every kernel of theirs says what it takes.
    bool known = false;
    // Kernels that the backend reaches.
    std::uint32_t kernels = 0;
    KindSet kinds;
    // The backend ends the operator's chain.
    Fact platform;
  };

  explicit DispatchKernels(const Fact& manifest) : manifest_(manifest), names_(manifest) {
    const Facts& facts = manifest.facts();
    for (const Fact dispatch : manifest[Key::dispatch].items()) {
      if (dispatch[Key::operator_].is_text()) bearers_[dispatch[Key::operator_].name()];
    }
    if (bearers_.empty()) return;
    std::string qualified;
    for (const Fact op : manifest[Key::operators].items()) {
      if (!op.is_object() || !op[Key::name].is_text()) continue;
      note(op[Key::name].name(), op);
      if (!op[Key::namespace_].is_text()) continue;
      qualified.assign(op[Key::namespace_].text());
      qualified += "::";
      qualified += op[Key::name].text();
      note(facts.names.find(qualified), op);
    }
  }

  // nullptr where no operator bears the name, or too many backends were asked for it.
  const Taken* find(const Fact& dispatch) {
    const auto bearer = bearers_.find(dispatch[Key::operator_].name());
    if (bearer == bearers_.end() || bearer->second.ops.empty()) return nullptr;
    const Name backend = dispatch[Key::backend].name();
    for (const auto& [known, taken] : bearer->second.asked) {
      if (known == backend) return &taken;
    }
    // Each of them costs a look at all kernels; no engine has so many.
    if (bearer->second.asked.size() == most_backends) return nullptr;
    bearer->second.asked.emplace_back(backend, collect(bearer->second, dispatch[Key::backend]));
    return &bearer->second.asked.back().second;
  }

  // A kernel of the very backend, or of the very device: one for `gpu` isn't one for `metal`.
  bool is_of(const Fact& kernel, const Fact& backend) {
    return kernel[Key::backend].name() == backend.name() ||
           names_.same(kernel[Key::platform], backend);
  }

  // The operators that bear the name of a record's operator.
  const std::vector<Fact>& operators_of(const Fact& dispatch) const {
    static const std::vector<Fact> none;
    const auto bearer = bearers_.find(dispatch[Key::operator_].name());
    return bearer == bearers_.end() ? none : bearer->second.ops;
  }

 private:
  static constexpr std::size_t most_backends = 64;

  struct Bearer {
    std::vector<Fact> ops;
    std::vector<std::pair<Name, Taken>> asked;
  };

  void note(Name name, const Fact& op) {
    const auto bearer = bearers_.find(name);
    if (bearer == bearers_.end()) return;
    // A name may be its own qualified form.
    std::vector<Fact>& ops = bearer->second.ops;
    if (ops.empty() || !(ops.back() == op)) ops.push_back(op);
  }

  bool reaches(const Fact& backend, const Fact& kernel) {
    return !backend.is_text() || names_.reaches(backend, kernel[Key::platform]) ||
           (kernel[Key::backend].is_text() && names_.same(backend, kernel[Key::backend]));
  }

  Taken collect(const Bearer& bearer, const Fact& backend) {
    Taken taken;
    taken.known = true;
    for (const Fact op : bearer.ops) {
      taken.op = op;
      if (!all_read(op[Key::kernels]) || op[Key::function_body].truth()) taken.known = false;
      for (const Fact kernel : op[Key::kernels].items()) {
        if (!is_active_kernel(kernel) || !reaches(backend, kernel)) continue;
        taken.known = taken.known && says_what_it_takes(kernel);
        ++taken.kernels;
        taken.platform = kernel[Key::platform];
        if (kernel[Key::stub].truth()) continue;
        for_each_taken(kernel, [&taken](const Fact& text) { taken.kinds.add(text.text()); });
      }
    }
    taken.kinds.seal();
    return taken;
  }

  Fact manifest_;
  PlatformNames names_;
  std::unordered_map<Name, Bearer> bearers_;
};

}  // namespace opseal
