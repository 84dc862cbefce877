"""What an integration gives."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from odeum import _odeum, _options
from odeum._case import EnsembleCase, warn_of_extrapolation
from odeum._case import solve as solve_case
from odeum._convert import Floats
from odeum._ended import Ended
from odeum._findings import FindingTuple, raise_and_warn
from odeum._progress import Progress, check
from odeum.errors import InputError, SolveError
from odeum.statuses import NOT_RUN, STATUSES, is_success

if TYPE_CHECKING:
    import xarray

    from odeum.runs import Axis


# What has the systems along its last axis.
_BY_SYSTEM = ("states", "saved_states", "_t", "_status", "_n_saved")


class Solution(Ended):
    """End states, statuses and counts of M systems of n equations.

    Attributes
    ----------
    axes : tuple of Axis
        Names, lengths and values of the axes of the ensemble; their lengths are `shape`.
    state_names : tuple of str
        Names of the states [n].
    states : ndarray
        State at the time reached [n, M], in memory as it was computed; of a system that failed its last good one.
    save_times : ndarray
        Times of the saved states [K].
    saved_states : ndarray
        Saved states [K, n, M]; NaN where a system did not get there.
    warnings : tuple of str
        Remarks on the run as a whole.
    busy_lanes : float or None
        Fraction of the work of the lanes that advanced a system.
    """

    def __init__(self) -> None:
        raise TypeError("solutions are made by `solve`")

    title: str
    states: Floats
    save_times: Floats
    saved_states: Floats
    warnings: tuple[str, ...]
    busy_lanes: float | None
    _t: Floats
    _stats: NDArray[np.uint32]
    _n_saved: NDArray[np.uint32]
    _case: EnsembleCase
    _systems: NDArray[np.uint64] | None

    @classmethod
    def _of(
        cls,
        case: EnsembleCase,
        title: str,
        states: tuple[str, ...],
        axes: Sequence[Axis],
        raw: _odeum.Solution,
        systems: NDArray[np.uint64] | None,
    ) -> Solution:
        solution = cls.__new__(cls)
        solution._begin(case, title, states, axes, systems)
        solution.states = np.asarray(raw.states)[-1]
        solution.save_times = np.asarray(raw.save_times, dtype=np.float64)
        solution.saved_states = np.asarray(raw.saved)
        solution.warnings = tuple(raw.warnings)
        solution.busy_lanes = raw.busy_lanes
        solution._t = np.asarray(raw.t)
        solution._status = np.asarray(raw.status)
        solution._stats = np.asarray(raw.stats)
        solution._n_saved = np.asarray(raw.n_saved)
        return solution

    def _begin(
        self,
        case: EnsembleCase,
        title: str,
        states: tuple[str, ...],
        axes: Sequence[Axis],
        systems: NDArray[np.uint64] | None,
    ) -> None:
        self._case = case
        self._systems = systems
        self.title = title
        self.state_names = states
        self.axes = tuple(axes)

    @property
    def _has_data(self) -> bool:
        """Whether its model has data that end, as mechanisms alone have: other counts may stay on a GPU."""
        return "mechanism" in self._case.document.get("system", {})

    def _forget_left(self) -> None:
        """Takes the saved states from systems that were left on their way: they count as not begun."""
        if len(self._n_saved):
            left = self._status == NOT_RUN
            self._n_saved[left] = 0
            self.saved_states[..., left] = np.nan

    @classmethod
    def _joined(cls, parts: list[Solution]) -> Solution:
        from odeum.runs import numbered

        if not parts:
            raise InputError("solutions", "none", "give one at least")
        parts = [part.to_host() for part in parts]
        first = parts[0]
        for k, part in enumerate(parts):
            if part._systems is None:
                raise InputError(f"solutions[{k}]", "a whole ensemble", "join solutions of `Runs.split`")
            if not part._case.has_systems_of(first._case):
                raise InputError(f"solutions[{k}]", "another ensemble", "join parts of one ensemble")
            if part._case.time("span") != first._case.time("span"):
                raise InputError(f"solutions[{k}]", "another span", "join parts over one span")
            if part._case.time("until") != first._case.time("until"):
                raise InputError(f"solutions[{k}]", "another `until`", "join parts that end alike")
            if not np.array_equal(part.save_times, first.save_times):
                raise InputError(f"solutions[{k}]", "other save times", "join parts with the same save times")
        systems = np.concatenate([part._systems for part in parts if part._systems is not None])
        order = np.argsort(systems)
        numbers = systems[order]
        if np.any(numbers[1:] == numbers[:-1]):
            raise InputError(
                "solutions", "systems that are there twice", "give each part once, of one `Runs.split`"
            )
        joined = copy.copy(first)
        joined._systems = numbers
        for name, axis in {**dict.fromkeys(_BY_SYSTEM, -1), "_stats": 0}.items():
            array = np.concatenate([getattr(part, name) for part in parts], axis)
            # Without save times there is nothing of what is saved.
            if array.size and not np.array_equal(systems, numbers):
                array = np.take(array, order, axis)
            setattr(joined, name, array)
        joined.axes = first._case.axes or ()
        total = math.prod(joined.shape)
        if len(numbers) < total:
            joined.axes = (numbered(numbers, joined.state_names),)
        joined.busy_lanes = None
        # What a part says is of its systems alone, but for those that it lacks.
        texts = [(part, text) for part in parts for text in part.warnings if text != part._missing()]
        joined.warnings = tuple(f"{part._extent()}: {text}" if parts[1:] else text for part, text in texts)
        remarks: list[FindingTuple] = []
        if found := joined._missing():
            remedy = f"join all parts; axis `{joined.axes[0].name}` has the numbers of those that are there"
            remarks.append(("warning", found, "", "solutions", "", remedy))
            joined.warnings += (found,)
        others = [(part, keys) for part in parts if (keys := part._case.other_options(first._case))]
        if others:
            names = ", ".join(dict.fromkeys(name for _, keys in others for name in keys))
            found = f"{len(others):,} of {len(parts):,} parts have other options than the first: {names}"
            found += f" ({others[0][0]._extent()}{' and others' if others[1:] else ''})"
            remedy = "`case_text` has those of the first, and so has `retry` for what it is not given"
            remarks.append(("warning", found, "", "solutions", "", remedy))
            joined.warnings += (found,)
        raise_and_warn(remarks, joined)
        return joined

    def _extent(self) -> str:
        """Which systems of the whole ensemble it has, as text."""
        numbers = np.arange(len(self)) if self._systems is None else self._systems
        first, last = numbers[0], numbers[-1]
        if len(numbers) == 1:
            return f"system {first}"
        of = "" if last - first + 1 == len(numbers) else f"{len(numbers):,} of "
        return f"{of}systems {first} to {last}"

    def _missing(self) -> str:
        """How many systems of the whole ensemble it lacks, as text; empty where it has all."""
        axes, numbers = self._case.axes, self._systems
        if axes is None or numbers is None:
            return ""
        total = math.prod(axis.length for axis in axes)
        if len(numbers) == total:
            return ""
        first = np.setdiff1d(np.arange(len(numbers) + 1, dtype=np.uint64), numbers)[0]
        return f"{total - len(numbers):,} of {total:,} systems are missing, the first is system {first}"

    # Arrays

    def _end_states(self) -> Floats:
        return self.states

    @property
    def saved(self) -> Floats:
        """Saved states [*shape, K, n]: a view of `saved_states`."""
        saved = self.saved_states.transpose(2, 0, 1)
        return saved.reshape(*self.shape, len(self.save_times), len(self.state_names))

    @property
    def t(self) -> Floats:
        """Time reached [*shape]."""
        return self._t.reshape(self.shape)

    @property
    def n_saved(self) -> NDArray[np.uint32]:
        """How many of the save times each system reached [*shape]."""
        reached = self._n_saved if len(self._n_saved) else np.zeros(len(self), np.uint32)
        return reached.reshape(self.shape)

    @property
    def counts(self) -> dict[str, NDArray[np.uint32]]:
        """What each system cost, by name: steps, rejected, nfev, njev, nlu, ... [*shape].

        ``outside`` counts steps that ended where the data of the model do not reach, as temperatures beyond the
        polynomials of a mechanism.
        """
        return {name: self._stats[:, k].reshape(self.shape) for k, name in enumerate(_odeum.counts())}

    def __getattr__(self, name: str) -> Any:
        if name in _odeum.counts() and "_stats" in vars(self):
            return self.counts[name]
        raise AttributeError(f"a solution has no {name!r}")

    # Failures

    def summary(self) -> dict[str, int]:
        """How many systems ended in each status, the most frequent first."""
        numbers, counts = np.unique(self._status, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return {STATUSES[numbers[k]].name: int(counts[k]) for k in order}

    def raise_if_failed(self) -> Solution:
        """Itself, or a `SolveError` that says how many systems failed, and what helps."""
        if not self._status.any():
            return self
        failed = np.flatnonzero(~is_success(self._status))
        if not len(failed):
            return self
        numbers = np.arange(len(self)) if self._systems is None else self._systems
        lines = [f"{len(failed):,} of {len(self):,} systems failed"]
        for name, count in self.summary().items():
            status = next(status for status in STATUSES if status.name == name)
            if not status.is_success:
                first = numbers[self._status == status.number][0]
                lines.append(f"{count:,} {name} (the first is system {first}): {status.advice}")
        raise SolveError("\n".join(lines), tuple(int(k) for k in numbers[failed]))

    def retry(self, *, progress: Progress = None, **changes: Any) -> Solution:
        """Integrates those that failed again from their start, with other options of `solve`.

        Options that are not given stay, but for `growth_limit`, `max_stages` and `spectral_radius` with another
        method.

        Returns
        -------
        Solution
            The same, with the new results of these systems; its `case_text` has the new options, and `warnings` says
            of how many systems.
        """
        check(progress)
        threads = _options.threads(changes)
        former = self._case.document.get("method", {}).get("name")
        case = self._case.with_keys(_options.changes(changes, former))
        failed = np.flatnonzero(~is_success(self._status))
        opened = case.open(threads) if len(failed) or changes else None
        if opened is None or not len(failed):
            return self
        numbers = failed.astype(np.uint64) if self._systems is None else self._systems[failed]
        again = solve_case(case, opened, numbers, progress)
        if not np.array_equal(again.save_times, self.save_times):
            raise InputError("save", "other save times", "retry with the save times of the solution")
        merged = copy.copy(self)
        for name in _BY_SYSTEM:
            before, new = getattr(self, name), getattr(again, name)
            # Of another precision each may be.
            array = before.astype(np.result_type(before, new))
            if array.size:
                array[..., failed] = new
            setattr(merged, name, array)
        merged._stats = self._stats.copy()
        merged._stats[failed] = again._stats
        merged._case = case
        others = case.other_options(self._case)
        remark = f"{len(failed):,} of {len(self):,} systems were integrated again"
        remark += f", with other options than before: {', '.join(others)}" if others else ""
        merged.warnings = tuple(dict.fromkeys((*self.warnings, *again.warnings, remark)))
        if again._has_data:
            warn_of_extrapolation(again.counts, "the solution", merged)
        return merged

    # Where results go

    def to_host(self) -> Solution:
        """Itself; of one whose states are on a GPU (`SolutionOnGpu`) a copy with NumPy's arrays."""
        return self

    @property
    def case_text(self) -> str:
        """The case that was run, as TOML; columns and axes from arrays stand beside it.

        Where systems have different options, as after `retry`, the case has those of the last retry, or of the first
        part that was joined, and `warnings` says so.
        """
        return self._case.text()

    def to_xarray(self) -> xarray.Dataset:
        """A dataset with the states by name along the axes of the ensemble.

        With save times these are the saved states, along `t` too, and those at the time reached, ``t_end``, have names
        with ``_end`` behind them. ``status`` has the attributes `flag_values` and
        `flag_meanings` of the CF conventions.
        """
        from odeum._xarray import dataset

        return dataset(self)

    def plot(self, state: str | None = None, ax: Any = None) -> Any:
        """A picture with matplotlib: saved states over time, or end states over one or two axes."""
        from odeum.plot import plot

        return plot(self, state, ax)

    def __repr__(self) -> str:
        ends = ", ".join(f"{count:,} {name}" for name, count in self.summary().items())
        axes = " x ".join(f"{axis.name} {axis.length}" for axis in self.axes)
        steps = self._stats[:, 0]
        cost = f"{steps.mean():.4g} steps each" if len(steps) else "no systems"
        return (
            f"<odeum.Solution: {ends}{f' ({axes})' if axes else ''}; {cost}, at most {steps.max(initial=0)}>"
        )

    def _repr_html_(self) -> str:
        from odeum._html import solution

        return solution(self)
