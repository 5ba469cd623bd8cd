// Which devices two builds of a library serve, whatever their architectures are called.

#include <doctest/doctest.h>

#include <sstream>

#include "tests/diff_support.h"

namespace opseal::test {
namespace {

// Words such as `sm_80`, and `ptx_80` for PTX.
std::string images(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool ptx = word.starts_with("ptx_");
    text += std::string(text.empty() ? "" : ", ") + R"({"kind": ")" + (ptx ? "ptx" : "sass") +
            R"(", "architecture": ")" + (ptx ? "sm_" + word.substr(4) : word) +
            R"(", "kernels": [{"name": "k"}]})";
  }
  return manifest_of(R"("libraries": [{"path": "libx.so", "images": [)" + text + "]}]");
}

std::string change(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  std::string text;
  for (const std::string& line : changes_of(images(before), images(after)))
    text += (text.empty() ? "" : " / ") + line;
  return text;
}

// A library with images such as `sm_80 a b`: an architecture and the kernels for it.
std::string kernel_images(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    const bool ptx = word.starts_with("ptx_");
    text += std::string(text.empty() ? "" : ", ") + R"({"kind": ")" + (ptx ? "ptx" : "sass") +
            R"(", "architecture": ")" + (ptx ? "sm_" + word.substr(4) : word) +
            R"(", "kernels": [)";
    for (bool first = true; words >> word; first = false)
      text += std::string(first ? "" : ", ") + R"({"name": ")" + word + "\"}";
    text += "]}";
  }
  return manifest_of(R"("libraries": [{"path": "libx.so", "images": [)" + text + "]}]");
}

std::string kernel_change(const std::vector<std::string>& before,
                          const std::vector<std::string>& after) {
  std::string text;
  for (const std::string& line : changes_of(kernel_images(before), kernel_images(after)))
    text += (text.empty() ? "" : " / ") + line;
  return text;
}

}  // namespace

TEST_CASE("a device that other code serves isn't lost") {
  CHECK(change({"sm_80", "sm_86", "sm_120"}, {"sm_80", "sm_120f"}) ==
        "speed patch libx.so: without `sm_120` and `sm_86`, with `sm_120f`");
  CHECK(change({"sm_90a"}, {"sm_90"}) == "speed patch libx.so: without `sm_90a`, with `sm_90`");
  CHECK(change({"sm_90"}, {"sm_90a"}) == "speed patch libx.so: without `sm_90`, with `sm_90a`");
  CHECK(change({"sm_80"}, {"sm_80", "sm_86"}) == "additive minor libx.so: further code: `sm_86`");
  CHECK(change({"sm_80", "ptx_80"}, {"sm_80", "ptx_80"}) == "");
}

TEST_CASE("a device without any code is lost") {
  CHECK(change({"sm_80", "sm_90"}, {"sm_80"}) ==
        "breaking major libx.so: no code any more for `sm_90`");
  CHECK(change({"sm_80"}, {"sm_80a"}) ==
        "breaking major libx.so: no code any more for `sm_86`, `sm_88` and `sm_89` / speed patch "
        "libx.so: without `sm_80`, with `sm_80a`");
  CHECK(change({"sm_120", "ptx_120"}, {"sm_120"}) ==
        "breaking major libx.so: no code any more for devices yet to come");
  CHECK(change({"sm_80"}, {"sm_80", "sm_90"}) ==
        "additive minor libx.so: code for further devices: `sm_90`");
}

TEST_CASE("a device for which only PTX is left is slower") {
  CHECK(change({"sm_90", "ptx_80"}, {"ptx_80"}) ==
        "speed patch libx.so: only PTX is left for `sm_90`");
  CHECK(change({"ptx_80"}, {"sm_90", "ptx_80"}) ==
        "additive minor libx.so: machine code where only PTX was, for `sm_90`");
}

TEST_CASE("code for devices of other makers is compared by name") {
  CHECK(change({"gfx90a"}, {"gfx942"}) ==
        "breaking major libx.so: lost the code for `gfx90a` / additive minor libx.so: gained code "
        "for `gfx942`");
}

TEST_CASE("a kernel without code for a device that others keep is told") {
  CHECK(
      kernel_change({"sm_80 a b c", "sm_90 a b c"}, {"sm_80 a b c", "sm_90 a"}) ==
      "breaking major libx.so: 2 kernels, `b` and `c`, have no code for `sm_90` any more; 1 other "
      "keeps it");
  CHECK(kernel_change({"sm_80 a", "sm_90 a b"}, {"sm_80 a b", "sm_90 a b"}) ==
        "additive minor libx.so: 1 kernel, `b`, has code for `sm_80`, `sm_86`, `sm_88` and "
        "`sm_89` now");
  CHECK(kernel_change({"sm_90 a b", "ptx_90 a b"}, {"sm_90 a", "ptx_90 a b"}) ==
        "speed patch libx.so: 1 kernel, `b`, has only PTX left for `sm_90`; 1 other keeps its "
        "machine code");
}

TEST_CASE("a kernel that other code serves, or that one build lacks, has lost no device") {
  CHECK(kernel_change({"sm_80 a b", "sm_86 a b"}, {"sm_80 a b", "sm_86 a"}) == "");
  CHECK(kernel_change({"sm_80 a b", "sm_90 a"}, {"sm_80 a c", "sm_90 a c"}) == "");
  // Of the whole library, and told once.
  CHECK(kernel_change({"sm_80 a b", "sm_90 a"}, {"sm_80 a b"}) ==
        "breaking major libx.so: no code any more for `sm_90`");
}

}  // namespace opseal::test
