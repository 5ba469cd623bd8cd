#include <map>
#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// The strides of one tensor are told apart by a last digit: `nb01`, `nb02`; `stride_x_0`.
// Empty where a name is none of a stride.
std::string_view tensor_of(std::string_view parameter) {
  if (parameter.size() < 2 || parameter.back() < '0' || parameter.back() > '9') return {};
  const std::string_view tensor = parameter.substr(0, parameter.size() - 1);
  const bool bytes = tensor == "nb" || (tensor.size() == 3 && tensor.starts_with("nb"));
  return bytes || tensor.find("stride") != tensor.npos ? tensor : std::string_view();
}

struct Strides {
  std::vector<std::string> all;
  std::size_t unread = 0;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    for (const Fact function : facts.root(document)[Key::device_functions].items()) {
      const Fact unread = function[Key::unread];
      if (!all_read(unread) || !all_read(function[Key::parameters])) continue;
      // Of a manifest that doesn't say it, nobody does.
      const bool asked = function[Key::contiguous].is_truth() && function[Key::contiguous].truth();
      std::map<std::string, Strides> tensors;
      for (const std::string& name : texts_of(function[Key::parameters])) {
        const std::string_view tensor = tensor_of(name);
        if (tensor.empty()) continue;
        Strides& strides = tensors[std::string(tensor)];
        strides.all.push_back(name);
        if (list_has(unread, name)) ++strides.unread;
      }
      if (tensors.empty()) continue;
      sink.inspected();
      std::vector<std::string> lost;
      for (const auto& [tensor, strides] : tensors) {
        // One stride alone is often that of elements that lie side by side.
        if (strides.unread < 2 || strides.unread < strides.all.size()) continue;
        lost.insert(lost.end(), strides.all.begin(), strides.all.end());
      }
      // Who starts it may see to dense tensors.
      if (lost.empty() || asked) continue;
      sink.add(std::string(function[Key::name].text()),
               "kernel takes the strides " + quote_list(lost) + " and reads none of them",
               evidence(function, "kernel defined here" + site_of(function)));
    }
  }
}

}  // namespace

extern constinit const Rule layout_stride_unread{
    .id = "layout-stride-unread",
    .title = "kernel takes the strides of a tensor and reads none of them",
    .rationale =
        "A kernel that is handed strides and finds its elements by sizes alone is right for a "
        "dense tensor and silently wrong for a view, a slice or a transposed one. Where every "
        "caller makes sure that the tensor is dense the parameters are only left over, so that "
        "nothing is told where anything in the file of the kernel asks for it.",
    .example =
        R"({"opseal_manifest": 1, "device_functions": [{"name": "roll", "parameters": ["ne0", "ne1", "nb0", "nb1"], "unread": ["nb0", "nb1"]}]})",
    .fix =
        "find elements by the strides, or take the parameters away and refuse tensors that are "
        "not dense",
    .severity = Severity::warning,
    .tier = Tier::lexed,
    .inspects = "kernel with strides among its parameters of which it is said what it reads",
    .needs = {Key::device_functions, Key::parameters, Key::unread},
    .check = check,
};

}  // namespace opseal
