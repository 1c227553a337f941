"""What refinement tells of Adult, recoded locally by our method and by ARX's rule.

`python -m tests.benchmarks.refinement` prints a table in Markdown: 30,162 people with ARX's hierarchies, of whom age,
sex, race and education are known, or marital status as well, and the occupation is the secret. The releases by ARX's
rule are read back as tables that another program made. `--whole` solves parts of up to 5,000 cells as a
whole, which takes many minutes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd

from anoncore import Microdata, Release, attacks
from anoncore.algorithms import LocalRecoding
from anoncore.attacks.refined_counts import MOST_CELLS
from anoncore.requirements import KAnonymity
from tests.algorithms.test_incognito import arx_adult
from tests.attacks.naive_refinement import by_rule

KNOWN = ["age", "sex", "race", "education"]
SECRET = "occupation"


def published_by_rule(data: Microdata, k: int) -> pd.DataFrame:
    """What ARX's rule publishes of a table; a cell loses (values it stands for - 1) / (values - 1)."""
    names = list(data.quasi_identifiers)
    rows, losses = [], []
    for name in names:
        hierarchy = data.hierarchies[name]
        paths = {value: (str(value), *map(str, hierarchy.path_of(value))) for value in data.frame[name].unique()}
        all_paths = list(paths.values())
        losses.append(
            {
                path: [
                    (sum(other[level] == text for other in all_paths) - 1) / (len(paths) - 1)
                    for level, text in enumerate(path)
                ]
                for path in all_paths
            }
        )
        rows.append([paths[value] for value in data.frame[name]])
    published = by_rule(list(zip(*rows, strict=True)), losses, k)
    return pd.DataFrame(published, columns=names).assign(**{SECRET: data.frame[SECRET].to_numpy()})


def releases(data: Microdata, k: int) -> Iterator[tuple[str, Release]]:
    """A release of our method, and one by ARX's rule that is read back in another order."""
    yield "LocalRecoding", LocalRecoding(requirements=[KAnonymity(k=k)]).anonymize(data)
    shuffled = published_by_rule(data, k).sample(frac=1, random_state=1)
    yield "ARX's rule", Release.from_published(shuffled, original=data)


def main() -> None:
    """Print a line per release."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--whole", action="store_true", help="solve parts of up to 5,000 cells as a whole")
    most_cells = 5_000 if parser.parse_args().whole else MOST_CELLS
    print(
        "| known | k | made by | cells | narrowed | ruled out | least ranges | class certain (without the method) | "
        "believed above 1/2 (without the method) | control | single groups | seconds |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for known in (KNOWN, [*KNOWN, "marital-status"]):
        data = arx_adult(known, SECRET)
        for k in (5, 10):
            for title, release in releases(data, k):
                begin = time.perf_counter()
                found = attacks.refinement(release, SECRET, k=k, most_cells=most_cells)
                seconds = time.perf_counter() - begin
                confidence = attacks.attribute_disclosure(release, SECRET).confidence
                print(
                    f"| {len(known)} | {k} | {title} | {len(found.low):,} | {found.narrowed:.1%} | "
                    f"{found.ruled_out:.1%} | {found.is_least.mean():.1%} | {found.located:.2%} "
                    f"({found.located.baseline:.2%}) | {found.recall:.2%} ({found.recall.baseline:.2%}) | "
                    f"{found.control:.2%} | {np.mean(confidence > 0.5):.2%} | {seconds:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
