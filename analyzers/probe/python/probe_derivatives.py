"""Differences of an operator that a framework calls, against what its rules for derivatives give."""

import numpy

from _opseal_probe_operators import (
    as_reals,
    first_difference,
    is_near,
    judged,
    largest,
    product_texts,
)
from _opseal_probe_rows import Skip

# The step of a difference, with how far it may be off a derivative.
STEP = {"float32": 1e-2, "float64": 1e-5}
OFF = {"float32": 2e-2, "float64": 1e-5}
# Rules may round by themselves; a rule that is wrong is further off.
TRANSPOSE_OFF = {"float32": 1e-2, "float64": 2e-3}
# A difference is taken three times, with steps that no period fits: where it depends on the step,
# it is no derivative.
STEPS = (1.0, 0.37, 0.137)
# Rounding within a function, in units of the last place of its results, and of numbers around 1.
ROUNDED = 64
ROUNDED_INSIDE = 4


class Slope:
    """The differences of one result along a direction, for each of `STEPS`.

    `sides`: for each step, the values before and after the point; `here`: those at the point.
    """

    def __init__(self, kind, here, sides):
        steps = [STEP[kind] * one for one in STEPS]
        # A difference of rounded values says nothing of less than this.
        rounded = numpy.finfo(kind).eps * (ROUNDED * largest(here) + ROUNDED_INSIDE)
        noise = [rounded / step for step in steps]
        with numpy.errstate(invalid="ignore"):
            central = [(high - low) / (2 * step) for step, (low, high) in zip(steps, sides)]
            bends = [
                numpy.abs(high - 2 * here + low) / step for step, (low, high) in zip(steps, sides)
            ]
            # Where a step or a kink is near, or the function turns within the steps.
            agrees = numpy.ones(here.shape, bool)
            for wide, narrow, least in zip(central, central[1:], noise[1:]):
                agrees &= numpy.abs(wide - narrow) <= 0.05 * numpy.abs(narrow) + 2 * least
            kink = (bends[2] > 4 * noise[2]) & (bends[2] > 0.5 * bends[0])
        # Where nothing changes, a rule that says otherwise is a choice (a surrogate gradient).
        self.flat = numpy.ones(here.shape, bool)
        for low, high in sides:
            self.flat &= (low == here) & (high == here)
        self.value = central[1]
        self.useful = numpy.isfinite(central[1]) & agrees & ~kink
        # What agrees here and there of a function that turns everywhere does so by chance.
        changing = numpy.isfinite(central[1]) & ~self.flat
        if 4 * int((changing & ~self.useful).sum()) > int(changing.sum()):
            self.useful &= self.flat
        self.told = self.useful & ~self.flat
        with numpy.errstate(invalid="ignore"):
            apart = numpy.nan_to_num(numpy.abs(central[0] - central[1]))
        # Rounding inside, to fewer digits than the result has, shows in all elements together.
        spread = float(numpy.sqrt((apart[self.told] ** 2).mean())) if self.told.any() else 0.0
        # Because the function turns, or rounds inside; and, of each element by itself, because its
        # results are rounded.
        self.unsure = apart + 2 * spread
        self.noise = noise[1]
        self.scale = float(numpy.abs(self.value[self.useful]).max(initial=0.0))


class Derivative:
    """Differences of a function along one input, and where they are of use.

    `run(inputs)` gives a list of arrays; `inputs` are arrays of which only `at` is moved.
    """

    def __init__(self, run, inputs, at, direction):
        self.kind = inputs[at].dtype.name
        self.input = as_reals([inputs[at]])[0]
        self.direction = direction

        def moved(distance):
            values = list(inputs)
            values[at] = (inputs[at] + distance * direction).astype(inputs[at].dtype)
            return as_reals(run(values))

        self.here = moved(0.0)
        steps = [STEP[self.kind] * one for one in STEPS]
        sides = [(moved(-step), moved(step)) for step in steps]
        again = moved(0.0)
        if not all(numpy.array_equal(a, b, equal_nan=True) for a, b in zip(self.here, again)):
            raise Skip("equal inputs give other results each time")
        # None for results that have no derivative.
        self.slopes = []
        for number, here in enumerate(self.here):
            pairs = [(low[number], high[number]) for low, high in sides]
            if any(one.shape != here.shape for pair in pairs for one in pair):
                raise Skip("the shape of a result depends on the numbers")
            has = here.dtype.kind == "f" and here.size > 0
            self.slopes.append(Slope(self.kind, here, pairs) if has else None)
        if all(one is None for one in self.slopes):
            raise Skip("it has no floating results with something in them, of its input's precision")
        if not any(one is not None and one.useful.any() for one in self.slopes):
            raise Skip("there is no point near which the function is smooth")

    def weights(self, random):
        """Of results, for a product with a gradient: 0 where a difference says nothing."""
        weights = [
            None if one is None else random.direction(one.value.shape) * one.told
            for one in self.slopes
        ]
        if not any(one is not None and one.any() for one in weights):
            raise Skip("the function does not change at any smooth point")
        return weights

    def judge_gradient(self, row, weights, gradient):
        """Whether <J v, w> is <v, J^T w>, with J v from differences."""
        left = size = unsure = noise = 0.0
        for slope, one in zip(self.slopes, weights):
            if one is None:
                continue
            product = numpy.where(one != 0, slope.value, 0.0) * one
            left += float(product.sum())
            size += float(numpy.abs(product).sum())
            unsure += float((slope.unsure * numpy.abs(one)).sum())
            noise += float((slope.noise * one[one != 0]).dot(slope.noise * one[one != 0]))
        gradient = numpy.asarray(gradient, numpy.float64)
        backward = gradient * self.direction
        right = float(backward.sum())
        size += float(numpy.abs(backward).sum())
        if not numpy.isfinite(size):
            raise Skip("derivatives are no numbers")
        if abs(left - right) > OFF[self.kind] * size + unsure + noise**0.5:
            if not gradient.any():
                raise Skip("its gradient is 0, which may be a choice")
            for at, one in enumerate(weights):
                if one is not None and self.is_straight(at, gradient, one):
                    raise Skip("its gradient is that of what it rounds, by choice")
            return judged(row, False, *product_texts(left, right, "differences"))
        return judged(row, True, *product_texts(left, right, "differences"))

    def is_straight(self, at, tangent, passed):
        """A rule hands on what it was given, and the result is the input, rounded."""
        if tangent.shape != passed.shape or self.here[at].shape != self.input.shape:
            return False
        if not numpy.allclose(tangent, passed, rtol=1e-6, atol=0):
            return False
        return is_near(self.input, self.here[at], 0.1)

    def is_flat(self):
        return all(one is None or one.scale == 0.0 for one in self.slopes)

    def compare(self, tangents):
        """None, or what was expected and seen. `tangents`: of each result, or None for one that has
        none."""
        pairs = [
            (at, slope, numpy.asarray(tangent, numpy.float64))
            for at, (slope, tangent) in enumerate(zip(self.slopes, tangents))
            if slope is not None and tangent is not None
        ]
        for at, slope, tangent in pairs:
            if tangent.shape != slope.value.shape:
                return str(slope.value.shape), "{} of result {}".format(tangent.shape, at)
        moves = any(tangent[slope.useful].any() for _, slope, tangent in pairs)
        if self.is_flat() and moves:
            raise Skip("the function does not change here, and its rule moves it: by choice")
        if moves and not any(slope.told.any() for _, slope, _ in pairs):
            raise Skip("the function does not change at any smooth point")
        for at, slope, tangent in pairs:
            size = max(slope.scale, largest(tangent[slope.useful]))
            with numpy.errstate(invalid="ignore"):
                near = numpy.abs(tangent - slope.value) <= OFF[self.kind] * size + slope.unsure + slope.noise
            far = slope.told & ~near
            if not far.any():
                continue
            if self.is_straight(at, tangent, self.direction):
                raise Skip("its tangent is that of what it rounds, by choice")
            seen, expected = first_difference(slope.value, tangent, far)
            return expected, "{} of result {}".format(seen, at)
        return None
