"""Operators that a manifest describes, called through their framework.

A plan (`framework_operators.h`) states the calls of one operator. Here stands what does not depend on
the framework: the numbers that are handed over, and how results, derivatives and batches are held
against each other. All of it is NumPy; a framework's script turns arrays into its own and back.
"""

import json

import numpy

from _opseal_probe_rows import Skip, error_text

# The distance of two floating results that were made in another order, of the largest number in
# them; and the step of a difference, with how far it may be off a derivative.
TOLERANCE = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-4, "float64": 1e-9}
STEP = {"float32": 5e-3, "float64": 1e-5}
OFF = {"float32": 2e-2, "float64": 1e-5}
# Rules may round by themselves; a rule that is wrong is further off.
TRANSPOSE_OFF = {"float32": 1e-2, "float64": 2e-3}

# Calls of which derivatives and batches are asked: elements of all operands together.
MOST_ELEMENTS = 4096


def read_plan(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def is_floating(dtype):
    return dtype in ("f16", "bf16", "f32", "f64")


def numpy_type(dtype):
    """The NumPy type that holds numbers of opseal's dtype; bfloat16 is held by float32."""
    names = {"bool": "bool", "bf16": "float32", "f16": "float16", "f32": "float32", "f64": "float64"}
    names.update({"c64": "complex64", "c128": "complex128"})
    for bits in (8, 16, 32, 64):
        names["i{}".format(bits)] = "int{}".format(bits)
        names["u{}".format(bits)] = "uint{}".format(bits)
    if dtype not in names:
        raise Skip("numbers of dtype {} are not made".format(dtype))
    return numpy.dtype(names[dtype])


class Numbers:
    """Inputs of a call; those of one seed are the same in each run."""

    def __init__(self, call, seed, positive):
        self.call = call
        self.random = numpy.random.default_rng(seed)
        self.positive = positive

    def inputs(self):
        return [self.operand(one) for one in self.call["inputs"]]

    def operand(self, one):
        kind, shape = numpy_type(one["dtype"]), tuple(one["shape"])
        if one["indexes"]:
            return numpy.zeros(shape, kind)
        if kind == bool:
            return self.random.integers(0, 2, shape).astype(kind)
        if kind.kind in "iu":
            return self.random.integers(0, 8, shape).astype(kind)
        if kind.kind == "c":
            return (self.real(shape) + 1j * self.real(shape)).astype(kind)
        return self.real(shape).astype(kind)

    def real(self, shape):
        """Away from 0, where many functions have a kink or a pole."""
        size = self.random.uniform(0.2, 0.9 if self.positive else 1.8, shape)
        return size if self.positive else size * self.random.choice((-1.0, 1.0), shape)

    def direction(self, shape):
        return self.random.uniform(0.5, 1.0, shape) * self.random.choice((-1.0, 1.0), shape)


def elements(call):
    sizes = [numpy.prod(one["shape"], dtype=float) for one in call["inputs"] + call["outputs"]]
    return sum(sizes)


def widest(calls):
    """The call whose derivatives are asked: of the widest floating dtype, with something in it."""
    best = None
    for call in calls:
        kinds = [one["dtype"] for one in call["inputs"] if is_floating(one["dtype"])]
        whole = all(numpy.prod(one["shape"]) > 0 for one in call["inputs"] + call["outputs"])
        if not kinds or not whole or elements(call) > MOST_ELEMENTS:
            continue
        rank = min(("f16", "bf16", "f32", "f64").index(kind) for kind in kinds)
        if rank >= 2 and (best is None or rank > best[0]):
            best = (rank, call)
    return best[1] if best is not None else None


def is_refused_for_dtypes(call, served):
    """Other dtypes are served with the same extents, and these with no extents at all."""
    dtypes, _, sizes = call["identity"].partition("/")
    others = [one["identity"].partition("/") for one in served]
    return any(one[2] == sizes for one in others) and all(one[0] != dtypes for one in others)


def as_reals(values):
    """Floating results as float64, others as they are."""
    return [
        value.astype(numpy.float64) if value.dtype.kind == "f" else numpy.asarray(value)
        for value in values
    ]


def is_near(one, other, tolerance):
    if one.shape != other.shape:
        return False
    if one.dtype.kind not in "fc":
        return bool((one == other).all())
    finite = numpy.abs(one[numpy.isfinite(one)])
    scale = float(finite.max()) if finite.size else 0.0
    with numpy.errstate(invalid="ignore"):
        close = numpy.abs(one - other) <= tolerance * scale
    return bool((close | (one == other) | (numpy.isnan(one) & numpy.isnan(other))).all())


def number_text(value):
    return "{:.6g}".format(float(value) + 0.0)


def first_difference(expected, seen, far):
    at = numpy.unravel_index(int(numpy.argmax(far)), far.shape)
    place = "[{}]".format(", ".join(str(index) for index in at))
    return "{} at element {}".format(number_text(seen[at]), place), number_text(expected[at])


def describe(values):
    return ", ".join(
        "{}[{}]".format(value.dtype, ",".join(str(extent) for extent in value.shape))
        for value in values
    )


class Derivative:
    """Differences of a function along one input, and where they are of use.

    `run(inputs)` gives a list of arrays; `inputs` are arrays of which only `at` is moved.
    """

    def __init__(self, run, inputs, at, direction):
        self.kind = inputs[at].dtype.name
        step = STEP[self.kind]
        moved = []
        for factor in (-1.0, 0.0, 1.0):
            values = list(inputs)
            values[at] = (inputs[at] + factor * step * direction).astype(inputs[at].dtype)
            moved.append(as_reals(run(values)))
        before, here, after = moved
        again = as_reals(run(list(inputs)))
        if not all(numpy.array_equal(a, b, equal_nan=True) for a, b in zip(here, again)):
            raise Skip("equal inputs give other results each time")
        self.central, self.useful, self.flat, self.scale = [], [], [], []
        for low, middle, high in zip(before, here, after):
            if middle.dtype.kind != "f" or middle.size == 0:
                self.central.append(None)
                self.useful.append(None)
                self.flat.append(None)
                self.scale.append(0.0)
                continue
            with numpy.errstate(invalid="ignore"):
                central = (high - low) / (2 * step)
                left, right = (middle - low) / step, (high - middle) / step
            finite = numpy.isfinite(central)
            size = float(numpy.abs(central[finite]).max()) if finite.any() else 0.0
            value = float(numpy.abs(middle[numpy.isfinite(middle)]).max(initial=0.0))
            # A difference of rounded values says nothing of less than this.
            noise = numpy.finfo(self.kind).eps * 64 * value / step
            kink = numpy.abs(left - right) > 0.2 * size + noise
            # Where nothing changes, a rule that says otherwise is a choice (a surrogate gradient).
            flat = (low == middle) & (middle == high)
            self.central.append(central)
            self.useful.append(finite & ~kink)
            self.flat.append(flat)
            self.scale.append(size)
            self.noise = noise
        if not any(useful is not None and useful.any() for useful in self.useful):
            raise Skip("there is no point near which the function is smooth")

    def is_flat(self):
        return all(scale == 0.0 for scale in self.scale)

    def compare(self, tangents):
        """None, or what was expected and seen. `tangents`: of each result, or None for one that has
        none."""
        given = [numpy.asarray(one, numpy.float64) for one in tangents if one is not None]
        moves = any(float(numpy.abs(one).max(initial=0.0)) > 0 for one in given)
        if self.is_flat() and moves:
            raise Skip("the function does not change here, and its rule says that it does: a gradient by choice")
        for at, (central, useful) in enumerate(zip(self.central, self.useful)):
            if central is None or tangents[at] is None:
                continue
            tangent = numpy.asarray(tangents[at], numpy.float64)
            if tangent.shape != central.shape:
                return str(central.shape), "{} of result {}".format(tangent.shape, at)
            size = max(self.scale[at], float(numpy.abs(tangent[numpy.isfinite(tangent)]).max(initial=0)))
            with numpy.errstate(invalid="ignore"):
                far = ~(numpy.abs(tangent - central) <= OFF[self.kind] * size + self.noise)
            far &= useful & ~self.flat[at]
            if far.any():
                seen, expected = first_difference(central, tangent, far)
                return expected, "{} of result {}".format(seen, at)
        return None
