"""What solutions and sessions have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from odeum._convert import Floats
from odeum.errors import InputError
from odeum.statuses import is_success

if TYPE_CHECKING:
    from odeum.runs import Axis


class Ended:
    """The systems of an ensemble along its axes, with their states and how they ended."""

    axes: tuple[Axis, ...]
    state_names: tuple[str, ...]
    _status: NDArray[np.uint8]

    def _end_states(self) -> Floats:
        """States [n, M]."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes of the ensemble; () of one system."""
        return tuple(axis.length for axis in self.axes)

    def __len__(self) -> int:
        return len(self._status)

    @property
    def y(self) -> Floats:
        """State at the time reached [*shape, n]: `states`, systems first."""
        return self._end_states().T.reshape(*self.shape, len(self.state_names))

    @property
    def status(self) -> NDArray[np.uint8]:
        """How each system ended [*shape]: numbers of `odeum.STATUSES`."""
        return self._status.reshape(self.shape)

    @property
    def success(self) -> NDArray[np.bool_]:
        """Which systems reached the end or a terminal event [*shape]."""
        return is_success(self.status)

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Which did not [*shape]."""
        return ~self.success

    def __getitem__(self, state: str) -> Floats:
        """A state at the time reached [*shape], by its name."""
        values: Floats = self._end_states()[self._place(state)].reshape(self.shape)
        return values

    def _place(self, state: str) -> int:
        """Where a state stands among the names."""
        if state not in self.state_names:
            raise InputError("state", repr(state), f"there are {', '.join(self.state_names[:12])}")
        return self.state_names.index(state)
