"""States of partially stirred reactors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import odeum as od

HYDROGEN = Path(__file__).resolve().parents[2] / "mechanisms" / "hydrogen-burke-2012.yaml"
SMALL = {"T": 800.0, "particles": 10, "residence_times": 0.5, "tau_res": 1e-3}


@pytest.fixture(scope="module")
def gas():
    return od.Mechanism(HYDROGEN)


def test_mixing_inflow_and_reaction_keep_the_enthalpy_of_a_premixed_gas(gas):
    p = np.array([1.0, 10.0]) * od.atm
    states = od.pasr(gas, p=p, **SMALL)
    assert states.Y.shape == (len(states.T), gas.n_species) and set(states.run) == {0, 1}
    np.testing.assert_allclose(np.unique(states.p), p, rtol=1e-14)
    assert (states.t[states.run == 0][:10] == 0.0).all() and states.t.max() == pytest.approx(5e-4)
    np.testing.assert_allclose(states.Y.sum(axis=1), 1.0, rtol=1e-12)
    fresh = gas.at_equivalence_ratio(1.0, "H2", "O2:1, N2:3.76")
    enthalpy = gas.enthalpy_mass(800.0, fresh)
    np.testing.assert_allclose(gas.enthalpy_mass(states.T, states.Y), enthalpy, rtol=1e-8)
    burnt = gas.equilibrate(T=800.0, p=p, Y=fresh, hold="HP")
    assert states.T[0] == pytest.approx(burnt.T[0], rel=1e-9)
    assert (states.T > 799.99).all() and states.T.min() < 1000.0


def test_the_same_seed_gives_the_same_states_from_text_too(gas):
    text = od.Mechanism.from_text(HYDROGEN.read_text())
    first, same, other = (
        od.pasr(mechanism, p=od.atm, seed=seed, fuel="H2:0.9, H2O:0.1", **SMALL)
        for mechanism, seed in ((gas, 1), (text, 1), (gas, 2))
    )
    assert (first.T == same.T).all() and (first.Y == same.Y).all()
    assert (first.T != other.T).any()


def test_bad_settings_are_refused(gas):
    for options, said in [
        ({"particles": 9}, "particles"),
        ({"particles": -2}, "particles"),
        ({"tau_mix": -1.0}, "tau-mix"),
        ({"fuel": "H3"}, "H3"),
        ({"T": []}, "T"),
        ({"T": 20.0}, "temperature"),
        ({"seed": 0.5}, "seed"),
    ]:
        with pytest.raises(od.InputError, match=said):
            od.pasr(gas, **{**SMALL, "p": od.atm, **options})
