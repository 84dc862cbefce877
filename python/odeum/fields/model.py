"""Equations of fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from odeum._case import Document
from odeum._convert import expressions, mapping, number, text
from odeum.equations import Equations
from odeum.errors import InputError


class Model:
    """Equations ∂u/∂t = f of the species of a field.

    Parameters
    ----------
    equations : callable, mapping or Equations
        A function ``f(c, a, b, ...)`` that returns a dict of the time derivative of each species. It is called
        once, with symbols: `c` has the species (``c.u``), their Laplacians (``c.lap.u``, ``c.lap(c.u**3)``), the
        coordinates (``c.x``, ``c.y``, ``c.z``) and the time (``c.t``); the other arguments are the parameters.
        Or the derivatives as text in the language of case files: ``{"u": "D * lap(u) - k * u"}``.
    parameters : mapping, optional
        Names and values.
    species : sequence of str, optional
        Their order; that of the equations unless said.
    definitions : mapping, optional
        Names for expressions that equations given as text share.

    Raises
    ------
    InputError
        Equations of another kind, names that have a meaning already, or a function that cannot be traced. What is
        wrong in expressions is found when a `Simulation` is made of them.

    Examples
    --------
    >>> import odeum as od
    >>> od.Model({"u": "D * lap(u)"}, parameters={"D": 0.1})
    <odeum.Model of u; D = 0.1>
    """

    def __init__(
        self,
        equations: Callable[..., Any] | Mapping[str, str] | Equations,
        parameters: Mapping[str, float] | None = None,
        *,
        species: Sequence[str] | None = None,
        definitions: Mapping[str, str] | None = None,
    ) -> None:
        from odeum._trace import allowed, trace_model

        values = _values(parameters)
        self.title: str | None = None
        if callable(equations):
            if definitions:
                raise InputError("definitions", "a function of equations", "use names inside of the function")
            name = getattr(equations, "__name__", "<")
            self.title = None if name.startswith("<") else name
            equations = trace_model(equations, species, list(values), usual=values)
        elif isinstance(equations, Mapping):
            named = expressions("definitions", {} if definitions is None else definitions)
            equations = Equations(expressions("equations", equations), named)
        if not isinstance(equations, Equations):
            found = type(equations).__name__
            raise InputError(
                "equations", found, "give a function, or a dict of text by the name of the species"
            )
        self.equations: Equations | None = equations
        if isinstance(species, str) or not isinstance(species, Iterable | None):
            raise InputError("species", repr(species), "give a list of names")
        listed = allowed(equations.equations if species is None else species, tuple(values))
        self._section: Document = {"species": list(listed)}
        if values:
            self._section["parameters"] = values
        if equations.definitions:
            self._section["definitions"] = dict(equations.definitions)
        self._section["equations"] = dict(equations.equations)

    @classmethod
    def problem(cls, name: str, parameters: Mapping[str, float] | None = None) -> Model:
        """A built-in problem with its boundary conditions, initial values and step: ``"turing"``, ...

        The command ``odeum problems`` lists them; `parameters` changes their numbers.
        """
        model = cls.__new__(cls)
        model.equations, model.title = None, None
        model._section = {"problem": text("problem", name)}
        values = _values(parameters)
        if values:
            model._section["parameters"] = values
        return model

    @property
    def parameters(self) -> Mapping[str, float]:
        """Names and values of the parameters, of a built-in problem those that were changed."""
        return MappingProxyType(self._section.get("parameters", {}))

    def __repr__(self) -> str:
        what = self._section.get("problem") or ", ".join(self._section["species"])
        values = ", ".join(f"{name} = {value:g}" for name, value in self.parameters.items())
        return f"<odeum.Model of {what}{'; ' + values if values else ''}>"


def _values(parameters: Mapping[str, float] | None) -> dict[str, float]:
    if parameters is None:
        return {}
    named = mapping("parameters", parameters, 'give names and values: {"k": 1.0}')
    return {str(name): number(f"parameters.{name}", value) for name, value in named.items()}
