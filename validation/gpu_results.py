"""Results that stay on a GPU, as PyTorch, CuPy, JAX and Numba see them, beside those that come to the CPU.

    pip install ".[cuda]" torch
    python validation/gpu_results.py

Prints PASS or FAIL for each check, SKIP for what needs a library that is not there, and exits with 1 if anything failed.
"""

import gc
import time

import numpy as np
from checking import Skip, check, refused, run

import odeum as od

OPTIONS = {"device": "cuda", "rtol": 1e-6, "atol": 1e-6}


def library(name):
    try:
        return __import__(name)
    except ImportError as error:
        raise Skip(f"{name} is not installed") from error


def van_der_pol(t, y, mu):
    x, v = y
    return [v, mu * (1 - x**2) * v - x]


def runs(many=100):
    vdp = od.System(van_der_pol, states={"x": 2.0, "v": 0.0}, parameters={"mu": 1.0})
    return vdp.sweep(mu=np.geomspace(0.1, 50, many), x=np.linspace(-2, 2, many))


def lorenz(systems=1_000_000):
    system = od.System.problem("lorenz")
    return system.sweep(**{system.parameters[1]: np.linspace(20, 30, systems)})


@check
def a_million_systems_stay_where_torch_goes_on():
    torch = library("torch")
    sol = runs(1000).solve((0, 20), rtol=1e-6, save=[10, 20], device="cuda", results_on_gpu=True)
    x = torch.from_dlpack(sol.y)
    assert x.is_cuda and x.shape == (1000, 1000, 2) and not sol.failed.any()
    here = runs(1000).solve((0, 20), rtol=1e-6, save=[10, 20], device="cuda")
    assert np.array_equal(x.cpu().numpy(), here.y)
    assert np.array_equal(torch.from_dlpack(sol.saved).cpu().numpy(), here.saved)
    assert np.array_equal(torch.from_dlpack(sol["v"]).cpu().numpy(), here["v"])
    for name in ("t", "status", "n_saved", "steps", "nfev"):
        assert np.array_equal(getattr(sol, name), getattr(here, name)), name
    host = sol.to_host()
    assert np.array_equal(host.states, here.states)
    assert np.array_equal(host.saved_states, here.saved_states)


@check
def levels_spans_and_failures_are_those_of_solve():
    torch = library("torch")
    pole = od.System.from_text({"x": "x^2"}, states={"x": 0.5}).table(
        {"x": np.linspace(0.1, 2, 500), "t_start": np.zeros(500), "t_end": np.linspace(0.1, 3, 500)}
    )
    for method in ("tsit5", "rodas4", "radau"):
        options = {"until": {"x": {"rises_to": 50.0}}, "method": method, **OPTIONS}
        sol, here = pole.solve(results_on_gpu=True, **options), pole.solve(**options)
        assert np.array_equal(sol.status, here.status) and np.array_equal(sol.t, here.t)
        assert np.array_equal(torch.from_dlpack(sol.y).cpu().numpy(), here.y, equal_nan=True)
        assert len(sol.summary()) > 1, sol


@check
def ignitions_of_a_mechanism_stay():
    torch = library("torch")
    gas = od.Mechanism("mechanisms/hydrogen-burke-2012.yaml")
    mixtures = gas.reactor("constant volume").sweep(
        T=np.linspace(1000, 1600, 40), phi=np.linspace(0.5, 2, 40), fuel="H2", oxidizer="O2:1, N2:3.76"
    )
    options = {"rtol": 1e-8, "atol": 1e-14, "method": "rodas4", "device": "cuda", "until": {"T": {"rises_by": 400}}}
    sol, here = mixtures.solve((0, 0.1), results_on_gpu=True, **options), mixtures.solve((0, 0.1), **options)
    assert np.array_equal(sol.t, here.t) and "terminal event" in sol.summary()
    assert np.array_equal(torch.from_dlpack(sol["T"]).cpu().numpy(), here["T"])


@check
def a_copy_waits_for_work_on_other_streams():
    torch, sol = library("torch"), lorenz().solve((0, 1), results_on_gpu=True, **OPTIONS)
    x, states = torch.from_dlpack(sol.states), sol.to_host().states
    y = torch.randn(8192, 8192, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(60):
            y = y @ y
            y = y / y.norm()
        x.mul_(0.5)
    assert np.array_equal(sol.to_host().states, 0.5 * states)


@check
def memory_is_used_again_only_after_work_on_other_streams():
    torch = library("torch")
    runs = lorenz(100_000)
    wanted = runs.solve((0, 0.1), **OPTIONS).states
    sol = runs.solve((0, 0.1), results_on_gpu=True, **OPTIONS)
    x, y = torch.from_dlpack(sol.states), torch.randn(8192, 8192, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(60):
            y = y @ y
            y = y / y.norm()
        x.fill_(7.0)
    del x, sol
    gc.collect()
    again = runs.solve((0, 0.1), results_on_gpu=True, **OPTIONS)
    torch.cuda.synchronize()
    assert np.array_equal(again.to_host().states, wanted)


@check
def the_memory_outlives_the_solution():
    torch, sol = library("torch"), lorenz().solve((0, 1), results_on_gpu=True, **OPTIONS)
    x, states = torch.from_dlpack(sol.y), sol.to_host().y
    del sol
    gc.collect()
    for _ in range(3):
        lorenz().solve((0, 0.1), **OPTIONS)
    assert np.array_equal(x.cpu().numpy(), states)


@check
def cupy_and_numba_see_the_states():
    cupy, sol = library("cupy"), lorenz(1000).solve((0, 1), results_on_gpu=True, **OPTIONS)
    assert np.array_equal(cupy.asnumpy(cupy.from_dlpack(sol.y)), sol.to_host().y)
    library("numba")
    from numba import cuda

    assert np.array_equal(cuda.as_cuda_array(sol.states).copy_to_host(), sol.to_host().states)


@check
def jax_sees_the_states():
    options = {"precision": "f32", "device": "cuda", "rtol": 1e-4, "atol": 1e-4}
    jax, sol = library("jax"), lorenz(1000).solve((0, 1), results_on_gpu=True, **options)
    assert np.array_equal(np.asarray(jax.dlpack.from_dlpack(sol.states)), sol.to_host().states)


@check
def single_precision_stays_single():
    torch = library("torch")
    sol = lorenz(1000).solve((0, 1), results_on_gpu=True, precision="f32", device="cuda", rtol=1e-4, atol=1e-4)
    x = torch.from_dlpack(sol.y)
    assert x.dtype == torch.float32 and np.array_equal(x.cpu().numpy(), sol.to_host().y)


@check
def what_cannot_be_is_refused():
    refused(lambda: lorenz(10).solve((0, 1), results_on_gpu=True, device="cuda:0,1"), "device", "one GPU")
    refused(lambda: lorenz(10).solve((0, 1), results_on_gpu=True), "device", "cuda:0")
    try:
        (lorenz(1000) * 40_000_000).solve((0, 1), results_on_gpu=True, **OPTIONS)
        raise AssertionError("memory for 4e10 systems")
    except (od.InputError, od.DeviceError) as error:
        print(f"     {error}")


@check
def what_it_takes():
    for results_on_gpu in (False, True):
        took = []
        for _ in range(5):
            begun = time.perf_counter()
            sol = lorenz().solve((0, 1), results_on_gpu=results_on_gpu, **OPTIONS)
            took.append(1e3 * (time.perf_counter() - begun))
            del sol
        times = ", ".join(f"{t:.1f}" for t in took)
        print(f"     a million Lorenz systems, results on the GPU {results_on_gpu}: {times} ms")


if __name__ == "__main__":
    raise SystemExit(run())
