"""The most that the two-way error can be, whatever the original of the published tables was.

A pair of attributes is judged by what of it a reader gets right for certain. The truth puts every row into one pair of
values that its published cells allow, and the reader expects at least the row's own share there. So of a pair of values
with t true and e expected rows min(t, e) lie in the right place, and the functions below give numbers that the sum of
these cannot fall below.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd

from anoncore.base.arguments import checked
from anoncore.base.errors import ReleaseError
from anoncore.base.number import COST, EVERY_FORM, measure
from anoncore.base.score import Score
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.release.reading.published_values import ADVICE
from anoncore.release.recoding import Distorted, Exact, GroupValues, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.table.domain import Kind
from anoncore.utility.reconstruction import Column, Reader, paired_attributes, totals

TWO_WAY_ERROR_BOUND = replace(
    COST,
    name="two-way-error-bound",
    title="Two-way error at most",
    template=(
        "No larger share of the rows lies in the wrong place in a table of two attributes reconstructed from the "
        "release, on average over all pairs, whatever table the release was made of."
    ),
    source="largest total variation distance of two-way margins that the published tables allow",
    baseline="0: the original table.",
    release_forms=EVERY_FORM,
)
ASSUMED = (
    "No value was changed before it was published, and a text that no hierarchy has as a group of values is one value. "
    "Rows and attributes that were left out do not count."
)
"""What is taken for true of tables whose original is not given."""
CHANGED = (
    "How much of the two-way error is possible cannot be told from a table in which every cell of what may be known is "
    "a single value: values that were changed look like true ones"
)
OR_VALUES = " Or say all values of these attributes as `values`."
"""What also helps where it is not known how many values cells allow."""


class TwoWayErrorBound(Score):
    """The largest two-way error that the published tables leave possible, from 0 to 1.

    Attributes
    ----------
    pairs : DataFrame
        The largest distance of every pair, attributes by attributes; 0 between an attribute and itself.
    uncounted : tuple of str
        The attributes with cells that do not tell how many values they allow. Rows with such a cell count as wrong in
        every pair with the attribute.
    assumed : str
        What is taken for true where the release was read without its original; else empty.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Anatomy
    >>> people = pd.DataFrame({"age": [20, 60], "sex": ["f", "m"], "disease": ["flu", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "sex": "quasi-identifier", "disease": "sensitive"})
    >>> utility.two_way_error_bound(Anatomy(l=2).anonymize(data)).pairs
             age  sex  disease
    age      0.0  0.0      0.5
    sex      0.0  0.0      0.5
    disease  0.5  0.5      0.0
    """

    pairs: pd.DataFrame
    uncounted: tuple[str, ...]
    assumed: str


@measure(TWO_WAY_ERROR_BOUND)
@checked
def two_way_error_bound(release: Release) -> TwoWayErrorBound:
    """The largest two-way error that is possible by what a release publishes, whatever table it was made of.

    Two tables can have the same release and different two-way errors, so without the original nobody can tell the
    error. Yet it cannot be larger than this, for any table that the published cells allow.

    Where both attributes stand in one table, a row whose cells allow m pairs of values is right with at least 1/m.
    Where only the group links them, values that fill much of their group are right all the same: a value is linked with
    as many rows as its group has of it, whichever these are. The bound is reached by tables in which all rows of a
    group agree, or are linked as far from chance as can be, and groups have no values in common; others are below it.

    It is the same with and without the original, for readers who know all values of the attributes. Where the published
    tables do not tell these, a cell may allow any number of values: its row counts as wrong. Give all values of an
    attribute as `values` of `Release.from_published` then.

    Parameters
    ----------
    release : Release
        The release that is judged, with or without its original.

    Returns
    -------
    TwoWayErrorBound
        The largest mean distance, from 0 (all pairs are kept) to 1, with the largest distance of every pair.

    Raises
    ------
    ReleaseError
        If fewer than two quasi-identifiers and sensitive attributes are published, where rows are nobody's, and where
        values were changed: where the original shows it, or tables contradict each other. Without the original also
        for a single table of single values, which may all have been changed, and where no cell tells how many values
        it allows.

    Notes
    -----
    Assumes: no value was changed before it was published; the reader is that of `two_way_error`. Without the original
      also what `assumed` says.
    Cost: O(n log n) per attribute and O(n) per pair for n rows.
    Use: the original is not at hand and somebody asks how wrong the tables can be.
    Avoid: the original is at hand: `two_way_error` tells the error itself, which is often far below.

    References
    ----------
    The pair with the fewest right rows is found by the rearrangement inequality (Hardy, Littlewood and Polya,
    Inequalities, 1934, theorem 368) in every group.

    Examples
    --------
    Do the young have the flu and the old a cold, or do both have both? The tables do not tell. A reader expects each of
    the four combinations once, so that two of four rows lie in the wrong place in the first case and none in the
    second. There is no case in which it is more than two:

    >>> import pandas as pd
    >>> from anoncore import Release, utility
    >>> published = {
    ...     "known": pd.DataFrame({"group": [1, 1, 1, 1], "age": [20, 20, 60, 60]}),
    ...     "secret": pd.DataFrame({"group": [1, 1, 1, 1], "disease": ["flu", "flu", "cold", "cold"]}),
    ... }
    >>> release = Release.from_published(published, {"age": "quasi-identifier", "disease": "sensitive"})
    >>> float(utility.two_way_error_bound(release))
    0.5
    """
    release.require_people("How wrong a table can be is told by rows that were made of people's")
    names = paired_attributes(release)
    if not release.data.knows_rows and _may_be_changed(release):
        raise ReleaseError(f"{CHANGED}. {ADVICE}")
    certain = _Certain(release)
    distances = np.zeros((len(names), len(names)))
    for first, second in combinations(range(len(names)), 2):
        right = certain.rows(names[first], names[second]) / release.data.n_rows
        distances[[first, second], [second, first]] = min(max(1.0 - right, 0.0), 1.0)
    above = distances[np.triu_indices(len(names), 1)]
    uncounted = tuple(name for name in names if certain.has_uncounted(name))
    if uncounted and above.min() == 1.0:
        raise ReleaseError(
            f"The published tables alone do not tell how many values the cells of {listing(uncounted)} allow, so any "
            f"two-way error is possible. {ADVICE}{OR_VALUES}"
        )
    return TwoWayErrorBound(
        float(above.mean()),
        TWO_WAY_ERROR_BOUND,
        baseline=0.0,
        pairs=pd.DataFrame(distances, index=names, columns=names),
        uncounted=uncounted,
        assumed="" if release.data.knows_rows else ASSUMED,
    )


def _may_be_changed(release: Release) -> bool:
    """Whether a single table has nothing but single values of what may be known, so that any of them may be false."""
    if len(release.fragments) > 1:
        return False
    (fragment,), known = release.fragments, release.data.quasi_identifiers
    uncounted = release.data.uncounted_cells
    return all(
        isinstance(recoding, Exact) and not uncounted[fragment.name, name].any()
        for name, recoding in fragment.recodings.items()
        if name in known
    )


@record
class _Cells:
    """The cells of an attribute in a fragment, by row.

    `region` int64 (n_rows,): rows have the same number where their cells allow the same values. `share` float
    (n_rows,): 1 / number of values that the cell allows, and 0 where that is not known.
    """

    column: Column
    region: Int64
    share: Floats

    @cached_property
    def n_regions(self) -> int:
        return int(self.region.max()) + 1


@record
class _Grouped:
    """The cells of an attribute in groups, one group after the other, each array float (n_rows,) and sorted by group.

    `filled` ascends in every group: for each row, how many rows of the group have its region, times the share of its
    cell. `shares` are the shares, descending. `alike` ascends: the number of rows with the region alone. `least` is the
    smallest share of the row's group.
    """

    filled: Floats
    shares: Floats
    alike: Floats
    least: Floats


class _Certain:
    """The rows of a release that a reader certainly puts into the right place, pair by pair."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.reader = Reader(release)
        self._cells: dict[tuple[str, str], _Cells] = {}
        self._grouped: dict[tuple[str, str, str | None], _Grouped] = {}
        self._starts: dict[tuple[str, str | None], Int64] = {}

    def has_uncounted(self, name: str) -> bool:
        """Whether some cell of an attribute does not tell how many values it allows."""
        return any(bool((self.cells(one, name).share == 0).any()) for one in self._fragments(name))

    def rows(self, first: str, second: str) -> float:
        """Fewest rows in the right place in the table of two attributes."""
        together = self.reader.together(first, second)
        if together is not None:
            # The reader spreads the row over its pairs of values, of which the true one is one.
            return float(self.cells(together, first).share @ self.cells(together, second).share)
        fragments = self.release.fragment_of(first), self.release.fragment_of(second)
        if self.release.is_shared:
            return self._linked(fragments, (first, second), None)
        shared = [
            next((name for name in one.recodings if name in other.recodings), None)
            for one, other in (fragments, fragments[::-1])
        ]
        # The first attribute that both publish depends on whose order counts.
        return min(self._joined(fragments, (first, second), link) for link in set(shared))

    def _fragments(self, name: str) -> list[Fragment]:
        return [one for one in self.release.fragments if name in one.recodings]

    def cells(self, fragment: Fragment, name: str) -> _Cells:
        """The cells of an attribute, worked out once. Raises ReleaseError where the original shows changed values."""
        key = (fragment.name, name)
        if key not in self._cells:
            column = self.reader.column(fragment, name)
            if _tells_changes(fragment.recodings[name]):
                self._check_unchanged(name, column)
            of_row = column.of_row
            region = of_row.astype(np.int64)
            if not column.is_exact:
                region = column.regions.numbered(column.n_codes)[of_row]
            share = 1 / column.regions.sizes[of_row]
            unknown = self.release.data.uncounted_cells.get(key)
            if unknown is not None:
                # Such a cell was read as the values that are mentioned, and yet no cell of just these is like it.
                region, share = np.where(unknown, region.max() + 1, region), np.where(unknown, 0.0, share)
            self._cells[key] = _Cells(column, region, share)
        return self._cells[key]

    def _check_unchanged(self, name: str, column: Column) -> None:
        data = self.release.data
        if not data.knows_rows:
            return
        codes = data.codes[name]
        allowed = (
            codes == column.of_row if column.is_exact else column.regions.allow(column.of_row, codes, column.n_codes)
        )
        n_changed = int((~allowed).sum())
        if n_changed:
            raise ReleaseError(
                f"{n_changed:,} of {data.n_rows:,} rows do not publish their value of '{name}' but another one, so "
                "what is published rules nothing out. The original is known: ask two_way_error."
            )

    def _linked(self, fragments: tuple[Fragment, Fragment], names: tuple[str, str], link: str | None) -> float:
        """Fewest rows in the right place where any rows of a group may belong together.

        The groups are those of the release, or else of the exact values of `link`. In a group of n rows the reader
        expects a b / n rows at a region with a and one with b rows, spread over p q pairs of values. At most min(a, b)
        rows truly lie there, so that a row which does is right with max(a, b) / (n p q) or more. Of all ways to link
        the rows of the group, three sums are smallest for links between sorted rows: that of a / p times 1 / q, that
        of 1 / p times b / q, and that of max(a, b).
        """
        one, other = (self._in_groups(fragment, name, link) for fragment, name in zip(fragments, names, strict=True))
        starts = self._group_starts(fragments[0], link)
        sums = (
            one.filled * other.shares,
            one.shares * other.filled,
            one.least * other.least * np.maximum(one.alike, other.alike),
        )
        right = np.max([np.add.reduceat(each, starts) for each in sums], axis=0)
        return float((right / np.diff(starts, append=self.release.data.n_rows)).sum())

    def _group_of(self, fragment: Fragment, link: str | None) -> Codes | Int64:
        if link is not None:
            return self.cells(fragment, link).region
        return self.release.partition.group if self.release.is_shared else np.zeros(self.release.n_records, np.int64)

    def _group_starts(self, fragment: Fragment, link: str | None) -> Int64:
        key = ("" if link is None else fragment.name, link)
        if key not in self._starts:
            sizes = np.bincount(self._group_of(fragment, link))
            sizes = sizes[sizes > 0]
            self._starts[key] = np.cumsum(sizes) - sizes
        return self._starts[key]

    def _in_groups(self, fragment: Fragment, name: str, link: str | None) -> _Grouped:
        """The cells of an attribute in the groups of the release or of a linking attribute."""
        key = (fragment.name, name, link)
        if key not in self._grouped:
            cells, group = self.cells(fragment, name), self._group_of(fragment, link)
            alike = _rows_alike(group.astype(np.int64) * cells.n_regions + cells.region)
            starts = self._group_starts(fragment, link)
            shares = _sorted_in(group, -cells.share)
            least = np.repeat(-np.maximum.reduceat(shares, starts), np.diff(starts, append=len(shares)))
            self._grouped[key] = _Grouped(
                _sorted_in(group, alike * cells.share), -shares, _sorted_in(group, alike), least
            )
        return self._grouped[key]

    def _joined(self, fragments: tuple[Fragment, Fragment], names: tuple[str, str], link: str | None) -> float:
        """Fewest rows in the right place where tables with groups of their own are joined by an attribute."""
        if link is None:
            return self._linked(fragments, names, None)
        links = [self.cells(fragment, link) for fragment in fragments]
        if any((one.share == 0).any() for one in links):
            return 0.0
        if all(one.column.is_exact for one in links):
            sizes = [np.bincount(one.region, minlength=one.column.n_codes) for one in links]
            if not np.array_equal(sizes[0], sizes[1]):
                raise ReleaseError(
                    f"'{link}' does not have the same values in '{fragments[0].name}' and '{fragments[1].name}', so "
                    f"some were changed, and what is published rules nothing out. {ADVICE}"
                )
            return self._linked(fragments, names, link)
        domain = self.release.data.domain[link]
        if domain.kind is Kind.NUMERIC and domain.tree is not None:
            # A hierarchy may list numbers that nobody has, and then nobody knows how often the others are expected.
            return 0.0
        # Each pair of rows with a linking value counts by 1 / the rows that the table with more of them has.
        n_paired = np.maximum(*(totals(one.column) for one in links))
        return max(
            self._by_regions(fragments, names, links, n_paired),
            self._by_regions(fragments[::-1], names[::-1], links[::-1], n_paired),
        )

    def _by_regions(
        self,
        fragments: tuple[Fragment, Fragment],
        names: tuple[str, str],
        links: list[_Cells],
        n_paired: Floats,
    ) -> float:
        """Fewest rows in the right place where the cells of the linking attribute allow several values.

        The reader expects a b / (p q r s n) rows or more where a rows of one table have a region of p values and r of
        the link, b rows of the other one have q and s, and `n_paired` is n at a linking value that both allow. At most
        b rows truly lie there, so that a row which does is right with a / (p q r s n) or more.
        """
        mine, theirs = (self.cells(fragment, name) for fragment, name in zip(fragments, names, strict=True))
        alike = _rows_alike(mine.region * links[0].n_regions + links[0].region)
        most_paired = links[0].column.regions.largest(n_paired)[links[0].column.of_row]
        filled = np.sort(alike * mine.share * links[0].share / most_paired)
        return float(filled @ np.sort(theirs.share * links[1].share)[::-1])


def _tells_changes(recoding: Recoding) -> bool:
    """Whether a cell that does not allow the value of its row shows a changed value.

    Where it could not be worked out which published lines are which rows, some rows stand beside single values and
    lists that are not theirs. These are true of other rows all the same.
    """
    if isinstance(recoding, GroupValues):
        return recoding.original is not None
    return isinstance(recoding, Distorted) or not isinstance(recoding, Exact)


def _rows_alike(key: Int64) -> Floats:
    """How many rows have the key of each row, float (n_rows,)."""
    _, number, counts = np.unique(key, return_inverse=True, return_counts=True)
    return counts[number].astype(np.float64)


def _sorted_in(group: Codes | Int64, values: Floats) -> Floats:
    """The values of one group after the other, ascending in each."""
    return values[np.lexsort((values, group))]
