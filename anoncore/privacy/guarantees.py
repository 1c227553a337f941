"""What an algorithm promised or was asked for, and what its release reaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.number import measure
from anoncore.base.showing import Result
from anoncore.base.texts import plural
from anoncore.kernels.arrays import Floats
from anoncore.privacy.published import fragments_of, published_levels, worst_group
from anoncore.release.release import Release
from anoncore.requirements.requirement import Check, Comparison, Requirement

HIDDEN_NOISE = "no table can show how much noise went into it; it is the promise of the method that made it"
HIDDEN_ATTACK = "the attacks know everybody's own values, which only the original table has"
"""Why no table can show what a method promises of everybody."""


@dataclass(frozen=True)
class Guarantee(Result):
    """What one requirement asks of one attribute, and what the worst group of a release reaches.

    Attributes
    ----------
    requirement : Requirement
        The requirement that is judged.
    attribute : str or None
        The sensitive attribute that it is about; None where it is about group sizes alone.
    asked : float
        The threshold that every group must keep, in the unit of the requirement.
    reached : float
        The level of the worst group, in the same unit.
    holds : bool
        Whether every group keeps the threshold.
    n_groups : int
        Groups that were judged.
    n_violations : int
        Groups that fail.
    fragment : str
        Name of the fragment of the worst group.
    group : int
        Number of the worst group in that fragment.
    sentence : str
        All of this in one sentence for people.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> (guarantee,) = privacy.guarantees(release)
    >>> guarantee.asked, guarantee.reached, guarantee.holds
    (2.0, 3.0, True)
    """

    requirement: Requirement
    attribute: str | None
    asked: float
    reached: float
    holds: bool
    n_groups: int
    n_violations: int
    fragment: str
    group: int
    sentence: str


@dataclass(frozen=True)
class PersonalGuarantee(Result):
    """A promise about every person rather than every group, and what the person has for whom it is kept worst.

    Attributes
    ----------
    attribute : str or None
        The sensitive attribute that the promise is about; None where it is about whose row is whose, or about all that
        a person's rows hold.
    asked : float
        The level that the method promises to everybody.
    reached : float
        The level of the worst-off person, in the same unit.
    holds : bool
        Whether everybody has the promised level.
    sentence : str
        All of this in one sentence for people.
    level : str
        What is promised in a few words, such as `epsilon = 1`, where no table can show it; else empty.
    hidden : str
        Why no table can show it, as the end of a sentence; else empty.

    Examples
    --------
    Slicing with l = 2 promises that nobody's value is believed with more than 1/2. With two diseases in equal parts in
    one bucket, everybody has exactly that:

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Slicing
    >>> people = pd.DataFrame({"age": [21, 22, 23, 24], "disease": ["flu", "flu", "cold", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Slicing(l=2, columns=2).anonymize(data)
    >>> (guarantee,) = privacy.personal_guarantees(release)
    >>> guarantee.asked, guarantee.reached, guarantee.holds
    (2.0, 2.0, True)
    """

    attribute: str | None
    asked: float
    reached: float
    holds: bool
    sentence: str
    level: str = ""
    hidden: str = ""


@measure(title="Promises about people")
@checked
def personal_guarantees(release: Release) -> tuple[PersonalGuarantee, ...]:
    """What the release's algorithm promises about every person, measured in what is published.

    Methods such as slicing bound what an adversary believes of a person who may be in several groups. No group's level
    tells whether that holds, so the method itself measures it.

    Parameters
    ----------
    release : Release
        The release whose algorithm made the promise.

    Returns
    -------
    tuple of PersonalGuarantee
        One entry per promise; empty where the algorithm promises nothing about people, or is not known.

    Notes
    -----
    Assumes: the adversary is the one of the method's own definition.
    Cost: that of the method's own check.
    Use: a method such as slicing bounds beliefs in people, not levels of groups.
    Avoid: a method makes promises about groups: see `guarantees`.

    References
    ----------
    The definition of the method that made the release.

    Examples
    --------
    Mondrian promises something about groups, and nothing about people beyond that:

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian, Slicing
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 24], "disease": ["flu", "flu", "cold", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> privacy.personal_guarantees(Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data))
    ()
    >>> (guarantee,) = privacy.personal_guarantees(Slicing(l=2, columns=2).anonymize(data))
    >>> guarantee.holds
    True
    """
    return () if release.algorithm is None else release.algorithm.personal_guarantees(release)


@measure(title="Promised and reached")
@checked
def guarantees(release: Release, requirements: Sequence[Requirement] = ()) -> tuple[Guarantee, ...]:
    """What the release's algorithm promises and was asked for, beside what the worst group reaches.

    Every requirement is judged on every sensitive attribute that it covers, by what is published. Requirements that
    occur twice are judged once.

    Parameters
    ----------
    release : Release
        The release that is judged.
    requirements : sequence of Requirement
        Further conditions to judge, after those of the algorithm.

    Returns
    -------
    tuple of Guarantee
        One entry per requirement and sensitive attribute that it covers; empty where the algorithm is not known and no
        requirement is given.

    Raises
    ------
    DataError
        Where a requirement does not fit the table.
    ReleaseError
        Where an attribute's single values are not published.

    Notes
    -----
    Assumes: the algorithm and its parameters are those recorded in the release.
    Cost: one pass over the groups per requirement.
    Use: what was promised is to be set beside what was reached.
    Avoid: nothing was promised: `profile` says what is reached anyway.

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
    >>> for guarantee in privacy.guarantees(release, [DistinctDiversity(l=2)]):
    ...     print(guarantee.requirement.label(), guarantee.reached, guarantee.holds)
    k-anonymity (k = 3) 3.0 True
    distinct l-diversity (l = 2) 1.0 False
    """
    return judged(release, [*dict.fromkeys([*asked_of(release), *requirements])])


def asked_of(release: Release) -> tuple[Requirement, ...]:
    """The requirements that the release's algorithm promises and those that it was asked for, each once."""
    method = release.algorithm
    if method is None:
        return ()
    asked = getattr(method, "requirements", ()) if method.judged_by_groups else ()
    return tuple(dict.fromkeys([*release.promises, *asked]))


def judged(release: Release, requirements: Sequence[Requirement]) -> tuple[Guarantee, ...]:
    """What the worst group of the release reaches of these requirements alone, whatever its algorithm promises."""
    return tuple(_guarantee(release, check, levels) for check, levels in _measured(release, requirements))


def broken(release: Release, requirements: Sequence[Requirement]) -> list[Guarantee]:
    """Those of `judged` that do not hold, by groups alone, whatever joins their rows."""
    return [
        _guarantee(release, check, levels)
        for check, levels in _measured(release, requirements)
        if not all(check.holds(level).all() for level in levels.values())
    ]


def _measured(release: Release, requirements: Sequence[Requirement]) -> Iterator[tuple[Check, dict[str, Floats]]]:
    """The checks of requirements with the levels of all groups, by fragment."""
    for requirement in requirements:
        for check in requirement.checks(release.data):
            fragments = fragments_of(release, check.attribute)
            yield check, {fragment.name: published_levels(release, fragment, check) for fragment in fragments}


def _guarantee(release: Release, check: Check, levels: dict[str, Floats]) -> Guarantee:
    requirement = check.requirement
    worst, group = worst_group(levels, requirement.comparison is Comparison.AT_LEAST)
    reached = float(levels[worst][group])
    failing = sum(int((~check.holds(level)).sum()) for level in levels.values())
    total = sum(map(len, levels.values()))
    return Guarantee(
        requirement=requirement,
        attribute=check.attribute,
        asked=requirement.threshold,
        reached=reached,
        holds=failing == 0,
        n_groups=total,
        n_violations=failing,
        fragment=worst,
        group=group,
        sentence=_sentence(release, check, reached, failing, total),
    )


def _sentence(release: Release, check: Check, reached: float, failing: int, total: int) -> str:
    requirement = check.requirement
    level, threshold = level_texts(reached, requirement.threshold)
    if release.data.people is not None and check.attribute is None:
        level = f"{level} {plural('person', int(reached))}"
    state = "holds" if failing == 0 else f"fails in {failing:,} of {total:,} groups"
    return (
        f"{requirement.label()} {state}: the worst group has "
        f"{requirement.reached_text(reached, level, check.attribute)} "
        f"(asked: {requirement.asked_text(threshold)})."
    )


def level_texts(level: float, threshold: float) -> tuple[str, str]:
    """A level and its threshold as texts, in as few digits as tell them apart."""
    texts = _number(level, 4), _number(threshold, 4)
    for digits in (6, 9, 12):
        if texts[0] != texts[1] or level == threshold:
            break
        texts = _number(level, digits), _number(threshold, digits)
    return texts


def _number(value: float, digits: int) -> str:
    if np.isinf(value):
        return "infinite"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:.{digits}g}"
