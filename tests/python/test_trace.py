"""What of NumPy and Python is traced, and what the text is."""

from __future__ import annotations

import copy
import functools
import inspect
import math

import numpy as np
import pytest
from tracing import values

from odeum._trace import trace, trace_model
from odeum.errors import InputError

A = np.array([[1.0, 0.0, -2.0], [0.5, 3.0, 0.0], [0.0, 0.0, 1.0]])
NODES = np.linspace(-1.0, 1.0, 9)


def _assigned(v):
    out = np.zeros_like(v)
    out[0] = v[1] * 2
    out[1:] = v[:2] ** 2
    out[2] += 1
    return out


def _in_place(v):
    w = v * 2
    w += v
    w *= np.array([1.0, 2.0, 3.0])
    w -= 1
    w /= 4
    w[v > 0] = 0.5
    return w


def _pairs(v):
    d = v[:, None] - v[None, :]
    return np.sum(np.where(d != 0, d / (1 + d**2), 0), axis=1)


def _filled(v):
    w = np.empty_like(v)
    w.fill(1)
    w[...] = v.copy()
    return w + np.ones_like(v) + np.full_like(v, 3.0)


def _rounded(v):
    w = np.empty_like(v)
    np.round(v, 1, w)
    return w


def _aliased(v):
    w = 2 * v
    np.asarray(w)[0] = 7.0
    w.astype(float, copy=False)[1] = 8.0
    np.array(w)[2] = w.astype(float)[2] = 9.0
    return w


def special():
    return pytest.importorskip("scipy.special")


def _spline(x):
    """As the message for splines says."""
    s = pytest.importorskip("scipy.interpolate").CubicSpline([-1.0, 0.0, 0.5, 1.0], [0.0, 1.0, -1.0, 2.0])
    polynomials = [np.polyval(c, x - a) for a, c in zip(s.x, s.c.T, strict=False)]
    value = np.select([*(x < b for b in s.x[1:-1]), True], polynomials)
    if x.dtype == float:
        np.testing.assert_allclose(value, s(x))
    return value


# Each of three numbers; those that are functions of one number are taken for each element.
TABLE = {
    "operators": lambda v: -v + 2 * v - v / 3 + 1 / (v + 3) + v**2 + 2.0**v + abs(v) + (+v),
    "float64": lambda v: np.float64(2) * v[0] * v + np.array(2.0) * v[1] + np.array([1.0, 2.0, 3.0]) * v[2],
    "integers": lambda v: np.int64(3) * v + True * v + np.arange(3) * v,
    "powers": lambda v: v**3 + v**-2 + (v + 3) ** 0.5 + (v + 3) ** -0.5 + np.power(v + 3, 1.7) + v**0 + v**1,
    "exp": lambda v: np.exp(v) + np.exp2(v) + np.expm1(v),
    "log": lambda v: np.log(v + 3) + np.log10(v + 3) + np.log2(v + 3) + np.log1p(v + 2),
    "tiny": lambda v: np.expm1(1e-12 * v) * 1e12 + np.log1p(1e-13 * v) * 1e13,
    "logaddexp": lambda v: np.logaddexp(v, 2 * v),
    "roots": lambda v: np.sqrt(v + 3) + np.cbrt(v) + np.square(v) + np.reciprocal(v + 3) + np.hypot(v, 2),
    "trigonometric": lambda v: (
        np.sin(v) + np.cos(v) + np.tan(v) + np.arcsin(v / 2) + np.arccos(v / 2) + np.arctan(v)
    ),
    "arctan2": lambda v: np.arctan2(v, -0.7) + np.arctan2(v[0], v) + np.arctan2(v, 0.0),
    "hyperbolic": lambda v: np.sinh(v) + np.cosh(v) + np.tanh(v) + np.arcsinh(v) + np.arctanh(v / 2),
    "arccosh": lambda v: np.arccosh(v + 3),
    "angles": lambda v: np.deg2rad(v) + np.degrees(v) + np.radians(v) + np.rad2deg(v),
    "minmax": lambda v: np.maximum(v, 0) + np.minimum(v, v[::-1]) + np.clip(v, -0.5, 0.5) + v.clip(0, np.inf),
    "sign": lambda v: np.sign(v) + np.heaviside(v, 0.5) + np.fabs(v),
    "integer parts": lambda v: np.floor(v) + np.ceil(v) * 10 + np.trunc(v) * 100 + np.rint(3 * v) * 1000,
    "remainders": lambda v: v % 0.7 + np.mod(v, -0.3) + v // 0.4 + np.fmod(v, 0.6) + divmod(v, 0.9)[1],
    "halves": lambda v: np.round(np.array([0.5, 1.5, -2.5]) + 0 * v) + round(v[0]) + _rounded(v),
    "math.floor": lambda v: [math.floor(v[0]), math.ceil(v[1]), math.trunc(v[2])],
    "where": lambda v: np.where(v > 0, v, -2 * v) + np.where(v[0] > 0, v, 1),
    "select": lambda v: np.select([v < -0.5, v < 0.5], [v, v**2], default=3),
    "comparisons": lambda v: (
        np.where((v >= 0) & (v <= 1) | ~(v != v[0]), 1, 2) + np.where(v == v[1], 1, v < 0)
    ),
    "logic": lambda v: np.where(
        np.logical_and(v > 0, v < 1), 1, np.logical_or(v > 1, np.logical_not(v > -1))
    ),
    "xor": lambda v: np.where((v > 0) ^ (v > 0.5), v, 0) + np.where(np.logical_xor(v, 0), 1, 2),
    "masks": lambda v: (
        (v > 0) * v + (v > 0).astype(float) + np.sum(v > 0) + np.mean(v > 0) + ((v > 0) | (v > 1)) * 1.0
    ),
    "any": lambda v: np.where(np.any(v > 0.5), v, 2 * v) + np.where(np.all(v > -0.5), 1, 2) + (v > 0).any(),
    "matrix": lambda v: A @ v + np.dot(A, v) + v @ A + A.dot(v),
    "dot": lambda v: np.dot(v, v) + v @ v + np.vdot(v, v) + np.inner(v, A) + v.dot(v),
    "matrices": lambda v: (A @ np.outer(v, v) @ A.T).sum(axis=0) + np.trace(np.outer(v, v)),
    "sums": lambda v: (
        np.sum(v) + v.sum() + np.prod(v) + np.mean(v) + v.mean() + sum(v) + np.add.reduce(v) + v
    ),
    "axes": lambda v: np.outer(v, v).sum(axis=0) + np.outer(v, A).reshape(3, 3, 3).sum(axis=(0, 2)),
    "extrema": lambda v: np.max(v) + v.min() + np.amax(np.outer(v, v), axis=1) + np.maximum.reduce(v),
    "variance": lambda v: np.var(v) + np.std(v) + v,
    "cumulative": lambda v: (
        np.cumsum(v) + np.cumprod(v) + np.add.accumulate(v) + np.outer(v, v).cumsum(axis=1)[1]
    ),
    "diff": lambda v: np.diff(v, prepend=0) + np.diff(v, n=2) + np.concatenate([np.diff(v), [0]]),
    "stack": lambda v: np.stack([v[0], v[1], v[2]]) + np.stack([v, v]).sum(axis=0) + np.vstack([v, v])[1],
    "joined": lambda v: np.concatenate([v[:1], v[1:]]) + np.hstack([v[0], v[1:]]) + np.append(v[:2], v[2]),
    "joined to lists": lambda v: np.concatenate([v[1:], [-v[0]]]) * np.hstack((v[:1], [v[1], 2.0])),
    "array": lambda v: np.array([v[0], v[1], 1.0]) * v + np.array([v, v]).sum(axis=0) + np.asarray(v),
    "object": lambda v: (
        np.exp(np.array([v[0], v[1], v[2]])) + np.sqrt(np.array([v[0] + 3, v[1] + 3, v[2] + 3]))
    ),
    "roll": lambda v: np.roll(v, 1) - 2 * v + np.roll(v, -1) + v[::-1] + np.flip(v),
    "broadcast": _pairs,
    "cross": lambda v: np.cross(v, np.array([1.0, 2.0, 3.0])) + np.cross(v, np.roll(v, 1)),
    "norm": lambda v: (
        v / np.linalg.norm(v)
        + np.linalg.norm(A * v, axis=1)
        + np.linalg.norm(v, 1)
        + np.linalg.norm(A * v, 1, axis=np.int64(0))
    ),
    "norms": lambda v: np.linalg.norm(v, np.inf) + np.linalg.norm(np.outer(v, v)) + v,
    "outer": lambda v: np.outer(v, v)[0] + np.multiply.outer(v, v)[1] + np.subtract.outer(v, v)[:, 2],
    "einsum": lambda v: (
        np.einsum("ij,j->i", A, v) + np.einsum("i,i->", v, v) + np.einsum("ij,i,j->j", A, v, v)
    ),
    "tensordot": lambda v: np.tensordot(A, v, axes=1) + np.kron(v, [1.0])[:3],
    "interp": lambda v: (
        np.interp(v, NODES, NODES**3) + np.interp(v[0], [0.0, 0.5], [1.0, 2.0], left=7.0, right=9.0)
    ),
    "polyval": lambda v: np.polyval([1.0, -2.0, 3.0], v) + np.convolve(v, [1.0, -1.0])[:3],
    "shapes": lambda v: (
        v.reshape(3, 1).T[0] + np.ravel(v[None]) + np.expand_dims(v, 0)[0] + v.reshape((1, 3)).squeeze()
    ),
    "orders": lambda v: [
        np.outer(v, [1.0, 2.0]).flatten("F")[1],
        np.outer(v, [1.0, 2.0]).ravel("F")[1],
        np.outer(v, [1.0, 2.0]).copy("F").ravel("K")[2] + np.outer(v, v).reshape(-1, order="F")[4],
    ],
    "sizes": lambda v: (
        v * len(v) + v.size + v.shape[0] + v.ndim + np.shape(v)[0] + np.size(v) + np.ndim(v[0])
    ),
    "split": lambda v: np.concatenate(np.split(v, 3)[::-1]) + np.tile(v[:1], 3) + np.repeat(v[1], 3),
    "fancy": lambda v: v[[2, 0, 1]] + v[np.array([True, True, True])] + np.take(v, [0, 0, 1]) + v[-1],
    "assigned": _assigned,
    "filled": _filled,
    "in place": _in_place,
    "aliases": _aliased,
    "constants": lambda v: v * (~(np.zeros_like(v)[0] > 1)) + np.where(~(np.append(v, 3.0)[-1] > 1), 1, v),
    "out": lambda v: (
        np.divide(1.0, v, out=np.zeros_like(v), where=v != 0) + np.add(v, 1, out=np.empty_like(v))
    ),
    "object zeros": lambda v: [functools.reduce(lambda a, b: a * b, v), *np.zeros(2, dtype=v.dtype) + v[:2]],
    "diagonal": lambda v: np.diag(v) @ v + np.diag(np.outer(v, v)) + np.meshgrid(v, v)[0][0],
    "sinc": lambda v: np.sinc(v) + np.sinc(0 * v),
    "atleast": lambda v: np.atleast_1d(v[0]) + np.pad(v[1:], (1, 0)) + np.real(v),
    "copies": lambda v: copy.deepcopy(v) + copy.copy(v) + np.copy(v) + copy.deepcopy(v[0]),
    "isnan": lambda v: np.where(np.isnan(np.sqrt(v)), -1, v),
    "range": lambda v: np.ptp(v) * v + np.ptp(np.outer(v, v), axis=0) - np.ptp(np.outer(v, v), 1, v * 0),
    "vectorized": lambda v: np.vectorize(lambda x: 2 * x)(v),
    "expit": lambda v: special().expit(v) + special().logit(0.5 + v / 4) + special().exp10(v),
    "xlogy": lambda v: (
        special().xlogy(v, v + 2) + special().xlog1py(v, v + 1) + special().xlogy(0 * v, v - 9)
    ),
    "a spline": lambda v: _spline(v),
}


@pytest.mark.parametrize("name", TABLE)
def test_functions_of_numpy_are_traced(name):
    """The function's own values, by the engine, at random and at special points."""
    function = TABLE[name]
    names = ["a", "b", "c"]
    random = np.random.default_rng(4)
    points = np.concatenate([random.uniform(-1.5, 1.5, (20, 3)), [[0.5, -0.5, 1.0], [1.0, 0.25, -1.0]]])
    found = values(trace(lambda t, y: function(y), names, []), dict(zip(names, points.T, strict=True)))
    with np.errstate(all="ignore"):
        wanted = np.array([function(point) for point in points], dtype=float)
    assert np.isfinite(wanted).any()
    np.testing.assert_allclose(np.array(list(found.values())).T, wanted, rtol=1e-13, atol=1e-13)


def _put(place):
    def put(v):
        n = np.zeros_like(v)
        place(n)
        return n

    return put


SMALL = np.array([200, 3, 0], np.uint8)


@pytest.mark.parametrize(
    "array",
    [
        lambda v: np.full_like(v, SMALL[0]),
        lambda v: np.concatenate([v[:1], SMALL[:2]]),
        lambda v: np.append(v[:2], SMALL[0]),
        lambda v: np.insert(v[:2], 1, SMALL[0]),
        lambda v: np.stack([SMALL[0], SMALL[1], v[0]]),
        lambda v: np.pad(v[:2], (0, 1), constant_values=SMALL[0]),
        lambda v: np.where(np.zeros_like(v) == 0, SMALL, v),
        _put(lambda n: n.__setitem__(0, SMALL[0])),
        _put(lambda n: n.__setitem__(slice(0, 2), [np.float32(0.1), np.int32(2**31 - 1)])),
        _put(lambda n: n.__setitem__(slice(None), SMALL)),
        _put(lambda n: n[:2].fill(SMALL[0])),
        _put(lambda n: n.__iadd__(SMALL[0])),
        _put(lambda n: np.put(n, [0], SMALL[0])),
        _put(lambda n: np.copyto(n, SMALL[0])),
        _put(lambda n: np.fill_diagonal(n[None], SMALL[0])),
        _put(lambda n: np.asarray(n).__setitem__(slice(None), [0, 1, 10**10]) or n.__imul__(n)),
    ],
)
def test_numbers_in_arrays_are_doubles(array):
    """They kept their types: of bytes, 2 * 200 was 144, where no point of the comparison came."""

    def f(t, y):
        n = array(y)
        return np.where(t > 100, 2 * n - n * n + 1 / (1 + np.abs(n)) + sum(2 * x for x in n), 0) - (-n)

    at = {name: np.array([0.1, 0.7]) for name in "abc"} | {"t_": np.array([0.0, 200.0])}
    found = values(trace(lambda t, y, t_: f(t_, y), list("abc"), ["t_"]), at)
    wanted = [f(t, np.full(3, x)) for t, x in zip(at["t_"], at["a"], strict=True)]
    np.testing.assert_allclose(np.array(list(found.values())).T, wanted, rtol=1e-15)


def test_zero_in_an_array_divides_as_in_numpy():
    def f(t, y):
        n = np.zeros_like(y)
        n[0] = 0
        with np.errstate(divide="ignore"):
            return y + np.minimum(1 / n[0], 2.0) + np.minimum(1 / next(n.flat), 2.0)

    assert trace(f, ["x"], []).equations == {"x": "x + 2 + 2"}


def text(function, states="x v", parameters="k"):
    return trace(function, states.split(), parameters.split()).equations


def test_text_is_as_one_would_write_it():
    def f(t, y, k):
        x, v = y
        return [v, -k * (1 - x**2) * v - 2 * x + np.sin(2 * np.pi * t) - (x - (v - 1)) - (-v)]

    assert text(f) == {
        "x": "v",
        "v": "-k * (1 - x^2) * v - 2 * x + sin(6.283185307179586 * t) - (x - (v - 1)) + v",
    }


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x, v: -(x**2), "-x^2"),
        (lambda x, v: (-x) ** 2, "(-x)^2"),
        (lambda x, v: x ** (v**2), "x^(v^2)"),
        (lambda x, v: (x**v) ** 2, "(x^v)^2"),
        (lambda x, v: x**-v, "x^-v"),
        (lambda x, v: (-2.0) ** np.floor(x), "(-2)^floor(x)"),
        (lambda x, v: x / (v / 2) / (v * 2), "x / (v / 2) / (v * 2)"),
        (lambda x, v: x * -3, "x * -3"),
        (lambda x, v: x + -3, "x - 3"),
        (lambda x, v: 0.1 * x + 1e-300 * v + 1e22, "0.1 * x + 1e-300 * v + 1e+22"),
        (lambda x, v: x**0.5 + v**-1, "sqrt(x) + 1 / v"),
        (
            lambda x, v: np.where(~((x > 0) & (v < 1) | (x == v)), x, 0),
            "select(!((x > 0 && v < 1) || x == v), x, 0)",
        ),
        (
            lambda x, v: np.where((x > 0) & ((v < 1) | (x == v)), x, 0),
            "select(x > 0 && (v < 1 || x == v), x, 0)",
        ),
        (lambda x, v: (x > 0) * v, "select(x > 0, 1, 0) * v"),
    ],
)
def test_precedence(function, expected):
    assert text(lambda t, y, k: [function(y[0], y[1]), y[0] * k])["x"] == expected


def test_what_is_used_twice_is_a_definition():
    def f(t, y, k, _1):
        x, v = y
        rate = k * np.exp(-x) * v
        return [-rate, rate + _1 + (-x) * (-x)]

    traced = trace(f, ["x", "v"], ["k", "_1"])
    assert traced.definitions == {"_2": "k * exp(-x) * v"}
    assert traced.equations == {"x": "-_2", "v": "_2 + _1 + -x * -x"}


@pytest.mark.parametrize("chain", [lambda x, a: x + a, lambda x, a: a * np.sin(x), lambda x, a: a / (1 + x)])
def test_long_chains_are_read(chain):
    def f(t, y, k):
        x = y[0]
        for _ in range(1000):
            x = chain(x, k)
        return [x]

    found = values(trace(f, ["x"], ["k"]), {"x": np.array([0.5, -0.3]), "k": np.array([0.5, -0.3])})
    np.testing.assert_allclose(found["x"], [f(0, [k], k)[0] for k in (0.5, -0.3)], rtol=1e-11)


def test_parameters_by_name_or_in_order():
    for f in (
        lambda t, y, a, b: [a * y[0] - b],
        lambda t, y, b, a: [a * y[0] - b],
        lambda t, y, *, b, a: [a * y[0] - b],
        lambda t, y, *p: [p[0] * y[0] - p[1]],
        lambda t, y, first, second: [first * y[0] - second],
        lambda time, state, a, b=7: [a * state[0] - b],
        lambda t, y, **p: [p["a"] * y[0] - p["b"]],
        functools.partial(lambda scale, t, y, a, b: [scale * a * y[0] - b], 1),
    ):
        assert trace(f, ["x"], ["a", "b"]).equations == {"x": "a * x - b"}, inspect.signature(f)
    assert trace(lambda t, y, a, b=2: [a * y[0] - b], ["x"], ["a"]).equations == {"x": "a * x - 2"}


def _linear(t, y, a, b):
    return [a * y[0] - b]


def test_functions_that_wrap_others_are_called_as_they_take_it():
    swapped = functools.wraps(lambda t, y, b, a: _linear(t, y, a, b))
    for f in (
        functools.wraps(_linear)(lambda t, y, *p: _linear(t, y, *p)),
        functools.wraps(_linear)(lambda *p: _linear(*p)),
        functools.wraps(_linear)(lambda *p, **named: _linear(*p, **named)),
        swapped(lambda *p, **named: _linear(*p, **named)),
        functools.wraps(_linear)(lambda t, y, **named: _linear(t, y, **named)),
        functools.wraps(_linear)(lambda t, y, first, second: _linear(t, y, first, second)),
    ):
        assert trace(f, ["x"], ["a", "b"]).equations == {"x": "a * x - b"}, inspect.signature(f)
    fixed = functools.wraps(_linear)(lambda t, y: _linear(t, y, 3.0, 2.0))
    assert trace(fixed, ["x"], []).equations == {"x": "3 * x - 2"}
    with pytest.raises(InputError, match="the names of the parameters"):
        trace(swapped(lambda t, y, *p: _linear(t, y, *p[::-1])), ["x"], ["a", "b"])


def test_states_by_name_and_any_form_of_result():
    for f in (
        lambda t, y: (y.v, -y.T),
        lambda t, y: {"v": -y.T, "T": y.v},
        lambda t, y: np.array([y[1], -y[0]]),
        lambda t, y: np.stack([y.v, -y.T]),
        lambda t, y: y[::-1] * np.array([1, -1]),
    ):
        assert trace(f, ["T", "v"], []).equations == {"T": "v", "v": "-T"}
    assert trace(lambda t, y, k: -k * y, ["x"], ["k"]).equations == {"x": "-k * x"}
    assert trace(lambda t, y, k: -k * y[0], ["x"], ["k"]).equations == {"x": "-k * x"}
    assert trace(lambda t, y: y[0] > 0, ["x"], []).equations == {"x": "select(x > 0, 1, 0)"}
    assert trace(lambda t, y: [0, True], ["x", "v"], []).equations == {"x": "0", "v": "1"}


def test_names_of_any_alphabet():
    assert trace(lambda t, y, λ: [-λ * y.θ], ["θ"], ["λ"]).equations == {"θ": "-λ * θ"}


def test_fields():
    def f(c, F, k):
        r = c.u * c.v**2
        return {"u": 0.2 * c.lap.u - r + F * (1 - c.u), "v": c.lap(c.v**3 - c.v) + r - k * c.v * c.x + c.t}

    traced = trace_model(f, None, ["F", "k"])
    assert traced.equations == {
        "u": "0.2 * lap(u) - _1 + F * (1 - u)",
        "v": "lap(v^3 - v) + _1 - k * v * x + t",
    }
    assert traced.definitions == {"_1": "u * v^2"}
    assert trace_model(f, ["u", "v"], ["F", "k"]) == traced
    assert list(trace_model(f, ["v", "u"], ["F", "k"]).equations) == ["v", "u"]
