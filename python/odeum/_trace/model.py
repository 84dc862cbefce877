"""Python functions of a place in space as equations of fields."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from odeum._trace import names
from odeum._trace.check import Floats, compare
from odeum._trace.function import TIME, floats, outputs_of
from odeum._trace.operations import LAPLACIAN, laplacian
from odeum._trace.reads import numbers_of
from odeum._trace.record import Record
from odeum._trace.refusal import Refusal, UnknownName
from odeum._trace.signature import bind
from odeum._trace.symbol import Symbol, apply
from odeum._trace.text import write
from odeum._trace.ufuncs import elementwise
from odeum.equations import Equations
from odeum.errors import InputError

COORDINATES = ("x", "y", "z")
_TAKEN = {**dict.fromkeys(COORDINATES, "the coordinate"), TIME: "the time", "lap": "the Laplacian"}


class Place:
    """What a function of fields is given: values of species and their Laplacians at a place.

    Attributes
    ----------
    lap : Laplacians
        ``c.lap.u`` of a species, ``c.lap(c.u**3 - c.u)`` of an expression of species.
    """

    def __init__(self, value: Callable[[str], Any], lap: Callable[[Any], Any]) -> None:
        self._value = value
        self.lap = Laplacians(value, lap)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._value(name)


class Laplacians:
    """Laplacians of species, and of expressions."""

    def __init__(self, value: Callable[[str], Any], lap: Callable[[Any], Any]) -> None:
        self._value = value
        self._lap = lap

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _TAKEN:
            raise UnknownName(f"`c.lap.{name}`", f"{name} is {_TAKEN[name]}: the Laplacian is of species")
        return self._lap(self._value(name))

    def __call__(self, expression: Any) -> Any:
        return self._lap(expression)


def trace_model(
    f: Callable[..., Any],
    species: Sequence[str] | None,
    parameters: Sequence[str],
    *,
    check: bool = True,
    usual: Mapping[str, float] | None = None,
) -> Equations:
    """The equations of fields that a function computes.

    Parameters
    ----------
    f : callable
        ``f(c, F, k, ...)``: ``c.u`` is the species u, ``c.lap.u`` its Laplacian, ``c.lap(...)`` that of an
        expression, ``c.x``, ``c.y``, ``c.z`` and ``c.t`` are place and time. Returns a dict by species.
    species : sequence of str, optional
        Their names in order; the keys of what `f` returns unless given.
    parameters : sequence of str
        Names of the parameters.
    check : bool
        Compare function and equations at points, as `trace` does.
    usual : mapping, optional
        Usual values of parameters.

    Raises
    ------
    InputError
        As for `trace`.

    Examples
    --------
    >>> trace_model(lambda c, D: {"u": D * c.lap.u - c.u}, None, ["D"]).equations
    {'u': 'D * lap(u) - u'}
    """
    parameters = names.checked("parameters", parameters)
    known = None if species is None else allowed(species, parameters)
    call = bind(f, ("c",), parameters)
    record = Record()
    met: dict[str, Symbol] = {}

    def value(name: str) -> Symbol:
        if known is not None:
            _refuse_unknown(name, known)
        if name not in met:
            met[name] = Symbol(record, record.variable(name))
        return met[name]

    def lap(expression: Any) -> Any:
        return elementwise(partial(_laplacian, {TIME, *parameters}), expression)

    values_of = [Symbol(record, record.variable(name)) for name in parameters]
    order: list[str] = list(known or ())

    def traced() -> Any:
        returned = call((Place(value, lap),), values_of)
        if not isinstance(returned, Mapping):
            raise Refusal(
                f"{type(returned).__name__} returned", "return a dict of species and their rates of change"
            )
        order[:] = known or allowed(returned, parameters)
        for name in met:
            if name not in order and name not in _TAKEN:
                raise Refusal(f"`c.{name}` without an equation", f"return one: {names.nearest(name, order)}")
        return dict(returned)

    # The species are known when the call is over.
    outputs = outputs_of(record, order, traced)
    definitions, texts = write(record, outputs, (*order, *parameters, *_TAKEN))

    def at(point: Mapping[str, np.float64]) -> Floats:
        def number(name: str) -> np.float64:
            _refuse_unknown(name, order)
            return point[name]

        place = Place(number, lambda expression: laplacian(np.asarray(expression, dtype=float)[()]))
        return floats(call((place,), [point[name] for name in parameters]), order)

    if check:
        variables = (TIME, *COORDINATES, *order, *parameters)
        compare(at, record, outputs, order, variables, usual or {}, numbers_of(f))
    return Equations(dict(zip(order, texts, strict=True)), definitions)


def _refuse_unknown(name: str, species: Sequence[str]) -> None:
    if name not in (*species, *COORDINATES, TIME):
        raise UnknownName(f"`c.{name}`", f"no species has this name: {names.nearest(name, species)}")


def _laplacian(uniform: Collection[str], expression: Any) -> Symbol:
    """That of an expression; `uniform` are variables that are the same everywhere."""
    if not isinstance(expression, Symbol):
        raise Refusal(f"the Laplacian of the number {expression}", "it is zero: leave it out")
    if expression.record.variables(expression.number) <= {*uniform}:
        found = f"the Laplacian of {expression!r}, which is the same everywhere"
        raise Refusal(found, "it is zero: leave it out")
    result: Symbol = apply(LAPLACIAN, expression)
    return result


def allowed(species: Any, parameters: tuple[str, ...]) -> tuple[str, ...]:
    """The names of species, if these and the parameters may have them."""
    listed = names.checked("species", species)
    if not listed:
        raise InputError("species", "none", "name one at least")
    for name in (*listed, *parameters):
        if name in _TAKEN:
            field = "species" if name in listed else "parameters"
            raise InputError(f"{field}.{name}", f"`{name}` is {_TAKEN[name]}", "choose another name")
    try:
        names.allow(listed, parameters)
    except InputError as error:
        field = error.field.replace("states.", "species.", 1)
        raise InputError(field, error.found, error.remedy) from None
    return listed
