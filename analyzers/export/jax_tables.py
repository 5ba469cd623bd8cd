"""The tables in which jax 0.8 to 0.10 keep the rules of a primitive, and how a rule is unwrapped.

Most are private. A table that is not there leaves its key out of every operator, with one remark.
"""

import functools
import os
import sys

from _opseal_common import MISSING, optional_module, read
from _opseal_functions import (
    closure_value,
    describe_function,
    describe_rule,
    function_name,
    positional_parameters,
)

PLATFORM_VARIABLE = "JAX_PLATFORMS"


def leave_devices_alone():
    """The tables fill without a device, and jax would take most of a GPU's memory from whoever
    uses it. A choice of the user stays.

    Needs: jax is not imported yet."""
    os.environ.setdefault(PLATFORM_VARIABLE, "cpu")


def visible_devices():
    """What jax was allowed to see, or None: which devices another choice of the user comes to is
    only known to who starts their clients.

    Needs: the package is imported, for it may have chosen itself."""
    config = getattr(sys.modules.get("jax"), "config", None)
    chosen = getattr(config, "jax_platforms", os.environ.get(PLATFORM_VARIABLE))
    return ["cpu"] if chosen == "cpu" else None


class JaxTables:
    """Needs: jax is imported."""

    def __init__(self, request):
        differentiation = "jax._src.interpreters.ad"
        lowering = "jax._src.interpreters.mlir"
        self.jvps = read(request, differentiation, "primitive_jvps", "`jvp`")
        self.linearizations = read(
            request, differentiation, "primitive_linearizations", "`linearization`"
        )
        self.transposes = read(request, differentiation, "primitive_transposes", "`transpose`")
        self.fancy_transposes = read(
            request, differentiation, "fancy_transposes", "the absence of `transpose`"
        )
        self.batchers = batcher_tables(request)
        self.lowerings = read(request, lowering, "_lowerings", "`kernels`")
        self.platform_lowerings = read(
            request, lowering, "_platform_specific_lowerings", "`kernels` of single platforms"
        )

    def all_tables(self):
        tables = (
            [self.jvps, self.transposes, self.fancy_transposes, self.linearizations]
            + self.batchers
            + [self.lowerings]
        )
        if self.platform_lowerings is not MISSING:
            tables += self.platform_lowerings.values()
        return [table for table in tables if table is not MISSING]

    def differentiation(self, primitive, reach=None):
        """The keys `jvp`, `linearization` and `transpose`, as far as they can be said. `reach` is
        the TangentReach that follows the rules; without it `tangent_operators` is not said."""
        facts = {}
        if self.jvps is not MISSING:
            jvp = self.jvps.get(primitive)
            facts["jvp"] = describe_jvp(jvp)
            rules = per_input_rules(jvp)
            if rules is not None and reach is not None:
                facts["jvp"]["tangent_operators"] = [
                    rule and reach.operators(rule) for rule in rules
                ]
        if self.linearizations is not MISSING and primitive in self.linearizations:
            facts["linearization"] = describe_function(self.linearizations[primitive])
        facts.update(self.transpose(primitive))
        return facts

    def transpose(self, primitive):
        tables = [
            table for table in (self.transposes, self.fancy_transposes) if table is not MISSING
        ]
        for table in tables:
            if table.get(primitive) is not None:
                return {"transpose": describe_function(written_by_a_person(table[primitive]))}
        return {"transpose": None} if len(tables) == 2 else {}

    def batcher(self, primitive):
        """The batching rule, None where there is none, MISSING where no table could be read."""
        for table in self.batchers:
            rule = table.get(primitive)
            if rule is not None:
                # Since 0.8 a rule of the older form is kept in a closure, as `batcher`.
                inner = closure_value(rule, "batcher")
                return rule if inner is None else inner
        return None if self.batchers else MISSING

    def lowering_rules(self, primitive):
        """[(platform, rule)], the platform None where the rule serves all; None where no table
        could be read."""
        if self.lowerings is MISSING or self.platform_lowerings is MISSING:
            return None
        found = [(None, self.lowerings[primitive])] if primitive in self.lowerings else []
        for platform, table in sorted(self.platform_lowerings.items()):
            if primitive in table:
                found.append((platform, table[primitive]))
        return [(platform, lowered_function(entry)) for platform, entry in found]


def batcher_tables(request):
    """Since 0.8 the older names hold proxies that can only be written to; before, dictionaries."""
    batching = "jax._src.interpreters.batching"
    older = ("primitive_batchers", "axis_primitive_batchers")
    tables = [getattr(optional_module(batching), name, MISSING) for name in older]
    tables = [table for table in tables if isinstance(table, dict)]
    if not tables or hasattr(optional_module(batching), "fancy_primitive_batchers"):
        tables.insert(0, read(request, batching, "fancy_primitive_batchers", "`batching`"))
    return [table for table in tables if table is not MISSING]


def lowered_function(entry):
    """`lower_fun` hides the Python function that a person wrote in a closure, and some versions
    keep rules in a record."""
    rule = getattr(entry, "rule", entry)
    inner = closure_value(rule, "fun")
    return rule if inner is None else inner


def per_input_rules(jvp):
    """The rules, one per input, of a JVP that was put together from single ones, else None.

    Both jax's functions for this and those that packages write after its model take the rules
    first and call them so.
    """
    rules = jvp.args[0] if isinstance(jvp, functools.partial) and jvp.args else None
    if not isinstance(rules, (tuple, list)):
        return None
    first = positional_parameters(jvp.func)[:1]
    return list(rules) if first and first[0].name.replace("_", "") == "jvprules" else None


def describe_jvp(jvp):
    if jvp is None:
        return None
    rules = per_input_rules(jvp)
    name = function_name(jvp)
    if rules is None:
        kind = {"linear_jvp": "linear", "zero_jvp": "zero"}.get(name, "custom")
        return {"kind": kind, "function": describe_function(jvp)}
    described = {"kind": "per_input", "rules": [describe_rule(rule) for rule in rules]}
    if name == "standard_jvp2":
        described["leading"] = 2  # rule(tangent, result, *inputs)
    return described


def counts_by_rule(jvp, is_counted=lambda rule: True):
    """The inputs that the per-input rules of a described JVP have parameters for: sorted numbers,
    more than one where the rules disagree."""
    rules = jvp["rules"] if jvp and jvp["kind"] == "per_input" else []
    leading = jvp.get("leading", 1) if jvp else 1
    return sorted(
        {
            rule["positional"] - leading
            for rule in rules
            if rule and rule.get("variadic") is False and is_counted(rule)
        }
    )


def written_by_a_person(function):
    """What was handed to a generic rule: `partial(standard_rule, ..., own_rule)` is best shown as
    own_rule."""
    for argument in function.args if isinstance(function, functools.partial) else ():
        if callable(argument) and not hasattr(argument, "bind"):
            return argument
    return function


def describe_abstract_evaluation(function):
    if function is None or "Primitive.abstract_eval" in getattr(function, "__qualname__", ""):
        return None  # the method that only complains that nothing was set
    inner = closure_value(function, "abstract_eval")
    return describe_function(written_by_a_person(function if inner is None else inner))
