"""One measured task of one tool, in a process of its own: python peer_task.py TASK TABLE.csv HIERARCHIES REPEATS LIMIT.

Prints one line of JSON: wall and CPU seconds of each repeat, peak memory in MB beyond the loaded table, and what came
out; ends with OUT_OF_TIME where the first run takes more than LIMIT seconds of CPU time (not on Windows). Top-level
imports are those that every tool's environment has.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

QUASI = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex"]
KNOWN = ["workclass", "education", "marital-status", "race", "sex"]
"""What the classes of the checks share; the sensitive attributes are occupation (14 values) and hours-per-week (96)."""
JOB, HOURS, CLASS = "occupation", "hours-per-week", "salary-class"
K, SUPPRESSED = 10, 0.05
LONG = 10.0
"""CPU seconds from which a task runs once only."""
OUT_OF_TIME = 75
CODED = "anoncore mondrian classes"
"""The task that begins with the coded table."""

Work = Callable[[Any], Any]
Summary = dict[str, float]


def hierarchy_file(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"adult_hierarchy_{name}.csv", header=None, keep_default_na=False)


def own_data(frame: pd.DataFrame, quasi: list[str], sensitive: list[str], folder: Path | None = None) -> Any:
    from anoncore import Hierarchy, Microdata

    roles = {**dict.fromkeys(quasi, "quasi-identifier"), **dict.fromkeys(sensitive, "sensitive")}
    trees = {} if folder is None else {name: Hierarchy.from_table(hierarchy_file(folder, name)) for name in quasi}
    return Microdata(frame[[*quasi, *sensitive]], roles=roles, hierarchies=trees)


def own_algorithm(name: str, folder: Path | None, **fields: Any) -> Work:
    """From the frame to the published table."""

    def work(frame: pd.DataFrame) -> Any:
        from anoncore import algorithms
        from anoncore.requirements import KAnonymity

        model = getattr(algorithms, name)(requirements=[KAnonymity(k=K)], **fields)
        release = model.anonymize(own_data(frame, QUASI, [CLASS], folder))
        release.tables()
        return release

    return work


def own_classes(data: Any) -> Any:
    """From the coded table to the release."""
    from anoncore.algorithms import Mondrian
    from anoncore.requirements import KAnonymity

    data.__dict__.pop("content_words", None)
    return Mondrian(requirements=[KAnonymity(k=K)]).anonymize(data)


def own_summary(frame: pd.DataFrame, release: Any) -> Summary:
    from anoncore.utility import information_loss

    return {"classes": release.partition.n_groups, "loss": float(information_loss(release))}


def own_check(sensitive: str | None, requirement: Callable[[Any], Any]) -> Work:
    """From the frame to the level of the worst class."""

    def work(frame: pd.DataFrame) -> float:
        from anoncore import Partition, requirements

        data = own_data(frame, KNOWN, [] if sensitive is None else [sensitive])
        key = np.zeros(len(frame), dtype=np.int64)
        for name in KNOWN:
            key = key * len(data.domain[name]) + data.codes[name]
        wanted = requirement(requirements)
        check = wanted.checks(data)[0]
        levels = check.levels(Partition(np.unique(key, return_inverse=True)[1]))
        return float(levels.max() if int(wanted.comparison) else levels.min())

    return work


def set_losses(frame: pd.DataFrame, group: np.ndarray[Any, Any]) -> Summary:
    """Classes, and the mean loss of ranges and value sets of the rows in each class."""
    cells = np.zeros(len(frame))
    for name in QUASI:
        codes = frame[name] if name == "age" else pd.Series(pd.factorize(frame[name])[0], index=frame.index)
        if name == "age":
            by_class = codes.groupby(group)
            width = (by_class.max() - by_class.min()) / (codes.max() - codes.min())
        else:
            width = (codes.groupby(group).nunique() - 1) / (codes.nunique() - 1)
        cells += width.to_numpy()[group]
    return {"classes": int(group.max()) + 1, "loss": float(cells.mean()) / len(QUASI)}


def anonypy_mondrian(frame: pd.DataFrame) -> Any:
    import anonypy

    table = frame[[*QUASI, CLASS]].copy()
    for name in table.columns.drop("age"):
        table[name] = table[name].astype("category")
    return anonypy.Preserver(table, QUASI, CLASS).anonymize_k_anonymity(k=K)


def anonypy_summary(frame: pd.DataFrame, lines: Any) -> Summary:
    """Its lines are classes times sensitive values; a class's cells are ranges and listed values."""
    table = pd.DataFrame(lines)
    losses = np.zeros(len(table))
    for name in QUASI:
        if name == "age":
            ends = table[name].str[0].str.extract(r"^([\d.]+)(?:-([\d.]+))?$").astype(float)
            width = ends[1].fillna(ends[0]) - ends[0]
            losses += width / (frame[name].max() - frame[name].min())
        else:
            losses += table[name].str[0].str.count(",") / (frame[name].nunique() - 1)
    cells = table[QUASI].map(lambda cell: cell[0])
    loss = float((losses * table["count"]).sum() / len(frame) / len(QUASI))
    return {"classes": len(cells.drop_duplicates()), "loss": loss}


def anonymity_api_mondrian(frame: pd.DataFrame) -> Any:
    """It cuts numbers only, so that categories go in as whole numbers."""
    from anonymity_api import anonymity

    table = frame[[*QUASI, CLASS]].copy()
    for name in QUASI[1:]:
        table[name] = table[name].astype("category").cat.codes.astype(int)
    table["row"] = np.arange(len(table))
    return anonymity.k_anonymity(table, QUASI, K)


def anonymity_api_summary(frame: pd.DataFrame, published: Any) -> Summary:
    group = np.empty(len(frame), dtype=np.int64)
    group[published["row"].to_numpy()] = published.groupby([published[name].astype(str) for name in QUASI]).ngroup()
    return set_losses(frame, group)


def anjana_full_domain(folder: Path) -> Work:
    def work(frame: pd.DataFrame) -> Any:
        from anjana.anonymity import k_anonymity

        trees = {name: dict(hierarchy_file(folder, name)) for name in QUASI}
        return k_anonymity(frame[[*QUASI, CLASS]].copy(), [], QUASI, K, SUPPRESSED * 100, trees)

    return work


def anjana_summary(folder: Path) -> Callable[[pd.DataFrame, Any], Summary]:
    """A cell loses what its node covers of the values of the table; a suppressed row loses all."""

    def summary(frame: pd.DataFrame, published: Any) -> Summary:
        total = float((len(frame) - len(published)) * len(QUASI))
        for name in QUASI:
            lines = {str(line[0]): set(map(str, line)) for line in hierarchy_file(folder, name).to_numpy()}
            values = frame[name].astype(str).unique()
            stands_for = Counter(form for value in values for form in lines[value])
            total += float((published[name].astype(str).map(stands_for) - 1).sum()) / (len(values) - 1)
        classes = len(published[QUASI].astype(str).drop_duplicates()) + (len(published) < len(frame))
        return {"classes": classes, "loss": total / len(frame) / len(QUASI)}

    return summary


def pycanon_check(measure: str, sensitive: str | None) -> Work:
    def work(frame: pd.DataFrame) -> float:
        from pycanon import anonymity

        table = frame[[*KNOWN, *([sensitive] if sensitive else [])]]
        return float(getattr(anonymity, measure)(table, KNOWN, *([[sensitive]] if sensitive else [])))

    return work


def level(frame: pd.DataFrame, found: float) -> Summary:
    return {"level": found}


def tasks(folder: Path) -> dict[str, tuple[Work, Callable[[pd.DataFrame, Any], Summary]]]:
    """Everything that can be measured, by name."""
    suppressing = own_algorithm("Incognito", folder, max_suppression=SUPPRESSED)
    return {
        "anoncore mondrian median": (own_algorithm("Mondrian", None), own_summary),
        CODED: (own_classes, own_summary),
        "anoncore mondrian loss": (own_algorithm("Mondrian", None, split="loss"), own_summary),
        "anoncore incognito": (suppressing, own_summary),
        "anoncore local-recoding": (own_algorithm("LocalRecoding", folder), own_summary),
        "anonypy mondrian": (anonypy_mondrian, anonypy_summary),
        "anonymity-api mondrian": (anonymity_api_mondrian, anonymity_api_summary),
        "anjana full-domain": (anjana_full_domain(folder), anjana_summary(folder)),
        "anoncore k": (own_check(None, lambda known: known.KAnonymity(k=2)), level),
        "anoncore l": (own_check(JOB, lambda known: known.DistinctDiversity(l=2)), level),
        "anoncore t equal": (own_check(JOB, lambda known: known.TCloseness(t=0.2, ground="equal")), level),
        "anoncore t ordered": (own_check(HOURS, lambda known: known.TCloseness(t=0.2, ground="ordered")), level),
        "pycanon k": (pycanon_check("k_anonymity", None), level),
        "pycanon l": (pycanon_check("l_diversity", JOB), level),
        "pycanon t equal": (pycanon_check("t_closeness", JOB), level),
        "pycanon t ordered": (pycanon_check("t_closeness", HOURS), level),
    }


def memory(field: str) -> float:
    """A line of the process's status in MB (Linux), 0 elsewhere."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(field)), 0.0)


def started(task: str, frame: pd.DataFrame) -> Any:
    """What a task begins with: the frame, or the coded table."""
    return own_data(frame, QUASI, [CLASS]) if task == CODED else frame


def limit_cpu(seconds: int) -> None:
    """End the process with OUT_OF_TIME after so many seconds of CPU time from now."""
    if os.name == "nt":
        return
    signal.signal(signal.SIGVTALRM, lambda _number, _frame: os._exit(OUT_OF_TIME))
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)


def main() -> None:
    """Run one task and print what it took."""
    task, table, folder, repeats = sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    frame = pd.read_csv(table, keep_default_na=False)
    work, summary = tasks(folder)[task]
    given: Any = frame
    if task.startswith("anoncore"):
        work(started(task, frame.head(2_000)))  # Compiled code is loaded once per process.
        given = started(task, frame)
    gc.collect()
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        reset.write_text("5")
    before = memory("VmRSS")
    limit_cpu(int(sys.argv[5]))
    wall: list[float] = []
    cpu: list[float] = []
    peak = 0.0
    result: Any = None
    while len(wall) < repeats and (not cpu or cpu[0] < LONG):
        result = None
        began, used = time.perf_counter(), time.process_time()
        result = work(given)
        wall.append(time.perf_counter() - began)
        cpu.append(time.process_time() - used)
        peak = peak or memory("VmHWM") - before
        limit_cpu(0)
    print(json.dumps({"wall": wall, "cpu": cpu, "memory": peak, **summary(frame, result)}))


if __name__ == "__main__":
    main()
