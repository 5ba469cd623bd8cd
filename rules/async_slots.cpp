// A handler that returns a future calls functions of the runtime by their place in a table. jaxlib
// 0.4.34 added them at places 12 to 14; 0.4.38 put another function before them and left the
// version, 0.1, as it was (read off the headers in the wheels of both). A runtime of the one kind
// takes handlers of the other and they call the wrong function. The bytes don't tell which headers
// a handler was built with, but no headers fit both kinds of runtime.

#include "rules/async_slots.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/jax_requirements.h"

namespace opseal {
namespace {

// Requirements that are looked through.
constexpr std::uint32_t most_requirements = 4096;

constexpr Release last_before_move = {0, 4, 36};
constexpr Release first_after_move = {0, 4, 38};
// Older ones refuse every such handler by its version.
constexpr Release first_of_version = {0, 4, 32};

// The requirement that lets in runtimes of both kinds. Where several ask for jax all hold.
Fact across_the_move(const Fact& requirements) {
  Fact across;
  if (requirements.size() > most_requirements) return {};
  for (const Fact requirement : requirements.items()) {
    const std::optional<JaxRequirement> read = read_jax_requirement(requirement.text());
    if (!read) continue;
    const bool old_one = read->oldest >= first_of_version && read->oldest <= last_before_move;
    const bool new_one = !read->end || *read->end > first_after_move;
    if (!old_one || !new_one || read->exact) return {};
    if (!across.said()) across = requirement;
  }
  return across;
}

}  // namespace

void check_async_slots(const LibraryGroup& group, Sink& sink) {
  // Needs no look-up for neighbours of one package.
  std::uint32_t manifest = 0xffffffff;
  Fact across;
  for (const PlacedLibrary& one : group) {
    if (one.manifest.index() != manifest) {
      manifest = one.manifest.index();
      across = across_the_move(one.manifest[Key::distribution][Key::requires_]);
    }
    if (!across.said()) continue;
    Fact first;
    std::uint64_t count = 0;
    for (const Fact handler : one.content[Key::handlers].items()) {
      if (!handler[Key::returns].is_text() || handler[Key::ambiguous].truth()) continue;
      const std::optional<ApiVersion> least =
          read_api_version(handler[Key::api_versions][Key::min].text());
      // Newer ones are refused by the old runtimes: that is told by their version.
      if (!least || *least > ApiVersion{0, 1}) continue;
      sink.inspected();
      if (!handler[Key::returns].text().ends_with("Future")) continue;
      if (!first.said()) first = handler;
      ++count;
    }
    if (!first.said()) continue;
    const Fact symbol = first[Key::symbol];
    std::string message = (symbol.is_text() ? quote(symbol.text()) : std::string("a handler")) +
                          " returns a future, for which jaxlib has other places up to " +
                          to_text(last_before_move) + " than from " + to_text(first_after_move) +
                          " on, under one version; " + quote(across.text()) + " allows both";
    if (count == 2) message += "; so does another handler";
    if (count > 2) message += "; so do " + std::to_string(count - 1) + " other handlers";
    Finding& finding = sink.add("library " + std::string(one.path()), std::move(message),
                                evidence(first, "handler"));
    finding.severity = Severity::warning;
    finding.related.push_back(evidence(across, "runtimes that are allowed"));
    finding.fix = "build it with the headers of " + to_text(first_after_move) +
                  " or newer, and ask for that release or a newer one";
  }
}

}  // namespace opseal
