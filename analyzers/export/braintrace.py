"""braintrace: the eligibility-trace primitives and their rules.

Three spellings are met: the package `_etrace_op` (to 0.2.2) or `_op`, and the rules `yw_to_w` (to
0.2.3) or `dt_to_t`. The registries are keyed by primitive objects, so equal names stay apart;
`identity` numbers them.

Besides importing the package this calls `get_trainable_invars`, and through it the layout function
of each primitive: which parameters mean which input is said nowhere else.
"""

from _opseal_common import (
    MISSING,
    ExportError,
    aliases,
    import_extra,
    is_older,
    new_manifest,
    optional_module,
    packages_of,
    read,
    required_module,
    tell_apart,
)
from _opseal_functions import core_function, describe_function
from _opseal_jax_tables import JaxTables, leave_devices_alone, visible_devices
from _opseal_primitive_uses import primitive_uses

PACKAGE = "braintrace"
REGISTRY_MODULES = ("braintrace._op._registries", "braintrace._etrace_op._registries")
TRACE_RULE_SPELLINGS = (("dt_to_t", "ETP_RULES_DT_TO_T"), ("yw_to_w", "ETP_RULES_YW_TO_W"))
REQUIRED_RULES = (
    ("xy_to_dw", "ETP_RULES_XY_TO_DW"),
    ("init_drtrl", "ETP_RULES_INIT_DRTRL"),
    ("init_pp", "ETP_RULES_INIT_PP"),
)
# These came one by one: a version without the registry has no such rule to speak of.
OPTIONAL_RULES = (
    ("instant", "ETP_RULES_INSTANT_DRTRL"),
    ("solve", "ETP_RULES_SOLVE_DRTRL"),
    ("x_representation", "ETP_RULES_PP_X_REPR"),
    ("snap_anchor", "ETP_RULES_SNAP_ANCHOR"),
    ("snap_adjacency", "ETP_RULES_SNAP_ADJACENCY"),
)


def export(request):
    leave_devices_alone()
    required_module(PACKAGE)
    import_extra(request)
    packages = packages_of(request, PACKAGE)
    module = next((name for name in REGISTRY_MODULES if optional_module(name) is not None), None)
    if module is None:
        raise ExportError(
            "no registries in `braintrace`, expected "
            + " or ".join("`{}`".format(name) for name in REGISTRY_MODULES)
        )
    walk = Walk(request, module, packages)
    return new_manifest(
        request,
        packages[:1] + ["brainevent", "jax", "jaxlib"] + packages[1:],
        devices=visible_devices(),
        operators=walk.operators(),
        targets=[],
        libraries=[],
        caches=[],
        dispatch=[],
    )


class Walk:
    def __init__(self, request, module, packages):
        self.request = request
        self.registries = module
        self.tables = JaxTables(request)
        primitives = read(request, module, "ETP_PRIMITIVES", "any operator")
        self.primitives = list(primitives) if primitives is not MISSING else []
        self.aliases = aliases(self.primitives, packages)
        self.uses = primitive_uses(self.primitives, packages)
        self.spelling, self.rule_tables = self.required_rules()
        self.optional_tables = {word: self.optional(name) for word, name in OPTIONAL_RULES}

    def optional(self, name):
        return getattr(optional_module(self.registries), name, MISSING)

    def registry(self, name, lost):
        return read(self.request, self.registries, name, lost)

    def required_rules(self):
        spelling, name = next(
            (pair for pair in TRACE_RULE_SPELLINGS if self.optional(pair[1]) is not MISSING),
            TRACE_RULE_SPELLINGS[0],
        )
        tables = {"dt_to_t": self.registry(name, "the rule `dt_to_t`")}
        tables.update(
            {
                word: self.registry(registry, "the rule `{}`".format(word))
                for word, registry in REQUIRED_RULES
            }
        )
        return spelling, {word: table for word, table in tables.items() if table is not MISSING}

    def operators(self):
        # A set has no order of its own, so equal names are ordered by their variables.
        ordered = sorted(
            self.primitives,
            key=lambda primitive: (primitive.name, self.aliases.get(id(primitive), [])),
        )
        return tell_apart([self.operator(primitive) for primitive in ordered])

    def operator(self, primitive):
        use = self.uses[id(primitive)]
        operator = {"name": primitive.name, "aliases": self.aliases.get(id(primitive), [])}
        if use.location:
            operator["location"] = use.location
        if getattr(primitive, "multiple_results", None) is False:
            operator["outputs"] = 1
        implementation = describe_function(getattr(primitive, "impl", None))
        operator.update(input_count(implementation, use))
        if use.attributes:
            operator["attributes"] = [
                {"name": name, "type": "any"} for name in sorted(use.attributes)
            ]
        operator.update(self.tables.differentiation(primitive))
        counterpart = self.counterpart(primitive)
        operator.update(self.batching(primitive, counterpart))
        rules = self.tables.lowering_rules(primitive)
        if rules is not None:
            operator["kernels"] = [
                {
                    "platform": platform or "any",
                    "backend": "mlir",
                    "function": describe_function(rule),
                }
                for platform, rule in rules
            ]
        operator["etp"] = self.trace_rules(primitive, counterpart, implementation)
        return operator

    def counterpart(self, primitive):
        """Before 0.2.5 there are no counterparts and every vmap decomposes: said to be absent."""
        if is_older(PACKAGE, 0, 2, 5):
            return None
        table = self.registry("BATCHED_COUNTERPARTS", "`counterpart`")
        if table is MISSING:
            return MISSING
        mate = table.get(primitive)
        return mate.name if mate is not None else None

    def batching(self, primitive, counterpart):
        rule = self.tables.batcher(primitive)
        if rule is MISSING:
            return {}
        if rule is None:
            return {"batching": None}
        if counterpart is not None and counterpart is not MISSING:
            return {"batching": {"kind": "counterpart", "counterpart": counterpart}}
        return {"batching": {"kind": "custom"}}

    def trace_rules(self, primitive, counterpart, implementation):
        facts = {
            "rules": {
                word: describe_function(table.get(primitive))
                for word, table in self.rule_tables.items()
            },
            "spelling": self.spelling,
        }
        facts.update(self.trainables(primitive))
        facts.update(self.layout(primitive))
        if counterpart is not MISSING:
            facts["counterpart"] = counterpart
        fast_paths = self.optional("ETP_FAST_PATH_RULES")
        if fast_paths is not MISSING:
            facts["fast_path"] = describe_fast_path(fast_paths.get(primitive))
        for word, table in self.optional_tables.items():
            if table is not MISSING:
                facts[word] = describe_function(table.get(primitive))
        facts["implementation"] = implementation
        return facts

    def trainables(self, primitive):
        """The layout with a bias is the full one; the one without is said where it differs."""
        ask = self.registry("get_trainable_invars", "`trainables`")
        plain, full = (
            ask_layout(ask, primitive, parameters) for parameters in ({}, {"has_bias": True})
        )
        if plain is None and full is None:
            return {}
        facts = {"trainables": plain if full is None else full}
        if plain is not None and plain != facts["trainables"]:
            facts["trainables_without_bias"] = plain
        return facts

    def layout(self, primitive):
        explicit = self.registry("ETP_TRAINABLE_INVARS_FNS", "`trainables_explicit`")
        batched = self.registry("BATCHED_PRIMITIVES", "`batched`")
        gradient = self.registry("GRADIENT_ENABLED_PRIMITIVES", "`gradient_enabled`")
        inputs = self.registry("ETP_X_INVAR_INDICES", "`x_index`")
        outputs = self.registry("ETP_Y_OUTVAR_INDICES", "`y_index`")
        facts = {}
        if explicit is not MISSING:
            facts["trainables_explicit"] = primitive in explicit
        if inputs is not MISSING:
            # None is a fact: the operator has no input from outside.
            facts["x_index"] = inputs.get(primitive, 0)
        if outputs is not MISSING:
            facts["y_index"] = outputs.get(primitive, 0)
        if batched is not MISSING:
            facts["batched"] = primitive in batched
        if gradient is not MISSING:
            facts["gradient_enabled"] = primitive in gradient
        return facts


def ask_layout(ask, primitive, parameters):
    try:
        return dict(ask(primitive, parameters))
    except Exception:  # a layout function may want parameters that only a real equation has
        return None


def input_count(implementation, use):
    """A variadic implementation says nothing about its inputs."""
    ways = {"calls": sorted(use.counts)}
    exact = implementation is not None and implementation.get("variadic") is False
    if exact:
        ways["rule"] = [implementation["positional"]]
    facts = {"inputs": implementation["positional"], "arity_source": "rule"} if exact else {}
    facts["arity"] = {way: counts for way, counts in ways.items() if counts}
    return facts


def describe_fast_path(rules):
    if rules is None:
        return None
    gate = getattr(rules, "applicable", None)
    return {"applicable": describe_function(gate), "gate_reads": gate_reads(gate)}


def gate_reads(gate):
    """Names of the equation parameters that a gate looks at: the identifiers among the string
    constants of the gate and its helpers."""
    waiting, seen, constants = [core_function(gate)], set(), set()
    while waiting:
        function = waiting.pop()
        code = getattr(function, "__code__", None)
        if code is None or code in seen:
            continue
        seen.add(code)
        constants |= string_constants(code) - {function.__doc__}
        waiting += [core_function(helper) for helper in own_helpers(function)]
    return sorted(constant for constant in constants if constant.isidentifier())


def string_constants(code):
    found = set()
    for constant in code.co_consts:
        for value in constant if isinstance(constant, (tuple, frozenset)) else (constant,):
            if isinstance(value, str):
                found.add(value)
    return found


def own_helpers(function):
    for name in function.__code__.co_names:
        helper = function.__globals__.get(name)
        module = getattr(helper, "__module__", None) or ""
        if callable(helper) and module.split(".")[0] == PACKAGE:
            yield helper
