"""First code of an export child: `python -B -c THIS NAME VERSION [FLAG]...`, the flags being those
of `opseal export`, each with its value behind a `=`. And of a check of a framework: `python -B -c
THIS --probe FRAMEWORK CHECK [ARGUMENT]...`, which answers with lines of JSON (`probe_rows.py`).

Standard input holds the other scripts, each as a line `MODULE LENGTH` and that many bytes. They are
served from memory under names that no package has, so nothing of opseal lies on sys.path and a
script called jax.py cannot shadow jax. The answer goes to descriptor 3 alone: packages print to
standard output while they are imported. The first line of an export is one of `manifest`, `missing` and
`failed`; what follows is the manifest, the missing module, or the reason.
"""

import os
import sys

ANSWER_DESCRIPTOR = 3


def answer(kind, text):
    """Writes the answer and ends the process at once: an exit handler of a package could still
    hang or crash."""
    with os.fdopen(ANSWER_DESCRIPTOR, "wb") as stream:
        stream.write((kind + "\n" + text).encode("utf-8", "replace"))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def forget_working_directory():
    """Python puts the working directory first; a jax.py there is the user's script. What
    PYTHONPATH names stays."""
    wanted = [
        os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path
    ]
    here = os.getcwd()
    sys.path[:] = [
        path
        for path in sys.path
        if path != "" and (os.path.abspath(path) != here or here in wanted)
    ]


def read_scripts(stream):
    scripts = {}
    for head in iter(stream.readline, b""):
        name, length = head.decode("ascii").split()
        scripts[name] = stream.read(int(length)).decode("utf-8")
    return scripts


def serve_from_memory(scripts):
    import importlib.abc
    import importlib.util
    import linecache

    class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        def find_spec(self, name, path=None, target=None):
            return importlib.util.spec_from_loader(name, self) if name in scripts else None

        def create_module(self, spec):
            return None

        def exec_module(self, module):
            text = scripts[module.__name__]
            file = "<opseal " + module.__name__ + ">"
            linecache.cache[file] = (len(text), None, text.splitlines(True), file)
            exec(compile(text, file, "exec"), module.__dict__)

    sys.meta_path.insert(0, Finder())


def values_of(flag, flags):
    return [each[len(flag) + 1 :] for each in flags if each.startswith(flag + "=")]


def run(name, version, flags):
    from importlib import import_module

    common = import_module("_opseal_common")
    request = common.Request(
        name,
        version,
        "--trace" in flags,
        modules=values_of("--import", flags),
        custom_ops=values_of("--custom-op", flags),
        namespaces=values_of("--namespace", flags),
    )
    try:
        # A module's name has no hyphen, but that of a system may.
        manifest = import_module("_opseal_" + name.replace("-", "_")).export(request)
        return "manifest", common.manifest_text(manifest)
    except common.MissingModule as error:
        return "missing", str(error)
    except common.ExportError as error:
        return "failed", str(error)


def probe(framework, check, arguments):
    from importlib import import_module

    with os.fdopen(ANSWER_DESCRIPTOR, "wb") as stream:
        import_module("_opseal_probe_rows").answer(framework, check, arguments, stream)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def main():
    if sys.version_info < (3, 8):
        answer("failed", "Python {}.{}, expected 3.8 or newer".format(*sys.version_info[:2]))
    os.set_inheritable(ANSWER_DESCRIPTOR, False)
    forget_working_directory()
    serve_from_memory(read_scripts(sys.stdin.buffer))
    if sys.argv[1] == "--probe":
        probe(sys.argv[2], sys.argv[3], sys.argv[4:])
    try:
        kind, text = run(sys.argv[1], sys.argv[2], sys.argv[3:])
    except BaseException as error:  # a package may even raise SystemExit while it is imported
        import traceback

        traceback.print_exc()
        kind, text = "failed", "{}: {}".format(type(error).__name__, error)
    answer(kind, text)


main()
