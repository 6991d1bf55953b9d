import re

import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs

from nefty.report.page import Fact, Page, Section, Table

NASTY = '<script>alert("x")</script> & <b>'


@pytest.fixture(scope="module")
def html():
    figure = go.Figure(go.Scatter(x=[1, 2], y=[3, 4], name=NASTY)).update_layout(title_text=NASTY)
    page = Page(
        title=NASTY,
        lead=NASTY,
        facts=[Fact("speed", "12 ms", NASTY)],
        sections=[
            Section("First", "Shows this.", "Good.", "Bad.", "Do.", figure=figure),
            Section("Second", NASTY, table=Table(("name", "value"), [(NASTY, "1")])),
        ],
        provenance={"host": NASTY},
    )
    return page.render()


@pytest.fixture(scope="module")
def own(html):
    """The page without Plotly.js, whose text holds addresses it does not fetch."""
    library = get_plotlyjs()
    assert html.count(library) == 1
    return html.replace(library, "")


def test_nothing_is_fetched_from_the_network(own):
    assert not re.search(r"""(src|href|action|data)\s*=\s*["']?\s*(https?:)?//""", own, re.I)
    assert not re.search(r"@import|url\(", own, re.I)
    assert not re.search(r"<(link|iframe|img|object|embed)\b", own, re.I)
    assert not re.search(r"https?://", own)


def test_text_is_escaped_everywhere(own):
    assert "<script>alert" not in own
    assert "&lt;script&gt;alert" in own
    assert own.count("<script") == own.count("</script>") == 2


def test_every_part_is_there_in_order(own):
    parts = ["12 ms", "First", "Shows this.", "Good looks like", "Bad looks like", "What to do", "Second", "Provenance"]
    places = [own.index(part) for part in parts]
    assert places == sorted(places)


def test_headings_without_text_are_left_out(own):
    assert own.count("Good looks like") == 1


def test_figures_have_stable_names_and_do_not_start_by_themselves(own):
    assert 'id="figure-1"' in own
    assert "Plotly.animate" not in own


def test_two_renderings_are_equal():
    page = Page("t", "l", [Section("s", "x", figure=go.Figure(go.Scatter(x=[1], y=[2])))])
    assert page.render() == page.render()
