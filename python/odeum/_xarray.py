"""Solutions as datasets of xarray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odeum import _odeum
from odeum.statuses import STATUSES

if TYPE_CHECKING:
    import xarray

    from odeum.solution import Solution


def dataset(solution: Solution) -> xarray.Dataset:
    """States, statuses and counts along the axes of the ensemble."""
    try:
        import xarray
    except ImportError as error:
        raise ImportError("to_xarray needs xarray: pip install odeum[xarray]") from error
    dims = [axis.name for axis in solution.axes]
    coords: dict[str, Any] = {
        axis.name: ((axis.name,), axis.values) for axis in solution.axes if axis.values is not None
    }
    variables: dict[str, Any] = {}
    is_saved = len(solution.save_times) > 0
    if is_saved:
        coords["t"] = (("t",), solution.save_times)
    states = solution.saved if is_saved else solution.y
    for k, name in enumerate(solution.state_names):
        # A species may be called as the temperature or the time is.
        while name in variables or name in coords:
            name += "_"
        variables[name] = ([*dims, "t"] if is_saved else dims, states[..., k])

    def beside(name: str, values: Any, **attributes: Any) -> None:
        """A variable that is no state, under a name that no state and no axis has."""
        while name in variables or name in coords:
            name += "_"
        variables[name] = (dims, values, attributes)

    meanings = " ".join(status.name.replace(" ", "_") for status in STATUSES)
    flags = [status.number for status in STATUSES]
    beside("status", solution.status, flag_values=flags, flag_meanings=meanings)
    beside("t_end", solution.t, long_name="time reached")
    for name, counts in solution.counts.items():
        beside(name, counts)
    attributes = {"title": solution.title, "case": solution.case_text, "odeum_version": _odeum.__version__}
    return xarray.Dataset(variables, coords, attributes)
