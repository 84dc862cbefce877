"""Expressions of SymPy as equations in the language of case files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial, reduce
from typing import Any

from odeum._trace import names
from odeum._trace import operations as op
from odeum._trace.elementwise import (
    ELEMENTWISE,
    Function,
    add,
    divide,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    multiply,
    negative,
    where,
)
from odeum._trace.record import Record
from odeum._trace.refusal import Refusal
from odeum._trace.symbol import Symbol, apply, as_number
from odeum._trace.text import write
from odeum.equations import Equations
from odeum.errors import InputError

# Classes of SymPy whose arguments are those of an operation or of a function of NumPy.
_OPERATIONS: dict[str, op.Operation] = {
    "StrictLessThan": op.LESS,
    "LessThan": op.LESS_EQUAL,
    "StrictGreaterThan": op.GREATER,
    "GreaterThan": op.GREATER_EQUAL,
    "Equality": op.EQUAL,
    "Unequality": op.NOT_EQUAL,
    "exp": op.EXP,
    "Abs": op.ABSOLUTE,
    "floor": op.FLOOR,
    "sin": op.SIN,
    "cos": op.COS,
    "tan": op.TAN,
    "asin": op.ASIN,
    "acos": op.ACOS,
    "atan": op.ATAN,
    "sinh": op.SINH,
    "cosh": op.COSH,
    "tanh": op.TANH,
}
_FUNCTIONS: dict[str, str] = {
    "ceiling": "ceil",
    "sign": "sign",
    "Heaviside": "heaviside",
    "Mod": "remainder",
    "atan2": "arctan2",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "log1p": "log1p",
    "expm1": "expm1",
    "exp2": "exp2",
    "log2": "log2",
    "log10": "log10",
}
# One over an operation.
_QUOTIENTS: dict[str, op.Operation] = {
    "cot": op.TAN,
    "sec": op.COS,
    "csc": op.SIN,
    "coth": op.TANH,
    "sech": op.COSH,
    "csch": op.SINH,
}


def from_sympy(
    equations: Mapping[Any, Any], states: Iterable[Any], parameters: Iterable[Any], time: Any = None
) -> Equations:
    """The equations that expressions of SymPy are.

    Parameters
    ----------
    equations : mapping of Symbol, Function or str to Expr
        The derivative of each state.
    states, parameters : iterable of Symbol, Function or str
        Their names.
    time : Symbol or str, optional
        The time; ``t`` unless given.

    Raises
    ------
    InputError
        An expression that the language has no word for, or a symbol that is nothing.

    Examples
    --------
    >>> import sympy
    >>> x, v, mu = sympy.symbols("x v mu")
    >>> from_sympy({x: v, v: mu * (1 - x**2) * v - x}, [x, v], [mu]).equations
    {'x': 'v', 'v': 'mu * v * (1 - x^2) - x'}
    """
    try:
        import sympy
    except ImportError as error:
        raise ImportError("expressions of SymPy need it: pip install sympy") from error
    states = names.checked("states", map(_name, states))
    parameters = names.checked("parameters", map(_name, parameters))
    names.allow(states, parameters)
    clock = "t" if time is None else _name(time)
    if clock in (*states, *parameters):
        raise InputError("time", f"`{clock}`, which is a state or a parameter", "give it another name")
    variables = {**{name: name for name in (*parameters, *states)}, clock: "t"}
    is_time = partial(_is_time, variables=variables, clock=None if time is None else clock)
    given = by_name("equations", equations)
    for name in given:
        if name not in states:
            raise InputError(f"equations.{name}", "no state of this name", names.nearest(name, states))
    for key in equations:
        if type(key).__name__ == "Derivative" and not (len(key.variables) == 1 and is_time(key.variables[0])):
            remedy = "give first derivatives by the time: x'' = f is x' = v and v' = f"
            raise InputError(f"equations.{_name(key)}", f"the derivative {_shown(key)}", remedy)
    walk = _Walk(variables, is_time)
    outputs = []
    for name in states:
        if name not in given:
            raise InputError("equations", f"none for {name}", "give one for each state")
        try:
            outputs.append(as_number(walk.record, walk.value(sympy.sympify(given[name], strict=True))))
        except Refusal as error:
            raise InputError(f"equations.{name}", error.found, error.remedy) from error
        except sympy.SympifyError as error:
            found = f"{given[name]!r} ({type(given[name]).__name__})"
            raise InputError(f"equations.{name}", found, "give an expression of SymPy") from error
    definitions, texts = write(walk.record, outputs, (*states, *parameters))
    return Equations(dict(zip(states, texts, strict=True)), definitions)


def by_name(field: str, given: Mapping[Any, Any]) -> dict[Any, Any]:
    """What is given by symbol, by its name."""
    named: dict[Any, Any] = {}
    for symbol, value in given.items():
        name = _name(symbol)
        if name in named:
            raise InputError(f"{field}.{name}", "two of this name", "give each once")
        named[name] = value
    return named


def _is_time(symbol: Any, variables: Mapping[str, str], clock: str | None) -> bool:
    """Whether this is the time; unless that was said, any symbol that is nothing else."""
    name = _name(symbol)
    return symbol.is_Symbol and (name == clock or clock is None and variables.get(name, "t") == "t")


def _name(symbol: Any) -> Any:
    """The name of a symbol, of a function x(t), or of its derivative."""
    if isinstance(symbol, str):
        return symbol
    if type(symbol).__name__ == "Derivative":
        return _name(symbol.expr)
    return getattr(symbol, "name", None) or getattr(getattr(symbol, "func", None), "name", None) or symbol


class _Walk:
    """Expressions of SymPy as those of a record: parts before the whole, and each once."""

    def __init__(self, variables: Mapping[str, str], is_time: Callable[[Any], bool]) -> None:
        self.record = Record()
        self._variables = variables
        self._is_time = is_time
        self._known: dict[Any, Any] = {}

    def value(self, expression: Any) -> Any:
        """The symbol, number or truth value that an expression is."""
        # Not by recursion: expressions can be deeper than Python's stack.
        waiting = [expression]
        while waiting:
            node = waiting[-1]
            if node not in self._known:
                _support(node)
                missing = [part for part in _parts(node) if part not in self._known]
                if missing:
                    waiting.extend(missing)
                    continue
                self._known[node] = self._own(node)
            waiting.pop()
        return self._known[expression]

    def _own(self, node: Any) -> Any:
        """The value of an expression whose parts have theirs."""
        if node.is_Symbol or _is_function_of_time(node):
            return self._variable(node)
        if _is_number(node):
            return _number(node)
        kind = type(node).__name__
        if kind in ("BooleanTrue", "BooleanFalse"):
            return bool(node)
        parts = [self._known[part] for part in _parts(node)]
        if kind in _COMBINED:
            return _COMBINED[kind](self, node, parts)
        if kind in _OPERATIONS:
            return apply(_OPERATIONS[kind], *parts)
        if kind in _QUOTIENTS:
            return divide(1.0, apply(_QUOTIENTS[kind], *parts))
        return ELEMENTWISE[_FUNCTIONS[kind]](*parts)

    def _variable(self, node: Any) -> Any:
        name = str(_name(node))
        if name not in self._variables:
            remedy = names.nearest(name, list(self._variables))
            raise Refusal(f"the symbol `{name}`", f"it is no state and no parameter: {remedy}")
        if _is_function_of_time(node) and not all(map(self._is_time, node.args)):
            raise Refusal(
                f"`{_shown(node)}`", f"`{name}` has the value of now alone: no delays, no other times"
            )
        return Symbol(self.record, self.record.variable(self._variables[name]))

    def product(self, node: Any, parts: list[Any]) -> Any:
        """A quotient where there are negative powers: x * y**-2 is x / y^2."""
        above: list[Any] = []
        below: list[Any] = []
        minus = False
        for factor, value in zip(node.args, parts, strict=True):
            if factor.is_Pow and factor.exp.is_Number and factor.exp.is_negative:
                below.append(self._power(self._known[factor.base], -factor.exp))
            elif factor.is_Number and factor.is_finite:
                # The sign before all, so that a rate and its opposite share it; x / 3, and not a third that
                # is rounded.
                minus ^= bool(factor.is_negative)
                above.append(abs(value) if not factor.is_Rational else _quotient(abs(factor.p), 1, factor))
                if factor.is_Rational and factor.q != 1:
                    below.append(_quotient(factor.q, 1, factor))
            else:
                above.append(value)
        total = reduce(multiply, above or [1.0])
        total = divide(total, reduce(multiply, below)) if below else total
        return negative(total) if minus else total

    def power(self, node: Any, parts: list[Any]) -> Any:
        if node.exp.is_Number and node.exp.is_negative:
            return divide(1.0, self._power(parts[0], -node.exp))
        if node.base.is_NumberSymbol and str(node.base) == "E":
            return apply(op.EXP, parts[1])
        return self._power(parts[0], node.exp if node.exp.is_Number else parts[1])

    def _power(self, base: Any, exponent: Any) -> Any:
        if isinstance(exponent, Symbol | bool | float | int):
            return apply(op.RAISE, base, exponent)
        return apply(op.RAISE, base, _number(exponent))

    def logarithm(self, node: Any, parts: list[Any]) -> Any:
        value = apply(op.LN, parts[0])
        return value if len(parts) == 1 else divide(value, apply(op.LN, parts[1]))

    def piecewise(self, node: Any, parts: list[Any]) -> Any:
        pairs = list(zip(parts[::2], parts[1::2], strict=True))
        if pairs[-1][1] is not True:
            remedy = "end the Piecewise by (expression, True)"
            raise Refusal(f"a Piecewise that is undefined elsewhere, {_shown(node)}", remedy)
        result = pairs.pop()[0]
        for value, condition in reversed(pairs):
            result = where(condition, value, result)
        return result


def _fold(function: Function) -> Callable[[_Walk, Any, list[Any]], Any]:
    return lambda walk, node, parts: reduce(function, parts)


# Classes of SymPy with any number of arguments, or whose text depends on them.
_COMBINED: dict[str, Callable[[_Walk, Any, list[Any]], Any]] = {
    "Add": _fold(add),
    "Mul": _Walk.product,
    "Pow": _Walk.power,
    "log": _Walk.logarithm,
    "Piecewise": _Walk.piecewise,
    "Min": _fold(ELEMENTWISE["minimum"]),
    "Max": _fold(ELEMENTWISE["maximum"]),
    "And": _fold(logical_and),
    "Or": _fold(logical_or),
    "Xor": _fold(logical_xor),
    "Not": lambda walk, node, parts: logical_not(parts[0]),
}
_KNOWN = {*_OPERATIONS, *_FUNCTIONS, *_QUOTIENTS, *_COMBINED, "BooleanTrue", "BooleanFalse"}


def _support(node: Any) -> None:
    """Refuses what expressions have no word for, by its name."""
    kind = type(node).__name__
    if kind in _KNOWN or node.is_Symbol or _is_number(node) or _is_function_of_time(node):
        return
    remedy = "write it with + - * / **, exp, log, sqrt, sin, ..., Abs, Min, Max and Piecewise"
    raise Refusal(f"`{kind}` in {_shown(node)}", f"{remedy}, or call .doit()")


def _is_number(node: Any) -> bool:
    special = type(node).__name__ in ("ImaginaryUnit", "ComplexInfinity")
    return special or getattr(node, "is_Number", False) or getattr(node, "is_NumberSymbol", False)


def _parts(node: Any) -> list[Any]:
    """What an expression is made of; of a Piecewise, expressions and conditions in turn."""
    if _is_function_of_time(node):
        return []
    arguments = getattr(node, "args", ())
    if type(node).__name__ == "Piecewise":
        return [part for pair in arguments for part in pair.args]
    return list(arguments)


def _is_function_of_time(node: Any) -> bool:
    return type(type(node)).__name__ == "UndefinedFunction"


def _number(node: Any) -> float:
    """The nearest double of a number."""
    if node.is_Rational:
        return _quotient(node.p, node.q, node)
    try:
        value = float(node)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise Refusal(f"the number {_shown(node)}", "equations have finite real numbers")
    return value


def _quotient(p: int, q: int, node: Any) -> float:
    """A quotient of integers, rounded once."""
    try:
        return int(p) / int(q)
    except OverflowError as error:
        raise Refusal(f"the number {_shown(node)}", "equations have finite real numbers") from error


def _shown(node: Any) -> str:
    text = str(node)
    return text if len(text) <= 60 else f"{text[:57]}..."
