"""`solve_ivp`, and systems from functions, beside SciPy."""

import builtins
import dataclasses
import functools
import inspect
import re
import sys
import time
import timeit
import types

import numpy as np
import pytest
from scipy import integrate

import odeum as od
import odeum._trace


def van_der_pol(t, y, mu):
    x, v = y
    return [v, mu * (1 - x**2) * v - x]


def test_one_system_has_the_shapes_of_scipy():
    times = np.linspace(0, 5, 6)
    theirs = integrate.solve_ivp(
        van_der_pol, (0, 5), [2.0, 0.0], "DOP853", times, args=(3.0,), rtol=1e-11, atol=1e-12
    )
    ours = od.solve_ivp(van_der_pol, (0, 5), [2.0, 0.0], "RK45", times, args=(3.0,), rtol=1e-9, atol=1e-11)
    assert ours.y.shape == theirs.y.shape and ours.success is True and ours.status == 0
    assert ours.message == "success" and isinstance(ours.nfev, int) and ours.nfev > 0
    np.testing.assert_array_equal(ours.t, theirs.t)
    assert not np.shares_memory(ours.t, times)
    np.testing.assert_allclose(ours.y, theirs.y, atol=1e-7)
    ends = od.solve_ivp(van_der_pol, (0, 5), [2.0, 0.0], args=(3.0,), rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(ends.t, [0.0, 5.0])
    np.testing.assert_array_equal(ends.y[:, 0], [2.0, 0.0])
    np.testing.assert_allclose(ends.y[:, -1], theirs.y[:, -1], atol=1e-7)
    none = od.solve_ivp(lambda t, y: -y, (0, 1), [1.0], args=None, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(none.y[0, -1], np.exp(-1.0), atol=1e-8)


def test_objects_that_can_be_called_are_functions():
    @dataclasses.dataclass
    class Unhashable:
        k: float

        def __call__(self, t, y):
            return -self.k * y

    class Slotted:
        __slots__ = ("k",)

        def __call__(self, t, y):
            return -self.k * y

    for fun in (Unhashable(2.0), Slotted()):
        for fun.k in (2.0, 3.0):
            end = od.solve_ivp(fun, (0, 1), [1.0], rtol=1e-9, atol=1e-12).y[0, -1]
            assert end == pytest.approx(np.exp(-fun.k), rel=1e-8)


def test_batches_broadcast():
    y0 = np.random.default_rng(0).normal(size=(3, 1, 2))
    mu = np.array([0.5, 1.0, 2.0, 4.0])
    result = od.solve_ivp(van_der_pol, (0, 2), y0, args=(mu,), t_eval=[1.0, 2.0], rtol=1e-9, atol=1e-11)
    assert result.y.shape == (3, 4, 2, 2) and result.success.shape == (3, 4) and result.nfev.shape == (3, 4)
    one = integrate.solve_ivp(van_der_pol, (0, 2), y0[1, 0], args=(mu[2],), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(result.y[1, 2, :, -1], one.y[:, -1], atol=1e-8)


def test_a_batch_is_paired_by_place_only_where_labels_agree():
    pandas = pytest.importorskip("pandas")
    y0 = pandas.DataFrame({"x": [1.0, 2.0]}, ["a", "b"])
    rates = pandas.Series([3.0, 4.0], ["b", "a"])

    def decay(t, y, k):
        return -k * y

    with pytest.raises(od.InputError, match=r"args\[0\]: found other labels than those of y0"):
        od.solve_ivp(decay, (0, 1), y0, args=(rates,))
    for good in (rates.loc[y0.index], rates.values[::-1], rates[:1]):
        assert od.solve_ivp(decay, (0, 1), y0, args=(good,)).success.all()


def test_grids_of_initial_states_and_parameters_have_the_same_dimensions():
    """Along more axes than one labels counted for nothing."""
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    system = od.System.from_text({"x": "-k * x"}, states={"x": 1.0}, parameters={"k": 1.0})
    y0 = xarray.DataArray(np.ones((2, 2, 1)), dims=("p", "q", "c"))
    k = xarray.DataArray([[0.0, 1.0], [2.0, 3.0]], dims=("q", "p"))
    for bad in (k, k[0]):
        with pytest.raises(od.InputError, match=r"args\[0\]: found the dimension 'p', beside 'q' of y0"):
            od.solve_ivp(system, (0, 1), y0, args=(bad,))
    table = pandas.DataFrame([[0.0, 1.0], [2.0, 3.0]], columns=["u", "v"])
    with pytest.raises(od.InputError, match=r"args\[1\]: found other labels than those of args\[0\]"):
        od.solve_ivp(lambda t, y, k, j: -k * j * y, (0, 1), [1.0], args=(table, table[["v", "u"]]))
    y = od.solve_ivp(system, (0, 1), y0, args=(k.T,), rtol=1e-8).y[..., 0, -1]
    np.testing.assert_allclose(y, np.exp(-k.values.T), rtol=1e-5)


def test_names_say_which_state_is_which():
    """They were ignored: a table with its columns in another order was other states, with success."""
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    system = od.System.from_text({"a": "-a", "b": "-2 * b"}, states={"a": 1.0, "b": 1.0})

    def end(y0, **options):
        return od.solve_ivp(system, (0, 1), y0, **options).y[..., -1]

    rows = [[1.0, 10.0], [2.0, 20.0]]
    table = pandas.DataFrame(rows, columns=["a", "b"])
    for given in (table[["b", "a"]], xarray.DataArray(table[["b", "a"]], dims=("run", "c")), table):
        np.testing.assert_array_equal(end(given), end(rows))
    one = pandas.Series({"b": 10.0, "a": 1.0})
    np.testing.assert_array_equal(end(one), end(rows[0]))
    atol = pandas.Series({"b": 1e-9, "a": 1e-3})
    np.testing.assert_array_equal(end(one, atol=atol), end(rows[0], atol=[1e-3, 1e-9]))
    session = (system * 2).session()
    session.states = table[["b", "a"]].T
    np.testing.assert_array_equal(session.states, np.transpose(rows))
    for bad, words in (
        (table.T, "states along another axis than the last"),
        (table.rename(columns={"a": "c"}), "the label 'c', which is none of the states"),
    ):
        with pytest.raises(od.InputError, match=f"y0: found {words}"):
            end(bad)
    with pytest.raises(od.InputError, match="states: found states along another axis than the first"):
        session.states = table


def test_stiff_methods_and_tolerances_by_component():
    def robertson(t, y):
        slow, fast, back = 0.04 * y[0], 3e7 * y[1] ** 2, 1e4 * y[1] * y[2]
        return [back - slow, slow - back - fast, fast]

    theirs = integrate.solve_ivp(robertson, (0, 1e5), [1.0, 0, 0], "Radau", rtol=1e-10, atol=1e-14)
    ours = od.solve_ivp(robertson, (0, 1e5), [1.0, 0, 0], "Radau", rtol=1e-8, atol=[1e-8, 1e-12, 1e-8])
    np.testing.assert_allclose(ours.y[:, -1], theirs.y[:, -1], rtol=1e-5)
    assert ours.njev > 0 and ours.nlu > 0


def test_a_failure_is_no_exception_and_no_number():
    result = od.solve_ivp(lambda t, y: y**2, (0, 2), [[0.1], [1.0]], rtol=1e-6)
    assert result.success.tolist() == [True, False] and result.status.tolist() == [0, -1]
    assert np.isnan(result.y[1, 0, -1]) and result.y[0, 0, -1] == pytest.approx(0.125, rel=1e-4)
    # The solution has the last good state.
    assert np.isfinite(result.solution.states).all() and result.solution.states[0, 1] > 1.0


def test_failed_systems_are_tried_again_from_their_own_start():
    y0, mu = [[2.0, 0.0], [0.5, 0.1], [-1.0, 0.3]], [1.0, 800.0, 900.0]
    result = od.solve_ivp(van_der_pol, (0, 5), y0, args=(mu,), max_steps=200)
    assert result.success.tolist() == [True, False, False]
    again = result.solution.retry(method="radau", max_steps=100_000)
    wanted = od.solve_ivp(van_der_pol, (0, 5), y0[1:], "Radau", args=(mu[1:],), max_steps=100_000)
    assert again.success.all()
    np.testing.assert_array_equal(again.y[1:], wanted.y[:, :, -1])
    shared = od.solve_ivp(van_der_pol, (0, 5), y0[1:], args=(800.0,), max_steps=200).solution
    assert shared.failed.all()
    np.testing.assert_array_equal(shared.retry(method="radau", max_steps=100_000).y[0], wanted.y[0, :, -1])


def test_a_retry_of_single_precision_begins_with_all_digits():
    y0, mu = np.array([[0.1, 0.7], [0.3, 0.1]]), np.array([1.0, 800.1])
    options = dict(rtol=1e-4, max_steps=200, precision="f32")
    solution = od.solve_ivp(van_der_pol, (0, 5), y0, args=(mu,), **options).solution
    start = y0[1].copy()
    y0[:] = mu[:] = 0.0
    assert solution.failed.tolist() == [False, True] and solution.states.dtype == np.float32
    again = solution.retry(method="radau", rtol=1e-8, atol=1e-10, precision="f64", max_steps=100_000)
    wanted = od.solve_ivp(
        van_der_pol, (0, 5), start, "Radau", args=(800.1,), rtol=1e-8, atol=1e-10, max_steps=100_000
    )
    np.testing.assert_allclose(again.y[1], wanted.y[:, -1], rtol=1e-7)


def test_memory_goes_to_later_results_only_when_nobody_looks_at_it():
    y0 = np.random.default_rng(3).normal(size=(20_000, 2))

    def solved(mu):
        return od.solve_ivp(van_der_pol, (0, 0.1), y0, args=(mu,))

    kept = solved(1.0)
    states, starts, counts = kept.y.copy(), y0.copy(), kept.nfev.copy()
    # The view alone holds its memory.
    part = solved(2.0).y[:, 1, -1]
    values = part.copy()
    addresses = {solved(mu).y.__array_interface__["data"][0] for mu in np.linspace(3.0, 4.0, 8)}
    assert len(addresses) < 8, "memory of results that have gone is used again"
    np.testing.assert_array_equal(kept.y, states)
    np.testing.assert_array_equal(kept.nfev, counts)
    np.testing.assert_array_equal(part, values)
    np.testing.assert_array_equal(y0, starts)
    # What is changed in the caller's arrays afterwards changes nothing.
    y0[:] = 0.0
    np.testing.assert_array_equal(kept.y[:, :, 0], starts)


def test_what_a_function_reads_beside_its_arguments_is_read_in_every_call():
    rate = {"k": 1.0}

    def decay(t, y):
        return -rate["k"] * y

    first = od.solve_ivp(decay, (0, 1), [1.0], rtol=1e-8, atol=1e-10).y[0, -1]
    rate["k"] = 2.0
    second = od.solve_ivp(decay, (0, 1), [1.0], rtol=1e-8, atol=1e-10).y[0, -1]
    np.testing.assert_allclose([first, second], np.exp([-1.0, -2.0]), rtol=1e-6)


def test_what_may_change_between_calls_is_read_in_every_call(tmp_path, monkeypatch):
    """Through NumPy, builtins and modules too: whatever is not known to be pure is looked at again."""
    table, number = tmp_path / "table.txt", tmp_path / "k.txt"
    module = types.ModuleType("module")
    monkeypatch.setitem(sys.modules, "module_of_a_rate", module)
    outside = {"np": np, "module": module, "functools": functools, "table": str(table)}
    texts = {
        "a file of NumPy": f"return -np.loadtxt({str(table)!r}) * y",
        "a file": f"return -float(open({str(number)!r}).read()) * y",
        "eval": "return eval('-K * y')",
        "globals": "return -globals()['K'] * y",
        "vars": "return -vars(module)['k'] * y",
        "a global": "return -K * y",
        "a module": "return -module.k * y",
        "an import": "import module_of_a_rate as m\n return -m.k * y",
        "__import__": "return -__import__('module_of_a_rate').k * y",
        "an attribute of NumPy": "return -np.odeum_k * y",
        "NumPy by another name": "m = np\n return -m.odeum_k * y",
        "getattr": "return -getattr(np, 'odeum_k') * y",
        "an attribute of a function": "return -np.sum.odeum_k * y",
        "an attribute of itself": "return -f.k * y",
        "itself by another name": "g = f\n return -g.size * y",
        "a name in builtins": "return -odeum_k * y",
        "a way round": "return -abs.__self__.odeum_k * y",
        "a list": "return -LIST[0] * y",
        "a comprehension": "return sum([-K * y for _ in range(1)])",
        "a function of NumPy": "return -y * np.cosh(1.0)",
        "a function of Python": "return -y * abs(-1.0)",
        "the handling of errors": "return -y * np.geterrcall()",
    }

    def change(k):
        table.write_text(str(k))
        number.write_text(str(k))
        outside.update(K=k, LIST=[k])
        module.k = k
        for f in functions.values():
            f.k = f.size = k
        for holder in (np, builtins, np.sum):
            monkeypatch.setattr(holder, "odeum_k", k, raising=False)
        monkeypatch.setattr(np, "cosh", lambda x: k)
        monkeypatch.setattr(np, "geterrcall", lambda: k)
        outside["abs"] = lambda x: k

    functions = {}
    for name, body in texts.items():
        # Each has globals of its own, which follow those that change.
        exec(f"def f(t, y):\n {body}", own := dict(outside))
        functions[name] = own["f"]
    for k in (1.0, 3.0):
        change(k)
        for name, f in functions.items():
            if name != "a way round":  # which needs the own `abs`
                f.__globals__.update(outside)
            end = od.solve_ivp(f, (0, 1), [1.0], rtol=1e-8, atol=1e-10).y[0, -1]
            assert end == pytest.approx(np.exp(-k), rel=1e-6), (name, k)


def test_what_is_bound_to_a_function_is_read_in_every_call():
    def closed(k):
        return lambda t, y: -k[0] * y

    class Decay:
        k = 1.0

        def __call__(self, t, y):
            return -self.k * y

        def method(self, t, y):
            return -self.k * y

    def default(t, y, *, k=[1.0]):  # noqa: B006
        return -k[0] * y

    held, one = [1.0], Decay()
    part = functools.partial(lambda t, y, k: -k * y, k=1.0)
    for k in (1.0, 3.0):
        held[0] = one.k = default.__kwdefaults__["k"][0] = part.keywords["k"] = k
        for f in (closed(held), one, one.method, default, part):
            end = od.solve_ivp(f, (0, 1), [1.0], rtol=1e-8, atol=1e-10).y[0, -1]
            assert end == pytest.approx(np.exp(-k), rel=1e-6), f


def test_clocks_and_random_numbers_are_refused_in_every_call():
    def noisy(t, y):
        return -np.random.random() * y

    def clock(t, y):
        return -time.perf_counter() * y

    for f in (noisy, clock):
        for _ in range(2):
            with pytest.raises(od.InputError, match="follow from its arguments alone"):
                od.solve_ivp(f, (0, 1), [1.0])


def test_the_function_is_compared_at_times_of_the_span():
    hour = 100.0

    def valve(t, y, k):
        return [(2.0 if isinstance(t, float) and 20 * hour < t < 90 * hour else 1.0) - k * y[0]]

    alone = {}
    exec(
        "def valve(t, y, k):\n"
        "    is_open = isinstance(t, float) and sum(range(64)) < t < sum(range(134))\n"
        "    return [(2.0 if is_open else 1.0) - k * y[0]]",
        alone,
    )
    for f in (valve, alone["valve"]):
        # From about 2,000 to 9,000.
        for _ in range(2):
            assert od.solve_ivp(f, (0.0, 100.0), [1.0], args=(1.0,)).success
        for span in ((0.0, 8000.0), (8000.0, 0.0), (7000.0, 8000.0)):
            with pytest.raises(od.InputError, match="by f and .* by its equations at t = [2-8]"):
                od.solve_ivp(f, span, [1.0], args=(1.0,))
        assert od.solve_ivp(f, (0.0, 50.0), [1.0], args=(1.0,)).success


def test_the_function_is_compared_at_the_states_and_parameters_given():
    def hot(t, y, k):
        return [2 * y[0] if isinstance(y[0], float) and y[0] > sum(range(80)) else k * y[0]]

    def fast(t, y, k):
        return [2 * y[0] if isinstance(k, float) and k > sum(range(80)) else k * y[0]]

    for f, y0, k in ((hot, 4000.0, 1.0), (fast, 1.0, 4000.0)):
        with pytest.raises(od.InputError, match="by f and .* by its equations"):
            od.solve_ivp(f, (0.0, 1.0), [[y0], [1.0]], args=(k,))


def test_functions_of_state_and_time_are_refused():
    """As `scipy.integrate.odeint` takes them."""

    def decay(y, t, k):
        return -k * y

    for f in (decay, lambda state, t, k: -k * state, functools.partial(decay)):
        with pytest.raises(od.InputError, match=r"a function of \(.*, t, k\); write f\(t, y, p0\)"):
            od.solve_ivp(f, (0.0, 1.0), [1.0], args=(1.0,))
    # Parameters are told by their place.
    assert od.solve_ivp(lambda t, u, time: -time * u, (0.0, 1.0), [1.0], args=(1.0,)).success


def test_what_functions_are_given_in_another_shape_than_by_scipy_is_told():
    matrix = np.array([[0.0, 1.0], [-1.0, 0.0]])

    def turn(t, y, A):
        return A @ y

    batch = (
        r"f gets one number of args\[0\], of shape \(2, 2\), for one system of a batch: .*functools.partial"
    )
    with pytest.raises(od.InputError, match=batch) as caught:
        od.solve_ivp(turn, (0, 1), [1.0, 0.0], args=(matrix,))
    assert isinstance(caught.value.__cause__, ValueError)
    turned = od.solve_ivp(functools.partial(turn, A=matrix), (0, 1), [1.0, 0.0], rtol=1e-9, atol=1e-11).y
    np.testing.assert_allclose(turned[:, -1], [np.cos(1.0), -np.sin(1.0)], atol=1e-8)
    both = r"of args\[0\], of shape \(2,\) and args\[2\], of shape \(2,\), for"
    with pytest.raises(od.InputError, match=both):
        od.solve_ivp(lambda t, y, p, k, q: -p[0] * y, (0, 1), [1.0], args=([1.0, 2.0], 1.0, [1.0, 2.0]))
    with pytest.raises(od.InputError, match=r"`vectorized` means nothing: f gets y of shape \(2,\)$"):
        od.solve_ivp(lambda t, y: np.vstack([-y[0, :], -y[1, :]]), (0, 1), [1.0, 2.0], vectorized=True)
    # Of what is not of shapes nothing is said.
    with pytest.raises(od.InputError, match="random numbers") as caught:
        od.solve_ivp(lambda t, y, k: k * y * np.random.random(), (0, 1), [1.0], args=([1.0, 2.0],))
    assert "batch" not in str(caught.value)
    with pytest.raises(od.InputError, match="`@` is of arrays") as caught:
        od.solve_ivp(lambda t, y, k: k @ y, (0, 1), [1.0], args=(1.0,))
    assert "batch" not in str(caught.value)
    for f, found in [
        (lambda t, y, k: -unknown * y, "NameError"),  # noqa: F821
        (lambda t, y, k: -k * y if y[0] > 0 else y, "a branch on a symbol"),
        (lambda t, y, k: -k * y if y > 0 else y, "a branch on an array of symbols"),
        (lambda t, y: -y, "takes 2 positional arguments but 3 were given"),
    ]:
        with pytest.raises(od.InputError, match=found) as caught:
            od.solve_ivp(f, (0, 1), [1.0, 1.0], args=([1.0, 2.0],), vectorized=True)
        assert not re.search("batch|vectorized", caught.value.remedy)


def test_random_numbers_that_come_later_are_refused():
    """A function was compared with its equations in its first call alone."""
    size = [0.0]

    def noisy(t, y):
        return -y * (1.0 + size[0] * np.random.random())

    for size[0] in (0.0, 0.1, 0.0):
        if size[0] == 0.0:
            assert od.solve_ivp(noisy, (0, 1), [1.0], rtol=1e-8).y[0, -1] == pytest.approx(np.exp(-1.0))
        else:
            with pytest.raises(od.InputError, match="random"):
                od.solve_ivp(noisy, (0, 1), [1.0])


def test_a_function_that_reads_nothing_else_is_traced_once(monkeypatch):
    traced = []

    def trace(*args, _trace=odeum._trace.trace, **options):
        traced.append(args)
        return _trace(*args, **options)

    monkeypatch.setattr(odeum._trace, "trace", trace)
    outside = {"np": np, "k": 1.0}
    texts = {
        "alone": "def f(t, y): return -np.exp(-t) * abs(-1) * np.array([y[0], *y[1:]]).copy()",
        "reads": "def f(t, y): return -k * y",
        "default": "def f(t, y, *, c=[1.0]): return -c[0] * y",
        "inner": "def f(t, y): return (lambda: -k * y)()",
        "imports": "def f(t, y):\n    from fractions import Fraction\n    return -y * float(Fraction(1, 2))",
    }
    functions = {}
    for name, text in texts.items():
        exec(text, outside)
        functions[name] = outside.pop("f")

    def traces(name, y0=(1.0,)):
        before = len(traced)
        return od.solve_ivp(functions[name], (0, 1), list(y0)).y[0, -1], len(traced) - before

    first, count = traces("alone")
    assert count == 1 and traces("alone") == (first, 0)
    assert traces("alone", (1.0, 2.0))[1] == 1, "of another size"
    for name in ("reads", "default", "inner", "imports"):
        assert [traces(name)[1] for _ in range(2)] == [1, 1], name
    for name, change in [("reads", {"k": 2.0}), ("inner", {"k": 3.0})]:
        before = traces(name)[0]
        outside |= change
        assert traces(name)[0] != before
    outside["abs"] = lambda x: 2.0
    assert traces("alone")[0] != first, "a name that was a builtin's"
    del outside["abs"]
    functions["alone"].__code__ = functions["reads"].__code__
    assert traces("alone")[0] == traces("reads")[0]


def test_parameters_are_told_by_their_place():
    def swapped(t, y, p1, p0):
        return [p1 * y[0] - p0]

    ours = od.solve_ivp(swapped, (0, 1), [1.0], args=(-2.0, 3.0), rtol=1e-9, atol=1e-11).y
    theirs = integrate.solve_ivp(swapped, (0, 1), [1.0], args=(-2.0, 3.0), rtol=1e-11, atol=1e-12).y
    assert ours[0, -1] == pytest.approx(theirs[0, -1], rel=1e-7)


def test_systems_from_functions_text_and_sympy_agree():
    sympy = pytest.importorskip("sympy")
    states, parameters = {"x": 2.0, "v": 0.0}, {"mu": 1.0}
    text = od.System.from_text(
        {"x": "v", "v": "mu * (1 - x^2) * v - x"}, states=states, parameters=parameters
    )
    x, v, mu = sympy.symbols("x v mu")
    symbolic = od.System.from_sympy(
        {x: v, v: mu * (1 - x**2) * v - x}, states={x: 2.0, v: 0.0}, parameters={mu: 1.0}
    )
    function = od.System(van_der_pol, states=states, parameters=parameters)
    ends = [system.sweep(mu=[1.0, 3.0]).solve((0, 6)).y for system in (text, symbolic, function)]
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-6)
    np.testing.assert_array_equal(ends[2], ends[0])
    result = od.solve_ivp(
        function, (0, 6), [2.0, 0.0], args=([1.0, 3.0],), method="tsit5", rtol=1e-6, atol=1e-9
    )
    np.testing.assert_array_equal(result.y[:, :, -1], ends[2])


def test_what_scipy_may_be_told_of_jacobians_may_be_left_out_by_none():
    none = dict.fromkeys(("jac", "jac_sparsity", "lband", "uband"))
    assert od.solve_ivp(van_der_pol, (0, 1), [2.0, 0.0], args=(1.0,), **none).success


@pytest.mark.parametrize(
    ("arguments", "field", "remedy"),
    [
        ({"dense_output": True}, "dense_output", "t_eval"),
        ({"events": [lambda t, y: y[0]]}, "events", "until"),
        ({"method": "LSODA"}, "method", "rodas5p"),
        ({"y0": [[np.nan, 0.0]]}, r"y0", "finite"),
        ({"y0": 1.0}, "y0", "states"),
        ({"y0": ["a", "b"]}, "y0", "real"),
        ({"args": 1.0}, "args", "tuple"),
        ({"args": np.array(1.0)}, "args", "tuple"),
        ({"args": ([1.0, 2.0],), "y0": np.ones((3, 2))}, "args", "broadcast"),
        ({"args": ()}, "f|fun|args", ""),
        ({"atol": [1e-6] * 3}, "atol", "2"),
        ({"t_eval": [2.0, 1.0]}, "save|t_eval", "direction"),
        ({"fun": "x"}, "fun", "function"),
        ({"fun": lambda t, y, mu: [y[0]]}, "f", "2"),
        ({"fun": lambda t, y, mu: [1.0 if y[0] > 0 else 2.0, 0.0]}, "f", "numpy.where"),
        ({"fun": od.System.from_text({"x": "-x"}, states={"x": 1.0})}, "y0", "1 states"),
        ({"t_span": (0.0,)}, "span", "start and end"),
        ({"rtol": 0}, "rtol", ""),
        ({"until": {"y0": {"falls_to": 0.0}}}, "until", "System"),
        ({"jac": lambda t, y, mu: [[0.0]]}, "jac", "follow from the equations"),
        ({"jac_sparsity": np.eye(2)}, "jac_sparsity", "follow from the equations"),
        ({"callback": print}, "callback", "there are atol"),
        ({"max_step": 1.0, "largest_step": 0.1}, "largest_step: .*`max_step` says it", "once"),
        ({"t_eval": [0.5], "save": [0.25]}, "save: .*`t_eval` says it", "once"),
        ({"min_step": 0.1}, "min_step", "leave it out"),
        ({"max_step": np.nan}, "^max_step", "finite"),
    ],
)
def test_bad_arguments(arguments, field, remedy):
    usual = {"fun": van_der_pol, "t_span": (0.0, 1.0), "y0": [2.0, 0.0], "args": (1.0,)}
    with pytest.raises(od.InputError) as caught:
        od.solve_ivp(**(usual | arguments))
    assert re.search(field, f"{caught.value.field} {caught.value}") and remedy in str(caught.value), str(
        caught.value
    )


@pytest.mark.parametrize(
    ("arguments", "field", "found"),
    [
        ({"t_eval": [0.5, 0.2]}, "t_eval[1]", "0.2"),
        ({"t_eval": [2.0]}, "t_eval[0]", "2"),
        ({"t_eval": []}, "t_eval", "[]"),
        ({"t_eval": 5}, "t_eval", "one number"),
        ({"t_eval": [[0.5]]}, "t_eval", "(1, 1)"),
        ({"t_span": (1.0, 1.0)}, "t_span", "1 to 1"),
        ({"t_span": 1.0}, "t_span", "()"),
        ({"rtol": -1.0}, "rtol", "-1"),
        ({"atol": -1.0}, "atol", "-1"),
        ({"first_step": -1.0}, "first_step", "-1"),
        ({"max_step": -1.0}, "max_step", "-1"),
        ({"y0": np.ones((0, 2))}, "y0", "(0, 2)"),
        ({"args": ([],)}, "args[0]", "(0,)"),
        ({"method": "RK46"}, "method", "RK46"),
    ],
)
def test_what_is_wrong_has_the_name_of_its_argument(arguments, field, found):
    usual = {"fun": van_der_pol, "t_span": (0.0, 1.0), "y0": [2.0, 0.0], "args": (1.0,)}
    with pytest.raises(od.InputError) as caught:
        od.solve_ivp(**(usual | arguments))
    error = caught.value
    assert error.field == field and found in f"{error.found} {error}"
    assert str(error).startswith((field, f"`{field}`")) and "number" not in error.remedy


def test_the_signature_begins_like_that_of_scipy():
    theirs = list(inspect.signature(integrate.solve_ivp).parameters)
    ours = list(inspect.signature(od.solve_ivp).parameters)
    assert ours[: len(theirs) - 1] == theirs[:-1]


def test_a_call_after_the_first_traces_nothing_but_the_function():
    system = od.System(van_der_pol, states={"x": 2.0, "v": 0.0}, parameters={"mu": 1.0})
    system.solve((0.0, 0.1))
    kept = list(system._opened.values())
    system.solve((0.0, 0.2), rtol=1e-6)
    assert list(system._opened.values()) == kept
    print(
        "solve of one system:",
        min(timeit.repeat(lambda: system.solve((0.0, 0.1)), number=100, repeat=3)) / 100,
    )


def test_y0_that_is_no_gas_is_refused():
    """Half of `m` was a flame of 2892 K for 2836 K, with success."""
    gas = od.Mechanism("mechanisms/hydrogen-burke-2012.yaml")
    Y = gas.at_equivalence_ratio(1.0, "H2", "O2:1, N2:3.76")
    m = 1 / gas.mean_molecular_weight(Y)
    reactor = gas.reactor("constant pressure", fuel="H2", oxidizer="O2:1, N2:3.76")

    def solve(T, Y, m, p=5e5):
        y0 = [good, np.r_[T, Y, m]]
        return od.solve_ivp(reactor, (0, 1e-6), y0, method="rodas5p", args=(p,))

    good = np.r_[1100.0, Y, m]
    assert solve(1200.0, Y, m).success.all()
    for bad, words in [
        ((1100.0, Y, 0.5 * m), "`m` is .*, while its mass fractions give .*mean_molecular_weight"),
        ((1100.0, 2 * Y, m), "the mass fractions sum to (2|1.9)"),
        ((9000.0, Y, m), "temperature 9000 K"),
    ]:
        with pytest.raises(od.InputError, match=f"y0: found system 1: {words}"):
            solve(*bad)
    for p, system in ((-5e5, 0), ([1e5, 0.0], 1)):
        with pytest.raises(od.InputError, match=rf"args\[0\]: found system {system}: pressure"):
            solve(1100.0, Y, m, p)
