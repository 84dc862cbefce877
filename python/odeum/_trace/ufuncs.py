"""NumPy's universal functions of symbols and their arrays."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np

from odeum._trace.array import Array, Objects, cast, conditions, numeric, objects, truths, unwrap, wrap
from odeum._trace.elementwise import ELEMENTWISE, Function, where
from odeum._trace.names import nearest
from odeum._trace.refusal import Refusal
from odeum._trace.symbol import FLOAT, Symbol, is_condition

_SCALARS = (Symbol, float, int)
_INSTEAD = {
    "fmax": "write np.maximum",
    "fmin": "write np.minimum",
    "copysign": "write np.abs(a) * np.sign(b)",
    "signbit": "write x < 0",
    "ldexp": "write x * 2.0**k",
    "isfinite": "write np.abs(x) <= the largest number that makes sense",
}


def call(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """`ufunc.method(*inputs, **options)`."""
    name = ufunc.__name__
    if name in ("matmul", "vecdot"):
        from odeum._trace.linear import matmul, vecdot

        product = matmul if name == "matmul" else vecdot
        return _store(product(*map(objects, inputs)), options.get("out"), True)
    if name == "divmod":
        return tuple(call(part, method, inputs, options) for part in (np.floor_divide, np.remainder))
    function = ELEMENTWISE.get(name)
    if function is None:
        remedy = _INSTEAD.get(name, f"equations have no such function; {_others(name)}")
        if name.endswith(" (vectorized)"):
            remedy = "call it for each number, as np.vectorize(function) does"
        raise Refusal(f"{_spelling(name, ufunc)} of a symbol", remedy)
    if method == "__call__":
        if not options and all(isinstance(x, _SCALARS) for x in inputs):
            return function(*inputs)
        out, dtype = options.get("out"), options.get("dtype")
        if out is None and options.get("where", True) is not True:
            raise Refusal(
                f"np.{name} with `where` and no `out`, where the others have no value",
                "write np.where(condition, a, b)",
            )
        result = elementwise(function, *(x if dtype is None else cast(objects(x), dtype) for x in inputs))
        return _store(result, out, options.get("where", True))
    if method == "reduce":
        return reduce(name, objects(inputs[0]), *inputs[1:], **options)
    if method == "accumulate":
        return accumulate(name, objects(inputs[0]), *inputs[1:], **options)
    if method == "outer":
        a, b = map(objects, inputs)
        return elementwise(function, a.reshape(a.shape + (1,) * b.ndim), b)
    raise Refusal(f"np.{name}.{method} of symbols", "write a loop, or a sum of parts")


def _others(name: str) -> str:
    return nearest(name, [_spelling(other) for other in ELEMENTWISE])


def _spelling(name: str, ufunc: Any = None) -> str:
    """A universal function as one writes it: NumPy's, SciPy's, or another, which has a name alone."""
    for prefix, module in (("np", np), ("scipy.special", sys.modules.get("scipy.special"))):
        found = getattr(module, name, None)
        if found is not None and (ufunc is None or found is ufunc):
            return f"{prefix}.{name}"
    return name


def elementwise(function: Function, *inputs: Any) -> Any:
    """A function of numbers for each element of arrays that are broadcast together."""
    arrays = [objects(x) for x in inputs]
    return wrap(np.asarray(np.frompyfunc(function, len(arrays), 1)(*arrays), dtype=object))


def _store(result: Any, out: Any, mask: Any) -> Any:
    """Puts a result where the option `out` says."""
    if out is None or isinstance(out[0], Symbol):
        return result
    (target,) = out
    if isinstance(target, np.ndarray) and target.dtype != object:
        raise Refusal("symbols stored in an array of floats", FLOAT)
    if mask is not True:
        result = elementwise(where, mask, result, target)
    if isinstance(target, Array):
        target[...] = result
    else:
        target[...] = objects(result)
    return target


# What NumPy makes of elements before it reduces them.
_REDUCED = {
    "add": numeric,
    "multiply": numeric,
    "logical_and": truths,
    "logical_or": truths,
    "logical_xor": truths,
}


def _reduced(name: str, data: Objects, dtype: Any) -> Objects:
    data = data if dtype is None else cast(data, dtype)
    return _REDUCED.get(name, lambda kept: kept)(data)


def reduce(
    name: str,
    data: Objects,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """A function of two numbers from element to element along axes."""
    if where is not True:
        raise Refusal(f"np.{name}.reduce with `where`", "write np.where around the array")
    if initial is not None and conditions(data) and not is_condition(initial):
        # NumPy makes a whole number or a truth value of it.
        raise Refusal(f"np.{name}.reduce of conditions with `initial`", f"write np.{name}(initial, ...)")
    data, function = _reduced(name, data, dtype), ELEMENTWISE[name]
    # NumPy judges which axes there are.
    np.add.reduce(np.broadcast_to(0.0, data.shape), axis)
    axes = range(data.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(a % data.ndim if data.ndim else 0 for a in axes)
    if not axes or not data.ndim:
        return wrap(data)
    kept = [a for a in range(data.ndim) if a not in axes]
    moved = data.transpose(*kept, *axes).reshape(*[data.shape[a] for a in kept], -1)
    result = np.empty(moved.shape[:-1], dtype=object)
    start = {"add": 0.0, "multiply": 1.0, "logical_and": np.True_, "logical_or": np.False_}.get(name)
    for place in np.ndindex(result.shape):
        row = list(moved[place])
        if initial is not None:
            row.insert(0, initial)
        elif not row and start is not None:
            row = [start]
        result[place] = functools.reduce(function, row)
    if keepdims:
        result = result.reshape([1 if a in axes else n for a, n in enumerate(data.shape)])
    return _store(wrap(result), out if out is None or isinstance(out, tuple) else (out,), True)


def accumulate(name: str, data: Objects, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """A function of two numbers from element to element along an axis, with what it gives on the way."""
    result = np.moveaxis(_reduced(name, data, dtype).copy(), axis, 0)
    for k in range(1, len(result)):
        result[k] = unwrap(elementwise(ELEMENTWISE[name], result[k - 1], result[k]))
    return _store(wrap(np.moveaxis(result, 0, axis)), out, True)
