"""What a function reads beside its arguments, by its code."""

from __future__ import annotations

import builtins
import dis
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeGuard

import numpy as np

# Their values follow from their arguments: they read no file, no clock, no generator of random numbers, no name, and
# nothing that somebody else can change.
_BUILTINS = """
    abs all any bool complex dict divmod enumerate filter float frozenset int isinstance iter len list map max min next
    pow range reversed round set slice sorted str sum tuple zip
""".split()
_NUMPY = """
    abs absolute acos acosh add all amax amin any append arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh
    array asarray asin asinh atan atan2 atanh atleast_1d atleast_2d average bitwise_and bitwise_or bitwise_xor block
    bool_ broadcast_arrays broadcast_to cbrt ceil clip column_stack concat concatenate conj conjugate convolve copy
    copysign cos cosh cross cumprod cumsum deg2rad degrees diag diagonal diff divide divmod dot dstack e einsum equal
    euler_gamma exp exp2 expand_dims expm1 eye fabs flip float32 float64 float_power floor floor_divide fmax fmin fmod
    full full_like geomspace gradient greater greater_equal heaviside hstack hypot identity inf inner int32 int64 interp
    invert isclose isfinite isinf isnan kron less less_equal linspace log log10 log1p log2 logaddexp logical_and
    logical_not logical_or logical_xor logspace matmul max maximum mean median meshgrid min minimum mod moveaxis nan
    nan_to_num ndim negative newaxis not_equal ones ones_like outer pad permute_dims pi polyval positive pow
    power prod ptp rad2deg radians ravel real reciprocal remainder repeat reshape rint roll rot90 round select shape
    sign sin sinc sinh size split sqrt square squeeze stack std subtract sum swapaxes take tan tanh tensordot tile trace
    transpose trapezoid tril triu true_divide trunc var vdot vstack where zeros zeros_like
""".split()
# Of arrays, symbols, numbers and lists.
_ATTRIBUTES = frozenset(
    """
    T all any append astype clip conj conjugate copy cumprod cumsum diagonal dot dtype extend flatten imag index insert
    item max mean min ndim pop prod ravel real repeat reshape reverse round shape size sort squeeze std sum swapaxes
    take tolist trace transpose var
    """.split()
)
# As they were when this was imported: whoever puts something else in their place may do so again.
_PURE_BUILTINS = {name: getattr(builtins, name) for name in _BUILTINS}
_PURE_NUMPY = {name: getattr(np, name) for name in _NUMPY if hasattr(np, name)}

_NOTHING = object()

# Of these only the start is looked at, so that tables of measured values cost nothing.
_MOST_ELEMENTS, _MOST_VALUES = 64, 2048
# Larger numbers are bounds and constants of nature rather than values that something is compared with.
_LARGEST = 1e12
_LIBRARIES = sys.stdlib_module_names - {"__main__"} | {"numpy", "odeum", "pandas", "scipy", "sympy", "xarray"}


@dataclass(frozen=True)
class _Global:
    """A name that is none of the code's own, and the attribute of it that the code asks for at once."""

    name: str
    attribute: str | None


def reads_nothing_else(f: Callable[..., Any]) -> TypeGuard[FunctionType]:
    """True of a plain function whose values follow from its arguments alone, in every call.

    Such a function names nothing but pure builtins and pure functions and constants of NumPy. Of all others it is not
    known: a name may be bound to something else, a file have other contents, a list other elements.
    """
    if not isinstance(f, FunctionType) or f.__closure__ or f.__defaults__ or f.__kwdefaults__:
        return False
    names = _globals(f.__code__)
    return names is not None and all(_is_pure(f, each) for each in names)


def _is_pure(f: FunctionType, name: _Global) -> bool:
    value = f.__globals__.get(name.name, _NOTHING)
    if value is np and name.attribute in _PURE_NUMPY:
        return getattr(np, name.attribute, _NOTHING) is _PURE_NUMPY[name.attribute]
    if value is _NOTHING:
        value = getattr(f, "__builtins__", vars(builtins)).get(name.name, _NOTHING)
    return name.attribute is None and name.name in _PURE_BUILTINS and value is _PURE_BUILTINS[name.name]


@lru_cache(maxsize=256)
def _globals(code: CodeType) -> tuple[_Global, ...] | None:
    """What code names; `None` where it has other code in it, binds names outside of itself, or asks for attributes
    that may lead anywhere."""
    if any(isinstance(constant, CodeType) for constant in code.co_consts):
        return None
    found: list[_Global] = []
    # Whether the step before brought something global, and whether it was an attribute of that.
    is_global = is_part = False
    for step in dis.get_instructions(code):
        if step.opname == "EXTENDED_ARG":
            continue
        before, part_before = is_global, is_part
        is_global = is_part = False
        if step.opcode not in dis.hasname:
            continue
        if step.opname == "LOAD_GLOBAL":
            found.append(_Global(step.argval, None))
            is_global = True
        elif step.opname not in ("LOAD_ATTR", "LOAD_METHOD") or part_before:
            return None
        elif before:
            found[-1] = _Global(found[-1].name, step.argval)
            is_part = True
        elif step.argval not in _ATTRIBUTES:
            return None
    return tuple(found)


def numbers_of(f: Callable[..., Any]) -> list[float]:
    """Numbers that a function may compare its arguments with: those of its code and of functions it names, and those
    that it reads beside its arguments, among them keys."""
    found: dict[float, None] = {}
    seen: set[int] = set()
    names: set[str] = set()
    waiting: deque[Any] = deque([f])
    while waiting and len(seen) < _MOST_VALUES:
        value = waiting.popleft()
        if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
            if -_LARGEST <= value <= _LARGEST:
                found[float(value)] = None
        elif id(value) not in seen:
            seen.add(id(value))
            waiting.extend(_parts(value, names))
    return list(found)


def _parts(value: Any, names: set[str]) -> Iterator[Any]:
    """What a value has that code may read; `names` are those in the code met so far."""
    match value:
        case str() | bytes() | None | type():
            pass
        case CodeType():
            yield from value.co_consts
        case FunctionType():
            if _is_of_library(value.__module__):
                return
            yield value.__code__
            yield from value.__defaults__ or ()
            yield from (value.__kwdefaults__ or {}).values()
            for cell in value.__closure__ or ():
                # Of a name that has no value yet it is empty.
                with suppress(ValueError):
                    yield cell.cell_contents
            read = set(_names(value.__code__))
            names.update(read)
            yield from (value.__globals__.get(name) for name in sorted(read))
        case MethodType():
            yield from (value.__func__, value.__self__)
        case partial():
            yield from (value.func, value.args, value.keywords)
        case dict():
            for pair in islice(value.items(), _MOST_ELEMENTS):
                yield from pair
        case list() | tuple() | set() | frozenset():
            yield from islice(value, _MOST_ELEMENTS)
        case np.ndarray():
            yield from value.flat[:_MOST_ELEMENTS].tolist()
        case ModuleType():
            if not _is_of_library(value.__name__):
                yield from (vars(value).get(name) for name in sorted(names))
        case _ if _is_of_library(type(value).__module__):
            # What `functools.cache` makes of a function.
            yield getattr(value, "__wrapped__", None)
        case _:
            for each in (getattr(value, "__dict__", {}), vars(type(value))):
                yield from islice(each.values(), _MOST_ELEMENTS)


def _is_of_library(module: Any) -> bool:
    return str(module).partition(".")[0] in _LIBRARIES


def _names(code: CodeType) -> Iterator[str]:
    """Names in code, and in the code that this has in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
