"""How simulations are run, stopped, and how they fail."""

import copy
import multiprocessing
import pickle
import signal
import threading

import numpy as np
import pytest

import odeum as od
from odeum.fields import times

xr = pytest.importorskip("xarray")

LONG = {"shape": {"x": 96, "y": 96}, "spacing": 1.0, "step": 0.01}


def heat(**options):
    start = {"u": "exp(-(x - 48)^2 / 50)"}
    return od.Simulation(od.Model({"u": "lap(u)"}), start, **(LONG | options))


def test_states_come_at_their_times():
    sim = heat()
    at = [float(state.t) for state in sim.run(until=1.0, every=0.3)]
    assert at == pytest.approx([0.3, 0.6, 0.9, 1.0])
    assert sim.t == 1.0
    at = [float(state.t) for state in sim.run(times=[1.5, 2.0])]
    assert at == [1.5, 2.0]
    (last,) = sim.run(until=2.5)
    assert np.array_equal(last.u.values, sim.arrays["u"][0])
    # Times are not pushed to one more state by rounding.
    assert len(list(sim.run(until=3.4, every=0.3))) == 3


def test_zero_is_met():
    """Rounding has the size of the start there: three steps of 0.1 from -0.3 end at 5.55e-17."""
    sim = od.Simulation(od.Model({"u": "-u"}), {"u": 1.0}, shape={"x": 3}, spacing=1.0, step=0.1, t=-0.3)
    assert [float(state.t) for state in sim.run(until=0.2, every=0.1)] == [-0.2, -0.1, 0.0, 0.1, 0.2]
    assert sim.steps == 5


def test_times_are_those_asked_for():
    """Six steps of 0.1 end at 0.6000000000000001."""
    decay = {"start": {"u": 1.0}, "shape": {"x": 3}, "spacing": 1.0, "step": 0.1}
    sim = od.Simulation(od.Model({"u": "-u"}), **decay)
    sim.advance_to(0.6)
    assert sim._raw.t != sim.t == 0.6 == float(sim.state.t)
    sim.advance_to(0.6)
    assert sim.steps == 6
    assert [float(state.t) for state in sim.run(times=[0.6, 0.7])] == [0.6, 0.7]
    for options in ({"times": np.round(np.arange(0.1, 1.05, 0.1), 10)}, {"until": 1.0, "every": 0.1}):
        sim = od.Simulation(od.Model({"u": "-u"}), **decay)
        states = xr.concat(list(sim.run(**options)), "t")
        assert (
            states.t.values.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0] and sim.steps == 10
        )
        np.testing.assert_allclose(states.u.sel(t=0.6)[0], 0.9**6)
    with pytest.raises(od.InputError, match="already"):
        sim.advance_to(1.0 - 1e-13)


def test_a_simulation_past_the_next_state_of_its_run_is_told():
    sim = heat()
    with pytest.raises(od.InputError) as raised:
        for _ in sim.run(until=0.3, every=0.1):
            sim.advance(0.15)
    assert str(raised.value).startswith("run: found 0.2; the next state is of this time")
    assert f"stands at t = {sim.t}" in str(raised.value)


def test_an_argument_is_named_once():
    from odeum._findings import raise_and_warn

    with pytest.raises(od.InputError, match=r"^end: must be finite \(found 0.2\)$"):
        raise_and_warn([("error", "end: must be finite", "", "end", "0.2", "")])


def test_a_case_in_memory_has_no_place():
    """What is wrong with the whole of it has its name alone, and messages began with `case:`."""
    from odeum import _odeum
    from odeum._findings import raise_and_warn

    for place in (_odeum.OWN_CASE, f"{_odeum.OWN_CASE}:3:1"):
        with pytest.raises(od.InputError, match="^`time.step`: nothing limits"):
            raise_and_warn([("error", "nothing limits the step", place, "time.step", "", "give it")])


def _mean_or_error(sim, results):
    try:
        results.put(sim.arrays["u"].mean())
    except od.OdeumError as error:
        results.put(str(error))


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no processes are forked here"
)
def test_a_forked_process_has_no_simulation_of_its_parent():
    """Its threads are not there: it waited for them without end."""
    sim = heat()
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    process = context.Process(target=_mean_or_error, args=(sim, results))
    process.start()
    try:
        assert "process that made it" in results.get(timeout=20)
    finally:
        process.kill()
        process.join()
    assert np.isfinite(sim.arrays["u"]).all()


def test_short_spans_at_late_times_are_no_rounding():
    late, h = 1.7e9, 2.0**-21
    sim = od.Simulation(od.Model({"u": "1"}), {"u": 0.0}, shape={"x": 3}, spacing=1.0, step=h, t=late)
    assert [float(state.t) for state in sim.run(until=late + 6 * h, every=2 * h)] == [
        late + 2 * h,
        late + 4 * h,
        late + 6 * h,
    ]
    assert sim.steps == 6 and sim.arrays["u"].max() == 6 * h
    with pytest.raises(od.InputError):
        sim.advance_to(late + 5 * h)


def test_states_stay_as_they_were():
    sim = heat()
    first, second = sim.run(until=1.0, every=0.5)
    assert float(first.u.max()) > float(second.u.max())
    arrays = sim.arrays
    before = arrays["u"].copy()
    sim.advance(1.0)
    assert np.array_equal(arrays["u"], before)


def test_a_state_says_what_it_is():
    model = od.Model({"u": "D * lap(u)", "mask": "-mask"}, {"D": 0.5})
    sim = od.Simulation(
        model, {"u": 1.0, "mask": 2.0}, shape={"x": 4}, spacing=0.5, mask="1.5 - x", title="Decay"
    )
    state = sim.state
    assert state.sizes == {"x": 4} and float(state.t) == 0.0
    assert state.mask_.values.tolist() == [True, True, True, False]
    assert state.attrs["title"] == "Decay" and "D = 0.5" in state.attrs["parameters"]
    assert "∂u/∂t = D * lap(u)" in state.attrs["equations"]


def test_counts_and_limits():
    sim = heat(stencil="star")
    assert (sim.steps, sim.rejected, sim.nfev, sim.speed) == (0, 0, 0, None)
    sim.advance(0.2)
    assert (sim.steps, sim.nfev) == (20, 20)
    assert sim.speed > 0
    # Forward Euler and five points: h²/4.
    limits = sim.stability()
    assert limits.step == limits.euler == sim.step_limit == pytest.approx(0.25)
    assert limits.spectral_radius == pytest.approx(8.0) and limits.growth == 0
    assert "0.25" in str(limits)


def test_waves_that_hardly_fade_have_a_remedy():
    waves = od.Model({"u": "v", "v": "lap(u)"})
    sim = od.Simulation(waves, {"u": "sin(x)", "v": 0.0}, shape={"x": 60}, spacing=0.1, step=0.02)
    limits = sim.stability(until=100.0)
    assert limits.step < 0.02 and "ssprk3" in limits.remedy
    with pytest.raises(od.InputError, match="ssprk3") as raised:
        list(sim.run(until=100.0))
    assert raised.value.field == "time.step"


def test_progress_is_told():
    told = []
    sim = heat(shape={"x": 400, "y": 400})
    sim.advance(6.0, progress=lambda t, end: told.append((t, end)))
    assert told[-1] == (6.0, 6.0)
    assert [t for t, _ in told] == sorted(t for t, _ in told)


def test_what_progress_raises_stops_and_comes_out():
    sim = heat()

    def progress(t, end):
        raise LookupError(t)

    with pytest.raises(LookupError):
        sim.advance(1e7, progress=progress)
    assert 0 < sim.t < 1e7
    sim.advance(0.1)


@pytest.mark.parametrize("options", [{}, {"step": None, "method": "rkc", "tolerance": 1e-9}])
def test_ctrl_c_stops_and_leaves_a_state(options):
    sim = heat(**options)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(od.Interrupted) as raised:
        for _ in sim.run(until=1e9):
            pass
    timer.join()
    assert raised.value.partial is sim and isinstance(raised.value, KeyboardInterrupt)
    t = sim.t
    assert 0 < t < 1e9 and np.isfinite(sim.arrays["u"]).all()
    sim.advance(0.5)
    # The time that was meant is told.
    assert sim.t == pytest.approx(t + 0.5, rel=1e-14)


def test_ctrl_c_at_the_end_is_told_with_the_time_that_was_meant():
    """It was a bare KeyboardInterrupt, and the time a sum of steps."""
    sim = heat(step=1e-3)

    def progress(t, end):
        if t == end:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(od.Interrupted) as raised:
        sim.advance_to(0.7, progress=progress)
    assert raised.value.partial is sim and sim.t == 0.7
    with pytest.raises(od.Interrupted):
        list(sim.run(until=1.0, progress=progress))
    assert sim.t == 1.0


def test_times_near_zero_are_those_of_a_run_that_begins_elsewhere():
    assert times.to(5.6e-17, 0.0, origin=-0.3) == 0.0
    with pytest.raises(od.InputError, match="already"):
        times.to(5.6e-17, 0.0)


def test_a_second_thread_is_refused_and_can_stop_the_first():
    sim = heat()
    ended, begun = [], threading.Event()

    def advance():
        try:
            sim.advance(1e9, progress=lambda *_: begun.set())
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=advance)
    thread.start()
    assert begun.wait(60)
    for call in (sim.summary, lambda: sim.arrays, lambda: sim.advance(1.0), lambda: sim.steps):
        with pytest.raises(od.OdeumError, match="another call"):
            call()
    # What can be said without its field is said.
    assert sim.t > 0 and "96" in repr(sim) and "96" in sim._repr_html_()
    sim.stop()
    thread.join()
    assert isinstance(ended[0], od.Interrupted)
    assert sim.summary().u.max > 0


def test_a_run_is_stopped_between_two_of_its_states_too():
    sim = heat()
    states = sim.run(until=3, every=1)
    next(states)
    sim.stop()
    with pytest.raises(od.Interrupted) as raised:
        next(states)
    assert raised.value.partial is sim and sim.t == 1.0
    # What comes after is a call of its own.
    assert [float(state.t) for state in sim.run(until=3, every=1)] == [2.0, 3.0]
    sim.stop()
    sim.advance(1.0)
    assert sim.t == 4.0


def test_threads_with_simulations_of_their_own_run_at_once():
    ends = {}

    def advance(k):
        sim = heat(threads=1)
        sim.advance(2.0)
        ends[k] = sim.arrays["u"]

    threads = [threading.Thread(target=advance, args=[k]) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ends) == 4 and all(np.array_equal(ends[0], end) for end in ends.values())


def test_a_simulation_used_by_its_own_progress_is_refused():
    sim = heat()
    with pytest.raises(od.OdeumError, match="another call"):
        sim.advance(1e9, progress=lambda *_: sim.summary())
    assert sim.summary().u.max > 0


def test_values_that_are_not_finite_have_their_species_and_the_last_state():
    # u has a pole at t = 1: adaptive steps come close to it.
    model = od.Model({"w": "lap(w)", "u": "u^2"})
    start = {"w": 1.0, "u": 1.0}
    sim = od.Simulation(model, start, shape={"x": 4}, spacing=1.0, method="euler", step=0.125, force=True)
    with pytest.raises(od.SimulationError) as raised:
        sim.advance(1e3)
    error = raised.value
    assert error.species == "u" and "`u`" in str(error) and error.remedy
    assert error.t == sim.t > 1.0
    assert np.isfinite(sim.arrays["u"]).all() and isinstance(error, od.OdeumError)
    assert pickle.loads(pickle.dumps(error)).species == "u"


def test_steps_that_become_unstable_leave_the_last_stable_state():
    # The limit falls as u grows: 1/(12 u²) of h²/4.
    model = od.Model({"u": "lap(u^3) + u"})
    start = {"u": {"value": 0.2, "noise": 0.1}}
    sim = od.Simulation(model, start, shape={"x": 16, "y": 16}, spacing=1.0, stencil="star", step=0.05)
    sim.advance(0.5)
    with pytest.raises(od.SimulationError, match="not stable") as raised:
        sim.advance_to(50.0)
    error = raised.value
    assert error.t > sim.t == 0.5 and "stable" in error.remedy and "t = 0.5" in error.remedy
    assert np.isfinite(sim.arrays["u"]).all() and sim.summary().u.max < 10
    assert sim.step_limit > 0.05


def test_a_simulation_that_went_back_is_held_to_what_is_explained():
    # Two windows, each of which makes less of w than what is told: the second call ended with 4e4.
    first, second = (
        f"select(u > {a}, select(u < {b}, 1, 0), 0)" for a, b in [(0.5005, 0.5025), (0.5135, 0.5165)]
    )
    model = od.Model({"u": "1", "w": f"1e-3*lap(w) + 1e4*({first} + {second})*(1 - w)"})
    start = {"u": 0.0, "w": "0.5 + 0.3*cos(0.3*x)"}
    sim = od.Simulation(model, start, shape={"x": 32}, spacing=1.0, method="euler", step=0.001)
    sim.advance_to(0.506)
    for _ in range(3):
        with pytest.raises(od.SimulationError, match="not stable on the way") as raised:
            sim.advance_to(1.5)
        assert "t = 0.506, where this call" in raised.value.remedy


def test_too_many_steps():
    sim = heat(max_steps=10)
    with pytest.raises(od.SimulationError, match="max_steps") as raised:
        sim.advance(1.0)
    assert raised.value.species is None
    assert sim.steps == 10 and sim.t == pytest.approx(0.1)


def test_simulations_are_not_copied():
    """A copy would share the field, and advance it for both."""
    sim = heat()
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="make another one"):
            copied(sim)


def test_what_a_simulation_goes_on_with_is_not_changed():
    """It had no effect, but was written down with the results."""
    model = od.Model({"u": "k * u"}, parameters={"k": 1.0})
    sim = od.Simulation(model, {"u": 1.0}, shape={"x": 4}, spacing=1.0, method="ssprk3", step=0.01)
    for numbers, name in (
        (sim.parameters, "k"),
        (model.parameters, "k"),
        (sim.spacing, "x"),
        (sim.origin, "x"),
    ):
        with pytest.raises(TypeError):
            numbers[name] = 2.0
    with pytest.raises(AttributeError):
        sim.parameters = {"k": 2.0}
    # Another simulation goes on from its state.
    sim.advance_to(1.0)
    other = od.Simulation(od.Model({"u": "k * u"}, parameters={"k": 2.0}), sim.state, step=0.01)
    other.advance_to(1.5)
    assert other.t == 1.5 and dict(other.parameters) == {"k": 2.0}


def test_results_do_not_depend_on_stops():
    whole, parts = heat(), heat()
    whole.advance_to(3.0)
    for t in (1.0, 2.0, 3.0):
        parts.advance_to(t)
    np.testing.assert_allclose(parts.arrays["u"], whole.arrays["u"], rtol=1e-13)


def test_what_is_set_of_simulations_is_refused():
    sim = heat()
    for name in ("step", "method", "tolerance", "boundary"):
        with pytest.raises(AttributeError, match=f"'{name}' of this Simulation cannot be set"):
            setattr(sim, name, 0.1)
    sim.advance(0.01)


def test_an_interruption_can_be_pickled():
    """Workers send what is raised. A simulation is no value that can be sent; a solution is."""
    sent = pickle.loads(pickle.dumps(od.Interrupted(heat())))
    assert isinstance(sent, od.Interrupted) and sent.partial is None
    solution = od.System.from_text({"x": "-x"}, states={"x": 1.0}).solve((0, 1))
    sent = pickle.loads(pickle.dumps(od.Interrupted(solution)))
    assert sent.partial.y.tolist() == solution.y.tolist() and "partial" in str(sent)
    # What was noted stays.
    sent.add_note("of case 7")
    assert copy.copy(sent).__notes__ == pickle.loads(pickle.dumps(sent)).__notes__ == ["of case 7"]
