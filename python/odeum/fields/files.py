"""Simulations on the disk."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tomli_w

from odeum.errors import InputError
from odeum.fields import times

if TYPE_CHECKING:
    from odeum.fields.simulation import Simulation

_FORMATS = ("zarr", "npz", "vti")


def save(simulation: Simulation, path: Path, overwrite: bool) -> None:
    """Writes the present state in the format that the path ends with."""
    kind = path.suffix.removeprefix(".")
    if kind not in _FORMATS:
        raise InputError("path", str(path), f"end it with {', '.join('.' + each for each in _FORMATS)}")
    _free(path, overwrite)
    if path.is_dir():
        if kind != "zarr" or not (path / "zarr.json").is_file():
            raise InputError("path", f"{path}, a folder that is no Zarr store", "choose another path")
        shutil.rmtree(path)
    simulation._raw.save(path, kind)


def write_case(simulation: Simulation, path: Path, until: Any, overwrite: bool) -> None:
    """Writes the case of a simulation, and the arrays that it names beside it."""
    own = simulation._path
    if own is not None and own.resolve().parent != path.resolve().parent:
        found = f"another folder than that of {own}"
        raise InputError("path", found, "a case file may name others beside it: write into its folder")
    document = copy.deepcopy(simulation._document)
    time = document.setdefault("time", {})
    start = time.get("start", 0.0)
    if until is None:
        until = simulation.t if simulation.t > start else time.get("until")
    if until is None:
        raise InputError("until", "nothing", "the simulation stands at its start: say how far, until=10.0")
    time["until"] = times.to(start, until, "until")
    arrays = [path.parent / name for name in simulation._raw.given]
    for file in (path, *arrays):
        _free(file, overwrite)
    try:
        for file in arrays:
            np.save(file, np.asarray(simulation._raw.given_array(file.name)))
        path.write_text(tomli_w.dumps(document), encoding="utf-8")
    except OSError as error:
        raise InputError("path", f"{path} ({error.strerror or error})", "choose another path") from error


def _free(path: Path, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise InputError("path", f"{path}, which exists", "choose another path, or overwrite=True")
