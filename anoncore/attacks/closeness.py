"""How far what the adversary believes about each person lies from what the table says about everybody."""

from __future__ import annotations

import numpy as np

from anoncore.attacks.posterior import signature_posterior
from anoncore.attacks.published_keys import Floats
from anoncore.base.errors import ParameterError
from anoncore.release.release import Release
from anoncore.requirements.t_closeness import GROUNDS, Ground, ground_reference
from anoncore.table.microdata import SensitiveValues


def posterior_emd(release: Release, attribute: str, ground: Ground = "equal") -> Floats:
    """Earth mover's distance of p(t, .) from the original table's distribution, for every person t, float (n_rows,).

    A release whose largest distance is t is t-close for the adversary who knows the quasi-identifiers; for one fragment
    these are the distances of the groups (`privacy.emd`). Every value counts, protected or not. Raises what
    `sensitive_posterior` and `privacy.emd` raise.

    Parameters: `attribute` sensitive attribute whose distribution is believed; `ground` how far apart two values are.
    Assumes: the adversary knows everybody's quasi-identifiers, who is in the table, and the table's distribution.
    Cost: that of `sensitive_posterior`, and O(m) per person for m values.
    Use: closeness is to be compared between methods with classes and methods with buckets.
    Avoid: only the classes of one table are looked at: `emd` says the same per class.
    Source: slicing paper, end of section 3.2; Li et al., t-closeness, ICDE 2007.
    """
    if ground not in GROUNDS:
        raise ParameterError(f"There is no ground distance {ground!r}; there is {', '.join(GROUNDS)}.")
    data, found = release.data, signature_posterior(release, attribute)
    size = len(data.domain[attribute])
    view = SensitiveValues(attribute, data.codes[attribute], size, -1, tuple(data.domain[attribute].texts))
    reference = ground_reference(data, view, ground)
    first, last, weight = reference[size + 1 :].reshape(-1, 3).T
    surplus = np.zeros((len(found.probability), size + 1))
    np.cumsum(found.probability - reference[:size], axis=1, out=surplus[:, 1:])
    crossing = np.abs(surplus[:, last.astype(np.int64) + 1] - surplus[:, first.astype(np.int64)])
    distance: Floats = (crossing @ weight)[found.signature]
    return distance
