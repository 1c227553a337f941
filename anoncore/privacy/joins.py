"""Whether joining fragments on their common attribute undoes their privacy: the check over all joins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.errors import AnonymizationError
from anoncore.base.number import measure
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Floats, Int64, record
from anoncore.privacy.common_attribute import alike_values, common_attribute, original_counts, published_counts
from anoncore.privacy.join_blocks import Classes, Joins, RowRule, Rule, SelectivityRule, TooManyJoins, ValueRule, blocks
from anoncore.release.recoding import GroupValues
from anoncore.release.release import Release
from anoncore.requirements import DistinctDiversity
from anoncore.requirements.k_anonymity import largest_k

JOINS_SOURCE = "Zakerzadeh, Aggarwal and Barker 2014, definition 4.1 and theorems 4.1 and 5.1; 4.5 for delta"
"""Whose definition it is that fragments are safe to join."""
DELTA = 0.5
"""Least share of the ways to fill value sets that reach k, where the algorithm names none."""
MOST_SENTENCES = 3
"""Up to so many pairs of fragments, the safe joins of each pair have a sentence of their own."""


@dataclass(frozen=True)
class JoinSummary(Result):
    """What all joins of one class each of certain fragments have.

    None stands for what is not known: of three and more fragments there may be too many joins to look at.

    Attributes
    ----------
    fragments : tuple of str
        Names of the fragments that are joined.
    n_joins : int
        Joins of one class of each of them, empty ones included.
    n_broken : int or None
        Joins that violate k, or delta where classes publish sets of values.
    n_uniform : int or None
        Joins that have fewer than l different values.
    lowest : float or None
        Rows of the smallest join that is not empty; the smallest eta where classes publish sets of values.
    n_linked : int or None
        Joins that are not empty; of two fragments only.
    fewest_values : int or None
        Fewest different values of a join that is not empty; of two fragments only.
    largest_share : float or None
        Largest share of one value in the rows of a join, real and fake; of two fragments only.
    lowest_diversity : float or None
        Smallest exp(entropy) of the values in the rows of a join; of two fragments only.

    Notes
    -----
    Of three and more fragments, `n_broken`, `n_uniform` and `lowest` may leave out a join whose common values are those
    of fewer of its classes: it has at least the rows and as many values as their join, which is counted where these
    fragments are joined. Whether any join is unsafe is exact, but not how many joins of three and more fragments are.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import VerticalFragmentation
    >>> people = pd.DataFrame({"age": [21, 22, 41, 42], "zip": list("ABBA"), "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"})
    >>> method = VerticalFragmentation(k=2, attribute_fragments=[["age"], ["zip"]], enforce="naive")
    >>> release = method.anonymize(data)
    >>> (summary,) = privacy.joins(release, k=5).joins
    >>> summary.n_joins, summary.n_linked, summary.n_broken, summary.lowest
    (4, 2, 2, 4.0)
    """

    fragments: tuple[str, ...]
    n_joins: int
    n_broken: int | None
    n_uniform: int | None
    lowest: float | None
    n_linked: int | None = None
    fewest_values: int | None = None
    largest_share: float | None = None
    lowest_diversity: float | None = None

    @property
    def holds(self) -> bool:
        """Whether all of them are known to be safe."""
        return self.n_broken == 0 and self.n_uniform == 0


@dataclass(frozen=True)
class JoinCheck(Result):
    """Whether the joins of the classes of every two or more fragments keep what is asked of them.

    Attributes
    ----------
    common : str
        The attribute on which the fragments are joined.
    k : int
        Fewest rows of a join that is not empty.
    l : int
        Fewest different values in a join; nothing is asked where it is 1.
    delta : float or None
        Least share of the ways to fill the published value sets that reach k rows; None where classes publish their
        values row by row.
    joins : tuple of JoinSummary
        One entry per set of two or more fragments.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import VerticalFragmentation
    >>> people = pd.DataFrame({"age": [21, 22, 41, 42], "zip": list("ABBA"), "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"})
    >>> method = VerticalFragmentation(k=2, attribute_fragments=[["age"], ["zip"]], enforce="naive")
    >>> release = method.anonymize(data)
    >>> check = privacy.joins(release, k=5)
    >>> check.common, check.holds
    ('disease', False)
    >>> print(check.sentences[0])
    Of 4 joins of groups of fragment 1 and fragment 2 on 'disease' 2 break at least 5 rows.
    """

    common: str
    k: int
    l: int
    delta: float | None
    joins: tuple[JoinSummary, ...]

    @property
    def holds(self) -> bool:
        """Whether no join breaks k, delta or l."""
        return all(one.holds for one in self.joins)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The result in sentences for people."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        asks = f"at least {self.k:,} rows" if self.delta is None else f"eta of at least {self.delta:g}"
        pairs = [summary for summary in self.joins if summary.holds and summary.n_linked and summary.lowest is not None]
        together = len(pairs) > MOST_SENTENCES
        for summary in sorted(self.joins, key=lambda summary: summary.holds):
            names = " and ".join(summary.fragments)
            if summary.n_broken is None or summary.n_uniform is None:
                yield f"Joins of groups of {names} on '{self.common}' are too many to look at one by one."
            elif not summary.holds:
                parts = [f"{summary.n_broken:,} break {asks}"] if summary.n_broken else []
                parts += [f"{summary.n_uniform:,} have fewer than {self.l} values"] if summary.n_uniform else []
                yield f"Of {summary.n_joins:,} joins of groups of {names} on '{self.common}' {' and '.join(parts)}."
            elif summary.n_linked and summary.lowest is not None and not together:
                reached = f"{summary.lowest:,.0f} rows" if self.delta is None else f"eta {summary.lowest:.4g}"
                values = f" and {summary.fewest_values} values" if self.l > 1 else ""
                yield (
                    f"Each of the {summary.n_linked:,} joins of groups of {names} on '{self.common}' that are not "
                    f"empty has {asks}; the smallest has {reached}{values}."
                )
        if self.holds and not any(summary.n_linked for summary in self.joins):
            n_joins = sum(summary.n_joins for summary in self.joins if len(summary.fragments) == 2)
            yield (
                f"All {n_joins:,} joins of groups of two of the fragments on '{self.common}' are empty: no value "
                "stands in groups of more than one fragment."
            )
        if together:
            smallest = min(summary.lowest for summary in pairs if summary.lowest is not None)
            n_linked = sum(summary.n_linked or 0 for summary in pairs)
            yield (
                f"Each of the {n_linked:,} joins of groups of two of the fragments on "
                f"'{self.common}' that are not empty has {asks}; the smallest has "
                f"{f'{smallest:,.0f} rows' if self.delta is None else f'eta {smallest:.4g}'}."
            )
        lowest = min(
            (summary.lowest_diversity for summary in self.joins if summary.lowest_diversity is not None), default=np.inf
        )
        if self.l > 1 and lowest < np.inf:
            yield (
                f"Joins have at least {self.l} different values; entropy and recursive diversity hold for the real "
                f"rows of each group only: joined with fake rows the smallest exp(entropy) is {lowest:.4g}."
            )


@measure(title="Joins of fragments")
@checked
def joins(
    release: Release, k: int | None = None, l: int | None = None, delta: float | None = None, published: bool = True
) -> JoinCheck:
    """Check the joins of the classes of every two or more fragments on the attribute that all of them publish.

    Joins are counted exactly, from the rows that each class has of each common value; no join is ever made.

    Parameters
    ----------
    release : Release
        A release of fragments with partitions of their own.
    k : int, optional
        Fewest rows of a join that is not empty; by default what the algorithm promises, else 2.
    l : int, optional
        Fewest different values in it; by default what the algorithm promises, else 1.
    delta : float, optional
        Least share of the ways to fill value sets that reach k rows; by default that of the algorithm, else 0.5.
    published : bool
        Whether to join the published class values; if not, the original ones.

    Returns
    -------
    JoinCheck
        What the joins of every set of fragments have.

    Raises
    ------
    ReleaseError
        Where the fragments have no common attribute.

    Notes
    -----
    Assumes: the adversary joins classes of fragments on the attribute that they share.
    Cost: one product of matrices per pair of fragments, a row per class; no join is made.
    Use: fragments with partitions of their own are published.
    Avoid: the release is one table or shares its buckets: nothing is joined there.

    References
    ----------
    Zakerzadeh, Aggarwal and Barker, vertical fragmentation, definition 4.1 and theorem 4.1; definition 4.5 for
    selectivity; theorem 5.1 for l.

    Examples
    --------
    The method gave both people of a class the same disease, so two classes join to all their 2 * 2 rows or to none:

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import VerticalFragmentation
    >>> people = pd.DataFrame({"age": [21, 22, 41, 42], "zip": list("ABBA"), "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"})
    >>> method = VerticalFragmentation(k=2, attribute_fragments=[["age"], ["zip"]], enforce="naive")
    >>> release = method.anonymize(data)
    >>> privacy.joins(release, k=4).holds, privacy.joins(release, k=5).holds
    (True, False)
    """
    setting = JoinSetting.of(release, k, l, delta)
    by_rows, by_values, countable = Joins(setting.rule), Joins(setting.value_rule), True
    summaries: list[JoinSummary] = []
    for position, counts in enumerate(setting.counts(release, published)):
        sizes = release.fragments[position].partition.sizes
        row_classes = setting.rule.classes(counts, sizes).distinct()[0]
        value_classes = setting.value_rule.classes(counts, sizes).distinct()[0]
        for subset in _subsets(position):
            summary = _summary(
                by_rows.subsets.get(subset),
                row_classes,
                by_values.subsets.get(subset),
                value_classes,
                setting,
                len(subset) == 1,
            )
            joined = [release.fragments[i] for i in (*subset, position)]
            names = tuple(part.name for part in joined)
            if len(subset) > 1 and not countable:
                summary = {"n_broken": None, "n_uniform": None, "lowest": None}
            summaries.append(JoinSummary(names, prod(part.partition.n_groups for part in joined), **summary))
        if position + 1 < len(release.fragments):
            countable &= _added(by_rows, row_classes, larger=True) and _added(
                by_values, value_classes, larger=setting.l > 1
            )
    return JoinCheck(setting.common, setting.k, setting.l, setting.delta, tuple(summaries))


def _added(joins: Joins, classes: Classes, larger: bool) -> bool:
    """Join one more fragment to all before; False where these are too many joins, and then it is added on its own."""
    try:
        joins.add(classes, larger)
    except TooManyJoins:
        joins.add(classes, larger=False)
        return False
    return True


def _subsets(number: int) -> Iterator[tuple[int, ...]]:
    """All subsets of 0..number-1 except the empty one, small ones first."""
    for size in range(1, number + 1):
        yield from combinations(range(number), size)


@measure(title="Safe joins or an error")
@checked
def require_safe_joins(
    release: Release, k: int | None = None, l: int | None = None, delta: float | None = None
) -> JoinCheck:
    """Check the joins as `joins` does, and stop with an error where one of them is not safe.

    Parameters
    ----------
    release : Release
        A release of fragments with partitions of their own.
    k : int, optional
        As in `joins`.
    l : int, optional
        As in `joins`.
    delta : float, optional
        As in `joins`.

    Returns
    -------
    JoinCheck
        What the joins of every set of fragments have.

    Raises
    ------
    AnonymizationError
        Where a join breaks k, l or delta.
    ReleaseError
        Where the fragments have no common attribute.

    Notes
    -----
    Assumes: as `joins`.
    Cost: that of `joins`.
    Use: an unsafe release must stop a script.
    Avoid: the numbers are wanted: see `joins`.

    References
    ----------
    Zakerzadeh, Aggarwal and Barker, vertical fragmentation, definition 4.1.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import VerticalFragmentation
    >>> people = pd.DataFrame({"age": [21, 22, 41, 42], "zip": list("ABBA"), "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"})
    >>> method = VerticalFragmentation(k=2, attribute_fragments=[["age"], ["zip"]], enforce="naive")
    >>> release = method.anonymize(data)
    >>> privacy.require_safe_joins(release, k=2).holds
    True
    >>> privacy.require_safe_joins(release, k=5)
    Traceback (most recent call last):
        ...
    anoncore.base.errors.AnonymizationError: The fragments are not safe to join. ...
    """
    check = joins(release, k, l, delta)
    if not check.holds:
        raise AnonymizationError(f"The fragments are not safe to join. {check.sentences[0]}")
    return check


@record
class JoinSetting:
    """What joins are checked for: the rules that follow from the promises of the release's algorithm."""

    common: str
    k: int
    l: int
    delta: float | None
    rule: Rule
    value_rule: ValueRule

    @classmethod
    def of(
        cls, release: Release, k: int | None = None, l: int | None = None, delta: float | None = None
    ) -> JoinSetting:
        """Take what is not given from the promises of the release's algorithm.

        Raises ReleaseError where the fragments have no common attribute.
        """
        release.require_people("Joins find the rows of one person in several tables")
        common = common_attribute(release)
        if k is None:
            k = largest_k(release.promises) or 2
        if l is None:
            diverse = (one for one in release.promises if isinstance(one, DistinctDiversity))
            l = max((one.l for one in diverse if one.attribute == common), default=1)
        value_rule = ValueRule(l, alike_values(release.data, common))
        if not isinstance(release.fragments[0].recodings[common], GroupValues):
            return cls(common, k, l, None, RowRule(k), value_rule)
        if delta is None:
            delta = float(getattr(release.algorithm, "delta", DELTA))
        return cls(common, k, l, delta, SelectivityRule(k, delta), value_rule)

    def counts(self, release: Release, published: bool) -> Iterator[Int64]:
        """Rows per class value in each class, fragment by fragment, as published or as they were."""
        for fragment in release.fragments:
            yield (
                published_counts(fragment, self.common)
                if published
                else original_counts(release, fragment, self.common)
            )

    def classes(self, release: Release, published: bool) -> list[Classes]:
        """The classes of each fragment for the rule."""
        return [
            self.rule.classes(counts, fragment.partition.sizes)
            for counts, fragment in zip(self.counts(release, published), release.fragments, strict=True)
        ]


def _summary(
    known: Classes | None,
    single: Classes,
    sets: Classes | None,
    single_sets: Classes,
    setting: JoinSetting,
    pair: bool,
) -> dict[str, Any]:
    """The fields of a JoinSummary from the joins with one more fragment: by rows or eta, and by sets of values."""
    linked, broken, uniform, lowest, fewest = 0.0, 0.0, 0.0, np.inf, np.inf
    share, diversity = 0.0, np.inf
    for some, levels, weight in _joined(known, single, setting.rule):
        linked += weight[np.isfinite(levels)].sum()
        broken += weight[setting.rule.broken(levels)].sum()
        lowest = min(lowest, float(levels.min()))
        if pair and setting.delta is None:
            largest, smallest = _diversity(some.values, single.values)
            share, diversity = max(share, largest), min(diversity, smallest)
    for _, levels, weight in _joined(sets, single_sets, setting.value_rule):
        uniform += weight[setting.value_rule.broken(levels)].sum()
        fewest = min(fewest, float(levels.min()))
    fields = {"n_broken": round(broken), "n_uniform": round(uniform), "lowest": lowest if lowest < np.inf else None}
    if not pair:
        return fields
    fields |= {"n_linked": round(linked), "fewest_values": int(fewest) if fewest < np.inf else None}
    return fields if setting.delta is not None else fields | {"largest_share": share, "lowest_diversity": diversity}


def _joined(known: Classes | None, single: Classes, rule: Rule) -> Iterator[tuple[Classes, Floats, Floats]]:
    """Blocks of the known joins, with the level and the weight of each of their joins with a single class."""
    if known is None:
        return
    for block in blocks(known, single):
        known_block = known.take(block)
        yield known_block, rule.levels(known_block, single), np.outer(known_block.weight, single.weight)


def _diversity(values: Floats, others: Floats) -> tuple[float, float]:
    """Largest share of a value and smallest exp(entropy) of the joined rows, over all joins that are not empty."""
    rows = values @ others.T
    linked = rows > 0
    if not linked.any():
        return 0.0, np.inf
    most = np.zeros(rows.shape)
    logs = np.zeros(rows.shape)
    for value in range(values.shape[1]):
        joined = np.outer(values[:, value], others[:, value])
        np.maximum(most, joined, out=most)
        logs += joined * np.log(joined, out=np.zeros_like(joined), where=joined > 0)
    entropy = np.log(rows[linked]) - logs[linked] / rows[linked]
    return float((most[linked] / rows[linked]).max()), float(np.exp(entropy.min()))
