"""Figures 22 to 28 of the Rothko paper: quality over the sample size, and pruning with and without the tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.express as px

from anoncore import Microdata
from anoncore.algorithms import RothkoSampling
from anoncore.algorithms.rothko import rothko_sampling
from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rows import Rows
from anoncore.algorithms.rothko.setting import Node, Part, Setting
from anoncore.datasets.public import data_folder
from anoncore.requirements import KAnonymity, RecursiveDiversity, Requirement, VarianceDiversity
from tests.papers.rothko_runs import Report, sampling_run, synthetic

PRUNES = "nodes that violate the requirement by its definition, and parts that stay larger than memory"
PAPER_ROWS = 100_000
QUICK_ROWS = 10_000
"""On reduced sizes, and for broken methods."""
KS = (10, 50, 250, 1000)
LEAST_BY_K, LEAST_GAIN, LEAST_BY_TARGET = 0.05, 0.005, 0.02
"""Least effects: of k 5 % of the largest value, of a larger sample 0.5 %, of cuts by the target beside medians 2 %."""
TARGETS = "the target's values and the rows of every published class, by the definition"
MUCH_SMALLER = 2.0
"""A spread that is much smaller is at most one such part of the other (the paper gives no figure)."""
KNOWN = (
    "age", "sex", "race", "marital", "education_level", "hours_worked", "weeks_worked", "citizenship", "family_size",
)  # fmt: skip
MEDIANS = 0
"""In the place of the sample's size: all rows, cut at medians instead of by the target."""
SAMPLES = (100, 250, 500, 1000, 2500, 5000, 10_000, 25_000)

PAPER = """
100: 68 (1384), x (x), x (x), x (x), 97 (631), x (x), x (x), x (x), x (x), x (x), x (x), x (x), x (x), x (x)
250: 30 (1110), 7 (97), x (x), x (x), 65 (87), x (x), 8 (67), x (x), x (510), x (x), x (x), x (396), x (x), x (x)
500: 11 (419), 12 (55), x (x), x (x), 2 (763), x (111), 2 (32), x (x), x (443), x (434), x (x), x (599), x (457), x (x)
1000: 0 (0), 5 (6), x (x), x (x), 112 (91), 1 (170), 1 (33), x (16), 0 (456), x (372), x (x), 0 (402), 0 (405), x (278)
2500: 0 (0), 2 (1), 1 (3), x (x), 0 (0), 0 (2), 1 (0), 0 (2), 0 (0), 0 (87), x (146), 0 (18), 0 (66), x (169)
5000: 0 (0), 0 (0), 1 (4), x (x), 0 (0), 0 (2), 0 (0), 0 (9), 0 (0), 0 (0), 0 (47), 0 (0), 0 (0), 0 (6)
10000: 0 (0), 0 (0), 0 (0), x (x), 0 (0), 0 (1), 0 (0), 0 (0), 0 (0), 0 (0), 0 (5), 0 (0), 0 (0), 0 (13)
25000: 0 (0), 0 (0), 0 (0), 0 (0), 0 (0), 0 (1), 0 (0), 0 (0), 0 (0), 0 (2), 0 (7), 0 (0), 0 (0), 0 (17)
"""
"""Figure 28 as printed: 100,000 rows, sample sizes by the requirements of panels a to d."""


def papers_cells() -> pd.DataFrame:
    """Figure 28 as printed, one column per requirement."""
    lines = [line.split(": ") for line in PAPER.strip().splitlines()]
    return pd.DataFrame([cells.split(", ") for _, cells in lines], index=[int(n) for n, _ in lines])


def census(rows: int, seed: int) -> Microdata:
    """A real census, rows drawn at random: whether a salary is above 50,000, and the salary."""
    frame = pd.read_csv(data_folder() / "census.csv.gz")
    frame = frame.sample(min(rows, len(frame)), random_state=seed).reset_index(drop=True)
    frame = frame[[*KNOWN, "salary"]].assign(**{"salary-class": np.where(frame["salary"] > 50_000, "above", "up to")})
    return Microdata(frame, roles={**dict.fromkeys(KNOWN, "quasi-identifier"), "*": "insensitive"})


def classification_and_regression(report: Report, rows: int, tables: int) -> None:
    """Figures 22 to 27: conditional entropy and error of the target over sample size and k."""
    experiments = {
        "22": ("infogain", "C2"),
        "23": ("infogain", "C7"),
        "24": ("infogain", "salary-class"),
        "25": ("regression", "R7"),
        "26": ("regression", "R10"),
        "27": ("regression", "salary"),
    }
    lines = []
    for figure, (split, target) in experiments.items():
        measure = class_entropy if split == "infogain" else class_error
        for seed in range(tables):
            data = census(rows, seed) if figure in ("24", "27") else synthetic(rows, seed, target=target)
            for k in (one for one in KS if 8 * one <= rows):
                for sample in [*(one for one in SAMPLES[3:] if one < rows), rows, MEDIANS]:
                    memory = rows if sample == MEDIANS else sample
                    fields = {"split": split, "target": target} if sample != MEDIANS else {"split": "median"}
                    fields |= {"memory_rows": memory, "sample_rows": memory}
                    model = RothkoSampling((KAnonymity(k=k),), **fields, growth="confident", seed=seed)
                    release = model.anonymize(data)
                    minimal = not any("may be left" in note for note in release.notes)
                    group = np.asarray(release.partition.group, dtype=np.int64)
                    is_kept = bool(np.bincount(group).min() >= k)
                    value = measure(group, data.frame[target])
                    lines.append((figure, target, seed, k, sample, value, minimal, is_kept))
    columns = ["figure", "target", "table", "k", "sample", "value", "minimal", "kept"]
    every = pd.DataFrame(lines, columns=columns)
    kept = every.groupby("figure")["kept"].all()
    every = every.drop(columns="kept")
    every.to_csv(report.folder / "figures-22-27-tables.csv", index=False)
    medians = every[every["sample"] == MEDIANS].groupby(["figure", "k"])["value"].mean()
    every = every[every["sample"] != MEDIANS]
    found = every.groupby(["figure", "target", "k", "sample"], as_index=False).agg({"value": "mean", "minimal": "mean"})
    plot = px.line(found, x="sample", y="value", color="k", facet_col="figure", facet_col_wrap=3, log_x=True)
    plot.update_yaxes(matches=None)
    report.save("figures-22-27", found, plot)
    for (figure, target), part in found.groupby(["figure", "target"]):
        wide = part.pivot_table(index="sample", columns="k", values="value")
        reasonable = wide.loc[2500:]
        by_sample = (reasonable.max() - reasonable.min()).max()
        by_k = (reasonable.max(axis=1) - reasonable.min(axis=1)).min()
        whole = every[(every["figure"] == figure) & (every["sample"] == rows)].groupby("k")["value"].agg(["min", "max"])
        at = (whole["max"] - whole["min"]).idxmax()
        report.state(
            str(figure),
            f"From reasonable samples on, their size matters much less than k ({target}; at most half as much).",
            bool(kept[figure] and 0 < MUCH_SMALLER * by_sample <= by_k and by_k >= LEAST_BY_K * wide.to_numpy().max()),
            f"at most {by_sample:.4g} over samples from 2,500 rows, at least {by_k:.4g} over k = {wide.columns[0]} to "
            f"{wide.columns[-1]}",
            "hardly a single cut of this target gains anything, so that chance decides which cuts come first, and with "
            "them how much is found; tables differ by more than samples even where no sample is drawn",
            f"`figures-22-27-tables`, all rows: {whole['min'][at]:.4g} to {whole['max'][at]:.4g} over {tables} tables "
            f"with k = {at}",
            least=f"classes have k rows, samples make a difference, and k one of {LEAST_BY_K:.0%} of the largest value",
            oracle=TARGETS,
        )
        small, all_rows = wide.iloc[0], wide.iloc[-1]
        report.state(
            str(figure),
            f"A larger sample leads to a small improvement ({target}).",
            kept[figure]
            & (all_rows < (1 - LEAST_GAIN) * small)
            & (small - all_rows <= wide.max(axis=None) - wide.min(axis=None)),
            ", ".join(f"k = {k}: {a:.4g} to {b:.4g}" for k, a, b in zip(wide, small, all_rows, strict=True)),
            "the smallest samples already find the cuts that matter",
            "`figures-22-27`",
            least=f"by {LEAST_GAIN:.1%}, and by less than k does",
            oracle=TARGETS,
        )
        by_median = medians[figure]
        report.state(
            str(figure),
            f"Cuts are chosen for the target: they leave less of {target} unknown than medians do.",
            kept[figure] & (all_rows < (1 - LEAST_BY_TARGET) * by_median),
            ", ".join(f"k = {k}: {a:.4g} against {b:.4g}" for k, a, b in zip(wide, all_rows, by_median, strict=True)),
            "with classes as large as this the target's cuts are those of the medians",
            "`figures-22-27-tables`, sample 0: medians",
            least=f"by {LEAST_BY_TARGET:.0%}",
            oracle=TARGETS,
        )


def class_entropy(group: npt.NDArray[np.int64], target: pd.Series) -> float:
    """Entropy of the target in bits, given the class of a row."""
    counts = pd.crosstab(group, target.to_numpy()).to_numpy()
    sizes = counts.sum(axis=1)
    shares = counts / sizes[:, None]
    bits = -np.where(shares > 0, shares * np.log2(np.maximum(shares, 1e-300)), 0).sum(axis=1)
    return float(sizes @ bits / sizes.sum())


def class_error(group: npt.NDArray[np.int64], target: pd.Series) -> float:
    """Root mean squared distance of the target from the mean of its class."""
    values = target.astype(float)
    return float(np.sqrt(((values - values.groupby(group).transform("mean")) ** 2).mean()))


def pruning(report: Report, rows: int, panels_run: str = "abcd", samples: Sequence[int] = SAMPLES) -> None:
    """Figure 28: nodes pruned, with the tests and (in brackets) without; x: possibly not minimal."""
    dollars = synthetic(rows, sensitive="salary")
    # Whole thousands: the same variance, but values that can be counted beside each other.
    uniform = dollars.frame.assign(salary=dollars.frame["salary"] // 1000 * 1000)
    bell = np.random.default_rng(0).normal(85_000, np.sqrt(1.1e8), rows)
    normal = uniform.assign(salary=(bell // 1000 * 1000).astype(np.int64))
    roles = {name: role.value for name, role in dollars.roles.items()}
    panels: dict[str, tuple[Microdata, dict[str, Requirement]]] = {
        "a": (synthetic(rows), {f"k = {k}": KAnonymity(k=k) for k in (10, 100, 1000, 10_000) if 2 * k < rows}),
        "b": (
            synthetic(rows, sensitive="zipcode"),
            {f"l = {l}": RecursiveDiversity(c=1.0, l=l) for l in (2, 4, 6, 8)},
        ),
        "c": (Microdata(uniform, roles), {f"v = {v:g}": VarianceDiversity(v=v) for v in (1.1e9, 1.2e9, 1.3e9)}),
        "d": (Microdata(normal, roles), {f"v = {v:g}": VarianceDiversity(v=v) for v in (7e7, 8e7, 9e7)}),
    }
    lines = []
    for panel, (data, requirements) in ((one, panels[one]) for one in panels_run):
        for label, requirement in requirements.items():
            for sample in (one for one in samples if one < rows):
                model = RothkoSampling(
                    (requirement,), memory_rows=sample, sample_rows=sample, growth="confident", seed=0
                )
                tested, naive = (pruned(data, model, requirement, naive) for naive in (False, True))
                lines.append((panel, label, sample, *tested[:2], *naive[:2], tested[2] and naive[2]))
    columns = ["panel", "requirement", "n", "pruned", "minimal", "naive pruned", "naive minimal", "as asked"]
    every = pd.DataFrame(lines, columns=columns)
    every.to_csv(report.folder / "figure-28-counts.csv", index=False)
    cells = [
        f"{one.pruned if one.minimal else 'x'} ({one.naive if one.naive_minimal else 'x'})"
        for one in every.rename(columns={"naive pruned": "naive", "naive minimal": "naive_minimal"}).itertuples()
    ]
    wide = every.assign(cell=cells).pivot_table(
        index="n", columns=["panel", "requirement"], values="cell", aggfunc="first", sort=False
    )
    wide.columns = [f"({panel}) {label}" for panel, label in wide.columns]
    report.save("figure-28", wide.reset_index())
    _judge(report, every)
    printed = papers_cells()
    if rows == PAPER_ROWS:
        printed.columns = [f"({panel}) {label}" for panel, (_, some) in panels.items() for label in some]
        report.save("figure-28-paper", printed.rename_axis("n").reset_index())
        found, stated = wide.to_numpy(), printed.loc[list(wide.index), list(wide.columns)].to_numpy()
        alike = np.array([a[0] == "x" for a in found.ravel()]) == np.array([b[0] == "x" for b in stated.ravel()])
        report.state(
            "28",
            "The same cells are possibly not minimal with the tests (more than 90 %).",
            bool(alike.mean() > 0.9),
            f"{alike.sum()} of {alike.size} cells alike",
            "other random tables and samples",
            "`figure-28` beside `figure-28-paper`",
            least="as stated",
            oracle="the printed figure; " + PRUNES,
        )


def pruned(data: Microdata, model: RothkoSampling, requirement: Requirement, naive: bool) -> tuple[int, bool, bool]:
    """Nodes that turned out to violate the requirement, whether all was cut, and whether samples were as asked for.

    Nodes are counted by the definition of the requirement on what was counted of their rows; a part that is larger than
    memory and becomes one class is one for which no cut was found.
    """
    violating, whole = [0], [0]
    prune, views = rothko_sampling.prune, rothko_sampling.Part

    def counting(setting: Setting, tree: PartitionTree, nodes: dict[int, Node]) -> None:
        before = set(nodes) - {0}
        for node in before:
            violating[0] += not node_satisfies(data, requirement, nodes[node].size, nodes[node].totals)
        prune(setting, tree, nodes)

    def part(rows: Rows, region: Any, is_class: bool) -> Part:
        whole[0] += is_class
        return views(rows, region, is_class)

    with patch.object(rothko_sampling, "prune", counting), patch.object(rothko_sampling, "Part", part):
        found = sampling_run(data, model, naive=naive, by_tree=False, height=8)
    return violating[0], whole[0] == 0, set(found.samples) == {model.sample_rows}


def node_satisfies(data: Microdata, requirement: Requirement, size: int, counts: npt.NDArray[np.int64]) -> bool:
    """Whether a node of so many rows, with these counts of sensitive values, satisfies the requirement."""
    if isinstance(requirement, KAnonymity):
        return size >= requirement.k
    if isinstance(requirement, RecursiveDiversity):
        falling = np.sort(counts)[::-1]
        return bool(falling[0] < requirement.c * falling[int(requirement.l) - 1 :].sum())
    values = np.array(data.domain["salary"].values, dtype=float)
    mean = counts @ values / size
    return bool(counts @ (values - mean) ** 2 / size >= requirement.v - 1e-6)


def _judge(report: Report, every: pd.DataFrame) -> None:
    both = every[every["minimal"] & every["naive minimal"]]
    fewer = both["pruned"] <= both["naive pruned"]
    report.state(
        "28",
        "The tests lead to much less pruning than checking the sample as it is (at most half as much).",
        bool(0 < MUCH_SMALLER * both["pruned"].sum() <= both["naive pruned"].sum()),
        f"{both['pruned'].sum():,} nodes against {both['naive pruned'].sum():,}; not more in {fewer.sum()} of "
        f"{len(fewer)} cells that are minimal either way",
        least="as stated, and some nodes with the tests",
        oracle=PRUNES,
    )
    size = every["n"].rank(method="dense")
    small, large = every[size <= 3], every[size > size.max() - 2]
    report.state(
        "28",
        "Pruning and non-minimality decrease with the sample size.",
        [
            bool(every["as asked"].all() and (~small["minimal"]).mean() > (~large["minimal"]).mean()),
            bool(every["as asked"].all() and small["pruned"].sum() > large["pruned"].sum()),
        ],
        f"{(~small['minimal']).sum()} of {len(small)} small and {(~large['minimal']).sum()} of {len(large)} large "
        f"samples are not minimal; largest samples prune {large['pruned'].sum()} nodes, small ones "
        f"{small['pruned'].sum()}",
        least="fewer in both, with samples of the size that was asked for",
        oracle=PRUNES,
    )
