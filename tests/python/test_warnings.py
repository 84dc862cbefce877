"""Warnings of which a filter makes errors, as `-W error`: nothing that was computed is lost."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from systems import van_der_pol

import odeum as od

HYDROGEN = Path(__file__).resolve().parents[2] / "mechanisms" / "hydrogen-burke-2012.yaml"
PRESSURE = 30.0 * od.atm
PREMIXED = {"fuel": "H2", "oxidizer": "O2:1"}


@pytest.fixture(scope="module")
def gas():
    return od.Mechanism(HYDROGEN)


def raised(call):
    """What a call gives otherwise, of the warning that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(od.OdeumWarning) as told:
            call()
    assert "`result` of this warning" in told.value.__notes__[0]
    return told.value.result


def quiet(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def hot(gas):
    """Reactors that react beyond the data, which end at 3500 K."""
    return gas.reactor("constant pressure", pressure=PRESSURE, **PREMIXED).sweep(T=[3400.0, 3450.0])


def test_a_solution_is_not_lost(gas, tmp_path):
    """It was raised away, and with it all that had been computed."""
    runs = hot(gas)
    expected = quiet(lambda: runs.solve((0, 1e-5)))
    np.testing.assert_array_equal(raised(lambda: runs.solve((0, 1e-5))).y, expected.y)
    until = {"T": {"rises_to": 9000.0}}
    assert len(raised(lambda: runs.solve((0, 1e-5), until=until))) == 2
    path = tmp_path / "case.toml"
    runs.to_toml(path, (0, 1e-5))
    np.testing.assert_array_equal(raised(lambda: od.run(path)).y, expected.y)
    failed = quiet(lambda: runs.solve((0, 1e-5), max_steps=3))
    assert failed.failed.all()
    again = raised(lambda: failed.retry(max_steps=10_000))
    assert again.success.all() and any("integrated again" in text for text in again.warnings)


def test_ignition_delays_are_not_lost(gas):
    """They were a solution."""
    runs = hot(gas)
    expected = quiet(lambda: od.ignition_delay(runs, until=1e-5))
    for call in (od.ignition_delay, type(runs).ignition_delay):
        assert raised(lambda call=call: call(runs, until=1e-5)).identical(expected)


def test_solve_ivp_is_not_lost(gas):
    reactor = gas.reactor("constant pressure", pressure=PRESSURE, temperature=3400.0, **PREMIXED)
    start = quiet(lambda: reactor.solve((0, 1e-12))).y
    result = raised(lambda: od.solve_ivp(reactor, (0, 1e-5), start, args=(PRESSURE,), method="rodas5p"))
    assert result.success and result.y.shape[-1] == 2


def test_parts_are_joined_once():
    """Of two warnings the first is raised; the solution has both."""
    parts = (van_der_pol() * 3).split(3)
    solutions = [part.solve((0, 1), rtol=1e-4 * (k + 1)) for k, part in enumerate(parts)]
    joined = raised(lambda: od.concat(solutions[1:]))
    assert len(joined) == 2 and len(joined.warnings) == 2


def test_a_step_is_taken_once(gas):
    """The numbers were those after the step, and nothing said so: who repeated it took it twice."""
    chem = gas.integrator("constant pressure", cells=2, temperature_margin=500.0)
    T = np.array([3495.0, 3450.0])
    Y = np.tile(gas.at_equivalence_ratio(1.0, "H2", "O2:1"), (2, 1))
    before = T.copy(), Y.copy()
    status = raised(lambda: chem.advance(T, PRESSURE, Y, 1e-5))
    assert status.tolist() == [0, 0] and (T > before[0] + 100.0).all()
    other = gas.integrator("constant pressure", cells=2, temperature_margin=500.0)
    new_T, _, new_Y, again = raised(lambda: other.advanced(*before[:1], PRESSURE, before[1], 1e-5))
    np.testing.assert_array_equal(new_T, T)
    np.testing.assert_array_equal(new_Y, Y)
    assert again.tolist() == [0, 0]
    # It was told: the next step is taken without.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert chem.advance(T, PRESSURE, Y, 1e-5).tolist() == [0, 0]


def test_a_session_tells_once(gas):
    session = hot(gas).session()
    before = session["T"]
    assert raised(lambda: session.advance((0, 1e-5))).tolist() == [0, 0]
    assert (session["T"] > before).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert session.advance((1e-5, 2e-5)).tolist() == [0, 0]


def test_gases_are_not_lost(gas):
    Y = gas.at_equivalence_ratio(1.0, "H2", "O2:1")
    flames = raised(lambda: gas.equilibrate(T=3400.0, p=100.0 * PRESSURE, Y=Y, hold="HP"))
    assert flames.T > 3500.0
    text = HYDROGEN.read_text().replace("[200, 1000, 3500]", "[200, 1000, 2550]")
    cold, few = (
        od.Mechanism.from_text(text),
        {"particles": 10, "residence_times": 0.5, "tau_res": 1e-3, "T": 800.0},
    )
    states = raised(lambda: od.pasr(cold, p=od.atm, fuel="H2", **few))
    assert len(states.T) == len(states.Y) > 0


def test_a_warning_before_anything_is_done_has_no_result(gas):
    runs = gas.reactor("constant pressure", **PREMIXED).sweep(T=[1200.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(od.OdeumWarning, match="explicit") as told:
            runs.solve((0, 1e-5), method="tsit5")
    assert told.value.result is None and not hasattr(told.value, "__notes__")
    assert pickle.loads(pickle.dumps(told.value)).args == told.value.args
