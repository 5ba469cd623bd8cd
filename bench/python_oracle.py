#!/usr/bin/env python3
"""Holds the registrations that opseal finds in Python sources against Python's own parser.

usage: python_oracle.py BENCH_PYTHON DIRECTORY...

For each name by which something registers, prints how many calls of that name the sources hold, and
at how many of them opseal has a registration. A call of the same name by others is no registration,
so those that are not found are listed to be judged.
"""

import ast
import collections
import pathlib
import subprocess
import sys
import warnings

FORMS = pathlib.Path(__file__).resolve().parent.parent / "analyzers" / "python" / "call_forms.cpp"


def form_names():
    names = set()
    for line in FORMS.read_text(encoding="utf-8").splitlines():
        words = line.strip().split('"')
        if len(words) > 2 and words[0] == "{" and "Home::" in words[2]:
            names.add(words[1])
    return names


def called_name(function):
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None


def main():
    program, folders = sys.argv[1], sys.argv[2:]
    files = sorted(str(file) for folder in folders for file in pathlib.Path(folder).rglob("*.py"))
    listed = subprocess.run([program, "--list"], input="\n".join(files), text=True, check=True,
                            stdout=subprocess.PIPE).stdout
    found = {tuple(line.split("\t")[:2]) for line in listed.splitlines()}
    names, counts, missed = form_names(), collections.Counter(), []
    warnings.simplefilter("ignore")
    for file in files:
        try:
            tree = ast.parse(pathlib.Path(file).read_bytes())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            name = called_name(node.func) if isinstance(node, ast.Call) else None
            if name not in names:
                continue
            counts[name] += 1
            if (file, str(node.lineno)) not in found:
                missed.append((name, file, node.lineno))
    lacking = collections.Counter(name for name, *_ in missed)
    for name in sorted(counts):
        print(f"{name}: {counts[name]} calls, {counts[name] - lacking[name]} found")
    for name, file, line in missed:
        print(f"not found: {name} {file}:{line}")


if __name__ == "__main__":
    main()
