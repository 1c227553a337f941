"""The minimality attack: what readers learn who know the method and so what it refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anoncore.attacks.known_refusals import Beliefs, beliefs_by_refusals
from anoncore.attacks.lift import interval_of_mean, right_guesses
from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.base.number import RISK, measure
from anoncore.base.progress import Progress, silent
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Bools, Floats, Int64, record
from anoncore.privacy.refusals import Refusals
from anoncore.release.release import Release
from anoncore.table.microdata import SensitiveValues

NOTICEABLE = 0.05
"""Rise of the strongest belief about a person from which on they count as exposed by the attack."""
CAUTION = 3.0
"""Standard deviations by which a belief that was drawn is lowered before it counts as the strongest one."""

SOURCE = "Wong, Fu, Wang and Pei, VLDB 2007"
RIGHT_GUESSES = replace(
    RISK,
    name="minimality-right-guesses",
    title="Right guesses, knowing the method",
    template=(
        "Share of the people whose value of {attribute} is guessed right by readers who know the method and what it "
        "must have refused to publish."
    ),
    source=SOURCE,
    baseline="the share of right guesses of readers who only read the groups.",
    release_forms=("generalization",),
    of_attribute=True,
    is_slow=True,
    short="Right guesses",
)
LIFT = replace(
    RIGHT_GUESSES,
    name="minimality-lift",
    title="Lift of the minimality attack",
    template=(
        "How many more people's values of {attribute} readers guess right because they know the method, as a share of "
        "all people."
    ),
    bounds=(-1.0, 1.0),
    baseline="0: readers who only read the groups.",
    short="Lift",
)
TRUE_BELIEF = replace(
    RIGHT_GUESSES,
    name="minimality-belief-in-truth",
    title="Belief in the truth, knowing the method",
    template=("Probability that readers who know the method give to people's true value of {attribute}, on average."),
    unit="probability",
    baseline="the same mean for readers who only read the groups.",
    short="Belief in truth",
)
STRONGEST = replace(
    RIGHT_GUESSES,
    name="minimality-largest-belief",
    title="Largest belief, knowing the method",
    template=(
        "How sure readers who know the method are at most of anyone's protected value of {attribute}; beliefs that "
        "were drawn count three standard deviations lower."
    ),
    unit="probability",
    baseline="the largest belief of readers who only read the groups.",
    short="Largest belief",
)
EXPOSED = replace(
    RIGHT_GUESSES,
    name="minimality-exposed",
    title="People exposed by the method",
    template=(
        "Share of the people about whose protected value of {attribute} the strongest belief rises by at least 5 "
        "percentage points because readers know the method."
    ),
    baseline="0: readers who only read the groups.",
    short="Exposed",
)


@record
class MinimalityAttack(Result):
    """What readers believe who know everybody's quasi-identifiers and class, the method and its requirements.

    Only values that need protection count; where only some do, they are one value, and all others are another.

    Attributes
    ----------
    attribute : str
        The sensitive attribute.
    values : tuple of str, length m
        The values that are told apart.
    probability : ndarray of float, shape (n_signatures, m)
        The belief in each value, of people whom the readers cannot tell apart.
    signature : ndarray of int64, shape (n_rows,)
        Which line of `probability` is about each person, in original row order.
    without : ndarray of float, shape (n_rows,)
        The strongest belief in a protected value of each person from the class alone.
    gain : ndarray of float, shape (n_rows,)
        How much the strongest belief in a protected value rises by knowing the method; below 0 where it falls.
    right : Score
        Share of people whose value is guessed right, beside that of readers who only read the classes.
    lift : Score
        The difference of the two.
    interval : tuple of float
        The 95% interval of the lift, with classes as what is drawn.
    truth : Score
        The mean belief in the true value, beside the same.
    largest : Score
        The strongest belief in a protected value about anybody, beside the same.
    exposed : Score
        Share of people about whom the strongest belief rises by 5 percentage points or more.
    n_refusals : int
        Refusals of the method that tell something about sensitive values.
    n_used : int
        Those that the beliefs rest on; the others would have left too few worlds to count.
    n_worlds : int
        Worlds that were kept, over all sets of classes that were looked at together.
    exact : ndarray of bool, shape (n_rows,)
        Whether the belief about a person is computed from all worlds rather than from a draw.
    complete : bool
        Whether the beliefs use everything that the method's choices tell. If not, they are those of readers who use a
        part of it.
    limits : str
        What is not used, as sentences; empty where everything is.

    Examples
    --------
    Of the two young and the two old, each pair would be a class if it had both diseases. So both of a pair have the
    same one, and the readers cannot tell which pair has which:

    >>> import pandas as pd
    >>> from anoncore import Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import DistinctDiversity
    >>> people = pd.DataFrame({"age": [21, 22, 44, 46], "disease": ["flu", "flu", "cold", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[DistinctDiversity(l=2)]).anonymize(data)
    >>> found = attacks.minimality(release, "disease")
    >>> found.n_refusals, found.n_worlds, found.complete
    (1, 2, True)
    >>> found.belief[0].tolist(), float(found.lift)
    ([0.5, 0.5], 0.0)
    """

    attribute: str
    values: tuple[str, ...]
    probability: Floats
    signature: Int64
    without: Floats
    gain: Floats
    right: Score
    lift: Score
    interval: tuple[float, float]
    truth: Score
    largest: Score
    exposed: Score
    n_refusals: int
    n_used: int
    n_worlds: int
    exact: Bools
    complete: bool
    limits: str

    @property
    def belief(self) -> Floats:
        """The belief in each value about each person, float (n_rows, m); every row sums to 1."""
        return self.probability[self.signature]


@measure(RIGHT_GUESSES, LIFT, TRUE_BELIEF, STRONGEST, EXPOSED, title="Minimality attack")
@checked
def minimality(
    release: Release, attribute: str, worlds: int = 1_000, seed: int = 0, progress: Progress | None = None
) -> MinimalityAttack:
    """What readers learn about people because they know the method and what it must have refused to publish.

    A method that publishes as much detail as its requirements allow tells by what it did not publish. Without the
    method readers take every way to deal the records of a class to its people for equally likely. With it they keep
    only the ways (worlds) in which everything that the method would have preferred breaks a requirement.

    Which ways a method refused is told by the method itself. Classes that a refusal links are looked at together. All
    worlds are counted where there are at most 20,000; otherwise worlds are drawn until `worlds` of them are kept. Where
    too few are kept, the refusals that link most classes are set aside, so that the beliefs are those of readers who
    use a part of what they know.

    Parameters
    ----------
    release : Release
        A release of Mondrian, Incognito, local recoding, or another method that tells what it refuses.
    attribute : str
        The sensitive attribute whose value is guessed.
    worlds : int
        Worlds to be kept of each set of classes that is not counted in full; at least 100.
    seed : int
        Makes the draw repeatable.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop the attack.

    Returns
    -------
    MinimalityAttack
        The beliefs about every person, the lift over readers who do not know the method, and its interval.

    Raises
    ------
    ReleaseError
        Where the method does not tell what it refused, or did not make this release.
    DataError
        For an attribute that is not sensitive.
    ParameterError
        For fewer than 100 worlds or a negative seed.

    Notes
    -----
    Assumes: the adversary knows everybody's quasi-identifiers and class, the method, its requirements and parameters,
      and has no opinion on who has which value of a class.
    Cost: a walk along the choices of the method, then about 10^9 rows counted in worlds.
    Use: the requirements look at sensitive values, and nothing keeps the method secret; it should not be.
    Avoid: requirements are k-anonymity alone: then the answer is that nothing is learned.

    References
    ----------
    Wong, Fu, Wang and Pei, Minimality attack in privacy preserving data publishing, VLDB 2007; Cormode, Srivastava, Li
    and Li, Minimizing minimality and maximizing utility, VLDB 2010.

    Examples
    --------
    Two people of q1 and five of q2 had to be published as one class with 2-diversity of HIV. Had one of the five HIV,
    q1 and q2 could have been two classes. So both people of q1 have it:

    >>> import pandas as pd
    >>> from anoncore import Hierarchy, Microdata, attacks
    >>> from anoncore.algorithms import Incognito
    >>> from anoncore.requirements import FrequencyDiversity
    >>> people = pd.DataFrame({"q": ["q1"] * 2 + ["q2"] * 5, "disease": ["HIV"] * 2 + ["none"] * 5})
    >>> data = Microdata(
    ...     people,
    ...     roles={"q": "quasi-identifier", "disease": "sensitive"},
    ...     sensitive_values={"disease": {"HIV"}},
    ... )
    >>> release = Incognito(requirements=[FrequencyDiversity(l=2)]).anonymize(data)
    >>> found = attacks.minimality(release, "disease")
    >>> found.values, found.belief[0].tolist(), found.belief[2].tolist()
    (('{HIV}', 'any other value'), [1.0, 0.0], [0.0, 1.0])
    >>> round(found.largest.baseline, 3)
    0.286
    """
    release.require_people("What a method refused was to publish groups of people")
    if worlds < 100 or seed < 0:
        raise ParameterError(f"worlds is at least 100 and seed at least 0; given were {worlds} and {seed}.")
    data = release.data
    data.require_sensitive(attribute)
    report = progress if progress is not None else silent
    report(0.0, "Following the choices of the method")
    refusals = _refusals(release)
    view = data.sensitive_view(attribute)
    return _summed_up(release, view, refusals, beliefs_by_refusals(release, view, refusals, worlds, seed, report))


def _refusals(release: Release) -> Refusals:
    """What the method refused. Raises ReleaseError where that is not known."""
    if release.data.people is not None:
        raise ReleaseError(
            "The minimality attack deals records to people, one each; it is not measured for a table where a person "
            "may have several rows."
        )
    method = release.algorithm
    found = None if method is None else method.refusals(release)
    if found is None:
        told = "The method of this release is not known" if method is None else f"{method.title} does not tell it"
        raise ReleaseError(
            f"What a method refused to publish is followed for Mondrian, Incognito, optimal and local recoding. "
            f"{told}, so the minimality attack is not measured here."
        )
    assert isinstance(found, Refusals)
    return found


def _summed_up(release: Release, view: SensitiveValues, refusals: Refusals, beliefs: Beliefs) -> MinimalityAttack:
    partition = release.partition
    shares = partition.histogram(view.codes, view.size) / partition.sizes[:, None]
    right = right_guesses(beliefs.probability, view.codes, beliefs.signature)
    right_without = right_guesses(shares, view.codes, partition.group)
    protected = [code for code in range(view.size) if code != view.unique]
    without = shares[:, protected].max(axis=1)[partition.group]
    strongest = beliefs.probability[:, protected].max(axis=1)[beliefs.signature]
    drawn = beliefs.drawn[beliefs.signature]
    error = np.where(drawn > 0, np.sqrt(strongest * (1 - strongest) / np.maximum(drawn, 1)), 0.0)
    sure = np.maximum(strongest - CAUTION * error, np.where(drawn > 0, 0.0, strongest))
    words = {"attribute": f"'{view.attribute}'"}
    limits = [refusals.limits] if refusals.limits else []
    if beliefs.n_used < len(refusals):
        limits.append(
            f"Of {len(refusals):,} refusals {len(refusals) - beliefs.n_used:,} are not used, because almost no world "
            "that was drawn agrees with all of them."
        )
    gain = strongest - without
    exposed = (gain >= NOTICEABLE) & (sure > without)
    return MinimalityAttack(
        attribute=view.attribute,
        values=view.labels,
        probability=beliefs.probability,
        signature=beliefs.signature,
        without=without,
        gain=gain,
        right=Score(right.mean(), RIGHT_GUESSES, baseline=float(right_without.mean()), words=words),
        lift=Score((right - right_without).mean(), LIFT, baseline=0.0, words=words),
        interval=interval_of_mean(right - right_without, partition.group),
        truth=Score(
            beliefs.probability[beliefs.signature, view.codes].mean(),
            TRUE_BELIEF,
            baseline=float(shares[partition.group, view.codes].mean()),
            words=words,
        ),
        largest=Score(max(sure.max(), 0.0), STRONGEST, baseline=float(without.max()), words=words),
        exposed=Score(exposed.mean(), EXPOSED, baseline=0.0, words=words),
        n_refusals=len(refusals),
        n_used=beliefs.n_used,
        n_worlds=beliefs.n_worlds,
        exact=drawn == 0,
        complete=not limits,
        limits=" ".join(limits),
    )
