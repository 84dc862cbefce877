"""What a gas is made of: as text, by names, or as an array."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from odeum import _odeum
from odeum._convert import Floats, finite, number
from odeum._labels import order
from odeum.errors import InputError

Composition = str | Mapping[str, float]


def by_name(field: str, value: Composition | Any, species: Sequence[str]) -> dict[str, float]:
    """Amounts by species, of ``"O2:1, N2:3.76"``, a mapping or an array [species]; a species alone counts once."""
    if isinstance(value, Mapping):
        return {str(name): number(f"{field}.{name}", amount) for name, amount in value.items()}
    if not isinstance(value, str):
        if not hasattr(value, "__len__"):
            raise InputError(
                field, type(value).__name__, 'give species and amounts, as "O2:1, N2:3.76" or a dict'
            )
        array = amounts(field, value, species)
        if array.ndim != 1:
            remedy = "give one composition; columns named as species give each reactor its own"
            raise InputError(field, f"an array of shape {array.shape}", remedy)
        return dict(zip(species, array.tolist(), strict=True))
    given: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in _parts(value, species))):
        name, amount = _named(part)
        if name in given:
            raise InputError(field, f"{name} twice", "give each species once")
        try:
            given[name] = float(amount)
        except ValueError:
            raise InputError(field, repr(part), 'give species and amounts, as "O2:1, N2:3.76"') from None
    return given


def _parts(text: str, species: Sequence[str]) -> Iterator[str]:
    """The text of each species: what stands between two commas, or more where a species has commas in its name."""
    most = 1 + max((name.count(",") for name in species), default=0)
    pieces = text.split(",")
    while pieces:
        count = most
        while count > 1:
            name, amount = _named(",".join(pieces[:count]).strip())
            if name in species and "," not in amount:
                break
            count -= 1
        yield ",".join(pieces[:count])
        del pieces[:count]


def _named(part: str) -> tuple[str, str]:
    """The name of a species and its amount. Names may hold colons, amounts do not."""
    name, colon, amount = part.rpartition(":")
    return (name.strip(), amount.strip()) if colon else (part, "1")


def amounts(field: str, value: Any, species: Sequence[str]) -> Floats:
    """Amounts [*batch, species] of an array, or [species] of text or a mapping."""
    if not isinstance(value, (str, Mapping)):
        places = order(field, value, species, "species")
        array = finite(field, value)
        if places is not None:
            array = np.ascontiguousarray(array[..., places])
        if array.shape[-1:] != (len(species),):
            found = f"an array of shape {array.shape}"
            raise InputError(field, found, f"give {len(species)} species along the last axis")
        return array
    row = np.zeros(len(species))
    for name, amount in by_name(field, value, species).items():
        if name not in species:
            import difflib

            near = difflib.get_close_matches(name, species, 3) or species[:12]
            raise InputError(field, f"the species {name!r}, which is none", f"there are {', '.join(near)}")
        if not np.isfinite(amount):
            raise InputError(f"{field}.{name}", str(amount), "give zero or more")
        row[list(species).index(name)] = amount
    row = small_negatives_as_zero(row)
    for name, amount in zip(species, row, strict=True):
        if amount < 0.0:
            raise InputError(f"{field}.{name}", str(amount), "give zero or more")
    if not row.any():
        raise InputError(field, "nothing", "give an amount of a species")
    return row


def small_negatives_as_zero(array: Floats) -> Floats:
    """Amounts [*batch, species], zero where an integration may have left them below."""
    whole = np.maximum(array, 0.0).sum(axis=-1, keepdims=True)
    return np.where((array < 0.0) & (array >= -_odeum.NEGATIVE_LEAST * whole), 0.0, array)


def check_sums(field: str, Y: Floats) -> None:
    """Refuses what are no fractions [*batch, species] of a whole, as percents."""
    sums = Y.sum(axis=-1)
    wrong = ~(np.abs(sums - 1.0) <= _odeum.SUM_TOLERANCE)
    if wrong.any():
        place = tuple(int(k) for k in np.argwhere(wrong)[0])
        where = f"[{', '.join(map(str, place))}]" if place else ""
        raise InputError(
            f"{field}{where}", f"fractions that sum to {sums[place]:.6g}", "give fractions that sum to one"
        )


def scaled(field: str, array: Floats) -> Floats:
    """Amounts [*batch, species] as fractions, which sum to one."""
    array = small_negatives_as_zero(array)
    if (array < 0.0).any():
        place = tuple(int(k) for k in np.argwhere(array < 0.0)[0])
        raise InputError(f"{field}[{', '.join(map(str, place))}]", str(array[place]), "give zero or more")
    whole = array.sum(axis=-1, keepdims=True)
    if not (whole > 0.0).all():
        raise InputError(field, "a gas of nothing", "give an amount of a species")
    return np.asarray(array / whole)
