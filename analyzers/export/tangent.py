"""Which operators a tangent rule feeds the tangent to: reverse mode needs a transpose for exactly
these.

A taint walk over the source of the rule and of the package's own functions that it calls; nothing
is executed. A function of another package ends the walk: what jax.numpy comes down to are jax's own
primitives, and on branches that a tangent never takes (a conversion to bool compares with 0) it
comes down to nearly all of them.
"""

import ast
import functools
import sys

from _opseal_functions import cell_value, core_function, positional_parameters
from _opseal_sources import attribute_value, last_name, syntax_tree

# What is read off a tangent with these is no tangent any more.
FACTS_OF_A_VALUE = frozenset(("shape", "dtype", "ndim", "size", "aval", "sharding"))
FUNCTIONS_FOR_FACTS = frozenset(
    ("shape", "ndim", "dtype", "typeof", "len", "type", "isinstance", "get_aval")
)

FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class TangentReach:
    def __init__(self, packages, operator_name, framework=None):
        """operator_name: from a live object to the name of the operator it stands for, or None.
        framework: the one of the packages whose functions only its own rules are followed into."""
        self.packages = frozenset(packages)
        self.operator_name = operator_name
        self.framework = framework

    def operators(self, rule):
        """Sorted operator names, or None where the rule's source cannot be read."""
        parameters = positional_parameters(rule)
        start = core_function(rule)
        if not parameters or source_node(start) is None:
            return None
        followed = self.packages
        if package_of(start) != self.framework:
            followed = followed - {self.framework}
        reached, seen, waiting = set(), set(), [(start, frozenset((parameters[0].name,)))]
        while waiting:
            step = waiting.pop()
            if step in seen:
                continue
            seen.add(step)
            for callee, carrying in calls_with_tangents(*step):
                name = self.operator_name(callee)
                if name is not None:
                    reached.add(name)
                    continue
                function = core_function(callee)
                if hasattr(function, "__code__") and package_of(function) in followed:
                    waiting.append((function, carrying(function)))
        return sorted(reached)


def package_of(function):
    return (getattr(function, "__module__", None) or "").split(".")[0]


def calls_with_tangents(function, parameters):
    """(callee, function from the callee to its parameters that get a tangent) for the calls that
    pass one on."""
    node = source_node(function)
    if node is None or not parameters:
        return
    scope = Scope(function, node)
    carriers = tangent_variables(node, parameters)
    for call in nodes_of(node, ast.Call):
        if any(carries(value, carriers) for value in argument_values(call)):
            callee = called_object(scope, call)
            if callee is not None:
                yield callee, lambda target, call=call: tangent_parameters(target, call, carriers)


def called_object(scope, call):
    """`operator.bind(...)` calls the operator."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "bind":
        return scope.value(call.func.value)
    return scope.value(call.func)


def argument_values(call):
    return call.args + [keyword.value for keyword in call.keywords]


def tangent_parameters(function, call, carriers):
    """Names of the callee's parameters that a tangent is passed to."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    passed = [pair for pair in zip(names, call.args) if not isinstance(pair[1], ast.Starred)]
    passed += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
    return frozenset(name for name, value in passed if carries(value, carriers))


def carries(expression, carriers):
    if isinstance(expression, ast.Name):
        return expression.id in carriers
    if isinstance(expression, ast.Attribute) and expression.attr in FACTS_OF_A_VALUE:
        return False
    if isinstance(expression, ast.Call) and last_name(expression.func) in FUNCTIONS_FOR_FACTS:
        return False
    return any(carries(child, carriers) for child in ast.iter_child_nodes(expression))


def tangent_variables(node, parameters):
    """The parameters and every variable that a tangent is assigned to, in however many steps."""
    assignments = [(value, names) for value, names in assignments_of(node) if value is not None]
    carriers, known = set(parameters), 0
    while len(carriers) != known:
        known = len(carriers)
        for value, names in assignments:
            if carries(value, carriers):
                carriers |= names
    return carriers


def assignments_of(node):
    for statement in nodes_of(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield statement.value, set().union(*(assigned_names(target) for target in targets))
    for loop in nodes_of(node, (ast.For, ast.comprehension)):
        yield loop.iter, assigned_names(loop.target)


def assigned_names(target):
    """The variables that an assignment changes: `x` for `x[i]` and `x.field` too, but not `i`."""
    if isinstance(target, ast.Name):
        return {target.id}
    if isinstance(target, (ast.Tuple, ast.List)):
        return set().union(*(assigned_names(element) for element in target.elts))
    if isinstance(target, (ast.Starred, ast.Subscript, ast.Attribute)):
        return assigned_names(target.value)
    return set()


def nodes_of(function_node, kinds):
    """Nodes of a kind in the body; the defaults and decorators belong to the surroundings."""
    body = function_node.body if isinstance(function_node.body, list) else [function_node.body]
    for part in body:
        for node in ast.walk(part):
            if isinstance(node, kinds):
                yield node


class Scope:
    """From names in a function's source to live objects."""

    def __init__(self, function, node):
        self.names = dict(getattr(function, "__globals__", {}))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            self.names[name] = cell_value(cell)
        for statement in nodes_of(node, ast.ImportFrom):
            self.add_import(statement)

    def add_import(self, statement):
        module = sys.modules.get(self.absolute_name(statement))
        for alias in statement.names:
            self.names[alias.asname or alias.name] = attribute_value(module, alias.name)

    def absolute_name(self, statement):
        package = (self.names.get("__package__") or "").split(".")
        parents = package[: len(package) + 1 - statement.level] if statement.level else []
        return ".".join(parents + ([statement.module] if statement.module else []))

    def value(self, node):
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            return attribute_value(self.value(node.value), node.attr)
        return None


def source_node(function):
    """The function's node in its file, or None: no source, or two lambdas on one line that cannot
    be told apart."""
    code = getattr(function, "__code__", None)
    tree = syntax_tree(code.co_filename) if code is not None else None
    if tree is None:
        return None
    names = code.co_varnames[: code.co_argcount]
    fitting = [
        node
        for node in functions_by_place(tree).get((code.co_name, code.co_firstlineno), [])
        if tuple(argument.arg for argument in positional_arguments(node)) == names
    ]
    return fitting[0] if len(fitting) == 1 else None


@functools.lru_cache(maxsize=None)
def functions_by_place(tree):
    index = {}
    for node in ast.walk(tree):
        if isinstance(node, FUNCTION_NODES):
            # The code object begins at the first decorator.
            line = min(
                [node.lineno]
                + [decorator.lineno for decorator in getattr(node, "decorator_list", [])]
            )
            index.setdefault((getattr(node, "name", "<lambda>"), line), []).append(node)
    return index


def positional_arguments(node):
    return getattr(node.args, "posonlyargs", []) + node.args.args
