"""One run of Rothko on a table that does not fit in memory: read, code, divide, finish, publish.

First stands how much memory it needs, and what of it is in memory at a time so that it keeps to a limit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import unquote

import numpy as np

from anoncore.algorithms.rothko.fields import MEGABYTE
from anoncore.algorithms.rothko.rothko import Rothko
from anoncore.algorithms.rothko.rothko_tree import RothkoTree
from anoncore.algorithms.rothko.rows import no_check
from anoncore.algorithms.rothko.setting import Counters, Part, Setting
from anoncore.base.errors import DataError, ReleaseError
from anoncore.base.faults import require_space, writing
from anoncore.base.memory import free_memory, give_back, resident_memory
from anoncore.base.progress import Progress, silent
from anoncore.base.texts import size_text
from anoncore.base.version import __version__
from anoncore.engines.column_coding import CodedColumn, CountedTable
from anoncore.engines.error_of_pairs import two_way_error_of_parts
from anoncore.engines.joint_counts import NO_RELATIONS, FoundRelations, relations_of
from anoncore.engines.output_folder import SUMMARY, folder_when_complete, summary_text, temporary_folder
from anoncore.engines.parts import PartResult, Publisher
from anoncore.engines.spool import Tags, profile_of, spool_rows
from anoncore.engines.table_profile import TableProfile
from anoncore.kernels.arrays import record
from anoncore.sources.addresses import is_secret, parameters_of
from anoncore.sources.large_table import LargeTable
from anoncore.utility.two_way import TwoWayError

PROGRAM = 400_000_000
"""Bytes of Python, the libraries that are loaded, and memory that these keep once it was used."""
READ_AHEAD = 160_000_000
"""Bytes of the rows that are read, coded and divided at a time, and of what DuckDB keeps of them."""
VALUE_BYTES = 180
"""Bytes of one of the different values of a coded column."""
ROW_BYTES, CELL_BYTES = 80, 28
"""Bytes of a row of a part while it is finished, beside those of each of its columns."""
LEAST_ROWS = 50_000
"""Rows of a part that should fit into memory: with fewer the table is divided into too many files."""
COUNTED = (256_000_000, 128_000_000, 64_000_000)
"""Bytes of the groups that are counted for a certificate before they are spilled, as they are tried in turn."""
FRONTIER = 8
"""The share of a limit that the counts of open nodes may take."""
CERTIFYING = 80_000_000
"""Bytes of what counts groups, however few there are."""
GROUP_BYTES = 70
"""Bytes of a group in a certificate's scan: its size, and what it reaches of everything that is asked."""


@record
class MemoryPlan:
    """What a run has in memory at a time, and the bytes that it needs for that.

    Parts of at most `memory_rows` rows are finished by `workers` threads. `frontier` bytes hold counts of open nodes
    where these decide, and `counted` bytes groups while they are counted for a certificate.
    """

    memory_rows: int
    workers: int
    frontier: int
    counted: int
    needed: int

    @property
    def sentence(self) -> str:
        """What is needed, as a sentence."""
        return f"This run needs at most about {size_text(self.needed)} of memory."


def memory_plan(profile: TableProfile, algorithm: Rothko, workers: int, limit: int) -> MemoryPlan:
    """The plan of a run: as the algorithm and the number of workers say, or less so that it keeps to a limit in bytes.

    First fewer groups are counted in memory, then parts become smaller, and in the end fewer threads work. Raises
    DataError where all that is not enough.
    """
    values, columns = sum(map(len, profile.domain.values())), len(profile.attributes)
    base, row = PROGRAM + VALUE_BYTES * values, ROW_BYTES + CELL_BYTES * columns
    n_groups = profile.n_rows // max(one.minimum_rows() for one in algorithm.requirements)
    frontier = min(algorithm.frontier_bytes, limit // FRONTIER) if isinstance(algorithm, RothkoTree) else 0
    needed = 0
    for threads in range(workers, 0, -1):
        rows = algorithm.memory_rows
        while rows >= min(LEAST_ROWS, algorithm.memory_rows):
            part = min(rows, profile.n_rows) * row
            for counted in COUNTED:
                certifying = CERTIFYING + GROUP_BYTES * n_groups + min(counted, profile.n_rows * row) + part
                needed = base + max(READ_AHEAD + frontier + threads * part, certifying)
                if needed <= limit:
                    return MemoryPlan(rows, threads, frontier, counted, needed)
            rows //= 2
    raise DataError(
        f"This table needs at least {size_text(needed)} of memory, for {values:,} different values in coded columns "
        f"and at most {n_groups:,} groups, but may take {size_text(limit)}; give it more (--memory), or round values."
    )


VALUES_READ, ROWS_CODED, ROWS_DIVIDED = 0.15, 0.4, 0.6
"""Share of a run that is over after each step, as a rule of thumb for the estimate of the time left."""
HARMLESS = re.compile(r"use_ssl|user_id|user_agent|session_id|grpc_.*")
"""Parameters of Spark Connect whose values give rights to nobody; all others are sent to the server, as a token is."""
MOST_ROWS = 1_000_000_000


@record
class LargeRun:
    """What a run gave: the folder of Parquet files, the classes it found, and what it did.

    `information_loss` is the mean loss of a cell of the quasi-identifiers, 0 exact to 1 nothing left, `losses` the same
    by attribute; `discernibility` the sum of squared class sizes. `two_way_error` is there where it was asked for and
    could be measured.
    """

    output: Path
    algorithm: Rothko
    n_rows: int
    n_groups: int
    smallest: int
    largest: int
    information_loss: float
    losses: Mapping[str, float]
    discernibility: int
    counters: Counters
    notes: tuple[str, ...]
    two_way_error: TwoWayError | None = None


@dataclass(frozen=True)
class Cluster:
    """Where Spark runs: its master, such as `spark://host:7077`, and its options by name.

    Without a master it is the session that there is, or this machine. The address of a server of Spark Connect may have
    a token, and options may be passwords: neither is shown with the object.
    """

    master: str | None = field(default=None, repr=False)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def shown_master(self) -> str:
        """The master as it may be told, without a user and without parameters."""
        beginning, _, place = (self.master or "").partition(";")[0].partition("?")[0].partition("#")[0].rpartition("@")
        return f"{beginning.partition('://')[0]}://{place}" if beginning else place

    def without_secrets(self, text: str) -> str:
        """A text in which no value of the address and of options stands that may give rights to whoever has it.

        Spark tells addresses in its errors, this one and the one that its own variables name.
        """
        addresses = (self.master or "", os.environ.get("SPARK_REMOTE", ""))
        parameters = [one.partition("=") for address in addresses for one in parameters_of(address)]
        values = {value if is_set else name for name, is_set, value in parameters if not HARMLESS.fullmatch(name)}
        values |= {value for name, value in self.options.items() if is_secret(name)}
        values |= {os.environ.get("SPARK_CONNECT_AUTHENTICATE_TOKEN", "")}
        # The longest first: a value may be the beginning of another one.
        for value in sorted(values | {unquote(value) for value in values}, key=len, reverse=True):
            text = text.replace(value, "***") if value else text
        return text


@dataclass(frozen=True)
class RunSettings:
    """What a run on disk or Spark takes besides table, tags, algorithm and output.

    `workspace` is the folder for temporary files, `progress` hears of the run and may raise CancelledError to stop it.
    With `replace` an earlier release gives way, and nothing else. With `key` the table is hashed on the way, with
    `mapping` what became what is counted, and with `two_way` the two-way error is measured, for which pairs of columns
    are counted in the table and in the parts. `finish` gets the folder when all its files are written and before it
    appears: what it writes there appears with it, and where it raises there is no release. At most `workers` parts are
    in memory at a time, by default one for each processor. A run on disk keeps to `memory` bytes, by default those that
    are free, and tells `note` what it needs once it knows the values of the table. `cluster` is where Spark runs.
    """

    workspace: Path | None = None
    progress: Progress | None = None
    replace: bool = False
    key: str | None = None
    mapping: bool = False
    finish: Callable[[WrittenParts], None] | None = None
    workers: int | None = None
    memory: int | None = None
    note: Callable[[str], None] | None = None
    cluster: Cluster = Cluster()
    two_way: bool = False


USUAL = RunSettings()
"""A run that nothing is asked of."""


def anonymize_table(
    open_table: Callable[[Path], LargeTable],
    tags: Tags,
    algorithm: Rothko,
    output: Path,
    settings: RunSettings = USUAL,
) -> LargeRun:
    """Make the release of a table that `open_table(workspace)` opens, as a folder of Parquet files at `output`.

    Rows of a file are in order of their class and then of what is published, so that the order of the table decides
    nothing. The folder appears when it is complete. Temporary files (about twice the table in int32 codes) go to the
    workspace of the settings, by default beside the output. A part has at most `memory_rows` rows, and fewer where the
    memory that the run may take is not enough for them.

    Raises DataError, InfeasibleError, and CancelledError if the listener raises it; then nothing is left behind.
    """
    check_output(output)
    parent = output.resolve().parent if settings.workspace is None else settings.workspace
    with (
        folder_when_complete(output.resolve(), settings.replace) as parts,
        writing(parent),
        temporary_folder(parent, f"{output.name}-work") as work,
    ):
        if settings.progress is not None:
            settings.progress(0.0, "Opening the table; text files and SQLite are converted first")
        table = open_table(work)
        try:
            pairs = pairs_folder(work) if settings.mapping else None
            watch = _Watch(settings.progress, table.n_rows)
            run = _Run(table, tags, algorithm, work, parts, watch, settings, pairs)
            results = run.publish()
            related = NO_RELATIONS
            if settings.finish is not None:
                watch.say(0.99, "Looking at columns that are published as they are")
                related = relations_of(table, run.profile)
            found = result(output, run.algorithm, run.setting, results)
            if settings.two_way:
                about = run.profile, run.columns
                found = with_two_way_error(found, table, parts, work, about, results, settings)
        finally:
            table.close()
        give_back()
        write_summary(parts, found)
        if settings.finish is not None:
            written = WrittenParts(
                parts, run.profile, run.algorithm, found, run.input_digest, pairs, related, run.plan.counted
            )
            settings.finish(written)
    return found


def pairs_folder(work: Path) -> Path:
    """A new folder for what became what."""
    folder = work / "pairs"
    folder.mkdir()
    return folder


@record
class WrittenParts:
    """A release whose files are written and that has not appeared yet.

    `profile` is the table as requirements see it, `input_digest` its keyed hash, empty where it was not asked for,
    `pairs` the folder with what became what (see `mapping_frames`), where that was asked for. `related` is how far its
    insensitive columns tell tagged ones, and `counted` the bytes that groups may take while they are counted.
    """

    folder: Path
    profile: TableProfile
    algorithm: Rothko
    run: LargeRun
    input_digest: str
    pairs: Path | None = None
    related: FoundRelations = NO_RELATIONS
    counted: int = COUNTED[0]


def write_summary(folder: Path, run: LargeRun) -> None:
    """Write what a run did into the folder of its release."""
    with writing(folder):
        (folder / SUMMARY).write_text(summary_text(_summary(run)), encoding="utf-8")


def check_output(output: Path, source: Path | None = None) -> None:
    """Raise DataError for an output that is there and no release, or that lies in the folder of its own table."""
    if source is not None and source.resolve() in (output.resolve(), *output.resolve().parents):
        raise DataError("The release would lie inside the table that it is made of; choose another name.")
    if output.exists() and not (output / SUMMARY).is_file():
        raise DataError(f"'{output}' exists and holds no release; choose another name.")


def space_needed(n_rows: int, coded: int, carried: int) -> int:
    """Bytes of temporary files: rows of so many coded columns and columns carried along, twice while they divide."""
    return 2 * n_rows * (4 * coded + 8 * carried)


class _Watch:
    """Progress in rows, with an estimate of the time left; never goes back."""

    def __init__(self, progress: Progress | None, n_rows: int) -> None:
        self._progress, self.n_rows = progress, n_rows
        self._begun, self._share = monotonic(), 0.0

    def say(self, share: float, text: str) -> None:
        """Report what is being done; raises what the listener raises."""
        self._share = max(self._share, share)
        if self._progress is None:
            return
        passed = monotonic() - self._begun
        left = passed / self._share - passed if self._share > 0.02 else 0.0
        estimate = f"; about {_duration(left)} left" if passed > 3 and left >= 1 else ""
        self._progress(self._share, text + estimate)

    def rows(self, begin: float, end: float, done: int, what: str) -> None:
        """Report rows done of a step that goes from one share to another."""
        share = begin + (end - begin) * done / self.n_rows
        self.say(share, f"{done:,} of {self.n_rows:,} rows {what}")


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


class _Run:
    """Steps of a run over an open table."""

    def __init__(
        self,
        table: LargeTable,
        tags: Tags,
        algorithm: Rothko,
        work: Path,
        parts: Path,
        watch: _Watch,
        settings: RunSettings,
        pairs: Path | None,
    ) -> None:
        if table.n_rows > MOST_ROWS:
            raise DataError(f"The table has {table.n_rows:,} rows; at most {MOST_ROWS:,} can be anonymized in one run.")
        self.watch = watch
        profile, columns = profile_of(table, tags, algorithm, lambda text: watch.say(0.02, text))
        algorithm.validate_data(profile)
        limit = free_memory() + (resident_memory() or 0) if settings.memory is None else settings.memory
        self.plan = memory_plan(profile, algorithm, settings.workers or os.cpu_count() or 1, limit)
        # Neither changes what RothkoTree finds.
        fitting: dict[str, Any] = {"memory_rows": self.plan.memory_rows}
        if self.plan.frontier:
            fitting["frontier_memory"] = self.plan.frontier / MEGABYTE
        self.algorithm = algorithm.replace(**fitting)
        self.profile, self.setting = profile, Setting.of(self.algorithm, profile)
        # They take memory, and only pairs of columns are coded again.
        self.columns = columns if settings.two_way else {}
        carried = len(profile.attributes) - len(profile.quasi_identifiers)
        space = space_needed(table.n_rows, self.setting.width, carried)
        if settings.note is not None:
            settings.note(f"{self.plan.sentence} Its temporary files take at most about {size_text(space)}.")
        require_space(work, space)
        self.rows, self.input_digest = spool_rows(
            table,
            self.setting,
            columns,
            work / "rows.arrow",
            lambda n: watch.rows(VALUES_READ, ROWS_CODED, n, "coded"),
            settings.key,
        )
        self.rows.check = lambda: watch.say(0.0, "Dividing the rows")
        give_back()
        self.publisher = Publisher(self.setting, table, parts, pairs, settings.two_way)

    def publish(self) -> list[PartResult]:
        """Finish every part in a pool of threads, while further ones are divided."""
        workers, results = self.plan.workers, list[PartResult]()
        waiting = iter(self.algorithm.parts(self.setting, self.rows))
        with ThreadPoolExecutor(workers) as pool:
            running: set[Future[PartResult]] = set()
            number, more, done = 0, True, 0
            try:
                while more or running:
                    part: Part | None = next(waiting, None) if more and len(running) < workers else None
                    more = more and (part is not None or len(running) >= workers)
                    if part is not None:
                        part.rows.check = no_check  # progress is this thread's alone
                        running.add(pool.submit(self.publisher.publish, part, number))
                        number += 1
                        continue
                    finished, running = wait(running, return_when=FIRST_COMPLETED)
                    for one in finished:
                        results.append(one.result())
                        done += results[-1].rows
                    self.watch.rows(ROWS_DIVIDED, 0.99, done, "published")
            finally:
                for one in running:
                    one.cancel()
        return results


def result(output: Path, model: Rothko, setting: Setting, results: list[PartResult]) -> LargeRun:
    """What a run gave, from what its parts gave."""
    data = setting.data
    losses = np.sum([one.losses for one in results], axis=0) / data.n_rows
    cells = "ranges of the rows present" if model.recoding == "rows" else "boxes of the partition tree"
    setting.counters.rows_read += data.n_rows
    return LargeRun(
        output=output,
        algorithm=model,
        n_rows=sum(one.rows for one in results),
        n_groups=sum(one.groups for one in results),
        smallest=min(one.smallest for one in results),
        largest=max(one.largest for one in results),
        information_loss=float(losses.mean()),
        losses=dict(zip(data.quasi_identifiers, losses.tolist(), strict=True)),
        discernibility=sum(one.squares for one in results),
        counters=setting.counters,
        notes=(f"Cells are the {cells}.", model.account(setting.counters)),
    )


def with_two_way_error(
    run: LargeRun,
    table: CountedTable,
    folder: Path,
    workspace: Path,
    about: tuple[TableProfile, Mapping[str, CodedColumn]],
    results: Sequence[PartResult],
    settings: RunSettings,
) -> LargeRun:
    """The run with its two-way error; where it cannot be measured, with a note that says why: the release is made."""
    report = silent if settings.progress is None else settings.progress

    def step(text: str) -> None:
        report(0.99, text)

    cells = (one.cells for one in results)
    try:
        return replace(run, two_way_error=two_way_error_of_parts(table, folder, workspace, about, cells, step))
    except (DataError, ReleaseError) as error:
        return replace(run, notes=(*run.notes, f"The two-way error was not measured: {error}"))


def _summary(run: LargeRun) -> dict[str, Any]:
    algorithm = run.algorithm.to_dict()
    algorithm.pop("seed", None)
    return {
        "anoncore": __version__,
        "algorithm": algorithm,
        "rows": run.n_rows,
        "groups": run.n_groups,
        "smallest group": run.smallest,
        "largest group": run.largest,
        # Digits that nobody needs could tell what nobody should know.
        "information loss": round(run.information_loss, 4),
        "discernibility": run.discernibility,
    }
