"""The source of loaded modules, and the live values behind the names in it."""

import ast
import functools
import inspect
import tokenize
import types

from _opseal_common import loaded_modules


@functools.lru_cache(maxsize=None)
def syntax_tree(file):
    """The parsed source file, or None where there is no readable source."""
    try:
        with tokenize.open(file) as stream:
            return ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return None


def source_modules(packages):
    """(variables of the module, its tree, its file) for every loaded module with readable Python
    source."""
    for _, module in loaded_modules(*packages):
        file = getattr(module, "__file__", None)
        if not file or not file.endswith(".py"):
            continue
        tree = syntax_tree(file)
        if tree is not None:
            yield vars(module), tree, file


def named_value(variables, node):
    """The live value behind `NAME` or `MODULE.NAME` as written in a module, so that an import
    under another name is followed."""
    if isinstance(node, ast.Name):
        return variables.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return attribute_value(variables.get(node.value.id), node.attr)
    return None


def attribute_value(owner, name):
    """An attribute without running a property, a module's __getattr__ or any other code of the
    package."""
    if owner is None:
        return None
    if isinstance(owner, types.ModuleType):
        return vars(owner).get(name)
    return inspect.getattr_static(owner, name, None)


def last_name(node):
    """`NAME` for both `NAME` and `MODULE.NAME`."""
    return getattr(node, "id", None) or getattr(node, "attr", None)


def has_star(call):
    return any(isinstance(argument, ast.Starred) for argument in call.args)
