"""The table itself as a release that changes nothing: what every release gains and costs is told against it."""

from __future__ import annotations

from dataclasses import replace

from anoncore.algorithms import Mondrian
from anoncore.release.unchanged import unchanged
from anoncore.requirements import KAnonymity
from dashboard.state import Run

LABEL = "the original table"
METHOD = Mondrian(requirements=(KAnonymity(k=1),))
"""What asks for nothing; it stands for the method of a table that is published as it is."""


def of(run: Run) -> Run:
    """The table of a run as if it was published as it is, but for columns that name people."""
    made = unchanged(run.data, METHOD)
    table = run.table.digest if run.table is not None else run.table_name
    # One id per table and tags, so that what is measured of it serves every run of that table.
    id = f"original {run.owner} {table} {run.tags.digest}"
    if run.opened is not None:
        # A release that was made elsewhere may lack rows, and is told against the others.
        id = f"{id} {run.opened.digest}"
    return replace(run, id=id, label=LABEL, release=made, algorithm=METHOD, opened=None)
