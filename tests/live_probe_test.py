"""Handlers built against the headers that jaxlib wheels carry, called by `opseal probe`.

usage: live_probe_test.py OPSEAL CACHE [--python PYTHON] [NAME-VERSION ...]

Each wheel is fetched once into CACHE; nothing of it is run. tests/native/jaxlib_handlers.cpp says
what each handler binds, which `opseal probe` has to find out from refusals alone;
tests/native/probe/jaxlib.cpp has kernels that do something, honest but for two. Needs a package
index, a C++ compiler, and some minutes.
"""

import json
import pathlib
import shutil
import sys

import live_handlers_test
import live_support

PROBE = pathlib.Path(__file__).resolve().parent / "native" / "probe"

# Operators of jaxlib.json that must be told of, and the rules that tell.
LIES = {"blind": {"dtype-undeclared-accepts"}, "tail": {"probe-unwritten"}}


def build(compiler, include, source, library, macros):
    command = [compiler, "-std=c++17", "-O2", "-DNDEBUG", "-fPIC", "-shared"]
    command += ["-D" + macro for macro in sorted(macros)] + ["-I" + str(include)]
    return live_support.run(command + [str(source), "-o", str(library)])


def probe(opseal, *arguments):
    command = [opseal, "probe", "-o", "json", "--no-config", "--no-ignore", *arguments]
    done = live_support.run(command)
    return json.loads(done.stdout) if done.stdout else None


def recovered_text(operands):
    """`F32, BF16 of rank 2` as `opseal probe` writes operands, from those that the source binds."""
    texts = []
    for operand in operands:
        word, _, rank = operand.partition(" ")
        texts.append(word + (" of rank " + rank if rank else ""))
    return ", ".join(texts)


def check_signatures(results, opseal, name, library):
    report = probe(opseal, str(library))
    found = {one["symbol"]: one for one in report["probes"] if one["kind"] == "signature"}
    asked = {one["symbol"]: one for one in report["probes"] if one["kind"] == "metadata"}
    for symbol, signature in live_handlers_test.HANDLERS.items():
        if symbol not in asked:
            continue
        label = "{} {}".format(name, symbol)
        results.compare(label + " answers", asked[symbol]["status"], "passed")
        one = found.get(symbol)
        operands = signature.arguments + signature.results
        if not operands and not signature.attributes:
            results.compare(label + " signature", one["status"] if one else None, "skipped")
            continue
        if one is None or one["status"] != "passed":
            results.add("failed", label + " signature", json.dumps(one))
            continue
        # Optional and further operands are not counted by what a handler refuses.
        if any(text.endswith("?") or text == "..." for text in operands):
            begins = one["reason"].startswith(signature.stage + " (")
            results.require(label + " signature", begins, one["reason"])
            continue
        # A dictionary takes anything, so that one operand beside it has nothing to be refused for.
        attributes = [text for text in signature.attributes if text != "dictionary"]
        alone = len(operands) + len(attributes) == 1
        arguments = ["any"] * len(signature.arguments) if alone else signature.arguments
        outcome = ["any"] * len(signature.results) if alone else signature.results
        expected = "{} ({}) -> ({})".format(
            signature.stage, recovered_text(arguments), recovered_text(outcome)
        )
        results.require(
            label + " signature",
            one["reason"].startswith(expected),
            "{}, expected {}".format(one["reason"], expected),
        )


def check_calls(results, opseal, name, folder):
    report = probe(opseal, str(folder / "jaxlib.json"))
    for op in ("axpy", "scratch", "later", "any", "blind", "tail", "variadic", "tokens", "planned"):
        rules = {finding["rule"] for finding in report["findings"] if finding["subject"] == op}
        results.compare("{} {}".format(name, op), rules, LIES.get(op, set()))
        calls = [
            one
            for one in report["probes"]
            if one.get("operator") == op and one["kind"] in ("call", "threads")
        ]
        skipped = [one for one in calls if one["status"] == "skipped"]
        label = "{} {} is called".format(name, op)
        results.require(label, len(calls) >= 5 and not skipped, json.dumps(skipped))


def check_build(results, opseal, compiler, include, wheel, folder):
    name = "jaxlib-{} {}".format(wheel[0], compiler)
    text = (include / "xla" / "ffi" / "api" / "ffi.h").read_text(encoding="utf-8")
    contexts = live_handlers_test.CONTEXTS.items()
    macros = {macro for macro, declaration in contexts if declaration in text}
    handlers = folder / "libhandlers.so"
    kernels = folder / "libjaxlib.so"
    shutil.copy(PROBE / "jaxlib.json", folder / "jaxlib.json")
    for source, library in ((live_handlers_test.SOURCE, handlers), (PROBE / "jaxlib.cpp", kernels)):
        done = build(compiler, include, source, library, macros)
        if done.returncode != 0:
            results.add("failed", name + " is compiled", done.stderr.strip()[-2000:])
            return
    check_signatures(results, opseal, name, handlers)
    check_calls(results, opseal, name, folder)


if __name__ == "__main__":
    sys.exit(live_handlers_test.main(check_build, __doc__))
