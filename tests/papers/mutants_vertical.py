"""Broken versions of vertical fragmentation, and the statements that each must break."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from anoncore import Microdata, Release, attacks, privacy
from anoncore.algorithms import Algorithm, VerticalFragmentation
from anoncore.algorithms.vertical import attribute_fragments, strategies
from anoncore.privacy.join_blocks import RowRule, SelectivityRule
from anoncore.privacy.selectivity import Selectivity
from tests.papers import theorems_vertical, vertical_fragmentation, vertical_fragmentation_statements, worked
from tests.papers.broken import EVERY, NEVER, RANDOM, Broken, examples, replaced
from tests.papers.findings import Statements

Made = Callable[..., dict[str, Algorithm]]
Breaking = Callable[[], AbstractContextManager[Any]]


def losses() -> Statements:
    """Figure 1 and appendix D on one draw of features, for two dimensions and three levels of k."""
    found = _means(0, (10, 40), ((10, 40), (40, 5), (40, 40), (40, 100)), ())
    by_dimension = found[found["k"] == vertical_fragmentation.K]
    said = Statements(reading=vertical_fragmentation.SPLITS[True])
    vertical_fragmentation_statements.losses(by_dimension, found[found["dimension"] == 40], {}, said)
    vertical_fragmentation_statements.changes(found, said)
    return said


def scores() -> Statements:
    """Figures 2 and 3 on one draw of features, with trees, for two dimensions and two levels of k."""
    found = _means(2, vertical_fragmentation.DIMENSIONS, ((10, 40), (40, 5), (40, 40)), ("tree",))
    with patch.object(vertical_fragmentation_statements, "CLASSIFIER_TITLES", {"tree": "decision tree"}):
        return vertical_fragmentation_statements.statements(
            found, vertical_fragmentation.K, vertical_fragmentation.SPLITS[True], {}
        )


def _means(
    draw: int, dimensions: Sequence[int], cases: Sequence[tuple[int, int]], classifiers: tuple[str, ...]
) -> pd.DataFrame:
    """One draw of features of these dimensions, and the cases of a dimension and a k."""
    found = vertical_fragmentation.splits(dimensions, seed=draw, by_file=True)
    lines = [
        line
        for number, k in cases
        for recoding in ("rows", "regions")
        for line in vertical_fragmentation.measured(found[number], k, recoding, draw, classifiers)
    ]
    return vertical_fragmentation.means(pd.DataFrame(lines).assign(draw=draw, split="file")).drop(columns="split")


def nothing_changed() -> AbstractContextManager[Any]:
    """Class values stay as they are, whatever the joins."""
    return enforced_by(lambda counts, *_: counts)


@contextmanager
def enforced_by(naive: Callable[..., Any], other: Callable[..., Any] | None = None) -> Iterator[None]:
    """Class values are changed otherwise, by the naive strategy and by the others."""
    other = other or naive
    # The method would refuse to publish what breaks its own promise.
    with (
        patch.object(VerticalFragmentation, "promises", lambda self, data: ()),
        patch.object(strategies, "enforce", other),
        patch.object(strategies, "majority_values", naive),
    ):
        yield


def zeros(counts: Any, *_: Any) -> Any:
    """Nobody has any class value."""
    return [np.zeros_like(one) for one in counts]


def fragments_in_turn() -> AbstractContextManager[Any]:
    """Attributes are put into fragments in turn."""
    made = theorems_vertical.fragment_attributes

    def in_turn(data: Microdata, common: str, number: int) -> Any:
        names = data.quasi_identifiers
        return replace(made(data, common, number), fragments=tuple(names[place::number] for place in range(number)))

    return patch.object(theorems_vertical, "fragment_attributes", in_turn)


def information_of(value: Callable[[pd.DataFrame], Any]) -> Breaking:
    """Mutual information is something else."""
    counted = attribute_fragments.mutual_information

    def other(*of: Any, **more: Any) -> pd.DataFrame:
        found = counted(*of, **more)
        return pd.DataFrame(value(found), index=found.index, columns=found.columns)

    return replaced(attribute_fragments, "mutual_information", other)


def noise(found: pd.DataFrame) -> Any:
    """A symmetric matrix of random numbers."""
    drawn = np.random.default_rng(0).random(found.shape)
    return drawn + drawn.T


def fragmented_with(**fields: Any) -> Breaking:
    """Fields of vertical fragmentation have these values, whatever is asked for."""
    return replaced(
        theorems_vertical, "VerticalFragmentation", lambda **asked: VerticalFragmentation(**{**asked, **fields})
    )


def shuffled_classes() -> AbstractContextManager[Any]:
    """Published classes are those of other people."""
    made = theorems_vertical.published_classes

    def other(release: Release) -> list[pd.DataFrame]:
        rng = np.random.default_rng(0)
        return [one.assign(**{"class": rng.permutation(one["class"])}) for one in made(release)]

    return patch.object(theorems_vertical, "published_classes", other)


def eta_of(value: Callable[[Any], Any]) -> Breaking:
    """eta is something else where the book counts it."""
    return replaced(
        theorems_vertical, "Selectivity", lambda k: SimpleNamespace(eta=lambda *of: value(Selectivity(k).eta(*of)))
    )


def likelihood_of(value: Callable[[Release], float]) -> Breaking:
    """The likelihood of membership is something else."""
    return replaced(attacks, "join_likelihood", lambda release: SimpleNamespace(mean=value(release)))


def methods_with(change: Callable[[dict[str, Algorithm], Made, int, str, int], Mapping[str, Algorithm]]) -> Breaking:
    """Other methods are behind the curves."""
    made = vertical_fragmentation.methods

    def other(k: int, recoding: str, seed: int) -> dict[str, Algorithm]:
        own = made(k, recoding, seed)
        return own | dict(change(own, made, k, recoding, seed))

    return replaced(vertical_fragmentation, "methods", other)


NAMES = ("naive", "dependency", "selectivity", "fragmented, l")
NOT_CUT = sum(vertical_fragmentation.TRAINING.values())
"""A k of which every table is one class."""


def undivided(own: dict[str, Algorithm], made: Made, k: int, recoding: str, seed: int) -> dict[str, Algorithm]:
    """No table is cut. Selectivity is not counted for so large a k, and has one class either way."""
    whole = made(NOT_CUT, recoding, seed)
    return whole | {"selectivity": whole["dependency"]}


def fragments_undivided(
    own: dict[str, Algorithm], made: Made, k: int, recoding: str, seed: int
) -> dict[str, Algorithm]:
    """No fragment is cut."""
    whole = undivided(own, made, k, recoding, seed)
    return {name: whole[name] for name in NAMES}


def same_k(own: dict[str, Algorithm], made: Made, k: int, recoding: str, seed: int) -> dict[str, Algorithm]:
    """k is ignored."""
    return made(40, recoding, seed)


def no_l(own: dict[str, Algorithm], *_: Any) -> dict[str, Algorithm]:
    """l is ignored."""
    return {"unfragmented, l": own["unfragmented, k"], "fragmented, l": own["dependency"]}


def all_naive(own: dict[str, Algorithm], *_: Any) -> dict[str, Algorithm]:
    """There is but the naive strategy."""
    return dict.fromkeys(("dependency", "selectivity"), own["naive"])


def naive_coarse(own: dict[str, Algorithm], made: Made, k: int, recoding: str, seed: int) -> dict[str, Algorithm]:
    """The naive strategy has classes twice as large."""
    return {"naive": made(2 * k, recoding, seed)["naive"]}


MAJORITY = strategies.majority_values
EXAMPLES = examples(worked.vertical)
PROVEN = examples(theorems_vertical.vertical)
ENFORCED, JOINED = examples(theorems_vertical.enforced), examples(theorems_vertical.joined)
LOSSES, SCORES = losses, scores
LOWER = tuple(f"The loss is lower with fragments (k and l), over {axis}" for axis in ("dimension", "k"))
WIDER, BY_K = "The loss without fragments increases", "The loss increases with k"
DIVERSE, ALIKE = "The loss increases with diversity", "The strategies do not differ"
HIGHER, LITTLE, DECLINES = "F is higher with fragments than without (dep", "F without fragments changes", "F mostly"
SAFE, FEWER = "no two classes", "it changes fewer"
ETA, MORE = "eta of any two", "it publishes more"
KEPT, TOLD = "fragments cannot be joined", "the sums tell"
RARER, COUNTED = "the likelihood that", "it is the number"


def _of(name: str, part: Any, breaking: Breaking, breaks: dict[str, tuple[str, ...]]) -> Broken:
    return Broken("vertical-fragmentation", name, part, breaking, breaks)


MUTANTS = (
    _of("zeros are published", EXAMPLES, replaced(worked, "versions", lambda *_: 0), {"table 3": EVERY}),
    _of("every class has 6 versions", EXAMPLES, replaced(worked, "versions", lambda *_: 6), {"table 3": EVERY}),
    _of("nothing is changed", ENFORCED, nothing_changed, {
        "section 4.2.2": EVERY, "algorithm 3": (SAFE, FEWER), "algorithm 4": (ETA,)
    }),
    _of("nobody has a class value", ENFORCED, lambda: enforced_by(zeros), {
        "section 4.2.2": EVERY, "algorithm 3": (SAFE, FEWER), "algorithm 4": EVERY
    }),
    _of("only the naive strategy", ENFORCED, lambda: enforced_by(MAJORITY, lambda counts, *_: MAJORITY(counts)), {
        "algorithm 3": (FEWER,), "algorithm 4": (MORE,)
    }),
    _of("k is taken for 1", ENFORCED, replaced(theorems_vertical, "RowRule", lambda _: RowRule(1)), {
        "algorithm 3": EVERY
    }),
    _of("delta is ignored", ENFORCED, replaced(
        theorems_vertical, "SelectivityRule", lambda k, _: SelectivityRule(k, 0.05)
    ), {"algorithm 4": (ETA,)}),
    _of("fragments in turn", ENFORCED, fragments_in_turn, {"algorithm 1": EVERY}),
    _of("mutual information is noise", ENFORCED, information_of(noise), {"algorithm 1": EVERY}),
    _of("mutual information is 0", ENFORCED, information_of(lambda found: 0 * found), {"algorithm 1": EVERY}),
    _of("eta is 0", ENFORCED, eta_of(lambda eta: 0 * eta), {"appendix C": EVERY}),
    _of("eta is 1", ENFORCED, eta_of(np.ones_like), {"appendix C": EVERY}),
    _of("eta is a tenth", ENFORCED, eta_of(lambda eta: eta / 10), {"appendix C": EVERY}),
    _of("nothing is changed", JOINED, nothing_changed, {"theorem 4.1": (KEPT,)}),
    _of(NEVER, JOINED, fragmented_with(k=60), {"theorem 4.1": (KEPT,), "theorem 5.1": EVERY}),
    _of("k is taken for 2", JOINED, fragmented_with(k=2), {"theorem 4.1": (KEPT,)}),
    _of("l is ignored", JOINED, fragmented_with(l=None), {"theorem 5.1": EVERY}),
    _of(RANDOM, JOINED, shuffled_classes, {
        "theorem 4.1": (KEPT, TOLD), "theorem 5.1": EVERY, "section 5.1": (COUNTED,)
    }),
    _of("always two fragments", JOINED, fragmented_with(fragments=2), {"section 5.1": (RARER,)}),
    _of("the likelihood is 1/m", JOINED, likelihood_of(lambda release: 1 / len(release.fragments)), {
        "section 5.1": (COUNTED,)
    }),
    _of("joins always keep k", JOINED, replaced(privacy, "joins", lambda *_, **__: SimpleNamespace(holds=True)), {
        "theorem 4.1": (TOLD,)
    }),
    _of("joins never keep k", JOINED, replaced(privacy, "joins", lambda *_, **__: SimpleNamespace(holds=False)), {
        "theorem 4.1": (TOLD,)
    }),
    _of(NEVER, LOSSES, methods_with(undivided), {"figure 1": (WIDER, *LOWER, BY_K, DIVERSE, ALIKE)}),
    _of(NEVER, SCORES, methods_with(undivided), {"figure 2": (HIGHER, LITTLE), "figure 3": (HIGHER, DECLINES)}),
    _of("fragments are never cut", LOSSES, methods_with(fragments_undivided), {"figure 1": LOWER}),
    _of("k is ignored", LOSSES, methods_with(same_k), {"figure 1": (BY_K,)}),
    _of("k is ignored", SCORES, methods_with(same_k), {"figure 3": (DECLINES,)}),
    _of("l is ignored", LOSSES, methods_with(no_l), {"figure 1": (DIVERSE,)}),
    _of("the naive strategy has larger classes", LOSSES, methods_with(naive_coarse), {"figure 1": (ALIKE,)}),
    _of("only the naive strategy", LOSSES, methods_with(all_naive), {"appendix D": EVERY}),
)  # fmt: skip
