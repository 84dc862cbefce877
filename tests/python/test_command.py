"""The command `odeum` as the package's console script."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import odeum as od

SHORT = """
[system]
states = { x = 1.0 }
parameters = { k = 1.0 }
equations = { x = "-k * x" }
[ensemble]
sweep = { k = [1.0, 2.0] }
[time]
span = [0.0, 1.0]
[method]
name = "dopri5"
[tolerance]
rtol = 1e-8
atol = 1e-10
"""
# Minutes of work, unless it is stopped.
LONG = (
    SHORT.replace('"-k * x"', '"-k * x + sin(1000 * t)"')
    .replace("1.0]\n[m", "1e9]\n[m")
    .replace("[tolerance]", "max_steps = 1000000000\nmax_evaluations = 4000000000\n[tolerance]")
)


def threads(process: int) -> list[str]:
    """The names of a process's threads."""
    return [path.read_text().strip() for path in Path(f"/proc/{process}/task").glob("*/comm")]


@pytest.fixture
def script() -> str:
    """The console script of the environment that runs this test."""
    path = Path(sys.executable).with_name("odeum")
    if not path.is_file() and os.environ.get("ODEUM_NEED_WHEEL") != "1":
        pytest.skip(f"{path} is not installed")
    return str(path)


def test_it_says_its_version(script: str) -> None:
    said = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.split()[:2] == ["odeum", od.__version__]


def test_it_runs_a_case(script: str, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SHORT)
    subprocess.run([script, "run", "a.toml"], cwd=tmp_path, check=True, capture_output=True)
    with np.load(tmp_path / "a.npz") as result:
        np.testing.assert_allclose(result["y"][:, 0], np.exp([-1.0, -2.0]), rtol=1e-6)


def test_what_is_wrong_ends_with_its_status(script: str, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SHORT.replace("dopri5", "dopri55"))
    done = subprocess.run([script, "run", "a.toml"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert "dopri5" in done.stderr


def test_control_c_stops_a_run_in_an_orderly_way(script: str, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(LONG)
    run = subprocess.Popen([script, "run", "a.toml"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        # The thread that hears the signal is there once the run has begun.
        while "ctrl-c" not in threads(run.pid):
            assert run.poll() is None
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode == 130, said
    assert "stopping; press Ctrl-C again" in said
    assert "Traceback" not in said
