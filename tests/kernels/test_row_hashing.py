"""Hashes of rows against SipHash-2-4-128 written out in Python, and against its published test vector."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anoncore.kernels.row_hashing import add_row_hashes

MASK = 2**64 - 1


def siphash(key: tuple[int, int], message: bytes) -> tuple[int, int]:
    """SipHash-2-4 with 128 bits of output, as its paper and reference code have it."""
    v = [
        key[0] ^ 0x736F6D6570736575,
        key[1] ^ 0x646F72616E646F6D ^ 0xEE,
        key[0] ^ 0x6C7967656E657261,
        key[1] ^ 0x7465646279746573,
    ]

    def turned(word: int, bits: int) -> int:
        return ((word << bits) | (word >> (64 - bits))) & MASK

    def rounds(number: int) -> None:
        for _ in range(number):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = turned(v[1], 13) ^ v[0]
            v[0] = turned(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = turned(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = turned(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = turned(v[1], 17) ^ v[2]
            v[2] = turned(v[2], 32)

    whole = len(message) // 8
    words = [int.from_bytes(message[8 * place : 8 * place + 8], "little") for place in range(whole)]
    words.append(int.from_bytes(message[8 * whole :], "little") | (len(message) % 256) << 56)
    for word in words:
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xEE
    rounds(4)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(4)
    return first, v[0] ^ v[1] ^ v[2] ^ v[3]


def test_the_twin_gives_the_vector_of_the_reference_code():
    # vectors_sip128[0]: the empty message under the key 00 01 ... 0f.
    key = (0x0706050403020100, 0x0F0E0D0C0B0A0908)
    found = b"".join(half.to_bytes(8, "little") for half in siphash(key, b""))
    assert found.hex() == "a3817f04ba25a8e66df67214c7550293"


word = st.integers(0, MASK)


@given(
    st.integers(1, 5).flatmap(
        lambda width: st.lists(st.lists(word, min_size=width, max_size=width), min_size=1, max_size=6)
    ),
    word,
    word,
)
def test_the_kernel_adds_up_what_the_twin_gives(rows, one, two):
    sums = np.zeros(2, dtype=np.uint64)
    add_row_hashes(np.array(rows, dtype=np.uint64), np.array([one, two], dtype=np.uint64), sums)
    hashes = [siphash((one, two), b"".join(cell.to_bytes(8, "little") for cell in row)) for row in rows]
    assert sums.tolist() == [sum(half) & MASK for half in zip(*hashes, strict=True)]
