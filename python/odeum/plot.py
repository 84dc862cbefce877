"""Pictures of solutions, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from odeum.errors import InputError

if TYPE_CHECKING:
    from odeum.solution import Solution

# Lines of more systems than this hide one another.
_LINES = 50


def plot(solution: Solution, state: str | None = None, ax: Any = None) -> Any:
    """Draws a solution, and gives the axes it is drawn on.

    Saved states are drawn over time, for up to 50 systems spread over the ensemble; end states over the one or
    two axes of the ensemble, or as a histogram.

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
    if len(solution.save_times):
        shown = np.unique(np.linspace(0, len(solution) - 1, min(len(solution), _LINES)).astype(int))
        if len(solution) == 1 and state is None:
            for i, name in enumerate(names[:_LINES]):
                ax.plot(solution.save_times, solution.saved_states[:, i, 0], label=name)
            if len(names) <= 10:
                ax.legend()
        else:
            ax.plot(solution.save_times, solution.saved_states[:, k, :][:, shown], lw=0.8)
            ax.set_ylabel(names[k])
        ax.set_xlabel("t")
    elif len(axes) == 1 and axes[0].values is not None:
        ax.plot(axes[0].values, solution.states[k])
        ax.set_xlabel(axes[0].name)
        ax.set_ylabel(names[k])
    elif len(axes) == 2 and axes[0].values is not None and axes[1].values is not None:
        values = solution.states[k].reshape(solution.shape)
        mesh = ax.pcolormesh(axes[1].values, axes[0].values, values, shading="nearest", rasterized=True)
        ax.set_xlabel(axes[1].name)
        ax.set_ylabel(axes[0].name)
        ax.figure.colorbar(mesh, ax=ax, label=names[k])
    else:
        ax.hist(solution.states[k], bins=min(50, max(len(solution) // 4, 1)))
        ax.set_xlabel(names[k])
        ax.set_ylabel("systems")
    return ax
