"""What the slicing paper states about its figures 3 to 7 and its data, beside what came out."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from anoncore import Microdata, utility
from tests.papers.findings import Statements

SENSITIVE, OTHER_TARGET = "occupation", "education"
MANY = "more than 20"
PRINTED_FAKE = 87_936
"""Section 6.3: fake tuples of OCC-7 with p = 100 and c = 2."""

SAME_SEX = (
    "Mondrian cuts sex early, so nearly all buckets hold one sex and slicing publishes what bucketization does; where "
    "buckets mix the sexes slicing is ahead"
)
FEW_BUCKETS = (
    "at l = 2 and 3 by the definition generalization has many small groups and keeps enough for occupation, while "
    "slicing and bucketization link at random"
)
COLUMN = "the paper does not say which column is split off; with the one that comes nearest other buckets match"
REPEATED = "our Adult has 45,222 rows as the paper's, of which many are alike in the six quasi-identifiers of OCC-7"
INTERVALS = "how numbers and education are cut into intervals and values is not printed; sex is first in both"


def wide(frame: pd.DataFrame, index: Sequence[str]) -> pd.DataFrame:
    """Accuracy by method, a line per case, with the original data's."""
    found = frame.pivot_table(index=list(index), columns="method", values="accuracy", sort=False)
    return found.join(frame.groupby(list(index), sort=False)["original"].first())


def judge_classifiers(levels: pd.DataFrame, columns: pd.DataFrame, mixed: pd.DataFrame, said: Statements) -> None:
    """Figures 3 to 5."""
    index = ["diversity", "data", "classifier", "l"]
    for figure, target in (("3", SENSITIVE), ("4", OTHER_TARGET)):
        for diversity in ("distinct", "posterior"):
            part = wide(levels[(levels["target"] == target) & (levels["diversity"] == diversity)], index)
            over = part["slicing"] - part["generalization"]
            said.add(
                figure,
                f"slicing > generalization ({diversity})",
                over > 0,
                f"{over.min():+.3f} to {over.max():+.3f}",
                FEW_BUCKETS,
            )
            if figure == "3":
                over = part["slicing"] - part["bucketization"]
                said.add(
                    figure,
                    f"slicing > bucketization ({diversity})",
                    over > 0,
                    f"{over.min():+.3f} to {over.max():+.3f}",
                    SAME_SEX,
                )
            else:
                over = part["bucketization"] - part["generalization"]
                said.add(
                    figure,
                    f"bucketization > generalization ({diversity})",
                    over > 0,
                    f"{over.min():+.3f} to {over.max():+.3f}",
                )
    # Mondrian cuts sex early: nearly all buckets above hold one sex, and slicing publishes what bucketization does.
    part = wide(mixed, ["data", "classifier"])
    over = part["slicing"] - part["bucketization"]
    said.add(
        "3",
        "slicing > bucketization in the same buckets of 20 random rows",
        over > 0,
        f"{over.min():+.3f} to {over.max():+.3f}",
    )
    ours = columns[columns["method"] == "slicing"].pivot_table(
        index=["target", "classifier"], columns="columns", values="accuracy"
    )
    fall = ours[2] - ours[5]
    said.add(
        "5",
        "accuracy falls only slightly from 2 to 5 columns (by 0.03 at most)",
        fall <= 0.03,
        f"{fall.min():+.3f} to {fall.max():+.3f}",
    )
    general = columns[columns["method"] == "generalization"].set_index(["target", "classifier"])["accuracy"]
    worst = ours.min(axis=1) - general
    said.add("5", "slicing > generalization at every c", worst > 0, f"{worst.min():+.3f} to {worst.max():+.3f}")


def judge_members(data: dict[str, Microdata], members: pd.DataFrame, off: pd.DataFrame, said: Statements) -> None:
    """Figures 6 and 7, and what the paper says of the data."""
    chance = members[members["grouping"] == "random"]
    n = data["OCC-7"].n_rows
    said.add("6", "more fake tuples than original rows in almost all cases", chance["fake"] > n)
    grows = chance.groupby(["data", "columns"])["fake"].apply(lambda fake: fake.is_monotonic_increasing)
    said.add("6", "more fake tuples in larger buckets", grows)
    five, two = (chance[chance["columns"] == c].set_index(["data", "size"])["fake"] for c in (5, 2))
    said.add("6", "far more fake tuples with 5 columns than with 2", five > two)
    nearest = off.iloc[(off["fake"] - PRINTED_FAKE).abs().argmin()]
    fewest, most = off.iloc[0], off.iloc[-1]
    detail = (
        f"nearest: {nearest['fake']:,.0f} with {nearest['split off']} split off; "
        f"from {fewest['fake']:,.0f} ({fewest['split off']}) to {most['fake']:,.0f} ({most['split off']})"
    )
    said.add(
        "6",
        "87,936 fake tuples for OCC-7, p = 100, c = 2",
        abs(nearest["fake"] / PRINTED_FAKE - 1) < 0.05,
        detail,
        COLUMN,
    )
    detail = f"{nearest[f'fake, {MANY}']:,.0f} against {nearest[f'original, {MANY}']:,.0f}"
    close = abs(nearest[f"fake, {MANY}"] / 5_325 - 1) < 0.05 and abs(nearest[f"original, {MANY}"] / 31_452 - 1) < 0.05
    said.add("7", "5,325 fake tuples match more than 20 buckets, against 31,452 originals", close, detail, COLUMN)
    few = chance[f"fake, {MANY}"] / chance["fake"]
    many = chance[f"original, {MANY}"] / n
    said.add("7", "a larger share of the originals than of the fake tuples match more than 20 buckets", many >= few)
    spread = members[members["grouping"] == "spread"].set_index(["data", "columns", "size"])
    random = chance.set_index(["data", "columns", "size"])
    gain = spread["fake"] / random["fake"]
    said.add(
        "section 6.3",
        "spread buckets make more fake tuples than random ones",
        gain > 1,
        f"{gain.min():.2f} to {gain.max():.2f} times",
    )
    over = spread[f"fake, {MANY}"] >= random[f"fake, {MANY}"]
    said.add("section 6.3", "and no fewer that match more than 20 buckets", over)
    different = data["OCC-7"].frame[list(data["OCC-7"].quasi_identifiers)].drop_duplicates()
    said.add(
        "section 6.3",
        "each combination of quasi-identifiers occurs once",
        len(different) == n,
        f"{len(different):,} different in OCC-7",
        REPEATED,
    )
    phi = {title: utility.association(one).loc[SENSITIVE].drop(SENSITIVE).nlargest(4) for title, one in data.items()}
    for title, second in (("OCC-7", "education"), ("OCC-15", "salary-class")):
        detail = ", ".join(f"{name} {value:.3f}" for name, value in phi[title].items())
        said.add(
            "section 6",
            f"{title}: sex, then {second} are closest to occupation",
            list(phi[title].index[:2]) == ["sex", second],
            detail,
            INTERVALS,
        )
