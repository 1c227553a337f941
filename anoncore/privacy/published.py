"""What a release publishes: sensitive values and levels of each group, and the numbered cells of what others know."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.kernels.checking import group_levels
from anoncore.kernels.grouping import (
    DENSE,
    dense_key,
    distinct,
    looked_up,
    numbered_inside_groups,
    owners,
    runs_from,
    starts_of,
)
from anoncore.release.partition import Partition
from anoncore.release.recoding import Exact, Generalized, GroupValues
from anoncore.release.release import Fragment, Release
from anoncore.requirements.requirement import Check
from anoncore.table.microdata import SensitiveValues


def fragments_of(release: Release, attribute: str | None) -> tuple[Fragment, ...]:
    """The fragments whose groups say something about an attribute, or about group sizes where it is None.

    Fragments that share one partition count once. Raises ReleaseError if no fragment publishes the attribute.
    """
    if attribute is not None:
        first = release.fragment_of(attribute)
        publishing = tuple(fragment for fragment in release.fragments if attribute in fragment.recodings)
        return (first,) if release.is_shared else publishing
    return release.fragments[:1] if release.is_shared else release.fragments


def publishing_fragment(release: Release, attribute: str, fragment: str | None = None) -> Fragment:
    """The fragment of that name among those that publish the attribute; without a name the first of them.

    Raises ParameterError for a fragment that does not publish it, ReleaseError if none does.
    """
    publishing = fragments_of(release, attribute)
    names = [candidate.name for candidate in publishing]
    if fragment is not None and fragment not in names:
        raise ParameterError(f"No fragment {fragment!r} publishes '{attribute}'; {', '.join(names)} does.")
    return publishing[names.index(fragment) if fragment is not None else 0]


def published_values(fragment: Fragment, attribute: str) -> tuple[Partition, Codes]:
    """The single values that a fragment publishes, as codes (n_values,), and the partition that puts them in groups.

    Where rows have values there is one per row. Where a group has only a set, each value of the set counts once, as any
    row of the group may have any of them. Raises ReleaseError for an attribute that is generalized.
    """
    recoding = fragment.recodings[attribute]
    if isinstance(recoding, Exact):
        return fragment.partition, recoding.codes
    if isinstance(recoding, GroupValues):
        groups = np.arange(fragment.partition.n_groups, dtype=np.int32)
        return Partition(np.repeat(groups, recoding.sizes)), recoding.members
    raise ReleaseError(f"'{attribute}' is generalized in this release; its single values are not published.")


def published_view(release: Release, fragment: Fragment, attribute: str) -> tuple[Partition, SensitiveValues]:
    """What a fragment publishes of a sensitive attribute, as requirements count it, and the partition of its values.

    The values of a set are nobody's in particular, so that no people are counted by them. Raises ReleaseError for an
    attribute that is generalized.
    """
    partition, codes = published_values(fragment, attribute)
    view = release.data.sensitive_view(attribute, codes)
    return partition, view if isinstance(fragment.recodings[attribute], Exact) else replace(view, people=None)


def published_levels(release: Release, fragment: Fragment, condition: Check) -> Floats:
    """Level of every group of a fragment by what is published of the sensitive attribute, float (n_groups,)."""
    release.require_people("What is required is asked of groups of people who look alike")
    if condition.attribute is None:
        return condition.published_levels(fragment)
    partition, published = published_view(release, fragment, condition.attribute)
    if published.people is None and release.data.people is not None:
        # Any of a group's people may have any value of its set, and no more values count than it has people.
        people = np.minimum(release.people_per_group(fragment), partition.sizes)
        codes = published.codes[partition.order]
        address, unique = condition.requirement.level.address, published.unique
        return group_levels(people, partition.starts, codes, published.size, address, unique, condition.reference)
    return replace(condition, values=published, people=published.people).levels(partition)


def worst_group(levels: Mapping[str, Floats | Int64], higher_is_better: bool) -> tuple[str, int]:
    """The fragment and the number of the group with the worst level, of the levels of all groups by fragment."""
    sign = 1 if higher_is_better else -1
    fragment = min(levels, key=lambda name: float((sign * levels[name]).min()))
    return fragment, int((sign * levels[fragment]).argmin())


def has_single_values(fragment: Fragment, attribute: str) -> bool:
    """Whether the fragment publishes single values of the attribute, so that `published_values` can read them."""
    return isinstance(fragment.recodings[attribute], Exact | GroupValues)


def published_key(fragment: Fragment, known: Collection[str]) -> Int64:
    """Rows numbered by what the fragment publishes of the known attributes, int64 (n_rows,)."""
    partition = fragment.partition
    columns: list[Codes] = []
    by_group: list[Codes] = []
    for name, recoding in fragment.recodings.items():
        shared = recoding.group_content() if name in known and recoding.partition is partition else None
        if shared is not None:
            by_group += shared
        elif name in known:
            columns += recoding.content()
    if not by_group:
        return dense_key(columns, partition.n_rows)
    # There are far fewer groups than rows, and a group's cells are those of all its rows.
    of_groups = dense_key(by_group, partition.n_groups)[partition.group]
    return dense_key([of_groups, *columns], partition.n_rows) if columns else of_groups


def key_inside_groups(fragment: Fragment, known: Collection[str]) -> Int64:
    """Rows numbered by the known attributes that tell people of one group apart, int64 (n_rows,).

    Left out are cells that all rows of a group share; of all others the adversary compares what is published.
    """
    told = [
        name
        for name, recoding in fragment.recodings.items()
        if name in known and not isinstance(recoding, Generalized | GroupValues)
    ]
    return published_key(fragment, told)


def _people_of(of_row: Int64 | Codes, people: Codes, size: int = 0) -> Int64:
    """How many different people the rows of each number have, int64 (n_numbers,), at least `size` of them."""
    n_people = int(people.max()) + 1
    pairs = distinct(of_row.astype(np.int64) * n_people + people)
    return np.bincount(pairs // n_people, minlength=size)


@record
class Cells:
    """What a fragment shows of each value in each group: one cell per group and value that occurs in it.

    Cells are sorted by group, then value. `of_row` int64 (n_rows,) is the cell of each row; `group`, `value`, `count`
    and `share` (of the group's rows) have one entry per cell. Where one person may have several rows, `people` int32
    (n_rows,) says whose each row is, and `count` and `share` are of different people.
    """

    of_row: Int64
    group: Int64
    value: Int64
    count: Int64
    share: Floats
    people: Codes | None = None

    @classmethod
    def of(cls, partition: Partition, key: Int64 | Codes, people: Codes | None = None) -> Cells:
        """The cells of a partition whose rows are numbered by `key`, (n_rows,), from 0 without gaps."""
        of_row, group, value, count = numbered_inside_groups(partition.group, key)
        if people is not None:
            count = _people_of(of_row, people, len(value))
            return cls(of_row, group, value, count, count / _people_of(partition.group, people)[group], people)
        return cls(of_row, group, value, count, count / partition.sizes[group])

    def __len__(self) -> int:
        return len(self.group)

    @property
    def starts(self) -> Int64:
        """Where the cells of each group begin, int64 (n_groups + 1,)."""
        return starts_of(np.bincount(self.group))


@record
class Entries:
    """Sensitive values of each cell: codes `code[start[c]:start[c + 1]]` with their shares of the cell."""

    start: Int64
    code: Int64
    share: Floats

    @classmethod
    def of(cls, fragment: Fragment, cells: Cells, attribute: str, n_codes: int) -> Entries:
        """Values of a sensitive attribute as the fragment publishes them beside the cells.

        Where a group has only a set of values, each of them is equally likely for every cell of the group.
        """
        partition, codes = published_values(fragment, attribute)
        if isinstance(fragment.recodings[attribute], Exact):
            of_row, cell, code, count = numbered_inside_groups(cells.of_row, codes.astype(np.int64))
            if cells.people is not None:
                count = _people_of(of_row, cells.people, len(code))
            return cls(starts_of(np.bincount(cell, minlength=len(cells))), code, count / cells.count[cell])
        sizes = partition.sizes[cells.group]
        positions = runs_from(partition.starts[cells.group], sizes)
        return cls(starts_of(sizes), codes[positions].astype(np.int64), np.repeat(1 / sizes, sizes))

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def sizes(self) -> Int64:
        """Number of values of each cell, int64 (n_cells,)."""
        return np.diff(self.start)

    @property
    def cell(self) -> Int64:
        """The cell of each entry, int64 (n_entries,)."""
        return owners(self.sizes)

    @property
    def totals(self) -> Floats:
        """What the shares of each cell add up to: 1, or more where a person may have several values."""
        sums = np.add.reduceat(self.share, self.start[:-1])
        return np.where(np.abs(sums - 1) < 1e-9, 1.0, sums)

    def some(self, cells: Int64) -> Entries:
        """The entries of some cells, in their order."""
        sizes = self.sizes[cells]
        at = runs_from(self.start[cells], sizes)
        return Entries(starts_of(sizes), self.code[at], self.share[at])

    def share_of(self, cells: Int64, codes: Int64 | Codes, n_codes: int) -> Floats:
        """The share that some codes have in some cells, float (len(cells),); codes ascend within each cell."""
        if len(self) * n_codes <= DENSE * (len(self.code) + len(cells)):
            return self.dense(n_codes)[cells, codes]
        return looked_up(self.cell * n_codes + self.code, self.share, cells * n_codes + codes)

    def dense(self, n_codes: int) -> Floats:
        """Share of every code in each cell, (n_cells, n_codes): for cells of which few are looked at together."""
        shares = np.zeros((len(self), n_codes))
        shares[self.cell, self.code] = self.share
        return shares
