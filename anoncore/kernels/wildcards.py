"""How many rows agree where some cells stand for any value.

Rows that are alike are one class, so that each is compared once.

- `codes` int32 (n, d): what stands in the cells of every class; cells that are not compared may hold anything.
- `compared` bool (d,): the attributes in which two classes have to agree.
- `asked`, `among` int64: the classes that are asked about, and those that are counted.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Bools, Int32, Int64, Words
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.grouping import WordTable, known_number, number_of, word_table


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
def _table(codes: Int32, salt: Words, begin: Int64, compared: Bools, listed: Int64) -> tuple[WordTable, Int64]:
    """A table of the words of the listed classes, and the number of each class's word."""
    table, number, n_words = word_table(len(listed)), np.empty(len(listed), np.int64), 0
    for i in range(len(listed)):
        number[i] = number_of(table, _word(codes, salt, begin, listed[i], compared), n_words)
        n_words += number[i] == n_words
    return table, number


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
    """Add to `counts` int64 (n_asked,) the weights of those `among` that agree with each of `asked`.

    `weights` int64 (n_among,) belong to `among`: the people of each class.
    """
    # The hash table is made of the fewer classes, because looking up is cheaper than filling in.
    if len(asked) <= len(among):
        table, number = _table(asked_codes, salt, begin, compared, asked)
        total = np.zeros(len(asked), np.int64)
        for i in range(len(among)):
            found = known_number(table, _word(among_codes, salt, begin, among[i], compared))
            if found >= 0:
                total[found] += weights[i]
        for i in range(len(asked)):
            counts[i] += total[number[i]]
        return
    table, number = _table(among_codes, salt, begin, compared, among)
    total = np.zeros(len(among), np.int64)
    for i in range(len(among)):
        total[number[i]] += weights[i]
    for i in range(len(asked)):
        found = known_number(table, _word(asked_codes, salt, begin, asked[i], compared))
        if found >= 0:
            counts[i] += total[found]
