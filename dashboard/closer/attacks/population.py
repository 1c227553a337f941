"""The tab Population: who could be found in the population of which the table is a sample."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isnan

import pandas as pd
import streamlit as st

from anoncore import AnonymizationError, Microdata, Release, attacks
from anoncore.attacks import IndividualRisk, PopulationUniqueness
from anoncore.base.score import Score
from anoncore.base.texts import share_text
from dashboard.charts.palette import run_style
from dashboard.charts.privacy import belief_histogram
from dashboard.elements import about, parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import compute
from dashboard.session.workspace import Run
from dashboard.table.table_source import further_table

FRACTION, TABLE, WEIGHTS = "a sampling fraction", "a table of the population", "a column of sampling weights"


def render(run: Run) -> None:
    """Draw the tab."""
    st.markdown(
        "Where the table is a **sample**, somebody unique in it need not be unique in the population: others who are "
        "alike may not have been drawn. Say what is known of the population."
    )
    if parts.says_why_nobodys(run, "Who is unique in the population is asked of people's rows"):
        return
    known = parts.choice(
        "What is known",
        (FRACTION, TABLE, WEIGHTS),
        f"population-known-{run.id}",
        "How the population is told: by the share of it that is in your table, by a list of everybody, or by a column "
        "that says how many people each row stands for.",
    )
    if known == WEIGHTS:
        _by_weights(run)
        return
    fraction, population = None, None
    if known == FRACTION:
        fraction = _fraction(run)
        key = f"{fraction:g}"
    else:
        uploaded = further_table(
            run,
            "Table of the population",
            f"population-upload-{run.id}",
            "One row per person, with the quasi-identifiers of your table as columns. It stays on this machine.",
        )
        if uploaded is None:
            return
        key, population = uploaded
    found = parts.later("Uniqueness", f"population-{key}", run, partial(_uniqueness, fraction, population))
    if isinstance(found, PopulationUniqueness):
        _draw_uniqueness(found)
        _draw_risk(run, f"population-risk-{found.fraction:g}", partial(_risk, found.fraction))


def _uniqueness(fraction: float | None, population: Microdata | None, release: Release) -> PopulationUniqueness:
    return attacks.population_uniqueness(release, fraction=fraction, population=population)


def _risk(fraction: float, release: Release) -> IndividualRisk:
    return attacks.individual_risk(release, fraction=fraction)


def _fraction(run: Run) -> float:
    percent = st.number_input(
        "Share of the population in the table, in per cent",
        min_value=0.001,
        max_value=100.0,
        value=10.0,
        format="%g",
        key=f"population-fraction-{run.id}",
        help="100 rows of a town of 10,000 people are 1 per cent.",
        width=330,
    )
    return float(percent) / 100


def _by_weights(run: Run) -> None:
    frame = run.data.frame
    names = [str(name) for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name])]
    if not names:
        st.info("No column has numbers, so none can say how many people a row stands for.")
        return
    weights = parts.choice(
        "Sampling weights", names, f"population-weights-{run.id}", "How many people of the population a row stands for."
    )
    _draw_risk(run, "population-risk-weights", lambda release, name: attacks.individual_risk(release, name), weights)


def _draw_uniqueness(found: PopulationUniqueness) -> None:
    st.subheader("Unique in the population")
    row = [
        Tile(
            "Unique people",
            share_text(found.share),
            escaped(found.share.meaning),
            f"in the table: {share_text(found.share.baseline or 0)}",
        ),
        Tile("A unique row is a unique person", _stays(found.stays), escaped(found.stays.meaning)),
    ]
    if not isnan(found.counted):
        row.insert(
            1,
            Tile("Counted", share_text(found.counted), escaped(found.counted.meaning), "in the given population"),
        )
    row.append(
        Tile(
            "Population",
            f"{found.population_size:,.0f}",
            "People of the population.",
            f"{share_text(found.fraction)} of it in the table",
        )
    )
    parts.tiles(row)
    st.caption(escaped(found.method))
    others = {"Zayatz": found.zayatz, "Pitman": found.pitman, "Slide negative binomial": found.snb}
    st.dataframe(
        pd.DataFrame(
            {
                "estimate": list(others),
                "unique people": [_text(one) for one in others.values()],
                "how many": [_count(float(one), found.population_size) for one in others.values()],
            }
        ),
        hide_index=True,
        key="population-estimates",
        alt="The three estimates among which Dankar's rule chooses.",
    )
    for note in found.notes:
        st.caption(escaped(note))


def _draw_risk(run: Run, name: str, function: Callable[..., IndividualRisk], *arguments: str) -> None:
    about.heading("Risk of each person", "attack:individual_risk")
    try:
        found = compute.cached(name, run, function, *arguments)
    except AnonymizationError as error:
        st.warning(escaped(str(error)))
        return
    parts.tiles(
        [
            _beside("Average person", found.mean),
            _beside("Person most at risk", found.largest),
            Tile(
                "Expected right links",
                f"{found.links:,.1f}",
                escaped(found.links.meaning),
                f"if it were everybody: {found.links.baseline or 0:,.0f}",
            ),
        ]
    )
    parts.chart(
        belief_histogram(found.risk, float(found.mean.baseline or 0), run_style(run.color_index)),
        key="population-risks",
        caption="People of the table by the probability that their row is linked rightly with them in the population.",
        alt=f"Histogram of the risks, on average {found.mean:.2g}, at most {found.largest:.2g}.",
    )
    for note in found.notes:
        st.caption(escaped(note))


def _beside(label: str, score: Score) -> Tile:
    return Tile(
        label,
        share_text(score),
        escaped(score.meaning),
        f"if it were everybody: {share_text(score.baseline or 0)}",
    )


def _stays(score: Score) -> str:
    return "no unique row" if isnan(score) else share_text(score)


def _text(score: Score) -> str:
    return "no solution" if isnan(score) else share_text(score)


def _count(share: float, people: float) -> str:
    return "–" if isnan(share) else f"{share * people:,.0f}"
