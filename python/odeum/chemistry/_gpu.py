"""Arrays of other libraries that lie on a GPU: borrowed by DLPack, for the time of a call."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from odeum import _odeum
from odeum._convert import Floats
from odeum.errors import InputError

# kDLCUDA and kDLCUDAManaged of DLPack.
_CUDA = (2, 13)


def device(value: Any) -> int | None:
    """The number of the GPU that an array lies on; none where it lies elsewhere, or is no array."""
    ask = getattr(value, "__dlpack_device__", None)
    if ask is None:
        return None
    kind, number = ask()
    return int(number) if int(kind) in _CUDA else None


def check(gpus: list[int], arrays: dict[str, Any]) -> None:
    """Refuses arrays of several devices, and of another one than the GPU of the integrator."""
    for field, value in arrays.items():
        number = device(value)
        if number is None:
            found = f"{type(value).__name__}, which is not on a GPU, beside arrays that are"
            raise InputError(field, found, "give all arrays on the GPU, or all of them as NumPy's")
        if gpus != [number]:
            on = ",".join(map(str, gpus))
            found = f"an array on cuda:{number} for an integrator on {'cuda:' + on if gpus else 'cpu'}"
            raise InputError(field, found, f'make the integrator with device="cuda:{number}"')


def addresses(array: _odeum.GpuArray) -> Floats:
    """An array of NumPy at the same addresses, which nobody may read."""
    return np.asarray(SimpleNamespace(__array_interface__=array.__cuda_array_interface__))


def is_of_jax(value: Any) -> bool:
    """Whether it is an array of JAX, which never changes."""
    return type(value).__module__.partition(".")[0] in ("jax", "jaxlib")


def copied(value: Any) -> Any:
    """A copy of an array on a GPU, of the same library, that nobody else has."""
    if is_of_jax(value):
        import jax.numpy

        return jax.numpy.array(value, copy=True)
    # Of PyTorch, whose gradients do not go through an integration; of others.
    return value.detach().clone() if hasattr(value, "detach") else value.copy()


def filled(like: Any, value: float) -> Any:
    """An array of the kind and shape of another, with one number everywhere."""
    if is_of_jax(like):
        import jax.numpy

        return jax.numpy.full_like(like, value)
    new = copied(like)
    new[...] = value
    return new


def borrow(
    field: str, value: Any, gpu: int, stream: int, *, written: bool, own: bool = False
) -> _odeum.GpuArray:
    """The memory of an array, for work on a stream, which waits for what its library has still to do with it.

    `own`: nobody else has the array.
    """
    name = type(value).__name__
    # JAX lends them without a word that they must not be written to.
    if written and not own and is_of_jax(value):
        found = f"an array of JAX ({name}), which never changes"
        raise InputError(field, found, "call `advanced`, which gives new arrays")
    try:
        try:
            capsule = value.__dlpack__(stream=stream, max_version=(1, 0))
        except TypeError:
            # Of a library that knows no versions.
            capsule = value.__dlpack__(stream=stream)
    except Exception as error:
        found = f"an array ({name}) that is not lent: {error}"
        raise InputError(field, found, "give one that DLPack lends, of PyTorch x.detach()") from error
    return _odeum.GpuArray(field, capsule, gpu, written)
