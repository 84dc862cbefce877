"""Very large numbers of ODE systems, and reaction-diffusion fields, on CPUs and NVIDIA GPUs."""

from __future__ import annotations

from odeum._odeum import ATM as atm
from odeum._odeum import __version__, methods
from odeum.chemistry import (
    GasState,
    Integrator,
    Mechanism,
    PasrStates,
    Reactor,
    ReactorRuns,
    advance,
    ignition_delay,
    pasr,
)
from odeum.equations import Equations
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
from odeum.ivp import IvpResult, solve_ivp
from odeum.levels import fall, fall_to, rise, rise_to
from odeum.run import run
from odeum.runs import Axis, Runs, concat
from odeum.session import Session
from odeum.solution import Solution
from odeum.solution_on_gpu import SolutionOnGpu
from odeum.statuses import STATUSES, Status
from odeum.system import System

__all__ = [
    "STATUSES",
    "Axis",
    "CompileError",
    "DeviceError",
    "Equations",
    "GasState",
    "InputError",
    "Integrator",
    "Interrupted",
    "IvpResult",
    "Mechanism",
    "Model",
    "PasrStates",
    "OdeumError",
    "OdeumWarning",
    "Reactor",
    "ReactorRuns",
    "Runs",
    "Session",
    "Simulation",
    "SimulationError",
    "Solution",
    "SolutionOnGpu",
    "SolveError",
    "Status",
    "System",
    "__version__",
    "advance",
    "atm",
    "concat",
    "fall",
    "fall_to",
    "ignition_delay",
    "methods",
    "pasr",
    "rise",
    "rise_to",
    "run",
    "solve_ivp",
]
