"""The page Attack: what adversaries of different knowledge get from the release, one tab each."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial

from dashboard.elements import about, parts
from dashboard.session.workspace import Run

ATTACKS: dict[str, str] = {
    "Foreground knowledge": "foreground",
    "deFinetti": "definetti",
    "Matching buckets": "matching",
    "Membership": "membership",
    "Known method": "known_method",
    "Second release": "composition",
    "In or out": "outsiders",
    "Population": "population",
    "All attacks": "all_attacks",
}
"""The module of `dashboard.closer.attacks` that shows an attack, by the tab's title."""
OF_SYNTHETIC = "In or out"
EXPLAINED: dict[str, str] = {
    "foreground": "attack:foreground_knowledge",
    "definetti": "attack:definetti",
    "matching": "attack:matching_buckets",
    "membership": "attack:membership",
    "known_method": "attack:minimality",
    "composition": "attack:composition",
    "outsiders": "attack:inference",
    "population": "attack:population_uniqueness",
    "all_attacks": "attack:strongest",
}
"""Where the reference has the attack of a module."""


def render() -> None:
    """Draw the page."""
    run = parts.shown_run()
    if run is not None:
        # Of a synthetic release, whose rows are nobody's, only this attack can be asked.
        first = OF_SYNTHETIC if run.release.is_synthetic else ""
        parts.tabs("attack", {title: partial(_draw, module, run) for title, module in ATTACKS.items()}, first)


def _draw(module: str, run: Run) -> None:
    about.button(EXPLAINED[module], "What is this attack?")
    draw: Callable[[Run], None] = importlib.import_module(f"dashboard.closer.attacks.{module}").render
    draw(run)
