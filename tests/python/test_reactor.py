"""Reactors, and ignition delays beside Cantera's."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import odeum as od

ct = pytest.importorskip("cantera")
xr = pytest.importorskip("xarray")

ROOT = Path(__file__).resolve().parents[2]
HYDROGEN = ROOT / "mechanisms" / "hydrogen-burke-2012.yaml"
AIR = "O2:1, N2:3.76"


@pytest.fixture(scope="module")
def gas():
    return od.Mechanism(HYDROGEN)


def cantera_delay(T, p, phi, kind, rise=400.0, until=1.0):
    solution = ct.Solution(str(HYDROGEN))
    solution.TP = T, p
    solution.set_equivalence_ratio(phi, "H2", AIR)
    volume = ct.IdealGasReactor if kind == "constant volume" else ct.IdealGasConstPressureReactor
    reactor = volume(solution, clone=False)
    network = ct.ReactorNet([reactor])
    network.rtol, network.atol = 1e-10, 1e-18
    before = 0.0, T
    while network.time < until:
        network.step()
        now = network.time, reactor.T
        if now[1] >= T + rise:
            # Cantera takes steps far shorter than the delay where the temperature rises.
            return float(np.interp(T + rise, [before[1], now[1]], [before[0], now[0]]))
        before = now
    return np.nan


@pytest.mark.parametrize("kind", ["constant volume", "constant pressure"])
def test_ignition_delays_are_those_of_cantera(gas, kind):
    runs = gas.reactor(kind).sweep(
        T=[1000.0, 1400.0], p=np.array([1.0, 20.0]) * od.atm, phi=[0.5, 1.0], fuel="H2", oxidizer=AIR
    )
    delay = runs.ignition_delay(by=od.rise("T", 400), until=1.0, rtol=1e-8, atol=1e-15)
    assert delay.dims == ("T0", "p", "phi") and delay.shape == (2, 2, 2)
    assert delay.attrs["units"] == "s" and delay.T0.attrs["units"] == "K"
    for place in np.ndindex(*delay.shape):
        one = delay[place]
        expected = cantera_delay(float(one.T0), float(one.p), float(one.phi), kind)
        assert float(one) == pytest.approx(expected, rel=1e-4)
    assert (delay.status == next(s.number for s in od.STATUSES if s.name == "terminal event")).all()


def test_what_does_not_ignite_is_nan(gas):
    runs = gas.reactor("constant volume").sweep(T=[300.0, 1300.0], fuel="H2", oxidizer=AIR)
    delay = runs.ignition_delay(until=1e-3)
    assert np.isnan(delay[0]) and delay[1] < 1e-4
    assert delay.status[0] == 0
    shorter = od.ignition_delay(runs, od.rise("T", 50.0), 1e-3)
    assert shorter[1] < delay[1]
    to = od.ignition_delay(runs, od.rise_to("T", 1700.0), 1e-3)
    assert float(to[1]) == pytest.approx(float(delay[1]), rel=1e-6)
    half = od.ignition_delay(runs, od.fall_to("H2", 0.5 * 0.0285), 1e-3)
    fallen = od.ignition_delay(runs, od.fall("H2", 0.02), 1e-3)
    assert 0.0 < half[1] < fallen[1]


def test_a_reactor_is_a_system(gas):
    reactor = gas.reactor(
        "constant pressure", fuel="H2", oxidizer=AIR, energy="isothermal", temperature=1200.0
    )
    assert reactor.states[:2] == ("T", "H2") and reactor.parameters == ("pressure",)
    assert set(reactor.variables) == {"T", "p", "phi"} and reactor.variables["T"] == 1200.0
    assert "constant pressure, isothermal" in repr(reactor)
    solution = reactor.sweep(phi=[0.5, 2.0]).solve((0.0, 1e-3))
    assert solution.success.all() and (solution["T"] == 1200.0).all()
    assert solution["H2O"].shape == (2,)
    assert pickle.loads(pickle.dumps(reactor)).variables == reactor.variables


def test_amounts_by_species_come_from_columns(gas):
    bare = gas.reactor("constant volume")
    assert list(bare.variables)[:3] == ["T", "p", "H2"]
    Y = gas.at_equivalence_ratio([0.5, 1.0], "H2", AIR)
    columns = {name: Y[:, k] for k, name in enumerate(gas.species_names)}
    table = bare(T=1200.0, **columns).solve((0.0, 1e-3))
    swept = bare.sweep(T=[1200.0], phi=[0.5, 1.0], fuel="H2", oxidizer=AIR).solve((0.0, 1e-3))
    np.testing.assert_allclose(table["T"], swept["T"][0], rtol=1e-9)
    moles = gas.reactor("constant volume", moles={"H2": 2.0, "O2": 1.0, "N2": 3.76}).sweep(T=[1200.0])
    assert moles.solve((0.0, 1e-3))["T"][0] == pytest.approx(swept["T"][0, 1], rel=1e-6)


def test_a_composition_that_changes_later_changes_no_reactor(gas):
    fuel = {"H2": 1.0}
    reactor = gas.reactor("constant volume", fuel=fuel, oxidizer=AIR)
    fuel["N2"] = 5.0
    assert reactor.sweep(oxidizer=AIR).system._section == reactor._section


def test_the_end_is_the_equilibrium(gas):
    reactor = gas.reactor("constant pressure", fuel="H2", oxidizer=AIR)
    end = reactor.sweep(T=[1300.0]).solve((0.0, 1.0), rtol=1e-9)
    burnt = gas.equilibrate(T=1300.0, p=od.atm, Y=gas.at_equivalence_ratio(1.0, "H2", AIR), hold="HP")
    assert end["T"][0] == pytest.approx(burnt.T, rel=1e-7)


def test_a_mechanism_in_memory_goes_into_a_case_file(gas, tmp_path):
    text = od.Mechanism.from_text(HYDROGEN.read_text(), name="h2.yaml")
    runs = text.reactor("constant volume").sweep(T=[1200.0, 1300.0], fuel="H2", oxidizer=AIR)
    solution = runs.solve((0.0, 1e-3))
    same = (
        gas.reactor("constant volume").sweep(T=[1200.0, 1300.0], fuel="H2", oxidizer=AIR).solve((0.0, 1e-3))
    )
    assert (solution.states == same.states).all()
    with pytest.raises(od.InputError, match="path"):
        runs.to_toml(None, (0.0, 1e-3))
    runs.to_toml(tmp_path / "case.toml", (0.0, 1e-3))
    assert (tmp_path / "case.mechanism.yaml").read_text() == HYDROGEN.read_text()
    (tmp_path / "case.toml").unlink()
    with pytest.raises(od.InputError, match="case.mechanism.yaml, which exists"):
        runs.to_toml(tmp_path / "case.toml", (0.0, 1e-3))
    runs.to_toml(tmp_path / "case.toml", (0.0, 1e-3), overwrite=True)
    assert (od.run(tmp_path / "case.toml").states == solution.states).all()


def test_a_mechanism_that_is_changed_in_a_case_changes_no_reactor():
    """Texts of mechanisms in memory were the system's own: reactions slowed down in a case slowed those of later calls."""
    gas = od.Mechanism.from_text(HYDROGEN.read_text())
    reactor = gas.reactor("constant pressure", fuel="H2", oxidizer="O2:1", temperature=1200.0)
    before = reactor.solve((0, 5e-5)).y
    case = reactor.runs().case((0, 5e-5))
    for name, text in case.mechanisms.items():
        assert "1.04e14" in text
        case.mechanisms[name] = text.replace("1.04e14", "1.04e12")
    np.testing.assert_array_equal(reactor.solve((0, 5e-5), rtol=1e-6).y, before)
    np.testing.assert_array_equal(reactor.solve((0, 5e-5), max_steps=5000).y, before)


def test_bad_reactors_are_refused_by_name(gas):
    for keys, field in [
        ({"kind": "constant entropy"}, "reactor"),
        ({"energy": "none"}, "energy"),
        ({"fuel": "H3", "oxidizer": AIR}, "fuel"),
        ({"fuel": "H2:1:2x", "oxidizer": AIR}, "fuel"),
        ({"fuel": "H2"}, "fuel"),
        ({"fuel": "H2", "oxidizer": AIR, "moles": "H2"}, "moles"),
        ({"colour": "red"}, "colour"),
    ]:
        with pytest.raises(od.InputError, match=field):
            gas.reactor(**keys)
    with pytest.raises(od.InputError, match="psi"):
        gas.reactor().sweep(psi=[1.0], fuel="H2", oxidizer=AIR)
    runs = gas.reactor().sweep(T=[1000.0], fuel="H2", oxidizer=AIR)
    with pytest.raises(od.InputError, match="until"):
        runs.ignition_delay(until=-1.0)
    with pytest.raises(od.InputError, match="by"):
        runs.ignition_delay(by=400.0)
    with pytest.raises(od.InputError, match="zz"):
        runs.ignition_delay(by=od.rise("zz", 1.0))


def test_a_reactor_warns_of_nothing(gas):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gas.reactor().sweep(T=[1300.0], fuel="H2", oxidizer=AIR).ignition_delay(until=1e-3)


def test_importing_brings_no_cantera_and_no_xarray():
    code = "import sys, odeum; print(sorted({'cantera', 'xarray', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_mechanism_that_is_in_its_file_needs_no_path(gas):
    """The text of a case was refused since mechanisms keep what they read."""
    runs = gas.reactor(fuel="H2", oxidizer=AIR).sweep(T=[1000.0, 1100.0])
    text = runs.to_toml(span=(0.0, 1e-6))
    assert str(HYDROGEN) in text and "span = " in text
    kept = od.Mechanism.from_text(HYDROGEN.read_text(encoding="utf-8"), name="h2.yaml")
    with pytest.raises(od.InputError, match="mechanism in memory"):
        kept.reactor(fuel="H2", oxidizer=AIR).sweep(T=[1000.0]).to_toml(span=(0.0, 1e-6))


@pytest.mark.filterwarnings("ignore:.*as the temperature is called")
def test_species_that_are_called_as_other_states_are():
    """Of two states with one name a dataset had the last one alone: a mass fraction for the temperature."""
    text = "phases:\n- {name: gas, thermo: ideal-gas}\nspecies:\n"
    for name in ("T", "m", "t"):
        thermo = "{model: constant-cp, cp0: 30 J/mol/K}"
        text += f"- {{name: {name}, composition: {{N: 2}}, thermo: {thermo}}}\n"
    gas = od.Mechanism.from_text(text, name="gas.yaml")
    runs = gas.reactor(mass_fractions={"T": 0.25, "m": 0.75}).sweep(T=[900.0])
    for save in (None, [1e-6]):
        data = runs.solve((0.0, 1e-6), save=save).to_xarray().squeeze()
        assert (data["T"], data["T_"], data["m"]) == (900.0, 0.25, 0.75)
        assert data["t" if save is None else "t_"] == 0.0
        assert float(data["m_"]) == pytest.approx(1 / gas.molecular_weights[0])


def test_compositions_as_arrays(gas):
    """They were refused here alone."""
    pandas = pytest.importorskip("pandas")
    Y = gas.at_equivalence_ratio(0.8, "H2", AIR)
    wanted = gas.reactor(fuel="H2", oxidizer=AIR, equivalence_ratio=0.8)(T=[1200.0]).solve((0.0, 1e-5)).y
    for given in (Y, Y.tolist(), pandas.Series(Y, gas.species_names)[::-1]):
        found = gas.reactor(mass_fractions=given)(T=[1200.0]).solve((0.0, 1e-5)).y
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-15)
    fuel, oxidizer = (gas.mole_fractions(gas.mass_fractions(text)) for text in ("H2:1", AIR))
    runs = gas.reactor()(T=[1200.0], phi=0.8, fuel=fuel, oxidizer=oxidizer)
    np.testing.assert_allclose(runs.solve((0.0, 1e-5)).y, wanted, rtol=1e-9, atol=1e-15)
    # Rounding below zero is none of a gas.
    for given in ({"H2": 1.0, "OH": -1e-17}, np.where(fuel > 0.0, fuel, -1e-17)):
        runs = gas.reactor()(T=[1200.0], phi=0.8, fuel=given, oxidizer=AIR)
        np.testing.assert_allclose(runs.solve((0.0, 1e-5)).y, wanted, rtol=1e-9, atol=1e-15)
    for given, found in (
        (Y[:3], r"shape \(3,\); give \d+ species"),
        (np.stack([Y, Y]), "shape .*give one composition; columns"),
        (3.0, "float; give species and amounts"),
    ):
        with pytest.raises(od.InputError, match=f"^mass_fractions: .*{found}"):
            gas.reactor(mass_fractions=given)


def test_delays_are_counted_from_the_start_of_each_reactor(gas):
    """Spans of their own say neither how long is waited nor what is counted from: times of events were delays."""
    runs = gas.reactor(fuel="H2", oxidizer=AIR)
    for ensemble in (
        runs(T=[1200.0, 1300.0], t_start=[1.0, 2.0], t_end=[1.1, 2.1]),
        runs(T=[1200.0, 1300.0], t_start=1.0),
        runs.sweep(T=[1200.0], t_end=[0.1, 0.2]),
    ):
        with pytest.raises(od.InputError) as raised:
            ensemble.ignition_delay(until=0.1)
        assert raised.value.field in ("t_start", "t_end") and "until" in raised.value.remedy


def test_species_may_be_called_as_spans_are():
    """Columns of such a species are its amounts, and give no spans."""
    text = "phases:\n- {name: gas, thermo: ideal-gas}\nspecies:\n"
    for name in ("t_start", "t_end"):
        text += (
            f"- {{name: {name}, composition: {{N: 2}}, thermo: {{model: constant-cp, cp0: 30 J/mol/K}}}}\n"
        )
    gas = od.Mechanism.from_text(text, name="gas.yaml")
    runs = gas.reactor()(T=[900.0, 1000.0], p=od.atm, t_start=[0.25, 0.5], t_end=[0.75, 0.5])
    assert np.isnan(runs.ignition_delay(until=1e-6)).all()
    assert runs.session()["t_start"].tolist() == [0.25, 0.5]


def test_an_approximate_jacobian_warns_only_of_methods_that_were_chosen(gas):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reactor = gas.reactor(fuel="H2", oxidizer=AIR, jacobian="approximate")
        runs = reactor(T=[1200.0])
        assert runs.values("T") == [1200.0]
        assert runs.solve((0, 1e-5), method="ros34pw2").success.all()
    with pytest.warns(od.OdeumWarning, match="loses its order") as told:
        runs.solve((0, 1e-5))
    assert len(told) == 1


def test_states_beyond_the_data_are_told(gas):
    """As the command does: the data were extrapolated in silence."""
    runs = gas.reactor(fuel="H2", oxidizer="O2")(T=[1200.0, 3000.0], p=[od.atm, 10 * od.atm])
    with pytest.warns(od.OdeumWarning, match=r"1 of 2 systems had states outside the model's data") as told:
        solution = runs.solve((0.0, 1e-3))
    assert Path(told[0].filename) == Path(__file__)
    assert solution.success.all() and solution["T"][1] > gas.temperature_bounds[1]
    assert (solution.counts["outside"] > 0).tolist() == [False, True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runs.solve((0.0, 1e-9))
        gas.reactor(mole_fractions="AR:1")(T=300.0).solve((0.0, 1e-3))


def test_attributes_that_would_change_nothing_are_refused(gas):
    reactor = gas.reactor("constant volume", fuel="H2", oxidizer=AIR)
    for name, value in (("kind", "constant pressure"), ("mechanism", None), ("states", ("T",))):
        with pytest.raises(AttributeError, match=f"'{name}' of this Reactor cannot be set"):
            setattr(reactor, name, value)
    for name, value in (
        ("molecular_weights", np.ones(11)),
        ("temperature_bounds", (0.0, 1e4)),
        ("name", "x"),
    ):
        with pytest.raises(AttributeError, match=f"'{name}' of this Mechanism cannot be set"):
            setattr(gas, name, value)
    with pytest.raises(TypeError):
        reactor.variables["T"] = 1000.0
    again = pickle.loads(pickle.dumps(reactor))
    assert again.variables == reactor.variables and again.kind == "constant volume"

    class Mine(od.Mechanism):
        def __init__(self, path):
            super().__init__(path)
            self.source = path

    mine = Mine(HYDROGEN)
    mine.source = None
    assert mine.source is None


@pytest.mark.parametrize(
    "what, make",
    [
        ("kind", lambda gas: gas.reactor(None)),
        ("kind", lambda gas: gas.integrator(7, cells=1)),
        ("foo", lambda gas: gas.reactor(foo=print)),
        ("temperature", lambda gas: gas.reactor(temperature=(x for x in [1000.0]))),
        ("temperature", lambda gas: gas.reactor(temperature=np.timedelta64(1000, "s"))),
        ("save", lambda gas: gas.reactor(moles="H2:1").runs().solve((0, 1e-6), save=np.timedelta64(3, "s"))),
        ("Y", lambda gas: gas.density(1000.0, od.atm, None)),
        ("Y", lambda gas: gas.net_production_rates(1000.0, od.atm, None)),
        ("fuel", lambda gas: gas.at_equivalence_ratio(1.0, np.eye(11), "O2")),
    ],
)
def test_what_means_nothing_is_an_input_error(gas, what, make):
    with pytest.raises(od.InputError) as raised:
        make(gas)
    assert raised.value.field == what
    assert ("no key of this name; there are fuel" in str(raised.value)) == (what == "foo")


def test_a_retry_from_states_of_a_reactor_is_refused(gas):
    """A case has temperatures and compositions of reactors, not states: it told of variables that nobody gave."""
    reactor = gas.reactor("constant pressure", mass_fractions="H2:0.1, O2:0.9", temperature=1200.0)
    start = reactor.solve((0, 1e-5), save=[0.0, 1e-5]).saved[0]
    result = od.solve_ivp(reactor, (0, 1e-5), start, "rodas5p", args=(1e5,), max_steps=2)
    assert not result.success
    with pytest.raises(od.InputError, match="solution: found systems that started .*call solve_ivp again"):
        result.solution.retry(max_steps=10_000)


def test_options_that_are_none_are_the_usual_ones(gas):
    runs = gas.reactor("constant volume").sweep(T=[1000.0, 1200.0], phi=[1.0], fuel="H2", oxidizer=AIR)
    usual = runs.case((0, 1e-3))
    given = runs.case((0, 1e-3), method=None, rtol=None, atol=None, max_steps=None, save=None)
    assert given.text() == usual.text() and "atol = 1e-15" in usual.text()
