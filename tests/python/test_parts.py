"""Parts of ensembles: joined, and told of as what they are."""

import re
import warnings

import numpy as np
import pytest
from systems import van_der_pol

import odeum as od


def test_parts_of_one_ensemble_are_joined_and_can_be_tried_again():
    runs = van_der_pol()(mu=[1.0, 900.0, 1.0, 1000.0])
    parts = [part.solve((0, 5), max_steps=200) for part in runs.split(2)]
    joined = od.concat(parts)
    assert joined.failed.tolist() == [False, True, False, True]
    again = joined.retry(method="radau", max_steps=100_000)
    wanted = runs.solve((0, 5), method="radau", max_steps=100_000)
    np.testing.assert_array_equal(again.y[[1, 3]], wanted.y[[1, 3]])
    assert again.warnings[-1] == (
        "2 of 4 systems were integrated again, with other options than before: method.name, method.max_steps"
    )
    options = "1 of 2 parts have other options than the first: method.name (systems 2 to 3)"
    with pytest.warns(od.OdeumWarning, match=re.escape(f"{options}; `case_text`")):
        mixed = od.concat([parts[0].retry(method="radau"), parts[1]])
    assert mixed.failed.sum() == 1 and 'name = "radau"' in mixed.case_text
    retried = "1 of 2 systems were integrated again, with other options than before: method.name"
    assert mixed.warnings == (f"systems 0 to 1: {retried}", options)
    assert mixed.to_xarray().warnings.splitlines() == [*mixed.warnings]
    # What is the same text in two parts is of other systems.
    both = od.concat([part.retry(method="radau") for part in parts])
    assert both.warnings == (f"systems 0 to 1: {retried}", f"systems 2 to 3: {retried}")
    early, late = (runs.split(2)[k].solve((0, 5), save=[1.0 + k], max_steps=200) for k in range(2))
    with pytest.raises(od.InputError, match="other save times"):
        od.concat([early, late])
    # Their rows would be those of the times before.
    with pytest.raises(od.InputError, match="other save times"):
        early.retry(save=[2.0], method="radau")
    with pytest.warns(od.OdeumWarning, match=r"first: tolerance.rtol, time.segments, run.precision \("):
        short = {"rtol": 1e-2, "segments": 2, "precision": "f32", "max_steps": 200}
        od.concat([parts[0], runs.split(2)[1].solve((0, 5), **short)])
    level = runs.split(2)[1].solve((0, 5), max_steps=200, until={"x": {"falls_to": 0.5}})
    other = van_der_pol()(mu=[2.0, 900.0, 1.0, 1000.0]).split(2)[1].solve((0, 5))
    three = runs.split(3)[2].solve((0, 5), max_steps=200)
    longer = runs.split(2)[1].solve((0, 6), max_steps=200)
    for wrong, found in [
        ([parts[0], other], "another ensemble"),
        ([parts[0], longer], "another span"),
        ([parts[0], level], "another `until`"),
        ([wanted], "a whole ensemble"),
        ([*parts, three], "there twice"),
    ]:
        with pytest.raises(od.InputError, match=found):
            od.concat(wrong)


def test_what_is_told_of_joined_solutions_holds_when_they_are_joined_again():
    parts = van_der_pol()(mu=np.linspace(1, 2, 8)).split(8)
    loose, tight = (lambda k: parts[k].solve((0, 1), rtol=1e-3)), (lambda k: parts[k].solve((0, 1)))
    with pytest.warns(od.OdeumWarning):
        first = od.concat([tight(0), loose(1), loose(2)])
        second = od.concat([tight(3), loose(7)])
    told = "2 of 3 parts have other options than the first: tolerance.rtol (system 1 and others)"
    lacking = "5 of 8 systems are missing, the first is system 3"
    assert first.warnings == (lacking, told)
    with pytest.warns(od.OdeumWarning, match="3 of 8 systems are missing, the first is system 4"):
        both = od.concat([first, second])
        again = od.concat([both])
    of_both = (
        f"systems 0 to 2: {told}",
        "2 of systems 3 to 7: 1 of 2 parts have other options than the first: tolerance.rtol (system 7)",
    )
    assert both.warnings == again.warnings == (*of_both, "3 of 8 systems are missing, the first is system 4")


def test_parts_come_in_any_order_and_have_the_numbers_of_their_systems():
    runs = van_der_pol().sweep(mu=np.linspace(1, 2, 6), x=[1.0, 2.0]) * 2
    whole = runs.solve((0, 1), save=3)
    parts = [part.solve((0, 1), save=3) for part in runs.split(12)]
    assert parts[5].axes == (od.Axis("run", 2, np.array([10, 11])),)
    assert runs.split(12)[5].axes == runs.split(12)[5].session().axes == parts[5].axes
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # As `sorted(glob("part-*.pickle"))` has them.
        for order in (sorted(range(12), key=str), range(11, -1, -1)):
            joined = od.concat([parts[k] for k in order])
            assert joined.axes == whole.axes and joined.to_xarray().identical(whole.to_xarray())
    with pytest.warns(od.OdeumWarning, match="4 of 24 systems are missing, the first is system 6; .*`run`"):
        some = od.concat([parts[k] for k in (11, 0, 2, 10, 1, 5, 4, 7, 8, 9)])
    assert some.warnings == ("4 of 24 systems are missing, the first is system 6",)
    there = some.axes[0].values
    assert there.tolist() == [*range(6), 8, 9, 10, 11, *range(14, 24)]
    np.testing.assert_array_equal(some.saved, whole.saved.reshape(24, 3, 2)[there])
    np.testing.assert_array_equal(some.to_xarray().run, there)
    assert od.concat([parts[6], some, parts[3]]).to_xarray().identical(whole.to_xarray())


@pytest.mark.parametrize(
    "options",
    [
        {"segments": 1},
        {"warm_start": False},
        {"norm": "rms"},
        {"precision": "f64"},
        {"max_steps": 100_000},
        {"max_evaluations": 10_000_000},
        {"first_step": "automatic"},
        {"atol": {"x": 1e-9, "v": 1e-9}},
        {"atol": {"others": 1e-9}},
        {"method": {"name": "rodas4", "growth_limit": 1.0}},
    ],
)
def test_options_at_their_default_are_no_other_options(options):
    one, two = van_der_pol()(mu=[1.0, 2.0]).split(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for pair in ({}, options), (options, {}):
            usual, given = ({"method": "rodas4", **each} for each in pair)
            assert od.concat([one.solve((0, 1), **usual), two.solve((0, 1), **given)]).warnings == ()


def test_systems_of_a_part_that_fail_are_told_by_their_numbers():
    part = van_der_pol()(mu=[1.0, 1.0, 1.0, 900.0]).split(2)[1].solve((0, 5), max_steps=200)
    with pytest.raises(od.SolveError, match="the first is system 3") as caught:
        part.raise_if_failed()
    assert caught.value.systems == (3,)


def test_parts_are_changed_before_they_are_split():
    part = van_der_pol().sweep(mu=[1.0, 2.0, 3.0]).split(3)[1]
    for change in (
        lambda: part * 2,
        lambda: part.sweep(x=[1.0, 2.0]),
        lambda: part(x=1.0),
        lambda: part.perturb(relative=0.1),
        lambda: part.split(1),
    ):
        with pytest.raises(od.InputError, match="a part of an ensemble"):
            change()


def test_parts_of_gases_with_other_mechanisms_are_not_joined():
    text = """
phases: [{name: gas, thermo: ideal-gas, kinetics: gas}]
species:
- {name: A, composition: {H: 1}, thermo: {model: constant-cp, cp0: 29 J/mol/K}}
- {name: B, composition: {H: 1}, thermo: {model: constant-cp, cp0: 29 J/mol/K}}
reactions: [{equation: A => B, rate-constant: {A: 1.0, b: 0, Ea: 0}}]
"""
    one, other = (
        od.Mechanism.from_text(each, name="gas.yaml")
        .reactor(mole_fractions="A")
        .sweep(T=[900.0, 1000.0])
        .split(2)
        for each in (text, text.replace("A: 1.0,", "A: 2.0,"))
    )
    with pytest.raises(od.InputError, match="another ensemble"):
        od.concat([one[0].solve((0, 1)), other[1].solve((0, 1))])
