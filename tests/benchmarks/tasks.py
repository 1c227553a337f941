"""Common tasks in lines of code and seconds: here, and in other Python tools that offer them, each a script of its own.

Run: python -m tests.benchmarks.tasks [--limit SECONDS] [--polars]. A line is one that is not empty; seconds are the CPU
time of the whole process, imports included, the shorter of two runs. The other tools run in the environment of
`tests.benchmarks.peers`. With --polars, 1,000,000 rows from Polars and from pandas are compared instead.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from anoncore.datasets import table
from tests.benchmarks.peers import DATA, ROOT, peer_python

KNOWN = 'known = ["age", "education", "sex", "race"]\n'
ROLES = 'roles = {**dict.fromkeys(known, "quasi-identifier"), "occupation": "sensitive"}\n'
READ = 'table = pd.read_csv("adult.csv")[[*known, "occupation"]]\n'
OURS = (
    f"import pandas as pd\nfrom anoncore import Microdata\n{KNOWN}{ROLES}{READ}data = Microdata(table, roles=roles)\n"
)
TASKS: dict[str, dict[str, str]] = {
    "k, l and t of a file": {
        "anoncore": (
            "from anoncore.cli import main\n"
            'main(["check", "adult.csv", "--known", "age,education,sex,race", "--secret", "occupation"])\n'
        ),
        "pycanon": (
            f"import pandas as pd\nfrom pycanon import anonymity\n{KNOWN}"
            'table = pd.read_csv("adult.csv")\n'
            "print(anonymity.k_anonymity(table, known))\n"
            'print(anonymity.l_diversity(table, known, ["occupation"]))\n'
            'print(anonymity.t_closeness(table, known, ["occupation"]))\n'
        ),
    },
    "anonymize (k = 10) and save": {
        "anoncore": (
            f"from anoncore.algorithms import Mondrian\nfrom anoncore.publishing import new_key, publish\n"
            f"from anoncore.requirements import KAnonymity\n{OURS}"
            "release = Mondrian(requirements=[KAnonymity(k=10)]).anonymize(data)\n"
            'publish(release, ".", "published", new_key())\n'
        ),
        "anjana": (
            f"import pandas as pd\nfrom anjana.anonymity import k_anonymity\n{KNOWN}{READ}"
            "trees = {}\n"
            "for name in known:\n"
            '    levels = pd.read_csv(f"adult_hierarchy_{name}.csv", header=None)\n'
            "    trees[name] = {level: levels[level].values for level in levels}\n"
            'k_anonymity(table, [], known, 10, 5, trees).to_csv("published.csv", index=False)\n'
        ),
        "anonypy": (
            f"import anonypy\nimport pandas as pd\n{KNOWN}{READ}"
            'for name in [*known[1:], "occupation"]:\n'
            '    table[name] = table[name].astype("category")\n'
            'lines = anonypy.Preserver(table, known, "occupation").anonymize_k_anonymity(k=10)\n'
            'pd.DataFrame(lines).to_csv("published.csv", index=False)\n'
        ),
    },
    "compare three methods": {
        "anoncore": (
            f"from anoncore.algorithms import Anatomy, Mondrian, Slicing\nfrom anoncore.measures import evaluate\n"
            f"from anoncore.requirements import FrequencyDiversity\n{OURS}"
            "methods = [Mondrian(requirements=[FrequencyDiversity(l=3)]), Anatomy(l=3), "
            "Slicing(l=3, sensitive_column_size=1)]\n"
            "for method in methods:\n"
            '    print(method.title, evaluate(method.anonymize(data), ["largest-belief", "two-way-error"]))\n'
        )
    },
    "attack": {
        "anoncore": (
            f"from anoncore import attacks\nfrom anoncore.algorithms import Mondrian\n"
            f"from anoncore.requirements import KAnonymity\n{OURS}"
            "release = Mondrian(requirements=[KAnonymity(k=10)]).anonymize(data)\n"
            'print(attacks.attribute_disclosure(release, "occupation").frame())\n'
        )
    },
    "sweep over k": {
        "anoncore": (
            f"from anoncore.search import candidates, sweep\n{OURS}"
            'tried = candidates({"mondrian": {"k": [5, 10, 20, 40, 80]}}, data)\n'
            'for point in sweep(data, tried, ["largest-belief", "two-way-error"]):\n'
            "    print(point.algorithm.requirements[0].label(), point.values)\n"
        )
    },
}
"""By task the scripts of the tools that offer it."""
ROWS = 1_000_000
COLUMNS = ["age", "workclass", "education", "marital-status", "race", "sex", "hours-per-week", "diagnosis"]


def seconds(python: Path, script: str, folder: Path, path: str, limit: float) -> tuple[float, str]:
    """CPU seconds of the script in a process of its own, the shorter of two runs, or why there are none."""
    file = folder / "script.py"
    file.write_text(script, encoding="utf-8")
    taken = []
    for _ in range(2):
        before = os.times()
        try:
            ran = subprocess.run(
                [str(python), "-W", "ignore", str(file)],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": path},
                capture_output=True,
                text=True,
                check=False,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            return float("nan"), f"not in {limit:.0f} s"
        after = os.times()
        if ran.returncode:
            return float("nan"), f"failed: {(ran.stderr.strip().splitlines() or ['no message'])[-1][:80]}"
        taken.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(taken), ""


def tasks(limit: float) -> None:
    """Print lines and seconds of every task as a table of Markdown."""
    peers = peer_python()
    print("| task | tool | lines | seconds |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in (DATA / "adult.csv", *(DATA / "hierarchies").glob("*.csv")):
            (folder / file.name).write_bytes(file.read_bytes())
        for task, scripts in TASKS.items():
            for tool, script in scripts.items():
                ours = tool == "anoncore"
                taken, reason = seconds(
                    Path(sys.executable) if ours else peers, script, folder, str(ROOT) if ours else "", limit
                )
                lines = sum(bool(line.strip()) for line in script.splitlines())
                print(f"| {task} | {tool} | {lines} | {reason or f'{taken:.1f}'} |", flush=True)


def peak(work: Callable[[], object]) -> float:
    """By how many MB the process grew at most while the work ran, looked at every 2 ms."""
    process, done = psutil.Process(), threading.Event()
    start = largest = process.memory_info().rss

    def look() -> None:
        nonlocal largest
        while not done.wait(0.002):
            largest = max(largest, process.memory_info().rss)

    looking = threading.Thread(target=look)
    looking.start()
    work()
    done.set()
    looking.join()
    return (largest - start) / 2**20


def frames(kind: str, file: Path) -> None:
    """Print the MB that reading a file and publishing it takes, and the shortest of five times from frame to tables."""
    import pandas as pd
    import polars as pl

    from anoncore import Microdata
    from anoncore.algorithms import Mondrian
    from anoncore.requirements import KAnonymity

    roles = {**dict.fromkeys(COLUMNS[:-1], "quasi-identifier"), COLUMNS[-1]: "sensitive"}
    method = Mondrian(requirements=[KAnonymity(k=10)])
    read: Callable[[Path], Any] = pd.read_parquet if kind == "pandas" else pl.read_parquet

    def release(frame: Any) -> object:
        return method.anonymize(Microdata(frame, roles=roles)).tables()

    release(read(file).head(1_000))
    gc.collect()
    grown = peak(lambda: release(read(file)))
    frame, taken = read(file), []
    for _ in range(5):
        begun = time.perf_counter()
        release(frame)
        taken.append(time.perf_counter() - begun)
    print(f"{kind}: {min(taken):.2f} s, {grown:,.0f} MB", flush=True)


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=120.0, help="wall seconds of a script at most")
    parser.add_argument("--polars", action="store_true", help="compare 1,000,000 rows from Polars and from pandas")
    parser.add_argument("--frame", nargs=2, metavar=("KIND", "FILE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.frame:
        frames(arguments.frame[0], Path(arguments.frame[1]))
    elif arguments.polars:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "people.parquet"
            table("census").load(n_rows=ROWS)[COLUMNS].to_parquet(file, index=False)
            for kind in ("pandas", "polars", "pandas", "polars"):
                subprocess.run([sys.executable, "-m", "tests.benchmarks.tasks", "--frame", kind, str(file)], check=True)
    else:
        tasks(arguments.limit)


if __name__ == "__main__":
    main()
