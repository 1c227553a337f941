"""Run an algorithm for this visitor: start, watch, cancel, and take the release into the workspace."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import streamlit as st

from anoncore import Microdata, Release
from anoncore.algorithms import Algorithm
from anoncore.base.compile_time import recorded
from anoncore.warmup.tasks import judge
from dashboard import compute, jobs, state, warmup
from dashboard.markdown import escaped
from dashboard.serving import audit
from dashboard.state import LoadedTable, Tags

PATIENCE = 0.6
"""Seconds that a click on Run waits for the release before it shows progress; most runs need less."""
POLL = 0.5
_JOB = "run"


@dataclass(frozen=True, eq=False)
class RunJob:
    """A run on its way, and what it was started with."""

    job: jobs.Job
    algorithm: Algorithm
    table: LoadedTable
    tags: Tags


def start(algorithm: Algorithm, data: Microdata) -> RunJob:
    """Begin to anonymize in the background and wait a moment for quick ones. Only one run at a time."""
    here = state.workspace()
    assert here.table is not None, "a page without a table has no button that starts a run"
    with here.lock:
        found = here.jobs.get(_JOB)
        if found is None:
            audit.record("ran", here.who, method=audit.settings_of(algorithm), **audit.of_table(here.table))
            job = jobs.start(
                lambda report: _made(algorithm, data, report),
                algorithm.title,
                here.id,
                can_pause=True,
                urgent=not algorithm.takes_long,
            )
            found = RunJob(job, algorithm, here.table, here.tags)
            here.jobs[_JOB] = found
            state.forms().pop("run_problem", None)
    found.job.wait(PATIENCE)
    return found


def _made(algorithm: Algorithm, data: Microdata, report: jobs.Report) -> tuple[Release, float]:
    """The release, and how long it waited for compiled code; what the page measures of it is compiled as well."""
    with recorded() as compiling:
        release = algorithm.anonymize(data, report)
    seconds = compiling.seconds
    if warmup.is_cold():
        begin = perf_counter()
        judge(release)
        seconds += perf_counter() - begin
    return release, seconds


def active() -> RunJob | None:
    """The run on its way, or just finished and not yet taken."""
    return state.workspace().jobs.get(_JOB)


def take_finished() -> None:
    """Turn a finished job into a run, before anything is drawn.

    Between the first line and the last nothing asks the page, so that a click cannot interrupt it halfway.
    """
    here = state.workspace()
    with here.lock:
        found: RunJob | None = here.jobs.get(_JOB)
        if found is None or found.job.running:
            return
        job = found.job
        if job.status == "done":
            before = here.runs
            release, compiling = job.value
            seconds = max(job.seconds - compiling, 0.0)
            run = here.add_run(found.algorithm, release, seconds, found.tags, found.table, compiling)
            here.notices.append(f"Run {run.label} is done.")
            for gone in set(before) - set(here.runs):
                compute.forget(gone)
        elif job.status == "failed":
            here.forms["run_problem"] = job.error
        else:
            here.notices.append("The run was cancelled.")
        del here.jobs[_JOB]


def announce() -> None:
    """Show what happened meanwhile; at the end of a page, so that an interrupted drawing keeps it for the next."""
    here = state.workspace()
    while here.notices:
        st.toast(escaped(here.notices[0]))
        del here.notices[0]


@st.fragment(run_every=POLL, key="run-progress")
def progress() -> None:
    """Progress of the run on its way; draws the whole page anew when it ends."""
    found = active()
    if found is None or not found.job.running:
        st.rerun()
    job = found.job
    st.progress(job.fraction, text=f"{found.algorithm.title}: {job.text}")
    st.button("Cancel", key="cancel-run", on_click=job.cancel, help="Stop this run; nothing is kept of it.")
