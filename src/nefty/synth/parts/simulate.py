"""From a part to the rise of its surface: mesh, body, run, pixels."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from nefty.synth.parts.engine import Body, Run, at_times, run_body, step_ends
from nefty.synth.parts.mesh import Mesh, depth_faces, face_axis
from nefty.synth.parts.part import FlatHole, Part

FIRST = 0.12  # cell at the front, over the way of heat until the first frame
LARGEST, NEAR = 20, 40  # cells through the thickness, were they all like the largest; like those beside films
MARGIN = 3.0  # followed beyond the frame, over the thickness and the square root of the ratio of diffusivities


@dataclasses.dataclass(frozen=True, eq=False)
class Watched:
    """Rises of the pixels of a part.

    Args:
        frames: (t, y, x) in K above ambient; 0 where there is no part.
        run: of the engine.
    """

    frames: np.ndarray
    run: Run


def watch(part: Part, times: np.ndarray, *, per_pixel: int = 1, refine: int = 1, coarser: float = 1.0) -> Watched:
    """Simulate a part and show its surface: means over pixels, without a camera.

    Args:
        part: what is simulated.
        times: in s after the heating began; before it, pixels show 0.
        per_pixel: cells along the side of a pixel.
        refine: so many times smaller cells in depth.
        coarser: so many times longer steps in time.
    """
    mesh = mesh_of(part, per_pixel=per_pixel, refine=refine)
    return watch_on(mesh, part, times, per_pixel=per_pixel, coarser=coarser)


def watch_on(mesh: Mesh, part: Part, times: np.ndarray, *, per_pixel: int = 1, coarser: float = 1.0) -> Watched:
    """The same on a mesh, such as that of the part with defects for the part without them."""
    y, x = ((faces[1:] + faces[:-1]) / 2 for faces in (mesh.y, mesh.x))
    history = part.heat.history
    run = run_body(
        body_of(part, mesh),
        part.heat.on(y, x, part.size),
        history,
        float(times[-1]),
        steps=step_ends(history, float(times[-1]), coarser),
    )
    seen = at_times(run, times)
    inside = [np.flatnonzero((at > 0) & (at < size)) for at, size in zip((y, x), part.size, strict=True)]
    seen = seen[:, inside[0][0] : inside[0][-1] + 1, inside[1][0] : inside[1][-1] + 1]
    n, m = seen.shape[1] // per_pixel, seen.shape[2] // per_pixel
    frames = np.zeros((times.size, *part.pixels))
    frames[:, part.on_part()] = seen.reshape(-1, n, per_pixel, m, per_pixel).mean(axis=(2, 4)).reshape(-1, n * m)
    return Watched(frames, run)


def mesh_of(part: Part, *, per_pixel: int = 1, refine: int = 1) -> Mesh:
    """The mesh of a part, fine where heat bends."""
    layers = [layer for defect in part.defects for layer in defect.layers]
    z = depth_faces(
        part.thickness,
        [(layer.depth, layer.depth + layer.thickness) for layer in layers],
        [defect.depth for defect in part.defects if isinstance(defect, FlatHole)],
        first=min(FIRST * math.sqrt(part.material.alpha_z / part.fps), part.thickness / NEAR),
        near=part.thickness / NEAR,
        largest=part.thickness / LARGEST,
        refine=refine,
    )
    y, x = (
        face_axis(n, part.pixel, edges, MARGIN * part.thickness * math.sqrt(max(ratio, 1.0)), per_pixel)
        for n, edges, ratio in zip(part.pixels, part.edges, part.material.anisotropy, strict=True)
    )
    return Mesh(z, y, x)


def body_of(part: Part, mesh: Mesh) -> Body:
    """Conductivities and heat capacity of every cell; a cell partly under a film has the mean of both materials."""
    fields = [np.full(mesh.shape, value) for value in (*part.k, part.heat_capacity)]
    solid = np.ones(mesh.shape, dtype=bool)
    middle = (mesh.z[1:] + mesh.z[:-1]) / 2
    for defect in part.defects:
        if isinstance(defect, FlatHole):
            solid[middle > defect.depth] &= defect.outline.shares(mesh.y, mesh.x) < 0.5
        for layer in defect.layers:
            within = (middle > layer.depth) & (middle < layer.depth + layer.thickness)
            share = layer.outline.shares(mesh.y, mesh.x)
            for field, value in zip(fields, (layer.k, layer.k, layer.k, layer.heat_capacity), strict=True):
                field[within] += share * (value - field[within])
    ends = tuple((begin is not None, end is not None) for begin, end in part.edges)
    kz, ky, kx, heat_capacity = fields
    return Body(mesh, kz, ky, kx, heat_capacity, solid, part.losses, (ends[0], ends[1]))
