"""Places and functions as a manifest shows them, and what closures hide."""

import functools
import inspect
import os
import sys
import types

# Wrappers wrap wrappers; the limit only guards against an object that is its own __wrapped__.
MOST_WRAPPERS = 32


@functools.lru_cache(maxsize=None)
def installation_folders():
    """Folders that packages lie in, longest first, so that the first that fits is the nearest."""
    folders = {os.path.realpath(path) for path in sys.path if path and os.path.isdir(path)}
    return sorted(folders, key=lambda folder: (-len(folder), folder))


@functools.lru_cache(maxsize=None)
def relative_file(path):
    """The file as `package/module.py`, or None for code that has no file (`<string>`)."""
    if not path or path.startswith("<"):
        return None
    real = os.path.realpath(path)
    for folder in installation_folders():
        if real.startswith(folder.rstrip(os.sep) + os.sep):
            return real[len(folder.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
    return inside_package(real)


def inside_package(path):
    """An editable install is on no search path: climb as long as there are packages."""
    folder, name = os.path.split(path)
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, parent = os.path.split(folder)
        name = parent + "/" + name
    return name


def location(path, line):
    file = relative_file(path)
    return {"file": file, "line": line} if file else None


def core_function(function):
    """The function a reader would look for, behind partials, decorators and bound methods."""
    for _ in range(MOST_WRAPPERS):
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif getattr(function, "__wrapped__", None) is not None:
            function = function.__wrapped__
        else:
            break
    return function


def function_name(function):
    """The name of the core function, '' where it has none."""
    return getattr(core_function(function), "__name__", "")


def function_location(function):
    code = getattr(core_function(function), "__code__", None)
    return location(code.co_filename, code.co_firstlineno) if code is not None else None


def parameters_of(function):
    """The parameters of the callable as it was handed over: what a partial has bound is gone. None
    where nobody can tell."""
    try:
        return list(inspect.signature(function).parameters.values())
    except Exception:  # a callable object answers with errors of its own
        return None


def positional_parameters(function):
    return [
        parameter
        for parameter in parameters_of(function) or []
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]


def describe_function(function):
    """A Function of the manifest; None stays None, 'said to be absent'."""
    if function is None:
        return None
    core = core_function(function)
    module = getattr(core, "__module__", None) or type(core).__module__
    name = getattr(core, "__qualname__", None) or type(core).__qualname__
    described = {"name": "{}.{}".format(module, name)}
    described.update(parameter_counts(function))
    place = function_location(function)
    if place:
        described["location"] = place
    return described


def parameter_counts(function):
    parameters = parameters_of(function)
    if parameters is None:
        return {}
    positional = positional_parameters(function)
    required = [parameter for parameter in positional if parameter.default is parameter.empty]
    counts = {"positional": len(positional), "required": len(required)}
    counts["variadic"] = any(parameter.kind == parameter.VAR_POSITIONAL for parameter in parameters)
    return counts


def describe_rule(rule):
    """A Function with its parameter names: a surplus one is in order where the operator has an
    attribute of that name."""
    described = describe_function(rule)
    if described and "positional" in described:
        described["parameters"] = [parameter.name for parameter in positional_parameters(rule)]
    return described


def closure_value(function, name):
    """What a closure holds under a name, or None. Frameworks keep the function that a person wrote
    in there."""
    core = core_function(function)
    code = getattr(core, "__code__", None)
    for variable, cell in zip(
        getattr(code, "co_freevars", ()), getattr(core, "__closure__", None) or ()
    ):
        if variable == name:
            return cell_value(cell)
    return None


def cell_value(cell):
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None
