"""Part of the page Anonymize: the current run in a few numbers, and all runs side by side."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from anoncore import AnonymizationError, privacy, utility
from anoncore.base.score import Score
from anoncore.utility.loss import INFORMATION_LOSS
from dashboard import compute, routes, state
from dashboard.markdown import escaped
from dashboard.state import Run
from dashboard.views import parts, verdicts

LEVELS = ("k", "distinct-l", "t-ordered", "t-equal")


@dataclass(frozen=True)
class Headline:
    """What a run achieved: rows of the smallest group, different sensitive values, EMD, loss. None: not measurable."""

    groups: int
    word: str
    k: Score | None
    l: Score | None
    t: Score | None
    loss: Score | None


def headline(run: Run) -> Headline:
    """The numbers of a run, computed once."""
    release = run.release
    if release.is_synthetic:
        return Headline(0, release.group_word, None, None, None, None)
    profile = compute.cached("privacy.profile", run, privacy.profile)
    levels: dict[str, Score] = {}
    for score in profile.scores:
        worse = levels.get(score.name)
        if worse is None or (score < worse) == bool(score.higher_is_better):
            levels[score.name] = score
    try:
        loss: Score | None = compute.cached("utility.information_loss", run, utility.information_loss)
    except AnonymizationError:
        loss = None
    return Headline(
        groups=max(fragment.partition.n_groups for fragment in release.fragments),
        word=release.group_word,
        k=levels.get("k"),
        l=levels.get("distinct-l"),
        t=levels.get("t-ordered", levels.get("t-equal")),
        loss=loss,
    )


def render() -> None:
    """Draw the current run's numbers, links to the pages that explain them, and the list of runs."""
    run = state.current_run()
    if run is None:
        st.info("No release yet. Press Run: the result appears here, and earlier runs stay for comparison.")
        return
    found = headline(run)
    with st.container(border=True):
        st.markdown(f"**Run {escaped(run.label)}**")
        if not run.release.is_synthetic:
            _numbers(found, run)
        verdicts.line(run)
        st.caption(_in_words(found, run))
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.markdown("More on", width="content")
            for name in ("classes", "privacy", "utility", "export"):
                routes.link(name)
    _all_runs()


def _numbers(found: Headline, run: Run) -> None:
    first, second = st.columns(3), st.columns(3)
    first[0].metric(
        "Groups",
        f"{found.groups:,}",
        help=f"Nobody can tell which row of a group belongs to whom. Here a group is called {found.word}.",
    )
    _score(first[1], "k", found.k, "{:,.0f}")
    _score(first[2], "l", found.l, "{:,.0f}")
    _score(second[0], "t", found.t, "{:.3f}")
    _score(second[1], INFORMATION_LOSS.title, found.loss, "{:.1%}")
    second[2].metric(
        "Time",
        parts.duration(run.seconds),
        help=f"Made in {parts.made_in(run)}. Measuring the release is not part of it.",
    )


def _score(place: object, label: str, score: Score | None, form: str) -> None:
    missing = "This release has nothing to measure it on, such as a sensitive attribute."
    value = "–" if score is None else form.format(float(score))
    place.metric(label, value, help=missing if score is None else parts.escaped(score.meaning))  # type: ignore[attr-defined]


def _in_words(found: Headline, run: Run) -> str:
    if run.release.is_synthetic:
        return (
            f"{run.release.table_size.capitalize()}, made in {parts.made_in(run)}. They are nobody's, so there are no "
            f"groups of people, no k, no l and no t. Table: {escaped(run.table_name)}."
        )
    size = run.data.n_rows / found.groups
    plural = "es" if found.word.endswith("s") else "s"
    said = [f"{found.groups:,} {found.word}{plural if found.groups != 1 else ''} of {size:,.1f} rows on average."]
    if found.k is not None:
        others = int(found.k) - 1
        hides = f"Every person hides among at least {others:,} other{'s' if others != 1 else ''}."
        said.append(run.data.in_words(hides))
    if found.l is not None:
        enough = f"Each {found.word} has at least {int(found.l)} different sensitive values."
        lacking = f"In at least one {found.word} all have the same sensitive value: require diversity to prevent it."
        said.append(enough if found.l > 1 else lacking)
    return " ".join(said) + f" Table: {escaped(run.table_name)}."


def _all_runs() -> None:
    runs = state.runs()
    if len(runs) < 2:
        return
    st.markdown("**All runs**")
    found = [headline(run) for run in reversed(runs)]
    st.dataframe(
        pd.DataFrame(
            {
                "Run": [run.label for run in reversed(runs)],
                "Groups": [one.groups or None for one in found],
                "k": [_plain(one.k) for one in found],
                "l": [_plain(one.l) for one in found],
                "t": [_plain(one.t) for one in found],
                "Loss": [_plain(one.loss) for one in found],
            }
        ),
        key="all-runs",
        hide_index=True,
        column_config={
            "Run": st.column_config.TextColumn(width=170),
            "Groups": st.column_config.NumberColumn(format="localized", width=60),
            "k": st.column_config.NumberColumn(format="%d", width=40, help="Rows of the smallest group."),
            "l": st.column_config.NumberColumn(format="%d", width=40, help="Fewest different sensitive values."),
            "t": st.column_config.NumberColumn(format="%.3f", width=55, help="Largest distance from the table."),
            "Loss": st.column_config.NumberColumn(format="percent", width=60, help="0%: exact, 100%: nothing left."),
        },
        alt="All runs with their groups, k, l, t and information loss",
    )
    st.caption("Newest first. Choose in the sidebar which run the result pages show.")


def _plain(score: Score | None) -> float | None:
    return None if score is None else float(score)
