"""Labels along axes, as arrays of pandas and xarray have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from odeum.errors import InputError


class Labels(NamedTuple):
    """What says which row is which: the dimension of xarray, and an index of pandas; `None` where there is none."""

    dimension: Any
    index: Any

    @classmethod
    def of(cls, value: Any, axis: int = 0) -> Labels:
        """Those along an axis."""
        if hasattr(value, "dims") and hasattr(value, "indexes"):
            # One number has coordinates too.
            dimension = value.dims[axis] if value.dims else None
            return cls(dimension, value.indexes.get(dimension))
        index = getattr(value, ("index", "columns")[axis], None) if axis < 2 else None
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
                raise InputError(name, found, "lay them along the same dimensions, or sweep")
            if what == "index" and not mine.equals(theirs):
                remedy = "make one table of them, or give arrays without labels, as by to_numpy()"
                raise InputError(name, f"other labels than those of {other}", remedy)


def refuse_other_batches(arrays: Mapping[str, tuple[Any, int]]) -> None:
    """The same of arrays [*batch, ...], each with the number of its batch axes, which broadcast."""
    for k in range(1, 1 + max(count for _, count in arrays.values())):
        places = {name: (array, count - k) for name, (array, count) in arrays.items() if count >= k}
        labels = {name: Labels.of(*place) for name, place in places.items()}
        some = {name: each for name, each in labels.items() if any(what is not None for what in each)}
        # What has one place along an axis is one for all.
        long = {name for name, (array, axis) in places.items() if name in some and array.shape[axis] > 1}
        refuse_others({name: some[name] for name in places if name in long})


def order(field: str, value: Any, names: Sequence[str], what: str, axis: int = -1) -> list[int] | None:
    """Where each of the names stands along the last axis of an array, or the first; `None` where it has no names there.

    Arrays of pandas and xarray have some.
    """
    others = _names(value)
    if not others:
        return None
    found = others.pop(axis)
    dims = list(getattr(value, "dims", ()))
    elsewhere = dims and what in dims and dims[axis] != what
    if set(found) != set(names) and (elsewhere or any(set(labels) == set(names) for labels in others)):
        where = "first" if axis == 0 else "last"
        remedy = f"give the {what} along the {where} axis: transpose it"
        raise InputError(field, f"{what} along another axis than the {where}", remedy)
    if not found:
        return None
    unknown = [name for name in found if name not in names]
    if unknown:
        raise InputError(
            field, f"the label {unknown[0]!r}, which is none of the {what}", f"give the {what} alone"
        )
    if len(found) != len(names) or len(set(found)) != len(names):
        raise InputError(field, f"labels of {len(found)} {what}", f"give each of the {len(names)} once")
    return [found.index(name) for name in names]


def _names(value: Any) -> list[list[str]]:
    """The texts that stand along each axis, as far as there are any."""
    if hasattr(value, "coords"):
        axes = [value.coords[dim].values if dim in value.coords else () for dim in value.dims]
    else:
        axes = [getattr(value, "index", ()), getattr(value, "columns", ())]
        axes = axes[: getattr(value, "ndim", 2)]
    # The method `index` of a list is none. Of numbers there may be millions.
    none = [
        callable(labels) or getattr(getattr(labels, "dtype", None), "kind", "") in "iuf" for labels in axes
    ]
    return [
        [] if is_none else [str(x) for x in labels if isinstance(x, str)]
        for labels, is_none in zip(axes, none, strict=True)
    ]
