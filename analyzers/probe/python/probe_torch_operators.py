"""Operators that torch calls: those of its dispatcher, and functions of modules."""

import functools
import warnings

import numpy
import torch

from _opseal_probe_derivatives import Derivative
from _opseal_probe_memory import follows_memory, memory_can_be_chosen
from _opseal_probe_operators import (
    MOST_ELEMENTS,
    Numbers,
    OperatorRows,
    elements,
    function_named,
    import_all,
    input_name,
    is_mistake,
    is_near,
    judged,
    read_plan,
    shapes_text,
    skipped,
)
from _opseal_probe_rows import Skip, error_text


def operator_named(name):
    """`lib::op` or `lib::op.overload`; None where the dispatcher has none."""
    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base, None) if base else None
    if packet is None:
        return None
    if overload:
        return getattr(packet, overload, None)
    overloads = packet.overloads()
    if "default" in overloads:
        return packet.default
    if len(overloads) != 1:
        raise Skip("it has overloads, of which the name says none: {}".format(", ".join(overloads)))
    return getattr(packet, overloads[0])


@functools.lru_cache(maxsize=None)
def chooses_memory():
    return memory_can_be_chosen(lambda: torch.empty(64).numpy())


class Operator:
    """`call(inputs)` gives a list of tensors."""

    def __init__(self, name, call):
        self.attributes = {one["name"]: one["value"] for one in call["attributes"]}
        self.op = operator_named(name)
        self.function = None if self.op is not None else function_named(name)
        if self.op is None and not callable(self.function):
            raise Skip("torch has no operator of this name, and no imported module such a function")
        self.schema = None if self.op is None else self.op._schema
        self.written = set()
        if self.schema is not None:
            self.arrange(call)

    def arrange(self, call):
        """Which input is which argument: by names, and those without a known one in order."""
        tensors = [one.name for one in self.schema.arguments if "Tensor" in str(one.type)]
        names = [one["name"] for one in call["inputs"]]
        free = [one for one in tensors if one not in self.attributes and one not in names]
        self.order = []
        for name in names:
            if name not in tensors:
                if not free:
                    raise Skip("the schema takes fewer tensors: {}".format(self.schema))
                name = free.pop(0)
            self.order.append(name)
        known = {one.name for one in self.schema.arguments}
        unknown = [name for name in self.attributes if name not in known]
        if unknown:
            raise Skip("the schema has no `{}`: {}".format(unknown[0], self.schema))
        for one in self.schema.arguments:
            if one.alias_info is not None and one.alias_info.is_write:
                self.written.add(one.name)
            value = self.attributes.get(one.name)
            # `float32`, for a number that says a dtype.
            if isinstance(value, str) and "str" not in str(one.type):
                self.attributes[one.name] = getattr(torch, value, value)

    def given(self, inputs):
        """Positional arguments, and those by name."""
        if self.schema is None:
            return list(inputs), dict(self.attributes)
        values = dict(self.attributes)
        lists = {one.name for one in self.schema.arguments if "List" in str(one.type)}
        for name, value in zip(self.order, inputs):
            if name in lists:
                values.setdefault(name, []).append(value)
            else:
                values[name] = value
        positional, named, gap = [], {}, False
        for one in self.schema.arguments:
            if one.name not in values:
                gap = True
            elif one.kwarg_only or gap:
                named[one.name] = values[one.name]
            else:
                positional.append(values[one.name])
        return positional, named

    def call(self, inputs):
        positional, named = self.given(inputs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = (self.op or self.function)(*positional, **named)
        flat = []

        def add(value):
            if isinstance(value, torch.Tensor):
                flat.append(value)
            elif isinstance(value, (list, tuple)):
                for one in value:
                    add(one)

        add(results)
        return flat

    def may_alias(self, at):
        """The schema says that results share the memory of this input, or says nothing."""
        if self.schema is None:
            return True
        for one in self.schema.arguments:
            if at < len(self.order) and one.name == self.order[at]:
                return one.alias_info is not None
        return True

    def is_composite(self):
        name = self.op.name() if self.op is not None else ""
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        return self.op is None or has(name, "CompositeImplicitAutograd")


def to_torch(call, values):
    return [
        torch.from_numpy(numpy.array(value)).to(torch.bfloat16)
        if one["dtype"] == "bf16"
        else torch.from_numpy(numpy.array(value))
        for one, value in zip(call["inputs"], values)
    ]


def dense(value):
    if value.is_quantized:
        return value.dequantize()
    return value if value.layout == torch.strided else value.to_dense()


def to_numpy(values):
    """bfloat16 and its like as float32."""
    numbers = []
    for value in values:
        value = dense(value.detach())
        if value.dtype == torch.bfloat16 or "float8" in str(value.dtype):
            value = value.to(torch.float32)
        numbers.append(value.resolve_conj().resolve_neg().numpy())
    return numbers


def raw(value):
    value = dense(value.detach()).contiguous()
    return (value.view(torch.int16) if value.dtype == torch.bfloat16 else value).numpy().tobytes()


WORDS = {
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.complex64: "c64",
    torch.complex128: "c128",
}


def dtype_word(dtype):
    """opseal's word."""
    name = str(dtype).rpartition(".")[2]
    return WORDS.get(dtype, name.replace("uint", "u").replace("int", "i"))


def strides_of(value):
    """Of the axes that have more than one element; None where none are seen."""
    if value.layout != torch.strided or value.numel() == 0:
        return None
    return [int(step) for step, extent in zip(value.stride(), value.shape) if extent > 1]


def spread(value):
    """The same numbers, other ones between them, and the first axis the fastest."""
    if value.dim() == 0 or value.numel() == 0:
        return value.clone()
    order = tuple(reversed(range(value.dim())))
    turned = value.permute(order)
    room = torch.full((*turned.shape, 2), 1, dtype=value.dtype)
    room[..., 0] = turned
    return room[..., 0].permute(order)


def shapes_of(values):
    return shapes_text(
        (str(one.dtype).rpartition(".")[2], [int(extent) for extent in one.shape]) for one in values
    )


class Check(OperatorRows):
    def __init__(self, rows, plan):
        super().__init__(rows, plan)
        self.operators = {}
        # Inputs that are said to be written: whether some call did.
        self.wrote = {}
        # Some input is written, and nobody says so.
        self.unmarked = False
        # Some results are made of what their memory held.
        self.unwritten = False
        # One that isn't there is told once.
        self.take(self.calls[0])

    def operator_of(self, call):
        """Calls may have different inputs."""
        key = tuple(one["name"] for one in call["inputs"])
        if key not in self.operators:
            self.operators[key] = Operator(self.name, call)
        return self.operators[key]

    def run(self):
        super().run()
        for name, (call, wrote) in self.wrote.items():
            if not wrote:
                wrote = self.writes_wild(call, name)
            if wrote is None:
                self.skip("written", call, "a call with large numbers is refused", name)
                continue
            seen = "other values" if wrote else "as it was, in every call"
            self.judge("written", call, wrote, "it is written", seen, name)

    def writes_wild(self, call, name):
        """Whether an argument is written that holds what a kernel may cut off; None: it is refused."""
        self.take(call)
        values = Numbers(call, self.seed, False).inputs()
        inputs = to_torch(call, [one * 1000 if one.dtype.kind == "f" else one for one in values])
        before = [one.clone() for one in inputs]
        try:
            self.operator.call(inputs)
        except Exception:
            return None
        names = [input_name(call, at) for at in range(len(inputs))]
        return any(
            raw(one) != raw(other)
            for own, one, other in zip(names, before, inputs)
            if own == name
        )

    def take(self, call):
        self.operator = self.operator_of(call)

    def make(self, call):
        self.take(call)
        inputs = to_torch(call, Numbers(call, self.seed, False).inputs())
        before = [one.clone() for one in inputs]
        results = self.operator.call(inputs)
        return shapes_of(results), (before, inputs, results)

    def refused(self, call, error):
        if "may not alias" in error:
            self.judge("alias", call, False, "memory of its own", error)
            return True
        return False

    def results_of(self, made):
        return [(dtype_word(one.dtype), tuple(one.shape)) for one in made[2]]

    def look(self, call, made):
        before, inputs, results = made
        self.guarded("mutation", call, self.mutation, call, before, inputs)
        self.guarded("alias", call, self.alias, call, inputs, results)
        self.guarded("fake", call, self.fake, call, before, results)
        self.guarded("overwritten", call, self.overwritten, call, before, results)
        self.guarded("layout", call, self.layout, call, before, inputs, results)

    arrays = staticmethod(to_torch)
    stack = staticmethod(torch.stack)

    def is_wrong(self, error):
        told = (
            "incorrect number of gradients",
            "invalid gradient",
            "cannot be multiplied",
            "must match the size",
        )
        return is_mistake(error, torch, told)

    def numbers(self, *inputs):
        return to_numpy(self.operator.call([one.clone() for one in inputs]))

    def batch(self, call):
        if self.unmarked:
            raise Skip("it writes to an argument that nobody calls written")
        self.need_written()
        super().batch(call)

    def batched(self, axes, *inputs):
        def call(*values):
            return tuple(self.operator.call(values))

        return to_numpy(torch.vmap(call, in_dims=tuple(axes))(*inputs))

    def argument(self, at):
        order = getattr(self.operator, "order", [])
        return order[at] if at < len(order) else None

    def mutation(self, call, before, after):
        for at, (one, other) in enumerate(zip(before, after)):
            name = input_name(call, at)
            if one.numel() == 0:
                continue
            same = one.shape == other.shape and raw(one) == raw(other)
            if call["inputs"][at]["written"] or self.argument(at) in self.operator.written:
                first, wrote = self.wrote.get(name, (call, False))
                self.wrote[name] = (first, wrote or not same)
                continue
            # Of a function that is no operator only the manifest says what it leaves alone.
            if self.operator.schema is None and not call["inputs"][at]["read_only"]:
                continue
            seen = "as it was" if same else "other values"
            self.unmarked = self.unmarked or not same
            self.judge("mutation", call, same, "as it was", seen, name)

    def alias(self, call, inputs, results):
        if self.operator.is_composite():
            return
        for at, one in enumerate(inputs):
            if self.operator.may_alias(at) or one.numel() == 0:
                continue
            storage = one.untyped_storage().data_ptr()
            shared = [
                number
                for number, result in enumerate(results)
                if result.numel() > 0
                and result.layout == torch.strided
                and result.untyped_storage().data_ptr() == storage
            ]
            name = input_name(call, at)
            seen = "its own"
            if shared:
                seen = "result {} lies in the memory of the argument".format(shared[0])
            self.judge("alias", call, not shared, "memory of its own", seen, name)

    def fake(self, call, inputs, results):
        from torch._subclasses.fake_tensor import FakeTensorMode

        if self.operator.op is None or not results:
            return
        expected = shapes_of(results)
        try:
            with FakeTensorMode() as mode:
                promised = self.operator.call([mode.from_tensor(one) for one in inputs])
            seen = shapes_of(promised)
        except Exception as error:
            if self.is_wrong(error):
                self.judge("fake", call, False, expected, error_text(error))
            else:
                self.skip("fake", call, error_text(error))
            return
        strides = [[strides_of(one) for one in some] for some in (results, promised)]
        if expected == seen and strides[0] != strides[1]:
            expected += " with strides {}".format(strides[0])
            seen += " with strides {}".format(strides[1])
        self.judge("fake", call, expected == seen, expected, seen)

    def overwritten(self, call, before, results):
        """Whether results are made of what their memory held before, and not of the arguments."""
        # What hands out memory alone says so in its name.
        if "empty" in self.name or not any(one.numel() > 0 for one in results):
            return
        if elements(call) > MOST_ELEMENTS or any(one.is_quantized for one in results):
            return
        if not chooses_memory():
            return
        found = follows_memory(lambda: to_numpy(self.operator.call([one.clone() for one in before])))
        if found is None:
            return
        for at, one in enumerate(found):
            if one.any():
                seen = "{} of {} elements of result {} are what its memory held before"
                self.unwritten = True
                seen = seen.format(int(one.sum()), one.size, at)
                self.judge("overwritten", call, False, "results of the arguments alone", seen)
                return
        expected = "results of the arguments alone"
        self.judge("overwritten", call, True, expected, expected)

    def layout(self, call, before, after, results):
        """Operands that lie otherwise in memory hold the same numbers."""
        self.need_written()
        if self.operator.op is None or not any(one.numel() > 1 for one in before):
            return
        inputs = [spread(one) for one in before]
        try:
            seen = self.operator.call(inputs)
        except Exception as error:
            self.skip("layout", call, "is refused: " + error_text(error))
            return
        kinds = [one.dtype for one in before + results]
        tolerance = 1e-2 if torch.bfloat16 in kinds or torch.float16 in kinds else 1e-4
        for what, wanted, given in (("result", results, seen), ("argument", after, inputs)):
            for at, (one, other) in enumerate(zip(to_numpy(wanted), to_numpy(given))):
                if not is_near(one, other, tolerance, 1e-6):
                    reason = "{} {} is another one for operands that are not contiguous"
                    repeated = [value.clone() for value in before]
                    again = self.operator.call(repeated)
                    again = to_numpy(again if what == "result" else repeated)
                    if not is_near(one, again[at], tolerance, 1e-6):
                        self.skip("layout", call, "equal inputs give other results each time")
                        return
                    expected = "as for contiguous operands"
                    self.judge("layout", call, False, expected, reason.format(what, at))
                    return
        self.judge("layout", call, True, "as for contiguous operands", "the same")

    def need_written(self):
        if self.unwritten:
            raise Skip("its results are what their memory held before")

    def along(self, call, inputs, at, seed):
        self.need_written()
        random = Numbers(call, seed + at + 1, False)
        direction = random.direction(tuple(inputs[at].shape))
        width = inputs[at].element_size()

        def run(values):
            """Results of less precision have no differences."""
            results = self.operator.call([torch.from_numpy(numpy.array(one)) for one in values])
            kept = [one.is_floating_point() and one.element_size() >= width for one in results]
            return [
                one if keep else numpy.zeros(0, numpy.int8)
                for one, keep in zip(to_numpy(results), kept)
            ]

        derivative = Derivative(run, to_numpy(inputs), at, direction)
        weights = derivative.weights(random)
        leaf = inputs[at].clone().requires_grad_(True)
        values = [one.clone() for one in inputs]
        # A leaf can't be written to.
        values[at] = leaf.clone()
        expected = "a gradient"
        try:
            results = self.operator.call(values)
        except Exception as error:
            return [self.failed(error, expected)]
        outcomes, weighted = [], []
        for result, weight in zip(results, weights):
            if weight is not None and result.requires_grad:
                outcomes.append(result)
                weighted.append(torch.from_numpy(numpy.array(weight)).to(result.dtype))
        if not outcomes:
            raise Skip("its results take no gradient")
        given = [one.clone() for one in weighted]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                (found,) = torch.autograd.grad(outcomes, [leaf], weighted, allow_unused=True)
        except Exception as error:
            return [self.failed(error, expected)]
        if not all(torch.equal(one, other) for one, other in zip(given, weighted)):
            seen = "its backward writes to the gradient that it is given"
            return [judged("gradient", False, "a gradient that is left as it was", seen)]
        if found is None:
            raise Skip("its backward gives none")
        missing = [
            weight if weight is not None and result.requires_grad else None
            for result, weight in zip(results, weights)
        ]
        return [derivative.judge_gradient("gradient", missing, dense(found.detach()).numpy())]

    def failed(self, error, expected):
        """Who is refused knows it; a formula that can't be run is told."""
        if self.is_wrong(error):
            return judged("gradient", False, expected, error_text(error))
        return skipped("gradient", error_text(error))


def run_operators(rows, path):
    plan = read_plan(path)
    torch.manual_seed(plan["seed"])
    torch.set_num_threads(1)
    import_all(rows, plan)
    Check(rows, plan).run()
