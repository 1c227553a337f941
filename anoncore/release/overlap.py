"""Columns that share attributes: along which tree they link, and what linked rows must agree on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from anoncore.base.errors import ReleaseError
from anoncore.base.texts import listing


@dataclass(frozen=True)
class Link:
    """Column `column` joins the columns before it through column `parent`, which shares `attributes` with it."""

    column: int
    parent: int
    attributes: frozenset[str]


def links(columns: Sequence[Collection[str]]) -> tuple[Link, ...]:
    """How to link columns one by one: every column but the first once, in the order of linking.

    Each column agrees with all columns before it as soon as it agrees with its parent; such an order is a join tree.
    Columns that share nothing are linked freely. The share of a bucket's linked rows that show given column values is
    then the product of the columns' shares over the product of the links' shares. Raises ReleaseError where the columns
    overlap in a ring, because then no order of linking has this property.
    """
    sets = [frozenset(column) for column in columns]
    joined, waiting, chosen = [0], list(range(1, len(sets))), []
    while waiting:
        # The pair that shares most attributes comes next; of equal pairs, the one of the first columns.
        shared, parent, column = max(
            ((sets[column] & sets[parent], parent, column) for column in waiting for parent in joined),
            key=lambda pair: (len(pair[0]), -pair[2], -pair[1]),
        )
        chosen.append(Link(column, parent, shared))
        joined.append(column)
        waiting.remove(column)
    # A maximum spanning tree is a join tree if and only if its weight is that of all repeated attributes.
    repeated = sum(map(len, sets)) - len(frozenset().union(*sets))
    if sum(len(link.attributes) for link in chosen) != repeated:
        twice = sorted(name for name in frozenset().union(*sets) if sum(name in column for column in sets) > 1)
        raise ReleaseError(
            f"The columns overlap in a ring through {listing(twice)}; take attributes out of columns until every "
            "column shares attributes with one other column only."
        )
    return tuple(chosen)
