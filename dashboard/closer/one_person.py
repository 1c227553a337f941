"""The page One person: what the release of every column tells about the same row."""

from __future__ import annotations

import secrets

import pandas as pd
import streamlit as st

from anoncore import AnonymizationError, Release, attacks
from anoncore.attacks import SpecialUniques
from anoncore.attacks.person import PersonView, original_values, person_view
from anoncore.attacks.posterior import table_distribution
from anoncore.base.texts import share_text
from anoncore.release.unchanged import unchanged
from dashboard.charts.palette import run_style
from dashboard.charts.privacy import belief_bars
from dashboard.elements import about, parts, whose_rows
from dashboard.markdown import escaped
from dashboard.session import browser, compute
from dashboard.session.workspace import Run, run_names

_ROW = "person-row"


def render() -> None:
    """Draw the page."""
    runs = parts.releases()
    if not runs or any(whose_rows.stands_open(run) for run in runs):
        return
    attribute = None
    if runs[0].data.sensitive:
        attribute = parts.choice(
            "Sensitive attribute", list(runs[0].data.sensitive), "person-attribute", "What the adversary is after."
        )
    _follow(list(runs), attribute)


@st.fragment
@parts.says_why
def _follow(runs: list[Run], attribute: str | None) -> None:
    """Ask for a row of the table, and draw what each release tells about it."""
    known = _telling(runs)
    if not known:
        st.info("None of these releases tells which of its rows is whose.")
        return
    n_rows = known[0].data.n_rows
    held = browser.widget_value(_ROW)
    if held is None or held > n_rows:
        browser.set_widget_values({_ROW: 1})
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    with left:
        number = st.number_input(
            "Row of the table",
            min_value=1,
            max_value=n_rows,
            key=_ROW,
            persist_state="session",
            help="The person is followed through all releases; 1 is the first row of the table as loaded.",
        )
    with right:
        st.button("Another person", on_click=_another, args=(n_rows,), help="Take a row at random.")
    if len(known) < len(runs):
        st.caption("Releases of other rows, or of nobody's, are left out: they tell nothing of this person.")
    draw(runs, int(number) - 1, attribute)


def draw(runs: list[Run], row: int, attribute: str | None) -> None:
    """Draw what each release publishes of a row of the table, and what it makes somebody believe of it."""
    known = _telling(runs)
    views = [compute.cached("person", run, person_view, row, attribute) for run in known]
    _published(known, views, row)
    _alone(known, row)
    if attribute is not None:
        _beliefs(known, views, attribute)


def _telling(runs: list[Run]) -> list[Run]:
    """The releases that tell which of their rows is whose, of the table of the first of them."""
    known = [run for run in runs if run.data.knows_rows and not run.release.is_synthetic]
    return [run for run in known if run.data.n_rows == known[0].data.n_rows]


def _another(n_rows: int) -> None:
    browser.set_widget_values({_ROW: secrets.randbelow(n_rows) + 1})


def _published(runs: list[Run], views: list[PersonView], row: int) -> None:
    original = original_values(runs[0].data, row)
    frame = pd.DataFrame(
        {"attribute": [*original, "rows that look alike", "found with"], "original": [*original.values(), "", ""]}
    )
    names = run_names(runs)
    for run, view in zip(runs, views, strict=True):
        frame[names[run.id]] = [
            *(view.published.get(name, "") for name in original),
            f"{view.group_size:,}",
            _found_with(run, row),
        ]
    st.dataframe(frame, hide_index=True, key="person-published", alt="What each release publishes of this person.")
    st.caption(
        "What an adversary may look for, and how each release publishes it of this person. Found with: how likely "
        "whoever knows all of it links the right row with the person, if the table has everybody; the tab Population "
        "of the page Attack asks this of a sample."
    )


def _found_with(run: Run, row: int) -> str:
    """How likely the row of a person is linked rightly by all that the release publishes of them."""
    if run.data.people is not None:
        return "not measured"  # of rows that look alike several may be one person's, who is found more easily
    try:
        return share_text(float(compute.cached("individual-risk", run, attacks.individual_risk).risk[row]))
    except AnonymizationError:
        return "not measured"


def _alone(runs: list[Run], row: int) -> None:
    """By which few attributes nobody else looks like a person."""
    about.heading("Alone by few attributes", "attack:special_uniques")
    table = parts.later("Special uniques", "special-uniques-before", runs[0], _special_uniques_before)
    of_runs = [parts.later("Special uniques", "special-uniques", run, attacks.special_uniques) for run in runs]
    if not isinstance(table, SpecialUniques):
        return
    names = run_names(runs)
    titles = ["original", *(names[run.id] for run in runs)]
    measured = [(title, alone) for title, alone in zip(titles, (table, *of_runs), strict=True) if alone is not None]
    frame = pd.DataFrame(
        {
            "release": [title for title, _ in measured],
            "alone by": [
                "; ".join(" + ".join(attributes) for attributes in alone.of_row(row)) or "no three attributes"
                for _, alone in measured
            ],
            "SUDA score": [alone.score[row] for _, alone in measured],
            "rows with a higher score": [float((alone.score > alone.score[row]).mean()) for _, alone in measured],
        }
    )
    st.dataframe(
        frame,
        hide_index=True,
        key="person-alone",
        column_config={"rows with a higher score": st.column_config.NumberColumn(format="percent")},
        alt="By which few attributes nobody else looks like this person, in each release.",
    )
    st.caption(
        "The sets of at most three known attributes by which nobody else looks like this person, and by no part of "
        "which. The more and the smaller they are, the more somebody stands out, and the higher is SUDA's score."
    )


def _special_uniques_before(release: Release) -> SpecialUniques:
    """Who is alone in the original table."""
    return attacks.special_uniques(unchanged(release.data))


def _beliefs(runs: list[Run], views: list[PersonView], attribute: str) -> None:
    known = [(run, view) for run, view in zip(runs, views, strict=True) if view.belief is not None]
    for run in (run for run, view in zip(runs, views, strict=True) if view.belief is None):
        st.caption(f"{escaped(run.label)} does not publish single values of this attribute.")
    if not known:
        return
    data = known[0][0].data
    domain, true = data.domain[attribute], int(data.codes[attribute][views[0].row])
    parts.chart(
        belief_bars(
            [domain.text(code) for code in range(len(domain))],
            [view.belief for _, view in known if view.belief is not None],
            table_distribution(known[0][0].release, attribute),
            true,
            [run.label for run, _ in known],
            [run_style(run.color_index) for run, _ in known],
        ),
        key="person-beliefs",
        caption=f"How likely each value of '{escaped(attribute)}' is for someone who knows this person's "
        "quasi-identifiers, by each release. The star marks the true value.",
        alt="; ".join(
            f"{run.label}: true value {share_text(view.belief[true])}" for run, view in known if view.belief is not None
        ),
    )
