"""How a system can end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odeum import _odeum


@dataclass(frozen=True)
class Status:
    """One way to end.

    Attributes
    ----------
    number : int
        As it stands in `odeum.Solution.status`.
    name : str
    is_success : bool
    advice : str
        What it means, and what to do.
    """

    number: int
    name: str
    is_success: bool
    advice: str


STATUSES: tuple[Status, ...] = tuple(
    Status(number, name, good, advice) for number, (name, good, advice) in enumerate(_odeum.statuses())
)

NOT_RUN = next(status.number for status in STATUSES if status.name == "not run")
_SUCCESS = np.array([status.is_success for status in STATUSES])


def is_success(numbers: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which of these numbers mean success."""
    # Zero is the success that is meant most often.
    return _SUCCESS.take(numbers) if numbers.any() else np.ones(numbers.shape, np.bool_)
