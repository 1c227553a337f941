"""The tab Known method: what readers learn who know the method and what it must have refused to publish."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import attacks
from anoncore.algorithms import LocalRecoding
from anoncore.attacks import Downcoding, MinimalityAttack, Refinement
from anoncore.base.score import Score
from anoncore.base.texts import share_text
from anoncore.release.openness import QUESTION, Openness
from dashboard.charts.attacks import gain_bars
from dashboard.charts.palette import run_style
from dashboard.elements import about, parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session.workspace import Run

MOST_PEOPLE = 100
LIST_HEIGHT = 310


def render(run: Run) -> None:
    """Draw the tab."""
    if run.algorithm is None:
        st.info("This release was made elsewhere. What readers learn who know its method is not known here.")
        return
    told = run.algorithm.minimality_here
    st.markdown(f"**{QUESTION} {told.openness.value.capitalize()}.** {told.reason}")
    if told.openness is not Openness.NOT_OPEN:
        attribute = _secrets(run)
        if len(run.release.fragments) == 1:
            _cells(run)
        if attribute is not None and isinstance(run.algorithm, LocalRecoding):
            _refused_groups(run, attribute)


def _secrets(run: Run) -> str | None:
    """Draw what is learned about sensitive values, and return the attribute that was chosen, if any is published."""
    names = [name for name in run.data.sensitive if name in run.release.attributes]
    if not names:
        st.info("No sensitive attribute is published, so there is nothing to learn about a person's value.")
        return None
    attribute = parts.choice("Sensitive attribute", names, f"known-method-{run.id}", "Whose values are guessed.")
    found = parts.later("Possible worlds", "attacks.minimality", run, attacks.minimality, attribute)
    if isinstance(found, MinimalityAttack):
        _draw(run, found)
    return attribute


def _cells(run: Run) -> None:
    """How far generalized cells can be undone."""
    if not any(run.data.domain[name].tree is not None for name in run.data.quasi_identifiers):
        return
    about.heading("Undoing generalized cells", "attack:downcoding")
    found = parts.later("Generalized cells", "attacks.downcoding", run, attacks.downcoding)
    if not isinstance(found, Downcoding):
        return
    if found.n_cells == 0:
        st.info("No cell is published as a node of a hierarchy with several children, so there is nothing to undo.")
        return
    parts.tiles(
        [
            _tile(found.right, "by the table"),
            _lift(found.lift, found.interval),
            _tile(found.undone, "by the table"),
            Tile(
                "Generalized cells",
                f"{found.n_cells:,}",
                "Cells (one attribute of one row) that are published as a node of a hierarchy with several children.",
                f"attributes: {len(found.attributes)}",
            ),
        ]
    )
    st.markdown(
        "Here the readers know nobody's values, but the hierarchies, the method, and how frequent each value is in the "
        "table. For each cell they guess below which child of the published node the value lies. Knowing the method "
        "tells them what the children of a node cannot be: large enough to be published on their own."
    )


def _refused_groups(run: Run, attribute: str) -> None:
    """Which classes readers can rule out for a person."""
    about.heading("Groups that did not become classes", "attack:refinement")
    found = parts.later("Refused groups", "attacks.refinement", run, attacks.refinement, attribute)
    if not isinstance(found, Refinement):
        return
    parts.tiles(
        [
            _tile(found.located),
            _tile(found.recall),
            _tile(found.ruled_out),
            Tile(
                "Refused groups",
                f"{found.n_refused:,}",
                "Groups of rows that were tried before a class was made, and that had fewer than k rows.",
                f"counts: {len(found.low):,}",
            ),
        ]
    )
    st.markdown(
        "Here the readers know one person's quasi-identifiers, the hierarchies and the method, and look for the class "
        "that this person is in. A class that was made earlier took everybody who fitted it, so who is in a later one "
        "does not fit it."
    )
    st.caption(escaped(" ".join(found.notes)))


def _draw(run: Run, found: MinimalityAttack) -> None:
    parts.tiles(
        [
            _tile(found.right),
            _lift(found.lift, found.interval),
            _tile(found.exposed),
            _tile(found.largest),
        ]
    )
    st.markdown(_meaning(run, found))
    left, right = st.columns(2, gap="medium")
    with left:
        parts.chart(
            gain_bars(found.gain, run_style(run.color_index)),
            key="known-method-gain",
            caption="People by how much the strongest belief in a protected value of theirs changes when the readers "
            "know the method. Beliefs may also fall: what is more likely of one person of a class is less likely of "
            "another.",
            alt=f"Bar chart: the strongest belief rises by 5 percentage points or more for "
            f"{share_text(found.exposed)} of the people.",
        )
    with right:
        _people(run, found)
    st.caption(_worked_out(found))


def _tile(score: Score, baseline: str = "without") -> Tile:
    return Tile(
        score.label, share_text(score), escaped(score.meaning), f"{baseline}: {share_text(score.baseline or 0)}"
    )


def _lift(score: Score, interval: tuple[float, float]) -> Tile:
    low, high = interval
    return Tile(
        score.label,
        f"{score * 100:+.1f} points",
        f"{escaped(score.meaning)} The interval has the lift with 95%, as if the classes were drawn from many.",
        f"95% interval: {low * 100:+.1f} to {high * 100:+.1f}",
    )


def _meaning(run: Run, found: MinimalityAttack) -> str:
    name, method = escaped(found.attribute), run.title
    if found.n_refusals == 0:
        return (
            f"**Nothing is learned.** Everything that {method} refused to publish is explained by the sizes of groups, "
            "which readers can count anyway."
        )
    verdict = (
        f"**Knowing the method helps the readers:** they guess '{name}' right more often than from the classes alone."
        if found.interval[0] > 0
        else "**Over all people no gain is certain:** the readers may guess "
        f"'{name}' right as often as from the classes alone, for the interval of the lift includes 0."
    )
    return (
        f"{verdict} About single people, the strongest belief goes from {found.largest.baseline or 0:.0%} to "
        f"{found.largest:.0%}, and for {share_text(found.exposed)} of the people a protected value becomes at least 5 "
        "percentage points more credible.\n\n"
        f"The readers know everybody's quasi-identifiers and {run.release.group_word}, and that {method} would have "
        "published more detail if the requirements allowed it. They deal the records of each class to its people in "
        "all ways, and keep those ways in which everything more detailed breaks a requirement."
    )


def _people(run: Run, found: MinimalityAttack) -> None:
    """The people about whom the strongest belief rises most."""
    order = np.argsort(-found.gain, kind="stable")[:MOST_PEOPLE]
    order = order[found.gain[order] > 1e-9]
    if not len(order):
        st.info("About nobody a belief becomes stronger.")
        return
    view = run.data.sensitive_view(found.attribute)
    protected = [code for code in range(view.size) if code != view.unique]
    belief = found.belief[order][:, protected]
    frame = pd.DataFrame(
        {
            "Row": order + 1,
            "Believed": [found.values[protected[code]] for code in belief.argmax(axis=1)],
            "Without": found.without[order],
            "With": belief.max(axis=1),
            "Truth": [found.values[code] for code in view.codes[order]],
        }
    )
    st.markdown(f"**The {len(frame):,} people about whom the belief rises most**")
    st.dataframe(
        frame,
        hide_index=True,
        height=LIST_HEIGHT if len(frame) > 8 else "auto",
        key="known-method-people",
        column_config={
            "Row": st.column_config.NumberColumn(width=50),
            "Without": st.column_config.NumberColumn(
                format="percent", width=75, help="Strongest belief of readers who do not know the method."
            ),
            "With": st.column_config.NumberColumn(
                format="percent", width=75, help="Strongest belief of readers who know the method."
            ),
        },
        alt=f"The {len(frame):,} people about whom the strongest belief rises most.",
    )


def _worked_out(found: MinimalityAttack) -> str:
    counted = float(found.exact.mean())
    drawn = "" if counted == 1 else f" {1 - counted:.0%} of the beliefs are estimated from worlds drawn at random."
    refused = f"{found.n_refusals:,} refusals of the method tell something; {found.n_used:,} of them are used."
    return f"{refused}{drawn} {escaped(found.limits)}".strip()
