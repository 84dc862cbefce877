"""NumPy's functions of numbers, written in operations."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from odeum._trace import operations as op
from odeum._trace.refusal import Refusal
from odeum._trace.symbol import Symbol, apply, is_condition

Function = Callable[..., Any]

negative, absolute, floor = (partial(apply, o) for o in (op.NEGATE, op.ABSOLUTE, op.FLOOR))
subtract, divide, exp, ln, sqrt = (
    partial(apply, o) for o in (op.SUBTRACT, op.DIVIDE, op.EXP, op.LN, op.SQRT)
)
add, power = (partial(apply, o) for o in (op.ADD, op.RAISE))
sin, tanh, atan = (partial(apply, o) for o in (op.SIN, op.TANH, op.ATAN))
less, greater, equal = (partial(apply, o) for o in (op.LESS, op.GREATER, op.EQUAL))


def number(x: Any) -> Any:
    """1 and 0 for truth values."""
    if not is_condition(x):
        return x
    return apply(op.SELECT, x, 1.0, 0.0) if isinstance(x, Symbol) else float(x)


def truth(x: Any) -> Any:
    """Whether a number is not 0."""
    return x if is_condition(x) else apply(op.NOT_EQUAL, x, 0.0)


def _of_two(operation: op.Operation, logical: Function) -> Function:
    """An operation on numbers that is a logical one on truth values."""

    def of_two(a: Any, b: Any) -> Any:
        return logical(a, b) if is_condition(a) and is_condition(b) else apply(operation, a, b)

    return of_two


def _kept(function: Function) -> Function:
    """A function of numbers that gives back 0 and 1, and so truth values."""
    return lambda x: x if is_condition(x) else function(x)


def square(x: Any) -> Any:
    return power(x, 2.0)


def scale(factor: float, x: Any) -> Any:
    return apply(op.MULTIPLY, factor, x)


def where(condition: Any, a: Any, b: Any) -> Any:
    if is_condition(a) and is_condition(b):
        return logical_or(logical_and(condition, a), logical_and(logical_not(condition), b))
    if not isinstance(condition, Symbol):
        return number(a if condition else b)
    return apply(op.SELECT, condition, a, b)


def logical_and(a: Any, b: Any) -> Any:
    for one, other in ((a, b), (b, a)):
        if not isinstance(one, Symbol):
            return logical_not(logical_not(other)) if one else np.False_
    return apply(op.BOTH, a, b)


def logical_or(a: Any, b: Any) -> Any:
    for one, other in ((a, b), (b, a)):
        if not isinstance(one, Symbol):
            return np.True_ if one else logical_not(logical_not(other))
    return apply(op.EITHER, a, b)


def logical_not(a: Any) -> Any:
    if isinstance(a, Symbol) and (node := a.record.nodes[a.number])[0] is op.NOT:
        return Symbol(a.record, node[1][0])
    return apply(op.NOT, a)


def logical_xor(a: Any, b: Any) -> Any:
    return logical_and(logical_or(a, b), logical_not(logical_and(a, b)))


multiply = _of_two(op.MULTIPLY, logical_and)
minimum, maximum = _of_two(op.MINIMUM, logical_and), _of_two(op.MAXIMUM, logical_or)


def _bits(name: str, logical: Function) -> Function:
    """`&`, `|`, `^` and `~`, which are of conditions alone."""

    def bitwise(*operands: Any) -> Any:
        if not all(map(is_condition, operands)):
            raise Refusal(
                f"np.{name} of numbers", "compare them first, as in (a > 0) & (b > 0); a power is **"
            )
        return logical(*operands)

    return bitwise


def _divided(a: Any, b: Any) -> tuple[Any, Any]:
    """|a| by |b|: the whole quotient and the remainder, to the last bit; NaN where the quotient has more bits than a
    number, or the divisor is within a factor of 2²⁷ of the largest one.

    Halves of the quotient and of the divisor have products without rounding (Dekker 1971), so that what is left of |a|
    after each of them is exact, whether the engine fuses it with the product or not.
    """
    x, d = absolute(a), absolute(b)
    # 1 / d is a reciprocal, which GPUs do not round to the nearest number.
    one = not isinstance(x, Symbol) and x == 1.0
    is_less = less(x, d)
    rounded = where(is_less, 0.0, floor(divide(2.0, scale(2.0, d)) if one else divide(x, d)))
    above = add(rounded, 1.0)
    # A number of single precision has half as many bits, and does not see 2⁻⁴⁰ beside 1.
    is_single = equal(add(above, scale(2.0**-40, above)), above)
    half = where(is_single, 2.0**12, 2.0**27)
    high = multiply(half, floor(divide(rounded, half)))
    low = subtract(rounded, high)
    split = multiply(add(half, 1.0), d)
    front = subtract(split, subtract(split, d))
    back = subtract(d, front)
    rest = x
    for part in (high, low):
        for piece in (front, back):
            rest = subtract(rest, multiply(part, piece))
    rest = where(is_less, x, rest)
    # The quotient was rounded up to the next whole number.
    over = less(rest, 0.0)
    whole, rest = where(over, subtract(rounded, 1.0), rounded), where(over, add(rest, d), rest)
    fits = logical_and(equal(subtract(above, rounded), 1.0), equal(rest, rest))
    none = sqrt(negative(above))
    return where(fits, whole, none), where(fits, rest, none)


def _by_symbols(function: Any) -> Callable[[Function], Function]:
    """Leaves numbers to NumPy."""

    def chosen(of_symbols: Function) -> Function:
        def divided(a: Any, b: Any) -> Any:
            has_symbol = isinstance(a, Symbol) or isinstance(b, Symbol)
            return of_symbols(a, b) if has_symbol else function(a, b)

        return divided

    return chosen


@_by_symbols(np.floor_divide)
def floor_divide(a: Any, b: Any) -> Any:
    whole, rest = _divided(a, b)
    below = where(greater(rest, 0.0), add(whole, 1.0), whole)
    result = where(_signs_differ(a, b), negative(below), whole)
    # By zero it is infinite.
    return where(equal(b, 0.0), divide(a, b), result) if isinstance(b, Symbol) or b == 0.0 else result


@_by_symbols(np.remainder)
def remainder(a: Any, b: Any) -> Any:
    """Of the sign of b, as Python's."""
    rest = _divided(a, b)[1]
    other = logical_and(_signs_differ(a, b), greater(rest, 0.0))
    rest = where(other, subtract(absolute(b), rest), rest)
    return where(less(b, 0.0), negative(rest), rest)


@_by_symbols(np.fmod)
def fmod(a: Any, b: Any) -> Any:
    """Of the sign of a, as C's."""
    rest = _divided(a, b)[1]
    return where(less(a, 0.0), negative(rest), rest)


def _signs_differ(a: Any, b: Any) -> Any:
    return logical_xor(less(a, 0.0), less(b, 0.0))


def ceil(x: Any) -> Any:
    return negative(floor(negative(x)))


def trunc(x: Any) -> Any:
    return where(less(x, 0.0), ceil(x), floor(x))


def rint(x: Any) -> Any:
    """The nearest integer; of two, the even one."""
    low = floor(x)
    rest = subtract(x, low)
    even = equal(low, scale(2.0, floor(scale(0.5, low))))
    up = logical_or(greater(rest, 0.5), logical_and(equal(rest, 0.5), logical_not(even)))
    return where(up, add(low, 1.0), low)


def _is_finite(x: Any) -> Any:
    # Nothing times infinity is no number.
    return equal(scale(0.0, x), 0.0)


def replaced(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    """Numbers in place of NaN and infinities, which stay where these are no numbers themselves."""
    if is_condition(x):
        return x
    if not isinstance(x, Symbol):
        return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
    nan, posinf, neginf = (
        value if isinstance(value, Symbol) or math.isfinite(value) else x for value in (nan, posinf, neginf)
    )
    infinite = where(less(x, 0.0), neginf, posinf)
    return where(_is_finite(x), x, where(equal(x, x), infinite, nan))


def sign(x: Any) -> Any:
    # Nothing times x, so that of NaN it is NaN.
    return where(less(x, 0.0), -1.0, where(greater(x, 0.0), 1.0, scale(0.0, x)))


def heaviside(x: Any, at_zero: Any) -> Any:
    return where(less(x, 0.0), 0.0, where(greater(x, 0.0), 1.0, add(at_zero, scale(0.0, x))))


def hypot(a: Any, b: Any) -> Any:
    """Of the larger, whose square may be no number, times a root near 1."""
    x, y = absolute(a), absolute(b)
    longer = maximum(x, y)
    ratio = divide(minimum(x, y), longer)
    of_numbers = multiply(longer, sqrt(add(1.0, square(ratio))))
    return where(equal(longer, 0.0), 0.0, where(_is_finite(longer), of_numbers, longer))


def arctan2(y: Any, x: Any) -> Any:
    """As the mathematical function: zeros have no sign."""
    # Of the quotient that is not above one, so that its derivative is a number.
    near = where(logical_and(equal(x, 0.0), equal(y, 0.0)), 0.0, atan(divide(y, x)))
    left = where(less(y, 0.0), subtract(near, math.pi), add(near, math.pi))
    upright = subtract(scale(math.pi / 2, sign(y)), atan(divide(x, y)))
    return where(greater(absolute(y), absolute(x)), upright, where(less(x, 0.0), left, near))


def expm1(x: Any) -> Any:
    """tanh(x/2) (eˣ + 1), in which nothing cancels."""
    return multiply(tanh(scale(0.5, x)), add(exp(x), 1.0))


def log1p(x: Any) -> Any:
    """Of u = 1 + x as it is rounded, ln u / (u - 1) is accurate, and so is its product with x."""
    u = add(1.0, x)
    # Infinity divided by itself is no number.
    ratio = where(equal(u, x), 1.0, divide(x, subtract(u, 1.0)))
    return where(equal(u, 1.0), x, multiply(ln(u), ratio))


def _odd(positive: Function) -> Function:
    """A function whose values for -x are those for x with the other sign."""

    def odd(x: Any) -> Any:
        value = positive(absolute(x))
        return where(less(x, 0.0), negative(value), value)

    return odd


@_odd
def arcsinh(x: Any) -> Any:
    """ln 2x where x² + 1 is x², and may be no number."""
    squared = square(x)
    near = log1p(add(x, divide(squared, add(1.0, sqrt(add(squared, 1.0))))))
    return where(greater(x, 2.0**28), add(ln(x), math.log(2.0)), near)


def arccosh(x: Any) -> Any:
    """Twice that of √((x + 1)/2), which squares nothing, and is no number below 1."""
    half = scale(0.5, subtract(x, 1.0))
    more = divide(half, add(1.0, sqrt(add(1.0, half))))
    return scale(2.0, log1p(add(sqrt(half), more)))


@_odd
def arctanh(x: Any) -> Any:
    return scale(0.5, log1p(divide(scale(2.0, x), subtract(1.0, x))))


def logaddexp(a: Any, b: Any) -> Any:
    larger = maximum(a, b)
    more = log1p(exp(subtract(minimum(a, b), larger)))
    return where(_is_finite(larger), add(larger, more), larger)


def expit(x: Any) -> Any:
    return divide(1.0, add(1.0, exp(negative(x))))


def logit(x: Any) -> Any:
    """ln x/(1 - x), near its zero by log1p."""
    rest = subtract(1.0, x)
    near = log1p(divide(subtract(scale(2.0, x), 1.0), rest))
    return where(less(absolute(subtract(x, 0.5)), 0.2), near, ln(divide(x, rest)))


def _times(logarithm: Function) -> Function:
    """A number times a logarithm: zero where the number is, even if there is no logarithm."""

    def times(x: Any, y: Any) -> Any:
        value = logarithm(y)
        is_none = logical_and(logical_and(equal(x, 0.0), equal(y, y)), logical_not(_is_finite(value)))
        return where(is_none, 0.0, multiply(x, value))

    return times


# What to write for conditions a and b.
_INSTEAD = {
    "add": "write a | b; or, to count them, 1.0*a + 1.0*b or np.sum(np.stack([a, b]))",
    "subtract": "write a ^ b, or 1.0*a - 1.0*b",
}


def _as_in_numpy(name: str, function: Function) -> Function:
    """Refuses operands that are all truth values, unless NumPy gives a truth value or a double of them.

    Of others it has bytes, which overflow, or half precision, or nothing. And their sum is "or" for NumPy's truth
    values and a count for Python's, and for those that NumPy made numbers in an array: which ones these are, an array
    of objects does not say.
    """
    ufunc = getattr(np, name, None)
    try:
        kind = ufunc and ufunc.resolve_dtypes((np.dtype(bool),) * ufunc.nin + (None,))[-1].char
    except TypeError:
        kind = None
    if kind in ("?", "d") and name not in _INSTEAD:
        return function

    def of_numbers(*operands: Any) -> Any:
        if all(map(is_condition, operands)):
            remedy = _INSTEAD.get(name, f"make numbers of them, as in np.{name}(1.0*a, ...)")
            raise Refusal(f"np.{name} of nothing but conditions", remedy)
        return function(*operands)

    return of_numbers


# By the names of NumPy's functions, and of those of SciPy that are as simple.
_NAMED: dict[str, Function] = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "true_divide": divide,
    "power": power,
    "float_power": power,
    "negative": negative,
    "positive": lambda x: x,
    "conjugate": lambda x: x,
    "absolute": _kept(absolute),
    "fabs": absolute,
    "square": square,
    "reciprocal": lambda x: divide(1.0, x),
    "sqrt": sqrt,
    "cbrt": partial(apply, op.CBRT),
    "exp": exp,
    "exp2": lambda x: power(2.0, x),
    "expm1": expm1,
    "log": ln,
    "log10": partial(apply, op.LOG10),
    "log2": lambda x: scale(1.0 / math.log(2.0), ln(x)),
    "log1p": log1p,
    "logaddexp": logaddexp,
    "expit": expit,
    "sin": sin,
    "cos": partial(apply, op.COS),
    "tan": partial(apply, op.TAN),
    "arcsin": partial(apply, op.ASIN),
    "arccos": partial(apply, op.ACOS),
    "arctan": atan,
    "arctan2": arctan2,
    "hypot": hypot,
    "sinh": partial(apply, op.SINH),
    "cosh": partial(apply, op.COSH),
    "tanh": tanh,
    "arcsinh": arcsinh,
    "arccosh": arccosh,
    "arctanh": arctanh,
    "deg2rad": lambda x: scale(math.pi / 180.0, x),
    "radians": lambda x: scale(math.pi / 180.0, x),
    "rad2deg": lambda x: scale(180.0 / math.pi, x),
    "degrees": lambda x: scale(180.0 / math.pi, x),
    "maximum": maximum,
    "minimum": minimum,
    "sign": sign,
    "heaviside": heaviside,
    "floor": _kept(floor),
    "ceil": _kept(ceil),
    "trunc": _kept(trunc),
    "rint": rint,
    "floor_divide": floor_divide,
    "remainder": remainder,
    "fmod": fmod,
    "less": less,
    "less_equal": partial(apply, op.LESS_EQUAL),
    "greater": greater,
    "greater_equal": partial(apply, op.GREATER_EQUAL),
    "equal": equal,
    "not_equal": partial(apply, op.NOT_EQUAL),
    "isnan": lambda x: apply(op.NOT_EQUAL, x, x),
    "logical_and": logical_and,
    "logical_or": logical_or,
    "logical_not": logical_not,
    "logical_xor": logical_xor,
    "bitwise_and": _bits("bitwise_and", logical_and),
    "bitwise_or": _bits("bitwise_or", logical_or),
    "bitwise_xor": _bits("bitwise_xor", logical_xor),
    "invert": _bits("invert", logical_not),
    "exp10": lambda x: power(10.0, x),
    "logit": logit,
    "xlogy": _times(ln),
    "xlog1py": _times(log1p),
}
ELEMENTWISE = {name: _as_in_numpy(name, function) for name, function in _NAMED.items()}
