"""How many people are unique in the population of which the table is a sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anoncore.attacks.sampled_classes import SampledClasses, checked_fraction, sampled_classes
from anoncore.attacks.uniqueness_estimates import Classes, dankar, pitman, slide_negative_binomial, zayatz
from anoncore.base.arguments import checked
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.number import RISK, Number, measure
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.kernels.arrays import record
from anoncore.release.population import population_sizes
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata

POPULATION_UNIQUES = replace(
    RISK,
    name="population-uniques",
    title="Unique in the population",
    template=(
        "Share of the people of the population who are unique in it by the published quasi-identifiers, estimated by "
        "Dankar's rule from the table as a sample."
    ),
    source="Dankar et al., 2012",
    bounds=(0.0, None),
    baseline="the share of the rows that are unique in the table: what holds where it is taken for the population.",
)
UNIQUES_ZAYATZ = replace(
    POPULATION_UNIQUES,
    name="population-uniques-zayatz",
    title="Unique in the population (Zayatz)",
    template="The share of unique people of the population by Zayatz's estimate.",
    source="Zayatz, 1991",
)
UNIQUES_PITMAN = replace(
    POPULATION_UNIQUES,
    name="population-uniques-pitman",
    title="Unique in the population (Pitman)",
    template="The share of unique people of the population by Pitman's model.",
    source="Hoshino, 2001",
)
UNIQUES_SNB = replace(
    POPULATION_UNIQUES,
    name="population-uniques-snb",
    title="Unique in the population (SNB)",
    template="The share of unique people of the population by the slide negative binomial model.",
    source="Chen and Keller-McNulty, 1998",
)
UNIQUES_COUNTED = replace(
    POPULATION_UNIQUES,
    name="population-uniques-counted",
    title="Unique in the given population",
    template="Share of the table's rows that fit one person of the given population only.",
    source="El Emam and Dankar, 2008",
    bounds=(0.0, 1.0),
)
UNIQUE_STAYS = replace(
    RISK,
    name="unique-stays-unique",
    title="A unique row is a unique person",
    template="How likely a row that is unique in the table belongs to a person who is unique in the population.",
    source="Dankar et al., 2012",
    unit="probability",
    bounds=(0.0, None),
    baseline="1: the table is the population.",
)


@record
class PopulationUniqueness(Result):
    """Who is unique in the population, estimated from the sample and, where a population is given, counted.

    An estimate is NaN where its model has no solution for this sample.

    Attributes
    ----------
    share : Score
        Unique people as a share of the population, by the estimate that Dankar's rule takes.
    method : str
        Which estimate that is, and why, in a sentence.
    zayatz, pitman, snb : Score
        The same share by each estimate.
    counted : Score
        The share of the table's rows that fit one person of the given population only; NaN where no population was
        given. `share` estimates the same: each unique person is in the sample with the same probability as any other.
    stays : Score
        How likely a row that is unique in the table belongs to somebody unique in the population; NaN where no row is.
    fraction : float
        Share of the population that is in the table.
    population_size : float
        People of the population.
    notes : tuple of str
        What to know of the numbers, in sentences.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> ages = [20] * 4 + [30] * 3 + [40] * 2 + [50] * 2 + [60, 70, 80, 90]
    >>> data = Microdata(pd.DataFrame({"age": ages}), roles={"age": "quasi-identifier"})
    >>> release = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(data)
    >>> found = attacks.population_uniqueness(release, fraction=0.5)
    >>> found.method
    "Slide negative binomial model: the sampling fraction is above 0.1, and Zayatz's estimate is larger."
    >>> round(found.share, 4), found.population_size
    (0.118, 30.0)
    """

    share: Score
    method: str
    zayatz: Score
    pitman: Score
    snb: Score
    counted: Score
    stays: Score
    fraction: float
    population_size: float
    notes: tuple[str, ...]


@measure(
    POPULATION_UNIQUES,
    UNIQUES_ZAYATZ,
    UNIQUES_PITMAN,
    UNIQUES_SNB,
    UNIQUES_COUNTED,
    UNIQUE_STAYS,
    title="Uniqueness in the population",
)
@checked
def population_uniqueness(
    release: Release, fraction: float | None = None, population: Microdata | None = None
) -> PopulationUniqueness:
    """How many people are unique in the population, where the table is a random sample of it.

    Somebody unique in the table need not be unique in the population: the others who are alike may not have been drawn.
    A class is the records with equal published quasi-identifiers. Three estimates are made from the sizes of the
    classes, and Dankar's rule takes one of them:

    - Zayatz: s1 * P(F = 1 | f = 1) * N / n, where s1 counts the classes of one record, and P follows from Bayes' rule,
      the sizes of the sample's classes, and the hypergeometric distribution.
    - Pitman: Gamma(theta + 1) / Gamma(theta + alpha) * N^alpha, with the parameters of Pitman's sampling formula of the
      largest likelihood.
    - SNB, the slide negative binomial model: K * beta^alpha. Its parameters give the classes of one and of two records
      that were seen, K is Shlosser's modified estimator of the number of classes.
    - Dankar's rule: Pitman up to a sampling fraction of 0.1, above it the smaller one of SNB and Zayatz. Where a model
      has no solution, Zayatz.

    Parameters
    ----------
    release : Release
        The release of the sample. Where several fragments publish quasi-identifiers, the one with the largest share
        counts.
    fraction : float, optional
        Share of the population that is in the table, above 0 and at most 1. Without it, and without a population, the
        table is taken for the population.
    population : Microdata, optional
        A table of the population, with one row per person. It says how large the population is, and its unique people
        are counted beside the estimates. Give it or the fraction, not both.

    Returns
    -------
    PopulationUniqueness
        The estimates, the one that Dankar's rule takes, and what was counted.

    Raises
    ------
    ParameterError
        Where both are given, or a fraction that is none.
    DataError
        For a population that is smaller than the table, lacks quasi-identifiers, or has several rows of one person.

    Notes
    -----
    Assumes: the table is a simple random sample; the adversary has a list of the population with the quasi-identifiers.
    Cost: O(n log n), and some hundred sums over the classes for Pitman's model.
    Use: an authority asks who could be singled out in the population, and the table is a part of it.
    Avoid: the sample was drawn with unequal weights: see `individual_risk`.

    References
    ----------
    Dankar, El Emam, Neisa and Roffey, Estimating the re-identification risk of clinical data sets, BMC Medical
    Informatics and Decision Making 12:66, 2012, with appendix A; Zayatz, 1991; Hoshino, Journal of Official Statistics
    2001; Chen and Keller-McNulty, Journal of Official Statistics 1998; Haas and Stokes, JASA 1998. ARX has the same
    rule (RiskModelPopulationUniqueness.java); the second equation of its SNB model multiplies where the model divides
    (ModelSNB.java), which is not followed here.

    Examples
    --------
    Four of 15 people are unique in the sample. Of a population twice as large about as many are estimated to be:

    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> ages = [20] * 4 + [30] * 3 + [40] * 2 + [50] * 2 + [60, 70, 80, 90]
    >>> data = Microdata(pd.DataFrame({"age": ages}), roles={"age": "quasi-identifier"})
    >>> release = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(data)
    >>> found = attacks.population_uniqueness(release, fraction=0.5)
    >>> round(found.share * found.population_size, 1), round(found.stays, 2)
    (3.5, 0.44)
    """
    release.require_people("Who is unique in the population is asked of people's rows")
    if fraction is not None and population is not None:
        raise ParameterError(
            "Give the sampling fraction or a table of the population, not both: the table says how large the "
            "population is."
        )
    rows = release.data.n_rows
    share = checked_fraction(1.0 if fraction is None else fraction)
    size = rows / share if population is None else float(population.n_rows)
    if population is not None:
        _check(population, rows)
    found = max(
        (_of_classes(release, classes, size, population) for classes in sampled_classes(release)),
        key=lambda one: float(one.share),
    )
    notes = [*found.notes]
    if fraction is None and population is None:
        notes.append(
            "Neither a sampling fraction nor a population was given, so the table is taken for the population: its "
            "unique rows are counted."
        )
    if release.data.people is not None:
        notes.append("Rows are counted: each row is taken for another person of the sample.")
    return replace(found, notes=tuple(notes))


def _check(population: Microdata, rows: int) -> None:
    if population.people is not None:
        raise DataError(f"The population has several rows of one person ('{population.unit}'); give it one row each.")
    if population.n_rows < rows:
        raise DataError(
            f"The population has {population.n_rows:,} people and the table {rows:,} rows, so the table is no sample "
            "of it; give a table of everybody among whom the people of the table were drawn."
        )


def _of_classes(
    release: Release, classes: SampledClasses, size: float, population: Microdata | None
) -> PopulationUniqueness:
    """What one fragment gives."""
    rows = release.data.n_rows
    by_size, fraction = Classes.of(classes.records), rows / size
    alone = by_size.of_size(1)
    uniques = estimates(by_size, size)
    taken = dankar(fraction, uniques["zayatz"], uniques["pitman"], uniques["snb"])
    baseline = alone / rows

    def score(number: Number, estimate: float) -> Score:
        return Score(estimate / size, number, baseline=baseline)

    counted = float("nan")
    if population is not None:
        people = population_sizes(classes.fragment, classes.names, classes.first, population, release.data.hierarchies)
        single = np.maximum(people, classes.records) == 1
        counted = float(classes.records[single].sum() / rows)
    stays = uniques[taken] * fraction / alone if alone else float("nan")
    return PopulationUniqueness(
        share=score(POPULATION_UNIQUES, uniques[taken]),
        method=_reason(taken, fraction, alone),
        zayatz=score(UNIQUES_ZAYATZ, uniques["zayatz"]),
        pitman=score(UNIQUES_PITMAN, uniques["pitman"]),
        snb=score(UNIQUES_SNB, uniques["snb"]),
        counted=Score(counted, UNIQUES_COUNTED, baseline=baseline),
        stays=Score(stays, UNIQUE_STAYS, baseline=1.0),
        fraction=fraction,
        population_size=size,
        notes=_notes(uniques, size),
    )


def estimates(classes: Classes, population: float) -> dict[str, float]:
    """The unique people of the population by each estimate: `zayatz`, `pitman`, `snb`; NaN where a model has none."""
    alone = classes.of_size(1)
    if not alone or classes.people == population:
        # Who is not unique in the sample is not unique in the population, and the population is its own sample.
        return dict.fromkeys(("zayatz", "pitman", "snb"), alone)
    return {
        "zayatz": zayatz(classes, population),
        "pitman": pitman(classes, population),
        "snb": slide_negative_binomial(classes, population),
    }


def _reason(taken: str, fraction: float, alone: float) -> str:
    if not alone:
        return "Nobody is unique in the table, so nobody of it is unique in the population."
    if fraction == 1:
        return "The table is the population, so its unique rows are counted."
    if taken == "pitman":
        return "Pitman: the sampling fraction is at most 0.1."
    if taken == "snb":
        return "Slide negative binomial model: the sampling fraction is above 0.1, and Zayatz's estimate is larger."
    if fraction <= 0.1:
        return "Zayatz: the sampling fraction is at most 0.1, but Pitman's model has no solution for this table."
    return "Zayatz: the sampling fraction is above 0.1, and the slide negative binomial model says more or nothing."


def _notes(uniques: dict[str, float], size: float) -> tuple[str, ...]:
    names = {"pitman": "Pitman's model", "snb": "The slide negative binomial model"}
    notes = [
        f"{names[name]} has no solution for the sizes of this table's groups."
        for name in names
        if np.isnan(uniques[name])
    ]
    notes += [
        f"{names.get(name, name.capitalize())} says more people than the population has; do not go by it."
        for name, one in uniques.items()
        if one > size
    ]
    return tuple(notes)
