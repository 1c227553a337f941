"""The verdict on a release: what was asked of it and holds or not, and what nobody asked for and fails badly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from anoncore import attacks, privacy
from anoncore.attacks.foreground.attack import FOREGROUND_EXCESS
from anoncore.base.arguments import checked
from anoncore.base.errors import AnonymizationError
from anoncore.base.shared_work import Cache, kept_results
from anoncore.base.showing import Shown
from anoncore.base.texts import listing, share_text
from anoncore.kernels.arrays import Floats, Int64
from anoncore.kernels.rounding import ACCUMULATED, lies_above, reaches
from anoncore.privacy.joins import JOINS_SOURCE
from anoncore.privacy.tag_leaks import UNIQUE, TagLeak
from anoncore.release.release import Release
from anoncore.requirements import KAnonymity, Requirement, TCloseness
from anoncore.requirements.k_anonymity import largest_k
from anoncore.requirements.worth import NEAR_CERTAIN
from anoncore.table.microdata import Microdata
from anoncore.table.relations import Relation, Split

LEAST_LEARNED = 0.5
"""Share of the doubt left by guessing that a belief has to remove before the release is to blame for it."""
FOUND = 1 / 3
"""Probability to be found above which nobody publishes.

Of the class sizes that agencies have accepted, the smallest is three rows (El Emam, Guide to the De-Identification of
Personal Health Information, 2013, chapter 16). The baseline is picking a row at random.
"""
FAR = 0.5
"""Distance of a group from the table from which on the group tells more of its people than the table does.

The distances that are asked for lie between 0.1 and 0.3. At 0.5 half of the group would need other values, or all of it
values half the range away. The baseline is 0, the table as one group.
"""
GIVEN_AWAY = 0.05
"""Share of people above which an attack is no matter of single people: one of twenty, as for a test at the 5% level.

The baseline is what the same attack gets on shuffled secrets: only what lies above it counts.
"""
PROMISED = "What the method promises of everybody no table can show."
UNJUDGED = "What was asked is about groups of people and cannot be judged: the rows of this table are nobody's."
NOT_ASKED = "not asked for, and not protected"
"""What is said of numbers that fail badly wherever they are named."""
MOST_NAMED = 3
"""Columns that the first line names."""
WEAKEST_K, WEAKEST_L, WEAKEST_T = 3.0, 2.0, 0.3
"""The weakest levels in use that keep a number from failing: nobody is found with more than one chance in three, no
value is that of more than half of a group, and of the distances that are asked for it is the largest.
"""


@dataclass(frozen=True)
class Mend:
    """What to do about what speaks against a release.

    Attributes
    ----------
    columns : tuple of str
        Columns that no release should have.
    levels : mapping of str to float
        Levels of k, l, c or t to ask for, by their letters.

    Examples
    --------
    >>> from anoncore.measures.verdict import Mend
    >>> Mend(columns=("fnlwgt",), levels={"k": 7.0, "t": 0.42}).text
    "leave out 'fnlwgt'; ask for k = 7 and t = 0.42"
    """

    columns: tuple[str, ...] = ()
    levels: Mapping[str, float] = field(default_factory=dict)

    @property
    def leaving_out(self) -> str:
        """Which columns to leave out, in a few words; empty for none."""
        return f"leave out {listing(self.columns, MOST_NAMED)}" if self.columns else ""

    @property
    def asking(self) -> str:
        """Which levels to ask for, in a few words; empty for none."""
        levels = " and ".join(f"{axis} = {level:g}" for axis, level in self.levels.items())
        return f"ask for {levels}" if levels else ""

    @property
    def text(self) -> str:
        """All of it, empty for nothing."""
        return "; ".join(filter(None, (self.leaving_out, self.asking)))


@dataclass(frozen=True)
class Promise:
    """What was asked of a release, or promised by its method, and whether it holds.

    Attributes
    ----------
    holds : bool
        Whether it holds.
    sentence : str
        What was asked and what is reached.
    source : str
        Whose definition it is.

    Examples
    --------
    >>> from anoncore.measures.verdict import Promise
    >>> Promise(True, "k-anonymity (k = 3) holds.", "Samarati and Sweeney, 1998").holds
    True
    """

    holds: bool
    sentence: str
    source: str


@dataclass(frozen=True)
class Failing:
    """A number that nobody asked for and that fails badly.

    Attributes
    ----------
    name : str
        Name of the number, such as `largest-belief`.
    title : str
        What fails, in a few words with the value.
    sentence : str
        What that means for people, with the level and the baseline.
    value : float
        The number.
    level : float
        From where on it counts as bad.
    baseline : float
        What is reached without the release.
    levels : mapping of str to float
        What to ask for so that it no longer fails, by the letter of the level.

    Examples
    --------
    >>> from anoncore.measures.verdict import Failing
    >>> Failing("largest-belief", "largest belief 100%", "...", value=1.0, level=0.9, baseline=0.3).title
    'largest belief 100%'
    """

    name: str
    title: str
    sentence: str
    value: float
    level: float
    baseline: float
    levels: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict(Shown):
    """What holds of a release and what does not, whether or not somebody asked for it.

    Attributes
    ----------
    statements : tuple of Promise
        What was asked for or promised.
    not_asked : tuple of Failing
        What nobody asked for and fails badly.
    breaking : str
        The insensitive columns that break what was promised and what they do, in half a sentence; empty without any.
    decided : tuple of str
        What each of these columns gives away, a sentence each.
    promised : tuple of str
        What the method promises of everybody and no table can show, such as an epsilon, a sentence each.
    unjudged : tuple of str
        What was asked for and can neither hold nor fail, because no row is a person's, a sentence each.
    columns : tuple of str
        The insensitive columns that break what was promised.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.measures import verdict
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 3 + ["cold"] * 3})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> found = verdict(Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data))
    >>> found.asked, [one.title for one in found.not_asked]
    ('Everything that was asked holds.', ['largest belief 100%', 'distance 0.50'])
    """

    statements: tuple[Promise, ...]
    not_asked: tuple[Failing, ...]
    breaking: str = ""
    decided: tuple[str, ...] = ()
    promised: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def mend(self) -> Mend:
        """What would mend what is bad: the columns to leave out, and the levels to ask for."""
        return Mend(self.columns, {axis: level for one in self.not_asked for axis, level in one.levels.items()})

    @property
    def held(self) -> tuple[str, ...]:
        """What was asked for and holds, a sentence each."""
        return tuple(one.sentence for one in self.statements if one.holds)

    @property
    def failed(self) -> tuple[str, ...]:
        """What was asked for and does not hold, a sentence each."""
        return tuple(one.sentence for one in self.statements if not one.holds)

    @property
    def is_good(self) -> bool:
        """Whether something was asked, all of it holds, nothing else fails badly, and no column breaks it."""
        return bool(self.held) and not self.failed and not self.not_asked and not self.breaking

    @property
    def asked(self) -> str:
        """How much of what was asked holds, in a sentence that also names the columns by which it does not."""
        over = " over what is known" if self.breaking and self.held and not self.failed else ""
        breaking = f"; {self.breaking}" if self.breaking else ""
        return f"{self._asked.rstrip('.')}{over}{breaking}."

    @property
    def _asked(self) -> str:
        if not self.held and not self.failed:
            told = [UNJUDGED] if self.unjudged else []
            told += [PROMISED] if self.promised else []
            return " ".join(told) or "Nothing was asked of this release."
        if not self.failed:
            return "Everything that was asked holds."
        do = "does" if len(self.failed) == 1 else "do"
        return f"{len(self.failed)} of {len(self.held) + len(self.failed)} things that were asked {do} not hold."

    @property
    def headline(self) -> str:
        """The verdict in a sentence, which never says the good half alone."""
        if not self.not_asked:
            return self.asked
        return f"{self.asked} {NOT_ASKED[0].upper()}{NOT_ASKED[1:]}: {', '.join(one.title for one in self.not_asked)}."


@checked
def verdict(
    release: Release,
    requirements: Sequence[Requirement] = (),
    cache: Cache | None = None,
    foreground: float | None = None,
) -> Verdict:
    """Say what was asked of a release and holds or not, and what nobody asked for and fails badly.

    What nobody asked for fails badly where an adversary is nearly certain of somebody's sensitive value, where somebody
    is found with more than one chance in three, where a group is half of the way or more from the table, and where what
    the release itself teaches gives away one of twenty people. Each is left out where a guess without the release gets
    as far, or where another level was asked for. What holds for those who know the quasi-identifiers may not hold for
    those who know an insensitive column as well; then it holds over what is known, and the column is named. Of a
    synthetic table none of this can be said: what is asked of groups cannot be judged, and what it gives away is left
    to the attacks with a control part.

    Parameters
    ----------
    release : Release
        The release that is judged.
    requirements : sequence of Requirement
        What was asked besides what its algorithm promises.
    cache : callable, optional
        `cache(name, function, *arguments)` gives `function(release, *arguments)` and may keep it.
    foreground : float, optional
        The share of people whom the foreground-knowledge attack breaches above its control, where it was made; it is
        not made here.

    Returns
    -------
    Verdict
        Sentences for all of it.

    Notes
    -----
    Assumes: that of the numbers that it is made of; the adversary knows every quasi-identifier and who is in the table.
    Cost: that of `privacy.profile`, `attacks.attribute_disclosure`, `attacks.reidentification`, `privacy.tag_leaks` and
      `privacy.all_but_secrets`.
    Use: wherever a release is called good, so that nobody takes what was asked for all that matters.
    Avoid: one of its numbers is in question: ask for that.

    References
    ----------
    The definitions of the numbers, each with its own source; the levels are those of this module and of
    `anoncore.requirements.worth`, each with its reason.

    Examples
    --------
    Everybody in a class of three has the same disease, which k-anonymity does not forbid:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.measures import verdict
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 3 + ["cold"] * 3})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> found = verdict(Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data))
    >>> found.is_good
    False
    >>> print(found.not_asked[0].sentence.partition(", and")[0])
    An adversary is at least 90% sure of 'disease' in 6 of 6 rows (100%)
    """
    measure = kept_results(release, cache)
    if release.is_synthetic:
        return _without_people(requirements, measure)
    asked = guarantees_of(requirements, measure)
    statements = [Promise(bool(one.holds), one.sentence, one.requirement.source) for one in asked]
    source = "" if release.algorithm is None else release.algorithm.source
    personal = measure("privacy.personal_guarantees", privacy.personal_guarantees)
    statements += [Promise(bool(one.holds), one.sentence, source) for one in personal]
    if not release.is_shared:
        with suppress(AnonymizationError):  # without a common attribute there is nothing to join on
            joins = measure("privacy.joins", privacy.joins)
            statements.append(Promise(bool(joins.holds), joins.sentences[0], JOINS_SOURCE))
    wanted = [one.requirement for one in asked]
    leaks, over_all = insensitive_columns(release, wanted, measure)
    joined = joined_rows(release, wanted, measure)
    breaking = "; ".join(filter(None, [joined, breaking_columns(leaks, over_all, release.data.people_word)]))
    not_asked = [*_believed(release, measure), *_found(asked, measure), *_distant(release, wanted, measure)]
    not_asked += _taught(foreground, release)
    if breaking:
        statements = [replace(one, sentence=over_what_is_known(one.sentence)) for one in statements]
    found = verdict_in_words(release.data, statements, not_asked, breaking, leaks)
    return replace(found, decided=(*_published_pseudonym(release), *found.decided))


def joined_rows(release: Release, wanted: Sequence[Requirement], measure: Cache) -> str:
    """What a pseudonym that joins the rows of a person does to what was promised, in half a sentence."""
    if release.data.people is None or release.data.pseudonym not in release.attributes:
        return ""
    found: privacy.LinkedPeople = measure("privacy.linked_k", privacy.linked_k)
    return found.finding(_wanted_k(release, wanted))


def _published_pseudonym(release: Release) -> Iterator[str]:
    """What a published pseudonym gives away, whatever it joins here."""
    name = release.data.pseudonym
    if name in release.attributes:
        yield (
            f"'{name}' is published as a pseudonym: it joins all rows of a person, here and with every other release "
            "that is made with the same key. Make a new key for readers who must not join them."
        )


def _wanted_k(release: Release, wanted: Sequence[Requirement]) -> int:
    """The largest k that was promised or is wanted; 2, which counts people who are alone, where none was."""
    return largest_k((*release.promises, *wanted), UNIQUE)


def verdict_in_words(
    data: Microdata,
    statements: Iterable[Promise],
    not_asked: Iterable[Failing],
    breaking: str,
    leaks: Iterable[TagLeak],
) -> Verdict:
    """The verdict in the words of a table: of rows where nobody said whether they are people."""
    say, leaks = data.in_words, tuple(leaks)
    return Verdict(
        tuple(replace(one, sentence=say(one.sentence)) for one in statements),
        tuple(replace(one, title=say(one.title), sentence=say(one.sentence)) for one in not_asked),
        breaking,
        tuple(say(leak.sentence) for leak in leaks),
        columns=tuple(leak.column for leak in leaks),
    )


def insensitive_columns(
    release: Release, wanted: Sequence[Requirement], measure: Cache
) -> tuple[tuple[TagLeak, ...], Split | None]:
    """The insensitive columns that break what is promised or wanted, and the classes for readers who know all of them.

    Without them no column of a person is told apart by anything but quasi-identifiers and secrets.
    """
    if release.is_synthetic or not release.data.insensitive:  # no column tells anything of a person there
        return (), None
    k = _wanted_k(release, wanted)
    more = (k,) if k > largest_k(release.promises, UNIQUE) else ()
    leaks: tuple[TagLeak, ...] = measure("privacy.tag_leaks", privacy.tag_leaks, *more)
    return leaks, measure("privacy.all_but_secrets", privacy.all_but_secrets, *more) if leaks else None


def breaking_columns(leaks: Sequence[TagLeak], over_all: Split | None, people_word: str) -> str:
    """Which insensitive columns break what was promised and what they do, in half a sentence; empty for none.

    `over_all` are the classes for readers who know all insensitive columns.
    """
    texts = []
    splitting = [leak for leak in leaks if leak.split is not None and leak.split.n_below > leak.split.n_below_before]
    if splitting and over_all is not None:
        splitting.sort(key=lambda leak: -leak.split.n_below if leak.split is not None else 0)
        texts.append(
            columns_find(
                [leak.column for leak in splitting],
                all(leak.is_decided for leak in splitting),
                over_all.n_below,
                splitting[0].n_rows,
                over_all.k,
                "person" if splitting[0].counted == "person" else people_word,
            )
        )
    for leak in leaks:
        if leak not in splitting and leak.relations and len(texts) < MOST_NAMED:
            texts.append(f"{_who([leak.column], leak.is_decided)}, {_tells(leak.column, leak.relations[0])}")
    return "; ".join(texts)


def over_what_is_known(sentence: str) -> str:
    """What holds, said of readers who know no insensitive column."""
    return sentence.replace(" holds", " holds over what is known", 1)


def columns_find(
    columns: Sequence[str], is_decided: bool, below: int, n_rows: int, k: int, counted: str = "people"
) -> str:
    """Insensitive columns with which `below` rows lie in classes of fewer than k, in half a sentence.

    `counted` says what rows may be called: `people`, `rows`, or `person` where classes count people of several rows.
    """
    find = "finds" if len(columns) == 1 else "find"
    rows = f"{below:,} of {n_rows:,} rows"
    fewer = f"{k} people" if counted == "person" else f"k = {k}"
    state = "are unique" if k == UNIQUE and counted != "person" else f"lie in groups of fewer than {fewer}"
    who = _who(columns, is_decided)
    if below < n_rows:
        return f"{who}, {find} {rows}, which {state}"
    return f"{who}, {find} {'every row' if counted == 'rows' else 'everybody'}: {rows} {state}"


def _who(columns: Sequence[str], is_decided: bool) -> str:
    return f"{listing(columns, MOST_NAMED)}, {'published by decision' if is_decided else 'on which nobody decided'}"


def _tells(column: str, relation: Relation) -> str:
    others = [f"'{name}'" for name in (*relation.telling, relation.told) if name != column]
    return f"follows from {' and '.join(others)}" if column == relation.told else f"tells '{relation.told}'"


def _without_people(requirements: Sequence[Requirement], measure: Cache) -> Verdict:
    """The verdict where rows are nobody's: what was asked of groups of people neither holds nor fails.

    What its method promises about people is no matter of groups, and no table shows whether it holds. What the table
    gives away needs people who are not in it, so nothing is found by itself.
    """
    personal = measure("privacy.personal_guarantees", privacy.personal_guarantees)
    unjudged = [
        f"{one.label()} cannot be judged: it asks for groups of people, and the rows of this table are nobody's."
        for one in requirements
    ]
    return Verdict((), (), promised=tuple(one.sentence for one in personal), unjudged=tuple(unjudged))


def guarantees_of(requirements: Sequence[Requirement], measure: Cache) -> tuple[privacy.Guarantee, ...]:
    """What the algorithm of a release promises and what else is asked of it."""
    more = (tuple(requirements),) if requirements else ()
    found: tuple[privacy.Guarantee, ...] = measure("privacy.guarantees", privacy.guarantees, *more)
    return found


def _believed(release: Release, measure: Cache) -> Iterator[Failing]:
    """Beliefs that are nearly certain, although guessing leaves doubt."""
    for name in release.data.sensitive:
        try:
            disclosure = measure("attacks.attribute_disclosure", attacks.attribute_disclosure, name)
        except AnonymizationError:  # its single values are not published
            continue
        guess = float(disclosure.largest.baseline or 0.0)
        yield from nearly_certain(name, disclosure.belief, guess, np.ones(len(disclosure.belief), dtype=np.int64))


def nearly_certain(attribute: str, belief: Floats, guess: float, rows: Int64) -> Iterator[Failing]:
    """The finding that an adversary is nearly certain of a value, where they are and guessing leaves doubt.

    `belief` and `rows` (n,) say how surely the value of how many rows is known, `guess` how surely without the release.
    """
    largest = float(belief.max())
    learned = (largest - guess) / (1 - guess) if guess < 1 else 0.0
    if not (reaches(largest, NEAR_CERTAIN, ACCUMULATED) and reaches(learned, LEAST_LEARNED, ACCUMULATED)):
        return
    sure, n_rows = int(rows[np.asarray(reaches(belief, NEAR_CERTAIN, ACCUMULATED))].sum()), int(rows.sum())
    yield Failing(
        "largest-belief",
        f"largest belief {share_text(largest)}",
        f"An adversary is at least {NEAR_CERTAIN:.0%} sure of '{attribute}' in {sure:,} of {n_rows:,} rows "
        f"({share_text(sure / n_rows)}), and {share_text(largest)} sure in the worst of them; "
        f"guessing is {share_text(guess)} sure.",
        largest,
        NEAR_CERTAIN,
        guess,
        # No group hides a value better than the whole table does.
        {"l": WEAKEST_L} if guess <= 1 / WEAKEST_L else {},
    )


def _found(asked: Sequence[privacy.Guarantee], measure: Cache) -> Iterator[Failing]:
    """People who are found by what is known of them, where what was asked of the size of groups does not say so.

    In a class of k rows nobody is found more surely than 1/k. A bucket of k rows does not hide whose row is whose.
    """
    try:
        risk = measure("attacks.reidentification", attacks.reidentification)
    except AnonymizationError:  # no attribute is known
        return
    largest = float(risk.prosecutor.largest)
    sizes = [one.reached for one in asked if asks_for_size([one.requirement])]
    if sizes and not lies_above(largest, 1 / min(sizes), ACCUMULATED):
        return
    chance = float(risk.prosecutor.mean.baseline or 0.0)
    yield from people_found(risk.risk, chance, np.ones(len(risk.risk), dtype=np.int64), bool(sizes))


def asks_for_size(wanted: Sequence[Requirement]) -> bool:
    """Whether a size of groups was asked for that hides people among others."""
    return any(isinstance(one, KAnonymity) and one.k > 1 for one in wanted)


def people_found(risk: Floats, chance: float, rows: Int64, is_asked: bool = False) -> Iterator[Failing]:
    """The finding that people are found with more than one chance in three, where some are.

    `risk` and `rows` (n,) say how surely the people of how many rows are found, `chance` how surely by picking one;
    `is_asked`: a size of groups was asked for, which does not hide them.
    """
    largest = float(risk.max())
    is_above = np.asarray(lies_above(risk, FOUND, ACCUMULATED))
    if not is_above.any():
        return
    above = float(rows[is_above].sum() / rows.sum())
    yield Failing(
        "reidentified-largest",
        f"somebody is found with {share_text(largest)}",
        f"An adversary who knows the quasi-identifiers of a person finds their row with more than one chance in three "
        f"for {share_text(above)} of the people, and with {share_text(largest)} for the worst protected; picking a row "
        f"at random finds it with {share_text(chance)}.",
        largest,
        FOUND,
        chance,
        {} if is_asked else {"k": WEAKEST_K},
    )


def _distant(release: Release, wanted: Sequence[Requirement], measure: Cache) -> Iterator[Failing]:
    """Groups far from the table, where no distance was asked for."""
    profile = measure("privacy.profile", privacy.profile)
    for name in release.data.sensitive:
        if asks_for_distance(wanted, name):
            continue
        try:
            worst = profile.score(f"t-{release.data.domain[name].ground}", name)
        except AnonymizationError:  # its single values are not published
            continue
        yield from distant(name, float(worst))


def asks_for_distance(wanted: Sequence[Requirement], attribute: str) -> bool:
    """Whether a largest distance of groups from the table was asked for."""
    return any(isinstance(one, TCloseness) and one.attribute in (None, attribute) for one in wanted)


def distant(attribute: str, worst: float) -> Iterator[Failing]:
    """The finding that a group is far from the table, where the worst one is."""
    if reaches(worst, FAR, ACCUMULATED):
        yield Failing(
            "t",
            f"distance {worst:.2f}",
            f"In the worst group the values of '{attribute}' are {worst:.2f} away from those of the "
            "whole table (earth mover's distance: 0 is the same, 1 is as different as can be).",
            worst,
            FAR,
            0.0,
            {"t": WEAKEST_T},
        )


def _taught(foreground: float | None, release: Release) -> Iterator[Failing]:
    """People who are given away by what the release itself teaches, where that attack was made."""
    if foreground is not None and foreground > GIVEN_AWAY:
        counted = release.data.attacked_word
        yield Failing(
            FOREGROUND_EXCESS.name,
            f"given away {share_text(foreground)} above chance",
            f"What the release itself teaches gives away {share_text(foreground)} more of the {counted} than the same "
            "attack on shuffled secrets: an adversary comes to believe their sensitive value with more than one half.",
            foreground,
            GIVEN_AWAY,
            0.0,
        )
