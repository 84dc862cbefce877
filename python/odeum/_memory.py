"""Whether there is memory for the columns of an ensemble."""

from __future__ import annotations

from odeum import _odeum
from odeum.errors import InputError

# Fewer numbers are made as fast as memory is looked at.
_FEW = 2**23


def refuse_too_many(systems: int, columns: int) -> None:
    """Refuses columns of so many systems before they are made, where there is no memory for them."""
    needed = 8 * systems * columns
    if needed <= 8 * _FEW or (free := _odeum.free_memory()) is None or needed <= free[0]:
        return
    found = f"{systems:,} systems, of which {columns} columns need {needed / 2**30:,.1f} GiB, and {free[1]}"
    raise InputError("runs", found, "take fewer, or integrate parts of the values one after the other")
