"""How far answers to count queries from a release are from the true counts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from os import cpu_count

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError, ReleaseError
from anoncore.base.number import ALSO_SYNTHETIC, COST, measure
from anoncore.base.score import Score
from anoncore.kernels.arrays import Floats, Int64
from anoncore.kernels.queries import count_matches
from anoncore.release.release import Release
from anoncore.utility.answers import estimator, original_places
from anoncore.utility.workload import QueryWorkload

QUERY_ERROR = replace(
    COST,
    name="query-error",
    title="Query error",
    template="How far counts from the release are from the true ones on average, over {queries}.",
    source="Xiao and Tao, VLDB 2006",
    unit="share of the true count",
    bounds=(0.0, None),
    baseline="0: counts from the original table.",
    release_forms=ALSO_SYNTHETIC,
    is_slow=True,
    short="Mean error",
)
MEDIAN_QUERY_ERROR = replace(
    COST,
    name="median-query-error",
    title="Median query error",
    template="Half of the counts from the release are off by at most this share of the true count, over {queries}.",
    source="Xiao and Tao, VLDB 2006",
    unit="share of the true count",
    bounds=(0.0, None),
    baseline="0: counts from the original table.",
    release_forms=ALSO_SYNTHETIC,
    is_slow=True,
    short="Median error",
)


class QueryError(Score):
    """Mean relative error of the answers to random count queries, over the queries that match at least one row.

    Attributes
    ----------
    mean : float
        The mean relative error.
    median : Score
        The median of the relative errors, which few large ones do not move.
    actual : ndarray of int64, shape (n_queries,)
        Rows of the original table that match each query of the workload.
    estimate : ndarray of float, shape (n_queries,)
        Rows that are expected to match by the release alone.
    relative_error : ndarray of float, shape (n_queries,)
        |actual - estimate| / actual of each query; NaN where no row matches.
    n_answered : int
        Queries that match a row.
    workload : QueryWorkload
        The queries.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 20, 60, 60], "disease": ["flu", "flu", "cold", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=4)]).anonymize(data)
    >>> error = utility.query_error(release, n_queries=50, selectivity=0.25)
    >>> matching = error.actual > 0
    >>> set(error.actual[matching].tolist()), set(error.estimate[matching].tolist())
    ({2}, {1.0})
    """

    mean: float
    median: Score
    actual: Int64
    estimate: Floats
    relative_error: Floats
    n_answered: int
    workload: QueryWorkload


@measure(QUERY_ERROR, MEDIAN_QUERY_ERROR)
@checked
def query_error(
    release: Release,
    n_queries: int = 10_000,
    seed: int = 0,
    dimensions: int | None = None,
    selectivity: float = 0.05,
    attribute: str | None = None,
) -> QueryError:
    """Relative error of random count queries that are answered from the release alone.

    `QueryWorkload` says how queries are drawn. A generalized cell counts every value of its region as equally likely.
    Rows of a group in different fragments are combined at random, among equal values of what these share. Fragments
    with partitions of their own are combined through an attribute that all of them publish, as independent given its
    value, or as independent where there is none. Rows of a synthetic table count by their share.

    Parameters
    ----------
    release : Release
        The release that answers.
    n_queries : int
        Queries that are drawn, at least 1.
    seed : int
        Makes the queries repeatable.
    dimensions : int, optional
        Quasi-identifiers that a query constrains; by default all that are published.
    selectivity : float
        Share of the rows that a query should match, above 0 and at most 1.
    attribute : str, optional
        The sensitive attribute of the queries; by default the first that is tagged.

    Returns
    -------
    QueryError
        The mean error as a share of the true count, with the error of every query.

    Raises
    ------
    ParameterError
        For a number out of range.
    DataError
        If no query matches a row, or the attribute is not sensitive.
    ReleaseError
        If no quasi-identifier or not the sensitive attribute is published.

    Notes
    -----
    Assumes: readers count, and take values of a region for equally likely and fragments for independent inside a group.
    Cost: `n_queries` times a pass over what is published, in blocks.
    Use: methods of different kinds are to be compared by what readers do.
    Avoid: there is no sensitive attribute, or the questions of readers are known: then ask those.

    References
    ----------
    Xiao and Tao, Anatomy, VLDB 2006, section 6; foreground-knowledge paper, section 5.2.

    Examples
    --------
    Each query asks for one age and one disease. Where it matches a row it matches 2 of the 4. One class of all
    publishes 20-60 for everybody, by which each age has half of the 2 rows of a disease: 1 instead of 2.

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 20, 60, 60], "disease": ["flu", "flu", "cold", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=4)]).anonymize(data)
    >>> float(utility.query_error(release, n_queries=50, selectivity=0.25))
    0.5
    """
    workload = _workload(release, n_queries, seed, dimensions, selectivity, attribute)
    answers = estimator(release, workload)
    places = original_places(workload)

    def answer(index: int) -> tuple[Int64, Floats]:
        accept = workload.block(index)
        return count_matches(places, accept), answers.estimate(accept)

    with ThreadPoolExecutor(min(cpu_count() or 1, workload.n_blocks)) as pool:
        blocks = list(pool.map(answer, range(workload.n_blocks)))
    actual = np.concatenate([block[0] for block in blocks])
    # Where rows are nobody's there may be more or fewer of them; they count by their share.
    scale = release.data.n_rows / release.n_records
    return _score(actual, scale * np.concatenate([block[1] for block in blocks]), workload)


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


def _score(actual: Int64, estimate: Floats, workload: QueryWorkload) -> QueryError:
    answered = actual > 0
    if not answered.any():
        raise DataError("None of the queries matches a row of the table; raise the selectivity or ask more queries.")
    error = np.divide(np.abs(actual - estimate), actual, out=np.full(len(actual), np.nan), where=answered)
    mean = float(error[answered].mean())
    about = f"{workload.dimensions} quasi-identifiers and '{workload.sensitive}'"
    words = {"queries": f"{int(answered.sum()):,} random queries about {about}"}
    return QueryError(
        mean,
        QUERY_ERROR,
        baseline=0.0,
        words=words,
        mean=mean,
        median=Score(float(np.median(error[answered])), MEDIAN_QUERY_ERROR, baseline=0.0, words=words),
        actual=actual,
        estimate=estimate,
        relative_error=error,
        n_answered=int(answered.sum()),
        workload=workload,
    )
