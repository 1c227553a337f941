"""The page Reproduction: what the papers state about their figures and tables, and what came out here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import reproduction
from dashboard.charts.layout import bars, figure, marker
from dashboard.charts.palette import (
    BLUE,
    GREEN,
    ORANGE,
    ORIGINAL,
    OUTLINE,
    PURPLE,
    SKY,
    VERMILLION,
    RunStyle,
    run_style,
)
from dashboard.elements import parts
from dashboard.markdown import escaped
from dashboard.reproduction import (
    BY_HAND,
    DIFFERENT,
    FAILS,
    HOLDS,
    IN_MOST,
    NOT_APPLICABLE,
    NOT_REPRODUCED,
    REPRODUCED,
    TIMED,
    VERDICTS,
    Entry,
    Plot,
    Result,
    Statement,
)
from dashboard.tasks import redrawing

STYLES = {
    REPRODUCED: RunStyle(BLUE, BLUE, "circle", "solid"),
    DIFFERENT: RunStyle(ORANGE, OUTLINE, "square", "dash"),
    NOT_REPRODUCED: RunStyle(VERMILLION, VERMILLION, "diamond", "dot"),
    TIMED: RunStyle(PURPLE, PURPLE, "star", "dash"),
    BY_HAND: RunStyle(SKY, OUTLINE, "triangle-up", "dashdot"),
    NOT_APPLICABLE: RunStyle(ORIGINAL, ORIGINAL, "x", "solid"),
}
THEIRS = (RunStyle(GREEN, GREEN, "star", "dash"), RunStyle(GREEN, GREEN, "star-open", "dot"))
UNCHANGED = RunStyle(ORIGINAL, ORIGINAL, "circle", "dot")
OURS = tuple(style for style in map(run_style, range(6)) if style.color != GREEN)


def verdicts_of_papers(results: Sequence[Result]) -> go.Figure:
    """Figures and tables of each paper by verdict, one bar per paper."""
    titles = [one.title for one in results]
    shown = {verdict: ([one.counts[verdict] for one in results], STYLES[verdict]) for verdict in VERDICTS}
    titles, hover = [one.title for one in results], "%{y}: %{x} %{fullData.name}"
    result = bars(titles, shown, "figures and tables", form="", hover=hover, row=34, stacked=True, legend=True)
    return result.update_layout(legend_traceorder="normal")


def drawn_curves(plot: Plot) -> go.Figure:
    """Our curves with the styles of runs but green, those that a paper prints or models as green stars on dashes.

    The vertical axis begins at 0 unless all values lie close together above it.
    """
    traces = []
    theirs, ours = cycle(THEIRS), cycle(OURS)
    for one in plot.curves:
        style = UNCHANGED if one.name == "original data" else next(theirs if one.paper else ours)
        traces.append(
            go.Scatter(
                x=one.x,
                y=one.y,
                mode="lines+markers",
                name=one.name,
                line={"color": style.color, "dash": style.dash, "width": 2},
                marker={**marker(style), "symbol": style.symbol, "size": 11 if one.paper else 7},
                hovertemplate=f"{plot.x} %{{x:,}}: %{{y:.4g}}<extra>%{{fullData.name}}</extra>",
            )
        )
    rows = -(-len(traces) // 4)
    result = figure(*traces, x=plot.x, y=plot.y, height=360 + 20 * rows, legend=True)
    result.update_layout(margin_t=18 + 20 * rows, margin_l=86)
    if plot.log_y:
        result.update_yaxes(type="log", dtick=1)
    elif min(min(one.y) for one in plot.curves) < max(max(one.y) for one in plot.curves) / 2:
        result.update_yaxes(rangemode="tozero")
    if plot.log_x:
        places = sorted({x for one in plot.curves for x in one.x})
        result.update_xaxes(type="log", tickvals=places, ticktext=[f"{x:,.0f}" for x in places])
    return result


PAPER, FIGURE, CURVES = "book-paper", "book-figure", "book-curves"
RULE = (
    "Each thing that a paper states is judged by itself: it **holds** in all of the cases that were tried, **in most** "
    "of them, which is more than half, or it **does not hold**. A row is *reproduced* where everything that is stated "
    "there holds; *reproduced with difference* where everything holds in most cases at least, and the cause of each "
    "exception is named with the run that shows it; else *not reproduced*, so that one statement that does not hold is "
    "enough. Where a paper can be read in several ways, the reading with the best verdict counts."
)
TEXTS = {
    "reproduced": "Everything that the paper states about it holds here, in every case that was tried.",
    "reproduced with difference": "Everything that the paper states about it holds here in more than half of the "
    "cases; which do not, why, and the run that shows the cause stand below.",
    "not reproduced": "At least one thing that the paper states about it holds in half of the cases or fewer. The "
    "other statements may hold: each stands by itself below.",
    "holds in seconds only": "Everything holds in more than half of the cases, but processor seconds are compared, "
    "which differ from run to run: a broken method can pass, so it does not count as reproduced.",
    "worked by hand": "Only numbers of the paper or its table are compared: nothing of this library is under test, so "
    "it does not count.",
    "not applicable": "A drawing, a list of symbols, or something else that states no result that can be compared.",
}
BADGES = {HOLDS: "green", IN_MOST: "orange", FAILS: "red"}
SHORT = {DIFFERENT: "With difference", TIMED: "Seconds only"}
COMMAND = "python -m tests.papers"


def render() -> None:
    """Draw the page."""
    st.markdown(
        "Every method here comes from a paper. This page holds each figure, table and theorem of the papers, and what "
        "their text claims, against our own runs: what is stated there, what came out here, and why the two differ "
        "where they do."
    )
    st.markdown(RULE)
    results = _shipped(reproduction.written())
    if not results:
        st.info(f"No results came with this installation. The command `{COMMAND}` in the source tree makes them.")
        return
    with st.expander("All papers at a glance", expanded=True):
        parts.chart(
            verdicts_of_papers(results),
            "book-verdicts",
            "Figures, tables, theorems and claims of each paper by verdict. "
            + " ".join(
                f"{verdict.capitalize()}: {TEXTS[verdict][0].lower()}{TEXTS[verdict][1:]}" for verdict in VERDICTS
            ),
            "; ".join(f"{one.title}: " + ", ".join(f"{n} {what}" for what, n in one.counts.items()) for one in results),
        )
    place = parts.choice(
        "Paper", range(len(results)), PAPER, "Whose figures and tables are listed.", names=lambda at: results[at].title
    )
    _paper(results[place])


@st.cache_data(show_spinner=False)
def _shipped(written: float) -> list[Result]:
    return reproduction.shipped()


def _paper(result: Result) -> None:
    st.markdown(f"**{escaped(result.title)}**: {escaped(result.source)}")
    parts.tiles(
        [parts.Tile(SHORT.get(what, what.capitalize()), f"{n}", TEXTS[what]) for what, n in result.counts.items()]
    )
    st.caption(
        f"Run on {result.date} in {_time(result.seconds)}, {result.mode} sizes. "
        f"Make these numbers again with the command `{result.command}`. {escaped(result.note)}"
    )
    parts.table(
        pd.DataFrame([_line(result, entry) for entry in result.entries]),
        f"book-table-{result.name}",
        "One line per figure or table: what it shows, the verdict and the likely cause of a difference",
        min(38 + 35 * len(result.entries), 400),
        columns={
            "Figure or table": parts.words(
                "As the paper numbers it; also theorems, algorithms and sections of text.", 95
            ),
            "Shows": parts.words("What it is about.", 230),
            "Verdict": parts.words("What follows from the statements about it.", 175),
            "Statements": parts.words("Those that hold in every case, of all.", 90),
            "Broken": parts.words(
                "Statements that fall under a version of the method that was broken on purpose, of all.", 80
            ),
            "Cause or reason": parts.words("Why something differs, or why there is nothing to run."),
        },
    )
    _detail(result)
    _every_statement(result)
    _list_of_statements(result)
    _experiments(result)


def _list_of_statements(result: Result) -> None:
    """All that the paper states about results, in its order, with the rows above in which it is judged."""
    if not result.stated:
        return
    verdicts = {entry.label: entry.verdict for entry in result.entries}
    with st.expander(f"All {len(result.stated)} statements of the paper about results, and where they are judged"):
        parts.table(
            pd.DataFrame(
                {
                    "In the paper": [one.where for one in result.stated],
                    "It states": [one.text for one in result.stated],
                    "Judged in": [", ".join(one.judged) for one in result.stated],
                    "Verdict": [
                        ", ".join(dict.fromkeys(verdicts[label] for label in one.judged)) for one in result.stated
                    ],
                }
            ),
            f"book-stated-{result.name}",
            "; ".join(f"{one.where}: {one.text}, judged in {', '.join(one.judged)}" for one in result.stated),
            columns={
                "In the paper": parts.words("The section in which it stands.", 110),
                "It states": parts.words("In our words.", 420),
                "Judged in": parts.words("Rows of the table above.", 150),
                "Verdict": parts.words("The verdict on these rows as a whole.", 170),
            },
        )


def _line(result: Result, entry: Entry) -> dict[str, str]:
    counted = entry.counted
    whole = sum(one.judgement == HOLDS for one in counted)
    fallen = sum(bool(entry.breakers(one)) for one in counted)
    return {
        "Figure or table": entry.heading,
        "Shows": entry.shows,
        "Verdict": entry.verdict,
        "Statements": f"{whole} of {len(counted)}" if counted else "",
        "Broken": f"{fallen} of {len(counted)}" if counted else "",
        "Cause or reason": entry.reason or "; ".join(entry.causes),
    }


@redrawing.part()
def _detail(result: Result) -> None:
    entries = [entry for entry in result.entries if entry.verdict != NOT_APPLICABLE]
    drawn = {plot.figure for plot in result.plots}
    first = next((place for place, entry in enumerate(entries) if entry.label in drawn), 0)
    place = parts.choice(
        "Look at",
        range(len(entries)),
        f"{FIGURE}-{result.name}",
        "A figure or table with everything that the paper states about it.",
        names=lambda at: entries[at].heading,
        index=first,
    )
    entry = entries[place]
    plots = [plot for plot in result.plots if plot.figure == entry.label]
    if plots:
        stated, curves = st.columns([5, 6], gap="large")
        with curves:
            _curves(result, entry, plots)
    else:
        stated = st.container()
    with stated:
        st.markdown(f"**{entry.heading}, {escaped(entry.shows)}: {entry.verdict}.** {_run_of(result, entry)}")
        _readings(entry)
        if entry.settings:
            st.caption(f"Set here beside the paper: {escaped(entry.settings)}.")
        st.caption(_broken(entry))
        told: set[str] = set()
        for one in entry.statements:
            st.markdown(_stated(one, entry.breakers(one), one.cause in told))
            told.add(one.cause)


def _broken(entry: Entry) -> str:
    """Which statements were tried with a broken method, in a sentence or two."""
    if not entry.mutants:
        return "No broken version of the method was run for this row."
    names = ", ".join(dict.fromkeys(escaped(one.name) for one in entry.mutants))
    counted = entry.counted
    fallen = sum(bool(entry.breakers(one)) for one in counted)
    return (
        f"Broken on purpose, and judged again on reduced sizes: {names}. Of {len(counted)} statements {fallen} fall "
        "under at least one of them; under which stands with each."
    )


def _readings(entry: Entry) -> None:
    """What follows from each way to read the paper, where there are several."""
    readings = entry.readings
    if len(readings) < 2:
        return
    whole = {name: [one.judgement == HOLDS for one in entry.counted if one.reading in ("", name)] for name in readings}
    parts.table(
        pd.DataFrame(
            {
                "Reading": list(readings),
                "Verdict": list(readings.values()),
                "Statements": [f"{sum(one)} of {len(one)}" for one in whole.values()],
            }
        ),
        f"book-readings-{entry.label}",
        "; ".join(f"{reading}: {verdict}" for reading, verdict in readings.items()),
        columns={
            "Reading": parts.words("How the paper is read where it can be read in several ways."),
            "Verdict": parts.words("The verdict if this is what the paper means.", 175),
            "Statements": parts.words("Those that hold in every case, of all.", 90),
        },
    )


def _every_statement(result: Result) -> None:
    """All statements of the paper by themselves, to look through and to take away."""
    statements = result.lines()
    lines = pd.DataFrame(statements)
    with st.expander(f"Each of {len(lines)} statements by itself, and what it falls under"):
        parts.table(
            lines,
            f"book-statements-{result.name}",
            "; ".join(
                f"{line['Figure or table']}: {line['It states']}: {line['Judgement']}" for line in result.lines()
            ),
            400,
            columns={
                "Figure or table": parts.words("The row above that it belongs to.", 95),
                "It states": parts.words("What is held against our runs.", 320),
                "Judgement": parts.words("All cases hold, most of them, or fewer.", 120),
                "Least effect": parts.words("What counts as an effect, where the text is silent."),
                "Counted from": parts.words("What the numbers are taken from."),
                "Falls under": parts.words(
                    "Broken versions of the method, and what becomes of the statement under each.", 260
                ),
            },
        )
        st.download_button(
            "Download as CSV",
            lines.to_csv(index=False).encode(),
            f"reproduction-{result.name}.csv",
            "text/csv",
            key=f"book-statements-file-{result.name}",
        )


def _experiments(result: Result) -> None:
    """What the paper wished for, tried here."""
    if not result.experiments:
        return
    st.subheader("What the paper wished for")
    for place, one in enumerate(result.experiments):
        st.markdown(f"**{escaped(one.title)}.** {escaped(one.question)}")
        parts.table(
            pd.DataFrame(one.rows, columns=list(one.columns)),
            f"book-experiment-{result.name}-{place}",
            "; ".join(", ".join(row) for row in one.rows),
        )
        st.markdown(f"{escaped(one.answer)}  \n:gray[Run: {escaped(one.run)}]")


def _stated(one: Statement, breakers: Sequence[tuple[str, str]], told: bool) -> str:
    """A statement with what is found and under what it falls; a cause that was told before is not told again."""
    badge = ":gray-badge[by hand]" if one.by_hand else f":{BADGES[one.judgement]}-badge[{one.judged}]"
    seconds = " :gray-badge[seconds]" if one.timed else ""
    reading = f" ({escaped(one.reading)})" if one.reading else ""
    cases = f"{one.held:,} of {one.cases:,} cases; " if one.cases > 1 else ""
    found = escaped(f"{cases}{one.found}".strip("; ") or "as stated")
    text = one.text[0].upper() + one.text[1:] if one.text[:2].isalpha() else one.text
    lines = [f"{badge}{seconds} {escaped(text)}{reading}", f"Here: {found}"]
    if one.cause:
        tried = f" Tried: {escaped(one.tried)}." if one.tried else ""
        lines.append(f":gray[Cause: {'as above' if told else escaped(one.cause)}.{tried}]")
    if one.least or one.oracle:
        parts_of = [("Least effect", one.least), ("Counted from", one.oracle)]
        lines.append(":gray[" + " ".join(f"{name}: {escaped(what)}." for name, what in parts_of if what) + "]")
    if breakers:
        fallen = "; ".join(f"{escaped(name)} ({after})" for name, after in breakers)
        lines.append(f":gray[Falls under: {fallen}.]")
    elif not one.by_hand and one.judgement != FAILS:
        lines.append(":gray[No broken version was run for this statement.]")
    return "  \n".join(lines)


def _curves(result: Result, entry: Entry, plots: list[Plot]) -> None:
    place = parts.choice(
        "Curves",
        range(len(plots)),
        f"{CURVES}-{result.name}-{entry.label}",
        "The main curves of this figure.",
        names=lambda at: plots[at].title,
    )
    plot = plots[place]
    theirs = any(one.paper for one in plot.curves)
    beside = (
        "Green stars are the paper's own numbers or model."
        if theirs
        else "The paper prints this figure without numbers."
    )
    names = ", ".join(one.name for one in plot.curves)
    alt = f"{plot.title}: {plot.y} over {plot.x} for {names}"
    parts.chart(drawn_curves(plot), "book-curves-chart", f"{escaped(plot.title)}. {beside}", alt)


def _run_of(result: Result, entry: Entry) -> str:
    study = result.study_of(entry.label)
    if study is None:
        return ""
    seconds = f" in {_time(study.seconds)}" if study.seconds is not None else ""
    return f"Run on {escaped(study.sizes)}{seconds}; seed: {escaped(study.seed)}."


def _time(seconds: float) -> str:
    return parts.duration(seconds) if seconds < 120 else f"{seconds / 60:,.0f} minutes"
