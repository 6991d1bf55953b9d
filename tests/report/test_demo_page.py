import json
from typing import Any

import numpy as np
import pytest

from nefty.core.grid import Grid
from nefty.report.demo_page import demo_page
from nefty.report.flash_study import FlashStudy


@pytest.fixture(scope="module")
def study():
    """Invented numbers: a contrast that peaks at t = 1 over a defect at rows 2..3, columns 4..6, layers 1..2."""
    grid, times = Grid((4, 8, 10), (1.0, 8.0, 10.0)), np.linspace(0.1, 3, 30)
    sound = np.full(grid.shape, 0.15)
    part = sound.copy()
    part[1:3, 2:5, 4:7] = 0.01
    reference = np.broadcast_to(50 * times[:, None, None] ** -0.5, (30, 8, 10)).copy()
    bump = (part < sound).any(axis=0) * np.maximum(5 - 5 * (times[:, None, None] - 1) ** 2, 0)
    gradient = np.where(part < sound, 2.0, -0.1)
    gradient[1, 3, 5] = 8.0
    return FlashStudy(
        grid,
        times,
        part,
        sound,
        recording=reference + bump,
        reference=reference,
        modelled=reference + bump + 0.01,
        modelled_sound=reference,
        gradient=gradient,
        seconds={"forward": 0.0123, "gradient": 1.5},
    )


def test_summary_finds_the_defect_the_peak_and_the_error(study):
    summary = study.summary()
    assert study.centre == (2, 3, 5)  # layers 1 and 2 are equally near; round to even
    assert study.opposite == (4, 4)
    assert summary["defect_depths"] == [0.25, 0.75]
    assert summary["contrast_peak_time"] == pytest.approx(1.0)
    assert summary["contrast_peak"] == pytest.approx(5.0)
    assert summary["rmse_part"] == pytest.approx(0.01)
    assert summary["rmse_sound"] == 0
    assert summary["gradient_peak_zyx"] == [0.375, 3.5, 5.5]
    json.dumps(summary)


def test_the_page_says_the_numbers(study):
    page = demo_page(study, {"host": "here"})
    assert [fact.value for fact in page.facts] == ["0.01", "5", "12.3 ms", "1.5 s"]
    assert all(section.shows and section.good and section.bad and section.do for section in page.sections)
    assert "between depth 0.25 and 0.75" in page.lead


def test_the_gradient_is_shown_with_its_sign_and_scaled_to_its_peak(study):
    figure: Any = demo_page(study, {}).sections[-1].figure
    plans = [trace for trace in figure.data if trace.type == "heatmap" and trace.z.shape == (8, 10)]
    assert plans[1].z.max() == pytest.approx(1)
    assert plans[1].z[0, 0] == pytest.approx(-0.1 / 8)


def test_the_recording_starts_at_the_strongest_contrast(study):
    figure: Any = demo_page(study, {}).sections[0].figure
    assert figure.layout.sliders[0].active == 9
