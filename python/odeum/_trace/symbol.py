"""A number that is not known yet: what states, parameters and the time are while a function is traced."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from odeum._trace.operations import NOT_EQUAL, SELECT, Operation
from odeum._trace.record import Record
from odeum._trace.refusal import SPARSE, Refusal, UnknownName

BRANCH = "write np.where(condition, a, b), np.minimum or np.maximum; make arrays of symbols by np.stack"
FLOAT = "write np.exp for math.exp, np.zeros_like(y) for np.zeros(n), and no dtype=float"
_LOOKUP = "np.select([np.floor(t) == 8, ...], [a, ...], default)"


class Traced(NDArrayOperatorsMixin):
    """What NumPy's functions are recorded for. The operators come from the mixin, which calls them."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        from odeum._trace.ufuncs import call

        return call(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        from odeum._trace.arrayfunctions import call

        return call(function, inputs, options)


class Symbol(Traced):
    """An expression: a number, or a condition.

    Attributes
    ----------
    record : Record
        Where the expression is.
    number : int
        Which one it is there.
    """

    __slots__ = ("number", "record")
    shape: tuple[()] = ()
    ndim = 0
    size = 1
    dtype = np.dtype(object)

    def __init__(self, record: Record, number: int) -> None:
        self.record = record
        self.number = number

    @property
    def real(self) -> Symbol:
        return self

    def conjugate(self) -> Symbol:
        return self

    def item(self) -> Symbol:
        return self

    def astype(self, dtype: Any, **options: Any) -> Any:
        from odeum._trace.array import cast, objects

        return cast(objects(self), dtype).item()

    def __getattr__(self, name: str) -> Any:
        # Arrays of objects call methods with the names of functions.
        from odeum._trace.elementwise import ELEMENTWISE

        if name.startswith("_") or name not in ELEMENTWISE:
            raise UnknownName(f"`.{name}` of a symbol", f"a symbol is a number; write np.{name}(...)")
        return lambda *others: ELEMENTWISE[name](self, *others)

    def __copy__(self) -> Symbol:
        return self

    def __deepcopy__(self, memo: Any) -> Symbol:
        return self

    def __floor__(self) -> Any:
        return np.floor(self)

    def __ceil__(self) -> Any:
        return np.ceil(self)

    def __trunc__(self) -> Any:
        return np.trunc(self)

    def __round__(self, digits: int | None = None) -> Any:
        return np.rint(self) if not digits else np.rint(self * 10.0**digits) / 10.0**digits

    def __bool__(self) -> NoReturn:
        self._refuse("a branch on a symbol", BRANCH)

    def __float__(self) -> NoReturn:
        self._refuse("a symbol where a number is needed", FLOAT)

    def __complex__(self) -> NoReturn:
        self._refuse("a symbol where a complex number is needed", "split it into real equations")

    def __int__(self) -> NoReturn:
        self._refuse("int() of a symbol", f"write np.floor or np.trunc; {_LOOKUP} looks values up")

    def __index__(self) -> NoReturn:
        self._refuse("a symbol as an index or a count", "write np.where, np.select or np.interp")

    def __hash__(self) -> NoReturn:
        # Which of the keys it is equal to is not known.
        remedy = (
            f"write {_LOOKUP}, np.where or np.interp; under functools.cache the function is f.__wrapped__"
        )
        self._refuse("a symbol as a key of a dict or a set", remedy)

    def _refuse(self, found: str, remedy: str) -> NoReturn:
        raise self.record.refusal(found, remedy)

    def __repr__(self) -> str:
        from odeum._trace.text import write

        definitions, (text,) = write(self.record, [self.number], ())
        where = "".join(f", {name} = {value}" for name, value in definitions.items())
        return f"<{text}{where}>"


def is_condition(value: Any) -> bool:
    """Whether a value is true or false rather than a number."""
    if isinstance(value, Symbol):
        return value.record.is_condition(value.number)
    return isinstance(value, bool | np.bool_)


def constant(value: Any) -> float:
    """A number that expressions can have."""
    if isinstance(value, complex | np.complexfloating):
        raise Refusal(f"the complex number {value}", "write equations for real and imaginary parts")
    if isinstance(value, str | bytes):
        raise Refusal(f"the text {value!r}", "give a number")
    try:
        x = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        remedy = SPARSE if hasattr(value, "toarray") else "give a number"
        raise Refusal(f"{type(value).__name__} ({error})", remedy) from error
    if not math.isfinite(x):
        remedy = "equations have finite numbers; np.empty_like(y) has no values until they are assigned"
        raise Refusal(f"the number {x}", remedy)
    return x


def as_number(record: Record, value: Any) -> int:
    """The expression of a number; conditions are 1 where they hold and 0 elsewhere."""
    if not isinstance(value, Symbol):
        return record.constant(constant(value))
    _same(record, value)
    if not record.is_condition(value.number):
        return value.number
    return record.apply(SELECT, value.number, record.constant(1.0), record.constant(0.0))


def as_condition(record: Record, value: Any) -> int:
    """The expression of a condition; numbers hold where they are not 0."""
    if isinstance(value, Symbol) and record.is_condition(value.number):
        _same(record, value)
        return value.number
    return record.apply(NOT_EQUAL, as_number(record, value), record.constant(0.0))


def _same(record: Record, symbol: Symbol) -> None:
    if symbol.record is not record:
        raise Refusal("a symbol of another call", "keep no values between calls of f")


def apply(operation: Operation, *operands: Any) -> Any:
    """An operation on symbols and numbers; a number where there is no symbol."""
    for operand in operands:
        if isinstance(operand, Symbol):
            record = operand.record
            break
    else:
        return operation.evaluate(*operands)
    numbers = [
        as_number(record, operand) if kind == "n" else as_condition(record, operand)
        for kind, operand in zip(operation.takes, operands, strict=True)
    ]
    return Symbol(record, record.apply(operation, *numbers))
