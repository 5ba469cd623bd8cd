"""Operands out of the text of an operator's schema, as the dispatcher prints it:
`ns::name.overload(Tensor(a!) self, int[2] size=1, *, Tensor? w=None) -> (Tensor(a!), Tensor)`."""

import re

OPENING, CLOSING, QUOTES = "([{", ")]}", "\"'"
ALIAS = re.compile(r"\(([^()]*)\)")
TYPE = re.compile(r"[A-Za-z_(]")


def operands(schema):
    """{inputs, attributes, outputs, arity_source} of a schema; {} where it cannot be read, or holds
    `...` and so no counts."""
    parts = argument_lists(schema)
    if parts is None:
        return {}
    arguments = [argument(text) for text in parts[0] if text != "*"]
    returned = [argument(text) for text in parts[1]]
    if None in arguments or None in returned:
        return {}
    tensors = [each for each in arguments if is_tensor(each)]
    return {
        "inputs": [operand(each, mark=True) for each in tensors],
        "attributes": [
            {"name": each["name"], "type": each["type"]}
            for each in arguments
            if not is_tensor(each)
        ],
        "outputs": [operand(each, mark=False) for each in returned],
        "arity_source": "schema",
    }


def argument_lists(schema):
    """([text of each argument], [text of each result]), or None."""
    start = schema.find("(")
    end = closing_bracket(schema, start)
    head, arrow, result = schema[end + 1 :].partition("->") if end else ("", "", "")
    if not end or not arrow or head.strip():
        return None
    result = result.strip()
    if result.startswith("(") and closing_bracket(result, 0) == len(result) - 1:
        result = result[1:-1]
    return split(schema[start + 1 : end]), split(result)


def depths(text):
    """(position, character, bracket depth behind it) of everything outside quotation marks."""
    depth, quote, escaped = 0, None, False
    for position, character in enumerate(text):
        if quote:
            if character == quote and not escaped:
                quote = None
            escaped = character == "\\" and not escaped
            continue
        if character in QUOTES:
            quote = character
        depth += (character in OPENING) - (character in CLOSING)
        yield position, character, depth


def closing_bracket(text, start):
    """The position of the bracket that closes the one at `start`; None where there is none."""
    if start < 0:
        return None
    for position, _, depth in depths(text[start:]):
        if depth == 0:
            return start + position
    return None


def split(text):
    """At the commas outside brackets and quotation marks."""
    cuts = [at for at, character, depth in depths(text) if character == "," and not depth]
    starts = [0] + [cut + 1 for cut in cuts]
    parts = [text[start:end].strip() for start, end in zip(starts, cuts + [len(text)])]
    return [part for part in parts if part]


def argument(text):
    """{type, name, alias} of `TYPE`, `TYPE name` or `TYPE name=default`; None if it is neither."""
    if not TYPE.match(text):
        return None
    spaces = (at for at, character, depth in depths(text) if character == " " and not depth)
    space = next(spaces, None)
    kind = text[:space]
    name = text[space + 1 :].partition("=")[0] if space else ""
    found = {"type": kind, "name": name, "alias": None}
    if is_tensor(found):
        marks = ALIAS.search(kind)
        found["alias"] = marks and marks.group(1)
        found["type"] = ALIAS.sub("", kind)
    return found


def is_tensor(each):
    return re.match(r"Tensor\b", each["type"]) is not None


def operand(each, mark):
    """`mark`: it is an input, so that having no alias set says that it is not written."""
    described = {"name": each["name"]} if each["name"] else {}
    if each["alias"] is not None:
        described["mutated"] = "!" in each["alias"]
        described["alias"] = each["alias"]
    elif mark:
        described["mutated"] = False
    if is_tensor(each) and each["type"].endswith("?"):
        described["optional"] = True
    if each["type"] not in ("Tensor", "Tensor?"):
        described["type"] = each["type"]
    return described
