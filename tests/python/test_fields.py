"""Fields against solutions that nobody here wrote: SciPy, exact discrete ones, conservation."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import odeum as od

SCHNAKENBERG = {"u": "Du * lap(u) + a - u + u^2 * v", "v": "Dv * lap(v) + b - u^2 * v"}
VALUES = {"Du": 0.05, "Dv": 1.0, "a": 0.1, "b": 0.9}


def padded(field, periodic):
    return np.pad(field, 1, mode="wrap" if periodic else "edge")


def star(field, h, periodic):
    """The Laplacian of nearest cells along every axis."""
    wide = padded(field, periodic)
    inner = (slice(1, -1),) * field.ndim
    total = -2 * field.ndim * wide[inner]
    for axis in range(field.ndim):
        total = total + np.roll(wide, 1, axis)[inner] + np.roll(wide, -1, axis)[inner]
    return total / h**2


def reference(start, h, periodic, t):
    """Schnakenberg's equations by the method of lines and SciPy."""

    def f(_, y):
        u, v = y.reshape(2, *start[0].shape)
        r = u**2 * v
        du = VALUES["Du"] * star(u, h, periodic) + VALUES["a"] - u + r
        dv = VALUES["Dv"] * star(v, h, periodic) + VALUES["b"] - r
        return np.concatenate([du.ravel(), dv.ravel()])

    y0 = np.concatenate([part.ravel() for part in start])
    solved = solve_ivp(f, (0, t), y0, method="DOP853", rtol=1e-10, atol=1e-12)
    return solved.y[:, -1].reshape(2, *start[0].shape)


@pytest.mark.parametrize("shape", [(24,), (10, 12)])
@pytest.mark.parametrize("boundary", ["periodic", "no flux"])
def test_reaction_and_diffusion_agree_with_scipy(shape, boundary):
    rng = np.random.default_rng(3)
    start = [1.0 + 0.1 * rng.random(shape), 0.9 + 0.1 * rng.random(shape)]
    model = od.Model(SCHNAKENBERG, VALUES)
    sim = od.Simulation(
        model,
        {"u": start[0], "v": start[1]},
        spacing=0.3,
        boundary=boundary,
        stencil="star",
        method="ssprk3",
        step=1e-3,
    )
    sim.advance_to(0.8)
    wanted = reference(start, 0.3, boundary == "periodic", 0.8)
    for name, values in zip("uv", wanted, strict=True):
        np.testing.assert_allclose(sim.arrays[name].reshape(shape), values, rtol=1e-8)


def test_adaptive_steps_agree_with_scipy():
    start = [1.0 + 0.1 * np.cos(np.arange(20)), np.full(20, 0.9)]
    model = od.Model(SCHNAKENBERG, VALUES)
    options = {"spacing": 0.3, "method": "rkc", "tolerance": {"rtol": 1e-7, "atol": 1e-9}}
    sim = od.Simulation(model, {"u": start[0], "v": start[1]}, **options)
    sim.advance_to(2.0)
    np.testing.assert_allclose(sim.arrays["u"][0, 0], reference(start, 0.3, False, 2.0)[0], rtol=3e-6)


@pytest.mark.parametrize(("precision", "rtol"), [("f64", 1e-12), ("f32", 1e-4)])
def test_a_cosine_decays_as_its_discrete_eigenvalue_says(precision, rtol):
    n, h, step = 40, 1 / 40, 2e-4
    x = (np.arange(n) + 0.5) * h
    sim = od.Simulation(
        od.Model({"u": "lap(u)"}), {"u": np.cos(np.pi * x)}, spacing=h, step=step, precision=precision
    )
    sim.advance_to(500 * step)
    eigenvalue = (2 * np.cos(np.pi * h) - 2) / h**2
    wanted = (1 + step * eigenvalue) ** 500 * np.cos(np.pi * x)
    assert sim.steps == 500
    assert sim.arrays["u"].dtype == {"f64": np.float64, "f32": np.float32}[precision]
    assert sim.arrays["u"].shape == (1, 1, n)
    np.testing.assert_allclose(sim.arrays["u"][0, 0], wanted, rtol=rtol, atol=rtol * 1e-1)


def test_masses_are_conserved_with_a_mask_and_a_velocity():
    rng = np.random.default_rng(0)
    u = rng.random((9, 8, 10))
    z, y, x = np.meshgrid(np.arange(9), np.arange(8), np.arange(10), indexing="ij")
    mask = (x - 4) ** 2 + (y - 4) ** 2 + (z - 4) ** 2 < 16
    options = {"spacing": 0.1, "boundary": "periodic", "mask": mask}
    sim = od.Simulation(od.Model({"u": "0.01 * lap(u)"}), {"u": u}, velocity=[0.1, 0.0, -0.05], **options)
    sim.advance_to(0.5)
    sums = sim.summary().u
    assert sums.start_mass == pytest.approx(u[mask].sum() * 1e-3, rel=1e-13)
    assert sums.mass == pytest.approx(sums.start_mass, rel=1e-12)
    after = sim.arrays["u"]
    assert np.array_equal(after[~mask], u[~mask])
    assert not np.allclose(after[mask], u[mask])
    assert np.array_equal(sim.mask, mask)
    assert sums.max == after[mask].max() and sums.min == after[mask].min()
    assert sums.mean == pytest.approx(after[mask].mean(), rel=1e-13)


def test_arrays_of_velocity_and_diffusion_do_what_constants_do():
    u = np.random.default_rng(1).random((6, 7))
    box = {"spacing": 0.5, "stencil": "star", "boundary": "open", "step": 0.01}
    velocity = np.full((6, 7), 0.3)
    said = od.Simulation(od.Model({"u": "0.2 * lap(u)"}), {"u": u}, velocity=[0.3, -0.1, 0], **box)
    given = od.Simulation(
        od.Model({"u": "0"}),
        {"u": u},
        velocity={"cells": [velocity, -velocity / 3, 0], "advection": "upwind"},
        diffusion={"u": np.full((6, 7), 0.2)},
        **box,
    )
    for sim in (said, given):
        sim.advance_to(0.4)
    np.testing.assert_allclose(given.arrays["u"], said.arrays["u"], rtol=1e-12)


def test_a_source_adds_what_it_says():
    sources = [{"species": "u", "rate": "k", "box": {"from": [0, 0, 0], "to": [1, 1, 1]}}]
    model = od.Model({"u": "lap(u)"}, {"k": np.float64(2.0)})
    sim = od.Simulation(model, {"u": 0.0}, shape={"x": 4, "y": 4}, spacing=0.5, sources=sources)
    sim.advance(0.25)
    assert sim.summary().u.mass == pytest.approx(2.0 * 0.25 * 1.0, rel=1e-12)


def test_single_arrays_start_as_they_are():
    u = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)
    sim = od.Simulation(od.Model({"u": "0"}), {"u": u}, spacing=1.0, step=0.1, precision="f32")
    assert np.array_equal(sim.arrays["u"][0], u)


def test_python_functions_become_models():
    trace = pytest.importorskip("odeum._trace")
    if not hasattr(trace, "trace_model"):
        pytest.skip("fields cannot be traced in this version")

    def schnakenberg(c, Du, Dv, a, b):
        r = c.u**2 * c.v
        return {"u": Du * c.lap.u + a - c.u + r, "v": Dv * c.lap.v + b - r}

    start = {"u": {"value": 1.0, "noise": 0.1}, "v": 0.9}
    options = {"shape": {"x": 12, "y": 9}, "spacing": 0.3, "step": 1e-3}
    ends = []
    for equations in (schnakenberg, SCHNAKENBERG):
        sim = od.Simulation(od.Model(equations, VALUES), start, **options)
        sim.advance_to(0.1)
        ends.append(sim.arrays["v"])
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-13)
    assert od.Model(schnakenberg, VALUES).title == "schnakenberg"


def test_built_in_problems_bring_their_start():
    sim = od.Simulation(od.Model.problem("turing"), shape={"x": 8, "y": 8}, seed=4)
    other = od.Simulation(od.Model.problem("turing"), shape={"x": 8, "y": 8}, seed=5)
    assert sim.species == ("u", "v")
    assert not np.array_equal(sim.arrays["u"], other.arrays["u"])
    sim.advance(0.01)
    assert sim.t == 0.01 and sim.steps > 0


def test_py_pde_agrees():
    pde = pytest.importorskip("pde", reason="py-pde is not installed")
    rng = np.random.default_rng(2)
    u = rng.random((12, 10))
    grid = pde.CartesianGrid([[0, 6], [0, 5]], [12, 10], periodic=True)
    equation = pde.PDE({"c": "0.3 * laplace(c) + c - c**3"})
    # Its first axis is x.
    end = equation.solve(pde.ScalarField(grid, u), t_range=0.2, dt=1e-3, solver="euler", backend="numpy")
    sim = od.Simulation(
        od.Model({"c": "0.3 * lap(c) + c - c^3"}),
        {"c": u.T},
        spacing=0.5,
        stencil="star",
        boundary="periodic",
        step=1e-3,
    )
    sim.advance_to(0.2)
    np.testing.assert_allclose(sim.arrays["c"][0].T, end.data, rtol=1e-11)
