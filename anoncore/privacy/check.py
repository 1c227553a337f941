"""Whether the groups of a release satisfy requirements, and which of them do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anoncore.base.arguments import checked
from anoncore.base.number import measure
from anoncore.base.showing import MOST_LINES, Lines, Result
from anoncore.base.texts import counted
from anoncore.kernels.arrays import Floats
from anoncore.kernels.checking import most_frequent, people_and_pairs
from anoncore.privacy.guarantees import level_texts
from anoncore.privacy.linked_rows import groups_below
from anoncore.privacy.published import fragments_of, published_levels, published_view
from anoncore.release.release import Fragment, Release
from anoncore.requirements.k_anonymity import KAnonymity
from anoncore.requirements.requirement import Check, Requirement

Groups = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Violation(Result):
    """One group that fails one requirement.

    Attributes
    ----------
    requirement : Requirement
        The requirement that fails.
    attribute : str or None
        The sensitive attribute that it is about; None where it is about group sizes alone.
    fragment : str
        Name of the fragment that the group belongs to.
    group : int
        Number of the group in its fragment.
    size : int
        Rows of the group.
    level : float
        What the group reaches, in the unit of the requirement's threshold.
    sentence : str
        What fails and why, in one sentence for people.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import DistinctDiversity, KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> (violation,) = privacy.check(release, [DistinctDiversity(l=2)])
    >>> violation.group, violation.size, violation.level
    (1, 3, 1.0)
    """

    requirement: Requirement
    attribute: str | None
    fragment: str
    group: int
    size: int
    level: float
    sentence: str

    def _headline(self) -> str:
        return self.sentence

    def _lines(self) -> Lines:
        return []


class Violations(tuple[Violation, ...]):
    """Violations in their order, which show themselves as the sentences of the first of them."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self:
            return "()"
        left = len(self) - MOST_LINES
        shown = self if left <= 1 else self[:MOST_LINES]
        more = [f"  … and {left} more"] if left > 1 else []
        return "\n".join([counted(len(self), "violation"), *(f"  {one!r}" for one in shown), *more])


@measure(title="Violations")
@checked
def check(release: Release, requirements: Sequence[Requirement]) -> tuple[Violation, ...]:
    """Every group that violates one of the requirements, with a sentence that says why.

    Group sizes are checked in every fragment, sensitive attributes in every fragment that publishes them, by their
    published values. Fragments that share one partition count once. Where a pseudonym joins the rows of a person, k is
    also checked over all of them, see `linked_k`.

    Parameters
    ----------
    release : Release
        The release that is judged.
    requirements : sequence of Requirement
        Conditions that every group must satisfy.

    Returns
    -------
    tuple of Violation
        Requirement by requirement, fragment by fragment and group by group; empty if all of them hold.

    Raises
    ------
    DataError
        Where a requirement does not fit the table.
    ReleaseError
        Where an attribute's single values are not published.

    Notes
    -----
    Assumes: that is right which is published: distorted values count as they are published.
    Cost: one pass over the groups per requirement.
    Use: it must be known which groups break a requirement, and why.
    Avoid: only the reached levels are wanted: see `profile`.

    References
    ----------
    The definitions of the requirements, each with its own source.

    Examples
    --------
    The young and the old make a class of three each. All the old have a cold:

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import DistinctDiversity, KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> privacy.check(release, [KAnonymity(k=3)])
    ()
    >>> for violation in privacy.check(release, [DistinctDiversity(l=2)]):
    ...     print(violation.sentence)
    Group 1 (3 rows) has 1 different value of 'disease', but distinct l-diversity (l = 2) asks for at least
    2; its most frequent value 'cold' has 100% of it and 67% of the table.
    """
    return Violations([*group_violations(release, requirements), *_linked_violations(release, requirements)])


def group_violations(release: Release, requirements: Sequence[Requirement]) -> tuple[Violation, ...]:
    """As `check`, of groups alone, whatever joins their rows: what a method promises that makes groups."""
    violations: list[Violation] = []
    for requirement in requirements:
        for condition in requirement.checks(release.data):
            for fragment in fragments_of(release, condition.attribute):
                levels = published_levels(release, fragment, condition)
                failing = np.flatnonzero(~condition.holds(levels))
                if len(failing):
                    violations.extend(_violations(release, fragment, condition, failing, levels))
    return Violations(violations)


def _linked_violations(release: Release, requirements: Sequence[Requirement]) -> Iterator[Violation]:
    """The groups that have rows of people who hide among fewer than k where a pseudonym joins their rows."""
    for requirement in requirements:
        if not isinstance(requirement, KAnonymity):
            continue
        for fragment, group, level in groups_below(release, requirement.k):
            size = int(fragment.partition.sizes[group])
            people = int(release.people_per_group(fragment)[group])
            sentence = (
                f"Group {group} ({counted_text(release, people, size)}) has somebody who "
                f"hides among {counted(level, 'person')} by all rows that the pseudonym "
                f"'{release.data.pseudonym}' joins, but {requirement.label()} asks for at least {requirement.k:,}."
            )
            yield Violation(requirement, None, fragment.name, group, size, float(level), sentence)


def counted_text(release: Release, people: int, rows: int) -> str:
    """How large a group is, in words: its rows, and first its people where these are counted."""
    in_rows = counted(rows, "row")
    if release.data.people is None:
        return in_rows
    return f"{counted(people, 'person')} in {in_rows}"


def _violations(
    release: Release, fragment: Fragment, condition: Check, failing: Groups, levels: Floats
) -> Iterator[Violation]:
    requirement = condition.requirement
    inside = "" if release.is_shared else f" of fragment '{fragment.name}'"
    asks = f"but {requirement.label()} asks for"
    sizes = fragment.partition.sizes[failing].tolist()
    people = release.people_per_group(fragment)[failing].tolist()
    reasons = _reasons(release, fragment, condition, failing)
    columns = zip(failing.tolist(), sizes, people, levels[failing].tolist(), reasons, strict=True)
    for group, size, n_people, level, reason in columns:
        reached, asked = level_texts(level, requirement.threshold)
        sentence = (
            f"Group {group}{inside} ({counted_text(release, n_people, size)}) has "
            f"{requirement.reached_text(level, reached, condition.attribute)}, {asks} "
            f"{requirement.asked_text(asked)}{reason}."
        )
        yield Violation(requirement, condition.attribute, fragment.name, group, size, level, sentence)


def _reasons(release: Release, fragment: Fragment, condition: Check, failing: Groups) -> list[str]:
    """For each failing group, its most frequent value and how frequent that is in the group and in the table."""
    view = condition.values
    if view is None:
        return [""] * len(failing)
    partition, published = published_view(release, fragment, view.attribute)
    sizes, starts, seen = partition.sizes, partition.starts, published.codes[partition.order]
    if published.people is not None:
        sizes, starts, seen = people_and_pairs(partition.order, starts, published.people, published.codes)
    value, count = most_frequent(starts, seen, view.size, view.unique, failing)
    shares = (count / sizes[failing]).tolist()
    table = view.counts / release.data.n_people
    return [
        f"; its most frequent value {view.labels[code]!r} has {share:.0%} of it"
        + ("" if code == view.unique else f" and {table[code]:.0%} of the table")
        for code, share in zip(value.tolist(), shares, strict=True)
    ]
