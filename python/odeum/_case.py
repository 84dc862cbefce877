"""Cases of ensembles: the document of a case file, and the arrays that go beside it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tomli_w

from odeum import _nvrtc, _odeum
from odeum._convert import Floats
from odeum._progress import Progress, told
from odeum.errors import Interrupted

if TYPE_CHECKING:
    from odeum.solution import Solution

Document = dict[str, Any]


@dataclass(frozen=True)
class EnsembleCase:
    """A case file in memory, with what its ensemble takes from arrays.

    `table` gives columns, one row a system (its copies are made of each row); `texts` gives files that the
    document names.
    """

    document: Document
    folder: str = "."
    table: Mapping[str, Floats] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The document as TOML."""
        return tomli_w.dumps(self.document)

    def open(self, threads: int | None = None) -> _odeum.Case:
        """Reads and checks it."""
        if str(self.document.get("run", {}).get("device", "cpu")).startswith("cuda"):
            _nvrtc.load()
        return _odeum.Case(
            self.text(),
            self.folder,
            table=list(self.table.items()) or None,
            texts=list(self.texts.items()),
            threads=threads,
        )

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
        return EnsembleCase(document, self.folder, self.table, self.texts)

    def solve(
        self,
        systems: Floats | None = None,
        *,
        threads: int | None = None,
        progress: Progress = None,
    ) -> Solution:
        """Integrates all systems, or those of the given numbers."""
        return run(self, self.open(threads), systems, progress)


def run(
    case: EnsembleCase, opened: _odeum.Case, systems: Any = None, progress: Progress = None
) -> Solution:
    """Integrates the systems of a case that was read."""
    from odeum.solution import Solution

    numbers = None if systems is None else np.ascontiguousarray(systems, dtype=np.uint64)
    total = len(opened) if numbers is None else len(numbers)
    with told(progress, total, "systems") as tell:
        raw, raised = opened.solve(numbers, tell)
    solution = Solution._of(case, opened, numbers, raw)
    if isinstance(raised, KeyboardInterrupt):
        raise Interrupted(solution) from raised
    if raised is not None:
        raise raised
    return solution
