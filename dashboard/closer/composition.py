"""The tab Second release: what the release and another one tell together about the people who are in both."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import AnonymizationError, attacks
from anoncore.attacks import Composition
from anoncore.base.texts import counted, share_text
from anoncore.publishing.certification.laid_beside import promised_l
from dashboard.charts.attacks import values_left
from dashboard.charts.palette import run_style
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped, reason
from dashboard.serving import access
from dashboard.session import browser, compute, state
from dashboard.session.workspace import Run

MOST_PEOPLE = 50
SAVED = "composition-saved"
_NOBODY = "the row numbers"


def composition(run: Run) -> None:
    """Draw what the release and another one tell together about the people who are in both."""
    st.markdown(
        "Somebody may read more than this release: an earlier one of yours, or one of another publisher. **Whoever is "
        "in both is protected by neither alone**: a value that one of them rules out is ruled out. Choose the second "
        "release, and say by which columns a row of one table is the same person as a row of the other."
    )
    if parts.says_why_nobodys(run, "What several releases tell together is told of people who are in each of them"):
        return
    other = _other(run)
    if other is None:
        return
    names = [name for name in run.data.sensitive if name in run.release.attributes and name in other.release.attributes]
    if not names:
        st.info(
            "The two releases publish no common sensitive attribute, so together they tell no more than each alone."
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        attribute = parts.choice(
            "Sensitive attribute", names, f"composition-attribute-{run.id}", "Whose values are guessed."
        )
        by = _by(run, other)
        l = float(
            st.number_input(
                "Fewest possible values, l",
                min_value=1.0,
                value=max(promised_l(one.release, attribute) for one in (run, other)),
                step=1.0,
                format="%g",
                key=f"composition-l-{run.id}-{other.id}-{attribute}",
                help="People with fewer possible values than this are counted, and beliefs above 1/l.",
                width=210,
            )
        )
    if by is None:
        st.info("Choose the columns by which the same person is found in both tables, such as a name or a number.")
        return
    try:
        asked = (other.id, attribute, by, l)
        both = [run.release, other.release]
        found = compute.cached(
            "attacks.composition", run, lambda *_: attacks.composition(both, attribute, by=by, l=l), *asked
        )
    except AnonymizationError as error:
        st.warning(escaped(reason(error)))
        return
    if len(found.people) == 0:
        st.info("Nobody is in both tables by these columns, so the two releases tell nothing about anybody together.")
        return
    _figures(run, other, found, l)
    _chart(run, other, found, l)
    _people(found)


def _other(run: Run) -> Run | None:
    """The second release: another column of the board, or one of a saved session; None until there is one."""
    saved: tuple[Run, ...] = browser.get(SAVED, ())
    others = [one for one in (*state.runs(), *saved) if one.id != run.id]
    with st.expander("Take a release of a saved session", expanded=not others):
        file = access.upload_field(
            "Saved session with the other release",
            type=["anoncore"],
            key="composition-upload",
            help="The file that 'Save this session' on the page Table makes. Nothing of it joins this session.",
        )
    if file is not None and browser.get(f"{SAVED}-file") != file.file_id:
        try:
            opened = state.read_session(file.getvalue())
        except AnonymizationError as error:
            # Beside the upload it would be hidden: the expander closes as soon as there is a second release.
            st.error(escaped(str(error)))
        else:
            browser.put(SAVED, opened)
            browser.put(f"{SAVED}-file", file.file_id)
            st.rerun()
    if not others:
        st.info(
            "There is no second release yet. Add another column to the board, or take a release of a saved session "
            "above."
        )
        return None
    # Runs hold tables: what the page remembers is the id.
    by_id = {one.id: one for one in others}
    chosen = parts.choice(
        "Second release",
        list(by_id),
        f"composition-other-{run.id}",
        "The release that the adversary reads besides the one that is shown.",
        names=lambda id: _name(by_id[id]),
    )
    return by_id[chosen]


def _name(other: Run) -> str:
    """A second release by its method and table, and whether it came with a saved session."""
    is_saved = any(other.id == one.id for one in browser.get(SAVED, ()))
    return f"{other.label}: {other.table_name}{' (saved session)' if is_saved else ''}"


def _by(run: Run, other: Run) -> tuple[str, ...] | None:
    """The columns that say who a person is; () for the row numbers, None where nothing was chosen yet."""
    frame, second = run.data.frame, other.data.frame
    common = [str(name) for name in frame.columns if name in second.columns]
    usual = [
        name for name in common if frame[name].is_unique and second[name].is_unique and name in run.data.identifiers
    ]
    same_table = run.table is not None and other.table is not None and run.table.digest == other.table.digest
    chosen = st.multiselect(
        "Same person by",
        common,
        default=usual[:1],
        key=f"composition-by-{run.id}-{other.id}",
        help="The column, or the columns together, that tell who a row is in both tables. They need not be published."
        + (
            " Without any, rows of the same number are the same person, because both are of one table."
            if same_table
            else ""
        ),
        placeholder=_NOBODY if same_table else "Choose columns",
        width=360,
    )
    if chosen:
        return tuple(chosen)
    return () if same_table else None


def _figures(run: Run, other: Run, found: Composition, l: float) -> None:
    n, of = len(found.people), run.data.n_rows
    few = round(float(found.few) * n)
    both = f"{counted(n, 'person')} {'is' if n == 1 else 'are'} in both tables"
    st.markdown(
        f"Second release: {escaped(_name(other))}. **{both}**, {n / of:.0%} of this one. In one release alone "
        f"{share_text(found.few.baseline or 0)} of them have fewer than {l:g} possible values of "
        f"{escaped(found.attribute)}; with both, **{share_text(float(found.few))} do: "
        f"{counted(few, 'person')}.**"
    )
    row = [
        Tile.of(one, "one alone", label=label, holds=not one > 0)
        for one, label in ((found.few, f"Fewer than {l:g} values"), (found.breach, f"Believed above 1/{l:g}"))
    ]
    row += [Tile.of(found.largest, label="Largest belief"), Tile.of(found.truth, label="Belief in the truth")]
    parts.tiles(row)
    parts.notes(found.notes, st.caption)


def _chart(run: Run, other: Run, found: Composition, l: float) -> None:
    first, second = f"{run.label} alone", f"{other.label} alone"
    own, style = run.style, other.style
    if style == own:
        # A saved session brings the look of the first release.
        style = run_style(other.color_index + 1)
    shown = {
        first: (found.possible_alone[0], own),
        second if second != first else f"{second} (second)": (found.possible_alone[1], style),
    }
    parts.chart(
        values_left(shown, found.possible, l),
        "composition-values",
        "People in both tables by how many values are possible for them; those left of the dotted line have "
        f"fewer than {l:g}. Beliefs suppose that the two releases were made independently; what is possible supposes "
        "only that nobody's value changed.",
        f"Bar chart: {share_text(float(found.few))} of the people have fewer than {l:g} possible values together, "
        f"in one release alone {share_text(found.few.baseline or 0)}.",
    )


def _people(found: Composition) -> None:
    """The people of whom most is known: fewest possible values, then the surest belief."""
    sure = found.belief.max(axis=1)
    order = np.lexsort((-sure, found.possible))[:MOST_PEOPLE]
    texts = ["(missing)" if value is None else str(value) for value in found.values]
    left = [
        ", ".join(texts[code] for code in np.argsort(-found.belief[place], kind="stable")[: found.possible[place]][:6])
        for place in order
    ]
    frame = pd.DataFrame(
        {
            "person": [", ".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in found.people[order]],
            "this release alone": found.possible_alone[0][order],
            "second alone": found.possible_alone[1][order],
            "both": found.possible[order],
            "values left, likeliest first": [text or "none: the releases contradict each other" for text in left],
            "surest belief": sure[order] * 100,
        }
    )
    st.markdown("**The people of whom most is known**")
    columns = {"surest belief": parts.number(format="%.0f %%")}
    parts.table(frame, "composition-people", "People in both tables with the fewest possible values.", columns=columns)
    st.caption(
        f"The first {len(frame)} of {len(found.people):,} people in both; the numbers count possible values. "
        "This list is for you and not for publication."
    )
