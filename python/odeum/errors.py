"""What can go wrong, as exceptions.

A call that cannot be carried out raises; a system that fails does not: it has a status (`Solution.status`).
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "CompileError",
    "DeviceError",
    "InputError",
    "Interrupted",
    "OdeumError",
    "OdeumWarning",
    "SimulationError",
    "SolveError",
]


class OdeumError(Exception):
    """Any error of this package but an interruption."""


class InputError(OdeumError, ValueError):
    """An argument that cannot be used.

    Attributes
    ----------
    field : str
        The argument, as ``tolerance.rtol`` or ``states[3]``; of a mechanism the place in its file, as ``gas.yaml:10``.
    found : str
        What was found there.
    remedy : str
        What to do.
    """

    def __init__(self, field: str, found: str = "", remedy: str = "", message: str | None = None) -> None:
        self.field = field
        self.found = found
        self.remedy = remedy
        if message is None:
            said = f": found {found}" if found else ""
            then = f"; {remedy}" if remedy else ""
            message = f"{field}{said}{then}"
        super().__init__(message)
        self.message = message

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str, str]]:
        return (type(self), (self.field, self.found, self.remedy, self.message))


class DeviceError(OdeumError, RuntimeError):
    """A GPU that is not there, or that failed."""


class CompileError(OdeumError, RuntimeError):
    """Device code that the run-time compiler refused: a defect to be reported."""


class SolveError(OdeumError, RuntimeError):
    """Systems that failed (`Solution.raise_if_failed`).

    Attributes
    ----------
    systems : tuple[int, ...]
        Numbers of the systems that failed, of a part (`Runs.split`) in the whole ensemble.
    """

    def __init__(self, message: str, systems: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.systems = systems

    def __reduce__(self) -> tuple[type[SolveError], tuple[str, tuple[int, ...]]]:
        return (type(self), (self.message, self.systems))


class SimulationError(OdeumError, RuntimeError):
    """A simulation of a field that could not go on: its steps became unstable, or a value is not finite.

    The simulation stands at its last good state.

    Attributes
    ----------
    t : float
        The time at which it failed [time].
    species : str or None
        The first species with a value that is not finite.
    remedy : str
        What to do.
    """

    def __init__(self, message: str, t: float, species: str | None = None, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.t = t
        self.species = species
        self.remedy = remedy

    def __reduce__(self) -> tuple[type[SimulationError], tuple[str, float, str | None, str]]:
        return (type(self), (self.message, self.t, self.species, self.remedy))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while systems were being integrated.

    Attributes
    ----------
    partial : object
        What was finished until then: a `Solution` in which the others have the status ``not run``, and the states and times that
        they start from; or the `Simulation`, which stands at the time it has reached, and which a pickle has not.
    """

    def __init__(self, partial: Any = None) -> None:
        super().__init__("interrupted; `partial` holds what was finished")
        self.partial = partial

    def __reduce__(self) -> tuple[type[Interrupted], tuple[()], dict[str, Any]]:
        from odeum.fields import Simulation

        partial = None if isinstance(self.partial, Simulation) else self.partial
        return (type(self), (), {**vars(self), "partial": partial})


class OdeumWarning(UserWarning):
    """Something that can be done, but is probably not what was meant.

    Attributes
    ----------
    result : object
        Where a filter makes an error of it (``-W error``) after the call has done what it was asked for: what was
        computed, as a `Solution`. Of a warning before anything is done `None`, and in a pickle where it has arrays of
        this package in the memory of a GPU.
    """

    result: Any = None

    def __reduce__(self) -> tuple[type[OdeumWarning], tuple[Any, ...], dict[str, Any]]:
        from odeum import _odeum

        parts = self.result if isinstance(self.result, tuple) else (self.result,)
        there = any(isinstance(part, _odeum.GpuArray) for part in parts)
        return (type(self), self.args, {**vars(self), "result": None if there else self.result})
