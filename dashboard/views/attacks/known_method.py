"""The tab Known method: what readers learn because they know the method and what it must have refused to publish."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import attacks
from anoncore.attacks import MinimalityAttack
from anoncore.base.score import Score
from anoncore.release.openness import QUESTION, Openness
from dashboard.charts.known_method import gain_bars
from dashboard.palette import run_style
from dashboard.state import Run
from dashboard.views import parts
from dashboard.views.parts import Tile

MOST_PEOPLE = 100
LIST_HEIGHT = 310


def render(run: Run) -> None:
    """Draw the tab."""
    told = type(run.algorithm).minimality
    st.markdown(f"**{QUESTION}** {told.text}")
    names = [name for name in run.data.sensitive if name in run.release.attributes]
    if told.openness is Openness.NOT_OPEN:
        return
    if not names:
        st.info("No sensitive attribute is published, so there is nothing to learn about a person's value.")
        return
    attribute = parts.choice("Sensitive attribute", names, f"known-method-{run.id}", "Whose values are guessed.")
    found = parts.later("Possible worlds", "attacks.minimality", run, attacks.minimality, attribute)
    if isinstance(found, MinimalityAttack):
        _draw(run, found)


def _draw(run: Run, found: MinimalityAttack) -> None:
    low, high = found.interval
    parts.tiles(
        [
            _tile(found.right),
            Tile(
                found.lift.label,
                f"{found.lift * 100:+.1f} points",
                f"{found.lift.meaning} The interval holds the lift with 95 % if the classes were drawn from many.",
                f"95 % interval: {low * 100:+.1f} to {high * 100:+.1f}",
            ),
            _tile(found.exposed, "without knowing the method"),
            _tile(found.largest),
        ]
    )
    st.markdown(_meaning(run, found))
    left, right = st.columns([5, 4], gap="medium")
    with left:
        parts.chart(
            gain_bars(found.gain, run_style(run.color_index)),
            key="known-method-gain",
            caption="People by how much the strongest belief in a protected value of theirs changes when the readers "
            "know the method. Beliefs may also fall: what is more likely of one person of a class is less likely of "
            "another.",
            alt=f"Bar chart: the strongest belief rises by 5 percentage points or more for {found.exposed:.1%} of the "
            "people.",
        )
    with right:
        _people(run, found)
    st.caption(_worked_out(found))


def _tile(score: Score, baseline: str = "from the classes alone") -> Tile:
    return Tile(score.label, f"{score:.1%}", score.meaning, f"{baseline}: {score.baseline or 0:.1%}")


def _meaning(run: Run, found: MinimalityAttack) -> str:
    name, method = parts.escaped(found.attribute), type(run.algorithm).title
    if found.n_refusals == 0:
        return (
            f"**Nothing is learned.** Everything that {method} refused to publish is explained by the sizes of groups, "
            "which readers can count anyway."
        )
    verdict = (
        f"Knowing the method **helps the readers**: they guess '{name}' right more often than from the classes alone."
        if found.interval[0] > 0
        else f"By right guesses of '{name}' on average **no lift is certain**: the interval includes 0."
    )
    return (
        f"The readers know everybody's quasi-identifiers and {run.release.group_word}, and that {method} would have "
        "published more detail if the requirements allowed it. They deal the records of each class to its people in "
        "all ways, and keep those ways in which everything more detailed breaks a requirement. "
        f"{verdict} About {found.exposed:.1%} of the people a protected value becomes at least 5 percentage points "
        "more credible."
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
            "From the class": found.without[order],
            "Knowing the method": belief.max(axis=1),
            "Truth": [found.values[code] for code in view.codes[order]],
        }
    )
    st.markdown(f"**The {len(frame):,} people about whom the belief rises most** (original rows, not published)")
    st.dataframe(
        frame,
        hide_index=True,
        height=LIST_HEIGHT if len(frame) > 8 else "auto",
        key="known-method-people",
        column_config={
            "From the class": st.column_config.NumberColumn(format="percent", help="Strongest belief without it."),
            "Knowing the method": st.column_config.NumberColumn(format="percent", help="Strongest belief with it."),
        },
        alt=f"The {len(frame):,} people about whom the strongest belief rises most.",
    )


def _worked_out(found: MinimalityAttack) -> str:
    counted = float(found.exact.mean())
    drawn = "" if counted == 1 else f" {1 - counted:.0%} of the beliefs are estimated from worlds drawn at random."
    refused = f"{found.n_refusals:,} refusals of the method tell something; {found.n_used:,} of them are used."
    return f"{refused}{drawn} {parts.escaped(found.limits)}".strip()
