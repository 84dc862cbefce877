"""The operations of the language of case files: spelling, precedence, meaning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

# How tightly operators bind; texts of a level stand in parentheses where a higher one is needed.
OR: Final = 1
AND: Final = 2
COMPARISON: Final = 3
SUM: Final = 4
PRODUCT: Final = 5
SIGN: Final = 6
POWER: Final = 7
ATOM: Final = 8


@dataclass(frozen=True, eq=False, slots=True)
class Operation:
    """One operation.

    Attributes
    ----------
    spelling : str
        Its operator or function.
    takes : str
        The kinds of its operands: ``n`` for a number, ``c`` for a condition.
    gives : str
        The kind of its result.
    level : int
        How tightly it binds; `ATOM` for functions.
    evaluate : callable
        The operation on arrays of numbers.
    """

    spelling: str
    takes: str
    gives: str
    level: int
    evaluate: Callable[..., Any]


def _function(name: str, evaluate: Callable[..., Any], takes: str = "n") -> Operation:
    return Operation(name, takes, "n", ATOM, evaluate)


def _comparison(sign: str, evaluate: Callable[..., Any]) -> Operation:
    return Operation(sign, "nn", "c", COMPARISON, evaluate)


def _power(a: Any, b: Any) -> Any:
    # Integers of NumPy have no negative powers.
    return np.float_power(a, b)


def laplacian(value: Any) -> Any:
    """Stands for the Laplacian where equations are evaluated at a point: some linear map."""
    return -2.75 * value


# Leaves: a named variable, a number.
VARIABLE: Final = Operation("", "", "n", ATOM, lambda: None)
CONSTANT: Final = Operation("", "", "n", ATOM, lambda: None)

ADD: Final = Operation("+", "nn", "n", SUM, np.add)
SUBTRACT: Final = Operation("-", "nn", "n", SUM, np.subtract)
MULTIPLY: Final = Operation("*", "nn", "n", PRODUCT, np.multiply)
DIVIDE: Final = Operation("/", "nn", "n", PRODUCT, np.true_divide)
RAISE: Final = Operation("^", "nn", "n", POWER, _power)
NEGATE: Final = Operation("-", "n", "n", SIGN, np.negative)

LESS: Final = _comparison("<", np.less)
LESS_EQUAL: Final = _comparison("<=", np.less_equal)
GREATER: Final = _comparison(">", np.greater)
GREATER_EQUAL: Final = _comparison(">=", np.greater_equal)
EQUAL: Final = _comparison("==", np.equal)
NOT_EQUAL: Final = _comparison("!=", np.not_equal)

BOTH: Final = Operation("&&", "cc", "c", AND, np.logical_and)
EITHER: Final = Operation("||", "cc", "c", OR, np.logical_or)
NOT: Final = Operation("!", "c", "c", SIGN, np.logical_not)
SELECT: Final = _function("select", np.where, "cnn")

MINIMUM: Final = _function("min", np.minimum, "nn")
MAXIMUM: Final = _function("max", np.maximum, "nn")
ABSOLUTE: Final = _function("abs", np.absolute)
FLOOR: Final = _function("floor", np.floor)
SQRT: Final = _function("sqrt", np.sqrt)
CBRT: Final = _function("cbrt", np.cbrt)
EXP: Final = _function("exp", np.exp)
LN: Final = _function("ln", np.log)
LOG10: Final = _function("log10", np.log10)
SIN: Final = _function("sin", np.sin)
COS: Final = _function("cos", np.cos)
TAN: Final = _function("tan", np.tan)
ASIN: Final = _function("asin", np.arcsin)
ACOS: Final = _function("acos", np.arccos)
ATAN: Final = _function("atan", np.arctan)
SINH: Final = _function("sinh", np.sinh)
COSH: Final = _function("cosh", np.cosh)
TANH: Final = _function("tanh", np.tanh)
# Of equations in space only.
LAPLACIAN: Final = _function("lap", laplacian)
