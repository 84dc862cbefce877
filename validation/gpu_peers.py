"""From Python on one NVIDIA GPU: Odeum beside CuBIE and diffrax.

    pip install ".[cuda]" "cubie[cuda13]" diffrax "jax[cuda13]"
    python validation/gpu_peers.py [--systems 65536] [--only WORD]

Prints one table in Markdown: seconds of the first call, which compiles, and of the best of ten calls after it, from
arrays on the host to arrays on the host; systems a second; failed systems; the error at the end, the 95th percentile over
a sample of systems of the largest relative error of a component, against Odeum's at a tolerance of 1e-13. Double
precision. All get the same systems, tolerances and first step; what else they take is their default, but that CuBIE's
bounds of the step, 1e-6 and 1, leave room for these problems.

Each row runs in a process of its own: what is not installed, fails, crashes or takes longer than `--limit` seconds leaves
its reason in its row. `--device cpu --systems 4` with `NUMBA_ENABLE_CUDASIM=1` tries the script without a GPU.
"""

import argparse
import inspect
import multiprocessing
import os
import time
from importlib.metadata import version

import numpy as np
from peers import ATOL, RTOL, diffrax_run, error, odeum_run, problems, reference, timed

import odeum as od

SAMPLE = 1024


def by_odeum(problem, device):
    return f"Odeum {od.__version__}, `solve_ivp`", problem.odeum, odeum_run(problem, device=device)


def by_system(problem, device):
    """Traced before; a contiguous column for each state and parameter."""
    states = [f"y{i}" for i in range(problem.y0.shape[1])]
    names = list(inspect.signature(problem.f).parameters)[2:]
    system = od.System(problem.f, states=dict.fromkeys(states, 0.0), parameters=dict.fromkeys(names, 1.0))
    columns = np.hstack([problem.y0, problem.params]).T.copy()
    table = dict(zip([*states, *names], columns, strict=True))

    def run():
        runs = system(**table)
        ends = runs.solve((0.0, problem.end), method=problem.odeum, rtol=RTOL, atol=ATOL, device=device)
        return ends.raise_if_failed().y

    return "Odeum, a `System`", problem.odeum, run


def by_cubie(problem, device):
    """Its arrays are [n, M], and its parameters in the order of their names."""
    import cubie

    names = list(inspect.signature(problem.f).parameters)[2:]
    system = cubie.create_ODE_system(
        problem.f,
        precision=np.float64,
        parameters=dict.fromkeys(names, 1.0),
        swept_parameters=names,
    )
    method = problem.odeum
    solver = cubie.Solver(
        system, algorithm=method, rtol=RTOL, atol=ATOL, dt=1e-6, dt_min=1e-16, dt_max=problem.end
    )
    y0 = np.ascontiguousarray(problem.y0.T)
    rows = [names.index(name) for name in system.parameters.names]
    params = np.ascontiguousarray(problem.params.T[rows])

    # It gives the states at the beginning too, and NaN for systems that failed.
    return (
        f"CuBIE {cubie.__version__}",
        method,
        lambda: solver.solve(y0, params, duration=problem.end).state[-1].T,
    )


def by_diffrax(problem, device):
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax

    found = jax.default_backend()
    if device != "cpu" and found != "gpu":
        raise RuntimeError(f"JAX {jax.__version__} found no GPU but {found}")
    name = f"diffrax {version('diffrax')}, JAX {jax.__version__}, `vmap`"
    return name, problem.diffrax, diffrax_run(problem)


PEERS = {"odeum": by_odeum, "system": by_system, "cubie": by_cubie, "diffrax": by_diffrax}


def measure(peer, index, systems, device, pipe):
    """Sends a row's cells, or why there are none."""
    problem = list(problems(systems))[index]
    try:
        name, method, run = PEERS[peer](problem, device)
        began = time.perf_counter()
        run()
        first = time.perf_counter() - began
        seconds, ends = timed(run, 10)
        failed = np.count_nonzero(~np.isfinite(ends).all(axis=1))
        sample = problem.first(SAMPLE)
        wrong = error(ends[:SAMPLE], reference(sample))
        pipe.send(
            f"{name} | {method} | {first:.2f} | {seconds:.4f} | {systems / seconds:,.0f} | {failed} | {wrong:.1e}"
        )
    except Exception as reason:
        said = " ".join(f"{type(reason).__name__}: {reason}".split())
        pipe.send(f"{peer} | {said[:300].replace('|', '/')} | | | | |")


def row(*what, limit):
    """What `measure` says in a process of its own, which may end in any way."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=measure, args=(*what, theirs))
    process.start()
    theirs.close()
    peer = what[0]
    try:
        return ours.recv() if ours.poll(limit) else f"{peer} | longer than {limit:g} s | | | | |"
    except EOFError:
        process.join()
        return f"{peer} | ended with exit status {process.exitcode} | | | | |"
    finally:
        process.kill()
        process.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=65_536)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", default="", help="peers whose names contain this")
    parser.add_argument("--limit", type=float, default=200.0, help="seconds for a row")
    args = parser.parse_args()
    print(f"{args.systems:,} systems, rtol {RTOL:g}, atol {ATOL:g}, device {args.device}\n")
    print("| problem | code | method | first call [s] | then [s] | systems/s | failed | error |")
    print("|---|---|---|---|---|---|---|---|")
    for index, problem in enumerate(problems(1)):
        for peer in PEERS:
            if args.only in peer:
                cells = row(peer, index, args.systems, args.device, limit=args.limit)
                print(f"| {problem.name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
