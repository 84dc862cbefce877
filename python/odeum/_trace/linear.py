"""Products of matrices and vectors with symbols."""

from __future__ import annotations

from typing import Any

import numpy as np

from odeum._trace.array import Array, Objects, conditions, numeric, objects, wrap
from odeum._trace.elementwise import add, multiply, sqrt, square
from odeum._trace.refusal import Refusal
from odeum._trace.symbol import Symbol, constant
from odeum._trace.ufuncs import elementwise


def _inner(row: Objects, column: Objects) -> Any:
    """The sum of products; a factor that is the number 0 has none, so that sparse matrices stay sparse."""
    total: Any = 0.0
    for a, b in zip(row, column, strict=True):
        if not _is_zero(a) and not _is_zero(b):
            total = add(total, multiply(a, b))
    return total


def _is_zero(value: Any) -> bool:
    return not isinstance(value, Symbol) and value == 0


def refuse_conditions(*operands: Objects) -> None:
    """The sum of products of truth values alone is one in NumPy, as it is not for objects."""
    if all(map(conditions, operands)):
        raise Refusal("a product of arrays of conditions", "write (1.0*a) @ b, or np.any(a & b)")


def matmul(a: Objects, b: Objects) -> Any:
    """`a @ b`."""
    refuse_conditions(a, b)
    for operand in (a, b):
        if not operand.ndim:
            if not isinstance(operand.item(), Symbol):
                # A sparse matrix is no number either.
                constant(operand.item())
            raise ValueError("`@` is of arrays: a number multiplies by `*`")
    left = numeric(a)[None, :] if a.ndim == 1 else numeric(a)
    right = numeric(b)[:, None] if b.ndim == 1 else numeric(b)
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(f"shapes {a.shape} and {b.shape} do not go together in a product of matrices")
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left = np.broadcast_to(left, batch + left.shape[-2:])
    right = np.broadcast_to(right, batch + right.shape[-2:])
    result = np.empty((*batch, left.shape[-2], right.shape[-1]), dtype=object)
    for place in np.ndindex(batch):
        for i, row in enumerate(left[place]):
            for j, column in enumerate(right[place].T):
                result[(*place, i, j)] = _inner(row, column)
    if b.ndim == 1:
        result = result[..., 0]
    if a.ndim == 1:
        result = result[..., 0] if b.ndim == 1 else result[..., 0, :]
    return wrap(result)


def vecdot(a: Objects, b: Objects) -> Any:
    """Products of vectors along the last axis."""
    refuse_conditions(a, b)
    a, b = np.broadcast_arrays(numeric(a), numeric(b))
    result = np.empty(a.shape[:-1], dtype=object)
    for place in np.ndindex(result.shape):
        result[place] = _inner(a[place], b[place])
    return wrap(result)


def dot(a: Objects, b: Objects) -> Any:
    """`np.dot`."""
    if not a.ndim or not b.ndim:
        return elementwise(multiply, a, b)
    if b.ndim <= 2:
        return matmul(a, b)
    # Sums over the last axis of a and the last but one of b.
    last = np.moveaxis(b, -2, 0)
    flat = matmul(a, last.reshape(last.shape[0], -1))
    return wrap(objects(flat).reshape(a.shape[:-1] + last.shape[1:]))


def norm(x: Objects, order: Any, axis: Any, keepdims: bool) -> Any:
    """`np.linalg.norm` of vectors, and the Frobenius norm."""
    x = numeric(x)
    absolute = np.abs(Array(x))
    along_one = x.ndim == 1 or not isinstance(axis, tuple | None)
    if order in (1, np.inf) and along_one:
        function = np.sum if order == 1 else np.max
        return function(absolute, axis=axis, keepdims=keepdims)
    if order is None or order == "fro" or (order == 2 and along_one):
        squares = elementwise(square, x)
        return elementwise(sqrt, np.sum(squares, axis=axis, keepdims=keepdims))
    raise ValueError(f"the norm of order {order} of an array of symbols of shape {x.shape} is not available")
