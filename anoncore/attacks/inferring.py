"""Inference: can a secret of a person be guessed better because the person is in the release?"""

from __future__ import annotations

from collections.abc import Collection
from math import nan

import numpy as np
import pandas as pd

from anoncore.attacks.control_figures import AttackNumbers, Figures, Tried, figures
from anoncore.attacks.guessed_secrets import (
    Guesses,
    by_nearest,
    by_rules,
    by_trees,
    completed,
    people_and_truths,
    published_distribution,
)
from anoncore.attacks.linked_records import Records
from anoncore.attacks.rows_counted import rows_counted
from anoncore.base.arguments import checked
from anoncore.base.errors import ReleaseError
from anoncore.base.number import measure
from anoncore.base.random_numbers import generator
from anoncore.kernels.arrays import Bools, record
from anoncore.release.release import Release
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


@record
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


@measure(*INFERENCE.all, title="Inference")
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
    rng = generator(seed)
    names, groups, truths = people_and_truths(release, attribute, control, known, tolerance, n_queries, rng)
    table = published_distribution(release, attribute)
    notes = list(rows_counted(release))
    guesses = {"rules from the release": [by_rules(release, attribute, names, one, table) for one in groups]}
    try:
        records = Records.of(release, (*names, attribute), rng)
    except ReleaseError as error:
        notes.append(f"Nearest neighbour and learned model have no records: {error}")
    else:
        near = [by_nearest(records, attribute, names, one) for one in groups]
        guesses["rules from the release"] = [
            completed(one, other) for one, other in zip(guesses["rules from the release"], near, strict=True)
        ]
        guesses["nearest neighbour"] = near
        guesses["learned model"] = by_trees(records, attribute, names, groups, seed)
    tried, curves = [], {}
    for adversary, made in guesses.items():
        rights = [truth.right(one.code) for truth, one in zip(truths, made, strict=True)]
        curves[adversary] = _curve(made, rights)
        at_sure = dict(curves[adversary].loc[SURE].items())
        shares, sizes = [float(right.mean()) for right in rights], [*map(len, rights)]
        tried.append(Tried.of(adversary, shares, sizes, float(at_sure["precision"]), float(at_sure["recall"])))
    mode = np.full(len(groups[0]), int(table.argmax()))
    guess = float(truths[0].right(mode).mean())
    found = figures(INFERENCE, tried, guess, {"attribute": f"'{attribute}'"}, notes)
    return Inference(**vars(found), attribute=attribute, known=names, curve=curves[found.adversary])


def _curve(guesses: list[Guesses], rights: list[Bools]) -> pd.DataFrame:
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
