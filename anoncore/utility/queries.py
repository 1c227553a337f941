"""How far answers to count queries from a release are from the true counts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from os import cpu_count

import numpy as np
import numpy.typing as npt

from anoncore.base.errors import DataError, ReleaseError
from anoncore.base.score import Score
from anoncore.release.release import Release
from anoncore.utility.answers import count_original, estimator, original_places
from anoncore.utility.workload import QueryWorkload

Floats = npt.NDArray[np.float64]


class QueryError(Score):
    """Mean relative error of the answers; `mean` and `median` over the queries that match at least one row.

    Per query, in the order of `workload`: `actual` int64 and `estimate` float (n_queries,), and `relative_error`
    |actual - estimate| / actual, NaN where nothing matches. `n_answered` counts the queries that match.
    """

    mean: float
    median: float
    actual: npt.NDArray[np.int64]
    estimate: Floats
    relative_error: Floats
    n_answered: int
    workload: QueryWorkload


def query_error(
    release: Release,
    n_queries: int = 10_000,
    seed: int = 0,
    dimensions: int | None = None,
    selectivity: float = 0.05,
    attribute: str | None = None,
) -> QueryError:
    """Relative error of random count queries that are answered from the release alone.

    `dimensions`: quasi-identifiers that a query constrains (default: all that are published). `attribute`: the
    sensitive attribute of the queries (default: the first that is tagged). `QueryWorkload` says how queries are drawn.
    Estimates: a generalized cell counts every value of its region as equally likely; rows of a group in different
    fragments are combined at random, among equal values of what these share; fragments with partitions of their own are
    combined through an attribute that all of them publish, as independent given its value, or as independent where
    there is none.

    Raises ParameterError for a number out of range, DataError if no query matches a row, ReleaseError if no
    quasi-identifier or not the sensitive attribute is published.

    Parameters: `n_queries` queries that are drawn; `seed` makes them repeatable; `dimensions` quasi-identifiers in a
      query, none: all; `selectivity` share of the rows that a query should match; `attribute` sensitive attribute of
      the queries, none: the first.
    Assumes: readers count, and take values of a region for equally likely and fragments for independent inside a group.
    Cost: `n_queries` times a pass over what is published, in blocks.
    Use: methods of different kinds are to be compared by what readers do.
    Avoid: there is no sensitive attribute, or the questions of readers are known: then ask those.
    Source: Xiao and Tao, Anatomy, VLDB 2006, section 6; foreground-knowledge paper, section 5.2.
    """
    workload = _workload(release, n_queries, seed, dimensions, selectivity, attribute)
    answers = estimator(release, workload)
    places = original_places(workload)

    def answer(index: int) -> tuple[npt.NDArray[np.int64], Floats]:
        accept = workload.block(index)
        return count_original(places, accept), answers.estimate(accept)

    with ThreadPoolExecutor(min(cpu_count() or 1, workload.n_blocks)) as pool:
        blocks = list(pool.map(answer, range(workload.n_blocks)))
    actual = np.concatenate([block[0] for block in blocks])
    return _score(actual, np.concatenate([block[1] for block in blocks]), workload)


def _workload(
    release: Release, n_queries: int, seed: int, dimensions: int | None, selectivity: float, attribute: str | None
) -> QueryWorkload:
    data = release.data
    sensitive = data.require_sensitive(attribute)[0]
    release.fragment_of(sensitive)
    published = tuple(
        name for name in data.require_quasi_identifiers() if name in release.attributes and name != sensitive
    )
    if not published:
        raise ReleaseError("The release publishes no quasi-identifier; count queries need one to ask about.")
    wanted = len(published) if dimensions is None else dimensions
    return QueryWorkload(data, published, sensitive, n_queries, wanted, selectivity, seed)


def _score(actual: npt.NDArray[np.int64], estimate: Floats, workload: QueryWorkload) -> QueryError:
    answered = actual > 0
    if not answered.any():
        raise DataError("None of the queries matches a row of the table; raise the selectivity or ask more queries.")
    error = np.divide(np.abs(actual - estimate), actual, out=np.full(len(actual), np.nan), where=answered)
    mean = float(error[answered].mean())
    return QueryError(
        mean,
        name="query-error",
        title="Query error",
        unit="share of the true count",
        higher_is_better=False,
        bounds=(0.0, None),
        baseline=0.0,
        meaning=(
            f"How far counts from the release are from the true ones on average, over {int(answered.sum()):,} random "
            f"queries about {workload.dimensions} quasi-identifiers and '{workload.sensitive}'."
        ),
        mean=mean,
        median=float(np.median(error[answered])),
        actual=actual,
        estimate=estimate,
        relative_error=error,
        n_answered=int(answered.sum()),
        workload=workload,
    )
