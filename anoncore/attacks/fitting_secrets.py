"""What the published cells that fit a person say of a secret: the adversary who reasons by the release's own rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from anoncore.attacks.control_people import People
from anoncore.base.errors import ReleaseError
from anoncore.kernels.arrays import Floats, Int64, record
from anoncore.kernels.grouping import numbered_inside_groups, occurring_pairs, runs_from, starts_of
from anoncore.kernels.guessing import Regions, group_weights, secret_scores
from anoncore.privacy.published import Cells, published_key
from anoncore.release.overlap import links
from anoncore.release.partition import Partition
from anoncore.release.population import regions
from anoncore.release.recoding import ColumnRegions, Exact
from anoncore.release.release import Fragment, Release

BATCH_CELLS = 8_000_000
"""Beliefs, and weights of groups, that are worked out at once."""
MOST_ENTRIES = 20_000_000
"""Values of published regions that are counted one by one; of larger ones the middle stands for all."""


@record
class Factor:
    """What one column of a release shows of what the adversary knows, cell by cell.

    `allowed` float (n_cells,) is the number of values that each cell allows. With `power` -1 it is what two columns
    show both.
    """

    names: tuple[str, ...]
    cells: Cells
    regions: Regions
    allowed: Floats
    power: int

    @classmethod
    def of(cls, fragment: Fragment, names: Sequence[str], partition: Partition, power: int = 1) -> Factor:
        """Of a fragment, by the groups of `partition`."""
        return cls.in_cells(fragment, names, Cells.of(partition, published_key(fragment, names)), power)

    @classmethod
    def in_cells(cls, fragment: Fragment, names: Sequence[str], cells: Cells, power: int = 1) -> Factor:
        """Of a fragment, by the given cells. The attribute with most values comes first: it tells most."""
        names = tuple(sorted(names, key=lambda name: -len(fragment.recodings[name].domain)))
        n_cells, n_rows = len(cells), len(cells.of_row)
        if not names:
            nothing = np.zeros((n_cells, 0), np.int32)
            start, no_members = np.zeros((n_cells, 1), np.int64), np.zeros(0, np.int32)
            return cls(names, cells, Regions(nothing, nothing, start, no_members), np.ones(n_cells), power)
        first = np.empty(n_cells, np.int64)
        first[cells.of_row[::-1]] = np.arange(n_rows)[::-1]
        shown = regions([(fragment.recodings[name], first) for name in names])
        sizes = np.diff(shown.set_start, axis=1)
        allowed = np.where(sizes > 0, sizes, shown.high - shown.low + 1).astype(np.float64).prod(axis=1)
        return cls(names, cells, shown, allowed, power)

    @property
    def weight(self) -> Floats:
        """The share of a group's rows in each cell over the number of values that it allows, float (n_cells,): how
        likely somebody of the group has exactly these values.
        """
        return self.cells.share / self.allowed

    def weigh(self, people: People, product: Floats) -> None:
        """Multiply `product`, float (n_people, n_groups), by how likely each group shows a person's values."""
        group_weights(
            people.of(self.names).positions,
            self.regions,
            self.weight,
            self.cells.group,
            product.shape[1],
            self.power,
            product,
        )


@record
class Evidence:
    """What the columns of one partition say of a secret: `factors` of the other columns, `own` of the secret's column.

    Cell c of `own` has the secret `code[e]` with `share[e]` for e from `start[c]` to `start[c + 1]`.
    """

    factors: tuple[Factor, ...]
    own: Factor
    start: Int64
    code: Int64
    share: Floats
    sizes: Floats


def evidence_of(release: Release, attribute: str, known: Collection[str]) -> tuple[Evidence, ...]:
    """The evidence of a release: of all its columns together where they share groups, else of each fragment alone."""
    if len(release.fragments) > 1 and release.is_shared:
        return (_of_columns(release, attribute, known),)
    found = []
    for fragment in release.fragments:
        if attribute not in fragment.recodings:
            continue
        names = [name for name in fragment.attributes if name in known]
        # Rows of equal cells are alike to the adversary in whatever group.
        whole = Partition(np.zeros(fragment.partition.n_rows, np.int32))
        own = Factor.of(fragment, names, whole)
        found.append(Evidence((), own, *_entries(fragment, own.cells, attribute), np.ones(1)))
    return tuple(found)


def _of_columns(release: Release, attribute: str, known: Collection[str]) -> Evidence:
    fragments, partition = release.fragments, release.partition
    owner = next(number for number, one in enumerate(fragments) if attribute in one.recodings)
    factors = []
    own = None
    for number, fragment in enumerate(fragments):
        names = [name for name in fragment.attributes if name in known]
        if number == owner:
            own = Factor.of(fragment, names, partition)
        elif names:
            factors.append(Factor.of(fragment, names, partition))
    try:
        through = links([fragment.attributes for fragment in fragments])
    except ReleaseError:
        # Columns that overlap in a ring are taken for independent: what they share then counts twice.
        through = ()
    for link in through:
        names = sorted(link.attributes & set(known))
        if names:
            factors.append(Factor.of(fragments[link.parent], names, partition, power=-1))
    assert own is not None  # fragment_of has refused an attribute that nobody publishes
    sizes = partition.sizes.astype(np.float64)
    return Evidence(tuple(factors), own, *_entries(fragments[owner], own.cells, attribute), sizes)


def _entries(fragment: Fragment, cells: Cells, attribute: str) -> tuple[Int64, Int64, Floats]:
    """The secrets of each cell: where they begin, int64 (n_cells + 1,), their codes, and their shares of the cell.

    Of rows that publish a set or range of secrets each value counts alike.
    """
    recoding = fragment.recodings[attribute]
    if isinstance(recoding, Exact):
        return _by_cell(cells, *occurring_pairs(cells.of_row, recoding.codes))
    group = recoding.classes.partition.group if isinstance(recoding, ColumnRegions) else recoding.partition.group
    n_groups = int(group.max()) + 1
    pairs, first, count = np.unique(cells.of_row * n_groups + group, return_index=True, return_counts=True)
    low, high, start, members = regions([(recoding, first)])
    in_set = np.diff(start, axis=1)[:, 0]
    sizes = np.where(in_set > 0, in_set, high[:, 0] - low[:, 0] + 1)
    cell = pairs // n_groups
    if sizes.sum() > MOST_ENTRIES:
        codes, weight = (low[:, 0].astype(np.int64) + high[:, 0]) // 2, count.astype(np.float64)
    else:
        is_set = np.repeat(in_set > 0, sizes)
        codes = runs_from(low[:, 0].astype(np.int64), sizes)
        codes[is_set] = members[runs_from(start[:, 0], sizes)[is_set]]
        cell, weight = np.repeat(cell, sizes), np.repeat(count / sizes, sizes)
    number, cell, code, _ = numbered_inside_groups(cell, codes)
    return _by_cell(cells, cell, code, np.bincount(number, weights=weight))


def _by_cell(cells: Cells, cell: Int64, code: Int64, count: Floats | Int64) -> tuple[Int64, Int64, Floats]:
    start = starts_of(np.bincount(cell, minlength=len(cells)))
    return start, code, count / cells.count[cell]


def beliefs(evidence: Sequence[Evidence], people: People, table: Floats, use: Callable[[Int64, Floats], None]) -> None:
    """Call `use(numbers, beliefs)` with the beliefs of some people after the other, float (len(numbers), n_codes).

    A person's group is as likely as its rows are many and their cells fit the person's values; the secret then has the
    distribution of the fitting rows. Several fragments with groups of their own are independent evidence. A line of
    zeros says that no published cell fits. `table` float (n_codes,) is the published distribution of the secret.
    """
    n_groups = max(len(one.sizes) for one in evidence)
    step = max(1, BATCH_CELLS // max(len(table), n_groups))
    for start in range(0, len(people), step):
        numbers = np.arange(start, min(start + step, len(people)))
        some = people.some(numbers)
        found = [_scores(one, some, len(table)) for one in evidence]
        totals = [one.sum(axis=1, keepdims=True) for one in found]
        shares = [
            np.divide(one, total, out=np.zeros_like(one), where=total > 0)
            for one, total in zip(found, totals, strict=True)
        ]
        use(numbers, shares[0] if len(shares) == 1 else _joined(shares, table))


def _scores(evidence: Evidence, people: People, n_codes: int) -> Floats:
    product = np.tile(evidence.sizes, (len(people), 1))
    for factor in evidence.factors:
        factor.weigh(people, product)
    own = evidence.own
    scores = np.zeros((len(people), n_codes))
    secret_scores(
        people.of(own.names).positions,
        own.regions,
        own.weight,
        own.cells.group,
        product,
        evidence.start,
        evidence.code,
        evidence.share,
        scores,
    )
    return scores


def _joined(shares: list[Floats], table: Floats) -> Floats:
    """Independent evidence: in proportion to q(s) times the product of the shares / q(s); their mean where it is 0."""
    q = np.where(table > 0, table, 1.0)
    speaks = [one.any(axis=1, keepdims=True) for one in shares]
    product = np.where(table > 0, table, 0.0) * np.prod(
        [np.where(spoken, one / q, 1.0) for one, spoken in zip(shares, speaks, strict=True)], axis=0
    )
    product[~np.any(speaks, axis=0)[:, 0]] = 0.0
    total = product.sum(axis=1, keepdims=True)
    number = np.maximum(np.sum(speaks, axis=0), 1)
    mean: Floats = np.sum(shares, axis=0) / number
    return np.where(total > 0, np.divide(product, total, out=np.zeros_like(product), where=total > 0), mean)
