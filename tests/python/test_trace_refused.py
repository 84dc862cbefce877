"""What cannot be traced is refused with the argument, the line and what to write instead."""

from __future__ import annotations

import contextlib
import functools
import math
import random
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest

import odeum as od
from odeum._trace import trace, trace_model
from odeum.errors import InputError, OdeumWarning


def _branch(t, y):
    if y[0] > 0:
        return [1.0]
    return [y[0]]


def _zeros(t, y):
    out = np.zeros(1)
    out[0] = y[0]
    return out


def _mutates(t, y):
    y[0] = 2.0
    return [y[0]]


def _mutates_slice(t, y):
    part = y[:1]
    part += 1
    return part


def _mutates_copy(t, y):
    # Symbols are copied, numbers are not.
    z = np.asarray(y)
    z[0] = 2.0
    return [1.0]


def _endless(t, y):
    return _endless(t, y)


def _float_product(t, y):
    out = np.ones(1)
    out *= y
    return out


def _sparse(t, y):
    return pytest.importorskip("scipy.sparse").eye_array(1, format="csr") @ y


def _scipy(module, call):
    return lambda t, y: call(pytest.importorskip(f"scipy.{module}"), y)


def _sequence():
    # A generator.
    yield 1.0


REFUSED = {
    "branch": (_branch, "a branch on a symbol", "np.where"),
    "and": (lambda t, y: [y[0] > 0 and y[0]], "a branch on a symbol", "np.where"),
    "max": (lambda t, y: [max(y[0], 0)], "a branch on a symbol", "np.maximum"),
    "branch on an array": (lambda t, y: [1 if y else 2], "a branch on a symbol", "np.where"),
    "comparison of objects": (lambda t, y: np.where(np.array([y[0]]) > 0, 1, 2), "a branch", "np.stack"),
    "math": (lambda t, y: [math.exp(y[0])], "a symbol where a number is needed", "np.exp"),
    "math of an array": (lambda t, y: [math.exp(y)], "a symbol where a number is needed", "np.exp"),
    "float": (lambda t, y: [float(y[0])], "a symbol where a number is needed", "np.exp"),
    "zeros": (_zeros, "a symbol where a number is needed", "np.zeros_like(y)"),
    "product into floats": (_float_product, "symbols stored in an array of floats", "np.zeros_like(y)"),
    "floats of symbols": (lambda t, y: np.array([y[0]], dtype=float), "a symbol where", "no dtype=float"),
    "int": (
        lambda t, y: [int(y[0])],
        "int() of a symbol",
        "np.floor or np.trunc; np.select([np.floor(t) == 8, ",
    ),
    "key": (
        lambda t, y: [{8: 1.0}.get(np.floor(t), 0.0)],
        "a symbol as a key of a dict",
        "np.floor(t) == 8, ",
    ),
    "condition as a key": (lambda t, y: [{True: 1.0}.get(t > 8, 0.0)], "as a key of a dict", "np.where"),
    "in a set": (
        lambda t, y: [1.0 if np.floor(t) in {3.0, 4.0} else 0.0],
        "as a key of a dict or a set",
        "np.select",
    ),
    "elements of a set": (lambda t, y: [len({np.floor(t), 3.0})], "as a key of a dict or a set", "np.select"),
    "series": (
        lambda t, y: [pytest.importorskip("pandas").Series({3.0: 1.0}).get(np.floor(t), 0.0)],
        "as a key of a dict",
        "np.select",
    ),
    "cache": (lambda t, y: [functools.cache(np.sin)(y[0])], "as a key of a dict", "f.__wrapped__"),
    "set of arrays": (lambda t, y: [len({y})], "unhashable type", "see the error above"),
    "astype": (lambda t, y: y.astype(int), "symbols as int64", "np.floor"),
    "range": (lambda t, y: [sum(range(y[0]))], "a symbol as an index", "np.where"),
    "index": (lambda t, y: [[1.0, 2.0][y[0]]], "a symbol as an index", "np.interp"),
    "mask": (lambda t, y: y[y > 0], "a condition as an index", "np.where"),
    "two values": (lambda t, y: [1, y[0]], "2 values returned", "return 1, one for each of x"),
    "a matrix": (lambda t, y: np.outer(y, y), "shape (1, 1)", "np.concatenate"),
    "ragged": (lambda t, y: [y, 1.0], "values of the shapes (1,), () returned", "return 1"),
    "a text": (lambda t, y: "x", "str returned", "a list"),
    "a generator": (lambda t, y: _sequence(), "generator returned", "a list"),
    "nothing": (lambda t, y: None, "nothing returned (None)", "return 1"),
    "no attribute": (lambda t, y: [y.z], "`y.z`", "there are x"),
    "no method": (lambda t, y: (2 * y).argsort(), "`.argsort`", "it has sum"),
    "no key": (lambda t, y: {"X": 1}, "a value for 'X'", "did you mean `x`?"),
    "missing key": (lambda t, y: {}, "no value for x", "return one for each"),
    "complex": (lambda t, y: [1j * y[0]], "complex number", "real and imaginary"),
    "NaN": (lambda t, y: [y[0] * math.nan], "the number nan", "finite"),
    "infinity": (lambda t, y: [math.inf], "the number inf for x", "finite"),
    "never assigned": (lambda t, y: np.empty_like(y), "the number nan for x", "np.empty_like"),
    "text": (lambda t, y: [y[0] + "1"], "the text '1'", "give a number"),
    "none in a sum": (lambda t, y: [y[0] + None], "NoneType", "give a number"),
    "assigned": (_mutates, "values assigned to y", "y.copy()"),
    "assigned to a slice": (_mutates_slice, "values assigned to y", "y.copy()"),
    "assigned behind its back": (_mutates_copy, "another y after the call", "y.copy()"),
    "recursion": (_endless, "recursion without end", "end the recursion"),
    "division by zero": (lambda t, y: [1 / 0], "ZeroDivisionError", "arrays of symbols"),
    "too short": (lambda t, y: [y[1]], "IndexError", "see the error above"),
    "unpacked": (lambda t, y: [a for a, b in [y]], "ValueError: not enough values", "see the error above"),
    "no such axis": (lambda t, y: np.sum(y, axis=1), "axis 1 is out of bounds", "see the error above"),
    "nor of a method": (lambda t, y: y.max(axis=-2), "axis -2 is out of bounds", "see the error above"),
    "nor of a number": (lambda t, y: np.sum(y[0], axis=1), "axis 1 is out of bounds", "see the error above"),
    "an axis twice": (lambda t, y: np.sum(y[None], axis=(0, -2)), "duplicate value", "see the error above"),
    "bits": (lambda t, y: np.where(y & 1, 1, 2), "np.bitwise_and of numbers", "compare them first"),
    "by the type of elements": (lambda t, y: np.nanmax(y), "np.nanmax of symbols (it goes by", "np.where"),
    "where without out": (lambda t, y: np.sqrt(y, where=y > 0), "no `out`", "np.where"),
    "sums of conditions": (lambda t, y: np.polyval(y > 0, y > 1), "arrays of conditions", "1.0*a"),
    "sort": (lambda t, y: np.sort(y), "np.sort of symbols", "np.minimum"),
    "argmax": (lambda t, y: [np.argmax(y)], "np.argmax of symbols", "np.max"),
    "linear algebra": (lambda t, y: np.linalg.solve(np.eye(1), y), "np.solve of symbols", "outside of f"),
    "unknown": (lambda t, y: np.nextafter(y, 1), "np.nextafter of a symbol", "there are np.add"),
    "fmax": (lambda t, y: np.fmax(y, 1), "np.fmax of a symbol", "np.maximum"),
    "at": (lambda t, y: np.add.at(y, [0], 1), "np.add.at of symbols", "loop"),
    "large table": (
        lambda t, y: np.interp(y, np.arange(1025.0), np.arange(1025.0)),
        "1025 points",
        "1024 at most, fit a formula, or choose between tables: np.where(x < a, np.interp(x, xp[:k]",
    ),
    "places": (lambda t, y: np.interp(y, np.stack([0.0, y[0]]), [0.0, 1.0]), "between places", "constant xp"),
    "periodic": (lambda t, y: np.interp(y, [0.0, 1.0], [0.0, 1.0], period=1), "with a period", "x % period"),
    "where alone": (lambda t, y: np.where(y > 0), "a condition alone", "np.where(condition, a, b)"),
    "sparse": (_sparse, "TypeError", "S.toarray()"),
    "by a sparse matrix": (
        _scipy("sparse", lambda sp, y: y @ sp.eye_array(1, format="csr")),
        "csr_array (",
        "S.toarray()",
    ),
    "dot of a sparse matrix": (
        _scipy("sparse", lambda sp, y: np.dot(y, sp.eye_array(1, format="csr"))),
        "csr_array (",
        "S.toarray()",
    ),
    "a number by @": (lambda t, y: y @ 2.0, "a number multiplies by `*`", "see the error above"),
    "spline": (
        _scipy("interpolate", lambda si, y: si.CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])(y)),
        "a symbol where",
        "np.interp(x, xp, fp); or, of a CubicSpline",
    ),
    "interp1d": (
        _scipy("interpolate", lambda si, y: si.interp1d([0.0, 1.0], [0.0, 1.0])(y)),
        "object arrays",
        "np.interp(x, xp, fp)",
    ),
    "erf": (
        _scipy("special", lambda special, y: special.erf(y)),
        "scipy.special.erf of a symbol",
        "no such function",
    ),
    "ufunc of Python": (lambda t, y: np.frompyfunc(abs, 1, 1)(y), "abs (vectorized) of", "np.vectorize"),
    "ramp": (
        lambda t, y: np.pad(y, (0, 1), "linear_ramp")[:1],
        "np.pad of symbols with mode='linear_ramp'",
        "np.concatenate",
    ),
    "product of polynomials": (lambda t, y: np.polymul(y, [1.0]), "np.polymul of symbols", "np.convolve"),
    "sum of conditions": (
        lambda t, y: [1.0 * ((y[0] > 1) + (y[0] > 2))],
        "nothing but conditions",
        "write a | b",
    ),
    "sum of a list of conditions": (
        lambda t, y: [np.sum([y[0] > 1, y[0] > 2])],
        "np.add of",
        "np.sum(np.stack(",
    ),
    "difference of conditions": (lambda t, y: [(y[0] > 1) - (y[0] > 2)], "np.subtract of", "a ^ b"),
    "half precision": (lambda t, y: np.exp(y > 1), "np.exp of nothing but conditions", "np.exp(1.0*a"),
    "product of conditions": (lambda t, y: [(y > 1) @ (y > 2)], "arrays of conditions", "np.any(a & b)"),
    "conditions and zeros": (lambda t, y: 1.0 * np.pad(y > 1, 1)[:1], "conditions and numbers", "1.0*a"),
    "numbers put among conditions": (
        lambda t, y: (lambda a: (np.copyto(a, y), 1.0 * a)[1])(y > 1),
        "np.copyto of symbols (conditions and numbers)",
        "1.0*a",
    ),
    "random": (lambda t, y: [y[0] * random.random()], "for x", "no random numbers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_what_was_found_and_what_to_write(name):
    function, found, remedy = REFUSED[name]
    with pytest.raises(InputError) as raised:
        trace(function, ["x"], [])
    error = raised.value
    assert error.field == "f"
    assert found in error.found
    assert remedy in error.remedy
    assert error.found in str(error) and error.remedy in str(error)


def test_the_line_is_shown_and_the_cause_is_chained():
    with pytest.raises(InputError) as raised:
        trace(_branch, ["x"], [])
    line = _branch.__code__.co_firstlineno + 1
    assert f"line {line} of test_trace_refused.py: `if y[0] > 0:`" in str(raised.value)
    with pytest.raises(InputError) as raised:
        trace(lambda t, y: [1 / 0], ["x"], [])
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_states_unpack_as_many_as_there_are():
    def f(t, y):
        a, b, c = y
        return [a, b]

    with pytest.raises(InputError, match="not enough values to unpack.*a, b, c = y"):
        trace(f, ["a", "b"], [])
    with pytest.raises(InputError, match="did you mean `velocity`"):
        trace(lambda t, y: [y.velocty, 0], ["place", "velocity"], [])
    assert trace(lambda t, y: [getattr(y, "z", 1.0)], ["x"], []).equations == {"x": "1"}


@pytest.mark.parametrize(
    ("function", "parameters", "found"),
    [
        (lambda t, y, a: [a], ["a", "b"], "the arguments (a) and the parameters (a, b)"),
        (lambda t, y, a, b: [a], ["a"], "the arguments (a, b) and the parameters (a)"),
        (lambda t, y, b, c: [b], ["a", "b"], "the arguments (b, c) and the parameters (a, b)"),
        (lambda t, y, *, c: [c], ["a"], "the arguments (c) and the parameters (a)"),
        (lambda y: [y[0]], [], "a function of (y)"),
        (lambda y, t: [y[0]], [], "a function of (y, t)"),
        (lambda state, t: [-state], [], "a function of (state, t)"),
    ],
)
def test_arguments_that_are_not_the_parameters(function, parameters, found):
    with pytest.raises(InputError) as raised:
        trace(function, ["x"], parameters)
    assert raised.value.field == "f" and found in raised.value.found and raised.value.remedy


@pytest.mark.parametrize(
    ("states", "parameters", "field"),
    [
        (["t"], [], "states.t"),
        (["pi"], [], "states.pi"),
        (["x", "exp"], [], "states.exp"),
        (["x"], ["select"], "parameters.select"),
        (["x"], ["x"], "parameters.x"),
        (["2x"], [], "states.2x"),
        (["x y"], [], "states.x y"),
        (["x", "x"], [], "states[1]"),
        (["x", 3], [], "states[1]"),
        ("x", [], "states"),
        ([], [], "states"),
        (["x"], ["a-b"], "parameters.a-b"),
        (["x"], ["\u00b5"], "parameters.\u00b5"),
    ],
)
def test_names_that_expressions_cannot_have(states, parameters, field):
    with pytest.raises(InputError) as raised:
        trace(lambda t, y, *p: y, states, parameters)
    assert raised.value.field == field and raised.value.found and raised.value.remedy


@pytest.mark.parametrize("f", [3, None, "x * y", [1.0]])
def test_what_is_no_function(f):
    with pytest.raises(InputError, match=r"^f: found .*; give a function f\(t, y, ...\)"):
        trace(f, ["x"], [])


def test_what_a_call_with_symbols_does_not_see_is_found():
    calls = []

    def counts(t, y):
        calls.append(1)
        return [y[0] * len(calls)]

    def by_type(t, y):
        return [y[0] if isinstance(y[0], float) else 2 * y[0]]

    for f in (counts, by_type):
        with pytest.raises(InputError, match="for x .* by f and .* by its equations at t = .*, x = "):
            trace(f, ["x"], [])
        trace(f, ["x"], [], check=False)


def test_differences_at_usual_values_and_beside_thresholds_are_found():
    def hot(t, y):
        return [2 * y[0] if isinstance(y[0], float) and y[0] > 300 else y[0] * 1.0]

    def compared(t, y):
        return [np.where(y[0] > 300, hot(t, y)[0], y[0])]

    for f, usual in ((hot, {"x": 400.0}), (hot, None), (compared, None)):
        with pytest.raises(InputError, match="x = [134].*another meaning for symbols"):
            trace(f, ["x"], [], usual=usual)
    with pytest.raises(InputError, match="x = 400"):
        od.System(hot, states={"x": 400.0})
    with pytest.raises(InputError, match="k = 400"):
        od.Model(lambda c, k: {"u": k * c.u if not isinstance(k, float) or k < 300 else c.u}, {"k": 400.0})


def _branch_caught(t, y):
    try:
        return [1.0 if y[0] > 5 else 0.5]
    except Exception:
        return [0.5]


def _float_caught(t, y):
    with contextlib.suppress(Exception):
        return [math.exp(-y[0])]
    return [0.0]


def _index_caught(t, y):
    try:
        return [(1.0, 2.0)[y[0]]]
    except Exception:
        return [0.0]


def _key_caught(t, y):
    try:
        return [{8: 1.0}[np.floor(t)]]
    except Exception:
        return [0.0]


@pytest.mark.parametrize(
    ("f", "found"),
    [
        (_branch_caught, "a branch on a symbol (line {} of test_trace_refused.py: `return [1.0 if y[0] > 5"),
        (_float_caught, "a symbol where a number is needed (line {} of test_trace_refused.py: `return [math"),
        (_index_caught, "a symbol as an index or a count (line {} of test_trace_refused.py: `return [(1.0, "),
        (_key_caught, "a symbol as a key of a dict or a set (line {} of test_trace_refused.py: `return [{{8"),
    ],
)
def test_what_the_function_catches_is_refused_all_the_same(f, found):
    for check in (True, False):
        with pytest.raises(InputError) as raised:
            trace(f, ["x"], [], check=check)
        assert found.format(f.__code__.co_firstlineno + 2) in raised.value.found
    with pytest.raises(InputError, match="a branch on a symbol"):
        trace_model(lambda c: {"u": _branch_caught(0.0, [c.u])[0]}, None, [])
    # Whoever asks for an attribute means the answer.
    assert trace(lambda t, y: [y[0] if not hasattr(y[0], "units") else 2.0], ["x"], []).equations == {
        "x": "x"
    }


DAYS, SCHEDULE, LEVELS = 30, {300: 1.0}, [(5.0, 1.0), (70.0, 2.0)]


class _Valve:
    def __init__(self, level):
        self.level = level

    def __call__(self, t, y):
        return [1.0 if isinstance(t, float) and t > self.level else 0.0]

    def rate(self, t, y):
        return [self(t, y)[0] * y[0]]


def _closed_over(level):
    return lambda t, y: [1.0 if np.isscalar(y[0]) and y[0] > level else 0.0]


def _of_helper(t, y):
    return [_closed_over(450.0)(t, y)[0] + y[0]]


@pytest.mark.parametrize(
    "f",
    [
        lambda t, y: [1.0 if isinstance(t, int | float) and t > 8 else 0.0],
        lambda t, y: [1.0 if isinstance(t, float) and 41 < t < 41.5 else 0.0],
        lambda t, y: [1.0 if isinstance(t, float) and t < -2000 else 0.0],
        lambda t, y: [1.0 if isinstance(t, float) and t > DAYS and t < DAYS + 1 else 0.0],
        lambda t, y: [1.0 if isinstance(t, float) and t > DAYS * 86400 else 0.0],
        lambda t, y: [SCHEDULE.get(np.floor(t), 0.0) if isinstance(t, float) else 0.0],
        lambda t, y: [
            max(a for at, a in LEVELS if t > at) if isinstance(t, float) and t > 5 else 1.0 * (t > 5)
        ],
        lambda t, y, level=45.0: [1.0 if isinstance(t, float) and t > level else 0.0],
        lambda t, y: [1.0 if isinstance(t, float) and t > sum(range(20)) else 0.0],
        lambda t, y: [1.0 if isinstance(y[0], float) and t > 20 and y[0] > 20 else 0.0],
        _closed_over(45.0),
        _of_helper,
        _Valve(450.0),
        _Valve(450.0).rate,
        functools.partial(lambda level, t, y: [1.0 if isinstance(t, float) and t > level else 0.0], 450.0),
    ],
)
def test_differences_beyond_numbers_that_the_function_reads_are_found(f):
    with pytest.raises(InputError, match="by f and .* by its equations"):
        trace(f, ["x"], [])


def test_large_values_where_functions_overflow_are_no_difference():
    def f(t, y):
        x, v = y
        return [
            1.0 / (1.0 + np.exp(-1e3 * (x - 300.0))) + x % 0.1 + v // 1e-9,
            np.cosh(x) / np.sinh(x) + np.hypot(1e200 * x, v) * 1e-200 + np.sin(1e6 * v) + t % 24.0,
        ]

    trace(f, ["x", "v"], [])
    trace_model(
        lambda c, k: {"u": c.lap(c.u**3) - np.exp(c.u / 20.0) / (1.0 + np.exp(c.u / 20.0))}, None, ["k"]
    )


def test_differences_at_zero_are_found():
    """NumPy gets an array of objects, whose elements it leaves as they are."""
    with pytest.raises(InputError, match="by f and nan by its equations"):
        trace(lambda t, y, k: [np.nan_to_num(np.array([y[0] / k]))[0]], ["x"], ["k"])


def test_the_remedy_for_other_types_in_arrays_of_objects_is_named():
    small = np.float32(0.1)
    with pytest.raises(InputError, match=r"write float\(x\) for numbers x of single precision"):
        trace(lambda t, y: 3 * np.array([small, y[0]]), ["x", "v"], [])
    trace(lambda t, y: 3 * np.array([float(small), y[0]]), ["x", "v"], [])


def test_numbers_are_those_of_numpy():
    """Roots of Python's negative numbers are complex, and single precision times them stays single."""
    rates = np.array([0.1, 0.3], np.float32)

    def f(t, y, k):
        return [-np.exp(-((t / k) ** 0.6)) * y[0], np.sum(rates * k) * y[1]]

    def model(c, k):
        return {"u": np.tanh(k**0.5) * c.lap.u - np.exp(-(c.u**1.5)) * c.x**0.7}

    trace(f, ["x", "v"], ["k"])
    trace_model(model, None, ["k"])
    trace_model(lambda c, k: {"u": rates[0] * k * c.u + rates[1] * c.x}, None, ["k"])
    # What f computes in single precision is another number still.
    with pytest.raises(InputError, match="by f and"):
        trace(lambda t, y: [rates[0] * (y[0] if not isinstance(t, float) else np.float32(y[0]))], ["x"], [])


def test_complex_numbers_are_no_values():
    def f(t, y, k):
        return [k if not isinstance(k, float) else np.sqrt(complex(k))]

    with pytest.warns(OdeumWarning, match="could not be compared"):
        trace(f, ["x"], ["k"])


def test_warnings_stay_as_they_are(monkeypatch):
    """What silences them is shared by threads: of two that put it back in another order, one left them silenced."""
    calls, catch = [], warnings.catch_warnings

    def counted(*given, **options):
        calls.append(1)
        return catch(*given, **options)

    monkeypatch.setattr(warnings, "catch_warnings", counted)
    trace(lambda t, y: [np.sqrt(y[0]) + 2], ["x"], [])
    assert not calls


def test_rounding_is_no_difference():
    big = np.linspace(-1e8, 1e8, 101)
    trace(lambda t, y: [np.sum(big * y[0]) + y[0], (y[1] + 1e9) - 1e9], ["x", "v"], [])
    trace(lambda t, y: [np.exp(60 * y[0]) - np.exp(30 * y[0]) ** 2, np.sin(1e6 * y[1])], ["x", "v"], [])
    trace(
        lambda t, y: [1 / (1 + np.exp(1000 * y[0])) + np.where(y[0] == 0, 1, np.exp(-1 / y[0] ** 2)), 0],
        ["x", "v"],
        [],
    )
    trace(lambda t, y: np.linalg.inv(np.vander(np.arange(2.0, 8.0))) @ y, list("abcdef"), [])


def test_the_sign_of_zero_is_no_difference():
    """NumPy's arctan2(-0.0, -1.0) is -pi."""
    trace(lambda t, y: np.arctan2(-y[::-1], -y), ["x", "v"], [])
    trace(lambda t, y: np.cos(np.arctan2(y[::-1], -2 * y)) - np.sin(np.arctan2(-y, 1 * t)), ["x", "v"], [])
    trace_model(lambda c: {"u": np.arctan2(c.lap.v, c.lap.u), "v": c.lap.v}, None, [])
    with pytest.raises(InputError, match="for x -1.0 by f and 1.0 by its equations at t = 0, x = 0"):
        trace(lambda t, y: [np.where(y[0] == 0, -1 if isinstance(t, float) else 1, 0)], ["x"], [])


def test_functions_that_give_no_numbers_are_warned_of():
    with pytest.warns(OdeumWarning, match="`f`: could not be compared.*no finite values"):
        trace(lambda t, y: [np.log(-1 - y[0] ** 2)], ["x"], [])
    with pytest.warns(OdeumWarning, match="ZeroDivisionError"):
        trace(lambda t, y: [y[0] if not isinstance(t, float) else 1 // 0], ["x"], [])
    # Positive values, negative ones, and small ones are tried.
    trace(lambda t, y: [np.log(y[0]), np.log(-y[1])], ["x", "v"], [])


@pytest.mark.parametrize(
    ("names", "f"),
    [
        (["x", "_a"], lambda y: [-y.x, y.x - y[1]]),
        (["mean", "b"], lambda y: [-y.mean, np.mean(y) + y.sum()]),
        (["ndim", "b"], lambda y: [-y.ndim, np.diff(y)[0] + y.mean()]),
        (["real", "b"], lambda y: [-y.real, np.real(y)[1] + np.real([y, y])[1, 0]]),
        (["T", "b"], lambda y: [-y.T, (y.reshape(2, 1).T @ y)[0] + y[:2].T[0] + (2 * y).T[1]]),
        (["shape", "size"], lambda y: [y.shape, np.where(y > 0, y, np.zeros_like(y))[1]]),
    ],
)
def test_states_by_name_are_compared_whatever_they_are_called(names, f):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace(lambda t, y: f(y), names, [])
        with pytest.raises(InputError, match="by f and"):
            trace(lambda t, y: 2 * np.array(f(y)) if isinstance(t, float) else f(y), names, [])


def test_states_by_name_are_compared_within_tuples_with_names():
    """NumPy asked them again and again: a recursion without end left the comparison out."""

    class Pair(NamedTuple):
        first: Any
        second: Any

    def f(t, y):
        stacked = np.stack(Pair(y, second=y))
        return [y.x + stacked[1, 0], np.concatenate(Pair(y[:1], y[1:]))[1]]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert trace(f, ["x", "v"], []).equations == {"x": "x + x", "v": "v"}


def test_numbers_have_no_species_that_symbols_have_not():
    def model(c, D):
        return {"u": D * c.lap.u - getattr(c, "w", 0.0) - (c.D if hasattr(c, "D") else c.u)}

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace_model(model, ["u"], ["D"])


@pytest.mark.parametrize(
    ("f", "found"),
    [
        (lambda y: {}["a"], "KeyError: 'a' (line "),
        (lambda y: y.record, "has no attribute 'record' (line "),
        (lambda y: y[5], "IndexError: "),
        (lambda y: len(y[0]), "TypeError: "),
    ],
)
def test_functions_that_do_not_take_numbers_are_refused(f, found):
    with pytest.raises(InputError, match="in every call with numbers; f must take numbers") as raised:
        trace(lambda t, y: [f(y) if isinstance(t, float) else y[0]], ["x"], [])
    assert found in raised.value.found
    with pytest.warns(OdeumWarning, match="could not be compared"):
        trace(lambda t, y: [y[0] if not isinstance(t, float) else f(y) if t < 1 else np.nan], ["x"], [])


def test_symbols_kept_from_another_call():
    kept = []

    def f(t, y):
        kept.append(y[0])
        return [kept[0] + y[0]]

    trace(f, ["x"], [], check=False)
    with pytest.raises(InputError, match="a symbol of another call.*; keep no values"):
        trace(f, ["x"], [])


@pytest.mark.parametrize(
    ("function", "species", "found"),
    [
        (lambda c: {"u": c.w}, None, "`c.w` without an equation"),
        (lambda c: {"u": c.w}, ["u"], "`c.w`"),
        (lambda c: {"u": c.lap.w}, ["u"], "`c.w`"),
        (lambda c: {"u": c.lap.x}, None, "`c.lap.x`"),
        (lambda c: {"u": c.lap(2.0)}, None, "the Laplacian of the number 2"),
        (
            lambda c: {"u": c.u + c.lap(2 * c.t)},
            None,
            "the Laplacian of <2 * t>, which is the same everywhere (line ",
        ),
        (lambda c: {"w": 1.0}, ["u"], "a value for 'w'"),
        (lambda c: [c.u], ["u"], "list returned"),
        (lambda c: {"u": 1.0 if c.u > 0 else 0.0}, None, "a branch on a symbol"),
        (lambda c: {"u": c.u * random.random()}, None, "for u"),
        (lambda c, F: {"u": c.u}, None, "the arguments (F) and the parameters ()"),
    ],
)
def test_fields_are_refused_alike(function, species, found):
    with pytest.raises(InputError) as raised:
        trace_model(function, species, [])
    assert raised.value.field == "f" and found in raised.value.found and raised.value.remedy


def test_laplacians_of_parameters_are_refused_at_their_line():
    with pytest.raises(
        InputError, match=r"Laplacian of <k \* m>, .* \(line .*c.lap\(k \* m\).*\); it is zero"
    ):
        od.Model(lambda c, k, m: {"u": c.u + c.lap(k * m)}, {"k": 1.0, "m": 2.0})
    od.Model(lambda c, k: {"u": c.lap(k * c.x**2) + c.lap(k * c.u)}, {"k": 1.0})


@pytest.mark.parametrize("name", ["x", "y", "z", "t", "lap"])
def test_species_that_are_coordinates(name):
    with pytest.raises(InputError) as raised:
        trace_model(lambda c: {name: c.u}, None, [])
    assert raised.value.field == f"species.{name}" and raised.value.remedy == "choose another name"
    with pytest.raises(InputError):
        trace_model(lambda c: {name: 1.0}, [name], [])
    with pytest.raises(InputError):
        trace_model(lambda c, **p: {"u": 1.0}, ["u"], [name])
