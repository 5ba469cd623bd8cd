"""Caches that real packages fill, read as directories: entries, and keys made again.

usage: live_cache_test.py OPSEAL CACHE [--python PYTHON]

CACHE holds one virtual environment per package and version, as for live_export_test.py. Needs a C++
compiler and a minute, but no GPU.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import live_export_test
import live_support

# Builds two kernels into the cache and says what each key was made from, in order.
KERNELS = r'''
import hashlib, json, sys
from brainevent._op import kernix_cache, kernix_pipeline

parts = []


class Recorder:
    def __init__(self):
        self.digest, self.seen = sha256(), []

    def update(self, data):
        self.seen.append(data)
        self.digest.update(data)

    def hexdigest(self):
        parts.append([part.decode() for part in self.seen])
        return self.digest.hexdigest()


class Hashes:
    """Stands in for hashlib: what goes into the key itself is written down."""

    @staticmethod
    def sha256(*data):
        return sha256(*data) if data else Recorder()


sha256 = hashlib.sha256
kernix_cache.hashlib = Hashes
SOURCE = """
// @BE %s arg ret
void %s(const BE::Tensor x, BE::Tensor y) {
  const float* from = static_cast<const float*>(x.data_ptr());
  float* to = static_cast<float*>(y.data_ptr());
  to[0] = from[0] + %d.0f;
}
"""
for number, name in enumerate(["add", "add_fast"]):
    kernix_pipeline.load_cpp_inline(name, SOURCE % (name, name, number), [name], auto_register=False)
print(json.dumps(parts))
'''


# Compiles a kernel for two architectures, which takes no GPU.
TRITON = r'''
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scale(x, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


source = ASTSource(scale, signature={"x": "*fp32", "n": "i32", "block": "constexpr"}, constexprs={(2,): 128})
for architecture in (80, 90):
    triton.compile(source, target=GPUTarget("cuda", architecture, 32))
'''


class Results:
    def __init__(self):
        self.counts = collections.Counter()

    def require(self, what, holds, details=""):
        self.counts["passed" if holds else "failed"] += 1
        print("{}: {}{}".format("ok" if holds else "FAILED", what, "" if holds else ": " + str(details)))

    def skip(self, what):
        self.counts["skipped"] += 1
        print("skipped: " + what)


def dump(opseal, folder, path):
    done = subprocess.run(
        [opseal, "dump", path], cwd=folder, capture_output=True, text=True, timeout=60
    )
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"failed": done.stdout + done.stderr}


def findings(opseal, folder, path):
    done = subprocess.run(
        [opseal, "check", "--select", "cache-*", "-o", "json", path],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    report = json.loads(done.stdout)
    return [(found["rule"], found["subject"]) for found in report["findings"]], report["problems"]


def toml_text(text):
    # TOML's basic strings have JSON's escapes, but for that of the delete character.
    return json.dumps(text).replace("\x7f", "\\u007f")


def describe(folder, parts_by_name):
    """One description for all entries: each part is a file of the entry's name, so that nothing in it can be taken
    for a placeholder."""
    names = sorted(parts_by_name)
    length = len(parts_by_name[names[0]])
    for name in names:
        for number, part in enumerate(parts_by_name[name]):
            (folder / "parts").mkdir(exist_ok=True)
            (folder / "parts" / "{}.{}".format(name, number)).write_bytes(part.encode())
    parts = ", ".join(
        "{{file = {}}}".format(toml_text("parts/{name}." + str(number))) for number in range(length)
    )
    (folder / "opseal.toml").write_text(
        "[[cache]]\nname = 'kernels'\ndirectory = 'cache'\nentry = '{name}_{key}'\n"
        "library = '{name}.so'\ndigits = 16\nparts = [" + parts + "]\n"
    )


def check_brainevent(results, opseal, python, version, folder):
    environment = {**os.environ, "BRAINEVENT_CACHE_DIR": str(folder / "cache"), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [python, "-c", KERNELS], env=environment, capture_output=True, text=True, timeout=400
    )
    what = "brainevent {}: ".format(version)
    if done.returncode != 0:
        results.require(what + "kernels build", False, done.stderr[-2000:])
        return
    parts = dict(zip(["add", "add_fast"], json.loads(done.stdout.splitlines()[-1])))
    folders = sorted(path.name for path in (folder / "cache").iterdir())
    results.require(what + "two entries", len(folders) == 2, folders)

    cache = dump(opseal, folder, "cache").get("caches", [{}])[0]
    entries = cache.get("entries", [])
    results.require(what + "recognised", cache.get("name") == "kernix", cache)
    results.require(what + "its entries", [e.get("directory") for e in entries] == folders, entries)
    for entry in entries:
        whole = entry.get("damaged") == [] and entry.get("missing") == []
        results.require(what + entry["name"] + " is whole", whole, entry)
        results.require(what + entry["name"] + " has a key of 16 digits", len(entry["key"]) == 16, entry)
    results.require(what + "no finding", findings(opseal, folder, "cache") == ([], []))

    describe(folder, parts)
    entries = dump(opseal, folder, "cache").get("caches", [{}])[0].get("entries", [])
    for entry in entries:
        again = entry.get("recomputed_key")
        results.require(what + entry["name"] + ": the key made again", again == entry["key"], entry)
    results.require(what + "no finding with keys", findings(opseal, folder, "cache") == ([], []))

    # The mistakes that the rules are for.
    (folder / "parts" / "add.0").write_bytes(b"another source")
    library = folder / "cache" / folders[1] / "add_fast.so"
    library.write_bytes(library.read_bytes()[:-100])
    # What was written within the hour may be a build that is running.
    for path in (library, *library.parent.iterdir(), library.parent):
        os.utime(path, (time.time() - 7200,) * 2)
    found, problems = findings(opseal, folder, "cache")
    wanted = [
        ("cache-key-mismatch", "cache kernels: " + folders[0]),
        ("cache-entry-broken", "cache kernels: " + folders[1]),
    ]
    results.require(what + "both mistakes are found", found == wanted and not problems, (found, problems))


def check_triton(results, opseal, python, folder):
    cache = folder / "cache"
    script = folder / "kernel.py"
    script.write_text(TRITON)
    environment = {**os.environ, "TRITON_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [python, script], env=environment, capture_output=True, text=True, timeout=400
    )
    if done.returncode != 0:
        results.require("triton: kernel compiles", False, done.stderr[-2000:])
        return
    folders = sorted(path.name for path in cache.iterdir())
    entries = dump(opseal, folder, "cache").get("caches", [{}])[0].get("entries", [])
    results.require("triton: its entries", [e["key"] for e in entries] == folders, entries)
    for entry in entries:
        again = entry.get("recomputed_key")
        results.require("triton: the key made again", again == entry["key"], entry)
        whole = entry.get("damaged") == [] and entry.get("missing") == []
        results.require("triton: the entry is whole", whole and "elsewhere" not in entry, entry)
    targets = sorted(entry.get("architectures", []) for entry in entries)
    results.require("triton: both architectures", targets == [["sm_80"], ["sm_90"]], targets)
    results.require("triton: no finding", findings(opseal, folder, "cache") == ([], []))

    (cache / folders[0]).rename(cache / folders[0].replace(folders[0][0], "AB"[folders[0][0] == "A"], 1))
    (cache / folders[1] / "scale.cubin").unlink()
    for path in (*(cache / folders[1]).iterdir(), cache / folders[1]):
        os.utime(path, (time.time() - 7200,) * 2)
    found, problems = findings(opseal, folder, "cache")
    rules = sorted(rule for rule, _ in found)
    wanted = ["cache-entry-broken", "cache-entry-unused", "cache-key-mismatch"]
    results.require("triton: each mistake is found", rules == wanted and not problems, (found, problems))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("opseal")
    parser.add_argument("cache", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable, help="makes the environments")
    arguments = parser.parse_args()
    opseal = str(pathlib.Path(arguments.opseal).absolute())
    results = Results()
    cases = {case.name: case for case in live_export_test.CASES}
    triton = live_support.Case("", "triton-3.9.0", {"triton": "3.9.0"}, {}, {})
    for case in (cases["brainevent-0.1.2"], cases["brainevent-0.2.1"], triton):
        try:
            if shutil.which("g++") is None:
                raise live_support.Skip("no compiler")
            python = live_support.environment(arguments.cache.absolute(), case, arguments.python)
        except live_support.Skip as reason:
            results.skip("{}: {}".format(case.name, reason))
            continue
        with tempfile.TemporaryDirectory() as name:
            if case is triton:
                check_triton(results, opseal, str(python), pathlib.Path(name))
            else:
                check_brainevent(
                    results, opseal, str(python), case.pins["brainevent"], pathlib.Path(name)
                )
    counts = [results.counts[outcome] for outcome in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if results.counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
