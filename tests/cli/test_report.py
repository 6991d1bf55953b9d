import csv

import numpy as np
import pytest

from nefty.result.reconstruction import Reconstruction
from support.disks import read_only


def test_it_writes_the_report_and_the_exports(finished, tmp_path, call):
    page = tmp_path / "new" / "page.html"
    code, out, _ = call(
        "report", finished, "--out", page, "--export", ".npz", "--export", ".csv", "--export", tmp_path / "v.vti"
    )
    assert code == 0
    for path in (page, tmp_path / "new" / "volume.npz", tmp_path / "new" / "defects.csv", tmp_path / "v.vti"):
        assert path.stat().st_size > 0
        assert f"written: {path}" in out
    rec = Reconstruction.load(finished)
    with np.load(tmp_path / "new" / "volume.npz") as archive:
        assert np.array_equal(archive["alpha"], rec.alpha)
    with open(tmp_path / "new" / "defects.csv") as file:
        assert len(list(csv.DictReader(file))) == len(rec.defects())


def test_by_default_it_lies_beside_the_result(finished, tmp_path, call):
    file = Reconstruction.load(finished).save(tmp_path / "alone.h5")
    assert call("report", file)[0] == 0
    assert (tmp_path / "report.html").exists()


def test_an_unknown_suffix_is_refused(finished, tmp_path, call):
    code, _, err = call("report", finished, "--out", tmp_path / "r.html", "--export", ".stl")
    assert code == 2
    assert ".vti" in err


def test_a_run_without_a_result_is_refused(tmp_path, call):
    (tmp_path / "config.json").write_text("{}")
    code, _, err = call("report", tmp_path)
    assert code == 2
    assert "has no result yet" in err


def test_a_folder_that_cannot_be_written_is_a_clear_error(finished, tmp_path, call):
    (tmp_path / "closed").mkdir()
    with read_only(tmp_path / "closed"):
        code, _, err = call("report", finished, "--out", tmp_path / "closed" / "r.html")
    assert code == 2
    assert "cannot write" in err


@pytest.mark.parametrize("words", [[], ["--open"]])
def test_it_opens_the_page_only_when_asked(finished, tmp_path, call, monkeypatch, words):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    call("report", finished, "--out", tmp_path / "r.html", *words)
    assert opened == [(tmp_path / "r.html").resolve().as_uri()] * len(words)


def test_a_damaged_result_says_how_to_make_it_again(finished, tmp_path, call):
    whole = (finished / "result.h5").read_bytes()
    (tmp_path / "result.h5").write_bytes(whole[: len(whole) // 2])
    code, _, err = call("report", tmp_path)
    assert code == 2
    assert "result.h5 is damaged or cut off" in err
    assert "nefty reconstruct that wrote it, with --fresh" in err
