"""Computes the reference solutions of the built-in problems, twice by independent means.

    python3 -m venv target/validation
    target/validation/bin/pip install -r validation/requirements.txt
    target/validation/bin/python validation/references.py [problem ...]

Each problem is integrated from the doubles the Rust program uses by two multiprecision methods
of different kind (``integrators.py``): power series and Gragg's extrapolation where it is not
stiff, Radau IIA collocation and extrapolation of the linearly implicit Euler method where it is.
The digits in which the two agree are the digits claimed. As a third opinion SciPy integrates in
double precision, and published values are compared where there are any.

The results go to ``validation/references.json`` (which the Rust tests read) and to
``crates/odeum-ode/src/problems/references.rs`` (which the library compiles). A run takes four
minutes, half of them for POLLU. With names given only those problems are computed again.
"""

import json
import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import integrators
from systems import PROBLEMS

HERE = Path(__file__).resolve().parent
JSON = HERE / "references.json"
RUST = HERE.parent / "crates/odeum-ode/src/problems/references.rs"

#: Methods and their tolerances in digits: first the one whose values are kept.
PLAIN = [("taylor", 24), ("gragg", 22)]
#: The end of this orbit has components of 1e-14 beside others of 1: relative digits need more.
ARENSTORF = [("taylor", 36), ("gragg", 34)]
STIFF = [("radau", 18), ("seulex", 16)]

SOURCE = {
    "taylor": "power series of order 30 and Gragg-Bulirsch-Stoer extrapolation of order 28, "
    "in multiprecision",
    "radau": "Radau IIA of order 21 and linearly implicit Euler extrapolation of order 18, "
    "in multiprecision",
}


def clean(values):
    """Components that are no part of the solution's 30 leading digits are zero."""
    floor = integrators.NEGLIGIBLE * max(integrators.magnitude(v) for v in values)
    return [v if integrators.magnitude(v) > floor else integrators.number(0) for v in values]


def agreement(ours, other):
    """Largest relative difference over the components that are not zero in ours."""
    worst = 0.0
    for a, b in zip(ours, other):
        if a != 0:
            worst = max(worst, integrators.magnitude(a - b) / integrators.magnitude(a))
    return worst


def digits(difference, most=16):
    return most if difference == 0 else max(0, min(most, math.floor(-math.log10(difference))))


def scipy_solution(problem):
    """The states at the times by SciPy at its tightest sensible tolerance."""
    smallest = [max(abs(v) for v in problem.y0) * (1e-30 if problem.stiff else 1e-18)] * len(problem.y0)
    method, rtol = ("Radau", 1e-12) if problem.stiff else ("DOP853", 1e-13)
    solution = solve_ivp(
        lambda t, y: np.array(problem.rhs(t, [float(v) for v in y], problem.params), dtype=float),
        (0.0, problem.times[-1]),
        [float(v) for v in problem.y0],
        method=method,
        t_eval=problem.times,
        rtol=rtol,
        atol=smallest,
    )
    return method, solution.y.T if solution.success else None


def compute(name):
    problem = PROBLEMS[name]
    plan = STIFF if problem.stiff else ARENSTORF if name == "arenstorf" else PLAIN
    results = []
    for method, tolerance in plan:
        start = time.perf_counter()
        states, steps = getattr(integrators, method)(
            problem.rhs, problem.y0, problem.params, problem.times, tolerance
        )
        seconds = time.perf_counter() - start
        print(f"{name:18} {method:7} 1e-{tolerance}: {steps:5} steps, {seconds:6.1f} s", flush=True)
        results.append([clean(state) for state in states])
    scipy_method, scipy_states = scipy_solution(problem)
    entries = []
    for k, t in enumerate(problem.times):
        ours, other = results[0][k], results[1][k]
        difference = agreement(ours, other)
        entry = {
            "t": float(t),
            "y": [v.str(20, radius=False) for v in ours],
            "difference": float(f"{difference:.1e}"),
            "digits": digits(difference),
        }
        if scipy_states is not None:
            theirs = [integrators.number(v) for v in scipy_states[k]]
            entry["scipy"] = {"method": scipy_method, "digits": digits(agreement(ours, theirs))}
        if t in problem.literature:
            source, values = problem.literature[t]
            printed = [integrators.number(v) for v in values]
            entry["literature"] = {"source": source, "digits": digits(agreement(ours, printed))}
        remarks = {key: entry[key]["digits"] for key in ("scipy", "literature") if key in entry}
        print(f"{'':18} t = {t:g}: {difference:.1e} apart; digits {remarks}", flush=True)
        entries.append(entry)
    return {
        "y0": [float(v) for v in problem.y0],
        "params": [float(v) for v in problem.params],
        "methods": [method for method, _ in plan],
        "references": entries,
    }


def write_rust(data):
    lines = [
        "//! Reference solutions; written by `validation/references.py`, which says how they were found.",
        "",
        "use super::Reference;",
        "",
    ]
    for method, text in SOURCE.items():
        lines.append(f'const {method.upper()}: &str = "{text}";')
    for name in PROBLEMS:
        entry = data[name]
        lines += ["", f"pub(super) const {name.upper()}: &[Reference] = &["]
        for reference in entry["references"]:
            values = ", ".join(repr(float(v)) for v in reference["y"])
            lines.append(
                f"Reference {{ t: {reference['t']!r}, y: &[{values}], "
                f"digits: {reference['digits']}, source: {entry['methods'][0].upper()} }},"
            )
        lines.append("];")
    RUST.write_text("\n".join(lines) + "\n")
    subprocess.run(["rustfmt", "--edition", "2024", str(RUST)], check=True)


def main():
    chosen = sys.argv[1:] or list(PROBLEMS)
    unknown = [name for name in chosen if name not in PROBLEMS]
    if unknown:
        sys.exit(f"no such problem: {', '.join(unknown)}; there are {', '.join(PROBLEMS)}")
    data = json.loads(JSON.read_text()) if JSON.exists() else {}
    for name in chosen:
        data[name] = compute(name)
        JSON.write_text(json.dumps({n: data[n] for n in PROBLEMS if n in data}, indent=1) + "\n")
    if all(name in data for name in PROBLEMS):
        write_rust(data)


if __name__ == "__main__":
    main()
