"""Local recoding written plainly over lists of code tuples: the oracle of the compiled one. Slow and short."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from anoncore.table.domain import Domain

Row = tuple[int, ...]
Span = tuple[int, int]


@dataclass
class PlainLocalRecoding:
    """A row is a tuple of codes, those of the quasi-identifiers first; `allowed` judges a class."""

    domains: Sequence[Domain]
    allowed: Callable[[list[Row]], bool]

    def height(self, a: int) -> int:
        return 1 if self.domains[a].tree is None else self.domains[a].tree.height

    def span(self, a: int, code: int, level: int) -> Span:
        """First and last code of the node that a value is at a level: the largest node not above the level."""
        tree = self.domains[a].tree
        if tree is None:
            return (code, code) if level == 0 else (0, len(self.domains[a]) - 1)
        nodes = zip(tree.first.tolist(), tree.last.tolist(), tree.level.tolist(), strict=True)
        inside = [(first, last) for first, last, at in nodes if first <= code <= last and at <= level]
        return max([(code, code), *inside], key=lambda node: node[1] - node[0])

    def size_loss(self, a: int, span: Span) -> Fraction:
        return Fraction(span[1] - span[0], max(len(self.domains[a]) - 1, 1))

    def mean_loss(self, a: int, level: int, rows: list[Row]) -> Fraction:
        return sum((self.size_loss(a, self.span(a, row[a], level)) for row in rows), Fraction(0)) / len(rows)

    def holding(self, node: Row, rows: list[Row]) -> list[list[Row]]:
        groups: dict[tuple[Span, ...], list[Row]] = defaultdict(list)
        for row in rows:
            groups[tuple(self.span(a, row[a], level) for a, level in enumerate(node))].append(row)
        return [group for group in groups.values() if self.allowed(group)]

    def nodes(self, rows: list[Row]) -> list[Row]:
        every = product(*(range(self.height(a) + 1) for a in range(len(self.domains))))
        costs = {
            (a, level): self.mean_loss(a, level, rows)
            for a in range(len(self.domains))
            for level in range(self.height(a) + 1)
        }
        return sorted(every, key=lambda node: (sum(costs[a, level] for a, level in enumerate(node)), node))

    def groups(self, rows: list[Row], most_nodes: int) -> list[list[Row]]:
        found: list[list[Row]] = []
        nodes = self.nodes(rows)
        left = sorted(rows)
        node = (0,) * len(self.domains)
        step = 0
        while left:
            if len(nodes) <= most_nodes:
                if step == len(nodes):
                    break
                node = nodes[step]
            elif step:
                above = self.next_node(node, left)
                if above is None:
                    break
                node = above
            step += 1
            for group in self.holding(node, left):
                found.append(group)
                left = [row for row in left if row not in group]
        return self.join(left, found) if left else found

    def next_node(self, node: Row, left: list[Row]) -> Row | None:
        best, chosen = None, None
        for a in range(len(node)):
            if node[a] == self.height(a):
                continue
            above = (*node[:a], node[a] + 1, *node[a + 1 :])
            added = self.mean_loss(a, above[a], left) - self.mean_loss(a, node[a], left)
            if added == 0:
                return above
            worth = (Fraction(sum(map(len, self.holding(above, left)))) / added, -added)
            if best is None or worth > best:
                best, chosen = worth, above
        return chosen

    def join(self, rest: list[Row], found: list[list[Row]]) -> list[list[Row]]:
        found = sorted(found, key=min)
        while found and not self.allowed(rest):
            added = [self.loss(group + rest) - self.loss(group) for group in found]
            rest = rest + found.pop(added.index(min(added)))
        return [*found, rest]

    def loss(self, rows: list[Row]) -> Fraction:
        """Loss of the rows as one class, summed over its cells, where each is the lowest node that holds its values."""
        total = Fraction(0)
        for a in range(len(self.domains)):
            codes = {row[a] for row in rows}
            spans = [self.span(a, min(codes), level) for level in range(self.height(a) + 1)]
            total += min(self.size_loss(a, span) for span in spans if span[0] <= min(codes) and max(codes) <= span[1])
        return total * len(rows)
