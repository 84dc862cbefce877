"""The expressions met so far: equal ones are one, operands stand before what uses them."""

from __future__ import annotations

import math
from typing import Any

from odeum._trace.operations import (
    ADD,
    CONSTANT,
    DIVIDE,
    MULTIPLY,
    NEGATE,
    RAISE,
    SELECT,
    SQRT,
    SUBTRACT,
    VARIABLE,
    Operation,
)
from odeum._trace.refusal import Refusal, calls

Node = tuple[Operation, tuple[Any, ...]]


class Record:
    """Expressions by number.

    Attributes
    ----------
    nodes : list of (Operation, operands)
        Operands are numbers of expressions; of `VARIABLE` its name, of `CONSTANT` its value.
    refused : Refusal, optional
        The first thing that a number has and a symbol has not, whether the function caught it or not.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.refused: Refusal | None = None
        self._known: dict[Any, int] = {}

    def variable(self, name: str) -> int:
        """A state, a parameter, the time, or a coordinate."""
        return self._intern((VARIABLE, name), (VARIABLE, (name,)))

    def constant(self, x: float) -> int:
        """A finite number."""
        # 0 and -0 are equal, and differ.
        return self._intern((CONSTANT, x, math.copysign(1.0, x)), (CONSTANT, (x,)))

    def apply(self, operation: Operation, *operands: int) -> int:
        """An operation on expressions of the kinds it takes."""
        simpler = self._simpler(operation, operands)
        if simpler is not None:
            return simpler
        return self._intern((operation, operands), (operation, operands))

    def value(self, number: int) -> float | None:
        """The number an expression is, if it is one."""
        operation, operands = self.nodes[number]
        return operands[0] if operation is CONSTANT else None

    def is_condition(self, number: int) -> bool:
        """Whether an expression is a condition."""
        return self.nodes[number][0].gives == "c"

    def variables(self, number: int) -> set[str]:
        """Names of what an expression depends on."""
        found: set[str] = set()
        seen: set[int] = set()
        waiting = [number]
        while waiting:
            number = waiting.pop()
            if number not in seen:
                seen.add(number)
                operation, operands = self.nodes[number]
                if operation is VARIABLE:
                    found.update(operands)
                elif operation is not CONSTANT:
                    waiting.extend(operands)
        return found

    def refusal(self, found: str, remedy: str) -> Refusal:
        """A refusal to be raised, which counts even where the function goes on."""
        error = Refusal(found, remedy)
        if self.refused is None:
            # An error that C code catches has no traceback.
            error.frames = calls()
            self.refused = error
        return error

    def _intern(self, key: Any, node: Node) -> int:
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self.nodes)
            self.nodes.append(node)
        return number

    def _opposite(self, number: int) -> int | None:
        """The expression without its sign, where it has one."""
        operation, operands = self.nodes[number]
        if operation is NEGATE:
            return int(operands[0])
        if operation is CONSTANT and operands[0] < 0.0:
            return self.constant(-operands[0])
        if operation is MULTIPLY:
            factor = self.value(operands[0])
            if factor is not None and factor < 0.0:
                return self.apply(MULTIPLY, self.constant(-factor), operands[1])
        return None

    def _simpler(self, operation: Operation, operands: tuple[int, ...]) -> int | None:
        """A shorter expression of the same value: to the last bit but for the signs of zeros, and powers
        that are roots to rounding. So neither x - x nor 0 x is zero: NaN and infinity contradict."""
        first = operands[0]
        second = operands[1] if len(operands) == 2 else first
        a, b = self.value(first), self.value(second)
        if operation is ADD:
            if a == 0.0:
                return second
            if b == 0.0:
                return first
            if (opposite := self._opposite(second)) is not None:
                return self.apply(SUBTRACT, first, opposite)
            if self.nodes[first][0] is NEGATE:
                return self.apply(SUBTRACT, second, self.nodes[first][1][0])
        elif operation is SUBTRACT:
            if b == 0.0:
                return first
            if a == 0.0:
                return self.apply(NEGATE, second)
            if (opposite := self._opposite(second)) is not None:
                return self.apply(ADD, first, opposite)
        elif operation is MULTIPLY:
            if a == 1.0:
                return second
            if b == 1.0:
                return first
            if a == -1.0:
                return self.apply(NEGATE, second)
            if b == -1.0:
                return self.apply(NEGATE, first)
        elif operation is DIVIDE:
            return first if b == 1.0 else None
        elif operation is NEGATE:
            if a is not None:
                return self.constant(-a)
            return self._opposite(first)
        elif operation is RAISE:
            if b == 0.0:
                return self.constant(1.0)
            if b == 1.0:
                return first
            if b == 0.5:
                return self.apply(SQRT, first)
            if b in (-1.0, -0.5):
                return self.apply(DIVIDE, self.constant(1.0), self.apply(RAISE, first, self.constant(-b)))
        elif operation is SELECT and operands[1] == operands[2]:
            return operands[1]
        return None
