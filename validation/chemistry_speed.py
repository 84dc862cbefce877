"""Speed and error of stiff chemistry beside Cantera's CVODE: same core, same states, one run.

    pip install -r validation/requirements.txt
    cargo build --release
    target/release/odeum pasr MECHANISM.yaml --output states.npz
    python validation/chemistry_speed.py MECHANISM.yaml states.npz [--count 1024] [--odeum PATH]

Reactors at constant pressure start from states of partially stirred reactors and are advanced by
1e-6 and 1e-4 s, as Curtis, Niemeyer & Sung (2017) do. Cantera has one reactor network, whose state
is replaced and which is reinitialised for each of them; its time is that of the process on the
core. The command runs on one thread of the same core, before and after Cantera.

The error E is that of the paper's eq. 1 over T and Y with atol 1e-10 and rtol 1e-6. The reference
of Cantera is CVODE at 1e-12 and 1e-20, that of the command its own at 1e-12 and 1e-18; the line
"references" says how far they are apart. For each of Cantera's rows that of the command is chosen
which is fastest among those whose E (95 %) is no worse.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cantera as ct
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
#: Global steps [s].
STEPS = [1e-6, 1e-4]
#: States at the start of each run that the paper leaves out.
LEFT_OUT = 1000

CASE = """
[system]
mechanism = "{mechanism}"
reactor = "constant pressure"
temperature = 1000.0
pressure = 101325.0
mass_fractions = {{ {some} = 1.0 }}
[ensemble]
table = "starts.npz"
[time]
span = [0.0, {dt}]
[method]
name = "radau"
max_steps = 1_000_000
[tolerance]
rtol = 1e-12
atol = 1e-18
"""


def sample(path, count):
    """States of all runs, evenly, without the first of each: T [K], p [Pa], Y, names."""
    with np.load(path) as saved:
        runs = saved["run"]
        kept = np.concatenate([np.flatnonzero(runs == r)[LEFT_OUT:] for r in np.unique(runs)])
        picked = kept[np.arange(count) * len(kept) // count]
        np.random.default_rng(1).shuffle(picked)
        return (saved["T"][picked], saved["p"][picked], saved["Y"][picked],
                [str(name) for name in saved["species_names"]])


def errors(found, reference):
    """E of each reactor: columns are T and Y."""
    scale = 1e-10 + 1e-6 * np.abs(reference)
    return np.sqrt((((found - reference) / scale) ** 2).sum(axis=1))


def cantera(mechanism, states, dt, rtol, atol, moles=False):
    """End states [T, Y] and seconds of the process for each reactor."""
    temperatures, pressures, fractions = states
    gas = ct.Solution(str(mechanism))
    kind = ct.IdealGasConstPressureMoleReactor if moles else ct.IdealGasConstPressureReactor
    reactor = kind(gas, clone=False)
    net = ct.ReactorNet([reactor])
    if moles:
        net.derivative_settings = {"skip-third-bodies": True, "skip-falloff": True}
        net.preconditioner = ct.AdaptivePreconditioner()
    net.rtol, net.atol, net.max_steps = rtol, atol, 1_000_000
    ends = np.empty((len(temperatures), 1 + gas.n_species))
    begun = time.process_time()
    for s in range(len(temperatures)):
        gas.TPY = temperatures[s], pressures[s], fractions[s]
        reactor.syncState()
        net.initial_time = 0.0
        net.reinitialize()
        net.advance(dt)
        ends[s, 0], ends[s, 1:] = reactor.T, gas.Y
    return ends, (time.process_time() - begun) / len(temperatures)


def own_reference(command, mechanism, states, names, dt):
    """End states [T, Y] of the command at a tight tolerance."""
    temperatures, pressures, fractions = states
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        columns = {name: fractions[:, k] for k, name in enumerate(names)}
        np.savez(folder / "starts.npz", T=temperatures, p=pressures, **columns)
        case = folder / "tight.toml"
        some = json.dumps(names[0])
        case.write_text(CASE.format(mechanism=Path(mechanism).resolve(), dt=dt, some=some))
        subprocess.run([command, "run", str(case), "--output", str(folder), "--quiet", "--strict"],
                       check=True)
        with np.load(folder / "tight.npz") as result:
            return result["y"][:, : 1 + len(names)]


def studied(command, mechanism, states, names, parts):
    """Rows of ``odeum bench chemistry`` on these states, one thread."""
    temperatures, pressures, fractions = states
    with tempfile.TemporaryDirectory() as folder:
        file, rows = Path(folder) / "states.npz", Path(folder) / "rows.json"
        # One run with a leader that the study leaves out, as it does with the first of each run.
        lead = [0] * LEFT_OUT
        index = np.concatenate([lead, np.arange(len(temperatures))]).astype(int)
        np.savez(file, t=np.zeros(len(index)), T=temperatures[index], p=pressures[index],
                 Y=fractions[index], run=np.zeros(len(index), dtype=np.int64),
                 species_names=np.array(names))
        subprocess.run([command, "bench", "chemistry", "--mechanism", str(mechanism),
                        "--states", str(file), "--systems", str(len(temperatures)),
                        "--parts", parts, "--threads", "1", "--json", str(rows)],
                       check=True, stdout=subprocess.DEVNULL)
        return json.loads(rows.read_text())["rows"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mechanism", type=Path)
    parser.add_argument("states", type=Path)
    parser.add_argument("--count", type=int, default=1024)
    parser.add_argument("--odeum", default=str(ROOT / "target" / "release" / "odeum"))
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    *states, names = sample(arguments.states, arguments.count)
    before = studied(arguments.odeum, arguments.mechanism, states, names, "tolerances")
    peers = []
    for dt in STEPS:
        reference, _ = cantera(arguments.mechanism, states, dt, 1e-12, 1e-20)
        own = own_reference(arguments.odeum, arguments.mechanism, states, names, dt)
        apart = errors(own, reference)
        print(f"references {dt:.0e} s: E median {np.median(apart):.1e}, "
              f"95 % {np.quantile(apart, 0.95):.1e}, max {apart.max():.1e}")
        for label, rtol, atol, moles in [("CVODE, mass", 1e-6, 1e-10, False),
                                         ("CVODE, moles, preconditioned", 1e-6, 1e-10, True),
                                         ("CVODE, mass", 1e-9, 1e-15, False)]:
            ends, seconds = cantera(arguments.mechanism, states, dt, rtol, atol, moles)
            peers.append((dt, label, rtol, seconds, errors(ends, reference)))
    after = studied(arguments.odeum, arguments.mechanism, states, names, "tolerances")
    for row, again in zip(before, after):
        row["seconds"] = min(row["seconds"], again["seconds"])

    print(f"{'step':6} {'Cantera':30} {'rtol':>6} {'µs':>7} {'E 95 %':>8}   "
          f"{'Odeum':9} {'rtol':>6} {'µs':>7} {'E 95 %':>8} {'ratio':>6}")
    for dt, label, rtol, seconds, found in peers:
        bar = np.quantile(found, 0.95)
        rows = [r for r in before if r["dt"] == dt and r["failed"] == 0]
        for what, limit in [("", bar), (" (E ≤ 1)", min(1.0, bar))]:
            good = [r for r in rows if r["error_p95"] <= limit]
            if not good or (what and bar <= 1.0):
                continue
            best = min(good, key=lambda r: r["seconds"])
            own = best["seconds"] / best["systems"]
            print(f"{dt:<6.0e} {label + what:30} {rtol:6.0e} {seconds * 1e6:7.1f} {bar:8.1e}   "
                  f"{best['method']:9} {best['rtol']:6.0e} {own * 1e6:7.2f} "
                  f"{best['error_p95']:8.1e} {seconds / own:6.1f}")


if __name__ == "__main__":
    sys.exit(main())
