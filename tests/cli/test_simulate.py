import numpy as np

from nefty.data.load import load
from nefty.synth.recording import simulate
from nefty.synth.specimen import draw_specimen


def test_it_writes_the_recording_of_a_seed(tmp_path, call):
    file = tmp_path / "new" / "plate.h5"
    code, out, _ = call("simulate", "--seed", 3, "--kind", "homogeneous", "--noise", 0.002, "--out", file)
    assert code == 0
    assert f"nefty reconstruct {file}" in out
    written, expected = load(file), simulate(draw_specimen(3), noise=0.002)
    assert written.digest() == expected.digest()
    assert written.truth is not None
    assert np.array_equal(written.truth, np.asarray(expected.truth))


def test_what_does_not_fit_is_refused(tmp_path, call):
    for words, said in [
        (["--kind", "layerd"], "Did you mean 'layered'?"),
        (["--noise", -1, "--out", tmp_path / "a.h5"], "noise"),
        (["--out", tmp_path / "a.tiff"], "must end in .h5"),
    ]:
        code, _, err = call("simulate", *words)
        assert code == 2
        assert said in err
    assert list(tmp_path.iterdir()) == []
