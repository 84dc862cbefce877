"""Expressions of SymPy as equations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tracing import values

import odeum as od
from odeum.errors import InputError

sympy = pytest.importorskip("sympy")

from odeum._sympy import from_sympy  # noqa: E402

x, v, k, t, tau = sympy.symbols("x v k t tau")
positive = sympy.symbols("x", positive=True)
of_time = sympy.Function("x")(tau)

TEXTS = [
    (v * (1 - x**2) * k - x, "k * v * (1 - x^2) - x"),
    (x / 3 - 2 * v / 7, "x / 3 - 2 * v / 7"),
    (x / v**2, "x / v^2"),
    (x ** sympy.Rational(1, 2) + x**-2, "sqrt(x) + 1 / x^2"),
    (k / sympy.sqrt(v), "k / sqrt(v)"),
    (x**4, "x^4"),
    (x**-k, "x^-k"),
    (sympy.exp(-x) + sympy.log(v), "exp(-x) + ln(v)"),
    (sympy.pi * x, "3.141592653589793 * x"),
    (sympy.Float("0.1") * x, "0.1 * x"),
    (x - 2 * v * k, "x - 2 * k * v"),
    (-x * v / k, "-v * x / k"),
    (sympy.Piecewise((x, x > 0), (v, v <= 1), (0, True)), "select(x > 0, x, select(v <= 1, v, 0))"),
    (sympy.Max(x, v) + sympy.Min(x, 2), "max(v, x) + min(2, x)"),
    (sympy.Piecewise((1, (x > 0) & ~sympy.Eq(v, 1) | (k < 0)), (0, True)), None),
    (sympy.Derivative(x**3, x).doit(), "3 * x^2"),
    (sympy.Integer(10) ** 30, "1e+30"),
]


@pytest.mark.parametrize(("expression", "text"), TEXTS)
def test_text_is_as_one_would_write_it(expression, text):
    traced = from_sympy({x: expression, v: 0}, [x, v], [k])
    if text is not None:
        assert traced.equations["x"] == text
        assert not traced.definitions


EXPRESSIONS = [
    x**2 * v / 3 - sympy.Rational(2, 7) * x * v + sympy.sqrt(x**2 + 1) / (v**2 + 2),
    (x**2 + 1) ** sympy.Rational(-3, 2) + (v**2) ** sympy.Rational(1, 3) + 2**x,
    sympy.sin(x) * sympy.cos(v) + sympy.tan(x) - sympy.asin(x / 3) + sympy.acos(v / 3) + sympy.atan(x),
    sympy.sinh(x) + sympy.cosh(v) - sympy.tanh(x) + sympy.asinh(v) + sympy.atanh(x / 3),
    sympy.cot(x + 3)
    + sympy.sec(x / 2)
    + sympy.csc(x + 3)
    + sympy.coth(x + 3)
    + sympy.sech(v)
    + sympy.csch(x + 3),
    sympy.atan2(x, v) + sympy.Mod(x, v) + sympy.log(x**2 + 2, 10) + sympy.acosh(x**2 + 1),
    sympy.floor(3 * x) + sympy.ceiling(2 * v) + sympy.sign(x) + sympy.Abs(v) + sympy.Heaviside(x),
    sympy.Max(x, v, 0) - sympy.Min(x, v, sympy.Rational(1, 2)),
    sympy.Piecewise(
        (x, x > v), (v**2, sympy.And(x > 0, v > 0)), (1, sympy.Or(x < -1, sympy.Ne(x, v))), (2, True)
    ),
    sympy.Piecewise(
        (1, sympy.Xor(x > 0, v > 0, x > 2 * v, evaluate=False)),
        (3, sympy.Xor(x > 1, v > 1, x < v)),
        (2, True),
    ),
    sympy.Piecewise((1, sympy.Xor(x > 0, v > 0)), (3, True)) + sympy.GoldenRatio * x + sympy.E * v - sympy.pi,
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values_are_those_of_sympy(expression):
    random = np.random.default_rng(6)
    at = {"x": random.uniform(-2, 2, 12), "v": random.uniform(-2, 2, 12)}
    found = values(from_sympy({x: expression, v: 0}, ["x", "v"], []), at)["x"]
    for k in range(12):
        exact = expression.subs({x: sympy.Rational(at["x"][k]), v: sympy.Rational(at["v"][k])}).evalf(30)
        assert math.isclose(found[k], float(exact), rel_tol=2e-14, abs_tol=2e-14)


def test_what_is_shared_is_a_definition():
    rate = k * sympy.exp(-1 / x) * v
    traced = from_sympy({x: -rate, v: rate - v}, [x, v], [k])
    assert list(traced.definitions) == ["_1"]
    assert traced.equations["v"] == "_1 - v"


def test_functions_of_time_and_times_of_other_names():
    x_of_t = sympy.Function("x")(tau)
    traced = from_sympy({x_of_t.diff(tau): -x_of_t * sympy.sin(tau)}, [x_of_t], [], time=tau)
    assert traced.equations == {"x": "-sin(t) * x"}
    assert from_sympy({"x": t * x}, ["x"], []).equations == {"x": "t * x"}
    assert from_sympy({"x": positive}, ["x"], []).equations == {"x": "x"}


def test_systems_take_functions_of_time():
    x_of_t = sympy.Function("x")(tau)
    for time in (tau, None):
        system = od.System.from_sympy(
            {x_of_t.diff(tau): -k * x_of_t}, states={x_of_t: 1.0}, parameters={k: 1.0}, time=time
        )
        assert system.variables == {"x": 1.0, "k": 1.0}


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        (of_time.diff(tau, 2), -of_time, "Derivative(x(tau), (tau, 2))"),
        (of_time.diff(tau), -sympy.Function("x")(tau - 1), "`x(tau - 1)`"),
        (of_time.diff(tau), -sympy.Function("x")(0), "`x(0)`"),
        (of_time.diff(tau), -sympy.Function("x")(x), "`x(x)`"),
        (sympy.Function("x")(t).diff(t), t, "Derivative"),
    ],
)
def test_delays_and_other_derivatives_are_no_states(key, value, found):
    """They were taken for states and first derivatives by the time, with success."""
    with pytest.raises(InputError) as raised:
        from_sympy({key: value}, ["x"], [], time=tau)
    assert found in raised.value.found and raised.value.field == "equations.x"


def test_two_symbols_of_one_name_are_refused():
    """The last of them counted."""
    for equations, states in (({x: x}, {x: 1.0, positive: 2.0}), ({x: x, positive: 2 * x}, {x: 1.0})):
        with pytest.raises(InputError, match="two of this name"):
            od.System.from_sympy(equations, states=states)


def test_depth_is_no_limit():
    deep = x
    for _ in range(2000):
        deep = sympy.cos(deep, evaluate=False)
    found = values(from_sympy({x: deep}, [x], []), {"x": np.array([0.3])})["x"]
    np.testing.assert_allclose(found, 0.7390851332151607, rtol=1e-14)


@pytest.mark.parametrize(
    ("expression", "found", "remedy"),
    [
        (sympy.gamma(x), "`gamma` in gamma(x)", "Piecewise"),
        (sympy.Integral(sympy.Function("g")(x), x), "`Integral`", ".doit()"),
        (sympy.Derivative(sympy.Function("g")(x), x), "`Derivative`", ".doit()"),
        (sympy.Function("g")(x), "the symbol `g`", "it is no state"),
        (sympy.Symbol("vv"), "the symbol `vv`", "did you mean `v`?"),
        (sympy.I * x, "the number I", "real numbers"),
        (sympy.oo, "the number oo", "finite"),
        (sympy.nan, "the number nan", "finite"),
        (sympy.zoo, "the number zoo", "finite"),
        (sympy.Integer(10) ** 400 * x, "the number 1000", "finite"),
        (sympy.Piecewise((x, x > 0)), "a Piecewise that is undefined elsewhere", "True"),
        (sympy.Matrix([x]), "Matrix", "Piecewise"),
        (sympy.Sum(x**k, (k, 0, 2)), "`Sum`", ".doit()"),
        ("x * v", "'x * v' (str)", "an expression of SymPy"),
        (None, "None (NoneType)", "an expression of SymPy"),
    ],
)
def test_refusals_name_what_was_found_and_what_to_write(expression, found, remedy):
    with pytest.raises(InputError) as raised:
        from_sympy({x: expression, v: 0}, [x, v], [k])
    assert raised.value.field == "equations.x"
    assert found in raised.value.found and remedy in raised.value.remedy


def test_names_that_do_not_go_together():
    for arguments, field in (
        (({x: v}, [x, v], []), "equations"),
        (({x: v, v: x, k: x}, [x, v], []), "equations.k"),
        (({x: x, t: x}, [x, t], []), "states.t"),
        (({x: x}, [x], [x]), "parameters.x"),
        (({x: x}, [x], [], "x"), "time"),
    ):
        with pytest.raises(InputError) as raised:
            from_sympy(*arguments)
        assert raised.value.field == field
