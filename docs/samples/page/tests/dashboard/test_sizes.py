"""The page Sizes shows the smallest and the largest group."""

from __future__ import annotations

from anoncore.algorithms import Mondrian
from anoncore.requirements import KAnonymity
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, metrics


def test_sizes_are_those_of_the_release(visitor: Visitor) -> None:
    run = add_run(visitor, Mondrian(requirements=(KAnonymity(k=6),)))
    visitor.open("sizes")
    sizes = run.release.partition.sizes
    assert metrics(visitor) == {"Smallest": str(sizes.min()), "Largest": str(sizes.max())}
