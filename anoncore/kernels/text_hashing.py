"""Keyed hashes of texts, and which texts may be written in another way, from the bytes that a column is made of.

The hash is SipHash-2-4 with 128 bits of output, as in `row_hashing`, here of texts of any length and with its state in
four numbers instead of an array, so that it stays in registers.

- `content` uint8 (n_bytes,): the texts in UTF-8, one behind the other.
- `starts` int64 (n_texts + 1,): text i is `content[starts[i]:starts[i + 1]]`.
- `key` uint64 (2,): the secret key of the hashes.

All numbers of a hash are unsigned words of 64 bits: numba would turn a mix of signed and unsigned ones into floating
point.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Bools, Bytes, Int64, Words
from anoncore.kernels.compiler import inner_kernel, kernel

Word = np.uint64
APOSTROPHE, HYPHEN, ZERO, NINE = 39, 45, 48, 57
"""The characters that numbers, ranges and guarded texts begin with, as bytes."""


@inner_kernel
def turned(word: Word, bits: Word) -> Word:
    """The word with its bits moved to the left in a circle."""
    return (word << bits) | (word >> (np.uint64(64) - bits))


@inner_kernel
def mixed(a: Word, b: Word, c: Word, d: Word) -> tuple[Word, Word, Word, Word]:
    """One round of SipHash on its state of four words."""
    a += b
    b = turned(b, np.uint64(13)) ^ a
    a = turned(a, np.uint64(32))
    c += d
    d = turned(d, np.uint64(16)) ^ c
    a += d
    d = turned(d, np.uint64(21)) ^ a
    c += b
    b = turned(b, np.uint64(17)) ^ c
    c = turned(c, np.uint64(32))
    return a, b, c, d


@kernel
def text_hashes(content: Bytes, starts: Int64, key: Words) -> Words:
    """The hash of every text, as two words, uint64 (n_texts, 2)."""
    hashes = np.empty((starts.shape[0] - 1, 2), np.uint64)
    for text in range(hashes.shape[0]):
        begin, end = starts[text], starts[text + 1]
        a, b = key[0] ^ np.uint64(0x736F6D6570736575), key[1] ^ np.uint64(0x646F72616E646F6D) ^ np.uint64(0xEE)
        c, d = key[0] ^ np.uint64(0x6C7967656E657261), key[1] ^ np.uint64(0x7465646279746573)
        word, shift = np.uint64(0), np.uint64(0)
        for at in range(begin, end):
            word |= np.uint64(content[at]) << shift
            shift += np.uint64(8)
            if shift == np.uint64(64):
                d ^= word
                a, b, c, d = mixed(a, b, c, d)
                a, b, c, d = mixed(a, b, c, d)
                a ^= word
                word, shift = np.uint64(0), np.uint64(0)
        # The last word has the bytes that are left and, in its highest byte, the length modulo 256.
        word |= np.uint64(end - begin) << np.uint64(56)
        d ^= word
        a, b, c, d = mixed(a, b, c, d)
        a, b, c, d = mixed(a, b, c, d)
        a ^= word
        c ^= np.uint64(0xEE)
        for _ in range(4):
            a, b, c, d = mixed(a, b, c, d)
        hashes[text, 0] = a ^ b ^ c ^ d
        b ^= np.uint64(0xDD)
        for _ in range(4):
            a, b, c, d = mixed(a, b, c, d)
        hashes[text, 1] = a ^ b ^ c ^ d
    return hashes


@inner_kernel
def after_whole_number(content: Bytes, begin: int, end: int) -> int:
    """Where a whole number without leading zeros ends that begins at `begin`; -1 where none begins there."""
    if begin == end or content[begin] < ZERO or content[begin] > NINE:
        return -1
    if content[begin] == ZERO:
        return begin + 1
    at = begin + 1
    while at < end and ZERO <= content[at] <= NINE:
        at += 1
    return at


@kernel
def may_be_written_otherwise(content: Bytes, starts: Int64) -> Bools:
    """Which texts may be a number, a date or a guarded text that other formats write differently, bool (n_texts,).

    These begin with an apostrophe, a digit or a hyphen. Whole numbers without leading zeros and ranges of two of them,
    as `20` and `20-29`, are written in one way only, and most published cells are such.
    """
    found = np.empty(starts.shape[0] - 1, np.bool_)
    for text in range(found.shape[0]):
        begin, end = starts[text], starts[text + 1]
        found[text] = False
        if begin == end:
            continue
        first = content[begin]
        if first != APOSTROPHE and first != HYPHEN and (first < ZERO or first > NINE):
            continue
        at = after_whole_number(content, begin, end)
        if at >= 0 and at < end and content[at] == HYPHEN:
            at = after_whole_number(content, at + 1, end)
        found[text] = at != end
    return found
