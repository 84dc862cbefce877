"""Speed and error of stiff chemistry beside Cantera's CVODE: same core, same states, one run.

    pip install -r validation/requirements.txt
    cargo build --release
    target/release/odeum pasr MECHANISM.yaml --output states.npz
    python validation/chemistry_speed.py MECHANISM.yaml states.npz [--count 1024] [--odeum PATH]
    python validation/chemistry_speed.py MECHANISM.yaml states.npz --device cuda --systems 540000

Reactors at constant pressure start from states of partially stirred reactors and are advanced by
1e-6 and 1e-4 s, as Curtis, Niemeyer & Sung (2017) do. Cantera has one reactor network, whose state
is replaced and which is reinitialised for each of them; its time is that of the process on the
core. The command runs on one thread of the same core, before and after Cantera.

The error E is that of the paper's eq. 1 over T and Y with atol 1e-10 and rtol 1e-6. The reference
of Cantera is CVODE at 1e-12 and 1e-20, that of the command its own at 1e-12 and 1e-18; the line
"references" says how far they are apart. For each of Cantera's rows that of the command is chosen
which is fastest among those whose E (95 %) is no worse.

With --device every method runs on the GPU, and Rodas4 on one thread and on all, in the same run on the same host. For each
the table says how many cores with CVODE do as much (table 3 of the paper), by the faster of Cantera's
settings at 1e-6. That one core is busy alone is in its favour. The last table has the fastest run on the GPU whose E (95 %) is no
worse than that of each of Cantera's settings.
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
#: What Cantera solves and how tightly: label, rtol, atol, whether by moles with a preconditioner.
SETTINGS = [("CVODE, mass", 1e-6, 1e-10, False),
            ("CVODE, moles, preconditioned", 1e-6, 1e-10, True),
            ("CVODE, mass", 1e-9, 1e-15, False)]
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
        if not len(kept):
            # A small set is wanted whole.
            kept = np.arange(len(runs))
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


def studied(command, mechanism, states, names, *options):
    """Rows of ``odeum bench chemistry`` on these states."""
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
                        "--states", str(file), "--json", str(rows), *options],
                       check=True, stdout=subprocess.DEVNULL)
        return json.loads(rows.read_text())["rows"]


def pinned(work):
    """What ``work`` gives on one core."""
    if not hasattr(os, "sched_setaffinity"):
        return work()
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        return work()
    finally:
        os.sched_setaffinity(0, before)


def peers(arguments, states, names, settings):
    """Step, label, rtol, seconds for each reactor and E of Cantera's settings."""
    found = []
    for dt in STEPS:
        reference, _ = cantera(arguments.mechanism, states, dt, 1e-12, 1e-20)
        own = own_reference(arguments.odeum, arguments.mechanism, states, names, dt)
        apart = errors(own, reference)
        print(f"references {dt:.0e} s: E median {np.median(apart):.1e}, "
              f"95 % {np.quantile(apart, 0.95):.1e}, max {apart.max():.1e}", flush=True)
        for label, rtol, atol, moles in settings:
            ends, seconds = cantera(arguments.mechanism, states, dt, rtol, atol, moles)
            found.append((dt, label, rtol, seconds, errors(ends, reference)))
    return found


def beside_one_core(arguments, states, names):
    """The command on one thread, before and after Cantera."""
    options = ["--systems", str(len(states[0])), "--parts", "tolerances", "--threads", "1"]
    study = [arguments.odeum, arguments.mechanism, states, names, *options]
    before = studied(*study)
    found = peers(arguments, states, names, SETTINGS)
    for row, again in zip(before, studied(*study)):
        row["seconds"] = min(row["seconds"], again["seconds"])

    at_equal_error(found, before)


def at_equal_error(found, rows):
    """The fastest of the rows whose E (95 %) is no larger than that of each of Cantera's settings, and than 1."""
    print(f"{'step':6} {'Cantera':38} {'rtol':>6} {'µs':>7} {'E 95 %':>8}   "
          f"{'Odeum':16} {'rtol':>6} {'µs':>8} {'E 95 %':>8} {'ratio':>7}")
    for dt, label, rtol, seconds, error in found:
        bar = np.quantile(error, 0.95)
        of_step = [r for r in rows if r["dt"] == dt and r["failed"] == 0]
        for what, limit in [("", bar), (" (E ≤ 1)", min(1.0, bar))]:
            good = [r for r in of_step if r["error_p95"] <= limit]
            if not good or (what and bar <= 1.0):
                continue
            best = min(good, key=lambda r: r["seconds"] / r["systems"])
            own = best["seconds"] / best["systems"]
            name = best["method"] + ", whole" * (best["first_step"] == "whole")
            print(f"{dt:<6.0e} {label + what:38} {rtol:6.0e} {seconds * 1e6:7.1f} {bar:8.1e}   "
                  f"{name:16} {best['rtol']:6.0e} {own * 1e6:8.3g} "
                  f"{best['error_p95']:8.1e} {seconds / own:7.3g}")


def cores_of_a_gpu(arguments, states, names):
    """The command on a GPU and on this host, and how many cores with CVODE do as much."""
    found = pinned(lambda: peers(arguments, states, names, SETTINGS))
    options = ["--parts", "methods,tolerances", "--device", arguments.device,
               "--systems", str(arguments.systems)]
    rows = studied(arguments.odeum, arguments.mechanism, states, names, *options)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2))
    print(f"{'step':6} {'solver':30} {'where':16} {'µs':>9} {'E 95 %':>8} {'cores':>8}")
    for dt in STEPS:
        of_step = [peer for peer in found if peer[0] == dt and peer[2] == 1e-6]
        core = min(seconds for _, _, _, seconds, _ in of_step)
        for _, label, _, seconds, error in of_step:
            print(f"{dt:<6.0e} {label:30} {'1 core':16} {seconds * 1e6:9.2f} "
                  f"{np.quantile(error, 0.95):8.1e} {core / seconds:8.2f}")
        for row in (row for row in rows if row["dt"] == dt and row["part"] == "methods"):
            own = row["seconds"] / row["systems"]
            where = row["variant"]
            if "cuda" not in where:
                where += f", {row['threads']} thread" + "s" * (row["threads"] > 1)
            first = ", first step whole" if row["first_step"] == "whole" else ""
            print(f"{dt:<6.0e} {row['method'] + first:30} {where:16} {own * 1e6:9.3g} "
                  f"{row['error_p95']:8.1e} {core / own:8.3g}"
                  + (f"   {row['failed']} failed" if row["failed"] else ""))
    at_equal_error(found, [row for row in rows if row["variant"] == "cuda kernel"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mechanism", type=Path)
    parser.add_argument("states", type=Path)
    parser.add_argument("--count", type=int, default=1024, help="states for Cantera")
    parser.add_argument("--odeum", default=str(ROOT / "target" / "release" / "odeum"))
    parser.add_argument("--device", help="a GPU, as cuda: cores that do as much")
    parser.add_argument("--systems", type=int, default=262_144, help="reactors on the GPU")
    parser.add_argument("--json", type=Path, help="keep the rows of the GPU")
    arguments = parser.parse_args()
    *states, names = sample(arguments.states, arguments.count)
    if arguments.device:
        cores_of_a_gpu(arguments, states, names)
    else:
        pinned(lambda: beside_one_core(arguments, states, names))


if __name__ == "__main__":
    sys.exit(main())
