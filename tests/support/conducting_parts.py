"""Parts for tests of heat conduction, and their operator as a dense matrix."""

import numpy as np

from nefty.physics.boundary import Boundary

MEANS = {"harmonic": lambda a, b: 2 / (1 / a + 1 / b), "arithmetic": lambda a, b: (a + b) / 2, "min": min}
SIDES = ["periodic", "adiabatic"]
HARD = Boundary(lateral="adiabatic", front="robin", back="robin", h_front=0.4, h_back=0.9)


def random_alpha(shape, seed=0):
    return np.exp(np.random.default_rng(seed).uniform(np.log(0.005), np.log(0.3), shape))


def dense_operator(grid, alpha, boundary, face_mean, anisotropy=(1.0, 1.0)):
    """The operator as a matrix, face by face."""
    index = np.arange(grid.cells).reshape(grid.shape)
    matrix = np.zeros((grid.cells, grid.cells))
    for axis, (n, d, r) in enumerate(zip(grid.shape, grid.spacing, (1.0, *anisotropy), strict=True)):
        faces = n if axis and boundary.lateral == "periodic" and n > 1 else n - 1
        for f in range(faces):
            a = index.take(f, axis).ravel()
            b = index.take((f + 1) % n, axis).ravel()
            for i, j in zip(a, b, strict=True):
                g = r * MEANS[face_mean](alpha.flat[i], alpha.flat[j]) / d**2
                matrix[[i, j], [i, j]] -= g
                matrix[[i, j], [j, i]] += g
    dz = grid.spacing[0]
    for layer, h in ((0, boundary.h_front), (-1, boundary.h_back)):
        for i in index[layer].ravel():
            resistance = 1 / h + (dz / (2 * alpha.flat[i]) if boundary.robin == "surface" else 0) if h else np.inf
            matrix[i, i] -= 1 / resistance / dz
    return matrix


def hole(shape, where):
    """Cells of air."""
    air = np.zeros(shape, dtype=bool)
    air[where] = True
    return air
