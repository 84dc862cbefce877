"""The site: the book in `src`, the Python package's reference, and notebooks that run as it is built.

`src/SUMMARY.md` is the one table of contents. Here it becomes Sphinx's: its parts are the captions of the
landing page, its nested entries belong to the page they are nested under.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import odeum

project = "Odeum"
author = "The Odeum developers"
project_copyright = author
version = release = odeum.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "myst-nb"}
exclude_patterns = ["SUMMARY.md"]
root_doc = "index"
myst_heading_anchors = 6

nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

# What stands between single backticks in docstrings is a name.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"Odeum {release}"
html_show_sourcelink = False

SUMMARY = Path(__file__).parent / "src" / "SUMMARY.md"


def contents() -> dict[str, list[tuple[str, list[str]]]]:
    """What stands below each page: captions, each with its entries."""
    below: dict[str, list[tuple[str, list[str]]]] = {}
    parents: list[str] = []
    for line in SUMMARY.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            # The first heading is the title of the file.
            below.setdefault(root_doc, []).append((line[2:] if below else "", []))
        elif entry := re.fullmatch(r"( *)- \[(.*)\]\((.*)\.md\)", line):
            depth, title, page = len(entry[1]) // 2, entry[2], entry[3]
            if page == root_doc:
                continue
            parents[depth:] = [page]
            parent = parents[depth - 1] if depth else root_doc
            below.setdefault(parent, [("", [])])[-1][1].append(f"{title} </{page}>")
    return below


def add_contents(_: Any, page: str, source: list[str]) -> None:
    """Appends to a page the table of what stands below it."""
    for caption, entries in BELOW.get(page, []):
        if entries:
            options = ":hidden:\n" + (f":caption: {caption}\n" if caption else "")
            lines = "\n".join(entries)
            source[0] += f"\n\n```{{toctree}}\n{options}\n{lines}\n```\n"


BELOW = contents()


def escape_shapes(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """The star of a shape such as [*batch, n] begins no emphasis."""
    lines[:] = [line.replace("[*", "[\\*") for line in lines]


def setup(app: Any) -> None:
    app.connect("source-read", add_contents)
    app.connect("autodoc-process-docstring", escape_shapes)
