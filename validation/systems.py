"""The built-in problems in Python, written over any kind of number.

The right-hand sides repeat the Rust ones in ``crates/odeum-ode/src/problems`` and are tested against
them only through the reference solutions: a slip in either shows. They run over ``float``, over
the multiprecision numbers of python-flint (``arb``) and over its power series (``arb_series``).
Every number of a problem is the double the Rust program uses.
"""

from dataclasses import dataclass, field
from math import pi, sin


def inverse_cube(r_squared):
    """1 / r**3 from r**2."""
    if isinstance(r_squared, float):
        return r_squared**-1.5
    return 1 / (r_squared * r_squared.sqrt())


def pleiades(t, y, p):
    x, z = y[:7], y[7:14]
    ax, az = [0] * 7, [0] * 7
    for i in range(7):
        for j in range(i + 1, 7):
            dx, dz = x[j] - x[i], z[j] - z[i]
            pull = inverse_cube(dx * dx + dz * dz)
            gx, gz = dx * pull, dz * pull
            ax[i], az[i] = ax[i] + (j + 1) * gx, az[i] + (j + 1) * gz
            ax[j], az[j] = ax[j] - (i + 1) * gx, az[j] - (i + 1) * gz
    return [*y[14:], *ax, *az]


def lorenz(t, y, p):
    (x, y_, z), (sigma, rho, beta) = y, p
    return [sigma * (y_ - x), rho * x - y_ - x * z, x * y_ - beta * z]


def lotka_volterra(t, y, p):
    (x, z), (a, b, c, d) = y, p
    return [a * x - b * x * z, d * x * z - c * z]


def arenstorf(t, y, p):
    (x, z, vx, vz), (mu,) = y, p
    nu = 1 - mu
    earth = nu * inverse_cube((x + mu) * (x + mu) + z * z)
    moon = mu * inverse_cube((x - nu) * (x - nu) + z * z)
    return [
        vx,
        vz,
        x + 2 * vz - earth * (x + mu) - moon * (x - nu),
        z - 2 * vx - earth * z - moon * z,
    ]


def van_der_pol(t, y, p):
    (x, v), (mu,) = y, p
    return [v, mu * (1 - x * x) * v - x]


def van_der_pol_ring(t, y, p):
    mu, kappa = p
    n = len(y) // 2
    x, v = y[0::2], y[1::2]
    slopes = []
    for i in range(n):
        drawn = x[i - 1] - 2 * x[i] + x[(i + 1) % n]
        slopes += [v[i], mu * (1 - x[i] * x[i]) * v[i] - x[i] + kappa * drawn]
    return slopes


def brusselator(t, y, p):
    (u, v), (a, b) = y, p
    return [a + u * u * v - (b + 1) * u, b * u - u * u * v]


def brusselator_1d(t, y, p):
    a, b, alpha = p
    n = len(y) // 2
    exchange = alpha * (n + 1) ** 2
    u, v = [a, *y[0::2], a], [b / a, *y[1::2], b / a]
    slopes = []
    for i in range(1, n + 1):
        reaction = u[i] * u[i] * v[i]
        slopes += [
            a + reaction - (b + 1) * u[i] + exchange * (u[i - 1] - 2 * u[i] + u[i + 1]),
            b * u[i] - reaction + exchange * (v[i - 1] - 2 * v[i] + v[i + 1]),
        ]
    return slopes


def robertson(t, y, p):
    (a, b, c), (k1, k2, k3) = y, p
    r1, r2, r3 = k1 * a, k2 * b * c, k3 * b * b
    return [r2 - r1, r1 - r2 - r3, r3]


def hires(t, y, p):
    k1, k2, k3, k4, k5, k6, plus, minus, star, o = p
    a, b, c, d, e, f, g, h = y
    bound = plus * f * h
    return [
        -k1 * a + k2 * b + k6 * c + o,
        k1 * a - (k2 + k3) * b,
        -(k6 + k1) * c + k2 * d + k5 * e,
        k3 * b + k1 * c - (k4 + k2) * d,
        -(k5 + k1) * e + k2 * f + k2 * g,
        -bound + k4 * d + k1 * e - k2 * f + minus * g,
        bound - (k2 + minus + star) * g,
        -bound + (k2 + minus + star) * g,
    ]


def oregonator(t, y, p):
    (x, y_, z), (s, w, q) = y, p
    return [s * (y_ + x * (1 - q * x - y_)), (z - (1 + x) * y_) / s, w * (x - z)]


def e5(t, y, p):
    a, b, c, m = p
    split, spent, joined, decayed = a * y[0], b * y[0] * y[2], m * c * y[1] * y[2], c * y[3]
    return [-split - spent, split - joined, split - joined - spent + decayed, spent - decayed]


# Reactions of POLLU: educts -> products (by species number; twice means two molecules).
POLLU_REACTIONS = [
    ((1,), (2, 3)),
    ((2, 4), (1,)),
    ((5, 2), (6, 1)),
    ((7,), (5, 5, 8)),
    ((7,), (8,)),
    ((7, 6), (5, 8)),
    ((9,), (5, 8, 10)),
    ((9, 6), (11,)),
    ((11, 2), (1, 10, 12)),
    ((11, 1), (13,)),
    ((13,), (11, 1)),
    ((10, 2), (14, 1)),
    ((14,), (7, 5)),
    ((1, 6), (15,)),
    ((3,), (4,)),
    ((4,), (16,)),
    ((4,), (3,)),
    ((16,), (6, 6)),
    ((16,), (3,)),
    ((17, 6), (18, 5)),
    ((19,), (2,)),
    ((19,), (1, 3)),
    ((1, 4), (19,)),
    ((19, 1), (20,)),
    ((20,), (19, 1)),
]


def pollu(t, y, p):
    slopes = [0 * value for value in y]
    for constant, (educts, products) in zip(p, POLLU_REACTIONS):
        rate = constant
        for species in educts:
            rate = rate * y[species - 1]
        for species in educts:
            slopes[species - 1] = slopes[species - 1] - rate
        for species in products:
            slopes[species - 1] = slopes[species - 1] + rate
    return slopes


@dataclass
class Problem:
    """A problem, the times of its references, and what the literature gives."""

    rhs: callable
    y0: list
    params: list
    times: list
    stiff: bool = False
    #: {time: (source, values)}; values as printed, to be compared, never to be used.
    literature: dict = field(default_factory=dict)


MAZZIA = "Mazzia & Magherini, Test Set for IVP Solvers"

PROBLEMS = {
    "pleiades": Problem(
        pleiades,
        [3, 3, -1, -3, 2, -2, 2, 3, -3, 2, 0, 0, -4, 4]
        + [0, 0, 0, 0, 0, 1.75, -1.5, 0, 0, 0, -1.25, 1, 0, 0],
        [],
        [1.0, 3.0],
        literature={
            3.0: (
                MAZZIA,
                [
                    0.3706139143970502, 3.237284092057233, -3.222559032418324,
                    0.6597091455775310, 0.3425581707156584, 1.562172101400631,
                    -0.7003092922212495, -3.943437585517392, -3.271380973972550,
                    5.225081843456543, -2.590612434977470, 1.198213693392275,
                    -0.2429682344935824, 1.091449240428980, 3.417003806314313,
                    1.354584501625501, -2.590065597810775, 2.025053734714242,
                    -1.155815100160448, -0.8072988170223021, 0.5952396354208710,
                    -3.741244961234010, 0.3773459685750630, 0.9386858869551073,
                    0.3667922227200571, -0.3474046353808490, 2.344915448180937,
                    -1.947020434263292,
                ],
            )
        },
    ),
    "lorenz": Problem(lorenz, [1, 0, 0], [10, 28, 8 / 3], [1.0, 5.0]),
    "lotka_volterra": Problem(lotka_volterra, [1, 1], [1.5, 1, 3, 1], [10.0]),
    "arenstorf": Problem(
        arenstorf,
        [0.994, 0, 0, -2.00158510637908252240537862224],
        [0.012277471],
        [5.0, 17.0652165601579625588917206249],
    ),
    "van_der_pol": Problem(van_der_pol, [2, 0], [5], [20.0]),
    "van_der_pol_stiff": Problem(
        van_der_pol,
        [2, 0],
        [1000],
        [2000.0],
        stiff=True,
        # Printed for the time t / mu and the second component mu v.
        literature={2000.0: (MAZZIA, [0.1706167732170483e1, -0.8928097010247975e-3])},
    ),
    "van_der_pol_ring": Problem(
        van_der_pol_ring,
        [value for i in range(8) for value in (2 - 0.5 * i / 8, 0)],
        [100, 10],
        [1.0],
    ),
    "brusselator": Problem(brusselator, [1.5, 3], [1, 3], [20.0]),
    "brusselator_1d": Problem(
        brusselator_1d,
        [value for i in range(32) for value in (1 + sin(2 * pi * ((i + 1) / 33)), 3)],
        [1, 3, 0.02],
        [10.0],
    ),
    "robertson": Problem(
        robertson,
        [1, 0, 0],
        [0.04, 1e4, 3e7],
        [40.0, 1e11],
        stiff=True,
        literature={
            1e11: (
                MAZZIA,
                [0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050],
            )
        },
    ),
    "hires": Problem(
        hires,
        [1, 0, 0, 0, 0, 0, 0, 0.0057],
        [1.71, 0.43, 8.32, 0.69, 0.035, 8.32, 280, 0.69, 0.69, 0.0007],
        [321.8122],
        stiff=True,
        literature={
            321.8122: (
                MAZZIA,
                [
                    0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4,
                    0.1175651343283149e-2, 0.2386356198831331e-2, 0.6238968252742796e-2,
                    0.2849998395185769e-2, 0.2850001604814231e-2,
                ],
            )
        },
    ),
    "oregonator": Problem(
        oregonator,
        [1, 2, 3],
        [77.27, 0.161, 8.375e-6],
        [360.0],
        stiff=True,
        literature={
            360.0: (MAZZIA, [0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3])
        },
    ),
    "e5": Problem(
        e5,
        [1.76e-3, 0, 0, 0],
        [7.89e-10, 1.1e7, 1.13e3, 1e6],
        [1e3, 1e9, 1e13],
        stiff=True,
        literature={
            1e13: (MAZZIA, [0.1152903278711829e-290, 0.8867655517642120e-22, 0.8854814626268838e-22, 0.0])
        },
    ),
    "pollu": Problem(
        pollu,
        [0, 0.2, 0, 0.04, 0, 0, 0.1, 0.3, 0.01, 0, 0, 0, 0, 0, 0, 0, 0.007, 0, 0, 0],
        [
            0.35, 26.6, 1.23e4, 8.6e-4, 8.2e-4, 1.5e4, 1.3e-4, 2.4e4, 1.65e4, 9e3, 0.022, 1.2e4,
            1.88, 1.63e4, 4.8e6, 3.5e-4, 0.0175, 1e8, 4.44e11, 1.24e3, 2.1, 5.78, 0.0474, 1.78e3,
            3.12,
        ],
        [60.0],
        stiff=True,
        literature={
            60.0: (
                MAZZIA,
                [
                    0.5646255480022769e-1, 0.1342484130422339, 0.4139734331099427e-8,
                    0.5523140207484359e-2, 0.2018977262302196e-6, 0.1464541863493966e-6,
                    0.7784249118997964e-1, 0.3245075353396018, 0.7494013383880406e-2,
                    0.1622293157301561e-7, 0.1135863833257075e-7, 0.2230505975721359e-2,
                    0.2087162882798630e-3, 0.1396921016840158e-4, 0.8964884856898295e-2,
                    0.4352846369330103e-17, 0.6899219696263405e-2, 0.1007803037365946e-3,
                    0.1772146513969984e-5, 0.5682943292316392e-4,
                ],
            )
        },
    ),
}
