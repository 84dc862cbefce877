"""What the extension finds wrong with a case, as exceptions and warnings."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

from odeum import _odeum
from odeum.errors import InputError, OdeumWarning

# Severity, message, place, field, found, remedy.
FindingTuple = tuple[str, str, str, str, str, str]


def _sentence(finding: FindingTuple) -> str:
    _, message, place, field, found, remedy = finding
    named = not field or f"`{field}`" in message or message.startswith(f"{field}: ")
    words = message if named else f"`{field}`: {message}"
    if found and found not in words:
        words += f" (found {found})"
    place = _known(place)
    if place:
        words = f"{place}: {words}"
    return f"{words}; {remedy}" if remedy else words


def _is_own(place: str) -> bool:
    """Whether a place is in a case that this package wrote: a line of it, or the whole."""
    return place == _odeum.OWN_CASE or place.startswith(f"{_odeum.OWN_CASE}:")


def _known(place: str) -> str:
    """The place, unless it is in a case that this package wrote, whose lines mean nothing to a reader."""
    return "" if _is_own(place) else place


def _on_one_line(finding: FindingTuple) -> FindingTuple:
    """Lists of a case that this package wrote, an element on each line of it, as they were given."""
    severity, message, place, field, found, remedy = finding
    if _is_own(place):
        found = re.sub(r",?⏎ *\]", "]", found)
        found = re.sub(r"([\[,])⏎ *", lambda match: "[" if match[1] == "[" else ", ", found)
    return severity, message, place, field, found, remedy


def raise_and_warn(findings: Sequence[FindingTuple], result: Any = None) -> None:
    """Warns of the warnings, and raises the errors as one `InputError`.

    A caller that has computed a result before gives it: filters may make errors of warnings, and what is done is not to
    be lost, nor to be done twice.
    """
    findings = [_on_one_line(finding) for finding in findings]
    for finding in findings:
        if finding[0] == "warning":
            try:
                warnings.warn(_sentence(finding), OdeumWarning, stacklevel=_depth())
            except OdeumWarning as warning:
                if result is not None:
                    warning.result = result
                    warning.add_note(
                        "The call has done what it was asked for: `result` of this warning has what was computed."
                    )
                raise
    errors = [finding for finding in findings if finding[0] == "error"]
    if errors:
        _, message, place, field, found, remedy = errors[0]
        sentences = [_sentence(finding) for finding in errors]
        raise InputError(field or _known(place), found or message, remedy, "\n".join(sentences))


def _depth() -> int:
    """How many frames up the first one outside this package is."""
    import sys

    depth = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "odeum":
        frame = frame.f_back
        depth += 1
    return depth
