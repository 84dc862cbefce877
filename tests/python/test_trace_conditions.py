"""Conditions in arithmetic: what NumPy makes numbers of is a number, what it keeps is a truth value, or it is refused."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from odeum._trace.array import States
from odeum._trace.check import evaluate
from odeum._trace.function import outputs_of
from odeum._trace.record import Record
from odeum._trace.symbol import Symbol
from odeum.errors import InputError

_NAMES = ("a", "b", "c")
# The values that states are compared with, and others.
_POINTS = np.array(np.meshgrid([0.0, 1.0, 1.5, 2.0], [0.5, 1.0, 3.0], [-1.0, 1.0, 2.5])).reshape(3, -1).T


def with_all(array, value):
    new = array.copy()
    new[:] = value
    return new


def with_first(array, value):
    new = array.copy()
    new[0] = value
    return new


def where_it_holds(array, condition, value):
    new = array.copy()
    new[condition > 0] = value
    return new


def into(function, *parts):
    return function(*parts, out=np.zeros_like(np.ones(3) * parts[0]))


def _program(source):
    names = {"np": np}
    for function in (with_all, with_first, where_it_holds, into):
        names[function.__name__] = function
    return eval(f"lambda y: {source}", names)


def _by_numpy(source):
    """Values at the points; None where NumPy has none."""
    program = _program(source)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error")
            found = np.array([float(program(point)) for point in _POINTS])
    except Exception:
        return None
    return found if np.isfinite(found).all() else None


def _by_symbols(source):
    """The same of the equations; None where they are refused."""
    record = Record()
    symbols = [Symbol(record, record.variable(name)) for name in _NAMES]
    y = States(symbols, _NAMES, lambda: None)
    try:
        (output,) = outputs_of(record, ["x"], lambda: [_program(source)(y)])
    except InputError:
        return None
    with np.errstate(all="ignore"):
        found, _ = evaluate(record, dict(zip(_NAMES, _POINTS.T, strict=True)))
    return np.broadcast_to(np.asarray(found[output], dtype=float), len(_POINTS))


# {s} is a number or a truth value, {v} an array of three of them.
_SCALARS = """
    {s} + {s}|{s} - {s}|{s} * {s}|{s} | {s}|{s} & {s}|{s} ^ {s}|~({s} > 1)|-{s}|+{s}|1.0 * {s}|0.5 + {s}|1 * {s} + {s}|0 + {s}
    abs({s})|np.fabs({s})|np.floor({s})|np.trunc({s})|np.square({s})|np.sqrt({s})|np.exp({s})|{s} ** 2|{s} / 2|{s} // 2
    {s} % 2|{s} < {s}|{s} == {s}|np.sign({s})|np.hypot({s}, {s})|np.power({s}, {s})|np.rint({s})|np.round({s})
    np.where({s}, {s}, {s})|np.where({s}, {s}, False)|np.where({s}, {s}, 0)|np.select([{s}], [{s}], {s})
    np.maximum({s}, {s})|np.minimum({s}, {s})|np.maximum({s}, 0.5)|np.clip({s}, 0, 1)|np.heaviside({s}, 0.5)
    np.logical_and({s}, {s})|np.logical_or({s}, {s})|np.logical_xor({s}, {s})|np.logical_not({s})|np.isnan({s})
    np.add({s}, {s}, dtype=float)|np.multiply({s}, {s}, dtype=float)|sum([{s}, {s}])|np.sum([{s}, {s}])
    np.sum([{s}])|np.mean([{s}, {s}])|np.prod([{s}, {s}])|np.cumsum([{s}, {s}])[1]|np.cumprod([{s}, {s}])[1]
    np.average([{s}, {s}])|np.var([{s}, {s}])|np.std([{s}, {s}])|np.linalg.norm([{s}, {s}])|np.diff([{s}, {s}])[0]
    np.dot([{s}, {s}], [{s}, 1.0])|np.dot([{s}, {s}], [{s}, {s}])|np.array([{s}, {s}])[0]|np.array([{s}, 0.5])[0]
    np.array([{s}, {s}]).sum()|np.full_like(y[0], {s})|np.full_like(y[0] > 1, {s})|np.zeros_like({s})|{s}.astype(float)|np.any({s})|np.sum({s})
    {v}[0]|{v}[2]|np.sum({v})|np.mean({v})|np.prod({v})|np.any({v})|np.all({v})|np.max({v})|np.min({v})|sum({v})
    np.sum({v}, dtype=float)|np.mean({v}, dtype=float)|np.sum({v}, dtype=bool)|np.any({v}[:1])|np.sum({v}[:1])
    np.max({v}[1:2])|np.var({v})|np.std({v})|np.average({v})|np.average({v}, weights=[1, 2, 3])|np.linalg.norm({v})
    np.linalg.norm({v}, 1)|np.linalg.norm({v}, np.inf)|{v} @ {v}|np.dot({v}, {v})|np.vdot({v}, {v})|np.inner({v}, {v})
    np.einsum("i,i->", {v}, {v})|np.einsum("i->", y > 1)|np.tensordot({v}, {v}, 1)|{v} @ np.ones(3)|np.ones(3, bool) @ {v}
    np.trapezoid({v})|np.maximum.reduce({v})|np.add.reduce({v})|np.logical_xor.reduce({v})|np.outer({v}, {v}).sum()
    np.interp({s}, [0, 1], {v}[:2])|np.ptp({v})|{v}.any() + {v}.sum()|np.sum(y, initial={s})|np.max(y, initial={s})|np.sum(y > 1, initial={s})
    np.max(y > 1, initial={s})
"""
_VECTORS = """
    {v} + {v}|{v} - {v}|{v} * {v}|{v} | {v}|{v} & {v}|~{v}|{v} + {s}|{v} * {s}|{v} | {s}|2 * {v}|{v} ** 2.0|{v} > {v}
    np.abs({v})|np.floor({v})|np.square({v})|np.maximum({v}, {v})|np.minimum({v}, {s})|np.add({v}, {v}, dtype=float)
    np.where({v}, {v}, {v})|np.where({v}, {v}, False)|np.where({v}, {s}, {s})|np.where([True, False, True], {v}, {v})
    np.select([{v}], [{v}], {v})|np.select([{v}], [{v}], False)|np.select([{v}], [{v}])|np.clip({v}, 0, 1)
    {v}.astype(float)|{v}.astype(int)|np.concatenate([{v}[:1], {v}[1:]])|np.concatenate([{v}[:2], [{s}]])
    np.append({v}[:2], {s})|np.insert(y[:2], 0, {s})|np.insert((y > 1)[:2], 0, {s})|np.hstack([{v}[:2], {s}])|np.stack([{s}, {s}, {s}])
    np.stack([{v}, {v}])[0]|np.vstack([{v}, {v}])[1]|np.array([{s}, {s}, {s}])|np.array([{v}, {v}])[1]|np.block([{v}])
    np.cumsum({v})|np.cumprod({v})|np.add.accumulate({v})|np.logical_or.accumulate({v})|np.maximum.accumulate({v})
    np.full_like(y, {s})|np.full_like(y > 1, {s})|np.full_like(y, {v})|np.zeros_like({v})|np.ones_like({v})
    np.zeros_like({v}, dtype=float)|with_all(y, {v})|with_all(y > 1, {v})|with_first(y, {s})|with_first(y > 1, {s})
    with_all(np.zeros_like(y), {v})|with_all(np.zeros_like(y > 1), {v})|with_all(np.empty_like(y), {v})
    where_it_holds(y, {v}, {s})|where_it_holds(y > 1, {v}, {s})|into(np.multiply, {v}, {v})|into(np.add, {v}, {v})
    np.roll({v}, 1)|{v}[::-1]|np.tile({v}, 2)[1:4]|np.pad({v}[:2], 1)[:3]|np.diag({v})[0]|np.kron({v}, [1, 0])[:3]
    np.diff({v}, prepend=0)|np.diff({v}, prepend=False)|np.convolve({v}, [1, 1])[:3]|np.outer({v}, {v})[1]
    np.cross({v}, [1, 2, 3])|np.flip({v})|np.triu(np.outer({v}, {v}))[0]|np.real({v})|np.copy({v})|np.meshgrid({v}, y)[0][1]
"""


def _drawn(scalar: bool, depth: int):
    leaves = ["(y[0] > 1)", "(y[1] >= 1)", "(y[2] < 1)", "(y[0] == 2)", "y[0]", "y[1]"]
    leaves = leaves if scalar else ["(y > 1)", "(y >= [2, 1, 0])", "(y != 1)", "y"]
    if not depth:
        return st.sampled_from(leaves)
    forms = [
        form.strip() for line in (_SCALARS if scalar else _VECTORS).splitlines() for form in _split(line)
    ]
    parts = {"s": _drawn(True, depth - 1), "v": _drawn(False, depth - 1)}

    @st.composite
    def filled(draw):
        form = draw(st.sampled_from(forms))
        text = ""
        while form:
            before, brace, form = form.partition("{")
            text += before
            if brace:
                text, form = text + draw(parts[form[0]]), form[2:]
        return f"({text})"

    return st.one_of(st.sampled_from(leaves), filled())


def _split(line):
    """Forms of a line, which bars without spaces part."""
    forms = line.replace(" | ", " OR ").split("|")
    return [form.replace(" OR ", " | ") for form in forms if form.strip()]


_PROGRAMS = st.one_of(
    _drawn(True, 3), _drawn(True, 2), st.builds("({} + {})".format, _drawn(True, 2), _drawn(True, 2))
)


@settings(max_examples=200, deadline=None)
@given(_PROGRAMS)
def test_programs_have_the_values_of_numpy_or_are_refused(source):
    wanted = _by_numpy(source)
    if wanted is None:
        return
    found = _by_symbols(source)
    if found is not None:
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
