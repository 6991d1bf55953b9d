import re

import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs

from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.pages.page import Fact, Notice, Page, Section, Table

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
    assert own.count("<script") == own.count("</script>") == 3


def test_every_part_is_there_in_order(own):
    parts = ["12 ms", "First", "Shows this.", "Good looks like", "Bad looks like", "What to do", "Second", "Provenance"]
    places = [own.index(part) for part in parts]
    assert places == sorted(places)


def test_headings_without_text_are_left_out(own):
    assert own.count("Good looks like") == 1


def test_figures_have_stable_names_and_do_not_start_by_themselves(own):
    assert 'id="figure-1"' in own
    assert "Plotly.animate" not in own


def test_a_notice_quiet_rows_and_folded_details():
    table = Table(("name", "value"), [("found", "1"), ("true", "2")], quiet=[1])
    page = Page(
        "t", "l", [Section("s", "x", table=table)], notice=Notice(NASTY, NASTY, "caution"), details={NASTY: NASTY}
    )
    html = page.render()
    assert '<div class="notice caution"><strong>&lt;script' in html
    assert html.count('<tr class="quiet"><th scope="row">true') == 1
    assert "<details><summary>&lt;script" in html
    assert "<script>alert" not in html


def test_the_best_cells_and_the_columns_of_others_are_marked():
    rows = [("a", "1", "7"), ("b", "2", "8")]
    table = Table(("name", "ours", "theirs"), rows, best=[(1, 1)], quiet_columns=[2], one_line=True)
    html = Page("t", "l", [Section("s", "x", table=table)]).render()
    assert '<div class="rows one-line">' in html
    assert '<th>ours</th><th class="quiet">theirs</th>' in html
    assert '<th scope="row">a</th><td>1</td><td class="quiet">7</td>' in html
    assert '<th scope="row">b</th><td class="best">2</td><td class="quiet">8</td>' in html


def test_a_plain_table_has_no_marks(own):
    assert '<div class="rows">' in own
    assert '<td class="' not in own


def test_figures_that_shrink_do_not_scroll():
    figure = go.Figure(go.Scatter(x=[1], y=[2])).update_layout(margin={"t": 1, "b": 1}, height=100)
    html = Page("t", "l", [Section("s", "x", figure=figure)]).render()
    assert 'class="figure"' in html
    html = Page("t", "l", [Section("s", "x", figure=stack_when_narrow(figure, [100]))]).render()
    assert 'class="figure shrinks"' in html


def test_long_pages_have_contents():
    assert '<a href="#section-7">7 s</a>' in Page("t", "l", [Section("s", "x")] * 7).render()
    assert "#section-1" not in Page("t", "l", [Section("s", "x")] * 6).render()


def test_two_renderings_are_equal():
    page = Page("t", "l", [Section("s", "x", figure=go.Figure(go.Scatter(x=[1], y=[2])))])
    assert page.render() == page.render()
