"""The page Method: how the release that is shown was made, step by step where the method has steps to show."""

from __future__ import annotations

import streamlit as st

from anoncore import utility
from anoncore.algorithms import Algorithm, Suppression
from anoncore.base.texts import counted, share_text
from anoncore.release.openness import QUESTION
from dashboard.elements import about, parts, routes
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session.workspace import Run, run_title

PANELS: dict[str, str] = {
    "incognito": "lattice:incognito",
    "mondrian": "mondrian:mondrian",
    "optimal-recoding": "lattice:optimal_recoding",
    "slicing": "slicing:slicing",
    "random-buckets": "slicing:slicing",
    "sensitive-space-fragmentation": "dealing:sensitive_space",
    "stack-and-deal": "dealing:stack_and_deal",
    "suppression": "method:suppression",
    "vertical-fragmentation": "vertical:vertical_fragmentation",
}
"""The function in `dashboard.closer` that shows how a method works, by the method's name."""


def render() -> None:
    """Draw the page."""
    run = parts.shown_run()
    if run is None:
        return
    if run.algorithm is None:
        source = "" if run.opened is None else f" It is {escaped(run.opened.told)}."
        st.info(f"Which method made this release is not known.{source}")
        notes = run.release.notes or ("Every row was found, without a doubt.",)
        st.markdown("\n".join(["**How it was read**", "", *(f"- {escaped(note)}" for note in notes)]))
        return
    panel = PANELS.get(run.algorithm.name)
    if panel is not None:
        routes.function_of(panel)(run)
    _description(run, run.algorithm, alone=panel is None)


def _description(run: Run, algorithm: Algorithm, alone: bool) -> None:
    """What the method does, with its source, and the parameters of this release."""
    kind = type(algorithm)
    with st.expander(f"{kind.title} in words", expanded=alone):
        entry = about.entries()[about.key_of(kind)]
        st.markdown(entry.definition)
        st.markdown(f"**{QUESTION}** {entry.minimality}")
        about.button(entry.key, "When to use it, and its source")
        st.markdown("\n".join(["**This release**", "", *_parameters(algorithm)]))


def _parameters(algorithm: Algorithm) -> list[str]:
    # Reports take half a second to import, for which no other page waits.
    from anoncore.publishing.report.subject import parameter_text

    lines = []
    for name, info in type(algorithm).model_fields.items():
        if name == "seed":
            continue
        title = info.title or name.replace("_", " ")
        value = getattr(algorithm, name)
        shown = run_title(value) if isinstance(value, Algorithm) else parameter_text(value)
        lines.append(f"- {escaped(title)}: {escaped(shown)}")
    return lines


def suppression(run: Run) -> None:
    """Say how rows were left out of the release of another method, and what that did to the others."""
    algorithm = run.algorithm
    assert isinstance(algorithm, Suppression)
    rows, left_out = run.data.n_rows, int(run.release.suppressed_rows.sum())
    inner = escaped(algorithm.method.title)
    allowed = int(algorithm.max_suppression * rows)
    st.markdown(
        f"1. {inner} made a release of all {rows:,} rows.\n"
        "2. In each group some people differ from the others so much that the cells of everybody in it become wide. In "
        f"{counted(algorithm.rounds, 'round')} the rows for which this is worst were left out, up to {allowed:,} "
        f"of them, and {inner} made a release of the rest each time.\n"
        "3. Of all these releases the one that loses least was published. Each row left out counts as lost completely, "
        "so leaving out rows has to pay for itself."
    )
    if not left_out:
        st.info(f"Here it did not pay: nobody is left out, and the release is that of {inner} alone.")
        return
    loss = float(parts.measured(run, utility.information_loss))
    others = max(loss * rows - left_out, 0.0) / (rows - left_out)
    share, asked = share_text(left_out / rows), f"asked: at most {share_text(algorithm.max_suppression)}"
    of_all = "Information loss, those left out counted as lost completely."
    parts.tiles(
        [
            Tile("Left out", f"{left_out:,}", "Rows in which others' knowledge is published as any value."),
            Tile("Share left out", share, "Of all rows.", asked),
            Tile("Loss of the others", share_text(others), "Information loss of the rows that are not left out."),
            Tile("Loss of all", share_text(loss), of_all),
        ]
    )
    routes.link("before_after", "See who is left out")
