"""States of partially stirred reactors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import odeum as od

HYDROGEN = Path(__file__).resolve().parents[2] / "mechanisms" / "hydrogen-burke-2012.yaml"
# Takes minutes where nothing ends it.
LONG = {"T": 1000.0, "p": od.atm, "particles": 1000, "residence_times": 100.0, "threads": 1}
SMALL = {"T": 800.0, "particles": 10, "residence_times": 0.5, "tau_res": 1e-3}


@pytest.fixture(scope="module")
def gas():
    return od.Mechanism(HYDROGEN)


def test_mixing_inflow_and_reaction_keep_the_enthalpy_of_a_premixed_gas(gas):
    p = np.array([1.0, 10.0]) * od.atm
    states = od.pasr(gas, p=p, seed=1, **SMALL)
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


def test_the_command_gives_the_same_states(gas, tmp_path):
    command = [sys.executable, "-m", "odeum._command", "pasr", HYDROGEN, "--temperature=800", "--pressure=1"]
    options = ["--particles=10", "--residence-times=0.5", "--tau-res=1e-3", "--seed=3", "--non-premixed"]
    file = tmp_path / "states.npz"
    subprocess.run([*command, *options, f"--output={file}"], check=True, capture_output=True)
    ours = od.pasr(gas, p=od.atm, seed=3, premixed=False, **SMALL)
    with np.load(file) as theirs:
        for name in ours._fields:
            np.testing.assert_array_equal(getattr(ours, name), theirs[name])


def test_fuels_with_rounding_below_zero_are_those_without(gas):
    wanted = od.pasr(gas, p=od.atm, fuel="H2", **SMALL)
    in_order = [1.0 if name == "H2" else -1e-17 for name in gas.species_names]
    for fuel in ({"H2": 1.0, "OH": -1e-17}, in_order):
        assert np.array_equal(od.pasr(gas, p=od.atm, fuel=fuel, **SMALL).T, wanted.T)
    with pytest.raises(od.InputError):
        od.pasr(gas, p=od.atm, fuel={"H2": 1.0, "OH": -1e-6}, **SMALL)


def test_states_outside_the_data_are_told():
    text = HYDROGEN.read_text().replace("[200, 1000, 3500]", "[200, 1000, 2550]")
    with pytest.warns(od.OdeumWarning, match="states lie outside the thermodynamic data, 300 to 2550 K"):
        od.pasr(od.Mechanism.from_text(text), p=od.atm, **SMALL)


def test_bad_settings_are_refused(gas):
    for options, said in [
        ({"particles": 9}, "^`?particles`?: found 9; give an even number"),
        ({"particles": -2}, "particles"),
        ({"particles": 2**63}, "particles.*give 1 to 1000000"),
        ({"tau_mix": -1.0}, "tau_mix"),
        ({"fuel": "H3"}, "H3"),
        ({"T": []}, "T"),
        ({"T": 20.0}, "`T`: .*temperature"),
        ({"T": np.nan}, "`T`"),
        ({"p": -od.atm}, "p: found -101325.0; give numbers above zero"),
        ({"p": [od.atm, 0.0]}, "p: found 0.0; give numbers above zero"),
        ({"phi": -1.0}, "phi"),
        ({"fuel": {}}, "fuel"),
        ({"threads": 0}, "threads"),
        ({"residence_times": 1e30}, "memory|residence"),
        ({"progress": "bar"}, "progress"),
        ({"seed": 0.5}, "seed"),
    ]:
        with pytest.raises(od.InputError, match=said):
            od.pasr(gas, **{**SMALL, "p": od.atm, **options})


def test_progress_is_told_and_ends_a_run_that_it_raises_in(gas):
    told = []
    od.pasr(gas, p=od.atm, progress=lambda done, total: told.append((done, total)), **SMALL)
    done, totals = zip(*told, strict=True)
    assert sorted(done) == list(done) and set(totals) == {done[-1]} and done[-1] > 0

    def enough(done, total):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        od.pasr(gas, **LONG, progress=enough)


def test_ctrl_c_ends_it_and_other_threads_go_on(gas):
    beats = []
    stop = threading.Event()

    def beat():
        while not stop.wait(0.01):
            beats.append(len(beats))
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.5, stop.set).start()
    heart = threading.Thread(target=beat)
    heart.start()
    with pytest.raises(KeyboardInterrupt):
        od.pasr(gas, **LONG)
    heart.join()
    assert len(beats) > 5


def test_every_setting_is_that_of_the_command(gas, tmp_path):
    settings = {
        "tau_mix": 2e-4,
        "tau_pair": 3e-4,
        "phi": 0.7,
        "fuel": "H2:0.9, H2O:0.1",
        "oxidizer": "O2:1, AR:5",
    }
    options = [
        "--tau-mix=2e-4",
        "--tau-pair=3e-4",
        "--phi=0.7",
        "--fuel=H2:0.9,H2O:0.1",
        "--oxidizer=O2:1,AR:5",
    ]
    command = [sys.executable, "-m", "odeum._command", "pasr", HYDROGEN, "--temperature=800", "--pressure=1"]
    more = ["--particles=10", "--residence-times=0.5", "--tau-res=1e-3", "--seed=3"]
    file = tmp_path / "states.npz"
    subprocess.run([*command, *more, *options, f"--output={file}"], check=True, capture_output=True)
    ours = od.pasr(gas, p=od.atm, seed=3, **SMALL, **settings)
    with np.load(file) as theirs:
        np.testing.assert_array_equal(ours.T, theirs["T"])
        np.testing.assert_array_equal(ours.Y, theirs["Y"])
    assert ours.Y[:, gas.species_index("AR")].min() > 0.5
