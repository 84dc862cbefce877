"""Systems from text, ensembles, solutions."""

import copy
import pickle
import re
import tomllib
import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from systems import van_der_pol

import odeum as od


def scipy_end(mu: float, x: float, end: float) -> np.ndarray:
    def rhs(t, y):
        return [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]

    return solve_ivp(rhs, (0, end), [x, 0.0], method="LSODA", rtol=1e-11, atol=1e-12).y[:, -1]


def test_a_sweep_agrees_with_scipy():
    mu, x = np.array([0.5, 3.0, 8.0]), np.array([-1.0, 0.5])
    solution = van_der_pol().sweep(mu=mu, x=x).solve((0, 7), rtol=1e-9, atol=1e-11)
    assert solution.shape == (3, 2) and solution.y.shape == (3, 2, 2) and solution.success.all()
    for i, m in enumerate(mu):
        for j, x0 in enumerate(x):
            np.testing.assert_allclose(solution.y[i, j], scipy_end(m, x0, 7), atol=2e-7)


def test_pairs_take_arrays_of_one_length_and_numbers():
    runs = van_der_pol()(mu=[1.0, 2.0, 3.0], x=0.5)
    assert runs.shape == (3,) and [axis.name for axis in runs.axes] == ["run"]
    solution = runs.solve((0, 3), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(solution.y[2], scipy_end(3.0, 0.5, 3), atol=1e-7)
    assert van_der_pol()(mu=5.0).solve((0, 1)).shape == ()


def test_a_table_may_give_each_system_its_span():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"x": [1.0, 2.0], "t_start": [0.0, 1.0], "t_end": [2.0, 1.5]})
    solution = van_der_pol().table(table).solve()
    np.testing.assert_array_equal(solution.t, [2.0, 1.5])
    short = van_der_pol()(x=2.0).solve((1.0, 1.5))
    np.testing.assert_array_equal(solution.y[1], short.y)


def test_columns_are_paired_by_place_only_where_their_labels_agree():
    """Two Series with the same labels in another order were paired by place, though in one table they are by label."""
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    system = van_der_pol()
    mu, x = pandas.Series([1.0, 2.0], ["a", "b"], name="mu"), pandas.Series([0.5, 1.5], ["b", "a"], name="x")
    along = {
        name: xarray.DataArray(each.values, {"run": each.index}, "run")
        for name, each in {"mu": mu, "x": x}.items()
    }
    for labelled in ({"mu": mu, "x": x}, along, {"mu": along["mu"], "x": x}):
        with pytest.raises(od.InputError, match="x: found other labels than those of mu; make one table"):
            system(**labelled)
    with pytest.raises(od.InputError, match="other labels"):
        system(mu=mu, v=0.0).table({"x": x})
    dataset = xarray.Dataset({"mu": ("a", [1.0, 2.0]), "x": ("b", [0.5, 1.5])})
    with pytest.raises(od.InputError, match="x: found the dimension 'b', beside 'a' of mu; .*sweep"):
        system.table(dataset)
    for good in (
        pandas.concat([mu, x], axis=1),
        {"mu": mu, "x": x.loc[mu.index]},
        {"mu": mu, "x": np.array([1.5, 0.5])},
    ):
        np.testing.assert_array_equal(system.table(good).values("x"), [1.5, 0.5])
    number = pandas.DataFrame({"v": [0.0, 1.0]}).to_xarray().isel(index=0).v
    assert system(mu=mu, v=number).shape == (2,)
    assert system.table(dataset.rename(b="a")).shape == system(mu=list(mu), x=x).shape == (2,)
    runs = pickle.loads(pickle.dumps(system(mu=mu)))
    assert runs(x=x).shape == (2,) and not runs._labels, "those who have no pandas can unpickle it"


def test_tables_are_no_series():
    pandas = pytest.importorskip("pandas")
    groups = pandas.DataFrame({"mu": [1.0, 2.0]}).groupby("mu")
    for series in (pandas.Series([1.0, 2.0], name="x"), pandas.Series({"x": 1.0, "v": 2.0}), groups):
        with pytest.raises(od.InputError, match="(Series|GroupBy).*DataFrame") as raised:
            van_der_pol().table(series)
        assert raised.value.field == "table"


def test_tables_have_columns():
    pandas, system = pytest.importorskip("pandas"), van_der_pol()
    for call in (system, lambda: system.table({}), lambda: system.table(pandas.DataFrame())):
        with pytest.raises(od.InputError, match=r"table: found no columns; .*`system\.runs\(\)`"):
            call()
    assert len(system.runs()) == 1


def test_systems_that_have_no_room_are_refused_before_they_are_made():
    runs = van_der_pol().sweep(mu=np.linspace(1, 2, 1_000_000), x=np.linspace(1, 2, 1_000_000))
    found = "runs: found 1,000,000,000,000 systems, of which 2 columns need 14,901.2 GiB, and .* free.*; take fewer"
    for call in (
        lambda: runs.solve((0, 1)),
        lambda: runs.split(1000)[3].solve((0, 1)),
        lambda: runs.session(),
        lambda: runs.values("x"),
        lambda: runs.sweep(v=np.linspace(1, 2, 10_000), t_end=[1.0, 2.0]).solve((0, 1)),
    ):
        with pytest.raises(od.InputError, match="^runs: found [0-9,]+ systems, .* GiB, and .*; take fewer"):
            call()
    with pytest.raises(od.InputError, match=found):
        runs.solve((0, 1))


def test_swept_spans_are_obeyed_however_systems_are_integrated(tmp_path):
    runs = van_der_pol().sweep(mu=[1.0, 2.0], t_end=[1.0, 3.0])
    whole = runs.solve((0, 1))
    np.testing.assert_array_equal(whole.t, [[1.0, 3.0]] * 2)
    pairs = van_der_pol()(mu=[1.0, 1.0, 2.0, 2.0], t_end=[1.0, 3.0] * 2).solve((0, 1))
    parts = od.concat([part.solve((0, 1)) for part in runs.split(3)])
    copies = (runs * 2).solve((0, 1))
    runs.to_toml(tmp_path / "case.toml", (0, 1))
    for other in (pairs.y, parts.y, copies.y[..., 1, :], od.run(tmp_path / "case.toml").y):
        np.testing.assert_array_equal(other.reshape(2, 2, 2), whole.y)
    late = van_der_pol().sweep(t_start=[0.0, 0.5]).solve((0, 1))
    np.testing.assert_array_equal(late.y[1], van_der_pol().solve((0.5, 1)).y)


def test_a_span_that_no_system_has_is_refused():
    runs = van_der_pol()(mu=[1.0, 2.0], t_start=[0.0, 1.0], t_end=[5.0, 6.0])
    for swept in (runs, van_der_pol().sweep(t_start=[0.0, 1.0], t_end=[5.0])):
        with pytest.raises(od.InputError, match="the table gives each system its own span"):
            swept.solve((0, 1))
    with pytest.raises(od.InputError, match="number of times, but there is no span"):
        runs.solve(save=3)
    np.testing.assert_array_equal(runs.solve().t, [5.0, 6.0])


def test_arrays_that_change_later_change_no_ensemble_and_no_result():
    mu, x = np.array([1.0, 1000.0]), np.array(2.0)
    for runs in (van_der_pol().sweep(mu=mu), van_der_pol()(mu=mu, x=x), van_der_pol().table({"mu": mu})):
        solution = runs.solve((0, 20), max_steps=300)
        wanted = solution.retry(method="radau")
        for array in (mu, x):
            array *= 2.0
        np.testing.assert_array_equal(solution.retry(method="radau").y, wanted.y)
        np.testing.assert_array_equal(runs.solve((0, 20), max_steps=300).y, solution.y)
        assert all(axis.values is None or axis.values.tolist() == [1.0, 1000.0] for axis in solution.axes)
        with pytest.raises(ValueError, match="read-only"):
            next(iter((runs._sweep or runs._columns).values()))[...] = 0.0
        for array in (mu, x):
            array /= 2.0


def test_states_are_saved_at_given_times():
    times = np.linspace(0, 5, 11)
    solution = van_der_pol().sweep(mu=[1.0, 2.0]).solve((0, 5), save=times, rtol=1e-9, atol=1e-11)
    assert solution.saved.shape == (2, 11, 2) and solution.saved_states.shape == (11, 2, 2)
    np.testing.assert_array_equal(solution.save_times, times)
    np.testing.assert_array_equal(solution.saved[:, -1], solution.y)
    np.testing.assert_array_equal(solution.n_saved, [11, 11])
    counted = van_der_pol().solve((0, 5), save=11)
    np.testing.assert_allclose(counted.save_times, times, rtol=1e-15)


def test_states_are_views_of_what_was_computed():
    solution = van_der_pol().sweep(mu=[1.0, 2.0, 3.0]).solve((0, 1))
    assert np.shares_memory(solution.y, solution.states) and solution.states.flags.c_contiguous
    np.testing.assert_array_equal(solution["v"], solution.y[:, 1])


def test_every_way_to_an_answer_gives_the_same_bits():
    system, mu = van_der_pol(), np.linspace(0.5, 4.0, 9)
    whole = system.sweep(mu=mu).solve((0, 6))
    pairs = system(mu=mu).solve((0, 6))
    parts = od.concat([part.solve((0, 6)) for part in system.sweep(mu=mu).split(4)])
    alone = np.array([system(mu=m).solve((0, 6)).y for m in mu])
    spans = system(mu=mu, t_start=0.0, t_end=6.0).solve()
    for other in (pairs.y, parts.y, alone, spans.y):
        np.testing.assert_array_equal(other, whole.y)
    # The solver that was kept serves other spans.
    np.testing.assert_array_equal(system(mu=mu).solve((0, 6)).y, whole.y)


def test_perturbations_depend_on_seed_and_number_alone():
    runs = (van_der_pol() * 100).perturb("states", relative=1e-2, seed=3)
    solution = runs.solve((0, 1))
    starts = runs.values("x")
    assert starts.shape == (100,) and np.all(np.abs(starts / 2.0 - 1) <= 1e-2) and np.ptp(starts) > 1e-2
    parts = od.concat([part.solve((0, 1)) for part in runs.split(3)])
    np.testing.assert_array_equal(parts.y, solution.y)
    other = (van_der_pol() * 100).perturb("states", relative=1e-2, seed=4).values("x")
    assert not np.array_equal(other, starts)


def test_perturbations_of_an_ensemble_have_one_seed():
    def starts(*seeds):
        runs = van_der_pol() * 3
        for name, seed in zip(("x", "v"), seeds, strict=True):
            runs = runs.perturb(name, absolute=0.1, seed=seed)
        return [runs.values(name).tolist() for name in ("x", "v")]

    for seeds in ((1, 2), (1, 0), (0, 1)):
        with pytest.raises(od.InputError, match="one seed") as raised:
            starts(*seeds)
        assert raised.value.field == "seed"
    assert starts(3, 3) == starts(3, None) == starts(None, 3) != starts(None, None) == starts(0, 0)
    assert starts(3, 3)[0] != starts(3, 3)[1]


def test_failures_are_data_and_can_be_tried_again():
    solution = van_der_pol()(mu=[1.0, 2.0, 1000.0]).solve((0, 20), max_steps=300)
    assert solution.failed.tolist() == [False, False, True]
    assert solution.summary() == {"success": 2, "too many steps": 1}
    assert np.isfinite(solution.y).all() and solution.t[2] < 20
    with pytest.raises(od.SolveError, match="too many steps .* system 2.*max_steps") as caught:
        solution.raise_if_failed()
    assert caught.value.systems == (2,)
    again = solution.retry(method="radau", max_steps=100_000)
    assert again.success.all() and again.raise_if_failed() is again
    np.testing.assert_array_equal(again.y[:2], solution.y[:2])
    np.testing.assert_allclose(again.y[2], scipy_end(1000.0, 2.0, 20), rtol=1e-3)
    assert solution.failed[2], "a retry changes nothing of the solution it comes from"


def test_another_method_takes_no_keys_of_the_former_one():
    text = {"states": {"x": 1.0}, "parameters": {"k": 1.0}}
    runs = od.System.from_text({"x": "-k * x"}, **text).sweep(k=[1.0, 1e4])
    rkc = runs.solve((0, 1), method="rkc", spectral_radius=1e4, max_stages=20, max_steps=2)
    assert rkc.failed.all()
    for method in ("rodas5p", {"name": "rodas5p"}):
        again = rkc.retry(max_steps=1000, method=method)
        assert again.success.all()
        assert tomllib.loads(again.case_text)["method"] == {"name": "rodas5p", "max_steps": 1000}
    same = tomllib.loads(rkc.retry(method="rkc", max_steps=1000).case_text)["method"]
    assert same == {"name": "rkc", "spectral_radius": 1e4, "max_stages": 20, "max_steps": 1000}
    assert (
        "growth_limit"
        not in runs.solve((0, 1), method="radau", growth_limit=2.0, max_steps=2)
        .retry(method="vern7", max_steps=100_000)
        .case_text
    )
    with pytest.raises(od.InputError, match="max_stages` means nothing to radau"):
        rkc.retry(method="radau", max_stages=20)


def test_levels_end_systems():
    solution = van_der_pol().sweep(mu=[1.0, 2.0]).solve((0, 20), until={"x": {"falls_to": 0.0}})
    assert solution.summary() == {"terminal event": 2} and solution.success.all()
    np.testing.assert_allclose(solution["x"], 0.0, atol=1e-5)


def test_an_xarray_has_axes_statuses_and_the_case():
    pytest.importorskip("xarray")
    mu, x = np.geomspace(0.1, 10, 4), np.linspace(-2, 2, 3)
    solution = van_der_pol().sweep(mu=mu, x=x).solve((0, 5), save=[1.0, 5.0])
    dataset = solution.to_xarray()
    assert dataset["x"].dims == ("mu", "x0", "t")
    np.testing.assert_array_equal(dataset["x"].sel(mu=mu[2], x0=x[1], t=5.0), solution["x"][2, 1])
    assert dataset["status"].attrs["flag_meanings"].split()[:2] == ["success", "too_many_steps"]
    assert tomllib.loads(dataset.attrs["case"])["method"]["name"] == "tsit5"
    later = van_der_pol().sweep(mu=mu).solve((0, 2), save=[0.5, 1.0])
    dataset = later.to_xarray()
    assert dataset["x_end"].dims == ("mu",) and (dataset["t_end"] == 2.0).all()
    np.testing.assert_array_equal(dataset["x_end"], later["x"])
    assert "x_end" not in van_der_pol().solve((0, 1)).to_xarray() and "device" not in dataset.attrs
    named = od.System.from_text({"status": "-status"}, states={"status": 1.0}).solve((0, 1)).to_xarray()
    assert named["status"].item() == pytest.approx(np.exp(-1), rel=1e-5) and named["status_"].item() == 0


def test_axes_have_names_of_their_own(tmp_path):
    pytest.importorskip("xarray")
    text, ones = {"x": "-(x0 + run + copy) * x", "w": "w"}, dict.fromkeys(("x0", "run", "copy"), 1.0)
    system = od.System.from_text(text, states={"x": 1.0, "w": 1.0}, parameters=ones)
    clash = od.System.from_text({"run": "run", "copy": "x0", "x0": "x", "x": "1"}, states=ones | {"x": 1.0})
    for runs, wanted in [
        (system.sweep(x=[1.0, 2.0], x0=[1.0, 2.0, 3.0]), {"x0_": 2, "x0": 3}),
        (system(x0=[1.0, 2.0]).sweep(run=[1.0, 2.0, 3.0], w=[1.0]), {"run_": 2, "run": 3, "w0": 1}),
        (system.sweep(copy=[1.0, 2.0, 3.0]) * 4, {"copy": 3, "copy_": 4}),
        (clash(x=[1.0, 2.0]).sweep(copy=[0.0]) * 4, {"run_": 2, "copy0": 1, "copy_": 4}),
        (clash.sweep(x=[1.0, 2.0, 3.0]) * 3, {"x0_": 3, "copy_": 3}),
    ]:
        solution = runs.solve((0, 1))
        dataset = solution.to_xarray()
        assert dict(dataset.sizes) == wanted and dataset["x"].dims == tuple(wanted)
        for axis, values in zip([*wanted][len(runs._runs()) :], runs._sweep.values(), strict=False):
            np.testing.assert_array_equal(dataset[axis], values)
        parts = [part.solve((0, 1)) for part in runs.split(2)]
        assert od.concat(parts).to_xarray().identical(dataset)
        assert parts[0].to_xarray()["x"].dims == ("run_" if runs.system is clash else "run",)
        if not runs._columns:
            runs.to_toml(tmp_path / "case.toml", (0, 1), overwrite=True)
            assert dict(od.run(tmp_path / "case.toml").to_xarray().sizes) == wanted


def test_solutions_and_ensembles_survive_pickling():
    runs = van_der_pol().sweep(mu=[1.0, 1000.0])
    solution = runs.solve((0, 20), max_steps=300)
    copy = pickle.loads(pickle.dumps(solution))
    np.testing.assert_array_equal(copy.y, solution.y)
    assert copy.retry(method="radau").success.all()
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(runs)).solve((0, 20), max_steps=300).y, solution.y
    )
    for error in (od.InputError("a", "b", "c"), od.SolveError("why", (1,))):
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), vars(again)) == (str(error), vars(error))


def test_more_systems_than_can_be_counted_are_refused():
    """Their `len` raised an OverflowError, in every use."""
    runs = van_der_pol() * 2**62
    for call in (lambda: runs.sweep(mu=[1.0, 2.0, 3.0]), lambda: runs(mu=[1.0, 2.0, 3.0]), lambda: runs * 2):
        with pytest.raises(od.InputError, match="systems; give 9,223,372,036,854,775,807 at most"):
            call()
    assert len(runs) == 2**62


@pytest.mark.parametrize("name", ["self", "axes", "columns", "name", "cls"])
def test_parameters_have_any_name(name):
    system = od.System.from_text({"x": f"-{name} * x"}, states={"x": 1.0}, parameters={name: 1.0})
    for runs in (
        system.sweep(**{name: [1.0, 2.0]}),
        system(**{name: [1.0, 2.0]}),
        system.runs().sweep(**{name: [1.0, 2.0]}),
    ):
        assert runs.solve((0, 1)).success.all() and runs.axes[0].length == 2
    assert system.runs()(**{name: [1.0, 2.0]}).shape == (2,)


def test_what_has_arrays_is_compared():
    """The comparison that dataclasses have raised a ValueError."""
    system = van_der_pol()
    axes = system.sweep(mu=[1.0, 2.0]).axes
    assert axes == system.sweep(mu=[1.0, 2.0]).axes and hash(axes) == hash(system.sweep(mu=[1.0, 2.0]).axes)
    for other in (system.sweep(mu=[1.0, 3.0]), system.sweep(v=[1.0, 2.0]), system * 2, system(mu=[1.0, 2.0])):
        assert axes != other.axes
    assert (system * 2).axes == (system * 2).axes and axes[0] != 1
    one, other = (od.solve_ivp(system, (0, 1), np.ones((2, 2)), args=(1.0,)) for _ in range(2))
    assert one == one and one != other
    assert system(mu=[1.0, 2.0]).case((0, 1)) != system(mu=[1.0, 2.0]).case((0, 1))


def test_a_part_has_no_case(tmp_path):
    """It was that of the whole, without a word."""
    whole = van_der_pol().sweep(mu=[1.0, 2.0, 3.0, 4.0])
    part = whole.split(2)[1]
    for call in (lambda: part.case((0, 1)), lambda: part.to_toml(tmp_path / "case.toml", (0, 1))):
        with pytest.raises(
            od.InputError, match="runs: found a part of an ensemble; take the case of the whole"
        ):
            call()
    assert not [*tmp_path.iterdir()] and part.values("mu").tolist() == [3.0, 4.0]
    np.testing.assert_array_equal(part.solve((0, 1)).y, whole.solve((0, 1)).y[2:])


def test_the_file_that_cannot_be_written_is_named(tmp_path):
    path, table = tmp_path / "case.toml", tmp_path / "case.table.npz"
    table.mkdir()
    with pytest.raises(od.InputError, match=r"path: found .*case\.table\.npz \(Is a directory\)"):
        van_der_pol()(mu=[1.0, 2.0]).to_toml(path, (0, 1), overwrite=True)


def sent(value):
    """Pickled as Dask does it: arrays travel beside the pickle, read-only, and arrive at any byte."""
    beside = []
    text = pickle.dumps(value, protocol=5, buffer_callback=beside.append)
    arrived = [memoryview(b"." + buffer.raw().tobytes())[1:] for buffer in beside]
    return pickle.loads(text, buffers=arrived)


def test_parts_and_solutions_travel_as_dask_sends_them():
    mu = np.array([1.0, 2.0, 1000.0, 3.0])
    runs = van_der_pol()(mu=mu)
    whole = runs.solve((0, 20), max_steps=300)
    parts = [sent(sent(part).solve((0, 20), max_steps=300)) for part in runs.split(2)]
    joined = sent(od.concat(parts))
    np.testing.assert_array_equal(joined.y, whole.y)
    assert joined.failed.tolist() == [False, False, True, False]
    assert joined.retry(method="radau").success.all() and parts[1].retry(method="radau").success.all()
    np.testing.assert_array_equal(sent(runs.values("mu")), mu)


def test_a_case_file_gives_the_same_answer(tmp_path):
    runs = van_der_pol().sweep(mu=[1.0, 2.0]).perturb("x", absolute=0.1, seed=7) * 3
    solution = runs.solve((0, 4), method="rodas4", rtol=1e-8, save=[1.0, 4.0])
    path = tmp_path / "case.toml"
    text = runs.to_toml(path, (0, 4), method="rodas4", rtol=1e-8, save=[1.0, 4.0])
    assert path.read_text() == text
    again = od.run(path)
    np.testing.assert_array_equal(again.y, solution.y)
    assert [axis.name for axis in again.axes] == ["mu", "copy"]
    columns = van_der_pol()(mu=[1.0, 2.0], x=[0.5, 0.25])
    columns.to_toml(tmp_path / "columns.toml", (0, 4))
    np.testing.assert_array_equal(od.run(tmp_path / "columns.toml").y, columns.solve((0, 4)).y)
    with pytest.raises(od.InputError, match="path"):
        columns.to_toml(None, (0, 4))
    spans = van_der_pol()(t_start=[0.0, 1.0]).sweep(t_end=[2.0, 3.0])
    with pytest.raises(od.InputError, match="span: found a span beside t_start and t_end; leave it out"):
        spans.to_toml(tmp_path / "spans.toml", (0, 4))
    assert not (tmp_path / "spans.toml").exists()
    spans.to_toml(tmp_path / "spans.toml")
    np.testing.assert_array_equal(od.run(tmp_path / "spans.toml").y.ravel(), spans.solve().y.ravel())


def test_a_retry_in_double_precision_of_single_precision_loses_nothing():
    """Its results went into arrays of single precision: beyond 3.4e38 they were infinite, with success."""
    growing = od.System.from_text({"x": "x"}, states={"x": 1.0}).sweep(x=[1.0, 1e30])
    single = growing.solve((0, 60), precision="f32", rtol=1e-4, save=[10.0, 59.0])
    assert single.success.tolist() == [True, False] and single.states.dtype == np.float32
    again = single.retry(precision="f64")
    assert again.success.all() and again.states.dtype == again.saved_states.dtype == np.float64
    np.testing.assert_allclose(again["x"], [np.exp(60.0), 1e30 * np.exp(60.0)], rtol=0.1)
    np.testing.assert_array_equal(again.y[0], single.y[0])
    np.testing.assert_allclose(again.saved[1, :, 0], 1e30 * np.exp([10.0, 59.0]), rtol=0.1)


def test_a_retry_of_a_case_file_refuses_a_table_that_has_changed(tmp_path):
    """It mixed two data sets, with success; of one with fewer rows it was a bare ValueError."""
    path, start = tmp_path / "case.toml", [2.0, 1.0, 1.5]
    van_der_pol()(mu=[1.0, 1.0, 1000.0], x=start).to_toml(path, (0, 20), max_steps=300)
    solution = od.run(path)
    assert solution.failed.tolist() == [False, False, True]
    assert solution.retry(method="radau").success.all()
    for columns in ({"mu": [1.0, 1.0, 5.0], "x": start}, {"mu": [1.0], "x": [2.0]}):
        np.savez(tmp_path / "case.table.npz", **columns)
        with pytest.raises(od.InputError, match="ensemble.table: found a file that has changed.*again"):
            solution.retry(method="radau")


def test_a_case_that_is_changed_changes_no_system():
    """It had the system's own dict: some solutions were of the new value, some of the former, and their text of the new."""
    system = van_der_pol()
    before, text = system.solve((0, 4)).y, system.solve((0, 4)).case_text
    system.runs().case((0, 4)).document["system"]["parameters"]["mu"] = 5.0
    # What shares it is private.
    assert not hasattr(system, "section") and not hasattr(system, "case")
    np.testing.assert_array_equal(system.solve((0, 4)).y, before)
    assert system.solve((0, 4), until={"x": {"falls_to": -9.0}}).y.tolist() == before.tolist()
    assert system.solve((0, 4)).case_text == text


@pytest.mark.parametrize("kind", ["states", "parameters", "definitions"])
@pytest.mark.parametrize("name", ["", "2 x"])
def test_a_name_that_is_none_is_told_once(kind, name):
    """Of an empty one nothing was said: its refusal followed from itself."""
    given = {"states": {"x": 1.0}, kind: {name: "2" if kind == "definitions" else 1.0}}
    given["states"] = {"x": 1.0, **given["states"]}
    with pytest.raises(od.InputError) as raised:
        od.System.from_text(dict.fromkeys(given["states"], ""), **given)
    lines = str(raised.value).splitlines()
    assert f"`{name}` is not a name; a name is letters" in lines[0]
    # Where something is missing, it is no use of the empty name.
    missing = [line for line in lines[1:] if "found the end" in line]
    assert len(missing) == len(lines) - 1 == len(given["states"])


@pytest.mark.parametrize(
    ("equations", "given", "said"),
    [
        # A state without an equation, and the parameter of two of a name, are not what is wrong with a use.
        ({"x": "y(3)"}, {"states": {"x": 1.0, "y": 1.0}}, ["`y` has no", "`y` is not a function"]),
        (
            {"x": "x(3)"},
            {"states": {"x": 1.0}, "parameters": {"x": 1.0}},
            ["already", "`x` is not a function"],
        ),
        (
            {"x": "-x"},
            {"states": {"x": 1.0}, "parameters": {"exp": 1.0}, "spectral_radius": "exp + 1"},
            ["`exp` is a function; choose"],
        ),
    ],
)
def test_what_follows_from_no_refusal_is_told(equations, given, said):
    with pytest.raises(od.InputError) as raised:
        od.System.from_text(equations, **given)
    lines = str(raised.value).splitlines()
    assert len(lines) == len(said) and all(a in b for a, b in zip(said, lines, strict=True))


@pytest.mark.parametrize("kind", ["states", "parameters", "definitions"])
def test_a_name_that_is_refused_is_told_once(kind):
    """The equation of the state `exp` was told as one of no state, and each use as a function without arguments."""
    given = {"states": {"x": 1.0}, kind: {"exp": "2 * x" if kind == "definitions" else 1.0}}
    given["states"] = {"x": 1.0, **given["states"]}
    equations = {name: f"-exp * {name} + y" for name in given["states"]}
    with pytest.raises(od.InputError) as raised:
        od.System.from_text(equations, **given)
    lines = str(raised.value).splitlines()
    assert "`exp` is a function; choose another name" in lines[0]
    # What is wrong beside it is told of.
    assert lines[1:] and all("nothing is called `y`" in line for line in lines[1:])


def test_columns_may_have_the_names_of_arguments(tmp_path):
    """Those of `numpy.savez`: one was refused, the other was left out."""
    equations = {"file": "-allow_pickle * file"}
    system = od.System.from_text(equations, states={"file": 1.0}, parameters={"allow_pickle": 2.0})
    runs = system(file=[1.0, 2.0], allow_pickle=[3.0, 4.0])
    runs.to_toml(tmp_path / "case.toml", (0, 1))
    np.testing.assert_array_equal(od.run(tmp_path / "case.toml").y, runs.solve((0, 1)).y)


def test_the_compiler_is_loaded_for_the_device_of_a_case(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(od._nvrtc, "load", lambda: asked.append(True))
    field = '[system]\nproblem = "turing"\n[grid]\nshape = [4, 4, 1]\n[time]\nuntil = 0.2\n'
    ensemble = '[system]\nproblem = "lorenz"\n[time]\nspan = [0.0, 1.0]\n[method]\nname = "dopri5"\n[tolerance]\nrtol = 1e-6\natol = 1e-6\n'
    path = tmp_path / "case.toml"
    for text, opened in ((field, od.Simulation.from_case), (ensemble, od.run)):
        path.write_text(text + '[run]\ndevice = "cpu"\n')
        opened(path)
        assert not asked
        path.write_text(text + '[run]\ndevice = "cuda:9"\n')
        with pytest.raises(od.OdeumError):
            opened(path)
        assert asked.pop()
        path.write_text("run = 3\n" + text)
        with pytest.raises(od.InputError, match="run"):
            opened(path)
    path.write_text(field + '[run]\ndevice = "cuda:9"\n')
    assert "CPU" in od.Simulation.from_case(path, device="cpu").device.upper() and not asked


def test_case_files_are_not_replaced_silently(tmp_path):
    first, second = van_der_pol()(mu=[1.0, 2.0]), van_der_pol()(mu=[3.0])
    path, table = tmp_path / "case.toml", tmp_path / "case.table.npz"
    first.to_toml(path, (0, 4))
    for there in (path, table):
        with pytest.raises(od.InputError, match=f"{there.name}, which exists.*overwrite") as raised:
            second.to_toml(path, (0, 4))
        assert raised.value.field == "path"
        np.testing.assert_array_equal(np.load(table)["mu"], [1.0, 2.0])
        path.unlink(missing_ok=True)
    second.to_toml(path, (0, 4), overwrite=True)
    assert od.run(path).shape == (1,)
    with pytest.raises(od.InputError, match="path"):
        second.to_toml(tmp_path / "none" / "case.toml", (0, 4))


def test_cases_called_by_a_number_have_files_of_their_own(tmp_path):
    """Of `case_0.5` the last part is no ending: one table served this case and `case_0.6`."""
    for mu in (0.5, 0.6):
        van_der_pol()(mu=[mu, mu]).to_toml(tmp_path / f"case_{mu}", (0, 1), overwrite=True)
    for mu in (0.5, 0.6):
        wanted = van_der_pol()(mu=[mu, mu]).solve((0, 1))
        np.testing.assert_array_equal(od.run(tmp_path / f"case_{mu}").y, wanted.y)


def test_built_in_problems_have_their_own_span():
    lorenz = od.System.problem("lorenz")
    assert lorenz.states == ("x", "y", "z") and lorenz.parameters == ("sigma", "rho", "beta")
    assert lorenz.equations is None and lorenz.solve().success.all()


def test_single_precision():
    solution = van_der_pol().solve((0, 5), precision="f32", rtol=1e-4, atol=1e-6)
    assert solution.states.dtype == np.float32
    np.testing.assert_allclose(solution.y, scipy_end(1.0, 2.0, 5), atol=1e-3)


def test_progress_and_pictures():
    told = []
    runs = van_der_pol().sweep(mu=np.linspace(0.5, 4, 20), x=[0.5, 1.0])
    solution = runs.solve((0, 4), progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (40, 40)
    assert "40 success" in repr(solution) and "mu 20 x x0 2" in repr(solution)
    html = solution._repr_html_()
    assert "success" in html and "nfev" in html and "40" in html
    if pytest.importorskip("matplotlib"):
        assert "data:image/png" in html
        assert solution.plot("v").get_xlabel() == "x0"


def test_pictures_of_values_in_any_order():
    """Cells lay over one another, so that a part of the systems was seen, and others beside where they belong."""
    pytest.importorskip("matplotlib")
    system = od.System.from_text({"x": "0 * k"}, states={"x": 1.0}, parameters={"k": 1.0})

    def drawn(**axes):
        ax = system.sweep(**axes).solve((0, 1)).plot("x")
        mesh = ax.collections[0]
        corners = mesh.get_coordinates()
        return ax, corners[0, :, 0], corners[:, 0, 1], mesh.get_array()

    ax, columns, rows, values = drawn(x=[1.0, 2.0, 4.0], k=[5.0, 3.0])
    wanted = columns, rows, values
    for x in ([4.0, 1.0, 2.0], [4.0, 2.0, 1.0]):
        _, *found = drawn(x=x, k=[3.0, 5.0])
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
    assert values.tolist() == [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]] and (np.diff(rows) > 0).all()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("k", "x0")

    ax, columns, rows, values = drawn(x=[2.0, 1.0, 2.0], k=[5.0, 3.0])
    assert values[:, 0].tolist() == [2.0, 1.0, 2.0] and rows.tolist() == [-0.5, 0.5, 1.5, 2.5]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("k", "number along x0")

    line = system.sweep(x=[3.0, 1.0, 2.0]).solve((0, 1)).plot().lines[0]
    assert line.get_xdata().tolist() == line.get_ydata().tolist() == [1.0, 2.0, 3.0]


def test_pictures_have_results_alone(tmp_path):
    """Failed systems were drawn where they stood, as at 2e15, and infinite numbers raised errors of matplotlib."""
    pytest.importorskip("matplotlib")
    system = od.System.from_text({"x": "k * x^2"}, states={"x": 1.0}, parameters={"k": 1.0})
    solution = system.sweep(x=[0.1, 0.2, 0.3, 2.0]).solve((0, 1))
    line = solution.plot().lines[0].get_ydata()
    assert solution.failed[3] and np.isnan(line[3]) and (line[:3] == solution["x"][:3]).all()
    mesh = system.sweep(x=[0.1, 2.0], k=[0.9, 1.0]).solve((0, 1)).plot().collections[0].get_array()
    assert np.ma.getmaskarray(mesh).tolist() == [[False, False], [True, True]]
    part = (system * 40).perturb("x", relative=0.1).split(2)[1].solve((0, 0.1))
    assert part.axes[0].values.tolist() == [*range(20, 40)] and len(part.plot().patches) == 5
    counts = system(x=[0.1, 0.2, 0.3, 2.0]).solve((0, 1)).plot().patches
    assert sum(bar.get_height() for bar in counts) == 3

    still = od.System.from_text({"x": "0 * k"}, states={"x": 1.0}, parameters={"k": 1.0})
    path = tmp_path / "case.toml"
    text = still(x=[1.0, 2.0]).to_toml(path, (0, 1)).replace("[ensemble]", '[ensemble]\nbad_rows = "status"')
    path.write_text(text)
    np.savez(tmp_path / "case.table.npz", x=[1.0, np.inf])
    large = [1e308, -1e308]
    for options in ({}, {"save": [0.5, 1.0]}):
        for runs in (still(x=large), still.sweep(x=large), still.sweep(x=large, k=large)):
            assert "data:image/png" in runs.solve((0, 1), **options)._repr_html_()
    with pytest.warns(od.OdeumWarning, match="invalid start"):
        solution = od.run(path)
    assert solution.failed.tolist() == [False, True] and "data:image/png" in solution._repr_html_()


@pytest.mark.parametrize(
    ("call", "field", "remedy"),
    [
        (lambda s: s.solve((0, np.nan)), r"span\[1\]", "finite"),
        (lambda s: s.solve((0, 1, 2)), "span", "start and end"),
        (lambda s: s.solve((0, 1), method="rk45"), "method.name", "dopri5"),
        (lambda s: s.solve((0, 1), rtol=-1.0), "tolerance.rtol", "between"),
        (lambda s: s.solve((0, 1), rtol="small"), "rtol|tolerance", "number"),
        (lambda s: s.solve((0, 1), save=[0.5, 0.2]), r"time.save\[1\]", "direction"),
        (lambda s: s.solve((0, 1), save=[[0.5]]), "save", "one axis"),
        (lambda s: s.solve((0, 1), method=5), "method", "give its name"),
        (lambda s: s.solve((0, 1)).retry(method=od), "method", "give its name"),
        (lambda s: s.solve((0, 1), threads=0), "threads", "one or more"),
        (lambda s: s.solve((0, 1), threads=True), "threads", "one or more"),
        (lambda s: s.solve((0, 1), precision="f16"), "run.precision", "f32"),
        (lambda s: s.solve((0, 1), device="tpu"), "run.device", "cpu"),
        (lambda s: s.solve((0, 1), until={"z": {"rises_to": 1.0}}), "until", "x"),
        (lambda s: s.solve((0, 1), progress="yes"), "progress", "callable"),
        (lambda s: s.sweep(k=[1.0]), "k", "there are x, v, mu"),
        (lambda s: s.sweep(mu=[[1.0]]), "mu", "one axis"),
        (lambda s: s.sweep(mu=[]), "mu", "one axis"),
        (lambda s: s.sweep(mu=["a"]), "mu", "real numbers"),
        (lambda s: s.sweep(mu=[1.0, np.inf]), r"mu\[1\]", "finite"),
        (lambda s: s.sweep(mu=[1.0]).sweep(mu=[2.0]), "mu", "once"),
        (lambda s: s.sweep(mu=[1 + 2j]), "mu", "real numbers"),
        (lambda s: s.sweep(mu=[object()]), "mu", "real numbers"),
        (lambda s: s.sweep(mu=[[1.0], [1.0, 2.0]]), "mu", "numbers"),
        (lambda s: s(mu=[1.0], x=[1.0, 2.0]), "columns", "equal length"),
        (lambda s: s.table([1.0]), "table", "mapping"),
        (lambda s: s.sweep(t_end=[1.0]).to_toml(None, (0, 1)), "path", "path of the case file"),
        (lambda s: s * 0, "copies", "one or more"),
        (lambda s: s.perturb("z", relative=0.1).solve((0, 1)), "z", "x"),
        (lambda s: s.perturb("x").solve((0, 1)), "perturb", "relative"),
        (lambda s: s.perturb([], relative=0.1).solve((0, 1)), "perturb", "of = "),
        (
            lambda s: (
                od.System.from_text({"x": "-x"}, states={"x": 1.0})
                .perturb("parameters", relative=0.1)
                .solve((0, 1))
            ),
            "perturb",
            "there are x",
        ),
        (lambda s: s.runs().split(2), "parts", "1 to 1"),
        (lambda s: s.solve((0, 1))["z"], "state", "x, v"),
        (lambda s: od.System.from_text({"x": "-k"}, states={"x": 1.0}), "k", ""),
        (lambda s: od.System.from_text({"x": "-x +"}, states={"x": 1.0}), "x", ""),
        (lambda s: od.System.from_text({}, states={}), "states", "name each state"),
        (lambda s: od.System.from_text({"x": "-x"}, states={"x": "one"}), "states.x", "real"),
        (lambda s: od.System.from_text({"x": "-x"}, states=[1.0]), "states", "names"),
        (lambda s: od.System.from_text(None, states={"x": 1.0}), "equations", "names and expressions"),
        (lambda s: od.System.from_text({"x": None}, states={"x": 1.0}), "equations.x", "give text"),
        (lambda s: od.System.from_text({"x": "a"}, states={"x": 1.0}, definitions=3), "definitions", "names"),
        (lambda s: od.System.from_sympy(None, states={"x": 1.0}), "equations", "derivatives by symbol"),
        (lambda s: od.System.from_sympy({}, states=None), "states", "names"),
        (lambda s: od.System.problem(None), "problem", "give text"),
        (lambda s: od.System.problem("lorentz"), "problem", "lorenz"),
        (lambda s: od.run("nowhere.toml"), "", "nowhere.toml"),
        (lambda s: s.perturb("x", relative=0.1, seed="one"), "seed", "whole number"),
        (lambda s: od.run("nowhere.toml", threads=-1), "threads", "one or more"),
        (lambda s: s.perturb(3, relative=0.1), "perturb.of", "list of names"),
        (lambda s: s.perturb(np.array(3.0), relative=0.1), "perturb.of", "list of names"),
        (lambda s: od.concat([]), "solutions", "one at least"),
        (lambda s: od.concat([None]), "solutions", "parts"),
        (lambda s: od.concat(None), "solutions", "parts"),
        (lambda s: s.solve((0, 1)).retry(methd="radau"), "methd", "did you mean `method`?"),
        (lambda s: s.solve((0, 1), callback=print), "callback", "there are atol"),
        (lambda s: s.solve((0, 1)).retry(events=[print]), "events", "`until` ends systems"),
        (lambda s: s.solve((0, 1), max_step=0.1), "max_step", "it is `largest_step`"),
        (lambda s: s.solve((0, 1), t_eval=[0.5]), "t_eval", "it is `save`"),
        (lambda s: s.runs().case((0, 1), threads=2), "threads", "whoever solves"),
        (lambda s: s.solve(), "^span span: found None", "start and end"),
        (lambda s: s(t_end=[1.0]).solve(), "^span span: found None", "start and end"),
        (lambda s: s.solve((None, 1)), "span: found objects .None.", "real numbers"),
        (lambda s: s.runs().session().advance(None), "span: found None", "start and end"),
        (lambda s: s.solve((0, 1), precision=np.float32), "precision: found <class", 'give "f64" or "f32"'),
        (lambda s: s.solve((0, 1), device=print), "device: found <built-in", '"cuda"'),
        (lambda s: s.solve((0, 1)).retry(threads=0), "threads", "one or more"),
        (lambda s: s.solve((0, 1)).retry(progress="yes"), "progress", "callable"),
    ],
)
def test_bad_input_names_field_and_remedy(call, field, remedy):

    with pytest.raises(od.InputError) as caught:
        call(van_der_pol())
    error = caught.value
    assert re.search(field, f"{error.field} {error}"), (error.field, str(error))
    assert remedy in str(error), str(error)


def test_what_a_system_was_made_of_is_not_changed_afterwards():
    """Values that were set counted in calls, but not in the case that a solution names; other attributes in nothing."""
    system = van_der_pol()
    with pytest.raises(TypeError):
        system.variables["x"] = 5.0
    with pytest.raises(AttributeError, match="'states' of this System cannot be set: make another System"):
        system.states = ("y", "w")
    for again in (pickle.loads(pickle.dumps(system)), copy.deepcopy(system)):
        assert again.variables == system.variables
        assert np.array_equal(again.solve((0, 1)).y, system.solve((0, 1)).y)


def test_a_gpu_that_is_not_there_is_said():
    if od._odeum.methods() and od._nvrtc.load() and __import__("ctypes.util").util.find_library("cuda"):
        pytest.skip("a GPU is there")
    with pytest.raises(od.DeviceError, match="driver"):
        van_der_pol().solve((0, 1), device="cuda")


def test_the_size_of_steps_is_judged_by_the_span_of_the_call():
    """It was judged by that of a solver which serves all: 0 to 1."""
    runs = van_der_pol().sweep(mu=[1.0])
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert runs.solve((0, 1e-5), fixed_step=1e-8).success.all()
    with pytest.warns(od.OdeumWarning, match="do not reach the end within 100"):
        runs.solve((0, 20), largest_step=0.1, max_steps=100)


def test_starts_are_looked_at_once_in_a_call():
    """They were before they were counted, and again: what is told of them came twice."""
    runs = van_der_pol().sweep(x=[1.0, 3.0])
    with pytest.warns(od.OdeumWarning, match="1 of 2 systems start at or beyond") as told:
        runs.solve((0, 1), until=od.rise_to("x", 2.5))
    assert len(told) == 1


def test_values_of_systems_with_spans_of_their_own():
    system = van_der_pol()
    for end in ([2.0, 3.0], [-1.0, 0.5]):
        runs = system(mu=[1.0, 2.0], t_start=[0.0, 1.0], t_end=end)
        np.testing.assert_array_equal(runs.values("mu"), [1.0, 2.0])
    for names in ({"t_start": [0.0, 1.0]}, {"t_end": [-5.0, 3.0]}, {"t_start": [1e20, 2e20]}):
        np.testing.assert_array_equal(system.sweep(**names).values("x"), [2.0, 2.0])


def test_an_option_is_given_once():
    system = van_der_pol()
    limited = {"name": "tsit5", "max_steps": 3}
    for options, field in (
        ({"method": limited, "max_steps": 1000}, "max_steps"),
        ({"method": "rodas5p", "name": "tsit5"}, "name"),
    ):
        with pytest.raises(od.InputError, match="twice: .* is said by `method`|it is `method`") as raised:
            system.solve((0, 1), **options)
        assert raised.value.field == field
    solution = system.solve((0, 1), method=limited, max_steps=None)
    assert solution.summary() != "1 of 1 succeeded" and not solution.success
    with pytest.raises(od.InputError, match="twice"):
        solution.retry(method=limited, max_steps=1000)
    assert not solution.retry(method=limited, max_steps=None).success
    assert solution.retry(max_steps=1000).success


def test_names_that_python_reads_as_others_are_refused_in_text_too():
    with pytest.raises(od.InputError, match=r"U\+00B5.*write 'μ' \(U\+03BC\)") as raised:
        od.System.from_text({"x": "-µ * x"}, states={"x": 1.0}, parameters={"µ": 1.0})
    assert raised.value.field == "parameters.µ"


def test_lists_in_messages_stand_on_one_line():
    for options, found in (({"rtol": [1.0, 2.0]}, "[1.0, 2.0]"), ({"max_steps": [[3], [4]]}, "[[3], [4]]")):
        with pytest.raises(od.InputError) as raised:
            van_der_pol().solve((0, 1), **options)
        assert raised.value.found == found and f"(found {found})" in str(raised.value)
