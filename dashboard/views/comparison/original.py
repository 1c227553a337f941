"""The table itself as a release that changes nothing: what every release gains and costs is told against it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from anoncore import Exact, Fragment, Microdata, Partition, Release
from anoncore.algorithms import Mondrian
from anoncore.requirements import KAnonymity
from dashboard.state import Run

LABEL = "the original table"
METHOD = Mondrian(requirements=(KAnonymity(k=1),))
"""What asks for nothing; it stands for the method of a table that is published as it is."""


def of(run: Run) -> Run:
    """The table of a run as if it was published as it is, but for columns that name people."""
    made = _release(run.data)
    table = run.table.digest if run.table is not None else run.table_name
    # One id per table and tags, so that what is measured of it serves every run of that table.
    id = f"original {run.owner} {table} {run.tags.digest}"
    return replace(run, id=id, label=LABEL, release=made, algorithm=METHOD)


def _release(data: Microdata) -> Release:
    """Every attribute exact; people with the same quasi-identifiers are a group."""
    codes = pd.DataFrame({name: data.codes[name] for name in data.quasi_identifiers})
    groups = codes.groupby(list(codes.columns), sort=False).ngroup()
    partition = Partition(np.asarray(groups, dtype=np.int32))
    recodings = {name: Exact(data.domain[name], partition, data.codes[name]) for name in data.attributes}
    return Release(data, (Fragment("release", partition, recodings),), METHOD)
