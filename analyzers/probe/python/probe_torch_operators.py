"""Operators that torch calls: those of its dispatcher, and functions of modules."""

import importlib
import warnings

import numpy
import torch

from _opseal_probe_operators import (
    Derivative,
    Numbers,
    OperatorRows,
    function_named,
    read_plan,
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
        """Which input is which argument: by names, else in order."""
        names = [one["name"] for one in call["inputs"]]
        tensors = [
            one.name for one in self.schema.arguments if "Tensor" in str(one.type)
        ]
        by_name = all(name in tensors for name in names)
        free = [name for name in tensors if name not in self.attributes]
        if not by_name and len(free) < len(names):
            raise Skip("the schema takes fewer tensors: {}".format(self.schema))
        self.order = names if by_name else free[: len(names)]
        known = {one.name for one in self.schema.arguments}
        unknown = [name for name in self.attributes if name not in known]
        if unknown:
            raise Skip("the schema has no `{}`: {}".format(unknown[0], self.schema))
        for one in self.schema.arguments:
            if one.alias_info is not None and one.alias_info.is_write:
                self.written.add(one.name)

    def given(self, inputs):
        """Positional arguments, and those by name."""
        if self.schema is None:
            return list(inputs), dict(self.attributes)
        values = dict(self.attributes)
        values.update(zip(self.order, inputs))
        positional, named, gap = [], {}, False
        for one in self.schema.arguments:
            if one.name not in values:
                gap = True
                continue
            value = values[one.name]
            if "Tensor[]" in str(one.type) or "List[Tensor]" in str(one.type):
                value = [value]
            if one.kwarg_only or gap:
                named[one.name] = value
            else:
                positional.append(value)
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


def to_numpy(values):
    """bfloat16 and its like as float32."""
    numbers = []
    for value in values:
        value = value.detach()
        if value.is_sparse or value.is_quantized:
            value = value.to_dense() if value.is_sparse else value.dequantize()
        if value.dtype == torch.bfloat16 or "float8" in str(value.dtype):
            value = value.to(torch.float32)
        numbers.append(value.resolve_conj().resolve_neg().numpy())
    return numbers


def raw(value):
    value = value.detach().contiguous()
    return (value.view(torch.int16) if value.dtype == torch.bfloat16 else value).numpy().tobytes()


def shapes_of(values):
    return ", ".join(
        "{}[{}]".format(str(one.dtype).rpartition(".")[2], ",".join(str(int(e)) for e in one.shape))
        for one in values
    )


class Check(OperatorRows):
    def __init__(self, rows, plan):
        super().__init__(rows, plan)
        self.operator = Operator(self.name, self.calls[0])

    def make(self, call):
        inputs = to_torch(call, Numbers(call, self.seed, False).inputs())
        before = [one.clone() for one in inputs]
        results = self.operator.call(inputs)
        return shapes_of(results), (before, inputs, results)

    def look(self, call, made):
        before, inputs, results = made
        self.mutation(call, before, inputs)
        self.alias(call, inputs, results)
        self.fake(call, before, results)

    arrays = staticmethod(to_torch)
    stack = staticmethod(torch.stack)

    def numbers(self, *inputs):
        return to_numpy(self.operator.call([one.clone() for one in inputs]))

    def batched(self, *inputs):
        return to_numpy(torch.vmap(lambda *values: tuple(self.operator.call(values)))(*inputs))

    def mutation(self, call, before, after):
        for at, (one, other) in enumerate(zip(before, after)):
            name = call["inputs"][at]["name"] or str(at)
            order = getattr(self.operator, "order", [])
            marked = at < len(order) and order[at] in self.operator.written
            if call["inputs"][at]["written"] or marked:
                continue
            same = one.shape == other.shape and raw(one) == raw(other)
            seen = "as it was" if same else "other values"
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
            name = call["inputs"][at]["name"] or str(at)
            seen = "its own"
            if shared:
                seen = "result {} lies in the memory of the argument".format(shared[0])
            self.judge("alias", call, not shared, "memory of its own", seen, name)

    def fake(self, call, inputs, results):
        from torch._subclasses.fake_tensor import FakeTensorMode

        if self.operator.op is None:
            return
        try:
            with FakeTensorMode() as mode:
                promised = self.operator.call([mode.from_tensor(one) for one in inputs])
            expected, seen = shapes_of(results), shapes_of(promised)
        except Exception as error:
            self.skip("fake", call, error_text(error))
            return
        self.judge("fake", call, expected == seen, expected, seen)

    def derivatives(self, call):
        floating = [one["dtype"] in ("f32", "f64") for one in call["inputs"]]
        for positive in (False, True):
            inputs = to_torch(call, Numbers(call, self.seed, positive).inputs())
            results = self.numbers(*inputs)
            if all(one.dtype.kind != "f" or numpy.isfinite(one).all() for one in results):
                break
        for at, moves in enumerate(floating):
            if moves:
                name = call["inputs"][at]["name"] or str(at)
                try:
                    self.gradient(call, inputs, at, name)
                except Skip as reason:
                    self.skip("gradient", call, reason, name)

    def gradient(self, call, inputs, at, name):
        random = Numbers(call, self.seed + at + 1, False)
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
        try:
            results = self.operator.call(values)
        except Exception as error:
            raise Skip(error_text(error))
        outcomes, weighted = [], []
        for result, weight in zip(results, weights):
            if weight is not None and result.requires_grad:
                outcomes.append(result)
                weighted.append(torch.from_numpy(numpy.array(weight)).to(result.dtype))
        if not outcomes:
            raise Skip("its results take no gradient")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                (found,) = torch.autograd.grad(outcomes, [leaf], weighted, allow_unused=True)
        except Exception as error:
            raise Skip(error_text(error))
        if found is None:
            raise Skip("its backward gives none")
        missing = [
            weight if weight is not None and result.requires_grad else None
            for result, weight in zip(results, weights)
        ]
        judged = derivative.judge_gradient(missing, found.detach().numpy(), direction)
        if not judged[0] and not bool(found.any()):
            raise Skip("its gradient is 0, which may be a choice")
        self.judge("gradient", call, *judged, name)


def run_operators(rows, path):
    plan = read_plan(path)
    torch.manual_seed(plan["seed"])
    torch.set_num_threads(1)
    for name in plan["imports"]:
        importlib.import_module(name)
    Check(rows, plan).run()
