"""brainevent: the live registry of XLACustomKernel, and the key of its compilation cache.

Inputs are counted in up to three ways, the most trusted first: `traced` (the equation that the
operator's own call makes), `calls` (positional arguments of its calls in the source), `rule`
(parameters of its JVP rules but for the tangent).
"""

import ast
import collections

from _opseal_brainevent_cache import describe_cache
from _opseal_brainevent_trace import traced_operators
from _opseal_common import (
    MISSING,
    ExportError,
    aliases,
    import_extra,
    new_manifest,
    packages_of,
    read,
    require_installed,
    required_module,
)
from _opseal_ffi_log import FfiLog
from _opseal_functions import core_function, describe_function, function_name
from _opseal_jax_tables import JaxTables, counts_by_rule, leave_devices_alone
from _opseal_registration_log import RegistrationLog
from _opseal_sources import has_star, named_value, source_modules
from _opseal_tangent import TangentReach

PACKAGE = "brainevent"
WAYS_BY_TRUST = ("traced", "calls", "rule")
STUB = "_register_stub_lowering"


def export(request):
    leave_devices_alone()
    require_installed(PACKAGE)
    log, registration_log = FfiLog(), RegistrationLog()
    with log.listening(request), registration_log.listening(request):
        required_module(PACKAGE)
        import_extra(request)
    packages = packages_of(request, PACKAGE)
    kernels = registered_kernels(request)
    calls = calls_in_source(kernels, packages)
    registrations, all_known = registration_log.registrations(request, kernels, packages)
    traces = traced_operators(request, kernels) if request.trace else {}
    walk = Walk(request, kernels, packages, registrations)
    operators = [walk.operator(name, calls.get(name), traces.get(name)) for name in sorted(kernels)]
    return new_manifest(
        request,
        packages[:1] + ["jax", "jaxlib", "numba"] + packages[1:],
        # Its tables are filled whatever devices there are, so `devices` would only cast doubt on them.
        platforms=["cpu", "gpu", "tpu"],
        global_backends=global_backends(request),
        operators=operators,
        targets=log.targets(lambda target: not target.get("library", "").startswith("jaxlib/")),
        libraries=[],
        caches=describe_cache(request),
        dispatch=[],
        registrations=registrations if all_known else None,
    )


def registered_kernels(request):
    table = read(request, "brainevent._registry", "_PRIMITIVE_REGISTRY", "any operator")
    if not isinstance(table, dict):
        raise ExportError(
            "`brainevent._registry._PRIMITIVE_REGISTRY` is not the table of operators that it was"
        )
    return dict(table)


def global_backends(request):
    chosen = read(request, "brainevent.config", "_global_backends", "`global_backends`")
    return dict(sorted(chosen.items())) if isinstance(chosen, dict) else None


def calls_in_source(kernels, packages):
    """{operator: counts of positional arguments}.

    A call with a starred argument hides its count, so nothing is said for its operator."""
    name_of = {id(kernel): name for name, kernel in kernels.items()}
    counts, hidden = {}, set()
    for variables, tree, _ in source_modules(packages):
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = name_of.get(id(named_value(variables, call.func)))
            if name is not None and has_star(call):
                hidden.add(name)
            elif name is not None:
                counts.setdefault(name, set()).add(len(call.args))
    return {name: sorted(seen) for name, seen in counts.items() if name not in hidden}


class Walk:
    def __init__(self, request, kernels, packages, registrations):
        self.request = request
        self.kernels = kernels
        self.locations = unique_locations(registrations)
        self.tables = JaxTables(request)
        self.aliases = aliases(kernels.values(), packages)
        names = {id(kernel): name for name, kernel in kernels.items()}
        names.update({id(self.primitive(kernel)): name for name, kernel in kernels.items()})
        self.reach = TangentReach(packages, lambda value: names.get(id(value)))

    def operator(self, name, calls, trace):
        kernel = self.kernels[name]
        operator = {"name": name, "aliases": self.aliases.get(id(kernel), [])}
        if name in self.locations:
            operator["location"] = self.locations[name]
        tags = self.read(kernel, "_tags", "`tags`")
        if tags is not MISSING:
            operator["tags"] = sorted(tags)
        primitive = self.primitive(kernel)
        rules = {} if primitive is MISSING else self.rules(primitive)
        operator.update(input_count(rules.get("jvp"), calls, trace))
        operator.update(trace_facts(trace))
        operator.update(rules)
        operator.update(self.kernel_rows(kernel))
        return operator

    def read(self, kernel, attribute, lost):
        return read(self.request, kernel, attribute, lost)

    def primitive(self, kernel):
        return self.read(kernel, "primitive", "what jax knows of an operator")

    def rules(self, primitive):
        facts = self.tables.differentiation(primitive, self.reach)
        facts.update(self.batching(primitive))
        facts.update(self.stubs(primitive))
        return facts

    def batching(self, primitive):
        rule = self.tables.batcher(primitive)
        if rule is MISSING:
            return {}
        if rule is None:
            return {"batching": None}
        is_general = function_name(rule) == "general_batching_rule"
        return {"batching": {"kind": "general" if is_general else "custom"}}

    def kernel_rows(self, kernel):
        facts = {}
        table = self.read(kernel, "_kernels", "`kernels`")
        if table is not MISSING:
            # Within a platform the order of registration stays: the first is fallen back to.
            facts["kernels"] = [
                describe_kernel(platform, backend, entry)
                for platform, backends in sorted(table.items())
                for backend, entry in backends.items()
            ]
        defaults = self.read(kernel, "_defaults", "`defaults`")
        if defaults is not MISSING:
            facts["defaults"] = dict(sorted(defaults.items()))
        return facts

    def stubs(self, primitive):
        rules = self.tables.lowering_rules(primitive) or []
        stubs = [
            platform
            for platform, rule in rules
            if STUB in getattr(core_function(rule), "__qualname__", "")
        ]
        return {"stub_platforms": sorted(stubs)} if stubs else {}


def unique_locations(registrations):
    """{operator: location}; of a name that is registered twice nobody can tell which survived."""
    times = collections.Counter(entry["name"] for entry in registrations)
    return {
        entry["name"]: entry["location"]
        for entry in registrations
        if times[entry["name"]] == 1 and "location" in entry
    }


def describe_kernel(platform, backend, entry):
    function = describe_function(getattr(entry, "kernel_generator", None))
    row = {"platform": platform, "backend": backend}
    if function is not None:
        row["function"] = function
        if "location" in function:
            row["location"] = function["location"]
    return row


def input_count(jvp, calls, trace):
    ways = {
        "traced": sorted({inputs for inputs, _ in trace["counts"]}) if trace else None,
        "calls": calls,
        "rule": counts_by_rule(jvp),
    }
    ways = {way: counts for way, counts in ways.items() if counts}
    for way in WAYS_BY_TRUST:
        if len(ways.get(way, [])) == 1:
            return {"inputs": ways[way][0], "arity_source": way, "arity": ways}
    return {"arity": ways}


def trace_facts(trace):
    if not trace:
        return {}
    outputs = {results for _, results in trace["counts"]}
    facts = {"outputs": outputs.pop()} if len(outputs) == 1 else {}
    facts["traced_signatures"] = sorted(list(signature) for signature in trace["signatures"])
    return facts
