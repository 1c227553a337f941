"""How adversaries guess a secret of people of whom they know other attributes: by what fits, what is near, and models.

Each of them learns from what a release publishes alone, and guesses about people who are in its table or not.
"""

from __future__ import annotations

from collections.abc import Collection
from math import nan

import numpy as np

from anoncore.attacks.coarse_values import coarse_values
from anoncore.attacks.control_figures import checked_queries
from anoncore.attacks.control_people import People, attacked_attributes, control_of, members_of
from anoncore.attacks.fitting_secrets import beliefs, evidence_of
from anoncore.attacks.linked_records import Records
from anoncore.base.errors import ParameterError
from anoncore.base.extras import imported
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.release.release import Release
from anoncore.table.domain import Domain, Kind
from anoncore.table.microdata import Microdata

TREES = 10
MANY_NUMBERS = 50
"""Different numbers above which the learner estimates the secret's size instead of choosing among its values."""


@record
class Guesses:
    """A code of the secret per person, int64 (n_people,), -1 for none, and how sure the adversary is of it, float."""

    code: Int64
    sure: Floats


@record
class Truth:
    """What is true of some people: the code of the secret, -1 where the table lacks it; numbers lie at `number`."""

    domain: Domain
    code: Codes
    number: Floats | None
    tolerance: float

    @classmethod
    def of(cls, release: Release, attribute: str, control: Microdata | None, people: People, tolerance: float) -> Truth:
        """The values of some people of a released table, or of a control part, in the codes of the released table."""
        domain = release.data.domain[attribute]
        axis = people.names.index(attribute)
        below, above = people.below[:, axis], people.above[:, axis]
        code = np.where(below == above, below, -1)
        if domain.kind is not Kind.NUMERIC or domain.is_date:
            return cls(domain, code, None, tolerance)
        own = release.data if control is None else control
        number = own.domain[attribute].positions[own.codes[attribute][people.rows]].copy()
        number[own.codes[attribute][people.rows] == own.domain[attribute].missing_code] = nan
        return cls(domain, code, number, tolerance)

    def right(self, guess: Int64) -> Bools:
        """Whether each guess is right."""
        same = (guess == self.code) & (guess >= 0)
        if self.number is None:
            return same
        guessed = self.domain.positions[guess]
        near = np.abs(guessed - self.number) <= self.tolerance * np.abs(guessed)
        is_missing = guess == self.domain.missing_code if self.domain.has_missing else np.zeros(len(guess), bool)
        right: Bools = same | (near & (guess >= 0) & ~is_missing)
        return right


def people_and_truths(
    release: Release,
    attribute: str,
    control: Microdata | None,
    known: Collection[str] | None,
    tolerance: float,
    n_queries: int,
    rng: np.random.Generator,
) -> tuple[tuple[str, ...], list[People], list[Truth]]:
    """What is known of people of the released table and, where it is given, of the control part, and their secrets.

    Raises ReleaseError and ParameterError for attributes and numbers with which nobody can be asked for.
    """
    release.fragment_of(attribute)
    n_queries = checked_queries(n_queries)
    names = attacked_attributes(release, None if known is None else list(known), besides=(attribute,))
    if not 0 <= tolerance < 1:
        raise ParameterError(f"The tolerance is a share of the guess from 0 to below 1, not {tolerance:g}.")
    everything = (*names, attribute)
    groups = [members_of(release, everything, n_queries, rng)]
    if control is not None:
        groups.append(control_of(release, control, everything, n_queries, rng))
    truths = [
        Truth.of(release, attribute, control if number else None, one, tolerance) for number, one in enumerate(groups)
    ]
    return names, groups, truths


def published_distribution(release: Release, attribute: str) -> Floats:
    """The share of each value among all that is published of the secret, float (n_codes,)."""
    found = np.zeros(len(release.data.domain[attribute]))
    for one in evidence_of(release, attribute, ()):
        found += np.bincount(one.code, weights=one.share, minlength=len(found))
    return found / found.sum()


def by_rules(release: Release, attribute: str, names: tuple[str, ...], people: People, table: Floats) -> Guesses:
    """The likeliest secret by the cells that fit; the most frequent one where none does."""
    code = np.full(len(people), int(table.argmax()), np.int64)
    sure = np.zeros(len(people))
    known = people.of(names)
    # People with equal values are alike to the adversary.
    _, first, alike = np.unique(
        np.column_stack((known.below, known.above)), axis=0, return_index=True, return_inverse=True
    )

    def use(numbers: Int64, belief: Floats) -> None:
        likeliest = belief.argmax(axis=1)
        most = belief[np.arange(len(numbers)), likeliest]
        fits = most > 0
        codes[numbers] = np.where(fits, likeliest, codes[numbers])
        sures[numbers] = most

    codes, sures = code[first], sure[first]
    beliefs(evidence_of(release, attribute, names), known.some(first), table, use)
    return Guesses(codes[alike.reshape(-1)], sures[alike.reshape(-1)])


def completed(guesses: Guesses, others: Guesses) -> Guesses:
    """The guesses, and where nothing speaks for one that of another adversary."""
    return Guesses(np.where(guesses.sure > 0, guesses.code, others.code), guesses.sure)


def by_nearest(records: Records, attribute: str, names: tuple[str, ...], people: People) -> Guesses:
    """The secret of the nearest record; surer, the nearer it is."""
    record, distance = records.of_attributes(names).nearest(people.of(names))
    axis = records.names.index(attribute)
    return Guesses(records.drawn[record, axis].astype(np.int64), -distance)


def by_trees(
    records: Records, attribute: str, names: tuple[str, ...], groups: list[People], seed: int
) -> list[Guesses]:
    """What trees say that are trained on the published records; their share of votes is how sure they are."""
    trees = imported("sklearn.ensemble", "Inference by trees")
    known = records.of_attributes(names)
    axis = records.names.index(attribute)
    secret, domain = records.drawn[records.order, axis], records.domains[axis]
    features = known.features().astype(np.float32)
    if domain.kind is Kind.NUMERIC and len(domain) > MANY_NUMBERS:
        sizes = trees.ExtraTreesRegressor(n_estimators=TREES, random_state=seed).fit(features, domain.shares[secret])
        places = [sizes.predict(known.features_of(people).astype(np.float32)) for people in groups]
        return [Guesses(_nearest_code(domain, one), np.zeros(len(one))) for one in places]
    learner = trees.ExtraTreesClassifier(n_estimators=TREES, random_state=seed).fit(features, secret)
    found = []
    for people in groups:
        votes = learner.predict_proba(known.features_of(people).astype(np.float32))
        likeliest = votes.argmax(axis=1)
        found.append(Guesses(learner.classes_[likeliest].astype(np.int64), votes.max(axis=1)))
    return found


def _nearest_code(domain: Domain, places: Floats) -> Int64:
    """The code that lies nearest to each place on the attribute's axis, int64."""
    above = np.searchsorted(domain.shares, places).clip(1, len(domain) - 1)
    below = above - 1
    is_below = np.abs(domain.shares[below] - places) <= np.abs(domain.shares[above] - places)
    return np.where(is_below, below, above).astype(np.int64)


def by_marginals(records: Records, attribute: str, names: tuple[str, ...], people: People) -> Guesses:
    """The secret that pairs of an attribute and the secret speak for, as if they were independent: naive Bayes."""
    axis = records.names.index(attribute)
    secret = records.drawn[:, axis].astype(np.int64)
    n_secrets = len(records.domains[axis])
    of_secret = np.bincount(secret, minlength=n_secrets)
    score = np.tile(np.log(of_secret + 1.0), (len(people), 1))
    known = people.of(names)
    for place, name in enumerate(names):
        column = records.names.index(name)
        coarse = coarse_values(records.domains[column], records.drawn[:, column])
        n_values = int(coarse.max()) + 1
        pairs = np.bincount(secret * n_values + coarse[records.drawn[:, column]], minlength=n_secrets * n_values)
        chance = (pairs.reshape(n_secrets, n_values) + 1) / (of_secret[:, None] + n_values)
        code = known.below[:, place]
        # A category that the table lacks says nothing.
        score += np.where((code >= 0)[:, None], np.log(chance[:, coarse[np.maximum(code, 0)]]).T, 0.0)
    return Guesses(score.argmax(axis=1), score.max(axis=1))
