"""The page Privacy: what was asked and what holds, distances from the table, and what an adversary gets."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks, privacy
from anoncore.attacks import Reidentification
from anoncore.base.texts import share_text
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.privacy import Guarantee, Profile, WorstLevel
from anoncore.requirements import (
    Comparison,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    Requirement,
    TCloseness,
    VarianceDiversity,
)
from dashboard.charts.palette import run_style
from dashboard.charts.privacy import belief_histogram, distance_curve, risk_bars, share_at_most
from dashboard.closer import all_columns, three_people
from dashboard.elements import about, parts, verdicts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import compute, state
from dashboard.session.workspace import Run

MOST_VIOLATIONS = 200
NO_C = "no c holds"
LEVELS: dict[type[Requirement], str] = {
    KAnonymity: "k",
    DistinctDiversity: "distinct-l",
    EntropyDiversity: "entropy-l",
    FrequencyDiversity: "frequency-l",
    RecursiveDiversity: "recursive-c",
}
SIGNS = {Comparison.AT_LEAST: "at least", Comparison.AT_MOST: "at most", Comparison.BELOW: "below"}
GROUND_NAMES = {
    "ordered": "ordered: steps along the attribute's order",
    "interval": "interval: difference of the numbers",
    "equal": "equal: any two values are equally far apart",
    "hierarchical": "hierarchical: height of the lowest common group",
}


def render() -> None:
    """Draw the page."""
    run = parts.shown_run("k, l and t count people who look alike")
    if run is None:
        _promised()
        return
    asked = compute.cached("privacy.guarantees", run, privacy.guarantees)
    personal = compute.cached("privacy.personal_guarantees", run, privacy.personal_guarantees)
    _asked(run, asked)
    profile = parts.profile(run)
    for note in profile.notes:
        st.info(escaped(note))
    if any(one.attribute is not None for one in personal):
        words = parts.plural(run.release.group_word)
        st.info(
            f"The promise is about people: whoever may be in several {words} is protected by all of them together. The "
            f"levels of single {words} below may therefore be lower; what an adversary believes is what counts."
        )
    levels = {name: one for part in reversed(profile.fragments) for name, one in part.attributes.items()}
    names = [name for name in run.data.sensitive if name in levels]
    about.heading("Reached", "measure:profile")
    if not names:
        parts.tiles([_tile(profile.k, f"{profile.k:,.0f}", run.release.group_word, asked)], 4)
        st.info(
            "No sensitive attribute is published value by value, so nothing more can be measured of what is hidden."
        )
    else:
        attribute = parts.choice("Sensitive attribute", names, "privacy-attribute", "Whose protection is shown.")
        _reached(run, profile, attribute, asked)
        all_columns.spread("belief", attribute)
        three_people.explain("belief", attribute)
        left, right = st.columns(2, gap="medium")
        with left:
            _distances(run, attribute, list(levels[attribute].distance))
        with right:
            _beliefs(run, attribute)
    _reidentification(run)


def _promised() -> None:
    """What the method promises of everybody and no table can show, of a release whose rows are nobody's."""
    run = state.current_run()
    if run is None:
        return
    for one in compute.cached("privacy.personal_guarantees", run, privacy.personal_guarantees):
        st.info(escaped(one.sentence), icon=":material/handshake:")


def _asked(run: Run, guarantees: tuple[Guarantee, ...]) -> None:
    """The verdict on the release, and the groups that fail what was asked of it."""
    verdicts.render(run)
    found = privacy.check(run.release, [one.requirement for one in guarantees if not one.holds])
    if not found:
        return
    word, words = run.release.group_word, parts.plural(run.release.group_word)
    table = pd.DataFrame(
        {
            "number": [one.group for one in found[:MOST_VIOLATIONS]],
            "rows": [one.size for one in found[:MOST_VIOLATIONS]],
            "what fails": [one.sentence for one in found[:MOST_VIOLATIONS]],
        }
    )
    st.dataframe(
        table,
        hide_index=True,
        key="privacy-violations",
        # Rows of three lines, in which sentences wrap.
        row_height=70,
        column_config={
            "number": st.column_config.NumberColumn("Number", width=70, help=f"The number of the {word}."),
            "rows": st.column_config.NumberColumn("Rows", format="localized", width=60),
            "what fails": st.column_config.TextColumn("What fails", width="large"),
        },
        alt=f"Each {word} that fails a requirement.",
    )
    cut = f"; the first {MOST_VIOLATIONS:,} are listed" if len(found) > MOST_VIOLATIONS else ""
    times = "Once" if len(found) == 1 else f"{len(found):,} times"
    st.caption(f"{times} one of the {words} fails a requirement{cut}.")


def _reached(run: Run, profile: Profile, attribute: str, asked: tuple[Guarantee, ...]) -> None:
    """The worst level of any group, whatever was asked for."""
    word = run.release.group_word
    scores = {one.name: one for one in profile.scores if one.attribute == attribute}
    formats = {
        "distinct-l": ".0f",
        "entropy-l": ".2f",
        "frequency-l": ".2f",
        "max-share": ".1%",
        "recursive-c": ".3g",
    } | {name: ".3f" for name in scores if name.startswith("t-")}
    row = [_tile(profile.k, f"{profile.k:,.0f}", word, asked)]
    row += [_tile(scores[name], _level_text(scores[name], form), word, asked) for name, form in formats.items()]
    row += [
        Tile("Variance", f"{one.reached:,.4g}", escaped(one.sentence), f"asked at least {one.asked:g}", one.holds)
        for one in asked
        if isinstance(one.requirement, VarianceDiversity) and one.attribute == attribute
    ]
    for start in range(0, len(row), 4):
        parts.tiles(row[start : start + 4], 4)
    st.caption(
        f"Each number is that of the worst {word} for '{escaped(attribute)}'. What the whole table has as one "
        "group no release can beat."
    )


def _tile(score: WorstLevel, value: str, word: str, asked: Sequence[Guarantee]) -> Tile:
    """A level with what was asked for, or without that what the whole table has."""
    meaning = f"{escaped(score.meaning)} Reached by {word} {score.group}."
    title = score.label if score.label[:2].strip() in ("k", "t") else score.label[0].upper() + score.label[1:]
    wanted = [one for one in asked if one.attribute == score.attribute and _measured_by(one) == score.name]
    if wanted:
        holds = all(one.holds for one in wanted)
        goal = " and ".join(f"{SIGNS[one.requirement.comparison]} {one.asked:g}" for one in wanted)
        verdict = "holds" if holds else "does not hold"
        return Tile(title, value, f"{meaning} Asked was {goal}: it {verdict}.", f"asked {goal}: {verdict}", holds)
    if score.baseline is None or score.name == "k" or score.name.startswith("t-"):
        return Tile(title, value, meaning)
    form = ".1%" if score.name == "max-share" else ".3g"
    return Tile(title, value, meaning, f"whole table: {_level_text(score.baseline, form)}")


def _level_text(level: float, form: str) -> str:
    """A level as a text; only the c of recursive diversity can be infinite, where values are too few for any c."""
    return NO_C if isinf(level) else f"{level:{form}}"


def _measured_by(guarantee: Guarantee) -> str:
    """Name of the profile's level that a requirement is about."""
    requirement = guarantee.requirement
    if isinstance(requirement, TCloseness):
        return f"t-{requirement.ground}"
    return LEVELS.get(type(requirement), "")


@st.fragment
@parts.says_why
def _distances(run: Run, attribute: str, grounds: list[str]) -> None:
    """Groups ranked by their distance from the table."""
    words = parts.plural(run.release.group_word)
    about.heading("Distance from the table", "requirement:t-closeness")
    ground = parts.choice(
        "Ground distance",
        grounds,
        f"privacy-ground-{run.id}-{attribute}",
        "How far apart two values of the sensitive attribute are.",
        names=lambda one: GROUND_NAMES[one],
        index=grounds.index(parts.usual_ground(run, attribute, grounds)),
    )
    distances = compute.cached("privacy.emd", run, privacy.emd, attribute, ground)
    asked = _asked_t(run, attribute, ground)
    within = f" {share_text(share_at_most(distances, asked))} keep t = {asked:g}." if asked is not None else ""
    parts.chart(
        distance_curve(distances, run_style(run.color_index), words, asked),
        key="privacy-distances",
        caption=f"Earth mover's distance of '{escaped(attribute)}' in each of the {words} from the whole table: "
        f"0 is the same distribution, 1 as far as can be. Half of them lie within {np.median(distances):.3f}.{within}",
        alt=f"Curve of the distances of {len(distances):,} {words} from the table, up to {distances.max():.3f}.",
    )


def _asked_t(run: Run, attribute: str, ground: str) -> float | None:
    asked = [
        one.t
        for one in run.promises
        if isinstance(one, TCloseness) and one.ground == ground and one.attribute in (None, attribute)
    ]
    return min(asked, default=None)


def _beliefs(run: Run, attribute: str) -> None:
    """What an adversary who knows the quasi-identifiers believes about each person."""
    about.heading("What an adversary believes", "attack:attribute_disclosure")
    found = parts.attempt("attacks.attribute_disclosure", run, attacks.attribute_disclosure, attribute)
    if found is None:
        return
    guess = float(found.largest.baseline or 0)
    parts.tiles(
        [
            Tile(
                found.largest.title,
                share_text(found.largest),
                escaped(found.largest.meaning),
                f"guessing: {share_text(guess)}",
            ),
            Tile(
                found.truth.title,
                share_text(found.truth),
                escaped(found.truth.meaning),
                f"guessing: {share_text(found.truth.baseline or 0)}",
            ),
        ]
    )
    above = float(lies_above(found.belief, guess, ACCUMULATED).mean())
    parts.chart(
        belief_histogram(found.belief, guess, run_style(run.color_index)),
        key="privacy-beliefs",
        caption="The adversary knows everyone's quasi-identifiers and takes the likeliest "
        f"'{escaped(attribute)}' of each. For {above:.0%} of the people they are surer than by guessing the most "
        f"frequent value of the table ({share_text(guess)}).",
        alt=f"Histogram of the adversary's largest belief about {attribute} for each row, up to {found.largest:.0%}; "
        f"guessing has {guess:.0%}.",
    )


def _reidentification(run: Run) -> None:
    """How likely people are found by their quasi-identifiers, against the table as it was."""
    about.heading("Finding people", "attack:reidentification")
    risk = parts.attempt("attacks.reidentification", run, attacks.reidentification)
    if risk is None:
        return
    all_columns.spread("risk")
    if not run.data.knows_rows:
        st.markdown(_risk_text(run, risk))
        st.caption("How many would be found in the original is not known, as it is not here.")
        return
    before = compute.cached("attacks.reidentification.original", run, original_risk)
    rows = [(_figures(risk)[place], _figures(before)[place]) for place in range(3)]
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with left:
        parts.chart(
            risk_bars(
                ["person at most risk", "average person", f"people above {risk.threshold:.0%}"],
                np.array([now for now, _ in rows]),
                np.array([then for _, then in rows]),
                run_style(run.color_index),
            ),
            key="privacy-risks",
            caption="Probability that someone who knows a person's quasi-identifiers picks that person's record "
            f"(prosecutor risk), and the share of people for whom it exceeds {risk.threshold:.0%}.",
            alt=f"Bar chart: the person at most risk is found with {share_text(rows[0][0])} (original "
            f"{share_text(rows[0][1])}), the average person with {share_text(rows[1][0])} (original "
            f"{share_text(rows[1][1])}).",
        )
    with right:
        st.markdown(_risk_text(run, risk))
        for note in risk.notes:
            st.caption(escaped(note))


def _figures(risk: Reidentification) -> tuple[float, float, float]:
    return float(risk.prosecutor.largest), float(risk.prosecutor.mean), float(risk.prosecutor.at_risk)


def _risk_text(run: Run, risk: Reidentification) -> str:
    chance = float(risk.prosecutor.mean.baseline or 0)
    text = (
        f"Of the people whose record is looked for, **{share_text(risk.prosecutor.mean)}** are found on average; "
        f"picking at random finds {chance:.3%}."
    )
    known = set(run.data.quasi_identifiers)
    if len(run.release.fragments) > 1 and any(known <= set(part.attributes) for part in run.release.fragments):
        text += (
            " This method publishes quasi-identifiers as they are: it hides which sensitive value belongs to whom, "
            "not who is in the table."
        )
    return text


def original_risk(release: Release) -> Reidentification:
    """The risks if the original quasi-identifiers were published as they are."""
    return attacks.reidentification(as_it_was(release.data))


def as_it_was(data: Microdata) -> Release:
    """The table without its identifiers as a release that changes nothing."""
    whole = Partition(np.zeros(data.n_rows, dtype=np.int32))
    recodings = {name: Exact(data.domain[name], whole, data.codes[name]) for name in data.attributes}
    return Release(data, (Fragment("original", whole, recodings),))
