#include "rules/cross_dtypes.h"

#include <algorithm>

#include "opseal/registration.h"

namespace opseal {
namespace {

constexpr std::size_t most_platforms = 64;
// Over all platforms: two operators are compared each dtype with each.
constexpr std::size_t most_dtypes = 512;

void add_taken(const Fact& list, DtypeWords& words, PlatformDtypes& out) {
  if (!list.present()) return;
  if (!all_dtypes_read(list)) {
    out.complete = false;
    return;
  }
  for_each_dtype(list, [&](const Fact& text) {
    const Dtype* dtype = words.read(text).dtype;
    if (dtype == nullptr) return;
    if (!out.words.said()) out.words = list;
    if (!out.takes(*dtype)) out.taken.push_back({dtype, text});
  });
}

void add_refused(const Fact& list, DtypeWords& words, PlatformDtypes& out) {
  for (const Fact text : list.items()) {
    const Dtype* dtype = text.is_text() ? words.read(text).dtype : nullptr;
    if (dtype != nullptr && !out.refuses(*dtype)) out.refused.push_back(dtype);
  }
}

bool says_dtypes(const Fact& item) {
  return item[Key::dtypes].size() > 0 || item[Key::signatures].size() > 0 ||
         item[Key::type_constraints].size() > 0;
}

PlatformDtypes of_operands(const Fact& op, DtypeWords& words) {
  PlatformDtypes out;
  out.platform = {"any", PlatformRole::every, "any"};
  add_taken(op[Key::type_constraints], words, out);
  for (const Fact operand : op[Key::inputs].items()) {
    add_taken(operand[Key::dtypes], words, out);
    // A type variable of which nobody says what it stands for leaves the list open.
    const Fact type = operand[Key::type];
    const bool said = operand[Key::dtypes].is_list() ||
                      (type.is_text() && (op[Key::type_constraints].at(type.text()).is_list() ||
                                          find_dtype(type.text()) != nullptr));
    if (!operand.is_object() || !said) out.complete = false;
  }
  return out;
}

}  // namespace

bool PlatformDtypes::takes(const Dtype& dtype) const {
  return std::any_of(taken.begin(), taken.end(),
                     [&dtype](const Taken& known) { return same_dtype(*known.dtype, dtype); });
}

bool PlatformDtypes::refuses(const Dtype& dtype) const {
  return std::any_of(refused.begin(), refused.end(),
                     [&dtype](const Dtype* known) { return same_dtype(*known, dtype); });
}

std::vector<PlatformDtypes> platform_dtypes(const Fact& manifest, const Fact& op,
                                            DtypeWords& words) {
  std::vector<PlatformDtypes> out;
  PlatformNames names(manifest);
  for (const Fact kernel : op[Key::kernels].items()) {
    if (!kernel.said()) return {};
    if (!is_active_kernel(kernel) || kernel[Key::stub].truth()) continue;
    const Platform platform = names.of(kernel[Key::platform]);
    if (platform.role == PlatformRole::wrapper) continue;
    auto side = std::find_if(out.begin(), out.end(), [&platform](const PlatformDtypes& known) {
      return same_platform(known.platform, platform);
    });
    if (side == out.end()) {
      if (out.size() == most_platforms) return {};
      side = out.insert(out.end(), PlatformDtypes());
      side->platform = platform;
      side->written = kernel[Key::platform];
    }
    if (!says_dtypes(kernel)) side->complete = false;
    add_taken(kernel[Key::dtypes], words, *side);
    add_taken(kernel[Key::signatures], words, *side);
    add_taken(kernel[Key::type_constraints], words, *side);
    add_refused(kernel[Key::refused], words, *side);
  }
  std::size_t dtypes = 0;
  for (const PlatformDtypes& side : out) dtypes += side.taken.size() + side.refused.size();
  if (dtypes > most_dtypes) return {};
  if (op[Key::kernels].size() == 0 && op[Key::inputs].size() > 0 && op[Key::inputs].is_list())
    out.push_back(of_operands(op, words));
  return out;
}

}  // namespace opseal
