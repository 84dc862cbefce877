"""What a function reads beside its arguments, by its code."""

from __future__ import annotations

import builtins
import dis
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType
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
    return name.attribute is None and value is _PURE_BUILTINS.get(name.name, f)


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
