"""Figures 1 to 3 of the vertical-fragmentation paper on Musk: what fragments keep that whole rows lose.

Run: python -m tests.papers.vertical_fragmentation [--out FOLDER] [--quick] [--draws N]. Needs the Musk table (see
`datasets.measurements`). Features are drawn anew for each draw and figures are means over the draws. The paper does not
say what Mondrian publishes nor how test rows are read, so there are three readings: `rows` (ranges of the rows present)
and `regions` (whole boxes, which cover the domain), both tested on exact rows, and `regions, test too` (test rows take
the bounds of the box that they are in). Writes tables (CSV) and plots (HTML) and prints them with the paper's
statements. Source: Zakerzadeh, Aggarwal and Barker, Towards breaking the curse of dimensionality for high-dimensional
privacy: an extended version, 2014, section 6 and appendix D.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.express as px
import plotly.graph_objects as go
from sklearn.metrics import f1_score

from anoncore import Fragment, Microdata, Release
from anoncore.algorithms import Algorithm, Mondrian, VerticalFragmentation
from anoncore.datasets import table
from anoncore.release.recoding import GroupValues
from anoncore.requirements import DistinctDiversity, KAnonymity
from anoncore.table.part import rows_of
from anoncore.utility.classifiers import CLASSIFIERS, Bounds
from anoncore.utility.cross_validation import is_random, original_table, released_tables
from dashboard.reproduction import Plot
from tests.papers.command import command
from tests.papers.findings import Findings, curves
from tests.papers.vertical_fragmentation_statements import CLASSIFIER_TITLES, statements

DIMENSIONS = (10, 20, 30, 40)
LEVELS = (5, 10, 20, 40, 80, 100)
K, L, DELTA = 40, 2, 0.5
TRAINING = {"musk": 1017, "non-musk": 3983}
READINGS = ("regions", "regions, test too")
SPLITS = {True: "rows split as in the file", False: "rows split at random"}
"""Table 5's numbers are those of rows 1 to 5,000 of version 2 of Musk for training and all others for testing."""
FIRST_OF_VERSION_2 = 476
"""Version 2 follows on the 476 rows of version 1."""
REPEATS = 5
"""Draws of the class values where a class publishes only the set of them."""

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """Musk with some of its features, coded as a whole; the rows to train on and those to test with."""

    features: tuple[str, ...]
    train: Microdata
    test: Microdata


def splits(dimensions: Sequence[int], seed: int, by_file: bool) -> dict[int, Split]:
    """For each number of dimensions its features, drawn at random; the same rows are trained on in all of them.

    Rows are split at random, or as they stand in the file.
    """
    entry = table("musk")
    frame = entry.load()
    rng = np.random.default_rng(seed)
    parts = [rng.permutation(np.flatnonzero(frame["class"] == name))[:number] for name, number in TRAINING.items()]
    train = np.sort(np.concatenate(parts))
    if by_file:
        train = np.arange(FIRST_OF_VERSION_2, FIRST_OF_VERSION_2 + sum(TRAINING.values()))
    test = np.setdiff1d(np.arange(len(frame)), train)
    known = [name for name, role in entry.roles.items() if role == "quasi-identifier"]
    found = {}
    for number in dimensions:
        names = tuple(known[place] for place in np.sort(rng.permutation(len(known))[:number]))
        roles = {**dict.fromkeys(names, "quasi-identifier"), "class": "sensitive"}
        data = Microdata(frame[[*names, "class"]], roles, {name: entry.kinds[name] for name in roles})
        found[number] = Split(names, rows_of(data, train), rows_of(data, test))
    return found


def methods(k: int, recoding: str, seed: int) -> dict[str, Algorithm]:
    """The curves of the figures."""
    mondrian = Mondrian(requirements=(), recoding=recoding)
    fragmented = VerticalFragmentation(k=k, generalization=mondrian, delta=DELTA, seed=seed)
    return {
        "unfragmented, k": mondrian.replace(requirements=[KAnonymity(k=k)]),
        "unfragmented, l": mondrian.replace(requirements=[KAnonymity(k=k), DistinctDiversity(l=L)]),
        "naive": fragmented.replace(enforce="naive"),
        "dependency": fragmented.replace(enforce="dependency"),
        "selectivity": fragmented.replace(enforce="selectivity"),
        "fragmented, l": fragmented.replace(l=L),
    }


def weighted_f(release: Release, test: Microdata, classifier: str, seed: int, reading: str, own: bool = False) -> float:
    """Weighted F-measure on the test rows; as for `guesses`, and the mean over the draws of class values."""
    every = guesses(release, test, classifier, seed, reading, own)
    return float(np.mean([plain_f(test.codes["class"], guess) for guess in every]))


def plain_f(true: npt.NDArray[np.int32], guess: npt.NDArray[np.int32]) -> float:
    """F-measure of each class, weighted with the class's share, by scikit-learn."""
    return float(f1_score(true, guess, average="weighted", zero_division=0))


def plain_loss(release: Release) -> float:
    """Mean share of the feature's range that a published cell covers, from the published bounds and the table's values.

    Raises ValueError where a row's own value is not within its bounds.
    """
    losses = []
    for fragment in release.fragments:
        for name in set(fragment.attributes) - {"class"}:
            cells, values = fragment.recodings[name], np.array(release.data.domain[name].values, dtype=float)
            low, high = (values[side][fragment.partition.group] for side in (cells.low, cells.high))
            own = release.data.frame[name].to_numpy(dtype=float)
            if not ((low <= own) & (own <= high)).all():
                raise ValueError(f"A row's value of '{name}' is not within its published range.")
            losses.append(float(np.mean((high - low) / (values[-1] - values[0]))))
    return float(np.mean(losses))


def plain_changes(release: Release) -> float:
    """Share of the rows in all fragments that have another class value, or whose class does not publish theirs."""
    changed = []
    for fragment in release.fragments:
        cells, own = fragment.recodings["class"], release.data.codes["class"]
        if isinstance(cells, GroupValues):
            sets = [set(cells.members[begin:end].tolist()) for begin, end in pairwise(cells.offsets.tolist())]
            groups = fragment.partition.group.tolist()
            changed += [code not in sets[group] for group, code in zip(groups, own.tolist(), strict=True)]
        else:
            changed += (cells.codes != own).tolist()
    return float(np.mean(changed))


def guesses(
    release: Release, test: Microdata, classifier: str, seed: int, reading: str, own: bool = False
) -> Iterator[npt.NDArray[np.int32]]:
    """What classifiers trained on the release, one per fragment and voting, take the test rows for.

    A classifier votes for each class with its score; generalized values enter as lower and upper bound. `original` as
    the reading: trained on the values that the release was made from. `own`: each row is labelled with its own class,
    whatever the release publishes.
    """
    method = CLASSIFIERS[classifier](release.data)
    domain = release.data.domain["class"]
    rng = np.random.default_rng(seed)
    regions = [boxes(fragment, test) for fragment in release.fragments] if reading == "regions, test too" else []
    for _ in range(REPEATS if is_random(release, "class") and reading != "original" else 1):
        votes = np.zeros((test.n_rows, len(domain)))
        original = reading == "original"
        learned = (original_table(release, "class"),) if original else released_tables(release, "class", rng)
        for place, one in enumerate(learned):
            labels = release.data.codes["class"] if own else one.labels
            model = method.train(method.features(one.cells), labels, one.cells, seed)
            cells = regions[place] if regions else one.test_cells(test)
            votes[:, model.classes_] += model.predict_proba(method.features(cells))
        yield np.argmax(votes, axis=1).astype(np.int32)


def boxes(fragment: Fragment, test: Microdata) -> dict[str, Bounds]:
    """For each test row the bounds of the first class whose box holds it; boxes cover the domain."""
    names = [name for name in fragment.attributes if name != "class"]
    sides = {name: fragment.recodings[name] for name in names}
    inside = np.ones((test.n_rows, fragment.partition.n_groups), dtype=np.bool_)
    for name, one in sides.items():
        codes = test.codes[name][:, None]
        inside &= (codes >= one.low) & (codes <= one.high)
    if not inside.any(axis=1).all():
        raise ValueError("A test row is in no box.")
    group = np.argmax(inside, axis=1)
    return {name: Bounds(one.low[group], one.high[group], False) for name, one in sides.items()}


def measured(
    split: Split, k: int, recoding: str, seed: int, classifiers: Sequence[str] = tuple(CLASSIFIER_TITLES)
) -> Iterator[dict[str, object]]:
    """A line per method and reading: loss, F-measures of these classifiers, changed values, seconds."""
    original: dict[str, float] = {}
    for name, algorithm in methods(k, recoding, seed).items():
        begun = time.process_time()
        release = algorithm.anonymize(split.train)
        seconds = time.process_time() - begun
        fragmented = len(release.fragments) > 1
        common = {
            "dimension": len(split.features),
            "k": k,
            "method": name,
            "loss": plain_loss(release),
            "changed": plain_changes(release) if fragmented else np.nan,
            "classes": sum(fragment.partition.n_groups for fragment in release.fragments),
            "seconds": seconds,
            "F majority": majority_f(split.test),
        }
        # Fragments publish all features, so the original values behind each release are the same.
        original = original or {
            f"F {one}, original data": weighted_f(release, split.test, one, seed, "original") for one in classifiers
        }
        for reading in READINGS if recoding == "regions" else ("rows",):
            scores = {f"F {one}": weighted_f(release, split.test, one, seed, reading) for one in classifiers}
            yield {"reading": reading, **common, **original, **scores}


def tries(draw: int) -> dict[str, str]:
    """What was tried about the causes of differences, in words, by the curve: 40 features, k = 40, whole boxes."""
    number = max(DIMENSIONS)
    split = splits((number,), seed=draw, by_file=True)[number]
    every = methods(K, "regions", draw)
    found = {}
    for name in ("naive", "selectivity"):
        release = every[name].anonymize(split.train)
        f = {own: weighted_f(release, split.test, "tree", draw, READINGS[-1], own) for own in (False, True)}
        found[name] = (
            f"at {number} features and k = {K} F of trees is {f[False]:.2f}, with the same classes and each row's own "
            f"value {f[True]:.2f}"
        )
    losses = {}
    for segmentation in ("full", "as-needed"):
        release = every["fragmented, l"].replace(segmentation=segmentation).anonymize(split.train)
        f_tree = weighted_f(release, split.test, "tree", draw, READINGS[-1])
        losses[segmentation] = f"loss {plain_loss(release):.2f}, F of trees {f_tree:.2f}"
    found["fragmented, l"] = (
        f"at {number} features and k = {K} segments cut as far as they go: {losses['full']}; only as needed: "
        f"{losses['as-needed']}"
    )
    found["drastic"] = f"at {number} features and k = {K}, whole boxes: " + ", ".join(
        f"{name} leaves {never_cut(every[name].anonymize(split.train)):.0%} of the cells at their full domain"
        for name in ("unfragmented, k", "dependency")
    )
    found["l very low"] = f"at {number} features and k = {K} such shares of the test rows are taken for non-musk: "
    found["l very low"] += ", ".join(
        f"{name} {taken_for_majority(every[name].anonymize(split.train), split.test, draw)}"
        for name in ("unfragmented, k", "unfragmented, l")
    )
    found["rises"] = (
        "ranges of the rows present, k, where the features of one dimension are among those of the next: "
        + "; ".join(nested_losses(one) for one in range(3))
        + " for 10 to 40 features, three draws"
    )
    return found


def never_cut(release: Release) -> float:
    """Share of the published cells of features that have their whole domain."""
    whole = []
    for fragment in release.fragments:
        for name in set(fragment.attributes) - {"class"}:
            sides, last = fragment.recodings[name], len(release.data.domain[name]) - 1
            whole.append(((sides.low == 0) & (sides.high == last))[fragment.partition.group])
    return float(np.mean(whole))


def taken_for_majority(release: Release, test: Microdata, draw: int) -> str:
    """Shares of the test rows that trees and neighbours take for the most frequent class, test rows as boxes."""
    most = np.argmax(np.bincount(test.codes["class"]))
    shares = {one: next(guesses(release, test, one, draw, READINGS[-1])) == most for one in CLASSIFIER_TITLES}
    return ", ".join(f"{share.mean():.0%} by {CLASSIFIER_TITLES[one]}" for one, share in shares.items())


def nested_losses(draw: int) -> str:
    """Losses without fragments over the dimension, where the features of one dimension are among those of the next."""
    split = splits((max(DIMENSIONS),), seed=draw, by_file=True)[max(DIMENSIONS)]
    names = np.random.default_rng(draw).permutation(split.features)
    losses = []
    for number in DIMENSIONS:
        kept = sorted(names[:number])
        roles = {**dict.fromkeys(kept, "quasi-identifier"), "class": "sensitive"}
        kinds = {name: split.train.domain[name].kind for name in roles}
        data = Microdata(split.train.frame[list(roles)], roles, kinds)
        release = methods(K, "rows", draw)["unfragmented, k"].anonymize(data)
        losses.append(f"{plain_loss(release):.2f}")
    return ", ".join(losses)


def majority_f(test: Microdata) -> float:
    """Weighted F-measure of always predicting the most frequent class."""
    codes = test.codes["class"]
    guess = np.full(len(codes), np.argmax(np.bincount(codes)), dtype=np.int32)
    return plain_f(codes, guess)


def study(
    draws: int,
    dimensions: Sequence[int],
    levels: Sequence[int],
    splittings: Sequence[bool] = tuple(SPLITS),
    classifiers: Sequence[str] = tuple(CLASSIFIER_TITLES),
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every run of every draw, and the features that were drawn."""
    lines, features = [], []
    for draw, by_file in product(range(draws), splittings):
        found = splits(dimensions, seed=draw, by_file=by_file)
        cases = dict.fromkeys([*((number, K) for number in dimensions), *((max(dimensions), k) for k in levels)])
        for number, split in found.items():
            features.append(
                {"draw": draw, "split": SPLITS[by_file], "dimension": number, "features": " ".join(split.features)}
            )
        for number, k in cases:
            for recoding in ("rows", "regions"):
                about = {"split": SPLITS[by_file], "draw": draw}
                lines += [{**about, **line} for line in measured(found[number], k, recoding, draw, classifiers)]
        print(f"  draw {draw + 1} of {draws}, {SPLITS[by_file]}, done", flush=True)
    return pd.DataFrame(lines), pd.DataFrame(features)


def means(runs: pd.DataFrame) -> pd.DataFrame:
    """Means over the draws, a line per split, reading, dimension, k and method."""
    keys = ["split", "reading", "dimension", "k", "method"]
    return runs.groupby(keys, sort=False).mean().drop(columns="draw").reset_index()


def over_dimension(found: pd.DataFrame) -> pd.DataFrame:
    """The lines of one k over the dimension."""
    return found[found["k"] == K]


def over_k(found: pd.DataFrame) -> pd.DataFrame:
    """The lines of the largest dimension over k."""
    return found[found["dimension"] == found["dimension"].max()]


def tables(found: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """What each figure shows, a line per place on its horizontal axis and a column per curve."""
    made = {}
    parts = {"dimension": over_dimension(found), "k": over_k(found)}
    shown = {f"F {one}": title for one, title in CLASSIFIER_TITLES.items()}
    for axis, part in parts.items():
        figures = {"loss": f"figure 1, information loss over {axis}"}
        figures |= {f: f"figure {2 if axis == 'dimension' else 3}, F of {title}" for f, title in shown.items()}
        figures["changed"] = f"class values changed over {axis}"
        for measure, title in figures.items():
            # How test rows are read makes no difference but to F.
            lines = part if measure in shown else part[part["reading"] != READINGS[-1]]
            frame = lines.pivot_table(index=["reading", axis], columns="method", values=measure)
            if measure in shown:
                others = part.groupby(["reading", axis])[[f"{measure}, original data", "F majority"]]
                frame = frame.join(others.first().set_axis(["original data", "majority class"], axis=1))
            made[title] = frame.reset_index()
    return made


def plot(title: str, frame: pd.DataFrame) -> go.Figure:
    """A figure of the paper: solid lines for k, dashed ones for l, dotted ones for what needs no release."""
    axis = frame.columns[1]
    tall = frame.melt(["reading", axis], var_name="curve", value_name="value").dropna()
    figure = px.line(
        tall, x=axis, y="value", color="curve", facet_col="reading", markers=True, title=title.capitalize(),
        labels={"value": title.split(", ")[-1].split(" over")[0]},
    )  # fmt: skip
    for trace in figure.data:
        dash = "dot" if trace.name in ("original data", "majority class") else "solid"
        trace.line.dash = "dash" if trace.name.endswith(", l") else dash
    return figure


def judged(runs: pd.DataFrame, tried: Mapping[str, str], found: Findings) -> pd.DataFrame:
    """The means over the draws; the statements about them and the main curves."""
    by_split = means(runs)
    for split in SPLITS.values():
        found.said.extend(statements(by_split[by_split["split"] == split].drop(columns="split"), K, split, tried))
    mean = by_split[by_split["split"] == SPLITS[True]].drop(columns="split")
    shown = ["unfragmented, k", "unfragmented, l", "dependency", "selectivity", "fragmented, l"]
    boxes_of_tests = mean[mean["reading"] == READINGS[-1]]
    for axis, part in (("dimension", over_dimension(boxes_of_tests)), ("k", over_k(boxes_of_tests))):
        loss = part.pivot_table(index=axis, columns="method", values="loss")[shown]
        found.plots.append(Plot("figure 1", f"Information loss over {axis}, whole boxes", axis, "loss", curves(loss)))
        f_tree = part.pivot_table(index=axis, columns="method", values="F tree")[shown]
        f_tree["original data"] = part.groupby(axis)["F tree, original data"].first()
        title = f"F of decision trees over {axis}, test rows as boxes"
        figure = "figure 2" if axis == "dimension" else "figure 3"
        found.plots.append(Plot(figure, title, axis, "weighted F", curves(f_tree)))
    return mean


def reproduce(quick: bool, folder: Path, draws: int = 5) -> Findings:
    """Measure, judge, print and write everything."""
    found = Findings()
    draws, dimensions, levels = (1, (10, 40), (5, 40, 100)) if quick else (draws, DIMENSIONS, LEVELS)
    sizes = f"5,000 training rows of Musk, {dimensions[0]} to {dimensions[-1]} features, {draws} draws of features"
    with found.study("1; 2; 3; appendix D", sizes, f"0 to {draws - 1}" if draws > 1 else "0"):
        runs, features = study(draws, dimensions, levels)
    mean = judged(runs, {} if quick else tries(0), found)
    means(runs).to_csv(folder / "means.csv", index=False)
    runs.to_csv(folder / "runs.csv", index=False)
    features.to_csv(folder / "features.csv", index=False)
    print(f"\nFeatures\n{features.to_string(index=False)}")
    for title, frame in tables(mean).items():
        frame.to_csv(folder / f"{title}.csv", index=False)
        plot(title, frame).write_html(folder / f"{title}.html", include_plotlyjs="directory")
        print(f"\n{title.capitalize()}\n{frame.to_string(index=False, float_format=lambda value: f'{value:.3f}')}")
    found.said.table().to_csv(folder / "statements.csv", index=False)
    return found


if __name__ == "__main__":
    command(__doc__, reproduce, draws="draws of features and training rows that are averaged (5)")
