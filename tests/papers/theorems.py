"""What the papers prove or claim in their text, tried on small random tables: theorems, algorithms, properties.

Each statement is held against its definition followed by hand, on tables that are small enough for that. The tables
are drawn with fixed seeds.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product

import numpy as np
import pandas as pd
from scipy.stats import binom

from anoncore import Microdata, Release, attacks, privacy, utility
from anoncore.algorithms import (
    Algorithm,
    Mondrian,
    SensitiveSpaceFragmentation,
    Slicing,
    StackAndDeal,
)
from anoncore.algorithms.closeness.locality import Multiplicity
from anoncore.algorithms.closeness.sensitive_space import SensitiveFragmentation
from anoncore.algorithms.slicing.attribute_partition import partition_attributes
from anoncore.attacks import ForegroundKnowledge
from anoncore.attacks.foreground import adversary
from anoncore.base.errors import AnonymizationError
from anoncore.requirements import (
    KAnonymity,
)
from tests.papers import oracles
from tests.papers.findings import Statements, listed
from tests.papers.oracles import SAME
from tests.papers.t_closeness import heart
from tests.papers.tables import four_fragments
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
    """Random tables in random buckets and two or three columns, of which the last one has the secret."""
    rng = np.random.default_rng(1)
    for _ in range(DRAWN):
        data = people(rng, int(rng.integers(6, 40)))
        groups, names = random_groups(rng, data.n_rows, int(rng.integers(2, 8))), rng.permutation(QUASI).tolist()
        first, second = sorted(rng.integers(1, 5, 2).tolist())
        columns = [part for part in (names[:first], names[first:second], [*names[second:], "s0"]) if part]
        yield data, groups, columns, sliced(data, groups, columns)


def slicing(said: Statements) -> None:
    """Fact 1, and the text of sections 2, 4 and 5."""
    said.oracle = "the original table and its buckets, bucket by bucket"
    sums = []
    for data, groups, columns, release in random_slicings():
        found = attacks.sensitive_posterior(release, "s0")
        same = np.allclose(found, oracles.posterior(data.frame, groups, columns, "s0"), atol=NEAR)
        sums.append(bool(same and np.allclose(found.sum(axis=1), 1)))
    said.add(
        "fact 1",
        "the probabilities of a tuple of the table sum up to 1, each as the definition gives it",
        sums,
        f"{len(sums)} random tables, followed bucket by bucket",
        least=SAME,
    )
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


LESS = 1.2
"""A two-way error is less than another where that is so many times as large at least."""


def _sliced_and_others(said: Statements) -> None:
    rng = np.random.default_rng(2)
    special, kept, inside = [], [], []
    for _ in range(DRAWN):
        n = int(rng.integers(8, 40))
        frame = pd.DataFrame({"name": np.arange(n), "s0": rng.integers(0, 4, n)})
        data = Microdata(frame, {"name": "quasi-identifier", "s0": "sensitive"})
        groups = random_groups(rng, n, 4)
        found = attacks.sensitive_posterior(sliced(data, groups, [["name"], ["s0"]]), "s0")
        shares = pd.crosstab(pd.Series(groups), data.frame["s0"], normalize="index").to_numpy()[groups]
        special.append(bool(np.allclose(found, shares, atol=NEAR)))
    text = "bucketization is slicing with two columns, one of which is the sensitive attribute alone"
    detail = "people whom nobody is like have each value with its share of their bucket, counted in the table"
    said.add("section 2", text, special, detail, least=SAME)
    for data, groups, columns, release in random_slicings():
        linked = release.linked(np.random.default_rng(0))
        for column in columns:
            before, after = (Counter(map(tuple, one[column].astype(str).to_numpy())) for one in (data.frame, linked))
            kept.append(before == after)
        # The bucket as one more attribute of each column: who is linked across buckets has two different ones.
        numbers = [f"bucket {place}" for place in range(len(columns))]
        frame = data.frame.assign(**dict.fromkeys(numbers, groups))
        roles = dict(data.roles) | dict.fromkeys(numbers, "insensitive")
        wide_columns = [[*column, number] for column, number in zip(columns, numbers, strict=True)]
        release = sliced(Microdata(frame, roles), groups, wide_columns)
        turned = [release.linked(np.random.default_rng(seed)) for seed in range(3)]
        inside.append(all(one[numbers].eq(one[numbers[0]], axis=0).all(axis=None) for one in turned))
    said.add(
        "section 2",
        "attributes of one column keep all of their joint distribution",
        kept,
        f"{len(kept)} columns of random tables, counted after a random linking",
        least=SAME,
    )
    said.add(
        "section 2",
        "columns are linked inside their bucket only",
        inside,
        f"{len(inside)} random tables, three random linkings each",
        least=SAME,
    )
    _losses(said)


def _losses(said: Statements) -> None:
    """That exact values in columns lose less than ranges, by the library's two-way error and by one counted plainly."""
    ranked, columns_ranked = [], []
    data = adult(["age", "education", "marital-status", "sex", "workclass"], "occupation")
    data = Microdata(data.frame.head(3_000), data.roles)
    details = []
    for requirement in (KAnonymity(k=5), KAnonymity(k=20), KAnonymity(k=80)):
        groups = Mondrian(requirements=[requirement]).anonymize(data).partition.group.tolist()
        alone = [[name] for name in (*data.quasi_identifiers, "occupation")]
        together = [["age", "marital-status", "workclass"], ["education", "sex", "occupation"]]
        releases = [generalized(data, groups), sliced(data, groups, alone), sliced(data, groups, together)]
        boxes, singles, both = (float(utility.two_way_error(one)) for one in releases)
        # One random linking or one random point of each region stands for the reader's expectation.
        drawn = [
            oracles.two_way(shown, data.frame, list(data.attributes))
            for shown in (
                _points(data.frame, groups, np.random.default_rng(0)),
                *(_linked(one) for one in releases[1:]),
            )
        ]
        ranked.append(min(boxes / singles, drawn[0] / drawn[1]) >= LESS if singles > 0 else False)
        columns_ranked.append(min(singles / both, drawn[1] / drawn[2]) >= LESS if both > 0 else False)
        details.append(f"{listed([boxes, singles, both])} (drawn {listed(drawn)})")
    where = "two-way errors of ranges, single attributes and columns, 3,000 rows of Adult in the classes of Mondrian"
    detail = f"{where} with k = 5, 20 and 80: {'; '.join(details)}"
    text = f"with the same buckets, exact values lose less than ranges (ranges at least {LESS} times as much)"
    said.add("section 2", text, ranked, detail, least=f"{LESS} times")
    text = f"and columns of several attributes less again (single ones at least {LESS} times as much)"
    said.add("section 2", text, columns_ranked, detail, least=f"{LESS} times")


def _linked(release: Release) -> pd.DataFrame:
    return release.linked(np.random.default_rng(0))


def _points(frame: pd.DataFrame, groups: Sequence[int], rng: np.random.Generator) -> pd.DataFrame:
    """A random value of its class's range or set for every cell of a known attribute; occupations within the class."""
    shown = {}
    for name in frame.columns:
        values = np.sort(frame[name].unique())
        code = np.searchsorted(values, frame[name].to_numpy())
        by_group = pd.Series(code).groupby(np.asarray(groups))
        if name == "occupation":
            order, turned = np.argsort(groups, kind="stable"), np.lexsort((rng.random(len(code)), groups))
            taken = np.empty(len(code), dtype=np.int64)
            taken[order] = code[turned]
        elif frame[name].dtype.kind in "if":
            low, high = by_group.transform("min").to_numpy(), by_group.transform("max").to_numpy()
            taken = rng.integers(low, high + 1)
        else:
            sets = by_group.unique()
            taken = np.array([rng.choice(sets[group]) for group in groups])
        shown[name] = values[taken]
    return pd.DataFrame(shown)


def _columns(said: Statements) -> None:
    names = ["age", "education", "marital-status", "sex", "race", "workclass", "occupation"]
    data = adult(names[:-1], "occupation")
    phi = utility.association(data)
    ours = pd.DataFrame(
        [[oracles.phi_squared(data.frame[one], data.frame[other]) for other in names] for one in names], names, names
    )
    pairs = list(combinations(names, 2))
    inside = [0 <= phi.loc[pair] <= 1 and abs(phi.loc[pair] - ours.loc[pair]) < NEAR for pair in pairs]
    said.add(
        "section 4.1",
        "the mean-square contingency coefficient lies between 0 and 1, and is that of its formula",
        inside,
        f"Adult, {len(pairs)} pairs of 7 attributes, {min(ours.loc[pair] for pair in pairs):.4f} to "
        f"{max(ours.loc[pair] for pair in pairs):.4f}",
        least=SAME,
    )
    alone = Slicing(l=2, columns=2, sensitive_column_size=1)
    two = partition_attributes(data, 2, alone.sensitive_column_size).columns
    said.add(
        "section 4.1",
        "with alpha = 1 and c = 2 slicing is bucketization",
        sorted(map(len, two)) == [1, 6] and ("occupation",) in two,
        " and ".join("{" + ", ".join(one) + "}" for one in two),
        least=SAME,
    )
    nearest = ours.loc["occupation"].drop("occupation").sort_values(ascending=False).index.tolist()
    with_best = []
    for size in (2, 3, 4):
        own = next(one for one in partition_attributes(data, 2, size).columns if "occupation" in one)
        with_best.append(set(own) == {"occupation", *nearest[: size - 1]})
    said.add(
        "section 4.1",
        "the sensitive column has the attributes that are closest to the sensitive one",
        with_best,
        f"Adult, alpha = 2, 3 and 4; the closest by the formula are {', '.join(nearest[:3])}",
        least=SAME,
    )
    unswapped = []
    known = names[:-1]
    distance = 1 - ours.loc[known, known].to_numpy()
    np.fill_diagonal(distance, 0)
    for columns in (2, 3, 4):
        parts = partition_attributes(data, columns, 1).columns
        cost = {some: float(distance[:, list(some)].min(axis=1).sum()) for some in combinations(range(6), columns - 1)}
        clusters = [[known.index(name) for name in part] for part in parts if "occupation" not in part]
        own_cost = sum(min(distance[part, other].sum() for other in part) for part in clusters)
        is_whole = len(clusters) == columns - 1 and sorted(i for part in clusters for i in part) == list(range(6))
        unswapped.append(is_whole and own_cost <= min(cost.values()) + 1e-6)
    said.add(
        "section 4.1",
        "the other columns are those of k-medoids: no choice of medoids is nearer to all attributes",
        unswapped,
        "Adult, c = 2, 3 and 4, every choice of medoids tried, distances by the formula",
        least="a total distance larger by 1e-6 than that of the best choice",
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


HIDING = 0.1
"""Fake tuples hide the members where there are so many for each row at least."""


def _members(said: Statements) -> None:
    alone, there, most, reached = [], [], [], []
    for data, groups, columns, release in random_slicings():
        found = attacks.membership(release)
        own, fakes = oracles.matches(data.frame, groups, columns)
        same = found.matching_buckets.tolist() == own
        there.append(bool(same and min(own) >= 1))
        sizes = np.bincount(groups)
        bound = float((sizes ** len(columns) - sizes).sum())
        most.append(float(found.fake) == len(fakes) and len(fakes) <= bound)
        if len(columns) > 1:
            reached.append(len(fakes) / bound)
        for column in columns:
            of_row = pd.Series(list(map(tuple, data.frame[column].astype(str).to_numpy())))
            unique = ~of_row.duplicated(keep=False).to_numpy()
            if unique.any():
                alone.append(bool(same and (found.matching_buckets[unique] == 1).all()))
    text = "a tuple with a value that is unique in its column has one matching bucket, others as many as are counted"
    said.add(
        "section 4.2", text, alone, f"{len(alone)} columns with unique values, every bucket looked through", least=SAME
    )
    text = "a tuple of the table has at least one matching bucket, and as many as are counted"
    said.add("section 5", text, there, f"{len(there)} random tables, every bucket looked through", least=SAME)
    text = "a bucket of k tuples and c columns makes at most k^c - k fake tuples, and those that are counted"
    said.add(
        "section 5", text, most,
        f"{len(most)} random tables, every combination of a bucket made; up to {max(reached):.0%} of the bound",
     least="one tuple more or less than are counted",)  # fmt: skip
    none = []
    rng = np.random.default_rng(3)
    for _ in range(DRAWN):
        data = people(rng, int(rng.integers(6, 40)))
        groups = random_groups(rng, data.n_rows, 4)
        release = sliced(data, groups, [list(QUASI), ["s0"]])
        known, _ = oracles.matches(data.frame, groups, [list(QUASI)])
        found = attacks.membership(release, QUASI)
        none.append(float(found.fake) == 0 and found.matching_buckets.tolist() == known)
    text = "the number of fake tuples is 0 in bucketization, for who knows the quasi-identifiers"
    said.add("section 5", text, none, f"{len(none)} random tables", least="one tuple")
    columns = (("age", "town"), ("job", "sex"), ("s0",))
    hidden = []
    for _ in range(DRAWN):
        data = people(rng, 60)
        release = Slicing(l=2, attribute_columns=columns).anonymize(data)
        _, fakes = oracles.matches(data.frame, release.partition.group.tolist(), columns)
        found = float(attacks.membership(release).fake)
        hidden.append(found == len(fakes) and found >= HIDING * data.n_rows)
    text = f"slicing with more than one column of known attributes makes some (at least {HIDING} for each row)"
    said.add(
        "section 5",
        text,
        hidden,
        "60 random rows each, every combination of a bucket made",
        least=f"{HIDING} fake tuples for each row",
    )


SURE = 1e-5
"""How near the shares that a solver finds have to be to those of plain iteration."""


def foreground(said: Statements) -> None:
    """Theorem 1, how attribute sets are pruned, and algorithm 1."""
    said.oracle = "the binomial distribution, and the groups of random tables, world by world"
    chances, sizes = [], []
    for epsilon, sigma in product((0.01, 0.05, 0.1, 0.2), (0.1, 0.5, 0.9)):
        needed = adversary.minimum_signature_rows(epsilon, sigma)
        sizes.append(abs(needed / (np.log(2 / sigma) / (2 * epsilon**2)) - 1) < NEAR)
        n = int(np.ceil(needed))
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
        least="a probability above sigma",
    )
    said.add(
        "theorem 1",
        "so that a signature needs ln(2 / sigma) / (2 epsilon^2) tuples",
        sizes,
        f"{len(sizes)} pairs; {adversary.minimum_signature_rows(0.01, 0.9):,.1f} for epsilon = 0.01 and sigma = 0.9",
        least=SAME,
    )
    _mined(said)


def _mined(said: Statements) -> None:
    rng = np.random.default_rng(4)
    complete, falls, solved, assumed, followed, unseen = [], [], [], [], [], []
    for _ in range(10):
        data = people(rng, 400)
        groups = random_groups(rng, 400, 4)
        release = sliced(data, groups, [list(QUASI), ["s0"]])
        least = int(rng.integers(15, 60)) - 0.5  # between two whole numbers of rows
        epsilon = float(np.sqrt(np.log(2 / 0.9) / 2 / least))
        found = attacks.foreground_knowledge(release, "s0", epsilon=epsilon, sigma=0.9, draws=0)
        ours = {one.attributes: one for one in found.sets}
        for number in range(1, len(QUASI) + 1):
            for names in combinations(QUASI, number):
                rows = data.frame.groupby(list(names)).size()
                frequent = sorted(rows[rows >= least].tolist())
                complete.append((sorted(ours[names].rows.tolist()) if names in ours else []) == frequent)
                if number > 1:
                    parts = data.frame.groupby(list(names[:-1])).size()
                    falls.append(bool((rows.to_numpy() <= parts.reindex(rows.index.droplevel(-1)).to_numpy()).all()))
        places = [place for place, one in enumerate(found.sets) if len(one.attributes) <= 2][:3]
        solved += [_solves(data, groups, found, release, place) for place in places]
    for turn in range(DRAWN):
        n = int(rng.integers(12, 30))
        data = people(rng, n, kinds=2)
        groups = random_groups(rng, n, 3)
        frame, named = data.frame, QUASI[turn % len(QUASI)]
        only = Microdata(frame[[named, "s0"]], {named: "quasi-identifier", "s0": "sensitive"})
        counts = frame[named].value_counts()
        least = counts.nlargest(min(2, len(counts) - 1)).iloc[-1] - 0.5
        epsilon = float(np.sqrt(np.log(2 / 0.9) / 2 / least))
        swapped = only.frame.assign(s0=_swapped(frame["s0"], groups, rng))
        about = {"epsilon": epsilon, "sigma": 0.9, "draws": 0}
        one, other = (
            attacks.foreground_knowledge(sliced(own, groups, [[named], ["s0"]]), "s0", **about)
            for own in (only, Microdata(swapped, only.roles))
        )
        beliefs = _beliefs(frame, groups, named, one)
        followed.append(bool(np.allclose(one.breach_probability, beliefs, atol=SURE)))
        same = np.allclose(one.sets[0].learned, other.sets[0].learned, atol=SURE)
        unseen.append(bool(same and np.allclose(one.breach_probability, other.breach_probability, atol=SURE)))
        rare = ~frame[named].isin(counts[counts >= least].index)
        alone = rare.groupby(np.asarray(groups)).transform("all").to_numpy()
        if alone.any():
            highest = _highest_shares(frame["s0"], groups)
            assumed.append(bool(np.allclose(one.breach_probability[alone], highest[alone], atol=SURE)))
    said.add(
        "theorem 1",
        "where no signature of a group has enough tuples the uniform distribution is assumed: its people have a value "
        "with its share there",
        assumed,
        f"{len(assumed)} random tables with such groups, shares counted in the groups",
        least=SAME,
    )
    text = "the signatures found are all that have enough tuples, of every attribute set"
    said.add(
        "algorithm 1", text, complete, f"{len(complete)} attribute sets of random tables, counted plainly", least=SAME
    )
    text = (
        "a signature has no more tuples than with an attribute less, so that sets above a rare one need not be counted"
    )
    said.add("algorithm 1", text, falls, f"{len(falls)} attribute sets", by_hand=True)
    text = "their shares solve the equations of section 4.1: expected tuples with x, by all worlds, over tuples"
    said.add(
        "algorithm 1",
        text,
        solved,
        f"{len(solved)} attribute sets, one step further by every world of each group",
        least="a change of 1e-5 by one more step",
    )
    text = "the probability of every person is that of the worlds of their group, weighed with these shares"
    said.add(
        "algorithm 1",
        text,
        followed,
        f"{len(followed)} random tables, learned step by step, world by world",
        least="1e-5",
    )
    text = "it depends on what is published alone: who has which value inside a group changes nothing"
    said.add(
        "algorithm 1",
        text,
        unseen,
        f"{len(unseen)} random tables, attacked with secrets swapped inside groups",
        least="1e-5",
    )


def _solves(data: Microdata, groups: Sequence[int], found: ForegroundKnowledge, release: Release, place: int) -> bool:
    """Whether one more step by all worlds of every group leaves the learned shares as they are, and some above 0."""
    table, names = found.distribution(release, place), list(found.sets[place].attributes)
    key = list(map(tuple, data.frame[names].astype(str).to_numpy()))
    buckets, rows = oracles.members(groups), Counter(key)
    for value, lines in table.groupby("value"):
        has_x = (data.frame["s0"].astype(str) == value).to_numpy()
        shares = dict(zip(map(tuple, lines[names].to_numpy()), lines["learned"], strict=True))
        if not set(shares) <= set(key) or max(shares.values()) <= 0:
            return False
        expected = dict.fromkeys(shares, 0.0)
        for bucket in buckets:
            own = oracles.beliefs([shares.get(key[row], has_x.mean()) for row in bucket], int(has_x[bucket].sum()))
            for row, p in zip(bucket, own, strict=True):
                if key[row] in expected:
                    expected[key[row]] += float(p)
        if max(abs(expected[one] / rows[one] - share) for one, share in shares.items()) > SURE:
            return False
    return True


def _swapped(secrets: pd.Series, groups: Sequence[int], rng: np.random.Generator) -> np.ndarray:  # type: ignore[type-arg]
    """The secrets of every group dealt to its people anew."""
    order, turned = np.argsort(groups, kind="stable"), np.lexsort((rng.random(len(groups)), groups))
    dealt = np.empty(len(groups), dtype=object)
    dealt[order] = secrets.to_numpy()[turned]
    return dealt.astype(secrets.dtype)


def _highest_shares(secrets: pd.Series, groups: Sequence[int]) -> np.ndarray:  # type: ignore[type-arg]
    """The share of the most frequent value of each row's group."""
    highest: np.ndarray = pd.crosstab(pd.Series(groups), secrets, normalize="index").max(axis=1).to_numpy()[groups]  # type: ignore[type-arg]
    return highest


def _beliefs(frame: pd.DataFrame, groups: Sequence[int], name: str, found: ForegroundKnowledge) -> np.ndarray:  # type: ignore[type-arg]
    """The highest p(t:x) of every person, from published groups alone; only which signatures count is taken over."""
    signatures, buckets = frame[name].astype(str).tolist(), oracles.members(groups)
    counts = Counter(signatures)
    frequent = [one for one in counts if counts[one] >= found.minimum_rows]
    highest = np.zeros(len(frame))
    for value in sorted(frame["s0"].unique()):
        has_x = (frame["s0"] == value).to_numpy()
        overall = float(has_x.mean())
        shares = oracles.learned(signatures, groups, has_x, frequent, overall)
        for bucket in buckets:
            own = [shares.get(signatures[row], overall) for row in bucket]
            highest[bucket] = np.maximum(highest[bucket], oracles.beliefs(own, int(has_x[bucket].sum())))
    return highest


def closeness(said: Statements) -> None:
    """What chapters 3 to 6 claim of Stack & Deal and of the fragmented space."""
    said.oracle = "the original table and the class of every row"
    rng = np.random.default_rng(5)
    for label, secrets in (("section 3.6", 1), ("section 5.4", 2)):
        even, sizes, number = [], [], []
        for _ in range(DRAWN):
            data, k = people(rng, int(rng.integers(10, 60)), secrets), int(rng.integers(2, 6))
            groups = StackAndDeal(k=k, seed=0).anonymize(data).partition.group.tolist()
            combination = data.frame[list(data.sensitive)].astype(str).agg(" ".join, axis=1)
            counts = pd.crosstab(np.array(groups), combination).to_numpy()
            of_class = counts.sum(axis=1)
            several = len(counts) > 1  # of a single class nothing could differ
            even.append(bool(several and (np.ptp(counts, axis=0) <= 1).all()))
            sizes.append(bool(several and np.ptp(of_class) <= 1))
            number.append(bool(len(counts) == data.n_rows // k and of_class.min() >= k))
        what = "value" if secrets == 1 else "combination of values"
        tables = f"{DRAWN} random tables, counted in the classes"
        said.add(
            label,
            "the sizes of any two of several classes differ by at most 1",
            sizes,
            tables,
            least="a difference of 2 rows",
        )
        said.add(label, f"so do the frequencies of any sensitive {what}", even, tables, least="a difference of 2 rows")
        said.add(
            label, "there are floor(n / k) classes, each of k rows at least", number, tables, least="one class or row"
        )
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
        (ours, same), (theirs, _) = (_farthest(one, "s0") for one in (release, ordered))
        others = [
            oracles.ordered_distance(frame["s0"], _numbers(one, 8)).max()
            for one in partitions(list(range(8)), 2)
            if len(one) == 4
        ]
        best.append(same and release.partition.n_groups == 4 and ours <= min(others) + NEAR)
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
        least="a distance larger by 1e-9 than that of the best partition",
    )


def _farthest(release: Release, name: str) -> tuple[float, bool]:
    """The largest distance of a class from the table, counted plainly, and whether the library says the same."""
    plainly = oracles.ordered_distance(release.data.frame[name], release.partition.group.tolist())
    ours = privacy.emd(release, name, ground="ordered")
    return float(plainly.max()), bool(np.allclose(ours, plainly, atol=NEAR))


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
        bounds = {name: _end_bound(frame[name], parts.of_row) for name in data.sensitive}
        same = np.allclose(parts.bounds, [bounds[name] for name in parts.multiplicity.attributes], atol=NEAR)
        within.append(bool(same and max(bounds.values()) <= t + NEAR))
        for key in (rng.random(len(frame)), frame["s0"], -frame["s0"], frame["s1"], -frame["s1"]):
            taken: list[int] = []
            for fragment in range(parts.n_fragments):
                rows = np.flatnonzero(parts.of_row == fragment)
                taken += rows[np.argsort(np.asarray(key)[rows], kind="stable")][: len(rows) // repeat].tolist()
            inside = np.isin(np.arange(len(frame)), taken)
            for name, bound in bounds.items():
                distance = oracles.ordered_distance(frame[name], inside.tolist())[1]
                bounded.append(bool(same and distance <= bound + NEAR and bound <= t + NEAR))
    said.add(
        "section 4.4",
        "a class that conforms to a fragmentation is as close as its aggregate bounds say",
        bounded,
        f"{len(bounded)} classes that take a third of every fragment, at random or the least or largest values; bounds "
        "of all mass at the farther end of its fragment",
        least=SAME,
    )
    text = "the search always ends with bounds within every t: fragments of one cell have bounds of 0"
    said.add("section 4.4", text, within, f"{len(within)} random tables, t down to 0", least=SAME)
    close, several = [], []
    for _ in range(10):
        data, t = people(rng, 300, 3, kinds=5), 0.25
        release = SensitiveSpaceFragmentation(t=dict.fromkeys(data.sensitive, t), seed=0).anonymize(data)
        for name in data.sensitive:
            distance, same = _farthest(release, name)
            close.append(same and distance <= t + NEAR and release.partition.n_groups > 1)
        several.append(len(set(release.partition.group.tolist())) > 10)
    text = "the method serves three attributes as well: several classes, each within t of all of them"
    said.add(
        "section 4.5",
        text,
        close,
        "10 random tables, t = 0.25, distances counted in the classes",
        least="a distance above t by 1e-9",
    )
    said.add("section 4.5", "and makes many classes of 300 rows", several, "more than 10 of each", least="10 classes")


def _end_bound(values: pd.Series, fragments: np.ndarray) -> float:  # type: ignore[type-arg]
    """The aggregate bound of an attribute, counted plainly."""
    levels = np.sort(values.unique())
    return oracles.end_bound(np.searchsorted(levels, values.to_numpy()), fragments, len(levels))


def _conforming(said: Statements) -> None:
    """Section 4.4.2 on its own example, beside which a real table is looked at."""
    frame, data = four_fragments()
    model = SensitiveSpaceFragmentation(t={"X": 0.0, "Y": 0.0}, sizing="exact", seed=0)
    groups = model.anonymize(data).partition.group
    counts = pd.crosstab(groups, frame["X"] + frame["Y"]).to_numpy()
    shares = np.sort(frame.value_counts(["X", "Y"], normalize=True).to_numpy())
    conform = [bool(np.allclose(np.sort(one / one.sum()), shares, atol=NEAR)) for one in counts]
    smaller = [size for size in range(1, 20) if all(float(size * share).is_integer() for share in shares.round(9))]
    real, t = heart(), {"trestbps": 0.1, "chol": 0.1}
    exact, verified = (
        SensitiveSpaceFragmentation(t=t, sizing=sizing, seed=0).anonymize(real).partition.n_groups
        for sizing in ("exact", "verified")
    )
    said.add(
        "section 4.4.2",
        "in the example conformance is no too strict limitation: its 50 classes have the shares of all fragments",
        [*conform, len(counts) == 50],
        f"{len(counts)} classes of {counts.sum(axis=1).min()} to {counts.sum(axis=1).max()} rows. Not stated there: of "
        f"Heart (t = 0.1), whose counts have no common divisor, exact shares leave {exact} class of 1,025 rows; dealt "
        f"evenly and then verified, as `sizing` does by default, there are {verified}",
        least=SAME,
    )
    said.add(
        "section 4.4.2",
        "no smaller class has a whole number of rows from every fragment",
        not smaller and int(counts.sum(axis=1).max()) == 20,
        f"sizes up to 19 that have: {len(smaller)}; classes of {int(counts.sum(axis=1).max())} rows",
        least=SAME,
    )


DEARER = 0.01
"""Information loss rises from one k to the next by so much at least."""


def _over_k(said: Statements) -> None:
    rng = np.random.default_rng(8)
    rises, losses = [], []
    ks = (2, 5, 10, 25, 50)
    for _ in range(5):
        data = people(rng, 400)
        losses = []
        for k in ks:
            release = StackAndDeal(k=k, seed=0).anonymize(data)
            plainly = oracles.cell_loss(data.frame, release.partition.group.tolist(), QUASI)
            ours = float(utility.information_loss(release))
            losses.append(ours if abs(ours - plainly) < NEAR and release.partition.sizes.min() >= k else np.nan)
        rises.append(all(other - one >= DEARER for one, other in pairwise(losses)))
    text = f"information loss rises with the anonymity level (by at least {DEARER} from one k to the next)"
    said.add(
        "chapter 6",
        text,
        rises,
        f"random tables, k = {', '.join(map(str, ks))}, rows of alike people dealt together (`locality`), which the "
        f"dissertation leaves open; the last {listed(losses)}, the share of its domain that a cell covers",
        least=f"{DEARER}",
    )


def made(model: Algorithm, data: Microdata) -> Release | None:
    """A release, or None where the table does not allow it."""
    try:
        return model.anonymize(data)
    except AnonymizationError:
        return None
