#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::string_view device_words[] = {"cuda", "gpu", "hip", "rocm", "cpu",
                                             "xpu",  "npu", "mps", "sycl", "metal"};
constexpr std::uint32_t most_parameters = 128;

// The devices that a module or a path is named after.
std::set<std::string> devices_of(std::string_view module) {
  std::set<std::string> found;
  std::string word;
  for (std::size_t at = 0; at <= module.size(); ++at) {
    const char byte = at < module.size() ? module[at] : '.';
    if (byte != '.' && byte != '/' && byte != '_' && byte != '-') {
      word += byte;
      continue;
    }
    word = lower(word);
    if (std::find(std::begin(device_words), std::end(device_words), word) !=
        std::end(device_words)) {
      found.insert(word);
    }
    word.clear();
  }
  return found;
}

// Letters and digits, in lower case: what a misspelled name has in common with the right one.
std::string plain(std::string_view name) {
  std::string out = lower(name);
  std::erase(out, '_');
  return out;
}

void compare(const Fact& one, const Fact& other, Sink& sink) {
  const Fact ours = one[Key::parameters];
  const Fact theirs = other[Key::parameters];
  if (!ours.is_list() || ours.size() != theirs.size() || ours.size() > most_parameters) return;
  if (devices_of(one[Key::namespace_].text()) == devices_of(other[Key::namespace_].text())) return;
  sink.inspected();
  std::vector<std::string> left;
  std::vector<std::string> right;
  auto there = theirs.items().begin();
  for (const Fact name : ours.items()) {
    const Fact twin = *there;
    ++there;
    if (!name.is_text() || !twin.is_text() || plain(name.text()) != plain(twin.text())) return;
    if (name.text() == twin.text()) continue;
    left.emplace_back(name.text());
    right.emplace_back(twin.text());
  }
  if (left.empty()) return;
  std::string message = "takes " + quote_list(left) + " by name here, and " + quote_list(right) +
                        " where it is bound for another device";
  const std::uint32_t required = one[Key::required].count();
  const std::uint32_t twin_required = other[Key::required].count();
  if (required != twin_required) {
    message += "; of its arguments " + std::to_string(required) + " must be given here and " +
               std::to_string(twin_required) + " there";
  }
  Finding& finding =
      sink.add(std::string(one[Key::name].text()), std::move(message), evidence(one, "bound here"));
  finding.related.push_back(evidence(other, "bound for the other device here"));
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (document.settings || manifest[Key::system].is("triton") ||
        manifest[Key::system].is("ctypes")) {
      continue;
    }
    std::map<std::string_view, std::vector<Fact>> by_name;
    for (const Fact function : manifest[Key::functions].items()) {
      if (!function[Key::name].is_text() || !function[Key::namespace_].is_text()) continue;
      by_name[function[Key::name].text()].push_back(function);
    }
    for (const auto& [name, functions] : by_name) {
      if (functions.size() == 2) compare(functions[0], functions[1], sink);
    }
  }
}

}  // namespace

extern constinit const Rule binding_device_split{
    .id = "binding-device-split",
    .title = "one function is bound for two devices with arguments of different spelling",
    .rationale =
        "Code that runs on either device picks the module, or the class, and makes one call. Two "
        "bindings of the same function drift apart when one of them is changed: the call by name "
        "that is right for one device raises TypeError on the other, and tests that have no such "
        "device never see it.",
    .example =
        R"json({"opseal_manifest": 1, "functions": [{"name": "Topo.run", "namespace": "cpu/topo.cpp", "parameters": ["x_raster"]}, {"name": "Topo.run", "namespace": "cuda/topo.cpp", "parameters": ["x_Raster"]}]})json",
    .fix = "spell the arguments alike in both bindings, and give both the same defaults",
    .severity = Severity::warning,
    .inspects = "function that is bound twice, for different devices, with as many named arguments",
    .needs = {Key::functions, Key::parameters},
    .check = check,
};

}  // namespace opseal
