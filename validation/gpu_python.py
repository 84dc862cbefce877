"""From Python on a GPU: what `device="cuda"` gives beside the CPU.

    pip install ".[cuda]"
    python validation/gpu_python.py --mechanism mechanisms/hydrogen-burke-2012.yaml

Prints PASS or FAIL for each check, goes on after a failure, and exits with 1 if anything failed. `--only WORD` runs the
checks whose names contain it; `--device cpu` tries the script itself.
"""

import argparse
import time

import numpy as np
from checking import check, refused, run

import odeum as od

PARSER = argparse.ArgumentParser(description=__doc__.splitlines()[0])
PARSER.add_argument("--mechanism", default="mechanisms/hydrogen-burke-2012.yaml")
PARSER.add_argument("--device", default="cuda")
PARSER.add_argument("--only", default="")
PARSER.add_argument("--cells", type=int, nargs="*", default=[100_000, 1_000_000], help="of the timings")
ARGS = PARSER.parse_args()
DEVICE = ARGS.device


def close(found, expected, rtol, atol, factor=20.0):
    """Both were integrated with these tolerances: they differ by no more than small multiples of them."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, f"shape {found.shape}, expected {expected.shape}"
    distance = np.abs(found - expected) / (atol + rtol * np.abs(expected))
    worst = float(distance.max(initial=0.0))
    assert np.isfinite(found).all() and worst <= factor, f"{worst:.3g} times the tolerance apart"
    return f"{worst:.2g} times the tolerance apart"


# Ensembles


def van_der_pol(t, y, mu):
    x, v = y
    return [v, mu * (1 - x**2) * v - x]


def both(runs, span, **options):
    """The same on the GPU and on the CPU."""
    gpu, cpu = (runs.solve(span, device=device, **options) for device in (DEVICE, "cpu"))
    gpu.raise_if_failed()
    cpu.raise_if_failed()
    said = close(gpu.y, cpu.y, options["rtol"], options["atol"])
    if options.get("save"):
        close(gpu.saved, cpu.saved, options["rtol"], options["atol"])
    return f"{len(gpu.y.reshape(-1, gpu.y.shape[-1])):,} systems, {said}"


@check
def solve_traced_function_explicit():
    vdp = od.System(van_der_pol, states={"x": 2.0, "v": 0.0}, parameters={"mu": 1.0})
    runs = vdp.sweep(mu=np.linspace(0.1, 2, 100), x=np.linspace(-2, 2, 51))
    return both(runs, (0, 3), rtol=1e-6, atol=1e-8, save=[1.0, 2.0])


@check
def solve_traced_function_stiff():
    vdp = od.System(van_der_pol, states={"x": 2.0, "v": 0.0}, parameters={"mu": 1.0})
    runs = vdp.sweep(mu=np.geomspace(10, 1000, 1000))
    # On the slow branch, before the first jump.
    return both(runs, (0, 5), method="rodas5p", rtol=1e-6, atol=1e-8)


@check
def solve_text():
    text = od.System.from_text(
        {"a": "-k * a + 0.1 * b * sin(t)", "b": "k * a - b"},
        states={"a": 1.0, "b": 0.0},
        parameters={"k": 1.0},
    )
    runs = text.sweep(k=np.geomspace(0.1, 100, 2000))
    first = both(runs, (0, 2), rtol=1e-7, atol=1e-9)
    return f"{first}; radau: {both(runs, (0, 2), method='radau', rtol=1e-7, atol=1e-9)}"


@check
def solve_built_in_problems():
    said = []
    for name, span, options in (
        ("lorenz", (0.0, 1.0), {"method": "tsit5"}),
        ("lorenz", (0.0, 1.0), {"method": "vern7"}),
        ("robertson", (0.0, 100.0), {"method": "rodas4"}),
        ("robertson", (0.0, 100.0), {"method": "radau"}),
    ):
        runs = od.System.problem(name).perturb("parameters", relative=0.01) * 1000
        said.append(f"{name} by {options['method']}: " + both(runs, span, rtol=1e-6, atol=1e-9, **options))
    return "; ".join(said)


@check
def solve_single_precision():
    runs = od.System.problem("lorenz").perturb("states", absolute=0.1) * 1000
    options = {"rtol": 1e-4, "atol": 1e-4, "precision": "f32"}
    return both(runs, (0, 0.5), **options)


@check
def solve_failures_are_data():
    runs = od.System.from_text({"x": "x^2"}, states={"x": 1.0}).sweep(x=[0.1, 0.5, 2.0])
    sol = runs.solve((0, 1), rtol=1e-8, atol=1e-10, device=DEVICE)
    assert sol.failed.tolist() == [False, False, True], sol.failed
    again = sol.retry(method="vern7")
    assert again.failed.tolist() == [False, False, True], again.failed
    return str(sol["x"])


@check
def solve_ivp_batch():
    def decay(t, y, k):
        return -k * y

    y0 = np.random.default_rng(0).uniform(1, 2, size=(1000, 3))
    k = np.linspace(0.5, 50, 1000)
    options = {"args": (k,), "t_eval": [0.5, 1.0], "rtol": 1e-8, "atol": 1e-10}
    said = []
    for method in ("RK45", "Radau"):
        gpu, cpu = (od.solve_ivp(decay, (0, 1), y0, method, device=d, **options) for d in (DEVICE, "cpu"))
        assert gpu.success.all() and gpu.y.shape == (1000, 3, 2)
        said.append(f"{method}: {close(gpu.y, cpu.y, 1e-8, 1e-10)}")
    return "; ".join(said)


# Chemistry

GAS = od.Mechanism(ARGS.mechanism)
TOLERANCES = {"rtol": 1e-6, "atol": 1e-10}


def mixture(cells):
    """Temperatures [cells], mass fractions [cells, species], of hydrogen and air on the way to ignition."""
    T = np.linspace(900.0, 1600.0, cells)
    phi = np.linspace(0.5, 1.5, cells)
    fresh = GAS.at_equivalence_ratio(phi, "H2", "O2:1, N2:3.76")
    return T, np.array(np.broadcast_to(fresh, (cells, GAS.n_species)))


@check
def reactors():
    runs = GAS.reactor("constant volume").sweep(
        T=np.linspace(1000, 1400, 20),
        p=np.geomspace(1, 10, 10) * od.atm,
        phi=[1.0],
        fuel="H2",
        oxidizer="O2:1, N2:3.76",
    )
    options = {"by": od.rise("T", 400), "until": 0.1, "rtol": 1e-8, "atol": 1e-15}
    gpu, cpu = (runs.ignition_delay(device=device, **options) for device in (DEVICE, "cpu"))
    assert bool(gpu.notnull().all())
    return "ignition delays: " + close(gpu.values, cpu.values, 1e-6, 0.0)


def march(device, kind, method, T, p, Y, calls=5, dt=2e-6):
    chem = GAS.integrator(kind, cells=len(T), device=device, method=method, **TOLERANCES)
    for _ in range(calls):
        status = np.asarray(chem.advance(T, p, Y, dt))
        assert not status.any(), f"{np.count_nonzero(status)} cells failed"
    return chem


def apart(found, expected):
    """Temperature, pressure and mass fractions of a march beside another's."""
    (T, p, Y), (T1, p1, Y1) = found, expected
    said = [close(T, T1, 1e-6, 1e-3), close(p, p1, 1e-6, 1e-3), close(Y, Y1, 1e-6, 1e-8)]
    return f"T: {said[0]}; p: {said[1]}; Y: {said[2]}"


def on_cpu(kind, method, cells, order="C"):
    T, Y = mixture(cells)
    p = np.full(cells, od.atm)
    Y = np.asarray(Y, order=order)
    march("cpu", kind, method, T, p, Y)
    return T, p, Y


@check
def integrator_numpy():
    said = []
    for kind, method in (("constant pressure", "rodas4"), ("constant volume", "radau")):
        T, Y = mixture(1000)
        p = np.full(1000, od.atm)
        chem = march(DEVICE, kind, method, T, p, Y)
        assert chem.stats["steps"].min() > 0
        said.append(f"{kind}, {method}: {apart((T, p, Y), on_cpu(kind, method, 1000))}")
    return "; ".join(said)


@check
def integrator_numpy_strides():
    T, Y = mixture(500)
    p = np.full(500, od.atm)
    wide_T, wide_Y = np.full(1000, -1.0), np.full((2 * GAS.n_species, 500), -1.0)
    wide_T[::-2], wide_Y[1::2] = T, Y.T
    march(DEVICE, "constant volume", "rodas4", wide_T[::-2], p, wide_Y[1::2])
    assert (wide_T[::2] == -1.0).all() and (wide_Y[::2] == -1.0).all(), "written beside the array"
    return apart((wide_T[::-2], p, wide_Y[1::2].T), on_cpu("constant volume", "rodas4", 500))


@check
def integrator_numpy_failures():
    T, Y = mixture(10)
    T[3] = 1.0
    Y[5, 0] = -1.0
    before = T.copy(), Y.copy()
    chem = GAS.integrator("constant pressure", cells=10, device=DEVICE)
    status = chem.advance(T, od.atm, Y, 1e-6)
    assert np.flatnonzero(status).tolist() == [3, 5], status
    assert T[3] == before[0][3] and (Y[5] == before[1][5]).all() and (T[:3] != before[0][:3]).all()
    T[2] = np.nan
    refused(lambda: chem.advance(T, od.atm, Y, 1e-6), "T[2]", "NaN")
    return [od.STATUSES[k].name for k in (status[3], status[5])]


# Fields


def gray_scott(c, F, k):
    rate = c.u * c.v**2
    return {"u": 0.2 * c.lap.u - rate + F * (1 - c.u), "v": 0.1 * c.lap.v + rate - (F + k) * c.v}


def simulation(device, **options):
    model = od.Model(gray_scott, parameters={"F": 0.04, "k": 0.06})
    u, v = np.ones((20, 24, 32)), np.zeros((20, 24, 32))
    u[8:12, 8:14, 8:20], v[8:12, 8:14, 8:20] = 0.5, 0.25
    return od.Simulation(model, {"u": u, "v": v}, spacing=1.0, device=device, **options)


@check
def field_methods():
    said = []
    for options in (
        {"method": "rkc", "tolerance": 1e-5, "boundary": "periodic"},
        {"method": "euler", "step": 0.1},
        {"method": "ssprk3", "step": "stable", "velocity": [0.1, 0.0, 0.05]},
        {"method": "rkl2", "stages": 5, "step": 0.5, "boundary": {"x": "periodic", "y_low": {"value": 1.0}}},
    ):
        gpu, cpu = simulation(DEVICE, **options), simulation("cpu", **options)
        for sim in (gpu, cpu):
            times = [float(state.t) for state in sim.run(until=20, every=10)]
            assert times[-1] == 20.0, times
        for name in ("u", "v"):
            word = close(gpu.arrays[name], cpu.arrays[name], 1e-8, 1e-8)
        said.append(f"{options['method']}: {word} (1e-8)")
        assert abs(gpu.summary().u.mass / cpu.summary().u.mass - 1) < 1e-8
    return "; ".join(said)


def unstable(device):
    # The limit falls as u grows: 1/(12 u²) of h²/4.
    model = od.Model({"u": "lap(u^3) + u"})
    start = {"u": {"value": 0.2, "noise": 0.1}}
    sim = od.Simulation(
        model, start, shape={"x": 16, "y": 16}, spacing=1.0, stencil="star", step=0.05, device=device
    )
    sim.advance(0.5)
    good = sim.arrays["u"]
    try:
        sim.advance_to(50.0)
        raise AssertionError("went on although its steps are not stable")
    except od.SimulationError as error:
        assert error.t > sim.t == 0.5 and "stable" in error.remedy, (error.t, sim.t, error.remedy)
    assert (sim.arrays["u"] == good).all(), "does not stand at the last good state"
    assert sim.summary().u.max < 10 and sim.step_limit > 0.05
    sim.advance_to(0.75)
    return sim.arrays["u"]


@check
def field_goes_back_when_a_step_is_unstable():
    return close(unstable(DEVICE), unstable("cpu"), 1e-10, 1e-12)


@check
def field_not_finite():
    def pole(device):
        model = od.Model({"w": "lap(w)", "u": "u^2"})
        start = {"w": 1.0, "u": 1.0}
        options = {"shape": {"x": 4}, "spacing": 1.0, "method": "euler", "step": 0.125, "force": True}
        sim = od.Simulation(model, start, device=device, **options)
        try:
            sim.advance(1e3)
            raise AssertionError("went through a pole")
        except od.SimulationError as error:
            assert error.species == "u" and error.t == sim.t > 1.0, (error.species, error.t, sim.t)
        assert np.isfinite(sim.arrays["u"]).all()
        return sim.arrays["u"]

    return close(pole(DEVICE), pole("cpu"), 1e-10, 0.0)


# Timing of split codes


def cells_per_second(make, cells, calls=3):
    """Over calls after the first, which compiles."""
    T, p, Y = make(cells)
    chem = GAS.integrator("constant pressure", cells=cells, device=DEVICE, **TOLERANCES)
    seconds = []
    for _ in range(calls + 1):
        begun = time.perf_counter()
        status = chem.advance(T, p, Y, 1e-6)
        seconds.append(time.perf_counter() - begun)
        assert not np.asarray(status).any()
    return cells * calls / sum(seconds[1:])


def in_numpy(cells):
    T, Y = mixture(cells)
    return T, od.atm, Y


@check
def timing_numpy():
    return "; ".join(f"{n:,} cells: {cells_per_second(in_numpy, n):.3g} cells/s" for n in ARGS.cells)


if __name__ == "__main__":
    raise SystemExit(run(ARGS.only))
