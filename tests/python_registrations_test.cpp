#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/input_error.h"
#include "analyzers/python/registrations.h"

namespace opseal {

namespace {

std::vector<PythonRegistration> read(std::string_view text) {
  return find_python_registrations(text).registrations;
}

std::string said(const PythonText& text) {
  switch (text.state) {
    case PythonText::State::absent:
      return "-";
    case PythonText::State::undecided:
      return "?";
    case PythonText::State::null:
      return "None";
    case PythonText::State::decided:
      break;
  }
  return text.text;
}

std::string said(const PythonFunction& function) {
  if (function.null) return "None";
  std::string text = function.name;
  if (!function.found) return text + "(?)";
  text += "(" + std::to_string(function.required) + "/" + std::to_string(function.positional);
  return text + (function.variadic ? "*)" : ")");
}

// One line for each: kind, namespace::name, key, backend, functions, in brackets what is there.
std::string listed(std::string_view text) {
  std::string lines;
  for (const PythonRegistration& one : read(text)) {
    lines += std::string(to_text(one.kind)) + " " + said(one.name_space) + "::" + said(one.name);
    if (one.key.state != PythonText::State::absent) lines += " key=" + said(one.key);
    if (one.backend.state != PythonText::State::absent) lines += " backend=" + said(one.backend);
    if (!one.object.empty()) lines += " on=" + one.object;
    for (const PythonFunction& function : one.functions) lines += " " + said(function);
    if (!one.fake.name.empty()) lines += " fake=" + said(one.fake);
    lines += "\n";
  }
  return lines;
}

}  // namespace

TEST_CASE("a torch library gives its namespace to what is defined on it") {
  CHECK(listed(R"(
import torch.library as tl
from torch.library import Library as Lib
lib = tl.Library("ns", "DEF")
lib.define("add(Tensor a, Tensor b) -> Tensor")
lib.impl("add", add_cpu, "CPU")
lib.impl("other::sub", add_cpu, dispatch_key="CUDA")
cuda = Lib("ns", "IMPL", "CUDA")
cuda.impl("add", lambda a, b: a)
)") == "torch_library ns::-\n"
       "torch_define ns::add on=lib\n"
       "torch_impl ns::add key=CPU on=lib add_cpu(?)\n"
       "torch_impl other::sub key=CUDA on=lib add_cpu(?)\n"
       "torch_library ns::- key=CUDA\n"
       "torch_impl ns::add key=CUDA on=cuda lambda(2/2)\n");
}

TEST_CASE("a define or impl of others is no registration") {
  CHECK(listed(R"(
import torch
from torch.library import custom_op
parser.define("x", "y")
self.impl("name", function, "mode")
custom.impl(a, b)
@mine.custom_op("ns::x")
def x(): pass
)") == "");
}

TEST_CASE("functions of torch.library are known under any name they are imported by") {
  CHECK(listed(R"(
import torch
import torch.library as tl
from torch.library import custom_op as co, triton_op
try:
    from torch.library import register_fake
except ImportError:
    from torch.library import impl_abstract as register_fake
@co("ns::a", mutates_args=())
def a(x: torch.Tensor, n: int = 1) -> torch.Tensor: ...
@register_fake("ns::a")
def _(x, n=1): ...
@a.register_kernel(["cuda", "cpu"])
def _(x, n): ...
@a.register_fake
def _(x): ...
a.register_autograd(backward, setup_context=setup)
tl.register_vmap("ns::a", rule)
tl.define("ns::b", "(Tensor x) -> Tensor")
@tl.impl("ns::b", "Meta")
def b(x): ...
@tl.impl(lib, "c", "CPU")
def c(x, y): ...
)") == "torch_custom_op ns::a a(1/2)\n"
       "torch_fake ns::a _(1/2)\n"
       "torch_kernel ns::a key=cuda,cpu on=a _(2/2)\n"
       "torch_fake ns::a on=a _(1/1)\n"
       "torch_autograd ns::a on=a backward(?) setup(?)\n"
       "torch_vmap ns::a rule(?)\n"
       "torch_define ns::b\n"
       "torch_impl ns::b key=Meta b(1/1)\n"
       "torch_impl ?::c key=CPU on=lib c(2/2)\n");
}

TEST_CASE("the schema of a custom operator follows from its annotations") {
  const auto schema = [](std::string_view text) { return said(read(text).at(0).schema); };
  CHECK(schema("from torch.library import custom_op\n"
               "@custom_op('ns::f', mutates_args={'out'})\n"
               "def f(x: torch.Tensor, out: Tensor, w: Optional[Tensor] = None, *, n: int, "
               "s: float = 1.0, sizes: list[int]) -> None: ...") ==
        "f(Tensor x, Tensor(a1!) out, Tensor? w=None, *, SymInt n, float s=1.0, SymInt[] sizes) "
        "-> ()");
  CHECK(schema("from torch.library import custom_op\n"
               "@custom_op('ns::f', mutates_args=())\n"
               "def f(x: Tensor) -> tuple[Tensor, Tensor]: ...") ==
        "f(Tensor x) -> (Tensor, Tensor)");
  CHECK(schema("from torch.library import custom_op\n"
               "@custom_op('ns::f', mutates_args=())\n"
               "def f(x: Mine) -> Tensor: ...") == "?");
  CHECK(schema("from torch.library import custom_op\n"
               "@custom_op('ns::f', mutates_args=(), schema='(Tensor x) -> Tensor')\n"
               "def f(x): ...") == "(Tensor x) -> Tensor");
}

TEST_CASE("one call may define an operator, its kernel and its fake") {
  CHECK(listed("from .utils import direct_register_custom_op\n"
               "def op(x, y): ...\n"
               "def fake(x): ...\n"
               "direct_register_custom_op(op_name='op', op_func=op, mutates_args=['x'], "
               "fake_impl=fake, dispatch_key='CUDA')\n") ==
        "torch_direct -::op key=CUDA op(2/2) fake=fake(1/1)\n");
}

TEST_CASE("look-ups of operators are found") {
  CHECK(listed("import torch\n"
               "torch.ops.ns.add(x)\n"
               "f = torch.ops.ns.mul.default\n"
               "torch.ops.load_library('x.so')\n"
               "getattr(torch.ops.ns, 'sub')\n"
               "from torch import ops\n"
               "ops.ns.div(x)\n"
               "jax.ffi.ffi_call('target', t)(x)\n"
               "import tvm_ffi\n"
               "tvm_ffi.get_global_func('m.f')\n") ==
        "torch_lookup ns::add\n"
        "torch_lookup ns::mul\n"
        "torch_lookup ns::sub\n"
        "torch_lookup ns::div\n"
        "ffi_lookup -::target\n"
        "tvm_lookup -::m.f\n");
}

TEST_CASE("rules of a JAX primitive are found whichever way they are set") {
  CHECK(listed(R"(
from functools import partial
from jax.core import Primitive
from jax.interpreters import ad, batching, mlir
add_p = Primitive("add")
def rule(t, x, y): ...
add_p.def_impl(rule)
ad.defjvp(add_p, rule, None)
ad.primitive_jvps[add_p] = partial(rule, 1)
ad.primitive_transposes[add_p] = rule
batching.primitive_batchers[add_p] = lambda args, dims: 1
mlir.register_lowering(add_p, lower, platform="cuda")
add_p.bind(x, y, n=1)
)") == "primitive -::add\n"
       "primitive_impl -::add on=add_p rule(3/3)\n"
       "primitive_jvp -::add on=add_p rule(3/3) None\n"
       "primitive_jvp -::add on=add_p rule(2/2)\n"
       "primitive_transpose -::add on=add_p rule(3/3)\n"
       "primitive_batching -::add on=add_p lambda(2/2)\n"
       "primitive_lowering -::add key=cuda on=add_p lower(?)\n"
       "primitive_use -::add on=add_p\n");
}

TEST_CASE("kernels and rules of a brainevent primitive carry its registered name") {
  CHECK(listed(R"(
from brainevent import XLACustomKernel
mv_p = XLACustomKernel('matvec')
mv_p.def_numba_kernel(numba_kernel)
mv_p.def_pallas_kernel('tpu', pallas_kernel, asdefault=True)
mv_p.def_kernel(backend='cublas', platform='gpu', kg=cublas_kernel)
mv_p.def_jvp_rule2(None, lambda t, *p: t)
mv_p.def_transpose_rule(rule)
mv_p(x, y)
)") == "primitive -::matvec\n"
       "primitive_kernel -::matvec key=cpu backend=numba on=mv_p numba_kernel(?)\n"
       "primitive_kernel -::matvec key=tpu backend=pallas on=mv_p pallas_kernel(?)\n"
       "primitive_kernel -::matvec key=gpu backend=cublas on=mv_p cublas_kernel(?)\n"
       "primitive_jvp -::matvec on=mv_p None lambda(1/1*)\n"
       "primitive_transpose -::matvec on=mv_p rule(?)\n"
       "primitive_use -::matvec on=mv_p\n");
}

TEST_CASE("functions with derivatives or a compiler of their own are found") {
  CHECK(listed(R"(
import jax, numba, triton, functools
@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def f(n, x): ...
f.defvjp(forward, lambda n, r, g: g)
@triton.jit
def kernel(a, b, n): ...
@numba.njit(fastmath=True)
def loop(a): ...
@jax.jit
def other(a): ...
)") == "custom_derivative -::f f(2/2)\n"
       "derivative_rules -::f on=f forward(?) lambda(3/3)\n"
       "triton_kernel -::kernel kernel(3/3)\n"
       "numba_kernel -::loop loop(1/1)\n");
}

TEST_CASE("what an argument is follows from literals, constants and loops over literals") {
  const std::string head = "import torch\nlib = torch.library.Library('ns', 'FRAGMENT')\n";
  const auto names = [&](const std::string& text) {
    std::string line;
    for (const PythonRegistration& one : read(head + text)) {
      if (one.kind == PythonKind::torch_impl) {
        line += said(one.name) + "/" + said(one.key) + (one.expanded ? "+ " : " ");
      }
    }
    return line;
  };
  CHECK(names("P = 'a'\nlib.impl(P + '_b' f'{P}c', f, 'CPU')") == "a_bac/CPU ");
  CHECK(names("for n in ('a', 'b'):\n  for k in ['CPU', 'CUDA']:\n    lib.impl(n, f, k)") ==
        "a/CPU+ a/CUDA+ b/CPU+ b/CUDA+ ");
  CHECK(names("T = {'a': f, 'b': g}\nfor n, h in T.items():\n  lib.impl(n, h, 'CPU')") ==
        "a/CPU+ b/CPU+ ");
  CHECK(names("for n in found():\n  lib.impl(n, f, 'CPU')") == "?/CPU ");
  CHECK(names("def r(n):\n  lib.impl(n, f, 'CPU')") == "?/CPU ");
  CHECK(names("n = 'a'\nn = 'b'\nlib.impl(n, f, 'CPU')") == "?/CPU ");
  CHECK(names("lib.impl(f'{n:>3}', f, 'CPU')") == "?/CPU ");
  CHECK(names("n = n + n\nlib.impl(n, f, 'CPU')") == "?/CPU ");
}

TEST_CASE("conditions and functions around a registration are kept, from the outside in") {
  const std::vector<PythonRegistration> found = read(R"py(
import torch
if torch.cuda.is_available():
    pass
elif mps:
    class C:
        def m(self):
            try:
                pass
            except ImportError:
                torch.library.define("ns::f", "() -> ()")
else:
    torch.library.define("ns::g", "() -> ()")
)py");
  REQUIRE(found.size() == 2);
  std::string text;
  for (const std::string& condition : found[0].conditions) text += condition + ";";
  CHECK(text == "not (torch.cuda.is_available());mps;except ImportError;");
  CHECK(found[0].within == "C.m");
  text.clear();
  for (const std::string& condition : found[1].conditions) text += condition + ";";
  CHECK(text == "not (torch.cuda.is_available());not (mps);");
}

TEST_CASE("places are those of the text") {
  const std::string text = "import torch\ntorch.library.define('ns::f', '() -> ()')\n";
  const PythonRegistration one = read(text).at(0);
  CHECK(text.substr(one.place.offset, one.place.length) ==
        "torch.library.define('ns::f', '() -> ()')");
  CHECK(text.substr(one.name.place.offset, one.name.place.length) == "'ns::f'");
}

TEST_CASE("a file without the words of any registration is told without parsing") {
  CHECK_FALSE(may_hold_registrations("import os\nprint(os.name)\n"));
  CHECK(may_hold_registrations("x = torch.ops.ns.f\n"));
}

TEST_CASE("a return that the grammar doesn't know loses nothing") {
  const auto problems = [](const std::string& line) {
    return find_python_registrations("import torch.library\ndef backward(ctx, g):\n    " + line +
                                     "\nprint(1)\n")
        .problems.size();
  };
  CHECK(problems("return g, *((None,) * 3)") == 0);
  CHECK(problems("return a, b, None, *((None,) * 3), c, *((None,) * 4)") == 0);
  CHECK(problems("return torch.library.custom_op('a::b'), *((None,) * 3)") == 1);
  CHECK(problems("x = = 3") == 1);
}

TEST_CASE("text that is not Python gives a problem, and what is understood around it") {
  const PythonRegistrations found = find_python_registrations(
      "import torch\ntorch.library.define('ns::f', '() -> ()')\nx = = (\n");
  CHECK(found.registrations.size() == 1);
  CHECK(found.problems.size() == 1);
}

TEST_CASE("hostile Python ends, without a crash and within bounds") {
  const auto survives = [](const std::string& text) {
    try {
      find_python_registrations(text);
    } catch (const InputError&) {
    }
    return true;
  };
  const auto repeated = [](std::string_view part, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += part;
    return text;
  };
  CHECK(survives("x = " + repeated("(", 20000) + repeated(")", 20000)));
  CHECK(survives("x = " + repeated("f(", 20000)));
  CHECK(survives("torch.ops.a.b" + repeated("(torch.ops.a.b", 5000)));
  CHECK(survives("ffi_call('x'" + repeated(", ffi_call('x'", 5000)));
  CHECK(survives("x = " + repeated("lambda: ", 5000) + "ffi_call('x')"));
  CHECK(survives("import torch\n" + std::string(1000, '\0') + "\xff\xfe torch.ops.a.b"));
  CHECK(survives("if x:\n  a\n" + repeated("elif y:\n  torch.ops.a.b(c)\n", 3000)));
  // Doubled 60 times, the text would have no room anywhere.
  std::string doubled = "import torch\na0 = 'xxxxxxxx'\n";
  for (int i = 1; i < 60; ++i) {
    const std::string before = "a" + std::to_string(i - 1);
    doubled += "a" + std::to_string(i) + " = " + before + " + " + before + "\n";
  }
  CHECK(survives(doubled + "torch.library.define(a59, '')\n"));
  std::string loops = "import torch\n";
  for (int i = 0; i < 12; ++i) {
    loops += std::string(static_cast<std::size_t>(i), ' ') + "for n" + std::to_string(i) +
             " in ('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'):\n";
  }
  loops += std::string(12, ' ') + "torch.library.define(n0";
  for (int i = 1; i < 12; ++i) loops += " + n" + std::to_string(i);
  CHECK(read(loops + ", '')\n").size() == 1);
  CHECK_THROWS_AS(find_python_registrations(std::string(PythonRegistrations::max_bytes + 1, 'x')),
                  InputError);
  CHECK_THROWS_AS(find_python_registrations("x = 1 " + repeated("\\\n", 2000)), InputError);
}

TEST_CASE("Python that is cut off anywhere, or has a byte changed, is read to its end") {
  const std::string text =
      "import torch\nfrom jax.interpreters import ad\nlib = torch.library.Library('ns', 'DEF')\n"
      "for n in ('a', 'b'):\n  lib.impl(n, lambda x, *y: f\"{x}\", 'CPU')\n"
      "@torch.library.custom_op('ns::c', mutates_args=('x',))\n"
      "def c(x: Tensor, *, n: int = 1) -> None: ...\n"
      "ad.primitive_jvps[p] = partial(c, 1)\n";
  for (std::size_t end = 0; end <= text.size(); ++end) {
    find_python_registrations(std::string_view(text).substr(0, end));
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char c : {'(', '"', '\0', '\n', '\xff'}) {
      std::string changed = text;
      changed[at] = c;
      find_python_registrations(changed);
    }
  }
  CHECK(read(text).size() == 5);
}

}  // namespace opseal
