"""What a table gives away as it is: k, l, t, the rows that are alone, and what attacks get from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from anoncore import attacks as attacking
from anoncore import privacy, utility
from anoncore.attacks.control_figures import Figures
from anoncore.attacks.foreground.facts import Fact
from anoncore.attacks.strongest import Strongest
from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.score import Score
from anoncore.base.shared_work import kept_results
from anoncore.base.showing import printable
from anoncore.base.texts import listing, share_text
from anoncore.front.asked_requirements import name_and_number, requirements_of
from anoncore.front.named_columns import Names, Spelling, columns_of, roles_of
from anoncore.front.policy.policy import Policy
from anoncore.front.policy.release_rules import judge_release
from anoncore.front.table_check import CheckedNumber, CheckedRequirement, TableCheck, UnmetRequirementError, group_text
from anoncore.kernels.arrays import record
from anoncore.measures.verdict import verdict
from anoncore.privacy.check import counted_text
from anoncore.privacy.guarantees import level_texts
from anoncore.privacy.published import published_levels
from anoncore.privacy.tag_leaks import UNIQUE
from anoncore.release.release import Release
from anoncore.release.unchanged import unchanged
from anoncore.requirements import Requirement
from anoncore.requirements.k_anonymity import largest_k
from anoncore.requirements.requirement import COMPARISON_WORDS
from anoncore.table.given_table import as_pandas, given_table
from anoncore.table.microdata import Microdata, Role


@checked
def check(
    frame: Any,
    known: str | Sequence[str] = (),
    secret: str | Sequence[str] = (),
    *,
    identifier: str | Sequence[str] = (),
    unit: str | None = None,
    require: str | Requirement | Sequence[str | Requirement] = (),
    foreground: float | None = None,
    facts: Sequence[Fact] = (),
    attacks: float | None = None,
    control: Any = None,
    synthetic_of: Any = None,
    policy: Policy | str | Path | None = None,
    progress: Progress | None = None,
) -> TableCheck:
    """Judge a table as it is, as `anoncore check` does: who is alone in it, its k, l and t, and what can be learned.

    Nothing is changed. A column that is named neither known nor secret nor identifier is judged as published: the k
    over all columns (`k_all`) counts it as known.

    Parameters
    ----------
    frame : DataFrame, LazyFrame, Arrow table or DuckDB relation
        The table, as `Microdata` takes it.
    known : str or sequence of str
        Columns that others may know of a person. They may be left out under a policy alone: then every column that is
        named neither secret nor identifier is taken for known, which is the cautious reading.
    secret : str or sequence of str
        Columns that nobody must learn; without any, `l` and `t` are None.
    identifier : str or sequence of str
        Columns that name people, left out of all numbers.
    unit : str, optional
        The column that says whose row it is, where one person may have several rows: k, l and t then count people.
    require : str, Requirement, or sequence of these
        What must hold, such as "k=5": one of k, l (distinct-l), entropy-l, frequency-l, recursive-c, beta, t,
        t-equal, t-ordered and t-interval with a number. t is t-ordered for numbers, else t-equal.
    foreground : float, optional
        Also run the attack by foreground knowledge, in which a belief above 1 / this is a breach.
    facts : sequence of Fact
        What the adversary of `foreground` knows from elsewhere.
    attacks : float, optional
        Also try every attack that applies, in which a belief above 1 / this gives a value away.
    control : table, optional
        People who are not in the table, or not in the original of a synthetic one, to attack it with.
    synthetic_of : table, optional
        The original, where the table is synthetic: then its costs are counted and, with `control`, what it gives away.
    policy : Policy, str or Path
        The rules of an office, or the name or file of some, by which the table is judged as well. A rule that is broken
        is as bad as a requirement that fails; one that could not be measured, or holds only while nobody knows a
        column, stands in `judgement` alone.
    progress : callable, optional
        Called with the share done, from 0 to 1, and what is being done. It may raise CancelledError to stop.

    Returns
    -------
    TableCheck
        The numbers, what was required, and the verdict.

    Raises
    ------
    ParameterError
        For a column that the table lacks or that is named twice, and for what cannot be asked together.
    DataError
        For a table that cannot be read, and a requirement that does not fit it.
    UnmetRequirementError
        Where something that is required fails or a rule of the policy is broken; its `check` has all that was counted.

    Notes
    -----
    Assumes: an adversary knows the known columns of every person, and who is in the table.
    Cost: that of `privacy.profile` and `attacks.attribute_disclosure`; `attacks` may take a minute for a large table.
    Use: before a table is published or passed on, and in a pipeline, with `require`.
    Avoid: the table is a release of several tables, or cells are ranges and sets that overlap: then it is read by
      `Release.from_published`.

    Examples
    --------
    >>> import anoncore
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [21, 21, 44, 44], "disease": ["flu", "cold", "gout", "flu"]})
    >>> anoncore.check(people, known="age", secret="disease", require=["k=2", "l=2"]).holds
    True
    >>> anoncore.check(people, secret="disease", policy=anoncore.Policy(name="Ours", levels={"k": 2})).judgement.status
    'kept'
    """
    asked = (require,) if isinstance(require, str | Requirement) else tuple(require)
    by_rules = policy if policy is None or isinstance(policy, Policy) else Policy.load(policy)
    question = Question(
        known, secret, identifier, unit, asked, foreground, tuple(facts), attacks, control, synthetic_of, by_rules
    )
    judged = question.judge(frame, silent if progress is None else progress)
    failing = [printable(required.sentence) for required in judged.requirements if not required.holds]
    rules = judged.judgement
    if rules is not None and (broken := [rule.sentence for rule in rules.of("broken")]):
        failing += [rules.headline, *(f"{sentence[0].upper()}{sentence[1:]}." for sentence in broken)]
        raise UnmetRequirementError(" ".join(failing), judged)
    if failing:
        they = "it holds" if len(failing) == 1 else "they hold"
        advice = f"anoncore.anonymize makes a release of the table in which {they}."
        raise UnmetRequirementError(" ".join([*failing, advice]), judged)
    return judged


@record
class Question:
    """What is asked of a table, with the parameters of `check`.

    `spelling` says how a parameter is written where it is asked, such as `--known` on the command line. What does not
    go together is refused before there is a table.
    """

    known: Names = ()
    secret: Names = ()
    identifier: Names = ()
    unit: str | None = None
    require: tuple[str | Requirement, ...] = ()
    foreground: float | None = None
    facts: tuple[Fact, ...] = ()
    attacks: float | None = None
    control: Any = None
    synthetic_of: Any = None
    policy: Policy | None = None
    spelling: Spelling = str

    def __post_init__(self) -> None:
        said = self.spelling
        for text in self.require:
            if isinstance(text, str):
                name_and_number(text, said)
        if self.synthetic_of is not None:
            for parameter, given in (
                ("require", self.require),
                ("foreground", self.foreground is not None),
                ("attacks", self.attacks is not None),
            ):
                if given:
                    raise ParameterError(
                        f"{said(parameter)} asks for groups of people, and the rows of a synthetic table are nobody's; "
                        f"leave it out, and give {said('control')}."
                    )
        elif self.control is not None and self.attacks is None and self.policy is None:
            raise ParameterError(
                f"{said('control')} has people to attack a table with; add {said('attacks')} R, or "
                f"{said('synthetic_of')} ORIGINAL for a synthetic table."
            )
        if self.facts and self.foreground is None:
            raise ParameterError(
                f"{said('facts')} tells the adversary of {said('foreground')} what else is known; ask for "
                f"{said('foreground')} too."
            )

    def judge(self, frame: Any, progress: Progress) -> TableCheck:
        """What is found in a table, whether or not what is required holds."""
        progress(0.0, "Judging the table")
        if self.synthetic_of is not None:
            judged = self._beside_the_original(frame)
        else:
            judged = self._of_people(unchanged(self._tagged(frame)), part_of(progress, 0.3, 0.7))
        if self.policy is not None:
            judged = self._by_policy(self.policy, judged, frame, part_of(progress, 0.7, 1.0))
        progress(1.0, "Done")
        return judged

    def _by_policy(self, policy: Policy, judged: TableCheck, frame: Any, progress: Progress) -> TableCheck:
        """What was found, and what the policy says of it."""
        data = judged.release.data
        control = None if self.control is None else data.with_same_tags(self.control)
        # Of a table as it is, every column is published, whatever it is named as.
        tables = {"table": as_pandas(frame)}
        found = judge_release(policy, judged.release, control=control, tables=tables, progress=progress)
        notes = judged.notes
        if not self.known:
            notes = (*notes, f"No column was named as known, so all of {listing(data.quasi_identifiers, 30)} were.")
        return replace(judged, judgement=found, notes=notes)

    def _tagged(self, frame: Any) -> Microdata:
        table = given_table(frame)
        named: dict[str, tuple[Names, Role]] = {
            "known": (self.known, Role.QUASI_IDENTIFIER),
            "secret": (self.secret, Role.SENSITIVE),
            "identifier": (self.identifier, Role.IDENTIFIER),
        }
        if self.policy is not None and not self.known:
            others = {self.unit, *columns_of(self.secret), *columns_of(self.identifier)}
            named["known"] = ([name for name in table.columns if name not in others], Role.QUASI_IDENTIFIER)
        data = Microdata(table, dict(roles_of(table.columns, named, self.unit, self.spelling)), unit=self.unit)
        # Nothing can be left out of a table that is there: what is not named is published.
        return data.publishing(data.left_out) if data.left_out else data

    def _beside_the_original(self, frame: Any) -> TableCheck:
        """A synthetic table, whose rows are nobody's, compared with the one that it was made of."""
        data = self._tagged(self.synthetic_of)
        release = Release.from_published(frame, original=data, rows="synthetic")
        control = None if self.control is None else data.with_same_tags(self.control)
        lacking = (
            "What it gives away needs people who are not in the original: give a table of some with "
            f"{self.spelling('control')}."
        )
        notes = (*(() if control else (lacking,)), *release.notes)
        return TableCheck(release, tuple(_numbers_without_people(release, control)), (), verdict(release), notes=notes)

    def _of_people(self, release: Release, progress: Progress) -> TableCheck:
        data, results = release.data, kept_results(release)
        if self.attacks is not None and not data.sensitive:
            raise ParameterError(
                f"{self.spelling('attacks')} is about a secret column; name it with {self.spelling('secret')}."
            )
        required = list(requirements_of(self.require, data, self.spelling))
        numbers = list(self._numbers(release, required, results))
        tried = list(self._attacks(release, self.attacks, progress)) if self.attacks is not None else []
        judged = [result for requirement in required for result in _judged(release, requirement)]
        return TableCheck(
            release,
            tuple(numbers),
            tuple(judged),
            verdict(release, required, results),
            tuple(tried),
            (data.unit_note,) if data.unit_note else (),
        )

    def _attacks(self, release: Release, r: float, progress: Progress) -> Iterator[Strongest]:
        names = release.data.sensitive
        control = None if self.control is None else release.data.with_same_tags(self.control)
        for number, name in enumerate(names):
            part = part_of(progress, number / len(names), (number + 1) / len(names))
            yield attacking.strongest(release, name, r=r, control=control, progress=part)

    def _numbers(
        self, release: Release, required: Sequence[Requirement], results: Callable[..., Any]
    ) -> Iterator[CheckedNumber]:
        data = release.data
        people = release.people_per_group(release.fragments[0])
        alone = int(release.partition.sizes[people == 1].sum())
        yield CheckedNumber(
            "unique-rows",
            "Unique rows",
            None,
            alone,
            f"{alone:,} of {data.n_rows:,} ({share_text(alone / data.n_rows)})",
            None,
            "Rows of people whom nobody else equals in the known columns: who knows these finds the row for certain.",
            unit="rows",
        )
        for worst in results("privacy.profile", privacy.profile).scores:
            yield replace(_number(worst), group=_values(release, worst.group))
            if worst.name == "k":
                yield _over_all(release, required)
        risk = results("attacks.reidentification", attacking.reidentification).prosecutor
        yield from map(_number, (risk.largest, risk.mean, risk.at_risk))
        for name in data.sensitive:
            disclosure = results("attacks.attribute_disclosure", attacking.attribute_disclosure, name)
            yield from (_number(score, name) for score in (disclosure.largest, disclosure.truth))
            if self.foreground is not None:
                yield from self._by_foreground_knowledge(release, name, self.foreground)

    def _by_foreground_knowledge(self, release: Release, name: str, r: float) -> Iterator[CheckedNumber]:
        about = [fact for fact in self.facts if fact.attribute in ("", name)]
        attack = attacking.foreground_knowledge(release, name, r=r, facts=about)
        for score in (attack.recall, attack.control, attack.excess, attack.flagged):
            number = _number(score, name)
            yield number if attack.learned else replace(number, sentence=attack.notes[-1])
        informed = attack.with_facts
        for score in () if informed is None else (informed.recall, informed.excess, informed.flagged):
            number = _number(score, name)
            yield replace(number, name=f"{number.name}-with-facts", title=f"{number.title} with the facts")


def _numbers_without_people(release: Release, control: Microdata | None) -> Iterator[CheckedNumber]:
    """What a synthetic table costs and, beside people who are not in its original, what it gives away."""
    yield from map(_number, (utility.two_way_error(release), utility.association_error(release)))
    if release.data.sensitive:
        error = utility.query_error(release)
        yield from map(_number, (error, error.median))
    if control is None:
        return
    yield from _attacked(attacking.singling_out(release, control=control), None)
    yield from _attacked(attacking.linkability(release, control=control), None)
    for name in release.data.sensitive:
        yield from _attacked(attacking.inference(release, name, control=control), name)


def _attacked(attack: Figures, attribute: str | None) -> Iterator[CheckedNumber]:
    """The success on both sides and the difference, with its interval."""
    low, high = attack.difference_interval
    yield from (_number(score, attribute) for score in (attack.members, attack.control))
    difference = _number(attack.difference, attribute)
    interval = f" 95% interval {low:+.1%} to {high:+.1%}, by the adversary '{attack.adversary}'."
    yield replace(difference, sentence=f"{difference.sentence}{interval}")


def _number(score: Score, attribute: str | None = None) -> CheckedNumber:
    attribute = getattr(score, "attribute", None) if attribute is None else attribute
    value, text, sentence = float(score), score.entry.text(float(score)), score.meaning
    if math.isnan(value):
        text = "not measured"
    if math.isinf(value):
        text, sentence = "none", f"No number is large enough: in some group only one value of '{attribute}' is left."
    return CheckedNumber(score.name, score.title, attribute, value, text, score.baseline, sentence, unit=score.unit)


def _values(release: Release, group: int) -> dict[str, Any]:
    """The known values that the rows of a group have in common."""
    data, row = release.data, release.partition.order[release.partition.starts[group]]
    return {name: list(data.domain[name])[data.codes[name][row]] for name in data.quasi_identifiers}


def _over_all(release: Release, required: Sequence[Requirement]) -> CheckedNumber:
    """The k for those who know every published column of a person but the secrets."""
    k = largest_k(required, UNIQUE)
    split = privacy.all_but_secrets(release, k)
    people = release.people_per_group(release.fragments[0])
    smallest = int(people.min()) if split is None else split.smallest
    below = int(release.partition.sizes[people < k].sum()) if split is None else split.n_below
    words = {"rows": "row", "people": "person"}[release.counted_word] if smallest == 1 else release.counted_word
    return CheckedNumber(
        "k-all",
        "k over all columns but the secrets",
        None,
        smallest,
        f"{smallest:,} {words}",
        None,
        f"{below:,} of {release.data.n_rows:,} rows lie in groups of fewer than {k} for those who know "
        "every column of a person but the secrets.",
        unit=release.counted_word,
    )


def _judged(release: Release, requirement: Requirement) -> Iterator[CheckedRequirement]:
    fragment, partition = release.fragments[0], release.partition
    people = release.people_per_group(fragment)
    for condition in requirement.checks(release.data):
        levels = published_levels(release, fragment, condition)
        failing = np.flatnonzero(~condition.holds(levels))
        is_least = COMPARISON_WORDS[requirement.comparison] == "at least"
        worst = int(levels.argmin() if is_least else levels.argmax())
        values, rows = _values(release, worst), int(partition.sizes[failing].sum())
        size = counted_text(release, int(people[worst]), int(partition.sizes[worst]))
        where = f"the group with {group_text(values)} ({size})"
        level = float(levels[worst])
        reached, bound = level_texts(level, requirement.threshold)
        text = requirement.reached_text(level, reached, condition.attribute)
        asks = requirement.asked_text(bound)
        sentence = (
            f"{requirement.label()} fails in {len(failing):,} of {partition.n_groups:,} groups ({rows:,} of "
            f"{partition.n_rows:,} rows): {where} has {text}, and {asks} is asked."
            if len(failing)
            else f"{requirement.label()} holds: at worst {where} has {text}, and {asks} is asked."
        )
        yield CheckedRequirement(
            requirement.label(), condition.attribute, not len(failing), level, len(failing), rows, values, sentence
        )
