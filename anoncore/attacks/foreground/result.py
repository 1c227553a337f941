"""What the foreground-knowledge attack found."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anoncore.attacks.foreground.sets import SetLeak, signatures_of
from anoncore.attacks.foreground.with_facts import ForegroundWithFacts
from anoncore.attacks.foreground.worlds import group_probabilities
from anoncore.base.arguments import checked_methods
from anoncore.base.errors import ParameterError
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Bools, Floats, Int64, record
from anoncore.kernels.foreground_shares import shares_of
from anoncore.kernels.rounding import ACCUMULATED, lies_above, reaches
from anoncore.release.release import Release


@record
class GroupView(Result):
    """One group under the attack with one attribute set and one sensitive value x.

    Attributes
    ----------
    group : int
        Number of the group.
    attributes : tuple of str
        The attributes of the set.
    value : str
        The sensitive value x.
    rows : ndarray of int64, shape (N,)
        Row numbers of the N people of the group.
    signatures : tuple of str
        The values of each person in the attributes; those that are not reliable end in "(rare)".
    f : ndarray of float, shape (N,)
        p(s:x), what was learned about people like each person.
    probability : ndarray of float, shape (N,)
        p(t:x) of each person with the attack.
    has_value : ndarray of bool, shape (N,)
        Whether each person has x in the original table.
    n : int
        Published number of people with x.
    without_attack : float
        p(t:x) of everyone if every possible world is equally likely.

    Notes
    -----
    `possible_worlds(f, n)` lists the worlds.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> found = attacks.foreground_knowledge(release, "disease", epsilon=0.4)
    >>> view = found.group(release, 1)
    >>> view.value, view.signatures, view.probability.round(3).tolist(), view.without_attack
    ('flu', ('J', 'A'), [1.0, 0.0], 0.5)
    """

    group: int
    attributes: tuple[str, ...]
    value: str
    rows: Int64
    signatures: tuple[str, ...]
    f: Floats
    probability: Floats
    has_value: Bools
    n: int
    without_attack: float


@checked_methods
@record
class ForegroundKnowledge(Result):
    """What the foreground-knowledge attack found in one release.

    The baseline of every score is what an adversary has who takes every possible world for equally likely.

    Attributes
    ----------
    attribute : str
        The sensitive attribute that is attacked.
    r : float
        A breach is a belief above 1 / r.
    at_least : bool
        Whether a belief of exactly 1 / r is a breach too.
    epsilon : float
        Error that the adversary accepts in what they learn: the one asked for, or the one that was chosen.
    minimum_rows : float
        J: rows below which a signature is not relied upon.
    learned : bool
        Whether a signature has so many rows. Otherwise nothing was learned, and recall, flagged, mean_probability,
        control and excess are NaN.
    values : tuple of str
        The n_values values that need protection, as texts.
    fixed_shares : ndarray of float, shape (n_values,)
        The share of each value that people with rare signatures are taken to have; NaN where it is that in each
        person's own group.
    overall_shares : ndarray of float, shape (n_values,)
        How frequent each value is in the published table.
    breach_probability : ndarray of float, shape (n_rows,)
        The largest p(t:x) of each person over attribute sets and values, in original row order.
    own_probability : ndarray of float, shape (n_rows,)
        p(t:x) of each person's own value; NaN where that needs no protection.
    without_attack : ndarray of float, shape (n_rows,)
        The breach probability if all possible worlds are equally likely, when p(t:x) is n / N.
    own_without_attack : ndarray of float, shape (n_rows,)
        The same for each person's own value.
    leading_set : ndarray of int64, shape (n_rows,)
        Which of `sets` gives the breach probability of each person; -1 where none does.
    recall : Score
        Share of the people with a protected value whose own p(t:x) exceeds 1 / r.
    flagged : Score
        Share of the people with a p(t:x) above 1 / r for a value that they do not have, among those for whom there is
        one.
    mean_probability : Score
        Mean p(t:x) of people's own values.
    control : Score
        The recall of the same attack where nothing is to be learned, the mean of its draws: with the secret shuffled
        over all people before the method ran. Of a release whose method is not known, the secrets are dealt anew over
        its groups. NaN without draws.
    excess : Score
        Recall less control: what the release gives away.
    control_interval, excess_interval : tuple of float
        95% intervals. That of the excess holds 0 for 19 of 20 tables with shuffled secrets.
    error : Score
        Mean relative error of what was learned about signatures, over the attribute sets.
    mean_range : Score
        Largest minus smallest p(s:x) in a group, on average over groups and attribute sets.
    sets : tuple of SetLeak
        The attribute sets that were learned, the most leaking first.
    n_all : int
        Attribute sets with a reliable signature, those included that would have taken too long; of a large table, as
        far as a sample of its rows tells.
    too_costly : tuple of float
        Epsilons that were not tried, because the attack would take too long with them; it may give more away there.
    seconds : float
        Wall time of the whole attack.
    mining_seconds : float
        Time to learn, summed over the cores.
    notes : tuple of str
        What to know of the numbers, in sentences.
    with_facts : ForegroundWithFacts or None
        What changes for an adversary who knows facts beside the release; None where none were given. All other fields
        are without them.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> found = attacks.foreground_knowledge(release, "disease", epsilon=0.4)
    >>> found.breach_probability.round(3).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    >>> found.without_attack.round(3).tolist()
    [1.0, 1.0, 0.5, 0.5, 1.0, 1.0]
    """

    attribute: str
    r: float
    at_least: bool
    epsilon: float
    minimum_rows: float
    learned: bool
    values: tuple[str, ...]
    fixed_shares: Floats
    overall_shares: Floats
    breach_probability: Floats
    own_probability: Floats
    without_attack: Floats
    own_without_attack: Floats
    leading_set: Int64
    recall: Score
    flagged: Score
    mean_probability: Score
    control: Score
    excess: Score
    control_interval: tuple[float, float]
    excess_interval: tuple[float, float]
    error: Score
    mean_range: Score
    sets: tuple[SetLeak, ...]
    n_all: int
    too_costly: tuple[float, ...]
    seconds: float
    mining_seconds: float
    notes: tuple[str, ...]
    with_facts: ForegroundWithFacts | None = None

    @property
    def breached(self) -> Bools:
        """Whether each person's breach probability exceeds 1 / r (or, with `at_least`, is 1 / r), bool (n_rows,)."""
        if self.at_least:
            return reaches(self.breach_probability, 1 / self.r, ACCUMULATED)
        return lies_above(self.breach_probability, 1 / self.r, ACCUMULATED)

    @property
    def n_sets(self) -> int:
        """Number of attribute sets that were attacked with."""
        return len(self.sets)

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance for every attribute set."""
        return all(one.converged for one in self.sets)

    def ranking(self) -> pd.DataFrame:
        """One line per attribute set, the most leaking first."""
        return pd.DataFrame(
            {
                "attributes": [leak.label for leak in self.sets],
                "signatures": [len(leak.rows) for leak in self.sets],
                "recall": [leak.recall for leak in self.sets],
                "flagged": [leak.flagged for leak in self.sets],
                "mean_probability": [leak.mean_probability for leak in self.sets],
                "mean_range": [leak.mean_range for leak in self.sets],
                "relative_error": [leak.relative_error for leak in self.sets],
                "steps": [leak.steps for leak in self.sets],
                "converged": [leak.converged for leak in self.sets],
            }
        )

    def distribution(self, release: Release, place: int = 0) -> pd.DataFrame:
        """What was learned with one attribute set, a line per reliable signature and protected value.

        Parameters
        ----------
        release : Release
            The release that was attacked.
        place : int
            Which of `sets`.

        Returns
        -------
        DataFrame
            The attributes' texts, `rows`, `value`, `learned` and `true` p(s:x), and `relative_error`.
        """
        if not 0 <= place < len(self.sets):
            raise ParameterError(f"There is no attribute set {place}; there are {len(self.sets)}, counted from 0.")
        leak = self.sets[place]
        domains = [release.data.domain[name] for name in leak.attributes]
        m, n_values = len(leak.rows), len(self.values)
        frame = pd.DataFrame(
            {
                name: np.repeat(d.texts[leak.signatures[:, i]], n_values)
                for i, (name, d) in enumerate(zip(leak.attributes, domains, strict=True))
            }
        )
        frame["rows"] = np.repeat(leak.rows, n_values)
        frame["value"] = list(self.values) * m
        frame["learned"], frame["true"] = leak.learned.ravel(), leak.true.ravel()
        frame["relative_error"] = (frame["learned"] - frame["true"]).abs() / frame["true"].where(frame["true"] > 0)
        return frame

    def group(self, release: Release, group: int, place: int | None = None, value: str | None = None) -> GroupView:
        """One group of the attacked release, person by person.

        Parameters
        ----------
        release : Release
            The release that was attacked.
        group : int
            Number of the group.
        place : int, optional
            Which of `sets`; by default the one that says most about someone in the group.
        value : str, optional
            Which protected value; by default the one with the largest p(t:x) in the group.

        Returns
        -------
        GroupView
            What the attack says of every person of the group.

        Raises
        ------
        ParameterError
            For a group, attribute set or value that does not exist.
        """
        partition = release.partition
        if not 0 <= group < partition.n_groups:
            raise ParameterError(f"There is no group {group}; they are numbered 0 to {partition.n_groups - 1}.")
        if value is not None and value not in self.values:
            raise ParameterError(f"{value!r} is not a protected value; there is {listing(self.values)}.")
        rows = partition.rows(group)
        if place is None:
            place = int(self.leading_set[rows[np.argmax(self.breach_probability[rows])]])
        if place >= len(self.sets):
            raise ParameterError(f"There is no attribute set {place}; the attack found {len(self.sets)}.")
        published = release.data.sensitive_view(self.attribute, release.published_codes(self.attribute)).codes[rows]
        wanted = range(len(self.values)) if value is None else [self.values.index(value)]
        views = [self._view(release, group, place, x, int((published == x).sum())) for x in wanted]
        return max(views, key=lambda view: float(view.probability.max()))

    def _view(self, release: Release, group: int, place: int, x: int, n: int) -> GroupView:
        data, rows = release.data, release.partition.rows(group)
        attributes = self.sets[place].attributes if place >= 0 else ()
        f, rare = self._shares(release, rows, place, x, n)
        texts = [
            ", ".join(data.domain[name].text(int(data.codes[name][row])) for name in attributes)
            + (" (rare)" if attributes and unknown else "")
            for row, unknown in zip(rows, rare, strict=True)
        ]
        return GroupView(
            group=int(group),
            attributes=attributes,
            value=self.values[x],
            rows=rows,
            signatures=tuple(texts),
            f=f,
            probability=group_probabilities(f, n),
            has_value=data.sensitive_view(self.attribute).codes[rows] == x,
            n=n,
            without_attack=n / len(rows),
        )

    def _shares(self, release: Release, rows: Int64, place: int, x: int, n: int) -> tuple[Floats, Bools]:
        """p(s:x) of each row, and whether its signature is too rare; without any set everyone has the overall share."""
        if place < 0:
            return np.full(len(rows), self.overall_shares[x]), np.ones(len(rows), np.bool_)
        leak = self.sets[place]
        signatures = signatures_of(release.data, leak.attributes, self.minimum_rows)
        classes = np.zeros(len(rows), np.int32) if signatures is None else signatures.classes[rows]
        fixed = n / len(rows) if np.isnan(self.fixed_shares[x]) else self.fixed_shares[x]
        return np.append(shares_of(leak.learned_shares, x), fixed)[classes], classes == len(leak.rows)
