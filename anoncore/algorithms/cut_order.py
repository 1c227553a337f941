"""The order in which a region's attributes are tried for a cut."""

from __future__ import annotations

from collections.abc import Iterable

from anoncore.kernels.rounding import ACCUMULATED, reaches


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
