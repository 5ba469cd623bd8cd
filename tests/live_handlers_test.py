"""Handlers built against the headers that jaxlib wheels carry, and what opseal recovers of them.

usage: live_handlers_test.py OPSEAL CACHE [--python PYTHON] [NAME-VERSION ...]

Each wheel is fetched once into CACHE; nothing of it is run. tests/native/jaxlib_handlers.cpp is
compiled against its headers by each compiler that is here, at -O2, and stripped; then `opseal dump`
is held against what the source binds. Needs a package index, a C++ compiler, and some minutes.
"""

import argparse
import json
import pathlib
import shutil
import sys
import tempfile
import zipfile

import live_support

SOURCE = pathlib.Path(__file__).resolve().parent / "native" / "jaxlib_handlers.cpp"

# Version of jaxlib, Python that its wheel is for, minor API version of its headers.
WHEELS = [
    ("0.4.34", "3.11", 1),
    ("0.4.38", "3.11", 1),
    ("0.5.3", "3.11", 1),
    ("0.6.2", "3.11", 1),
    ("0.8.2", "3.11", 2),
    ("0.9.1", "3.11", 3),
    ("0.10.2", "3.11", 3),
    ("0.12.0.1", "3.12", 5),
]

COMPILERS = ("g++", "clang++")

# Found in ffi.h, the header knows the context, and the source binds it where the macro is defined.
CONTEXTS = {
    "RUN_ID": "struct RunId",
    "DEVICE_ORDINAL": "struct DeviceOrdinal",
    "CONTEXT": "class Context",
}


class Signature:
    """What the source binds. Operands are written `F32`, `BF16 2` with a rank, `any`, `...` for the
    remaining ones, and with a `?` where they are optional."""

    def __init__(self, arguments="", results="", **more):
        self.arguments = [text.strip() for text in arguments.split(",") if text]
        self.results = [text.strip() for text in results.split(",") if text]
        self.stage = more.pop("stage", "execute")
        self.attributes = more.pop("attributes", [])
        self.contexts = more.pop("contexts", [])
        # Least minor version of the headers that have all of it, and the macro that says so.
        self.since = more.pop("since", 0)
        self.macro = more.pop("macro", None)
        assert not more, more

    def shown(self):
        return {
            "stage": self.stage,
            "arguments": self.arguments,
            "results": self.results,
            "attributes": self.attributes,
            "contexts": self.contexts,
        }


SCALARS = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"
)
WIDE = (
    "F32, BF16 2, C64 1, F16 3, PRED, S8, S16, S32, S64, U8, U16, U32, U64, F16, F64, C128, C64, "
    "S64 4"
)

HANDLERS = {
    "plain_handler": Signature("F32, F32", "F32"),
    "deduced_handler": Signature("F32, F32", "F32"),
    "ranked_handler": Signature("BF16 2, any", "BF16 2, any"),
    "async_handler": Signature("F32", "F32"),
    "instantiate_handler": Signature(stage="instantiate", attributes=["int64"]),
    "stateful_handler": Signature("F32", "F32", contexts=["state<Plan>"]),
    "prepare_handler": Signature(stage="prepare"),
    "initialize_handler": Signature(stage="initialize"),
    "token_handler": Signature("TOKEN 0, F32", "TOKEN 0"),
    "variadic_handler": Signature("F32, ...", "..."),
    "optional_handler": Signature("F32, F32?", "F32, F32?"),
    "scalars_handler": Signature("any", attributes=SCALARS.split() + ["string"]),
    "wide_handler": Signature(WIDE, "C64 1, F16 3"),
    "span_handler": Signature(attributes=["span<int64>", "span<float32>", "Mode"]),
    "dictionary_handler": Signature("F32", attributes=["dictionary"]),
    "struct_handler": Signature("F32", attributes=["struct<Window>"]),
    "pointer_handler": Signature(attributes=["pointer"]),
    "context_handler": Signature(contexts=["stream", "scratch", "thread_pool", "user_data<User>"]),
    "run_handler": Signature(contexts=["run_id"], macro="RUN_ID"),
    "device_handler": Signature(contexts=["device_ordinal"], macro="DEVICE_ORDINAL"),
    "whole_handler": Signature(contexts=["context"], macro="CONTEXT"),
    "record_handler": Signature(stage="record", since=4),
    "hidden_type_handler": Signature("F32", "F32"),
    "closure_handler": Signature("BF16 2", "F64"),
}


def operand_text(operand):
    if operand.get("variadic"):
        return "..."
    text = (operand.get("dtypes") or ["any"])[0]
    if operand.get("rank") is not None:
        text += " {}".format(operand["rank"])
    return text + ("?" if operand.get("optional") else "")


def shown(handler):
    return {
        "stage": handler["stage"],
        "arguments": [operand_text(operand) for operand in handler["arguments"]],
        "results": [operand_text(operand) for operand in handler["results"]],
        "attributes": handler["attributes"],
        "contexts": handler.get("contexts", []),
    }


def minor(version):
    return int(version.split(".")[1])


def headers(cache, version, python):
    """The folder of the wheel's headers."""
    folder = cache / "jaxlib-headers-{}".format(version)
    if (folder / "jaxlib").is_dir():
        return folder / "jaxlib" / "include"
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary=:all:", "--python-version", python, "-d", name]
        done = live_support.run(command + ["jaxlib==" + version])
        wheels = list(pathlib.Path(name).glob("*.whl"))
        if done.returncode != 0 or not wheels:
            raise live_support.Skip((done.stderr.strip().splitlines() or ["no wheel"])[-1])
        with zipfile.ZipFile(wheels[0]) as wheel:
            for member in wheel.namelist():
                if member.startswith("jaxlib/include/xla/ffi/"):
                    wheel.extract(member, folder)
    return folder / "jaxlib" / "include"


def check_build(results, opseal, compiler, include, wheel, folder):
    version, _, api = wheel
    name = "jaxlib-{} {}".format(version, compiler)
    text = (include / "xla" / "ffi" / "api" / "ffi.h").read_text(encoding="utf-8")
    macros = {macro for macro, declaration in CONTEXTS.items() if declaration in text}
    library = folder / "{}-{}.so".format(version, compiler)
    command = [compiler, "-std=c++17", "-O2", "-DNDEBUG", "-fPIC", "-shared", "-s"]
    command += ["-D" + macro for macro in sorted(macros)] + ["-I" + str(include)]
    done = live_support.run(command + [str(SOURCE), "-o", str(library)])
    if done.returncode != 0:
        results.add("failed", name + " is compiled", done.stderr.strip()[-2000:])
        return
    done = live_support.run([opseal, "dump", str(library)])
    if done.returncode != 0:
        results.add("failed", name + " is read", done.stderr.strip())
        return
    handlers = json.loads(done.stdout)["libraries"][0]["handlers"]
    expected = {
        symbol: signature.shown()
        for symbol, signature in HANDLERS.items()
        if signature.since <= api and (signature.macro is None or signature.macro in macros)
    }
    found = {handler.get("symbol", "(not exported)"): shown(handler) for handler in handlers}
    results.compare(name + " handlers", sorted(found), sorted(expected))
    for symbol in sorted(set(found) & set(expected)):
        results.compare("{} {}".format(name, symbol), found[symbol], expected[symbol])
    unsure = [handler["symbol"] for handler in handlers if handler.get("ambiguous")]
    results.compare(name + " leads each handler to one type", unsure, [])
    for handler in handlers:
        versions = handler["api_versions"]
        fits = minor(versions["min"]) <= api and api <= minor(versions.get("max", "0.99"))
        label = "{} {} versions".format(name, handler.get("symbol"))
        results.require(label, fits, "{}, built with 0.{}".format(versions, api))


def main(check, description):
    """Calls `check` for each wheel's headers and each compiler that is here."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("opseal")
    parser.add_argument("cache", type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--python", default=sys.executable, help="of no use here")
    parser.add_argument("only", nargs="*", metavar="NAME-VERSION")
    arguments = parser.parse_args()
    opseal = str(pathlib.Path(arguments.opseal).absolute())
    results = live_support.Results()
    compilers = [compiler for compiler in COMPILERS if shutil.which(compiler)]
    if not compilers:
        results.add("skipped", "handlers", "no compiler")
    for wheel in WHEELS if compilers else ():
        name = "jaxlib-" + wheel[0]
        if arguments.only and name not in arguments.only:
            continue
        try:
            include = headers(arguments.cache, wheel[0], wheel[1])
        except live_support.Skip as reason:
            results.add("skipped", name, str(reason))
            continue
        with tempfile.TemporaryDirectory() as folder:
            for compiler in compilers:
                check(results, opseal, compiler, include, wheel, pathlib.Path(folder))
    counts = [results.counts[outcome] for outcome in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if results.counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(check_build, __doc__))
