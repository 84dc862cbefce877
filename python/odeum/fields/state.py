"""States of fields as objects of other libraries."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from odeum import _odeum
from odeum.fields.cells import AXES, DIMS
from odeum.fields.labels import EDGE, LOW

if TYPE_CHECKING:
    import xarray

    from odeum.fields.simulation import Simulation


def require_xarray() -> Any:
    """The module xarray."""
    try:
        import xarray
    except ImportError as error:
        remedy = "pip install odeum[xarray], or use `advance_to` and `arrays`"
        raise ImportError(f"states as datasets need xarray: {remedy}") from error
    return xarray


def dataset(simulation: Simulation) -> xarray.Dataset:
    """The present state: species over the axes of the start, or those of more than one cell.

    The other axes are scalar coordinates; all have the edge of a cell as ``spacing``, so that the grid is whole,
    and the low end of the box as ``origin``, which tells a cell from several joined to one, and from one in other units.
    """
    module = require_xarray()
    dims = simulation.dims
    shape = tuple(simulation.sizes[dim] for dim in dims)
    coords: dict[str, Any] = {}
    for dim in DIMS:
        centres = simulation.centres(dim)
        edge = {EDGE: simulation.spacing[dim], LOW: simulation.origin[dim]}
        coords[dim] = (dim, centres, edge) if dim in dims else ((), float(centres[0]), edge)
    coords["t"] = ((), simulation.t, {"long_name": "time"})
    if simulation.mask is not None:
        coords[mask_name(simulation.species)] = (
            dims,
            simulation.mask.reshape(shape).copy(),
            {"long_name": "cells of the domain"},
        )
    variables = {name: (dims, values.reshape(shape)) for name, values in simulation.arrays.items()}
    attributes: dict[str, Any] = {"title": simulation.title, "equations": "\n".join(simulation.equations)}
    attributes["parameters"] = ", ".join(
        f"{name} = {value!r}" for name, value in simulation.parameters.items()
    )
    attributes["odeum_version"] = _odeum.__version__
    made: xarray.Dataset = module.Dataset(variables, coords, attributes)
    return made


def image_data(simulation: Simulation) -> Any:
    """The present state as ``pyvista.ImageData``, species as data of cells."""
    try:
        import pyvista
    except ImportError as error:
        raise ImportError("to_pyvista needs PyVista: pip install pyvista") from error
    sizes = simulation.sizes
    data = pyvista.ImageData(
        # Points, of which there is one more than cells.
        dimensions=tuple(sizes[axis] + 1 for axis in AXES),
        spacing=tuple(simulation.spacing[axis] for axis in AXES),
        origin=tuple(simulation.origin[axis] for axis in AXES),
    )
    for name, values in simulation.arrays.items():
        data.cell_data[name] = values.ravel()
    if simulation.mask is not None:
        data.cell_data[mask_name(simulation.species)] = simulation.mask.ravel().astype(np.uint8)
    return data


def mask_name(species: Collection[str]) -> str:
    """The name of the mask, as files have it; no species may be called as a coordinate or the time, but one may be so."""
    name = "mask"
    while name in species:
        name += "_"
    return name
