"""What a field starts from: initial values, and the grid that they lie on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from odeum._case import Document
from odeum._convert import Floats, number
from odeum._options import plain
from odeum.errors import InputError
from odeum.fields.cells import AXES, DIMS, Cells, array, is_array
from odeum.fields.labels import EQUAL, EVEN, Labels, shown
from odeum.fields.labels import read as labelled
from odeum.fields.paths import absolute
from odeum.fields.state import mask_name


@dataclass
class Start:
    """Initial values as ``[initial]`` has them, their arrays, and what these say of the grid."""

    initial: Document = field(default_factory=dict)
    arrays: dict[str, Cells] = field(default_factory=dict)
    # Axes of the arrays, in their order.
    dims: tuple[str, ...] = ()
    # Along the axes that are known.
    shape: dict[str, int] = field(default_factory=dict)
    spacing: dict[str, float] = field(default_factory=dict)
    # Centre of the first cell.
    first: dict[str, float] = field(default_factory=dict)
    t: float | None = None
    # Coordinates of axes of one cell whose edge is not known, since several were joined to it.
    joined: dict[str, str] = field(default_factory=dict)
    # Which array is of another time.
    of_another: str | None = None
    # Cells of the domain, of a dataset that says so.
    mask: Cells | None = None
    # Of a dataset, or the arrays of a mapping: what is said of the grid beside them has to agree.
    labels: list[Labels] = field(default_factory=list)

    def add(self, species: str, cells: Cells) -> None:
        """Takes an array for a species."""
        name = f"initial-{species}.npy"
        self.arrays[name] = cells
        self.initial[species] = {"file": name}


def read(start: Any, species: Collection[str]) -> Start:
    """Reads an ``xarray.Dataset``, or a mapping of arrays, numbers, text and tables of case files."""
    if start is None:
        return Start()
    if hasattr(start, "data_vars") and hasattr(start, "coords"):
        return _of_dataset(start, mask_name(species))
    if not isinstance(start, Mapping):
        raise InputError(
            "start", type(start).__name__, "give an xarray.Dataset, or a dict of arrays by species"
        )
    return _of_mapping(start, mask_name(species))


def _of_mapping(start: Mapping[str, Any], mask: str) -> Start:
    made = Start()
    masks: dict[str, Any] = {}
    for name, value in start.items():
        place = f"start.{name}"
        if not is_array(value):
            made.initial[str(name)] = absolute(plain(place, value))
            continue
        cells, labels = labelled(place, value)
        shape = labels.sizes if labels else dict(zip(DIMS[3 - cells.ndim :], cells.shape, strict=True))
        if made.dims and shape != made.shape:
            found = f"the dimensions {shown(shape)}"
            raise InputError(place, found, f"give arrays of the same: others have {shown(made.shape)}")
        made.dims, made.shape = tuple(shape), shape
        made.add(str(name), cells)
        if labels:
            coords = getattr(value, "coords", {})
            _lie(made, labels, coords)
            if mask in coords:
                masks[place] = coords[mask]
    for place, each in masks.items():
        cells = _whole(made, f"{place}.{mask}", each)
        made.mask = cells if made.mask is None else made.mask
        other = (cells > 0) != (made.mask > 0)
        if other.any():
            found = f"another than that of other arrays, in {other.sum()} of {other.size} cells"
            raise InputError(f"{place}.{mask}", found, f'leave it out: start.drop_vars("{mask}")')
    _equal(made.spacing)
    return made


def _of_dataset(start: Any, mask: str) -> Start:
    """As states are: a variable or a coordinate by the name of the mask is one."""
    made = Start()
    species = [name for name in start.data_vars if name != mask]
    arrays = [*species, *([mask] if mask in start.variables else [])]
    for name in arrays:
        for dim in start[name].dims:
            if dim not in DIMS:
                found = f"the dimension {dim}"
                remedy = f"select one place: start.isel({dim}=-1); the dimensions of cells are x, y and z"
                raise InputError(f"start.{name}", found, remedy)
    used = {dim for name in arrays for dim in start[name].dims}
    made.dims = tuple(dim for dim in DIMS if dim in used)
    made.shape = {dim: int(start.sizes[dim]) for dim in made.dims}
    for name in species:
        if start[name].ndim == 0:
            made.initial[str(name)] = plain(f"start.{name}", start[name].values)
        else:
            made.add(str(name), _whole(made, f"start.{name}", start[name]))
    if mask in arrays:
        made.mask = _whole(made, f"start.{mask}", start[mask])
    labels = Labels.of("start", start[arrays])
    if labels:
        _lie(made, labels, start.coords)
    _equal(made.spacing)
    return made


def _whole(made: Start, name: str, variable: Any) -> Cells:
    """The numbers of a variable in all cells; along axes that it does not have they are the same."""
    cells = array(name, variable)
    wide = tuple(made.shape[dim] if dim in variable.dims else 1 for dim in made.dims)
    return np.ascontiguousarray(np.broadcast_to(cells.reshape(wide), tuple(made.shape.values())))


def _lie(made: Start, labels: Labels, coords: Mapping[Any, Any]) -> None:
    """Takes the time, and place and edge of cells along axes of which they are not known, from labels."""
    made.labels.append(labels)
    if "t" in coords and coords["t"].ndim == 0:
        t = number(f"{labels.name}.t", coords["t"].values)
        made.t = t if made.t is None else made.t
        if t != made.t:
            made.of_another = labels.name
    for dim, x in labels.coordinates.items():
        if dim not in made.first:
            _coordinates(made, f"{labels.name}.{dim}", x)
            if dim in labels.edges:
                made.spacing[dim] = labels.edges[dim]
            if dim in labels.joined:
                made.joined[dim] = f"{labels.name}.{dim}"


def _coordinates(made: Start, name: str, x: Floats) -> None:
    """Edge and place of the cells whose centres these are."""
    dim = name.rpartition(".")[2]
    made.first[dim] = float(x[0])
    if len(x) == 1:
        return
    h = float(x[-1] - x[0]) / (len(x) - 1)
    off = np.abs(x - (x[0] + h * np.arange(len(x)))) / h
    if off.max() > EVEN:
        at = int(off.argmax())
        found = f"coordinates that are not evenly spaced ({x[at]:g} is {off.max():.2g} cells off)"
        raise InputError(name, found, "interpolate onto equal cells: start.interp")
    # Of what rounds to the same coordinates the shorter number is meant.
    short = float(f"{h:.12g}")
    made.spacing[dim] = (
        short if np.allclose(x, x[0] + short * np.arange(len(x)), rtol=1e-14, atol=1e-14 * h) else h
    )


def _equal(spacing: dict[str, float]) -> None:
    """Makes edges equal that differ by rounding."""
    for axis in AXES:
        for other in AXES[: AXES.index(axis)]:
            if axis in spacing and other in spacing and abs(spacing[axis] / spacing[other] - 1) < EQUAL:
                spacing[axis] = spacing[other]
                break
