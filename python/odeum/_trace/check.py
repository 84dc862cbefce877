"""Whether equations are the function they were traced from: both are evaluated at points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odeum._findings import tell
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
from odeum.errors import InputError

Floats = NDArray[np.float64]

_POINTS = 3
_TRIES = 32
# Points beside the usual values, where some values are zero, and beside the constants that something is compared with.
_BESIDE = 1
_ZERO = 3
_NEAR = 8
# Ranges that values are drawn from, in turn.
_RANGES = ((0.2, 1.8), (-1.8, -0.2), (-1.5, 1.5), (0.0, 0.1))
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
) -> None:
    """Compares a function and its equations at points where the function gives finite numbers: random ones, those at
    and beside the usual values, those where some or all values are zero, so that quotients have none, and those beside
    the constants that something is compared with.

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

    Raises
    ------
    InputError
        They differ by more than rounding.
    """
    points, results = _sample(function, variables, usual, _thresholds(record), names)
    if not points:
        return
    at = {name: np.array([point[name] for point in points]) for name in variables}
    with np.errstate(all="ignore"):
        values, errors = evaluate(record, at)
    for k, number in enumerate(outputs):
        for p, result in enumerate(results):
            traced, error = (float(np.broadcast_to(x[number], len(points))[p]) for x in (values, errors))
            if not (result[k] == traced or abs(result[k] - traced) <= 4 * error):
                shown = ", ".join(f"{name} = {points[p][name]:.6g}" for name in list(variables)[:8])
                found = f"for {names[k]} {result[k]!s} by f and {traced!s} by its equations at {shown}"
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


def _sample(
    function: Callable[[Mapping[str, np.float64]], Floats],
    variables: Sequence[str],
    usual: Mapping[str, float],
    thresholds: Sequence[float],
    states: Sequence[str],
) -> tuple[list[Mapping[str, np.float64]], list[Floats]]:
    """Points where the function gives finite numbers, and these."""
    points: list[Mapping[str, np.float64]] = []
    results: list[Floats] = []
    met = "no finite values"
    for numbers, is_one_of_few in _candidates(variables, usual, thresholds, states):
        if is_one_of_few and len(points) >= _POINTS:
            continue
        point = {name: np.float64(x) for name, x in numbers.items()}
        try:
            # Not `warnings.catch_warnings`, which is of all threads.
            with np.errstate(all="ignore"):
                result = function(point)
        except InputError:
            raise
        except Exception as error:
            met = f"{type(error).__name__}: {error}"
            continue
        if np.isfinite(result).all():
            points.append(point)
            results.append(result)
    if not points:
        message = f"could not be compared with its equations: at more than {_TRIES} points it gave {met}"
        tell([("warning", message, "", "f", "", "check=False leaves the comparison out")])
    return points, results


def _candidates(
    variables: Sequence[str], usual: Mapping[str, float], thresholds: Sequence[float], states: Sequence[str]
) -> Iterator[tuple[dict[str, float], bool]]:
    """Points, and whether a few of their sort are enough."""
    random = np.random.default_rng(20)

    def anywhere(k: int) -> dict[str, float]:
        low, high = _RANGES[k % len(_RANGES)]
        return {name: float(random.uniform(low, high)) for name in variables}

    def beside(x: float) -> float:
        return float(x * random.uniform(0.7, 1.3) if x else random.uniform(-0.3, 0.3))

    for k in range(_TRIES):
        yield anywhere(k), True
    for k in range(1 + _BESIDE if usual else 0):
        yield anywhere(k) | {name: beside(x) if k else x for name, x in usual.items()}, False
    for k in range(1 + _ZERO):
        yield anywhere(k) | {name: 0.0 for name in variables if not k or random.random() < 0.5}, False
    for k in range(_NEAR if thresholds else 0):
        # All states in every second one, so that several conditions hold at once.
        near = [name for name in variables if (k % 2 and name in states) or random.random() < 0.5]
        values = {name: beside(float(random.choice(thresholds))) for name in near}
        yield {**anywhere(k), **usual, **values}, False


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
