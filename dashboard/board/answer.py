"""The answer that stands above the board: which release to publish and why, or what stands in the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor

from anoncore.attacks.foreground.attack import TOO_SMALL
from anoncore.base.texts import listing, share_text
from anoncore.kernels.rounding import ACCUMULATED
from anoncore.measures.verdict import GIVEN_AWAY
from dashboard.board.facts import BUCKET, STRONGEST, Facts, upwards
from dashboard.board.grid import HOLDING, Asked, Shown, and_list, first_line

MOST_NAMED = 3
TOGETHER = "what all groups teach together"
"""What the attack by foreground knowledge is called in a sentence."""


@dataclass(frozen=True)
class Answer:
    """What somebody who publishes can sign, in sentences of plain text.

    `begin` stands before the name of the release (`title`, perhaps empty) and `end` after it; `more` are further
    sentences. `tone` is "good" where a release keeps all that is asked and nothing else speaks against it, "warn" where
    something does, "bad" where none keeps it, and "plain" while that is not known. `column` is the id of the column
    that it speaks of. `better` says what a search found that loses less than it; empty for nothing.
    """

    begin: str
    title: str = ""
    end: str = ""
    more: tuple[str, ...] = ()
    tone: str = "plain"
    column: str = ""
    better: str = ""

    @property
    def text(self) -> str:
        """The first sentence."""
        return " ".join(part for part in (self.begin, self.title) if part) + self.end


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
    published = next((column for column in columns if best.tone == "good" and column.id == best.column), None)
    if published is not None and lost >= _order(published)[0]:
        return best
    text = f"Found: {title} keeps all that you ask and loses {share_text(lost)}; as a column it will be attacked, too."
    return replace(best, better=text)


def _of_columns(columns: Sequence[Shown], asked: Asked, left_out: Sequence[str]) -> Answer:
    """The answer by the columns alone."""
    ready = [column for column in columns if column.status == "ready" and column.quick is not None]
    waiting = _waiting(columns)
    if not ready:
        failed = bool(columns) and all(column.status == "failed" for column in columns)
        text = "None of these releases can be made." if failed else "The releases are being made."
        return Answer(text if columns else "Add a release to see what it protects and what it costs.", tone="plain")
    if not any(column.marks for column in ready):
        return Answer("Nothing is asked yet: choose k, l or t.", more=waiting)
    keeping = sorted((column for column in ready if column.marks and column.keeps), key=_order)
    good = [column for column in keeping if _is_good(column)]
    if not keeping:
        return _none_keeps(ready, asked, waiting)
    best = (good or keeping)[0]
    more = [*_counted_here(best), *_left_out(left_out), *_not_attacked(best, asked), *_to_save(best, asked), *waiting]
    if not good:
        against = f" keeps all that you ask, but {_against(best, asked)}"
        return Answer("Not yet:", best.title, against, tuple(more), "warn", best.id)
    others = [f"{column.title}: {lost}" for column in good[1:] if (lost := _lost(column.quick))]
    beside = f" ({', '.join(others)})" if others else ""
    end = f": {and_list(_reasons(best, asked))}{beside}."
    return Answer("Publish", best.title, end, tuple(more), "good", best.id)


def _none_keeps(ready: Sequence[Shown], asked: Asked, waiting: Sequence[str]) -> Answer:
    """What is nearest to what is asked, and which wish most releases miss."""
    nearest = min(ready, key=lambda column: (_n_missed(column), _order(column)))
    symbols = [mark.symbol for mark in ready[0].marks]
    n_holding = {
        symbol: sum(mark.state in HOLDING for column in ready for mark in column.marks if mark.symbol == symbol)
        for symbol in symbols
    }
    hardest = min(symbols, key=lambda symbol: n_holding[symbol])
    missed = [
        f"{mark.symbol} is {mark.reached or 'not reached'}, you ask for {mark.asked}"
        for mark in nearest.marks
        if mark.state == "missed"
    ]
    unknown = [mark.symbol for mark in nearest.marks if mark.state == "unknown"]
    why = missed or ([f"{and_list(unknown)} cannot be told"] if unknown else [])
    if nearest.judged is not None and nearest.judged.breaking:
        why.append(nearest.judged.breaking)
    more = list(waiting)
    if len(ready) > 1 and n_holding[hardest] < len(ready):
        more.insert(0, f"Hardest to keep here is {hardest}: {_of(n_holding[hardest], len(ready))}.")
    end = f": {'; '.join(why)}."
    return Answer(
        "None of these keeps all that you ask. Nearest is", nearest.title, end, tuple(more), "bad", nearest.id
    )


def _of(n_holding: int, n: int) -> str:
    if not n_holding:
        return f"none of {n} releases keeps it"
    return f"{n_holding} of {n} releases keep{'s' if n_holding == 1 else ''} it"


def _n_missed(column: Shown) -> int:
    """How much of what is asked a release is not seen to keep; a published column that breaks it counts as one."""
    breaking = column.judged is not None and bool(column.judged.breaking)
    return sum(mark.state not in HOLDING for mark in column.marks) + breaking


def _is_good(column: Shown) -> bool:
    """Whether nothing speaks against a release, nor against what its method promises of it, such as of its joins."""
    tone = first_line(column.marks, column.judged, column.is_opened)[1]
    return tone == "good" and (column.judged is None or column.judged.is_good) and _taught(column) is None


def _against(column: Shown, asked: Asked) -> str:
    """What speaks against a release that keeps all that is asked."""
    taught = _taught(column)
    if taught:
        share, above, how = taught
        who = f"{share_text(share)} of the {asked.people}"
        return f"{who} are given away by {how}, {share_text(above)} more than by chance."
    assert column.judged is not None, "what nobody is taught is said by the verdict"
    named = column.judged.not_asked
    return f"{and_list(named)}: nobody asked about that, and it is bad." if named else column.judged.headline


def _taught(column: Shown) -> tuple[float, float, str] | None:
    """The share of people given away, what of it lies above chance, and how, where that is more than a matter of few:
    by the attack of those that were made that lies farthest above chance.
    """
    slow = column.slow or {}
    made = []
    for name in ("given", STRONGEST):
        facts = slow[name].facts if name in slow else None
        if facts and facts.get("learned", True):
            how = TOGETHER if facts.get("is_foreground", True) else facts["title"]
            made.append((facts["value"], facts["value"] - facts["control"], how))
    return max((one for one in made if one[1] > GIVEN_AWAY), key=lambda one: one[1], default=None)


def _not_attacked(column: Shown, asked: Asked) -> list[str]:
    """That a release has not been attacked yet, or that the attack could not measure what it gives away."""
    if asked.secret is None:
        return []
    known = column.slow or {}
    slow = known.get("given")
    if slow is not None and (slow.problem or (slow.facts is not None and not slow.facts["learned"])):
        others = STRONGEST in known and bool(known[STRONGEST].facts)
        what = "Not all attacks could be made" if others else "What it gives away was not measured"
        return [f"{what}: {slow.problem or TOO_SMALL}.".replace("..", ".")]
    return ["What it gives away is still being measured."] if slow is None or slow.facts is None else []


def _order(column: Shown) -> tuple[float, str]:
    """Least lost first; where only the most that can be lost is known, by that."""
    lost = column.quick["lost"] if column.quick is not None else {}
    return float(lost.get("value", lost.get("at_most", 1.0))), column.id


def _reasons(column: Shown, asked: Asked) -> list[str]:
    """What is good about a release, in its numbers, none of them rounded to its advantage."""
    quick = column.quick or {}
    said = []
    if "smallest" in quick:
        who = {"people": "everybody hides"}.get(asked.people, f"every {asked.person} hides")
        said.append(f"{'every secret hides' if quick['word'] == BUCKET else who} among {quick['smallest']:,} or more")
    distance = quick.get("distance", {})
    if "largest" in distance:
        said.append(f"no group is farther than {upwards(distance['largest'])} from the table")
    lost = _lost(quick)
    if lost:
        said.append(f"{lost} of the pairs of values are read wrongly")
    return said or ["it keeps all that you ask"]


def _lost(quick: Facts | None) -> str:
    lost = quick["lost"] if quick is not None else {}
    if "at_most" in lost:
        return f"at most {share_text(lost['at_most'])}"
    return share_text(lost["value"]) if "value" in lost else ""


def _counted_here(column: Shown) -> list[str]:
    """Which promises the method itself does not make."""
    counted = [mark.symbol for mark in column.marks if mark.state == "met"]
    return [f"Not promised by the method, but counted here: {and_list(counted)}."] if counted else []


def _left_out(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    return [f"Left out, as nobody decided on {'it' if len(names) == 1 else 'them'}: {listing(names, MOST_NAMED)}."]


def _to_save(column: Shown, asked: Asked) -> list[str]:
    """How much of its information loss any other release could save at most, where that is known."""
    slow, lost = (column.slow or {}).get("least"), (column.quick or {})["lost"].get("information", 0.0)
    bound = None if slow is None or slow.facts is None else slow.facts.get("bound")
    if bound is None or not 0 < bound <= lost:
        return []
    # Neither is rounded so that more would be proven than is.
    least = f"no groups of {asked.levels['k']:,g} lose less than {floor(bound * 1_000) / 10:.1f}%"
    saved = f"{ceil((1 - bound / lost) * 1_000 - ACCUMULATED) / 10:.1f}%"
    return [f"Of its information loss of {share_text(lost)} at most {saved} could be saved: {least}."]


def _waiting(columns: Sequence[Shown]) -> tuple[str, ...]:
    """Which columns are not known yet."""
    pending = [column.title for column in columns if column.status == "pending"]
    return (f"Still being made: {and_list(pending)}.",) if pending else ()
