"""AttackSafe: groups of any method, joined until attacks give nobody away.

Whom an attack gives away, for methods that guard against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, floor
from types import MappingProxyType
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, SerializeAsAny

from anoncore.algorithms.base import AS_METHOD, Algorithm, require_groups
from anoncore.algorithms.joined_groups import Joining, as_read
from anoncore.algorithms.mondrian import Mondrian
from anoncore.attacks.definetti import definetti
from anoncore.attacks.disclosure import attribute_disclosure
from anoncore.attacks.foreground import foreground_knowledge
from anoncore.attacks.foreground.adversary import EPSILONS, Adversary
from anoncore.attacks.foreground.chosen_epsilon import chosen_epsilon
from anoncore.attacks.foreground.mining import Unreliable
from anoncore.base.errors import DataError, InfeasibleError
from anoncore.base.model import TupleOf
from anoncore.base.progress import Progress, part_of, silent
from anoncore.kernels.arrays import Bools, Floats, Int64, record
from anoncore.kernels.rounding import ACCUMULATED, lies_above, stays_within
from anoncore.privacy.check import check
from anoncore.privacy.guarantees import HIDDEN_ATTACK, PersonalGuarantee
from anoncore.release.openness import Minimality, Openness
from anoncore.release.recoding import Exact, Generalized
from anoncore.release.release import Release
from anoncore.requirements import FrequencyDiversity, Requirement
from anoncore.table.microdata import Microdata

Attack = Literal["attribute_disclosure", "definetti", "foreground_knowledge"]
TITLES: Mapping[Attack, str] = MappingProxyType(
    {
        "attribute_disclosure": "the attack on single groups",
        "definetti": "deFinetti's attack",
        "foreground_knowledge": "the attack with foreground knowledge",
    }
)
"""What people call the attacks, in the order in which they are made: those that take longest come last."""
UNRELIABLE: Unreliable = "overall"
SIGMA = 0.9
"""What the adversary assumes who has foreground knowledge."""
SEEDS = range(8)
"""What deFinetti's attack draws with, time after time.

What is believed by chance differs from draw to draw, and the mean is what an adversary believes who knows that.
"""


@record
class Breach:
    """Whom an attack gives away, bool (n_rows,), and which share that is of those whose value needs protection.

    Somebody is given away by a belief above 1 / r in the value that they have.
    """

    attack: Attack
    attribute: str
    given_away: Bools
    share: float

    @classmethod
    def of(
        cls, release: Release, attribute: str, attack: Attack, r: float, epsilon: float, progress: Progress
    ) -> Breach:
        """Attack a release of which every row is another person."""
        own = _own_belief(release, attribute, attack, r, epsilon, progress)
        needs = ~np.isnan(own)
        given_away = np.zeros(len(own), np.bool_)
        given_away[needs] = lies_above(own[needs], 1 / r, ACCUMULATED)
        return cls(attack, attribute, given_away, float(given_away.sum() / max(needs.sum(), 1)))


def _own_belief(
    release: Release, attribute: str, attack: Attack, r: float, epsilon: float, progress: Progress
) -> Floats:
    """What is believed of everybody's own value, NaN where that needs no protection, float (n_rows,)."""
    if attack == "attribute_disclosure":
        return attribute_disclosure(release, attribute).confidence
    if attack == "definetti":
        total = np.zeros(release.data.n_rows)
        for seed in SEEDS:
            within = part_of(progress, seed / len(SEEDS), (seed + 1) / len(SEEDS))
            total += definetti(release, attribute, r, draws=0, starts=1, seed=seed, progress=within).own_belief
        return total / len(SEEDS)
    found = foreground_knowledge(release, attribute, r, epsilon, SIGMA, UNRELIABLE, draws=0, progress=progress)
    return found.own_probability


def chosen_for(release: Release, attribute: str, r: float, progress: Progress) -> float:
    """The epsilon with which foreground knowledge lies farthest above its control on a release; else the largest."""
    best = chosen_epsilon(release, Adversary(attribute, r, SIGMA, UNRELIABLE), progress).best
    return EPSILONS[-1] if best is None else best.epsilon


JOINABLE = ("generalization", "full-domain generalization", "bucketization", "slicing")
"""Families of methods whose groups can be joined so that all that is published of them stays true."""
GIVEN_AWAY, EPSILON = "share given away", "epsilon of the attack with foreground knowledge"
"""Under which names the release keeps what its making found out."""


class AttackSafe(Algorithm):
    """Attacks the release of another method and joins its groups until the attacks give nobody away.

    An attack gives somebody away that believes with more than 1 / r in the value that they have. A belief of that size
    in another value is an error of the adversary. deFinetti's attack makes many, also where nothing is to be learned,
    because it confirms itself in what it drew at random. So it begins eight times, with a seed each, and the mean of
    its beliefs counts, in which what is believed by chance is not the same each time.

    In each round the release is attacked, and every group in which somebody is given away joins another one: of the 32
    whose joining adds least information loss that with which its sensitive values are distributed most as in the whole
    table, and with which it keeps all that the method promises. Groups that are alike in their secrets teach a model
    nothing. The first release is published of which no attack gives away a larger share of the people whose value
    needs protection than `at_most`. Where there is none after `rounds` rounds, or everybody is in one group, the error
    says how few were reached.

    Where `at_most` is 0 and single groups are attacked, frequency l-diversity with l = r is promised too, which readers
    can count in the tables. What the other attacks get they cannot check: these know everybody's own values.

    Notes
    -----
    Assumes: the adversary attacks as is said here. The seeds of deFinetti's attack are 0 to 7; with others, or one
      alone, it may give away more people. The attack with foreground knowledge has sigma 0.9, goes through all
      attribute sets, and has the given epsilon, or else the one that gives most away in the release of the method
      alone, as the notes say.
    Cost: the attacks, up to `rounds` + 1 times. With foreground knowledge each takes O(N n) for a group of N people of
      which n have a value, for every attribute set, which becomes long where groups become large.
    Use: a release shall withstand the attacks on all groups together, whatever method makes it.
    Avoid: many attributes are known of many people. Then deFinetti's attack is sure of some people's values by chance
      alone, and only an `at_most` above that can be kept.

    References
    ----------
    Wong, Fu, Wang, Xu and Yu, 2009, section 7 (groups against the attack with foreground knowledge); joining them, and
    the other attacks, are ours.

    Examples
    --------
    Both people around 20 have the flu. In one class with those around 30, half of the people have:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import AttackSafe, Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> ill = ["flu", "flu", "gout", "cold", "flu", "gout", "cold", "gout"]
    >>> people = pd.DataFrame({"age": [20, 21, 30, 31, 50, 51, 60, 61], "disease": ill})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> mondrian = Mondrian(requirements=[KAnonymity(k=2)])
    >>> sorted(set(mondrian.anonymize(data).tables()["release"]["age"]))
    ['20-21', '30-31', '50-51', '60-61']
    >>> safe = AttackSafe(method=mondrian, r=2, attacks=("attribute_disclosure",))
    >>> sorted(set(safe.anonymize(data).tables()["release"]["age"]))
    ['20-31', '50-51', '60-61']
    """

    name = "attack-safe"
    title = "AttackSafe"
    source = "Wong, Fu, Wang, Xu and Yu 2009, section 7, for any method and further attacks"
    family = "defence"
    group_word = "group"
    summary = "Attacks the release of any method with groups and joins groups until the attacks give nobody away."
    minimality = Minimality(
        Openness.OPEN,
        "Groups are joined where an attack gives somebody away, so which of them are joined depends on who has which "
        "sensitive value, besides what readers learn who know the method that made them.",
    )
    counts_rows = "the attacks that it withstands take each row for another person"

    method: Annotated[
        SerializeAsAny[Algorithm],
        AS_METHOD,
        Field(title="Method", description="Algorithm that makes the groups."),
    ] = Mondrian()
    r: Annotated[
        float,
        Field(gt=1, allow_inf_nan=False, title="r", description="A belief above 1/r in somebody's value is a breach."),
    ] = 2.0
    attacks: Annotated[
        TupleOf[Attack],
        Field(min_length=1, title="Attacks", description="The attacks that the release withstands."),
    ] = tuple(TITLES)
    at_most: Annotated[
        float,
        Field(ge=0, lt=1, title="Most given away", description="Share of the people whom an attack may give away."),
    ] = 0.0
    epsilon: Annotated[
        float | None,
        Field(
            gt=0,
            le=1,
            title="epsilon",
            description="Error that the adversary accepts; by default the one that gives most away at first.",
        ),
    ] = None
    rounds: Annotated[
        int, Field(ge=1, le=50, title="Rounds", description="How often groups are joined before this is given up.")
    ] = 8

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """What the method promises, and for nobody given away by single groups that no value has more than 1 / r."""
        own = (FrequencyDiversity(l=self.r),) if self._counts_single_groups else ()
        return (*self.method.promises(data), *own)

    @property
    def _counts_single_groups(self) -> bool:
        return self.at_most == 0 and "attribute_disclosure" in self.attacks

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError for a method without groups to join, InfeasibleError for a value that most people have."""
        self.require_countable(data)
        if self.method.family not in JOINABLE:
            raise DataError(
                f"{self.method.title} publishes no groups that can be joined so that what is published of them stays "
                "true; attacks.strongest measures what its releases give away. Choose a method that generalizes, such "
                "as Mondrian, or that deals people into groups, such as Anatomy."
            )
        require_groups(self.method)
        self.method.validate_data(data)
        for name in data.require_sensitive():
            most = _largest_share(data, name)
            if self._counts_single_groups and lies_above(most, 1 / self.r, ACCUMULATED):
                raise InfeasibleError(
                    f"r = {self.r:g} is not possible: {most:.1%} of the people have the most frequent value of "
                    f"'{name}', so that some group gives them away however groups are made; choose r at most "
                    f"{1 / most:.4g}, or an at_most above 0.",
                    nearest=None if most == 1 else floor(10_000 / most) / 10_000,
                )

    def personal_guarantees(self, release: Release) -> tuple[PersonalGuarantee, ...]:
        """The largest share of people that one of the attacks gives away; as it was made, or measured where unknown."""
        reached = release.made_with.get(GIVEN_AWAY)
        if reached is None:
            reached = max(one.share for one in self._attacked(release, release.made_with.get(EPSILON), silent))
        holds = bool(stays_within(reached, self.at_most, ACCUMULATED))
        sentence = (
            f"At most {reached:.2%} of the people are given away by a belief above 1/{self.r:g} in their value "
            f"(asked: at most {self.at_most:.2%}), by {self._names}."
        )
        level = f"at most {self.at_most:.4g} given away"
        return (PersonalGuarantee(None, self.at_most, reached, holds, sentence, level, HIDDEN_ATTACK),)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        plain = self.method.anonymize(data, part_of(progress, 0, 0.2))
        self._require_joinable(plain)
        n_before, release = plain.partition.n_groups, as_read(plain)
        epsilon = self._chosen_epsilon(plain, part_of(progress, 0.2, 0.25))
        promises = self.promises(data)
        closest: Breach | None = None
        part = 0.65 / (self.rounds + 1)
        for number in range(self.rounds + 1):
            within = part_of(progress, 0.25 + part * number, 0.25 + part * (number + 1))
            breaches = self._attacked(release, epsilon, within)
            worst = max(breaches, key=lambda breach: breach.share)
            if not check(release, promises) and self._keeps_persons(release):
                if stays_within(worst.share, self.at_most, ACCUMULATED):
                    return self._published(release, n_before, number, epsilon, worst.share)
                if closest is None or worst.share < closest.share:
                    closest = worst
            if release.partition.n_groups == 1 or number == self.rounds:
                break
            release = self._joined(release, breaches)
        raise self._infeasible(closest or worst)

    def _require_joinable(self, release: Release) -> None:
        recodings = [one for fragment in release.fragments for one in fragment.recodings.values()]
        if not release.is_shared or not all(isinstance(one, Generalized) or type(one) is Exact for one in recodings):
            raise DataError(
                f"{self.method.title} publishes no groups with these parameters that all tables share and that can be "
                "joined; choose others, or another method."
            )

    def _keeps_persons(self, release: Release) -> bool:
        """Whether what the method promises about people rather than groups holds in the release too."""
        return all(guarantee.holds for guarantee in self.method.personal_guarantees(release))

    def _chosen_epsilon(self, release: Release, progress: Progress) -> float:
        if self.epsilon is not None or "foreground_knowledge" not in self.attacks:
            return EPSILONS[-1] if self.epsilon is None else self.epsilon
        return max(chosen_for(release, name, self.r, progress) for name in release.data.sensitive)

    def _attacked(self, release: Release, epsilon: float | None, progress: Progress) -> Sequence[Breach]:
        """What every attack gets, on every sensitive attribute."""
        chosen = self._chosen_epsilon(replace(release, algorithm=None), silent) if epsilon is None else epsilon
        attempts = [(attack, name) for attack in TITLES if attack in self.attacks for name in release.data.sensitive]
        return [
            Breach.of(
                release, name, attack, self.r, chosen, part_of(progress, n / len(attempts), (n + 1) / len(attempts))
            )
            for n, (attack, name) in enumerate(attempts)
        ]

    def _joined(self, release: Release, breaches: Sequence[Breach]) -> Release:
        """The release with every group joined with another one in which an attack gives somebody away.

        Whom it gives away does not depend on `at_most`, so that a larger one never asks for more rounds.
        """
        failing = np.zeros(release.partition.n_groups, np.bool_)
        for breach in breaches:
            failing[release.partition.group[breach.given_away]] = True
        # Whose group breaks a promise about people is not known.
        failing |= not self._keeps_persons(release)
        # Somebody in several buckets may be safe where the value has too large a share of one of them.
        required = self.method.promises(release.data) if failing.any() else self.promises(release.data)
        return _JoiningAlike(release, required, failing).run()

    @property
    def _names(self) -> str:
        titles = [title for attack, title in TITLES.items() if attack in self.attacks]
        return " and ".join(filter(None, (", ".join(titles[:-1]), titles[-1])))

    def _published(self, release: Release, n_before: int, number: int, epsilon: float, reached: float) -> Release:
        with_what = f" (epsilon {epsilon:g}, sigma {SIGMA:g})" if "foreground_knowledge" in self.attacks else ""
        joined = (
            f"{n_before:,} groups of {self.method.title} were joined to {release.partition.n_groups:,} in {number} "
            f"{'round' if number == 1 else 'rounds'}"
            if number
            else f"No group of {self.method.title} had to be joined"
        )
        note = (
            f"{joined}. Given away by a belief above 1/{self.r:g} in their value are at most {reached:.2%} of the "
            f"people, by {self._names}{with_what}."
        )
        made_with = {**release.made_with, GIVEN_AWAY: reached, EPSILON: epsilon}
        return replace(release, algorithm=self, notes=(*release.notes, note), made_with=made_with)

    def _infeasible(self, closest: Breach) -> InfeasibleError:
        nearest = ceil(10_000 * closest.share) / 10_000
        is_of_use = self.at_most < nearest < 1
        advice = f"choose at_most at least {nearest:g}, or" if is_of_use else "choose"
        return InfeasibleError(
            f"at_most = {self.at_most:g} was not reached in {self.rounds} rounds: at best, {TITLES[closest.attack]} "
            f"gives away {int(closest.given_away.sum()):,} people ({closest.share:.2%}), in '{closest.attribute}' by a "
            f"belief above 1/{self.r:g}; "
            f"{advice} a smaller r, fewer attacks or another method.",
            nearest=nearest if is_of_use else None,
        )


class _JoiningAlike(Joining):
    """Groups are joined so that each has the sensitive values of the whole table in much the same shares."""

    def _partner(self, group: int, nearest: Int64) -> int:
        apart = np.zeros(len(nearest))
        for name in self.release.data.sensitive:
            codes, size = self.release.published_codes(name), len(self.release.data.domain[name])
            whole = np.bincount(codes, minlength=size) / len(codes)
            own = np.bincount(codes[self.members[group]], minlength=size)
            for place, other in enumerate(nearest.tolist()):
                counts = own + np.bincount(codes[self.members[other]], minlength=size)
                apart[place] += np.abs(counts / counts.sum() - whole).sum()
        order = np.argsort(np.round(apart, 9), kind="stable")
        return self._first_holding(group, nearest[order].tolist())


def _largest_share(data: Microdata, name: str) -> float:
    """The share of the people who have the most frequent value that needs protection."""
    view = data.sensitive_view(name)
    counts = np.bincount(view.codes, minlength=view.size)
    return float((counts if view.unique < 0 else counts[: view.unique]).max() / data.n_rows)
