"""Partially stirred reactors: states as they occur in turbulent flames."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odeum import _odeum
from odeum._convert import Floats, encodable, flag, number, numbers, positive, whole
from odeum._findings import raise_and_warn
from odeum._progress import Progress, callback_of
from odeum.chemistry.composition import Composition, by_name, small_negatives_as_zero
from odeum.chemistry.mechanism import Mechanism, checked
from odeum.errors import InputError


class PasrStates(NamedTuple):
    """States of particles, in the order of runs, times and particles [M].

    `T` [K], `p` [Pa] and `Y` [M, species]; `t` [s] is the time in the run, `run` its number.
    """

    T: Floats
    p: Floats
    Y: Floats
    t: Floats
    run: NDArray[np.int64]


def pasr(
    mechanism: Mechanism,
    *,
    T: Any = (400.0, 600.0, 800.0),
    p: Any = (1.0 * _odeum.ATM, 10.0 * _odeum.ATM, 25.0 * _odeum.ATM),
    fuel: Composition | Any = None,
    oxidizer: Composition | Any = None,
    phi: float = 1.0,
    particles: int = 100,
    residence_times: float = 10.0,
    tau_res: float | None = None,
    tau_mix: float | None = None,
    tau_pair: float | None = None,
    premixed: bool = True,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = None,
) -> PasrStates:
    """The states of partially stirred reactors, to test integrators on, as the command ``odeum pasr`` computes them.

    Particles flow through, mix in pairs and react at constant pressure, as in Curtis, Niemeyer & Sung (2017).
    Ctrl-C ends the computation; its states are lost. An `OdeumWarning` tells of states outside the thermodynamic data.

    Parameters
    ----------
    mechanism : Mechanism
    T, p : array_like
        Temperatures [K] of what flows in, and pressures [Pa]: a run for each combination, `p` fastest.
    fuel, oxidizer : str, dict or array [species], optional
        Amounts of their species [kmol]; CH4, else H2, and air unless said.
    phi : float
        Equivalence ratio.
    particles : int
        An even number, to 1,000,000.
    residence_times : float
        Duration of a run.
    tau_res, tau_mix, tau_pair : float, optional
        Residence, mixing and pairing time [s]: 0.01 for H2, else 0.005; 0.001; 0.001.
    premixed : bool
        Or else fuel and oxidizer enter apart.
    seed : int
        Of the random choices.
    threads : int, optional
        One for each core unless said.
    progress : bool or callable, optional
        A bar (with tqdm), or what is called with (done, total) in steps of all runs.

    Returns
    -------
    PasrStates
    """
    mechanism = checked(mechanism)
    # What the command says of these is in its own units and names.
    pressures, count = positive("p", p), whole("particles", particles, 1, 1_000_000)
    if count % 2 == 1:
        raise InputError("particles", str(count), "give an even number: they mix in pairs")
    options: dict[str, Any] = {
        "--temperature": _list("T", T),
        "--pressure": _list("p", pressures / _odeum.ATM),
        "--fuel": None if fuel is None else _composition("fuel", fuel, mechanism),
        "--oxidizer": None if oxidizer is None else _composition("oxidizer", oxidizer, mechanism),
        "--phi": repr(number("phi", phi)),
        "--particles": str(count),
        "--residence-times": repr(number("residence_times", residence_times)),
        "--tau-res": None if tau_res is None else repr(number("tau_res", tau_res)),
        "--tau-mix": None if tau_mix is None else repr(number("tau_mix", tau_mix)),
        "--tau-pair": None if tau_pair is None else repr(number("tau_pair", tau_pair)),
        "--seed": str(whole("seed", seed, 0, 2**64 - 1)),
        "--threads": None if threads is None else str(whole("threads", threads, 1, _odeum.MOST_THREADS)),
    }
    arguments = [f"{name}={value}" for name, value in options.items() if value is not None]
    raw = _odeum.Pasr(mechanism._raw, arguments + ([] if flag("premixed", premixed) else ["--non-premixed"]))
    with callback_of(progress, raw.steps, "steps") as report:
        T, p, Y, t, run = map(np.asarray, raw.run(report))
        if report is not None:
            report(raw.steps)
    states = PasrStates(T, p, Y, t, run.astype(np.int64))
    outside = int(mechanism._outside_data(T).sum())
    if outside:
        low, high = mechanism.temperature_bounds
        words = f"{outside:,} states lie outside the thermodynamic data, {low:g} to {high:g} K, which are extrapolated"
        raise_and_warn([("warning", words, "", "", "", "")], states)
    return states


def _list(field: str, value: Any) -> str:
    array = np.atleast_1d(numbers(field, value))
    if array.ndim != 1 or array.size == 0:
        raise InputError(field, f"an array of shape {array.shape}", "give one axis of numbers")
    return ",".join(repr(float(x)) for x in array)


def _composition(field: str, value: Composition | Any, mechanism: Mechanism) -> str:
    given = by_name(field, value, mechanism.species_names)
    amounts = small_negatives_as_zero(np.array([*given.values()], np.float64)).tolist()
    parts = (f"{name}:{amount!r}" for name, amount in zip(given, amounts, strict=True))
    return encodable(field, ",".join(parts))
