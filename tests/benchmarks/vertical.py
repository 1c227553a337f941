"""Vertical fragmentation on Musk: information and fragments of all 166 features, and whole runs at 40 of them.

Run: python -m tests.benchmarks.vertical. Times are CPU seconds, wall seconds in brackets; compiled code is warm. Needs
the Musk table (see `datasets.measurements`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from anoncore import Microdata, attacks, privacy
from anoncore.algorithms import VerticalFragmentation
from anoncore.algorithms.vertical.attribute_fragments import fragment_attributes
from anoncore.algorithms.vertical.changes import class_changes
from anoncore.datasets import table

DIMENSIONS = 40
VARIANTS: dict[str, dict[str, object]] = {
    "naive": {"enforce": "naive"},
    "dependency": {"enforce": "dependency"},
    "selectivity": {"enforce": "selectivity"},
    "l = 2": {"l": 2},
    "t = 0.3": {"t": 0.3},
}
LIMITS = {40: 10.0, 5: 60.0}
"""Seconds that a run may take, by k."""
FRAGMENTS_LIMIT = 5.0

T = TypeVar("T")


def timed(work: Callable[[], T], limit: float | None = None) -> tuple[T, str]:
    """The result and both times as text, with whether the wall time keeps the limit."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    kept = "" if limit is None else f", {'within' if wall <= limit else 'OVER'} {limit:g} s"
    return result, f"{cpu:6.2f} s ({wall:.2f}){kept}"


def musk(n_features: int | None = None, classes: int | None = None) -> Microdata:
    """Musk with all features or some drawn at random; `classes`: with so many random class values in place of two."""
    entry = table("musk")
    frame = entry.load()
    names = [name for name, role in entry.roles.items() if role == "quasi-identifier"]
    rng = np.random.default_rng(0)
    if n_features is not None:
        names = [names[place] for place in np.sort(rng.permutation(len(names))[:n_features])]
    if classes is not None:
        shares = 1 / np.arange(1, classes + 1)
        frame["class"] = rng.choice([f"c{i}" for i in range(classes)], len(frame), p=shares / shares.sum())
    roles = {**dict.fromkeys(names, "quasi-identifier"), "class": "sensitive"}
    return Microdata(frame[[*names, "class"]], roles, {name: entry.kinds[name] for name in roles})


def all_features(data: Microdata) -> None:
    """The mutual information of every pair and the fragments from it."""
    for number in (2, 4, None):
        found, text = timed(lambda number=number: fragment_attributes(data, "class", number), FRAGMENTS_LIMIT)
        sizes = [len(names) for names in found.fragments]
        print(f"{len(data.quasi_identifiers)} features, {number or 'by the data'} fragments: {text}; sizes {sizes}")


def runs(title: str, data: Microdata, fragments: int) -> None:
    """A whole run of every variant, its check over all joins included, and the check and the attack on their own."""
    for k, limit in LIMITS.items():
        for variant, parameters in VARIANTS.items():
            method = VerticalFragmentation(k=k, fragments=fragments, seed=0, **parameters)
            release, text = timed(lambda method=method: method.anonymize(data), limit)
            classes = [fragment.partition.n_groups for fragment in release.fragments]
            changes = class_changes(release)
            print(
                f"{title}, {fragments} fragments, k = {k:>2}, {variant:>11}: {text}; classes {classes}, "
                f"{changes.number:,} class values changed ({float(changes):.2%})"
            )
        _, check = timed(lambda release=release: privacy.joins(release))
        _, likelihood = timed(lambda release=release: attacks.membership(release))
        print(f"    check over all joins {check}; likelihood of membership {likelihood}")


def main() -> None:
    """Print the whole benchmark."""
    some = musk(DIMENSIONS)
    for parameters in VARIANTS.values():
        VerticalFragmentation(k=40, seed=0, **parameters).anonymize(some)
    all_features(musk())
    runs("Musk", some, 2)
    runs("Musk", some, 4)
    runs("Musk, 20 random classes", musk(DIMENSIONS, classes=20), 2)
    runs("Musk, 20 random classes", musk(DIMENSIONS, classes=20), 3)
    runs("Musk, all features", musk(), 2)


if __name__ == "__main__":
    main()
