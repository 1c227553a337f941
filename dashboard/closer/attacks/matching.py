"""The tab Matching buckets: one person, the buckets they may be in, and what each says about the sensitive value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import AnonymizationError, attacks
from anoncore.attacks import MatchingBuckets
from anoncore.attacks.disclosure import BELIEF_IN_TRUTH, LARGEST_BELIEF
from anoncore.attacks.posterior import table_distribution
from anoncore.base.texts import share_text
from dashboard.charts.palette import run_style
from dashboard.charts.slicing import belief_bars, belief_shares
from dashboard.closer.bucket_detail import PERSON, people_of
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import browser
from dashboard.session.workspace import Run

MOST_BUCKETS = 200
MOST_VALUES = 12
LIST_HEIGHT = 330


def render(run: Run) -> None:
    """Draw the tab."""
    release = run.release
    if parts.says_why_nobodys(run, "Matching buckets are those that may hold a person's row"):
        return
    if len(release.fragments) < 2 or not release.is_shared:
        form = "one table" if len(release.fragments) < 2 else "tables with groups of their own"
        st.info(
            "Matching buckets are those that a person may be in where several columns share their buckets, as in "
            f"slicing and bucketization. This release publishes {form}, so everyone's group is known to who knows "
            "their quasi-identifiers; what is believed of them then is on the page Privacy."
        )
        return
    names = [name for name in run.data.sensitive if name in release.attributes]
    if not names:
        st.info("No sensitive attribute is published, so there is nothing to learn about a person's value.")
        return
    _person(run, names)


@st.fragment
@parts.says_why
def _person(run: Run, names: list[str]) -> None:
    attribute = parts.choice("Sensitive attribute", names, f"matching-attribute-{run.id}", "Whose values are guessed.")
    row = _choose(run, attribute)
    try:
        found = attacks.matching_buckets(run.release, attribute, row)
    except AnonymizationError as error:
        st.info(escaped(str(error)))
        return
    st.markdown(_known(run, attribute, row))
    _figures(run, found)
    _buckets(run, found)
    left, right = st.columns([4, 5], gap="medium")
    with left:
        _belief(run, found)
    with right:
        _neighbours(run, found)


def _choose(run: Run, attribute: str) -> int:
    """The person's position in the table: typed, the one at most risk, or the one that was chosen in a list."""
    key = f"matching-row-{run.id}"
    person = int(browser.get(f"{PERSON}-{run.id}", 0))
    browser.set_widget_values({key: person + 1})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(
            "Row of the person",
            min_value=1,
            max_value=run.data.n_rows,
            step=1,
            key=key,
            on_change=_typed,
            args=(run, key),
            help="Rows of the table as loaded, from 1. People can also be clicked in the lists of a bucket.",
            width=200,
        )
        st.button(
            "Person at most risk",
            key="matching-worst",
            on_click=_worst,
            args=(run, attribute),
            help="The person of whose value the adversary is surest.",
        )
    return person


def _typed(run: Run, key: str) -> None:
    row = browser.widget_value(key)
    if row is not None:
        browser.put(f"{PERSON}-{run.id}", int(row) - 1)


def _worst(run: Run, attribute: str) -> None:
    found = parts.attempt("attacks.attribute_disclosure", run, attacks.attribute_disclosure, attribute)
    if found is not None:
        person = int(np.argmax(found.belief))
        people = run.data.people
        browser.put(f"{PERSON}-{run.id}", person if people is None else int(np.argmax(people == person)))


def _known(run: Run, attribute: str, row: int) -> str:
    """What the adversary knows of the person and what they are after."""
    line = {name: run.data.domain[name].text(int(run.data.codes[name][row])) for name in run.data.attributes}
    known = ", ".join(
        f"{escaped(name)} **{escaped(line[name])}**" for name in run.data.quasi_identifiers if name in line
    )
    return (
        f"The adversary knows that this person is in the table, with {known}. "
        f"The truth: {escaped(attribute)} **{escaped(line[attribute])}**."
    )


def _figures(run: Run, found: MatchingBuckets) -> None:
    word, words = run.release.group_word, parts.plural(run.release.group_word)
    table = table_distribution(run.release, found.attribute)
    domain = run.data.domain[found.attribute]
    likeliest = int(np.argmax(found.probability.to_numpy()))
    true = int(run.data.codes[found.attribute][found.row])
    own = found.buckets["p"].get(found.own, 0.0)
    parts.tiles(
        [
            Tile(
                f"Matching {words}",
                f"{len(found.buckets):,}",
                f"Those that show this person's values in every column, of {run.release.partition.n_groups:,}.",
            ),
            Tile(
                f"Own {word}",
                share_text(own),
                f"Probability p(t,B) of {word} {found.own}, which this person really is in.",
                f"{word} {found.own}",
            ),
            Tile(
                LARGEST_BELIEF.title,
                share_text(found.probability.iloc[likeliest]),
                f"Largest p(t,s): '{escaped(domain.text(likeliest))}'.",
                f"guessing: {share_text(table.max())}",
            ),
            Tile(
                BELIEF_IN_TRUTH.title,
                share_text(found.probability.iloc[true]),
                f"p(t,s) of the true value '{escaped(domain.text(true))}'.",
                f"guessing: {share_text(table[true])}",
            ),
        ]
    )


def _belief(run: Run, found: MatchingBuckets) -> None:
    domain = run.data.domain[found.attribute]
    belief = found.probability.to_numpy()
    table = table_distribution(run.release, found.attribute)
    likeliest = int(np.argmax(belief))
    parts.chart(
        belief_bars(belief_shares(domain, belief, table), run_style(run.color_index)),
        key="matching-belief",
        caption=f"p(t,s): what the adversary believes of this person's '{escaped(found.attribute)}', beside the "
        "whole table, which is what guessing has. The closer the pairs, the less the release tells of this person.",
        alt=f"Bar chart of the probabilities of {found.attribute} for row {found.row + 1:,}: the likeliest is "
        f"{domain.text(likeliest)} with {belief[likeliest]:.0%}; in the table it has {table[likeliest]:.0%}.",
    )


def _buckets(run: Run, found: MatchingBuckets) -> None:
    words = parts.plural(run.release.group_word)
    frame = bucket_table(found)
    number = st.column_config.NumberColumn
    shares = [str(name) for name in found.buckets if name not in ("size", "f", "p")]
    st.dataframe(
        frame,
        height=LIST_HEIGHT if len(frame) > 8 else "auto",
        key="matching-buckets",
        column_config={
            "size": number("Rows", format="localized"),
            "f": number(
                "f(t,B)", format="%.3g", help="Product of the shares: rows that show all their values, linked."
            ),
            "p": number("p(t,B)", format="percent", help="f(t,B) as a share of the sum over all matching buckets."),
        }
        | {
            name: number(f"f {name}", format="%.3g", help="Share of the rows that show their values.")
            for name in shares
        }
        | {name: number(name, format="percent") for name in map(str, frame.columns) if name.startswith("D: ")},
        alt=f"The {len(found.buckets):,} {words} that this person may be in, the likeliest first.",
    )
    cut = (
        f" The {MOST_BUCKETS} likeliest of {len(found.buckets):,} are listed."
        if len(found.buckets) > len(frame)
        else ""
    )
    most = f", the {MOST_VALUES} likeliest values" if (found.probability > 0).sum() > MOST_VALUES else ""
    st.caption(
        f"f of a column: share of the {run.release.group_word}'s rows that show this person's values in it; f(t,B) is "
        "their product (over what columns share, where they overlap), p(t,B) its share among the matching "
        f"{words}. D(t,B): '{escaped(found.attribute)}' beside the person's values{most}. "
        f"p(t,s) is the sum of p(t,B) times D(t,B).{cut}"
    )


def bucket_table(found: MatchingBuckets) -> pd.DataFrame:
    """The likeliest matching buckets with their f, p and the distribution D of the likeliest values."""
    order = np.argsort(-found.buckets["p"].to_numpy(), kind="stable")[:MOST_BUCKETS]
    possible = np.flatnonzero(found.probability.to_numpy() > 0)
    likeliest = possible[np.argsort(-found.probability.to_numpy()[possible], kind="stable")][:MOST_VALUES]
    values = found.values.iloc[:, likeliest].rename(columns=lambda text: f"D: {text}")
    return pd.concat([found.buckets, values], axis=1).iloc[order]


def _neighbours(run: Run, found: MatchingBuckets) -> None:
    """The people of the bucket that the person is in; a click takes another one."""
    word = run.release.group_word
    people = people_of(run.release, found.own)
    key = f"matching-people-{run.id}-{found.own}"
    st.markdown(f"**People of {word} {found.own}** (original rows, not published)")
    st.dataframe(
        people,
        height=LIST_HEIGHT if len(people) > 8 else "auto",
        key=key,
        on_select=lambda: _clicked(run, key, people),
        selection_mode="single-row",
        alt=f"The original rows of {word} {found.own}; a click looks at another person.",
    )
    st.caption(f"This person's {word} before. Click a row to look at another person.")


def _clicked(run: Run, key: str, people: pd.DataFrame) -> None:
    rows = browser.widget_value(key, {}).get("selection", {}).get("rows", [])
    if rows and rows[0] < len(people):
        browser.put(f"{PERSON}-{run.id}", int(people.index[rows[0]]) - 1)
