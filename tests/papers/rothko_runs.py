"""Tables, runs and notes that the figures of the Rothko paper share."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from anoncore import Microdata
from anoncore.algorithms import RothkoSampling, RothkoTree
from anoncore.algorithms.rothko import sampling_growth
from anoncore.algorithms.rothko.finish import finish_rows
from anoncore.algorithms.rothko.rows import MemoryRows
from anoncore.algorithms.rothko.sampling_growth import Sampling, sampling_parts
from anoncore.algorithms.rothko.setting import Counters, Setting
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
    ) -> None:
        """One statement of the paper; a series says for each case whether it holds; `timed`: seconds are compared."""
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
            }
        )


@dataclass(frozen=True)
class Outcome:
    """Groups of a run, what it counted, and its processor seconds."""

    groups: int
    counters: Counters
    seconds: float
    n_rows: int

    @property
    def read(self) -> float:
        """Rows read, in tables."""
        return self.counters.rows_read / self.n_rows

    @property
    def written(self) -> float:
        """Rows written, in tables."""
        return self.counters.rows_written / self.n_rows


def coded(data: Microdata, setting: Setting) -> MemoryRows:
    """The rows of a table as an engine holds them."""
    columns = [data.codes[name] for name in data.quasi_identifiers] + [view.codes for view in setting.checks.views]
    if setting.model.uses_target and setting.model.target is not None:
        columns.append(data.codes[setting.model.target])
    return MemoryRows(np.stack([*columns, np.arange(data.n_rows, dtype=np.int32)], axis=1))


def tree_run(data: Microdata, model: RothkoTree) -> Outcome:
    """RothkoTree on rows in memory, which counts what it would read and write."""
    begun = time.process_time()
    setting = Setting.of(model, data)
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
    MemoryRows.most_leaves = 2**height
    sampling = Sampling(
        size=min(model.sample_rows, model.memory_rows),
        alpha=1.0 if naive else model.alpha,  # z of 1/2 is 0
        until_memory=model.growth == "memory",
        by_tree=by_tree,
        generator=np.random.default_rng(model.seed),
    )
    on_counts = any(isinstance(one, RecursiveDiversity | VarianceDiversity) for one in model.requirements)
    as_they_are = patch.object(sampling_growth, "confident_checks", lambda checks, *_: checks.kernel)
    if naive and on_counts:
        with as_they_are:
            return _finished(setting, sampling_parts(setting, sampling, rows, setting.region), begun)
    return _finished(setting, sampling_parts(setting, sampling, rows, setting.region), begun)


def _finished(setting: Setting, parts, begun: float) -> Outcome:  # type: ignore[no-untyped-def]
    groups = n_rows = 0
    for part in parts:
        group, _ = finish_rows(setting, part.rows.rows, part.region, part.is_class)
        groups += int(group[-1]) + 1
        n_rows += len(group)
        setting.counters.rows_read += len(group)
    return Outcome(groups, setting.counters, time.process_time() - begun, n_rows)
