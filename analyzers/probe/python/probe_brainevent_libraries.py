"""Checks of brainevent's way from C++ sources to registered targets. All of them compile."""

import os
import shutil

from _opseal_probe_rows import Skip, error_text, member, need_compiler, scratch

import jax
import jax.numpy as jnp

import brainevent

# Each function writes a number of its own.
SOURCE = """#include "brainevent/common.h"
static void fill(BE::Tensor to, float number) {
  for (int at = 0; at < to.numel(); ++at) static_cast<float*>(to.data_ptr())[at] = number;
}
void first(const BE::Tensor from, BE::Tensor to) { fill(to, %s); }
void second(const BE::Tensor from, BE::Tensor to) { fill(to, 202.0f); }
"""


def load(name, number, functions=("first",), include="", **more):
    need_compiler()
    source = include + SOURCE % number
    return member(brainevent, "load_cpp_inline")(name, source, list(functions), **more)


def number_of(target):
    shape = jax.ShapeDtypeStruct((4,), jnp.float32)
    call = jax.jit(lambda x: jax.ffi.ffi_call(target, shape)(x))
    return float(call(jnp.ones(4, jnp.float32))[0])


def register(target, module):
    if not hasattr(brainevent, "register_ffi_target"):
        from brainevent._op import kernix_runtime

        return member(kernix_runtime, "register_ffi_target")(target, module, "first", platform="cpu")
    return brainevent.register_ffi_target(target, module, "first", platform="cpu")


def cache_key_functions(rows):
    """The same source, once for one of its functions and once for both."""
    arity = ["arg", "ret"]
    need_compiler()
    source = SOURCE % "101.0f"
    brainevent.load_cpp_inline(
        "opseal_functions", source, {"first": arity}, target_prefix="opseal_fewer"
    )
    expected = "101.0 and 202.0"
    try:
        brainevent.load_cpp_inline(
            "opseal_functions",
            source,
            {"first": arity, "second": arity},
            target_prefix="opseal_more",
        )
        seen = "{} and {}".format(number_of("opseal_more.first"), number_of("opseal_more.second"))
    except Exception as error:
        seen = error_text(error)
    rows.judge("cache-key-functions", seen == expected, expected, seen)


def rebuild_same_target(rows):
    """A library is built anew at its path and registered again under the same target."""
    from brainevent._op import kernix_runtime

    open_library = member(kernix_runtime, "CompiledModule")
    other = load("opseal_other", "303.0f", auto_register=False)
    module = load("opseal_rebuilt", "101.0f", build_directory=scratch("build"), auto_register=False)
    register("opseal_rebuilt.first", module)
    before = number_of("opseal_rebuilt.first")
    fresh = module.path + ".new"
    shutil.copy(other.path, fresh)
    os.replace(fresh, module.path)
    rebuilt = open_library(module.path, ["first"])
    expected = "an error, or 303.0"
    try:
        register("opseal_rebuilt.first", rebuilt)
    except Exception as error:
        rows.judge("rebuild-same-target", True, expected, error_text(error))
        return
    after = number_of("opseal_rebuilt.first")
    rows.judge("rebuild-same-target", after == 303.0 and before == 101.0, expected,
               "accepted, and the call still gives {}".format(after) if after == before
               else "accepted, and the call gives {}".format(after))


def two_sources_one_target(rows):
    load("opseal_same", "101.0f", target_prefix="opseal_same")
    expected = "an error, or 303.0"
    try:
        load("opseal_same", "303.0f", target_prefix="opseal_same")
    except Exception as error:
        remedy = "names" if "target_prefix" in str(error) else "does not name"
        rows.judge("two-sources-one-target", True, expected,
                   "{}, which {} `target_prefix`".format(type(error).__name__, remedy))
        return
    after = number_of("opseal_same.first")
    rows.judge("two-sources-one-target", after == 303.0, expected, after)


def edited_header(rows, row, folder, **more):
    """Builds, edits a header that the source includes, and builds again."""
    include = '#include "opseal_number.h"\n'
    for target, number in (("opseal_before", "101.0f"), ("opseal_after", "303.0f")):
        with open(os.path.join(folder, "opseal_number.h"), "w") as header:
            header.write("#define OPSEAL_NUMBER {}\n".format(number))
        load("opseal_header", "OPSEAL_NUMBER", include=include, target_prefix=target, **more)
    before, after = number_of("opseal_before.first"), number_of("opseal_after.first")
    if before != 101.0:
        raise Skip("the first build gives {}, expected 101.0".format(before))
    rows.judge(row, after == 303.0, 303.0, after)


def cache_key_headers(rows):
    folder = scratch("headers")
    edited_header(rows, "cache-key-headers", folder, extra_include_paths=[folder])


def cache_key_environment(rows):
    folder = scratch("headers")
    others = os.environ.get("CPATH")
    os.environ["CPATH"] = folder + (os.pathsep + others if others else "")
    edited_header(rows, "cache-key-environment", folder)


CHECKS = {
    "cache-key-functions": cache_key_functions,
    "rebuild-same-target": rebuild_same_target,
    "two-sources-one-target": two_sources_one_target,
    "cache-key-headers": cache_key_headers,
    "cache-key-environment": cache_key_environment,
}
