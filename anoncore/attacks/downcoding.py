"""Downcoding: undoing generalization by knowing that the method generalized no more than it had to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anoncore.attacks.lift import interval_of_mean, right_guesses
from anoncore.base.arguments import checked
from anoncore.base.errors import ReleaseError
from anoncore.base.number import RISK, measure
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.privacy.cell_knowledge import CellKnowledge
from anoncore.release.recoding import Generalized
from anoncore.release.release import Release

SURE = 0.9
"""Belief in a child of a cell's node from which on the cell counts as undone."""
STEP = 100
"""Classes that are looked at between two reports of progress."""
LARGEST_CLASS = 2_000
"""Rows of a class up to which the rows below each child are weighed; in larger ones they tell next to nothing."""

DOWNCODED_RIGHT = replace(
    RISK,
    name="downcoding-right-guesses",
    title="Cells guessed right, knowing the method",
    template=(
        "Share of the cells published as a node of a hierarchy whose child is guessed right by readers who know that "
        "the method generalized no more than it had to."
    ),
    source="Cohen, USENIX Security 2022",
    unit="share of generalized cells",
    baseline="the share of right guesses by how frequent the children are in the table.",
    release_forms=("generalization",),
    short="Cells guessed right",
)
DOWNCODING_LIFT = replace(
    DOWNCODED_RIGHT,
    name="downcoding-lift",
    title="Lift of downcoding",
    template="How many more generalized cells readers guess right because they know the method, as a share of them.",
    bounds=(-1.0, 1.0),
    baseline="0: readers who guess by how frequent the children are in the table.",
    short="Lift",
)
UNDONE = replace(
    DOWNCODED_RIGHT,
    name="downcoding-undone",
    title="Cells undone",
    template=(
        "Share of the cells published as a node of a hierarchy of which readers who know the method are at least 90% "
        "sure which child is behind them."
    ),
    baseline="the same share by how frequent the children are in the table.",
    short="Cells undone",
)


@record
class Downcoding(Result):
    """What readers who know the method make of cells that are published as nodes of hierarchies.

    A cell is one attribute of one row. Only cells whose node has several children with values of the table count.

    Attributes
    ----------
    attributes : tuple of str
        The quasi-identifiers that have a hierarchy.
    n_cells : int
        Cells that are generalized.
    belief : dict of str to ndarray of float, shape (n_rows,)
        By attribute, the belief in the likeliest child of each row's cell; NaN where the cell is not generalized.
    without : dict of str to ndarray of float, shape (n_rows,)
        The same without knowing the method.
    right : Score
        Share of the generalized cells whose child is guessed right, beside that of guessing by the table.
    lift : Score
        The difference of the two.
    interval : tuple of float
        The 95% interval of the lift, with classes as what is drawn.
    undone : Score
        Share of the generalized cells whose child is at least 90% sure, beside the same by the table.

    Examples
    --------
    Mondrian would have made a class of either town if it had two people. So one of the two people of D is
    from each of its towns:

    >>> import pandas as pd
    >>> from anoncore import Hierarchy, Microdata, attacks
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"town": ["Ulm", "Bonn", "Bern", "Bern"], "age": [20, 30, 40, 50]})
    >>> towns = Hierarchy({"Ulm": ["D"], "Bonn": ["D"], "Bern": ["CH"]})
    >>> data = Microdata(people, dict.fromkeys(people, "quasi-identifier"), hierarchies={"town": towns})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> release.recoding("town").texts().tolist()
    ['D', 'D', 'Bern', 'Bern']
    >>> found = attacks.downcoding(release)
    >>> found.n_cells, found.belief["town"][:2].tolist(), float(found.lift)
    (2, [0.5, 0.5], 0.0)
    """

    attributes: tuple[str, ...]
    n_cells: int
    belief: dict[str, Floats]
    without: dict[str, Floats]
    right: Score
    lift: Score
    interval: tuple[float, float]
    undone: Score


@measure(DOWNCODED_RIGHT, DOWNCODING_LIFT, UNDONE, title="Downcoding")
@checked
def downcoding(release: Release, progress: Progress | None = None) -> Downcoding:
    """How far readers who know the method can undo generalization, cell by cell.

    A cell that is published as a node of a hierarchy hides which child of the node the row's value lies below. Without
    the method readers guess the child that is most frequent in the table. With it they know more:

    - the children of the node have too few rows in the class to stand alone, some of them (Mondrian) or all of them
      (local recoding), and so not all rows of the class lie below one child;
    - where a class with a finer cell and otherwise the same cells is published (local recoding), it took all rows that
      fit it, so no row of the coarser class lies below that child.

    Each attribute is looked at on its own, and the rows of a class count as drawn from the table's distribution below
    the node. Incognito publishes one level for all rows: that a lower one failed tells of some class and not of a cell,
    so nothing is gained there.

    Parameters
    ----------
    release : Release
        A release of Mondrian, Incognito or local recoding.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop the attack.

    Returns
    -------
    Downcoding
        The share of generalized cells that are guessed right, the lift, and the share of which readers are sure.

    Raises
    ------
    ReleaseError
        Where the method does not say what it tells of its cells.

    Notes
    -----
    Assumes: the adversary knows the hierarchies, the method with its parameters, and how frequent each value is in the
      table, but nobody's values.
    Cost: O(m s^2) for every different cell of a class of s rows and a node of m children.
    Use: quasi-identifiers are generalized along hierarchies, and their values are worth protecting in themselves.
    Avoid: it is feared that people are found whose quasi-identifiers are known: that is re-identification.

    References
    ----------
    Cohen, Attacks on deidentification's defenses, USENIX Security 2022, section 3 (downcoding of minimal hierarchical
    generalization); its proofs choose the table, here the table is what it is.

    Examples
    --------
    Both people of 30 to 39 are one class of their own, so the two of 20 to 59 who remain are not in their thirties:

    >>> import pandas as pd
    >>> from anoncore import Hierarchy, Microdata, attacks
    >>> from anoncore.algorithms import LocalRecoding
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": ["31", "32", "33", "24", "45"], "sex": list("fffff")})
    >>> paths = pd.DataFrame([[age, f"{age[0]}0s", "*"] for age in people["age"]])
    >>> data = Microdata(
    ...     people,
    ...     roles={"age": "quasi-identifier", "sex": "quasi-identifier"},
    ...     kinds={"age": "nominal"},
    ...     hierarchies={"age": Hierarchy.from_table(paths)},
    ... )
    >>> release = LocalRecoding(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> release.recoding("age").texts().tolist()
    ['30s', '30s', '30s', '*', '*']
    >>> found = attacks.downcoding(release)
    >>> found.without["age"][3:].round(2).tolist(), found.belief["age"][3:].tolist()
    ([0.6, 0.6], [0.5, 0.5])
    """
    release.require_people("Downcoding undoes the cells of people's rows")
    if release.data.people is not None:
        raise ReleaseError(
            "Downcoding counts the rows of a group; it is not measured where a person may have several rows."
        )
    method = release.algorithm
    known = None if method is None else method.cell_knowledge(release)
    if known is None:
        told = "The method of this release is not known" if method is None else f"{method.title} does not say it"
        raise ReleaseError(
            f"What cells tell is known of Mondrian, Incognito and local recoding. {told}, so downcoding is not "
            "measured here."
        )
    assert isinstance(known, CellKnowledge)
    return _summed_up(release, _Cells(release, known), progress if progress is not None else silent)


def _summed_up(release: Release, cells: _Cells, progress: Progress) -> Downcoding:
    group, n_rows = release.partition.group, release.data.n_rows
    belief, without, gains, classes = {}, {}, [np.zeros(0)], [np.zeros(0, np.int64)]
    n_cells = n_right = n_right_without = n_sure = n_sure_without = 0.0
    for number, name in enumerate(cells.names):
        found = cells.looked_at(name, part_of(progress, number / len(cells.names), (number + 1) / len(cells.names)))
        belief[name], without[name] = np.full(n_rows, np.nan), np.full(n_rows, np.nan)
        belief[name][found.rows], without[name][found.rows] = found.best, found.best_without
        gains.append(found.right - found.right_without)
        classes.append(group[found.rows].astype(np.int64))
        n_cells += len(found.rows)
        n_right += found.right.sum()
        n_right_without += found.right_without.sum()
        n_sure += (found.best >= SURE).sum()
        n_sure_without += (found.best_without >= SURE).sum()
    gain, total = np.concatenate(gains), max(n_cells, 1)
    return Downcoding(
        attributes=cells.names,
        n_cells=int(n_cells),
        belief=belief,
        without=without,
        right=Score(n_right / total, DOWNCODED_RIGHT, baseline=n_right_without / total),
        lift=Score((n_right - n_right_without) / total, DOWNCODING_LIFT, baseline=0.0),
        interval=interval_of_mean(gain, np.concatenate(classes)) if n_cells else (0.0, 0.0),
        undone=Score(n_sure / total, UNDONE, baseline=n_sure_without / total),
    )


@record
class _Guesses:
    """Of each generalized row of an attribute: the chance of a right guess, and the belief in the likeliest child."""

    rows: Int64
    right: Floats
    right_without: Floats
    best: Floats
    best_without: Floats


class _Cells:
    """The cells of a release's classes that are nodes of hierarchies, and what is believed of their children."""

    def __init__(self, release: Release, known: CellKnowledge) -> None:
        data = release.data
        self.release, self.known, self.sizes = release, known, release.partition.sizes
        self.names = tuple(name for name in data.quasi_identifiers if data.domain[name].tree is not None)
        self.nodes = {name: _nodes(release, name) for name in self.names}
        self.columns = [
            (self.nodes[name],) if name in self.nodes else release.recoding(name).group_content() or ()
            for name in data.quasi_identifiers
        ]
        known_classes = np.flatnonzero(known.applies)
        self.published = set(map(tuple, np.column_stack([*sum(self.columns, ())])[known_classes].tolist()))
        self.weighed: dict[tuple[float, ...], Floats] = {}

    def looked_at(self, name: str, progress: Progress) -> _Guesses:
        """The guesses of one attribute."""
        data, partition = self.release.data, self.release.partition
        tree = data.domain[name].tree
        assert tree is not None
        codes, node = data.codes[name], self.nodes[name]
        frequency = np.bincount(codes, minlength=len(data.domain[name])) / data.n_rows
        parts = []
        for group in range(partition.n_groups):
            if group % STEP == 0:
                progress(group / partition.n_groups, f"Guessing the children of '{name}'")
            children = tree.children[tree.child_start[node[group]] : tree.child_start[node[group] + 1]]
            shares = np.array([frequency[tree.first[child] : tree.last[child] + 1].sum() for child in children])
            children, shares = children[shares > 0], shares[shares > 0]
            if len(children) < 2:
                continue
            rows = partition.rows(group).astype(np.int64)
            truth = np.searchsorted(tree.last[children], codes[rows])
            without = shares / shares.sum()
            belief = self._belief(name, group, children, without)
            alike = np.zeros(len(rows), np.int64)
            parts.append(
                _Guesses(
                    rows,
                    right_guesses(belief[None], truth, alike),
                    right_guesses(without[None], truth, alike),
                    np.full(len(rows), belief.max()),
                    np.full(len(rows), without.max()),
                )
            )
        return _Guesses(
            np.concatenate([np.zeros(0, np.int64), *(one.rows for one in parts)]),
            *(
                np.concatenate([np.zeros(0), *(getattr(one, field) for one in parts)])
                for field in ("right", "right_without", "best", "best_without")
            ),
        )

    def _belief(self, name: str, group: int, children: Codes, without: Floats) -> Floats:
        """The belief in each child of a class's cell."""
        if not self.known.applies[group]:
            return without
        shares = without
        if self.known.takes_all:
            shares = np.where([self._is_taken(name, group, child) for child in children], 0.0, without)
            if shares.sum() == 0:
                return without
            shares = shares / shares.sum()
        size = int(self.sizes[group])
        key = (float(size), *shares)
        if key not in self.weighed:
            self.weighed[key] = expected_shares(shares, size, self.known)
        return self.weighed[key]

    def _is_taken(self, name: str, group: int, child: int) -> bool:
        """Whether a class is published that differs from this one in one cell alone, which is the child."""
        key: list[int] = []
        for other, columns in zip(self.release.data.quasi_identifiers, self.columns, strict=True):
            key += [child] if other == name else [int(column[group]) for column in columns]
        return tuple(key) in self.published


def _nodes(release: Release, name: str) -> Codes:
    """The node that each class publishes, int32 (n_groups,)."""
    recoding = release.recoding(name)
    assert isinstance(recoding, Generalized)
    assert recoding.node is not None
    return recoding.node


def expected_shares(shares: Floats, size: int, known: CellKnowledge) -> Floats:
    """The expected share of each child among the rows of a class, given what is known of their numbers.

    The numbers of rows are multinomial with the given shares. They are computed as independent Poisson numbers that add
    up to the class's size, which is the same and keeps every term within the range of floats. Where what is known
    contradicts the table's shares, or the class is large, the shares stay as they are.
    """
    if size > LARGEST_CLASS or (shares > 0).sum() < 2:
        return shares
    # It takes longer to import than most programs that import this file run.
    from scipy.stats import poisson

    terms = np.asarray(poisson.pmf(np.arange(size + 1)[:, None], size * shares))
    every = np.arange(size + 1)
    if known.all_below:
        most = min(known.all_below - 1, size - 1 if known.is_lowest else size)
        weight, moments = _weighed(terms * (every <= most)[:, None], size)
    else:
        weight = float(poisson.pmf(size, size))
        moments = weight * size * shares
        # What is ruled out: all children with rows have enough of them, or one child has all rows.
        enough = (every == 0) | (every >= known.some_below if known.some_below else every == size)
        if known.some_below and known.is_lowest:
            enough[size] = True
        if not known.some_below and not known.is_lowest:
            return shares
        ruled_out, moments_out = _weighed(terms * enough[:, None], size)
        weight, moments = weight - ruled_out, moments - moments_out
    if weight < 1e-9 * poisson.pmf(size, size):
        return shares
    expected: Floats = np.clip(moments / weight / size, 0.0, 1.0)
    return expected / expected.sum()


def _weighed(terms: Floats, size: int) -> tuple[float, Floats]:
    """The weight of all numbers per child that add up to `size`, and the sum of each child's number over them.

    `terms[n, j]` is the weight of n rows of child j, float (size + 1, m).
    """
    before = [np.eye(1, size + 1)[0]]
    for column in terms.T:
        before.append(np.convolve(before[-1], column)[: size + 1])
    after = np.eye(1, size + 1)[0]
    moments = np.zeros(terms.shape[1])
    numbers = np.arange(size + 1)
    for child in range(terms.shape[1] - 1, -1, -1):
        others = np.convolve(before[child], after)[: size + 1]
        moments[child] = (terms[:, child] * numbers) @ others[::-1]
        after = np.convolve(after, terms[:, child])[: size + 1]
    return float(before[-1][size]), moments
