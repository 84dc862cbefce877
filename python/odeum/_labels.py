"""Labels of rows, as columns of pandas and xarray have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from odeum.errors import InputError


class Labels(NamedTuple):
    """What says which row is which: the dimension of xarray, and an index of pandas; `None` where there is none."""

    dimension: Any
    index: Any

    @classmethod
    def of(cls, value: Any) -> Labels:
        """Those along the first axis."""
        if hasattr(value, "dims") and hasattr(value, "indexes"):
            # One number has coordinates too.
            first = next(iter(value.dims), None)
            return cls(first, value.indexes.get(first))
        index = getattr(value, "index", None)
        # The method `index` of a list is none.
        return cls(None, index if hasattr(index, "equals") else None)


def refuse_others(columns: Mapping[str, Labels]) -> None:
    """Refuses rows that are another thing in one column than in another: columns are paired by their places."""
    first: dict[str, tuple[str, Any]] = {}
    for name, labels in columns.items():
        for what, mine in zip(Labels._fields, labels, strict=True):
            if mine is None:
                continue
            other, theirs = first.setdefault(what, (name, mine))
            if what == "dimension" and mine != theirs:
                found = f"the dimension {mine!r}, beside {theirs!r} of {other}"
                raise InputError(name, found, "give columns along one dimension, or sweep")
            if what == "index" and not mine.equals(theirs):
                remedy = "make one table of them, or give arrays without labels, as by to_numpy()"
                raise InputError(name, f"other labels than those of {other}", remedy)


def refuse_other_rows(arrays: Mapping[str, Any]) -> None:
    """The same of arrays with a batch of one axis; those of one row are one for all."""
    labels = {name: Labels.of(array) for name, array in arrays.items()}
    some = {name: each for name, each in labels.items() if any(what is not None for what in each)}
    refuse_others({name: each for name, each in some.items() if len(arrays[name]) > 1})
