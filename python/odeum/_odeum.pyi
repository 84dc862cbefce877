# What the extension has: `python -m mypy.stubtest odeum._odeum` compares.

import sys
from collections.abc import Callable, Sequence
from os import PathLike
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

# What is taken by the buffer protocol, in C order.
_Floats: TypeAlias = NDArray[np.float64]
# Name, length and, of a sweep, values of an axis.
_Axis: TypeAlias = tuple[str, int, Array | None]
# Is called with the number of systems that have ended.
_Progress: TypeAlias = Callable[[int], object]

__all__ = [
    "ATM",
    "Array",
    "Case",
    "Integrator",
    "Mechanism",
    "Solution",
    "__version__",
    "command",
    "counts",
    "methods",
    "statuses",
]

__version__: str
ATM: float

def command(arguments: Sequence[str | bytes | PathLike[str]]) -> int: ...
def statuses() -> list[tuple[str, bool, str]]: ...
def methods() -> list[str]: ...
def counts() -> list[str]: ...

@final
class Array:
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class Case:
    def __new__(
        cls,
        text: str,
        folder: str | PathLike[str],
        table: Sequence[tuple[str, _Floats]] | None = None,
        threads: int | None = None,
        mechanisms: Sequence[tuple[str, str]] = ...,
    ) -> Case: ...
    @staticmethod
    def read(path: str | PathLike[str], threads: int | None = None) -> Case: ...
    @property
    def text(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def states(self) -> list[str]: ...
    @property
    def parameters(self) -> list[str]: ...
    @property
    def variables(self) -> list[tuple[str, float]]: ...
    @property
    def axes(self) -> list[_Axis]: ...
    @property
    def is_direct(self) -> bool: ...
    def __len__(self) -> int: ...
    def values(self, name: str) -> Array: ...
    def solve(
        self,
        systems: NDArray[np.uint64] | None = None,
        progress: _Progress | None = None,
    ) -> tuple[Solution, BaseException | None]: ...
    def solve_arrays(
        self,
        states: _Floats,
        params: _Floats,
        span: tuple[float, float],
        spans: _Floats | None = None,
        progress: _Progress | None = None,
    ) -> tuple[Solution, BaseException | None]: ...

@final
class Solution:
    @property
    def t(self) -> Array: ...
    @property
    def states(self) -> Array: ...
    @property
    def saved(self) -> Array: ...
    @property
    def n_saved(self) -> Array: ...
    @property
    def save_times(self) -> list[float]: ...
    @property
    def status(self) -> Array: ...
    @property
    def stats(self) -> Array: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def busy_lanes(self) -> float | None: ...

@final
class Mechanism:
    @staticmethod
    def read(
        path: str | PathLike[str],
        thermo: str | PathLike[str] | None = None,
        phase: str | None = None,
        include: Sequence[str | PathLike[str]] = ...,
    ) -> Mechanism: ...
    @staticmethod
    def of_text(name: str, text: str, phase: str | None = None) -> Mechanism: ...
    @property
    def name(self) -> str: ...
    @property
    def species_names(self) -> list[str]: ...
    @property
    def element_names(self) -> list[str]: ...
    @property
    def reaction_equations(self) -> list[str]: ...
    @property
    def molecular_weights(self) -> Array: ...
    @property
    def temperature_bounds(self) -> tuple[float, float]: ...
    def evaluate(self, property: str, t: _Floats, p: _Floats, y: _Floats) -> Array: ...
    def equilibrate(
        self, holds_enthalpy: bool, t: _Floats, p: _Floats, y: _Floats
    ) -> tuple[Array, Array, tuple[int, str, bool] | None]: ...
    def at_equivalence_ratio(
        self, phi: Sequence[float], fuel: Sequence[float], oxidizer: Sequence[float]
    ) -> Array: ...

@final
class Integrator:
    def __new__(
        cls,
        text: str,
        folder: str | PathLike[str],
        cells: int,
        mechanisms: Sequence[tuple[str, str]] = ...,
        threads: int | None = None,
    ) -> Integrator: ...
    def advance(self, t: _Floats, p: _Floats, updates_p: bool, y: _Floats, dt: float) -> Array: ...
    @property
    def stats(self) -> Array: ...
