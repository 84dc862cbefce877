"""Options of a simulation as the sections of a case file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

import numpy as np

from odeum import _nvrtc, _odeum
from odeum._case import Document, toml
from odeum._convert import flag, mapping, number, refuse_stripped
from odeum._options import plain
from odeum.errors import InputError
from odeum.fields.cells import AXES, DIMS, Cells, along, is_array, shown
from odeum.fields.labels import Labels, is_table
from odeum.fields.labels import read as labelled
from odeum.fields.model import Model
from odeum.fields.paths import absolute
from odeum.fields.start import Start, read


@dataclass
class FieldCase:
    """A case file of a field in memory, with the arrays that it names in place of files."""

    document: Document
    arrays: dict[str, Cells] = field(default_factory=dict)
    labels: list[Labels] = field(default_factory=list)
    # Axes of the initial values.
    dims: tuple[str, ...] = ()
    # The mask that a dataset has beside one that is said.
    mask: Cells | None = None

    def open(self) -> _odeum.Simulation:
        """Reads and checks it, and makes its field."""
        _nvrtc.load_for(self.document)
        raw = _odeum.Simulation(toml(self.document), ".", list(self.arrays.items()))
        # A built-in problem may have brought the spacing.
        for labels in self.labels:
            labels.agree_with(raw)
        if self.mask is not None:
            _agree(self.mask, raw.mask)
        return raw

    def cells(self, name: str, place: str, value: Any, shape: tuple[int, ...]) -> str:
        """Takes an array of all cells, or a number for all of them; gives its name."""
        cells, labels = labelled(place, value)
        if cells.ndim == 0:
            cells = np.full(shape, cells)
        # Without a shape there is no grid, which is told by whoever reads the case.
        elif "shape" in self.document["grid"]:
            if labels:
                labels.lie_on(dict(zip(DIMS, shape, strict=True)))
                self.labels.append(labels)
            _fits(place, cells, shape)
        self.arrays[name] = cells
        return name


def _agree(mask: Cells, said: Any) -> None:
    """Refuses the mask of a dataset that is not that of the simulation; one of all cells is none."""
    flags = mask > 0
    other = flags.ravel() != (np.asarray(said).ravel() > 0 if said is not None else True)
    if other.any():
        found = f"another than that of the dataset, in {other.sum()} of {other.size} cells"
        raise InputError("mask", found, 'leave it out, or that of the dataset: start.drop_vars("mask")')


def _fits(place: str, cells: Cells, shape: tuple[int, ...]) -> None:
    """Refuses an array of another shape than that of the grid; one with less than three axes has those of several cells."""
    wide = tuple(n for n in shape if n > 1)
    if cells.shape != shape and (cells.ndim == 3 or tuple(n for n in cells.shape if n > 1) != wide):
        remedy = f"give an array of shape (nz, ny, nx) = {shape}"
        raise InputError(place, f"the shape {cells.shape}", remedy)


def build(model: Model, initial: Any, options: Mapping[str, Any]) -> FieldCase:
    """The case of a model, initial values and options; `None` stands for what is usual."""
    if not isinstance(model, Model):
        raise InputError("model", type(model).__name__, "give an odeum.Model")
    start = read(initial, model._section.get("species", ()))
    said = {name: value for name, value in options.items() if value is not None}
    case = FieldCase({"system": model._section}, dict(start.arrays), list(start.labels), start.dims)
    document = case.document
    title = said.get("title", model.title)
    if title is not None:
        document["title"] = plain("title", title)
    grid = document["grid"] = _grid(start, said)
    shape = tuple(reversed(grid.get("shape", [1, 1, 1])))
    if "mask" in said:
        grid["mask"] = _mask(case, said["mask"], shape)
        case.mask = start.mask
    elif start.mask is not None:
        grid["mask"] = {"file": case.cells("mask.npy", "start.mask", start.mask, shape)}
    if "boundary" in said:
        document["boundary"] = _boundary(said["boundary"])
    if "velocity" in said:
        document["velocity"] = _velocity(case, said["velocity"], shape)
    if "sources" in said:
        document["sources"] = plain("sources", said["sources"])
    if "diffusion" in said:
        remedy = "give a dict by the name of the species"
        document["diffusion"] = {
            str(name): case.cells(f"diffusion-{name}.npy", f"diffusion.{name}", value, shape)
            for name, value in mapping("diffusion", said["diffusion"], remedy).items()
        }
    if "seed" in model._section.get("species", ()):
        remedy = "call it something else: `seed` of [initial] is that of random values"
        raise InputError("system.species", "`seed`", remedy)
    if "seed" in start.initial and "seed" in said:
        raise InputError("seed", "one among the initial values too", "give it once")
    if not start.initial and "problem" not in model._section:
        example = f'{{"{model._section["species"][0]}": 1.0}}'
        raise InputError("start", "no initial values", f"give one for each species: {example}")
    if start.initial or "seed" in said:
        document["initial"] = dict(start.initial)
        if "seed" in said:
            document["initial"]["seed"] = plain("seed", said["seed"])
    document["time"] = _time(start, said)
    document["run"] = {
        key: plain(key, said[key]) for key in ("precision", "device", "threads") if key in said
    }
    return case


def _grid(start: Start, said: Mapping[str, Any]) -> Document:
    shape = along("shape", said.get("shape"), 1)
    if start.shape:
        own = [float(start.shape.get(axis, 1)) for axis in AXES]
        if shape not in (None, own):
            raise InputError(
                "shape", str(said["shape"]), f"leave it out: the initial values have {start.shape}"
            )
        shape = own
    grid: Document = {}
    if shape is not None:
        grid["shape"] = [int(n) if n == int(n) else n for n in shape]
    spacing = along("spacing", said.get("spacing"), nan)
    for axis, name in start.joined.items():
        if spacing is None or isnan(spacing[AXES.index(axis)]):
            found = "a cell that several were joined to, or in other units, with the edge of before as an attribute"
            raise InputError(
                name, found, f'give `spacing` and `origin`: spacing={{"{axis}": ...}}, origin=...'
            )
    if spacing is not None or start.spacing:
        cells = shape or [1.0] * 3
        # An edge of zero along one cell is none.
        spacing = [
            start.spacing.get(axis, h) if isnan(h) or (h == 0 and n == 1) else h
            for axis, h, n in zip(AXES, spacing or [nan] * 3, cells, strict=True)
        ]
        for axis, h, n in zip(AXES, spacing, cells, strict=True):
            if (isnan(h) or h == 0) and n > 1:
                place, remedy = "spacing", "give a positive edge along each axis of several cells"
                if "spacing" not in said:
                    place, remedy = f"start.{axis}", f"give them: start.assign_coords({axis}=...)"
                raise InputError(
                    place, f"{'none' if isnan(h) else 0} along {axis}, which has {n:g} cells", remedy
                )
        # Along an axis of one cell that has none the edge of the others is as good as any.
        usual = next((h for h in spacing if h and not isnan(h)), 0.0)
        spacing = [usual if isnan(h) or h == 0 else h for h in spacing]
        grid["spacing"] = spacing[0] if len(set(spacing)) == 1 else spacing
    origin = along("origin", said.get("origin"), nan)
    first = start.first if spacing is not None else {}
    if origin is not None or first:
        edges = dict(zip(AXES, spacing or (), strict=False))
        known = [first[axis] - 0.5 * edges[axis] if axis in first else 0.0 for axis in AXES]
        grid["origin"] = [
            own if isnan(at) else at for at, own in zip(origin or [nan] * 3, known, strict=True)
        ]
    if "stencil" in said:
        grid["stencil"] = plain("stencil", said["stencil"])
    return grid


def _mask(case: FieldCase, mask: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(mask, (str, Mapping)):
        return absolute(plain("mask", mask))
    if not hasattr(mask, "dims") and not is_table(mask):
        mask = _flags(mask)
    return {"file": case.cells("mask.npy", "grid.mask", mask, shape)}


def _flags(mask: Any) -> Any:
    """Truth values as an array of NumPy, whoever has them; else the same."""
    refuse_stripped("grid.mask", mask)
    try:
        flags = np.asarray(mask)
    except (ValueError, TypeError, RuntimeError):
        return mask
    return flags if flags.dtype == np.bool_ else mask


def _velocity(case: FieldCase, velocity: Any, shape: tuple[int, ...]) -> Document:
    section = dict(velocity) if isinstance(velocity, Mapping) else {}
    if not isinstance(velocity, Mapping):
        parts = _three("velocity", velocity, "give three parts, along x, y and z, or a dict of [velocity]")
        section["cells" if any(is_array(part) for part in parts) else "uniform"] = parts
    cells = section.pop("cells", None)
    made = {str(key): plain(f"velocity.{key}", value) for key, value in section.items()}
    if cells is not None:
        cells = _three("velocity.cells", cells, "give three arrays: along x, y and z")
        made["cells"] = [
            case.cells(f"velocity-{axis}.npy", f"velocity.cells[{k}]", part, shape)
            for k, (axis, part) in enumerate(zip(AXES, cells, strict=True))
        ]
    return made


def _three(place: str, value: Any, remedy: str) -> list[Any]:
    """Three parts, along x, y and z."""
    is_text = isinstance(value, (str, bytes))
    if is_text or not hasattr(value, "__len__") or getattr(value, "ndim", 1) == 0 or len(value) != 3:
        raise InputError(place, shown(value), remedy)
    return list(value)


def _time(start: Start, said: Mapping[str, Any]) -> Document:
    if start.of_another and "t" not in said:
        found = f"a state of another time than others, which are of t = {start.t}"
        raise InputError(start.of_another, found, f"say at which time it begins: t={start.t}")
    t = number("t", said["t"]) if "t" in said else start.t
    time: Document = {} if t is None else {"start": t}
    for key in ("method", "stages", "step", "max_steps"):
        if key in said:
            time[key] = plain(key, said[key])
    if flag("force", said.get("force", False)):
        time["force"] = True
    if "tolerance" in said:
        tolerance = said["tolerance"]
        if isinstance(tolerance, Mapping):
            time["tolerance"] = plain("tolerance", tolerance)
        else:
            time["tolerance"] = dict.fromkeys(("rtol", "atol"), number("tolerance", tolerance))
    return time


def _boundary(boundary: Any) -> Document:
    if isinstance(boundary, str):
        return {"default": boundary}
    remedy = 'give "no flux", "periodic" or "open", or a dict by axes and faces: {"y_low": {"value": 1.0}}'
    faces = mapping("boundary", boundary, remedy)
    return {str(face): plain(f"boundary.{face}", each) for face, each in faces.items()}
