"""Matching buckets of a sliced table: where a person may be, and which sensitive value he may have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anoncore.kernels.compiler import kernel

Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


class Columns(NamedTuple):
    """The columns of a sliced table, as cells: what a column shows of one value in one bucket.

    Cells of all columns stand one after the other, by column, bucket and value. The cells of column i in bucket b are
    `bucket_start[i, b]:bucket_start[i, b + 1]`. `share` is the part of the bucket's rows that show the value.
    """

    bucket_start: Int64
    bucket: Int64
    value: Int64
    share: Floats


@kernel
def find_value(values: Int64, begin: int, end: int, wanted: int) -> int:
    """First position in begin:end whose value is not below the wanted one; `end` if there is none."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def slicing_posterior(
    columns: Columns,
    signatures: Int64,
    lead: int,
    lead_start: Int64,
    lead_cells: Int64,
    sensitive: int,
    entry_start: Int64,
    entry_code: Int64,
    entry_share: Floats,
    n_codes: int,
) -> Floats:
    """p(t, s) for each signature (n_signatures, n_columns): sum over buckets of p(t, B) D(t, B)[s].

    The buckets of a signature are those of its value in column `lead`: `lead_cells[lead_start[v]:lead_start[v + 1]]`.
    D(t, B) are the entries of the matching cell of column `sensitive`.
    """
    n_signatures, n_columns = signatures.shape
    posterior = np.zeros((n_signatures, n_codes))
    for signature in range(n_signatures):
        total = 0.0
        wanted_lead = signatures[signature, lead]
        for place in range(lead_start[wanted_lead], lead_start[wanted_lead + 1]):
            cell = lead_cells[place]
            bucket = columns.bucket[cell]
            degree = columns.share[cell]
            sensitive_cell = cell
            for column in range(n_columns):
                if column == lead:
                    continue
                end = columns.bucket_start[column, bucket + 1]
                wanted = signatures[signature, column]
                found = find_value(columns.value, columns.bucket_start[column, bucket], end, wanted)
                if found == end or columns.value[found] != wanted:
                    degree = 0.0
                    break
                degree *= columns.share[found]
                if column == sensitive:
                    sensitive_cell = found
            if degree == 0.0:
                continue
            total += degree
            for entry in range(entry_start[sensitive_cell], entry_start[sensitive_cell + 1]):
                posterior[signature, entry_code[entry]] += degree * entry_share[entry]
        for code in range(n_codes):
            posterior[signature, code] /= total
    return posterior
