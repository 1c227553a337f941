"""Names and values of a table are text on every page: no link, no image, no formula, no request to elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from dashboard.charts.layout import as_text
from dashboard.elements.routes import ROUTES
from dashboard.markdown import escaped
from dashboard.session.workspace import run_names
from tests.dashboard import browser
from tests.dashboard.conftest import Visitor
from tests.security.markdown_texts import made, texts

HOSTILE = {
    "age": "![i](http://evil.example/i.png)",
    "zip": "www.evil.example",
    "sex": "[l](https://evil.example/l) :red[x] :material/add: $x^2$",
    "illness": "a@evil.example <a href='http://evil.example/a'>x</a> :streamlit:",
    "free": "https://evil.example/f?<img src='http://evil.example/g'>",
}
ROLES = {
    "age": "quasi-identifier",
    "zip": "quasi-identifier",
    "sex": "quasi-identifier",
    "illness": "sensitive",
    "free": "insensitive",
}
WITHOUT_TABLE = ("book", "learn", "reference")
"""Pages that say nothing of a table."""
MADE = 'a[href*="evil"]:not([href^="#"]), img[src*="evil"], image[href*="evil"], [style*="evil"]'
"""Links, images and styles that came from the table."""
VALUES = (
    "![v](http://evil.example/v.png)",
    "www.evil.example/v",
    "<a href='http://evil.example/w'>w</a>",
    "b@evil.example",
)
MARKUP = re.compile(r".{0,60}<(?:a|img)\b.{0,60}")
FILE = "![f](http:evil.example) www.evil.example <b>.csv"


def hostile_table(n_rows: int = 240) -> bytes:
    """A table whose names and values are what pages might read as something else than text."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            HOSTILE["age"]: rng.integers(20, 80, n_rows),
            HOSTILE["zip"]: rng.integers(100, 140, n_rows),
            HOSTILE["sex"]: rng.choice(["=1+1", "www.evil.example/m"], n_rows),
            HOSTILE["illness"]: rng.choice(VALUES, n_rows),
            HOSTILE["free"]: rng.integers(0, 5, n_rows),
        }
    )
    return frame.to_csv(index=False).encode()


def drawn(block: Any) -> Iterator[Any]:
    """Everything on a page."""
    for child in getattr(block, "children", {}).values():
        yield child
        yield from drawn(child)


def faults(at: Any) -> set[str]:
    """What on the page of a visitor is more than text."""
    found: set[str] = set()
    for item in drawn(at._tree):
        proto = getattr(item, "proto", None)
        if proto is None:
            continue
        found |= {f"{place}: {text[:160]!r} makes {what}" for place, text in texts(proto) if (what := made(text))}
        spec = getattr(proto, "spec", "") or getattr(getattr(proto, "figure", None), "spec", "")
        if spec and (markup := MARKUP.search(spec.replace("\\u003c", "<"))):
            found.add(f"a figure has {markup[0]!r}")
    return found


def hostile_visit() -> Visitor:
    """A visitor whose table is hostile, with roles and a run."""
    from dashboard.session import state

    visitor = Visitor().upload(FILE, hostile_table())
    here = state._workspaces.get(visitor.workspace)
    for name, role in ROLES.items():
        here.set_tags(here.tags.changed("roles", HOSTILE[name], role))
    return visitor.make()


@pytest.mark.slow
def test_no_page_makes_more_than_text_of_a_hostile_table() -> None:
    from dashboard.session import state

    untagged = Visitor().upload(FILE, hostile_table())
    seen = {"before a role": faults(untagged.at) | faults(untagged.open("table").at)}
    visitor = hostile_visit()
    for route in ROUTES:
        if route.name not in WITHOUT_TABLE:
            seen[route.title] = faults(visitor.open(route.title.lower()).at)
    here = state._workspaces.get(visitor.workspace)
    visitor.open("board").at.button(key="board-publish").click()
    visitor.run()
    # Escaped twice, the marks themselves would be seen.
    names = run_names(here.runs)
    (choice,) = (one for one in visitor.at.radio if one.key.startswith("board-publish-run"))
    assert choice.options == [escaped(name) for name in names.values()]
    seen["Publish"] = faults(visitor.at)
    assert {page: found for page, found in seen.items() if found} == {}


def found_in(page: Any) -> list[str]:
    """What on the page came from the table and is more than text."""
    return [str(one.evaluate("node => node.outerHTML"))[:300] for one in page.locator(MADE).all()]


@pytest.mark.browser
@pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}")
def test_in_a_browser_no_request_leaves_and_no_link_or_image_is_made(browse: Any) -> None:
    from dashboard.session import session_file, state

    content = session_file.save(state._workspaces.get(hostile_visit().workspace))
    visitor = browse()
    visitor.open()
    visitor.page.get_by_text("Save this session, or open a saved one").click()
    chooser = visitor.page.get_by_test_id("stFileUploaderDropzoneInput").nth(1)
    chooser.set_input_files({"name": "s.anoncore", "mimeType": "application/octet-stream", "buffer": content})
    visitor.page.get_by_text("The session is open; 1 release came with it.").wait_for(timeout=60_000)
    for title in ("Table", "Board", "Groups", "Privacy", "Attack", "Publish"):
        visitor.go(title)
        # What is said on asking is drawn when the mouse lies on it.
        for mark in visitor.page.get_by_test_id("stTooltipIcon").all()[:6]:
            if mark.is_visible():
                mark.hover()
                visitor.page.wait_for_timeout(120)
                assert found_in(visitor.page) == [], title
        assert found_in(visitor.page) == [], title
        for grid in visitor.page.get_by_test_id("stDataFrame").all()[:2]:
            if grid.is_visible():
                grid.hover()
                assert grid.get_by_role("button", name=re.compile("Download")).count() == 0, title
    assert "evil.example" in visitor.text()
    assert visitor.foreign == []


@pytest.mark.parametrize(
    "text",
    [
        *HOSTILE.values(),
        *VALUES,
        FILE,
        "HTTP://evil.example",
        "http:\\//evil.example",
        "x.y+z@evil.example",
        "wWw.evil.example",
    ],
)
def test_an_escaped_text_is_only_text(text: str) -> None:
    assert made(escaped(text)) == ""
    shown = re.sub(r"\\(.)", r"\1", escaped(text)).replace("\u2060", "")
    assert shown == " ".join(text.split())


def test_what_makes_more_is_seen() -> None:
    for text in (
        "[a](b)",
        "![a](b)",
        "see www.evil.example",
        "http\\:\\/\\/evil.example",
        "a\\@evil.example",
        ":red[x]",
    ):
        assert made(text), text
    for text in ("\\[a\\]\\(b\\)", "\\:red\\[x\\]", "12:30", json.dumps({"a": 1})):
        assert not made(text), text


def test_a_figure_shows_markup_as_text() -> None:
    link, style = "<a href='http://evil.example'>x</a>", "<span style='cursor:url(http://evil.example)'>y</span>"
    figure = go.Figure(
        go.Bar(x=[link, "a<b"], y=np.array([1, 2]), customdata=np.array([[style], ["<b>c</b>"]], dtype=object)),
        layout={"title": {"text": f"<b>{link}</b><br>"}, "annotations": [{"text": "</a ><IMG src=1>"}]},
    )
    content = as_text(figure).to_json().replace("\\u003c", "<").replace("\\u003e", ">")
    assert "<a" not in content.lower().replace("a<b", "")
    assert "<span" not in content
    assert "<img" not in content.lower()
    assert "<b>&lt;a href" in content
    plain = go.Figure(go.Bar(x=["a", "1 < 2"], y=[1, 2]), layout={"title": {"text": "<b>t</b><br>u"}})
    assert as_text(plain) is plain
