"""What the caller says of the attributes of published tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from anoncore.base.errors import DataError
from anoncore.base.texts import listing
from anoncore.table.domain import Kind
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.microdata import OTHERS, Kinds, Microdata, Role, Roles, kind_of, role_of


@dataclass(frozen=True)
class Tags:
    """What is known of the attributes, as for `Microdata`, and all `values` of those of which they are known."""

    roles: Mapping[str, Role]
    kinds: Mapping[str, Kind]
    orders: Mapping[str, Sequence[Any]]
    hierarchies: Mapping[str, Hierarchy]
    sensitive_values: Mapping[str, Collection[Any]]
    values: Mapping[str, Collection[Any]]


def tags_of(
    roles: Roles | None,
    kinds: Kinds | None,
    orders: Mapping[str, Sequence[Any]] | None,
    hierarchies: Mapping[str, Hierarchy] | None,
    sensitive_values: Mapping[str, Collection[Any]] | None,
    values: Mapping[str, Collection[Any]] | None,
    columns: Collection[str],
) -> Tags:
    """The tags by columns as texts, where `"*"` is the role of all `columns` that are not named.

    Raises DataError for roles and kinds that do not exist.
    """
    named = {str(name): role_of(str(name), role) for name, role in (roles or {}).items()}
    if OTHERS in named and OTHERS not in columns:
        named = {**dict.fromkeys(columns, named.pop(OTHERS)), **named}
    return Tags(
        named,
        {str(name): kind_of(str(name), kind) for name, kind in (kinds or {}).items()},
        {str(name): order for name, order in (orders or {}).items()},
        {str(name): hierarchy for name, hierarchy in (hierarchies or {}).items()},
        {str(name): chosen for name, chosen in (sensitive_values or {}).items()},
        {str(name): all_of_it for name, all_of_it in (values or {}).items()},
    )


def check_tags(tags: Tags, original: Microdata) -> None:
    """Raise DataError for tags that are not those of the original, which says what its attributes are."""
    further = [one.name for one in fields(tags) if one.name != "roles" and getattr(tags, one.name)]
    if further:
        raise DataError(f"The original says what its attributes are; leave out {listing(further)}.")
    columns = original.given.columns
    unknown = [name for name in tags.roles if name not in columns]
    if unknown:
        raise DataError(f"roles names {listing(unknown)}, which the original lacks; it has {listing(columns, 30)}.")
    for name, role in tags.roles.items():
        if name in original.left_out:
            raise DataError(f"'{name}' has no role in the original and is {role.value} in roles; tag it alike.")
        if role is not original.roles[name]:
            raise DataError(
                f"'{name}' is {original.roles[name].value} in the original and {role.value} in roles; tag it alike."
            )
