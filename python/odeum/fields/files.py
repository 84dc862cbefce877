"""Simulations on the disk."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from odeum._case import toml
from odeum._files import beside, free, writing
from odeum.errors import InputError
from odeum.fields import paths, times

if TYPE_CHECKING:
    from odeum.fields.simulation import Simulation

_FORMATS = ("zarr", "npz", "vti")


def save(simulation: Simulation, path: Path, overwrite: bool) -> None:
    """Writes the present state in the format that the path ends with."""
    kind = path.suffix.removeprefix(".")
    if kind not in _FORMATS:
        raise InputError("path", str(path), f"end it with {', '.join('.' + each for each in _FORMATS)}")
    free(path, overwrite)
    if path.is_dir() and (kind != "zarr" or not (path / "zarr.json").is_file()):
        raise InputError("path", f"{path}, a folder that is no Zarr store", "choose another path")
    with writing(path):
        if kind != "zarr":
            simulation._raw.save(path, kind, simulation.t)
            return
        # Of a link the store that it leads to.
        store = path.resolve()
        part, old = (store.with_name(f".{store.name}.{end}") for end in ("part", "old"))
        _remove(part)
        try:
            simulation._raw.save(part, kind, simulation.t)
            _replace(store, part, old)
        finally:
            _remove(part)


def _replace(store: Path, part: Path, old: Path) -> None:
    """Puts a store in the place of one that may be there, which goes last."""
    _remove(old)
    if store.exists():
        store.rename(old)
    try:
        part.rename(store)
    except OSError:
        if old.exists():
            old.rename(store)
        raise
    _remove(old)


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def write_case(simulation: Simulation, path: Path, until: Any, overwrite: bool) -> None:
    """Writes the case of a simulation, and beside it the arrays that were given, under names that begin with its own."""
    raw, folder = simulation._raw, path.absolute().parent
    given = {name: beside(path, name).name for name in raw.given}
    used: set[Path] = set()

    def named(name: str) -> str:
        if name in given:
            return given[name]
        used.add(Path(name).resolve())
        return paths.from_folder(name, folder)

    document = paths.renamed(simulation._document, named)
    time = document.setdefault("time", {})
    start = time.get("start", 0.0)
    if until is None:
        until = simulation.t if simulation.t > start else time.get("until")
    if until is None:
        raise InputError("until", "nothing", "the simulation stands at its start: say how far, until=10.0")
    time["until"] = times.to(start, until, "until", "the case starts at t = {}")
    arrays = {name: path.with_name(file) for name, file in given.items()}
    for file in (path, *arrays.values()):
        free(file, overwrite)
        if file.resolve() in used:
            raise InputError("path", f"{file}, from which the case itself reads", "choose another path")
    with writing(path):
        for name, file in arrays.items():
            np.save(file, np.asarray(raw.given_array(name)))
        path.write_text(toml(document), encoding="utf-8")
