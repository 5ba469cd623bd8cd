"""tvm-ffi: its table of global functions, with the signatures that it knows."""

import json

from _opseal_common import (
    MISSING,
    import_extra,
    new_manifest,
    packages_of,
    read,
    required_module,
)

PACKAGE = "tvm_ffi"
DISTRIBUTION = "apache-tvm-ffi"
REGISTRY = "tvm_ffi.registry"


def export(request):
    required_module(PACKAGE)
    import_extra(request)
    names = read(request, REGISTRY, "list_global_func_names", "any function")
    metadata = read(request, REGISTRY, "get_global_func_metadata", "`schema`")
    type_keys = read(request, REGISTRY, "get_registered_type_keys", "`x-type-keys`")
    return new_manifest(
        request,
        [DISTRIBUTION] + packages_of(request),
        operators=[
            describe(request, name, metadata)
            for name in (sorted(names()) if names is not MISSING else ())
        ],
        **{"x-type-keys": None if type_keys is MISSING else sorted(map(str, type_keys()))}
    )


def describe(request, name, metadata):
    # A global function is its own and only implementation: there are no kernels beneath it.
    operator = {"name": name, "namespace": name.rpartition(".")[0], "kernels": []}
    text = schema_text(request, name, metadata)
    if text:
        operator["schema"] = text
        operator.update(counts_in(text))
    return operator


def schema_text(request, name, metadata):
    if metadata is MISSING:
        return None
    try:
        return (metadata(name) or {}).get("type_schema")
    except Exception as error:  # functions that were registered without any
        request.remark(
            "`get_global_func_metadata` fails with {}, so some `schema` is not said".format(
                type(error).__name__
            )
        )
        return None


def counts_in(text):
    """The schema has two forms: parameters and result by name, or one list that begins with the
    result. A function that takes anything has neither."""
    try:
        schema = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(schema, dict):
        return {}
    named, listed = schema.get("named_args"), schema.get("args")
    if isinstance(named, dict) and isinstance(named.get("params"), list):
        parameters, results = named["params"], named.get("return") or []
    elif isinstance(listed, list) and listed:
        parameters, results = listed[1:], listed[:1]
    else:
        return {}
    outputs = [
        result for result in results if not isinstance(result, dict) or result.get("type") != "None"
    ]
    return {"inputs": len(parameters), "outputs": len(outputs), "arity_source": "schema"}
