"""Ignition delays of the command against Cantera's.

    pip install -r validation/requirements.txt
    cargo build --release
    python validation/ignition.py [target/release/odeum]

Hydrogen in air at constant volume, both at tight tolerance; the delay is the time at which the
temperature has risen by 400 K. Ends with an error when a delay differs by more than 1e-4.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import cantera as ct
import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

ROOT = Path(__file__).resolve().parent.parent
MECHANISM = ROOT / "mechanisms" / "hydrogen-burke-2012.yaml"
RISE = 400.0
LARGEST = 1e-4

CASE = """
[system]
mechanism = "{mechanism}"
reactor = "constant {constraint}"
fuel = {{ H2 = 1 }}
oxidizer = {{ O2 = 1, N2 = 3.76 }}
[ensemble.sweep]
T = [950.0, 1050.0, 1200.0, 1500.0]
p = [101325.0, 1e6, 4e6]
phi = [0.5, 1.0, 2.0]
[time]
span = [0.0, 10.0]
until = {{ T = {{ rises_by = {rise} }} }}
[method]
name = "{method}"
[tolerance]
rtol = 1e-9
atol = 1e-15
"""


def delay(temperature, pressure, phi, constraint):
    """The ignition delay by Cantera [s]."""
    gas = ct.Solution(str(MECHANISM))
    gas.set_equivalence_ratio(phi, "H2:1", "O2:1, N2:3.76")
    gas.TP = temperature, pressure
    kind = ct.IdealGasReactor if constraint == "volume" else ct.IdealGasConstPressureReactor
    reactor = kind(gas, clone=False)
    net = ct.ReactorNet([reactor])
    net.rtol, net.atol = 1e-11, 1e-20
    times, temperatures = [0.0], [temperature]
    beyond = 0
    while beyond < 4:
        net.step()
        times.append(net.time)
        temperatures.append(reactor.T)
        beyond += reactor.T > temperature + RISE
    curve = CubicSpline(times[-8:], np.array(temperatures[-8:]) - temperature - RISE)
    return brentq(curve, times[-8], times[-1], xtol=1e-16)


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target" / "release" / "odeum")
    worst = 0.0
    print("constraint  method    largest relative difference of 36 delays")
    for constraint in ["volume", "pressure"]:
        expected = None
        for method in ["rodas4", "rodas5p", "radau"]:
            with tempfile.TemporaryDirectory() as folder:
                case = Path(folder) / "ignition.toml"
                case.write_text(CASE.format(mechanism=MECHANISM, constraint=constraint,
                                            rise=RISE, method=method))
                run = [command, "run", str(case), "--output", folder, "--quiet", "--strict"]
                subprocess.run(run, check=True)
                with np.load(Path(folder) / "ignition.npz") as result:
                    found = result["t"]
                    starts = result["variables"]
            if expected is None:
                expected = np.array([delay(*start, constraint) for start in starts])
            difference = float(np.max(np.abs(found / expected - 1.0)))
            worst = max(worst, difference)
            print(f"{constraint:10}  {method:8}  {difference:.1e}")
    if worst > LARGEST:
        sys.exit(f"delays differ by {worst:.1e}, more than {LARGEST:.0e}")


if __name__ == "__main__":
    main()
