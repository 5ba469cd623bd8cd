"""Exports from real packages, pinned, against figures that were counted by hand.

Usage and needs: see live_support.py.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

import live_support
from live_support import Case, count, run

JAX = {"jax": "0.10.2", "jaxlib": "0.10.2"}


def with_jax(**pins):
    return {**pins, **JAX}


def case(exporter, pins, figures, findings, trace=False):
    return Case(
        exporter,
        "{}-{}".format(exporter, pins[exporter]),
        pins,
        figures,
        findings,
        arguments=["--trace"] if trace else [],
    )


BRAINEVENT_KERNELS = {
    "cpu numba": 50,
    "cpu jax_raw": 25,
    "gpu cuda_raw": 50,
    "gpu jax_raw": 25,
    "gpu cusparse": 2,
    "tpu jax_raw": 25,
    "tpu pallas": 2,
}


def brainevent_figures(kernels, slots, empty_slots, stubs):
    return {
        "operators": 51,
        "registrations": 51,
        "kernels": kernels,
        "jvp": {"per_input": 31, "none": 20},
        "jvp slots": slots,
        "jvp functions": 65,
        "jvp empty slots": empty_slots,
        "transposes": 29,
        "batching": {"custom": 36, "general": 15},
        "inputs by": {"traced": 17, "calls": 34},
        "stubs": stubs,
        "targets": 0,
        "caches": 1,
    }


def braintrace_figures(operators, batching, spelling, package, **more):
    figures = {
        "operators": operators,
        "kernels": {"any mlir": operators},
        "jvp": {"custom": operators},
        "transposes": 0,
        "batching": batching,
        "targets": 0,
        "etp spelling": {spelling: operators},
        "etp complete rules": operators,
        "etp package": {package: operators},
    }
    figures.update(more)
    return figures


CASES = (
    case(
        "brainevent",
        with_jax(brainevent="0.1.2", numba="0.68.1"),
        brainevent_figures(BRAINEVENT_KERNELS, 142, 77, {}),
        {
            "error": {"jvp-arity": 1, "cache-key-incomplete": 1},
            "warning": {
                "jvp-without-transpose": 2,
                "cache-key-schema": 1,
                "cache-key-unseparated": 1,
                "cache-key-env": 1,
                "cache-temp-collision": 1,
                "cache-prefix-bleed": 1,
            },
        },
        trace=True,
    ),
    case(
        "brainevent",
        with_jax(brainevent="0.2.1", numba="0.68.1"),
        brainevent_figures({**BRAINEVENT_KERNELS, "gpu cublas": 2}, 141, 76, {"tpu": 26}),
        {
            "warning": {
                "jvp-without-transpose": 2,
                "cache-key-unseparated": 1,
                "cache-key-env": 1,
            }
        },
        trace=True,
    ),
    case(
        "braintrace",
        with_jax(braintrace="0.2.0", brainevent="0.2.1"),
        braintrace_figures(8, {"custom": 8}, "yw_to_w", "_etrace_op"),
        {"warning": {"etp-unbatched-no-counterpart": 3}},
    ),
    case(
        "braintrace",
        with_jax(braintrace="0.2.6", brainevent="0.2.1"),
        braintrace_figures(
            13,
            {"custom": 8, "counterpart": 5},
            "dt_to_t",
            "_op",
            **{
                "etp instant and solve": ["etp_conv", "etp_lora_mm", "etp_lora_mv"],
                "etp fast paths": ["etp_elemwise", "etp_gmm", "etp_gmv", "etp_mm", "etp_mv"],
                "etp representations": ["etp_emb", "etp_emb_v"],
            }
        ),
        {},
    ),
    case(
        "jax",
        dict(JAX),
        {
            "operators": 312,
            "kernels": {
                "any mlir": 272,
                "cuda mlir": 57,
                "rocm mlir": 49,
                "cpu mlir": 25,
                "oneapi mlir": 15,
                "tpu mlir": 14,
            },
            "jvp": {
                "per_input": 50,
                "per_input with result": 22,
                "linear": 42,
                "zero": 31,
                "custom": 78,
                "none": 89,
            },
            "transposes": 121,
            "batching": {"custom": 240, "none": 72},
            "inputs by": {"calls": 241, "none": 71},
            "targets": 62,
            "targets by library": {"jaxlib/cpu/_lapack.so": 61, "jaxlib/cpu/_sparse.so": 1},
        },
        {},
    ),
)


# ---- figures


def figures_of(manifest):
    operators = manifest["operators"]
    kernels = [kernel for operator in operators for kernel in operator.get("kernels", [])]
    rules = [rule for operator in operators for rule in (operator["jvp"] or {}).get("rules", [])]
    return {
        "operators": len(operators),
        "registrations": len(manifest.get("registrations", [])),
        "kernels": count("{platform} {backend}".format(**kernel) for kernel in kernels),
        "jvp": count(jvp_kind(operator["jvp"]) for operator in operators),
        "jvp slots": len(rules),
        "jvp functions": sum(rule is not None for rule in rules),
        "jvp empty slots": sum(rule is None for rule in rules),
        "transposes": sum(operator["transpose"] is not None for operator in operators),
        "batching": count(
            (operator["batching"] or {}).get("kind", "none") for operator in operators
        ),
        "inputs by": count(operator.get("arity_source", "none") for operator in operators),
        "stubs": count(
            each for operator in operators for each in operator.get("stub_platforms", [])
        ),
        "targets": len(manifest["targets"]),
        "targets by library": count(target.get("library") for target in manifest["targets"]),
        "caches": len(manifest["caches"]),
        **trace_figures([operator for operator in operators if "etp" in operator]),
    }


def trace_figures(operators):
    def having(*words):
        return sorted(
            operator["name"] for operator in operators if all(operator["etp"].get(w) for w in words)
        )

    rules = [operator["etp"]["rules"] for operator in operators]
    return {
        "etp spelling": count(operator["etp"]["spelling"] for operator in operators),
        "etp complete rules": sum(len(each) == 4 and all(each.values()) for each in rules),
        "etp package": count(operator["location"]["file"].split("/")[1] for operator in operators),
        "etp instant and solve": having("instant", "solve"),
        "etp fast paths": having("fast_path"),
        "etp representations": having("x_representation"),
    }


def jvp_kind(jvp):
    if jvp is None:
        return "none"
    return jvp["kind"] + (" with result" if jvp.get("leading") == 2 else "")


# ---- recorded manifests


def say_required(value):
    for member in value.values() if isinstance(value, dict) else value:
        if isinstance(member, (dict, list)):
            say_required(member)
    if isinstance(value, dict) and "positional" in value:
        value.setdefault("required", value["positional"])


def comparable(manifest):
    """Without what may differ: who exported and what devices he saw, and six things that older
    recordings say otherwise.

    They counted 0 inputs for an implementation that takes `*args`, gave an empty list for ways that
    counted nothing, did not see that a tangent reaches `reshard` through a loop variable, left out
    `required` where it equals `positional`, had the registrations in the order of their files, not
    in that of the imports, and did not say how a cache finds its entries.
    """
    say_required(manifest)
    manifest.pop("devices", None)
    for cache in manifest.get("caches", []):
        cache.pop("match", None)
    if "registrations" in manifest:
        manifest["registrations"].sort(key=lambda entry: json.dumps(entry, sort_keys=True))
    for key in ("name", "version", "python"):
        manifest["producer"].pop(key, None)
    for operator in manifest["operators"]:
        if (operator.get("etp") or {}).get("implementation", {}).get("variadic"):
            operator["arity"].pop("rule", None)
        operator["arity"] = {way: counts for way, counts in operator["arity"].items() if counts}
        jvp = operator["jvp"] or {}
        jvp["tangent_operators"] = [
            reached and [name for name in reached if name != "reshard"]
            for reached in jvp.get("tangent_operators", [])
        ]
    return manifest


# ---- failures


def check_missing(results, opseal, maker, folder):
    subprocess.run([maker, "-m", "venv", "--without-pip", str(folder / "empty")], check=True)
    python = str(folder / "empty" / "bin" / "python")
    done = run([opseal, "export", "brainevent", "--python", python])
    results.compare("a missing package: exit code", done.returncode, 2)
    expected = "`brainevent` is not installed for `{}`".format(python)
    results.require("a missing package: message", expected in done.stderr, done.stderr)


HANGING_PACKAGE = """
import os, time
with open(os.environ["OPSEAL_TEST_PROCESS_FILE"], "w") as stream:
    stream.write(str(os.getpid()))
time.sleep(600)
"""


def check_hanging(results, opseal, maker, folder):
    package = folder / "hanging" / "brainevent"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(HANGING_PACKAGE)
    process_file = folder / "process"
    places = {"PYTHONPATH": str(package.parent), "OPSEAL_TEST_PROCESS_FILE": str(process_file)}
    start = time.monotonic()
    done = run(
        [opseal, "export", "brainevent", "--python", maker, "--time-limit", "5"],
        env={**os.environ, **places},
    )
    seconds = time.monotonic() - start
    results.require("a hanging package: fails", done.returncode != 0, "exit 0")
    results.require("a hanging package: in time", 5 <= seconds < 30, "{:.1f} s".format(seconds))
    results.require("a hanging package: message", "after 5 s" in done.stderr, done.stderr)
    results.require("a hanging package: is gone", is_gone(process_file), "still running")


def is_gone(process_file):
    """Needs: a file with the number of a process. Where init does not reap, a zombie remains."""
    status = pathlib.Path("/proc", process_file.read_text(), "stat")
    try:
        return status.read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


if __name__ == "__main__":
    sys.exit(
        live_support.main(
            __doc__.splitlines()[0], CASES, figures_of, comparable, [check_missing, check_hanging]
        )
    )
