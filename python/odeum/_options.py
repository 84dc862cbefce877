"""The options of `solve` as sections of a case file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from odeum import _odeum
from odeum._case import Document
from odeum._convert import finite, is_whole, number, whole
from odeum.errors import InputError


@dataclass(frozen=True)
class Usual:
    """What holds unless a call says something else."""

    method: str = "tsit5"
    rtol: float = 1e-6
    atol: float = 1e-9


# Where the keyword of a call stands in a case file; all others are keys of [method].
_SECTIONS = {
    "rtol": "tolerance",
    "atol": "tolerance",
    "norm": "tolerance",
    "segments": "time",
    "warm_start": "time",
    "save": "time",
    "until": "time",
    "precision": "run",
    "device": "run",
}

# The keys of [method] that a call may give as `None`, which is as if it did not.
_METHOD = (
    "controller",
    "first_step",
    "fixed_step",
    "growth_limit",
    "largest_step",
    "max_evaluations",
    "max_stages",
    "max_steps",
    "spectral_radius",
)

# What to do about a Jacobian that is given.
OF_EQUATIONS = "leave it out: Jacobians follow from the equations"
_OF_SOLVE = "`solve` takes it"
# Keywords of SciPy, and of other calls, and what to do about them.
_ELSEWHERE = {
    "args": "they are the parameters of the system",
    "dense_output": "leave it out: `save` keeps states",
    "events": '`until` ends systems: until=odeum.rise_to("x", 1.0)',
    "jac": OF_EQUATIONS,
    "jac_sparsity": OF_EQUATIONS,
    "lband": OF_EQUATIONS,
    "max_step": "it is `largest_step`",
    "min_step": "leave it out: no step is too small but for rounding",
    "name": "it is `method`",
    "progress": _OF_SOLVE,
    "results_on_gpu": _OF_SOLVE,
    "t_eval": "it is `save`",
    "threads": "whoever solves the case takes it",
    "uband": OF_EQUATIONS,
    "vectorized": "leave it out",
}

# Options that are text, and what to give.
_TEXTS = {
    "controller": 'give its name, as "pi", or its keys in a case file as a dict',
    "device": 'give "cpu", "cuda" or "cuda:0"',
    "norm": 'give its name, as "rms"',
    "precision": 'give "f64" or "f32"',
}

# Of these, those that mean nothing to other methods than one or some.
_OF_ONE_METHOD = ("growth_limit", "max_stages", "spectral_radius")

# A span for a case whose solver is given others later: no step size is too small to reach its end.
SHORT_SPAN = (0.0, 1e-30)


def threads(options: dict[str, Any]) -> int | None:
    """Takes the number of threads out of the options."""
    value = options.pop("threads", None)
    return None if value is None else whole("threads", value, 1, _odeum.MOST_THREADS)


def has_atol(options: Mapping[str, Any]) -> bool:
    """Whether an absolute tolerance holds unless it is given: the norm of Niemeyer & Sung has none."""
    norm = options.get("norm")
    return not (isinstance(norm, str) and norm == "state-and-rate")


def document(usual: Usual, span: Any, options: Mapping[str, Any]) -> Document:
    """The sections of a case but for its system and its ensemble."""
    tolerances = {"rtol": usual.rtol} | ({"atol": usual.atol} if has_atol(options) else {})
    held = {"method": usual.method, **tolerances}
    options = held | {name: value for name, value in options.items() if value is not None or name not in held}
    made: Document = {"time": {}, "method": {}, "tolerance": {}, "run": {}}
    if span is not None:
        made["time"]["span"] = start_and_end(span)
    made["method"] = _method(options.pop("method"))
    for name, value in options.items():
        _known(name)
        if value is not None:
            keys = made[_SECTIONS.get(name, "method")]
            _refuse_second(name, keys)
            keys[name] = _value(name, value)
    return {section: keys for section, keys in made.items() if keys}


def _method(value: Any) -> Document:
    """A method as the keys of its section."""
    if isinstance(value, Mapping):
        return {str(key): plain(f"method.{key}", each) for key, each in value.items()}
    if not isinstance(value, str):
        raise InputError("method", repr(value), "give its name, or its keys in a case file as a dict")
    return {"name": value}


def changes(options: Mapping[str, Any], former: Any) -> dict[str, Document]:
    """Options of another run as keys of sections; another method than the former leaves its own keys out."""
    made: dict[str, Document] = {} if has_atol(options) else {"tolerance": {"atol": None}}
    method: Document = {}
    if options.get("method") is not None:
        method = made["method"] = _method(options["method"])
        if made["method"].get("name", former) != former:
            made["method"] = dict.fromkeys(_OF_ONE_METHOD) | made["method"]
    for name, value in options.items():
        if name != "method":
            _known(name)
            keys = made.setdefault(_SECTIONS.get(name, "method"), {})
            given = value is not None
            if given or name not in method:
                _refuse_second(name, method)
                keys[name] = _value(name, value) if given else None
    return made


def _refuse_second(name: str, method: Document) -> None:
    """Refuses a key of the method that is an option too."""
    if name in method:
        found = f"twice: {method[name]!r} is said by `method`"
        raise InputError(name, found, "give it once")


def _known(name: str) -> None:
    """Refuses a name that no option has, whatever its value."""
    if name in _SECTIONS or name in _METHOD:
        return
    remedy = _ELSEWHERE.get(name)
    if remedy is None:
        import difflib

        names = sorted(("method", *_SECTIONS, *_METHOD))
        near = difflib.get_close_matches(name, names, 1)
        remedy = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names)}"
    raise InputError(name, "no option of this name here", remedy)


def _value(name: str, value: Any) -> Any:
    """What an option is given, as TOML writes it."""
    return _save(value) if name == "save" else plain(name, value)


def start_and_end(span: Any) -> list[float]:
    """The times of a span."""
    if span is None:
        raise InputError("span", "None", "give start and end: (0.0, 10.0)")
    array = finite("span", span)
    if array.shape != (2,):
        raise InputError("span", f"an array of shape {array.shape}", "give start and end: (0.0, 10.0)")
    return [float(t) for t in array]


def _save(value: Any) -> Any:
    if isinstance(value, Mapping):
        return plain("save", value)
    if is_whole(value):
        return {"count": int(value)}
    array = finite("save", value)
    if array.ndim != 1:
        raise InputError(
            "save", f"an array of shape {array.shape}", "give times along one axis, or their number"
        )
    return array.tolist()


def plain(field: str, value: Any) -> Any:
    """A value as TOML writes it."""
    if isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(f"{field}.{key}", each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(f"{field}[{k}]", each) for k, each in enumerate(value)]
    if isinstance(value, np.bool_) or is_whole(value):
        return value.item()
    if isinstance(value, np.ndarray) and value.ndim > 0:
        return finite(field, value).tolist()
    if field in _TEXTS:
        raise InputError(field, repr(value), _TEXTS[field])
    return number(field, value)
