"""How a function takes parameters: by name, or in order."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from odeum.errors import InputError

# Calls the function with its leading arguments and values of the parameters.
Call = Callable[[Sequence[Any], Sequence[Any]], Any]

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_ORDERED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def bind(f: Any, leading: tuple[str, ...], parameters: Sequence[str], by_place: bool = False) -> Call:
    """Matches the arguments of a function behind the leading ones with parameters.

    By name where the function has arguments of these names, in any order or by keyword alone; else, or with `by_place`,
    by position.

    Raises
    ------
    InputError
        No function; or its arguments are not the parameters.
    """
    if not callable(f):
        raise InputError("f", f"{type(f).__name__}", f"give a function f({', '.join(leading)}, ...)")
    try:
        arguments = list(inspect.signature(f, follow_wrapped=False).parameters.values())
        wrapped = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return lambda first, values: f(*first, *values)
    if {a.kind for a in arguments} >= set(_ANY):
        # What a function is given goes on to the one that it wraps.
        arguments = wrapped
    ordered = [a for a in arguments if a.kind in _ORDERED]
    star = any(a.kind is inspect.Parameter.VAR_POSITIONAL for a in arguments)
    stars = any(a.kind is inspect.Parameter.VAR_KEYWORD for a in arguments)
    first = [a.name for a in ordered[: len(leading)]]
    # As for `scipy.integrate.odeint`.
    is_time_behind = first[1:] in (["t"], ["time"])
    if len(first) < len(leading) and not star or is_time_behind:
        call = f"f({', '.join((*leading, *parameters))})"
        raise InputError("f", f"a function of ({', '.join(a.name for a in arguments)})", f"write {call}")
    if by_place:
        return lambda first, values: f(*first, *values)
    by_name = [a for a in arguments if a.kind in _NAMED and a.name not in first]
    behind = ordered[len(leading) :]

    needed = {a.name for a in by_name if a.default is a.empty}
    known = {a.name for a in by_name}
    positional_only = any(a.kind is inspect.Parameter.POSITIONAL_ONLY for a in behind)
    if not positional_only and needed <= set(parameters) and (stars or set(parameters) <= known):
        return lambda first, values: f(*first, **dict(zip(parameters, values, strict=True)))

    by_keyword = any(a.kind is inspect.Parameter.KEYWORD_ONLY and a.default is a.empty for a in arguments)
    least = sum(a.default is a.empty for a in behind)
    fits = least <= len(parameters) and (star or len(parameters) <= len(behind))
    # A name of another place is rather a slip than meant.
    given = [a for a in wrapped if a.kind in _ORDERED][len(leading) :] if star else behind
    swapped = any(a.name in parameters and a.name != p for a, p in zip(given, parameters, strict=False))
    if by_keyword or not fits or swapped:
        takes = ", ".join(a.name for a in arguments if a.name not in first)
        remedy = f"give the arguments behind {' and '.join(leading)} the names of the parameters"
        found = f"the arguments ({takes}) and the parameters ({', '.join(parameters)})"
        raise InputError("f", found, remedy)
    return lambda first, values: f(*first, *values)
