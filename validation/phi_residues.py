"""Poles and residues of the phi functions in `crates/odeum-ode/src/method/exponential/hessenberg.rs`.

The poles are those of the Caratheodory-Fejer approximation of type (14, 14) to exp z on z <= 0, by the
algorithm of Trefethen, Weideman & Schmelzer, BIT 46 (2006) 653, rounded to 8 decimals and
moved to the right by 1. The residues of phi_0 ... phi_5 belong to the same poles and are fitted by least
squares in 40 digits at the images of 240 Chebyshev points on z <= 1.

    python3 validation/phi_residues.py

prints the two tables, and the largest error of each function at the points. Needs numpy, mpmath.
"""

import mpmath
import numpy as np

DEGREE = 14
END = 1
POINTS = 240
SCALE = 9
FUNCTIONS = 6


def poles(degree, terms=75, samples=1024):
    """The poles of positive imaginary part for z <= 0."""
    w = np.exp(2j * np.pi * np.arange(samples) / samples)
    x = w.real
    f = np.exp(SCALE * (x - 1) / (x + 1 + 1e-16))
    chebyshev = np.real(np.fft.fft(f)) / samples
    hankel = np.array([[chebyshev[i + j + 1] if i + j < terms else 0.0 for j in range(terms)]
                       for i in range(terms)])
    _, _, right = np.linalg.svd(hankel)
    zeros = np.roots(right[degree, :])
    outside = zeros[abs(zeros) > 1]
    found = SCALE * (outside - 1) ** 2 / (outside + 1) ** 2
    return sorted((z for z in found if z.imag > 0), key=lambda z: z.imag)


def phi(k, z):
    if abs(z) < 3:
        return sum(z**j / mpmath.factorial(j + k) for j in range(60))
    value = mpmath.exp(z)
    for j in range(k):
        value = (value - 1 / mpmath.factorial(j)) / z
    return value


def main():
    mpmath.mp.dps = 40
    rounded = [(round(z.real, 8) + END, round(z.imag, 8)) for z in poles(DEGREE)]
    thetas = [mpmath.mpc(round(re, 8), im) for re, im in rounded]
    angles = [(i + mpmath.mpf(1) / 2) * mpmath.pi / POINTS for i in range(POINTS)]
    z = [END + SCALE * (mpmath.cos(a) - 1) / (mpmath.cos(a) + 1) for a in angles]
    matrix = mpmath.matrix(POINTS, 2 * len(thetas))
    for i in range(POINTS):
        for j, theta in enumerate(thetas):
            term = 1 / (z[i] - theta)
            matrix[i, 2 * j], matrix[i, 2 * j + 1] = 2 * term.real, -2 * term.imag
    for theta in thetas:
        print(f"    [{float(theta.real)!r}, {float(theta.imag)!r}],")
    for k in range(FUNCTIONS):
        exact = mpmath.matrix([phi(k, x) for x in z])
        found, _ = mpmath.qr_solve(matrix, exact)
        error = max(abs(e) for e in matrix * found - exact)
        print(f"phi_{k}: {mpmath.nstr(error, 3)}")
        for j in range(len(thetas)):
            print(f"        [{float(found[2 * j])!r}, {float(found[2 * j + 1])!r}],")


if __name__ == "__main__":
    main()
