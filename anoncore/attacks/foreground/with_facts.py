"""What changes in the foreground-knowledge attack when the adversary knows facts beside the release."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anoncore.attacks.foreground.facts import Fact
from anoncore.base.arguments import checked_methods
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Bools, Floats, record

MOST_PEOPLE = 20


@checked_methods
@record
class ForegroundWithFacts(Result):
    """The foreground-knowledge attack of an adversary who knows facts, beside the same attack without them.

    The baseline of recall, flagged and mean_probability is what the facts and the person's group tell without the
    attack, where every possible world that the facts allow is equally likely.

    Attributes
    ----------
    facts : tuple of Fact
        What the adversary knows beside the release.
    is_true : tuple of bool
        Whether each fact holds in the original table; an adversary may err.
    breach_probability : ndarray of float, shape (n_rows,)
        The largest p(t:x) of each person over attribute sets and values, in original row order.
    own_probability : ndarray of float, shape (n_rows,)
        p(t:x) of each person's own value; NaN where that needs no protection.
    own_without_attack : ndarray of float, shape (n_rows,)
        The same by the facts and the person's group alone.
    own_without_facts : ndarray of float, shape (n_rows,)
        The same by the attack alone.
    more : ndarray of bool, shape (n_rows,)
        Whose own value is believed above 1 / r only with the facts.
    fewer : ndarray of bool, shape (n_rows,)
        Whose own value is believed above 1 / r only without them.
    recall : Score
        Share of the people with a protected value whose own p(t:x) exceeds 1 / r. Where the attack learned nothing, it
        is what the facts tell alone.
    flagged : Score
        Share of the people with a p(t:x) above 1 / r for a value that they do not have.
    mean_probability : Score
        Mean p(t:x) of people's own values.
    excess : Score
        Recall less the control of the attack, which knows no facts: what release and facts give away together. NaN
        where the attack learned nothing.
    excess_interval : tuple of float
        Its 95% interval.
    notes : tuple of str
        What to know of the numbers, in sentences.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJAAAA"), "disease": ["flu", "gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> found = attacks.foreground_knowledge(release, "disease", epsilon=0.4, facts=("row 1 has not gout",))
    >>> found.breach_probability.round(3).tolist()
    [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    >>> found.with_facts.breach_probability.round(3).tolist()
    [1.0, 1.0, 0.5, 0.5, 0.5, 0.5]
    >>> found.with_facts.people()["row"].tolist()
    [1, 2]
    """

    facts: tuple[Fact, ...]
    is_true: tuple[bool, ...]
    breach_probability: Floats
    own_probability: Floats
    own_without_attack: Floats
    own_without_facts: Floats
    more: Bools
    fewer: Bools
    recall: Score
    flagged: Score
    mean_probability: Score
    excess: Score
    excess_interval: tuple[float, float]
    notes: tuple[str, ...]

    @property
    def n_more(self) -> int:
        """People whose own value is given away only with the facts."""
        return int(self.more.sum())

    @property
    def n_fewer(self) -> int:
        """People whose own value is given away only without the facts, which mislead about them."""
        return int(self.fewer.sum())

    def people(self, n_people: int = MOST_PEOPLE) -> pd.DataFrame:
        """Those about whom the facts tell most, whose own value is believed the more strongly with them.

        Parameters
        ----------
        n_people : int
            How many, at most.

        Returns
        -------
        DataFrame
            A line per person: `row`, counted from 1 as in facts, and the belief in their own value `without facts`,
            by the `facts alone`, and `with facts`; those first whose belief rises most.
        """
        rise = np.nan_to_num(self.own_probability - self.own_without_facts).round(9)
        first = np.argsort(-rise, kind="stable")[: max(n_people, 0)]
        first = first[rise[first] > 0]
        return pd.DataFrame(
            {
                "row": first + 1,
                "without facts": self.own_without_facts[first],
                "facts alone": self.own_without_attack[first],
                "with facts": self.own_probability[first],
            }
        )


def notes_of(
    facts: tuple[Fact, ...], is_true: tuple[bool, ...], weighs_counts: bool, converged: bool
) -> tuple[str, ...]:
    """What to know of numbers with facts."""
    notes = ["The control knows no facts, so what lies above it is what the release and the facts give away together."]
    false = [str(fact) for fact, holds in zip(facts, is_true, strict=True) if not holds]
    if false:
        notes.append(
            f"Not true of the original table, so that they mislead the adversary: {listing(false)}."
            if len(false) > 1
            else f"Not true of the original table, so that it misleads the adversary: {listing(false)}."
        )
    if weighs_counts:
        notes.append(
            "The worlds of all groups are too many to list, so the counts of the facts hold on average and not in each "
            "world; that moves beliefs the less, the more people are counted."
        )
    if not converged:
        notes.append(
            "With the facts the shares had not settled in all attribute sets when learning ended; beliefs are near "
            "their limit there."
        )
    return tuple(notes)
