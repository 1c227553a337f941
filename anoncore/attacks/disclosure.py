"""How much a release lets an adversary learn about a sensitive attribute, against what guessing gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anoncore.attacks.posterior import signature_posterior, table_distribution
from anoncore.attacks.published_keys import Floats
from anoncore.base.errors import ParameterError
from anoncore.base.score import Score
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata

TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class AttributeDisclosure:
    """Beliefs of the adversary who knows the quasi-identifiers, in the values that need protection.

    `belief` float (n_rows,): the largest p(t, s) of each person over these values (a protected set counts as one).
    `confidence` float (n_rows,): p of the person's true value, NaN where that needs no protection. `baseline` float
    (m,): the table's distribution over the attribute's codes, which is what guessing without the release has. The
    scores `largest` (over all people) and `truth` (mean confidence) carry the same guesser's figure.
    """

    attribute: str
    belief: Floats
    confidence: Floats
    baseline: Floats
    largest: Score
    truth: Score

    def breached(self, l: float) -> npt.NDArray[np.bool_]:
        """Whether the belief about each person exceeds 1/l, bool (n_rows,). Raises ParameterError for l below 1."""
        if not l >= 1:
            raise ParameterError(f"l must be at least 1, not {l}.")
        return self.belief > 1 / l + TOLERANCE


def attribute_disclosure(release: Release, attribute: str) -> AttributeDisclosure:
    """The beliefs of `sensitive_posterior` per person and summed up.

    Raises ReleaseError where the attribute's single values are not published.

    Parameters: `attribute` sensitive attribute that is guessed.
    Assumes: the adversary knows everybody's quasi-identifiers and who is in the table.
    Cost: that of `sensitive_posterior`.
    Use: beliefs of all people are to be summed up, beside what guessing has.
    Avoid: the adversary learns from other groups too: see `foreground_knowledge`.
    Source: Li et al., slicing, section 3.2.
    """
    found = signature_posterior(release, attribute)
    baseline = table_distribution(release, attribute)
    probability = _protected(release.data, attribute, found.probability)
    table = _protected(release.data, attribute, baseline[None])[0]
    true = release.data.sensitive_view(attribute).codes
    needs = true < len(table)
    confidence = np.full(release.data.n_rows, np.nan)
    confidence[needs] = probability[found.signature[needs], true[needs]]
    belief = probability.max(axis=1)[found.signature]
    common: dict[str, Any] = {"unit": "probability", "higher_is_better": False, "bounds": (0.0, 1.0)}
    largest = Score(
        belief.max(),
        name="largest-belief",
        title="Largest belief",
        meaning=f"How sure the adversary is at most of anyone's value of '{attribute}'.",
        baseline=float(table.max()),
        **common,
    )
    truth = Score(
        confidence[needs].mean(),
        name="belief-in-truth",
        title="Mean belief in the truth",
        meaning=f"How strongly the adversary believes in people's true value of '{attribute}', on average.",
        baseline=float(table[true[needs]].mean()),
        **common,
    )
    return AttributeDisclosure(attribute, belief, confidence, baseline, largest, truth)


def _protected(data: Microdata, attribute: str, probability: Floats) -> Floats:
    """Beliefs (n, m) over the attribute's codes as beliefs in what needs protection: all of them, or one set (n, 1)."""
    values = data.sensitive_values.get(attribute)
    if values is None:
        return probability
    codes = [data.domain[attribute].code_of(value) for value in values]
    joined: Floats = probability[:, codes].sum(axis=1, keepdims=True)
    return joined
