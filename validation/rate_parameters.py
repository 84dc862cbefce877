"""Rate parameters and thermodynamic data of a mechanism as Cantera reads it, as JSON.

usage: rate_parameters.py FILE [PHASE] > tests/data/NAME.json

The numbers are in SI with kmol; the readers of odeum-kinetics are tested against them.
"""

import json
import sys

import cantera as ct

R = ct.gas_constant


def arrhenius(rate):
    return [rate.pre_exponential_factor, rate.temperature_exponent, rate.activation_energy / R]


def parameters(rate):
    """All numbers of a rate in a fixed order."""
    kind = rate.type
    if kind == "Arrhenius":
        return arrhenius(rate)
    if kind.startswith(("falloff", "chemically-activated")):
        coefficients = list(rate.falloff_coeffs)
        return arrhenius(rate.low_rate) + arrhenius(rate.high_rate) + coefficients
    if kind == "pressure-dependent-Arrhenius":
        return [x for pressure, k in rate.rates for x in [pressure] + arrhenius(k)]
    if kind == "Chebyshev":
        flat = [x for row in rate.data for x in row]
        return list(rate.temperature_range) + list(rate.pressure_range) + [float(x) for x in flat]
    raise ValueError(kind)


gas = ct.Solution(sys.argv[1], *sys.argv[2:])
out = {"species": [], "reactions": []}
for species, weight in zip(gas.species(), gas.molecular_weights):
    thermo = species.thermo
    low, high = max(thermo.min_temp, 300.0), min(thermo.max_temp, 3000.0)
    # Entropies at one atmosphere, whatever the reference pressure of the data.
    shift = R * __import__("math").log(ct.one_atm / thermo.reference_pressure)
    probes = []
    for i in range(5):
        t = low + (high - low) * (i + 0.5) / 5
        probes.append([t, thermo.cp(t), thermo.h(t), thermo.s(t) - shift])
    out["species"].append({"name": species.name, "weight": weight, "probes": probes})
for reaction in gas.reactions():
    body = reaction.third_body
    out["reactions"].append(
        {
            "type": reaction.rate.type,
            "reversible": reaction.reversible,
            "order": sum({**reaction.reactants, **reaction.orders}.values()),
            "default": body.default_efficiency if body else None,
            "efficiencies": dict(body.efficiencies) if body else None,
            "parameters": parameters(reaction.rate),
        }
    )
json.dump(out, sys.stdout, separators=(",", ":"))
print()
