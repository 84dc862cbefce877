"""Tables that are interpolated at a symbol."""

from __future__ import annotations

from typing import Any

import numpy as np

from odeum._convert import numbers
from odeum._trace.array import Objects, numeric, objects
from odeum._trace.elementwise import add, divide, less, multiply, subtract, where
from odeum._trace.refusal import Refusal
from odeum._trace.symbol import Symbol
from odeum._trace.ufuncs import elementwise

# Each point is a piece of the text of an equation, which is evaluated at every x.
_MOST_POINTS = 1024


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """`np.interp` as choices between straight lines, found by halving."""
    if period is not None:
        raise Refusal("np.interp with a period", "write np.interp(x % period, xp, fp)")
    if any(isinstance(place, Symbol) for place in objects(xp).flat):
        raise Refusal("np.interp between places that are symbols", "give constant xp")
    at, values = numbers("xp", xp), numeric(objects(fp))
    if at.ndim != 1 or values.shape != at.shape or not len(at) or not (np.diff(at) > 0).all():
        raise Refusal("a table for np.interp that is none", "give as many values as increasing places")
    if len(at) > _MOST_POINTS:
        remedy = (
            f"take {_MOST_POINTS} at most, fit a formula, or choose between tables: np.where(x < a, np.interp(x, xp[:k], "
            "fp[:k]), np.interp(x, xp[k - 1:], fp[k - 1:])) with a = xp[k - 1]"
        )
        raise Refusal(f"a table of {len(at)} points for np.interp", remedy)
    low = values[0] if left is None else left
    high = values[-1] if right is None else right

    def at_one(place: Any) -> Any:
        inside = _between(place, at, values, 0, len(at) - 1)
        below = where(less(place, float(at[0])), low, inside)
        return where(less(float(at[-1]), place), high, below)

    return elementwise(at_one, x)


def _between(x: Any, at: Any, values: Objects, first: int, last: int) -> Any:
    """The line through the points between which x lies, from `first` to `last`."""
    if first == last:
        return values[first]
    if last == first + 1:
        slope = divide(subtract(values[last], values[first]), float(at[last] - at[first]))
        return add(values[first], multiply(slope, subtract(x, float(at[first]))))
    middle = (first + last) // 2
    lower = _between(x, at, values, first, middle)
    upper = _between(x, at, values, middle, last)
    return where(less(x, float(at[middle])), lower, upper)
