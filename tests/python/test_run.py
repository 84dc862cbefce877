"""Case files that are run from Python: what is read, once, and what a retry takes for the same."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from systems import van_der_pol

import odeum as od

HYDROGEN = Path(__file__).resolve().parents[2] / "mechanisms" / "hydrogen-burke-2012.yaml"
OPTIONS = '[method]\nname = "tsit5"\n[tolerance]\nrtol = 1e-6\natol = 1e-9\n'
ENSEMBLE = (
    '[system]\nstates = { x = 1.0 }\nparameters = { k = 2.0 }\nequations = { x = "-k * x" }\n'
    f"[time]\nspan = [0.0, 1.0]\n{OPTIONS}"
)
FIELD = '[system]\nproblem = "turing"\n[grid]\nshape = [4, 4, 1]\n[time]\nuntil = 0.2\n'


def test_a_retry_refuses_a_mechanism_of_which_a_further_file_has_changed(tmp_path):
    """It took other reactions for those that failed, with success: the file that the case names was the same."""
    head, rest = HYDROGEN.read_text().split("\nchain:")
    units = next(line for line in head.splitlines() if line.startswith("units:"))
    groups = "[initiation-and-recombination, chain, peroxides]"
    assert groups in head
    reactions, text = tmp_path / "rx.yaml", f"{units}\nchain:{rest}"
    reactions.write_text(text)
    further = groups.replace("[", "[rx.yaml/").replace(", ", ", rx.yaml/")
    (tmp_path / "m.yaml").write_text(head.replace(groups, further) + "\n")
    path = tmp_path / "case.toml"
    path.write_text(
        '[system]\nmechanism = "m.yaml"\nfuel = { H2 = 1 }\noxidizer = { O2 = 1, N2 = 3.76 }\n'
        "temperature = 1300.0\n[time]\nspan = [0.0, 2e-4]\n"
        '[method]\nname = "rodas4"\nmax_steps = 20\n[tolerance]\nrtol = 1e-6\natol = 1e-15\n'
    )
    solution = od.run(path)
    assert solution.failed.all() and solution.retry(max_steps=10_000).success.all()
    assert "1.04e14" in text
    reactions.write_text(text.replace("1.04e14", "1.04e13"))
    with pytest.raises(od.InputError, match="system: found a file that has changed.*run the case again"):
        solution.retry(max_steps=10_000)
    reactions.write_text(text)
    assert solution.retry(max_steps=10_000).success.all()


def through_pipe(path, text, opened):
    """What is opened of a named pipe into which a text is written once."""
    os.mkfifo(path)
    thread = threading.Thread(target=path.write_text, args=(text,), daemon=True)
    thread.start()
    found = opened(path)
    thread.join()
    path.unlink()
    return found


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_case_in_a_pipe_is_read_once(tmp_path):
    """The second reading waited for ever."""
    solution = through_pipe(tmp_path / "pipe", ENSEMBLE, od.run)
    assert solution["x"] == pytest.approx(np.exp(-2.0), rel=1e-5)
    assert 'x = "-k * x"' in solution.case_text
    simulation = through_pipe(tmp_path / "pipe", FIELD, od.Simulation.from_case)
    assert simulation.title and simulation.shape == (1, 4, 4)
    # It ends there; how long the text is nobody knows.
    with pytest.raises(od.InputError, match="case file is too large.*found more than 2097152 bytes"):
        through_pipe(tmp_path / "pipe", ENSEMBLE + "#" * (2 << 20), od.run)
    # What is beyond the limit was cut off.
    check = "import sys, odeum; sys.exit(odeum._odeum.command(['odeum', 'check', '/dev/stdin']))"
    for text, status in ((ENSEMBLE, 0), (ENSEMBLE + "#" * (2 << 20), 2)):
        done = subprocess.run([sys.executable, "-c", check], input=text, capture_output=True, text=True)
        assert done.returncode == status, done.stderr


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="no /dev/stdin")
@pytest.mark.parametrize(("text", "opened"), [(ENSEMBLE, "od.run"), (FIELD, "od.Simulation.from_case")])
def test_a_case_may_be_the_standard_input(text, opened):
    """There was "no [system]" in it: it had been read before."""
    command = [sys.executable, "-c", f"import odeum as od; print({opened}('/dev/stdin'))"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_cases_are_read_as_the_command_reads_them(tmp_path):
    """TOML 1.1, which Python does not read: the text of the case was empty, and a simulation was refused."""
    path = tmp_path / "case.toml"
    path.write_text(
        ENSEMBLE.replace("{ x = 1.0 }", "{\n  x = 1.0, # start\n}")
        .replace("2.0", "0x2")
        .replace("1e-9", "1_0.0e-10")
    )
    solution = od.run(path)
    assert solution["x"] == pytest.approx(np.exp(-2.0), rel=1e-5)
    again = tmp_path / "again.toml"
    again.write_text(solution.case_text)
    np.testing.assert_array_equal(od.run(again).y, solution.y)
    path.write_text(
        FIELD.replace("[4, 4, 1]", "[4, 4, 0x1]").replace(
            "[time]", '[boundary]\ndefault = "no \\x66lux"\n[time]'
        )
    )
    assert od.Simulation.from_case(path).shape == (1, 4, 4)


FAILS = ENSEMBLE.replace("[tolerance]", "max_steps = 2\n[tolerance]")


@pytest.mark.parametrize("seed", ["18446744073709551615", "0xffff_ffff_ffff_ffff", "0x8000000000000000"])
def test_whole_numbers_are_read_as_the_engine_reads_them(tmp_path, seed):
    """From 2^63 on they were floats, or NaN where they were not decimal: a retry was refused, and a case that was written."""
    path, again = tmp_path / "case.toml", tmp_path / "again.toml"
    perturb = f'[ensemble]\ncount = 2\nseed = {seed}\nperturb = [{{ of = ["k"], relative = 0.1 }}]\n[time]'
    path.write_text(FAILS.replace("[time]", perturb).replace("-k * x", f"-k * x * {int(seed, 0)} / n"))
    path.write_text(path.read_text().replace("k = 2.0", f"k = 2.0, n = {seed}"))
    solution = od.run(path)
    assert solution.failed.all() and f"seed = {int(seed, 0)}\n" in solution.case_text
    assert solution.retry(max_steps=1000)["x"] == pytest.approx(np.exp(-2.0), rel=1.0)
    path.write_text(f"{FIELD}[initial]\nseed = {seed}\n")
    od.Simulation.from_case(path).to_toml(again)
    assert f"seed = {int(seed, 0)}\n" in again.read_text()
    od.Simulation.from_case(again)


def test_a_run_and_a_retry_warn_once(tmp_path):
    """They warned again by the plan of the run, of what that of its shape had told."""
    path = tmp_path / "case.toml"
    path.write_text(FAILS)
    failed = od.run(path)
    path.write_text(FAILS.replace("max_steps", "fixed_step = 0.3\nmax_steps"))
    for call in (lambda: failed.retry(fixed_step=0.3), lambda: od.run(path)):
        with pytest.warns(od.OdeumWarning) as told:
            call()
        assert len(told) == 1 and "do not reach the end" in str(told[0].message)


def test_a_name_that_a_field_refuses_is_told_once(tmp_path):
    """The equation of a species `exp` was told as one of no state, and each use as a function without arguments."""
    path = tmp_path / "case.toml"
    for system, said in (
        ('species = ["exp", "u"]\nequations = { exp = "-exp", u = "lap(u) + exp" }', "`exp` is a function"),
        ('species = ["u"]\nparameters = { lap = 1.0 }\nequations = { u = "u * lap" }', "`lap` is a function"),
        ('species = ["u"]\nparameters = { "" = 1.0 }\nequations = { u = "lap(u)" }', "`` is not a name"),
    ):
        path.write_text(FIELD.replace('problem = "turing"', system))
        with pytest.raises(od.InputError) as raised:
            od.Simulation.from_case(path)
        lines = [line for line in str(raised.value).splitlines() if "`system." in line]
        assert len(lines) == 1 and said in lines[0]


def test_a_case_behind_a_link_has_its_files_beside_the_link(tmp_path):
    """A retry looked for them beside the file that it leads to."""
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    van_der_pol()(mu=[1.0, 1000.0]).to_toml(there / "case.toml", (0, 20), max_steps=300)
    (there / "case.table.npz").rename(here / "case.table.npz")
    (here / "case.toml").symlink_to(there / "case.toml")
    solution = od.run(here / "case.toml")
    assert solution.failed.tolist() == [False, True]
    assert solution.retry(method="radau").success.all()


def test_what_holds_unless_a_case_says_it_is_what_a_case_may_say():
    """The defaults are those of the engine: what says them changes nothing."""
    defaults = od._odeum.defaults()
    options = {key.partition(".")[2]: value for key, value in defaults.items()}
    assert options["max_steps"] == 100_000 and options["precision"] == "f64"
    usual, said = (van_der_pol().solve((0, 5), method="rodas4", **each) for each in ({}, options))
    np.testing.assert_array_equal(said.y, usual.y)
    assert said.counts["steps"] == usual.counts["steps"]
