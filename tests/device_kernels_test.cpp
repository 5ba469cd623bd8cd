#include "rules/device_kernels.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/support.h"

namespace opseal::test {
namespace {

// Facts of one library with these images.
class OneLibrary {
 public:
  explicit OneLibrary(const std::string& images)
      : facts_(read_text(R"({"opseal_manifest": 1, "libraries": [{"path": "libx.so", "images": )" +
                         images + "}]}")) {}

  DeviceKernels kernels() const {
    REQUIRE(facts_.problems.empty());
    return DeviceKernels(*facts_.root(facts_.documents.at(0))[Key::libraries].items().begin());
  }
  Name name(std::string_view text) const { return facts_.names.find(text); }

 private:
  Facts facts_;
};

std::string image(const std::string& architecture, const std::string& more) {
  return R"({"kind": "sass", "architecture": ")" + architecture + "\", " + more + "}";
}

}  // namespace

TEST_CASE("what was not linked yet holds no kernel that a device could run") {
  const OneLibrary library("[" +
                           image("sm_80", R"("relocatable": true, "kernels": [{"name": "k"}])") +
                           R"(, {"kind": "lto_ir", "architecture": "sm_90"}])");
  const DeviceKernels kernels = library.kernels();
  CHECK(kernels.whole());
  CHECK(kernels.images().empty());
  CHECK(kernels.rows_of(library.name("k")).empty());
}

TEST_CASE("an image that doesn't say its kernels, or what it is for, makes the list not whole") {
  CHECK(OneLibrary("[" + image("sm_80", R"("kernels": [])") + "]").kernels().whole());
  CHECK(!OneLibrary("[" + image("sm_80", R"("version": "1.7")") + "]").kernels().whole());
  CHECK(!OneLibrary("[" + image("newest", R"("kernels": [])") + "]").kernels().whole());
}

TEST_CASE("the rows of a unit lie side by side, wherever its images stand") {
  const OneLibrary library(
      "[" + image("sm_80", R"("container": 1, "kernels": [{"name": "k"}])") + "," +
      image("sm_80", R"("container": 0, "kernels": [{"name": "k"}, {"name": "other"}])") + "," +
      image("sm_90a", R"("container": 1, "kernels": [{"name": "k"}])") + "]");
  const DeviceKernels kernels = library.kernels();
  REQUIRE(kernels.devices().size() == 2);
  CHECK(kernels.devices_of(kernels.rows_of(library.name("k"))) == 3);
  std::size_t units = 0;
  kernels.for_each_in_unit(kernels.rows_of(library.name("k")),
                           [&](std::uint32_t unit, std::span<const KernelRow> rows) {
                             ++units;
                             CHECK(rows.size() == (kernels.units()[unit].number == 1 ? 2 : 1));
                           });
  CHECK(units == 2);
}

TEST_CASE("a file for more devices than a set holds is not judged") {
  std::string images;
  for (int number = 20; number < 100; ++number) {
    if (!images.empty()) images += ",";
    images +=
        image("sm_" + std::to_string(number), R"("container": 0, "kernels": [{"name": "k"}])");
  }
  const OneLibrary library("[" + images + "]");
  const DeviceKernels kernels = library.kernels();
  CHECK(!kernels.whole());
  CHECK(kernels.rows().empty());
  CHECK(kernels.units().empty());
}

TEST_CASE("an instantiation stands in for another only where the other has devices of its own") {
  const OneLibrary library(
      "[" +
      image("sm_80",
            R"("container": 0, "kernels": [{"name": "_Z1kILi80EEvv"}, {"name": "_Z1tIfEvv"},
                      {"name": "_Z1tIdEvv"}])") +
      "," +
      image("sm_90",
            R"("container": 0, "kernels": [{"name": "_Z1kILi90EEvv"}, {"name": "_Z1tIfEvv"}])") +
      "]");
  const DeviceKernels kernels = library.kernels();
  Functions functions;
  const Name old_form = library.name("_Z1kILi80EEvv");
  const Name hole = library.name("_Z1tIdEvv");
  functions.want(kernels, old_form);
  functions.want(kernels, hole);
  functions.gather(kernels,
                   [&](std::span<const KernelRow> rows) { return kernels.devices_of(rows); });
  CHECK(functions.of(old_form).has(1));
  CHECK(functions.of(old_form).has_instead(1, 1));
  CHECK(functions.of(hole).has(1));
  CHECK(!functions.of(hole).has_instead(1, 1));
}

}  // namespace opseal::test
