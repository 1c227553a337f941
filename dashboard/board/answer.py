"""The answer that stands above the board: which release to publish and why, or what stands in the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anoncore.attacks.foreground.attack import TOO_SMALL
from anoncore.base.texts import listing, share_text
from anoncore.measures.answer import (
    ROWS_COUNTED,
    Answer,
    Candidate,
    and_list,
    composed,
    given_away,
    perhaps_given_away,
    reasons,
    speaks_against,
)
from anoncore.measures.promise_marks import BUCKET
from anoncore.measures.verdict import Mend
from dashboard.board.facts import POLICY, STRONGEST, Facts
from dashboard.board.wording import Asked, Shown, by_policy, first_line, is_still_attacked, taught

MOST_NAMED = 3


def answer(
    columns: Sequence[Shown], asked: Asked, left_out: Sequence[str] = (), better: tuple[str, float] | None = None
) -> Answer:
    """What the columns say together.

    Parameters
    ----------
    columns : sequence of Shown
        The columns of the board, as far as they are known.
    asked : Asked
        What was asked of all of them.
    left_out : sequence of str
        Columns of the table that no release has because nobody decided on them.
    better : tuple of str and float, optional
        The best release that a search found under the same promise: what it is called and what it loses.

    Returns
    -------
    Answer
        The release that keeps all that is asked and loses least, what the next one loses, and what is only counted and
        not promised; where none keeps it, the nearest one and the wish that most of them miss.
    """
    best = _of_columns(columns, asked, left_out)
    if better is None:
        return best
    title, lost = better
    is_open = best.tone in ("good", "plain")
    published = next((column for column in columns if is_open and column.id == best.column), None)
    if published is not None and lost >= _order(published)[0]:
        return best
    text = f"Found: {title} keeps all that you ask and loses {share_text(lost)}; on the board it will be attacked, too."
    return replace(best, better=text)


def _of_columns(columns: Sequence[Shown], asked: Asked, left_out: Sequence[str]) -> Answer:
    """The answer by the columns alone."""
    ready = {column.id: column for column in columns if column.status == "ready" and column.quick is not None}
    waiting = _waiting(columns)
    if not ready:
        failed = [column for column in columns if column.status == "failed"]
        is_over = len(failed) == len(columns)
        text = (
            f"None of these releases can be made.{_why_failed(failed)}" if is_over else "The releases are being made."
        )
        return Answer(text if columns else "Add a release to see what it protects and what it costs.", tone="plain")
    candidates = [_candidate(column, asked) for column in ready.values()]
    further = {
        id: [
            *_by_policy(column, asked),
            *_left_out(left_out),
            *_not_attacked(column, asked),
        ]
        for id, column in ready.items()
    }
    found = composed(candidates, further)
    return replace(found, more=(*found.more, *waiting))


def _why_failed(columns: Sequence[Shown]) -> str:
    """Why no release can be made, in the words of the method that comes nearest: the one with the shortest reason."""
    why = min((column for column in columns if column.problem), key=lambda one: len(one.problem), default=None)
    return "" if why is None else f" {why.named}: {why.problem}"


def _candidate(column: Shown, asked: Asked) -> Candidate:
    """A column as an answer weighs it."""
    quick = column.quick or {}
    return Candidate(
        id=column.id,
        title=column.named,
        marks=column.marks,
        breaking="" if column.judged is None else column.judged.breaking,
        against=_against(column, asked),
        lost=_order(column)[0],
        lost_text=_lost(quick),
        reasons=reasons(
            quick.get("smallest"),
            quick.get("word") == BUCKET,
            quick.get("farthest"),
            asked.levels.get("t"),
        ),
        is_bound="at_most" in quick["lost"],
        undecided=_undecided(column, asked),
        mend=_mend(column, asked),
    )


def _mend(column: Shown, asked: Asked) -> Mend:
    """What would mend what the verdict says against a release; what was read from files stays as it is."""
    if column.judged is None or column.is_opened:
        return Mend()
    found = taught(column)
    possible = {axis: level for axis, level in column.judged.mend.levels.items() if asked.secret or axis == "k"}
    return Mend(column.judged.mend.columns, {} if found is not None and found.is_sure else possible)


def _against(column: Shown, asked: Asked) -> str:
    """What speaks against a release beside what is asked and missed, or against what its method promises of it, such as
    of its joins; empty for nothing.
    """
    rules = by_policy(column, asked.policy)
    if rules is not None and rules.broken:
        return f"it breaks {asked.policy}: {rules.broken}."
    found = taught(column)
    if found is not None and found.is_sure:
        return given_away(found.share, found.chance, found.how, asked.attacked)
    judged, is_missed = column.judged, any(mark.state == "missed" for mark in column.marks)
    is_good = first_line(column.marks, judged)[1] == "good"
    if judged is None or (is_good and judged.is_good) or (is_missed and not judged.not_asked):
        return ""
    return speaks_against(judged.headline, judged.not_asked)


def _undecided(column: Shown, asked: Asked) -> str:
    """What may speak against a release as far as an estimate tells, or as long as it is not attacked and held against
    the policy, or nobody said whose the rows are; empty for nothing.
    """
    if asked.people != "people":
        return ROWS_COUNTED
    rules = column.slow_of(POLICY)
    if asked.policy and rules.exact is None and not rules.problem:
        return f"not all rules of {asked.policy} are measured yet."
    if is_still_attacked(column, asked):
        return "what it gives away is still being measured."
    found = taught(column)
    return "" if found is None else perhaps_given_away(found.share, found.chance, found.how, asked.attacked)


def _by_policy(column: Shown, asked: Asked) -> list[str]:
    """What the policy in force says of a release that breaks none of its rules."""
    rules = by_policy(column, asked.policy)
    return [f"{rules.text}."] if rules is not None and not rules.broken else []


def _not_attacked(column: Shown, asked: Asked) -> list[str]:
    """That the attack could not measure what a release gives away, or that other attacks are still to come."""
    if asked.secret is None:
        return []
    slow, strongest = column.slow_of("given"), column.slow_of(STRONGEST)
    if slow.problem or (slow.facts is not None and not slow.facts["learned"]):
        what = "Not all attacks could be made" if strongest.facts else "What it gives away was not measured"
        return [f"{what}: {slow.problem or TOO_SMALL}.".replace("..", ".")]
    is_over = strongest.exact is not None or strongest.problem or slow.facts is None
    return [] if is_over else ["Other attacks on it are still being made."]


def _order(column: Shown) -> tuple[float, str]:
    """Least lost first; where only the most that can be lost is known, by that."""
    lost = column.quick["lost"] if column.quick is not None else {}
    return float(lost.get("value", lost.get("at_most", 1.0))), column.id


def _lost(quick: Facts | None) -> str:
    lost = quick["lost"] if quick is not None else {}
    if "at_most" in lost:
        return f"at most {share_text(lost['at_most'])}"
    return share_text(lost["value"]) if "value" in lost else ""


def _left_out(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    them = "it" if len(names) == 1 else "them"
    return [f"Not published, as nobody decided on {them}: {listing(names, MOST_NAMED)}."]


def _waiting(columns: Sequence[Shown]) -> tuple[str, ...]:
    """Which columns are not known yet."""
    pending = [column.named for column in columns if column.status == "pending"]
    return (f"Still being made: {and_list(pending)}.",) if pending else ()
