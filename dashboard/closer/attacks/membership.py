"""The tab Membership: can an adversary tell from the release who is in the table?"""

from __future__ import annotations

import numpy as np
import streamlit as st

from anoncore import attacks
from anoncore.attacks import JoinLikelihood, Membership, RegionMembership
from anoncore.base.score import Score
from anoncore.base.texts import share_text
from anoncore.kernels.rounding import ACCUMULATED, reaches
from dashboard.charts.palette import run_style
from dashboard.charts.slicing import likelihood_histogram, tuple_bars
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session.workspace import Run

ALL, KNOWN = "all published attributes", "quasi-identifiers only"


def render(run: Run) -> None:
    """Draw the tab: by buckets, by joins or by regions, as the release has it."""
    release = run.release
    if len(release.fragments) == 1:
        found = parts.later("Fitting combinations", "attacks.region_membership", run, attacks.region_membership)
    else:
        found = parts.later("Fake tuples", "attacks.membership", run, attacks.membership, *_attributes(run))
    if isinstance(found, Membership):
        _tuples(run, found)
    elif isinstance(found, JoinLikelihood):
        _joins(run, found)
    elif isinstance(found, RegionMembership):
        _regions(run, found)


def _attributes(run: Run) -> tuple[tuple[str, ...], ...]:
    """What a tuple consists of, as an argument of the measure; none where every fragment has groups of its own."""
    release = run.release
    known = tuple(name for name in run.data.quasi_identifiers if name in release.attributes)
    if not release.is_shared or not known:
        return ()
    chosen = parts.choice(
        "What the adversary looks up",
        (ALL, KNOWN),
        f"membership-attributes-{run.id}",
        "A tuple has one value of each of these; it matches a bucket that shows all of them, whoever they belong to.",
    )
    return () if chosen == ALL else (known,)


def _tuples(run: Run, found: Membership) -> None:
    words = parts.plural(run.release.group_word)
    style = run_style(run.color_index)
    low, high = found.interval
    bounds = "counted" if found.exact else f"{_range(low, high)}, {found.confidence:.0%} sure"
    many = found.histogram.iloc[2]
    parts.tiles(
        [
            Tile(found.fake.title, f"{found.fake:,.0f}", escaped(found.fake.meaning), bounds),
            Tile(
                found.belief.title,
                share_text(found.belief),
                escaped(found.belief.meaning),
                f"guessing: {_share(float(found.belief.baseline or 0))}",
            ),
            Tile(
                "Fake, more than 20",
                f"{many['fake']:,.0f}",
                f"Fake tuples that match more than 20 {words}: those that look most like members.",
                f"rows of the table: {many['original']:,.0f}",
            ),
            Tile(
                "A row matches",
                f"{np.median(found.matching_buckets):,.0f}",
                f"Median number of {words} that a row of the table matches.",
                words,
            ),
        ]
    )
    st.markdown(_meaning(found, words))
    left, right = st.columns([2, 3], gap="medium")
    how = found.method if found.exact else f"{found.method} The whiskers are these bounds."
    with left:
        parts.chart(
            tuple_bars(found.histogram, style),
            key="membership-classes",
            caption=f"Rows of the table and fake tuples by the number of {words} that they match. {how}",
            alt=f"Bar chart: {many['original']:,.0f} rows, {many['fake']:,.0f} fake tuples match more than 20 {words}.",
        )
    with right:
        parts.chart(
            tuple_bars(found.finer, style),
            key="membership-finer",
            caption="The same in smaller classes. Where bars are of like height, the number of matches does not give "
            "members away." + ("" if found.exact else " Estimates; no bounds are known for single bars."),
            alt=f"Bar chart of the same tuples in {len(found.finer)} classes of matching {words}.",
        )


def _range(low: float, high: float) -> str:
    """Bounds of a count, short enough for a tile."""
    if high < 1e6:
        return f"{low:,.0f}–{high:,.0f}"
    return f"{low / 1e6:,.2f}–{high / 1e6:,.2f} million"


def _meaning(found: Membership, words: str) -> str:
    names = ", ".join(escaped(name) for name in found.attributes[:8])
    rest = " …" if len(found.attributes) > 8 else ""
    if float(found.fake) == 0:
        return (
            f"No tuple of {names}{rest} matches without being in the table: **whoever finds a person's values in one "
            f"of the {words} knows that the person is in the table.** This form of publishing hides nobody's presence."
        )
    share = float(found.belief)
    return (
        f"The adversary looks up a person's {names}{rest}, finds {words} that show these values, and takes the person "
        f"for a member. Of the different tuples that match, **{share_text(share)}** are in the table; the others only "
        f"look so, as their values met in one of the {words} by chance. A combination taken blindly is in the table "
        f"with a probability of {_share(float(found.belief.baseline or 0))}."
    )


def _joins(run: Run, found: JoinLikelihood) -> None:
    parts.tiles(
        [
            _likelihood(found.largest),
            _likelihood(found.mean),
            Tile("Joined rows", f"{found.total:,.0f}", f"Rows of the fragments' join on '{escaped(found.common)}'."),
            Tile(found.unmatched.label, share_text(found.unmatched), escaped(found.unmatched.meaning)),
        ]
    )
    st.markdown(
        f"The adversary knows a person's class in every fragment and joins the fragments on "
        f"'{escaped(found.common)}': **{found.total:,.0f}** rows, of which {run.data.n_rows:,} at most are real. "
        "The likelihood of membership is the share of the joined rows that fit the person: the smaller, the less a "
        "match tells."
    )
    parts.chart(
        likelihood_histogram(
            found.likelihood, float(found.mean.baseline or 0), run_style(run.color_index), "likelihood of membership"
        ),
        key="membership-likelihood",
        caption="People by the likelihood of their membership, on a logarithmic axis. Guessing takes a random class of "
        "each fragment.",
        alt=f"Histogram of the likelihood of membership, on average {found.mean:.2g}, at most {found.largest:.2g}.",
    )


def _regions(run: Run, found: RegionMembership) -> None:
    certain = float(reaches(found.belief, 1, ACCUMULATED).mean())
    word = run.release.group_word
    one = f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
    parts.tiles(
        [
            _likelihood(found.mean),
            _likelihood(found.largest),
            Tile(
                "Certain members",
                share_text(certain),
                f"People in {one} whose region is full: every combination of values that fits it occurs.",
            ),
            Tile(
                "Fitting combinations",
                f"{np.median(found.fitting):,.0f}",
                "Median number of combinations of quasi-identifier values that fit a person's published region.",
            ),
        ]
    )
    st.markdown(
        f"The adversary looks up a person's quasi-identifiers, finds {one} whose region they fit, and takes the "
        f"person for a member. On average **{_share(float(found.mean))}** of the combinations that fit a region "
        "belong to someone in it: the fewer, the less a match tells. Only values that occur in the table count."
    )
    parts.chart(
        likelihood_histogram(
            found.belief, float(found.mean.baseline or 0), run_style(run.color_index), "belief in membership"
        ),
        key="membership-regions",
        caption="People by how sure a match makes of their membership, on a logarithmic axis. Guessing takes any "
        "combination of values.",
        alt=f"Histogram of the belief in membership, on average {found.mean:.2g}, at most {found.largest:.2g}.",
    )


def _likelihood(score: Score) -> Tile:
    return Tile(
        score.label,
        _share(float(score)),
        escaped(score.meaning),
        f"guessing: {_share(float(score.baseline or 0))}",
    )


def _share(value: float) -> str:
    """A probability as people read it: per cent, or one in so many where it is tiny."""
    if value >= 0.001 or value <= 0:
        return share_text(value)
    return f"1 in {1 / value:,.0f}"
