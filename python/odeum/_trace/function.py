"""Python functions of SciPy's signature as equations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from odeum._convert import flag
from odeum._trace import names
from odeum._trace.array import States
from odeum._trace.check import Floats, compare
from odeum._trace.reads import numbers_of
from odeum._trace.record import Record
from odeum._trace.refusal import Refusal, refused
from odeum._trace.returned import values
from odeum._trace.signature import bind
from odeum._trace.symbol import Symbol, as_number
from odeum._trace.text import write
from odeum.equations import Equations
from odeum.errors import InputError

TIME = "t"


def trace(
    f: Callable[..., Any],
    states: Sequence[str],
    parameters: Sequence[str],
    *,
    check: bool | Callable[[Equations], bool] = True,
    usual: Mapping[str, float] | None = None,
    span: tuple[float, float] | None = None,
    by_place: bool = False,
) -> Equations:
    """The equations that a function computes.

    Parameters
    ----------
    f : callable
        ``f(t, y, a, b, ...)``, as for `scipy.integrate.solve_ivp`; called once with symbols. Its arguments
        behind `y` are the parameters, by name or in order.
    states : sequence of str
        Names of the elements of `y`; ``y.x`` is the state x.
    parameters : sequence of str
        Names of the parameters.
    check : bool or callable
        Compare function and equations at random points, at the usual values, where some values are zero, beside
        the numbers of the function, and at large values; or whether to, by the equations.
    usual : mapping, optional
        Usual values of states and parameters.
    span : (float, float), optional
        Times of which some are compared too.
    by_place : bool
        Give parameters by their place, whatever the arguments of `f` are called.

    Raises
    ------
    InputError
        A function that cannot be traced, with the line and what to write instead; or one that gives
        other values than its equations.

    Examples
    --------
    >>> def van_der_pol(t, y, mu):
    ...     x, v = y
    ...     return [v, mu * (1 - x**2) * v - x]
    >>> trace(van_der_pol, ["x", "v"], ["mu"]).equations
    {'x': 'v', 'v': 'mu * (1 - x^2) * v - x'}
    """
    states, parameters = names.checked("states", states), names.checked("parameters", parameters)
    names.allow(states, parameters)
    call = bind(f, (TIME, "y"), parameters, by_place)
    record = Record()
    asked = [False]

    def ask() -> None:
        asked[0] = True

    symbols = {name: Symbol(record, record.variable(name)) for name in (TIME, *states, *parameters)}
    y = States([symbols[name] for name in states], states, ask)
    outputs = outputs_of(
        record, states, lambda: call((symbols[TIME], y), [symbols[name] for name in parameters])
    )
    definitions, texts = write(record, outputs, (*states, *parameters))

    def at(point: Mapping[str, np.float64]) -> Floats:
        y = np.array([point[name] for name in states])
        before = y.copy()
        given = _named(y, states) if asked[0] else y
        returned = call((point[TIME], given), [point[name] for name in parameters])
        if not np.array_equal(y, before):
            raise InputError(
                "f", "another y after the call than before", "f must not change y: work on y.copy()"
            )
        return floats(returned, states)

    equations = Equations(dict(zip(states, texts, strict=True)), definitions)
    if check(equations) if callable(check) else flag("check", check):
        variables = (TIME, *states, *parameters)
        compare(at, record, outputs, states, variables, usual or {}, numbers_of(f), span)
    return equations


def outputs_of(record: Record, states: Sequence[str], call: Callable[[], Any]) -> list[int]:
    """The expressions that a call with symbols returns, or why there are none."""
    try:
        returned = call()
        if record.refused is not None:
            # Caught by the function, which goes on as it does not with numbers.
            raise record.refused
        outputs = []
        for name, value in zip(states, values(returned, states), strict=True):
            try:
                outputs.append(as_number(record, value))
            except Refusal as error:
                raise Refusal(f"{error.found} for {name}", error.remedy) from error
        return outputs
    except Exception as error:
        raise refused(error) from error


def floats(returned: Any, states: Sequence[str]) -> Floats:
    """The numbers that a call with numbers returns; NaN for complex ones."""
    try:
        listed = values(returned, states)
        return np.array([math.nan if np.iscomplexobj(value) else float(value) for value in listed])
    except Refusal as error:
        # Another number of values than with symbols.
        raise refused(error) from error


class Named(np.ndarray[Any, Any]):
    """Numbers whose elements have names, as those of `States` have; what is made of them has none.

    All else is that of a plain array, also for NumPy, which asks arrays for attributes that states may be called as.
    """

    # An array that is made of another one has the attributes of the class alone.
    _places: Mapping[str, int] = {}

    def __getattribute__(self, name: str) -> Any:
        get = super().__getattribute__
        if name.startswith("_"):
            return get(name)
        place = get("_places").get(name)
        return getattr(np.asarray(self), name) if place is None else self[place]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*_plain(given), **_plain(options))

    def __array_function__(self, function: Any, types: Any, given: Any, options: Any) -> Any:
        # What is not made plain, as a tuple with names, brings names back: NumPy must not ask for them again.
        return super().__array_function__(function, types, _plain(given), _plain(options))


def _named(y: Floats, names: Sequence[str]) -> Named:
    named = y.view(Named)
    named._places = {name: place for place, name in enumerate(names)}
    return named


def _plain(value: Any) -> Any:
    """The same without names, in lists, tuples and dicts too."""
    match value:
        case Named():
            return np.asarray(value)
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case list() | tuple() if not hasattr(value, "_fields"):
            return type(value)(map(_plain, value))
        case _:
            return value
