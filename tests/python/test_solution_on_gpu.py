"""Solutions whose states stay on a GPU: their shapes, copies and refusals, without one."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from test_gpu_arrays import Lender

import odeum as od
from odeum import _odeum
from odeum.solution_on_gpu import SolutionOnGpu

VERSION = (1, 0)
SHAPE, TIMES, STATES = (5, 3), 2, 2


def oscillator():
    equations = {"x": "v", "v": "-w^2 * x"}
    return od.System.from_text(equations, states={"x": 1.0, "v": 0.0}, parameters={"w": 1.0})


def runs():
    return oscillator().sweep(w=np.linspace(1, 3, SHAPE[0]), x=np.linspace(1, 2, SHAPE[1]))


# What is lent outlives all that looks at it: giving it back is tested elsewhere.
LENT = []


@pytest.fixture(autouse=True, scope="module")
def given_back():
    yield
    LENT.clear()


def lent(shape, strides=None):
    lender = Lender(shape, strides, version=VERSION)
    LENT.append((lender, _odeum.GpuArray("Y", lender.capsule(), 0, True)))
    return LENT[-1][1]


class There:
    """What a GPU would hold of a solution: arrays of addresses alone, and copies of the numbers."""

    def __init__(self, solution):
        self._solution = solution
        self.states = lent((STATES, len(solution)))
        self.saved = lent((TIMES * STATES, len(solution)))
        self.save_times = solution.save_times
        self.status = solution._status
        self.busy_lanes = solution.busy_lanes
        self.copied = []

    def __getattr__(self, name):
        if not name.startswith("copy_"):
            raise AttributeError(name)
        of = {"copy_states": "states", "copy_saved": "saved_states"}.get(name, name.removeprefix("copy"))
        self.copied.append(of)
        return lambda: getattr(self._solution, of).copy()


def on_gpu(here):
    arguments = here._case, here.title, here.state_names, here.axes, There(here), here._systems
    return SolutionOnGpu._at(*arguments)


def both(**options):
    here = runs().solve((0, 2), save=[1.0, 2.0], **options)
    return here, on_gpu(here)


def interface(array):
    """Shape, strides in numbers, and the first number's place."""
    lies = array.__cuda_array_interface__
    return lies["shape"], tuple(by // 8 for by in lies["strides"]), (lies["data"][0] - 0x1000) // 8


def test_arrays_have_the_axes_that_they_have_elsewhere():
    here, there = both()
    # Strides of NumPy's view over the same memory.
    as_numpy = here.y.shape, tuple(by // 8 for by in here.y.strides), 0
    assert interface(there.y) == as_numpy == ((5, 3, 2), (3, 1, 15), 0)
    assert interface(there["v"]) == ((5, 3), (3, 1), 15)
    assert there.states.shape == (2, 15)
    assert there.shape == SHAPE and len(there) == 15
    assert np.array_equal(there.status, here.status) and np.array_equal(there.t, here.t)
    assert not there.failed.any() and there.raise_if_failed() is there
    assert there.steps is not None and there._there.copied == ["_t", "_stats"]
    with pytest.raises(od.InputError, match="there are x, v"):
        there["y"]


def test_one_system_has_no_axes():
    array = lent((STATES, 1))
    assert interface(array.split_last(())) == ((2,), (1,), 0)
    assert interface(array[1].split_last(())) == ((), (), 1)


def test_axes_are_split_as_numpy_does():
    values = np.arange(24).reshape(2, 12)
    split = np.moveaxis(values.reshape(2, 3, 4), 0, -1)
    shape, strides, _ = interface(lent((2, 12)).split_last((3, 4)))
    assert (shape, strides) == (split.shape, tuple(by // values.itemsize for by in split.strides))
    backwards = lent((2, 3), (-3, 1)).split_last([3])
    assert interface(backwards)[:2] == ((3, 2), (1, -3))


@pytest.mark.parametrize("lengths", [(5,), (), (2, 5), (2**63, 2), (0,)])
def test_other_lengths_are_refused(lengths):
    with pytest.raises(ValueError, match="lengths that do not fit"):
        lent((2, 12)).split_last(lengths)


@pytest.mark.parametrize("place", [2, 2**62])
def test_places_beyond_an_array_are_refused(place):
    with pytest.raises(IndexError):
        lent((2, 12))[place]
    with pytest.raises(OverflowError):
        lent((2, 12))[-1]


def test_arrays_come_to_the_host_when_that_is_asked_for():
    here, there = both()
    with pytest.raises(TypeError, match=r"cuda:0.*from_dlpack.*to_host"):
        np.asarray(there.y)
    host = there.to_host()
    assert type(host) is od.Solution and here.to_host() is here
    for name in ("states", "saved_states", "y", "saved", "status", "t", "n_saved"):
        assert np.array_equal(getattr(host, name), getattr(here, name)), name
    assert np.array_equal(there.to_xarray().x, here.to_xarray().x)
    assert np.array_equal(pickle.loads(pickle.dumps(there)).y, here.y)
    assert repr(there) == repr(here)


def test_those_that_failed_are_integrated_again():
    here, there = both(max_steps=22)
    assert here.failed.any() and not here.failed.all()
    again = there.retry(max_steps=100_000)
    assert type(again) is od.Solution and not again.failed.any()
    assert np.array_equal(again.states, here.retry(max_steps=100_000).states)


def test_parts_are_joined_on_the_host():
    parts = [part.solve((0, 2), save=[1.0, 2.0]) for part in runs().split(2)]
    whole = od.concat([on_gpu(part) for part in parts])
    assert np.array_equal(whole.states, runs().solve((0, 2), save=[1.0, 2.0]).states)


def test_the_processor_keeps_its_results():
    with pytest.raises(od.InputError, match="cuda") as caught:
        runs().solve((0, 2), results_on_gpu=True)
    assert caught.value.field == "device"


def test_several_gpus_are_refused():
    with pytest.raises((od.InputError, od.DeviceError)):
        runs().solve((0, 2), results_on_gpu=True, device="cuda:0,1")
