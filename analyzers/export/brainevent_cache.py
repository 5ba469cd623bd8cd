"""brainevent's compilation cache: what its key is made of, read off the source of
`CompilationCache`.
"""

import ast
import inspect
import textwrap

from _opseal_common import MISSING, optional_module, read
from _opseal_functions import function_location, positional_parameters
from _opseal_sources import last_name

MODULE = "brainevent._op.kernix_cache"

# What the parameters of `cache_key` are called in manifests.
WORDS = {
    "source": "source",
    "specs": "specs",
    "arch": "architecture",
    "cxx_version": "compiler_version",
    "jaxlib_version": "framework_version",
    "extra_cflags": "flags",
    "extra_ldflags": "link_flags",
    "extra_include_paths": "include_paths",
    "header_paths": "headers",
    "extra_digests": "headers",
}
# What the body adds of its own accord.
NAMES_IN_BODY = {
    "__version__": "package_version",
    "environ": "environment",
    "getenv": "environment",
    "driver_version": "driver",
}
TEMPORARY_NAMES = {
    "getpid": "pid",
    "uuid1": "uuid",
    "uuid4": "uuid",
    "get_ident": "thread",
    "mkstemp": "random",
    "mkdtemp": "random",
    "NamedTemporaryFile": "random",
    "TemporaryDirectory": "random",
}
WRITERS_OF_LENGTHS = frozenset(("len", "pack", "to_bytes"))


def describe_cache(request):
    """[the cache], [] where the package has none, None where it cannot be read."""
    module = optional_module(MODULE)
    if module is None:
        return []
    cache = read(request, MODULE, "CompilationCache", "`caches`")
    make_key, store = getattr(cache, "cache_key", None), getattr(cache, "store", None)
    tree, store_tree, class_tree = source_of(make_key), source_of(store), source_of(cache)
    if None in (tree, store_tree, class_tree):
        request.remark(
            "`{}.CompilationCache` has no readable key or store, so `caches` is not said".format(
                MODULE
            )
        )
        return None
    names = [parameter.name for parameter in positional_parameters(make_key)][1:]
    facts = {
        "name": "kernix",
        "location": function_location(make_key),
        "schema": getattr(module, "_KEY_SCHEMA", None),
        "hash": hash_name(tree),
        "inputs": key_inputs(request, names, tree),
        "separated": separation(request, tree),
        "headers": headers(names, tree),
        "parameters": names,
        "suffix": "platform" if "so_ext" in names_in(class_tree) else "literal",
        "temporary_name": sorted(
            {TEMPORARY_NAMES[name] for name in names_in(store_tree) & set(TEMPORARY_NAMES)}
        ),
        "match": matching(getattr(cache, "clear", None)),
    }
    # None is a fact of the schema alone ('has none'); elsewhere it could not be read.
    return [{key: value for key, value in facts.items() if value is not None or key == "schema"}]


def source_of(thing):
    if thing is None or thing is MISSING:
        return None
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, TypeError, SyntaxError):
        return None


def names_in(tree):
    return {
        last_name(node) or getattr(node, "name", None)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Name, ast.Attribute, ast.alias))
    }


def key_inputs(request, names, tree):
    unknown = [name for name in names if name not in WORDS]
    if unknown:
        request.remark(
            "parameters {} of the cache key are new to opseal, so its `inputs` are not said".format(
                ", ".join("`{}`".format(name) for name in unknown)
            )
        )
        return None
    inside = {NAMES_IN_BODY[name] for name in names_in(tree) & set(NAMES_IN_BODY)}
    return sorted({WORDS[name] for name in names} | inside)


def hash_name(tree):
    """`sha256/16` for a SHA-256 digest of which 16 hexadecimal digits are kept."""
    functions, digits = set(), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and last_name(node.value) == "hashlib":
            functions.add(node.attr)
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Subscript):
            digits.append(getattr(getattr(node.value.slice, "upper", None), "value", None))
    if len(functions) != 1 or len(digits) > 1 or None in digits:
        return None
    return "/".join([functions.pop()] + [str(number) for number in digits])


def separation(request, tree):
    """False: several fields go into one digest, and none brings a length or a delimiter. None: not
    that simple to tell."""
    fed = [call.args[0] for call in update_calls(tree)]
    if len(fed) > 1 and not any(marks_a_boundary(value) for value in fed):
        return False
    request.remark(
        "the cache key has constants or lengths among its fields, so `separated` is not said"
    )
    return None


def update_calls(tree):
    """The calls that feed the digest; those in an exception handler only stand in for a field."""
    handled = {
        id(inner)
        for handler in ast.walk(tree)
        if isinstance(handler, ast.ExceptHandler)
        for inner in ast.walk(handler)
    }
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", None) == "update"
        and node.args
        and id(node) not in handled
    ]


def marks_a_boundary(value):
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            return True
        if isinstance(node, ast.Call) and last_name(node.func) in WRITERS_OF_LENGTHS:
            return True
    return False


def matching(clear):
    """How entries of one name are told from others. `NAME_` also begins the entries of `NAME_x`;
    None: not that simple to tell."""
    tree = source_of(clear)
    if tree is None:
        return None
    prefixes = [
        call.args[0]
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and last_name(call.func) == "startswith" and call.args
    ]
    wanted = {parameter.name for parameter in positional_parameters(clear)[1:]}
    if any(names_in(prefix) & wanted for prefix in prefixes):
        return "prefix"
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    anchored = any(isinstance(text, str) and text.endswith(r"\Z") for text in texts)
    return "exact" if anchored or "fullmatch" in names_in(tree) else None


def headers(names, tree):
    if "header_paths" not in names:
        return {"method": "none", "covered": []}
    used = names_in(tree)
    facts = {
        "covered": ["injected"] + (["extra_include_paths"] if "extra_digests" in names else [])
    }
    if used & {"read_bytes", "read_text", "open"}:
        facts["method"] = "content"
    elif used & {"st_mtime", "getmtime"}:
        facts["method"] = "mtime"
    return facts
