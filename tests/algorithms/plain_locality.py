"""Slow, plain handing out of rows, exchanges between classes and merging of clusters, by their definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numba
import numpy as np

from anoncore.kernels import swapping
from anoncore.kernels.attributes import CATEGORY, HIERARCHY, NUMBER, Attributes
from anoncore.kernels.dealing import SAMPLE
from anoncore.kernels.nearest import GRID
from tests.kernels.from_python import from_python

partner_of = from_python(swapping._partner)


@numba.njit  # type: ignore[untyped-decorator]
def _seeded(seed: int) -> None:
    """Begin the random numbers of compiled code."""
    np.random.seed(seed)  # noqa: NPY002


class PlainSpace:
    """The quasi-identifiers of a table, row by row: `codes` (n_rows, d)."""

    def __init__(self, attributes: Attributes, codes: np.ndarray) -> None:
        self.attributes, self.codes = attributes, codes
        self.d = len(attributes.form)

    def position(self, a: int, code: int) -> float:
        return float(self.attributes.position[self.attributes.code_start[a] + code])

    def nodes(self, a: int) -> list[tuple[int, int, int]]:
        """Lowest code, highest code and parent of every node of a hierarchy, the root first."""
        at, begin, end = self.attributes, *self.attributes.node_start[a : a + 2]
        return [(int(at.first[node]), int(at.last[node]), int(at.parent[node])) for node in range(begin, end)]

    def width(self, a: int, codes: Sequence[int]) -> float:
        """Width of the tightest region of some codes, 0 to 1."""
        if len(set(codes)) == 1:
            return 0.0
        low, high, span = min(codes), max(codes), float(self.attributes.span[a])
        if self.attributes.form[a] == NUMBER:
            return (self.position(a, high) - self.position(a, low)) / span
        if self.attributes.form[a] == CATEGORY:
            return (len(set(codes)) - 1) / span
        return min(last - first for first, last, _ in self.nodes(a) if first <= low and high <= last) / span

    def expected_width(self, a: int, codes: Sequence[int], drawn: int) -> float:
        """Expected width of so many random ones of the codes, 0 for all of them."""
        if drawn == 0 or len(set(codes)) == 1:
            return self.width(a, codes)
        n, span = len(codes), float(self.attributes.span[a])

        def inside(low: int, high: int) -> float:
            return (sum(low <= code <= high for code in codes) / n) ** drawn

        present = sorted(set(codes))
        top = present[-1]
        if self.attributes.form[a] == NUMBER:
            gaps = pairwise(present)
            return (
                sum(
                    (self.position(a, high) - self.position(a, low)) * (1 - inside(0, low) - inside(high, top))
                    for low, high in gaps
                )
                / span
            )
        if self.attributes.form[a] == HIERARCHY:
            nodes = self.nodes(a)
            size = float(nodes[0][1] - nodes[0][0])
            for first, last, parent in nodes[1:]:
                saved = nodes[parent][1] - nodes[parent][0] - (last - first)
                size -= inside(first, last) * saved
            return size / span
        met = sum(1 - (1 - codes.count(code) / n) ** drawn for code in present)
        return max(met - 1, 0.0) / span

    def spread(self, rows: Sequence[int], drawn: int) -> float:
        return sum(self.expected_width(a, self.codes[rows, a].tolist(), drawn) for a in range(self.d))

    def loss(self, rows: Sequence[int]) -> float:
        """Information loss of a class."""
        return sum(self.width(a, self.codes[rows, a].tolist()) for a in range(self.d)) * len(rows)


def first_lowest(costs: Sequence[float], slack: float = 1e-9) -> int:
    """The first that is lower than the best of those before it by more than rounding."""
    best = 0
    for i in range(1, len(costs)):
        if costs[i] < costs[best] - slack * abs(costs[best]):
            best = i
    return best


class PlainDealing:
    """Rows with buckets, handed out to classes that say how many of every bucket they take."""

    def __init__(self, space: PlainSpace, bucket: np.ndarray) -> None:
        self.space, self.bucket = space, bucket
        self.group = np.full(len(bucket), -1)

    def hand_out(self, rows: list[int], slots: list[int], first: int, end: int) -> None:
        """Halve the classes until each has its rows; `rows` and `slots` stand bucket by bucket."""
        if end - first == 1:
            self.group[rows] = first
            return
        middle = (first + end) // 2
        held = {b: [row for row in rows if self.bucket[row] == b] for b in dict.fromkeys(self.bucket[rows].tolist())}
        quota, at = {}, 0
        for b, mine in held.items():
            quota[b] = sum(slot < middle for slot in slots[at : at + len(mine)])
            at += len(mine)
        drawn = tuple(
            0 if n_classes == 1 else max(len(rows) // (end - first), 2) for n_classes in (middle - first, end - middle)
        )
        if len(rows) <= 2 * SAMPLE:
            a = self.best(held, quota, drawn)
        else:
            a = self.best(*self.sampled(rows, held, quota), drawn)
        left, right = self.divided(held, quota, a)
        self.hand_out(left, [slot for slot in slots if slot < middle], first, middle)
        self.hand_out(right, [slot for slot in slots if slot >= middle], middle, end)

    def sampled(
        self, rows: list[int], held: dict[int, list[int]], quota: dict[int, int]
    ) -> tuple[dict[int, list[int]], dict[int, int]]:
        """Every n-th row, and quotas in proportion; what rounding leaves over is owed to the next bucket."""
        step, chosen = len(rows) // SAMPLE, set(rows[:: len(rows) // SAMPLE])
        assert step >= 2
        fewer = {b: [row for row in mine if row in chosen] for b, mine in held.items()}
        fewer = {b: mine for b, mine in fewer.items() if mine}
        taken, owed = {}, 0.5
        for b, mine in fewer.items():
            owed += quota[b] / len(held[b]) * len(mine)
            taken[b] = min(int(owed), len(mine))
            owed -= taken[b]
        return fewer, taken

    def divided(self, held: dict[int, list[int]], quota: dict[int, int], a: int) -> tuple[list[int], list[int]]:
        """Of every bucket the lowest rows by attribute a on the left; a bucket that is divided stays sorted."""
        left, right = [], []
        for b, mine in held.items():
            if 0 < quota[b] < len(mine):
                mine.sort(key=lambda row: self.space.codes[row, a])
            left += mine[: quota[b]]
            right += mine[quota[b] :]
        return left, right

    def best(self, held: dict[int, list[int]], quota: dict[int, int], drawn: tuple[int, ...]) -> int:
        """The attribute whose two sides have the least expected width; of several the widest, then the first."""
        every = [row for mine in held.values() for row in mine]
        widths = [
            self.space.expected_width(a, self.space.codes[every, a].tolist(), max(drawn)) for a in range(self.space.d)
        ]
        tried, costs = [], []
        while max(widths) > 0:
            a = next(a for a, width in enumerate(widths) if width >= max(widths) * (1 - 1e-9))
            widths[a] = -1.0
            left, right = self.divided(held, quota, a)
            if not left or not right:
                return a
            tried.append(a)
            costs.append(
                len(left) * self.space.spread(left, drawn[0]) + len(right) * self.space.spread(right, drawn[1])
            )
        return tried[first_lowest(costs)] if tried else 0


def plain_exchanges(
    space: PlainSpace,
    group: np.ndarray,
    by_bucket: swapping.ClassesByBucket,
    trials: swapping.Trials,
    excess: Callable[[list[int]], float],
) -> tuple[np.ndarray, float]:
    """The classes after every exchange that lowers the excess of two classes or, at the same one, their loss."""
    _seeded(trials.seed)
    group = group.copy()
    members = [np.flatnonzero(group == c).tolist() for c in range(group.max() + 1)]
    place = np.empty(len(group), dtype=int)
    place[by_bucket.rows] = np.arange(len(group))
    for trial in range(trials.per_row):
        for row in range(len(group)):
            c = group[row]
            over = excess(members[c])
            if trials.only_excess and over == 0:
                continue
            first, end = by_bucket.starts[by_bucket.bucket[row] :][:2].tolist()
            partner = partner_of(int(place[row]), first, end, over > 0 and trial % 2 == 0, trials.window)
            if partner < 0 or group[by_bucket.rows[partner]] == c:
                continue
            other = int(by_bucket.rows[partner])
            e = group[other]
            new_c = [other if member == row else member for member in members[c]]
            new_e = [row if member == other else member for member in members[e]]

            def cost(*classes: list[int]) -> float:
                return sum(space.loss(one) for one in classes) + 1e6 * sum(excess(one) for one in classes)

            if cost(new_c, new_e) < cost(members[c], members[e]) - 1e-9 and (
                space.loss(new_c) + space.loss(new_e) < cost(members[c], members[e]) - 1e-9
            ):
                members[c], members[e], group[row], group[other] = new_c, new_e, e, c
    return group, sum(excess(one) for one in members)


def plainly_merged(
    space: PlainSpace,
    centers: np.ndarray,
    sizes: list[int],
    counts: list[np.ndarray],
    excess: Callable[[np.ndarray, int], float],
    reach: int,
) -> list[int]:
    """Each cluster's survivor once the worst cluster was merged with the nearest of its neighbours, and so on.

    The neighbours are those within `reach` in number. `centers` (n_clusters, d): numbers as shares of their width, and
    categories as codes. `excess(counts, size)`: by how much a cluster exceeds what is allowed.
    """
    into = list(range(len(sizes)))
    numbers = space.attributes.form == NUMBER
    while len(set(into)) > 1:
        left = [c for c in range(len(sizes)) if into[c] == c]
        over = {c: excess(counts[c], sizes[c]) for c in left}
        worst = max(left, key=lambda c: over[c])
        if over[worst] == 0:
            break
        near = [c for c in left if c < worst][::-1][:reach] + [c for c in left if c > worst][:reach]

        def apart(c: int, worst: int = worst) -> float:
            total = 0.0
            for a in range(space.d):
                here, there = centers[worst, a], centers[c, a]
                total += abs(here - there) if numbers[a] else space.width(a, [int(here), int(there)])
                if space.attributes.form[a] == CATEGORY and here != there:
                    total += 1.0 - space.width(a, [int(here), int(there)])
            return float(np.rint(total * GRID))

        nearest = min(near, key=apart)
        for a in range(space.d):
            if numbers[a]:
                total = centers[worst, a] * sizes[worst] + centers[nearest, a] * sizes[nearest]
                centers[nearest, a] = total / (sizes[worst] + sizes[nearest])
            elif sizes[worst] > sizes[nearest]:
                centers[nearest, a] = centers[worst, a]
        counts[nearest] = counts[nearest] + counts[worst]
        sizes[nearest] += sizes[worst]
        into = [nearest if survivor == worst else survivor for survivor in into]
    return into
