"""Reading the descriptions and the rows of the built-in tables from their folder.

`tables.toml` lists the tables. `papers/slicing-table-1.toml` describes the table `slicing-table-1` with these keys:

- `title`, `description`, `source`: texts for people;
- `roles`, `kinds`, `orders`, `sensitive_values`: what a recipe has under the same keys;
- `hierarchies`: for a column, a `taxonomy` or the path of a CSV file, relative to the description, with one line per
  value: the value, its group, the group of that group, and so on up to the top;
- `groups`: the group of each row in the anonymization that the paper publishes, counted from 0;
- `external = true` for a table whose rows come from outside.

`title`, `description`, `source` and `roles` are required. The CSV file of the same name has the rows of a worked table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anoncore.base.errors import DataError
from anoncore.datasets.catalog import Description, Taxonomy
from anoncore.datasets.data_files import INDEX, number, read_csv, read_toml, tables_folder, wrong

if TYPE_CHECKING:
    import pandas as pd

TEXTS = ("title", "description", "source")
KEYS = (*TEXTS, "external", "groups", "roles", "kinds", "orders", "sensitive_values", "hierarchies")


@cache
def listed() -> Mapping[str, Path]:
    """The files that describe the built-in tables, by the name of the table, in the order in which they are offered."""
    path = tables_folder() / INDEX
    entries = read_toml(path).get("tables")
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise wrong(path, "'tables' must be a list of paths without .toml")
    return {entry.rpartition("/")[2]: path.parent / f"{entry}.toml" for entry in entries}


@cache
def described(name: str) -> Description:
    """The description of a built-in table; DataError for a name that is not listed and a description that is wrong."""
    if name not in listed():
        # The names are listed without pandas, with which texts of values are written.
        from anoncore.base.texts import did_you_mean

        meant = did_you_mean(name, list(listed()))
        raise DataError(f"There is no built-in table '{name}'; there are {', '.join(listed())}.{meant}")
    return read_description(listed()[name])


def read_description(path: Path) -> Description:
    """The description in a TOML file; DataError that names the file and the key for anything that does not fit."""
    values = read_toml(path)
    for key in values:
        if key not in KEYS:
            raise wrong(path, f"there is no key '{key}'; the keys are {', '.join(KEYS)}")
    for key in (*TEXTS, "roles"):
        if not values.get(key):
            raise wrong(path, f"the key '{key}' is missing or empty")
    for key, kind, what in (*((key, str, "a text") for key in TEXTS), ("external", bool, "true or false")):
        if not isinstance(values.get(key, kind()), kind):
            raise wrong(path, f"'{key}' must be {what}")
    groups = values.get("groups", [])
    if not isinstance(groups, list) or not all(type(group) is int and group >= 0 for group in groups):
        raise wrong(path, "'groups' must be a list of whole numbers from 0, one per row")
    fields = {
        "roles": _by_column(path, values, "roles", _word),
        "kinds": _by_column(path, values, "kinds", _word),
        "orders": _by_column(path, values, "orders", _values),
        "sensitive_values": _by_column(path, values, "sensitive_values", _values),
        "taxonomies": _by_column(path, values, "hierarchies", _hierarchy),
        "groups": tuple(groups),
        "external": values.get("external", False),
    }
    try:
        return Description(name=path.stem, **{key: values[key] for key in TEXTS}, **fields)
    except DataError as error:
        raise wrong(path, str(error).rstrip(".")) from None


def read_rows(name: str) -> pd.DataFrame:
    """The rows of a worked table, fresh at every call: numbers in numeric columns, texts elsewhere, empty is missing.

    Raises DataError for a file whose header is not the described columns, and for a text where a number belongs.
    """
    import pandas as pd

    description = described(name)
    path = listed()[name].with_suffix(".csv")
    header, *lines = read_csv(path)
    if header != list(description.roles):
        raise wrong(path, f"its columns are {', '.join(header)}; described are {', '.join(description.roles)}")
    columns: dict[str, list[object]] = {}
    for place, column in enumerate(header):
        texts = [line[place] for line in lines]
        numeric = description.kinds.get(column) == "numeric"
        columns[column] = [None if not text else number(path, text) if numeric else text for text in texts]
    return pd.DataFrame(columns)


def _by_column(
    path: Path, values: Mapping[str, Any], key: str, read: Callable[[Path, str, object], Any]
) -> dict[str, Any]:
    """What stands under a key for each column, each read by `read(path, where, value)`."""
    given = values.get(key, {})
    if not isinstance(given, dict):
        raise wrong(path, f"'{key}' must be a table with one entry per column")
    return {column: read(path, f"{key}.{column}", value) for column, value in given.items()}


def _word(path: Path, where: str, value: object) -> str:
    if not isinstance(value, str):
        raise wrong(path, f"'{where}' must be a text")
    return value


def _values(path: Path, where: str, value: object) -> tuple[object, ...]:
    return tuple(_value_list(path, where, value))


def _value_list(path: Path, where: str, value: object) -> list[object]:
    if not isinstance(value, list) or not value or not all(type(single) in (str, int, float) for single in value):
        raise wrong(path, f"'{where}' must be a list of texts or numbers, and not empty")
    if len(set(value)) < len(value):
        raise wrong(path, f"'{where}' has a value twice")
    return value


def _hierarchy(path: Path, where: str, value: object) -> Taxonomy:
    if isinstance(value, str):
        return read_hierarchy(path.parent / value)
    if not isinstance(value, dict) or list(value) != ["taxonomy"]:
        raise wrong(path, f"'{where}' must be the path of a CSV file or have one key, 'taxonomy'")
    return _taxonomy(path, f"{where}.taxonomy", value["taxonomy"])


def _taxonomy(path: Path, where: str, value: object) -> Taxonomy:
    if not isinstance(value, dict) or not value:
        raise wrong(path, f"'{where}' must be a table of groups, and not empty")
    return {
        group: _taxonomy(path, f"{where}.{group}", below)
        if isinstance(below, dict)
        else _value_list(path, f"{where}.{group}", below)
        for group, below in value.items()
    }


def read_hierarchy(path: Path) -> Taxonomy:
    """The taxonomy in a CSV file that has one line per value: the value and its groups from the bottom up."""
    taxonomy: dict[str, Any] = {}
    seen: set[str] = set()
    for value, *groups in read_csv(path):
        if not groups or not all((value, *groups)):
            raise wrong(path, f"the value '{value}' needs at least one group, and no cell may be empty")
        if value in seen:
            raise wrong(path, f"the value '{value}' has two lines")
        seen.add(value)
        below = taxonomy
        for group in reversed(groups[1:]):
            below = below.setdefault(group, {})
        below.setdefault(groups[0], []).append(value)
    return taxonomy
