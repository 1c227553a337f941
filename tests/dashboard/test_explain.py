"""The page Explain shows what the library says about the groups that bind and about one more requirement."""

from __future__ import annotations

from anoncore.algorithms import Mondrian, RandomBuckets
from anoncore.base.texts import share_text
from anoncore.privacy.explain import explain, what_if
from anoncore.requirements import DistinctDiversity, KAnonymity
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, figure, metrics, table_of

ALGORITHM = Mondrian(requirements=(KAnonymity(k=6), DistinctDiversity(l=2)))


def test_the_reasons_are_those_of_the_library(visitor: Visitor) -> None:
    run = add_run(visitor, ALGORITHM)
    visitor.open("explain")
    found = explain(run.release, ALGORITHM.promises(run.data))
    shown = metrics(visitor)
    assert shown["k-anonymity"] == share_text(found.bindings[0].forbids.mean())
    assert shown["Could be cut"] == share_text(found.free.mean())
    bars = dict(zip(*(figure(visitor, "explain-bound")[0][axis] for axis in "yx"), strict=True))
    assert bars["k-anonymity"] == found.bindings[0].n_bound
    tight = table_of(visitor, "group", "rows", "level")
    assert tight["rows"].tolist() == run.release.partition.sizes[found.bindings[0].tightest(30)].tolist()


def test_another_requirement_is_held_against_the_release(visitor: Visitor) -> None:
    run = add_run(visitor, ALGORITHM)
    visitor.open("explain")
    visitor.at.selectbox(key="what-if-requirement").set_value("k-anonymity")
    visitor.run()
    visitor.at.number_input(key="what-if.k-anonymity.k").set_value(9)
    visitor.run()
    found = what_if(run.release, KAnonymity(k=9))
    assert any(f"It fails in {found.n_groups:,}" in item.value for item in visitor.at.error)
    assert len(table_of(visitor, "number", "rows", "misses by")) == len(found.violations)
    visitor.at.number_input(key="what-if.k-anonymity.k").set_value(5)
    visitor.run()
    assert any("It holds in every" in item.value for item in visitor.at.success)


def test_a_method_that_promises_nothing_of_groups_says_so(visitor: Visitor) -> None:
    run = add_run(visitor, RandomBuckets(size=6, seed=0))
    assert run.algorithm.promises(run.data) == ()
    visitor.open("explain")
    assert any("promises nothing about groups" in item.value for item in visitor.at.info)
