"""What joins of fragments tell, and what vertical fragmentation cost and gained beside the same k without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Release, attacks, privacy
from anoncore.algorithms import VerticalFragmentation
from anoncore.algorithms.vertical.changes import ClassChanges, changes_by_strategy
from anoncore.algorithms.vertical.fragment_data import part_of
from anoncore.attacks import JoinLikelihood
from anoncore.base.progress import Progress
from anoncore.base.texts import share_text
from anoncore.privacy import JoinCheck, WorstJoins
from anoncore.privacy.common_attribute import common_attribute
from anoncore.utility import Classification, InformationLoss, classification, information_loss
from anoncore.utility.classifiers import CLASSIFIERS, ClassifierName
from dashboard.charts.fragments import change_bars, join_map, likelihood_histogram
from dashboard.charts.palette import ORIGINAL, run_style
from dashboard.charts.utility import score_bars
from dashboard.closer.utility import compact
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import compute
from dashboard.session.workspace import Run

MOST_PAIRS = 200
FOLDS = 5
UNFRAGMENTED = "#6E6E6E"
MEANINGS = {
    "naive": "every class takes its majority class value",
    "dependency": "values change one by one where a join needs it",
    "selectivity": "classes publish sets of values and give some of them up",
}


def changes(run: Run) -> None:
    """Number and share of class values that each strategy changes on the classes of this release."""
    found = parts.later("Trying the strategies", "vertical.changes", run, _changes)
    if found is None:
        return
    common = common_attribute(run.release)
    algorithm = algorithm_of(run.release)
    made = None if algorithm.keeps_class_values(run.data) else algorithm.enforce
    if made is None:
        st.info(
            "This release changes no class value: with l or t, classes that are safe to join are made instead. Below "
            "is what the strategies would change on its classes if they had to."
        )
    parts.chart(
        change_bars(found, made, run_style(run.color_index)),
        key="vertical-changes",
        caption=f"Values of '{escaped(common)}' that are not published as they were, in all fragments together. "
        + "; ".join(f"{name}: {meaning}" for name, meaning in MEANINGS.items())
        + (f". In the release's colour: {made}, which made this release." if made else "."),
        alt="Bar chart of the share of class values changed: "
        + ", ".join(f"{name} {float(one):.2%}" for name, one in found.items()),
    )
    st.dataframe(change_table(found), hide_index=True, height="content")


def _changes(release: Release) -> dict[str, ClassChanges]:
    algorithm = algorithm_of(release)
    return changes_by_strategy(release, algorithm.k, algorithm.delta)


def change_table(found: dict[str, ClassChanges]) -> pd.DataFrame:
    """A line per strategy: share, number, and the number in each fragment."""
    return pd.DataFrame(
        [
            {
                "Strategy": name,
                "Share": f"{float(one):.2%}",
                "Changed": f"{one.number:,} of {one.total:,}",
                **{fragment: f"{number:,}" for fragment, number in one.per_fragment.items()},
            }
            for name, one in found.items()
        ]
    )


def membership(run: Run) -> None:
    """How likely the join holds the record of a person."""
    found = parts.attempt("attacks.membership", run, attacks.membership)
    if not isinstance(found, JoinLikelihood):
        return
    n = run.data.n_rows
    parts.tiles(
        [
            Tile(
                one.label,
                f"{float(one):.2g}",
                f"{escaped(one.meaning)} The adversary knows the person's class in every fragment. Random "
                "classes: the same for a class of each fragment that is drawn at random.",
                f"random classes: {one.baseline:.1g}",
            )
            for one in (found.largest, found.mean)
        ]
        + [
            Tile(
                "Rows of the join",
                compact(found.total),
                f"Rows of all fragments joined on '{escaped(found.common)}', nearly all of them fake.",
                f"{n:,} in the table",
            ),
            Tile(
                found.unmatched.label,
                share_text(float(found.unmatched)),
                escaped(found.unmatched.meaning),
                parts.counted(round(float(found.unmatched) * n), "person"),
            ),
        ]
    )
    left_out = " People without a match are not drawn." if found.unmatched > 0 else ""
    parts.chart(
        likelihood_histogram(found, run_style(run.color_index)),
        key="vertical-likelihood",
        caption="People by the share of the joined rows that fit them: the more fake rows, the less a match tells "
        f"about who is in the table. Numbers grow by powers.{left_out}",
        alt=f"Histogram of the likelihood of membership, {float(found.mean):.2g} on average and at most "
        f"{float(found.largest):.2g}.",
    )


@dataclass(frozen=True, eq=False)
class Comparison:
    """Loss and classification of a release and of the same requirements met without fragments."""

    loss: InformationLoss
    learned: Classification
    whole_loss: InformationLoss
    whole_learned: Classification
    whole_classes: int
    method: str


def comparison(run: Run) -> None:
    """Fragmented beside unfragmented."""
    classifier = parts.choice(
        "Classifier",
        list(CLASSIFIERS),
        "vertical-classifier",
        "What learns the class from the release and is tested on original rows that it has not seen.",
        names=lambda one: CLASSIFIERS[one].title,
    )
    found = parts.later("Comparing with whole rows", "vertical.comparison", run, compare, classifier)
    if found is None:
        return
    sentence = gain_sentence(found)
    st.markdown(sentence)
    names, style = ["fragmented", "unfragmented"], run_style(run.color_index)
    classes = sum(fragment.partition.n_groups for fragment in run.release.fragments)
    target = escaped(found.learned.target)
    left, right = st.columns(2, gap="medium")
    with left:
        many = f"{found.whole_classes:,}"
        parts.chart(
            score_bars(names, [float(found.loss), float(found.whole_loss)], [style, UNFRAGMENTED], "information loss"),
            key="vertical-loss",
            caption="How much of its domain a published quasi-identifier covers on average; 0% is exact. Fragments "
            f"have {classes:,} classes in all; without them {found.method} makes {many} of all attributes at once, "
            "with the same requirements.",
            alt=f"Information loss {share_text(float(found.loss))} fragmented, "
            f"{share_text(float(found.whole_loss))} unfragmented.",
        )
    with right:
        outcomes = [
            found.learned.released,
            found.whole_learned.released,
            found.learned.original,
            found.learned.majority,
        ]
        parts.chart(
            score_bars(
                [*names, "original data", "majority class"],
                [one.weighted_f for one in outcomes],
                [style, UNFRAGMENTED, ORIGINAL, "#B9B9B9"],
                "weighted F-measure",
            ),
            key="vertical-f",
            caption=f"F-measure of each value of '{target}', weighted with its share, of a "
            f"{CLASSIFIERS[classifier].title} that learns from each, {FOLDS}-fold cross-validation. Fragments have a "
            "classifier each, which vote.",
            alt="Weighted F: " + ", ".join(share_text(one.weighted_f) for one in outcomes),
        )


def gain_sentence(found: Comparison) -> str:
    """What fragments gain, in words."""
    loss, whole = float(found.loss), float(found.whole_loss)
    f, whole_f = found.learned.released.weighted_f, found.whole_learned.released.weighted_f
    lost = (
        f"lose {1 - loss / whole:.0%} less information"
        if loss < whole
        else f"lose {share_text(loss)} instead of {share_text(whole)}"
    )
    gain = f / whole_f - 1 if whole_f else 0.0
    learned = f"raise the F-measure by {gain:.0%}" if gain >= 0.005 else f"change the F-measure by {gain:+.0%}"
    return f"Against whole rows with the same requirements, the fragments {lost} and {learned}."


def compare(release: Release, classifier: ClassifierName, progress: Progress) -> Comparison:
    """Train on the release and on the same requirements met by generalizing all quasi-identifiers at once."""
    algorithm, data, common = algorithm_of(release), release.data, common_attribute(release)
    progress(0.02, "Generalizing all attributes at once")
    generalizer = algorithm.generalizer(algorithm.promises(data))
    whole = generalizer.anonymize(part_of(data, data.quasi_identifiers, {common, *data.sensitive}))
    learned = [
        classification(one, common, classifier, FOLDS, progress=_part(progress, number))
        for number, one in enumerate((release, whole))
    ]
    return Comparison(
        loss=information_loss(release),
        learned=learned[0],
        whole_loss=information_loss(whole),
        whole_learned=learned[1],
        whole_classes=whole.partition.n_groups,
        method=generalizer.title,
    )


def _part(progress: Progress, number: int) -> Callable[[float, str], None]:
    """The progress of one of two trainings as that of both."""
    return lambda done, text: progress(0.05 + 0.95 * (number + done) / 2, text)


def algorithm_of(release: Release) -> VerticalFragmentation:
    """The algorithm that made the release."""
    algorithm = release.algorithm
    if not isinstance(algorithm, VerticalFragmentation):
        raise TypeError(f"The release was not made by vertical fragmentation but by {algorithm}.")
    return algorithm


@st.fragment
def joins(run: Run) -> None:
    """Which joins were unsafe before class values changed, and that none is after."""
    release = run.release
    check = compute.cached("privacy.joins", run, privacy.joins)
    first, second = _pair(release)
    found = compute.cached("vertical.worst_joins", run, privacy.worst_joins, first, second)
    _join_tiles(check, found, release, (first, second))
    names = [escaped(release.fragments[place].name) for place in (first, second)]
    left, right = st.columns(2, gap="medium")
    with left:
        _map(found, False, names)
    with right:
        if found.n_broken:
            _map(found, True, names)
        else:
            st.info(_nothing_broken(run))
    if found.n_broken:
        _ranked(run, found, (first, second), names)
    if len(release.fragments) > 2:
        _larger_joins(check)


def _map(found: WorstJoins, published: bool, names: list[str]) -> None:
    """The joins of the worst classes by the original or by the published class values."""
    when = "after" if published else "before"
    unsafe = int((found.broken_after if published else found.broken_before).sum())
    most = "most unsafe joins, worst first" if found.n_broken else "smallest joins"
    if found.n_broken:
        st.markdown(f"**{when.capitalize()} class values were changed**")
    parts.chart(
        join_map(found, published, names),
        key=f"vertical-joins-{when}",
        caption=f"The {len(found.first)} classes of {names[0]} and {len(found.second)} of {names[1]} with the "
        f"{most}: {unsafe:,} of {found.before.size:,} joins drawn here are unsafe.",
        alt=f"Grid of joins of classes {when} the changes; {unsafe:,} of {found.before.size:,} are unsafe.",
    )


def _pair(release: Release) -> tuple[int, int]:
    """The two fragments whose joins are shown."""
    numbers = range(len(release.fragments))
    pairs = [(one, other) for one in numbers for other in numbers if one < other]
    return parts.choice(
        "Fragments that are joined",
        pairs,
        f"vertical-pair-{len(numbers)}",
        "Of all fragments any two, three and more are safe to join; this shows two.",
        names=lambda pair: f"{release.fragments[pair[0]].name} and {release.fragments[pair[1]].name}",
    )


def _join_tiles(check: JoinCheck, found: WorstJoins, release: Release, places: tuple[int, int]) -> None:
    names = tuple(release.fragments[place].name for place in places)
    summary = next(one for one in check.joins if one.fragments == names)
    asks = f"{check.k:,} rows" if check.delta is None else f"eta of {check.delta:g}"
    lowest = "none" if summary.lowest is None else f"{summary.lowest:,.4g}"
    broken = summary.n_broken or 0
    parts.tiles(
        [
            Tile(
                "Joins of two classes",
                f"{found.n_joins:,}",
                "Every class of the one fragment with every class of the other, joined on the class attribute.",
                f"{summary.n_linked or 0:,} are not empty",
            ),
            Tile(
                "Unsafe before",
                f"{found.n_broken:,}",
                f"Joins that have a row, but less than {asks}, if every class published its original class values.",
                f"{found.n_broken / found.n_joins:.2%} of all",
            ),
            Tile(
                "Unsafe after",
                f"{broken:,}",
                "The same as published: the check over all pairs, counted exactly.",
                "every join is safe" if broken == 0 else f"below {asks}",
                broken == 0,
            ),
            Tile(
                "Smallest join",
                lowest if check.delta is not None or summary.lowest is None else f"{lowest} rows",
                "Of the joins that are not empty, as published.",
                f"asked: at least {asks}",
            ),
        ]
    )


def _nothing_broken(run: Run) -> str:
    if algorithm_of(run.release).keeps_class_values(run.data):
        return (
            "Here no class value is changed: classes that share their values are safe to join, and classes with an "
            "unsafe join are merged instead. "
            + " ".join(escaped(note) for note in run.release.notes if "merged" in note)
        )
    return (
        "No join was unsafe to begin with: the classes are large enough, or their values few enough, that any two with "
        "a common value have enough joined rows. A smaller k makes smaller classes and shows unsafe joins."
    )


def _ranked(run: Run, found: WorstJoins, places: tuple[int, int], names: list[str]) -> None:
    """The list of unsafe joins, the lowest first."""
    pairs = compute.cached("vertical.unsafe_pairs", run, privacy.unsafe_pairs, *places, False, MOST_PAIRS)
    what = "Eta" if found.by_eta else "Joined"
    shown = pd.DataFrame(
        {
            f"Class of {names[0]}": pairs["first class"] + 1,
            "Rows": pairs["first rows"],
            f"Class of {names[1]}": pairs["second class"] + 1,
            "Rows there": pairs["second rows"],
            "Common": pairs["common values"],
            f"{what} before": pairs["level"],
            f"{what} after": pairs["published level"].map(
                lambda level: "empty" if np.isnan(level) or (level == 0 and not found.by_eta) else f"{level:,.4g}"
            ),
        }
    )
    st.dataframe(shown, hide_index=True, height=38 + 35 * min(len(shown), 8), key="vertical-pairs")
    cut = f" The first {len(shown):,} of {found.n_broken:,}." if len(shown) < found.n_broken else ""
    st.caption(
        f"The joins that would have broken {'delta' if found.by_eta else 'k'}, the lowest first. Common: values in "
        f"both. {'Eta' if found.by_eta else 'Joined rows'} before class values were changed and after.{cut}"
    )


def _larger_joins(check: JoinCheck) -> None:
    """All sets of fragments as they were checked."""
    frame = pd.DataFrame(
        [
            {
                "Fragments": ", ".join(name.removeprefix("fragment ") for name in one.fragments),
                "Joins": f"{one.n_joins:,}",
                "Unsafe": "not counted" if one.n_broken is None else f"{one.n_broken:,}",
                "Smallest": "bounded by its parts" if one.lowest is None else f"{one.lowest:,.4g}",
            }
            for one in check.joins
        ]
    )
    st.dataframe(frame, hide_index=True, height=38 + 35 * min(len(frame), 8))
    st.caption("Every two and more fragments, joined class by class, as published.")
