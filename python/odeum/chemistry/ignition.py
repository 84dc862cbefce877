"""Ignition delays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from odeum._convert import number
from odeum.errors import InputError, OdeumWarning
from odeum.levels import Until, rise
from odeum.runs import Runs
from odeum.statuses import STATUSES

if TYPE_CHECKING:
    import xarray

    from odeum.solution import Solution

_UNITS = {
    "T": ("K", "initial temperature"),
    "p": ("Pa", "initial pressure"),
    "phi": ("1", "equivalence ratio"),
}


def ignition_delay(
    runs: Runs, by: Until | None = None, until: float = 1.0, **options: Any
) -> xarray.DataArray:
    """Times at which reactors ignite.

    Parameters
    ----------
    runs : Runs
        An ensemble of reactors, without spans of their own (`t_start`, `t_end`).
    by : dict
        What counts as ignition: a temperature 400 K above the initial one unless said; see `odeum.rise`.
    until : float
        How long it is waited for [s].
    **options
        Options of `Runs.solve`, with the defaults of `ReactorRuns` (``"rodas5p"``, 1e-6, 1e-15): `method`, `rtol`,
        `atol`, `device`, `progress`, ...

    Returns
    -------
    xarray.DataArray
        Ignition delays [s] along the axes of the ensemble, NaN where a reactor did not ignite. Its coordinate
        ``status`` tells those that came to the end (0) from those that failed (`odeum.STATUSES`).
    """
    try:
        import xarray
    except ImportError as error:
        raise ImportError("ignition_delay needs xarray: pip install odeum[xarray]") from error
    end = number("until", until)
    if not end > 0.0:
        raise InputError("until", str(end), "give a time above zero")
    if not isinstance(runs, Runs):
        raise InputError("runs", type(runs).__name__, "give an ensemble of reactors: Reactor.sweep, ...")
    for name in runs._spans():
        raise InputError(
            name, "in an ensemble of ignition delays", "leave it out: `until` says how long is waited"
        )
    level = rise("T", 400.0) if by is None else by
    if not isinstance(level, dict):
        raise InputError("by", type(level).__name__, 'give a level: odeum.rise("T", 400)')

    def delays(solution: Solution) -> xarray.DataArray:
        ignited = next(status.number for status in STATUSES if status.name == "terminal event")
        delay = np.where(solution.status == ignited, solution.t, np.nan)
        dims = [axis.name for axis in runs.axes]
        coordinates: dict[str, Any] = {}
        for axis in runs.axes:
            if axis.values is not None:
                units, name = _UNITS.get(axis.name.removesuffix("0"), (None, axis.name))
                attributes = {"long_name": name} | ({} if units is None else {"units": units})
                coordinates[axis.name] = (axis.name, axis.values, attributes)
        meanings = " ".join(status.name.replace(" ", "_") for status in STATUSES)
        flags = {"flag_values": [status.number for status in STATUSES], "flag_meanings": meanings}
        coordinates["status"] = (dims, solution.status, flags)
        about: dict[str, Any] = {
            "long_name": "ignition delay",
            "units": "s",
            "criterion": str(level),
            "waited_for": end,
            "title": solution.title,
            "case": solution.case_text,
        }
        return xarray.DataArray(delay, coordinates, dims, "ignition_delay", about)

    try:
        return delays(runs.solve((0.0, end), until=level, **options))
    except OdeumWarning as warning:
        if warning.result is not None:
            warning.result = delays(warning.result)
        raise
