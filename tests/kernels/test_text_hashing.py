"""Hashes of texts against SipHash written out in Python; texts that may be written otherwise against two patterns."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anoncore.kernels.text_hashing import may_be_written_otherwise, text_hashes
from tests.kernels.test_row_hashing import MASK, siphash

WRITTEN_OTHERWISE = re.compile(rb"['\d\-]")
PLAIN_NUMBER = re.compile(rb"(0|[1-9][0-9]*)(-(0|[1-9][0-9]*))?")
"""Whole numbers and ranges of them."""


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
