"""What `opseal probe --framework` says of real releases, row by row.

usage: live_frameworks_test.py OPSEAL CACHE [--python PYTHON] [NAME-VERSION ...]

CACHE holds one virtual environment per package and version, as for live_export_test.py. Needs a C++
compiler and some minutes, but no GPU. Prints the seconds of each row.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import live_export_test
import live_support
import live_torch_test

PASSED, DIFFERS, SKIPPED = "passed", "differs", "skipped"
# The rows of brainevent, with the status in 0.1.2 and in 0.2.1, and a part of what is seen in each.
BRAINEVENT = {
    "backend-switch": (DIFFERS, "101.0", PASSED, "202.0"),
    "backend-switch-global": (
        DIFFERS,
        "[[101.0, 101.0], [101.0, 101.0], [101.0, 101.0]]",
        PASSED,
        "[[101.0, 101.0], [202.0, 202.0], [101.0, 101.0]]",
    ),
    "backend-per-call": (PASSED, "202.0", PASSED, "202.0"),
    "backend-warmcache": (DIFFERS, "101.0", PASSED, "202.0"),
    "jvp-missing-rule": (DIFFERS, "the tangent 2.0", PASSED, "ValueError"),
    "batch": (PASSED, "as separate calls", PASSED, "as separate calls"),
    "batch-nested": (PASSED, "as separate calls", PASSED, "as separate calls"),
    "batch-cuda": (SKIPPED, "", SKIPPED, ""),
    "zero-size-cuda": (SKIPPED, "", SKIPPED, ""),
    "error-no-kernel": (
        DIFFERS,
        "NotImplementedError: MLIR translation rule",
        PASSED,
        "KernelFallbackExhaustedError",
    ),
    "error-generator-fails": (DIFFERS, "KeyError", PASSED, "KernelCompilationError"),
    "name-registered-twice": (DIFFERS, "in silence", PASSED, "already registered"),
    "name-stability": (DIFFERS, "brainevent_numba_ffi_1", PASSED, "brainevent_numba_ffi_"),
    "callback-ownership": (DIFFERS, "collected", PASSED, "kept"),
    "targets-per-shape": (DIFFERS, "10 targets", PASSED, "1 target"),
    "dtype-codes": (DIFFERS, "99 (no type of XLA) is float32", PASSED, "ValueError"),
    "rebuild-same-target": (
        DIFFERS,
        "accepted, and the call still gives 101.0",
        PASSED,
        "KernelRegistrationError",
    ),
    "two-sources-one-target": (PASSED, "does not name", PASSED, "which names"),
    "cache-key-functions": (DIFFERS, "Symbol 'be_second' not found", PASSED, "101.0 and 202.0"),
    "cache-key-headers": (DIFFERS, "101.0", PASSED, "303.0"),
    "cache-key-environment": (DIFFERS, "101.0", DIFFERS, "101.0"),
    "cache-key-separation": (DIFFERS, "one key", DIFFERS, "one key"),
    "cache-temp-name": (DIFFERS, "one name for both", PASSED, "names of their own"),
    "cache-prefix": (DIFFERS, "nothing", PASSED, "add_fast"),
}
JAX = {
    "rebuild-same-target": (PASSED, "Duplicate FFI handler registration"),
    "error-no-target": (PASSED, "No FFI handler registered for opseal_absent"),
    "batch": (PASSED, "as separate calls"),
    "batch-nested": (PASSED, "as separate calls"),
}
TORCH = {
    "rebuild-same-target": (PASSED, "303.0"),
    "backend-warmcache": (PASSED, "303.0"),
    "error-no-kernel": (PASSED, "opseal_probe::elsewhere"),
    "batch": (PASSED, "as separate calls"),
    "batch-nested": (PASSED, "as separate calls"),
}
# Rules of braintrace: primitive, call and trainable input. Those of sparse matrices need numba.
ETP = [
    "etp_conv/etp/weight",
    "etp_elemwise/etp/weight",
    "etp_lora_mm/etp/lora_a",
    "etp_lora_mm/etp/lora_b",
    "etp_lora_mv/etp/lora_a",
    "etp_lora_mv/etp/lora_b",
    "etp_mm/etp/weight",
    "etp_mm/etp/with-bias/bias",
    "etp_mm/etp/with-bias/weight",
    "etp_mv/etp/weight",
    "etp_mv/etp/with-bias/bias",
    "etp_mv/etp/with-bias/weight",
]
ETP_SPARSE = ["etp_sp_mm/etp", "etp_sp_mv/etp"]
ETP_SINCE = [
    "etp_einsum/etp/weight",
    "etp_emb/etp/weight",
    "etp_emb_v/etp/weight",
    "etp_gmm/etp/weight",
    "etp_gmv/etp/weight",
]


def etp_rows(passed):
    rows = {name: (PASSED, "the same") for name in passed}
    rows.update({name: (SKIPPED, "") for name in ETP_SPARSE})
    return rows


# Environment: its rows, its findings.
CASES = {
    "brainevent-0.1.2": (
        {name: row[:2] for name, row in BRAINEVENT.items()},
        {
            "backend-switch-ineffective": 2,
            "backend-warmcache": 1,
            "error-context-empty": 2,
            "key-ignores-shape-leak": 1,
            "probe-framework": 11,
            "rebuild-stale-dispatch": 1,
        },
    ),
    "brainevent-0.2.1": (
        {name: row[2:] for name, row in BRAINEVENT.items()},
        {"probe-framework": 2},
    ),
    "jax-0.10.2": (JAX, {}),
    "torch-2.15.0": (TORCH, {}),
    "braintrace-0.2.0": (etp_rows(ETP), {}),
    "braintrace-0.2.6": (etp_rows(ETP + ETP_SINCE), {}),
}
# Operators of framework_operators/lying_*.py: which rule tells of which, and nothing of others.
LIES = {
    "jax-0.10.2": {
        "opseal_loses_rule": {"jvp-numeric"},
        "opseal_wrong_rule": {"jvp-numeric"},
        "opseal_wrong_transpose": {"transpose-numeric"},
        "opseal_mixes_rows": {"batch-mismatch"},
        "opseal_wrong_promise": {"fake-shape-mismatch"},
        "lying_jax::wrong_backward": {"transpose-numeric"},
        "lying_jax::singles_only": {"dtype-lies"},
        "opseal_half_batched": {"batch-mismatch"},
        "lying_jax::loses_tangent": {"jvp-numeric"},
        "lying_jax::rule_with_a_slip": {"jvp-numeric"},
        "lying_jax::counts": {"probe-signature"},
    },
    "torch-2.15.0": {
        "opseal_lies::wrong_gradient": {"transpose-numeric"},
        "opseal_lies::wrong_fake": {"fake-shape-mismatch"},
        "opseal_lies::writes": {"mutation-unmarked"},
        "opseal_lies::singles_only": {"dtype-lies"},
        "opseal_lies::mixes_rows": {"batch-mismatch"},
        "opseal_lies::shares": {"returns-alias"},
        "opseal_lies::forgets_": {"probe-inplace-lost"},
        "opseal_lies::by_address": {"layout-stride-unread"},
        "opseal_lies::gives_one_gradient": {"transpose-numeric"},
        "opseal_lies::fake_with_a_slip": {"fake-shape-mismatch"},
        "opseal_lies::joins_and_slips": {"transpose-numeric"},
        "opseal_lies::leaves_tail": {"probe-unwritten"},
        "opseal_lies::adds_to_nothing": {"probe-unwritten"},
        "opseal_lies::in_single": {"probe-narrow"},
        "opseal_lies::gives_integers": {"probe-signature"},
    },
    "braintrace-0.2.6": {
        "lies_transposed": {"etp-xydw-numeric"},
        "lies_factor": {"etp-xydw-numeric"},
    },
}
# What has to pass of an honest operator.
HONEST = {
    "jax-0.10.2": ("opseal_honest", {"declared-dtype", "fake", "jvp", "transpose", "narrow", "batch"}),
    "torch-2.15.0": (
        "opseal_lies::honest",
        {"declared-dtype", "mutation", "alias", "fake", "overwritten", "layout", "gradient", "narrow", "batch"},
    ),
    "braintrace-0.2.6": ("lies_honest", {"etp"}),
}


# Where the operators that lie are, and their manifests.
LYING = live_support.REPOSITORY / "tests" / "framework_operators"


def probe(results, label, command):
    """The exit code and the report; None, and a failure, where there is none."""
    done = subprocess.run(
        command + ["-o", "json"],
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
        env=dict(os.environ, PYTHONPATH=str(LYING)),
    )
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        results.add("failed", label + "report", done.stderr[-2000:])
        return done.returncode, None


def command_for(opseal, python, framework):
    command = [opseal, "probe", "--no-config", "--no-ignore", "--framework", framework]
    return command + ["--python", python]


def lying(framework):
    return LYING / "lying_{}.json".format(framework)


def check(results, opseal, python, case):
    rows, findings = CASES[case]
    framework, version = case.split("-")
    label = case + " "
    code, report = probe(results, label, command_for(opseal, python, framework))
    if report is None:
        return
    results.compare(label + "exit code", code, 1 if "brainevent-0.1.2" == case else 0)
    results.compare(label + "problems", report["problems"], [])
    named = {row["identity"].partition("/")[2]: row for row in report["probes"]}
    results.compare(label + "rows", sorted(named), sorted(rows))
    for key, row in named.items():
        status, part = rows.get(key, ("", ""))
        name = "{}{} {:.1f} s".format(label, key, row.get("seconds", 0))
        fine = row["status"] == status and part in row.get("seen", "")
        results.require(name, fine, "{}, expected {} and {!r}".format(json.dumps(row), status, part))
        results.compare(name + " version", row.get("version", "").partition("+")[0], version)
    counts = {}
    for finding in report["findings"]:
        counts[finding["rule"]] = counts.get(finding["rule"], 0) + 1
    results.compare(label + "findings", counts, findings)


def check_operators(results, opseal, python, case):
    framework = case.split("-")[0]
    command = command_for(opseal, python, framework)
    command += ["--import", "lying_" + framework, str(lying(framework))]
    label = case + " operators "
    code, report = probe(results, label, command)
    if report is None:
        return
    told = {}
    for finding in report["findings"]:
        told.setdefault(finding["subject"], set()).add(finding["rule"])
    results.compare(label + "exit code", code, 1)
    names = json.loads(lying(framework).read_text(encoding="utf-8"))["operators"]
    for one in names:
        name = "::".join(part for part in (one.get("namespace"), one["name"]) if part)
        results.compare(label + name, told.pop(name, set()), LIES[case].get(name, set()))
    results.compare(label + "others", told, {})
    honest, checks = HONEST[case]
    rows = [row for row in report["probes"] if row.get("operator") == honest]
    # Rules aren't asked of operands with nothing in them.
    rows = [row for row in rows if row["name"] != "etp" or "=0" not in row["identity"]]
    results.compare(label + honest + " checks", {row["name"] for row in rows}, checks)
    results.compare(label + honest + " passes", {row["status"] for row in rows}, {PASSED})
    absent = [row for row in report["probes"] if row.get("operator", "").endswith("absent")]
    results.compare(label + "absent", [row["status"] for row in absent], [SKIPPED])


def check_one(results, opseal, python):
    """A single row of an operator, by its identity, gives the same again."""
    identity = "jax/opseal_loses_rule/jvp/f64,f64,f64/n=3/y"
    command = command_for(opseal, python, "jax") + ["--only", identity]
    command += ["--import", "lying_jax", str(lying("jax"))]
    _, report = probe(results, "jax one row alone ", command)
    if report is None:
        return
    rows = [row["identity"] for row in report["probes"] if "operator" in row]
    results.compare("jax one row alone", [identity], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("opseal")
    parser.add_argument("cache", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable, help="makes the environments")
    parser.add_argument("only", nargs="*", metavar="NAME-VERSION")
    arguments = parser.parse_args()
    opseal = str(pathlib.Path(arguments.opseal).absolute())
    results = live_support.Results()
    cases = {case.name: case for case in live_export_test.CASES + live_torch_test.CASES}
    for name in CASES:
        case = cases[name]
        if arguments.only and case.name not in arguments.only:
            continue
        try:
            python = live_support.environment(arguments.cache.absolute(), case, arguments.python)
        except live_support.Skip as reason:
            results.add("skipped", case.name, str(reason))
            continue
        check(results, opseal, str(python), name)
        if name in LIES:
            check_operators(results, opseal, str(python), name)
        if name == "jax-0.10.2":
            check_one(results, opseal, str(python))
    counts = [results.counts[outcome] for outcome in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if results.counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
