"""Python functions as equations in the language of case files."""

from __future__ import annotations

from odeum._trace.function import trace
from odeum._trace.model import allowed, trace_model

__all__ = ["allowed", "trace", "trace_model"]
