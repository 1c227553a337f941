"""Negative association rules: people with these values never have that sensitive value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.kernels.arrays import Words
from anoncore.kernels.rounding import reaches
from anoncore.table.microdata import Microdata


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


@dataclass(frozen=True, eq=False)
class NegativeRules:
    """The rules of a table about one sensitive attribute, without those that forbid nobody more than shorter rules do.

    `forbidden`, uint64 (n_rows, n_words), has a bit per protected value: it is set where some rule forbids the row the
    value.
    """

    rules: tuple[NegativeRule, ...]
    forbidden: Words

    def allows(self, values: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Whether each row may have each of the values, bool (n_rows, len(values))."""
        words = self.forbidden[:, values >> 6] >> (values & 63).astype(np.uint64)
        allowed: npt.NDArray[np.bool_] = words & np.uint64(1) == 0
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
    forbidden = np.zeros((data.n_rows, -(-max(view.size, 1) // 64)), dtype=np.uint64)
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


def _patterns(data: Microdata, attributes: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The number of each row's combination of values in the attributes, and the first row with each number."""
    key = np.zeros(data.n_rows, dtype=np.int64)
    for name in attributes:
        key = pd.factorize(key * len(data.domain[name]) + data.codes[name])[0].astype(np.int64)
    return key, np.unique(key, return_index=True)[1]


def _reaches_someone(
    holds: npt.NDArray[np.bool_], pattern: npt.NDArray[np.int64], known: Words
) -> npt.NDArray[np.bool_]:
    """Whether some row of each pattern may still have each value by the rules known so far."""
    reaches = np.zeros_like(holds)
    for value in np.flatnonzero(holds.any(axis=0)):
        free = known[:, value >> 6] >> np.uint64(value & 63) & np.uint64(1) == 0
        reaches[pattern[free], value] = True
    return reaches


def _packed(bits: npt.NDArray[np.bool_], n_words: int) -> Words:
    words = np.zeros((len(bits), n_words), dtype=np.uint64)
    for value in range(bits.shape[1]):
        words[:, value >> 6] |= bits[:, value].astype(np.uint64) << np.uint64(value & 63)
    return words
