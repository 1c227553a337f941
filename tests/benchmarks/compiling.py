"""What compiling costs: every method, attack and measure from an empty cache, beside a fixed piece of compiling.

Run: python -m tests.benchmarks.compiling. Times are CPU seconds, because what else the machine does spoils those least.
One unit is the time that numba takes for `unit` in the same run. Each line is a process of its own with a cache of its
own: only the last two lines of the methods run several of them in one process. `--kernels` lists the compiled functions
of a line, slowest first, with the number of argument types that each was compiled for.
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
from typing import Any

import numba
import numpy as np
from numba.core import event

METHODS = (
    "mondrian",
    "anatomy",
    "slicing",
    "stack-and-deal",
    "foreground-safe",
    "incognito",
    "injector",
    "local-recoding",
    "mask",
    "microaggregation",
    "random-buckets",
    "random-partition",
    "rothko-sampling",
    "rothko-tree",
    "sabre",
    "sensitive-space-fragmentation",
    "vertical-fragmentation",
)
ATTACKS = {
    "attacks.attribute_disclosure": ("mondrian", {"attribute": "occupation"}),
    "attacks.downcoding": ("local-recoding", {}),
    "attacks.foreground_knowledge": ("anatomy", {"attribute": "occupation"}),
    "attacks.join_likelihood": ("vertical-fragmentation", {}),
    "attacks.membership": ("slicing", {}),
    "attacks.minimality": ("mondrian", {"attribute": "occupation"}),
    "attacks.posterior_emd": ("mondrian", {"attribute": "occupation"}),
    "attacks.region_membership": ("mondrian", {}),
    "attacks.reidentification": ("mondrian", {}),
    "attacks.sensitive_posterior": ("mondrian", {"attribute": "occupation"}),
}
MEASURES = {
    "privacy.profile": ("mondrian", {}),
    "privacy.emd": ("mondrian", {"attribute": "occupation"}),
    "utility.association_error": ("mondrian", {}),
    "utility.classification": ("mondrian", {"target": "occupation", "folds": 2, "repeats": 1}),
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
PARAMETERS: dict[str, dict[str, Any]] = {"sensitive-space-fragmentation": {"t": {"occupation": 0.5}}}
"""Parameters of methods that have no value to begin with."""


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
        # What the release compiles is not the attack's, unless the line is about all of them.
        began = time.process_time()
        work = prepare()
        if name in TOGETHER:
            seconds += time.process_time() - began
        with event.install_listener("numba:compile", listener):
            began = time.process_time()
            work()
            seconds += time.process_time() - began
    return {"seconds": seconds, "kernels": listener.seconds, "signatures": listener.signatures}


def in_own_process(name: str) -> dict[str, Any]:
    """`run` in a process with an empty cache."""
    with tempfile.TemporaryDirectory(prefix="anoncore-compiling-") as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        command = [sys.executable, "-m", "tests.benchmarks.compiling", "--run", name]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"seconds": float("nan"), "kernels": {}, "signatures": {}, "error": done.stderr.strip()[-300:]}
    outcome: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return outcome


def main() -> None:
    """Print the table."""
    lines = [*METHODS, *TOGETHER, *ATTACKS, *MEASURES]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="+", choices=lines, default=lines, help="these lines")
    parser.add_argument("--kernels", type=int, default=0, help="how many functions of each line to list")
    arguments = parser.parse_args()
    if arguments.run:
        print(json.dumps(run(arguments.run)))
        return
    base = in_own_process("unit")["seconds"]
    print(
        f"unit: {base:.2f} s\n\n| line | CPU s | units | kernels | signatures |\n| --- | --- | --- | --- | --- |",
        flush=True,
    )
    for name in arguments.only:
        outcome = in_own_process(name)
        numbers = f"{outcome['seconds']:.1f} | {outcome['seconds'] / base:.2f}"
        print(f"| {name} | {numbers} | {len(outcome['kernels'])} | {sum(outcome['signatures'].values())} |", flush=True)
        if "error" in outcome:
            print(outcome["error"])
        for kernel, seconds in sorted(outcome["kernels"].items(), key=lambda item: -item[1])[: arguments.kernels]:
            print(f"    {seconds:6.2f} s  {kernel} ({outcome['signatures'][kernel]})", flush=True)


if __name__ == "__main__":
    main()
