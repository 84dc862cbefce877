"""Case files, run from Python."""

from __future__ import annotations

from pathlib import Path

from odeum import _nvrtc, _odeum, _options
from odeum._case import EnsembleCase, load_case_text, solve, warned
from odeum._progress import Progress
from odeum.errors import InputError
from odeum.solution import Solution


def run(path: str | Path, *, threads: int | None = None, progress: Progress = None) -> Solution:
    """Integrates the ensemble that a case file describes, as the command ``odeum run`` does.

    Parameters
    ----------
    path : path
        The case file, or a pipe. One of fields is opened by `Simulation.from_case`.
    threads : int, optional
        Threads of the CPU.
    progress : bool or callable
        As `Runs.solve`.

    Returns
    -------
    Solution
        The result; unlike the command this writes no file. Its `retry` reads the files of the case again, and refuses
        those that have changed.

    Raises
    ------
    InputError
        What is wrong with the file, with line and column.
    """
    threads = _options.threads({"threads": threads})
    path = Path(path)
    text, keys = load_case_text(path)
    if "grid" in keys:
        raise InputError("path", "a case of fields", "open it by odeum.Simulation.from_case")
    _nvrtc.load_for(keys)
    opened = _odeum.Case.read(path, text, threads)
    # A retry is to take no other systems for these.
    case = EnsembleCase(keys, str(path.absolute().parent), systems=dict(opened.systems))
    return warned(solve(case, opened, progress=progress))
