"""Tables, runs and notes that the figures of the Rothko paper share."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go

from anoncore import Microdata
from anoncore.algorithms import RothkoSampling, RothkoTree
from anoncore.algorithms.rothko import rothko_sampling
from anoncore.algorithms.rothko.finish import finish_rows
from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rothko_sampling import Sampling, sampling_parts
from anoncore.algorithms.rothko.rows import MemoryRows
from anoncore.algorithms.rothko.setting import Counters, Part, Setting
from anoncore.algorithms.rothko.tree_growth import tree_parts
from anoncore.datasets.rothko_synthetic import ATTRIBUTES, load_rothko
from anoncore.requirements import RecursiveDiversity, VarianceDiversity


def synthetic(rows: int, seed: int = 0, sensitive: str | None = None, target: str | None = None) -> Microdata:
    """The paper's table: nine quasi-identifiers, less the sensitive one, and a target that is published as it is."""
    frame = load_rothko(rows, seed, [target] if target else [])
    roles = dict.fromkeys(ATTRIBUTES, "quasi-identifier") | ({sensitive: "sensitive"} if sensitive else {})
    return Microdata(frame, roles | {"*": "insensitive"})


@dataclass
class Report:
    """Writes tables and plots to a folder and keeps what the paper states beside what is found."""

    folder: Path
    statements: list[dict[str, object]] = field(default_factory=list)

    def save(self, name: str, found: pd.DataFrame, figure: go.Figure | None = None) -> None:
        """Write and print one table."""
        found.to_csv(self.folder / f"{name}.csv", index=False)
        if figure is not None:
            figure.write_html(self.folder / f"{name}.html", include_plotlyjs="directory")
        print(f"\n{name}\n{found.to_string(index=False, float_format=lambda value: f'{value:,.4g}')}", flush=True)

    def state(
        self,
        figure: str,
        statement: str,
        holds: object,
        found: str,
        cause: str = "",
        tried: str = "",
        timed: bool = False,
        least: str = "",
        oracle: str = "",
    ) -> None:
        """One statement of the paper; a series says for each case whether it holds; `timed`: seconds are compared.

        `least` and `oracle`: the least effect that counts, and what is counted, as of `Statements.add`.
        """
        cases = np.atleast_1d(np.asarray(holds, dtype=np.bool_)).tolist()
        self.statements.append(
            {
                "figure": figure,
                "statement": statement,
                "holds": cases,
                "found": found,
                "cause": cause,
                "tried": tried,
                "timed": timed,
                "least": least,
                "oracle": oracle,
            }
        )


class WatchedRows(MemoryRows):
    """Rows that count by themselves how often they are read and written, and how many are drawn for samples."""

    read, written = 0, 0
    samples: ClassVar[list[int]] = []

    @classmethod
    def begin(cls) -> None:
        """Count from 0."""
        WatchedRows.read = WatchedRows.written = 0
        WatchedRows.samples.clear()

    def scan(self, accumulator: Any) -> None:
        """Add every row once."""
        WatchedRows.read += len(self.rows)
        super().scan(accumulator)

    def sample(self, n: int, generator: np.random.Generator) -> Any:
        """A simple random sample, for which all rows are read."""
        WatchedRows.read += len(self.rows)
        drawn = super().sample(n, generator)
        WatchedRows.samples.append(len(drawn))
        return drawn

    def divide(self, tree: PartitionTree, accumulator: Any = None) -> Iterator[tuple[int, MemoryRows]]:
        """Each leaf with its rows, which are read once, counted on their way, and written."""
        WatchedRows.read += len(self.rows)
        WatchedRows.written += len(self.rows)
        if accumulator is not None:
            MemoryRows(self.rows).scan(accumulator)
        for leaf, part in MemoryRows(self.rows).divide(tree):
            yield leaf, WatchedRows(part.rows)

    def joined(self, others: Sequence[MemoryRows]) -> MemoryRows:
        """These rows and then the others."""
        return WatchedRows(super().joined(others).rows)


@dataclass(frozen=True)
class Outcome:
    """What a run made of its rows, by the rows themselves.

    `read` and `written` in tables, as the rows counted it. `samples`: rows of each sample. `group` and `rows`: the
    class and the codes of every row. `counters`: what the method says of itself.
    """

    counters: Counters
    seconds: float
    read: float
    written: float
    samples: tuple[int, ...]
    group: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]

    @property
    def groups(self) -> int:
        """Number of classes."""
        return int(self.group[-1]) + 1

    @property
    def smallest(self) -> int:
        """Rows of the smallest class."""
        return int(np.bincount(self.group).min())

    def is_minimal(self, k: int) -> bool:
        """Whether no class can be cut between two values of an attribute so that both sides have k rows.

        A cut has k rows on either side just where the value at place k and the one at place k from the end differ.
        """
        sizes = np.bincount(self.group)
        ends = np.cumsum(sizes)
        for number in np.flatnonzero(sizes >= 2 * k):
            own = np.sort(self.rows[ends[number] - sizes[number] : ends[number]], axis=0)
            if (own[k - 1] < own[len(own) - k]).any():
                return False
        return True


def coded(data: Microdata, setting: Setting) -> MemoryRows:
    """The rows of a table as an engine holds them."""
    columns = [data.codes[name] for name in data.quasi_identifiers] + [view.codes for view in setting.checks.views]
    if setting.model.uses_target and setting.model.target is not None:
        columns.append(data.codes[setting.model.target])
    return WatchedRows(np.stack([*columns, np.arange(data.n_rows, dtype=np.int32)], axis=1))


def tree_run(data: Microdata, model: RothkoTree) -> Outcome:
    """RothkoTree on rows in memory, which counts what it would read and write."""
    begun = time.process_time()
    setting = Setting.of(model, data)
    WatchedRows.begin()
    return _finished(setting, tree_parts(setting, coded(data, setting), setting.region), begun)


def sampling_run(
    data: Microdata, model: RothkoSampling, naive: bool = False, by_tree: bool = True, height: int = 30
) -> Outcome:
    """RothkoSampling likewise; `naive`: requirements are checked on the sample as if it were the table.

    Rows are divided when the tree has the leaves of a full tree of `height`.
    """
    begun = time.process_time()
    setting = Setting.of(model, data)
    rows = coded(data, setting)
    WatchedRows.begin()
    MemoryRows.most_leaves = 2**height
    sampling = Sampling(
        size=min(model.sample_rows, model.memory_rows),
        alpha=1.0 if naive else model.alpha,  # z of 1/2 is 0
        until_memory=model.growth == "memory",
        by_tree=by_tree,
        generator=np.random.default_rng(model.seed),
    )
    on_counts = any(isinstance(one, RecursiveDiversity | VarianceDiversity) for one in model.requirements)
    as_they_are = patch.object(rothko_sampling, "confident_checks", lambda checks, *_: checks.kernel)
    if naive and on_counts:
        with as_they_are:
            return _finished(setting, sampling_parts(setting, sampling, rows, setting.region), begun)
    return _finished(setting, sampling_parts(setting, sampling, rows, setting.region), begun)


def _finished(setting: Setting, parts: Iterator[Part], begun: float) -> Outcome:
    classes, every, n_groups = [], [], 0
    for part in parts:
        own = part.rows.rows  # type: ignore[attr-defined]
        group, _ = finish_rows(setting, own, part.region, part.is_class)
        classes.append(group.astype(np.int64) + n_groups)
        every.append(own[:, : setting.search.n_attributes])
        n_groups += int(group[-1]) + 1
        setting.counters.rows_read += len(group)
    seconds = time.process_time() - begun
    group, rows = np.concatenate(classes), np.concatenate(every)
    n = len(rows)
    if n != setting.data.n_rows:
        raise ValueError(f"{n:,} rows are in classes, of {setting.data.n_rows:,}.")
    # Each part is read once more when it is finished.
    read, written = WatchedRows.read / n + 1, WatchedRows.written / n
    return Outcome(setting.counters, seconds, read, written, tuple(WatchedRows.samples), group, rows)
