"""What a function returned: one value for each state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from odeum._trace.array import Array, objects
from odeum._trace.names import nearest
from odeum._trace.refusal import Refusal
from odeum._trace.symbol import Symbol


def values(returned: Any, names: Sequence[str]) -> list[Any]:
    """The values in the order of the names.

    Takes a list, a tuple, an array, a dict by name, and for one name the value itself.
    """
    wanted = (
        f"return {len(names)}, one for each of {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"
    )
    if returned is None:
        raise Refusal("nothing returned (None)", wanted)
    if isinstance(returned, Mapping):
        return _by_name(returned, names)
    if isinstance(returned, Symbol | float | int | np.number | np.bool_):
        listed = [returned]
    elif isinstance(returned, Array | np.ndarray | list | tuple):
        listed = _flat(returned, wanted)
    else:
        raise Refusal(f"{type(returned).__name__} returned", f"{wanted}, as a list, an array or a dict")
    if len(listed) != len(names):
        raise Refusal(f"{len(listed)} value{'s' if len(listed) != 1 else ''} returned", wanted)
    return listed


def _flat(returned: Any, wanted: str) -> list[Any]:
    if isinstance(returned, list | tuple):
        shapes = {np.shape(value): None for value in returned}
        if len(shapes) > 1:
            raise Refusal(f"values of the shapes {', '.join(map(str, shapes))} returned", wanted)
        if () in shapes:
            return list(returned)
    data = objects(returned)
    if data.ndim > 1:
        remedy = f"{wanted}, in one axis: join arrays by np.concatenate"
        raise Refusal(f"an array of shape {data.shape} returned", remedy)
    return list(data.reshape(-1))


def _by_name(returned: Mapping[Any, Any], names: Sequence[str]) -> list[Any]:
    for name in returned:
        if name not in names:
            raise Refusal(
                f"a value for {name!r} returned", f"no state has this name: {nearest(str(name), names)}"
            )
    missing = [name for name in names if name not in returned]
    if missing:
        raise Refusal(f"no value for {', '.join(missing)} returned", "return one for each state")
    return [returned[name] for name in names]
