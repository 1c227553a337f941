"""What facts leave of the possible worlds: who can have which value, who must, and how many of some people do.

The ways to deal the secrets of a group to its people, where some people cannot have some secrets.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from anoncore.attacks.foreground.facts import Fact
from anoncore.base.errors import DataError
from anoncore.kernels.arrays import Bools, Codes, Int64, record
from anoncore.kernels.grouping import distinct
from anoncore.release.release import Release

Allowed = tuple[tuple[bool, ...], ...]
MOST_KEPT = 4_096
"""Groups whose dealings are remembered; many groups of a table are alike."""


@lru_cache(maxsize=MOST_KEPT)
def usable(allowed: Allowed, people: tuple[int, ...], slots: tuple[int, ...]) -> Allowed | None:
    """Which values each kind of people has in some way to deal the secrets of a group; None where there is no way.

    `allowed[i][v]`: whether one of the `people[i]` people of kind i may have the value v, which `slots[v]` people have.
    A dealing is a maximum flow; another value is possible for a person where secrets can be passed around in a circle
    (Régin, AAAI 1996).
    """
    flow = [[0] * len(slots) for _ in people]
    left = list(slots)
    for kind, n_people in enumerate(people):
        for _ in range(n_people):
            path = _augmenting(allowed, flow, left, kind)
            if path is None:
                return None
            left[path[-1][1]] -= 1
            for step, (giver, value) in enumerate(path):
                flow[giver][value] += 1
                if step + 1 < len(path):
                    flow[path[step + 1][0]][value] -= 1
    return tuple(
        tuple(
            may and (flow[kind][value] > 0 or kind in _passing(allowed, flow, value)) for value, may in enumerate(own)
        )
        for kind, own in enumerate(allowed)
    )


def _augmenting(
    allowed: Allowed, flow: Sequence[Sequence[int]], left: Sequence[int], kind: int
) -> list[tuple[int, int]] | None:
    """How one more person of a kind gets a value: they take it, its holder the next one, until one is left over."""
    came: dict[int, tuple[int, int] | None] = {kind: None}
    queue = [kind]
    for taker in queue:
        for value, may in enumerate(allowed[taker]):
            if not may:
                continue
            if left[value] > 0:
                path = [(taker, value)]
                while (before := came[path[0][0]]) is not None:
                    path.insert(0, before)
                return path
            for holder in range(len(flow)):
                if flow[holder][value] > 0 and holder not in came:
                    came[holder] = (taker, value)
                    queue.append(holder)
    return None


def _passing(allowed: Allowed, flow: Sequence[Sequence[int]], value: int) -> set[int]:
    """The kinds whose people could give one of their values away if a holder of this value needs another one."""
    reached = {holder for holder in range(len(flow)) if flow[holder][value] > 0}
    queue = list(reached)
    for taker in queue:
        for wanted, may in enumerate(allowed[taker]):
            if may:
                for holder in range(len(flow)):
                    if flow[holder][wanted] > 0 and holder not in reached:
                        reached.add(holder)
                        queue.append(holder)
    return reached


OPEN = -1


@record
class Counted:
    """At least `least` and at most `most` of the `people`, bool (n_rows,), have a value."""

    people: Bools
    least: int
    most: int


@record
class ValueFacts:
    """What is known of one value x: who has it, who lacks it, bool (n_rows,), and how many of some others have it."""

    has: Bools
    lacks: Bools
    counted: tuple[Counted, ...] = ()

    @property
    def undecided(self) -> Bools:
        """Who may have x or not."""
        return ~(self.has | self.lacks)


def value_facts(release: Release, attribute: str, facts: Sequence[Fact]) -> dict[int, ValueFacts]:
    """What the facts and the groups of a release say together, by the code of the value as the attack counts values.

    A person has a value for certain where they have it in every way to deal the secrets of their group to its people
    that the facts about single people allow, and lacks it where they have it in none. Values of which the facts say
    nothing are left out.

    Raises
    ------
    DataError
        Where no possible world is left, with the first fact that contradicts those before it and the release; for a
        fact about another attribute, a value that does not occur, or people who do not.
    """
    known = _Known.of(release, attribute, facts)
    if known is None:
        # Whatever contradicts some facts contradicts more of them, so the first that does is found by halving.
        first = bisect_left(
            range(len(facts)), True, key=lambda i: _Known.of(release, attribute, facts[: i + 1]) is None
        )
        others = " and the facts before it" if first else ""
        raise DataError(
            f"The fact '{facts[first]}' leaves no possible world: it contradicts what the release publishes{others}. "
            "Leave it out or change it."
        )
    return known.by_value()


def is_true(release: Release, attribute: str, fact: Fact) -> bool:
    """Whether a fact holds in the original table."""
    people = fact.people(release.data)
    least, most = fact.counts(int(people.sum()))
    with_value = int((release.data.codes[attribute][people] == fact.code(release.data, attribute)).sum())
    return least <= with_value <= most


@dataclass(eq=False)
class _Known:
    """What has been learned so far: of single people by the codes of the attribute, of counts by the value attacked.

    `must` int64 (n_rows,): the code that each row has, OPEN where that is not known. `cannot`: who lacks which code.
    `counts`: how many of whom have which value. `decided`: by value, who has it and who lacks it.
    """

    release: Release
    attribute: str
    published: Codes
    value_of_code: Codes
    n_values: int
    must: Int64
    cannot: dict[int, Bools] = field(default_factory=dict)
    counts: list[tuple[int, Counted]] = field(default_factory=list)
    decided: dict[int, tuple[Bools, Bools]] = field(default_factory=dict)

    @classmethod
    def of(cls, release: Release, attribute: str, facts: Sequence[Fact]) -> _Known | None:
        """What these facts say beside the release; None where no possible world is left."""
        data, published = release.data, release.published_codes(attribute)
        every = np.arange(len(data.domain[attribute]), dtype=np.int32)
        view = data.sensitive_view(attribute, every)
        n_values = view.size if view.unique < 0 else view.unique
        known = cls(release, attribute, published, view.codes, n_values, np.full(data.n_rows, OPEN))
        for fact in facts:
            known.learn(fact)
        return known if known.follow() else None

    def learn(self, fact: Fact) -> None:
        """Take a fact in, whatever follows from it."""
        code, people = fact.code(self.release.data, self.attribute), fact.people(self.release.data)
        n_people = int(people.sum())
        least, most = fact.counts(n_people)
        if least > most:
            least, most = n_people + 1, n_people + 1
        elif most == 0:
            self.forbid(code, people)
            return
        elif least == n_people:
            # Who must have two values can have none.
            other = people & (self.must != OPEN) & (self.must != code)
            self.must[people] = code
            self.forbid(code, other)
            return
        value = int(self.value_of_code[code])
        if value >= self.n_values or (self.value_of_code == value).sum() > 1:
            raise DataError(
                f"The fact '{fact}' counts a value that the attack does not tell apart from others; say it of single "
                "people, or of nobody or everybody."
            )
        self.counts.append((value, Counted(people, least, most)))

    def forbid(self, code: int, people: Bools) -> None:
        """These people lack the code."""
        self.cannot[code] = self.cannot.get(code, np.zeros(len(self.must), np.bool_)) | people

    def follow(self) -> bool:
        """Draw all conclusions; False where no possible world is left."""
        while True:
            if not self._eliminate():
                return False
            drawn = [self._at_the_bounds(value, counted) for value, counted in self.counts]
            if None in drawn:
                return False
            if not any(drawn):
                return self._is_feasible()

    def by_value(self) -> dict[int, ValueFacts]:
        """What is known of each value, as the attack counts values."""
        values = sorted({*self.decided, *(value for value, _ in self.counts)})
        return {value: ValueFacts(*self._decided(value), tuple(self._open_counts(value))) for value in values}

    def _decided(self, value: int) -> tuple[Bools, Bools]:
        """Who has the value for certain, and who lacks it."""
        nobody = np.zeros(len(self.must), np.bool_)
        return self.decided.get(value, (nobody, nobody))

    def _open_counts(self, value: int) -> list[Counted]:
        """The counts of a value among those who may have it or not."""
        return [self._open(value, counted) for counted_value, counted in self.counts if counted_value == value]

    def _open(self, value: int, counted: Counted) -> Counted:
        has, lacks = self._decided(value)
        sure = int((has & counted.people).sum())
        return Counted(counted.people & ~has & ~lacks, counted.least - sure, counted.most - sure)

    def _eliminate(self) -> bool:
        """Find who must have and who cannot have a value, group by group; False where a group cannot be dealt."""
        self.decided = {}
        group = self.release.partition.group
        bites = self.must != OPEN
        for code, people in self.cannot.items():
            bites |= people & np.isin(group, group[self.published == code])
        for number in distinct(group[bites]):
            rows = self.release.partition.rows(int(number))
            codes, slots = np.unique(self.published[rows].astype(np.int64), return_counts=True)
            must = self.must[rows][:, None]
            allowed = (must == OPEN) | (must == codes)
            for place, code in enumerate(codes.tolist()):
                if code in self.cannot:
                    allowed[:, place] &= ~self.cannot[code][rows]
            kinds, kind_of_row, n_people = np.unique(allowed, axis=0, return_inverse=True, return_counts=True)
            dealt = usable(tuple(map(tuple, kinds.tolist())), tuple(n_people.tolist()), tuple(slots.tolist()))
            if dealt is None:
                return False
            self._decide(rows, codes, np.array(dealt, np.bool_)[kind_of_row.ravel()])
        return True

    def _decide(self, rows: Int64, codes: Int64, can: Bools) -> None:
        """Note who has a value in every way and in no way to deal a group; `can` bool (len(rows), len(codes))."""
        values = self.value_of_code[codes]
        for value in distinct(values[values < self.n_values]):
            own = values == value
            has, lacks = ~can[:, ~own].any(axis=1), ~can[:, own].any(axis=1)
            if has.any() or lacks.any():
                nobody = np.zeros((2, len(self.must)), np.bool_)
                of_value = self.decided.setdefault(int(value), (nobody[0], nobody[1]))
                of_value[0][rows[has]], of_value[1][rows[lacks]] = True, True

    def _at_the_bounds(self, value: int, among_all: Counted) -> bool | None:
        """Whether a count at the end of what is possible decided about somebody; None where it is impossible."""
        counted = self._open(value, among_all)
        undecided, n_with = self._undecided(value)
        inside, everybody = self._by_group(counted.people), self._by_group(undecided)
        lowest, highest = np.maximum(n_with - (everybody - inside), 0), np.minimum(n_with, inside)
        if counted.least > highest.sum() or counted.most < lowest.sum():
            return None
        if lowest.sum() == highest.sum() or (lowest.sum() < counted.most and counted.least < highest.sum()):
            return False
        # As many of them as possible have it, or as few: then it goes to one side of each group first.
        first = counted.people if counted.least == highest.sum() else undecided & ~counted.people
        n_first, group = self._by_group(first), self.release.partition.group
        second = undecided & ~first
        gets_all, gets_none = first & (n_with >= n_first)[group], second & (n_with <= n_first)[group]
        code = int(np.flatnonzero(self.value_of_code == value)[0])
        self.forbid(code, gets_none)
        self.must[gets_all] = code
        return bool(gets_all.any() or gets_none.any())

    def _undecided(self, value: int) -> tuple[Bools, Int64]:
        """Whose value is open, and how many of them in each group have it, int64 (n_groups,)."""
        has, lacks = self._decided(value)
        publishes = self.value_of_code[self.published] == value
        return ~(has | lacks), self._by_group(publishes) - self._by_group(has)

    def _by_group(self, people: Bools) -> Int64:
        partition = self.release.partition
        return np.bincount(partition.group[people], minlength=partition.n_groups)

    def _is_feasible(self) -> bool:
        """Whether all counts of a value can be met together, by whole people in every group."""
        for value in {value for value, _ in self.counts}:
            counts = self._open_counts(value)
            if len(counts) > 1 and not self._meets(counts, *self._undecided(value)):
                return False
        return True

    def _meets(self, counts: list[Counted], undecided: Bools, n_with: Int64) -> bool:
        """Whether a whole number of people in each group and part of the counts meets all of these."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import coo_array

        cell = atoms([counted.people for counted in counts])
        n_cells, n_groups = int(cell.max()) + 1, len(n_with)
        key = cell[undecided] + n_cells * self.release.partition.group[undecided]
        size = np.bincount(key, minlength=n_cells * n_groups)
        # Groups of the same numbers of people and secrets are one kind: what they get together is all that matters.
        kinds, times = np.unique(np.column_stack((size.reshape(n_groups, n_cells), n_with)), axis=0, return_counts=True)
        n_kinds, place = len(kinds), np.arange(len(kinds) * n_cells)
        whole = coo_array((np.ones(len(place)), (place // n_cells, place)), shape=(n_kinds, len(place)))
        member = np.array([[bool((counted.people & (cell == c)).any()) for c in range(n_cells)] for counted in counts])
        least, most = [counted.least for counted in counts], [counted.most for counted in counts]
        n_with_of_kind = kinds[:, -1] * times
        met = milp(
            np.zeros(len(place)),
            integrality=np.ones(len(place), np.int64),
            bounds=Bounds(0, (kinds[:, :-1] * times[:, None]).ravel()),
            constraints=[
                LinearConstraint(whole.tocsr(), n_with_of_kind, n_with_of_kind),
                LinearConstraint(np.tile(member, n_kinds), least, most),
            ],
        )
        return bool(met.success)


def atoms(masks: Sequence[Bools]) -> Int64:
    """Numbers that tell people apart by which of the masks they are in, int64 (n_rows,)."""
    number = sum(mask.astype(np.int64) << place for place, mask in enumerate(masks))
    return np.unique(number, return_inverse=True)[1]
