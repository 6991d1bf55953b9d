"""False calls: how many indications there are where no defect is, per part or per sound place, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scipy import special

from nefty.core.errors import InputError

UNMEASURED = "false calls: not measured; give sound places or parts"
EXPOSURES = ("part", "sound place")


@dataclass(frozen=True)
class FalseCalls:
    """A count of false calls and what it was counted over.

    Args:
        count: indications where no defect is.
        of: parts that were inspected, or places without a defect that were judged.
        per: ``"part"``: any number of calls each, Poisson. ``"sound place"``: called or not, binomial.
    """

    count: int
    of: int
    per: str = "part"

    def __post_init__(self) -> None:
        if self.per not in EXPOSURES:
            raise InputError(f"per={self.per!r} must be 'part' or 'sound place'.")
        if self.count < 0 or self.of < 1:
            raise InputError(
                f"{self.count} false calls in {self.of} {self.per}s cannot be; give a count from 0 on, and one "
                f"{self.per} or more."
            )
        if self.per == "sound place" and self.count > self.of:
            raise InputError(f"{self.count} of {self.of} sound places were called, more than there are; count by part.")

    @property
    def rate(self) -> float:
        """False calls per part, or share of the sound places that were called."""
        return self.count / self.of

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Exact two-sided interval of the rate.

        Poisson (Garwood 1936): chi2_(alpha/2)(2 k)/(2 n) to chi2_(1 - alpha/2)(2 k + 2)/(2 n). Binomial (Clopper and
        Pearson 1934): the quantiles of Beta(k, n - k + 1) and Beta(k + 1, n - k).
        """
        k, n, tail = self.count, self.of, (1 - confidence) / 2
        if self.per == "part":
            low = float(special.gammaincinv(k, tail)) if k else 0.0
            return low / n, float(special.gammainccinv(k + 1, tail)) / n
        low = float(special.betaincinv(k, n - k + 1, tail)) if k else 0.0
        return low, float(special.betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0

    def as_dict(self) -> dict[str, Any]:
        """Count, exposure, rate and its 95 % interval, by name."""
        low, high = self.interval()
        return {"count": self.count, "of": self.of, "per": self.per, "rate": self.rate, "low": low, "high": high}

    @property
    def short(self) -> str:
        """``"0.15 per part (0.03 to 0.44)"``."""
        low, high = self.interval()
        return f"{self.rate:.2g} per {self.per} ({low:.2g} to {high:.2g})"

    def __str__(self) -> str:
        return f"false calls: {self.count} in {self.of} {self.per}{'' if self.of == 1 else 's'}, {self.short}, 95 %"


def told(calls: FalseCalls | None) -> str:
    """In a line; that they were not measured if they were not."""
    return UNMEASURED if calls is None else str(calls)
