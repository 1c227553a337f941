"""The classes of a table while rows move between them: what they cover, what that loses, and which rows they have.

- `codes` int32 (n_rows, d): codes of the quasi-identifiers.
- `places` int32 (n_orders, n_rows): where each row stands in several orders, in which alike rows are near each other.
- `counts` int64 (n_codes,): rows of one class with each value, those of attribute a from `code_start[a]` on.
- `tally` int64 (n_counts,): rows, or people, of a class with each sensitive value, laid out as in `KernelChecks`; all 0
  between two uses.

The loss of a class is the loss of all its cells: its rows times the sum of the widths of its regions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64, Words
from anoncore.kernels.attributes import CATEGORY, HIERARCHY, Attributes, common_node
from anoncore.kernels.checking import KernelChecks, KernelPeople, Tally, add_row, all_hold, count_cells, forget_row
from anoncore.kernels.compiler import inner_kernel
from anoncore.kernels.sorting import sort_in_place

PER_CLASS = ("low", "high", "node", "bits", "loss", "size", "first", "most_saved", "tallies", "visited", "changed")
"""Arrays of `Classes` with an entry for every class."""


class RefinedRows(NamedTuple):
    """The table: `codes`, the attributes, and the places of the rows.

    `cells` int32 (n_rows, n_sensitive): where the sensitive values of a row are counted in a tally.

    `axis` float (n_codes,): where each code lies on its attribute's axis, as a share of the domain's width. `unit`
    float (d,): what one more category costs a cell. `word_start` int64 (d + 1,): the bits of attribute a's codes are in
    the words from `word_start[a]` on. `people` says whose rows they are, None where every row is another person.
    """

    codes: Int32
    cells: Int32
    attributes: Attributes
    axis: Floats
    unit: Floats
    word_start: Int64
    places: Int32
    people: KernelPeople | None


class Classes(NamedTuple):
    """The classes as they are now.

    `low`, `high`, `node` int32 (n_groups, d): lowest and highest code of each attribute, and in a hierarchy the lowest
    node that holds both. `bits` uint64 (n_groups, n_words): the codes of categories without hierarchy as sets. `loss`
    float (n_groups,): the sum of the losses of a row's cells. `size` int64 (n_groups,): 0 for a class that was
    dissolved. `group` int32 (n_rows,): class of every row; `first` int32 (n_groups,) one row of each class, `after` and
    `before` int32 (n_rows,) the next row and the one before of the same class, -1 where none is. `standing` int32
    (n_orders, n_rows): the class of the row at each place of each order. `saved` float (n_rows,): by how much the loss
    of a row's cells fell in its class if it left, when the class was looked at last; 0 before. `most_saved` float
    (n_groups,): the largest of these of a class's rows, or more. `tallies` int64 (n_groups, n_counts): the tally of
    every class; (0, 0) where several rows may be of one person, or tallies would take too much memory.

    Visits of classes are counted: `visits` int64 (1,) says how many there were, `visited` int64 (n_groups,) which one
    was the last of each class, and `changed` int64 (n_groups,) during which one rows joined or left it last; 0 before.
    """

    low: Int32
    high: Int32
    node: Int32
    bits: Words
    loss: Floats
    size: Int64
    group: Int32
    first: Int32
    after: Int32
    before: Int32
    standing: Int32
    saved: Floats
    most_saved: Floats
    tallies: Int64
    visits: Int64
    visited: Int64
    changed: Int64

    def with_empty(self, n: int) -> Classes:
        """The same classes and n empty ones, so that there can be more than at first."""
        longer = {
            name: np.concatenate([values, np.full((n, *values.shape[1:]), -1 if name == "first" else 0, values.dtype)])
            for name, values in self._asdict().items()
            if name in PER_CLASS and len(values)
        }
        return self._replace(**longer)


class Memory(NamedTuple):
    """What is used again and again: `counts`, `tally`, the tally of people, and which classes were asked for a row.

    `seen` int64 (n_groups,) has the number of the search that asked a class last, `searches` int64 (1,) how many there
    were.
    """

    counts: Int64
    tally: Int64
    seen: Int64
    searches: Int64
    of_people: Tally


@inner_kernel
def width(rows: RefinedRows, a: int, low: int, high: int, node: int) -> float:
    """The loss of a cell of numbers, or of a node that holds its values."""
    if rows.attributes.form[a] == HIERARCHY:
        begin = rows.attributes.node_start[a]
        return (rows.attributes.last[begin + node] - rows.attributes.first[begin + node]) * rows.unit[a]
    begin = rows.attributes.code_start[a]
    return rows.axis[begin + high] - rows.axis[begin + low]


@inner_kernel
def saved_without(rows: RefinedRows, classes: Classes, c: int, row: int, counts: Int64) -> float:
    """By how much the loss of a row's cells in a class falls if one of its rows leaves; `counts` are those of it."""
    saved = 0.0
    for a in range(rows.codes.shape[1]):
        begin, code = rows.attributes.code_start[a], rows.codes[row, a]
        low, high, node = int(classes.low[c, a]), int(classes.high[c, a]), int(classes.node[c, a])
        if counts[begin + code] > 1 or low == high:
            continue
        if rows.attributes.form[a] == CATEGORY:
            saved += rows.unit[a]
            continue
        if code != low and code != high:
            continue
        before = width(rows, a, low, high, node)
        while counts[begin + low] == 0 or low == code:
            low += 1
        while counts[begin + high] == 0 or high == code:
            high -= 1
        if rows.attributes.form[a] == HIERARCHY:
            node = common_node(rows.attributes, a, rows.attributes.leaf[begin + low], low, high)
        saved += before - width(rows, a, low, high, node)
    return saved


@inner_kernel
def _tally_row(rows: RefinedRows, row: int, tally: Int64, change: int) -> None:
    """Add `change` to a tally for each sensitive value of a row; nothing for -1, which is no row."""
    if row >= 0:
        count_cells(tally, rows.cells[row], change)


@inner_kernel
def holds(
    rows: RefinedRows, classes: Classes, c: int, more: int, less: int, memory: Memory, checks: KernelChecks
) -> bool:
    """Whether a class satisfies every check with the row `more`, unless that is -1, and without the row `less`."""
    size = classes.size[c] + (more >= 0) - (less >= 0)
    if size < checks.minimum_rows:
        return False
    if rows.cells.shape[1] == 0 and rows.people is None:
        return all_hold(checks, memory.tally, size)
    if len(classes.tallies) > 0:
        tally = classes.tallies[c]
        _tally_row(rows, more, tally, 1)
        _tally_row(rows, less, tally, -1)
        result = all_hold(checks, tally, size)
        _tally_row(rows, more, tally, -1)
        _tally_row(rows, less, tally, 1)
        return result
    tally = memory.tally
    size, first = 0, classes.first[c] if more < 0 else more
    row = first
    while row >= 0:
        if row != less:
            size += add_row(rows.people, memory.of_people, row, rows.cells[row], tally)
        row = classes.first[c] if row == more else classes.after[row]
    result = all_hold(checks, tally, size)
    row = first
    while row >= 0:
        for cell in rows.cells[row]:
            tally[cell] = 0
        forget_row(rows.people, memory.of_people, row)
        row = classes.first[c] if row == more else classes.after[row]
    return result


@inner_kernel
def unlink(rows: RefinedRows, classes: Classes, row: int) -> None:
    """Take a row out of its class; what the class covers stays as it is."""
    c, before, after = classes.group[row], classes.before[row], classes.after[row]
    if before >= 0:
        classes.after[before] = after
    else:
        classes.first[c] = after
    if after >= 0:
        classes.before[after] = before
    classes.size[c] -= 1
    if len(classes.tallies) > 0:
        count_cells(classes.tallies[c], rows.cells[row], -1)


@inner_kernel
def link(rows: RefinedRows, classes: Classes, c: int, row: int) -> None:
    """Put a row into a class; what the class covers stays as it is."""
    head = classes.first[c]
    classes.before[row], classes.after[row], classes.first[c], classes.group[row] = -1, head, row, c
    if head >= 0:
        classes.before[head] = row
    classes.size[c] += 1
    classes.most_saved[c] = max(classes.most_saved[c], classes.saved[row])
    for o in range(len(rows.places)):
        classes.standing[o, rows.places[o, row]] = c
    if len(classes.tallies) > 0:
        count_cells(classes.tallies[c], rows.cells[row], 1)


@inner_kernel
def note_change(classes: Classes, c: int) -> None:
    """Write down that a class changed during the present visit."""
    classes.changed[c] = classes.visits[0]


@inner_kernel
def cover(rows: RefinedRows, classes: Classes, c: int, row: int) -> None:
    """Widen what a class covers by a row."""
    attributes, added = rows.attributes, 0.0
    for a in range(rows.codes.shape[1]):
        code, low, high, node = rows.codes[row, a], classes.low[c, a], classes.high[c, a], classes.node[c, a]
        classes.low[c, a], classes.high[c, a] = min(low, code), max(high, code)
        if attributes.form[a] == CATEGORY:
            word, bit = rows.word_start[a] + (code >> 6), np.uint64(1) << np.uint64(code & 63)
            if classes.bits[c, word] & bit == np.uint64(0):
                classes.bits[c, word] |= bit
                added += rows.unit[a]
            continue
        if attributes.form[a] == HIERARCHY:
            classes.node[c, a] = common_node(attributes, a, node, code, code)
        after = width(rows, a, classes.low[c, a], classes.high[c, a], classes.node[c, a])
        added += after - width(rows, a, low, high, node)
    classes.loss[c] += added


@inner_kernel
def added_by(rows: RefinedRows, classes: Classes, c: int, row: int) -> float:
    """By how much the loss of a row's cells in a class rises if another row joins it."""
    attributes, added = rows.attributes, 0.0
    for a in range(rows.codes.shape[1]):
        code, low, high, node = rows.codes[row, a], classes.low[c, a], classes.high[c, a], classes.node[c, a]
        if attributes.form[a] == CATEGORY:
            word, bit = rows.word_start[a] + (code >> 6), np.uint64(1) << np.uint64(code & 63)
            if classes.bits[c, word] & bit == np.uint64(0):
                added += rows.unit[a]
        elif code < low or code > high:
            after = common_node(attributes, a, node, code, code) if attributes.form[a] == HIERARCHY else node
            added += width(rows, a, min(low, code), max(high, code), after) - width(rows, a, low, high, node)
    return added


@inner_kernel
def note_saved(rows: RefinedRows, classes: Classes, c: int, counts: Int64) -> None:
    """Write down of every row of a class by how much the loss of its cells falls if that row leaves."""
    row = classes.first[c]
    while row >= 0:
        count(rows, row, counts)
        row = classes.after[row]
    row = classes.first[c]
    classes.most_saved[c] = 0.0
    while row >= 0:
        classes.saved[row] = saved_without(rows, classes, c, row, counts)
        classes.most_saved[c] = max(classes.most_saved[c], classes.saved[row])
        row = classes.after[row]
    row = classes.first[c]
    while row >= 0:
        forget(rows, row, counts)
        row = classes.after[row]


@inner_kernel
def count(rows: RefinedRows, row: int, counts: Int64) -> None:
    """Add a row to the counts of its class."""
    for a in range(rows.codes.shape[1]):
        counts[rows.attributes.code_start[a] + rows.codes[row, a]] += 1


@inner_kernel
def forget(rows: RefinedRows, row: int, counts: Int64) -> None:
    """Set the counts of a row's values to 0."""
    for a in range(rows.codes.shape[1]):
        counts[rows.attributes.code_start[a] + rows.codes[row, a]] = 0


@inner_kernel
def narrow(rows: RefinedRows, classes: Classes, c: int, row: int, counts: Int64) -> None:
    """Narrow what a class covers after a row has left it, and take the row from its `counts`."""
    attributes = rows.attributes
    classes.loss[c] -= saved_without(rows, classes, c, row, counts)
    for a in range(rows.codes.shape[1]):
        begin, code = attributes.code_start[a], rows.codes[row, a]
        counts[begin + code] -= 1
        if counts[begin + code] > 0:
            continue
        while counts[begin + classes.low[c, a]] == 0:
            classes.low[c, a] += 1
        while counts[begin + classes.high[c, a]] == 0:
            classes.high[c, a] -= 1
        low, high = classes.low[c, a], classes.high[c, a]
        if attributes.form[a] == HIERARCHY:
            classes.node[c, a] = common_node(attributes, a, attributes.leaf[begin + low], low, high)
        if attributes.form[a] == CATEGORY:
            word, bit = rows.word_start[a] + (code >> 6), np.uint64(1) << np.uint64(code & 63)
            classes.bits[c, word] &= ~bit


@inner_kernel
def cover_anew(rows: RefinedRows, classes: Classes, c: int) -> None:
    """Cover the rows that a class has, and nothing else."""
    row, attributes = classes.first[c], rows.attributes
    classes.bits[c] = 0
    classes.loss[c] = 0.0
    for a in range(rows.codes.shape[1]):
        code = rows.codes[row, a]
        classes.low[c, a], classes.high[c, a] = code, code
        if attributes.form[a] == CATEGORY:
            classes.bits[c, rows.word_start[a] + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)
        elif attributes.form[a] == HIERARCHY:
            classes.node[c, a] = attributes.leaf[attributes.code_start[a] + code]
            classes.loss[c] += width(rows, a, code, code, classes.node[c, a])
    row = classes.after[row]
    while row >= 0:
        cover(rows, classes, c, row)
        row = classes.after[row]


@inner_kernel
def members(classes: Classes, c: int) -> Int32:
    """The rows of a class, ascending."""
    result = np.empty(classes.size[c], np.int32)
    row = classes.first[c]
    for i in range(len(result)):
        result[i] = row
        row = classes.after[row]
    sort_in_place(result)
    return result
