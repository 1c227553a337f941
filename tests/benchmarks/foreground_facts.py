"""What facts add to the foreground-knowledge attack on Adult, and how near weighed counts come to listed worlds.

`python -m tests.benchmarks.foreground_facts` prints two tables in Markdown. The first is about buckets of three people,
by Anatomy, with the occupation as the secret: true facts about single people and women. The second attacks made-up
tables of more and more people, once with all worlds listed and once with odds that meet the count on average.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pandas as pd

from anoncore import Microdata, Release, attacks
from anoncore.algorithms import Anatomy
from anoncore.attacks.foreground import counted_worlds
from anoncore.kernels.arrays import Floats
from tests.privacy.releases import adult, sliced

KNOWN = ["age", "workclass", "marital-status", "sex"]
SECRET = "occupation"
AT_LEAST, AT_MOST = (
    "at least 25% where sex = Female has Adm-clerical",
    "at most 2.2% where sex = Female has Craft-repair",
)
SIZES = (60, 120, 240, 480, 960, 1_920)


def others_lacked(release: Release, n_people: int) -> list[str]:
    """Of so many people drawn at random, one occupation of their bucket that they have not."""
    data, partition = release.data, release.partition
    codes, texts = data.codes[SECRET], data.domain[SECRET].texts
    facts = []
    for row in np.random.default_rng(0).choice(data.n_rows, n_people, replace=False):
        of_bucket = codes[partition.rows(int(partition.group[row]))]
        facts.append(f"row {row + 1} has not {texts[of_bucket[of_bucket != codes[row]][0]]}")
    return facts


def on_adult() -> Iterator[str]:
    """A line per list of facts and r."""
    release = Anatomy(l=3, seed=1).anonymize(adult(KNOWN, SECRET))
    lists = {f"{n:,} {'person' if n == 1 else 'people'}": others_lacked(release, n) for n in (1, 10, 100, 1_000)}
    lists |= {f"`{fact}`": [fact] for fact in (AT_LEAST, AT_MOST)} | {"both": [AT_LEAST, AT_MOST]}
    yield "| r | facts | facts alone | attack | both | control | more | fewer | s |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for r in (2, 3):
        for name, facts in lists.items():
            begin = time.perf_counter()
            found = attacks.foreground_knowledge(release, SECRET, r=r, facts=facts)
            told = found.with_facts
            assert told is not None
            assert all(told.is_true)
            yield (
                f"| {r} | {name} | {told.recall.baseline:.2%} | {found.recall:.2%} | {told.recall:.2%} "
                f"| {found.control:.2%} | {told.n_more:,} | {told.n_fewer:,} | {time.perf_counter() - begin:.1f} |"
            )


def made_up(n_people: int) -> tuple[Release, str]:
    """Buckets of three of so many people, men having the flu more often, and a fact that is true of the men."""
    rng = np.random.default_rng(5)
    sex = rng.choice(["m", "w"], n_people)
    ill = np.where(rng.random(n_people) < np.where(sex == "m", 0.5, 0.2), "flu", rng.choice(["gout", "cold"], n_people))
    frame = pd.DataFrame({"sex": sex, "age": rng.integers(1, 9, n_people), "illness": ill})
    data = Microdata(frame, {"sex": "quasi-identifier", "age": "quasi-identifier", "illness": "sensitive"})
    share = int(100 * (ill[sex == "m"] == "flu").mean()) - 1
    release = sliced(data, np.arange(n_people) // 3, [["sex", "age"], ["illness"]])
    return release, f"at least {share}% where sex = m has flu"


def near_listed_worlds() -> Iterator[str]:
    """A line per size of the table: the largest difference of a belief in somebody's own value."""
    yield "| people | facts alone | attack | what the fact changes | listed s | weighed s |"
    yield "|---|---|---|---|---|---|"
    for n_people in SIZES:
        release, fact = made_up(n_people)
        told, seconds = [], []
        for most in (1e9, 0):
            with patch.multiple(counted_worlds, MOST_WORLDS=most, MOST_COUNTS=most):
                begin = time.perf_counter()
                found = attacks.foreground_knowledge(release, "illness", epsilon=0.1, draws=0, facts=[fact])
                assert found.with_facts is not None
                told.append(found.with_facts)
                seconds.append(time.perf_counter() - begin)
        listed, weighed = told
        yield (
            f"| {n_people:,} | {_apart(listed.own_without_attack, weighed.own_without_attack):.4f} "
            f"| {_apart(listed.own_probability, weighed.own_probability):.4f} "
            f"| {_apart(listed.own_probability, listed.own_without_facts):.4f} | {seconds[0]:.2f} | {seconds[1]:.2f} |"
        )


def _apart(beliefs: Floats, others: Floats) -> float:
    return float(np.abs(beliefs - others).max())


def main() -> None:
    """Print both tables."""
    for line in (*on_adult(), "", *near_listed_worlds()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
