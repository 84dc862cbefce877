"""`solve_ivp` with SciPy's signature and a batch axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from odeum import _options
from odeum._case import finished, warn_of_extrapolation
from odeum._convert import Floats, finite, flag, not_lost, numbers, single
from odeum._labels import order, refuse_other_batches
from odeum._progress import Progress
from odeum.equations import Equations
from odeum.errors import InputError
from odeum.runs import Axis, named
from odeum.solution import Solution
from odeum.statuses import STATUSES
from odeum.system import System

# What SciPy calls the methods that are here under their own names.
_METHODS = {"RK45": "dopri5", "Radau": "radau"}
# Where case files have what is an argument under another name here.
_ARGUMENTS = {
    "states": "y0",
    "params": "args[0]",
    "time.save": "t_eval",
    "time.span": "t_span",
    "span": "t_span",
    "tolerance.rtol": "rtol",
    "tolerance.atol": "atol",
    "method.first_step": "first_step",
    "method.largest_step": "max_step",
    "largest_step": "max_step",
    "method.name": "method",
}
# What SciPy's implicit methods are told of the Jacobian.
_OF_JACOBIANS = ("jac", "jac_sparsity", "lband", "uband")
_LACKING = {"RK23": "dopri5", "DOP853": "vern7", "BDF": "rodas5p", "LSODA": "rodas5p"}


@dataclass(frozen=True, eq=False)
class IvpResult:
    """What `solve_ivp` gives: SciPy's names, arrays over the batch.

    Attributes
    ----------
    t : ndarray
        Times [K]: `t_eval`, or start and end.
    y : ndarray
        States [*batch, n, K] at `t`; NaN where a system did not get there. It shares its memory with `solution`:
        copy it before writing to it.
    success : ndarray or bool
        Whether the end was reached [*batch].
    status : ndarray or int
        0: reached the end; -1: failed.
    message : ndarray or str
        How it ended.
    nfev, njev, nlu : ndarray or int
        Evaluations of the right-hand side and of its Jacobian, and LU factorisations.
    solution : Solution
        All there is to know.
    """

    t: Floats
    y: Floats
    success: Any
    nfev: Any
    njev: Any
    nlu: Any
    solution: Solution

    @property
    def status(self) -> Any:
        numbers = np.where(self.success, 0, -1)
        return numbers if np.ndim(self.success) else numbers.item()

    @property
    def message(self) -> Any:
        words = _MESSAGES[self.solution.status]
        return words if np.ndim(self.success) else words.item()


def solve_ivp(
    fun: Callable[..., Any] | System,
    t_span: Sequence[float],
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Sequence[Any] | None = (),
    *,
    rtol: float = 1e-3,
    atol: Any = None,
    first_step: float | None = None,
    max_step: float | None = None,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> IvpResult:
    """Integrates ``dy/dt = fun(t, y, *args)``, for one initial state or for a batch of them.

    Has the arguments of ``scipy.integrate.solve_ivp``. `fun` is traced once and never called while systems are
    integrated (see `System`); `y0` and `args` may have batch axes in front; without `t_eval` the result has the start
    and the end alone, not every step. Refused are `events`, `dense_output`, Jacobians (they follow from the
    equations), the methods ``"RK23"``, ``"DOP853"``, ``"BDF"`` and ``"LSODA"``, an `rtol` by component, complex
    states, one number as `args`, a span of no length and an empty `t_eval`.

    Parameters
    ----------
    fun : callable or System
        ``fun(t, y, *args)`` for one system: `y` [n], each of `args` a number.
    t_span : (float, float)
        Start and end.
    y0 : array_like
        Initial states [*batch, n]. Of a `System`, names along the last axis, as arrays of pandas and xarray have, say
        which state is which. Those of a `Reactor` are refused unless they are those of a gas: see `Session.states`.
    method : str
        ``"RK45"`` (that is ``dopri5``), ``"Radau"``, or a method of `odeum.methods()`.
    t_eval : array_like, optional
        Times at which states are kept [K].
    dense_output, events
        Refused.
    vectorized : bool
        Without a meaning: `fun` gets one state [n].
    args : sequence, optional
        Parameters, each a number or an array [*batch], which broadcast with the batch of `y0`. Arrays that `fun` needs
        as a whole it reads from outside: ``functools.partial(fun, A=A)``.
    rtol, atol : float
        Tolerances (1e-3, 1e-6); `atol` may have one for each component [n].
    first_step, max_step : float, optional
        Size of the first step, and of the largest.
    device, threads, progress, **options
        As `Runs.solve`. The states of `save` are those of `solution`; `t` and `y` have those of `t_eval`.

    Returns
    -------
    IvpResult

    Examples
    --------
    >>> import numpy as np, odeum as od
    >>> def decay(t, y, k):
    ...     return -k * y
    >>> od.solve_ivp(decay, (0, 1), [[1.0], [2.0]], args=([1.0, 2.0],)).y[:, 0, -1].round(3)
    array([0.368, 0.271])
    """
    for name, value in (("dense_output", dense_output), ("events", events)):
        if value is not None and value is not False:
            raise InputError(name, repr(value), "leave it out: there is t_eval, and `until` of Runs.solve")
    for name in _OF_JACOBIANS:
        value = options.pop(name, None)
        if value is not None:
            raise InputError(name, type(value).__name__, _options.OF_EQUATIONS)
    flag("vectorized", vectorized)
    states = numbers("y0", y0, copies=False)
    if states.ndim == 0 or states.shape[-1] == 0:
        raise InputError("y0", f"an array of shape {states.shape}", "give states [*batch, n]")
    # A NumPy array of no axis cannot be gone through.
    args = () if args is None else args
    has_values = isinstance(args, Sequence) or isinstance(args, np.ndarray) and args.ndim > 0
    if isinstance(args, (str, bytes)) or not has_values:
        raise InputError("args", type(args).__name__, "give a tuple: args=(1.0,)")
    parameters = [numbers(f"args[{k}]", value, copies=False) for k, value in enumerate(args)]
    try:
        system = _system(fun, states, parameters, t_span)
    except InputError as error:
        # Where it is compared with its equations there is no cause.
        may_be_shape = error.field == "f" and _may_be_shape(error.__cause__)
        hints = _unlike_scipy(states, parameters, vectorized) if may_be_shape else []
        if not hints:
            raise
        raise InputError(error.field, error.found, "; ".join([error.remedy, *hints])) from error.__cause__
    if system is fun:
        # States of a function have no names.
        states = _by_name("y0", y0, states, system)
    if not isinstance(method, str):
        raise InputError("method", type(method).__name__, "give its name")
    if method in _LACKING:
        raise InputError("method", repr(method), f'this method is not here; take "{_LACKING[method]}"')
    chosen: dict[str, Any] = {"method": _METHODS.get(method, method), "rtol": rtol, **options}
    if first_step is not None:
        chosen["first_step"] = first_step
    if isinstance(max_step, float | np.floating) and max_step == np.inf:
        max_step = None
    if device is not None:
        chosen["device"] = device
    threads = _options.threads({"threads": threads})
    if atol is not None or _options.has_atol(options):
        chosen["atol"] = _atol(1e-6 if atol is None else atol, system, system is fun)
    times = finite("t_eval", t_eval) if t_eval is not None else None
    if times is not None and times.ndim != 1:
        found = f"an array of shape {times.shape}" if times.ndim else "one number"
        raise InputError("t_eval", found, "give times along one axis: [0.5, 1.0]")
    for name, here, value in (("largest_step", "max_step", max_step), ("save", "t_eval", times)):
        if value is not None:
            if options.get(name) is not None:
                raise InputError(name, f"twice: `{here}` says it too", "give it once")
            chosen[name] = value
    for name, array in (("y0", states), *((f"args[{k}]", column) for k, column in enumerate(parameters))):
        if array.size == 0:
            raise InputError(name, f"an array of shape {array.shape}", "give one system at least")
    batch, columns = _batch(states, parameters)
    given = {f"args[{k}]": (args[k], each.ndim) for k, each in enumerate(parameters)}
    refuse_other_batches({"y0": (y0, states.ndim - 1), **given})
    flat = np.broadcast_to(states, (*batch, states.shape[-1])).reshape(-1, states.shape[-1])
    rows = [np.broadcast_to(c, batch if c.ndim else ()).reshape(-1) for c in columns]
    if options.get("until") is not None:
        raise InputError("until", "in solve_ivp", "make an odeum.System, and take its solve")
    if t_span is None:
        raise InputError("t_span", "None", "give start and end: (0.0, 10.0)")
    if options.get("precision") == "f32":
        for k, value in enumerate(columns):
            not_lost(f"args[{k}]", value)
    try:
        case = system._case(_options.document(system._usual, t_span, chosen))
        raw, raised = system._solve_arrays(case, len(flat), [flat], rows, threads, progress, keep=True)
    except InputError as error:
        # The engine looks at all numbers too, but knows no `y0` and no `args`.
        for name, value in [("y0", states), *((f"args[{k}]", value) for k, value in enumerate(columns))]:
            finite(name, value)
            if options.get("precision") == "f32":
                single(name, value)
        raise _by_argument(error, times is not None) from error
    # At the start and at the end [2, n, M].
    ends, params = np.asarray(raw.states), np.asarray(raw.params)
    # A retry goes by the case, so it has the systems: the solution's own numbers, which nobody changes unasked, unless
    # these were rounded to single precision.
    names = [*system.states, *system.parameters]
    if ends.dtype == np.float64:
        table = [*ends[0], *np.broadcast_to(params, (len(rows), len(flat)))]
    else:
        table = [np.array(np.broadcast_to(column, len(flat))) for column in (*flat.T, *rows)]
    # Of a reactor an ensemble has other variables than states.
    has_starts = set(names) <= {*system.variables}
    case = replace(case, table=dict(zip(names, table, strict=True)), has_starts=has_starts)
    axes = [Axis(f"batch_{k}" if len(batch) > 1 else "batch", length) for k, length in enumerate(batch)]
    solution = finished(case, system.title, system.states, named(axes, system.states), raw, raised)
    result = _result(solution, t_span, times, ends, batch)
    if solution._has_data:
        warn_of_extrapolation(solution.counts, "the solution", result)
    return result


def _may_be_shape(cause: BaseException | None) -> bool:
    """Whether what was raised on the way through a function may come of the shape of an argument."""
    from odeum._trace.refusal import Refusal, place
    from odeum._trace.symbol import BRANCH

    match cause:
        case None | NameError():
            return False
        case Refusal():
            return cause.remedy != BRANCH
        case TypeError():
            # From no line of the function, as it takes another number of arguments.
            return bool(place(cause))
        case _:
            return True


def _unlike_scipy(states: Floats, parameters: list[Floats], is_vectorized: bool) -> list[str]:
    """What a function is given here in another shape than by SciPy."""
    hints = []
    arrays = [f"args[{k}], of shape {each.shape}" for k, each in enumerate(parameters) if each.ndim]
    if arrays:
        hints.append(
            f"f gets one number of {' and '.join(arrays)}, for one system of a batch: an array that f needs as a whole "
            "it must read from outside, as by functools.partial(f, A=A)"
        )
    if is_vectorized:
        hints.append(f"`vectorized` means nothing: f gets y of shape {states.shape[-1:]}")
    return hints


def _by_argument(error: InputError, has_times: bool) -> InputError:
    """What is wrong with a case, by the name that the argument has here."""
    names = {path: name for path, name in _ARGUMENTS.items() if name != "t_eval" or has_times}
    for path, name in names.items():
        rest = error.field.removeprefix(path)
        if rest != error.field and not rest[:1].isalnum():
            message = error.message.replace(f"`{error.field}`", f"`{name}{rest}`")
            if message.startswith(f"{error.field}:"):
                message = name + rest + message.removeprefix(error.field)
            return InputError(name + rest, error.found, error.remedy, message)
    return error


def _result(
    solution: Solution, t_span: Sequence[float], times: Floats | None, ends: Floats, batch: tuple[int, ...]
) -> IvpResult:
    success = solution.success
    if times is None:
        t, y = np.array([float(t) for t in t_span]), ends.transpose(2, 1, 0)
        if not success.all():
            y = y.copy()
            y[~success.ravel(), :, 1] = np.nan
    else:
        t, y = times.copy(), solution.saved_states.transpose(2, 1, 0)
    y = y.reshape(*batch, *y.shape[1:])
    counts = solution.counts

    def each(values: NDArray[Any]) -> Any:
        """One value where there is no batch."""
        return values if batch else values.item()

    return IvpResult(
        t=t,
        y=y,
        success=each(success),
        nfev=each(counts["nfev"]),
        njev=each(counts["njev"]),
        nlu=each(counts["nlu"]),
        solution=solution,
    )


_MESSAGES = np.array([status.name for status in STATUSES])


def _by_name(field: str, value: Any, array: Floats, system: System) -> Floats:
    """Components [..., n] in the order of the states, where labels say which is which."""
    places = order(field, value, system.states, "states")
    return array if places is None else array[..., places]


def _atol(atol: Any, system: System, has_names: bool) -> Any:
    array = finite("atol", atol)
    if array.ndim == 0:
        return float(array)
    if array.shape != (len(system.states),):
        raise InputError(
            "atol", f"an array of shape {array.shape}", f"give one number, or {len(system.states)}"
        )
    array = _by_name("atol", atol, array, system) if has_names else array
    return {name: float(value) for name, value in zip(system.states, array, strict=True)}


def _batch(states: Floats, parameters: list[Floats]) -> tuple[tuple[int, ...], list[Floats]]:
    try:
        batch = np.broadcast_shapes(states.shape[:-1], *(column.shape for column in parameters))
    except ValueError as error:
        found = ", ".join(str(column.shape) for column in parameters)
        raise InputError(
            "args",
            f"shapes {found} beside y0 of {states.shape}",
            "give arrays that broadcast with the batch of y0",
        ) from error
    return batch, parameters


def _system(fun: Any, states: Floats, parameters: list[Floats], t_span: Any) -> System:
    n, m = states.shape[-1], len(parameters)
    if isinstance(fun, System):
        wanted = (len(fun.states), len(fun.parameters))
        if (n, m) != wanted:
            found = f"{n} components and {m} args"
            raise InputError("y0", found, f"the system has {wanted[0]} states and {wanted[1]} parameters")
        return fun
    # The first system of the batch; where there is none it is told later.
    usual = [*states.reshape(-1, n)[:1].flat, *(x.flat[0] for x in parameters if x.size)]
    return _traced(fun, n, m, usual, _times(t_span))


def _traced(fun: Callable[..., Any], n: int, m: int, usual: Sequence[float], span: _Span) -> System:
    """Traced in every call, since what a function reads beside its arguments may have changed, unless it reads
    nothing; its system, and the solvers that this keeps, are those of the last call with the same equations."""
    from odeum._trace import trace
    from odeum._trace.reads import reads_nothing_else

    if not callable(fun):
        raise InputError("fun", type(fun).__name__, "give a function of (t, y, *args), or an odeum.System")
    compared = _compared(fun)
    alone = fun if reads_nothing_else(fun) else None
    if alone is not None and alone in _KNOWN:
        code, sizes, system = _KNOWN[alone]
        if code is alone.__code__ and sizes == (n, m) and compared and _is_within(span, compared[1]):
            return system
    states, parameters = [f"y{i}" for i in range(n)], [f"p{j}" for j in range(m)]

    def check(made: Equations) -> bool:
        return not (compared and compared[0] == made and _is_within(span, compared[1]))

    values = dict(zip([*states, *parameters], map(float, usual), strict=False))
    # Parameters are told by their place, whatever they are called.
    equations = trace(fun, states, parameters, check=check, usual=values, span=span, by_place=True)
    if compared and compared[0] == equations:
        span = _both(span, compared[1])
    # What has no hash or cannot be referred to weakly is compared every time.
    with suppress(TypeError):
        _COMPARED[fun] = (equations, span)
    texts = (tuple(equations.equations.items()), tuple(equations.definitions.items()))
    system = _system_of(texts, m)
    if alone is not None:
        _KNOWN[alone] = (alone.__code__, (n, m), system)
    return system


# First and last time; none where they are no finite numbers, which is told later.
_Span = tuple[float, float] | None


def _times(t_span: Any) -> _Span:
    with suppress(TypeError, ValueError, OverflowError):
        start, end = (float(t) for t in t_span)
        if np.isfinite(start) and np.isfinite(end):
            return min(start, end), max(start, end)
    return None


def _is_within(span: _Span, other: _Span) -> bool:
    return span is None or (other is not None and other[0] <= span[0] and span[1] <= other[1])


def _both(span: _Span, other: _Span) -> _Span:
    """From the first of all times to the last."""
    if span is None or other is None:
        return span or other
    return min(span[0], other[0]), max(span[1], other[1])


def _compared(fun: Callable[..., Any]) -> tuple[Equations, _Span] | None:
    with suppress(TypeError):
        return _COMPARED.get(fun)
    return None


# The equations that functions were compared with last, as others may come of random numbers, and at which times.
_COMPARED: WeakKeyDictionary[Callable[..., Any], tuple[Equations, _Span]] = WeakKeyDictionary()
# Code, numbers of states and parameters, and system of functions that read nothing else.
_KNOWN: WeakKeyDictionary[FunctionType, tuple[CodeType, tuple[int, int], System]] = WeakKeyDictionary()


@lru_cache(maxsize=64)
def _system_of(texts: tuple[tuple[tuple[str, str], ...], ...], m: int) -> System:
    equations, definitions = (dict(pairs) for pairs in texts)
    states = dict.fromkeys(equations, 0.0)
    return System.from_text(
        equations, states=states, parameters={f"p{j}": 0.0 for j in range(m)}, definitions=definitions
    )
