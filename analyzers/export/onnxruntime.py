"""ONNX Runtime: the schemas of all operators, the kernels of every execution provider in the
package, and the operators of libraries that the user names.

A schema version ends where the next one begins. A kernel stands at the version that it begins in.
"""

import os

from _opseal_common import (
    MISSING,
    asked_for,
    distributions_of,
    import_extra,
    new_manifest,
    nothing_in_namespaces,
    optional_module,
    read,
    required_module,
)
from _opseal_forked import ForkFailed, call_in_fork
from _opseal_onnxruntime_custom import custom_operators, describe_range, domain_of

PACKAGE = "onnxruntime"
REGISTRIES = "onnxruntime.capi.onnxruntime_pybind11_state"


def export(request):
    # It would write a device number and a store of events under the user's home.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    required_module(PACKAGE)
    import_extra(request)
    schemas = all_schemas(request)
    rows = all_kernels(request)
    operators = described_schemas(schemas, function_bodies(request))
    if rows is not None:
        add_kernels(operators, rows)
    for operator in custom_operators(request):
        add_custom_operator(operators, operator)
    ordered = [operators[key] for key in sorted(operators)]
    wanted = asked_for(request, ordered)
    if request.namespaces and not wanted:
        raise nothing_in_namespaces(request)
    return new_manifest(
        request,
        distributions_of(PACKAGE) + ["onnx"],
        platforms=sorted({row["platform"] for each in ordered for row in each.get("kernels", ())})
        if rows is not None
        else None,
        operators=wanted,
    )


def all_schemas(request):
    """Schemas of ONNX Runtime's own pybind types; [] with a remark where they cannot be asked."""
    function = read(request, REGISTRIES, "get_all_operator_schema", "any schema")
    return function() if function is not MISSING else []


def all_kernels(request):
    """[domain, name, provider, first version, last version, constraints] of every kernel, or None.

    A provider loads its libraries when it is asked. Without a GPU a build for one crashes there,
    and then the kernels of the other providers cannot be had either."""
    function = read(request, REGISTRIES, "get_all_opkernel_def", "`kernels`")
    if function is MISSING:
        return None
    try:
        return call_in_fork(lambda: [kernel_row(kernel) for kernel in function()])
    except ForkFailed as reason:
        request.remark(
            "`get_all_opkernel_def` failed, so `kernels` is not said: {}".format(reason)
        )
        return None


def kernel_row(kernel):
    constraints = {name: list(types) for name, types in kernel.type_constraints.items()}
    first, last = kernel.version_range
    return [kernel.domain, kernel.op_name, kernel.provider, first, last, constraints]


def function_bodies(request):
    """{(domain, name, version): has it a function body?} by the onnx package. ONNX Runtime does not
    tell, and of what onnx does not know (other domains, versions after it) nobody does."""
    definitions = optional_module("onnx.defs")
    if definitions is None:
        request.remark("`onnx.defs` cannot be imported, so `function_body` is not said")
        return {}
    return {
        (domain_of(schema.domain), schema.name, schema.since_version): bool(
            schema.has_function or getattr(schema, "has_context_dependent_function", False)
        )
        for schema in definitions.get_all_schemas_with_history()
    }


def described_schemas(schemas, bodies):
    """{(domain, name, version): operator}"""
    operators = {}
    for schema in schemas:
        key = (domain_of(schema.domain), schema.name, schema.since_version)
        operators[key] = describe_schema(schema, *key)
        if key in bodies:
            operators[key]["function_body"] = bodies[key]
    for before, after in following_versions(operators):
        operators[before]["versions"]["until"] = after[2] - 1
    return operators


def following_versions(operators):
    ordered = sorted(operators)
    for before, after in zip(ordered, ordered[1:]):
        if before[:2] == after[:2]:
            yield before, after


def describe_schema(schema, domain, name, version):
    operator = {
        "name": name,
        "namespace": domain,
        "versions": {"since": version, "until": None},
        "arity_source": "schema",
        "inputs": [describe_operand(operand) for operand in schema.inputs],
        "outputs": [describe_operand(operand) for operand in schema.outputs],
        "attributes": [
            {"name": attribute, "type": value.type.name}
            for attribute, value in sorted(schema.attributes.items())
        ],
        "type_constraints": {
            constraint.type_param_str: sorted(constraint.allowed_type_strs)
            for constraint in schema.type_constraints
        },
    }
    if not schema.has_type_and_shape_inference_function:
        operator["abstract"] = None
    if schema.deprecated:
        operator["deprecated"] = True
    if schema.support_level.name == "EXPERIMENTAL":
        operator["experimental"] = True
    return operator


def describe_operand(operand):
    described = {"name": operand.name}
    if operand.option.name in ("Optional", "Variadic"):
        described[operand.option.name.lower()] = True
    if operand.typeStr:
        described["type"] = operand.typeStr
    return described


def add_kernels(operators, rows):
    """All kernels of an operator version in the order of their text, for the registries keep them
    in the order of a hash."""
    for operator in operators.values():
        operator["kernels"] = []
    versions = {}
    for domain, name, version in sorted(operators):
        versions.setdefault((domain, name), []).append(version)
    for domain, name, provider, first, last, constraints in sorted(rows, key=repr):
        domain = domain_of(domain)
        begun = [each for each in versions.get((domain, name), ()) if each <= first]
        key = (domain, name, begun[-1] if begun else first)
        # A kernel without a schema is an operator that only the kernels know.
        operator = operators.setdefault(key, {"name": name, "namespace": domain, "kernels": []})
        operator["kernels"].append(
            {
                "platform": provider,
                "versions": describe_range(first, last),
                "type_constraints": dict(sorted(constraints.items())),
            }
        )


def add_custom_operator(operators, operator):
    """A library may add to an operator that another one brought: then it brings kernels only."""
    key = (operator["namespace"], operator["name"], operator["versions"]["since"])
    known = operators.setdefault(key, operator)
    if known is not operator:
        known.setdefault("kernels", []).extend(operator["kernels"])
