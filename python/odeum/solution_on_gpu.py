"""Solutions whose states stay on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from odeum import _odeum
from odeum._case import EnsembleCase
from odeum._progress import Progress
from odeum.solution import Solution
from odeum.statuses import NOT_RUN

if TYPE_CHECKING:
    import xarray

    from odeum.runs import Axis


_COPIED = {"_t": "copy_t", "_stats": "copy_stats", "_n_saved": "copy_n_saved"}


class SolutionOnGpu(Solution):
    """A `Solution` whose states stay in the memory of the GPU that integrated: `solve` with ``results_on_gpu=True``.

    `states`, `saved_states`, `y`, `saved` and each state by its name have the shapes that they have elsewhere, and are arrays that
    PyTorch, CuPy, JAX and Numba take without a copy: ``torch.from_dlpack(solution.y)``. They own the memory, which lives as long as
    one of them or the solution. What is written to them is in the solution. All else is NumPy's; what needs the states, as
    `to_xarray`, `plot`, `retry` and pickling, copies them to the CPU, as `to_host` does.
    """

    _there: _odeum.SolutionOnGpu

    @classmethod
    def _at(
        cls,
        case: EnsembleCase,
        title: str,
        states: tuple[str, ...],
        axes: Sequence[Axis],
        there: _odeum.SolutionOnGpu,
        systems: NDArray[np.uint64] | None = None,
    ) -> SolutionOnGpu:
        solution = cls.__new__(cls)
        solution._begin(case, title, states, axes, systems)
        solution._there = there
        arrays: Any = {"states": there.states, "saved_states": there.saved}
        vars(solution).update(arrays)
        solution.save_times = np.asarray(there.save_times, dtype=np.float64)
        solution.warnings = ()
        solution.busy_lanes = there.busy_lanes
        solution._status = np.asarray(there.status)
        return solution

    def _forget_left(self) -> None:
        # The saved states stay where they are: the counts say that these are none.
        if len(self._n_saved):
            self._n_saved[self._status == NOT_RUN] = 0

    def __getattr__(self, name: str) -> Any:
        there = vars(self).get("_there")
        if there is not None and name in _COPIED:
            # It comes to the CPU when it is first asked for.
            values = vars(self)[name] = np.asarray(getattr(there, _COPIED[name])())
            return values
        if there is not None and name in _odeum.counts():
            return self.counts[name]
        return super().__getattr__(name)

    @property
    def y(self) -> Any:
        """State at the time reached [*shape, n], on the GPU."""
        return self._there.states.split_last(self.shape)

    @property
    def saved(self) -> Any:
        """Saved states [*shape, K, n], on the GPU."""
        return self._there.saved.split_last(self.shape)

    def __getitem__(self, state: str) -> Any:
        """A state at the time reached [*shape], by its name, on the GPU."""
        return self._there.states[self._place(state)].split_last(self.shape)

    def to_host(self) -> Solution:
        """A copy with NumPy's arrays, once what was given to the GPU before is done."""
        host = Solution.__new__(Solution)
        vars(host).update({name: value for name, value in vars(self).items() if name != "_there"})
        host._t, host._stats, host._n_saved = self._t, self._stats, self._n_saved
        host.states = np.asarray(self._there.copy_states())
        host.saved_states = np.asarray(self._there.copy_saved())
        return host

    def retry(self, *, progress: Progress = None, **changes: Any) -> Solution:
        """As `Solution.retry`; the result is NumPy's."""
        return self.to_host().retry(progress=progress, **changes)

    def to_xarray(self) -> xarray.Dataset:
        """As `Solution.to_xarray`."""
        return self.to_host().to_xarray()

    def plot(self, state: str | None = None, ax: Any = None) -> Any:
        """As `Solution.plot`."""
        return self.to_host().plot(state, ax)

    def __reduce__(self) -> Any:
        return Solution.to_host, (self.to_host(),)
