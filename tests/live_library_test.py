"""Real wheels, read in place: images and kernels for each architecture, handlers, findings.

usage: live_library_test.py OPSEAL CACHE [--python PYTHON] [NAME-VERSION ...]

CACHE/wheels holds the wheels; those that are missing are downloaded (3 GB in all). Needs no GPU and
none of the packages installed. The figures were measured with another program and with NVIDIA's
cuobjdump, which read the same files.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import live_support

INTERPRETERS = ("3.11", "3.12", "3.10", "3.13")
# What a wheel for another processor may be for.
SYSTEMS = ("manylinux2014_", "manylinux_2_27_", "manylinux_2_28_")


class Wheel:
    def __init__(
        self,
        name,
        version,
        libraries=None,
        findings=None,
        files=None,
        handlers=None,
        machine="x86_64",
    ):
        self.name = name
        self.version = version
        # As platform tags spell it.
        self.machine = machine
        # {end of the path: "containers/images sm:kernels ... | ptx sm:kernels ..."}
        self.libraries = libraries or {}
        # Sorted (severity, rule, number of findings), of the default profile.
        self.findings = findings or []
        # Libraries that were read: equal ones count once.
        self.files = files
        # {end of the path: handlers}: functions where the file has local symbols, else types
        self.handlers = handlers or {}

    @property
    def title(self):
        machine = "" if self.machine == "x86_64" else "-" + self.machine
        return "{}-{}{}".format(self.name, self.version, machine)

    def is_in(self, file):
        # Wheels write names with `_`.
        start = "{}-{}-".format(self.name.replace("-", "_"), self.version)
        return file.name.startswith(start) and file.stem.endswith((self.machine, "-any"))


WHEELS = (
    Wheel("apache-tvm-ffi", "0.1.15.post2"),
    Wheel(
        "bitsandbytes",
        "0.50.2",
        {
            "libbitsandbytes_cuda118.so": "7/55 60:202 70:202 75:202 80:202 86:202 89:202 90:202"
            " | 90:202",
            "libbitsandbytes_cuda128.so": "7/62 70:202 75:202 80:202 86:202 89:202 90:202 100:202"
            " 120:202 | 120:202",
            "libbitsandbytes_cuda130.so": "7/55 75:202 80:202 86:202 89:202 90:202 100:202 120:202"
            " | 120:202",
        },
        # 13 libraries: one finding for each path, numbers aside. Two need glibc 2.32 and CXXABI_1.3.13.
        [("error", "wheel-tag-glibc", 2), ("warning", "runpath-absolute", 3)],
    ),
    Wheel("cumm-cu120", "0.6.3"),
    Wheel(
        "cupy-cuda13x",
        "14.2.0",
        {
            "/cub.cpython-311-x86_64-linux-gnu.so": "1/8 75:383 80:383 86:383 89:383 90:383"
            " 100f:383 120f:383 | 120:383",
            "/thrust.cpython-311-x86_64-linux-gnu.so": "1/8 75:463 80:463 86:463 89:463 90:463"
            " 100f:463 120f:463 | 120:463",
            "/_generator_api.cpython-311-x86_64-linux-gnu.so": "1/8 75:48 80:48 86:48 89:48 90:48"
            " 100f:48 120f:48 | 120:48",
        },
        # 21 libraries need GLIBCXX_3.4.21, manylinux2014 has 3.4.19.
        [("error", "wheel-tag-glibc", 1)],
    ),
    Wheel("executorch", "1.5.1"),
    Wheel("flash-attn-jax", "0.6.2", {"flash_api": "72/144 80:1430 | 80:1430"}),
    Wheel(
        "jax-cuda13-plugin",
        "0.10.2",
        handlers={
            "/_hybrid.so": 3,
            "/_linalg.so": 3,
            "/_prng.so": 1,
            "/_rnn.so": 2,
            "/_solver.so": 13,
            "/_sparse.so": 9,
            "/_triton.so": 2,
            "/cuda_plugin_extension.so": 5,
        },
    ),
    Wheel(
        "jax-cuda13-plugin",
        "0.12.0.1",
        {
            "/_linalg.so": "1/7 75:7 80:7 90:7 100:7 110:7 120:7 | 120:7",
            "/_prng.so": "1/7 75:1 80:1 90:1 100:1 110:1 120:1 | 120:1",
            "/_solver.so": "2/14 75:13 80:13 90:13 100:13 110:13 120:13 | 120:13",
        },
    ),
    Wheel(
        "jax-cuda13-pjrt",
        "0.12.0.1",
        {
            "xla_cuda_plugin.so": "52/364 75:822 80:822 90:822 100:822 110:822 120:822 | 120:822",
        },
    ),
    Wheel("jaxlib", "0.10.2", handlers={"/_lapack.so": 61, "/_sparse.so": 1}),
    # The code of another processor shows the same handlers.
    Wheel("jaxlib", "0.10.2", handlers={"/_lapack.so": 61, "/_sparse.so": 1}, machine="aarch64"),
    Wheel("jaxlib", "0.12.0.1"),
    Wheel("nvidia-cudnn-frontend", "1.32.0"),
    Wheel("onnxruntime", "1.32.0"),
    Wheel(
        "sgl-kernel",
        "0.3.21",
        {
            "/_mscclpp.cpython-310-x86_64-linux-gnu.so": "1/4 80:10 90:10 | 80:10 90:10",
            "/flash_ops.abi3.so": "182/546 80:3605 86:3605 90a:3605 |",
            "/flashmla_ops.abi3.so": "11/22 90a:52 100a:52 |",
        },
        [
            # Names the nine libraries that need it.
            ("error", "library-needs-missing", 1),
            # glibc 2.27 and GLIBCXX_3.4.22, which manylinux2014 has not.
            ("error", "wheel-tag-glibc", 2),
            ("warning", "wheel-abi3-suffix", 1),
        ],
    ),
    Wheel(
        "spconv-cu120",
        "2.3.6",
        {
            "core_cc.cpython-311-x86_64-linux-gnu.so": "606/4077 50:654 52:654 60:932 61:654 70:932"
            " 75:932 80:932 86:932 89:932 90:932 | 90:932",
        },
    ),
    Wheel("tensorflow-text", "2.21.1"),
    Wheel("tilelang", "0.1.15"),
    Wheel(
        "torchao",
        "0.18.0",
        {"_C_cutlass_90a.abi3.so": "6/6 90a:146 |", "_C_mxfp8": "3/6 100:39 | 120:39"},
    ),
    Wheel(
        "transformer-engine-cu13",
        "2.20.2",
        {
            "libnccl_ep.so": "4/12 90:15 100:15 120:15 |",
            "libtransformer_engine.so": "89/629 75:15044 80:15044 89:15044 90:15044 100:1335"
            " 120:1335 90a:6 100a:13711 103a:13711 107a:13711 120f:13711 |",
        },
    ),
    Wheel(
        "turbomind", "0.0.2", {"_turbomind_ext": "16/96 70:183 75:183 80:183 86:183 89:183 90:183 |"}
    ),
    Wheel(
        "vllm",
        "0.33.0",
        {
            "_C_stable_libtorch.abi3.so": "118/512 75:3074 80:3532 86:2579 89:2991 90:2972 100:2483"
            " 120:2559 90a:861 100f:895 120f:1590 | 80:745 89:208 90:413",
            "_deepselect_C.abi3.so": "78/78 100f:79 |",
            "_flashkda_C.abi3.so": "1/3 90a:132 100f:132 120f:132 |",
            "_flashmla_C.abi3.so": "53/106 90a:111 100f:111 |",
            "_flashmla_extension_C.abi3.so": "2/4 90a:8 100f:8 |",
            "_moe_C_stable_libtorch.abi3.so": "35/118 75:1901 80:2252 86:1579 89:1783 90:1579"
            " 100:1579 120:1579 120f:876 | 80:673",
            "_qutlass_C.abi3.so": "6/6 100f:26 |",
            "_vllm_fa2_C.abi3.so": "76/152 80:2224 | 80:2224",
            "_vllm_fa3_C.abi3.so": "192/192 90a:1333 |",
        },
        [("error", "arch-name-split", 2)],
    ),
    Wheel(
        "warp-lang",
        "1.19.0",
        {"warp.so": "14/118 75:365 80:365 86:365 89:365 90:365 100:365 120:365 | 121:365 75:365"},
    ),
    Wheel("xformers", "0.0.35", {"_C.so": "11/44 75:50 80:50 90a:50 | 80:50"}),
    Wheel("flashinfer-cubin", "0.6.13", files=15970),
)


def fetch(wheel, folder, python):
    """The file, or None where no index serves it any more."""
    folder.mkdir(parents=True, exist_ok=True)
    for interpreter in INTERPRETERS:
        found = [file for file in folder.glob("*.whl") if wheel.is_in(file)]
        if found:
            return found[0]
        command = [python, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(folder)]
        command += ["--only-binary=:all:", "--python-version", interpreter]
        for system in SYSTEMS if wheel.machine != "x86_64" else ():
            command += ["--platform", system + wheel.machine]
        live_support.run(command + ["{}=={}".format(wheel.name, wheel.version)])
    return None


def kernel_counts(images, kind):
    """{architecture without `sm_`: different kernels}, as it is written above."""
    names = collections.defaultdict(set)
    for image in images:
        if image["kind"] == kind:
            kernels = names[image["architecture"].removeprefix("sm_")]
            kernels.update(kernel["name"] for kernel in image["kernels"])
    return {name: len(kernels) for name, kernels in names.items() if kernels}


def parse_figures(text):
    head, *machine_code = text.partition("|")[0].split()
    pairs = [text.split(":") for text in machine_code]
    ptx = [text.split(":") for text in text.partition("|")[2].split()]
    containers, images = head.split("/")
    return (
        int(containers),
        int(images),
        {name: int(number) for name, number in pairs},
        {name: int(number) for name, number in ptx},
    )


def figures_of(library):
    images = library["images"]
    containers = {image["container"] for image in images}
    return (
        len(containers),
        len(images),
        kernel_counts(images, "sass"),
        kernel_counts(images, "ptx"),
    )


def find(libraries, end):
    found = [library for library in libraries if end in "/" + library["path"]]
    return found[0] if found else None


def check_facts(results, wheel, manifest):
    libraries = manifest["libraries"]
    if wheel.files is not None:
        results.compare(wheel.title + " libraries", len(libraries), wheel.files)
    for end, expected in wheel.libraries.items():
        name = "{} {}".format(wheel.title, end)
        library = find(libraries, end)
        if library is None or "images" not in library:
            results.add("failed", name, "not read")
        else:
            results.compare(name, figures_of(library), parse_figures(expected))
    for end, expected in wheel.handlers.items():
        name = "{} {} handlers".format(wheel.title, end)
        library = find(libraries, end)
        results.compare(name, len((library or {}).get("handlers", ())), expected)


def check_findings(results, opseal, wheel, file, folder):
    report = folder / (wheel.title + ".report.json")
    done = live_support.run([opseal, "check", str(file), "-o", "json={}".format(report)])
    if not report.is_file():
        results.add("failed", wheel.title + " is checked", done.stderr.strip()[-2000:])
        return
    findings = json.loads(report.read_text(encoding="utf-8"))
    counts = collections.Counter(
        (finding["severity"], finding["rule"]) for finding in findings["findings"]
    )
    found = sorted((severity, rule, number) for (severity, rule), number in counts.items())
    results.compare(wheel.title + " findings", found, wheel.findings)
    problems = [one["message"] for one in findings["problems"] if one["severity"] == "error"]
    results.compare(wheel.title + " is read whole", problems, [])


def check_wheel(results, arguments, wheel, folder):
    file = fetch(wheel, arguments.cache / "wheels", arguments.python)
    if file is None:
        results.add("skipped", wheel.title, "the package index does not serve it")
        return
    started = time.monotonic()
    dump = folder / (wheel.title + ".json")
    with dump.open("w", encoding="utf-8") as out:
        done = subprocess.run(
            [arguments.opseal, "dump", str(file)], stdout=out, stderr=subprocess.PIPE, text=True
        )
    seconds = time.monotonic() - started
    if done.returncode != 0:
        results.add("failed", wheel.title + " is read", done.stderr.strip()[-2000:])
        return
    text = dump.read_text(encoding="utf-8")
    dump.unlink()
    print(
        "{}: {:.0f} MB read in {:.2f} s, {:.0f} MB of facts".format(
            wheel.title, file.stat().st_size / 1e6, seconds, len(text) / 1e6
        )
    )
    check_facts(results, wheel, json.loads(text))
    check_findings(results, arguments.opseal, wheel, file, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("opseal")
    parser.add_argument("cache", type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("only", nargs="*", metavar="NAME-VERSION")
    arguments = parser.parse_args()
    results = live_support.Results()
    with tempfile.TemporaryDirectory() as name:
        for wheel in WHEELS:
            if not arguments.only or wheel.title in arguments.only:
                check_wheel(results, arguments, wheel, pathlib.Path(name))
    counts = [results.counts[outcome] for outcome in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if results.counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
