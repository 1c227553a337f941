"""The tab In or out: what attacks tell of people in the table, beside people who are not in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from anoncore import Microdata, ParameterError, Release, attacks
from anoncore.attacks import Memorization
from anoncore.attacks.control_figures import Figures
from anoncore.base.score import Score
from anoncore.base.texts import share_text
from dashboard.charts.attacks import success_bars
from dashboard.charts.palette import run_style
from dashboard.elements import about, parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
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
FIRST = "inference"
"""The question that the button above the tab explains."""


def render(run: Run) -> None:
    """Draw the tab."""
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
    key = "" if uploaded is None else uploaded[0]
    found = parts.later("Attacks", f"outsiders-{question}-{who}-{knows}-{key}", run, work, *asked)
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
    row = [
        Tile(
            "In the table",
            share_text(found.members),
            escaped(found.members.meaning),
            f"guessing: {share_text(found.members.baseline or 0)}",
        )
    ]
    *_, left = HELD_BACK[question]
    if who != ALONE:
        low, high = found.difference_interval
        row += [
            Tile(
                "Not in the table",
                share_text(found.control),
                escaped(found.control.meaning),
                _range(found.control_interval),
            ),
            Tile(
                "Difference",
                f"{found.difference * 100:+.1f} points",
                f"{escaped(found.difference.meaning)} The interval has it with 95%, for all adversaries at once.",
                f"95%: {low * 100:+.1f} to {high * 100:+.1f}",
            ),
        ]
    if isinstance(found, Memorization):
        row += [_plain("Memorized", found.memorized)] if who != ALONE else []
    else:
        row += [_plain("Precision", found.precision), _plain("Recall", found.recall)]
    parts.tiles(row)
    st.markdown(_meaning(found, who))
    for note in found.notes:
        st.info(escaped(note))
    parts.chart(
        success_bars(found.adversaries, float(found.members.baseline or 0), run_style(run.color_index)),
        key="outsiders-success",
        caption="Right guesses of each adversary, with 95% intervals; the dotted line is what guessing gets."
        + (f" The release is made anew of {left} of the table, by the same method." if who == HOLD else ""),
        alt=f"Bar chart: the best adversary is right of {share_text(found.members)} of the guesses about people in the "
        "table.",
    )
    with st.expander("All adversaries in numbers"):
        columns = ["members", "control", "difference", "difference_low", "difference_high", "precision", "recall"]
        frame: pd.DataFrame = found.adversaries[[*columns, "guesses"]].reset_index()
        st.dataframe(
            frame,
            hide_index=True,
            key="outsiders-adversaries",
            column_config={name: st.column_config.NumberColumn(format="percent") for name in columns},
            alt="The figures of every adversary.",
        )
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
    return Tile(label, "–" if score != score else share_text(score), escaped(score.meaning))


def _range(ends: tuple[float, float]) -> str:
    return f"95%: {ends[0]:.1%} to {ends[1]:.1%}"
