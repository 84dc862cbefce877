"""Arguments as arrays of doubles, or an `InputError` that names them."""

from __future__ import annotations

import operator
import sys
import unicodedata
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odeum.errors import InputError

Floats = NDArray[np.float64]

_LARGEST = float(np.finfo(np.float32).max)
#: Of which and of what is smaller the nearest number of single precision is zero.
_HALF_OF_SMALLEST = float(np.finfo(np.float32).smallest_subnormal) / 2


def numbers(field: str, value: Any, *, copies: bool = True) -> Floats:
    """The numbers of an argument: any shape, float64, and C order unless copies are not wanted for that.

    Takes what NumPy takes, and arrays of other libraries in memory of the CPU.

    Raises
    ------
    InputError
        Objects, complex numbers, texts or truth values; rows of different lengths; masked values; quantities with a
        unit; arrays on a GPU.
    """
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack_device__"):
        if value.__dlpack_device__()[0] not in (1, 3):
            raise InputError(field, f"an array on a GPU ({type(value).__name__})", "copy it to the CPU first")
        if not hasattr(value, "__array__"):
            value = np.from_dlpack(value)
    try:
        refuse_stripped(field, value)
        # What a library makes an array of may be masked, too.
        array = np.asanyarray(value)
        refuse_stripped(field, array)
        array = np.asarray(array)
    except InputError:
        raise
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(
            field, f"{type(value).__name__} ({error})", "give numbers, or an array of them"
        ) from error
    if array.dtype.kind not in "fiu":
        kinds = {"c": "complex numbers", "b": "truth values", "U": "texts", "S": "bytes"}
        kinds |= {"O": _objects(array)} if array.dtype == object else {}
        found = kinds.get(array.dtype.kind, f"the type {array.dtype}")
        raise InputError(field, found, "give real numbers")
    if copies:
        return np.require(array, np.float64, ["C", "A"])
    # Of any strides: numpy.require copies what has gaps.
    array = np.asarray(array, np.float64)
    return array if array.flags.aligned else array.copy()


def _objects(array: NDArray[Any]) -> str:
    """What an array of objects is made of, by the first that is no number."""
    odd = (each for each in array.flat if not isinstance(each, (int, float)))
    names = ("None" if each is None else type(each).__name__ for each in odd)
    name = next(names, "a whole number beyond 64 bits")
    return name if array.ndim == 0 else f"objects ({name})"


def refuse_stripped(field: str, value: Any) -> None:
    """Refuses what NumPy strips of its meaning, in lists too: masked values, which it takes from behind their mask,
    and quantities with a unit, of which it takes the numbers."""
    unit = _unit(value)
    if unit:
        raise InputError(field, f"a quantity in {unit}", "convert it, and give its numbers alone")
    if isinstance(value, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(value)
        if mask.dtype == np.bool_ and mask.any():
            place = tuple(np.argwhere(mask)[0])
            raise InputError(f"{field}{at(place)}", "a masked value", "fill it, or leave it out")
    elif isinstance(value, (list, tuple)):
        for k, each in enumerate(value):
            if not isinstance(each, (int, float)):
                refuse_stripped(f"{field}[{k}]", each)


def _unit(value: Any) -> str:
    """The unit of a quantity of Pint, Astropy or unyt, within an array of xarray too; empty where there is none."""
    if hasattr(value, "coords"):
        value = getattr(value, "data", value)
    # Arrays of xarray have what their metadata say as attributes, but none of these is a conversion.
    if not hasattr(type(value), "to"):
        return ""
    unit = getattr(value, "units", None) or getattr(value, "unit", None)
    return "" if unit is None or str(unit) == "dimensionless" else str(unit)


def at(place: tuple[int, ...]) -> str:
    """A place in an array as messages have it."""
    return f"[{', '.join(map(str, place))}]" if place else ""


def finite(field: str, value: Any, *, copies: bool = True) -> Floats:
    """As `numbers`, and none of them NaN or infinite."""
    array = numbers(field, value, copies=copies)
    if not np.isfinite(array).all():
        place = tuple(np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"{field}{at(place)}", str(array[place]), "give finite numbers")
    return array


def single(field: str, array: Floats) -> None:
    """Refuses finite numbers that single precision does not have."""
    too_large = np.isfinite(array) & (np.abs(array) > _LARGEST)
    if too_large.any():
        place = tuple(np.argwhere(too_large)[0])
        remedy = 'scale it, or use precision="f64"'
        raise InputError(f"{field}{at(place)}", f"{array[place]}, but f32 ends at 3.4e38", remedy)


def not_lost(field: str, array: Floats) -> None:
    """Refuses numbers other than zero that single precision has as zero."""
    lost = (array != 0.0) & (np.abs(array) <= _HALF_OF_SMALLEST)
    if lost.any():
        place = tuple(np.argwhere(lost)[0])
        remedy = 'scale it, or use precision="f64"'
        raise InputError(f"{field}{at(place)}", f"{array[place]}, but f32 begins at 1.4e-45", remedy)


def positive(field: str, value: Any) -> Floats:
    """As `finite`, and all of them above zero."""
    array = finite(field, value)
    if not (array > 0.0).all():
        found = array.flat[int(np.argmax(array.ravel() <= 0.0))]
        raise InputError(field, str(found), "give numbers above zero")
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


def text(field: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise InputError(field, repr(value), "give text")
    return value


def encodable(field: str, value: str) -> str:
    """A text, which may have no lone surrogates, as Python has for bytes of names of files that are no UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        line = value[value.rfind("\n", 0, error.start) + 1 :].partition("\n")[0]
        raise InputError(field, f"a lone surrogate in {ascii(line)}", "give text of UTF-8") from error
    return value


def refuse_unwritable(field: str, name: str) -> None:
    """Refuses a name that no argument of Python can have: its code is read with another one."""
    read = unicodedata.normalize("NFKC", name)
    if read != name and name.isidentifier():
        found = f"{_spelt(name)}, which Python reads as another name in its code"
        raise InputError(f"{field}.{name}", found, f"write {_spelt(read)}")


def _spelt(name: str) -> str:
    """A name with the numbers of its letters, since different ones can look alike."""
    return f"{name!r} ({' '.join(f'U+{ord(letter):04X}' for letter in name)})"


def flag(field: str, value: Any) -> bool:
    """A truth value; the text "no" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(field, repr(value), "give True or False")
    return bool(value)


def mapping(field: str, value: Any, remedy: str) -> Mapping[Any, Any]:
    """Something by names."""
    if not isinstance(value, Mapping):
        raise InputError(field, type(value).__name__, remedy)
    return value


def expressions(field: str, value: Any) -> dict[str, str]:
    """Expressions of case files by name."""
    named = mapping(field, value, 'give names and expressions as text: {"x": "-x"}')
    return {str(name): text(f"{field}.{name}", each) for name, each in named.items()}


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of Python or NumPy; truth values and spans of time are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))


def whole(field: str, value: Any, least: int, most: int = sys.maxsize) -> int:
    """A whole number, of Python, NumPy or another library, from `least`, which is 0 or 1, to `most`."""
    try:
        count = None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        count = None
    if count is None or count < least:
        raise InputError(field, repr(value), f"give a whole number, {('zero', 'one')[least]} or more")
    if count > most:
        raise InputError(field, repr(value), f"give {least} to {most}")
    return count
