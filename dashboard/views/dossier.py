"""The dossier in the dialog Publish: what only people know is typed in, the rest is measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from anoncore import AnonymizationError, Answers, Dossier, Policy, Release
from anoncore.base.progress import Progress, part_of
from anoncore.front.dossier.dossier_parts import Considered
from anoncore.front.dossier.measured_treatment import CONSIDERED
from anoncore.measures.answer import and_list
from anoncore.measures.criteria import BREACH_R, evaluate
from anoncore.recipes.typed_answers import Decision, Signatory
from anoncore.requirements import Requirement
from dashboard.board import making
from dashboard.board.bench import Attempt
from dashboard.board.facts import STRONGEST, Facts, with_foreground
from dashboard.elements import parts
from dashboard.markdown import escaped
from dashboard.session import browser, compute, state
from dashboard.session.workspace import Run
from dashboard.tasks import jobs, redrawing
from dashboard.views import takeaway

POLL = 0.5
LONGEST = 1_000
PREFIX = "dossier-"
_TASK, _SHOWN, _BASE = "dossier", "dossier_shown", "dossier_base"
INTRODUCTION = (
    "For those who decide, and not for publication: one page to read, print and sign, with what was measured, how the "
    "policy comes out, and the other releases that were considered. No value of the original stands in it that is not "
    "published."
)


def render(run: Run) -> None:
    """Draw the part of the dialog: the answers, then the button that makes the dossier, and the two files."""
    st.subheader("Dossier")
    st.caption(INTRODUCTION)
    if not run.data.knows_rows:
        st.caption(takeaway.NO_ORIGINAL)
        return
    answers = _ask(run)
    wishes = state.workspace().wishes
    policy = None if wishes is None else wishes.policy
    st.caption(
        "No policy is in force; choose one on the board under *+ more*."
        if policy is None
        else f"Section 6 says how it comes out by the policy in force: **{escaped(policy.name)}**."
    )
    task: DossierTask | None = state.workspace().jobs.get(_TASK)
    if task is not None and task.asked[0] != run.id:
        task = None
    if task is not None and task.job.running:
        _watch(task)
        return
    is_current = task is not None and task.asked == asked_of(run, policy, answers)
    if not (is_current and task is not None and task.job.status == "done"):
        if task is not None and task.job.status == "failed":
            st.error(escaped(task.job.error))
        # A callback would know only what was typed before the click that took the focus out of a field.
        if st.button("Make the dossier", key="dossier-make"):
            _start(run, policy, answers)
            st.rerun()
        if task is not None and task.job.status == "done":
            st.caption("What you have typed or asked since then is not in the last one.")
        return
    _downloads(run, task.job.value)


def _downloads(run: Run, made: Sequence[str]) -> None:
    forms = (
        ("html", "text/html", "To read, print and sign."),
        ("json", "application/json", "The same, to keep and to compare."),
    )
    for place, (form, mime, help), text in zip(st.columns(2), forms, made, strict=True):
        parts.download(
            f"Dossier ({form.upper()})",
            f"dossier {form}",
            partial(str, text),
            f"{takeaway.file_stem(run)}-dossier.{form}",
            mime,
            f"dossier-{form}",
            run,
            place,
            width="stretch",
            help=help,
        )


def _start(run: Run, policy: Policy | None, answers: Answers) -> None:
    here = state.workspace()
    here.jobs[_TASK] = DossierTask.start(
        run, takeaway.chosen_release(run), making.bench().wanted, state.asked_of_all(run), policy, answers, here.id
    )


@redrawing.part(POLL)
def _watch(task: DossierTask) -> None:
    """Say how far the dossier is, and draw the dialog anew when it is there."""
    with st.container(horizontal=True, vertical_alignment="center"):
        parts.follow(task.job, "dossier-cancel")


def _ask(run: Run) -> Answers:
    """The answers as they are typed; what cannot be one is said and the last ones stay."""
    here = state.workspace()
    if f"{PREFIX}title" not in st.session_state or browser.get(_SHOWN) is not here.answers:
        browser.drop_widgets(PREFIX)
        browser.put(_BASE, here.answers)
    base: Answers = browser.get(_BASE)
    with st.expander("What only people know", key="dossier-answers"):
        st.caption("What is left empty is an empty line on paper; nothing is invented.")
        values = {**_released(base), **_of_people(base, run), **_decided(base)}
    try:
        typed = Answers(**values)
    except AnonymizationError as error:
        st.warning(escaped(str(error)))
        typed = here.answers
    if typed != here.answers:
        here.answers = typed
    browser.put(_SHOWN, here.answers)
    return here.answers


def _released(base: Answers) -> dict[str, Any]:
    st.markdown("**What is released, and for whom**")
    left, right = st.columns(2)
    with left:
        values = {name: _text(name, base) for name in ("title", "recipients")}
    with right:
        values |= {name: _text(name, base) for name in ("purpose", "duration")}
    rows = _rows("controls", [{"": one} for one in base.controls], {"": _help("controls")})
    return {**values, "controls": tuple(row[""] for row in rows)}


def _of_people(base: Answers, run: Run) -> dict[str, Any]:
    st.markdown("**The people and the table**")
    left, right = st.columns(2)
    with left:
        values: dict[str, Any] = {"population": _text("population", base)}
    with right:
        values["sampling"] = _text("sampling", base)
    percent = st.number_input(
        "Share of the population that is in the table, in percent",
        min_value=0.0,
        max_value=100.0,
        value=None if base.sampled_share is None else round(100 * base.sampled_share, 10),
        key=f"{PREFIX}sampled_share",
        placeholder="not known",
        format="%g",
        help="With it the dossier estimates who is unique in the population.",
    )
    held = [{"column": column, "who": who} for column, who in base.roles_decided_by.items()]
    labels = {"column": "Column", "who": _help("roles_decided_by")}
    rows = _rows("roles_decided_by", held, labels, ["*", *run.data.roles, *run.data.left_out])
    return {
        **values,
        "sampled_share": None if percent is None else round(percent / 100, 12),
        "roles_decided_by": {row["column"]: row["who"] for row in rows},
    }


def _decided(base: Answers) -> dict[str, Any]:
    st.markdown("**What was decided, and who signs**")
    why = _text("choice.why_this_one", base)
    left, right = st.columns(2)
    with left:
        until = _text("review.until", base)
    with right:
        by = _text("review.by", base)
    values: dict[str, Any] = {"choice": {"why_this_one": why}, "review": {"until": until, "by": by}}
    for name, kind in (("decisions", Decision), ("signatures", Signatory)):
        st.markdown(f"**{_help(name)}**")
        labels = {field: field.capitalize() for field in kind.model_fields}
        values[name] = _rows(name, [one.model_dump() for one in getattr(base, name)], labels)
    return values


def _text(path: str, base: Answers) -> str:
    """One answer on a line, by its name or that of its section and its own."""
    value: Any = base
    for part in path.split("."):
        info, value = type(value).model_fields[part], getattr(value, part)
    return _line(path, (info.description or "").rstrip("."), value)


def _line(key: str, label: str, value: str) -> str:
    return st.text_input(label, value=value, key=f"{PREFIX}{key}", max_chars=LONGEST).strip()


def _help(name: str) -> str:
    return (Answers.model_fields[name].description or "").rstrip(".")


def _rows(
    name: str, held: Sequence[dict[str, str]], labels: dict[str, str], columns: Sequence[str] = ()
) -> list[dict[str, str]]:
    """Rows of short answers in which something is typed; below them an empty one waits for the next.

    The answer `column` is chosen among `columns`, of which the first stands for all that no row names.
    """
    found: list[dict[str, str]] = []
    is_empty, place = False, 0
    while place < len(held) or not is_empty:
        start = held[place] if place < len(held) else {}
        row = {}
        for spot, (field, label) in zip(st.columns(len(labels)), labels.items(), strict=True):
            key, value = f"{name}-{place}-{field}", start.get(field, "")
            with spot:
                row[field] = _column(key, label, value, columns) if field == "column" else _line(key, label, value)
        is_empty = not any(value for field, value in row.items() if field != "column")
        found += [] if is_empty else [row]
        place += 1
    return found


def _column(key: str, label: str, value: str, columns: Sequence[str]) -> str:
    return st.selectbox(
        label,
        columns,
        index=columns.index(value) if value in columns else 0,
        key=f"{PREFIX}{key}",
        format_func=lambda one: "all that no line names" if one == "*" else one,
    )


@dataclass(eq=False)
class DossierTask:
    """The dossier of a run that is being made, or was; its job gives the HTML and the JSON.

    It is about what was asked when it began: what is typed or asked differently since then is not in it.
    """

    asked: tuple[object, ...]
    job: jobs.Job

    @classmethod
    def start(
        cls,
        run: Run,
        release: Release,
        attempts: Sequence[Attempt],
        promise: tuple[Requirement, ...],
        policy: Policy | None,
        answers: Answers,
        owner: str,
    ) -> DossierTask:
        """Begin the dossier of a run, published as `release`, beside the columns of the board under one promise."""
        others = [one for one in attempts if one.run is not None and one.run.id != run.id]

        def work(report: jobs.Report) -> tuple[str, str]:
            considered = [*_considered(others, promise, part_of(report, 0.0, 0.4))]
            cache = with_foreground(run.release, compute.cache_of(run), part_of(report, 0.4, 0.5))
            tell = part_of(report, 0.5, 1.0)
            made = Dossier.of(release, policy, answers, considered, cache=cache, progress=tell)
            return made.to_html(), made.to_json()

        return cls(asked_of(run, policy, answers), jobs.start(work, "Dossier", owner))


def asked_of(run: Run, policy: Policy | None, answers: Answers) -> tuple[object, ...]:
    """What tells one dossier from another."""
    return run.id, policy, answers


def _considered(
    attempts: Sequence[Attempt], promise: tuple[Requirement, ...], progress: Progress
) -> Iterator[Considered]:
    """What others lose and give away, as the board has measured it, else measured now, and what they miss."""
    for place, attempt in enumerate(attempts):
        run = attempt.run
        assert run is not None, "only columns with a release were considered"
        tell = part_of(progress, place / len(attempts), (place + 1) / len(attempts))
        tell(0.0, f"Measuring {run.label}")
        secret = next((name for name in run.data.sensitive if name in run.release.attributes), None)
        known = dict(_known(attempt, secret))
        lacking = [name for name in CONSIDERED if name not in known]
        cache = with_foreground(run.release, compute.cache_of(run), tell)
        measured = evaluate(run.release, lacking, secret, cache) if lacking else {}
        missed = [mark.name for mark in attempt.marks.get(promise, ()) if mark.state == "missed"]
        reasons = [f"It misses {and_list(missed)}."] if missed else []
        reasons += [str(one) for one in measured.values() if isinstance(one, AnonymizationError)]
        numbers = known | {name: one for name, one in measured.items() if not isinstance(one, AnonymizationError)}
        lost, given_away = (numbers.get(name) for name in CONSIDERED)
        yield Considered(label=run.label, lost=lost, given_away=given_away, reason=" ".join(reasons))


def _known(attempt: Attempt, secret: str | None) -> Iterator[tuple[str, float]]:
    """The numbers of a column that the board has measured exactly, by the adversary that dossiers take."""
    quick = next(iter(attempt.quick.values()), None)
    strongest = attempt.slow.get((STRONGEST, secret, BREACH_R))
    facts: Facts | None = None if strongest is None else strongest.exact
    if quick is not None and "value" in quick["lost"]:
        yield CONSIDERED[0], quick["lost"]["value"]
    if facts:
        yield CONSIDERED[1], max(facts["value"] - facts["control"], 0.0)
