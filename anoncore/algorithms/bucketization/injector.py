"""Injector: buckets that stay diverse for an adversary who knows which values the table rules out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

import numpy as np
from pydantic import Field

from anoncore.algorithms.base import Seed
from anoncore.algorithms.bucketization.bucketization import Bucketization, bucketized_release, only_sensitive
from anoncore.base.errors import AnonymizationError, InfeasibleError
from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Bools, Int32, Int64, Words, record
from anoncore.kernels.grouping import dense_key, grouped_rows, put_at
from anoncore.kernels.injector import Rules, Types, deal_fitting, place_leftovers, valid_values
from anoncore.kernels.rounding import reaches
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata, SensitiveValues


@dataclass(frozen=True)
class NegativeRule:
    """The rule "people with these `values` of the `attributes` do not have the value `excluded`".

    If pattern and value were independent, `expected` rows would have both; `found` rows do.
    """

    attributes: tuple[str, ...]
    values: tuple[str, ...]
    excluded: str
    expected: float
    found: int

    @property
    def sentence(self) -> str:
        """The rule as text."""
        pattern = " and ".join(f"{name} = {value}" for name, value in zip(self.attributes, self.values, strict=True))
        return f"{pattern} => not {self.excluded} ({self.found} found, {self.expected:.1f} expected)"


@record
class NegativeRules:
    """The rules of a table about one sensitive attribute, without those that forbid nobody more than shorter rules do.

    `forbidden`, uint64 (n_rows, n_words), has a bit per protected value: it is set where some rule forbids the row the
    value.
    """

    rules: tuple[NegativeRule, ...]
    forbidden: Words

    def allows(self, values: Int32) -> Bools:
        """Whether each row may have each of the values, bool (n_rows, len(values))."""
        words = self.forbidden[:, values >> 6] >> (values & 63).astype(np.uint64)
        allowed: Bools = words & np.uint64(1) == 0
        return allowed


def mine_negative_rules(
    data: Microdata, attribute: str, min_confidence: float, min_expectation: float, rule_size: int
) -> NegativeRules:
    """All rules X => not s with X values of at most `rule_size` quasi-identifiers and s a protected value.

    X => not s is a rule if at least the share `min_confidence` of the rows with X lack s although more than
    `min_expectation` rows with both are expected, support(X) support(s) / n. Source: Li and Li, Injector, ICDE 2008,
    section 3.
    """
    view = data.sensitive_view(attribute)
    n_values = view.size if view.unique < 0 else view.unique
    forbidden = np.zeros((data.n_rows, -(-max(view.size, 1) // 64)), np.uint64)
    frequency = np.bincount(view.codes, minlength=view.size)[:n_values] / data.n_rows
    rules: list[NegativeRule] = []
    names = data.require_quasi_identifiers()
    for size in range(1, min(rule_size, len(names)) + 1):
        shorter = forbidden.copy()
        for attributes in combinations(names, size):
            key, first = _patterns(data, attributes)
            support = np.bincount(key)
            frequent = np.flatnonzero(support * frequency.max() > min_expectation)
            # Only patterns frequent enough to make a rule get a number; the others keep -1.
            number = np.full(len(support), -1)
            number[frequent] = np.arange(len(frequent))
            inside = (number[key] >= 0) & (view.codes < n_values)
            both = np.bincount(number[key[inside]] * n_values + view.codes[inside], minlength=len(frequent) * n_values)
            matching = both.reshape(len(frequent), n_values)
            expected = support[frequent, None] * frequency
            lacks = reaches(1 - matching / support[frequent, None], min_confidence)
            holds = lacks & (expected > min_expectation)
            rows = np.flatnonzero(number[key] >= 0)
            words = _packed(holds, forbidden.shape[1])
            forbidden[rows] |= words[number[key[rows]]]
            adds = holds & _reaches_someone(holds, number[key[rows]], shorter[rows])
            for pattern, value in np.argwhere(adds):
                row = int(first[frequent[pattern]])
                texts = tuple(data.domain[name].text(int(data.codes[name][row])) for name in attributes)
                count = int(matching[pattern, value])
                rules.append(
                    NegativeRule(attributes, texts, view.labels[value], float(expected[pattern, value]), count)
                )
    return NegativeRules(tuple(rules), forbidden)


def _patterns(data: Microdata, attributes: Sequence[str]) -> tuple[Int64, Int64]:
    """The number of each row's combination of values in the attributes, and the first row with each number."""
    key = dense_key((data.codes[name] for name in attributes), data.n_rows)
    return key, np.unique(key, return_index=True)[1]


def _reaches_someone(holds: Bools, pattern: Int64, known: Words) -> Bools:
    """Whether some row of each pattern may still have each value by the rules known so far."""
    reaches = np.zeros_like(holds)
    for value in np.flatnonzero(holds.any(axis=0)):
        free = known[:, value >> 6] >> np.uint64(value & 63) & np.uint64(1) == 0
        reaches[pattern[free], value] = True
    return reaches


def _packed(bits: Bools, n_words: int) -> Words:
    words = np.zeros((len(bits), n_words), np.uint64)
    for value in range(bits.shape[1]):
        words[:, value >> 6] |= bits[:, value].astype(np.uint64) << np.uint64(value & 63)
    return words


ATTEMPTS = 5
"""Random dealings that are tried before l counts as out of reach."""
MOST_TRIES = 5_000
"""Buckets of each size that are tried for a leftover row."""


class Injector(Bucketization):
    """Publishes two exact tables, joined by buckets that stay diverse for an adversary who knows what is impossible.

    Rules of the form "people with these values never have s" are mined from the table (see `mine_negative_rules`).
    Buckets are dealt as in Anatomy, but only of rows each of which may have the value of each other. A row that is left
    over joins a bucket that lacks its value. In the end every row has at least l valid values in its bucket. A value is
    valid for a row if it has the value in some assignment of the bucket's values to its rows that breaks no rule.

    Notes
    -----
    Assumes: the adversary knows rules that the table itself shows (a pattern of at most `rule_size` values never, or
      hardly ever, goes with a sensitive value); one sensitive attribute, none of whose values has more than n / l rows.
    Cost: rules: a grouping of the rows for every set of at most `rule_size` quasi-identifiers; then a matching inside
      each bucket.
    Use: it is known which values are impossible for whom, such as diseases of the other sex.
    Avoid: the rules are so many that they leave people fewer than l values: then there is no release.

    References
    ----------
    Li and Li, Injector: Mining background knowledge for data anonymization, ICDE 2008, sections 3 and 4;
    foreground-knowledge paper, section 5.2.

    Examples
    --------
    No woman has prostate cancer, so nobody who has it shares a bucket with a woman:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Injector
    >>> diseases = ["flu", "flu", "cold", "cold", "flu", "cold", "prostate cancer", "prostate cancer"]
    >>> people = pd.DataFrame({"sex": list("ffffmmmm"), "disease": diseases})
    >>> data = Microdata(people, roles={"sex": "quasi-identifier", "disease": "sensitive"})
    >>> (rule,) = Injector(l=2).rules(data).rules
    >>> rule.values, rule.excluded
    (('f',), 'prostate cancer')
    >>> release = Injector(l=2, seed=0).anonymize(data)
    >>> [sorted(people["sex"][release.partition.rows(bucket)]) for bucket in range(4)]
    [['f', 'f'], ['f', 'f'], ['m', 'm'], ['m', 'm']]
    """

    name = "injector"
    title = "Injector"
    source = "Li and Li, ICDE 2008, sections 3 and 4"
    summary = (
        "Like Anatomy, but nobody shares a group with values that the table itself shows to be impossible for them."
    )
    minimality = Minimality(
        Openness.OPEN,
        "Rules that say which values are impossible for whom are mined from the table itself and decide who "
        "shares a group, so the groups depend on who has which sensitive value.",
    )

    counts_rows = "its rules and groups are about single rows, of which each has one sensitive value"

    l: Annotated[int, Field(ge=2, title="l", description="Possible sensitive values of everyone in a group.")] = 2
    min_confidence: Annotated[
        float,
        Field(
            gt=0, le=1, title="Smallest confidence", description="Share of people with a pattern who lack the value."
        ),
    ] = 1.0
    min_expectation: Annotated[
        float,
        Field(
            ge=0,
            allow_inf_nan=False,
            title="Smallest expectation",
            description="More people with pattern and value must be expected for a rule (rows).",
        ),
    ] = 0.9
    rule_size: Annotated[
        int, Field(ge=1, title="Rule size", description="Largest number of attributes in a rule's pattern.")
    ] = 2
    seed: Seed = None

    def rules(self, data: Microdata) -> NegativeRules:
        """The negative rules that these parameters find in a table.

        Parameters
        ----------
        data : Microdata
            The table.

        Returns
        -------
        NegativeRules
            The rules, and which values they forbid to whom.
        """
        name = only_sensitive(data, self.title)
        return mine_negative_rules(data, name, self.min_confidence, self.min_expectation, self.rule_size)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        name = only_sensitive(data, self.title)
        progress(0.1, "Mining negative rules")
        rules = self.rules(data)
        progress(0.5, "Dealing rows into groups")
        view = data.sensitive_view(name)
        _require_assignable(view, rules, self.l)
        partition = self._partition(data, view, rules)
        progress(0.9, "Matching every group")
        if (fewest_valid_values(partition, view, rules) < self.l).any():
            raise AnonymizationError(
                f"{self.title} broke its promise: a group leaves someone fewer than {self.l} values."
            )
        forbidden = int((~rules.allows(np.arange(view.size, dtype=np.int32))).sum())
        notes = (
            f"{len(rules.rules):,} negative rules forbid {forbidden:,} pairs of a person and a value; in every group "
            f"everyone has at least {self.l} values that no rule forbids.",
        )
        return bucketized_release(self, data, name, partition, notes)

    def _partition(self, data: Microdata, view: SensitiveValues, rules: NegativeRules) -> Partition:
        rng = np.random.default_rng(self.seed)
        for _ in range(ATTEMPTS):
            bucket, lost = self._dealt(data, view, rules, rng)
            if lost == 0:
                return Partition(bucket)
        raise InfeasibleError(
            f"l = {self.l} was not reached in {ATTEMPTS} attempts: {lost:,} rows find no group in which the negative "
            f"rules leave everyone {self.l} values of '{view.attribute}'; choose a smaller l or a larger smallest "
            "expectation, which gives fewer rules."
        )

    def _dealt(
        self, data: Microdata, view: SensitiveValues, rules: NegativeRules, rng: np.random.Generator
    ) -> tuple[Int32, int]:
        """The bucket of every row, and the number of rows that fit into none. The most restricted are dealt first."""
        shuffled = data.canonical_order[rng.permutation(data.n_rows)]
        types, of_row, order = _types(view, rules, rng)
        sizes = np.bincount(of_row)
        dealt, over = deal_fitting(types, sizes, order, view.unique, self.l, rng.permutation(view.size))
        # Dealing decides by type how many rows go where; which row of a type it is, the shuffled order decides.
        by_type = shuffled[np.argsort(of_row[shuffled], kind="stable")]
        asked = np.concatenate([dealt.ravel(), over])
        rows = put_at(np.argsort(asked, kind="stable"), by_type)
        bucket = np.full(data.n_rows, -1, dtype=np.int32)
        bucket[rows[: dealt.size]] = np.repeat(np.arange(len(dealt), dtype=np.int32), self.l)
        leftovers = rows[dealt.size :]
        if len(dealt) == 0:
            return bucket, len(leftovers)
        first_try = rng.integers(0, len(dealt), len(leftovers))
        allowed = Rules(view.codes, rules.forbidden, view.unique)
        lost = place_leftovers(bucket, len(dealt), leftovers, first_try, allowed, self.l, MOST_TRIES)
        return bucket, lost


def _types(view: SensitiveValues, rules: NegativeRules, rng: np.random.Generator) -> tuple[Types, Int64, Int64]:
    """The types of rows, the type of each row, and the types with the most restricted ones first.

    Rows are of one type if they have the same sensitive value and the rules forbid them the same values.
    """
    words = np.column_stack([view.codes.astype(np.uint64), rules.forbidden])
    distinct, of_row = np.unique(words, axis=0, return_inverse=True)
    value, forbidden = distinct[:, 0].astype(np.int32), np.ascontiguousarray(distinct[:, 1:])
    # How many values are forbidden to a type: the more, the fewer buckets can take it.
    burden = np.bitwise_count(forbidden).sum(axis=1, dtype=np.int64)
    order = np.lexsort((rng.random(len(burden)), -burden))
    of_value, value_start = grouped_rows(value[order], view.size)
    return Types(value, forbidden, order[of_value], value_start), of_row.ravel(), order


def _require_assignable(view: SensitiveValues, rules: NegativeRules, l: int) -> None:
    """Raise InfeasibleError where the rules leave a value too few rows, or a row too few values."""
    values = np.arange(view.size, dtype=np.int32)
    allowed = rules.allows(values)
    counts = np.bincount(view.codes, minlength=view.size)
    short = np.flatnonzero(allowed.sum(axis=0) < counts)
    if len(short):
        value = int(short[0])
        raise InfeasibleError(
            f"The negative rules leave only {int(allowed[:, value].sum()):,} people who may have "
            f"{view.labels[value]!r}, but {counts[value]:,} have it; choose a larger smallest confidence, at best 1."
        )
    possible = allowed.sum(axis=1)
    if view.unique < 0 and possible.min() < l:
        feasible = int(possible.min())
        raise InfeasibleError(
            f"l = {l} is not possible: the negative rules leave {int((possible < l).sum()):,} people fewer than {l} "
            f"values of '{view.attribute}'; "
            + (f"choose l at most {feasible} or " if feasible > 1 else "choose ")
            + "a larger smallest expectation or a smaller rule size, which give fewer rules.",
            nearest=feasible if feasible > 1 else None,
        )


def fewest_valid_values(partition: Partition, view: SensitiveValues, rules: NegativeRules) -> Int64:
    """The smallest number of valid values of a row, for every bucket, int64 (n_buckets,).

    A value is valid for a row if the row has it in some assignment of the bucket's values to its rows that breaks no
    rule. A bucket without any such assignment gets -1. The values of a bucket must all be different.
    """
    fewest: Int64 = valid_values(partition.order, partition.starts, view.codes, rules.forbidden)
    return fewest
