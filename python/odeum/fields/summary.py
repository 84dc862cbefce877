"""Numbers that sum up a field, and limits of its steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Summary:
    """What is known of one species over all cells of the domain.

    Attributes
    ----------
    sum : float
        Sum over the cells [units of the species].
    mass : float
        Sum times the volume of a cell [units of the species × lengthᵈ].
    mean, min, max : float
        [units of the species].
    start_mass : float
        The mass at the start.
    """

    sum: float
    mass: float
    mean: float
    min: float
    max: float
    start_mass: float


class Summaries(Mapping[str, Summary]):
    """The `Summary` of each species, by name or as an attribute."""

    def __init__(self, rows: Sequence[tuple[str, float, float, float, float, float, float]]) -> None:
        self._by_name = {name: Summary(*values) for name, *values in rows}

    def __getitem__(self, species: str) -> Summary:
        return self._by_name[species]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __getattr__(self, species: str) -> Summary:
        try:
            return self.__dict__["_by_name"][species]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(f"there is no species {species!r}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._by_name]

    def __repr__(self) -> str:
        head = f"{'':8}{'min':>14}{'mean':>14}{'max':>14}{'mass':>14}{'at the start':>14}"
        rows = [
            f"{name:8}" + "".join(f"{x:14.6g}" for x in (s.min, s.mean, s.max, s.mass, s.start_mass))
            for name, s in self.items()
        ]
        return "\n".join([head, *rows])


@dataclass(frozen=True)
class Stability:
    """Limits of explicit steps for the present field.

    Attributes
    ----------
    step : float
        The largest stable step of the method [time]; infinite where nothing limits it.
    euler : float
        That of forward Euler [time].
    spectral_radius : float
        The largest \\|λ\\| of the linearised equations [1/time].
    growth : float
        The largest Re λ [1/time]: how fast something grows by itself.
    positive : float or None
        The largest step of forward Euler that keeps positive values positive, of problems with a velocity [time].
    remedy : str or None
        What to do where weakly damped waves limit the method, or grow with its largest step as fast as others do by themselves.
    """

    step: float
    euler: float
    spectral_radius: float
    growth: float
    positive: float | None
    remedy: str | None

    def __str__(self) -> str:
        words = f"steps up to {self.step:.6g} are stable (euler: {self.euler:.6g})"
        if self.growth > 0:
            words += f"; something grows at a rate of {self.growth:.3g}"
        return f"{words}; {self.remedy}" if self.remedy else words
