"""Hashes of rows and texts against SipHash-2-4-128 written out in Python, and against its published test vectors;
texts that may be written otherwise against two patterns.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anoncore.kernels.hashing import add_row_hashes, may_be_written_otherwise, text_hashes

MASK = 2**64 - 1
WRITTEN_OTHERWISE = re.compile(rb"['\d\-]")
PLAIN_NUMBER = re.compile(rb"(0|[1-9][0-9]*)(-(0|[1-9][0-9]*))?")
"""Whole numbers and ranges of them."""


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
    words = np.ascontiguousarray(np.array(rows, dtype=np.uint64).T)
    add_row_hashes(words, np.array([one, two], dtype=np.uint64), sums)
    hashes = [siphash((one, two), b"".join(cell.to_bytes(8, "little") for cell in row)) for row in rows]
    assert sums.tolist() == [sum(half) & MASK for half in zip(*hashes, strict=True)]


def laid_out(texts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """The texts as kernels read them, with other bytes before and behind them."""
    content = np.frombuffer(b"<" + b"".join(texts) + b">", dtype=np.uint8)
    return content, 1 + np.cumsum([0, *map(len, texts)], dtype=np.int64)


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (0, "a3817f04ba25a8e66df67214c7550293"),
        (1, "da87c1d86b99af44347659119b22fc45"),
    ],
)
def test_the_kernel_gives_the_vectors_of_the_reference_code(length, expected):
    # vectors_sip128: the message 00 01 ... of that length under the key 00 01 ... 0f.
    key = np.frombuffer(bytes(range(16)), dtype=np.uint64)
    assert text_hashes(*laid_out([bytes(range(length))]), key).tobytes().hex() == expected


@given(st.lists(st.binary(max_size=25), max_size=6), st.integers(0, MASK), st.integers(0, MASK))
@example([bytes(7), bytes(8), bytes(9), bytes(255), bytes(256), b"\xff" * 300], 1, 2)
def test_the_kernel_hashes_every_text_as_the_twin_does(texts, one, two):
    found = text_hashes(*laid_out(texts), np.array([one, two], dtype=np.uint64))
    assert found.tolist() == [list(siphash((one, two), text)) for text in texts]


@given(st.lists(st.text("01289-'a.=", max_size=6), max_size=12))
@example(["0", "00", "0-0", "0-", "-0", "10-20-30", "10-05", "", "'", "1a", "a1", "20", "9", "/", ":", "-", "²"])
def test_texts_that_may_be_written_otherwise_are_those_of_the_patterns(texts):
    encoded = [text.encode() for text in texts]
    expected = [bool(WRITTEN_OTHERWISE.match(text)) and not PLAIN_NUMBER.fullmatch(text) for text in encoded]
    assert may_be_written_otherwise(*laid_out(encoded)).tolist() == expected
