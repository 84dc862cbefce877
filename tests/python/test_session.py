"""Ensembles that stay on their device: sessions on the CPU, and what is lent of a GPU, without one."""

from __future__ import annotations

import copy
import ctypes as c
import gc
import pickle
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from systems import van_der_pol
from test_gpu_arrays import CUDA, Lender

import odeum as od
from odeum import _odeum

VERSION = (1, 0)


def oscillator():
    equations = {"x": "v", "v": "-w^2 * x"}
    return od.System.from_text(equations, states={"x": 1.0, "v": 0.0}, parameters={"w": 1.0})


def runs():
    return oscillator().sweep(w=np.linspace(1, 3, 5), x=[1.0, 2.0, 3.0])


def single(runs):
    return runs.session(precision="f32", rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("method", ["tsit5", "rodas4"])
def test_a_session_goes_where_solve_goes(method):
    session = runs().session(method=method, rtol=1e-9, atol=1e-12)
    assert session.shape == (5, 3) and len(session) == 15
    assert np.array_equal(session.y, runs().values("x")[..., None] * [1.0, 0.0])
    for step in range(4):
        assert not session.advance((0.5 * step, 0.5 * (step + 1))).any()
    x, w = runs().values("x"), runs().values("w")
    assert np.allclose(session["x"], x * np.cos(2 * w), rtol=0, atol=1e-6)
    assert np.allclose(session["v"], -w * x * np.sin(2 * w), rtol=0, atol=1e-6)
    assert session.success.all() and not session.failed.any()
    assert (session.counts["steps"] > 0).all() and session.counts["steps"].shape == (5, 3)


def test_one_advance_has_the_bits_of_solve():
    session = runs().session(rtol=1e-7)
    session.advance((0, 3))
    sol = runs().solve((0, 3), rtol=1e-7)
    assert np.array_equal(session.states, sol.states)
    assert np.array_equal(session.counts["steps"], sol.counts["steps"])


def test_steps_are_kept_unless_said():
    kept, forgets = (runs().session(rtol=1e-10, warm_start=warm) for warm in (True, False))
    for session in (kept, forgets):
        session.advance((0, 1))
        session.advance((1, 1.01))
    assert kept.counts["nfev"].sum() < forgets.counts["nfev"].sum()


def test_states_are_copies_and_can_be_set():
    session = runs().session()
    before = session.states
    before[:] = 7.0
    assert not (session.states == 7.0).any()
    session.states = 2.0 * session.states
    assert np.array_equal(session["x"], 2.0 * runs().values("x"))
    session.states = np.ones((15, 2), np.float32).T
    assert (session.states == 1.0).all()


def test_numbers_beyond_single_precision_are_told_by_name():
    """The engine said that they were infinite."""
    large = [1.0, 1e39]
    system = od.System.from_text({"x": "-k * x"}, states={"x": 1.0}, parameters={"k": 1.0})
    usual = od.System.from_text({"x": "-x"}, states={"x": -1e39})
    session = system.sweep(k=[1.0, 2.0]).session(precision="f32")
    for field, call in [
        ("x[1]", lambda: system(x=large).solve((0, 1), precision="f32")),
        ("k[1]", lambda: system.sweep(k=large).solve((0, 1), precision="f32")),
        ("x", lambda: usual.solve((0, 1), precision="f32")),
        ("y0[0]", lambda: od.solve_ivp(system, (0, 1), [1e39], args=(1.0,), precision="f32")),
        ("args[0][1]", lambda: od.solve_ivp(system, (0, 1), [1.0], args=(large,), precision="f32")),
        ("states[0, 1]", lambda: setattr(session, "states", [large])),
    ]:
        with pytest.raises(od.InputError, match=r"1e\+39, but f32 ends at 3\.4e38") as caught:
            call()
        assert caught.value.field == field


def test_parameters_that_single_precision_does_not_have_are_told():
    """They were zero there, with success."""
    small = [1.0, 1e-50]
    system, slow = (
        od.System.from_text({"x": "-k * x"}, states={"x": 1.0}, parameters={"k": k}) for k in small
    )
    for field, call in [
        ("k", lambda: slow.solve((0, 1), precision="f32")),
        ("k[1]", lambda: system.sweep(k=small).solve((0, 1), precision="f32")),
        ("args[0][1]", lambda: od.solve_ivp(system, (0, 1), [1.0], args=(small,), precision="f32")),
    ]:
        with pytest.raises(od.InputError, match=r"1e-50, but f32 begins at 1\.4e-45") as caught:
            call()
        assert caught.value.field == field
    with pytest.raises(od.InputError, match="`k` is zero in f32"):
        system.sweep(k=small).session(precision="f32")
    # Twice what is rounded to zero is the smallest number.
    assert system.sweep(k=[0.0, 1e-45]).solve((0, 1), precision="f32").success.all()
    # A trace may be rounded to zero.
    assert system(x=1e-50, k=1.0).solve((0, 1), precision="f32").success.all()


def test_single_precision_stays_single():
    session = single(runs())
    session.advance((0, 1))
    assert session.states.dtype == np.float32
    sol = runs().solve((0, 1), precision="f32", rtol=1e-4, atol=1e-6)
    assert np.array_equal(session.states, sol.states)


def test_a_part_of_an_ensemble_has_the_bits_of_the_whole():
    whole = runs().session()
    whole.advance((0, 1))
    parts = [part.session() for part in runs().split(4)]
    for part in parts:
        part.advance((0, 1))
    assert np.array_equal(np.concatenate([part.states for part in parts], axis=1), whole.states)


def test_what_failed_says_why_and_costs_no_neighbour():
    blow_up = od.System.from_text({"x": "x^2"}, states={"x": 1.0})
    session = blow_up.sweep(x=[0.1, 2.0]).session(rtol=1e-8, atol=1e-10)
    assert [od.STATUSES[number].name for number in session.status] == ["not run", "not run"]
    session.advance((0, 1))
    assert session.failed.tolist() == [False, True]
    assert session["x"][0] == pytest.approx(1 / 9) and np.isfinite(session["x"][1])
    session.states = [[0.1, 0.1]]
    assert not session.advance((1, 2)).any()


@pytest.mark.parametrize("raised", [KeyboardInterrupt, TimeoutError, SystemExit, od.DeviceError])
def test_after_an_advance_that_raised_no_system_counts_as_ended(raised):
    class Stopped:
        def advance(self, span, looks_outside):
            raise raised

    session = runs().session()
    assert not session.advance((0, 1)).any()
    session._raw = Stopped()
    with pytest.raises(raised):
        session.advance((1, 2))
    assert session.failed.all()


def test_a_span_that_is_refused_changes_nothing():
    session = runs().session()
    session.advance((0, 1))
    states, steps = session.states, session.counts["steps"]
    with pytest.raises(od.InputError, match="must differ"):
        session.advance((1, 1))
    assert session.success.all()
    assert (session.states == states).all() and (session.counts["steps"] == steps).all()


def test_what_a_signal_raises_leaves_no_system_that_counts_as_ended():
    def late(number, frame):
        raise TimeoutError

    session = runs().session(rtol=1e-10, max_steps=1_000_000_000)
    session.advance((0, 1))
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(TimeoutError):
            session.advance((1, 1e7))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert session.failed.all()


@pytest.mark.parametrize(
    ("call", "field", "remedy"),
    [
        (lambda r: r.session(save=[1.0]), "save", "after each advance"),
        (lambda r: r.session(until={"x": {"rises_to": 1.0}}), "until", "solve"),
        (lambda r: r.session(segments=3), "segments", "advance"),
        (lambda r: r.session(span=(0.0, 1.0)), "span", "advance"),
        (lambda r: r.session(progress=True), "progress", "between the advances"),
        (lambda r: r.session(rtol=-1.0), "rtol", "between"),
        (lambda r: r.session().advance((1.0, 1.0)), "span", "must differ"),
        (lambda r: r.session().advance((0.0, np.nan)), "span", "finite"),
        (lambda r: r.session().advance(1.0), "span", "start and end"),
        (lambda r: r.session().states_on_gpu, "device", "cuda"),
        (lambda r: r.session()["y"], "state", "there are x, v"),
        (lambda r: setattr(r.session(), "states", np.ones((15, 2))), "states", r"\(2, 15\)"),
        (lambda r: setattr(r.session(), "states", np.full((2, 15), np.nan)), "states", "finite"),
        (lambda r: setattr(single(r), "states", np.full((2, 15), -1e39)), r"states\[0, 0\]", "f64"),
        (lambda r: oscillator()(t_end=[1.0, 2.0]).session(), "t_end", "advance"),
        (lambda r: r.sweep(t_start=[0.0, 0.5]).session(), "t_start", "advance"),
    ],
)
def test_bad_input_names_field_and_remedy(call, field, remedy):
    with pytest.raises(od.InputError) as caught:
        call(runs())
    assert re.search(field, caught.value.field), str(caught.value)
    assert re.search(remedy, str(caught.value)), str(caught.value)


def test_sessions_are_made_by_runs():
    with pytest.raises(TypeError, match=r"Runs\.session"):
        od.Session()
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"Runs\.session"):
            copied(runs().session())
    assert "15 systems (w 5 x x0 3)" in repr(runs().session())


# What is lent of a GPU: here it is memory that a lender of ours has lent before.


def lent(shape=(2, 3), strides=None, written=True):
    lender = Lender(shape, strides, version=VERSION)
    return lender, _odeum.GpuArray("Y", lender.capsule(), 0, written)


@pytest.mark.parametrize("max_version", [None, (0, 8), (1, 0), (1, 3)])
@pytest.mark.parametrize("strides", [None, (1, 2), (-3, 1)])
def test_what_is_lent_again_is_the_same_and_comes_back(max_version, strides):
    lender, array = lent(strides=strides)
    assert array.__dlpack_device__() == (CUDA, 0)
    again = _odeum.GpuArray("Y", array.__dlpack__(max_version=max_version), 0, True)
    theirs, ours = again.__cuda_array_interface__, array.__cuda_array_interface__
    assert theirs == ours and theirs["typestr"] == "<f8" and theirs["version"] == 3
    assert theirs["shape"] == (2, 3) and theirs["data"] == (0x1000, False)
    assert theirs["strides"] == tuple(8 * stride for stride in strides or (3, 1))
    del array
    gc.collect()
    assert lender.given_back == 0
    del again
    gc.collect()
    assert lender.given_back == 1


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_a_capsule_that_nobody_takes_gives_the_memory_back(max_version):
    lender, array = lent()
    capsule = array.__dlpack__(max_version=max_version)
    del array
    assert lender.given_back == 0
    del capsule
    assert lender.given_back == 1


def test_a_capsule_is_taken_once():
    lender, array = lent()
    capsule = array.__dlpack__()
    first = _odeum.GpuArray("Y", capsule, 0, True)
    with pytest.raises(od.InputError, match="was used"):
        _odeum.GpuArray("Y", capsule, 0, True)
    del array, capsule, first
    assert lender.given_back == 1


def test_what_is_read_only_says_so():
    _lender, array = lent(written=False)
    assert array.__cuda_array_interface__["data"] == (0x1000, True)
    with pytest.raises(BufferError, match="max_version"):
        array.__dlpack__()
    with pytest.raises(od.InputError, match="read-only"):
        _odeum.GpuArray("Y", array.__dlpack__(max_version=VERSION), 0, True)
    assert _odeum.GpuArray("Y", array.__dlpack__(max_version=VERSION), 0, False).shape == (2, 3)


@pytest.mark.parametrize("asked", [{"copy": True}, {"dl_device": (1, 0)}, {"dl_device": (CUDA, 1)}])
def test_copies_and_other_devices_are_refused(asked):
    _lender, array = lent()
    with pytest.raises(BufferError, match="cuda:0"):
        array.__dlpack__(max_version=VERSION, **asked)
    assert array.__dlpack__(max_version=VERSION, copy=False, dl_device=(CUDA, 0)) is not None


def test_the_structure_is_that_of_dlpack():
    from test_gpu_arrays import Managed, Versioned

    pointer = c.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
    _lender, array = lent()
    old, new = array.__dlpack__(), array.__dlpack__(max_version=(1, 1))
    managed = c.cast(pointer(old, b"dltensor"), c.POINTER(Managed)).contents
    versioned = c.cast(pointer(new, b"dltensor_versioned"), c.POINTER(Versioned)).contents
    assert (versioned.major, versioned.flags) == (1, 0)
    for tensor in (managed.tensor, versioned.tensor):
        assert (tensor.data, tensor.device_type, tensor.device_id) == (0x1000, CUDA, 0)
        assert (tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset) == (2, 64, 1, 0)
        assert tensor.ndim == 2 and tensor.shape[:2] == [2, 3] and tensor.strides[:2] == [3, 1]


def test_steps_are_not_judged_by_a_span_that_is_not_known():
    for options in ({"fixed_step": 1e-9}, {"largest_step": 1e-9}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            session = runs().session(**options)
            assert not session.advance((0.0, 1e-7)).any()


def test_what_is_set_of_sessions_is_refused():
    session = runs().session()
    for name in ("rtol", "axes", "w"):
        with pytest.raises(AttributeError, match=f"'{name}' of this {type(session).__name__} cannot be set"):
            setattr(session, name, 1.0)
    session.states = np.zeros((2, 15))
    assert not session.states.any()


def test_states_that_are_those_of_no_gas_are_refused():
    """A code that changed mass fractions and left `m` had flames that were 71 K off, with success."""
    gas = od.Mechanism("mechanisms/hydrogen-burke-2012.yaml")
    air = {"fuel": "H2", "oxidizer": "O2:1, N2:3.76"}
    runs = gas.reactor("constant pressure").sweep(T=[1050.0, 1100.0], p=[5 * od.atm], **air)
    session = runs.session(rtol=1e-8)
    session.advance((0, 1e-6))
    before = session.states
    names = session.state_names

    def changed(name, value):
        states = before.copy()
        states[names.index(name), 1] = value
        return states

    mixed = before.copy()
    mixed[names.index("H2"), 1] += 0.1
    mixed[names.index("N2"), 1] -= 0.1
    for bad, words in [
        (mixed, "`m` is .*, while its mass fractions give .*mean_molecular_weight"),
        (changed("m", 0.0), "`m` is 0, while"),
        (changed("T", 20_000.0), "temperature 20000 K is more than 10 K outside"),
        (changed("T", -5.0), "temperature -5 K"),
        (changed("OH", -0.1), "fraction -0.1 of OH"),
        (np.concatenate([before[:1], 2 * before[1:]]), "sum to .*set `m`"),
    ]:
        with pytest.raises(od.InputError, match=f"states: found system [01]: .*{words}"):
            session.states = bad
        assert np.array_equal(session.states, before)
    mixed[-1] = 1 / gas.mean_molecular_weight(mixed[1:-1].T)
    session.states = mixed
    assert np.array_equal(session.states, mixed) and not session.advance((1e-6, 1e-5)).any()


def test_states_beyond_the_data_are_told_once_and_may_be_set():
    """Sessions alone said nothing of what was extrapolated."""
    air = {"fuel": "H2", "oxidizer": "O2:1"}
    text = Path("mechanisms/hydrogen-burke-2012.yaml").read_text(encoding="utf-8")
    narrow = od.Mechanism.from_text(
        text.replace("[200, 1000, 3500]", "[200, 1000, 2000]"), name="narrow.yaml"
    )
    session = narrow.reactor("constant volume").sweep(T=[1200.0, 1300.0], **air).session()
    with pytest.warns(od.OdeumWarning, match="2 of 2 systems had states outside the model's data"):
        session.advance((0, 1e-3))
    hot = session.states
    assert (hot[0] > 2000).all()
    hot[0] += 5.0
    session.states = hot
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session.advance((1e-3, 2e-3))
    hot[0, 0] = 1e4
    with pytest.raises(od.InputError, match=r"10000 K.* or a larger `temperature_margin` to extrapolate"):
        session.states = hot


def test_counts_stay_on_the_device_while_all_lie_within_the_data(monkeypatch):
    """Those of all systems came from it after each advance."""
    gas = od.Mechanism("mechanisms/hydrogen-burke-2012.yaml")
    session = gas.reactor("constant volume").sweep(T=[1200.0], fuel="H2", oxidizer="O2:1").session()
    monkeypatch.setattr(od.Session, "counts", property(lambda session: pytest.fail("counts were asked for")))
    assert not session.advance((0, 1e-6)).any()


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
def test_copies_on_the_cpu_take_no_thread():
    """Each started one, for longer than it takes to copy."""
    script = """
import resource, odeum as od
session = od.System.from_text({"x": "-x"}, states={"x": 1.0}).sweep(x=[1.0, 2.0]).session()
session.advance((0.0, 1.0))
states, counts = session.states, session.counts
size = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize")) << 10
# No room for the stack of another thread.
resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 20), resource.RLIM_INFINITY))
session.states = 2.0 * session.states
assert (session.states == 2.0 * states).all() and (session.counts["nfev"] == counts["nfev"]).all()
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_an_advance_begins_with_the_step_size_of_the_one_before():
    steps = {}
    for options in ({}, {"warm_start": False}):
        session = van_der_pol().runs().session(rtol=1e-10, atol=1e-12, **options)
        for start in (0.0, 0.5):
            session.advance((start, start + 0.5))
        steps[bool(options)] = int(session.counts["steps"])
    assert steps[False] < steps[True]
