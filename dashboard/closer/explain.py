"""The page Explain: which groups bind, why they are not finer, and whether the release would keep something more."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf

import pandas as pd
import streamlit as st

from anoncore import AnonymizationError, Fragment, Release
from anoncore.base.texts import counted, share_text
from anoncore.kernels.arrays import Floats
from anoncore.privacy.explain import Binding, Explanation, WhatIf, explain, mending_sentences, what_if
from anoncore.requirements import REQUIREMENTS, Requirement
from anoncore.requirements.requirement import COMPARISON_WORDS
from dashboard.charts.utility import bound_groups
from dashboard.closer.privacy import MOST_VIOLATIONS, violations
from dashboard.elements import about, forms, parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import state
from dashboard.session.workspace import Run
from dashboard.tasks import redrawing

MOST_TIGHT = 30
NO_NUMBER = "no number is enough"
"""What stands for an infinite level: a group has too few different values for any c of recursive diversity."""
_FORM = "what-if"


def render() -> None:
    """Draw the page."""
    run = parts.shown_run("Which groups bind is asked of groups of people")
    if run is None:
        return
    fragment = parts.fragment_choice(run.release, "explain-fragment")
    _why(run, fragment)
    _would(run)


def _why(run: Run, fragment: Fragment) -> None:
    """Why the groups are as coarse as they are."""
    st.subheader("Why not finer?")
    if not run.promises:
        st.info(f"{escaped(run.title)} promises nothing about groups, so no requirement keeps a group whole.")
        return
    found = parts.soon("Why it is not finer", run, _explained, fragment.name, takes_long=True)
    if found is None:
        return
    bound = [int(one.forbids.sum()) for one in found.bindings]
    tiles = [
        Tile(
            _label(one),
            share_text(count / found.n_groups),
            "Share of the groups of which every cut in half at the median of a quasi-identifier leaves a half that "
            "fails this requirement.",
            f"worst {one.worst:.3g}, asked {COMPARISON_WORDS[one.requirement.comparison]} "
            f"{one.requirement.threshold:g}",
        )
        for one, count in zip(found.bindings, bound, strict=True)
    ]
    tiles += [
        Tile(
            "Several together",
            share_text(found.together.mean()),
            "No requirement alone forbids every cut, but each cut fails one of them.",
        ),
        Tile(
            "All alike", share_text(found.alike.mean()), "All rows are equal in the quasi-identifiers: nothing to cut."
        ),
        Tile(
            "Could be cut",
            share_text(found.free.mean()),
            "At least one cut at a median would keep every requirement; the method stopped for a reason of its own.",
        ),
    ]
    parts.tiles(tiles, 4)
    left, right = parts.beside(2, 3)
    with left:
        parts.chart(
            bound_groups(_reasons(found), run.style),
            "explain-bound",
            f"What keeps the {found.n_groups:,} groups whole when each is cut in half at the median of every "
            "quasi-identifier, as Mondrian would. One may have several reasons.",
            "; ".join(f"{name}: {count:,} groups" for name, count in _reasons(found).items()),
        )
    with right:
        _tightest(run, fragment, found)


@redrawing.part()
def _tightest(run: Run, fragment: Fragment, found: Explanation) -> None:
    place = parts.choice(
        "Requirement",
        list(range(len(found.bindings))),
        f"explain-requirement-{run.id}",
        "Whose tightest groups are listed.",
        names=lambda one: _label(found.bindings[one]) if one < len(found.bindings) else "",
    )
    one = found.bindings[place]
    groups = one.tightest(MOST_TIGHT)
    frame = pd.DataFrame(
        {
            "group": groups,
            "rows": fragment.partition.sizes[groups],
            "level": _in_words(one.levels[groups]),
            "kept whole": one.forbids[groups],
        }
    )
    columns = {
        "group": parts.number("As on the page Groups.", width=70, label="No."),
        "rows": parts.number(format="localized", width=70, label="Rows"),
        "level": st.column_config.Column(one.requirement.level_name.capitalize()),
        "kept whole": st.column_config.CheckboxColumn("Kept whole", help="By this requirement alone."),
    }
    parts.table(frame, "explain-tightest", f"The groups that bind {_label(one)}.", 300, columns)
    st.caption(f"The groups that bind: those with least to spare for {escaped(_label(one))}.")


def _explained(release: Release, fragment: str) -> Explanation:
    part = next(one for one in release.fragments if one.name == fragment)
    return explain(release, release.promises, part)


def _label(one: Binding) -> str:
    what = one.requirement.title
    return f"{what} of {one.attribute}" if one.attribute is not None else what


def _reasons(found: Explanation) -> dict[str, int]:
    reasons = {_label(one): one.n_bound for one in found.bindings}
    more = {
        "several together": int(found.together.sum()),
        "all alike": int(found.alike.sum()),
        "could be cut": int(found.free.sum()),
    }
    return {**reasons, **{name: count for name, count in more.items() if count}}


@redrawing.part()
def _would(run: Run) -> None:
    """Hold one more requirement against the release."""
    st.subheader("Would it also hold …?")
    names = [name for name, kind in REQUIREMENTS.items() if run.data.sensitive or kind.attribute_free]
    left, right = st.columns([1, 2], gap="large")
    with left:
        name = parts.choice(
            "Requirement to try",
            names,
            "what-if-requirement",
            "It is held against the release as it is.",
            names=lambda one: REQUIREMENTS[one].title,
        )
        about.button(about.key_of(REQUIREMENTS[name]))
        values = state.forms().setdefault(f"{_FORM}-{name}", {})
        try:
            requirement = REQUIREMENTS[name](
                **forms.draw(REQUIREMENTS[name], f"{_FORM}.{name}", values, forms.Names.of(run.data))
            )
            found = what_if(run.release, requirement)
        except AnonymizationError as error:
            with right:
                st.info(escaped(str(error)))
            return
    with right:
        _verdict(run, requirement, found)
    if not found.holds:
        _failing(run, requirement, found)


def _verdict(run: Run, requirement: Requirement, found: WhatIf) -> None:
    """Whether the requirement holds, how far it is from holding, and what would mend it."""
    reached = requirement.reached_text(found.worst, f"{found.worst:.4g}", getattr(requirement, "attribute", None))
    if found.holds:
        st.success(
            f"It holds in every group. The worst has {escaped(reached)}"
            + (f"; even {requirement.parameter} = {found.nearest:g} holds." if found.nearest is not None else ".")
        )
        return
    st.error(
        f"It fails in {counted(found.n_groups, 'group')} with {counted(found.n_rows, 'row')} "
        f"({share_text(found.n_rows / run.data.n_rows)}). The worst has {escaped(reached)}."
    )
    cures = [f"- {escaped(one)}" for one in mending_sentences(found, run.release)]
    st.markdown("\n".join(["What would mend it:", "", *cures]))


def _in_words(values: Sequence[float] | Floats) -> list[float] | list[str]:
    """Numbers of a column in four digits; all as texts where a group misses what is asked whatever the number."""
    texts = [NO_NUMBER if isinf(value) else f"{value:.4g}" for value in values]
    return texts if NO_NUMBER in texts else [float(text) for text in texts]


def _failing(run: Run, requirement: Requirement, found: WhatIf) -> None:
    """The groups that fail, as a table."""
    shown = sorted(found.violations, key=lambda one: -abs(one.level - requirement.threshold))[:MOST_VIOLATIONS]
    alt = "The groups that fail, those that miss by most first."
    misses = _in_words([round(abs(one.level - requirement.threshold), 6) for one in shown])
    violations(shown, "what-if-violations", alt, **{"misses by": misses})
    cut = f" The first {MOST_VIOLATIONS} are listed." if len(found.violations) > MOST_VIOLATIONS else ""
    st.caption(f"{alt}{cut}")
