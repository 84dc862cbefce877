"""What the tests of traced equations share: a case of them, run by the engine."""

from __future__ import annotations

import warnings

import numpy as np
import tomli_w

from odeum import _odeum
from odeum.equations import Equations


def solve(
    traced: Equations, states: dict[str, float], parameters: dict[str, float], end: float, **method
) -> dict:
    """End states of one system."""
    system = {
        "states": states,
        "parameters": parameters,
        "definitions": traced.definitions,
        "equations": traced.equations,
    }
    case = {
        "system": system,
        "time": {"span": [0.0, end]},
        "method": {"name": "vern7"} | method,
        "tolerance": {"rtol": 1e-12, "atol": 1e-13},
    }
    solution, raised = _odeum.Case(tomli_w.dumps(case), ".").solve()
    assert raised is None
    return dict(zip(states, np.asarray(solution.states)[-1, :, 0], strict=True))


def values(traced: Equations, at: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the engine makes of right-hand sides at points, by one step of length 1 from zero.

    The names of the points are parameters, so that the right-hand sides do not change over the step; the
    states are others.
    """
    rates = {f"rate_{name}": text for name, text in traced.equations.items()}
    points = len(next(iter(at.values())))
    system = {
        "states": dict.fromkeys(rates, 0.0),
        "parameters": dict.fromkeys(at, 0.0),
        "definitions": traced.definitions,
        "equations": rates,
    }
    case = {
        "system": system,
        "time": {"span": [0.0, 1.0]},
        "method": {"name": "rkck", "fixed_step": 1.0},
        "tolerance": {"rtol": 1e-6, "atol": 1e-6},
    }
    table = [(name, np.ascontiguousarray(column)) for name, column in at.items()]
    with warnings.catch_warnings():
        # Functions need not use all of their arguments.
        warnings.filterwarnings("ignore", message=".*never used")
        case_of_points = _odeum.Case(tomli_w.dumps(case), ".", table)
    assert len(case_of_points) == points
    solution, raised = case_of_points.solve()
    assert raised is None
    return dict(zip(traced.equations, np.asarray(solution.states)[-1], strict=True))
