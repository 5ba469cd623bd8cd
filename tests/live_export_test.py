"""Exports from real packages, pinned, against figures that were counted by hand.

usage: live_export_test.py OPSEAL CACHE [--python PYTHON] [NAME-VERSION ...]

CACHE holds one virtual environment per package and version; what fits already is used again.
Needs a package index for the others, and some minutes; so it is no part of the ordinary tests.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
# Manifests that were recorded from the same packages; whichever folder has one is used.
RECORDED = (REPOSITORY / "fixtures" / "_whole", REPOSITORY.parent / "shared" / "data" / "manifests")

JAX = {"jax": "0.10.2", "jaxlib": "0.10.2"}


def with_jax(**pins):
    return {**pins, **JAX}


class Case:
    def __init__(self, exporter, pins, figures, findings, trace=False):
        self.exporter = exporter
        self.name = "{}-{}".format(exporter, pins[exporter])
        self.pins = pins
        self.figures = figures
        self.findings = findings
        self.trace = trace


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
    Case(
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
            },
        },
        trace=True,
    ),
    Case(
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
    Case(
        "braintrace",
        with_jax(braintrace="0.2.0", brainevent="0.2.1"),
        braintrace_figures(8, {"custom": 8}, "yw_to_w", "_etrace_op"),
        {"warning": {"etp-unbatched-no-counterpart": 3}},
    ),
    Case(
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
    Case(
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


# ---- what happened


class Results:
    def __init__(self):
        self.counts = collections.Counter()

    def add(self, outcome, name, text=""):
        self.counts[outcome] += 1
        print("{}: {}{}".format(outcome, name, ": " + text if text else ""), flush=True)

    def compare(self, name, found, expected):
        if found == expected:
            self.add("passed", name)
        else:
            self.add("failed", name, "{!r}, expected {!r}".format(found, expected))

    def require(self, name, fine, text=""):
        self.add("passed" if fine else "failed", name, "" if fine else text)


class Skip(Exception):
    """Why a case cannot run here."""


# ---- environments


def installed(python, packages):
    """{package: version} as the interpreter sees it; {} if it cannot be asked."""
    script = (
        "import importlib.metadata as m, json, sys\n"
        "found = {}\n"
        "for name in sys.argv[1:]:\n"
        "    try: found[name] = m.version(name)\n"
        "    except m.PackageNotFoundError: pass\n"
        "print(json.dumps(found))"
    )
    if not python.exists():
        return {}
    answer = subprocess.run([str(python), "-c", script] + list(packages), capture_output=True)
    return json.loads(answer.stdout) if answer.returncode == 0 else {}


def environment(cache, case, maker):
    python = cache / case.name / "bin" / "python"
    if installed(python, case.pins) == case.pins:
        return python
    subprocess.run([maker, "-m", "venv", "--clear", str(cache / case.name)], check=True)
    pins = ["{}=={}".format(package, version) for package, version in case.pins.items()]
    command = [str(python), "-m", "pip", "install", "--quiet"] + pins
    done = subprocess.run(command, capture_output=True, text=True)
    if "No matching distribution found" in done.stderr:
        raise Skip(done.stderr.strip().splitlines()[-1])
    if done.returncode != 0 or installed(python, case.pins) != case.pins:
        raise RuntimeError("pip: " + (done.stderr.strip().splitlines() or ["no message"])[-1])
    return python


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


def count(values):
    return dict(collections.Counter(values))


def jvp_kind(jvp):
    if jvp is None:
        return "none"
    return jvp["kind"] + (" with result" if jvp.get("leading") == 2 else "")


# ---- recorded manifests


def differences(recorded, exported, place=""):
    """Places where two manifests differ, with both values."""
    if isinstance(recorded, dict) and isinstance(exported, dict):
        for key in sorted(set(recorded) | set(exported)):
            absent = "(not said)"
            yield from differences(
                recorded.get(key, absent), exported.get(key, absent), place + "/" + key
            )
    elif (
        isinstance(recorded, list) and isinstance(exported, list) and len(recorded) == len(exported)
    ):
        for number, pair in enumerate(zip(recorded, exported)):
            yield from differences(*pair, "{}/{}".format(place, number))
    elif recorded != exported:
        yield "{}: {}, recorded {}".format(place, exported, recorded)


def say_required(value):
    for member in value.values() if isinstance(value, dict) else value:
        if isinstance(member, (dict, list)):
            say_required(member)
    if isinstance(value, dict) and "positional" in value:
        value.setdefault("required", value["positional"])


def comparable(manifest):
    """Without what may differ: who exported and what devices he saw, and five things that older
    recordings say otherwise.

    They counted 0 inputs for an implementation that takes `*args`, gave an empty list for ways that
    counted nothing, did not see that a tangent reaches `reshard` through a loop variable, left out
    `required` where it equals `positional`, and had the registrations in the order of their files,
    not in that of the imports.
    """
    say_required(manifest)
    manifest.pop("devices", None)
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


def check_against_recording(results, case, manifest):
    name = case.name + " equals its recording"
    files = [folder / (case.name + ".json") for folder in RECORDED]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        results.add("skipped", name, "no recording")
        return
    recorded = json.loads(file.read_text(encoding="utf-8"))
    found = list(differences(comparable(recorded), comparable(manifest)))
    shown = "{} differences, first {}".format(len(found), "; ".join(found[:3]))
    results.require(name, not found, shown)


# ---- opseal


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **options)


def export(opseal, case, python, file):
    command = [opseal, "export", case.exporter, "--python", str(python), "-o", str(file)]
    return run(command + (["--trace"] if case.trace else []))


def check_findings(results, opseal, case, file):
    name = case.name + " has the expected findings"
    report = file.with_suffix(".report.json")
    done = run([opseal, "check", str(file), "-o", "json={}".format(report)])
    if not report.is_file():
        results.add("failed", name, "exit {}: {}".format(done.returncode, done.stderr.strip()))
        return
    found = {}
    for finding in json.loads(report.read_text(encoding="utf-8"))["findings"]:
        if "silenced" not in finding:
            rules = found.setdefault(finding["severity"], collections.Counter())
            rules[finding["rule"]] += 1
    results.compare(
        name, {severity: dict(rules) for severity, rules in found.items()}, case.findings
    )
    results.compare(case.name + " exit code", done.returncode, 1 if "error" in case.findings else 0)


def check_case(results, opseal, cache, maker, case, folder):
    try:
        python = environment(cache, case, maker)
    except Skip as reason:
        results.add("skipped", case.name, str(reason))
        return
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        results.add("failed", case.name, str(error))
        return
    files = [folder / "{}.{}.json".format(case.name, number) for number in (1, 2)]
    for file in files:
        done = export(opseal, case, python, file)
        if done.returncode != 0:
            results.add("failed", case.name + " is exported", done.stderr.strip()[-2000:])
            return
    results.require(
        case.name + " is exported twice alike",
        files[0].read_bytes() == files[1].read_bytes(),
        "differs",
    )
    manifest = json.loads(files[0].read_text(encoding="utf-8"))
    figures = figures_of(manifest)
    for key, expected in case.figures.items():
        results.compare("{} {}".format(case.name, key), figures[key], expected)
    check_against_recording(results, case, manifest)
    check_findings(results, opseal, case, files[0])


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("opseal")
    parser.add_argument("cache", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable, help="makes the environments")
    parser.add_argument("only", nargs="*", metavar="NAME-VERSION")
    arguments = parser.parse_args()
    cache = arguments.cache.absolute()
    results = Results()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_missing(results, arguments.opseal, arguments.python, folder)
        check_hanging(results, arguments.opseal, arguments.python, folder)
        for case in CASES:
            if not arguments.only or case.name in arguments.only:
                check_case(results, arguments.opseal, cache, arguments.python, case, folder)
    counts = [results.counts[outcome] for outcome in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if results.counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
