"""A part in tiles is the part in one piece, to the noise; it runs on workers and resumes."""

import os
import shutil

import numpy as np
import pytest

import nefty
from nefty import InputError
from nefty.core.cluster.place import Place
from nefty.inversion.recipe import load_recipe
from nefty.inversion.tiles.join import Joined
from nefty.inversion.tiles.layout import layout
from nefty.inversion.tiles.run import LARGE, why_tiles
from nefty.inversion.tiles.work import OVERVIEW, RECORDING, TILES
from nefty.result.reconstruction import Reconstruction
from support.large_parts.panel import FILMS, LAYERS, PIXEL, QUICK, panel

RIM, MOST = 8, 44 * 44


def anomaly(rec):
    return np.log(rec.alpha / rec.background[:, None, None])


@pytest.fixture(scope="module")
def whole():
    return panel()


@pytest.fixture(scope="module")
def in_one_piece(whole):
    return nefty.reconstruct(whole, overrides=QUICK)


@pytest.fixture(scope="module")
def joined(whole, in_one_piece):
    """Tiles that take over the calibration of the whole, one after the other."""
    found = Joined(whole, in_one_piece, load_recipe("real", QUICK))
    tiles = layout(whole.shape[1:], (RIM, RIM), MOST)
    assert len(tiles) == 4
    for tile in tiles:
        found.add(tile, nefty.reconstruct(whole.region(*tile.whole), overrides=QUICK, overview=in_one_piece))
    return found.result()


def test_tiles_differ_from_one_piece_by_less_than_the_noise_does(in_one_piece, joined):
    again = nefty.reconstruct(panel(seed=7), overrides=QUICK)  # the same part, other noise
    by_noise = anomaly(again) - anomaly(in_one_piece)
    by_tiles = anomaly(joined) - anomaly(in_one_piece)
    assert np.sqrt((by_tiles**2).mean()) < np.sqrt((by_noise**2).mean())
    assert np.abs(by_tiles).max() < 1.5 * np.abs(by_noise).max()


def test_no_seam_shows_at_the_borders(in_one_piece, joined):
    steps = np.abs(np.diff(anomaly(joined) - anomaly(in_one_piece), axis=2)).max(axis=(0, 1))
    assert steps[23] <= steps.max()  # between columns 23 and 24
    assert steps[23] < 0.1


def test_the_same_indications_are_found(in_one_piece, joined):
    def told(rec):
        return sorted((one.depth_to_top, one.area) for one in rec.indications())

    assert len(told(joined)) == len(FILMS)
    for (depth, area), (other, wide) in zip(told(joined), told(in_one_piece), strict=True):
        assert depth == pytest.approx(other, rel=0.03)
        assert area == pytest.approx(wide, abs=3 * PIXEL**2)


def test_what_would_have_been_seen_is_about_that_of_one_piece(in_one_piece, joined):
    one, other = (rec.frame_evidence.limits for rec in (in_one_piece, joined))
    assert other.names == one.names
    assert other.maps.shape == one.maps.shape
    known = np.isfinite(one.diameters)
    assert (other.diameters[known] <= 1.05 * one.diameters[known]).all()  # a tile, or the overview, finds it
    assert (other.diameters[known] > 0.5 * one.diameters[known]).all()
    assert "What would have been seen" in joined.verdict().text


def test_frames_gains_and_noise_are_of_the_whole(in_one_piece, joined):
    assert joined.fitted.shape == in_one_piece.fitted.shape
    assert np.abs(joined.fitted - in_one_piece.fitted).max() < 0.05
    np.testing.assert_allclose(joined.noise_of_frames, in_one_piece.noise_of_frames, rtol=0.05)
    assert joined.facts.gain.shape == joined.grid.shape[1:]
    assert joined.misfit == pytest.approx(in_one_piece.misfit, rel=0.05)
    assert any("Solved in four tiles" in note.text for note in joined.facts.notes)


class Told:
    """Keeps what it is told."""

    def __init__(self):
        self.stages, self.tiles = [], []

    def watch(self):
        from nefty.inversion.reconstruct import Watch

        return Watch(self.stages.append, lambda stage, done, total, misfit: self.tiles.append((done, total)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif("NEFTY_TEST_LONG" not in os.environ, reason="takes a minute: make test-long")
def test_on_workers_it_goes_on_where_it_was_stopped(whole, joined, tmp_path):
    pytest.importorskip("distributed")
    told = Told()
    values = {"overrides": QUICK, "run": tmp_path / "run", "pixels": MOST, "place": Place(workers=1)}
    rec = nefty.reconstruct_tiles(whole, watch=told.watch(), **values)
    assert told.tiles == [(n, 4) for n in (1, 2, 3, 4)]
    assert np.sqrt(np.mean((anomaly(rec) - anomaly(joined)) ** 2)) < 0.01  # another draw of the noise differs by more
    names = sorted(path.name for path in (tmp_path / "run" / TILES).iterdir())
    assert names == ["r00c00", "r00c01", "r01c00", "r01c01"]
    assert not list((tmp_path / "run").rglob(RECORDING))

    kept = (tmp_path / "run" / OVERVIEW / "result.h5").stat().st_mtime_ns
    before = {name: (tmp_path / "run" / TILES / name / "result.h5").stat().st_mtime_ns for name in names}
    (tmp_path / "run" / "result.h5").unlink()  # as if it had been killed with one tile to go
    shutil.rmtree(tmp_path / "run" / TILES / names[2])
    again = nefty.reconstruct_tiles(whole, **values)
    np.testing.assert_array_equal(again.alpha, rec.alpha)
    after = {name: (tmp_path / "run" / TILES / name / "result.h5").stat().st_mtime_ns for name in names}
    assert [name for name in names if after[name] != before[name]] == [names[2]]
    assert (tmp_path / "run" / OVERVIEW / "result.h5").stat().st_mtime_ns == kept
    kept_part = Reconstruction.load(tmp_path / "run").calibrated
    assert kept_part is not None
    assert rec.calibrated is not None
    assert kept_part.alpha == rec.calibrated.alpha

    with pytest.raises(InputError, match="pixels of a tile is"):
        nefty.reconstruct_tiles(whole, **{**values, "pixels": MOST + 1})


def test_a_recipe_that_cannot_be_tiled_is_refused(whole, tmp_path):
    with pytest.raises(InputError, match="'fast' cannot be solved in tiles"):
        nefty.reconstruct_tiles(whole, "fast", run=tmp_path / "run")
    with pytest.raises(InputError, match="Ctrl-C"):
        nefty.reconstruct_tiles(whole, overrides={"stop.seconds": 5}, run=tmp_path / "run")


def test_only_large_parts_are_tiled_of_themselves(whole):
    assert why_tiles(whole, load_recipe("real")) == ""
    side = int(np.sqrt(LARGE)) + 1
    large = nefty.Sequence(np.ones((2, side, side)), np.array([1.0, 2.0]), size=(1.0, 1.0, 1.0))
    assert f"more than the {LARGE}" in why_tiles(large, load_recipe("real"))
    assert why_tiles(large, load_recipe("fast")) == ""


def test_layers_are_those_of_the_recipe(joined):
    assert joined.grid.shape[0] == LAYERS
