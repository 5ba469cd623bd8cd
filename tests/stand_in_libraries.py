"""Stand-ins for the CUDA libraries that a package was linked with, so that it can be imported, and
its registry walked, on a machine without CUDA. For tests only.

usage: stand_in_libraries.py FOLDER [DESTINATION] [--returns=NUMBER]

For every library that those in FOLDER need, that is neither there nor of the C and C++ run-time, a
shared library is made that has the functions asked of it, under the names, versions and SONAME that
the loader looks for. Registration calls none of them; what does call one is told that there is no
device (100), or NUMBER. They go to DESTINATION, else to the folder in the RPATH of the libraries
that belongs to the toolkit. Needs: readelf, cc.
"""

import ctypes
import functools
import pathlib
import re
import subprocess
import sys

# 100 is `cudaErrorNoDevice` and `CUDA_ERROR_NO_DEVICE`.
NO_DEVICE = 100
RUN_TIME = re.compile(
    r"lib(c|m|dl|rt|util|pthread|stdc\+\+|gcc_s|gomp|gfortran|quadmath|z)\.so|ld-linux|libpython"
)
# Whoever asks for a text formats it, and would take a number for the address of one.
TEXT = re.compile(r"Error_?(String|Name)|Status(String|Name)|GetVersionString|LastErrorMessage")
TOOLKIT = re.compile(r"/nvidia/(cu\d+|cuda_runtime)/lib$")


class Library:
    """What the loader reads of a shared library."""

    def __init__(self, file):
        dynamic = readelf("--dynamic", file)
        self.needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
        self.search = [
            pathlib.Path(entry.replace("$ORIGIN", str(file.parent)))
            for entries in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", dynamic)
            for entry in entries.split(":")
            if entry
        ]
        self.versions = needed_versions(readelf("--version-info", file))
        self.defined, self.wanted = symbols(readelf("--dyn-syms", file))


def readelf(what, file):
    command = ["readelf", "--wide", what, str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def needed_versions(text):
    """{version of a symbol: library that has it}"""
    found, library = {}, None
    for line in text.partition(".gnu.version_r")[2].splitlines():
        file = re.search(r"File: (\S+)", line)
        name = re.search(r"Name: (\S+)", line)
        library = file.group(1) if file else library
        if name and library:
            found[name.group(1)] = library
    return found


def symbols(text):
    """(names that are there, {name that is looked for: its version or ''})"""
    defined, wanted = set(), {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit():
            continue
        name, _, version = fields[7].partition("@")
        if fields[6] != "UND":
            defined.add(name)
        elif fields[4] != "WEAK":
            wanted[name] = version.lstrip("@")
    return defined, wanted


def shared_libraries(folder):
    return [file for file in sorted(folder.iterdir()) if ".so" in file.name and file.is_file()]


def make(folder, destination=None, returns=NO_DEVICE):
    """Makes the stand-ins and returns their names."""
    files = shared_libraries(pathlib.Path(folder).resolve())
    libraries = [Library(file) for file in files]
    own = {file.name for file in files}
    missing = sorted(
        name
        for name in set().union(*(library.needed for library in libraries)) - own
        if not RUN_TIME.match(name)
    )
    if destination is None:
        destination = toolkit_folder(libraries)
    destination.mkdir(parents=True, exist_ok=True)
    defined = set().union(*(library.defined for library in libraries))
    versioned, plain = wanted_symbols(libraries, defined)
    for name in missing:
        # Nothing says which library is to have a symbol without a version; the loader takes the
        # first that has it.
        write_library(destination / name, versioned.get(name, {}), plain, returns)
    return missing


def toolkit_folder(libraries):
    for library in libraries:
        for folder in library.search:
            if TOOLKIT.search(str(folder)):
                return folder.resolve()
    raise SystemExit("no folder of the toolkit in the RPATH of the libraries, expected one")


def wanted_symbols(libraries, defined):
    """({library: {version: names}}, names without a version)"""
    versioned, plain = {}, set()
    for library in libraries:
        for name, version in library.wanted.items():
            if name in defined:
                continue
            if version:
                owner = library.versions.get(version, "")
                versioned.setdefault(owner, {}).setdefault(version, set()).add(name)
            else:
                plain.add(name)
    return versioned, {name for name in plain if not in_run_time(name)}


def in_run_time(name):
    """A stand-in for `__cxa_throw` would be found first by whoever raises an exception later."""
    return name.startswith(("Py", "_Py", "_Z")) or any(
        hasattr(library, name) for library in run_time()
    )


@functools.lru_cache(maxsize=None)
def run_time():
    names = ("libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6")
    return [ctypes.CDLL(name) for name in names]


def write_library(file, versions, plain, returns):
    names = sorted(plain.union(*versions.values()))
    source, script = file.with_suffix(".stand-in.c"), file.with_suffix(".stand-in.map")
    source.write_text("".join(function(name, returns) for name in names))
    command = ["cc", "-shared", "-fPIC", "-fno-builtin", "-w", "-Wl,-soname," + file.name]
    if versions:
        script.write_text("".join(version_node(*item) for item in sorted(versions.items())))
        command.append("-Wl,--version-script=" + str(script))
    subprocess.run(command + ["-o", str(file), str(source)], check=True)
    source.unlink()
    script.unlink(missing_ok=True)


def version_node(version, names):
    return "{} {{ global: {} }};\n".format(version, " ".join(name + ";" for name in sorted(names)))


def function(name, returns):
    if TEXT.search(name):
        return 'const char* {}(void) {{ return "no device (stand-in)"; }}\n'.format(name)
    return "int {}(void) {{ return {}; }}\n".format(name, returns)


def main():
    plain = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    given = [argument for argument in sys.argv[1:] if argument.startswith("--returns=")]
    if not 1 <= len(plain) <= 2 or len(plain) + len(given) != len(sys.argv) - 1:
        sys.exit(__doc__.strip())
    returns = int(given[-1].partition("=")[2]) if given else NO_DEVICE
    destination = pathlib.Path(plain[1]) if len(plain) == 2 else None
    for name in make(plain[0], destination, returns):
        print("made " + name)


if __name__ == "__main__":
    main()
