"""The page Method: how the release that is shown was made, step by step where the method has steps to show."""

from __future__ import annotations

import importlib

import streamlit as st

from anoncore.algorithms import Algorithm
from anoncore.release.openness import QUESTION
from dashboard.elements import about, entries, parts
from dashboard.markdown import escaped
from dashboard.session.workspace import Run, run_title

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
"""The module of `dashboard.closer.methods` that shows how a method works, by the method's name."""


def render() -> None:
    """Draw the page."""
    run = parts.shown_run()
    if run is None:
        return
    if run.algorithm is None:
        _read(run)
        return
    panel = PANELS.get(run.algorithm.name)
    if panel is not None:
        importlib.import_module(f"dashboard.closer.methods.{panel}").render(run)
    _description(run, run.algorithm, alone=panel is None)


def _read(run: Run) -> None:
    """What is known of a release that was made elsewhere: how it was read."""
    source = "" if run.opened is None else f" It is {escaped(run.opened.told)}."
    st.info(f"Which method made this release is not known.{source}")
    notes = run.release.notes or ("Every row was found, without a doubt.",)
    st.markdown("\n".join(["**How it was read**", "", *(f"- {escaped(note)}" for note in notes)]))


def _description(run: Run, algorithm: Algorithm, alone: bool) -> None:
    """What the method does, with its source, and the parameters of this release."""
    kind = type(algorithm)
    with st.expander(f"{kind.title} in words", expanded=alone):
        entry = entries.entries()[entries.key_of(kind)]
        st.markdown(entry.definition)
        st.markdown(f"**{QUESTION}** {entry.minimality}")
        about.button(entry.key, "When to use it, and its source")
        st.markdown("\n".join(["**This release**", "", *_parameters(algorithm)]))


def _parameters(algorithm: Algorithm) -> list[str]:
    # Reports take half a second to import, for which no other page waits.
    from anoncore.publishing.report.treatments import parameter_text

    lines = []
    for name, info in type(algorithm).model_fields.items():
        if name == "seed":
            continue
        title = info.title or name.replace("_", " ")
        value = getattr(algorithm, name)
        shown = run_title(value) if isinstance(value, Algorithm) else parameter_text(value)
        lines.append(f"- {escaped(title)}: {escaped(shown)}")
    return lines
