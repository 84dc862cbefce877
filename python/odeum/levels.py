"""Levels of a state, where a system ends: what ``until=`` takes."""

from __future__ import annotations

from odeum._convert import number, text

Until = dict[str, dict[str, float]]


def rise(state: str, by: float) -> Until:
    """Where a state has risen by so much above its initial value.

    Examples
    --------
    >>> import odeum as od
    >>> od.rise("T", 400)
    {'T': {'rises_by': 400.0}}
    """
    return {text("state", state): {"rises_by": number("by", by)}}


def rise_to(state: str, level: float) -> Until:
    """Where a state comes to a level from below."""
    return {text("state", state): {"rises_to": number("level", level)}}


def fall(state: str, by: float) -> Until:
    """Where a state has fallen by so much below its initial value."""
    return {text("state", state): {"falls_by": number("by", by)}}


def fall_to(state: str, level: float) -> Until:
    """Where a state comes to a level from above."""
    return {text("state", state): {"falls_to": number("level", level)}}
