"""The worked examples that the papers print as tables, run through the library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import comb

import numpy as np

from anoncore import Hierarchy, Microdata, Partition, attacks
from anoncore.algorithms import Anatomy, Mondrian, Slicing
from anoncore.algorithms.base import generalized_release
from anoncore.algorithms.slicing.slicing import achieved_diversity
from anoncore.datasets import published_groups, table
from anoncore.datasets.rothko_synthetic import load_rothko
from anoncore.kernels.rounding import reaches
from anoncore.privacy.selectivity import versions
from anoncore.requirements import KAnonymity
from tests.algorithms.plain_slicing import PlainSlicing
from tests.papers.findings import Statements, listed
from tests.privacy.releases import builtin, generalized, sliced

NEAR = 1e-6
SHORT = 0.7
"""An epsilon at which signatures of one or two rows count as frequent (the examples have six rows)."""
ADULT_VALUES = {
    "age": 74,
    "workclass": 8,
    "education": 16,
    "education-num": 16,
    "marital-status": 7,
    "occupation": 14,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "native-country": 41,
    "salary-class": 2,
}


def slicing(said: Statements) -> None:
    """Table 1 and what figures 1 and 2 make of it; table 2."""
    data, groups = builtin("slicing-table-1"), published_groups("slicing-table-1")
    boxes = generalized_release(Mondrian(), data, Partition(np.array(groups))).tables()["release"]
    codes, ages = (list(dict.fromkeys(boxes[name])) for name in ("zipcode", "age"))
    said.add("table 1", "(b): zip codes 4790* and 4730*", codes == ["4790*", "4730*"], ", ".join(codes))
    as_printed = [one == other for one, other in zip(ages, ("20-52", "54-64"), strict=True)]
    cause = "our ranges are those of the rows present, of whom the youngest is 22"
    said.add("table 1", "(b): ages 20-52 and 54-64", as_printed, ", ".join(ages), cause, "the eight rows themselves")
    buckets = sliced(data, groups, [["age", "sex", "zipcode"], ["disease"]])
    worst = float(attacks.sensitive_posterior(buckets, "disease").max())
    said.add("table 1", "(c): the bucketized table is 2-diverse", worst <= 0.5 + NEAR, f"largest p(t, s) {worst:.3f}")
    apart = sliced(data, groups, [[name] for name in data.attributes])
    counts = [
        Counter(fragment.recodings[name].texts()[fragment.partition.group == 0])
        for fragment, name in zip(apart.fragments, data.attributes, strict=True)
    ]
    same = [sorted(one.values()) for one in counts] == [[1, 1, 2], [1, 3], [2, 2], [1, 1, 2]]
    said.add(
        "table 1",
        "(d) is (e): multisets per bucket are slicing with one attribute per column",
        same,
        "the same multisets from one attribute per column",
    )
    release = sliced(data, groups, [["age", "sex"], ["zipcode", "disease"]])
    found = attacks.sensitive_posterior(release, "disease")
    codes = {value: data.domain["disease"].code_of(value) for value in ("dyspepsia", "flu")}
    shares = [float(found[0, code]) for code in codes.values()]
    said.add(
        "table 1",
        "(f): t1 = (22, M, 47906) has dyspepsia or flu with 1/2 each",
        np.allclose(shares, 0.5),
        f"p(t1, s) {listed(shares)}",
    )
    said.add("table 1", "(f) is 2-diverse", float(found.max()) <= 0.5 + NEAR, f"largest p(t, s) {found.max():.3f}")
    columns = (("age", "sex"), ("zipcode", "disease"))
    for retry in (False, True):
        own = Slicing(l=2, columns=2, attribute_columns=columns, retry_splits=retry).anonymize(data)
        *_, plain = PlainSlicing(data, columns, 2, False, retry).steps()
        same = {frozenset(own.partition.rows(one).tolist()) for one in range(own.partition.n_groups)}
        how = "every attribute is tried, widest first" if retry else "only the widest attribute is tried"
        said.add(
            "figure 1",
            f"buckets are those that following the printed steps gives ({how})",
            same == {frozenset(bucket) for bucket in plain},
            f"table 1 in {own.partition.n_groups} buckets",
        )
    worst = float(attacks.sensitive_posterior(own, "disease").max())
    said.add("figure 1", "and the sliced table is l-diverse", worst <= 0.5 + NEAR, f"largest p(t, s) {worst:.3f}")
    _slicing_check(data, groups, columns, said)
    adult = table("adult").load()
    ours = {name: int(adult[name].nunique()) for name in ADULT_VALUES}
    differ = [f"{name} {ours[name]} (paper {n})" for name, n in ADULT_VALUES.items() if ours[name] != n]
    said.add(
        "table 2",
        "45,222 rows without missing values and 15 attributes",
        adult.shape == (45_222, 15),
        f"{len(adult):,} rows, {adult.shape[1]} attributes",
        by_hand=True,
    )
    said.add(
        "table 2",
        "the numbers of values per attribute",
        [ours[name] == n for name, n in ADULT_VALUES.items()],
        "; ".join(differ) or "the same",
        "the paper counts values that occur only in rows with missing ones",
        "counted in the table itself",
        by_hand=True,
    )


def _slicing_check(data: Microdata, groups: Sequence[int], columns: Sequence[Sequence[str]], said: Statements) -> None:
    """Figure 2: which l the check gives to some groupings of table 1, beside the definition followed by hand."""
    groupings = [tuple(groups), (0,) * 8, (0, 0, 1, 1, 2, 2, 3, 3), (0, 1, 0, 1, 0, 1, 0, 1), tuple(range(8))]
    same, found = [], []
    for grouping in groupings:
        release = sliced(data, grouping, [list(column) for column in columns])
        buckets = [np.flatnonzero(np.equal(grouping, one)).tolist() for one in range(max(grouping) + 1)]
        plain = PlainSlicing(data, columns, 1, False)
        largest = max(float(p) for t in range(8) for p in plain.probabilities(t, buckets).values())
        found.append(achieved_diversity(release, "disease"))
        same.append(abs(found[-1] - 1 / largest) < NEAR)
    said.add("figure 2", "a table is l-diverse if no p(t, s) exceeds 1/l", same, f"l of five groupings {listed(found)}")
    said.add(
        "figure 2",
        "line 9 refuses p(t, s) = 1/l as well",
        not reaches(found[0], 2.0),
        f"largest p(t, s) of table 1(f) {1 / found[0]:.3f}, which is allowed",
        "the definition allows equality and the paper's own 2-diverse tables have p = 1/2; the line is a slip",
        "table 1 (c) and (f)",
    )


def foreground(said: Statements) -> None:
    """Tables 1 to 3, 5, 7 and 8."""
    data = builtin("foreground-table-1")
    release = sliced(data, published_groups("foreground-table-1"), [["nationality"], ["disease"]])
    found = attacks.foreground_knowledge(release, "disease", epsilon=SHORT, draws=0)
    alex = found.group(release, 0, value="Heart Disease")
    own = Anatomy(l=2, seed=0).anonymize(data).partition.sizes.tolist()
    said.add("table 1", "six people can be published in three groups of two", own == [2, 2, 2], f"Anatomy: {own}")
    said.add(
        "table 2",
        "in the group itself Alex has heart disease with 1/2",
        alex.without_attack == 0.5,
        f"{alex.without_attack:g}",
    )
    said.add(
        "table 2", "the other groups make it much more likely", alex.probability[0] > 0.9, f"{alex.probability[0]:.4f}"
    )
    p = attacks.group_probabilities([0.1, 0.003], 1)
    said.add(
        "table 3",
        "with 0.1 for Americans and 0.003 for Japanese it is Alex rather than Bob",
        p[0] > 0.9,
        f"{p[0]:.4f} against {p[1]:.4f}",
    )
    worlds = attacks.possible_worlds([0.5, 0.5, 0.2, 0.2], 2)
    shares = np.sort(worlds.share)[::-1]
    said.add(
        "table 5",
        "the six worlds have 0.48, 0.12 four times and 0.03",
        np.abs(shares - [0.48, 0.12, 0.12, 0.12, 0.12, 0.03]) < 0.006,
        listed(shares, 4),
    )
    p1 = float(attacks.group_probabilities([0.5, 0.5, 0.2, 0.2], 2)[0])
    said.add("table 5", "p(t1:x) = 0.72", abs(p1 - 0.72) < 0.01, f"{p1:.4f}: the paper adds rounded shares")
    data = builtin("foreground-table-8")
    release = sliced(data, published_groups("foreground-table-8"), [list(data.quasi_identifiers), list(data.sensitive)])
    found = attacks.foreground_knowledge(release, "X", epsilon=0.6, solver="newton", draws=0)
    true, learned = found.sets[0].true[:, 0], found.sets[0].learned[:, 0]
    said.add("table 7", "two of three with s1 have x, none with s2", np.allclose(true, [2 / 3, 0]), listed(true, 4))
    said.add(
        "table 8",
        "Newton's method finds f1 = 0.666667 and f2 = 0.000000",
        np.abs(learned - [2 / 3, 0]) < NEAR,
        listed(learned, 6),
    )


def rothko(said: Statements) -> None:
    """Figures 1, 2 and 7."""
    data = builtin("rothko-figure-2")
    tree = Hierarchy.from_nested(table("rothko-figure-2").taxonomies["nationality"])
    above = {"Chinese": "Asian", "Indian": "Asian", "Greek": "European", "French": "European"}
    found = {value: tree.path_of(value)[0] for value in above}
    said.add(
        "figure 1",
        "Asian and European nationalities below *",
        found == above,
        ", ".join(f"{one} is {other}" for one, other in found.items()),
    )
    release = Mondrian(requirements=[KAnonymity(k=3)], strict=True).anonymize(data)
    same = release.partition.group.tolist() == list(published_groups("rothko-figure-2"))
    said.add(
        "figure 2",
        "the tree splits age at 40, then the younger half by nationality",
        same,
        f"{release.partition.n_groups} regions of {release.partition.sizes.tolist()} made-up people",
    )
    frame = load_rothko(20_000, targets=["C2", "C7", "R7", "R10"])
    limits = {
        "salary": (20_000, 150_000),
        "age": (20, 80),
        "elevel": (0, 4),
        "car": (1, 20),
        "zipcode": (1, 9),
        "hyears": (1, 30),
        "loan": (0, 500_000),
    }
    said.add(
        "figure 7",
        "every attribute is uniform between its bounds",
        [_uniform(frame[name].to_numpy(), *ends) for name, ends in limits.items()],
        f"{len(limits)} attributes of 20,000 rows: bounds kept, means within 2 % of the range",
    )
    rich = frame["salary"] >= 75_000
    some = frame.loc[~rich, "commission"].between(10_000, 75_000).all()
    said.add(
        "figure 7",
        "no commission from a salary of 75,000 on, else 10,000 to 75,000",
        bool((frame.loc[rich, "commission"] == 0).all() and some),
        "all rows",
    )
    left = 0.67 * (frame["salary"] + frame["commission"]) - 0.2 * frame["loan"] - 20_000
    said.add(
        "figure 7",
        "R7 is the disposable income, C7 whether it is above 0",
        bool(np.allclose(frame["R7"], left) and ((frame["C7"] == "A") == (left > 0)).all()),
        "all rows",
    )


def vertical(said: Statements) -> None:
    """Tables 3 to 5."""
    data = builtin("fragmentation-table-3")
    release = generalized(data, published_groups("fragmentation-table-3"))
    counts = Counter(data.frame["disease"])
    said.add(
        "table 3",
        "five alike people with three diseases leave two ambiguous slots",
        release.partition.sizes.tolist() == [5] and len(counts) == 3,
        f"{5 - len(counts)} slots",
        by_hand=True,
    )
    number = versions(5, len(counts))
    said.add("table 3", "there are C(4, 2) = 6 versions", number == comb(4, 2), f"{number} by the library")
    printed = [Counter(flu=3, dyspepsia=1, pneumonia=1), Counter(flu=1, pneumonia=2, dyspepsia=2)]
    fit = [sum(one.values()) == 5 and set(one) == set(counts) for one in printed]
    text = "both printed tables are versions of it"
    said.add("table 4", text, fit, "each value once and five rows", by_hand=True)
    musk = table("musk").load()["class"].value_counts()
    stated = {"musk": 1017 + 207, "non-musk": 3983 + 1867}
    said.add(
        "table 5",
        "1,224 rows of musk and 5,850 of non-musk",
        [int(musk[name]) == n for name, n in stated.items()],
        ", ".join(f"{name} {musk[name]:,}" for name in stated),
        by_hand=True,
    )


def _uniform(values: np.ndarray, low: float, high: float) -> bool:  # type: ignore[type-arg]
    near = abs(values.mean() - (low + high) / 2) < 0.02 * (high - low)
    return bool(values.min() >= low and values.max() <= high and near)
