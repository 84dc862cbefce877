"""Traced equations, integrated by the engine, against SciPy with the same function."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st
from tracing import solve, values

import odeum as od
from odeum import _odeum
from odeum._trace import trace, trace_model
from odeum._trace.check import evaluate
from odeum._trace.record import Record
from odeum._trace.refusal import Refusal
from odeum._trace.symbol import Symbol, as_number
from odeum._trace.text import write
from odeum.equations import Equations


def _van_der_pol(t, y, mu):
    x, v = y
    return [v, mu * (1 - x**2) * v - x]


def _pleiades_by_loops(t, w):
    x, y, dx, dy = w[:7], w[7:14], w[14:21], w[21:]
    ax, ay = np.zeros_like(x), np.zeros_like(y)
    for i in range(7):
        for j in range(7):
            if i != j:
                cubed = ((x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2) ** 1.5
                ax[i] += (j + 1) * (x[j] - x[i]) / cubed
                ay[i] += (j + 1) * (y[j] - y[i]) / cubed
    return np.concatenate([dx, dy, ax, ay])


def _pleiades_by_arrays(t, w):
    x, y, dx, dy = w.reshape(4, 7)
    masses = np.arange(1, 8)
    ex, ey = x[None, :] - x[:, None], y[None, :] - y[:, None]
    cubed = (ex**2 + ey**2 + np.eye(7)) ** 1.5
    return np.concatenate([dx, dy, np.sum(masses * ex / cubed, axis=1), (ey / cubed) @ masses])


_PLEIADES = [3, 3, -1, -3, 2, -2, 2, 3, -3, 2, 0, 0, -4, 4, *[0] * 5, 1.75, -1.5, 0, 0, 0, -1.25, 1, 0, 0]

# A + B <-> C, C -> A + D, 2 D -> B.
_LEFT = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 2]])
_RIGHT = np.array([[0, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 0, 0]])


def _network(t, c, k1, k2, k3, k4):
    rates = np.stack([k1, k2, k3, k4]) * np.prod(c[None, :] ** _LEFT, axis=1)
    return (_RIGHT - _LEFT).T @ rates


def _switched(t, y, k):
    heat, flow = y
    on = (np.sin(3 * t) > 0.3) & (heat < 2)
    valve = np.clip(np.interp(t, [0.0, 1.0, 2.5], [0.0, 1.0, 0.4]), 0.1, 0.8)
    return {
        "flow": valve * np.where(on, 1.0, -k) - 0.1 * flow**3,
        "heat": np.maximum(flow, 0) - k * np.tanh(heat),
    }


@pytest.mark.parametrize(
    ("f", "start", "parameters", "end"),
    [
        (_van_der_pol, [2.0, 0.0], {"mu": 3.0}, 8.0),
        (_pleiades_by_loops, _PLEIADES, {}, 1.0),
        (_pleiades_by_arrays, _PLEIADES, {}, 1.0),
        (_network, [1.0, 0.7, 0.2, 0.0], {"k1": 2.0, "k2": 0.5, "k3": 1.5, "k4": 3.0}, 4.0),
    ],
)
def test_end_states_are_those_of_scipy(f, start, parameters, end):
    scipy = pytest.importorskip("scipy.integrate")
    states = {f"s{k}": float(value) for k, value in enumerate(start)}
    found = solve(trace(f, list(states), list(parameters)), states, parameters, end)
    options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
    wanted = scipy.solve_ivp(f, (0, end), start, args=tuple(parameters.values()), **options).y[:, -1]
    np.testing.assert_allclose(list(found.values()), wanted, rtol=1e-8, atol=1e-8)


def test_choices_are_those_of_scipy():
    """Steps of one size on both sides, so that both jump between the same points."""
    traced = trace(_switched, ["heat", "flow"], ["k"])
    found = solve(traced, {"heat": 0.1, "flow": 0.5}, {"k": 0.7}, 3.0, name="rkck", fixed_step=1 / 1024)
    y, h = np.array([0.1, 0.5]), 1 / 1024
    a = [[], [1 / 5], [3 / 40, 9 / 40], [3 / 10, -9 / 10, 6 / 5], [-11 / 54, 5 / 2, -70 / 27, 35 / 27]]
    a.append([1631 / 55296, 175 / 512, 575 / 13824, 44275 / 110592, 253 / 4096])
    b, c = [37 / 378, 0, 250 / 621, 125 / 594, 0, 512 / 1771], [0, 1 / 5, 3 / 10, 3 / 5, 1, 7 / 8]
    for step in range(3072):
        stages = []
        for row, node in zip(a, c, strict=True):
            inner = y + h * sum((w * s for w, s in zip(row, stages, strict=True)), np.zeros(2))
            rate = _switched((step + node) * h, inner, 0.7)
            stages.append(np.array([rate["heat"], rate["flow"]]))
        y = y + h * sum(w * s for w, s in zip(b, stages, strict=True))
    np.testing.assert_allclose(list(found.values()), y, rtol=1e-8)


def _quotients(dtype: type, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers with quotients of up to so many bits: of any numbers, of multiples, and of what is beside these."""
    random, n = np.random.default_rng(9), 12_000
    size, signs = 2.0 ** random.integers(-bits // 2, bits // 2, n), random.choice([-1.0, 1.0], (2, n))
    a = (random.uniform(1, 2, n) * size * signs[0]).astype(dtype)
    b = (np.abs(a) * random.uniform(0.5, 2, n) / 2.0 ** random.integers(-1, bits + 2, n) * signs[1]).astype(
        dtype
    )
    multiples = (random.integers(1, 2 ** (bits // 2), n) * b).astype(dtype)
    a = np.where(np.arange(n) % 3 == 0, a, multiples)
    return np.where(np.arange(n) % 3 == 1, np.nextafter(a, random.choice([0, 2], n).astype(dtype) * a), a), b


@pytest.mark.parametrize(("precision", "dtype", "bits"), [("f64", np.float64, 53), ("f32", np.float32, 24)])
def test_remainders_are_those_of_python_to_the_bit(precision, dtype, bits):
    a, b = _quotients(dtype, bits)
    exact = [(Fraction(float(x)), Fraction(float(y))) for x, y in zip(a, b, strict=True)]
    size = np.array([float(abs(x / y)) for x, y in exact]) / 2.0**bits
    wanted = {"whole": [float(x // y) for x, y in exact], "mod": np.mod(a, b), "fmod": np.fmod(a, b)}

    def same(t, y, a, b, whole, mod, fmod):
        return [a // b == whole, a % b == mod, np.fmod(a, b) == fmod]

    names = ("a", "b", *wanted)
    rates = od.System(same, states=dict.fromkeys("xyz", 0.0), parameters=dict.fromkeys(names, 1.0))
    options = {"method": "rkck", "fixed_step": 1.0, "rtol": 1e-3, "atol": 1e-3, "precision": precision}
    found = rates(a=a, b=b, **wanted).solve((0, 1), **options).y.round()
    assert (found[size < 1 - 2.0**-bits] == 1.0).all() and (found[size > 1] == 0.0).all()
    assert ((0.1 < size) & (size < 1)).sum() > 100 and (size > 1).sum() > 100


def test_what_has_no_remainder_is_none():
    def f(t, y, a, b):
        return [np.isnan(a // b), np.isnan(a % b), np.isnan(np.fmod(a, b))]

    at = {"a": np.array([0.0, 1e30, 2.0**60, 1e300]), "b": np.array([0.0, 1.0, 3.0, 1e-300])}
    found = values(trace(f, ["x", "y", "z"], ["a", "b"]), at)
    np.testing.assert_allclose([*found.values()], 1.0, rtol=1e-15)


def test_quotients_by_infinity_and_zero_are_those_of_numpy():
    large = [-np.inf, -1.7e308, 1.7e308, np.inf, -0.0, 0.0]
    a, b = (x.ravel() for x in np.meshgrid([-3.0, -0.0, 0.0, 1e300, *large], large))
    record = Record()
    x, y = (Symbol(record, record.variable(name)) for name in "ab")
    with np.errstate(all="ignore"):
        for function in (np.floor_divide, np.remainder, np.fmod):
            output, wanted = as_number(record, function(x, y)), function(a, b)
            found = evaluate(record, {"a": a, "b": b})[0][output]
            # Of numbers that large there may be none.
            known = (np.abs(a) < np.abs(b)) | ~np.isfinite(a) | (b == 0)
            np.testing.assert_array_equal(found[known], wanted[known])
            assert (np.isnan(found) | (found == wanted)).all()


def test_remainders_have_the_slope_of_their_numbers():
    """Steps of an implicit method would not succeed with a wrong Jacobian: its errors would be large."""
    system = od.System(lambda t, y, b: [-50 * (y[0] % b)], states={"x": 3.9}, parameters={"b": 3.0})
    for x, b in ((3.9, 3.0), (-0.5, 1.0), (-3.9, -3.0)):
        end = system(x=x, b=b).solve((0, 0.01), method="rodas4", rtol=1e-8, atol=1e-12)
        assert end["x"] - (x - x % b) == pytest.approx((x % b) * np.exp(-0.5), rel=1e-7) and end.steps < 60


def test_tables_of_a_year_and_their_parts():
    """A table of 365 points was refused."""
    xp = np.arange(1500.0)
    fp, k = np.sin(xp), 800

    def f(t, y, x):
        year = np.interp(x, xp[:365], fp[:365])
        return [
            year,
            np.where(x < xp[k - 1], np.interp(x, xp[:k], fp[:k]), np.interp(x, xp[k - 1 :], fp[k - 1 :])),
        ]

    x = np.concatenate([np.linspace(-3.0, 1503.0, 400), xp[[0, 364, 798, 799, 800, 1499]]])
    found = values(trace(f, ["a", "b"], ["x"]), {"x": x})
    np.testing.assert_allclose(found["a"], np.interp(x, xp[:365], fp[:365]), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(found["b"], np.interp(x, xp, fp), rtol=1e-13, atol=1e-13)


_LARGE = np.array([0.0, 1e-300, 1e-12, 0.3, 1.0 - 1e-12, 1.0, 1.0 + 1e-12, 7.0, 1e9, 1e20, 1e160, 1.7e308])


@pytest.mark.parametrize(
    "function",
    [
        np.arcsinh,
        np.arccosh,
        np.arctanh,
        lambda x: np.log1p(x + 1e-12),
        lambda x: np.log1p(np.exp(x)),
        lambda x: np.hypot(x, 1e200) * 0.5,
        lambda x: np.hypot(1e-200, x) * 0.5,
        lambda x: np.hypot(x, 0.0),
        lambda x: pytest.importorskip("scipy.special").logit(x),
        lambda x: pytest.importorskip("scipy.special").xlogy(np.abs(x - 1e-300), x),
    ],
)
def test_functions_are_right_for_all_numbers(function):
    x = np.concatenate([-_LARGE[::-1], _LARGE])
    with np.errstate(all="ignore"):
        wanted = function(x)
    known = np.isfinite(wanted)
    traced = trace(lambda t, y, a: np.where(np.isnan(function(a)), 0, function(a)), ["x"], ["a"])
    found = values(traced, {"a": x})["x"]
    np.testing.assert_allclose(found[known], wanted[known], rtol=1e-14)
    traced = trace(lambda t, y, a: np.isnan(function(a)), ["x"], ["a"])
    np.testing.assert_array_equal(values(traced, {"a": x})["x"].round() == 1, np.isnan(wanted))


@pytest.mark.parametrize(
    "function, a, b",
    [
        (np.hypot, 1.0, 1.0),
        (np.logaddexp, 1.0, 1.0),
        (np.arctan2, 1.0, 0.0),
        (np.arctan2, -1.0, 0.0),
        (np.arctan2, -1.0, 1e-200),
        (np.arctan2, 1.0, 1.0),
    ],
)
def test_derivatives_are_right_where_branches_meet(function, a, b):
    """A step of a given size shows a wrong derivative, which controlled steps make good by more of them."""
    system = od.System(lambda t, y: [-3 * function(y[0], y[1]), y[0] / 2 + 1], states={"a": a, "b": b})
    here, beside = (
        system(b=start).solve((0, 0.1), method="rodas4", fixed_step=0.1) for start in (b, b + 1e-9)
    )
    assert here.success and beside.success
    assert here["a"] == pytest.approx(beside["a"], abs=1e-8)


_NOT_FINITE = [
    lambda a, b: np.hypot(1 / a, 1 / b),
    lambda a, b: np.logaddexp(np.log(a), np.log(b)),
    lambda a, b: np.logaddexp(1 / a, 1 / b),
    lambda a, b: pytest.importorskip("scipy.special").xlogy(a, b),
    lambda a, b: pytest.importorskip("scipy.special").xlogy(a, 1 / b),
    lambda a, b: pytest.importorskip("scipy.special").xlog1py(a, b / 2),
    lambda a, b: pytest.importorskip("scipy.special").xlogy(a, b / a),
    lambda a, b: pytest.importorskip("scipy.special").logit(a / b),
    lambda a, b: np.nan_to_num(a / b),
    lambda a, b: np.nan_to_num(a / b, nan=1.0, posinf=a, neginf=np.array([3.0])[0]),
    lambda a, b: np.nan_to_num(np.stack([a / b, b / a]), nan=np.array([1.0, 2.0]), posinf=np.inf)[1],
    lambda a, b: np.nan_to_num(a / b > 1) + a,
    lambda a, b: np.nan_to_num(np.stack([a / b]), copy=False, neginf=-1.0)[0],
    lambda a, b: _in_place(a, b)[0],
]


def _in_place(a, b):
    quotient = np.stack([a / b])
    np.nan_to_num(quotient, copy=False)
    return quotient


@pytest.mark.parametrize("function", _NOT_FINITE)
def test_what_is_not_finite_is_as_in_numpy(function):
    a, b = (x.ravel() for x in np.meshgrid([-2.0, 0.0, 3.0], [-2.0, 0.0, 3.0]))
    with np.errstate(all="ignore"):
        wanted = np.array([function(*pair) for pair in zip(a, b, strict=True)])

    def f(t, y, a, b):
        value = function(a, b)
        return [np.where(np.abs(value) <= 3, value, 0), value > 3, value < -3, np.isnan(value)]

    found = values(trace(f, list("xyzw"), ["a", "b"]), {"a": a, "b": b})
    for name, expected in zip(
        "xyzw",
        [np.where(np.abs(wanted) <= 3, wanted, 0), wanted > 3, wanted < -3, np.isnan(wanted)],
        strict=True,
    ):
        np.testing.assert_allclose(found[name], expected, rtol=1e-14)


@pytest.mark.parametrize("function", [np.sign, lambda a: np.heaviside(a, 0.5)])
def test_the_sign_of_nan_is_nan(function):
    """It counted as zero, and the system went on."""
    traced = trace(lambda t, y, a: np.isnan(function(np.sqrt(a))), ["x"], ["a"])
    a = np.array([-1.0, -0.0, 0.0, 4.0])
    np.testing.assert_array_equal(values(traced, {"a": a})["x"].round() == 1, [True, False, False, False])


def test_remainders_of_one_divide_by_no_reciprocal():
    """Those of GPUs are off by a unit in the last place."""
    equations = trace(lambda t, y: np.float64(-1.0) % y[0], ["x"], [])
    texts = [*equations.equations.values(), *equations.definitions.values()]
    assert not any(part in text for text in texts for part in (" 1 / ", "(1 / "))
    b = 1.0 / np.arange(1.0, 1000.0)
    np.testing.assert_allclose(values(equations, {"x": b})["x"], -1.0 % b, rtol=1e-15)


def test_fields_are_read(tmp_path):
    """Laplacians, potentials and coordinates have the names that the reader of fields knows."""

    def cahn_hilliard(c, D, k):
        swap = k * c.u * np.where(c.x > 2.0, c.v, 0.1) * np.exp(-c.t)
        return {"u": D * c.lap(c.u**3 - c.u - c.lap.u) - swap, "v": c.lap.v + c.lap(2 * c.v) + swap}

    traced = trace_model(cahn_hilliard, None, ["D", "k"])
    system = {
        "species": list(traced.equations),
        "parameters": {"D": 0.1, "k": 1.0},
        "definitions": traced.definitions,
        "equations": traced.equations,
    }
    case = {
        "system": system,
        "grid": {"shape": [8, 8, 1], "spacing": 0.5},
        "initial": {"u": 0.1, "v": 1.0},
        "time": {"until": 0.01, "step": {"stable": 0.5}},
    }
    path = tmp_path / "case.toml"
    path.write_text(tomli_w.dumps(case))
    assert _odeum.command(["odeum", "check", str(path)]) == 0
    path.write_text(tomli_w.dumps(case | {"system": system | {"equations": {"u": "lap(w)", "v": "0"}}}))
    assert _odeum.command(["odeum", "check", str(path)]) == 2


# Functions of one, two and three numbers; arguments are kept where all are defined.
_ONE = [
    np.negative,
    np.abs,
    np.sin,
    np.cos,
    np.tanh,
    np.floor,
    np.ceil,
    np.sign,
    np.arctan,
    np.cbrt,
    np.square,
    lambda a: np.sqrt(np.abs(a)),
    lambda a: np.exp(-np.abs(a)),
    lambda a: np.log(1 + a**2),
    lambda a: np.log1p(np.abs(a)),
    lambda a: np.expm1(-np.abs(a)),
    lambda a: np.arcsinh(a),
    lambda a: a**3,
    lambda a: (1 + a**2) ** -0.5,
    lambda a: (1 + a**2) ** 1.7,
    lambda a: 2.0 ** -np.abs(a),
]
_TWO = [
    np.add,
    np.subtract,
    np.multiply,
    np.maximum,
    np.minimum,
    lambda a, b: a / (1 + b**2),
    lambda a, b: np.hypot(a, b),
    lambda a, b: np.arctan2(a, 1 + b**2),
    lambda a, b: np.where(a < b, a, b + 1),
    lambda a, b: np.where((a >= 0) & ~(b > 1) | (a == b), a, 2 * b),
    lambda a, b: (a > b) * a,
]
_LEAVES = st.one_of(
    st.sampled_from([0, 1, 2]).map(lambda k: lambda y: y[k]),
    st.floats(-1e3, 1e3).map(lambda x: lambda y: np.float64(x)),
    st.sampled_from([1e-300, 1e22, 0.1, -7.0, 123456789012345680.0]).map(lambda x: lambda y: np.float64(x)),
)


def _compose(function, *parts):
    return lambda y: function(*(part(y) for part in parts))


_TREES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.builds(_compose, st.sampled_from(_ONE), inner),
        st.builds(_compose, st.sampled_from(_TWO), inner, inner),
    ),
    max_leaves=25,
)
_NAMES = ("a", "b", "c")


@settings(max_examples=150, deadline=None)
@given(_TREES, st.lists(st.floats(-10, 10), min_size=3, max_size=3))
def test_trees_have_the_values_of_floats(tree, point):
    """Function, graph and engine agree within the bound on rounding that the graph gives."""
    record = Record()
    symbols = [Symbol(record, record.variable(name)) for name in _NAMES]
    try:
        with np.errstate(all="ignore"):
            output = as_number(record, tree(symbols))
    except Refusal as refusal:
        assert refusal.found in ("the number inf", "the number -inf", "the number nan")
        return
    at = {name: np.array([x]) for name, x in zip(_NAMES, point, strict=True)}
    with np.errstate(all="ignore"):
        graph, errors = evaluate(record, at)
        by_floats = float(tree([np.float64(x) for x in point]))
    value, error = (float(np.broadcast_to(side[output], 1)[0]) for side in (graph, errors))
    if not np.isfinite([value, error, by_floats]).all():
        return
    bound = 4 * error
    assert abs(value - by_floats) <= bound
    definitions, (text,) = write(record, [output], _NAMES)
    (by_engine,) = values(Equations({"out": text}, definitions), at)["out"]
    assert abs(by_engine - value) <= bound + 4e-16 * abs(value) + 5e-324


@settings(max_examples=100, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_back_to_the_bit(x):
    record = Record()
    _, (text,) = write(record, [record.constant(x)], ())
    assert float(text) == x and np.signbit(float(text)) == np.signbit(x)
    (by_engine,) = values(Equations({"out": f"select(a == {text}, 1, 0)"}), {"a": np.array([x])})["out"]
    assert abs(by_engine - 1.0) < 1e-15
