"""Cases of ensembles: the document of a case file, and the arrays that go beside it."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tomli_w
from numpy.typing import NDArray

from odeum import _nvrtc, _odeum
from odeum._convert import Floats, encodable
from odeum._findings import raise_and_warn
from odeum._progress import Progress, watched
from odeum.errors import InputError, Interrupted

if TYPE_CHECKING:
    from odeum.runs import Axis
    from odeum.solution import Solution

Document = dict[str, Any]

# What save times were computed from, and where systems are integrated.
_SAME_RESULTS = ("time.save", "run.device")


def toml(document: Document) -> str:
    """The text of a case."""
    return encodable("case", tomli_w.dumps(document))


def load_case_text(path: Path) -> tuple[str, Document]:
    """The text of a case file, which is read once, as pipes can be; and its keys, none where it is no TOML, which is told
    by whoever reads the text for good."""
    content = None
    # Why it cannot be read is told by the extension. It would not hear Ctrl-C while it waits for a pipe.
    with suppress(OSError, ValueError), path.open("rb") as file:
        content = file.read(_odeum.LARGEST_CASE + 1)
    return _odeum.load_case_text(path, content)


@dataclass(frozen=True, eq=False)
class EnsembleCase:
    """A case file in memory, with what its ensemble takes from arrays.

    `table` gives columns, one row a system (its copies are made of each row); `mechanisms` gives
    texts of mechanisms that the document names and that have no file; `systems` what its files said its systems are, if
    it is read again only where these are the same; `has_starts` is false where systems started from states that no case
    gives, as those of a reactor from `solve_ivp`; `axes` are those of an ensemble from arrays, of whose combinations
    the table has the rows.
    """

    document: Document
    folder: str = "."
    table: Mapping[str, Floats] = field(default_factory=dict)
    mechanisms: Mapping[str, str] = field(default_factory=dict)
    systems: Mapping[str, str] = field(default_factory=dict)
    has_starts: bool = True
    axes: tuple[Axis, ...] | None = None

    def text(self) -> str:
        """The document as TOML."""
        return toml(self.document)

    def open(self, threads: int | None = None) -> _odeum.Case:
        """Reads and checks it."""
        if not self.has_starts:
            found = "systems that started from states which no case gives"
            raise InputError("solution", found, "call solve_ivp again for those that failed")
        _nvrtc.load_for(self.document)
        # What pickles bring beside them (Dask) begins at any byte.
        table = [(name, np.require(column, requirements="A")) for name, column in self.table.items()]
        opened = _odeum.Case(
            self.text(),
            self.folder,
            table=table or None,
            mechanisms=list(self.mechanisms.items()),
            threads=threads,
        )
        for place, now in opened.systems if self.systems else ():
            if self.systems[place] != now:
                found = "a file that has changed since the case was run"
                raise InputError(place, found, "run the case again")
        return opened

    def has_systems_of(self, other: EnsembleCase) -> bool:
        """True where a number means the same system in both, however it is integrated."""
        sections = all(self.document.get(key) == other.document.get(key) for key in ("system", "ensemble"))
        files = self.folder == other.folder and self.mechanisms == other.mechanisms
        names = self.table.keys() == other.table.keys()
        return (
            sections
            and files
            and names
            and all(np.array_equal(self.table[name], other.table[name]) for name in self.table)
        )

    def time(self, key: str) -> Any:
        """A key of the time, as `span`, which is `None` where columns have it."""
        return self.document.get("time", {}).get(key)

    def other_options(self, other: EnsembleCase) -> list[str]:
        """Keys that say how systems are integrated, in which cases of the same systems, spans and save times differ."""
        mine, others = self._options(), other._options()
        differ = [key for key in {**mine, **others} if mine.get(key) != others.get(key)]
        return [key for key in differ if key not in _SAME_RESULTS]

    def _options(self) -> Document:
        """Keys that say how systems are integrated, with what holds where the case does not say it."""
        sections = {name: self.document.get(name, {}) for name in ("method", "tolerance", "time", "run")}
        said = {f"{name}.{key}": value for name, keys in sections.items() for key, value in keys.items()}
        atol = said.get("tolerance.atol")
        # By state, but the same for all.
        if isinstance(atol, Mapping) and len(set(atol.values())) == 1:
            said["tolerance.atol"] = next(iter(atol.values()))
        return said | {key: value for key, value in _odeum.defaults().items() if key not in said}

    def with_keys(self, changes: Mapping[str, Mapping[str, Any]]) -> EnsembleCase:
        """The same with other keys in some sections; `None` takes a key out."""
        document = copy.deepcopy(self.document)
        for section, keys in changes.items():
            table = document.setdefault(section, {})
            for key, value in keys.items():
                if value is None:
                    table.pop(key, None)
                else:
                    table[key] = value
        return replace(self, document=document)

    def solve(
        self,
        systems: NDArray[np.uint64] | None = None,
        *,
        threads: int | None = None,
        progress: Progress = None,
        results_on_gpu: bool = False,
    ) -> Solution:
        """Integrates all systems, or those of the given numbers; the results stay on the GPU where that is wanted."""
        return warned(solve(self, self.open(threads), systems, progress, results_on_gpu))


def solve(
    case: EnsembleCase,
    opened: _odeum.Case,
    systems: NDArray[np.uint64] | None = None,
    progress: Progress = None,
    results_on_gpu: bool = False,
) -> Solution:
    """Integrates the systems of a case that was read. The caller warns of extrapolation."""
    from odeum.runs import numbered

    states = tuple(opened.states)
    axes = case.axes if systems is None else (numbered(systems, states),)
    # To count those of a file looks at the start of each.
    total = len(opened) if axes is None else math.prod(axis.length for axis in axes)
    integrate: Callable[..., Any] = opened.solve_on_gpu if results_on_gpu else opened.solve
    raw, raised = watched(progress, total, "systems", partial(integrate, systems))
    axes = _axes(opened, states) if axes is None else axes
    return finished(case, opened.title, states, axes, raw, raised, systems)


def _axes(opened: _odeum.Case, states: Sequence[str]) -> tuple[Axis, ...]:
    """The axes that a case file gives its ensemble."""
    from odeum.runs import Axis, named

    axes: list[Axis] = []
    for name, length, values in opened.axes:
        # They come by name, so those of a swept parameter `copy` come to copies, too.
        own = values is not None and name not in (axis.name for axis in axes)
        axes.append(Axis(name, length, np.asarray(values) if own else None))
    return named(axes, states)


def finished(
    case: EnsembleCase,
    title: str,
    states: tuple[str, ...],
    axes: Sequence[Axis],
    raw: _odeum.Solution | _odeum.SolutionOnGpu,
    raised: BaseException | None,
    systems: NDArray[np.uint64] | None = None,
) -> Solution:
    """The solution, or what was raised on the way, with what was finished until then. The caller warns of
    extrapolation."""
    from odeum.solution import Solution
    from odeum.solution_on_gpu import SolutionOnGpu

    if isinstance(raw, _odeum.SolutionOnGpu):
        solution: Solution = SolutionOnGpu._at(case, title, states, axes, raw, systems)
    else:
        solution = Solution._of(case, title, states, axes, raw, systems)
    if isinstance(raised, KeyboardInterrupt):
        solution._forget_left()
        raise Interrupted(solution) from raised
    if raised is not None:
        raise raised
    return solution


def warned(solution: Solution) -> Solution:
    """The solution, after a warning where its systems had states outside the data of their model."""
    if solution._has_data:
        warn_of_extrapolation(solution.counts, "the solution", solution)
    return solution


def warn_of_extrapolation(counts: Mapping[str, NDArray[np.uint32]], of: str, result: Any) -> None:
    """Warns of systems with steps that ended where the data of their model do not reach, whose `counts` are those `of`
    something, once the `result` is there."""
    outside = counts["outside"]
    count = int(np.count_nonzero(outside))
    if count:
        found = (
            f"{count:,} of {outside.size:,} systems had states outside the model's data, for which it "
            "extrapolates, as temperatures beyond its polynomials"
        )
        raise_and_warn([("warning", found, "", "", "", f'counts["outside"] of {of} has the steps')], result)
