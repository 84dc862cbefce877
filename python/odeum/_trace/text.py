"""Expressions as text in the language of case files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import count

from odeum._trace.operations import (
    AND,
    ATOM,
    COMPARISON,
    CONSTANT,
    NEGATE,
    NOT,
    OR,
    POWER,
    PRODUCT,
    SIGN,
    VARIABLE,
    Operation,
)
from odeum._trace.record import Record

# A text, how tightly it binds, and how deeply a parser nests in it.
Piece = tuple[str, int, int]

# Longer and deeper texts become definitions: readers have limits, parsers too (200 levels).
_LONGEST = 500
_DEEPEST = 40


def write(record: Record, outputs: Sequence[int], taken: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """Definitions of what expressions share, and the expressions.

    Parameters
    ----------
    record : Record
        Where the expressions are.
    outputs : sequence of int
        Their numbers.
    taken : collection of str
        Names that definitions must not have.
    """
    uses = _uses(record, outputs)
    pieces: dict[int, Piece] = {}
    definitions: dict[str, str] = {}
    names = _names(taken)
    roots = set(outputs)
    for number in sorted(uses):
        operation, operands = record.nodes[number]
        if operation is VARIABLE:
            piece = (operands[0], ATOM, 1)
        elif operation is CONSTANT:
            piece = _number(operands[0])
        else:
            piece = _operation(operation, [pieces[operand] for operand in operands])
            signed = operation is NEGATE and pieces[operands[0]][1] == ATOM and pieces[operands[0]][2] == 1
            long = number not in roots and (len(piece[0]) > _LONGEST or piece[2] > _DEEPEST)
            if (uses[number] > 1 and not signed) or long:
                name = next(names)
                definitions[name] = piece[0]
                piece = (name, ATOM, 1)
        pieces[number] = piece
    return definitions, [pieces[number][0] for number in outputs]


def _uses(record: Record, outputs: Sequence[int]) -> dict[int, int]:
    """How often each expression behind the outputs is used."""
    uses: dict[int, int] = {}
    for number in outputs:
        uses[number] = uses.get(number, 0) + 1
    for number in range(max(outputs, default=-1), -1, -1):
        operation, operands = record.nodes[number]
        if number in uses and operation.takes:
            for operand in operands:
                uses[operand] = uses.get(operand, 0) + 1
    return uses


def _names(taken: Collection[str]) -> Iterator[str]:
    return (name for k in count(1) if (name := f"_{k}") not in taken)


def _number(x: float) -> Piece:
    """A number that is read back to the same bits."""
    text = str(int(x)) if x.is_integer() and abs(x) < 1e15 and x != 0.0 else repr(x).removesuffix(".0")
    return (text, SIGN if text.startswith("-") else ATOM, 2 if text.startswith("-") else 1)


def _operation(operation: Operation, operands: list[Piece]) -> Piece:
    spelling, level = operation.spelling, operation.level
    if level == ATOM:
        inner = ", ".join(text for text, _, _ in operands)
        return (f"{spelling}({inner})", ATOM, 1 + max(depth for _, _, depth in operands))
    if operation is NOT:
        text, _, depth = operands[0]
        return (f"!({text})", SIGN, depth + 2)
    if operation is NEGATE and operands[0][1] == PRODUCT and not operands[0][0].startswith("-"):
        # -a b c is -(a b c) to the last bit.
        text, _, depth = operands[0]
        return (f"-{text}", PRODUCT, depth + 1)
    if operation is NEGATE:
        text, depth = _within(operands[0], POWER)
        return (f"-{text}", SIGN, depth + 1)
    # Powers group from the right, comparisons not at all, everything else from the left.
    left, left_depth = _within(operands[0], level + 1 if level in (POWER, COMPARISON) else level)
    right, right_depth = _within(
        operands[1], SIGN if level == POWER and operands[1][1] != POWER else level + 1
    )
    depth = max(left_depth, right_depth + 1)
    if level == POWER:
        return (f"{left}^{right}", level, depth)
    if level in (OR, AND):
        # Clearer than what precedence allows.
        left, left_depth = _within(operands[0], level if operands[0][1] == level else COMPARISON)
    return (f"{left} {spelling} {right}", level, depth)


def _within(piece: Piece, lowest: int) -> tuple[str, int]:
    """A text where operators must bind at least as tightly as `lowest`, and its depth there."""
    text, level, depth = piece
    return (text, depth) if level >= lowest else (f"({text})", depth + 1)
