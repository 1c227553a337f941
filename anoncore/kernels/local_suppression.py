"""Local suppression: single cells of rows in too small classes become `*`, so that rows agree in what is left of them.

Rows that lose the same quasi-identifiers and agree in all others are a class. The classes without any suppressed cell
that satisfy the requirements are whole; rows of them may give up cells too, so that others find company (donors), as
long as the whole class keeps the requirements without them.

- `compared` bool (d,): the attributes in which rows have to agree; cells that are not compared may hold anything.
- `left` int64 (n_left,): rows that have no class yet, in order of content.
- `group` int32 (n_rows,): class of every row; written where rows get one.
- `members` int64: rows one after the other, group by group or class by class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Int32, Int64, Words
from anoncore.kernels.checking import KernelChecks, KernelPeople, Tally, new_tally, rows_hold
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.grouping import WordTable, group_starts, known_number, number_of, rows_by_group, word_table
from anoncore.kernels.sorting import filled_with

MOST_ASKED = 8
"""Rows of a whole class that are asked at most before it gives no further one, where sensitive values count."""


class SuppressedRows(NamedTuple):
    """The table: `codes` int32 (n, d), `cells` as in `checking`, and a random word for every code of each attribute.

    The words `salt[begin[a] + code]` of the cells that are not suppressed add up to the same for rows that agree in
    them; that they do for others has a probability of 2^-64. `people` says whose rows they are, None where every row is
    another person.
    """

    codes: Int32
    cells: Int32
    salt: Words
    begin: Int64
    people: KernelPeople | None


class Whole(NamedTuple):
    """The whole classes: class c has the rows `members[starts[c]]`..`members[starts[c + 1] - 1]`.

    `given` int64 (n_whole,): so many of them, the first ones, have given up cells and belong to other classes.
    """

    members: Int64
    starts: Int64
    given: Int64


class Memory(NamedTuple):
    """What is used again for every class: counts of sensitive values and people."""

    counts: Int64
    tally: Tally


@inner_kernel
def _memory(rows: SuppressedRows, checks: KernelChecks) -> Memory:
    """Counts of nobody."""
    return Memory(np.zeros(checks.count_start[-1], np.int64), new_tally(rows.people))


@inner_kernel
def _hold(rows: SuppressedRows, members: Int64, memory: Memory, checks: KernelChecks) -> bool:
    """Whether rows satisfy every check as one class."""
    return rows_hold(rows.cells, rows.people, members, memory.tally, memory.counts, checks)


@inner_kernel
def _word(codes: Int32, salt: Words, begin: Int64, row: int, compared: Bools) -> np.uint64:
    """The sum of the random words of a row's compared cells: the same for rows that agree in them.

    That it is the same for others has a probability of 2^-64.
    """
    word = np.uint64(0)
    for a in range(len(compared)):
        if compared[a]:
            word += salt[begin[a] + codes[row, a]]
    return word


@inner_kernel
def _table(codes: Int32, salt: Words, begin: Int64, compared: Bools, listed: Int64) -> tuple[WordTable, Int32, int]:
    """A table of the words of the listed rows, the number of each row's word, and how many words there are."""
    table, number, n_words = word_table(len(listed)), np.empty(len(listed), np.int32), 0
    for i in range(len(listed)):
        number[i] = number_of(table, _word(codes, salt, begin, listed[i], compared), n_words)
        n_words += number[i] == n_words
    return table, number, n_words


@inner_kernel
def _candidates(rows: SuppressedRows, compared: Bools, left: Int64) -> tuple[Int64, Int64, WordTable]:
    """The groups of the rows left that agree: their rows (`members`, `starts`), and the groups' words."""
    table, number, n_groups = _table(rows.codes, rows.salt, rows.begin, compared, left)
    starts = group_starts(number, n_groups)
    return left[rows_by_group(number, starts)], starts, table


@kernel
def count_together(rows: SuppressedRows, compared: Bools, least: int, left: Int64) -> int:
    """How many of the rows left are in a group of at least so many rows that agree."""
    _, starts, _ = _candidates(rows, compared, left)
    together = 0
    for g in range(len(starts) - 1):
        if starts[g + 1] - starts[g] >= least:
            together += int(starts[g + 1] - starts[g])
    return together


@inner_kernel
def _give(
    rows: SuppressedRows, whole: Whole, c: int, company: Int64, n: int, most: int, memory: Memory, checks: KernelChecks
) -> int:
    """Let rows of a whole class join `company[:n]` until it satisfies every check or has `most`; returns its size.

    A row that joins stands among the class's first ones, which it has given; where it brings the company nothing, it
    does so all the same, because later ones may.
    """
    begin, end = whole.starts[c], whole.starts[c + 1]
    n_asked = 0
    while n < most and n_asked < MOST_ASKED and not _hold(rows, company[:n], memory, checks):
        first = begin + whole.given[c]
        if first + n_asked >= end:
            break
        # The row that is asked changes places with the first one, so that the others stand behind it.
        at = first + n_asked
        whole.members[first], whole.members[at] = whole.members[at], whole.members[first]
        if _hold(rows, whole.members[first + 1 : end], memory, checks):
            company[n] = whole.members[first]
            whole.given[c] += 1
            n += 1
            n_asked = 0
        elif rows.cells.shape[1] == 0 and rows.people is None:
            # Where sizes alone count, every row of the class gets the same answer.
            break
        else:
            n_asked += 1
    return n


@kernel
def place(
    rows: SuppressedRows,
    compared: Bools,
    least: int,
    wanted: int,
    left: Int64,
    whole: Whole,
    group: Int32,
    n_groups: int,
    checks: KernelChecks,
) -> tuple[int, int]:
    """Make classes of the rows left that agree, with donors where a group of `least` rows needs them.

    A group of s rows may take donors until it has s * wanted / least rows. Writes the classes' numbers from `n_groups`
    on into `group`, and moves the rows that are still left to the front of `left`. Returns how many these are, and the
    new number of classes.
    """
    memory = _memory(rows, checks)
    members, starts, table = _candidates(rows, compared, left)
    n_new = len(starts) - 1
    settled = np.zeros(n_new, np.bool_)
    waiting = 0
    for g in range(n_new):
        own = members[starts[g] : starts[g + 1]]
        settled[g] = _hold(rows, own, memory, checks)
        if settled[g]:
            group[own] = n_groups
            n_groups += 1
        elif len(own) >= least:
            waiting += 1
    if waiting > 0 and wanted > least:
        n_groups = _with_donors(
            rows, compared, least, wanted, (members, starts, settled), table, whole, group, n_groups, checks
        )
    n_left = 0
    for row in left:
        if group[row] < 0:
            left[n_left] = row
            n_left += 1
    return n_left, n_groups


@inner_kernel
def _with_donors(
    rows: SuppressedRows,
    compared: Bools,
    least: int,
    wanted: int,
    groups: tuple[Int64, Int64, Bools],
    table: WordTable,
    whole: Whole,
    group: Int32,
    n_groups: int,
    checks: KernelChecks,
) -> int:
    """Make classes of the groups that are not settled and of donors that agree with them; the new number of classes.

    `groups` are `members`, `starts` and whether each is settled, `table` has their words.
    """
    memory = _memory(rows, checks)
    members, starts, settled = groups
    n_new, n_whole = len(starts) - 1, len(whole.starts) - 1
    # The whole classes that agree with a group are a list: the first of each group, and the next one of each class.
    first, after = filled_with(n_new, -1), filled_with(n_whole, -1)
    for c in range(n_whole - 1, -1, -1):
        size = whole.starts[c + 1] - whole.starts[c] - whole.given[c]
        if size <= checks.minimum_rows:
            continue
        g = known_number(table, _word(rows.codes, rows.salt, rows.begin, whole.members[whole.starts[c]], compared))
        if g >= 0 and not settled[g] and starts[g + 1] - starts[g] >= least:
            after[c], first[g] = first[g], c
    for g in range(n_new):
        size = starts[g + 1] - starts[g]
        if first[g] < 0 or settled[g] or size < least:
            continue
        most = size * wanted // least
        company = np.empty(max(most, size), np.int64)
        company[:size] = members[starts[g] : starts[g + 1]]
        n, c = size, first[g]
        while c >= 0 and n < most and not _hold(rows, company[:n], memory, checks):
            n = _give(rows, whole, c, company, n, most, memory, checks)
            c = after[c]
        if _hold(rows, company[:n], memory, checks):
            settled[g] = True
            group[company[:n]] = n_groups
            n_groups += 1
            continue
        # The donors were not enough: each goes back to its class, the last one first.
        for i in range(n - 1, size - 1, -1):
            whole.given[group[company[i]]] -= 1
    return n_groups


@kernel
def add_matches(
    asked_codes: Int32,
    among_codes: Int32,
    salt: Words,
    begin: Int64,
    compared: Bools,
    asked: Int64,
    among: Int64,
    weights: Int64,
    counts: Int64,
) -> None:
    """Add to `counts` int64 (n_asked,) the weights of the classes `among` that agree with each `asked`.

    `weights` int64 (n_among,) belong to `among`: the people of each class.
    """
    # The hash table is made of the fewer classes, because looking up is cheaper than filling in.
    if len(asked) <= len(among):
        table, number, _ = _table(asked_codes, salt, begin, compared, asked)
        total = np.zeros(len(asked), np.int64)
        for i in range(len(among)):
            found = known_number(table, _word(among_codes, salt, begin, among[i], compared))
            if found >= 0:
                total[found] += weights[i]
        for i in range(len(asked)):
            counts[i] += total[number[i]]
        return
    table, number, _ = _table(among_codes, salt, begin, compared, among)
    total = np.zeros(len(among), np.int64)
    for i in range(len(among)):
        total[number[i]] += weights[i]
    for i in range(len(asked)):
        found = known_number(table, _word(asked_codes, salt, begin, asked[i], compared))
        if found >= 0:
            counts[i] += total[found]
