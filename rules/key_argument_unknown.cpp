#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/key_fields.h"

namespace opseal {
namespace {

// Said to be left out where it isn't one: hundreds would be a table, no function.
constexpr std::size_t most_arguments = 1024;

class Arguments {
 public:
  explicit Arguments(const Fact& names) {
    for (const Fact name : names.items()) {
      known_.insert(name.name());
      texts_.push_back(name.text());
    }
  }

  bool has(const Fact& name) const { return known_.contains(name.name()); }
  std::string_view nearest(std::string_view name) const { return nearest_name(name, texts_); }

 private:
  std::unordered_set<Name> known_;
  std::vector<std::string_view> texts_;
};

void add(const Fact& cache, const Arguments& arguments, std::string_view who,
         const std::vector<Fact>& unknown, Sink& sink) {
  if (unknown.empty()) return;
  std::string message = std::string(who) + " " + quote_list(names_of(unknown)) + ", expected ";
  message += unknown.size() == 1 ? "an argument of the function" : "arguments of the function";
  const std::string_view nearest = arguments.nearest(unknown.front().text());
  if (!nearest.empty()) message += "; " + quote(nearest) + " is one";
  Finding& finding = sink.add(quote(cache[Key::name].text()), std::move(message),
                              evidence(unknown.front(), "named here"));
  finding.related.push_back(evidence(cache[Key::name], "the function"));
}

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    const Fact names = cache[Key::arguments];
    if (!all_read(names) || names.size() > most_arguments) return;
    sink.inspected();
    const Arguments arguments(names);
    std::vector<Fact> in_key;
    for (const Fact part : cache[Key::key_parts].items()) {
      if (part[Key::name].is_text() && !arguments.has(part[Key::name])) {
        in_key.push_back(part[Key::name]);
      }
    }
    std::vector<Fact> in_settings;
    for (const Fact name : cache[Key::uses].items()) {
      if (name.is_text() && !arguments.has(name)) in_settings.push_back(name);
    }
    add(cache, arguments, "key names", in_key, sink);
    add(cache, arguments, "settings name", in_settings, sink);
  });
}

}  // namespace

extern constinit const Rule key_argument_unknown{
    .id = "key-argument-unknown",
    .title = "key of a compiled function that names an argument which the function lacks",
    .rationale =
        "A tuner looks up the arguments that its key names and passes over those that it doesn't "
        "find: what was tuned for the first call is used for every size. Settings that name no "
        "argument are refused at the first launch, or have no effect. It is what remains after an "
        "argument was renamed.",
    .example = R"({"name": "matmul", "arguments": ["a", "M", "N", "K"], )"
               R"("key_parts": [{"name": "M"}, {"name": "k_size"}]})",
    .fix = "name the argument as the function does",
    .severity = Severity::error,
    .inspects = "function of which it is said which arguments it has and which of them are its key",
    .needs = {Key::caches, Key::arguments},
    .check = check,
};

}  // namespace opseal
