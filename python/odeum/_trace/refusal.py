"""What cannot be traced: what was found, where in the function, and what to write instead."""

from __future__ import annotations

import linecache
import sys
import sysconfig
import traceback
from itertools import takewhile
from pathlib import Path

import numpy as np

from odeum.errors import InputError

SPARSE = "write S.toarray() for a sparse matrix S: its zeros make no terms"
# What to write for objects of SciPy, by the folder they come from.
_OF_SCIPY = {
    "sparse": SPARSE,
    "interpolate": "write np.interp(x, xp, fp); or, of a CubicSpline s and the like, which is of numbers alone, its "
    "polynomials: np.select([*(x < b for b in s.x[1:-1]), True], [np.polyval(c, x - a) for a, c in zip(s.x, s.c.T)])",
}
# Files whose lines say nothing to who wrote the function.
_INNER = (str(Path(__file__).parents[1]), str(Path(np.__file__).parent), "<__array_function__")
_INSTALLED = sysconfig.get_paths()["purelib"]
# The file that calls the function that is traced.
_CALLER = str(Path(__file__).with_name("function.py"))


class Refusal(Exception):
    """Raised inside the function that is traced; leaves the tracer as an `InputError`."""

    # The calls that led to it, where the function may have caught it.
    frames: list[traceback.FrameSummary] | None = None

    def __init__(self, found: str, remedy: str) -> None:
        super().__init__(f"{found}; {remedy}")
        self.found = found
        self.remedy = remedy


class UnknownName(Refusal, AttributeError):
    """A name that does not exist; an `AttributeError`, so that `hasattr` is false."""


def place(error: BaseException) -> str:
    """The line of the function that an error comes from, in parentheses; empty where there is none."""
    frames = [frame for frame in _frames(error) if not frame.filename.startswith(_INNER)]
    written = [frame for frame in frames if not frame.filename.startswith(_INSTALLED)]
    if not frames:
        return ""
    frame = (written or frames)[-1]
    number = frame.lineno or 0
    source = (frame.line or linecache.getline(frame.filename, number)).strip()
    shown = f": `{source}`" if source else ""
    return f" (line {number} of {Path(frame.filename).name}{shown})"


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    return getattr(error, "frames", None) or list(traceback.extract_tb(error.__traceback__))


def calls() -> list[traceback.FrameSummary]:
    """The calls from the traced function on to this one."""
    inner = takewhile(
        lambda each: each[0].f_code.co_filename != _CALLER, traceback.walk_stack(sys._getframe())
    )
    return list(traceback.StackSummary.extract(inner, lookup_lines=False))[::-1]


def refused(error: Exception) -> InputError:
    """The `InputError` for what was raised inside a traced function."""
    where = place(error)
    for folder, instead in _OF_SCIPY.items():
        if any(f"/scipy/{folder}/" in Path(frame.filename).as_posix() for frame in _frames(error)):
            found = error.found if isinstance(error, Refusal) else f"{type(error).__name__}: {error}"
            return InputError("f", f"{found}{where}", instead)
    match error:
        case Refusal():
            return InputError("f", error.found + where, error.remedy)
        case InputError():
            return error
        case RecursionError():
            remedy = "end the recursion by something that is no symbol, as a number of levels"
            return InputError("f", f"recursion without end{where}", remedy)
        case _:
            remedy = "see the error above: f must take arrays of symbols as it takes arrays of numbers"
            return InputError("f", f"{type(error).__name__}: {error}{where}", remedy)
