#include <algorithm>
#include <iterator>
#include <optional>
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

// Declarations of one name that a use is held against; more are no function of one library.
constexpr std::size_t most_declarations = 16;
constexpr std::uint32_t most_arguments = 256;

enum class TypeClass : std::uint8_t { unknown, nothing, pointer, whole, real };

struct ForeignType {
  TypeClass kind = TypeClass::unknown;
  // 0: as wide as the system has it.
  int bits = 0;
};

ForeignType type_of(std::string_view word) {
  if (word.starts_with("pointer")) return {TypeClass::pointer, 64};
  if (word == "void") return {TypeClass::nothing, 0};
  if (word == "bool") return {TypeClass::whole, 8};
  if (word == "long") return {TypeClass::whole, 0};
  if (word == "default") return {TypeClass::whole, 32};
  if (word.size() < 2 || (word[0] != 'i' && word[0] != 'u' && word[0] != 'f')) return {};
  int bits = 0;
  for (const char digit : word.substr(1)) {
    if (digit < '0' || digit > '9' || bits > 64) return {};
    bits = bits * 10 + (digit - '0');
  }
  return {word[0] == 'f' ? TypeClass::real : TypeClass::whole, bits};
}

std::string words_for(std::string_view word) {
  const ForeignType type = type_of(word);
  switch (type.kind) {
    case TypeClass::pointer:
      if (word.size() > 8) return "a pointer to " + words_for(word.substr(8));
      return "a pointer";
    case TypeClass::real:
      return "a float of " + std::to_string(type.bits) + " bits";
    case TypeClass::whole:
      if (word == "bool") return "a truth value";
      if (type.bits == 0) return "a `long`";
      return "an integer of " + std::to_string(type.bits) + " bits";
    case TypeClass::nothing:
      return "nothing";
    case TypeClass::unknown:
      break;
  }
  return quote(word);
}

// What goes wrong where one side says `said` and the other has `real`; nothing where it works.
struct Harm {
  Severity severity = Severity::error;
};

// Elements behind a pointer. Bytes are what buffers of anything are declared as.
bool other_elements(std::string_view said, std::string_view real) {
  if (said.size() <= 8 || real.size() <= 8) return false;
  const ForeignType a = type_of(said.substr(8));
  const ForeignType b = type_of(real.substr(8));
  if (a.bits <= 8 || b.bits <= 8) return false;
  // Halves of a float have no type in C.
  if (a.bits == 16 || b.bits == 16) return a.bits != b.bits;
  return a.kind != b.kind || a.bits != b.bits;
}

std::optional<Harm> harm_of_argument(std::string_view said, std::string_view real) {
  const ForeignType a = type_of(said);
  const ForeignType b = type_of(real);
  if (a.kind == TypeClass::unknown || b.kind == TypeClass::unknown) return {};
  if (a.kind == TypeClass::nothing || b.kind == TypeClass::nothing) return {};
  if (a.kind == TypeClass::pointer && b.kind == TypeClass::pointer) {
    return other_elements(said, real) ? std::optional(Harm()) : std::nullopt;
  }
  if (a.kind == TypeClass::real || b.kind == TypeClass::real) {
    return a.kind == b.kind && a.bits == b.bits ? std::nullopt : std::optional(Harm());
  }
  // Handles are handed over as numbers of the same width.
  if (a.bits == 0 || b.bits == 0 || a.bits == b.bits) return {};
  if (a.kind == TypeClass::pointer || b.kind == TypeClass::pointer) return Harm();
  // What is narrower than a register fills it; only values that don't fit are lost.
  if (a.bits < 64 && b.bits == 64) return Harm{Severity::warning};
  return {};
}

std::optional<Harm> harm_of_result(std::string_view said, std::string_view real) {
  const ForeignType a = type_of(said);
  const ForeignType b = type_of(real);
  if (a.kind == TypeClass::unknown || b.kind == TypeClass::unknown) return {};
  if (a.kind == TypeClass::nothing) return {};
  if (b.kind == TypeClass::nothing) {
    // A number that nobody set, unless nobody asks for it.
    return said == "default" ? std::nullopt : std::optional(Harm{Severity::warning});
  }
  if (a.kind == TypeClass::pointer && b.kind == TypeClass::pointer) {
    return other_elements(said, real) ? std::optional(Harm()) : std::nullopt;
  }
  if (a.kind == TypeClass::real || b.kind == TypeClass::real) {
    return a.kind == b.kind && a.bits == b.bits ? std::nullopt : std::optional(Harm());
  }
  if (a.bits == 0 || b.bits == 0 || a.bits == b.bits) return {};
  if (a.kind == TypeClass::pointer || b.kind == TypeClass::pointer) return Harm();
  // The other half is whatever the register held, or is lost: for small numbers mostly nothing.
  if (a.bits == 64 ? b.bits == 32 : b.bits == 64) return Harm{Severity::warning};
  return {};
}

struct Mismatch {
  std::string text;
  Severity severity = Severity::error;
};

class Judge {
 public:
  Judge(const Fact& use, const Fact& function) : use_(use), function_(function) {
    called_ = use[Key::form].is("call");
  }

  std::optional<Mismatch> run() const {
    const std::optional<Mismatch> arguments = of_arguments();
    if (arguments && arguments->severity == Severity::error) return arguments;
    const std::optional<Mismatch> result = of_result();
    return result ? result : arguments;
  }

 private:
  std::optional<Mismatch> of_arguments() const {
    const Fact said = use_[Key::kinds];
    const Fact real = function_[Key::kinds];
    if (!said.is_list() || !real.is_list() || function_[Key::variadic].truth()) return {};
    if (said.size() > most_arguments || real.size() > most_arguments) return {};
    const std::vector<std::string> given = texts_of(said);
    const std::vector<std::string> taken = texts_of(real);
    if (given.size() != taken.size()) {
      Mismatch mismatch;
      mismatch.text = std::string(called_ ? "is called with " : "is declared with ") +
                      plural(given.size(), "argument") + ", the function takes " +
                      std::to_string(taken.size());
      if (given.size() > taken.size()) mismatch.severity = Severity::warning;
      return mismatch;
    }
    std::optional<Mismatch> first;
    for (std::size_t at = 0; at < given.size(); ++at) {
      std::optional<Mismatch> mismatch = of_argument(at, given[at], taken[at]);
      if (!mismatch) continue;
      if (mismatch->severity == Severity::error) return mismatch;
      if (!first) first = std::move(mismatch);
    }
    return first;
  }

  std::optional<Mismatch> of_argument(std::size_t at, std::string_view given,
                                      std::string_view taken) const {
    const std::string which = "argument " + std::to_string(at + 1);
    if (given == "address") {
      if (type_of(taken).kind != TypeClass::pointer && type_of(taken).bits != 64) return {};
      return Mismatch{"is called with an address as a plain number for " + which +
                          ", which is passed as 32 bits, and has no `argtypes`",
                      Severity::error};
    }
    const std::optional<Harm> harm = harm_of_argument(given, taken);
    if (!harm || (called_ && harm->severity != Severity::error)) return {};
    return Mismatch{(called_ ? "is called with " : "is declared with ") + words_for(given) +
                        " as " + which + ", the function takes " + words_for(taken),
                    harm->severity};
  }

  std::optional<Mismatch> of_result() const {
    const Fact said = use_[Key::results];
    const Fact real = function_[Key::results];
    if (said.size() != 1 || real.size() != 1 || !all_read(said) || !all_read(real)) return {};
    const std::string declared = texts_of(said).front();
    const std::string returned = texts_of(real).front();
    const std::optional<Harm> harm = harm_of_result(declared, returned);
    if (!harm) return {};
    if (declared == "default") {
      return Mismatch{
          "has no `restype`, so that its result is taken for an integer of 32 bits, "
          "the function returns " +
              words_for(returned),
          harm->severity};
    }
    return Mismatch{"is declared to return " + words_for(declared) + ", the function returns " +
                        words_for(returned),
                    harm->severity};
  }

  const Fact& use_;
  const Fact& function_;
  bool called_ = false;
};

std::uint64_t key_of(const Fact& item) {
  return std::uint64_t{item[Key::namespace_].name()} << 32 | item[Key::name].name();
}

// A use that fits one of the declarations may mean that one.
void judge(const Fact& use, const std::vector<Fact>& functions, Sink& sink) {
  if (!use[Key::kinds].is_list() && !use[Key::results].is_list()) return;
  sink.inspected();
  std::optional<Mismatch> least;
  const Fact* which = nullptr;
  for (const Fact& function : functions) {
    std::optional<Mismatch> mismatch = Judge(use, function).run();
    if (!mismatch) return;
    if (least && least->severity <= mismatch->severity) continue;
    least = std::move(mismatch);
    which = &function;
  }
  if (which == nullptr) return;
  Finding& finding =
      sink.add(std::string(use[Key::name].text()), least->text + site_of(use),
               evidence(use, use[Key::form].is("call") ? "called here" : "declared here"));
  finding.severity = least->severity;
  finding.related.push_back(evidence(*which, "the function" + site_of(*which)));
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (document.settings || !manifest[Key::system].is("ctypes")) continue;
    std::unordered_map<std::uint64_t, std::vector<Fact>> functions;
    for (const Fact function : manifest[Key::functions].items()) {
      if (function[Key::name].is_text()) functions[key_of(function)].push_back(function);
    }
    for (const Fact use : manifest[Key::uses].items()) {
      const auto found = functions.find(key_of(use));
      if (found == functions.end() || found->second.size() > most_declarations) continue;
      judge(use, found->second, sink);
    }
  }
}

}  // namespace

extern constinit const Rule ctypes_signature{
    .id = "ctypes-signature",
    .title = "function of C that Python declares through `ctypes` as another one",
    .rationale =
        "`ctypes` believes what `argtypes` and `restype` say, and nothing holds them against the "
        "C function. Without `restype` a result is taken for an integer of 32 bits: of a pointer "
        "the upper half is lost, which crashes on the machine where memory lies high enough and "
        "works on the others. A parameter that was added to the C function is read from whatever "
        "lies in its place; a float that is declared as a double arrives as another number.",
    .example =
        R"({"opseal_manifest": 1, "system": "ctypes", "functions": [{"name": "pool_create", )"
        R"("namespace": "C", "positional": 1, "kinds": ["u64"], "results": ["pointer"]}], "uses": )"
        R"([{"name": "pool_create", "namespace": "C", "form": "call", "arguments": 1, "kinds": )"
        R"(["u64"], "results": ["default"]}]})",
    .fix = "give `argtypes` and `restype` the types of the C function, `c_void_p` for a pointer",
    .severity = Severity::error,
    .inspects = "declaration or call of a C function of the same tree by `ctypes`",
    .needs = {Key::functions, Key::uses, Key::results},
    .check = check,
};

}  // namespace opseal
