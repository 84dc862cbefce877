"""Arguments as arrays of doubles, or an `InputError` that names them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from odeum.errors import InputError

Floats = NDArray[np.float64]


def numbers(field: str, value: Any, *, copies: bool = True) -> Floats:
    """The numbers of an argument: any shape, float64, and C order unless copies are not wanted for that.

    Takes what NumPy takes, and arrays of other libraries in memory of the processor.

    Raises
    ------
    InputError
        Objects, complex numbers, texts or truth values; rows of different lengths; arrays on a GPU.
    """
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack_device__"):
        if value.__dlpack_device__()[0] not in (1, 3):
            raise InputError(field, f"an array on a GPU ({type(value).__name__})", "copy it to the CPU first")
        if not hasattr(value, "__array__"):
            value = np.from_dlpack(value)
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(
            field, f"{type(value).__name__} ({error})", "give numbers, or an array of them"
        ) from error
    if array.dtype.kind not in "fiu":
        kinds = {"c": "complex numbers", "b": "truth values", "O": "objects", "U": "texts", "S": "bytes"}
        found = kinds.get(array.dtype.kind, f"the type {array.dtype}")
        raise InputError(field, found, "give real numbers")
    if copies:
        return np.require(array, np.float64, ["C", "A"])
    # Of any strides: numpy.require copies what has gaps.
    array = np.asarray(array, np.float64)
    return array if array.flags.aligned else array.copy()


def finite(field: str, value: Any, *, copies: bool = True) -> Floats:
    """As `numbers`, and none of them NaN or infinite."""
    array = numbers(field, value, copies=copies)
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        at = f"[{', '.join(map(str, place))}]" if place else ""
        raise InputError(f"{field}{at}", str(array[place]), "give finite numbers")
    return array


def kept(field: str, value: Any) -> Floats:
    """As `finite`: a copy that nobody changes."""
    array = finite(field, value, copies=False).copy()
    array.flags.writeable = False
    return array


def number(field: str, value: Any) -> float:
    """One finite number."""
    array = finite(field, value)
    if array.size != 1:
        raise InputError(field, f"an array of shape {array.shape}", "give one number")
    return float(array.reshape(()))
