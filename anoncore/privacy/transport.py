"""The mass that moves when a group's distribution is turned into the table's at the least cost."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.number import measure
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Floats, Int64, record
from anoncore.privacy.published import published_view, publishing_fragment
from anoncore.release.release import Release
from anoncore.requirements.t_closeness import Ground
from anoncore.table.domain import Tree


@record
class Transport(Result):
    """An optimal plan that turns the distribution of one group into that of the table.

    Move i takes the share `mass[i]` of the group from value `source[i]` to value `target[i]`.

    Attributes
    ----------
    ground : {"ordered", "interval", "equal", "hierarchical"}
        How far apart two values are.
    values : tuple of str
        The m values of the attribute, in its order.
    group, table : ndarray of float, shape (m,)
        The two distributions over the values.
    source, target : ndarray of int64, shape (n_moves,)
        From which value to which each move goes, as positions in `values`.
    mass : ndarray of float, shape (n_moves,)
        Share of the group that each move takes.
    distance : ndarray of float, shape (n_moves,)
        Ground distance of the two values, from 0 to 1.
    tree : Tree or None
        The hierarchy, for the hierarchical distance alone.
    turn : ndarray of int64, shape (n_moves,), or None
        Node of the tree at which each move turns from upward to downward, for the hierarchical distance alone.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> plan = privacy.transport(release, "disease", group=0, ground="equal")
    >>> plan.values, plan.group.round(2).tolist(), plan.table.round(2).tolist()
    (('cold', 'flu'), [0.33, 0.67], [0.67, 0.33])
    """

    ground: Ground
    values: tuple[str, ...]
    group: Floats
    table: Floats
    source: Int64
    target: Int64
    mass: Floats
    distance: Floats
    tree: Tree | None = None
    turn: Int64 | None = None

    @cached_property
    def cost(self) -> float:
        """Mass times distance over all moves: the group's EMD from the table."""
        return float(self.mass @ self.distance)

    @cached_property
    def surplus(self) -> Floats:
        """By how much the group's share of each value exceeds the table's, float (m,); negative where it is less."""
        return self.group - self.table

    @cached_property
    def crossing(self) -> Floats:
        """Mass that crosses from each value to the next, float (m - 1,); negative where it moves down the order.

        The sums over prefixes of the surplus: the ordered distance is the mean of their absolute values.
        """
        return np.cumsum(self.surplus)[:-1]

    @cached_property
    def leaving(self) -> Floats:
        """Mass that leaves the values below each node of the tree, float (n_nodes,); negative where it comes in."""
        tree = self._known_tree
        before = np.concatenate(([0.0], np.cumsum(self.surplus)))
        return before[tree.last + 1] - before[tree.first]

    @cached_property
    def node_mass(self) -> Floats:
        """Mass that turns at each node of the tree, float (n_nodes,)."""
        turn = self.turn if self.turn is not None else np.zeros(0, np.int64)
        return np.bincount(turn, weights=self.mass, minlength=len(self._known_tree.labels)).astype(np.float64)

    @cached_property
    def node_cost(self) -> Floats:
        """Cost of the mass that turns at each node, float (n_nodes,): height of the node / height of the tree each."""
        return self.node_mass * self._known_tree.level / max(self._known_tree.height, 1)

    @property
    def _known_tree(self) -> Tree:
        if self.tree is None:
            raise DataError("Only the hierarchical distance moves mass along a tree.")
        return self.tree


@measure(title="Mass that moves")
@checked
def transport(
    release: Release, attribute: str, group: int, ground: Ground = "ordered", fragment: str | None = None
) -> Transport:
    """The cheapest way to turn a group's published distribution into the original table's.

    With the ordered and the interval distance the surplus of a value goes to the nearest values that lack some, in turn
    along the order. With the equal distance any surplus may fill any lack, in order. With the hierarchical distance
    surplus meets lack below the lowest node that holds both. Amounts are exact fractions until the end.

    Parameters
    ----------
    release : Release
        The release that has the group.
    attribute : str
        The sensitive attribute whose distribution is turned.
    group : int
        Number of the group.
    ground : {"ordered", "interval", "equal", "hierarchical"}
        How far apart two values are.
    fragment : str, optional
        Name of the fragment that has the group; by default the first that publishes the attribute.

    Returns
    -------
    Transport
        The moves; their cost is what `emd` gives for the group.

    Raises
    ------
    ParameterError
        For an unknown ground distance, fragment or group.
    DataError
        For a hierarchical distance of an attribute without a hierarchy.
    ReleaseError
        Where the attribute's single values are not published.

    Notes
    -----
    Assumes: as `emd`.
    Cost: O(m log m) for m values, times the height of a tree.
    Use: it is to be seen which values make a class differ from the table.
    Avoid: the distance alone is wanted: see `emd`.

    References
    ----------
    Li et al., t-closeness, ICDE 2007, section 5.

    Examples
    --------
    In the first class 2 of 3 people have the flu, in the table 2 of 6: a third of the class moves from flu to cold.

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    >>> plan = privacy.transport(release, "disease", group=0, ground="equal")
    >>> for source, target, mass in zip(plan.source, plan.target, plan.mass):
    ...     print(plan.values[source], "->", plan.values[target], round(mass, 3))
    flu -> cold 0.333
    >>> round(plan.cost, 3)
    0.333
    """
    release.require_people("The distance is that of groups of people from the table")
    data = release.data
    (attribute,) = data.require_sensitive(attribute)
    publishing = publishing_fragment(release, attribute, fragment)
    partition, published = published_view(release, publishing, attribute)
    if not 0 <= group < partition.n_groups:
        raise ParameterError(f"There is no group {group}; groups are numbered 0 to {partition.n_groups - 1:,}.")
    rows, people = partition.rows(group), published.people
    members = replace(published, codes=published.codes[rows], people=None if people is None else people[rows])
    view = data.sensitive_view(attribute)
    in_group, in_table = members.counts, view.counts
    tree = data.domain[attribute].tree
    if ground == "hierarchical" and view.unique < 0 and view.size > 1 and tree is None:
        raise DataError(f"'{attribute}' has no hierarchy for the hierarchical distance; add one, or use 'equal'.")
    along = tree if ground == "hierarchical" and view.unique < 0 and view.size > 1 else None
    # Counts times the other side's total: whole numbers, so that surplus and lack cancel exactly.
    unit = int(in_group.sum()) * int(in_table.sum())
    amount = in_group * int(in_table.sum()) - in_table * int(in_group.sum())
    source, target, moved, turn = _along_tree(amount, along) if along is not None else (*_in_order(amount), None)
    if along is not None:
        distance = along.level[turn] / max(along.height, 1)
    elif ground == "ordered" and view.unique < 0 and view.size > 1:
        distance = np.abs(source - target) / (view.size - 1)
    elif ground == "interval" and view.unique < 0 and view.size > 1:
        steps = data.domain[attribute].steps
        distance = np.abs(steps[source] - steps[target]) / (data.domain[attribute].extent or 1.0)
    else:
        distance = np.ones(len(source))
    shares = (in_group / in_group.sum(), in_table / in_table.sum())
    return Transport(ground, view.labels, *shares, source, target, moved / unit, distance, along, turn)


def _in_order(amount: Int64) -> tuple[Int64, Int64, Int64]:
    """Pair surpluses with lacks (negative amounts) in their order: source, target and amount of every move."""
    gives, takes = np.flatnonzero(amount > 0), np.flatnonzero(amount < 0)
    given, taken = np.cumsum(amount[gives]), np.cumsum(-amount[takes])
    ends = np.union1d(given, taken)
    moved = np.diff(ends, prepend=0)
    return gives[np.searchsorted(given, ends)], takes[np.searchsorted(taken, ends)], moved


def _along_tree(amount: Int64, tree: Tree) -> tuple[Int64, Int64, Int64, Int64]:
    """Match surplus with lack below each node, from the lowest nodes up: the moves, and the node at which each turns.

    What a node cannot match is left to the nodes above it.
    """
    left = amount.copy()
    moves: list[tuple[Int64, ...]] = []
    inner = np.flatnonzero(np.diff(tree.child_start) > 0)
    for node in inner[::-1]:
        first, last = int(tree.first[node]), int(tree.last[node])
        source, target, moved = _meeting(left[first : last + 1])
        if len(moved) == 0:
            continue
        source, target = source + first, target + first
        np.subtract.at(left, source, moved)
        np.add.at(left, target, moved)
        moves.append((source, target, moved, np.full(len(moved), node, np.int64)))
    if not moves:
        return (np.zeros(0, np.int64),) * 4
    source, target, moved, turn = (np.concatenate(column) for column in zip(*moves, strict=True))
    return source, target, moved, turn


def _meeting(amount: Int64) -> tuple[Int64, Int64, Int64]:
    """Match as much surplus with lack among the values of one node as both allow, in their order."""
    surplus, lack = int(amount[amount > 0].sum()), int(-amount[amount < 0].sum())
    both = min(surplus, lack)
    gives, takes = np.maximum(amount, 0), np.maximum(-amount, 0)
    if surplus > both:
        gives = np.diff(np.minimum(np.cumsum(gives), both), prepend=0)
    else:
        takes = np.diff(np.minimum(np.cumsum(takes), both), prepend=0)
    return _in_order(gives - takes)
