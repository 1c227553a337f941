"""The tabs deFinetti and Known method: what learning from all groups, or knowing the method, adds to a group alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import attacks
from anoncore.algorithms import LocalRecoding
from anoncore.attacks import DeFinetti, Downcoding, MinimalityAttack, Refinement
from anoncore.base.score import Score
from anoncore.base.texts import share_text, shown_difference
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.release.openness import QUESTION, Openness
from dashboard.charts.attacks import gain_bars, truth_histogram
from dashboard.closer.attack import attacked, board_r, most_told
from dashboard.elements import about, parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session.workspace import Run

MOST_PEOPLE = 100


def definetti(run: Run) -> None:
    """Draw what a model says of people's secrets that learns from all groups of a release at once."""
    attribute = attacked(run, "definetti", "deFinetti's attack guesses who of a group has which of its secrets")
    if attribute is None:
        return
    st.markdown(
        "People who are alike tend to have the same secret. The adversary knows everybody's quasi-identifiers and "
        "group, begins with any assignment of each group's secrets to its people, and improves it: a model learns from "
        "all groups how the secret goes with what is known, and people of one group swap secrets where the model finds "
        "that likely."
    )
    found = parts.later("Assigning secrets to people", run, attacks.definetti, attribute, board_r(run))
    if not isinstance(found, DeFinetti):
        return
    parts.notes(found.notes)
    low, high = found.control_interval
    worlds = f"With every possible world equally likely: {share_text(found.recall.baseline or 0)}."
    chance = f"By chance: {low:.1%} to {high:.1%} in 95% of all cases."
    shuffled = f"On shuffled secrets: {share_text(found.right_by_chance)}."
    parts.tiles(
        [
            Tile.of(found.recall, more=worlds, note=f"by chance: {share_text(found.control)}"),
            Tile.of(
                found.excess,
                value=share_text(shown_difference(found.recall, found.control)),
                more=chance,
                note="shuffled: 0%",
            ),
            Tile.of(found.right, more=shuffled),
        ]
    )
    left, right = parts.beside()
    with left:
        breached = int(lies_above(np.nan_to_num(found.own_belief), 1 / found.r, ACCUMULATED).sum())
        parts.chart(
            truth_histogram(found.own_belief, found.without_attack, found.r, run.style),
            "definetti-people",
            "People by how strongly the adversary believes in their true value. Right of 1/r stand the "
            f"{breached:,} who are given away; without the attack every assignment of a group is as likely.",
            f"Histogram of the belief in each person's own value; {breached:,} lie above {1 / found.r:.0%}.",
        )
    with right:
        order = np.argsort(-np.nan_to_num(found.own_belief - found.without_attack), kind="stable")[:MOST_PEOPLE]
        most_told(
            pd.DataFrame(
                {
                    "Row": order + 1,
                    "Truth": run.data.domain[attribute].texts[run.data.codes[attribute][order]],
                    "Without": found.without_attack[order],
                    "With": found.own_belief[order],
                }
            ),
            "definetti-list",
            "the attack tells",
            "Belief in the true value if every assignment is equally likely.",
            "Belief in the true value after the attack.",
        )


def known_method(run: Run) -> None:
    """Draw what readers learn who know the method and what it must have refused to publish."""
    if run.algorithm is None:
        st.info("This release was made elsewhere. What readers learn who know its method is not known here.")
        return
    told = run.algorithm.minimality_here
    st.markdown(f"**{QUESTION} {told.openness.value.capitalize()}.** {told.reason}")
    if told.openness is Openness.NOT_OPEN:
        return
    attribute = attacked(run, "known-method")
    if attribute is not None:
        found = parts.later("Possible worlds", run, attacks.minimality, attribute)
        if isinstance(found, MinimalityAttack):
            _secrets(run, found)
    if len(run.release.fragments) == 1:
        _cells(run)
    if attribute is not None and isinstance(run.algorithm, LocalRecoding):
        _refused_groups(run, attribute)


def _secrets(run: Run, found: MinimalityAttack) -> None:
    parts.tiles([_without(found.right), _lift(found), _without(found.exposed), _without(found.largest)])
    st.markdown(_meaning(run, found))
    left, right = parts.beside()
    with left:
        parts.chart(
            gain_bars(found.gain, run.style),
            "known-method-gain",
            "People by how much the strongest belief in a protected value of theirs changes when the readers "
            "know the method. Beliefs may also fall: what is more likely of one person of a group is less likely of "
            "another.",
            f"Bar chart: the strongest belief rises by 5 percentage points or more for "
            f"{share_text(found.exposed)} of the people.",
        )
    with right:
        _people(run, found)
    counted = float(found.exact.mean())
    drawn = "" if counted == 1 else f" {1 - counted:.0%} of the beliefs are estimated from worlds drawn at random."
    refused = f"{found.n_refusals:,} refusals of the method tell something; {found.n_used:,} of them are used."
    st.caption(f"{refused}{drawn} {escaped(found.limits)}".strip())


def _without(score: Score) -> Tile:
    return Tile.of(score, "without")


def _lift(found: MinimalityAttack | Downcoding) -> Tile:
    low, high = found.interval
    return Tile(
        found.lift.label,
        f"{found.lift * 100:+.1f} points",
        f"{escaped(found.lift.meaning)} The interval has the lift with 95%, as if the groups were drawn from many.",
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
        f"**Knowing the method helps the readers:** they guess '{name}' right more often than from the groups alone."
        if found.interval[0] > 0
        else "**Over all people no gain is certain:** the readers may guess "
        f"'{name}' right as often as from the groups alone, for the interval of the lift includes 0."
    )
    return (
        f"{verdict} About single people, the strongest belief goes from {found.largest.baseline or 0:.0%} to "
        f"{found.largest:.0%}, and for {share_text(found.exposed)} of the people a protected value becomes at least 5 "
        "percentage points more credible.\n\n"
        f"The readers know everybody's quasi-identifiers and group, and that {method} would have "
        "published more detail if the requirements allowed it. They deal the records of each group to its people in "
        "all ways, and keep those ways in which everything more detailed breaks a requirement."
    )


def _people(run: Run, found: MinimalityAttack) -> None:
    """The people about whom the strongest belief rises most."""
    order = np.argsort(-found.gain, kind="stable")[:MOST_PEOPLE]
    order = order[found.gain[order] > 1e-9]
    if not len(order):
        st.info("About nobody a belief becomes stronger.")
        return
    view, values = run.data.sensitive_view(found.attribute), np.array(found.values, dtype=object)
    protected = np.array([code for code in range(view.size) if code != view.unique])
    belief = found.belief[order][:, protected]
    most_told(
        pd.DataFrame(
            {
                "Row": order + 1,
                "Believed": values[protected[belief.argmax(axis=1)]],
                "Without": found.without[order],
                "With": belief.max(axis=1),
                "Truth": values[view.codes[order]],
            }
        ),
        "known-method-people",
        "the belief rises",
        "Strongest belief of readers who do not know the method.",
        "Strongest belief of readers who know the method.",
    )


def _cells(run: Run) -> None:
    """How far generalized cells can be undone."""
    if not any(run.data.domain[name].tree is not None for name in run.data.quasi_identifiers):
        return
    about.heading("Undoing generalized cells", "attack:downcoding")
    found = parts.later("Generalized cells", run, attacks.downcoding)
    if not isinstance(found, Downcoding):
        return
    if found.n_cells == 0:
        st.info("No cell is published as a node of a hierarchy with several children, so there is nothing to undo.")
        return
    cells = "Cells (one attribute of one row) that are published as a node of a hierarchy with several children."
    parts.tiles(
        [
            Tile.of(found.right, "by the table"),
            _lift(found),
            Tile.of(found.undone, "by the table"),
            Tile("Generalized cells", f"{found.n_cells:,}", cells, f"attributes: {len(found.attributes)}"),
        ]
    )
    st.markdown(
        "Here the readers know nobody's values, but the hierarchies, the method, and how frequent each value is in the "
        "table. For each cell they guess below which child of the published node the value lies. Knowing the method "
        "tells them what the children of a node cannot be: large enough to be published on their own."
    )


def _refused_groups(run: Run, attribute: str) -> None:
    """Which classes readers can rule out for a person."""
    about.heading("Groups that were refused", "attack:refinement")
    found = parts.later("Refused groups", run, attacks.refinement, attribute)
    if not isinstance(found, Refinement):
        return
    tried = "Sets of rows that were tried before a group was made, and that had fewer than k."
    refused = Tile("Refused groups", f"{found.n_refused:,}", tried, f"counts: {len(found.low):,}")
    parts.tiles([*map(_without, (found.located, found.recall, found.ruled_out)), refused])
    st.markdown(
        "Here the readers know one person's quasi-identifiers, the hierarchies and the method, and look for the group "
        "that this person is in. A group that was made earlier took everybody who fitted it, so who is in a later one "
        "does not fit it."
    )
    st.caption(escaped(" ".join(found.notes)))
