"""Mixtures of fuel and oxidizer by Cantera, for the tests of ``odeum-kinetics``.

    target/validation/bin/python validation/mixtures.py

Writes ``crates/odeum-kinetics/tests/data/mixtures.json``: mass fractions that
``set_equivalence_ratio`` gives, with fuel and oxidizer by mole and by mass, and the ratio that
``equivalence_ratio`` finds back, for the species of ``fuels.yaml`` there.
"""

import json
from pathlib import Path

import cantera as ct

DATA = Path(__file__).resolve().parent.parent / "crates/odeum-kinetics/tests/data"
AIR = {"O2": 1.0, "N2": 3.76}
# Fuel, oxidizer. Fuels that hold oxygen, inert gas or products, oxidizers that hold water or are
# no air, and one whose nitrogen does not burn.
MIXTURES = [
    ({"H2": 1.0}, AIR),
    ({"H2": 1.0}, {"O2": 1.0, "AR": 4.0}),
    ({"CH4": 1.0}, AIR),
    ({"C3H8": 2.0}, {"O2": 0.21, "N2": 0.78, "AR": 0.01}),
    ({"C7H16": 1.0}, AIR),
    ({"C2H5OH": 1.0}, AIR),
    ({"CO": 0.5, "H2": 0.5}, AIR),
    ({"CH4": 0.9, "C3H8": 0.05, "N2": 0.03, "CO2": 0.02}, AIR),
    ({"H2": 1.0, "H2O": 0.2}, {"O2": 1.0, "N2": 3.0, "H2O": 0.1}),
    ({"CH4": 1.0}, {"O3": 0.1, "O2": 1.0, "AR": 3.76}),
    ({"NH3": 1.0}, AIR),
    ({"H2S": 1.0}, AIR),
]
RATIOS = [0.0, 0.25, 0.7, 1.0, 1.8, 6.0]


def main():
    gas = ct.Solution(str(DATA / "fuels.yaml"))
    cases = []
    for fuel, oxidizer in MIXTURES:
        for basis in ("mole", "mass"):
            for phi in RATIOS:
                gas.set_equivalence_ratio(phi, fuel, oxidizer, basis=basis)
                back = gas.equivalence_ratio(fuel, oxidizer, basis=basis)
                assert abs(back - phi) <= 1e-12 * max(phi, 1.0), (fuel, basis, phi, back)
                cases.append({"fuel": fuel, "oxidizer": oxidizer, "basis": basis, "phi": phi,
                              "Y": gas.mass_fraction_dict()})
    document = {"cantera": ct.__version__, "cases": cases}
    (DATA / "mixtures.json").write_text(json.dumps(document, indent=0) + "\n")


if __name__ == "__main__":
    main()
