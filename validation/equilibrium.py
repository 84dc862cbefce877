"""Equilibria by Cantera, for the tests of ``odeum-kinetics``.

    target/validation/bin/python validation/equilibrium.py FOLDER_OF_MECHANISMS

Writes ``crates/odeum-kinetics/tests/data/equilibrium.json``: lean to rich mixtures of fuel and
air, cold and preheated, at 0.1 to 25 atm, at constant enthalpy and at constant temperature, to
the tightest tolerance that Cantera reaches.
"""

import json
import sys
import warnings
from pathlib import Path

import cantera as ct

OUT = Path(__file__).resolve().parent.parent / "crates/odeum-kinetics/tests/data/equilibrium.json"
FUELS = {"burke-h2-2012": "H2", "grimech30": "CH4"}
AIR = "O2:1, N2:3.76"
# What is held, φ, T [K], p [atm].
STATES = [
    ("HP", 1.0, 300.0, 1.0),
    ("HP", 0.3, 300.0, 1.0),
    ("HP", 0.6, 400.0, 10.0),
    ("HP", 1.0, 800.0, 25.0),
    ("HP", 2.5, 600.0, 1.0),
    ("HP", 4.0, 300.0, 10.0),
    ("TP", 1.0, 2500.0, 1.0),
    ("TP", 0.5, 1200.0, 0.1),
    ("TP", 2.0, 1500.0, 10.0),
]


def equilibrium(gas, fuel, held, phi, temperature, pressure):
    gas.TP = temperature, pressure * ct.one_atm
    gas.set_equivalence_ratio(phi, fuel, AIR)
    enthalpy = gas.enthalpy_mass
    gas.equilibrate(held, solver="element_potential", rtol=1e-9)
    for rtol in (1e-10, 1e-11, 1e-12):
        state = gas.state
        try:
            gas.equilibrate(held, solver="element_potential", rtol=rtol)
        except ct.CanteraError:  # Rounding is reached.
            gas.state = state
            break
    kept = {name: x for name, x in zip(gas.species_names, gas.X.tolist()) if x > 1e-12}
    return {"held": held, "phi": phi, "T0": temperature, "P": pressure * ct.one_atm,
            "T": gas.T, "h": enthalpy, "X": kept}


def main(folder):
    warnings.simplefilter("ignore")
    document = {"cantera": ct.__version__, "mechanisms": {}}
    for name, fuel in FUELS.items():
        gas = ct.Solution(str(folder / name / f"{name}.yaml"))
        states = [equilibrium(gas, fuel, *state) for state in STATES]
        document["mechanisms"][name] = {"fuel": fuel, "states": states}
    OUT.write_text(json.dumps(document, indent=0) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
