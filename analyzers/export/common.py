"""What all exporters share: the request, modules and their private names, the manifest as text."""

import collections
import importlib
import importlib.metadata
import importlib.util
import json
import sys
import types

MISSING = object()


class ExportError(Exception):
    """Ends the export; the text is for the user."""


class MissingModule(Exception):
    """A module that the export needs is not installed; the text is its name."""


class Request:
    """What the user asked for, and what was remarked on the way."""

    def __init__(self, exporter, version, trace, modules, custom_ops=(), namespaces=()):
        self.exporter = exporter
        self.version = version
        self.trace = trace
        self.modules = modules
        self.custom_ops = custom_ops  # libraries of custom operators
        self.namespaces = namespaces  # the only ones that are looked at, unless there are none
        self.remarks = []

    def note(self, text):
        """For what only the user has to know."""
        print("opseal export: remark: " + text, file=sys.stderr)

    def remark(self, text):
        """For what keeps facts out of the manifest; said once however often it happens."""
        if text not in self.remarks:
            self.remarks.append(text)
            self.note(text)


def required_module(name):
    """Imports a module. Only the absence of the module itself counts as missing: what it lacks in
    turn is its own failure."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name + ".").startswith(error.name + "."):
            raise MissingModule(name) from None
        raise


def require_installed(name):
    """Like required_module, but runs nothing of it yet: a log may have to be set up first."""
    if name not in sys.modules and importlib.util.find_spec(name) is None:
        raise MissingModule(name)


def optional_module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def import_extra(request):
    for name in request.modules:
        required_module(name)


def packages_of(request, *own):
    """Top-level packages whose operators are looked at, in order and once each."""
    return list(dict.fromkeys(list(own) + [name.split(".")[0] for name in request.modules]))


def read(request, owner, attribute, lost):
    """A private attribute of an object or of the module of that name; MISSING, with a remark on
    what is lost, if it is not there."""
    name = owner if isinstance(owner, str) else type(owner).__name__
    value = getattr(optional_module(owner) if isinstance(owner, str) else owner, attribute, MISSING)
    if value is MISSING:
        request.remark("`{}.{}` is not there, so {} is not said".format(name, attribute, lost))
    return value


def loaded_modules(*packages):
    """(name, module) of every loaded module of the packages, by name; what only poses as a module
    is left alone."""
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] in packages and isinstance(module, types.ModuleType):
            yield name, module


def aliases(values, packages):
    """Identity of a value to the sorted names of the module variables that hold it."""
    wanted = {id(value) for value in values}
    found = {}
    for _, module in loaded_modules(*packages):
        for attribute, value in list(vars(module).items()):
            if id(value) in wanted:
                found.setdefault(id(value), set()).add(attribute)
    return {key: sorted(names) for key, names in found.items()}


def distributions_of(module):
    """Sorted names of the installed distributions that hold a module, which may come in several
    builds under names of their own. The module's name where nobody knows."""
    found = {}
    if sys.version_info >= (3, 10):
        found = importlib.metadata.packages_distributions()
    return sorted(set(found.get(module, [module])))


def installed_version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def is_older(package, *numbers):
    """Is the installed version below `numbers`? No if the version cannot be read."""
    parts = (installed_version(package) or "").split(".")[: len(numbers)]
    return all(part.isdigit() for part in parts) and tuple(int(part) for part in parts) < numbers


def nothing_in_namespaces(request):
    names = ", ".join("`{}`".format(name) for name in request.namespaces)
    return ExportError("no operator in the namespace " + names)


def asked_for(request, operators):
    """Those in the namespaces that the user named, all if none is named."""
    if not request.namespaces:
        return operators
    return [each for each in operators if each.get("namespace") in request.namespaces]


def producer(request, packages):
    versions = {package: installed_version(package) for package in packages}
    return {
        "name": "export " + request.exporter,
        "version": request.version,
        "packages": {package: version for package, version in versions.items() if version},
        "python": ".".join(str(number) for number in sys.version_info[:3]),
    }


def tell_apart(operators):
    """Numbers operators of equal name, for registries that are keyed by objects, not by names."""
    names = collections.Counter(operator["name"] for operator in operators)
    met = collections.Counter()
    for operator in operators:
        if names[operator["name"]] > 1:
            operator["identity"] = str(met[operator["name"]])
            met[operator["name"]] += 1
    return operators


def new_manifest(request, packages, **facts):
    """The frame around `operators` and the other facts, in the order given. None as a fact means
    that nobody can say."""
    # What the user leaves only some of was recognized; that nothing is left is told elsewhere.
    if not facts["operators"] and not request.namespaces:
        raise ExportError(
            "0 operators in `{}` {}, expected at least 1: its registry was not recognized".format(
                packages[0], installed_version(packages[0]) or "of unknown version"
            )
        )
    manifest = {
        "opseal_manifest": 1,
        "producer": producer(request, packages),
        "system": request.exporter,
    }
    manifest.update({key: value for key, value in facts.items() if value is not None})
    if request.remarks:
        manifest["remarks"] = sorted(request.remarks)
    return manifest


def manifest_text(manifest):
    """One element of a top-level list on each line: a line number then names an operator, and so
    does a diff."""
    return (
        "{\n"
        + ",\n".join(
            " {}: {}".format(json.dumps(key), value_text(value)) for key, value in manifest.items()
        )
        + "\n}\n"
    )


def value_text(value):
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n  " + ",\n  ".join(compact(element) for element in value) + "\n ]"
    return compact(value)


def compact(value):
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
