"""From Python: Odeum beside SciPy, NumbaLSODA, heyoka.py, diffrax and Cantera, on this machine.

    pip install . scipy numbalsoda heyoka diffrax cantera
    python validation/python_speed.py [--threads 1]

One table for each problem: time per system, the error at the end against a reference of tolerance 1e-13 (the 95th
percentile over the systems of the largest relative error of a component), the ratio to Odeum. Every peer gets the same
systems and the same tolerances; those that integrate one system at a time do so for as many as take some seconds. What
is not installed is left out, and said.
"""

import argparse
import os
import time
import warnings

# Peers that take all threads unless told are told.
PARSER = argparse.ArgumentParser(description=__doc__.splitlines()[0])
PARSER.add_argument("--threads", type=int, default=1)
PARSER.add_argument("--systems", type=int, default=20_000)
ARGS = PARSER.parse_args()
if ARGS.threads == 1:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import numpy as np  # noqa: E402
from scipy.integrate import solve_ivp  # noqa: E402

import odeum as od  # noqa: E402

RTOL, ATOL = 1e-6, 1e-9


def lorenz(t, y, sigma, rho, beta):
    return [sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]]


def robertson(t, y, k1, k2, k3):
    slow, fast, back = k1 * y[0], k2 * y[1] * y[1], k3 * y[1] * y[2]
    return [back - slow, slow - back - fast, fast]


class Problem:
    """A right-hand side, a span, initial states [M, n] and parameters [M, m]."""

    def __init__(self, name, f, end, y0, params, methods):
        self.name, self.f, self.end, self.y0, self.params, self.methods = name, f, end, y0, params, methods


def problems(systems):
    draw = np.random.default_rng(1)
    y0 = np.array([1.0, 1.0, 20.0]) + draw.normal(size=(systems, 3))
    params = np.array([10.0, 28.0, 8 / 3]) * (1 + 0.05 * draw.normal(size=(systems, 3)))
    # Short enough that errors of the tolerance's size do not grow by the chaos.
    yield Problem(
        "Lorenz, t = 0 to 2", lorenz, 2.0, y0, params, {"odeum": "tsit5", "scipy": ["RK45", "LSODA"]}
    )
    y0 = np.tile([1.0, 0.0, 0.0], (systems, 1))
    params = np.array([0.04, 3e7, 1e4]) * (1 + 0.05 * draw.normal(size=(systems, 3)))
    yield Problem(
        "Robertson, t = 0 to 1e5",
        robertson,
        1e5,
        y0,
        params,
        {"odeum": "rodas4", "scipy": ["Radau", "BDF", "LSODA"]},
    )


def timed(call):
    """The shorter of two runs, what was prepared before not counted."""
    times = []
    for _ in range(2):
        began = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - began)
    return min(times), result


def by_odeum(problem, method=None, rtol=RTOL, atol=ATOL):
    options = {
        "method": method or problem.methods["odeum"],
        "rtol": rtol,
        "atol": atol,
        "threads": ARGS.threads,
    }
    args = tuple(problem.params.T)

    def run():
        result = od.solve_ivp(problem.f, (0.0, problem.end), problem.y0, args=args, **options)
        assert result.success.all(), result.solution.summary()
        return result.y[:, :, -1]

    run()
    return timed(run)


def by_scipy(problem, method, count):
    def run():
        return np.array(
            [
                solve_ivp(
                    problem.f,
                    (0, problem.end),
                    problem.y0[s],
                    method,
                    args=tuple(problem.params[s]),
                    rtol=RTOL,
                    atol=ATOL,
                ).y[:, -1]
                for s in range(count)
            ]
        )

    return timed(run)


def by_numbalsoda(problem, count):
    import numba
    from numbalsoda import lsoda, lsoda_sig

    rhs = numba.njit(problem.f)

    @numba.cfunc(lsoda_sig)
    def f(t, y, dydt, p):
        y_, p_ = numba.carray(y, (3,)), numba.carray(p, (3,))
        result = rhs(t, y_, p_[0], p_[1], p_[2])
        for i in range(3):
            dydt[i] = result[i]

    address, times = f.address, np.array([0.0, problem.end])

    @numba.njit
    def loop(y0, params):
        ends = np.empty_like(y0)
        for s in range(len(y0)):
            solved, _ = lsoda(address, y0[s], times, params[s], rtol=RTOL, atol=ATOL)
            ends[s] = solved[-1]
        return ends

    y0, params = np.ascontiguousarray(problem.y0[:count]), np.ascontiguousarray(problem.params[:count])
    loop(y0[:1], params[:1])
    return timed(lambda: loop(y0, params))


def by_heyoka(problem, count):
    import heyoka

    states = heyoka.make_vars("a", "b", "c")
    system = list(zip(states, problem.f(0.0, states, *[heyoka.par[j] for j in range(3)]), strict=True))
    # Two systems a pass and more: what the processor's lanes hold.
    width = heyoka.recommended_simd_size()
    count -= count % width
    ta = heyoka.taylor_adaptive_batch(system, np.zeros((3, width)), pars=np.zeros((3, width)), tol=RTOL)

    def run():
        ends = np.empty((count, 3))
        for first in range(0, count, width):
            ta.set_time(0.0)
            ta.state[:] = problem.y0[first : first + width].T
            ta.pars[:] = problem.params[first : first + width].T
            ta.propagate_until(problem.end)
            ends[first : first + width] = ta.state.T
        return ends

    return timed(run)


def by_diffrax(problem, count, stiff):
    import diffrax
    import jax

    jax.config.update("jax_enable_x64", True)

    def f(t, y, p):
        return jax.numpy.stack(problem.f(t, y, p[0], p[1], p[2]))

    solver = diffrax.Kvaerno5() if stiff else diffrax.Tsit5()

    def one(y0, p):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(f),
            solver,
            0.0,
            problem.end,
            1e-6,
            y0,
            args=p,
            stepsize_controller=diffrax.PIDController(rtol=RTOL, atol=ATOL),
            max_steps=100_000,
            saveat=diffrax.SaveAt(t1=True),
        ).ys[0]

    run = jax.jit(jax.vmap(one))
    y0, params = problem.y0[:count], problem.params[:count]
    run(y0, params).block_until_ready()
    return timed(lambda: np.asarray(run(y0, params)))


def rows(problem):
    stiff = problem.methods["odeum"] != "tsit5"
    few = 50 if stiff else 100
    yield f"odeum {problem.methods['odeum']}", lambda: by_odeum(problem)
    if not stiff:
        yield "odeum vern7", lambda: by_odeum(problem, "vern7")
    for method in problem.methods["scipy"]:
        yield f"SciPy {method}, a loop", lambda method=method: by_scipy(problem, method, few)
    yield "NumbaLSODA, a compiled loop", lambda: by_numbalsoda(problem, 2000)
    if not stiff:
        yield "heyoka.py, batches in lanes", lambda: by_heyoka(problem, 2000)
    yield f"diffrax {'Kvaerno5' if stiff else 'Tsit5'}, vmap", lambda: by_diffrax(problem, 2000, stiff)


def chemistry(count=2000, few=100, dt=1e-5):
    """The cells of a flow code over one time step, from a cold start: hydrogen and air on the way to ignition."""
    import cantera as ct

    path = "mechanisms/hydrogen-burke-2012.yaml"
    gas, theirs = od.Mechanism(path), ct.Solution(path)
    draw = np.random.default_rng(2)
    T0 = draw.uniform(1200.0, 1600.0, count)
    Y0 = gas.at_equivalence_ratio(draw.uniform(0.5, 2.0, count), "H2", "O2:1, N2:3.76")

    def advance(rtol, atol, ages, threads=ARGS.threads):
        """Temperatures and mass fractions after `dt`, of cells that begin at these."""
        T, Y = ages[0].copy(), ages[1].copy()
        cells = gas.integrator("constant pressure", cells=len(T), rtol=rtol, atol=atol, threads=threads)
        status = cells.advance(T, od.atm, Y, dt)
        assert not status.any()
        return np.column_stack([T, Y])

    # Some way towards ignition, where radicals are about.
    aged = advance(1e-10, 1e-16, (T0, Y0))
    start = aged[:, 0], aged[:, 1:]
    reference = advance(1e-11, 1e-18, start)

    def by_networks():
        ends = np.empty((few, aged.shape[1]))
        for s in range(few):
            theirs.TPY = start[0][s], od.atm, start[1][s]
            reactor = ct.IdealGasConstPressureReactor(theirs, clone=False)
            network = ct.ReactorNet([reactor])
            network.rtol, network.atol = RTOL, 1e-10
            network.advance(dt)
            ends[s] = [reactor.T, *reactor.phase.Y]
        return ends

    yield "odeum Integrator, rodas4", lambda: timed(lambda: advance(RTOL, 1e-10, start)), reference
    yield "Cantera ReactorNet, a loop", lambda: timed(by_networks), reference


def main():
    warnings.filterwarnings("ignore")
    print(f"{ARGS.threads} thread(s), rtol {RTOL:g}, atol {ATOL:g}, {ARGS.systems} systems")
    for problem in problems(ARGS.systems):
        _, reference = by_odeum(problem, "rodas5p" if "Rob" in problem.name else "vern7", 1e-13, 1e-17)
        table(problem.name, [(name, call, reference) for name, call in rows(problem)])
    try:
        import cantera  # noqa: F401
    except ImportError:
        print("\nCantera is not installed")
    else:
        table("Hydrogen and air at 1 atm over 1e-5 s", chemistry())


def table(title, all_rows):
    print(f"\n{title}\n{'':30} {'us per system':>14} {'error':>9} {'times odeum':>12}")
    first = None
    for name, call, reference in all_rows:
        try:
            seconds, ends = call()
        except ImportError as error:
            print(f"{name:30} not installed ({error.name})")
            continue
        each = seconds / len(ends) * 1e6
        wanted = reference[: len(ends)]
        # Traces count by what they are of the whole.
        error = np.max(np.abs(ends - wanted) / (np.abs(wanted) + 1e-6 * np.max(np.abs(wanted))), axis=1)
        first = first or each
        print(f"{name:30} {each:14.3f} {np.percentile(error, 95):9.1e} {each / first:12.1f}")


if __name__ == "__main__":
    main()
