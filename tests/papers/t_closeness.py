"""Figures 3.1, 3.2, 5.1 and 6.1 of the dissertation on t-closeness: Stack & Deal against random partitions, and over k.

Run: python -m tests.papers.t_closeness [--out FOLDER] [--partitions 100]. Needs the Heart table for all but figure
3.1. Writes tables (CSV) and plots (HTML) and prints what the text states with whether it holds here. Source: Thammanna
Gowda, Methods to Achieve t-Closeness for Privacy Preserving Data Publishing, 2023, sections 3.6 and 5.5, chapter 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import plotly.express as px
import plotly.graph_objects as go

from anoncore import Exact, Fragment, Microdata, Partition, Release, privacy
from anoncore.algorithms import RandomPartition, StackAndDeal
from anoncore.algorithms.closeness.locality import Multiplicity
from anoncore.datasets import table
from anoncore.search.choosing import choose_k
from dashboard.reproduction import Plot
from tests.papers import oracles
from tests.papers.command import command
from tests.papers.findings import Findings, curves, labels_of

GROUPS = {
    "A": {"equal_sizes": False, "uniform_frequencies": False},
    "B": {"equal_sizes": True, "uniform_frequencies": False},
    "C": {"equal_sizes": True, "uniform_frequencies": True},
    "D": {"equal_sizes": False, "uniform_frequencies": True},
}
PRINTED_FREQUENCIES = [359, 247, 231, 120, 42, 13, 10, 3]
"""Section 3.6, Heart: cholesterol in ten bins of equal width, of which two are empty."""
FAR = 1.5
"""Every random loss is at least so many times that of Stack & Deal: "far less" (the text gives no figure)."""
EXACT = 1e-9
"""How near a distance has to be to that which is counted."""
NEAR = 0.01
"""A privacy loss lower by no more than this is not lower "by a significant amount" (the text gives no figure)."""

UNSAID_FAR = f"the text gives no figure for far less; here it is {FAR} times, which Heart's uneven frequencies miss"
REMAINDERS = (
    "such partitions differ from the dealt one only in which classes get the remainders, and dealing in the order of "
    "frequency does not always place these best for the ordered distance"
)
LARGE_CLASSES = (
    "partitions with a lower loss have fewer and larger classes, which come nearer to the table, whatever the method; "
    f"the text gives no figure for significant, here it is {NEAR}"
)
UNIFORM = (
    "section 5.5 says that every partition is equally likely; then nearly all have about n / k classes, and few of "
    "them are closer. In the text closer ones had much larger classes, so that it drew the number of classes evenly"
)
READ_OTHERWISE = (
    "over the ranks of the values that occur, and with the larger of both distances, many partitions are closer; where "
    "the distances are combined by the distance formula of chapter 5, hardly any is"
)
ORDERED, INTERVAL, EUCLIDEAN, BOTH = (
    "ranks of the values that occur",
    "equally spaced values",
    "ranks, distance formula",
    "equally spaced values, distance formula",
)
"""How far apart values are, and how the distances of two attributes are combined (else the larger one counts)."""


COUNTED = "distances counted in the table and the class of every row; the library's have to be the same"


@dataclass
class Report:
    """Where tables and plots go, and what is found."""

    output: Path
    found: Findings

    def state(
        self, figure: str, statement: str, holds: object, detail: str, cause: str = "", tried: str = "", least: str = ""
    ) -> None:
        """Record one statement."""
        self.found.said.add(figure, statement, holds, detail, cause, tried, least=least, oracle=COUNTED)

    def save(self, name: str, frame: pd.DataFrame, figure: go.Figure) -> None:
        """Write a table and its plot."""
        frame.to_csv(self.output / f"{name}.csv", index=False)
        figure.write_html(self.output / f"{name}.html", include_plotlyjs="directory")


def counted_loss(data: Microdata, partition: Partition, reading: str = ORDERED) -> float:
    """The privacy loss of these classes, counted in the table itself: over several attributes as the reading says."""
    evenly = reading in (INTERVAL, BOTH)
    farthest = [oracles.ordered_distance(_placed(data, name), partition.group, evenly).max() for name in data.sensitive]
    return float(np.sqrt(np.square(farthest).sum()) if reading in (EUCLIDEAN, BOTH) else max(farthest))


@cache
def _placed(data: Microdata, name: str) -> pd.Series:
    """The values of an attribute, or their places in its order where they are no numbers or stand otherwise."""
    values = list(data.domain[name].values)
    column = data.frame[name]
    return column if values == sorted(values) else column.map({value: place for place, value in enumerate(values)})


def privacy_loss(data: Microdata, partition: Partition, reading: str = ORDERED) -> float:
    """The library's privacy loss of these classes; NaN, of which nothing holds, where it is not what is counted."""
    ours = closeness_of(data, partition, reading)
    return ours if abs(ours - counted_loss(data, partition, reading)) < EXACT else float("nan")


def closeness_of(data: Microdata, partition: Partition, reading: str = ORDERED) -> float:
    """`privacy.closeness` of a release with these classes: over several sensitive attributes as the reading says."""
    exact = {name: Exact(data.domain[name], partition, data.codes[name]) for name in data.sensitive}
    release = Release(data, (Fragment("release", partition, exact),))
    return privacy.closeness(
        release,
        ground="interval" if reading in (INTERVAL, BOTH) else "ordered",
        combine="euclidean" if reading in (EUCLIDEAN, BOTH) else "largest",
    )


def dealt(data: Microdata, k: int, stack: Literal["frequency", "value"] = "frequency") -> Partition:
    """Stack & Deal; which rows of equal values go where does not change the loss."""
    return StackAndDeal(k=k, stack=stack, locality=False, seed=0).anonymize(data).partition


def with_as_many(data: Microdata, found: pd.DataFrame, reading: str) -> float:
    """By how much random partitions of group D that are closer than Stack & Deal for their k are closer than Stack &
    Deal with as many classes as they have, at most.
    """
    own = found[found["partition"] == "Stack & Deal"].set_index("k")["privacy loss"]
    uneven = found[found["partition"] == "D"]
    lower = uneven[uneven["privacy loss"] < uneven["k"].map(own) - 1e-12]
    gains = [
        privacy_loss(data, dealt(data, data.n_rows // int(classes)), reading) - part["privacy loss"].min()
        for classes, part in lower.groupby("classes")
    ]
    return max(gains, default=0.0)


def drawn(data: Microdata, k: int, group: str, times: int) -> list[Partition]:
    """Random partitions of one group."""
    model = RandomPartition(k=k, **GROUPS[group])
    bucket = Multiplicity.of(data).of_row
    found = []
    for number in range(times):
        rng = np.random.default_rng([k, ord(group), number])
        found.append(Partition(model.draw(bucket, rng.permutation(data.n_rows), rng)))
    return found


def losses(
    data: Microdata, ks: Sequence[int], groups: Sequence[str], times: int, reading: str = ORDERED
) -> pd.DataFrame:
    """One line per partition: group (or `Stack & Deal`), k, privacy loss, number and mean size of its classes."""
    lines = []
    for k in ks:
        named = [("Stack & Deal", [dealt(data, k)]), *((group, drawn(data, k, group, times)) for group in groups)]
        for name, partitions in named:
            for partition in partitions:
                lines.append(
                    (name, k, privacy_loss(data, partition, reading), partition.n_groups, partition.sizes.mean())
                )
    return pd.DataFrame(lines, columns=["partition", "k", "privacy loss", "classes", "mean size"])


def beside_random(found: pd.DataFrame) -> pd.DataFrame:
    """Per group and k: the loss of Stack & Deal, that of random partitions, and how many of these are lower."""
    lines = []
    own = found[found["partition"] == "Stack & Deal"].set_index("k")["privacy loss"]
    for (group, k), part in found[found["partition"] != "Stack & Deal"].groupby(["partition", "k"]):
        loss = part["privacy loss"].to_numpy()
        lower = loss < own[k] - 1e-12
        lines.append(
            {
                "group": group,
                "k": k,
                "stack & deal": own[k],
                "lowest random": loss.min(),
                "median random": np.median(loss),
                "highest random": loss.max(),
                "lower than stack & deal": int(lower.sum()),
                "as high or higher": int((loss >= own[k] - 1e-12).sum()),
                "mean size of those": part.loc[lower, "mean size"].mean(),
            }
        )
    return pd.DataFrame(lines).round(4)


def scatter(found: pd.DataFrame, title: str, groups: Sequence[str]) -> go.Figure:
    """Random partitions in blue, Stack & Deal in red, one panel per group."""
    random = found[found["partition"].isin(groups)]
    own = found[found["partition"] == "Stack & Deal"]
    figure = px.scatter(
        random, x="k", y="privacy loss", facet_col="partition", facet_col_wrap=2, title=title, opacity=0.4,
        category_orders={"partition": list(groups)},
    )  # fmt: skip
    figure.update_traces(marker={"color": "#4477aa", "size": 5})
    line = go.Scatter(
        x=own["k"], y=own["privacy loss"], mode="lines+markers", name="Stack & Deal", marker={"color": "#cc3311"}
    )
    figure.add_trace(line, row="all", col="all", exclude_empty_subplots=True)
    return figure


def against_groups(
    report: Report, figure: str, data: Microdata, title: str, times: int, reading: str = ORDERED
) -> None:
    """Figures 3.1 and 3.2."""
    found = losses(data, range(5, 21), list(GROUPS), times, reading)
    table_of = beside_random(found)
    name = f"figure-{figure}" + (f", {report.found.said.reading}" if report.found.said.reading else "")
    report.save(name, table_of, scatter(found, title, list(GROUPS)))
    report.found.plots += [beside(figure, title, table_of, group) for group in "BD"]
    run = f"`{name}`"
    by_value = {k: privacy_loss(data, dealt(data, k, "value"), reading) for k in range(5, 21)}
    in_c = found[found["partition"] == "C"]
    nearer = int((in_c["privacy loss"] < in_c["k"].map(by_value) - 1e-12).sum())
    print(f"\nFigure {figure}: {title}\n{table_of.to_string(index=False)}")
    by_group = table_of.groupby("group")
    lower = by_group["lower than stack & deal"].sum()
    drawn_per_group = times * 16
    for group in "AB":
        times_as_high = (table_of["lowest random"] / table_of["stack & deal"])[table_of["group"] == group]
        least = times_as_high.min()
        report.state(
            figure,
            f"Group {group}: for every k the loss of Stack & Deal is far less than that of any random partition (these "
            f"have more than {FAR} times as much).",
            times_as_high > FAR,
            f"{lower[group]} of {drawn_per_group:,} are lower; the lowest is {least:.2f} times as high",
            UNSAID_FAR,
            run,
            least=f"{FAR} times",
        )
    report.state(
        figure,
        "Group C: the loss of Stack & Deal is equal to or less than that of any random partition.",
        np.arange(drawn_per_group) < by_group["as high or higher"].sum()["C"],
        f"{lower['C']} of {drawn_per_group:,} are lower",
        REMAINDERS,
        f"{run}; with the values stacked in their order {nearer} of {drawn_per_group:,} are lower",
        least="1e-12",
    )
    by_number = drawn_by_number(data, times, reading)
    uneven = table_of[table_of["group"] == "D"]
    each = int((uneven["lower than stack & deal"] > 0).sum())
    report.state(
        figure,
        "Group D: for every k some random partitions have a lower loss.",
        np.arange(16) < each,
        f"for {each} of 16 k; {lower['D']} of {drawn_per_group:,} are lower",
        UNIFORM,
        by_number,
        least="1e-12",
    )
    gain = float((uneven["stack & deal"] - uneven["lowest random"]).max())
    report.state(
        figure,
        f"Group D: it is not lower by a significant amount (more than {NEAR}).",
        0 < gain <= NEAR,
        f"by up to {gain:.4f}",
        LARGE_CLASSES,
        f"{run}, against Stack & Deal with as many classes: by up to {with_as_many(data, found, reading):.4f}",
        least=f"{NEAR}",
    )
    larger = (uneven["mean size of those"] / uneven["k"]).dropna()
    report.state(
        figure,
        f"Group D: partitions with a lower loss have much larger classes (more than {FAR} times k rows).",
        bool(len(larger) and larger.min() > FAR),
        f"their mean class has {larger.min():.1f} to {larger.max():.1f} times k rows",
        UNIFORM,
        by_number,
        least=f"{FAR} times k rows",
    )


def drawn_by_number(data: Microdata, times: int, reading: str, ks: range = range(5, 21), even: bool = True) -> str:
    """What comes out where not partitions but their numbers of classes are drawn evenly, in words; `even`: sizes and
    frequencies.
    """
    bucket, rng = Multiplicity.of(data).of_row, np.random.default_rng(0)
    lower, sizes = [], []
    for k in ks:
        own = privacy_loss(data, dealt(data, k), reading)
        for _ in range(times // 5):
            size = data.n_rows // int(rng.integers(1, data.n_rows // k + 1))
            model = RandomPartition(k=size, equal_sizes=even, uniform_frequencies=even)
            partition = Partition(model.draw(bucket, rng.permutation(data.n_rows), rng))
            if privacy_loss(data, partition, reading) < own - 1e-12:
                lower.append(k)
                sizes.append(partition.sizes.mean() / k)
    return (
        f"with the number of classes drawn evenly {len(lower)} of {len(ks) * (times // 5):,} are lower, for "
        f"{len(set(lower))} of {len(ks)} k, and their mean class has {np.mean(sizes or [np.nan]):.1f} times k rows"
    )


def heart(**extra: object) -> Microdata:
    """Heart with its two sensitive attributes."""
    entry = table("heart")
    roles = {**entry.roles, **extra}
    return Microdata(entry.load(), roles=roles, kinds=entry.kinds, orders=entry.orders)


def heart_in_bins(report: Report | None = None, stacked: bool = False) -> Microdata:
    """Heart with cholesterol cut into ten bins of equal width, in their own order or the most frequent one first."""
    entry = table("heart")
    frame = entry.load()
    frame["chol"] = pd.cut(frame["chol"], 10, labels=False)
    bins = np.bincount(frame["chol"])
    counted = sorted(bins.tolist(), reverse=True)
    if stacked:
        order = [number for number in np.argsort(-bins, kind="stable").tolist() if bins[number]]
        kinds = {**entry.kinds, "chol": "ordinal"}
        roles = {**entry.roles, "trestbps": "quasi-identifier"}
        return Microdata(frame, roles=roles, kinds=kinds, orders={**entry.orders, "chol": order})
    if report is not None:
        report.found.said.add(
            "3.2",
            "The frequencies are 359, 247, 231, 120, 42, 13, 10, 3, 0, 0.",
            [count for count in counted if count] == PRINTED_FREQUENCIES,
            f"cholesterol in ten bins of equal width has {counted}",
            by_hand=True,
        )
    return Microdata(
        frame, roles={**entry.roles, "trestbps": "quasi-identifier"}, kinds=entry.kinds, orders=entry.orders
    )


def with_two_attributes(report: Report, times: int) -> None:
    """Figure 5.1: both sensitive attributes at once, sizes restricted (group 1) or not (group 2), in four readings."""
    data = heart()
    names = {"B": "1: sizes k or k + 1", "A": "2: any sizes"}
    for reading in (ORDERED, INTERVAL, EUCLIDEAN, BOTH):
        report.found.said.reading = reading
        found = losses(data, range(5, 16), list(names), times, reading).replace({"partition": names})
        table_of = beside_random(found)
        title = f"Figure 5.1: Heart, blood pressure and cholesterol, {reading}"
        report.save(f"figure-5.1, {reading}", table_of, scatter(found, title, list(names.values())))
        frame = table_of[table_of["group"] == names["B"]].set_index("k")
        shown = curves(frame[["stack & deal", "lowest random", "median random", "highest random"]])
        title = f"Heart, two attributes, sizes k or k + 1, {reading}"
        report.found.plots.append(Plot("figure 5.1", title, "k", "privacy loss", shown))
        print(f"\n{title}\n{table_of.to_string(index=False)}")
        lower = table_of.groupby("group")["lower than stack & deal"].sum()
        report.state(
            "5.1",
            "With restricted sizes the loss of Stack & Deal is the minimum.",
            np.arange(11 * times) < table_of.groupby("group")["as high or higher"].sum()[names["B"]],
            f"{lower[names['B']]} of {11 * times:,} random partitions are lower",
            READ_OTHERWISE,
            f"`figure-5.1, {EUCLIDEAN}`",
            least="1e-12",
        )
        free = table_of[table_of["group"] == names["A"]]
        larger = (free["mean size of those"] / free["k"]).dropna()
        report.state(
            "5.1",
            "Without restriction some random partitions have lower losses, but much larger classes (at least "
            f"{FAR} times k rows).",
            bool(lower[names["A"]] > 0) and bool(len(larger) and larger.min() >= FAR),
            f"{lower[names['A']]} of {11 * times:,} are lower; their mean class has "
            + (f"{larger.min():.1f} to {larger.max():.1f} times k rows" if len(larger) else "no size"),
            "partitions drawn uniformly from all seldom have classes much larger than k",
            drawn_by_number(data, times, reading, range(5, 16), even=False),
            least=f"{FAR} times k rows",
        )
    report.found.said.reading = ""


def over_k(report: Report, tables: dict[str, Microdata]) -> None:
    """Figure 6.1: privacy loss against k; and the chooser of chapter 6."""
    lines = []
    for name, data in tables.items():
        lines += [(name, k, privacy_loss(data, dealt(data, k))) for k in range(2, 21)]
    found = pd.DataFrame(lines, columns=["table", "k", "privacy loss"])
    figure = px.line(found, x="k", y="privacy loss", color="table", markers=True, title="Figure 6.1: loss against k")
    report.save("figure-6.1", found, figure)
    wide = found.pivot_table(index="k", columns="table", values="privacy loss", sort=False)
    title = "Privacy loss of Stack & Deal against k"
    report.found.plots.append(Plot("figure 6.1", title, "k", "privacy loss", curves(wide)))
    print("\nFigure 6.1: privacy loss of Stack & Deal against k")
    print(found.pivot_table(index="k", columns="table", values="privacy loss").round(4).to_string())
    for name, part in found.groupby("table"):
        trend = float(part["k"].corr(part["privacy loss"], method="spearman"))
        first, last = float(part["privacy loss"].iloc[0]), float(part["privacy loss"].iloc[-1])
        rises = int((part["privacy loss"].diff() > 1e-12).sum())
        report.state(
            "6.1",
            f"{name}: the privacy loss tends to decrease as k increases (to less than half from k = 2 to 20).",
            trend < -0.8 and 0 < last < first / 2,
            f"{first:.4f} to {last:.4f}, rank correlation {trend:.2f}; it rises at {rises} of 18 steps",
            least="half of the loss at k = 2",
        )
        report.state(
            "6.1",
            f"{name}: it is that of Stack & Deal: counts of values in two classes differ by one at most.",
            [_most_apart(tables[str(name)], k) == 1 for k in range(2, 21)],
            "k = 2 to 20, counted in the classes; in each case some differ",
            least="a difference of 2 rows",
        )


def chooser(report: Report, name: str, data: Microdata) -> None:
    """The chooser of chapter 6 on one table; nothing is stated about it, so its tables and plot are only written."""
    choice = choose_k(data, ks=range(2, 41), algorithm=StackAndDeal(seed=0))
    chosen = pd.DataFrame({"k": choice.k, "t": choice.t, "information loss": choice.information_loss, "C": choice.cost})
    print(f"\nChooser on {name}, alpha = 0.5: best k = {choice.best}\n{chosen.round(4).to_string(index=False)}")
    drawing = px.line(chosen.melt("k", var_name="measure"), x="k", y="value", color="measure", title=f"Chooser: {name}")
    drawing.add_vline(x=choice.best, annotation_text=f"best k = {choice.best}")
    report.save("chooser", chosen, drawing)


def _most_apart(data: Microdata, k: int) -> int:
    """How far the counts of one combination of sensitive values in two classes are apart at most."""
    combination = data.frame[list(data.sensitive)].astype(str).agg(" ".join, axis=1)
    held = pd.crosstab(dealt(data, k).group, combination)
    return int(np.ptp(held.to_numpy(), axis=0).max())


def beside(figure: str, title: str, found: pd.DataFrame, group: str) -> Plot:
    """The loss of Stack & Deal among that of the random partitions of one group."""
    frame = found[found["group"] == group].set_index("k")
    frame = frame[["stack & deal", "lowest random", "median random", "highest random"]]
    return Plot(labels_of(figure)[0], f"{title}, group {group}", "k", "privacy loss", curves(frame))


def reproduce(quick: bool, folder: Path, partitions: int = 100) -> Findings:
    """Measure, judge, print and write everything."""
    found = Findings()
    report = Report(folder, found)
    times = 10 if quick else partitions
    entry = table("t-closeness-dataset-1")
    first = Microdata(entry.load(), roles=entry.roles, kinds=entry.kinds, orders=entry.orders)
    seed = "one per k, group and partition"
    alike = "rows of equal values are dealt at random (`locality=False`), which the loss does not depend on"
    with found.study("3.1", f"730 rows, {times} random partitions per k and group; {alike}", seed):
        against_groups(report, "3.1", first, "Data set 1, 730 rows, 6 values", times)
    with found.study("3.2", f"1,025 rows of Heart, {times} random partitions per k and group; {alike}", seed):
        binned = heart_in_bins(report)
        found.said.reading = ORDERED
        against_groups(report, "3.2", binned, "Heart, cholesterol in 10 bins, by rank", times)
        found.said.reading = "ten equally spaced bins"
        against_groups(report, "3.2", binned, "Heart, cholesterol in 10 bins, by interval", times, INTERVAL)
        found.said.reading = "order of the stack"
        stacked = heart_in_bins(stacked=True)
        against_groups(report, "3.2", stacked, "Heart, distance in stack order", times)
        found.said.reading = ""
    with found.study("5.1", f"1,025 rows of Heart, {times} random partitions per k and group; {alike}", seed):
        with_two_attributes(report, times)
    with found.study("6.1; chapter 6", f"730 rows of data set 1 and 1,025 of Heart, k from 2 to 20; {alike}", "0"):
        over_k(report, {"Heart, cholesterol in bins": binned, "Data set 1": first, "Heart, two attributes": heart()})
        chooser(report, "Heart, cholesterol in bins", binned)
    found.said.table().to_csv(folder / "statements.csv", index=False)
    return found


if __name__ == "__main__":
    command(__doc__, reproduce, partitions="random partitions per k and group (100)")
