"""What the papers prove or claim in their text, tried on small random tables: theorems, algorithms, properties.

Each statement is held against its definition followed by hand, on tables that are small enough for that. The tables
are drawn with fixed seeds.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise, product
from math import comb, prod

import numpy as np
import pandas as pd
from scipy.stats import binom, hypergeom

from anoncore import Generalized, Microdata, Partition, Release, attacks, privacy, utility
from anoncore.algorithms import (
    Algorithm,
    Mondrian,
    RothkoSampling,
    RothkoTree,
    SensitiveSpaceFragmentation,
    Slicing,
    StackAndDeal,
    VerticalFragmentation,
)
from anoncore.algorithms.closeness.multiplicity import Multiplicity
from anoncore.algorithms.closeness.sensitive_fragmentation import SensitiveFragmentation
from anoncore.algorithms.rothko import hypothesis_tests
from anoncore.algorithms.slicing.attribute_partition import partition_attributes
from anoncore.algorithms.vertical import enforcement
from anoncore.algorithms.vertical.attribute_fragments import fragment_attributes
from anoncore.attacks.foreground import attack as foreground_attack
from anoncore.base.errors import AnonymizationError
from anoncore.privacy.join_blocks import RowRule, SelectivityRule
from anoncore.privacy.selectivity import Selectivity
from anoncore.requirements import (
    CheckSet,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    Requirement,
    TCloseness,
    VarianceDiversity,
)
from tests.algorithms.test_vertical_fragmentation_attributes import plain_greedy, random_table
from tests.algorithms.test_vertical_fragmentation_joins import all_joins, plain_eta
from tests.papers.findings import Statements, listed
from tests.papers.t_closeness import heart
from tests.privacy.releases import adult, generalized, sliced

NEAR = 1e-9
DRAWN = 25
"""Random tables for each statement."""
QUASI = ("age", "town", "job", "sex")


def people(rng: np.random.Generator, n: int, secrets: int = 1, kinds: int = 4) -> Microdata:
    """A small table of which all but the secrets are known; some rows are alike."""
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 32, n),
            "town": rng.choice(list("uvwx"), n),
            "job": rng.choice(list("abc"), n),
            "sex": rng.choice(list("fm"), n),
        }
    )
    names = [f"s{number}" for number in range(secrets)]
    for name in names:
        frame[name] = rng.integers(0, kinds, n) * 10
    roles = dict.fromkeys(QUASI, "quasi-identifier") | dict.fromkeys(names, "sensitive")
    return Microdata(frame, roles, kinds=dict.fromkeys(["age", *names], "numeric"))


def random_groups(rng: np.random.Generator, n: int, size: int) -> list[int]:
    """Buckets of about that size, dealt at random."""
    return (rng.permutation(n) // size).tolist()


def random_slicings() -> Iterator[tuple[Microdata, list[int], list[list[str]], Release]]:
    """Random tables in random buckets and columns, of which the last one has the secret."""
    rng = np.random.default_rng(1)
    for _ in range(DRAWN):
        data = people(rng, int(rng.integers(6, 40)))
        groups, names = random_groups(rng, data.n_rows, int(rng.integers(2, 8))), rng.permutation(QUASI).tolist()
        cut = int(rng.integers(0, 4))
        columns = [part for part in (names[:cut], [*names[cut:], "s0"]) if part]
        yield data, groups, columns, sliced(data, groups, columns)


def slicing(said: Statements) -> None:
    """Fact 1, and the text of sections 2, 4 and 5."""
    sums = []
    for _, _, _, release in random_slicings():
        sums.append(bool(np.allclose(attacks.sensitive_posterior(release, "s0").sum(axis=1), 1)))
    said.add("fact 1", "the probabilities of a tuple of the table sum up to 1", sums, f"{len(sums)} random tables")
    _sliced_and_others(said)
    _columns(said)
    _efficient(
        said,
        "section 4.3",
        "the sliced table is computed efficiently: four times the rows take less than the square of it, 16 times",
        Slicing(l=2, attribute_columns=(("age", "town"), ("job", "sex"), ("s0",))),
        16,
    )
    _members(said)


def _sliced_and_others(said: Statements) -> None:
    rng = np.random.default_rng(2)
    special, kept = [], []
    for _ in range(DRAWN):
        n = int(rng.integers(8, 40))
        frame = pd.DataFrame({"name": np.arange(n), "s0": rng.integers(0, 4, n)})
        data = Microdata(frame, {"name": "quasi-identifier", "s0": "sensitive"})
        groups = random_groups(rng, n, 4)
        found = attacks.sensitive_posterior(sliced(data, groups, [["name"], ["s0"]]), "s0")
        shares = pd.crosstab(pd.Series(groups), data.codes["s0"], normalize="index").to_numpy()[groups]
        special.append(bool(np.allclose(found, shares)))
    text = "bucketization is slicing with two columns, one of which is the sensitive attribute alone"
    detail = "people whom nobody is like have each value with its share of their bucket"
    said.add("section 2", text, special, detail)
    for data, _, columns, release in random_slicings():
        linked = release.linked(np.random.default_rng(0))
        for column in columns:
            before, after = (Counter(map(tuple, one[column].astype(str).to_numpy())) for one in (data.frame, linked))
            kept.append(before == after)
    said.add(
        "section 2",
        "attributes of one column keep all of their joint distribution",
        kept,
        f"{len(kept)} columns of random tables, counted after a random linking",
    )
    ranked = []
    data = adult(["age", "education", "marital-status", "sex", "workclass"], "occupation")
    data = Microdata(data.frame.head(3_000), data.roles)
    for requirement in (KAnonymity(k=5), KAnonymity(k=20), KAnonymity(k=80)):
        groups = Mondrian(requirements=[requirement]).anonymize(data).partition.group.tolist()
        apart = [[name] for name in (*data.quasi_identifiers, "occupation")]
        together = [["age", "marital-status", "workclass"], ["education", "sex", "occupation"]]
        boxes, singles, both = (
            float(utility.two_way_error(one))
            for one in (generalized(data, groups), sliced(data, groups, apart), sliced(data, groups, together))
        )
        ranked += [singles < boxes, both < singles]
    said.add(
        "section 2",
        "with the same buckets, exact values lose less than ranges, and columns of several attributes less again",
        ranked,
        "two-way errors of 3,000 rows of Adult in the classes of Mondrian with k = 5, 20 and 80",
    )


def _columns(said: Statements) -> None:
    data = adult(["age", "education", "marital-status", "sex", "race", "workclass"], "occupation")
    phi = utility.association(data)
    inside = bool(((phi.to_numpy() >= -NEAR) & (phi.to_numpy() <= 1 + NEAR)).all())
    said.add(
        "section 4.1", "the mean-square contingency coefficient lies between 0 and 1", inside, "Adult, 7 attributes"
    )
    alone = Slicing(l=2, columns=2, sensitive_column_size=1)
    two = partition_attributes(data, 2, alone.sensitive_column_size).columns
    said.add(
        "section 4.1",
        "with alpha = 1 and c = 2 slicing is bucketization",
        sorted(map(len, two)) == [1, 6] and ("occupation",) in two,
        " and ".join("{" + ", ".join(one) + "}" for one in two),
    )
    nearest = phi.loc["occupation"].drop("occupation").sort_values(ascending=False).index.tolist()
    with_best = []
    for size in (2, 3, 4):
        own = next(one for one in partition_attributes(data, 2, size).columns if "occupation" in one)
        with_best.append(set(own) == {"occupation", *nearest[: size - 1]})
    said.add(
        "section 4.1",
        "the sensitive column has the attributes that are closest to the sensitive one",
        with_best,
        f"Adult, alpha = 2, 3 and 4; the closest are {', '.join(nearest[:3])}",
    )
    unswapped = []
    for columns in (2, 3, 4):
        parts = partition_attributes(data, columns, 1).columns
        names = [name for one in parts for name in one if name != "occupation"]
        distance = 1 - phi.loc[names, names].to_numpy()
        cost = {some: float(distance[:, list(some)].min(axis=1).sum()) for some in combinations(range(6), columns - 1)}
        ours = sum(
            min(sum(1 - phi.loc[one, other] for one in part) for other in part)
            for part in parts
            if "occupation" not in part
        )
        unswapped.append(ours <= min(cost.values()) + 1e-6)
    said.add(
        "section 4.1",
        "the other columns are those of k-medoids: no choice of medoids is nearer to all attributes",
        unswapped,
        "Adult, c = 2, 3 and 4, every choice of medoids tried",
    )


def _efficient(said: Statements, label: str, text: str, model: Algorithm, most: float) -> None:
    """A statement about the seconds of a method, with 25,000 and with 100,000 rows."""
    seconds = []
    model.anonymize(people(np.random.default_rng(0), 500))
    for n in (25_000, 100_000):
        seconds.append(_seconds(model, n))
    detail = f"{seconds[0]:.2f} s for 25,000 rows, {seconds[1]:.2f} s for 100,000"
    cause = "so little is to be done that other programs of the machine decide the seconds"
    again = f"the same once more: {_seconds(model, 25_000):.2f} and {_seconds(model, 100_000):.2f} s"
    said.add(label, text, seconds[1] < most * seconds[0], detail, cause, again, timed=True)


def _seconds(model: Algorithm, n: int) -> float:
    """Processor seconds on so many rows: the least of three, as other programs can only add to them."""
    data = people(np.random.default_rng(0), n)
    found = []
    for _ in range(3):
        begun = time.process_time()
        model.anonymize(data)
        found.append(time.process_time() - begun)
    return min(found)


def _members(said: Statements) -> None:
    alone, there, most = [], [], []
    for data, groups, columns, release in random_slicings():
        found = attacks.membership(release)
        there.append(bool((found.matching_buckets >= 1).all()))
        sizes = np.bincount(groups)
        most.append(float(found.fake) <= float((sizes ** len(columns) - sizes).sum()))
        for column in columns:
            of_row = pd.Series(list(map(tuple, data.frame[column].astype(str).to_numpy())))
            unique = ~of_row.duplicated(keep=False).to_numpy()
            if unique.any():
                alone.append(bool((found.matching_buckets[unique] == 1).all()))
    text = "a tuple with a value that is unique in its column has one matching bucket"
    said.add("section 4.2", text, alone, f"{len(alone)} columns with unique values")
    said.add("section 5", "a tuple of the table has at least one matching bucket", there, f"{len(there)} random tables")
    text = "a bucket of k tuples and c columns makes at most k^c - k fake tuples"
    said.add("section 5", text, most, f"{len(most)} random tables")
    none = []
    rng = np.random.default_rng(3)
    for _ in range(DRAWN):
        data = people(rng, int(rng.integers(6, 40)))
        release = sliced(data, random_groups(rng, data.n_rows, 4), [list(QUASI), ["s0"]])
        none.append(float(attacks.membership(release, QUASI).fake) == 0)
    text = "the number of fake tuples is 0 in bucketization, for who knows the quasi-identifiers"
    said.add("section 5", text, none, f"{len(none)} random tables")
    some = Slicing(l=2, attribute_columns=(("age", "town"), ("job", "sex"), ("s0",)))
    hidden = []
    for _ in range(DRAWN):
        data = people(rng, 60)
        hidden.append(float(attacks.membership(some.anonymize(data)).fake) > 0)
    said.add(
        "section 5", "slicing with more than one column of known attributes makes some", hidden, "60 random rows each"
    )


def foreground(said: Statements) -> None:
    """Theorem 1, how attribute sets are pruned, and algorithm 1."""
    chances = []
    for epsilon, sigma in product((0.01, 0.05, 0.1, 0.2), (0.1, 0.5, 0.9)):
        n = int(np.ceil(foreground_attack.minimum_signature_rows(epsilon, sigma)))
        for p in (0.01, 0.03, 0.1, 0.3, 0.5):
            low, high = np.floor((p - epsilon) * n), np.ceil((p + epsilon) * n)
            # P(|share - p| > epsilon): strictly outside, so counts on the bound itself are inside.
            low = low - 1 if low >= (p - epsilon) * n - NEAR else low
            high = high + 1 if high <= (p + epsilon) * n + NEAR else high
            chances.append(float(binom.cdf(low, n, p) + binom.sf(high - 1, n, p)) / sigma)
    said.add(
        "theorem 1",
        "in a sample of that size the share is off by more than epsilon with a probability of sigma at most",
        np.array(chances) <= 1,
        f"by the binomial distribution at most {max(chances):.2f} sigma in {len(chances)} cases",
    )
    needed = foreground_attack.minimum_signature_rows(0.01, 0.9)
    said.add(
        "theorem 1",
        "so that with epsilon = 0.01 and sigma = 0.9 a signature needs ln(2 / sigma) / (2 epsilon^2) tuples",
        abs(needed - np.log(2 / 0.9) / (2 * 0.01**2)) < 1,
        f"{needed:,.0f} tuples",
    )
    rng = np.random.default_rng(4)
    complete, falls = [], []
    for _ in range(10):
        data = people(rng, 400)
        release = sliced(data, random_groups(rng, 400, 4), [list(QUASI), ["s0"]])
        least = int(rng.integers(15, 60)) - 0.5  # between two whole numbers of rows
        epsilon = float(np.sqrt(np.log(2 / 0.9) / 2 / least))
        found = attacks.foreground_knowledge(release, "s0", epsilon=epsilon, sigma=0.9, draws=0)
        ours = {one.attributes: sorted(one.rows.tolist()) for one in found.sets}
        for number in range(1, len(QUASI) + 1):
            for names in combinations(QUASI, number):
                rows = data.frame.groupby(list(names)).size()
                frequent = sorted(rows[rows >= least].tolist())
                complete.append(ours.get(names, []) == frequent)
                if number > 1:
                    parts = data.frame.groupby(list(names[:-1])).size()
                    falls.append(bool((rows.to_numpy() <= parts.reindex(rows.index.droplevel(-1)).to_numpy()).all()))
    text = "the signatures found are all that have enough tuples, of every attribute set"
    said.add("algorithm 1", text, complete, f"{len(complete)} attribute sets of random tables, counted plainly")
    text = (
        "a signature has no more tuples than with an attribute less, so that sets above a rare one need not be counted"
    )
    said.add("algorithm 1", text, falls, f"{len(falls)} attribute sets", by_hand=True)


def closeness(said: Statements) -> None:
    """What chapters 3 to 6 claim of Stack & Deal and of the fragmented space."""
    rng = np.random.default_rng(5)
    for label, secrets in (("section 3.6", 1), ("section 5.4", 2)):
        even, sizes, number = [], [], []
        for _ in range(DRAWN):
            data, k = people(rng, int(rng.integers(10, 60)), secrets), int(rng.integers(2, 6))
            release = StackAndDeal(k=k, seed=0).anonymize(data)
            combination = data.frame[list(data.sensitive)].astype(str).agg(" ".join, axis=1)
            counts = pd.crosstab(release.partition.group, combination).to_numpy()
            even.append(bool((np.ptp(counts, axis=0) <= 1).all()))
            sizes.append(bool(np.ptp(release.partition.sizes) <= 1 and release.partition.sizes.min() >= k))
            number.append(release.partition.n_groups == data.n_rows // k)
        what = "value" if secrets == 1 else "combination of values"
        said.add(label, "the sizes of any two classes differ by at most 1", sizes, f"{DRAWN} random tables")
        said.add(label, f"so do the frequencies of any sensitive {what}", even, f"{DRAWN} random tables")
        said.add(label, "there are floor(n / k) classes, each of k rows at least", number, f"{DRAWN} random tables")
    text = "all is done in O(n log n): four times the rows take five times as long at most"
    _efficient(said, "section 3.4", text, StackAndDeal(k=10, locality=False, seed=0), 5)
    _closest(said)
    _fragments(said)
    _conforming(said)
    _over_k(said)


def partitions(rows: list[int], k: int) -> Iterator[list[list[int]]]:
    """All partitions of the rows into classes of at least k."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for size in range(k - 1, len(rest) + 1):
        for others in combinations(rest, size):
            left = [row for row in rest if row not in others]
            if left and len(left) < k:
                continue
            for further in partitions(left, k):
                yield [[first, *others], *further]


def _closest(said: Statements) -> None:
    """Whether a partition into as many classes is closer: all of them tried."""
    rng = np.random.default_rng(6)
    best, by_value = [], []
    for _ in range(30):
        values = rng.choice([0, 10, 20, 30], 8, p=rng.dirichlet(np.full(4, 1.0)))
        if len(np.unique(values)) < 2:
            continue
        frame = pd.DataFrame({"age": np.arange(8), "s0": values})
        data = Microdata(frame, {"age": "quasi-identifier", "s0": "sensitive"}, kinds={"s0": "numeric"})
        release, ordered = (StackAndDeal(k=2, stack=one, seed=0).anonymize(data) for one in ("frequency", "value"))
        ours, theirs = (float(privacy.emd(one, "s0", ground="ordered").max()) for one in (release, ordered))
        others = [
            float(privacy.emd(generalized(data, _numbers(one, 8)), "s0", ground="ordered").max())
            for one in partitions(list(range(8)), 2)
            if len(one) == release.partition.n_groups
        ]
        best.append(ours <= min(others) + NEAR)
        by_value.append(theirs <= min(others) + NEAR)
    said.add(
        "chapter 7",
        "classes are t-close for even the smallest t for which such classes exist",
        best,
        f"{sum(best)} of {len(best)} tables of 8 rows in 4 classes",
        "the stack is in the order of frequency and not of the values, so that a class may get near values of which "
        "another gets the far ones; the ordered distance tells them apart",
        f"all partitions of 8 random rows into classes of at least 2; with the values stacked in their order "
        f"{sum(by_value)} of {len(by_value)}",
    )


def _numbers(classes: Sequence[Sequence[int]], n: int) -> list[int]:
    number = np.empty(n, dtype=int)
    for one, rows in enumerate(classes):
        number[list(rows)] = one
    return number.tolist()


def _fragments(said: Statements) -> None:
    rng = np.random.default_rng(7)
    within, bounded = [], []
    for _ in range(DRAWN):
        small = people(rng, int(rng.integers(6, 14)), 2)
        repeat, t = 3, float(rng.choice([0.5, 0.3, 0.1, 0.0]))
        frame = pd.concat([small.frame] * repeat, ignore_index=True)
        data = Microdata(frame, small.roles, kinds={name: small.domain[name].kind for name in small.attributes})
        parts = SensitiveFragmentation.search(
            Multiplicity.of(data), dict.fromkeys(data.sensitive, t), dict.fromkeys(data.sensitive, "ordered")
        )
        within.append(bool((parts.bounds <= t + NEAR).all()))
        for key in (rng.random(len(frame)), data.codes["s0"], -data.codes["s0"], data.codes["s1"], -data.codes["s1"]):
            taken: list[int] = []
            for fragment in range(parts.n_fragments):
                rows = np.flatnonzero(parts.of_row == fragment)
                taken += rows[np.argsort(key[rows], kind="stable")][: len(rows) // repeat].tolist()
            for axis, name in enumerate(parts.multiplicity.attributes):
                size = len(data.domain[name])
                p, q = (
                    np.bincount(codes, minlength=size) / len(codes)
                    for codes in (data.codes[name][taken], data.codes[name])
                )
                distance = np.abs(np.cumsum(p - q))[:-1].sum() / (size - 1) if size > 1 else 0.0
                bounded.append(
                    bool(distance <= parts.bounds[axis] + NEAR and parts.bounds[axis] <= max(t, NEAR) + NEAR)
                )
    said.add(
        "section 4.4",
        "a class that conforms to a fragmentation is as close as its aggregate bounds say",
        bounded,
        f"{len(bounded)} classes that take a third of every fragment, at random or the least or largest values",
    )
    text = "the search always ends with bounds within every t: fragments of one cell have bounds of 0"
    said.add("section 4.4", text, within, f"{len(within)} random tables, t down to 0")
    close, several = [], []
    for _ in range(10):
        data, t = people(rng, 300, 3, kinds=5), 0.25
        release = SensitiveSpaceFragmentation(t=dict.fromkeys(data.sensitive, t), seed=0).anonymize(data)
        close += [bool(privacy.emd(release, name, ground="ordered").max() <= t + NEAR) for name in data.sensitive]
        several.append(release.partition.n_groups > 10)
    said.add("section 4.5", "the method serves three attributes as well", close, "10 random tables, t = 0.25")
    said.add("section 4.5", "and makes many classes of 300 rows", several, "more than 10 of each")


def _conforming(said: Statements) -> None:
    """Whether classes with exact shares of every fragment can be had of a real table."""
    data, t = heart(), {"trestbps": 0.1, "chol": 0.1}
    exact, verified = (
        SensitiveSpaceFragmentation(t=t, sizing=sizing, seed=0).anonymize(data).partition.n_groups
        for sizing in ("exact", "verified")
    )
    said.add(
        "section 4.4.2",
        "conformance is no too strict limitation on classes (more than one class of Heart, t = 0.1)",
        exact > 1,
        f"{exact} class of 1,025 rows",
        "exact shares need as many classes as the greatest common divisor of all fragments' counts, which is 1 as soon "
        "as two of them have none in common; figure 4.8 has round numbers",
        f"classes that are dealt evenly and then verified: {verified}",
    )


def _over_k(said: Statements) -> None:
    rng = np.random.default_rng(8)
    rises = []
    for _ in range(5):
        data = people(rng, 400)
        losses = [
            float(utility.information_loss(StackAndDeal(k=k, seed=0).anonymize(data))) for k in (2, 5, 10, 25, 50)
        ]
        rises.append(all(one < other for one, other in pairwise(losses)))
    text = "information loss rises with the anonymity level"
    said.add("chapter 6", text, rises, f"random tables, k = 2, 5, 10, 25 and 50; the last {listed(losses)}")


COUNTABLE: list[tuple[Requirement, ...]] = [
    (KAnonymity(k=3),),
    (KAnonymity(k=2), DistinctDiversity(l=2)),
    (EntropyDiversity(l=1.7),),
    (FrequencyDiversity(l=1.5),),
    (KAnonymity(k=3), TCloseness(t=0.4)),
]
"""What frequency sets serve."""


def made(model: Algorithm, data: Microdata) -> Release | None:
    """A release, or None where the table does not allow it."""
    try:
        return model.anonymize(data)
    except AnonymizationError:
        return None


def rothko(said: Statements) -> None:
    """What sections 2, 3 and the appendix claim."""
    rng = np.random.default_rng(9)
    same, tiles, holds = [], [], []
    for turn in range(DRAWN):
        data, requirements = people(rng, int(rng.integers(20, 60))), COUNTABLE[turn % len(COUNTABLE)]
        split = ("median", "infogain")[turn // len(COUNTABLE) % 2]
        fields = {"requirements": requirements, "split": split, "target": "sex" if split == "infogain" else None}
        expected = made(Mondrian(**fields, strict=True), data)
        found = made(RothkoTree(**fields, memory_rows=7, frontier_memory=float(rng.choice([1e-4, 1.0]))), data)
        if expected is not None:
            same.append(found is not None and found.partition.group.tolist() == expected.partition.group.tolist())
            tiles.append(_tiles(made(RothkoTree(**fields, memory_rows=7, recoding="regions"), data), rng))
        sampled = made(RothkoSampling(**fields, memory_rows=9, sample_rows=8, alpha=0.5, seed=turn), data)
        if sampled is not None:
            holds.append(not privacy.check(sampled, requirements))
    text = "frequency sets choose the splits of the algorithm in memory, for k-anonymity and l-diversity"
    said.add("section 2", text, same, f"{len(same)} random tables: the partition of Mondrian, class by class")
    text = "the rules from the root to the leaves cover the whole domain, and no point twice"
    said.add("section 2.2", text, tiles, f"{len(tiles)} random tables, 50 points of the domain each")
    text = "what the sampling publishes always satisfies the requirements, whatever the tests let pass"
    said.add("section 3.2", text, holds, f"{len(holds)} random tables, samples of 8 rows, alpha = 0.5")
    wrong = []
    for k, n in product((10, 100, 1_000), (1_000, 5_000, 25_000)):
        least = hypothesis_tests.rows_needed(k, n, 100_000, 0.05, 2)
        wrong.append(float(hypergeom.sf(least - 1, 100_000, k - 1, n)))
    said.add(
        "section 3.1",
        "a split of which a side has less than k rows is made with a probability of alpha at most",
        np.array(wrong) <= 0.05,
        f"by the exact distribution of the sample {listed(wrong)} for k = 10, 100 and 1,000, 1,000 to 25,000 of "
        "100,000 rows",
        "the test takes the share in the sample for normal, which it is not where few rows of a side are drawn",
        "the experiment 'Exact tests for sampling'",
    )
    merged = []
    for _ in range(DRAWN):
        data, v = people(rng, 40, kinds=6), float(rng.uniform(200, 320))
        check = CheckSet([VarianceDiversity(v=v)], data)
        one, other = rng.random(40) < 0.4, rng.random(40) < 0.5
        parts = [np.flatnonzero(one), np.flatnonzero(~one & other)]
        if all(_holds(check, data, rows) for rows in parts):
            merged.append(_holds(check, data, np.concatenate(parts)))
    text = "variance diversity is monotone: two classes that satisfy it satisfy it together"
    said.add("appendix", text, merged, f"{len(merged)} pairs of classes of random tables that satisfy it")


def _holds(check: CheckSet, data: Microdata, rows: np.ndarray) -> bool:  # type: ignore[type-arg]
    """Whether a class of these rows, some but not all of the table, satisfies the requirement."""
    group = np.zeros(data.n_rows, dtype=np.int32)
    group[rows] = 1
    if len(rows) in (0, data.n_rows):
        return False
    partition = Partition(group)
    return all(bool(one.holds(one.levels(partition))[1]) for one in check.checks)


def _tiles(release: Release | None, rng: np.random.Generator) -> bool:
    """Whether random points of the domain lie in one region of the release each."""
    if release is None:
        return False
    data, inside = release.data, None
    for name in data.quasi_identifiers:
        recoding, point = release.recoding(name), rng.integers(0, len(data.domain[name]), 50)
        covers = _covered(recoding, point)
        inside = covers if inside is None else inside & covers
    assert inside is not None
    return bool((inside.sum(axis=0) == 1).all())


def _covered(cells: Generalized, codes: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """Which regions hold which codes, bool (n_groups, n_codes)."""
    low, high = cells.low, cells.high
    if cells.node is not None and cells.domain.tree is not None:
        low, high = cells.domain.tree.first[cells.node], cells.domain.tree.last[cells.node]
    if cells.offsets is None or cells.members is None:
        found: np.ndarray = (low[:, None] <= codes) & (codes <= high[:, None])  # type: ignore[type-arg]
        return found
    sets = [cells.members[begin:end] for begin, end in pairwise(cells.offsets.tolist())]
    return np.array([np.isin(codes, one) for one in sets])


def vertical(said: Statements) -> None:
    """Theorems 4.1 and 5.1, algorithms 1, 3 and 4, section 5.1 and the appendix."""
    enforced(said)
    joined(said)


def enforced(said: Statements) -> None:
    """The algorithms, on class values as they are counted in each class."""
    rng = np.random.default_rng(10)
    greedy = []
    for seed in range(10):
        data = random_table(seed)
        found = fragment_attributes(data, "c", 2)
        plain = plain_greedy(found.information, data.quasi_identifiers, 2)
        greedy.append({frozenset(names) for names in found.fragments} == plain)
    said.add(
        "algorithm 1",
        "fragments are those of the printed steps (from minus infinity: from 0 they never end where all are negative)",
        greedy,
        "10 random tables of five attributes",
    )
    safe, squared, fewer, enough = [], [], [], []
    for _ in range(DRAWN):
        k, counts = _fragmentation(rng)
        changed = enforcement.enforce(counts, RowRule(k), np.random.default_rng(0))
        safe.append(all(size == 0 or size >= k for size in _join_sizes(changed)))
        naive = enforcement.majority_values(counts)
        squared.append(all(size == 0 or size >= k * k for size in _join_sizes(naive)))
        fewer.append(_n_changed(counts, changed) <= _n_changed(counts, naive))
        kept = enforcement.enforce(counts, SelectivityRule(k, 0.9), np.random.default_rng(0))
        enough.append(_least_eta(k, counts, kept) >= 0.9 - NEAR)
    tables = f"{DRAWN} random fragmentations"
    said.add("algorithm 3", "no two classes join to 1 to k - 1 rows afterwards", safe, tables)
    said.add("algorithm 3", "it changes no more class values than the naive strategy", fewer, tables)
    text = "where every class has one class value, classes cannot be joined or join to at least k^2 rows"
    said.add("section 4.2.2", text, squared, tables)
    said.add(
        "algorithm 4", "eta of any two classes with a common value is delta at least", enough, tables + ", delta = 0.9"
    )
    eta, plain_etas, as_printed = [], [], []
    for _ in range(DRAWN):
        sizes, k = rng.integers(2, 7, 2), int(rng.integers(1, 14))
        values = [int(rng.integers(1, size + 1)) for size in sizes]
        common = int(rng.integers(1, min(values) + 1))
        ours = Selectivity(k).eta(*(np.array([one]) for one in (sizes[0], values[0], sizes[1], values[1], common)))[0]
        plain = plain_eta(k, (int(sizes[0]), values[0]), (int(sizes[1]), values[1]), common=common)
        plain_etas.append(plain)
        eta.append(abs(ours - plain) < NEAR)
        joins = prod(comb(size - 1, number - 1) for size, number in zip(sizes.tolist(), values, strict=True))
        as_printed.append(pairs_of_vectors(k, sizes.tolist(), values, common) / joins)
    apart = np.abs(np.array(as_printed) - np.array(plain_etas)) > NEAR
    said.add(
        "appendix C",
        "eta can be counted without making all joins",
        eta,
        f"{DRAWN} pairs of classes, all joins made. Definition 4.4 counts versions of both classes, and it holds here. "
        "Appendix C.II counts vectors (A, B) of the common values by its conditions 1 to 5, of which one stands for "
        f"several versions or for none: its count gives another share for {apart.sum()} of these pairs, up to "
        f"{max(as_printed):.2f}, where a share is at most 1",
    )


def pairs_of_vectors(k: int, sizes: Sequence[int], values: Sequence[int], common: int) -> int:
    """The pairs (A, B) that appendix C.II of the vertical-fragmentation paper counts, by its conditions 1 to 5.

    By hand: two classes of 3 rows and 2 values, both common, have the vectors (1, 1), (1, 2) and (2, 1). For k = 3 all
    pairs but (1, 1) with itself are counted: 8, where there are only 2 * 2 pairs of versions.
    """
    each = []
    for size, number in zip(sizes, values, strict=True):
        spare = size - number
        every = product(range(1, spare + 2), repeat=common)
        each.append([one for one in every if sum(one) <= common + spare])
    return sum(sum(a * b for a, b in zip(one, other, strict=True)) >= k for one, other in product(*each))


def joined(said: Statements) -> None:
    """Theorems 4.1 and 5.1 and section 5.1 on releases, whose joins are made row by row."""
    rng = np.random.default_rng(11)
    agree, both, diverse, rarer = [], [], [], []
    for _ in range(DRAWN):
        data, k = wide(rng, 60), int(rng.integers(2, 5))
        for enforce in ("dependency", "naive"):
            release = VerticalFragmentation(k=k, fragments=2, enforce=enforce, seed=0).anonymize(data)
            sizes = _joined_sizes(release)
            both.append(min(sizes) >= k)
            agree.append(privacy.joins(release).holds == (min(sizes) >= k))
        found = made(VerticalFragmentation(k=k, l=2, fragments=2, seed=0), data)
        if found is not None:
            joins = _joined_values(found)
            diverse.append(all(sum(one.values()) >= k and len(one) >= 2 for one in joins))
        likely = [
            float(attacks.join_likelihood(VerticalFragmentation(k=k, fragments=m, seed=0).anonymize(data)).mean)
            for m in (2, 3)
        ]
        rarer.append(likely[1] < likely[0])
    said.add(
        "theorem 4.1",
        "fragments cannot be joined below k if the sum of products of the frequencies is 0 or at least k for each pair",
        [*both, *agree],
        f"{len(both)} releases, joined row by row",
    )
    text = "chunks join to neither less than k rows nor less than l values"
    said.add("theorem 5.1", text, diverse, f"{len(diverse)} releases with l = 2, joined row by row")
    text = "the likelihood that a subject's record is in the data falls with the number of fragments"
    said.add("section 5.1", text, rarer, f"mean over the rows of {len(rarer)} releases in 2 and 3 fragments")


def wide(rng: np.random.Generator, n: int) -> Microdata:
    """Six numbers, of which every second one tells the class, and a class of three values."""
    label = rng.integers(0, 3, n)
    frame = pd.DataFrame({f"q{i}": rng.integers(0, 60, n) + 20 * label * (i % 2) for i in range(6)})
    frame["c"] = np.array(list("xyz"))[label]
    return Microdata(frame, {**dict.fromkeys(frame.columns[:-1], "quasi-identifier"), "c": "sensitive"})


def _joined_values(release: Release) -> list[Counter[int]]:
    """Rows per class value of every pair of classes that the join of both fragments has, made row by row."""
    one, other = (
        pd.DataFrame({"group": part.partition.group, "c": part.recodings["c"].codes}) for part in release.fragments
    )
    joined = one.merge(other, on="c")
    return [Counter(rows["c"].tolist()) for _, rows in joined.groupby(["group_x", "group_y"])]


def _joined_sizes(release: Release) -> list[int]:
    return [sum(one.values()) for one in _joined_values(release)]


def _fragmentation(rng: np.random.Generator) -> tuple[int, list[np.ndarray]]:  # type: ignore[type-arg]
    """k, and class-value counts of the classes of two fragments, every class with at least k rows."""
    k, n_values = int(rng.integers(2, 7)), int(rng.integers(2, 4))
    counts = []
    for _ in range(2):
        own = rng.integers(0, 4, (int(rng.integers(1, 6)), n_values))
        own[np.arange(len(own)), rng.integers(0, n_values, len(own))] += np.maximum(k - own.sum(axis=1), 0)
        counts.append(own.astype(np.int64))
    return k, counts


def _join_sizes(counts: Sequence[np.ndarray]) -> list[int]:  # type: ignore[type-arg]
    return [sum(join) for join in all_joins(counts)]


def _n_changed(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> int:  # type: ignore[type-arg]
    """Class values that are published otherwise."""
    return sum(int(np.maximum(one - other, 0).sum()) for one, other in zip(before, after, strict=True))


def _least_eta(k: int, counts: Sequence[np.ndarray], kept: Sequence[np.ndarray]) -> float:  # type: ignore[type-arg]
    """The least eta of two classes of different fragments that have a published value in common, by enumeration."""
    least = 1.0
    for (one, mine), (other, theirs) in product(
        *(list(zip(a, b, strict=True)) for a, b in zip(counts, kept, strict=True))
    ):
        common = int(((mine > 0) & (theirs > 0)).sum())
        if common:
            sizes = [(int(rows.sum()), int((shown > 0).sum())) for rows, shown in ((one, mine), (other, theirs))]
            least = min(least, plain_eta(k, *sizes, common=common))
    return least


THEOREMS: dict[str, Callable[[Statements], None]] = {
    "slicing": slicing,
    "foreground-knowledge": foreground,
    "t-closeness": closeness,
    "rothko": rothko,
    "vertical-fragmentation": vertical,
}
