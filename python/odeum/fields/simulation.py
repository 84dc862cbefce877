"""Fields on their way through time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from odeum import _nvrtc, _odeum, _options
from odeum._case import Document, load_case_text
from odeum._convert import Floats
from odeum._fixed import Fixed
from odeum._progress import Progress
from odeum.errors import InputError, Interrupted, OdeumError
from odeum.fields import files, paths, times
from odeum.fields.case import build
from odeum.fields.cells import AXES, DIMS, Cells
from odeum.fields.model import Model
from odeum.fields.summary import Stability, Summaries

if TYPE_CHECKING:
    import xarray


class Simulation(Fixed):
    """A field on its way through time.

    Options are the keys of case files and have their words; `None` stands for what is usual there. Triples lie
    along x, y and z, and may be given by a dict of axes; arrays have the shape (nz, ny, nx) of NumPy, the cells
    along x side by side. One thread at a time may use a simulation.

    Parameters
    ----------
    model : Model
        The equations.
    start : xarray.Dataset or mapping, optional
        The initial value of each species. A dataset has dimensions among x, y and z (others have one cell); its
        coordinates are the centres of cells and give `spacing` and `origin` (along one cell by a scalar coordinate with an
        attribute ``spacing``, as states have it), a variable or coordinate ``mask`` gives `mask`. A mapping has arrays (nz, ny, nx),
        (ny, nx) or (nx,), numbers, expressions of x, y and z as text, or tables as
        ``{"value": 1.0, "noise": 1e-3}``; coordinates of a DataArray count as those of a dataset, and labels of a pandas table whose axes
        are named x, y or z. Built-in problems have initial values of their own.
    shape : mapping or triple of int, optional
        Numbers of cells, where no array gives them: ``{"x": 64, "y": 64}``.
    spacing : float, mapping or triple, optional
        Edges of a cell [length], along all axes of several cells that `start` does not give.
    origin : mapping or triple, optional
        The lowest corner of the box [length].
    boundary : str or mapping, optional
        A condition for all faces, ``"no flux"``, ``"periodic"`` or ``"open"``; or the keys of ``[boundary]``:
        ``{"x": "periodic", "y_low": {"value": 1.0}}``.
    velocity : sequence or mapping, optional
        Parts along x, y and z [length/time]: numbers or expressions of t, or arrays of all cells; or a dict of
        ``uniform`` or ``cells``, ``species`` and ``advection``.
    sources : sequence of mapping, optional
        ``[{"species": "u", "rate": 1.0, "ball": {"centre": [...], "radius": 0.1}}]``.
    diffusion : mapping, optional
        Arrays of a diffusion coefficient of each cell [length²/time], by species.
    mask : array_like, str or mapping, optional
        The domain: where an array is positive or true, or an expression of x, y and z is positive.
    stencil : str, optional
        ``"isotropic"`` or ``"star"``.
    t : float, optional
        The time at the start [time]: zero, or that of the dataset or of the arrays.
    method : str, optional
        ``"euler"``, ``"ssprk3"``, ``"rkc"`` or ``"rkl2"``: by default ``"ssprk3"``, with `tolerance` ``"rkc"``, with a
        `step` of given size ``"euler"``.
    stages : int, optional
        Stages of a step of ``rkc`` and ``rkl2``.
    step : float, str or mapping, optional
        The size of steps [time]; by default ``"stable"``, 0.8 of the largest step that is stable and follows the reactions, or
        ``{"stable": 0.9}``.
    tolerance : float or mapping, optional
        Steps of ``rkc`` by their error: ``{"rtol": 1e-4, "atol": 1e-6}``, or one number for both.
    force : bool
        Take steps of a given size that are not stable.
    max_steps : int, optional
        The simulation fails when it needs more.
    precision : {"f64", "f32"}
        Of the field.
    device : str
        ``"cpu"``, ``"cuda"``, ``"cuda:1"``, ``"cuda:0,1"``.
    threads : int, optional
        Of the CPU; no result depends on them.
    seed : int, optional
        Of random initial values.
    title : str, optional
        Of the results.

    Raises
    ------
    InputError
        What cannot be used, by its name in case files.

    Examples
    --------
    >>> import odeum as od
    >>> model = od.Model({"u": "D * lap(u)"}, parameters={"D": 1.0})
    >>> sim = od.Simulation(model, {"u": "cos(pi * x)"}, shape={"x": 50}, spacing=0.02)
    >>> sim.advance_to(0.1)
    >>> round(sim.summary().u.max, 3)
    0.373
    """

    def __init__(
        self,
        model: Model,
        start: Any = None,
        *,
        shape: Any = None,
        spacing: Any = None,
        origin: Any = None,
        boundary: Any = None,
        velocity: Any = None,
        sources: Any = None,
        diffusion: Any = None,
        mask: Any = None,
        stencil: str | None = None,
        t: float | None = None,
        method: str | None = None,
        stages: int | None = None,
        step: Any = None,
        tolerance: Any = None,
        force: bool = False,
        max_steps: int | None = None,
        precision: str = "f64",
        device: str = "cpu",
        threads: int | None = None,
        seed: int | None = None,
        title: str | None = None,
    ) -> None:
        options = {k: v for k, v in locals().items() if k not in ("self", "model", "start", "__class__")}
        case = build(model, start, options)
        self._set(case.open(), case.document, case.dims)

    def _set(self, raw: _odeum.Simulation, document: Document, dims: Sequence[str]) -> None:
        self._raw = raw
        self._document = document
        # The time that steps have ended at, and the one that was asked for, which differs by rounding.
        self._reached: tuple[float, float] | None = None
        # Where it began: times are sums of steps from there.
        self._origin: float = raw.t
        sizes, spacing, origin = raw.grid
        self.species: tuple[str, ...] = tuple(raw.species)
        named = "title" in document or "problem" in document["system"]
        self.title: str = raw.title if named else ", ".join(self.species)
        self._parameters = MappingProxyType(dict(raw.parameters))
        self.equations: tuple[str, ...] = tuple(raw.lines)
        # Along x, y and z.
        self.sizes: Mapping[str, int] = MappingProxyType(dict(zip(AXES, sizes, strict=True)))
        self.spacing: Mapping[str, float] = MappingProxyType(dict(zip(AXES, spacing, strict=True)))
        self.origin: Mapping[str, float] = MappingProxyType(dict(zip(AXES, origin, strict=True)))
        self.shape: tuple[int, ...] = tuple(sizes[::-1])
        self.dims = tuple(dims) or tuple(dim for dim in DIMS if self.sizes[dim] > 1) or ("x",)
        self.method: str = raw.method
        self.device: str = raw.device
        self.precision: str = document.get("run", {}).get("precision", "f64")
        mask = raw.mask
        self.mask: Cells | None = None if mask is None else np.asarray(mask).astype(bool)
        if self.mask is not None:
            # The integration has its own.
            self.mask.flags.writeable = False
        self._is_made = type(self) is Simulation

    @classmethod
    def from_case(
        cls, path: str | Path, *, device: str | None = None, threads: int | None = None
    ) -> Simulation:
        """The simulation of a case file; `device` and `threads` take precedence over its own."""
        threads = _options.threads({"threads": threads})
        path = Path(path)
        text, keys = load_case_text(path)
        _nvrtc.load_for({"run": {"device": device}} if device else keys)
        raw = _odeum.Simulation.read(path, text, device=device, threads=threads)
        simulation = cls.__new__(cls)
        folder = path.absolute().parent
        document = paths.renamed(keys, lambda name: str(folder / name))
        simulation._set(raw, document, ())
        return simulation

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a simulation is no value that can be copied: make another one from its `state`, or write it (`save`, `to_toml`)"
        )

    # What there is

    @property
    def t(self) -> float:
        """The time reached [time], also while another thread advances it: the one asked for, not a sum of steps."""
        t, reached = self._raw.t, self._reached
        return reached[1] if reached is not None and reached[0] == t else t

    @property
    def parameters(self) -> Mapping[str, float]:
        """Names and values of the parameters, which do not change on the way."""
        return self._parameters

    @property
    def arrays(self) -> dict[str, Cells]:
        """Copies of the values of each species [nz, ny, nx]."""
        return {name: np.asarray(self._raw.values(s)) for s, name in enumerate(self.species)}

    @property
    def state(self) -> xarray.Dataset:
        """A copy of the present state, with `t` and the centres of the cells as coordinates.

        These have the edge of a cell as ``spacing``, and axes of one cell are scalar coordinates: a simulation that
        starts from it has the same grid.
        """
        from odeum.fields.state import dataset

        return dataset(self)

    def centres(self, axis: str) -> Floats:
        """Centres of the cells along an axis [length]."""
        if axis not in AXES:
            raise InputError("axis", repr(axis), "name one of the axes x, y and z")
        numbers = np.arange(self.sizes[axis], dtype=np.float64)
        return self.origin[axis] + self.spacing[axis] * (numbers + 0.5)

    def summary(self) -> Summaries:
        """Sum, mass, mean and extremes of each species: ``sim.summary().u.max``."""
        return Summaries(self._raw.summaries())

    @property
    def steps(self) -> int:
        """Steps that succeeded."""
        return self._raw.counts()[0]

    @property
    def rejected(self) -> int:
        """Steps that were too inaccurate and taken again."""
        return self._raw.counts()[1]

    @property
    def nfev(self) -> int:
        """Evaluations of the right-hand side over all cells."""
        return self._raw.counts()[2]

    @property
    def speed(self) -> float | None:
        """Cells whose right-hand side was evaluated in a second of advancing; `None` before the first step."""
        _, _, nfev, seconds = self._raw.counts()
        return nfev * float(np.prod(self.shape)) / seconds if nfev and seconds else None

    def stability(self, until: float | None = None) -> Stability:
        """Limits of the steps for the present field, over times up to `until` (as far as `run` was told to go)."""
        return Stability(*self._raw.limits(None if until is None else times.to(self.t, until, "until")))

    @property
    def step_limit(self) -> float:
        """The largest stable step of the method for the present field [time]."""
        return self.stability().step

    # What is done

    def advance(self, dt: float, *, progress: Progress = None) -> None:
        """Goes on by a time [time]; see `advance_to`."""
        self._go(times.after(self.t, dt), None, progress)

    def advance_to(self, t: float, *, progress: Progress = None) -> None:
        """Goes on to a time [time].

        Raises
        ------
        SimulationError
            The steps have become unstable, or a value is not finite; the simulation stands at its last good state.
        Interrupted
            Ctrl-C, or `stop`; the simulation stands at the time it has reached, and can go on.
        DeviceError
            A call of a GPU failed. The simulation stands at the time it has reached, and can go on if the GPU can; where
            the way back to that state failed too, it was lost, and all that needs it raises this error from then on.
        """
        self._go(times.to(self.t, t, origin=self._origin), None, progress)

    def run(
        self,
        until: float | None = None,
        *,
        every: float | None = None,
        times: Any = None,
        progress: Progress = None,
    ) -> Iterator[xarray.Dataset]:
        """Goes on, and gives states on the way: ``for state in sim.run(until=10, every=1): ...``

        Parameters
        ----------
        until : float, optional
            The end [time]; that of the case file, or the last of `times`, unless said. Its state is the last.
        every : float, optional
            Time between two states [time]; the first comes after the first such interval. That of the case file unless
            said, or given by `times`.
        times : array_like, optional
            Times of the states instead, which rise.
        progress : bool or callable, optional
            A bar; or ``progress(t, until)``, called ten times a second.
        """
        from odeum.fields.state import require_xarray
        from odeum.fields.times import plan

        require_xarray()
        return self._states(plan(self.t, self._document, until, every, times), progress)

    def _states(self, ends: Sequence[float], progress: Progress) -> Iterator[xarray.Dataset]:
        with self._reported(progress, ends[-1]) as report:
            stands = "the next state is of this time, but the simulation stands at t = {}"
            for k, end in enumerate(ends):
                end = times.to(self.t, end, "run", stands, "begin another run there", self._origin)
                self._advance(end, ends[-1], report, k > 0)
                yield self.state

    def _go(self, end: float, horizon: float | None, progress: Progress) -> None:
        with self._reported(progress, end) as report:
            self._advance(end, horizon, report)

    @contextmanager
    def _reported(self, progress: Progress, end: float) -> Iterator[Any]:
        """What is called with the times on the way to one; Ctrl-C at any moment of it is `Interrupted`."""
        try:
            with times.bar(progress, self.t, end) as report:
                yield report
        except Interrupted:
            raise
        except KeyboardInterrupt as error:
            raise Interrupted(self) from error

    def _advance(self, end: float, horizon: float | None, report: Any, goes_on: bool = False) -> None:
        given: list[tuple[bool, BaseException | None]] = []
        try:
            # In one call of the interpreter's own: what a signal raises at the end comes when it is known what was reached.
            given.extend(map(self._raw.advance, [end], [horizon], [report], [goes_on]))
        finally:
            if given and given[0][0]:
                self._reached = self._raw.t, end
        reached, raised = given[0]
        if raised is not None:
            raise raised
        if not reached:
            raise Interrupted(self)

    def stop(self) -> None:
        """Ends an `advance` of another thread, or a `run`, also between two of its states: it raises `Interrupted` there."""
        self._raw.stop()

    # What is shown and written

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Writes the present state: ``.zarr`` (a store), ``.npz`` or ``.vti``."""
        files.save(self, Path(path), overwrite)

    def to_toml(self, path: str | Path, *, until: float | None = None, overwrite: bool = False) -> None:
        """Writes a case file from which ``odeum run`` does the same from the start, arrays beside it as NPY.

        It ends at `until`, or at the time reached. The names of the arrays begin with that of the case:
        ``a.initial-u.npy`` beside ``a.toml``. Files that were named stay where they are.
        """
        files.write_case(self, Path(path), until, overwrite)

    def to_pyvista(self) -> Any:
        """The present state as ``pyvista.ImageData``."""
        from odeum.fields.state import image_data

        return image_data(self)

    def plot(
        self,
        species: str | Sequence[str] | None = None,
        *,
        at: Mapping[str, float] | None = None,
        ax: Any = None,
    ) -> Any:
        """Draws species over x and y (the middle across z), and gives the matplotlib axes drawn on.

        Parameters
        ----------
        species : str or sequence of str, optional
            Which; all unless said.
        at : mapping, optional
            Where the field is cut: ``{"z": 0.5}``, ``{"x": 0.0}``.
        ax : matplotlib.axes.Axes, optional
            Where; of several species a sequence.
        """
        from odeum.fields.plot import plot

        return plot(self, species, at, ax)

    def __repr__(self) -> str:
        cells = " × ".join(str(n) for n in self.sizes.values())
        what = f"{', '.join(self.species)} on {cells} cells"
        return (
            f"<odeum.Simulation of {what}, t = {self.t:.10g}, {self.method}, {self.precision}, {self.device}>"
        )

    def _repr_html_(self) -> str:
        from odeum.fields.html import simulation

        try:
            return simulation(self)
        except OdeumError:
            # At work for another thread.
            return repr(self).replace("<", "&lt;").replace(">", "&gt;")
