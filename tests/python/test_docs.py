"""The code of the guide, of the notebooks and of docstrings runs; the reference lists all that is exported."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import odeum as od

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "src"
PAGES = sorted([*DOCS.glob("python/*.md"), *DOCS.glob("notebooks/*.md")])
# A block whose fence says `not-run` needs what no test has: several machines, a GPU.
BLOCK = re.compile(r"^```(?:python|\{code-cell\} ipython3)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[int, str]]:
    """The blocks of code that run, each with the line before it."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, block.start(1)), block[1]) for block in BLOCK.finditer(text)]


RUN = [page for page in PAGES if blocks(page)]


@pytest.mark.parametrize("page", RUN, ids=[f"{page.parent.name}/{page.stem}" for page in RUN])
def test_the_code_of_pages_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("mechanisms", "cases"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names = {"__name__": "__main__"}
    for line, code in blocks(page):
        # The lines before it are there for the numbers in tracebacks.
        exec(compile("\n" * line + code, page, "exec"), names)


def test_all_kinds_of_blocks_are_found() -> None:
    fences = [line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines()]
    opened = sum(line.startswith(("```python", "```{code-cell}")) for line in fences)
    left_out = sum(line == "```python not-run" for line in fences)
    assert opened == left_out + sum(len(blocks(page)) for page in PAGES)


def test_the_reference_lists_what_is_exported() -> None:
    text = (DOCS / "python" / "reference.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\.\. auto\w+:: odeum\.(\w+)$", text, re.MULTILINE))
    assert listed == set(od.__all__) - {"__version__"}


MODULES = sorted(module.name for module in pkgutil.walk_packages(od.__path__, "odeum."))


@pytest.mark.parametrize("name", [name for name in MODULES if name != "odeum._odeum"])
def test_the_examples_of_docstrings_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert doctest.testmod(importlib.import_module(name)).failed == 0
