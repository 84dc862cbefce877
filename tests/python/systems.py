"""Systems that tests of ensembles share."""

import odeum as od

TEXT = {"x": "v", "v": "mu * (1 - x^2) * v - x"}


def van_der_pol() -> od.System:
    return od.System.from_text(TEXT, states={"x": 2.0, "v": 0.0}, parameters={"mu": 1.0})
