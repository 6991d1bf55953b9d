"""``nefty bench run forward``: can the PINNs learn where nothing has to be inverted?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.core.tell import Tell, say_nothing
from nefty.pinn.forward_check import ALPHA, SMALL, SPAN, forward_error

#: Variants of ``nefty.pinn`` with the rules of DCGD, by what tables call them.
VARIANTS = {
    "PINN": ("gradnorm", "center"),
    "SPINN": ("spinn", "center"),
    "Causal-PINN": ("causal", "center"),
    "DCGD, center": ("dcgd", "center"),
    "DCGD, projection": ("dcgd", "projection"),
    "DCGD, average": ("dcgd", "average"),
}
COLUMNS = (
    Column("title", "variant"),
    Column("error", "relative error", lambda v: f"{100 * v:.2f} %", "low"),
    Column("iterations", "iterations", formats.whole),
    Column("seconds", "s of processor time", formats.seconds),
)


def run(*, iterations: int = 6000, variants: Sequence[str] = tuple(VARIANTS), tell: Tell = say_nothing) -> Results:
    """Train every variant on the heat equation with known diffusivity and compare it with the closed form.

    Args:
        iterations: of each.
        variants: which.
        tell: hears the stages.
    """
    rows = []
    for name in variants:
        tell("forward problem", name)
        variant, rule = VARIANTS[name]
        found = forward_error(variant, rule, iterations=iterations)
        rows.append({"title": name, **asdict(found)})
    return Results(
        name="forward",
        title="PINNs on a forward problem",
        lead=f"The temperature after a flash into the paper's slab of one material, alpha = {ALPHA:g}, until "
        f"t = {SPAN:g}: initial temperature and heat equation are given, the closed form is not.",
        tables=[Table("Error of the temperature", COLUMNS, rows)],
        notes=[
            "Relative error: root mean square over time and space, over that of the closed form, a sum of modes.",
            "A variant that is right here and fails to find defects shows what the inversion adds.",
        ],
        settings={"iterations": iterations, "changes": SMALL},
    )
