"""What `python_speed.py` and `gpu_peers.py` share: the systems, runs by Odeum and diffrax, times, errors."""

import time

import numpy as np

import odeum as od

RTOL, ATOL = 1e-6, 1e-9


def lorenz(t, y, sigma, rho, beta):
    return [sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]]


def robertson(t, y, k1, k2, k3):
    slow, fast, back = k1 * y[0], k2 * y[1] * y[1], k3 * y[1] * y[2]
    return [back - slow, slow - back - fast, fast]


class Problem:
    """A right-hand side, a span, initial states [M, n] and parameters [M, m], what solves it."""

    def __init__(self, name, f, end, y0, params, stiff):
        self.name, self.f, self.end, self.y0, self.params, self.stiff = name, f, end, y0, params, stiff
        self.odeum, self.diffrax = ("rodas4", "Kvaerno5") if stiff else ("tsit5", "Tsit5")

    def first(self, count):
        """The same of the first systems."""
        return Problem(self.name, self.f, self.end, self.y0[:count], self.params[:count], self.stiff)


def problems(systems):
    draw = np.random.default_rng(1)
    y0 = np.array([1.0, 1.0, 20.0]) + draw.normal(size=(systems, 3))
    params = np.array([10.0, 28.0, 8 / 3]) * (1 + 0.05 * draw.normal(size=(systems, 3)))
    # Short enough that errors of the tolerance's size do not grow by the chaos.
    yield Problem("Lorenz, t = 0 to 2", lorenz, 2.0, y0, params, stiff=False)
    y0 = np.tile([1.0, 0.0, 0.0], (systems, 1))
    params = np.array([0.04, 3e7, 1e4]) * (1 + 0.05 * draw.normal(size=(systems, 3)))
    yield Problem("Robertson, t = 0 to 1e5", robertson, 1e5, y0, params, stiff=True)


def timed(call, runs=2):
    """The shortest of several runs, what was prepared before not counted."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - began)
    return min(times), result


def odeum_run(problem, method=None, rtol=RTOL, atol=ATOL, **options):
    """A call that integrates all systems and gives their last states [M, n]."""
    args = tuple(problem.params.T)

    def run():
        result = od.solve_ivp(
            problem.f,
            (0.0, problem.end),
            problem.y0,
            args=args,
            method=method or problem.odeum,
            rtol=rtol,
            atol=atol,
            **options,
        )
        assert result.success.all(), result.solution.summary()
        return result.y[:, :, -1]

    return run


def diffrax_run(problem):
    """The same by one `vmap`, on the device that JAX takes; a system that fails raises."""
    import diffrax
    import jax

    jax.config.update("jax_enable_x64", True)

    def f(t, y, p):
        return jax.numpy.stack(problem.f(t, y, p[0], p[1], p[2]))

    def one(y0, p):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(f),
            getattr(diffrax, problem.diffrax)(),
            0.0,
            problem.end,
            1e-6,
            y0,
            args=p,
            stepsize_controller=diffrax.PIDController(rtol=RTOL, atol=ATOL),
            max_steps=100_000,
            saveat=diffrax.SaveAt(t1=True),
        ).ys[0]

    compiled = jax.jit(jax.vmap(one))
    return lambda: np.asarray(compiled(problem.y0, problem.params))


def reference(problem):
    """Last states at a tolerance of 1e-13, on the CPU."""
    return odeum_run(problem, "rodas5p" if problem.stiff else "vern7", 1e-13, 1e-17)()


def error(ends, wanted):
    """The 95th percentile over the systems of the largest relative error of a component."""
    # Traces count by what they are of the whole.
    errors = np.max(np.abs(ends - wanted) / (np.abs(wanted) + 1e-6 * np.max(np.abs(wanted))), axis=1)
    return np.percentile(errors, 95)
