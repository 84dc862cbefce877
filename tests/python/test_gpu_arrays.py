"""Arrays on GPUs, lent by DLPack: what is refused, and that what is lent is given back, without a GPU."""

from __future__ import annotations

import ctypes as c
import gc
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import odeum as od
from odeum import _odeum
from odeum.chemistry import _gpu
from odeum.chemistry.integrator import _refuse_overlap

HYDROGEN = Path(__file__).resolve().parents[2] / "mechanisms" / "hydrogen-burke-2012.yaml"
CPU, CUDA, CUDA_HOST, MANAGED = 1, 2, 3, 13
INT, FLOAT, COMPLEX = 0, 2, 5


class Tensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("device_type", c.c_int32),
        ("device_id", c.c_int32),
        ("ndim", c.c_int32),
        ("code", c.c_uint8),
        ("bits", c.c_uint8),
        ("lanes", c.c_uint16),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    ]


DELETER = c.CFUNCTYPE(None, c.c_void_p)


class Managed(c.Structure):
    _fields_ = [("tensor", Tensor), ("context", c.c_void_p), ("deleter", DELETER)]


class Versioned(c.Structure):
    _fields_ = [
        ("major", c.c_uint32),
        ("minor", c.c_uint32),
        ("context", c.c_void_p),
        ("deleter", DELETER),
        ("flags", c.c_uint64),
        ("tensor", Tensor),
    ]


new_capsule = c.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
name_of = c.pythonapi.PyCapsule_GetName
name_of.restype, name_of.argtypes = c.c_char_p, [c.py_object]


# What was lent stays where it is, whoever forgets it.
LENT = []


class Lender:
    """Lends memory that nobody has: at an address that no process may read."""

    def __init__(
        self,
        shape=(4,),
        strides=None,
        *,
        version=None,
        flags=0,
        data=0x1000,
        device=(CUDA, 0),
        dtype=(FLOAT, 64, 1),
        ndim=None,
        byte_offset=0,
        has_shape=True,
    ):
        self.given_back = 0
        self.device = device
        self.asked = []
        self._shape = (c.c_int64 * max(len(shape), 8))(*shape)
        self._strides = None if strides is None else (c.c_int64 * max(len(strides), 8))(*strides)
        self._deleter = DELETER(self._delete)
        tensor = Tensor(
            data,
            *device,
            len(shape) if ndim is None else ndim,
            *dtype,
            c.cast(self._shape, c.POINTER(c.c_int64)) if has_shape else None,
            c.cast(self._strides, c.POINTER(c.c_int64)) if strides is not None else None,
            byte_offset,
        )
        if version is None:
            self._managed, self._name = Managed(tensor, None, self._deleter), b"dltensor"
        else:
            self._managed = Versioned(*version, None, self._deleter, flags, tensor)
            self._name = b"dltensor_versioned"

    def _delete(self, managed):
        assert managed == c.addressof(self._managed)
        self.given_back += 1

    def __dlpack_device__(self):
        return self.device

    def capsule(self):
        LENT.append(self)
        return new_capsule(c.addressof(self._managed), self._name, None)

    def __dlpack__(self, *, stream=None, max_version=None):
        self.asked.append((stream, max_version))
        return self.capsule()


class Unversioned(Lender):
    def __dlpack__(self, *, stream=None):
        return super().__dlpack__(stream=stream)


VERSION = (1, 1)

REFUSED = {
    "float32": ({"dtype": (FLOAT, 32, 1)}, "float32"),
    "integers": ({"dtype": (INT, 64, 1)}, "int64"),
    "complex numbers": ({"dtype": (COMPLEX, 64, 1)}, "complex64"),
    "vectors": ({"dtype": (FLOAT, 64, 2)}, "float64"),
    "another GPU": ({"device": (CUDA, 1)}, "2:1"),
    "a negative GPU": ({"device": (CUDA, -1)}, "2:-1"),
    "the CPU": ({"device": (CPU, 0)}, "1:0"),
    "pinned memory": ({"device": (CUDA_HOST, 0)}, "3:0"),
    "three axes": ({"shape": (2, 2, 2)}, "3 axes"),
    "fewer axes than none": ({"ndim": -1}, "-1 axes"),
    "axes without end": ({"ndim": 2**31 - 1}, "axes"),
    "a negative length": ({"shape": (-4,)}, "-4"),
    "no shape": ({"has_shape": False}, "no shape"),
    "no memory": ({"data": None}, "no memory"),
    "numbers between places": ({"byte_offset": 4}, "aligned"),
    "an unaligned beginning": ({"data": 0x1001}, "aligned"),
    "an offset beyond memory": ({"byte_offset": 2**64 - 8}, "memory"),
    "a stride beyond memory": ({"strides": (2**62,)}, "memory"),
    "a stride below memory": ({"strides": (-1000,)}, "memory"),
    "a length beyond memory": ({"shape": (2**62, 2**62)}, "memory"),
    "one place for all": ({"strides": (0,)}, "share"),
    "windows": ({"shape": (3, 2), "strides": (1, 1)}, "share"),
    "a read-only array": ({"version": VERSION, "flags": 1}, "read-only"),
    "a copy": ({"version": VERSION, "flags": 2}, "copy"),
    "another major version": ({"version": (2, 0)}, "DLPack 2"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_refused_and_given_back_once(name):
    options, found = REFUSED[name]
    lender = Lender(**options)
    capsule = lender.capsule()
    with pytest.raises(od.InputError) as refused:
        _odeum.GpuArray("T", capsule, 0, True)
    assert refused.value.field == "T" and refused.value.remedy
    assert found in refused.value.found, refused.value
    assert name_of(capsule) == b"used_" + lender._name
    del capsule, refused
    gc.collect()
    assert lender.given_back == 1


@pytest.mark.parametrize("version", [None, (1, 0), VERSION])
@pytest.mark.parametrize("device", [CUDA, MANAGED])
def test_an_array_is_held_as_long_as_somebody_has_it(version, device):
    lender = Lender((4, 9), (1, -5), device=(device, 2), version=version, data=0x10000)
    array = _odeum.GpuArray("Y", lender.capsule(), 2, True)
    other = array.T
    assert array.shape == (4, 9) and other.shape == (9, 4)
    del array
    gc.collect()
    assert lender.given_back == 0
    del other
    gc.collect()
    assert lender.given_back == 1


def test_what_is_only_read_may_be_read_only_and_share_places():
    for options in ({"strides": (0,)}, {"version": VERSION, "flags": 3}):
        lender = Lender(**options)
        assert _odeum.GpuArray("p", lender.capsule(), 0, False).shape == (4,)
        assert lender.given_back == 1


def test_a_warning_is_sent_without_what_is_on_a_gpu():
    """It could not be pickled, nor could it be sent by a worker."""
    warning = od.OdeumWarning("beyond the data")
    array = _odeum.GpuArray("T", Lender().capsule(), 0, True)
    for result in ((array, 1.0), array):
        warning.result = result
        sent = pickle.loads(pickle.dumps(warning))
        assert sent.args == warning.args and sent.result is None
    warning.result = (2.0, 1.0)
    assert pickle.loads(pickle.dumps(warning)).result == (2.0, 1.0)


def test_a_capsule_serves_once_and_others_not_at_all():
    lender = Lender()
    capsule = lender.capsule()
    array = _odeum.GpuArray("T", capsule, 0, True)
    for other in (capsule, None, 3, new_capsule(1, b"other", None)):
        with pytest.raises(od.InputError, match="capsule"):
            _odeum.GpuArray("T", other, 0, True)
    assert lender.given_back == 0
    del array
    assert lender.given_back == 1


def test_negative_strides_of_cupy():
    # As CuPy 14.2 lends x[::-2]: the stride is 2^61 - 2.
    lender = Lender((3,), (2**61 - 2,), data=0x1000)
    assert _odeum.GpuArray("T", lender.capsule(), 0, True).shape == (3,)
    beyond = Lender((3,), (2**61 - 2,), data=0x10)
    with pytest.raises(od.InputError, match="memory"):
        _odeum.GpuArray("T", beyond.capsule(), 0, True)


LENGTHS = st.one_of(st.integers(0, 9), st.integers(-(2**63), 2**63 - 1))


@given(
    axes=st.lists(st.tuples(LENGTHS, st.one_of(st.integers(-9, 9), LENGTHS)), max_size=3),
    strided=st.booleans(),
    data=st.one_of(st.none(), st.integers(1, 2**16).map(lambda k: 8 * k), st.integers(1, 2**64 - 1)),
    byte_offset=st.one_of(st.integers(0, 4).map(lambda k: 8 * k), st.integers(0, 2**64 - 1)),
    version=st.one_of(st.none(), st.tuples(st.integers(0, 2), st.integers(0, 9))),
    flags=st.integers(0, 7),
    is_written=st.booleans(),
)
def test_any_array_is_taken_or_refused(axes, strided, data, byte_offset, version, flags, is_written):
    shape, strides = [axis[0] for axis in axes], [axis[1] for axis in axes]
    lender = Lender(
        shape,
        strides if strided else None,
        version=version,
        flags=flags,
        data=data,
        byte_offset=byte_offset,
    )
    try:
        array = _odeum.GpuArray("Y", lender.capsule(), 0, is_written)
    except od.InputError as error:
        assert error.field == "Y" and error.found and error.remedy
    else:
        first = (data or 0) + byte_offset
        assert list(array.shape) == shape and first % 8 == 0 and (data or 0 in shape)
        if not strided:
            strides = [shape[1] if len(shape) == 2 else 1, 1][: len(shape)]
        strides = [s - 2**61 if 2**60 <= s < 2**61 else s for s in strides]
        far = [8 * (n - 1) * s for n, s in zip(shape, strides, strict=True) if n > 0]
        assert 0 <= first + sum(f for f in far if f < 0) and first + sum(f for f in far if f > 0) < 2**63
        del array
    assert lender.given_back == 1


# Integrators


@pytest.fixture(scope="module")
def gas():
    return od.Mechanism(HYDROGEN)


class Immutable(Lender):
    """As JAX has them."""


Immutable.__module__ = "jaxlib._jax"


class Silent:
    def __dlpack_device__(self):
        return CUDA, 0

    def __dlpack__(self, **_):
        raise BufferError("requires grad")


@pytest.mark.parametrize("kind", ["constant pressure", "constant volume"])
@pytest.mark.parametrize(
    ("device", "field", "found", "change"),
    [
        ("cpu", "T", "cpu", lambda T, p, Y: (T, p, Y)),
        ("cpu", "T", "cpu", lambda T, p, Y: (T, 1e5, Y)),
        ("cuda:1", "T", "cuda:0", lambda T, p, Y: (T, p, Y)),
        ("cuda:0,1", "T", "cuda:0,1", lambda T, p, Y: (T, p, Y)),
        ("cuda", "p", "cuda:3", lambda T, p, Y: (T, Lender(device=(CUDA, 3)), Y)),
        ("cuda", "Y", "cuda:1", lambda T, p, Y: (T, p, Lender((4, 9), device=(MANAGED, 1)))),
        ("cuda", "T", "ndarray", lambda T, p, Y: (np.ones(4), p, Y)),
        ("cuda", "p", "ndarray", lambda T, p, Y: (T, np.ones(4), Y)),
        ("cuda", "p", "list", lambda T, p, Y: (T, [1e5] * 4, Y)),
        ("cuda", "Y", "ndarray", lambda T, p, Y: (T, p, np.ones((4, 9)))),
        ("cuda", "p", "texts", lambda T, p, Y: (T, "high", Y)),
        ("cuda", "p", "nan", lambda T, p, Y: (T, np.nan, Y)),
        ("cuda", "T", "not on a GPU", lambda T, p, Y: (Lender(device=(CUDA_HOST, 0)), p, Y)),
    ],
)
def test_arrays_in_other_places_are_refused_before_they_are_lent(gas, kind, device, field, found, change):
    arrays = change(Lender(), Lender(), Lender((4, 9)))
    chem = gas.integrator(kind, cells=4, device=device)
    with pytest.raises(od.InputError) as refused:
        chem.advance(*arrays, 1e-6)
    assert refused.value.field == field and refused.value.remedy
    assert found in refused.value.found, refused.value
    for array in arrays:
        assert not isinstance(array, Lender) or not array.asked


def test_arrays_on_another_kind_of_device_are_refused(gas):
    with pytest.raises(od.InputError, match="another device"):
        gas.integrator(cells=4).advance(Lender(device=(10, 0)), 1e5, Lender((4, 9), device=(10, 0)), 1e-6)


@pytest.mark.parametrize(
    ("array", "found"),
    [(Immutable(), "JAX"), (Silent(), "requires grad"), (Lender(dtype=(FLOAT, 32, 1)), "float32")],
)
def test_arrays_that_cannot_be_written_to_are_refused(array, found):
    with pytest.raises(od.InputError) as refused:
        _gpu.borrow("T", array, 0, 7, written=True)
    assert refused.value.field == "T" and found in refused.value.found and refused.value.remedy


def test_a_copy_that_nobody_else_has_is_written_to():
    assert _gpu.borrow("T", Immutable(), 0, 7, written=True, own=True).shape == (4,)


def test_the_stream_is_told_to_libraries_of_either_kind():
    for lender, asked in (
        (Lender(version=VERSION), [(7, (1, 0))]),
        (Unversioned(), [(7, None)]),
        (Immutable(), [(7, (1, 0))]),
    ):
        written = not isinstance(lender, Immutable)
        array = _gpu.borrow("p", lender, 0, 7, written=written)
        assert lender.asked == asked and array.shape == (4,)
        del array
        assert lender.given_back == 1


def test_the_extension_itself_takes_no_arrays_that_do_not_fit(gas):
    def lent(shape, written=True, gpu=0):
        return _odeum.GpuArray("Y", Lender(shape, device=(CUDA, gpu)).capsule(), gpu, written)

    n = gas.n_species
    on_cpu, chem = (gas.integrator("constant volume", cells=4, device=d)._raw for d in ("cpu", "cuda"))
    assert on_cpu.gpus == [] and chem.gpus == [0]
    good = lent((4,)), lent((4,)), lent((4, n))
    for raw, (t, p, y) in [
        (on_cpu, good),
        (chem, (lent((5,)), good[1], good[2])),
        (chem, (good[0], lent((4, 1)), good[2])),
        (chem, (good[0], good[1], lent((n, 4)))),
        (chem, (good[0], lent((4,), written=False), good[2])),
        (chem, (lent((4,), written=False), good[1], good[2])),
        (chem, (good[0], good[1], lent((4, n), gpu=1))),
    ]:
        with pytest.raises(od.InputError, match="do not fit"):
            raw.advance_on_gpu(t, p, 0.0, True, y, 1e-6)


def test_arrays_on_a_gpu_that_share_memory_are_refused():
    n = 3

    def of_block(t, p, y):
        """T, p and Y at columns of one array [cells, n + 2]."""
        ones = (Lender((4,), (n + 2,), data=0x10000 + 8 * place) for place in (t, p))
        lenders = (*ones, Lender((4, n), (n + 2, 1), data=0x10000 + 8 * y))
        lent = [_gpu.borrow("Y", lender, 0, 7, written=True) for lender in lenders]
        return dict(zip("TpY", map(_gpu.addresses, lent), strict=True))

    good = of_block(0, 1, 2)
    assert good["Y"].shape == (4, n) and good["Y"].strides == (8 * (n + 2), 8)
    _refuse_overlap(**good)
    for places, field, other in (((0, 0, 2), "p", "T"), ((3, 1, 2), "Y", "T"), ((0, 3, 2), "Y", "p")):
        with pytest.raises(od.InputError, match=f"{field}: found memory that {other} has"):
            _refuse_overlap(**of_block(*places))
