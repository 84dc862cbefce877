"""Closed, homogeneous reactors: a mechanism as a system of equations."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from odeum._case import Document, EnsembleCase
from odeum._convert import text
from odeum._options import Usual, plain
from odeum.chemistry.composition import by_name
from odeum.chemistry.mechanism import Mechanism, checked
from odeum.errors import InputError
from odeum.runs import Runs
from odeum.system import System

if TYPE_CHECKING:
    import xarray


_COMPOSITIONS = ("fuel", "oxidizer", "mole_fractions", "mass_fractions", "moles", "masses")
# The other keys of [system] that a call may give as `None`, which is as if it did not.
_KEYS = ("energy", "equivalence_ratio", "jacobian", "pressure", "temperature", "temperature_margin")


def section_of(mechanism: Mechanism, kind: str, keys: Mapping[str, Any]) -> Document:
    """The section ``[system]`` of a case with a reactor; compositions may be text."""
    section: Document = {**mechanism._section, "reactor": text("kind", kind)}
    for key, value in keys.items():
        try:
            is_gas = key in _COMPOSITIONS
            section[key] = by_name(key, value, mechanism.species_names) if is_gas else plain(key, value)
        except InputError:
            # Nobody is to give other values to what is no key.
            _known(key)
            raise
    return section


def _known(key: str) -> None:
    """Refuses a name that no key has."""
    if key not in (*_COMPOSITIONS, *_KEYS):
        known = ", ".join((*_COMPOSITIONS, *_KEYS))
        raise InputError(key, "no key of this name", f"there are {known}")


class Reactor(System):
    """A closed, homogeneous reactor of ideal gas.

    Its state is the temperature ``T`` [K], the mass fractions of the species by their names, and the amount of
    substance per mass ``m`` [kmol/kg]. An ensemble varies ``T`` [K], the pressure ``p`` [Pa], and the equivalence
    ratio ``phi`` of a fuel and an oxidizer, or the amounts of the species.

    Parameters
    ----------
    mechanism : Mechanism
    kind : {"constant volume", "constant pressure"}
    fuel, oxidizer : str, dict or array [species]
        Amounts of their species [kmol], as ``"O2:1, N2:3.76"``; `sweep` and the others take them too.
    mole_fractions, mass_fractions, moles, masses : str, dict or array [species]
        Or what the gas is made of, in one of these ways. Without any, columns give mass fractions by species.
    **keys
        Other keys of ``[system]`` in a case file: `energy` ("adiabatic", "isothermal"), `temperature` [K],
        `pressure` [Pa], `equivalence_ratio`, `temperature_margin` [K], `jacobian`.

    Examples
    --------
    >>> import odeum as od
    >>> gas = od.Mechanism("mechanisms/hydrogen-burke-2012.yaml")
    >>> air = "O2:1, N2:3.76"
    >>> runs = gas.reactor("constant volume").sweep(T=[1000.0, 1200.0], phi=[0.5, 1.0, 2.0], fuel="H2", oxidizer=air)
    >>> runs.shape
    (2, 3)
    """

    # Mechanisms are stiff, and ignitions grow from traces.
    _usual: ClassVar[Usual] = Usual(method="rodas5p", atol=1e-15)
    # A method that takes an approximate Jacobian: nothing is to warn of one that nobody chose.
    _reading: ClassVar[Mapping[str, Any]] = {"method": "ros34pw2"}

    def __init__(self, mechanism: Mechanism, kind: str = "constant volume", **keys: Any) -> None:
        self.mechanism = checked(mechanism)
        self.kind = kind
        for key, value in keys.items():
            if value is None:
                _known(key)
        keys = {key: value for key, value in keys.items() if value is not None}
        self._set(section_of(mechanism, kind, keys), mechanism._texts)
        # Copies: reactors with other compositions are made of them.
        self._keys = copy.deepcopy(keys)
        self._is_made = type(self) is Reactor

    def _probe(self, case: EnsembleCase) -> EnsembleCase:
        # A reactor without a composition gets it from columns.
        return EnsembleCase(case.document, case.folder, {"T": np.array([1000.0])}, case.mechanisms)

    def runs(self) -> ReactorRuns:
        return ReactorRuns(self)

    def sweep(self, /, **axes: Any) -> ReactorRuns:
        """All combinations of values; see `System.sweep`. Takes `fuel`, `oxidizer` and other compositions too."""
        return self._of(axes).runs().sweep(**axes)

    def __call__(self, /, **columns: Any) -> ReactorRuns:
        return self._of(columns).runs()(**columns)

    def _of(self, arguments: dict[str, Any]) -> Reactor:
        """The reactor of the compositions among the arguments, from which they are taken."""
        given = {key: arguments.pop(key) for key in _COMPOSITIONS if key in arguments}
        return Reactor(self.mechanism, self.kind, **{**self._keys, **given}) if given else self

    def __repr__(self) -> str:
        return f"<odeum.Reactor: {self.title}>"


class ReactorRuns(Runs):
    """An ensemble of reactors; see `Runs`, but for defaults: ``"rodas5p"``, `rtol` 1e-6 and `atol` 1e-15."""

    system: Reactor

    def sweep(self, /, **axes: Any) -> ReactorRuns:
        runs = super().sweep(**axes)
        assert isinstance(runs, ReactorRuns)
        return runs

    def __call__(self, /, **columns: Any) -> ReactorRuns:
        runs = super().__call__(**columns)
        assert isinstance(runs, ReactorRuns)
        return runs

    def ignition_delay(self, by: Any = None, until: float = 1.0, **options: Any) -> xarray.DataArray:
        """Ignition delays [s] along the axes of the ensemble; see `odeum.ignition_delay`."""
        from odeum.chemistry.ignition import ignition_delay

        return ignition_delay(self, by, until, **options)

    def to_toml(
        self, path: str | Path | None = None, span: Any = None, *, overwrite: bool = False, **options: Any
    ) -> str:
        """The case file of this ensemble; see `Runs.to_toml`. A mechanism without a file is written beside it."""
        if not self.system._mechanisms:
            return super().to_toml(path, span, overwrite=overwrite, **options)
        case = None if path is None else Path(path)
        runs, system = copy.copy(self), copy.copy(self.system)
        section, files = system.mechanism._in_files(case or Path("case.toml"))
        if case is None and files:
            raise InputError("path", "None, with a mechanism in memory", "give the path of the case file")
        vars(system).update(_section={**system._section, **section}, _mechanisms=files)
        runs.system = system
        return runs._write(case, span, overwrite, files, options)
