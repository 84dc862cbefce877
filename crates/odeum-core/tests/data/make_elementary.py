#!/usr/bin/env python3
"""Writes reference values of the elementary functions, for tests/elementary.rs.

    python3 make_elementary.py POINTS > elementary.txt

needs mpmath. Each line is

    function x [y] value rest

with the arguments and the value, rounded to f64, as the 16 hexadecimal digits of their bits, and
the rest of the true value in 1/1024 of the value's unit in the last place.
"""

import random
import struct
import sys

import mpmath
from mpmath import mp, mpf

mp.prec = 300


def bits(x):
    return struct.pack(">d", x).hex()


def unit(x):
    """The unit in the last place of a finite f64."""
    _, exponent = mpmath.frexp(mpf(x))
    return mpf(2) ** max(int(exponent) - 53, -1074)


def nearest(v):
    """v rounded to f64, also where the result is subnormal; None when it overflows."""
    if v == 0:
        return 0.0
    _, exponent = mpmath.frexp(v)
    step = mpf(2) ** max(int(exponent) - 53, -1074)
    x = mpmath.nint(v / step) * step  # ties to even
    return float(x) if abs(x) < mpf(2) ** 1024 else None


def signed(low, high):
    """Log-uniform in [2^low, 2^high], of either sign."""
    return lambda: random.choice((-1, 1)) * 2.0 ** random.uniform(low, high)


def positive(low, high):
    return lambda: 2.0 ** random.uniform(low, high)


def uniform(low, high):
    return lambda: random.uniform(low, high)


def near(centres, low=-52, high=-3):
    """Close to one of the centres, where a function cancels or changes its formula."""

    def draw():
        centre = random.choice(centres)
        return centre + max(abs(centre), 1e-3) * random.choice((-1, 1)) * 2.0 ** random.uniform(low, high)

    return draw


HALF_PIS = [k * 1.5707963267948966 for k in list(range(-8, 9)) + [101, 12345, -667543, 600000]]
QUARTERS = [k * 0.7853981633974483 for k in (-3, -1, 1, 3, 5)]
ANGLES = [uniform(-1, 1), uniform(-10, 10), signed(-30, 20), near(HALF_PIS), near(QUARTERS), signed(20, 1020)]
UNIT = [uniform(-1, 1), signed(-30, 0), near([-0.5, 0.5]), lambda: random.choice((-1, 1)) * (1 - 2.0 ** random.uniform(-53, -2))]

# name: (function, ways to draw an argument)
UNARY = {
    "exp": (mpmath.exp, [uniform(-1, 1), uniform(-708, 709.7), uniform(-745, -707), signed(-60, 0), near([k * 0.34657359027997264 for k in range(-9, 10)])]),
    "ln": (mpmath.log, [positive(-1022, 1023), positive(-1074, -1022), positive(-1, 1), near([1.0]), near([0.70710678, 1.41421356]), positive(-4, 4)]),
    "sin": (mpmath.sin, ANGLES),
    "cos": (mpmath.cos, ANGLES),
    "tan": (mpmath.tan, ANGLES),
    "asin": (mpmath.asin, UNIT),
    "acos": (mpmath.acos, UNIT),
    "atan": (mpmath.atan, [uniform(-1, 1), signed(-30, 10), signed(10, 110), near([-2.0, -0.5, 0.5, 2.0]), uniform(-4, 4)]),
    "sinh": (mpmath.sinh, [uniform(-1, 1), uniform(-710.4, 710.4), signed(-30, 2), near([-1.0, 1.0]), uniform(-5, 5)]),
    "cosh": (mpmath.cosh, [uniform(-1, 1), uniform(-710.4, 710.4), signed(-30, 2), uniform(-5, 5)]),
    "tanh": (mpmath.tanh, [uniform(-1, 1), uniform(-22, 22), signed(-30, 2), near([0.17328679513998632, 0.5198603854199589]), uniform(-3, 3)]),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), [signed(-1074, 1024), signed(-3, 3), near([1.0, 2.0, 8.0, -0.5])]),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), [positive(-1074, 1024), positive(-2, 2), positive(-1074, -1000)]),
}


def power_arguments():
    kind = random.randrange(6)
    if kind == 0:  # the whole range of results
        x = 2.0 ** random.uniform(-1074, 1024)
        y = random.uniform(-1075, 1024) / mpmath.log(x, 2)
    elif kind == 1:  # a base close to one, a large exponent
        x = 1 + random.choice((-0.5, 1)) * 2.0 ** random.uniform(-50, -1)
        y = random.uniform(-1075, 1024) / mpmath.log(x, 2)
    elif kind == 2:
        x, y = 2.0 ** random.uniform(-4, 4), random.uniform(-4, 4)
    elif kind == 3:  # negative bases
        x, y = -(2.0 ** random.uniform(-8, 8)), random.randint(-60, 60)
    elif kind == 4:  # results near one
        x, y = 2.0 ** random.uniform(-1000, 1000), 2.0 ** random.uniform(-60, -10)
    else:  # large results of mantissas where the logarithm's series is longest
        x = random.choice((0.70710678, 1.41421356)) * (1 + random.uniform(-0.01, 0.01))
        y = random.choice((-1, 1)) * random.uniform(1900, 2040)
    return float(x), float(y)


def line(name, arguments, value):
    value = mpf(value)
    rounded = nearest(value)
    if rounded is None:
        return None
    rest = int(mpmath.nint((value - mpf(rounded)) / unit(rounded) * 1024))
    return " ".join([name, *map(bits, arguments), bits(rounded), str(rest)])


def main():
    points = int(sys.argv[1])
    random.seed(20240229)
    for name, (function, draws) in UNARY.items():
        for i in range(points):
            x = draws[i % len(draws)]()
            text = line(name, [x], function(mpf(x)))
            if text:
                print(text)
    for _ in range(2 * points):
        x, y = power_arguments()
        if mpf(y) * mpmath.log(abs(mpf(x)), 2) < 1024:
            print(line("powf", [x, y], mpmath.power(mpf(x), mpf(y)).real))


main()
