"""What a reconstruction may cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """What a reconstruction may cost; ``None`` is no limit.

    Args:
        seconds: of wall clock, from the recording in memory to the volume.
        iterations: of the optimiser, in all stages.
    """

    seconds: float | None = None
    iterations: int | None = None

    def __str__(self) -> str:
        parts = []
        if self.seconds is not None:
            parts.append(f"{self.seconds:g} s")
        if self.iterations is not None:
            parts.append(f"{self.iterations} iterations")
        return ", ".join(parts) or "none"
