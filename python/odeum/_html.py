"""What notebooks show."""

from __future__ import annotations

import base64
import io
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from odeum import _odeum
from odeum.statuses import STATUSES

if TYPE_CHECKING:
    from odeum.solution import Solution


def table(rows: list[tuple[str, str]]) -> str:
    """Names and values."""
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{value}</td></tr>" for name, value in rows)
    return f'<table style="text-align:left">{cells}</table>'


def solution(solved: Solution) -> str:
    """Axes, statuses, counts and a picture."""
    axes = " × ".join(f"{axis.name} {axis.length}" for axis in solved.axes) or "one system"
    rows = [("ensemble", escape(axes)), ("states", escape(", ".join(solved.state_names[:12])))]
    for name, count in solved.summary().items():
        status = next(status for status in STATUSES if status.name == name)
        advice = "" if status.is_success else f" <i>{escape(status.advice)}</i>"
        rows.append((name, f"{count:,}{advice}"))
    for name in ("steps", "rejected", "nfev", "nlu"):
        counts = solved.counts[name]
        if counts.any():
            rows.append((name, f"{counts.mean():.4g} each, at most {counts.max():,}"))
    if np.any(solved.failed):
        rows.append(("then", "<code>.retry(method=…)</code>, <code>.raise_if_failed()</code>"))
    head = f"<b>odeum.Solution</b> of {escape(solved.title)} ({len(solved):,} systems, odeum {_odeum.__version__})"
    return f"<div>{head}{table(rows)}{_picture(solved)}</div>"


def _picture(solved: Solution) -> str:
    """The plot as an image; nothing without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return ""
    figure = Figure(figsize=(4.6, 2.8), layout="constrained")
    try:
        solved.plot(ax=figure.subplots())
    except ImportError:
        return ""
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=100)
    return f'<img src="data:image/png;base64,{base64.b64encode(image.getvalue()).decode()}">'
