"""One grid of dtypes and extents through a handler: by `opseal probe`, and by JAX from Python.

usage: probe_against_jax.py OPSEAL PYTHON [KERNELS]

PYTHON has jax and jaxlib, whose headers the handlers are built against. KERNELS (default 20)
handlers take any buffer and serve f32 and f64; each is called with both, in five sizes, and refuses
eight other dtypes, in one. JAX is timed twice: with its import, as opseal is timed with its start,
and without.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

HANDLER = r"""
static ffi::Error body%(n)d(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y) {
  if (x.element_type() != ffi::DataType::F32 && x.element_type() != ffi::DataType::F64) {
    return ffi::Error::InvalidArgument("only F32 and F64");
  }
  for (size_t at = 0; at < x.size_bytes(); ++at) {
    static_cast<char*>(y->untyped_data())[at] = static_cast<char*>(x.untyped_data())[at];
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Copy%(n)d, body%(n)d, ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>());
"""

JAX = r"""
import ctypes, sys, time
start = time.perf_counter()
import jax
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
imported = time.perf_counter()
library = ctypes.cdll.LoadLibrary(sys.argv[1])
calls = 0
for n in range(int(sys.argv[2])):
    jax.ffi.register_ffi_target("copy%d" % n, jax.ffi.pycapsule(getattr(library, "Copy%d" % n)), platform="cpu")
    for dtype in ("float32", "float64", "bool", "int8", "uint8", "int32", "int64", "float16", "bfloat16", "complex64"):
        for size in (3, 0, 1, 16, 1031) if dtype in ("float32", "float64") else (3,):
            x = jnp.ones((size,), dtype)
            try:
                jax.block_until_ready(jax.ffi.ffi_call("copy%d" % n, jax.ShapeDtypeStruct(x.shape, x.dtype))(x))
            except Exception:
                pass
            calls += 1
end = time.perf_counter()
print(calls, end - start, end - imported)
"""


def output(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    opseal, python = sys.argv[1:3]
    kernels = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    include = output([python, "-c", "import jax.ffi; print(jax.ffi.include_dir())"]).strip()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = '#include "xla/ffi/api/ffi.h"\nnamespace ffi = xla::ffi;\n'
        source += "".join(HANDLER % {"n": n} for n in range(kernels))
        (folder / "copy.cpp").write_text(source)
        library = folder / "libcopy.so"
        command = ["c++", "-std=c++17", "-O2", "-DNDEBUG", "-w", "-fPIC", "-shared", "-I" + include]
        subprocess.run(command + [str(folder / "copy.cpp"), "-o", str(library)], check=True)
        operand = {"dtypes": ["f32", "f64"], "shape": ["n"]}
        operators = [
            {
                "name": "copy%d" % n,
                "inputs": [operand],
                "outputs": [operand],
                "kernels": [{"platform": "cpu", "symbol": "Copy%d" % n, "library": library.name}],
            }
            for n in range(kernels)
        ]
        manifest = {"opseal_manifest": 1, "system": "engine", "operators": operators}
        (folder / "copy.json").write_text(json.dumps(manifest))
        # All probes, and then the calls alone, which are what JAX is asked for.
        for only in ("*", "*/call/*"):
            best = None
            for _ in range(3):
                command = [opseal, "probe", "--no-config", "-o", "json", "--only", only]
                start = time.perf_counter()
                done = subprocess.run(
                    command + [str(folder / "copy.json")], capture_output=True, text=True
                )
                seconds = time.perf_counter() - start
                best = min(seconds, best or seconds)
            probes = json.loads(done.stdout)["probes"]
            calls = [probe for probe in probes if probe["kind"] == "call"]
            rate = len(probes) / best
            text = "opseal: {} probes, {} of them calls, {:.3f} s, {:.0f} probes a second"
            print(text.format(len(probes), len(calls), best, rate))
        count, whole, inner = output([python, "-c", JAX, str(library), str(kernels)]).split()
        print("jax: {} calls, {} s with its import, {} s without".format(count, whole, inner))
        text = "opseal is {:.0f} times faster end to end, {:.0f} times without the import"
        print(text.format(float(whole) / best, float(inner) / best))


if __name__ == "__main__":
    sys.exit(main())
