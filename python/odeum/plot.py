"""Pictures of solutions, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from odeum._convert import Floats
from odeum.errors import InputError

if TYPE_CHECKING:
    from odeum.runs import Axis
    from odeum.solution import Solution

# Lines of more systems than this hide one another.
_LINES = 50
# Of numbers beyond this matplotlib takes differences that are infinite.
_LARGEST = 1e307


def plot(solution: Solution, state: str | None = None, ax: Any = None) -> Any:
    """Draws a solution, and gives the axes it is drawn on.

    Saved states are drawn over time, for up to 50 systems spread over the ensemble; end states over the one or
    two axes of the ensemble, in order, or as a histogram. Systems that failed are left out there, and numbers that no
    picture can show, as infinite ones. Of two axes, one with equal values is drawn over the numbers of its places.

    Parameters
    ----------
    state : str, optional
        Which; the first one unless said (over time and with one system all of them).
    ax : matplotlib.axes.Axes, optional
        Where.
    """
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install odeum[plot]") from error
    names = solution.state_names
    if state is not None and state not in names:
        raise InputError("state", repr(state), f"there are {', '.join(names[:12])}")
    if ax is None:
        _, ax = pyplot.subplots(figsize=(5.0, 3.2), layout="constrained")
    k = names.index(state) if state is not None else 0
    axes = solution.axes
    ends = np.where(solution.success.ravel(), _drawable(solution.states[k]), np.nan)
    if len(solution.save_times):
        shown = np.unique(np.linspace(0, len(solution) - 1, min(len(solution), _LINES)).astype(int))
        saved = _drawable(solution.saved_states[..., shown])
        if len(solution) == 1 and state is None:
            for i, name in enumerate(names[:_LINES]):
                ax.plot(solution.save_times, saved[:, i, 0], label=name)
            if len(names) <= 10:
                ax.legend()
        else:
            ax.plot(solution.save_times, saved[:, k, :], lw=0.8)
            ax.set_ylabel(names[k])
        ax.set_xlabel("t")
    elif len(axes) == 1 and axes[0].is_swept:
        places, order, label = _along(axes[0])
        ax.plot(places, ends[order])
        ax.set_xlabel(label)
        ax.set_ylabel(names[k])
    elif len(axes) == 2 and all(axis.is_swept for axis in axes):
        (rows, down, beside), (columns, right, below) = (_along(axis, cells=True) for axis in axes)
        values = ends.reshape(solution.shape)[np.ix_(down, right)]
        mesh = ax.pcolormesh(columns, rows, values, shading="nearest", rasterized=True)
        ax.set_xlabel(below)
        ax.set_ylabel(beside)
        ax.figure.colorbar(mesh, ax=ax, label=names[k])
    else:
        ax.hist(ends[np.isfinite(ends)], bins=min(50, max(len(solution) // 4, 1)))
        ax.set_xlabel(names[k])
        ax.set_ylabel("systems")
    return ax


def _along(axis: Axis, cells: bool = False) -> tuple[Floats, NDArray[np.intp], str]:
    """Rising places along an axis, which system is at each, and what they are called; cells have places of their own."""
    places = np.clip(np.asarray(axis.values), -_LARGEST, _LARGEST)
    order = np.argsort(places, kind="stable")
    if cells and len(np.unique(places)) < len(places):
        order = np.arange(len(places))
        return order.astype(np.float64), order, f"number along {axis.name}"
    return places[order], order, axis.name


def _drawable(values: Any) -> Floats:
    """The same in double precision, NaN where a picture cannot show it."""
    values = np.asarray(values, dtype=np.float64)
    return np.where(np.abs(values) <= _LARGEST, values, np.nan)
