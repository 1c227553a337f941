"""Run an algorithm for this visitor: start, watch, cancel, and take the release into the workspace."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from anoncore import Microdata
from anoncore.algorithms import Algorithm
from dashboard import jobs, state
from dashboard.markdown import escaped
from dashboard.state import LoadedTable, Run, Tags

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
    with here.lock:
        found = here.jobs.get(_JOB)
        if found is None:
            job = jobs.start(lambda report: algorithm.anonymize(data, report), algorithm.title)
            found = RunJob(job, algorithm, here.table, here.tags)
            here.jobs[_JOB] = found
            state.forms().pop("run_problem", None)
    found.job.wait(PATIENCE)
    return found


def active() -> RunJob | None:
    """The run on its way, or just finished and not yet taken."""
    return state.workspace().jobs.get(_JOB)


def take_finished() -> Run | None:
    """Turn a finished job into a run, before anything is drawn. Returns the new run."""
    here = state.workspace()
    with here.lock:
        found = here.jobs.get(_JOB)
        if found is None or found.job.running:
            return None
        del here.jobs[_JOB]
    if found.job.status == "done":
        run = state.add_run(found.algorithm, found.job.value, found.job.seconds, found.tags, found.table)
        st.toast(escaped(f"Run {run.label} is done."))
        return run
    if found.job.status == "failed":
        state.forms()["run_problem"] = found.job.error
    else:
        st.toast("The run was cancelled.")
    return None


@st.fragment(run_every=POLL, key="run-progress")
def progress() -> None:
    """Progress of the run on its way; draws the whole page anew when it ends."""
    found = active()
    if found is None or not found.job.running:
        st.rerun()
    job = found.job
    st.progress(job.fraction, text=f"{found.algorithm.title}: {job.text}")
    st.button("Cancel", key="cancel-run", on_click=job.cancel, help="Stop this run; nothing is kept of it.")
