"""The posterior of the slicing paper, row by row and bucket by bucket, on published texts."""

from __future__ import annotations

import numpy as np

from anoncore import Release


def published(release: Release, fragment, row: int, attribute: str) -> tuple[str, ...]:
    """What a fragment shows of a row's quasi-identifiers."""
    known = set(release.data.quasi_identifiers) - {attribute}
    return tuple(recoding.texts()[row] for name, recoding in fragment.recodings.items() if name in known)


def bucket_posterior(release: Release, attribute: str) -> tuple[np.ndarray, np.ndarray]:
    """p(t, s) as (n_rows, m) and p(t, B) as (n_rows, n_buckets)."""
    data, partition = release.data, release.partition
    codes = release.published_codes(attribute)
    source = release.fragment_of(attribute)
    in_bucket = np.zeros((data.n_rows, partition.n_groups))
    posterior = np.zeros((data.n_rows, len(data.domain[attribute])))
    cells = [[published(release, part, row, attribute) for row in range(data.n_rows)] for part in release.fragments]
    of_source = cells[release.fragments.index(source)]
    for t in range(data.n_rows):
        for bucket in range(partition.n_groups):
            rows = partition.rows(bucket)
            in_bucket[t, bucket] = np.prod([np.mean([one[row] == one[t] for row in rows]) for one in cells])
        in_bucket[t] /= in_bucket[t].sum()
        for bucket in np.flatnonzero(in_bucket[t]):
            matching = [row for row in partition.rows(bucket) if of_source[row] == of_source[t]]
            for row in matching:
                posterior[t, codes[row]] += in_bucket[t, bucket] / len(matching)
    return posterior, in_bucket
