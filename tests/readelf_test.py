"""Exports that `opseal dump` shows for the libraries of this system, against those that `readelf` shows.

Name, version, kind and weakness of every export are compared. Prints `skipped: REASON` where
there is no readelf or there are no libraries.
"""

import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys

KINDS = {
    "FUNC": "function",
    "IFUNC": "ifunc",
    "OBJECT": "object",
    "TLS": "tls",
    "COMMON": "common",
    "SECTION": "section",
    "FILE": "file",
    "NOTYPE": "none",
    # Of a file that doesn't say it is GNU's.
    "<OS specific>: 10": "ifunc",
}
ROW = re.compile(
    r"\s*\d+: [0-9a-f]+\s+\S+ (?P<kind><OS specific>: \d+|\S+)\s+(?P<binding><OS specific>: \d+|\S+)\s+"
    r"(?P<visibility>\S+)\s+(?:\[[^]]*\]\s+)?(?P<section>\S+) (?P<name>\S+)(?: \(\d+\))?$"
)


def output_of(*command):
    """What a command prints; it has to succeed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace", check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def exports_by_readelf(library):
    """(name, version, whether that is its default one, kind, weak) of each export."""
    exports = []
    for line in output_of("readelf", "--wide", "--dyn-syms", library).splitlines():
        row = ROW.match(line)
        if not row or row["section"] == "UND":
            continue
        if row["binding"] == "LOCAL" or row["visibility"] not in ("DEFAULT", "PROTECTED"):
            continue
        name, _, version = row["name"].partition("@")
        default = version == "" or version.startswith("@")
        exports.append((name, version.lstrip("@"), default, KINDS[row["kind"]], row["binding"] == "WEAK"))
    return exports


def exports_by_opseal(opseal, library):
    """The same from the facts."""
    facts = json.loads(output_of(opseal, "dump", library))
    exports = facts["libraries"][0].get("exports", [])
    return [
        (
            symbol["name"],
            symbol.get("version", ""),
            symbol.get("default", True),
            symbol.get("kind", "none"),
            symbol.get("weak", False),
        )
        for symbol in exports
    ]


def is_library(path):
    """A regular file of ELF's 64-bit form."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(6) == b"\x7fELF\x02\x01"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opseal", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/usr/lib"))
    parser.add_argument("--most", type=int, default=200)
    options = parser.parse_args()
    if shutil.which("readelf") is None:
        print("skipped: no `readelf`")
        return 0
    libraries = [path for path in sorted(options.folder.rglob("*.so*")) if is_library(path)]
    if not libraries:
        print(f"skipped: no libraries below {options.folder}")
        return 0
    # Spread over all of them: neighbours are alike.
    libraries = libraries[:: max(1, len(libraries) // options.most)][: options.most]
    symbols = 0
    failed = 0
    for library in libraries:
        expected = collections.Counter(exports_by_readelf(library))
        seen = collections.Counter(exports_by_opseal(options.opseal, library))
        symbols += sum(expected.values())
        if expected == seen:
            continue
        failed += 1
        print(f"{library}: not seen {list((expected - seen))[:5]}, not there {list((seen - expected))[:5]}")
    print(f"{symbols} exports of {len(libraries)} libraries, {failed} of which differ")
    return 1 if failed or symbols == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
