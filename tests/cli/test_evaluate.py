import json

import numpy as np
import pytest

from nefty.metrics.score import evaluate
from nefty.result.reconstruction import Reconstruction
from support.parts import planted


@pytest.fixture
def truthless(finished, tmp_path):
    rec = Reconstruction.load(finished)
    return Reconstruction.from_record({**rec.record(), "truth": None}).save(tmp_path / "plain.h5")


def test_it_prints_the_score_of_a_run_and_of_its_file(finished, call):
    rec = Reconstruction.load(finished)
    expected = str(evaluate(rec, rec.truth)) + "\n"
    assert call("evaluate", finished) == (0, expected, "")
    assert call("evaluate", finished / "result.h5") == (0, expected, "")


def test_json_is_all_that_is_printed(finished, call):
    code, out, err = call("evaluate", finished, "--threshold", 0.05, "--json")
    assert (code, err) == (0, "")
    rec = Reconstruction.load(finished)
    assert json.loads(out) == json.loads(json.dumps(evaluate(rec, rec.truth, threshold=0.05).as_dict()))


def test_json_has_no_word_for_infinity(finished, tmp_path, call):
    np.save(tmp_path / "itself.npy", Reconstruction.load(finished).alpha)
    code, out, _ = call("evaluate", finished, "--truth", tmp_path / "itself.npy", "--json")
    assert code == 0
    assert json.loads(out)["psnr"] is None
    assert json.loads(out)["mse"] == 0


def test_the_truth_may_come_from_an_array_or_a_recording(truthless, finished, recording, tmp_path, call):
    rec = Reconstruction.load(finished)
    np.save(tmp_path / "truth.npy", np.asarray(rec.truth))
    expected = (0, str(evaluate(rec, rec.truth)) + "\n", "")
    assert call("evaluate", truthless, "--truth", tmp_path / "truth.npy") == expected
    assert call("evaluate", truthless, "--truth", recording) == expected


def test_without_a_truth_it_asks_for_one(truthless, sequence, tmp_path, call):
    code, _, err = call("evaluate", truthless)
    assert code == 2
    assert "--truth" in err
    np.savez(tmp_path / "bare.npz", frames=sequence.frames, times=sequence.times)
    code, _, err = call("evaluate", truthless, "--truth", tmp_path / "bare.npz")
    assert code == 2
    assert "does not know the truth" in err


def test_what_is_no_result_or_does_not_fit_is_refused(finished, recording, tmp_path, call):
    np.save(tmp_path / "small.npy", np.ones((2, 3, 4)))
    (tmp_path / "pickled.npy").write_bytes(b"\x80\x04N.")
    for words, said in [
        ([tmp_path / "nothing"], "there is no run"),
        ([tmp_path], "is no run"),
        ([recording], "reconstruction"),
        ([finished, "--truth", tmp_path / "small.npy"], "shape"),
        ([finished, "--truth", tmp_path / "pickled.npy"], "cannot read the truth"),
    ]:
        code, _, err = call("evaluate", *words)
        assert code == 2
        assert said in err


def test_a_run_in_metres_is_scored_in_millimetres_with_a_threshold_of_its_own(tmp_path, call):
    rec = planted()
    planted(truth=rec.alpha).save(tmp_path)
    code, out, _ = call("evaluate", tmp_path)
    assert code == 0
    assert "IoU 1.000, Dice 1.000 (alpha < 0.225)" in out
    assert "depth to the top: mean error 0" in out
    assert out.rstrip().endswith("lengths in mm, diffusivities in mm2/s")
    code, out, _ = call("evaluate", tmp_path, "--threshold", 0.01, "--json")
    assert json.loads(out)["threshold"] == 0.01
