"""The three questions beside anonymeter, on exact tables: Adult's rows as they are, with all columns and with nine.

anonymeter pins older libraries, so it needs an environment of its own, of which this is given the Python:
`python -m venv other && other/bin/pip install anonymeter`, then
`python -m tests.benchmarks.three_questions --python other/bin/python`. Its intervals are of 95%; beside them stands
what our adversary of the same kind gets, estimated as anonymeter does, by Wilson's middle.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from anoncore import Microdata, Release, attacks
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.attacks.control_people import control_of, members_of
from anoncore.attacks.linkability import _by_nearest
from anoncore.attacks.linked_records import Records
from anoncore.requirements import KAnonymity
from tests.shared_data import FOLDER

SIDE = Path(__file__).with_name("three_questions_peer.py")
SECRET = "occupation"
FIRST = ["age", "workclass", "education", "marital-status"]
SECOND = ["race", "sex", "hours-per-week", "native-country", "capital-gain"]
SMALL = ["age", "workclass", "education", "marital-status", "race", "sex", "hours-per-week", "native-country", SECRET]
TABLES = {"all 15 columns": None, "9 columns": SMALL}


def theirs(python: str, members: pd.DataFrame, control: pd.DataFrame, second: list[str], queries: int) -> dict:
    """What anonymeter finds."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{name}.csv" for name in ("members", "control")]
        for file, frame in zip(files, (members, control), strict=True):
            frame.to_csv(file, index=False)
        arguments = [*map(str, files), SECRET, ",".join(FIRST), ",".join(second), str(queries)]
        ran = subprocess.run([python, str(SIDE), *arguments], capture_output=True, text=True, check=False, env={})
    if ran.returncode:
        raise SystemExit(ran.stderr[-2_000:])
    return json.loads(ran.stdout.splitlines()[-1])


def main() -> None:
    """Print a line per table and attack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", help="Python of an environment with anonymeter; without it our times are taken")
    parser.add_argument("--queries", type=int, default=500)
    arguments = parser.parse_args()
    adult = pd.read_csv(FOLDER / "adult.csv")
    if arguments.python is None:
        times(adult)
        return
    print("| table | attack | anonymeter: members, control | risk (95%) | ours: members, control | risk | met |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for title, columns in TABLES.items():
        frame = adult if columns is None else adult[columns]
        second = [name for name in SECOND if name in frame]
        data = Microdata(frame, {"age": "quasi-identifier", SECRET: "sensitive"})
        members, control = data.split(control=0.5, seed=1)
        release = Mondrian(requirements=[KAnonymity(k=1)]).anonymize(members)
        found = theirs(arguments.python, members.frame, control.frame, second, arguments.queries)
        ours = {
            "singling_out": attacks.singling_out(release, control).adversaries.loc["several attributes"],
            "linkability": attacks.linkability(release, (FIRST, second), control).adversaries.loc["nearest neighbour"],
            "inference": attacks.inference(release, SECRET, control).adversaries.loc["nearest neighbour"],
        }
        for attack, line in ours.items():
            their = found[attack]
            rates = [their[name][0] / their[name][1] for name in ("members", "control")]
            own = [line["members"], line["control"]]
            if attack == "linkability":
                print(f"| {title} | linkability, right partner named | | | {own[0]:.3f}, {own[1]:.3f} | | |")
                own = links(release, FIRST, second, control)
            middle = [(one * 2_000 + 1.96**2 / 2) / (2_000 + 1.96**2) for one in own]
            risk = max((middle[0] - middle[1]) / (1 - middle[1]), 0.0)
            value, low, high = their["risk"]
            met = "yes" if low <= risk <= high else "no"
            print(
                f"| {title} | {attack.replace('_', ' ')} | {rates[0]:.3f}, {rates[1]:.3f} | "
                f"{value:.3f} ({low:.3f} to {high:.3f}) | {own[0]:.3f}, {own[1]:.3f} | {risk:.3f} | {met} |"
            )


def times(adult: pd.DataFrame) -> None:
    """Print the seconds of each attack with 2,000 people of the table and 2,000 others, at its second run."""
    known = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"]
    data = Microdata(adult, dict.fromkeys(known, "quasi-identifier") | {SECRET: "sensitive"})
    members, control = data.split(control=1 / 3, seed=1)
    print(f"| release of {members.n_rows:,} rows, 15 columns | attack | CPU s | wall s |")
    print("| --- | --- | --- | --- |")
    for title, algorithm in (
        ("raw rows", Mondrian(requirements=[KAnonymity(k=1)])),
        ("Mondrian, k = 10", Mondrian(requirements=[KAnonymity(k=10)])),
        ("Anatomy, l = 3", Anatomy(l=3, seed=1)),
    ):
        release = algorithm.anonymize(members)
        for name in ("singling_out", "linkability", "inference"):
            asked = (SECRET,) if name == "inference" else ()
            function = getattr(attacks, name)
            function(release, *asked, control=control)
            cpu, wall = time.process_time(), time.perf_counter()
            function(release, *asked, control=control, seed=1)
            taken = f"{time.process_time() - cpu:.2f} | {time.perf_counter() - wall:.2f}"
            print(f"| {title} | {name.replace('_', ' ')} | {taken} |")


def links(release: Release, first: list[str], second: list[str], control: Microdata) -> list[float]:
    """anonymeter's success, which is our recall: whose two entries have the same nearest record."""
    rng = np.random.default_rng(0)
    names = (*first, *second)
    records = Records.of(release, names, rng)
    groups = (members_of(release, names, 2_000, rng), control_of(release, control, names, 2_000, rng))
    return [_by_nearest(records, tuple(first), tuple(second), group).recall for group in groups]


if __name__ == "__main__":
    main()
