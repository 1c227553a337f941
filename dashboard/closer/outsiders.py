"""The tabs In or out and Population: what attacks tell beside people outside, and who is alone in the population."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isnan

import pandas as pd
import streamlit as st

from anoncore import AnonymizationError, Microdata, ParameterError, Release, attacks
from anoncore.attacks import IndividualRisk, Memorization, PopulationUniqueness
from anoncore.attacks.control_figures import Figures
from anoncore.base.score import Score
from anoncore.base.texts import share_text
from dashboard.charts.attacks import belief_histogram, success_bars
from dashboard.elements import about, parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import compute
from dashboard.session.workspace import Run
from dashboard.table.table_source import further_table

QUESTIONS = {
    "inference": "Inference: guess a secret of a person",
    "singling_out": "Singling out: describe exactly one person",
    "linkability": "Linkability: link two lists about the same people",
    "memorization": "Reconstruction: guess a secret, rare values counting as much",
}
FIFTH, HALF = (0.2, "a fifth", "four fifths"), (0.5, "half", "half")
HELD_BACK = {"inference": FIFTH, "singling_out": HALF, "linkability": FIFTH, "memorization": FIFTH}
"""The share of the table that is held back, in words too, and the share that is left. Singling out counts of how many
people a description is true, so that as many have to be outside as inside."""
ALL, TAGGED = "all else that is published", "the quasi-identifiers"
HOLD, UPLOAD, ALONE = "hold back a part of the table", "a table of my own", "nobody"
ABOUT_A_SECRET = ("inference", "memorization")
FRACTION, TABLE, WEIGHTS = "a sampling fraction", "a table of the population", "a column of sampling weights"
FIRST = "inference"
"""The question that the button above the tab explains."""


def outsiders(run: Run) -> None:
    """Draw what attacks tell of people in the table, beside people who are not in it."""
    st.markdown(
        "The three questions of the Article 29 Working Party, and whether rows were memorized, as attacks that are "
        "carried out. What succeeds as often with **people who are not in the table** is knowledge about people in "
        "general; what succeeds more often with those who are in it, only the release gives away."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        question = parts.choice(
            "Question",
            list(QUESTIONS),
            f"outsiders-question-{run.id}",
            "What the attack is after.",
            QUESTIONS.__getitem__,
        )
        _, held, left = HELD_BACK[question]
        names = [*run.data.sensitive, *(name for name in run.release.attributes if name not in run.data.sensitive)]
        names = [name for name in names if name in run.release.attributes]
        attribute, knows = None, ALL
        if question in ABOUT_A_SECRET:
            attribute = parts.choice("Secret", names, f"outsiders-secret-{run.id}", "What is guessed.")
            knows = parts.choice(
                "What the adversary knows",
                (ALL, TAGGED) if run.data.quasi_identifiers else (ALL,),
                f"outsiders-knows-{run.id}",
                "Columns that are published as they are, such as a number of its own for each row, may tell more than "
                "all quasi-identifiers.",
            )
        who = parts.choice(
            "People who are not in it",
            (HOLD, UPLOAD, ALONE) if run.algorithm is not None else (UPLOAD, ALONE),
            f"outsiders-who-{run.id}",
            f"People to compare with. A part is {held} of the table; the same method anonymizes the other {left} anew.",
        )
    if question != FIRST:
        about.button(f"attack:{question}", "What is this question?")
    uploaded = None
    if who == UPLOAD:
        uploaded = further_table(
            run,
            "Table of people who are not in the release",
            f"outsiders-upload-{run.id}",
            "The same columns, of people drawn as those of your table were. It stays on this machine.",
        )
        if uploaded is None:
            return
    asked = () if attribute is None else (attribute,)
    named = {"known": run.data.quasi_identifiers} if knows == TAGGED else {}
    work = partial(_attack, question, who, None if uploaded is None else uploaded[1], named)
    name = f"outsiders-{question}-{who}-{knows}-{'' if uploaded is None else uploaded[0]}"
    found = parts.later("Attacks", run, work, *asked, name=name)
    if isinstance(found, Figures):
        _draw(run, question, found, who)


def _attack(
    question: str,
    who: str,
    control: Microdata | None,
    named: dict[str, tuple[str, ...]],
    release: Release,
    *asked: str,
) -> Figures:
    """The attack on a release; where people are held back, on one that the same method makes of the others."""
    function: Callable[..., Figures] = getattr(attacks, question)
    if who == HOLD:
        if release.algorithm is None or not hasattr(release.algorithm, "anonymize"):
            raise ParameterError(
                "It is not known how this release was made, so nobody can be held back; upload people."
            )
        members, control = release.data.split(control=HELD_BACK[question][0])
        release = release.algorithm.anonymize(members)
    return function(release, *asked, control=control, **named)


def _draw(run: Run, question: str, found: Figures, who: str) -> None:
    row = [Tile.of(found.members, label="In the table")]
    *_, left = HELD_BACK[question]
    if who != ALONE:
        low, high = found.difference_interval
        outside, above = found.control_interval
        certain = f"{escaped(found.difference.meaning)} The interval has it with 95%, for all adversaries at once."
        points, ends = f"{found.difference * 100:+.1f} points", f"95%: {low * 100:+.1f} to {high * 100:+.1f}"
        row += [
            Tile.of(found.control, label="Not in the table", note=f"95%: {outside:.1%} to {above:.1%}"),
            Tile("Difference", points, certain, ends),
        ]
    if isinstance(found, Memorization):
        row += [_plain("Memorized", found.memorized)] if who != ALONE else []
    else:
        row += [_plain("Precision", found.precision), _plain("Recall", found.recall)]
    parts.tiles(row)
    st.markdown(_meaning(found, who))
    parts.notes(found.notes)
    parts.chart(
        success_bars(found.adversaries, float(found.members.baseline or 0), run.style),
        "outsiders-success",
        "Right guesses of each adversary, with 95% intervals; the dotted line is what guessing gets."
        + (f" The release is made anew of {left} of the table, by the same method." if who == HOLD else ""),
        f"Bar chart: the best adversary is right of {share_text(found.members)} of the guesses about people in the "
        "table.",
    )
    with st.expander("All adversaries in numbers"):
        columns = ["members", "control", "difference", "difference_low", "difference_high", "precision", "recall"]
        frame: pd.DataFrame = found.adversaries[[*columns, "guesses"]].reset_index()
        columns_shown = dict.fromkeys(columns, parts.percent(width=None))
        parts.table(frame, "outsiders-adversaries", "The figures of every adversary.", columns=columns_shown)
        st.caption(
            f"The best one, whose figures stand above, is “{found.adversary}”: its difference is surest. "
            f"The question was: {QUESTIONS[question]}."
        )


def _meaning(found: Figures, who: str) -> str:
    low, high = found.difference_interval
    if who == ALONE:
        return "Without people to compare with, this is how often the attack succeeds, whatever the reason."
    if low > 0:
        return (
            f"**Being in the table costs something:** of people in it, {low * 100:.1f} to {high * 100:.1f} more of 100 "
            "guesses are right than of people who are not."
        )
    return (
        "**No difference is certain:** the attack succeeds about as often with people who are not in the table, so it "
        "uses what the release says about people in general."
    )


def _plain(label: str, score: Score) -> Tile:
    return Tile.of(score, label=label, value="–" if isnan(score) else share_text(score), note=None)


def population(run: Run) -> None:
    """Draw who could be found in the population of which the table is a sample."""
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
    fraction, everybody = None, None
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
        key, everybody = uploaded
    work = partial(attacks.population_uniqueness, fraction=fraction, population=everybody)
    found = parts.later("Uniqueness", run, work, name=f"population-{key}")
    if isinstance(found, PopulationUniqueness):
        _draw_uniqueness(found)
        risk = partial(attacks.individual_risk, fraction=found.fraction)
        _draw_risk(run, f"population-risk-{found.fraction:g}", risk)


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
    _draw_risk(run, "population-risk-weights", attacks.individual_risk, weights)


def _draw_uniqueness(found: PopulationUniqueness) -> None:
    st.subheader("Unique in the population")
    stays = "no unique row" if isnan(found.stays) else share_text(found.stays)
    row = [
        Tile.of(found.share, "in the table", label="Unique people"),
        Tile.of(found.stays, label="A unique row is a unique person", value=stays, note=None),
    ]
    if not isnan(found.counted):
        row.insert(1, Tile.of(found.counted, label="Counted", note="in the given population"))
    size, sampled = f"{found.population_size:,.0f}", f"{share_text(found.fraction)} of it in the table"
    parts.tiles([*row, Tile("Population", size, "People of the population.", sampled)])
    st.caption(escaped(found.method))
    others = {"Zayatz": found.zayatz, "Pitman": found.pitman, "Slide negative binomial": found.snb}
    frame = pd.DataFrame(
        {
            "estimate": list(others),
            "unique people": ["no solution" if isnan(one) else share_text(one) for one in others.values()],
            "how many": [
                "–" if isnan(one) else f"{float(one) * found.population_size:,.0f}" for one in others.values()
            ],
        }
    )
    parts.table(frame, "population-estimates", "The three estimates among which Dankar's rule chooses.")
    parts.notes(found.notes, st.caption)


def _draw_risk(run: Run, name: str, function: Callable[..., IndividualRisk], *arguments: str) -> None:
    about.heading("Risk of each person", "attack:individual_risk")
    try:
        found = compute.cached(name, run, function, *arguments)
    except AnonymizationError as error:
        st.warning(escaped(str(error)))
        return
    whole = "if it were everybody"
    links = f"{whole}: {found.links.baseline or 0:,.0f}"
    parts.tiles(
        [
            Tile.of(found.mean, whole, label="Average person"),
            Tile.of(found.largest, whole, label="Person most at risk"),
            Tile.of(found.links, label="Expected right links", value=f"{found.links:,.1f}", note=links),
        ]
    )
    parts.chart(
        belief_histogram(found.risk, float(found.mean.baseline or 0), run.style),
        "population-risks",
        "People of the table by the probability that their row is linked rightly with them in the population.",
        f"Histogram of the risks, on average {found.mean:.2g}, at most {found.largest:.2g}.",
    )
    parts.notes(found.notes, st.caption)
