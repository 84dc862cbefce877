"""Pictures of fields, with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from odeum.errors import InputError
from odeum.fields.slices import cut

if TYPE_CHECKING:
    from odeum.fields.simulation import Simulation


def plot(
    simulation: Simulation,
    species: str | Sequence[str] | None,
    at: Mapping[str, float] | None,
    ax: Any,
) -> Any:
    """Draws slices; see `Simulation.plot`."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install odeum[plot]") from error
    names = [species] if isinstance(species, str) else list(species or simulation.species)
    for name in names:
        if name not in simulation.species:
            raise InputError("species", repr(name), f"there are {', '.join(simulation.species)}")
    shown = cut(simulation, at)
    if not shown.axes:
        raise InputError("at", "a single cell", "leave an axis of more than one cell uncut")
    flat = len(shown.axes) == 1
    if ax is None:
        count = 1 if flat else len(names)
        size = (4.4 * count, 3.4)
        _, ax = pyplot.subplots(1, count, figsize=size, layout="constrained", squeeze=False)
        ax = ax[0] if count > 1 else ax[0, 0]
    all_axes = list(ax) if hasattr(ax, "__len__") else [ax]
    if not flat and len(all_axes) != len(names):
        raise InputError("ax", f"{len(all_axes)} axes", f"give {len(names)}: one for each species")
    where = "".join(f", {axis} = {place:.4g}" for axis, place in shown.at.items())
    title = f"t = {simulation.t:.6g}{where}"
    for k, name in enumerate(names):
        own = all_axes[0 if flat else k]
        if flat:
            own.plot(shown.places[0], shown.values[name], label=name)
        else:
            mesh = own.pcolormesh(*shown.places, shown.values[name], shading="nearest", rasterized=True)
            own.set_aspect("equal")
            own.set_ylabel(shown.axes[1])
            own.figure.colorbar(mesh, ax=own, label=name)
        own.set_xlabel(shown.axes[0])
        own.set_title(title)
    if flat:
        all_axes[0].legend()
    return ax
