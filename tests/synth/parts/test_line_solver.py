"""The compiled conjugate gradients against a dense solver."""

from __future__ import annotations

import numpy as np
import pytest

from nefty.core.errors import ConvergenceError
from nefty.synth.parts import line_solver
from nefty.synth.parts.line_solver import LineSystem


def system(shape=(4, 3, 5), sink=0.1):
    random = np.random.default_rng(0)
    faces = [tuple(n - (a == axis) for a, n in enumerate(shape)) for axis in range(3)]
    gz, gy, gx = (10.0 ** random.uniform(-2, 2, face) for face in faces)
    diagonal = np.full(shape, sink)
    for axis, g in enumerate((gz, gy, gx)):
        for side in (slice(None, -1), slice(1, None)):
            part = np.moveaxis(diagonal, axis, 0)[side]
            part += np.moveaxis(g, axis, 0)
    return LineSystem(diagonal, gz, gy, gx)


def dense(of):
    index = np.arange(of.diagonal.size).reshape(of.diagonal.shape)
    matrix = np.diag(of.diagonal.ravel())
    for axis, g in enumerate((of.gz, of.gy, of.gx)):
        at = np.moveaxis(index, axis, 0)
        low, high = at[:-1].ravel(), at[1:].ravel()
        matrix[low, high] = matrix[high, low] = -np.moveaxis(g, axis, 0).ravel()
    return matrix


def test_it_solves_what_a_dense_solver_does():
    of = system()
    b = np.random.default_rng(1).standard_normal(of.diagonal.shape)
    u, iterations = of.solve(b, np.zeros_like(b), 1e-11, of.pivots())
    assert u.ravel() == pytest.approx(np.linalg.solve(dense(of), b.ravel()), rel=1e-7)
    assert 0 < iterations < 60


def test_columns_that_do_not_touch_take_one_iteration():
    of = system()
    alone = LineSystem(of.diagonal, of.gz, 0 * of.gy, 0 * of.gx)
    b = np.ones(of.diagonal.shape)
    _, iterations = alone.solve(b, np.zeros_like(b), 1e-10, alone.pivots())
    assert iterations == 1


def test_the_answer_itself_takes_none():
    of = system()
    b = np.ones(of.diagonal.shape)
    u, _ = of.solve(b, np.zeros_like(b), 1e-12, of.pivots())
    assert of.solve(b, u, 1e-8, of.pivots())[1] == 0


def test_too_many_iterations_are_an_error(monkeypatch):
    monkeypatch.setattr(line_solver, "MOST", 2)
    of = system()
    with pytest.raises(ConvergenceError, match="did not reach"):
        of.solve(np.ones(of.diagonal.shape), np.zeros(of.diagonal.shape), 1e-12, of.pivots())
