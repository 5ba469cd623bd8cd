"""JAX's own primitive tables and FFI targets, and those of any package that is imported besides."""

import types

from _opseal_common import (
    MISSING,
    aliases,
    asked_for,
    import_extra,
    loaded_modules,
    new_manifest,
    nothing_in_namespaces,
    optional_module,
    packages_of,
    read,
    require_installed,
    required_module,
    tell_apart,
)
from _opseal_ffi_log import FfiLog
from _opseal_functions import describe_function
from _opseal_jax_tables import (
    JaxTables,
    counts_by_rule,
    describe_abstract_evaluation,
    leave_devices_alone,
    visible_devices,
)
from _opseal_primitive_uses import primitive_uses
from _opseal_tangent import TangentReach

PACKAGE = "jax"
# Tables fill when these are imported; jax alone leaves the first call to do it.
MODULES = ("jax.numpy", "jax.lax", "jax.scipy.linalg", "jax.experimental.sparse")


def export(request):
    leave_devices_alone()
    require_installed(PACKAGE)
    log = FfiLog()
    with log.listening(request):
        required_module(PACKAGE)
        for name in MODULES:
            if optional_module(name) is None:
                request.remark(
                    "`{}` cannot be imported, so its operators are not said".format(name)
                )
        import_extra(request)
    packages = packages_of(request, PACKAGE, "jaxlib")
    operators = Walk(request, packages).operators()
    targets = log.targets()
    remark_silent_packages(request, operators, targets or [])
    operators = asked_for(request, operators)
    if targets is not None:
        targets = [target for target in targets if is_asked_for(request, target)]
    placed = any("location" in target for target in targets or ())
    if request.namespaces and not operators and not placed:
        raise nothing_in_namespaces(request)
    return new_manifest(
        request,
        packages,
        devices=visible_devices(),
        operators=operators,
        targets=targets,
        libraries=[],
        caches=[],
        dispatch=[],
    )


def is_asked_for(request, target):
    """A target has no namespace, but most name the package that handed it over; the rest stay."""
    package = package_of(target["location"]) if "location" in target else None
    return not request.namespaces or package in (None, *request.namespaces)


def package_of(place):
    first = place["file"].split("/")[0]
    return first[: -len(".py")] if first.endswith(".py") else first


def remark_silent_packages(request, operators, targets):
    """A package that registers on first use, or holds its operators out of sight, would pass for
    one in which nothing is wrong."""
    found = {package_of(target["location"]) for target in targets if "location" in target}
    found.update(operator.get("namespace") for operator in operators)
    for package in packages_of(request):
        if package not in found:
            request.remark("importing `{}` registers no operator and no target".format(package))


class Walk:
    def __init__(self, request, packages):
        self.tables = JaxTables(request)
        self.primitives, self.holders = live_primitives(request, self.tables, packages)
        carriers = primitive_carriers(self.primitives, packages)
        objects = self.primitives + [carrier for carrier, _ in carriers]
        self.aliases = aliases(objects, packages)
        for carrier, primitive in carriers:
            names = self.aliases.get(id(primitive), []) + self.aliases[id(carrier)]
            self.aliases[id(primitive)] = sorted(names)
        self.uses = primitive_uses(self.primitives, packages, carriers)
        names = {id(primitive): primitive.name for primitive in self.primitives}
        names.update({id(carrier): primitive.name for carrier, primitive in carriers})
        self.reach = TangentReach(packages, lambda value: names.get(id(value)), framework=PACKAGE)

    def operators(self):
        ordered = sorted(self.primitives, key=self.order)
        return tell_apart([self.operator(primitive) for primitive in ordered])

    def order(self, primitive):
        """Equal names are told apart by the variable that holds them."""
        return primitive.name, self.holders.get(id(primitive), "")

    def operator(self, primitive):
        use = self.uses[id(primitive)]
        operator = {"name": primitive.name}
        rules = self.tables.differentiation(primitive, self.reach)
        lowerings = self.tables.lowering_rules(primitive)
        kernels = [describe_kernel(platform, rule) for platform, rule in lowerings or ()]
        operator.update(self.owner(primitive, use) or owner_of_rules(rules, kernels))
        operator["aliases"] = self.aliases.get(id(primitive), [])
        if use.location:
            operator["location"] = use.location
        operator.update(result_facts(primitive))
        operator.update(input_count(use, rules.get("jvp")))
        if use.attributes:
            operator["attributes"] = [
                {"name": name, "type": "any"} for name in sorted(use.attributes)
            ]
        operator.update(rules)
        rule = self.tables.batcher(primitive)
        if rule is not MISSING:
            operator["batching"] = {"kind": "custom"} if rule is not None else None
        if lowerings is not None:
            operator["kernels"] = kernels
        return operator

    def owner(self, primitive, use):
        """The package that made it, by the variable that holds it."""
        if use.location:
            return {"namespace": package_of(use.location)}
        holder = self.holders.get(id(primitive))
        return {"namespace": holder.split(".")[0]} if holder else {}


def live_primitives(request, tables, packages):
    """(every primitive that a module variable or a table holds, {identity: first variable that
    holds it})."""
    kind = read(request, "jax._src.core", "Primitive", "any operator")
    if kind is MISSING:
        return [], {}
    found, holders = {}, {}
    for name, module in loaded_modules(*packages):
        for attribute, value in list(vars(module).items()):
            if isinstance(value, kind):
                found[id(value)] = value
                holders.setdefault(id(value), "{}.{}".format(name, attribute))
    for table in tables.all_tables():
        found.update({id(key): key for key in table if isinstance(key, kind)})
    return list(found.values()), holders


def primitive_carriers(primitives, packages):
    """(object, primitive) for every object in a module variable that has one of the primitives as
    its own `primitive`: packages wrap primitives so to make them callable."""
    wanted = {id(primitive): primitive for primitive in primitives}
    found = {}
    for _, module in loaded_modules(*packages):
        for value in list(vars(module).values()):
            if isinstance(value, (type, types.ModuleType, types.FunctionType)):
                continue
            primitive = wanted.get(id(own_attributes(value).get("primitive")))
            if primitive is not None:
                found[id(value)] = (value, primitive)
    return list(found.values())


def own_attributes(value):
    """What an object holds, without running any code of its class."""
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return attributes if isinstance(attributes, dict) else {}


def owner_of_rules(rules, kernels):
    """For a primitive that no variable holds: the one package that wrote rules for it. jax's own
    rules serve everybody's primitives."""
    jvp = rules.get("jvp") or {}
    functions = jvp.get("rules", []) + [jvp.get("function"), rules.get("transpose")]
    functions += [kernel["function"] for kernel in kernels]
    packages = {function["name"].split(".")[0] for function in functions if function}
    owners = packages - {PACKAGE, "jaxlib", "builtins", "functools"}
    return {"namespace": owners.pop()} if len(owners) == 1 else {}


def result_facts(primitive):
    facts = (
        {"multiple_results": True}
        if getattr(primitive, "multiple_results", False)
        else {"outputs": 1}
    )
    facts["abstract"] = describe_abstract_evaluation(getattr(primitive, "abstract_eval", None))
    return facts


def input_count(use, jvp):
    """Only `calls` is trusted: a JVP rule may name an attribute of the operator among its
    positional parameters."""
    ways = {"calls": sorted(use.counts), "rule": counts_by_rule(jvp, without_options)}
    facts = {"inputs": ways["calls"][0], "arity_source": "calls"} if len(ways["calls"]) == 1 else {}
    facts["arity"] = {way: counts for way, counts in ways.items() if counts}
    return facts


def without_options(rule):
    """A rule with optional parameters may mean attributes by them, so it says nothing."""
    return rule["required"] == rule["positional"]


def describe_kernel(platform, rule):
    function = describe_function(rule)
    row = {"platform": platform or "any", "backend": "mlir", "function": function}
    if function and "location" in function:
        row["location"] = function["location"]
    return row
