"""States of sessions that lie on a GPU, as PyTorch, CuPy, JAX and Numba see them, and what an advance takes.

    pip install ".[cuda]" torch
    python validation/gpu_sessions.py

Prints PASS or FAIL for each check, SKIP for what needs a library that is not there, and exits with 1 if anything failed.
"""

import gc
import time

import numpy as np
from checking import Skip, check, refused, run

import odeum as od

SYSTEMS = 1_000_000
OPTIONS = {"rtol": 1e-6, "atol": 1e-6}


def library(name):
    try:
        return __import__(name)
    except ImportError as error:
        raise Skip(f"{name} is not installed") from error


def lorenz(systems=SYSTEMS):
    system = od.System.problem("lorenz")
    return system.sweep(**{system.parameters[1]: np.linspace(20, 30, systems)})


def small():
    session = lorenz(1000).session(device="cuda", precision="f32", rtol=1e-4, atol=1e-4)
    session.advance((0, 1))
    return session


@check
def one_advance_has_the_bits_of_solve():
    session = lorenz().session(device="cuda", **OPTIONS)
    assert not session.advance((0, 1)).any()
    assert np.array_equal(session.states, lorenz().solve((0, 1), device="cuda", **OPTIONS).states)


@check
def torch_sees_the_states_and_writes_them():
    torch, session = library("torch"), lorenz().session(device="cuda", **OPTIONS)
    x = torch.from_dlpack(session.states_on_gpu)
    assert x.shape == (3, SYSTEMS) and x.dtype == torch.float64
    assert np.array_equal(x.cpu().numpy(), session.states)
    session.advance((0, 1))
    assert np.array_equal(x.cpu().numpy(), session.states)
    x.fill_(1.0)
    assert (session.states == 1.0).all()


@check
def an_advance_waits_for_work_on_other_streams():
    torch, session = library("torch"), lorenz().session(device="cuda", **OPTIONS)
    session.advance((0, 1))
    states, x = session.states, torch.from_dlpack(session.states_on_gpu)
    y = torch.randn(8192, 8192, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(60):
            y = y @ y
            y = y / y.norm()
        x.mul_(0.5)
    session.advance((1, 1 + 1e-7))
    assert np.abs(session.states - 0.5 * states).max() < 1e-3


@check
def the_memory_outlives_the_session():
    torch, session = library("torch"), lorenz().session(device="cuda", **OPTIONS)
    x, states = torch.from_dlpack(session.states_on_gpu), session.states
    del session
    gc.collect()
    for other in [lorenz().session(device="cuda", **OPTIONS) for _ in range(3)]:
        other.advance((0, 0.1))
    assert np.array_equal(x.cpu().numpy(), states)


@check
def cupy_sees_the_states():
    cupy, session = library("cupy"), small()
    for array in (cupy.from_dlpack(session.states_on_gpu), cupy.asarray(session.states_on_gpu)):
        assert array.dtype == np.float32 and np.array_equal(cupy.asnumpy(array), session.states)


@check
def jax_sees_the_states():
    jax, session = library("jax"), small()
    assert np.array_equal(np.asarray(jax.dlpack.from_dlpack(session.states_on_gpu)), session.states)


@check
def numba_sees_the_states():
    library("numba")
    from numba import cuda

    session = small()
    assert np.array_equal(cuda.as_cuda_array(session.states_on_gpu).copy_to_host(), session.states)


@check
def what_failed_costs_no_neighbour_and_can_go_on():
    torch = library("torch")
    session = (od.System.problem("robertson") * 1000).session(device="cuda", method="rodas4", **OPTIONS)
    x = torch.from_dlpack(session.states_on_gpu)
    session.advance((0, 100))
    x[:, 3] = float("nan")
    status = session.advance((100, 101))
    assert od.STATUSES[status[3]].name == "non-finite" and not np.delete(status, 3).any()
    x[:, 3] = x[:, 4]
    assert not session.advance((101, 102)).any()
    pole = od.System.from_text({"x": "x^2"}, states={"x": 2.0}).runs().session(device="cuda")
    assert pole.advance((0, 1)).all()
    pole.states = [[0.1]]
    assert not pole.advance((1, 2)).any()


@check
def several_gpus_are_refused():
    refused(lambda: lorenz(10).session(device="cuda:0,1"), "device", "one GPU")


@check
def times():
    session = lorenz().session(device="cuda", **OPTIONS)
    session.advance((0, 1))
    lorenz().solve((0, 1), device="cuda", **OPTIONS)
    said = []
    for start in range(1, 5):
        begun = time.perf_counter()
        session.advance((start, start + 1))
        advanced = time.perf_counter()
        lorenz().solve((0, 1), device="cuda", **OPTIONS)
        solved = time.perf_counter()
        said.append(f"advance {1e3 * (advanced - begun):.2f} ms, solve {1e3 * (solved - advanced):.2f} ms")
    return "\n      ".join(said)


if __name__ == "__main__":
    raise SystemExit(run())
