"""The tab All attacks: every attack that applies to the release beside its control, the strongest of each aim first."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from anoncore import attacks
from anoncore.attacks import AttackGain, Strongest
from anoncore.base.texts import share_text
from dashboard.closer.attacks.attacked import attacked, board_r
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session.workspace import Run

AIMS = {"identity": "Whose record it is", "attribute": "Somebody's secret", "membership": "Who is in the table"}
"""What an adversary may be after, in words."""


def render(run: Run) -> None:
    """Draw the tab."""
    attribute = attacked(run, "all-attacks", "Attacks ask what somebody learns about the person behind a row")
    if attribute is None:
        return
    st.markdown(
        "Every attack that applies to this release, with all that each of them is given. A large share alone says "
        "little: beside it stands what the same attack gets where there is nothing to learn. Attacks with the same aim "
        "are ranked by what lies above that."
    )
    measured = parts.later("All attacks", "attacks.strongest", run, attacks.strongest, attribute, board_r(run))
    if isinstance(measured, Strongest):
        _draw(measured)


def _draw(measured: Strongest) -> None:
    strongest = [one for one in (measured.identity, measured.attribute, measured.membership) if one is not None]
    parts.tiles([_tile(attack) for attack in strongest])
    frame = pd.DataFrame(
        {
            "Aim": [AIMS[attack.aim] for attack in measured.tried],
            "Attack": [attack.title for attack in measured.tried],
            "Gets": [attack.share for attack in measured.tried],
            "Control": [attack.control for attack in measured.tried],
            "Above": [float(attack.gain) for attack in measured.tried],
            "What is counted": [attack.measured for attack in measured.tried],
            "What the control is": [attack.compared_with for attack in measured.tried],
        }
    )
    st.dataframe(
        frame,
        hide_index=True,
        key="all-attacks",
        column_config={
            name: st.column_config.NumberColumn(format="percent", width=75, help=help)
            for name, help in (
                ("Gets", "What the attack gets."),
                ("Control", "What the same attack gets where there is nothing to learn."),
                ("Above", "What the release gives away: the difference of both."),
            )
        },
        alt=f"The {len(frame)} attacks that apply, the strongest of each aim first.",
    )
    if measured.not_tried:
        st.markdown("**Not tried**")
        names: dict[str, list[str]] = {}
        for name, reason in measured.not_tried.items():
            names.setdefault(reason, []).append(name.replace("_", " "))
        st.markdown(
            "\n".join(f"- {', '.join(listed).capitalize()}: {escaped(reason)}" for reason, listed in names.items())
        )


def _tile(attack: AttackGain) -> Tile:
    return Tile(
        f"{AIMS[attack.aim]}: {attack.title}",
        share_text(attack.share),
        f"{escaped(attack.measured).capitalize()}. The control is {escaped(attack.compared_with)}.",
        f"control: {share_text(attack.control)}",
    )
