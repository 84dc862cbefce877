"""Objects that keep what they were made with."""

from __future__ import annotations

from typing import Any


class Fixed:
    """Refuses attributes once it `_is_made`, since nothing that is computed would depend on them.

    Classes that users derive have attributes of their own: theirs are not made.
    """

    _is_made = False

    def __setattr__(self, name: str, value: Any) -> None:
        if (
            self._is_made
            and not name.startswith("_")
            and not isinstance(getattr(type(self), name, None), property)
        ):
            kind = type(self).__name__
            raise AttributeError(f"{name!r} of this {kind} cannot be set: make another {kind} with it")
        super().__setattr__(name, value)
