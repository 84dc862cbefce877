"""Mechanisms from Chemkin texts in memory, beside the same ones from files."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import odeum as od

THERMO = """\
THERMO ALL
   200.000  1000.000  6000.000
H2                      H   2               G   200.000  6000.000  1000.000    1
 3.50000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00    2
-1.04352500E+03 1.00000000E+00 3.50000000E+00 0.00000000E+00 0.00000000E+00    3
 0.00000000E+00 0.00000000E+00-1.04352500E+03 1.00000000E+00                   4
H                       H   1               G   200.000  6000.000  1000.000    1
 2.50000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00    2
 2.54736600E+04 1.00000000E+00 2.50000000E+00 0.00000000E+00 0.00000000E+00    3
 0.00000000E+00 0.00000000E+00 2.54736600E+04 1.00000000E+00                   4
O2                      O   2               G   200.000  6000.000  1000.000    1
 3.60000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00    2
-1.06390000E+03 1.00000000E+00 3.60000000E+00 0.00000000E+00 0.00000000E+00    3
 0.00000000E+00 0.00000000E+00-1.06390000E+03 1.00000000E+00                   4
N2                      N   2               G   200.000  6000.000  1000.000    1
 3.50000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00    2
-1.04390000E+03 1.00000000E+00 3.50000000E+00 0.00000000E+00 0.00000000E+00    3
 0.00000000E+00 0.00000000E+00-1.04390000E+03 1.00000000E+00                   4
END
"""
HEAD = """\
ELEMENTS H O N END
SPECIES H2 H O2 N2 END
"""
REACTIONS = """\
REACTIONS
H2 + M = H + H + M   4.577E19  -1.40  104380.
END
"""
ALONE = HEAD + REACTIONS
YAML = Path(__file__).resolve().parents[2] / "mechanisms" / "hydrogen-burke-2012.yaml"


def in_memory() -> od.Mechanism:
    return od.Mechanism.from_text(ALONE, name="chem.inp", thermo=THERMO)


@pytest.fixture
def from_files(tmp_path: Path) -> od.Mechanism:
    (tmp_path / "chem.inp").write_text(ALONE)
    (tmp_path / "therm.dat").write_text(THERMO)
    return od.Mechanism(tmp_path / "chem.inp", thermo=tmp_path / "therm.dat")


def rates(gas: od.Mechanism) -> np.ndarray:
    T, Y = np.linspace(1500.0, 3000.0, 7), "H2:0.1, O2:0.2, N2:0.7"
    return np.column_stack([gas.net_production_rates(T, od.atm, Y), gas.enthalpy_mass(T, Y)])


@pytest.mark.filterwarnings("ignore:thermo of mechanism")
def test_texts_files_and_pickles_give_the_same(from_files: od.Mechanism) -> None:
    expected = rates(from_files)
    assert (expected[:, 1] > 0.0).all()
    # Of two entries for a species that of the mechanism counts.
    second = THERMO.replace("3.50000000E+00", "9.50000000E+00")
    with pytest.warns(od.OdeumWarning, match="thermo of mechanism:3: H2: thermodynamic data again"):
        twice = od.Mechanism.from_text(HEAD + THERMO + REACTIONS, thermo=second)
    for gas in (
        in_memory(),
        pickle.loads(pickle.dumps(in_memory())),
        od.Mechanism.from_text(HEAD + THERMO + REACTIONS),
        od.Mechanism.from_text("\ufeff" + ALONE, thermo="\ufeff" + THERMO),
        twice,
    ):
        assert gas.species_names == ("H2", "H", "O2", "N2") and gas.n_reactions == 1
        assert (rates(gas) == expected).all()
    assert in_memory().name == "chem"


def test_reactors_integrators_and_case_files_have_both_texts(
    from_files: od.Mechanism, tmp_path: Path
) -> None:
    gas = in_memory()
    options = {"fuel": "H2", "oxidizer": "O2:1, N2:3.76"}

    def solved(mechanism: od.Mechanism) -> np.ndarray:
        runs = mechanism.reactor("constant volume").sweep(T=[2500.0, 3000.0], **options)
        return runs.solve((0.0, 1e-4)).states

    expected = solved(from_files)
    assert (solved(gas) == expected).all()
    runs = gas.reactor("constant volume").sweep(T=[2500.0, 3000.0], **options)
    runs.to_toml(tmp_path / "case.toml", (0.0, 1e-4))
    assert (tmp_path / "case.mechanism.inp").read_text() == ALONE
    assert (tmp_path / "case.thermo.inp").read_text() == THERMO
    assert (od.run(tmp_path / "case.toml").states == expected).all()
    runs.to_toml(tmp_path / "case_0.5", (0.0, 1e-4))
    assert (tmp_path / "case_0.5.mechanism.inp").read_text() == ALONE

    def advanced(mechanism: od.Mechanism) -> np.ndarray:
        T, Y = np.full(3, 3000.0), np.tile(mechanism.mass_fractions("H2:2, O2:1"), (3, 1))
        assert not mechanism.integrator("constant pressure", cells=3).advance(T, od.atm, Y, 1e-5).any()
        return np.column_stack([T, Y])

    assert (advanced(gas) == advanced(from_files)).all() and (advanced(gas)[:, 2] > 0.0).all()
    small = {"T": 800.0, "p": od.atm, "particles": 4, "residence_times": 0.1, "tau_res": 1e-3, "fuel": "H2"}
    assert (od.pasr(gas, **small).T == od.pasr(from_files, **small).T).all()


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (ALONE, {}, "chem.inp:2: H2: no thermodynamic data"),
        (ALONE, {"thermo": ""}, "no thermodynamic data"),
        (ALONE, {"thermo": THERMO.replace("2.50000000E+00", "2.5x000000E+00", 1)}, "thermo of chem.inp:8"),
        (HEAD + THERMO + REACTIONS.replace("H + H", "H + QQ"), {}, "chem.inp:23: .*QQ"),
        (HEAD + THERMO + REACTIONS, {"phase": "gas"}, "a Chemkin mechanism, which has only one"),
        (YAML.read_text(), {"thermo": THERMO}, "thermodynamic data beside a YAML mechanism"),
        ("", {}, "an empty file"),
        ("Dear reader,", {}, "neither Cantera YAML nor Chemkin"),
        ("<?xml version='1.0'?>", {}, "XML"),
        ("ELEMENTS H\0 END", {}, "chem.inp"),
        (Path("chem.inp"), {}, "text: found .*Path"),
        (ALONE.encode(), {}, "text: found bytes"),
        (ALONE, {"thermo": Path("therm.dat")}, "thermo: found .*Path"),
        (ALONE, {"thermo": THERMO, "name": 5}, "name: found int"),
    ],
)
def test_bad_texts_are_refused_with_their_line(text: object, options: dict[str, object], said: str) -> None:
    with pytest.raises(od.InputError, match=said):
        od.Mechanism.from_text(text, **{"name": "chem.inp", **options})


def test_a_case_that_lost_a_text_says_so() -> None:
    gas = in_memory()
    gas._texts.pop(gas._section["thermo"])
    with pytest.raises(od.InputError, match="no text of this name"):
        gas.reactor("constant volume", fuel="H2", oxidizer="O2:1, N2:3.76").sweep(T=[2500.0]).solve(
            (0.0, 1e-4)
        )


def test_parts_of_different_mechanisms_are_not_joined() -> None:
    """They have one name and one place, but not one text."""
    slower = od.Mechanism.from_text(ALONE.replace("4.577E19", "4.577E18"), name="chem.inp", thermo=THERMO)
    parts = []
    for gas in (in_memory(), slower):
        runs = gas.reactor(fuel="H2", oxidizer="O2:1, N2:3.76").sweep(T=[2500.0, 3000.0])
        parts.append([part.solve((0.0, 1e-6)) for part in runs.split(2)])
    assert len(od.concat(parts[0])) == 2
    with pytest.raises(od.InputError, match="another ensemble"):
        od.concat([parts[0][0], parts[1][1]])
