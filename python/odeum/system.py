"""Systems of ordinary differential equations."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from odeum import _odeum, _options
from odeum._case import Document, EnsembleCase
from odeum._convert import Floats, expressions, mapping, number, refuse_unwritable, text, whole
from odeum._fixed import Fixed
from odeum._progress import Progress, watched
from odeum.equations import Equations
from odeum.errors import InputError

if TYPE_CHECKING:
    from odeum.runs import Runs
    from odeum.solution import Solution

# A span for cases that are read for their system, or whose solver serves any span.
_SPAN = (0.0, 1.0)
_VALUES = 'give names and values: {"x": 1.0}'
# The time in an expression, and what may make it jump.
_TIME, _JUMP = re.compile(r"\bt\b"), re.compile(r"[<>]|[=!]=|\bfloor\b")
# How many methods and options of a system are kept ready for further calls.
_KEPT = 8


class System(Fixed):
    """A system dy/dt = f(t, y, parameters).

    A Python function is called once, with symbols; what it does with them becomes equations, and the function
    is never called while systems are integrated. It may use NumPy, helpers, loops and closures, but no branch
    on a state (``numpy.where`` instead), no key of a dict that follows from one (``numpy.select``) and no ``math``.
    Values of functions are within two roundings of NumPy's: steps made of them, as ``numpy.floor(numpy.log2(a))``,
    want room for these.

    Parameters
    ----------
    f : callable
        ``f(t, y, a, b, ...)`` as SciPy's ``solve_ivp`` takes it. Extra arguments are the parameters. `y`
        unpacks, indexes, and has its states as attributes. Returns the derivatives [n] in the order of the
        states, or a dict of them by name.
    states : mapping
        Names and usual initial values of the states [n].
    parameters : mapping, optional
        Names and usual values of the parameters.
    check : bool
        Compare function and equations at random points, at the usual values, where some values are zero, beside
        the numbers that the function reads, and at large values.
    spectral_radius : str, optional
        A bound of the spectral radius of the Jacobian, for the method ``rkc``, as an expression of case files.

    Raises
    ------
    InputError
        A function that cannot be traced, or names and values that mean nothing.

    Examples
    --------
    >>> import odeum as od
    >>> def van_der_pol(t, y, mu):
    ...     x, v = y
    ...     return [v, mu * (1 - x**2) * v - x]
    >>> vdp = od.System(van_der_pol, states={"x": 2.0, "v": 0.0}, parameters={"mu": 1.0})
    >>> vdp.solve((0, 20)).y.round(3)
    array([ 2.008, -0.043])
    """

    _usual: ClassVar[_options.Usual] = _options.Usual()
    # Options with which a case is read for what it says of its systems.
    _reading: ClassVar[Mapping[str, Any]] = {}

    def __init__(
        self,
        f: Callable[..., Any],
        *,
        states: Mapping[str, float],
        parameters: Mapping[str, float] | None = None,
        check: bool = True,
        spectral_radius: str | None = None,
    ) -> None:
        from odeum._trace import trace

        states, parameters = _values("states", states), _values("parameters", parameters)
        equations = trace(f, list(states), list(parameters), check=check, usual={**states, **parameters})
        self._set(_section(equations, states, parameters, spectral_radius))

    def _set(self, section: Document, mechanisms: Mapping[str, str] | None = None, folder: str = ".") -> None:
        self._section = section
        self._mechanisms = dict(mechanisms or {})
        self._folder = folder
        probe = self._probe(self._case(_options.document(self._usual, _SPAN, self._reading))).open()
        self.title: str = probe.title
        self.states: tuple[str, ...] = tuple(probe.states)
        self.parameters: tuple[str, ...] = tuple(probe.parameters)
        self.is_direct: bool = probe.is_direct
        self._variables: dict[str, float] = dict(probe.variables)
        self._opened: dict[tuple[str, int | None], _odeum.Case] = {}
        self._may_jump = _may_jump(section)
        self._is_made = type(self) is System

    def _case(self, document: Document) -> EnsembleCase:
        """A case of this system, which shares its section and mechanisms; `document` has the other sections."""
        return EnsembleCase({"system": self._section, **document}, self._folder, mechanisms=self._mechanisms)

    def _probe(self, case: EnsembleCase) -> EnsembleCase:
        """A case that is read for what it says of the system."""
        return case

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_opened": {}}

    def _solve_arrays(
        self,
        case: EnsembleCase,
        systems: int,
        states: list[Floats],
        params: list[Floats],
        threads: int | None,
        progress: Progress,
        keep: bool = False,
    ) -> tuple[_odeum.Solution, BaseException | None]:
        """Integrates initial states with parameters, in blocks each [M], [M, components], or [1] for all systems;
        solvers are kept for later calls."""
        opened, span = self._opened_for(case, threads)
        integrate = partial(opened.solve_arrays, systems, states, params, span)
        return watched(progress, systems, "systems", integrate, keep)

    def _solve_arrays_on_gpu(
        self,
        case: EnsembleCase,
        systems: int,
        states: list[Floats],
        params: list[Floats],
        threads: int | None,
        progress: Progress,
    ) -> tuple[_odeum.SolutionOnGpu, BaseException | None]:
        """The same on one GPU, where the results stay."""
        opened, span = self._opened_for(case, threads)
        integrate = partial(opened.solve_arrays_on_gpu, systems, states, params, span)
        return watched(progress, systems, "systems", integrate)

    def _opened_for(self, case: EnsembleCase, threads: int | None) -> tuple[_odeum.Case, Any]:
        """The case as it was read by an earlier call that differs in the span alone, and the span."""
        time = case.document["time"]
        span = tuple(time["span"])
        rest = {name: keys for name, keys in case.document.items() if name != "system"}
        if "save" not in time and not (self._may_jump or _judged_by_span(case)):
            # One solver serves all spans.
            rest["time"] = {**time, "span": list(_SPAN)}
        key = (repr(rest), threads)
        opened = self._opened.pop(key, None)
        if opened is None:
            opened = self._case(rest).open(threads)
        self._opened[key] = opened
        # A copy: other threads may solve, too.
        for oldest in list(self._opened)[:-_KEPT]:
            self._opened.pop(oldest, None)
        return opened, span

    @classmethod
    def _made(cls, section: Document) -> System:
        system = System.__new__(cls)
        system._set(section)
        return system

    @classmethod
    def from_text(
        cls,
        equations: Mapping[str, str],
        *,
        states: Mapping[str, float],
        parameters: Mapping[str, float] | None = None,
        definitions: Mapping[str, str] | None = None,
        spectral_radius: str | None = None,
    ) -> System:
        """From expressions of case files: ``from_text({"x": "-k * x"}, states={"x": 1.0}, ...)``."""
        states, parameters = _values("states", states), _values("parameters", parameters)
        named = expressions("definitions", {} if definitions is None else definitions)
        written = Equations(expressions("equations", equations), named)
        return cls._made(_section(written, states, parameters, spectral_radius))

    @classmethod
    def from_sympy(
        cls,
        equations: Mapping[Any, Any],
        *,
        states: Mapping[Any, float],
        parameters: Mapping[Any, float] | None = None,
        time: Any = None,
    ) -> System:
        """From SymPy: derivatives by symbol, function of time, first derivative or name, `time` the symbol of t."""
        from odeum._sympy import by_name, from_sympy

        mapping("equations", equations, "give derivatives by symbol or name")
        states, parameters = (
            _values(field, by_name(field, mapping(field, each, _VALUES)))
            for field, each in (("states", states), ("parameters", {} if parameters is None else parameters))
        )
        written = from_sympy(equations, list(states), list(parameters), time)
        return cls._made(_section(written, states, parameters, None))

    @classmethod
    def problem(cls, name: str, size: int | None = None) -> System:
        """A built-in problem: ``lorenz``, ``pleiades``, ``robertson``, ... (the command ``odeum problems``)."""
        return cls._made(
            {"problem": text("problem", name)} | ({} if size is None else {"size": whole("size", size, 1)})
        )

    @property
    def variables(self) -> Mapping[str, float]:
        """Names and usual values of what ensembles may vary: initial values, then parameters."""
        return MappingProxyType(self._variables)

    @property
    def equations(self) -> Equations | None:
        """The equations as text; `None` of a built-in problem."""
        if "equations" not in self._section:
            return None
        return Equations(dict(self._section["equations"]), dict(self._section.get("definitions", {})))

    def runs(self) -> Runs:
        """The ensemble of one system, to which axes can be added."""
        from odeum.runs import Runs

        return Runs(self)

    def sweep(self, /, **axes: Any) -> Runs:
        """All combinations of values: ``sweep(mu=[1.0, 2.0], x=numpy.linspace(-2, 2, 100))``."""
        return self.runs().sweep(**axes)

    def __call__(self, /, **columns: Any) -> Runs:
        """One system for each entry of arrays of equal length; single numbers hold for all."""
        return self.runs()(**columns)

    def table(self, table: Any) -> Runs:
        """One system for each row of a pandas DataFrame, or of a mapping of columns."""
        return self.runs().table(table)

    def perturb(self, of: str | Sequence[str] = "states", **options: Any) -> Runs:
        """Random changes of initial values or parameters; see `Runs.perturb`."""
        return self.runs().perturb(of, **options)

    def __mul__(self, copies: int) -> Runs:
        return self.runs() * copies

    __rmul__ = __mul__

    def solve(self, span: Any = None, **options: Any) -> Solution:
        """Integrates the one system of the usual values; see `Runs.solve`."""
        return self.runs().solve(span, **options)

    def __repr__(self) -> str:
        names = [", ".join(self.states[:6]) + (", …" if len(self.states) > 6 else "")]
        if self.parameters:
            names.append(", ".join(self.parameters[:6]) + (", …" if len(self.parameters) > 6 else ""))
        return f"<odeum.{type(self).__name__} of {len(self.states)} equations: {'; '.join(names)}>"


def _judged_by_span(case: EnsembleCase) -> bool:
    """Whether the size of steps is given, of which a warning tells that they do not reach the end."""
    return any(key in case.document.get("method", {}) for key in ("fixed_step", "largest_step"))


def _may_jump(section: Document) -> bool:
    """Whether equations may jump at times of their own, of which a warning tells where they lie in the span."""
    texts = [text for key in ("equations", "definitions") for text in section.get(key, {}).values()]
    return any(map(_TIME.search, texts)) and any(map(_JUMP.search, texts))


def _values(field: str, values: Any) -> dict[str, float]:
    if values is None and field == "parameters":
        return {}
    for name in mapping(field, values, _VALUES):
        if not isinstance(name, str):
            raise InputError(field, f"the name {name!r}", "give names as text")
        refuse_unwritable(field, name)
    return {name: number(f"{field}.{name}", value) for name, value in values.items()}


def _section(
    equations: Equations,
    states: Mapping[str, float],
    parameters: Mapping[str, float],
    spectral_radius: str | None,
) -> Document:
    section: Document = {"states": dict(states)}
    if parameters:
        section["parameters"] = dict(parameters)
    if equations.definitions:
        section["definitions"] = dict(equations.definitions)
    section["equations"] = dict(equations.equations)
    if spectral_radius is not None:
        section["spectral_radius"] = text("spectral_radius", spectral_radius)
    return section
