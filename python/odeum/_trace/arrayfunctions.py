"""NumPy's functions of arrays that are no universal functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from odeum._trace import linear
from odeum._trace.array import Array, conditions, doubles, is_mixed, numeric, objects, truths, unwrap, wrap
from odeum._trace.elementwise import maximum, minimum, replaced, where
from odeum._trace.interpolation import interp
from odeum._trace.refusal import Refusal
from odeum._trace.symbol import Symbol
from odeum._trace.ufuncs import accumulate, elementwise, reduce


def call(function: Callable[..., Any], inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """`function(*inputs, **options)`: as it is written here, or as NumPy does it for arrays of objects."""
    own = _FUNCTIONS.get(function)
    if own is not None:
        return own(*inputs, **options)
    name = getattr(function, "__name__", str(function))
    if name in _REFUSED:
        raise Refusal(f"np.{name} of symbols", _REFUSED[name])
    if name not in _OF_OBJECTS:
        raise Refusal(f"np.{name} of symbols (it goes by the type of numbers, or by their values)", _REMEDY)
    return _by_numpy(function, inputs, options)


def _by_numpy(function: Callable[..., Any], inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """As NumPy does it for arrays of objects, whose elements need not be of one kind."""
    name = getattr(function, "__name__", str(function))
    target = objects(inputs[0]) if name in _IN_PLACE and inputs and isinstance(inputs[0], Array) else None
    held = target is not None and conditions(target)
    try:
        plain = {key: _plain(value) for key, value in options.items()}
        result = _elements(function(*map(_plain, inputs), **plain))
        if isinstance(result, np.ndarray) and result.dtype == object and is_mixed(result):
            if name not in _JOINED:
                raise TypeError("conditions and numbers")
            result = numeric(result)
        if target is not None:
            if is_mixed(target) or conditions(target) != held:
                raise TypeError("conditions and numbers")
            target[...] = doubles(target)
        return wrap(result)
    except (Refusal, TypeError) as error:
        said = error.found if isinstance(error, Refusal) else str(error)
        raise Refusal(f"np.{name} of symbols ({said})", _REMEDY) from error


def _plain(value: Any) -> Any:
    if value is float or value is np.float64:
        # A type asked for is that of the elements, which are objects here.
        return None
    if isinstance(value, list | tuple):
        return list(map(_plain, value)) if isinstance(value, list) else tuple(map(_plain, value))
    # Symbols would come back here.
    return objects(value) if isinstance(value, Symbol) else unwrap(value)


def _elements(value: Any) -> Any:
    """Arrays of objects with the symbols that NumPy left in arrays of their own, as in np.concatenate([y, [a]])."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        if any(isinstance(element, np.ndarray) for element in value.flat):
            return np.frompyfunc(lambda element: np.asarray(element, dtype=object).item(), 1, 1)(value)
    return value


_REMEDY = (
    "write it with +, *, np.where, np.sum and the like, of numbers (1.0*a for conditions a), or for constant arrays "
    "outside of f"
)
# What NumPy does for arrays of objects as for those of numbers: it moves the elements, or adds and multiplies them. Of
# others it may do nothing, as it replaces NaN in numbers alone.
_OF_OBJECTS = frozenset(
    """
    append apply_along_axis apply_over_axes array2string array_repr array_split array_str atleast_1d atleast_2d
    atleast_3d block broadcast_arrays broadcast_to column_stack compress concat concatenate convolve copy copyto
    correlate cross cumulative_prod cumulative_sum delete diag diag_indices_from diagflat diagonal dsplit dstack ediff1d
    einsum_path expand_dims extract fftshift fill_diagonal fix flip fliplr flipud hsplit hstack ifftshift imag inner
    insert iscomplex iscomplexobj isreal isrealobj kron matmul matrix_norm matrix_power matrix_transpose
    may_share_memory meshgrid moveaxis multi_dot outer permute_dims place polyadd polyder polyint polysub put
    put_along_axis putmask ravel real real_if_close repeat reshape resize result_type roll rollaxis rot90 shares_memory
    sliding_window_view split squeeze stack swapaxes take take_along_axis tensordot tile trace transpose trapezoid tril
    tril_indices_from triu triu_indices_from unstack vander vdot vecdot vector_norm vsplit vstack
    """.split()
)
# Conditions and numbers are numbers in the results of these; others make the kind of one array of all.
_JOINED = "append block column_stack concatenate dstack hstack stack vstack".split()
# And these change the elements of an array, which keeps its kind.
_IN_PLACE = "copyto fill_diagonal place put put_along_axis putmask".split()
_REFUSED = {
    "sort": "the order of symbols is not known; np.minimum and np.maximum sort two",
    "argmax": "which symbol is largest is not known; np.max and np.where are expressions",
    "argmin": "which symbol is smallest is not known; np.min and np.where are expressions",
    "nonzero": "write np.where(condition, a, b)",
    "piecewise": "write np.select(conditions, values)",
    "nansum": "write np.sum",
    "polymul": "write np.convolve",
    "linspace": "write a + (b - a) * np.linspace(0, 1, n)",
    "gradient": "write the differences, as in (v[2:] - v[:-2]) / (2 * h)",
}


def _where(condition: Any, *choices: Any) -> Any:
    if len(choices) != 2:
        raise Refusal("np.where with a condition alone", "write np.where(condition, a, b)")
    return elementwise(where, condition, *choices)


def _select(conditions: Any, choices: Any, default: Any = 0) -> Any:
    if len(conditions) != len(choices):
        raise ValueError(f"np.select of {len(conditions)} conditions and {len(choices)} values")
    result = default
    for condition, choice in zip(reversed(list(conditions)), reversed(list(choices)), strict=True):
        result = elementwise(where, condition, choice, result)
    return result


def _clip(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None
) -> Any:
    low, high = a_min if min is None else min, a_max if max is None else max
    result = a
    # An infinite bound is none.
    if low is not None and not (isinstance(low, float) and low == -math.inf):
        result = elementwise(maximum, result, low)
    if high is not None and not (isinstance(high, float) and high == math.inf):
        result = elementwise(minimum, result, high)
    if out is None:
        return result
    out[...] = result
    return out


def _reduction(name: str) -> Callable[..., Any]:
    def reduction(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, **options: Any) -> Any:
        return reduce(name, objects(a), axis, dtype, out, **options)

    return reduction


def _extremum(name: str) -> Callable[..., Any]:
    def extremum(a: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
        return _reduction(name)(a, axis, None, out, **options)

    return extremum


def _mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, **options: Any) -> Any:
    data = objects(a)
    if dtype is not None and np.dtype(dtype).kind not in "fO":
        raise Refusal(f"a mean as {np.dtype(dtype)}", "leave out dtype")
    total = _reduction("add")(a, axis, dtype, None, **options)
    mean = total / (data.size / max(np.size(total), 1))
    if out is None:
        return mean
    out[...] = mean
    return out


def _cumulative(name: str) -> Callable[..., Any]:
    def cumulative(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        data = objects(a).ravel() if axis is None else objects(a)
        return accumulate(name, data, axis or 0, dtype, None if out is None else (out,))

    return cumulative


def _filled(value: float) -> Callable[..., Any]:
    """`np.zeros_like` and the like: arrays that symbols can be assigned to."""

    def filled(
        a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **_: Any
    ) -> Any:
        return _full_like(a, value, dtype, shape=shape)

    return filled


def _full_like(a: Any, fill_value: Any, dtype: Any = None, *_: Any, shape: Any = None, **__: Any) -> Any:
    kind, holds = "" if dtype is None else np.dtype(dtype).kind, conditions(objects(a))
    if kind not in ("", "f", "O") or (kind == "O" and holds):
        raise Refusal(f"an array of {np.dtype(dtype)} like symbols", "leave out dtype")
    data = np.empty(np.shape(a) if shape is None else shape, dtype=object)
    data[...] = (truths if holds and not kind else numeric)(objects(fill_value))
    return Array(data) if data.ndim else data.item()


def _empty_like(a: Any, dtype: Any = None, *_: Any, shape: Any = None, **__: Any) -> Any:
    if dtype is None and conditions(objects(a)):
        raise Refusal("np.empty_like of conditions", "write np.zeros_like")
    # NaN, so that what was never assigned is found.
    return _full_like(a, math.nan, dtype, shape=shape)


def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    largest, least = (_extremum(name)(a, axis, keepdims=keepdims) for name in ("maximum", "minimum"))
    return np.subtract(largest, least, out=out)


# What NumPy puts there for numbers alone.
_PADS_OF_NUMBERS = "empty linear_ramp maximum median minimum".split()


def _pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    if mode in _PADS_OF_NUMBERS:
        remedy = "write np.concatenate([a, b]), where b has what is to stand there, as [np.max(a)]"
        raise Refusal(f"np.pad of symbols with mode={mode!r}", remedy)
    return _by_numpy(np.pad, (array, pad_width, mode), options)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    return linear.norm(objects(x), ord, axis, keepdims)


def _dot(a: Any, b: Any, out: Any = None) -> Any:
    result = linear.dot(objects(a), objects(b))
    if out is None:
        return result
    out[...] = result
    return out


def _counted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes conditions for numbers."""
    return lambda a, *given, **options: _by_numpy(function, (numeric(objects(a)), *given), options)


def _einsum(subscripts: Any, *operands: Any, **options: Any) -> Any:
    linear.refuse_conditions(*map(objects, operands))
    return wrap(np.einsum(subscripts, *(numeric(objects(operand)) for operand in operands)))


def _diff(a: Any, n: int = 1, axis: int = -1, **options: Any) -> Any:
    if conditions(objects(a)):
        raise Refusal("np.diff of conditions", "write a[1:] ^ a[:-1], or np.diff(1.0*a)")
    return wrap(np.diff(objects(a), n, axis, **{key: unwrap(x) for key, x in options.items()}))


def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    scale = 10.0**decimals
    result = np.rint(a) if decimals == 0 else np.rint(a * scale) / scale
    if out is None:
        return result
    out[...] = result
    return out


def _nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    largest = float(np.finfo(np.float64).max)
    posinf, neginf = largest if posinf is None else posinf, -largest if neginf is None else neginf
    result = elementwise(replaced, x, nan, posinf, neginf)
    if copy or not isinstance(x, Array):
        return result
    x[...] = result
    return x


def _polyval(p: Any, x: Any) -> Any:
    linear.refuse_conditions(objects(p), objects(x))
    return _by_numpy(np.polyval, (p, x), {})


def _sinc(x: Any) -> Any:
    angle = np.multiply(math.pi, x)
    return np.where(np.equal(x, 0.0), 1.0, np.sin(angle) / angle)


def _shape(a: Any) -> tuple[int, ...]:
    return () if isinstance(a, Symbol) else objects(a).shape


def _size(a: Any, axis: Any = None) -> int:
    return int(np.size(objects(a), axis))


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where,
    np.select: _select,
    np.clip: _clip,
    np.interp: interp,
    np.sum: _reduction("add"),
    np.prod: _reduction("multiply"),
    np.any: _reduction("logical_or"),
    np.all: _reduction("logical_and"),
    np.max: _extremum("maximum"),
    np.amax: _extremum("maximum"),
    np.min: _extremum("minimum"),
    np.amin: _extremum("minimum"),
    np.mean: _mean,
    np.average: _counted(np.average),
    np.var: _counted(np.var),
    np.std: _counted(np.std),
    np.cumsum: _cumulative("add"),
    np.cumprod: _cumulative("multiply"),
    np.zeros_like: _filled(0.0),
    np.ones_like: _filled(1.0),
    np.empty_like: _empty_like,
    np.full_like: _full_like,
    np.dot: _dot,
    np.linalg.norm: _norm,
    np.einsum: _einsum,
    np.diff: _diff,
    np.ptp: _ptp,
    np.pad: _pad,
    np.round: _round,
    np.around: _round,
    np.nan_to_num: _nan_to_num,
    np.polyval: _polyval,
    np.sinc: _sinc,
    np.shape: _shape,
    np.ndim: lambda a: len(_shape(a)),
    np.size: _size,
}
