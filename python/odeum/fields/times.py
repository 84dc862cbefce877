"""Times to which simulations go, and what is reported on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from odeum import _odeum
from odeum._convert import finite, number
from odeum._findings import raise_and_warn
from odeum._progress import Progress, callback_of
from odeum.errors import InputError

# A state that is nearer to the end than this part of an interval is that of the end.
_NEAR = 1e-9
# Times that differ by so many units of the last place are meant to be equal: each is a sum of many steps.
_ROUNDINGS = 16
# More states than this are a slip.
_MOST = 10_000_000


def after(t: float, dt: Any) -> float:
    """A time after another."""
    step = number("dt", dt)
    if not step > 0:
        raise InputError("dt", str(step), "give a positive time")
    return _multiple(t, 1, step)


def to(
    t: float,
    end: Any,
    field: str = "t",
    stands: str = "the simulation stands at t = {} already",
    remedy: str = "give a later time",
    origin: float = 0.0,
) -> float:
    """A time that is not before another, but for rounding, which is that of sums of steps from the origin: how much that can be, the
    engine knows by its steps."""
    later = number(field, end)
    if later < t - _rounding(max(abs(t), abs(origin))):
        raise InputError(field, str(later), f"{stands.format(t)}: {remedy}")
    return later


def _rounding(size: float) -> float:
    """By how much times of this size that are meant to be equal may differ."""
    return _ROUNDINGS * float(np.finfo(np.float64).eps) * size


def _multiple(t: float, n: int, interval: float) -> float:
    """The time n intervals after another, as `odeum run` has it."""
    return _odeum.time_after(t, n, interval)


def plan(t: float, document: Mapping[str, Any], until: Any, every: Any, times: Any) -> list[float]:
    """Times of states, the end last."""
    if times is not None:
        if every is not None:
            raise InputError("times", "both `times` and `every`", "give one of them")
        given = np.atleast_1d(finite("times", times))
        if given.ndim != 1 or not len(given) or np.any(np.diff(given) <= 0):
            found = f"an array of shape {given.shape}"
            if given.ndim == 1 and len(given):
                k = int(np.argmax(np.diff(given) <= 0))
                found = f"{given[k + 1]} after {given[k]}"
            raise InputError("times", found, "give times along one axis that rise")
        ends: list[float] = given.tolist()
        to(t, ends[0], "times")
        last = ends[-1] if until is None else to(ends[-1], until, "until", "the last of `times` is {}")
        return [*ends, *([last] if last > ends[-1] else [])]
    if until is None:
        until = document.get("time", {}).get("until")
        if until is None:
            raise InputError("until", "nothing", "say how far: until=10.0")
    every = _usual(document) if every is None else every
    end = to(t, until, "until")
    if every is None:
        return [end]
    interval = number("every", every)
    if not interval > 0:
        raise InputError("every", str(interval), "give a positive time")
    if (end - t) / interval > _MOST:
        raise InputError("every", str(interval), f"there would be {(end - t) / interval:.2g} states")
    count = int((end - t) / interval + 1)
    inner = [_multiple(t, n, interval) for n in range(1, count + 1)]
    return [*(each for each in inner if each < end - _NEAR * interval), end]


def _usual(document: Mapping[str, Any]) -> Any:
    """The time between two states that a case file says."""
    every, time = document.get("output", {}).get("every"), document.get("time", {})
    if not isinstance(every, Mapping):
        return every
    step = time.get("step")
    if isinstance(step, (int, float)) and "tolerance" not in time:
        return every["steps"] * step
    found = "output.every of the case counts steps whose size it does not give"
    raise_and_warn(
        [("warning", found, "", "every", "", "say a time: every=1.0; there is a state at the end alone")]
    )
    return None


@contextmanager
def bar(progress: Progress, begin: float, end: float) -> Iterator[Callable[[float], object] | None]:
    """What the extension calls with the time reached; `None` where nobody listens."""
    if callable(progress):
        yield lambda t: progress(t, end)
        progress(end, end)
        return
    with callback_of(progress, end - begin, "t") as report:
        yield None if report is None else lambda t: report(t - begin)
        if report is not None:
            report(end - begin)
