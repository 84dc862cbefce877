"""The extension refuses whatever it is given: an exception of the right class, never an abort."""

import faulthandler
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import odeum as od
from odeum import _odeum, _options

faulthandler.enable()

CASE = """
[system]
states = { x = 1.0, v = 0.0 }
parameters = { k = 2.0 }
equations = { x = "v", v = "-k * x" }
[time]
span = [0.0, 1.0]
[method]
name = "dopri5"
[tolerance]
rtol = 1e-6
atol = 1e-9
"""

REFUSALS = (od.OdeumError, ValueError, TypeError, BufferError, OverflowError)
SETTINGS = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])

arrays = hnp.arrays(
    dtype=st.sampled_from([np.float64, np.float32, np.int64, np.uint8, np.complex128, np.bool_]),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
)
floats = st.floats(allow_nan=True, allow_infinity=True)


blocks = st.lists(arrays, max_size=3)


@SETTINGS
@given(count=st.integers(0, 6), states=blocks, params=blocks, start=floats, end=floats, keep=st.booleans())
def test_arrays_of_any_kind(count, states, params, start, end, keep):
    case = _odeum.Case(CASE, ".")
    try:
        solution, raised = case.solve_arrays(count, states, params, (start, end), None, keep)
    except REFUSALS:
        return
    assert raised is None
    systems = len(np.asarray(solution.status))
    assert systems == count and np.asarray(solution.states).shape == (1 + keep, 2, systems)
    assert (solution.params is not None) == keep


def test_arrays_that_fit_are_taken_and_others_are_not():
    case = _odeum.Case(CASE, ".")
    states = np.arange(1.0, 7.0).reshape(3, 2)
    good, _ = case.solve_arrays(3, [states], [np.ones(3)], (0.0, 1.0))
    assert (np.asarray(good.status) == 0).all()
    wide = np.full((3, 7), np.nan)
    wide[:, 1::3] = states
    orders = [
        [states.T.copy().T],
        [wide[:, 1::3]],
        [states[::-1].copy()[::-1]],
        [*states.T],
        [states[:, :1], states[:, 1]],
    ]
    for order in orders:
        for params in (np.ones(1), np.broadcast_to(1.0, 3), np.ones(6)[::2]):
            same, _ = case.solve_arrays(3, order, [params], (0.0, 1.0), None, True)
            starts, ends = np.asarray(same.states)
            assert (starts == states.T).all() and (ends == np.asarray(good.states)).all()
            assert (
                np.asarray(same.params).shape == (1, len(params)) and (np.asarray(same.params) == 1.0).all()
            )
    for states, params in [
        (np.ones((3, 1)), [np.ones(1)]),
        (np.ones((3, 2)), [np.ones(2)]),
        (np.ones((3, 2)), []),
        (np.ones((3, 2)), [np.ones(3), np.ones(3)]),
        (np.ones((3, 2)), [np.ones((3, 3))]),
        (np.ones((0, 2)), [np.ones(1)]),
        (np.full((3, 2), np.nan), [np.ones(3)]),
        (np.ones((3, 2), np.float32), [np.ones(3)]),
    ]:
        with pytest.raises(REFUSALS):
            case.solve_arrays(3, [states], params, (0.0, 1.0))


@SETTINGS
@given(
    text=st.text(max_size=200)
    | st.builds(lambda cut, put: CASE[:cut] + put + CASE[cut:], st.integers(0, 200), st.text(max_size=8))
)
def test_text_of_any_kind(text):
    try:
        case = _odeum.Case(text, ".")
        case.axes, len(case), case.variables
        case.solve()
    except REFUSALS:
        pass


values = st.recursive(
    st.none() | st.booleans() | st.integers() | floats | st.text(max_size=5) | st.complex_numbers() | arrays,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@SETTINGS
@given(
    name=st.sampled_from(
        [
            "span",
            "rtol",
            "atol",
            "save",
            "method",
            "until",
            "first_step",
            "max_steps",
            "precision",
            "segments",
            "norm",
        ]
    ),
    value=values,
)
def test_options_of_any_kind(name, value):
    system = od.System.from_text({"x": "-k * x"}, states={"x": 1.0}, parameters={"k": 1.0})
    options = {"span": (0.0, 1.0), "max_steps": 1000} | {name: value}
    try:
        solution = system.solve(**options)
    except od.OdeumError as error:
        assert str(error)
    else:
        assert len(solution) == 1


@SETTINGS
@given(name=st.sampled_from(["x", "k", "t_end"]), value=values)
def test_columns_and_sweeps_of_any_kind(name, value):
    system = od.System.from_text({"x": "-k * x"}, states={"x": 1.0}, parameters={"k": 1.0})
    for make in (lambda: system(**{name: value}), lambda: system.sweep(**{name: value})):
        try:
            solution = make().solve((0.0, 1.0), max_steps=1000)
        except od.OdeumError as error:
            assert str(error)
        else:
            assert np.isfinite(solution.y).all()


@pytest.mark.parametrize("whole", [np.int64, np.uint8, np.array])
def test_whole_numbers_of_numpy_are_whole_numbers(whole):
    runs = (decay() * whole(4)).perturb(relative=0.1, seed=whole(3))
    plain = (decay() * 4).perturb(relative=0.1, seed=3)
    wanted = plain.solve((0, 1), save=3, threads=2).saved
    assert (runs.solve((0, 1), save=np.int64(3), threads=whole(2)).saved == wanted).all()
    assert [len(part) for part in runs.split(whole(2))] == [2, 2]
    assert len(od.System.problem("brusselator_1d", size=whole(4)).states) == 8
    assert od.Mechanism(HYDROGEN).integrator(cells=whole(2), threads=whole(1)).cells == 2


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda n: decay().solve((0, 1), threads=n), "threads"),
        (lambda n: od.solve_ivp(decay(), (0, 1), [1.0], args=(1.0,), threads=n), "threads"),
        (lambda n: od.run("nowhere.toml", threads=n), "threads"),
        (lambda n: od.Simulation.from_case("nowhere.toml", threads=n), "threads"),
        (lambda n: decay().perturb(relative=0.1, seed=n), "seed"),
        (lambda n: decay() * n, "copies"),
        (lambda n: decay() * 4 * n, "copies"),
        (lambda n: decay().runs().split(n), "parts"),
        (lambda n: od.System.problem("lorenz", size=n), "size"),
        (lambda n: od.Mechanism(HYDROGEN).integrator(cells=n), "cells"),
        (lambda n: od.pasr(od.Mechanism(HYDROGEN), seed=n), "seed"),
        (lambda n: od.pasr(od.Mechanism(HYDROGEN), particles=n), "particles"),
        (lambda n: od.pasr(od.Mechanism(HYDROGEN), threads=n), "threads"),
    ],
)
def test_what_is_no_whole_number_is_refused(call, field):
    for number, remedy in [(2**70, "give [01] to"), (-1, "or more"), (2.0, "or more"), (np.True_, "or more")]:
        with pytest.raises(od.InputError, match=remedy) as caught:
            call(number)
        assert caught.value.field == field


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda flag, _: od.pasr(od.Mechanism(HYDROGEN), premixed=flag), "premixed"),
        (lambda flag, _: decay().solve((0, 1), results_on_gpu=flag), "results_on_gpu"),
        (lambda flag, _: decay().solve((0, 1), segments=2, warm_start=flag), "time.warm_start"),
        (lambda flag, _: od.System(lambda t, y: [-y[0]], states={"x": 1.0}, check=flag), "check"),
        (lambda flag, _: od.solve_ivp(decay(), (0, 1), [1.0], args=(1.0,), vectorized=flag), "vectorized"),
        (
            lambda flag, _: od.solve_ivp(decay(), (0, 1), [1.0], args=(1.0,), dense_output=flag),
            "dense_output",
        ),
        (lambda flag, path: decay().runs().to_toml(path / "a.toml", (0, 1), overwrite=flag), "overwrite"),
        (lambda flag, _: diffusion(force=flag), "force"),
        (lambda flag, path: diffusion().save(path / "a.npz", overwrite=flag), "overwrite"),
        (lambda flag, path: diffusion().to_toml(path / "a.toml", until=1.0, overwrite=flag), "overwrite"),
    ],
)
def test_texts_are_no_truth_values(call, field, tmp_path):
    """The text "no" counted as true."""
    for flag in (
        ("no", "", 1, None) if field not in ("time.warm_start", "dense_output", "force") else ("no", 1)
    ):
        with pytest.raises(od.InputError) as caught:
            call(flag, tmp_path)
        assert caught.value.field == field, caught.value
    assert not list(tmp_path.iterdir())


def diffusion(**options):
    model = od.Model({"u": "lap(u)"})
    return od.Simulation(model, {"u": "x"}, shape={"x": 4}, spacing=1.0, step=0.1, **options)


@pytest.mark.parametrize(
    "call",
    [
        lambda **none: decay().solve((0, 1), **none),
        lambda **none: decay().solve((0, 1)).retry(**none),
        lambda **none: decay().runs().session(**none),
        lambda **none: decay().runs().to_toml(None, (0, 1), **none),
        lambda **none: od.solve_ivp(decay(), (0, 1), [1.0], args=(1.0,), **none),
        lambda **none: od.Mechanism(HYDROGEN).integrator(cells=2, **none),
        lambda **none: od.Mechanism(HYDROGEN).reactor(**none),
    ],
)
def test_names_without_a_value_are_names(call):
    with pytest.raises(od.InputError, match=r"rtoll: .*(there are|did you mean `rtol`)"):
        call(rtoll=None)


def test_options_may_be_left_out_by_none():
    with pytest.raises(od.InputError, match="known keys: name, ") as caught:
        decay().solve((0, 1), method={"name": "tsit5", "unknown": 1.0})
    names = re.search("known keys: name, (.*)", str(caught.value)).group(1).split(", ")
    assert sorted(names) == sorted(_options._METHOD)
    none = dict.fromkeys(("method", *_options._METHOD, *_options._SECTIONS))
    assert decay().solve((0, 1), **none).case_text == decay().solve((0, 1)).case_text
    assert od.Mechanism(HYDROGEN).integrator(cells=2, **none).cells == 2
    keys = dict.fromkeys(("temperature", "pressure", "energy", "equivalence_ratio", "jacobian"))
    assert od.Mechanism(HYDROGEN).reactor(**keys).states[0] == "T"


MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
HYDROGEN = Path(__file__).parents[2] / "mechanisms/hydrogen-burke-2012.yaml"


def decay() -> od.System:
    return od.System.from_text({"x": "-k * x"}, states={"x": 1.0}, parameters={"k": 1.0})


def cells(name):
    """Three cells of a flow code, of which an array is masked."""
    chem = od.Mechanism(HYDROGEN).integrator("constant volume", cells=3)
    arrays = {"T": np.full(3, 1200.0), "p": np.full(3, od.atm), "Y": np.tile(np.eye(11)[0], (3, 1))}
    return chem, arrays | {name: np.ma.masked_less(arrays[name], np.inf)}


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: decay().sweep(k=MASKED), "k[1]"),
        (lambda: decay()(k=MASKED), "k[1]"),
        (lambda: decay()(k=np.ma.masked), "k"),
        (lambda: decay().table({"x": [np.ma.masked, 1.0]}), "x[0]"),
        (lambda: decay().solve((0, 3), save=MASKED), "save[1]"),
        (lambda: od.System.from_text({"x": "0"}, states={"x": np.ma.masked}), "states.x"),
        (lambda: od.solve_ivp(lambda t, y: -y, (0, 1), MASKED), "y0[1]"),
        (lambda: od.solve_ivp(lambda t, y: -y, (0, 1), [MASKED, MASKED]), "y0[0][1]"),
        (lambda: od.solve_ivp(lambda t, y, k: -k * y, (0, 1), [[1.0]] * 3, args=(MASKED,)), "args[0][1]"),
        (lambda: setattr(decay().sweep(k=[1, 2, 3]).session(), "states", MASKED[None]), "states[0, 1]"),
        (lambda: od.Simulation(od.Model({"u": "lap(u)"}), {"u": MASKED}, step=0.1), "start.u[1]"),
        (
            lambda: od.Simulation(od.Model({"u": "0"}), {"u": MASKED.astype(np.float32)}, step=0.1),
            "start.u[1]",
        ),
        (lambda: od.Mechanism(HYDROGEN).density(MASKED, od.atm, np.eye(11)[0]), "T[1]"),
        *((lambda name=name: cells(name)[0].advance(*cells(name)[1].values(), 1e-6), name) for name in "TpY"),
        *(
            (lambda name=name: cells(name)[0].advanced(*cells(name)[1].values(), 1e-6), name)
            for name in "TpY"
        ),
    ],
)
def test_masked_values_are_no_numbers(call, field):
    with pytest.raises(od.InputError, match="masked value; fill it") as caught:
        call()
    assert caught.value.field.startswith(field)


class Quantity(np.ndarray):
    """Numbers with a unit, as Astropy and unyt have them; `Apart` is no array of NumPy, as Pint's are none."""

    units = "bar"

    def to(self, unit):
        raise NotImplementedError


class Apart:
    def __init__(self, values, unit="bar"):
        self.values, self.units = values, unit

    def to(self, unit):
        raise NotImplementedError

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


QUANTITY = np.array([1.0, 2.0]).view(Quantity)


def bars(name):
    chem = od.Mechanism(HYDROGEN).integrator("constant volume", cells=3)
    arrays = {"T": np.full(3, 1200.0), "p": np.full(3, od.atm), "Y": np.tile(np.eye(11)[0], (3, 1))}
    return chem, arrays | {name: arrays[name].view(Quantity)}


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: decay().sweep(k=QUANTITY), "k"),
        (lambda: decay()(k=Apart([1.0, 2.0])), "k"),
        (lambda: decay()(k=[QUANTITY[:1], QUANTITY[1:]]), "k[0]"),
        (lambda: decay().solve((0, Apart(3.0))), "span[1]"),
        (lambda: decay().solve(QUANTITY), "span"),
        (lambda: decay().solve((0, 3), save=QUANTITY), "save"),
        (lambda: od.rise("x", Apart(3.0)), "by"),
        (lambda: od.solve_ivp(lambda t, y: -y, (0, 1), QUANTITY), "y0"),
        (lambda: od.Simulation(od.Model({"u": "lap(u)"}), {"u": QUANTITY}, step=0.1), "start.u"),
        (lambda: od.Mechanism(HYDROGEN).density(1000.0, QUANTITY, np.eye(11)[0]), "p"),
        (lambda: od.Mechanism(HYDROGEN).reactor(pressure=Apart(1.0), moles="H2:1"), "pressure"),
        *((lambda name=name: bars(name)[0].advance(*bars(name)[1].values(), 1e-6), name) for name in "TpY"),
        *((lambda name=name: bars(name)[0].advanced(*bars(name)[1].values(), 1e-6), name) for name in "TpY"),
    ],
)
def test_quantities_with_units_are_no_numbers(call, field):
    """NumPy takes their numbers: a pressure of one bar was one of one pascal, with success."""
    with pytest.raises(od.InputError, match="a quantity in bar; convert it") as caught:
        call()
    assert caught.value.field == field


def test_units_in_metadata_and_quantities_without_unit_are_numbers():
    xarray = pytest.importorskip("xarray")
    pressure = xarray.DataArray([1e5, 2e5], attrs={"units": "Pa"})
    assert decay().sweep(k=pressure).shape == (2,)
    assert decay().sweep(k=Apart([1.0, 2.0], "dimensionless")).shape == (2,)
    with pytest.raises(od.InputError, match="a quantity in bar"):
        decay().sweep(k=xarray.DataArray([1.0, 2.0]).copy(data=QUANTITY))


def test_tables_have_columns_and_no_index():
    """What stands in an index or in coordinates was left out: the usual values were taken, with success."""
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    frame = pandas.DataFrame({"x": [1.0, 2.0], "k": [3.0, 4.0]})
    for table in (
        frame.set_index("k"),
        frame.set_index(["k", "x"], drop=False).drop(columns="k"),
        frame.set_index("k").to_xarray(),
        xarray.Dataset({"x": ("run", [1.0, 2.0])}, {"k": ("run", [3.0, 4.0])}),
    ):
        with pytest.raises(od.InputError, match="k as an index or a coordinate") as caught:
            decay().table(table)
        assert caught.value.field == "table"
    for table in (
        frame,
        frame.set_index(frame.x.rename("row")),
        frame.to_xarray(),
        {"x": frame.x, "k": frame.k},
    ):
        assert decay().table(table).values("k").tolist() == [3.0, 4.0]


def test_arrays_that_could_be_masked_are_arrays():
    k = np.ma.array([1.0, 2.0])
    assert (decay().sweep(k=k).solve((0, 1)).y == decay().sweep(k=[1.0, 2.0]).solve((0, 1)).y).all()
    chem, arrays = cells("T")
    arrays["T"].mask = np.ma.nomask
    assert not chem.advance(*arrays.values(), 1e-6).any()


@SETTINGS
@given(
    name=st.sampled_from(
        ["method", "t_eval", "rtol", "atol", "first_step", "max_step", "events", "dense_output"]
    ),
    value=values,
)
def test_keywords_of_solve_ivp_of_any_kind(name, value):
    try:
        result = od.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], **{name: value}, max_steps=1000)
    except od.OdeumError as error:
        assert str(error)
    else:
        assert np.isfinite(result.y).all() or not result.success


@SETTINGS
@pytest.mark.filterwarnings("ignore::odeum.OdeumWarning")
@given(fun=st.just(lambda t, y, *args: -y) | values, y0=values, args=values, t_span=values)
def test_solve_ivp_of_anything(fun, y0, args, t_span):
    pytest.importorskip("odeum._trace")
    try:
        od.solve_ivp(fun, t_span, y0, args=args, max_steps=1000)
    except od.OdeumError as error:
        assert str(error)


LONE = "\ud800"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: decay().solve((0, 1), method=LONE), r"case: found .* 'name = \"\\ud800\"'"),
        (lambda: decay().solve((0, 1)).retry(method=LONE), "case: "),
        (lambda: decay().runs().to_toml(None, (0, 1), device=LONE), "case: "),
        (lambda: od.System.problem(LONE), "case: "),
        (lambda: od.System.from_text({"x": LONE}, states={"x": 1.0}), "case: "),
        (lambda: od.Mechanism.from_text(LONE), "mechanism: "),
        (lambda: od.Mechanism.from_text("", name=LONE), "mechanism: "),
        (lambda: od.Mechanism(HYDROGEN, phase=LONE), "phase: "),
        (lambda: od.Mechanism(HYDROGEN).reactor(moles={LONE: 1.0}), "case: "),
        (lambda: od.Mechanism(HYDROGEN).integrator(cells=1, method=LONE), "case: "),
        (lambda: od.pasr(od.Mechanism(HYDROGEN), fuel={LONE: 1.0}), "fuel: "),
    ],
)
def test_text_that_utf_8_does_not_have_is_refused(call, words):
    """It was a UnicodeEncodeError of the place in a text that nobody saw."""
    with pytest.raises(od.InputError, match=f"^{words}") as raised:
        call()
    assert "a lone surrogate in" in str(raised.value)


@pytest.mark.parametrize(
    ("call", "field", "remedy"),
    [
        (lambda: od.Reactor("h2.yaml"), "mechanism", "odeum.Mechanism("),
        (lambda: od.Integrator("h2.yaml", cells=2), "mechanism", "odeum.Mechanism("),
        (lambda: od.pasr("h2.yaml"), "mechanism", "odeum.Mechanism("),
        (lambda: od.Mechanism(HYDROGEN, phase=1), "phase", "give text"),
        (lambda: od.Mechanism.from_text("", phase=1), "phase", "give text"),
        (lambda: od.fall_to(["x"], 1.0), "state", "give text"),
        (lambda: od.rise(np.array("x"), 1.0), "state", "give text"),
        (
            lambda: od.Mechanism(HYDROGEN).equilibrate(T=300, p=1e5, Y="H2:1", hold=np.ones(2)),
            "hold",
            "give text",
        ),
        (lambda: od.Model.problem("turing", parameters=np.ones(2)), "parameters", "names and values"),
        (
            lambda: od.System.from_text({"x": "-x"}, states={"x": 1.0}, parameters=np.ones(2)),
            "parameters",
            "names and values",
        ),
        (
            lambda: od.System.from_text({"x": "-x"}, states={"x": 1.0}, definitions=np.ones(2)),
            "definitions",
            "names and expressions",
        ),
    ],
)
def test_other_types_are_refused_by_the_name_of_the_argument(call, field, remedy):
    """They came as AttributeError, TypeError, or NumPy's words on the truth of arrays."""
    with pytest.raises(od.InputError) as raised:
        call()
    assert raised.value.field == field and remedy in raised.value.remedy


def test_folders_of_further_files_may_be_an_array():
    assert od.Mechanism(HYDROGEN, include=np.array([".", "mechanisms"])).n_species == 11
