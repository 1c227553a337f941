"""A part of a table that keeps the codes of the whole."""

from __future__ import annotations

from collections.abc import Collection

from anoncore.kernels.arrays import Int64
from anoncore.table.microdata import Microdata, Role
from anoncore.table.part import rows_of


def part_of(data: Microdata, names: Collection[str], common: str, rows: Int64 | None = None) -> Microdata:
    """The attributes of one fragment, with the common one as a secret beside those that are; of all rows, or some.

    Sensitive attributes of other fragments are insensitive in it.
    """
    view = data.with_quasi_identifiers([name for name in names if name in data.quasi_identifiers])
    protected = {common, *(name for name in names if name in data.sensitive)}
    view.roles = {
        name: Role.INSENSITIVE if role is Role.SENSITIVE and name not in protected else role
        for name, role in view.roles.items()
    } | dict.fromkeys(protected, Role.SENSITIVE)
    return view if rows is None else rows_of(view, rows)
