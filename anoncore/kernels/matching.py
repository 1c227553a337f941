"""Matching buckets of a sliced table: where a person may be, and which sensitive value they may have.

A person t matches a bucket B if every column of B shows what it would show of t. p(t, B) is the probability that t is
in B, and D(t, B)[s] the probability that t has the sensitive value s if they are.

- `signatures` int64 (n_signatures, n_columns): what each column, and each link between overlapping columns, shows of a
  person. People of one signature look alike to the adversary.
- `matched` int64 (n_columns,): the cell of each column that shows the signature's value in the bucket at hand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.sorting import find_value, sort_in_place


class Columns(NamedTuple):
    """The columns of a sliced table and the links between columns that overlap, as cells.

    A cell is a value that a column or link shows in a bucket. Cells of all columns stand one after the other, by
    column, bucket and value. The cells of column i in bucket b are `bucket_start[i, b]:bucket_start[i, b + 1]`, with
    `bucket_start` int64 (n_columns, n_buckets + 1). Per cell: `bucket`, `value` int64, and `share` float, the share of
    the bucket's rows that show the value. `power` int64 (n_columns,): 1 for a column and -1 for a link. The sensitive
    values of cell c are the entries `entry_start[c]:entry_start[c + 1]`, with their codes in `entry_code` int64 and
    their shares of the cell in `entry_share` float; codes ascend where several columns have any. `sensitive` int64
    lists the columns that have sensitive values. `entry_total` float: what the shares of a cell's entries add up to, 1
    unless people are counted, who may have several values.
    """

    bucket_start: Int64
    bucket: Int64
    value: Int64
    share: Floats
    power: Int64
    sensitive: Int64
    entry_start: Int64
    entry_code: Int64
    entry_share: Floats
    entry_total: Floats


@kernel
def slicing_posterior(
    columns: Columns, signatures: Int64, lead: int, lead_start: Int64, lead_cells: Int64, n_codes: int, most: int
) -> tuple[Int64, Int64, Floats]:
    """p(t, s) of the first signatures: sum over buckets of p(t, B) D(t, B)[s].

    f(t, B) D(t, B)[s] is the product over columns of the share of B's rows that show t's value, with s where the column
    has the sensitive attribute, over that of the links. Only buckets that show the signature's value in column `lead`
    can match: value v is in the cells `lead_cells[lead_start[v]:lead_start[v + 1]]`.

    Returns, for as many signatures as give `most` values above 0 or the last of them more, where the values of each
    begin, int64 (n_done + 1,), their codes, ascending, int64 (n_values,), and their probabilities, float (n_values,).
    """
    n_signatures, n_columns = signatures.shape
    start = np.zeros(n_signatures + 1, np.int64)
    room = min(most, n_signatures * n_codes) + n_codes
    code_of, probability = np.empty(room, np.int64), np.empty(room)
    posterior = np.zeros(n_codes)
    matched = np.empty(n_columns, np.int64)
    n_done = 0
    while n_done < n_signatures and start[n_done] < most:
        total = 0.0
        begin = end = start[n_done]
        wanted_lead = signatures[n_done, lead]
        for listed in range(lead_start[wanted_lead], lead_start[wanted_lead + 1]):
            degree = _degree(columns, signatures[n_done], columns.bucket[lead_cells[listed]], matched)
            if degree == 0.0:
                continue
            cell = matched[columns.sensitive[0]]
            for entry in range(columns.entry_start[cell], columns.entry_start[cell + 1]):
                code = columns.entry_code[entry]
                mass = degree * columns.entry_share[entry] * _other_shares(columns, code, matched)
                if mass > 0.0 and posterior[code] == 0.0:
                    code_of[end] = code
                    end += 1
                posterior[code] += mass
                total += mass / columns.entry_total[cell]
        sort_in_place(code_of[begin:end])
        for place in range(begin, end):
            code = code_of[place]
            probability[place] = posterior[code] / total
            posterior[code] = 0.0
        n_done += 1
        start[n_done] = end
    return start[: n_done + 1], code_of[: start[n_done]], probability[: start[n_done]]


@kernel
def distances_from_table(
    start: Int64, code: Int64, probability: Floats, table: Floats, first: Int64, last: Int64, weight: Floats
) -> Floats:
    """The earth mover's distance of each belief from the table's distribution, float (n_beliefs,).

    Belief i has `probability[start[i]:start[i + 1]]` for the codes in `code`, and 0 for all others. An edge of the
    ground distance separates the codes `first..last` from the others; `weight` float is its length.
    """
    distance = np.zeros(len(start) - 1)
    believed, surplus = np.zeros(len(table)), np.zeros(len(table) + 1)
    for belief in range(len(distance)):
        total = 0.0
        for entry in range(start[belief], start[belief + 1]):
            believed[code[entry]] = probability[entry]
            total += probability[entry]
        # Who may have several values is believed to have each of them in proportion, so that distributions compare.
        for value in range(len(table)):
            surplus[value + 1] = surplus[value] + (believed[value] / total - table[value])
        for edge in range(len(first)):
            distance[belief] += weight[edge] * abs(surplus[last[edge] + 1] - surplus[first[edge]])
        for entry in range(start[belief], start[belief + 1]):
            believed[code[entry]] = 0.0
    return distance


@inner_kernel
def _degree(columns: Columns, wanted: Int64, bucket: int, matched: Int64) -> float:
    """Product of the shares of a signature's cells in a bucket, 0 if one is lacking; `matched` gets the cells."""
    degree = 1.0
    for column in range(len(wanted)):
        end = columns.bucket_start[column, bucket + 1]
        cell = find_value(columns.value, columns.bucket_start[column, bucket], end, wanted[column])
        if cell == end or columns.value[cell] != wanted[column]:
            return 0.0
        matched[column] = cell
        degree *= columns.share[cell] if columns.power[column] > 0 else 1.0 / columns.share[cell]
    return degree


@inner_kernel
def _other_shares(columns: Columns, code: int, matched: Int64) -> float:
    """Product of the shares of a sensitive value in the cells of all sensitive columns but the first."""
    product = 1.0
    for other in range(1, len(columns.sensitive)):
        column = columns.sensitive[other]
        end = columns.entry_start[matched[column] + 1]
        entry = find_value(columns.entry_code, columns.entry_start[matched[column]], end, code)
        if entry == end or columns.entry_code[entry] != code:
            return 0.0
        product *= columns.entry_share[entry] if columns.power[column] > 0 else 1.0 / columns.entry_share[entry]
    return product
