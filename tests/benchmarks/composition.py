"""Two releases of all of Adult laid side by side: the joint beliefs of 45,222 people.

Run: python -m tests.benchmarks.composition. Wanted: below 1 s for every pair of forms.
"""

from __future__ import annotations

import time
from itertools import combinations_with_replacement

from anoncore import Microdata, attacks
from anoncore.algorithms import Anatomy, Mondrian, RandomBuckets
from anoncore.requirements import DistinctDiversity, KAnonymity
from tests.privacy.releases import adult

KNOWN = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
COLUMNS = (KNOWN[:4], (*KNOWN[4:], "occupation"))


def main() -> None:
    """Print the time of each pair, beside what it shows."""
    plain = adult(list(KNOWN), "occupation")
    tables = [Microdata(plain.frame.sample(frac=1, random_state=seed), roles=plain.roles) for seed in (1, 2)]
    methods = {
        "Mondrian": Mondrian(requirements=[KAnonymity(k=5), DistinctDiversity(l=4)]),
        "Anatomy": Anatomy(l=4, seed=1),
        "Slicing into random buckets": RandomBuckets(size=10, attribute_columns=COLUMNS, seed=1),
    }
    releases = {name: [method.anonymize(data) for data in tables] for name, method in methods.items()}
    for first, second in combinations_with_replacement(methods, 2):
        pair = [releases[first][0], releases[second][1]]
        attacks.composition(pair, "occupation", l=4)
        begin = time.perf_counter()
        found = attacks.composition(pair, "occupation", l=4)
        seconds = time.perf_counter() - begin
        print(
            f"{first} and {second}: {seconds:.2f} s for {len(found.people):,} people, of whom {found.few:.1%} have "
            f"fewer than 4 possible occupations (in one release alone {found.few.baseline:.1%})"
        )


if __name__ == "__main__":
    main()
