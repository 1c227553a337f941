"""A part of a table that keeps the codes of the whole."""

from __future__ import annotations

from collections.abc import Collection

from anoncore.kernels.arrays import Int64
from anoncore.table.microdata import Microdata, Role
from anoncore.table.part import rows_of


def part_of(
    data: Microdata, known: Collection[str], protected: Collection[str], rows: Int64 | None = None
) -> Microdata:
    """Some rows (None: all) of a coded table in which an adversary knows `known` and must not learn `protected`.

    Other quasi-identifiers and sensitive attributes count as insensitive. Codes and domains are those of the whole
    table.
    """
    view = data.with_quasi_identifiers(known)
    view.roles = {
        name: Role.INSENSITIVE if role is Role.SENSITIVE and name not in protected else role
        for name, role in view.roles.items()
    } | dict.fromkeys(protected, Role.SENSITIVE)
    return view if rows is None else rows_of(view, rows)
