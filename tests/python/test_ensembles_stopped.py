"""Ensembles that are stopped, that tell their progress, and that several threads solve."""

import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from systems import van_der_pol

import odeum as od


def test_many_threads_solve_one_system(monkeypatch):
    """Solvers are kept in a dictionary, which another thread may change while one looks for the oldest."""
    system = van_der_pol()
    cases = [system._case({"time": {"span": [0.0, 1.0]}, "method": {"max_steps": k}}) for k in range(40)]
    monkeypatch.setattr("odeum._case.EnsembleCase.open", lambda case, threads: object())
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def look_up(first):
        for k in range(10_000):
            system._opened_for(cases[(7 * k + first) % len(cases)], None)

    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(look_up, range(8)))
    finally:
        sys.setswitchinterval(before)
    assert len(system._opened) <= 8 + 7


def test_what_progress_raises_stops_the_run():
    def stop(done, total):
        raise RuntimeError("enough")

    runs = van_der_pol().sweep(mu=np.full(20_000, 500.0))
    with pytest.raises(RuntimeError, match="enough"):
        runs.solve((0, 2000), max_steps=10_000_000, progress=stop)


@pytest.mark.parametrize("copies", [1, 2])
def test_progress_of_a_run_that_was_stopped_never_tells_its_end(copies):
    told = []
    runs = van_der_pol().sweep(mu=np.full(20_000, 500.0)) * copies

    def stop(done, total):
        told.append(done)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(od.Interrupted) as caught:
        runs.solve((0, 2000), max_steps=10_000_000, progress=stop)
    assert len(told) == 1 and told[0] < len(runs)
    assert caught.value.partial.axes == runs.axes


def test_ctrl_c_keeps_what_is_finished():
    mu = np.concatenate([np.full(64, 1.0), np.full(50_000, 1000.0)])
    runs = van_der_pol()(mu=mu)
    # Leaves memory with other states.
    moved = runs.solve((0, 1e-3)).y.copy()
    threading.Timer(0.6, lambda: signal.raise_signal(signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(od.Interrupted) as caught:
        runs.solve((0, 2000), max_steps=10_000_000)
    assert isinstance(caught.value, KeyboardInterrupt)
    partial = caught.value.partial
    assert partial.status[0] == 0 and "not run" in partial.summary()
    left = partial.status == 5
    assert (partial.y[left] == [2.0, 0.0]).all() and not (moved[left] == [2.0, 0.0]).all(axis=1).any()
    print(f"came back after {time.monotonic() - began:.2f} s")


@pytest.mark.parametrize("copies", [1, 2])
def test_systems_that_did_not_run_stand_at_their_starts(copies):
    def stop(done, total):
        signal.raise_signal(signal.SIGINT)

    runs = van_der_pol()(mu=np.full(20_000, 500.0), x=np.linspace(1.0, 2.0, 20_000)) * copies
    save = np.linspace(5.001, 2000, 50)
    with pytest.raises(od.Interrupted) as caught:
        runs.solve((5, 2000), max_steps=10_000_000, progress=stop, save=save)
    partial = caught.value.partial
    left = partial.status == 5
    assert left.any() and (partial.t[left] == 5.0).all()
    x = np.broadcast_to(np.linspace(1.0, 2.0, 20_000).reshape(-1, *[1] * (left.ndim - 1)), left.shape)
    np.testing.assert_array_equal(partial.y[left], np.stack([x[left], np.zeros(left.sum())], axis=-1))
    assert not partial.n_saved[left].any() and np.isnan(partial.saved[left]).all()
    assert partial.n_saved[~left].all()


@pytest.mark.parametrize("results", ["columns", "copies", "case file", "solve_ivp"])
def test_what_is_raised_at_the_end_takes_no_results(tmp_path, results):
    """Told of the last system, a callback that raises took all of them along."""

    def stop(done, total):
        if done == total:
            signal.raise_signal(signal.SIGINT)

    runs = van_der_pol().sweep(mu=[1.0, 2.0]) * (1 if results == "columns" else 2)
    runs.to_toml(tmp_path / "case.toml", (0, 1))
    expected = runs.solve((0, 1))
    with pytest.raises(od.Interrupted) as caught:
        if results == "case file":
            od.run(tmp_path / "case.toml", progress=stop)
        elif results == "solve_ivp":
            od.solve_ivp(van_der_pol(), (0, 1), [2.0, 0.0], args=(1.0,), progress=stop)
        else:
            runs.solve((0, 1), progress=stop)
    partial = caught.value.partial
    assert partial.success.all()
    if results != "solve_ivp":
        np.testing.assert_array_equal(partial.y, expected.y)


def test_other_threads_run_while_systems_are_integrated():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    van_der_pol().sweep(mu=np.full(2000, 50.0)).solve((0, 200))
    done.set()
    thread.join()
    assert len(ticks) > 20
