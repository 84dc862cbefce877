"""What cannot be used is refused, with field and remedy."""

import json

import numpy as np
import pytest

import odeum as od

xr = pytest.importorskip("xarray")

MODEL = od.Model({"u": "D * lap(u)", "v": "-v"}, {"D": 1.0})
U = np.ones((3, 4, 5))
BOX = {"spacing": 0.1}


def dataset(**coords):
    data = {"u": (("z", "y", "x"), U), "v": (("z", "y", "x"), U)}
    usual = {"x": np.arange(5) * 0.1, "y": np.arange(4) * 0.1, "z": np.arange(3) * 0.1}
    return xr.Dataset(data, coords=usual | coords)


def refused(start=None, model=MODEL, **options):
    with pytest.raises(od.InputError) as raised:
        od.Simulation(model, start, **options)
    assert raised.value.field and raised.value.remedy and raised.value.found, vars(raised.value)
    return raised.value


def test_spacing_and_origin_come_from_coordinates():
    x = 2.0 + 0.1 * np.arange(5)
    sim = od.Simulation(MODEL, dataset(x=x, y=np.linspace(0.05, 0.35, 4)))
    assert sim.spacing == {"x": 0.1, "y": 0.1, "z": 0.1}
    assert sim.origin["x"] == pytest.approx(1.95) and sim.origin["z"] == pytest.approx(-0.05)
    assert sim.shape == (3, 4, 5)
    np.testing.assert_allclose(sim.state.x, x, rtol=1e-14)


def test_dimensions_come_in_any_order_and_may_be_missing():
    rng = np.random.default_rng(0)
    u = rng.random((5, 4))
    coords = {"x": np.arange(5) * 0.5, "y": np.arange(4) * 0.5}
    start = xr.Dataset({"u": (("x", "y"), u), "v": 2.0}, coords=coords)
    sim = od.Simulation(MODEL, start)
    assert np.array_equal(sim.arrays["u"], u.T[None])
    assert sim.arrays["v"].min() == sim.arrays["v"].max() == 2.0
    assert sim.state.u.dims == ("y", "x")
    start = xr.Dataset(
        {"u": (("x", "z"), u), "v": (("z",), u[0])}, coords={"x": coords["x"], "z": coords["y"]}
    )
    sim = od.Simulation(MODEL, start)
    assert sim.sizes == {"x": 5, "y": 1, "z": 4}
    assert np.array_equal(sim.arrays["u"][:, 0, :], u.T)
    assert np.array_equal(sim.arrays["v"][:, 0, 2], u[0])


def test_a_state_is_a_start():
    sim = od.Simulation(MODEL, dataset())
    sim.advance(0.01)
    other = od.Simulation(MODEL, sim.state)
    assert other.t == sim.t and other.spacing == sim.spacing
    assert np.array_equal(other.arrays["u"], sim.arrays["u"])


def test_a_state_has_edge_and_place_of_axes_with_one_cell():
    """They count: for walls across a layer, and rates that depend on its place."""
    model = od.Model({"u": "0.1 * lap(u) + z"})
    options = {"boundary": {"z_low": {"value": 1.0}}, "stencil": "star", "method": "euler", "step": 0.01}
    box = {"spacing": (0.5, 0.5, 0.2), "origin": (0.0, 0.0, 3.0)}
    sim = od.Simulation(model, {"u": np.linspace(0, 1, 20).reshape(4, 5)}, **box, **options)
    sim.advance_to(0.1)
    state = sim.state
    assert state.u.dims == ("y", "x") and float(state.z) == 3.1
    assert state.z.attrs == {"spacing": 0.2, "origin": 3.0}
    others = [od.Simulation(model, start, **options) for start in (state, {"u": state.u})]
    others.append(od.Simulation(model, state, **box, **options))
    sim.advance_to(0.2)
    for other in others:
        assert other.spacing == sim.spacing
        assert other.origin == pytest.approx(sim.origin)
        other.advance_to(0.2)
        np.testing.assert_allclose(other.arrays["u"], sim.arrays["u"], rtol=1e-13)
    assert refused(state, model, spacing=0.5).field == "start.z"
    assert refused(state, model, origin=(0, 0, 0)).field == "start.z"
    assert "attrs['spacing']" in refused(state.assign_coords(z=((), 1.0, {"spacing": 0})), model).field


def test_the_edge_of_cells_joined_to_one_is_asked_for():
    """It was that of the cells that were joined: the middle half of the box."""
    model = od.Model({"u": "lap(u)"})
    wall = {"boundary": {"y_low": {"value": 0.0}}, "stencil": "star"}
    box = {"spacing": 0.5, "origin": (0.0, -1.0, 0.0)}
    state = od.Simulation(model, {"u": np.ones((4, 8))}, **box, **wall).state
    joined = state.coarsen(y=4).mean()
    for start in (joined, {"u": joined.u}, joined.isel(y=0), state.coarsen(y=2).mean().isel(y=[1])):
        error = refused(start, model, **wall)
        assert error.field in ("start.y", "start.u.y") and "joined" in error.found
        assert "`spacing` and `origin`" in error.remedy
        assert refused(start, model, spacing={"x": 0.5}, **wall).field == error.field
    whole = od.Simulation(model, joined, spacing={"y": 2.0}, **wall)
    assert whole.spacing == {"x": 0.5, "y": 2.0, "z": 0.5} and whole.origin["y"] == -1.0
    for k in range(4):
        one = od.Simulation(model, state.isel(y=[k]), **wall)
        assert one.spacing["y"] == 0.5 and one.origin["y"] == pytest.approx(-1.0 + 0.5 * k)
    half = od.Simulation(model, state.coarsen(y=2).mean(), **wall)
    assert half.spacing["y"] == 1.0 and half.origin["y"] == -1.0
    # In millimetres: the edge of z stayed in metres.
    error = refused(state.assign_coords({dim: state[dim] * 1e3 for dim in "xyz"}), model, **wall)
    assert error.field == "start.z" and "other units" in error.found
    later = state.assign_coords({dim: state[dim] + 7.0 for dim in "xyz"})
    assert od.Simulation(model, later, **wall).origin["z"] == 7.0


def test_the_edge_of_cells_of_a_store_joined_to_one_is_asked_for(tmp_path):
    """Coordinates of stores had no `origin`, by which these are known."""
    model, wall = od.Model({"u": "lap(u)"}), {"boundary": {"y_low": {"value": 0.0}}, "stencil": "star"}
    sim = od.Simulation(model, {"u": np.ones((4, 8))}, spacing=0.5, origin=(0.0, -1.0, 0.0), **wall)
    sim.save(tmp_path / "u.zarr")
    for dim in "xyz":
        described = json.loads((tmp_path / "u.zarr" / dim / "zarr.json").read_text(encoding="utf-8"))
        assert described["attributes"] == sim.state[dim].attrs


def test_arrays_of_a_state_have_its_time():
    early = od.Simulation(MODEL, dataset(), t=1.0).state
    later = early.assign_coords(t=2.0)
    assert od.Simulation(MODEL, {"u": early.u, "v": early.v}).t == 1.0
    assert od.Simulation(MODEL, {"u": later.u, "v": 1.0}).t == 2.0
    error = refused({"u": early.u, "v": later.v})
    assert error.field == "start.v" and "t = 1.0" in error.found and "t=1.0" in error.remedy
    assert od.Simulation(MODEL, {"u": early.u, "v": later.v}, t=0.5).t == 0.5


def test_uneven_or_falling_coordinates():
    error = refused(dataset(x=[0.0, 0.1, 0.2, 0.35, 0.4]))
    assert error.field == "start.x" and "evenly" in error.found and "interp" in error.remedy
    error = refused(dataset(y=[0.3, 0.2, 0.1, 0.0]))
    assert error.field == "start.y" and "sortby" in error.remedy
    assert refused(dataset(x=[0.0, 0.1, np.nan, 0.3, 0.4])).field == "start.x[2]"


def test_other_dimensions():
    start = xr.Dataset({"u": (("t", "x"), np.ones((2, 5))), "v": 1.0})
    error = refused(start, **BOX)
    assert error.field == "start.u" and "isel(t=-1)" in error.remedy


def test_coordinates_and_keywords():
    """What the dataset says may be said again, and along other axes it is free."""
    sim = od.Simulation(MODEL, dataset(), spacing=0.1, origin={"z": -0.05})
    assert sim.origin == pytest.approx(dict.fromkeys("xyz", -0.05))
    assert refused(dataset(), spacing=0.2).field == "start.z"
    error = refused(dataset(), origin=[0, 0, 0])
    assert error.field == "start.z" and "centre is at 0.15" in error.found and "drop_vars" in error.remedy
    plane = dataset().isel(z=0, drop=True)
    sim = od.Simulation(MODEL, plane, spacing={"z": 0.2}, origin={"z": 3.0}, stencil="star")
    assert sim.spacing["z"] == 0.2 and sim.spacing["x"] == 0.1
    assert sim.origin["z"] == 3.0 and sim.origin["x"] == pytest.approx(-0.05)
    assert refused(dataset(), shape={"x": 9}).field == "shape"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite(value):
    u = U.copy()
    u[1, 2, 3] = value
    error = refused({"u": u, "v": 1.0}, **BOX)
    assert error.field == "initial.u" and "[3, 2, 1]" in error.found and "finite" in error.remedy


def test_arrays_of_other_shapes():
    assert refused({"u": U, "v": U[0]}, **BOX).field == "start.v"
    error = refused({"u": U, "v": 1.0}, mask=np.ones((5, 4, 3)), **BOX)
    assert error.field == "grid.mask" and "(3, 4, 5)" in error.remedy
    assert refused({"u": U, "v": 1.0}, diffusion={"u": U[:, :, 1:]}, **BOX).field == "diffusion.u"
    error = refused({"u": U, "v": 1.0}, velocity=[U[0], 0, 0], **BOX)
    assert error.field == "velocity.cells[0]"
    assert refused({"u": np.ones((1, 1, 1, 1)), "v": 1.0}, **BOX).field == "start.u"


def labelled(dims="zyx", values=U, **coords):
    usual = {"x": np.arange(5) * 0.1, "y": np.arange(4) * 0.1, "z": np.arange(3) * 0.1}
    places = {dim: usual[dim] for dim in dims} | coords
    return xr.DataArray(values, dims=list(dims), coords={d: x for d, x in places.items() if x is not None})


def given_as(kind, array):
    """Options that have an array as an initial value, a diffusion coefficient, ..."""
    return {
        "start": {"start": {"u": array, "v": 1.0}},
        "diffusion": {"start": dataset(), "diffusion": {"u": array}},
        "mask": {"start": dataset(), "mask": array},
        "velocity": {"start": dataset(), "velocity": [array, 0.0, 0.0]},
    }[kind]


KINDS = {
    "start": "start.u",
    "diffusion": "diffusion.u",
    "mask": "grid.mask",
    "velocity": "velocity.cells[0]",
}


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_arrays_are_those_of_the_grid(kind):
    od.Simulation(MODEL, **given_as(kind, labelled()))
    od.Simulation(MODEL, **given_as(kind, labelled().transpose("x", "z", "y")))
    od.Simulation(
        MODEL, **given_as(kind, labelled(x=None, y=None, z=None)), **(BOX if kind == "start" else {})
    )
    error = refused(**given_as(kind, labelled().isel(y=slice(None, None, -1))))
    assert error.field == f"{KINDS[kind]}.y" and "sortby" in error.remedy
    uneven = refused(**given_as(kind, labelled(x=[0.0, 0.1, 0.2, 0.35, 0.4])))
    assert uneven.field == f"{KINDS[kind]}.x"
    options = given_as(kind, labelled(x=7.0 + np.arange(5) * 0.1)) | (
        {"origin": [-0.05] * 3} if kind == "start" else {}
    )
    moved = refused(**options)
    assert moved.field == f"{KINDS[kind]}.x" and "7" in moved.found and "drop_vars" in moved.remedy
    options = given_as(kind, labelled(x=np.arange(5) * 0.2)) | (BOX if kind == "start" else {})
    assert refused(**options).field == f"{KINDS[kind]}.x"


@pytest.mark.parametrize("kind", ["diffusion", "mask", "velocity"])
def test_arrays_lie_along_the_axes_of_the_grid(kind):
    """An array of as many cells along other axes is none of this grid."""
    u = xr.Dataset({"u": (("z", "x"), np.ones((4, 4)))}, {"x": np.arange(4.0), "z": np.arange(4.0)})
    for array, said in [
        (xr.DataArray(np.ones((4, 4)), dims=("x", "y")), "(y: 4, x: 4)"),
        (xr.DataArray(np.ones(4), dims="x"), "(x: 4)"),
        (np.ones((4, 4, 1)), "(4, 4, 1)"),
        (np.ones((1, 4, 4)), "(1, 4, 4)"),
        (np.ones((4, 5)), "(4, 5)"),
    ]:
        error = refused(**given_as(kind, array) | {"start": u, "model": od.Model({"u": "lap(u)"})})
        assert error.field == KINDS[kind] and said in error.found, (array.shape, str(error))
    for array in (
        np.ones((4, 1, 4)),
        np.ones((4, 4)),
        xr.DataArray(np.ones((4, 4, 1)), dims=("x", "z", "y")),
    ):
        od.Simulation(od.Model({"u": "lap(u)"}), **{**given_as(kind, array), "start": u})


def test_labels_give_the_grid_where_nothing_else_does():
    start = {"u": labelled(x=2.0 + 0.1 * np.arange(5)), "v": 1.0}
    sim = od.Simulation(MODEL, start)
    assert sim.spacing == {"x": 0.1, "y": 0.1, "z": 0.1} and sim.origin["x"] == pytest.approx(1.95)
    assert od.Simulation(MODEL, start, **BOX).origin == sim.origin
    assert refused({"u": labelled(), "v": labelled(x=1.0 + 0.1 * np.arange(5))}).field == "start.v.x"
    error = refused({"u": labelled("zy", U[:, :, 0]), "v": labelled("yx", U[:, :4].reshape(4, -1)[:, :5])})
    assert "(y: 4, x: 5)" in error.found and "(z: 3, y: 4)" in error.remedy


def test_edges_are_given_along_all_axes_of_several_cells():
    for spacing in ({"x": 0.5}, (0.5, 0.0, 0.5)):
        error = refused({"u": U, "v": 1.0}, spacing=spacing)
        assert error.field == "spacing" and "along y, which has 4 cells" in error.found
    assert refused(dataset().drop_vars("y")).field == "start.y"
    assert refused({"u": labelled(z=None), "v": 1.0}).field == "start.z"
    sim = od.Simulation(MODEL, {"u": U[0, 0], "v": 1.0}, spacing={"x": 0.5})
    assert sim.spacing == {"x": 0.5, "y": 0.5, "z": 0.5}


def test_arrays_of_other_kinds():
    assert refused({"u": U.astype(complex), "v": 1.0}, **BOX).field == "start.u"
    assert refused({"u": np.array([["a"]]), "v": 1.0}, **BOX).field == "start.u"
    assert refused({"u": U.astype(object), "v": 1.0}, **BOX).field == "start.u"
    assert refused([1.0], **BOX).field == "start"


def test_missing_and_unknown_species():
    error = refused({"u": U}, **BOX)
    assert "`v`" in str(error)
    error = refused({"u": U, "v": 1.0, "w": 1.0}, **BOX)
    assert error.field == "initial.w" and "u" in error.remedy
    assert "initial" in str(refused(None, shape={"x": 4}, **BOX))


def test_grids_that_are_none():
    assert refused({"u": U, "v": 1.0}).field == "grid.spacing"
    assert refused({"u": U, "v": 1.0}, spacing=-1.0).field == "grid.spacing"
    assert refused({"u": U, "v": 1.0}, spacing=[1.0, 2.0]).field == "spacing"
    assert refused({"u": U, "v": 1.0}, spacing={"x": 1.0, "w": 2.0}).field == "spacing"
    assert "star" in str(refused({"u": U, "v": 1.0}, spacing=[1.0, 2.0, 1.0]))
    assert refused({"u": 1.0, "v": 1.0}, shape={"x": 2.5}, **BOX).field == "grid.shape[0]"
    assert refused({"u": 1.0, "v": 1.0}, **BOX).field == "grid.shape"
    assert refused({"u": np.ones((0, 4)), "v": 1.0}, **BOX).field.startswith("grid.shape")


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"boundary": "sticky"}, "boundary.default"),
        ({"boundary": {"x_low": {"val": 1.0}}}, "boundary.x_low"),
        ({"boundary": 3}, "boundary"),
        ({"boundary": [1]}, "boundary"),
        ({"velocity": np.array(1.0)}, "velocity"),
        ({"velocity": {"cells": 3}}, "velocity.cells"),
        ({"boundary": {"x_low": "periodic"}}, "boundary.x_low"),
        ({"velocity": [1.0, 2.0]}, "velocity"),
        ({"velocity": {"uniform": [1, 0, 0], "advection": "up"}}, "velocity.advection"),
        ({"sources": [{"species": "q", "rate": 1.0, "cell": [0, 0, 0]}]}, "sources[0].species"),
        ({"diffusion": U}, "diffusion"),
        ({"stencil": "round"}, "grid.stencil"),
        ({"method": "rk4"}, "time.method"),
        ({"step": -1.0}, "time.step"),
        ({"step": 1.0}, "time.step"),
        ({"step": np.nan}, "step"),
        ({"method": "euler", "tolerance": 1e-4}, "time.tolerance"),
        ({"method": "rkc", "tolerance": {"rtol": 1e-4}}, "time.tolerance.atol"),
        ({"method": "rkc"}, "time.method"),
        ({"precision": "f16"}, "run.precision"),
        ({"device": "gpu"}, "run.device"),
        ({"threads": 0}, "run.threads"),
        ({"seed": -1}, "initial.seed"),
        ({"mask": "x > 0"}, "grid.mask"),
        ({"mask": np.zeros_like(U)}, "grid.mask"),
        ({"mask": False}, "grid.mask"),
        ({"t": np.inf}, "t"),
    ],
)
def test_options(options, field):
    with pytest.raises(od.InputError) as raised:
        od.Simulation(MODEL, {"u": U, "v": 1.0}, **BOX, **options)
    assert raised.value.field == field, str(raised.value)
    assert raised.value.remedy


def test_masks_are_truth_values_of_any_kind():
    flags = [True, False, True, True]
    box = {"start": {"u": np.ones(4), "v": 1.0}, **BOX}
    for mask in (flags, tuple(flags), np.array(flags), xr.DataArray(flags, dims="x"), [1, 0, 1.0, 2]):
        assert od.Simulation(MODEL, **box, mask=mask).mask.ravel().tolist() == flags
    for mask in (True, np.True_, 1.0):
        assert od.Simulation(MODEL, **box, mask=mask).mask.all()


def test_what_is_said_of_boundaries_is_about_boundaries():
    error = refused({"u": U, "v": 1.0}, boundary=[1], **BOX)
    assert "periodic" in error.remedy and "species" not in error.remedy


@pytest.mark.parametrize("t", [np.datetime64("2020-01-01", "s"), np.timedelta64(3, "s"), "noon", np.nan])
def test_times_of_datasets_are_numbers(t):
    assert refused(dataset().assign_coords(t=t)).field == "start.t"
    assert od.Simulation(MODEL, dataset().assign_coords(t=3)).t == 3.0


def test_seeds():
    """The seed of random values stands among the initial values of case files."""
    model = od.Model({"seed": "-seed"})
    for start in ({"seed": 1.0}, {"seed": U}):
        error = refused(start, model, **BOX, **({} if start["seed"] is U else {"shape": {"x": 4}}))
        assert error.field == "system.species" and "seed" in error.found
    assert refused({"u": 1.0, "v": 1.0, "seed": 1}, shape={"x": 4}, seed=2, **BOX).field == "seed"


def test_what_is_said_of_times_is_so(tmp_path):
    sim = od.Simulation(MODEL, {"u": U, "v": 1.0}, t=1.0, **BOX)
    sim.advance(0.001)
    for call, said in [
        (lambda: sim.run(times=[2.0, 3.0], until=2.5), "2.5; the last of `times` is 3.0"),
        (lambda: sim.run(times=[0.5, 3.0]), "0.5; the simulation stands at t = 1.001"),
        (lambda: sim.stability(until=0.5), "0.5; the simulation stands at t = 1.001"),
        (lambda: sim.run(times=[2.0, 4.0, 3.0]), "3.0 after 4.0"),
        (lambda: sim.to_toml(tmp_path / "a.toml", until=0.5), "0.5; the case starts at t = 1.0"),
    ]:
        with pytest.raises(od.InputError) as raised:
            call()
        assert said in str(raised.value)


def test_models():
    with pytest.raises(od.InputError, match="equations"):
        od.Model(3)
    with pytest.raises(od.InputError, match="parameters.k"):
        od.Model({"u": "k"}, {"k": "one"})
    with pytest.raises(od.InputError, match="equations.u"):
        od.Model({"u": 1.0})
    for options in ({"species": 3}, {"species": "u"}, {"definitions": 3}):
        with pytest.raises(od.InputError, match=f"^{next(iter(options))}: "):
            od.Model({"u": "0"}, **options)
    # Names are judged at once: they were refused only by a simulation.
    for name in ("t", "x", "pi", "u v", "lap"):
        with pytest.raises(od.InputError, match=f"^species.{name}: "):
            od.Model({name: "lap(u)"})
        with pytest.raises(od.InputError, match=f"^parameters.{name}: "):
            od.Model({"u": "lap(u)"}, {name: 1.0})
    with pytest.raises(od.InputError, match="species: found none"):
        od.Model({})
    assert (
        refused({"u": 1.0}, od.Model({"u": "lapp(u)"}), shape={"x": 4}, **BOX).field == "system.equations.u"
    )
    assert refused({"u": 1.0}, od.Model.problem("turin"), shape={"x": 4}).field == "system.problem"
    assert refused({"u": 1.0}, "turing", **BOX).field == "model"


def test_times():
    sim = od.Simulation(MODEL, {"u": U, "v": 1.0}, **BOX)
    sim.advance(0.01)
    for call in (
        lambda: sim.advance(0.0),
        lambda: sim.advance(np.nan),
        lambda: sim.advance_to(0.005),
        lambda: sim.advance_to(np.inf),
        lambda: sim.advance_to("later"),
        lambda: sim.run(),
        lambda: sim.run(until=0.0),
        lambda: sim.run(until=1.0, every=0.0),
        lambda: sim.run(until=1.0, every=1e-12),
        lambda: sim.run(times=[0.3, 0.2]),
        lambda: sim.run(times=[]),
        lambda: sim.run(times=[0.2], every=0.1),
        lambda: sim.run(until=0.02, progress="yes").__next__(),
        lambda: sim.plot("w"),
        lambda: sim.plot(at={"z": 9.0}),
        lambda: sim.plot(at={"x": -0.1}),
        lambda: sim.plot(at={"x": 0.56}),
        lambda: sim.plot(at=3.0),
        lambda: sim.centres("w"),
        lambda: sim.plot(at={"w": 0.0}),
    ):
        with pytest.raises(od.InputError) as raised:
            call()
        assert raised.value.field and raised.value.remedy
    assert sim.t == 0.01


def test_a_spacing_of_zero_is_told_as_such():
    error = refused({"u": U, "v": 1.0}, spacing=0.0)
    assert error.field == "spacing" and "0 along x" in error.found and "positive" in error.remedy
    assert "none along y" in refused({"u": U, "v": 1.0}, spacing={"x": 0.1, "z": 0.1}).found
    sim = od.Simulation(MODEL, {"u": U[0, 0], "v": 1.0}, spacing=(0.5, 0.0, 0.0))
    assert sim.spacing == {"x": 0.5, "y": 0.5, "z": 0.5}


def test_the_place_of_an_axis_of_one_cell_does_not_count():
    plane = dataset().isel(z=[1])
    mask = dataset().u.isel(z=[2]) > 0
    assert od.Simulation(MODEL, plane, mask=mask).origin["z"] == pytest.approx(0.05)


def test_initial_values_that_are_missing_are_asked_for_by_the_name_of_the_argument():
    error = refused(shape=(4, 4, 1), spacing=0.1)
    assert str(error) == 'start: found no initial values; give one for each species: {"u": 1.0}'


def test_a_mask_has_a_name_that_no_species_has():
    """Of species `mask` and `mask_` it had that of the second: no state could be made."""
    model = od.Model({"mask": "0 * mask", "mask_": "0 * mask_"})
    box = {"shape": (4, 1, 1), "spacing": 1.0, "step": 0.1}
    sim = od.Simulation(model, {"mask": 1.0, "mask_": 2.0}, mask=[0, 1, 1, 1], **box)
    state = sim.state
    assert state["mask__"].values.tolist() == [False, True, True, True] and (state["mask_"] == 2.0).all()
    assert od.Simulation(model, state, step=0.1).mask.sum() == 3


def domain():
    """A dataset with a mask, as stores have it: a variable like others."""
    return dataset().assign(mask=dataset().x + dataset().y < 0.45)


@pytest.mark.parametrize("has", ["variable", "coordinate"])
def test_a_mask_of_a_dataset_is_that_of_the_simulation(has):
    start = domain() if has == "variable" else domain().set_coords("mask")
    mask = start.mask.broadcast_like(start.u).values
    for options in [
        {},
        {"mask": mask},
        {"mask": start.mask.broadcast_like(start.u)},
        {"mask": "0.45 - x - y"},
    ]:
        sim = od.Simulation(MODEL, start, **options)
        assert np.array_equal(sim.mask, mask) and sim.species == ("u", "v")
    error = refused(start, mask="0.35 - x - y")
    assert error.field == "mask" and "12 of 60 cells" in error.found and "drop_vars" in error.remedy
    assert refused(start, mask="1").field == "mask"
    assert od.Simulation(MODEL, start.drop_vars("mask")).mask is None
    assert refused(start.assign(mask=("t", [1.0]))).field == "start.mask"


def test_arrays_of_a_state_have_its_mask():
    """It was dropped: walls were gone."""
    start = domain().set_coords("mask")
    mask = start.mask.broadcast_like(start.u).values
    for arrays in (dict(start), {"u": start.u, "v": 1.0}, {"u": U, "v": start.v}):
        assert np.array_equal(od.Simulation(MODEL, arrays).mask, mask)
    state = od.Simulation(MODEL, start).state
    again = od.Simulation(MODEL, {"u": state.u, "v": state.v}, mask=mask)
    assert np.array_equal(again.mask, mask) and again.spacing == od.Simulation(MODEL, state).spacing
    error = refused({"u": start.u, "v": start.v}, mask="0.35 - x - y")
    assert error.field == "mask" and "12 of 60 cells" in error.found and "drop_vars" in error.remedy
    error = refused({"u": start.u, "v": start.assign_coords(mask=start.x < 0.25).v})
    assert error.field == "start.v.mask" and "of 60 cells" in error.found and "drop_vars" in error.remedy
    assert od.Simulation(MODEL, {"u": start.u.drop_vars("mask"), "v": U}).mask is None
    model = od.Model({"u": "-u", "mask": "-mask"})
    both = dataset().rename(v="mask").assign_coords(mask_=start.x < 0.25)
    assert od.Simulation(model, {"u": both.u, "mask": both.mask}).mask.sum() == 36


def test_a_species_may_be_called_mask():
    model = od.Model({"u": "-u", "mask": "-mask"})
    start = dataset().rename(v="mask")
    assert od.Simulation(model, start).mask is None
    start["mask_"] = start.x < 0.25
    assert od.Simulation(model, start).mask.sum() == 36


def test_tables_lie_where_their_labels_say():
    """They were taken by their places: transposed or mirrored."""
    pandas = pytest.importorskip("pandas")
    model = od.Model({"u": "D * lap(u)"}, {"D": 1.0})
    values = np.arange(12.0).reshape(3, 4)
    y, x = pandas.Index([0.5, 1.5, 2.5], name="y"), pandas.Index(np.arange(4) + 10.5, name="x")
    table = pandas.DataFrame(values, index=y, columns=x)
    for each in (table, table.T, table.astype(np.float32)):
        sim = od.Simulation(model, {"u": each})
        assert sim.sizes == {"x": 4, "y": 3, "z": 1} and sim.origin["x"] == 10.0
        np.testing.assert_array_equal(sim.arrays["u"][0], values)
    assert od.Simulation(model, {"u": table.loc[0.5].rename(None)}).sizes["x"] == 4
    mask = od.Simulation(model, {"u": table}, mask=(table > 4).T).mask
    np.testing.assert_array_equal(mask[0], values > 4)
    # Without names they have an order alone.
    for each in (values, pandas.DataFrame(values), pandas.DataFrame(values, columns=[10, 20, 30, 40])):
        np.testing.assert_array_equal(od.Simulation(model, {"u": each}, spacing=0.1).arrays["u"][0], values)
    for start, field, found in (
        (table[::-1], "start.u.y", "no rising numbers: 2.5, 1.5, ..."),
        (pandas.DataFrame(values)[::-1], "start.u", "no rising numbers: 2, 1, ..."),
        (pandas.DataFrame(values, columns=list("abcd")), "start.u", "no rising numbers: a, b, ..."),
        (pandas.Series([1.0, 2.0, 3.0], index=[3, 2, 1]), "start.u", "no rising numbers: 3, 2, ..."),
        (pandas.Series([1.0, 2.0, 3.0], index=[0, 1, 3]), "start.u", "not evenly spaced (1 to 2 apart)"),
        (pandas.DataFrame(values, columns=x), "start.u", "axes named None, 'x'"),
        (table.rename_axis(index="t"), "start.u", "axes named 't', 'x'"),
        (table.rename_axis(index="x"), "start.u", "axes named 'x', 'x'"),
    ):
        error = refused({"u": start}, model, spacing=1.0)
        assert error.field == field and found in error.found, error
    error = refused({"u": table}, model, mask=(table > 4)[::-1])
    assert error.field == "grid.mask.y"
    error = refused({"u": table}, model, spacing=0.5)
    assert error.field == "start.u.y" and "of a cell whose centre is at" in error.found


def test_the_mask_of_a_simulation_is_its_own():
    """A state had the same array: what was written to it was the mask of later states."""
    model = od.Model({"u": "lap(u)"})
    sim = od.Simulation(model, {"u": "x"}, shape={"x": 4, "y": 4}, spacing=1.0, mask="x - 1")
    mask = sim.mask.copy()
    with pytest.raises(ValueError, match="read-only"):
        sim.mask[:] = True
    sim.state["mask"].values[:] = True
    np.testing.assert_array_equal(sim.mask, mask)
    np.testing.assert_array_equal(sim.state["mask"].values, mask[0])


def test_three_parts_are_counted_not_shown():
    """Arrays in place of three were shown whole, over 25 lines, and how many there must be was not said."""
    model, cells = od.Model({"u": "lap(u)"}), np.ones((1, 40, 40))
    for options, said in (
        ({"velocity": [cells, cells]}, "velocity: found 2 parts; give three parts, along x, y and z"),
        ({"velocity": [cells]}, "velocity: found 1 part; give three parts"),
        (
            {"velocity": {"cells": cells[0]}},
            r"velocity.cells: found an array of shape \(40, 40\); give three",
        ),
        ({"spacing": cells[0]}, r"spacing: found an array of shape \(40, 40\); give three numbers"),
        ({"velocity": [1.0, 2.0]}, r"velocity: found \[1.0, 2.0\]; give three parts"),
        ({"spacing": [1.0] * 50}, "spacing: found 50 parts; give three numbers"),
    ):
        options = {"spacing": 1.0, **options}
        with pytest.raises(od.InputError, match=f"^{said}") as raised:
            od.Simulation(model, {"u": "x"}, shape={"x": 40, "y": 40}, **options)
        assert len(str(raised.value).splitlines()) == 1
