"""The tabs Matching buckets and Membership: what one person's buckets tell, and who is in the table at all."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import attacks
from anoncore.attacks import JoinLikelihood, MatchingBuckets, Membership, RegionMembership
from anoncore.attacks.disclosure import BELIEF_IN_TRUTH, LARGEST_BELIEF
from anoncore.attacks.posterior import table_distribution
from anoncore.base.score import Score
from anoncore.base.texts import counted, share_text
from anoncore.kernels.arrays import Floats
from anoncore.kernels.rounding import ACCUMULATED, reaches
from dashboard.charts.attacks import likelihood_histogram, person_shares, tuple_bars
from dashboard.closer.attack import attacked
from dashboard.closer.class_detail import PERSON, people_of
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import browser
from dashboard.session.workspace import Run

ALL, KNOWN = "all published attributes", "quasi-identifiers only"
MOST_BUCKETS = 200
MOST_VALUES = 12
LIST_HEIGHT = 330


def matching(run: Run) -> None:
    """Draw one person, the buckets they may be in, and what each says about the sensitive value."""
    release = run.release
    if parts.says_why_nobodys(run, "Matching buckets are those that may hold a person's row"):
        return
    if len(release.fragments) < 2 or not release.is_shared:
        form = "one table" if len(release.fragments) < 2 else "tables with groups of their own"
        st.info(
            "Matching buckets are the groups that a person may be in where several columns share them, as in "
            f"slicing and bucketization. This release publishes {form}, so everyone's group is known to who knows "
            "their quasi-identifiers; what is believed of them then is on the page Privacy."
        )
        return
    _person(run)


@parts.fragment
def _person(run: Run) -> None:
    attribute = attacked(run, "matching")
    if attribute is None:
        return
    row = _choose(run, attribute)
    found = attacks.matching_buckets(run.release, attribute, row)
    line = {name: run.data.domain[name].text(int(run.data.codes[name][row])) for name in run.data.attributes}
    known = [f"{escaped(name)} **{escaped(line[name])}**" for name in run.data.quasi_identifiers if name in line]
    st.markdown(
        f"The adversary knows that this person is in the table, with {', '.join(known)}. "
        f"The truth: {escaped(attribute)} **{escaped(line[attribute])}**."
    )
    _figures(run, found)
    _buckets(run, found)
    left, right = parts.beside(4, 5)
    with left:
        _belief(run, found)
    with right:
        _neighbours(run, found)


def _choose(run: Run, attribute: str) -> int:
    """The person's position in the table: typed, the one at most risk, or the one that was chosen in a list."""
    key = f"matching-row-{run.id}"
    person = int(browser.get(f"{PERSON}-{run.id}", 0))
    browser.set_widget_values({key: person + 1})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(
            "Row of the person",
            min_value=1,
            max_value=run.data.n_rows,
            step=1,
            key=key,
            on_change=_typed,
            args=(run, key),
            help="Rows of the table as loaded, from 1. People can also be clicked in the lists of a group.",
            width=200,
        )
        st.button(
            "Person at most risk",
            key="matching-worst",
            on_click=_worst,
            args=(run, attribute),
            help="The person of whose value the adversary is surest.",
        )
    return person


def _typed(run: Run, key: str) -> None:
    row = browser.widget_value(key)
    if row is not None:
        browser.put(f"{PERSON}-{run.id}", int(row) - 1)


def _worst(run: Run, attribute: str) -> None:
    found = parts.attempt(run, attacks.attribute_disclosure, attribute)
    if found is not None:
        person = int(np.argmax(found.belief))
        people = run.data.people
        browser.put(f"{PERSON}-{run.id}", person if people is None else int(np.argmax(people == person)))


def _figures(run: Run, found: MatchingBuckets) -> None:
    table = table_distribution(run.release, found.attribute)
    domain = run.data.domain[found.attribute]
    likeliest = int(np.argmax(found.probability.to_numpy()))
    true = int(run.data.codes[found.attribute][found.row])
    own = found.buckets["p"].get(found.own, 0.0)
    own_bucket = f"Probability p(t,B) of group {found.own}, which this person really is in."
    of_all = f"Those that show this person's values in every column, of {run.release.partition.n_groups:,}."
    largest = f"Largest p(t,s): '{escaped(domain.text(likeliest))}'."
    row = [
        Tile("Matching groups", f"{len(found.buckets):,}", of_all),
        Tile("Own group", share_text(own), own_bucket, f"group {found.own}"),
    ]
    for title, code, told, guess in (
        (LARGEST_BELIEF.title, likeliest, largest, table.max()),
        (BELIEF_IN_TRUTH.title, true, f"p(t,s) of the true value '{escaped(domain.text(true))}'.", table[true]),
    ):
        row.append(Tile(title, share_text(found.probability.iloc[code]), told, f"guessing: {share_text(guess)}"))
    parts.tiles(row)


def _belief(run: Run, found: MatchingBuckets) -> None:
    domain = run.data.domain[found.attribute]
    belief = found.probability.to_numpy()
    table = table_distribution(run.release, found.attribute)
    likeliest = int(np.argmax(belief))
    parts.chart(
        person_shares(domain, belief, table, run.style),
        "matching-belief",
        f"p(t,s): what the adversary believes of this person's '{escaped(found.attribute)}', beside the "
        "whole table, which is what guessing has. The closer the pairs, the less the release tells of this person.",
        f"Bar chart of the probabilities of {found.attribute} for row {found.row + 1:,}: the likeliest is "
        f"{domain.text(likeliest)} with {belief[likeliest]:.0%}; in the table it has {table[likeliest]:.0%}.",
    )


def _buckets(run: Run, found: MatchingBuckets) -> None:
    frame = bucket_table(found)
    product = "Product of the shares: rows that show all their values, linked."
    columns = {
        "size": parts.number(format="localized", label="Rows"),
        "f": parts.number(product, "%.3g", label="f(t,B)"),
        "p": parts.number("f(t,B) as a share of the sum over all matching buckets.", "percent", label="p(t,B)"),
    }
    for name in map(str, frame.columns):
        if name.startswith("D: "):
            columns[name] = parts.percent(width=None)
        elif name not in columns:
            columns[name] = parts.number("Share of the rows that show their values.", "%.3g", label=f"f {name}")
    st.dataframe(
        frame,
        height=LIST_HEIGHT if len(frame) > 8 else "auto",
        key="matching-buckets",
        column_config=columns,
        alt=f"The {len(found.buckets):,} groups that this person may be in, the likeliest first.",
    )
    cut = (
        f" The {MOST_BUCKETS} likeliest of {len(found.buckets):,} are listed."
        if len(found.buckets) > len(frame)
        else ""
    )
    most = f", the {MOST_VALUES} likeliest values" if (found.probability > 0).sum() > MOST_VALUES else ""
    st.caption(
        f"f of a column: share of the group's rows that show this person's values in it; f(t,B) is "
        "their product (over what columns share, where they overlap), p(t,B) its share among the matching "
        f"groups. D(t,B): '{escaped(found.attribute)}' beside the person's values{most}. "
        f"p(t,s) is the sum of p(t,B) times D(t,B).{cut}"
    )


def bucket_table(found: MatchingBuckets) -> pd.DataFrame:
    """The likeliest matching buckets with their f, p and the distribution D of the likeliest values."""
    order = np.argsort(-found.buckets["p"].to_numpy(), kind="stable")[:MOST_BUCKETS]
    possible = np.flatnonzero(found.probability.to_numpy() > 0)
    likeliest = possible[np.argsort(-found.probability.to_numpy()[possible], kind="stable")][:MOST_VALUES]
    values = found.values.iloc[:, likeliest].rename(columns=lambda text: f"D: {text}")
    return pd.concat([found.buckets, values], axis=1).iloc[order]


def _neighbours(run: Run, found: MatchingBuckets) -> None:
    """The people of the bucket that the person is in; a click takes another one."""
    people = people_of(run.release, found.own)
    key = f"matching-people-{run.id}-{found.own}"
    st.markdown(f"**People of group {found.own}** (original rows, not published)")
    st.dataframe(
        people,
        height=LIST_HEIGHT if len(people) > 8 else "auto",
        key=key,
        on_select=lambda: _clicked(run, key, people),
        selection_mode="single-row",
        alt=f"The original rows of group {found.own}; a click looks at another person.",
    )
    st.caption("This person's group before. Click a row to look at another person.")


def _clicked(run: Run, key: str, people: pd.DataFrame) -> None:
    rows = parts.selected(key, "rows")
    if rows and rows[0] < len(people):
        browser.put(f"{PERSON}-{run.id}", int(people.index[rows[0]]) - 1)


def membership(run: Run) -> None:
    """Draw whether somebody can tell who is in the table: by buckets, by joins or by regions, as the release has it."""
    release = run.release
    if len(release.fragments) == 1:
        found = parts.later("Fitting combinations", run, attacks.region_membership)
    else:
        found = parts.later("Fake tuples", run, attacks.membership, *_attributes(run))
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
        "A tuple has one value of each of these; it matches a group that shows all of them, whoever they belong to.",
    )
    return () if chosen == ALL else (known,)


def _tuples(run: Run, found: Membership) -> None:
    style = run.style
    low, high = found.interval
    bounds = "counted" if found.exact else f"{_range(low, high)}, {found.confidence:.0%} sure"
    many = found.histogram.iloc[2]
    many_help = "Fake tuples that match more than 20 groups: those that look most like members."
    matches = "Median number of groups that a row of the table matches."
    parts.tiles(
        [
            Tile(found.fake.title, f"{found.fake:,.0f}", escaped(found.fake.meaning), bounds),
            Tile.of(found.belief, label=found.belief.title, note=f"guessing: {_share(found.belief.baseline)}"),
            Tile(
                "Fake, more than 20", f"{many['fake']:,.0f}", many_help, f"rows of the table: {many['original']:,.0f}"
            ),
            Tile("A row matches", f"{np.median(found.matching_buckets):,.0f}", matches, "groups"),
        ]
    )
    st.markdown(_meaning(found))
    left, right = parts.beside(2, 3)
    how = found.method if found.exact else f"{found.method} The whiskers are these bounds."
    with left:
        parts.chart(
            tuple_bars(found.histogram, style),
            "membership-classes",
            f"Rows of the table and fake tuples by the number of groups that they match. {how}",
            f"Bar chart: {many['original']:,.0f} rows, {many['fake']:,.0f} fake tuples match more than 20 groups.",
        )
    with right:
        parts.chart(
            tuple_bars(found.finer, style),
            "membership-finer",
            "The same in smaller bins. Where bars are of like height, the number of matches does not give "
            "members away." + ("" if found.exact else " Estimates; no bounds are known for single bars."),
            f"Bar chart of the same tuples in {len(found.finer)} bins of matching groups.",
        )


def _range(low: float, high: float) -> str:
    """Bounds of a count, short enough for a tile."""
    if high < 1e6:
        return f"{low:,.0f}–{high:,.0f}"
    return f"{low / 1e6:,.2f}–{high / 1e6:,.2f} million"


def _meaning(found: Membership) -> str:
    names = ", ".join(escaped(name) for name in found.attributes[:8])
    rest = " …" if len(found.attributes) > 8 else ""
    if float(found.fake) == 0:
        return (
            f"No tuple of {names}{rest} matches without being in the table: **whoever finds a person's values in one "
            f"of the groups knows that the person is in the table.** This form of publishing hides nobody's presence."
        )
    share = float(found.belief)
    return (
        f"The adversary looks up a person's {names}{rest}, finds groups that show these values, and takes the person "
        f"for a member. Of the different tuples that match, **{share_text(share)}** are in the table; the others only "
        f"look so, as their values met in one of the groups by chance. A combination taken blindly is in the table "
        f"with a probability of {_share(found.belief.baseline)}."
    )


def _joins(run: Run, found: JoinLikelihood) -> None:
    """Draw how likely the join of fragments holds the record of a person."""
    rows = f"Rows of the fragments' join on '{escaped(found.common)}', nearly all of them fake."
    left_out = counted(round(float(found.unmatched) * run.data.n_rows), "person")
    parts.tiles(
        [
            _likelihood(found.largest),
            _likelihood(found.mean),
            Tile("Joined rows", f"{found.total:,.0f}", rows, f"{run.data.n_rows:,} in the table"),
            Tile.of(found.unmatched, note=left_out),
        ]
    )
    st.markdown(
        f"The adversary knows a person's group in every fragment and joins the fragments on "
        f"'{escaped(found.common)}': **{found.total:,.0f}** rows, of which {run.data.n_rows:,} at most are real. "
        "The likelihood of membership is the share of the joined rows that fit the person: the smaller, the less a "
        "match tells."
    )
    _likelihoods(
        run,
        found.likelihood,
        found.mean,
        "membership-likelihood",
        "People by the likelihood of their membership, on a logarithmic axis; those without a match are not drawn. "
        "Guessing takes a random group of each fragment.",
        f"Histogram of the likelihood of membership, on average {found.mean:.2g}, at most {found.largest:.2g}.",
    )


def _regions(run: Run, found: RegionMembership) -> None:
    certain = float(reaches(found.belief, 1, ACCUMULATED).mean())
    full = "People in a group whose region is full: every combination of values that fits it occurs."
    fitting = "Median number of combinations of quasi-identifier values that fit a person's published region."
    parts.tiles(
        [
            _likelihood(found.mean),
            _likelihood(found.largest),
            Tile("Certain members", share_text(certain), full),
            Tile("Fitting combinations", f"{np.median(found.fitting):,.0f}", fitting),
        ]
    )
    st.markdown(
        f"The adversary looks up a person's quasi-identifiers, finds a group whose region they fit, and takes the "
        f"person for a member. On average **{_share(float(found.mean))}** of the combinations that fit a region "
        "belong to someone in it: the fewer, the less a match tells. Only values that occur in the table count."
    )
    _likelihoods(
        run,
        found.belief,
        found.mean,
        "membership-regions",
        "People by how sure a match makes of their membership, on a logarithmic axis. Guessing takes any combination "
        "of values.",
        f"Histogram of the belief in membership, on average {found.mean:.2g}, at most {found.largest:.2g}.",
    )


def _likelihoods(run: Run, values: Floats, mean: Score, key: str, caption: str, alt: str) -> None:
    title, style = mean.title.removeprefix("Mean "), run.style
    parts.chart(likelihood_histogram(values, float(mean.baseline or 0), style, title), key, caption, alt)


def _likelihood(score: Score) -> Tile:
    return Tile.of(score, value=_share(score), note=f"guessing: {_share(score.baseline)}")


def _share(value: float | None) -> str:
    """A probability as people read it: per cent, or one in so many where it is tiny."""
    value = float(value or 0)
    return share_text(value) if value >= 0.001 or value <= 0 else f"1 in {1 / value:,.0f}"
