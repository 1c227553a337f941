"""SABRE: buckets of close sensitive values, and classes that draw from every bucket in proportion."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Algorithm, ClassSize, Seed, generalized_release
from anoncore.algorithms.bucketization.bucketization import only_sensitive
from anoncore.algorithms.closeness.locality import GroundDistance, Places, QuasiSpace
from anoncore.base.progress import Progress
from anoncore.base.shared_work import digest, shared
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.kernels.grouping import starts_of
from anoncore.kernels.proportions import Proportions, halve, worst_distance
from anoncore.kernels.rounding import lies_above
from anoncore.kernels.sensitive_space import EQUAL, ORDERED, Cells, find_fragmentation
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import KAnonymity, Requirement, TCloseness
from anoncore.requirements.t_closeness import Ground, ground_reference
from anoncore.table.domain import Tree
from anoncore.table.microdata import Microdata, SensitiveValues


@record
class Buckets:
    """A sensitive attribute cut into runs of values: bucket b has the codes `begins[b]` to `begins[b + 1]` - 1."""

    values: SensitiveValues
    begins: Int64
    proportions: Proportions

    @classmethod
    def within(cls, data: Microdata, values: SensitiveValues, ground: Ground, bound: float) -> Buckets:
        """The greedy buckets whose proportional draws stay within `bound` of the table.

        As long as the bound is exceeded, the bucket is split that lowers it most: a range of the attribute's order at
        any value, or under the hierarchical distance a subtree into its children. Raises DataError for a hierarchical
        distance without a hierarchy.
        """
        reference = ground_reference(data, values, ground)
        tree = data.domain[values.attribute].tree
        if ground == "hierarchical" and values.unique < 0 and tree is not None:
            begins = _subtrees(tree, reference, values.size, bound)
        elif ground == "interval" and values.unique < 0 and values.size > 1:
            begins = _near_values(reference[: values.size], data.domain[values.attribute].shares, bound)
        else:
            kind = EQUAL if ground != "ordered" or values.unique >= 0 else ORDERED
            begins = _ranges(values, kind, bound)
        return cls(values, begins, _proportions(reference, values.size, begins, ground))

    @property
    def n_buckets(self) -> int:
        """Number of buckets."""
        return len(self.begins) - 1

    @property
    def of_row(self) -> Codes:
        """Bucket of every row, int32 (n_rows,)."""
        of_code = np.repeat(np.arange(self.n_buckets, dtype=np.int32), np.diff(self.begins))
        return of_code[self.values.codes]

    @property
    def counts(self) -> Int64:
        """Rows per bucket, int64 (n_buckets,)."""
        return np.bincount(self.of_row, minlength=self.n_buckets)

    def worst_distance(self, counts: Int64) -> float:
        """Largest EMD of a class with these counts per bucket, whichever rows it takes."""
        return float(worst_distance(self.proportions, np.asarray(counts, np.int64)))


def _ranges(values: SensitiveValues, kind: int, bound: float) -> Int64:
    """Where the ranges of codes begin; they are the fragmentation of a space with a single axis."""
    counts = np.bincount(values.codes, minlength=values.size)
    present = np.flatnonzero(counts)
    cells = Cells(
        present[:, None].astype(np.int32),
        counts[present] / counts.sum(),
        np.array([values.size], np.int64),
        np.array([kind], np.int64),
    )
    _, tree, _ = find_fragmentation(cells, np.array([bound], np.float64))
    cuts = tree[tree[:, 2] >= 0, 3] + 1
    return np.concatenate(([0], np.sort(cuts), [values.size]))


def _near_values(counts: Floats, place: Floats, bound: float) -> Int64:
    """Where the ranges of values begin that are left after cutting, from all in one, always where the bound falls most.

    `place` float (m,): where each value lies between 0 and 1. A class has its exact share of a range, at worst all of
    it at the range's farther end.
    """
    share = counts / counts.sum()
    mass, moment = np.append(0.0, np.cumsum(share)), np.append(0.0, np.cumsum(share * place))

    def spread(begin: Int64, end: Int64) -> Floats:
        held, mean = mass[end] - mass[begin], moment[end] - moment[begin]
        farthest: Floats = np.maximum(np.maximum(mean - held * place[begin], held * place[end - 1] - mean), 0.0)
        return np.where(end - begin > 1, farthest, 0.0)

    def best_cut(begin: int, end: int) -> tuple[float, int]:
        """What the best cut of a range takes off the bound, and before which value it is."""
        cuts = np.arange(begin + 1, end)
        left = spread(np.full(len(cuts), begin), cuts) + spread(cuts, np.full(len(cuts), end))
        whole = float(spread(np.array([begin]), np.array([end]))[0])
        return whole - float(left.min()), int(cuts[left.argmin()])

    cut_of = {(0, len(counts)): best_cut(0, len(counts))}
    begins = [0, len(counts)]
    while lies_above(float(spread(np.array(begins[:-1]), np.array(begins[1:])).sum()), bound) and cut_of:
        begin, end = max(cut_of, key=lambda one: cut_of[one][0])
        cut = cut_of.pop((begin, end))[1]
        begins = sorted([*begins, cut])
        cut_of |= {(a, b): best_cut(a, b) for a, b in ((begin, cut), (cut, end)) if b - a > 1}
    return np.array(begins, np.int64)


def _subtrees(tree: Tree, reference: Floats, size: int, bound: float) -> Int64:
    """Where the subtrees begin that are left after splitting, from the root down, always the one whose bound falls
    most.
    """
    open_nodes = {0: _subtree_bound(tree, 0, reference, size)}
    while lies_above(sum(open_nodes.values()), bound):
        best, lowest, parts = -1, np.inf, {}
        for node, own in open_nodes.items():
            children = tree.children_of(node).tolist()
            if own > 0 and children:
                below = {child: _subtree_bound(tree, child, reference, size) for child in children}
                if sum(below.values()) - own < lowest:
                    best, lowest, parts = node, sum(below.values()) - own, below
        if best < 0:
            break
        del open_nodes[best]
        open_nodes.update(parts)
    return np.array([*sorted(int(tree.first[node]) for node in open_nodes), size], np.int64)


def _subtree_bound(tree: Tree, node: int, reference: Floats, size: int) -> float:
    """The largest distance of a class with its exact share of a subtree, whichever of its values it takes."""
    low, high = int(tree.first[node]), int(tree.last[node])
    begins = np.unique([0, low, high + 1, size])
    proportions = _proportions(reference, size, begins, "hierarchical")
    inside = int(np.searchsorted(begins, low))
    held = reference[low : high + 1].sum()
    edges = slice(proportions.edge_start[inside], proportions.edge_start[inside + 1])
    first, last = proportions.first[edges], proportions.last[edges]
    distances = [
        proportions.weight[edges]
        @ np.abs(np.where((first <= code) & (code <= last), held, 0.0) - proportions.rows[edges])
        for code in range(low, high + 1)
    ]
    return float(max(distances)) / proportions.n_rows


def _proportions(reference: Floats, size: int, begins: Int64, ground: Ground) -> Proportions:
    """The edges of the ground distance, laid out by the buckets that begin at `begins`."""
    edges = reference[size + 1 :].reshape(-1, 3)
    first, last = edges[:, 0].astype(np.int64), edges[:, 1].astype(np.int64)
    # An edge separates the codes first..last from the rest. These are some whole buckets (begin..end - 1) and part of
    # at most one further bucket (`partial`), because buckets are runs of the order or subtrees.
    before = np.concatenate(([0], np.cumsum(reference[:size]))).astype(np.int64)
    low, high = np.searchsorted(begins, first, "right") - 1, np.searchsorted(begins, last, "right") - 1
    whole_low, whole_high = begins[low] == first, begins[high + 1] == last + 1
    partial = np.where(~whole_low, low, np.where(~whole_high, high, -1))
    order = np.argsort(partial, kind="stable")
    begin = np.where(whole_low, low, low + 1)
    end = np.maximum(np.where(whole_high, high + 1, high), begin)
    probes = [_probes(reference, int(b), int(e), ground) for b, e in pairwise(begins)]
    return Proportions(
        weight=edges[order, 2].copy(),
        rows=(before[last + 1] - before[first])[order],
        n_rows=int(before[-1]),
        begin=begin[order].astype(np.int64),
        end=end[order].astype(np.int64),
        first=first[order],
        last=last[order],
        edge_start=np.searchsorted(partial[order], np.arange(len(begins))).astype(np.int64),
        probe=np.concatenate(probes),
        probe_start=starts_of(len(probe) for probe in probes),
    )


def _probes(reference: Floats, begin: int, end: int, ground: Ground) -> Int64:
    """The codes of a bucket at which the distance can be largest: its ends, its rarest value, or any leaf, by the
    ground.
    """
    if ground in ("ordered", "interval"):
        return np.unique([begin, end - 1]).astype(np.int64)
    if ground == "equal":
        return np.array([begin + int(np.argmin(reference[begin:end]))], np.int64)
    return np.arange(begin, end, dtype=np.int64)


SHARES = (1.0, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1)
"""Shares of t that the buckets may take; the rest is left for counts that do not halve evenly."""
WORTH = 0.9
"""Share of the most classes with which fewer buckets are kept: they leave more choice among neighbours."""


class Sabre(Algorithm):
    """Puts close sensitive values into buckets and gives every class its share of each bucket.

    A bucket is a range of the attribute's order, or a subtree of its hierarchy. Buckets are split greedily until any
    class that draws from them in proportion is t-close, whichever rows it takes. Then the table is halved bucket by
    bucket, again and again, as long as both halves stay t-close in the worst case; an odd count makes the halves differ
    by a row. How much of t the buckets may take is chosen so that few buckets give many classes. Classes take rows that
    are neighbours in the space of the quasi-identifiers.

    Notes
    -----
    Assumes: one sensitive attribute with an order, a hierarchy, or values that are all equally far apart; the adversary
      knows the table's distribution.
    Cost: O(n m) for m values and O(d n log n) for the classes.
    Use: t-closeness in one sensitive attribute is asked for, and information loss is to be low.
    Avoid: several sensitive attributes need protection (Stack & Deal, sensitive-space fragmentation).

    References
    ----------
    Cao, Karras, Kalnis and Tan, SABRE, VLDB Journal 20(1), 2011; t-closeness dissertation, section 2.6.5.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import Sabre
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "salary": [10, 20, 30, 40, 50, 60]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "salary": "sensitive"})
    >>> release = Sabre(t=0.2, seed=0).anonymize(data)
    >>> release.partition.sizes.tolist()
    [3, 3]
    >>> bool(privacy.emd(release, "salary").max() <= 0.2)
    True
    """

    name = "sabre"
    title = "SABRE"
    source = "Cao, Karras, Kalnis and Tan, VLDB Journal 2011; t-closeness dissertation, section 2.6.5"
    family = "generalization"
    summary = (
        "Puts close sensitive values into buckets and gives every group its share of each, so that none stands out."
    )
    minimality = Minimality(
        Openness.OPEN,
        "Groups take rows of each bucket of sensitive values that are neighbours in the quasi-identifiers, so "
        "the groups depend on who has which sensitive value.",
    )

    t: Annotated[float, Field(ge=0, le=1, title="t", description="Largest EMD from the table, 0 to 1.")] = 0.2
    ground: GroundDistance = "ordered"
    k: ClassSize = 1
    seed: Seed = None

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """t-closeness and k-anonymity."""
        return TCloseness(t=self.t, ground=self.ground, attribute=self._attribute(data)), KAnonymity(k=self.k)

    def _attribute(self, data: Microdata) -> str:
        return only_sensitive(data, self.title, "use Stack & Deal or sensitive-space fragmentation for several")

    def buckets(self, data: Microdata, share: float = 1.0) -> Buckets:
        """The buckets of a table's sensitive values.

        Parameters
        ----------
        data : Microdata
            The table.
        share : float
            The part of t that the buckets may take, above 0 and at most 1.

        Returns
        -------
        Buckets
            The buckets, whose bound on the distance is at most `share` times t.
        """
        return Buckets.within(data, data.sensitive_view(self._attribute(data)), self.ground, self.t * share)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        options: list[tuple[Buckets, Places]] = []
        for turn, share in enumerate(SHARES):
            progress(0.05 + 0.05 * turn, "Making buckets and halving")
            buckets = self.buckets(data, share)
            bucket, group = halve(buckets.proportions, buckets.counts, self.t, self.k)
            options.append((buckets, Places(bucket, group)))
        most = max(places.n_classes for _, places in options)
        best, places = next(option for option in options if option[1].n_classes >= WORTH * most)
        group = self._drawn(data, best.of_row, places, progress)
        note = f"{best.n_buckets:,} buckets of sensitive values; {places.n_classes:,} groups."
        return generalized_release(self, data, Partition(group), (note,))

    def _drawn(self, data: Microdata, bucket: Codes, places: Places, progress: Progress) -> Codes:
        """Classes of neighbours, for which it does not matter by which t and k their places were found."""

        def drawn() -> Codes:
            space = QuasiSpace.of(data, self.seed)
            group = space.hand_out(bucket, places, lambda done: progress(0.4 + 0.2 * done, "Drawing neighbours"))
            return space.refine(group, bucket, report=lambda done: progress(0.6 + 0.3 * done, "Exchanging rows"))[0]

        if self.seed is None:
            return drawn()
        return shared(data, ("sabre", self.seed, digest(bucket, places.bucket, places.group)), drawn)
