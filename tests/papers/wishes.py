"""What the papers wished for and nobody built: small measured experiments, each with a question and an answer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import hypergeom

from anoncore import attacks, utility
from anoncore.algorithms import Anatomy, Slicing
from anoncore.algorithms.rothko.hypothesis_tests import critical_value
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.requirements import KAnonymity
from dashboard.reproduction import Experiment
from tests.papers.foreground_knowledge import QUASI, SENSITIVE, Adult
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
        found = attacks.foreground_knowledge(release, SENSITIVE, r=l)
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
    "slicing": (generalized_columns,),
    "rothko": (exact_tests,),
}


def wished(paper: str) -> tuple[Experiment, ...]:
    """The experiments of a paper, run."""
    return tuple(one() for one in WISHES.get(paper, ()))
