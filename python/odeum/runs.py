"""Ensembles: which systems are integrated."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from odeum import _options
from odeum._case import Document, EnsembleCase, finished, toml, warned
from odeum._convert import Floats, flag, kept, not_lost, number, single, whole
from odeum._files import beside, free, save_columns, writing
from odeum._labels import Labels, refuse_others
from odeum._memory import refuse_too_many
from odeum._progress import Progress
from odeum.errors import InputError
from odeum.session import Session

if TYPE_CHECKING:
    from odeum.solution import Solution
    from odeum.system import System

# Columns and axes that are no variables: start and end of each system's span.
_SPANS = ("t_start", "t_end")


@dataclass(frozen=True, eq=False)
class Axis:
    """An axis of an ensemble: `values` of what is swept, `None` of runs and copies; of the runs of a part
    (`Runs.split`) their numbers in the whole."""

    name: str
    length: int
    values: Floats | NDArray[np.int64] | None = None

    @property
    def is_swept(self) -> bool:
        """Whether what is along it varies with its values; numbers of systems say only which they are."""
        return self.values is not None and self.values.dtype.kind == "f"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Axis):
            return NotImplemented
        same = (self.name, self.length) == (other.name, other.length)
        return same and np.array_equal(np.asarray(self.values), np.asarray(other.values))

    def __hash__(self) -> int:
        return hash((self.name, self.length))


def named(axes: Sequence[Axis], states: Sequence[str]) -> tuple[Axis, ...]:
    """The axes, each under a name that nothing else in a result has.

    What is swept keeps its name, but for an initial value `x`, which lies along ``x0``: `x` is the solution. A name
    that something else has got before has ``_`` behind it.
    """
    swept = {axis.name for axis in axes if axis.values is not None and axis.name not in states}
    taken = {"t", *states, *swept}
    result = []
    for axis in axes:
        name = axis.name
        if axis.values is None or name not in swept:
            name = name if axis.values is None else f"{name}0"
            while name in taken:
                name += "_"
            taken.add(name)
        result.append(replace(axis, name=name))
    return tuple(result)


def numbered(systems: NDArray[np.uint64], states: Sequence[str]) -> Axis:
    """The axis of some systems of an ensemble, which has their numbers."""
    (axis,) = named([Axis("run", len(systems))], states)
    return replace(axis, values=systems.astype(np.int64))


class Runs:
    """An ensemble of systems: all combinations of columns, sweeps and copies.

    Made by `System.sweep`, by calling a `System`, by `System.table`, `System.perturb` or ``system * n``; every
    method here gives a new ensemble.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self._columns: dict[str, Floats] = {}
        self._labels: dict[str, Labels] = {}
        self._sweep: dict[str, Floats] = {}
        self._copies = 1
        self._perturb: list[Document] = []
        self._seed: int | None = None
        self._part: tuple[int, int] | None = None

    def _with(self, **changes: Any) -> Runs:
        if self._part is not None:
            raise InputError("runs", "a part of an ensemble", "change the ensemble before it is split")
        runs = copy.copy(self)
        vars(runs).update({"_labels": self._labels, **changes})
        systems = math.prod(runs.shape)
        if systems > sys.maxsize:
            raise InputError("runs", f"{systems:,} systems", f"give {sys.maxsize:,} at most")
        return runs

    def __getstate__(self) -> dict[str, Any]:
        # Who gets an ensemble, as a worker does, may have no pandas.
        return {**vars(self), "_labels": {}}

    # What varies

    def sweep(self, /, **axes: Any) -> Runs:
        """All combinations with these values, each a new axis, in the order given.

        Parameters
        ----------
        **axes : array_like
            Values [k] of initial states or parameters, by name, or of `t_start` and `t_end`, where spans begin and end.
        """
        sweep = dict(self._sweep)
        for name, values in axes.items():
            self._free(name)
            sweep[name] = _axis(name, kept(name, values))
        return self._with(_sweep=sweep)

    def __call__(self, /, **columns: Any) -> Runs:
        """One system for each entry of arrays of equal length [M]; single numbers hold for all."""
        return self.table(columns)

    def table(self, table: Any) -> Runs:
        """One system for each row of a pandas DataFrame, or of a mapping of columns.

        An index is no column, but columns with different labels, as of two tables, are refused: they are paired by their
        places. Columns are initial states, parameters, and `t_start` and `t_end`, which give each system its span.
        """
        columns, labels = dict(self._columns), dict(self._labels)
        # A pandas Series has keys too: those of its rows.
        is_table = callable(getattr(table, "keys", None)) and getattr(table, "ndim", 2) == 2
        named = {str(name): table[name] for name in table.keys()} if is_table else None
        if named == {}:
            remedy = "give at least one, as {'x': [1.0, 2.0]}; for one system take `system.runs()`"
            raise InputError("table", "no columns", remedy)
        if named is None:
            found = type(table).__name__
            raise InputError(
                "table", found, "give a DataFrame of pandas or a mapping of columns: {'x': [1.0, 2.0]}"
            )
        index = getattr(getattr(table, "index", None), "names", getattr(table, "coords", ()))
        for name in index:
            if name not in named and name in (*self.system.variables, *_SPANS):
                found = f"{name} as an index or a coordinate"
                raise InputError("table", found, "make it a column, as by reset_index() or reset_coords()")
        for name, values in named.items():
            self._free(name)
            array = kept(name, values)
            columns[name] = array if array.ndim == 0 else _axis(name, array)
            labels[name] = Labels.of(values)
        lengths = {name: len(column) for name, column in columns.items() if column.ndim}
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise InputError(
                "columns", f"different lengths ({found})", "give arrays of equal length, or sweep"
            )
        refuse_others(labels)
        return self._with(_columns=columns, _labels=labels)

    def perturb(
        self,
        of: str | Sequence[str] = "states",
        *,
        relative: float | None = None,
        absolute: float | None = None,
        distribution: str = "uniform",
        seed: int | None = None,
    ) -> Runs:
        """Random changes, which depend on the seed, the number of the system and the component alone.

        Parameters
        ----------
        of : str or sequence of str
            ``"states"``, ``"parameters"``, or names; of a gas names alone, as ``["T", "p"]``.
        relative, absolute : float
            Half-width of a factor 1 + r u, or of an added a u, with u uniform in (-1, 1), or normal with
            standard deviation 1 (`distribution` ``"normal"``).
        seed : int, optional
            Another ensemble of the same kind. All perturbations of an ensemble have one seed; zero unless said.
        """
        is_list = isinstance(of, Iterable) and getattr(of, "ndim", 1) > 0
        what = of if isinstance(of, str) else list(of) if is_list else None
        if what is None or not all(isinstance(name, str) for name in what):
            raise InputError("perturb.of", repr(of), 'give "states", "parameters", or a list of names')
        entry: Document = {"of": what, "distribution": distribution}
        for name, size in (("relative", relative), ("absolute", absolute)):
            if size is not None:
                entry[name] = number(f"perturb.{name}", size)
        used = self._seed if seed is None else whole("seed", seed, 0, 2**64 - 1)
        if self._seed not in (None, used):
            found = f"{used} beside {self._seed} of a perturbation before"
            raise InputError("seed", found, "give one seed: what is perturbed has numbers of its own by it")
        return self._with(_perturb=[*self._perturb, entry], _seed=used)

    def __mul__(self, copies: int) -> Runs:
        return self._with(_copies=self._copies * whole("copies", copies, 1))

    __rmul__ = __mul__

    def _free(self, name: str) -> None:
        if name not in (*self.system.variables, *_SPANS):
            known = ", ".join([*self.system.variables][:12])
            raise InputError(name, "no state or parameter of this name", f"there are {known}")
        if name in self._columns or name in self._sweep:
            raise InputError(name, "values that were given before", "give each name once")

    # What there is

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes: the runs of columns, what is swept, copies."""
        systems = self._systems()
        return self._axes() if systems is None else (numbered(systems, self.system.states),)

    def _axes(self) -> tuple[Axis, ...]:
        """The same, of a part those of the whole."""
        axes = [Axis("run", rows) for rows in self._runs()]
        axes += [Axis(name, len(values), values) for name, values in self._sweep.items()]
        axes += [Axis("copy", self._copies)] if self._copies > 1 else []
        return named(axes, self.system.states)

    def _systems(self) -> NDArray[np.uint64] | None:
        """The numbers of the systems of a part."""
        return None if self._part is None else np.arange(*self._part, dtype=np.uint64)

    def _runs(self) -> list[int]:
        """The length of columns, where there are some."""
        return [len(column) for column in self._columns.values() if column.ndim][:1]

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return tuple(axis.length for axis in self.axes)

    def __len__(self) -> int:
        return math.prod(self.shape)

    def split(self, parts: int) -> list[Runs]:
        """Parts of about equal size, for several machines: every system has the bits it has in the whole.

        The solutions of the parts are joined by `odeum.concat`.
        """
        parts = whole("parts", parts, 1, len(self))
        if self._part is not None:
            raise InputError("runs", "a part of an ensemble", "split the whole")
        bounds = [len(self) * k // parts for k in range(parts + 1)]
        all_parts = []
        for first, end in zip(bounds, bounds[1:], strict=False):
            part = copy.copy(self)
            part._part = (first, end)
            all_parts.append(part)
        return all_parts

    # What is done

    def case(self, span: Any = None, **options: Any) -> EnsembleCase:
        """The case of this ensemble; see `solve` for the options. Parts (`split`) have none."""
        if self._part is not None:
            raise InputError(
                "runs", "a part of an ensemble", "take the case of the whole: files have no parts"
            )
        if span is not None and len(self._spans()) == len(_SPANS):
            remedy = "leave it out: each system has its own span"
            raise InputError("span", "a span beside t_start and t_end", remedy)
        case = self._case(span, options)
        # It is the caller's, who may change it; the system has the sections and mechanisms that it shares.
        return replace(case, document=copy.deepcopy(case.document), mechanisms=dict(case.mechanisms))

    def _case(self, span: Any, options: dict[str, Any]) -> EnsembleCase:
        """The same, of a part that of the whole."""
        if span is None and len(self._spans()) < len(_SPANS) and "problem" not in self.system._section:
            raise InputError("span", "None", "give start and end: (0.0, 10.0)")
        document = _options.document(self.system._usual, span, options)
        ensemble: Document = {}
        if self._copies > 1:
            ensemble["count"] = self._copies
        if self._perturb:
            ensemble["perturb"] = self._perturb
            ensemble["seed"] = self._seed or 0
        if ensemble:
            document["ensemble"] = ensemble
        case = self.system._case(document)
        return EnsembleCase(case.document, case.folder, self._table(), case.mechanisms, axes=self._axes())

    def _table(self) -> dict[str, Floats]:
        """A row for each combination of columns and sweeps; their copies follow one another."""
        rows = [*self._runs(), *map(len, self._sweep.values())]
        refuse_too_many(math.prod(rows), len(self._columns) + len(self._sweep))
        table: dict[str, Floats] = {}
        for name, column in self._columns.items():
            column = column.reshape([-1] + [1] * len(self._sweep)) if column.ndim else column
            table[name] = np.broadcast_to(column, rows or [1]).reshape(-1)
        for k, (name, values) in enumerate(self._sweep.items()):
            after = [1] * (len(self._sweep) - k - 1)
            table[name] = np.broadcast_to(values.reshape([-1, *after]), rows).reshape(-1)
        return table

    def solve(
        self, span: Any = None, *, progress: Progress = None, results_on_gpu: bool = False, **options: Any
    ) -> Solution:
        """Integrates all systems.

        Parameters
        ----------
        span : (float, float)
            Start and end of the time. Not needed where the table has `t_start` and `t_end`, or a built-in
            problem its own span.
        method : str or dict
            ``"tsit5"`` (default, of reactors ``"rodas5p"``), ``"dopri5"``, ``"rkck"``, ``"vern7"``; ``"rkc"`` for
            moderately stiff systems; ``"rodas4"``, ``"rodas5p"``, ``"radau"``, ... for stiff ones
            (`odeum.methods()`); or the keys of ``[method]`` in a case file.
        rtol, atol : float
            Tolerances (1e-6, 1e-9; of reactors 1e-6, 1e-15); `atol` also by state, as ``{"x": 1e-10, "others": 1e-6}``.
        save : array_like or int
            Times at which states are kept too [K], or their number, two or more, evenly spaced over the span.
        until : dict
            A system ends where a state reaches a level: ``{"x": {"rises_to": 1.0}}``; also `rises_by`,
            `falls_to`, `falls_by`.
        first_step, largest_step, max_steps, max_evaluations, growth_limit, controller, fixed_step, ... :
            Keys of ``[method]`` in a case file.
        precision : {"f64", "f32"}
        device : str
            ``"cpu"`` (default), ``"cuda"``, ``"cuda:1"``, ``"cuda:0,1"``.
        threads : int, optional
            Threads of the CPU; all unless said.
        progress : bool or callable
            True: a bar (tqdm). A callable gets the number of systems that have ended, and of all.
        results_on_gpu : bool
            True: with ``device="cuda"``, states and saved states stay in the memory of the GPU, where PyTorch, CuPy,
            JAX and Numba take them without a copy (`SolutionOnGpu`). All systems have room there at once, and
            progress is told at the end.

        Returns
        -------
        Solution
            Of every system: a system that fails has a status, and raises nothing.

        Raises
        ------
        InputError
            An argument that cannot be used.
        DeviceError
            A GPU that is not there.
        Interrupted
            Ctrl-C; `partial` holds the systems that had ended.
        """
        flag("results_on_gpu", results_on_gpu)
        threads = _options.threads(options)
        case = self._case(span, options)
        if self._is_plain(case):
            system = self.system
            usual = system.variables
            rows = [case.table.get(name, np.array([value])) for name, value in usual.items()]
            arrays = rows[: len(system.states)], rows[len(system.states) :]
            is_single = case.document.get("run", {}).get("precision") == "f32"
            if is_single:
                for name, row in zip(system.parameters, arrays[1], strict=True):
                    not_lost(name, row if len(row) > 1 else row[0])
            integrate = system._solve_arrays_on_gpu if results_on_gpu else system._solve_arrays
            try:
                raw, raised = integrate(case, len(self), *arrays, threads, progress)
            except InputError:
                # The engine looks at all numbers as well, but does not know what was given.
                if is_single:
                    for name, row in zip(usual, rows, strict=True):
                        single(name, row if len(row) > 1 else row[0])
                raise
            return warned(finished(case, system.title, system.states, self.axes, raw, raised))
        return case.solve(self._systems(), threads=threads, progress=progress, results_on_gpu=results_on_gpu)

    def session(self, **options: Any) -> Session:
        """Brings all systems to the memory of their device, to stay there over many calls of `Session.advance`.

        For codes that do something between the steps, on the CPU or a GPU (`Session.states_on_gpu`). Results of one call
        stay on a GPU by `solve` with ``results_on_gpu=True``.

        Parameters
        ----------
        **options
            Those of `solve` but for `save`, `until` and `progress`; on one GPU at most.

        Returns
        -------
        Session

        Raises
        ------
        InputError
            An argument that cannot be used.
        DeviceError
            A GPU that is not there, or has too little memory.
        """
        remedies = {
            "save": "look at the states after each advance",
            "until": "a session takes all systems over the same spans: solve",
            "progress": "call it between the advances",
            "results_on_gpu": "leave it out: states stay on the device",
            "segments": "advance over one after the other",
            "span": "`advance` says where to go",
        }
        for name, remedy in remedies.items():
            if options.get(name) is not None:
                raise InputError(name, "in a session", remedy)
        options = {name: value for name, value in options.items() if name not in remedies}
        for name in self._spans():
            raise InputError(name, "in a session", "leave it out: `advance` says where to go")
        threads = _options.threads(options)
        case = self._case(_options.SHORT_SPAN, {"warm_start": True, **options, "segments": 1})
        raw = case.open(threads).session(self._systems())
        is_single = case.document.get("run", {}).get("precision") == "f32"
        return Session._of(raw, self.system.states, self.axes, len(self), is_single)

    def _is_plain(self, case: EnsembleCase) -> bool:
        """True where initial values and parameters are all there is: then the solver of earlier calls serves."""
        time = case.document.get("time", {})
        changed = "ensemble" in case.document or self._part is not None or self._spans()
        return self.system.is_direct and not changed and "span" in time and "until" not in time

    def _spans(self) -> list[str]:
        """What gives systems spans of their own."""
        names = [name for name in _SPANS if name not in self.system.variables]
        return [name for name in names if name in self._columns or name in self._sweep]

    def values(self, name: str) -> Floats:
        """What the systems start with: initial values or a parameter, with the shape of the ensemble."""
        self._known(name)
        # A span that holds those of the systems.
        given = {**self._columns, **self._sweep}
        times = np.concatenate([[0.0], *(np.atleast_1d(given[name]) for name in self._spans())])
        case = self._case(
            (2.0 * times.min() - 1.0, 2.0 * times.max() + 1.0),
            {"rtol": 1e-6, "atol": 1e-6, **self.system._reading},
        )
        values: Floats = np.asarray(case.open().values(name))
        return values[slice(*self._part) if self._part else slice(None)].reshape(self.shape)

    def _known(self, name: str) -> None:
        if name not in self.system.variables:
            known = ", ".join([*self.system.variables][:12])
            raise InputError("name", repr(name), f"there are {known}")

    def to_toml(
        self, path: str | Path | None = None, span: Any = None, *, overwrite: bool = False, **options: Any
    ) -> str:
        """The case file of this ensemble, with the options of `solve`: ``odeum run`` does the same.

        With a `path` the file is written, and columns beside it as an NPZ file. Without one, columns are
        refused: a case file names a file for them. Case files sweep no spans: of an ensemble that does, the NPZ file
        has all combinations along one axis. Files that exist are refused unless `overwrite` is true.

        Returns
        -------
        str
            The text.
        """
        return self._write(None if path is None else Path(path), span, overwrite, {}, options)

    def _write(
        self,
        path: Path | None,
        span: Any,
        overwrite: bool,
        texts: Mapping[str, str],
        options: dict[str, Any],
    ) -> str:
        """Writes the case and what it needs: a table, and `texts` by the names of their files."""
        if options.get("threads") is not None:
            raise InputError("threads", "in a case", "give them to the command: --threads")
        case = self.case(span, **options)
        document = copy.deepcopy(case.document)
        ensemble = document.setdefault("ensemble", {})
        sweeps_spans = any(name in self._sweep for name in self._spans())
        columns = self._table() if sweeps_spans else self._columns
        if self._sweep and not sweeps_spans:
            ensemble["sweep"] = {name: values.tolist() for name, values in self._sweep.items()}
        if columns:
            if path is None:
                found = "None, with swept spans" if sweeps_spans else "None, with columns"
                raise InputError("path", found, "give the path of the case file")
            ensemble["table"] = beside(path, "table.npz").name
        if not ensemble:
            del document["ensemble"]
        text = toml(document)
        if path is None:
            return text
        files = {path: text, **{path.with_name(name): other for name, other in texts.items()}}
        table = path.with_name(ensemble["table"]) if columns else None
        for file in (*files, *([table] if table else [])):
            free(file, overwrite)
        if table:
            rows = max((len(c) for c in columns.values() if c.ndim), default=1)
            with writing(table):
                save_columns(table, {name: np.broadcast_to(c, rows) for name, c in columns.items()})
        for file, each in files.items():
            with writing(file):
                file.write_text(each, encoding="utf-8")
        return text

    def __repr__(self) -> str:
        axes = " x ".join(f"{axis.name} {axis.length}" for axis in self.axes)
        return f"<odeum.{type(self).__name__}: {len(self):,} systems{f' ({axes})' if axes else ''} of {self.system!r}>"


def _axis(name: str, array: Floats) -> Floats:
    if array.ndim != 1 or array.size == 0:
        found = "no values" if array.size == 0 else f"an array of shape {array.shape}"
        raise InputError(name, found, "give one axis of values")
    return array


def concat(solutions: Iterable[Solution]) -> Solution:
    """The solutions of the parts of an ensemble (`Runs.split`), in any order, joined by the numbers of their systems.

    Where all parts are there the result has the axes of the whole ensemble. Where some are missing it has one axis,
    with the numbers of the systems that are there, and a warning, also in `warnings`, says how many are not.
    """
    from odeum.solution import Solution

    parts = list(solutions) if isinstance(solutions, Iterable) else [solutions]
    for part in parts:
        if not isinstance(part, Solution):
            raise InputError("solutions", type(part).__name__, "give solutions of the parts of an ensemble")
    return Solution._joined(parts)
