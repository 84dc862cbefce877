"""Names of states and parameters."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from odeum import _odeum
from odeum._case import toml
from odeum._convert import refuse_unwritable
from odeum.errors import InputError


def checked(field: str, names: Iterable[Any]) -> tuple[str, ...]:
    """Names as a tuple of different texts."""
    if isinstance(names, str):
        raise InputError(field, f"the text {names!r}", "give a list of names")
    listed = tuple(names)
    for k, name in enumerate(listed):
        if not isinstance(name, str):
            raise InputError(f"{field}[{k}]", f"{name!r} ({type(name).__name__})", "give a name as text")
        refuse_unwritable(field, name)
    if len(set(listed)) < len(listed):
        k = next(k for k, name in enumerate(listed) if name in listed[:k])
        raise InputError(f"{field}[{k}]", f"{listed[k]!r} a second time", "choose another name")
    return listed


@lru_cache(maxsize=256)
def allow(states: tuple[str, ...], parameters: tuple[str, ...]) -> None:
    """Has the reader of cases judge the names.

    Raises
    ------
    InputError
        A name that expressions cannot have, or that has a meaning already.
    """
    if not states:
        raise InputError("states", "no state", "name one at least")
    # Every parameter is used, so that none is reported as unused.
    total = " + ".join(parameters or "0") if all(map(str.isidentifier, parameters)) else "0"
    system = {
        "states": dict.fromkeys(states, 1.0),
        "parameters": dict.fromkeys(parameters, 1.0),
        "equations": dict.fromkeys(states, "0") | {states[0]: total},
    }
    tolerance = {"rtol": 1e-3, "atol": 1e-3}
    needed = {"time": {"span": [0.0, 1.0]}, "method": {"name": "dopri5"}, "tolerance": tolerance}
    try:
        _odeum.Case(toml({"system": system, **needed}), ".")
    except InputError as error:
        # The first finding; others may follow from it.
        raise InputError(error.field.removeprefix("system."), error.found, error.remedy) from None


def nearest(name: str, names: Sequence[str]) -> str:
    """What was probably meant, and all there is."""
    folded = {other.casefold(): other for other in names}
    similar = difflib.get_close_matches(name.casefold(), folded, 1)
    meant = f"did you mean `{folded[similar[0]]}`? " if similar else ""
    shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    return f"{meant}there are {shown}" if names else "there are none"
