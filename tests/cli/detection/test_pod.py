import json

import numpy as np
import pytest
from plotly.offline import get_plotlyjs

from nefty.data.facts import Hole, KnownDefects
from nefty.metrics.detection import hit_miss, signal_response
from support.parts import FACTS, planted

HOLES = (
    Hole("round", centre=(6.15e-3, 2.3e-3), width=(2.1e-3, 2.2e-3), depth=0.6e-3),
    Hole("round", centre=(2.0e-3, 7.0e-3), width=(1.2e-3, 1.2e-3), depth=0.9e-3),
)


@pytest.fixture
def table(tmp_path, rng):
    sizes = np.round(np.exp(rng.uniform(np.log(0.5), np.log(10), 70)), 3)
    hits = rng.random(70) < 1 / (1 + np.exp(2 - 2.5 * np.log(sizes)))
    signals = np.round(np.exp(0.2 + 1.1 * np.log(sizes) + 0.35 * rng.normal(size=70)), 4)
    path = tmp_path / "targets.csv"
    rows = (f"{a},{int(h)},{s}" for a, h, s in zip(sizes, hits, signals, strict=True))
    path.write_text("size (mm),detected,signal\n" + "\n".join(rows) + "\n")
    return path, sizes, hits, signals


def test_a_table_of_hits_and_misses(table, tmp_path, call):
    path, sizes, hits, _ = table
    code, out, _ = call("pod", path, "--out", tmp_path / "out")
    assert code == 0
    assert out.startswith(str(hit_miss(sizes, hits)))
    assert "sizes in mm" in out
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["pod.csv", "pod.html", "targets.csv"]
    page = (tmp_path / "out" / "pod.html").read_text(encoding="utf-8").replace(get_plotlyjs(), "")
    assert "Probability of detection: a90/95" in page
    again = call("pod", tmp_path / "out" / "targets.csv")
    assert again[0] == 0
    assert str(hit_miss(sizes, hits)) in again[1]


def test_a_threshold_fits_the_signals(table, call):
    path, sizes, _, signals = table
    code, out, err = call("pod", path, "--threshold", 1.6, "--low", 0.9, "--json")
    assert (code, err) == (0, "")
    expected = signal_response(sizes, signals, 1.6, low=0.9)
    told = json.loads(out)
    assert told["a90_wald"] == pytest.approx(expected.a90_wald)
    assert (told["unit"], told["kind"], told["false_calls"]) == ("mm", "signal response", None)


def test_runs_know_their_defects_or_are_told(tmp_path, call):
    """Two runs give four targets, which cannot be fitted; the error names them, after they were all read."""
    for name in ("a", "b"):
        planted(facts=FACTS.replaced(defects=KnownDefects(holes=HOLES))).save(tmp_path / "runs" / name)
    code, _, err = call("pod", tmp_path / "runs")
    assert code == 2
    assert "hits and misses are separated by size" in err
    code, out, _ = call("pod", tmp_path / "runs", "--firth", "--json")
    assert code == 0
    assert (json.loads(out)["targets"], json.loads(out)["false_calls"]) == (4, 0)
    truth = tmp_path / "truth.csv"
    truth.write_text("run,x,y,size\na,2.3,6.15,2.2\na,7,2,1.2\nb,7,2,1.0\n")
    code, out, _ = call("pod", tmp_path / "runs", "--truth", truth, "--firth", "--json")
    assert code == 0
    assert (json.loads(out)["targets"], json.loads(out)["false_calls"]) == (3, 1)  # run b is said to have no large one


def test_what_cannot_be_done_is_said(tmp_path, table, call):
    (tmp_path / "empty").mkdir()
    for words, said in [
        ([tmp_path / "empty"], "there is none in it"),
        ([tmp_path / "no.csv"], "cannot read the table"),
        ([tmp_path / "no-run"], "there is no run"),
        ([table[0], "--open"], "--out FOLDER"),
        ([table[0], "--low", 1.0], "give --threshold too"),
        ([table[0], "--link", "logti"], "logit"),
    ]:
        code, _, err = call("pod", *words)
        assert code == 2
        assert said in err


def test_false_calls_stand_beside_the_sizes(table, tmp_path, call):
    path, *_ = table
    assert "false calls: not measured" in call("pod", path)[1]
    assert "false calls: 3 in 20 parts, 0.15 per part (0.031 to 0.44)" in call(
        *("pod", path, "--false-calls", 3, "--parts", 20)
    )[1]  # fmt: skip
    code, _, err = call("pod", path, "--false-calls", 3)
    assert (code, "give --parts too" in err) == (2, True)
    path.write_text(path.read_text() + ",1,2.5\n,0,0.5\n,0,0.4\n")
    code, out, _ = call("pod", path, "--out", tmp_path / "out")
    assert "false calls: 1 in 3 sound places, 0.33 per sound place" in out
    assert "found against false, as the threshold of the signal moves" in out
    assert (tmp_path / "out" / "trade-off.csv").read_text().startswith("threshold,found,targets,share")
    told = json.loads(call("pod", path, "--threshold", 2.0, "--json")[1])
    assert (told["false_calls"], told["false_call_rate"]["rate"]) == (1, pytest.approx(1 / 3))
    assert told["trade_off"][-1]["found"] == 70


def test_an_asymptote_can_be_asked_for(table, call):
    path, sizes, hits, _ = table
    told = json.loads(call("pod", path, "--asymptote", "free", "--json")[1])
    assert told["asymptote"]["estimate"] == pytest.approx(hit_miss(sizes, hits, asymptote="free").ceiling)
    assert json.loads(call("pod", path, "--asymptote", "one", "--json")[1])["asymptote"] is None
