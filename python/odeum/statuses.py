"""How a system can end."""

from __future__ import annotations

from dataclasses import dataclass

from odeum import _odeum


@dataclass(frozen=True)
class Status:
    """One way to end.

    Attributes
    ----------
    number : int
        As it stands in `Solution.status`.
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
