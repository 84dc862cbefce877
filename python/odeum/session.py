"""Ensembles that stay on their device over many calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from odeum import _odeum, _options
from odeum._case import warn_of_extrapolation
from odeum._convert import Floats, finite, single
from odeum._ended import Ended
from odeum._fixed import Fixed
from odeum._labels import order
from odeum.errors import InputError
from odeum.statuses import NOT_RUN

if TYPE_CHECKING:
    from odeum.runs import Axis


class Session(Fixed, Ended):
    """An ensemble whose states stay in the memory of its device, advanced over one span after the other.

    Made by `Runs.session`. Every system begins an advance with the step size with which it ended the one before. One
    that failed stands at its last good state, and is advanced from there like the others: look at `failed` after
    each advance. A session serves one thread at a time.

    Attributes
    ----------
    axes : tuple of Axis
        Names, lengths and values of the axes of the ensemble; their lengths are `shape`.
    state_names : tuple of str
        Names of the states [n].

    Examples
    --------
    >>> import odeum as od
    >>> decay = od.System.from_text({"x": "-k * x"}, states={"x": 1.0}, parameters={"k": 1.0})
    >>> session = decay.sweep(k=[1.0, 2.0]).session(rtol=1e-8)
    >>> for step in range(10):
    ...     status = session.advance((0.1 * step, 0.1 * (step + 1)))
    ...     session.states = 2.0 * session.states            # what a code does between the steps
    >>> (session["x"] / 2.0**10).round(6)
    array([0.367879, 0.135335])
    """

    _raw: _odeum.Session
    _is_single: bool
    _has_warned: bool

    def __init__(self) -> None:
        raise TypeError("sessions are made by `Runs.session`")

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a session stays on its device: begin another one in place of a copy (`Runs.session`)"
        )

    @classmethod
    def _of(
        cls,
        raw: _odeum.Session,
        states: tuple[str, ...],
        axes: Sequence[Axis],
        systems: int,
        is_single: bool,
    ) -> Session:
        session = cls.__new__(cls)
        session._raw = raw
        session._is_single = is_single
        session._has_warned = False
        session.state_names = states
        session.axes = tuple(axes)
        session._status = np.full(systems, NOT_RUN, np.uint8)
        session._is_made = cls is Session
        return session

    def advance(self, span: Any) -> NDArray[np.uint8]:
        """Integrates all systems over a span.

        An `OdeumWarning` tells of the first advance in which reactors went beyond the thermodynamic data; on a GPU, of
        the first that left them there. All systems are at the end of the span then, also where a filter makes an error of
        it, whose `result` has how they ended.

        Parameters
        ----------
        span : (float, float)
            Start and end of the time.

        Returns
        -------
        ndarray
            How each system ended [*shape]: numbers of `odeum.STATUSES`, 0 for success.

        Raises
        ------
        InputError
            A span that cannot be used.
        KeyboardInterrupt
            Ctrl-C, or whatever else a signal raises. Systems that had not come to the end of the span keep their states then, others
            are there; which, is not told: ``status`` says of all that they did not run.
        """
        start, end = _options.start_and_end(span)
        try:
            # Asked here, as the counts of all systems would come from the GPU.
            status, came_outside = self._raw.advance((start, end), not self._has_warned)
            self._status = np.asarray(status)
        except InputError:
            # A span that was refused: nothing has been done.
            raise
        except BaseException:
            # Those of the advance before would be taken for those of this one.
            self._status = np.full(len(self), NOT_RUN, np.uint8)
            raise
        if came_outside:
            counts = self.counts
            self._has_warned = bool(counts["outside"].any())
            warn_of_extrapolation(counts, "the session, after each advance,", self.status)
        return self.status

    @property
    def states(self) -> Floats:
        """A copy of the states [n, M]; set it to set those of all systems. Labels of pandas and xarray say which is which.

        States of reactors that are those of no gas are refused. Who changes mass fractions sets ``m`` too, the sum of Y/W:
        ``states[-1] = 1 / gas.mean_molecular_weight(states[1:-1].T)``. Temperatures and mass fractions may lie where starts
        may, and as far outside as those of the session do, temperatures by `temperature_margin` more.
        """
        return np.asarray(self._raw.states())

    @states.setter
    def states(self, values: Any) -> None:
        shape = (len(self.state_names), len(self))
        array = finite("states", values)
        if array.shape != shape:
            raise InputError("states", f"an array of shape {array.shape}", f"give one of shape {shape}")
        places = order("states", values, self.state_names, "states", axis=0)
        if places is not None:
            array = np.ascontiguousarray(array[places])
        if self._is_single:
            single("states", array)
        self._raw.set_states(array)

    def _end_states(self) -> Floats:
        return self.states

    @property
    def states_on_gpu(self) -> _odeum.GpuArray:
        """The states [n, M] where they lie on the GPU: an array that CuPy, PyTorch, JAX and Numba take without a copy.

        ``torch.from_dlpack(session.states_on_gpu)``; it shows the new states after each advance, and what is written
        to it are states of the session. An advance waits for the work that was given to the GPU before. The memory
        lives as long as somebody has such an array. What is written is not looked at: of reactors see `states`.
        """
        array = self._raw.states_on_gpu
        if array is None:
            raise InputError("device", "cpu", 'begin the session with device="cuda", or use `states`')
        return array

    @property
    def counts(self) -> dict[str, NDArray[np.uint32]]:
        """What each system cost in the last advance, by name: steps, rejected, nfev, ... [*shape]."""
        stats = np.asarray(self._raw.stats)
        return {name: stats[:, k].reshape(self.shape) for k, name in enumerate(_odeum.counts())}

    def __repr__(self) -> str:
        axes = " x ".join(f"{axis.name} {axis.length}" for axis in self.axes)
        return f"<odeum.Session: {len(self):,} systems{f' ({axes})' if axes else ''}>"
