"""Labels of arrays: the axes that an ``xarray.DataArray`` has by name, and the places of its cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from odeum import _odeum
from odeum._convert import Floats, finite
from odeum.errors import InputError
from odeum.fields.cells import AXES, DIMS

# Coordinates are even where none is further from its place than this part of a cell.
EVEN = 1e-3


@dataclass(frozen=True)
class Labels:
    """What an array says of the grid."""

    name: str
    sizes: dict[str, int]
    coordinates: dict[str, Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, value: Any) -> Labels | None:
        """Those of an array; `None` of one that has none."""
        if not (hasattr(value, "dims") and hasattr(value, "sizes")):
            return None
        coords = getattr(value, "coords", {})
        dims = [dim for dim in DIMS if dim in value.dims]
        sizes = {dim: int(value.sizes[dim]) for dim in dims}
        places = {dim: rising(f"{name}.{dim}", coords[dim]) for dim in dims if dim in coords}
        return cls(name, sizes, places)

    def lie_on(self, sizes: Mapping[str, int]) -> None:
        """Refuses axes that the cells of a grid do not lie along."""
        wide = {dim: n for dim, n in sizes.items() if n > 1}
        if {dim: n for dim, n in self.sizes.items() if n > 1} != wide:
            wanted = ", ".join(f"{dim}: {n}" for dim, n in (wide or sizes).items())
            raise InputError(self.name, f"the dimensions {shown(self.sizes)}", f"the grid has {{{wanted}}}")

    def agree_with(self, raw: _odeum.Simulation) -> None:
        """Refuses coordinates that are not the centres of the cells of a simulation."""
        for dim, x in self.coordinates.items():
            misplaced = raw.misplaced(AXES.index(dim), x.tolist())
            if misplaced is not None:
                at, centre = misplaced
                found = f"the coordinate {x[at]:g} of a cell whose centre is at {centre:g}"
                remedy = "let spacing and origin agree with coordinates, or drop these: "
                raise InputError(f"{self.name}.{dim}", found, f'{remedy}.drop_vars("{dim}")')


def rising(name: str, coordinates: Any) -> Floats:
    """The numbers of coordinates along an axis, which rise."""
    x = finite(name, coordinates.values)
    if len(x) > 1 and x[-1] <= x[0]:
        dim = name.rpartition(".")[2]
        raise InputError(name, "coordinates that fall", f'sort them: .sortby("{dim}")')
    return x


def shown(sizes: Mapping[str, int]) -> str:
    """Axes with their lengths, as xarray has them."""
    return f"({', '.join(f'{dim}: {n}' for dim, n in sizes.items())})"
