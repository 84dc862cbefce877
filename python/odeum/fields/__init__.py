"""Reaction, diffusion and advection of species on grids of one to three dimensions."""

from __future__ import annotations

from odeum.fields.model import Model
from odeum.fields.simulation import Simulation
from odeum.fields.summary import Stability, Summaries, Summary

__all__ = ["Model", "Simulation", "Stability", "Summaries", "Summary"]
