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

    def add(name: str, over: list[str], values: Any, **attributes: Any) -> None:
        """A variable under a name that nothing has yet: a species may be called as the temperature or the time is."""
        while name in variables or name in coords:
            name += "_"
        variables[name] = (over, values, attributes)

    for k, name in enumerate(solution.state_names):
        add(name, [*dims, "t"] if is_saved else dims, states[..., k])
    meanings = " ".join(status.name.replace(" ", "_") for status in STATUSES)
    flags = [status.number for status in STATUSES]
    add("status", dims, solution.status, flag_values=flags, flag_meanings=meanings)
    add("t_end", dims, solution.t, long_name="time reached")
    if is_saved:
        for name in solution.state_names:
            add(f"{name}_end", dims, solution[name])
    for name, counts in solution.counts.items():
        add(name, dims, counts)
    attributes = {"title": solution.title, "case": solution.case_text, "odeum_version": _odeum.__version__}
    if solution.warnings:
        attributes["warnings"] = "\n".join(solution.warnings)
    return xarray.Dataset(variables, coords, attributes)
