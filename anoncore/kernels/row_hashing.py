"""Keyed hashes of rows, added up: equal sums of two tables mean equal rows in whatever order.

SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, SipHash: a fast short-input PRF, 2012) is a pseudorandom
function: without its key nobody can tell a hash from a random number. The sum of the hashes of all rows is a multiset
hash (Clarke et al., Incremental Multiset Hash Functions, 2003, MSet-Add-Hash).

- `words` uint64 (n_rows, n_words): a row as words of 64 bits.
- `key` uint64 (2,): the secret key.
- `sums` uint64 (2,): both halves of the hashes, each added up modulo 2^64.

All numbers are unsigned words of 64 bits: numba would turn a mix of signed and unsigned ones into floating point.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Words
from anoncore.kernels.compiler import inner_kernel, kernel


@inner_kernel
def rotated(word: np.uint64, bits: int) -> np.uint64:
    """The word with its bits moved to the left in a circle."""
    left = np.uint64(bits)
    return (word << left) | (word >> (np.uint64(64) - left))


@inner_kernel
def mix(state: Words, rounds: int) -> None:
    """The rounds of SipHash on its state of four words, uint64 (4,)."""
    for _ in range(rounds):
        state[0] += state[1]
        state[1] = rotated(state[1], 13) ^ state[0]
        state[0] = rotated(state[0], 32)
        state[2] += state[3]
        state[3] = rotated(state[3], 16) ^ state[2]
        state[0] += state[3]
        state[3] = rotated(state[3], 21) ^ state[0]
        state[2] += state[1]
        state[1] = rotated(state[1], 17) ^ state[2]
        state[2] = rotated(state[2], 32)


@kernel
def add_row_hashes(words: Words, key: Words, sums: Words) -> None:
    """Add the hash of every row to the sums."""
    state = np.empty(4, np.uint64)
    length = np.uint64((words.shape[1] * 8) % 256) << np.uint64(56)
    for row in range(words.shape[0]):
        state[0] = key[0] ^ np.uint64(0x736F6D6570736575)
        state[1] = key[1] ^ np.uint64(0x646F72616E646F6D) ^ np.uint64(0xEE)
        state[2] = key[0] ^ np.uint64(0x6C7967656E657261)
        state[3] = key[1] ^ np.uint64(0x7465646279746573)
        for place in range(words.shape[1]):
            state[3] ^= words[row, place]
            mix(state, 2)
            state[0] ^= words[row, place]
        state[3] ^= length
        mix(state, 2)
        state[0] ^= length
        state[2] ^= np.uint64(0xEE)
        mix(state, 4)
        sums[0] += state[0] ^ state[1] ^ state[2] ^ state[3]
        state[1] ^= np.uint64(0xDD)
        mix(state, 4)
        sums[1] += state[0] ^ state[1] ^ state[2] ^ state[3]
