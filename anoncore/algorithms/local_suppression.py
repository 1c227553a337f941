"""Local suppression: as few single cells as possible become `*`, and all others stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import combinations
from math import ceil, comb
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, SerializeAsAny

from anoncore.algorithms.base import (
    AS_METHOD,
    Algorithm,
    ByRequirements,
    generalized_release,
    require_feasible,
    require_groups,
)
from anoncore.algorithms.refined_work import RefinedCells
from anoncore.algorithms.refinement import refined
from anoncore.base.errors import AnonymizationError, DataError
from anoncore.base.progress import Progress, part_of
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.kernels.grouping import distinct, starts_of
from anoncore.kernels.local_suppression import SuppressedRows, Whole, add_matches, count_together, place
from anoncore.privacy.guarantees import PersonalGuarantee
from anoncore.privacy.wildcards import CellsAlike, agreeing_rows, matching_guarantee, words_of
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.recoding import Generalized
from anoncore.release.release import Release
from anoncore.release.suppressed_rows import with_region_of_all
from anoncore.requirements import CheckSet, KAnonymity, Requirement
from anoncore.requirements.requirement import hold_together
from anoncore.table.domain import Domain, Kind
from anoncore.table.hierarchy import ROOT
from anoncore.table.hierarchy_levels import Levels, two_levels
from anoncore.table.microdata import Microdata
from anoncore.table.part import published_beside


def fewest_cells(codes: Codes, tiers: Sequence[Sequence[Bools]], k: int, progress: Progress) -> Bools:
    """Which cells every row loses, bool (n_rows, n_attributes).

    A row needs a set of attributes without which k rows of the table, itself among them, have its values. That depends
    on the table alone and not on what other rows lose, so each gets one of the cheapest of its sets. Which one of them
    is free: the set that serves most rows goes first, so that many rows are published alike.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_rows, n_attributes)
        The table.
    tiers : sequence of sequence of ndarray of bool, shape (n_attributes,)
        Sets of attributes to suppress, the cheapest first; those of one tier cost the same. One of them is that of all
        attributes.
    k : int
        How many rows have to agree; at most as many as there are.
    progress : callable
        Is told which share of the tiers is done.
    """
    alike, number = CellsAlike.of_rows(codes, np.zeros(codes.shape, np.bool_))
    salt, begin = words_of(alike.codes)
    everybody = np.arange(len(alike.rows))
    lost = np.zeros(alike.codes.shape, np.bool_)
    left = np.flatnonzero(alike.rows < k)
    n_left = len(left)
    for done, masks in enumerate(tiers):
        if not len(left):
            break
        fits = np.zeros((len(masks), len(left)), np.int64)
        for mask, counts in zip(masks, fits, strict=True):
            add_matches(alike.codes, alike.codes, salt, begin, ~mask, left, everybody, alike.rows, counts)
        enough = fits >= k
        waiting = enough.any(axis=0)
        rows = alike.rows[left]
        remaining = left[~waiting]
        while waiting.any():
            served = (enough & waiting) @ rows
            best = int(served.argmax())
            chosen = enough[best] & waiting
            lost[left[chosen]] = masks[best]
            waiting &= ~chosen
        left = remaining
        progress((done + 1) / len(tiers), f"{n_left - len(left):,} of {n_left:,} kinds of rare rows lose cells")
    return lost[number]


ANY_VALUE = (
    "Readers know that a row lost cells because fewer people than were asked for have its values, and that it lost no "
    "more than it had to. So of all who fit the row it belongs to one of those with rare values. That is a matter of "
    "sizes and not of sensitive values, but it tells whose row it is: k people who fit it are not k who may own it."
)
FAMILIES = ("generalization", "full-domain generalization")
"""Families of methods whose releases have a region in every cell, so that one more of them can be suppressed."""
MOST_MASKS = 4096
"""Most sets of quasi-identifiers that are tried; where there are more, those of the fewest cells, then one path."""
MOST_CELLS = 400_000_000
"""Cells that are looked at under all these sets; where there would be more, fewer sets are tried, as above."""
DONATED = (1.0, 0.9, 0.75, 0.6, 0.45, 0.3, 0.2, 0.1, 0.0)
"""Shares of the smallest class that rows without a class make up when donors fill it, the largest share first."""
DIGITS = 9


Before = Annotated[
    SerializeAsAny[Algorithm] | None,
    AS_METHOD,
    Field(title="Method before", description="Generalizing method whose cells are suppressed; empty: exact values."),
]
Weight = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class LocalSuppression(ByRequirements):
    """Suppresses single cells, as few as possible, and publishes every other value as it is.

    A suppressed cell is published as `*` and counts as a value of its own (`suppressed="value"`): a class is the rows
    that are published alike, with `*` in the same cells, and every class satisfies the requirements. That is the safe
    reading.

    Programs such as sdcMicro let `*` match any value when they count (`suppressed="any"`), and so need fewer cells: a
    published row is as frequent as there are rows that agree with it in all cells that neither suppresses, and every
    row is at least k times there. By itself this count can be met by hiding nobody: a few rows with hardly any cell
    left agree with all others. So every published row has to fit the own values of at least k people, too, from which
    the count follows. An adversary who has a list of all people and picks a published row finds at least k whose row it
    can be ((k, 1)-anonymity). That is much less than k-anonymity:

    - An adversary who knows somebody's values may find a single row that fits them, because the rows that `*` is said
      to match are those of people with other values.
    - Whoever knows the method knows that nobody with k or more equals lost a cell, so a row with `*` belongs to one of
      the few others who fit it.
    - Rows are not alike: their patterns of `*` tell them apart, and what is said of classes, such as l-diversity or the
      risk of being found, is measured for classes of equal cells, which may be single rows.

    The notes of such a release say how many people the first point is about, and what k the classes of equal cells
    have. It is for those who have to compare with, or follow, what others do.

    Rows whose class satisfies the requirements as it is keep all their cells. The others are grouped under sets of
    quasi-identifiers to suppress, those that cost least first, and every group that satisfies the requirements becomes
    a class. Where only a few rows are missing, rows of classes that can spare them give up the same cells. Which is
    done first follows from the cost per row that finds a class in this way. Afterwards rows move between these classes
    as long as that saves cells. All this is done in two orders, and the better result is published: a few percent more
    cells than there have to be at the least. `weights` says how much a suppressed cell of an attribute costs; an
    attribute that shall be kept gets a large one.

    Where `*` is any value, what a row loses depends on the people alone and not on what others lose: each row of fewer
    than k equals loses the cells that weigh least of all that leave values which k people have. That is the least there
    can be, as long as all sets of quasi-identifiers are tried. Of several sets those are taken that serve most rows, so
    that many are published alike.

    With `method`, another method generalizes the table first, with requirements of its own that may be weaker, and
    single cells of its release are suppressed until these requirements hold too.

    Notes
    -----
    Assumes: few rows are in too small classes; a value is of use only where it is published as it is.
    Cost: O(d n) for the classes, then O(d r) for each set of quasi-identifiers and r rows that have no class; up to
      2^d sets, or 4,096 and one path from these to all quasi-identifiers.
    Use: few quasi-identifiers with few values each, so that almost all cells can stay; or the last step after another
      method that leaves a few rows alone.
    Avoid: numbers or many quasi-identifiers make most rows unique: coarser values (Mondrian) then lose much less.

    References
    ----------
    Meyerson and Williams, On the complexity of optimal k-anonymity, PODS 2004 (fewest suppressed cells, NP-hard);
    Templ, Kowarik and Meindl, sdcMicro, Journal of Statistical Software 67(4), 2015, section 5 (local suppression);
    Gionis, Mazza and Tassa, k-Anonymization revisited, ICDE 2008 ((k, 1)-anonymity, where `*` is any value).

    Examples
    --------
    Nobody else is 70, and only one person of 30 is from Bonn. Both lose one cell, because Bonn is left of either:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import LocalSuppression
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [30, 30, 30, 70], "town": ["Ulm", "Ulm", "Bonn", "Bonn"]})
    >>> data = Microdata(people, roles=dict.fromkeys(people, "quasi-identifier"))
    >>> release = LocalSuppression(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> print(release.tables()["release"].to_string(index=False))
    age town
     30  Ulm
     30  Ulm
      * Bonn
      * Bonn
    >>> release.notes
    ('2 of 8 cells (25.00%) are suppressed, in 2 of 4 rows: age 2.',)

    The only person of 40 needs company in Ulm, so all three of Ulm lose their age. Where `*` is any value, one cell is
    enough, because the row fits three people then. But whoever knows that she is 40 finds her:

    >>> people = pd.DataFrame({"age": [30, 30, 40, 50, 50], "town": ["Ulm", "Ulm", "Ulm", "Bonn", "Bonn"]})
    >>> data = Microdata(people, roles=dict.fromkeys(people, "quasi-identifier"))
    >>> LocalSuppression(requirements=[KAnonymity(k=2)]).anonymize(data).notes[0]
    '3 of 10 cells (30.00%) are suppressed, in 3 of 5 rows: age 3.'
    >>> release = LocalSuppression(requirements=[KAnonymity(k=2)], suppressed="any").anonymize(data)
    >>> print(release.tables()["release"].to_string(index=False))
    age town
     30  Ulm
     30  Ulm
      *  Ulm
     50 Bonn
     50 Bonn
    >>> print(release.notes[-1])
    Of 1 of 5 people an adversary who knows their values finds fewer than 2 rows that fit, and of 1 a single one.
    """

    name = "local-suppression"
    title = "Local suppression"
    source = "Meyerson and Williams, PODS 2004; Templ et al., Journal of Statistical Software 2015"
    family = "generalization"
    summary = (
        "Suppresses as few single cells as possible, those of people with too little company, and keeps all others."
    )
    minimality = Minimality(
        Openness.DEPENDS,
        "Readers know that cells were suppressed because the rows that agree in more cells are no group that satisfies "
        "the requirements, or because their row was given to others who needed company. With l-diversity, t-closeness "
        "or variance diversity that tells about the sensitive values; with k-anonymity alone it is a matter of sizes, "
        "which everybody can count, and of the order of rows by content where some of a group are given to others.",
    )

    weights: Annotated[
        dict[str, Weight],
        Field(
            title="Weights",
            description="What a suppressed cell of an attribute costs; 1 for attributes that are not named.",
        ),
    ] = Field(default_factory=dict)
    suppressed: Annotated[
        Literal["value", "any"],
        Field(
            title="A suppressed cell counts as",
            description="A value of its own, so that people hide among equal rows; or any value, as sdcMicro counts, "
            "with fewer suppressed cells and much less protection.",
        ),
    ] = "value"
    method: Before = None

    @property
    def judged_by_groups(self) -> bool:
        """Whether rows are counted that are published alike."""
        return self.suppressed == "value"

    @property
    def minimality_here(self) -> Minimality:
        """What readers learn from a suppressed cell, if it counts as any value."""
        return self.minimality if self.judged_by_groups else Minimality(Openness.DEPENDS, ANY_VALUE)

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """The requirements, where a suppressed cell is a value of its own; else nothing about groups."""
        return tuple(self.requirements) if self.judged_by_groups else ()

    def personal_guarantees(self, release: Release) -> tuple[PersonalGuarantee, ...]:
        """Where a suppressed cell is any value: with how many rows every published row agrees."""
        if self.judged_by_groups:
            return ()
        return (matching_guarantee(_published_cells(release), self.requirements[0].threshold),)

    def require_countable(self, data: Microdata) -> None:
        """Raise DataError where one person may have several rows and the method before, or this one, counts rows."""
        if self.method is not None:
            self.method.require_countable(data)
        if data.people is not None and not self.judged_by_groups:
            raise DataError(
                f"Where a suppressed cell is any value, rows are counted and not people, and '{data.unit}' says that "
                f"{data.n_rows:,} rows are those of {data.n_people:,} people. Let it count as a value of its own, or "
                "keep one row of each person."
            )

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError for weights of other attributes and a method that does not generalize, and what that raises.

        InfeasibleError for requirements that the table fails.
        """
        super().validate_data(data)
        strange = sorted(set(self.weights) - set(data.quasi_identifiers))
        if strange:
            raise DataError(
                f"Weights are for quasi-identifiers, and {listing(strange)} is none; the table has "
                f"{listing(data.quasi_identifiers)}."
            )
        if not self.judged_by_groups:
            self._validate_any_value(data)
        if self.method is None:
            return
        if self.method.family not in FAMILIES or isinstance(self.method, LocalSuppression):
            raise DataError(
                f"{self.method.title} publishes no table of generalized cells; choose a method that generalizes, such "
                "as Incognito, or none."
            )
        require_groups(self.method)
        self.method.validate_data(data)

    def _validate_any_value(self, data: Microdata) -> None:
        """Raise DataError for what cannot be counted where `*` is any value; InfeasibleError for too few rows."""
        if len(self.requirements) != 1 or not isinstance(self.requirements[0], KAnonymity):
            asked = listing([one.label() for one in self.requirements]) or "nothing"
            raise DataError(
                "Where a suppressed cell is any value there are no groups, only numbers of rows that agree, so "
                f"k-anonymity can be asked for and nothing else. Asked for is {asked}; choose k alone, or let a "
                "suppressed cell count as a value of its own."
            )
        if self.method is not None:
            raise DataError(
                "Where a suppressed cell is any value, all others are published as they are; leave out the method "
                "before, or let a suppressed cell count as a value of its own."
            )
        for name in data.quasi_identifiers:
            if ROOT in data.domain[name].texts:
                raise DataError(
                    f"'{name}' has the value '{ROOT}', which readers would take for any value; give it another name."
                )
        require_feasible(self.requirements, data)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        before = _exact(self, data)
        notes: tuple[str, ...] = ()
        if self.method is not None:
            before = self.method.anonymize(data, part_of(progress, 0.0, 0.5))
            notes = tuple(note for note in before.notes if note != data.unit_note)
        regions = {name: _Regions.of(before, name) for name in data.quasi_identifiers}
        codes = np.column_stack([one.region for one in regions.values()])
        weights = np.array([self.weights.get(name, 1.0) for name in regions])
        search = _Search.of(data, CheckSet(self.requirements, data), codes, weights)
        begin = 0.5 if self.method is not None else 0.05
        report = part_of(progress, begin, 0.9)
        if self.judged_by_groups:
            classes = _best_classes(search, self.requirements, report)
            lost = [_differs(classes, one.region) for one in regions.values()]
        else:
            lost = list(fewest_cells(codes, search.by_cost(), search.wanted, report).T)
        # A region of all values is published like a suppressed cell, and rows that are published alike are one class.
        cells = [np.where(gone, one.everything, one.region) for gone, one in zip(lost, regions.values(), strict=True)]
        changed = {name: cell != one.region for (name, one), cell in zip(regions.items(), cells, strict=True)}
        partition = Partition.alike(cells)
        first = partition.first_rows
        recodings = {
            name: one.cells.chosen(partition, cell[first])
            for (name, one), cell in zip(regions.items(), cells, strict=True)
        }
        everything = np.array([one.everything for one in regions.values()])
        is_left_out = (np.column_stack([cell[first] for cell in cells]) == everything).all(axis=1)
        says_something = any(len(data.domain[name]) > 1 for name in regions)
        left_out = int(np.flatnonzero(is_left_out)[0]) if is_left_out.any() and says_something else None
        notes = (*notes, _note(changed, data.n_rows))
        release = generalized_release(self, data, partition, notes, recodings, left_out)
        return release if self.judged_by_groups else self._with_any_value(release)

    def _with_any_value(self, release: Release) -> Release:
        """The release with notes on what it does not promise; AnonymizationError where it breaks what it promises."""
        k = self.requirements[0].threshold
        data = release.data
        codes = np.column_stack([data.codes[name] for name in data.quasi_identifiers])
        people, _ = CellsAlike.of_rows(codes, np.zeros(codes.shape, np.bool_))
        published = _published_cells(release)
        if agreeing_rows(published, people).min() < k or not self.personal_guarantees(release)[0].holds:
            raise AnonymizationError(f"{self.title} broke its promise: a published row fits fewer than {k:g} people.")
        found = agreeing_rows(people, published)
        few, single = (int(people.rows[found < least].sum()) for least in (k, 2))
        below, smallest = int(published.rows[published.rows < k].sum()), int(published.rows.min())
        classes = (
            f"This is no k-anonymity with k = {k:g}: the smallest group of rows with equal cells has {smallest:,}, and "
            f"{below:,} of {data.n_rows:,} rows are in groups below {k:g}."
            if below
            else f"The smallest group of rows with equal cells has {smallest:,}, so this is k-anonymity as well."
        )
        notes = (
            f"A suppressed cell counts as any value: every row fits the own values of at least {k:g} people.",
            classes,
            f"Of {few:,} of {data.n_rows:,} people an adversary who knows their values finds fewer than {k:g} rows "
            f"that fit, and of {single:,} a single one.",
        )
        return replace(release, notes=(*release.notes, *notes))


def _best_classes(search: _Search, requirements: Sequence[Requirement], progress: Progress) -> Partition:
    """The classes with the fewest suppressed cells, by weight, of two searches in different orders."""
    searches = (search, search.copy())
    for number, (one, most_first) in enumerate(zip(searches, (True, False), strict=True)):
        one.run(part_of(progress, 0.3 * number, 0.3 * (number + 1)), most_first)
    found = [
        one.refined(requirements, part_of(progress, 0.6 + 0.2 * n, 0.8 + 0.2 * n)) for n, one in enumerate(searches)
    ]
    return min(found, key=search.cost)


def _published_cells(release: Release) -> CellsAlike:
    """The classes of a release whose cells are exact or suppressed."""
    (fragment,) = release.fragments
    recodings = [fragment.recodings[name] for name in release.data.quasi_identifiers]
    bounds = [recoding.group_content() for recoding in recodings if isinstance(recoding, Generalized)]
    low, high = (np.column_stack([one[side] for one in bounds]) for side in (0, 1))
    return CellsAlike(low, low != high, fragment.partition.sizes)


def _exact(model: LocalSuppression, data: Microdata) -> Release:
    """The table as it is, as a release whose classes are the rows with equal quasi-identifiers."""
    names = data.quasi_identifiers
    partition = Partition.alike([data.codes[name] for name in names])
    recodings = {
        name: Generalized.of_rows(Levels.of(data.domain[name]).domain, partition, data.codes[name]) for name in names
    }
    return generalized_release(model, data, partition, recodings=recodings)


@record
class _Regions:
    """The different regions of one quasi-identifier in a release, with a region of all values among them.

    `region` int32 (n_rows,) numbers those of the rows, `everything` is the number of the region of all values, and
    `cells` has a region for each number.
    """

    region: Codes
    everything: int
    cells: Generalized

    @classmethod
    def of(cls, release: Release, name: str) -> _Regions:
        fragment = release.fragments[0]
        recoding = fragment.recodings[name]
        if not isinstance(recoding, Generalized):
            raise DataError(f"'{name}' is not generalized in the release of the method before; choose another method.")
        everything = with_region_of_all(recoding, fragment.partition)
        columns = np.column_stack(everything.group_content())
        _, first, number = np.unique(columns, axis=0, return_index=True, return_inverse=True)
        cells = everything.chosen(Partition(np.arange(len(first), dtype=np.int32)), first)
        of_group: Codes = number.reshape(-1).astype(np.int32)
        return cls(of_group[:-1][fragment.partition.group], int(of_group[-1]), cells)


@dataclass(eq=False)
class _Search:
    """Which cells of which rows are suppressed.

    `left` are the rows that have no class yet, in order of content; `masks` has for every class the quasi-identifiers
    that its rows lose.
    """

    data: Microdata
    rows: SuppressedRows
    checks: CheckSet
    weights: Floats
    left: Int64
    whole: Whole
    group: Codes
    masks: list[Bools]

    @classmethod
    def of(cls, data: Microdata, checks: CheckSet, codes: Codes, weights: Floats) -> _Search:
        salt, begin = words_of(codes)
        rows = SuppressedRows(
            codes=np.ascontiguousarray(codes),
            cells=checks.cells,
            salt=salt,
            begin=begin,
            people=checks.people,
        )
        partition = Partition.alike(list(codes.T))
        holds = np.ones(partition.n_groups, np.bool_)
        for check in checks.checks:
            holds &= check.holds(check.levels(partition))
        number = np.where(holds, np.cumsum(holds) - 1, -1).astype(np.int32)
        group = number[partition.group]
        # In order of content, so that the order of the rows in the table decides nothing.
        order = data.canonical_order
        of_order = group[order]
        whole_rows = order[of_order >= 0]
        members = whole_rows[np.argsort(of_order[of_order >= 0], kind="stable")]
        starts = starts_of(partition.sizes[holds])
        whole = Whole(members, starts, np.zeros(int(holds.sum()), np.int64))
        nothing = np.zeros(codes.shape[1], np.bool_)
        return cls(data, rows, checks, weights, order[of_order < 0], whole, group, [nothing] * int(holds.sum()))

    def run(self, progress: Progress, most_first: bool) -> None:
        """Give every row a class; of what costs the same, what promises a class to most rows first, or to fewest."""
        n_rows = len(self.left)
        tiers = self._tiers(sorted({max(ceil(share * self.wanted), 1) for share in DONATED}, reverse=True))
        for number, tier in enumerate(tiers):
            sign = -1 if most_first else 1
            promised = [(sign * self._together(*step), place, *step) for place, step in enumerate(tier)]
            heapify(promised)
            while promised and len(self.left):
                _, place, mask, least = heappop(promised)
                now = sign * self._together(mask, least)
                # Fewer rows are left than when this was promised, so it is counted again before it is believed.
                if promised and (now, place) > promised[0][:2]:
                    heappush(promised, (now, place, mask, least))
                elif now:
                    self._place(mask, least)
            progress((number + 1) / len(tiers), f"{n_rows - len(self.left):,} of {n_rows:,} rows have found company")
            if not len(self.left):
                return
        if len(self.left):
            self._join_rest()

    def copy(self) -> _Search:
        """The same search, which goes on by itself."""
        members, starts, given = self.whole
        whole = Whole(members.copy(), starts, given.copy())
        return replace(self, left=self.left.copy(), whole=whole, group=self.group.copy(), masks=[*self.masks])

    def cost(self, classes: Partition) -> float:
        """The weight of all cells that are suppressed if these are the classes."""
        columns = zip(self.rows.codes.T, self.weights, strict=True)
        total = sum(float(_differs(classes, np.ascontiguousarray(column)).sum() * weight) for column, weight in columns)
        return round(total, DIGITS)

    def _together(self, mask: Bools, least: int) -> int:
        """How many of the rows left are in groups of so many rows under a mask."""
        return int(count_together(self.rows, ~mask, least, self.left))

    def refined(self, requirements: Sequence[Requirement], progress: Progress) -> Partition:
        """The classes after rows have moved between them as long as that saves cells.

        Whole classes stay as they are, but for those that gave rows, which may get them back, and small ones, which may
        be company for others.
        """
        n_whole = len(self.whole.given)
        sizes = np.diff(self.whole.starts)
        takes_part = np.ones(len(self.masks), np.bool_)
        takes_part[:n_whole] = (self.whole.given > 0) | (sizes < 2 * self.wanted)
        moving = np.flatnonzero(takes_part[self.group])
        group = self.group.copy()
        if len(moving):
            part = published_beside(self.data, moving)
            classes = Partition.alike([group[moving]])
            codes = self.rows.codes[moving]
            domains = [_numbers(int(column.max()) + 1) for column in codes.T]
            better = refined(part, classes, requirements, progress, RefinedCells(codes, domains, self.weights))
            group[moving] = len(self.masks) + better.group
        return Partition.alike([group])

    def _tiers(self, leasts: Sequence[int]) -> list[list[tuple[Bools, int]]]:
        """What is tried one after the other: quasi-identifiers to suppress, and how many rows are enough with donors.

        Where a class of k rows has r of its own and k - r donors, each of the r rows costs k/r times its cells. What
        costs the same is a tier.
        """
        tiers: dict[float, list[tuple[Bools, int]]] = {}
        for mask in self._masks():
            cost = float(self.weights[mask].sum())
            for least in leasts:
                tiers.setdefault(round(cost * self.wanted / least, DIGITS), []).append((mask, least))
        return [tiers[cost] for cost in sorted(tiers)]

    def by_cost(self) -> list[list[Bools]]:
        """The sets of quasi-identifiers to suppress, those that cost the same in one list, the cheapest first."""
        return [[mask for mask, _ in tier] for tier in self._tiers([self.wanted])]

    @property
    def wanted(self) -> int:
        """Rows of the smallest class that may satisfy the requirements."""
        return max(self.checks.kernel.minimum_rows, 1)

    def _masks(self) -> list[Bools]:
        """All sets of quasi-identifiers, or those of the fewest and then those of one path to all of them."""
        d = len(self.weights)
        limit = min(MOST_MASKS, MOST_CELLS // max(len(self.left) * d, 1))
        most = 1
        while most < d and sum(comb(d, size) for size in range(1, most + 2)) <= limit:
            most += 1
        chosen = [one for size in range(1, most + 1) for one in combinations(range(d), size)]
        masks = []
        for one in chosen:
            mask = np.zeros(d, np.bool_)
            mask[list(one)] = True
            masks.append(mask)
        return masks if most == d else [*masks, *self._path()]

    def _path(self) -> list[Bools]:
        """Sets that become larger by one attribute each, by which most rows per weight would find a class."""
        mask = np.zeros(len(self.weights), np.bool_)
        path = []
        while not mask.all():
            worth = np.full(len(mask), -1.0)
            for a in np.flatnonzero(~mask):
                more = mask.copy()
                more[a] = True
                n_values = len(distinct(self.rows.codes[self.left, a]))
                # Where no further row finds a class, the attribute with most values goes first.
                together = self._together(more, self.wanted) + n_values / (len(self.left) + 1)
                worth[a] = round(together / self.weights[a], DIGITS)
            mask = mask.copy()
            mask[int(np.argmax(worth))] = True
            path.append(mask)
        return path

    def _place(self, mask: Bools, least: int) -> None:
        """Give a class to the rows that get one under a mask."""
        n_left, n_groups = place(
            self.rows,
            ~mask,
            least,
            self.wanted,
            self.left,
            self.whole,
            self.group,
            len(self.masks),
            self.checks.kernel,
        )
        self.left = self.left[:n_left]
        self.masks += [mask] * (n_groups - len(self.masks))

    def _join_rest(self) -> None:
        """Make one class of the rows that are left, without any cell, and of other classes, the smallest first, until
        it satisfies the requirements.
        """
        everything = np.ones(len(self.weights), np.bool_)
        sizes = np.bincount(self.group[self.group >= 0], minlength=len(self.masks))
        lost = np.array([self.weights[mask].sum() for mask in self.masks])
        added = sizes * (self.weights.sum() - lost)
        joining = self.group < 0
        for number in np.argsort(np.round(added, DIGITS), kind="stable"):
            if sizes[number] and self._hold(joining):
                break
            joining |= self.group == number
        self.group[joining] = len(self.masks)
        self.masks.append(everything)

    def _hold(self, chosen: Bools) -> bool:
        """Whether the chosen rows satisfy every requirement as one class."""
        return hold_together(self.checks.checks, np.flatnonzero(chosen))


def _numbers(size: int) -> Domain:
    """The domain of so many values that are the same or not, and nothing between."""
    domain = Domain("", Kind.NOMINAL, tuple(range(size)))
    return replace(domain, tree=two_levels(domain))


def _differs(classes: Partition, region: Codes) -> Bools:
    """Whether each row's class has different regions, bool (n_rows,)."""
    low, high = classes.extent(region)
    differs: Bools = (low != high)[classes.group]
    return differs


def _note(changed: dict[str, Bools], n_rows: int) -> str:
    """How many cells are suppressed, in how many rows, and of which attributes."""
    counts = {name: int(cells.sum()) for name, cells in changed.items()}
    n_cells = n_rows * len(changed)
    total = sum(counts.values())
    if not total:
        return "No cell is suppressed: every group satisfies the requirements as it is."
    n_touched = int(np.logical_or.reduce(list(changed.values())).sum())
    most = ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
    return (
        f"{total:,} of {n_cells:,} cells ({total / n_cells:.2%}) are suppressed, in {n_touched:,} of {n_rows:,} rows: "
        f"{most}."
    )
