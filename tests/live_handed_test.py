#!/usr/bin/env python3
"""`opseal probe --import` against the handlers that a real jaxlib for the CPU hands out and doesn't
export: all are asked what they are, and those of LAPACK are called over their dtypes.

usage: live_handed_test.py OPSEAL CACHE [--python PYTHON] [--manifest FILE] [NAME-VERSION ...]

Shapes and values of attributes are written down from what jax/_src/lax/linalg.py hands over; XLA's
arrays of matrices are column-major there, which no handler is told.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

import live_export_test
import live_support

CASE = "jax-0.10.2"
DTYPES = {"s": "f32", "d": "f64", "c": "c64", "z": "c128"}
REAL_OF = {"f32": "f32", "f64": "f64", "c64": "f32", "c128": "f64"}
COMPLEX_OF = {"f32": "c64", "f64": "c128", "c64": "c64", "c128": "c128"}
MODULES = ["jaxlib.cpu._lapack", "jaxlib.cpu._sparse", "host_targets"]
# Those that XLA itself brings are in a table of its own.
HOST_TARGETS = """
from jaxlib import xla_client


def registrations():
    return dict(xla_client.custom_call_targets("Host"))
"""
# Arguments whose buffer a result takes over, as lowering says it of each; others: the first one.
SHARED = {
    "geqp3": {0: 0, 1: 1},
    "ormqr": {2: 0},
    "unmqr": {2: 0},
    "trsm": {1: 0},
    "geev": {},
    "gtsv": {0: 0, 1: 1, 2: 2, 3: 3},
}


def char(letter):
    return ("uint8", ord(letter))


def routines():
    """Name without the letter for the dtype, letters, arguments, results, attributes, variants. An
    operand is its kind (`x` the routine's dtype, `r` its real one, `w` its complex one, `i` int32)
    and its shape in the extents of a variant."""
    square = [{"m": "n", "n": "n", "k": "n"}]
    tall_and_wide = [{"m": 5, "n": 3, "k": 3}, {"m": 3, "n": 5, "k": 3}]
    every = "sdcz"
    matrix = ("x", "mn")
    yield "getrf", every, [matrix], [matrix, ("i", "k"), ("i", "")], {}, square + tall_and_wide
    yield "geqrf", every, [matrix], [matrix, ("x", "k")], {}, square + tall_and_wide
    yield (
        "geqp3",
        every,
        [matrix, ("i", "n")],
        [matrix, ("i", "n"), ("x", "k")],
        {},
        square + tall_and_wide,
    )
    for letters, name in (("sd", "orgqr"), ("cz", "ungqr")):
        # n <= m, k <= n
        yield name, letters, [matrix, ("x", "k")], [matrix], {}, square + tall_and_wide[:1]
    for letters, name in (("sd", "ormqr"), ("cz", "unmqr")):
        for left in (True, False):
            for transpose in (True, False):
                attributes = {"left": ("bool", left), "transpose": ("bool", transpose)}
                a = ("x", "mk" if left else "nk")
                variants = square + [{"m": 5, "n": 4, "k": 3}]
                yield name, letters, [a, ("x", "k"), matrix], [matrix], attributes, variants
    for uplo in "LU":
        yield "potrf", every, [matrix], [matrix, ("i", "")], {"uplo": char(uplo)}, square
        for side in "LR":
            for trans in "NTC":
                for diag in "NU":
                    attributes = {
                        "uplo": char(uplo),
                        "side": char(side),
                        "trans_x": char(trans),
                        "diag": char(diag),
                    }
                    a = ("x", "mm" if side == "L" else "nn")
                    variants = [{"m": "m", "n": "n"}]
                    yield "trsm", every, [a, matrix], [matrix], attributes, variants
    for name in ("gesdd", "gesvd"):
        full = [matrix, ("r", "k"), ("x", "mm"), ("x", "nn"), ("i", "")]
        thin = [matrix, ("r", "k"), ("x", "mk"), ("x", "kn"), ("i", "")]
        yield name, every, [matrix], full, {"mode": char("A")}, square + tall_and_wide
        yield name, every, [matrix], thin, {"mode": char("S")}, tall_and_wide
    for letters, name in (("sd", "syevd"), ("cz", "heevd")):
        for uplo in "LU":
            attributes = {"mode": char("V"), "uplo": char(uplo)}
            results = [matrix, ("r", "n"), ("i", "")]
            yield name, letters, [matrix], results, attributes, square
    modes = {"compute_left": char("V"), "compute_right": char("V")}
    vectors = [("w", "nn"), ("w", "nn"), ("i", "")]
    yield "geev", "sd", [matrix], [("x", "n"), ("x", "n")] + vectors, modes, square
    yield "geev", "cz", [matrix], [("x", "n")] + vectors, modes, square
    for letters, name in (("sd", "sytrd"), ("cz", "hetrd")):
        for uplo in "LU":
            results = [matrix, ("r", "n"), ("r", "j"), ("x", "j"), ("i", "")]
            variants = [{"m": 5, "n": 5, "j": 4}, {"m": 1, "n": 1, "j": 0}]
            yield name, letters, [matrix], results, {"uplo": char(uplo)}, variants
    schur = {"mode": char("V"), "sort": char("N")}
    values = [matrix, matrix, ("x", "n"), ("x", "n"), ("i", ""), ("i", "")]
    yield "gees", "sd", [matrix], values, schur, square
    yield "gees", "cz", [matrix], values[:3] + values[4:], schur, square
    bounds = {"low": ("int32", 1), "high": ("int32", 5)}
    reduction = [matrix, ("x", "j"), ("i", "")]
    yield "gehrd", every, [matrix], reduction, bounds, [{"m": 5, "n": 5, "j": 4}]
    bands = [("x", "m"), ("x", "m"), ("x", "m"), matrix]
    yield "gtsv", every, bands, bands + [("i", "")], {}, [{"m": "m", "n": "n"}]


def operand(name, kind, shape, dtype, batch):
    word = {
        "x": dtype,
        "r": REAL_OF.get(dtype),
        "w": COMPLEX_OF.get(dtype),
        "i": "i32",
    }[kind]
    return {"name": name, "dtypes": [word], "shape": batch + shape}


def operator(name, target, dtypes, arguments, results, attributes, extents, batch, shared=None):
    def operands(prefix, rows, dtype):
        return [
            operand(prefix + str(at), kind, [extents[letter] for letter in letters], dtype, batch)
            for at, (kind, letters) in enumerate(rows)
        ]

    signatures = []
    for dtype in reversed(dtypes):
        inputs = operands("in", arguments, dtype)
        outputs = operands("out", results, dtype)
        signatures.append([each["dtypes"][0] for each in inputs + outputs])
    for at, each in enumerate(inputs + outputs):
        each["dtypes"] = sorted({signature[at] for signature in signatures})
    for argument, result in (shared or {}).items():
        inputs[argument]["alias"] = outputs[result]["alias"] = "buffer" + str(result)
    return {
        "name": name,
        "inputs": inputs,
        "outputs": outputs,
        "attributes": [
            {"name": key, "type": type_, "value": value}
            for key, (type_, value) in attributes.items()
        ],
        "kernels": [
            {
                "platform": "cpu",
                "target": target,
                "signatures": signatures,
                "precision": {"bit_stable": True},
            }
        ],
    }


def manifest():
    operators = []
    targets = set()
    names = Counter()
    for routine, letters, arguments, results, attributes, variants in routines():
        for letter in letters:
            target = "lapack_" + letter + routine + "_ffi"
            targets.add(target)
            for extents in variants:
                # Alone with buffers of their own, in a batch in place.
                shared = SHARED.get(routine, {0: 0})
                for batch in ([], ["b"]) if names[target] == 0 else (["b"],):
                    names[target] += 1
                    name = letter + routine + "_" + str(names[target])
                    what = [arguments, results, attributes, extents, batch]
                    if batch:
                        what.append(shared)
                    operators.append(operator(name, target, [DTYPES[letter]], *what))
    solve = "tridiagonal_solve_perturbed_ffi"
    targets.add(solve)
    bands = [("x", "m"), ("x", "m"), ("x", "m"), ("x", "mn")]
    what = [bands, bands[3:], {}, {"m": "m", "n": "n"}, ["b"]]
    dtypes = list(DTYPES.values())
    operators.append(operator("tridiagonal_solve_perturbed", solve, dtypes, *what))
    sparse = "cpu_csr_sparse_dense_ffi"
    targets.add(sparse)
    # Of four rows: which numbers their beginnings may be, no manifest says.
    rows = [("x", "z"), ("i", "s"), ("i", "z"), ("x", "cn")]
    what = [rows, [("x", "rn")], {}, {"z": "z", "s": 5, "c": "c", "n": "n", "r": 4}, []]
    operators.append(operator("csr_sparse_dense", sparse, ["f32", "f64"], *what))
    targets.add("dce_sink")
    dtypes = ["bool", "i8", "u8", "i32", "i64", "f16", "bf16", "f32", "f64", "c64"]
    sink = operator("dce_sink", "dce_sink", dtypes, [("x", "n")], [], {}, {"n": "n"}, [])
    operators.append(sink)
    return {
        "opseal_manifest": 1,
        "system": "jax",
        "targets": [{"name": name, "platform": "cpu"} for name in sorted(targets)],
        "operators": operators,
    }


# What is wrong with jaxlib 0.10.2 without right-hand sides: the real ones of LAPACK's solver for
# three bands write the first all the same, and jaxlib's own reads the largest element of an empty
# row where a pivot is too small. The latter ends JAX, too (`jax.ffi.ffi_call` with side effects).
KNOWN = {
    ("probe-out-of-bounds", "lapack_sgtsv_ffi"),
    ("probe-out-of-bounds", "lapack_dgtsv_ffi"),
    ("probe-crash", "tridiagonal_solve_perturbed_ffi"),
}
NOT_CALLED = {
    "_sparse.so:cpu_csr_sparse_dense_ffi": (
        "nobody says which number `in1` may be: integers of a fixed number"
    )
}
# They call what Python registered under a number.
NOT_CALLED.update(
    ("libjax_common.so:" + name, "no manifest says which operator it serves, and with which shapes")
    for name in (
        "xla_buffer_python_cpu_callback",
        "xla_ffi_python_cpu_callback",
        "xla_ffi_partitioned_python_cpu_callback",
    )
)
HANDLERS = 66


def table(report):
    """For each handler its probes by kind and status, and why it was not reached."""
    rows = defaultdict(Counter)
    reasons = defaultdict(set)
    for probe in report["probes"]:
        handler = probe["identity"].split("/")[0].split("#")[0]
        rows[handler][probe["kind"] + " " + probe["status"]] += 1
        if probe["status"] in ("skipped", "no_answer"):
            reasons[handler].add(probe.get("reason", ""))
    return rows, reasons


def refused(report):
    """Of declared calls: nothing is refused but matrices without rows or columns, for which jaxlib
    asks for a negative amount of memory."""
    for probe in report["probes"]:
        if probe["status"] == "refused" and probe.get("declared"):
            empty = any(0 in each["shape"] for each in probe["arguments"])
            if not empty or probe["reason"] != "throws: std::bad_alloc":
                yield probe["identity"] + ": " + probe["reason"]


def check(results, opseal, python, folder):
    path = folder / "lapack.json"
    path.write_text(json.dumps(manifest()), encoding="utf-8")
    (folder / "host_targets.py").write_text(HOST_TARGETS, encoding="utf-8")
    environment = dict(os.environ, PYTHONPATH=str(folder))
    command = [opseal, "probe", "--no-config", "-o", "json", "--python", python]
    for module in MODULES:
        command += ["--import", module]
    done = subprocess.run(
        command + [str(path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    try:
        report = json.loads(done.stdout)
    except ValueError:
        results.add("failed", "report", done.stderr[-2000:])
        return
    rows, reasons = table(report)
    results.compare("handlers", len(rows), HANDLERS)
    results.compare("problems", report["problems"], [])
    for handler in sorted(rows):
        told = all(rows[handler][kind + " passed"] == 1 for kind in ("metadata", "signature"))
        results.require(handler + " tells what it is", told, str(rows[handler]))
        called = rows[handler]["call passed"] > 0 and rows[handler]["threads passed"] > 0
        if handler in NOT_CALLED:
            name = handler + " is not called"
            results.compare(name, list(reasons[handler]), [NOT_CALLED[handler]])
        else:
            counts = ", ".join("%s %d" % each for each in sorted(rows[handler].items()))
            results.require(handler + " is called", called, counts)
            print("    " + counts)
    results.compare("refused although declared", list(refused(report)), [])
    found = {(each["rule"], each["message"].split("`")[1]) for each in report["findings"]}
    results.compare("findings", sorted(found), sorted(KNOWN))
    print("{} probes".format(len(report["probes"])))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("opseal")
    parser.add_argument("cache", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable, help="makes the environment")
    parser.add_argument("--manifest", help="write the manifest here, too")
    parser.add_argument("only", nargs="*", metavar="NAME-VERSION")
    arguments = parser.parse_args()
    if arguments.manifest:
        pathlib.Path(arguments.manifest).write_text(json.dumps(manifest()), encoding="utf-8")
    if arguments.only and CASE not in arguments.only:
        return 0
    opseal = str(pathlib.Path(arguments.opseal).absolute())
    results = live_support.Results()
    case = {case.name: case for case in live_export_test.CASES}[CASE]
    try:
        python = live_support.environment(arguments.cache.absolute(), case, arguments.python)
    except live_support.Skip as reason:
        results.add("skipped", case.name, str(reason))
    else:
        with tempfile.TemporaryDirectory() as folder:
            check(results, opseal, str(python), pathlib.Path(folder))
    counts = [results.counts[outcome] for outcome in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if results.counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
