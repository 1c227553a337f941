"""The keyed hash of a table that is read piece by piece: the same for equal rows in whatever order."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Collection

import numpy as np
import pandas as pd
import pyarrow as pa

from anoncore.kernels.arrays import Words
from anoncore.kernels.hashing import add_row_hashes
from anoncore.sources.large_table import LargeTable

WORD = 1 << 64


class InputDigest:
    """Hashes rows with a key that stays secret, batch after batch and in any number of threads.

    Of every row the columns are hashed in the order of their names, texts by two keyed hashes each. A batch gives two
    words of 64 bits, whose sums over all batches do not depend on the order of rows.
    """

    def __init__(self, key: str, names: Collection[str]) -> None:
        self.names = sorted(names)
        self._key = key.encode()
        self._row_key = np.frombuffer(self._derived("rows")[:16], "<u8").astype(np.uint64)
        self._text_keys = [self._derived(f"texts {lane}").hex()[:16] for lane in range(2)]

    def _derived(self, purpose: str) -> bytes:
        return hmac.new(self._key, f"anoncore: {purpose}".encode(), hashlib.sha256).digest()

    def of_batch(self, batch: pa.RecordBatch) -> Words:
        """The sums of the hashes of a batch's rows, uint64 (2,); its columns are found by their names."""
        columns = [batch.column(name) for name in self.names]
        words: list[Words] = []
        # A bit for every column says whether the cell is missing.
        missing = np.zeros((-(-len(columns) // 64), batch.num_rows), np.uint64)
        for place, column in enumerate(columns):
            own = self._words(column)
            if column.null_count or pa.types.is_floating(column.type):
                absent = np.asarray(column.is_null(nan_is_null=True))
                missing[place // 64] |= absent.astype(np.uint64) << np.uint64(place % 64)
                own = [np.where(absent, np.uint64(0), one.astype(np.uint64)) for one in own]
            words += own
        rows = np.empty((len(words) + len(missing), batch.num_rows), np.uint64)
        for place, word in enumerate((*words, *missing)):
            rows[place] = word
        sums = np.zeros(2, np.uint64)
        add_row_hashes(rows, self._row_key, sums)
        return sums

    def _words(self, column: pa.Array) -> list[Words]:
        """A column as words: one of a number, two of anything else."""
        kind = column.type
        if pa.types.is_integer(kind):
            # Assigned to words, what is below zero is taken modulo 2^64.
            return [column.fill_null(0).to_numpy(zero_copy_only=False)]
        if pa.types.is_floating(kind):
            fractions = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
            return [(fractions + 0.0).view(np.uint64)]  # -0.0 is 0.0
        coded = column if pa.types.is_dictionary(kind) else column.dictionary_encode()
        texts = np.array([*_texts(coded.dictionary), ""], object)
        codes = coded.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)
        return [pd.util.hash_array(texts, hash_key=key, categorize=False)[codes] for key in self._text_keys]

    def total(self, n_rows: int, sums: Collection[Words]) -> str:
        """The hash of the table whose batches gave these sums: HMAC-SHA-256 in hexadecimal."""
        lanes = [sum(int(one[lane]) for one in sums) % WORD for lane in range(2)]
        content = json.dumps([self.names, n_rows, lanes], ensure_ascii=True, separators=(",", ":"))
        return hmac.new(self._key, content.encode(), hashlib.sha256).hexdigest()


def _texts(values: pa.Array) -> list[str]:
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return list(values.to_pylist())
    return [repr(value) for value in values.to_pylist()]


def table_digest(table: LargeTable, key: str, names: Collection[str]) -> str:
    """The hash of some columns of a table, read once."""
    digest = InputDigest(key, names)
    sums = [digest.of_batch(batch) for batch in table.batches(digest.names)]
    return digest.total(table.n_rows, sums)
