"""Files that are written."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from odeum._convert import flag
from odeum.errors import InputError


def free(path: Path, overwrite: bool) -> None:
    """Refuses a path at which there is something already, unless that may go."""
    if not flag("overwrite", overwrite) and path.exists():
        raise InputError("path", f"{path}, which exists", "choose another path, or overwrite=True")


def beside(case: Path, name: str) -> Path:
    """A file that belongs to a case: beside it, under its whole name but for `.toml`, as cases may be called 0.5 and 0.6."""
    return case.with_name(f"{case.name.removesuffix('.toml')}.{name}")


def save_columns(path: Path, columns: Mapping[str, NDArray[np.float64]]) -> None:
    """Writes named arrays as NPZ, whatever their names: `np.savez` takes some for its own arguments."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, column in columns.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, column, allow_pickle=False)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Says of which path it is that something cannot be written."""
    try:
        yield
    except OSError as error:
        raise InputError("path", f"{path} ({error.strerror or error})", "choose another path") from error
