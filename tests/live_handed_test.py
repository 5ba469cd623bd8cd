#!/usr/bin/env python3
"""`opseal probe --import` against the handlers that a real jaxlib for the CPU hands out and doesn't export:
all are asked what they are, and those of LAPACK are called over their dtypes.

    tests/live_handed_test.py --opseal build/release/opseal --python venv/bin/python [--manifest FILE] [--report FILE]

Shapes and values of attributes are written down from what jax/_src/lax/linalg.py hands over; XLA's arrays
of matrices are column-major there, which no handler is told.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

DTYPES = {"s": "f32", "d": "f64", "c": "c64", "z": "c128"}
REAL_OF = {"f32": "f32", "f64": "f64", "c64": "f32", "c128": "f64"}
COMPLEX_OF = {"f32": "c64", "f64": "c128", "c64": "c64", "c128": "c128"}
MODULES = ["jaxlib.cpu._lapack", "jaxlib.cpu._sparse"]


def char(letter):
    return ("uint8", ord(letter))


def routines():
    """Name without the letter for the dtype, letters, arguments, results, attributes, variants. An operand is
    its kind (`x` the routine's dtype, `r` its real one, `w` its complex one, `i` int32) and its shape in the
    extents of a variant."""
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
    word = {"x": dtype, "r": REAL_OF[dtype], "w": COMPLEX_OF[dtype], "i": "i32"}[kind]
    return {"name": name, "dtypes": [word], "shape": batch + shape}


def operator(name, target, dtype, arguments, results, attributes, extents, batch):
    def operands(prefix, rows):
        return [
            operand(prefix + str(at), kind, [extents[letter] for letter in letters], dtype, batch)
            for at, (kind, letters) in enumerate(rows)
        ]

    inputs, outputs = operands("in", arguments), operands("out", results)
    dtypes = [each["dtypes"][0] for each in inputs + outputs]
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
                "signatures": [dtypes],
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
                for batch in ([], ["b"]):
                    names[target] += 1
                    name = letter + routine + "_" + str(names[target])
                    operators.append(
                        operator(
                            name,
                            target,
                            DTYPES[letter],
                            arguments,
                            results,
                            attributes,
                            extents,
                            batch,
                        )
                    )
    solve = "tridiagonal_solve_perturbed_ffi"
    targets.add(solve)
    for dtype in DTYPES.values():
        bands = [("x", "m"), ("x", "m"), ("x", "m"), ("x", "mn")]
        extents = {"m": "m", "n": "n"}
        name = "tridiagonal_solve_perturbed_" + dtype
        operators.append(operator(name, solve, dtype, bands, bands[3:], {}, extents, ["b"]))
    sparse = "cpu_csr_sparse_dense_ffi"
    targets.add(sparse)
    for dtype in ("f32", "f64", "c64", "c128", "i32", "i64"):
        # Of four rows, whose beginnings are all 0.
        rows = [("x", "z"), ("i", "s"), ("i", "z"), ("x", "cn")]
        extents = {"z": "z", "s": 5, "c": "c", "n": "n", "r": 4}
        REAL_OF.setdefault(dtype, dtype), COMPLEX_OF.setdefault(dtype, dtype)
        name = "csr_sparse_dense_" + dtype
        operators.append(operator(name, sparse, dtype, rows, [("x", "rn")], {}, extents, []))
    return {
        "opseal_manifest": 1,
        "system": "jax",
        "targets": [{"name": name, "platform": "cpu"} for name in sorted(targets)],
        "operators": operators,
    }


def run(opseal, python, path, modules, folder):
    report = os.path.join(folder, "report.json")
    command = [opseal, "probe", "--no-config", "--no-ignore", "-o", "json"]
    for module in modules:
        command += ["--import", module]
    command += ["--python", python] + ([path] if path else [])
    with open(report, "w", encoding="utf-8") as stream:
        code = subprocess.run(command, stdout=stream, check=False).returncode
    with open(report, encoding="utf-8") as stream:
        return code, json.load(stream)


def handler_of(identity):
    return identity.split("/")[0].split("#")[0]


def table(report):
    """For each handler its probes by kind and status, and reasons of what was not reached."""
    rows = defaultdict(Counter)
    reasons = defaultdict(set)
    for probe in report["probes"]:
        handler = handler_of(probe["identity"])
        rows[handler][probe["kind"] + " " + probe["status"]] += 1
        if probe["status"] in ("skipped", "no_answer"):
            reasons[handler].add(probe["kind"] + ": " + probe.get("reason", ""))
    return rows, reasons


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--opseal", default="build/release/opseal")
    parser.add_argument("--python", required=True)
    parser.add_argument("--manifest", help="write the manifest here, and end")
    parser.add_argument("--report", help="write the report here")
    arguments = parser.parse_args()
    if arguments.manifest:
        with open(arguments.manifest, "w", encoding="utf-8") as stream:
            json.dump(manifest(), stream)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lapack.json")
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(manifest(), stream)
        code, report = run(arguments.opseal, arguments.python, path, MODULES, folder)
    if arguments.report:
        with open(arguments.report, "w", encoding="utf-8") as stream:
            json.dump(report, stream)
    rows, reasons = table(report)
    for handler in sorted(rows):
        counts = ", ".join("%s %d" % each for each in sorted(rows[handler].items()))
        print(handler + ": " + counts)
        for reason in sorted(reasons[handler]):
            print("    " + reason)
    for finding in report["findings"]:
        print(finding["rule"], finding["subject"], finding["message"])
    return code


if __name__ == "__main__":
    sys.exit(main())
