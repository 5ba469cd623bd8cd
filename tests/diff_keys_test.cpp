// Every key of the manifest format is compared by `opseal diff`, or left out for a reason that
// stands here.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compare/changes.h"
#include "opseal/form.h"
#include "opseal/text.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

// Paths of keys, globs among them, that make no change.
struct Exception {
  std::string_view path;
  std::string_view reason;
};

constexpr Exception exceptions[] = {
    {"$schema", "an address for editors"},
    {"opseal_manifest", "there is one version"},
    {"producer.*", "who wrote the dump; what was released is compared by itself"},
    {"system", "told apart in the first line of the report: nothing else is comparable"},
    {"devices", "the machine of the walk, not the registry"},
    {"remarks", "prose"},
    {"tree.*", "how much of the sources was read, not what they register"},
    {"*when", "an edit of a condition is no change of what it guards"},
    {"*macro", "how a registration is written down"},
    {"joins", "what the audit takes for one operator, not what is registered"},
    {"registrations.*", "a log; what it ends in is compared"},
    {"*location.*", "places move with every edit"},
    {"arch_tests.*", "how code is written, not what is registered"},
    {"device_functions.*", "how code is written, not what is registered"},
    {"functions.exempt", "how a kernel of Triton is written, not what is registered"},
    {"functions.kinds", "how a kernel of Triton is written, not what is registered"},
    {"functions.required_inputs", "how a kernel of Triton is written, not what is registered"},
    {"functions.results", "of a function of C, whose two sides are one build's"},
    {"functions.variadic", "nobody counts what it takes"},
    {"launches.*", "how code is written, not what is registered"},
    {"probes.*", "what was seen when kernels ran, not what is registered"},
    {"operators.attributes.value", "what probes hand over"},
    {"pointers.*", "how code is written, not what is registered"},
    {"uses.*", "the two sides of one build, not what is registered"},
    {"operators.arity_source", "how the counts were learned"},
    {"operators.arity", "how the counts were learned"},
    {"operators.spelling", "how the namespace is written; the namespace is compared"},
    {"operators.separated", "how the code is written; rules look at it"},
    {"operators.traced_signatures", "what the calls of the walk happened to be"},
    {"operators.package", "who registered it; what was registered is compared"},
    {"operators.defined_in", "where the code lives; what it does is compared"},
    {"operators.abstract.*", "a shape function that is another one gives the same shapes or fails"},
    {"operators.writes", "how the code is written; rules look at it"},
    {"operators.kernels.uses", "how the code is written; rules look at it"},
    {"operators.kernels.writes", "how the code is written; what it may write is in the schema"},
    {"operators.kernels.aliases",
     "how the code is written; what it may hand back is in the schema"},
    {"operators.kernels.holder", "where the registration stands; what it registers is compared"},
    {"operators.derivative_of", "what probes hold its values against"},
    {"*.tangent_of", "likewise"},
    {"*.cotangent_of", "likewise"},
    {"operators.kernels.arguments", "how a C function is called, which its users do not do"},
    {"operators.kernels.handlers.symbol", "what runs before the kernel, which users do not see"},
    {"operators.kernels.handlers.stage", "likewise"},
    {"targets.handlers.symbol", "likewise"},
    {"targets.handlers.stage", "likewise"},
    {"operators.kernels.results", "how a C function is called, which its users do not do"},
    {"operators.kernels.library", "a path; what the file holds is compared under `libraries`"},
    {"operators.kernels.package", "who registered it; what was registered is compared"},
    {"operators.kernels.witnesses", "how the kernel was learned of"},
    {"operators.kernels.tier", "how the signature was learned"},
    {"caches.tier", "how it was learned"},
    {"dispatch.tier", "how it was learned"},
    {"*.dispatches.expression", "by what one choice is known again"},
    {"*.dispatches.checked", "how the code is written; its dtypes are compared"},
    {"*.dispatches.tier", "how it was learned"},
    {"*.dispatches.tested", "how the code is written"},
    {"operators.kernels.precision.evidence", "prose"},
    {"operators.kernels.attributes.*",
     "what a creator declares; rules hold what it reads against it"},
    {"operators.kernels.values", "how the code is written; rules hold it against `attributes`"},
    {"operators.kernels.layout", "how a lowering is written; a rule holds it against its siblings"},
    {"operators.kernels.variadic", "what could not be read, not what is registered"},
    {"operators.jvp.results", "how the code is written; rules hold it against `multiple_results`"},
    {"operators.jvp.uses", "how the code is written; rules hold it against `attributes`"},
    {"operators.kernels.reads", "what a creator looks for; rules hold it against what it declares"},
    {"operators.kernels.built.*", "what the creator's plugins do; rules hold it against itself"},
    {"targets.library", "a path; what the file holds is compared under `libraries`"},
    {"libraries.digest", "every build has another one"},
    {"libraries.recipe", "every change of the sources makes another one"},
    {"libraries.cache", "where it was built"},
    {"libraries.source_files", "what it was built from; what came of it is compared"},
    {"libraries.found", "the disk on which somebody looked"},
    {"libraries.found_digest", "the disk on which somebody looked"},
    {"libraries.aliases", "the same bytes under another path"},
    {"libraries.format", "how the file is read; what it holds is compared"},
    {"libraries.build_id", "every build has another one"},
    {"libraries.rpath", "where the file looks; rules hold it against what is there"},
    {"libraries.run_path", "where the file looks; rules hold it against what is there"},
    {"libraries.exports.kind", "functions and data are looked up alike"},
    {"libraries.exports.version", "the versions themselves are compared"},
    {"libraries.exports.library", "of imports"},
    {"libraries.exports.default", "the versions themselves are compared"},
    {"libraries.exports.weak", "found all the same"},
    {"libraries.exports.alias_of", "found all the same; a rule tells"},
    {"libraries.hidden.*", "what nobody can look up"},
    {"libraries.imports.*", "what it calls, not what it offers"},
    {"libraries.images.container", "how the build was cut into translation units"},
    {"libraries.images.section", "where it stands in the file"},
    {"libraries.images.version", "of the text that the driver compiles; rules tell which driver"},
    {"libraries.images.compression", "how it is stored"},
    {"libraries.images.kernels.*", "what a compiler made of the code"},
    {"libraries.bundles", "code objects that are not read"},
    {"libraries.host_kernels", "what a compiler made of the code"},
    {"libraries.unregistered_kernels", "what a compiler made of the code; a rule tells"},
    {"libraries.handlers.symbol", "an exported symbol; those are compared"},
    {"libraries.handlers.function", "a hidden name that nobody can look up"},
    {"libraries.handlers.returns", "in which way it ends is between it and the framework"},
    {"libraries.handlers.contexts", "what the framework hands over without being asked"},
    {"libraries.handlers.api_versions.*", "a rule holds it against the framework's"},
    {"libraries.handlers.ambiguous", "how sure the reading is"},
    {"libraries.handlers.reaches", "which kernels it may launch is the library's own business"},
    {"libraries.registrars.symbol", "what shows a registration; of a bare entry it is compared"},
    {"libraries.imported_by.*", "how the package finds its own file"},
    {"libraries.loaded_by.*", "how the package finds its own file"},
    {"distribution.*", "the package; its tags and what it holds are compared"},
    {"caches.required_inputs", "what the key should be made of: rules hold it against `inputs`"},
    {"caches.key_parts.value", "what stood there on the machine of the walk"},
    {"caches.fields", "what the key should be made of: rules hold it against `functions`"},
    {"caches.exempt", "what the key need not be made of"},
    {"caches.required", "what the key should be made of"},
    {"caches.functions.*", "what the key should be made of: rules hold it against `fields`"},
    {"caches.arguments", "rules hold it against `key_parts`; the function itself is compared"},
    {"caches.uses", "what settings name; rules hold it against `arguments`"},
    {"caches.tested", "how long tuning takes, which no result depends on"},
    {"caches.in_place", "rules hold it against `uses`"},
    {"caches.reads.*", "what the key should be made of: rules hold it against `key_parts`"},
    {"caches.names", "how the code is written; rules hold it against `suffix`"},
    {"caches.temporary", "content, not how entries are named"},
    {"caches.entries.*", "content, not how entries are named"},
    {"dispatch.predicate.name", "a name in the code"},
    {"registrars.*", "how the code registers; what it registers is compared"},
    {"dispatch.predicate.always", "which of its kinds it accepts is compared"},
    {"dispatch.predicate.conditions", "how the code is written; rules look at it"},
    {"dispatch.predicate.otherwise",
     "it names what it means; rules hold the rest against the table"},
    {"dispatch.predicate.tested.*", "how the code is written; rules look at it"},
    {"dispatch.table.entries.asserts", "how the code is written; rules look at it"},
    {"dispatch.table.entries.uses", "how the code is written; rules look at it"},
    {"dispatch.table.match", "how the code is written; rules look at it"},
    {"dispatch.agree.*", "what is written in the code of kinds; rules look at it"},
    {"dispatch.table.name", "a name in the code"},
    {"dispatch.exceptions.*", "what the rules are to let pass, not what is dispatched"},
    {"dispatch.kinds", "the whole enumeration; which of it is served is compared"},
    {"dispatch.lookups.*", "what callers ask for, not what is there"},
    {"handlers.*", "how sources define what stands behind targets; those are compared"},
    {"annotations.*", "what sources announce to a builder, whose targets are compared"},
};

// What an object needs besides for a member of it to be compared.
struct Neighbour {
  std::string_view form;
  Key key;
  std::string_view value;
};

constexpr Neighbour neighbours[] = {
    // An image for no device serves nobody.
    {"Image", Key::architecture, R"("sm_80")"},
    // A body that ends at once, where it doesn't store.
    {"ImageKernel", Key::instructions, "1"},
    // Choices are told apart by what they ask.
    {"DtypeChoice", Key::expression, R"("x")"},
    // Handlers are told apart by what is looked up.
    {"Handler", Key::symbol, R"("f")"},
};

const Exception* exception_of(std::string_view path) {
  const auto found =
      std::find_if(std::begin(exceptions), std::end(exceptions),
                   [path](const Exception& exception) { return glob_match(exception.path, path); });
  return found == std::end(exceptions) ? nullptr : found;
}

// Two values of one form that mean something else.
std::string plain_value(const Form& form, bool second) {
  if (form.text) {
    if (form.words.empty()) return second ? R"("b")" : R"("a")";
    return '"' + std::string(form.words[second ? 1 : 0]) + '"';
  }
  if (form.truth) return second ? "true" : "false";
  if (form.count) return std::to_string(form.minimum + (second && form.maximum > form.minimum));
  return second ? "2.5" : "1.5";
}

bool is_plain(const Form& form) { return form.text || form.truth || form.count || form.real; }

std::string quoted(Key key) { return '"' + std::string(to_text(key)) + '"'; }

class Walk {
 public:
  // Paths that make no change; paths that do.
  std::vector<std::string> silent;
  std::vector<std::string> heard;
  std::set<std::string_view> kinds;

  void walk() { object(manifest_form, "", "", "", 0); }

 private:
  // An object of the form with one key, and with what else such an object needs.
  static std::string front(const Form& form, const Field& field) {
    std::string text = "{";
    for (const Field& other : form.fields) {
      const bool names = other.key == Key::name && other.form->text;
      if (other.key == field.key || (!other.required && !names)) continue;
      // A range from 0 on has room for both values of the other end.
      text += quoted(other.key) + ": " + plain_value(*other.form, other.key == Key::max) + ", ";
    }
    for (const Neighbour& neighbour : neighbours) {
      if (neighbour.form != form.name || neighbour.key == field.key) continue;
      text += quoted(neighbour.key) + ": " + std::string(neighbour.value) + ", ";
    }
    return text + quoted(field.key) + ": ";
  }

  void object(const Form& form, const std::string& path, const std::string& before,
              const std::string& behind, int depth) {
    REQUIRE(depth < 12);
    for (const Field& field : form.fields) {
      const std::string name(to_text(field.key));
      value(*field.form, path.empty() ? name : path + '.' + name, before + front(form, field),
            '}' + behind, depth + 1);
    }
  }

  void value(const Form& form, const std::string& path, const std::string& before,
             const std::string& behind, int depth) {
    if (is_plain(form))
      compare(path, plain_value(form, false), plain_value(form, true), before, behind);
    if (!form.fields.empty()) object(form, path, before, behind, depth);
    if (form.item != nullptr) value(*form.item, path, before + '[', ']' + behind, depth + 1);
    // Not under `a`, which is what a library is called here.
    if (form.map_value != nullptr)
      value(*form.map_value, path, before + R"({"m": )", '}' + behind, depth + 1);
  }

  void compare(const std::string& path, const std::string& first, const std::string& second,
               const std::string& before, const std::string& behind) {
    if (first == second) {
      silent.push_back(path);
      return;
    }
    const Facts facts = read_two(before + first + behind, before + second + behind);
    INFO(before << second << behind);
    REQUIRE(facts.problems.empty());
    const Changes changes = find_changes(facts);
    for (const Change& change : changes.list) {
      kinds.insert(change.kind);
      const std::size_t cut = change.message.find(", before ");
      if (cut != std::string::npos)
        CHECK(!change.message.substr(0, cut).ends_with(" is " + change.message.substr(cut + 9)));
    }
    (changes.list.empty() ? silent : heard).push_back(path);
  }
};

}  // namespace

TEST_CASE("every key of a manifest is compared, or left out for a reason") {
  Walk walk;
  walk.walk();
  CHECK(walk.heard.size() > 100);
  std::string unexpected;
  for (const std::string& path : walk.silent) {
    if (exception_of(path) == nullptr) unexpected += path + " is not compared\n";
  }
  // An exception that excuses nothing hides the next gap.
  for (const Exception& exception : exceptions) {
    const auto excused = [&exception](const std::string& path) {
      return exception_of(path) == &exception;
    };
    CHECK(!exception.reason.empty());
    if (std::none_of(walk.silent.begin(), walk.silent.end(), excused))
      unexpected += std::string(exception.path) + " excuses nothing\n";
  }
  CHECK(unexpected == "");
}

TEST_CASE("every kind of change has a name that `[[silence]]` knows") {
  Walk walk;
  walk.walk();
  const std::set<std::string_view> known(change_kinds().begin(), change_kinds().end());
  CHECK(known.size() == change_kinds().size());
  for (const std::string_view kind : walk.kinds) {
    INFO(kind);
    CHECK(known.contains(kind));
  }
}

}  // namespace opseal::test
