"""The page Compare: two to six releases side by side, under the same attacks and the same measures."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard import routes, state
from dashboard.palette import COLOR_NAMES, run_style
from dashboard.state import Run
from dashboard.views import parts, verdicts, whose_rows
from dashboard.views.comparison import numbers, original, person
from dashboard.workspace import run_names

MOST_RUNS = 6
ORIGINAL = "original"
_FORM = "compare"


def render() -> None:
    """Draw the page."""
    runs = parts.releases(at_least=2)
    if len(runs) < 2:
        if runs:
            st.info("Two releases are needed; add another column to the board.")
            routes.link("board", "Go to the board")
        return
    shown, baseline = _choose(list(runs))
    if len(shown) < 2:
        st.info("Choose at least two releases.")
        return
    if any(whose_rows.stands_open(run) for run in shown):
        return
    _verdicts(shown)
    attribute = _attribute(shown)
    parts.tabs(
        "compare",
        {
            "Numbers": partial(numbers.render, shown, baseline, attribute),
            "One person": partial(person.render, shown, attribute),
        },
    )


def _choose(runs: list[Run]) -> tuple[list[Run], Run]:
    by_id, names = {run.id: run for run in runs}, run_names(runs)
    kept = state.forms().setdefault(_FORM, {"runs": None, "baseline": None, "columns": {}})
    wanted = state.widget_value("compare-runs", kept["runs"]) or []
    held = _still_there(wanted, kept["columns"], runs) or [run.id for run in runs[:MOST_RUNS]]
    state.set_widget_values({"compare-runs": held})
    left, right = st.columns([2, 1])
    with left:
        chosen = st.multiselect(
            "Releases",
            list(by_id),
            format_func=lambda one: names.get(one, ""),
            key="compare-runs",
            max_selections=MOST_RUNS,
            help="Two to six columns of the board.",
            persist_state="session",
            wrap=True,
        )
    shown = [by_id[one] for one in chosen]
    is_known = all(run.data.knows_rows for run in shown)
    options = [*([ORIGINAL] if is_known else []), *(run.id for run in shown)] or [ORIGINAL]
    held_baseline = state.widget_value("compare-baseline", kept["baseline"])
    state.set_widget_values({"compare-baseline": held_baseline if held_baseline in options else options[0]})
    with right:
        baseline = st.selectbox(
            "Differences to",
            options,
            key="compare-baseline",
            format_func=lambda one: "The original table" if one == ORIGINAL else names.get(one, ""),
            help="Every number is told with its difference to that of the original table, or of one of the releases.",
        )
    kept |= {"runs": chosen, "baseline": baseline, "columns": {run.id: run.column for run in shown}}
    if baseline == ORIGINAL:
        return shown, original.of(next((run for run in shown if run.opened is None), shown[0] if shown else runs[0]))
    return shown, by_id[baseline]


def _still_there(wanted: list[str], columns: dict[str, str], runs: list[Run]) -> list[str]:
    """The ids of the chosen runs; where a column of the board shows another release by now, that one's."""
    there, of_column = {run.id for run in runs}, {run.column: run.id for run in runs if run.column}
    found = [one if one in there else of_column.get(columns.get(one, "")) for one in wanted]
    return list(dict.fromkeys(one for one in found if one is not None))


def _verdicts(runs: list[Run]) -> None:
    """Each run with its colour, and the verdict on it in one sentence, in equal size."""
    names = run_names(runs)
    in_a_line = 2 if len(runs) in (2, 4) else 3
    for start in range(0, len(runs), in_a_line):
        for column, run in zip(st.columns(in_a_line), runs[start : start + in_a_line], strict=False):
            style = run_style(run.color_index)
            with column:
                with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
                    st.image(parts.swatch(style), width=18, alt=COLOR_NAMES[style.color])
                    st.markdown(f"**{parts.escaped(names[run.id])}**")
                verdicts.line(run)


def _attribute(runs: list[Run]) -> str | None:
    """The sensitive attribute that all of them have; asked for where there are several."""
    common = [name for name in runs[0].data.sensitive if all(name in run.data.sensitive for run in runs)]
    if not common:
        return None
    return parts.choice("Sensitive attribute", common, "compare-attribute", "What the adversary is after.")
