#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "rules/dtype_words.h"
#include "rules/placement.h"

namespace opseal {

// How a dtype that is lacking stands among those of its kind that are there.
enum class Isolation {
  none,
  // The platform takes the next wider one, and nobody takes a narrower: `i64` and no `i32`.
  below,
  // The platform takes the next narrower and the next wider.
  between,
};

// What one platform lacks, over all slots.
struct Gap {
  struct Lacking {
    Fact dtype;
    Isolation isolation = Isolation::none;
  };

  Name platform = Names::missing;
  Fact words;
  std::vector<Lacking> dtypes;
  Fact there;
  Name other = Names::missing;
  bool promised = false;
};

// Calls `report` for each gap of each operator whose kernels on two platforms say their dtypes:
// shared by `dtype-gap` and by `dtype-grid-hole`, which tells those that stand alone.
using ReportGap = void (*)(const Fact& manifest, const Fact& op, const Gap& gap, Sink& sink);
void check_gaps(const Facts& facts, Sink& sink, ReportGap report);

// The manifest, or the settings of the run, require the platform.
bool is_required_platform(const Fact& manifest, std::string_view platform);

// The gap is told by `dtype-grid-hole`: the dtype stands alone in the grid, and nothing says that
// it is left out on purpose.
bool is_grid_hole(const Fact& manifest, const Fact& op, const Gap& gap,
                  const Gap::Lacking& lacking);

// Adds what both rules say of a gap in which `dtypes` lack. The finding, for its severity.
Finding& add_gap(const Fact& manifest, const Fact& op, const Gap& gap,
                 std::vector<std::string> dtypes, Sink& sink);

}  // namespace opseal
