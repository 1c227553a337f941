"""Membership: that a person is in the table at all can be the secret, and invented people hide the real ones."""

from __future__ import annotations

import streamlit as st

from anoncore import Release, attacks
from anoncore.algorithms import RandomBuckets
from dashboard.charts.fragments import likelihood_histogram
from dashboard.charts.lessons import share_bars
from dashboard.charts.slicing import tuple_bars
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.learn.lessons import joins
from dashboard.learn.lessons.board import (
    STYLE,
    Step,
    as_columns,
    ask,
    data_of,
    in_columns,
    pick,
    published,
    table,
    whole,
)

TABLE = "slicing-table-1"
SMALL = {
    "bucketization": (("age", "sex", "zipcode"), ("disease",)),
    "slicing": (("age", "sex"), ("zipcode", "disease")),
}
LARGE = {
    "bucketization": (("age", "sex", "occupation"), ("diagnosis",)),
    "slicing": (("age", "sex"), ("occupation", "diagnosis")),
}
PEOPLE = 1_000


def small(form: str) -> attacks.Membership:
    """Who could be in the paper's table, by what the attacker can look up."""
    data = data_of(TABLE)
    found = attacks.membership(in_columns(data, published(TABLE), SMALL[form]), data.quasi_identifiers)
    assert isinstance(found, attacks.Membership)
    return found


def large(form: str, size: int) -> attacks.Membership:
    """Who could be among a thousand people of the census-like table in random buckets of a size."""
    data = data_of("census", ("age", "sex", "occupation"), PEOPLE)
    release = RandomBuckets(size=size, attribute_columns=LARGE[form], seed=0).anonymize(data)
    found = attacks.membership(release, data.quasi_identifiers)
    assert isinstance(found, attacks.Membership)
    return found


def _secret() -> None:
    st.markdown(
        "A table of patients of a certain clinic: **that somebody is in it is a secret already**, whatever the "
        "disease. The attacker looks up a person's age, sex and zip code. Compare two ways to publish the same buckets."
    )
    form = pick("Published by", list(SMALL), "members", "Bucketization keeps age, sex and zip code together.")
    data = data_of(TABLE)
    release = in_columns(data, published(TABLE), SMALL[form])
    for place, frame in zip(st.columns(2, gap="medium"), as_columns(release, "bucket"), strict=True):
        with place:
            table(frame, "One of the published columns.")
    found = small(form)
    parts.tiles(
        [
            Tile("Real people", f"{len(found.matching_buckets)}", "Rows of the table."),
            Tile("Invented people", f"{float(found.fake):,.0f}", "Combinations that fit a bucket but are not real."),
            Tile("Belief if it fits", f"{float(found.belief):.0%}", "Share of real ones among all that fit."),
        ]
    )
    both = {one: small(one) for one in SMALL}
    ask(
        "a man of 22 who lives in 47905 is looked for. What does either release say of him?",
        "Bucketization: no row fits, so he is not in the table; and whoever fits is in it for certain "
        f"({float(both['bucketization'].belief):.0%}). Slicing: ages and zip codes of a bucket are shuffled, so he "
        f"fits bucket 1 although he is not in the table. So do {float(both['slicing'].fake):,.0f} people in all, and "
        f"who fits is real with {float(both['slicing'].belief):.0%} only. **Invented people hide the real ones.**",
    )


def _buckets() -> None:
    st.markdown(
        f"The same with {PEOPLE:,} people of a made-up census in random buckets. A person who fits many buckets is "
        "likelier real; so invented people should fit as many as real ones do. Change the size of the buckets."
    )
    size = whole("Bucket size", 2, 100, 20, "members-size", "People in a bucket.")
    found = large("slicing", size)
    parts.chart(
        tuple_bars(found.finer, STYLE),
        key="lesson-members",
        caption="How many real rows (grey) and invented people (blue) fit so many buckets.",
        alt=f"Bars of real and invented people by matching buckets; {float(found.fake):,.0f} are invented.",
    )
    parts.tiles(
        [
            Tile("Invented people", f"{float(found.fake):,.0f}", "Combinations that fit a bucket but are not real."),
            Tile("Belief if it fits", f"{float(found.belief):.0%}", "Share of real ones among all that fit."),
        ],
        columns=3,
    )
    sizes = (2, 20, 100)
    beliefs = [float(large("slicing", one).belief) for one in sizes]
    parts.chart(
        share_bars([f"buckets of {one}" for one in sizes], beliefs, STYLE, "belief if it fits"),
        key="lesson-beliefs",
        caption="How sure a match makes the attacker, by size of the buckets.",
        alt=f"Bars from {beliefs[0]:.0%} to {beliefs[-1]:.0%}.",
    )
    ask(
        "do larger buckets hide better?",
        f"Yes: who fits is real with {beliefs[0]:.0%} in buckets of {sizes[0]}, with {beliefs[-1]:.0%} in buckets of "
        f"{sizes[-1]}. More values meet in a bucket, so more people are invented. By bucketization it stays "
        f"{float(large('bucketization', size).belief):.0%}, whatever the size.",
    )


def fragments() -> tuple[Release, attacks.JoinLikelihood]:
    """The two narrow tables of the lesson on joins, and how likely each person is in their join."""
    release = joins.fragmented()
    found = attacks.membership(release)
    assert isinstance(found, attacks.JoinLikelihood)
    return release, found


def _joined() -> None:
    st.markdown(
        "Narrow tables, as in the last lesson, hide membership too: their join has many more rows than the table, "
        "and most of them are invented. *Likelihood*: the rows of the join that fit a person, of all its rows."
    )
    release, found = fragments()
    parts.chart(
        likelihood_histogram(found, STYLE),
        key="lesson-likelihood",
        caption="People by the likelihood that a row of the join is theirs. Dashed: picking classes at random.",
        alt=f"Histogram of the likelihood of {release.data.n_rows} people, at most {float(found.largest):.2g}.",
    )
    parts.tiles(
        [
            Tile("Rows of the table", f"{release.data.n_rows}", "Real people."),
            Tile("Rows of the join", f"{found.total:,.0f}", "Most of them invented."),
            Tile("Largest likelihood", f"{float(found.largest):.1%}", "Of the person for whom it is largest."),
        ]
    )
    ask(
        "how many rows of the join are invented?",
        f"{found.total - release.data.n_rows:,.0f} of {found.total:,.0f} at least. Even for the person who is "
        f"easiest to find only {float(found.largest):.1%} of the joined rows fit.",
    )


STEPS = (
    Step("Being in the table is the secret", _secret),
    Step("Larger buckets", _buckets),
    Step("Joined tables", _joined),
)
