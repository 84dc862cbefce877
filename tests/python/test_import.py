"""The package as it is installed: what it brings, and what importing it costs."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import odeum as od
from odeum import _odeum

# What a program that only imports the package should not wait for.
HEAVY = ["cantera", "matplotlib", "pandas", "scipy", "sympy", "tqdm", "xarray"]


def installed() -> metadata.Distribution:
    """The installed package; a tree of sources has no metadata."""
    try:
        return metadata.distribution("odeum")
    except metadata.PackageNotFoundError:
        if os.environ.get("ODEUM_NEED_WHEEL") == "1":
            raise
        pytest.skip("odeum is not installed")


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_version_is_that_of_the_extension_and_of_the_metadata() -> None:
    assert od.__version__ == _odeum.__version__ == installed().version


def test_what_is_exported_exists_and_is_listed_once() -> None:
    assert all(hasattr(od, name) for name in od.__all__)
    assert len(od.__all__) == len(set(od.__all__))


def test_importing_loads_nothing_heavy() -> None:
    loaded = python("import sys, odeum; print(*sorted({name.split('.')[0] for name in sys.modules}))")
    assert "odeum" in loaded.split()
    assert not set(HEAVY) & set(loaded.split())


def test_methods_statuses_and_counts_have_names() -> None:
    methods = _odeum.methods()
    assert {"tsit5", "dopri5", "radau", "rodas5p", "bdf"} & set(methods)
    assert len(methods) == len(set(methods))
    names = [name for name, _, _ in _odeum.statuses()]
    assert names[0] == "success" and len(names) == len(set(names))
    assert len(_odeum.counts()) == len(set(_odeum.counts()))


def test_the_package_says_that_it_is_typed() -> None:
    folder = Path(od.__file__).parent
    assert (folder / "py.typed").is_file()
    assert (folder / "_odeum.pyi").is_file()


def test_the_metadata_names_the_licences_and_the_command() -> None:
    about = installed().metadata
    assert about["License-Expression"] == "MIT OR Apache-2.0"
    assert about["Requires-Python"] == ">=3.11"
    assert {"all", "cuda", "plot", "sympy", "xarray"} <= set(about.get_all("Provides-Extra") or [])
    (command,) = installed().entry_points.select(name="odeum")
    assert command.value == "odeum._command:main"
