"""Figures 3 to 7 of the slicing paper on Adult: classifiers on sliced data, and who can tell the members.

Run: python -m tests.papers.slicing [--out FOLDER] [--quick] [--folds N] [--linkings N]. Needs the Adult table (see
`datasets`). Writes tables (CSV) and plots (HTML) and prints them with the paper's statements. Source: Li, Li, Zhang and
Molloy, Slicing: a new approach to privacy preserving data publishing, 2009, section 6. The paper's levels l = 5, 8, 10
can only be reached by its distinct reading (at least l values possible); its definition, which bounds probabilities,
reaches 2 and 3.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.express as px

from anoncore import Microdata, attacks, utility
from anoncore.algorithms import Mondrian, RandomBuckets, Slicing
from anoncore.algorithms.base import Algorithm, generalized_release
from anoncore.algorithms.slicing.attribute_partition import partition_attributes
from anoncore.datasets import table
from anoncore.release.release import Release
from anoncore.requirements import DistinctDiversity, FrequencyDiversity, KAnonymity
from anoncore.table.domain import Kind
from dashboard.reproduction import Plot
from tests.papers import oracles, plain_classifiers
from tests.papers.command import command
from tests.papers.findings import Findings, curve, curves
from tests.papers.slicing_statements import (
    EVERY,
    MANY,
    MANY_BUCKETS,
    OTHER_TARGET,
    PRINTED_FAKE,
    SENSITIVE,
    SPLITS,
    judge_classifiers,
    judge_members,
    wide,
)

OCC_7 = ("age", "workclass", "education", "marital-status", "race", "sex")
LEVELS = (("distinct", 5), ("distinct", 8), ("distinct", 10), ("posterior", 2), ("posterior", 3))
CLASSIFIERS = ("tree", "naive-bayes")
COLUMNS = (2, 3, 5)
SIZES = (10, 20, 50, 100, 150, 200)
AGE_BINS = 10
"""Section 4.1.1 cuts continuous attributes into intervals of equal width; their number is not printed."""
AGES = ("age in ten bins", "exact age")
TARGETS = (SENSITIVE, OTHER_TARGET)
FEW_LEVELS, FEW_SIZES = (("distinct", 5), ("distinct", 8), ("posterior", 2), ("posterior", 3)), (10, 100, 200)
QUICK_ROWS = 4_000
FIVE_COLUMNS = {
    "OCC-7": (("age", "marital-status", "sex"), ("workclass",), ("education",), ("race",), ("occupation",)),
    "OCC-15": (
        ("age", "workclass", "education", "education-num", "capital-gain", "hours-per-week", "salary-class"),
        ("marital-status", "occupation", "relationship", "sex"),
        ("race", "native-country"),
        ("fnlwgt",),
        ("capital-loss",),
    ),
}
"""The five columns that the paper names."""


@dataclass(frozen=True)
class Study:
    """The data sets and how thoroughly classifiers are judged."""

    data: dict[str, Microdata]
    binned: dict[str, Microdata]
    folds: int
    repeats: int
    levels: Sequence[tuple[str, int]] = LEVELS
    sizes: Sequence[int] = SIZES

    @classmethod
    def of(cls, rows: int | None, folds: int, repeats: int, **fewer: Sequence[object]) -> Study:
        """OCC-7 and OCC-15, all rows of Adult or a random part of them."""
        frame = table("adult").load()
        if rows is not None:
            frame = frame.sample(rows, random_state=0)
        every = tuple(name for name in frame.columns if name != SENSITIVE)
        data, binned = {}, {}
        cut = pd.cut(frame["age"], AGE_BINS, labels=False)
        for title, known in (("OCC-7", OCC_7), ("OCC-15", every)):
            entry = table("adult")
            columns = [*known, SENSITIVE]
            for made, table_of in ((data, frame), (binned, frame.assign(age=cut))):
                made[title] = Microdata(
                    table_of[columns],
                    roles={**dict.fromkeys(known, "quasi-identifier"), SENSITIVE: "sensitive"},
                    kinds={name: entry.kinds[name] for name in columns},
                    orders={name: entry.orders[name] for name in columns if name in entry.orders},
                )
        return cls(data, binned, folds, repeats, **fewer)

    def by_age(self) -> dict[str, dict[str, Microdata]]:
        """The data sets in both readings of age."""
        return dict(zip(AGES, (self.binned, self.data), strict=True))

    def accuracies(self, title: str, algorithm: Algorithm, targets: Sequence[str]) -> Iterator[dict[str, object]]:
        """Accuracy of each classifier for each target, learned from the release and from the original data."""
        begun = time.process_time()
        release = algorithm.anonymize(self.data[title])
        seconds = time.process_time() - begun
        for target in targets:
            for classifier in CLASSIFIERS:
                found = utility.classification(release, target, classifier, self.folds, repeats=self.repeats)
                yield {
                    "data": title,
                    "target": target,
                    "classifier": classifier,
                    "accuracy": float(found),
                    "plain": plain_accuracy(release, target, classifier),
                    "original": found.baseline,
                    "majority": found.majority.accuracy,
                    "groups": release.fragments[0].partition.n_groups,
                    "seconds": seconds,
                }


def plain_accuracy(release: Release, target: str, classifier: str) -> float:
    """What the oracle measures on the same groups and columns."""
    data = release.data
    columns = [fragment.attributes for fragment in release.fragments]
    return plain_classifiers.accuracy(
        data.frame,
        release.fragments[0].partition.group,
        columns if len(columns) > 1 else None,
        target,
        classifier,
        {name: data.domain[name].values for name in data.attributes if data.domain[name].kind is not Kind.NUMERIC},
    )


def methods(diversity: str, l: float, columns: int = 2, split: str = EVERY) -> dict[str, Algorithm]:
    """The three techniques at one level; bucketization is slicing with the sensitive attribute alone."""
    requirement = DistinctDiversity(l=int(l)) if diversity == "distinct" else FrequencyDiversity(l=l)
    common = {"l": l, "diversity": diversity, "retry_splits": split == EVERY}
    return {
        "slicing": Slicing(columns=columns, sensitive_column_size=2, **common),
        "bucketization": Slicing(columns=2, sensitive_column_size=1, **common),
        "generalization": Mondrian(requirements=[requirement]),
    }


def classifiers_by_level(study: Study) -> pd.DataFrame:
    """Figures 3 (target occupation) and 4 (target education): every technique at every level.

    Slicing and bucketization split in both of SPLITS, generalization as Mondrian does.
    """
    lines = []
    for title in study.data:
        for diversity, l in study.levels:
            for split in SPLITS:
                for method, algorithm in methods(diversity, l, split=split).items():
                    if method == "generalization" and split != EVERY:
                        continue
                    about = {"diversity": diversity, "l": l, "split": split, "method": method}
                    lines += [{**about, **line} for line in study.accuracies(title, algorithm, TARGETS)]
            print(f"  {title}, {diversity} l = {l} done")
    return pd.DataFrame(lines)


def classifiers_by_columns(study: Study) -> pd.DataFrame:
    """Figure 5: OCC-15 at l = 5 (distinct), slicing with 2, 3 and 5 columns beside the other two."""
    lines = []
    for columns in COLUMNS:
        for method, algorithm in methods("distinct", 5, columns).items():
            if method == "slicing" or columns == COLUMNS[0]:
                for line in study.accuracies("OCC-15", algorithm, TARGETS):
                    lines.append({"columns": columns if method == "slicing" else 0, "method": method, **line})
    return pd.DataFrame(lines)


def same_buckets(study: Study) -> pd.DataFrame:
    """Not in the paper: techniques and numbers of columns in the same random buckets, which mix the sexes."""
    lines = []
    for title, data in study.data.items():
        known = data.quasi_identifiers
        rest = tuple(name for name in known if name != "sex")
        cases = {"slicing": (rest, ("sex", SENSITIVE)), "bucketization": (known, (SENSITIVE,))}
        if title == "OCC-15":
            cases["slicing, c = 5"] = partition_attributes(data, 5, 2).columns
        for method, columns in cases.items():
            targets = TARGETS if title == "OCC-15" and method != "bucketization" else (SENSITIVE,)
            algorithm = RandomBuckets(size=20, attribute_columns=columns, seed=0)
            lines += [{"method": method, **line} for line in study.accuracies(title, algorithm, targets)]
    return pd.DataFrame(lines)


def generalization_by_split(study: Study) -> pd.DataFrame:
    """Not in the paper: Mondrian that chooses attributes otherwise, beside bucketization at l = 5 (distinct)."""
    lines = []
    diverse = (DistinctDiversity(l=5),)
    models = {
        "median": Mondrian(requirements=diverse),
        "infogain": Mondrian(requirements=diverse, split="infogain", target=SENSITIVE),
        "bucketization": methods("distinct", 5)["bucketization"],
    }
    for title in study.data:
        for split, algorithm in models.items():
            lines += [{"split": split, **line} for line in study.accuracies(title, algorithm, (SENSITIVE,))]
    return pd.DataFrame(lines)


def own_buckets(study: Study) -> pd.DataFrame:
    """Not in the paper: generalization in the very buckets of slicing, at the first and the last level."""
    lines = []
    for title, data in study.data.items():
        for diversity in dict(study.levels):
            every = [l for name, l in study.levels if name == diversity]
            for level, l in (("first", min(every)), ("last", max(every))):
                groups = methods(diversity, l)["slicing"].anonymize(data).fragments[0].partition
                release = generalized_release(Mondrian(requirements=[]), data, groups)
                for classifier in CLASSIFIERS:
                    found = utility.classification(release, SENSITIVE, classifier, study.folds, repeats=1)
                    about = {"data": title, "diversity": diversity, "classifier": classifier, "level": level}
                    lines.append({**about, "accuracy": float(found), "groups": groups.n_groups})
    return pd.DataFrame(lines)


def education(study: Study) -> pd.DataFrame:
    """Not in the paper: learning education without the occupation, and with it in random buckets of 20 rows."""
    lines = []
    for title, data in study.data.items():
        known = data.quasi_identifiers
        apart = RandomBuckets(size=20, attribute_columns=(known, (SENSITIVE,)), seed=0).anonymize(data)
        less = Microdata(
            data.frame[list(known)],
            {name: "sensitive" if name == OTHER_TARGET else "quasi-identifier" for name in known},
            kinds={name: data.domain[name].kind for name in known},
        )
        without = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(less)
        for classifier in CLASSIFIERS:
            found, other = (
                utility.classification(release, OTHER_TARGET, classifier, study.folds, repeats=study.repeats)
                for release in (apart, without)
            )
            about = {"data": title, "classifier": classifier, "original": found.baseline}
            lines.append({**about, "without occupation": other.baseline, "random buckets": float(found)})
    return pd.DataFrame(lines)


def beyond_the_paper(study: Study) -> pd.DataFrame:
    """Not in the paper: larger buckets for OCC-7, and OCC-15 without the final weight, two columns, age in ten bins."""
    whole = study.binned["OCC-15"]
    frame = whole.frame.drop(columns="fnlwgt")
    kept = {name: whole.roles[name] for name in frame.columns}
    without = Microdata(frame, kept, kinds={name: whole.domain[name].kind for name in frame.columns})
    cases = [("OCC-7", study.binned["OCC-7"], size) for size in (100, 500, 1_000, 2_000)]
    cases += [("OCC-15 without fnlwgt", without, size) for size in (100, 200)]
    return pd.DataFrame(
        [{"data": name, **_membership(RandomBuckets(size=size, columns=2, seed=0), data)} for name, data, size in cases]
    )


def members(study: Study) -> pd.DataFrame:
    """Figures 6 and 7: fake tuples and matching buckets by bucket size, in random buckets and in spread ones."""
    lines = []
    for age, tables in study.by_age().items():
        for title, data in tables.items():
            for columns in (2, 5):
                by_hand = FIVE_COLUMNS[title] if columns == 5 else None
                for grouping in ("random", "spread") if age == AGES[0] else ("random",):
                    for size in study.sizes:
                        algorithm = RandomBuckets(
                            size=size, columns=columns, grouping=grouping, attribute_columns=by_hand, seed=0
                        )
                        about = {"age": age, "data": title, "columns": columns}
                        is_counted = columns == 2 and grouping == "random" and size <= 100
                        lines.append({**about, **_membership(algorithm, data, is_counted)})
                print(f"  {age}, {title}, c = {columns} done")
    return pd.DataFrame(lines)


def split_off(study: Study, most: int) -> pd.DataFrame:
    """OCC-7, p = 100, two columns of which one has at most `most` attributes: what every choice of columns gives."""
    lines = []
    for age, tables in study.by_age().items():
        data = tables["OCC-7"]
        for number in range(1, most + 1):
            for apart in combinations(data.attributes, number):
                rest = tuple(other for other in data.attributes if other not in apart)
                algorithm = RandomBuckets(size=100, attribute_columns=(apart, rest), seed=0)
                lines.append({"age": age, "split off": ", ".join(apart), **_membership(algorithm, data)})
    return pd.DataFrame(lines)


def _membership(algorithm: RandomBuckets, data: Microdata, is_counted: bool = False) -> dict[str, object]:
    """Fake tuples and matching buckets; `is_counted`: both are counted in the buckets of two columns as well."""
    release = algorithm.anonymize(data)
    found = attacks.membership(release)
    line: dict[str, object] = {
        "grouping": algorithm.grouping,
        "size": algorithm.size,
        "fake": float(found.fake),
        "low": found.interval[0],
        "high": found.interval[1],
        "exact": found.exact,
    }
    for label, counts in found.histogram.iterrows():
        line |= {f"original, {label}": counts["original"], f"fake, {label}": counts["fake"]}
    if is_counted:
        names = [one.attributes for one in release.fragments]
        own, fakes = oracles.pair_matches(data.frame, release.partition.group.astype(np.int64), names)
        ours = [line["fake"], line[f"original, {MANY}"], line[f"fake, {MANY}"]]
        line["counted"] = ours == [len(fakes), int((own > MANY_BUCKETS).sum()), int((fakes > MANY_BUCKETS).sum())]
    return line


def plots(levels: pd.DataFrame, columns: pd.DataFrame, members_: pd.DataFrame) -> dict[str, object]:
    """A figure per figure of the paper."""
    found: dict[str, object] = {}
    for figure, target in (("figure 3", SENSITIVE), ("figure 4", OTHER_TARGET)):
        part = levels[levels["target"] == target].assign(
            level=lambda one: one["diversity"] + " l = " + one["l"].astype(str)
        )
        original = part.drop_duplicates(["level", "data", "classifier"]).assign(
            accuracy=lambda one: one["original"], method="original data"
        )
        found[figure] = px.bar(
            pd.concat([original, part]), x="level", y="accuracy", color="method", barmode="group",
            facet_col="classifier", facet_row="data", title=f"Learning {target}",
        )  # fmt: skip
    shown = columns.assign(case=lambda one: one["method"] + one["columns"].map(lambda c: f", c = {c}" if c else ""))
    found["figure 5"] = px.bar(
        shown, x="case", y="accuracy", color="method", facet_col="classifier", facet_row="target",
        title="OCC-15, distinct l = 5: more columns",
    )  # fmt: skip
    found["figure 6"] = px.line(
        members_[members_["age"] == AGES[0]], x="size", y="fake", color="columns", line_dash="grouping",
        facet_col="data", log_y=True, markers=True,
        title="Fake tuples by bucket size",
    )  # fmt: skip
    bars = [name for name in members_.columns if name.startswith(("original,", "fake,")) and name != "fake, at most 10"]
    shown = (members_["grouping"] == "random") & (members_["age"] == AGES[0])
    tall = members_[shown].melt(["data", "columns", "size"], bars, "kind", "tuples")
    found["figure 7"] = px.bar(
        tall.astype({"size": str}), x="size", y="tuples", color="kind", barmode="group",
        facet_col="columns", facet_row="data", title="Tuples by number of matching buckets",
    ).update_yaxes(matches=None, showticklabels=True)  # fmt: skip
    return found


def measured(study: Study, found: Findings) -> dict[str, pd.DataFrame]:
    """All tables, each with its run."""
    rows = f"{study.data['OCC-7'].n_rows:,} rows of Adult"
    learned = f"{rows}, {study.folds} folds, {study.repeats} random linkings"
    tables = {}
    with found.study("6; 7; section 6.3; section 6", f"{rows}, buckets of {study.sizes[0]} to {study.sizes[-1]}", "0"):
        most = 1 if study.data["OCC-7"].n_rows == QUICK_ROWS else 3
        tables |= {"figures 6 and 7": members(study), "split off": split_off(study, most)}
        tables["beyond the paper"] = beyond_the_paper(study)
    tries = "a bucket that fits by no cut of its widest attribute is cut by the next one (`retry_splits=True`)"
    with found.study("5", f"{learned}; {tries}", "0"):
        tables["figure 5"] = classifiers_by_columns(study)
    with found.study("3; 4", f"{learned}; {tries}, and in readings of their own once, as printed in figure 1", "0"):
        tables |= {"figures 3 and 4": classifiers_by_level(study), "same buckets": same_buckets(study)}
        tables["generalization by split"] = generalization_by_split(study)
        tables |= {"education": education(study), "own buckets": own_buckets(study)}
    return tables


def judged(tables: dict[str, pd.DataFrame], data: dict[str, Microdata], found: Findings) -> None:
    """The statements about the tables and the main curves."""
    beyond = tables["beyond the paper"]
    judge_classifiers(tables, found.said)
    judge_members(data, tables["figures 6 and 7"], tables["split off"], beyond, found.said)
    levels = tables["figures 3 and 4"]
    levels = levels[levels["split"] == EVERY]
    for figure, target in (("figure 3", SENSITIVE), ("figure 4", OTHER_TARGET)):
        part = levels[(levels["target"] == target) & (levels["diversity"] == "distinct") & (levels["data"] == "OCC-15")]
        for classifier, lines in part.groupby("classifier"):
            frame = wide(lines, ["l"]).rename(columns={"original": "original data"})
            title = f"Learning {target}, {classifier}, OCC-15"
            found.plots.append(Plot(figure, title, "l (distinct)", "accuracy", curves(frame)))
    chance = tables["figures 6 and 7"].query("grouping == 'random' and data == 'OCC-7' and age == @AGES[0]")
    fake = chance.pivot_table(index="size", columns="columns", values="fake").rename(columns="{} columns".format)
    printed = curve("paper, 2 columns", [100], [PRINTED_FAKE], paper=True)
    title = "Fake tuples by bucket size, OCC-7, random buckets, age in ten bins"
    found.plots.append(Plot("figure 6", title, "rows per bucket", "fake tuples", (*curves(fake), printed), log_y=True))


def reproduce(quick: bool, folder: Path, folds: int = 10, linkings: int = 5) -> Findings:
    """Measure, judge, print and write everything."""
    found = Findings()
    few = {"levels": FEW_LEVELS, "sizes": FEW_SIZES}
    study = Study.of(QUICK_ROWS, 3, 1, **few) if quick else Study.of(None, folds, linkings)
    tables = measured(study, found)
    judged(tables, study.data, found)
    for name, frame in (tables | {"statements": found.said.table()}).items():
        frame.to_csv(folder / f"{name}.csv", index=False)
        print(f"\n{name}\n{frame.to_string(index=False, float_format=lambda value: f'{value:,.4g}')}")
    levels = tables["figures 3 and 4"].query("split == @EVERY")
    for name, figure in plots(levels, tables["figure 5"], tables["figures 6 and 7"]).items():
        figure.write_html(folder / f"{name}.html", include_plotlyjs="directory")
    return found


if __name__ == "__main__":
    command(__doc__, reproduce, folds="parts of the cross-validation (10)", linkings="random linkings averaged (5)")
