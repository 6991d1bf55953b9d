"""The diffusivity as a coordinate network (paper, section 4.1 and appendix D.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from nefty.core.checks import count, number, one_of
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.fields.encoding import FourierEncoding
from nefty.fields.heads import FREE, PAPER_HEAD, Head, background_profile

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "sine": torch.sin,
    "silu": nn.functional.silu,
    "tanh": torch.tanh,
}
CHUNK = 2**21  # numbers of a layer at once, which stay in the caches: half the time of a whole grid at width 512
PRODUCTS = ("float32", "bfloat16")
TABLES = ("along_z", "along_y", "along_x")


class NeuralField(nn.Module):
    """alpha(x) = head(f(gamma(x))), f a fully connected network; the defaults are the paper's.

    ``depth`` hidden layers of ``width`` units, then a linear output. The hidden layer of index ``skip``, counted from
    0, sees (h, gamma) instead of h. With 10 x 512 and 72 features these are

        (72 + 1) 512  +  8 (512 + 1) 512  +  (512 + 72 + 1) 512  +  (512 + 1)  =  2,438,657

    unknowns, the paper's 2.44 M; the count is the same wherever the skip enters. Weights are Xavier-uniform, biases 0.

    Args:
        grid: the cells that ``field()`` returns.
        head: from the output to a diffusivity, or to the ratio to ``background``.
        depth: hidden layers.
        width: units in each.
        bands: octaves of the encoding; 0 for none.
        skip: index of the hidden layer that sees the features again; ``None`` for none.
        activation: ``"relu"``, ``"sine"``, ``"silu"`` or ``"tanh"``.
        horizon: steps over which ``anneal`` opens the bands; 0 leaves them all open.
        start: what the head returns everywhere at first. If not given, 1 where there is a background, else what the
            random weights give.
        spread: factor on the output weights where ``start`` is given; 0 makes it exact, while a small one lets the
            gradient through to the hidden layers from the first step.
        background: diffusivity of the background at the depths of ``grid``, (z,): alpha = background(z) head(f).
            Between cell centres it is the value of the cell.
        wrap: along which of z, y, x the two ends are one place; see ``FourierEncoding``.
        generator: what the weights are drawn from; torch's own if not given.
        products: precision of the hidden layers' products: ``"float32"``, that of everything else; or ``"bfloat16"``,
            mixed precision: weights, output and head keep ``dtype``, the products of the layers and of their gradients
            have 8 bits of mantissa, and are faster where the processor has them (AVX-512 BF16, AMX, GPUs).
        dtype: of everything. Give it here rather than by ``.double()``, which keeps features rounded to float32.
    """

    background: Tensor | None
    along_z: Tensor
    along_y: Tensor
    along_x: Tensor

    def __init__(
        self,
        grid: Grid,
        head: Head = PAPER_HEAD,
        *,
        depth: int = 10,
        width: int = 512,
        bands: int = 12,
        skip: int | None = 4,
        activation: str = "relu",
        horizon: int = 2500,
        start: float | None = None,
        spread: float = 0.0,
        background: Any = None,
        wrap: Sequence[bool] = (True, True, True),
        generator: torch.Generator | None = None,
        products: str = "float32",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        depth, width = count("depth", depth), count("width", width)
        if skip is not None and count("skip", skip) >= depth:
            raise InputError(f"skip={skip} must be a layer from 1 to {depth - 1} of the {depth}, or None.")
        if head.box != FREE:
            raise InputError(f"{head} needs unknowns kept in a box, which weights are not; use SigmoidHead or LogHead.")
        self.grid, self.head, self.skip = grid, head, skip
        self.horizon = count("horizon", horizon, at_least=0)
        self.activation = one_of("activation", activation, ACTIVATIONS)
        self.encoding = FourierEncoding(bands, wrap=wrap)
        self.products = one_of("products", products, PRODUCTS)

        profile = background_profile(background, grid)
        self.register_buffer("background", None if profile is None else profile.to(dtype))

        seen = [self.encoding.size] + [width] * (depth - 1)
        if skip is not None:
            seen[skip] += self.encoding.size
        self.hidden = nn.ModuleList(_linear(n, width, generator, dtype) for n in seen)
        self.output = _linear(width, 1, generator, dtype)
        if start is None and background is not None:
            start = 1.0
        if start is not None:
            with torch.no_grad():
                self.output.weight.mul_(number("spread", spread))
                self.output.bias.copy_(head.inverse(number("start", start)))

        for name, features in zip(TABLES, self.encoding.tables(grid), strict=True):
            self.register_buffer(name, features.to(dtype), persistent=False)
        self.anneal(0)

    @property
    def unknowns(self) -> int:
        """How many numbers are optimised."""
        return sum(p.numel() for p in self.parameters())

    def anneal(self, step: int) -> None:
        """Open the bands as far as the schedule has at ``step``: beta from 0 to N, linearly over ``horizon`` steps."""
        step = count("step", step, at_least=0)
        if self.horizon:
            self.encoding.open_to(self.encoding.bands * min(step / self.horizon, 1.0))

    def forward(self, grid: Grid | None = None) -> Tensor:
        """Diffusivity of the cells, (z, y, x), on the field's grid or another one of the same box."""
        if grid is None or grid == self.grid:
            ratio = self.head(self.values())
            return ratio if self.background is None else self.background[:, None, None] * ratio
        if any(abs(new - own) > 1e-9 * own for new, own in zip(grid.size, self.grid.size, strict=True)):
            raise InputError(f"the grid's size {grid.size} is not the field's, {self.grid.size} (z, y, x).")
        return self.at(_centres(grid)).view(grid.shape)

    def at(self, points: Any, size: Sequence[float] | None = None) -> Tensor:
        """Diffusivity at points, (n,); differentiable in them too.

        Args:
            points: (n, 3), coordinates z, y, x counted from the corner of the box on the front face.
            size: edge lengths of the box in the unit of the points, if that is not the unit of the grid.
        """
        points = torch.as_tensor(points, dtype=torch.float64, device=self.along_z.device)
        if points.ndim != 2 or points.shape[1] != 3:
            raise InputError(f"points have shape {tuple(points.shape)}; give (n, 3), each z, y, x.")
        if not bool(points.isfinite().all()):
            raise InputError("points hold NaN or infinity; drop those.")
        size = self.grid.size if size is None else Grid(self.grid.shape, size).size  # pyright: ignore[reportArgumentType]
        features = self.encoding.basis(_normalised(points, size)).to(self.along_z.dtype)
        parts = [self._network(_Points(self.encoding.mask(part))) for part in features.split(self._chunk)]
        ratio = self.head(torch.cat(parts))
        if self.background is None:
            return ratio
        layers = self.grid.shape[0]
        layer = (points[:, 0].detach() / size[0] * layers).floor().long().clamp(0, layers - 1)
        return self.background[layer] * ratio

    def values(self) -> Tensor:
        """f on the field's grid, before the head, (z, y, x)."""
        weights = self.encoding.weights().to(self.along_z.dtype)
        _, rows, columns = self.grid.shape
        layers = max(1, self._chunk // (rows * columns))
        parts = [
            self._network(_Cells((part, self.along_y, self.along_x), weights)) for part in self.along_z.split(layers)
        ]
        return torch.cat(parts).view(self.grid.shape)

    @property
    def _chunk(self) -> int:
        """Points that the network takes at once."""
        return max(1, CHUNK // self.output.in_features)

    def _network(self, seen: _Points | _Cells) -> Tensor:
        """f, (n,)."""
        activate, width = ACTIVATIONS[self.activation], self.output.in_features
        h: Tensor | None = None
        with torch.autocast(self.along_z.device.type, torch.bfloat16, enabled=self.products == "bfloat16"):
            for index, layer in enumerate(self.hidden):
                assert isinstance(layer, nn.Linear)
                if h is None:
                    new = seen.times(layer.weight, layer.bias)
                elif index == self.skip:
                    new = seen.times(layer.weight[:, width:], layer.bias)
                    new = new + nn.functional.linear(h, layer.weight[:, :width]).to(new.dtype)
                else:
                    new = layer(h)
                h = activate(new)
        assert h is not None
        return self.output(h.to(self.along_z.dtype)).squeeze(1)


class _Points:
    """Features of any points, (n, size)."""

    def __init__(self, features: Tensor) -> None:
        self._features = features

    def times(self, weight: Tensor, bias: Tensor) -> Tensor:
        """W gamma + b, (n, width)."""
        return nn.functional.linear(self._features, weight, bias)


class _Cells:
    """Features of the cells of a grid, whose order in memory is that of the points.

    Each feature depends on one coordinate, so that W gamma is a sum of three small products, one for each axis.

    Args:
        tables: features along z, y, x, each (cells along it, size/3).
        weights: of the bands, (size,).
    """

    def __init__(self, tables: tuple[Tensor, Tensor, Tensor], weights: Tensor) -> None:
        self._tables, self._weights = tables, weights

    def times(self, weight: Tensor, bias: Tensor) -> Tensor:
        """W gamma + b, (n, width)."""
        masked = weight * self._weights
        with torch.autocast(weight.device.type, enabled=False):
            z, y, x = (table @ masked[:, axis::3].T for axis, table in enumerate(self._tables))
            across = (y + bias)[:, None] + x
            return (z[:, None, None] + across).flatten(0, 2)


def _linear(inputs: int, outputs: int, generator: torch.Generator | None, dtype: torch.dtype) -> nn.Linear:
    """A layer with Xavier-uniform weights and zero biases, which draws from nothing but ``generator``."""
    layer = cast(nn.Linear, nn.utils.skip_init(nn.Linear, inputs, outputs, dtype=dtype))
    nn.init.xavier_uniform_(layer.weight, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer


def _centres(grid: Grid) -> Tensor:
    """Cell centres (n, 3), float64, in the order of the cells in memory."""
    axes = (torch.from_numpy(c.ravel()) for c in grid.centres())
    return torch.cartesian_prod(*axes)


def _normalised(points: Tensor, size: Sequence[float]) -> Tensor:
    """Coordinates in [-1, 1] of points in a box with edges ``size``."""
    return 2 * points / torch.tensor(size, dtype=points.dtype, device=points.device) - 1
