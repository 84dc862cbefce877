"""Files that are written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from odeum._convert import flag
from odeum.errors import InputError


def free(path: Path, overwrite: bool) -> None:
    """Refuses a path at which there is something already, unless that may go."""
    if not flag("overwrite", overwrite) and path.exists():
        raise InputError("path", f"{path}, which exists", "choose another path, or overwrite=True")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Says of which path it is that something cannot be written."""
    try:
        yield
    except OSError as error:
        raise InputError("path", f"{path} ({error.strerror or error})", "choose another path") from error
