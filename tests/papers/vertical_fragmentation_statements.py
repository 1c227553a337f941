"""What the vertical-fragmentation paper states about its figures 1 to 3, beside what came out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from tests.papers.findings import Statements

CLASSIFIER_TITLES = {"tree": "decision tree", "knn": "5-NN"}
STRATEGIES = ("naive", "dependency", "selectivity")
BASES = {
    "naive": "unfragmented, k",
    "dependency": "unfragmented, k",
    "selectivity": "unfragmented, k",
    "fragmented, l": "unfragmented, l",
}
"""The curve without fragments that each curve stands against."""
NEAR_BOUND, DRASTIC, LITTLE, SMALL = 0.9, 0.8, 0.05, 0.05
"""Readings of words: almost 1; at most so many times as much; a spread of F; a share of changed values."""
LEAST_LOSS, LEAST_STEP, LEAST_F = 0.01, 0.001, 0.005
"""Least effects: a loss is lower by 1 %, it rises by so much from place to place, and F is higher by 0.5 %."""
LOSSES = "the published bounds of every cell, beside the range of the feature in the table"
SCORES = "F by scikit-learn of classifiers trained on the published tables, on test rows that are in none of them"
CHANGES = "class values that are published for each row, beside those of the table"


def statements(found: pd.DataFrame, k: int, reading: str, tried: Mapping[str, str]) -> Statements:
    """All statements, judged on the means over the draws; `k` is that of the curves over the dimension.

    `reading`: how the rows are split. `tried`: what was tried about a curve beside the runs themselves.
    """
    said = Statements(reading=reading)
    dimension = found[found["k"] == k]
    level = found[found["dimension"] == found["dimension"].max()]
    losses(dimension, level, tried, said)
    said.oracle = SCORES
    _f("2", dimension, "dimension", tried, said)
    _f("3", level, "k", tried, said)
    _trends(dimension, level, tried, said)
    changes(found, said)
    return said


def curves(part: pd.DataFrame, axis: str, measure: str) -> pd.DataFrame:
    """A line per reading and place on the axis, a column per method."""
    return part.pivot_table(index=["reading", axis], columns="method", values=measure)


def _span(values: pd.Series | pd.DataFrame, form: str = ".2f") -> str:
    numbers = np.asarray(values, dtype=float)
    return f"{np.nanmin(numbers):{form}} to {np.nanmax(numbers):{form}}"


def _rises(frame: pd.DataFrame) -> pd.Series:
    """For each reading and curve whether it rises along the axis, by the least effect at each step."""
    steps = frame.groupby(level=0).agg(lambda one: len(one) > 1 and bool((one.diff().dropna() >= LEAST_STEP).all()))
    return steps.melt()["value"]


def losses(dimension: pd.DataFrame, level: pd.DataFrame, tried: Mapping[str, str], said: Statements) -> None:
    """Figure 1; a reading of test rows makes no difference to the loss."""
    said.oracle = LOSSES
    by_dimension, by_k = (
        curves(part[part["reading"].isin(["rows", "regions"])], axis, "loss")
        for part, axis in ((dimension, "dimension"), (level, "k"))
    )
    segmented = tried.get("fragmented, l", RUNS)
    alone = by_dimension[["unfragmented, k", "unfragmented, l"]]
    said.add(
        "1a",
        "The loss without fragments increases with the dimension (k and l).",
        _rises(alone),
        f"{_span(alone)}",
        "features are drawn anew for each dimension, and how much of its range 40 rows span differs more by feature "
        "than by dimension",
        tried.get("rises", RUNS),
        least=f"by {LEAST_STEP:g} from each dimension to the next",
    )
    widest = alone.xs(alone.index.get_level_values(1).max(), level=1)
    last = widest.melt(ignore_index=False)["value"]
    said.add(
        "1a",
        f"At 40 dimensions it touches almost its upper bound (at least {NEAR_BOUND}).",
        last >= NEAR_BOUND,
        f"boxes {last['regions'].min():.2f}, ranges of the rows present {last['rows'].min():.2f}",
        "only whole boxes leave the features that were never cut at their full domain; the ranges of 40 rows do not",
        RUNS,
        least="as stated",
    )
    for figure, frame, axis in (("1a", by_dimension, "dimension"), ("1b", by_k, "k")):
        ratio = pd.concat(
            {name: frame[name] / frame[BASES[name]] for name in ("dependency", "fragmented, l")}, names=["method"]
        )
        said.add(
            figure,
            f"The loss is lower with fragments (k and l), over {axis}.",
            ratio <= 1 - LEAST_LOSS,
            f"{_span(ratio)} times",
            FULL,
            segmented,
            least=f"by {LEAST_LOSS:.0%}",
        )
        said.add(
            figure,
            f"It is drastically lower (at most {DRASTIC} times), over {axis}.",
            ratio <= DRASTIC,
            f"{_span(ratio)} times",
            "about log2(5,000 / k) median cuts are all that k allows: with k = 40 seven, which leave 33 of 40 features "
            "whole without fragments and still 13 of 20 with two",
            tried.get("drastic", RUNS),
            least="as stated",
        )
    said.add(
        "1b",
        "The loss increases with k.",
        _rises(by_k),
        f"{_span(by_k)}",
        FULL,
        segmented,
        least=f"by {LEAST_STEP:g} from each k to the next",
    )
    added = pd.concat(
        {
            name: pd.concat([frame[name] - frame[other] for frame in (by_dimension, by_k)])
            for name, other in (("unfragmented, l", "unfragmented, k"), ("fragmented, l", "dependency"))
        },
        names=["method"],
    )
    said.add(
        "1",
        "The loss increases with diversity.",
        added >= LEAST_STEP,
        f"by {_span(added, '+.3f')}",
        "with 40 and more rows nearly every class has both values anyway, so that l changes no cut, and another order "
        "of cuts may lose less",
        RUNS,
        least=f"by {LEAST_STEP:g}",
    )
    spread = by_dimension[list(STRATEGIES)].max(axis=1) - by_dimension[list(STRATEGIES)].min(axis=1)
    inside = (by_dimension[list(STRATEGIES)] > 0.01).all(axis=1) & (by_dimension[list(STRATEGIES)] < 0.99).all(axis=1)
    said.add(
        "1",
        "The strategies do not differ in loss.",
        (spread < 1e-9) & inside,
        f"spread {spread.max():.1g}",
        least="the very same loss, which is neither 0 nor 1",
    )


RUNS = "`means.csv`, both splits and all readings of test rows"
FULL = (
    "segments that are cut as far as they go leave few rows for each chunk, so that l and t cost more with fragments "
    "than without where test rows and classes are read as boxes"
)

_CAUSES = {
    "naive": "with and without fragments trees come near always guessing non-musk, where the order is that of chance; "
    "that every row takes its class's majority value costs little",
    "dependency": "with exact test rows, trees cut at bounds that exact values do not have; where test rows are boxes "
    "too, fragments lead up to k = 40, beyond which nearly every class has more non-musk",
    "selectivity": "a class that publishes both values does not say how many rows have either; we fill its other rows "
    "at random, half of them with musk where 20 % would be true",
    "fragmented, l": "segments that are cut as far as they go leave few rows for each chunk, as in figure 1",
}


def _gains(part: pd.DataFrame, axis: str) -> pd.DataFrame:
    """F with fragments over F without, less 1, a column per method; lines by classifier, reading and axis."""
    frames = {}
    for classifier in CLASSIFIER_TITLES:
        frame = curves(part, axis, f"F {classifier}")
        frames[classifier] = pd.DataFrame({name: frame[name] / frame[base] - 1 for name, base in BASES.items()})
    return pd.concat(frames, names=["classifier"])


def _f(figure: str, part: pd.DataFrame, axis: str, tried: Mapping[str, str], said: Statements) -> None:
    """Figures 2 and 3: fragmented against unfragmented."""
    gains = _gains(part, axis)
    floor = float(part["F majority"].iloc[0])
    for name in BASES:
        by_reading = gains[name].groupby(level="reading").agg(lambda one: f"{(one >= LEAST_F).sum()}/{len(one)}")
        said.add(
            figure,
            f"F is higher with fragments than without ({name})." + (" Often." if name == "naive" else ""),
            gains[name] >= LEAST_F,
            f"{_span(100 * gains[name], '+.0f')} %; "
            + ", ".join(f"{key}: {value}" for key, value in by_reading.items()),
            _CAUSES[name],
            tried.get(name, RUNS),
            least=f"by {LEAST_F:.1%}",
        )
    largest, claimed, names = {
        "2": (gains["fragmented, l"], 0.28, "for l"),
        "3": (gains.max(axis=1), 0.54, "for k or l"),
    }[figure]
    by_reading = largest.groupby(level="reading").max()
    said.add(
        figure,
        f"The gain is up to {claimed:.0%} ({names}).",
        by_reading >= claimed,
        ", ".join(f"{key}: {value:+.0%}" for key, value in by_reading.items()),
        f"always guessing non-musk has F {floor:.3f}, so a gain of more than {1 / floor - 1:.0%} needs a classifier "
        "without fragments that is worse than guessing, as only trees tested on exact rows are",
        "the majority class beside the curves",
        least="as stated",
    )


def _trends(dimension: pd.DataFrame, level: pd.DataFrame, tried: Mapping[str, str], said: Statements) -> None:
    """How F goes along the axes."""
    plain, diverse = (
        pd.concat(
            {one: curves(dimension, "dimension", f"F {one}")[name] for one in CLASSIFIER_TITLES}, names=["classifier"]
        )
        for name in ("unfragmented, k", "unfragmented, l")
    )
    spread = plain.groupby(level=["classifier", "reading"]).agg(lambda one: one.max() - one.min())
    said.add(
        "2",
        f"F without fragments changes little with the dimension (by at most {LITTLE}).",
        (spread <= LITTLE) & (spread > 0),
        f"by {_span(spread)}",
        "trees from boxes cut at the few bounds there are, which exact test rows meet by luck",
        RUNS,
        least="as stated, and not by nothing",
    )
    said.add(
        "2",
        f"F without fragments is very low for l (at least {LITTLE} below k).",
        diverse <= plain - LITTLE,
        f"{_span(diverse)} against {_span(plain)}",
        "both trees and neighbours fall back on the majority class, which is right for 90 % of the test rows",
        tried.get("l very low", RUNS),
        least="as stated",
    )
    falls = pd.concat(
        {
            one: curves(level, "k", f"F {one}").groupby(level=0).agg(lambda f: (f.diff().dropna() < 0).mean())
            for one in CLASSIFIER_TITLES
        }
    ).melt()["value"]
    said.add(
        "3",
        "F mostly declines as k grows, with a few unexpected rises.",
        falls > 0.5,
        f"{falls.mean():.0%} of the steps are falls",
        "the same as above: near F of the majority class the order is that of chance",
        RUNS,
        least="more than half of the steps are falls",
    )


def changes(found: pd.DataFrame, said: Statements) -> None:
    """Class values changed; readings differ in nothing here."""
    said.oracle = CHANGES
    part = found[(found["reading"] == "rows") & found["method"].isin(STRATEGIES)]
    shares = part.set_index(["method", "dimension", "k"])["changed"]
    said.add(
        "appendix D",
        f"The distortion of class values is relatively small (at most {SMALL:.0%}).",
        (shares <= SMALL) & ((shares > 0) | (shares.index.get_level_values("method") != "naive")),
        ", ".join(f"{name} {_span(100 * shares[name], '.1f')} %" for name in STRATEGIES),
        "majority values wipe out the smaller class wherever it is not the majority",
        "`means.csv`, naive",
        least="as stated, and the naive strategy changes some",
    )
