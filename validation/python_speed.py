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
import warnings

# Peers that take all threads unless told are told.
PARSER = argparse.ArgumentParser(description=__doc__.splitlines()[0])
PARSER.add_argument("--threads", type=int, default=1)
PARSER.add_argument("--systems", type=int, default=20_000)
ARGS = PARSER.parse_args()
if ARGS.threads == 1:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import numpy as np  # noqa: E402
from peers import ATOL, RTOL, diffrax_run, error, odeum_run, problems, reference, timed  # noqa: E402
from scipy.integrate import solve_ivp  # noqa: E402

import odeum as od  # noqa: E402


def by_odeum(problem, method=None):
    run = odeum_run(problem, method, threads=ARGS.threads)
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
    # Two systems a pass and more: what the CPU's lanes hold.
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


def by_diffrax(problem, count):
    run = diffrax_run(problem.first(count))
    run()
    return timed(run)


def rows(problem):
    few = 50 if problem.stiff else 100
    yield f"odeum {problem.odeum}", lambda: by_odeum(problem)
    if not problem.stiff:
        yield "odeum vern7", lambda: by_odeum(problem, "vern7")
    for method in ["Radau", "BDF", "LSODA"] if problem.stiff else ["RK45", "LSODA"]:
        yield f"SciPy {method}, a loop", lambda method=method: by_scipy(problem, method, few)
    yield "NumbaLSODA, a compiled loop", lambda: by_numbalsoda(problem, 2000)
    if not problem.stiff:
        yield "heyoka.py, batches in lanes", lambda: by_heyoka(problem, 2000)
    yield f"diffrax {problem.diffrax}, vmap", lambda: by_diffrax(problem, 2000)


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
        wanted = reference(problem)
        table(problem.name, [(name, call, wanted) for name, call in rows(problem)])
    try:
        import cantera  # noqa: F401
    except ImportError:
        print("\nCantera is not installed")
    else:
        table("Hydrogen and air at 1 atm over 1e-5 s", chemistry())


def table(title, all_rows):
    print(f"\n{title}\n{'':30} {'us per system':>14} {'error':>9} {'times odeum':>12}")
    first = None
    for name, call, wanted in all_rows:
        try:
            seconds, ends = call()
        except ImportError as missing:
            print(f"{name:30} not installed ({missing.name})")
            continue
        each = seconds / len(ends) * 1e6
        first = first or each
        print(f"{name:30} {each:14.3f} {error(ends, wanted[: len(ends)]):9.1e} {each / first:12.1f}")


if __name__ == "__main__":
    main()
