"""deFinetti's attack: what a model says of people's secrets that learns from all groups of a release at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from anoncore.attacks.coarse_values import coarse_values
from anoncore.attacks.foreground.control import Excess, beside_control, shuffled_release
from anoncore.attacks.rows_counted import rows_counted
from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.base.number import ONE_PARTITION, RISK, measure
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.random_numbers import generator
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.kernels.grouping import numbered_inside_groups, owners, places_in, starts_of
from anoncore.kernels.rounding import ACCUMULATED, lies_above, reaches
from anoncore.kernels.secret_assignments import swap_secrets, weigh_entries
from anoncore.privacy.published import Cells, key_inside_groups
from anoncore.release.recoding import ColumnRegions, Generalized, Recoding
from anoncore.release.release import Release
from anoncore.table.domain import Domain

Learning = Literal["assignments", "regions"]
STARTS, BURN_IN, SAMPLES = 4, 50, 100
"""Random assignments to begin with, rounds of swaps that are not counted, and rounds that are."""

DEFINETTI_BREACH = replace(
    RISK,
    name="definetti-breach",
    title="Breached by deFinetti's attack",
    template=(
        "Share of the people with a protected value of {attribute} in which deFinetti's attack believes with more than "
        "1/{r}."
    ),
    source="Kifer, SIGMOD 2009",
    baseline="the same share for an adversary who takes every possible world for equally likely.",
    release_forms=ONE_PARTITION,
    of_attribute=True,
    is_slow=True,
    short="Breached",
)
DEFINETTI_CONTROL, DEFINETTI_EXCESS = beside_control(
    DEFINETTI_BREACH,
    "Share of the people with a protected value of {attribute} in which deFinetti's attack believes with more than "
    "1/{r}, less the same share on shuffled secrets.",
)
DEFINETTI_RIGHT = replace(
    DEFINETTI_BREACH,
    name="definetti-right",
    title="Right guesses of deFinetti's attack",
    template=(
        "Share of the people with a protected value of {attribute} whose value is the one that deFinetti's attack "
        "believes in most."
    ),
    baseline="the same share for an adversary who takes every possible world for equally likely.",
    short="Right guesses",
)


@record
class DeFinetti(Result):
    """What deFinetti's attack believes about people.

    The baseline of the scores is what an adversary has who takes every possible world for equally likely.

    Attributes
    ----------
    attribute : str
        The sensitive attribute that is attacked.
    r : float
        A breach is a belief above 1 / r.
    belief : ndarray of float, shape (n_rows,)
        The strongest belief about each person in a protected value, in original row order.
    own_belief : ndarray of float, shape (n_rows,)
        The belief in each person's own value; NaN where that needs no protection.
    without_attack : ndarray of float, shape (n_rows,)
        The belief in each person's own value if all possible worlds are equally likely; NaN as before.
    recall : Score
        Share of the people with a protected value who are believed above 1 / r to have it.
    control : Score
        The mean recall of the same attack on releases in which nothing ties the secret to what is known. NaN without
        draws.
    excess : Score
        Recall less control: what the release gives away.
    control_interval, excess_interval : tuple of float
        95% intervals. That of the excess holds 0 for 19 of 20 tables with shuffled secrets.
    right : Score
        Share of the people with a protected value whose most believed value is theirs; of values that are believed in
        alike, one is taken at random.
    right_by_chance : float
        The mean of that share on the controls; NaN without draws.
    learns_from : {"assignments", "regions"}
        What the model was learned from.
    notes : tuple of str
        What to know of the numbers, in sentences.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 44, 46], "disease": ["flu", "flu", "cold", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> found = attacks.definetti(release, "disease", draws=0)
    >>> found.own_belief[:2].tolist(), found.without_attack.tolist()
    ([1.0, 1.0], [1.0, 1.0, 0.5, 0.5])
    """

    attribute: str
    r: float
    belief: Floats
    own_belief: Floats
    without_attack: Floats
    recall: Score
    control: Score
    excess: Score
    control_interval: tuple[float, float]
    excess_interval: tuple[float, float]
    right: Score
    right_by_chance: float
    learns_from: Learning
    notes: tuple[str, ...]


@measure(DEFINETTI_BREACH, DEFINETTI_CONTROL, DEFINETTI_EXCESS, DEFINETTI_RIGHT, title="deFinetti's attack")
@checked
def definetti(
    release: Release,
    attribute: str,
    r: float = 2.0,
    learns_from: Learning = "assignments",
    draws: int = 3,
    starts: int = STARTS,
    burn_in: int = BURN_IN,
    samples: int = SAMPLES,
    seed: int = 0,
    progress: Progress | None = None,
) -> DeFinetti:
    """What an adversary believes who learns from all groups together how the secret goes with what is known.

    Random worlds take every assignment of a group's secrets to its people for equally likely. But people who are alike
    tend to have the same secrets, and the other groups tell which: so some assignments are likelier than others.

    - Learning from assignments, a naive Bayes model and an assignment of the secrets to the people of each group
      improve each other in turn. The assignment begins at random. In each round the model is estimated from it, with 1
      added to every count, and everybody is offered to swap secrets with another person of their group: they do with
      probability rho / (1 + rho), where rho is what the model finds the swap to be worth. Model and assignment may
      confirm each other in an error that swaps hardly leave again, so this begins `starts` times. After `burn_in`
      rounds the likeliest assignment goes on alone, and those of the next `samples` rounds are averaged.
    - Learning from regions, the model is estimated from one generalized table alone, in whose regions every value is
      equally likely. A person's group says how many people have which secret, and the model, which of them are likely
      to be like this person. The adversary then needs to know nobody but this person, and gets less.

    Where columns publish what is known beside the secret, only people who look alike there can swap. Of numbers with
    many values the model knows 32 ranges with about as many people, of categories the 255 most frequent ones.

    Parameters
    ----------
    release : Release
        The release that the adversary reads.
    attribute : str
        The sensitive attribute whose value is guessed.
    r : float
        A breach is a belief above 1 / r; at least 1.
    learns_from : {"assignments", "regions"}
        What the model is learned from.
    draws : int
        How often the secret is shuffled for the control; 0 makes none.
    starts : int
        How many random assignments the swaps begin with; at least 1.
    burn_in, samples : int
        Rounds of swaps before the assignments are averaged, and rounds over which they are; at least 1 of these.
    seed : int
        Draws the assignments and the controls.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop the attack.

    Returns
    -------
    DeFinetti
        The beliefs about every person, beside those of random worlds and those on shuffled secrets.

    Raises
    ------
    ReleaseError
        For fragments with partitions of their own, an attribute that is generalized, or where regions are to be learned
        from and several tables are published.
    DataError
        Without quasi-identifiers, or for an attribute that the table lacks.
    ParameterError
        For a number out of range.

    Notes
    -----
    Assumes: the adversary knows everybody's quasi-identifiers and group, and has only the release to learn from.
    Cost: O(n d) a round for n people and d known attributes, in `starts` * `burn_in` + `samples` rounds; four times
      with three controls, for each of which the method runs once more.
    Use: a release hides who of a group has which of its secrets, whichever method made it.
    Avoid: fragments have partitions of their own.

    References
    ----------
    Kifer, Attacks on privacy and deFinetti's theorem, SIGMOD 2009. The control and the several starts are ours.

    Examples
    --------
    Smokers have cancer and others have the flu, in twenty groups of one of each. No group tells who has which, and the
    attack finds out:

    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"smokes": ["yes", "no"] * 20, "disease": ["cancer", "flu"] * 20})
    >>> people.loc[:3] = [["yes", "cancer"], ["yes", "cancer"], ["no", "flu"], ["no", "flu"]]
    >>> data = Microdata(people, roles={"smokes": "quasi-identifier", "disease": "sensitive"})
    >>> pairs = Partition([row // 2 for row in range(40)])
    >>> exact = {name: Exact(data.domain[name], pairs, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, pairs, {name: exact[name]}) for name in exact))
    >>> found = attacks.definetti(release, "disease", draws=0)
    >>> round(found.right, 2), round(found.right.baseline, 2)
    (1.0, 0.55)
    """
    release.require_people("Who of a group has which of its secrets is asked of people")
    if not r >= 1:
        raise ParameterError(f"r must be at least 1, so that 1 / r is a probability, not {r}.")
    if draws < 0 or burn_in < 0 or samples < 1 or starts < 1:
        raise ParameterError(
            "draws and burn_in are at least 0, starts and samples at least 1; given were "
            f"draws {draws}, burn_in {burn_in}, starts {starts} and samples {samples}."
        )
    if learns_from == "regions" and len(release.fragments) > 1:
        raise ReleaseError("Regions are those of one generalized table, but this release has several fragments.")
    report = silent if progress is None else progress
    release.data.require_quasi_identifiers()
    rounds = _Rounds(starts, burn_in, samples) if learns_from == "assignments" else None
    part = 1 / (draws + 1)
    beliefs = _Beliefs.of(release, attribute, None, rounds, seed, part_of(report, 0, part))
    by_chance, rights, notes = [], [], list(rows_counted(release))
    for draw in range(draws):
        making = part_of(report, part * (draw + 1), part * (draw + 1.5))
        learning = part_of(report, part * (draw + 1.5), part * (draw + 2))
        control, source, note = shuffled_release(release, attribute, seed + 1 + draw, making)
        found = _Beliefs.of(control, attribute, source, rounds, seed + 1 + draw, learning)
        by_chance.append(found.recall(r))
        rights.append(found.mean(found.right))
        notes += [note] if note and note not in notes else []
    beside = Excess.of(beliefs.recall(r), by_chance, int(beliefs.needs.sum()))
    words = {"attribute": f"'{attribute}'", "r": f"{r:g}"}
    guess = beliefs.mean(lies_above(beliefs.own_without, 1 / r, ACCUMULATED))
    return DeFinetti(
        attribute=attribute,
        r=r,
        belief=beliefs.strongest,
        own_belief=np.where(beliefs.needs, beliefs.own, np.nan),
        without_attack=np.where(beliefs.needs, beliefs.own_without, np.nan),
        recall=Score(beliefs.recall(r), DEFINETTI_BREACH, baseline=guess, words=words),
        **beside.scores(DEFINETTI_CONTROL, DEFINETTI_EXCESS, words),
        right=Score(
            beliefs.mean(beliefs.right), DEFINETTI_RIGHT, baseline=beliefs.mean(beliefs.right_without), words=words
        ),
        right_by_chance=float(np.mean(rights)) if rights else float("nan"),
        learns_from=learns_from,
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class _Rounds:
    """How many random assignments are begun with, rounds of swaps for each, and rounds of the likeliest averaged."""

    starts: int
    burn_in: int
    samples: int


@record
class _Beliefs:
    """Beliefs about every person by the attack and by random worlds, float (n_rows,): the strongest one, that in their
    own value, and the chance that the most believed value is theirs. `needs`: whether the own value needs protection.
    """

    needs: Bools
    strongest: Floats
    own: Floats
    right: Floats
    own_without: Floats
    right_without: Floats

    @classmethod
    def of(
        cls,
        release: Release,
        attribute: str,
        source: Int64 | None,
        rounds: _Rounds | None,
        seed: int,
        progress: Progress,
    ) -> _Beliefs:
        """Attack a release, or one in which each row has the secret of the row `source` int64 (n_rows,).

        Without `rounds`, the model learns from regions.
        """
        data = release.data
        data.require_sensitive(attribute)
        groups = _Groups.of(release, attribute, source)
        names = tuple(name for name in data.quasi_identifiers if name != attribute)
        features = _Features.of(release, names)
        if rounds is None:
            belief = _by_model_alone(release, groups, features)
        else:
            belief = _by_assignments(groups, features, rounds, seed, progress)
        view = data.sensitive_view(attribute)
        true = view.codes if source is None else view.codes[source]
        protected = None if view.unique < 0 else data.sensitive_view(attribute, _all_codes(len(data.domain[attribute])))
        return cls._summed_up(groups, belief, true, None if protected is None else protected.codes == 0)

    @classmethod
    def _summed_up(cls, groups: _Groups, belief: Floats, true: Codes, protected: Bools | None) -> _Beliefs:
        own_entry = groups.entry_of(true.astype(np.int64)) if protected is None else None
        figures = []
        for share in (belief, groups.random_worlds):
            if protected is not None:
                in_set = np.where(protected[groups.code_of_belief], share, 0.0)
                strongest = np.add.reduceat(in_set, groups.first[:-1])
                # Whether somebody has one of the protected values is guessed by which is likelier.
                own, right = strongest, _chance_above(strongest, 0.5)
            else:
                assert own_entry is not None
                strongest = np.maximum.reduceat(share, groups.first[:-1])
                own = np.where(own_entry >= 0, share[np.maximum(own_entry, 0)], 0.0)
                is_most = reaches(share, np.repeat(strongest, np.diff(groups.first)), ACCUMULATED)
                ties = np.add.reduceat(is_most.astype(np.float64), groups.first[:-1])
                right = np.where(own_entry >= 0, is_most[np.maximum(own_entry, 0)] / ties, 0.0)
            figures.append([of_place[groups.place] for of_place in (strongest, own, right)])
        (strongest, own, right), (_, own_without, right_without) = figures
        needs = np.ones(len(true), np.bool_) if protected is None else true == 0
        return cls(needs, strongest, own, right, own_without, right_without)

    def mean(self, share: Floats | Bools) -> float:
        """The mean over people whose value needs protection."""
        return float(share[self.needs].mean())

    def recall(self, r: float) -> float:
        """Share of those who are believed above 1 / r to have their value."""
        return self.mean(lies_above(self.own, 1 / r, ACCUMULATED))


def _chance_above(belief: Floats, limit: float) -> Floats:
    """1 where a belief lies above the limit, 1/2 where it is the limit, else 0."""
    above, below = lies_above(belief, limit, ACCUMULATED), ~reaches(belief, limit, ACCUMULATED)
    return np.where(above, 1.0, np.where(below, 0.0, 0.5))


def _all_codes(size: int) -> Codes:
    return np.arange(size, dtype=np.int32)


@record
class _Groups:
    """People whom nothing published tells apart, with the secrets that they have among them.

    People stand at places: those of group g at `starts[g]:starts[g + 1]`, `order` int64 (n_rows,) is the row at each
    place and `place` the place of each row. The group has the secrets `code[entry_start[g]:entry_start[g + 1]]`,
    ascending, each of `count` float people; `secret_entry` int64 (n_rows,) is the entry of each place's published
    secret. Beliefs about the person at a place begin at `first[place]`, one per entry of their group.
    """

    order: Int64
    place: Int64
    starts: Int64
    group: Int64
    domain: Domain
    entry_start: Int64
    code: Int64
    count: Floats
    secret_entry: Int64
    first: Int64

    @classmethod
    def of(cls, release: Release, attribute: str, source: Int64 | None) -> _Groups:
        """The groups of a shared partition, in which only what is published beside the secret tells people apart."""
        partition, data = release.partition, release.data
        published = release.published_codes(attribute)
        secret = (published if source is None else published[source]).astype(np.int64)
        known = set(data.quasi_identifiers) - {attribute}
        fragment = release.fragment_of(attribute)
        cell = Cells.of(partition, key_inside_groups(fragment, known)).of_row.astype(np.int64)
        # Neither the numbers of groups nor the order of rows have a part in what is drawn.
        rank = np.empty(data.n_rows, np.int64)
        rank[data.canonical_order] = np.arange(data.n_rows)
        first_rank = np.full(int(cell.max()) + 1, data.n_rows)
        np.minimum.at(first_rank, cell, rank)
        cell = np.argsort(np.argsort(first_rank))[cell]
        order = np.lexsort((rank, cell))
        group = cell[order]
        starts = starts_of(np.bincount(group))
        entry, of_group, code, count = numbered_inside_groups(group, secret[order])
        entry_start = starts_of(np.bincount(of_group, minlength=len(starts) - 1))
        return cls(
            order=order,
            place=np.argsort(order),
            starts=starts,
            group=group,
            domain=data.domain[attribute],
            entry_start=entry_start,
            code=code,
            count=count.astype(np.float64),
            secret_entry=entry,
            first=starts_of(np.diff(entry_start)[group]),
        )

    @property
    def entry_of_belief(self) -> Int64:
        """The entry that each belief is about, int64 (n_beliefs,)."""
        n_beliefs = np.diff(self.first)
        return np.arange(self.first[-1]) - np.repeat(self.first[:-1] - self.entry_start[self.group], n_beliefs)

    @property
    def code_of_belief(self) -> Int64:
        """The secret that each belief is about, int64 (n_beliefs,)."""
        return self.code[self.entry_of_belief]

    @property
    def random_worlds(self) -> Floats:
        """What is believed where every assignment is equally likely, float (n_beliefs,)."""
        sizes = np.diff(self.starts)[self.group]
        return self.count[self.entry_of_belief] / np.repeat(sizes, np.diff(self.first))

    def entry_of(self, code: Int64) -> Int64:
        """Where the belief in some code of each row is, by place; -1 where no one of the group has it."""
        keys = owners(np.diff(self.entry_start)) * len(self.domain) + self.code
        wanted = self.group * len(self.domain) + code[self.order]
        entry, is_there = places_in(keys, wanted)
        at = self.first[:-1] + entry - self.entry_start[self.group]
        return np.where(is_there, at, -1)


@record
class _Features:
    """What the model knows of people: a feature per known attribute, numbered over all of them.

    `value` int32 (n_rows, n_attributes); the features of attribute a are `begin[a]:begin[a + 1]`, and `coarse[a]` int32
    (n_codes,) is the feature of each of its codes, counted from 0.
    """

    names: tuple[str, ...]
    value: Codes
    begin: Int64
    coarse: tuple[Codes, ...]

    @classmethod
    def of(cls, release: Release, names: Sequence[str]) -> _Features:
        data = release.data
        coarse = [coarse_values(data.domain[name], data.codes[name]) for name in names]
        begin = starts_of(np.array([int(one.max()) + 1 for one in coarse], np.int64))
        columns = [one[data.codes[name]] + begin[a] for a, (name, one) in enumerate(zip(names, coarse, strict=True))]
        value = np.column_stack(columns).astype(np.int32)
        return cls(tuple(names), value, begin, tuple(coarse))

    def log_chances(self, counts: Floats, of_class: Floats) -> Floats:
        """The logarithm of the chance of each feature in each class, by counts (n_features, n_classes), 1 added each.

        `of_class` float (n_classes,) are the people of each class.
        """
        sizes = np.repeat(np.diff(self.begin), np.diff(self.begin))
        return np.log((counts + 1) / (of_class + sizes[:, None]))


def _by_assignments(groups: _Groups, features: _Features, rounds: _Rounds, seed: int, progress: Progress) -> Floats:
    """How often everybody has each secret of their group in assignments that the model finds likely."""
    from scipy.special import gammaln

    rng = generator(seed)
    value = features.value[groups.order]
    class_of_code = coarse_values(groups.domain, groups.code[groups.secret_entry])
    classes = class_of_code[groups.code]
    n_classes, n_features = int(classes.max()) + 1, int(features.begin[-1])
    of_class = np.bincount(classes[groups.secret_entry], minlength=n_classes).astype(np.float64)
    n_rounds = rounds.starts * rounds.burn_in + rounds.samples
    done = 0

    def counted(secret: Int64) -> Floats:
        """How many people of each class have each feature, float (n_features, n_classes)."""
        keys = (value.astype(np.int64) * n_classes + classes[secret][:, None]).ravel()
        return np.bincount(keys, minlength=n_features * n_classes).reshape(n_features, n_classes).astype(np.float64)

    def swap(secret: Int64, counts: Floats) -> None:
        nonlocal done
        log_chance = features.log_chances(counts, of_class)
        partner, chance = rng.random(len(secret)), rng.random(len(secret))
        swap_secrets(value, groups.starts, secret, classes, log_chance, partner, chance, counts)
        done += 1
        progress(done / n_rounds, "Assigning secrets to people")

    likeliest, highest = groups.secret_entry, 0.0
    counts_of_likeliest = counted(likeliest)
    for number in range(rounds.starts):
        # Each place's secret has the number of its entry, so that places with equal secrets are alike.
        secret = groups.secret_entry[np.lexsort((rng.random(len(groups.order)), groups.group))]
        counts = counted(secret)
        for _ in range(rounds.burn_in):
            swap(secret, counts)
        # The logarithm of an assignment's probability over all models, less what all assignments have in common.
        likelihood = float(gammaln(counts + 1).sum())
        if number == 0 or lies_above(likelihood, highest, ACCUMULATED):
            likeliest, counts_of_likeliest, highest = secret, counts, likelihood
    count = np.zeros(int(groups.first[-1]))
    at = groups.first[:-1] - groups.entry_start[groups.group]
    for _ in range(rounds.samples):
        swap(likeliest, counts_of_likeliest)
        count[at + likeliest] += 1.0
    return count / rounds.samples


def _by_model_alone(release: Release, groups: _Groups, features: _Features) -> Floats:
    """What a model learned from published regions says of people in the regions of their own group."""
    class_of_code = coarse_values(groups.domain, groups.code[groups.secret_entry])
    classes = class_of_code[groups.code]
    n_classes = int(classes.max()) + 1
    n_groups = len(groups.starts) - 1
    group_of_entry = owners(np.diff(groups.entry_start))
    row = groups.order[groups.starts[:-1]]
    counts = np.empty((int(features.begin[-1]), n_classes))
    of_class = np.bincount(classes, weights=groups.count, minlength=n_classes).astype(np.float64)
    masses = []
    for a, (name, coarse) in enumerate(zip(features.names, features.coarse, strict=True)):
        recoding = release.recoding(name)
        mass = np.column_stack([_mass(recoding, coarse == b, row) for b in range(int(coarse.max()) + 1)])
        for b in range(mass.shape[1]):
            weights = groups.count * mass[group_of_entry, b]
            counts[features.begin[a] + b] = np.bincount(classes, weights=weights, minlength=n_classes)
        masses.append(mass / np.bincount(coarse))
    log_chance = features.log_chances(counts, of_class)
    log_region = np.zeros((n_groups, n_classes))
    for a, mass in enumerate(masses):
        log_region += np.log(mass @ np.exp(log_chance[features.begin[a] : features.begin[a + 1]]))
    belief = np.empty(int(groups.first[-1]))
    value = features.value[groups.order]
    weigh_entries(
        value,
        groups.starts,
        groups.entry_start,
        groups.count,
        classes,
        log_chance,
        log_region,
        groups.first,
        belief,
    )
    return belief


def _mass(recoding: Recoding, wanted: Bools, row: Int64) -> Floats:
    """The share of the values that some rows' cells allow which are wanted, float (len(row),)."""
    if isinstance(recoding, ColumnRegions):
        return recoding.classes.mass(wanted)[recoding.classes.partition.group[row]]
    if isinstance(recoding, Generalized):
        return recoding.mass(wanted)[recoding.partition.group[row]]
    return wanted[recoding.content()[0][row]].astype(np.float64)
