"""How much a release lets an adversary learn about a sensitive attribute, against what guessing gets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from anoncore.attacks.posterior import SignaturePosterior, signature_posterior, table_distribution
from anoncore.base.arguments import checked, checked_methods
from anoncore.base.errors import ParameterError
from anoncore.base.number import RISK, measure
from anoncore.base.score import Score
from anoncore.base.shared_work import cached
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata

LARGEST_BELIEF = replace(
    RISK,
    name="largest-belief",
    title="Largest belief",
    template="How sure an adversary who knows the quasi-identifiers is at most of anyone's value of {attribute}.",
    source="Li et al., Slicing, 2009, section 4",
    unit="probability",
    baseline="the share of the most frequent value in the table: what guessing without the release gets.",
    of_attribute=True,
)
BELIEF_IN_TRUTH = replace(
    RISK,
    name="belief-in-truth",
    title="Belief in the truth",
    template=(
        "Probability that an adversary who knows the quasi-identifiers gives to people's true value of {attribute}, on "
        "average."
    ),
    source="Li et al., Slicing, 2009, section 4",
    unit="probability",
    baseline="the share of people's true value in the table, on average: what guessing without the release gets.",
    of_attribute=True,
)
BELIEVED_ABOVE_HALF = replace(
    RISK,
    name="believed-above-half",
    title="Believed above 1/2",
    template=(
        "Share of people of whom an adversary who knows the quasi-identifiers believes one value with more than one "
        "half."
    ),
    source="Li et al., Slicing, 2009, section 4",
    baseline="1 where one value has more than half of the table, else 0: what guessing without the release gets.",
    of_attribute=True,
)


@checked_methods
@record
class AttributeDisclosure(Result):
    """What the adversary who knows everybody's quasi-identifiers believes of people's sensitive values.

    Only values that need protection count; a protected set of values counts as one.

    Attributes
    ----------
    attribute : str
        The sensitive attribute.
    belief : ndarray of float, shape (n_people,)
        The strongest belief about each person, in whatever value, in original row order. Where one person may have
        several rows, people are in order of the unit's values, and the strongest belief is that of all their rows.
    confidence : ndarray of float, shape (n_people,)
        The belief in each person's true value; NaN where that value needs no protection. Where one person may have
        several rows, there is one entry for each different value of each person, by person and then by value, with the
        strongest belief of the rows in which the person has it.
    baseline : ndarray of float, shape (m,)
        The table's distribution over the attribute's m codes, which is what guessing without the release has.
    largest : Score
        The strongest belief about anybody, beside that of the guesser.
    truth : Score
        The mean belief in the truth, beside that of the guesser.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> disclosure = attacks.attribute_disclosure(release, "disease")
    >>> disclosure.belief.round(3).tolist(), disclosure.baseline.tolist()
    ([0.833, 0.833, 0.833, 0.833, 0.833, 0.833], [0.5, 0.5])
    """

    attribute: str
    belief: Floats
    confidence: Floats
    baseline: Floats
    largest: Score
    truth: Score

    def breached(self, l: float) -> Bools:
        """Say for each person whether the strongest belief about them exceeds 1/l.

        Parameters
        ----------
        l : float
            The diversity that was promised, at least 1.

        Returns
        -------
        ndarray of bool, shape (n_people,)
            Whether the belief about each person exceeds 1/l, in the order of `belief`.

        Raises
        ------
        ParameterError
            For an l below 1.
        """
        if not l >= 1:
            raise ParameterError(f"l must be at least 1, not {l}.")
        return lies_above(self.belief, 1 / l, ACCUMULATED)


@measure(LARGEST_BELIEF, BELIEF_IN_TRUTH, BELIEVED_ABOVE_HALF)
@checked
def attribute_disclosure(release: Release, attribute: str) -> AttributeDisclosure:
    """How strongly the adversary who knows everybody's quasi-identifiers believes in people's sensitive values.

    The beliefs are those of `sensitive_posterior`, person by person and summed up. They are worked out once for a
    release, and their arrays cannot be changed.

    Parameters
    ----------
    release : Release
        The release that the adversary reads.
    attribute : str
        The sensitive attribute whose value is guessed.

    Returns
    -------
    AttributeDisclosure
        The beliefs about each person, beside what guessing has.

    Raises
    ------
    ReleaseError
        Where the attribute's single values are not published, or where tables were read without their original and do
        not say who has which value.

    Notes
    -----
    Assumes: the adversary knows everybody's quasi-identifiers and who is in the table.
    Cost: that of `sensitive_posterior`.
    Use: beliefs of all people are to be summed up, beside what guessing has.
    Avoid: the adversary learns from other groups too: see `foreground_knowledge`.

    References
    ----------
    Li et al., slicing, section 3.2.

    Examples
    --------
    One bucket has two people from J, who have the flu; one has a person from J and one from A, with flu and gout. So
    somebody from J is in the first bucket with 2/3 and has the flu with 2/3 + 1/3 * 1/2 = 5/6. Guessing has 1/2:

    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> disclosure = attacks.attribute_disclosure(release, "disease")
    >>> round(disclosure.truth, 3), disclosure.truth.baseline
    (0.833, 0.5)
    >>> disclosure.breached(l=2).tolist()
    [True, True, True, True, True, True]
    """
    release.require_people("What is believed of a person follows from the group that holds their row")
    release.require_linked({*release.data.quasi_identifiers, attribute})
    # Methods that check their promise, the verdict and other attacks ask for the same beliefs.
    return cached(release, "attribute disclosure", (attribute,), lambda: _disclosure(release, attribute), most=1)


def _disclosure(release: Release, attribute: str) -> AttributeDisclosure:
    baseline = table_distribution(release, attribute)
    table = _protected(release.data, attribute, baseline)
    true = release.data.sensitive_view(attribute).codes
    is_protected = true < len(table)
    belief, confidence = _beliefs(signature_posterior(release, attribute), release.data, attribute, true)
    people = release.data.people
    if people is not None:
        belief = _strongest(belief, people)
        pairs = people.astype(np.int64) * (int(true.max()) + 1) + true
        _, first, pair = np.unique(pairs, return_index=True, return_inverse=True)
        is_protected, true = is_protected[first], true[first]
        confidence = _strongest(confidence, pair)
    for shared in (belief, confidence, baseline):
        shared.flags.writeable = False
    words = {"attribute": f"'{attribute}'"}
    largest = Score(belief.max(), LARGEST_BELIEF, baseline=float(table.max()), words=words)
    mean_guess = float(table[true[is_protected]].mean())
    truth = Score(confidence[is_protected].mean(), BELIEF_IN_TRUTH, baseline=mean_guess, words=words)
    return AttributeDisclosure(attribute, belief, confidence, baseline, largest, truth)


def _strongest(belief: Floats, number: npt.NDArray[np.integer]) -> Floats:
    """The largest belief of the rows of each number, float (n_numbers,); NaN where these have none."""
    strongest = np.full(int(number.max()) + 1, np.nan)
    np.fmax.at(strongest, number, belief)
    return strongest


def _beliefs(beliefs: SignaturePosterior, data: Microdata, attribute: str, true: Codes) -> tuple[Floats, Floats]:
    """The strongest belief about each row and that in its true value, NaN where that needs no protection, float (n,).

    `true` int32 (n_rows,) are the values; where only some need protection, they are one value of code 0.
    """
    protected = _protected_codes(data, attribute)
    strongest, confidence = np.zeros(beliefs.n_signatures), np.full(data.n_rows, np.nan)
    for part, entries in beliefs.parts():
        if protected is not None:
            shares = np.where(np.isin(entries.code, protected), entries.share, 0.0)
            strongest[part] = np.add.reduceat(shares, entries.start[:-1])
            continue
        strongest[part] = np.maximum.reduceat(entries.share, entries.start[:-1])
        rows = beliefs.rows(part)
        confidence[rows] = entries.share_of(beliefs.signature[rows] - part.start, true[rows], beliefs.n_codes)
    belief = strongest[beliefs.signature]
    return belief, confidence if protected is None else np.where(true == 0, belief, np.nan)


def _protected_codes(data: Microdata, attribute: str) -> Int64 | None:
    """The codes of the values that need protection as one set; None where every value does."""
    values = data.sensitive_values.get(attribute)
    return None if values is None else np.array([data.domain[attribute].code_of(value) for value in values])


def _protected(data: Microdata, attribute: str, share: Floats) -> Floats:
    """The shares (m,) of the attribute's codes as those of what needs protection: of all, or of one set (1,)."""
    codes = _protected_codes(data, attribute)
    return share if codes is None else share[codes].sum(keepdims=True)
