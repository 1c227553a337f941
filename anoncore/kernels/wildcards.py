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
from anoncore.kernels.lookup import position_of_word
from anoncore.kernels.sorting import filled_with


@inner_kernel
def _word(codes: Int32, salt: Words, begin: Int64, row: int, compared: Bools) -> np.uint64:
    """The sum of the random words of a row's compared cells: the same for rows that agree in them.

    That it is the same for others has a probability of 2^-64.
    """
    word = np.uint64(0)
    for a in range(compared.shape[0]):
        if compared[a]:
            word += salt[begin[a] + codes[row, a]]
    return word


@inner_kernel
def _table(codes: Int32, salt: Words, begin: Int64, compared: Bools, listed: Int64) -> tuple[Int64, Words, Int64]:
    """A hash table of the listed classes: `entry`, the different words, and which of them each class has."""
    capacity = 64
    while capacity < 2 * listed.shape[0]:
        capacity *= 2
    entry = filled_with(capacity, -1)
    words, number = np.empty(listed.shape[0], np.uint64), np.empty(listed.shape[0], np.int64)
    n_words = 0
    for i in range(listed.shape[0]):
        word = _word(codes, salt, begin, listed[i], compared)
        slot = position_of_word(word, entry, words)
        if entry[slot] < 0:
            entry[slot], words[n_words] = n_words, word
            n_words += 1
        number[i] = entry[slot]
    return entry, words, number


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
    if asked.shape[0] <= among.shape[0]:
        entry, words, number = _table(asked_codes, salt, begin, compared, asked)
        total = np.zeros(asked.shape[0], np.int64)
        for i in range(among.shape[0]):
            word = _word(among_codes, salt, begin, among[i], compared)
            found = entry[position_of_word(word, entry, words)]
            if found >= 0:
                total[found] += weights[i]
        for i in range(asked.shape[0]):
            counts[i] += total[number[i]]
        return
    entry, words, number = _table(among_codes, salt, begin, compared, among)
    total = np.zeros(among.shape[0], np.int64)
    for i in range(among.shape[0]):
        total[number[i]] += weights[i]
    for i in range(asked.shape[0]):
        word = _word(asked_codes, salt, begin, asked[i], compared)
        found = entry[position_of_word(word, entry, words)]
        if found >= 0:
            counts[i] += total[found]
