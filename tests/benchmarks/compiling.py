"""What compiling costs: every method, attack and measure from an empty cache, beside a fixed piece of compiling.

Run: python -m tests.benchmarks.compiling. Times are CPU seconds, because what else the machine does spoils those least.
One unit is the time that numba takes for `unit`: the mean of right before and right after the line. Each line is a
process of its own with a cache of its own; two lines run several methods in one process. `--kernels` lists the
functions that a line compiles, slowest first, with the number of argument types that each was compiled for.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import event

METHODS = (
    "mondrian",
    "anatomy",
    "attack-safe",
    "slicing",
    "stack-and-deal",
    "centroid-microaggregation",
    "foreground-safe",
    "incognito",
    "injector",
    "local-recoding",
    "local-suppression",
    "mask",
    "microaggregation",
    "optimal-recoding",
    "pram",
    "random-buckets",
    "random-partition",
    "rothko-sampling",
    "rothko-tree",
    "sabre",
    "sensitive-space-fragmentation",
    "suppression",
    "vertical-fragmentation",
)
ATTACKS = {
    "attacks.attribute_disclosure": ("mondrian", {"attribute": "diagnosis"}),
    "attacks.downcoding": ("local-recoding", {}),
    "attacks.foreground_knowledge": ("anatomy", {"attribute": "diagnosis", "epsilon": 0.1}),
    "attacks.foreground_knowledge_estimate": ("anatomy", {"attribute": "diagnosis", "epsilon": 0.1}),
    "attacks.join_likelihood": ("vertical-fragmentation", {}),
    "attacks.membership": ("slicing", {}),
    "attacks.minimality": ("mondrian", {"attribute": "diagnosis"}),
    "attacks.posterior_emd": ("mondrian", {"attribute": "diagnosis"}),
    "attacks.region_membership": ("mondrian", {}),
    "attacks.reidentification": ("mondrian", {}),
    "attacks.sensitive_posterior": ("mondrian", {"attribute": "diagnosis"}),
}
MEASURES = {
    "privacy.profile": ("mondrian", {}),
    "privacy.emd": ("mondrian", {"attribute": "diagnosis"}),
    "utility.association_error": ("mondrian", {}),
    "utility.classification": ("mondrian", {"target": "diagnosis", "folds": 2, "repeats": 1}),
    "utility.information_loss": ("mondrian", {}),
    "utility.query_error": ("mondrian", {"n_queries": 100}),
    "utility.two_way_error": ("mondrian", {}),
}
"""Attacks and measures by name: the method of the release and their arguments."""
TOGETHER = {
    "anatomy, slicing, stack-and-deal": ("anatomy", "slicing", "stack-and-deal"),
    "all methods and attacks": (*METHODS, *ATTACKS),
}
"""Lines that run several in one process, which share what is compiled."""
PARAMETERS: dict[str, dict[str, Any]] = {
    "sensitive-space-fragmentation": {"t": {"diagnosis": 0.5}},
    "slicing": {"sensitive_column_size": 1},
}
"""Parameters of methods whose first values are none or impossible for the table."""


def unit(numbers: Any) -> float:
    """The fixed piece: a sort, the distinct values, the median, and two loops."""
    ordered, distinct, total = np.sort(numbers), np.unique(numbers), 0.0
    for i in range(ordered.shape[0]):
        for j in range(distinct.shape[0]):
            total += ordered[i] * distinct[j]
    return total + np.median(numbers)


class Compilations(event.Listener):  # type: ignore[misc]
    """CPU seconds that numba spends on each function, without what it spends on our other functions below it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.signatures: Counter[str] = Counter()
        self._open: list[str] = []
        self._since = time.process_time()

    def _charge(self) -> None:
        now = time.process_time()
        if self._open:
            self.seconds[self._open[-1]] += now - self._since
        self._since = now

    def on_start(self, occasion: event.Event) -> None:
        """A function begins; those of numba itself count for the function of ours that needs them."""
        self._charge()
        function = occasion.data["dispatcher"].py_func
        module, _, name = function.__module__.rpartition(".")
        ours = function.__module__.startswith("anoncore.")
        if ours or not self._open:
            self._open.append(f"{name}.{function.__name__}" if module else function.__name__)
            self.signatures[self._open[-1]] += 1
        else:
            self._open.append(self._open[-1])

    def on_end(self, occasion: event.Event) -> None:
        """A function is finished."""
        self._charge()
        self._open.pop()


def method(name: str) -> Any:
    """A release of a small table by the method with the values that its form begins with."""
    from anoncore import Microdata, datasets
    from anoncore.algorithms import ALGORITHMS

    entry = datasets.table("census")
    data = Microdata(entry.load(n_rows=300), entry.roles, entry.kinds, entry.orders)
    return ALGORITHMS[name](**PARAMETERS.get(name, {})).anonymize(data)


def measured(name: str) -> Callable[[], object]:
    """An attack or measure, bound to a release that is already made."""
    from anoncore.measures import MEASURES as FUNCTIONS

    made_by, arguments = {**ATTACKS, **MEASURES}[name]
    return partial(FUNCTIONS[name], method(made_by), **arguments)


def run(name: str) -> dict[str, Any]:
    """CPU seconds of one line, and what was compiled, in this process; imports do not count."""
    import sklearn.tree  # noqa: F401

    import anoncore.measures  # noqa: F401

    if name == "unit":
        tasks = [lambda: partial(numba.njit(unit), np.arange(5.0))]
    else:
        names = TOGETHER.get(name, (name,))
        tasks = [partial(partial, method, each) if each in METHODS else partial(measured, each) for each in names]
    listener, seconds = Compilations(), 0.0
    for prepare in tasks:
        # What the release compiles is not the attack's; where several run, it was compiled by then.
        work = prepare()
        with event.install_listener("numba:compile", listener):
            began = time.process_time()
            work()
            seconds += time.process_time() - began
    return {"seconds": seconds, "kernels": listener.seconds, "signatures": listener.signatures}


def in_own_process(name: str, sources: Path) -> dict[str, Any]:
    """`run` in a process with an empty cache, which imports anoncore from these sources."""
    with tempfile.TemporaryDirectory(prefix="anoncore-compiling-") as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder, "PYTHONPATH": str(sources)}
        command = [sys.executable, "-P", __file__, "--run", name]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr}")
    outcome: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return outcome


def cells(outcome: dict[str, Any], base: float) -> list[str]:
    """CPU seconds, units, compiled functions, and the types of arguments that they were compiled for."""
    seconds = outcome["seconds"]
    numbers = [f"{seconds:.1f}", f"{seconds / base:.2f}"]
    return [*numbers, f"{len(outcome['kernels'])}", f"{sum(outcome['signatures'].values())}"]


PREFACE = """# Compiling

`python -m tests.benchmarks.compiling --markdown tests/benchmarks/results.md` makes this chapter. CPU seconds of a first
run from an empty cache, on 300 rows, each line in a process of its own; imports do not count. One unit is the CPU
time that numba takes right before and after the line for a fixed piece of code (a sort, the distinct values, the
median, two loops). An attack or measure counts what it compiles beyond the release that it looks at. The numbers of
functions are those of anoncore: how many were compiled, and for how many types of arguments in all."""


def main() -> None:
    """Print the table, and write it as Markdown where asked."""
    lines = [*METHODS, *TOGETHER, *ATTACKS, *MEASURES]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="+", choices=lines, default=lines, help="these lines")
    parser.add_argument("--kernels", type=int, default=0, help="how many functions of each line to list")
    parser.add_argument("--before", type=Path, help="a folder with other sources, to measure in turn with these")
    parser.add_argument("--markdown", type=Path, help="file for the table as Markdown")
    arguments = parser.parse_args()
    if arguments.run:
        print(json.dumps(run(arguments.run)))
        return
    sources = [] if arguments.before is None else [("before: ", arguments.before.resolve())]
    sources.append(("", Path(__file__).parents[2]))
    units = [in_own_process("unit", sources[-1][1])["seconds"]]
    header = ["first run", *(f"{when}{one}" for when, _ in sources for one in ("CPU s", "units", "functions", "types"))]
    table = [header, ["---"] * len(header)]
    for name in arguments.only:
        outcomes = [in_own_process(name, folder) for _, folder in sources]
        # The speed of a machine changes within minutes, so that each line has the units before and after it.
        units.append(in_own_process("unit", sources[-1][1])["seconds"])
        base = (units[-2] + units[-1]) / 2
        table.append([name, *(cell for outcome in outcomes for cell in cells(outcome, base))])
        print("  ".join(table[-1]), flush=True)
        for kernel, seconds in sorted(outcomes[-1]["kernels"].items(), key=lambda item: -item[1])[: arguments.kernels]:
            print(f"    {seconds:6.2f} s  {kernel} ({outcomes[-1]['signatures'][kernel]})", flush=True)
    about = f"One unit was {min(units):.2f} to {max(units):.2f} s on {os.cpu_count()} cores, numba {numba.__version__}."
    print(about)
    if arguments.markdown is not None:
        from tests.benchmarks.page import write_chapter

        rows = "\n".join("| " + " | ".join(row) + " |" for row in table)
        write_chapter(arguments.markdown, f"{PREFACE}\n\n{about}\n\n{rows}")


if __name__ == "__main__":
    main()
