"""Input and output counts and dtypes of brainevent's operators, from their own calls on their own
benchmark data.

This runs code of the package and allocates real arrays, so it is done only when the user asks for
it.
"""

import collections

# Benchmark data comes in many sizes of few kinds, and each one allocates real arrays.
MOST_CONFIGURATIONS = 4


def traced_operators(request, kernels):
    """{operator: {"counts": {(inputs, outputs)}, "signatures": {(dtype, ...)}}}."""
    traces, untraced = {}, collections.Counter()
    for name, kernel in sorted(kernels.items()):
        trace, reason = trace_operator(kernel)
        if trace["counts"]:
            traces[name] = trace
        else:
            untraced[reason] += 1
    if untraced:
        reasons = ", ".join(
            "{} {}".format(count, reason) for reason, count in sorted(untraced.items())
        )
        request.note(
            "{} of {} operators were not traced: {}".format(
                sum(untraced.values()), len(kernels), reasons
            )
        )
    return traces


def trace_operator(kernel):
    trace = {"counts": set(), "signatures": set()}
    make_data, call = getattr(kernel, "_benchmark_data_fn", None), getattr(kernel, "_call_fn", None)
    if make_data is None or call is None:
        return trace, "without benchmark data"
    try:
        for _, configuration in zip(range(MOST_CONFIGURATIONS), make_data(platform="cpu")):
            for equation in equations_of_call(kernel, call, configuration):
                dtypes = [
                    str(variable.aval.dtype)
                    for variable in list(equation.invars) + list(equation.outvars)
                ]
                trace["counts"].add((len(equation.invars), len(equation.outvars)))
                trace["signatures"].add(tuple(dtypes))
    except Exception as error:  # a call may refuse its own data with an error of any type
        return trace, "with {} in their call".format(type(error).__name__)
    return trace, "not met in their own call"


def equations_of_call(kernel, call, configuration):
    import jax

    # Several call functions demand a backend; the package's own benchmark names one too.
    options = {"backend": next(iter(kernel._kernels.get("cpu", {})), None)}
    options.update(configuration.kernel_kwargs)
    jaxpr = jax.make_jaxpr(lambda *arguments: call(*arguments, **options))(*configuration.args)
    return [equation for equation in all_equations(jaxpr) if equation.primitive is kernel.primitive]


def all_equations(jaxpr):
    """The equations of a program and of the programs inside its equations (jit, scan, ...)."""
    for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        yield equation
        for value in equation.params.values():
            for inner in value if isinstance(value, (list, tuple)) else [value]:
                if hasattr(getattr(inner, "jaxpr", inner), "eqns"):
                    yield from all_equations(inner)
