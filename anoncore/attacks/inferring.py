"""Inference: can a secret of a person be guessed better because the person is in the release?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import nan

import numpy as np
import pandas as pd

from anoncore.attacks.control_figures import AttackNumbers, Figures, Tried, checked_queries, figures
from anoncore.attacks.control_people import People, attacked_attributes, control_of, members_of
from anoncore.attacks.fitting_secrets import beliefs, evidence_of
from anoncore.attacks.linked_records import Records
from anoncore.attacks.rows_counted import rows_counted
from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.base.random_numbers import generator
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64
from anoncore.release.release import Release
from anoncore.table.domain import Domain, Kind
from anoncore.table.microdata import Microdata

INFERENCE = AttackNumbers.of(
    "inference",
    "Inference",
    "Share of right guesses of {attribute}, by an adversary who knows all else that is published",
    "How many of the surest tenth of the guesses of {attribute} are right, of people in the table.",
    "How many of all people in the table are rightly guessed by the surest tenth of the guesses.",
    "the share of right guesses of one who always takes the most frequent published value.",
)
SURE = 0.1
"""Share of the people about whom an adversary guesses who may abstain: those of whom they are surest."""
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Shares of the people at which the curve has a point."""
TREES = 10
MANY_NUMBERS = 50
"""Different numbers above which the learner estimates the secret's size instead of choosing among its values."""


@dataclass(frozen=True, eq=False)
class Inference(Figures):
    """How often a secret is guessed of people who are in the release, and of people who are not.

    Attributes
    ----------
    members : Score
        Share of right guesses about people who are in the table, beside what guessing without the release gets.
    control : Score
        The same about people who are not in it; NaN without a control part.
    difference : Score
        How much more often guesses are right about people in the table: what only the release tells of them. NaN
        without a control part.
    precision, recall : Score
        How many of the surest tenth of the guesses are right, and how many of all people these right ones are.
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
    curve : DataFrame
        What the best adversary gets who guesses only about those of whom they are surest: by the share of the people
        (`guessed`) the `precision` of members and of control, and the `recall` of members.

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
    >>> found = attacks.inference(raw, "disease", control=others)
    >>> float(found.members), found.beats_guessing
    (1.0, True)
    """

    attribute: str
    known: tuple[str, ...]
    curve: pd.DataFrame


@dataclass(frozen=True, eq=False)
class _Guesses:
    """A code of the secret per person, int64 (n_people,), -1 for none, and how sure the adversary is of it, float."""

    code: Int64
    sure: Floats


@checked
def inference(
    release: Release,
    attribute: str,
    control: Microdata | None = None,
    known: Collection[str] | None = None,
    n_queries: int = 2_000,
    tolerance: float = 0.05,
    seed: int = 0,
) -> Inference:
    """How often an adversary guesses a secret of people who are in the release, and of people who are not.

    What is guessed as often about people who are not in the table is knowledge about people in general. The difference
    is what their presence in the release costs those who are in it. Three adversaries guess, each from what is
    published alone:

    - rules from the release: they take all published cells that fit the person, each as likely as its rows are many and
      its values few, and the likeliest secret of these rows. Columns that share groups are joined by their groups,
      fragments with groups of their own are independent evidence. Where nothing fits, they ask the nearest neighbour.
    - nearest neighbour: they take the secret of the published record that is nearest by Gower's distance, as anonymeter
      does; a value has no distance from a range or set that it lies in.
    - learned model: extremely randomized trees of scikit-learn, trained on the published records, with a value of each
      range or set drawn at random.

    Nearest neighbour and learner link the fragments at random within what links them. A number is guessed right where
    it differs from the guess by at most `tolerance` of the guess, everything else where it is the same.

    Parameters
    ----------
    release : Release
        The release that the adversaries read.
    attribute : str
        The secret.
    control : Microdata, optional
        People who are not in the release, drawn as those were who are in it; see `Microdata.split`.
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
    Inference
        The success on both, their difference with intervals, and every adversary.

    Raises
    ------
    ReleaseError
        Where the release does not publish an attribute.
    DataError
        For a control part that lacks attributes.
    ParameterError
        For numbers out of range, a control part that is the released table, or where nothing is known.

    Notes
    -----
    Assumes: the adversary knows true values of a person, and whether they are in the table or not does not matter.
    Cost: people times records for the nearest neighbour, and training of ten trees.
    Use: somebody asks for the third question of the Article 29 Working Party, or who is harmed by being in the table.
    Avoid: there are no people outside the table to compare with: see `attribute_disclosure`.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnadi, A unified framework for quantifying privacy risk in synthetic data, PETS
    2023; Article 29 Working Party, Opinion 05/2014; Francis and Wagner, arXiv 2507.01710 (recall beside precision);
    Newcombe, Statistics in Medicine 1998 (interval of the difference).

    Examples
    --------
    Raw rows tell the disease of every member. Of people who are not in it, they tell nothing:

    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": range(20, 60), "disease": ["flu", "gout"] * 20})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> members, others = data.split(control=0.5, seed=1)
    >>> raw = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(members)
    >>> found = attacks.inference(raw, "disease", control=others)
    >>> found.difference_interval[0] > 0
    True
    """
    release.fragment_of(attribute)
    n_queries = checked_queries(n_queries)
    if not 0 <= tolerance < 1:
        raise ParameterError(f"The tolerance is a share of the guess from 0 to below 1, not {tolerance:g}.")
    names = attacked_attributes(release, None if known is None else list(known), besides=(attribute,))
    rng = generator(seed)
    everything = (*names, attribute)
    groups = [members_of(release, everything, n_queries, rng)]
    if control is not None:
        groups.append(control_of(release, control, everything, n_queries, rng))
    truths = [
        _Truth.of(release, attribute, control if number else None, one, tolerance) for number, one in enumerate(groups)
    ]
    table = _published_distribution(release, attribute)
    notes = list(rows_counted(release))
    guesses = {"rules from the release": [_by_rules(release, attribute, names, one, table) for one in groups]}
    try:
        records = Records.of(release, everything, rng)
    except ReleaseError as error:
        notes.append(f"Nearest neighbour and learned model have no records: {error}")
    else:
        near = [_by_nearest(records, attribute, names, one) for one in groups]
        guesses["rules from the release"] = [
            _completed(one, other) for one, other in zip(guesses["rules from the release"], near, strict=True)
        ]
        guesses["nearest neighbour"] = near
        guesses["learned model"] = _learned(records, attribute, names, groups, seed)
    tried, curves = [], {}
    for adversary, made in guesses.items():
        rights = [truth.right(one.code) for truth, one in zip(truths, made, strict=True)]
        curves[adversary] = _curve(made, rights)
        at_sure = dict(curves[adversary].loc[SURE].items())
        tried.append(
            Tried(
                adversary,
                float(rights[0].mean()),
                len(rights[0]),
                float(rights[1].mean()) if control is not None else nan,
                len(rights[1]) if control is not None else 0,
                float(at_sure["precision"]),
                float(at_sure["recall"]),
            )
        )
    mode = np.full(len(groups[0]), int(table.argmax()))
    guess = float(truths[0].right(mode).mean())
    found = figures(INFERENCE, tried, guess, {"attribute": f"'{attribute}'"}, notes)
    return Inference(**vars(found), attribute=attribute, known=names, curve=curves[found.adversary])


@dataclass(frozen=True, eq=False)
class _Truth:
    """What is true of some people: the code of the secret, -1 where the table lacks it; numbers lie at `number`."""

    domain: Domain
    code: Codes
    number: Floats | None
    tolerance: float

    @classmethod
    def of(
        cls, release: Release, attribute: str, control: Microdata | None, people: People, tolerance: float
    ) -> _Truth:
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
        is_missing = guess == self.domain.missing_code if self.domain.has_missing else np.zeros(len(guess), dtype=bool)
        right: Bools = same | (near & (guess >= 0) & ~is_missing)
        return right


def _published_distribution(release: Release, attribute: str) -> Floats:
    """The share of each value among all that is published of the secret, float (n_codes,)."""
    found = np.zeros(len(release.data.domain[attribute]))
    for one in evidence_of(release, attribute, ()):
        found += np.bincount(one.code, weights=one.share, minlength=len(found))
    return found / found.sum()


def _by_rules(release: Release, attribute: str, names: tuple[str, ...], people: People, table: Floats) -> _Guesses:
    """The likeliest secret by the cells that fit; the most frequent one where none does."""
    code = np.full(len(people), int(table.argmax()), dtype=np.int64)
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
    return _Guesses(codes[alike.reshape(-1)], sures[alike.reshape(-1)])


def _completed(guesses: _Guesses, others: _Guesses) -> _Guesses:
    """The guesses, and where nothing speaks for one that of another adversary."""
    return _Guesses(np.where(guesses.sure > 0, guesses.code, others.code), guesses.sure)


def _by_nearest(records: Records, attribute: str, names: tuple[str, ...], people: People) -> _Guesses:
    """The secret of the nearest record; surer, the nearer it is."""
    record, distance = records.of_attributes(names).nearest(people.of(names))
    axis = records.names.index(attribute)
    return _Guesses(records.drawn[record, axis].astype(np.int64), -distance)


def _learned(
    records: Records, attribute: str, names: tuple[str, ...], groups: list[People], seed: int
) -> list[_Guesses]:
    """What trees say that are trained on the published records; their share of votes is how sure they are."""
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    known = records.of_attributes(names)
    axis = records.names.index(attribute)
    secret, domain = records.drawn[records.order, axis], records.domains[axis]
    features = known.features().astype(np.float32)
    if domain.kind is Kind.NUMERIC and len(domain) > MANY_NUMBERS:
        sizes = ExtraTreesRegressor(n_estimators=TREES, random_state=seed).fit(features, domain.shares[secret])
        places = [sizes.predict(known.features_of(people).astype(np.float32)) for people in groups]
        return [_Guesses(_nearest_code(domain, one), np.zeros(len(one))) for one in places]
    learner = ExtraTreesClassifier(n_estimators=TREES, random_state=seed).fit(features, secret)
    found = []
    for people in groups:
        votes = learner.predict_proba(known.features_of(people).astype(np.float32))
        likeliest = votes.argmax(axis=1)
        found.append(_Guesses(learner.classes_[likeliest].astype(np.int64), votes.max(axis=1)))
    return found


def _nearest_code(domain: Domain, places: Floats) -> Int64:
    """The code that lies nearest to each place on the attribute's axis, int64."""
    above = np.searchsorted(domain.shares, places).clip(1, len(domain) - 1)
    below = above - 1
    is_below = np.abs(domain.shares[below] - places) <= np.abs(domain.shares[above] - places)
    return np.where(is_below, below, above).astype(np.int64)


def _curve(guesses: list[_Guesses], rights: list[Bools]) -> pd.DataFrame:
    """Precision and recall of an adversary who guesses about the surest share of the people, by that share."""
    lines = []
    for share in STEPS:
        precisions = []
        for one, right in zip(guesses, rights, strict=True):
            n_guesses = max(1, round(share * len(right)))
            surest = np.lexsort((np.arange(len(right)), -one.sure))[:n_guesses]
            precisions.append(float(right[surest].mean()))
        n_guesses = max(1, round(share * len(rights[0])))
        recall = precisions[0] * n_guesses / len(rights[0])
        control = precisions[1] if len(precisions) > 1 else nan
        lines.append({"guessed": share, "precision": precisions[0], "control": control, "recall": recall})
    return pd.DataFrame(lines).set_index("guessed")
