// Kernels that store in one build and end at once in the other, for one architecture. Nothing else
// that a compiler makes of a kernel is compared; this one gives wrong results in silence.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/change_list.h"
#include "opseal/text.h"
#include "rules/hollow_bodies.h"

namespace opseal {
namespace {

struct State {
  bool full = false;
  bool hollow = false;
  bool other = false;
  Fact kernel;

  // All code of that name does nothing; one that works may be the one that runs.
  bool does_nothing() const { return hollow && !full && !other; }
};

// By architecture and mangled name.
using Bodies = std::map<std::pair<std::string_view, Name>, State>;

Bodies bodies_of(const Fact& library) {
  Bodies bodies;
  for (const Fact image : library[Key::images].items()) {
    // What isn't linked yet runs nowhere; of PTX no body is known.
    if (!image[Key::kind].is("sass") || image[Key::relocatable].truth()) continue;
    for (const Fact kernel : image[Key::kernels].items()) {
      State& state = bodies[{image[Key::architecture].text(), kernel[Key::name].name()}];
      const Body body = body_of(kernel);
      if (!state.kernel.said() || body == Body::hollow) state.kernel = kernel;
      state.full = state.full || body == Body::full;
      state.hollow = state.hollow || body == Body::hollow;
      state.other = state.other || body == Body::other || body == Body::unknown;
    }
  }
  return bodies;
}

struct Told {
  std::vector<std::string> kernels;
  Fact before;
  Fact after;
};

void tell(ChangeList& list, const std::string& subject, std::string_view architecture,
          const Told& told, bool lost) {
  const bool one = told.kernels.size() == 1;
  std::string message = plural(told.kernels.size(), "kernel") + " for " + quote(architecture) + ' ';
  message += lost ? (one ? "does nothing any more: " : "do nothing any more: ")
                  : (one ? "stores where it did nothing: " : "store where they did nothing: ");
  list.add(lost ? Impact::breaking : Impact::numerics, "kernel-hollow", subject,
           message + quote_list(told.kernels, 3),
           lost ? "a launch there succeeds and leaves the output as it was"
                : "outputs that were left as they were are written",
           told.before, told.after);
}

}  // namespace

void compare_bodies(ChangeList& list, const std::string& subject, const Fact& before,
                    const Fact& after) {
  const Bodies then = bodies_of(before);
  const Bodies now = bodies_of(after);
  std::map<std::string_view, Told> lost;
  std::map<std::string_view, Told> mended;
  for (const auto& [place, was] : then) {
    const auto found = now.find(place);
    if (found == now.end()) continue;
    const State& is = found->second;
    const bool worse = was.full && is.does_nothing();
    if (!worse && !(was.does_nothing() && is.full)) continue;
    Told& told = (worse ? lost : mended)[place.first];
    if (told.kernels.empty()) {
      told.before = was.kernel;
      told.after = is.kernel;
    }
    told.kernels.emplace_back(was.kernel[Key::name].text());
  }
  for (const auto& [architecture, told] : lost) tell(list, subject, architecture, told, true);
  for (const auto& [architecture, told] : mended) tell(list, subject, architecture, told, false);
}

}  // namespace opseal
