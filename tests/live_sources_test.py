"""Real source distributions, read as they are: what they register, and what is wrong with it.

usage: live_sources_test.py [--index URL] OPSEAL CACHE [NAME-VERSION ...]

CACHE/sdists holds the distributions; those that are missing are downloaded from the package index
(340 MB in all) and held against their digests. They are unpacked one at a time, with Python's own
filter against paths that lead away, and nothing in them is run. A distribution that the index does
not serve is skipped. What is expected is in live_sources_table.py: counts of what the whole tree
says, and every finding; for some files live_sources_by_hand.py has each registration.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request

import pip._internal.models.index

import live_sources_by_hand
import live_sources_table
import live_support

# Of a document of `opseal dump`.
COUNTED = (
    "operators",
    "annotations",
    "handlers",
    "targets",
    "dispatch",
    "registrations",
    "registrars",
    "functions",
    "uses",
    "launches",
    "arch_tests",
)
# Exit code of `opseal dump` where nothing registers.
NOTHING_FOUND = 3
JSON_INDEX = "application/vnd.pypi.simple.v1+json"


# ---- distributions


def index_of_pip():
    """Address of the package index that pip asks here."""
    done = live_support.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"])
    configured = os.environ.get("PIP_INDEX_URL") or done.stdout.strip()
    return (configured or pip._internal.models.index.PyPI.simple_url).rstrip("/")


def answer_of(url, accept="*/*"):
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.read()


def digest_of(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def fetch(package, folder, index):
    """The file with the digest of the table. Raises live_support.Skip where the index has none."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / (package.title + ".tar.gz")
    if file.is_file() and digest_of(file) == package.digest:
        return file
    try:
        listing = json.loads(answer_of("{}/{}/".format(index, package.name), JSON_INDEX))
        served = [one for one in listing["files"] if one["hashes"].get("sha256") == package.digest]
        if not served:
            raise live_support.Skip("the package index does not serve it")
        content = answer_of(served[0]["url"])
    except (OSError, urllib.error.URLError, ValueError) as error:
        raise live_support.Skip("the package index cannot be asked: {}".format(error)) from error
    file.write_bytes(content)
    if digest_of(file) != package.digest:
        raise RuntimeError("the file has another digest than the index says")
    return file


def unpack(file, folder):
    with tarfile.open(file) as archive:
        archive.extractall(folder, filter="data")
    return next(one for one in folder.iterdir() if one.is_dir())


# ---- what was read


def documents_of(text):
    document = json.loads(text)
    return document if isinstance(document, list) else [document]


def label_of(document):
    return document.get("system", "functions" if "functions" in document else "device")


def counts_of(documents):
    """{system: "name=count ..."} of what registers, or starts kernels, in all of its documents."""
    counts = {}
    for document in documents:
        if "caches" in document:
            continue
        numbers = counts.setdefault(label_of(document), collections.OrderedDict())
        for key in COUNTED:
            numbers[key] = numbers.get(key, 0) + len(document.get(key, ()))
        for key in ("kernels", "abstract"):
            found = [one.get(key) for one in document.get("operators", ())]
            number = sum(len(one) if isinstance(one, list) else 1 for one in found if one)
            numbers[key] = numbers.get(key, 0) + number
    return {
        label: " ".join("{}={}".format(key, number) for key, number in numbers.items() if number)
        for label, numbers in counts.items()
    }


def rows_of(documents, file):
    """The (kind, name, line) of what a file registers."""
    rows = set()

    def add(kind, name, fact):
        place = (fact or {}).get("location", {})
        if place.get("file") == file:
            rows.add((kind, name, place["line"]))

    for document in documents:
        for operator in document.get("operators", ()):
            name = operator["name"]
            beside = document.get("system") == "torch-autograd"
            gradient = (operator.get("gradient") or {}).get("function")
            add("autograd" if beside else "operator", name, operator)
            add("fake", name, operator.get("abstract"))
            add("backward" if beside else "gradient", name, gradient)
            for kernel in operator.get("kernels") or ():
                add("kernel {}".format(kernel.get("platform", "?")), name, kernel)
        for annotation in document.get("annotations", ()):
            add("annotation", annotation["name"], annotation.get("function"))
        is_triton = document.get("system") == "triton"
        for function in document.get("functions", ()):
            add("kernel triton" if is_triton else "binding", function["name"], function)
        for use in document.get("uses", ()) if is_triton else ():
            add("launch", use["name"], use)
    return rows


def expected_rows(prefix, groups):
    rows = set()
    for kinds, text in groups.items():
        for word in text.split():
            name, line = word.rsplit(":", 1)
            for kind in kinds.split(", "):
                rows.add((kind, name if kind == "binding" else prefix + name, int(line)))
    return rows


# ---- checks


def check_file(results, sums, package, documents, places, prefix, groups):
    """`places`: the file, and the same within the tree."""
    found = rows_of(documents, places[0])
    expected = expected_rows(prefix, groups)
    missed = sorted(expected - found)
    surplus = sorted(found - expected)
    name = "{} {} ({} registrations)".format(package.title, places[1], len(expected))
    text = "missed {}, surplus {}".format(missed, surplus)
    results.require(name, not missed and not surplus, text)
    sums["found"] += len(expected & found)
    sums["missed"] += len(missed)
    sums["surplus"] += len(surplus)


def check_findings(results, opseal, package, tree, folder):
    report = folder / "report.json"
    places = [str(tree / place) for place in package.folders]
    done = live_support.run([opseal, "check", *places, "-o", "json={}".format(report)])
    if not report.is_file():
        results.add("failed", package.title + " is checked", done.stderr.strip()[-2000:])
        return
    found = set()
    for finding in json.loads(report.read_text(encoding="utf-8"))["findings"]:
        place = finding["location"]
        path = pathlib.Path(place["path"]).relative_to(tree)
        words = (finding["severity"], finding["rule"], path, place["line"])
        found.add("{} {} {}:{}".format(*words))
    expected = {finding for finding, why in package.findings}
    name = "{} has its {} findings".format(package.title, len(expected))
    text = "missed {}, surplus {}".format(sorted(expected - found), sorted(found - expected))
    results.require(name, found == expected, text)


def check_package(results, arguments, package, sums):
    try:
        file = fetch(package, arguments.cache / "sdists", arguments.index.rstrip("/"))
    except live_support.Skip as reason:
        results.add("skipped", package.title, str(reason))
        return
    except RuntimeError as error:
        results.add("failed", package.title, str(error))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        tree = unpack(file, folder)
        started = time.monotonic()
        documents = []
        for place in package.folders:
            done = live_support.run([arguments.opseal, "dump", str(tree / place)])
            if done.returncode == 0:
                documents += documents_of(done.stdout)
            elif done.returncode != NOTHING_FOUND:
                results.add("failed", package.title + " is read", done.stderr.strip()[-2000:])
                return
        print("{}: read in {:.1f} s".format(package.title, time.monotonic() - started))
        results.compare(package.title + " counts", counts_of(documents), package.counts)
        for path, prefix, groups in live_sources_by_hand.BY_HAND.get(package.title, ()):
            check_file(results, sums, package, documents, (str(tree / path), path), prefix, groups)
        check_findings(results, arguments.opseal, package, tree, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("opseal", type=lambda path: str(pathlib.Path(path).absolute()))
    parser.add_argument("cache", type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--index", default=index_of_pip())
    parser.add_argument("only", nargs="*", metavar="NAME-VERSION")
    arguments = parser.parse_args()
    results = live_support.Results()
    sums = collections.Counter()
    for package in live_sources_table.PACKAGES:
        if not arguments.only or package.title in arguments.only:
            check_package(results, arguments, package, sums)
    print(
        "registrations counted by hand: {} found, {} missed, {} that are none".format(
            sums["found"], sums["missed"], sums["surplus"]
        )
    )
    counts = [results.counts[outcome] for outcome in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if results.counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
