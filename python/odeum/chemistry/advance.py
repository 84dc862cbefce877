"""States of Cantera, advanced in time."""

from __future__ import annotations

from typing import Any

import numpy as np

from odeum.chemistry.integrator import Integrator
from odeum.chemistry.mechanism import Mechanism
from odeum.errors import InputError


def advance(states: Any, dt: float, *, kind: str = "constant pressure", **options: Any) -> Any:
    """Lets all states of a ``cantera.SolutionArray`` react, each in a reactor of its own.

    Parameters
    ----------
    states : cantera.SolutionArray
        Of an ideal gas; any shape.
    dt : float
        The time [s].
    kind : {"constant pressure", "constant volume"}
    **options
        Options of `Integrator`, with its defaults (``"rodas4"``, 1e-6, 1e-10): `method`, `rtol`, `atol`, `device`, ...

    Returns
    -------
    cantera.SolutionArray
        The states after that time, of those that fail the states before. Its extra ``status`` has the numbers of
        `odeum.STATUSES` (0 for success), ``steps`` the number of steps; other extras are kept. An `OdeumWarning`
        tells of states outside the thermodynamic data, beyond which one starts by `temperature_margin` [K] at most.
    """
    phase = getattr(states, "_phase", None)
    if phase is None or not all(hasattr(states, name) for name in ("TPY", "shape", "extra")):
        raise InputError("states", type(states).__name__, "give a cantera.SolutionArray")
    mechanism = Mechanism._of_cantera("states", phase, "give a cantera.SolutionArray of an ideal gas")
    shape = tuple(states.shape)
    T, p, Y = (np.array(part, dtype=np.float64, order="C") for part in states.TPY)
    cells = T.size
    if cells == 0:
        raise InputError("states", "no states", "give one at least")
    flat = T.reshape(cells), p.reshape(cells), Y.reshape(cells, mechanism.n_species)
    chem = Integrator(mechanism, kind, cells=cells, species_axis=1, **options)
    status = chem._in_place(*flat, dt)
    extra = {name: getattr(states, name) for name in states.extra if name not in ("status", "steps")}
    extra["status"] = status.astype(np.int64).reshape(shape)
    extra["steps"] = chem.stats["steps"].astype(np.int64).reshape(shape)
    # Cantera takes no arrays without axes.
    extra = {name: np.asarray(values)[()] for name, values in extra.items()}
    after = type(states)(phase, shape, extra=extra)
    after.TPY = T, p, Y
    return chem._warned(after)
