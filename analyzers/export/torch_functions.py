"""What torch knows of an operator in Python: custom operators and their rules, fake kernels,
decompositions."""

from _opseal_common import MISSING, optional_module, read
from _opseal_functions import closure_value, core_function, describe_function
from _opseal_torch_dispatcher import qualified

WRAPPERS = ("torch.library", "torch._library", "torch._custom_op", "torch._custom_ops")
# What a wrapper calls the function of the user that it closes over.
WRAPPED = ("func", "fn")
MOST_WRAPPERS = 8
# Under a fake tensor the kernel of such a key is itself run; whether that works nobody said.
COMPOSITE_KEYS = {
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
}


class PythonTables:
    """Needs: torch is imported. Loads the modules of torch that hold the tables, which define
    operators of torch's own."""

    def __init__(self, request, torch):
        self.torch = torch
        custom = table(request, "torch._library.custom_ops", "OPDEFS", "`gradient`")
        self.custom = {} if custom is MISSING else custom
        lost = "an abstract evaluation, or that there is none,"
        registry = table(request, "torch._library.simple_registry", "singleton", lost)
        # Its `find` would make an entry.
        self.simple = getattr(registry, "_data", {})
        self.elsewhere = {}
        # An operator that is in none of the tables has no fake; without them nobody knows.
        self.complete = hasattr(registry, "_data")
        for module, attribute, kind in (
            ("torch._subclasses.fake_impls", "op_implementations_dict", "fake"),
            ("torch._decomp", "decomposition_table", "decomposition"),
        ):
            found = table(request, module, attribute, lost)
            self.complete = self.complete and found is not MISSING
            for key in [] if found is MISSING else list(found):
                if hasattr(key, "_schema"):
                    self.elsewhere[qualified(key._schema)] = kind

    def custom_operator(self, name):
        """The object of `torch.library.custom_op`, or None."""
        base, _, overload = name.partition(".")
        return self.custom.get(base if overload == "default" else name)

    def fake_function(self, name):
        custom = self.custom_operator(name)
        # What the other table holds of a custom operator is torch's, and raises without this one.
        if hasattr(custom, "_abstract_fn"):
            return unwrapped(custom._abstract_fn)
        holder = getattr(self.simple.get(name), "fake_impl", None)
        kernel = getattr(holder, "kernel", None)
        return unwrapped(getattr(kernel, "func", kernel))

    def has_stub_for_meta(self, name, entry):
        """Whether all that serves tensors without data is the kernel that torch registers for each
        custom operator, and which raises unless there is a fake."""
        custom = self.custom_operator(name)
        if not hasattr(custom, "_abstract_fn") or custom._abstract_fn is not None:
            return False
        # Whoever registers another kernel has another site than the definition.
        sites = [row.site for row in entry.rows if row.key == "Meta" and row.active]
        return all(site == entry.site for site in sites) and not self.is_trivial(name)

    def abstract(self, name, entry, meta_location):
        """{"abstract": ...} of an operator, or {} where nobody can tell."""
        function = self.fake_function(name)
        keys = entry.active_keys()
        stub = self.has_stub_for_meta(name, entry)
        if function is not None:
            return {"abstract": {**describe_function(function), "kind": "fake"}}
        if "Meta" in keys and not stub:
            place = {"location": meta_location} if meta_location else {}
            return {"abstract": {"name": "Meta", "kind": "meta", **place}}
        if entry.schema is None or (keys & COMPOSITE_KEYS and not stub):
            return {}
        kind = self.elsewhere.get(name)
        if kind is None and self.is_trivial(name):
            kind = "fake"
        if kind:
            return {"abstract": {"name": kind, "kind": kind}}
        return {"abstract": None} if self.complete else {}

    def is_trivial(self, name):
        """Whether torch makes the fake by itself, as for what only writes its arguments."""
        utilities = optional_module("torch._library.utils")
        judge = getattr(utilities, "can_generate_trivial_fake_impl", None)
        if judge is None:
            return False
        base, _, overload = name.partition(".")
        found = self.torch.ops
        try:
            for part in (*base.split("::"), overload or "default"):
                found = getattr(found, part)
            return judge(found)
        except Exception:  # an operator that torch cannot make an object of
            return False

    def custom_facts(self, name):
        """Of `torch.library.custom_op`: an Autograd key says nothing there, since without a formula
        the kernel under it only raises."""
        custom = self.custom_operator(name)
        if custom is None:
            return {}
        facts = {"defined_in": "python"}
        place = describe_function(unwrapped(getattr(custom, "_init_fn", None))) or {}
        if "location" in place:
            facts["location"] = place["location"]
        if hasattr(custom, "_backward_fn"):
            backward = unwrapped(custom._backward_fn)
            facts["gradient"] = backward and {"function": describe_function(backward)}
        if hasattr(custom, "_vmap_fn"):
            facts["batching"] = {"kind": "custom"} if custom._vmap_fn is not None else None
        return facts

    def kernel_functions(self, name):
        """{dispatch key: function} of a custom operator."""
        functions = getattr(self.custom_operator(name), "_backend_fns", {})
        return {self.key_of(device): unwrapped(function) for device, function in functions.items()}

    def key_of(self, device):
        if device is None:
            return "CompositeExplicitAutograd"
        key_for = getattr(self.torch._C, "_dispatch_key_for_device", None)
        return str(key_for(device)).rpartition(".")[2] if key_for else device.upper()


def table(request, module, attribute, lost):
    try:
        return read(request, module, attribute, lost)
    except Exception as error:  # a module of torch that lacks what it needs
        text = "`{}` cannot be imported ({}), so {} is not said"
        request.remark(text.format(module, error, lost))
        return MISSING


def unwrapped(function):
    """The function that a person wrote, where torch wrapped it in one of its own."""
    for _ in range(MOST_WRAPPERS):
        core = core_function(function)
        module = getattr(core, "__module__", None) or ""
        if not any((module + ".").startswith(wrapper + ".") for wrapper in WRAPPERS):
            break
        inner = [closure_value(core, name) for name in WRAPPED]
        inner = [each for each in inner if callable(each)]
        if not inner:
            break
        function = inner[0]
    return function
