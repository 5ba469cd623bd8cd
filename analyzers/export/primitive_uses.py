"""What the source of the loaded modules says about live primitives: where each is made, and how it
is bound.
"""

import ast

from _opseal_functions import location
from _opseal_sources import has_star, named_value, source_modules


class Use:
    def __init__(self):
        self.location = None
        # Of the calls of `bind`: how many positional arguments, unless a starred one hides that,
        # and which keywords.
        self.counts = set()
        self.attributes = set()


def primitive_uses(primitives, packages, carriers=()):
    """Identity of a primitive to its Use. `carriers`: pairs of an object and the primitive in it; a
    call of such an object binds the primitive, and its keywords may be the object's own."""
    uses = {id(primitive): Use() for primitive in primitives}
    called = {id(carrier): uses[id(primitive)] for carrier, primitive in carriers}
    for variables, tree, file in source_modules(packages):
        for variable, line in assigned_calls(tree):
            value = id(variables.get(variable))
            use = uses.get(value) or called.get(value)
            if use is not None and use.location is None:
                use.location = location(file, line)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                add_bind(uses, variables, node)
                use = called.get(id(named_value(variables, node.func)))
                if use is not None:
                    add_count(use, node)
    return uses


def add_bind(uses, variables, call):
    if isinstance(call.func, ast.Attribute) and call.func.attr == "bind":
        use = uses.get(id(named_value(variables, call.func.value)))
        if use is not None:
            use.attributes |= {keyword.arg for keyword in call.keywords if keyword.arg}
            add_count(use, call)


def assigned_calls(tree):
    """(variable, line) of each `VARIABLE = function(...)` at the top level of a module."""
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Call):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if len(targets) == 1 and isinstance(targets[0], ast.Name):
                yield targets[0].id, node.lineno


def add_count(use, call):
    if not has_star(call):
        use.counts.add(len(call.args))
