"""Slicing: columns are shuffled inside buckets, and a person may match several buckets."""

from __future__ import annotations

import streamlit as st

from anoncore import Release, attacks, datasets
from dashboard.charts.slicing import belief_bars, belief_shares
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.learn.lessons.board import STYLE, Step, as_columns, ask, data_of, in_columns, pick, published, table

TABLE = "slicing-table-1"
SENSITIVE = "disease"
CUTS = {
    "age, sex | zipcode, disease": (("age", "sex"), ("zipcode", "disease")),
    "age, sex, zipcode | disease": (("age", "sex", "zipcode"), ("disease",)),
    "each on its own": (("age",), ("sex",), ("zipcode",), ("disease",)),
}


def sliced(cut: str) -> Release:
    """The paper's two buckets, with the columns cut so."""
    return in_columns(data_of(TABLE), published(TABLE), CUTS[cut])


def _cut(key: str) -> str:
    return pick("Columns", list(CUTS), key, "Attributes of one column stay together; columns are shuffled.")


def _person(key: str) -> int:
    frame = datasets.table(TABLE).load()
    texts = [f"{age} {sex} {code}" for age, sex, code in zip(frame.age, frame.sex, frame.zipcode, strict=True)]
    return texts.index(pick("Person", texts, key, "Whom the attacker looks for; they know age, sex and zip code."))


def _columns() -> None:
    st.markdown(
        "Eight patients in two *buckets* of four. Nothing is made coarser. Instead the table is **cut into "
        "columns, and in every bucket each column is shuffled on its own**: which age belongs to which disease is lost."
    )
    cut = _cut("cut")
    release = sliced(cut)
    places = st.columns([3, *([2] * len(release.fragments))] if len(release.fragments) < 3 else 5, gap="small")
    with places[0]:
        st.markdown("**Original**")
        table(datasets.table(TABLE).load(), "The original eight rows.")
    for number, (place, frame) in enumerate(zip(places[1:], as_columns(release, "bucket"), strict=True), start=1):
        with place:
            st.markdown(f"**Column {number}**")
            table(frame, f"Column {number}, shuffled in each bucket.")
    found = attacks.membership(release)
    assert isinstance(found, attacks.Membership)
    parts.tiles(
        [
            Tile("Real rows", f"{len(set(map(tuple, datasets.table(TABLE).load().to_numpy())))}", "Of the table."),
            Tile("Invented rows", f"{float(found.fake):,.0f}", "Combinations that fit a bucket but are not real."),
        ],
        columns=3,
    )
    ask(
        "what can still be read exactly, and what not?",
        "Every single value, and values in one column together: with the first cut, which zip code has which disease. "
        f"What lies in different columns is linked by the bucket only: {float(found.fake):,.0f} more combinations "
        "fit as well as the real rows.",
    )


def _buckets() -> None:
    st.markdown(
        "The attacker looks for a person. **A bucket matches** if each of its columns has the person's values. The "
        "share of rows with them says how likely the person is in that bucket."
    )
    row = _person("slicing-person")
    release = sliced("age, sex | zipcode, disease")
    found = attacks.matching_buckets(release, SENSITIVE, row)
    names = {"column 1": "share with age, sex", "column 2": "share with zipcode", "f": "product", "p": "chance"}
    shown = found.buckets.rename(columns=names).reset_index(names="bucket")
    shown["bucket"] += 1
    table(shown, "The matching buckets.")
    st.caption("Product: the shares multiplied. Chance: the bucket's part of all products.")
    values = found.values.reset_index(names="bucket")
    values["bucket"] += 1
    table(values, "Shares of the diseases among the rows that match.")
    st.caption("Which diseases go with the person's zip code in that bucket, by share.")
    parts.tiles([Tile("Matching buckets", f"{len(found.buckets)}", "Buckets in which the person may be.")], columns=3)
    first = attacks.matching_buckets(release, SENSITIVE, 0)
    ask(
        "which diseases can the first person (22, M, 47906) have?",
        f"This person matches {len(first.buckets)} bucket. There their zip code goes with "
        + " and ".join(f"{name} ({share:.0%})" for name, share in first.probability.items() if share > 0)
        + ". Age and sex say no more: they are in another column.",
    )


def _belief() -> None:
    st.markdown(
        "What is the attacker to believe in the end? For each disease: the chance of each bucket times the share "
        "of the disease there, added up. Try other cuts: **what protects is that related values of others are "
        "mixed in.**"
    )
    cut = _cut("belief-cut")
    row = _person("belief-person")
    release = sliced(cut)
    found = attacks.matching_buckets(release, SENSITIVE, row)
    domain = release.data.domain[SENSITIVE]
    everyone = attacks.attribute_disclosure(release, SENSITIVE)
    belief = found.probability.reindex(domain.texts).to_numpy()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        bars = belief_bars(belief_shares(domain, belief, everyone.baseline), STYLE)
        bars.data[1].name = "this person"
        parts.chart(
            bars,
            key="lesson-belief",
            caption="Blue: what the attacker believes of this person. Grey: what they would guess from the table.",
            alt=f"Bars of the belief in each disease, at most {belief.max():.0%}.",
        )
    with right:
        parts.tiles(
            [
                Tile("This person", f"{belief.max():.0%}", "The belief in the likeliest disease."),
                Tile("Anybody", f"{float(everyone.largest):.0%}", "The largest belief about any of the eight people."),
            ]
        )
    best = {one: float(attacks.attribute_disclosure(sliced(one), SENSITIVE).largest) for one in CUTS}
    ask(
        "is anybody believed to have a disease with more than one half?",
        f"With this cut the largest belief is {float(everyone.largest):.0%}. "
        + "; ".join(f"{one}: {share:.0%}" for one, share in best.items())
        + ". At most 1/l is called l-diversity: the first cut is 2-diverse and keeps zip code and "
        "disease together, which generalization would have blurred.",
    )


STEPS = (Step("Cut into columns", _columns), Step("Where a person may be", _buckets), Step("What to believe", _belief))
