"""The page Reproduction: what the papers state about their figures and tables, and what came out here."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import reproduction
from dashboard.charts import book as charts
from dashboard.markdown import escaped
from dashboard.reproduction import DIFFERENT, NOT_APPLICABLE, TIMED, VERDICTS, Entry, Plot, Result, Statement
from dashboard.views import parts

PAPER, FIGURE, CURVES = "book-paper", "book-figure", "book-curves"
TEXTS = {
    "reproduced": "Everything that the paper states about it holds here, in every case that was tried, and broken "
    "versions of the method do not get this verdict. Where it can be read in several ways, the reading in which most "
    "holds counts.",
    "reproduced with difference": "Statements hold in at least half of the cases on average; which do not, and the "
    "likely cause, stands below.",
    "not reproduced": "Statements hold in fewer than half of the cases.",
    "holds in seconds only": "Everything holds, but processor seconds are compared, which differ from run to run: a "
    "broken method can pass, so it does not count as reproduced.",
    "worked by hand": "Only numbers of the paper or its table are compared: nothing of this library is under test, so "
    "it does not count.",
    "not applicable": "A drawing, a list of symbols, or something else that states no result that can be compared.",
}
SHORT = {DIFFERENT: "With difference", TIMED: "Seconds only"}
COMMAND = "python -m tests.papers"


def render() -> None:
    """Draw the page."""
    st.markdown(
        "Every method here comes from a paper. This page holds each figure, table and theorem of the papers, and what "
        "their text claims, against our own runs: what is stated there, what came out here, and why the two differ "
        "where they do."
    )
    results = _shipped(reproduction.written())
    if not results:
        st.info(f"No results came with this installation. The command `{COMMAND}` in the source tree makes them.")
        return
    with st.expander("All papers at a glance", expanded=True):
        parts.chart(
            charts.verdicts(results),
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
    st.dataframe(
        pd.DataFrame([_line(result, entry) for entry in result.entries]),
        hide_index=True,
        key=f"book-table-{result.name}",
        height=min(38 + 35 * len(result.entries), 400),
        column_config={
            "Figure or table": st.column_config.TextColumn(
                width=95, help="As the paper numbers it; also theorems, algorithms and sections of text."
            ),
            "Shows": st.column_config.TextColumn(width=230, help="What it is about."),
            "Verdict": st.column_config.TextColumn(width=175, help="How much of what is stated holds here."),
            "Statements": st.column_config.TextColumn(width=90, help="Those that hold in every case, of all."),
            "Cause or reason": st.column_config.TextColumn(
                help="Why something differs, or why there is nothing to run."
            ),
        },
        alt="One line per figure or table: what it shows, the verdict and the likely cause of a difference",
    )
    _detail(result)
    _list_of_statements(result)
    _experiments(result)


def _list_of_statements(result: Result) -> None:
    """All that the paper states about results, in its order, with the rows above in which it is judged."""
    if not result.stated:
        return
    verdicts = {entry.label: entry.verdict for entry in result.entries}
    with st.expander(f"All {len(result.stated)} statements of the paper about results, and where they are judged"):
        st.dataframe(
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
            hide_index=True,
            key=f"book-stated-{result.name}",
            column_config={
                "In the paper": st.column_config.TextColumn(width=110, help="The section in which it stands."),
                "It states": st.column_config.TextColumn(width=420, help="In our words."),
                "Judged in": st.column_config.TextColumn(width=150, help="Rows of the table above."),
                "Verdict": st.column_config.TextColumn(width=170, help="The verdict on these rows as a whole."),
            },
            alt="; ".join(f"{one.where}: {one.text}, judged in {', '.join(one.judged)}" for one in result.stated),
        )


def _line(result: Result, entry: Entry) -> dict[str, str]:
    counted = [one for one in entry.statements if not one.by_hand]
    whole = sum(one.share == 1 for one in counted)
    return {
        "Figure or table": entry.heading,
        "Shows": entry.shows,
        "Verdict": entry.verdict,
        "Statements": f"{whole} of {len(counted)}" if counted else "",
        "Cause or reason": entry.reason or "; ".join(entry.causes),
    }


@st.fragment
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
        if entry.mutants:
            st.caption(
                "Broken on purpose, and judged again on reduced sizes: "
                + "; ".join(f"{escaped(one.name)}: {escaped(one.verdict)}" for one in entry.mutants)
                + "."
            )
        told: set[str] = set()
        for one in entry.statements:
            st.markdown(_stated(one, one.cause in told))
            told.add(one.cause)


def _readings(entry: Entry) -> None:
    """How much holds in each way to read the paper, where there are several."""
    readings = entry.readings
    if len(readings) < 2:
        return
    st.dataframe(
        pd.DataFrame({"Reading": list(readings), "Holds": [f"{share:.0%}" for share in readings.values()]}),
        hide_index=True,
        key=f"book-readings-{entry.label}",
        column_config={
            "Reading": st.column_config.TextColumn(help="How the paper is read where it can be read in several ways."),
            "Holds": st.column_config.TextColumn(
                width=70, help="Mean share of the cases in which its statements hold; what needs no reading counts too."
            ),
        },
        alt="; ".join(f"{reading}: {share:.0%} holds" for reading, share in readings.items()),
    )


def _experiments(result: Result) -> None:
    """What the paper wished for, tried here."""
    if not result.experiments:
        return
    st.subheader("What the paper wished for")
    for place, one in enumerate(result.experiments):
        st.markdown(f"**{escaped(one.title)}.** {escaped(one.question)}")
        st.dataframe(
            pd.DataFrame(one.rows, columns=list(one.columns)),
            hide_index=True,
            key=f"book-experiment-{result.name}-{place}",
            alt="; ".join(", ".join(row) for row in one.rows),
        )
        st.markdown(f"{escaped(one.answer)}  \n:gray[Run: {escaped(one.run)}]")


def _stated(one: Statement, told: bool) -> str:
    """A statement with what is found; a cause that was told before is not told again."""
    badge = ":gray-badge[by hand]" if one.by_hand else _badge(one)
    reading = f" ({escaped(one.reading)})" if one.reading else ""
    cases = f"{one.held:,} of {one.cases:,} cases; " if one.cases > 1 else ""
    found = escaped(f"{cases}{one.found}".strip("; ") or "as stated")
    tried = f" Tried: {escaped(one.tried)}." if one.tried else ""
    cause = f"  \n:gray[Cause: {'as above' if told else escaped(one.cause)}.{tried}]" if one.cause else ""
    text = one.text[0].upper() + one.text[1:] if one.text[:2].isalpha() else one.text
    return f"{badge} {escaped(text)}{reading}  \nHere: {found}{cause}"


def _badge(one: Statement) -> str:
    if one.share == 1:
        return ":green-badge[holds]"
    return ":orange-badge[in part]" if one.held else ":red-badge[differs]"


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
    parts.chart(charts.curves(plot), "book-curves-chart", f"{escaped(plot.title)}. {beside}", alt)


def _run_of(result: Result, entry: Entry) -> str:
    study = result.study_of(entry.label)
    if study is None:
        return ""
    seconds = f" in {_time(study.seconds)}" if study.seconds is not None else ""
    return f"Run on {escaped(study.sizes)}{seconds}; seed: {escaped(study.seed)}."


def _time(seconds: float) -> str:
    return parts.duration(seconds) if seconds < 120 else f"{seconds / 60:,.0f} minutes"
