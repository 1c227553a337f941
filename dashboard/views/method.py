"""The page Method: how the release that is shown was made, step by step where the method has steps to show."""

from __future__ import annotations

import importlib

import streamlit as st

from anoncore.algorithms import Algorithm
from anoncore.release.openness import QUESTION
from dashboard import about, reference
from dashboard.state import Run
from dashboard.views import parts
from dashboard.workspace import run_title

PANELS: dict[str, str] = {
    "incognito": "incognito",
    "mondrian": "mondrian",
    "optimal-recoding": "optimal_recoding",
    "slicing": "slicing",
    "random-buckets": "slicing",
    "sensitive-space-fragmentation": "sensitive_space",
    "stack-and-deal": "stack_and_deal",
    "suppression": "suppression",
    "vertical-fragmentation": "vertical_fragmentation",
}
"""The module of `dashboard.views.methods` that shows how a method works, by the method's name."""


def render() -> None:
    """Draw the page."""
    run = parts.shown_run()
    if run is None:
        return
    panel = PANELS.get(run.algorithm.name)
    if panel is not None:
        importlib.import_module(f"dashboard.views.methods.{panel}").render(run)
    _description(run, alone=panel is None)


def _description(run: Run, alone: bool) -> None:
    """What the method does, with its source, and the parameters of this run."""
    kind = type(run.algorithm)
    with st.expander(f"{kind.title} in words", expanded=alone):
        entry = reference.entries()[reference.key_of(kind)]
        st.markdown(entry.definition)
        st.markdown(f"**{QUESTION}** {entry.minimality}")
        about.button(entry.key, "When to use it, and its source")
        st.markdown("\n".join(["**This run**", "", *_parameters(run)]))


def _parameters(run: Run) -> list[str]:
    lines = []
    for name, info in type(run.algorithm).model_fields.items():
        if name == "seed":
            continue
        value = getattr(run.algorithm, name)
        shown = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        shown = run_title(value) if isinstance(value, Algorithm) else shown
        title = info.title or name.replace("_", " ")
        lines.append(f"- {parts.escaped(title)}: {parts.escaped(shown) if value not in (None, ()) else 'none'}")
    return lines
