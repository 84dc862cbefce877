"""Thermodynamics and rates by Cantera, for the tests of ``odeum-kinetics``.

    python3 -m venv target/validation
    target/validation/bin/pip install -r validation/requirements.txt
    target/validation/bin/python validation/kinetics.py [folder of mechanisms]

Writes ``crates/odeum-kinetics/tests/data/<mechanism>.json``: at states drawn with a fixed seed,
all species present or some absent, temperatures from 200 to 5000 K (beyond some of the data, where polynomials continue) and pressures from 0.01 to
100 atm, what Cantera computes of each species and reaction, in Cantera's units and order.
The published mechanisms are read from the folder and only results are written.
"""

import json
import sys
import warnings
from pathlib import Path

import cantera as ct
import numpy as np

DATA = Path(__file__).resolve().parent.parent / "crates/odeum-kinetics/tests/data"
PUBLISHED = {
    "burke-h2-2012": ("burke-h2-2012/burke-h2-2012.yaml", 6),
    "grimech30": ("grimech30/grimech30.yaml", 4),
    "marinov-ethanol-1999": ("marinov-ethanol-1999/marinov-ethanol-1999.yaml", 3),
}


def states(gas, count, seed=20121031):
    """(T, p, Y): log-uniform fractions over eight decades, in half the states some exactly zero."""
    draw = np.random.default_rng(seed)
    low = 200.0
    for i in range(count):
        temperature = low * (5000.0 / low) ** ((i + draw.uniform() * (i > 0)) / count)
        pressure = ct.one_atm * 10 ** draw.uniform(-2, 2)
        fractions = 10 ** draw.uniform(-8, 0, gas.n_species)
        if i % 2:
            fractions[draw.uniform(size=gas.n_species) < 0.3] = 0.0
        yield temperature, pressure, fractions / fractions.sum()


def evaluate(gas, temperature, pressure, fractions):
    gas.TPY = temperature, pressure, fractions
    return {
        "T": temperature,
        "P": pressure,
        "Y": list(gas.Y),
        "density": gas.density,
        "cp_mass": gas.cp_mass,
        "concentrations": list(gas.concentrations),
        "cp": list(gas.standard_cp_R * ct.gas_constant),
        "h": list(gas.standard_enthalpies_RT * ct.gas_constant * temperature),
        "forward_rate_constants": list(gas.forward_rate_constants),
        "equilibrium_constants": list(gas.equilibrium_constants),
        "forward_rates_of_progress": list(gas.forward_rates_of_progress),
        "reverse_rates_of_progress": list(gas.reverse_rates_of_progress),
        "net_production_rates": list(gas.net_production_rates),
    }


def write(name, path, count):
    gas = ct.Solution(str(path))
    document = {
        "cantera": ct.__version__,
        "species": gas.species_names,
        "equations": gas.reaction_equations(),
        "states": [evaluate(gas, *state) for state in states(gas, count)],
    }
    (DATA / f"{name}.json").write_text(json.dumps(document) + "\n")
    print(f"{name}: {gas.n_species} species, {gas.n_reactions} reactions, {count} states")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write("rate-laws", DATA / "rate-laws.yaml", 16)
    if len(sys.argv) > 1:
        for name, (path, count) in PUBLISHED.items():
            write(name, Path(sys.argv[1]) / path, count)
