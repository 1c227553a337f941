"""How far the belief about each person lies from the distribution of the whole table."""

from __future__ import annotations

import numpy as np

from anoncore.attacks.posterior import signature_posterior
from anoncore.base.arguments import checked
from anoncore.base.number import measure
from anoncore.kernels.arrays import Floats
from anoncore.kernels.matching import distances_from_table
from anoncore.release.release import Release
from anoncore.requirements.t_closeness import Ground, ground_reference
from anoncore.table.microdata import SensitiveValues


@measure(title="Distance of beliefs")
@checked
def posterior_emd(release: Release, attribute: str, ground: Ground = "equal") -> Floats:
    """How far the belief about each person lies from the distribution of the whole table.

    It is the earth mover's distance of p(t, .), which `sensitive_posterior` gives, from the original table's
    distribution. A release whose largest distance is t is t-close for the adversary who knows the quasi-identifiers.
    For a release of one fragment these are the distances of the groups, as `privacy.emd` gives them. Every value
    counts, protected or not.

    Parameters
    ----------
    release : Release
        The release that the adversary reads.
    attribute : str
        The sensitive attribute whose value is believed.
    ground : {"ordered", "interval", "equal", "hierarchical"}
        How far apart two values are: steps along the order, difference of numbers, 1 for any two, or by their lowest
        common node.

    Returns
    -------
    ndarray of float, shape (n_rows,)
        The distance for each person, from 0 to 1, in original row order.

    Raises
    ------
    ParameterError
        For an unknown ground distance.
    DataError
        For a hierarchical distance of an attribute without a hierarchy.
    ReleaseError
        Where the attribute's single values are not published.

    Notes
    -----
    Assumes: the adversary knows everybody's quasi-identifiers, who is in the table, and the table's distribution.
    Cost: that of `sensitive_posterior`, and O(m) per person for m values.
    Use: closeness is to be compared between methods with classes and methods with buckets.
    Avoid: only the classes of one table are looked at: `emd` says the same per class.

    References
    ----------
    Slicing paper, end of section 3.2; Li et al., t-closeness, ICDE 2007.

    Examples
    --------
    The adversary believes in the true disease with 5/6; in the table each disease has 1/2, so a third of the belief
    moves:

    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> attacks.posterior_emd(release, "disease").round(3).tolist()
    [0.333, 0.333, 0.333, 0.333, 0.333, 0.333]
    """
    release.require_people("What is believed of a person follows from the group that holds their row")
    data, beliefs = release.data, signature_posterior(release, attribute)
    size = len(data.domain[attribute])
    texts = tuple(data.domain[attribute].texts)
    view = SensitiveValues(attribute, data.counted_codes(attribute), size, -1, texts, people=data.people)
    reference = ground_reference(data, view, ground)
    first, last, weight = reference[size + 1 :].reshape(-1, 3).T
    edges = np.ascontiguousarray(first, np.int64), np.ascontiguousarray(last, np.int64), weight.copy()
    table, distance = reference[:size] / reference[:size].sum(), np.zeros(beliefs.n_signatures)
    for part, entries in beliefs.parts():
        distance[part] = distances_from_table(entries.start, entries.code, entries.share, table, *edges)
    return distance[beliefs.signature]
