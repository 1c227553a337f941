"""Keyed hashes of rows and texts, and which texts may be written in another way.

SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, SipHash: a fast short-input PRF, 2012) is a pseudorandom
function: without its key nobody can tell a hash from a random number. Its state is four words in a tuple instead of an
array, so that it stays in registers.

- `key` uint64 (2,): the secret key of the hashes.
- `words` uint64 (n_words, n_rows): every row as words of 64 bits.
- `content` uint8 (n_bytes,): texts in UTF-8, one behind the other.
- `starts` int64 (n_texts + 1,): text i is `content[starts[i]:starts[i + 1]]`.

All numbers of a hash are unsigned words of 64 bits: numba would turn a mix of signed and unsigned ones into floating
point.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Bools, Bytes, Int64, Words
from anoncore.kernels.compiler import inner_kernel, kernel

Word = np.uint64
State = tuple[Word, Word, Word, Word]
APOSTROPHE, HYPHEN, ZERO, NINE = 39, 45, 48, 57
"""The characters that numbers, ranges and guarded texts begin with, as bytes."""


@inner_kernel
def turned(word: Word, bits: Word) -> Word:
    """The word with its bits moved to the left in a circle."""
    return (word << bits) | (word >> (np.uint64(64) - bits))


@inner_kernel
def mixed(state: State) -> State:
    """The state after one more round of SipHash."""
    a, b, c, d = state
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


@inner_kernel
def first_state(key: Words) -> State:
    """The state before the first word."""
    a, b = key[0] ^ np.uint64(0x736F6D6570736575), key[1] ^ np.uint64(0x646F72616E646F6D) ^ np.uint64(0xEE)
    return a, b, key[0] ^ np.uint64(0x6C7967656E657261), key[1] ^ np.uint64(0x7465646279746573)


@inner_kernel
def with_word(state: State, word: Word) -> State:
    """The state after one more word of the message."""
    a, b, c, d = mixed(mixed((state[0], state[1], state[2], state[3] ^ word)))
    return a ^ word, b, c, d


@inner_kernel
def half_of_hash(state: State) -> tuple[State, Word]:
    """The state after the four rounds that make a half of the hash, and this half."""
    for _ in range(4):
        state = mixed(state)
    return state, state[0] ^ state[1] ^ state[2] ^ state[3]


@inner_kernel
def finished(state: State) -> tuple[Word, Word]:
    """Both halves of the hash, after the last word of the message."""
    a, b, c, d = state
    (a, b, c, d), first = half_of_hash((a, b, c ^ np.uint64(0xEE), d))
    return first, half_of_hash((a, b ^ np.uint64(0xDD), c, d))[1]


@kernel
def add_row_hashes(words: Words, key: Words, sums: Words) -> None:
    """Add both halves of the hash of every row to `sums` uint64 (2,), modulo 2^64.

    Equal sums of two tables mean equal rows in whatever order: a multiset hash (Clarke et al., Incremental Multiset
    Hash Functions, 2003, MSet-Add-Hash).
    """
    # The last word of a message has its number of bytes modulo 256 in its highest byte.
    length = np.uint64((len(words) * 8) % 256) << np.uint64(56)
    for row in range(words.shape[1]):
        state = first_state(key)
        for place in range(len(words)):
            state = with_word(state, words[place, row])
        first, second = finished(with_word(state, length))
        sums[0] += first
        sums[1] += second


@kernel
def text_hashes(content: Bytes, starts: Int64, key: Words) -> Words:
    """The hash of every text, as two words, uint64 (n_texts, 2)."""
    hashes = np.empty((len(starts) - 1, 2), np.uint64)
    for text in range(len(hashes)):
        begin, end = starts[text], starts[text + 1]
        state = first_state(key)
        word, shift = np.uint64(0), np.uint64(0)
        for at in range(begin, end):
            word |= np.uint64(content[at]) << shift
            shift += np.uint64(8)
            if shift == np.uint64(64):
                state = with_word(state, word)
                word, shift = np.uint64(0), np.uint64(0)
        # The last word has the bytes that are left, beside the length.
        word |= np.uint64(end - begin) << np.uint64(56)
        hashes[text, 0], hashes[text, 1] = finished(with_word(state, word))
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
    found = np.empty(len(starts) - 1, np.bool_)
    for text in range(len(found)):
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
