"""The risk of each person of a sample to be found in the population, by sampling weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anoncore.attacks.sampled_classes import SampledClasses, checked_fraction, sampled_classes
from anoncore.base.arguments import checked
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.number import RISK, Number, measure
from anoncore.base.pandas_versions import numbers_of
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Floats, Int64, record
from anoncore.release.release import Release

INDIVIDUAL_RISK_MEAN = replace(
    RISK,
    name="individual-risk-mean",
    title="Mean individual risk",
    template="How likely a record of the sample is linked rightly with its person in the population, on average.",
    source="Benedetti and Franconi, 1998",
    unit="probability",
    baseline="the mean of 1 / group size: what the risk is where the table is taken for the whole population.",
)
INDIVIDUAL_RISK_LARGEST = replace(
    RISK,
    name="individual-risk-largest",
    title="Largest individual risk",
    template="How likely the record of the sample that is most at risk is linked rightly with its person.",
    source="Benedetti and Franconi, 1998",
    unit="probability",
    baseline="1 / the smallest group: what the risk is where the table is taken for the whole population.",
)
EXPECTED_LINKS = Number(
    name="expected-links",
    title="Expected right links",
    template="How many records of the sample an adversary is expected to link rightly with the population.",
    family="adversary",
    source="Benedetti and Franconi, 1998",
    unit="records",
    higher_is_better=False,
    bounds=(0.0, None),
    baseline="the number of groups: what is expected where the table is taken for the whole population.",
)
SERIES_FROM = 20
"""Records of a class from which on the risk is summed up term by term."""
SERIES_TERMS = 60


@record
class IndividualRisk(Result):
    """The risk of each record of a sample, and what the records have together.

    Attributes
    ----------
    mean : Score
        The mean risk.
    largest : Score
        The risk of the record most at risk.
    links : Score
        Right links that are to be expected: the sum of the risks.
    risk : ndarray of float, shape (n_rows,)
        The risk of each record, in original row order.
    class_size : ndarray of int64, shape (n_rows,)
        Records of the sample in each record's class (f).
    population_size : ndarray of float, shape (n_rows,)
        People of the population in each record's class, by the weights (F).
    notes : tuple of str
        What to know of the numbers, in sentences.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "stands_for": [10, 10, 20, 30, 30, 40]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> found = attacks.individual_risk(release, weights="stands_for")
    >>> found.population_size.tolist(), found.risk.round(4).tolist()
    ([40.0, 40.0, 40.0, 100.0, 100.0, 100.0], [0.0353, 0.0353, 0.0353, 0.0146, 0.0146, 0.0146])
    """

    mean: Score
    largest: Score
    links: Score
    risk: Floats
    class_size: Int64
    population_size: Floats
    notes: tuple[str, ...]


@measure(INDIVIDUAL_RISK_MEAN, INDIVIDUAL_RISK_LARGEST, EXPECTED_LINKS, title="Individual risk")
@checked
def individual_risk(release: Release, weights: str | None = None, fraction: float | None = None) -> IndividualRisk:
    """How likely each record of a sample is linked rightly with its person in the population.

    A class is the records with equal published quasi-identifiers. It has f records in the sample. In the population it
    has F people, of which only an estimate is known: the sum of the class's sampling weights, or f / fraction. Given f,
    F is taken for a negative binomial variable with the probability p = f / estimate. The risk is the mean of 1 / F,
    which is p / f * 2F1(1, 1; f + 1; 1 - p). sdcMicro computes the same exactly for f = 1 and f = 2, and approximates
    it by p / (f - (1 - p)) for larger classes.

    Parameters
    ----------
    release : Release
        The release of the sample. Where several fragments publish quasi-identifiers, each record has the risk of the
        fragment that tells most.
    weights : str, optional
        Name of the column of the table that says how many people of the population each row stands for. It need not be
        published.
    fraction : float, optional
        Share of the population that is in the sample, above 0 and at most 1, where there are no weights. Without
        either the table is taken for the population, and the risk is 1 / f.

    Returns
    -------
    IndividualRisk
        The risk of each record, their mean and largest, and the right links to be expected.

    Raises
    ------
    ParameterError
        Where both weights and a fraction are given, or a fraction that is none.
    DataError
        For a column that the table lacks, or that holds anything but numbers from 1 on.

    Notes
    -----
    Assumes: the adversary has a list of the whole population with the quasi-identifiers, and links each record with one
      of those who fit.
    Cost: O(n log n).
    Use: the table is a survey with sampling weights.
    Avoid: the list itself is at hand: give it to `reidentification`, which counts who fits.

    References
    ----------
    Benedetti and Franconi, Statistical and technological solutions for controlled data dissemination, 1998; Franconi
    and Polettini, Individual risk estimation in mu-Argus: a review, PSD 2004; sdcMicro, R/indivRisk.R.

    Examples
    --------
    Nobody else in the sample is like the man of 70, but he stands for five people:

    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 20, 70], "stands_for": [50.0, 60.0, 5.0]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier"})
    >>> release = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(data)
    >>> attacks.individual_risk(release, weights="stands_for").risk.round(3).tolist()
    [0.017, 0.017, 0.402]
    """
    release.require_people("This attack finds people's rows")
    if weights is not None and fraction is not None:
        raise ParameterError("Give the sampling weights or the sampling fraction, not both.")
    share = 1.0 if fraction is None else checked_fraction(fraction)
    stands_for = None if weights is None else _weights(release, weights)
    release.require_linked(release.data.quasi_identifiers)
    found = [_of_fragment(classes, stands_for, share) for classes in sampled_classes(release)]
    most = np.argmax([risk for risk, _, _ in found], axis=0)
    risk, class_size, population_size = (np.choose(most, [one[place] for one in found]) for place in range(3))
    return IndividualRisk(
        mean=Score(float(risk.mean()), INDIVIDUAL_RISK_MEAN, baseline=float((1 / class_size).mean())),
        largest=Score(float(risk.max()), INDIVIDUAL_RISK_LARGEST, baseline=float(1 / class_size.min())),
        links=Score(float(risk.sum()), EXPECTED_LINKS, baseline=float((1 / class_size).sum())),
        risk=risk,
        class_size=class_size.astype(np.int64),
        population_size=population_size,
        notes=_notes(release, weights, fraction),
    )


def _of_fragment(classes: SampledClasses, stands_for: Floats | None, fraction: float) -> tuple[Floats, Floats, Floats]:
    """The risk, the class size and the people of the population of each record, float (n_rows,) each."""
    records = classes.records.astype(np.float64)
    if stands_for is None:
        people = records / fraction
    else:
        people = np.bincount(classes.of_row, weights=stands_for, minlength=len(records)).astype(np.float64)
    # A class has at least its own records in the population.
    people = np.maximum(people, records)
    return benedetti_franconi(records, people)[classes.of_row], records[classes.of_row], people[classes.of_row]


def benedetti_franconi(records: Floats, people: Floats) -> Floats:
    """The mean of 1 / F of classes of f records, where F is negative binomial with probability f / people, float."""
    from scipy.special import hyp2f1

    p = records / people
    # From f = 20 on the terms of the series, j! (1 - p)^j / ((f + 1) ... (f + j)), vanish within 60 of them; the
    # function of SciPy, which serves all below, gives no number for some thousand records.
    series, term = np.ones(len(records)), np.ones(len(records))
    for j in range(1, SERIES_TERMS):
        term = term * (j * (1 - p) / (records + j))
        series += term
    is_small = records < SERIES_FROM
    series[is_small] = hyp2f1(1.0, 1.0, records[is_small] + 1, 1 - p[is_small])
    return p / records * series


def _weights(release: Release, name: str) -> Floats:
    """The sampling weights, float (n_rows,). Raises DataError for a column that holds none."""
    given = release.data.given
    columns = list(given.columns)
    if name not in columns:
        raise DataError(f"There is no column '{name}' with sampling weights; the table has {listing(columns, 30)}.")
    column = numbers_of(given.frame_of([name])[name])
    weights = column.to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~(weights >= 1) | ~np.isfinite(weights))
    if len(wrong):
        raise DataError(
            f"'{name}' says how many people of the population each row stands for, which is a number of at least 1; in "
            f"row {wrong[0]:,} (counted from 0) it is not. Choose the column of the weights, or correct the row."
        )
    return weights


def _notes(release: Release, weights: str | None, fraction: float | None) -> tuple[str, ...]:
    notes = []
    if weights is None and fraction is None:
        notes.append(
            "Neither weights nor a sampling fraction was given, so the table is taken for the whole population: the "
            "risk is 1 / group size."
        )
    elif weights is not None:
        notes.append(f"The people of each group in the population are the sum of '{weights}' over its rows.")
    if release.data.people is not None:
        notes.append("Rows are counted: each row is taken for another person of the sample.")
    return tuple(notes)
