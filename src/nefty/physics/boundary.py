"""What happens at the six sides of the slab."""

from __future__ import annotations

from dataclasses import dataclass

from nefty.core.checks import number, one_of
from nefty.core.errors import InputError

LATERAL = ("periodic", "adiabatic")
FACES = ("adiabatic", "robin")


@dataclass(frozen=True)
class Boundary:
    """Boundary conditions; temperatures are rises above ambient.

    On a Robin face n . (alpha grad T) = -h T with h >= 0 in (length unit)/(time unit), that is the heat
    transfer coefficient over rho c. The loss is taken at the surface itself: half a cell of material lies
    between it and the cell's mean, so the conductance to ambient is 1/(1/h + dz/(2 alpha)), which is second
    order in dz; of the flux of a pulse the share 1/(1 + h dz/(2 alpha)) enters. ``robin="cell"`` takes the loss h T
    at the cell's mean instead, as the paper does (appendix D.2).

    Args:
        lateral: ``"periodic"`` or ``"adiabatic"`` sides in x and y.
        front: ``"adiabatic"`` or ``"robin"`` at z = 0.
        back: the same at the back.
        h_front: h of the front face; needs ``front="robin"``.
        h_back: h of the back face; needs ``back="robin"``.
        robin: where a Robin loss acts, ``"surface"`` or ``"cell"``.
    """

    lateral: str = "periodic"
    front: str = "adiabatic"
    back: str = "adiabatic"
    h_front: float = 0.0
    h_back: float = 0.0
    robin: str = "surface"

    def __post_init__(self) -> None:
        one_of("lateral", self.lateral, LATERAL)
        one_of("robin", self.robin, ("surface", "cell"))
        for face in ("front", "back"):
            kind = one_of(face, getattr(self, face), FACES)
            h = number(f"h_{face}", getattr(self, f"h_{face}"), at_least=0)
            object.__setattr__(self, f"h_{face}", h)
            if kind == "adiabatic" and h > 0:
                raise InputError(
                    f'h_{face}={h:g} has no effect on an adiabatic face; set {face}="robin" or h_{face}=0.'
                )
