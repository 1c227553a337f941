"""Three people who explain a number: the one worst off by it, one in the middle and the one best off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import streamlit as st

from anoncore import ReleaseError, attacks, privacy, utility
from anoncore.base.texts import share_text
from anoncore.kernels.arrays import Floats
from anoncore.measures.criteria import usual_distance
from anoncore.measures.promise_marks import has_buckets
from dashboard.closer import one_person
from dashboard.elements import parts
from dashboard.markdown import escaped
from dashboard.session import compute, state
from dashboard.session.workspace import Run

WHO = ("The worst off", "In the middle", "The best off")


@dataclass(frozen=True)
class Number:
    """A number that each row has: how it is read in a sentence, and whether the largest is the worst."""

    of_rows: Callable[[Run, str | None], Floats]
    told: Callable[[float], str]
    largest_is_worst: bool = True


def _hidden(run: Run, _attribute: str | None) -> Floats:
    release = run.release
    sizes = [release.people_per_group(part)[part.partition.group] for part in release.fragments]
    return np.min(sizes, axis=0).astype(np.float64)


def _distances(run: Run, attribute: str | None) -> Floats:
    name = str(attribute)
    distances: Floats = np.asarray(privacy.emd(run.release, name, usual_distance(run.release, name)))  # type: ignore[arg-type]
    return distances[run.release.fragment_of(name).partition.group]


def _beliefs(run: Run, attribute: str | None) -> Floats:
    if run.data.people is not None:
        raise ReleaseError("Where people have several rows, what is believed is told of people and not of rows.")
    found = compute.cached("attacks.attribute_disclosure", run, attacks.attribute_disclosure, str(attribute))
    return found.confidence


def _losses(run: Run, _attribute: str | None) -> Floats:
    per_class = compute.cached("utility.information_loss", run, utility.information_loss).per_class
    by_name = per_class if isinstance(per_class, dict) else dict.fromkeys([run.release.fragments[0].name], per_class)
    of_fragments = [by_name[part.name][part.partition.group] for part in run.release.fragments if part.name in by_name]
    return np.asarray(np.mean(of_fragments, axis=0), dtype=np.float64)


NUMBERS = {
    "hides": Number(_hidden, lambda value: f"hides among {value:,.0f}", largest_is_worst=False),
    "distance": Number(_distances, lambda value: f"is in a group that lies {value:.2f} from the table"),
    "belief": Number(_beliefs, lambda value: f"is believed to have its true value with {share_text(value)}"),
    "lost": Number(_losses, lambda value: f"loses {share_text(value)} of what its cells said"),
}


def three_rows(values: Floats, largest_is_worst: bool) -> tuple[int, int, int]:
    """The rows that are worst off, in the middle and best off; of equal ones the first in the table.

    Rows without a number, such as those whose value needs no protection, are none of them.
    """
    order = np.argsort(-values if largest_is_worst else values, kind="stable")
    order = order[~np.isnan(values[order])]
    best = values[order[-1]]
    return int(order[0]), int(order[len(order) // 2]), int(np.flatnonzero(values == best)[0])


@parts.says_why
def explain(name: str, attribute: str | None = None) -> None:
    """Offer three people for one of `NUMBERS` of the release that is shown; drawn when it is unfolded."""
    run = state.current_run()
    if run is None or not run.data.knows_rows or run.release.is_synthetic:
        return
    place = st.expander("Explain this with three people", key=f"three-{name}", on_change="rerun")
    if not place.open:
        return
    with place:
        about = NUMBERS[name]
        values = about.of_rows(run, attribute)
        rows = dict(zip(WHO, three_rows(values, about.largest_is_worst), strict=True))
        chosen = st.segmented_control(
            "Who", WHO, default=WHO[0], key=f"three-{name}-who", label_visibility="collapsed", required=True
        )
        row = rows[chosen or WHO[0]]
        st.markdown(f"Row {row + 1:,} of the table {about.told(float(values[row]))} in {escaped(run.label)}.")
        if name == "hides" and has_buckets(run.release):
            st.caption("That is a bucket: it hides whose secret is whose, and not who somebody is.")
        secret = attribute if attribute is not None else next(iter(run.data.sensitive), None)
        one_person.draw([one for one in state.runs() if state.is_of_table(one)], row, secret)
