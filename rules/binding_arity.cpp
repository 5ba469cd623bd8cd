#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Functions of one name that a call is held against; more are no overloads.
constexpr std::size_t most_overloads = 64;
// Arguments by name of a call, and parameters that they are looked for among.
constexpr std::uint32_t most_names = 128;

// Why a call can't be one of a function; empty where it can.
std::string mismatch(const Fact& use, const Fact& function) {
  const std::uint32_t given = use[Key::arguments].count();
  const std::uint32_t all = given + use[Key::names].size();
  const std::uint32_t most = function[Key::positional].count();
  const std::uint32_t least = function[Key::required].count(most);
  if (all > most || all < least) {
    return "with " + plural(all, "argument") + ", it takes " +
           (least == most ? std::to_string(most)
                          : std::to_string(least) + " to " + std::to_string(most));
  }
  const Fact parameters = function[Key::parameters];
  if (!parameters.is_list() || !all_read(parameters)) return {};
  for (const Fact name : use[Key::names].items()) {
    if (list_has(parameters, name.text())) continue;
    return "with an argument " + quote(name.text()) + " by name, " +
           (parameters.size() == 0 ? std::string("its arguments have no names")
                                   : "it has " + quote_list(texts_of(parameters)));
  }
  return {};
}

std::pair<Name, Name> key_of(const Fact& item) {
  return {item[Key::namespace_].name(), item[Key::name].name()};
}

class Check {
 public:
  explicit Check(const Fact& manifest) : manifest_(manifest) {
    for (const Fact function : manifest[Key::functions].items()) {
      if (!function[Key::name].is_text()) continue;
      functions_[hash(key_of(function))].push_back(function);
    }
  }

  void run(Sink& sink) {
    for (const Fact use : manifest_[Key::uses].items()) {
      if (!use[Key::arguments].is_count() || use[Key::names].size() > most_names) continue;
      const auto found = functions_.find(hash(key_of(use)));
      if (found == functions_.end() || found->second.size() > most_overloads) continue;
      judge(use, found->second, sink);
    }
  }

 private:
  static std::uint64_t hash(const std::pair<Name, Name>& key) {
    return std::uint64_t{key.first} << 32 | key.second;
  }

  static void judge(const Fact& use, const std::vector<Fact>& functions, Sink& sink) {
    std::string first;
    for (const Fact function : functions) {
      // Of one that isn't known, it may be the one that is meant.
      if (!function[Key::positional].is_count() || function[Key::variadic].truth()) return;
      if (function[Key::parameters].size() > most_names) return;
      const std::string why = mismatch(use, function);
      if (why.empty()) {
        sink.inspected();
        return;
      }
      if (first.empty()) first = why;
    }
    sink.inspected();
    const std::string name =
        std::string(use[Key::namespace_].text()) + "." + std::string(use[Key::name].text());
    std::string message = "is called " + first + site_of(use);
    if (functions.size() > 1) {
      message +=
          "; none of the " + std::to_string(functions.size()) + " functions of that name fits";
    }
    Finding& finding = sink.add(name, std::move(message), evidence(use, "called here"));
    finding.related.push_back(
        evidence(functions.front(), "bound here" + site_of(functions.front())));
  }

  const Fact manifest_;
  std::unordered_map<std::uint64_t, std::vector<Fact>> functions_;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (document.settings || !all_read(manifest[Key::functions])) continue;
    if (manifest[Key::system].is("triton") || manifest[Key::system].is("ctypes")) continue;
    Check(manifest).run(sink);
  }
}

}  // namespace

extern constinit const Rule binding_arity{
    .id = "binding-arity",
    .title = "call of a C++ function with arguments that its binding doesn't take",
    .rationale =
        "A parameter was added to the C++ function, or taken away, and a call in Python was left "
        "as it was. No compiler sees both. The call raises TypeError when it runs, which for a "
        "backward pass or a rare option is long after the import. Defaults of the C++ function "
        "are none for Python: only those that the binding repeats count.",
    .example =
        R"({"opseal_manifest": 1, "functions": [{"name": "nms", "namespace": "pkg._C", )"
        R"("positional": 3, "required": 3}], "uses": [{"name": "nms", "namespace": "pkg._C", )"
        R"("arguments": 2}]})",
    .fix = "pass what the function takes, or give the new parameter a default in the binding",
    .severity = Severity::error,
    .inspects = "call of a bound function whose arguments are counted on both sides",
    .needs = {Key::functions, Key::uses, Key::arguments},
    .check = check,
};

}  // namespace opseal
