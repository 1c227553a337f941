"""The cells of a published column as what they allow: codes of the values of an attribute."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.texts import FORMULA, is_missing, quoted, value_text
from anoncore.base.typed_values import value_key
from anoncore.kernels.arrays import Bools, Codes, Int64, record
from anoncore.kernels.grouping import starts_of
from anoncore.release.partition import Partition
from anoncore.release.reading.published_table import factorized
from anoncore.release.reading.region_texts import Everything, OneOf, Region, Span, regions_in, set_parts
from anoncore.release.recoding import GeneralizedForm, WrittenRegions
from anoncore.table.domain import Domain, Kind
from anoncore.table.hierarchy import Hierarchy

NO_NODE = -1
SHOWN_FAULTS = 3
SUPPRESSED_TEXT = "*"
FEWEST_ROUNDED = 3
"""Different numbers that a column needs before it may count as rounded."""


@record
class Cell:
    """What one cell allows: the codes from `low` to `high`, or of these only `members`; `node` if it is a node."""

    low: int
    high: int
    members: Codes | None = None
    node: int = NO_NODE

    @property
    def codes(self) -> Codes:
        """All codes that it allows, ascending."""
        return np.arange(self.low, self.high + 1, dtype=np.int32) if self.members is None else self.members


@record
class ReadColumn:
    """A published column: what its different cells allow, and which of them every line has.

    Attributes
    ----------
    domain : Domain
        The values of the attribute.
    cell : ndarray of int32, shape (n_lines,)
        Number of each line's cell.
    cells : tuple of Cell
        The different cells.
    texts : tuple of str
        What is written in each of them.
    says_nothing : ndarray of bool, shape (n_cells,)
        Whether a cell was suppressed.
    read_as : tuple of Region or None
        The region that each of them was taken for; None for values and nodes.
    are_sets : bool
        Whether all cells are sets in braces, also those of one value.
    notes : tuple of str
        What a reader should know of how they were read.
    """

    domain: Domain
    cell: Codes
    cells: tuple[Cell, ...]
    texts: tuple[str, ...]
    says_nothing: Bools
    read_as: tuple[Region | None, ...]
    are_sets: bool
    notes: tuple[str, ...] = ()

    @cached_property
    def low(self) -> Codes:
        """Lowest code of each cell, int32 (n_cells,)."""
        return np.array([cell.low for cell in self.cells], np.int32)

    @cached_property
    def high(self) -> Codes:
        """Highest code of each cell, int32 (n_cells,)."""
        return np.array([cell.high for cell in self.cells], np.int32)

    @property
    def is_exact(self) -> bool:
        """Whether every cell is one value."""
        return bool((self.low == self.high).all()) and not self.are_sets

    def same_as(self, other: ReadColumn) -> bool:
        """Whether all cells allow the same as those of another reading of the column."""
        return (
            self.are_sets == other.are_sets
            and len(self.cells) == len(other.cells)
            and np.array_equal(self.cell, other.cell)
            and all(np.array_equal(one.codes, two.codes) for one, two in zip(self.cells, other.cells, strict=True))
        )

    def allows(self, cell: int) -> Bools:
        """Whether a cell allows each code, bool (domain size,)."""
        allowed = np.zeros(len(self.domain), np.bool_)
        allowed[self.cells[cell].codes] = True
        return allowed

    @property
    def form(self) -> GeneralizedForm:
        """The form of regions that has room for all cells."""
        if self.domain.tree is not None and all(cell.node != NO_NODE for cell in self.cells):
            return "node"
        plain = self.domain.kind is Kind.NUMERIC and all(cell.members is None for cell in self.cells)
        return "interval" if plain else "set"

    def regions(self, partition: Partition, cell: Codes) -> WrittenRegions:
        """The regions of groups, of which `cell` int32 (n_groups,) are the cells."""
        form, low, high = self.form, self.low[cell], self.high[cell]
        written = np.array(self.texts, object)[cell]
        if form == "node":
            nodes = np.array([one.node for one in self.cells], np.int32)
            return WrittenRegions(self.domain, partition, form, low, high, node=nodes[cell], written=written)
        if form == "interval":
            return WrittenRegions(self.domain, partition, form, low, high, written=written)
        offsets, members = self.member_lists(cell)
        return WrittenRegions(
            self.domain, partition, form, low, high, offsets=offsets, members=members, written=written
        )

    def member_lists(self, cell: Codes) -> tuple[Int64, Codes]:
        """The codes of some cells one after the other, and where those of each begin, int64 (n + 1,)."""
        lists = [one.codes for one in self.cells]
        sizes = np.array([len(codes) for codes in lists], np.int64)[cell]
        offsets = starts_of(sizes)
        chosen = [lists[number] for number in cell.tolist()]
        return offsets, np.concatenate(chosen) if chosen else np.zeros(0, np.int32)


def read_column(
    table: str,
    name: str,
    series: pd.Series[Any],
    domain: Domain,
    hierarchy: Hierarchy | None,
    counts: Int64 | None,
    *,
    regions_first: bool,
    missing_codes: Sequence[int],
) -> ReadColumn:
    """Read the cells of a column.

    Parameters
    ----------
    table, name : str
        The table and the column, for messages.
    series : Series
        The cells.
    domain : Domain
        The values of the attribute.
    hierarchy : Hierarchy or None
        Its hierarchy.
    counts : ndarray of int64, shape (domain size,), or None
        How many rows of the original have each code, where the table has as many rows, so that rounded numbers can be
        told from changed ones.
    regions_first : bool
        Whether a text that can be a value as well as a region is a region.
    missing_codes : sequence of int
        The codes that a missing cell stands for; without any it was suppressed.

    Raises
    ------
    DataError
        For cells that cannot be read, with column, row and cell.
    """
    if series.dtype == object:
        series = series.map(lambda cell: tuple(cell) if isinstance(cell, list | set) else cell)
    number, distinct = factorized(series)
    reader = CellReader(domain, hierarchy, regions_first)
    found: list[Cell | None] = []
    says_nothing = np.zeros(len(distinct), np.bool_)
    are_sets = True
    shown: list[Any] = []
    regions: list[Region | None] = []
    for place, cell in enumerate(distinct):
        if is_missing(cell):
            allowed = reader.set_of(missing_codes) if missing_codes else reader.everything
            read = Reading(allowed, None if missing_codes else Everything())
        else:
            read = reader.read(cell)
        found.append(read.cell)
        regions.append(read.region)
        shown.append(read.shown if read.cell is not None else value_text(cell))
        says_nothing[place] = isinstance(read.region, Everything)
        are_sets &= isinstance(read.region, OneOf) and isinstance(cell, str) and set_parts(cell.strip()) is not None
    notes: tuple[str, ...] = ()
    if domain.kind is Kind.NUMERIC and domain.values:
        found, notes = _with_other_numbers(reader, name, number, distinct, found, counts)
    _check_readable(table, name, number, distinct, found, domain)
    # Texts of one content are one cell. Those that allow the same by chance are not: readers tell them apart.
    known: dict[Any, int] = {}
    content = np.array([known.setdefault(one, len(known)) for one in shown], np.int32)
    first = np.unique(content, return_index=True)[1].tolist()
    cells = tuple(cell for cell in (found[one] for one in first) if cell is not None)
    texts = tuple(SUPPRESSED_TEXT if is_missing(distinct[one]) else value_text(distinct[one]) for one in first)
    read_as = tuple(regions[one] for one in first)
    return ReadColumn(domain, content[number], cells, texts, says_nothing[first], read_as, are_sets, notes)


def _check_readable(
    table: str, name: str, number: Int64, distinct: Sequence[Any], found: Sequence[Cell | None], domain: Domain
) -> None:
    wrong = [place for place, cell in enumerate(found) if cell is None]
    if not wrong:
        return
    rows = np.array([int(np.argmax(number == place)) for place in wrong[:SHOWN_FAULTS]])
    shown = ", ".join(
        f"{quoted(distinct[place])} in row {row + 1:,}" for place, row in zip(wrong, rows.tolist(), strict=False)
    )
    more = f" and {len(wrong) - SHOWN_FAULTS:,} more different cells" if len(wrong) > SHOWN_FAULTS else ""
    node = ", a node of its hierarchy" if domain.tree is not None else ""
    raise DataError(
        f"Column '{name}' of the table '{table}' holds {shown}{more}, which is no value of the attribute{node}, and no "
        "range or set that allows any; correct the cell, or give the hierarchy that it comes from."
    )


@record
class Reading:
    """A cell that was read: what it allows, None where it cannot be read, and the region that its text is taken for."""

    cell: Cell | None
    region: Region | None = None

    @property
    def shown(self) -> Any:
        """What a reader sees, the same for all texts of one content such as `20-29` and `20..29`."""
        if isinstance(self.region, OneOf):
            return frozenset(map(str, self.region.values))
        if self.region is not None or self.cell is None:
            return self.region
        return self.cell.low, self.cell.high, self.cell.node, self.cell.codes.tobytes()


class CellReader:
    """Reads cells as codes of one domain."""

    def __init__(self, domain: Domain, hierarchy: Hierarchy | None, regions_first: bool) -> None:
        self.domain, self.regions_first = domain, regions_first
        self._hierarchy = hierarchy
        self.everything = Cell(0, len(domain) - 1, node=0 if domain.tree is not None else NO_NODE)

    def _single(self, code: int) -> Cell:
        tree = self.domain.tree
        return Cell(code, code, node=NO_NODE if tree is None else int(tree.leaf[code]))

    @cached_property
    def _texts(self) -> dict[str, list[int]]:
        codes: dict[str, list[int]] = {}
        for code, text in enumerate(self.domain.texts.tolist()):
            codes.setdefault(text, []).append(code)
        return codes

    @cached_property
    def _labels(self) -> dict[str, int]:
        """The node of each label of the hierarchy; of several the largest, which allows most."""
        tree, nodes = self.domain.tree, dict[str, int]()
        if tree is None:
            return nodes
        place = {(int(tree.first[node]), int(tree.last[node])): node for node in range(len(tree.labels))}
        for node, label in enumerate(tree.labels):
            if tree.first[node] < tree.last[node]:
                nodes.setdefault(label, node)
        if self._hierarchy is None:
            return nodes
        # Levels at which a group does not grow have labels of their own, which the tree has no nodes for.
        extent: dict[tuple[int, str], tuple[int, int]] = {}
        for code, path in enumerate(self._hierarchy.paths_of(self.domain)):
            for level, label in enumerate(path):
                extent[level, label] = (extent.get((level, label), (code, code))[0], code)
        for (_, label), span in sorted(extent.items(), reverse=True):
            if span in place:
                nodes.setdefault(label, place[span])
        return nodes

    @cached_property
    def _sizes(self) -> list[Any]:
        """The numbers or points in time of the domain as they are compared exactly, ascending."""
        return [value_key(value)[2] for value in self.domain.values]

    def read(self, cell: Any) -> Reading:
        """What a cell allows, and as what it was read."""
        value = None if self.regions_first else self.value(cell)
        if value is not None:
            return Reading(value)
        label = self._labels.get(cell.strip()) if isinstance(cell, str) else None
        if label is not None:
            return Reading(self._node(label), Everything() if label == 0 else None)
        for text in _unguarded(cell):
            for region in regions_in(text):
                found = self.region(region)
                if found is not None:
                    return Reading(found, region)
        return Reading(self.value(cell) if self.regions_first else None)

    def _node(self, node: int) -> Cell:
        tree = self.domain.tree
        if tree is None:
            raise ValueError("A node has a tree.")
        return Cell(int(tree.first[node]), int(tree.last[node]), node=node)

    def value(self, cell: Any) -> Cell | None:
        """The value that a cell is, or the values whose text it is; None where it is none."""
        code = self._code(cell)
        if code is not None:
            return self._single(code)
        for text in _unguarded(value_text(cell)):
            codes = self._texts.get(text) or self._texts.get(text.strip())
            if codes is not None:
                return self._single(codes[0]) if len(codes) == 1 else self.set_of(codes)
            size = self._written(text)
            code = None if size is None else self._code(size)
            if code is not None:
                return self._single(code)
        return None

    def _code(self, value: Any) -> int | None:
        try:
            return self.domain.code_of(value)
        except (DataError, TypeError):
            return None

    def _written(self, text: str) -> Any:
        """The number or point in time that a text is; None where it is none, or the attribute has none."""
        if self.domain.kind is not Kind.NUMERIC:
            return None
        try:
            if self.domain.is_date:
                moment = pd.Timestamp(text)
                return None if is_missing(moment) else moment
            number = Decimal(text.replace(",", "") if "," in text else text)
            return number if number.is_finite() else None
        except (ValueError, InvalidOperation):
            return None

    def size_of(self, cell: Any) -> Any:
        """A number or point in time as the domain's are compared; None for a cell that is none."""
        if isinstance(cell, str):
            cell = next((size for text in _unguarded(cell) if (size := self._written(text)) is not None), None)
        if cell is None or not self._sizes or isinstance(cell, bool | np.bool_):
            return None
        try:
            key, own = value_key(cell), value_key(self.domain.values[0])
        except TypeError:
            return None
        return key[2] if key[:2] == own[:2] and not (isinstance(key[2], float)) else None

    def region(self, region: Region) -> Cell | None:
        """What a region allows; None where it allows no value of the domain, or holds what is none."""
        if isinstance(region, Everything):
            return self.everything
        if isinstance(region, Span):
            return self._span(region)
        if isinstance(region, OneOf):
            return self._one_of(region.values)
        codes = [code for code, text in enumerate(self.domain.texts.tolist()) if region.fits(text)]
        return self.set_of(codes) if codes else None

    def _one_of(self, values: Collection[Any]) -> Cell | None:
        codes: set[int] = set()
        for value in values:
            cell = self.value(value)
            if cell is None and isinstance(value, str):
                node = self._labels.get(value)
                spans = (self._span(one) for one in regions_in(value) if isinstance(one, Span))
                cell = self._node(node) if node is not None else next((one for one in spans if one is not None), None)
            if cell is None:
                return None
            codes.update(cell.codes.tolist())
        return self.set_of(sorted(codes)) if codes else None

    def set_of(self, codes: Sequence[int]) -> Cell:
        """A cell that allows the given codes, which ascend."""
        if len(codes) == 1:
            return self._single(codes[0])
        return Cell(codes[0], codes[-1], np.array(codes, np.int32))

    def _span(self, span: Span) -> Cell | None:
        bounds = self._bounds_by_size(span) if self.domain.kind is Kind.NUMERIC else self._bounds_by_rank(span)
        if bounds is None or bounds[0] > bounds[1]:
            return None
        low, high = bounds
        if not span.missing:
            return self._single(low) if low == high else Cell(low, high)
        if self.domain.missing_code is None:
            return None
        if high == self.domain.missing_code - 1:
            return Cell(low, high + 1)
        return self.set_of([*range(low, high + 1), self.domain.missing_code])

    def _bounds_by_size(self, span: Span) -> tuple[int, int] | None:
        low, high = 0, len(self._sizes) - 1
        if span.low is not None:
            place = self._place(span.low, after=span.low_open)
            if place is None:
                return None
            low = place
        if span.high is not None:
            place = self._place(span.high, after=not span.high_open)
            if place is None:
                return None
            high = place - 1
        return low, high

    def _place(self, end: str, after: bool) -> int | None:
        """Where one end of a range lies among the codes, before or after the values that equal it."""
        own = self.value(end)
        if own is not None and own.members is None and own.low < len(self._sizes):
            # The text of a value is that value, although it may be the text of many doubles.
            return own.low + after
        size = self.size_of(end)
        return None if size is None else (bisect_right if after else bisect_left)(self._sizes, size)

    def _bounds_by_rank(self, span: Span) -> tuple[int, int] | None:
        """The bounds of a range of ranked categories, such as `9th..12th`."""
        if self.domain.kind is not Kind.ORDINAL or span.missing:
            return None
        low, high = 0, len(self.domain.values) - 1
        for end, is_low, is_open in ((span.low, True, span.low_open), (span.high, False, span.high_open)):
            if end is None:
                continue
            cell = self.value(end)
            if cell is None or cell.members is not None:
                return None
            if is_low:
                low = cell.low + is_open
            else:
                high = cell.low - is_open
        return low, high


def is_guarded(cell: Any) -> bool:
    """Whether an apostrophe stands before a cell that a spreadsheet would run."""
    return isinstance(cell, str) and cell.startswith("'") and FORMULA.match(cell[1:]) is not None


def _unguarded(cell: Any) -> list[Any]:
    """A cell, and as a text without the apostrophe by which spreadsheets are kept from running it."""
    return [cell, cell[1:]] if is_guarded(cell) else [cell]


def _with_other_numbers(
    reader: CellReader,
    name: str,
    number: Int64,
    distinct: Sequence[Any],
    found: list[Cell | None],
    counts: Int64 | None,
) -> tuple[list[Cell | None], tuple[str, ...]]:
    """The cells with regions for rounded numbers, and the closest values for numbers that the original lacks."""
    sizes = {
        place: reader.size_of(cell)
        for place, cell in enumerate(distinct)
        if not is_missing(cell) and (found[place] is None or _is_single(found[place]))
    }
    sizes = {place: size for place, size in sizes.items() if size is not None}
    lines = np.bincount(number, minlength=len(distinct))
    lacking = [place for place in sizes if found[place] is None]
    if counts is not None and len(sizes) == len(distinct) >= FEWEST_ROUNDED:
        shown = np.zeros(len(counts), np.int64)
        for place in sizes:
            cell = found[place]
            if cell is not None:
                shown[cell.low] += lines[place]
        if lacking or not np.array_equal(shown, counts):
            rounded = _rounded(reader, sizes, lines, counts)
            if rounded is not None:
                cells, step = rounded
                result = [cells.get(place, cell) for place, cell in enumerate(found)]
                return result, (f"The numbers of '{name}' were read as rounded to multiples of {value_text(step)}.",)
    if not lacking:
        return found, ()
    result = list(found)
    for place in lacking:
        result[place] = reader._single(_closest(reader._sizes, sizes[place]))
    n_lacking = int(lines[lacking].sum())
    return result, (
        f"{n_lacking:,} cells of '{name}' hold numbers that the original lacks, such as "
        f"{quoted(value_text(distinct[lacking[0]]))}; each counts as the closest number of the original.",
    )


def _is_single(cell: Cell | None) -> bool:
    return cell is not None and cell.low == cell.high


def _closest(sizes: Sequence[Any], size: Any) -> int:
    place = min(bisect_left(sizes, size), len(sizes) - 1)
    return place - 1 if place and size - sizes[place - 1] <= sizes[place] - size else place


def _rounded(
    reader: CellReader, sizes: dict[int, Any], lines: Int64, counts: Int64
) -> tuple[dict[int, Cell], float] | None:
    """The ranges behind rounded numbers and the step of rounding.

    None where the original does not have the right number of rows in every range, so that they were not rounded.
    """
    if reader.domain.is_date:
        return None
    step = _common_step(list(sizes.values()))
    if step is None or step <= reader.domain.axis.unit:
        return None
    below = starts_of(counts[: len(reader._sizes)])
    for before, after in ((step / 2, step / 2), (0, step), (step, 0)):
        cells: dict[int, Cell] = {}
        for place, size in sizes.items():
            low, high = bisect_left(reader._sizes, size - before), bisect_right(reader._sizes, size + after)
            inner_low = bisect_right(reader._sizes, size - before) if before else low
            inner_high = bisect_left(reader._sizes, size + after) if after else high
            fewest, most = below[max(inner_high, inner_low)] - below[inner_low], below[high] - below[low]
            if not fewest <= lines[place] <= most or low >= high:
                break
            cells[place] = reader._single(low) if low + 1 == high else Cell(low, high - 1)
        else:
            return cells, float(step)
    return None


def _common_step(sizes: Sequence[Any]) -> Fraction | None:
    """The largest step of 1, 2 or 5 times a power of ten of which all numbers are multiples; None below 1e-6."""
    numbers = [Fraction(size) for size in sizes]
    for power in range(9, -7, -1):
        for factor in (5, 2, 1):
            step = Fraction(factor) * Fraction(10) ** power
            if all((number / step).denominator == 1 for number in numbers):
                return step
    return None
