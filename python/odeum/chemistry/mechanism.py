"""Chemical mechanisms: thermodynamics and rates over arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odeum import _odeum
from odeum._convert import Floats, encodable, finite, positive, text
from odeum._files import beside
from odeum._findings import FindingTuple, raise_and_warn
from odeum._fixed import Fixed
from odeum._labels import refuse_other_batches
from odeum.chemistry.composition import Composition, amounts, check_sums, scaled, small_negatives_as_zero
from odeum.errors import InputError

if TYPE_CHECKING:
    from odeum.chemistry.integrator import Integrator
    from odeum.chemistry.reactor import Reactor


class GasState(NamedTuple):
    """Temperature [K], pressure [Pa] and mass fractions [..., species] of gases."""

    T: Any
    p: Any
    Y: Any


class Mechanism(Fixed):
    """Species and reactions of an ideal gas.

    Names and units are Cantera's: SI, with kmol as the amount of substance. Temperatures [K] and pressures
    [Pa] broadcast; mass fractions have the species along their last axis, or are text or a mapping, as
    ``"CH4:0.06, O2:0.22, N2:0.72"``. Names along that axis, as arrays of pandas and xarray have, say which species
    is which. Results have the shape of the batch, with species or reactions last. Mass fractions in arrays are used
    as they are; they should sum to one. Beyond the range of the thermodynamic data (`temperature_bounds`)
    polynomials continue. What is read is kept: changes of the files afterwards change nothing, unless the mechanism
    takes sections of further files.

    Parameters
    ----------
    path : str or Path
        Cantera YAML or Chemkin.
    thermo : str or Path, optional
        Thermodynamic data, for a Chemkin mechanism that has none in it.
    phase : str, optional
        A phase of a YAML file; the first of an ideal gas unless said.
    include : sequence of str or Path
        Folders in which other files are looked for of which a YAML file takes sections.

    Raises
    ------
    InputError
        Everything that is wrong with the files, each with file and line.

    Examples
    --------
    >>> import odeum as od
    >>> gas = od.Mechanism("mechanisms/hydrogen-burke-2012.yaml")
    >>> gas
    <odeum.Mechanism 'hydrogen': 11 species, 27 reactions>
    >>> Y = gas.at_equivalence_ratio(1.0, "H2", "O2:1, N2:3.76")
    >>> round(float(gas.equilibrate(T=300.0, p=od.atm, Y=Y, hold="HP").T))
    2388
    """

    def __init__(
        self,
        path: str | Path,
        *,
        phase: str | None = None,
        thermo: str | Path | None = None,
        include: Sequence[str | Path] = (),
    ) -> None:
        section: dict[str, Any] = {"mechanism": str(Path(path).resolve())}
        if thermo is not None:
            section["thermo"] = str(Path(thermo).resolve())
        if phase is not None:
            section["phase"] = text("phase", phase)
        folders = [include] if isinstance(include, (str, Path)) else list(include)
        if folders:
            section["include"] = [str(Path(folder).resolve()) for folder in folders]
        # Reactors read the mechanism again: from these texts, whatever becomes of the files.
        texts = {name: _text(name) for name in (section["mechanism"], section.get("thermo")) if name}
        kept = {name: each for name, each in texts.items() if each is not None}
        if len(kept) == len(texts):
            try:
                self._set(section, kept)
            except InputError:
                # A text without its file lacks the other files of which it takes sections.
                pass
            else:
                return
        self._set(section, {})

    @classmethod
    def from_text(
        cls, text: str, *, name: str = "mechanism", phase: str | None = None, thermo: str | None = None
    ) -> Mechanism:
        """From the text of Cantera YAML or of Chemkin.

        Parameters
        ----------
        text : str
        name : str
            What messages call it, as ``"chem.inp"``.
        phase : str, optional
            A phase of YAML; the first of an ideal gas unless said.
        thermo : str, optional
            The text of thermodynamic data, for a Chemkin mechanism that has none in it.

        Raises
        ------
        InputError
            Everything that is wrong with the texts, each with its line.

        Examples
        --------
        >>> import odeum as od
        >>> gas = od.Mechanism.from_text(
        ...     '''
        ... ELEMENTS H END
        ... SPECIES H H2 END
        ... THERMO ALL
        ... 300. 1000. 5000.
        ... H                       H   1               G   200.000  6000.000 1000.00      1
        ...  2.50000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00    2
        ...  2.54736600E+04-4.46682850E-01 2.50000000E+00 0.00000000E+00 0.00000000E+00    3
        ...  0.00000000E+00 0.00000000E+00 2.54736600E+04-4.46682850E-01                   4
        ... H2                      H   2               G   200.000  6000.000 1000.00      1
        ...  3.50000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00    2
        ... -1.04352500E+03-4.22439182E+00 3.50000000E+00 0.00000000E+00 0.00000000E+00    3
        ...  0.00000000E+00 0.00000000E+00-1.04352500E+03-4.22439182E+00                   4
        ... END
        ... REACTIONS
        ... H2 + M = H + H + M   4.577E19  -1.40  104380.
        ... END
        ... ''',
        ...     name="chem.inp",
        ... )
        >>> gas.reaction_equations
        ('H2+M=H+H+M',)
        """
        for field, value in (("text", text), ("name", name), ("thermo", thermo), ("phase", phase)):
            if not isinstance(value, str) and not (field in ("thermo", "phase") and value is None):
                raise InputError(field, type(value).__name__, "give text; Mechanism(path) reads files")
        section, texts = {"mechanism": name}, {name: text}
        if phase is not None:
            section["phase"] = phase
        if thermo is not None:
            section["thermo"] = f"thermo of {name}"
            texts[section["thermo"]] = thermo
        return cls._made(section, texts)

    @classmethod
    def from_cantera(cls, solution: Any) -> Mechanism:
        """From a ``cantera.Solution``, as ``Solution.write_yaml`` writes it.

        So with rates that were set in place (``solution.reaction(0).rate = ...``), by which Cantera itself computes from
        ``modify_reaction`` on.

        Raises
        ------
        InputError
            What is no ideal gas; stoichiometric coefficients of more than six digits, which Cantera does not write.
        """
        return cls._of_cantera("solution", solution, "give a cantera.Solution of an ideal gas")

    @classmethod
    def _of_cantera(cls, field: str, phase: Any, remedy: str) -> Mechanism:
        """From a phase of Cantera, by its text."""
        text = _written(field, phase, remedy)
        mechanism = cls.from_text(text, name=f"{phase.name}.yaml", phase=str(phase.name))
        _refuse_other_weights(field, phase, mechanism)
        return mechanism

    @classmethod
    def _made(cls, section: Mapping[str, Any], texts: Mapping[str, str]) -> Mechanism:
        mechanism = cls.__new__(cls)
        mechanism._set(dict(section), dict(texts))
        return mechanism

    def _set(self, section: dict[str, Any], texts: dict[str, str]) -> None:
        self._section = section
        self._texts = texts
        name, phase, thermo = section["mechanism"], section.get("phase"), section.get("thermo")
        if phase is not None:
            encodable("phase", phase)
        if name in texts:
            for each in (name, *texts.values()):
                encodable("mechanism", each)
            data = None if thermo is None else (thermo, texts[thermo])
            raw = _odeum.Mechanism.of_text(name, texts[name], data, phase)
        else:
            raw = _odeum.Mechanism.read(name, thermo, phase, section.get("include", []))
        self._raw = raw
        self.name: str = raw.name or Path(name).stem
        self.species_names: tuple[str, ...] = tuple(raw.species_names)
        self.element_names: tuple[str, ...] = tuple(raw.element_names)
        self.reaction_equations: tuple[str, ...] = tuple(raw.reaction_equations)
        self.molecular_weights: Floats = np.asarray(raw.molecular_weights)
        self.molecular_weights.flags.writeable = False
        self.temperature_bounds: tuple[float, float] = raw.temperature_bounds
        self._is_made = type(self) is Mechanism

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self)._made, (self._section, self._texts))

    def _in_files(self, case: Path) -> tuple[dict[str, Any], dict[str, str]]:
        """The section of a case file that has the texts in files beside it, and these by their names.

        Endings stay: what a text leaves open of its format, they decide. A text that is still that of its file
        stays there.
        """
        section, files = dict(self._section), {}
        for key in ("mechanism", "thermo"):
            name = section.get(key)
            if name in self._texts and not (Path(name).is_absolute() and self._texts[name] == _text(name)):
                section[key] = beside(case, f"{key}{Path(name).suffix or '.txt'}").name
                files[section[key]] = self._texts[name]
        return section, files

    def __repr__(self) -> str:
        size = f"{self.n_species} species, {self.n_reactions} reactions"
        return f"<odeum.Mechanism {self.name!r}: {size}>"

    @property
    def n_species(self) -> int:
        return len(self.species_names)

    @property
    def n_reactions(self) -> int:
        return len(self.reaction_equations)

    def species_index(self, species: str) -> int:
        """The place of a species along the last axis of mass fractions."""
        return int(np.flatnonzero(amounts("species", {species: 1.0}, self.species_names))[0])

    # Compositions

    def mass_fractions(self, X: Composition | Any) -> Floats:
        """Mass fractions [*batch, species] of mole fractions, or of any amounts in kmol."""
        X = scaled("X", amounts("X", X, self.species_names))
        return scaled("X", X * self.molecular_weights)

    def mole_fractions(self, Y: Composition | Any) -> Floats:
        """Mole fractions [*batch, species] of mass fractions, or of any masses."""
        Y = scaled("Y", amounts("Y", Y, self.species_names))
        return scaled("Y", Y / self.molecular_weights)

    def at_equivalence_ratio(self, phi: Any, fuel: Composition | Any, oxidizer: Composition | Any) -> Floats:
        """Mass fractions [*phi, species] of a fuel in an oxidizer, both given in amounts of species [kmol]."""
        phi = finite("phi", phi)
        rows = []
        for name, value in (("fuel", fuel), ("oxidizer", oxidizer)):
            rows.append(small_negatives_as_zero(amounts(name, value, self.species_names)))
            if rows[-1].ndim != 1:
                raise InputError(name, f"an array of shape {rows[-1].shape}", "give one composition")
        try:
            found = self._raw.at_equivalence_ratio(phi.ravel().tolist(), *(row.tolist() for row in rows))
        except ValueError as error:
            raise InputError(
                "phi, fuel, oxidizer", str(error), "give a fuel, an oxidizer, and phi not below zero"
            ) from error
        return np.asarray(found).reshape(*phi.shape, self.n_species)

    # Thermodynamics

    def density(self, T: Any, p: Any, Y: Any) -> Any:
        """Density [kg/m3]."""
        return self._evaluate("density", T, p, Y)

    def mean_molecular_weight(self, Y: Any) -> Any:
        """Mean molar mass [kg/kmol]."""
        return self._evaluate("mean_molecular_weight", 1000.0, _odeum.ATM, Y)

    def cp_mass(self, T: Any, Y: Any) -> Any:
        """Heat capacity at constant pressure [J/kg/K]."""
        return self._evaluate("cp_mass", T, _odeum.ATM, Y)

    def cv_mass(self, T: Any, Y: Any) -> Any:
        """Heat capacity at constant volume [J/kg/K]."""
        return self._evaluate("cv_mass", T, _odeum.ATM, Y)

    def enthalpy_mass(self, T: Any, Y: Any) -> Any:
        """Enthalpy, with enthalpies of formation [J/kg]."""
        return self._evaluate("enthalpy_mass", T, _odeum.ATM, Y)

    def int_energy_mass(self, T: Any, Y: Any) -> Any:
        """Internal energy [J/kg]."""
        return self._evaluate("int_energy_mass", T, _odeum.ATM, Y)

    def partial_molar_cp(self, T: Any) -> Any:
        """Heat capacities of the species at constant pressure [J/kmol/K]."""
        return self._of_species("partial_molar_cp", T)

    def partial_molar_enthalpies(self, T: Any) -> Any:
        """Enthalpies of the species [J/kmol]."""
        return self._of_species("partial_molar_enthalpies", T)

    # Rates

    def net_production_rates(self, T: Any, p: Any, Y: Any) -> Any:
        """Net production rates of the species [kmol/m3/s]."""
        return self._evaluate("net_production_rates", T, p, Y)

    def heat_release_rate(self, T: Any, p: Any, Y: Any) -> Any:
        """Heat release rate, the negative sum of enthalpies times production rates [W/m3]."""
        return self._evaluate("heat_release_rate", T, p, Y)

    def forward_rate_constants(self, T: Any, p: Any, Y: Any) -> Any:
        """Forward rate constants, without the concentration of third bodies [kmol, m3, s]."""
        return self._evaluate("forward_rate_constants", T, p, Y)

    def equilibrium_constants(self, T: Any) -> Any:
        """Equilibrium constants in concentrations, of irreversible reactions too [kmol, m3]."""
        return self._of_species("equilibrium_constants", T)

    def forward_rates_of_progress(self, T: Any, p: Any, Y: Any) -> Any:
        """Forward rates of progress of the reactions [kmol/m3/s]."""
        return self._evaluate("forward_rates_of_progress", T, p, Y)

    def reverse_rates_of_progress(self, T: Any, p: Any, Y: Any) -> Any:
        """Reverse rates of progress of the reactions [kmol/m3/s]."""
        return self._evaluate("reverse_rates_of_progress", T, p, Y)

    def net_rates_of_progress(self, T: Any, p: Any, Y: Any) -> Any:
        """Net rates of progress of the reactions [kmol/m3/s]."""
        return self._evaluate("net_rates_of_progress", T, p, Y)

    # Equilibria

    def equilibrate(self, *, T: Any, p: Any, Y: Any, hold: str = "TP") -> GasState:
        """The equilibria of gases.

        Parameters
        ----------
        T, p, Y
            The gases before.
        hold : {"TP", "HP"}
            What stays: temperature and pressure, or enthalpy and pressure (adiabatic flames).

        Returns
        -------
        GasState
            NaN where none was found, with an `OdeumWarning`. One tells of flames outside the thermodynamic data, too.
        """
        if text("hold", hold) not in ("TP", "HP"):
            raise InputError("hold", repr(hold), 'give "TP" or "HP"')
        _refuse_other_batches(T, p, Y)
        T, p, Y, batch = self._states(T, p, small_negatives_as_zero(self._fractions(Y)))
        found, fractions, failure = self._raw.equilibrate(hold == "HP", T, p, Y)
        temperatures = np.asarray(found)
        remarks: list[FindingTuple] = []
        if failure is not None:
            number, message, is_input = failure
            place = tuple(int(k) for k in np.unravel_index(number, batch)) if batch else ()
            where = f"gas {place}: " if place else ""
            if is_input:
                raise InputError("T, p, Y", f"{where}{message}", "give a gas that the mechanism can describe")
            count = int(np.isnan(temperatures).sum())
            words = f"{count:,} equilibria were not found; {where}{message}"
            remarks.append(("warning", words, "", "", "", ""))
        low, high = self.temperature_bounds
        outside = self._outside_data(temperatures)
        if hold == "HP" and outside.any():
            place = tuple(int(k) for k in np.argwhere(outside.reshape(batch))[0])
            where = f"gas {place}: " if place else ""
            words = (
                f"{int(outside.sum()):,} equilibria lie outside the thermodynamic data, {low:g} to {high:g} K, which are "
                f"extrapolated; {where}{temperatures[outside][0]:.0f} K"
            )
            remarks.append(("warning", words, "", "", "", ""))
        shape = (*batch, self.n_species)
        states = GasState(
            temperatures.reshape(batch)[()], p.reshape(batch)[()], np.asarray(fractions).reshape(shape)
        )
        raise_and_warn(remarks, states)
        return states

    # Reactors

    def reactor(self, kind: str = "constant volume", **options: Any) -> Reactor:
        """A closed, homogeneous reactor of this gas; see `Reactor`."""
        from odeum.chemistry.reactor import Reactor

        return Reactor(self, kind, **options)

    def integrator(self, kind: str = "constant pressure", *, cells: int, **options: Any) -> Integrator:
        """Integrates the reactions in the cells of a flow code; see `Integrator`."""
        from odeum.chemistry.integrator import Integrator

        return Integrator(self, kind, cells=cells, **options)

    def _fractions(self, Y: Any) -> Floats:
        """Mass fractions [*batch, species], as they are given in an array."""
        given = amounts("Y", Y, self.species_names)
        return scaled("Y", given) if isinstance(Y, (str, Mapping)) else given

    def _states(self, T: Any, p: Any, Y: Floats) -> tuple[Floats, Floats, Floats, tuple[int, ...]]:
        """Temperatures and pressures [M], mass fractions [M, species], and the shape of the batch."""
        T, p = positive("T", T), positive("p", p)
        try:
            batch = np.broadcast_shapes(T.shape, p.shape, Y.shape[:-1])
        except ValueError:
            found = f"the shapes {T.shape}, {p.shape} and {Y.shape}"
            raise InputError(
                "T, p, Y", found, "give shapes that broadcast, Y with the species last"
            ) from None
        size = int(np.prod(batch, dtype=object)) if batch else 1
        T, p = (np.broadcast_to(x, batch).reshape(size) for x in (T, p))
        if Y.ndim > 1:
            Y = np.broadcast_to(Y, (*batch, self.n_species)).reshape(size, self.n_species)
        return T, p, np.broadcast_to(Y, (size, self.n_species)), batch

    def _outside_data(self, T: Floats) -> NDArray[np.bool_]:
        """Which temperatures no data hold at, up to rounding: a gas may have been at an end."""
        low, high = self.temperature_bounds
        return np.asarray((low * (1.0 - 1e-9) > T) | (high * (1.0 + 1e-9) < T))

    def _of_species(self, name: str, T: Any) -> Any:
        """What depends on the temperature alone."""
        alone = np.zeros(self.n_species)
        alone[0] = 1.0
        return self._evaluate(name, T, _odeum.ATM, alone)

    def _evaluate(self, name: str, T: Any, p: Any, Y: Any) -> Any:
        _refuse_other_batches(T, p, Y)
        Y = self._fractions(Y)
        check_sums("Y", Y)
        T, p, Y, batch = self._states(T, p, Y)
        found = np.asarray(self._raw.evaluate(name, T, p, Y))
        return found.reshape((*batch, *found.shape[1:]))[()]


def checked(mechanism: Any) -> Mechanism:
    """The mechanism of a call that takes one."""
    if not isinstance(mechanism, Mechanism):
        found = type(mechanism).__name__
        raise InputError("mechanism", found, 'give an odeum.Mechanism, as odeum.Mechanism("h2.yaml")')
    return mechanism


def _refuse_other_batches(T: Any, p: Any, Y: Any) -> None:
    """Refuses gases with different labels."""
    refuse_other_batches({"T": (T, np.ndim(T)), "p": (p, np.ndim(p)), "Y": (Y, max(np.ndim(Y) - 1, 0))})


def _written(field: str, phase: Any, remedy: str) -> str:
    """The text of a phase of Cantera, with its elements."""
    name = type(phase).__name__
    # Interfaces have their phases written beside them.
    if not hasattr(phase, "write_yaml") or hasattr(phase, "site_density"):
        raise InputError(field, name, remedy)
    try:
        text = str(phase.write_yaml(header=False))
    except Exception as error:
        # Of a rate that is a Python function, of species without what their transport model needs.
        said = " ".join(line.strip() for line in str(error).splitlines() if line.strip("* "))
        raise InputError(field, f"a {name} that Cantera does not write ({said})", remedy) from error
    _refuse_lost_digits(field, phase)
    # Cantera writes none: at most a header has them, as the file of the phase had.
    elements = [
        f"- {{symbol: {json.dumps(symbol)}, atomic-weight: {float(weight)!r}}}\n"
        for symbol, weight in zip(phase.element_names, phase.atomic_weights, strict=True)
    ]
    return f"{text}\nelements:\n{''.join(elements)}"


def _refuse_other_weights(field: str, phase: Any, mechanism: Mechanism) -> None:
    """Refuses a phase of Cantera that is another gas than the mechanism of its text."""
    pairs = zip(phase.species_names, phase.molecular_weights, mechanism.molecular_weights, strict=True)
    for name, there, here in pairs:
        if not abs(here - there) <= 1e-9 * abs(there):
            found = f"{name} of {there:.10g} kg/kmol, which has {here:.10g} as Cantera writes it"
            raise InputError(field, found, "read the file of the mechanism: Mechanism(path)")


def _refuse_lost_digits(field: str, phase: Any) -> None:
    """Of coefficients in equations Cantera writes six digits."""
    for coefficients in (phase.reactant_stoich_coeffs, phase.product_stoich_coeffs):
        # Sparse where Cantera was told so.
        dense = coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients
        for species, reaction in np.argwhere(dense % 1.0 != 0.0):
            coefficient = float(dense[species, reaction])
            if abs(float(f"{coefficient:g}") - coefficient) > 1e-12 * coefficient:
                equation, name = phase.reaction(int(reaction)).equation, phase.species_name(int(species))
                found = f"{coefficient!r} {name} in {equation}, of which Cantera writes six digits"
                raise InputError(field, found, "read the file of the mechanism: Mechanism(path)")


def _text(path: str) -> str | None:
    """The text of a file; `None` where there is none, or it is not in UTF-8."""
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except (OSError, ValueError):
        return None
