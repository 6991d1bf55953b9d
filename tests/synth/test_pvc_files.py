import json

import numpy as np
import pytest
from PIL import Image
from scipy.io import loadmat

from nefty.core.errors import InputError
from nefty.data.pvc_layout import PvcFolder
from nefty.synth.plates import draw_plate
from nefty.synth.pvc_files import BEFORE, PvcSize, write_pvc
from support.known_facts import defects_of

TINY = PvcSize((32, 40), 60, fps=1.0, cell=(2.5e-4, 2.5e-3))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pvc")
    assert write_pvc(folder, 2, TINY) == ["R_001", "Z_001"]
    return folder


def counts(root, name):
    return loadmat(root / "data" / f"{name}.mat")["imageArray"]


def test_the_files_are_those_of_the_layout(root):
    found = counts(root, "R_001")
    assert found.shape == (32, 40, 60)
    assert found.dtype == np.uint16
    raw = (root / "data" / "R_001.mat").read_bytes()
    assert raw.startswith(b"MATLAB 5.0 MAT-file")
    assert len(raw) >= found.nbytes  # not packed
    for masks in ("manual_mask", "automated_mask"):
        grey = np.asarray(Image.open(root / "labels" / masks / "Z_001.png"))
        assert grey.shape == (32, 40)
        assert set(np.unique(grey)) <= {0, 51, 102, 153, 204, 255}
        assert (grey > 0).any()


def test_the_camera_saw_a_flash_a_bad_column_and_cold_frames(root):
    found = counts(root, "Z_001").astype(float)
    plate = found[:, 4:36]
    assert (plate[..., BEFORE] == 16383).all()
    before = plate[..., :BEFORE].mean()
    assert before == pytest.approx(4000, abs=10)
    assert np.median(plate[..., BEFORE + 1]) - before == pytest.approx(1000, rel=0.1)  # 10 K
    cold = [k for k in range(BEFORE + 1, 60) if plate[..., k].mean() < before - 100]
    assert len(cold) == TINY.corrupt
    assert (found[:, 0] == np.arange(60)).all()
    beside = np.delete(found[:, 37:], cold, axis=2)
    assert abs(beside.mean() - before) < 20


def test_the_label_is_the_depth_of_the_plate(root):
    plate = draw_plate(0, "round")
    depth = defects_of(PvcFolder.open(root).load(PvcFolder.open(root).files[1], pixel="height")).depth
    assert depth is not None
    np.testing.assert_allclose(depth[:, 3:35], plate.depth_map((32, 32)), atol=1e-9)
    assert np.isnan(depth[:, :3]).all()


def test_what_is_known_is_written_beside_them(root):
    folder = PvcFolder.open(root)
    holes = folder.holes(folder.files[0])
    assert holes is not None
    assert len(holes) == len(draw_plate(0, "rectangular").holes)
    grey = np.asarray(Image.open(folder.files[0].label))
    for hole in holes:
        if min(hole["width"]) > 2 * 0.1 / 32:  # smaller ones may lie between the centres of pixels
            y, x = (round(c) for c in hole["centre"])
            assert grey[y, x] == round(hole["depth"] / 0.5e-3) * 51
    assert folder.load(folder.files[0], pixel="height").times[-1] == 59.0


def test_what_is_there_is_kept_and_more_is_added(tmp_path):
    assert write_pvc(tmp_path, 1, TINY) == ["R_001"]
    stamp = (tmp_path / "data" / "R_001.mat").stat().st_mtime_ns
    told = []
    assert write_pvc(tmp_path, 2, TINY, progress=lambda *step: told.append(step)) == ["Z_001"]
    assert told == [("Z_001", 1, 2)]
    assert write_pvc(tmp_path, 2, TINY) == []
    assert (tmp_path / "data" / "R_001.mat").stat().st_mtime_ns == stamp
    with pytest.raises(InputError, match=r"was generated with first_seed=0, not 5"):
        write_pvc(tmp_path, 2, TINY, first_seed=5)
    assert set(json.loads((tmp_path / "generated.json").read_text())["plates"]) == {"R_001", "Z_001"}


def test_published_recordings_are_never_mixed_with_generated_ones(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "R_007.mat").write_bytes(b"of somebody else")
    with pytest.raises(InputError, match="recordings that were not generated here"):
        write_pvc(tmp_path, 1, TINY)


@pytest.mark.parametrize(
    ("size", "message"),
    [(((32, 32), 60), "wider than high"), (((8, 40), 60), "pixels"), (((32, 40), 20), "frames")],
)
def test_sizes_that_make_no_sense_are_refused(size, message):
    with pytest.raises(InputError, match=message):
        PvcSize(*size)
