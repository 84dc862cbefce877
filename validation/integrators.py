"""Four integrators in multiprecision arithmetic, unlike each other, for reference solutions.

``taylor``   power series of the solution, by recursion on the right-hand side (not stiff);
``gragg``    extrapolation of Gragg's modified midpoint rule (not stiff);
``radau``    Radau IIA collocation of high order, full Newton iteration (stiff);
``seulex``   extrapolation of the linearly implicit Euler method (stiff).

All take ``(rhs, y0, params, times, digits)`` and give the states at the times, which are hit
exactly. ``digits`` sets the local tolerance 10**-digits, relative to each component, and the
working precision well beyond. Numbers are ``arb`` balls of python-flint whose radii are dropped
(``mid``): the accuracy is judged by comparing integrators, not by enclosures.

Sources: Hairer, Norsett & Wanner, Solving ODEs I, secs. I.8, II.9; Hairer & Wanner, Solving ODEs
II, secs. IV.5, IV.8, IV.9.
"""

import mpmath
from flint import arb, arb_mat, arb_series, ctx


#: Components smaller than this, relative to the largest, are not controlled.
NEGLIGIBLE = 1e-30


def number(x):
    """The double ``x`` as a multiprecision number, exactly."""
    return arb(float(x))


def middles(values):
    return [arb(v).mid() for v in values]


def magnitude(x):
    return float(abs(x.mid()))


def _prepare(y0, params, digits, guard):
    ctx.prec = int((digits + guard) * 3.33)
    return [number(v) for v in y0], [number(v) for v in params]


def _relative(errors, *states):
    """Largest error relative to its component, or to the negligible part of the largest one."""
    floor = NEGLIGIBLE * max(max(magnitude(v) for v in state) for state in states)
    worst = 0.0
    for i, error in enumerate(errors):
        scale = max(max(magnitude(state[i]) for state in states), floor)
        worst = max(worst, magnitude(error) / scale)
    return worst


def _march(step, y, times, h, reject=True):
    """Steps to each of the times. ``step(t, y, h)`` gives the new state (or None when the step
    must be shorter) and the factor to the next step size."""
    t, results, count = arb(0), [], 0
    for end in map(number, times):
        while t < end:
            last = bool(t + h >= end)
            taken = (end - t).mid() if last else h
            new, factor = step(t, y, taken)
            factor = min(max(factor, 0.1), 5.0)
            if new is None:
                h = (taken * min(factor, 0.7)).mid()
                continue
            y, count = middles(new), count + 1
            t = end if last else (t + taken).mid()
            if not last or factor < 1.0:
                h = (taken * factor).mid()
        results.append(list(y))
    return results, count


def taylor(rhs, y0, params, times, digits, order=30):
    """Power series up to ``order``; the last two terms set the step."""
    y, p = _prepare(y0, params, digits, 15)
    tolerance = 10.0**-digits

    def step(t, y, h):
        series = [arb_series([v]) for v in y]
        for k in range(1, order + 1):
            ctx.cap = k
            slopes = rhs(None, series, p)
            ctx.cap = k + 1
            series = [
                arb_series([v]) + (s if isinstance(s, arb_series) else arb_series([s])).integral()
                for v, s in zip(y, slopes)
            ]
        factor = 5.0
        for k in (order - 1, order):
            size = _relative([s[k] for s in series], y)
            if size > 0:
                factor = min(factor, float((arb(tolerance) / size) ** (arb(1) / k) / h))
        if factor < 0.999:
            # Not a failed attempt: the same series serves any shorter step.
            h, factor = (h * factor * 0.9).mid(), 0.9
        new = []
        for s in series:
            value = arb(0)
            for k in reversed(range(order + 1)):
                value = (value * h + s[k]).mid()
            new.append(value)
        return (new, factor, h)

    t, results, count, h = arb(0), [], 0, number(times[0]) / 1000
    for end in map(number, times):
        while t < end:
            h = min(h, end - t, key=magnitude)
            y, factor, taken = step(t, y, h)
            t, count = (t + taken).mid(), count + 1
            if magnitude(end - t) <= magnitude(end) * 2.0 ** (10 - ctx.prec):
                t = end
            h = taken * min(max(factor * 0.9, 0.2), 3.0)
        results.append(list(y))
    return results, count


def _extrapolate(table, sequence, power):
    """Aitken and Neville on the newest row; gives the last two diagonal entries."""
    k = len(sequence) - 1
    row = [table[k][0]]
    for j in range(1, k + 1):
        ratio = (arb(sequence[k]) / sequence[k - j]) ** power - 1
        row.append([(a + (a - b) / ratio).mid() for a, b in zip(row[j - 1], table[k - 1][j - 1])])
    table[k] = row
    return row


def gragg(rhs, y0, params, times, digits, columns=14):
    """Modified midpoint rule with 2, 4, 6, ... substeps, extrapolated in h^2."""
    y, p = _prepare(y0, params, digits, 25)
    tolerance = 10.0**-digits

    def midpoint(y, h, n):
        h = h / n
        before, now = y, [a + h * f for a, f in zip(y, rhs(None, y, p))]
        for _ in range(n - 1):
            twice = 2 * h
            slopes = rhs(None, now, p)
            before, now = now, [(a + twice * f).mid() for a, f in zip(before, slopes)]
        slopes = rhs(None, now, p)
        return [((a + b + h * f) / 2).mid() for a, b, f in zip(now, before, slopes)]

    def step(t, y, h):
        table, sequence = [], []
        for k in range(columns):
            sequence.append(2 * (k + 1))
            table.append([midpoint(y, h, sequence[-1])])
            row = _extrapolate(table, sequence, 2)
        error = _relative([a - b for a, b in zip(row[-1], row[-2])], y, row[-1])
        factor = 0.8 * (tolerance / max(error, 1e-300)) ** (1.0 / (2 * columns - 1))
        return (row[-1] if error <= tolerance else None), factor

    return _march(step, y, times, number(times[0]) / 1000)


def _jacobian(rhs, y, p):
    """Forward differences with increments near the root of the working precision."""
    n, base = len(y), rhs(None, y, p)
    largest = max(magnitude(v) for v in y)
    columns = []
    for j in range(n):
        delta = arb(2) ** (-ctx.prec // 2) * max(magnitude(y[j]), 1e-6 * largest)
        shifted = list(y)
        shifted[j] = y[j] + delta
        columns.append([((a - b) / delta).mid() for a, b in zip(rhs(None, shifted, p), base)])
    return base, [[columns[j][i] for j in range(n)] for i in range(n)]


def _radau_coefficients(s):
    """Nodes and matrix of the s-stage Radau IIA method, from the roots of
    d^(s-1)/dx^(s-1) [x^(s-1) (x-1)^s] and the collocation conditions."""
    with mpmath.workdps(120):
        poly = [mpmath.mpf(0)] * (2 * s)
        for i in range(s + 1):
            poly[s - 1 + i] = mpmath.binomial(s, i) * (-1) ** (s - i)
        for _ in range(s - 1):
            poly = [k * poly[k] for k in range(1, len(poly))]
        roots = mpmath.polyroots(poly[::-1], maxsteps=2000, extraprec=2000)
        nodes = sorted(mpmath.re(r) for r in roots)
        powers = mpmath.matrix(s, s)
        integrals = mpmath.matrix(s, s)
        for i, c in enumerate(nodes):
            for k in range(s):
                powers[i, k] = c**k
                integrals[i, k] = c ** (k + 1) / (k + 1)
        matrix = integrals * powers**-1
        text = lambda x: mpmath.nstr(x, 100)
        return [arb(text(c)) for c in nodes], [
            [arb(text(matrix[i, j])) for j in range(s)] for i in range(s)
        ]


def radau(rhs, y0, params, times, digits, stages=11):
    """Radau IIA of order 2s - 1. The step is set by the highest coefficient of the stage
    polynomial, which overestimates the local error by far where the solution is smooth."""
    y, p = _prepare(y0, params, digits, 30)
    ctx.prec = max(ctx.prec, 200)
    tolerance = 10.0**-digits
    nodes, a = _radau_coefficients(stages)
    n, s = len(y), stages
    # Highest divided difference over the points 0, c_1 ... c_s of the stage increments.
    points = [arb(0), *nodes]
    weights = []
    for i, c in enumerate(points):
        product = arb(1)
        for j, other in enumerate(points):
            if i != j:
                product = product * (c - other)
        weights.append((1 / product).mid())
    scale = 1 / max(magnitude(w) for w in weights)
    memory = {"z": None, "h": None}

    def guess(h):
        """The last stage polynomial, continued."""
        z, last = memory["z"], memory["h"]
        if z is None:
            return [[arb(0)] * n for _ in range(s)]
        ratio = h / last
        result = []
        for c in nodes:
            x = 1 + ratio * c
            basis = []
            for i, point in enumerate(points):
                value = weights[i]
                for j, other in enumerate(points):
                    if i != j:
                        value = value * (x - other)
                basis.append(value)
            row = []
            for k in range(n):
                value = sum((basis[i + 1] * z[i][k] for i in range(s)), arb(0))
                row.append((value - z[-1][k]).mid())
            result.append(row)
        return result

    def step(t, y, h):
        z = guess(h)
        previous = None
        for iteration in range(25):
            slopes, jacobians = [], []
            for i in range(s):
                f, jacobian = _jacobian(rhs, [u + v for u, v in zip(y, z[i])], p)
                slopes.append(f)
                jacobians.append(jacobian)
            entries, right = [], []
            for i in range(s):
                for k in range(n):
                    residual = sum((a[i][j] * slopes[j][k] for j in range(s)), arb(0)) * h - z[i][k]
                    right.append(residual.mid())
                    for j in range(s):
                        ha = (-h * a[i][j]).mid()
                        row = jacobians[j][k]
                        for m in range(n):
                            entry = (ha * row[m]).mid()
                            entries.append(entry + 1 if i == j and k == m else entry)
            try:
                delta = arb_mat(n * s, n * s, entries).solve(
                    arb_mat(n * s, 1, right), algorithm="approx"
                )
            except ZeroDivisionError:
                return None, 0.3
            delta = [delta[i, 0].mid() for i in range(n * s)]
            z = [[(z[i][k] + delta[i * n + k]).mid() for k in range(n)] for i in range(s)]
            sizes = [
                max(max(magnitude(y[k] + z[i][k]) for i in range(s)), magnitude(y[k]))
                for k in range(n)
            ]
            floor = NEGLIGIBLE * max(sizes)
            sizes = [max(size, floor) for size in sizes]
            change = max(magnitude(delta[i * n + k]) / sizes[k] for i in range(s) for k in range(n))
            if not change < 1e30:
                return None, 0.3
            if change < tolerance * 1e-6:
                break
            if iteration > 6 and previous is not None and change > 0.5 * previous:
                return None, 0.5
            previous = change
        else:
            return None, 0.5
        highest = [
            sum((weights[i + 1] * z[i][k] for i in range(s)), arb(0)) * scale for k in range(n)
        ]
        error = max(magnitude(v) / size for v, size in zip(highest, sizes))
        factor = 0.8 * (tolerance / max(error, 1e-300)) ** (1.0 / s)
        if error > tolerance:
            return None, factor
        memory["z"], memory["h"] = z, h
        return [u + v for u, v in zip(y, z[-1])], factor

    return _march(step, y, times, number(1e-8 * min(1.0, times[0])))


def seulex(rhs, y0, params, times, digits, columns=18):
    """Linearly implicit Euler method with 1, 2, 3, ... substeps, extrapolated in h."""
    y, p = _prepare(y0, params, digits, 40)
    tolerance = 10.0**-digits
    n = len(y)

    def euler(y, h, count, jacobian):
        h = h / count
        matrix = arb_mat(
            n, n, [((1 if i == j else 0) - h * jacobian[i][j]).mid() for i in range(n) for j in range(n)]
        ).inv().mid()
        for _ in range(count):
            slopes = arb_mat(n, 1, [(h * f).mid() for f in rhs(None, y, p)])
            change = matrix * slopes
            y = [(y[i] + change[i, 0]).mid() for i in range(n)]
        return y

    def step(t, y, h):
        _, jacobian = _jacobian(rhs, y, p)
        table, sequence = [], []
        for k in range(columns):
            sequence.append(k + 1)
            table.append([euler(y, h, sequence[-1], jacobian)])
            row = _extrapolate(table, sequence, 1)
        error = _relative([a - b for a, b in zip(row[-1], row[-2])], y, row[-1])
        if not error < 1e30:
            return None, 0.1
        factor = 0.8 * (tolerance / max(error, 1e-300)) ** (1.0 / columns)
        return (row[-1] if error <= tolerance else None), factor

    return _march(step, y, times, number(1e-8 * min(1.0, times[0])))
