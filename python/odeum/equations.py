"""Equations as text, in the language of case files."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Equations:
    """Right-hand sides in the language of case files.

    Attributes
    ----------
    equations : dict
        The derivative of each state (or of each species of a field), by its name and in its order.
    definitions : dict
        Names for expressions that the equations share; each may use those before it.
    """

    equations: dict[str, str]
    definitions: dict[str, str] = field(default_factory=dict)
