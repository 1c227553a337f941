"""One group under the foreground-knowledge attack: its people, and where they are few the possible worlds."""

from __future__ import annotations

from math import comb

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from anoncore import attacks
from anoncore.attacks import ForegroundKnowledge, GroupView
from dashboard.charts.attacks import MOST_PEOPLE, group_people
from dashboard.charts.palette import run_style
from dashboard.elements import parts
from dashboard.markdown import escaped
from dashboard.session.workspace import Run

MOST_LISTED_GROUPS = 200
MOST_LISTED_WORLDS = 300
LIST_HEIGHT = 330


@st.fragment
def render(run: Run, found: ForegroundKnowledge) -> None:
    """Draw the groups that tell most, and the chosen one."""
    word, words = run.release.group_word, parts.plural(run.release.group_word)
    left, right = st.columns([5, 6], gap="medium")
    with left:
        group = _choose(run, found, word, words)
        value = parts.choice(
            "Sensitive value",
            [None, *found.values],
            f"foreground-group-value-{found.attribute}",
            "The value whose possible worlds are weighed.",
            names=lambda one: "the one that is believed most" if one is None else one,
        )
    view = found.group(run.release, group, value=value)
    with right:
        _person_chart(run, found, view, word)
    _worlds(view, word)


def _choose(run: Run, found: ForegroundKnowledge, word: str, words: str) -> int:
    """A list of the groups with the most believed person; returns the chosen group."""
    frame = ranked_groups(run, found)
    groups = frame["group"].to_numpy()
    key = f"foreground-groups-{run.id}-{found.attribute}-{found.r:g}-{found.minimum_rows:g}"
    event = st.dataframe(
        frame,
        hide_index=True,
        height=LIST_HEIGHT,
        key=key,
        on_select="rerun",
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [0]}},
        column_config={
            "group": st.column_config.NumberColumn("No.", help=f"Number of the {word}; it is not published.", width=55),
            "rows": st.column_config.NumberColumn("Rows", help=f"People in the {word}.", width=55),
            "breached": st.column_config.NumberColumn("Breached", help="People with p(t:x) above 1/r.", width=70),
            "highest": st.column_config.NumberColumn(
                "Highest p", help="Of any person in it.", format="percent", width=75
            ),
            "without": st.column_config.NumberColumn(
                "Guess", help="The same if all possible worlds were as likely.", format="percent", width=75
            ),
        },
        alt=f"The {words} that tell most, with their most believed person.",
    )
    rows = event.get("selection", {}).get("rows", [])
    chosen = int(groups[rows[0]]) if rows and rows[0] < len(groups) else int(groups[0])
    st.caption(f"{len(frame):,} of {run.release.partition.n_groups:,} {words}, those that tell most first. Click one.")
    return chosen


def ranked_groups(run: Run, found: ForegroundKnowledge) -> pd.DataFrame:
    """The groups with the most believed person first: rows, breached people, highest p(t:x) with and without."""
    partition = run.release.partition
    group = partition.group
    highest, without = np.zeros(partition.n_groups), np.zeros(partition.n_groups)
    np.maximum.at(highest, group, found.breach_probability)
    np.maximum.at(without, group, found.without_attack)
    breached = np.bincount(group, weights=found.breached, minlength=partition.n_groups).astype(np.int64)
    order: npt.NDArray[np.int64] = np.lexsort((-breached, -(highest - without), -highest.round(3)))
    order = order[:MOST_LISTED_GROUPS]
    return pd.DataFrame(
        {
            "group": order,
            "rows": partition.sizes[order],
            "breached": breached[order],
            "highest": highest[order],
            "without": without[order],
        }
    )


def _person_chart(run: Run, found: ForegroundKnowledge, view: GroupView, word: str) -> None:
    size = len(view.rows)
    learned = escaped(", ".join(view.attributes)) if view.attributes else "no attribute set"
    st.markdown(
        f"**{word.capitalize()} {view.group}**: {view.n} of {size} people have '{escaped(view.value)}'. Their "
        f"signatures are the values of {learned}."
    )
    cut = f" The first {MOST_PEOPLE} are shown." if size > MOST_PEOPLE else ""
    parts.chart(
        group_people(view, found.r, run_style(run.color_index)),
        key="foreground-group",
        caption=f"Dotted: {view.without_attack:.0%}, what everybody has if all possible worlds are as likely. Dashed: "
        f"1/r = {1 / found.r:.0%}. A star marks who really has it; (rare) is a signature with too few rows to learn "
        f"from.{cut}",
        alt=f"Bars of p(t:x) of {size} people, up to {view.probability.max():.0%}; without the attack "
        f"{view.without_attack:.0%}.",
    )


def _worlds(view: GroupView, word: str) -> None:
    """The table of possible worlds with their weights."""
    st.markdown("**Possible worlds**")
    count = comb(len(view.rows), view.n)
    if count > MOST_LISTED_WORLDS:
        st.caption(
            f"This {word} has {count:,} possible worlds ({view.n} of {len(view.rows)} people have the value); up to "
            f"{MOST_LISTED_WORLDS:,} are listed. The probabilities above are exact all the same: they are coefficients "
            "of a product of one small polynomial per person, and need no list."
        )
        return
    st.dataframe(
        worlds_table(view),
        hide_index=True,
        key="foreground-worlds",
        column_config={
            "weight": st.column_config.NumberColumn(
                "Weight",
                help="Product over the people: p(s:x) of those with the value, 1 - p(s:x) of the others.",
                format="%.3g",
            ),
            "share": st.column_config.NumberColumn("Probability", help="Weight as a share of all.", format="percent"),
        },
        alt=f"The {count} possible worlds with their weights.",
    )
    st.caption(
        f"Each line is one way in which {view.n} of the {len(view.rows)} people have '{escaped(view.value)}' "
        "(x). p(t:x) of a person is the sum of the probabilities of the worlds in which that person has it. People "
        "have the numbers of the chart above."
    )


def worlds_table(view: GroupView) -> pd.DataFrame:
    """One line per possible world, the likeliest first: who has the value, its weight and its probability."""
    worlds = attacks.possible_worlds(view.f, view.n)
    order = np.argsort(-worlds.share, kind="stable")
    people = np.argsort(-view.probability, kind="stable")
    marks = np.where(worlds.has_value[np.ix_(order, people)], "x", "·")
    frame = pd.DataFrame(marks, columns=[f"person {place + 1}" for place in range(len(people))])
    frame["weight"], frame["share"] = worlds.weight[order], worlds.share[order]
    return frame
