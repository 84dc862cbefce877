"""Very large numbers of ODE systems, and reaction-diffusion fields, on CPUs and NVIDIA GPUs."""

from __future__ import annotations

from odeum._odeum import __version__, methods
from odeum.equations import Equations
from odeum.errors import (
    CompileError,
    DeviceError,
    InputError,
    Interrupted,
    OdeumError,
    OdeumWarning,
    SolveError,
)
from odeum.run import run
from odeum.runs import Axis, Runs, concat
from odeum.solution import Solution
from odeum.statuses import STATUSES, Status
from odeum.system import System

__all__ = [
    "STATUSES",
    "Axis",
    "CompileError",
    "DeviceError",
    "Equations",
    "InputError",
    "Interrupted",
    "OdeumError",
    "OdeumWarning",
    "Runs",
    "Solution",
    "SolveError",
    "Status",
    "System",
    "__version__",
    "concat",
    "methods",
    "run",
]
