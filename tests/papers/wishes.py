"""What the papers wished for and nobody built: small measured experiments, each with a question and an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.stats import hypergeom

from anoncore import Microdata, Release, attacks, utility
from anoncore.algorithms import Anatomy, Slicing
from anoncore.algorithms.rothko.confident_checks import critical_value
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.requirements import KAnonymity
from dashboard.reproduction import Experiment
from tests.papers.foreground_knowledge import EPSILON, QUASI, SENSITIVE, Adult
from tests.papers.slicing import OCC_7, Study
from tests.papers.slicing_statements import SENSITIVE as OCCUPATION

ALPHA = 0.05


def background() -> Experiment:
    """Foreground knowledge, and people of the bucket whose education the adversary knows already."""
    adult = Adult()
    data = adult.microdata(QUASI[:5])
    rows = []
    for l in (4, 10):
        release = Anatomy(l=l, seed=0).anonymize(data)
        found = attacks.foreground_knowledge(release, SENSITIVE, r=l, epsilon=EPSILON, draws=0)
        has_x = ~np.isnan(found.own_probability)
        groups = np.unique(release.partition.group[has_x])
        rng = np.random.default_rng(0)
        for known in (0, 1, 2):
            alone, together = [], []
            for group in groups:
                view = found.group(release, int(group), place=0)
                others = np.flatnonzero(~view.has_value)
                gone = rng.permutation(others)[: min(known, len(others) - 1)]
                left = np.setdiff1d(np.arange(len(view.f)), gone)
                p = attacks.group_probabilities(view.f[left], view.n)
                together += p[view.has_value[left]].tolist()
                alone += [view.n / len(left)] * int(view.has_value.sum())
            breached = [float(lies_above(np.array(one), 1 / l, ACCUMULATED).mean()) for one in (alone, together)]
            rows.append(
                (
                    str(l),
                    str(known),
                    *(f"{share:.1%}" for share in breached),
                    f"{np.mean(alone):.3f}",
                    f"{np.mean(together):.3f}",
                )
            )
    return Experiment(
        "Background knowledge beside foreground knowledge",
        "How much more does an adversary learn who also knows that some people of a bucket have no low education?",
        (
            "l",
            "people known in each bucket",
            "breached by knowing them",
            "breached with the attack too",
            "mean belief",
            "mean belief with the attack",
        ),
        tuple(rows),
        "Knowing one person breaches everybody of the bucket by itself, because Anatomy's buckets have l rows: the "
        "bound 1/l has no room for background knowledge. Beside it the attack makes some people surer and others less "
        "so: at l = 4 the mean belief in the truth still rises, at l = 10 it hardly does.",
        "Adult, five quasi-identifiers, Anatomy, the most leaking attribute set, seed 0",
    )


def generalized_columns() -> Experiment:
    """Column generalization against the size of the buckets."""
    study = Study.of(None, 2, 1)
    data = study.data["OCC-7"]
    rows = []
    for k in (1, 10, 100, 1_000):
        wanted = (KAnonymity(k=k),) if k > 1 else ()
        columns = (tuple(name for name in OCC_7 if name != "sex"), ("sex", OCCUPATION))
        release = Slicing(l=3, attribute_columns=columns, column_requirements=wanted).anonymize(data)
        sizes = release.partition.sizes
        rows.append(
            (
                str(k), f"{len(sizes):,}", f"{sizes.mean():.1f}", f"{float(utility.two_way_error(release)):.4f}",
                f"{float(utility.query_error(release, n_queries=2_000, seed=0).mean):.3f}",
            )
        )  # fmt: skip
    first, last = float(rows[0][3]), min(float(one[3]) for one in rows[1:])
    answer = (
        "Buckets get smaller, as the paper says, but the exact values that are given up cost more than that gains."
        if first <= last
        else "Buckets get smaller, and some generalization lowers the two-way error."
    )
    return Experiment(
        "Column generalization against bucket size",
        "Generalized columns let buckets be smaller at the same l. Does that gain more than it costs?",
        ("rows per column value, at least", "buckets", "mean bucket", "two-way error", "query error"),
        tuple(rows),
        answer,
        "Adult (OCC-7), l = 3 by the definition, column {sex, occupation}",
    )


def mined() -> Experiment:
    """Learning from sliced data itself, instead of from rows that are linked at random."""
    whole = Study.of(None, 2, 1).data["OCC-7"]
    order = np.random.default_rng(0).permutation(whole.n_rows)
    cut = 2 * whole.n_rows // 3
    frame = whole.frame.assign(age=pd.qcut(whole.frame["age"], 10, labels=False))
    data, test = Microdata(frame.iloc[order[:cut]].reset_index(drop=True), whole.roles), frame.iloc[order[cut:]]
    known = [name for name in OCC_7 if name != OCCUPATION]
    values = {name: {value: code for code, value in enumerate(data.domain[name].values)} for name in data.attributes}
    rows = np.column_stack([test[name].map(values[name]).fillna(-1).astype(int) for name in known])
    truth = test[OCCUPATION].map(values[OCCUPATION]).to_numpy()
    sizes = [len(values[name]) for name in known]
    shares = np.bincount(data.codes[OCCUPATION], minlength=len(values[OCCUPATION])) / data.n_rows

    def accuracy(tables: list[np.ndarray]) -> float:  # type: ignore[type-arg]
        """Naive Bayes by the counts of each attribute's values (lines) with each occupation (columns)."""
        score = np.tile(np.log(shares), (len(rows), 1))
        for place, counts in enumerate(tables):
            smooth = (counts + 1) / (counts + 1).sum(axis=0)
            score += np.log(np.vstack([smooth, np.ones(len(shares))]))[rows[:, place]]
        return float((score.argmax(axis=1) == truth).mean())

    def counted(one: np.ndarray, other: np.ndarray, n_values: int) -> np.ndarray:  # type: ignore[type-arg]
        return np.bincount(one * len(shares) + other, minlength=n_values * len(shares)).reshape(n_values, -1)

    job = data.codes[OCCUPATION]
    original = accuracy([counted(data.codes[name], job, n) for name, n in zip(known, sizes, strict=True)])
    lines = []
    for l, last in ((2, ("sex", OCCUPATION)), (3, ("sex", OCCUPATION)), (3, (OCCUPATION,))):
        columns = (tuple(name for name in known if name not in last), last)
        release = Slicing(l=l, attribute_columns=columns).anonymize(data)
        bucket, size = release.partition.group, release.partition.sizes
        linked = []
        for seed in range(5):
            turned = job.copy()
            rng = np.random.default_rng(seed)
            by_bucket = np.lexsort((rng.random(data.n_rows), bucket))
            turned[np.argsort(bucket, kind="stable")] = job[by_bucket]
            sex = data.codes["sex"].copy()
            sex[np.argsort(bucket, kind="stable")] = data.codes["sex"][by_bucket]
            own = {name: sex if name in last else data.codes[name] for name in known}
            linked.append(accuracy([counted(own[name], turned, n) for name, n in zip(known, sizes, strict=True)]))
        jobs = csr_array((np.ones(data.n_rows), (bucket, job)), shape=(len(size), len(shares)))
        expected = []
        for name, n in zip(known, sizes, strict=True):
            there = csr_array((1 / size[bucket], (data.codes[name], bucket)), shape=(n, len(size)))
            exact = counted(data.codes[name], job, n)
            expected.append(exact if name in last else np.asarray((there @ jobs).todense()))
        lines.append(
            (
                str(l), "{" + ", ".join(last) + "}", f"{len(size):,}", f"{original:.4f}",
                f"{np.mean(linked):.4f} ({min(linked):.4f} to {max(linked):.4f})", f"{accuracy(expected):.4f}",
                f"{_matched(data, release, columns, rows, known, shares, truth):.4f}",
            )
        )  # fmt: skip
    gains = [float(one[5]) - float(one[4].split()[0]) for one in lines]
    buckets = [float(one[6]) - float(one[5]) for one in lines]
    return Experiment(
        "Mining built for sliced data",
        "The paper links columns at random and learns from the rows. Does a classifier that uses the buckets' counts "
        "themselves learn more?",
        (
            "l", "sensitive column", "buckets", "original rows", "linked at random, five times", "expected counts",
            "matching buckets",
        ),
        tuple(lines),
        f"Expected counts (the mean of all linkings, exact within a column) change the accuracy by {min(gains):+.4f} "
        f"to {max(gains):+.4f} against random linking and need no repetition. Choosing by the buckets that match a "
        f"person, as the privacy check does, changes it by another {min(buckets):+.4f} to {max(buckets):+.4f}.",
        "Adult (OCC-7), target occupation, naive Bayes by counts, two thirds to learn from, seed 0",
    )  # fmt: skip


def _matched(
    data: Microdata,
    release: Release,
    columns: Sequence[Sequence[str]],
    rows: np.ndarray,  # type: ignore[type-arg]
    known: Sequence[str],
    shares: np.ndarray,  # type: ignore[type-arg]
    truth: np.ndarray,  # type: ignore[type-arg]
) -> float:
    """Accuracy of the likeliest value by p(t, s), the sum over the matching buckets; the commonest where none does."""
    bucket, size = release.partition.group, release.partition.sizes

    def keys(names: Sequence[str], codes: Mapping[str, Any]) -> Any:
        key = np.zeros(len(next(iter(codes.values()))), dtype=np.int64)
        for name in names:
            key = np.where((codes[name] < 0) | (key < 0), -1, key * (len(data.domain[name]) + 1) + codes[name])
        return key

    asked = {name: rows[:, place] for place, name in enumerate(known)}
    first, of_last = columns[0], [name for name in columns[1] if name in known]
    value, of_row = np.unique(keys(first, data.codes), return_inverse=True)
    there = csr_array((1 / size[bucket], (of_row, bucket)), shape=(len(value), len(size)))
    wanted = keys(first, asked)
    place = np.clip(np.searchsorted(value, wanted), 0, len(value) - 1)
    place = np.where(value[place] == wanted, place, -1)
    other = keys(of_last, data.codes) if of_last else np.zeros(data.n_rows, dtype=np.int64)
    score = np.zeros((len(rows), len(shares)))
    asked_other = keys(of_last, asked) if of_last else np.zeros(len(rows), dtype=np.int64)
    for one in np.unique(other):
        mine = other == one
        jobs = csr_array(
            (1 / size[bucket[mine]], (bucket[mine], data.codes[OCCUPATION][mine])), shape=(len(size), len(shares))
        )
        found, lines = np.asarray((there @ jobs).todense()), np.flatnonzero((asked_other == one) & (place >= 0))
        score[lines] = found[place[lines]]
    score += 1e-12 * shares
    return float((score.argmax(axis=1) == truth).mean())


def exact_tests() -> Experiment:
    """How often the test of k allows what it should refuse, by the exact distribution of the sample."""
    n_rows = 100_000
    rows = []
    for k in (10, 100, 1_000):
        for n in (1_000, 5_000, 25_000):
            share = k / n_rows
            spread = np.sqrt(share * (1 - share) / n * (n_rows - n) / (n_rows - 1))
            least = int(np.ceil(n * (share + critical_value(ALPHA, 2) * spread)))
            wrong = float(hypergeom.sf(least - 1, n_rows, k - 1, n))
            exact = next(count for count in range(n + 1) if hypergeom.sf(count - 1, n_rows, k - 1, n) <= ALPHA / 2)
            rows.append((f"{k:,}", f"{n:,}", str(least), f"{wrong:.4f}", str(exact)))
    worst = max(float(one[3]) for one in rows)
    return Experiment(
        "Exact tests for sampling",
        "RothkoSampling tests k by a normal approximation. How often does it allow a side that has a row too few, and "
        "how many sampled rows would an exact (hypergeometric) test ask for?",
        ("k", "sample of 100,000", "rows asked for", "chance of a wrong cut", "by the exact test"),
        tuple(rows),
        f"The chance should be at most {ALPHA / 2:g}; it reaches {worst:.3f} where few rows of a side are sampled. "
        "The exact test asks for one row more there and keeps its promise at no cost, for its bounds are a table.",
        "computed from the distributions, alpha = 0.05 for two sides",
    )


WISHES: dict[str, tuple[Callable[[], Experiment], ...]] = {
    "foreground-knowledge": (background,),
    "slicing": (generalized_columns, mined),
    "rothko": (exact_tests,),
}


def wished(paper: str) -> tuple[Experiment, ...]:
    """The experiments of a paper, run."""
    return tuple(one() for one in WISHES.get(paper, ()))
