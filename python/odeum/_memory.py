"""Whether there is memory for the columns of an ensemble."""

from __future__ import annotations

from odeum._case import Document, EnsembleCase
from odeum.errors import InputError

# Fewer numbers are made as fast as memory is looked at.
_FEW = 2**23
# States of a system whose results are as large as many columns.
_STATES = [f"x{k}" for k in range(1000)]
# As many copies as case files may ask for.
_MOST = 2**32 - 1


def refuse_too_many(systems: int, columns: int) -> None:
    """Refuses columns of so many systems before they are made, where a case whose results are as large is refused."""
    numbers = systems * columns
    if numbers <= _FEW:
        return
    document: Document = {
        "system": {"states": dict.fromkeys(_STATES, 0.0), "equations": dict.fromkeys(_STATES, "0")},
        "ensemble": {"count": min(numbers // len(_STATES), _MOST)},
        "time": {"span": [0.0, 1.0]},
        "method": {"name": "tsit5"},
        "tolerance": {"rtol": 1e-6, "atol": 1e-6},
    }
    try:
        len(EnsembleCase(document).open())
    except InputError as error:
        found = f"{systems:,} systems, of which {columns} columns alone need {numbers / 2**27:,.1f} GiB"
        remedy = "take fewer, or integrate parts of the values one after the other"
        raise InputError("runs", found, remedy) from error
