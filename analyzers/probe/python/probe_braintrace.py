"""Rules of braintrace for eligibility traces, held against what they stand for.

`xy_to_dw` gives, for x and the signal that reaches the result, what reverse mode would give for the
weight: it is held against the vector-Jacobian product of the implementation.
"""

import importlib

import braintrace
import jax
import jax.numpy as jnp
import numpy

from _opseal_probe_jax_operators import to_jax, use_wide_numbers
from _opseal_probe_operators import (
    TOLERANCE,
    Numbers,
    OperatorRows,
    describe,
    first_difference,
    import_all,
    read_plan,
)
from _opseal_probe_rows import Skip, error_text, member

# Of 32-bit numbers; a rule that is wrong is further off.
OFF = 1e-3


def version():
    return braintrace.__version__


def registries():
    """They lay in `_etrace_op` up to 0.2.2."""
    for name in ("braintrace._op._registries", "braintrace._etrace_op._registries"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise Skip("`braintrace` {} keeps its registries elsewhere".format(braintrace.__version__))


def floats(seed, *shape):
    return jnp.asarray(numpy.random.default_rng(seed).normal(size=shape).astype(numpy.float32))


def sparse_matrix():
    """Four by three, with five numbers that its trainable input replaces."""
    import brainevent

    row_starts, columns = numpy.array([0, 2, 3, 4, 5]), numpy.array([0, 2, 1, 0, 2])
    return member(brainevent, "CSR")((floats(5, 5), columns, row_starts), shape=(4, 3))


def own_calls():
    """Inputs and parameters that fit the primitives which braintrace brings along."""
    x, y, weight = floats(1, 2, 4), floats(2, 4), floats(3, 4, 3)
    grouped = {"x": floats(1, 2, 3, 4), "v": floats(1, 3, 4), "w": floats(2, 3, 4, 5)}
    low = {"b": floats(3, 4, 2), "a": floats(4, 2, 3)}
    biased = {"has_bias": True}
    indices = jnp.asarray([1, 0])
    return {
        "etp_mm": [((x, weight), {}), ((x, weight, floats(4, 3)), biased)],
        "etp_mv": [((y, weight), {}), ((y, weight, floats(4, 3)), biased)],
        "etp_gmm": [((grouped["x"], grouped["w"]), {})],
        "etp_gmv": [((grouped["v"], grouped["w"]), {})],
        "etp_einsum": [((x, weight), {"equation": "bi,io->bo"})],
        "etp_elemwise": [((y,), {})],
        "etp_emb": [((indices, weight), {})],
        "etp_emb_v": [((jnp.asarray(1), weight), {})],
        "etp_lora_mm": [((x, low["b"], low["a"]), {"alpha": 1.5})],
        "etp_lora_mv": [((y, low["b"], low["a"]), {"alpha": 1.5})],
        "etp_sp_mm": [((x, floats(6, 5)), {"sparse_mat": sparse_matrix})],
        "etp_sp_mv": [((y, floats(6, 5)), {"sparse_mat": sparse_matrix})],
        "etp_conv": [
            (
                (floats(1, 2, 6, 4), floats(2, 3, 4, 5)),
                {
                    "strides": (1,),
                    "padding": "SAME",
                    "lhs_dilation": (1,),
                    "rhs_dilation": (1,),
                    "dimension_numbers": jax.lax.conv_dimension_numbers(
                        (2, 6, 4), (3, 4, 5), ("NHC", "HIO", "NHC")
                    ),
                },
            )
        ],
    }


class Rules:
    """Those of one primitive."""

    def __init__(self, primitive):
        self.registries = registries()
        self.primitive = primitive
        self.rule = self.registries.ETP_RULES_XY_TO_DW.get(primitive)
        if self.rule is None:
            raise Skip("it has no rule `xy_to_dw`")

    def compare(self, inputs, parameters, seed):
        """For each trainable input: its name, and None or what was expected and seen."""
        parameters = {key: one() if callable(one) else one for key, one in parameters.items()}
        places = self.registries.get_trainable_invars(self.primitive, parameters)
        x_place = getattr(self.registries, "ETP_X_INVAR_INDICES", {}).get(self.primitive, 0)
        weights = {name: inputs[place] for name, place in places.items()}

        def run(trained):
            values = list(inputs)
            for name, place in places.items():
                values[place] = trained[name]
            return self.primitive.impl(*values, **parameters)

        result, back = jax.vjp(run, weights)
        signal = floats(seed + 9, *result.shape).astype(result.dtype)
        (expected,) = back(signal)
        x = None if x_place is None else inputs[x_place]
        found = self.rule(x, signal, weights, **parameters)
        for name in places:
            kind = weights[name].dtype.name
            yield name, self.difference(name, kind, expected[name], found.get(name))

    @staticmethod
    def difference(name, kind, expected, found):
        if found is None:
            return "a derivative for " + name, "none"
        expected = numpy.asarray(expected).astype(numpy.float64)
        found = numpy.asarray(found).astype(numpy.float64)
        if found.shape != expected.shape:
            return describe([expected]), describe([found])
        scale = max(float(numpy.abs(expected).max(initial=0)), float(numpy.abs(found).max(initial=0)))
        far = ~(numpy.abs(expected - found) <= max(OFF, TOLERANCE[kind]) * scale)
        if not far.any():
            return None
        seen, wanted = first_difference(expected, found, far)
        return wanted, seen


def etp_rules(rows):
    jax.devices("cpu")
    calls = own_calls()
    for primitive in sorted(registries().ETP_PRIMITIVES, key=lambda one: one.name):
        for number, (inputs, parameters) in enumerate(calls.get(primitive.name, [])):
            call = "with-bias" if parameters.get("has_bias") else ""
            judge(rows, primitive, call, inputs, parameters, number)


def judge(rows, primitive, call, inputs, parameters, seed):
    def write(**members):
        rows.write(row="etp", operator=primitive.name, call=call, **members)

    try:
        compared = list(Rules(primitive).compare(list(inputs), parameters, seed))
    except Skip as reason:
        write(status="skipped", reason=str(reason))
        return
    except Exception as error:  # who is refused knows it
        write(status="skipped", reason=error_text(error))
        return
    for name, wrong in compared:
        expected, seen = wrong or ("what reverse mode gives", "the same")
        status = "differs" if wrong else "passed"
        write(input=name, status=status, expected=expected, seen=seen)


def operators(rows, path):
    """Primitives that a manifest describes."""
    plan = read_plan(path)
    use_wide_numbers(plan)
    jax.devices("cpu")
    import_all(rows, plan)
    name = plan["operator"]["name"].split("::")[-1]
    found = [one for one in registries().ETP_PRIMITIVES if one.name == name]
    if len(found) != 1:
        raise Skip("{} primitives for eligibility traces have this name".format(len(found)))
    stated = OperatorRows(rows, plan)
    for call in stated.calls:
        if any(0 in one["shape"] for one in call["inputs"]):
            stated.skip("etp", call, "its inputs have nothing in them")
            continue
        inputs = to_jax(call, Numbers(call, plan["seed"], False).inputs())
        parameters = {one["name"]: one["value"] for one in call["attributes"]}
        judge(rows, found[0], call["identity"], inputs, parameters, plan["seed"])


CHECKS = {"etp": etp_rules, "operators": operators}
