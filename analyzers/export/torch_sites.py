"""The places that the dispatcher names, as a manifest shows them, and whose they are."""

import os
import re

from _opseal_functions import installation_folders, location

# The dispatcher keeps the file of the compiler, so a path of the machine that built the package.
SCHEMAS = re.compile(r"(.*?)((?:build/)?aten/src/ATen/RegisterSchema\.cpp)$")
OWN_FOLDERS = re.compile(r"(torch|aten|build|c10|caffe2|functorch|third_party)/")
# Where these register for somebody, torch notes their own line.
WRAPPERS = re.compile(r"torch/(library|_ops|_custom_ops|_library/.*|_custom_op/.*)\.py$")
MOST_COMPONENTS = 3


class Sites:
    """Needs: torch is imported. `packages`: top-level names of what is looked at; `known`: sites of
    torch's own operators."""

    def __init__(self, torch, packages, known):
        self.packages = set(packages) - {"torch"}
        self.folder = os.path.dirname(os.path.realpath(torch.__file__)) + os.sep
        found = (SCHEMAS.match(split(site)[0]) for site in known if site)
        # Where torch was built; None: not known. It may be '' or './'.
        self.build_root = next((match.group(1) for match in found if match), None)
        self.cache = {}

    def describe(self, site):
        """`FILE:LINE` as a Location; None for none, and for a line of Python: one made the
        `Library`, whatever was registered through it since."""
        place = self.place(site)
        return None if place is None or place["file"].endswith(".py") else place

    def place(self, site):
        """Whatever file it is; None for none, and for a line that is only torch's wrapper."""
        if site is None:
            return None
        if site not in self.cache:
            self.cache[site] = self.read(site)
        return self.cache[site]

    def read(self, site):
        path, line = split(site)
        if line is None:
            return None
        place = location(path, line) if self.is_here(path) else self.built_elsewhere(path, line)
        return None if place is None or WRAPPERS.match(place["file"]) else place

    def is_here(self, path):
        real = os.path.realpath(path)
        return path.endswith(".py") or any(
            real.startswith(folder.rstrip(os.sep) + os.sep) for folder in installation_folders()
        )

    def built_elsewhere(self, path, line):
        return {"file": self.without_machine(path), "line": line}

    def without_machine(self, path):
        rest = self.in_torch(path)
        if rest is not None:
            return rest
        parts = [part for part in path.split("/") if part not in ("", ".", "..")]
        for position in range(len(parts) - 1, -1, -1):
            if parts[position] in self.packages:
                return "/".join(parts[position:])
        return "/".join(parts[-MOST_COMPONENTS:] if path.startswith("/") else parts)

    def in_torch(self, path):
        """The path inside torch's repository; None if it is not in there."""
        if self.build_root is None or not path.startswith(self.build_root):
            return None
        rest = path[len(self.build_root) :]
        return rest if OWN_FOLDERS.match(rest) else None

    def is_torch(self, site):
        """Whether the site is torch's; None for a wrapper's, which says nothing."""
        if self.place(site) is None:
            return None
        path, _ = split(site)
        return os.path.realpath(path).startswith(self.folder) or self.in_torch(path) is not None

    def package(self, site):
        """The package that a site lies in, None if nobody can tell."""
        place = self.place(site)
        if place is None:
            return None
        if self.is_torch(site):
            return "torch"
        first = place["file"].split("/")[0]
        return first if first in self.packages else None


def language(site):
    """{defined_in} by the file that a site names; {} where it names none."""
    path, line = split(site or "")
    if line is None:
        return {}
    return {"defined_in": "python" if path.endswith(".py") else "native"}


def split(site):
    """(file, line); the line is None where the text is no such place."""
    path, _, line = site.rpartition(":")
    return (path, int(line)) if line.isdigit() else (site, None)
