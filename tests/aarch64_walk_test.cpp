// Instructions as GNU as writes them for AArch64.

#include "analyzers/native/aarch64_walk.h"

#include <doctest/doctest.h>

using namespace opseal;

namespace {

using Kind = Aarch64Step::Kind;

constexpr std::uint32_t adrp_x0_next_page = 0xB0000000;
constexpr std::uint32_t adrp_x19_next_page = 0xB0000013;
constexpr std::uint32_t add_x0_x0_16 = 0x91004000;
constexpr std::uint32_t add_x0_x19_16 = 0x91004260;
constexpr std::uint32_t ldr_x0_x0_16 = 0xF9400800;

// What becomes of a page in x0 when another instruction stands in between.
Kind kind_behind(std::uint32_t between) {
  Aarch64Walk walk;
  walk.next(adrp_x0_next_page, 0x1000);
  walk.next(between, 0x1004);
  return walk.next(add_x0_x0_16, 0x1008).kind;
}

}  // namespace

TEST_CASE("two instructions make an address or load a pointer") {
  Aarch64Walk walk;
  CHECK(walk.next(adrp_x0_next_page, 0x1000).kind == Kind::none);
  const Aarch64Step address = walk.next(add_x0_x0_16, 0x1004);
  CHECK(address.kind == Kind::address);
  CHECK(address.target == 0x2010);
  walk.next(adrp_x0_next_page, 0x1008);
  const Aarch64Step pointer = walk.next(ldr_x0_x0_16, 0x100C);
  CHECK(pointer.kind == Kind::pointer);
  CHECK(pointer.target == 0x2010);
  CHECK(pointer.to_register == 0);
}

TEST_CASE("a call through a register forgets what the callee may write") {
  CHECK(kind_behind(0xD503201F /* nop */) == Kind::address);
  CHECK(kind_behind(0xD63F0100 /* blr x8 */) == Kind::none);
  CHECK(kind_behind(0xD73F0901 /* blraa x8, x1 */) == Kind::none);
  Aarch64Walk walk;
  walk.next(adrp_x19_next_page, 0x1000);
  CHECK(walk.next(0xD63F0100, 0x1004).kind == Kind::none);
  CHECK(walk.next(add_x0_x19_16, 0x1008).kind == Kind::address);
}

TEST_CASE("a load of two registers forgets both, a store none, and a stepped base is another") {
  CHECK(kind_behind(0xA9400041 /* ldp x1, x0, [x2] */) == Kind::none);
  CHECK(kind_behind(0xA9400440 /* ldp x0, x1, [x2] */) == Kind::none);
  CHECK(kind_behind(0xA9000041 /* stp x1, x0, [x2] */) == Kind::address);
  CHECK(kind_behind(0xA8810801 /* stp x1, x2, [x0], #16 */) == Kind::none);
  CHECK(kind_behind(0xA9BF0BE1 /* stp x1, x2, [sp, #-16]! */) == Kind::address);
  CHECK(kind_behind(0xF8008401 /* str x1, [x0], #8 */) == Kind::none);
  CHECK(kind_behind(0xF8408C01 /* ldr x1, [x0, #8]! */) == Kind::none);
  CHECK(kind_behind(0xF9000001 /* str x1, [x0] */) == Kind::address);
  CHECK(kind_behind(0xF9000020 /* str x0, [x1] */) == Kind::address);
  CHECK(kind_behind(0xF8210060 /* ldadd x1, x0, [x3] */) == Kind::none);
}
