"""The reactions of flow codes: many calls over the same cells, in place."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from odeum import _nvrtc, _odeum, _options
from odeum._case import toml
from odeum._convert import Floats, number, numbers, refuse_stripped, whole
from odeum._findings import raise_and_warn
from odeum._fixed import Fixed
from odeum._labels import order, refuse_other_batches
from odeum.chemistry import _gpu
from odeum.chemistry.mechanism import checked
from odeum.chemistry.reactor import section_of
from odeum.errors import InputError

if TYPE_CHECKING:
    from odeum.chemistry.mechanism import Mechanism

_Array = TypeVar("_Array", Floats, _odeum.GpuArray)
_Result = TypeVar("_Result")

_USUAL = _options.Usual(method="rodas4", rtol=1e-6, atol=1e-10)

# Options of `Runs.solve` that an integrator has not, and what to do.
_REFUSED = {
    "precision": "leave it out: cells are of double precision",
    "progress": "leave it out",
    "save": "look at the cells after each `advance`",
    "segments": "call `advance` for one part of the time after the other",
    "span": "`advance` says how far to go",
    "until": "look at the cells after each `advance`",
    "warm_start": "leave it out: cells keep their step sizes; another integrator begins anew",
}


class Integrator(Fixed):
    """Integrates the reactions in the cells of a flow code, time step after time step.

    What a solver needs is found once, and each cell begins a call with the step size with which it ended the
    one before. It serves one thread at a time.

    Parameters
    ----------
    mechanism : Mechanism
    kind : {"constant pressure", "constant volume"}
    cells : int
        Number of cells.
    energy : {"adiabatic", "isothermal"}
    method : str or dict
        ``"rodas4"`` unless said; others as in `Runs.solve`.
    rtol, atol : float
        Tolerances (1e-6, 1e-10), as in `Runs.solve`.
    device : str
        ``"cpu"`` or ``"cuda"``, ...; the arrays of cells may be NumPy's in any case.
    threads : int, optional
        Threads of the CPU; all unless said.
    species_axis : {0, 1}, optional
        Where mass fractions have the species; needed where there are as many cells as species.
    **options
        Keys of ``[method]`` in a case file, `norm`, and `temperature_margin` [K].

    Examples
    --------
    >>> import numpy as np
    >>> import odeum as od
    >>> gas = od.Mechanism("mechanisms/hydrogen-burke-2012.yaml")
    >>> chem = gas.integrator("constant pressure", cells=3)
    >>> T = np.array([300.0, 1200.0, 1500.0])
    >>> Y = np.tile(gas.at_equivalence_ratio(1.0, "H2", "O2:1, N2:3.76"), (3, 1))
    >>> for _ in range(100):
    ...     status = chem.advance(T, od.atm, Y, 1e-5)
    >>> T.round()
    array([ 300., 2762., 2857.])
    """

    def __init__(
        self,
        mechanism: Mechanism,
        kind: str = "constant pressure",
        *,
        cells: int,
        energy: str = "adiabatic",
        method: Any = _USUAL.method,
        rtol: float = _USUAL.rtol,
        atol: Any = None,
        device: str = "cpu",
        threads: int | None = None,
        species_axis: int | None = None,
        **options: Any,
    ) -> None:
        self.cells = whole("cells", cells, 1)
        if species_axis not in (None, 0, 1):
            raise InputError("species_axis", repr(species_axis), "give 0 or 1")
        for name, remedy in _REFUSED.items():
            if options.get(name) is not None:
                raise InputError(name, "in an integrator", remedy)
        low, high = checked(mechanism).temperature_bounds
        # A gas that the mechanism can describe: cells have their own.
        keys = {"energy": energy, "temperature": min(max(1000.0, low), high), "pressure": _odeum.ATM}
        keys["mass_fractions"] = {mechanism.species_names[0]: 1.0}
        if "temperature_margin" in options:
            keys["temperature_margin"] = options.pop("temperature_margin")
        section = section_of(mechanism, kind, keys)
        threads = _options.threads({"threads": threads})
        options = {"method": method, "rtol": rtol, "device": device, **options}
        if atol is not None:
            options["atol"] = atol
        document = {"system": section, **_options.document(_USUAL, _options.SHORT_SPAN, options)}
        if str(device).startswith("cuda"):
            _nvrtc.load()
        texts = list(mechanism._texts.items())
        self._raw = _odeum.Integrator(toml(document), ".", self.cells, texts, threads)
        self.mechanism = mechanism
        self.kind = kind
        self._updates_p = kind == "constant volume"
        self._species_axis = species_axis
        self._has_warned: set[str] = set()
        # How far outside the data cells might start in the last call [K].
        self._margin = 0.0
        self._is_made = type(self) is Integrator

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an integrator keeps the step sizes of its cells: make another one in place of a copy (`Mechanism.integrator`)"
        )

    def advance(self, T: Floats, p: Any, Y: Floats, dt: float) -> NDArray[np.uint8]:
        """Integrates all cells over a time, in place.

        A cell that fails keeps the state it had, and begins anew in the next call. So does one whose start is no
        gas (a temperature beyond the data, mass fractions that are negative or do not sum to one): its status is
        ``invalid start``. Mass fractions below zero by no more than a hundred times `atol`, or 1e-8, count as
        zero, and sums within 1e-3 of one are scaled to one.

        Where reactions take a cell beyond the thermodynamic data, these are extrapolated. A start may lie
        `temperature_margin` beyond them, or beyond the farthest that calls of this integrator took a cell. An
        `OdeumWarning` tells of the first call with steps that ended beyond the data, and of the first with a start
        that lies too far. The arrays have their new numbers then, also where a filter makes an error of it, whose
        `result` has how the cells ended.

        The arrays are read and written without the interpreter's lock: let nobody change them meanwhile.

        With ``device="cuda"`` all arrays may lie on that GPU instead, as those of CuPy or PyTorch do; nothing of
        them passes through the host. Work on them that was given to a stream before is waited for, and they have
        their new numbers when the call returns. Calls with arrays here and there may follow each other: cells keep
        their step sizes.

        Parameters
        ----------
        T : ndarray
            Temperatures [cells] in K; float64, with any strides. Of NumPy, or lent by DLPack.
        p : float or ndarray
            Pressure [Pa], one for all or [cells]. At constant volume it is an array [cells] of float64 as the
            others, and gets the new ones.
        Y : ndarray
            Mass fractions [species, cells] or [cells, species].
        dt : float
            The time [s].

        Returns
        -------
        ndarray
            How each cell ended [cells]: numbers of `odeum.STATUSES`, 0 for success.

        Raises
        ------
        InputError
            Arrays of another shape or type, that are read-only, not finite, on another device, or share memory.
            Nothing is changed then.
        KeyboardInterrupt
            Ctrl-C. The arrays are as they were then, unless it comes while their new numbers are written, which takes
            little of the time.
        """
        return self._warned(self._in_place(T, p, Y, dt))

    def _in_place(self, T: Floats, p: Any, Y: Floats, dt: float) -> NDArray[np.uint8]:
        """As `advance`; the caller tells of what is outside the data."""
        dt = _positive(dt)
        if any(_gpu.device(array) is not None for array in (T, p, Y)):
            return self._advance_on_gpu(T, p, Y, dt)
        T, Y = _in_place("T", T), self._by_cell(_in_place("Y", Y))
        if np.ndim(p) == 0:
            p = np.broadcast_to(self._one_pressure(p), self.cells)
        else:
            p = _in_place("p", p) if self._updates_p else numbers("p", p)
        self._check_length(T=T, p=p)
        _refuse_overlap(T=T, p=p, Y=Y)
        self._margin = self._raw.temperature_margin
        return np.asarray(self._raw.advance(T, p, self._updates_p, Y, dt))

    def advanced(self, T: Any, p: Any, Y: Any, dt: float) -> tuple[Any, Any, Any, NDArray[np.uint8]]:
        """Integrates all cells over a time, into new arrays of the same kind; those given stay as they are.

        For arrays that never change, as JAX's, and for codes that need what was before. Everything else is as with
        `advance`.

        Parameters
        ----------
        T, p, Y, dt :
            As those of `advance`; the arrays may be read-only, and `p` one for all at constant volume too. Arrays of
            pandas and xarray whose labels differ, or have the species in another order, are refused.

        Returns
        -------
        tuple
            The new temperatures, pressures [cells] and mass fractions, and how each cell ended; `p` as it was given at
            constant pressure.

        Raises
        ------
        InputError
            As `advance`.
        """
        on_gpu = any(_gpu.device(array) is not None for array in (T, p, Y))
        copied = _gpu.copied if on_gpu else np.array
        for name, array in (("T", T), ("p", p), ("Y", Y)):
            refuse_stripped(name, array)
        if not on_gpu:
            self._refuse_other_labels(T, p, Y)
        new_T, new_Y = copied(T), copied(Y)
        if self._updates_p:
            p = copied(p) if np.ndim(p) > 0 else _gpu.filled(new_T, number("p", p))
        new = new_T, p, new_Y
        if on_gpu:
            return self._warned((*new, self._advance_on_gpu(*new, _positive(dt), own=True)))
        status = self._in_place(*new, dt)
        if _gpu.is_of_jax(T):
            import jax.numpy

            new_T, p, new_Y = (jax.numpy.asarray(array) for array in new)
            new = new_T, p, new_Y
        return self._warned((*new, status))

    def _refuse_other_labels(self, T: Any, p: Any, Y: Any) -> None:
        """Refuses arrays of pandas and xarray whose labels are others than those of their places."""
        species = self.mechanism.species_names
        by_cell = self._by_cell(Y) if getattr(Y, "ndim", 0) == 2 else Y
        places = order("Y", by_cell, species, "species")
        if places is not None and places != [*range(len(species))]:
            remedy = "give them in the order of the mechanism, `species_names`"
            raise InputError("Y", "species in another order", remedy)
        refuse_other_batches({"T": (T, np.ndim(T)), "p": (p, np.ndim(p)), "Y": (by_cell, np.ndim(Y) - 1)})

    def _advance_on_gpu(self, T: Any, p: Any, Y: Any, dt: float, *, own: bool = False) -> NDArray[np.uint8]:
        """The same of arrays on the GPU."""
        one_p = not hasattr(p, "__dlpack_device__") and np.ndim(p) == 0
        if one_p:
            p = number("p", p)
        _gpu.check(self._raw.gpus, {"T": T, "Y": Y} if one_p else {"T": T, "p": p, "Y": Y})
        pressure = self._one_pressure(p) if one_p else 0.0
        gpu, stream = self._raw.gpus[0], self._raw.stream()
        t = _gpu.borrow("T", T, gpu, stream, written=True, own=own)
        q = None if one_p else _gpu.borrow("p", p, gpu, stream, written=self._updates_p, own=own)
        y = self._by_cell(_gpu.borrow("Y", Y, gpu, stream, written=True, own=own))
        self._check_length(T=t, **({} if q is None else {"p": q}))
        lent = {"T": t, "Y": y} if q is None else {"T": t, "p": q, "Y": y}
        _refuse_overlap(**{name: _gpu.addresses(array) for name, array in lent.items()})
        self._margin = self._raw.temperature_margin
        return np.asarray(self._raw.advance_on_gpu(t, q, pressure, self._updates_p, y, dt))

    def _warned(self, result: _Result) -> _Result:
        """The result of a call, after a warning of what is outside the data, once for each of two reasons."""
        low, high = self.mechanism.temperature_bounds
        data = f"the thermodynamic data, {low:g} to {high:g} K"
        if self._raw.came_outside and "came" not in self._has_warned:
            self._has_warned.add("came")
            count = int(np.count_nonzero(self.stats["outside"]))
            words = f"{count:,} of {self.cells:,} cells had states outside {data}, which are extrapolated"
            remedy = '`stats["outside"]` of the integrator has the steps of the last call; other calls are not told of'
            raise_and_warn([("warning", words, "", "", "", remedy)], result)
        cell = self._raw.first_outside
        if cell is not None and "start" not in self._has_warned:
            self._has_warned.add("start")
            words = f"cell {cell:,} stays as it is (`invalid start`): it is more than {self._margin:g} K outside {data}"
            remedy = "give a larger `temperature_margin` to extrapolate them; other cells and calls are not told of"
            raise_and_warn([("warning", words, "", "", "", remedy)], result)
        return result

    def _one_pressure(self, p: Any) -> float:
        """That of all cells; refused where they get new ones."""
        pressure = number("p", p)
        if self._updates_p:
            remedy = "give an array [cells], which gets the new pressures"
            raise InputError("p", "one number for all cells at constant volume", remedy)
        return pressure

    def _check_length(self, **arrays: Floats | _odeum.GpuArray) -> None:
        for name, array in arrays.items():
            if array.shape != (self.cells,):
                raise InputError(
                    name, f"an array of shape {array.shape}", f"give one of shape ({self.cells},)"
                )

    def _by_cell(self, Y: _Array) -> _Array:
        """A view [cells, species]."""
        cells, species = self.cells, self.mechanism.n_species
        axis = self._species_axis
        if axis is None:
            if Y.shape == (cells, species) and cells == species:
                raise InputError("Y", f"as many cells as species, {cells}", "say species_axis=0 or 1")
            axis = 0 if Y.shape == (species, cells) else 1
        if Y.shape != ((species, cells) if axis == 0 else (cells, species)):
            shapes = f"({species}, {cells}) or ({cells}, {species})"
            raise InputError("Y", f"an array of shape {Y.shape}", f"give one of shape {shapes}")
        return Y.T if axis == 0 else Y

    @property
    def stats(self) -> dict[str, NDArray[np.uint32]]:
        """What the last call cost each cell, by name: steps, rejected, nfev, njev, nlu, ... [cells]."""
        counts = np.asarray(self._raw.stats)
        return {name: counts[:, k] for k, name in enumerate(_odeum.counts())}

    def __repr__(self) -> str:
        return f"<odeum.Integrator: {self.cells:,} cells at {self.kind} of {self.mechanism!r}>"


def _positive(dt: Any) -> float:
    time = number("dt", dt)
    if not time > 0.0:
        raise InputError("dt", str(time), "give a time above zero")
    return time


def _refuse_overlap(**arrays: Floats) -> None:
    """Refuses arrays that share memory: what is written to one would be read from another."""
    for (first, one), (second, other) in combinations(arrays.items(), 2):
        if np.shares_memory(one, other):
            raise InputError(second, f"memory that {first} has, too", "give arrays of their own")


def _in_place(field: str, value: Any) -> Floats:
    """The memory of an array that is written to."""
    if not isinstance(value, np.ndarray):
        if not hasattr(value, "__dlpack_device__"):
            found = f"{type(value).__name__}, which cannot be written to in place"
            raise InputError(field, found, "give an array of NumPy")
        if value.__dlpack_device__()[0] != 1:
            found = f"an array on another device ({type(value).__name__})"
            raise InputError(field, found, "give an array on a GPU of CUDA, or copy it to the CPU first")
        value = np.from_dlpack(value)
    refuse_stripped(field, value)
    if value.dtype != np.float64 or not value.dtype.isnative:
        raise InputError(field, f"an array of {value.dtype}", "give float64")
    if any(stride == 0 and n > 1 for stride, n in zip(value.strides, value.shape, strict=True)):
        raise InputError(field, "numbers that share places, as of a broadcast", "give a copy of it")
    if not value.flags.writeable:
        raise InputError(field, "a read-only array", "give a copy of it")
    if not value.flags.aligned:
        raise InputError(field, "numbers that are not aligned", "give a copy of it")
    array: Floats = value
    return array
