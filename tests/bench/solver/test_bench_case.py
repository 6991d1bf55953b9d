import numpy as np
import pytest

from nefty.bench.solver.case import Case
from nefty.core.errors import InputError


def test_the_default_is_the_papers_size():
    case = Case()
    assert case.grid.spacing == (0.0625, 0.15625, 0.15625)
    assert case.times()[[0, -1]] == pytest.approx([0.05, 5.0])


def test_defects_have_the_contrast_asked_for():
    alpha = Case(contrast=20.0).alpha()
    assert set(np.unique(alpha)) == {0.15, 0.15 / 20}
    assert 0.005 < np.mean(alpha < 0.1) < 0.05


def test_a_sound_slab_is_uniform():
    assert np.ptp(Case().sound().alpha()) == 0


def test_defects_stay_in_place_when_the_grid_is_refined():
    coarse, fine = (np.mean(Case(shape=s).alpha() < 0.1) for s in ((16, 64, 64), (32, 128, 128)))
    assert coarse == pytest.approx(fine, rel=0.1)


def test_tiny_keeps_the_kind():
    tiny = Case(frames=100, contrast=1000.0).tiny()
    assert (tiny.contrast, tiny.frames, tiny.grid.cells) == (1000.0, 4, 256)


@pytest.mark.parametrize("wrong", [{"frames": 0}, {"dt": 0.0}, {"contrast": 0.5}, {"shape": (0, 4, 4)}, {"bulk": -1.0}])
def test_nonsense_is_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Case(**wrong)
