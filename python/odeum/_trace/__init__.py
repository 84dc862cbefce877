"""Python functions as equations in the language of case files."""

from __future__ import annotations

from odeum._trace.function import trace
from odeum._trace.model import trace_model

__all__ = ["trace", "trace_model"]
