"""Memorization: how much of what a release tells of its people is about them, and how much about people in general."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import nan

import numpy as np

from anoncore.attacks.control_figures import AttackNumbers, Figures, Interval, Tried, figures
from anoncore.attacks.guessed_secrets import (
    Guesses,
    Truth,
    by_marginals,
    by_nearest,
    by_trees,
    people_and_truths,
    published_distribution,
)
from anoncore.attacks.linked_records import Records
from anoncore.attacks.rows_counted import rows_counted
from anoncore.base.arguments import checked
from anoncore.base.number import measure
from anoncore.base.random_numbers import generator
from anoncore.base.score import Score
from anoncore.kernels.arrays import Bools, Floats, record
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata

MEMORIZATION = AttackNumbers.of(
    "memorization",
    "Reconstruction",
    "Share of right guesses of {attribute}, rare values counting as much as frequent ones",
    "How many of all guesses of {attribute} are right, of people in the table, rare values counting as much.",
    "How many of all people in the table are rightly guessed, rare values counting as much.",
    "the same share of one who always takes the most frequent published value.",
)
MEMORIZED = replace(
    MEMORIZATION.difference,
    name="memorized",
    title="Memorized",
    template=(
        "How much more often {attribute} is guessed right of people in the table than of people who are not in it, as "
        "a share of what guesses about the latter get wrong."
    ),
    baseline="0: what is told about people who are not in the table.",
    unit="share of what the control gets wrong",
    bounds=(None, 1.0),
)


@record
class Memorization(Figures):
    """How well a secret is reconstructed of people who are in the release, and of people who are not.

    Every value of the secret counts as much as any other, however rare it is: whoever always names the most frequent
    value is right about that one alone.

    Attributes
    ----------
    members : Score
        Share of right guesses about people who are in the table, beside what guessing without the release gets.
    control : Score
        The same about people who are not in it: knowledge about people in general. NaN without a control part.
    difference : Score
        How much more often guesses are right about people in the table. NaN without a control part.
    precision, recall : Score
        The share of right guesses about people in the table, as nobody abstains.
    members_interval, control_interval, difference_interval : tuple of float
        95% intervals, of all adversaries at once: that several were tried is allowed for.
    adversary : str
        The best adversary: the one with the largest lower end of the interval of the difference, without a control part
        of that of the success.
    adversaries : DataFrame
        A line per adversary, with the figures above and the ends of their intervals.
    beats_guessing : bool
        Whether the success is surely above that of guessing.
    notes : tuple of str
        What to know of the numbers, in sentences.
    attribute : str
        The secret.
    known : tuple of str
        The attributes that the adversary knows.
    memorized : Score
        The difference as a share of what the control leaves to be told: about 1 where the rows of the table are
        published, about 0 where nothing is told of them that is not told of others. NaN without a control part.
    memorized_interval : tuple of float
        Its 95% interval.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": range(20, 60), "disease": ["flu", "gout"] * 20})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> members, others = data.split(control=0.5, seed=1)
    >>> raw = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(members)
    >>> found = attacks.memorization(raw, "disease", others)
    >>> float(found.members), float(found.memorized)
    (1.0, 1.0)
    """

    attribute: str
    known: tuple[str, ...]
    memorized: Score
    memorized_interval: Interval


@measure(*MEMORIZATION.all, MEMORIZED, title="Memorization")
@checked
def memorization(
    release: Release,
    attribute: str,
    control: Microdata | None = None,
    known: Collection[str] | None = None,
    n_queries: int = 2_000,
    tolerance: float = 0.05,
    seed: int = 0,
) -> Memorization:
    """How well an adversary reconstructs a secret of people in the release, beside people who are not in it.

    What is guessed as well about people who are not in the table is knowledge about the population, which is what a
    release is for. What lies above has been memorized of the rows themselves. Both are told on one scale, in which
    every value of the secret counts alike. Three adversaries guess, each from what is published alone:

    - nearest record: they take the secret of the published record that is nearest by Gower's distance.
    - marginal model: they put together how often each value of every attribute goes with each secret (naive Bayes).
    - trees: extremely randomized trees of scikit-learn, trained on the published records.

    A release that is no table of records is read as one, with fragments linked at random within what links them, and a
    value of each range or set drawn at random. Of synthetic tables this is what says whether rows were copied.

    Parameters
    ----------
    release : Release
        The release that the adversaries read.
    attribute : str
        The secret.
    control : Microdata, optional
        People who are not in the release, drawn as those were who are in it; see `Microdata.split`. Without them it is
        not known what is memorized.
    known : collection of str, optional
        The attributes that the adversary knows of a person; by default all published ones but the secret.
    n_queries : int
        Most people of the table, and of the control part, about whom is guessed.
    tolerance : float
        How far a number may lie from the guess, as a share of it.
    seed : int
        Says which people are drawn and how what is alike is told apart.

    Returns
    -------
    Memorization
        The success on both, what is memorized, with intervals, and every adversary.

    Raises
    ------
    ReleaseError
        Where the release does not publish an attribute, or nothing links its tables.
    DataError
        For a control part that lacks attributes.
    ParameterError
        For numbers out of range, a control part that is the released table, or where nothing is known.

    Notes
    -----
    Assumes: the control part is drawn from the same people as the table.
    Cost: people times records for the nearest record, and training of ten trees.
    Use: a synthetic table, or any other, may hold copies of real rows.
    Avoid: there are no people outside the table to compare with: see `attribute_disclosure`.

    References
    ----------
    NIST, Collaborative Research Cycle, 2023 to 2025 (reconstruction, and people outside the table); arXiv 2606.08372.

    Examples
    --------
    Ages tell the disease of members alone:

    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": range(20, 100), "disease": ["flu", "gout"] * 40})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> members, others = data.split(control=0.5, seed=1)
    >>> crowd = Mondrian(requirements=[KAnonymity(k=10)]).anonymize(members)
    >>> low, high = attacks.memorization(crowd, "disease", others).memorized_interval
    >>> low < 0 < high
    True
    """
    rng = generator(seed)
    names, groups, truths = people_and_truths(release, attribute, control, known, tolerance, n_queries, rng)
    weights = _weights([truth.code for truth in truths])
    records = Records.of(release, (*names, attribute), rng)
    guesses = {
        "nearest record": [by_nearest(records, attribute, names, one) for one in groups],
        "marginal model": [by_marginals(records, attribute, names, one) for one in groups],
        "trees": by_trees(records, attribute, names, groups, seed),
    }
    tried = [_tried(adversary, made, truths, weights) for adversary, made in guesses.items()]
    mode = np.full(len(groups[0]), int(published_distribution(release, attribute).argmax()))
    guess = _mean(truths[0].right(mode), weights[0])
    words = {"attribute": f"'{attribute}'"}
    found = figures(MEMORIZATION, tried, guess, words, rows_counted(release))
    left = 1 - float(found.control)
    share, low, high = (
        float(one) / left if left > 0 else nan for one in (found.difference, *found.difference_interval)
    )
    return Memorization(
        **vars(found),
        attribute=attribute,
        known=names,
        memorized=Score(share, MEMORIZED, baseline=0.0, words=words),
        memorized_interval=(low, min(high, 1.0)),
    )


def _weights(codes: Sequence[np.ndarray]) -> list[Floats]:
    """What each person of some groups counts: 1 over the share of people with their value, of all groups together."""
    everybody = np.concatenate(codes)
    _, place, count = np.unique(everybody, return_inverse=True, return_counts=True)
    weight = (len(everybody) / count)[place]
    return np.split(weight, np.cumsum([len(one) for one in codes])[:-1])


def _mean(right: Bools, weight: Floats) -> float:
    return float(np.average(right, weights=weight))


def _tried(adversary: str, made: Sequence[Guesses], truths: Sequence[Truth], weights: Sequence[Floats]) -> Tried:
    """Shares of right guesses; where weights differ, they are as sure as those of fewer people of equal weight."""
    rights = [truth.right(one.code) for truth, one in zip(truths, made, strict=True)]
    shares = [_mean(right, weight) for right, weight in zip(rights, weights, strict=True)]
    sizes = [int(weight.sum() ** 2 / (weight**2).sum()) for weight in weights]
    return Tried.of(adversary, shares, sizes, precision=shares[0], recall=shares[0])
