"""Device code of libraries, against what NVIDIA's own tools say of it.

usage: live_cuda_test.py OPSEAL CACHE [--python PYTHON]

Kernels built here with `nvcc` (on PATH or in /usr/local/cuda/bin) must have the registers and the
shared memory that `ptxas -v` reports, whatever container they end up in; and every library of the
toolkit the kernels that `cuobjdump` lists, which is installed into CACHE. Needs no GPU. Skipped where
there is no `nvcc`.
"""

import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import live_support

ARCHITECTURES = ("75", "80", "90", "90a", "100", "100a", "103f", "120a")
COMPRESS_MODES = ("default", "size", "speed", "balance", "none")
SOURCE = r"""
struct Large { char bytes[20000]; };
struct Small { char bytes[24]; };
extern "C" __global__ void empty(int* p) {}
extern "C" __global__ void store(int* p, Small s, char c, double d) { *p = s.bytes[5] + c + d; }
extern "C" __global__ void large(Large l, int* p) { *p = l.bytes[7]; }
extern "C" __global__ void __launch_bounds__(96) bounded(float* p) { p[threadIdx.x] = sinf(p[0]); }
extern "C" __global__ void shared(int* p) {
  __shared__ int words[100];
  words[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = words[threadIdx.x ^ 1];
}
extern "C" __global__ void traps(int* p) { __trap(); }
extern "C" __global__ void huge(int* p) {
  __shared__ int words[4000];
  words[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = words[threadIdx.x ^ 1];
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster(int* p) { *p = 1; }
void launch_cluster(int* p) { cluster<<<2, 1>>>(p); }
#endif
template <class T> __global__ void plus(T* p) { p[threadIdx.x] += 1; }
template __global__ void plus<double>(double*);
static __global__ void hidden(int* p) { atomicAdd(p, 1); }
// The linker of `-rdc` leaves out kernels that the host doesn't launch.
void launch(int* p) {
  empty<<<1, 1>>>(p);
  store<<<1, 1>>>(p, {}, 1, 1);
  large<<<1, 1>>>({}, p);
  bounded<<<1, 1>>>(nullptr);
  shared<<<1, 1>>>(p);
  huge<<<1, 1>>>(p);
  traps<<<1, 1>>>(p);
  plus<double><<<1, 1>>>(nullptr);
  hidden<<<1, 1>>>(p);
}
"""
PARAMETERS = {
    "empty": [8],
    "store": [8, 24, 1, 8],
    "large": [20000, 8],
    "bounded": [8],
    "shared": [8],
}


# ---- what the compiler says


def compiler():
    usual = pathlib.Path("/usr/local/cuda/bin/nvcc")
    return shutil.which("nvcc") or (str(usual) if usual.exists() else None)


def reported(text):
    """{(architecture, kernel): (registers, shared memory)} as `ptxas -v` reports them."""
    facts = {}
    place = None
    for line in text.splitlines():
        found = re.search(r"Compiling entry function '(\S+)' for '(\S+)'", line)
        if found:
            place = (found[2], found[1])
        elif place and "Used " in line:
            shared = re.search(r"(\d+) bytes smem", line)
            registers = int(re.search(r"Used (\d+) registers", line)[1])
            facts[place] = (registers, int(shared[1]) if shared else 0)
            place = None
    return facts


def compile_source(nvcc, folder, output, *options):
    """What was printed."""
    source = folder / "kernels.cu"
    source.write_text(SOURCE)
    targets = [
        "-gencode=arch=compute_{0},code=sm_{0}".format(architecture)
        for architecture in ARCHITECTURES
    ]
    command = [nvcc, "-O2", "-Xcompiler", "-fPIC", "-Xptxas", "-v", "-o", str(output), str(source)]
    done = subprocess.run(command + targets + list(options), capture_output=True, text=True)
    if done.returncode != 0:
        raise live_support.Skip("nvcc: " + done.stderr.strip().splitlines()[-1])
    return done.stderr + done.stdout


# ---- what opseal says


def libraries_of(opseal, path):
    done = subprocess.run([opseal, "dump", str(path)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError("dump of {}: {}".format(path, done.stderr.strip()))
    return json.loads(done.stdout)["libraries"]


def images_of(opseal, path, **wanted):
    """Images of a kind, of the libraries in a file; `relocatable` is false where it isn't said."""
    for library in libraries_of(opseal, path):
        for image in library.get("images", ()):
            if all(image.get(key, False) == value for key, value in wanted.items()):
                yield image


def found(images):
    return {
        (image["architecture"], kernel["name"]): (kernel["registers"], kernel["shared_memory"])
        for image in images
        for kernel in image.get("kernels", ())
    }


def compare_places(results, name, found, expected):
    """Only the places that differ are printed."""
    places = sorted(set(found) | set(expected))
    differ = [
        (place, found.get(place), expected.get(place))
        for place in places
        if found.get(place) != expected.get(place)
    ]
    results.require(name, expected and not differ, "found, expected: {}".format(differ[:4]))


def check_details(results, name, images):
    """Parameters, bounds, clusters, bodies and linkage, which are the same for all architectures."""
    for image in images:
        kernels = {kernel["name"]: kernel for kernel in image.get("kernels", ())}
        if not kernels:
            continue
        title = "{} {}".format(name, image["architecture"])
        sizes = {kernel: kernels[kernel].get("parameters") for kernel in PARAMETERS}
        results.compare(title + " parameters", sizes, PARAMETERS)
        results.compare(title + " bounds", kernels["bounded"].get("max_threads"), [96, 1, 1])
        if "cluster" in kernels:
            results.compare(title + " cluster", kernels["cluster"].get("cluster"), [2, 1, 1])
        writers = [kernel for kernel in kernels if kernels[kernel].get("writes")]
        silent = sorted(set(kernels) - set(writers))
        results.compare(title + " kernels that don't write", silent, ["empty", "traps"])
        results.compare(title + " trap", kernels["traps"].get("traps"), True)
        results.require(title + " body", kernels["empty"].get("instructions", 99) <= 8)


def check_built(results, opseal, nvcc, folder):
    for mode in COMPRESS_MODES:
        library = folder / "lib{}.so".format(mode)
        expected = reported(
            compile_source(nvcc, folder, library, "-shared", "--compress-mode=" + mode)
        )
        images = list(images_of(opseal, library, kind="sass"))
        compare_places(results, "compressed by " + mode, found(images), expected)
        if mode == "default":
            check_details(results, mode, images)
            subprocess.run(["strip", str(library)], check=True)
            stripped = found(images_of(opseal, library, kind="sass"))
            compare_places(results, "stripped", stripped, expected)

    library = folder / "librdc.so"
    expected = reported(compile_source(nvcc, folder, library, "-shared", "-rdc=true"))
    parts = found(images_of(opseal, library, kind="sass", relocatable=True))
    compare_places(results, "-rdc, parts", parts, expected)
    linked = found(images_of(opseal, library, kind="sass", relocatable=False))
    # The linker may give a kernel other registers than the compiler did.
    shared = {place: facts[1] for place, facts in linked.items()}
    wanted = {place: facts[1] for place, facts in expected.items()}
    compare_places(results, "-rdc, linked", shared, wanted)

    part = folder / "kernels.o"
    expected = reported(compile_source(nvcc, folder, part, "-c"))
    archive = folder / "libkernels.a"
    subprocess.run(["ar", "rcs", str(archive), str(part)], check=True)
    for name, file in (("object file", part), ("static archive", archive)):
        compare_places(results, name, found(images_of(opseal, file, kind="sass")), expected)


# ---- the toolkit's own libraries


def cuobjdump(cache, maker):
    pins = {"nvidia-cuda-cuobjdump": "13.5.37"}
    case = live_support.Case("cuda", "cuobjdump-13.5.37", pins, {}, {}, alone=True)
    python = live_support.environment(cache, case, maker)
    programs = list(python.parent.parent.glob("lib/python*/site-packages/nvidia/*/bin/cuobjdump"))
    if not programs:
        raise live_support.Skip("the package nvidia-cuda-cuobjdump holds no program")
    programs[0].chmod(0o755)
    return str(programs[0])


def lines_of(command):
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace"
    ) as process:
        yield from process.stdout


def listed(program, library):
    """Kernels of machine code, and those of PTX, by (architecture, name), counted. `-symbols` and not
    `-res-usage`, which counts device functions of linked code as well."""
    code = collections.Counter()
    architecture = ""
    for line in lines_of([program, "-symbols", library]):
        if line.startswith("arch = "):
            architecture = line[7:].strip()
        elif re.match(r"FUNC +\w+ +\w+ +ENTRY ", line):
            code[architecture, line.split()[-1]] += 1
    text = collections.Counter()
    for line in lines_of([program, "-ptx", library]):
        entry = re.match(r"\s*(?:\.\w+ +)*\.entry +([\w$]+)", line)
        if line.startswith("arch = "):
            architecture = line[7:].strip()
        elif entry:
            text[architecture, entry[1]] += 1
    return code, text


def check_toolkit(results, opseal, nvcc, program):
    folder = pathlib.Path(nvcc).resolve().parent.parent / "lib64"
    files = {file.resolve() for file in folder.glob("*.so*")}
    for file in sorted(files):
        images = list(images_of(opseal, file, section=".nv_fatbin"))
        counted = {
            kind: collections.Counter(
                (image["architecture"], kernel["name"])
                for image in images
                if image["kind"] == kind
                for kernel in image.get("kernels", ())
            )
            for kind in ("sass", "ptx")
        }
        for kind, expected in zip(("sass", "ptx"), listed(program, str(file))):
            missing = expected - counted[kind]
            more = counted[kind] - expected
            results.require(
                "{} {}: {} kernels".format(file.name, kind, sum(expected.values())),
                not missing and not more,
                "missing {} {}, more {} {}".format(
                    sum(missing.values()), list(missing)[:2], sum(more.values()), list(more)[:2]
                ),
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("opseal")
    parser.add_argument("cache", type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    results = live_support.Results()
    nvcc = compiler()
    if nvcc is None:
        results.add("skipped", "device code", "there is no `nvcc`")
    else:
        with tempfile.TemporaryDirectory() as name:
            try:
                check_built(results, arguments.opseal, nvcc, pathlib.Path(name))
            except live_support.Skip as reason:
                results.add("skipped", "kernels built here", str(reason))
        try:
            program = cuobjdump(arguments.cache, arguments.python)
            check_toolkit(results, arguments.opseal, nvcc, program)
        except live_support.Skip as reason:
            results.add("skipped", "libraries of the toolkit", str(reason))
    counts = [results.counts[outcome] for outcome in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if results.counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
