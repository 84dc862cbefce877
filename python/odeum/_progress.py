"""Progress of long work: a bar, a callable, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from odeum.errors import InputError

# True: a bar where tqdm is installed. A callable is given what is done and what there is.
Progress = bool | Callable[[Any, Any], object] | None

_Raw = TypeVar("_Raw")


def check(progress: Progress) -> None:
    """Refuses what progress cannot be reported to."""
    if not (isinstance(progress, bool | None) or callable(progress)):
        raise InputError("progress", repr(progress), "give True, False or a callable of (done, total)")


@contextmanager
def callback_of(progress: Progress, total: float, unit: str) -> Iterator[Callable[[float], object] | None]:
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


def watched(
    progress: Progress,
    total: float,
    unit: str,
    work: Callable[..., tuple[_Raw, BaseException | None]],
    *more: Any,
) -> tuple[_Raw, BaseException | None]:
    """What work whose progress is reported gives, and what a signal or `progress` raised meanwhile, at its end too."""
    given: list[tuple[_Raw, BaseException | None]] = []
    try:
        with callback_of(progress, total, unit) as report:
            # In one call of the interpreter's own: what a signal raises at the end comes when the results are kept.
            given.extend(map(work, [report], *([each] for each in more)))
            if report is not None and given[0][1] is None:
                report(total)
    except BaseException as error:
        if not given:
            raise
        raw, raised = given[0]
        return raw, error if raised is None else raised
    return given[0]
