"""The page One person, what every column tells about a row; and three people who explain a number of other pages."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import AnonymizationError, Release, ReleaseError, attacks, utility
from anoncore.attacks import SpecialUniques
from anoncore.attacks.person import PersonView, original_values, person_view
from anoncore.attacks.posterior import table_distribution
from anoncore.base.texts import share_text
from anoncore.kernels.arrays import Floats
from anoncore.measures.promise_marks import has_buckets
from anoncore.release.unchanged import unchanged
from dashboard.charts.attacks import belief_bars
from dashboard.closer import all_columns
from dashboard.elements import about, parts, role_questions
from dashboard.markdown import escaped
from dashboard.session import browser, state
from dashboard.session.workspace import Run, column_names, run_names

_ROW = "person-row"
WHO = ("The worst off", "In the middle", "The best off")
"""Of three people that explain a number, by that number."""


def render() -> None:
    """Draw the page."""
    runs = parts.releases()
    if not runs or any(role_questions.whose_rows_are_open(run) for run in runs):
        return
    attribute = None
    if runs[0].data.sensitive:
        attribute = parts.choice(
            "Sensitive attribute", list(runs[0].data.sensitive), "person-attribute", "What the adversary is after."
        )
    _follow(list(runs), attribute)


@parts.fragment
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
        another = partial(browser.set_widget_values, {_ROW: secrets.randbelow(n_rows) + 1})
        st.button("Another person", on_click=another, help="Take a row at random.")
    if len(known) < len(runs):
        st.caption("Releases of other rows, or of nobody's, are left out: they tell nothing of this person.")
    draw(runs, int(number) - 1, attribute)


def draw(runs: list[Run], row: int, attribute: str | None) -> None:
    """Draw what each release publishes of a row of the table, and what it makes somebody believe of it."""
    known = _telling(runs)
    found = [parts.soon(f"What {run.title} tells", run, person_view, row, attribute) for run in known]
    views = [view for view in found if view is not None]
    if len(views) < len(known):
        return
    _published(known, views, row)
    _alone(known, row)
    if attribute is not None:
        _beliefs(known, views, attribute)


def _telling(runs: list[Run]) -> list[Run]:
    """The releases that tell which of their rows is whose, of the table of the first of them."""
    known = [run for run in runs if run.data.knows_rows and not run.release.is_synthetic]
    return [run for run in known if run.data.n_rows == known[0].data.n_rows]


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
    parts.table(frame, "person-published", "What each release publishes of this person.")
    st.caption(
        "What an adversary may look for, and how each release publishes it of this person. Found with: how likely "
        "whoever knows all of it links the right row with the person, if the table has everybody; the tab Population "
        "of the page Attack asks this of a sample."
    )


def _found_with(run: Run, row: int) -> str:
    """How likely the row of a person is linked rightly by all that the release publishes of them."""
    # Of rows that look alike several may be one person's, who is found more easily.
    if run.data.people is None:
        with suppress(AnonymizationError):
            found = parts.soon("Found with", run, attacks.individual_risk, takes_long=True)
            return "being measured" if found is None else share_text(float(found.risk[row]))
    return "not measured"


def _alone(runs: list[Run], row: int) -> None:
    """By which few attributes nobody else looks like a person."""
    about.heading("Alone by few attributes", "attack:special_uniques")
    table = parts.later("Special uniques", runs[0], _special_uniques_before)
    of_runs = [parts.later("Special uniques", run, attacks.special_uniques) for run in runs]
    if not isinstance(table, SpecialUniques):
        return
    names = run_names(runs)
    titles = ["original", *(names[run.id] for run in runs)]
    measured = {title: alone for title, alone in zip(titles, (table, *of_runs), strict=True) if alone is not None}
    sets = [[" + ".join(attributes) for attributes in alone.of_row(row)] for alone in measured.values()]
    parts.table(
        pd.DataFrame(
            {
                "release": list(measured),
                "alone by": ["; ".join(one) or "no three attributes" for one in sets],
                "SUDA score": [alone.score[row] for alone in measured.values()],
                "rows with a higher score": [(alone.score > alone.score[row]).mean() for alone in measured.values()],
            }
        ),
        "person-alone",
        "By which few attributes nobody else looks like this person, in each release.",
        columns={"rows with a higher score": parts.percent(width=None)},
    )
    st.caption(
        "The sets of at most three known attributes by which nobody else looks like this person, and by no part of "
        "which. The more and the smaller they are, the more somebody stands out, and the higher is SUDA's score."
    )


def _special_uniques_before(release: Release) -> SpecialUniques:
    """Who is alone in the original table."""
    return attacks.special_uniques(unchanged(release.data))


def _beliefs(runs: list[Run], views: list[PersonView], attribute: str) -> None:
    known, names = {}, column_names(runs)
    for run, view in zip(runs, views, strict=True):
        if view.belief is None:
            st.caption(f"{escaped(run.label)} does not publish single values of this attribute.")
        else:
            known[names[run.id]] = (view.belief, run.style)
    if not known:
        return
    data = runs[0].data
    domain, true = data.domain[attribute], int(data.codes[attribute][views[0].row])
    parts.chart(
        belief_bars(list(domain.texts), known, table_distribution(runs[0].release, attribute), true),
        "person-beliefs",
        f"How likely each value of '{escaped(attribute)}' is for someone who knows this person's "
        "quasi-identifiers, by each release. The star marks the true value.",
        "; ".join(f"{label}: true value {share_text(belief[true])}" for label, (belief, _) in known.items()),
    )


@dataclass(frozen=True)
class Number:
    """A number that each row has: how it is read in a sentence, how it is found where nobody gives it, and whether the
    largest is the worst.
    """

    told: Callable[[float], str]
    of_rows: Callable[[Run, str], Floats] | None = None
    largest_is_worst: bool = True


def _hidden(run: Run, _attribute: str) -> Floats:
    release = run.release
    sizes = [release.people_per_group(part)[part.partition.group] for part in release.fragments]
    return np.min(sizes, axis=0).astype(np.float64)


def _beliefs_in_truth(run: Run, attribute: str) -> Floats:
    if run.data.people is not None:
        raise ReleaseError("Where people have several rows, what is believed is told of people and not of rows.")
    return parts.measured(run, attacks.attribute_disclosure, attribute).confidence


def _losses(run: Run, _attribute: str) -> Floats:
    per_class = parts.measured(run, utility.information_loss).per_class
    by_name = per_class if isinstance(per_class, dict) else {run.release.fragments[0].name: per_class}
    of_fragments = [by_name[part.name][part.partition.group] for part in run.release.fragments if part.name in by_name]
    return np.asarray(np.mean(of_fragments, axis=0), dtype=np.float64)


def _predicted(value: float) -> str:
    """How much oftener, or more rarely, a row is predicted right from a release than from the original table."""
    if value == 0:
        return "is predicted no better and no worse than from the original table"
    if abs(value) == 1:
        first, second = ("rightly", "wrongly") if value > 0 else ("wrongly", "rightly")
        return f"is predicted {first}, and {second} from the original table"
    often = "more" if value > 0 else "less"
    return f"is predicted rightly {share_text(abs(value))} {often} often than from the original table"


NUMBERS = {
    "hides": Number(lambda value: f"hides among {value:,.0f}", _hidden, largest_is_worst=False),
    "distance": Number(
        lambda value: f"is in a group that lies {value:.2f} from the table",
        lambda run, name: all_columns.distances(run, name)[run.release.fragment_of(name).partition.group],
    ),
    "belief": Number(lambda value: f"is believed to have its true value with {share_text(value)}", _beliefs_in_truth),
    "lost": Number(lambda value: f"loses {share_text(value)} of what its cells said", _losses),
    "predictable": Number(_predicted, largest_is_worst=False),
    "given": Number(lambda value: f"is believed by this attack to have its true value with {share_text(value)}"),
}


def three_rows(values: Floats, largest_is_worst: bool) -> tuple[int, int, int]:
    """The rows that are worst off, in the middle and best off; of equal ones the first in the table.

    Rows without a number, such as those whose value needs no protection, are none of them.
    """
    order = np.argsort(-values if largest_is_worst else values, kind="stable")
    order = order[~np.isnan(values[order])]
    best = values[order[-1]]
    return int(order[0]), int(order[len(order) // 2]), int(np.flatnonzero(values == best)[0])


@parts.says_why
def explain(
    name: str, attribute: str = "", values: Floats | None = None, further: Callable[[int], str] | None = None
) -> None:
    """Offer three people for one of `NUMBERS` of the release that is shown; drawn when it is unfolded.

    `values` is the number of each row, where the page has it already; NaN for rows without one. `further` says more of
    a row, in sentences.
    """
    run = state.current_run()
    if run is None or not run.data.knows_rows or run.release.is_synthetic:
        return
    place = st.expander("Explain this with three people", key=f"three-{name}", on_change="rerun")
    if not place.open:
        return
    with place:
        about = NUMBERS[name]
        values = about.of_rows(run, attribute) if values is None and about.of_rows is not None else values
        if values is None or np.isnan(values).all():
            st.info("No row has this number.")
            return
        rows = dict(zip(WHO, three_rows(values, about.largest_is_worst), strict=True))
        chosen = st.segmented_control(
            "Who", WHO, default=WHO[0], key=f"three-{name}-who", label_visibility="collapsed", required=True
        )
        row = rows[chosen or WHO[0]]
        more = "" if further is None else f" {escaped(further(row))}"
        st.markdown(f"Row {row + 1:,} of the table {about.told(float(values[row]))} in {escaped(run.label)}.{more}")
        if name == "hides" and has_buckets(run.release):
            st.caption("It hides whose secret is whose, and not who somebody is.")
        secret = attribute or next(iter(run.data.sensitive), None)
        draw([one for one in state.runs() if state.is_of_table(one)], row, secret)
