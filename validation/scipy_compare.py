"""End states of the command against SciPy's solve_ivp.

    pip install -r validation/requirements.txt
    cargo build --release
    python validation/scipy_compare.py [target/release/odeum]

Every method integrates a few systems of each problem that suits it. The reference is DOP853 or
Radau at rtol 1e-12. What is printed is the largest difference of a component, in units of the
tolerance asked for: rtol times the largest size the component has at any end. Ends with an error
when one is above LARGEST.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

ROOT = Path(__file__).resolve().parent.parent
#: Global errors are larger than local tolerances; by how much depends on the problem.
LARGEST = 100.0

CASE = """
[system]
states = {states}
parameters = {params}
[system.equations]
{equations}
[ensemble]
count = 5
seed = 3
perturb = {{ of = "states", relative = 1e-2 }}
[time]
span = [{t0}, {t1}]
[method]
name = "{method}"
max_steps = 1_000_000
[tolerance]
rtol = {rtol}
atol = {atol}
"""


def lorenz(t, y, s, r, b):
    return [s * (y[1] - y[0]), r * y[0] - y[1] - y[0] * y[2], y[0] * y[1] - b * y[2]]


def lotka_volterra(t, y, a, b, c, d):
    return [a * y[0] - b * y[0] * y[1], d * y[0] * y[1] - c * y[1]]


def arenstorf(t, y, m):
    x, z, u, v = y
    n = 1.0 - m
    d1 = ((x + m) ** 2 + z**2) ** 1.5
    d2 = ((x - n) ** 2 + z**2) ** 1.5
    return [u, v, x + 2 * v - n * (x + m) / d1 - m * (x - n) / d2,
            z - 2 * u - n * z / d1 - m * z / d2]


def brusselator(t, y, a, b):
    return [a + y[0] ** 2 * y[1] - (b + 1) * y[0], b * y[0] - y[0] ** 2 * y[1]]


def forced(t, y, w, k):
    return [y[1], np.sin(w * t) * np.exp(-t / 10) - k * y[0] - 0.1 * y[1]]


def heat(t, y, k):
    return [k * (y[1] - 2 * y[0]) + np.sin(t), k * (y[0] - 2 * y[1] + y[2]),
            k * (y[1] - 2 * y[2]) + y[0] ** 2]


def robertson(t, y, a, b, c):
    return [-a * y[0] + c * y[1] * y[2], a * y[0] - c * y[1] * y[2] - b * y[1] ** 2,
            b * y[1] ** 2]


NONSTIFF = ["rkck", "dopri5", "tsit5", "vern7"]
STIFF = ["rodas3", "rodas4", "rodas5p", "ros34pw2", "radau", "exp4", "exprb43"]
PROBLEMS = [
    ("Lorenz", lorenz, {"x": 1.0, "y": 2.0, "z": 3.0}, {"s": 10.0, "r": 28.0, "b": 8 / 3},
     {"x": "s * (y - x)", "y": "r * x - y - x * z", "z": "x * y - b * z"}, (0.0, 3.0),
     NONSTIFF + STIFF),
    ("Lotka-Volterra", lotka_volterra, {"u": 10.0, "v": 5.0},
     {"a": 1.1, "b": 0.4, "c": 0.4, "d": 0.1},
     {"u": "a * u - b * u * v", "v": "d * u * v - c * v"}, (0.0, 20.0), NONSTIFF + STIFF),
    ("Arenstorf", arenstorf, {"x": 0.9, "z": 0.1, "u": 0.0, "v": -1.5}, {"m": 0.012277471},
     {"x": "u", "z": "v",
      "u": "x + 2 * v - (1 - m) * (x + m) / ((x + m)^2 + z^2)^1.5"
           " - m * (x - 1 + m) / ((x - 1 + m)^2 + z^2)^1.5",
      "v": "z - 2 * u - (1 - m) * z / ((x + m)^2 + z^2)^1.5"
           " - m * z / ((x - 1 + m)^2 + z^2)^1.5"}, (0.0, 0.5), NONSTIFF),
    ("Brusselator", brusselator, {"x": 1.2, "y": 3.0}, {"a": 1.0, "b": 3.0},
     {"x": "a + x^2 * y - (b + 1) * x", "y": "b * x - x^2 * y"}, (0.0, 15.0),
     NONSTIFF + STIFF),
    ("heat", heat, {"u1": 1.0, "u2": 2.0, "u3": 0.5}, {"k": 40.0},
     {"u1": "k * (u2 - 2 * u1) + sin(t)", "u2": "k * (u1 - 2 * u2 + u3)",
      "u3": "k * (u2 - 2 * u3) + u1^2"}, (0.0, 2.0), NONSTIFF + ["rkc"] + STIFF),
    ("forced", forced, {"x": 1.0, "v": 0.5}, {"w": 2.0, "k": 3.0},
     {"x": "v", "v": "sin(w * t) * exp(-t / 10) - k * x - 0.1 * v"}, (-1.0, 8.0),
     NONSTIFF + STIFF),
    ("backward", forced, {"x": 1.0, "v": 0.5}, {"w": 2.0, "k": 3.0},
     {"x": "v", "v": "sin(w * t) * exp(-t / 10) - k * x - 0.1 * v"}, (4.0, 0.0), NONSTIFF),
    ("Robertson", robertson, {"x": 1.0, "y": 1e-6, "z": 1e-3},
     {"a": 0.04, "b": 3e7, "c": 1e4},
     {"x": "-a * x + c * y * z", "y": "a * x - c * y * z - b * y^2", "z": "b * y^2"},
     (0.0, 1e4), STIFF),
]


def inline(table):
    return "{ " + ", ".join(f"{key} = {value!r}" for key, value in table.items()) + " }"


def run(command, problem, method, rtol):
    """Initial and end states by the command."""
    _, _, states, params, equations, (t0, t1), _ = problem
    lines = "\n".join(f'{name} = "{text}"' for name, text in equations.items())
    atol = rtol * 1e-6
    with tempfile.TemporaryDirectory() as folder:
        case = Path(folder) / "case.toml"
        case.write_text(CASE.format(states=inline(states), params=inline(params), equations=lines,
                                    t0=t0, t1=t1, method=method, rtol=rtol, atol=atol))
        arguments = [command, "run", str(case), "--output", folder, "--quiet", "--strict"]
        subprocess.run(arguments, check=True)
        with np.load(Path(folder) / "case.npz") as result:
            return result["y0"], result["y"]


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target" / "release" / "odeum")
    wrong = 0
    print("problem         method    rtol   largest difference / tolerance")
    for problem in PROBLEMS:
        name, f, _, params, _, span, methods = problem
        expected = None
        for method in methods:
            for rtol in [1e-5, 1e-8]:
                if method == "rkc" and rtol < 1e-6:
                    continue  # Of order 2: it would take a million steps.
                starts, found = run(command, problem, method, rtol)
                if expected is None:
                    stiff = methods is STIFF
                    solver = {"method": "Radau" if stiff else "DOP853", "rtol": 1e-12,
                              "atol": 1e-15 if stiff else 1e-14, "args": tuple(params.values())}
                    expected = [solve_ivp(f, span, y0, **solver).y[:, -1] for y0 in starts]
                    expected = np.array(expected)
                sizes = np.max(np.abs(expected), axis=0)
                difference = float(np.max(np.abs(found - expected) / sizes) / rtol)
                # NaN is no agreement either.
                agrees = difference <= LARGEST
                wrong += not agrees
                print(f"{name:15} {method:9} {rtol:.0e}  {difference:<8.2g}"
                      f" {'agrees' if agrees else 'DIFFERS'}")
    if wrong:
        sys.exit(f"{wrong} rows differ by more than {LARGEST:g} tolerances")


if __name__ == "__main__":
    main()
