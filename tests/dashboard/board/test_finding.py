"""Find better: what is tried under the promise of the board, and what is kept of it."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from anoncore import CancelledError, Microdata, Policy
from anoncore.base.random_numbers import is_guessable
from anoncore.search.keeping import asked, keeping
from dashboard.board import facts, finding
from dashboard.board.bench import Bench
from dashboard.board.finding import TRIED, Finding
from dashboard.session.loaded_table import LoadedTable, Tags
from dashboard.session.wishes import Wishes
from dashboard.session.workspace import Workspace

ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}
LEVELS = MappingProxyType({"k": 4, "t": 0.5})


def search(levels=LEVELS, n=120) -> Finding:
    draw = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "age": draw.integers(20, 60, n),
            "town": draw.choice(["Ulm", "Bonn", "Kiel"], n),
            "illness": draw.choice(["flu", "cold", "gout"], n),
        }
    )
    table = LoadedTable("t", "people", frame, "digest", (), None, Tags(roles=ROLES))
    data = Microdata(frame, ROLES)
    return Finding(Bench(Workspace("here")), data, table, table.suggested, Wishes(levels))


def quietly(share: float, text: str) -> None:
    assert 0 <= share <= 1


def test_what_is_found_has_the_numbers_that_its_column_will_have():
    search_ = search()
    search_._work(quietly)
    assert search_.n_tried == len(TRIED)
    tried = {(one.method, tuple(one.fields)): one for one in search_.candidates}
    one = tried["mondrian", ()]
    release = keeping("mondrian", {}, LEVELS, (), search_.data).anonymize(search_.data)
    run = search_.run_of(one.trial.algorithm, quietly)
    assert run.release.partition.n_groups == release.partition.n_groups
    assert facts.quick(run, "illness") == one.trial.quick
    assert one.trial.marks == facts.marks(run, asked(LEVELS, (), search_.data))
    # What is drawn at random is drawn alike in the column, by a seed of its own that nobody guesses.
    dealt = tried["stack-and-deal", ()]
    assert not is_guessable(dealt.seed)
    wished = keeping("stack-and-deal", {}, LEVELS, (), search_.data)
    search_.bench.draw_with(dealt.seed, "c7", wished, search_.table, search_.tags)
    told = (search_.data, search_.table, search_.tags, "illness", (), ())
    shown = search_.bench.wish({"c7": wished}, {"c7": 0}, *told)["c7"]
    assert shown.job is None or shown.job.wait(30)
    assert shown.run is not None
    assert shown.run.algorithm == dealt.trial.algorithm
    assert facts.quick(shown.run, "illness") == dealt.trial.quick
    assert len({one.seed for one in search_.candidates}) == len(search_.candidates)
    assert one.title == "Mondrian"
    assert tried["mondrian", ("refine",)].title == "Mondrian (refine yes)"
    # Buckets hide nobody among k, so they are not made where a k is asked for.
    assert not {"anatomy", "slicing", "injector"} & {one.method for one in search_.candidates}
    best = search_.best
    assert best is not None
    assert best.is_good
    assert best.lost == min(one.lost for one in search_.candidates if one.is_good)


def test_classes_are_dealt_and_refined_where_the_secret_is_protected():
    search_ = search()
    search_._work(quietly)
    tried = {(one.method, tuple(one.fields.items())): one for one in search_.candidates}
    dealt = tried["local-recoding", (("start", "deal"),)]
    assert dealt.keeps
    assert dealt.lost < tried["mondrian", ()].lost
    assert dealt.title == "Local recoding (start deal)"
    # Without it nothing is dealt, and no time is spent on it.
    of_k_alone = search(MappingProxyType({"k": 4}))
    of_k_alone._work(quietly)
    assert ("local-recoding", (("start", "deal"),)) not in {
        (one.method, tuple(one.fields.items())) for one in of_k_alone.candidates
    }


def test_without_k_buckets_are_tried_and_only_what_keeps_all_is_the_best():
    search_ = search(MappingProxyType({"l": 2}))
    search_._work(quietly)
    assert {"anatomy", "slicing"} <= {one.method for one in search_.candidates}
    assert all(one.keeps for one in search_.candidates if one.is_good)
    # Nobody can be asked for more than all people.
    none = search(MappingProxyType({"k": 1_000}))
    none._work(quietly)
    assert none.best is None


def test_what_was_found_before_it_was_stopped_stays_and_it_goes_on_from_there():
    search_ = search()
    calls = []

    def stop(share: float, text: str) -> None:
        calls.append(share)
        if search_.n_tried == 2:
            raise CancelledError("Enough.")

    with pytest.raises(CancelledError):
        search_._work(stop)
    assert search_.n_tried == 2
    before = search_.candidates
    search_._work(quietly)
    assert search_.candidates[: len(before)] == before
    assert len({(one.method, tuple(one.fields.items())) for one in search_.candidates}) == len(search_.candidates)


def test_a_method_that_takes_long_is_left(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(finding, "LONGEST", -1.0)
    search_ = search()
    search_._work(quietly)
    # What reports no progress is not held up; all others are left.
    assert len(search_.candidates) < len(TRIED) / 2


def test_what_breaks_the_policy_in_force_is_not_the_best():
    free = search()
    free._work(quietly)
    best = free.best
    assert best is not None
    # A rule that what was best without it breaks, and others keep.
    lost = sorted(one.trial.quick["belief"]["largest"] for one in free.candidates if one.is_good)
    limit = (lost[0] + best.trial.quick["belief"]["largest"]) / 2
    assert lost[0] < limit < best.trial.quick["belief"]["largest"]
    policy = Policy(name="House", risks={"largest-belief": {"at_most": limit}})
    ruled = search()
    ruled.wishes = replace(ruled.wishes, policy=policy)
    ruled._work(quietly)
    assert ruled.best is not None
    assert (ruled.best.method, ruled.best.fields) != (best.method, best.fields)
    assert ruled.best.trial.quick["belief"]["largest"] <= limit
    same = next(one for one in ruled.candidates if (one.method, one.fields) == (best.method, best.fields))
    assert same.broken.startswith("Largest belief at most")
    # Another policy is another search.
    digests = (ruled.table.digest, ruled.tags.digest)
    assert ruled.is_about(digests, ruled.wishes)
    assert not ruled.is_about(digests, replace(ruled.wishes, policy=None))


def test_another_wish_is_another_search():
    search_ = search()
    digests = (search_.table.digest, search_.tags.digest)
    assert search_.is_about(digests, search_.wishes)
    # Which columns stand there, and which rows are shown, changes nothing of what is searched for.
    assert search_.is_about(digests, search_.wishes.with_column("anatomy"))
    assert not search_.is_about(digests, search_.wishes.with_level("k", 5))
    assert not search_.is_about(digests, replace(search_.wishes, left_out=0.05))
