"""A release as plain parts, so that it can be kept and come back exactly: no row is drawn or cut again.

The parts are for the publisher, not for publication: they follow the original rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from anoncore.algorithms import Algorithm
from anoncore.base.arguments import checked
from anoncore.base.errors import DataError
from anoncore.release.partition import Partition
from anoncore.release.published_numbers import Numbers
from anoncore.release.recoding import ColumnRegions, Distorted, Exact, Generalized, GroupValues, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.table.domain import Domain, Tree
from anoncore.table.microdata import Microdata

KINDS: Mapping[str, type[Recoding]] = {
    one.__name__: one for one in (Exact, Distorted, Generalized, ColumnRegions, GroupValues)
}
TYPES = ("<i4", "<i8")
FORMS = ("interval", "set", "node")
PER_ROW = ("codes", "original")
OFFSETS = "offsets"
TREE_ARRAYS = ("first", "last", "parent", "level", "children", "child_start", "leaf")
BROKEN = "The saved release does not fit its table; the file was changed or is damaged."


@checked
def packed(release: Release) -> tuple[dict[str, Any], list[bytes]]:
    """Take a release apart into a description and bytes, so that it can be kept and come back exactly.

    The parts are for the publisher, not for publication: they follow the original rows. Data and algorithm are not in
    them.

    Parameters
    ----------
    release : Release
        The release.

    Returns
    -------
    dict of str to object
        The release as JSON can hold it; it counts the arrays.
    list of bytes
        The arrays.

    Raises
    ------
    DataError
        For a recoding of other values than the attribute's.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> from anoncore.publishing import packed
    >>> description, arrays = packed(release)
    >>> [fragment["name"] for fragment in description["fragments"]], len(arrays)
    (['release'], 4)
    """
    release.require_people("Only a release of the rows of a table is kept in this way")
    arrays: list[bytes] = []
    partitions: dict[int, Partition] = {}

    def array(values: npt.NDArray[Any]) -> dict[str, Any]:
        type_ = TYPES[0] if values.dtype.itemsize <= 4 else TYPES[1]
        arrays.append(np.ascontiguousarray(values).astype(type_).tobytes())
        return {"array": len(arrays) - 1, "type": type_}

    def number_of(partition: Partition) -> int:
        partitions.setdefault(id(partition), partition)
        return list(partitions).index(id(partition))

    def described(name: str, recoding: Recoding) -> dict[str, Any]:
        own = release.data.domain[name]
        kind = next(one for one in type(recoding).__mro__ if one in KINDS.values())
        part: dict[str, Any] = {"kind": kind.__name__, "partition": number_of(recoding.partition)}
        if recoding.domain is not own:
            # A method may bring a hierarchy of its own to the values of the table.
            if recoding.domain.values != own.values or recoding.domain.tree is None:
                raise DataError(f"The release of '{name}' cannot be kept: its values are not those of the table.")
            tree = recoding.domain.tree
            part["tree"] = {name: array(getattr(tree, name)) for name in TREE_ARRAYS}
            part["tree"] |= {"labels": list(tree.labels), "height": tree.height}
        for field in fields(kind):
            value = getattr(recoding, field.name)
            if isinstance(value, np.ndarray):
                part[field.name] = array(value)
            elif isinstance(value, Recoding):
                part[field.name] = described(name, value)
            elif isinstance(value, str):
                part[field.name] = value
        return part

    fragments = [
        {
            "name": fragment.name,
            "partition": number_of(fragment.partition),
            "recodings": {name: described(name, recoding) for name, recoding in fragment.recodings.items()},
        }
        for fragment in release.fragments
    ]
    return {
        "fragments": fragments,
        "partitions": [array(partition.group) for partition in partitions.values()],
        "notes": list(release.notes),
        "suppressed_group": release.suppressed_group,
        "numbers": release.numbers,
        "made_with": dict(release.made_with),
    }, arrays


@checked
def unpacked(
    description: Mapping[str, Any], arrays: list[bytes], data: Microdata, algorithm: Algorithm | None
) -> Release:
    """Put a release together again from the parts that `packed` made of it.

    Parameters
    ----------
    description : mapping of str to object
        What `packed` described.
    arrays : list of bytes
        The arrays that it counted.
    data : Microdata
        The same table.
    algorithm : Algorithm or None
        The algorithm that made the release.

    Returns
    -------
    Release
        The same release.

    Raises
    ------
    DataError
        For parts that do not fit together, or not this table.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> from anoncore.publishing import packed, unpacked
    >>> again = unpacked(*packed(release), data, release.algorithm)
    >>> again.tables()["release"].equals(release.tables()["release"])
    True
    """
    try:
        return _Reader(arrays, data).release(description, algorithm)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise DataError(BROKEN) from None


class _Reader:
    """Puts a release together from its parts, each of which is checked before it is used."""

    def __init__(self, arrays: list[bytes], data: Microdata) -> None:
        self.arrays, self.data = arrays, data
        self.partitions: list[Partition] = []

    def release(self, description: Mapping[str, Any], algorithm: Algorithm | None) -> Release:
        for part in description["partitions"]:
            partition = Partition(self._array(part))
            _require(partition.n_rows == self.data.n_rows)
            self.partitions.append(partition)
        fragments = []
        for part in description["fragments"]:
            partition = self._partition(part)
            recodings = {name: self._recoding(name, one, partition) for name, one in part["recodings"].items()}
            fragments.append(Fragment(str(part["name"]), partition, recodings))
        _require(bool(fragments))
        suppressed = description.get("suppressed_group")
        if suppressed is not None:
            shared = all(fragment.partition is fragments[0].partition for fragment in fragments)
            _require(type(suppressed) is int and shared and 0 <= suppressed < fragments[0].partition.n_groups)
        notes = tuple(str(note) for note in description["notes"])
        numbers = description.get("numbers", "text")
        _require(numbers in get_args(Numbers))
        made_with = {str(name): float(number) for name, number in description.get("made_with", {}).items()}
        return Release(self.data, tuple(fragments), algorithm, notes, suppressed, numbers, made_with=made_with)

    def _recoding(self, name: str, part: Mapping[str, Any], expected: Partition | None) -> Recoding:
        kind: Any = KINDS[part["kind"]]
        domain, partition = self.data.domain[name], self._partition(part)
        _require(expected is None or partition is expected)
        if "tree" in part:
            domain = replace(domain, tree=self._tree(part["tree"], len(domain)))
        arrays: dict[str, Any] = {
            field.name: self._array(part[field.name])
            for field in fields(kind)
            if isinstance(part.get(field.name), Mapping) and field.name != "classes"
        }
        self._check(arrays, domain, partition)
        if kind is ColumnRegions:
            classes = self._recoding(name, part["classes"], None)
            _require(isinstance(classes, Generalized))
            arrays["classes"] = classes
        elif kind is Generalized:
            form = part["form"]
            _require(
                form in FORMS and (form == "set") == (OFFSETS in arrays) and (form == "node") == ("node" in arrays)
            )
            _require(bool((arrays["low"] <= arrays["high"]).all()))
            arrays["form"] = form
        recoding: Recoding = kind(domain, partition, **arrays)
        return recoding

    def _check(self, arrays: Mapping[str, npt.NDArray[Any]], domain: Domain, partition: Partition) -> None:
        """Require the right lengths, and codes inside the domain."""
        for field, values in arrays.items():
            if field == OFFSETS:
                _require(len(values) == partition.n_groups + 1 and values[0] == 0 and bool((np.diff(values) > 0).all()))
                _require(values[-1] == len(arrays["members"]))
                continue
            _require(field != "node" or domain.tree is not None)
            size = len(domain.tree.labels) if field == "node" and domain.tree is not None else len(domain)
            _require(_inside(values, 0, size))
            if field != "members":
                _require(len(values) == (self.data.n_rows if field in PER_ROW else partition.n_groups))

    def _tree(self, part: Mapping[str, Any], size: int) -> Tree:
        labels = tuple(str(label) for label in part["labels"])
        arrays = {name: self._array(part[name]) for name in TREE_ARRAYS}
        n = len(labels)
        lengths = {"children": n - 1, "child_start": n + 1, "leaf": size}
        _require(n > 0 and all(len(values) == lengths.get(name, n) for name, values in arrays.items()))
        _require(all(_inside(arrays[name], 0, size) for name in ("first", "last")))
        _require(all(_inside(arrays[name], 0, n) for name in ("leaf", "children", "child_start")))
        _require(_inside(arrays["parent"], -1, n) and _inside(arrays["level"], 0, n + 1))
        return Tree(labels, **arrays, height=int(part["height"]))

    def _partition(self, part: Mapping[str, Any]) -> Partition:
        number = part["partition"]
        _require(isinstance(number, int) and number >= 0)
        return self.partitions[number]

    def _array(self, part: Mapping[str, Any]) -> npt.NDArray[Any]:
        _require(part["type"] in TYPES and isinstance(part["array"], int) and part["array"] >= 0)
        values = np.frombuffer(self.arrays[part["array"]], dtype=part["type"])
        return values.astype(np.int32 if part["type"] == TYPES[0] else np.int64)


def _inside(values: npt.NDArray[Any], low: int, end: int) -> bool:
    return len(values) == 0 or bool(values.min() >= low and values.max() < end)


def _require(holds: bool | np.bool_) -> None:
    if not holds:
        raise DataError(BROKEN)
