"""Vertical fragmentation, step by step: the fragments, their classes, the joins, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Release, privacy
from anoncore.algorithms import VerticalFragmentation
from anoncore.algorithms.vertical.attribute_fragments import AttributeFragments, fmrmr
from anoncore.algorithms.vertical.changes import ClassChanges, changes_by_strategy, class_changes
from anoncore.algorithms.vertical.fragment_data import part_of
from anoncore.base.progress import Progress
from anoncore.base.texts import share_text
from anoncore.privacy import JoinCheck, WorstJoins
from anoncore.privacy.common_attribute import common_attribute
from anoncore.utility import Classification, InformationLoss, classification, information_loss
from anoncore.utility.classifiers import CLASSIFIERS, ClassifierName
from dashboard.charts.groups import size_histogram
from dashboard.charts.maps import association_map, join_map
from dashboard.charts.palette import ORIGINAL
from dashboard.charts.utility import score_bars
from dashboard.closer.matching import membership
from dashboard.closer.utility import MAJORITY
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped, few
from dashboard.session.workspace import Run
from dashboard.tasks import redrawing

MOST_PAIRS = 200
FOLDS = 5
UNFRAGMENTED = "#6E6E6E"
MEANINGS = {
    "naive": "every group takes its majority class value",
    "dependency": "values change one by one where a join needs it",
    "selectivity": "groups publish sets of values and give some of them up",
}
MOST_NAMES = 60


def vertical_fragmentation(run: Run) -> None:
    """Draw the fragments, their classes, what joins of them tell, and what came of it, a tab each."""
    common = escaped(common_attribute(run.release))
    safe = (
        "rows are cut into segments and groups are made so that joining two fragments keeps what was asked for."
        if algorithm_of(run.release).keeps_class_values(run.data)
        else "then class values are changed wherever joining two fragments would single out fewer than k rows."
    )
    st.markdown(
        f"The table is cut into fragments that share nothing but **{common}**, the class attribute. Each fragment is "
        f"made k-anonymous on its own; {safe}"
    )
    parts.tabs(
        "vertical-method",
        {
            "Fragments": partial(_fragments, run),
            "Groups": partial(_classes, run),
            "Joins": partial(_joins, run),
            "Class values": partial(_changes, run),
            "Membership": partial(membership, run),
            "Unfragmented": partial(_comparison, run),
        },
    )


def _found(release: Release) -> AttributeFragments:
    return algorithm_of(release).resolve_fragments(release.data)


def _fragments(run: Run) -> None:
    """The mutual information of every pair and what it leads to."""
    found = parts.measured(run, _found)
    by_hand = algorithm_of(run.release).attribute_fragments is not None
    common = escaped(found.common)
    names = [name for name in found.information.index if name != found.common]
    inside, across = pair_means(found)
    fmrmr_help = (
        "Sum over the fragments of what an attribute tells of the class on average, less what two attributes tell of "
        "each other, each of itself included. Attributes are placed where it grows most."
    )
    pairs = (
        "Mutual information of two different attributes, the mean over all pairs in the same fragment. Attributes that "
        "tell the same should be apart."
    )
    sets = "Sets of attributes that are published together, each with the class attribute."
    chosen = "given by hand" if by_hand else "chosen by FMRMR"
    apart = f"in different fragments: {across:.3f}"
    parts.tiles(
        [
            Tile("Fragments", f"{len(found.fragments)}", sets, chosen),
            Tile("FMRMR", f"{found.fmrmr:.3f} nats", fmrmr_help, "relevance less redundancy"),
            Tile("Pairs in one fragment", f"{inside:.3f} nats", pairs, apart),
        ]
    )
    left, right = parts.beside(2, 3)
    with left:
        st.dataframe(fragment_table(found), hide_index=True, height="content", row_height=36)
        seeds = [escaped(seed) for seed in found.seeds if seed is not None]
        grown = f" They began with {' and '.join(seeds)} and grew by the attribute that adds most." if seeds else ""
        st.caption(
            "Of class: what an attribute tells of the class on average. Of each other: what any two attributes of the "
            f"fragment tell of one another, each with itself included, in nats.{grown}"
        )
        for number, members in enumerate(found.fragments, start=1):
            st.markdown(f"**Fragment {number}**: {few([escaped(name) for name in members], MOST_NAMES)}")
    with right:
        parts.chart(
            association_map(found.information, found.fragments, "mutual information (nats)", "fragment", found.seeds),
            "vertical-information",
            "Mutual information of every pair of attributes; each frame is a fragment. Attributes that tell "
            f"the same should be in different frames. The last row is '{common}', which all fragments carry.",
            f"Heat map of the mutual information of {len(names)} attributes in {len(found.fragments)} fragments.",
        )


def pair_means(found: AttributeFragments) -> tuple[float, float]:
    """Mean mutual information of two attributes in one fragment and in different ones, in nats; NaN without a pair."""
    names = [name for members in found.fragments for name in members]
    place = np.repeat(np.arange(len(found.fragments)), [len(members) for members in found.fragments])
    values = found.information.loc[names, names].to_numpy()
    same = place[:, None] == place
    different = ~np.eye(len(names), dtype=np.bool_)
    inside, across = values[same & different], values[~same]
    return float(inside.mean()) if inside.size else np.nan, float(across.mean())


def fragment_table(found: AttributeFragments) -> pd.DataFrame:
    """A line per fragment: how many attributes, what they tell of the class (V) and of each other (W), in nats."""
    relevance = [float(found.information.loc[list(names), found.common].mean()) for names in found.fragments]
    contribution = [fmrmr(found.information, found.common, [names]) for names in found.fragments]
    return pd.DataFrame(
        {
            "Fragment": range(1, len(relevance) + 1),
            "Attributes": [len(names) for names in found.fragments],
            "Of class": [round(one, 3) for one in relevance],
            "Of each other": [round(one - both, 3) for one, both in zip(relevance, contribution, strict=True)],
        }
    )


@redrawing.part()
def _classes(run: Run) -> None:
    """Number and sizes of the classes of each fragment."""
    st.dataframe(parts.measured(run, class_table), hide_index=True, height="content")
    st.caption(
        "Each fragment has groups of its own. Loss: how much of its domain a published cell covers on average. Values "
        "changed: class values that the fragment does not publish as they were."
    )
    fragment = parts.fragment_choice(run.release, "vertical-fragment")
    sizes = fragment.partition.sizes
    parts.chart(
        size_histogram(sizes, run.style),
        "vertical-sizes",
        f"Groups of {escaped(fragment.name)} by their number of rows; the page Groups shows each one.",
        f"Histogram of {len(sizes):,} groups by size, from {sizes.min():,} to {sizes.max():,} rows.",
    )


def class_table(release: Release) -> pd.DataFrame:
    """A line per fragment: its classes, their sizes, loss, and class values changed."""
    loss, changed = information_loss(release).per_class, class_changes(release).per_fragment
    lines = []
    for fragment in release.fragments:
        sizes = fragment.partition.sizes
        own = loss[fragment.name] if isinstance(loss, dict) else loss
        lines.append(
            {
                "Fragment": fragment.name,
                "Attributes": len(fragment.attributes) - 1,
                "Groups": len(sizes),
                "Smallest": int(sizes.min()),
                "Median": float(np.median(sizes)),
                "Largest": int(sizes.max()),
                "Loss": share_text(float(own @ sizes) / sizes.sum()),
                "Values changed": changed[fragment.name],
            }
        )
    return pd.DataFrame(lines)


def _changes(run: Run) -> None:
    """Number and share of class values that each strategy changes on the classes of this release."""
    found = parts.later("Trying the strategies", run, _by_strategy)
    if found is None:
        return
    common = common_attribute(run.release)
    algorithm = algorithm_of(run.release)
    made = None if algorithm.keeps_class_values(run.data) else algorithm.enforce
    if made is None:
        st.info(
            "This release changes no class value: with l or t, groups that are safe to join are made instead. Below "
            "is what the strategies would change on its groups if they had to."
        )
    style = run.style
    scores = {name: (float(one), style if name == made else ORIGINAL) for name, one in found.items()}
    texts = [f"{float(one):.2%} · {one.number:,}" for one in found.values()]
    parts.chart(
        score_bars(scores, "share of the class values in all fragments", texts),
        "vertical-changes",
        f"Values of '{escaped(common)}' that are not published as they were, in all fragments together. "
        + "; ".join(f"{name}: {meaning}" for name, meaning in MEANINGS.items())
        + (f". In the release's colour: {made}, which made this release." if made else "."),
        "Bar chart of the share of class values changed: "
        + ", ".join(f"{name} {float(one):.2%}" for name, one in found.items()),
    )
    st.dataframe(change_table(found), hide_index=True, height="content")


def _by_strategy(release: Release) -> dict[str, ClassChanges]:
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


@dataclass(frozen=True, eq=False)
class Comparison:
    """Loss and classification of a release and of the same requirements met without fragments."""

    loss: InformationLoss
    learned: Classification
    whole_loss: InformationLoss
    whole_learned: Classification
    whole_classes: int
    method: str


def _comparison(run: Run) -> None:
    """Fragmented beside unfragmented."""
    classifier = parts.choice(
        "Classifier",
        list(CLASSIFIERS),
        "vertical-classifier",
        "What learns the class from the release and is tested on original rows that it has not seen.",
        names=lambda one: CLASSIFIERS[one].title,
    )
    found = parts.later("Comparing with whole rows", run, compare, classifier)
    if found is None:
        return
    st.markdown(gain_sentence(found))
    looks: dict[str, Any] = {"fragmented": run.style, "unfragmented": UNFRAGMENTED}
    classes = sum(fragment.partition.n_groups for fragment in run.release.fragments)
    target = escaped(found.learned.target)
    left, right = parts.beside()
    with left:
        losses = dict(zip(looks, map(float, (found.loss, found.whole_loss)), strict=True))
        parts.chart(
            score_bars({name: (losses[name], look) for name, look in looks.items()}, "information loss"),
            "vertical-loss",
            "How much of its domain a published quasi-identifier covers on average; 0% is exact. Fragments "
            f"have {classes:,} groups in all; without them {found.method} makes {found.whole_classes:,} of all "
            "attributes at once, with the same requirements.",
            "Information loss: " + ", ".join(f"{share_text(loss)} {name}" for name, loss in losses.items()),
        )
    with right:
        outcomes = (
            found.learned.released,
            found.whole_learned.released,
            found.learned.original,
            found.learned.majority,
        )
        looks |= {"original data": ORIGINAL, "majority class": MAJORITY}
        named = zip(looks.items(), outcomes, strict=True)
        parts.chart(
            score_bars({name: (one.weighted_f, look) for (name, look), one in named}, "weighted F-measure"),
            "vertical-f",
            f"F-measure of each value of '{target}', weighted with its share, of a "
            f"{CLASSIFIERS[classifier].title} that learns from each, {FOLDS}-fold cross-validation. Fragments have a "
            "classifier each, which vote.",
            "Weighted F: " + ", ".join(share_text(one.weighted_f) for one in outcomes),
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
    whole = generalizer.anonymize(part_of(data, (*data.quasi_identifiers, *data.sensitive), common))
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


@redrawing.part()
def _joins(run: Run) -> None:
    """Which joins were unsafe before class values changed, and that none is after."""
    release = run.release
    check = parts.measured(run, privacy.joins)
    first, second = _pair(release)
    found = parts.measured(run, privacy.worst_joins, first, second)
    _join_tiles(check, found, release, (first, second))
    names = [escaped(release.fragments[place].name) for place in (first, second)]
    left, right = parts.beside()
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
        f"vertical-joins-{when}",
        f"The {len(found.first)} groups of {names[0]} and {len(found.second)} of {names[1]} with the "
        f"{most}: {unsafe:,} of {found.before.size:,} joins drawn here are unsafe.",
        f"Grid of joins of groups {when} the changes; {unsafe:,} of {found.before.size:,} are unsafe.",
    )


def _pair(release: Release) -> tuple[int, int]:
    """The two fragments whose joins are shown."""
    pairs = list(combinations(range(len(release.fragments)), 2))
    return parts.choice(
        "Fragments that are joined",
        pairs,
        f"vertical-pair-{len(release.fragments)}",
        "Of all fragments any two, three and more are safe to join; this shows two.",
        names=lambda pair: f"{release.fragments[pair[0]].name} and {release.fragments[pair[1]].name}",
    )


def _join_tiles(check: JoinCheck, found: WorstJoins, release: Release, places: tuple[int, int]) -> None:
    names = tuple(release.fragments[place].name for place in places)
    summary = next(one for one in check.joins if one.fragments == names)
    asks = f"{check.k:,} rows" if check.delta is None else f"eta of {check.delta:g}"
    lowest = "none" if summary.lowest is None else f"{summary.lowest:,.4g}"
    broken = summary.n_broken or 0
    few = f"Joins that have a row, but less than {asks}, if every group published its original class values."
    every = "Every group of the one fragment with every group of the other, joined on the class attribute."
    verdict = "every join is safe" if broken == 0 else f"below {asks}"
    smallest = lowest if check.delta is not None or summary.lowest is None else f"{lowest} rows"
    kept = "Of the joins that are not empty, as published."
    parts.tiles(
        [
            Tile("Joins of two groups", f"{found.n_joins:,}", every, f"{summary.n_linked or 0:,} are not empty"),
            Tile("Unsafe before", f"{found.n_broken:,}", few, f"{found.n_broken / found.n_joins:.2%} of all"),
            Tile(
                "Unsafe after",
                f"{broken:,}",
                "The same as published: the check over all pairs, counted exactly.",
                verdict,
                broken == 0,
            ),
            Tile("Smallest join", smallest, kept, f"asked: at least {asks}"),
        ]
    )


def _nothing_broken(run: Run) -> str:
    if algorithm_of(run.release).keeps_class_values(run.data):
        return (
            "Here no class value is changed: groups that share their values are safe to join, and groups with an "
            "unsafe join are merged instead. "
            + " ".join(escaped(note) for note in run.release.notes if "merged" in note)
        )
    return (
        "No join was unsafe to begin with: the groups are large enough, or their values few enough, that any two with "
        "a common value have enough joined rows. A smaller k makes smaller groups and shows unsafe joins."
    )


def _ranked(run: Run, found: WorstJoins, places: tuple[int, int], names: list[str]) -> None:
    """The list of unsafe joins, the lowest first."""
    pairs = parts.measured(run, privacy.unsafe_pairs, *places, False, MOST_PAIRS)
    what = "Eta" if found.by_eta else "Joined"
    shown = pd.DataFrame(
        {
            f"Group of {names[0]}": pairs["first class"] + 1,
            "Rows": pairs["first rows"],
            f"Group of {names[1]}": pairs["second class"] + 1,
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
    st.caption("Every two and more fragments, joined group by group, as published.")
