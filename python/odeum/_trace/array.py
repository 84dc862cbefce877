"""Arrays of symbols and numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from odeum._trace.elementwise import number, truth
from odeum._trace.names import nearest
from odeum._trace.refusal import Refusal, UnknownName
from odeum._trace.symbol import BRANCH, Symbol, Traced, is_condition

Objects = NDArray[np.object_]
Order = Literal["K", "A", "C", "F"] | None

# Methods that are functions of NumPy, and methods of arrays of any elements.
_FUNCTIONS = tuple("sum prod mean min max any all clip dot cumsum cumprod round var std".split())
_METHODS = tuple("reshape ravel transpose squeeze repeat take swapaxes diagonal".split())


class Array(Traced):
    """An array whose elements are numbers, or else conditions, as NumPy's in all else."""

    __slots__ = ("_data",)

    def __init__(self, data: Objects) -> None:
        self._data = data

    @property
    def shape(self) -> tuple[int, ...]:
        return self._data.shape

    @property
    def ndim(self) -> int:
        return self._data.ndim

    @property
    def size(self) -> int:
        return self._data.size

    @property
    def dtype(self) -> Any:
        return self._data.dtype

    @property
    def T(self) -> Array:
        return Array(self._data.T)

    @property
    def real(self) -> Array:
        return self

    @property
    def flat(self) -> Iterator[Any]:
        return iter(self._data.flat)

    def copy(self, order: Order = "C") -> Array:
        return Array(self._data.copy(order))

    def flatten(self, order: Order = "C") -> Array:
        return Array(self._data.flatten(order))

    def astype(self, dtype: Any, **options: Any) -> Array:
        data = cast(self._data, dtype)
        return Array(data.copy() if options.get("copy", True) else data)

    def tolist(self) -> Any:
        return self._data.tolist()

    def item(self, *place: Any) -> Any:
        return self._data.item(*place)

    def fill(self, value: Any) -> None:
        self[...] = value

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS:
            return lambda *given, **options: wrap(getattr(self._data, name)(*given, **options))
        if name not in _FUNCTIONS:
            raise UnknownName(
                f"`.{name}` of an array of symbols", f"it has {', '.join(_FUNCTIONS + _METHODS)}"
            )
        function = getattr(np, name)
        return lambda *given, **options: function(self, *given, **options)

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Array:
        return self.copy()

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[Any]:
        return map(wrap, iter(self._data))

    def __getitem__(self, key: Any) -> Any:
        _refuse_symbols(key)
        return wrap(self._data[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self._data.flags.writeable:
            raise Refusal(
                "values assigned to y", "f must not change y: assign to y.copy() or np.zeros_like(y)"
            )
        given = objects(value)
        given = truths(given) if conditions(self._data) else numeric(given)
        if isinstance(key, Array) and key.shape == self.shape and conditions(key._data) and not given.ndim:
            # Where a condition holds; elsewhere the values stay.
            self._data[...] = unwrap(np.where(key, given, self))
            return
        _refuse_symbols(key)
        self._data[key] = given if given.ndim else given.item()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        # Fails where the elements must be floats, with the remedy.
        copied = copy or not self._data.flags.writeable
        return self._data.astype(object if dtype is None else dtype, copy=bool(copied))

    def __bool__(self) -> bool:
        if self._data.size == 1:
            return bool(self._data.item())
        raise Refusal("a branch on an array of symbols", BRANCH)

    def __float__(self) -> float:
        if self._data.size == 1:
            return float(self._data.item())
        raise Refusal(f"an array of shape {self._data.shape} where a number is needed", "index it")

    def __index__(self) -> NoReturn:
        raise Refusal("an array of symbols as an index", "write np.where or np.select")

    def __repr__(self) -> str:
        return f"Array({self._data.tolist()})"


class States(Array):
    """The states, which have names too: `y.x` is the state x, whatever else x is of arrays."""

    __slots__ = ("_asked", "_names")

    def __init__(self, symbols: Sequence[Symbol], names: Sequence[str], asked: Callable[[], None]) -> None:
        data = np.empty(len(symbols), dtype=object)
        data[:] = symbols
        # Assigning to it or to its slices would be lost on the engine.
        data.flags.writeable = False
        super().__init__(data)
        self._names = {name: place for place, name in enumerate(names)}
        self._asked = asked

    def __getattribute__(self, name: str) -> Any:
        get = super().__getattribute__
        place = None if name.startswith("_") else get("_names").get(name)
        if place is None:
            return get(name)
        get("_asked")()
        return get("_data")[place]

    def __getattr__(self, name: str) -> Any:
        if name in _FUNCTIONS + _METHODS or name.startswith("_"):
            return super().__getattr__(name)
        raise UnknownName(f"`y.{name}`", f"no state has this name: {nearest(name, list(self._names))}")


def wrap(value: Any) -> Any:
    """Arrays of objects as arrays of symbols, in lists and tuples too, and their numbers as NumPy's; anything else as
    it is."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return Array(doubles(value)) if value.ndim else wrap(value.item())
    if isinstance(value, bool | float):
        return _double(value)
    if isinstance(value, list | tuple):
        return type(value)(map(wrap, value)) if not hasattr(value, "_fields") else value
    return value


def unwrap(value: Any) -> Any:
    """What NumPy takes: arrays of objects for arrays of symbols, in lists and tuples too."""
    if isinstance(value, Array):
        return value._data
    if isinstance(value, list | tuple):
        return type(value)(map(unwrap, value)) if not hasattr(value, "_fields") else value
    return value


def objects(value: Any) -> Objects:
    """Anything as an array of objects; numbers where there are numbers and conditions, as in NumPy."""
    data = doubles(np.asarray(unwrap(value), dtype=object))
    return numeric(data) if not isinstance(value, Array) and is_mixed(data) else data


def doubles(data: Objects) -> Objects:
    """The elements as arrays of doubles or truth values hold them; the same array where they are such already.

    Numbers of other types would keep theirs in arrays of objects: 2 * np.uint8(200) is 144.
    """
    return _each(_double, data) if any(map(_is_other, set(map(type, data.flat)))) else data


def _double(element: Any) -> Any:
    if not _is_other(type(element)):
        return element
    # Of Python's truth values ~ is another number.
    return np.bool_(element) if isinstance(element, bool) else np.float64(element)


def _is_other(kind: type) -> bool:
    return kind is not np.float64 and issubclass(kind, int | float | np.integer | np.floating)


def is_mixed(data: Objects) -> bool:
    """Whether there are numbers and conditions."""
    return len(set(map(is_condition, data.flat))) == 2


def conditions(data: Objects) -> bool:
    """Whether elements are conditions: all are, or none."""
    return data.size > 0 and all(map(is_condition, data.flat))


def numeric(data: Objects) -> Objects:
    """The elements with 1 and 0 for conditions, as sums count them."""
    return _each(number, data) if any(map(is_condition, data.flat)) else data


def truths(data: Objects) -> Objects:
    """Whether the elements are not 0."""
    return data if conditions(data) else _each(truth, data)


def _each(function: Callable[[Any], Any], data: Objects) -> Objects:
    return np.asarray(np.frompyfunc(function, 1, 1)(data), dtype=object)


def cast(data: Objects, dtype: Any) -> Objects:
    """The elements as numbers of a type."""
    kind = np.dtype(dtype).kind
    if kind == "O":
        return data
    if kind == "f" or (kind in "iu" and conditions(data)):
        return numeric(data)
    remedy = "write a != 0" if kind == "b" else "write np.floor or np.trunc; symbols are doubles"
    raise Refusal(f"symbols as {np.dtype(dtype)}", remedy)


def _refuse_symbols(key: Any) -> None:
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, Symbol | Array) or (isinstance(part, np.ndarray) and part.dtype == object):
            held = part if isinstance(part, Symbol) else next(iter(objects(part).flat), 0)
            what = "a condition" if is_condition(held) else "a symbol"
            raise Refusal(f"{what} as an index", "write np.where(condition, a, b), np.select or np.interp")
