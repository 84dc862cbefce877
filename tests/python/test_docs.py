"""The code of the guide and of the notebooks runs, and the reference lists all that is exported."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import odeum as od

DOCS = Path(__file__).parents[2] / "docs" / "src"
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
