"""Tables on this machine that are too large to hold: a sample of one as the visitor's table, and runs over all rows.

Only where `own_machine.is_served_alone()`: paths are read and written as the program may.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from anoncore import DataError, Hierarchy
from anoncore.algorithms.rothko.rothko import Rothko
from anoncore.base.memory import resident_memory
from anoncore.base.temporary import temporary_directory
from anoncore.engines.large_run import RunSettings, check_output
from anoncore.engines.table_sample import TableSample, sample_table
from anoncore.recipes.engine_choice import run_on_disk
from anoncore.recipes.recipe import Recipe
from anoncore.recipes.source import HierarchySpec, Source
from anoncore.sources.large_table import LargeTable, database_tables
from anoncore.sources.table_files import table_files
from anoncore.table.microdata import Role
from dashboard import compute, jobs, state
from dashboard.full_hierarchies import full_spec
from dashboard.own_machine import whole_path
from dashboard.workspace import hierarchy_digest

SAMPLE_ROWS, MOST_SAMPLED = 50_000, 1_000_000
PATIENCE = 0.8
_SAMPLING, _SAMPLED, _RUN = "large-sampling", "large-sampled", "large-run"


@dataclass(frozen=True)
class LargeSource:
    """A table on this machine; `table` names one of a database."""

    path: Path
    table: str | None = None

    @property
    def stem(self) -> str:
        """A name for files about it."""
        return self.table or self.path.name.split(".")[0] or "table"


@dataclass(frozen=True)
class Sampled:
    """A large table of which the table with id `table_id` is a sample."""

    source: LargeSource
    n_rows: int
    n_sampled: int
    table_id: str


@dataclass(frozen=True, eq=False)
class Sampling:
    """A sample that is being drawn."""

    job: jobs.Job
    source: LargeSource


@dataclass(eq=False)
class FullRun:
    """A run over all rows: on its way, or ended. `peak` is the most memory that the program was seen to take, bytes."""

    recipe: Recipe
    output: Path
    n_rows: int
    job: jobs.Job = field(default_factory=jobs.Job)
    peak: int = 0
    begun: float = field(default_factory=time.monotonic)

    def look(self) -> int | None:
        """Bytes of memory that the program takes now; `peak` heeds it."""
        now = resident_memory()
        self.peak = max(self.peak, now or 0)
        return now


def known_tables(path: Path) -> tuple[str, ...]:
    """The tables of a database, none for other tables. Raises DataError for what is no table that can be read."""
    if not path.exists():
        raise DataError(f"There is no file and no folder '{path}' on this machine.")
    found = database_tables(path)
    if not found:
        table_files(path)
    return found


def draw_sample(source: LargeSource, size: int) -> Sampling:
    """Begin to draw a sample in the background, and wait a moment for it; the same choice gives the same sample."""

    def work(report: jobs.Report) -> TableSample:
        report(0.0, "Opening the table; text files and SQLite are converted first, which takes a while")
        with temporary_directory() as folder:
            table = LargeTable(source.path, folder, source.table)
            try:
                return sample_table(table, size, seed=0, progress=report)
            finally:
                table.close()

    here = state.workspace()
    with here.lock:
        earlier: Sampling | None = here.jobs.get(_SAMPLING)
        if earlier is not None:
            earlier.job.cancel()
        found = Sampling(jobs.start(work, "sample"), source)
        here.jobs[_SAMPLING] = found
    found.job.wait(PATIENCE)
    return found


def sampling() -> Sampling | None:
    """The sample that is being drawn, or that failed."""
    found: Sampling | None = state.workspace().jobs.get(_SAMPLING)
    return found


def take_sample() -> bool:
    """Make a sample that is ready the visitor's table; whether there was one."""
    here = state.workspace()
    with here.lock:
        found: Sampling | None = here.jobs.get(_SAMPLING)
        if found is None or found.job.status in ("running", "failed"):
            return False
        del here.jobs[_SAMPLING]
        sample: TableSample | None = found.job.value
        if sample is None:
            return False
        drawn = f"{len(sample.frame):,} of {sample.n_rows:,} rows, drawn at random with equal chances."
        loaded = state.load_frame(
            sample.frame, f"sample of {found.source.path.name}", sample.digest, (drawn, *sample.notes)
        )
        here.jobs[_SAMPLED] = Sampled(found.source, sample.n_rows, len(sample.frame), loaded.id)
        return True


def sampled() -> Sampled | None:
    """The large table that the table of now is a sample of."""
    here = state.workspace()
    found: Sampled | None = here.jobs.get(_SAMPLED)
    return found if found is not None and here.table is not None and here.table.id == found.table_id else None


def recipe_of(large: Sampled, algorithm: Rothko) -> Recipe:
    """The recipe for all rows, with the tags of now."""
    tags = state.tags()
    protected = {name: list(values) for name, values in tags.sensitive_values.items()}
    return Recipe(
        Source(path=str(large.source.path), table=large.source.table),
        algorithm,
        roles=tags.roles,
        kinds={name: str(kind) for name, kind in tags.kinds.items()},
        orders={name: list(order) for name, order in tags.orders.items()},
        hierarchies=hierarchies(),
        sensitive_values={name: values for name, values in protected.items() if tags.roles[name] == Role.SENSITIVE},
        unit=tags.unit,
    )


def hierarchies() -> dict[str, HierarchySpec]:
    """The hierarchies of the sample as all rows take them."""
    here, tags = state.workspace(), state.tags()
    table = here.table
    if table is None:
        return {}

    def spec(name: str, hierarchy: Hierarchy) -> HierarchySpec:
        digests = (table.digest, name, hierarchy_digest(hierarchy))
        return compute.kept("full_spec", digests, lambda: full_spec(hierarchy, table.frame[name]))

    return {name: spec(name, hierarchy) for name, hierarchy in tags.hierarchies.items()}


def knows_sample_only() -> list[str]:
    """The attributes of which a hierarchy or an order lists the values of the sample."""
    listed = [name for name, spec in hierarchies().items() if spec.levels is not None]
    return sorted({*listed, *state.tags().orders})


def checked_output(text: str, large: Sampled) -> Path:
    """The folder for a release, new or holding an earlier one. Raises DataError for one that cannot be made."""
    output = whole_path(text)
    if not output.parent.is_dir():
        raise DataError(f"There is no folder '{output.parent}'; make it first, or choose another one.")
    check_output(output, large.source.path)
    if not os.access(output.parent, os.W_OK):
        raise DataError(f"The program may not write to '{output.parent}'; choose another folder.")
    return output


def start(large: Sampled, algorithm: Rothko, output: Path, workspace: Path | None, replace: bool) -> FullRun:
    """Begin a run over all rows in the background; only one at a time."""
    here = state.workspace()
    with here.lock:
        found: FullRun | None = here.jobs.get(_RUN)
        if found is not None and found.job.running:
            return found
        made = FullRun(recipe_of(large, algorithm), output, large.n_rows)

        def work(report: jobs.Report) -> object:
            def heard(share: float, text: str) -> None:
                made.look()
                report(share, text)

            return run_on_disk(made.recipe, output, RunSettings(workspace, heard, replace))

        made.job = jobs.start(work, "all rows")
        here.jobs[_RUN] = made
    made.job.wait(PATIENCE)
    return made


def full_run() -> FullRun | None:
    """The latest run over all rows."""
    found: FullRun | None = state.workspace().jobs.get(_RUN)
    return found
