"""Integrators of split codes, and states of Cantera advanced in time."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import odeum as od

ct = pytest.importorskip("cantera")

ROOT = Path(__file__).resolve().parents[2]
HYDROGEN = ROOT / "mechanisms" / "hydrogen-burke-2012.yaml"
AIR = "O2:1, N2:3.76"
NAMES = {status.number: status.name for status in od.STATUSES}
NUMBERS = {status.name: status.number for status in od.STATUSES}


@pytest.fixture(scope="module")
def gas():
    return od.Mechanism(HYDROGEN)


def cells(gas, count, seed=3):
    """Mixtures before and after ignition, at random temperatures."""
    random = np.random.default_rng(seed)
    Y = gas.at_equivalence_ratio(random.uniform(0.3, 3.0, count), "H2", AIR)
    return random.uniform(900.0, 1600.0, count), random.uniform(0.5, 20.0, count) * od.atm, Y


def cantera_after(T, p, Y, dt, kind):
    solution = ct.Solution(str(HYDROGEN))
    solution.TPY = T, p, Y
    volume = ct.IdealGasReactor if kind == "constant volume" else ct.IdealGasConstPressureReactor
    reactor = volume(solution, clone=False)
    network = ct.ReactorNet([reactor])
    network.rtol, network.atol = 1e-10, 1e-16
    network.advance(dt)
    return solution.T, solution.P, solution.Y


@pytest.mark.parametrize("kind", ["constant pressure", "constant volume"])
def test_cells_go_where_cantera_goes(gas, kind):
    T, p, Y = cells(gas, 12)
    expected = [cantera_after(*cell, 5e-5, kind) for cell in zip(T, p, Y, strict=True)]
    chem = gas.integrator(kind, cells=12, rtol=1e-9, atol=1e-15)
    before = p.copy()
    for _ in range(5):
        status = chem.advance(T, p, Y, 1e-5)
        assert status.dtype == np.uint8 and (status == 0).all()
    np.testing.assert_allclose(T, [cell[0] for cell in expected], rtol=1e-6)
    np.testing.assert_allclose(p, [cell[1] for cell in expected], rtol=1e-6)
    np.testing.assert_allclose(Y, [cell[2] for cell in expected], rtol=1e-5, atol=1e-9)
    assert (p == before).all() == (kind == "constant pressure")


@pytest.mark.parametrize("kind", ["constant pressure", "constant volume"])
def test_new_arrays_have_what_is_written_in_place(gas, kind):
    given = cells(gas, 20)
    before = [array.copy() for array in given]
    for array in given:
        array.flags.writeable = False
    new, in_place = gas.integrator(kind, cells=20), gas.integrator(kind, cells=20)
    arrays = [array.copy() for array in given]
    found = given
    for _ in range(2):
        *found, status = new.advanced(*found, 1e-5)
        assert (status == in_place.advance(*arrays, 1e-5)).all()
    for array, kept, now, expected in zip(given, before, found, arrays, strict=True):
        assert (array == kept).all()
        assert (now == expected).all()
    assert (found[1] is given[1]) == (kind == "constant pressure")
    if kind == "constant pressure":
        assert new.advanced(given[0], 2e5, given[2], 1e-6)[1] == 2e5
    with pytest.raises(od.InputError, match="dt"):
        new.advanced(*given, 0.0)


def test_new_arrays_come_of_arrays_whose_labels_agree(gas):
    """Labels were ignored: a table with its columns in another order was another gas, with success."""
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    T, _, Y = cells(gas, 3)
    names, integrator = list(gas.species_names), gas.integrator(cells=3)
    expected = integrator.advanced(T, 1e5, Y, 1e-5)
    table = pandas.DataFrame(Y, ["a", "b", "c"], names)
    labelled = xarray.DataArray(table.T, dims=("species", "cell"))
    for good in (table, labelled, Y.tolist()):
        found = gas.integrator(cells=3).advanced(pandas.Series(T, ["a", "b", "c"]), 1e5, good, 1e-5)
        assert (found[0] == expected[0]).all() and found[2].shape == np.shape(good)
    backwards = (table[names[::-1]], labelled[::-1])
    for Y, words in (
        *((each, "species in another order") for each in backwards),
        (table.rename(columns={"H2": "X"}), "the label 'X', which is none of the species"),
    ):
        with pytest.raises(od.InputError, match=f"Y: found {words}"):
            integrator.advanced(T, 1e5, Y, 1e-5)
    with pytest.raises(od.InputError, match="Y: found other labels than those of T"):
        integrator.advanced(pandas.Series(T, ["b", "a", "c"]), 1e5, table, 1e-5)


@pytest.mark.parametrize("kind", ["constant pressure", "constant volume"])
def test_arrays_that_share_memory_are_refused(gas, kind):
    """One array in place of two ended with success, and with pressures that were temperatures."""
    T, p, Y = cells(gas, 3)
    integrator = gas.integrator(kind, cells=3)
    block = np.column_stack([T, p, Y])
    bad = [(T, T, Y, "p", "T"), (block[:, 5], p, block[:, 2:], "Y", "T")]
    if kind == "constant volume":
        bad.append((T, Y[:, 3], Y, "Y", "p"))
    for *arrays, field, other in bad:
        before = [array.copy() for array in arrays]
        with pytest.raises(od.InputError, match=f"{field}: found memory that {other} has"):
            integrator.advance(*arrays, 1e-5)
        assert all((array == kept).all() for array, kept in zip(arrays, before, strict=True))
    # Columns of one array have their own.
    assert (integrator.advance(block[:, 0], block[:, 1], block[:, 2:], 1e-5) == 0).all()


def layouts(T, p, Y):
    """The same numbers, in several memory layouts."""
    n, species = Y.shape
    record = np.empty((n, species + 1))
    record[:, 0], record[:, 1:] = T, Y
    wide = np.empty((2 * n, 3 * species))
    wide[::2, ::3] = Y
    reverse = np.empty(n)[::-1]
    reverse[:] = T
    return {
        "cells, species": (T.copy(), p.copy(), Y.copy()),
        "species, cells": (T.copy(), p.copy(), np.ascontiguousarray(Y.T)),
        "Fortran order": (T.copy(), p.copy(), np.asfortranarray(Y)),
        "one record for each cell": (record[:, 0], p.copy(), record[:, 1:]),
        "every other": (T.copy(), p.copy(), wide[::2, ::3]),
        "backwards": (reverse, p.copy(), np.ascontiguousarray(Y[:, ::-1])[:, ::-1]),
    }


def test_any_strides_give_the_same_bits(gas):
    T, p, Y = cells(gas, 30)
    found = {}
    for name, (t, q, y) in layouts(T, p, Y).items():
        chem = gas.integrator("constant volume", cells=30)
        chem.advance(t, q, y, 1e-5)
        chem.advance(t, q, y, 1e-5)
        found[name] = (t, q, y.T if name == "species, cells" else y)
    reference = found.pop("cells, species")
    assert (reference[0] != T).any()
    for name, arrays in found.items():
        for ours, expected in zip(arrays, reference, strict=True):
            assert (ours == expected).all(), name


def test_steps_are_kept_from_call_to_call(gas):
    T, p, Y = cells(gas, 50)
    T, _, Y = (np.ascontiguousarray(part) for part in gas.equilibrate(T=T, p=p, Y=Y, hold="HP"))
    Y += 0.01 * (gas.at_equivalence_ratio(1.0, "H2", AIR) - Y)
    kept = gas.integrator(cells=50)
    for call in range(4):
        anew = gas.integrator(cells=50)
        assert (anew.advance(T.copy(), p, Y.copy(), 1e-6) == 0).all()
        assert (kept.advance(T, p, Y, 1e-6) == 0).all()
        attempts = [int(chem.stats["steps"].sum() + chem.stats["rejected"].sum()) for chem in (kept, anew)]
        assert attempts[0] == attempts[1] if call == 0 else attempts[0] < attempts[1]


def test_one_pressure_serves_all_cells(gas):
    T, _, Y = cells(gas, 9)
    t, y = T.copy(), Y.copy()
    gas.integrator(cells=9).advance(T, 2e5, Y, 1e-5)
    gas.integrator(cells=9).advance(t, np.full(9, 2e5), y, 1e-5)
    assert (T == t).all() and (Y == y).all()


def test_one_pressure_at_constant_volume_becomes_one_for_each_cell(gas):
    T, _, Y = cells(gas, 9)
    p, t, y = np.full(9, 2e5), T.copy(), Y.copy()
    chem, new = (gas.integrator("constant volume", cells=9) for _ in range(2))
    for one in (2e5, np.array(2e5)):
        # A number cannot get the new pressure, and the density of the next call would be wrong.
        with pytest.raises(od.InputError, match=r"p: found one number .* array \[cells\]"):
            chem.advance(t, one, y, 1e-5)
    q = 2e5
    for _ in range(3):
        chem.advance(T, p, Y, 1e-5)
        t, q, y, _ = new.advanced(t, q, y, 1e-5)
    assert (t == T).all() and (q == p).all() and (y == Y).all() and (p > 2e5).any()


def test_cells_that_fail_keep_what_they_had(gas):
    T, p, Y = cells(gas, 8)
    T[1] = 20.0
    Y[2] = 0.0
    Y[3, 0] = -0.3
    p[4] = -1.0
    T[5:8] = 1500.0
    before = T.copy(), Y.copy()
    chem = gas.integrator(cells=8, max_steps=3)
    with pytest.warns(od.OdeumWarning, match="cell 1 "):
        status = chem.advance(T, p, Y, 1e-3)
    assert [NAMES[number] for number in status[1:5]] == ["invalid start"] * 4
    assert (status[5:] == NUMBERS["too many steps"]).all()
    assert (T == before[0])[1:].all() and (Y == before[1])[1:].all()
    # The next call begins anew, and may succeed.
    T[1], Y[2], p[4] = 1000.0, Y[5], 1e5
    again = chem.advance(T, p, Y, 1e-9)
    assert (again[[1, 2, 4, 5, 6, 7]] == 0).all() and NAMES[again[3]] == "invalid start"


def test_small_negatives_and_sums_are_mended(gas):
    T, p, Y = cells(gas, 2)
    Y[0] *= 1.0 + 5e-4
    Y[1, gas.species_index("H2O2")] = -1e-10
    assert (gas.integrator(cells=2).advance(T, p, Y, 1e-8) == 0).all()
    assert Y[0].sum() == pytest.approx(1.0, abs=1e-10)


OUTSIDE = (
    "phases: [{name: gas, thermo: ideal-gas, kinetics: gas}]\n"
    "species:\n"
    "- {name: A, composition: {N: 2}, thermo: {model: NASA7, temperature-ranges: [300, 3000], "
    "data: [[3.5, 0, 0, 0, 0, 3000, 0]]}}\n"
    "- {name: B, composition: {N: 2}, thermo: {model: NASA7, temperature-ranges: [300, 3000], "
    "data: [[3.5, 0, 0, 0, 0, 0, 0]]}}\n"
    "reactions:\n"
    "- {equation: A => B, rate-constant: {A: 1e4, b: 0, Ea: 0}}\n"
)


@pytest.fixture(scope="module")
def hot():
    """An isomerisation that heats a gas from 2500 K to 3357 K, beyond its data."""
    return od.Mechanism.from_text(OUTSIDE)


@pytest.mark.parametrize("kind", ["constant pressure", "constant volume"])
def test_cells_that_calls_took_beyond_the_data_go_on(hot, kind):
    def after(calls, cells=3):
        T, p, Y = np.full(cells, 2500.0), np.full(cells, 1e6), np.tile([1.0, 0.0], (cells, 1))
        chem = hot.integrator(kind, cells=cells)
        for _ in range(calls):
            assert (chem.advance(T, p, Y, 1e-3 / calls) == 0).all()
        return T, chem

    with pytest.warns(
        od.OdeumWarning, match=r"3 of 3 cells.*outside the thermodynamic data, 300 to 3000 K"
    ) as told:
        whole, _ = after(1)
    assert len(told) == 1 and "outside" in str(told[0].message) and told[0].filename == __file__
    with pytest.warns(od.OdeumWarning) as told:
        parts, chem = after(20)
    assert len(told) == 1 and (whole > 3300.0).all()
    np.testing.assert_allclose(parts, whole, rtol=1e-5)
    # What transport brings to another cell is as hot, or a little hotter.
    T, p, Y = np.array([2600.0, parts[0] + 9.0, 300.0]), np.full(3, 1e6), np.tile([1.0, 0.0], (3, 1))
    assert (chem.advance(T, p, Y, 1e-6) == 0).all()


def test_starts_far_outside_the_data_are_told_once(hot):
    T, Y = np.array([2000.0, 3200.0, 250.0]), np.tile([0.0, 1.0], (3, 1))
    chem = hot.integrator(cells=3)
    with pytest.warns(
        od.OdeumWarning, match=r"cell 1 .*more than 10 K outside.*`temperature_margin`"
    ) as told:
        for _ in range(3):
            assert [NAMES[number] for number in chem.advance(T, od.atm, Y, 1e-6)[1:]] == ["invalid start"] * 2
    assert len(told) == 1
    with pytest.warns(od.OdeumWarning, match="2 of 3 cells had states outside"):
        chem = hot.integrator(cells=3, temperature_margin=200)
        assert (chem.advance(T, od.atm, Y, 1e-6) == 0).all()
    # How far other cells come in the same call is none of it.
    T[0], Y[0] = 2500.0, (1.0, 0.0)
    with pytest.warns(od.OdeumWarning, match="cell 1 .*more than 10 K") as told:
        hot.integrator(cells=3).advance(T, od.atm, Y, 1e-3)
    assert len(told) == 2
    # What is no gas for another reason is told by its status alone.
    Y[0] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        T[1:] = 1000.0
        assert NAMES[hot.integrator(cells=3).advance(T, od.atm, Y, 1e-6)[0]] == "invalid start"
    states = ct.SolutionArray(ct.Solution(yaml=OUTSIDE), 2)
    states.TPX = [1000.0, 3200.0], 1e5, "B:1"
    with pytest.warns(od.OdeumWarning, match="cell 1 .*more than 10 K outside"):
        assert NAMES[od.advance(states, 1e-6).status[1]] == "invalid start"
    with pytest.warns(od.OdeumWarning, match="1 of 2 cells"):
        assert (od.advance(states, 1e-6, temperature_margin=300).status == 0).all()


def changed(array, **changes):
    new = array.copy()
    for name, value in changes.items():
        setattr(new.flags, name, value)
    return new


def overlapping(array):
    return np.lib.stride_tricks.as_strided(array, array.shape, (0,) * array.ndim)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("T", lambda T, p, Y: (T[:-1], p, Y)),
        ("T", lambda T, p, Y: (T.astype(np.float32), p, Y)),
        ("T", lambda T, p, Y: (T.astype(">f8"), p, Y)),
        ("T", lambda T, p, Y: (T.tolist(), p, Y)),
        ("T", lambda T, p, Y: (changed(T, writeable=False), p, Y)),
        ("T", lambda T, p, Y: (overlapping(T), p, Y)),
        ("Y", lambda T, p, Y: (T, p, overlapping(Y))),
        ("Y", lambda T, p, Y: (T, p, changed(Y, writeable=False))),
        ("Y", lambda T, p, Y: (T, p, Y[:, :-1])),
        ("Y", lambda T, p, Y: (T, p, Y.astype(int))),
        ("Y", lambda T, p, Y: (T, p, Y[0])),
        ("p", lambda T, p, Y: (T, p[:2], Y)),
        ("p", lambda T, p, Y: (T, "high", Y)),
        ("p", lambda T, p, Y: (T, np.nan, Y)),
        ("T[3]", lambda T, p, Y: (np.where(np.arange(T.size) == 3, np.nan, T), p, Y)),
        ("p[2]", lambda T, p, Y: (T, np.where(np.arange(p.size) == 2, np.inf, p), Y)),
        ("Y", lambda T, p, Y: (T, p, np.where(np.arange(T.size)[:, None] == 5, np.nan, Y))),
    ],
)
def test_bad_arrays_are_refused_and_nothing_changes(gas, field, change):
    arrays = change(*cells(gas, 20))
    before = [np.array(array) for array in arrays]
    with pytest.raises(od.InputError) as refused:
        gas.integrator("constant volume", cells=20).advance(*arrays, 1e-6)
    assert refused.value.field == field
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(np.array(array), old)


def test_unaligned_numbers_are_refused(gas):
    T, p, Y = cells(gas, 4)
    unaligned = np.zeros(8 * 4 + 1, np.uint8)[1:].view(np.float64)
    unaligned[:] = T
    with pytest.raises(od.InputError, match="aligned"):
        gas.integrator(cells=4).advance(unaligned, p, Y, 1e-6)


def test_numbers_of_another_type_are_refused(gas):
    T, p, Y = cells(gas, 4)
    chem = gas.integrator(cells=4)
    for call in (chem.advance, chem.advanced):
        for given in (T.astype(np.float32), T.astype(int)):
            with pytest.raises(od.InputError, match=f"^T: found an array of {given.dtype}; give float64$"):
                call(given, p, Y, 1e-6)


def test_bad_integrators_are_refused_by_name(gas):
    T, p, Y = cells(gas, 4)
    chem = gas.integrator(cells=4)
    for dt in (0.0, -1.0, np.nan, "x"):
        with pytest.raises(od.InputError, match="dt"):
            chem.advance(T, p, Y, dt)
    for options, field in [
        ({"cells": 0}, "cells"),
        ({"cells": 2.5}, "cells"),
        ({"cells": 1 << 58}, "cells"),
        ({"kind": "constant entropy"}, "reactor"),
        ({"method": "magic"}, "magic"),
        ({"rtol": -1.0}, "rtol"),
        ({"device": "tpu"}, "device"),
        ({"threads": 0}, "threads"),
        ({"save": [1.0]}, "save"),
        ({"species_axis": 2}, "species_axis"),
        ({"colour": 1}, "colour"),
    ]:
        with pytest.raises(od.InputError, match=field):
            gas.integrator(**{"cells": 4, **options})


def test_as_many_cells_as_species_need_a_word(gas):
    n = gas.n_species
    T, p, Y = cells(gas, n)
    with pytest.raises(od.InputError, match="species_axis"):
        gas.integrator(cells=n).advance(T, p, Y, 1e-6)
    t, y = T.copy(), np.ascontiguousarray(Y.T)
    gas.integrator(cells=n, species_axis=1).advance(T, p, Y, 1e-6)
    gas.integrator(cells=n, species_axis=0).advance(t, p, y, 1e-6)
    assert (T == t).all() and (Y == y.T).all()


def test_one_integrator_serves_one_thread_at_a_time(gas):
    T, p, Y = cells(gas, 20_000)
    chem = gas.integrator(cells=20_000)
    done = []
    thread = threading.Thread(target=lambda: done.append(chem.advance(T, p, Y, 1e-4)))
    thread.start()
    refused = 0
    while thread.is_alive():
        try:
            chem.stats  # noqa: B018
        except RuntimeError as error:
            assert "another thread" in str(error)
            refused += 1
    thread.join()
    assert refused and (done[0] == 0).all()


INTERRUPTED = """
import os, signal, sys, threading
import numpy as np
import odeum as od

gas = od.Mechanism(sys.argv[1])
count = 100_000
T = np.linspace(900.0, 1600.0, count)
Y = np.tile(gas.at_equivalence_ratio(1.0, "H2", "O2:1, N2:3.76"), (count, 1))
chem = gas.integrator(cells=count, rtol=1e-9, atol=1e-15)
before = T.copy(), Y.copy()
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    for _ in range(1000):
        chem.advance(T, od.atm, Y, 1e-3)
        before = T.copy(), Y.copy()
except KeyboardInterrupt:
    print((T == before[0]).all() and (Y == before[1]).all(), (chem.advance(T, od.atm, Y, 1e-9) == 0).all())
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interruption_changes_nothing():
    # A process of its own, so that a signal that comes late interrupts no other test.
    command = [sys.executable, "-c", INTERRUPTED, str(HYDROGEN)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "True"], done.stderr


@pytest.mark.parametrize("kind", ["constant pressure", "constant volume"])
def test_states_of_cantera_are_advanced(gas, kind):
    T, p, Y = cells(gas, 6)
    states = ct.SolutionArray(ct.Solution(str(HYDROGEN)), (2, 3))
    states.TPY = T.reshape(2, 3), p.reshape(2, 3), Y.reshape(2, 3, -1)
    after = od.advance(states, 5e-5, kind=kind, rtol=1e-9, atol=1e-15)
    assert type(after) is ct.SolutionArray and after.shape == (2, 3)
    assert (states.T == T.reshape(2, 3)).all()
    assert (np.asarray(after.status) == 0).all() and (np.asarray(after.steps) > 0).all()
    for k, place in enumerate(np.ndindex(2, 3)):
        expected = cantera_after(T[k], p[k], Y[k], 5e-5, kind)
        assert after.T[place] == pytest.approx(expected[0], rel=1e-6)
        assert after.P[place] == pytest.approx(expected[1], rel=1e-6)
        np.testing.assert_allclose(after.Y[place], expected[2], rtol=1e-5, atol=1e-9)
    for other in (T, ct.Quantity(ct.Solution(str(HYDROGEN)))):
        with pytest.raises(od.InputError, match="states: .*SolutionArray"):
            od.advance(other, 1e-6)


@pytest.mark.parametrize(
    ("option", "remedy"),
    [
        ({"warm_start": False}, "another integrator begins anew"),
        ({"warm_start": True}, "another integrator begins anew"),
        ({"segments": 2}, "one part of the time after the other"),
        ({"save": [1e-6]}, "after each `advance`"),
        ({"max_step": 1e-6}, "it is `largest_step`"),
    ],
)
def test_options_without_a_meaning_are_refused(gas, option, remedy):
    """`warm_start` was taken and changed nothing, and `segments` cut each call."""
    with pytest.raises(od.InputError) as raised:
        gas.integrator(cells=2, **option)
    assert raised.value.field == next(iter(option)) and remedy in raised.value.remedy


def test_broadcast_arrays_are_refused_for_what_they_are(gas):
    """NumPy says that they can be written to."""
    T, p, Y = cells(gas, 3)
    with pytest.raises(od.InputError, match="T: found numbers that share places"):
        gas.integrator(cells=3).advance(np.broadcast_arrays(1200.0, T)[0], p, Y, 1e-6)


def test_other_extras_are_kept_and_failures_say_so(gas):
    T, p, Y = cells(gas, 3)
    T[:] = 1500.0
    states = ct.SolutionArray(ct.Solution(str(HYDROGEN)), 3, extra={"x": [0.0, 0.5, 1.0]})
    states.TPY = T, p, Y
    after = od.advance(states, 1e-4, max_steps=2)
    assert list(after.x) == [0.0, 0.5, 1.0]
    assert (after.status == NUMBERS["too many steps"]).all()
    np.testing.assert_allclose(after.T, T)
    again = od.advance(after, 1e-7)
    assert (again.status == 0).all()


def test_integrators_are_not_copied(gas):
    """A copy would share the step sizes of the cells."""
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="make another one"):
            copied(gas.integrator(cells=2))


def test_states_without_axes_are_advanced(gas):
    T, p, Y = cells(gas, 1)
    states = ct.SolutionArray(ct.Solution(str(HYDROGEN)), (), extra={"x": 0.5})
    states.TPY = 1500.0, p[0], Y[0]
    after = od.advance(states, 1e-5)
    assert after.shape == () and after.status == 0 and after.x == 0.5 and after.T != 1500.0


def test_what_is_set_of_integrators_is_refused(gas):
    """It had no effect, or one on the checks of the arrays alone."""
    chem = gas.integrator(cells=2)
    for name, value in (("rtol", 1e-12), ("kind", "constant volume"), ("cells", 3)):
        with pytest.raises(AttributeError, match=f"'{name}' of this Integrator cannot be set"):
            setattr(chem, name, value)

    class Mine(od.Integrator):
        pass

    mine = Mine(gas, cells=2)
    mine.name = "left"
    assert mine.name == "left"


def test_steps_are_not_judged_by_a_time_that_is_not_known(gas):
    for options in ({"fixed_step": 1e-9}, {"largest_step": 1e-9}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gas.integrator(cells=1, **options)


def test_the_norm_without_an_absolute_tolerance_needs_none(gas):
    T, Y = np.array([1200.0]), gas.mass_fractions("H2:2, O2:1")[None]
    chem = gas.integrator(cells=1, norm="state-and-rate")
    assert not chem.advance(T, od.atm, Y, 1e-6).any()
    with pytest.raises(od.InputError, match="no absolute tolerance"):
        gas.integrator(cells=1, norm="state-and-rate", atol=1e-10)
    decay = od.System.from_text({"x": "-x"}, states={"x": 1.0})
    failed = decay.solve((0, 1), max_steps=1)
    assert failed.retry(norm="state-and-rate", max_steps=1000).success
    with pytest.raises(od.InputError, match="no absolute tolerance"):
        failed.retry(norm="state-and-rate", atol=1e-9)
    result = od.solve_ivp(decay, (0, 1), [1.0], rtol=1e-8, norm="state-and-rate")
    assert abs(result.y[0, -1] - np.exp(-1)) < 1e-6
    with pytest.raises(od.InputError, match="no absolute tolerance"):
        od.solve_ivp(decay, (0, 1), [1.0], atol=1e-6, norm="state-and-rate")
