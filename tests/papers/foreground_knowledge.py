"""Text of section 5.1 and figures 1 to 3 of the foreground-knowledge paper: four methods against the attack on Adult.

Run: python -m tests.papers.foreground_knowledge [--out FOLDER] [--quick] [--seeds 3]. Needs the Adult table and
ARX's hierarchies for it. Writes tables (CSV), plots (HTML) and the statements of the paper with what is found here.
Source: Wong, Fu, Wang, Xu and Yu, Can the Utility of Anonymized Data be used for Privacy Breaches?, 2009, section 5.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import plotly.express as px
import plotly.graph_objects as go

from anoncore import InfeasibleError, Microdata, Partition, Release, attacks
from anoncore.algorithms import Algorithm, Anatomy, ForegroundSafe, Incognito, Injector, Mask, Mondrian
from anoncore.algorithms.base import generalized_release
from anoncore.attacks import ForegroundKnowledge
from anoncore.attacks.foreground import mining
from anoncore.attacks.foreground.mining import Target, Unreliable
from anoncore.attacks.foreground.solver import Precision, Solution
from anoncore.datasets.public import data_folder
from anoncore.kernels.rounding import ACCUMULATED, lies_above, reaches
from anoncore.requirements import KAnonymity, TCloseness
from anoncore.table.hierarchy_files import read_hierarchy
from anoncore.utility import query_error
from dashboard.reproduction import Plot
from tests.papers import oracles
from tests.papers.command import command
from tests.papers.findings import Findings, Statements, curve, curves
from tests.papers.foreground_statements import ALONE, DEALT, NUMBERS, PAPER, judge

DATA = data_folder()
QUASI = ["age", "workclass", "marital-status", "occupation", "race", "sex", "native-country", "salary-class"]
SENSITIVE = "education"
EPSILON = 0.01
"""The error that the paper's adversary accepts (section 5)."""
LOW = {"Preschool", "1st-4th", "5th-6th", "7th-8th"}
CASE_STUDY = ["age", "marital-status", "occupation"]
"""The quasi-identifiers of section 5.1's case study, which are those of QI size 3."""
READINGS: dict[Unreliable, str] = {
    "overall": "rare signatures have the overall share",
    "uniform": "rare signatures have 1/2",
    "group": "rare signatures have the share in their group",
}
SHARES = {"1/2": 1 / 2, "1/4": 1 / 4, "1/16": 1 / 16}
"""Of two cases, of the buckets at r = 4, and of the 16 values of education."""
AT_LEAST = "; a breach is p >= 1/r"
ONE_STEP = "shares after one step from equal worlds"
"""A reading of its own: section 4.1 followed once, from each person of a group having x with its share there; rare
signatures have the overall share.
"""
NOT_SOLVED = (
    "the printed shares are those after one step from equal worlds, the mean share of the groups in which a signature "
    "stands, and no solution of the equations of section 4.1, which lies nearer to the truth"
)
DEALT_SIZES = (3, 5, 8)
CHECKED = (3, 5)
"""QI sizes at which what Anatomy's buckets teach is counted in the buckets themselves."""
EXACT = 1e-5
"""How near the library's shares and beliefs have to be to those that are counted."""
SEEDS = 10
KEYS = ["method", "r", "q", "reading"]
MEASURES = {
    "mining seconds": "(a) time for mining, seconds summed over cores",
    "execution seconds": "(b) execution time, seconds",
    "recall": "(c) problematic among sensitive tuples",
    "delta": "(d) average value of delta",
}


class Adult:
    """The Adult table with the first q quasi-identifiers; all education values or only the low ones protected."""

    def __init__(self) -> None:
        self.frame = pd.read_csv(DATA / "adult.csv")
        folder = DATA / "hierarchies"
        self.hierarchies = {name: read_hierarchy(folder / f"adult_hierarchy_{name}.csv") for name in QUASI}

    def microdata(self, names: list[str], protected: bool = True) -> Microdata:
        """The table with these quasi-identifiers."""
        return Microdata(
            self.frame[[*names, SENSITIVE]],
            roles=dict.fromkeys(names, "quasi-identifier") | {SENSITIVE: "sensitive"},
            sensitive_values={SENSITIVE: LOW} if protected else {},
            hierarchies={name: self.hierarchies[name] for name in names},
        )


def models(r: int, seed: int) -> dict[str, Algorithm]:
    """The paper's four methods with its parameters, t-closeness in two readings, and the defence."""
    close = Incognito(requirements=(TCloseness(t=0.2, ground="equal"),))
    return {
        "Anatomy": Anatomy(l=r, seed=seed),
        "Mask": Mask(k=r, l=r, seed=seed),
        "Injector": Injector(l=r, seed=seed),
        "t-closeness": close,
        "t-closeness, all values": close,
        "ForegroundSafe": ForegroundSafe(l=r, epsilon=EPSILON, seed=seed),
        ALONE: Mondrian(requirements=(KAnonymity(k=r),)),
        DEALT: Mask(k=r, l=r, seed=seed),
    }


def released(adult: Adult, data: Microdata, name: str, model: Algorithm) -> Release:
    """The release; t-closeness of all values protects each of them, and is attacked like the others."""
    if name == DEALT:
        group = np.random.default_rng(0).permutation(model.anonymize(data).partition.group)
        return generalized_release(model, data, Partition(group))
    if not name.endswith("all values"):
        return model.anonymize(data)
    release = model.anonymize(adult.microdata(list(data.quasi_identifiers), protected=False))
    return Release(data, release.fragments, release.algorithm, release.notes)


def measured(found: ForegroundKnowledge, at_least: bool) -> dict[str, object]:
    """The attack's figures; `at_least`: a belief of exactly 1 / r is a breach too."""
    recall, flagged = float(found.recall), float(found.flagged)
    if at_least:
        needs = ~np.isnan(found.own_probability)
        recall = float(reaches(found.own_probability[needs], 1 / found.r, ACCUMULATED).mean())
        flagged = float(reaches(found.breach_probability[~needs], 1 / found.r, ACCUMULATED).mean())
    return {
        "recall": recall,
        "flagged": flagged,
        "mean probability": float(found.mean_probability),
        "delta": float(found.mean_range),
        "delta, largest set": max((one.mean_range for one in found.sets), default=np.nan),
        "learning error": float(found.error),
        "difference": _difference(found),
        "recall alone": _alone(found, at_least),
        "attribute sets": found.n_sets,
        "mining seconds": found.mining_seconds,
        "attack seconds": found.seconds,
        "converged": found.converged,
    }


def _alone(found: ForegroundKnowledge, at_least: bool) -> float:
    """Share of the sensitive tuples that the shares of their own groups give away."""
    alone = found.own_without_attack[~np.isnan(found.own_without_attack)]
    return float((reaches if at_least else lies_above)(alone, 1 / found.r, ACCUMULATED).mean())


@contextmanager
def after_one_step() -> Iterator[None]:
    """The attack with the shares of the reading ONE_STEP."""
    solve = mining.solve

    def once(cases: Any, held: Any, rows: Any, start: Any, fixed: Any, solver: Any, precision: Any = None) -> Solution:
        found = solve(cases, held, rows, start, start, solver, Precision(tolerance=0.0, most_steps=1))
        return replace(found, shares=found.shares._replace(fixed=fixed))

    with patch.object(mining, "solve", once):
        yield


def attacked(release: Release, r: int, reading: str, **fields: Any) -> ForegroundKnowledge:
    """The attack in one of READINGS, or in ONE_STEP."""
    about = {"r": r, "epsilon": EPSILON, "draws": 0} | fields
    if reading == ONE_STEP:
        with after_one_step():
            return attacks.foreground_knowledge(release, SENSITIVE, **about)
    unreliable = next(name for name, text in READINGS.items() if text == reading)
    return attacks.foreground_knowledge(release, SENSITIVE, unreliable=unreliable, **about)


def follows(release: Release, found: ForegroundKnowledge, reading: str) -> tuple[bool, bool]:
    """Whether the shares learned from Anatomy's buckets solve the equations, and the beliefs are those of the worlds.

    Counted in the buckets, in which at most one person has a low education: p(t:x) is their odds over all of them.
    """
    frame, group = release.data.frame, release.partition.group
    low = frame[SENSITIVE].isin(LOW).to_numpy()
    own_share = (np.bincount(group, weights=low) / np.bincount(group))[group]
    rare = {
        READINGS["uniform"]: np.full(len(low), 0.5),
        READINGS["group"]: own_share,
    }.get(reading, np.full(len(low), low.mean()))
    highest, off = np.zeros(len(low)), 0.0
    for place, leak in enumerate(found.sets):
        names = list(leak.attributes)
        learned = found.distribution(release, place).set_index(names)["learned"]
        shares = frame[names].astype(str).join(learned, on=names)["learned"]
        is_known = shares.notna().to_numpy()
        f = np.where(is_known, shares, rare).clip(1e-300, 1 - 1e-16)
        p = oracles.single_beliefs(f / (1 - f), group, low)
        expected = pd.Series(own_share if reading == ONE_STEP else p)[is_known]
        by_signature = expected.groupby([frame.loc[is_known, name] for name in names]).transform("mean")
        off = max(off, float((by_signature - shares[is_known]).abs().max()))
        highest = np.maximum(highest, p)
    return off < EXACT, bool(np.abs(highest - found.breach_probability).max() < EXACT)


def _difference(found: ForegroundKnowledge) -> float:
    """Mean difference of what is learned and what is true, each signature weighed by its tuples."""
    apart = sum(float((np.abs(one.learned - one.true) * one.rows[:, None]).sum()) for one in found.sets)
    return apart / max(sum(int(one.rows.sum()) * one.learned.shape[1] for one in found.sets), 1)


def runs(adult: Adult, rs: list[int], qs: list[int], seeds: int, queries: int) -> Iterator[dict[str, object]]:
    """One line per method, r, q, seed and reading."""
    for q in qs:
        data = adult.microdata(CASE_STUDY if q == len(CASE_STUDY) else QUASI[:q])
        for r in rs:
            for seed in range(seeds):
                for name, model in models(r, seed).items():
                    if seed and ("seed" not in type(model).model_fields or name == DEALT):
                        continue
                    if name == DEALT and q not in DEALT_SIZES:
                        continue
                    begin = time.perf_counter()
                    try:
                        release = released(adult, data, name, model)
                    except InfeasibleError as error:
                        print(f"{name}, r = {r}, q = {q}: {error}")
                        continue
                    about = {
                        "method": name,
                        "r": r,
                        "q": q,
                        "seed": seed,
                        "execution seconds": time.perf_counter() - begin,
                        "mean group size": release.partition.sizes.mean(),
                    }
                    error = query_error(release, n_queries=queries)
                    about |= {"query error": error.mean, "median query error": error.median}
                    for reading in (*READINGS.values(), ONE_STEP):
                        found = attacked(release, r, reading)
                        is_checked = name == "Anatomy" and seed == 0 and q in CHECKED
                        solves, believes = follows(release, found, reading) if is_checked else (np.nan, np.nan)
                        about |= {"solves": solves, "believes": believes}
                        yield about | {"reading": reading} | measured(found, False)
                        if reading != ONE_STEP:
                            yield about | {"reading": reading + AT_LEAST} | measured(found, True)
            print(f"q = {q}, r = {r} done", flush=True)


def drawn(found: pd.DataFrame, measures: dict[str, str], title: str) -> go.Figure:
    """One panel per measure over the QI size, one colour per method, dashes for the reading."""
    long = found.melt(["method", "q", "reading"], list(measures), "measure", "value").replace({"measure": measures})
    figure = px.line(
        long, x="q", y="value", color="method", line_dash="reading", facet_col="measure", facet_col_wrap=2,
        markers=True, title=title, labels={"q": "QI size", "value": ""},
    )  # fmt: skip
    figure.for_each_annotation(lambda one: one.update(text=one.text.removeprefix("measure=")))
    return figure.update_yaxes(matches=None, showticklabels=True, rangemode="tozero")


def figures(mean: pd.DataFrame, output: Path) -> None:
    """Figures 1 and 2 (r = 2 and 10; r = 4 beside them) and 3."""
    for figure, r in (("figure-1", 2), ("figure-2", 10), ("beside-r-4", 4)):
        part = mean[mean["r"] == r]
        if part.empty:
            continue
        columns = ["method", "q", "reading", *MEASURES, "flagged", "mean probability", "mean group size"]
        part[columns].to_csv(output / f"{figure}.csv", index=False)
        drawn(part, MEASURES, f"{figure}: effect of QI size, r = {r}").write_html(
            output / f"{figure}.html", include_plotlyjs="directory"
        )
        for measure in ("recall", "delta"):
            table = part.pivot_table(index=["method", "reading"], columns="q", values=measure, sort=False)
            print(f"\n{figure}, r = {r}: {measure} by QI size\n{table.round(4).to_string()}")
    errors = mean[(mean["reading"] == READINGS["overall"]) & mean["r"].isin([2, 10])]
    columns = ["method", "r", "q", "query error", "median query error", "mean group size"]
    errors[columns].to_csv(output / "figure-3.csv", index=False)
    plot = px.line(
        errors, x="q", y="query error", color="method", facet_col="r", markers=True,
        title="Figure 3: average relative error of count queries",
    )  # fmt: skip
    plot.update_yaxes(matches=None, showticklabels=True, rangemode="tozero")
    plot.write_html(output / "figure-3.html", include_plotlyjs="directory")
    table = errors.pivot_table(index=["r", "method"], columns="q", values="query error", sort=False)
    print(f"\nFigure 3: average relative error by QI size\n{table.round(4).to_string()}")


def case_study(adult: Adult, said: Statements, seeds: int = SEEDS) -> None:
    """Section 5.1: what 2-diverse tables teach about two occupations, and the group of two people."""
    said.oracle = "mean shares of low educations in the groups of an occupation's people"
    data = adult.microdata(CASE_STUDY)
    by_job = pd.Series(adult.frame[SENSITIVE].isin(LOW)).groupby(adult.frame["occupation"]).mean()
    truth = by_job[list(JOBS)].to_numpy()
    releases = [Anatomy(l=2, seed=seed).anonymize(data) for seed in range(seeds)]
    readings = (*READINGS.values(), ONE_STEP)
    learned = {reading: np.array([_of_jobs(one, reading) for one in releases]) for reading in readings}
    plainly = np.array([_mean_shares(one) for one in releases])
    once = learned[ONE_STEP]
    for reading, shares in learned.items():
        said.reading = reading
        same = reading != ONE_STEP or bool(np.abs(once - plainly).max() < EXACT)
        printed = (shares.round(2) == [0.02, 0.04]).all(axis=1) & same
        away = np.abs(once.mean(axis=0) - [0.02, 0.04]).max()
        for own in (reading, reading + AT_LEAST)[: 1 if reading == ONE_STEP else 2]:
            said.reading = own
            said.add(
                "section 5.1",
                "learned p(Adm-clerical) = 0.02, p(Craft-repair) = 0.04, rounded",
                printed,
                f"{_between(shares)} with {seeds} seeds of Anatomy, of which the second person gets "
                f"p = {attacks.group_probabilities(shares[0], 1)[1]:.2f} (seed 0); true {truth[0]:.4f} and "
                f"{truth[1]:.4f}",
                NOT_SOLVED,
                f"after one step {_between(once)}, off by {away:.4f} on average at most",
                least="a rounding, 0.005",
            )
    said.reading = ""
    text = "true p(Adm-clerical) = 0.01, p(Craft-repair) = 0.04"
    said.add("section 5.1", text, truth.round(2) == [0.01, 0.04], f"{truth[0]:.4f} and {truth[1]:.4f}", by_hand=True)
    exact, by_worlds = attacks.group_probabilities([0.02, 0.04], 1)[1], oracles.beliefs([0.02, 0.04], 1)[1]
    said.add(
        "section 5.1", "0.02 and 0.04 in a group of two give 0.67",
        round(exact, 2) == 0.67 and abs(exact - by_worlds) < EXACT, f"{exact:.4f}",
     least="a rounding, 0.005",)  # fmt: skip


JOBS = ("Adm-clerical", "Craft-repair")


def _of_jobs(release: Release, reading: str) -> list[float]:
    """What is learned of the two occupations."""
    found = attacked(release, 2, reading, max_size=1)
    place = next(i for i, one in enumerate(found.sets) if one.attributes == ("occupation",))
    table = found.distribution(release, place).set_index("occupation")["learned"]
    return [float(table[job]) for job in JOBS]


def _mean_shares(release: Release) -> list[float]:
    """Mean share of low educations in the groups of their people."""
    frame, group = release.data.frame, release.partition.group
    share = np.bincount(group, weights=frame[SENSITIVE].isin(LOW)) / np.bincount(group)
    by_job = pd.Series(share[group]).groupby(frame["occupation"].to_numpy()).mean()
    return [float(by_job[job]) for job in JOBS]


def _between(shares: np.ndarray) -> str:  # type: ignore[type-arg]
    low, high = shares.min(axis=0), shares.max(axis=0)
    return f"{low[0]:.3f} to {high[0]:.3f} and {low[1]:.3f} to {high[1]:.3f}"


def fixed_shares(adult: Adult) -> str:
    """Mean p(t:x) at QI size 5 where people with rare signatures have one share, whatever the group: in words."""
    data = adult.microdata(QUASI[:5])
    found = []
    for r in (2, 4):
        release = Anatomy(l=r, seed=0).anonymize(data)
        means = []
        for share in SHARES.values():
            with patch.object(Target, "of", _with_share(share)):
                attacked = attacks.foreground_knowledge(release, SENSITIVE, r=r, epsilon=EPSILON, draws=0)
            means.append(f"{float(attacked.mean_probability):.4f}")
        found.append(f"r = {r}: {', '.join(means)}")
    return f"Anatomy, QI size 5, seed 0, rare signatures have {', '.join(SHARES)}: {'; '.join(found)}"


def _with_share(share: float) -> Callable[..., Target]:
    """`Target.of` with this share for rare signatures."""
    made = Target.of

    def of(release: Release, attribute: str, *_: object) -> Target:
        target = made(release, attribute)
        return replace(target, fixed=np.full(target.n_values, share))

    return of


def sharing_a_bucket(adult: Adult) -> str:
    """Share of the other rows that share a bucket with a low education, and of those flagged by single attributes."""
    data = adult.microdata(QUASI[:5])
    low = adult.frame[SENSITIVE].isin(LOW).to_numpy()
    found = []
    for r in (2, 4, 10):
        release = Anatomy(l=r, seed=0).anonymize(data)
        group = release.partition.group
        beside = np.bincount(group[low], minlength=release.partition.n_groups)[group[~low]] > 0
        alone = attacks.foreground_knowledge(release, SENSITIVE, r=r, epsilon=EPSILON, max_size=1, draws=0)
        found.append(f"r = {r}: {beside.mean():.1%}, flagged {float(alone.flagged):.1%}")
    return (
        "Anatomy, QI size 5, seed 0: so many of the other rows share a bucket with a low education, and so many are "
        f"flagged by single attributes alone: {'; '.join(found)}"
    )


def same_groups(adult: Adult) -> dict[str, str]:
    """Delta of the groups of t-closeness made with three attributes, attacked with more and more: by reading."""
    few = adult.microdata(CASE_STUDY)
    groups = models(2, 0)["t-closeness"].anonymize(few).partition
    found = {}
    for unreliable, reading in READINGS.items():
        deltas = []
        for names in (CASE_STUDY, QUASI):
            release = generalized_release(Mondrian(), adult.microdata(names), groups)
            attacked = attacks.foreground_knowledge(
                release, SENSITIVE, r=2, epsilon=EPSILON, unreliable=unreliable, draws=0
            )
            deltas.append(f"{float(attacked.mean_range):.4f}")
        found[reading] = f"groups of t-closeness as at QI size 3, attacked with 3 and 8 attributes: {', '.join(deltas)}"
    return found


def judged(runs_: pd.DataFrame, adult: Adult, found: Findings, seeds: int = SEEDS) -> pd.DataFrame:
    """The means over the seeds; the statements about them and the main curves."""
    mean = runs_.groupby(KEYS, sort=False).mean().drop(columns="seed").reset_index()
    case_study(adult, found.said, seeds)
    tried = {"mean probability": fixed_shares(adult), "flagged": sharing_a_bucket(adult)} | same_groups(adult)
    tried[ONE_STEP] = tried[READINGS["overall"]]
    judge(mean, tuple(mean["reading"].unique()), READINGS["overall"], tried, found.said)
    shown = mean[mean["method"].isin([*PAPER, "ForegroundSafe"])]
    for figure, r in (("figure 1", 2), ("figure 2", 10)):
        part = shown[(shown["r"] == r) & (shown["reading"] == READINGS["uniform"])]
        for measure, title in (("recall", "Share of sensitive tuples breached"), ("delta", "Average delta")):
            frame = part.pivot_table(index="q", columns="method", values=measure, sort=False)
            found.plots.append(Plot(figure, f"{title}, r = {r}", "QI size", title.lower(), curves(frame)))
        part = shown[(shown["r"] == r) & (shown["reading"] == READINGS["overall"])]
        frame = part.pivot_table(index="q", columns="method", values="query error", sort=False)
        title = f"Average relative error of count queries, r = {r}"
        found.plots.append(Plot("figure 3", title, "QI size", "relative error", curves(frame)))
    part = mean[(mean["method"] == "Anatomy") & (mean["r"] == 2)]
    frame = part.pivot_table(index="q", columns="reading", values="mean probability")
    ours = curves(frame[list(READINGS.values())])
    known = [(q, value) for measure, r, q, value, _ in sorted(NUMBERS) if (measure, r) == ("mean probability", 2)]
    printed = curve("paper", *zip(*known, strict=True), paper=True)
    title = "Anatomy, r = 2: mean p(t:x) of the sensitive tuples"
    found.plots.append(Plot("section 5.1", title, "QI size", "mean probability", (*ours, printed)))
    return mean


def reproduce(quick: bool, folder: Path, seeds: int = 3) -> Findings:
    """Measure, judge, print and write everything."""
    found = Findings()
    adult = Adult()
    qs, seeds, queries = ([3, 5], 1, 1_000) if quick else (list(range(3, 9)), seeds, 10_000)
    sizes = (
        f"{len(adult.frame):,} rows of Adult, QI sizes {qs[0]} to {qs[-1]}, {queries:,} queries, {seeds} seeds; "
        "epsilon = 0.01 and sigma = 0.9 as in the paper, where the library by default chooses epsilon; one solution of "
        "the equations, that which plain iteration reaches"
    )
    with found.study("1; 2; 3; section 5.1; section 5.2", sizes, f"0 to {seeds - 1}" if seeds > 1 else "0"):
        list(runs(adult, [2], [3], 1, 100))  # compiles, so that times are those of the methods
        measured_runs = pd.DataFrame(runs(adult, [2, 10] if quick else [2, 4, 10], qs, seeds, queries))
    mean = judged(measured_runs, adult, found, SEEDS if not quick else 2)
    measured_runs.to_csv(folder / "runs.csv", index=False)
    figures(mean, folder)
    columns = ["recall", "flagged", "mean probability", "delta", "learning error", "mean group size", "query error"]
    default = mean[mean["q"] == 5].set_index(["r", "method", "reading"])[columns]
    text = default.sort_index(level="r", sort_remaining=False)
    text.to_csv(folder / "section-5.1.csv")
    print(f"\nSection 5.1 and 5.2 at the default QI size 5\n{text.round(4).to_string()}")
    found.said.table().to_csv(folder / "statements.csv", index=False)
    return found


if __name__ == "__main__":
    command(__doc__, reproduce, seeds="runs of each method that draws at random (3; the paper: 100)")
