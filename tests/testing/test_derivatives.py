"""The derivative checks pass what is right and catch what is slightly wrong."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.testing import dot_product, taylor_order

RNG = np.random.default_rng(7)
X, V = RNG.uniform(0.5, 1.5, (3, 4)), RNG.standard_normal((3, 4))


def wavy(x):
    return (x**3).sum() + (x[0] * x[1]).sum() ** 2


def wavy_gradient(x):
    g = 3 * x**2
    s = 2 * (x[0] * x[1]).sum()
    g[0] += s * x[1]
    g[1] += s * x[0]
    return g


def test_a_right_gradient_has_order_two_as_array_or_function():
    for gradient in (wavy_gradient(X), wavy_gradient):
        check = taylor_order(wavy, gradient, X, V)
        assert check.order == pytest.approx(2, abs=0.05)
        assert check.passed
        assert "passed" in str(check)


@pytest.mark.parametrize("relative", [1e-1, 1e-3, 1e-5])
def test_a_gradient_that_is_a_little_wrong_has_order_one(relative):
    check = taylor_order(wavy, wavy_gradient(X) * (1 + relative), X, V)
    assert check.order < 1.6
    assert not check.passed
    assert "FAILED" in str(check)


@given(st.floats(1e-8, 1e8), st.floats(1e-6, 1e6))
@settings(deadline=None)
def test_the_verdict_does_not_depend_on_the_units_of_point_and_value(unit, scale):
    def f(x):
        return scale * wavy(x / unit)

    gradient = scale / unit * wavy_gradient(X)
    assert taylor_order(f, gradient, X * unit, V * unit).passed
    assert not taylor_order(f, gradient * 1.01, X * unit, V).passed


def test_the_next_term_is_seen_when_the_second_vanishes():
    check = taylor_order(lambda x: (x**3).sum(), np.zeros(3), np.zeros(3), np.ones(3))
    assert check.order == pytest.approx(3, abs=0.01)


def test_a_linear_function_passes_and_its_wrong_gradient_does_not():
    a = np.arange(12.0).reshape(3, 4)
    right = taylor_order(lambda x: (a * x).sum(), a, X, V)
    assert right.order == np.inf
    assert right.passed
    assert "linear" in str(right)
    assert taylor_order(lambda x: (a * x).sum(), a * 1.001, X, V).order == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_torch_tensors_and_autograd(dtype):
    x = torch.tensor(X, dtype=dtype, requires_grad=True)
    v = torch.tensor(V, dtype=dtype)
    (gradient,) = torch.autograd.grad(wavy(x), x)
    assert taylor_order(wavy, gradient, x, v).passed
    assert not taylor_order(wavy, gradient * 1.1, x, v).passed


def test_a_function_of_known_inaccuracy_is_judged_by_it():
    rng = np.random.default_rng(0)

    def sloppy(x):
        return wavy(x) * (1 + 1e-9 * rng.uniform(-1, 1))

    assert taylor_order(sloppy, wavy_gradient, X, V, precision=1e-9).passed
    assert not taylor_order(sloppy, wavy_gradient(X) * 1.01, X, V, precision=1e-9).passed


def test_steps_are_used_as_given_largest_first():
    check = taylor_order(wavy, wavy_gradient, X, V, steps=[1e-3, 1e-2])
    assert check.steps == (1e-2, 1e-3)
    assert len(check.remainders) == 2
    assert check.passed


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"direction": np.zeros((3, 4))}, "direction is zero"),
        ({"direction": np.ones(3)}, "12, 3, 12 entries"),
        ({"gradient": np.ones(5)}, "12, 12, 5 entries"),
        ({"function": lambda x: np.nan}, "one finite number"),
        ({"function": lambda x: x}, "one finite number"),
        ({"point": np.ones((3, 4), dtype=int)}, "floating-point"),
        ({"steps": [0.1]}, "at least two"),
        ({"steps": [0.1, -0.1]}, "positive"),
    ],
)
def test_taylor_refuses_what_cannot_be_checked(changes, message):
    arguments = {"function": wavy, "gradient": np.ones((3, 4)), "point": X, "direction": V} | changes
    with pytest.raises(InputError, match=message):
        taylor_order(**arguments)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6))
@settings(deadline=None)
def test_a_matrix_and_its_transpose_agree_and_anything_else_does_not(seed, rows, columns):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, rows, columns))
    x, y = rng.standard_normal(columns), rng.standard_normal(rows)
    scale = np.linalg.norm(a @ x) * np.linalg.norm(y)
    rounding = float(1e-13 * np.linalg.norm(a) * np.linalg.norm(x) * np.linalg.norm(y) / scale)
    assert dot_product(lambda v: a @ v, lambda w: a.T @ w, x, y) < rounding
    wrong = abs(x @ (a - b).T @ y) / scale
    assert dot_product(lambda v: a @ v, lambda w: b.T @ w, x, y) == pytest.approx(wrong, abs=rounding)


def test_dot_product_of_tensors_and_of_several_arguments():
    a = torch.randn(5, 3, dtype=torch.float64)
    x = (torch.randn(3, dtype=torch.float64), torch.randn((), dtype=torch.float64))
    y = torch.randn(5, dtype=torch.float64, requires_grad=True)
    assert dot_product(lambda p: a @ p[0] + p[1], lambda w: (a.T @ w, w.sum()), x, y) < 1e-14


@pytest.mark.parametrize(
    ("jvp", "vjp", "message"),
    [
        (lambda x: 0 * x, lambda y: 0 * y, "proves nothing"),
        (lambda x: x[:2], lambda y: y, "pair up"),
        (lambda x: x, lambda y: y * np.nan, "NaN"),
    ],
)
def test_dot_product_refuses_what_proves_nothing(jvp, vjp, message):
    with pytest.raises(InputError, match=message):
        dot_product(jvp, vjp, np.ones(3), np.ones(3))
