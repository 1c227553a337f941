"""The page Attack: what adversaries of different knowledge get from the release, one tab each."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from anoncore import attacks
from anoncore.attacks import Strongest
from anoncore.base.texts import share_text
from dashboard.board import grid
from dashboard.elements import about, parts, routes
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import state
from dashboard.session.workspace import Run

ATTACKS: dict[str, tuple[str, str]] = {
    "Foreground knowledge": ("foreground:foreground", "attack:foreground_knowledge"),
    "deFinetti": ("known_method:definetti", "attack:definetti"),
    "Matching buckets": ("matching:matching", "attack:matching_buckets"),
    "Membership": ("matching:membership", "attack:membership"),
    "Known method": ("known_method:known_method", "attack:minimality"),
    "Second release": ("composition:composition", "attack:composition"),
    "In or out": ("outsiders:outsiders", "attack:inference"),
    "Population": ("outsiders:population", "attack:population_uniqueness"),
    "All attacks": ("attack:all_attacks", "attack:strongest"),
}
"""The function in `dashboard.closer` that shows an attack, and where the reference has it, by the tab's title."""
OF_SYNTHETIC = "In or out"
AIMS = {"identity": "Whose record it is", "attribute": "Somebody's secret", "membership": "Who is in the table"}
"""What an adversary may be after, in words."""
LIST_HEIGHT = 310


def render() -> None:
    """Draw the page."""
    run = parts.shown_run()
    if run is not None:
        _of_the_board(run)
        # Of a synthetic release, whose rows are nobody's, only this attack can be asked.
        first = OF_SYNTHETIC if run.release.is_synthetic else ""
        parts.tabs("attack", {title: partial(_draw, *named, run) for title, named in ATTACKS.items()}, first)


def _of_the_board(run: Run) -> None:
    """What the clicked cell of the board said, where its number is not of foreground knowledge, the first tab."""
    cell = grid.given_by_another(run, state.workspace().wishes)
    if cell is not None:
        least, number = "at least ", str(cell["text"])
        label = f"Given away{', at least' if number.startswith(least) else ''}"
        meaning = "What the strongest attack gets of those that the board tried, as its cell says."
        parts.tiles([Tile(label, number.removeprefix(least), meaning)])
        st.caption(escaped(f"{cell['full'][0].upper()}{cell['full'][1:]}."))


def _draw(place: str, entry: str, run: Run) -> None:
    about.button(entry, "What is this attack?")
    routes.function_of(place)(run)


def attacked(run: Run, name: str, why: str = "") -> str | None:
    """The sensitive attribute that somebody chose; None, and the reason on the page, where none can be attacked.

    `name` tells the tabs apart, and `why` is what needs rows of people, as half a sentence.
    """
    names = secrets(run, why)
    if not names:
        return None
    return parts.choice("Sensitive attribute", names, f"{name}-attribute-{run.id}", "What the adversary is after.")


def secrets(run: Run, why: str = "") -> list[str]:
    """The sensitive attributes that can be attacked; none, and the reason on the page, where there are none."""
    names = [attribute for attribute in run.data.sensitive if attribute in run.release.attributes]
    if not names:
        st.info("The attack is on a sensitive attribute, and this release publishes none.")
    return [] if names and why and parts.says_why_nobodys(run, why) else names


def board_r(run: Run) -> float:
    """The r of the board, so that both tell the same; else the method's own l, and 2 without one."""
    wishes = state.workspace().wishes
    if wishes is not None:
        return float(wishes.r)
    asked = getattr(run.algorithm, "l", None)
    return float(asked) if isinstance(asked, int | float) and asked > 1 else 2.0


def most_told(frame: pd.DataFrame, key: str, told: str, without: str, informed: str) -> None:
    """Draw the people about whom something tells most, with the belief `Without` it and `With` it."""
    title = f"The {len(frame):,} people about whom {told} most"
    columns = {"Row": parts.number(width=50), "Without": parts.percent(without), "With": parts.percent(informed)}
    st.markdown(f"**{title}**")
    parts.table(frame, key, f"{title}.", LIST_HEIGHT if len(frame) > 8 else "auto", columns)


def all_attacks(run: Run) -> None:
    """Draw every attack that applies to the release beside its control, the strongest of each aim first."""
    attribute = attacked(run, "all-attacks", "Attacks ask what somebody learns about the person behind a row")
    if attribute is None:
        return
    st.markdown(
        "Every attack that applies to this release, with all that each of them is given. A large share alone says "
        "little: beside it stands what the same attack gets where there is nothing to learn. Attacks with the same aim "
        "are ranked by what lies above that."
    )
    measured = parts.later("All attacks", run, attacks.strongest, attribute, board_r(run))
    if not isinstance(measured, Strongest):
        return
    strongest = [one for one in (measured.identity, measured.attribute, measured.membership) if one is not None]
    parts.tiles(
        [
            Tile(
                f"{AIMS[attack.aim]}: {attack.title}",
                share_text(attack.share),
                f"{escaped(attack.measured).capitalize()}. The control is {escaped(attack.compared_with)}.",
                f"control: {share_text(attack.control)}",
            )
            for attack in strongest
        ]
    )
    titles = {
        "aim": "Aim",
        "title": "Attack",
        "share": "Gets",
        "control": "Control",
        "gain": "Above",
        "measured": "What is counted",
        "compared_with": "What the control is",
    }
    frame = measured.frame().dropna(subset="gain").replace({"aim": AIMS})[list(titles)].rename(columns=titles)
    columns = {
        "Gets": parts.percent("What the attack gets."),
        "Control": parts.percent("What the same attack gets where there is nothing to learn."),
        "Above": parts.percent("What the release gives away: how much of the first lies above the second."),
    }
    alt = f"The {len(frame)} attacks that apply, the strongest of each aim first."
    parts.table(frame, "all-attacks", alt, columns=columns)
    if measured.not_tried:
        names: dict[str, list[str]] = {}
        for name, reason in measured.not_tried.items():
            names.setdefault(reason, []).append(name.replace("_", " "))
        lines = [f"- {', '.join(listed).capitalize()}: {escaped(reason)}" for reason, listed in names.items()]
        st.markdown("\n".join(["**Not tried**\n", *lines]))
