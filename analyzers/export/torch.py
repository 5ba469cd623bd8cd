"""The dispatcher of torch: operators, and what is registered for them under each dispatch key."""

from _opseal_common import (
    ExportError,
    import_extra,
    new_manifest,
    nothing_in_namespaces,
    packages_of,
    required_module,
)
from _opseal_torch_dispatcher import Dispatcher
from _opseal_torch_functions import PythonTables, describe_function
from _opseal_torch_log import LibraryLog
from _opseal_torch_ownership import chosen, namespace_of
from _opseal_torch_schema import operands
from _opseal_torch_sites import Sites, language

PACKAGE = "torch"
BATCHING_KEYS = {"FuncTorchBatched": "custom", "FuncTorchBatchedDecomposition": "general"}
ACCELERATORS = ("cuda", "xpu", "mps")


def export(request):
    torch = required_module(PACKAGE)
    tables = PythonTables(request, torch)
    dispatcher = Dispatcher(request, torch)
    before = dispatcher.entries()
    log = LibraryLog(torch)
    with log.listening():
        import_extra(request)
    packages = packages_of(request, PACKAGE)
    sites = Sites(torch, packages, [entry.site for entry in before.values()])
    wanted = chosen(request, dispatcher.entries(), before, sites, tables)
    walk = Walk(request, dispatcher, tables, sites, log)
    operators = [walk.operator(name, entry) for name, entry in wanted]
    if not operators and request.namespaces:
        raise nothing_in_namespaces(request)
    if not operators:
        names = ", ".join("`{}`".format(name) for name in request.modules)
        raise ExportError("no operator is registered by importing " + names)
    devices = visible_devices(torch)
    if devices == ["cpu"]:
        request.remark(
            "no accelerator is present, so what is registered only where one is present is not said"
        )
    manifest = new_manifest(
        request,
        packages,
        devices=devices,
        backend_fallbacks=dispatcher.backend_fallbacks(),
        operators=operators,
    )
    # What is installed does not say for which toolkit it was built, as `2.15.0+cu132` does.
    manifest["producer"]["packages"][PACKAGE] = str(torch.__version__)
    return manifest


def visible_devices(torch):
    found = ["cpu"]
    for kind in ACCELERATORS:
        available = getattr(getattr(torch, kind, None), "is_available", None)
        try:
            if available is not None and available():
                found.append(kind)
        except Exception:  # a build without the accelerator may raise
            continue
    return found


class Walk:
    def __init__(self, request, dispatcher, tables, sites, log):
        self.request = request
        self.dispatcher = dispatcher
        self.tables = tables
        self.sites = sites
        self.log = log

    def operator(self, name, entry):
        described = {"name": name, "namespace": namespace_of(name)}
        custom = self.tables.custom_facts(name)
        place = custom.pop("location", None) or self.log.definitions.get(name)
        place = place or self.sites.describe(entry.site)
        if place:
            described["location"] = place
        described.update(language(entry.site))
        if entry.schema is not None:
            described["schema"] = entry.schema
            described.update(self.operands(name, entry.schema))
        kernels = self.kernels(name, entry)
        described.update(self.tables.abstract(name, entry, meta_location(kernels)))
        described.update(batching(entry))
        described.update(custom)
        tags = self.dispatcher.tags(name)
        if tags:
            described["tags"] = tags
        described["kernels"] = kernels
        return described

    def operands(self, name, schema):
        found = operands(schema)
        if not found and "..." not in schema:
            self.request.remark(
                "the schema of `{}` cannot be read, so its operands are not said".format(name)
            )
        return found

    def kernels(self, name, entry):
        functions = self.tables.kernel_functions(name)
        rows = entry.rows
        if self.tables.has_stub_for_meta(name, entry):
            rows = [row for row in rows if row.key != "Meta"]
        return [
            self.kernel(row, functions.get(row.key), self.log.kernels.get((name, row.key)))
            for row in rows
        ]

    def kernel(self, row, function, place):
        described = {"platform": row.key}
        if place is None or not row.active:
            place = self.sites.describe(row.site)
        if function is not None and row.active:
            described["function"] = describe_function(function)
            place = described["function"].get("location", place)
        if place:
            described["location"] = place
        package = self.sites.package(row.site)
        if package:
            described["package"] = package
        if not row.active:
            described["active"] = False
        if row.fallthrough:
            described["fallthrough"] = True
        return described


def meta_location(kernels):
    """Where the kernel that serves tensors without data was registered."""
    for kernel in kernels:
        if kernel["platform"] == "Meta" and kernel.get("active", True):
            return kernel.get("location")
    return None


def batching(entry):
    """Nothing where there is no row: functorch may still go through the batch in a loop."""
    for row in entry.rows:
        if row.key in BATCHING_KEYS and row.active and not row.fallthrough:
            return {"batching": {"kind": BATCHING_KEYS[row.key]}}
    return {}
