"""Slices through fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from odeum._convert import Floats, mapping, number
from odeum.errors import InputError
from odeum.fields.cells import AXES

if TYPE_CHECKING:
    from odeum.fields.simulation import Simulation


@dataclass(frozen=True)
class Slice:
    """Values along at most two axes.

    Attributes
    ----------
    axes : tuple of str
        The axes that are shown, the horizontal one first.
    at : dict
        Where the others are cut.
    values : dict
        Of each species [n] or [vertical, horizontal]; NaN in solid cells.
    places : tuple of ndarray
        Centres of the cells along the axes.
    """

    axes: tuple[str, ...]
    at: dict[str, float]
    values: dict[str, Floats]
    places: tuple[Floats, ...]


def cut(simulation: Simulation, at: Mapping[str, float] | None = None, most: int | None = None) -> Slice:
    """A slice through the present state: across z in the middle, unless `at` says where else.

    Of the axes that `at` does not cut the first two with more than one cell are shown, no more than `most` cells
    along each.
    """
    at = {} if at is None else dict(mapping("at", at, 'give where the field is cut: {"z": 0.5}'))
    for axis in at:
        if axis not in AXES:
            raise InputError("at", repr(axis), "name the axes x, y and z")
    wide = [axis for axis in AXES if simulation.sizes[axis] > 1 and axis not in at]
    shown = tuple(wide[:2])
    cells: dict[str, list[int]] = {}
    cuts: dict[str, float] = {}
    for axis in AXES:
        n, centres = simulation.sizes[axis], simulation.centres(axis)
        if axis in shown:
            cells[axis] = list(range(0, n, 1 if most is None else -(-n // most)))
            continue
        place = number(f"at.{axis}", at[axis]) if axis in at else float(centres[n // 2])
        half = 0.5 * simulation.spacing[axis]
        low, high = float(centres[0]) - half, float(centres[-1]) + half
        # The ends of the box are rounded.
        if not low - 1e-6 * half <= place <= high + 1e-6 * half:
            raise InputError(f"at.{axis}", str(place), f"the box lies from {low:g} to {high:g}")
        cells[axis] = [int(np.abs(centres - place).argmin())]
        if n > 1:
            cuts[axis] = float(centres[cells[axis][0]])
    picked = [[i, j, k] for k in cells["z"] for j in cells["y"] for i in cells["x"]]
    values = np.asarray(simulation._raw.pick(picked))
    if simulation.mask is not None:
        i, j, k = np.array(picked).T
        values[~simulation.mask[k, j, i]] = np.nan
    shape = tuple(len(cells[axis]) for axis in reversed(shown))
    by_name = {name: values[:, s].reshape(shape) for s, name in enumerate(simulation.species)}
    places = tuple(simulation.centres(axis)[cells[axis]] for axis in shown)
    return Slice(shown, cuts, by_name, places)
