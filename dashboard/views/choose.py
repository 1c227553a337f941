"""The page Choose k: releases for many k in the background, and the k that costs least in privacy and information."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from anoncore import AnonymizationError, Microdata
from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.algorithms.closeness.stack_and_deal import StackAndDeal
from anoncore.base.texts import share_text
from anoncore.requirements.t_closeness import GROUNDS
from anoncore.search.choosing import Choice, choose_k, largest_k, tried_values
from dashboard import about, forms, jobs, reference, routes, state
from dashboard.charts.choosing import losses_over_k
from dashboard.fields import field_forms
from dashboard.markdown import escaped
from dashboard.serving import audit
from dashboard.views import parts
from dashboard.views.parts import Tile

POLL = 0.5
PATIENCE = 0.6
_JOB = "choose-k"
_FORM = "choose-k"
BY_KIND = "by kind"


@dataclass(frozen=True, eq=False)
class Search:
    """A search on its way or done, and what it was started with."""

    job: jobs.Job
    algorithm: Algorithm
    digests: tuple[str, str]
    table_name: str


def render() -> None:
    """Draw the page."""
    data = parts.tagged_table(largest_k)
    if data is None:
        return
    left, right = st.columns([2, 5], gap="large")
    with left:
        _form(data, largest_k(data))
    with right:
        search = _search()
        if search is None:
            st.info(
                "Small classes lose little information but may lie far from the table; large ones the other way round. "
                "Here a release is made for every k, and the k that costs least in both together is marked."
            )
        elif search.job.running:
            _progress()
        else:
            _finished(search)


def methods() -> list[str]:
    """The methods that have a k and publish sensitive values as they are in groups that all share; the usual first."""
    names = [
        name for name, kind in ALGORITHMS.items() if "k" in kind.model_fields and kind.family == StackAndDeal.family
    ]
    return sorted(names, key=lambda name: name != StackAndDeal.name)


def _digests() -> tuple[str, str]:
    table = state.table()
    return (table.digest if table is not None else "", state.tags().digest)


def _search() -> Search | None:
    """The search for the table and tags of now; one for others is let go."""
    here = state.workspace()
    with here.lock:
        found: Search | None = here.jobs.get(_JOB)
        if found is not None and found.digests != _digests():
            found.job.cancel()
            del here.jobs[_JOB]
            found = None
    return found


def _form(data: Microdata, most: int) -> None:
    kept = state.forms().setdefault(f"{_FORM}-{_digests()[0]}", {})
    names = methods()
    name = parts.choice(
        "Method",
        names,
        "choose-method",
        "A method with a k. Its other parameters are those of the page Anonymize.",
        names=lambda one: ALGORITHMS[one].title,
    )
    about.button(reference.key_of(ALGORITHMS[name]), "What is this method?")
    limits = (kept.get("least", 2), kept.get("most", most))
    left, right = st.columns(2)
    least = left.number_input(
        "From k", 1, data.n_rows, min(limits[0], data.n_rows), key="choose-least", help="The smallest k that is tried."
    )
    greatest = right.number_input(
        "To k",
        1,
        data.n_rows,
        min(limits[1], data.n_rows),
        key="choose-most",
        help=f"The largest k that is tried; the number of different sensitive values is {most:,}.",
    )
    kept.update(least=least, most=greatest)
    ground = parts.choice(
        "Ground distance",
        [BY_KIND, *GROUNDS],
        "choose-ground",
        "Distance of the sensitive values; by kind: ordered for numbers and ranked categories, equal for others.",
    )
    try:
        ks = tried_values(int(least), int(greatest))
        algorithm = _algorithm(name)
        algorithm.replace(k=ks[0]).validate_data(data)
        problem = ""
    except AnonymizationError as error:
        ks, algorithm, problem = [], StackAndDeal(), str(error)
    if problem:
        st.warning(escaped(problem))
    else:
        st.caption(f"{len(ks):,} releases are made: k = {ks[0]:,} to {ks[-1]:,}{_spread(ks)}.")
    running = (search := _search()) is not None and search.job.running
    if st.button(
        "Try every k",
        type="primary",
        width="stretch",
        disabled=bool(problem) or running,
        help="Make the releases in the background; you can go on working on other pages.",
    ):
        _start(algorithm, data, ks, ground)
        st.rerun()


def _spread(ks: list[int]) -> str:
    return "" if len(ks) == ks[-1] - ks[0] + 1 else ", spread in proportion"


def _algorithm(name: str) -> Algorithm:
    """The method with the parameters that the page Anonymize has for it, where they are complete."""
    kind = ALGORITHMS[name]
    values = state.forms().get(f"parameters-{name}", {})
    plain = ("integer", "number", "flag", "choice", "attribute", "numbers")
    fields = {form.name: values[form.name] for form in field_forms(kind) if form.name in values and form.form in plain}
    return kind(**fields)


def _start(algorithm: Algorithm, data: Microdata, ks: list[int], ground: str) -> None:
    here = state.workspace()
    chosen = None if ground == BY_KIND else ground

    def work(report: jobs.Report) -> Choice:
        return choose_k(data, ks=ks, algorithm=algorithm, ground=chosen, progress=report)  # type: ignore[arg-type]

    table = state.table()
    if table is not None:
        audit.record("searched", here.who, method=audit.settings_of(algorithm), **audit.of_table(table))
    with here.lock:
        job = jobs.start(work, "Choosing k", here.id, can_pause=True)
        here.jobs[_JOB] = Search(job, algorithm, _digests(), table.name if table is not None else "")
    job.wait(PATIENCE)


@st.fragment(run_every=POLL, key="choose-progress")
def _progress() -> None:
    search = _search()
    if search is None or not search.job.running:
        st.rerun()
    job = search.job
    st.progress(job.fraction, text=f"{search.algorithm.title}: {job.text}")
    st.button("Cancel", key="cancel-choose", on_click=job.cancel, help="Stop; nothing is kept.")


def _finished(search: Search) -> None:
    if search.job.status == "failed":
        st.error(escaped(search.job.error))
    elif search.job.status == "cancelled":
        st.info("The search was cancelled.")
    else:
        _weigh(search, search.job.value)


@st.fragment
def _weigh(search: Search, losses: Choice) -> None:
    kept = state.forms().setdefault(_FORM, {})
    alpha = st.slider(
        "Weight of privacy, alpha",
        0.0,
        1.0,
        kept.get("alpha", 0.5),
        0.05,
        key="choose-alpha",
        help="The cost is C = alpha t + (1 - alpha) i. Nothing is computed anew when you change it.",
    )
    kept["alpha"] = alpha
    choice = losses.weighted(alpha)
    best = int(np.flatnonzero(choice.k == choice.best)[0])
    parts.tiles(
        [
            Tile("Best k", f"{choice.best:,}", "The k of least cost, the smallest of several."),
            Tile("t", f"{choice.t[best]:.4f}", "Largest EMD of any class in any sensitive attribute."),
            Tile("Loss i", share_text(choice.information_loss[best]), "Mean loss of a quasi-identifier cell."),
            Tile("Cost C", f"{choice.cost[best]:.4f}", "alpha t + (1 - alpha) i."),
            Tile("Classes", f"{choice.n_classes[best]:,}", "How many classes the release with this k has."),
        ]
    )
    parts.chart(
        losses_over_k(choice),
        key="choose-losses",
        caption=f"{search.algorithm.title} on {escaped(search.table_name)}, one release per k. Both losses run from 0 "
        f"to 1, lower is better; C weighs privacy with {alpha:.2f} and information with {1 - alpha:.2f}.",
        alt=f"Curves of privacy loss, information loss and their weighted cost over k; the least cost is at k = "
        f"{choice.best}.",
    )
    if st.button(
        f"Use k = {choice.best:,} on the page Anonymize",
        key="choose-use",
        type="primary",
        help="Take this method and this k to the form there.",
    ):
        _use(search.algorithm.replace(k=choice.best))
        st.switch_page(routes.page("anonymize"), query_params=state.address())


def _use(algorithm: Algorithm) -> None:
    """Make the form of the page Anonymize show this method with this k."""
    values = state.forms().setdefault(f"parameters-{algorithm.name}", {})
    forms.take(algorithm, f"parameter.{algorithm.name}", values)
    state.forms()["method"] = algorithm.name
    state.set_widget_values({"method": algorithm.name})
