"""Mechanisms as Cantera writes them, against the files they came from.

    target/validation/bin/python validation/written_mechanisms.py [FILE.yaml ...]

Every ideal-gas phase of Cantera's own data, and of the files given, is written by
``Solution.write_yaml``: as it is, in cm and mol, and with 17 digits. Both files are read, and the rates of
progress compared (``cargo run --release --example same_rates``). Rate laws that are refused by name are
left out. Molar masses of `Mechanism.from_cantera` are compared too, of every phase as it is and with heavier
elements of its own, with the package as ``pip install .`` has it.
"""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import cantera as ct
import numpy as np
from ruamel.yaml import YAML

import odeum as od

ROOT = Path(__file__).resolve().parent.parent
WAYS = {
    "plain": {},
    "cgs": {"units": {"length": "cm", "quantity": "mol", "activation-energy": "cal/mol"}},
    "digits": {"precision": 17},
}
UNSUPPORTED = ("linear-Burke",)
# The polynomials and the exponentials have rounding of their own.
TOLERANCE = 1e-13


def phases(file):
    """Names of the ideal-gas phases of a file that Cantera itself can load."""
    document = YAML(typ="safe").load(file.read_text())
    for phase in document.get("phases", []):
        gas = phase.get("thermo") == "ideal-gas"
        if gas and phase.get("kinetics") in (None, "none", "gas", "bulk"):
            yield phase["name"]


def heavier(gas):
    """The gas with every element a tenth heavier than it is."""
    pairs = zip(gas.element_names, gas.atomic_weights, strict=True)
    lines = [f"- {{symbol: '{name}', atomic-weight: {float(1.1 * weight)!r}}}" for name, weight in pairs]
    return ct.Solution(yaml="\n".join([gas.write_yaml(header=False), "elements:", *lines]))


def main():
    warnings.simplefilter("ignore")
    data = Path(ct.__file__).parent / "data"
    files = sorted(data.glob("*.yaml")) + sorted(data.glob("example_data/*.yaml"))
    files += [Path(name) for name in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        triples = []
        for file in files:
            for phase in phases(file):
                gas = ct.Solution(str(file), phase)
                kinds = {reaction.reaction_type for reaction in gas.reactions()}
                if any(name in kind for kind in kinds for name in UNSUPPORTED):
                    print(f"{file.name} {phase}: left out")
                    continue
                for each in (gas, heavier(gas)):
                    masses = od.Mechanism.from_cantera(each).molecular_weights
                    np.testing.assert_allclose(masses, each.molecular_weights, rtol=1e-14, err_msg=str(file))
                for way, options in WAYS.items():
                    written = Path(folder) / f"{file.stem}-{phase}-{way}.yaml"
                    gas.write_yaml(str(written), **options)
                    triples += [str(file), phase, str(written)]
        command = ["cargo", "run", "--release", "-q", "-p", "odeum-kinetics", "--example"]
        said = subprocess.run([*command, "same_rates", "--", *triples], cwd=ROOT, check=True,
                              capture_output=True, text=True).stdout
    lines = said.splitlines()
    assert len(lines) == len(triples) // 3
    worst = 0.0
    for line in lines:
        forward, reverse = (float(word) for word in line.split()[-2:])
        worst = max(worst, forward, reverse)
        assert worst <= TOLERANCE, line
    print(f"{len(lines)} files written and read; rates within {worst:.1e}")


if __name__ == "__main__":
    main()
