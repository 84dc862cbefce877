"""What notebooks show of a simulation."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from odeum import _odeum
from odeum._html import table
from odeum.fields import image
from odeum.fields.slices import Slice, cut

if TYPE_CHECKING:
    from odeum.fields.simulation import Simulation

# Cells along an edge of a picture.
_MOST = 128


def simulation(of: Simulation) -> str:
    """Slices, masses, speed and step limit."""
    cells = " × ".join(f"{axis} {n}" for axis, n in of.sizes.items() if n > 1) or "one cell"
    rows = [
        ("system", escape("; ".join(of.equations))),
        ("cells", cells),
        ("t", f"{of.t:.10g}"),
        ("steps", f"{of.steps:,}" + (f", {of.rejected:,} rejected" if of.rejected else "")),
        ("stable", escape(str(of.stability()))),
        ("device", escape(f"{of.device}, {of.precision}")),
    ]
    speed = of.speed
    if speed is not None:
        rows.append(("speed", f"{speed / 1e6:,.4g} million cells a second"))
    head = f"<b>odeum.Simulation</b> of {escape(of.title)} ({of.method}, odeum {_odeum.__version__})"
    return f"<div>{head}{table(rows)}{_sums(of)}{_pictures(cut(of, most=_MOST))}</div>"


def _sums(of: Simulation) -> str:
    names = ("min", "mean", "max", "mass")
    head = "".join(f"<th>{name}</th>" for name in ("", *names, "mass at the start"))
    rows = [
        f"<tr><th>{escape(species)}</th>"
        + "".join(f"<td>{getattr(sums, name):.6g}</td>" for name in (*names, "start_mass"))
        + "</tr>"
        for species, sums in of.summary().items()
    ]
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def _pictures(slice: Slice) -> str:
    if not slice.axes:
        return ""
    cuts = "".join(f", {axis} = {place:.4g}" for axis, place in slice.at.items())
    pictures = []
    for name, values in slice.values.items():
        title = escape(f"{name} over {', '.join(slice.axes)}{cuts}")
        drawn = image.tag(values, title) if len(slice.axes) == 2 else image.line(values, title)
        figure = '<figure style="display:inline-block;margin:4px">'
        pictures.append(f"{figure}{drawn}<figcaption>{title}</figcaption></figure>")
    return "".join(pictures)
