"""Text in a terminal of 40 columns, of 200, and in a pipe."""

import pytest

from nefty.core.terminal_text import filled, listed, paired, table, text_width

WORDS = "The volume explains the recording down to the camera noise: the residual is 0.95 times the noise. " * 2
COLUMNS, ROWS = ("no", "centre x, y (mm)", "depth (mm)"), [("1", "2.30, 6.15", "0.60"), ("2", "1.00, 2.00", "0.75")]


@pytest.mark.parametrize(("columns", "width"), [("40", 40), ("200", 100), ("3", 20), (None, 100)])
def test_paragraphs_are_as_wide_as_the_terminal_and_not_wider_than_100(monkeypatch, columns, width):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    assert text_width() == width
    lines = filled(WORDS).splitlines()
    assert width - 16 < max(map(len, lines)) <= width
    assert " ".join(lines) == WORDS.strip()


def test_a_value_stands_beside_its_name_where_there_is_room(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert paired("Rate", "50 per s", 17) == "Rate             50 per s"
    assert all(line.startswith(17 * " ") for line in paired("Rate", WORDS, 17).splitlines()[1:])
    monkeypatch.setenv("COLUMNS", "40")
    assert paired("Rate", "50 per s", 17) == "Rate\n  50 per s"


def test_a_table_that_does_not_fit_becomes_a_list(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert table(COLUMNS, ROWS).splitlines()[1] == "1         2.30, 6.15        0.60"
    monkeypatch.setenv("COLUMNS", "24")
    first, second = table(COLUMNS, ROWS).split("\n\n")
    assert first.splitlines() == ["no: 1", "centre x, y (mm): 2.30,", "  6.15", "depth (mm): 0.60"]
    assert "0.75" in second


def test_files_are_listed_one_per_line_or_with_their_words_below(monkeypatch):
    files = {"plate-run/report.html": "open it in a browser", "plate-run/a": "all"}
    monkeypatch.delenv("COLUMNS", raising=False)
    assert listed(files).splitlines()[1] == "plate-run/a            all"
    monkeypatch.setenv("COLUMNS", "40")
    assert listed(files).splitlines()[:2] == ["plate-run/report.html", "  open it in a browser"]
