"""Operators that a manifest describes, called through their framework.

A plan (`framework_operators.h`) states the calls of one operator. Here stands what does not depend
on the framework: the numbers that are handed over, and how results, derivatives and batches are
held against each other. All of it is NumPy; a framework's script turns arrays into its own and back.
"""

import importlib
import json
import os
import traceback

import numpy

from _opseal_probe_rows import ImportFailed, Skip, error_text

# The distance of two floating results that were made in another order, of the largest number in
# them, and at all.
TOLERANCE = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-4, "float64": 1e-9}
EPSILON = {"float16": 9.8e-4, "bfloat16": 7.9e-3, "float32": 1.2e-7, "float64": 2.3e-16}

# Rows of a batch.
BATCH = 3

# What differs at one point alone, of so many, may be a step or a kink that was met by chance.
POINTS = 4

# Calls of which derivatives and batches are asked: elements of all operands together.
MOST_ELEMENTS = 4096


def read_plan(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def import_all(rows, plan):
    """The modules that register the operator."""
    rows.write(stage="imports")
    for name in plan["imports"]:
        try:
            importlib.import_module(name)
        except BaseException as error:
            traceback.print_exc()
            raise ImportFailed("`{}` can't be imported: {}".format(name, error_text(error)))
    rows.write(stage="calls")


def function_named(name):
    """`package.module::function`, or `package.module.function`."""
    path = name.replace("::", ".")
    module, _, attribute = path.rpartition(".")
    if not module:
        return None
    try:
        return getattr(importlib.import_module(module), attribute, None)
    except Exception:  # what has the name may be any module there is
        return None


REFUSALS = (
    "not support",
    "unsupported",
    "not implemented",
    "no implementation",
    "not differentiable",
    "non-differentiable",
    "be differentiated",
    "not require grad",
)
WRONG_CALLS = ("required positional argument", "positional arguments but", "unexpected keyword")


def is_mistake(error, package, told=()):
    """Whether an exception shows that code of the operator is wrong, and not what it doesn't do.
    `package` is the framework's; `told`: what the framework says of wrong code."""
    text = str(error)
    if isinstance(error, NotImplementedError) or any(one in text.lower() for one in REFUSALS):
        return False
    if any(one in text for one in (*WRONG_CALLS, *told)):
        return True
    if isinstance(error, (NameError, AttributeError)):
        # What is traced has no values to ask for.
        return "Tracer" not in text
    trace, file = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        trace = trace.tb_next
    folders = [os.path.dirname(one.__file__) + os.sep for one in (package, numpy)]
    if any(file.startswith(folder) for folder in folders) or file.startswith("<"):
        return False
    return isinstance(error, (TypeError, IndexError, KeyError, ZeroDivisionError))


def is_floating(dtype):
    return dtype in ("f16", "bf16", "f32", "f64")


def numpy_type(dtype):
    """The NumPy type that holds numbers of opseal's dtype; bfloat16 is held by float32."""
    names = {"bool": "bool", "bf16": "float32", "c64": "complex64", "c128": "complex128"}
    names.update({"f16": "float16", "f32": "float32", "f64": "float64"})
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


def largest(values):
    """Of the finite ones, without sign."""
    return float(numpy.abs(values[numpy.isfinite(values)]).max(initial=0.0))


def digits_of(values):
    """Binary digits of each significand, from the first one to the last that isn't 0."""
    significands, _ = numpy.frexp(numpy.abs(values))
    bits = numpy.ldexp(significands, 53).astype(numpy.int64)
    return 53 - numpy.log2((bits & -bits).astype(numpy.float64))


def is_near(one, other, tolerance, least=0.0):
    """Within `tolerance` of the largest number, or within `least`."""
    if one.shape != other.shape:
        return False
    if one.dtype.kind not in "fc":
        return bool((one == other).all())
    with numpy.errstate(invalid="ignore"):
        close = numpy.abs(one - other) <= max(tolerance * largest(one), least)
    return bool((close | (one == other) | (numpy.isnan(one) & numpy.isnan(other))).all())


def number_text(value):
    value = numpy.asarray(value)
    return str(value) if value.dtype.kind in "bc" else "{:.6g}".format(float(value) + 0.0)


def product_texts(left, right, forward="forward mode"):
    """Of a product that both modes give; 0 has no sign in a report."""
    expected = "<J v, w> = {:.6g} by {}".format(left + 0.0, forward)
    return expected, "<v, Jt w> = {:.6g} by reverse mode".format(right + 0.0)


def first_difference(expected, seen, far):
    at = numpy.unravel_index(int(numpy.argmax(far)), far.shape)
    place = "[{}]".format(", ".join(str(index) for index in at))
    return "{} at element {}".format(number_text(seen[at]), place), number_text(expected[at])


def shapes_text(pairs):
    """Of dtypes, as they are to be shown, with shapes."""
    return ", ".join("{}[{}]".format(dtype, ",".join(map(str, shape))) for dtype, shape in pairs)


def describe(values):
    return shapes_text((value.dtype, value.shape) for value in values)


def input_name(call, at):
    """As rows call it."""
    return call["inputs"][at]["name"] or str(at)


class Outcome:
    """What one check of one input came to, at one point. `moves`: whether its rule moves anything."""

    def __init__(self, row, status, expected="", seen="", reason="", moves=True):
        self.row = row
        self.status = status
        self.expected = str(expected)
        self.seen = str(seen)
        self.reason = str(reason)
        self.moves = moves


def judged(row, fine, expected, seen, moves=True):
    return Outcome(row, "passed" if fine else "differs", expected, seen, moves=moves)


def skipped(row, reason):
    return Outcome(row, "skipped", reason=reason)


class OperatorRows:
    """What is seen of one operator. A framework's script adds

    - `make(call)`: the results of a call as text, and what `look(call, made)` then looks at;
      `results_of(made)`: their dtypes and shapes;
    - `arrays(call, numbers)`; `stack(arrays, axis)`; `numbers(*arrays)`: results of a call as NumPy
      has them; `batched(axes, *arrays)`: the same of a batch along the axes that aren't None;
    - `along(call, inputs, at, seed)`: outcomes of derivatives along one input, of which
      `derivative_row` is the first;
    - `is_wrong(error)`: whether an exception shows a mistake in the operator's own rules.
    """

    derivative_row = "gradient"

    def __init__(self, rows, plan):
        self.rows = rows
        self.seed = plan["seed"]
        self.calls = plan["operator"]["calls"]
        self.name = plan["operator"]["name"]

    def judge(self, row, call, fine, expected, seen, name=""):
        self.write(call, judged(row, fine, expected, seen), name)

    def skip(self, row, call, reason, name=""):
        self.write(call, skipped(row, reason), name)

    def write(self, call, outcome, name=""):
        told = {"reason": outcome.reason}
        if outcome.status != "skipped":
            told = {"expected": outcome.expected, "seen": outcome.seen}
        self.rows.write(
            row=outcome.row, call=call["identity"], input=name, status=outcome.status, **told
        )

    def run(self):
        served, refused = [], []
        for call in self.calls:
            self.rows.write(stage="calls", call=call["identity"])
            try:
                text, made = self.make(call)
            except Skip as reason:
                self.skip("declared-dtype", call, reason)
                continue
            except Exception as error:
                refused.append((call, error_text(error)))
                continue
            served.append(call)
            self.judge("declared-dtype", call, True, "it is served", text)
            self.declared(call, made)
            self.guarded("fake", call, self.look, call, made)
        self.tell_refused(served, refused)
        call = widest(served)
        if call is not None:
            self.guarded(self.derivative_row, call, self.derivatives, call)
            self.guarded("narrow", call, self.narrow, call)
        batch = batch_of(served)
        if batch is not None:
            self.guarded("batch", batch, self.batch, batch)
        elif call is not None:
            self.skip("batch", call, "its inputs have nothing in them, or are places in others")

    def take(self, call):
        """What follows is about this call."""

    def refused(self, call, error):
        """A refusal that tells of something else than its dtypes is judged here."""
        return False

    def guarded(self, row, call, check, *arguments):
        """What goes wrong in one check leaves the others alone."""
        self.rows.write(stage="calls", call=call["identity"])
        try:
            check(*arguments)
        except Skip as reason:
            self.skip(row, call, reason)
        except Exception as error:
            self.skip(row, call, error_text(error))

    def declared(self, call, made):
        """Holds the results against the declared ones, where those are told."""
        if not all(one["stated"] for one in call["outputs"]):
            return
        told = [(one["dtype"], tuple(one["shape"])) for one in call["outputs"]]
        results = self.results_of(made)
        self.judge("result", call, told == results, shapes_text(told), shapes_text(results) or "none")

    def points(self, call, seed):
        """Inputs for which the results are numbers, if there are any."""
        refusal, found = None, None
        for positive in (False, True):
            inputs = self.arrays(call, Numbers(call, seed, positive).inputs())
            try:
                results = self.numbers(*inputs)
            except Exception as error:
                refusal = error_text(error)
                continue
            if all(one.dtype.kind != "f" or numpy.isfinite(one).all() for one in results):
                return inputs
            found = found or inputs
        if found is None:
            raise Skip("a call with other numbers is refused: " + refusal)
        return found

    def derivatives(self, call):
        """Of each input; what differs has to do so at two points."""
        self.take(call)
        kept = []
        for at, one in enumerate(call["inputs"]):
            if one["dtype"] in ("c64", "c128"):
                reason = "derivatives along complex inputs are not asked"
                self.skip(self.derivative_row, call, reason, input_name(call, at))
            if one["dtype"] not in ("f32", "f64") or 0 in one["shape"]:
                continue
            name = input_name(call, at)
            if not one["differentiable"]:
                self.skip(self.derivative_row, call, "it is declared to have no derivative", name)
                continue
            outcomes = self.outcomes(call, at, self.seed)
            differs = [one for one in outcomes if one.status == "differs"]
            if differs:
                others = [self.outcomes(call, at, self.seed + 1000 * more) for more in range(1, POINTS)]
                seen = {one.row for all_of in others for one in all_of if one.status == "differs"}
                for outcome in differs:
                    if outcome.row not in seen:
                        outcome.status = "skipped"
                        outcome.reason = "differs at one of {} points, as beside a step".format(POINTS)
            kept.append((name, outcomes))
        self.tell(call, kept)

    def outcomes(self, call, at, seed):
        try:
            return self.along(call, self.points(call, seed), at, seed)
        except Skip as reason:
            return [skipped(self.derivative_row, reason)]
        except Exception as error:
            return [skipped(self.derivative_row, error_text(error))]

    def tell(self, call, kept):
        for name, outcomes in kept:
            for outcome in outcomes:
                self.write(call, outcome, name)

    def narrow(self, call):
        """Whether what is made of numbers with all their digits has lost half of them. Whole numbers
        and those that don't depend on the arguments say nothing. What is rounded to a dtype
        ends further down where it is small, and what lies on a grid ends there for all."""
        self.take(call)
        runs = [
            self.numbers(*self.arrays(call, Numbers(call, self.seed + more, False).inputs()))
            for more in (101, 202)
        ]
        wide = {"f64": 8, "f32": 4}
        widths = [wide.get(one["dtype"], 2) for one in call["inputs"] if is_floating(one["dtype"])]
        if not widths:
            return
        judged_any = False
        for at, pair in enumerate(zip(*runs)):
            size = pair[0].dtype.itemsize
            if pair[0].dtype.kind != "f" or size not in (4, 8) or min(widths) < size:
                continue
            digits, full = {8: (24, 53), 4: (11, 24)}[size]
            one, other = (value.astype(numpy.float64) for value in pair)
            if one.shape != other.shape:
                continue
            told = numpy.isfinite(one) & numpy.isfinite(other) & (one != other)
            with numpy.errstate(invalid="ignore"):
                told &= (one != numpy.floor(one)) & (other != numpy.floor(other))
            if told.sum() < 3:
                continue
            judged_any = True
            most = int(max(digits_of(one[told]).max(), digits_of(other[told]).max()))
            both = numpy.concatenate([one[told], other[told]])
            exponents = numpy.frexp(both)[1]
            lowest = (exponents - digits_of(both)).min()
            if most == digits and lowest < exponents.max() - digits:
                kind = "single precision" if size == 8 else "half precision or TF32"
                seen = "{}, as numbers of {} have, in result {}".format(most, kind, at)
                self.judge("narrow", call, False, "{} binary digits".format(full), seen)
                return
        if judged_any:
            self.judge("narrow", call, True, "all digits of the dtype", "the same")

    def batch(self, call):
        """All inputs at once, and each alone beside others that all rows share."""
        self.take(call)
        separate = [
            self.arrays(call, Numbers(call, self.seed + row, False).inputs()) for row in range(BATCH)
        ]
        whole = range(len(separate[0]))
        self.batch_along(call, separate, set(whole), "")
        if all(len(one["shape"]) > 0 for one in call["inputs"]):
            self.batch_along(call, separate, set(whole), "", last=True)
        if len(separate[0]) < 2:
            return
        for at in whole:
            rows = [
                [one if other == at else separate[0][other] for other, one in enumerate(row)]
                for row in separate
            ]
            self.batch_along(call, rows, {at}, input_name(call, at))

    def batch_along(self, call, separate, axes, name, last=False):
        """`axes`: numbers of the inputs that have an axis for rows, as their first or last one."""
        places = [
            (len(call["inputs"][at]["shape"]) if last else 0) if at in axes else None
            for at in range(len(separate[0]))
        ]
        together = [
            column[0] if place is None else self.stack(column, place)
            for place, column in zip(places, zip(*separate))
        ]
        how = "with in_axes " + str(tuple(places))
        try:
            alone = [self.numbers(*row) for row in separate]
            again = self.numbers(*separate[0])
        except Exception as error:
            self.skip("batch", call, "a call with other numbers is refused: " + error_text(error), name)
            return
        try:
            batched = self.batched(places, *together)
        except Exception as error:
            text = how + ": " + error_text(error)
            if self.is_wrong(error):
                self.judge("batch", call, False, "as separate calls", text, name)
            else:
                # A batch may be refused.
                self.skip("batch", call, "is refused " + text, name)
            return
        outcome = judge_batch(call, alone, again, batched)
        if outcome.status == "differs":
            outcome.seen += ", " + how
            # What memory held before may come out once, and something else the next time.
            if not repeats(call, again, self.numbers(*separate[0])):
                outcome = skipped("batch", "equal inputs give other results each time")
        self.write(call, outcome, name)

    def tell_refused(self, served, refused):
        for call, error in refused:
            if self.refused(call, error):
                continue
            if is_refused_for_dtypes(call, served):
                self.judge("declared-dtype", call, False, "it is served", error)
            else:
                self.rows.write(
                    row="declared-dtype", call=call["identity"], status="refused", reason=error
                )


def bounds_of(call):
    """How far floating results may lie apart: of the largest number, and at all."""
    floats = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
    kinds = [floats.get(one["dtype"], "float32") for one in call["inputs"] + call["outputs"]]
    return max(TOLERANCE[kind] for kind in kinds), 8 * max(EPSILON[kind] for kind in kinds)


def repeats(call, results, again):
    return all(is_near(a, b, *bounds_of(call)) for a, b in zip(as_reals(results), as_reals(again)))


def judge_batch(call, alone, again, batched):
    """`alone`: results of separate calls, of which the first was made twice."""
    tolerance, least = bounds_of(call)
    if not repeats(call, alone[0], again):
        return skipped("batch", "equal inputs give other results each time")
    expected = [numpy.stack(column) for column in zip(*alone)]
    if len(expected) != len(batched):
        counts = ["{} results".format(len(some)) for some in (expected, batched)]
        return judged("batch", False, *counts)
    if not expected:
        return skipped("batch", "it has no results")
    for at, (one, other) in enumerate(zip(expected, batched)):
        if one.shape != other.shape:
            return judged("batch", False, describe([one]), describe([other]))
        if is_near(*as_reals([one, other]), max(tolerance, 1e-4), least):
            continue
        far = one != other
        if one.dtype.kind in "fc":
            with numpy.errstate(invalid="ignore"):
                far = numpy.nan_to_num(numpy.abs(one - other.astype(one.dtype)), nan=1e300)
        seen, wanted = first_difference(one, other, far)
        return judged(
            "batch",
            False,
            wanted + ", as separate calls give",
            "{} of result {}".format(seen, at),
        )
    return judged("batch", True, "as separate calls", "as separate calls")


def batch_of(served):
    """A call that a batch is made of, or None."""
    for call in served:
        whole = not any(0 in one["shape"] for one in call["inputs"])
        free = any(not one["indexes"] for one in call["inputs"])
        if whole and free and elements(call) <= MOST_ELEMENTS:
            return call
    return None
