"""Checks that are run one after the other: PASS or FAIL for each, SKIP for what needs something that is not there."""

import os
import time
import traceback

import odeum as od

_CHECKS = []


class Skip(Exception):
    """What a check needs is not there."""


def check(function):
    """Adds a check: it raises where something is wrong, and gives what is to be printed."""
    _CHECKS.append(function)
    return function


def refused(call, field, word):
    """The call raises an `InputError` about a field, whose text has a word."""
    try:
        call()
    except od.InputError as error:
        assert error.field == field, f"the error names {error.field!r}: {error}"
        assert word in str(error), f"no {word!r} in: {error}"
        assert error.remedy, f"no remedy: {error}"
        return
    raise AssertionError(f"not refused: {field}, {word}")


def run(only=""):
    """Runs the checks whose names contain a word; 1 if one failed."""
    failed = []
    for function in _CHECKS:
        name = function.__name__
        if only not in name:
            continue
        begun = time.perf_counter()
        try:
            said, word = function(), "PASS"
        except Skip as reason:
            said, word = reason, "SKIP"
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)
            lines = [f"{os.path.basename(f.filename)}:{f.lineno} {f.name}: {f.line}" for f in at[-4:]]
            said = "\n      ".join([f"{type(error).__name__}: {error}"[:1500], *lines])
            word = "FAIL"
            failed.append(name)
        took = time.perf_counter() - begun
        print(f"{word:5} {name} ({took:.1f} s)" + ("" if said is None else f"\n      {said}"), flush=True)
    print(f"{len(failed)} failed" + (": " + ", ".join(failed) if failed else ""))
    return 1 if failed else 0
