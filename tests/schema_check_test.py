#!/usr/bin/env python3
"""Holds what opseal reads and writes against its published schemas, with a validator that isn't ours.

The manifest fixtures against `opseal schema manifest`, JSON reports against `opseal schema report`,
SARIF reports against the standard's schema, and the reader against the manifest schema: a manifest
that says every key is changed in one place at a time, and opseal and the schema have to agree about
each of the results.

Needs a virtual environment (`--tools`) that has `jsonschema`; `check-jsonschema` brings it. For SARIF,
`pydantic-sarif` holds the schema of the standard as classes; with `--sarif-schema FILE` the schema itself is used too.
"""

import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Not among them: equal keys, which a parser has merged before a schema sees them.

REPLACEMENTS = [
    None, True, "no word of any list", "", 0, 1, 3, 4294967295, 4294967296, -1, 1.0, 1.5, 1e300,
    [], [None], ["text"], [1], [[]], [{}], {}, {"free": 1}, {"free": "text"}, {"free": []}, {"x-free": 1},
]


def run(opseal, *arguments, stdin=None):
    return subprocess.run([opseal, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, input=stdin)


class Failures:
    def __init__(self):
        self.lines = []
        self.checks = 0

    def check(self, good, line):
        self.checks += 1
        if not good:
            self.lines.append(line)


def first_error(validator, document):
    for error in validator.iter_errors(document):
        return f"{error.json_path}: {error.message[:200]}"
    return None


def manifests():
    for path in sorted((ROOT / "fixtures").rglob("*.json")):
        if "_damaged" in path.parts or "expected" in path.parts:
            continue
        document = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(document, dict) and "opseal_manifest" in document:
            yield path, document


def check_manifests(validator, failures):
    for path, document in manifests():
        error = first_error(validator, document)
        failures.check(error is None, f"{path.relative_to(ROOT)}: {error}")


def places(value, path=()):
    """Every value in a document with the way to it, `x-` keys left out: nothing there is judged."""
    yield path, value
    if isinstance(value, dict):
        for key, member in value.items():
            if not key.startswith("x-"):
                yield from places(member, (*path, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from places(member, (*path, index))


def changed(document, path, change):
    """A copy in which `change(container, key)` was done at a path."""
    copied = copy.deepcopy(document)
    at = copied
    for key in path[:-1]:
        at = at[key]
    change(at, path[-1])
    return copied


def pieces(document):
    """Manifests that say one thing each, so that a change is a small document to judge."""
    for key, value in document.items():
        if not (isinstance(value, list) and value and isinstance(value[0], dict)):
            yield {"opseal_manifest": 1, key: value}
            continue
        for element in value:
            required = {name: element[name] for name in ("name", "operator", "path") if name in element}
            for name in element:
                yield {"opseal_manifest": 1, key: [{**required, name: element[name]}]}


def distinct_places(document, seen):
    """One of the places that stand under the same two keys: it is the keys that the forms are about."""
    for path, value in places(document):
        keys = tuple(key for key in path if isinstance(key, str))[-2:]
        kind = (keys, len(path) > 0 and isinstance(path[-1], int), type(value))
        if kind not in seen:
            seen.add(kind)
            yield path, value


def mutants(document):
    seen = set()
    for piece in pieces(document):
        for path, value in distinct_places(piece, seen):
            yield from mutants_at(piece, path, value)


def mutants_at(document, path, value):
    if path:
        yield f"without {path}", changed(document, path, lambda at, key: at.pop(key))
        for new in REPLACEMENTS:
            yield f"{json.dumps(new)} at {path}", changed(document, path, lambda at, key: at.__setitem__(key, new))
    if isinstance(value, dict):
        for extra in ("unheard_of", "x-unheard-of"):
            yield f"{extra} in {path}", changed(document, (*path, extra), lambda at, key: at.__setitem__(key, 1))
    if isinstance(value, list):
        for new in (None, 7, "text", {}, []):
            yield f"{json.dumps(new)} behind {path}", changed(document, (*path, None), lambda at, key: at.append(new))


def check_reader(opseal, validator, failures):
    """opseal and the schema accept the same documents."""
    original = json.loads((ROOT / "fixtures/_whole/every-key.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        cases = {}
        for name, mutant in mutants(original):
            if "opseal_manifest" not in mutant:
                continue  # then it is no manifest and nobody's business
            if isinstance(mutant["opseal_manifest"], dict):
                continue  # the same: this is how the key stands in a schema
            file = f"{len(cases)}.json"
            Path(folder, file).write_text(json.dumps(mutant), encoding="utf-8")
            cases[file] = (name, mutant)
        result = run(opseal, "check", folder, "--no-ignore", "--no-config", "-o", "json")
        report = json.loads(result.stdout)
    failures.check(report["summary"]["inputs"] == len(cases), "not every mutant was read")
    refused = {}
    for problem in report["problems"]:
        if problem["severity"] == "error":
            refused.setdefault(os.path.basename(problem["location"]["path"]), problem["message"])
    for file, (name, mutant) in cases.items():
        error = first_error(validator, mutant)
        message = refused.get(file)
        failures.check((error is None) == (message is None),
                       f"{name}: opseal: {message or 'accepts it'}; schema: {error or 'accepts it'}")
    accepted = len(cases) - len(refused)
    print(f"{len(cases)} changed manifests, {accepted} of them accepted")
    failures.check(accepted > 100 and len(refused) > 1000, "too few changes to mean something")


# Runs whose reports are held against a schema: name, arguments, standard input, exit code.
DAMAGED = '{"opseal_manifest": 1, "operators": [{"nam": 1}, {"name": "a", "name": "b", "tags": [1, "\\u00e9", 2]}]}'
SURPLUS = (
    '{"opseal_manifest": 1, "operators": [{"name": "\\u00e9", "inputs": 1, "x-more": {},'
    ' "jvp": {"kind": "per_input", "rules": [null, null]}}], "opsets": {"a/b": -1}}'
)


def runs():
    yield ["fixtures/_whole"], None, None
    yield ["fixtures/_whole/brainevent-0.1.2.json", "--profile", "audit"], None, None
    yield ["fixtures/jvp-arity/fires", "--select", "jvp-*"], None, 1
    yield ["fixtures/jvp-arity/fires", "--platform", "gpu", "--arch", "sm_80"], None, None
    yield ["-"], DAMAGED, 4
    yield ["-"], SURPLUS, 1
    yield ["-"], "no manifest", 4
    yield ["-"], '{"opseal_manifest": 1, ', 4
    yield ["-"], '{"opseal_manifest": 1}', 3
    named = '{"opseal_manifest": 1, "operators": [{"name": "add"}]}'
    yield ["-", "--strict", "--select", "jvp-arity", "--select", "name-charset"], named, 4
    yield ["-", "--strict", "--arch", "sm_90"], named, 4
    yield ["-", "--strict"], named, 0
    yield ["docs", "--allow-empty"], None, 0


SILENCING = '[[silence]]\nrule = "jvp-arity"\nreason = "known"\n'


def reports(opseal, form, failures, folder):
    config = Path(folder, "opseal.toml")
    config.write_text(SILENCING, encoding="utf-8")
    wanted = [(arguments + ["--no-config"], stdin, code) for arguments, stdin, code in runs()]
    wanted.append((["-", "--select", "jvp-arity", "--config", config], SURPLUS, 4))
    for arguments, stdin, code in wanted:
        result = run(opseal, "check", *arguments, "-o", form, stdin=stdin)
        name = " ".join(map(str, arguments))
        failures.check(code is None or result.returncode == code,
                       f"{name}: exit code {result.returncode}, expected {code}: {result.stderr}")
        yield name, result.stdout


# The same for comparisons.
COMPARISONS = (
    (["fixtures/_whole/brainevent-0.1.2.json", "fixtures/_whole/brainevent-0.2.1.json"], 1),
    (["fixtures/_whole/braintrace-0.2.0.json", "fixtures/_whole/brainevent-0.2.1.json"], 1),
    (["fixtures/jvp-lost/fires/before.json", "fixtures/jvp-lost/fires/after.json"], 1),
    (["fixtures/jvp-lost/fires/before.json", "fixtures/jvp-lost/fires/before.json"], 0),
    (["fixtures/jvp-lost/fires/before.json", "docs"], 3),
)


def check_comparisons(opseal, validator, failures):
    for arguments, code in COMPARISONS:
        result = run(opseal, "diff", *arguments, "--no-config", "-o", "json")
        name = "diff " + " ".join(arguments)
        failures.check(result.returncode == code,
                       f"{name}: exit code {result.returncode}, expected {code}: {result.stderr}")
        error = first_error(validator, json.loads(result.stdout))
        failures.check(error is None, f"{name}: {error}")


def check_json_reports(opseal, validator, failures, folder):
    check_comparisons(opseal, validator, failures)
    silenced = 0
    for name, text in reports(opseal, "json", failures, folder):
        report = json.loads(text)
        error = first_error(validator, report)
        failures.check(error is None, f"{name}: {error}")
        silenced += sum("silenced" in finding for finding in report["findings"])
    failures.check(silenced == 1, f"{silenced} silenced findings, expected 1")


def sarif_judges(schema_file):
    """Functions that give a text for what is wrong with a SARIF log, or None."""
    if schema_file:
        from jsonschema.validators import validator_for
        schema = json.loads(Path(schema_file).read_text(encoding="utf-8"))
        validator = validator_for(schema)(schema)
        yield "the schema file", lambda log: first_error(validator, log)
    try:
        from pydantic import ValidationError
        from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Log
    except ImportError:
        return

    def judge(log):
        try:
            Log.model_validate(log)
        except ValidationError as error:
            return str(error)[:500]
        return None

    yield "pydantic-sarif", judge


def check_sarif_reports(opseal, schema_file, failures, folder):
    judges = list(sarif_judges(schema_file))
    if not judges:
        return "no pydantic-sarif and no --sarif-schema, so SARIF reports are not checked"
    seen = {"results": 0, "notifications": 0, "suppressions": 0, "skipped": 0}
    for name, text in reports(opseal, "sarif", failures, folder):
        log = json.loads(text)
        for judge_name, judge in judges:
            error = judge(log)
            failures.check(error is None, f"{name}: {judge_name}: {error}")
        (run_,) = log["runs"]
        seen["results"] += len(run_["results"])
        seen["notifications"] += len(run_["invocations"][0]["toolExecutionNotifications"])
        seen["suppressions"] += sum(bool(result.get("suppressions")) for result in run_["results"])
        seen["skipped"] += len(run_["properties"]["skippedRules"])
    print("SARIF held against " + " and ".join(name for name, _ in judges) + f": {seen}")
    for kind, count in seen.items():
        failures.check(count > 0, f"no SARIF report with {kind}")
    # A judge that accepts everything would judge nothing.
    broken = json.loads(text)
    broken["runs"][0]["results"] = [{"ruleId": "a", "level": "terrible"}]
    for judge_name, judge in judges:
        failures.check(judge(broken) is not None, f"{judge_name} accepts a broken log")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opseal", required=True)
    parser.add_argument("--tools", help="folder of a virtual environment")
    parser.add_argument("--sarif-schema")
    arguments = parser.parse_args()
    interpreter = Path(arguments.tools or sys.prefix, "bin", "python")
    if interpreter.exists() and interpreter.parent.parent.resolve() != Path(sys.prefix).resolve():
        os.execv(interpreter, [str(interpreter), *sys.argv])
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        print("skipped: no jsonschema (pip install check-jsonschema, see --tools)")
        return 0
    failures = Failures()

    def validator(name):
        schema = json.loads(run(arguments.opseal, "schema", name).stdout)
        Draft202012Validator.check_schema(schema)
        return Draft202012Validator(schema)

    manifest = validator("manifest")
    validator("config")
    check_manifests(manifest, failures)
    check_reader(arguments.opseal, manifest, failures)
    with tempfile.TemporaryDirectory() as folder:
        check_json_reports(arguments.opseal, validator("report"), failures, folder)
        skipped = check_sarif_reports(arguments.opseal, arguments.sarif_schema, failures, folder)
    for line in failures.lines[:40]:
        print(line)
    if skipped and not failures.lines:
        print("skipped: " + skipped)
    print(f"{failures.checks} checks, {len(failures.lines)} failures")
    return 1 if failures.lines else 0


if __name__ == "__main__":
    sys.exit(main())
