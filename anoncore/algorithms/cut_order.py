"""The order in which a region's attributes are tried for a cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from anoncore.kernels.arrays import Codes, Floats
from anoncore.kernels.rounding import ACCUMULATED, reaches
from anoncore.table.domain import Domain


def widest_first(widths: Iterable[float]) -> list[int]:
    """The numbers of the attributes that are wider than 0, the widest first.

    Attributes that are equally wide but for rounding keep their order: the same numbers in another unit round
    otherwise, and that must not choose between them. `kernels.attributes.widest` picks them one by one in this order.
    """
    width = dict(enumerate(widths))
    left = sorted((a for a in width if width[a] > 0), key=lambda a: -width[a])
    order: list[int] = []
    while left:
        limit = width[left[0]]
        alike = next((place for place, a in enumerate(left) if not reaches(width[a], limit, ACCUMULATED)), len(left))
        first = min(left[:alike])
        left.remove(first)
        order.append(first)
    return order


def widths(domains: Sequence[Domain], spans: Floats, low: Codes, high: Codes) -> Floats:
    """The width of the codes low..high of every attribute as a share of its span, as `kernels.attributes.width` has it.

    In a hierarchy it is that of the lowest node that holds them.
    """
    found = np.zeros(len(low))
    for a in np.flatnonzero(low < high).tolist():
        tree, ends = domains[a].tree, [low[a], high[a]]
        if tree is None:
            first, last = domains[a].steps[ends]
        else:
            node = tree.node_over(*ends)
            first, last = tree.first[node], tree.last[node]
        found[a] = (last - first) / spans[a]
    return found
