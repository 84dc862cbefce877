"""Case files, run from Python."""

from __future__ import annotations

import tomllib
from pathlib import Path

from odeum import _nvrtc, _odeum, _options
from odeum._case import Document, EnsembleCase, solve
from odeum._progress import Progress
from odeum.errors import InputError
from odeum.solution import Solution


def run(path: str | Path, *, threads: int | None = None, progress: Progress = None) -> Solution:
    """Integrates the ensemble that a case file describes, as the command ``odeum run`` does.

    Parameters
    ----------
    path : path
        The case file. One of fields is opened by `Simulation.from_case`.
    threads : int, optional
        Threads of the CPU.
    progress : bool or callable
        As `Runs.solve`.

    Returns
    -------
    Solution
        The result; unlike the command this writes no file.

    Raises
    ------
    InputError
        What is wrong with the file, with line and column.
    """
    document = _document(Path(path))
    if "grid" in document:
        raise InputError("path", "a case of fields", "open it by odeum.Simulation.from_case")
    if str(document.get("run", {}).get("device", "cpu")).startswith("cuda"):
        _nvrtc.load()
    opened = _odeum.Case.read(path, _options.threads({"threads": threads}))
    case = EnsembleCase(document, str(Path(path).resolve().parent))
    return solve(case, opened, progress=progress)


def _document(path: Path) -> Document:
    """The keys of a case file; what is wrong with its text is told by whoever reads it for good."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}
