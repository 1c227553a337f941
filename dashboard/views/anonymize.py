"""The page Anonymize: choose a method and its parameters, run it, and see at a glance what came out."""

from __future__ import annotations

from typing import Any

import streamlit as st

from anoncore import AnonymizationError, InfeasibleError, Microdata
from anoncore.algorithms import ALGORITHMS, Algorithm
from dashboard import about, forms, reference, runner, state
from dashboard.fields import feasible_instead
from dashboard.first_method import first_method
from dashboard.markdown import escaped
from dashboard.method_guide import FAMILIES, in_order, option
from dashboard.views import headline, parts

MOST_CARDS = 3
_METHOD = "method"


def render() -> None:
    """Draw the page."""
    data = parts.tagged_table()
    if data is None:
        return
    left, right = st.columns([2, 3], gap="large")
    below = st.container()
    with left:
        kind = _choose_method()
        _explain(kind)
        algorithm, problem = _parameters(kind, data, below)
    with right:
        _protects(data)
        _run_panel(algorithm, problem, data)
        headline.render()


def _choose_method() -> type[Algorithm]:
    """One card per method while there are few, else a list, family by family."""
    names = in_order()
    kept = state.forms().get(_METHOD)
    if state.widget_value(_METHOD) not in names:
        state.set_widget_values({_METHOD: kept if kept in names else first_method()})
    label = "Method"
    help = "The list goes by what methods do to a table. The usual ones of each kind come first: begin with them."
    if len(names) <= MOST_CARDS:
        name = st.radio(
            label,
            names,
            key=_METHOD,
            format_func=lambda name: f"**{ALGORITHMS[name].title}** ({ALGORITHMS[name].family})",
            captions=[ALGORITHMS[name].summary for name in names],
            help=help,
        )
    else:
        name = st.selectbox(
            label,
            names,
            key=_METHOD,
            format_func=option,
            help=help,
        )
        st.caption(f"**{FAMILIES.get(ALGORITHMS[name].family, '')}.** {ALGORITHMS[name].summary}")
    state.forms()[_METHOD] = name
    return ALGORITHMS[name]


def _explain(kind: type[Algorithm]) -> None:
    """What the method does, at hand and in the reference."""
    entry = reference.entries()[reference.key_of(kind)]
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover(f"How {kind.title} works"):
            st.markdown(entry.definition)
        about.button(entry.key, "When to use it")


def _parameters(kind: type[Algorithm], data: Microdata, below: Any) -> tuple[Algorithm | None, str]:
    """The form of the method: the algorithm it makes, or the sentence that says why it makes none.

    `below` is the place for what needs the whole width.
    """
    values = state.forms().setdefault(f"parameters-{kind.name}", {})
    try:
        fields = forms.draw(kind, f"parameter.{kind.name}", values, forms.Names.of(data), below)
        algorithm: Algorithm | None = kind(**fields)
        problem = ""
    except AnonymizationError as error:
        algorithm, problem = None, str(error)
    return algorithm, problem


def _protects(data: Microdata) -> None:
    """What the run works on, in one line."""
    known = ", ".join(data.quasi_identifiers[:6]) + (" …" if len(data.quasi_identifiers) > 6 else "")
    count = len(data.quasi_identifiers)
    hidden = ", ".join(data.sensitive) or "none tagged"
    st.caption(
        f"Others may know {count} attribute{'s' if count > 1 else ''} ({escaped(known)}). Sensitive: {escaped(hidden)}."
    )


def _run_panel(algorithm: Algorithm | None, problem: str, data: Microdata) -> None:
    """Whether it can run, the button, progress while it runs, and what went wrong the last time."""
    instead: Algorithm | None = None
    offered = False
    if algorithm is not None:
        try:
            algorithm.validate_data(data)
        except InfeasibleError as error:
            problem, instead = str(error), feasible_instead(algorithm, data, error)
            offered = bool(error.instead)
        except AnonymizationError as error:
            problem = str(error)
    if runner.active() is not None:
        runner.progress()
        return
    if problem:
        st.warning(escaped(problem))
        if instead is not None:
            st.button(
                "Use the nearest feasible value" if not offered else "Use what is possible",
                on_click=_use,
                args=(instead,),
                help="Change the parameter that fails."
                if not offered
                else "Set the parameters that this sentence names.",
            )
    pressed = st.button(
        "Run",
        type="primary",
        disabled=bool(problem) or algorithm is None,
        width="stretch",
        help="Make a release with these parameters. Earlier runs stay, so that you can compare.",
    )
    if pressed and algorithm is not None and not problem:
        runner.start(algorithm, data)
        st.rerun()
    failed = state.forms().get("run_problem")
    if failed:
        st.error(escaped(failed))


def _use(algorithm: Algorithm) -> None:
    kind = type(algorithm)
    forms.take(algorithm, f"parameter.{kind.name}", state.forms().setdefault(f"parameters-{kind.name}", {}))
