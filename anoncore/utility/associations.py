"""How well a release keeps the association between pairs of attributes, by their expected contingency tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError, ParameterError, ReleaseError
from anoncore.base.number import ALSO_SYNTHETIC, Number, measure
from anoncore.base.score import Score
from anoncore.base.shared_work import shared
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.kernels.grouping import starts_of
from anoncore.kernels.rounding import ACCUMULATED
from anoncore.release.partition import Partition
from anoncore.release.recoding import ColumnRegions, Exact, Generalized, GroupValues, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.table.domain import Domain, Kind
from anoncore.table.microdata import Microdata
from anoncore.utility.reconstruction import regions_of

MOST_CATEGORIES = 100
"""Cells of one attribute without order, at most; the least frequent categories share the last."""
MOST_CELLS = 4_000
"""Cells of all attributes together: a contingency table of all pairs has the square of it."""


@record
class Cells:
    """The cells of several attributes: `of_code[name]` int32 (domain size,) is the cell of each code."""

    of_code: Mapping[str, Codes]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of cells per attribute; none is empty in the original table."""
        return {name: int(cell.max()) + 1 for name, cell in self.of_code.items()}

    def starts(self, names: Sequence[str]) -> Int64:
        """Where each attribute's cells begin when they stand side by side, int64 (number of names + 1,)."""
        return starts_of(self.sizes[name] for name in names)


def cut(data: Microdata, names: Sequence[str], intervals: int) -> Cells:
    """Cut numeric attributes into intervals of equal width; keep categories.

    Empty intervals are dropped and missing is a cell of its own. Of an attribute with more categories than a
    contingency table can hold (100, fewer in a wide table), the least frequent ones share a cell.
    """
    categories = min(MOST_CATEGORIES, max(MOST_CELLS // max(len(names), 1), intervals))
    cells = {}
    for name in names:
        domain = data.domain[name]
        if domain.kind is Kind.NUMERIC:
            cells[name] = _intervals(domain, intervals)
        else:
            cells[name] = _categories(np.bincount(data.codes[name], minlength=len(domain)), categories)
    return Cells(cells)


def _intervals(domain: Domain, intervals: int) -> Codes:
    numbers = domain.steps[: len(domain.values)]
    width = numbers[-1] - numbers[0] if len(numbers) else 0.0
    interval = np.zeros(len(domain), np.int64)
    if width > 0:
        # A number where an interval begins lies in it, whatever rounding makes of it in the unit at hand.
        place = (numbers - numbers[0]) * intervals / width * (1 + ACCUMULATED)
        interval[: len(numbers)] = np.minimum(place, intervals - 1)
    if domain.missing_code is not None:
        interval[domain.missing_code] = intervals
    return np.unique(interval, return_inverse=True)[1].astype(np.int32)


def _categories(counts: Int64, limit: int) -> Codes:
    if len(counts) <= limit:
        return np.arange(len(counts), dtype=np.int32)
    cell = np.full(len(counts), limit - 1, np.int32)
    cell[np.argsort(-counts, kind="stable")[: limit - 1]] = np.arange(limit - 1, dtype=np.int32)
    return cell


MOST_ENTRIES = 4_000_000
"""Entries of a table of groups by cells that are held at once."""
INTERVALS = 10

ASSOCIATION_ERROR = Number(
    name="association-error",
    title="Association error",
    template="How far the association (phi squared) of two attributes is from that in the original, on average.",
    family="cost",
    source="Cramer, 1946",
    unit="phi squared",
    higher_is_better=False,
    bounds=(0.0, 1.0),
    baseline="0: the original table.",
    release_forms=ALSO_SYNTHETIC,
    is_slow=True,
)


@record
class PairTable:
    """Contingency tables of all pairs of attributes side by side.

    `counts` is symmetric, float (total cells, total cells); the cells of attribute `names[i]` stand at
    `starts[i]:starts[i + 1]` of both axes.
    """

    names: tuple[str, ...]
    starts: Int64
    counts: Floats

    def places(self, names: Sequence[str]) -> Int64:
        """Positions of the cells of some attributes in `counts`."""
        numbers = [self.names.index(name) for name in names]
        return np.concatenate([np.arange(self.starts[i], self.starts[i + 1]) for i in numbers])

    def block(self, rows: Sequence[str], columns: Sequence[str]) -> Floats:
        """The counts between some attributes and others."""
        return self.counts[np.ix_(self.places(rows), self.places(columns))]

    def totals(self, name: str) -> Floats:
        """Expected rows in each cell of one attribute."""
        return self.block([name], [name]).sum(axis=1)


def original_counts(data: Microdata, cells: Cells) -> PairTable:
    """Rows per pair of cells in the original table."""
    return _row_counts({name: data.codes[name] for name in cells.of_code}, cells)


def released_counts(release: Release, cells: Cells) -> PairTable:
    """Expected rows per pair of cells by what the release publishes.

    A generalized cell spreads evenly over the values of its region, independently of the row's other cells. Exact
    attributes of one fragment are counted row by row. Attributes of different fragments are linked within the groups of
    a shared partition, n_a n_b / |G|; with partitions of their own, through an attribute that both fragments publish,
    sum over c of n_ac n_bc / n_c; else they count as independent.
    """
    if not release.is_shared:
        return _linked_counts(release, cells)
    partition = release.fragments[0].partition
    table = _group_counts({name: release.recoding(name) for name in cells.of_code}, partition, cells)
    for fragment in release.fragments:
        _count_column_classes(table, fragment, cells)
        _count_exact_rows(table, fragment, cells)
    return table


def _row_counts(codes: Mapping[str, Codes], cells: Cells) -> PairTable:
    starts = cells.starts(tuple(codes))
    rows, sizes = [cells.of_code[name][column] for name, column in codes.items()], np.diff(starts).tolist()
    counts, places = np.zeros((starts[-1], starts[-1])), list(map(slice, starts[:-1], starts[1:]))
    for a, b in combinations_with_replacement(range(len(rows)), 2):
        pairs = np.bincount(rows[a] * sizes[b] + rows[b], minlength=sizes[a] * sizes[b]).reshape(sizes[a], sizes[b])
        counts[places[a], places[b]], counts[places[b], places[a]] = pairs, pairs.T
    return PairTable(tuple(codes), starts, counts)


def _group_counts(recodings: Mapping[str, Recoding], partition: Partition, cells: Cells) -> PairTable:
    """Expected counts of attributes that are independent within each group: sum over G of |G| share_a share_b."""
    starts = cells.starts(tuple(recodings))
    counts = np.zeros((starts[-1], starts[-1]))
    step = max(1, MOST_ENTRIES // int(starts[-1]))
    for begin in range(0, partition.n_groups, step):
        end = min(begin + step, partition.n_groups)
        shares_of_attributes = [
            _shares(recoding, cells.of_code[name], cells.sizes[name], begin, end)
            for name, recoding in recodings.items()
        ]
        shares = np.hstack(shares_of_attributes)
        counts += shares.T @ (shares * partition.sizes[begin:end, None])
    return PairTable(tuple(recodings), starts, counts)


def _shares(recoding: Recoding, cell: Codes, n_cells: int, begin: int, end: int) -> Floats:
    """Expected share of each cell in the groups begin..end-1, (number of groups, n_cells)."""
    if isinstance(recoding, Generalized | GroupValues):
        return regions_of(recoding).shares(cell, n_cells, begin, end)
    partition = recoding.partition
    if isinstance(recoding, ColumnRegions):
        of_class = _shares(recoding.classes, cell, n_cells, 0, recoding.classes.partition.n_groups)
        rows = partition.order[partition.starts[begin] : partition.starts[end]]
        sums = np.add.reduceat(
            of_class[recoding.classes.partition.group[rows]], partition.starts[begin:end] - partition.starts[begin]
        )
        return sums / partition.sizes[begin:end, None]
    codes, _ = recoding.bounds()
    rows = partition.order[partition.starts[begin] : partition.starts[end]]
    key = (partition.group[rows] - begin).astype(np.int64) * n_cells + cell[codes[rows]]
    per_group = np.bincount(key, minlength=(end - begin) * n_cells).reshape(-1, n_cells)
    return per_group / partition.sizes[begin:end, None]


def _count_column_classes(table: PairTable, fragment: Fragment, cells: Cells) -> None:
    """Overwrite the pairs of a column that is generalized on its own, whose cells stand together in its classes."""
    regions = [recoding for recoding in fragment.recodings.values() if isinstance(recoding, ColumnRegions)]
    if not regions:
        return
    classes = regions[0].classes.partition
    within = {
        name: recoding.classes if isinstance(recoding, ColumnRegions) else replace(recoding, partition=classes)
        for name, recoding in fragment.recodings.items()
    }
    places = table.places(tuple(within))
    table.counts[np.ix_(places, places)] = _group_counts(within, classes, cells).counts


def _count_exact_rows(table: PairTable, fragment: Fragment, cells: Cells) -> None:
    """Overwrite the pairs that the fragment publishes exactly with their counts row by row."""
    exact = {name: recoding.codes for name, recoding in fragment.recodings.items() if isinstance(recoding, Exact)}
    if exact:
        places = table.places(tuple(exact))
        table.counts[np.ix_(places, places)] = _row_counts(exact, cells).counts


def _linked_counts(release: Release, cells: Cells) -> PairTable:
    """Expected counts of fragments with partitions of their own; a pair in several fragments counts in the first."""
    tables = []
    for fragment in release.fragments:
        table = _group_counts(fragment.recodings, fragment.partition, cells)
        _count_exact_rows(table, fragment, cells)
        tables.append(table)
    names = tuple(cells.of_code)
    starts = cells.starts(names)
    whole = PairTable(names, starts, np.zeros((starts[-1], starts[-1])))
    for i, table in enumerate(tables):
        for other in tables[:i]:
            rows, columns = whole.places(table.names), whole.places(other.names)
            block = _across(table, other, release.data.n_rows)
            whole.counts[np.ix_(rows, columns)] = block
            whole.counts[np.ix_(columns, rows)] = block.T
    for table in reversed(tables):
        places = whole.places(table.names)
        whole.counts[np.ix_(places, places)] = table.counts
    return whole


def _across(table: PairTable, other: PairTable, n_rows: int) -> Floats:
    """Expected counts between the attributes of two fragments, linked by the first attribute that both publish."""
    shared = next((name for name in table.names if name in other.names), None)
    if shared is None:
        own, foreign = (np.concatenate([part.totals(name) for name in part.names]) for part in (table, other))
        return np.outer(own, foreign) / n_rows
    own, foreign = table.totals(shared), other.totals(shared)
    weight = np.divide((own + foreign) / 2, own * foreign, out=np.zeros_like(own), where=own * foreign > 0)
    linked: Floats = (table.block(table.names, [shared]) * weight) @ other.block([shared], other.names)
    return linked


class AssociationError(Score):
    """How far the association of two attributes in the release is from that in the original table, on average.

    It is the mean absolute difference of phi squared over all pairs of published attributes, from 0 (all kept) to 1.

    Attributes
    ----------
    original : DataFrame
        Phi squared of every pair in the original table, attributes by attributes.
    released : DataFrame
        The same in the release.
    difference : DataFrame
        Released minus original.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 20, 60, 60], "disease": ["flu", "flu", "cold", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> error = utility.association_error(Mondrian(requirements=[KAnonymity(k=4)]).anonymize(data))
    >>> float(error), float(error.difference.loc["age", "disease"])
    (1.0, -1.0)
    """

    original: pd.DataFrame
    released: pd.DataFrame
    difference: pd.DataFrame


@checked
def association(data: Microdata, intervals: int = INTERVALS) -> pd.DataFrame:
    """How closely every two attributes of the original table go together: phi squared, from 0 (independent) to 1.

    phi^2(A, B) is the sum over all pairs of values of (f_ij - f_i f_j)^2 / (f_i f_j), divided by min(d_A, d_B) - 1,
    where f are shares of rows and d numbers of values. It is 0 where an attribute is constant. Identifiers have none.

    Parameters
    ----------
    data : Microdata
        The table.
    intervals : int
        Intervals of equal width into which numbers are cut, at least 2; empty ones do not count.

    Returns
    -------
    DataFrame
        Phi squared of every pair, attributes by attributes.

    Raises
    ------
    ParameterError
        For fewer than 2 intervals.
    DataError
        For a table that has only identifiers.

    References
    ----------
    Li et al., slicing, section 4.1.

    Examples
    --------
    All young people have the flu and all old ones a cold:

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 20, 60, 60], "disease": ["flu", "flu", "cold", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> utility.association(data)
             age  disease
    age      1.0      1.0
    disease  1.0      1.0
    """
    _check_intervals(intervals)
    if not data.attributes:
        raise DataError("The table has only identifiers; association needs attributes that may be published.")
    # Slicing asks for it again and again while it looks for columns; whoever gets it may write into it.
    return shared(
        data,
        ("association", intervals),
        lambda: _frame(original_counts(data, cut(data, data.attributes, intervals))),
    ).copy()


@measure(ASSOCIATION_ERROR)
@checked
def association_error(release: Release, intervals: int = INTERVALS) -> AssociationError:
    """How well a release keeps the associations between attributes: the mean of |phi^2 released - phi^2 original|.

    The mean is over all pairs of published attributes. `association` defines phi squared; in the release it comes from
    the rows that are expected for each pair of values.

    Parameters
    ----------
    release : Release
        The release that is judged.
    intervals : int
        Intervals of equal width into which numbers are cut, at least 2.

    Returns
    -------
    AssociationError
        The mean difference, with the phi squared of every pair before and after.

    Raises
    ------
    ReleaseError
        If fewer than two attributes are published.
    ParameterError
        For fewer than 2 intervals.

    Notes
    -----
    Assumes: numbers are compared in intervals; a reader takes values of a region for equally likely and fragments for
      independent inside a group.
    Cost: one table of counts per pair of attributes.
    Use: readers look for relations between attributes.
    Avoid: one relation alone counts: then look at the map of pairs, or at `classification`.

    References
    ----------
    Li et al., slicing, section 4.1 (phi squared); Cramer, 1946.

    Examples
    --------
    All young people have the flu and all old ones a cold. Two classes, young and old, keep that; one class of all loses
    it:

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 20, 60, 60], "disease": ["flu", "flu", "cold", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> float(utility.association_error(Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)))
    0.0
    >>> float(utility.association_error(Mondrian(requirements=[KAnonymity(k=4)]).anonymize(data)))
    1.0
    """
    _check_intervals(intervals)
    names = release.attributes
    if len(names) < 2:
        raise ReleaseError("The release publishes fewer than two attributes; association needs a pair.")
    cells = cut(release.data, names, intervals)
    original, released = _frame(original_counts(release.data, cells)), _frame(released_counts(release, cells))
    difference = released - original
    pairs = np.abs(difference.to_numpy())[np.triu_indices(len(names), 1)]
    return AssociationError(
        float(pairs.mean()),
        ASSOCIATION_ERROR,
        baseline=0.0,
        original=original,
        released=released,
        difference=difference,
    )


def _check_intervals(intervals: int) -> None:
    if intervals < 2:
        raise ParameterError(f"Numbers are cut into at least 2 intervals, not {intervals}.")


def _frame(table: PairTable) -> pd.DataFrame:
    """Phi squared of every pair; 1 of an attribute with itself."""
    names = list(table.names)
    values = _phi_squared(table)
    np.fill_diagonal(values, 1.0)
    return pd.DataFrame(values, index=names, columns=names)


def _phi_squared(table: PairTable) -> Floats:
    """sum f_ij^2 / (f_i f_j) - 1, the same as the definition's sum, divided by min(d) - 1."""
    begins, sizes = table.starts[:-1], np.diff(table.starts)
    margin = np.repeat(np.add.reduceat(table.counts, begins, axis=1), sizes, axis=1)
    expected = margin * margin.T
    terms = np.divide(np.square(table.counts), expected, out=np.zeros_like(expected), where=expected > 0)
    sums = np.add.reduceat(np.add.reduceat(terms, begins, axis=0), begins, axis=1)
    most = np.minimum.outer(sizes, sizes) - 1
    phi = np.divide(sums - 1, most, out=np.zeros_like(sums), where=most > 0)
    return np.clip(phi, 0.0, 1.0)
