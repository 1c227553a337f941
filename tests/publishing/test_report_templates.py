"""Each template of the report escapes each value that it shows."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
import pytest
from markupsafe import Markup

from anoncore.publishing import report
from anoncore.publishing.report.drawing import rendered

TEMPLATES = Path(report.__file__).with_name("templates")
NASTY = """<script>alert("x")</script>&amp;'<img src=http://evil/ onerror=a>{{ 7 * 7 }}{% raw %}"""
ESCAPED = str(Markup.escape(NASTY))
FIGURE = SimpleNamespace(drawing=NASTY, caption=NASTY)
NUMBER = SimpleNamespace(
    title=NASTY, meaning=NASTY, source=NASTY, family=NASTY, summary=NASTY, higher_is_better=True, text=lambda _: NASTY
)
SUBJECT = SimpleNamespace(style=0, label=NASTY, table=NASTY)
VERDICT = SimpleNamespace(
    headline=NASTY,
    statements=[SimpleNamespace(holds=holds, sentence=NASTY, source=NASTY) for holds in (True, False)],
    not_asked=[SimpleNamespace(sentence=NASTY)],
    decided=[NASTY],
    promised=(NASTY,),
    unjudged=(NASTY,),
    mend=SimpleNamespace(asking=NASTY),
)
VALUES: dict[str, tuple[dict[str, Any], int]] = {
    "adversary.html": (
        {
            "attribute": NASTY,
            "beliefs": SimpleNamespace(rows=[(NASTY, NASTY)], figure=FIGURE),
            "no_beliefs": "",
            "question": NASTY,
            "known": SimpleNamespace(told=NASTY, rows=[(NASTY, NASTY)], notes=[NASTY]),
            "threshold": NASTY,
            "risks": [(NASTY, NASTY)],
            "notes": [NASTY],
            "people": NASTY,
            "told": str,
        },
        15,
    ),
    "all_numbers.html": ({"families": [(NASTY, [(NUMBER, 0.5)])], "told": str}, 5),
    "cost.html": ({"figures": [FIGURE], "no_queries": NASTY}, 3),
    "definitions.html": ({}, 0),
    "distributions.html": ({"figures": [FIGURE], "missing": [NASTY]}, 3),
    "earlier.html": ({"earlier": [SimpleNamespace(sentence=NASTY, about=NASTY)]}, 2),
    "holds.html": ({"verdict": VERDICT, "otherwise": NASTY}, 9),
    "meanings.html": ({"numbers": [NUMBER]}, 3),
    "method.html": ({"algorithm": NUMBER, "parameters": [(NASTY, NASTY)], "seed": NASTY, "notes": [NASTY]}, 8),
    "no_people.html": ({"text": NASTY}, 1),
    "not_checked.html": ({"missing": [NASTY]}, 1),
    "page.html": (
        {
            "title": NASTY,
            "made": NASTY,
            "version": NASTY,
            "sections": [SimpleNamespace(title=NASTY, content=NASTY)],
        },
        7,
    ),
    "promises.html": ({"subjects": [SimpleNamespace(style=0, label=NASTY, verdict=VERDICT)]}, 7),
    "published.html": (
        {
            "attributes": [(NASTY, NASTY)],
            "joined": True,
            "samples": [
                SimpleNamespace(name=NASTY, n_rows=NASTY, header=[NASTY], rows=[[NASTY], [NASTY]], numeric=[0])
            ],
        },
        7,
    ),
    "reached.html": ({"levels": [(NASTY, NASTY)], "figures": [FIGURE], "notes": [NASTY]}, 5),
    "releases.html": ({"releases": [(SUBJECT, NASTY, NASTY, NASTY)]}, 5),
    "side_by_side.html": (
        {
            "families": [(NASTY, [(NASTY, [(NASTY, NASTY, NASTY)])])],
            "subjects": [SUBJECT],
            "not_there": NASTY,
            "shares": FIGURE,
        },
        10,
    ),
    "summary.html": (
        {
            "headline": NASTY,
            "question": NASTY,
            "told": str,
            "rows": NASTY,
            "sizes": NASTY,
            "tiles": [(NUMBER, 0.5)],
        },
        7,
    ),
}
"""Values for each template, a dangerous one wherever it shows something, and how often that is."""


def test_each_template_is_looked_at() -> None:
    assert set(VALUES) == {path.name for path in TEMPLATES.glob("*.html")} - {"macros.html"}


@pytest.mark.parametrize("name", VALUES)
def test_each_value_is_text_and_none_may_be_left_out(name: str) -> None:
    values, shown = VALUES[name]
    text = rendered(name, **values)
    assert text.count(ESCAPED) == shown
    assert NASTY not in text
    assert "<script" not in text
    assert "<img" not in text
    # These are asked for only without beliefs, and where nothing fails badly.
    for one in set(values) - {"no_beliefs", "otherwise"}:
        with pytest.raises(jinja2.UndefinedError):
            rendered(name, **{key: value for key, value in values.items() if key != one})


@pytest.mark.parametrize("path", sorted(TEMPLATES.iterdir()), ids=lambda path: path.name)
def test_no_template_turns_escaping_off(path: Path) -> None:
    text = path.read_text("utf-8")
    for word in ("|safe", "| safe", "Markup", "autoescape", "<script", "://", "@import", "url("):
        assert word not in text


def test_reasons_are_escaped_where_there_are_no_beliefs() -> None:
    values = VALUES["adversary.html"][0] | {"beliefs": None, "no_beliefs": NASTY}
    assert f"<p>{ESCAPED}</p>" in rendered("adversary.html", **values)


def test_what_is_said_where_nothing_fails_badly_is_escaped() -> None:
    values = {"verdict": SimpleNamespace(**vars(VERDICT) | {"not_asked": []}), "otherwise": NASTY}
    assert f"<p>{ESCAPED}</p>" in rendered("holds.html", **values)
