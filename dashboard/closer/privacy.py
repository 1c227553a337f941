"""The page Privacy: what was asked and what holds, distances from the table, and what an adversary gets."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Release, attacks, privacy
from anoncore.attacks import Reidentification
from anoncore.base.shared_work import cached
from anoncore.base.texts import share_text
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.privacy import AttributeProfile, Guarantee, Profile, Violation, WorstLevel
from anoncore.release.unchanged import unchanged
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
from dashboard.charts.attacks import Curve, belief_histogram, curves, risk_bars, share_at_most
from dashboard.closer import all_columns, one_person
from dashboard.elements import about, parts, verdicts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import state
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
        shown = state.current_run()
        # What the method promises of everybody and no table can show, of a release whose rows are nobody's.
        for one in parts.measured(shown, privacy.personal_guarantees) if shown is not None else ():
            st.info(escaped(one.sentence), icon=":material/handshake:")
        return
    asked = verdicts.guarantees_of(run)
    personal = parts.measured(run, privacy.personal_guarantees)
    _asked(run, asked)
    profile = parts.profile(run)
    parts.notes(profile.notes)
    if any(one.attribute is not None for one in personal):
        st.info(
            "The promise is about people: whoever may be in several groups is protected by all of them together. The "
            "levels of single groups below may therefore be lower; what an adversary believes is what counts."
        )
    levels = levels_of(run, profile)
    about.heading("Reached", "measure:profile")
    if not levels:
        parts.tiles([_tile(profile.k, f"{profile.k:,.0f}", asked)], 4)
        st.info(
            "No sensitive attribute is published value by value, so nothing more can be measured of what is hidden."
        )
    else:
        attribute = parts.choice("Sensitive attribute", list(levels), "privacy-attribute", "Whose protection is shown.")
        _reached(run, profile, attribute, asked)
        all_columns.spread("belief", attribute)
        one_person.explain("belief", attribute)
        left, right = parts.beside()
        with left:
            _distances(run, attribute, list(levels[attribute].distance))
        with right:
            _beliefs(run, attribute)
    _reidentification(run)


def levels_of(run: Run, profile: Profile) -> dict[str, AttributeProfile]:
    """The levels of each sensitive attribute that is published value by value, of the first fragment that has it."""
    found = {name: one for part in reversed(profile.fragments) for name, one in part.attributes.items()}
    return {name: found[name] for name in run.data.sensitive if name in found}


def _asked(run: Run, guarantees: tuple[Guarantee, ...]) -> None:
    """The verdict on the release, and the groups that fail what was asked of it."""
    verdicts.render(run)
    found = privacy.check(run.release, [one.requirement for one in guarantees if not one.holds])
    if found:
        violations(found[:MOST_VIOLATIONS], "privacy-violations", "Each group that fails a requirement.")
        cut = f"; the first {MOST_VIOLATIONS:,} are listed" if len(found) > MOST_VIOLATIONS else ""
        times = "Once" if len(found) == 1 else f"{len(found):,} times"
        # Only where all tables are cut alike a group of one of them is a group of rows.
        n_rows = sum({one.group: one.size for one in found}.values())
        share = share_text(n_rows / run.data.n_rows) if run.release.is_shared else ""
        whose = f" {share} of all rows are in such a group." if share else ""
        st.caption(f"{times} one of the groups fails a requirement{cut}.{whose}")


def violations(shown: Sequence[Violation], key: str, alt: str, **more: Any) -> None:
    """The groups that fail a requirement, as a list with further columns, in rows in which sentences wrap."""
    columns = {"number": [one.group for one in shown], "rows": [one.size for one in shown]} | more
    config = {
        "number": parts.number("The group's number, as on the page Groups.", width=70, label="Number"),
        "rows": parts.number(format="localized", width=60, label="Rows"),
        "misses by": st.column_config.Column("Misses by", width=85),
        "what fails": st.column_config.TextColumn("What fails", width="large"),
    }
    frame = pd.DataFrame(columns | {"what fails": [one.sentence for one in shown]})
    parts.table(frame, key, alt, columns=config, row=70)


def _reached(run: Run, profile: Profile, attribute: str, asked: tuple[Guarantee, ...]) -> None:
    """The worst level of any group, whatever was asked for."""
    scores = {one.name: one for one in profile.scores if one.attribute == attribute}
    formats = {
        "distinct-l": ".0f",
        "entropy-l": ".2f",
        "frequency-l": ".2f",
        "max-share": ".1%",
        "recursive-c": ".3g",
    } | {name: ".3f" for name in scores if name.startswith("t-")}
    row = [_tile(profile.k, f"{profile.k:,.0f}", asked)]
    row += [_tile(scores[name], _level_text(scores[name], form), asked) for name, form in formats.items()]
    row += [
        Tile("Variance", f"{one.reached:,.4g}", escaped(one.sentence), f"asked at least {one.asked:g}", one.holds)
        for one in asked
        if isinstance(one.requirement, VarianceDiversity) and one.attribute == attribute
    ]
    parts.tiles(row, 4)
    st.caption(
        f"Each number is that of the worst group for '{escaped(attribute)}'. What the whole table has as one "
        "group no release can beat."
    )


def _tile(score: WorstLevel, value: str, asked: Sequence[Guarantee]) -> Tile:
    """A level with what was asked for, or without that what the whole table has."""
    meaning = f"{escaped(score.meaning)} Reached by group {score.group}."
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


@parts.fragment
def _distances(run: Run, attribute: str, grounds: list[str]) -> None:
    """Groups ranked by their distance from the table."""
    about.heading("Distance from the table", "requirement:t-closeness")
    ground = ground_choice(run, attribute, grounds, f"privacy-ground-{run.id}-{attribute}")
    distances = parts.measured(run, privacy.emd, attribute, ground)
    limits = [
        one.t
        for one in (*run.promises, *state.asked_of_all(run))
        if isinstance(one, TCloseness) and one.ground == ground and one.attribute in (None, attribute)
    ]
    asked = min(limits, default=None)
    within = f" {share_text(share_at_most(distances, asked))} keep t = {asked:g}." if asked is not None else ""
    parts.chart(
        curves({"distance": (Curve.of(distances), run.style)}, "EMD from the table", ".2f", asked=asked),
        "privacy-distances",
        f"Earth mover's distance of '{escaped(attribute)}' in each of the groups from the whole table: "
        f"0 is the same distribution, 1 as far as can be. Half of them lie within {np.median(distances):.3f}.{within}",
        f"Curve of the distances of {len(distances):,} groups from the table, up to {distances.max():.3f}.",
    )


def ground_choice(run: Run, attribute: str, grounds: list[str], key: str) -> str:
    """The ground distance of t-closeness; the one that was asked for is proposed."""
    return parts.choice(
        "Ground distance",
        grounds,
        key,
        "How far apart two values are: what it costs to move mass from one to the other.",
        names=lambda one: GROUND_NAMES[one],
        index=grounds.index(parts.usual_ground(run, attribute, grounds)),
    )


def _beliefs(run: Run, attribute: str) -> None:
    """What an adversary who knows the quasi-identifiers believes about each person."""
    about.heading("What an adversary believes", "attack:attribute_disclosure")
    found = parts.attempt(run, attacks.attribute_disclosure, attribute)
    if found is None:
        return
    guess = float(found.largest.baseline or 0)
    parts.tiles([Tile.of(one, label=one.title) for one in (found.largest, found.truth)])
    above = float(lies_above(found.belief, guess, ACCUMULATED).mean())
    parts.chart(
        belief_histogram(found.belief, guess, run.style),
        "privacy-beliefs",
        "The adversary knows everyone's quasi-identifiers and takes the likeliest "
        f"'{escaped(attribute)}' of each. For {above:.0%} of the people they are surer than by guessing the most "
        f"frequent value of the table ({share_text(guess)}).",
        f"Histogram of the adversary's largest belief about {attribute} for each row, up to {found.largest:.0%}; "
        f"guessing has {guess:.0%}.",
    )


def _reidentification(run: Run) -> None:
    """How likely people are found by their quasi-identifiers, against the table as it was."""
    about.heading("Finding people", "attack:reidentification")
    risk = parts.attempt(run, attacks.reidentification)
    if risk is None:
        return
    all_columns.spread("risk")
    if not run.data.knows_rows:
        st.markdown(_risk_text(run, risk))
        st.caption("How many would be found in the original is not known, as it is not here.")
        return
    before = parts.soon("Counting who is found in the original", run, original_risk)
    if before is None:
        st.markdown(_risk_text(run, risk))
        return
    now, then = (
        np.array([one.prosecutor.largest, one.prosecutor.mean, one.prosecutor.at_risk]) for one in (risk, before)
    )
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with left:
        names = ["person at most risk", "average person", f"people above {risk.threshold:.0%}"]
        parts.chart(
            risk_bars(names, now, then, run.style),
            "privacy-risks",
            "Probability that someone who knows a person's quasi-identifiers picks that person's record "
            f"(prosecutor risk), and the share of people for whom it exceeds {risk.threshold:.0%}.",
            f"Bar chart: the person at most risk is found with {share_text(now[0])} (original "
            f"{share_text(then[0])}), the average person with {share_text(now[1])} (original {share_text(then[1])}).",
        )
    with right:
        st.markdown(_risk_text(run, risk))
        parts.notes(risk.notes, st.caption)


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
    data = release.data
    return cached(data, "risk of the original", (), lambda: attacks.reidentification(unchanged(data)))
