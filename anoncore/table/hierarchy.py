"""Generalization hierarchies: taxonomies of categories, nested intervals of numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import DataError
from anoncore.base.showing import Shown
from anoncore.base.texts import MISSING_TEXT, counted, is_missing, listing, quoted, value_text
from anoncore.base.typed_values import ValueMapping, sorted_values
from anoncore.table.domain import Domain, Tree
from anoncore.table.given_table import as_pandas, is_table
from anoncore.table.intervals import bins_by_quantile, bins_by_width, nested_intervals

ROOT = "*"
Taxonomy = Mapping[str, "Taxonomy"] | Sequence[Any]
Path = tuple[str, ...]


@checked_methods
class Hierarchy(Shown):
    """Ever coarser groups of an attribute's values, from single values (level 0) up to `*`, which is all of them.

    Missing values need no path: they join the others only at the top. A group of a taxonomy whose branches have
    different lengths appears at the level of its longest branch, and the groups of a shorter branch fill the levels in
    between too.

    Parameters
    ----------
    paths : mapping of value to sequence of str, or iterable of pairs of them
        The labels of each value at level 1, 2 and so on up to the top. All paths have the same length. A top level with
        the label `*` is added where the last labels differ. Pairs may list values that a dictionary takes for one, such
        as True and 1.

    Raises
    ------
    DataError
        Where there is no value or one stands twice, paths have different lengths, a label is missing, or one group lies
        in two.

    Attributes
    ----------
    paths : mapping of value to tuple of str
        The labels of each value, with the top level. It finds a value whatever its type: 1.0 by 1, but not True by 1.

    Examples
    --------
    >>> from anoncore import Hierarchy
    >>> towns = Hierarchy({"Ulm": ["south"], "Bonn": ["west"], "Trier": ["west"]})
    >>> towns.height
    2
    >>> towns.path_of("Bonn")
    ('west', '*')
    """

    def __init__(self, paths: Mapping[Any, Sequence[Any]] | Iterable[tuple[Any, Sequence[Any]]]) -> None:
        listed = paths.items() if isinstance(paths, Mapping) else paths
        pairs = list(listed)
        for pair in pairs:
            if isinstance(pair, str) or not isinstance(pair, Collection) or len(pair) != 2:
                raise DataError(
                    f"A hierarchy lists values with their groups, such as {{'Ulm': ['south']}}, not {quoted(pair)}."
                )
        lines = [(value, _labels(value, path)) for value, path in pairs]
        if not lines:
            raise DataError("A hierarchy needs at least one value.")
        lengths = {len(path) for _, path in lines}
        if len(lengths) > 1:
            raise DataError(f"Every value of a hierarchy needs the same number of levels; found {sorted(lengths)}.")
        tops = {path[-1] for _, path in lines if path}
        top = () if len(tops) == 1 else (ROOT,)
        try:
            self.paths = ValueMapping((value, (*path, *top)) for value, path in lines)
        except ValueError as error:
            twice = quoted(value_text(error.args[0]))
            raise DataError(f"The hierarchy lists the value {twice} twice; keep one line for it.") from None
        except TypeError as error:
            raise DataError(f"The values of the hierarchy cannot be compared ({error}); turn them into text.") from None
        self._check_nesting()

    def _headline(self) -> str:
        return f"Hierarchy of {counted(len(self.paths), 'value')} with {counted(self.height, 'level')} above them"

    @classmethod
    def from_table(cls, table: Any) -> Hierarchy:
        """The hierarchy of a table with one line per value, which is the form of ARX's files.

        Parameters
        ----------
        table : DataFrame, LazyFrame, Arrow table, DuckDB relation or iterable of sequences
            Lines of a value and its labels from level 1 to the top. Lines without a value are skipped.

        Returns
        -------
        Hierarchy
            The hierarchy of these values.

        Raises
        ------
        DataError
            Where a value has two lines, or the lines make no hierarchy.
        """
        lines = as_pandas(table).itertuples(index=False, name=None) if is_table(table) else table
        if isinstance(lines, str | bytes | Mapping) or not isinstance(lines, Iterable):
            raise DataError(
                "A hierarchy is read from a table or from lines such as [['Ulm', 'south'], ['Bonn', 'west']], "
                f"not from {quoted(lines)}."
            )
        paths = [_line(line) for line in lines]
        return cls((path[0], path[1:]) for path in paths if len(path) and not is_missing(path[0]))

    @classmethod
    def from_nested(cls, taxonomy: Taxonomy) -> Hierarchy:
        """The hierarchy of nested groups.

        Parameters
        ----------
        taxonomy : mapping of str to mapping or list
            Keys are groups, lists hold single values, e.g. `{"Asian": ["Chinese", "Indian"], "Turkish": ["Turkish"]}`.

        Returns
        -------
        Hierarchy
            The hierarchy of all values, with `*` above the outermost groups.

        Raises
        ------
        DataError
            Where a value stands twice, a group is empty, or a group holds something other than groups or values.
        """
        branches: list[tuple[Any, list[tuple[str, int]]]] = []
        height = _walk(taxonomy, ROOT, branches)
        paths = []
        for value, ancestors in branches:
            labels = [ROOT] * height
            for label, level in ancestors:
                labels[level - 1 : -1] = [label] * (height - level)
            paths.append((value, labels))
        return cls(paths)

    @classmethod
    def by_width(cls, values: Iterable[Any], width: float, fanout: int = 2, start: float | None = None) -> Hierarchy:
        """Intervals of equal width for numbers, joined to wider ones level by level up to the whole range.

        Parameters
        ----------
        values : iterable of float
            The numbers to cover.
        width : float
            Width of an interval at level 1, in the unit of the values.
        fanout : int
            How many neighbouring intervals each level joins to one of the next level.
        start : float, optional
            Where the first interval begins; by default at the multiple of `width` at or below the smallest value.

        Returns
        -------
        Hierarchy
            The hierarchy of the different values.

        Raises
        ------
        DataError
            Where a value is no number, or width, fanout or start do not fit.
        """
        return cls(nested_intervals(bins_by_width(values, width, start), fanout))

    @classmethod
    def by_quantile(cls, values: Iterable[Any], groups: int, fanout: int = 2) -> Hierarchy:
        """Intervals of numbers or dates that hold about the same number of rows each.

        Parameters
        ----------
        values : iterable of float or date
            The values of the rows, repeats included.
        groups : int
            Number of intervals at level 1.
        fanout : int
            How many neighbouring intervals each level joins to one of the next level.

        Returns
        -------
        Hierarchy
            The hierarchy of the different values.

        Raises
        ------
        DataError
            Where there is no value, or groups or fanout do not fit.
        """
        return cls(nested_intervals(bins_by_quantile(values, groups), fanout))

    @property
    def height(self) -> int:
        """Number of levels above the single values."""
        return len(next(iter(self.paths.values())))

    @cached_property
    def leaves(self) -> tuple[Any, ...]:
        """The values in depth-first order: every group is a run of neighbours."""
        rank: dict[tuple[int, str], int] = {}
        for path in self.paths.values():
            for level, label in enumerate(path):
                rank.setdefault((level, label), len(rank))
        levels = range(self.height - 1, -1, -1)
        lines = sorted(self.paths.items(), key=lambda line: [rank[level, line[1][level]] for level in levels])
        return tuple(value for value, _ in lines)

    def path_of(self, value: Any) -> Path | None:
        """The labels of a value from level 1 to the top.

        Parameters
        ----------
        value : object
            The value. It is looked up as it is, then by its text.

        Returns
        -------
        tuple of str or None
            One label per level, or None where the hierarchy does not list the value.
        """
        try:
            path = self.paths.get(value)
        except TypeError:  # what cannot be compared is no value of a table
            return None
        return path if path is not None else self._by_text.get(value_text(value))

    @cached_property
    def _by_text(self) -> dict[str, Path]:
        return {value_text(value): path for value, path in self.paths.items()}

    def order(self, values: Sequence[Any]) -> list[Any]:
        """Values in the hierarchy's depth-first order, in which every group is a run of neighbours.

        Parameters
        ----------
        values : sequence
            The values to sort.

        Returns
        -------
        list
            The same values, sorted.

        Raises
        ------
        DataError
            For values that the hierarchy does not list.
        """
        by_text = {value_text(value): position for position, value in enumerate(self.leaves)}
        by_value = ValueMapping((value, position) for position, value in enumerate(self.leaves))
        try:
            ordered = sorted_values(values)
        except TypeError as error:
            raise DataError(f"The values cannot be compared ({error}); turn them into text first.") from None
        rank = [by_value.get(value, by_text.get(value_text(value))) for value in ordered]
        unknown = [value for value, position in zip(ordered, rank, strict=True) if position is None]
        if unknown:
            raise DataError(f"The hierarchy lacks {listing(unknown)}; add a line for each, or remove the hierarchy.")
        # Sorting keeps the order of values that one line of the hierarchy stands for, such as 1 and "1".
        return [ordered[place] for place in sorted(range(len(ordered)), key=lambda place: rank[place] or 0)]

    def tree(self, domain: Domain) -> Tree:
        """The hierarchy laid over the codes of a domain.

        Parameters
        ----------
        domain : Domain
            Values with their codes. Every group of the hierarchy must be a run of codes.

        Returns
        -------
        Tree
            The nodes, of which the first is the root.

        Raises
        ------
        DataError
            Where the hierarchy lacks a value, or the order of the domain tears a group apart.
        """
        paths = self.paths_of(domain)
        if domain.has_missing:
            paths.append((*[MISSING_TEXT] * (self.height - 1), paths[0][-1] if paths else ROOT))
        return _build_tree(domain, paths, self.height)

    def paths_of(self, domain: Domain) -> list[Path]:
        """The paths of a domain's values, without the missing one.

        Parameters
        ----------
        domain : Domain
            Values with their codes.

        Returns
        -------
        list of tuple of str
            The labels of each value from level 1 to the top, by code.

        Raises
        ------
        DataError
            Where the hierarchy lacks a value.
        """
        paths = [self.path_of(value) for value in domain.values]
        lacking = [value for value, path in zip(domain.values, paths, strict=True) if path is None]
        if lacking:
            raise DataError(
                f"The hierarchy of '{domain.name}' lacks {listing(lacking)}; add a line for each, or remove it."
            )
        return [path for path in paths if path is not None]

    def _check_nesting(self) -> None:
        above: dict[tuple[int, str], str] = {}
        for value, path in self.paths.items():
            for level in range(len(path) - 1):
                known = above.setdefault((level, path[level]), path[level + 1])
                if known != path[level + 1]:
                    raise DataError(
                        f"The hierarchy puts {quoted(path[level])} under both {quoted(known)} and "
                        f"{quoted(path[level + 1])} "
                        f"(seen at value {quoted(value_text(value))}); a group has one parent."
                    )


def _line(line: Any) -> Sequence[Any]:
    if isinstance(line, str) or not isinstance(line, Collection) or not hasattr(line, "__getitem__"):
        raise DataError(
            f"A line of a hierarchy lists a value and its groups, such as ['Ulm', 'south'], not {quoted(line)}."
        )
    return line  # type: ignore[return-value]


def _labels(value: Any, path: Sequence[Any]) -> Path:
    if isinstance(path, str) or not isinstance(path, Iterable):
        given = f"the text {quoted(path)}" if isinstance(path, str) else quoted(path)
        raise DataError(f"The groups of {quoted(value_text(value))} must be a list of labels, not {given}.")
    for level, label in enumerate(path, start=1):
        if is_missing(label):
            raise DataError(
                f"The hierarchy has no label for {quoted(value_text(value))} at level {level}; fill the cell."
            )
    return tuple(value_text(label) for label in path)


def _walk(taxonomy: Taxonomy, group: str, branches: list[tuple[Any, list[tuple[str, int]]]]) -> int:
    """Append every value with its ancestors and their heights; returns the height of this subtree."""
    before = len(branches)
    if isinstance(taxonomy, Mapping):
        heights = []
        for label, below in taxonomy.items():
            begin = len(branches)
            heights.append(_walk(below, str(label), branches))
            for _, ancestors in branches[begin:]:
                ancestors.append((str(label), heights[-1]))
        height = max(heights, default=0) + 1
    elif isinstance(taxonomy, str) or not isinstance(taxonomy, Iterable):
        raise DataError(f"The group {quoted(group)} must hold a list of values, not {quoted(taxonomy)}.")
    else:
        branches += [(value, []) for value in taxonomy]
        height = 1
    if len(branches) == before:
        raise DataError(f"The group {quoted(group)} of the hierarchy is empty; give it a value, or leave it out.")
    return height


def _build_tree(domain: Domain, paths: list[Path], height: int) -> Tree:
    """The nodes of the paths, level by level from the top.

    A level at which a node's values are the same as at the level above adds no node: the node moves down to that level.
    """
    labels: list[str] = []
    first: list[int] = []
    last: list[int] = []
    parent: list[int] = []
    level_of: list[int] = []
    owner = np.full(len(paths), -1, dtype=np.int64)  # lowest node so far that holds each code
    for level in range(height, -1, -1):
        texts = [path[level - 1] for path in paths] if level else [domain.text(code) for code in range(len(paths))]
        keys: list[Any] = list(texts) if level else list(range(len(paths)))
        if domain.missing_code is not None and level < height:
            keys[domain.missing_code] = None  # also where a group has the text of missing cells
        # A node is a run of codes with one label. A label that comes back after another one was torn apart.
        start = 0
        seen: set[Any] = set()
        for stop in range(1, len(paths) + 1):
            if stop < len(paths) and keys[stop] == keys[start]:
                continue
            if keys[start] in seen:
                raise DataError(
                    f"The order of '{domain.name}' tears the group {quoted(texts[start])} of its hierarchy apart at "
                    f"{quoted(domain.text(start))}: on level {level}, values that lie between its own are in another "
                    "group. Put neighbours together, or change the order of the values."
                )
            seen.add(keys[start])
            above = int(owner[start])
            if above >= 0 and first[above] == start and last[above] == stop - 1:
                level_of[above] = level
                labels[above] = texts[start]
            else:
                labels.append(texts[start])
                first.append(start)
                last.append(stop - 1)
                parent.append(above)
                level_of.append(level)
                owner[start:stop] = len(labels) - 1
            start = stop
    count = len(labels)
    above_of = np.array(parent, dtype=np.int32)
    by_parent = np.argsort(above_of, kind="stable")[1:] if count > 1 else np.array([], dtype=np.int64)
    start_of = np.searchsorted(above_of[by_parent], np.arange(count + 1)) if count > 1 else np.zeros(count + 1)
    return Tree(
        labels=tuple(labels),
        first=np.array(first, dtype=np.int32),
        last=np.array(last, dtype=np.int32),
        parent=above_of,
        level=np.array(level_of, dtype=np.int32),
        children=by_parent.astype(np.int32),
        child_start=start_of.astype(np.int32),
        leaf=owner.astype(np.int32),
        height=height,
    )
