"""Progress of long work: a bar, a callable, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from odeum.errors import InputError

# True: a bar where tqdm is installed. A callable is given what is done and what there is.
Progress = bool | Callable[[Any, Any], object] | None


def check(progress: Progress) -> None:
    """Refuses what nothing can be told to."""
    if not (isinstance(progress, bool | None) or callable(progress)):
        raise InputError("progress", repr(progress), "give True, False or a callable of (done, total)")


@contextmanager
def told(progress: Progress, total: float, unit: str) -> Iterator[Callable[[float], object] | None]:
    """What the extension calls with the count of what is done; `None` where nobody listens.

    Who gets it calls it with `total` at the end, if that was reached.
    """
    check(progress)
    if progress is None or progress is False:
        yield None
        return
    if callable(progress):
        yield lambda done: progress(done, total)
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(total=total, unit=unit, unit_scale=True) as bar:
        yield lambda done: bar.update(done - bar.n)
