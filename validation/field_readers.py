"""What programs of others read in the output of fields.

    pip install -r validation/requirements.txt
    cargo build --release
    python validation/field_readers.py [target/release/odeum]

Runs a small case, opens its result with NumPy, its Zarr store with xarray and zarr, its VTK files
with VTK, its tables with csv, and compares all of them with each other; S(k) with NumPy's FFT, and a
run that begins from the store with one that begins from the result. Ends with an error where they
differ.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import xarray
import zarr
from vtk import vtkXMLImageDataReader
from vtk.util.numpy_support import vtk_to_numpy

ROOT = Path(__file__).resolve().parent.parent
SHAPE = (12, 10, 9)
ORIGIN = (1.0, 0.0, -2.0)
SPACING = 0.5

CASE = f"""
[system]
species = ["u", "v"]
equations = {{ u = "lap(u) - 0.1*u*v", v = "0.5*lap(v) + 0.1*u*v" }}
[grid]
shape = {list(SHAPE)}
spacing = {SPACING}
origin = {list(ORIGIN)}
[initial]
INITIAL
[time]
until = 0.4
step = 0.01
"""
ROUGH = 'u = { value = "1 + 0.3*sin(x)*cos(y)", noise = 0.1 }\nv = { value = 0.5, noise = 0.2 }'
OUTPUT = """
[output]
every = 0.1
formats = ["vti", "zarr"]
series = { every = 10 }
structure = { every = 10 }
"""


def structure(u):
    """Means of S(k) over shells as far apart as the shortest wave vector of the longest edge."""
    waves = [np.fft.fftfreq(n, SPACING) for n in u.shape]
    k = np.sqrt(sum(w**2 for w in np.meshgrid(*waves, indexing="ij")))
    power = np.abs(np.fft.fftn(u - u.mean())) ** 2 / u.size
    shell = np.rint(k * max(u.shape) * SPACING).astype(int).ravel()
    sums, modes = np.bincount(shell, power.ravel()), np.bincount(shell)
    return {n: (modes[n], sums[n] / modes[n]) for n in range(1, len(modes)) if modes[n]}


def main():
    command = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/odeum").resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def run(case, text):
            (folder / f"{case}.toml").write_text(text)
            subprocess.run([command, "run", f"{case}.toml"], cwd=folder, check=True,
                           capture_output=True)
            return np.load(folder / f"{case}.npz")

        end = run("a", CASE.replace("INITIAL", ROUGH) + OUTPUT)
        shape = SHAPE[::-1]
        store = xarray.open_zarr(folder / "a.zarr", consolidated=False)
        plain = zarr.open_group(folder / "a.zarr", mode="r")
        assert np.allclose(store.t, [0.0, 0.1, 0.2, 0.3, 0.4])
        for s, species in enumerate("uv"):
            last = end[species].reshape(shape)
            assert np.array_equal(store[species][-1], last), "xarray"
            assert np.array_equal(plain[species][-1], last), "zarr"
            image = plain.attrs["ome"]["multiscales"][s]
            assert image["datasets"][0]["path"] == species
        for axis, centre in zip("xyz", ORIGIN):
            assert np.isclose(store[axis][0], centre + SPACING / 2)

        files = sorted((folder / "a.frames").glob("*.vti"))
        assert len(files) == 5, files
        for n, file in enumerate(files):
            reader = vtkXMLImageDataReader()
            reader.SetFileName(str(file))
            reader.Update()
            image = reader.GetOutput()
            assert image.GetSpacing() == (SPACING,) * 3
            cells = image.GetCellData()
            for species in "uv":
                values = vtk_to_numpy(cells.GetArray(species)).reshape(shape)
                assert np.array_equal(values, store[species][n]), f"VTK, {file.name}"

        with open(folder / "a.csv") as file:
            rows = list(csv.DictReader(file))
        mean = float(rows[-1]["u_mean"])
        assert np.isclose(mean, end["u"].mean(), rtol=1e-12)

        with open(folder / "a.structure.csv") as file:
            rows = [row for row in csv.DictReader(file) if float(row["t"]) > 0.39]
        expected = structure(end["v"].reshape(shape))
        assert len(rows) == len(expected)
        for row in rows:
            modes, power = expected[int(row["shell"])]
            assert int(row["modes"]) == modes and np.isclose(float(row["v"]), power, rtol=1e-9)

        again = [run(f"from_{kind}", CASE.replace("INITIAL", "\n".join(
            f'{species} = {{ file = "a.{kind}" }}' for species in "uv")))
            for kind in ("zarr", "npz")]
        for species in "uv":
            assert np.array_equal(again[0][species], again[1][species])
    print("NumPy, xarray, zarr, VTK and csv read the same numbers")


if __name__ == "__main__":
    main()
