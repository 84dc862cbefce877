"""Very large numbers of ODE systems, and reaction-diffusion fields, on CPUs and NVIDIA GPUs."""

from __future__ import annotations

from odeum._odeum import __version__
from odeum.errors import (
    CompileError,
    DeviceError,
    InputError,
    Interrupted,
    OdeumError,
    OdeumWarning,
    SimulationError,
    SolveError,
)
from odeum.fields import Model, Simulation

__all__ = [
    "CompileError",
    "DeviceError",
    "InputError",
    "Interrupted",
    "Model",
    "OdeumError",
    "OdeumWarning",
    "SolveError",
    "__version__",
]
