"""Tables on this machine that are too large to hold: a sample of one as the visitor's table, and runs over all rows.

Only where `own_machine.is_served_alone()`: paths are read and written as the program may.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anoncore import DataError, Hierarchy
from anoncore.algorithms import RothkoTree
from anoncore.algorithms.base import Algorithm
from anoncore.algorithms.mondrian import Mondrian
from anoncore.algorithms.rothko.rothko import Rothko
from anoncore.base.memory import resident_memory
from anoncore.base.progress import Progress, part_of
from anoncore.base.temporary import temporary_directory
from anoncore.base.whole_files import replace_files
from anoncore.engines.large_run import LargeRun, RunSettings, WrittenParts, check_output
from anoncore.engines.table_sample import TableSample, sample_table
from anoncore.publishing import new_key
from anoncore.publishing.certification.claimed_entries import require_drawn_seeds
from anoncore.publishing.parts.part_publication import (
    MAPPING,
    certified_parts,
    numbers_of,
    private_path,
    write_private,
)
from anoncore.recipes.engine_choice import run_on_disk
from anoncore.recipes.hierarchy_rules import spec_by_rule
from anoncore.recipes.recipe import Recipe
from anoncore.recipes.source import HierarchySpec
from anoncore.sources.large_table import LargeTable
from anoncore.table.microdata import Role
from dashboard.serving import audit
from dashboard.serving.own_machine import whole_path
from dashboard.session import compute, state
from dashboard.session.loaded_table import hierarchy_digest
from dashboard.session.workspace import Run
from dashboard.table.table_place import TablePlace
from dashboard.tasks import jobs

SAMPLE_ROWS, MOST_SAMPLED = 50_000, 1_000_000
PATIENCE = 0.8
_SAMPLING, _SAMPLED, _RUN = "large-sampling", "large-sampled", "large-run"
KEY = "-key-not-for-publication.txt"
MADE = 0.75
"""Share of a run that is over when the parts are written and not yet certified, as a rule of thumb."""
TAKEN_OVER = ("requirements", "split", "target", "min_gain", "recoding")
"""What Mondrian and the methods of all rows are asked alike."""


@dataclass(frozen=True)
class Sampled:
    """A large table of which the table with id `table_id` is a sample."""

    source: TablePlace
    n_rows: int
    n_sampled: int
    table_id: str


@dataclass(frozen=True, eq=False)
class Sampling:
    """A sample that is being drawn."""

    job: jobs.Job
    source: TablePlace


@dataclass(eq=False)
class FullRun:
    """A run over all rows of the table of which the table with id `table_id` is a sample: on its way, or ended.

    `private` are the endings of the files that it writes beside it. `peak` is the most memory that the program was seen
    to take, in bytes, `numbers` what was measured of all rows by the names of the criteria, `failing` what nobody asked
    for and fails badly, a sentence each, and `breaking` the verdict where published columns break what was asked.
    `tags` is the digest of the tags with which it began, and `question` says that rows were counted where people may
    have several.
    """

    recipe: Recipe
    output: Path
    n_rows: int
    name: str
    table_id: str
    tags: str
    private: tuple[str, ...] = ()
    job: jobs.Job = field(default_factory=jobs.Job)
    peak: int = 0
    numbers: Mapping[str, float] = field(default_factory=dict)
    failing: tuple[str, ...] = ()
    breaking: str = ""
    question: str = ""
    begun: float = field(default_factory=time.monotonic)

    def look(self) -> int | None:
        """Bytes of memory that the program takes now; `peak` heeds it."""
        now = resident_memory()
        self.peak = max(self.peak, now or 0)
        return now


def draw_sample(source: TablePlace, size: int) -> Sampling:
    """Begin to draw a sample in the background, and wait a moment for it; the same choice gives the same sample."""

    def work(report: jobs.Report) -> TableSample:
        report(0.0, "Opening the table; text files and SQLite are converted first, which takes a while")
        with source.brought_here(progress=part_of(report, 0.0, 0.5)) as here, temporary_directory() as folder:
            table = LargeTable(Path(str(here.path)), folder, here.table)
            try:
                return sample_table(table, size, seed=0, progress=part_of(report, 0.5, 1.0))
            finally:
                table.close()

    here = state.workspace()
    with here.lock:
        earlier: Sampling | None = here.jobs.get(_SAMPLING)
        if earlier is not None:
            earlier.job.cancel()
        found = Sampling(jobs.start(work, "sample", here.id), source)
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
        name, notes = f"sample of {found.source.name}", (drawn, *sample.notes)
        loaded = state.load_frame(sample.frame, name, sample.digest, notes, drawn_from=sample.n_rows)
        here.jobs[_SAMPLED] = Sampled(found.source, sample.n_rows, len(sample.frame), loaded.id)
        return True


def sampled() -> Sampled | None:
    """The large table that the table of now is a sample of."""
    here = state.workspace()
    found: Sampled | None = here.jobs.get(_SAMPLED)
    return found if found is not None and here.table is not None and here.table.id == found.table_id else None


def kind_for_all_rows(algorithm: Algorithm | None) -> type[Rothko] | None:
    """The method by which all rows are released as a method of the board releases the sample; None where there is none.

    The tree cuts as Mondrian does, and finds the same classes where rows at a cut stay together (`strict`). No method
    of all rows refines them.
    """
    if isinstance(algorithm, Rothko):
        return type(algorithm)
    return RothkoTree if isinstance(algorithm, Mondrian) and not algorithm.refine else None


def taken_over(kind: type[Rothko], algorithm: Mondrian) -> Rothko:
    """A method of all rows that is asked what Mondrian, or another one of them, is asked."""
    return kind(**{name: getattr(algorithm, name) for name in TAKEN_OVER if name in kind.model_fields})


def of_all_rows(release: Run) -> FullRun | None:
    """The finished run over all rows that released them as the board releases their sample: by the same method, asked
    for the same, with the same tags, and with no published column that breaks what was asked.
    """
    run, algorithm = full_run(), release.algorithm
    kind = kind_for_all_rows(algorithm)
    if run is None or kind is None or not isinstance(algorithm, Mondrian) or release.table is None:
        return None
    if run.job.status != "done" or run.breaking:
        return None
    if (run.table_id, run.tags) != (release.table.id, release.tags.digest):
        return None
    made = run.recipe.algorithm
    is_same = isinstance(made, Rothko) and type(made) is kind and taken_over(kind, made) == taken_over(kind, algorithm)
    return run if is_same else None


def recipe_of(large: Sampled, algorithm: Rothko) -> Recipe:
    """The recipe for all rows, with the tags of now."""
    tags = state.tags()
    protected = {name: list(values) for name, values in tags.sensitive_values.items()}
    return Recipe(
        large.source.source,
        algorithm,
        hierarchies=hierarchies(),
        sensitive_values={name: values for name, values in protected.items() if tags.roles.get(name) == Role.SENSITIVE},
        **tags.in_recipe(),
    )


def hierarchies() -> dict[str, HierarchySpec]:
    """The hierarchies of the sample as all rows take them."""
    here, tags = state.workspace(), state.tags()
    table = here.table
    if table is None:
        return {}

    def spec(name: str, hierarchy: Hierarchy) -> HierarchySpec:
        digests = (table.digest, name, hierarchy_digest(hierarchy))
        return compute.kept("spec_by_rule", digests, lambda: spec_by_rule(hierarchy, table.frame[name]))

    return {name: spec(name, hierarchy) for name, hierarchy in tags.hierarchies.items()}


def knows_sample_only() -> list[str]:
    """The attributes of which a hierarchy or an order lists the values of the sample."""
    listed = [name for name, spec in hierarchies().items() if spec.levels is not None]
    return sorted({*listed, *state.tags().orders})


def checked_output(text: str, large: Sampled) -> Path:
    """The folder for a release, new or holding an earlier one. Raises DataError for one that cannot be made."""
    output = whole_path(text)
    # Keys, reports and temporary files lie beside the release, where this visitor must be allowed to write as well.
    whole_path(str(output.parent))
    if not output.parent.is_dir():
        raise DataError(f"There is no folder '{output.parent}'; make it first, or choose another one.")
    check_output(output, large.source.place if isinstance(large.source.place, Path) else None)
    if not os.access(output.parent, os.W_OK):
        raise DataError(f"The program may not write to '{output.parent}'; choose another folder.")
    return output


def private_files(output: Path, endings: Sequence[str]) -> list[Path]:
    """The files that a run writes beside its release, for those who made it."""
    return [private_path(output, ending) for ending in (KEY, *endings)]


def start(
    large: Sampled,
    algorithm: Rothko,
    output: Path,
    workspace: Path | None,
    replace: bool,
    private: Sequence[str] = (),
) -> FullRun:
    """Begin a run over all rows in the background; only one at a time.

    The release gets its certificate, and `private` are the endings of what is written beside it (REPORT, MAPPING).
    """
    require_drawn_seeds(algorithm, False, "Empty the field Seed and start again.")
    here = state.workspace()
    with here.lock:
        found: FullRun | None = here.jobs.get(_RUN)
        if found is not None and found.job.running:
            return found
        audit.record("ran on all rows", here.who, method=audit.settings_of(algorithm), rows=large.n_rows)
        made = FullRun(
            recipe_of(large, algorithm),
            output,
            large.n_rows,
            large.source.name,
            large.table_id,
            state.tags().digest,
            tuple(private),
        )

        def work(report: jobs.Report) -> object:
            def heard(share: float, text: str) -> None:
                made.look()
                report(share, text)

            with large.source.brought_here(workspace, part_of(heard, 0.0, 0.2)) as source:
                share = 0.2 if made.recipe.source.is_elsewhere else 0.0
                recipe = dataclasses.replace(made.recipe, source=source)
                return _certified_run(made, recipe, workspace, replace, part_of(heard, share, 1.0))

        made.job = jobs.start(work, "all rows", here.id)
        here.jobs[_RUN] = made
    made.job.wait(PATIENCE)
    return made


def _certified_run(made: FullRun, recipe: Recipe, workspace: Path | None, replace: bool, report: Progress) -> LargeRun:
    """The run with all that `anoncore run` writes: certificate, key, and what stays with those who made the release."""
    key = new_key()

    def finish(written: WrittenParts) -> None:
        found = certified_parts(written, recipe, (), part_of(report, MADE, 1.0))
        made.numbers = numbers_of(found, written.run)
        made.failing = tuple(one.sentence for one in found.verdict.not_asked)
        made.breaking = found.verdict.asked if found.verdict.breaking else ""
        made.question = found.profile.unit_note
        kept = private_path(made.output, KEY)
        replace_files({kept: f"{key}\n".encode("ascii")}, private=[kept])
        for ending in made.private:
            write_private(ending, private_path(made.output, ending), written, found)

    progress = part_of(report, 0.0, MADE)
    settings = RunSettings(workspace, progress, replace, key, MAPPING in made.private, finish, two_way=True)
    return run_on_disk(recipe, made.output, settings)


def full_run() -> FullRun | None:
    """The latest run over all rows."""
    found: FullRun | None = state.workspace().jobs.get(_RUN)
    return found
