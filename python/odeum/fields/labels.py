"""Labels of arrays: the axes that an ``xarray.DataArray`` or a table of pandas has by name, and the places of its cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from odeum import _odeum
from odeum._convert import Floats, finite, number, refuse_stripped
from odeum.errors import InputError
from odeum.fields.cells import AXES, DIMS, Cells, array

# Coordinates are even where none is further from its place than this part of a cell.
EVEN = 1e-3
# Edges of cells that agree to this are meant to be equal: coordinates are rounded.
EQUAL = 1e-6
# The attribute of a coordinate that has the edge of a cell; along several cells coordinates say it.
EDGE = "spacing"
# And that of one that has the low end of the box.
LOW = "origin"


@dataclass(frozen=True)
class Labels:
    """What an array says of the grid."""

    name: str
    sizes: dict[str, int]
    # Along axes that are no dimension there may be one.
    coordinates: dict[str, Floats] = field(default_factory=dict)
    # Edges of cells along axes of one.
    edges: dict[str, float] = field(default_factory=dict)
    # Axes of one cell that several were joined to, or in other units, whose edge is another than the attribute says.
    joined: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, value: Any) -> Labels | None:
        """Those of an array; `None` of one that has none."""
        if not (hasattr(value, "dims") and hasattr(value, "sizes")):
            return None
        coords = getattr(value, "coords", {})
        dims = [dim for dim in DIMS if dim in value.dims]
        sizes = {dim: int(value.sizes[dim]) for dim in dims}
        there = [dim for dim in DIMS if dim in coords and (dim in dims or coords[dim].ndim == 0)]
        places = {dim: rising(f"{name}.{dim}", coords[dim]) for dim in there}
        single = [dim for dim in there if len(places[dim]) == 1 and EDGE in coords[dim].attrs]
        edges = {dim: _edge(f"{name}.{dim}", coords[dim]) for dim in single}
        joined = tuple(dim for dim in single if _is_joined(coords[dim], edges[dim]))
        edges = {dim: edge for dim, edge in edges.items() if dim not in joined}
        return cls(name, sizes, places, edges, joined)

    def lie_on(self, sizes: Mapping[str, int]) -> None:
        """Refuses axes that the cells of a grid do not lie along."""
        wide = {dim: n for dim, n in sizes.items() if n > 1}
        if {dim: n for dim, n in self.sizes.items() if n > 1} != wide:
            wanted = ", ".join(f"{dim}: {n}" for dim, n in (wide or sizes).items())
            raise InputError(self.name, f"the dimensions {shown(self.sizes)}", f"the grid has {{{wanted}}}")

    def agree_with(self, raw: _odeum.Simulation) -> None:
        """Refuses coordinates that are not the centres of the cells of a simulation, and other edges."""
        for dim, x in self.coordinates.items():
            misplaced = raw.misplaced(AXES.index(dim), x.tolist())
            if misplaced is not None:
                at, centre = misplaced
                found = f"the coordinate {x[at]:g} of a cell whose centre is at {centre:g}"
                raise self._other(dim, found)
        _, spacing, origin = raw.grid
        for dim, edge in self.edges.items():
            axis, place = AXES.index(dim), float(self.coordinates[dim][0])
            own, centre = spacing[axis], origin[axis] + 0.5 * spacing[axis]
            if abs(edge / own - 1) > EQUAL:
                raise self._other(dim, f"the edge {edge:g} of a cell whose edge is {own:g}")
            if abs(place - centre) > EVEN * own:
                raise self._other(dim, f"the coordinate {place:g} of a cell whose centre is at {centre:g}")

    def _other(self, dim: str, found: str) -> InputError:
        remedy = "let spacing and origin agree with coordinates, or drop these: "
        return InputError(
            f"{self.name}.{dim}", found, f'{remedy}.drop_vars("{dim}"), or .to_numpy() of a table'
        )


def read(name: str, value: Any) -> tuple[Cells, Labels | None]:
    """The numbers of an array in the order z, y, x, and its labels."""
    if not is_table(value):
        return array(name, value), Labels.of(name, value)
    refuse_stripped(name, value)
    cells = array(name, value.to_numpy())
    named = {index.name: index for index in value.axes}
    if set(named) == {None}:
        for index in value.axes:
            _require_order(name, index)
        return cells, None
    if len(named) < cells.ndim or not named.keys() <= set(DIMS):
        found = f"axes named {', '.join(repr(index.name) for index in value.axes)}"
        raise InputError(name, found, 'name each of them "x", "y" or "z", or give .to_numpy()')
    for index in value.axes:
        _require_order(f"{name}.{index.name}", index)
    dims = [dim for dim in DIMS if dim in named]
    cells = np.ascontiguousarray(cells.transpose([[*named].index(dim) for dim in dims]))
    places = {dim: finite(f"{name}.{dim}", named[dim].to_numpy()) for dim in dims}
    return cells, Labels(name, dict(zip(dims, cells.shape, strict=True)), places)


def is_table(value: Any) -> bool:
    """Whether it is a ``DataFrame`` or a ``Series``, of pandas or what is like it."""
    axes = getattr(value, "axes", None)
    return isinstance(axes, list) and all(hasattr(index, "equals") for index in axes)


def _require_order(name: str, index: Any) -> None:
    """Refuses labels of a table that are no places of cells in their order."""
    labels = index.to_numpy()
    steps = np.diff(labels) if labels.dtype.kind in "iuf" else np.array([np.nan])
    if len(labels) > 1 and not (steps > 0).all():
        found = f"labels that are no rising numbers: {labels[0]!s}, {labels[1]!s}, ..."
        raise InputError(name, found, "sort them: .sort_index(), or give .to_numpy()")
    if len(labels) > 1 and np.ptp(steps) > 2 * EVEN * steps.mean():
        found = f"labels that are not evenly spaced ({steps.min():g} to {steps.max():g} apart)"
        raise InputError(name, found, "interpolate onto equal cells, or give .to_numpy()")


def rising(name: str, coordinates: Any) -> Floats:
    """The numbers of coordinates along an axis, which rise."""
    x = finite(name, coordinates.values).reshape(-1)
    if len(x) > 1 and x[-1] <= x[0]:
        dim = name.rpartition(".")[2]
        raise InputError(name, "coordinates that fall", f'sort them: .sortby("{dim}")')
    return x


def _edge(name: str, coordinate: Any) -> float:
    """The edge of a cell that a coordinate has as an attribute."""
    edge = number(f"{name}.attrs['{EDGE}']", coordinate.attrs[EDGE])
    if not edge > 0:
        raise InputError(f"{name}.attrs['{EDGE}']", str(edge), "give the edge of a cell, which is positive")
    return edge


def _is_joined(coordinate: Any, edge: float) -> bool:
    """Whether a coordinate is the centre of none of the cells whose edge and low end it has."""
    low = coordinate.attrs.get(LOW)
    if low is None:
        return False
    place = (float(coordinate.values.item()) - number(f"attrs['{LOW}']", low)) / edge - 0.5
    return abs(place - round(place)) > EVEN


def shown(sizes: Mapping[str, int]) -> str:
    """Axes with their lengths, as xarray has them."""
    return f"({', '.join(f'{dim}: {n}' for dim, n in sizes.items())})"
