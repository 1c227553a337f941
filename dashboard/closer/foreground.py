"""The tab Foreground knowledge: what the release as a whole tells about each person in it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from anoncore import attacks
from anoncore.attacks import ForegroundKnowledge
from anoncore.attacks.foreground.adversary import EPSILONS
from anoncore.attacks.foreground.mining import Unreliable
from anoncore.base.texts import counted, share_text, shown_difference
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from dashboard.charts.attacks import MOST_SETS, leaking_sets, learned_against_true, truth_histogram
from dashboard.closer import foreground_detail, one_person
from dashboard.closer.attack import board_r, secrets
from dashboard.closer.foreground_detail import Adversary
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import browser
from dashboard.session.workspace import Run
from dashboard.tasks import redrawing

USUAL_SIGMA = 0.9
LARGEST = "largest excess"
"""The choice of that epsilon with which the attack lies farthest above its control."""
READINGS: dict[Unreliable, str] = {
    "overall": "the overall share",
    "uniform": "one half",
    "group": "the share in their group",
}


def foreground(run: Run) -> None:
    """Draw what the release as a whole tells about each person in it."""
    names = secrets(run, "Foreground knowledge is turned against the group that holds a person's row")
    if not names:
        return
    if not run.release.is_shared:
        st.info(
            "The attack reads people and sensitive values group by group. The fragments of this release have groups of "
            "their own and are joined on the class attribute; the tab Membership shows what joining them tells."
        )
        return
    st.markdown(
        "The adversary knows everybody's quasi-identifiers and group. They learn from **all** groups together how "
        "likely people of one kind (a signature: the values of some attributes) have a sensitive value, and then "
        "weighs, inside each group, the possible worlds: which of its people may have which of its values."
    )
    adversary = _controls(run, names)
    found = parts.later("Learning from all groups", run, attacks.foreground_knowledge, *adversary)
    if found is None:
        return
    parts.notes(found.notes)
    if not found.learned:
        foreground_detail.facts(run, adversary, found)
        return
    _tiles(found)
    low, high = found.excess_interval
    above = shown_difference(found.recall, found.control)
    st.caption(
        f"With epsilon {found.epsilon:g} and sigma {adversary.sigma:g} the adversary relies on signatures of at least "
        f"{found.minimum_rows:,.0f} rows. By chance: the same attack where '{escaped(found.attribute)}' was "
        f"shuffled over all people before the method ran. Above chance lie {share_text(above)} of the "
        f"people (95% interval {low:.1%} to {high:.1%})."
    )
    one_person.explain("given", found.attribute, found.own_probability)
    if run.is_drawn:
        st.caption(
            "The method draws at random, and these are the numbers of one draw: another one may give others. Make the "
            "release again with another seed, and Side by side shows how far they lie apart."
        )
    parts.tabs(
        "foreground",
        {
            "People": partial(_people, run, found),
            "Attribute sets": partial(_sets, run, found),
            "One group": partial(foreground_detail.group, run, found),
            "Known facts": partial(foreground_detail.facts, run, adversary, found),
            "Side by side": partial(foreground_detail.side_by_side, run, adversary),
        },
    )


def _controls(run: Run, names: list[str]) -> Adversary:
    boxes = iter(st.columns(5))
    with next(boxes):
        if len(names) > 1:
            attribute = parts.choice(
                "Sensitive attribute", names, "foreground-attribute", "What the adversary is after."
            )
        else:
            attribute = names[0]
            st.text_input("Sensitive attribute", attribute, disabled=True, help="What the adversary is after.")
    with next(boxes):
        r = _number("r", f"foreground-r-{run.id}", board_r(run), 1.0, 0.5, "A person is breached when p(t:x) > 1/r.")
    with next(boxes):
        chosen = parts.choice(
            "epsilon",
            [LARGEST, *(f"{one:g}" for one in EPSILONS)],
            "foreground-epsilon",
            "How far a share seen in a signature's rows may lie from the true one. The paper takes 0.01, for which no "
            "signature of a small table is frequent enough.",
        )
    with next(boxes):
        help = "How often it may lie farther. The paper takes 0.9."
        sigma = _number("sigma", "foreground-sigma", USUAL_SIGMA, 0.01, 0.05, help, high=1.0)
    with next(boxes):
        unreliable = parts.choice(
            "Rare signatures",
            list(READINGS),
            "foreground-unreliable",
            "What the adversary takes for p(s:x) of people whose signature has too few rows to learn from.",
            names=READINGS.__getitem__,
        )
    return Adversary(attribute, r, None if chosen == LARGEST else float(chosen), sigma, unreliable)


def _number(label: str, key: str, start: float, low: float, step: float, help: str, high: float | None = None) -> float:
    if browser.widget_value(key) is None:
        browser.set_widget_values({key: start})
    how: dict[str, Any] = {"min_value": low, "max_value": high, "step": step, "format": "%g"}
    return float(st.number_input(label, key=key, help=help, persist_state="session", **how))


def asked_on_board(run: Run, secret: str, r: int) -> dict[str, Any]:
    """The controls of this attack as the board asks it, by their keys."""
    return {
        "foreground-attribute": secret,
        f"foreground-r-{run.id}": float(r),
        "foreground-epsilon": LARGEST,
        "foreground-sigma": USUAL_SIGMA,
        "foreground-unreliable": next(iter(READINGS)),
    }


def _tiles(found: ForegroundKnowledge) -> None:
    low, high = found.control_interval
    guessing = "Guessing takes all possible worlds of a group as equally likely"
    error, sets = found.error, f"{found.n_sets:,}"
    learned = f"Sets with a signature of at least {found.minimum_rows:,.0f} rows, each learned by itself."
    parts.tiles(
        [
            Tile.of(
                found.recall,
                more=f"{guessing}: {parts.share(found.recall.baseline)}.",
                note=f"by chance: {parts.share(found.control)}",
            ),
            Tile.of(
                found.excess,
                value=parts.share(shown_difference(found.recall, found.control)),
                more=f"By chance: {low:.1%} to {high:.1%} in 95% of all cases.",
                note="shuffled: 0%",
            ),
            *(
                Tile.of(one, more=f"{guessing}.", note=f"guessing: {parts.share(one.baseline)}")
                for one in (found.flagged, found.mean_probability)
            ),
            Tile.of(
                error,
                value="none" if np.isnan(error) else f"{error:.0%}",
                note=f"guessing: {parts.share(error.baseline)}",
            ),
            Tile(
                "Attribute sets",
                sets if found.n_sets == found.n_all else f"{sets} of {found.n_all:,}",
                learned,
                f"in {parts.duration(found.seconds)}",
            ),
        ]
    )


def _people(run: Run, found: ForegroundKnowledge) -> None:
    protected = ~np.isnan(found.own_probability)
    breached = int(lies_above(found.own_probability[protected], 1 / found.r, ACCUMULATED).sum())
    values = escaped(", ".join(found.values[:6]) + (" …" if len(found.values) > 6 else ""))
    parts.chart(
        truth_histogram(found.own_probability, found.own_without_attack, found.r, run.style),
        "foreground-people",
        f"The {protected.sum():,} people whose '{escaped(found.attribute)}' needs protection ({values}), "
        f"by how strongly the adversary believes in their true value. Right of 1/r = {1 / found.r:.0%} stand the "
        f"{breached:,} who are breached; without the attack everybody of a group is as likely.",
        f"Histogram of p(t:x) of {protected.sum():,} people; {breached:,} lie above {1 / found.r:.0%}.",
    )


def _sets(run: Run, found: ForegroundKnowledge) -> None:
    if not found.sets:
        st.info("No attribute set has a signature that is frequent enough to learn from.")
        return
    left, right = parts.beside(3, 2)
    with left:
        parts.chart(
            leaking_sets(found, run.style),
            "foreground-sets",
            f"The {min(len(found.sets), MOST_SETS)} of {len(found.sets)} attribute sets that leak most: "
            "share of the people with a protected value who are breached by this set alone, and the mean belief in it.",
            f"Bars of the attribute sets; the first is {found.sets[0].label} with {share_text(found.sets[0].recall)}.",
        )
    with right:
        _learned(run, found)


@redrawing.part()
def _learned(run: Run, found: ForegroundKnowledge) -> None:
    numbers = range(len(found.sets))
    place = parts.choice(
        "Attribute set",
        numbers,
        f"foreground-set-{run.id}",
        "Whose signatures are shown, the most leaking set first.",
        names=lambda one: found.sets[one].label if one in numbers else "",
    )
    value = parts.choice(
        "Sensitive value",
        range(len(found.values)),
        f"foreground-value-{found.attribute}",
        "Whose share is shown.",
        names=lambda one: found.values[one],
    )
    one = found.sets[place]
    domains = [run.data.domain[name] for name in one.attributes]
    texts = [
        ", ".join(domain.text(int(code)) for domain, code in zip(domains, codes, strict=True))
        + f" ({counted(int(rows), 'row')})"
        for codes, rows in zip(one.signatures, one.rows, strict=True)
    ]
    parts.chart(
        learned_against_true(
            one.learned[:, value],
            one.true[:, value],
            [text.replace("<", "&lt;") for text in texts],
            float(found.overall_shares[value]),
            run.style,
        ),
        "foreground-learned",
        f"Share of '{escaped(found.values[value])}' in each of the {len(texts)} signatures, as the "
        "adversary learned it and as the original table has it. Mean relative error of this set: "
        f"{parts.share(one.relative_error)}; with the whole table's share instead: {parts.share(one.guessing_error)}.",
        f"Learned against true share in {len(texts)} signatures of {one.label}.",
    )
