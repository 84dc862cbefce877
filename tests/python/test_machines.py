"""The scripts of the page on several machines, as programs: Slurm's variables set, Dask and MPI where they are installed."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "src" / "python" / "machines.md"
CHECK = """
import numpy as np
assert np.array_equal(sol.y, runs.solve(**options).y) and sol.success.all()
print("the same", len(sol.y))
"""


def scripts(section: str) -> list[str]:
    """The blocks of code under a heading, or before the first one."""
    text = "\n" + PAGE.read_text(encoding="utf-8")
    under = text.split(f"\n## {section}\n")[1] if section else text
    return re.findall(r"^```python.*?\n(.*?)^```$", under.split("\n## ")[0], re.MULTILINE | re.DOTALL)


@pytest.fixture
def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """`sweep.py` in the folder that the programs run in, and its names."""
    (tmp_path / "sweep.py").write_text(scripts("")[0])
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(scripts("")[0], names)
    return names


def python(script: str, *before: str, **variables: str) -> str:
    """What a program prints that is started as `before` says."""
    done = subprocess.run(
        [*before, sys.executable, "-c", script],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_slurm_arrays(sweep: dict[str, Any]) -> None:
    whole = scripts("Slurm arrays")
    part, join = (re.sub(r"\b(split|range)\(16\)", r"\1(3)", script) for script in whole)
    assert part != whole[0] and join != whole[1]
    # The last part by itself, as it is started again: Slurm counts the tasks of that array alone.
    for number, count in ((0, 2), (1, 2), (2, 1)):
        python(part, SLURM_ARRAY_TASK_ID=str(number), SLURM_ARRAY_TASK_COUNT=str(count))
    names: dict[str, Any] = {}
    exec(join, names)
    assert np.array_equal(names["sol"].y, sweep["runs"].solve(**sweep["options"]).y)
    lengths = [len(pickle.loads(file.read_bytes()).y) for file in sorted(Path().glob("part-*.pickle"))]
    assert lengths == [len(part.solve(**sweep["options"]).y) for part in sweep["runs"].split(3)]


@contextmanager
def cluster(workers: Path) -> Iterator[None]:
    """A scheduler, and two workers in a folder that has no `sweep.py`."""
    file = Path.cwd() / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    here = ["--scheduler-file", str(file)]
    started = [subprocess.Popen([*dask, "scheduler", *here, "--port", "0", "--no-dashboard"])]
    try:
        workers.mkdir()
        for _ in range(2):
            command = [*dask, "worker", *here, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
            started.append(subprocess.Popen(command, cwd=workers))
        yield
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(30)


def test_dask(sweep: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: pip install distributed")
    (script,) = scripts("Dask")
    wait = "client.wait_for_workers(2)"
    script = script.replace("\nfutures", f"\n{wait}\nfutures")
    assert wait in script
    placed = "workers = {worker for part in client.who_has(futures).values() for worker in part}"
    with cluster(tmp_path / "workers"):
        for _ in range(600):
            if Path("scheduler.json").exists():
                break
            time.sleep(0.1)
        said = python(f"{script}{CHECK}{placed}\nprint(len(workers))")
    assert said.split() == ["the", "same", "1000", "2"]


def test_mpi4py(sweep: dict[str, Any]) -> None:
    pytest.importorskip("mpi4py", reason="mpi4py is not installed: pip install mpi4py mpich")
    (script,) = scripts("mpi4py")
    check = CHECK.strip().replace("\n", "; ")
    mpiexec = Path(sys.executable).with_name("mpiexec")
    launcher = str(mpiexec) if mpiexec.exists() else "mpiexec"
    assert python(f"{script}    {check}\n", launcher, "-n", "3") == "the same 1000\n"
