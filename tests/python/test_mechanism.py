"""Mechanisms: what they read, and thermodynamics and rates beside Cantera's."""

from __future__ import annotations

import pickle
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import odeum as od

ct = pytest.importorskip("cantera")

ROOT = Path(__file__).resolve().parents[2]
HYDROGEN = ROOT / "mechanisms" / "hydrogen-burke-2012.yaml"
GRI = ROOT.parent / "shared" / "mechanisms" / "grimech30"
AIR = "O2:1, N2:3.76"

STATE = ["density", "heat_release_rate"]
SPECIES = ["net_production_rates"]
REACTION = ["forward_rate_constants", "forward_rates_of_progress"]


def shared(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"there is no {path}: the data shared beside the repository are absent")
    return path


@pytest.fixture(scope="module", params=["hydrogen", "gri"])
def pair(request):
    path = HYDROGEN if request.param == "hydrogen" else shared(GRI / "grimech30.yaml")
    return od.Mechanism(path), ct.Solution(str(path))


def states(gas, count, seed=7):
    """Random gases within the data of a mechanism."""
    random = np.random.default_rng(seed)
    low, high = gas.temperature_bounds
    T = random.uniform(low, high, count)
    p = 10.0 ** random.uniform(4.0, 7.0, count)
    return T, p, random.dirichlet(np.ones(gas.n_species), count)


def of_cantera(solution, name, T, p, Y):
    values = []
    for state in zip(T, p, Y, strict=True):
        solution.TPY = state
        values.append(np.copy(getattr(solution, name)))
    return np.array(values)


def test_names_and_sizes_are_those_of_cantera(pair):
    gas, solution = pair
    assert gas.species_names == tuple(solution.species_names)
    assert gas.element_names == tuple(solution.element_names)
    assert (gas.n_species, gas.n_reactions) == (solution.n_species, solution.n_reactions)
    assert len(gas.reaction_equations) == gas.n_reactions
    np.testing.assert_allclose(gas.molecular_weights, solution.molecular_weights, rtol=1e-9)
    assert gas.species_index("N2") == solution.species_index("N2")
    assert f"{gas.n_species} species" in repr(gas)


@pytest.mark.parametrize("name", STATE + SPECIES + REACTION)
def test_rates_are_those_of_cantera(pair, name):
    gas, solution = pair
    T, p, Y = states(gas, 60)
    ours, theirs = getattr(gas, name)(T, p, Y), of_cantera(solution, name, T, p, Y)
    # Sums of terms that cancel are compared with the largest of their kind.
    scale = np.abs(theirs).max(axis=1, keepdims=True) if name in SPECIES else np.abs(theirs)
    assert ours.shape == theirs.shape
    assert (np.abs(ours - theirs) <= 1e-10 * scale).all()


def test_rates_of_progress_are_those_of_cantera(pair):
    gas, solution = pair
    T, p, Y = states(gas, 60)
    forward = of_cantera(solution, "forward_rates_of_progress", T, p, Y)
    for name in ("reverse_rates_of_progress", "net_rates_of_progress"):
        theirs = of_cantera(solution, name, T, p, Y)
        # They are differences: they have the rounding of the larger direction.
        scale = np.maximum(np.abs(forward), np.abs(theirs))
        assert (np.abs(getattr(gas, name)(T, p, Y) - theirs) <= 1e-10 * scale).all(), name
    difference = gas.forward_rates_of_progress(T, p, Y) - gas.reverse_rates_of_progress(T, p, Y)
    np.testing.assert_allclose(gas.net_rates_of_progress(T, p, Y), difference, rtol=1e-12)


def test_thermodynamics_are_those_of_cantera(pair):
    gas, solution = pair
    T, p, Y = states(gas, 60)
    for name in ("cp_mass", "cv_mass", "enthalpy_mass", "int_energy_mass"):
        theirs = of_cantera(solution, name, T, p, Y)
        scale = np.abs(theirs) + 1e4 * (name in ("enthalpy_mass", "int_energy_mass"))
        assert (np.abs(getattr(gas, name)(T, Y) - theirs) <= 1e-10 * scale).all(), name
    for name in ("partial_molar_cp", "partial_molar_enthalpies"):
        theirs = of_cantera(solution, name, T, p, Y)
        np.testing.assert_allclose(getattr(gas, name)(T), theirs, rtol=1e-10, atol=1e-2)
    theirs = of_cantera(solution, "equilibrium_constants", T, p, Y)
    np.testing.assert_allclose(gas.equilibrium_constants(T), theirs, rtol=1e-9)
    theirs = of_cantera(solution, "mean_molecular_weight", T, p, Y)
    np.testing.assert_allclose(gas.mean_molecular_weight(Y), theirs, rtol=1e-9)


def test_compositions_are_those_of_cantera(pair):
    gas, solution = pair
    fuel = "CH4:0.9, H2:0.1" if "CH4" in gas.species_names else "H2"
    X = gas.mole_fractions(states(gas, 5)[2])
    for row in X:
        solution.X = row
        np.testing.assert_allclose(gas.mass_fractions(row), solution.Y, rtol=1e-9)
    phi = np.array([[0.3, 1.0], [2.0, 5.0]])
    Y = gas.at_equivalence_ratio(phi, fuel, AIR)
    assert Y.shape == (2, 2, gas.n_species)
    for place, value in np.ndenumerate(phi):
        solution.set_equivalence_ratio(value, fuel, AIR)
        np.testing.assert_allclose(Y[place], solution.Y, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("hold", ["TP", "HP"])
def test_equilibria_are_those_of_cantera(pair, hold):
    gas, solution = pair
    fuel = "CH4" if "CH4" in gas.species_names else "H2"
    T, phi = np.meshgrid([300.0, 900.0, 1500.0], [0.4, 1.0, 2.5], indexing="ij")
    p, Y = np.array([1e5, 2e6, 1e4]), gas.at_equivalence_ratio(phi, fuel, AIR)
    ours = gas.equilibrate(T=T, p=p, Y=Y, hold=hold)
    assert ours.T.shape == (3, 3) and ours.Y.shape == Y.shape and ours.p[1].tolist() == p.tolist()
    for place in np.ndindex(3, 3):
        solution.TPY = T[place], p[place[1]], Y[place]
        solution.equilibrate(hold, rtol=1e-12)
        assert ours.T[place] == pytest.approx(solution.T, rel=1e-9)
        np.testing.assert_allclose(ours.Y[place], solution.Y, rtol=1e-5, atol=1e-10)


def test_batches_broadcast_and_one_state_is_a_number():
    gas = od.Mechanism(HYDROGEN)
    Y = gas.at_equivalence_ratio([0.5, 1.0, 2.0], "H2", AIR)
    T = np.array([[1000.0], [1500.0]])
    rates = gas.net_production_rates(T, od.atm, Y)
    assert rates.shape == (2, 3, gas.n_species)
    assert (rates[1, 2] == gas.net_production_rates(1500.0, od.atm, Y[2])).all()
    # One composition for all, in any memory order.
    assert (gas.density(np.full(4, 900.0), od.atm, Y[1]) == gas.density(900.0, od.atm, Y[1])).all()
    assert (gas.net_production_rates(1500.0, od.atm, np.asfortranarray(Y)) == rates[1]).all()
    assert np.ndim(gas.density(900.0, od.atm, Y[1])) == 0
    assert gas.net_production_rates(np.empty(0), od.atm, Y[1]).shape == (0, gas.n_species)
    masses = "H2:0.0285, O2:0.226, N2:0.7455"
    assert gas.density(900.0, od.atm, masses) == pytest.approx(gas.density(900.0, od.atm, Y[1]), rel=1e-3)


def test_many_threads_may_ask_at_once():
    gas = od.Mechanism(HYDROGEN)
    T, p, Y = states(gas, 500)
    expected = gas.net_production_rates(T, p, Y)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(gas.net_production_rates(T, p, Y))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all((rates == expected).all() for rates in found)


def test_text_cantera_chemkin_and_pickles_give_the_same_rates():
    gas = od.Mechanism(HYDROGEN)
    T, p, Y = states(gas, 5)
    expected = gas.net_production_rates(T, p, Y)
    text = od.Mechanism.from_text(HYDROGEN.read_text(), name="mine", phase="hydrogen")
    cantera = od.Mechanism.from_cantera(ct.Solution(str(HYDROGEN)))
    for other in (text, pickle.loads(pickle.dumps(gas)), pickle.loads(pickle.dumps(text))):
        assert other.species_names == gas.species_names
        assert (other.net_production_rates(T, p, Y) == expected).all()
    np.testing.assert_allclose(cantera.net_production_rates(T, p, Y), expected, rtol=1e-9)
    files = [shared(GRI / name) for name in ("grimech30.dat", "thermo30.dat", "grimech30.yaml")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", od.OdeumWarning)
        chemkin = od.Mechanism(files[0], thermo=files[1])
    yaml = od.Mechanism(files[2])
    T, p, Y = states(yaml, 5)
    ours, theirs = chemkin.net_production_rates(T, p, Y), yaml.net_production_rates(T, p, Y)
    assert (np.abs(ours - theirs) <= 1e-5 * np.abs(theirs).max(axis=1, keepdims=True)).all()


def test_problems_of_a_mechanism_come_at_once_with_file_and_line(tmp_path):
    text = HYDROGEN.read_text()
    lines = text.splitlines()
    wrong = text.replace("equation: H + O2 <=> O + OH", "equation: H + O2 <=> O + QQ")
    if wrong == text:
        pytest.fail("the mechanism was rewritten: choose another equation")
    line = next(k for k, (a, b) in enumerate(zip(lines, wrong.splitlines(), strict=True), 1) if a != b)
    (tmp_path / "wrong.yaml").write_text(wrong)
    for made in (
        lambda: od.Mechanism.from_text(wrong, name="mine"),
        lambda: od.Mechanism(tmp_path / "wrong.yaml"),
    ):
        with pytest.raises(od.InputError, match=f":{line}: .*QQ") as caught:
            made()
        assert caught.value.field.endswith(f":{line}") and "QQ" in caught.value.found
    with pytest.raises(od.InputError, match="nowhere.yaml"):
        od.Mechanism("nowhere.yaml")
    with pytest.raises(od.InputError, match="phase"):
        od.Mechanism(HYDROGEN, phase="none of this name")
    with pytest.raises(od.InputError, match="solution"):
        od.Mechanism.from_cantera("gri30.yaml")


def test_phases_of_cantera_that_are_no_gas_are_refused():
    surface = ct.Interface("ptcombust.yaml", "Pt_surf")
    with pytest.raises(od.InputError, match=r"solution: found Interface; give a cantera\.Solution"):
        od.Mechanism.from_cantera(surface)
    assert od.Mechanism.from_cantera(surface.adjacent["gas"]).n_species == 32
    with pytest.raises(od.InputError, match="states: found Interface"):
        od.advance(ct.SolutionArray(surface, 2), 1e-6)
    # A rate that is a function of Python is in no file.
    rate = ct.Reaction(equation="H2 + O <=> H + OH", rate=lambda T: 38.7 * T**2.7)
    species = ct.Species.list_from_file("h2o2.yaml")
    gas = ct.Solution(thermo="ideal-gas", kinetics="gas", species=species, reactions=[rate])
    with pytest.raises(od.InputError, match="a Solution that Cantera does not write .*custom-rate-function"):
        od.Mechanism.from_cantera(gas)


def test_coefficients_of_more_digits_than_cantera_writes_are_refused():
    species = ct.Species.list_from_file("h2o2.yaml")

    def solution(equation):
        reaction = ct.Reaction(equation=equation, rate=ct.ArrheniusRate(1e10, 0.0, 0.0))
        return ct.Solution(thermo="ideal-gas", kinetics="gas", species=species, reactions=[reaction])

    for equation in ("0.333333 H2O2 => 0.666666 OH", "H2 + 0.5 O2 => H2O", "2 H2 + O2 => 2 H2O"):
        assert od.Mechanism.from_cantera(solution(equation)).n_reactions == 1
    gas = solution("0.3333333333333333 H2O2 => 0.6666666666666666 OH")
    # Text of these would have other coefficients than the gas, which has other rates.
    with pytest.raises(od.InputError, match="solution: found 0.3333333333333333 H2O2 in 0.333333 H2O2 => "):
        od.Mechanism.from_cantera(gas)
    with pytest.raises(od.InputError, match="states: found 0.3333333333333333 H2O2"):
        od.advance(ct.SolutionArray(gas, 2), 1e-6)
    ct.use_sparse()
    try:
        with pytest.raises(od.InputError, match="six digits"):
            od.Mechanism.from_cantera(gas)
    finally:
        ct.use_sparse(False)


LABELLED = """
phases:
- {name: gas, thermo: ideal-gas, elements: [{isotopes: [SYMBOL]}, {default: [H]}], species: [O2, O, OH], kinetics: gas}
species:
- {name: O2, composition: {SYMBOL: 2}, thermo: {model: constant-cp, h0: 0, s0: 205 J/mol/K, cp0: 30 J/mol/K}}
- {name: O, composition: {SYMBOL: 1}, thermo: {model: constant-cp, h0: 249 kJ/mol, s0: 161 J/mol/K, cp0: 21 J/mol/K}}
- {name: OH, composition: {SYMBOL: 1, H: 1}, thermo: {model: constant-cp, h0: 39 kJ/mol, s0: 184 J/mol/K, cp0: 30 J/mol/K}}
reactions:
- {equation: O2 + M <=> 2 O + M, rate-constant: {A: 1e12, b: 0, Ea: 0}}
isotopes:
- {symbol: SYMBOL, atomic-weight: 17.9992}
"""


@pytest.mark.parametrize("symbol", ["O", "Oi", "OI", "'Yes'"])
def test_atomic_weights_of_a_gas_of_its_own_are_those_of_cantera(symbol):
    """Cantera writes no elements: isotopes had the weights of the elements, new ones none."""
    text = LABELLED.replace("SYMBOL", symbol)
    solution, expected = ct.Solution(yaml=text), od.Mechanism.from_text(text)
    assert expected.molecular_weights[0] == pytest.approx(2 * 17.9992)
    gas = od.Mechanism.from_cantera(solution)
    assert gas.element_names == tuple(solution.element_names)
    np.testing.assert_allclose(gas.molecular_weights, solution.molecular_weights, rtol=1e-14)
    states = ct.SolutionArray(solution, 1)
    states.TPY = 3000.0, 1e5, {"O2": 0.9, "OH": 0.1}
    T, Y = np.array([3000.0]), expected._fractions({"O2": 0.9, "OH": 0.1})[None]
    expected.integrator(cells=1).advance(T, 1e5, Y, 1e-3)
    np.testing.assert_allclose(od.advance(states, 1e-3).T, T, rtol=1e-6)


def test_ions_of_cantera_have_the_weight_of_their_electrons():
    solution = ct.Solution("gri30_ion.yaml")
    gas = od.Mechanism.from_cantera(solution)
    np.testing.assert_allclose(gas.molecular_weights, solution.molecular_weights, rtol=1e-14)


def test_a_gas_whose_text_is_another_is_refused(monkeypatch):
    solution = ct.Solution(yaml=LABELLED.replace("SYMBOL", "O"))
    text = LABELLED.replace("SYMBOL", "O").replace("17.9992", "15.999")
    monkeypatch.setattr("odeum.chemistry.mechanism._written", lambda *_: text)
    with pytest.raises(od.InputError, match=r"solution: found O2 of 35\.9984 kg/kmol, which has 31\.998 as"):
        od.Mechanism.from_cantera(solution)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ((-1.0, 1e5, "H2:1"), "T"),
        ((np.nan, 1e5, "H2:1"), "T"),
        ((1000.0, 0.0, "H2:1"), "p"),
        ((1000.0, 1e5, [1.0, 0.0]), "Y"),
        ((1000.0, 1e5, "H3:1"), "Y"),
        ((1000.0, 1e5, "H2:-1"), "Y.H2"),
        ((1000.0, 1e5, "H2:x"), "Y"),
        ((1000.0, 1e5, "H2:1, H2:2"), "Y"),
        ((1000.0, 1e5, ""), "Y"),
        ((np.ones(3), np.ones(2), "H2:1"), "T, p, Y"),
        (("hot", 1e5, "H2:1"), "T"),
    ],
)
def test_bad_states_are_refused_by_name(arguments, field):
    gas = od.Mechanism(HYDROGEN)
    with pytest.raises(od.InputError) as refused:
        gas.net_production_rates(*arguments)
    assert refused.value.field == field


def test_bad_equilibria_are_refused_or_nan():
    gas = od.Mechanism(HYDROGEN)
    Y = gas.at_equivalence_ratio(1.0, "H2", AIR)
    with pytest.raises(od.InputError, match="hold"):
        gas.equilibrate(T=300.0, p=1e5, Y=Y, hold="UV")
    with pytest.raises(od.InputError, match=r"gas \(1,\).*temperature"):
        gas.equilibrate(T=[300.0, 20.0], p=1e5, Y=Y)
    with pytest.raises(od.InputError, match="phi"):
        gas.at_equivalence_ratio(-1.0, "H2", AIR)
    with pytest.raises(od.InputError, match="fuel"):
        gas.at_equivalence_ratio(1.0, "O2", AIR)
    with pytest.raises(od.InputError, match="X"):
        gas.mass_fractions(-np.ones(gas.n_species))


def test_fractions_that_integrations_leave_below_zero_count_as_zero():
    gas = od.Mechanism(HYDROGEN)
    Y = np.tile(gas.at_equivalence_ratio(1.0, "H2", AIR), (2, 1))
    below = Y.copy()
    below[1, gas.species_index("OH")] = -1e-9
    assert np.array_equal(gas.mole_fractions(below), gas.mole_fractions(Y))
    assert np.array_equal(gas.mass_fractions(1e3 * below), gas.mass_fractions(1e3 * Y))
    ours, theirs = (gas.equilibrate(T=300.0, p=1e5, Y=rows, hold="HP") for rows in (below, Y))
    assert np.array_equal(ours.Y, theirs.Y) and np.array_equal(ours.T, theirs.T)
    by_name = {"H2": 1.0, "OH": -1e-9}
    assert np.array_equal(gas.mole_fractions(by_name), gas.mole_fractions("H2"))
    in_order = np.array([by_name.get(name, 0.0) for name in gas.species_names])
    for fuel in (by_name, in_order):
        assert np.array_equal(gas.at_equivalence_ratio(1.0, fuel, AIR), Y[0])
    with pytest.raises(od.InputError, match=r"X\[1, \d+\]: found -1e-06"):
        gas.mass_fractions(np.where(below < 0.0, -1e-6, below))
    below[1, gas.species_index("OH")] = -1e-6
    with pytest.raises(od.InputError, match=r"gas \(1,\).*OH"):
        gas.equilibrate(T=300.0, p=1e5, Y=below)


def test_fractions_that_are_none_of_a_whole_are_refused():
    """Of percents the density was a hundredth, with success."""
    gas = od.Mechanism(HYDROGEN)
    Y = gas.at_equivalence_ratio([0.5, 1.0], "H2", AIR)
    wrong = Y * [[1.0], [100.0]]
    for evaluated in (gas.density, gas.net_production_rates, gas.heat_release_rate):
        with pytest.raises(od.InputError, match=r"^Y\[1\]: found fractions that sum to 100"):
            evaluated(1000.0, 1e5, wrong)
    with pytest.raises(od.InputError, match="^Y: found fractions that sum to 100"):
        gas.cp_mass(1000.0, wrong[1])
    with pytest.raises(od.InputError, match="sum to 0"):
        gas.enthalpy_mass([300.0, 400.0], 0.0 * Y)
    # Differences of neighbours are as small as they are.
    beside = Y[0] * (1 + 1e-6)
    assert gas.density(1000.0, 1e5, beside) != gas.density(1000.0, 1e5, Y[0])


def test_equilibria_outside_the_data_are_told():
    gas = od.Mechanism(HYDROGEN)
    Y = np.array([gas.mass_fractions(X) for X in ("N2:1", "H:2, O:1")])
    with pytest.warns(
        od.OdeumWarning, match=r"^1 equilibria lie outside .* 300 to 3500 K.*gas \(1,\): \d{4} K"
    ):
        flames = gas.equilibrate(T=[305.0, 1000.0], p=1e6, Y=Y, hold="HP")
    assert flames.T[0] == pytest.approx(305.0) and flames.T[1] > 3500.0


def test_files_that_change_afterwards_change_nothing(tmp_path):
    """Rates, reactors, integrators and case files are those of the text that was read."""
    path = tmp_path / "hydrogen.yaml"
    text = HYDROGEN.read_text()
    path.write_text(text)
    gas = od.Mechanism(path)
    runs = gas.reactor(fuel="H2", oxidizer=AIR).sweep(T=[1200.0])
    before = runs.ignition_delay().values
    assert str(path.resolve()) in runs.to_toml(tmp_path / "same.toml", span=(0.0, 1e-3))
    assert not (tmp_path / "same.mechanism.yaml").exists()

    path.write_text("phases: []\n")
    after = gas.reactor(fuel="H2", oxidizer=AIR).sweep(T=[1200.0]).ignition_delay().values
    again = runs.ignition_delay().values
    np.testing.assert_array_equal(before, after)
    np.testing.assert_array_equal(before, again)
    runs.to_toml(tmp_path / "changed.toml", span=(0.0, 1e-3))
    assert (tmp_path / "changed.mechanism.yaml").read_text() == text

    path.unlink()
    T, Y = np.array([1200.0]), gas.mass_fractions("H2:2, O2:1")[None].copy()
    assert (gas.integrator(cells=1).advance(T, 1e5, Y, 1e-9) == 0).all()
    assert pickle.loads(pickle.dumps(gas)).reaction_equations == gas.reaction_equations


def test_thermodynamic_data_that_change_afterwards_change_nothing(tmp_path):
    mechanism, thermo = (shared(GRI / name) for name in ("grimech30.dat", "thermo30.dat"))
    copy = tmp_path / "thermo.dat"
    copy.write_bytes(thermo.read_bytes())
    gas = od.Mechanism(mechanism, thermo=copy)
    copy.unlink()
    solved = gas.reactor(moles="CH4:1, O2:2").runs().solve((0.0, 1e-9))
    assert np.asarray(solved.y).shape[-1] == gas.n_species + 2


def test_names_of_species_may_have_commas():
    """A composition as text was cut at them, so `1,3-X` was no species."""
    text = LABELLED.replace("SYMBOL", "O")
    for name, plain in (("O2", "1,3-X"), ("OH", "1,3,5:X")):
        text = text.replace(f"name: {name},", f"name: '{plain}',").replace(f", {name}]", f", '{plain}']")
        text = text.replace(f"species: [{name},", f"species: ['{plain}',")
    gas = od.Mechanism.from_text(
        text.replace("{equation: O2 + M <=> 2 O + M", "{equation: '1,3-X + M <=> 2 O + M'")
    )
    assert gas.species_names == ("1,3-X", "O", "1,3,5:X")
    for text, expected in (
        ("1,3-X:1, O:2", [1, 2, 0]),
        ("O:2,1,3-X", [1, 2, 0]),
        ("O, 1,3,5:X:3, 1,3-X : 0.5,", [0.5, 1, 3]),
        ("1,3,5:X:3", [0, 0, 3]),
        ("O", [0, 1, 0]),
    ):
        np.testing.assert_array_equal(gas.mass_fractions(text), gas.mass_fractions(np.array(expected)))
        assert gas.reactor(moles=text).sweep(T=[1000.0]).case((0, 1)).document["system"]["moles"]
    for text, words in (
        ("1,3-Y:1", "the species '1'"),
        ("O:1,2", "the species '2'"),
        ("O:1:a, O:2", "O:1:a"),
    ):
        with pytest.raises(od.InputError, match=words):
            gas.mass_fractions(text)


def test_names_say_which_species_is_which():
    """They were ignored: a table with its columns in another order was another gas."""
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    gas = od.Mechanism(HYDROGEN)
    Y, names = gas.at_equivalence_ratio(1.0, "H2", AIR), list(gas.species_names)
    expected = gas.density(1000.0, 1e5, Y)
    table = pandas.DataFrame([Y, Y], columns=names)
    labelled = xarray.DataArray([Y, Y], dims=("cell", "species"), coords={"species": names})
    for given in (table, labelled, table.loc[0]):
        backwards = given[..., ::-1] if given is labelled else given[names[::-1]]
        for order in (given, backwards):
            assert (gas.density(1000.0, 1e5, order) == expected).all()
    np.testing.assert_array_equal(gas.mole_fractions(table.loc[0, names[::-1]]), gas.mole_fractions(Y))
    # Numbers as labels are rows of a table, not species.
    for plain in (pandas.DataFrame([Y, Y]), pandas.Series(Y, index=range(3, 14)), list(Y)):
        assert (gas.density(1000.0, 1e5, plain) == expected).all()
    few = pandas.Series({"H2": 0.1, "O2": 0.9})
    for bad, words in (
        (table.assign(T=1000.0), "the label 'T', which is none of the species"),
        (few, "labels of 2 species"),
        (table[[*names, "H2"]], "labels of 12 species"),
    ):
        with pytest.raises(od.InputError, match=words):
            gas.density(1000.0, 1e5, bad)
    assert gas.density(1000.0, 1e5, dict(few)) > 0
    # Along another axis they were taken for cells where there are as many.
    Y = np.random.default_rng(0).dirichlet(np.ones(gas.n_species))
    rows = np.tile(Y, (gas.n_species, 1)).T
    for bad in (
        pandas.DataFrame(rows, index=names),
        xarray.DataArray(rows, dims=("gas", "cell"), coords={"gas": names}),
        xarray.DataArray(rows, dims=("species", "cell")),
    ):
        with pytest.raises(od.InputError, match="along another axis than the last"):
            gas.mole_fractions(bad)
        np.testing.assert_array_equal(gas.mole_fractions(bad.T)[0], gas.mole_fractions(Y))


def test_gases_are_paired_by_place_only_where_their_labels_agree():
    pandas = pytest.importorskip("pandas")
    gas = od.Mechanism(HYDROGEN)
    T, p = pandas.Series([300.0, 1000.0], ["a", "b"]), pandas.Series([1e5, 2e5], ["b", "a"])
    Y = pandas.DataFrame(
        [gas.at_equivalence_ratio(phi, "H2", AIR) for phi in (0.5, 1.0)], ["b", "a"], gas.species_names
    )
    for call in (gas.density, lambda *state: gas.equilibrate(**dict(zip("TpY", state, strict=True)))):
        for columns, name in (((T, p, "H2:1"), "p"), ((T, 1e5, Y), "Y")):
            with pytest.raises(od.InputError, match=f"{name}: found other labels than those of T"):
                call(*columns)
    ordered = gas.density(T, p.loc[T.index], Y.loc[T.index])
    assert (ordered == gas.density(T.values, p.values[::-1], Y.values[::-1])).all()
    assert gas.density(T, p[:1], Y.iloc[0]).shape == (2,)


def test_grids_of_gases_have_the_same_dimensions():
    """Along more axes than one labels counted for nothing."""
    xarray = pytest.importorskip("xarray")
    gas = od.Mechanism(HYDROGEN)
    T = xarray.DataArray([[300.0, 400.0], [500.0, 600.0]], dims=("a", "b"))
    p = xarray.DataArray([[1e5, 2e5], [3e5, 4e5]], dims=("b", "a"))
    Y = xarray.DataArray(np.tile(gas.mass_fractions("N2:1"), (2, 2, 1)), dims=("b", "a", "species"))
    for columns, name in (((T, p, "N2:1"), "p"), ((T, 1e5, Y), "Y"), ((T, T[:, 0] * 1e3, "N2:1"), "p")):
        with pytest.raises(od.InputError, match=f"{name}: found the dimension '.', beside '.' of T"):
            gas.density(*columns)
    expected = gas.density(T.values, p.values.T, "N2:1")
    np.testing.assert_array_equal(gas.density(T, p.T, Y.transpose("a", "b", "species")), expected)


def test_molecular_weights_are_read_only():
    gas = od.Mechanism(HYDROGEN)
    for mechanism in (gas, pickle.loads(pickle.dumps(gas))):
        with pytest.raises(ValueError, match="read-only"):
            mechanism.molecular_weights[0] = 99.0


def test_one_folder_of_further_files(tmp_path):
    (tmp_path / "lib").mkdir()
    text = HYDROGEN.read_text(encoding="utf-8")
    (tmp_path / "lib" / "hydrogen.yaml").write_text(text, encoding="utf-8")
    imports = "{name: gas, thermo: ideal-gas, species: [{hydrogen.yaml/species: all}]}"
    path = tmp_path / "gas.yaml"
    path.write_text(f"phases:\n- {imports}\n", encoding="utf-8")
    for include in (tmp_path / "lib", str(tmp_path / "lib"), [tmp_path / "lib"]):
        assert od.Mechanism(path, include=include).n_species == 11


def test_equilibria_at_the_end_of_the_data_are_within_them():
    """Of hydrogen at 300 K that keeps its enthalpy the temperature is 300 K up to rounding."""
    gas = od.Mechanism(HYDROGEN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = gas.equilibrate(T=300.0, p=np.geomspace(1e4, 1e7, 20), Y="H2:1", hold="HP")
    assert np.allclose(found.T, 300.0, rtol=1e-12)
    with pytest.warns(od.OdeumWarning, match="outside the thermodynamic data"):
        gas.equilibrate(T=298.15, p=1e5, Y="H2:1", hold="HP")
