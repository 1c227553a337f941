"""A hierarchy while it is drawn up by hand: a line per value, a cell per level, and what is typed so far."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from anoncore.base.errors import DataError
from anoncore.base.texts import quoted, value_text
from anoncore.table.hierarchy import ROOT, Hierarchy
from anoncore.table.hierarchy_defaults import joining

Cells = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class HierarchyDraft:
    """The cells of a hierarchy that somebody is typing. Everything typed stays, whether or not it makes a hierarchy.

    A cell names the group that the line's value belongs to on that level. An empty cell follows: it takes the group
    that another value of the same lower group has there, and where there is none, the value or its group stays by
    itself.

    Attributes
    ----------
    values : tuple
        The values of the attribute, in its order, without the missing one.
    cells : tuple of tuple of str
        Per value its groups from level 1 up, empty where nothing is typed; all lines are equally long.

    Examples
    --------
    >>> from anoncore.table.hierarchy_draft import HierarchyDraft
    >>> draft = HierarchyDraft.of(["Bonn", "Lyon", "Ulm"]).grouped([0, 2], "Germany")
    >>> draft.hierarchy().paths
    {'Bonn': ('Germany', '*'), 'Lyon': ('Lyon', '*'), 'Ulm': ('Germany', '*')}
    """

    values: tuple[Any, ...]
    cells: Cells

    @classmethod
    def of(cls, values: Sequence[Any], hierarchy: Hierarchy | None = None) -> HierarchyDraft:
        """The draft that a hierarchy begins with: its groups without the top `*`, or one empty level.

        Parameters
        ----------
        values : sequence
            The values of the attribute, in its order, without the missing one.
        hierarchy : Hierarchy, optional
            The hierarchy to go on from. Values that it lacks get empty cells.

        Returns
        -------
        HierarchyDraft
            A draft with at least one level.
        """
        paths = [(hierarchy.path_of(value) if hierarchy is not None else None) for value in values]
        height = hierarchy.height if hierarchy is not None else 0
        if all(path is None or path[-1] == ROOT for path in paths):
            height -= 1
        height = max(height, 1)
        cells = tuple((*(path or ())[:height], *[""] * (height - len(path or ()))) for path in paths)
        blank = hierarchy is not None and hierarchy.height == 1 and all(line == (ROOT,) for line in cells)
        return cls(tuple(values), tuple(("",) for _ in values) if blank else cells)

    @property
    def n_levels(self) -> int:
        """Number of levels that have a column, without the values themselves and the top `*`."""
        return len(self.cells[0]) if self.cells else 1

    def typed(self, edits: Mapping[int, Mapping[int, str | None]]) -> HierarchyDraft:
        """The draft with some cells typed anew; spaces around a text do not count.

        Parameters
        ----------
        edits : mapping of int to mapping of int to str or None
            Per number of a line the texts of its levels, which count from 1; None empties a cell.

        Returns
        -------
        HierarchyDraft
            The changed draft.
        """
        lines = [list(line) for line in self.cells]
        for place, texts in edits.items():
            for level, text in texts.items():
                lines[place][level - 1] = (text or "").strip()
        return replace(self, cells=tuple(tuple(line) for line in lines))

    def grouped(self, places: Collection[int], group: str, level: int = 1) -> HierarchyDraft:
        """The draft with some lines put into a group on a level.

        On the levels above, the lines follow the group: they lie where its other members do. A new group stays where
        its members were, if that was one group.

        Parameters
        ----------
        places : collection of int
            Numbers of the lines.
        group : str
            Name of the group, a new one or one that there is.
        level : int
            The level, from 1.

        Returns
        -------
        HierarchyDraft
            The changed draft.

        Raises
        ------
        DataError
            Where no line is chosen or the group has no name.
        """
        name = group.strip()
        if not name:
            raise DataError("The group has no name; type what its values have in common.")
        if not places:
            raise DataError(f"No value is chosen for the group {quoted(name)}; choose at least one.")
        is_new = all(line[level - 1] != name for place, line in enumerate(self.cells) if place not in places)
        above = {self.cells[place][level:] for place in places}
        kept = next(iter(above)) if is_new and len(above) == 1 else ("",) * (self.n_levels - level)
        return self._from_level(level, places, (name, *kept))

    def parted(self, places: Collection[int], level: int = 1) -> HierarchyDraft:
        """The draft with some lines taken out of their groups on a level and on those above it.

        Parameters
        ----------
        places : collection of int
            Numbers of the lines.
        level : int
            The level, from 1.

        Returns
        -------
        HierarchyDraft
            The changed draft.
        """
        return self._from_level(level, places, ("",) * (self.n_levels - level + 1))

    def raised(self) -> HierarchyDraft:
        """The draft with one more empty level on top."""
        return replace(self, cells=tuple((*line, "") for line in self.cells))

    def lowered(self) -> HierarchyDraft:
        """The draft without its highest level; the only level is emptied instead."""
        if self.n_levels == 1:
            return replace(self, cells=tuple(("",) for _ in self.cells))
        return replace(self, cells=tuple(line[:-1] for line in self.cells))

    def members(self, level: int) -> dict[str, list[int]]:
        """The groups of a level with the numbers of their lines; level 0 are the values themselves.

        Parameters
        ----------
        level : int
            The level, from 0.

        Returns
        -------
        dict of str to list of int
            The groups in the order of their first lines.

        Raises
        ------
        DataError
            Where a group of a level up to this one lies in two groups of the next.
        """
        groups: dict[str, list[int]] = {}
        for place, label in enumerate(self._labels(level)):
            groups.setdefault(label, []).append(place)
        return groups

    def hierarchy(self) -> Hierarchy:
        """The hierarchy that is typed, with `*` on top. Levels that join nothing are left out.

        Returns
        -------
        Hierarchy
            The hierarchy of all values.

        Raises
        ------
        DataError
            Where a group lies in two groups of the next level; the sentence names both, a value in each, the level and
            what to do.
        """
        if not self.values:
            raise DataError("The attribute has no values, so there is nothing to group.")
        levels = [self._labels(level) for level in range(1, self.n_levels + 1)]
        return joining(self.values, takewhile(lambda labels: set(labels) != {ROOT}, levels))

    def _from_level(self, level: int, places: Collection[int], cells: tuple[str, ...]) -> HierarchyDraft:
        """The draft in which some lines have these cells from a level on."""
        lines = list(self.cells)
        for place in places:
            lines[place] = (*lines[place][: level - 1], *cells)
        return replace(self, cells=tuple(lines))

    def _labels(self, level: int) -> list[str]:
        """The group of every line on a level, with the empty cells filled."""
        labels = [value_text(value) for value in self.values]
        # On level 0 every line is a group of its own, also where two values have the same text.
        below: list[Any] = list(range(len(self.values)))
        for number in range(1, level + 1):
            group_of: dict[Any, tuple[str, int]] = {}
            for place, line in enumerate(self.cells):
                text = line[number - 1]
                if not text:
                    continue
                other, first = group_of.setdefault(below[place], (text, place))
                if other != text:
                    raise self._torn(labels[place], number, (other, first), (text, place))
            labels = [group_of.get(key, (labels[place], 0))[0] for place, key in enumerate(below)]
            below = list(labels)
        return labels

    def _torn(self, group: str, level: int, one: tuple[str, int], other: tuple[str, int]) -> DataError:
        first, second = (
            f"{quoted(text)} (at {quoted(value_text(self.values[place]))})" for text, place in (one, other)
        )
        return DataError(
            f"Level {level} puts the group {quoted(group)} into both {first} and {second}. Type the same on level "
            f"{level} for all values of {quoted(group)}, or put them into different groups on level {level - 1}."
        )
