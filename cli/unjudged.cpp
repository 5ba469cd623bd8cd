#include "cli/unjudged.h"

#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "opseal/text.h"

namespace opseal {

std::string unjudged_libraries_text(const Facts& facts) {
  struct Part {
    Key key;
    std::string_view one;
    std::string_view many;
  };
  constexpr Part parts[] = {{Key::exports, "exported symbol", "exported symbols"},
                            {Key::needed, "needed library", "needed libraries"},
                            {Key::images, "image of device code", "images of device code"},
                            {Key::handlers, "FFI handler", "FFI handlers"},
                            {Key::registrars, "registration", "registrations"}};
  std::uint64_t libraries = 0;
  std::uint64_t counts[std::size(parts)] = {};
  for (const Document& document : facts.documents) {
    for (const Fact library : facts.root(document)[Key::libraries].items()) {
      if (library[Key::format].said()) ++libraries;
      for (std::size_t i = 0; i < std::size(parts); ++i) counts[i] += library[parts[i].key].size();
    }
  }
  std::vector<std::string> there;
  std::vector<std::string> lacking;
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    if (counts[i] > 0) {
      there.push_back(plural(counts[i], std::string(parts[i].one), std::string(parts[i].many)));
    } else {
      lacking.push_back("no " + std::string(parts[i].many));
    }
  }
  there.insert(there.end(), lacking.begin(), lacking.end());
  return "read " + plural(libraries, "library", "libraries") + " with " + join(there, ", ") +
         ", in which no rule found anything to look at; more rules run on a whole package, and "
         "beside a manifest that names the library";
}

}  // namespace opseal
