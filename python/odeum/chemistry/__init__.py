"""Chemical mechanisms, reactors, and the reactions of flow codes."""

from __future__ import annotations

from odeum.chemistry.advance import advance
from odeum.chemistry.ignition import ignition_delay
from odeum.chemistry.integrator import Integrator
from odeum.chemistry.mechanism import GasState, Mechanism
from odeum.chemistry.pasr import PasrStates, pasr
from odeum.chemistry.reactor import Reactor, ReactorRuns

__all__ = [
    "GasState",
    "Integrator",
    "Mechanism",
    "PasrStates",
    "Reactor",
    "ReactorRuns",
    "advance",
    "ignition_delay",
    "pasr",
]
