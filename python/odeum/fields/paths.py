"""Paths of arrays in the documents of cases.

In memory they are absolute: which folder they are told from is known only where they are given.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from odeum._case import Document


def absolute(value: Any, folder: Path | None = None) -> Any:
    """A value whose `file`, if it has one, lies in a folder: the current one unless said."""
    if isinstance(value, dict) and isinstance(value.get("file"), str):
        return {**value, "file": str((folder or Path.cwd()) / value["file"])}
    return value


def from_folder(path: str, folder: Path) -> str:
    """An absolute path as a case file in a folder names it: by the way from there where it lies in it."""
    try:
        return Path(path).relative_to(folder).as_posix()
    except ValueError:
        return path


def renamed(document: Document, name: Callable[[str], str]) -> Document:
    """A document that has other names for the arrays of its cells."""
    document = copy.deepcopy(document)
    tables = list(document.get("initial", {}).values())
    tables.append(document.get("grid", {}).get("mask"))
    for table in tables:
        if isinstance(table, dict) and "file" in table:
            table["file"] = name(table["file"])
    if "cells" in document.get("velocity", {}):
        document["velocity"]["cells"] = [name(part) for part in document["velocity"]["cells"]]
    if "diffusion" in document:
        document["diffusion"] = {species: name(path) for species, path in document["diffusion"].items()}
    return document
