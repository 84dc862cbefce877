"""Arrays of CuPy, PyTorch and JAX that lie on a GPU, advanced by an integrator: beside the same numbers as NumPy's arrays.

    pip install ".[cuda]" cupy-cuda13x
    python validation/gpu_arrays.py --mechanism mechanisms/hydrogen-burke-2012.yaml

Results must have the same bits. Prints PASS or FAIL for each check, SKIP for what needs a library or a GPU that is not there,
and exits with 1 if anything failed. `--only WORD` runs the checks whose names contain it.
"""

import argparse
import time

import numpy as np
from checking import Skip, check, refused, run

import odeum as od

PARSER = argparse.ArgumentParser(description=__doc__.splitlines()[0])
PARSER.add_argument("--mechanism", default="mechanisms/hydrogen-burke-2012.yaml")
PARSER.add_argument("--device", default="cuda", help="of the integrators")
PARSER.add_argument("--only", default="")
PARSER.add_argument("--cells", type=int, nargs="*", default=[100_000, 1_000_000], help="of the timings")
ARGS = PARSER.parse_args()

GAS = od.Mechanism(ARGS.mechanism)


def library(name):
    try:
        return __import__(name)
    except ImportError as error:
        raise Skip(f"{name} is not installed") from error


def cupy():
    return library("cupy")


def torch():
    module = library("torch")
    if not module.cuda.is_available():
        raise Skip("this PyTorch has no CUDA")
    return module


def mixture(cells, seed=2):
    """Temperatures and pressures [cells], mass fractions [cells, species], of hydrogen and air on the way to ignition."""
    random = np.random.default_rng(seed)
    phi = random.uniform(0.3, 3.0, cells)
    Y = np.array(GAS.at_equivalence_ratio(phi, "H2", "O2:1, N2:3.76"))
    return random.uniform(900.0, 1600.0, cells), random.uniform(0.5, 20.0, cells) * od.atm, Y


def with_faults(T, p, Y):
    """Some cells that are no gas, and some that transport left a little beside one."""
    T[3], Y[5, 0], p[7] = 20.0, -0.3, -1.0
    Y[9] *= 1.0 + 5e-4
    Y[11, GAS.species_index("H2O2")] = -1e-10
    return T, p, Y


def integrator(kind, cells, **options):
    return GAS.integrator(
        kind, cells=cells, **{"device": ARGS.device, "rtol": 1e-6, "atol": 1e-10, **options}
    )


def march(chem, T, p, Y, calls=4, dt=2e-6):
    """Statuses and steps of all calls."""
    told = []
    for _ in range(calls):
        status = chem.advance(T, p, Y, dt)
        told.append((status.copy(), chem.stats["steps"].copy(), chem.stats["rejected"].copy()))
    return told


def same(name, found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, f"{name}: shape {found.shape}, expected {expected.shape}"
    apart = found != expected
    first = np.argwhere(apart)[:1].tolist()
    assert not apart.any(), f"{name}: {np.count_nonzero(apart)} numbers differ, the first at {first}"


def same_told(found, expected):
    for call, (mine, other) in enumerate(zip(found, expected, strict=True)):
        for name, a, b in zip(("status", "steps", "rejected"), mine, other, strict=True):
            same(f"{name} of call {call}", a, b)


def layouts(xp, T, p, Y):
    """The same numbers on the GPU in several layouts; whether species are the first axis."""
    cells, species = Y.shape

    def part(shape, index, values):
        view = xp.full(shape, -7.0)[index]
        view[...] = xp.asarray(values)
        return view

    t, q = xp.asarray(T), xp.asarray(p)
    record = part((cells, species + 1), ..., np.column_stack([T, Y]))
    rows = (slice(None, None, -2), slice(None, None, 3))
    return {
        "[cells, species]": (t.copy(), q.copy(), xp.asarray(Y), False),
        "[species, cells]": (t.copy(), q.copy(), xp.asarray(np.ascontiguousarray(Y.T)), True),
        "Fortran order": (t.copy(), q.copy(), xp.asfortranarray(xp.asarray(Y)), False),
        "records": (record[:, 0], q.copy(), record[:, 1:], False),
        "backwards": (
            part((3 * cells,), slice(None, None, -3), T),
            part((cells,), slice(None, None, -1), p),
            part((2 * cells, 3 * species), rows, Y),
            False,
        ),
    }


@check
def cupy_layouts_give_the_same_bits():
    xp, said = cupy(), []
    cells = 500
    for kind, method in (
        ("constant pressure", "rodas4"),
        ("constant volume", "rodas4"),
        ("constant volume", "radau"),
    ):
        expected = with_faults(*mixture(cells))
        chem = integrator(kind, cells, method=method)
        told = march(chem, *expected)
        names = {od.STATUSES[k].name for k in told[-1][0]}
        assert {"success", "invalid start"} <= names, names
        for name, (T, p, Y, by_species) in layouts(xp, *with_faults(*mixture(cells))).items():
            mine = march(integrator(kind, cells, method=method), T, p, Y)
            where = f"{kind}, {method}, {name}"
            same_told(mine, told)
            same(f"{where}: T", xp.asnumpy(T), expected[0])
            same(f"{where}: p", xp.asnumpy(p), expected[1])
            same(f"{where}: Y", xp.asnumpy(Y.T if by_species else Y), expected[2])
        said.append(f"{kind}, {method}: {np.count_nonzero(told[-1][0] == 0)} of {cells} succeed")
    return "; ".join(said)


@check
def jax_gets_new_arrays():
    jax, cells, kind = library("jax"), 500, "constant volume"
    jax.config.update("jax_enable_x64", True)
    if jax.default_backend() != "gpu":
        raise Skip("this JAX has no CUDA")
    expected, chem = with_faults(*mixture(cells)), integrator(kind, cells)
    arrays = [jax.numpy.asarray(part) for part in with_faults(*mixture(cells))]
    kept = [np.array(array) for array in arrays]
    other = integrator(kind, cells)
    refused(lambda: other.advance(*arrays, 1e-6), "T", "advanced")
    first = arrays
    for _ in range(3):
        # What JAX has still to do with its arrays comes first.
        arrays = [array * 1.0 for array in arrays]
        *arrays, status = chem.advanced(*arrays, 2e-6)
        same("status", status, other.advance(*expected, 2e-6))
    for name, array, now, before, wanted in zip("TpY", first, arrays, kept, expected, strict=True):
        assert isinstance(now, jax.Array) and now.devices() == array.devices(), type(now)
        same(f"{name} that was given", array, before)
        same(name, now, wanted)
    return f"{np.count_nonzero(status == 0)} of {cells} succeed"


@check
def cupy_nothing_is_written_beside():
    xp, cells = cupy(), 200
    T, p, Y = mixture(cells)
    wide_T, wide_Y = xp.full((2, cells), -7.0), xp.full((3 * cells, 2 * GAS.n_species), -7.0)
    t, y = wide_T[1, ::-1], wide_Y[::-3, ::2]
    t[...], y[...] = xp.asarray(T), xp.asarray(Y)
    assert not march(integrator("constant volume", cells), t, xp.asarray(p), y)[-1][0].any()
    t[...], y[...] = -7.0, -7.0
    assert bool((wide_T == -7.0).all()) and bool((wide_Y == -7.0).all())


@check
def cupy_one_pressure_and_pressures_that_are_read():
    xp, cells = cupy(), 300
    T, _, Y = mixture(cells)
    march(integrator("constant pressure", cells), T, 2e5, Y)
    for p in (2e5, xp.broadcast_to(xp.asarray(2e5), (cells,)), xp.full(2 * cells, 2e5)[::2]):
        t, _, y = map(xp.asarray, mixture(cells))
        march(integrator("constant pressure", cells), t, p, y)
        same("T", xp.asnumpy(t), T)
        same("Y", xp.asnumpy(y), Y)
    t, _, y = map(xp.asarray, mixture(cells))
    broadcast = xp.broadcast_to(xp.asarray(2e5), (cells,))
    refused(lambda: integrator("constant volume", cells).advance(t, broadcast, y, 1e-6), "p", "")


@check
def cupy_work_on_other_streams_comes_first():
    """What is written on another stream just before a call is what the call reads."""
    xp, cells = cupy(), 2000

    def begun(put):
        """An integrator that has compiled its kernels and reserved its memory."""
        chem = integrator("constant volume", cells)
        chem.advance(*map(put, mixture(cells, 9)), 1e-9)
        return chem

    expected = mixture(cells)
    march(begun(lambda part: part), *expected, calls=1)
    start = [xp.asarray(part) for part in mixture(cells)]
    busy = xp.ones(64_000_000)

    def write(to):
        """A tenth of a second of work at least: who does not wait reads what was there before."""
        for _ in range(300):
            xp.sin(busy, out=busy)
        for place, part in zip(to, start, strict=True):
            place[...] = part + 0.0 * busy[0]

    # Kernels are compiled when they are first wanted, which takes longer than they do.
    write([xp.empty_like(part) for part in start])
    for stream in (xp.cuda.Stream(non_blocking=True), xp.cuda.Stream(), xp.cuda.Stream.null):
        chem = begun(xp.asarray)
        arrays = [xp.full_like(part, 0.5) for part in start]
        xp.cuda.Device().synchronize()
        with stream:
            write(arrays)
            pending = not stream.done
            status = chem.advance(*arrays, 2e-6)
        assert pending, "the work ended before the call: the check shows nothing"
        assert not status.any(), "read before it was written"
        for name, mine, other in zip("TpY", arrays, expected, strict=True):
            same(name, xp.asnumpy(mine), other)
    return "300 kernels were pending"


@check
def cupy_and_numpy_in_turn():
    """Steps are kept over calls with arrays here and there."""
    xp, cells = cupy(), 400
    T, p, Y = mixture(cells)
    chem = integrator("constant volume", cells)
    told = march(chem, T, p, Y, calls=6)
    turns = integrator("constant volume", cells)
    on_host = mixture(cells)
    found = []
    for call in range(6):
        if call % 3 == 2:
            found += march(turns, *on_host, calls=1)
        else:
            lent = [xp.asarray(part) for part in on_host]
            found += march(turns, *lent, calls=1)
            on_host = tuple(xp.asnumpy(part) for part in lent)
    same_told(found, told)
    for name, mine, other in zip("TpY", on_host, (T, p, Y), strict=True):
        same(name, mine, other)


@check
def cupy_failures_keep_what_they_had():
    xp, cells = cupy(), 8
    T, p, Y = map(xp.asarray, with_faults(*mixture(16)))
    T, p, Y = (part[:cells].copy() for part in (T, p, Y))
    T[0] = 2500.0
    before = T.copy(), p.copy(), Y.copy()
    chem = integrator("constant volume", cells, max_steps=3)
    status = chem.advance(T, p, Y, 1e-3)
    names = [od.STATUSES[k].name for k in status]
    assert [names[k] for k in (3, 5, 7)] == ["invalid start"] * 3 and names[0] == "too many steps", names
    failed = np.flatnonzero(status)
    for mine, old in zip((T, p, Y), before, strict=True):
        same("what failed", xp.asnumpy(mine)[failed], xp.asnumpy(old)[failed])
    assert (chem.stats["steps"][[3, 5, 7]] == 0).all()
    T[3], Y[5], p[7] = 1000.0, Y[1], 1e5
    again = chem.advance(T, p, Y, 1e-10)
    assert not again.any(), [od.STATUSES[k].name for k in again]
    return names


@check
def cupy_numbers_that_are_not_finite_are_refused():
    xp, cells = cupy(), 1000
    T, p, Y = map(xp.asarray, mixture(cells))
    chem = integrator("constant volume", cells)
    for array, index, field, word in (
        (Y, (700, 2), "Y", "NaN in cell 700"),
        (p, 600, "p[600]", "inf"),
        (T, 500, "T[500]", "-inf"),
    ):
        array[index] = {"NaN": xp.nan, "inf": xp.inf, "-inf": -xp.inf}[word.split()[0]]
        before = [xp.asnumpy(part) for part in (T, p, Y)]
        refused(lambda: chem.advance(T, p, Y, 1e-6), field, word)
        for mine, old in zip((T, p, Y), before, strict=True):
            assert np.array_equal(xp.asnumpy(mine), old, equal_nan=True), "changed"


@check
def cupy_bad_arrays_are_refused():
    xp, cells = cupy(), 50
    chem = integrator("constant volume", cells)
    T, p, Y = map(xp.asarray, mixture(cells))
    for field, word, arrays in (
        ("T", "float32", (T.astype(xp.float32), p, Y)),
        ("T", "shape", (T[:-1], p, Y)),
        ("T", "share places", (xp.broadcast_to(T[:1], (cells,)), p, Y)),
        ("p", "shape", (T, p[:3], Y)),
        ("Y", "shape", (T, p, Y[:, :-1])),
        ("Y", "int64", (T, p, Y.astype(int))),
        ("Y", "axes", (T, p, Y[None])),
        ("Y", "ndarray", (T, p, xp.asnumpy(Y))),
        ("T", "ndarray", (xp.asnumpy(T), p, Y)),
    ):
        refused(lambda arrays=arrays: chem.advance(*arrays, 1e-6), field, word)
    refused(lambda: GAS.integrator(cells=cells).advance(T, 1e5, Y, 1e-6), "T", "cpu")
    assert not chem.advance(T, p, Y, 1e-6).any()


@check
def cupy_memory_is_given_back():
    xp, cells = cupy(), 200_000
    chem = integrator("constant pressure", cells)
    pool = xp.get_default_memory_pool()
    used = []
    for _ in range(4):
        T, p, Y = map(xp.asarray, mixture(cells))
        chem.advance(T, p, Y, 1e-9)
        del T, p, Y
        used.append(pool.used_bytes())
    assert used[0] == used[-1], used


@check
def cupy_on_a_second_gpu():
    xp, cells = cupy(), 300
    if xp.cuda.runtime.getDeviceCount() < 2:
        raise Skip("one GPU")
    expected = mixture(cells)
    march(integrator("constant volume", cells), *expected)
    with xp.cuda.Device(1):
        T, p, Y = map(xp.asarray, mixture(cells))
    refused(lambda: integrator("constant volume", cells).advance(T, p, Y, 1e-6), "T", "cuda:1")
    for present in (0, 1):
        with xp.cuda.Device(1):
            t, q, y = (part.copy() for part in (T, p, Y))
        with xp.cuda.Device(present):
            # Whichever GPU is the present one: it stays that.
            chem = integrator("constant volume", cells, device="cuda:1")
            march(chem, t, q, y)
            del chem
            assert xp.cuda.runtime.getDevice() == present
        for name, mine, other in zip("TpY", (t, q, y), expected, strict=True):
            same(name, xp.asnumpy(mine), other)


@check
def torch_gives_the_same_bits():
    module, cells = torch(), 500
    for kind in ("constant pressure", "constant volume"):
        expected = with_faults(*mixture(cells))
        told = march(integrator(kind, cells), *expected)
        T, p, Y = (module.from_numpy(part).cuda() for part in with_faults(*mixture(cells)))
        with module.cuda.stream(module.cuda.Stream()):
            wide = module.full((cells, 2 * Y.shape[1]), -7.0, dtype=Y.dtype, device="cuda")
            wide[:, ::2] = Y
            found = march(integrator(kind, cells), T, p, wide[:, ::2])
        same_told(found, told)
        for name, mine, other in zip("TpY", (T, p, wide[:, ::2]), expected, strict=True):
            same(name, mine.cpu().numpy(), other)
        assert bool((wide[:, 1::2] == -7.0).all())
    grad = T.clone().requires_grad_()
    refused(lambda: integrator("constant volume", cells).advance(grad, p, Y, 1e-6), "T", "grad")
    refused(lambda: integrator("constant volume", cells).advance(T.float(), p, Y, 1e-6), "T", "float32")


@check
def numba_by_cupy():
    cuda = __import__("importlib").import_module("numba.cuda") if library("numba") else None
    xp, cells = cupy(), 100
    T, p, Y = mixture(cells)
    march(integrator("constant volume", cells), T, p, Y)
    lent = [cuda.to_device(part) for part in mixture(cells)]
    march(integrator("constant volume", cells), *map(xp.asarray, lent))
    for name, mine, other in zip("TpY", lent, (T, p, Y), strict=True):
        same(name, mine.copy_to_host(), other)


@check
def jax_arrays_are_refused():
    jax = library("jax")
    jax.config.update("jax_enable_x64", True)
    if not any(device.platform == "gpu" for device in jax.devices()):
        raise Skip("this JAX has no GPU")
    T, p, Y = map(jax.numpy.asarray, mixture(20))
    refused(lambda: integrator("constant volume", 20).advance(T, p, Y, 1e-6), "T", "JAX")


# Timings


def rate(cells, dt, put, before=None, after=None, calls=5):
    """Cells in a second, over calls after the first two, which compile and look for first steps."""
    T, _, Y = mixture(cells)
    T, Y = put(T), put(Y)
    chem = integrator("constant pressure", cells)
    seconds = []
    for _ in range(calls + 2):
        begun = time.perf_counter()
        t, y = (before(T), before(Y)) if before else (T, Y)
        status = chem.advance(t, od.atm, y, dt)
        if after:
            after(T, t), after(Y, y)
        seconds.append(time.perf_counter() - begun)
        assert not status.any()
    mean = sum(seconds[2:]) / calls
    return f"{cells / mean:.3g} cells/s ({1e3 * mean:.2f} ms)"


@check
def timings():
    xp, said = cupy(), []
    for cells in ARGS.cells:
        for dt in (1e-7, 1e-6):
            rates = {
                "NumPy": rate(cells, dt, np.array),
                "CuPy": rate(cells, dt, xp.asarray),
                # What a code on the GPU does without this.
                "CuPy by way of the host": rate(cells, dt, xp.asarray, xp.asnumpy, lambda to, x: to.set(x)),
            }
            said.append(f"{cells:,} cells over {dt:g} s: " + ", ".join(f"{k} {v}" for k, v in rates.items()))
    return "\n      ".join(said)


if __name__ == "__main__":
    raise SystemExit(run(ARGS.only))
