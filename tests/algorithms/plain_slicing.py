"""Slicing as the paper writes it, in plain Python and fractions: every split checks the whole table again."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from fractions import Fraction

from anoncore import Microdata
from tests.algorithms.plain_mondrian import PlainMondrian

TOLERANCE = Fraction(1, 10**9)
Rows = list[int]


class PlainSlicing:
    """`columns` hold attribute names; `links` what two columns that overlap agree on."""

    def __init__(
        self, data: Microdata, columns: Sequence[Sequence[str]], l, distinct, retry=True, links=(), sensitive=None
    ):
        self.data, self.l, self.distinct, self.retry = data, l, distinct, retry
        self.sensitive = data.sensitive[0] if sensitive is None else sensitive
        self.names = data.quasi_identifiers
        known = set(self.names)
        self.parts = [
            (sorted(known & set(part)), self.sensitive in part, power)
            for power, parts in ((1, columns), (-1, links))
            for part in parts
        ]
        protected = data.sensitive_values.get(self.sensitive)
        texts = data.domain[self.sensitive].texts[data.codes[self.sensitive]]
        wanted = None if protected is None else set(map(str, protected))
        self.values = [text if wanted is None or text not in wanted else "protected" for text in texts]
        self.protected = set(self.values) if wanted is None else {"protected"}
        domains = [data.domain[name] for name in self.names]
        self.rows = [tuple(int(data.codes[name][row]) for name in data.attributes) for row in range(data.n_rows)]
        self.mondrian = PlainMondrian(domains, lambda side: True)
        self.order = sorted(range(data.n_rows), key=lambda row: [int(data.codes[name][row]) for name in content(data)])

    def cell(self, row: int, part) -> tuple[int, ...]:
        return tuple(int(self.data.codes[name][row]) for name in part[0])

    def weights(self, t: int, bucket: Rows) -> Counter[str]:
        """f(t, B) D(t, B)[s] of each value s."""
        found: Counter[str] = Counter()
        for value in {self.values[row] for row in bucket}:
            product = Fraction(1)
            for part in self.parts:
                mine = [row for row in bucket if self.cell(row, part) == self.cell(t, part)]
                if part[1]:
                    mine = [row for row in mine if self.values[row] == value]
                share = Fraction(len(mine), len(bucket))
                if share == 0:
                    product = Fraction(0)
                    break
                product *= share if part[2] > 0 else 1 / share
            if product:
                found[value] += product
        return found

    def probabilities(self, t: int, buckets: Sequence[Rows]) -> dict[str, Fraction]:
        """p(t, s)."""
        total: Counter[str] = Counter()
        for bucket in buckets:
            total.update(self.weights(t, bucket))
        return {value: weight / sum(total.values()) for value, weight in total.items()}

    def holds(self, buckets: Sequence[Rows]) -> bool:
        """The diversity check of figure 2, by the definition."""
        for t in range(self.data.n_rows):
            p = self.probabilities(t, buckets)
            if self.distinct and len(p) < self.l:
                return False
            limit = 1 / Fraction(self.l) + TOLERANCE
            if not self.distinct and any(p.get(value, 0) > limit for value in self.protected):
                return False
        return True

    def splits(self, bucket: Rows) -> Iterator[list[Rows]]:
        """Mondrian's median cuts, widest attribute first."""
        codes = [tuple(self.data.codes[name][row] for name in self.names) for row in bucket]
        order = {row: place for place, row in enumerate(self.order)}
        widths = [self.mondrian.width(codes, a) for a in range(len(self.names))]
        for a in sorted(range(len(self.names)), key=lambda a: -widths[a]):
            if widths[a] == 0:
                return
            column = self.data.codes[self.names[a]]
            ranked = sorted(bucket, key=lambda row: (column[row], order[row]))
            n = len(bucket)
            value = column[ranked[n // 2]]
            below, up_to = (sum(column[row] < value for row in bucket), sum(column[row] <= value for row in bucket))
            clean = below if min(below, n - below) >= min(up_to, n - up_to) else up_to
            yield [ranked[:clean], ranked[clean:]]
            if below < n // 2:
                yield [ranked[: n // 2], ranked[n // 2 :]]

    def steps(self) -> Iterator[list[Rows]]:
        """All buckets after each bucket that was taken from the queue (figure 1)."""
        queue, final = deque([list(range(self.data.n_rows))]), []
        while queue:
            bucket = queue.popleft()
            for number, sides in enumerate(self.splits(bucket)):
                if number > 0 and not self.retry:
                    continue
                if self.holds([*final, *queue, *sides]):
                    queue.extend(sides)
                    break
            else:
                final.append(bucket)
            yield [*final, *queue]


def content(data: Microdata) -> list[str]:
    """The order of attributes by which rows are told apart."""
    return [*data.quasi_identifiers, *data.sensitive, *data.insensitive]
