"""Simulations on the disk, in notebooks and in other libraries."""

import base64
import re
import struct
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest

import odeum as od

MODEL = od.Model({"u": "0.1 * lap(u) - k * u", "v": "0.05 * lap(v) + k * u"}, {"k": 2.0})
rng = np.random.default_rng(7)
U = rng.random((3, 4, 5))


def made(**options):
    usual = {"spacing": 0.5, "boundary": "periodic", "step": 0.01, "title": "Decay & growth"}
    return od.Simulation(MODEL, {"u": U, "v": "exp(-x)"}, **(usual | options))


def command(*arguments):
    code = "import sys; from odeum import _odeum; sys.exit(_odeum.command(['odeum', *sys.argv[1:]]))"
    run = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_npz(tmp_path, precision):
    sim = made(precision=precision, mask="2 - x")
    sim.advance(0.1)
    sim.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as file:
        assert file["u"].dtype == sim.arrays["u"].dtype
        assert np.array_equal(file["u"], sim.arrays["u"]) and np.array_equal(file["v"], sim.arrays["v"])
        assert np.array_equal(file["mask"], sim.mask)
        np.testing.assert_allclose(file["x"], sim.centres("x"))
        assert file["t"] == sim.t and file["steps"] == sim.steps
        assert file["mass_end"][0] == sim.summary().u.mass


def test_zarr_is_a_start(tmp_path):
    sim = made()
    sim.advance(0.1)
    sim.save(tmp_path / "a.zarr")
    assert (tmp_path / "a.zarr" / "zarr.json").is_file()
    start = {name: {"file": str(tmp_path / "a.zarr")} for name in "uv"}
    other = od.Simulation(MODEL, start, shape=sim.sizes, spacing=0.5)
    assert all(np.array_equal(other.arrays[name], sim.arrays[name]) for name in "uv")


def test_a_store_is_replaced_by_a_whole_one_or_not_at_all(tmp_path, monkeypatch):
    sim, path = made(), tmp_path / "a.zarr"
    sim.save(path)
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    begun, ended = threading.Event(), []

    def advance():
        try:
            sim.advance(1e9, progress=lambda *_: begun.set())
        except od.Interrupted as error:
            ended.append(error)

    thread = threading.Thread(target=advance)
    thread.start()
    assert begun.wait(60)
    with pytest.raises(od.OdeumError, match="another call"):
        sim.save(path, overwrite=True)
    sim.stop()
    thread.join()
    assert ended and {file: file.read_bytes() for file in path.rglob("*") if file.is_file()} == before
    sim.save(path, overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["a.zarr"]
    assert {file: file.read_bytes() for file in path.rglob("*") if file.is_file()} != before
    # One that cannot get its place leaves the other in it.
    rename, before = Path.rename, sorted(path.rglob("*"))

    def broken(self, target):
        if self.name.endswith(".part"):
            raise OSError(5, "Input/output error")
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", broken)
        with pytest.raises(od.InputError, match="Input/output error"):
            sim.save(path, overwrite=True)
    assert sorted(path.rglob("*")) == before and [*tmp_path.iterdir()] == [path]
    # The store that a link leads to.
    link = tmp_path / "link.zarr"
    link.symlink_to(path)
    other = made(mask="2 - x")
    other.save(link, overwrite=True)
    assert link.is_symlink() and (path / "mask").is_dir()


def test_stores_of_rods_have_few_files(tmp_path):
    """They had one for each 64 cells, which took a rod of a million 41 s."""
    model = od.Model({"u": "lap(u)"})
    for shape, files in (({"x": 300_000}, 2), ({"y": 600, "x": 500}, 2)):
        start = rng.random(tuple(shape.values()))
        sim = od.Simulation(model, {"u": start}, spacing=1.0)
        sim.save(tmp_path / "a.zarr", overwrite=True)
        chunks = [file for file in (tmp_path / "a.zarr/u/c").rglob("*") if file.is_file()]
        assert len(chunks) == files
        again = od.Simulation(model, {"u": {"file": str(tmp_path / "a.zarr")}}, shape=sim.sizes, spacing=1.0)
        assert np.array_equal(again.arrays["u"], sim.arrays["u"])


def test_vti(tmp_path):
    sim = made()
    sim.save(tmp_path / "a.vti")
    data = (tmp_path / "a.vti").read_bytes()
    assert b'WholeExtent="0 5 0 4 0 3"' in data and b'Name="v"' in data
    raw = data.split(b">\n_", 1)[1]
    (size,) = struct.unpack("<Q", raw[:8])
    assert np.array_equal(np.frombuffer(raw[8 : 8 + size]).reshape(3, 4, 5), sim.arrays["u"])


@pytest.mark.parametrize("name", ["a.npz", "a.zarr", "a.vti"])
def test_nothing_is_replaced_silently(tmp_path, name):
    sim = made()
    sim.save(tmp_path / name)
    sim.advance(0.1)
    with pytest.raises(od.InputError, match="exists") as raised:
        sim.save(tmp_path / name)
    assert raised.value.field == "path" and "overwrite" in raised.value.remedy
    sim.save(tmp_path / name, overwrite=True)


def test_paths_that_cannot_be(tmp_path):
    sim = made()
    (tmp_path / "b.zarr").mkdir()
    (tmp_path / "b.zarr" / "mine.txt").write_text("mine")
    for path in (tmp_path / "a.png", tmp_path / "a", tmp_path / "none" / "a.npz", tmp_path / "b.zarr"):
        with pytest.raises(od.InputError) as raised:
            sim.save(path, overwrite=True)
        assert raised.value.field == "path" and raised.value.remedy, path
    assert (tmp_path / "b.zarr" / "mine.txt").read_text() == "mine"


def test_cases_called_by_a_number_have_arrays_of_their_own(tmp_path):
    for u in (0.5, 0.6):
        sim = od.Simulation(MODEL, {"u": np.full(U.shape, u), "v": U}, spacing=0.5, step=0.01)
        sim.to_toml(tmp_path / f"case_{u}", until=1.0, overwrite=True)
    for u in (0.5, 0.6):
        assert (od.Simulation.from_case(tmp_path / f"case_{u}").arrays["u"] == u).all()


@pytest.mark.parametrize(
    "options",
    [
        {"step": None, "method": "rkc", "tolerance": 1e-5},
        {"precision": "f32"},
        {"mask": U > 0.2, "velocity": [U, -U, 0.1], "diffusion": {"u": 0.1 * U}, "seed": 3, "t": 0.25},
    ],
)
def test_the_command_does_the_same_with_the_case(tmp_path, options):
    sim = made(**options)
    sim.to_toml(tmp_path / "case.toml", until=0.75)
    end = list(sim.run(until=0.75))[0]
    command("run", tmp_path / "case.toml", "--output", tmp_path / "run.npz", "--quiet")
    with np.load(tmp_path / "run.npz") as file:
        for name in "uv":
            assert np.array_equal(file[name], sim.arrays[name])
            assert np.array_equal(file[name], end[name].values)
        assert file["steps"] == sim.steps
    again = od.Simulation.from_case(tmp_path / "case.toml", threads=1)
    (state,) = again.run()
    assert again.t == 0.75 and np.array_equal(state.u.values, sim.arrays["u"])


def test_cases_go_to_the_time_reached(tmp_path):
    sim = made()
    with pytest.raises(od.InputError, match="until"):
        sim.to_toml(tmp_path / "case.toml")
    sim.advance(0.1)
    sim.to_toml(tmp_path / "case.toml")
    assert "until = 0.1" in (tmp_path / "case.toml").read_text()
    assert np.array_equal(np.load(tmp_path / "case.initial-u.npy"), U)
    with pytest.raises(od.InputError, match="exists"):
        sim.to_toml(tmp_path / "case.toml")
    sim.to_toml(tmp_path / "case.toml", overwrite=True)
    (tmp_path / "case.toml").unlink()
    with pytest.raises(od.InputError, match="initial-u.npy, which exists"):
        sim.to_toml(tmp_path / "case.toml")
    sim.to_toml(tmp_path / "case.toml", overwrite=True)
    again = od.Simulation.from_case(tmp_path / "case.toml")
    again.to_toml(tmp_path / "later.toml", until=0.2)
    with pytest.raises(od.InputError, match="until"):
        sim.to_toml(tmp_path / "early.toml", until=-1.0)


def test_cases_beside_one_another_have_arrays_of_their_own(tmp_path):
    options = {"mask": U > 0.2, "velocity": [U, 0.0, 0.0], "diffusion": {"u": U}}
    ours, other = made(**options), od.Simulation(MODEL, {"u": 1 - U, "v": 0.0}, spacing=0.5, step=0.01)
    ours.to_toml(tmp_path / "a.toml", until=1.0)
    other.to_toml(tmp_path / "b.toml", until=1.0)
    for name, sim in {"a.toml": ours, "b.toml": other}.items():
        assert np.array_equal(od.Simulation.from_case(tmp_path / name).arrays["u"], sim.arrays["u"])
    assert all(path.name.startswith(("a.", "b.")) for path in tmp_path.iterdir())


def test_cases_in_other_folders_name_the_same_files(tmp_path, monkeypatch):
    """Of each kind of array; the files that the other folder has by the same names are others."""
    near, far = tmp_path / "near", tmp_path / "far"
    for folder, factor in ((near, 1.0), (far, 0.5)):
        folder.mkdir()
        for name in ("u", "velocity", "diffusion"):
            np.save(folder / f"{name}.npy", factor * U)
        np.save(folder / "mask.npy", U > 0.5 * factor)
    monkeypatch.chdir(near)
    start = {"u": {"file": "u.npy"}, "v": 0.0}
    shape = dict(zip("zyx", U.shape, strict=True))
    sim = od.Simulation(MODEL, start, shape=shape, spacing=0.5, step=0.01, mask={"file": "mask.npy"})
    monkeypatch.chdir(tmp_path)
    sim.to_toml(far / "case.toml", until=0.1)
    sim.to_toml(near / "case.toml", until=0.1)
    for folder in (near, far):
        again = od.Simulation.from_case(folder / "case.toml")
        assert np.array_equal(again.arrays["u"], U) and np.array_equal(again.mask, U > 0.5)
    assert 'file = "u.npy"' in (near / "case.toml").read_text(), "what lies beside a case goes with it"
    text = (
        near / "case.toml"
    ).read_text() + '[velocity]\ncells = ["velocity.npy", "velocity.npy", "velocity.npy"]\n'
    (near / "more.toml").write_text(text + '[diffusion]\nv = "diffusion.npy"\n')
    ends = []
    for path in (near / "more.toml", far / "more.toml"):
        sim = od.Simulation.from_case(path.relative_to(tmp_path))
        if path.parent == near:
            sim.to_toml(far / "more.toml")
        sim.advance(0.05)
        ends.append(sim.arrays["v"])
    assert np.array_equal(*ends)


def test_files_that_a_case_reads_are_not_taken_for_its_arrays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("initial-v.npy", "case.initial-v.npy"):
        np.save(name, U)
        options = {"shape": dict(zip("zyx", U.shape, strict=True)), "spacing": 0.5, "step": 0.01}
        sim = od.Simulation(MODEL, {"u": {"file": name}, "v": 1 - U}, **options)
        assert np.array_equal(sim.arrays["u"], U) and np.array_equal(sim.arrays["v"], 1 - U)
    with pytest.raises(od.InputError, match="reads"):
        sim.to_toml("case.toml", until=1.0, overwrite=True)
    assert np.array_equal(np.load("case.initial-v.npy"), U)


def test_later_changes_of_an_array_change_nothing(tmp_path):
    u = U.copy()
    sim = od.Simulation(MODEL, {"u": u, "v": 0.0}, spacing=0.5)
    u[:] = 0
    sim.to_toml(tmp_path / "case.toml", until=1.0)
    assert np.array_equal(np.load(tmp_path / "case.initial-u.npy"), U)
    assert np.array_equal(sim.arrays["u"], U)


def test_cases_of_files(tmp_path):
    case = tmp_path / "turing.toml"
    text = '[system]\nproblem = "turing"\n[grid]\nshape = [8, 8, 1]\n[time]\nuntil = 0.2\n[output]\nevery = 0.1\nformats = ["vti"]\n'
    case.write_text(text)
    sim = od.Simulation.from_case(case)
    assert [float(state.t) for state in sim.run()] == pytest.approx([0.1, 0.2])
    again = od.Simulation.from_case(case)
    assert [float(state.t) for state in again.run(until=0.15)] == [0.1, 0.15], "an end changes nothing else"
    assert [float(state.t) for state in again.run(until=0.3, every=0.05)] == [0.2, 0.25, 0.3]
    assert [float(state.t) for state in again.run(times=[0.35, 0.4])] == [0.35, 0.4]
    case.write_text(text.replace("every = 0.1", "every = { steps = 3 }"))
    with pytest.warns(UserWarning, match="every"):
        assert len(list(od.Simulation.from_case(case).run())) == 1
    case.write_text(
        text.replace("every = 0.1", "every = { steps = 30 }").replace("until", "step = 0.002\nuntil")
    )
    states = od.Simulation.from_case(case).run()
    assert [float(state.t) for state in states] == [0.06, 0.12, 0.18, 0.2]
    assert sim.title == "turing (built in)" and sim.parameters["Du"] > 0
    with pytest.raises(od.InputError) as raised:
        od.Simulation.from_case(case, device="gpu")
    assert raised.value.field == "device"
    with pytest.raises(od.InputError):
        od.Simulation.from_case(tmp_path / "none.toml")
    case.write_text(text.replace("until = 0.2", "untill = 0.2"))
    with pytest.raises(od.InputError, match="untill"):
        od.Simulation.from_case(case)
    case.write_text(
        '[system]\nproblem = "lorenz"\n[method]\nname = "tsit5"\n[tolerance]\nrtol = 1e-6\natol = 1e-6\n'
    )
    with pytest.raises(od.InputError, match="grid"):
        od.Simulation.from_case(case)


def pixels(html):
    """The pictures of a page, as arrays."""
    for data in re.findall(r"data:image/png;base64,([^\"]+)", html):
        raw = base64.b64decode(data)
        assert raw.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", raw[16:24])
        at = raw.index(b"IDAT")
        (size,) = struct.unpack(">I", raw[at - 4 : at])
        (crc,) = struct.unpack(">I", raw[at + 4 + size : at + 8 + size])
        assert crc == zlib.crc32(raw[at : at + 4 + size])
        rows = np.frombuffer(zlib.decompress(raw[at + 4 : at + 4 + size]), np.uint8).reshape(height, -1)
        assert (rows[:, 0] == 0).all()
        yield rows[:, 1:].reshape(height, width, 3)


def test_notebooks_show_slices_masses_and_limits():
    sim = made(mask="2.2 - x")
    sim.advance(0.1)
    html = sim._repr_html_()
    assert "Decay &amp; growth" in html and "t</th><td>0.1" in html
    assert f"{sim.summary().u.mass:.6g}" in html and f"{sim.summary().u.start_mass:.6g}" in html
    assert "stable" in html and "cells a second" in html and "z = 0.75" in html
    u, v = pixels(html)
    assert u.shape == v.shape == (4, 5, 3)
    # The lowest row of cells is the last of the picture; the least value is the darkest colour.
    low = sim.arrays["u"][1].copy()
    low[~sim.mask[1]] = np.inf
    j, i = np.unravel_index(low.argmin(), low.shape)
    assert u[3 - j, i].tolist() == [68, 1, 84]
    assert (u[:, 4] == 190).all()


def test_notebooks_show_lines_and_single_cells():
    sim = od.Simulation(MODEL, {"u": "x", "v": 1.0}, shape={"y": 30}, spacing=0.1, step=0.01)
    html = sim._repr_html_()
    assert html.count("<svg") == 2 and "u over y" in html and "NaN" not in html
    sim = od.Simulation(MODEL, {"u": 1.0, "v": 1.0}, shape={"x": 1}, spacing=0.1, step=0.01)
    sim.advance(0.1)
    assert "one cell" in sim._repr_html_() and "<svg" not in sim._repr_html_()
    assert repr(sim).startswith("<odeum.Simulation of u, v on 1 × 1 × 1 cells, t = 0.1, euler")


def test_large_fields_are_thinned_out_for_pictures():
    sim = od.Simulation(MODEL, {"u": "x", "v": "y"}, shape={"x": 300, "y": 200}, spacing=0.1, step=0.001)
    u, v = pixels(sim._repr_html_())
    assert u.shape == (100, 100, 3)
    assert u[0, 0].tolist() == [68, 1, 84] and v[-1, 0].tolist() == [68, 1, 84]


def test_plots():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    sim = made()
    axes = sim.plot()
    assert len(axes) == 2 and axes[0].get_xlabel() == "x" and axes[0].get_ylabel() == "y"
    assert "z = 0.75" in axes[0].get_title()
    mesh = axes[0].collections[0]
    assert np.array_equal(np.asarray(mesh.get_array()).reshape(4, 5), sim.arrays["u"][1])
    ax = sim.plot("v", at={"x": 0.3, "y": 1.0})
    assert ax.get_xlabel() == "z"
    assert np.array_equal(ax.lines[0].get_ydata(), sim.arrays["v"][:, 2, 0])
    with pytest.raises(od.InputError, match="ax"):
        sim.plot(["u", "v"], ax=axes[0])
    pyplot.close("all")


def test_pyvista():
    pytest.importorskip("pyvista", reason="PyVista is not installed")
    sim = made(mask="2 - x")
    data = sim.to_pyvista()
    assert data.dimensions == (6, 5, 4) and data.spacing == (0.5, 0.5, 0.5)
    assert np.array_equal(data.cell_data["u"].reshape(3, 4, 5), sim.arrays["u"])
    assert np.array_equal(data.cell_data["mask"].reshape(3, 4, 5) == 1, sim.mask)


def test_times_are_those_that_were_meant(tmp_path):
    sim = made(step=0.1)
    for _ in range(3):
        sim.advance(0.1)
    assert sim.t == 0.3
    sim.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as file:
        assert file["t"] == 0.3
    # Steps of 0.1 end at 0.30000000000000004.
    other = made(step=0.1)
    other.advance_to(0.3)
    other.save(tmp_path / "b.npz")
    with np.load(tmp_path / "b.npz") as file:
        assert file["t"] == 0.3


def test_a_store_with_a_mask_is_a_start(tmp_path):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    sim = made(mask="2 - x", step=0.1)
    sim.advance_to(0.3)
    sim.save(tmp_path / "a.zarr")
    for start in (xr.open_zarr(tmp_path / "a.zarr").isel(t=-1), sim.state):
        other = od.Simulation(MODEL, start, boundary="periodic", step=0.01)
        assert np.array_equal(other.mask, sim.mask) and other.t == sim.t == 0.3
        assert np.array_equal(other.arrays["u"], sim.arrays["u"])


def test_coordinates_of_files_are_those_of_the_grid(tmp_path):
    """They were not read: a field whose x falls was taken mirrored."""
    shape, x = {"x": 5, "y": 4, "z": 3}, 0.25 + 0.5 * np.arange(5)
    start = {"u": {"file": str(tmp_path / "a.npz")}, "v": 1.0}
    for coordinates, said in [
        (x, None),
        (x.astype(np.float32), None),
        # Edges, and labels of something else, are no coordinates of cells.
        (np.arange(6) * 0.5, None),
        (np.ones((3, 4, 5)), None),
        (x[::-1], "fall"),
        (x + 0.25, "0.5 for a cell whose centre is at 0.25"),
        (np.arange(5), "4 for a cell whose centre is at 2.25"),
    ]:
        np.savez(tmp_path / "a.npz", u=U, x=coordinates)
        if said is None:
            od.Simulation(MODEL, start, shape=shape, spacing=0.5)
            continue
        with pytest.raises(od.InputError, match=said) as raised:
            od.Simulation(MODEL, start, shape=shape, spacing=0.5)
        assert "initial.u" in raised.value.field and "a.npz" in str(raised.value)
