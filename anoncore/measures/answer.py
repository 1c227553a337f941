"""Which of several releases to publish under what is asked of all of them, and why; or what stands in the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anoncore import attacks, privacy, utility
from anoncore.base.arguments import checked
from anoncore.base.errors import AnonymizationError, ParameterError
from anoncore.base.shared_work import Cache, kept_results
from anoncore.base.showing import Shown
from anoncore.base.texts import listing, share_text
from anoncore.kernels.arrays import Int64
from anoncore.measures.promise_marks import HOLDING, Mark, distance_text, has_buckets, marks, unpromised
from anoncore.measures.verdict import GIVEN_AWAY, NOT_ASKED, Mend, Verdict, verdict
from anoncore.release.release import Release
from anoncore.requirements import Requirement, TCloseness
from anoncore.requirements.t_closeness import Ground
from anoncore.table.microdata import Microdata

FOREGROUND = "foreground knowledge"
"""What the attack is called that learns from all groups together."""
ROWS_COUNTED = "only rows were counted, and a person may have several: say first whose row each is."
"""What is open about a release of a table of which nobody said whose its rows are."""
NOTHING = Mend()
LARGER_IS_WEAKER = frozenset(["c", "t"])
"""Levels that ask for less as they grow; k and l ask for more."""


@dataclass(frozen=True)
class Answer(Shown):
    """What somebody who publishes can sign, in sentences of plain text.

    Attributes
    ----------
    begin, title, end : str
        The first sentence: what stands before the name of the release, the name, perhaps empty, and what follows it.
    more : tuple of str
        Further sentences.
    tone : {"good", "warn", "bad", "plain"}
        "good" where a release keeps all that is asked and nothing else speaks against it, "warn" where something does,
        "bad" where none keeps it, and "plain" where that is not known, or not yet.
    column : str
        The name by which the release was given; empty where the answer is about none.
    better : str
        What a search found that loses less than it; empty for nothing.
    loses_least : bool
        Whether it is the one of several releases that could be published that loses least.
    mend : Mend
        What would remove what stands in the way.

    Examples
    --------
    >>> from anoncore.measures import Answer
    >>> Answer("Publish", "Mondrian", ": everybody hides among 10 or more.", tone="good").text
    'Publish Mondrian: everybody hides among 10 or more.'
    """

    begin: str
    title: str = ""
    end: str = ""
    more: tuple[str, ...] = ()
    tone: str = "plain"
    column: str = ""
    better: str = ""
    loses_least: bool = False
    mend: Mend = NOTHING

    @property
    def text(self) -> str:
        """The first sentence."""
        return " ".join(part for part in (self.begin, self.title) if part) + self.end

    def __repr__(self) -> str:
        mend = f"To mend it: {self.mend.text}." if self.mend.text else ""
        return "\n".join((self.text, *(f"  {sentence}" for sentence in (*self.more, self.better, mend) if sentence)))


@dataclass(frozen=True)
class Candidate:
    """A release as an answer weighs it against others.

    `id` and `title` name it; `marks` are those of what is asked, and `breaking` says which published columns break it.
    `against` is what speaks against a release beside what is asked, in half a sentence, empty for nothing;
    `undecided` is what may yet do so, as far as an estimate tells, and what decides that. `lost` is what it loses, for
    the order, and `lost_text` the same as a text, perhaps empty; `is_bound` says that it may lose less. `reasons` are
    what is good about it.
    """

    id: str
    title: str
    marks: tuple[Mark, ...]
    breaking: str
    against: str
    lost: float
    lost_text: str
    reasons: tuple[str, ...]
    is_bound: bool = False
    undecided: str = ""
    mend: Mend = NOTHING

    @property
    def keeps(self) -> bool:
        """Whether all that is asked is seen to hold, and no published column breaks it."""
        return bool(self.marks) and self.n_missed == 0

    @property
    def n_missed(self) -> int:
        """How much of what is asked it is not seen to keep; published columns that break it count as one."""
        return sum(mark.state not in HOLDING for mark in self.marks) + bool(self.breaking)

    @property
    def order(self) -> tuple[float, str]:
        """Least lost first."""
        return self.lost, self.id

    @property
    def shortcoming(self) -> str:
        """Why it is not to be published, shortly; empty for no reason."""
        missed, unknown = (
            and_list([mark.name for mark in self.marks if mark.state == state]) for state in ("missed", "unknown")
        )
        said = (missed and f"misses {missed}", unknown and f"{unknown} cannot be told", self.breaking)
        return "; ".join(filter(None, said)) or (self.against or self.undecided).removesuffix(".")


@checked
def answer(
    releases: Sequence[Release] | Mapping[str, Release], promise: Sequence[Requirement], is_attacked: bool = True
) -> Answer:
    """Say which of several releases to publish under a promise, and why; or what stands in the way.

    Of the releases that keep all that is asked and against which nothing else speaks, it is the one that loses least by
    the two-way error. Where there is none, it is the one nearest to what is asked, with what it misses.

    Parameters
    ----------
    releases : sequence of Release, or mapping of str to Release
        The releases, of the same table; a mapping says what each is called.
    promise : sequence of Requirement
        What is asked of every release, whether or not its method promises it.
    is_attacked : bool
        Whether each release is attacked by foreground knowledge, which takes seconds on tables of 50,000 rows.

    Returns
    -------
    Answer
        The sentence, with further ones.

    Raises
    ------
    ParameterError
        Where there is no release.

    Notes
    -----
    Assumes: that of `verdict`, which says what speaks against a release, and of the two-way error.
    Cost: that of `verdict` and `utility.two_way_error` for each release, and of the attack.
    Use: one of several releases is to be published.
    Avoid: there is one release, and all that holds or fails of it is in question: see `verdict`.

    References
    ----------
    The definitions of the numbers, each with its own source.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Anatomy, Mondrian
    >>> from anoncore.measures import answer
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu", "cold", "gout"] * 2})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> asked = [KAnonymity(k=3)]
    >>> releases = [Mondrian(requirements=asked).anonymize(data), Anatomy(l=3, seed=1).anonymize(data)]
    >>> answer(releases, asked).text.partition(";")[0]
    'Publish Mondrian: it alone keeps all that you ask'
    """
    named = dict(releases) if isinstance(releases, Mapping) else dict(_titles(releases))
    if not named:
        raise ParameterError("releases holds none; give at least one release.")
    candidates, not_measured = [], {}
    for name, release in named.items():
        cache = kept_results(release)
        secrets = release.data.sensitive
        measured = {one: attack for one in secrets if is_attacked and (attack := _attacked(one, cache))}
        candidates.append(_candidate(name, release, promise, [*measured.values()], cache))
        not_measured[name] = _not_measured([one for one in secrets if one not in measured])
    return composed(candidates, not_measured)


def composed(candidates: Sequence[Candidate], more: Mapping[str, Iterable[str]] | None = None) -> Answer:
    """The answer about releases that are measured; `more` are further sentences by the name of the release.

    The first sentence and the order of releases are the same wherever an answer is given. A release of which it is not
    known whether something speaks against it is never the one to be published.
    """
    if not any(one.marks for one in candidates):
        return Answer("Nothing is asked yet: choose k, l or t.")
    keeping = sorted((one for one in candidates if one.keeps), key=lambda one: one.order)
    good = [one for one in keeping if not one.against and not one.undecided]
    undecided = [one for one in keeping if not one.against and one.undecided]
    if not keeping:
        return _none_keeps(candidates)
    best = (good or undecided or keeping)[0]
    further = (*_counted_here(best), *(more or {}).get(best.id, ()))
    if not good:
        begin, tone = ("Not known yet:", "plain") if undecided else ("Not yet:", "warn")
        why = best.undecided if undecided else best.against
        # What is asked already is asked of every release.
        asked = {mark.symbol for mark in best.marks}
        levels = {axis: level for axis, level in best.mend.levels.items() if axis not in asked}
        mend = NOTHING if undecided else Mend(best.mend.columns, levels)
        return Answer(begin, best.title, f" keeps all that you ask, but {why}", further, tone, best.id, mend=mend)
    loses_least = len(good) > 1 and all(one.lost_text and not one.is_bound for one in good[1:])
    alone = " alone" if len(candidates) > len(keeping) == 1 else ""
    least = ": of the releases that keep all that you ask, it loses least:"
    text = least if loses_least else f": it{alone} keeps all that you ask{';' if best.lost_text else ''}"
    if best.lost_text:
        others = ", ".join(f"{one.title}: {one.lost_text}" for one in good[1:] if one.lost_text)
        wrong = f"{best.lost_text} of the rows are in the wrong place"
        text += f" counted by two columns, {wrong}{f' ({others})' if others else ''}"
    if best.reasons:
        said = and_list(best.reasons)
        text += f". {said[0].upper()}{said[1:]}"
    further = (*_not_published([one for one in candidates if one.lost < best.lost]), *further)
    return Answer("Publish", best.title, f"{text}.", further, "good", best.id, loses_least=loses_least)


def _not_published(cheaper: Sequence[Candidate]) -> list[str]:
    """Why what loses less than the release of the answer is not the answer."""
    said = []
    for begin, is_open in (("Losing less, but not known yet", True), ("Losing less, but not to be published", False)):
        named = [
            f"{one.title} ({one.lost_text}, {one.shortcoming})"
            for one in sorted(cheaper, key=lambda one: one.order)
            if (one.keeps and not one.against) is is_open
        ]
        said += [f"{begin}: {', '.join(named)}."] if named else []
    return said


def reasons(
    smallest: int | None, is_bucket: bool, distance: float | None, asked: float | None = None
) -> tuple[str, ...]:
    """What is good about a release, in its numbers, none of them rounded to its advantage.

    `smallest` is among how many the worst off hide and `distance` how far the farthest group is from the table, where
    no more than `asked` was asked for; None where there is none.
    """
    said = []
    if smallest is not None:
        said.append(f"{'every secret hides' if is_bucket else 'everybody hides'} among {smallest:,} or more")
    if distance is not None:
        said.append(f"no group is farther than {distance_text(distance, asked)} from the table")
    return tuple(said)


def speaks_against(headline: str, not_asked: Sequence[str]) -> str:
    """What speaks against a release that keeps all that is asked, by its verdict."""
    return f"{NOT_ASKED}: {and_list(not_asked)}." if not_asked else headline


def given_away(share: str, chance: str, how: str, people: str) -> str:
    """The sentence about people whom an attack gives away more often than chance does, both shares as texts."""
    return f"{share} of the {people} are given away by {how}; chance alone gives {chance}."


def perhaps_given_away(share: str, chance: str, how: str, people: str) -> str:
    """The same sentence where the share is an estimate that leaves open whether too many are given away."""
    most = share_text(GIVEN_AWAY)
    return (
        f"{share} of the {people} may be given away by {how}, {chance} by chance alone; the exact number "
        f"decides, which has to be no more than {most} above chance."
    )


def and_list(words: Sequence[str]) -> str:
    """Words as people list them: a, b and c."""
    return " and ".join([", ".join(words[:-1]), *words[-1:]] if len(words) > 1 else words)


def _none_keeps(candidates: Sequence[Candidate]) -> Answer:
    """What is nearest to what is asked, and which wish most releases miss."""
    nearest = min(candidates, key=lambda one: (one.n_missed, one.order))
    holding = [mark.name for one in candidates for mark in one.marks if mark.state in HOLDING]
    n_holding = {mark.name: holding.count(mark.name) for mark in candidates[0].marks}
    hardest = min(n_holding, key=lambda name: n_holding[name])
    missed = [
        f"{mark.name} is {mark.reached or 'not reached'}, you ask for {mark.asked}"
        for mark in nearest.marks
        if mark.state == "missed"
    ]
    unknown = [mark.name for mark in nearest.marks if mark.state == "unknown"]
    why = missed or ([f"{and_list(unknown)} cannot be told"] if unknown else [])
    why += [nearest.breaking] if nearest.breaking else []
    more: tuple[str, ...] = ()
    if len(candidates) > 1 and n_holding[hardest] < len(candidates):
        more = (f"Hardest to keep here is {hardest}: {_of(n_holding[hardest], len(candidates))}.",)
    possible, levels = _possible(candidates)
    more += (possible,) if possible else ()
    mend = Mend(nearest.mend.columns if nearest.breaking else (), levels)
    begin = "None of these keeps all that you ask. Nearest is"
    return Answer(begin, nearest.title, f": {'; '.join(why)}.", more, "bad", nearest.id, mend=mend)


def _possible(candidates: Sequence[Candidate]) -> tuple[str, Mapping[str, float]]:
    """What could be asked instead so that one of the releases keeps it, in a sentence and by the letters of the levels;
    nothing where each of them misses something of which it protects nobody.
    """
    found = []
    for one in candidates:
        missed = [mark for mark in one.marks if mark.state not in HOLDING]
        levels: dict[str, float] = {}
        for mark in missed:
            if mark.possible is not None:
                weaker = max if mark.symbol in LARGER_IS_WEAKER else min
                levels[mark.symbol] = weaker(mark.possible, levels.get(mark.symbol, mark.possible))
        if levels and not one.against and all(mark.possible is not None for mark in missed):
            found.append((len(levels), one.order, one, levels))
    if not found:
        return "", {}
    *_, best, levels = min(found, key=lambda one: one[:2])
    asked = {mark.symbol: mark.asked for mark in best.marks}
    instead = and_list([f"{symbol} = {level:g} instead of {asked[symbol]}" for symbol, level in levels.items()])
    costs = f" and loses {best.lost_text}" if best.lost_text else ""
    return f"Possible is {instead}: {best.title} keeps that{costs}.", levels


def _of(n_holding: int, n: int) -> str:
    if not n_holding:
        return f"none of {n} releases keeps it"
    return f"{n_holding} of {n} releases keep{'s' if n_holding == 1 else ''} it"


def _counted_here(candidate: Candidate) -> list[str]:
    """Which promises the method itself does not make."""
    counted = [mark.name for mark in candidate.marks if mark.state == "met"]
    here = f"{candidate.title} keeps {and_list(counted)} on this table, as was counted"
    return [f"{here}, but its method does not promise that."] if counted else []


def _titles(releases: Sequence[Release]) -> Iterable[tuple[str, Release]]:
    """Releases by what their methods are called, with a number where that was there before."""
    seen: dict[str, int] = {}
    for release in releases:
        title = "the table as it is" if release.algorithm is None else str(release.algorithm.title)
        seen[title] = seen.get(title, 0) + 1
        yield title if seen[title] == 1 else f"{title} ({seen[title]})", release


def _candidate(
    name: str,
    release: Release,
    promise: Sequence[Requirement],
    measured: Sequence[attacks.ForegroundKnowledge],
    cache: Cache,
) -> Candidate:
    """A release, measured; `measured` are the attacks that were made on it."""
    wanted = tuple(promise) if release.is_synthetic else unpromised(release, promise, name, cache)
    strongest = max(measured, key=lambda attack: float(attack.excess), default=None)
    judged = verdict(release, wanted, cache=cache)
    found = marks(release, promise, name, cache)
    is_missed = any(mark.state == "missed" for mark in found)
    lost, text = _lost(release, cache)
    asked = next((one.t for one in promise if isinstance(one, TCloseness)), None)
    smallest = None if release.is_synthetic else int(hidden_among(release).min())
    return Candidate(
        id=name,
        title=name,
        marks=found,
        breaking=judged.breaking,
        against=_against(judged, is_missed, strongest, release.data.attacked_word),
        lost=lost,
        lost_text=text,
        reasons=reasons(smallest, has_buckets(release), farthest(release, promise, cache), asked),
        is_bound=not release.data.knows_rows,
        undecided="" if release.data.people_word == "people" else ROWS_COUNTED,
        mend=Mend(judged.columns) if strongest is not None and strongest.excess > GIVEN_AWAY else judged.mend,
    )


def _attacked(secret: str, cache: Cache) -> attacks.ForegroundKnowledge | None:
    """The attack by foreground knowledge on a secret; None where it could not be made or could learn nothing."""
    try:
        attack = cache("attacks.foreground_knowledge", attacks.foreground_knowledge, secret)
    except AnonymizationError:  # the attack does not apply to every release
        return None
    return None if np.isnan(attack.excess) else attack


def _not_measured(secrets: Sequence[str]) -> list[str]:
    """Of which secrets nobody knows how many people are given away."""
    return [f"How many people it gives away was not measured: {listing(secrets)}."] if secrets else []


def _against(judged: Verdict, is_missed: bool, attack: attacks.ForegroundKnowledge | None, attacked: str) -> str:
    """What speaks against a release beside what is asked and missed, empty for nothing."""
    if attack is not None and attack.excess > GIVEN_AWAY:
        return given_away(share_text(float(attack.recall)), share_text(float(attack.control)), FOREGROUND, attacked)
    is_bad = bool(judged.not_asked or (judged.failed and not is_missed))
    return speaks_against(judged.headline, [one.title for one in judged.not_asked]) if is_bad else ""


def hidden_among(release: Release) -> Int64:
    """Among how many people each person hides, in their smallest group; rows where every row is another person."""
    sizes = np.min([release.people_per_group(part)[part.partition.group] for part in release.fragments], axis=0)
    if release.data.people is None:
        return sizes
    of_people = np.full(release.data.n_people, np.iinfo(np.int64).max)
    np.minimum.at(of_people, release.data.people, sizes)
    return of_people


def asked_ground(data: Microdata, secret: str, promise: Sequence[Requirement]) -> Ground:
    """The ground distance by which t-closeness is asked of a secret, or else the one that fits its values."""
    asked = (one.ground for one in promise if isinstance(one, TCloseness) and one.attribute in (None, secret))
    return next(asked, data.domain[secret].ground)


def farthest(release: Release, promise: Sequence[Requirement], cache: Cache) -> float | None:
    """How far the farthest group is from the table, over all published secrets; None where one of them cannot be told,
    as its single values are not published.
    """
    secrets = [name for name in release.data.sensitive if name in release.attributes]
    try:
        distances = [
            float(np.max(cache("privacy.emd", privacy.emd, name, asked_ground(release.data, name, promise))))
            for name in secrets
        ]
    except AnonymizationError:
        return None
    return max(distances, default=None)


def _lost(release: Release, cache: Cache) -> tuple[float, str]:
    """The two-way error and its text, or the most that it can be where the original is not here."""
    try:
        if release.data.knows_rows:
            value = float(cache("utility.two_way_error", utility.two_way_error))
            return value, share_text(value)
        value = float(cache("utility.two_way_error_bound", utility.two_way_error_bound))
        return value, f"at most {share_text(value)}"
    except AnonymizationError:
        return 1.0, ""
