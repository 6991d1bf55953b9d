"""The forward problem of the PINNs as an experiment of the benchmark."""

import pytest

from nefty.bench.solver.pinn_forward import VARIANTS
from nefty.bench.suites.experiments import EXPERIMENTS
from nefty.core.errors import InputError


def test_every_variant_has_a_row():
    results = EXPERIMENTS["forward"].run({"iterations": 1})
    (table,) = results.tables
    assert [row["title"] for row in table.rows] == list(VARIANTS)
    assert all(row["iterations"] == 1 for row in table.rows)
    assert min(row["error"] for row in table.rows) > 0.3  # one iteration teaches nothing


def test_unknown_variants_are_refused():
    with pytest.raises(InputError, match="SPINN"):
        EXPERIMENTS["forward"].options({"variants": ["SPIN"]})
