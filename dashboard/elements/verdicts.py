"""The verdict on a run wherever one stands: what was asked beside what nobody asked for, in equal size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import streamlit as st

from anoncore.base.texts import shown_difference
from anoncore.measures import Verdict
from anoncore.measures.criteria import BREACH_R
from anoncore.measures.promise_marks import unpromised
from anoncore.measures.verdict import NOT_ASKED
from anoncore.measures.verdict import guarantees_of as guarantees
from anoncore.privacy import Guarantee
from dashboard.board import facts, making
from dashboard.markdown import escaped
from dashboard.session import compute, state
from dashboard.session.workspace import Run

NOTHING_BAD = (
    "Nothing else fails badly. What is always measured: how sure an adversary is of a value, how surely somebody is "
    "found, how far a group is from the table, and whether columns that are published as they are undo the promise."
)
NOBODYS = (
    "What a table of nobody's rows gives away is not measured by itself: that takes people who are not in the "
    "original, on the page Attack, In or out."
)


def verdict_of(run: Run) -> Verdict:
    """The verdict on a run, from measures that are computed once.

    A column of the board is held against what is asked of every column, also where its method does not promise it.
    """
    asked = state.asked_of_all(run)
    share = max(_above_chance(run), default=None)
    return compute.cached("verdict", run, lambda _, *what: facts.verdict_of(run, *what), asked, share)


def guarantees_of(run: Run) -> tuple[Guarantee, ...]:
    """How a run fares with what its method promises, and with what the board asks of every release."""
    cache = compute.cache_of(run)
    return guarantees(unpromised(run.release, state.asked_of_all(run), run.title, cache), cache)


def _above_chance(run: Run) -> Iterator[float]:
    """What the attack by foreground knowledge gives away beyond its control, where the page Attack or the board made
    it; in the digits that the cell beside it has.
    """
    attempt = making.attempt_of(run)
    for name in run.data.sensitive:
        attack = compute.known("attacks.foreground_knowledge", run, name, BREACH_R)
        if attack is not None and attack.learned:
            yield shown_difference(float(attack.recall), float(attack.control))
        slow = None if attempt is None else attempt.slow.get(("given", name, BREACH_R))
        if slow is not None and slow.exact and slow.exact["learned"]:
            yield shown_difference(slow.exact["value"], slow.exact["control"])


def render(run: Run) -> None:
    """Draw both halves of the verdict beside each other."""
    found = verdict_of(run)
    asked = escaped(found.asked)
    left, right = st.columns(2, gap="medium")
    with left:
        if found.failed:
            st.error(_box("This does not hold:", found.failed), icon=":material/close:")
        if found.unjudged:
            st.warning(_box("This cannot be judged:", found.unjudged), icon=":material/question_mark:")
        if found.held and found.breaking:
            st.error(_box(asked, found.held), icon=":material/close:")
        elif found.held:
            st.success(_box("This holds:" if found.failed else asked, found.held), icon=":material/check:")
        if found.promised:
            st.info(_box("What no table can show:", found.promised), icon=":material/handshake:")
        elif not found.held and not found.failed and not found.unjudged:
            st.info(asked)
    with right:
        if found.not_asked:
            sentences = [one.sentence for one in found.not_asked]
            st.error(_box(f"{NOT_ASKED[0].upper()}{NOT_ASKED[1:]}.", sentences), icon=":material/close:")
        if found.decided:
            st.error(_box("These columns break it.", found.decided), icon=":material/close:")
        if not found.not_asked and not found.decided:
            st.info(NOBODYS if run.release.is_synthetic else NOTHING_BAD)


def _box(head: str, sentences: Sequence[str]) -> str:
    return "\n".join([f"**{head}**", "", *(f"- {escaped(one)}" for one in sentences)])
