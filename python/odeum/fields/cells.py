"""Arrays with a number for each cell, and triples along the axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odeum._convert import number, numbers, refuse_stripped
from odeum.errors import InputError

AXES = ("x", "y", "z")
# Those of arrays: the cells along x lie side by side.
DIMS = ("z", "y", "x")

Cells = NDArray[Any]
# Numbers in place of three that are shown.
_SHOWN = 6


def array(field: str, value: Any) -> Cells:
    """The numbers of an array in C order, as float64, or float32 where it has that type.

    The dims of an ``xarray.DataArray`` come into the order z, y, x.
    """
    refuse_stripped(field, value)
    if hasattr(value, "dims") and hasattr(value, "transpose"):
        strange = [str(dim) for dim in value.dims if dim not in DIMS]
        if strange:
            found = f"the dimension {', '.join(strange)}"
            raise InputError(
                field, found, "select one place along it: the dimensions of cells are x, y and z"
            )
        value = value.transpose(*[dim for dim in DIMS if dim in value.dims]).values
    if isinstance(value, np.ndarray) and value.dtype in (np.float32, np.bool_):
        return np.require(value, np.float32, ["C", "A"])
    cells = numbers(field, value)
    if cells.ndim > 3:
        raise InputError(field, f"an array of shape {cells.shape}", "give one of shape (nz, ny, nx)")
    return cells


def is_array(value: Any) -> bool:
    """Whether a value has axes."""
    return not isinstance(value, str) and getattr(value, "ndim", int(isinstance(value, (list, tuple)))) > 0


def shown(value: Any) -> str:
    """What was found in place of three parts; of arrays and of many how many or how large, not their numbers."""
    if isinstance(value, (list, tuple)) and (len(value) > _SHOWN or any(map(is_array, value))):
        return f"{len(value)} part{'s' if len(value) != 1 else ''}"
    return repr(value) if getattr(value, "ndim", 0) == 0 else f"an array of shape {tuple(value.shape)}"


def along(field: str, value: Any, usual: float) -> list[float] | None:
    """Numbers along x, y and z: of a mapping by axis, of three, or of one number for all."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        strange = [str(axis) for axis in value if axis not in AXES]
        if strange:
            raise InputError(field, f"the axis {', '.join(strange)}", "name the axes x, y and z")
        return [number(f"{field}.{axis}", value[axis]) if axis in value else usual for axis in AXES]
    if not is_array(value):
        return [number(field, value)] * 3
    if not isinstance(value, (Sequence, np.ndarray)) or len(value) != 3:
        raise InputError(field, shown(value), "give three numbers along x, y and z, or a dict by axis")
    return [number(f"{field}.{axis}", each) for axis, each in zip(AXES, value, strict=True)]
