"""Whether equations are the function they were traced from: both are evaluated at points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odeum._findings import raise_and_warn
from odeum._trace.operations import (
    ABSOLUTE,
    COMPARISON,
    CONSTANT,
    FLOOR,
    MAXIMUM,
    MINIMUM,
    NEGATE,
    SELECT,
    VARIABLE,
    Operation,
)
from odeum._trace.record import Record
from odeum._trace.refusal import place
from odeum.errors import InputError

Floats = NDArray[np.float64]

_POINTS = 3
_TRIES = 32
# Points where some values are zero, and within the span of times.
_ZERO = 3
_TIMES = 3
# Ranges that values are drawn from, in turn.
_RANGES = ((0.2, 1.8), (-1.8, -0.2), (-1.5, 1.5), (0.0, 0.1))
# Of the numbers of the equations and of the function so many are taken, with values on both sides; and these values.
_MOST_NUMBERS = 8
_LARGE = (10.0, -10.0, 100.0, -100.0, 1000.0, -1000.0)
# Times that are tried with usual values, so that thresholds in seconds are passed.
_LATE = (1e4, 1e5, 1e6, 1e7)
_EXACT = (NEGATE, ABSOLUTE, FLOOR, MINIMUM, MAXIMUM, SELECT)
# Of either side, an operation may be wrong by this relative to its result: elementary functions by a few roundings.
_ROUNDING = 4 * float(np.finfo(np.float64).eps)
# And by this where the result underflows.
_UNDERFLOW = 4 * float(np.finfo(np.float64).smallest_subnormal)


def compare(
    function: Callable[[Mapping[str, np.float64]], Floats],
    record: Record,
    outputs: Sequence[int],
    names: Sequence[str],
    variables: Sequence[str],
    usual: Mapping[str, float],
    read: Sequence[float] = (),
    span: tuple[float, float] | None = None,
) -> None:
    """Compares a function and its equations at points where the function gives finite numbers: random ones, those at
    and beside the usual values, those where some or all values are zero, so that quotients have none, and those beside
    the constants that something is compared with, by the equations or, on what they do not show, by the function; at
    large values, and within a span of times. There, where intermediate values may overflow, equations that give no
    finite numbers are no difference.

    Parameters
    ----------
    function : callable
        The values of all components at a point of NumPy's numbers: of Python's, roots of negative ones are complex, and
        single precision stays what it is.
    record, outputs
        The equations.
    names : sequence of str
        Names of the components.
    variables : sequence of str
        Names of what a point has values for.
    usual : mapping
        Usual values of some of them.
    read : sequence of float
        Numbers that the function reads.
    span : (float, float), optional
        Where the first of the variables lies, which is the time.

    Raises
    ------
    InputError
        They differ by more than rounding.
    """
    values = _beside(_thresholds(record)) + _beside(read) + list(_LARGE)
    points, results, is_far = _sample(function, variables, _candidates(variables, usual, values, names, span))
    if not len(points):
        return
    with np.errstate(all="ignore"):
        evaluated = evaluate(record, dict(zip(variables, points.T, strict=True)))
        traced, errors = (
            np.array([np.broadcast_to(x[number], len(points)) for number in outputs]).T for x in evaluated
        )
        is_same = (results == traced) | (np.abs(results - traced) <= 4 * errors)
    is_same |= is_far[:, None] & ~(np.isfinite(traced) & np.isfinite(errors))
    for k, p in np.argwhere(~is_same.T)[:1]:
        shown = ", ".join(f"{name} = {x:.6g}" for name, x in list(zip(variables, points[p], strict=True))[:8])
        found = f"for {names[k]} {results[p, k]!s} by f and {traced[p, k]!s} by its equations at {shown}"
        raise InputError("f", found, _REMEDY)


_REMEDY = (
    "f must follow from its arguments alone: no random numbers, nothing that changes between calls and no branch that "
    "a call with symbols does not see. If it does, some part of it has another meaning for symbols than for numbers, as "
    "types and conditions in arrays of objects may have: in np.array([x, y[0]]) write float(x) for numbers x of single "
    "precision and for short integers; write what else it is with other words"
)


def _thresholds(record: Record) -> list[float]:
    """The constants that something is compared with."""
    compared = {
        number for operation, operands in record.nodes if operation.level == COMPARISON for number in operands
    }
    return sorted(x for number in compared if (x := record.value(number)) is not None)


def _beside(numbers: Iterable[float]) -> list[float]:
    """Values close to numbers, on both sides; of many numbers to some from the least to the largest."""
    ordered = sorted(set(numbers))
    kept = np.linspace(0, len(ordered) - 1, min(len(ordered), _MOST_NUMBERS)).round().astype(int)
    random = np.random.default_rng(20)
    # Closer than 1, so that whole numbers are met by their floor.
    gaps = [
        (x, min(0.3 * abs(x), 0.9) * random.uniform(0.2, 1.0) if x else 0.3)
        for x in map(ordered.__getitem__, kept)
    ]
    return [x + sign * gap for x, gap in gaps for sign in (1, -1)]


# What is raised by code that is wrong, rather than by values.
_WRONG = (AttributeError, LookupError, NameError, TypeError)
_NUMBERS = "f must take numbers as it takes symbols; check=False leaves the comparison with its equations out"

# Sorts of points: of random ones a few are enough, and of far ones less is asked.
_RANDOM, _NEAR, _FAR = "random", "near", "far"


def _sample(
    function: Callable[[Mapping[str, np.float64]], Floats],
    variables: Sequence[str],
    candidates: Iterable[tuple[Floats, str]],
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Points [P, variables] where the function gives finite numbers, these [P, components], and which are far."""
    points: list[Floats] = []
    results: list[Floats] = []
    is_far: list[bool] = []
    met: Exception | None = None
    # Whether it does not run on numbers at all.
    is_wrong = True
    for point, sort in candidates:
        if sort == _RANDOM and len(points) >= _POINTS:
            continue
        try:
            # Not `warnings.catch_warnings`, which is of all threads.
            with np.errstate(all="ignore"):
                result = function(dict(zip(variables, point, strict=True)))
        except InputError:
            raise
        except Exception as error:
            met = error
            is_wrong &= isinstance(error, _WRONG)
            continue
        is_wrong = False
        if np.isfinite(result).all():
            points.append(point)
            results.append(result)
            is_far.append(sort == _FAR)
    if not points:
        gave = f"{type(met).__name__}: {met}{place(met)}" if met else "no finite values"
        if is_wrong:
            raise InputError("f", f"{gave}, in every call with numbers", _NUMBERS)
        message = f"could not be compared with its equations: at more than {_TRIES} points it gave {gave}"
        raise_and_warn([("warning", message, "", "f", "", "check=False leaves the comparison out")])
    return np.array(points), np.array(results), np.array(is_far)


def _candidates(
    variables: Sequence[str],
    usual: Mapping[str, float],
    values: Sequence[float],
    states: Sequence[str],
    span: tuple[float, float] | None,
) -> Iterator[tuple[Floats, str]]:
    """Points, and their sorts."""
    random = np.random.default_rng(20)
    n = len(variables)
    usual_values = np.array([usual.get(name, np.nan) for name in variables])
    is_usual, is_state = np.isfinite(usual_values), np.array([name in states for name in variables])

    def anywhere(k: int) -> Floats:
        return random.uniform(*_RANGES[k % len(_RANGES)], n)

    def usually(k: int) -> Floats:
        return np.where(is_usual, usual_values, anywhere(k))

    def beside(x: Floats) -> Floats:
        return np.where(x == 0.0, random.uniform(-0.3, 0.3, n), x * random.uniform(0.7, 1.3, n))

    for k in range(_TRIES):
        yield anywhere(k), _RANDOM
    if usual:
        yield usually(0), _NEAR
        yield beside(usually(1)), _NEAR
    yield np.zeros(n), _NEAR
    for k in range(_ZERO):
        yield np.where(random.random(n) < 0.5, 0.0, anywhere(k)), _NEAR
    # Time and place alone, all states alike, so that several conditions hold at once, and each variable by itself.
    is_fixed = ~is_state & ~is_usual
    shuffled = random.permuted(np.tile(values, (n, 1)), axis=1)
    for k, x in enumerate(values):
        yield np.where(is_fixed, x, usually(k)), _FAR
        yield np.where(is_state, x, usually(k)), _FAR
        yield shuffled[:, k], _FAR
    for k, time in enumerate((*_LATE, *((*span, *random.uniform(*span, _TIMES)) if span else ()))):
        point = usually(k)
        point[0] = time
        yield point, _FAR


def evaluate(record: Record, at: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Values of all expressions, and bounds of their errors by rounding.

    The error of a condition is whether it may be the other one.
    """
    values: list[Any] = []
    errors: list[Any] = []
    for operation, operands in record.nodes:
        if operation is VARIABLE:
            values.append(at[operands[0]])
            errors.append(0.0)
        elif operation is CONSTANT:
            values.append(np.float64(operands[0]))
            errors.append(0.0)
        else:
            x, e = [values[k] for k in operands], [errors[k] for k in operands]
            values.append(operation.evaluate(*x))
            errors.append(_error(operation, x, e, values[-1]))
    return values, errors


def _error(operation: Operation, x: list[Any], e: list[Any], value: Any) -> Any:
    """How far an operation is off at operands that are off."""
    if operation is SELECT:
        error, other = np.where(x[0], e[1], e[2]), np.where(x[0], e[2], e[1])
        return np.where(e[0], np.fmax(error, np.abs(x[1] - x[2]) + other), error)
    if operation.gives == "c":
        if operation.takes == "nn":
            # Zeros have no sign in equations, and in some of NumPy's functions they have.
            is_signed = (x[0] == x[1]) & (np.signbit(x[0]) != np.signbit(x[1]))
            return is_signed | ((e[0] + e[1] > 0.0) & (np.abs(x[0] - x[1]) <= e[0] + e[1]))
        return np.logical_or.reduce(np.broadcast_arrays(*e))
    error = 0.0 if operation in _EXACT else _ROUNDING * np.abs(value) + _UNDERFLOW
    for k, off in enumerate(e):
        if np.any(off):
            moved = [operation.evaluate(*x[:k], x[k] + s * off, *x[k + 1 :]) - value for s in (1, -1)]
            # What lies beyond the edge of where the operation is defined does not count.
            error = error + np.fmax(np.fmax(np.abs(moved[0]), np.abs(moved[1])), 0.0)
    return error
