"""The roles of columns that are named one by one, and what is wrong with a name that does not fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from anoncore.base.errors import ParameterError
from anoncore.base.texts import did_you_mean, listing
from anoncore.table.microdata import Role

Names = str | Sequence[str]
"""The name of a column, or several."""
Spelling = Callable[[str], str]
"""How a parameter is written where it is given, such as `--known` on the command line."""


def columns_of(names: Names) -> tuple[str, ...]:
    """The names, each once."""
    return tuple(dict.fromkeys([names] if isinstance(names, str) else names))


def roles_of(
    columns: Sequence[str], named: Mapping[str, tuple[Names, Role]], unit: str | None, spelling: Spelling
) -> dict[str, Role]:
    """The role of every column that is named under a parameter.

    `named` has the names and their role by the parameter, of which `known` needs some. Raises ParameterError for a
    column that the table lacks or that is named twice, and for a unit that is anything but an identifier.
    """
    roles: dict[str, Role] = {}
    for parameter, (names, role) in named.items():
        for name in columns_of(names):
            _require(name, columns, spelling(parameter))
            if name in roles:
                raise ParameterError(
                    f"The column {name!r} stands under {spelling(parameter)} and under another option; keep one."
                )
            roles[name] = role
    if unit is not None:
        _require(unit, columns, spelling("unit"))
        if roles.get(unit, Role.IDENTIFIER) is not Role.IDENTIFIER:
            raise ParameterError(f"The column {unit!r} says whose row it is; name it under {spelling('unit')} alone.")
    if Role.QUASI_IDENTIFIER not in roles.values():
        raise ParameterError(
            f"{spelling('known')} names no column; name those that others may know of a person, such as age or sex."
        )
    return roles


def _require(name: str, columns: Sequence[str], parameter: str) -> None:
    if name not in columns:
        names = [one.strip() for one in name.split(",")]
        if len(names) > 1 and set(names) <= set(columns):
            raise ParameterError(f"{parameter}: {name!r} is one text; give several columns as a list, such as {names}.")
        there = listing(columns, 40)
        raise ParameterError(
            f"{parameter}: the table has no column {name!r}; it has {there}.{did_you_mean(name, columns)}"
        )
