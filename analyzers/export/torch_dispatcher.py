"""What torch's dispatcher prints of an operator, taken apart."""

import re

from _opseal_common import MISSING, ExportError, read

ROW = re.compile(r"(?P<key>\S+?)(?:\[alias\])?(?P<inactive> \(inactive\))?: (?P<rest>.*)")
SITE = re.compile(r"registered at (.*?:\d+)(?: :: | \[|$)")
FALLTHROUGH = re.compile(r"\[[^\[\]]*\bfallthrough\b[^\[\]]*\]$")
NAME = re.compile(r"^name: (\S+)", re.MULTILINE)


class Dispatcher:
    """The calls of `torch._C`; which of them are there depends on the version of torch."""

    def __init__(self, request, torch):
        self.request = request
        self.torch = torch
        self.calls = torch._C
        self.dump = self.call("_dispatch_dump", "any operator")
        if self.dump is MISSING:
            raise ExportError("this torch does not show its dispatcher")

    def call(self, name, lost):
        value = getattr(self.calls, name, MISSING)
        if value is MISSING:
            self.request.remark("`torch._C.{}` is not there, so {} is not said".format(name, lost))
        return value

    def names(self):
        """Of every operator, with its overload; those included that have a kernel but no
        schema."""
        return sorted(set(self.registered()) | self.dangling())

    def registered(self):
        every = getattr(self.calls, "_dispatch_get_all_op_names", None)
        if every is not None:
            return every()
        # Before 2.0: without a key it answers for all; what has a schema alone is not among them.
        of_key = self.call("_dispatch_get_registrations_for_dispatch_key", "any operator")
        if of_key is MISSING:
            raise ExportError("this torch does not list its operators")
        return set(of_key()) | {name for name in self.schema_names() if self.is_known(name)}

    def schema_names(self):
        schemas = self.call("_jit_get_all_schemas", "an operator without a kernel")
        return {qualified(each) for each in schemas()} if schemas is not MISSING else set()

    def is_known(self, name):
        known = self.call("_dispatch_has_kernel", "an operator without a kernel")
        return known is not MISSING and known(name)

    def dangling(self):
        """Names of implementations of operators that nobody defined."""
        find = self.call("_dispatch_find_dangling_impls", "an implementation without an operator")
        return set(NAME.findall("\n".join(find()))) if find is not MISSING else set()

    def entries(self):
        """{name: Entry} of every operator as it is now."""
        return {name: Entry(self.dump(name)) for name in self.names()}

    def tags(self, name):
        """Without making an object under `torch.ops`; empty where nobody can tell."""
        overload = self.call("_get_operation_overload", "`tags`")
        if overload is MISSING:
            return []
        base, _, suffix = name.partition(".")
        tags = self.tags_in_python(base, suffix)
        if tags is None:
            try:
                found = overload(base, suffix)
            except RuntimeError:  # one without a schema
                return []
            tags = found[2] if found and len(found) > 2 else []
        return sorted({str(tag).rpartition(".")[2] for tag in tags})

    def tags_in_python(self, base, suffix):
        """Those of the operator's object, where there is one already: Python code may have given it
        others, which the dispatcher does not know. Else None."""
        namespace, _, packet = base.partition("::")
        found = getattr(self.torch, "ops", None)
        for name in (namespace, packet, suffix or "default"):
            found = getattr(found, "__dict__", {}).get(name)
        return getattr(found, "tags", None)

    def backend_fallbacks(self):
        """Keys that have a kernel for every operator that lacks one."""
        has = self.call("_dispatch_has_backend_fallback", "`backend_fallbacks`")
        keys = read(self.request, self.calls, "DispatchKey", "`backend_fallbacks`")
        if has is MISSING or keys is MISSING:
            return None
        found = set()
        for name, key in keys.__members__.items():
            try:
                if has(key):
                    found.add(str(key).rpartition(".")[2] or name)
            except RuntimeError:  # keys that stand for several
                continue
        return sorted(found)


class Entry:
    """One operator. Sites are as printed, `FILE:LINE`, and None where none is."""

    def __init__(self, text):
        self.text = text
        self.schema = None
        self.site = None
        self.rows = []
        for line in text.splitlines():
            self.add(line)

    def add(self, line):
        if line.startswith("schema: "):
            schema = line[len("schema: ") :]
            self.schema = None if schema == "(none)" else schema
        elif line.startswith("debug: "):
            self.site = site_in(line)
        elif line and not line.startswith(("name: ", "alias analysis kind")):
            row = ROW.fullmatch(line)
            if row:
                self.rows.append(Row(row))

    def sites(self):
        return [site for site in [self.site] + [row.site for row in self.rows] if site]

    def active_keys(self):
        return {row.key for row in self.rows if row.active}


class Row:
    """What is registered for one dispatch key."""

    def __init__(self, match):
        rest = match["rest"]
        self.line = match.string
        self.key = match["key"]
        self.active = match["inactive"] is None
        # Newer versions say it of the kernel, `[ fallthrough boxed ]`.
        self.fallthrough = rest.startswith("fallthrough") or FALLTHROUGH.search(rest) is not None
        self.site = site_in(rest)


def site_in(text):
    found = SITE.search(text)
    return found and found[1]


def qualified(schema):
    return schema.name + ("." + schema.overload_name if schema.overload_name else "")
