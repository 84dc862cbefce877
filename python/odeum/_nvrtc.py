"""NVIDIA's run-time compiler from its wheel, found without `LD_LIBRARY_PATH`."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

# Loaded by its soname before anybody asks for it, a library is found wherever it lies.
_LIBRARIES = ("libnvrtc-builtins.so.*", "libnvrtc.so.*")


def load_for(document: Mapping[str, Any]) -> None:
    """Loads the compiler where the device of a case is a GPU."""
    section = document.get("run")
    if isinstance(section, Mapping) and str(section.get("device")).startswith("cuda"):
        load()


@cache
def load() -> bool:
    """Loads the compiler that ``pip install odeum[cuda]`` brings; false where it is not installed."""
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return False
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    for folder in folders:
        for library in (folder / "cu13" / "lib", folder / "cuda_nvrtc" / "lib"):
            found = [sorted(library.glob(pattern)) for pattern in _LIBRARIES]
            if all(found):
                for each in found:
                    ctypes.CDLL(str(each[0]), mode=ctypes.RTLD_GLOBAL)
                return True
    return False
