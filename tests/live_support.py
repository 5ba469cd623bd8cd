"""What the live tests share: environments with pinned packages, results, recordings, `opseal`.

usage of each live test: TEST OPSEAL CACHE [--python PYTHON] [NAME-VERSION ...]

CACHE holds virtual environments; what fits already is used again. Needs a package index for the
others, and some minutes; so none of them is part of the ordinary tests.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
# Manifests that were recorded from the same packages; whichever folder has one is used.
RECORDED = (REPOSITORY / "fixtures" / "_whole", REPOSITORY.parent / "shared" / "data" / "manifests")


class Case:
    """A pinned environment, one export from it, and what is expected of that."""

    def __init__(self, exporter, name, pins, figures, findings, **more):
        self.exporter = exporter
        # Package and version; also the name of the recording.
        self.name = name
        self.pins = pins
        # As the test's own `figures_of(manifest)` counts.
        self.figures = figures
        # {severity: {rule: count}} of the default profile.
        self.findings = findings
        # Of `opseal export`, behind the exporter's name.
        self.arguments = more.pop("arguments", ())
        # The folder in the cache; cases with the same pins may share one.
        self.environment = more.pop("environment", name)
        # The pins are everything that is installed.
        self.alone = more.pop("alone", False)
        # Called with the interpreter before it is used: makes what a package index does not have.
        self.prepare = more.pop("prepare", None)
        # Environment variables of the export.
        self.variables = more.pop("variables", None)
        assert not more, more


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
    """{package: version} as the interpreter sees it, without the local part (`+cu132`); {} if it
    cannot be asked."""
    script = (
        "import importlib.metadata as m, json, sys\n"
        "found = {}\n"
        "for name in sys.argv[1:]:\n"
        "    try: found[name] = m.version(name).split('+')[0]\n"
        "    except m.PackageNotFoundError: pass\n"
        "print(json.dumps(found))"
    )
    if not python.exists():
        return {}
    answer = subprocess.run([str(python), "-c", script] + list(packages), capture_output=True)
    return json.loads(answer.stdout) if answer.returncode == 0 else {}


def environment(cache, case, maker):
    """The interpreter that has what the case pins, and what no package index does."""
    python = cache / case.environment / "bin" / "python"
    if installed(python, case.pins) != case.pins:
        install(cache, case, python, maker)
    if case.prepare is not None:
        case.prepare(python)
    return python


def install(cache, case, python, maker):
    subprocess.run([maker, "-m", "venv", "--clear", str(cache / case.environment)], check=True)
    pins = ["{}=={}".format(package, version) for package, version in case.pins.items()]
    flags = ["--quiet"] + (["--no-deps"] if case.alone else [])
    command = [str(python), "-m", "pip", "install"] + flags + pins
    done = subprocess.run(command, capture_output=True, text=True)
    if "No matching distribution found" in done.stderr:
        raise Skip(done.stderr.strip().splitlines()[-1])
    if done.returncode != 0 or installed(python, case.pins) != case.pins:
        raise RuntimeError("pip: " + (done.stderr.strip().splitlines() or ["no message"])[-1])


# ---- recorded manifests


def count(values):
    return dict(collections.Counter(values))


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


def check_against_recording(results, case, manifest, comparable):
    """`comparable(manifest)`: without what may differ."""
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
    return run(command + list(case.arguments), env=case.variables)


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


def check_case(results, arguments, case, folder, figures_of, comparable):
    try:
        python = environment(arguments.cache, case, arguments.python)
    except Skip as reason:
        results.add("skipped", case.name, str(reason))
        return
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        results.add("failed", case.name, str(error))
        return
    files = [folder / "{}.{}.json".format(case.name, number) for number in (1, 2)]
    for file in files:
        done = export(arguments.opseal, case, python, file)
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
    check_against_recording(results, case, manifest, comparable)
    check_findings(results, arguments.opseal, case, files[0])


def main(description, cases, figures_of, comparable, first_checks=()):
    """`first_checks`: called as check(results, opseal, python, folder) when all cases are wanted.
    The exit code: 1 if anything failed."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("opseal")
    parser.add_argument("cache", type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--python", default=sys.executable, help="makes the environments")
    parser.add_argument("only", nargs="*", metavar="NAME-VERSION")
    arguments = parser.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for check in first_checks if not arguments.only else ():
            check(results, arguments.opseal, arguments.python, folder)
        for case in cases:
            if not arguments.only or case.name in arguments.only:
                check_case(results, arguments, case, folder, figures_of, comparable)
    counts = [results.counts[outcome] for outcome in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if results.counts["failed"] else 0
